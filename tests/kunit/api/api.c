// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of the kernel-consumer AUX API, tried on each provider that this
 * kernel can have: its own (native), and the module's (compat), which is built in
 * here.
 *
 * Owns the suite auxtrace_api; its PMU is test_pmu.c's.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sizes.h>
#include <linux/wait.h>

#include "provider.h"
#include "test_pmu.h"

/* Of the buffers, where a test does not say otherwise. */
#define PAGES	4
#define SIZE	(PAGES * PAGE_SIZE)

#define CONFIG	1

static const struct provider * const providers[] = {
#ifdef AUXTRACE_HAVE_NATIVE
	&native_provider,
#endif
	&compat_provider,
};

static const struct provider *provider_of(struct kunit *test)
{
	return *(const struct provider * const *)test->param_value;
}

static const struct provider *other_provider(const struct provider *p)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		if (providers[i] != p)
			return providers[i];
	}
	return NULL;
}

/**
 * struct api - what a test begins with
 * @p:		the provider
 * @cpu:	where the events are
 * @event:	a counter without a buffer
 * @copy:	memory for copies, @SIZE bytes and some
 * @wakeups:	how often perf woke readers; see watch()
 * @watcher:	on the event's wait queue
 */
struct api {
	const struct provider *p;
	int cpu;
	struct perf_event *event;
	u8 *copy;
	unsigned int wakeups;
	wait_queue_entry_t watcher;
};

static void destroy_event(void *event)
{
	perf_event_release_kernel(event);
}

/* Given back by release_aux(), then perf_event_release_kernel(), as users must. */
struct owned_event {
	const struct provider *p;
	struct perf_event *event;
};

static void release_event(void *context)
{
	struct owned_event *owned = context;

	owned->p->release(owned->event);
	perf_event_release_kernel(owned->event);
}

static struct perf_event *new_event(struct kunit *test, const struct provider *p,
				    int cpu, u64 config)
{
	struct owned_event *owned = kunit_kzalloc(test, sizeof(*owned), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, owned);
	owned->p = p;
	owned->event = test_pmu_create(cpu, config);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, owned->event);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, release_event, owned));
	return owned->event;
}

static struct api *api_of(struct kunit *test)
{
	struct api *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, a);
	a->p = provider_of(test);
	a->cpu = cpumask_last(cpu_online_mask);
	a->event = new_event(test, a->p, a->cpu, CONFIG);
	a->copy = kunit_kmalloc(test, SIZE + PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a->copy);
	return a;
}

/* With a buffer of @SIZE, and running. */
static struct api *running(struct kunit *test)
{
	struct api *a = api_of(test);

	KUNIT_ASSERT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
	perf_event_enable(a->event);
	KUNIT_ASSERT_TRUE(test, test_pmu_in_session(a->event));
	return a;
}

static void produce(struct kunit *test, struct api *a, unsigned long n)
{
	KUNIT_ASSERT_EQ(test, n, test_pmu_write(a->event, n));
	test_pmu_publish(a->event, 0);
}

/* [@from, @to) can be copied, and is what the hardware wrote there. */
static void expect_copy(struct kunit *test, struct api *a, unsigned long from,
			unsigned long to)
{
	unsigned long i, n = to - from;

	memset(a->copy, 0x5a, n + 1);
	KUNIT_ASSERT_EQ(test, (long)n, a->p->copy(a->event, from, to, a->copy));
	for (i = 0; i < n; i++) {
		if (a->copy[i] != test_pmu_byte(CONFIG, from + i))
			break;
	}
	KUNIT_EXPECT_EQ_MSG(test, i, n, "the first wrong byte of [%lu, %lu)", from, to);
	KUNIT_EXPECT_EQ(test, 0x5a, a->copy[n]);
}

