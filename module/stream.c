// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader's side of a stream: takes data out of the counter's buffer, gives
 * it to readers, and lets them wait.
 *
 * Owns the consumer's offset and the bounce buffer; stream_internal.h tells
 * which lock guards what. upkeep.c is the event's side.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "stream_internal.h"
#include "trace.h"

/* Bytes that are copied at a time: they stay in a CPU's second-level cache. */
#define BOUNCE_SIZE	(64UL << 10)

/*
 * Is there something for a reader to do? If not, sees to it that a flush comes.
 * A waiter asks this when it is on the wait queue already, so that a flush
 * which ends without data either finds the waiter there or is queued anew.
 *
 * Context: any state of the task; needs no lock.
 */
static bool something_to_do(struct auxtrace_stream *s)
{
	if (auxtrace_available(s) || auxtrace_window_under_way(s) ||
	    READ_ONCE(s->ended))
		return true;
	auxtrace_arm_flush(s);
	if (READ_ONCE(s->failed))
		return true;
	return !READ_ONCE(s->stopped) && !READ_ONCE(s->down) &&
	       auxtrace_counter_seems_stopped(&s->counter);
}

/*
 * Bytes from the tail that one read may take: up to the head, or to the first gap
 * but the @gaps_here (out) that are right at the tail, also one that is still to be
 * told.
 */
unsigned long auxtrace_readable(struct auxtrace_stream *s, unsigned int *gaps_here)
{
	unsigned long n = auxtrace_head(s) - s->tail;

	/* Behind the head: what was reported up to there. Can queue gaps. */
	auxtrace_collect_reports(s);
	*gaps_here = auxtrace_gaps_at_tail(s);
	if (*gaps_here < s->nr_gaps)
		n = auxtrace_nth_gap(s, *gaps_here)->at - s->tail;
	if (s->truncated && (long)(s->truncated_at - s->tail) > 0)
		n = min(n, s->truncated_at - s->tail);
	return n;
}

/* Copies up to @n readable bytes from the tail into the bounce buffer. */
long auxtrace_take_payload(struct auxtrace_stream *s, unsigned long n)
{
	unsigned long cursor = s->tail - s->base;

	n = min(n, BOUNCE_SIZE);
	return auxtrace_counter_copy(&s->counter, cursor, cursor + n, s->bounce);
}

/* Moves the tail over @n bytes that have reached the reader. */
void auxtrace_give_payload(struct auxtrace_stream *s, unsigned long n)
{
	WRITE_ONCE(s->tail, s->tail + n);
	auxtrace_counter_set_tail(&s->counter, s->tail - s->base);
	auxtrace_count(&s->stats->bytes, n);
}

/* A gap right before the tail is crossed only by the first copy of a read. */
static long take_raw(struct auxtrace_stream *s, size_t want, bool first)
{
	unsigned int gaps_here;
	unsigned long n = auxtrace_readable(s, &gaps_here);

	if (!n || (gaps_here && !first))
		return 0;
	return auxtrace_take_payload(s, min(n, want));
}

static void give_raw(struct auxtrace_stream *s, unsigned long n)
{
	trace_window(s->cpu, s->tail, n,
		     auxtrace_gaps_at_tail(s) ? AUXTRACE_WINDOW_GAP : 0);
	while (auxtrace_gaps_at_tail(s))
		auxtrace_pop_gap(s);
	auxtrace_give_payload(s, n);
	auxtrace_take_marks(s, s->tail);
}

/* Fills the bounce buffer with up to @want bytes of what comes next. */
static long take(struct auxtrace_stream *s, size_t want, bool first)
{
	long ret;

	mutex_lock(&s->lock);
	s->began = true;
	auxtrace_check_head(s);
	auxtrace_keep_running(s);
	if (s->format == AUXTRACE_FORMAT_FRAMED)
		ret = auxtrace_window_take(s, want, first);
	else
		ret = take_raw(s, want, first);
	if (!ret && first && s->failed && !s->ended)
		ret = -EIO;
	mutex_unlock(&s->lock);
	return ret;
}

