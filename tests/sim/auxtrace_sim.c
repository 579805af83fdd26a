// SPDX-License-Identifier: GPL-2.0-only
/*
 * A simulated trace PMU: a perf PMU with an AUX buffer, without hardware.
 *
 * It behaves towards the perf core as the drivers of real trace units do
 * (arm_spe_pmu and intel_pt were the models), but what it "traces" comes from
 * a timer: a pattern in which every byte can be verified (see pattern.h), or a
 * recorded trace that was loaded before.
 *
 * Terms:
 *
 * session	what happens between perf_aux_output_begin() and
 *		perf_aux_output_end(). The bytes of a session get published
 *		when it ends. It ends when the buffer's watermark or the end of
 *		the room is reached, or when perf stops the event.
 * stop		the driver stops an event by itself, because it got no room or
 *		was told to report a loss. Being stopped by perf isn't a stop in
 *		this sense.
 *
 * The event's configuration (all numbers 0 unless given):
 *
 * rate		bytes per second; 0: 1 MiB
 * chunk	bytes per timer tick, a multiple of 8, at most 256 KiB; 0: as
 *		many as fit the rate with a tick of about a millisecond. A tick
 *		of less than 20 microseconds is refused.
 * content	0: counter pattern; 1: the loaded blob, once; 2: the blob, again
 *		and again
 * align	0, or a power of two from 8 to 4096: sessions begin at a multiple
 *		of that in the buffer, with zero bytes before
 * truncate	each so many published sessions of the event, one is reported as
 *		truncated, and the driver stops; 0: never
 * partial	each so many published sessions, one is reported as partial: trace
 *		is missing inside; 0: never
 * collision	likewise: samples collided
 * margin	bytes at the end of the room that the driver never uses; 0: 8
 * region	as intel_pt: the buffer has regions of so many pages, a power of two.
 *		Sessions end at a region's end, and with a loss at the end of the
 *		last one behind which another is free, by the room that there was
 *		at their begin. The driver goes on behind the loss if there is
 *		room by then; if not, it reports that, too, and does not say in
 *		the event's state that it has stopped. 0: no regions
 * pages	1: as arm_spe_pmu: sessions end at a page's end, and at the
 *		ring's; where there is no whole page, what room there is gets
 *		filled up with zeroes, and the driver stops
 * reset	1: as arm_spe_pmu: when the CPU goes offline the hardware is reset,
 *		under an event that runs there, too. The driver then takes the
 *		session's length from where the hardware seems to stand, and so puts
 *		the head far back. The number of a CPU written to reset_cpu in the
 *		PMU's sysfs folder does the same there
 *
 * A blob is loaded by writing it to /dev/auxtrace_sim. See sim_blob_open().
 *
 * Statistics are in the PMU's sysfs folder under stats/.
 *
 * Events that perf inherits to child tasks count words of their own, but write
 * into their parent's buffer: with inheritance, the buffer holds a mixture.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "pattern.h"

/* attr.config and attr.config1, as format/ tells user space */
#define SIM_CONFIG_RATE		GENMASK_ULL(31, 0)
#define SIM_CONFIG_CHUNK	GENMASK_ULL(55, 32)
#define SIM_CONFIG_CONTENT	GENMASK_ULL(57, 56)
#define SIM_CONFIG_RESERVED	GENMASK_ULL(63, 58)

#define SIM_CONFIG1_ALIGN	GENMASK_ULL(15, 0)
#define SIM_CONFIG1_TRUNCATE	GENMASK_ULL(31, 16)
#define SIM_CONFIG1_MARGIN	GENMASK_ULL(47, 32)
#define SIM_CONFIG1_PARTIAL	GENMASK_ULL(55, 48)
#define SIM_CONFIG1_COLLISION	GENMASK_ULL(63, 56)

#define SIM_CONFIG2_REGION	GENMASK_ULL(15, 0)
#define SIM_CONFIG2_PAGES	BIT_ULL(16)
#define SIM_CONFIG2_RESET	BIT_ULL(17)
#define SIM_CONFIG2_RESERVED	GENMASK_ULL(63, 18)

#define SIM_RATE_DEFAULT	SZ_1M
#define SIM_MARGIN_DEFAULT	8
#define SIM_ALIGN_MAX		SZ_4K
#define SIM_TICK_MIN_NS		(20 * NSEC_PER_USEC)
#define SIM_BLOB_MAX		SZ_64M

/* What one interrupt produces at most: ticks, when it is late, and bytes. */
#define SIM_TICKS_MAX		4
#define SIM_BYTES_MAX		SZ_256K

/* The timer rests for at least so many times of what its interrupt took. */
#define SIM_REST_FACTOR		3

