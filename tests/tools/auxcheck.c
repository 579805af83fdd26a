// SPDX-License-Identifier: GPL-2.0-only
/*
 * auxcheck - verify every byte of a stream from the simulated trace PMU
 *
 * The stream's pattern is described in ../sim/pattern.h.
 */

#define _GNU_SOURCE

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../sim/pattern.h"

#define WORD		PATTERN_WORD_SIZE
#define DEFAULT_SIZE	(64UL << 10)
#define MAX_RANDOM_SIZE (1UL << 20)
#define MAX_SIZE	(1UL << 30)

/* Bytes shown before and after a wrong one; a multiple of the word size. */
#define CONTEXT 32UL

/* Words that are compared in one go. */
#define BULK 512UL

enum {
	EXIT_GOOD = 0,
	EXIT_WRONG = 1,
	EXIT_ERROR = 2,
};

struct options {
	const char *file;
	uint64_t bytes;
	size_t size;
	bool random_size;
	uint64_t seed;
	unsigned long delay_us;
	bool poll;
	bool padding;
	bool start_any;
	bool restarts;
	double seconds;
	bool generate;
	char *stops;
};

/*
 * The bytes to look at are at @data, preceded by CONTEXT bytes of what was
 * looked at before, so that a message can show it.
 */
struct checker {
	bool padding;
	bool start_any;
	bool may_restart;
	unsigned char *data;
	size_t len;	    /* bytes at data */
	uint64_t base;	    /* offset of data in the stream */
	uint64_t index;	    /* of the next word */
	unsigned int epoch; /* of the word before */
	uint64_t words;
	uint64_t gaps;
	uint64_t stops;
	uint64_t padded;
	uint64_t restarts;
	uint64_t wrong; /* offset of the first wrong byte */
};

static volatile sig_atomic_t time_is_up;

