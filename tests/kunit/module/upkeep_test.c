// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of upkeep.c: the queue of gaps, what is a gap and why, and that the event is
 * set going again. Owns the suite auxtrace_upkeep.
 */
#include "upkeep.c"

#include <linux/delay.h>

#include "fixture.h"

#define FULL	AUXTRACE_WINDOW_FULL
#define HOTPLUG	AUXTRACE_WINDOW_HOTPLUG
#define STOPPED	AUXTRACE_WINDOW_STOPPED

static void upkeep_exit(struct kunit *test)
{
	test_pmu_control.refuse_add = false;
	test_pmu_control.stop_at_start = 0;
}

/* --- the queue, which needs no event: the head is the base then --- */

static struct auxtrace_stream *bare_stream(struct kunit *test)
{
	struct auxtrace_stream *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->stats = kunit_kzalloc(test, sizeof(*s->stats), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s->stats);
	s->counter.size = SIZE;
	s->counter.grain = 1;
	return s;
}

static void head_is_at(struct auxtrace_stream *s, unsigned long head)
{
	s->base = head;
}

static void gaps_in_order(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);

	KUNIT_EXPECT_EQ(test, 0, auxtrace_gaps_at_tail(s));
	push_gap(s, 100, FULL);
	push_gap(s, 200, 0);
	push_gap(s, 300, STOPPED);
	KUNIT_EXPECT_EQ(test, 3, s->stats->gaps);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_gaps_at_tail(s));
	s->tail = 99;
	KUNIT_EXPECT_EQ(test, 0, auxtrace_gaps_at_tail(s));
	s->tail = 100;
	KUNIT_EXPECT_EQ(test, 1, auxtrace_gaps_at_tail(s));
	/* One that was noticed late is behind the tail. */
	s->tail = 299;
	KUNIT_EXPECT_EQ(test, 2, auxtrace_gaps_at_tail(s));
	s->tail = 300;
	KUNIT_EXPECT_EQ(test, 3, auxtrace_gaps_at_tail(s));
	KUNIT_EXPECT_EQ(test, FULL, auxtrace_nth_gap(s, 0)->causes);
	auxtrace_pop_gap(s);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_nth_gap(s, 0)->causes);
	auxtrace_pop_gap(s);
	KUNIT_EXPECT_EQ(test, STOPPED, auxtrace_nth_gap(s, 0)->causes);
	KUNIT_EXPECT_EQ(test, 300, auxtrace_nth_gap(s, 0)->at);
	auxtrace_pop_gap(s);
	KUNIT_EXPECT_EQ(test, 0, s->nr_gaps);
}

/* A gap that is open gets one cause more; it stays one. */
static void gap_with_causes(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);

	push_gap(s, 100, FULL);
	s->stopped = true;
	push_gap(s, 100, STOPPED);
	KUNIT_EXPECT_EQ(test, 1, s->stats->gaps);
	s->stopped = false;
	s->down = true;
	push_gap(s, 100, HOTPLUG);
	KUNIT_EXPECT_EQ(test, 1, s->stats->gaps);
	KUNIT_EXPECT_EQ(test, 1, s->nr_gaps);
	KUNIT_EXPECT_EQ(test, FULL | STOPPED | HOTPLUG, auxtrace_nth_gap(s, 0)->causes);
	/* Another at the same place is one more, and told with it. */
	s->down = false;
	push_gap(s, 100, 0);
	KUNIT_EXPECT_EQ(test, 2, s->stats->gaps);
	KUNIT_EXPECT_EQ(test, 1, s->nr_gaps);
}

static void gaps_around_the_ring(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);
	unsigned long in = 0, i;

	/* From before the wrap of offsets to behind it. */
	s->tail = -3000UL;
	while (in < 5 * AUXTRACE_MAX_GAPS + 3) {
		while (s->nr_gaps < AUXTRACE_MAX_GAPS)
			push_gap(s, 100 * in++ - 3000, 0);
		for (i = 0; i < s->nr_gaps; i++)
			KUNIT_EXPECT_EQ(test, s->tail + 100 * i, auxtrace_nth_gap(s, i)->at);
		KUNIT_EXPECT_EQ(test, 1, auxtrace_gaps_at_tail(s));
		auxtrace_pop_gap(s);
		KUNIT_EXPECT_EQ(test, 0, auxtrace_gaps_at_tail(s));
		s->tail += 100;
	}
	KUNIT_EXPECT_EQ(test, in, s->stats->gaps);
}

