// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames - take a stream in the framed format apart, as it comes
 *
 * Owns what a header has to be, whatever its window holds.
 */
#include <string.h>

#include "frames.h"

static const char *check_header(const struct frames *f, uint64_t last_time)
{
	const struct auxtrace_window *h = &f->header;
	uint32_t causes = AUXTRACE_WINDOW_FULL | AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED;

	if (h->magic != AUXTRACE_WINDOW_MAGIC || memcmp(&h->magic, "AUXW", 4))
		return "bad magic";
	if (h->header_size != 64 || sizeof(*h) != 64)
		return "bad header size";
	if (h->version != AUXTRACE_WINDOW_VERSION || h->reserved)
		return "bad version, or reserved bytes that are not 0";
	if (h->flags >> FRAMES_FLAG_BITS)
		return "unknown flags";
	if (h->seq != f->windows)
		return "a hole in seq";
	if (h->offset != f->next_offset)
		return "a hole in offset";
	if (h->time < last_time)
		return "time runs backwards";
	if (!(h->flags & AUXTRACE_WINDOW_GAP) && (h->gap_time || h->flags & causes))
		return "a cause or a time without a gap";
	if (h->flags & AUXTRACE_WINDOW_GAP && !f->first_in_read)
		return "a read crossed a gap";
	return NULL;
}

static const char *take_header(struct frames *f, uint64_t last_time)
{
	const struct auxtrace_window *h = &f->header;
	const char *wrong = check_header(f, last_time);
	int bit;

	if (wrong)
		return wrong;
	wrong = f->on_window ? f->on_window(f) : NULL;
	f->payload_left = h->size;
	f->pad_left = -h->size % AUXTRACE_WINDOW_ALIGN;
	f->next_offset += h->size;
	f->windows++;
	f->empty += !h->size;
	f->gap_time += h->gap_time;
	for (bit = 0; bit < FRAMES_FLAG_BITS; bit++)
		f->with_flag[bit] += h->flags >> bit & 1;
	return wrong;
}

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* Handles the first of the @n bytes at @data that belong together; says how many. */
static size_t parse_some(struct frames *f, const char *data, size_t n, const char **wrong)
{
	uint64_t last_time = f->header.time;
	size_t take, i;

	if (f->header_have < sizeof(f->header)) {
		take = smaller(sizeof(f->header) - f->header_have, n);
		memcpy(f->partial + f->header_have, data, take);
		f->header_have += take;
		if (f->header_have == sizeof(f->header)) {
			memcpy(&f->header, f->partial, sizeof(f->header));
			*wrong = take_header(f, last_time);
		}
		return take;
	}
	if (f->payload_left) {
		take = smaller(f->payload_left, n);
		if (f->on_payload)
			*wrong = f->on_payload(f, data, take);
		f->payload_left -= take;
		f->bytes += take;
		return take;
	}
	take = smaller(f->pad_left, n);
	for (i = 0; i < take; i++) {
		if (data[i])
			*wrong = "padding that is not 0";
	}
	f->pad_left -= take;
	return take;
}

const char *frames_parse(struct frames *f, const void *data, size_t n)
{
	const char *wrong = NULL;
	size_t at = 0;

	while (at < n && !wrong) {
		if (f->header_have == sizeof(f->header) && frames_at_boundary(f))
			f->header_have = 0;
		if (!f->header_have)
			f->first_in_read = at == 0;
		at += parse_some(f, (const char *)data + at, n - at, &wrong);
	}
	return wrong;
}