enum sim_content {
	SIM_CONTENT_COUNTER = 0,
	SIM_CONTENT_BLOB_ONCE = 1,
	SIM_CONTENT_BLOB_LOOP = 2,
};

/**
 * struct sim_blob - a recorded trace to play
 * @refs: who uses it: the module while it is the loaded one, and each event
 *	that plays it
 * @data: its bytes
 * @size: how many there are
 * @room: how many @data has room for
 * @broken: a write failed, so that it's not to be installed
 *
 * While it's being loaded it belongs to the open file, and sim_blob_lock
 * guards its members against concurrent writers. Once loaded it is constant.
 */
struct sim_blob {
	refcount_t refs;
	u8 *data;
	size_t size;
	size_t room;
	bool broken;
};

/**
 * struct sim_buf - what setup_aux makes of an AUX buffer
 * @pages: addresses of the pages; the array belongs to the perf core, and
 *	outlives this
 * @mask: size of the buffer in bytes, minus one
 *
 * Constant.
 */
struct sim_buf {
	void **pages;
	unsigned long mask;
};

/**
 * struct sim_event - the state of one event
 * @event: the event
 * @timer: produces trace while the event runs and isn't stopped
 * @tick: the timer's interval
 * @chunk: bytes that a tick produces
 * @align: alignment of a session's begin in the buffer, a power of two
 * @truncate: each so many sessions, one is truncated; 0: never
 * @partial: each so many sessions, one is partial; 0: never
 * @collision: each so many sessions, one had a collision; 0: never
 * @margin: bytes at the end of the room not to use
 * @region: bytes of a region, a power of two; 0: there are none
 * @pages: sessions end at pages' ends
 * @reset: a CPU that goes offline resets the hardware
 * @unit: what the size of sessions is a multiple of
 * @content: what to write
 * @blob: the blob to play; NULL for the counter pattern
 * @blob_pos: bytes of the blob that were played, in this round
 * @handle: perf's output handle, valid in a session
 * @buf: the buffer; NULL outside of a session
 * @limit: bytes that the session may write
 * @short_of_room: nothing but the room limits it
 * @written: bytes that it has written
 * @resets: of the CPU, when the session began
 * @published: sessions that published something
 * @index: index of the next word of the counter pattern
 * @epoch: how often the driver stopped the event
 *
 * The members up to @blob are constant once event_init has returned, but for
 * the timer. No lock guards the others, nor event->hw.state: they are touched
 * by the callbacks add, del, start and stop, and by the timer. The perf core
 * calls those with interrupts disabled and on the CPU where the event is
 * scheduled in, and the timer is pinned to that CPU and fires in hard interrupt
 * context, so that they exclude each other. An event leaves a CPU by del, which
 * cancels the timer, and the perf core orders that before the add on another
 * CPU. For the same reason no timer is left when the event is destroyed.
 */
struct sim_event {
	struct perf_event *event;
	struct hrtimer timer;
	ktime_t tick;
	unsigned int chunk;
	unsigned int align;
	unsigned int truncate;
	unsigned int partial;
	unsigned int collision;
	unsigned int margin;
	unsigned long region;
	bool pages;
	bool reset;
	unsigned int unit;
	enum sim_content content;
	struct sim_blob *blob;

	size_t blob_pos;
	struct perf_output_handle handle;
	struct sim_buf *buf;
	unsigned long limit;
	bool short_of_room;
	unsigned long written;
	unsigned int resets;
	u64 published;
	u64 index;
	unsigned int epoch;
};

/**
 * struct sim_stats - statistics of one CPU
 * @stops: how often the driver stopped an event
 * @bytes: bytes published, padding included
 * @sessions: sessions that published something
 * @truncated: sessions that were reported truncated because of the event's
 *	configuration
 * @partials: sessions that were reported partial
 * @collisions: sessions that were reported to have had a collision
 * @padding: bytes of padding
 *
 * Written on that CPU only, with interrupts disabled. Readers on other CPUs
 * take no lock: the members are single words, and only ever grow.
 */
struct sim_stats {
	unsigned long stops;
	unsigned long bytes;
	unsigned long sessions;
	unsigned long truncated;
	unsigned long partials;
	unsigned long collisions;
	unsigned long padding;
};

static char *name = "auxtrace_sim";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "name of the PMU");

static bool exclusive;
module_param(exclusive, bool, 0444);
MODULE_PARM_DESC(exclusive, "allow one event per context only, as Intel PT");

static DEFINE_PER_CPU(struct sim_stats, sim_stats);

/* How often the hardware was reset. Touched on that CPU only. */
static DEFINE_PER_CPU(unsigned int, sim_resets);