static void on_signal(int sig)
{
	(void)sig;
	time_is_up = 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint64_t load_word(const unsigned char *from)
{
	uint64_t word;

	memcpy(&word, from, WORD);
	return le64toh(word);
}

/* Say what is wrong at data + pos, in the word that begins there. */
static void report(struct checker *c, size_t pos)
{
	size_t avail = c->len - pos < WORD ? c->len - pos : WORD;
	uint64_t expected = pattern_word(c->epoch, c->index);
	unsigned char want[WORD], *got = c->data + pos;
	uint64_t le = htole64(expected);
	size_t i, from, to;

	memcpy(want, &le, WORD);
	for (i = 0; i + 1 < avail && got[i] == want[i]; i++)
		;

	c->wrong = c->base + pos + i;
	fprintf(stderr, "auxcheck: wrong byte at offset %" PRIu64 ": expected 0x%02x, got 0x%02x\n",
		c->wrong, want[i], got[i]);

	fprintf(stderr,
		"  in the word at offset %" PRIu64 ": expected 0x%016" PRIx64
		" (epoch %u, index %" PRIu64 ")",
		c->base + pos, expected, c->epoch, c->index);
	if (avail == WORD) {
		uint64_t word = load_word(got);

		fprintf(stderr, ", got 0x%016" PRIx64 " (epoch %u, index %" PRIu64 ")", word,
			pattern_epoch(word), (uint64_t)pattern_index(word));
	}
	fputc('\n', stderr);

	from = c->base + pos < CONTEXT ? c->base + pos : CONTEXT;
	to = c->len - pos < WORD + CONTEXT ? c->len - pos : WORD + CONTEXT;
	for (got -= from, i = 0; i < from + to; i++) {
		if (i % 16 == 0)
			fprintf(stderr, "%s  %12" PRIu64 ":", i ? "\n" : "",
				c->base + pos - from + i);
		fprintf(stderr, "%c%02x", got + i == c->data + (c->wrong - c->base) ? '>' : ' ',
			got[i]);
	}
	fputc('\n', stderr);
}

/* How many of the next @n words continue the pattern in the same epoch. */
static size_t count_good(const struct checker *c, const unsigned char *from, size_t n)
{
	uint64_t first = pattern_word(c->epoch, c->index);
	size_t good = 0, i;

	if (PATTERN_INDEX_MASK - c->index < n)
		n = PATTERN_INDEX_MASK - c->index;

	while (n - good >= BULK) {
		uint64_t diff = 0;

		for (i = 0; i < BULK; i++)
			diff |= load_word(from + (good + i) * WORD) ^ (first + good + i);
		if (diff)
			break;
		good += BULK;
	}

	while (good < n && load_word(from + good * WORD) == first + good)
		good++;

	return good;
}

/*
 * A word that doesn't continue the epoch: padding or the place of a stop.
 * False if it is neither.
 */
static bool check_word(struct checker *c, uint64_t word)
{
	unsigned int rise;

	if (!word) {
		if (!c->padding)
			return false;
		c->padded += WORD;
		return true;
	}

	if (c->start_any && !c->words) {
		c->index = pattern_index(word);
		c->epoch = pattern_epoch(word);
	}

	if (c->may_restart && c->words && pattern_index(word) == PATTERN_INDEX_FIRST) {
		c->restarts++;
		c->index = PATTERN_INDEX_FIRST;
		c->epoch = pattern_epoch(word);
	}

	if (pattern_index(word) != c->index)
		return false;

	/* A fall is a rise by very much, modulo the epoch's size. */
	rise = (pattern_epoch(word) - c->epoch) & PATTERN_EPOCH_MASK;
	if (rise > PATTERN_EPOCH_MASK / 2)
		return false;

	if (rise) {
		c->gaps++;
		c->stops += rise;
		c->epoch = pattern_epoch(word);
	}
	c->index++;
	c->words++;
	return true;
}

/* Verify the whole words among the data; false if something is wrong. */
static bool check_words(struct checker *c)
{
	size_t n = c->len / WORD, pos = 0;

	while (pos < n) {
		size_t good = 0;

		if (c->words || !c->start_any)
			good = count_good(c, c->data + pos * WORD, n - pos);
		c->index += good;
		c->words += good;
		pos += good;

		if (pos == n)
			break;

		if (!check_word(c, load_word(c->data + pos * WORD))) {
			report(c, pos * WORD);
			return false;
		}
		pos++;
	}

	/* Keep the split word, and what came before it for messages. */
	memmove(c->data - CONTEXT, c->data + n * WORD - CONTEXT, CONTEXT + c->len - n * WORD);
	c->base += n * WORD;
	c->len -= n * WORD;
	return true;
}

/*
 * Verify the part of a word that the stream ends with, as far as it goes. Its
 * bytes of the epoch, if any, can belong to a stop.
 */
static bool check_tail(struct checker *c)
{
	static const unsigned char zeroes[WORD];
	uint64_t le = htole64(pattern_word(c->epoch, c->index));
	size_t n = c->len < PATTERN_EPOCH_SHIFT / 8 ? c->len : PATTERN_EPOCH_SHIFT / 8;

	if (!memcmp(c->data, &le, n) || (c->start_any && !c->words))
		return true;

	if (c->padding && !memcmp(c->data, zeroes, c->len))
		return true;

	report(c, 0);
	return false;
}

/* splitmix64: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* From 1 to MAX_RANDOM_SIZE; each power of two is as likely as any other. */
static size_t random_size(uint64_t *state)
{
	unsigned int shift = (unsigned int)(next_random(state) % 21);
	size_t low = (size_t)1 << shift;
	size_t size = low + (size_t)(next_random(state) % low);

	return size < MAX_RANDOM_SIZE ? size : MAX_RANDOM_SIZE;
}

static int open_input(const struct options *o)
{
	int flags = O_RDONLY | O_CLOEXEC | (o->poll ? O_NONBLOCK : 0);
	int fd;

	if (!strcmp(o->file, "-")) {
		fd = STDIN_FILENO;
		if (o->poll) {
			flags = fcntl(fd, F_GETFL);
			if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
				fd = -1;
		}
	} else {
		fd = open(o->file, flags);
	}

	if (fd < 0)
		fprintf(stderr, "auxcheck: %s: %s\n", o->file, strerror(errno));
	return fd;
}

/* Signals end a run at a read boundary, and let a read that waits return. */
static void set_signals(const struct options *o)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct itimerval timer = {
		/* Again and again: the first may come just before a read. */
		.it_interval.tv_usec = 100000,
	};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	if (o->seconds <= 0)
		return;

	timer.it_value.tv_sec = (time_t)o->seconds;
	timer.it_value.tv_usec = (suseconds_t)((o->seconds - (double)timer.it_value.tv_sec) * 1e6);
	if (!timer.it_value.tv_sec && !timer.it_value.tv_usec)
		timer.it_value.tv_usec = 1;
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Bytes read; 0 at the end, of the stream or of the time; or -1. */
static ssize_t read_some(const struct options *o, int fd, void *buf, size_t size)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	while (!time_is_up) {
		ssize_t n = read(fd, buf, size);

		if (n >= 0)
			return n;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || !o->poll)
			return -1;
		if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
			return -1;
	}

	return 0;
}

