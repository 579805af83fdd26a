/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * internal - what the library's files share, and nobody else sees
 */
#ifndef AUXTRACE_INTERNAL_H
#define AUXTRACE_INTERNAL_H

#include <dirent.h>
#include <endian.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "auxtrace.h"

/* What is exported; all else is hidden by -fvisibility. */
#define EXPORT __attribute__((visibility("default")))

/* Copies a caller's options, of whatever version; false if they are of none. */
static inline bool take_options(void *to, size_t known, const void *from)
{
	uint32_t size;

	memset(to, 0, known);
	if (!from)
		return true;
	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size))
		return false;
	memcpy(to, from, size < known ? size : known);
	return true;
}

static inline uint64_t align8(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

/* ---- sysfs.c ---- */

/* Opens a folder below @sysfs. 0, or -errno. */
int sysfs_opendir(DIR **folder, const char *sysfs, const char *path);

/* Opens the file whose name the format makes below @sysfs. The descriptor, or -errno. */
int sysfs_open(const char *sysfs, int flags, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int sysfs_vpath(char *path, size_t size, const char *sysfs, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

/*
 * Reads such a file into @text, without the last line's end, and terminated. The length,
 * or -errno; -ENOSPC if it does not fit.
 */
int sysfs_read(char *text, size_t size, const char *sysfs, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* ---- stream.c ---- */

/* Bytes of the record that stands for @stream. */
size_t stream_record_size(const struct auxtrace_stream *stream);
/* Writes it to @to, which has that many. */
void stream_record_write(const struct auxtrace_stream *stream, void *to);
/* Makes a stream of such a record: 0, -ENOMEM, or -EINVAL if it contradicts itself. */
int stream_record_read(struct auxtrace_stream **stream, const void *record, size_t size);

/* ---- source.c ---- */

/* Where a reader's bytes come from. */
struct source;

int source_new(struct source **source, auxtrace_read_function *read, void *context);
/* Reads @fd, which is closed with the source if @owned. */
int source_from_fd(struct source **source, int fd, bool owned);
int source_from_memory(struct source **source, const void *data, size_t size);
void source_free(struct source *source);

/* Do not look for compression. */
void source_is_plain(struct source *source);

/* Would this be decompressed? */
bool source_starts_compressed(const void *data, size_t size);

/*
 * Up to @size bytes, decompressed. 0 at the end, or -errno; SOURCE_DAMAGED: compressed bytes
 * were left out, see source_damage(); what follows comes with the next call.
 */
#define SOURCE_DAMAGED INT_MIN /* no errno, which a read might say too */
ssize_t source_read(struct source *source, void *buffer, size_t size);

/* How many; @cut: because the end came within a frame. */
uint64_t source_damage(const struct source *source, bool *cut);

#endif