static void sim_reset(void *unused)
{
	this_cpu_inc(sim_resets);
}

/*
 * Guards the three variables below, and a blob's members while it is being
 * loaded. Taken in process context only.
 */
static DEFINE_MUTEX(sim_blob_lock);
static struct sim_blob *sim_blob_loaded;	/* NULL: none */
static unsigned int sim_blob_players;		/* events that play one */
static bool sim_blob_loading;			/* the device is open */

/* --- blobs --- */

static void sim_blob_put(struct sim_blob *blob)
{
	if (!blob || !refcount_dec_and_test(&blob->refs))
		return;

	vfree(blob->data);
	kfree(blob);
}

/* Take the loaded blob for an event. NULL if there is none. */
static struct sim_blob *sim_blob_pin(void)
{
	struct sim_blob *blob;

	mutex_lock(&sim_blob_lock);
	blob = sim_blob_loaded;
	if (blob) {
		refcount_inc(&blob->refs);
		sim_blob_players++;
	}
	mutex_unlock(&sim_blob_lock);

	return blob;
}

static void sim_blob_unpin(struct sim_blob *blob)
{
	mutex_lock(&sim_blob_lock);
	sim_blob_players--;
	mutex_unlock(&sim_blob_lock);

	sim_blob_put(blob);
}

/*
 * Opening the device begins a new blob, writing appends to it, closing installs
 * it. Closing without having written anything leaves no blob loaded. If a write
 * failed the blob that was loaded before stays.
 */
static int sim_blob_open(struct inode *inode, struct file *file)
{
	struct sim_blob *blob;
	int ret = 0;

	if (!(file->f_mode & FMODE_WRITE) || (file->f_mode & FMODE_READ))
		return -EINVAL;

	blob = kzalloc(sizeof(*blob), GFP_KERNEL);
	if (!blob)
		return -ENOMEM;
	refcount_set(&blob->refs, 1);

	mutex_lock(&sim_blob_lock);
	if (sim_blob_players || sim_blob_loading)
		ret = -EBUSY;
	else
		sim_blob_loading = true;
	mutex_unlock(&sim_blob_lock);

	if (ret) {
		sim_blob_put(blob);
		return ret;
	}

	file->private_data = blob;
	return stream_open(inode, file);
}

static int sim_blob_grow(struct sim_blob *blob, size_t size)
{
	size_t room;
	u8 *data;

	if (size <= blob->room)
		return 0;

	room = max_t(size_t, SZ_64K, roundup_pow_of_two(size));
	data = vmalloc(room);
	if (!data)
		return -ENOMEM;

	if (blob->size)
		memcpy(data, blob->data, blob->size);
	vfree(blob->data);
	blob->data = data;
	blob->room = room;
	return 0;
}

static ssize_t sim_blob_write(struct file *file, const char __user *ubuf,
			      size_t count, loff_t *ppos)
{
	struct sim_blob *blob = file->private_data;
	ssize_t ret;

	mutex_lock(&sim_blob_lock);
	if (count > SIM_BLOB_MAX - blob->size) {
		ret = -EFBIG;
		goto out;
	}

	ret = sim_blob_grow(blob, blob->size + count);
	if (ret)
		goto out;

	if (copy_from_user(blob->data + blob->size, ubuf, count)) {
		ret = -EFAULT;
		goto out;
	}

	blob->size += count;
	ret = count;
out:
	if (ret < 0)
		blob->broken = true;
	mutex_unlock(&sim_blob_lock);

	return ret;
}

static int sim_blob_release(struct inode *inode, struct file *file)
{
	struct sim_blob *blob = file->private_data;

	mutex_lock(&sim_blob_lock);
	if (!blob->broken) {
		swap(blob, sim_blob_loaded);
		if (!sim_blob_loaded->size) {
			sim_blob_put(sim_blob_loaded);
			sim_blob_loaded = NULL;
		}
	}
	sim_blob_loading = false;
	mutex_unlock(&sim_blob_lock);

	sim_blob_put(blob);
	return 0;
}

static const struct file_operations sim_blob_fops = {
	.owner		= THIS_MODULE,
	.open		= sim_blob_open,
	.write		= sim_blob_write,
	.release	= sim_blob_release,
};

static struct miscdevice sim_blob_dev = {
	.minor		= MISC_DYNAMIC_MINOR,
	.name		= "auxtrace_sim",
	.fops		= &sim_blob_fops,
	.mode		= 0600,
};

/* --- content --- */

/* Address of a position in the buffer, and in @len how much follows there. */
static void *sim_buf_at(struct sim_buf *buf, unsigned long pos,
			unsigned long *len)
{
	unsigned long off = pos & buf->mask;

	*len = min(*len, PAGE_SIZE - offset_in_page(off));
	return buf->pages[off >> PAGE_SHIFT] + offset_in_page(off);
}