/* Whenever it is said that there is room, there is for all that a look can find. */
static void room_for_gaps(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, gaps_can_come(s));
	for (i = 0; i < AUXTRACE_MAX_GAPS; i++) {
		if (gaps_can_come(s))
			KUNIT_EXPECT_LE(test, i + AUXTRACE_GAPS_AT_ONCE, AUXTRACE_MAX_GAPS);
		push_gap(s, i, 0);
	}
	KUNIT_EXPECT_FALSE(test, gaps_can_come(s));
}

/* With an eighth of the buffer free the driver had room. */
static void full_or_not(struct kunit *test)
{
	unsigned long limit = SIZE - SIZE / 8;
	struct auxtrace_stream *s = bare_stream(test);

	head_is_at(s, limit);
	push_driver_gap(s, limit);
	KUNIT_EXPECT_EQ(test, 1, s->stats->gaps_driver);
	KUNIT_EXPECT_EQ(test, 0, s->stats->gaps_full);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_nth_gap(s, 0)->causes);

	s = bare_stream(test);
	head_is_at(s, limit + 1);
	push_driver_gap(s, limit + 1);
	KUNIT_EXPECT_EQ(test, 0, s->stats->gaps_driver);
	KUNIT_EXPECT_EQ(test, 1, s->stats->gaps_full);
	KUNIT_EXPECT_EQ(test, FULL, auxtrace_nth_gap(s, 0)->causes);
}

/* Nor does the part of a page count that is read, but not given back. */
static void full_with_a_page_begun(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);
	unsigned int i;

	for (i = 1; i <= 10; i++) {
		fill(test, f);
		KUNIT_EXPECT_EQ(test, i, f->stats.gaps_full);
		while (unread(f) > 100 * i)
			KUNIT_ASSERT_GT(test, read_some(f, min(1000, unread(f) - 100 * i)), 0);
	}
	KUNIT_EXPECT_EQ(test, 0, f->stats.gaps_driver);
}

/* What counts is the room that the driver had, not what a reader has freed since. */
static void full_before_a_read(struct kunit *test)
{
	struct auxtrace_stream *s = bare_stream(test);

	look(s);
	head_is_at(s, SIZE - 1);
	s->tail = SIZE - 1;
	push_driver_gap(s, SIZE - 1);
	KUNIT_EXPECT_EQ(test, 1, s->stats->gaps_full);
	/* The tail of this look counts for what is published later. */
	head_is_at(s, SIZE + 1000);
	push_driver_gap(s, SIZE + 1000);
	KUNIT_EXPECT_EQ(test, 1, s->stats->gaps_full);
	KUNIT_EXPECT_EQ(test, 1, s->stats->gaps_driver);
}

static void readable_up_to_a_gap(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);
	unsigned int gaps_here;

	produce(test, f, 100);
	mutex_lock(&f->s->lock);
	KUNIT_EXPECT_EQ(test, 100, auxtrace_readable(f->s, &gaps_here));
	push_gap(f->s, 40, 0);
	push_gap(f->s, 60, 0);
	KUNIT_EXPECT_EQ(test, 40, auxtrace_readable(f->s, &gaps_here));
	KUNIT_EXPECT_EQ(test, 0, gaps_here);
	mutex_unlock(&f->s->lock);
	KUNIT_EXPECT_EQ(test, 40, read_all(f));
	KUNIT_EXPECT_EQ(test, 20, read_all(f));
	KUNIT_EXPECT_EQ(test, 40, read_all(f));
	KUNIT_EXPECT_EQ(test, -EAGAIN, read_all(f));
}

/* --- the event --- */

static void expect_state(struct kunit *test, struct fixture *f,
			 enum auxtrace_stream_state state)
{
	KUNIT_EXPECT_EQ(test, state, auxtrace_stream_state(f->s));
	KUNIT_EXPECT_EQ(test, state == AUXTRACE_STATE_RUNNING, test_pmu_in_session(f->event));
}

