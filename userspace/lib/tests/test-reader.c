// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Readers: any split, any source, any damage.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../internal.h"
#include "made.h"

/* Gives bytes in pieces of 1 to @max; each other call says @instead. */
struct pieces {
	const char *data;
	size_t left;
	size_t max;
	unsigned int seed;
	int instead;
	bool turn;
};

static ssize_t read_pieces(void *context, void *buffer, size_t size)
{
	struct pieces *p = context;
	size_t n = 1 + rand_r(&p->seed) % p->max;

	p->turn = !p->turn;
	if (p->instead && p->turn)
		return p->instead;
	if (n > size)
		n = size;
	if (n > p->left)
		n = p->left;
	memcpy(buffer, p->data, n);
	p->data += n;
	p->left -= n;
	return n;
}

static struct seen see_pieces(const struct made *m, size_t max, uint64_t buffer)
{
	struct auxtrace_reader_options options = { .size = sizeof(options), .buffer = buffer };
	struct pieces pieces = { m->data, m->size, max, 1, 0, false };
	struct auxtrace_reader *reader;

	assert_int_equal(auxtrace_reader_new(&reader, read_pieces, &pieces, &options), 0);
	return see(reader);
}

static void any_split(void **state)
{
	static const size_t sizes[] = { 1, 2, 7, 64, 100, 5000 };
	struct made m = {};
	size_t i;

	(void)state;
	made_file(&m);
	made_stream(&m, 0, 1);
	made_stream(&m, 1, 1);
	made_windows(&m, 2, 100, 3000);
	for (i = 0; i < 6; i++) {
		struct seen s = see_pieces(&m, sizes[i], 4096);

		assert_int_equal(s.damages, 0);
		assert_int_equal(s.windows, 100);
		assert_int_equal(s.parts, 100);
		assert_int_equal(s.raw, m.size);
		assert_int_equal(s.files, 1);
		assert_int_equal(s.streams, 2);
	}
	made_free(&m);
}

/* Parts give every byte of the source, and each but the last as much as fits. */
static void large_windows_in_parts(void **state)
{
	static const size_t sizes[] = { 1, 1000, 100000 };
	uint64_t size;
	size_t i;

	(void)state;
	for (size = 4000; size < 4200; size++) {
		struct made m = {};
		struct seen s;

		made_window(&m, 0, 0, 0, 20);
		made_window(&m, 0, 1, 20, size);
		made_window(&m, 0, 2, 20 + size, 3 * size);
		made_window(&m, 0, 3, 20 + 4 * size, 5);
		for (i = size % 40 ? 1 : 0; i < 3; i++) {
			s = see_pieces(&m, sizes[i], 4096);
			assert_int_equal(s.damages, 0);
			assert_int_equal(s.windows, 4);
			assert_int_equal(s.bytes, 4 * size + 25);
			assert_int_equal(s.raw, m.size);
			assert_true(s.parts > 4 && s.parts < 16);
		}
		s = see_pieces(&m, 1000, 1 << 20);
		assert_int_equal(s.parts, 4);
		made_free(&m);
	}
}

/* A source that has nothing for now, or is interrupted, loses nothing. */
static void interruptions(void **state)
{
	static const int errors[] = { -EAGAIN, -EINTR, -EIO, -EBADMSG };
	struct made m = {};
	size_t i;

	(void)state;
	made_windows(&m, 1, 30, 500);
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct pieces pieces = { m.data, m.size, 50, 1, errors[i], false };
		const struct auxtrace_item *item;
		struct auxtrace_reader *reader;
		unsigned int windows = 0, told = 0;
		int ret;

		assert_int_equal(auxtrace_reader_new(&reader, read_pieces, &pieces, NULL), 0);
		while ((ret = auxtrace_reader_next(reader, &item))) {
			if (ret == 1) {
				assert_int_equal(item->kind, AUXTRACE_ITEM_WINDOW);
				check_payload(item);
				windows++;
			} else {
				assert_int_equal(ret, errors[i]);
				told++;
			}
		}
		assert_int_equal(windows, 30);
		assert_true(told > 30);
		auxtrace_reader_free(reader);
	}
	made_free(&m);
}

/* Writes from another process, and reads here. */
static struct seen see_from_child(const struct made *m, int in, int out)
{
	struct auxtrace_reader *reader;
	struct seen s;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		size_t at = 0;

		close(in);
		while (at < m->size) {
			ssize_t n = write(out, m->data + at, m->size - at);

			if (n < 0)
				_exit(1);
			at += n;
		}
		_exit(0);
	}
	close(out);
	assert_int_equal(auxtrace_reader_from_fd(&reader, in, NULL), 0);
	s = see(reader);
	close(in);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return s;
}

