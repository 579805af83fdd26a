// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace record: from the devices into the files, until the end.
 *
 * Owns the loop.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "units.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S  (1000 * NS_PER_MS)

/* How often progress is shown; when to look again at an event that cannot run. */
#define PROGRESS_NS (500 * NS_PER_MS)
#define RETRY_NS    (500 * NS_PER_MS)

/* Bytes of one CPU's windows before the others have their turn. */
#define TURN (4 << 20)

uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* ---- The end -------------------------------------------------------------------------- */

static bool is_full(const struct recording *r)
{
	return r->max_size && r->bytes >= r->max_size;
}

static bool is_over(const struct recording *r, uint64_t now)
{
	return is_full(r) || (r->max_time && now - r->started >= r->max_time) || r->write_error;
}

/* Stops all; what they have published is still to be read. */
static void stop(struct recording *r)
{
	size_t i;

	if (r->stopped)
		return;
	for (i = 0; i < r->n; i++) {
		auxtrace_device_stop(r->traced[i].device);
		r->traced[i].retry_at = 0;
	}
	r->stopped = monotonic_ns();
	if (r->child)
		kill(r->child, SIGTERM);
}

/* ---- Windows ---------------------------------------------------------------------------- */

static void count(struct recording *r, const struct auxtrace_item *item)
{
	r->bytes += item->size;
	if (!item->last)
		return;
	r->windows++;
	r->gaps += !!(item->window->flags & AUXTRACE_WINDOW_GAP);
}

static void write_item(struct recording *r, struct traced *t, const struct auxtrace_item *item)
{
	note_write(r, auxtrace_writer_item(t->writer, item));
	if (item->kind == AUXTRACE_ITEM_WINDOW)
		count(r, item);
	if (item->kind == AUXTRACE_ITEM_DAMAGE)
		warn("CPU %u: the device's stream is damaged: %s (%llu bytes)", t->cpu,
		     auxtrace_damage_text(item->damage), (unsigned long long)item->lost_bytes);
}

/* The rest of a window is there already: nothing else may come between in the file. */
static int next_of_window(struct traced *t, const struct auxtrace_item **item)
{
	struct pollfd p = { .fd = auxtrace_device_fd(t->device), .events = POLLIN };
	int ret;

	while ((ret = auxtrace_reader_next(t->reader, item)) == -EAGAIN)
		poll(&p, 1, -1);
	return ret;
}

static bool is_turn_over(const struct recording *r, uint64_t end)
{
	return r->bytes >= end || r->write_error || (is_full(r) && !r->stopped);
}

/*
 * Takes what the device has, for one turn. Returns 1 if there may be more, 0, or -errno.
 */
static int take(struct recording *r, struct traced *t)
{
	uint64_t end = r->bytes + TURN;
	const struct auxtrace_item *item;
	bool in_window = false;
	int ret;

	while (in_window || !is_turn_over(r, end)) {
		ret = in_window ? next_of_window(t, &item) : auxtrace_reader_next(t->reader, &item);
		if (ret == -EAGAIN)
			return 0;
		if (ret <= 0) {
			t->ended = !ret;
			return ret;
		}
		write_item(r, t, item);
		in_window = item->kind == AUXTRACE_ITEM_WINDOW && !item->last;
	}
	return 1;
}

/* 1 if there may be more at once, 0, or EXIT_FAILED's line was printed: -1. */
static int serve(struct recording *r, struct traced *t, uint64_t now)
{
	int ret = take(r, t);

	if (ret >= 0)
		return ret;
	if (ret == -EINTR)
		return 1;
	if (ret != -EIO) {
		fail("cannot read /dev/auxtrace%u: %s", t->cpu, strerror(-ret));
		return -1;
	}
	if (!t->failed_before)
		warn("CPU %u: %s; it is tried again", t->cpu, auxtrace_open_error(-EIO));
	t->failed_before = true;
	t->retry_at = now + RETRY_NS;
	return 0;
}

