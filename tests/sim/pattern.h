/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counter pattern that the simulated trace PMU writes.
 *
 * The stream of one event is a sequence of 64-bit words, little-endian:
 *
 *	63           48 47                                             0
 *	+--------------+------------------------------------------------+
 *	|    epoch     |                     index                      |
 *	+--------------+------------------------------------------------+
 *
 * index  counts the words that the event has written. The first word has
 *	  index 1, each further one the index of its predecessor plus one.
 *	  Neither the end of a session nor a stop changes that: whatever was
 *	  written is published.
 * epoch  counts how often the driver had stopped the event by itself before
 *	  it wrote the word: it got no room, it got too little room, or it was
 *	  told to report a truncated session. It starts at 0 and wraps. Being
 *	  stopped by perf (disabled, scheduled out) does not count.
 *
 * So every byte can be verified, and each place where trace is missing shows
 * as a rise of the epoch between two words whose indexes follow each other.
 * The rise is more than one if the driver stopped again before it had written
 * anything.
 *
 * Words are never split by a session: sessions are multiples of 8 bytes.
 *
 * A valid word is never zero. Zero words stand between sessions if the event
 * was told to align its sessions, as padding, and nowhere otherwise.
 *
 * The index has room for 2 PiB of trace of one event; it isn't meant to wrap.
 *
 * This file is used in the kernel and in user space.
 */
#ifndef AUXTRACE_SIM_PATTERN_H
#define AUXTRACE_SIM_PATTERN_H

#include <linux/types.h>

/* Bytes in a word. */
#define PATTERN_WORD_SIZE	8

/* The epoch's place in a word. */
#define PATTERN_EPOCH_SHIFT	48

/* The largest epoch, and the mask to wrap it with. */
#define PATTERN_EPOCH_MASK	0xffffU

/* The bits of a word that hold the index. */
#define PATTERN_INDEX_MASK	((1ULL << PATTERN_EPOCH_SHIFT) - 1)

/* The index of an event's first word. */
#define PATTERN_INDEX_FIRST	1

/**
 * pattern_word() - compose a word, in the CPU's byte order
 * @epoch: the epoch
 * @index: the index
 *
 * Return: the word. Words of one epoch with consecutive indexes are
 * consecutive numbers.
 */
static inline __u64 pattern_word(unsigned int epoch, __u64 index)
{
	return ((__u64)(epoch & PATTERN_EPOCH_MASK) << PATTERN_EPOCH_SHIFT) |
	       (index & PATTERN_INDEX_MASK);
}

/**
 * pattern_epoch() - take the epoch from a word
 * @word: the word, in the CPU's byte order
 *
 * Return: the epoch.
 */
static inline unsigned int pattern_epoch(__u64 word)
{
	return (unsigned int)(word >> PATTERN_EPOCH_SHIFT);
}

/**
 * pattern_index() - take the index from a word
 * @word: the word, in the CPU's byte order
 *
 * Return: the index.
 */
static inline __u64 pattern_index(__u64 word)
{
	return word & PATTERN_INDEX_MASK;
}

#endif
