// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writers: what is written reads back, and a file is whole up to its last record whatever
 * happens to the disk.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "../internal.h"
#include "made.h"

static char *directory;
static char path[256];

static int make_directory(void **state)
{
	(void)state;
	directory = made_directory();
	snprintf(path, sizeof(path), "%s/recording", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	made_remove(directory);
	return 0;
}

static off_t size_of(const char *file)
{
	struct stat st;

	return stat(file, &st) ? -1 : st.st_size;
}

static struct seen see_file_by(uint64_t buffer)
{
	struct auxtrace_reader_options options = { .size = sizeof(options), .buffer = buffer };
	struct auxtrace_reader *reader;

	assert_int_equal(auxtrace_reader_open(&reader, path, &options), 0);
	return see(reader);
}

static struct seen see_file(void)
{
	return see_file_by(0);
}

/* The disk ends at @bytes; 0: no more. */
static void limit(rlim_t bytes)
{
	struct rlimit r;

	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = bytes ?: r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static ssize_t read_made(void *context, void *buffer, size_t size)
{
	struct made *m = context;

	if (size > m->size)
		size = m->size;
	memcpy(buffer, m->data, size);
	m->data += size;
	m->size -= size;
	return size;
}

/* Gives all items of @m to @writer; counts those that failed. */
static unsigned int copy(struct auxtrace_writer *writer, const struct made *m, uint64_t buffer)
{
	struct auxtrace_reader_options options = { .size = sizeof(options), .buffer = buffer };
	struct made left = *m; /* by a function, since memory comes in one piece */
	const struct auxtrace_item *item;
	struct auxtrace_reader *reader;
	unsigned int failed = 0;

	assert_int_equal(auxtrace_reader_new(&reader, read_made, &left, &options), 0);
	while (auxtrace_reader_next(reader, &item) == 1) {
		int ret = auxtrace_writer_item(writer, item);

		assert_true(!ret || ret == -EFBIG);
		failed += ret != 0;
	}
	auxtrace_reader_free(reader);
	return failed;
}

static struct auxtrace_stream *stream_of(uint32_t cpu)
{
	struct auxtrace_info info = { .size = sizeof(info), .cpu = cpu, .pmu_name = "made" };
	struct auxtrace_stream *stream;

	assert_int_equal(auxtrace_stream_new(&stream, &info), 0);
	assert_int_equal(auxtrace_stream_set(stream, "kernel", "6.1"), 0);
	return stream;
}

/* Each test with these. */
static const struct auxtrace_writer_options how[] = {
	{ .size = sizeof(how[0]) },
#ifdef HAVE_ZSTD
	{ .size = sizeof(how[0]), .compression = 1, .batch = 4096 },
	{ .size = sizeof(how[0]), .compression = 3 },
#endif
};
#define HOWS (sizeof(how) / sizeof(*how))

static void round_trip(void **state)
{
	struct auxtrace_stream *stream = stream_of(1);
	struct made m = {};
	size_t i;

	(void)state;
	made_windows(&m, 2, 200, 6000);
	for (i = 0; i < HOWS; i++) {
		struct auxtrace_writer *writer;
		uint64_t size;
		struct seen s;

		assert_int_equal(auxtrace_writer_open(&writer, path, &how[i]), 0);
		assert_int_equal(auxtrace_writer_stream(writer, stream), 0);
		/* In parts and whole. */
		assert_int_equal(copy(writer, &m, i ? 4096 : 0), 0);
		assert_int_equal(auxtrace_writer_flush(writer), 0);
		size = auxtrace_writer_size(writer);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		assert_int_equal(size_of(path), size);
		s = see_file();
		assert_int_equal(s.damages, 0);
		assert_int_equal(s.windows, 200);
		assert_int_equal(s.files, 1);
		assert_int_equal(s.streams, 1);
		assert_int_equal(s.raw, m.size + 32 + stream_record_size(stream));
		if (!how[i].compression)
			assert_int_equal(size, s.raw);
	}
	auxtrace_stream_free(stream);
	made_free(&m);
}

/* What decompresses to much more than fits in a reader's buffer. */
static void small_and_large(void **state)
{
	struct made m = {};
	size_t i;

	(void)state;
	made_windows(&m, 1, 1000, 0);
	for (i = 0; i < HOWS; i++) {
		struct auxtrace_writer *writer;
		struct seen s;

		assert_int_equal(auxtrace_writer_open(&writer, path, &how[i]), 0);
		assert_int_equal(copy(writer, &m, 0), 0);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		s = see_file_by(4096);
		assert_int_equal(s.windows, 1000);
		assert_int_equal(s.damages, 0);
	}
	made_free(&m);
}

#ifdef HAVE_ZSTD
static ssize_t read_for_now(void *context, void *buffer, size_t size)
{
	return read_made(context, buffer, size) ?: -EAGAIN;
}

/* What was flushed is given, though the frame has no end yet and no more comes for now. */
static void flushed(void **state)
{
	struct auxtrace_reader_options options = { .size = sizeof(options), .buffer = 4096 };
	const struct auxtrace_item *item;
	struct auxtrace_reader *reader;
	struct made m = {}, left;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_outBuffer out = {};
	ZSTD_inBuffer in = {};
	unsigned int windows = 0;

	(void)state;
	made_windows(&m, 1, 1000, 0);
	out.size = ZSTD_compressBound(m.size);
	out.dst = malloc(out.size);
	assert_non_null(out.dst);
	in.src = m.data;
	in.size = m.size;
	assert_int_equal(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush), 0);
	left = (struct made){ out.dst, out.pos };
	assert_int_equal(auxtrace_reader_new(&reader, read_for_now, &left, &options), 0);
	while (auxtrace_reader_next(reader, &item) == 1)
		windows += item->kind == AUXTRACE_ITEM_WINDOW;
	assert_int_equal(windows, 1000);
	auxtrace_reader_free(reader);
	ZSTD_freeCCtx(zstd);
	free(out.dst);
	made_free(&m);
}
#endif

/* What is in the file is as the device gave it: byte for byte. */
static void verbatim(void **state)
{
	struct auxtrace_writer *writer;
	struct made m = {}, n = {};
	char head[32];
	FILE *file;

	(void)state;
	made_windows(&m, 1, 20, 300);
	assert_int_equal(auxtrace_writer_open(&writer, path, NULL), 0);
	assert_int_equal(copy(writer, &m, 0), 0);
	assert_int_equal(auxtrace_writer_close(writer), 0);
	file = fopen(path, "r");
	assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
	n.data = malloc(m.size + 1);
	n.size = fread(n.data, 1, m.size + 1, file);
	fclose(file);
	assert_int_equal(n.size, m.size);
	assert_memory_equal(n.data, m.data, m.size);
	made_free(&m);
	made_free(&n);
}

/* Wherever the disk ends: the file is good, and says what is missing. */
static void disk_full(void **state)
{
	struct auxtrace_stream *stream = stream_of(0);
	struct made m = {};
	uint64_t all;
	size_t i, at;

	(void)state;
	made_windows(&m, 2, 40, 900);
	all = see_memory(m.data, m.size, 0).bytes;
	for (i = 0; i < HOWS; i++) {
		for (at = 1; at < m.size + 500; at += at < 600 ? 24 : 1201) {
			struct auxtrace_writer *writer;
			uint64_t lost, windows;
			struct seen s;
			int ret;

			limit(at);
			ret = auxtrace_writer_open(&writer, path, &how[i]);
			if (ret) {
				/* Not even the beginning fits. */
				assert_int_equal(ret, -EFBIG);
				assert_int_equal(size_of(path), 0);
				limit(0);
				continue;
			}
			auxtrace_writer_stream(writer, stream);
			copy(writer, &m, i == 1 ? 4096 : 0);
			auxtrace_writer_flush(writer);
			limit(0);
			assert_int_equal(size_of(path), auxtrace_writer_size(writer));
			s = see_file();
			assert_int_equal(s.damages, 0);
			lost = auxtrace_writer_lost(writer, &windows);
			assert_int_equal(s.windows + windows, 40);
			/* No more is lost than has to be. */
			if (windows && i < 2)
				assert_true(size_of(path) + (i ? 4300 : 1100) >= (off_t)at);
			assert_int_equal(s.bytes + lost, all);

			/* There is room again, for a word on it. */
			assert_int_equal(auxtrace_writer_close(writer), 0);
			s = see_file();
			assert_int_equal(s.damages, 0);
			assert_int_equal(s.files, 1);
			assert_int_equal(s.streams, 1);
			assert_int_equal(s.windows + s.lost_windows, 40);
			assert_int_equal(s.bytes + s.lost_bytes, all);
		}
	}
	auxtrace_stream_free(stream);
	made_free(&m);
}

/* The disk is full for a while, in the middle. */
static void room_again(void **state)
{
	struct made m = {}, first, then, last;
	size_t i, third;

	(void)state;
	made_windows(&m, 1, 300, 700);
	/* At window boundaries. */
	for (third = 0, i = 0; i < 100; i++)
		third += 64 + align8(i * 37 % 701);
	first = (struct made){ m.data, third };
	for (i = third; memcmp(m.data + i, "AUXW", 4) || m.data[i + 16] != (char)200; i += 8)
		;
	then = (struct made){ m.data + third, i - third };
	last = (struct made){ m.data + i, m.size - i };

	for (i = 0; i < HOWS; i++) {
		struct auxtrace_writer *writer;
		uint64_t windows;
		struct seen s;

		assert_int_equal(auxtrace_writer_open(&writer, path, &how[i]), 0);
		assert_int_equal(copy(writer, &first, 0), 0);
		assert_int_equal(auxtrace_writer_flush(writer), 0);
		limit(auxtrace_writer_size(writer) + 1);
		copy(writer, &then, 0);
		assert_int_equal(auxtrace_writer_flush(writer), how[i].compression ? -EFBIG : 0);
		limit(0);
		auxtrace_writer_lost(writer, &windows);
		assert_int_equal(windows, 100);
		assert_int_equal(auxtrace_writer_untold(writer, &windows),
				 auxtrace_writer_lost(writer, NULL));
		assert_int_equal(windows, 100);
		assert_int_equal(copy(writer, &last, 0), 0);
		assert_int_equal(auxtrace_writer_flush(writer), 0);
		assert_int_equal(auxtrace_writer_untold(writer, &windows), 0);
		assert_int_equal(windows, 0);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		s = see_file();
		assert_int_equal(s.damages, 0);
		assert_int_equal(s.windows, 200);
		assert_int_equal(s.lost_windows, 100);
		assert_int_equal(s.bytes + s.lost_bytes, see_memory(m.data, m.size, 0).bytes);
	}
	made_free(&m);
}

/* Cut anywhere, a file gives what is before: with compression, up to the last batch. */
static void compressed_and_cut(void **state)
{
	struct made m = {}, file = {};
	struct auxtrace_writer *writer;
	uint64_t windows = 0, whole = 0, frames = 0;
	FILE *f;
	size_t n;

	(void)state;
	if (HOWS == 1)
		skip();
	made_windows(&m, 1, 60, 900);
	assert_int_equal(auxtrace_writer_open(&writer, path, &how[HOWS > 1]), 0);
	assert_int_equal(copy(writer, &m, 0), 0);
	assert_int_equal(auxtrace_writer_close(writer), 0);
	file.size = size_of(path);
	file.data = malloc(file.size);
	f = fopen(path, "r");
	assert_int_equal(fread(file.data, 1, file.size, f), file.size);
	fclose(f);
	for (n = 0; n + 4 <= file.size; n++)
		frames += !memcmp(file.data + n, "\x28\xb5\x2f\xfd", 4);
	for (n = 4; n <= file.size; n++) {
		struct seen s = see_memory(file.data, n, 0);

		assert_true(s.windows >= windows);
		windows = s.windows;
		assert_in_range(s.damages, 0, 2);
		assert_int_equal(s.damages, s.damage[AUXTRACE_DAMAGE_CUT]);
		whole += !s.damages;
		if (n == file.size)
			assert_int_equal(s.damages, 0);
	}
	assert_int_equal(windows, 60);
	/* It is good where a frame ends, and nowhere else. */
	assert_true(frames > 4);
	assert_int_equal(whole, frames);
	/* A wrong byte costs a batch, which is told. */
	for (n = 4; n < file.size; n += 11) {
		struct seen s;

		file.data[n] ^= 0x5a;
		s = see_memory(file.data, file.size, 0);
		file.data[n] ^= 0x5a;
		assert_true(s.damages);
		assert_true(s.windows > 40);
		assert_true(s.damage[AUXTRACE_DAMAGE_COMPRESSED] || s.damage[AUXTRACE_DAMAGE_CUT]);
	}
	made_free(&m);
	made_free(&file);
}

/* Frames and windows that end where the reader's buffer ends. */
static void compressed_and_full(void **state)
{
	struct auxtrace_reader_options options = { .size = sizeof(options), .buffer = 4096 };
	uint64_t size;

	(void)state;
	if (HOWS == 1)
		skip();
	for (size = 3900; size < 4200; size += 4) {
		struct auxtrace_reader *reader;
		struct auxtrace_writer *writer;
		struct made m = {};
		struct seen s;

		made_window(&m, 0, 0, 0, size);
		assert_int_equal(auxtrace_writer_open(&writer, path, &how[1]), 0);
		assert_int_equal(copy(writer, &m, 0), 0);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		assert_int_equal(auxtrace_reader_open(&reader, path, &options), 0);
		s = see(reader);
		assert_int_equal(s.damages, 0);
		assert_int_equal(s.windows, 1);
		assert_int_equal(s.bytes, size);
		made_free(&m);
	}
}

/* A window whose rest does not come is taken back. */
static void aborted(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < HOWS; i++) {
		struct auxtrace_writer *writer;
		struct made m = {}, n = {};
		struct seen s;

		made_window(&m, 0, 0, 0, 10);
		made_window(&m, 0, 1, 10, 9000);
		m.size -= 3000;
		made_window(&n, 0, 2, 9010, 10);
		assert_int_equal(auxtrace_writer_open(&writer, path, &how[i]), 0);
		assert_int_equal(copy(writer, &m, 4096), 0);
		assert_int_equal(copy(writer, &n, 4096), 0);
		assert_int_equal(auxtrace_writer_lost(writer, NULL), 9000);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		s = see_file();
		assert_int_equal(s.damages, 0);
		assert_int_equal(s.windows, 2);
		assert_int_equal(s.lost_windows, 1);
		assert_int_equal(s.lost_bytes, 9000);
		made_free(&m);
		made_free(&n);
	}
}

