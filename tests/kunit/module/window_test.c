// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of window.c: where windows begin and end, and what their headers say. Owns
 * the suite auxtrace_window.
 */
#include "window.c"

#include <linux/delay.h>
#include <linux/time64.h>

#include "fixture.h"

#define HEADER	sizeof(struct auxtrace_window)

#define GAP	AUXTRACE_WINDOW_GAP
#define FULL	AUXTRACE_WINDOW_FULL
#define STOPPED	AUXTRACE_WINDOW_STOPPED
#define FLUSH	AUXTRACE_WINDOW_FLUSH
#define LAST	AUXTRACE_WINDOW_LAST

/* Of a driver's own reports there may be more than a test is about. */
#define REPORTS	(AUXTRACE_WINDOW_TRUNCATED | AUXTRACE_WINDOW_PARTIAL | \
		 AUXTRACE_WINDOW_COLLISION)

static size_t on_the_wire(size_t size)
{
	return HEADER + round_up(size, AUXTRACE_WINDOW_ALIGN);
}

/* What was @got at @data is a window, and no more. */
static void expect_window_at(struct kunit *test, struct fixture *f, const u8 *data,
			     ssize_t got, u64 seq, u64 offset, size_t size, u32 flags)
{
	const struct auxtrace_window *w = (const void *)data;

	KUNIT_ASSERT_EQ(test, on_the_wire(size), got);
	KUNIT_EXPECT_MEMEQ(test, data, "AUXW", 4);
	KUNIT_EXPECT_EQ(test, le32(AUXTRACE_WINDOW_MAGIC), w->magic);
	KUNIT_EXPECT_EQ(test, le16(HEADER), w->header_size);
	KUNIT_EXPECT_EQ(test, le16(AUXTRACE_WINDOW_VERSION), w->version);
	KUNIT_EXPECT_EQ(test, le32(flags), w->flags & ~le32(REPORTS));
	KUNIT_EXPECT_EQ(test, le32(f->cpu), w->cpu);
	KUNIT_EXPECT_EQ(test, le64(seq), w->seq);
	KUNIT_EXPECT_EQ(test, le64(offset), w->offset);
	KUNIT_EXPECT_EQ(test, le64(size), w->size);
	KUNIT_EXPECT_NE(test, 0, w->time);
	/* A gap can be shorter than the clock's step. */
	if (!(flags & GAP))
		KUNIT_EXPECT_EQ(test, 0, w->gap_time);
	KUNIT_EXPECT_EQ(test, 0, w->reserved);
	expect_trace(test, f, data + HEADER, size, offset);
	KUNIT_EXPECT_NULL(test, memchr_inv(data + HEADER + size, 0,
					   on_the_wire(size) - HEADER - size));
}

/* One read gives this window. */
static void expect_window(struct kunit *test, struct fixture *f, u64 seq, u64 offset,
			  size_t size, u32 flags)
{
	memset(f->data, 0x5a, DATA_SIZE);
	expect_window_at(test, f, f->data, read_all(f), seq, offset, size, flags);
}

static void expect_nothing(struct kunit *test, struct fixture *f)
{
	KUNIT_EXPECT_EQ(test, -EAGAIN, read_all(f));
}

/* The next byte of the stream is at @offset; nothing has happened yet. */
static void begin_at(struct fixture *f, unsigned long offset)
{
	struct auxtrace_stream *s = f->s;

	mutex_lock(&s->lock);
	WRITE_ONCE(s->base, offset);
	WRITE_ONCE(s->tail, offset);
	s->last_head = offset;
	s->seen_head = offset;
	s->seen_tail = offset;
	s->driver_tail = offset;
	s->started_head = offset - 1;
	s->flushed_to = offset;
	mutex_unlock(&s->lock);
}

static void one_for_what_there_is(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);

	expect_nothing(test, f);
	produce(test, f, 1000);
	expect_window(test, f, 0, 0, 1000, 0);
	expect_nothing(test, f);
	produce(test, f, 100);
	produce(test, f, 200);
	expect_window(test, f, 1, 1000, 300, 0);
	expect_nothing(test, f);
	KUNIT_EXPECT_EQ(test, 2, f->stats.windows);
	KUNIT_EXPECT_EQ(test, 1300, f->stats.bytes);
}

static void padding(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);
	unsigned long offset = 0;
	unsigned int size;

	for (size = 1; size <= 20; size++) {
		produce(test, f, size);
		expect_window(test, f, size - 1, offset, size, 0);
		offset += size;
	}
}