/* @n bytes of what was taken have reached the reader. */
static void give(struct auxtrace_stream *s, unsigned long n)
{
	mutex_lock(&s->lock);
	if (s->format == AUXTRACE_FORMAT_FRAMED)
		auxtrace_window_give(s, n);
	else
		give_raw(s, n);
	auxtrace_check_head(s);
	auxtrace_keep_running(s);
	mutex_unlock(&s->lock);
}

/* After STOP, when all that it published is read. Needs no lock. */
static bool at_end(struct auxtrace_stream *s)
{
	/* Pairs with auxtrace_stream_stop(): what it published is seen below. */
	return smp_load_acquire(&s->ended) && !auxtrace_available(s) &&
	       !auxtrace_window_under_way(s) &&
	       (s->format == AUXTRACE_FORMAT_RAW || READ_ONCE(s->last_given));
}

/*
 * Delivers what there is. Returns bytes, 0 if there was nothing, -EFAULT, or
 * -EIO.
 */
static ssize_t read_available(struct auxtrace_stream *s, struct iov_iter *to)
{
	ssize_t done = 0;

	lockdep_assert_held(&s->read_lock);

	while (iov_iter_count(to) && !(done && signal_pending(current))) {
		long n = take(s, iov_iter_count(to), !done);
		size_t copied;

		if (n <= 0)
			return done ?: n;
		copied = copy_to_iter(s->bounce, n, to);
		if (copied)
			give(s, copied);
		done += copied;
		if (copied < n)
			return done ?: -EFAULT;
	}
	return done;
}

/**
 * auxtrace_stream_read() - deliver trace, waiting for some
 * @s:		the stream
 * @to:		where to
 * @nonblock:	do not wait
 *
 * Returns as soon as there is something, and never crosses a gap. The tail
 * moves only over bytes that have reached @to.
 *
 * Context: may sleep; concurrent calls are serialised.
 * Return: bytes; 0 if @to has no room, or after STOP when all is read; -EAGAIN
 * (@nonblock); -EFAULT; -EIO when the event cannot run; -ERESTARTSYS.
 */
ssize_t auxtrace_stream_read(struct auxtrace_stream *s, struct iov_iter *to,
			     bool nonblock)
{
	ssize_t ret;

	if (!iov_iter_count(to))
		return 0;

	for (;;) {
		if (nonblock) {
			/* Another read may be stuck in its reader's memory. */
			if (!mutex_trylock(&s->read_lock))
				return -EAGAIN;
		} else if (mutex_lock_interruptible(&s->read_lock)) {
			return -ERESTARTSYS;
		}
		ret = read_available(s, to);
		if (ret > 0)
			WRITE_ONCE(s->stats->reads, s->stats->reads + 1);
		mutex_unlock(&s->read_lock);
		/* Who waits for nothing but the end, without bytes, is to see it. */
		if (ret > 0 && at_end(s))
			wake_up_interruptible_all(&s->wait);
		if (ret == -EIO)
			auxtrace_arm_flush(s);
		if (ret || at_end(s))
			return ret;

		if (nonblock) {
			something_to_do(s);	/* arms the flush */
			return -EAGAIN;
		}
		if (wait_event_interruptible(s->wait, something_to_do(s)) ||
		    signal_pending(current))
			return -ERESTARTSYS;
	}
}

/* Would a read return data, as much as the poller wants? Needs no lock. */
static bool enough_to_read(struct auxtrace_stream *s)
{
	unsigned long available = auxtrace_available(s);

	if (available >= READ_ONCE(s->wake_bytes) || auxtrace_window_under_way(s))
		return true;
	if (available && auxtrace_waits_for_reader(s))
		return true;
	return READ_ONCE(s->ended) && !at_end(s);
}

/*
 * Is there a gap that reads come to? One with nothing behind it yet, as when the CPU is
 * offline, would keep a level-triggered poller busy with what no read can take away.
 * Needs no lock.
 */
static bool gap_to_read(struct auxtrace_stream *s)
{
	return (READ_ONCE(s->nr_gaps) && auxtrace_available(s)) ||
	       auxtrace_window_tells_gap(s);
}