/* Both @pos and @len are multiples of the word size. */
static void sim_write_words(struct sim_event *se, unsigned long pos,
			    unsigned long len)
{
	while (len) {
		unsigned long n = len, i;
		__le64 *to = sim_buf_at(se->buf, pos, &n);
		u64 word = pattern_word(se->epoch, se->index);

		for (i = 0; i < n / PATTERN_WORD_SIZE; i++)
			to[i] = cpu_to_le64(word + i);

		se->index += i;
		pos += n;
		len -= n;
	}
}

/* The blob has at least @len bytes left. */
static void sim_write_blob(struct sim_event *se, unsigned long pos,
			   unsigned long len)
{
	while (len) {
		unsigned long n = len;
		void *to = sim_buf_at(se->buf, pos, &n);

		memcpy(to, se->blob->data + se->blob_pos, n);
		se->blob_pos += n;
		pos += n;
		len -= n;
	}
}

static void sim_write_zeroes(struct sim_buf *buf, unsigned long pos,
			     unsigned long len)
{
	while (len) {
		unsigned long n = len;
		void *to = sim_buf_at(buf, pos, &n);

		memset(to, 0, n);
		pos += n;
		len -= n;
	}
}

/* How many bytes can be written in one go; 0: no more, ever. */
static unsigned long sim_available(struct sim_event *se)
{
	if (!se->blob)
		return ULONG_MAX;

	if (se->content == SIM_CONTENT_BLOB_LOOP &&
	    se->blob_pos == se->blob->size)
		se->blob_pos = 0;

	return se->blob->size - se->blob_pos;
}

/* --- sessions --- */

/* Trace is missing from here on. */
static void sim_lose(struct sim_event *se)
{
	se->epoch = (se->epoch + 1) & PATTERN_EPOCH_MASK;
}

/* Note that the driver stops the event by itself. */
static void sim_halt(struct sim_event *se)
{
	se->event->hw.state |= PERF_HES_STOPPED;
	sim_lose(se);
	this_cpu_inc(sim_stats.stops);
}

/* Has the hardware been reset since the session began? It writes no more. */
static bool sim_was_reset(struct sim_event *se)
{
	return se->reset && se->resets != this_cpu_read(sim_resets);
}

/* Advance the head over zeroes. */
static void sim_skip(struct sim_event *se, unsigned long pad)
{
	struct perf_output_handle *handle = &se->handle;

	if (!pad)
		return;

	sim_write_zeroes(se->buf, handle->head, pad);
	/* The zeroes must be there before perf moves the head over them. */
	smp_wmb();
	perf_aux_output_skip(handle, pad);
	this_cpu_add(sim_stats.padding, pad);
	this_cpu_add(sim_stats.bytes, pad);
}

/*
 * Advance the head to the next aligned position. As arm_spe_pmu does: fill up
 * with zeroes, as far as there is room; what it then lacks is for the caller to
 * see in the handle.
 */
static void sim_pad(struct sim_event *se)
{
	struct perf_output_handle *handle = &se->handle;
	unsigned long pad = -handle->head & (se->align - 1);

	sim_skip(se, min(pad, round_down(handle->size, se->unit)));
}

/* The same with regions, as pt_buffer_reset_markers() in intel_pt has it. */
static unsigned long sim_region_limit(struct sim_event *se)
{
	struct perf_output_handle *handle = &se->handle;
	unsigned long head = handle->head & se->buf->mask;
	unsigned long stop = round_down(head + handle->size, se->region);
	unsigned long interrupt;

	if (stop <= head)
		return 0;
	interrupt = round_up(head + (handle->wakeup - handle->head), se->region);
	if (interrupt > head && interrupt < stop)
		return interrupt - head;
	se->short_of_room = true;
	return stop - head;
}

/* The same with pages, as __arm_spe_pmu_next_off() in arm_spe_pmu has it. */
static unsigned long sim_page_limit(struct sim_event *se)
{
	struct perf_output_handle *handle = &se->handle;
	unsigned long head = handle->head & se->buf->mask;
	unsigned long tail = (handle->head + handle->size) & se->buf->mask;
	unsigned long wakeup = handle->wakeup & se->buf->mask;
	unsigned long limit = se->buf->mask + 1;

	if (head < tail)
		limit = round_down(tail, PAGE_SIZE);
	if (handle->wakeup - handle->head < handle->size && head <= wakeup)
		limit = min(limit, round_up(wakeup, PAGE_SIZE));
	if (handle->size && limit > head)
		return limit - head;
	sim_skip(se, handle->size);
	return 0;
}

