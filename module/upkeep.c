// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event's side of a stream: keeps the event running, through full buffers
 * and CPU hotplug; flushes low rates; keeps account of gaps.
 *
 * Owns the counter of an open stream, the queue of gaps, and the two works; all
 * guarded by the stream's lock (stream_internal.h).
 *
 * A stop of the driver (a full buffer, for one) becomes a gap: its position is
 * the head at that time, behind which nothing is published until the event is
 * started again. That happens at once where there is room, else when the reader
 * has freed half of the buffer: with less, a driver may stop again after a few
 * bytes, or refuse to start (SPE and PT leave the last bytes unused). A gap
 * stays queued until a read gets beyond it.
 *
 * A truncation that the driver reports is a gap, too. Whether the driver stopped
 * for it does not always show: the event is stopped and started in any case.
 *
 * A CPU that goes offline takes the event off its context for good; the perf
 * core publishes what was there. That stays readable. Then, and when the CPU is
 * back, a new counter is made in the old one's place, and the stream goes on.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "consumer/consumer.h"
#include "hotplug.h"
#include "kernel_features.h"
#include "pmu.h"
#include "stream_internal.h"
#include "trace.h"

/* A stop with less room than this fraction of the buffer is a full buffer. */
#define FULL_FRACTION	8

/*
 * How long an event is left alone that has stopped again without a byte of
 * trace, or could not be made anew, in jiffies, where no flush says so.
 */
#define STALL_DELAY	(HZ / 10)

struct auxtrace_gap *auxtrace_nth_gap(struct auxtrace_stream *s, unsigned int n)
{
	return &s->gaps[(s->first_gap + n) % AUXTRACE_MAX_GAPS];
}

/*
 * Queues a gap for a cause, and counts it. A gap that is still open goes on with
 * one more cause; one at the same place that is over counts apart, but a reader
 * cannot tell them apart: they share an entry. So do those for which there is no room,
 * which only a head that is off can bring.
 */
static void push_gap(struct auxtrace_stream *s, unsigned long at, u32 cause)
{
	struct auxtrace_gap *gap;

	if (!s->stopped && !s->down)
		auxtrace_count(&s->stats->gaps, 1);
	if (!s->nr_gaps || (s->nr_gaps < AUXTRACE_MAX_GAPS &&
			    auxtrace_nth_gap(s, s->nr_gaps - 1)->at != at)) {
		*auxtrace_nth_gap(s, s->nr_gaps) = (struct auxtrace_gap) { .at = at };
		WRITE_ONCE(s->nr_gaps, s->nr_gaps + 1);
	}
	gap = auxtrace_nth_gap(s, s->nr_gaps - 1);
	gap->causes |= cause;
	trace_gap(s->cpu, at, cause);
}

void auxtrace_pop_gap(struct auxtrace_stream *s)
{
	s->first_gap = (s->first_gap + 1) % AUXTRACE_MAX_GAPS;
	WRITE_ONCE(s->nr_gaps, s->nr_gaps - 1);
}

/*
 * How many gaps are right before the next byte to read; or behind us, as a gap that
 * perf itself ended (see notice_stop()) can be noticed late.
 */
unsigned int auxtrace_gaps_at_tail(struct auxtrace_stream *s)
{
	unsigned int n = 0;

	while (n < s->nr_gaps && (long)(s->tail - auxtrace_nth_gap(s, n)->at) >= 0)
		n++;
	return n;
}

/* Offset behind the last byte that can be read. */
unsigned long auxtrace_head(struct auxtrace_stream *s)
{
	return s->base + auxtrace_counter_head(&s->counter);
}

/*
 * Bytes that can be read. Needs no lock. While a counter takes the place of
 * another the answer can be too large; one that is too small is followed by a
 * wake-up.
 */
unsigned long auxtrace_available(struct auxtrace_stream *s)
{
	return READ_ONCE(s->base) + auxtrace_counter_head(&s->counter) -
	       READ_ONCE(s->tail);
}

/* The offset of which the driver is told when the reader is at @tail. */
static unsigned long given(struct auxtrace_stream *s, unsigned long tail)
{
	return s->base + auxtrace_counter_given_tail(&s->counter, tail - s->base);
}

/* Bytes that are free in the buffer. */
static unsigned long free_room(struct auxtrace_stream *s)
{
	return s->counter.size - (auxtrace_head(s) - s->tail);
}

