// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * make-recording - recordings made up for tests of programs, and seeds for fuzz.c
 *
 *	make-recording KIND		to standard output
 *	make-recording --seeds DIRECTORY
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../internal.h"
#include "made.h"

/* Two CPUs, 100 windows each, of 0 to 500 bytes. */
static void good(struct made *m)
{
	made_file(m);
	made_stream(m, 0, 1000000000);
	made_stream(m, 1, 1000000000);
	made_windows(m, 2, 200, 500);
}

/* What the recorder lost, a hole, a record of a later version, and a window that is large. */
static void odd(struct made *m)
{
	made_file(m);
	made_stream(m, 0, 1);
	made_window(m, 0, 0, 0, 100);
	made_lost(m, 0, 2, 200);
	made_window(m, 0, 3, 300, 10);
	made_window(m, 0, 5, 400, 10);
	made_record(m, 99, 64);
	made_window(m, 0, 6, 410, 3 << 20);
	made_window(m, 0, 7, 410 + (3 << 20), 1);
}

static void garbage(struct made *m)
{
	good(m);
	made_add(m, "garbage", 7);
	made_window(m, 2, 0, 0, 8);
}

/* Texts of somebody who means harm: ESC, a newline, CSI as UTF-8 and as a byte. */
static void rude(struct made *m)
{
	static const char *const texts[][2] = { { "made", "m\033[m" },
						{ "kernel", "k\033]0;x" },
						{ "6.1.0", "\n\x9b"
							   "2\xc2\x9b" } };
	size_t i;

	made_file(m);
	made_stream(m, 0, 1);
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *at = memmem(m->data, m->size, texts[i][0], strlen(texts[i][0]));

		assert_non_null(at);
		assert_int_equal(strlen(texts[i][0]), strlen(texts[i][1]));
		memcpy(at, texts[i][1], strlen(texts[i][1]));
	}
	made_window(m, 0, 0, 0, 10);
}

static void small(struct made *m)
{
	made_file(m);
	made_stream(m, 0, 1);
	made_windows(m, 2, 6, 40);
	made_lost(m, 0, 1, 10);
	made_window(m, 0, 4, 200, 3);
	made_record(m, 9, 16);
}

static void large(struct made *m)
{
	made_window(m, 0, 0, 0, 5000);
	made_window(m, 0, 1, 5000, 3);
}

#ifdef HAVE_ZSTD
/* As the writer makes it, in several frames. */
static void compressed(struct made *m)
{
	struct auxtrace_writer_options options = {
		.size = sizeof(options),
		.compression = 1,
		.batch = 4096,
	};
	const struct auxtrace_item *item;
	struct auxtrace_reader *reader;
	struct auxtrace_writer *writer;
	struct made plain = {};
	FILE *file = tmpfile();
	char bytes[4096];
	size_t n;

	assert_non_null(file);
	good(&plain);
	assert_int_equal(auxtrace_writer_from_fd(&writer, fileno(file), &options), 0);
	assert_int_equal(auxtrace_reader_from_memory(&reader, plain.data, plain.size, NULL), 0);
	while (auxtrace_reader_next(reader, &item) == 1)
		assert_int_equal(auxtrace_writer_item(writer, item), 0);
	auxtrace_reader_free(reader);
	assert_int_equal(auxtrace_writer_close(writer), 0);
	rewind(file);
	while ((n = fread(bytes, 1, sizeof(bytes), file)))
		made_add(m, bytes, n);
	fclose(file);
	made_free(&plain);
}
#endif

static const struct {
	const char *name;
	void (*make)(struct made *m);
} kinds[] = {
	{ "good", good },
	{ "odd", odd },
	{ "garbage", garbage },
	{ "rude", rude },
	{ "small", small },
	{ "large", large },
#ifdef HAVE_ZSTD
	{ "compressed", compressed },
#endif
};
#define NR_KINDS (sizeof(kinds) / sizeof(*kinds))

/* The first byte is fuzz.c's: from memory, and in small pieces. */
static int make_seeds(const char *directory)
{
	static const unsigned char hows[] = { 0x80, 7, 0 };
	size_t i, j;

	for (i = 0; i < NR_KINDS * 3; i++) {
		struct made m = {};
		char path[1024];
		FILE *file;

		kinds[i / 3].make(&m);
		j = m.size > 20000 ? 20000 : m.size;
		snprintf(path, sizeof(path), "%s/%s-%zu", directory, kinds[i / 3].name, i % 3);
		file = fopen(path, "w");
		if (!file || putc(hows[i % 3], file) == EOF || fwrite(m.data, 1, j, file) != j ||
		    fclose(file))
			return 1;
		made_free(&m);
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return make_seeds(argv[2]);
	for (i = 0; argc == 2 && i < NR_KINDS; i++) {
		struct made m = {};

		if (strcmp(argv[1], kinds[i].name))
			continue;
		kinds[i].make(&m);
		if (fwrite(m.data, 1, m.size, stdout) != m.size || fflush(stdout))
			return 1;
		made_free(&m);
		return 0;
	}
	fputs("Usage: make-recording good|odd|garbage|rude|small|large|compressed\n"
	      "       make-recording --seeds DIRECTORY\n",
	      stderr);
	return 2;
}
