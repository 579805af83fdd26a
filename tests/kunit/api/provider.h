/* SPDX-License-Identifier: GPL-2.0-only */
/* The providers of the kernel-consumer AUX API, side by side. */
#ifndef AUXTRACE_KUNIT_PROVIDER_H
#define AUXTRACE_KUNIT_PROVIDER_H

#include <linux/perf_event.h>

/**
 * struct provider - the five functions
 * @name:	"native" or "compat"
 * @setup:	perf_event_setup_aux()
 * @release:	perf_event_release_aux()
 * @head:	perf_event_aux_head()
 * @tail_set:	perf_event_aux_tail_set()
 * @copy:	perf_event_aux_copy()
 */
struct provider {
	const char *name;
	int (*setup)(struct perf_event *event, int nr_pages, long watermark);
	void (*release)(struct perf_event *event);
	unsigned long (*head)(struct perf_event *event);
	int (*tail_set)(struct perf_event *event, unsigned long tail);
	long (*copy)(struct perf_event *event, unsigned long from, unsigned long to,
		     void *buf);
};

/* native.c, where the kernel has the API; compat.c */
extern const struct provider native_provider;
extern const struct provider compat_provider;

int compat_provider_init(void);
void move_tail(struct perf_event *event, unsigned long tail);

#endif /* AUXTRACE_KUNIT_PROVIDER_H */