/* Where a session has to end that begins now; 0: it makes no sense. */
static unsigned long sim_limit(struct sim_event *se)
{
	struct perf_output_handle *handle = &se->handle;
	unsigned long limit, wakeup;

	se->short_of_room = false;
	if (se->region)
		return sim_region_limit(se);
	if (se->pages)
		return sim_page_limit(se);

	if (handle->size <= se->margin)
		return 0;

	limit = round_down(handle->size - se->margin, se->unit);

	/* The distance is modular: perf's positions are free to wrap. */
	wakeup = handle->wakeup - handle->head;
	if (wakeup && wakeup < limit)
		limit = round_up(wakeup, se->unit);

	return limit;
}

/*
 * False if the driver stopped the event for lack of room. @again: after another
 * session.
 */
static bool sim_session_begin(struct sim_event *se, bool again)
{
	se->buf = perf_aux_output_begin(&se->handle, se->event);
	if (!se->buf) {
		/* Without a buffer there is nothing to trace, nor to lose. */
		if (!se->event->rb) {
			se->event->hw.state |= PERF_HES_STOPPED;
			return false;
		}
		goto halt;
	}

	sim_pad(se);
	se->written = 0;
	se->resets = this_cpu_read(sim_resets);
	se->limit = sim_limit(se);
	if (se->limit)
		return true;

	se->buf = NULL;
	perf_aux_output_flag(&se->handle, PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&se->handle, 0);
	if (se->region && again) {
		sim_lose(se);
		this_cpu_inc(sim_stats.stops);
		return false;
	}
halt:
	sim_halt(se);
	return false;
}

/* Is it the turn of a session which each @each of them has; 0: none? */
static bool sim_turn(struct sim_event *se, unsigned int each)
{
	return each && !(se->published % each);
}

/* False if the driver stopped the event, pretending a loss. */
static bool sim_session_end(struct sim_event *se)
{
	unsigned long size = se->written;
	bool lost = false;

	if (sim_was_reset(se))
		size = -(se->handle.head & se->buf->mask) - se->buf->mask - 1;
	if (se->written) {
		se->published++;
		lost = sim_turn(se, se->truncate);
		if (sim_turn(se, se->partial)) {
			perf_aux_output_flag(&se->handle, PERF_AUX_FLAG_PARTIAL);
			this_cpu_inc(sim_stats.partials);
		}
		if (sim_turn(se, se->collision)) {
			perf_aux_output_flag(&se->handle, PERF_AUX_FLAG_COLLISION);
			this_cpu_inc(sim_stats.collisions);
		}

		this_cpu_inc(sim_stats.sessions);
		this_cpu_add(sim_stats.bytes, se->written);
	}

	if (lost) {
		perf_aux_output_flag(&se->handle, PERF_AUX_FLAG_TRUNCATED);
		this_cpu_inc(sim_stats.truncated);
	} else if (se->short_of_room && se->written == se->limit) {
		/* intel_pt reports that, and tries to go on. */
		perf_aux_output_flag(&se->handle, PERF_AUX_FLAG_TRUNCATED);
		sim_lose(se);
	}

	se->buf = NULL;
	/* The trace must be there before perf moves the head over it. */
	smp_wmb();
	perf_aux_output_end(&se->handle, size);

	if (lost)
		sim_halt(se);

	return !lost;
}

/*
 * Write @todo bytes, in as many sessions as that takes. False if there's
 * nothing more to do for the timer: stopped, or the blob is through (its last
 * session stays open then, until perf stops the event).
 */
static bool sim_produce(struct sim_event *se, unsigned long todo)
{
	while (todo) {
		unsigned long pos = se->handle.head + se->written;
		unsigned long n = sim_available(se);

		if (!n || sim_was_reset(se))
			return false;

		n = min3(n, todo, se->limit - se->written);
		if (se->blob)
			sim_write_blob(se, pos, n);
		else
			sim_write_words(se, pos, n);

		se->written += n;
		todo -= n;

		if (se->written == se->limit &&
		    (!sim_session_end(se) || !sim_session_begin(se, true)))
			return false;
	}

	return true;
}

/*
 * Hard interrupt context. Ticks that were missed are made up for, but only so
 * far: the interrupt has to stay short. It also must not eat up the CPU where
 * the rate is more than the machine can do: it leaves it to others for some
 * times as long as it took itself.
 */
static enum hrtimer_restart sim_tick(struct hrtimer *timer)
{
	struct sim_event *se = container_of(timer, struct sim_event, timer);
	ktime_t begin, end, rest;
	u64 ticks;

