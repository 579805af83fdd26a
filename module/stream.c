// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream: takes data out of the counter's buffer and gives it to readers,
 * keeps the event running, flushes low rates, and keeps account of gaps.
 *
 * Owns the counter of an open device, the consumer's cursor, and the queue of
 * gaps. Two mutexes, taken in this order:
 *
 *   read_lock	one read at a time; guards the bounce buffer. Held while data is
 *		copied to user space, which can take for ever: nothing but reads
 *		may wait for it.
 *   lock	guards the counter's starts and stops, the tail, the gaps, the
 *		flags. Never held while user space is touched, or anything is
 *		waited for.
 *
 * Whoever waits (a read, a poll) holds neither. What they wait for is peeked at
 * without a lock (something_to_do()): whatever changes the answer is followed
 * by a wake-up of the wait queue.
 *
 * A stop of the driver (a full buffer, for one) becomes a gap: its position is
 * the head at that time, behind which nothing is published until the event is
 * started again. That happens at once where there is room, else when the reader
 * has freed half of the buffer: with less, a driver may stop again after a few
 * bytes, or refuse to start (SPE and PT leave the last bytes unused). A gap
 * stays queued until a read gets beyond it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "counter.h"
#include "settings.h"
#include "stream.h"

/* Bytes that are copied at a time: they stay in a CPU's second-level cache. */
#define BOUNCE_SIZE	(64UL << 10)

/*
 * Gaps that can wait for a reader. A third one would need the reader to be two
 * buffers behind, were it not for drivers that stop without need; while the
 * queue is full the event is not started again.
 */
#define MAX_GAPS	16

/* A stop with less room than this fraction of the buffer is a full buffer. */
#define FULL_FRACTION	8

/*
 * How long a driver is left alone that has stopped again without a byte of
 * trace, in jiffies, where no flush says so.
 */
#define STALL_DELAY	(HZ / 10)

/**
 * struct gap - trace that is missing
 * @at:		cursor of the first byte behind it
 */
struct gap {
	unsigned long at;
};

/**
 * struct auxtrace_stream - an open device
 * @counter:	the counter; see counter.h for what may be called without @lock
 * @stats:	the device's; see there
 * @cpu:	the CPU's number; constant
 * @flush_delay: jiffies a reader waits before a flush; 0: no flush; constant
 * @wait:	readers and pollers
 * @read_lock:	see above; taken before @lock
 * @bounce:	@BOUNCE_SIZE bytes, guarded by @read_lock
 * @lock:	see above; guards what follows
 * @tail:	the consumer's cursor. Also read without @lock, by waiters
 * @seen_head:	the head, when last looked at, and ...
 * @seen_tail:	@tail then
 * @seen_room:	bytes that were free for the driver, at least, when it had
 *		published up to @seen_head
 * @stopped:	the event has stopped, and has not been started again; the last
 *		gap in the queue is still open. Also read without @lock
 * @failed:	it could not be started. Also read without @lock
 * @stalled:	it has stopped without a byte since its last start. Also read
 *		without @lock
 * @stopped_at:	since when it is stopped (ktime_get_ns())
 * @started_at:	when it was last started (ktime_get_ns()), and ...
 * @started_head: ... the head then
 * @gaps:	ring of gaps, oldest at @first_gap
 * @first_gap:	index of the oldest
 * @nr_gaps:	how many. Also read without @lock, by poll
 * @tend:	starts the event again after a stop
 * @flush:	publishes what is below the watermark
 */
struct auxtrace_stream {
	struct auxtrace_counter counter;
	struct auxtrace_stats *stats;
	int cpu;
	unsigned long flush_delay;
	wait_queue_head_t wait;

	struct mutex read_lock;		/* guards bounce; taken first */
	void *bounce;

	struct mutex lock;		/* guards what follows */
	unsigned long tail;
	unsigned long seen_head;
	unsigned long seen_tail;
	unsigned long seen_room;
	bool stopped;
	bool failed;
	bool stalled;
	u64 stopped_at;
	u64 started_at;
	unsigned long started_head;
	struct gap gaps[MAX_GAPS];
	unsigned int first_gap;
	unsigned int nr_gaps;