/* It cannot be copied, and nothing is. */
static void expect_no_copy(struct kunit *test, struct api *a, unsigned long from,
			   unsigned long to, long error)
{
	memset(a->copy, 0x5a, SIZE + PAGE_SIZE);
	KUNIT_EXPECT_EQ_MSG(test, error, a->p->copy(a->event, from, to, a->copy),
			    "[%lu, %lu)", from, to);
	KUNIT_EXPECT_NULL(test, memchr_inv(a->copy, 0x5a, SIZE + PAGE_SIZE));
}

static void expect_no_buffer(struct kunit *test, struct api *a)
{
	KUNIT_EXPECT_EQ(test, 0, a->p->head(a->event));
	KUNIT_EXPECT_EQ(test, -ENOENT, a->p->tail_set(a->event, 0));
	expect_no_copy(test, a, 0, 0, -ENOENT);
	expect_no_copy(test, a, 0, 1, -ENOENT);
}

static int count_wakeup(struct wait_queue_entry *entry, unsigned int mode, int sync,
			void *key)
{
	struct api *a = container_of(entry, struct api, watcher);

	WRITE_ONCE(a->wakeups, a->wakeups + 1);
	return 0;
}

static void unwatch(void *context)
{
	struct api *a = context;

	remove_wait_queue(&a->event->waitq, &a->watcher);
}

static void watch(struct kunit *test, struct api *a)
{
	init_waitqueue_func_entry(&a->watcher, count_wakeup);
	add_wait_queue(&a->event->waitq, &a->watcher);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unwatch, a));
}

/* The other side stops the event, and starts it again: as after a full buffer. */
static void restart(struct api *a)
{
	perf_event_disable(a->event);
	perf_event_enable(a->event);
}

/* --- set-up --- */

static void setup_bad_numbers(struct kunit *test)
{
	static const int bad_pages[] = { 0, -1, 3, 5, 6, 7, 1023, INT_MIN, INT_MAX };
	static const long bad_watermarks[] = { -1, LONG_MIN };
	struct api *a = api_of(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_pages); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, a->p->setup(a->event, bad_pages[i], 0),
				    "%d pages", bad_pages[i]);
	for (i = 0; i < ARRAY_SIZE(bad_watermarks); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    a->p->setup(a->event, PAGES, bad_watermarks[i]),
				    "watermark %ld", bad_watermarks[i]);
	/* More than the array of pages can describe. */
	KUNIT_EXPECT_EQ(test, -ENOMEM, a->p->setup(a->event, 1 << 30, 0));
	expect_no_buffer(test, a);
	KUNIT_EXPECT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
}

static void setup_of_other_events(struct kunit *test)
{
	struct api *a = api_of(test);
	void *owner = a->event->owner;

	/* As an event of a task's is, and as an inherited one is. */
	a->event->owner = current;
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->setup(a->event, PAGES, 0));
	a->event->owner = owner;
	a->event->parent = a->event;
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->setup(a->event, PAGES, 0));
	a->event->parent = NULL;
	/* Children would write to the buffer. */
	a->event->attr.inherit = 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->setup(a->event, PAGES, 0));
	a->event->attr.inherit = 0;
	KUNIT_EXPECT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
}

static void setup_of_a_dead_event(struct kunit *test)
{
	struct api *a = api_of(test);
	enum perf_event_state state = a->event->state;

	/* As when its PMU has gone. */
	a->event->state = PERF_EVENT_STATE_EXIT - 1;
	KUNIT_EXPECT_EQ(test, -ENODEV, a->p->setup(a->event, PAGES, 0));
	a->event->state = state;
	KUNIT_EXPECT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
}

static void setup_without_aux(struct kunit *test)
{
	const struct provider *p = provider_of(test);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_event, event));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, p->setup(event, PAGES, 0));
	KUNIT_EXPECT_EQ(test, 0, p->head(event));
	p->release(event);
}

