/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * made - streams and recordings made up in memory, for tests
 */
#ifndef MADE_H
#define MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../auxtrace.h"

/* Bytes that grow. */
struct made {
	char *data;
	size_t size;
};

void made_free(struct made *m);
void made_add(struct made *m, const void *data, size_t size);

/* The byte of CPU's payload at @offset: no two nearby pieces are the same. */
unsigned char made_byte(uint32_t cpu, uint64_t offset);

/* A window: its payload is that of made_byte(). */
void made_window(struct made *m, uint32_t cpu, uint64_t seq, uint64_t offset, uint64_t size);

void made_file(struct made *m);
/* A stream's record; @started tells streams of a CPU apart. */
void made_stream(struct made *m, uint32_t cpu, uint64_t started);
void made_lost(struct made *m, uint32_t cpu, uint64_t windows, uint64_t bytes);
/* A record of any kind, with @size bytes behind its header. */
void made_record(struct made *m, uint32_t kind, size_t size);

/* Windows of several CPUs in turns, of many sizes from 0 on; @n of them. */
void made_windows(struct made *m, unsigned int cpus, unsigned int n, size_t max);

/* Is the payload what made_byte() says? */
void check_payload(const struct auxtrace_item *item);

/* What a reader gave, up to its end. */
struct seen {
	uint64_t windows; /* whole ones */
	uint64_t parts;
	uint64_t bytes;
	uint64_t raw; /* bytes of the items as they are in the source */
	uint64_t files;
	uint64_t streams;
	uint64_t lost_windows;
	uint64_t lost_bytes;
	uint64_t damages;
	uint64_t damage[8]; /* by kind */
	uint64_t left_out;  /* bytes, of SKIPPED, CUT, RECORD */
	uint64_t missing;   /* windows, of HOLE */
};

/* Reads all there is, checks each payload, frees the reader. */
struct seen see(struct auxtrace_reader *reader);
struct seen see_memory(const void *data, size_t size, uint64_t buffer);

/* A new directory, which is removed by made_remove(). */
char *made_directory(void);
void made_remove(char *directory);
/* Writes a file below it, with the folders on the way. */
void made_put(const char *directory, const char *path, const char *text);

#endif