	struct work_struct tend;
	struct delayed_work flush;
};

static struct gap *nth_gap(struct auxtrace_stream *s, unsigned int n)
{
	return &s->gaps[(s->first_gap + n) % MAX_GAPS];
}

/* Queues a gap, unless it is where the last one is. */
static void push_gap(struct auxtrace_stream *s, unsigned long at)
{
	if (s->nr_gaps && nth_gap(s, s->nr_gaps - 1)->at == at)
		return;
	nth_gap(s, s->nr_gaps)->at = at;
	WRITE_ONCE(s->nr_gaps, s->nr_gaps + 1);
}

static void pop_gap(struct auxtrace_stream *s)
{
	s->first_gap = (s->first_gap + 1) % MAX_GAPS;
	WRITE_ONCE(s->nr_gaps, s->nr_gaps - 1);
}

/* How many gaps are right before the next byte to read. */
static unsigned int gaps_at_tail(struct auxtrace_stream *s)
{
	unsigned int n = 0;

	while (n < s->nr_gaps && nth_gap(s, n)->at == s->tail)
		n++;
	return n;
}

/* Bytes that are free in the buffer. */
static unsigned long room(struct auxtrace_stream *s)
{
	return s->counter.size - (auxtrace_counter_head(&s->counter) - s->tail);
}

/*
 * Remembers how much room the driver had when it published what is there. When
 * a head is seen for the first time, the driver published it since the last
 * look; so the tail that it went by was that of the last look, or a later one.
 */
static void look(struct auxtrace_stream *s)
{
	unsigned long head = auxtrace_counter_head(&s->counter);

	if (head != s->seen_head) {
		unsigned long used = head - s->seen_tail;

		s->seen_room = s->counter.size - min(used, s->counter.size);
		s->seen_head = head;
	}
	s->seen_tail = s->tail;
}

/* The event has stopped: note where and, as far as it can be told, why. */
static void begin_gap(struct auxtrace_stream *s)
{
	u64 woken_at = READ_ONCE(s->counter.woken_at);

	look(s);
	push_gap(s, s->seen_head);
	s->stopped_at = woken_at > s->started_at ? woken_at : ktime_get_ns();
	if (s->seen_room < s->counter.size / FULL_FRACTION)
		WRITE_ONCE(s->stats->gaps_full, s->stats->gaps_full + 1);
	else
		WRITE_ONCE(s->stats->gaps_driver, s->stats->gaps_driver + 1);
	WRITE_ONCE(s->stalled, s->started_head == s->seen_head);
	WRITE_ONCE(s->stopped, true);
}

static int start(struct auxtrace_stream *s)
{
	s->started_at = ktime_get_ns();
	s->started_head = auxtrace_counter_head(&s->counter);
	return auxtrace_counter_start(&s->counter);
}

/* Stops and starts the event: revives a stopped one, publishes of a running. */
static int restart(struct auxtrace_stream *s)
{
	auxtrace_counter_stop(&s->counter);
	return start(s);
}

static void count_gap_time(struct auxtrace_stream *s, u64 end)
{
	WRITE_ONCE(s->stats->gap_ns, s->stats->gap_ns + end - s->stopped_at);
}

static void end_gap(struct auxtrace_stream *s)
{
	if (restart(s)) {
		if (!s->failed)
			pr_notice_ratelimited("auxtrace%d: the event cannot be started again\n",
					      s->cpu);
		WRITE_ONCE(s->failed, true);
		return;
	}
	count_gap_time(s, s->started_at);
	WRITE_ONCE(s->failed, false);
	WRITE_ONCE(s->stalled, false);
	WRITE_ONCE(s->stopped, false);
}

/* Has the event stopped? If so there is a gap at the end of the queue. */
static bool notice_stop(struct auxtrace_stream *s)
{
	lockdep_assert_held(&s->lock);

	if (s->stopped)
		return true;
	look(s);
	if (!auxtrace_counter_seems_stopped(&s->counter) ||
	    s->nr_gaps == MAX_GAPS || !auxtrace_counter_stopped(&s->counter))
		return false;
	begin_gap(s);
	return true;
}

