// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counter and its AUX buffer: making and unmaking both, starting, stopping,
 * telling whether the driver has stopped by itself, and the cap on the memory of
 * all buffers.
 *
 * Owns the perf event and its AUX buffer, which are the business of one stream
 * at a time: its lock serialises the calls. The sum of all buffers' sizes is
 * atomic.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "consumer/consumer.h"
#include "counter.h"
#include "pmu.h"
#include "settings.h"

/* Default of max_total: this fraction of RAM. */
#define MAX_TOTAL_RAM_FRACTION	4

/* 0 until somebody sets it: the default depends on the machine. */
static u64 max_total;
static atomic64_t total = ATOMIC64_INIT(0);

static u64 max_total_in_force(void)
{
	u64 cap = READ_ONCE(max_total);

	return cap ?: (u64)totalram_pages() * PAGE_SIZE / MAX_TOTAL_RAM_FRACTION;
}

static int set_max_total(const char *text, const struct kernel_param *kp)
{
	char *copy = kstrdup(text, GFP_KERNEL);
	char *stripped;
	u64 value;
	int ret = 0;

	if (!copy) {
		pr_notice("max_total: out of memory\n");
		return -ENOMEM;
	}
	stripped = strim(copy);
	if (auxtrace_parse_size(stripped, &value) || !value) {
		pr_notice("max_total=%.64s refused: want bytes, more than 0\n", stripped);
		ret = -EINVAL;
	} else {
		WRITE_ONCE(max_total, value);
	}
	kfree(copy);
	return ret;
}

static int get_max_total(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu\n", max_total_in_force());
}

static const struct kernel_param_ops max_total_ops = {
	.set = set_max_total,
	.get = get_max_total,
};

module_param_cb(max_total, &max_total_ops, NULL, 0644);
MODULE_PARM_DESC(max_total,
		 "cap on the AUX buffers of all CPUs together in bytes (default: a quarter of RAM)");

static bool reserve_memory(unsigned long size)
{
	u64 cap = max_total_in_force();
	s64 old = atomic64_read(&total);

	do {
		if (old + size > cap)
			return false;
	} while (!atomic64_try_cmpxchg(&total, &old, old + size));
	return true;
}

static void unreserve_memory(unsigned long size)
{
	atomic64_sub(size, &total);
}

/* For callers which exclude creation and destruction. */
static struct perf_event *event_of(struct auxtrace_counter *counter)
{
	return rcu_dereference_protected(counter->event, true);
}

/* Has the driver stopped, or the perf core disabled, what was to run? */
static bool looks_stopped(struct perf_event *event)
{
	return READ_ONCE(event->state) <= PERF_EVENT_STATE_OFF ||
	       READ_ONCE(event->hw.state) & PERF_HES_STOPPED;
}

/* Has the perf core taken the event off its CPU for good? */
static bool is_detached(struct perf_event *event)
{
	return !(READ_ONCE(event->attach_state) & PERF_ATTACH_CONTEXT);
}

/* The driver has stopped by itself. On the event's CPU, interrupts off. */
static void note_stop(struct auxtrace_counter *counter, struct perf_event *event)
{
	WRITE_ONCE(counter->stop_head, perf_event_aux_head(event));
	/* Pairs with the load in auxtrace_counter_self_stopped(). */
	smp_store_release(&counter->self_stopped, true);
}

/*
 * perf wakes readers: pass it on. Called under the wait queue's lock, which mute
 * takes to remove the entry, so the event is there.
 *
 * Each time that a driver stops by itself the perf core wakes readers, by an
 * irq_work on the event's CPU, so this sees it before anything else can set the
 * event going again: when perf reschedules the CPU's events, say, which it does
 * also with one that the driver has stopped. Who takes an event off a CPU that goes
 * offline can wake readers, too, and the event looks stopped then.
 */
static int relay_wake(struct wait_queue_entry *entry, unsigned int mode,
		      int sync, void *key)
{
	struct auxtrace_counter *counter =
		container_of(entry, struct auxtrace_counter, relay);
	struct perf_event *event = entry->private;
	bool active = READ_ONCE(event->state) >= PERF_EVENT_STATE_INACTIVE;

	WRITE_ONCE(counter->woken_at, ktime_get_ns());
	if (!READ_ONCE(counter->halted) && (active || !READ_ONCE(counter->held)) &&
	    !is_detached(event) &&
	    (looks_stopped(event) || READ_ONCE(event->pending_disable)))
		note_stop(counter, event);
	counter->wake(counter, READ_ONCE(counter->self_stopped) ||
			       auxtrace_consumer_reports_urgent(event));
	return 0;
}

