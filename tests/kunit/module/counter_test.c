// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of counter.c: the cap on memory, what is left behind by what fails, and
 * stops. Owns the suite auxtrace_counter, and in it max_total.
 */
#include "counter.c"

#include <linux/completion.h>
#include <linux/kthread.h>

#include "fixture.h"

/* A test begins with the default cap, and nothing left reserved by the one before. */
static int counter_init(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, atomic64_read(&total));
	return 0;
}

static void counter_exit(struct kunit *test)
{
	WRITE_ONCE(max_total, 0);
	test_pmu_control.refuse_setup = false;
	test_pmu_control.refuse_add = false;
}

static void cap_texts(struct kunit *test)
{
	static const char * const bad[] = { "", "0", "0K", "-1", "x", "17179869184G", "1 K" };
	u64 by_default = (u64)totalram_pages() * PAGE_SIZE / MAX_TOTAL_RAM_FRACTION;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, by_default, max_total_in_force());
	KUNIT_EXPECT_EQ(test, 0, set_max_total(" 64K\n", NULL));
	KUNIT_EXPECT_EQ(test, SZ_64K, max_total_in_force());
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, set_max_total(bad[i], NULL), "'%s'", bad[i]);
		KUNIT_EXPECT_EQ(test, SZ_64K, max_total_in_force());
	}
	KUNIT_EXPECT_EQ(test, 0, set_max_total("18446744073709551615", NULL));
	KUNIT_EXPECT_EQ(test, U64_MAX, max_total_in_force());
}

static void cap_is_exact(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, set_max_total("64K", NULL));
	KUNIT_EXPECT_FALSE(test, reserve_memory(SZ_64K + 1));
	KUNIT_EXPECT_TRUE(test, reserve_memory(SZ_64K));
	KUNIT_EXPECT_FALSE(test, reserve_memory(1));
	unreserve_memory(SZ_64K);
	KUNIT_EXPECT_TRUE(test, reserve_memory(SZ_32K));
	KUNIT_EXPECT_FALSE(test, reserve_memory(SZ_32K + 1));
	KUNIT_EXPECT_TRUE(test, reserve_memory(SZ_32K));
	/* A lower cap takes nothing away, and lets nothing in. */
	KUNIT_EXPECT_EQ(test, 0, set_max_total("32K", NULL));
	KUNIT_EXPECT_FALSE(test, reserve_memory(1));
	unreserve_memory(SZ_32K);
	KUNIT_EXPECT_FALSE(test, reserve_memory(1));
	unreserve_memory(SZ_32K);
	KUNIT_EXPECT_TRUE(test, reserve_memory(SZ_32K));
	unreserve_memory(SZ_32K);
	/* The largest cap is not passed by a wrap. */
	KUNIT_EXPECT_EQ(test, 0, set_max_total("18446744073709551615", NULL));
	KUNIT_EXPECT_TRUE(test, reserve_memory(SZ_2G));
	KUNIT_EXPECT_TRUE(test, reserve_memory(SZ_2G));
	unreserve_memory(SZ_2G);
	unreserve_memory(SZ_2G);
}

#define THREADS	4
#define ROUNDS	20000

/* How often more than the cap was reserved at once, by all threads together. */
static atomic_t excesses;
static atomic64_t reserved;

static int reserve_and_unreserve(void *done)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (!reserve_memory(SZ_16K))
			continue;
		if (atomic64_add_return(SZ_16K, &reserved) > SZ_32K)
			atomic_inc(&excesses);
		atomic64_sub(SZ_16K, &reserved);
		unreserve_memory(SZ_16K);
		cond_resched();
	}
	kthread_complete_and_exit(done, 0);
}

static void cap_holds_for_threads(struct kunit *test)
{
	static struct completion done[THREADS];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, set_max_total("32K", NULL));
	atomic_set(&excesses, 0);
	atomic64_set(&reserved, 0);
	for (i = 0; i < THREADS; i++) {
		init_completion(&done[i]);
		if (IS_ERR(kthread_run(reserve_and_unreserve, &done[i], "kunit-auxtrace/%u", i))) {
			KUNIT_FAIL(test, "no thread");
			complete(&done[i]);
		}
	}
	for (i = 0; i < THREADS; i++)
		wait_for_completion(&done[i]);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&excesses));
}

static void cap_refuses_a_stream(struct kunit *test)
{
	struct fixture *f = new_fixture(test);
	struct auxtrace_stream *s;
	int setups = atomic_read(&test_pmu_control.setups);

	KUNIT_ASSERT_EQ(test, 0, set_max_total("16383", NULL));
	s = auxtrace_stream_open(f->pmu, f->cpu, &f->settings, &f->stats);
	KUNIT_EXPECT_PTR_EQ(test, s, ERR_PTR(-ENOMEM));
	KUNIT_EXPECT_EQ(test, setups, atomic_read(&test_pmu_control.setups));
	KUNIT_ASSERT_EQ(test, 0, set_max_total("16384", NULL));
	reopen_stream(test, f);
	KUNIT_EXPECT_EQ(test, SIZE, atomic64_read(&total));
	close_stream(f);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&total));
}

