// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compat provider: the kernel-consumer AUX API for kernels that do not have
 * it, on the perf core's own functions and structures (compat_core.h).
 *
 * Owns nothing between calls: a buffer belongs to its event, and is known as
 * this provider's by an aux_pgoff that no mmap() can give it. Locks: set-up,
 * release and detachment of a buffer hold the event's mmap_mutex, as the perf
 * core does; everything else holds a reference, or is inside an RCU read-side
 * section.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/string.h>

#include "consumer/compat_core.h"
#include "consumer/consumer.h"

const char * const auxtrace_consumer_name = "compat";

/* What perf_event_create_kernel_counter() stores as owner; kernel/events/core.c */
#define KERNEL_OWNER	((void *)-1L)

/*
 * The aux_pgoff of a buffer that this provider owns. The perf core compares it
 * to page offsets of mmap(), which are never that large, and only for events
 * that have a file descriptor, which kernel counters have not.
 */
#define OWNED_PGOFF	((unsigned long)&auxtrace_consumer_name)

int auxtrace_consumer_init(void)
{
	return auxtrace_compat_core_init();
}

/* The perf core treats event->rb as an RCU pointer, but does not mark it so. */
static struct perf_buffer __rcu **event_rb(struct perf_event *event)
{
	return (struct perf_buffer __rcu __force **)&event->rb;
}

static bool owned(struct perf_buffer *rb)
{
	return READ_ONCE(*rb_aux_pgoff(rb)) == OWNED_PGOFF;
}

static unsigned long aux_size(struct perf_buffer *rb)
{
	return (unsigned long)rb_aux_nr_pages(rb) << PAGE_SHIFT;
}

/* Puts @rb, new and with an AUX area, on @event as ring_buffer_attach() does. */
static void attach(struct perf_event *event, struct perf_buffer *rb)
{
	unsigned long flags;

	lockdep_assert_held(&event->mmap_mutex);

	/* The entry may be on its way out of the list of an earlier buffer. */
	if (event->rcu_pending) {
		cond_synchronize_rcu(event->rcu_batches);
		event->rcu_pending = 0;
	}

	atomic_set(rb_aux_mmap_count(rb), 1);
	spin_lock_irqsave(rb_event_lock(rb), flags);
	list_add_rcu(&event->rb_entry, rb_event_list(rb));
	spin_unlock_irqrestore(rb_event_lock(rb), flags);
	rcu_assign_pointer(*event_rb(event), rb);
}

static void detach(struct perf_event *event, struct perf_buffer *rb)
{
	unsigned long flags;

	lockdep_assert_held(&event->mmap_mutex);

	spin_lock_irqsave(rb_event_lock(rb), flags);
	list_del_rcu(&event->rb_entry);
	spin_unlock_irqrestore(rb_event_lock(rb), flags);
	event->rcu_batches = get_state_synchronize_rcu();
	event->rcu_pending = 1;
	rcu_assign_pointer(*event_rb(event), NULL);
}

/**
 * auxtrace_compat_setup_aux() - give a kernel counter an AUX buffer
 * @event:	made by perf_event_create_kernel_counter(), not enabled yet
 * @nr_pages:	size in pages, a power of two
 * @watermark:	bytes between two wake-ups; 0 for half of the buffer
 *
 * Context: may sleep (takes event->mmap_mutex, allocates).
 * Return: 0; -EINVAL if @event is no kernel counter, has a parent, is to have
 * children (which would write to the buffer), or a number is bad; -EBUSY if it
 * has a buffer; -ENODEV if its PMU is gone; -EOPNOTSUPP if its PMU has no AUX;
 * -ENOMEM, also when the PMU's setup_aux() refuses.
 */
