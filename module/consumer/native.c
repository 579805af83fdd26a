// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native provider of the kernel-consumer AUX API: the kernel itself. What is
 * left to do here is to see what drivers report with their trace. The API gives its
 * buffers no data page, so the perf core drops the PERF_RECORD_AUX; but it hands the
 * flags to perf_aux_output_end(), which is exported and which ftrace can watch.
 *
 * That costs each end of an AUX transaction, some per buffer, a call through a
 * trampoline; ftrace's callbacks may run in any context, NMI included.
 *
 * Owns the reports of each CPU, which has one event of ours at a time. No lock: the
 * watcher, on that CPU, puts reports in, and whoever holds the stream's lock takes
 * them out.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/printk.h>

#include "consumer/consumer.h"
#include "kernel_features.h"

const char * const auxtrace_consumer_name = "native";

/* Reports that can wait; the room for modules' per-CPU data is small. */
#define MAX_REPORTS	64

/**
 * struct reports - what drivers have reported of the event on a CPU
 * @event:	the event, or NULL; its other members are reset before it is set
 * @head:	counts those that were put in; written by the watcher
 * @tail:	counts those that were taken out; written by the consumer
 * @lost:	for how many there was no room; written by the watcher
 * @ring:	those between @tail and @head
 */
struct reports {
	struct perf_event *event;
	unsigned int head;
	unsigned int tail;
	u64 lost;
	struct auxtrace_report ring[MAX_REPORTS];
};

static DEFINE_PER_CPU(struct reports, reports);

#ifdef AUXTRACE_CAN_WATCH_CALLS

static void watch_output_end(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct perf_output_handle *handle = (void *)ftrace_regs_get_argument(fregs, 0);
	unsigned long size = ftrace_regs_get_argument(fregs, 1);
	struct reports *r = this_cpu_ptr(&reports);
	u32 flags = handle->aux_flags & AUXTRACE_REPORT_FLAGS;
	struct perf_event *event = handle->event;

	/* Pairs with auxtrace_consumer_watch(). */
	if (event != smp_load_acquire(&r->event))
		return;
	if (!flags)
		return;
	/* Pairs with auxtrace_consumer_next_report(): its entry has been read. */
	if (r->head - smp_load_acquire(&r->tail) == MAX_REPORTS) {
		WRITE_ONCE(r->lost, r->lost + 1);
		return;
	}
	r->ring[r->head % MAX_REPORTS] = (struct auxtrace_report) {
		.end = perf_event_aux_head(event) + size,
		.flags = flags,
	};
	/* Pairs with auxtrace_consumer_next_report(): the entry is complete. */
	smp_store_release(&r->head, r->head + 1);
	/* Pairs with perf_event_aux_head(): whoever sees the trace sees its report. */
	smp_wmb();
}

/* PERMANENT: not to be blinded by the sysctl kernel.ftrace_enabled. */
static struct ftrace_ops watcher = {
	.func = watch_output_end,
	.flags = FTRACE_OPS_FL_PERMANENT,
};

static int begin_watching(void)
{
	int ret = ftrace_set_filter_ip(&watcher, (unsigned long)perf_aux_output_end, 0, 0);

	if (!ret)
		ret = register_ftrace_function(&watcher);
	if (ret)
		ftrace_free_filter(&watcher);
	return ret;
}

static void end_watching(void)
{
	unregister_ftrace_function(&watcher);
	ftrace_free_filter(&watcher);
}

#else

static int begin_watching(void)
{
	return -EOPNOTSUPP;
}

static void end_watching(void)
{
}

#endif

static bool watching;

int auxtrace_consumer_init(void)
{
	int ret = begin_watching();

	if (ret == -ENOMEM)
		return ret;
	watching = !ret;
	if (ret)
		pr_notice("native: cannot watch perf_aux_output_end() (error %d): windows will not have the flags TRUNCATED, PARTIAL and COLLISION\n",
			  ret);
	return 0;
}

void auxtrace_consumer_exit(void)
{
	if (watching)
		end_watching();
}

u32 auxtrace_consumer_sees(void)
{
	return watching ? AUXTRACE_REPORT_FLAGS : 0;
}

void auxtrace_consumer_watch(struct perf_event *event)
{
	struct reports *r = per_cpu_ptr(&reports, event->cpu);

	r->head = 0;
	r->tail = 0;
	r->lost = 0;
	/* Pairs with watch_output_end(). */
	smp_store_release(&r->event, event);
}

void auxtrace_consumer_unwatch(struct perf_event *event)
{
	WRITE_ONCE(per_cpu_ptr(&reports, event->cpu)->event, NULL);
}

/**
 * auxtrace_consumer_next_report() - take out what the driver has reported
 * @event:	the event
 * @upto:	a cursor, the head at some time: reports beyond are left alone. NULL: all,
 *		of an event that is held
 * @report:	out: the next report
 *
 * Context: any. The caller serialises calls for one event.
 * Return: false if there is none.
 */
bool auxtrace_consumer_next_report(struct perf_event *event, const unsigned long *upto,
				   struct auxtrace_report *report)
{
	struct reports *r = per_cpu_ptr(&reports, event->cpu);

	/* Pairs with watch_output_end(): the entry is complete. */
	if (smp_load_acquire(&r->head) == r->tail)
		return false;
	*report = r->ring[r->tail % MAX_REPORTS];
	if (upto && (long)(*upto - report->end) < 0)
		return false;
	/* Pairs with watch_output_end(): the entry has been read. */
	smp_store_release(&r->tail, r->tail + 1);
	return true;
}

/**
 * auxtrace_consumer_reports_lost() - how many reports was there no room for?
 * @event:	the event
 *
 * Context: any.
 * Return: their number since auxtrace_consumer_watch().
 */
u64 auxtrace_consumer_reports_lost(struct perf_event *event)
{
	return READ_ONCE(per_cpu_ptr(&reports, event->cpu)->lost);
}

/**
 * auxtrace_consumer_reports_urgent() - should somebody take reports out now?
 * @event:	the event
 *
 * To be asked at a wake-up: perf wakes readers when the driver reports a truncation.
 *
 * Context: the event's CPU, interrupts off.
 * Return: true if so.
 */
bool auxtrace_consumer_reports_urgent(struct perf_event *event)
{
	struct reports *r = per_cpu_ptr(&reports, event->cpu);
	unsigned int used = r->head - READ_ONCE(r->tail);

	return used >= MAX_REPORTS / 2 ||
	       (used && r->ring[(r->head - 1) % MAX_REPORTS].flags & PERF_AUX_FLAG_TRUNCATED);
}