/* Whatever the sizes of the reads, what they give is the same. */
static void reads_of_any_size(struct kunit *test)
{
	static const unsigned int sizes[] = { 1, 2, 3, 7, 8, 9, 63, 64, 65, 77, 100 };
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);
	u8 *all = kunit_kzalloc(test, SZ_1K, GFP_KERNEL);
	unsigned long offset = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned int size = 101 + i;
		size_t have = 0;

		produce(test, f, size);
		while (have < on_the_wire(size)) {
			ssize_t n = read_some(f, sizes[i]);

			KUNIT_ASSERT_GT(test, n, 0);
			KUNIT_ASSERT_LE(test, have + n, on_the_wire(size));
			memcpy(all + have, f->data, n);
			have += n;
		}
		expect_window_at(test, f, all, have, i, offset, size, 0);
		expect_nothing(test, f);
		offset += size;
	}
}

/* What comes while a window is under way is in the next. */
static void more_while_under_way(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);
	u8 *all = kunit_kzalloc(test, SZ_1K, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, all);
	produce(test, f, 13);
	KUNIT_ASSERT_EQ(test, 10, read_some(f, 10));
	memcpy(all, f->data, 10);
	produce(test, f, 20);
	KUNIT_ASSERT_EQ(test, 60, read_some(f, 60));
	memcpy(all + 10, f->data, 60);
	produce(test, f, 30);
	/* The rest of the first, and the second. */
	KUNIT_ASSERT_EQ(test, on_the_wire(13) - 70 + on_the_wire(50), read_all(f));
	memcpy(all + 70, f->data, on_the_wire(13) - 70);
	expect_window_at(test, f, all, on_the_wire(13), 0, 0, 13, 0);
	memmove(f->data, f->data + on_the_wire(13) - 70, on_the_wire(50));
	expect_window_at(test, f, f->data, on_the_wire(50), 1, 13, 50, 0);
}

static void gap_of_a_driver(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);

	test_pmu_write(f->event, 100);
	driver_stops(f);
	produce(test, f, 50);
	expect_window(test, f, 0, 0, 100, 0);
	expect_window(test, f, 1, 100, 50, GAP);
	produce(test, f, 50);
	expect_window(test, f, 2, 150, 50, 0);
	/* A gap without trace behind it is not told yet. */
	driver_stops(f);
	expect_nothing(test, f);
	KUNIT_EXPECT_EQ(test, 1, f->s->nr_gaps);
	produce(test, f, 1);
	expect_window(test, f, 3, 200, 1, GAP);
	KUNIT_EXPECT_EQ(test, 0, f->s->nr_gaps);
}

/* Until the header is delivered nobody knows of the gap. */
static void gap_told_by_a_whole_header(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);

	driver_stops(f);
	KUNIT_EXPECT_EQ(test, 1, f->s->nr_gaps);
	KUNIT_EXPECT_FALSE(test, auxtrace_window_tells_gap(f->s));
	produce(test, f, 50);
	KUNIT_ASSERT_EQ(test, HEADER - 1, read_some(f, HEADER - 1));
	KUNIT_EXPECT_TRUE(test, f->s->nr_gaps || auxtrace_window_tells_gap(f->s));
	KUNIT_EXPECT_EQ(test, 0, f->stats.windows);
	KUNIT_ASSERT_EQ(test, 1, read_some(f, 1));
	KUNIT_EXPECT_FALSE(test, f->s->nr_gaps || auxtrace_window_tells_gap(f->s));
	KUNIT_EXPECT_EQ(test, 1, f->stats.windows);
	KUNIT_EXPECT_EQ(test, 50, read_all(f) - (round_up(50, AUXTRACE_WINDOW_ALIGN) - 50));
}

/* A stop while a window is under way is before the next one. */
static void gap_while_under_way(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);

	produce(test, f, 16);
	KUNIT_ASSERT_EQ(test, HEADER + 1, read_some(f, HEADER + 1));
	test_pmu_write(f->event, 8);
	driver_stops(f);
	produce(test, f, 24);
	/* The rest of this, and the 8 bytes before the gap; not what is behind. */
	KUNIT_EXPECT_EQ(test, 15 + on_the_wire(8), read_all(f));
	expect_window_at(test, f, memmove(f->data, f->data + 15, on_the_wire(8)),
			 on_the_wire(8), 1, 16, 8, 0);
	expect_window(test, f, 2, 24, 24, GAP);
}

static void full_buffer(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);
	const struct auxtrace_window *w = (const void *)f->data;
	unsigned long offset = 0, n;
	unsigned int round;

	for (round = 0; round < 5; round++) {
		fill(test, f);
		n = unread(f);
		KUNIT_EXPECT_GT(test, n, SIZE / 2);
		/* Longer than the clock needs to move. */
		msleep(20);
		expect_window(test, f, round, offset, n, round ? GAP | FULL : 0);
		if (round)
			KUNIT_EXPECT_GE(test, le64_to_cpu((__force __le64)w->gap_time),
					10 * NSEC_PER_MSEC);
		offset += n;
	}
	KUNIT_EXPECT_EQ(test, 5, f->stats.gaps_full);
}

