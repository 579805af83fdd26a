/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of a stream share: stream.c, the reader's side, with window.c;
 * upkeep.c, which keeps the event running and gaps accounted for; reports.c, what
 * the PMU's driver has to say; control.c.
 *
 * Two mutexes, taken in this order:
 *
 *   read_lock	one read at a time; guards the bounce buffer. Held while data is
 *		copied to user space, which can take for ever: nothing but reads
 *		may wait for it.
 *   lock	guards the counter, its starts and stops, the tail, the gaps, the
 *		flags. Never held while user space is touched. A new counter is
 *		made under it, which waits for CPU hotplug to end: nothing that
 *		hotplug calls may take it. read_lock is tried under it, too, but not
 *		waited for (keep_running() in upkeep.c).
 *
 * Whoever waits (a read, a poll) holds neither. What they wait for is peeked at
 * without a lock (something_to_do()): whatever changes the answer is
 * followed by a wake-up of the wait queue.
 */
#ifndef AUXTRACE_STREAM_INTERNAL_H
#define AUXTRACE_STREAM_INTERNAL_H

#include <linux/auxtrace.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "counter.h"
#include "kernel_features.h"
#include "settings.h"
#include "stream.h"

/*
 * Gaps that can wait for a reader. A third one would need the reader to be two
 * buffers behind, were it not for drivers that stop without need. One look at the
 * event can find AUXTRACE_GAPS_AT_ONCE: where a driver said that trace is missing,
 * where it stopped, and where it was held. While there is no room for so many, and
 * one more that a report can bring, nobody looks, and the event is not started again.
 */
#define AUXTRACE_MAX_GAPS	16
#define AUXTRACE_GAPS_AT_ONCE	3

/* Reports of a driver that can wait for a reader; see reports.c for more of them. */
#define AUXTRACE_MAX_MARKS	16

/**
 * struct auxtrace_mark - something that the driver has reported
 * @at:		offset of the end of the piece of trace that it is about
 * @flags:	AUXTRACE_WINDOW_* to be set in a window
 */
struct auxtrace_mark {
	unsigned long at;
	u32 flags;
};

/**
 * struct auxtrace_gap - trace that is missing
 * @at:		offset in the stream of the first byte behind it
 * @causes:	AUXTRACE_WINDOW_* of the causes
 * @ns:		nanoseconds that it lasted, so far
 */
struct auxtrace_gap {
	unsigned long at;
	u32 causes;
	u64 ns;
};

/**
 * struct auxtrace_framer - the window that is being delivered
 * @header:	its header, little endian
 * @header_left: bytes of it that are still to be delivered
 * @payload_left: likewise of the payload, which stays in the AUX buffer
 * @pad_left:	likewise of the zeroes behind
 * @last:	it says LAST, and there was no START since
 * @seq:	sequence number of the next window
 *
 * No window is under way while nothing is left of any. Guarded by the stream's
 * lock; the three counts are also read without, to see if there is anything.
 */
struct auxtrace_framer {
	struct auxtrace_window header;
	unsigned int header_left;
	unsigned long payload_left;
	unsigned int pad_left;
	bool last;
	u64 seq;
};

/**
 * struct auxtrace_stream - an open device
 *
 * Offsets in the stream are absolute byte counts, modular as the counter's
 * cursors are; each counter's cursors start at 0, that is at @base.
 *
 * @pmu:	what the counter is made of; constant
 * @cpu:	the CPU's number; constant
 * @settings:	in force; constant
 * @stats:	the device's; see there
 * @stats_before: what @stats were at open; constant
 * @watermark:	bytes after which perf wakes readers; constant
 * @flush_delay: jiffies a reader waits before a flush; 0: no flush; constant
 * @wait:	readers and pollers
 * @hotplug_entry: in the list of streams that hear of CPU hotplug; see hotplug.c
 * @read_lock:	see above; taken before @lock
 * @bounce:	guarded by @read_lock
 * @lock:	see above; guards what follows
 * @counter:	the counter; see counter.h for what may be called without @lock.
 *		Without an event while @down, once what was there is read
 * @base:	offset of the counter's cursor 0. Also read without @lock
 * @tail:	offset of the next byte to read. Also read without @lock
 * @last_head:	offset of the head, when it was last found where it can be
 * @seen_head:	offset of the head, when last looked at, and ...
 * @seen_tail:	@tail then
 * @driver_tail: @tail that the driver went by, or an earlier one, when it had
 *		published up to @seen_head
 * @format:	&enum auxtrace_format
 * @began:	somebody has read
 * @wake_bytes:	poll's threshold. Also read without @lock
 * @framer:	see there
 * @flushed_to:	offset up to which the last flush published something
 * @closing:	nothing is to be started any more
 * @ended:	STOP is in force: the event is not to run. Also read without @lock
 * @ended_at:	since when (ktime_get_ns())
 * @last_given:	a window that says LAST was delivered since. Also read without @lock
 * @start_due:	START was called, and its gap is still to be queued
 * @down:	the event has left its CPU, which went offline; a new one is to be
 *		made when the CPU is back and @counter is read. Also read without
 *		@lock
 * @stopped:	the event has stopped, and has not been started again. Also read
 *		without @lock
 * @failed:	it could not be started, or made anew. Also read without @lock
 * @stalled:	it has stopped without a byte since its last start. Also read
 *		without @lock
 * @tried_room:	bytes that were free when it @stalled or @failed
 * @stopped_at:	since when it is @stopped or @down (ktime_get_ns())
 * @started_at:	when it was last started (ktime_get_ns()), and ...
 * @started_head: ... the head's offset then
 * @gaps:	ring of gaps, oldest at @first_gap. While @stopped or @down the
 *		last one is still open
 * @first_gap:	index of the oldest
 * @nr_gaps:	how many. Also read without @lock, by poll
 * @truncated:	the driver has reported that trace is missing, and it is not known
 *		yet whether it went on ...
 * @truncated_at: ... behind this offset
 * @reported_gap: offset of the last gap that was queued because of a report
 * @marks:	ring of reports that no window has told of, oldest at @first_mark
 * @first_mark:	index of the oldest
 * @nr_marks:	how many
 * @cpu_changed: bit 0: the CPU has gone or is back, for @tend to see; atomic
 * @tend:	looks after the event: tend_work() in upkeep.c
 * @flush:	publishes what is below the watermark: flush_work_fn(), likewise
 */