static void summarize(const struct checker *c, uint64_t reads, double seconds, bool good)
{
	printf("bytes=%" PRIu64 " words=%" PRIu64 " gaps=%" PRIu64 " stops=%" PRIu64
	       " padding=%" PRIu64 " restarts=%" PRIu64 " reads=%" PRIu64
	       " seconds=%.3f first_error=",
	       c->base + c->len, c->words, c->gaps, c->stops, c->padded, c->restarts, reads,
	       seconds);
	if (good)
		puts("none");
	else
		printf("%" PRIu64 "\n", c->wrong);
}

static int check(const struct options *o)
{
	size_t max = o->random_size ? MAX_RANDOM_SIZE : o->size;
	struct checker c = {
		.padding = o->padding,
		.start_any = o->start_any,
		.may_restart = o->restarts,
		.index = PATTERN_INDEX_FIRST,
	};
	uint64_t seed = o->seed, reads = 0;
	bool good = true;
	unsigned char *buf;
	double begin;
	int ret = EXIT_ERROR;
	int fd;

	buf = calloc(1, CONTEXT + WORD + max);
	if (!buf) {
		fputs("auxcheck: out of memory\n", stderr);
		return EXIT_ERROR;
	}
	c.data = buf + CONTEXT;

	fd = open_input(o);
	if (fd < 0)
		goto out;

	set_signals(o);
	begin = now();
	while (good) {
		size_t want = o->random_size ? random_size(&seed) : o->size;
		uint64_t done = c.base + c.len;
		ssize_t n;

		if (o->bytes && o->bytes - done < want)
			want = (size_t)(o->bytes - done);
		if (!want)
			break;

		n = read_some(o, fd, c.data + c.len, want);
		if (n < 0) {
			fprintf(stderr, "auxcheck: %s: %s\n", o->file, strerror(errno));
			goto out;
		}
		if (!n)
			break;

		reads++;
		c.len += (size_t)n;
		good = check_words(&c);
		if (good && o->delay_us)
			usleep((useconds_t)o->delay_us);
	}

	if (good)
		good = check_tail(&c);
	summarize(&c, reads, now() - begin, good);
	ret = good ? EXIT_GOOD : EXIT_WRONG;
out:
	free(buf);
	return ret;
}

/* Take the next number off a list; UINT64_MAX at its end. False if it's bad. */
static bool next_stop(char **list, uint64_t *stop)
{
	char *item = strsep(list, ",");
	char *end;

	*stop = UINT64_MAX;
	if (!item)
		return true;

	errno = 0;
	*stop = strtoull(item, &end, 10);
	return !errno && end != item && !*end;
}

static int generate(const struct options *o)
{
	static uint64_t buf[DEFAULT_SIZE / WORD];
	uint64_t left = o->bytes, index = PATTERN_INDEX_FIRST, stop;
	char *stops = o->stops;
	bool good = next_stop(&stops, &stop);
	unsigned int epoch = 0;

	while (left && good) {
		size_t n = left < sizeof(buf) ? (size_t)left : sizeof(buf);
		size_t i;

		for (i = 0; i * WORD < n; i++, index++) {
			for (; good && stop <= index; epoch++)
				good = next_stop(&stops, &stop);
			buf[i] = htole64(pattern_word(epoch, index));
		}
		if (fwrite(buf, 1, n, stdout) != n)
			break;
		left -= n;
	}

	if (!good) {
		fputs("auxcheck: bad list of stops\n", stderr);
		return EXIT_ERROR;
	}

	if (left || fflush(stdout)) {
		fprintf(stderr, "auxcheck: standard output: %s\n", strerror(errno));
		return EXIT_ERROR;
	}
	return EXIT_GOOD;
}