static void expect_refused(struct kunit *test, struct fixture *f, int cpu, long error)
{
	int frees = atomic_read(&test_pmu_control.frees);
	int setups = atomic_read(&test_pmu_control.setups);
	struct auxtrace_stream *s;

	s = auxtrace_stream_open(f->pmu, cpu, &f->settings, &f->stats);
	KUNIT_EXPECT_PTR_EQ(test, s, ERR_PTR(error));
	if (!IS_ERR(s))
		auxtrace_stream_close(s);
	KUNIT_EXPECT_EQ(test, atomic_read(&test_pmu_control.setups) - setups,
			atomic_read(&test_pmu_control.frees) - frees);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&total));
}

/* Whatever fails leaves no buffer behind, and nothing reserved. */
static void what_fails_leaves_nothing(struct kunit *test)
{
	struct fixture *f = new_fixture(test);
	u32 type = f->pmu->type;

	test_pmu_control.refuse_setup = true;
	expect_refused(test, f, f->cpu, -ENOMEM);
	test_pmu_control.refuse_setup = false;

	test_pmu_control.refuse_add = true;
	expect_refused(test, f, f->cpu, -EIO);
	test_pmu_control.refuse_add = false;

	/* No such PMU any more. */
	f->pmu->type = 0x7fffffff;
	expect_refused(test, f, f->cpu, -ENODEV);
	f->pmu->type = type;

	expect_refused(test, f, nr_cpu_ids, -EINVAL);

	/* A software event has no AUX buffer. */
	f->pmu->type = PERF_TYPE_SOFTWARE;
	f->settings.value[AUXTRACE_CONFIG] = PERF_COUNT_SW_DUMMY;
	expect_refused(test, f, f->cpu, -EOPNOTSUPP);
}

static unsigned int wakes;
static bool wake_attend;

static void note_wake(struct auxtrace_counter *counter, bool attend)
{
	WRITE_ONCE(wakes, wakes + 1);
	WRITE_ONCE(wake_attend, attend);
}

static void destroy_counter(void *counter)
{
	auxtrace_counter_destroy(counter);
}

/* That the driver has stopped by itself is known, and where, until it is forgotten. */
static void self_stops(struct kunit *test)
{
	struct fixture *f = new_fixture(test);
	struct auxtrace_counter *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct perf_event *event;
	unsigned long head = 0;

	KUNIT_ASSERT_NOT_NULL(test, c);
	wakes = 0;
	f->settings.value[AUXTRACE_WATERMARK] = SIZE;
	KUNIT_ASSERT_EQ(test, 0, auxtrace_counter_create(c, f->pmu, f->cpu, &f->settings,
							 note_wake, true));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_counter, c));
	event = event_of(c);

	KUNIT_EXPECT_EQ(test, 0, auxtrace_counter_start(c));
	KUNIT_EXPECT_FALSE(test, auxtrace_counter_stopped(c));
	test_pmu_write(event, 100);
	test_pmu_publish(event, PERF_AUX_FLAG_TRUNCATED);
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(wakes));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(wake_attend));
	KUNIT_EXPECT_TRUE(test, auxtrace_counter_seems_stopped(c));
	KUNIT_EXPECT_TRUE(test, auxtrace_counter_self_stopped(c, &head));
	KUNIT_EXPECT_EQ(test, 100, head);

	/* A start begins anew, and a hold is no stop by itself. */
	auxtrace_counter_hold(c);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_counter_start(c));
	KUNIT_EXPECT_FALSE(test, auxtrace_counter_self_stopped(c, &head));
	test_pmu_write(event, 10);
	auxtrace_counter_hold(c);
	KUNIT_EXPECT_FALSE(test, auxtrace_counter_self_stopped(c, &head));
	KUNIT_EXPECT_EQ(test, 110, auxtrace_counter_head(c));
	KUNIT_EXPECT_EQ(test, 0, auxtrace_counter_start(c));

	/* A full buffer is one; that it is, is known also after a mute. */
	auxtrace_counter_mute(c);
	test_pmu_write(event, SIZE);
	test_pmu_publish(event, 0);
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(wakes));
	KUNIT_EXPECT_FALSE(test, auxtrace_counter_self_stopped(c, &head));
	KUNIT_EXPECT_TRUE(test, auxtrace_counter_stopped(c));
	KUNIT_EXPECT_TRUE(test, auxtrace_counter_self_stopped(c, &head));
	KUNIT_EXPECT_EQ(test, SIZE - 1, head);
	auxtrace_counter_forget_stop(c);
	KUNIT_EXPECT_FALSE(test, auxtrace_counter_self_stopped(c, &head));
}

static struct kunit_case counter_cases[] = {
	KUNIT_CASE(cap_texts),
	KUNIT_CASE(cap_is_exact),
	KUNIT_CASE(cap_holds_for_threads),
	KUNIT_CASE(cap_refuses_a_stream),
	KUNIT_CASE(what_fails_leaves_nothing),
	KUNIT_CASE(self_stops),
	{}
};

struct kunit_suite counter_suite = {
	.name = "auxtrace_counter",
	.suite_init = fixture_suite_init,
	.suite_exit = fixture_suite_exit,
	.init = counter_init,
	.exit = counter_exit,
	.test_cases = counter_cases,
};