static void setup_refused_by_the_pmu(struct kunit *test)
{
	struct api *a = api_of(test);
	int setups = atomic_read(&test_pmu_control.setups);

	test_pmu_control.refuse_setup = true;
	KUNIT_EXPECT_EQ(test, -ENOMEM, a->p->setup(a->event, PAGES, 0));
	test_pmu_control.refuse_setup = false;
	KUNIT_EXPECT_EQ(test, setups, atomic_read(&test_pmu_control.setups));
	expect_no_buffer(test, a);
	KUNIT_EXPECT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
}

static void setup_twice(struct kunit *test)
{
	struct api *a = running(test);

	produce(test, a, 100);
	KUNIT_EXPECT_EQ(test, -EBUSY, a->p->setup(a->event, PAGES, 0));
	KUNIT_EXPECT_EQ(test, -EBUSY, a->p->setup(a->event, 2 * PAGES, 8));
	/* Bad numbers are bad first. */
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->setup(a->event, 3, 0));
	KUNIT_EXPECT_EQ(test, 100, a->p->head(a->event));
	expect_copy(test, a, 0, 100);
}

static void setup_after_release(struct kunit *test)
{
	struct api *a = running(test);
	int round;

	for (round = 0; round < 5; round++) {
		produce(test, a, 1000);
		expect_copy(test, a, 0, 1000);
		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, 500));
		perf_event_disable(a->event);
		a->p->release(a->event);
		expect_no_buffer(test, a);
		/* A new buffer's cursors begin at 0. */
		KUNIT_ASSERT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
		KUNIT_EXPECT_EQ(test, 0, a->p->head(a->event));
		perf_event_enable(a->event);
		KUNIT_ASSERT_TRUE(test, test_pmu_in_session(a->event));
	}
}

static void setup_of_any_size(struct kunit *test)
{
	struct api *a = api_of(test);
	int pages;

	for (pages = 1; pages <= 512; pages *= 2) {
		unsigned long size = pages * PAGE_SIZE;

		KUNIT_ASSERT_EQ(test, 0, a->p->setup(a->event, pages, 0));
		perf_event_enable(a->event);
		/* perf never fills the last byte. */
		KUNIT_EXPECT_EQ(test, size - 1, test_pmu_room(a->event));
		KUNIT_EXPECT_EQ(test, size / 2, test_pmu_next_wakeup(a->event));
		perf_event_disable(a->event);
		a->p->release(a->event);
	}
}

/* --- threads --- */

#define THREADS	6

/**
 * struct crowd - threads that do the same at the same time
 * @a:		with what
 * @func:	what they do
 * @ready:	threads that have come
 * @results:	what it returned
 */
struct crowd {
	struct api *a;
	int (*func)(struct api *a);
	atomic_t ready;
	int results[THREADS];
};

/**
 * struct one - one of them
 * @crowd:	of which
 * @index:	which one
 * @done:	it has returned
 */
struct one {
	struct crowd *crowd;
	int index;
	struct completion done;
};

static int be_one(void *context)
{
	struct one *one = context;
	struct crowd *crowd = one->crowd;

	atomic_inc(&crowd->ready);
	while (atomic_read(&crowd->ready) < THREADS)
		cond_resched();
	crowd->results[one->index] = crowd->func(crowd->a);
	kthread_complete_and_exit(&one->done, 0);
}

static void do_together(struct kunit *test, struct crowd *crowd)
{
	struct one *ones = kunit_kcalloc(test, THREADS, sizeof(*ones), GFP_KERNEL);
	struct task_struct *threads[THREADS];
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ones);
	atomic_set(&crowd->ready, 0);
	for (i = 0; i < THREADS; i++) {
		ones[i].crowd = crowd;
		ones[i].index = i;
		init_completion(&ones[i].done);
		threads[i] = kthread_create(be_one, &ones[i], "kunit-auxtrace/%d", i);
	}
	for (i = 0; i < THREADS; i++)
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, threads[i]);
	for (i = 0; i < THREADS; i++)
		wake_up_process(threads[i]);
	for (i = 0; i < THREADS; i++)
		wait_for_completion(&ones[i].done);
	kunit_kfree(test, ones);
}