	begin = ktime_get();
	ticks = min_t(u64, hrtimer_forward_now(timer, se->tick), SIM_TICKS_MAX);
	if (!sim_produce(se, min_t(u64, ticks * se->chunk, SIM_BYTES_MAX)))
		return HRTIMER_NORESTART;

	end = ktime_get();
	rest = ktime_add_ns(end, SIM_REST_FACTOR * ktime_to_ns(end - begin));
	if (ktime_before(hrtimer_get_expires(timer), rest))
		hrtimer_set_expires(timer, rest);

	return HRTIMER_RESTART;
}

/* --- the PMU --- */

static int sim_parse_config(struct perf_event *event, struct sim_event *se)
{
	u64 config = event->attr.config;
	u64 config1 = event->attr.config1;
	u64 config2 = event->attr.config2;
	u64 rate = FIELD_GET(SIM_CONFIG_RATE, config) ?: SIM_RATE_DEFAULT;
	u64 tick;

	if (config & SIM_CONFIG_RESERVED || config2 & SIM_CONFIG2_RESERVED)
		return -EINVAL;

	se->content = FIELD_GET(SIM_CONFIG_CONTENT, config);
	if (se->content > SIM_CONTENT_BLOB_LOOP)
		return -EINVAL;
	se->unit = se->content == SIM_CONTENT_COUNTER ? PATTERN_WORD_SIZE : 1;

	se->chunk = FIELD_GET(SIM_CONFIG_CHUNK, config);
	if (!IS_ALIGNED(se->chunk, 8) || se->chunk > SIM_BYTES_MAX)
		return -EINVAL;
	if (!se->chunk) {
		u64 per_msec = div_u64(rate, MSEC_PER_SEC);

		se->chunk = clamp_t(u64, round_down(per_msec, 8), 8,
				    SIM_BYTES_MAX);
	}

	tick = div64_u64((u64)se->chunk * NSEC_PER_SEC, rate);
	if (tick < SIM_TICK_MIN_NS)
		return -EINVAL;
	se->tick = ns_to_ktime(tick);

	se->align = FIELD_GET(SIM_CONFIG1_ALIGN, config1);
	if (!se->align)
		se->align = se->unit;
	else if (se->align < 8 || se->align > SIM_ALIGN_MAX ||
		 !is_power_of_2(se->align))
		return -EINVAL;

	se->truncate = FIELD_GET(SIM_CONFIG1_TRUNCATE, config1);
	se->partial = FIELD_GET(SIM_CONFIG1_PARTIAL, config1);
	se->collision = FIELD_GET(SIM_CONFIG1_COLLISION, config1);
	se->margin = FIELD_GET(SIM_CONFIG1_MARGIN, config1) ?:
		     SIM_MARGIN_DEFAULT;

	se->region = FIELD_GET(SIM_CONFIG2_REGION, config2) << PAGE_SHIFT;
	se->pages = FIELD_GET(SIM_CONFIG2_PAGES, config2);
	se->reset = FIELD_GET(SIM_CONFIG2_RESET, config2);
	if (se->region && (!is_power_of_2(se->region) || se->pages))
		return -EINVAL;
	return 0;
}

static void sim_timer_setup(struct hrtimer *timer)
{
#ifdef SIM_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, sim_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = sim_tick;
#endif
}

static void sim_event_destroy(struct perf_event *event)
{
	struct sim_event *se = event->pmu_private;

	if (se->blob)
		sim_blob_unpin(se->blob);
	kfree(se);
}

static int sim_event_init(struct perf_event *event)
{
	struct sim_event *se;
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;

	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	/* A frequency of samples means nothing here. */
	if (event->attr.freq)
		return -EINVAL;

	se = kzalloc(sizeof(*se), GFP_KERNEL);
	if (!se)
		return -ENOMEM;

	ret = sim_parse_config(event, se);
	if (ret)
		goto err_free;

	if (se->content != SIM_CONTENT_COUNTER) {
		se->blob = sim_blob_pin();
		if (!se->blob) {
			ret = -EINVAL;
			goto err_free;
		}
	}

	sim_timer_setup(&se->timer);
	se->index = PATTERN_INDEX_FIRST;
	se->event = event;
	event->pmu_private = se;
	event->destroy = sim_event_destroy;
	return 0;

err_free:
	kfree(se);
	return ret;
}

static void sim_event_start(struct perf_event *event, int flags)
{
	struct sim_event *se = event->pmu_private;

	if (WARN_ON_ONCE(!(event->hw.state & PERF_HES_STOPPED)))
		return;

	event->hw.state = 0;
	if (sim_session_begin(se, false))
		hrtimer_start(&se->timer, se->tick,
			      HRTIMER_MODE_REL_PINNED_HARD);
}

