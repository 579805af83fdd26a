/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random - numbers that are the same everywhere for the same seed
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64: small, and any seed is a good one. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* From 1 to 2^@shift; each power of two is as likely as any other. */
static inline size_t random_size(uint64_t *state, unsigned int shift)
{
	size_t low = (size_t)1 << (next_random(state) % (shift + 1));
	size_t size = low + (size_t)(next_random(state) % low);

	return size >> shift ? (size_t)1 << shift : size;
}

#endif