static void pipes_sockets_files(void **state)
{
	struct auxtrace_reader *reader;
	char *directory = made_directory(), path[1024];
	struct made m = {};
	struct seen s;
	int ends[2];

	(void)state;
	made_windows(&m, 3, 300, 9000);

	assert_int_equal(pipe(ends), 0);
	s = see_from_child(&m, ends[0], ends[1]);
	assert_int_equal(s.windows, 300);
	assert_int_equal(s.raw, m.size);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	s = see_from_child(&m, ends[0], ends[1]);
	assert_int_equal(s.windows, 300);
	assert_int_equal(s.raw, m.size);

	snprintf(path, sizeof(path), "%s/recording", directory);
	ends[0] = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(ends[0] >= 0);
	assert_int_equal(write(ends[0], m.data, m.size), (ssize_t)m.size);
	close(ends[0]);
	assert_int_equal(auxtrace_reader_open(&reader, path, NULL), 0);
	s = see(reader);
	assert_int_equal(s.windows, 300);
	assert_int_equal(s.raw, m.size);
	unlink(path);
	assert_int_equal(auxtrace_reader_open(&reader, path, NULL), -ENOENT);
	made_remove(directory);
	made_free(&m);
}

static void memory_is_not_copied(void **state)
{
	const struct auxtrace_item *item;
	struct auxtrace_reader *reader;
	struct made m = {};

	(void)state;
	made_window(&m, 3, 7, 100, 1000);
	assert_int_equal(auxtrace_reader_from_memory(&reader, m.data, m.size, NULL), 0);
	assert_int_equal(auxtrace_reader_next(reader, &item), 1);
	assert_ptr_equal(item->payload, m.data + 64);
	assert_ptr_equal(item->raw, m.data);
	assert_int_equal(item->raw_size, m.size);
	assert_int_equal(item->window->seq, 7);
	assert_int_equal(item->window->offset, 100);
	assert_int_equal(item->window->time, 7000);
	assert_int_equal(item->cpu, 3);
	assert_null(item->stream);
	assert_true(item->last);
	auxtrace_reader_free(reader);
	made_free(&m);
}

/* Whole windows, and then one word on the rest: wherever the end is. */
static void cut_anywhere(void **state)
{
	struct made m = {};
	size_t ends[22] = {}, i, n;

	(void)state;
	made_file(&m);
	ends[0] = m.size;
	for (i = 1; i < 22; i++) {
		made_window(&m, 0, i, i == 1 ? 0 : 50 * (i - 1), 50);
		ends[i] = m.size;
	}
	for (n = 0; n <= m.size; n++) {
		struct seen s = see_memory(m.data, n, 0), t;
		struct made part = { m.data, n };
		bool at_end = !n;

		for (i = 0; i < 22 && ends[i] <= n; i++)
			at_end |= ends[i] == n;
		assert_int_equal(s.windows + s.files, i);
		assert_int_equal(s.damages, !at_end);
		assert_int_equal(s.damage[AUXTRACE_DAMAGE_CUT], !at_end);
		assert_int_equal(s.raw + s.left_out, n);
		t = see_pieces(&part, 100, 4096);
		assert_memory_equal(&s, &t, sizeof(s));
	}
	made_free(&m);
}

/* Of a window that was given in parts. */
static void cut_in_parts(void **state)
{
	struct made m = {}, part;
	struct seen s;

	(void)state;
	made_window(&m, 0, 0, 0, 10000);
	part = (struct made){ m.data, 6000 };
	s = see_pieces(&part, 100, 4096);
	assert_int_equal(s.windows, 0);
	assert_true(s.parts);
	assert_int_equal(s.damages, 1);
	assert_int_equal(s.damage[AUXTRACE_DAMAGE_ABORTED], 1);
	made_free(&m);
}

/* Each byte of the source is given or told as left out, whatever one byte is. */
static void any_byte_wrong(void **state)
{
	struct made m = {};
	size_t i;

	(void)state;
	made_file(&m);
	made_stream(&m, 0, 1);
	made_windows(&m, 2, 8, 60);
	for (i = 0; i < m.size; i++) {
		struct made *p = &m;
		char was = p->data[i];
		const struct auxtrace_item *item;
		struct auxtrace_reader *reader;
		uint64_t bytes = 0, damages = 0;

		p->data[i] ^= 0x55;
		assert_int_equal(auxtrace_reader_from_memory(&reader, p->data, p->size, NULL), 0);
		while (auxtrace_reader_next(reader, &item) == 1) {
			bytes += item->raw_size;
			if (item->kind != AUXTRACE_ITEM_DAMAGE)
				continue;
			damages++;
			if (item->damage != AUXTRACE_DAMAGE_HOLE)
				bytes += item->lost_bytes;
		}
		auxtrace_reader_free(reader);
		/* A record's kind may have become one that is not known. */
		if (i >= 4 && i < 8)
			assert_int_equal(bytes, m.size - 32);
		else if (i >= 36 && i < 40)
			assert_true(bytes < m.size);
		else
			assert_int_equal(bytes, m.size);
		/* The magics cannot be wrong unnoticed. */
		if (i < 4)
			assert_int_equal(damages, 1);
		p->data[i] = was;
	}
	made_free(&m);
}