int auxtrace_compat_setup_aux(struct perf_event *event, int nr_pages, long watermark)
{
	struct perf_buffer *rb;
	int ret;

	if (event->owner != KERNEL_OWNER || event->parent || event->attr.inherit)
		return -EINVAL;
	if (nr_pages < 1 || !is_power_of_2(nr_pages) || watermark < 0)
		return -EINVAL;

	mutex_lock(&event->mmap_mutex);
	/* Newer kernels let a PMU go away under its events. */
	if (event->state < PERF_EVENT_STATE_EXIT) {
		ret = -ENODEV;
		goto unlock;
	}
	if (event->rb) {
		ret = -EBUSY;
		goto unlock;
	}

	/* One data page, for what the driver reports: PERF_RECORD_AUX. */
	rb = static_call(auxtrace_rb_alloc)(1, 0, event->cpu, RING_BUFFER_WRITABLE);
	if (!rb) {
		ret = -ENOMEM;
		goto unlock;
	}
	ret = static_call(auxtrace_rb_alloc_aux)(rb, event, OWNED_PGOFF, nr_pages,
						 watermark, RING_BUFFER_WRITABLE);
	if (ret)
		static_call(auxtrace_ring_buffer_put)(rb);
	else
		attach(event, rb);
unlock:
	mutex_unlock(&event->mmap_mutex);
	return ret;
}

/*
 * Takes the buffer's ownership away and returns it, or NULL if there is no
 * owned buffer: of several callers only one gets it.
 */
static struct perf_buffer *disown(struct perf_event *event)
{
	struct perf_buffer *rb;

	mutex_lock(&event->mmap_mutex);
	rb = event->rb;
	if (rb && owned(rb)) {
		WRITE_ONCE(*rb_aux_pgoff(rb), 0);
		/* From now on perf_aux_output_begin() lets no writer in. */
		atomic_set(rb_aux_mmap_count(rb), 0);
	} else {
		rb = NULL;
	}
	mutex_unlock(&event->mmap_mutex);
	return rb;
}

/**
 * auxtrace_compat_release_aux() - free what auxtrace_compat_setup_aux() made
 * @event:	the event; it is stopped if it runs
 *
 * To be called before perf_event_release_kernel(). Harmless twice, concurrently,
 * and on an event without a buffer of this provider's.
 *
 * Context: may sleep. The caller has no copy under way.
 */
void auxtrace_compat_release_aux(struct perf_event *event)
{
	struct perf_buffer *rb = disown(event);

	if (!rb)
		return;

	/*
	 * Ends a transaction that is under way, and its AUX reference: a driver
	 * may not drop the last one, it cannot sleep. (ctx->mutex, which this
	 * takes, comes before mmap_mutex.)
	 */
	perf_event_disable(event);
	static_call(auxtrace_rb_free_aux)(rb);

	mutex_lock(&event->mmap_mutex);
	detach(event, rb);
	mutex_unlock(&event->mmap_mutex);
	static_call(auxtrace_ring_buffer_put)(rb);
}

/**
 * auxtrace_compat_aux_head() - the producer's cursor
 * @event:	the event
 *
 * Data before the cursor may be copied: this is a load-acquire.
 *
 * Context: any.
 * Return: bytes published since set-up, modulo ULONG_MAX + 1; 0 without a
 * buffer.
 */
unsigned long auxtrace_compat_aux_head(struct perf_event *event)
{
	struct perf_buffer *rb;
	unsigned long head = 0;

	rcu_read_lock();
	rb = rcu_dereference(*event_rb(event));
	if (rb) {
		/* Pairs with the driver's ordering (B) of data before the head. */
		head = smp_load_acquire(&rb_user_page(rb)->aux_head);
	}
	rcu_read_unlock();
	return head;
}

/**
 * auxtrace_compat_aux_tail_set() - give room back to the producer
 * @event:	the event
 * @tail:	the new consumer's cursor; what is before it may be overwritten
 *
 * Does not restart an event that stopped because its buffer was full.
 *
 * Context: any. The caller serialises calls for one event.
 * Return: 0; -ENOENT without a buffer of this provider's; -EINVAL if @tail is
 * outside of [old tail, head], or these are further apart than the buffer is
 * long.
 */