static int one_setup(struct api *a)
{
	return a->p->setup(a->event, PAGES, 0);
}

static void setup_concurrently(struct kunit *test)
{
	struct api *a = api_of(test);
	struct crowd crowd = { .a = a, .func = one_setup };
	int round, i, good;

	for (round = 0; round < 20; round++) {
		do_together(test, &crowd);
		for (good = 0, i = 0; i < THREADS; i++) {
			if (!crowd.results[i])
				good++;
			else
				KUNIT_EXPECT_EQ(test, -EBUSY, crowd.results[i]);
		}
		KUNIT_EXPECT_EQ(test, 1, good);
		a->p->release(a->event);
	}
}

/* --- release --- */

static void release_without_buffer(struct kunit *test)
{
	struct api *a = api_of(test);

	expect_no_buffer(test, a);
	a->p->release(a->event);
	a->p->release(a->event);
	expect_no_buffer(test, a);
	KUNIT_EXPECT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
}

static void release_twice(struct kunit *test)
{
	struct api *a = running(test);
	int frees = atomic_read(&test_pmu_control.frees);

	perf_event_disable(a->event);
	a->p->release(a->event);
	KUNIT_EXPECT_EQ(test, frees + 1, atomic_read(&test_pmu_control.frees));
	a->p->release(a->event);
	KUNIT_EXPECT_EQ(test, frees + 1, atomic_read(&test_pmu_control.frees));
	expect_no_buffer(test, a);
}

static int one_release(struct api *a)
{
	a->p->release(a->event);
	/* Whoever returns may rely on it. */
	return a->p->tail_set(a->event, 0);
}

/* Also of an event that runs, in the middle of a session. */
static void release_concurrently(struct kunit *test)
{
	struct api *a = running(test);
	struct crowd crowd = { .a = a, .func = one_release };
	int round, i, frees;

	for (round = 0; round < 20; round++) {
		KUNIT_ASSERT_EQ(test, 1000, test_pmu_write(a->event, 1000));
		frees = atomic_read(&test_pmu_control.frees);
		do_together(test, &crowd);
		for (i = 0; i < THREADS; i++)
			KUNIT_EXPECT_EQ(test, -ENOENT, crowd.results[i]);
		KUNIT_EXPECT_EQ(test, frees + 1, atomic_read(&test_pmu_control.frees));
		expect_no_buffer(test, a);
		KUNIT_EXPECT_FALSE(test, test_pmu_in_session(a->event));
		perf_event_disable(a->event);
		KUNIT_ASSERT_EQ(test, 0, a->p->setup(a->event, PAGES, 0));
		perf_event_enable(a->event);
		KUNIT_ASSERT_TRUE(test, test_pmu_in_session(a->event));
	}
}

/* The driver is stopped in its session, and cannot begin another. */
static void release_while_running(struct kunit *test)
{
	struct api *a = running(test);
	int frees = atomic_read(&test_pmu_control.frees);

	KUNIT_ASSERT_EQ(test, 10, test_pmu_write(a->event, 10));
	a->p->release(a->event);
	KUNIT_EXPECT_EQ(test, frees + 1, atomic_read(&test_pmu_control.frees));
	KUNIT_EXPECT_FALSE(test, test_pmu_in_session(a->event));
	expect_no_buffer(test, a);
	restart(a);
	KUNIT_EXPECT_FALSE(test, test_pmu_in_session(a->event));
	KUNIT_EXPECT_EQ(test, 0, test_pmu_write(a->event, 10));
}

