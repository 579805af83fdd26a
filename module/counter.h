/* SPDX-License-Identifier: GPL-2.0-only */
/* One kernel perf counter on a trace PMU, with the AUX buffer that it fills. */
#ifndef AUXTRACE_COUNTER_H
#define AUXTRACE_COUNTER_H

#include <linux/math.h>
#include <linux/types.h>
#include <linux/wait.h>

struct auxtrace_counter;
struct auxtrace_pmu;
struct auxtrace_report;
struct auxtrace_settings;
struct perf_event;

/**
 * typedef auxtrace_wake_t - what a counter calls when perf wakes its readers
 * @counter:	the counter
 * @attend:	the driver has stopped by itself since the last start, or has
 *		reported something that matters now
 *
 * Context: hard interrupt, under the event's wait queue's lock.
 */
typedef void auxtrace_wake_t(struct auxtrace_counter *counter, bool attend);

/**
 * struct auxtrace_counter - a counter and its AUX buffer
 * @event:	the event, or NULL while there is none. Written by create and
 *		destroy, whose callers exclude each other; may be peeked at under
 *		RCU, since perf frees events and buffers after a grace period
 * @cpu:	the CPU that it traces
 * @size:	of the AUX buffer in bytes, a power of two; constant
 * @grain:	what tails are multiples of, in bytes; constant
 * @relay:	entry on the event's wait queue
 * @wake:	called for each wake-up; constant
 * @held:	we are about to disable the event, or have
 * @halted:	we have stopped it, which ran until then; written on its CPU
 * @self_stopped: the driver has stopped by itself since the last start, when the
 *		head was at ...
 * @stop_head:	... this cursor
 * @woken_at:	time of the last wake-up (ktime_get_ns()); written from hard
 *		interrupts, 64 bits are read and written at once
 *
 * The five above are written from hard interrupts on the event's CPU and from
 * callers, and read without a lock; see relay_wake().
 *
 * @leaving:	the CPU is about to go offline; written by hotplug callbacks, read
 *		without a lock
 *
 * @reports_lost: reports there was no room for, up to the last question
 *
 * The caller's lock serialises all functions but those that say otherwise.
 */
struct auxtrace_counter {
	struct perf_event __rcu *event;
	int cpu;
	unsigned long size;
	unsigned long grain;
	wait_queue_entry_t relay;
	auxtrace_wake_t *wake;
	bool held;
	bool halted;
	bool self_stopped;
	unsigned long stop_head;
	u64 woken_at;
	bool leaving;
	u64 reports_lost;
};

/*
 * As much of a tail as the driver gets to know; for the reason see
 * auxtrace_counter_set_tail().
 */
static inline unsigned long auxtrace_counter_given_tail(struct auxtrace_counter *counter,
							unsigned long tail)
{
	return round_down(tail, counter->grain);
}

int auxtrace_counter_create(struct auxtrace_counter *counter,
			    const struct auxtrace_pmu *pmu, int cpu,
			    const struct auxtrace_settings *settings,
			    auxtrace_wake_t *wake, bool explain);
void auxtrace_counter_mute(struct auxtrace_counter *counter);
void auxtrace_counter_destroy(struct auxtrace_counter *counter);
bool auxtrace_counter_exists(struct auxtrace_counter *counter);
bool auxtrace_counter_detached(struct auxtrace_counter *counter);
int auxtrace_counter_start(struct auxtrace_counter *counter);
bool auxtrace_counter_hold(struct auxtrace_counter *counter);
void auxtrace_counter_leave_cpu(struct auxtrace_counter *counter);
void auxtrace_counter_stay(struct auxtrace_counter *counter);
bool auxtrace_counter_leaving(struct auxtrace_counter *counter);
bool auxtrace_counter_flush(struct auxtrace_counter *counter, bool *woken);
bool auxtrace_counter_self_stopped(struct auxtrace_counter *counter,
				   unsigned long *head);
void auxtrace_counter_forget_stop(struct auxtrace_counter *counter);
unsigned long auxtrace_counter_head(struct auxtrace_counter *counter);
u64 auxtrace_counter_clock(struct auxtrace_counter *counter);
bool auxtrace_counter_seems_stopped(struct auxtrace_counter *counter);
bool auxtrace_counter_stopped(struct auxtrace_counter *counter);
bool auxtrace_counter_next_report(struct auxtrace_counter *counter,
				  const unsigned long *upto,
				  struct auxtrace_report *report);
u64 auxtrace_counter_reports_lost(struct auxtrace_counter *counter);
int auxtrace_counter_set_tail(struct auxtrace_counter *counter, unsigned long tail);
long auxtrace_counter_copy(struct auxtrace_counter *counter, unsigned long from,
			   unsigned long to, void *buf);

#endif /* AUXTRACE_COUNTER_H */
