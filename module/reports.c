// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the PMU's driver reports with its trace (PERF_AUX_FLAG_*): takes it out of
 * the counter, counts it, and keeps it for the windows that it is about. What it
 * means for the event is upkeep.c's business.
 *
 * Owns the marks of a stream, guarded by the stream's lock (stream_internal.h).
 *
 * The perf core reports on whole pieces of trace, between two moves of the head.
 * Windows end at a head, too, or at a gap, where a piece ends as well: so the
 * first window that reaches a piece's end has all of it, or all that was left.
 */
#include <linux/perf_event.h>

#include "consumer/consumer.h"
#include "stream_internal.h"

/**
 * auxtrace_driver_flags() - a driver's flags as windows have them
 * @flags:	PERF_AUX_FLAG_*
 *
 * Return: AUXTRACE_WINDOW_*
 */
u32 auxtrace_driver_flags(u64 flags)
{
	return (flags & PERF_AUX_FLAG_TRUNCATED ? AUXTRACE_WINDOW_TRUNCATED : 0) |
	       (flags & PERF_AUX_FLAG_PARTIAL ? AUXTRACE_WINDOW_PARTIAL : 0) |
	       (flags & PERF_AUX_FLAG_COLLISION ? AUXTRACE_WINDOW_COLLISION : 0);
}

static struct auxtrace_mark *nth_mark(struct auxtrace_stream *s, unsigned int n)
{
	return &s->marks[(s->first_mark + n) % AUXTRACE_MAX_MARKS];
}

/* Where there is no room, a flag gets to a window too early rather than to none. */
static void push_mark(struct auxtrace_stream *s, unsigned long at, u32 flags)
{
	struct auxtrace_mark *last = nth_mark(s, s->nr_marks - 1);

	if (s->nr_marks && (last->at == at || s->nr_marks == AUXTRACE_MAX_MARKS))
		last->flags |= flags;
	else
		*nth_mark(s, s->nr_marks++) = (struct auxtrace_mark) { at, flags };
}

/**
 * auxtrace_take_marks() - what the driver has reported up to here
 * @s:		the stream, its lock held
 * @end:	offset behind the trace that is being delivered
 *
 * Return: AUXTRACE_WINDOW_* of what was not taken before.
 */
u32 auxtrace_take_marks(struct auxtrace_stream *s, unsigned long end)
{
	u32 flags = 0;

	while (s->nr_marks && (long)(end - nth_mark(s, 0)->at) >= 0) {
		flags |= nth_mark(s, 0)->flags;
		s->first_mark = (s->first_mark + 1) % AUXTRACE_MAX_MARKS;
		s->nr_marks--;
	}
	return flags;
}

/**
 * auxtrace_cut_marks() - nothing behind the tail is left: what was reported on it is
 *	for the next window
 * @s:		the stream, its lock held
 */
void auxtrace_cut_marks(struct auxtrace_stream *s)
{
	unsigned int n;

	for (n = 0; n < s->nr_marks; n++)
		nth_mark(s, n)->at = s->tail;
}

/* The next report up to the head, or of @all. Of those that were lost there is the number. */
static bool take_report(struct auxtrace_stream *s, bool all, unsigned long *at, u32 *flags)
{
	unsigned long head = auxtrace_counter_head(&s->counter);
	struct auxtrace_report report;

	auxtrace_count(&s->stats->reports_lost, auxtrace_counter_reports_lost(&s->counter));
	if (!auxtrace_counter_next_report(&s->counter, all ? NULL : &head, &report))
		return false;

	*at = s->base + report.end;
	*flags = auxtrace_driver_flags(report.flags);
	push_mark(s, *at, *flags);
	auxtrace_count(&s->stats->truncated, !!(*flags & AUXTRACE_WINDOW_TRUNCATED));
	auxtrace_count(&s->stats->partial, !!(*flags & AUXTRACE_WINDOW_PARTIAL));
	auxtrace_count(&s->stats->collision, !!(*flags & AUXTRACE_WINDOW_COLLISION));
	return true;
}

/**
 * auxtrace_next_report() - take out, count and keep what the driver has reported
 * @s:		the stream, its lock held
 * @at:		out: offset of the end of the piece that the report is about
 * @flags:	out: AUXTRACE_WINDOW_*
 *
 * Return: false if there is no report of what is published.
 */
bool auxtrace_next_report(struct auxtrace_stream *s, unsigned long *at, u32 *flags)
{
	return take_report(s, false, at, flags);
}

/**
 * auxtrace_last_reports() - the same with all that there are, wherever the head is
 * @s:		the stream, its lock held, and so its event
 */
void auxtrace_last_reports(struct auxtrace_stream *s)
{
	unsigned long at;
	u32 flags;

	while (take_report(s, true, &at, &flags))
		;
}
