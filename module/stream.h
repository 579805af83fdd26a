/* SPDX-License-Identifier: GPL-2.0-only */
/* One open stream: what a reader gets of a counter, and what it is told. */
#ifndef AUXTRACE_STREAM_H
#define AUXTRACE_STREAM_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/poll.h>
#include <linux/types.h>

struct auxtrace_pmu;
struct auxtrace_settings;
struct auxtrace_stream;
struct iov_iter;

/**
 * struct auxtrace_stats - what has happened on a device since load
 * @opens:	successful opens
 * @bytes:	bytes delivered to readers
 * @reads:	reads that delivered some
 * @gaps:	gaps, of which one can have more than one cause:
 * @gaps_full:	gaps because the buffer was full
 * @gaps_driver: gaps because the driver stopped although there was room
 * @gaps_hotplug: gaps because the CPU was offline
 * @gaps_stopped: gaps because of a STOP and START
 * @windows:	windows delivered
 * @gap_ns:	nanoseconds in gaps
 * @flushes:	flushes
 * @truncated:	reports of the driver with %PERF_AUX_FLAG_TRUNCATED
 * @partial:	reports of the driver with %PERF_AUX_FLAG_PARTIAL
 * @collision:	reports of the driver with %PERF_AUX_FLAG_COLLISION
 * @reports_lost: reports of the driver that nobody has seen
 * @wakeups:	wake-ups by perf
 *
 * @wakeups is atomic. @opens is written under the device's lock, the others
 * under the stream's, of which a device has one at a time; all may be read
 * without.
 */
struct auxtrace_stats {
	u64 opens;
	u64 bytes;
	u64 reads;
	u64 gaps;
	u64 gaps_full;
	u64 gaps_driver;
	u64 gaps_hotplug;
	u64 gaps_stopped;
	u64 windows;
	u64 gap_ns;
	u64 flushes;
	u64 truncated;
	u64 partial;
	u64 collision;
	u64 reports_lost;
	atomic64_t wakeups;
};

struct auxtrace_stream *auxtrace_stream_open(const struct auxtrace_pmu *pmu, int cpu,
					     const struct auxtrace_settings *settings,
					     struct auxtrace_stats *stats);
void auxtrace_stream_close(struct auxtrace_stream *stream);
ssize_t auxtrace_stream_read(struct auxtrace_stream *stream, struct iov_iter *to,
			     bool nonblock);
__poll_t auxtrace_stream_poll(struct auxtrace_stream *stream, struct file *file,
			      poll_table *table);
enum auxtrace_stream_state auxtrace_stream_state(struct auxtrace_stream *stream);

/* control.c */
void auxtrace_stats_snapshot(struct auxtrace_stats *stats, struct auxtrace_stats *copy);
void auxtrace_stream_info(struct auxtrace_stream *stream, struct auxtrace_info *info);
void auxtrace_stream_status(struct auxtrace_stream *stream,
			    struct auxtrace_status *status);
void auxtrace_stream_start(struct auxtrace_stream *stream);
void auxtrace_stream_stop(struct auxtrace_stream *stream);
u64 auxtrace_stream_flush(struct auxtrace_stream *stream);
int auxtrace_stream_set_format(struct auxtrace_stream *stream, u32 format);
int auxtrace_stream_set_wake_bytes(struct auxtrace_stream *stream, u64 bytes);

#endif /* AUXTRACE_STREAM_H */
