// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A libFuzzer target: readers and writers on any bytes.
 *
 * The first byte says how the rest is read: from memory, or in pieces through a small
 * buffer. What must hold whatever the bytes are: items lie in the source, in order; each byte
 * is given, told as left out, or of a record of an unknown kind; what a writer makes of the
 * items reads back without damage.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "fuzz.c:%d: %s is false\n", __LINE__, #condition);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct pieces {
	const uint8_t *data;
	size_t left;
	size_t max;
};

static ssize_t read_pieces(void *context, void *buffer, size_t size)
{
	struct pieces *p = context;

	if (size > p->max)
		size = p->max;
	if (size > p->left)
		size = p->left;
	memcpy(buffer, p->data, size);
	p->data += size;
	p->left -= size;
	return size;
}

struct totals {
	uint64_t windows;
	uint64_t bytes;
	uint64_t left_out;
	uint64_t raw;
};

static void check_window(const struct auxtrace_item *item, struct totals *t, uint64_t *at)
{
	const char *raw = item->raw, *payload = item->payload;

	CHECK(item->at == *at);
	CHECK(payload >= raw && payload + item->size <= raw + item->raw_size);
	CHECK(item->at + item->size <= item->window->size);
	CHECK(!item->last || item->at + item->size == item->window->size);
	*at = item->last ? 0 : item->at + item->size;
	t->windows += item->last;
	t->bytes += item->last ? item->window->size : 0;
}

static void check_damage(const struct auxtrace_item *item, struct totals *t, uint64_t *at)
{
	CHECK(item->damage >= 1 && item->damage <= 7);
	CHECK(!item->raw_size);
	if (item->damage == AUXTRACE_DAMAGE_ABORTED)
		*at = 0;
	else if (item->damage != AUXTRACE_DAMAGE_HOLE)
		t->left_out += item->lost_bytes;
}

/* Reads all. Gives it to @writer, if there is one. */
static struct totals read_all(struct auxtrace_reader *reader, struct auxtrace_writer *writer)
{
	uint64_t position = 0, at = 0;
	const struct auxtrace_item *item;
	struct totals t = {};
	int ret;

	while ((ret = auxtrace_reader_next(reader, &item)) == 1) {
		const volatile char *raw = item->raw;

		CHECK(item->position >= position);
		position = item->position + item->raw_size;
		if (item->raw_size)
			(void)raw[item->raw_size - 1];
		t.raw += item->raw_size;
		if (item->kind == AUXTRACE_ITEM_WINDOW)
			check_window(item, &t, &at);
		else
			CHECK(!at || item->kind == AUXTRACE_ITEM_DAMAGE);
		if (item->kind == AUXTRACE_ITEM_DAMAGE)
			check_damage(item, &t, &at);
		if (writer)
			CHECK(!auxtrace_writer_item(writer, item));
	}
	CHECK(!ret);
	CHECK(!at);
	auxtrace_reader_free(reader);
	return t;
}

static struct totals read_input(const uint8_t *data, size_t size, unsigned int how,
				struct auxtrace_writer *writer)
{
	struct auxtrace_reader_options options = { .size = sizeof(options), .buffer = 4096 };
	struct pieces pieces = { data, size, how & 0x7f ? how & 0x7f : 5000 };
	struct auxtrace_reader *reader;

	if (how & 0x80)
		CHECK(!auxtrace_reader_from_memory(&reader, data, size, NULL));
	else
		CHECK(!auxtrace_reader_new(&reader, read_pieces, &pieces, &options));
	return read_all(reader, writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct auxtrace_writer_options options = { .size = sizeof(options), .batch = 4096 };
	struct auxtrace_reader *reader;
	struct auxtrace_writer *writer;
	struct totals in, out;
	unsigned int how;
	int file;

	if (!size)
		return 0;
	how = *data++;
	size--;
	file = memfd_create("recording", MFD_CLOEXEC);
	CHECK(file >= 0);
#ifdef HAVE_ZSTD
	options.compression = how % 4 == 1;
#endif
	CHECK(!auxtrace_writer_from_fd(&writer, file, &options));
	in = read_input(data, size, how, writer);
	CHECK(!auxtrace_writer_close(writer));
	if (!source_starts_compressed(data, size))
		CHECK(in.raw + in.left_out <= size);

	lseek(file, 0, SEEK_SET);
	CHECK(!auxtrace_reader_from_fd(&reader, file, NULL));
	out = read_all(reader, NULL);
	CHECK(out.windows == in.windows && out.bytes == in.bytes);
	close(file);
	return 0;
}

#ifdef FUZZ_REPLAY
/* Without libFuzzer: the files that are named, once each. */
int main(int argc, char **argv)
{
	static uint8_t data[1 << 20];

	while (*++argv) {
		FILE *file = fopen(*argv, "r");

		CHECK(file);
		LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), file));
		fclose(file);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
#endif
