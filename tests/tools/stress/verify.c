// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress: what is in the bytes that a reader gets
 *
 * Owns what windows must say of the pattern in them, where the pattern may break,
 * and what STATUS must say to a stream's only reader.
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "session.h"

#define DRIVER_FLAGS                                                                               \
	(AUXTRACE_WINDOW_TRUNCATED | AUXTRACE_WINDOW_PARTIAL | AUXTRACE_WINDOW_COLLISION)

static void on_break(struct checker *c, bool restart)
{
	struct session *s = c->private;
	const char *what = restart ? "the pattern begins anew" : "the epoch rises";

	s->broken = true;
	count(restart ? COUNT_RESTARTS : COUNT_BREAKS, 1);
	if (!s->framed) {
		if (s->aligned_start < c->run)
			fail("a read crossed a gap: %s behind offset %" PRIu64
			     ", but the read began at %" PRIu64,
			     what, c->run, s->aligned_start);
		return;
	}
	if (!(s->flags & AUXTRACE_WINDOW_GAP))
		fail("%s behind offset %" PRIu64 ", but window %" PRIu64 " says no gap", what,
		     c->run, s->frames.windows - 1);
	if (!restart != !(s->flags & AUXTRACE_WINDOW_HOTPLUG))
		fail("%s behind offset %" PRIu64 ", but windows up to %" PRIu64 " say %#x", what,
		     c->run, s->frames.windows - 1, s->flags);
	s->must_break = false;
}

static const char *on_payload(struct frames *f, const char *data, size_t n)
{
	struct session *s = f->private;
	uint64_t words = s->checker.words;

	if (!checker_feed(&s->checker, data, n))
		return "wrong payload";
	if (s->must_break && s->checker.words > s->words_then) {
		/* The second of two gaps where a stop showed late: see check_status(). */
		if (s->flags & AUXTRACE_WINDOW_HOTPLUG || ++s->unshown > s->checker.gaps)
			return "it or one before said that trace is missing, but none is";
		s->must_break = false;
	}
	if (s->checker.words > words)
		s->flags = 0;
	return NULL;
}

/*
 * A gap but that of a STOP shows in the pattern, if not in this window then in the
 * next that has more than padding. A gap with neither cause is one of the driver's.
 */
static bool shows_in_pattern(const struct session *s, uint32_t flags)
{
	if (!(flags & AUXTRACE_WINDOW_GAP) || s->checker.index == PATTERN_INDEX_FIRST)
		return false;
	return flags & (AUXTRACE_WINDOW_FULL | AUXTRACE_WINDOW_HOTPLUG) ||
	       !(flags & AUXTRACE_WINDOW_STOPPED);
}

static const char *on_window(struct frames *f)
{
	const struct auxtrace_window *h = &f->header;
	struct session *s = f->private;
	struct device *d = s->device;

	if (h->cpu != (uint32_t)d->cpu)
		return "another CPU's";
	if (h->size > s->info.buffer_size)
		return "larger than the buffer";
	if (h->offset != checker_offset(&s->checker))
		return "offset is not what was delivered";
	if (h->flags & AUXTRACE_WINDOW_LAST && !atomic_load(&d->stops))
		return "LAST without a STOP";
	if (h->flags & AUXTRACE_WINDOW_STOPPED && !atomic_load(&d->starts))
		return "STOPPED without a START";
	if (h->flags & AUXTRACE_WINDOW_HOTPLUG && atomic_load(&d->offlines) == s->since.gone)
		return "HOTPLUG, but the CPU never went";
	if (!h->size && !(h->flags & AUXTRACE_WINDOW_LAST))
		return "empty, but not LAST";
	if (s->last && !(h->flags & AUXTRACE_WINDOW_STOPPED))
		return "not STOPPED, although the one before was LAST";
	s->last = h->flags & AUXTRACE_WINDOW_LAST;
	/* These are over when there is something behind. Others can be seen too late. */
	if (h->flags & (AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED) && h->size &&
	    !h->gap_time)
		return "a gap that took no time";
	if (h->flags & ~s->info.driver_flags & DRIVER_FLAGS)
		return "a driver's flag that the kernel does not let us know";
	if ((h->flags & AUXTRACE_WINDOW_PARTIAL && !SIM_PARTIAL(s->info.config1)) ||
	    (h->flags & AUXTRACE_WINDOW_COLLISION && !SIM_COLLISION(s->info.config1)))
		return "a driver's flag that the simulator never has";
	s->flags |= h->flags;
	if (shows_in_pattern(s, h->flags)) {
		s->must_break = true;
		s->words_then = s->checker.words;
	}
	return NULL;
}