/* ---- Progress ----------------------------------------------------------------------------- */

struct progress {
	bool shown; /* at all */
	uint64_t at;
	uint64_t bytes;
};

static void show_progress(const struct recording *r, struct progress *p, uint64_t now)
{
	char elapsed[UNITS_LEN], bytes[UNITS_LEN], rate[UNITS_LEN];
	double seconds = (double)(now - p->at) / NS_PER_S;

	if (!p->shown || now - p->at < PROGRESS_NS)
		return;
	fprintf(stderr, "\r%s  %s  %s/s  %llu gaps\033[K",
		format_duration(elapsed, now - r->started), format_size(bytes, r->bytes),
		format_size(rate, (r->bytes - p->bytes) / seconds), (unsigned long long)r->gaps);
	p->at = now;
	p->bytes = r->bytes;
}

static void end_progress(const struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void earlier(uint64_t *at, uint64_t other)
{
	if (other && other < *at)
		*at = other;
}

/* How long a poll may wait, in milliseconds. */
static int timeout(const struct recording *r, const struct progress *p, uint64_t now)
{
	uint64_t at = UINT64_MAX, end;
	size_t i;

	if (p->shown)
		earlier(&at, p->at + PROGRESS_NS);
	if (r->max_time && !r->stopped && !__builtin_add_overflow(r->started, r->max_time, &end))
		earlier(&at, end);
	for (i = 0; i < r->n; i++)
		earlier(&at, r->traced[i].retry_at);
	if (at == UINT64_MAX)
		return -1;
	if (at <= now)
		return 0;
	at = (at - now) / NS_PER_MS + 1;
	return at > 60000 ? 60000 : (int)at;
}

static size_t fill_polls(const struct recording *r, struct pollfd *polls, uint64_t now)
{
	size_t left = 0, i;

	polls[r->n] = (struct pollfd){ .fd = signals_fd(), .events = POLLIN };
	for (i = 0; i < r->n; i++) {
		const struct traced *t = &r->traced[i];

		polls[i] = (struct pollfd){ .fd = -1 };
		left += !t->ended;
		if (t->ended || t->retry_at > now)
			continue;
		polls[i].fd = auxtrace_device_fd(t->device);
		polls[i].events = auxtrace_device_poll_events(t->device);
	}
	return left;
}

static int loop(struct recording *r, struct pollfd *polls, struct progress *p)
{
	bool more = false;
	size_t i;

	for (;;) {
		uint64_t now = monotonic_ns();

		show_progress(r, p, now);
		if (is_over(r, now))
			stop(r);
		if (!fill_polls(r, polls, now) || r->write_error)
			return EXIT_OK;
		if (poll(polls, r->n + 1, more ? 0 : timeout(r, p, now)) < 0 && errno != EINTR)
			return fail("cannot wait for trace: %s", strerror(errno));
		if (polls[r->n].revents && has_ended(r, 0))
			stop(r);
		more = false;
		for (i = 0; i < r->n; i++) {
			int ret;

			if (polls[i].fd < 0 || (!polls[i].revents && !r->traced[i].more))
				continue;
			ret = serve(r, &r->traced[i], now);
			if (ret < 0)
				return EXIT_FAILED;
			r->traced[i].more = ret;
			more |= ret;
		}
	}
}

int record(struct recording *r)
{
	struct pollfd *polls = calloc(r->n + 1, sizeof(*polls));
	struct progress progress = {
		.shown = !r->quiet && isatty(STDERR_FILENO),
		.at = r->started,
	};
	size_t i;
	int ret;

	if (!polls)
		return fail("out of memory");
	signals_stop(r);
	ret = loop(r, polls, &progress);
	signals_stop(NULL);
	stop(r);
	end_progress(&progress);
	free(polls);
	for (i = 0; i < r->n; i++)
		auxtrace_device_status(r->traced[i].device, &r->traced[i].status,
				       sizeof(r->traced[i].status));
	return ret;
}
