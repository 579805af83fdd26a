// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where a reader's bytes come from: a function, a descriptor, memory; decompressed.
 *
 * Owns the buffer of compressed bytes, and the descriptor of a file opened by its name.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "internal.h"

#define IN_SIZE	   (128 << 10)
#define MAGIC_SIZE 4

static const unsigned char zstd_magic[MAGIC_SIZE] = { 0x28, 0xb5, 0x2f, 0xfd };

struct source {
	auxtrace_read_function *read;
	void *context;
	int fd;
	bool owned; /* close fd */
	const char *memory;
	size_t left; /* bytes there */

	enum {
		UNKNOWN, /* too few bytes to say */
		PLAIN,
		COMPRESSED,
		LOOKING, /* compressed, damaged: for where it goes on */
	} state;
	unsigned char *in; /* bytes that came, and were not given yet */
	size_t in_from;
	size_t in_to;
#ifdef HAVE_ZSTD
	ZSTD_DCtx *zstd;
#endif
	bool in_frame;	   /* the last one is not complete */
	bool held_back;	   /* zstd may have more to give without more input */
	uint64_t pending;  /* bytes of it that have given nothing yet */
	uint64_t left_out; /* compressed bytes */
	bool cut;
};

static ssize_t read_fd(void *context, void *buffer, size_t size)
{
	struct source *s = context;
	ssize_t n = read(s->fd, buffer, size);

	return n < 0 ? -errno : n;
}

static ssize_t read_memory(void *context, void *buffer, size_t size)
{
	struct source *s = context;

	if (size > s->left)
		size = s->left;
	memcpy(buffer, s->memory, size);
	s->memory += size;
	s->left -= size;
	return size;
}

int source_new(struct source **source, auxtrace_read_function *read, void *context)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->read = read;
	s->context = context;
	s->fd = -1;
	*source = s;
	return 0;
}

int source_from_fd(struct source **source, int fd, bool owned)
{
	int ret = source_new(source, read_fd, NULL);

	if (ret)
		return ret;
	(*source)->context = *source;
	(*source)->fd = fd;
	(*source)->owned = owned;
	return 0;
}

int source_from_memory(struct source **source, const void *data, size_t size)
{
	int ret = source_new(source, read_memory, NULL);

	if (ret)
		return ret;
	(*source)->context = *source;
	(*source)->memory = data;
	(*source)->left = size;
	return 0;
}

void source_free(struct source *s)
{
	if (!s)
		return;
	if (s->owned)
		close(s->fd);
#ifdef HAVE_ZSTD
	ZSTD_freeDCtx(s->zstd);
#endif
	free(s->in);
	free(s);
}

void source_is_plain(struct source *s)
{
	s->state = PLAIN;
}

bool source_starts_compressed(const void *data, size_t size)
{
	return size >= MAGIC_SIZE && !memcmp(data, zstd_magic, MAGIC_SIZE);
}

/* Adds bytes to those in the buffer. */
static ssize_t more_in(struct source *s)
{
	ssize_t n;

	if (!s->in) {
		s->in = malloc(IN_SIZE);
		if (!s->in)
			return -ENOMEM;
	}
	if (s->in_from) {
		memmove(s->in, s->in + s->in_from, s->in_to - s->in_from);
		s->in_to -= s->in_from;
		s->in_from = 0;
	}
	n = s->read(s->context, s->in + s->in_to, IN_SIZE - s->in_to);
	if (n > 0)
		s->in_to += n;
	return n;
}

/* Looks at the first bytes. */
static int find_out(struct source *s)
{
	while (s->in_to < MAGIC_SIZE) {
		ssize_t n = more_in(s);

		if (n < 0)
			return n;
		if (!n)
			break;
	}
	if (!source_starts_compressed(s->in, s->in_to)) {
		s->state = PLAIN;
		return 0;
	}
#ifdef HAVE_ZSTD
	s->zstd = ZSTD_createDCtx();
	if (!s->zstd)
		return -ENOMEM;
	s->state = COMPRESSED;
	return 0;
#else
	return -ENOTSUP;
#endif
}