/* A buffer that somebody else gave the event is not ours. */
static void release_of_another_owners_buffer(struct kunit *test)
{
	struct api *a = api_of(test);
	const struct provider *other = other_provider(a->p);
	int frees = atomic_read(&test_pmu_control.frees);

	if (!other)
		kunit_skip(test, "this kernel has one provider only");
	KUNIT_ASSERT_EQ(test, 0, other->setup(a->event, PAGES, 0));
	perf_event_enable(a->event);
	produce(test, a, 100);

	KUNIT_EXPECT_EQ(test, -EBUSY, a->p->setup(a->event, PAGES, 0));
	KUNIT_EXPECT_EQ(test, -ENOENT, a->p->tail_set(a->event, 0));
	KUNIT_EXPECT_EQ(test, -ENOENT, a->p->tail_set(a->event, 100));
	expect_no_copy(test, a, 0, 100, -ENOENT);
	a->p->release(a->event);
	KUNIT_EXPECT_EQ(test, frees, atomic_read(&test_pmu_control.frees));
	KUNIT_EXPECT_TRUE(test, test_pmu_in_session(a->event));

	produce(test, a, 100);
	KUNIT_EXPECT_EQ(test, 200, other->copy(a->event, 0, 200, a->copy));
	KUNIT_EXPECT_EQ(test, 0, other->tail_set(a->event, 200));
	perf_event_disable(a->event);
	other->release(a->event);
	KUNIT_EXPECT_EQ(test, frees + 1, atomic_read(&test_pmu_control.frees));
}

/* --- head, and watermarks --- */

static void head_moves_with_what_is_published(struct kunit *test)
{
	struct api *a = running(test);

	KUNIT_EXPECT_EQ(test, 0, a->p->head(a->event));
	KUNIT_ASSERT_EQ(test, 100, test_pmu_write(a->event, 100));
	KUNIT_EXPECT_EQ(test, 0, a->p->head(a->event));
	expect_no_copy(test, a, 0, 1, -EINVAL);
	test_pmu_publish(a->event, 0);
	KUNIT_EXPECT_EQ(test, 100, a->p->head(a->event));
	/* What is below the watermark: by a stop and a start. */
	KUNIT_ASSERT_EQ(test, 11, test_pmu_write(a->event, 11));
	restart(a);
	KUNIT_EXPECT_EQ(test, 111, a->p->head(a->event));
	KUNIT_EXPECT_TRUE(test, test_pmu_in_session(a->event));
	expect_copy(test, a, 0, 111);
}

static void nothing_published(struct kunit *test)
{
	struct api *a = running(test);

	watch(test, a);
	test_pmu_publish(a->event, 0);
	restart(a);
	test_pmu_settle(a->event);
	KUNIT_EXPECT_EQ(test, 0, a->p->head(a->event));
	KUNIT_EXPECT_EQ(test, 0, a->wakeups);
	expect_copy(test, a, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, 0));
	expect_no_copy(test, a, 0, 1, -EINVAL);
	expect_no_copy(test, a, 1, 1, -EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 1));
}

/* @watermark as given, @each as it has to be */
static void try_watermark(struct kunit *test, long watermark, unsigned long each)
{
	struct api *a = api_of(test);
	unsigned long cursor;
	unsigned int n;

	watch(test, a);
	KUNIT_ASSERT_EQ(test, 0, a->p->setup(a->event, PAGES, watermark));
	perf_event_enable(a->event);
	for (n = 1; n <= 10; n++) {
		KUNIT_EXPECT_EQ(test, n * each, test_pmu_next_wakeup(a->event));
		if (each > 1)
			produce(test, a, each - 1);
		KUNIT_EXPECT_EQ(test, n - 1, a->wakeups);
		produce(test, a, 1);
		KUNIT_EXPECT_EQ(test, n, a->wakeups);
		cursor = a->p->head(a->event);
		KUNIT_EXPECT_EQ(test, n * each, cursor);
		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, cursor));
	}
}

static void watermark_by_default_is_half(struct kunit *test)
{
	try_watermark(test, 0, SIZE / 2);
}

static void watermark_as_given(struct kunit *test)
{
	try_watermark(test, 1, 1);
	try_watermark(test, 1000, 1000);
	try_watermark(test, PAGE_SIZE, PAGE_SIZE);
}

