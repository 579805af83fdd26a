/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel-consumer AUX API, as the rest of the module sees it.
 *
 * Five functions let kernel code own the AUX buffer of a perf event and drain
 * it. They come from one of two providers, chosen when the module is built:
 *
 *   native  the kernel declares and exports them; native.c
 *   compat  a stock kernel does not; compat.c has the same five on top of the
 *           perf core's internals, which compat_core.c finds and verifies with
 *           the help of the kernel's BTF (compat_btf.c)
 *
 * Only this folder knows which one it is.
 *
 * Cursors are absolute byte counts which wrap at ULONG_MAX; distances between
 * them are modular. Memory ordering: a producer stores data, then the head; the
 * consumer loads the head (acquire), then data, then issues smp_mb() and stores
 * the tail, which pairs with the control dependency between the load of the
 * tail and the stores of data in perf_aux_output_begin().
 */
#ifndef AUXTRACE_CONSUMER_H
#define AUXTRACE_CONSUMER_H

#include <linux/auxtrace.h>
#include <linux/perf_event.h>

/* The name of the provider: "native" or "compat". */
extern const char * const auxtrace_consumer_name;

/* What drivers report with their trace, as far as readers may care. */
#define AUXTRACE_REPORT_FLAGS	(PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | \
				 PERF_AUX_FLAG_COLLISION)

/**
 * struct auxtrace_report - what the PMU's driver has said of a piece of trace
 * @end:	cursor behind the piece's last byte
 * @flags:	those of %AUXTRACE_REPORT_FLAGS that it set, not 0
 */
struct auxtrace_report {
	unsigned long end;
	u32 flags;
};

/**
 * auxtrace_consumer_init() - make the five functions usable
 *
 * To be called before any of them, from module init.
 *
 * Context: may sleep.
 * Return: 0, or -EOPNOTSUPP after a line in the log which names what this
 * kernel lacks, or -ENOMEM.
 */
int auxtrace_consumer_init(void);

/*
 * The driver's reports: auxtrace_consumer_sees() tells which PERF_AUX_FLAG_* they
 * can have. An event has them between auxtrace_consumer_watch(), after its set-up,
 * and auxtrace_consumer_unwatch(), when it is disabled for good.
 */
bool auxtrace_consumer_next_report(struct perf_event *event, const unsigned long *upto,
				   struct auxtrace_report *report);
u64 auxtrace_consumer_reports_lost(struct perf_event *event);
bool auxtrace_consumer_reports_urgent(struct perf_event *event);

#ifdef AUXTRACE_CONSUMER_NATIVE

/* For user space: enum auxtrace_consumer. */
#define AUXTRACE_CONSUMER_ID	AUXTRACE_CONSUMER_IS_NATIVE

void auxtrace_consumer_exit(void);
u32 auxtrace_consumer_sees(void);
void auxtrace_consumer_watch(struct perf_event *event);
void auxtrace_consumer_unwatch(struct perf_event *event);

#else

#define AUXTRACE_CONSUMER_ID	AUXTRACE_CONSUMER_IS_COMPAT

/* Nothing to be undone; the reports are in the buffer, see compat.c. */
static inline void auxtrace_consumer_exit(void)
{
}

static inline u32 auxtrace_consumer_sees(void)
{
	return AUXTRACE_REPORT_FLAGS;
}

static inline void auxtrace_consumer_watch(struct perf_event *event)
{
}

static inline void auxtrace_consumer_unwatch(struct perf_event *event)
{
}

#define perf_event_setup_aux	auxtrace_compat_setup_aux
#define perf_event_release_aux	auxtrace_compat_release_aux
#define perf_event_aux_head	auxtrace_compat_aux_head
#define perf_event_aux_tail_set	auxtrace_compat_aux_tail_set
#define perf_event_aux_copy	auxtrace_compat_aux_copy

int perf_event_setup_aux(struct perf_event *event, int nr_pages, long watermark);
void perf_event_release_aux(struct perf_event *event);
unsigned long perf_event_aux_head(struct perf_event *event);
int perf_event_aux_tail_set(struct perf_event *event, unsigned long tail);
long perf_event_aux_copy(struct perf_event *event, unsigned long from,
			 unsigned long to, void *buf);

#endif /* AUXTRACE_CONSUMER_NATIVE */
#endif /* AUXTRACE_CONSUMER_H */