/**
 * auxtrace_stream_poll() - what could a reader do?
 * @s:		the stream
 * @file:	the open file
 * @table:	the poller
 *
 * Context: may sleep, does not.
 * Return: EPOLLIN with at least the threshold's bytes to read, or when there will
 * not be more; EPOLLPRI with bytes to read and a gap before or behind them that no
 * read has crossed yet; EPOLLHUP after STOP when all is read; EPOLLERR when the event
 * cannot run.
 */
__poll_t auxtrace_stream_poll(struct auxtrace_stream *s, struct file *file,
			      poll_table *table)
{
	__poll_t mask = 0;

	poll_wait(file, &s->wait, table);
	if (enough_to_read(s))
		mask |= EPOLLIN | EPOLLRDNORM;
	else
		auxtrace_arm_flush(s);
	if (!READ_ONCE(s->ended) && !auxtrace_waits_for_reader(s) &&
	    auxtrace_counter_seems_stopped(&s->counter))
		auxtrace_queue_tend(s);
	if (at_end(s))
		mask |= EPOLLHUP;
	if (gap_to_read(s))
		mask |= EPOLLPRI;
	if (READ_ONCE(s->failed))
		mask |= EPOLLERR;
	return mask;
}

/**
 * auxtrace_stream_state() - what the stream is doing
 * @s:		the stream
 *
 * Context: any; needs no lock.
 * Return: &enum auxtrace_stream_state.
 */
enum auxtrace_stream_state auxtrace_stream_state(struct auxtrace_stream *s)
{
	if (READ_ONCE(s->ended))
		return AUXTRACE_STATE_STOPPED;
	if (READ_ONCE(s->failed))
		return AUXTRACE_STATE_ERROR;
	if (READ_ONCE(s->down))
		return AUXTRACE_STATE_OFFLINE;
	return READ_ONCE(s->stopped) ? AUXTRACE_STATE_FULL : AUXTRACE_STATE_RUNNING;
}

/**
 * auxtrace_stream_open() - make a counter, and start it
 * @pmu:	on which PMU
 * @cpu:	on which CPU
 * @settings:	with which settings; copied
 * @stats:	where to count; stays valid until close
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 * Return: the stream, or an ERR_PTR() after a line in the log: see
 * auxtrace_counter_create(), or -EIO if the event cannot run.
 */
struct auxtrace_stream *auxtrace_stream_open(const struct auxtrace_pmu *pmu, int cpu,
					     const struct auxtrace_settings *settings,
					     struct auxtrace_stats *stats)
{
	struct auxtrace_stream *s;
	int ret = -ENOMEM;

	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		goto no_memory;
	s->bounce = kvmalloc(BOUNCE_SIZE, GFP_KERNEL);
	if (!s->bounce)
		goto no_memory;

	s->pmu = pmu;
	s->cpu = cpu;
	s->settings = *settings;
	s->stats = stats;
	auxtrace_stats_snapshot(stats, &s->stats_before);
	s->format = settings->value[AUXTRACE_FORMAT];
	s->wake_bytes = 1;
	s->watermark = settings->value[AUXTRACE_WATERMARK] ?:
		       settings->value[AUXTRACE_BUFFER_SIZE] / 2;
	s->flush_delay = msecs_to_jiffies(settings->value[AUXTRACE_FLUSH_MS]);
	init_waitqueue_head(&s->wait);
	mutex_init(&s->read_lock);
	mutex_init(&s->lock);
	ret = auxtrace_upkeep_begin(s);
	if (ret)
		goto free;
	return s;

no_memory:
	pr_notice_ratelimited("auxtrace%d: out of memory\n", cpu);
free:
	if (s)
		kvfree(s->bounce);
	kfree(s);
	return ERR_PTR(ret);
}

/**
 * auxtrace_stream_close() - stop the counter, and free everything
 * @s:		the stream, which nobody reads or polls
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 */
void auxtrace_stream_close(struct auxtrace_stream *s)
{
	auxtrace_upkeep_end(s);
	kvfree(s->bounce);
	kfree(s);
}
