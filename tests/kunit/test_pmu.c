// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace PMU that does nothing by itself; test_pmu.h.
 *
 * Owns the PMU, and each event's session: from perf_aux_output_begin() to _end().
 * A session is only touched on its event's CPU with interrupts off, as a driver's
 * callbacks and its interrupt are.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "test_pmu.h"

struct test_pmu_control test_pmu_control;

/**
 * struct test_buffer - what setup_aux() makes of a buffer
 * @pages:	the AUX pages
 * @mask:	its size in bytes - 1
 */
struct test_buffer {
	void **pages;
	unsigned long mask;
};

/**
 * struct test_event - the driver's side of an event
 * @handle:	of the session
 * @buffer:	NULL between sessions
 * @written:	bytes written in this session
 */
struct test_event {
	struct perf_output_handle handle;
	struct test_buffer *buffer;
	unsigned long written;
};

u8 test_pmu_byte(u64 config, unsigned long cursor)
{
	return ((cursor ^ config << 32) * 0x9e3779b97f4a7c15ULL) >> 56;
}

static void begin_session(struct perf_event *event)
{
	struct test_event *te = event->pmu_private;

	te->written = 0;
	te->buffer = perf_aux_output_begin(&te->handle, event);
	if (!te->buffer)
		event->hw.state |= PERF_HES_STOPPED;
}

static void end_session(struct perf_event *event, unsigned long n)
{
	struct test_event *te = event->pmu_private;

	te->buffer = NULL;
	/* The trace is there before the head moves over it (B). */
	smp_wmb();
	perf_aux_output_end(&te->handle, n);
}

static void test_start(struct perf_event *event, int flags)
{
	struct test_event *te = event->pmu_private;

	atomic_inc(&test_pmu_control.starts);
	event->hw.state = 0;
	begin_session(event);
	if (!te->buffer || !test_pmu_control.stop_at_start)
		return;
	test_pmu_control.stop_at_start--;
	perf_aux_output_flag(&te->handle, PERF_AUX_FLAG_TRUNCATED);
	end_session(event, 0);
	event->hw.state |= PERF_HES_STOPPED;
}

static void test_stop(struct perf_event *event, int flags)
{
	struct test_event *te = event->pmu_private;

	if (te->buffer)
		end_session(event, te->written);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int test_add(struct perf_event *event, int flags)
{
	if (READ_ONCE(test_pmu_control.refuse_add))
		return -EAGAIN;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		test_start(event, PERF_EF_RELOAD);
	return 0;
}

static void test_del(struct perf_event *event, int flags)
{
	test_stop(event, PERF_EF_UPDATE);
}

static void test_read(struct perf_event *event)
{
}

static void test_destroy(struct perf_event *event)
{
	kfree(event->pmu_private);
}

static int test_init(struct perf_event *event)
{
	struct test_event *te;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	te = kzalloc(sizeof(*te), GFP_KERNEL);
	if (!te)
		return -ENOMEM;
	event->pmu_private = te;
	event->destroy = test_destroy;
	return 0;
}

static void *test_setup_aux(struct perf_event *event, void **pages, int nr_pages,
			    bool overwrite)
{
	struct test_buffer *buffer;

	if (test_pmu_control.refuse_setup || overwrite)
		return NULL;
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer)
		return NULL;
	buffer->pages = pages;
	buffer->mask = ((unsigned long)nr_pages << PAGE_SHIFT) - 1;
	atomic_inc(&test_pmu_control.setups);
	return buffer;
}

static void test_free_aux(void *aux)
{
	atomic_inc(&test_pmu_control.frees);
	kfree(aux);
}

static const struct pmu new_pmu = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_ITRACE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= test_init,
	.add		= test_add,
	.del		= test_del,
	.start		= test_start,
	.stop		= test_stop,
	.read		= test_read,
	.setup_aux	= test_setup_aux,
	.free_aux	= test_free_aux,
};

static struct pmu test_pmu;

int test_pmu_register(void)
{
	/* Nothing may be left in it of the last time. */
	test_pmu = new_pmu;
	return perf_pmu_register(&test_pmu, "auxtrace_test", -1);
}