int auxtrace_compat_aux_tail_set(struct perf_event *event, unsigned long tail)
{
	struct perf_event_mmap_page *page;
	unsigned long head, old;
	struct perf_buffer *rb;
	int ret = 0;

	rcu_read_lock();
	rb = rcu_dereference(*event_rb(event));
	if (!rb || !owned(rb)) {
		ret = -ENOENT;
		goto unlock;
	}

	page = rb_user_page(rb);
	head = READ_ONCE(page->aux_head);
	old = page->aux_tail;
	if (head - old > aux_size(rb) || tail - old > head - old) {
		ret = -EINVAL;
		goto unlock;
	}

	/*
	 * All copies of what is before @tail are done before the producer sees
	 * it: pairs with the control dependency (A) in perf_aux_output_begin().
	 */
	smp_mb();
	WRITE_ONCE(page->aux_tail, tail);
unlock:
	rcu_read_unlock();
	return ret;
}

/* An AUX reference and a buffer reference on an owned buffer, or NULL. */
static struct perf_buffer *get_owned(struct perf_event *event)
{
	struct perf_buffer *rb = static_call(auxtrace_ring_buffer_get)(event);

	if (!rb)
		return NULL;
	if (owned(rb) && refcount_inc_not_zero(rb_aux_refcount(rb)))
		return rb;
	static_call(auxtrace_ring_buffer_put)(rb);
	return NULL;
}

static void put_owned(struct perf_buffer *rb)
{
	static_call(auxtrace_rb_free_aux)(rb);
	static_call(auxtrace_ring_buffer_put)(rb);
}

static void copy_out(struct perf_buffer *rb, unsigned long from,
		     unsigned long len, void *buf)
{
	unsigned long mask = aux_size(rb) - 1;
	void **pages = rb_aux_pages(rb);

	while (len) {
		unsigned long at = from & mask;
		unsigned long n = min(len, PAGE_SIZE - offset_in_page(at));

		memcpy(buf, pages[at >> PAGE_SHIFT] + offset_in_page(at), n);
		buf += n;
		from += n;
		len -= n;
	}
}

/**
 * auxtrace_compat_aux_copy() - copy published data out of the AUX buffer
 * @event:	the event
 * @from:	cursor of the first byte
 * @to:		cursor behind the last byte
 * @buf:	@to - @from bytes of kernel memory
 *
 * Context: may sleep (can drop the last AUX reference).
 * Return: bytes copied; -EINVAL if @buf is NULL or the window is not inside of
 * [tail, head]; -ENOENT without a buffer of this provider's.
 */
long auxtrace_compat_aux_copy(struct perf_event *event, unsigned long from,
			      unsigned long to, void *buf)
{
	struct perf_event_mmap_page *page;
	unsigned long head, tail;
	struct perf_buffer *rb;
	long ret;

	if (!buf)
		return -EINVAL;
	rb = get_owned(event);
	if (!rb)
		return -ENOENT;

	page = rb_user_page(rb);
	/* Data is read behind this: pairs with the driver's (B) before the head. */
	head = smp_load_acquire(&page->aux_head);
	tail = READ_ONCE(page->aux_tail);
	if (head - tail > aux_size(rb) || from - tail > head - tail ||
	    to - from > head - from) {
		ret = -EINVAL;
	} else {
		ret = to - from;
		copy_out(rb, from, ret, buf);
	}
	put_owned(rb);
	return ret;
}

/* Copies @len bytes at @pos of the ring of records, which is one page. */
static void copy_record(struct perf_buffer *rb, u64 pos, void *to, size_t len)
{
	size_t at = offset_in_page(pos);
	size_t n = min(len, PAGE_SIZE - at);

	memcpy(to, rb_data_page(rb) + at, n);
	memcpy(to + n, rb_data_page(rb), len - n);
}

/* The record that matters, as perf_event_open(2) has it: sample_id_all is off. */
union record {
	struct perf_event_header header;
	struct {
		struct perf_event_header header;
		u64 offset;
		u64 size;
		u64 flags;
	} aux;
};

/*
 * Looks at the record at @pos, before @head: what it says in terms of a report, as
 * far as it does, goes into @report. Returns its size in bytes.
 */