/* --- copies and the tail --- */

static void copy_any_window(struct kunit *test)
{
	static const unsigned long cuts[] = {
		0, 1, 7, 8, 100, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, 2 * PAGE_SIZE - 3,
		2 * PAGE_SIZE, 3 * PAGE_SIZE, 3 * PAGE_SIZE + 5, SIZE - 2, SIZE - 1,
	};
	struct api *a = running(test);
	unsigned int i, j;

	produce(test, a, SIZE - 1);
	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		for (j = i; j < ARRAY_SIZE(cuts); j++)
			expect_copy(test, a, cuts[i], cuts[j]);
	}
}

/* Windows that go over the end of the ring, at every place of it. */
static void copy_wrapped(struct kunit *test)
{
	struct api *a = running(test);
	unsigned long tail = 0;
	unsigned int n;

	for (n = 0; n < 60; n++) {
		unsigned long head = tail + SIZE - 1;

		test_pmu_publish(a->event, 0);
		if (!test_pmu_in_session(a->event))
			restart(a);
		produce(test, a, SIZE - 1 - (a->p->head(a->event) - tail));
		KUNIT_ASSERT_EQ(test, head, a->p->head(a->event));
		expect_copy(test, a, tail, head);
		expect_copy(test, a, tail + 1, head - 1);
		expect_copy(test, a, tail + PAGE_SIZE / 2, tail + 5 * PAGE_SIZE / 2);
		tail += 1000 + n;
		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, tail));
	}
}

static void copy_bad_windows(struct kunit *test)
{
	struct api *a = running(test);
	unsigned long tail = 5000, head = 9000;

	produce(test, a, head);
	KUNIT_ASSERT_EQ(test, 0, a->p->tail_set(a->event, tail));
	expect_copy(test, a, tail, head);
	expect_copy(test, a, tail, tail);
	expect_copy(test, a, head, head);

	/* consumed */
	expect_no_copy(test, a, tail - 1, head, -EINVAL);
	expect_no_copy(test, a, tail - 1, tail, -EINVAL);
	expect_no_copy(test, a, 0, tail, -EINVAL);
	expect_no_copy(test, a, 0, 0, -EINVAL);
	expect_no_copy(test, a, tail - 1, tail - 1, -EINVAL);
	/* not there yet */
	expect_no_copy(test, a, tail, head + 1, -EINVAL);
	expect_no_copy(test, a, head, head + 1, -EINVAL);
	expect_no_copy(test, a, head + 1, head + 1, -EINVAL);
	expect_no_copy(test, a, head + 1, head + 2, -EINVAL);
	/* backwards */
	expect_no_copy(test, a, tail + 1, tail, -EINVAL);
	expect_no_copy(test, a, head, tail, -EINVAL);
	expect_no_copy(test, a, head, head - 1, -EINVAL);
	/* larger than the buffer, by itself or modulo 2^64 */
	expect_no_copy(test, a, tail, tail + SIZE, -EINVAL);
	expect_no_copy(test, a, tail, tail + SIZE + 1, -EINVAL);
	expect_no_copy(test, a, tail - SIZE, head - SIZE, -EINVAL);
	expect_no_copy(test, a, tail + SIZE, head + SIZE, -EINVAL);
	expect_no_copy(test, a, tail, tail + LONG_MAX, -EINVAL);
	expect_no_copy(test, a, tail, tail - 1, -EINVAL);
	expect_no_copy(test, a, ULONG_MAX, head, -EINVAL);
	expect_no_copy(test, a, tail, ULONG_MAX, -EINVAL);
	expect_no_copy(test, a, ULONG_MAX, 0, -EINVAL);
	/* nowhere to copy to */
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->copy(a->event, tail, head, NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->copy(a->event, tail, tail, NULL));
	expect_copy(test, a, tail, head);
}

