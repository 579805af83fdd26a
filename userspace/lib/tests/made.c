// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * made - streams and recordings made up in memory, for tests
 *
 * Owns what made-up trace looks like.
 */
#define _GNU_SOURCE 1
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../internal.h"
#include "made.h"

void made_free(struct made *m)
{
	free(m->data);
	*m = (struct made){};
}

void made_add(struct made *m, const void *data, size_t size)
{
	m->data = realloc(m->data, m->size + size + 1);
	assert_non_null(m->data);
	if (size)
		memcpy(m->data + m->size, data, size);
	m->size += size;
}

unsigned char made_byte(uint32_t cpu, uint64_t offset)
{
	return (offset * 0x9e3779b97f4a7c15ULL + cpu) >> 56;
}

void made_window(struct made *m, uint32_t cpu, uint64_t seq, uint64_t offset, uint64_t size)
{
	struct auxtrace_window w = {
		.magic = htole32(AUXTRACE_WINDOW_MAGIC),
		.header_size = htole16(sizeof(w)),
		.version = htole16(AUXTRACE_WINDOW_VERSION),
		.cpu = htole32(cpu),
		.seq = htole64(seq),
		.offset = htole64(offset),
		.size = htole64(size),
		.time = htole64(1000 * seq),
	};
	uint64_t i;

	made_add(m, &w, sizeof(w));
	made_add(m, NULL, 0);
	m->data = realloc(m->data, m->size + align8(size) + 1);
	assert_non_null(m->data);
	for (i = 0; i < size; i++)
		m->data[m->size++] = made_byte(cpu, offset + i);
	for (; i < align8(size); i++)
		m->data[m->size++] = 0;
}

void made_file(struct made *m)
{
	struct auxtrace_file_record r = {
		.record.magic = htole32(AUXTRACE_RECORD_MAGIC),
		.record.kind = htole32(AUXTRACE_RECORD_FILE),
		.record.size = htole64(sizeof(r)),
		.version = htole32(AUXTRACE_RECORDING_VERSION),
		.created = htole64(1234567890),
	};

	made_add(m, &r, sizeof(r));
}

void made_stream(struct made *m, uint32_t cpu, uint64_t started)
{
	struct auxtrace_info info = { .size = sizeof(info), .cpu = cpu, .pmu_name = "made" };
	struct auxtrace_stream *stream;
	size_t at = m->size, size;

	assert_int_equal(auxtrace_stream_new(&stream, &info), 0);
	stream->started = started;
	assert_int_equal(auxtrace_stream_set(stream, "kernel", "6.1.0"), 0);
	size = stream_record_size(stream);
	m->data = realloc(m->data, m->size + size + 1);
	assert_non_null(m->data);
	stream_record_write(stream, m->data + at);
	m->size += size;
	auxtrace_stream_free(stream);
}

void made_lost(struct made *m, uint32_t cpu, uint64_t windows, uint64_t bytes)
{
	struct auxtrace_lost_record r = {
		.record.magic = htole32(AUXTRACE_RECORD_MAGIC),
		.record.kind = htole32(AUXTRACE_RECORD_LOST),
		.record.size = htole64(sizeof(r)),
		.cpu = htole32(cpu),
		.error = htole32(28),
		.windows = htole64(windows),
		.bytes = htole64(bytes),
	};

	made_add(m, &r, sizeof(r));
}

void made_record(struct made *m, uint32_t kind, size_t size)
{
	struct auxtrace_record r = {
		.magic = htole32(AUXTRACE_RECORD_MAGIC),
		.kind = htole32(kind),
		.size = htole64(sizeof(r) + size),
	};
	char *bytes = calloc(1, size + 1);

	assert_non_null(bytes);
	made_add(m, &r, sizeof(r));
	made_add(m, bytes, size);
	free(bytes);
}

void made_windows(struct made *m, unsigned int cpus, unsigned int n, size_t max)
{
	uint64_t *offset = calloc(cpus, sizeof(*offset));
	unsigned int i;

	assert_non_null(offset);
	for (i = 0; i < n; i++) {
		uint64_t size = i * 37 % (max + 1);

		made_window(m, i % cpus, i / cpus, offset[i % cpus], size);
		offset[i % cpus] += size;
	}
	free(offset);
}

void check_payload(const struct auxtrace_item *item)
{
	const unsigned char *bytes = item->payload;
	size_t i;

	for (i = 0; i < item->size; i++) {
		if (bytes[i] != made_byte(item->cpu, item->window->offset + item->at + i))
			fail_msg("wrong byte in window %llu at %llu",
				 (unsigned long long)item->window->seq,
				 (unsigned long long)(item->at + i));
	}
}

static void see_damage(struct seen *s, const struct auxtrace_item *item)
{
	assert_in_range(item->damage, 1, 7);
	s->damages++;
	s->damage[item->damage]++;
	switch (item->damage) {
	case AUXTRACE_DAMAGE_SKIPPED:
	case AUXTRACE_DAMAGE_CUT:
	case AUXTRACE_DAMAGE_RECORD:
		s->left_out += item->lost_bytes;
		break;
	case AUXTRACE_DAMAGE_HOLE:
		s->missing += item->lost_windows;
		break;
	}
}

struct seen see(struct auxtrace_reader *reader)
{
	const struct auxtrace_item *item;
	struct seen s = {};
	uint64_t at = 0;
	int ret;

	while ((ret = auxtrace_reader_next(reader, &item)) == 1) {
		s.raw += item->raw_size;
		switch (item->kind) {
		case AUXTRACE_ITEM_WINDOW:
			assert_int_equal(item->at, at);
			check_payload(item);
			at = item->last ? 0 : at + item->size;
			s.windows += item->last;
			s.parts++;
			s.bytes += item->size;
			break;
		case AUXTRACE_ITEM_FILE:
			s.files++;
			break;
		case AUXTRACE_ITEM_STREAM:
			s.streams++;
			break;
		case AUXTRACE_ITEM_LOST:
			s.lost_windows += item->lost_windows;
			s.lost_bytes += item->lost_bytes;
			break;
		default:
			assert_int_equal(item->kind, AUXTRACE_ITEM_DAMAGE);
			see_damage(&s, item);
			at = item->damage == AUXTRACE_DAMAGE_ABORTED ? 0 : at;
		}
	}
	assert_int_equal(ret, 0);
	/* And so it stays. */
	assert_int_equal(auxtrace_reader_next(reader, &item), 0);
	auxtrace_reader_free(reader);
	return s;
}

struct seen see_memory(const void *data, size_t size, uint64_t buffer)
{
	struct auxtrace_reader_options options = { .size = sizeof(options), .buffer = buffer };
	struct auxtrace_reader *reader;

	assert_int_equal(auxtrace_reader_from_memory(&reader, data, size, &options), 0);
	return see(reader);
}

char *made_directory(void)
{
	const char *tmp = getenv("TMPDIR");
	char *path = NULL;

	assert_true(asprintf(&path, "%s/auxtrace-test-XXXXXX", tmp ? tmp : "/tmp") > 0);
	assert_non_null(mkdtemp(path));
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void made_remove(char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(directory);
}

void made_put(const char *directory, const char *path, const char *text)
{
	char full[1024], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", directory, path);
	for (slash = strchr(full + strlen(directory) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}