struct auxtrace_stream {
	const struct auxtrace_pmu *pmu;
	int cpu;
	struct auxtrace_settings settings;
	struct auxtrace_stats *stats;
	struct auxtrace_stats stats_before;
	unsigned long watermark;
	unsigned long flush_delay;
	wait_queue_head_t wait;
	struct list_head hotplug_entry;

	struct mutex read_lock;		/* guards bounce; taken first */
	void *bounce;

	struct mutex lock;		/* guards what follows */
	struct auxtrace_counter counter;
	unsigned long base;
	unsigned long tail;
	unsigned long last_head;
	unsigned long seen_head;
	unsigned long seen_tail;
	unsigned long driver_tail;
	u32 format;
	bool began;
	unsigned long wake_bytes;
	struct auxtrace_framer framer;
	unsigned long flushed_to;
	bool closing;
	bool ended;
	u64 ended_at;
	bool last_given;
	bool start_due;
	bool down;
	bool stopped;
	bool failed;
	bool stalled;
	unsigned long tried_room;
	u64 stopped_at;
	u64 started_at;
	unsigned long started_head;
	struct auxtrace_gap gaps[AUXTRACE_MAX_GAPS];
	unsigned int first_gap;
	unsigned int nr_gaps;
	bool truncated;
	unsigned long truncated_at;
	unsigned long reported_gap;
	struct auxtrace_mark marks[AUXTRACE_MAX_MARKS];
	unsigned int first_mark;
	unsigned int nr_marks;

	unsigned long cpu_changed;
	struct work_struct tend;
	struct delayed_work flush;
};

/* Has the event looked after, on whatever CPU has time. Context: any. */
static inline void auxtrace_queue_tend(struct auxtrace_stream *s)
{
	queue_work(system_dfl_wq, &s->tend);
}

static inline void auxtrace_count(u64 *statistic, u64 n)
{
	WRITE_ONCE(*statistic, *statistic + n);
}

/* upkeep.c; all but the first three with @lock held, auxtrace_check_head() with both */
unsigned long auxtrace_available(struct auxtrace_stream *s);
bool auxtrace_waits_for_reader(struct auxtrace_stream *s);
void auxtrace_arm_flush(struct auxtrace_stream *s);
unsigned long auxtrace_head(struct auxtrace_stream *s);
void auxtrace_check_head(struct auxtrace_stream *s);
void auxtrace_keep_running(struct auxtrace_stream *s);
void auxtrace_collect_reports(struct auxtrace_stream *s);
unsigned int auxtrace_gaps_at_tail(struct auxtrace_stream *s);
struct auxtrace_gap *auxtrace_nth_gap(struct auxtrace_stream *s, unsigned int n);
void auxtrace_pop_gap(struct auxtrace_stream *s);
void auxtrace_hold_for_stop(struct auxtrace_stream *s);
unsigned long auxtrace_flush_now(struct auxtrace_stream *s);
int auxtrace_upkeep_begin(struct auxtrace_stream *s);
void auxtrace_upkeep_end(struct auxtrace_stream *s);

/* reports.c; all but the first with @lock held */
u32 auxtrace_driver_flags(u64 flags);
u32 auxtrace_take_marks(struct auxtrace_stream *s, unsigned long end);
void auxtrace_cut_marks(struct auxtrace_stream *s);
bool auxtrace_next_report(struct auxtrace_stream *s, unsigned long *at, u32 *flags);
void auxtrace_last_reports(struct auxtrace_stream *s);

/* window.c; all but the first two with @lock held */
bool auxtrace_window_under_way(struct auxtrace_stream *s);
bool auxtrace_window_tells_gap(struct auxtrace_stream *s);
long auxtrace_window_take(struct auxtrace_stream *s, size_t want, bool first);
void auxtrace_window_cut(struct auxtrace_stream *s);
void auxtrace_window_give(struct auxtrace_stream *s, unsigned long n);

/* stream.c; with @lock held */
long auxtrace_take_payload(struct auxtrace_stream *s, unsigned long n);
void auxtrace_give_payload(struct auxtrace_stream *s, unsigned long n);
unsigned long auxtrace_readable(struct auxtrace_stream *s, unsigned int *gaps_here);

#endif /* AUXTRACE_STREAM_INTERNAL_H */