static void garbage_between(void **state)
{
	struct made m = {};
	struct seen s;

	(void)state;
	made_window(&m, 0, 0, 0, 100);
	made_add(&m, "AUXWAUXRA", 9);
	made_window(&m, 0, 1, 100, 100);
	made_add(&m, "AUX", 3);
	s = see_pieces(&m, 3, 4096);
	assert_int_equal(s.windows, 2);
	assert_int_equal(s.damages, 2);
	assert_int_equal(s.damage[AUXTRACE_DAMAGE_SKIPPED], 1);
	assert_int_equal(s.damage[AUXTRACE_DAMAGE_CUT], 1);
	assert_int_equal(s.left_out, 12);
	made_free(&m);
}

static void padding(void **state)
{
	struct made m = {};
	struct seen s;

	(void)state;
	made_window(&m, 0, 0, 0, 1);
	m.data[m.size - 1] = 1;
	made_window(&m, 0, 1, 1, 1);
	s = see_memory(m.data, m.size, 0);
	assert_int_equal(s.windows, 2);
	assert_int_equal(s.damages, 1);
	assert_int_equal(s.damage[AUXTRACE_DAMAGE_PADDING], 1);
	made_free(&m);
}

static void holes(void **state)
{
	const struct auxtrace_item *item;
	struct auxtrace_reader *reader;
	struct made m = {};

	(void)state;
	made_window(&m, 1, 5, 500, 10);
	made_window(&m, 1, 9, 600, 10);
	made_window(&m, 1, 10, 610, 10);
	assert_int_equal(auxtrace_reader_from_memory(&reader, m.data, m.size, NULL), 0);
	assert_int_equal(auxtrace_reader_next(reader, &item), 1);
	assert_int_equal(item->kind, AUXTRACE_ITEM_WINDOW);
	assert_int_equal(auxtrace_reader_next(reader, &item), 1);
	assert_int_equal(item->kind, AUXTRACE_ITEM_DAMAGE);
	assert_int_equal(item->damage, AUXTRACE_DAMAGE_HOLE);
	assert_int_equal(item->cpu, 1);
	assert_int_equal(item->lost_windows, 3);
	assert_int_equal(item->lost_bytes, 90);
	assert_int_equal(item->window->seq, 9);
	assert_int_equal(auxtrace_reader_next(reader, &item), 1);
	assert_int_equal(item->window->seq, 9);
	assert_int_equal(auxtrace_reader_next(reader, &item), 1);
	assert_int_equal(item->window->seq, 10);
	assert_int_equal(auxtrace_reader_next(reader, &item), 0);
	auxtrace_reader_free(reader);
	made_free(&m);
}

/* What the recorder lost is no hole; what is beside it is one. */
static void lost(void **state)
{
	struct made m = {};
	struct seen s;

	(void)state;
	made_window(&m, 0, 0, 0, 10);
	made_lost(&m, 0, 3, 30);
	made_window(&m, 0, 4, 40, 10);
	made_lost(&m, 0, 3, 30);
	made_window(&m, 0, 9, 90, 10);
	s = see_memory(m.data, m.size, 0);
	assert_int_equal(s.windows, 3);
	assert_int_equal(s.lost_windows, 6);
	assert_int_equal(s.lost_bytes, 60);
	assert_int_equal(s.damages, 1);
	assert_int_equal(s.missing, 1);
	made_free(&m);
}

/* Files one behind the other: a stream that goes on is checked on, another begins anew. */
static void several_files(void **state)
{
	struct made m = {};
	struct seen s;

	(void)state;
	made_file(&m);
	made_stream(&m, 0, 1);
	made_window(&m, 0, 0, 0, 10);
	made_file(&m);
	made_stream(&m, 0, 1);
	made_window(&m, 0, 2, 20, 10); /* a hole */
	made_file(&m);
	made_stream(&m, 0, 2);
	made_window(&m, 0, 0, 0, 10);
	made_stream(&m, 0, 3);
	made_window(&m, 0, 0, 0, 10);
	made_file(&m);
	made_window(&m, 0, 7, 70, 10);
	s = see_memory(m.data, m.size, 0);
	assert_int_equal(s.windows, 5);
	assert_int_equal(s.files, 4);
	assert_int_equal(s.damages, 1);
	assert_int_equal(s.damage[AUXTRACE_DAMAGE_HOLE], 1);
	assert_int_equal(s.missing, 1);
	made_free(&m);
}