static void usage(FILE *to)
{
	fputs("Usage: auxcheck [OPTION]... [FILE|DEVICE|-]\n"
	      "       auxcheck --generate N [--stops A,B,...]\n"
	      "Verify every byte of a stream in the simulated trace PMU's pattern.\n"
	      "\n"
	      "  --bytes N           stop after N bytes (suffix K, M or G), not at the end\n"
	      "  --size N            size of a read (64K)\n"
	      "  --random-size SEED  size of a read at random, from 1 to 1M\n"
	      "  --delay-us N        sleep N microseconds between reads\n"
	      "  --poll              don't block in reads but wait by poll\n"
	      "  --padding           allow zero words\n"
	      "  --start any|1       index that the stream has to begin with (1)\n"
	      "  --restarts          allow the pattern to begin anew\n"
	      "  --seconds N         stop after N seconds\n"
	      "  --generate N        write N bytes of the pattern to standard output\n"
	      "  --stops A,B,...     let the epoch rise at the words with these indexes\n"
	      "  --help              show this\n"
	      "\n"
	      "Exit status: 0 all right, 1 a wrong byte, 2 trouble.\n",
	      to);
}

/* A number with an optional suffix K, M or G. */
static bool parse_size(const char *s, uint64_t *value)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	const char *unit;
	char *end;

	if (*s < '0' || *s > '9')
		return false;

	errno = 0;
	*value = strtoull(s, &end, 0);
	if (errno)
		return false;

	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}

	if (*end || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	enum {
		BYTES = 1,
		SIZE,
		RANDOM,
		DELAY,
		POLL,
		PADDING,
		START,
		RESTARTS,
		SECONDS,
		GENERATE,
		STOPS,
		HELP
	};
	static const struct option table[] = {
		{ "bytes", required_argument, NULL, BYTES },
		{ "delay-us", required_argument, NULL, DELAY },
		{ "generate", required_argument, NULL, GENERATE },
		{ "help", no_argument, NULL, HELP },
		{ "padding", no_argument, NULL, PADDING },
		{ "poll", no_argument, NULL, POLL },
		{ "random-size", required_argument, NULL, RANDOM },
		{ "restarts", no_argument, NULL, RESTARTS },
		{ "seconds", required_argument, NULL, SECONDS },
		{ "size", required_argument, NULL, SIZE },
		{ "start", required_argument, NULL, START },
		{ "stops", required_argument, NULL, STOPS },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t value;
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		bool good = true;

		switch (c) {
		case BYTES:
			good = parse_size(optarg, &o->bytes) && o->bytes;
			break;
		case SIZE:
			good = parse_size(optarg, &value) && value && value <= MAX_SIZE;
			o->size = (size_t)value;
			break;
		case RANDOM:
			good = parse_size(optarg, &o->seed);
			o->random_size = true;
			break;
		case DELAY:
			good = parse_size(optarg, &value) && value <= UINT32_MAX;
			o->delay_us = (unsigned long)value;
			break;
		case POLL:
			o->poll = true;
			break;
		case PADDING:
			o->padding = true;
			break;
		case START:
			o->start_any = !strcmp(optarg, "any");
			good = o->start_any || !strcmp(optarg, "1");
			break;
		case RESTARTS:
			o->restarts = true;
			break;
		case SECONDS:
			o->seconds = strtod(optarg, &end);
			good = !*end && o->seconds > 0 && o->seconds < 1e9;
			break;
		case GENERATE:
			good = parse_size(optarg, &o->bytes);
			o->generate = true;
			break;
		case STOPS:
			o->stops = optarg;
			break;
		case HELP:
			usage(stdout);
			exit(EXIT_GOOD);
		default:
			return false;
		}

		if (!good) {
			fprintf(stderr, "auxcheck: bad argument: %s\n", optarg);
			return false;
		}
	}

	if (optind < argc)
		o->file = argv[optind++];
	return optind == argc;
}

int main(int argc, char **argv)
{
	struct options o = { .file = "-", .size = DEFAULT_SIZE };

	if (!parse_options(argc, argv, &o)) {
		usage(stderr);
		return EXIT_ERROR;
	}

	return o.generate ? generate(&o) : check(&o);
}