static void explain_create_error(const struct auxtrace_pmu *pmu, int cpu, int err)
{
	switch (err) {
	case -EBUSY:
		pr_notice_ratelimited("auxtrace%d: %s is in use by perf (or, for intel_pt, LBR or BTS)\n",
				      cpu, pmu->name);
		break;
	case -ENODEV:
		pr_notice_ratelimited("auxtrace%d: CPU %d is offline\n", cpu, cpu);
		break;
	case -ENOENT:
		pr_notice_ratelimited("auxtrace%d: %s does not cover CPU %d, or is gone\n",
				      cpu, pmu->name, cpu);
		break;
	case -ENOMEM:
		pr_notice_ratelimited("auxtrace%d: out of memory\n", cpu);
		break;
	default:
		pr_notice_ratelimited("auxtrace%d: %s refuses the event settings (error %d)\n",
				      cpu, pmu->name, err);
	}
}

/**
 * auxtrace_counter_create() - make a counter and its AUX buffer, not started
 * @counter:	the counter, zeroed
 * @pmu:	on which PMU
 * @cpu:	on which CPU
 * @settings:	with which buffer and event settings
 * @wake:	called for each of perf's wake-ups
 * @explain:	say in the log why it failed
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 * Return: 0, or -ENOMEM (memory, max_total, or the PMU's driver), -EBUSY (PMU in
 * use), -ENODEV (CPU offline), -EINVAL or -EOPNOTSUPP (settings).
 */
int auxtrace_counter_create(struct auxtrace_counter *counter,
			    const struct auxtrace_pmu *pmu, int cpu,
			    const struct auxtrace_settings *settings,
			    auxtrace_wake_t *wake, bool explain)
{
	unsigned long size = settings->value[AUXTRACE_BUFFER_SIZE];
	unsigned long watermark = settings->value[AUXTRACE_WATERMARK] ?: size / 2;
	struct perf_event *event;
	int ret;

	if (!reserve_memory(size)) {
		if (explain)
			pr_notice_ratelimited("auxtrace%d: a buffer of %lu bytes would exceed max_total=%llu (%lld in use)\n",
					      cpu, size, max_total_in_force(),
					      atomic64_read(&total));
		return -ENOMEM;
	}

	event = auxtrace_pmu_create_event(pmu, cpu, settings);
	if (IS_ERR(event)) {
		ret = PTR_ERR(event);
		if (explain)
			explain_create_error(pmu, cpu, ret);
		if (ret == -ENOENT)
			ret = -ENODEV;
		goto unreserve;
	}

	ret = perf_event_setup_aux(event, size >> PAGE_SHIFT,
				   settings->value[AUXTRACE_WATERMARK]);
	if (ret) {
		if (explain)
			pr_notice_ratelimited("auxtrace%d: no AUX buffer of %lu bytes: %s (error %d)\n",
					      cpu, size, ret == -ENOMEM ?
					      "out of memory, or refused by the PMU's driver" :
					      "refused", ret);
		goto release;
	}

	auxtrace_consumer_watch(event);
	counter->cpu = cpu;
	counter->size = size;
	counter->grain = watermark > PAGE_SIZE ? PAGE_SIZE : 1;
	counter->wake = wake;
	init_waitqueue_func_entry(&counter->relay, relay_wake);
	counter->relay.private = event;
	add_wait_queue(&event->waitq, &counter->relay);
	rcu_assign_pointer(counter->event, event);
	return 0;

release:
	perf_event_release_kernel(event);
unreserve:
	unreserve_memory(size);
	return ret;
}

/**
 * auxtrace_counter_mute() - pass on no more wake-ups
 * @counter:	the counter
 *
 * None is under way any more once this returns. Harmless twice.
 *
 * Context: any.
 */
void auxtrace_counter_mute(struct auxtrace_counter *counter)
{
	if (!counter->relay.private)
		return;
	remove_wait_queue(&event_of(counter)->waitq, &counter->relay);
	counter->relay.private = NULL;
}