/* As many as the driver knows of. */
static unsigned long room(struct auxtrace_stream *s)
{
	return s->counter.size - (auxtrace_head(s) - given(s, s->tail));
}

/* Is there room for the gaps that a report and a look at the event can find? */
static bool gaps_can_come(struct auxtrace_stream *s)
{
	return READ_ONCE(s->nr_gaps) + AUXTRACE_GAPS_AT_ONCE < AUXTRACE_MAX_GAPS;
}

/*
 * Does nothing more come before the reader has taken something? The event has
 * stopped or left its CPU, or would not be started again. Needs no lock.
 */
bool auxtrace_waits_for_reader(struct auxtrace_stream *s)
{
	return READ_ONCE(s->stopped) || READ_ONCE(s->down) || !gaps_can_come(s);
}

/*
 * Remembers by which tail the driver published what is there. When a head is
 * seen for the first time, the driver published it since the last look; so the
 * tail that it went by was that of the last look, or a later one.
 */
static void look(struct auxtrace_stream *s)
{
	unsigned long head = auxtrace_head(s);

	if (head != s->seen_head) {
		s->driver_tail = s->seen_tail;
		s->seen_head = head;
	}
	s->seen_tail = s->tail;
}

/*
 * The driver has stopped at offset @at: note it and, as far as it can be told,
 * why.
 */
static void push_driver_gap(struct auxtrace_stream *s, unsigned long at)
{
	look(s);
	if (at - given(s, s->driver_tail) > s->counter.size - s->counter.size / FULL_FRACTION) {
		push_gap(s, at, AUXTRACE_WINDOW_FULL);
		auxtrace_count(&s->stats->gaps_full, 1);
	} else {
		push_gap(s, at, 0);
		auxtrace_count(&s->stats->gaps_driver, 1);
	}
}

/* The event has stopped by itself, and is held: it is a gap until it is started. */
static void begin_gap(struct auxtrace_stream *s)
{
	u64 woken_at = READ_ONCE(s->counter.woken_at);

	push_driver_gap(s, auxtrace_head(s));
	s->stopped_at = woken_at > s->started_at ? woken_at : ktime_get_ns();
	WRITE_ONCE(s->stalled, s->started_head == auxtrace_head(s));
	s->tried_room = free_room(s);
	WRITE_ONCE(s->stopped, true);
}

/*
 * The event has left its CPU. Where it had stopped already, the gap goes on, with
 * one more cause.
 */
static void begin_hotplug_gap(struct auxtrace_stream *s)
{
	push_gap(s, auxtrace_head(s), AUXTRACE_WINDOW_HOTPLUG);
	auxtrace_count(&s->stats->gaps_hotplug, 1);
	if (!s->stopped)
		s->stopped_at = ktime_get_ns();
	WRITE_ONCE(s->stopped, false);
	WRITE_ONCE(s->stalled, false);
	WRITE_ONCE(s->down, true);
}

static void count_gap_time(struct auxtrace_stream *s, u64 end)
{
	auxtrace_count(&s->stats->gap_ns, end - s->stopped_at);
	if (s->nr_gaps)
		auxtrace_nth_gap(s, s->nr_gaps - 1)->ns += end - s->stopped_at;
}

static void end_gap(struct auxtrace_stream *s)
{
	count_gap_time(s, s->started_at);
	WRITE_ONCE(s->failed, false);
	WRITE_ONCE(s->stalled, false);
	WRITE_ONCE(s->stopped, false);
	WRITE_ONCE(s->down, false);
}

/*
 * Not while a CPU goes offline: between our callback and the driver's the event has to
 * stand still, see auxtrace_counter_leave_cpu(). (No callback waits for the stream's
 * lock.)
 */
static int start(struct auxtrace_stream *s)
{
	int ret;

	cpus_read_lock();
	s->started_at = ktime_get_ns();
	s->started_head = auxtrace_head(s);
	ret = auxtrace_counter_start(&s->counter);
	cpus_read_unlock();
	return ret;
}

/* What failed is tried again when there is this much more room, or in a while. */
static bool is_futile(struct auxtrace_stream *s)
{
	return (s->stalled || s->failed) &&
	       free_room(s) - s->tried_room < s->counter.size / 8;
}

static void fail(struct auxtrace_stream *s, const char *what)
{
	s->tried_room = free_room(s);
	if (s->failed)
		return;
	pr_notice_ratelimited("auxtrace%d: the event cannot be %s\n", s->cpu, what);
	WRITE_ONCE(s->failed, true);
	wake_up_interruptible_all(&s->wait);
}