uint64_t delivered(const struct session *s)
{
	return checker_offset(&s->checker);
}

void look_at_status(struct session *s)
{
	struct device *d = s->device;
	struct auxtrace_status st = check_status(d, s->fd, &s->since, &s->status);

	s->status = st;
	if (st.bytes != delivered(s))
		fail("STATUS: %llu bytes delivered, but it were %" PRIu64, st.bytes, delivered(s));
	if (st.windows != s->frames.windows)
		fail("STATUS: %llu windows delivered, but it were %" PRIu64, st.windows,
		     s->frames.windows);
	/* A STOP may come right when the driver stops, or make it report a loss. */
	if (st.gaps_full + st.gaps_driver + st.gaps_stopped < s->checker.gaps)
		fail("the epoch rose %" PRIu64
		     " times, but STATUS: %llu gaps full, %llu driver, %llu stopped",
		     s->checker.gaps, st.gaps_full, st.gaps_driver, st.gaps_stopped);
	if (st.gaps_hotplug < s->checker.restarts)
		fail("the pattern began anew %" PRIu64 " times, but STATUS: %llu gaps hotplug",
		     s->checker.restarts, st.gaps_hotplug);
	if ((st.partial && !SIM_PARTIAL(s->info.config1)) ||
	    (st.collision && !SIM_COLLISION(s->info.config1)))
		fail("STATUS: %llu partial, %llu collision, but the simulator has none", st.partial,
		     st.collision);
	s->broken = false;
}

static void check_flag(struct session *s, uint32_t flag, uint64_t reports, const char *name)
{
	uint64_t windows = s->frames.with_flag[ffs((int)flag) - 1];

	if (windows > reports || (reports && !windows && s->info.driver_flags & flag))
		fail("STATUS: %" PRIu64 " reports of %s, but %" PRIu64 " windows say so", reports,
		     name, windows);
}

/* All of a framed stream has been delivered. */
void check_driver_flags(struct session *s)
{
	const struct auxtrace_status *st = &s->status;

	check_flag(s, AUXTRACE_WINDOW_TRUNCATED, st->truncated, "TRUNCATED");
	check_flag(s, AUXTRACE_WINDOW_PARTIAL, st->partial, "PARTIAL");
	check_flag(s, AUXTRACE_WINDOW_COLLISION, st->collision, "COLLISION");
}

void took(struct session *s, const char *data, size_t n)
{
	uint64_t bytes = delivered(s), windows = s->frames.windows;
	const char *wrong;

	s->has_read = true;
	if (bytes % WORD == 0)
		s->aligned_start = bytes;
	if (s->framed) {
		wrong = frames_parse(&s->frames, data, n);
		if (wrong)
			fail("window %" PRIu64 " (flags %#x, offset %llu, size %llu): %s",
			     s->frames.windows, s->frames.header.flags, s->frames.header.offset,
			     s->frames.header.size, wrong);
	} else if (!checker_feed(&s->checker, data, n)) {
		fail("a wrong byte");
	}
	count(COUNT_READS, 1);
	count(COUNT_BYTES, delivered(s) - bytes);
	count(COUNT_WINDOWS, s->frames.windows - windows);
	atomic_fetch_add(&s->device->bytes, delivered(s) - bytes);
	atomic_fetch_add(&s->device->windows, s->frames.windows - windows);
	atomic_store(&s->device->sleeper_has, delivered(s));
	if (s->broken)
		look_at_status(s);
}

bool prepare_verifying(struct session *s)
{
	s->checker.who = self->name;
	s->checker.may_restart = true;
	s->checker.on_break = on_break;
	s->checker.private = s;
	return checker_init(&s->checker, READ_MAX);
}

void begin_verifying(struct session *s)
{
	memset(&s->status, 0, sizeof(s->status));
	s->broken = s->must_break = s->last = false;
	s->flags = 0;
	s->unshown = 0;
	s->aligned_start = 0;
	checker_restart(&s->checker);
	/* Aligned sessions have zeroes between them. */
	s->checker.padding = SIM_ALIGN(s->info.config1);
	s->framed = s->info.format == AUXTRACE_FORMAT_FRAMED;
	s->frames = (struct frames){
		.on_window = on_window,
		.on_payload = on_payload,
		.private = s,
	};
}
