/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is counted for each CPU, from the daemon's start on.
 */
#ifndef AUXTRACED_COUNTERS_H
#define AUXTRACED_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/auxtrace.h>

enum counter {
	COUNT_BYTES,
	COUNT_WINDOWS,
	COUNT_GAPS,
	COUNT_GAPS_FULL,
	COUNT_GAPS_DRIVER,
	COUNT_GAPS_HOTPLUG,
	COUNT_GAPS_STOPPED,
	COUNT_GAP_NS,
	COUNT_TRUNCATED,
	COUNT_PARTIAL,
	COUNT_COLLISION,
	COUNT_LOST_FULL_BYTES, /* the disk was full */
	COUNT_LOST_ERROR_BYTES,
	COUNT_LOST_FULL_WINDOWS,
	COUNT_LOST_ERROR_WINDOWS,
	COUNT_DROPPED_BYTES, /* by design: of files, for total_size */
	COUNT_DROPPED_FILES,
	COUNT_FILES, /* begun */
	COUNT_ROTATIONS,
	COUNT_WRITTEN, /* bytes of files, as they are on the disk */
	COUNT_SYNC_ERRORS,
	COUNT_SYNC_FAILED_BYTES, /* of files, written before an error of that kind */
	COUNT_OPENS,
	COUNT_DAMAGE,
	NR_COUNTERS
};

/* Threads may add at any time. */
struct counters {
	struct counters *next;
	unsigned int cpu;
	atomic_bool recording; /* the device is open */
	_Atomic uint64_t value[NR_COUNTERS];
};

static inline void count(struct counters *counters, enum counter what, uint64_t n)
{
	atomic_fetch_add_explicit(&counters->value[what], n, memory_order_relaxed);
}

static inline uint64_t counted(const struct counters *counters, enum counter what)
{
	return atomic_load_explicit(&counters->value[what], memory_order_relaxed);
}

/* Adds what a window's header says. */
void count_window(struct counters *counters, const struct auxtrace_window *window);

/*
 * Of a CPU: always the same, valid for ever; NULL without memory. Any thread may ask.
 */
struct counters *counters_of(unsigned int cpu);

/* The sum over all CPUs. */
uint64_t counted_in_all(enum counter what);

/* Writes them as Prometheus' text. */
void counters_print(FILE *to);

/* Frees all of them, when nobody counts any more. */
void counters_free(void);

#endif
