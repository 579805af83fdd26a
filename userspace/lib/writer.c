// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writers: recordings, whole up to their last record whatever happens.
 *
 * Owns the file's end: behind @whole there is at most the beginning of one record, or of one
 * compressed batch, and on an error that is cut off. What was cut off is counted for each CPU,
 * and told in the file when it can be written again.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "internal.h"

#define MAX_CPU	      65535
#define BATCH_DEFAULT (1 << 20)
#define BATCH_MIN     4096
#define BATCH_MAX     (1 << 30)

struct count {
	uint64_t windows;
	uint64_t bytes;
};

/* What concerns one CPU. "Pending" is what is written, but not behind @whole yet. */
struct cpu {
	void *stream; /* its record, or NULL */
	size_t stream_size;
	bool stream_due; /* to be written before the next window */
	bool stream_pending;
	struct count lost; /* to be told before the next window */
	uint32_t error;	   /* why */
	struct count told; /* pending: lost, and told so */
	struct count in;   /* pending: windows */
};

struct auxtrace_writer {
	int fd;
	bool owned;
	bool can_cut;	/* a regular file */
	uint64_t start; /* where it began in the file */
	uint64_t whole; /* behind the last whole record */
	uint64_t end;	/* behind the last byte written */
	int dead;	/* -errno that is final */
	bool file_due;
	bool file_pending;

	struct cpu *cpus;
	size_t nr_cpus;
	struct count lost; /* ever */

	/* The window whose parts are coming. */
	bool in_window;
	int dropping; /* -errno: it is left out */
	struct auxtrace_window window;
	uint64_t next_at;

	/* With compression. */
	char *batch; /* NULL: none */
	size_t batch_room;
	size_t batch_have;
	size_t record_from; /* where the record that is being added begins there */
	bool spilled;	    /* a part of it was written already */
	char *frame;
	size_t frame_room;
#ifdef HAVE_ZSTD
	ZSTD_CCtx *zstd;
#endif
};

/* ---- Counting --------------------------------------------------------------------- */

static void add(struct count *to, const struct count *n)
{
	to->windows += n->windows;
	to->bytes += n->bytes;
}

static struct cpu *cpu_of(struct auxtrace_writer *w, uint32_t number)
{
	size_t n = (size_t)number + 1;
	struct cpu *more;

	if (n <= w->nr_cpus)
		return &w->cpus[number];
	more = reallocarray(w->cpus, n, sizeof(*more));
	if (!more)
		return NULL;
	memset(more + w->nr_cpus, 0, (n - w->nr_cpus) * sizeof(*more));
	w->cpus = more;
	w->nr_cpus = n;
	return &more[number];
}

/* All that is pending is in the file. */
static void settle(struct auxtrace_writer *w)
{
	size_t i;

	w->whole = w->end;
	w->file_pending = false;
	for (i = 0; i < w->nr_cpus; i++) {
		struct cpu *cpu = &w->cpus[i];

		cpu->stream_pending = false;
		cpu->told = (struct count){};
		cpu->in = (struct count){};
	}
}

/* Nothing of it is, for @error. */
static void lose(struct auxtrace_writer *w, int error)
{
	size_t i;

	w->file_due |= w->file_pending;
	w->file_pending = false;
	for (i = 0; i < w->nr_cpus; i++) {
		struct cpu *cpu = &w->cpus[i];

		cpu->stream_due |= cpu->stream_pending;
		cpu->stream_pending = false;
		if (cpu->in.windows)
			cpu->error = -error;
		add(&cpu->lost, &cpu->told);
		add(&cpu->lost, &cpu->in);
		add(&w->lost, &cpu->in);
		cpu->told = (struct count){};
		cpu->in = (struct count){};
	}
}

/* ---- The file ------------------------------------------------------------------------- */

/* Takes back what is behind the last whole record, and counts it as lost. Returns @error. */
static int cut_back(struct auxtrace_writer *w, int error)
{
	w->batch_have = 0;
	w->spilled = false;
	lose(w, error);
	if (w->end == w->whole && w->can_cut)
		return error;
	if (!w->can_cut || ftruncate(w->fd, w->whole) || lseek(w->fd, w->whole, SEEK_SET) < 0)
		w->dead = error;
	w->end = w->whole;
	return error;
}

static int wait_for_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

static int write_out(struct auxtrace_writer *w, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(w->fd, data, size);
		int ret = 0;

		if (n < 0 && errno == EAGAIN)
			ret = wait_for_room(w->fd);
		else if (n < 0 && errno != EINTR)
			ret = -errno;
		if (ret)
			return ret;
		if (n < 0)
			continue;
		data += n;
		size -= n;
		w->end += n;
	}
	return 0;
}

