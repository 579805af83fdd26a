/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The directory of recordings: names, sizes, and the cap on them.
 *
 * Files are called cpu<N>-<UTC time>.auxtrace, with .zst behind if they are compressed. The
 * oldest of them are removed when all together would exceed the cap, whoever made them; never
 * one that is being written. All functions may be called by any thread.
 */
#ifndef AUXTRACED_STORE_H
#define AUXTRACED_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct store;
struct store_file; /* one that is being written */

struct store_totals {
	uint64_t files;
	uint64_t bytes;
};

/*
 * store_open() - use a directory, that nobody else may use meanwhile
 * @store:	out: to be let go by store_unref()
 *
 * Removes nothing yet: store_set_cap() does.
 *
 * Return: 0, or -EBUSY: another process uses it; -EACCES: it cannot be written; or what opening
 * and reading it said.
 */
int store_open(struct store **store, const char *directory);

struct store *store_ref(struct store *store);
void store_unref(struct store *store);

/* Is it the directory that is there now, whatever its path was? */
bool store_is_at(const struct store *store, const char *directory);

/* It is found by that path from now on. Without memory it stays the one before. */
void store_set_path(struct store *store, const char *directory);

/* @cap: bytes, 0: none. Removes files as needed. */
void store_set_cap(struct store *store, uint64_t cap);

/*
 * store_file_new() - a name for a new file, which is not made here
 * @ms:	the time in it, on CLOCK_REALTIME
 * @path:	out: of PATH_MAX bytes
 *
 * Return: to be ended by store_file_end(); NULL without memory.
 */
struct store_file *store_file_new(struct store *store, unsigned int cpu, bool compressed,
				  uint64_t ms, char *path);

/* The file has @size bytes, or is about to have. Removes others as needed, before. */
void store_file_grow(struct store_file *file, uint64_t size);

/* Nobody writes to it any more. @keep: it is there. */
void store_file_end(struct store_file *file, bool keep);

/* Puts its name on the disk, by fsync(2) of the directory. 0 or -errno. */
int store_file_sync(struct store_file *file);

/* In the directory; valid until it is ended. */
const char *store_file_name(const struct store_file *file);

struct store_totals store_totals(struct store *store);

#endif