static u64 parse_record(struct perf_buffer *rb, u64 pos, u64 head,
			struct auxtrace_report *report)
{
	union record record = {};
	u64 size;

	copy_record(rb, pos, &record, sizeof(record.header));
	size = record.header.size;
	if (size < sizeof(record.header) || size > head - pos)
		return head - pos;
	copy_record(rb, pos, &record, min_t(size_t, size, sizeof(record)));

	if (record.header.type == PERF_RECORD_AUX) {
		report->end = record.aux.offset + record.aux.size;
		report->flags = record.aux.flags & AUXTRACE_REPORT_FLAGS;
	}
	return size;
}

/**
 * auxtrace_consumer_next_report() - take out what the driver has reported
 * @event:	the event
 * @upto:	a cursor, the head at some time: reports beyond are left alone. NULL: all,
 *		of an event that is held
 * @report:	out: the next report that has a flag
 *
 * The perf core writes a report before it moves the head over what it is about,
 * with no barrier between: where stores are reordered, one can be seen a moment
 * late by those that do not ask on the event's CPU.
 *
 * Context: any. The caller serialises calls for one event.
 * Return: false if there is none.
 */
bool auxtrace_consumer_next_report(struct perf_event *event, const unsigned long *upto,
				   struct auxtrace_report *report)
{
	struct perf_event_mmap_page *page;
	struct perf_buffer *rb;
	u64 head, tail, old;

	*report = (struct auxtrace_report) {};
	rcu_read_lock();
	rb = rcu_dereference(*event_rb(event));
	if (!rb || !owned(rb))
		goto unlock;

	page = rb_user_page(rb);
	/* Pairs with smp_wmb() before the head in perf_output_put_handle(). */
	head = smp_load_acquire(&page->data_head);
	old = page->data_tail;
	tail = old;
	while (tail != head && !report->flags) {
		struct auxtrace_report r = {};
		u64 size = parse_record(rb, tail, head, &r);

		if (r.flags && upto && (long)(*upto - r.end) < 0)
			break;
		*report = r;
		tail += size;
	}
	if (tail != old) {
		/*
		 * The records are copied before their room is given back: pairs
		 * with the control dependency (A) in __perf_output_begin().
		 */
		smp_mb();
		WRITE_ONCE(page->data_tail, tail);
	}
unlock:
	rcu_read_unlock();
	return report->flags;
}

/**
 * auxtrace_consumer_reports_lost() - how many reports was there no room for?
 * @event:	the event
 *
 * As the perf core counts them for PERF_FORMAT_LOST: those without a flag too. (Its
 * PERF_RECORD_LOST comes with the next record alone, if one comes.)
 *
 * Context: any.
 * Return: their number since the event was made.
 */
u64 auxtrace_consumer_reports_lost(struct perf_event *event)
{
	return atomic64_read(&event->lost_samples);
}

/**
 * auxtrace_consumer_reports_urgent() - should somebody take reports out now?
 * @event:	the event
 *
 * To be asked at a wake-up: perf wakes readers when the driver reports a truncation,
 * and each time that it has written half a page of reports. Some of these may have been
 * taken out already, before perf was half a page further: a quarter is enough.
 *
 * Context: any.
 * Return: true if so.
 */
bool auxtrace_consumer_reports_urgent(struct perf_event *event)
{
	struct auxtrace_report report = {};
	struct perf_event_mmap_page *page;
	u64 head, newest, used = 0;
	struct perf_buffer *rb;

	rcu_read_lock();
	rb = rcu_dereference(*event_rb(event));
	if (rb && owned(rb)) {
		page = rb_user_page(rb);
		/* Pairs with smp_wmb() before the head in perf_output_put_handle(). */
		head = smp_load_acquire(&page->data_head);
		used = head - READ_ONCE(page->data_tail);
		newest = head - sizeof_field(union record, aux);
		if (used >= sizeof_field(union record, aux))
			parse_record(rb, newest, head, &report);
	}
	rcu_read_unlock();
	return used >= PAGE_SIZE / 4 || report.flags & PERF_AUX_FLAG_TRUNCATED;
}
