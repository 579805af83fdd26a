// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream of the test's PMU; fixture.h.
 *
 * Owns the order in which things settle: perf's delayed work first, the stream's
 * then, so that a test sees what has become of what it did.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uio.h>

#include "consumer/consumer.h"
#include "fixture.h"

static const char name[] = "auxtrace_test";

int fixture_suite_init(struct kunit_suite *suite)
{
	int ret = auxtrace_consumer_init();

	if (ret)
		return ret;
	ret = test_pmu_register();
	if (ret)
		auxtrace_consumer_exit();
	return ret;
}

void fixture_suite_exit(struct kunit_suite *suite)
{
	test_pmu_unregister();
	auxtrace_consumer_exit();
}

/* Without a stream. */
struct fixture *new_fixture(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->data = kunit_kmalloc(test, DATA_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->data);
	f->pmu = kunit_kzalloc(test, struct_size(f->pmu, name, sizeof(name)), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->pmu);
	f->pmu->type = test_pmu_type();
	memcpy(f->pmu->name, name, sizeof(name));
	f->cpu = cpumask_last(cpu_online_mask);
	f->settings = (struct auxtrace_settings) {
		.value = {
			[AUXTRACE_BUFFER_SIZE] = SIZE,
			[AUXTRACE_CONFIG] = CONFIG,
			/* No flush by itself. */
			[AUXTRACE_FLUSH_MS] = 0,
		},
	};
	return f;
}

void close_stream(struct fixture *f)
{
	if (f->s)
		auxtrace_stream_close(f->s);
	f->s = NULL;
	f->event = NULL;
}

static void close_stream_action(void *f)
{
	close_stream(f);
}

/* With the fixture's settings as they are now. */
void reopen_stream(struct kunit *test, struct fixture *f)
{
	close_stream(f);
	f->s = auxtrace_stream_open(f->pmu, f->cpu, &f->settings, &f->stats);
	if (IS_ERR(f->s)) {
		long error = PTR_ERR(f->s);

		f->s = NULL;
		KUNIT_FAIL_AND_ABORT(test, "the stream cannot be opened (error %ld)", error);
	}
	f->event = rcu_access_pointer(f->s->counter.event);
	settle(f);
}

struct fixture *open_stream(struct kunit *test, u32 format)
{
	struct fixture *f = new_fixture(test);

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_stream_action, f));
	f->settings.value[AUXTRACE_FORMAT] = format;
	reopen_stream(test, f);
	KUNIT_ASSERT_TRUE(test, test_pmu_in_session(f->event));
	return f;
}

void settle(struct fixture *f)
{
	test_pmu_settle(f->event);
	flush_work(&f->s->tend);
	test_pmu_settle(f->event);
	flush_work(&f->s->tend);
}

/* The hardware writes @n bytes, and the driver publishes them. */
void produce(struct kunit *test, struct fixture *f, unsigned long n)
{
	KUNIT_ASSERT_EQ(test, n, test_pmu_write(f->event, n));
	test_pmu_publish(f->event, 0);
	settle(f);
}

/*
 * The hardware writes until there is no room, where the driver stops. A session has
 * the room that there was when it began.
 */
void fill(struct kunit *test, struct fixture *f)
{
	KUNIT_ASSERT_TRUE(test, test_pmu_in_session(f->event));
	do {
		produce(test, f, test_pmu_room(f->event));
	} while (test_pmu_in_session(f->event));
}

/* The driver publishes what there is, reports that it was truncated, and stops. */
void driver_stops(struct fixture *f)
{
	test_pmu_publish(f->event, PERF_AUX_FLAG_TRUNCATED);
	settle(f);
}

/* Bytes that are published and not read. */
unsigned long unread(struct fixture *f)
{
	return auxtrace_available(f->s);
}

/* One read without waiting, of up to @n bytes into the fixture's data. */
ssize_t read_some(struct fixture *f, size_t n)
{
	struct kvec vec = { .iov_base = f->data, .iov_len = min_t(size_t, n, DATA_SIZE) };
	struct iov_iter to;
	ssize_t ret;

	iov_iter_kvec(&to, ITER_DEST, &vec, 1, vec.iov_len);
	ret = auxtrace_stream_read(f->s, &to, true);
	settle(f);
	return ret;
}

/* One read of as much as it gives. */
ssize_t read_all(struct fixture *f)
{
	return read_some(f, DATA_SIZE);
}

/* @data is what the hardware wrote at @offset; the stream has one counter so far. */
void expect_trace(struct kunit *test, struct fixture *f, const u8 *data, size_t n,
		  unsigned long offset)
{
	size_t i = 0;

	while (i < n && data[i] == test_pmu_byte(CONFIG, offset - f->s->base + i))
		i++;
	KUNIT_EXPECT_EQ_MSG(test, i, n, "the first wrong byte of %zu at offset %lu", n, offset);
}