/**
 * auxtrace_counter_destroy() - stop, and free what create made
 * @counter:	the counter
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 */
void auxtrace_counter_destroy(struct auxtrace_counter *counter)
{
	struct perf_event *event = event_of(counter);

	auxtrace_counter_mute(counter);
	rcu_assign_pointer(counter->event, NULL);
	perf_event_disable(event);
	auxtrace_consumer_unwatch(event);
	perf_event_release_aux(event);
	perf_event_release_kernel(event);
	unreserve_memory(counter->size);
}

/**
 * auxtrace_counter_exists() - has it an event?
 * @counter:	the counter
 *
 * Context: any.
 * Return: true if it has.
 */
bool auxtrace_counter_exists(struct auxtrace_counter *counter)
{
	return rcu_access_pointer(counter->event);
}

/**
 * auxtrace_counter_detached() - has the event left its CPU for good?
 * @counter:	the counter
 *
 * The perf core takes events off a CPU that goes offline. It has published their
 * data then.
 *
 * Context: any; needs no lock.
 * Return: true if it has; false also while there is no event.
 */
bool auxtrace_counter_detached(struct auxtrace_counter *counter)
{
	struct perf_event *event;
	bool ret;

	rcu_read_lock();
	event = rcu_dereference(counter->event);
	ret = event && is_detached(event);
	rcu_read_unlock();
	return ret;
}

/**
 * auxtrace_counter_start() - let the event run
 * @counter:	the counter, held
 *
 * Context: may sleep; under cpus_read_lock(), so that no CPU is going offline.
 * Return: 0, or -EIO if the event cannot be scheduled on its CPU.
 */
int auxtrace_counter_start(struct auxtrace_counter *counter)
{
	struct perf_event *event = event_of(counter);

	/*
	 * A disable that the perf core has noted but not carried out would hit
	 * the event later, out of the blue (6.12).
	 */
	WRITE_ONCE(event->pending_disable, 0);
	WRITE_ONCE(counter->self_stopped, false);
	WRITE_ONCE(counter->halted, false);
	WRITE_ONCE(counter->held, false);
	perf_event_enable(event);
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR ? -EIO : 0;
}

/*
 * Stops the driver if it runs, and keeps in mind that it is us who did. On the
 * event's CPU, interrupts off.
 */
static void halt_here(struct auxtrace_counter *counter, struct perf_event *event)
{
	if (event->state != PERF_EVENT_STATE_ACTIVE ||
	    event->oncpu != smp_processor_id() || looks_stopped(event))
		return;
	WRITE_ONCE(counter->halted, true);
	event->pmu->stop(event, PERF_EF_UPDATE);
}

static void halt_on_cpu(void *data)
{
	struct auxtrace_counter *counter = data;

	halt_here(counter, event_of(counter));
}

/**
 * auxtrace_counter_leave_cpu() - the CPU goes offline: publish what is there
 * @counter:	the counter, with an event or not
 *
 * The perf core would do so, but later than drivers hear of hotplug. arm_spe_pmu
 * resets its CPU's registers then, also if there is an event, and reads from them
 * what is to be published: up to Linux 7.3 at least the head gets a value far out of
 * the buffer.
 *
 * Context: the counter's CPU; before the driver's hotplug callback.
 */
void auxtrace_counter_leave_cpu(struct auxtrace_counter *counter)
{
	struct perf_event *event;
	unsigned long flags;

	rcu_read_lock();
	local_irq_save(flags);
	WRITE_ONCE(counter->leaving, true);
	event = rcu_dereference(counter->event);
	if (event) {
		halt_here(counter, event);
		/*
		 * The perf core may reschedule the CPU's events before they leave it:
		 * with this it does not set going what it has taken off.
		 */
		WRITE_ONCE(event->pending_disable, 1);
	}
	local_irq_restore(flags);
	rcu_read_unlock();
}

/**
 * auxtrace_counter_stay() - the CPU is online, be it because it could not leave
 * @counter:	the counter
 *
 * Context: any.
 */
void auxtrace_counter_stay(struct auxtrace_counter *counter)
{
	WRITE_ONCE(counter->leaving, false);
}

/**
 * auxtrace_counter_leaving() - is the CPU about to go offline?
 * @counter:	the counter
 *
 * Context: any; needs no lock.
 * Return: true if so, or if it has gone.
 */