static void flushed(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);

	test_pmu_write(f->event, 100);
	KUNIT_EXPECT_EQ(test, 100, auxtrace_stream_flush(f->s));
	expect_window(test, f, 0, 0, 100, FLUSH);
	produce(test, f, 100);
	expect_window(test, f, 1, 100, 100, 0);
	/* Not if more was published since. */
	test_pmu_write(f->event, 100);
	KUNIT_EXPECT_EQ(test, 100, auxtrace_stream_flush(f->s));
	produce(test, f, 100);
	expect_window(test, f, 2, 200, 200, 0);
	/* Nor by one that found nothing. */
	produce(test, f, 100);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_stream_flush(f->s));
	expect_window(test, f, 3, 400, 100, 0);
}

static void stop_and_start(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);
	unsigned int round;

	test_pmu_write(f->event, 100);
	auxtrace_stream_stop(f->s);
	auxtrace_stream_stop(f->s);
	settle(f);
	KUNIT_EXPECT_FALSE(test, test_pmu_in_session(f->event));
	expect_window(test, f, 0, 0, 100, LAST);
	KUNIT_EXPECT_EQ(test, 0, read_all(f));
	KUNIT_EXPECT_EQ(test, 0, read_all(f));

	auxtrace_stream_start(f->s);
	auxtrace_stream_start(f->s);
	settle(f);
	expect_nothing(test, f);
	produce(test, f, 100);
	expect_window(test, f, 1, 100, 100, GAP | STOPPED);
	/* Nothing left to tell but that it is the last. */
	auxtrace_stream_stop(f->s);
	expect_window(test, f, 2, 200, 0, LAST);
	KUNIT_EXPECT_EQ(test, 0, read_all(f));
	KUNIT_EXPECT_EQ(test, 1, f->stats.gaps_stopped);

	/* Stopped again before there was any trace: one gap after the other. */
	for (round = 0; round < 3; round++) {
		auxtrace_stream_start(f->s);
		auxtrace_stream_stop(f->s);
	}
	expect_window(test, f, 3, 200, 0, LAST | GAP | STOPPED);
	KUNIT_EXPECT_EQ(test, 0, read_all(f));
	KUNIT_EXPECT_EQ(test, 4, f->stats.gaps_stopped);
}

/* Of windows that cannot be given whole the last one says LAST. */
static void stop_behind_a_gap(struct kunit *test)
{
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);

	test_pmu_write(f->event, 100);
	driver_stops(f);
	produce(test, f, 50);
	auxtrace_stream_stop(f->s);
	expect_window(test, f, 0, 0, 100, 0);
	expect_window(test, f, 1, 100, 50, GAP | LAST);
	KUNIT_EXPECT_EQ(test, 0, read_all(f));
}

static void offsets_around_the_wrap(struct kunit *test)
{
	static const unsigned long starts[] = { -1UL, -100UL, -SIZE + 1, -SIZE, -2UL * SIZE };
	struct fixture *f = open_stream(test, AUXTRACE_FORMAT_FRAMED);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u64 offset = starts[i];
		unsigned int seq = 0, full;

		reopen_stream(test, f);
		begin_at(f, offset);
		expect_nothing(test, f);
		for (full = 0; full < 3; full++) {
			u32 gap = full ? GAP | FULL : 0;
			unsigned long n;

			fill(test, f);
			n = unread(f);
			expect_window(test, f, seq++, offset, n, gap);
			offset += n;
		}
		test_pmu_write(f->event, 60);
		driver_stops(f);
		produce(test, f, 60);
		expect_window(test, f, seq++, offset, 60, GAP | FULL);
		expect_window(test, f, seq++, offset + 60, 60, GAP);
		expect_nothing(test, f);
	}
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(one_for_what_there_is),
	KUNIT_CASE(padding),
	KUNIT_CASE(reads_of_any_size),
	KUNIT_CASE(more_while_under_way),
	KUNIT_CASE(gap_of_a_driver),
	KUNIT_CASE(gap_told_by_a_whole_header),
	KUNIT_CASE(gap_while_under_way),
	KUNIT_CASE(full_buffer),
	KUNIT_CASE(flushed),
	KUNIT_CASE(stop_and_start),
	KUNIT_CASE(stop_behind_a_gap),
	KUNIT_CASE(offsets_around_the_wrap),
	{}
};

struct kunit_suite window_suite = {
	.name = "auxtrace_window",
	.suite_init = fixture_suite_init,
	.suite_exit = fixture_suite_exit,
	.test_cases = window_cases,
};
