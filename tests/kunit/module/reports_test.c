// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of reports.c: what a driver reports, kept for the windows that it is about.
 * Owns the suite auxtrace_reports.
 */
#include "reports.c"

#include "fixture.h"

#define TRUNCATED	AUXTRACE_WINDOW_TRUNCATED
#define PARTIAL		AUXTRACE_WINDOW_PARTIAL
#define COLLISION	AUXTRACE_WINDOW_COLLISION

static void flags(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, auxtrace_driver_flags(0));
	KUNIT_EXPECT_EQ(test, TRUNCATED, auxtrace_driver_flags(PERF_AUX_FLAG_TRUNCATED));
	KUNIT_EXPECT_EQ(test, PARTIAL, auxtrace_driver_flags(PERF_AUX_FLAG_PARTIAL));
	KUNIT_EXPECT_EQ(test, COLLISION, auxtrace_driver_flags(PERF_AUX_FLAG_COLLISION));
	KUNIT_EXPECT_EQ(test, TRUNCATED | PARTIAL | COLLISION, auxtrace_driver_flags(U64_MAX));
	KUNIT_EXPECT_EQ(test, 0, auxtrace_driver_flags(PERF_AUX_FLAG_OVERWRITE |
						       PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK));
}

/* Marks alone need no counter. */
static struct auxtrace_stream *bare_stream(struct kunit *test)
{
	struct auxtrace_stream *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	return s;
}

static void marks_in_order(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);

	KUNIT_EXPECT_EQ(test, 0, auxtrace_take_marks(s, 1000));
	push_mark(s, 100, PARTIAL);
	push_mark(s, 200, COLLISION);
	push_mark(s, 200, TRUNCATED);
	push_mark(s, 300, PARTIAL);
	KUNIT_EXPECT_EQ(test, 3, s->nr_marks);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_take_marks(s, 99));
	KUNIT_EXPECT_EQ(test, PARTIAL, auxtrace_take_marks(s, 100));
	KUNIT_EXPECT_EQ(test, 0, auxtrace_take_marks(s, 100));
	KUNIT_EXPECT_EQ(test, 0, auxtrace_take_marks(s, 199));
	KUNIT_EXPECT_EQ(test, COLLISION | TRUNCATED, auxtrace_take_marks(s, 200));
	push_mark(s, 400, COLLISION);
	KUNIT_EXPECT_EQ(test, PARTIAL | COLLISION, auxtrace_take_marks(s, 400));
	KUNIT_EXPECT_EQ(test, 0, s->nr_marks);
}

/* Offsets of marks are modular. */
static void marks_around_the_wrap(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);

	push_mark(s, -10UL, PARTIAL);
	push_mark(s, 0, COLLISION);
	push_mark(s, 10, TRUNCATED);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_take_marks(s, -11UL));
	KUNIT_EXPECT_EQ(test, PARTIAL, auxtrace_take_marks(s, -1UL));
	KUNIT_EXPECT_EQ(test, COLLISION, auxtrace_take_marks(s, 9));
	KUNIT_EXPECT_EQ(test, TRUNCATED, auxtrace_take_marks(s, 10));
}

/* Many times around the ring, with as many in it as fit. */
static void marks_around_the_ring(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);
	unsigned long in = 0, out = 0;

	while (in < 5 * AUXTRACE_MAX_MARKS + 3) {
		while (in - out < AUXTRACE_MAX_MARKS) {
			push_mark(s, in, in % 2 ? PARTIAL : COLLISION);
			in++;
		}
		KUNIT_EXPECT_EQ(test, AUXTRACE_MAX_MARKS, s->nr_marks);
		KUNIT_EXPECT_EQ(test, out % 2 ? PARTIAL : COLLISION, auxtrace_take_marks(s, out));
		out++;
	}
}

/* What there is no room for is told too early: with the last one that there is. */
static void marks_beyond_the_room(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);
	unsigned int i;

	for (i = 0; i < AUXTRACE_MAX_MARKS; i++)
		push_mark(s, i, PARTIAL);
	push_mark(s, 1000, TRUNCATED);
	push_mark(s, 2000, COLLISION);
	KUNIT_EXPECT_EQ(test, AUXTRACE_MAX_MARKS, s->nr_marks);
	KUNIT_EXPECT_EQ(test, PARTIAL, auxtrace_take_marks(s, AUXTRACE_MAX_MARKS - 2));
	KUNIT_EXPECT_EQ(test, PARTIAL | TRUNCATED | COLLISION,
			auxtrace_take_marks(s, AUXTRACE_MAX_MARKS - 1));
	KUNIT_EXPECT_EQ(test, 0, auxtrace_take_marks(s, 2000));
}

static void skip_if_unseen(struct kunit *test)
{
	if (!auxtrace_consumer_sees())
		kunit_skip(test, "this provider does not see what drivers report");
}

/* From the driver to the marks and the counts. */
static void reports_of_the_driver(struct kunit *test)
{
	struct fixture *f;

	skip_if_unseen(test);
	f = open_stream(test, AUXTRACE_FORMAT_RAW);
	test_pmu_write(f->event, 100);
	test_pmu_publish(f->event, PERF_AUX_FLAG_PARTIAL);
	test_pmu_write(f->event, 100);
	test_pmu_publish(f->event, 0);
	test_pmu_write(f->event, 100);
	test_pmu_publish(f->event, PERF_AUX_FLAG_COLLISION | PERF_AUX_FLAG_PARTIAL);

	mutex_lock(&f->s->lock);
	auxtrace_collect_reports(f->s);
	KUNIT_EXPECT_EQ(test, PARTIAL, auxtrace_take_marks(f->s, 100));
	KUNIT_EXPECT_EQ(test, 0, auxtrace_take_marks(f->s, 299));
	KUNIT_EXPECT_EQ(test, PARTIAL | COLLISION, auxtrace_take_marks(f->s, 300));
	mutex_unlock(&f->s->lock);
	KUNIT_EXPECT_EQ(test, 2, f->stats.partial);
	KUNIT_EXPECT_EQ(test, 1, f->stats.collision);
	KUNIT_EXPECT_EQ(test, 0, f->stats.truncated);
	KUNIT_EXPECT_EQ(test, 0, f->stats.reports_lost);
}

/* Without anybody who takes them: counted, those that are lost as well. */
static void reports_by_the_hundred(struct kunit *test)
{
	struct fixture *f;
	int i;

	skip_if_unseen(test);
	f = open_stream(test, AUXTRACE_FORMAT_RAW);
	for (i = 0; i < 500; i++) {
		test_pmu_write(f->event, 1);
		test_pmu_publish(f->event, PERF_AUX_FLAG_PARTIAL);
	}
	settle(f);
	KUNIT_EXPECT_EQ(test, 500, read_all(f));
	KUNIT_EXPECT_EQ(test, 500, f->stats.partial + f->stats.reports_lost);
	KUNIT_EXPECT_EQ(test, 0, f->s->nr_marks);
}

static struct kunit_case reports_cases[] = {
	KUNIT_CASE(flags),
	KUNIT_CASE(marks_in_order),
	KUNIT_CASE(marks_around_the_wrap),
	KUNIT_CASE(marks_around_the_ring),
	KUNIT_CASE(marks_beyond_the_room),
	KUNIT_CASE(reports_of_the_driver),
	KUNIT_CASE(reports_by_the_hundred),
	{}
};

struct kunit_suite reports_suite = {
	.name = "auxtrace_reports",
	.suite_init = fixture_suite_init,
	.suite_exit = fixture_suite_exit,
	.test_cases = reports_cases,
};
