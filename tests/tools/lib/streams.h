/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * streams - for programs that drain devices: a device and the file that its bytes go
 * to, and the pieces of a stream that came out of order
 */
#ifndef TESTS_STREAMS_H
#define TESTS_STREAMS_H

#include <endian.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "check.h"
#include "../../sim/pattern.h"

#define MAX_STREAMS 8

struct stream {
	int fd;
	int out;
	uint64_t bytes; /* delivered so far */
	bool stopped;	/* STOP was called */
	bool ended;	/* a read said so */
};

static inline void save(int out, const void *data, size_t size)
{
	const char *from = data;

	while (size) {
		ssize_t n = write(out, from, size);

		CHECK(n > 0);
		from += n;
		size -= n;
	}
}

/* What /dev/NAME delivers goes to DIRECTORY/NAME.trace, or standard output. */
static inline void stream_open(struct stream *s, const char *device, const char *directory,
			       int flags)
{
	char path[4096] = "/dev/stdout";

	if (directory)
		snprintf(path, sizeof(path), "%s/%s.trace", directory, basename(device));
	*s = (struct stream){
		.fd = open(device, O_RDONLY | O_CLOEXEC | flags),
		.out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
	};
	CHECK(s->fd >= 0 && s->out >= 0);
}

static inline void stream_save(struct stream *s, const void *data, size_t size)
{
	save(s->out, data, size);
	s->bytes += size;
}

static inline struct auxtrace_status stream_status(const struct stream *s)
{
	struct auxtrace_status status = { .size = sizeof(status) };

	CHECK(!ioctl(s->fd, AUXTRACE_IOC_STATUS, &status));
	return status;
}

/* STOP, once there is enough: whoever waits must be told. */
static inline void stream_stop_after(struct stream *s, uint64_t bytes)
{
	if (s->stopped || s->bytes < bytes)
		return;
	CHECK(!ioctl(s->fd, AUXTRACE_IOC_STOP));
	s->stopped = true;
}

/* A read returned 0: so STOP was called, and all is delivered that was published. */
static inline void stream_end(struct stream *s)
{
	struct auxtrace_status status = stream_status(s);

	CHECK(s->stopped && status.state == AUXTRACE_STATE_STOPPED);
	CHECK(status.head == s->bytes && status.tail == s->bytes && status.bytes == s->bytes);
	s->ended = true;
}

/* What one read delivered. */
struct piece {
	const void *data;
	size_t size;
};

struct pieces {
	struct piece *list;
	size_t n;
};

static inline void add_piece(struct pieces *p, const void *data, size_t size)
{
	p->list = reallocarray(p->list, p->n + 1, sizeof(*p->list));
	CHECK(p->list);
	p->list[p->n++] = (struct piece){ data, size };
}

static inline uint64_t piece_index(const struct piece *piece)
{
	uint64_t word;

	memcpy(&word, piece->data, sizeof(word));
	return pattern_index(le64toh(word));
}

static inline int piece_order(const void *a, const void *b)
{
	uint64_t x = piece_index(a), y = piece_index(b);

	return x < y ? -1 : x > y;
}

/*
 * Puts pieces in the order of the stream, for auxcheck to see whether they make
 * one. Each must begin with a whole word of the pattern.
 */
static inline void sort_pieces(struct pieces *p)
{
	qsort(p->list, p->n, sizeof(*p->list), piece_order);
}

static inline void save_pieces(int out, const struct pieces *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		save(out, p->list[i].data, p->list[i].size);
}

#endif
