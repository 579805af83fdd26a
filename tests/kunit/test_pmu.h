/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace PMU that does nothing by itself: a test is its hardware, and says when
 * there is trace, when the driver publishes it, and what it reports.
 */
#ifndef AUXTRACE_TEST_PMU_H
#define AUXTRACE_TEST_PMU_H

#include <linux/perf_event.h>
#include <linux/types.h>

/**
 * struct test_pmu_control - how the PMU behaves, and what it has seen
 * @refuse_setup:	setup_aux() refuses the next buffers
 * @refuse_add:		events cannot be scheduled
 * @stop_at_start:	a driver that stops right after each start, so many times
 * @setups:		buffers that setup_aux() took
 * @frees:		buffers that free_aux() gave back
 * @starts:		how often an event was to be started
 *
 * The first three are written by tests alone, the others are atomic.
 */
struct test_pmu_control {
	bool refuse_setup;
	bool refuse_add;
	unsigned int stop_at_start;
	atomic_t setups;
	atomic_t frees;
	atomic_t starts;
};

extern struct test_pmu_control test_pmu_control;

/* attr.config: distinguishes the trace of one event from that of another. */
u8 test_pmu_byte(u64 config, unsigned long cursor);

int test_pmu_register(void);
void test_pmu_unregister(void);
u32 test_pmu_type(void);

struct perf_event *test_pmu_create(int cpu, u64 config);
unsigned long test_pmu_write(struct perf_event *event, unsigned long n);
void test_pmu_publish(struct perf_event *event, u64 flags);
void test_pmu_publish_false(struct perf_event *event, unsigned long n);
bool test_pmu_in_session(struct perf_event *event);
unsigned long test_pmu_room(struct perf_event *event);
unsigned long test_pmu_next_wakeup(struct perf_event *event);
void test_pmu_settle(struct perf_event *event);

#endif /* AUXTRACE_TEST_PMU_H */
