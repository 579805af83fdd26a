// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern_check - verify a stream in the simulated trace PMU's pattern, as it comes
 *
 * Owns what is right and wrong in a stream of the counter pattern.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern_check.h"

/* Bytes shown before and after a wrong one; a multiple of the word size. */
#define CONTEXT 32UL

/* Words that are compared in one go. */
#define BULK 512UL

bool checker_init(struct checker *c, size_t room)
{
	unsigned char *memory = calloc(1, CONTEXT + WORD + room);

	if (!memory)
		return false;
	c->data = memory + CONTEXT;
	c->room = room;
	checker_restart(c);
	return true;
}

void checker_free(struct checker *c)
{
	if (c->data)
		free(c->data - CONTEXT);
	c->data = NULL;
}

void checker_restart(struct checker *c)
{
	c->len = 0;
	c->base = 0;
	c->run = 0;
	c->index = PATTERN_INDEX_FIRST;
	c->epoch = 0;
	c->words = 0;
	c->gaps = 0;
	c->stops = 0;
	c->padded = 0;
	c->restarts = 0;
	c->wrong = 0;
}

static uint64_t load_word(const unsigned char *from)
{
	uint64_t word;

	memcpy(&word, from, WORD);
	return le64toh(word);
}

/* Say what is wrong at data + pos, in the word that begins there. */
static void report(struct checker *c, size_t pos)
{
	size_t avail = c->len - pos < WORD ? c->len - pos : WORD;
	uint64_t expected = pattern_word(c->epoch, c->index);
	unsigned char want[WORD], *got = c->data + pos;
	uint64_t le = htole64(expected);
	size_t i, from, to;

	memcpy(want, &le, WORD);
	for (i = 0; i + 1 < avail && got[i] == want[i]; i++)
		;

	c->wrong = c->base + pos + i;
	flockfile(stderr);
	fprintf(stderr, "%s: wrong byte at offset %" PRIu64 ": expected 0x%02x, got 0x%02x\n",
		c->who, c->wrong, want[i], got[i]);

	fprintf(stderr,
		"  in the word at offset %" PRIu64 ": expected 0x%016" PRIx64
		" (epoch %u, index %" PRIu64 ")",
		c->base + pos, expected, c->epoch, c->index);
	if (avail == WORD) {
		uint64_t word = load_word(got);

		fprintf(stderr, ", got 0x%016" PRIx64 " (epoch %u, index %" PRIu64 ")", word,
			pattern_epoch(word), (uint64_t)pattern_index(word));
	}
	fputc('\n', stderr);

	from = c->base + pos < CONTEXT ? c->base + pos : CONTEXT;
	to = c->len - pos < WORD + CONTEXT ? c->len - pos : WORD + CONTEXT;
	for (got -= from, i = 0; i < from + to; i++) {
		if (i % 16 == 0)
			fprintf(stderr, "%s  %12" PRIu64 ":", i ? "\n" : "",
				c->base + pos - from + i);
		fprintf(stderr, "%c%02x", got + i == c->data + (c->wrong - c->base) ? '>' : ' ',
			got[i]);
	}
	fputc('\n', stderr);
	funlockfile(stderr);
}

/* How many of the next @n words continue the pattern in the same epoch. */
static size_t count_good(const struct checker *c, const unsigned char *from, size_t n)
{
	uint64_t first = pattern_word(c->epoch, c->index);
	size_t good = 0, i;

	if (PATTERN_INDEX_MASK - c->index < n)
		n = PATTERN_INDEX_MASK - c->index;

	while (n - good >= BULK) {
		uint64_t diff = 0;

		for (i = 0; i < BULK; i++)
			diff |= load_word(from + (good + i) * WORD) ^ (first + good + i);
		if (diff)
			break;
		good += BULK;
	}

	while (good < n && load_word(from + good * WORD) == first + good)
		good++;

	return good;
}

/*
 * A word that doesn't continue the epoch: padding or the place of a stop.
 * False if it is neither.
 */
static bool check_word(struct checker *c, uint64_t word)
{
	unsigned int rise;

	if (!word) {
		if (!c->padding)
			return false;
		c->padded += WORD;
		return true;
	}

	if (c->start_any && !c->words) {
		c->index = pattern_index(word);
		c->epoch = pattern_epoch(word);
	}

	if (c->may_restart && c->words && pattern_index(word) == PATTERN_INDEX_FIRST) {
		if (c->on_break)
			c->on_break(c, true);
		c->restarts++;
		c->index = PATTERN_INDEX_FIRST;
		c->epoch = pattern_epoch(word);
	}

	if (pattern_index(word) != c->index)
		return false;

	/* A fall is a rise by very much, modulo the epoch's size. */
	rise = (pattern_epoch(word) - c->epoch) & PATTERN_EPOCH_MASK;
	if (rise > PATTERN_EPOCH_MASK / 2)
		return false;

	if (rise) {
		if (c->on_break)
			c->on_break(c, false);
		c->gaps++;
		c->stops += rise;
		c->epoch = pattern_epoch(word);
	}
	c->index++;
	c->words++;
	return true;
}

/* Verify the whole words among the data; false if something is wrong. */
static bool check_words(struct checker *c)
{
	size_t n = c->len / WORD, pos = 0;
	uint64_t word;

	while (pos < n) {
		size_t good = 0;

		if (c->words || !c->start_any)
			good = count_good(c, c->data + pos * WORD, n - pos);
		c->index += good;
		c->words += good;
		pos += good;
		if (good)
			c->run = c->base + pos * WORD;

		if (pos == n)
			break;

		word = load_word(c->data + pos * WORD);
		if (!check_word(c, word)) {
			report(c, pos * WORD);
			return false;
		}
		pos++;
		if (word)
			c->run = c->base + pos * WORD;
	}

	/* Keep the split word, and what came before it for messages. */
	memmove(c->data - CONTEXT, c->data + n * WORD - CONTEXT, CONTEXT + c->len - n * WORD);
	c->base += n * WORD;
	c->len -= n * WORD;
	return true;
}

bool checker_added(struct checker *c, size_t n)
{
	c->len += n;
	return check_words(c);
}

bool checker_feed(struct checker *c, const void *bytes, size_t n)
{
	const unsigned char *from = bytes;

	while (n) {
		size_t part = n < c->room ? n : c->room;

		memcpy(checker_next(c), from, part);
		if (!checker_added(c, part))
			return false;
		from += part;
		n -= part;
	}
	return true;
}

bool checker_end(struct checker *c)
{
	static const unsigned char zeroes[WORD];
	uint64_t le = htole64(pattern_word(c->epoch, c->index));
	size_t n = c->len < PATTERN_EPOCH_SHIFT / 8 ? c->len : PATTERN_EPOCH_SHIFT / 8;

	if (!memcmp(c->data, &le, n) || (c->start_any && !c->words))
		return true;

	if (c->padding && !memcmp(c->data, zeroes, c->len))
		return true;

	report(c, 0);
	return false;
}