static void stop_with_room(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);

	test_pmu_write(f->event, 100);
	driver_stops(f);
	/* Set going again at once, by nobody's read. */
	expect_state(test, f, AUXTRACE_STATE_RUNNING);
	KUNIT_EXPECT_EQ(test, 1, f->stats.gaps);
	KUNIT_EXPECT_EQ(test, 1, f->stats.gaps_driver);
	produce(test, f, 50);

	KUNIT_EXPECT_EQ(test, 100, read_all(f));
	expect_trace(test, f, f->data, 100, 0);
	KUNIT_EXPECT_EQ(test, 1, f->s->nr_gaps);
	KUNIT_EXPECT_EQ(test, 10, read_some(f, 10));
	KUNIT_EXPECT_EQ(test, 0, f->s->nr_gaps);
	KUNIT_EXPECT_EQ(test, 40, read_all(f));
	expect_trace(test, f, f->data, 40, 110);
	KUNIT_EXPECT_EQ(test, 1, f->stats.gaps);
}

/* Started again when half of the buffer is free, not before. */
static void stop_without_room(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);
	unsigned long offset = 0;
	unsigned int round;

	for (round = 1; round <= 5; round++) {
		u64 gap_ns = f->stats.gap_ns;
		unsigned long head;
		int starts;

		fill(test, f);
		head = auxtrace_counter_head(&f->s->counter);
		KUNIT_EXPECT_EQ(test, round, f->stats.gaps_full);
		KUNIT_EXPECT_EQ(test, round, f->stats.gaps);
		/* Longer than the clock needs to move. */
		msleep(20);
		starts = atomic_read(&test_pmu_control.starts);
		/* The tail moves in pages. */
		while (SIZE - (head - round_down(offset, PAGE_SIZE)) < SIZE / 2) {
			ssize_t n;

			expect_state(test, f, AUXTRACE_STATE_FULL);
			KUNIT_EXPECT_EQ(test, starts, atomic_read(&test_pmu_control.starts));
			n = read_some(f, SIZE / 16);
			KUNIT_ASSERT_GT(test, n, 0);
			expect_trace(test, f, f->data, n, offset);
			offset += n;
		}
		expect_state(test, f, AUXTRACE_STATE_RUNNING);
		KUNIT_EXPECT_EQ(test, starts + 1, atomic_read(&test_pmu_control.starts));
		KUNIT_EXPECT_GE(test, f->stats.gap_ns - gap_ns, 10 * NSEC_PER_MSEC);
	}
	KUNIT_EXPECT_EQ(test, 0, f->stats.gaps_driver);
}

/* More stops than gaps can wait: the event rests until they are read; none is lost. */
static void more_stops_than_room(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);
	unsigned int stops = 0, reads = 0, i;
	unsigned long bytes = 0, offset = 0;
	ssize_t n;

	for (i = 0; i < 40; i++) {
		if (!test_pmu_in_session(f->event)) {
			settle(f);
			continue;
		}
		KUNIT_ASSERT_EQ(test, 10, test_pmu_write(f->event, 10));
		driver_stops(f);
		bytes += 10;
		stops++;
	}
	KUNIT_EXPECT_GE(test, stops, AUXTRACE_MAX_GAPS / 2);
	KUNIT_EXPECT_LE(test, stops, AUXTRACE_MAX_GAPS);
	KUNIT_EXPECT_LE(test, f->s->nr_gaps, AUXTRACE_MAX_GAPS);

	while ((n = read_all(f)) > 0) {
		KUNIT_EXPECT_EQ(test, 10, n);
		expect_trace(test, f, f->data, n, offset);
		offset += n;
		reads++;
	}
	KUNIT_EXPECT_EQ(test, -EAGAIN, n);
	KUNIT_EXPECT_EQ(test, bytes, offset);
	KUNIT_EXPECT_EQ(test, stops, reads);
	expect_state(test, f, AUXTRACE_STATE_RUNNING);
	KUNIT_EXPECT_EQ(test, stops, f->stats.gaps);
	KUNIT_EXPECT_EQ(test, stops, f->stats.gaps_driver);
}