/*
 * Keeps the event running: notices a stop, and starts the event again when
 * there is room. An event that stops again and again without a byte of trace is
 * started only by the patient, the work that runs every now and then.
 */
static void keep_running(struct auxtrace_stream *s, bool patient)
{
	if (!notice_stop(s))
		return;
	if (s->stalled && !patient)
		return;
	if (room(s) >= s->counter.size / 2)
		end_gap(s);
}

static void do_tend(struct work_struct *work)
{
	struct auxtrace_stream *s = container_of(work, struct auxtrace_stream, tend);

	mutex_lock(&s->lock);
	keep_running(s, false);
	mutex_unlock(&s->lock);
	wake_up_interruptible_all(&s->wait);
}

/* From perf's wake-up, in hard interrupt context. */
static void on_wake(struct auxtrace_counter *counter, bool stopping)
{
	struct auxtrace_stream *s =
		container_of(counter, struct auxtrace_stream, counter);

	atomic64_inc(&s->stats->wakeups);
	if (stopping)
		schedule_work(&s->tend);
	wake_up_interruptible_all(&s->wait);
}

static bool has_data(struct auxtrace_stream *s)
{
	return auxtrace_counter_head(&s->counter) != READ_ONCE(s->tail);
}

/* Sees to it that do_flush() runs in time, if it has to run at all. */
static void arm_flush(struct auxtrace_stream *s)
{
	unsigned long delay = s->flush_delay;

	if (!delay && READ_ONCE(s->stalled))
		delay = STALL_DELAY;
	if (delay)
		queue_delayed_work(system_wq, &s->flush, delay);
}

static void do_flush(struct work_struct *work)
{
	struct auxtrace_stream *s =
		container_of(to_delayed_work(work), struct auxtrace_stream, flush);
	bool idle;

	mutex_lock(&s->lock);
	keep_running(s, true);
	if (s->flush_delay && !s->stopped && !has_data(s)) {
		/*
		 * A start that fails leaves the event in its error state,
		 * which keep_running() takes for the stop that it is.
		 */
		restart(s);
		WRITE_ONCE(s->stats->flushes, s->stats->flushes + 1);
		keep_running(s, false);
	}
	idle = !has_data(s);
	mutex_unlock(&s->lock);

	if (!idle || READ_ONCE(s->failed))
		wake_up_interruptible_all(&s->wait);
	else if (wq_has_sleeper(&s->wait))
		arm_flush(s);
}

/*
 * Is there something for a reader to do? If not, sees to it that a flush comes.
 * A waiter asks this when it is on the wait queue already, so that a flush
 * which ends without data either finds the waiter there or is queued anew.
 *
 * Context: any state of the task; needs no lock.
 */
static bool something_to_do(struct auxtrace_stream *s)
{
	if (has_data(s) || READ_ONCE(s->failed) ||
	    (!READ_ONCE(s->stopped) && auxtrace_counter_seems_stopped(&s->counter)))
		return true;
	arm_flush(s);
	return false;
}

/* Bytes from the tail that one read may take: up to the head, or to a gap. */
static unsigned long readable(struct auxtrace_stream *s, unsigned int gaps_here)
{
	unsigned long end = auxtrace_counter_head(&s->counter);

	if (gaps_here < s->nr_gaps)
		end = nth_gap(s, gaps_here)->at;
	return end - s->tail;
}

/*
 * Copies up to @want bytes from the tail into the bounce buffer. A gap right
 * before them is crossed only by the first copy of a read (@first).
 */
static long take(struct auxtrace_stream *s, size_t want, bool first)
{
	unsigned int gaps_here;
	unsigned long n = 0;
	long ret = 0;

	mutex_lock(&s->lock);
	keep_running(s, false);
	gaps_here = gaps_at_tail(s);
	if (first || !gaps_here)
		n = min3(readable(s, gaps_here), (unsigned long)want, BOUNCE_SIZE);
	if (n)
		ret = auxtrace_counter_copy(&s->counter, s->tail, s->tail + n,
					    s->bounce);
	else if (first && s->failed)
		ret = -EIO;
	mutex_unlock(&s->lock);
	return ret;
}