/* What was lost before there was a writer; told once for each CPU, with its last reason. */
static void lost_elsewhere(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < HOWS; i++) {
		const struct auxtrace_item *item;
		struct auxtrace_reader *reader;
		struct auxtrace_writer *writer;
		uint64_t windows;
		unsigned int losts = 0;

		assert_int_equal(auxtrace_writer_open(&writer, path, &how[i]), 0);
		assert_int_equal(auxtrace_writer_tell_lost(writer, 65536, EIO, 1, 1), -E2BIG);
		assert_int_equal(auxtrace_writer_tell_lost(writer, 7, EIO, 2, 20), 0);
		assert_int_equal(auxtrace_writer_tell_lost(writer, 7, ENOSPC, 1, 5), 0);
		assert_int_equal(auxtrace_writer_untold(writer, &windows), 25);
		assert_int_equal(windows, 3);
		assert_int_equal(auxtrace_writer_lost(writer, NULL), 0);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		assert_int_equal(auxtrace_reader_open(&reader, path, NULL), 0);
		while (auxtrace_reader_next(reader, &item) == 1) {
			if (item->kind != AUXTRACE_ITEM_LOST)
				continue;
			assert_null(item->window);
			assert_int_equal(item->cpu, 7);
			assert_int_equal(item->error, ENOSPC);
			assert_int_equal(item->lost_windows, 3);
			assert_int_equal(item->lost_bytes, 25);
			losts++;
		}
		assert_int_equal(losts, 1);
		auxtrace_reader_free(reader);
	}
}