/* Reads until the event runs, as it is tried again every now and then. */
static void read_until_running(struct kunit *test, struct fixture *f)
{
	int i;

	for (i = 0; i < 1200; i++) {
		if (auxtrace_stream_state(f->s) == AUXTRACE_STATE_RUNNING)
			break;
		read_all(f);
		msleep(50);
	}
	expect_state(test, f, AUXTRACE_STATE_RUNNING);
}

/* A driver that stops at each start, without a byte, is not started in circles. */
static void stop_at_each_start(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);
	int starts, i;

	test_pmu_control.stop_at_start = UINT_MAX;
	starts = atomic_read(&test_pmu_control.starts);
	produce(test, f, 100);
	driver_stops(f);
	for (i = 0; i < 20; i++)
		settle(f);
	KUNIT_EXPECT_LE(test, atomic_read(&test_pmu_control.starts) - starts, 4);
	expect_state(test, f, AUXTRACE_STATE_FULL);
	KUNIT_EXPECT_EQ(test, 100, read_all(f));
	test_pmu_control.stop_at_start = 0;
	read_until_running(test, f);
	produce(test, f, 10);
	KUNIT_EXPECT_EQ(test, 10, read_all(f));
	expect_trace(test, f, f->data, 10, 100);
}

/* What cannot be scheduled: what is there can be read, then EIO, until it can. */
static void start_fails(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);
	unsigned long n = 0;
	ssize_t got;

	fill(test, f);
	test_pmu_control.refuse_add = true;
	while ((got = read_some(f, 1000)) > 0) {
		expect_trace(test, f, f->data, got, n);
		n += got;
	}
	KUNIT_EXPECT_EQ(test, SIZE - 1, n);
	KUNIT_EXPECT_EQ(test, -EIO, got);
	KUNIT_EXPECT_EQ(test, AUXTRACE_STATE_ERROR, auxtrace_stream_state(f->s));
	test_pmu_control.refuse_add = false;
	read_until_running(test, f);
	produce(test, f, 100);
	KUNIT_EXPECT_EQ(test, 100, read_all(f));
	expect_trace(test, f, f->data, 100, n);
	KUNIT_EXPECT_EQ(test, 1, f->stats.gaps);
}

static void flush_is_no_gap(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_RAW);
	unsigned int i;

	for (i = 1; i <= 10; i++) {
		KUNIT_EXPECT_EQ(test, 0, auxtrace_stream_flush(f->s));
		KUNIT_ASSERT_EQ(test, 33, test_pmu_write(f->event, 33));
		KUNIT_EXPECT_EQ(test, 33, auxtrace_stream_flush(f->s));
		settle(f);
		expect_state(test, f, AUXTRACE_STATE_RUNNING);
		KUNIT_EXPECT_EQ(test, 2 * i, f->stats.flushes);
	}
	KUNIT_EXPECT_EQ(test, 330, read_all(f));
	KUNIT_EXPECT_EQ(test, 0, f->stats.gaps);
	/* While the event does not run there is nothing to flush. */
	fill(test, f);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_stream_flush(f->s));
	KUNIT_EXPECT_EQ(test, 20, f->stats.flushes);
	auxtrace_stream_stop(f->s);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_stream_flush(f->s));
}

static struct kunit_case upkeep_cases[] = {
	KUNIT_CASE(gaps_in_order),
	KUNIT_CASE(gap_with_causes),
	KUNIT_CASE(gaps_around_the_ring),
	KUNIT_CASE(room_for_gaps),
	KUNIT_CASE(full_or_not),
	KUNIT_CASE(full_with_a_page_begun),
	KUNIT_CASE(full_before_a_read),
	KUNIT_CASE(readable_up_to_a_gap),
	KUNIT_CASE(stop_with_room),
	KUNIT_CASE(stop_without_room),
	KUNIT_CASE(more_stops_than_room),
	KUNIT_CASE(stop_at_each_start),
	KUNIT_CASE(start_fails),
	KUNIT_CASE(flush_is_no_gap),
	{}
};

struct kunit_suite upkeep_suite = {
	.name = "auxtrace_upkeep",
	.suite_init = fixture_suite_init,
	.suite_exit = fixture_suite_exit,
	.exit = upkeep_exit,
	.test_cases = upkeep_cases,
};