/* From perf's wake-up, in hard interrupt context. */
static void on_wake(struct auxtrace_counter *counter, bool stopped)
{
	struct auxtrace_stream *s =
		container_of(counter, struct auxtrace_stream, counter);

	atomic64_inc(&s->stats->wakeups);
	/* Also where a stop is known: the event may be about to be started again. */
	if (stopped)
		auxtrace_queue_tend(s);
	wake_up_interruptible_all(&s->wait);
}

/* Makes a counter, and starts it. Without one afterwards if that fails. */
static int make_counter(struct auxtrace_stream *s, bool explain)
{
	int ret;

	/* Also forgets that the CPU is leaving: start() waits until it has gone. */
	memset(&s->counter, 0, sizeof(s->counter));
	ret = auxtrace_counter_create(&s->counter, s->pmu, s->cpu, &s->settings,
				      on_wake, explain);
	if (ret)
		return ret;
	s->last_head = auxtrace_head(s);
	s->seen_head = s->last_head;
	s->seen_tail = s->tail;
	s->driver_tail = s->tail;
	s->reported_gap = ULONG_MAX;
	ret = start(s);
	/* Nothing has been published yet: a first stop is no stall. */
	s->started_head--;
	if (ret)
		auxtrace_counter_destroy(&s->counter);
	return ret;
}

/* What the driver reports at last counts, too. */
static void end_counter(struct auxtrace_stream *s, unsigned long base)
{
	auxtrace_counter_hold(&s->counter);
	auxtrace_last_reports(s);
	WRITE_ONCE(s->base, base);
	auxtrace_counter_destroy(&s->counter);
}

/* The CPU is back: puts a new counter in the old one's place, which is read. */
static void come_back(struct auxtrace_stream *s)
{
	unsigned long head = auxtrace_head(s);
	int ret;

	if (auxtrace_counter_exists(&s->counter))
		end_counter(s, head);
	ret = make_counter(s, false);
	trace_reenable(s->cpu, head, s->counter.size, ret);
	if (!ret)
		end_gap(s);
	else if (ret != -ENODEV)
		fail(s, "made anew");
}

/**
 * auxtrace_collect_reports() - take in what the driver has reported
 * @s:		the stream, its lock held
 *
 * Whether the driver went on behind trace that it said is missing shows at the next
 * report, or when the event is looked at. There can be more reports if there is no
 * room for gaps afterwards: then the event is not to be looked at, as gaps are queued
 * in their order.
 *
 * Context: any.
 */
void auxtrace_collect_reports(struct auxtrace_stream *s)
{
	unsigned long at;
	u32 flags;

	while ((s->stopped || s->down || gaps_can_come(s)) &&
	       auxtrace_next_report(s, &at, &flags)) {
		if (!(flags & AUXTRACE_WINDOW_TRUNCATED) || s->stopped || s->down)
			continue;
		/* intel_pt reports twice where it finds no room to start again. */
		if (s->truncated && s->truncated_at != at) {
			push_driver_gap(s, s->truncated_at);
			s->reported_gap = s->truncated_at;
		}
		s->truncated = true;
		s->truncated_at = at;
	}
}

/*
 * Starts the event again. What was reported while it was stopped, by a start that
 * failed for one, is of the gap that there is.
 */
static int restart(struct auxtrace_stream *s)
{
	auxtrace_collect_reports(s);
	return start(s);
}

/* Does something say that the driver has stopped? A stop is found on its CPU. */
static bool find_stop(struct auxtrace_stream *s)
{
	unsigned long stop_head;
	bool found = auxtrace_counter_seems_stopped(&s->counter) &&
		     (auxtrace_counter_self_stopped(&s->counter, &stop_head) ||
		      auxtrace_counter_stopped(&s->counter));

	/* A report of that stop came before. */
	auxtrace_collect_reports(s);
	return (found || s->truncated) && gaps_can_come(s);
}

/*
 * The event is held: queues gaps for where the driver had stopped, but the event
 * was set going again before it was held. @stands: whether it stands where the
 * driver stopped. False if that has to wait for a reader, as there is no room for
 * the gaps; the event stays held then.
 */