#ifdef HAVE_ZSTD
static int write_batch(struct auxtrace_writer *w)
{
	size_t n;

	if (!w->batch_have)
		return 0;
	n = ZSTD_compress2(w->zstd, w->frame, w->frame_room, w->batch, w->batch_have);
	if (ZSTD_isError(n))
		return -ENOMEM;
	w->batch_have = 0;
	return write_out(w, w->frame, n);
}

static int begin_compression(struct auxtrace_writer *w, const struct auxtrace_writer_options *o)
{
	w->batch_room = o->batch ?: BATCH_DEFAULT;
	w->frame_room = ZSTD_compressBound(w->batch_room);
	w->batch = malloc(w->batch_room);
	w->frame = malloc(w->frame_room);
	w->zstd = ZSTD_createCCtx();
	if (!w->batch || !w->frame || !w->zstd)
		return -ENOMEM;
	if (ZSTD_isError(
		    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, o->compression)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1)))
		return -EINVAL;
	return 0;
}
#else
static int write_batch(struct auxtrace_writer *w)
{
	(void)w;
	return -ENOTSUP;
}

static int begin_compression(struct auxtrace_writer *w, const struct auxtrace_writer_options *o)
{
	(void)w;
	(void)o;
	return -ENOTSUP;
}
#endif

/* ---- Records ----------------------------------------------------------------------------- */

/* A record of @size bytes follows, which put() adds in pieces, and end_record() ends. */
static int begin_record(struct auxtrace_writer *w, uint64_t size)
{
	int ret;

	if (w->batch && w->batch_have && size > w->batch_room - w->batch_have) {
		ret = write_batch(w);
		if (ret)
			return ret;
		settle(w);
	}
	w->record_from = w->batch_have;
	w->spilled = false;
	return 0;
}

static int put(struct auxtrace_writer *w, const char *data, size_t size)
{
	int ret;

	if (!w->batch)
		return write_out(w, data, size);
	while (size) {
		size_t n = w->batch_room - w->batch_have;

		if (n > size)
			n = size;
		memcpy(w->batch + w->batch_have, data, n);
		w->batch_have += n;
		data += n;
		size -= n;
		if (w->batch_have < w->batch_room)
			break;
		w->spilled = true;
		ret = write_batch(w);
		if (ret)
			return ret;
	}
	return 0;
}

static int end_record(struct auxtrace_writer *w)
{
	int ret = 0;

	if (w->batch && !w->spilled)
		return 0;
	if (w->batch)
		ret = write_batch(w);
	if (!ret)
		settle(w);
	return ret;
}

