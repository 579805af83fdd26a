// SPDX-License-Identifier: GPL-2.0-only
/*
 * The framed format: cuts the stream into windows, each with a header that says
 * where it belongs and what is missing before it.
 *
 * Owns the framer of a stream, guarded by the stream's lock. The payload of a
 * window that is under way stays in the AUX buffer until it is delivered: the
 * tail does not pass it, and a counter is not replaced before it is read.
 */
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "stream_internal.h"
#include "trace.h"

/* The UAPI's types do not say that they are little endian. */
#define le16(x)	((__force __u16)cpu_to_le16(x))
#define le32(x)	((__force __u32)cpu_to_le32(x))
#define le64(x)	((__force __u64)cpu_to_le64(x))

/* Is there a rest of a window to deliver? Needs no lock. */
bool auxtrace_window_under_way(struct auxtrace_stream *s)
{
	struct auxtrace_framer *f = &s->framer;

	return READ_ONCE(f->header_left) || READ_ONCE(f->payload_left) ||
	       READ_ONCE(f->pad_left);
}

/* Is a header to be delivered that tells of a gap? Needs no lock. */
bool auxtrace_window_tells_gap(struct auxtrace_stream *s)
{
	struct auxtrace_framer *f = &s->framer;

	return READ_ONCE(f->header_left) &&
	       READ_ONCE(f->header.flags) & le32(AUXTRACE_WINDOW_GAP);
}

/*
 * Takes the gaps before the window off the queue, as flags; adds up how long they
 * lasted. What comes while the header is under way is the next window's.
 */
static u32 pop_gaps(struct auxtrace_stream *s, unsigned int gaps_here, u64 *ns)
{
	u32 flags = 0;

	while (gaps_here--) {
		struct auxtrace_gap *gap = auxtrace_nth_gap(s, 0);

		flags |= AUXTRACE_WINDOW_GAP | gap->causes;
		*ns += gap->ns;
		auxtrace_pop_gap(s);
	}
	return flags;
}

/*
 * Begins a window with what can be read, if there is anything to say. A gap
 * right before it may be crossed only at the beginning of a read (@first).
 */
static bool begin(struct auxtrace_stream *s, bool first)
{
	struct auxtrace_framer *f = &s->framer;
	unsigned int gaps_here;
	unsigned long size = auxtrace_readable(s, &gaps_here);
	u64 gap_time = 0;
	u32 flags;
	bool last;

	if (gaps_here && !first)
		return false;
	last = s->ended && s->tail + size == auxtrace_head(s);
	if (!size && (!last || s->last_given))
		return false;

	flags = pop_gaps(s, gaps_here, &gap_time) | auxtrace_take_marks(s, s->tail + size);
	if (size && s->tail + size == s->flushed_to)
		flags |= AUXTRACE_WINDOW_FLUSH;
	if (last)
		flags |= AUXTRACE_WINDOW_LAST;

	f->header = (struct auxtrace_window) {
		.magic = le32(AUXTRACE_WINDOW_MAGIC),
		.header_size = le16(sizeof(f->header)),
		.version = le16(AUXTRACE_WINDOW_VERSION),
		.flags = le32(flags),
		.cpu = le32(s->cpu),
		.seq = le64(f->seq++),
		.offset = le64(s->tail),
		.size = le64(size),
		.time = le64(auxtrace_counter_clock(&s->counter)),
		.gap_time = le64(gap_time),
	};
	trace_window(s->cpu, s->tail, size, flags);
	f->last = last;
	WRITE_ONCE(f->header_left, sizeof(f->header));
	WRITE_ONCE(f->payload_left, size);
	WRITE_ONCE(f->pad_left, -size % AUXTRACE_WINDOW_ALIGN);
	return true;
}

/**
 * auxtrace_window_take() - fill the bounce buffer with what comes next
 * @s:		the stream, both locks held
 * @want:	bytes at most
 * @first:	nothing has been delivered by this read yet
 *
 * Return: bytes, of one piece of a window (header, payload, or padding); 0 if
 * there is nothing; or what auxtrace_take_payload() said.
 */
long auxtrace_window_take(struct auxtrace_stream *s, size_t want, bool first)
{
	struct auxtrace_framer *f = &s->framer;
	unsigned int n;

	if (!auxtrace_window_under_way(s) && !begin(s, first))
		return 0;

	if (f->header_left) {
		n = min_t(size_t, f->header_left, want);
		memcpy(s->bounce,
		       (char *)&f->header + sizeof(f->header) - f->header_left, n);
		return n;
	}
	if (f->payload_left)
		return auxtrace_take_payload(s, min_t(size_t, f->payload_left, want));

	n = min_t(size_t, f->pad_left, want);
	memset(s->bounce, 0, n);
	return n;
}

/**
 * auxtrace_window_cut() - the rest of the window's payload is lost
 * @s:		the stream, both locks held
 *
 * Its size has been promised: zeroes take its place.
 */
void auxtrace_window_cut(struct auxtrace_stream *s)
{
	struct auxtrace_framer *f = &s->framer;

	WRITE_ONCE(s->tail, s->tail + f->payload_left);
	WRITE_ONCE(f->pad_left, f->pad_left + f->payload_left);
	WRITE_ONCE(f->payload_left, 0);
}

/**
 * auxtrace_window_give() - what auxtrace_window_take() took has been delivered
 * @s:		the stream, both locks held
 * @n:		bytes, not more than were taken
 */
void auxtrace_window_give(struct auxtrace_stream *s, unsigned long n)
{
	struct auxtrace_framer *f = &s->framer;

	if (f->header_left) {
		WRITE_ONCE(f->header_left, f->header_left - n);
		if (f->header_left)
			return;
		if (f->last)
			WRITE_ONCE(s->last_given, true);
		auxtrace_count(&s->stats->windows, 1);
	} else if (f->payload_left) {
		WRITE_ONCE(f->payload_left, f->payload_left - n);
		auxtrace_give_payload(s, n);
	} else {
		WRITE_ONCE(f->pad_left, f->pad_left - n);
	}
}