/* Closed within a window, and asked for what does not come next. */
static void out_of_order(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < HOWS; i++) {
		struct auxtrace_reader_options o = { .size = sizeof(o), .buffer = 4096 };
		struct auxtrace_stream *stream = stream_of(0);
		const struct auxtrace_item *item;
		struct auxtrace_writer *writer;
		struct auxtrace_reader *reader;
		struct made m = {}, left;
		struct seen s;

		made_window(&m, 0, 0, 0, 10);
		made_window(&m, 0, 1, 10, 9000);
		left = m;
		assert_int_equal(auxtrace_reader_new(&reader, read_made, &left, &o), 0);
		assert_int_equal(auxtrace_writer_open(&writer, path, &how[i]), 0);
		assert_int_equal(auxtrace_reader_next(reader, &item), 1);
		assert_int_equal(auxtrace_writer_item(writer, item), 0);
		assert_int_equal(auxtrace_reader_next(reader, &item), 1);
		assert_false(item->last);
		assert_int_equal(auxtrace_writer_item(writer, item), 0);
		assert_int_equal(auxtrace_writer_item(writer, item), -EINVAL);
		assert_int_equal(auxtrace_writer_flush(writer), -EINVAL);
		assert_int_equal(auxtrace_writer_stream(writer, stream), -EINVAL);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		s = see_file();
		assert_int_equal(s.windows, 1);
		assert_int_equal(s.lost_windows, 1);
		assert_int_equal(s.damages, 0);
		auxtrace_reader_free(reader);
		auxtrace_stream_free(stream);
		made_free(&m);
	}
}