static int put_record(struct auxtrace_writer *w, const void *record, size_t size)
{
	int ret = begin_record(w, size);

	ret = ret ?: put(w, record, size);
	return ret ?: end_record(w);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int put_file(struct auxtrace_writer *w)
{
	struct auxtrace_file_record file = {
		.record.magic = htole32(AUXTRACE_RECORD_MAGIC),
		.record.kind = htole32(AUXTRACE_RECORD_FILE),
		.record.size = htole64(sizeof(file)),
		.version = htole32(AUXTRACE_RECORDING_VERSION),
		.created = htole64(now()),
	};

	if (!w->file_due)
		return 0;
	w->file_due = false;
	w->file_pending = true;
	return put_record(w, &file, sizeof(file));
}

static int put_stream(struct auxtrace_writer *w, struct cpu *cpu)
{
	if (!cpu->stream_due)
		return 0;
	cpu->stream_due = false;
	cpu->stream_pending = true;
	return put_record(w, cpu->stream, cpu->stream_size);
}

static int put_lost(struct auxtrace_writer *w, uint32_t number)
{
	struct cpu *cpu = &w->cpus[number];
	struct auxtrace_lost_record lost = {
		.record.magic = htole32(AUXTRACE_RECORD_MAGIC),
		.record.kind = htole32(AUXTRACE_RECORD_LOST),
		.record.size = htole64(sizeof(lost)),
		.cpu = htole32(number),
		.error = htole32(cpu->error),
		.windows = htole64(cpu->lost.windows),
		.bytes = htole64(cpu->lost.bytes),
	};

	if (!cpu->lost.windows)
		return 0;
	add(&cpu->told, &cpu->lost);
	cpu->lost = (struct count){};
	return put_record(w, &lost, sizeof(lost));
}

/* What has to be in the file before a window of that CPU. */
static int put_before(struct auxtrace_writer *w, uint32_t number)
{
	int ret = put_file(w);

	ret = ret ?: put_stream(w, &w->cpus[number]);
	return ret ?: put_lost(w, number);
}

/* ---- Windows ----------------------------------------------------------------------------------
 */

static bool is_next_part(const struct auxtrace_writer *w, const struct auxtrace_item *item)
{
	return item->window->cpu == w->window.cpu && item->window->seq == w->window.seq &&
	       item->at == w->next_at;
}

static void leave_window(struct auxtrace_writer *w)
{
	w->in_window = false;
	w->dropping = 0;
}

static int begin_window(struct auxtrace_writer *w, const struct auxtrace_item *item)
{
	struct cpu *cpu;
	int ret = 0;

	cpu = cpu_of(w, item->window->cpu);
	if (!cpu)
		ret = -ENOMEM;
	w->in_window = true;
	w->window = *item->window;
	ret = ret ?: w->dead;
	ret = ret ?: put_before(w, item->window->cpu);
	ret = ret ?: begin_record(w, item->window->header_size + align8(item->window->size));
	if (!cpu)
		return ret;
	cpu->in.windows++;
	cpu->in.bytes += item->window->size;
	return ret;
}

static int put_window(struct auxtrace_writer *w, const struct auxtrace_item *item)
{
	int ret = w->dropping;

	if (w->in_window ? !is_next_part(w, item) : item->at)
		return -EINVAL;
	if (item->window->cpu > MAX_CPU)
		return -E2BIG;
	if (!w->in_window)
		ret = begin_window(w, item);
	w->next_at = item->at + item->size;
	if (!ret) {
		ret = put(w, item->raw, item->raw_size);
		if (!ret && item->last)
			ret = end_record(w);
	}
	if (ret && !w->dropping)
		cut_back(w, ret);
	w->dropping = ret;
	if (item->last)
		leave_window(w);
	return ret;
}

/* Takes back the parts of a window whose rest does not come. */
static void abort_window(struct auxtrace_writer *w)
{
	struct cpu *cpu = &w->cpus[w->window.cpu];
	struct count one = { 1, w->window.size };
	bool dropped = w->dropping;

	leave_window(w);
	if (dropped)
		return;
	if (!w->batch || w->spilled) {
		cut_back(w, -EIO);
		return;
	}
	/* What the batch has before it is good. */
	w->batch_have = w->record_from;
	cpu->in.windows -= one.windows;
	cpu->in.bytes -= one.bytes;
	cpu->error = EIO;
	add(&cpu->lost, &one);
	add(&w->lost, &one);
}

EXPORT int auxtrace_writer_tell_lost(struct auxtrace_writer *w, unsigned int number, uint32_t error,
				     uint64_t windows, uint64_t bytes)
{
	struct count n = { windows, bytes };
	struct cpu *cpu;

	if (number > MAX_CPU)
		return -E2BIG;
	cpu = cpu_of(w, number);
	if (!cpu)
		return -ENOMEM;
	cpu->error = error;
	add(&cpu->lost, &n);
	return 0;
}

EXPORT int auxtrace_writer_stream(struct auxtrace_writer *w, const struct auxtrace_stream *stream)
{
	size_t size = stream_record_size(stream);
	struct cpu *cpu;
	void *record;
	int ret;

	if (w->in_window)
		return -EINVAL;
	if (stream->cpu > MAX_CPU)
		return -E2BIG;
	cpu = cpu_of(w, stream->cpu);
	record = malloc(size);
	if (!cpu || !record) {
		free(record);
		return -ENOMEM;
	}
	stream_record_write(stream, record);
	free(cpu->stream);
	cpu->stream = record;
	cpu->stream_size = size;
	cpu->stream_due = true;
	if (w->dead)
		return w->dead;
	ret = put_file(w);
	ret = ret ?: put_stream(w, cpu);
	return ret ? cut_back(w, ret) : 0;
}

EXPORT int auxtrace_writer_item(struct auxtrace_writer *w, const struct auxtrace_item *item)
{
	switch (item->kind) {
	case AUXTRACE_ITEM_WINDOW:
		return put_window(w, item);
	case AUXTRACE_ITEM_STREAM:
		return auxtrace_writer_stream(w, item->stream);
	case AUXTRACE_ITEM_LOST:
		return auxtrace_writer_tell_lost(w, item->cpu, item->error, item->lost_windows,
						 item->lost_bytes);
	case AUXTRACE_ITEM_DAMAGE:
		if (item->damage == AUXTRACE_DAMAGE_ABORTED && w->in_window)
			abort_window(w);
		return w->dead;
	default:
		return 0;
	}
}

EXPORT int auxtrace_writer_flush(struct auxtrace_writer *w)
{
	int ret = w->dead;

	if (w->in_window && !w->dropping)
		return -EINVAL;
	if (ret || !w->batch)
		return ret;
	ret = write_batch(w);
	if (ret)
		return cut_back(w, ret);
	settle(w);
	return 0;
}

EXPORT int auxtrace_writer_fd(const struct auxtrace_writer *w)
{
	return w->fd;
}

EXPORT uint64_t auxtrace_writer_size(const struct auxtrace_writer *w)
{
	return w->whole - w->start;
}

EXPORT uint64_t auxtrace_writer_lost(const struct auxtrace_writer *w, uint64_t *windows)
{
	if (windows)
		*windows = w->lost.windows;
	return w->lost.bytes;
}

EXPORT uint64_t auxtrace_writer_untold(const struct auxtrace_writer *w, uint64_t *windows)
{
	struct count untold = { 0 };
	size_t i;

	for (i = 0; i < w->nr_cpus; i++) {
		add(&untold, &w->cpus[i].lost);
		add(&untold, &w->cpus[i].told);
	}
	if (windows)
		*windows = untold.windows;
	return untold.bytes;
}

/* ---- Making and ending one
 * ------------------------------------------------------------------------ */

static void free_writer(struct auxtrace_writer *w)
{
	size_t i;

	for (i = 0; i < w->nr_cpus; i++)
		free(w->cpus[i].stream);
	free(w->cpus);
	free(w->batch);
	free(w->frame);
#ifdef HAVE_ZSTD
	ZSTD_freeCCtx(w->zstd);
#endif
	free(w);
}

static bool take_writer_options(struct auxtrace_writer_options *o,
				const struct auxtrace_writer_options *options)
{
	return take_options(o, sizeof(*o), options) && !(o->flags & ~AUXTRACE_WRITER_NEW) &&
	       o->compression <= 19 && o->mode <= 07777 &&
	       (!o->batch || (o->batch >= BATCH_MIN && o->batch <= BATCH_MAX));
}

/* Where the next byte goes, if that can be cut off again. */
static void find_start(struct auxtrace_writer *w)
{
	struct stat st;
	off_t at;

	if (fstat(w->fd, &st) || !S_ISREG(st.st_mode))
		return;
	at = lseek(w->fd, 0, fcntl(w->fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
	if (at < 0)
		return;
	w->can_cut = true;
	w->start = at;
	w->whole = at;
	w->end = at;
}

static int new_writer(struct auxtrace_writer **out, int fd, const struct auxtrace_writer_options *o)
{
	struct auxtrace_writer *w = calloc(1, sizeof(*w));
	int ret = 0;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	find_start(w);
	if (o->compression)
		ret = begin_compression(w, o);
	if (!ret) {
		w->file_due = true;
		ret = put_file(w);
		if (ret)
			cut_back(w, ret);
	}
	if (ret) {
		free_writer(w);
		return ret;
	}
	*out = w;
	return 0;
}

EXPORT int auxtrace_writer_from_fd(struct auxtrace_writer **writer, int fd,
				   const struct auxtrace_writer_options *options)
{
	struct auxtrace_writer_options o;

	if (!take_writer_options(&o, options))
		return -EINVAL;
	return new_writer(writer, fd, &o);
}

/* A pipe would wait for its reader here. */
static int open_file(const char *path, const struct auxtrace_writer_options *o)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat st;
	int fd, ret = 0;

	if (o->flags & AUXTRACE_WRITER_NEW)
		flags |= O_EXCL;
	fd = open(path, flags, o->mode ?: 0600);
	if (fd < 0)
		return errno == ENXIO ? -EEXIST : -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		ret = -EEXIST;
	else if (ftruncate(fd, 0))
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

EXPORT int auxtrace_writer_open(struct auxtrace_writer **writer, const char *path,
				const struct auxtrace_writer_options *options)
{
	struct auxtrace_writer_options o;
	int fd, ret;

	if (!take_writer_options(&o, options))
		return -EINVAL;
	fd = open_file(path, &o);
	if (fd < 0)
		return fd;
	ret = new_writer(writer, fd, &o);
	if (ret) {
		close(fd);
		return ret;
	}
	(*writer)->owned = true;
	return 0;
}

/* What was lost of a CPU since its last window, which no later one tells. */
static int put_all_lost(struct auxtrace_writer *w)
{
	int ret = w->dead;
	size_t i;

	for (i = 0; i < w->nr_cpus && !ret; i++) {
		if (w->cpus[i].lost.windows)
			ret = put_before(w, i);
	}
	return ret && !w->dead ? cut_back(w, ret) : ret;
}

EXPORT int auxtrace_writer_close(struct auxtrace_writer *w)
{
	int ret;

	if (!w)
		return 0;
	if (w->in_window)
		abort_window(w);
	ret = auxtrace_writer_flush(w);
	ret = ret ?: put_all_lost(w);
	ret = ret ?: auxtrace_writer_flush(w);
	if (w->owned && close(w->fd) && !ret)
		ret = -errno;
	free_writer(w);
	return ret;
}
