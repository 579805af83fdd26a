/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pattern_check - verify a stream in the simulated trace PMU's pattern, as it comes
 *
 * The pattern is described in ../../sim/pattern.h.
 */
#ifndef TESTS_PATTERN_CHECK_H
#define TESTS_PATTERN_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../sim/pattern.h"

#define WORD PATTERN_WORD_SIZE

/*
 * The bytes to look at are at @data, preceded by some of what was looked at
 * before, so that a message can show it.
 */
struct checker {
	const char *who;  /* begins each message */
	bool padding;	  /* zero words are allowed */
	bool start_any;	  /* the first word may have any index */
	bool may_restart; /* the pattern may begin anew */
	/* Called where the epoch rises, or the pattern begins anew: see @run. */
	void (*on_break)(struct checker *c, bool restart);
	void *private; /* the caller's */

	unsigned char *data;
	size_t len;	    /* bytes at data */
	size_t room;	    /* bytes that fit there */
	uint64_t base;	    /* offset of data in the stream */
	uint64_t run;	    /* offset behind the last word that was not padding */
	uint64_t index;	    /* of the next word */
	unsigned int epoch; /* of the word before */
	uint64_t words;
	uint64_t gaps;
	uint64_t stops;
	uint64_t padded;
	uint64_t restarts;
	uint64_t wrong; /* offset of the first wrong byte */
};

/* Make room for @room bytes at a time, and begin; false without memory. */
bool checker_init(struct checker *c, size_t room);
void checker_free(struct checker *c);

/* Forget the stream; another begins. */
void checker_restart(struct checker *c);

/* Offset in the stream of the next byte. */
static inline uint64_t checker_offset(const struct checker *c)
{
	return c->base + c->len;
}

/* Where to put up to @room bytes that come next. */
static inline unsigned char *checker_next(struct checker *c)
{
	return c->data + c->len;
}

/*
 * Verify @n bytes that were put at checker_next(). False after a message on
 * standard error if something is wrong.
 */
bool checker_added(struct checker *c, size_t n);

/* The same with bytes from anywhere, as many as you like. */
bool checker_feed(struct checker *c, const void *bytes, size_t n);

/*
 * Verify the part of a word that the stream ends with, as far as it goes. Its
 * bytes of the epoch, if any, can belong to a stop.
 */
bool checker_end(struct checker *c);

#endif