static void pipes(void **state)
{
	struct made m = {};
	size_t i;

	(void)state;
	made_windows(&m, 1, 10, 500);
	for (i = 0; i < HOWS; i++) {
		struct auxtrace_reader *reader;
		struct auxtrace_writer *writer;
		const struct auxtrace_item *item;
		struct made n = {};
		uint64_t windows;
		struct seen s;
		int ends[2];

		assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
		assert_int_equal(auxtrace_writer_from_fd(&writer, ends[1], &how[i]), 0);
		assert_int_equal(copy(writer, &m, 0), 0);
		assert_int_equal(auxtrace_writer_close(writer), 0);
		close(ends[1]);
		assert_int_equal(auxtrace_reader_from_fd(&reader, ends[0], NULL), 0);
		s = see(reader);
		assert_int_equal(s.windows, 10);
		assert_int_equal(s.damages, 0);
		close(ends[0]);

		/* Nobody reads any more. */
		assert_int_equal(pipe(ends), 0);
		assert_int_equal(auxtrace_writer_from_fd(&writer, ends[1], &how[i]), 0);
		close(ends[0]);
		made_window(&n, 0, 0, 0, 3 << 20);
		made_window(&n, 0, 1, 3 << 20, 10);
		assert_int_equal(auxtrace_reader_from_memory(&reader, n.data, n.size, NULL), 0);
		assert_int_equal(auxtrace_reader_next(reader, &item), 1);
		assert_int_equal(auxtrace_writer_item(writer, item), -EPIPE);
		assert_int_equal(auxtrace_reader_next(reader, &item), 1);
		assert_int_equal(auxtrace_writer_item(writer, item), -EPIPE);
		assert_int_equal(auxtrace_writer_lost(writer, &windows), (3 << 20) + 10);
		assert_int_equal(windows, 2);
		assert_int_equal(auxtrace_writer_close(writer), -EPIPE);
		auxtrace_reader_free(reader);
		close(ends[1]);
		made_free(&n);
	}
	made_free(&m);
}