static void later_versions(void **state)
{
	struct auxtrace_window *w;
	struct made m = {}, n = {};
	struct seen s;

	(void)state;
	/* Records of another kind, and a header that has more members. */
	made_record(&m, 77, 0);
	made_record(&m, 77, AUXTRACE_RECORD_MAX - 16);
	made_window(&n, 0, 0, 0, 40);
	w = (struct auxtrace_window *)n.data;
	w->header_size = htole16(72);
	made_add(&m, n.data, 64);
	made_add(&m, "12345678", 8);
	made_add(&m, n.data + 64, n.size - 64);
	s = see_pieces(&m, 5000, 4096);
	assert_int_equal(s.windows, 1);
	assert_int_equal(s.bytes, 40);
	assert_int_equal(s.damages, 0);
	/* A version that cannot be read is not. */
	w->version = htole16(2);
	s = see_memory(n.data, n.size, 0);
	assert_int_equal(s.windows, 0);
	assert_int_equal(s.damage[AUXTRACE_DAMAGE_SKIPPED], 1);
	made_free(&m);
	made_free(&n);
}

/* A record that does not fit makes the buffer grow. */
static void large_stream_record(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info), .cpu = 3 };
	struct auxtrace_stream *stream;
	char value[1000], key[16];
	struct made m = {};
	struct seen s;
	int i, ret;

	(void)state;
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(auxtrace_stream_new(&stream, &info), 0);
	for (i = 0;; i++) {
		sprintf(key, "k%d", i);
		ret = auxtrace_stream_set(stream, key, value);
		if (ret)
			break;
	}
	assert_int_equal(ret, -E2BIG);
	assert_true(i > 60);
	m.size = stream_record_size(stream);
	m.data = malloc(m.size);
	assert_non_null(m.data);
	stream_record_write(stream, m.data);
	auxtrace_stream_free(stream);
	made_window(&m, 3, 0, 0, 3000);
	s = see_pieces(&m, 10000, 4096);
	assert_int_equal(s.streams, 1);
	assert_int_equal(s.windows, 1);
	assert_int_equal(s.damages, 0);
	assert_int_equal(s.raw, m.size);
	made_free(&m);
}

static void bad_records(void **state)
{
	struct made m = {};
	struct seen s;

	(void)state;
	made_record(&m, AUXTRACE_RECORD_FILE, 8);
	made_record(&m, AUXTRACE_RECORD_STREAM, 16);
	made_record(&m, AUXTRACE_RECORD_LOST, 8);
	made_window(&m, 0, 0, 0, 8);
	s = see_memory(m.data, m.size, 0);
	assert_int_equal(s.windows, 1);
	assert_int_equal(s.damages, 3);
	assert_int_equal(s.damage[AUXTRACE_DAMAGE_RECORD], 3);
	assert_int_equal(s.left_out + s.raw, m.size);
	made_free(&m);
}

static void options(void **state)
{
	struct auxtrace_reader_options o = { .size = sizeof(o), .buffer = 4095 };
	struct auxtrace_reader *reader = NULL;

	(void)state;
	assert_int_equal(auxtrace_reader_from_memory(&reader, "", 0, &o), -EINVAL);
	o.buffer = (4ULL << 30) + 1;
	assert_int_equal(auxtrace_reader_from_memory(&reader, "", 0, &o), -EINVAL);
	o.buffer = 0;
	o.flags = 1;
	assert_int_equal(auxtrace_reader_from_memory(&reader, "", 0, &o), -EINVAL);
	assert_null(reader);
	/* An older caller's, which had the size alone. */
	o.size = 4;
	assert_int_equal(auxtrace_reader_from_memory(&reader, "", 0, &o), 0);
	auxtrace_reader_free(reader);
	auxtrace_reader_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_split),
		cmocka_unit_test(large_windows_in_parts),
		cmocka_unit_test(interruptions),
		cmocka_unit_test(pipes_sockets_files),
		cmocka_unit_test(memory_is_not_copied),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(cut_in_parts),
		cmocka_unit_test(any_byte_wrong),
		cmocka_unit_test(garbage_between),
		cmocka_unit_test(padding),
		cmocka_unit_test(holes),
		cmocka_unit_test(lost),
		cmocka_unit_test(several_files),
		cmocka_unit_test(later_versions),
		cmocka_unit_test(large_stream_record),
		cmocka_unit_test(bad_records),
		cmocka_unit_test(options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
