/* SPDX-License-Identifier: GPL-2.0-only */
/* What the suites of the module's own logic share: a stream of the test's PMU. */
#ifndef AUXTRACE_KUNIT_FIXTURE_H
#define AUXTRACE_KUNIT_FIXTURE_H

#include <kunit/test.h>
#include <linux/auxtrace.h>
#include <linux/sizes.h>

#include "pmu.h"
#include "stream_internal.h"
#include "test_pmu.h"

/* Of the AUX buffer. */
#define SIZE	SZ_16K

#define CONFIG	7

/**
 * struct fixture - an open stream, and what was read of it
 * @cpu:	where it is
 * @pmu:	the test's
 * @settings:	of which it was made
 * @stats:	its statistics
 * @s:		the stream, or NULL
 * @event:	its event
 * @data:	what the last read gave, up to @SIZE bytes and some windows' headers
 */
struct fixture {
	int cpu;
	struct auxtrace_pmu *pmu;
	struct auxtrace_settings settings;
	struct auxtrace_stats stats;
	struct auxtrace_stream *s;
	struct perf_event *event;
	u8 *data;
};

#define DATA_SIZE	(SIZE + SZ_4K)

extern struct kunit_suite settings_suite;
extern struct kunit_suite counter_suite;
extern struct kunit_suite reports_suite;
extern struct kunit_suite upkeep_suite;
extern struct kunit_suite window_suite;

int fixture_suite_init(struct kunit_suite *suite);
void fixture_suite_exit(struct kunit_suite *suite);

struct fixture *new_fixture(struct kunit *test);
struct fixture *open_stream(struct kunit *test, u32 format);
void reopen_stream(struct kunit *test, struct fixture *f);
void close_stream(struct fixture *f);

void settle(struct fixture *f);
void produce(struct kunit *test, struct fixture *f, unsigned long n);
void fill(struct kunit *test, struct fixture *f);
void driver_stops(struct fixture *f);
unsigned long unread(struct fixture *f);
ssize_t read_some(struct fixture *f, size_t n);
ssize_t read_all(struct fixture *f);
void expect_trace(struct kunit *test, struct fixture *f, const u8 *data, size_t n,
		  unsigned long offset);

#endif /* AUXTRACE_KUNIT_FIXTURE_H */