static void tail_bounds(struct kunit *test)
{
	struct api *a = running(test);

	produce(test, a, 9000);
	KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 9001));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, ULONG_MAX));
	KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, 5000));
	KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, 5000));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 4999));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 5000 + SIZE));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 5000 - SIZE));
	expect_copy(test, a, 5000, 9000);
	KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, 9000));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 8999));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 9001));
	KUNIT_EXPECT_EQ(test, 9000, a->p->head(a->event));
	/* What was refused did not move it. */
	restart(a);
	KUNIT_EXPECT_EQ(test, SIZE - 1, test_pmu_room(a->event));
}

/* A driver that says it wrote more than fits: nothing of that can be trusted. */
static void head_beyond_the_buffer(struct kunit *test)
{
	struct api *a = running(test);

	produce(test, a, 100);
	test_pmu_publish_false(a->event, SIZE + 1);
	KUNIT_EXPECT_EQ(test, SIZE + 101, a->p->head(a->event));
	KUNIT_EXPECT_FALSE(test, test_pmu_in_session(a->event));
	expect_no_copy(test, a, 0, 100, -EINVAL);
	expect_no_copy(test, a, 0, 0, -EINVAL);
	expect_no_copy(test, a, SIZE + 100, SIZE + 101, -EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, 100));
	KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, SIZE + 101));
}

/* The cursors go from just below ULONG_MAX to just above 0. */
static void cursors_wrap(struct kunit *test)
{
	static const unsigned long starts[] = {
		-1UL, -8UL, -PAGE_SIZE, -PAGE_SIZE - 5, -SIZE + 1,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		struct api *a = running(test);
		unsigned long start = starts[i], head;

		move_tail(a->event, start);
		test_pmu_publish_false(a->event, start);
		KUNIT_ASSERT_EQ(test, start, a->p->head(a->event));
		KUNIT_ASSERT_TRUE(test, test_pmu_in_session(a->event));
		KUNIT_EXPECT_EQ(test, SIZE - 1, test_pmu_room(a->event));
		expect_copy(test, a, start, start);

		produce(test, a, SIZE - 1);
		head = start + SIZE - 1;
		KUNIT_ASSERT_EQ(test, head, a->p->head(a->event));
		expect_copy(test, a, start, head);
		expect_copy(test, a, start, 0);
		expect_copy(test, a, 0, head);
		expect_no_copy(test, a, start - 1, head, -EINVAL);
		expect_no_copy(test, a, start, head + 1, -EINVAL);
		expect_no_copy(test, a, head, start, -EINVAL);
		KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, start - 1));
		KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, head + 1));

		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, 0));
		KUNIT_EXPECT_EQ(test, -EINVAL, a->p->tail_set(a->event, -1UL));
		expect_no_copy(test, a, -1UL, head, -EINVAL);
		expect_copy(test, a, 0, head);
		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, head));
		restart(a);
		produce(test, a, 5000);
		expect_copy(test, a, head, head + 5000);
	}
}

/* The event stops; room alone does not set it going again, a restart does. */
static void full_ring(struct kunit *test)
{
	struct api *a = running(test);
	unsigned int round;

	watch(test, a);
	for (round = 0; round < 5; round++) {
		unsigned long tail = a->p->head(a->event);
		unsigned long head = tail + SIZE - 1;
		unsigned int wakeups = a->wakeups;

		KUNIT_ASSERT_EQ(test, SIZE - 1, test_pmu_write(a->event, SIZE + 1));
		test_pmu_publish(a->event, 0);
		KUNIT_EXPECT_GT(test, a->wakeups, wakeups);
		KUNIT_EXPECT_FALSE(test, test_pmu_in_session(a->event));
		KUNIT_ASSERT_EQ(test, head, a->p->head(a->event));
		/* As before, while it is full. */
		restart(a);
		test_pmu_settle(a->event);
		KUNIT_EXPECT_FALSE(test, test_pmu_in_session(a->event));
		expect_copy(test, a, tail, head);

		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, tail + 1));
		KUNIT_EXPECT_FALSE(test, test_pmu_in_session(a->event));
		restart(a);
		KUNIT_EXPECT_EQ(test, 1, test_pmu_room(a->event));
		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(a->event, head));
		restart(a);
		KUNIT_EXPECT_EQ(test, SIZE - 1, test_pmu_room(a->event));
	}
}