static void sim_event_stop(struct perf_event *event, int flags)
{
	struct sim_event *se = event->pmu_private;

	if (event->hw.state & PERF_HES_STOPPED)
		return;

	/*
	 * This doesn't wait: the timer is pinned to this CPU, where interrupts
	 * are off, so that its function can't be running.
	 */
	hrtimer_cancel(&se->timer);
	if (se->buf)
		sim_session_end(se);

	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int sim_event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;

	if (flags & PERF_EF_START) {
		sim_event_start(event, PERF_EF_RELOAD);
		if (event->hw.state & PERF_HES_STOPPED)
			return -EINVAL;
	}

	return 0;
}

static void sim_event_del(struct perf_event *event, int flags)
{
	sim_event_stop(event, PERF_EF_UPDATE);
}

static void sim_event_read(struct perf_event *event)
{
}

/*
 * Snapshot (overwrite) mode is refused: there, a writer goes on over data that
 * nobody has read, so that neither a stop nor the pattern's continuity, which
 * is what this PMU is for, would mean anything.
 */
static void *sim_setup_aux(struct perf_event *event, void **pages,
			   int nr_pages, bool snapshot)
{
	struct sim_buf *buf;

	if (snapshot || nr_pages < 1 || !is_power_of_2(nr_pages))
		return NULL;

	buf = kzalloc(sizeof(*buf), GFP_KERNEL);
	if (!buf)
		return NULL;

	buf->pages = pages;
	buf->mask = ((unsigned long)nr_pages << PAGE_SHIFT) - 1;
	return buf;
}

static void sim_free_aux(void *aux)
{
	kfree(aux);
}

PMU_FORMAT_ATTR(rate,		"config:0-31");
PMU_FORMAT_ATTR(chunk,		"config:32-55");
PMU_FORMAT_ATTR(content,	"config:56-57");
PMU_FORMAT_ATTR(align,		"config1:0-15");
PMU_FORMAT_ATTR(truncate,	"config1:16-31");
PMU_FORMAT_ATTR(margin,		"config1:32-47");
PMU_FORMAT_ATTR(partial,	"config1:48-55");
PMU_FORMAT_ATTR(collision,	"config1:56-63");
PMU_FORMAT_ATTR(region,		"config2:0-15");
PMU_FORMAT_ATTR(pages,		"config2:16");
PMU_FORMAT_ATTR(reset,		"config2:17");

static struct attribute *sim_format_attrs[] = {
	&format_attr_rate.attr,
	&format_attr_chunk.attr,
	&format_attr_content.attr,
	&format_attr_align.attr,
	&format_attr_truncate.attr,
	&format_attr_margin.attr,
	&format_attr_partial.attr,
	&format_attr_collision.attr,
	&format_attr_region.attr,
	&format_attr_pages.attr,
	&format_attr_reset.attr,
	NULL
};

static const struct attribute_group sim_format_group = {
	.name	= "format",
	.attrs	= sim_format_attrs,
};

/* The sum of a member over the CPUs; @offset is its place in the struct. */
static ssize_t sim_stats_show(char *page, size_t offset)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		void *stats = per_cpu_ptr(&sim_stats, cpu);

		sum += READ_ONCE(*(unsigned long *)(stats + offset));
	}

	return sysfs_emit(page, "%lu\n", sum);
}

static ssize_t stops_show(struct device *dev, struct device_attribute *attr,
			  char *page)
{
	return sim_stats_show(page, offsetof(struct sim_stats, stops));
}
static DEVICE_ATTR_RO(stops);

static ssize_t bytes_show(struct device *dev, struct device_attribute *attr,
			  char *page)
{
	return sim_stats_show(page, offsetof(struct sim_stats, bytes));
}
static DEVICE_ATTR_RO(bytes);

static ssize_t sessions_show(struct device *dev, struct device_attribute *attr,
			     char *page)
{
	return sim_stats_show(page, offsetof(struct sim_stats, sessions));
}
static DEVICE_ATTR_RO(sessions);

static ssize_t truncated_show(struct device *dev, struct device_attribute *attr,
			      char *page)
{
	return sim_stats_show(page, offsetof(struct sim_stats, truncated));
}
static DEVICE_ATTR_RO(truncated);

static ssize_t partials_show(struct device *dev, struct device_attribute *attr,
			     char *page)
{
	return sim_stats_show(page, offsetof(struct sim_stats, partials));
}
static DEVICE_ATTR_RO(partials);

static ssize_t collisions_show(struct device *dev, struct device_attribute *attr,
			       char *page)
{
	return sim_stats_show(page, offsetof(struct sim_stats, collisions));
}
static DEVICE_ATTR_RO(collisions);

