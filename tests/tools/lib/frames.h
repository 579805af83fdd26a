/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frames - take a stream in the framed format apart, as it comes
 */
#ifndef TESTS_FRAMES_H
#define TESTS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/auxtrace.h>

/* Bits of auxtrace_window::flags that are known. */
#define FRAMES_FLAG_BITS 9

struct frames {
	/*
	 * Called when a header is complete and good in itself, and with each piece of
	 * payload. They return NULL, or what is wrong.
	 */
	const char *(*on_window)(struct frames *f);
	const char *(*on_payload)(struct frames *f, const char *data, size_t n);
	void *private; /* the caller's */

	struct auxtrace_window header; /* the last complete one */
	char partial[sizeof(struct auxtrace_window)];
	size_t header_have; /* bytes of the next one */
	uint64_t payload_left;
	unsigned int pad_left;
	bool first_in_read; /* the header began where its read did */

	uint64_t windows;
	uint64_t bytes; /* of payload */
	uint64_t next_offset;
	uint64_t gap_time;
	uint64_t with_flag[FRAMES_FLAG_BITS];
	uint64_t empty;
};

/* What one read gave. NULL, or what is wrong with window f->windows. */
const char *frames_parse(struct frames *f, const void *data, size_t n);

/* Does a window end here? */
static inline bool frames_at_boundary(const struct frames *f)
{
	return !f->payload_left && !f->pad_left && !(f->header_have % sizeof(f->header));
}

#endif