void test_pmu_unregister(void)
{
	perf_pmu_unregister(&test_pmu);
}

u32 test_pmu_type(void)
{
	return test_pmu.type;
}

/* A disabled counter, or an ERR_PTR(). */
struct perf_event *test_pmu_create(int cpu, u64 config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = test_pmu.type,
		.config = config,
		.disabled = 1,
		.pinned = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/**
 * struct request - what a test has the driver do on the event's CPU
 * @event:	the event
 * @n:		bytes, or an answer
 * @flags:	PERF_AUX_FLAG_*
 */
struct request {
	struct perf_event *event;
	unsigned long n;
	u64 flags;
};

static struct request ask(struct perf_event *event, smp_call_func_t func,
			  unsigned long n, u64 flags)
{
	struct request request = { event, n, flags };

	smp_call_function_single(event->cpu, func, &request, true);
	return request;
}

static void write_on_cpu(void *data)
{
	struct request *request = data;
	struct test_event *te = request->event->pmu_private;
	unsigned long cursor, i;

	if (!te->buffer) {
		request->n = 0;
		return;
	}
	request->n = min(request->n, te->handle.size - te->written);
	cursor = te->handle.head + te->written;
	for (i = 0; i < request->n; i++, cursor++) {
		u8 *page = te->buffer->pages[(cursor & te->buffer->mask) >> PAGE_SHIFT];

		page[offset_in_page(cursor)] =
			test_pmu_byte(request->event->attr.config, cursor);
	}
	te->written += request->n;
}

/* The hardware writes @n bytes, or as many as there is room for: returned. */
unsigned long test_pmu_write(struct perf_event *event, unsigned long n)
{
	return ask(event, write_on_cpu, n, 0).n;
}

static void publish_on_cpu(void *data)
{
	struct request *request = data;
	struct test_event *te = request->event->pmu_private;

	if (!te->buffer)
		return;
	perf_aux_output_flag(&te->handle, request->flags);
	end_session(request->event, request->n ?: te->written);
	if (request->flags & PERF_AUX_FLAG_TRUNCATED)
		request->event->hw.state |= PERF_HES_STOPPED;
	else
		begin_session(request->event);
}

/*
 * The driver's interrupt: publishes what is written, with @flags. Another session
 * begins, unless the driver says that it was truncated.
 */
void test_pmu_publish(struct perf_event *event, u64 flags)
{
	ask(event, publish_on_cpu, 0, flags);
	test_pmu_settle(event);
}

/* The driver lies: says that it has written @n bytes. */
void test_pmu_publish_false(struct perf_event *event, unsigned long n)
{
	ask(event, publish_on_cpu, n, 0);
	test_pmu_settle(event);
}

static void peek_on_cpu(void *data)
{
	struct request *request = data;
	struct test_event *te = request->event->pmu_private;

	request->flags = !!te->buffer;
	request->n = te->buffer ? te->handle.size - te->written : 0;
}

bool test_pmu_in_session(struct perf_event *event)
{
	return ask(event, peek_on_cpu, 0, 0).flags;
}

/* Bytes that the hardware can still write. */
unsigned long test_pmu_room(struct perf_event *event)
{
	return ask(event, peek_on_cpu, 0, 0).n;
}

static void wakeup_on_cpu(void *data)
{
	struct request *request = data;
	struct test_event *te = request->event->pmu_private;

	request->n = te->handle.wakeup;
}

/* The cursor at which perf wants to wake readers; in a session. */
unsigned long test_pmu_next_wakeup(struct perf_event *event)
{
	return ask(event, wakeup_on_cpu, 0, 0).n;
}

static void nothing(void *data)
{
}

/*
 * Waits for what perf does later: it wakes readers, and disables what has stopped,
 * by irq_works, which run one after the other in one interrupt.
 */
void test_pmu_settle(struct perf_event *event)
{
	irq_work_sync(&event->pending_irq);
	smp_call_function_single(event->cpu, nothing, NULL, true);
}