/* Behind what is in the file already, which is not cut. */
static void behind_others(void **state)
{
	struct auxtrace_writer *writer;
	struct made m = {};
	struct seen s;
	int fd;

	(void)state;
	made_windows(&m, 1, 10, 100);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, m.data, m.size), (ssize_t)m.size);
	close(fd);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(auxtrace_writer_from_fd(&writer, fd, NULL), 0);
	limit(m.size + 100);
	copy(writer, &m, 0);
	limit(0);
	assert_int_equal(auxtrace_writer_size(writer), 32 + 64);
	assert_int_equal(auxtrace_writer_close(writer), 0);
	close(fd);
	s = see_file();
	assert_int_equal(s.windows, 11);
	assert_int_equal(s.lost_windows, 9);
	assert_int_equal(s.damages, 0);
	made_free(&m);
}

static void opening(void **state)
{
	struct auxtrace_writer_options o = { .size = sizeof(o), .compression = 20 };
	struct auxtrace_writer *writer = NULL;
	char fifo[300];
	struct stat st;

	(void)state;
	assert_int_equal(auxtrace_writer_open(&writer, path, &o), -EINVAL);
	o = (struct auxtrace_writer_options){ .size = sizeof(o), .flags = 2 };
	assert_int_equal(auxtrace_writer_open(&writer, path, &o), -EINVAL);
	o = (struct auxtrace_writer_options){ .size = sizeof(o), .batch = 4095 };
	assert_int_equal(auxtrace_writer_open(&writer, path, &o), -EINVAL);
	assert_int_equal(auxtrace_writer_open(&writer, "/nowhere/file", NULL), -ENOENT);
	assert_int_equal(auxtrace_writer_open(&writer, directory, NULL), -EISDIR);
	assert_int_equal(auxtrace_writer_open(&writer, "/dev/null", NULL), -EEXIST);
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(auxtrace_writer_open(&writer, fifo, NULL), -EEXIST);
	assert_null(writer);

	unlink(path);
	umask(022);
	o = (struct auxtrace_writer_options){ .size = sizeof(o),
					      .flags = AUXTRACE_WRITER_NEW,
					      .mode = 0660 };
	assert_int_equal(auxtrace_writer_open(&writer, path, &o), 0);
	assert_int_equal(auxtrace_writer_close(writer), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(auxtrace_writer_open(&writer, path, &o), -EEXIST);
	assert_int_equal(size_of(path), 32);
	unlink(path);
	assert_int_equal(auxtrace_writer_open(&writer, path, NULL), 0);
	assert_int_equal(auxtrace_writer_close(writer), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(auxtrace_writer_close(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_ZSTD
		cmocka_unit_test(flushed),
#endif
		cmocka_unit_test(round_trip),
		cmocka_unit_test(small_and_large),
		cmocka_unit_test(verbatim),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(room_again),
		cmocka_unit_test(compressed_and_cut),
		cmocka_unit_test(aborted),
		cmocka_unit_test(lost_elsewhere),
		cmocka_unit_test(out_of_order),
		cmocka_unit_test(pipes),
		cmocka_unit_test(behind_others),
		cmocka_unit_test(opening),
		cmocka_unit_test(compressed_and_full),
	};

	/* The limit on files is to be an error, as a full disk is. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