static ssize_t padding_show(struct device *dev, struct device_attribute *attr,
			    char *page)
{
	return sim_stats_show(page, offsetof(struct sim_stats, padding));
}
static DEVICE_ATTR_RO(padding);

/* As many lines as a page holds, one for each CPU where it isn't 0. */
static ssize_t sim_stats_show_per_cpu(char *page, size_t offset)
{
	int cpu, len = 0;

	for_each_possible_cpu(cpu) {
		void *stats = per_cpu_ptr(&sim_stats, cpu);
		unsigned long n = READ_ONCE(*(unsigned long *)(stats + offset));

		if (n && len < PAGE_SIZE)
			len += sysfs_emit_at(page, len, "%d %lu\n", cpu, n);
	}

	return len;
}

static ssize_t stops_per_cpu_show(struct device *dev,
				  struct device_attribute *attr, char *page)
{
	return sim_stats_show_per_cpu(page, offsetof(struct sim_stats, stops));
}
static DEVICE_ATTR_RO(stops_per_cpu);

static ssize_t bytes_per_cpu_show(struct device *dev,
				  struct device_attribute *attr, char *page)
{
	return sim_stats_show_per_cpu(page, offsetof(struct sim_stats, bytes));
}
static DEVICE_ATTR_RO(bytes_per_cpu);

/* What hotplug does with "reset" set, at any time: the number of a CPU. */
static ssize_t reset_cpu_store(struct device *dev, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	unsigned int cpu;
	int ret = kstrtouint(buf, 0, &cpu);

	if (!ret && (cpu >= nr_cpu_ids || !cpu_possible(cpu)))
		ret = -EINVAL;
	if (!ret)
		ret = smp_call_function_single(cpu, sim_reset, NULL, true);
	return ret ?: count;
}
static DEVICE_ATTR_WO(reset_cpu);

static struct attribute *sim_stats_attrs[] = {
	&dev_attr_stops.attr,
	&dev_attr_stops_per_cpu.attr,
	&dev_attr_bytes.attr,
	&dev_attr_bytes_per_cpu.attr,
	&dev_attr_sessions.attr,
	&dev_attr_truncated.attr,
	&dev_attr_partials.attr,
	&dev_attr_collisions.attr,
	&dev_attr_padding.attr,
	NULL
};

static struct attribute *sim_control_attrs[] = {
	&dev_attr_reset_cpu.attr,
	NULL
};

static const struct attribute_group sim_control_group = {
	.attrs	= sim_control_attrs,
};

static const struct attribute_group sim_stats_group = {
	.name	= "stats",
	.attrs	= sim_stats_attrs,
};

static const struct attribute_group *sim_attr_groups[] = {
	&sim_format_group,
	&sim_stats_group,
	&sim_control_group,
	NULL
};

static struct pmu sim_pmu = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_ITRACE,
	.attr_groups	= sim_attr_groups,
	/* As arm_spe_pmu: this context serves CPU-wide and per-task events. */
	.task_ctx_nr	= perf_sw_context,
	.event_init	= sim_event_init,
	.add		= sim_event_add,
	.del		= sim_event_del,
	.start		= sim_event_start,
	.stop		= sim_event_stop,
	.read		= sim_event_read,
	.setup_aux	= sim_setup_aux,
	.free_aux	= sim_free_aux,
};

static enum cpuhp_state sim_hotplug_state;

/* On the CPU, which goes offline. */
static int sim_leave_cpu(unsigned int cpu)
{
	sim_reset(NULL);
	return 0;
}

static int __init sim_init(void)
{
	int ret;

	if (exclusive)
		sim_pmu.capabilities |= PERF_PMU_CAP_EXCLUSIVE;

	ret = misc_register(&sim_blob_dev);
	if (ret)
		return ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/auxtrace_sim:online",
					NULL, sim_leave_cpu);
	if (ret < 0)
		goto deregister;
	sim_hotplug_state = ret;

	ret = perf_pmu_register(&sim_pmu, name, -1);
	if (ret)
		goto remove_state;

	pr_info("PMU %s registered\n", name);
	return 0;

remove_state:
	cpuhp_remove_state_nocalls(sim_hotplug_state);
deregister:
	misc_deregister(&sim_blob_dev);
	return ret;
}
module_init(sim_init);

static void __exit sim_exit(void)
{
	perf_pmu_unregister(&sim_pmu);
	cpuhp_remove_state_nocalls(sim_hotplug_state);
	misc_deregister(&sim_blob_dev);
	sim_blob_put(sim_blob_loaded);
}
module_exit(sim_exit);

MODULE_DESCRIPTION("Simulated trace PMU for tests of AUX buffer consumers");
MODULE_AUTHOR("auxtrace developers");
MODULE_LICENSE("GPL");