/* On one CPU, and on two: each has its own buffer, cursors and wake-ups. */
static void two_events(struct kunit *test)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct api *a = running(test);
		struct perf_event *b = new_event(test, a->p, cpu, CONFIG + 1);

		watch(test, a);
		KUNIT_ASSERT_EQ(test, 0, a->p->setup(b, 2 * PAGES, 1));
		perf_event_enable(b);
		KUNIT_ASSERT_EQ(test, 300, test_pmu_write(b, 300));
		test_pmu_publish(b, 0);
		produce(test, a, 100);
		KUNIT_EXPECT_EQ(test, 0, a->wakeups);
		KUNIT_EXPECT_EQ(test, 100, a->p->head(a->event));
		KUNIT_EXPECT_EQ(test, 300, a->p->head(b));
		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(b, 200));
		expect_copy(test, a, 0, 100);
		KUNIT_EXPECT_EQ(test, 100, a->p->copy(b, 200, 300, a->copy));
		KUNIT_EXPECT_EQ(test, test_pmu_byte(CONFIG + 1, 200), a->copy[0]);
		KUNIT_EXPECT_EQ(test, -EINVAL, a->p->copy(a->event, 200, 300, a->copy));

		perf_event_disable(a->event);
		a->p->release(a->event);
		KUNIT_EXPECT_TRUE(test, test_pmu_in_session(b));
		KUNIT_EXPECT_EQ(test, 0, a->p->tail_set(b, 300));
	}
}

/* --- the suite --- */

static void describe(const struct provider * const *provider, char *text)
{
	strscpy(text, (*provider)->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(provider, providers, describe);

#define API_CASE(name)	KUNIT_CASE_PARAM(name, provider_gen_params)

static struct kunit_case api_cases[] = {
	API_CASE(setup_bad_numbers),
	API_CASE(setup_of_other_events),
	API_CASE(setup_of_a_dead_event),
	API_CASE(setup_without_aux),
	API_CASE(setup_refused_by_the_pmu),
	API_CASE(setup_twice),
	API_CASE(setup_after_release),
	API_CASE(setup_of_any_size),
	API_CASE(setup_concurrently),
	API_CASE(release_without_buffer),
	API_CASE(release_twice),
	API_CASE(release_concurrently),
	API_CASE(release_while_running),
	API_CASE(release_of_another_owners_buffer),
	API_CASE(head_moves_with_what_is_published),
	API_CASE(nothing_published),
	API_CASE(watermark_by_default_is_half),
	API_CASE(watermark_as_given),
	API_CASE(copy_any_window),
	API_CASE(copy_wrapped),
	API_CASE(copy_bad_windows),
	API_CASE(tail_bounds),
	API_CASE(head_beyond_the_buffer),
	API_CASE(cursors_wrap),
	API_CASE(full_ring),
	API_CASE(two_events),
	{}
};

static int api_suite_init(struct kunit_suite *suite)
{
	int ret = compat_provider_init();

	return ret ?: test_pmu_register();
}

static void api_suite_exit(struct kunit_suite *suite)
{
	test_pmu_unregister();
}

static struct kunit_suite api_suite = {
	.name = "auxtrace_api",
	.suite_init = api_suite_init,
	.suite_exit = api_suite_exit,
	.test_cases = api_cases,
};

kunit_test_suite(api_suite);

MODULE_DESCRIPTION("KUnit tests of the kernel-consumer AUX API");
MODULE_AUTHOR("auxtrace developers");
MODULE_LICENSE("GPL");