static bool settle_stops(struct auxtrace_stream *s, bool *stands)
{
	unsigned long at[2], head;
	unsigned int n = 0, i;

	*stands = false;
	auxtrace_collect_reports(s);
	if (!gaps_can_come(s))
		return false;
	if (auxtrace_counter_self_stopped(&s->counter, &at[0]))
		at[n++] += s->base;
	if (s->truncated && !(n && at[0] == s->truncated_at))
		at[n++] = s->truncated_at;
	auxtrace_counter_forget_stop(&s->counter);
	s->truncated = false;
	if (n == 2 && (long)(at[1] - at[0]) < 0)
		swap(at[0], at[1]);

	head = auxtrace_head(s);
	for (i = 0; i < n; i++) {
		if (at[i] == head)
			*stands = true;
		else if (at[i] != s->reported_gap)
			push_driver_gap(s, at[i]);
	}
	return true;
}

/* STOP has held the event: had the driver stopped before? */
static void settle_end(struct auxtrace_stream *s)
{
	bool stands;

	if (s->stopped || s->down || !settle_stops(s, &stands))
		return;
	if (!stands && s->counter.halted)
		return;
	/* It stands elsewhere, and we did not stop it: the perf core did. */
	if (!stands && auxtrace_counter_detached(&s->counter))
		begin_hotplug_gap(s);
	else
		begin_gap(s);
}

/*
 * START was called: what was not traced since STOP is a gap, which ends as others
 * do, when the event is started because there is room. False if there is no room for
 * the gap.
 */
static bool begin_start_gap(struct auxtrace_stream *s)
{
	settle_end(s);
	if (!gaps_can_come(s))
		return false;
	push_gap(s, auxtrace_head(s), AUXTRACE_WINDOW_STOPPED);
	auxtrace_count(&s->stats->gaps_stopped, 1);
	if (!s->stopped && !s->down) {
		s->stopped_at = s->ended_at;
		WRITE_ONCE(s->stopped, true);
	}
	WRITE_ONCE(s->stalled, false);
	s->start_due = false;
	return true;
}

/*
 * Has the event stopped? If so there is a gap at the end of the queue, and perf
 * cannot set the event going again before we do. If its CPU goes meanwhile it is
 * @down instead.
 */
static bool notice_stop(struct auxtrace_stream *s)
{
	bool ran, stands;

	if (s->stopped)
		return true;
	look(s);
	if (!gaps_can_come(s) || !find_stop(s))
		return false;

	ran = auxtrace_counter_hold(&s->counter);
	if (!settle_stops(s, &stands))
		return false;
	if (!stands && ran && room(s) >= s->counter.size / 2) {
		/*
		 * Something had set it going already, it has run until now, and
		 * holding it is no gap if it can go on at once. It has not where the
		 * driver went on by itself, and the disable of the perf core, which
		 * comes later, ended that (6.1).
		 */
		start(s);
		return false;
	}
	if (!stands && auxtrace_counter_detached(&s->counter)) {
		/* Its CPU went before it could be held. */
		begin_hotplug_gap(s);
		return false;
	}
	begin_gap(s);
	return true;
}

/*
 * Has the driver put the head where it cannot be? Out of the buffer, where the API
 * copies nothing, or back, where it writes over what has been published.
 */
static bool head_is_off(struct auxtrace_stream *s)
{
	unsigned long head = auxtrace_head(s);

	if (!auxtrace_counter_exists(&s->counter))
		return false;
	if (head - s->tail > s->counter.size || (long)(head - s->last_head) < 0)
		return true;
	s->last_head = head;
	return false;
}

/*
 * The head is off, as it is when a driver resets its hardware under an event and goes
 * by the registers all the same: what has not been read cannot be. It is missing, and
 * a new counter is to be made.
 */
static void give_up_buffer(struct auxtrace_stream *s)
{
	bool detached = auxtrace_counter_detached(&s->counter);
	unsigned int n;

	pr_notice_ratelimited("auxtrace%d: %s has put the head where it cannot be: the rest of the buffer is lost\n",
			      s->cpu, s->pmu->name);
	auxtrace_window_cut(s);
	end_counter(s, s->tail);
	auxtrace_cut_marks(s);
	s->truncated = false;
	for (n = 0; n < s->nr_gaps; n++) {
		struct auxtrace_gap *gap = auxtrace_nth_gap(s, n);

		if ((long)(gap->at - s->tail) > 0)
			gap->at = s->tail;
	}

	if (detached && !s->down) {
		begin_hotplug_gap(s);
		return;
	}
	if (!s->stopped && !s->down) {
		s->stopped_at = ktime_get_ns();
		auxtrace_count(&s->stats->gaps_driver, 1);
	}
	push_gap(s, s->tail, 0);
	WRITE_ONCE(s->stopped, false);
	WRITE_ONCE(s->stalled, false);
	WRITE_ONCE(s->down, true);
}