bool auxtrace_counter_leaving(struct auxtrace_counter *counter)
{
	return READ_ONCE(counter->leaving);
}

/**
 * auxtrace_counter_hold() - stop the event; what it has traced is published
 * @counter:	the counter
 *
 * Also settles an event that the driver stopped, or that the perf core is about
 * to disable: after this it can be started, and nothing delayed will overtake. Nor
 * does perf schedule it in by itself.
 *
 * Context: may sleep.
 * Return: true if it ran until now; false if the driver had stopped, or the perf
 * core had disabled it, before: then trace is missing since. A driver that stopped
 * without a sign at the event can be told by its report alone.
 */
bool auxtrace_counter_hold(struct auxtrace_counter *counter)
{
	struct perf_event *event = event_of(counter);
	bool halted_before = counter->halted;

	/* Before the event's state changes: pairs with the IPI that changes it. */
	smp_store_mb(counter->held, true);
	smp_call_function_single(counter->cpu, halt_on_cpu, counter, true);
	perf_event_disable(event);
	irq_work_sync(&event->pending_irq);
	return counter->halted && !halted_before;
}

/**
 * struct flush_call - what a flush does on the event's CPU
 * @event:	in: the event
 * @done:	out: it ran, was stopped, and started again
 * @woken:	out: stopping it made the perf core wake readers
 */
struct flush_call {
	struct perf_event *event;
	bool done;
	bool woken;
};

static void flush_on_cpu(void *data)
{
	struct flush_call *call = data;
	struct perf_event *event = call->event;
	bool woken_before = event->pending_wakeup;

	if (event->state != PERF_EVENT_STATE_ACTIVE ||
	    event->oncpu != smp_processor_id() || looks_stopped(event))
		return;
	event->pmu->stop(event, PERF_EF_UPDATE);
	call->woken = !woken_before && event->pending_wakeup;
	event->pmu->start(event, 0);
	call->done = true;
}

/**
 * auxtrace_counter_flush() - have the driver publish what is there
 * @counter:	the counter, started
 * @woken:	out: publishing made the perf core wake readers; if no watermark was
 *		crossed, the driver has reported a loss
 *
 * Stops and starts the PMU as the perf core does where it has to (in
 * __perf_event_stop()): on the event's CPU, interrupts off. So the driver has
 * either stopped by itself before, and nothing is done, or it has not. Between
 * perf_event_disable() and perf_event_enable() that could not be told.
 *
 * Context: may sleep.
 * Return: true if it was done, false if the event does not run.
 */
bool auxtrace_counter_flush(struct auxtrace_counter *counter, bool *woken)
{
	struct flush_call call = { .event = event_of(counter) };

	smp_call_function_single(counter->cpu, flush_on_cpu, &call, true);
	*woken = call.woken;
	return call.done;
}

/**
 * auxtrace_counter_self_stopped() - has the driver stopped by itself since start?
 * @counter:	the counter
 * @head:	out: cursor of where it did
 *
 * Context: any; needs no lock.
 * Return: true if it has; @head is set then only.
 */
bool auxtrace_counter_self_stopped(struct auxtrace_counter *counter,
				   unsigned long *head)
{
	/* Pairs with the store in note_stop(). */
	if (!smp_load_acquire(&counter->self_stopped))
		return false;
	*head = READ_ONCE(counter->stop_head);
	return true;
}

/**
 * auxtrace_counter_forget_stop() - that the driver stopped has been dealt with
 * @counter:	the counter, held
 *
 * Context: any.
 */
void auxtrace_counter_forget_stop(struct auxtrace_counter *counter)
{
	WRITE_ONCE(counter->self_stopped, false);
}

/**
 * auxtrace_counter_head() - the producer's cursor
 * @counter:	the counter
 *
 * Context: any; needs no lock.
 * Return: bytes published, modular; 0 while there is no event.
 */
unsigned long auxtrace_counter_head(struct auxtrace_counter *counter)
{
	struct perf_event *event;
	unsigned long head = 0;

	rcu_read_lock();
	event = rcu_dereference(counter->event);
	if (event)
		head = perf_event_aux_head(event);
	rcu_read_unlock();
	return head;
}

/**
 * auxtrace_counter_clock() - what time is it for perf?
 * @counter:	the counter
 *
 * Context: any.
 * Return: nanoseconds of the clock that perf's records bear.
 */
