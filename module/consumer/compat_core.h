/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the compat provider uses of the perf core: five functions that are not
 * exported, and members of the private struct perf_buffer. compat_core.c finds
 * and verifies all of it at load time; after that the accessors here cost as
 * much as the kernel's own would.
 */
#ifndef AUXTRACE_COMPAT_CORE_H
#define AUXTRACE_COMPAT_CORE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/static_call.h>

struct perf_buffer;

/*
 * The prototypes as in kernel/events/internal.h, to the letter: kCFI compares
 * a hash of them. Never called by these names, which do not link: only by
 * static_call(), which patches a direct call in. An indirect call would be a
 * control protection fault where the kernel has sealed the function's entry
 * (CONFIG_X86_KERNEL_IBT).
 */
struct perf_buffer *rb_alloc(int nr_pages, long watermark, int cpu, int flags);
int rb_alloc_aux(struct perf_buffer *rb, struct perf_event *event,
		 pgoff_t pgoff, int nr_pages, long watermark, int flags);
void rb_free_aux(struct perf_buffer *rb);
struct perf_buffer *ring_buffer_get(struct perf_event *event);
void ring_buffer_put(struct perf_buffer *rb);

DECLARE_STATIC_CALL(auxtrace_rb_alloc, rb_alloc);
DECLARE_STATIC_CALL(auxtrace_rb_alloc_aux, rb_alloc_aux);
DECLARE_STATIC_CALL(auxtrace_rb_free_aux, rb_free_aux);
DECLARE_STATIC_CALL(auxtrace_ring_buffer_get, ring_buffer_get);
DECLARE_STATIC_CALL(auxtrace_ring_buffer_put, ring_buffer_put);

/* rb_alloc()'s and rb_alloc_aux()'s flag; kernel/events/internal.h */
#define RING_BUFFER_WRITABLE	0x01

/*
 * struct auxtrace_perf_buffer_layout - where members of struct perf_buffer are
 *
 * Offsets in bytes, written once by auxtrace_compat_core_init(). The members'
 * own rules (kernel/events/): @event_list is guarded by @event_lock and
 * RCU; the reference counts and @aux_mmap_count are atomic; @aux_pages and
 * @aux_nr_pages do not change while an AUX reference is held, nor @data_pages
 * in the life of the buffer.
 */
struct auxtrace_perf_buffer_layout {
	u32 refcount;
	u32 event_lock;
	u32 event_list;
	u32 aux_pgoff;
	u32 aux_nr_pages;
	u32 aux_mmap_count;
	u32 aux_refcount;
	u32 aux_pages;
	u32 user_page;
	u32 data_pages;
};

extern struct auxtrace_perf_buffer_layout auxtrace_rb_layout;

#define rb_member(rb, type, member)					\
	((type *)((char *)(rb) + auxtrace_rb_layout.member))

static inline refcount_t *rb_refcount(struct perf_buffer *rb)
{
	return rb_member(rb, refcount_t, refcount);
}

static inline spinlock_t *rb_event_lock(struct perf_buffer *rb)
{
	return rb_member(rb, spinlock_t, event_lock);
}

static inline struct list_head *rb_event_list(struct perf_buffer *rb)
{
	return rb_member(rb, struct list_head, event_list);
}

static inline unsigned long *rb_aux_pgoff(struct perf_buffer *rb)
{
	return rb_member(rb, unsigned long, aux_pgoff);
}

static inline int rb_aux_nr_pages(struct perf_buffer *rb)
{
	return *rb_member(rb, int, aux_nr_pages);
}

/* An atomic_t up to 6.16, a refcount_t (a struct of one atomic_t) later. */
static inline atomic_t *rb_aux_mmap_count(struct perf_buffer *rb)
{
	return rb_member(rb, atomic_t, aux_mmap_count);
}

static inline refcount_t *rb_aux_refcount(struct perf_buffer *rb)
{
	return rb_member(rb, refcount_t, aux_refcount);
}

static inline void **rb_aux_pages(struct perf_buffer *rb)
{
	return *rb_member(rb, void **, aux_pages);
}

static inline struct perf_event_mmap_page *rb_user_page(struct perf_buffer *rb)
{
	return *rb_member(rb, struct perf_event_mmap_page *, user_page);
}

/* The first data page; there must be one. */
static inline void *rb_data_page(struct perf_buffer *rb)
{
	return *rb_member(rb, void *, data_pages);
}

int auxtrace_compat_core_init(void);

#endif /* AUXTRACE_COMPAT_CORE_H */