/**
 * auxtrace_check_head() - give up a buffer whose head is off
 * @s:		the stream, both locks held; no bytes that were taken are on their way
 *		to the reader
 *
 * Context: may sleep.
 */
void auxtrace_check_head(struct auxtrace_stream *s)
{
	if (head_is_off(s))
		give_up_buffer(s);
}

/* Has the event left its CPU for good? If so there is a gap. */
static bool notice_down(struct auxtrace_stream *s)
{
	if (s->down)
		return true;
	if (!auxtrace_counter_detached(&s->counter) || !gaps_can_come(s))
		return false;
	auxtrace_collect_reports(s);
	if (!gaps_can_come(s))
		return false;
	if (s->truncated)
		push_driver_gap(s, s->truncated_at);
	s->truncated = false;
	begin_hotplug_gap(s);
	return true;
}

/*
 * Keeps the event running: notices that it has stopped, or has left its CPU, and
 * starts or makes it again when it can be. What has proved futile is tried again
 * only by the patient, those that come every now and then.
 */
static void keep_running(struct auxtrace_stream *s, bool patient)
{
	int ret;

	lockdep_assert_held(&s->lock);

	if (s->closing)
		return;
	if (head_is_off(s)) {
		/* A reader is at it, and will check. */
		if (!mutex_trylock(&s->read_lock))
			return;
		give_up_buffer(s);
		mutex_unlock(&s->read_lock);
	}
	if (s->ended) {
		settle_end(s);
		return;
	}
	if (s->start_due && !begin_start_gap(s))
		return;
	if (notice_down(s)) {
		if (cpu_online(s->cpu) && !auxtrace_available(s) &&
		    (patient || !s->failed))
			come_back(s);
		return;
	}
	/* The event stands still, and is going to be made anew. */
	if (auxtrace_counter_leaving(&s->counter))
		return;
	if (!notice_stop(s) || (is_futile(s) && !patient))
		return;
	if (room(s) < s->counter.size / 2 || auxtrace_counter_detached(&s->counter))
		return;
	ret = restart(s);
	trace_reenable(s->cpu, auxtrace_head(s), room(s), ret);
	if (ret) {
		auxtrace_counter_hold(&s->counter);
		fail(s, "started again");
	} else {
		end_gap(s);
	}
}

/**
 * auxtrace_keep_running() - look after the event
 * @s:		the stream, its lock held
 *
 * To be called whenever the reader takes data or makes room.
 *
 * Context: may sleep.
 */
void auxtrace_keep_running(struct auxtrace_stream *s)
{
	keep_running(s, false);
}

static void tend_work(struct work_struct *work)
{
	struct auxtrace_stream *s = container_of(work, struct auxtrace_stream, tend);

	mutex_lock(&s->lock);
	keep_running(s, test_and_clear_bit(0, &s->cpu_changed));
	mutex_unlock(&s->lock);
	wake_up_interruptible_all(&s->wait);
}

/**
 * auxtrace_arm_flush() - have waiting readers looked after in time
 * @s:		the stream
 *
 * Context: any state of the task; needs no lock.
 */
void auxtrace_arm_flush(struct auxtrace_stream *s)
{
	bool futile = READ_ONCE(s->stalled) || READ_ONCE(s->failed);
	unsigned long delay = futile ? STALL_DELAY : s->flush_delay;

	if (!delay || READ_ONCE(s->ended))
		return;
	if (!queue_delayed_work(system_dfl_wq, &s->flush, delay) && futile &&
	    time_after(READ_ONCE(s->flush.timer.expires), jiffies + delay))
		mod_delayed_work(system_dfl_wq, &s->flush, delay);
}

/**
 * auxtrace_hold_for_stop() - stop the event on somebody's wish
 * @s:		the stream, its lock held
 *
 * Context: may sleep.
 */
void auxtrace_hold_for_stop(struct auxtrace_stream *s)
{
	keep_running(s, false);
	if (s->stopped || s->down)
		return;
	auxtrace_counter_hold(&s->counter);
	settle_end(s);
}