u64 auxtrace_counter_clock(struct auxtrace_counter *counter)
{
	struct perf_event *event;
	u64 now;

	rcu_read_lock();
	event = rcu_dereference(counter->event);
	now = event ? event->clock() : local_clock();
	rcu_read_unlock();
	return now;
}

/**
 * auxtrace_counter_seems_stopped() - may the event have stopped by itself?
 * @counter:	the counter, started
 *
 * A quick look, which can also catch the event while perf reschedules it.
 *
 * Context: any; needs no lock.
 * Return: true if it may have; false also while there is no event, or its CPU is
 * leaving.
 */
bool auxtrace_counter_seems_stopped(struct auxtrace_counter *counter)
{
	struct perf_event *event;
	bool ret;

	rcu_read_lock();
	event = rcu_dereference(counter->event);
	ret = event && !auxtrace_counter_leaving(counter) &&
	      (looks_stopped(event) || READ_ONCE(counter->self_stopped));
	rcu_read_unlock();
	return ret;
}

static void note_stop_on_cpu(void *data)
{
	struct auxtrace_counter *counter = data;
	struct perf_event *event = event_of(counter);

	if (!READ_ONCE(counter->self_stopped) && !counter->held && looks_stopped(event) &&
	    !is_detached(event))
		note_stop(counter, event);
}

/**
 * auxtrace_counter_stopped() - has the event stopped by itself?
 * @counter:	the counter, started
 *
 * Asks on the event's CPU, where interrupts off keep perf from rescheduling it.
 *
 * Context: may sleep.
 * Return: as auxtrace_counter_self_stopped() from now on; or true if it is held.
 */
bool auxtrace_counter_stopped(struct auxtrace_counter *counter)
{
	smp_call_function_single(counter->cpu, note_stop_on_cpu, counter, true);
	return READ_ONCE(counter->self_stopped) || counter->held;
}

/**
 * auxtrace_counter_next_report() - take out what the driver has reported
 * @counter:	the counter
 * @upto:	a cursor, the head at some time: reports beyond are left alone. NULL: all,
 *		of an event that is held
 * @report:	out: the next report
 *
 * Context: any.
 * Return: false if there is none.
 */
bool auxtrace_counter_next_report(struct auxtrace_counter *counter,
				  const unsigned long *upto,
				  struct auxtrace_report *report)
{
	struct perf_event *event = event_of(counter);

	return event && auxtrace_consumer_next_report(event, upto, report);
}

/**
 * auxtrace_counter_reports_lost() - how many more reports was there no room for?
 * @counter:	the counter
 *
 * Context: any.
 * Return: their number since the last call.
 */
u64 auxtrace_counter_reports_lost(struct auxtrace_counter *counter)
{
	struct perf_event *event = event_of(counter);
	u64 lost, before = counter->reports_lost;

	if (!event)
		return 0;
	lost = auxtrace_consumer_reports_lost(event);
	counter->reports_lost = lost;
	return lost - before;
}

/**
 * auxtrace_counter_set_tail() - give room back to the event
 * @counter:	the counter
 * @tail:	consumer's cursor
 *
 * In whole pages, where the perf core can have made the buffer of larger regions
 * (it does up to the watermark's size). intel_pt adds up the pages of the head and of
 * the room, and not their bytes, to find the region at whose end the hardware stops:
 * with a tail within the first page of a region, and the head in the one before,
 * that is a page too few, and the region is that behind the head. It would
 * overwrite nearly the whole buffer.
 *
 * Return: as perf_event_aux_tail_set().
 */
int auxtrace_counter_set_tail(struct auxtrace_counter *counter, unsigned long tail)
{
	return perf_event_aux_tail_set(event_of(counter),
				       auxtrace_counter_given_tail(counter, tail));
}

/**
 * auxtrace_counter_copy() - copy published data
 * @counter:	the counter
 * @from:	cursor of the first byte
 * @to:		cursor behind the last
 * @buf:	where to
 *
 * Context: may sleep.
 * Return: as perf_event_aux_copy().
 */
long auxtrace_counter_copy(struct auxtrace_counter *counter, unsigned long from,
			   unsigned long to, void *buf)
{
	return perf_event_aux_copy(event_of(counter), from, to, buf);
}
