// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress: what its threads stand on
 *
 * Owns the counts, how failure is reported, each thread's notes of what it did, presences,
 * and reading and writing in sysfs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

#define CLASS "/sys/class/auxtrace"
#define SIM   "/sys/bus/event_source/devices/auxtrace_sim/stats"

__thread struct worker *self;

double now(void)
{
	static double start;
	struct timespec ts;
	double t;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	t = (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
	if (start == 0)
		start = t;
	return t - start;
}

static atomic_ullong counts[NR_COUNTS];

void count(enum count what, uint64_t n)
{
	atomic_fetch_add(&counts[what], n);
}

uint64_t counted(enum count what)
{
	return atomic_load(&counts[what]);
}

static void print_notes(const struct worker *w)
{
	unsigned int i = w->nr_notes > NR_NOTES ? w->nr_notes - NR_NOTES : 0;

	for (; i < w->nr_notes; i++) {
		const struct note *n = &w->notes[i % NR_NOTES];

		fprintf(stderr, "  %10.4f %s(%ld) = %ld%s%s\n", n->when, n->what, n->argument,
			n->result, n->result < 0 ? " " : "",
			n->result < 0 ? strerrorname_np(n->error) : "");
	}
}

static void print_device(const struct device *d)
{
	static const char *const names[] = { "state",  "stats",	 "buffer_size", "watermark",
					     "format", "config", "config1",	"flush_ms" };
	char text[1024], *c;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!read_attribute(d, names[i], text, sizeof(text)))
			continue;
		for (c = text; *c; c++) {
			if (*c == '\n')
				*c = ' ';
		}
		fprintf(stderr, "  %s: %s\n", names[i], text);
	}
}

/* The first failure ends the program, which exits with 1. */
void fail(const char *format, ...)
{
	static atomic_flag failed = ATOMIC_FLAG_INIT;
	va_list arguments;

	while (atomic_flag_test_and_set(&failed))
		pause();
	flockfile(stderr);
	fprintf(stderr, "stress: FAILED after %.4f s, %s: ", now(), self ? self->name : "main");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	if (self) {
		fprintf(stderr, "what %s did last, in seconds:\n", self->name);
		print_notes(self);
	}
	fflush(stderr);
	if (self && self->device) {
		fprintf(stderr, "auxtrace%d:\n", self->device->cpu);
		print_device(self->device);
	}
	_exit(1);
}

void begin(const char *what, long argument)
{
	struct note *n = &self->notes[self->nr_notes++ % NR_NOTES];

	*n = (struct note){ .when = now(), .what = what, .argument = argument };
	atomic_store(&self->since, n->when);
	atomic_store(&self->op, what);
}

long end(long result)
{
	struct note *n = &self->notes[(self->nr_notes - 1) % NR_NOTES];

	n->result = result;
	n->error = errno;
	atomic_store(&self->op, NULL);
	return result;
}

uint64_t random_below(uint64_t n)
{
	return next_random(&self->random) % n;
}

bool chance(unsigned int percent)
{
	return random_below(100) < percent;
}

void pause_ms(unsigned int at_most)
{
	usleep((useconds_t)random_below(at_most * 1000 + 1));
}

/*
 * The counter of changes moves before what it tells of: whoever finds it where it
 * was has not met it.
 */
void presence_begin(struct presence *p)
{
	atomic_fetch_add(&p->maybe, 1);
	atomic_fetch_add(&p->changes, 1);
}

void presence_begun(struct presence *p)
{
	atomic_fetch_add(&p->sure, 1);
	atomic_fetch_add(&p->changes, 1);
}

void presence_ending(struct presence *p)
{
	atomic_fetch_sub(&p->sure, 1);
	atomic_fetch_add(&p->changes, 1);
}

void presence_ended(struct presence *p)
{
	atomic_fetch_sub(&p->maybe, 1);
	atomic_fetch_add(&p->changes, 1);
}

void presence_cancel(struct presence *p)
{
	presence_ended(p);
}

struct sighting presence_look(struct presence *p)
{
	struct sighting s;

	s.changes = atomic_load(&p->changes);
	s.maybe = atomic_load(&p->maybe);
	s.sure = atomic_load(&p->sure);
	return s;
}

bool never_since(struct presence *p, struct sighting before)
{
	return !before.maybe && atomic_load(&p->changes) == before.changes;
}

bool always_since(struct presence *p, struct sighting before)
{
	return before.sure && atomic_load(&p->changes) == before.changes;
}

static ssize_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int error;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	error = errno;
	close(fd);
	errno = error;
	if (n >= 0)
		text[n] = '\0';
	return n;
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail("writing %s to %s: %s", text, path, strerrorname_np(errno));
	close(fd);
}

/* A number of the simulator's; of one CPU where its lines begin with that. */
uint64_t sim_count(const char *statistic, int cpu)
{
	char path[128], text[4096], *line, *rest = text;
	uint64_t value;
	int of;

	snprintf(path, sizeof(path), SIM "/%s", statistic);
	if (read_file(path, text, sizeof(text)) < 0)
		fail("%s: %s", path, strerrorname_np(errno));
	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%d %" SCNu64, &of, &value) == 2 && of == cpu)
			return value;
	}
	return 0;
}

/* False if the module is not there. */
bool read_attribute(const struct device *d, const char *name, char *text, size_t size)
{
	struct sighting before = presence_look(&absent);
	char path[128];

	snprintf(path, sizeof(path), CLASS "/auxtrace%d/%s", d->cpu, name);
	if (read_file(path, text, size) >= 0)
		return true;
	if (never_since(&absent, before) || (errno != ENOENT && errno != ENODEV))
		fail("reading %s: %s", path, strerrorname_np(errno));
	return false;
}

bool read_stats(const struct device *d, uint64_t *opens, uint64_t *bytes, uint64_t *windows)
{
	char text[1024];

	if (!read_attribute(d, "stats", text, sizeof(text)))
		return false;
	if (sscanf(text, "opens %" SCNu64 " reads %*u bytes %" SCNu64 " windows %" SCNu64, opens,
		   bytes, windows) != 3)
		fail("stats are not as expected: %s", text);
	return true;
}