/**
 * auxtrace_flush_now() - publish what the hardware has written
 * @s:		the stream, its lock held
 *
 * Where the event runs: it is stopped and started, which is no gap.
 *
 * Context: may sleep.
 * Return: bytes that were published by this.
 */
unsigned long auxtrace_flush_now(struct auxtrace_stream *s)
{
	unsigned long before, head;
	bool woken, crossed;

	keep_running(s, true);
	if (s->closing || s->ended || s->stopped || s->down || !gaps_can_come(s))
		return 0;

	before = auxtrace_head(s);
	if (!auxtrace_counter_flush(&s->counter, &woken))
		return 0;
	auxtrace_count(&s->stats->flushes, 1);
	if (head_is_off(s)) {
		keep_running(s, false);
		return 0;
	}
	head = auxtrace_head(s);
	if (head != before)
		s->flushed_to = head;
	trace_flush(s->cpu, before, head - before);
	/*
	 * Unless a watermark was crossed, only a loss that the driver reports
	 * makes the perf core wake readers. Where its reports can be seen,
	 * they tell.
	 */
	crossed = (head - s->base) / s->watermark != (before - s->base) / s->watermark;
	if (woken && !crossed && !auxtrace_consumer_sees()) {
		auxtrace_counter_hold(&s->counter);
		begin_gap(s);
	}
	keep_running(s, false);
	return head - before;
}

static void flush_work_fn(struct work_struct *work)
{
	struct auxtrace_stream *s =
		container_of(to_delayed_work(work), struct auxtrace_stream, flush);
	unsigned long available;

	mutex_lock(&s->lock);
	if (s->flush_delay && auxtrace_available(s) < s->wake_bytes)
		auxtrace_flush_now(s);
	else
		keep_running(s, true);
	available = auxtrace_available(s);
	mutex_unlock(&s->lock);

	if (available || READ_ONCE(s->failed))
		wake_up_interruptible_all(&s->wait);
	if (READ_ONCE(s->failed) ||
	    (available < READ_ONCE(s->wake_bytes) && wq_has_sleeper(&s->wait)))
		auxtrace_arm_flush(s);
}

/**
 * auxtrace_upkeep_begin() - make the counter, and look after it from now on
 * @s:		the stream, new
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 * Return: 0, or after a line in the log: see auxtrace_counter_create(), or -EIO
 * if the event cannot run.
 */
int auxtrace_upkeep_begin(struct auxtrace_stream *s)
{
	int ret;

	INIT_WORK(&s->tend, tend_work);
	INIT_DELAYED_WORK(&s->flush, flush_work_fn);

	/* Before there is an event: a CPU that goes has to stop it. */
	auxtrace_hotplug_add(s);
	mutex_lock(&s->lock);
	ret = make_counter(s, true);
	mutex_unlock(&s->lock);
	if (ret == -EIO)
		pr_notice_ratelimited("auxtrace%d: the event cannot run on CPU %d\n",
				      s->cpu, s->cpu);
	if (ret) {
		auxtrace_hotplug_del(s);
		/* Hotplug queues this, and a start that fails, as it wakes readers. */
		cancel_work_sync(&s->tend);
		return ret;
	}
	/* The CPU may have come and gone: whatever hotplug told is looked at now. */
	set_bit(0, &s->cpu_changed);
	auxtrace_queue_tend(s);
	return 0;
}

/**
 * auxtrace_upkeep_end() - stop and free the counter
 * @s:		the stream, which nobody reads or polls
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 */
void auxtrace_upkeep_end(struct auxtrace_stream *s)
{
	auxtrace_hotplug_del(s);

	mutex_lock(&s->lock);
	/* What is missing at the end counts too. */
	if (!s->ended) {
		/* No reader comes to the gaps that wait: there is room for these. */
		WRITE_ONCE(s->nr_gaps, 0);
		if (!notice_down(s) && !s->stopped) {
			auxtrace_counter_hold(&s->counter);
			settle_end(s);
		}
		if (s->stopped || s->down)
			count_gap_time(s, ktime_get_ns());
	}
	s->closing = true;
	mutex_unlock(&s->lock);

	/* perf's wake-ups queue one of the works. */
	if (auxtrace_counter_exists(&s->counter))
		auxtrace_counter_mute(&s->counter);
	cancel_work_sync(&s->tend);
	cancel_delayed_work_sync(&s->flush);
	mutex_lock(&s->lock);
	if (auxtrace_counter_exists(&s->counter))
		end_counter(s, s->base);
	mutex_unlock(&s->lock);
}
