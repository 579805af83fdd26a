// SPDX-License-Identifier: GPL-2.0-only
/*
 * auxcheck - verify every byte of a stream from the simulated trace PMU
 *
 * What is right and wrong is in lib/pattern_check.c; the rest is here: where the bytes
 * come from, and generating the pattern.
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

#include "lib/pattern_check.h"
#include "lib/random.h"

#define DEFAULT_SIZE	 (64UL << 10)
#define MAX_RANDOM_SHIFT 20
#define MAX_SIZE	 (1UL << 30)

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
	       checker_offset(c), c->words, c->gaps, c->stops, c->padded, c->restarts, reads,
	       seconds);
	if (good)
		puts("none");
	else
		printf("%" PRIu64 "\n", c->wrong);
}

static int check(const struct options *o)
{
	size_t max = o->random_size ? (size_t)1 << MAX_RANDOM_SHIFT : o->size;
	struct checker c = {
		.who = "auxcheck",
		.padding = o->padding,
		.start_any = o->start_any,
		.may_restart = o->restarts,
	};
	uint64_t seed = o->seed, reads = 0;
	bool good = true;
	double begin;
	int ret = EXIT_ERROR;
	int fd;

	if (!checker_init(&c, max)) {
		fputs("auxcheck: out of memory\n", stderr);
		return EXIT_ERROR;
	}

	fd = open_input(o);
	if (fd < 0)
		goto out;

	set_signals(o);
	begin = now();
	while (good) {
		size_t want = o->random_size ? random_size(&seed, MAX_RANDOM_SHIFT) : o->size;
		uint64_t done = checker_offset(&c);
		ssize_t n;

		if (o->bytes && o->bytes - done < want)
			want = (size_t)(o->bytes - done);
		if (!want)
			break;

		n = read_some(o, fd, checker_next(&c), want);
		if (n < 0) {
			fprintf(stderr, "auxcheck: %s: %s\n", o->file, strerror(errno));
			goto out;
		}
		if (!n)
			break;

		reads++;
		good = checker_added(&c, (size_t)n);
		if (good && o->delay_us)
			usleep((useconds_t)o->delay_us);
	}

	if (good)
		good = checker_end(&c);
	summarize(&c, reads, now() - begin, good);
	ret = good ? EXIT_GOOD : EXIT_WRONG;
out:
	checker_free(&c);
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