/* @n bytes have reached the reader, and what gaps were before them. */
static void give(struct auxtrace_stream *s, unsigned long n)
{
	mutex_lock(&s->lock);
	while (gaps_at_tail(s))
		pop_gap(s);
	WRITE_ONCE(s->tail, s->tail + n);
	auxtrace_counter_set_tail(&s->counter, s->tail);
	WRITE_ONCE(s->stats->bytes, s->stats->bytes + n);
	keep_running(s, false);
	mutex_unlock(&s->lock);
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
 * Return: bytes; 0 if @to has no room; -EAGAIN (@nonblock); -EFAULT; -EIO when
 * the event cannot run; -ERESTARTSYS.
 */
ssize_t auxtrace_stream_read(struct auxtrace_stream *s, struct iov_iter *to,
			     bool nonblock)
{
	ssize_t ret;

	if (!iov_iter_count(to))
		return 0;

	for (;;) {
		if (mutex_lock_interruptible(&s->read_lock))
			return -ERESTARTSYS;
		ret = read_available(s, to);
		if (ret > 0)
			WRITE_ONCE(s->stats->reads, s->stats->reads + 1);
		mutex_unlock(&s->read_lock);
		if (ret)
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

/**
 * auxtrace_stream_poll() - what could a reader do?
 * @s:		the stream
 * @file:	the open file
 * @table:	the poller
 *
 * Context: may sleep, does not.
 * Return: EPOLLIN with data to read, EPOLLPRI with a gap that no read has
 * crossed yet, EPOLLERR when the event cannot run.
 */
__poll_t auxtrace_stream_poll(struct auxtrace_stream *s, struct file *file,
			      poll_table *table)
{
	__poll_t mask = 0;

	poll_wait(file, &s->wait, table);
	if (something_to_do(s)) {
		if (has_data(s))
			mask |= EPOLLIN | EPOLLRDNORM;
		else
			schedule_work(&s->tend);
	}
	if (READ_ONCE(s->nr_gaps))
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
 */
enum auxtrace_state auxtrace_stream_state(struct auxtrace_stream *s)
{
	if (READ_ONCE(s->failed))
		return AUXTRACE_ERROR;
	return READ_ONCE(s->stopped) ? AUXTRACE_FULL : AUXTRACE_RUNNING;
}

/**
 * auxtrace_stream_open() - make a counter, and start it
 * @pmu:	on which PMU
 * @cpu:	on which CPU
 * @settings:	with which settings; copied as far as needed
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

	s->stats = stats;
	s->cpu = cpu;
	s->flush_delay = msecs_to_jiffies(settings->value[AUXTRACE_FLUSH_MS]);
	init_waitqueue_head(&s->wait);
	mutex_init(&s->read_lock);
	mutex_init(&s->lock);
	INIT_WORK(&s->tend, do_tend);
	INIT_DELAYED_WORK(&s->flush, do_flush);

	ret = auxtrace_counter_create(&s->counter, pmu, cpu, settings, on_wake);
	if (ret)
		goto free;

	s->seen_room = s->counter.size;
	ret = start(s);
	/* Nothing has been published yet: a first stop is no stall. */
	s->started_head--;
	if (ret) {
		pr_notice_ratelimited("auxtrace%d: the event cannot run on CPU %d\n",
				      cpu, cpu);
		auxtrace_stream_close(s);
		return ERR_PTR(ret);
	}
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
	/* Both works use the counter, and perf's wake-ups queue one of them. */
	auxtrace_counter_mute(&s->counter);
	cancel_work_sync(&s->tend);
	cancel_delayed_work_sync(&s->flush);
	mutex_lock(&s->lock);
	if (notice_stop(s))
		count_gap_time(s, ktime_get_ns());
	mutex_unlock(&s->lock);
	auxtrace_counter_destroy(&s->counter);
	kvfree(s->bounce);
	kfree(s);
}