static ssize_t read_plain(struct source *s, void *buffer, size_t size)
{
	if (s->in_from == s->in_to) {
		free(s->in);
		s->in = NULL;
		s->in_from = 0;
		s->in_to = 0;
		return s->read(s->context, buffer, size);
	}
	if (size > s->in_to - s->in_from)
		size = s->in_to - s->in_from;
	memcpy(buffer, s->in + s->in_from, size);
	s->in_from += size;
	return size;
}

#ifdef HAVE_ZSTD
/* Decompresses some of what is in the buffer. */
static ssize_t decompress(struct source *s, void *buffer, size_t size)
{
	ZSTD_inBuffer in = { s->in, s->in_to, s->in_from };
	ZSTD_outBuffer out = { buffer, size, 0 };
	size_t ret = ZSTD_decompressStream(s->zstd, &out, &in);

	if (ZSTD_isError(ret)) {
		ZSTD_DCtx_reset(s->zstd, ZSTD_reset_session_only);
		/* At least the byte where a magic was, so as not to find it again. */
		s->left_out = s->pending + 1;
		s->in_from++;
		s->pending = 0;
		s->in_frame = false;
		s->held_back = false;
		s->state = LOOKING;
		return 0;
	}
	s->pending = out.pos || !ret ? 0 : s->pending + (in.pos - s->in_from);
	s->in_frame = ret != 0;
	/* (After a frame's end a call without input would begin another.) */
	s->held_back = ret && out.pos == size;
	s->in_from = in.pos;
	return out.pos;
}

static int end_in_frame(struct source *s)
{
	if (!s->in_frame)
		return 0;
	s->in_frame = false;
	s->cut = true;
	s->left_out = s->pending;
	s->pending = 0;
	return SOURCE_DAMAGED;
}

static ssize_t read_compressed(struct source *s, void *buffer, size_t size)
{
	ssize_t n;

	for (;;) {
		if (s->in_from < s->in_to || s->held_back) {
			n = decompress(s, buffer, size);
			if (n || s->state == LOOKING)
				return n;
		}
		if (s->in_from < s->in_to)
			continue;
		n = more_in(s);
		if (n < 0)
			return n;
		if (!n)
			return end_in_frame(s);
	}
}

/* Leaves bytes out up to a frame's magic, or the end. */
static ssize_t look(struct source *s)
{
	for (;;) {
		size_t have = s->in_to - s->in_from;
		const unsigned char *at = memmem(s->in + s->in_from, have, zstd_magic, MAGIC_SIZE);
		size_t gone = at		  ? (size_t)(at - (s->in + s->in_from))
			      : have < MAGIC_SIZE ? 0
						  : have - (MAGIC_SIZE - 1);
		ssize_t n;

		s->in_from += gone;
		s->left_out += gone;
		if (at)
			break;
		n = more_in(s);
		if (n < 0)
			return n;
		if (!n) {
			s->left_out += s->in_to - s->in_from;
			s->in_from = s->in_to;
			break;
		}
	}
	s->state = COMPRESSED;
	s->cut = false;
	return SOURCE_DAMAGED;
}
#endif

ssize_t source_read(struct source *s, void *buffer, size_t size)
{
	ssize_t n;

	for (;;) {
		switch (s->state) {
		case UNKNOWN:
			n = find_out(s);
			if (n)
				return n;
			break;
		case PLAIN:
			return read_plain(s, buffer, size);
#ifdef HAVE_ZSTD
		case COMPRESSED:
			n = read_compressed(s, buffer, size);
			if (s->state != LOOKING)
				return n;
			break;
		case LOOKING:
			return look(s);
#endif
		default:
			return -ENOTSUP;
		}
	}
}

uint64_t source_damage(const struct source *s, bool *cut)
{
	*cut = s->cut;
	return s->left_out;
}
