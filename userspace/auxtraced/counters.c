// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is counted. Owns the list of all CPUs' counters, and what they are called outside.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "counters.h"

static struct counters *all; /* ascending; entries stay */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Rows of one name follow each other. */
static const struct metric {
	const char *name;
	const char *help; /* NULL: as before */
	const char *label;
	enum counter counter;
} metrics[] = {
	{ "bytes_total", "Bytes of trace that devices gave.", "", COUNT_BYTES },
	{ "windows_total", "Windows that devices gave.", "", COUNT_WINDOWS },
	{ "gaps_total", "Places where trace is missing.", "", COUNT_GAPS },
	{ "gap_causes_total", "Causes of gaps; one gap can have several.", ",cause=\"full\"",
	  COUNT_GAPS_FULL },
	{ "gap_causes_total", NULL, ",cause=\"driver\"", COUNT_GAPS_DRIVER },
	{ "gap_causes_total", NULL, ",cause=\"hotplug\"", COUNT_GAPS_HOTPLUG },
	{ "gap_causes_total", NULL, ",cause=\"stopped\"", COUNT_GAPS_STOPPED },
	{ "gap_seconds_total", "Time in gaps.", "", COUNT_GAP_NS },
	{ "reports_total", "Windows with a report of the PMU's driver.", ",report=\"truncated\"",
	  COUNT_TRUNCATED },
	{ "reports_total", NULL, ",report=\"partial\"", COUNT_PARTIAL },
	{ "reports_total", NULL, ",report=\"collision\"", COUNT_COLLISION },
	{ "lost_bytes_total", "Bytes of trace that could not be written.", ",reason=\"disk_full\"",
	  COUNT_LOST_FULL_BYTES },
	{ "lost_bytes_total", NULL, ",reason=\"error\"", COUNT_LOST_ERROR_BYTES },
	{ "lost_windows_total", "Windows that could not be written.", ",reason=\"disk_full\"",
	  COUNT_LOST_FULL_WINDOWS },
	{ "lost_windows_total", NULL, ",reason=\"error\"", COUNT_LOST_ERROR_WINDOWS },
	{ "dropped_bytes_total", "Bytes of files removed by design, for total_size.", "",
	  COUNT_DROPPED_BYTES },
	{ "dropped_files_total", "Files removed by design, for total_size.", "",
	  COUNT_DROPPED_FILES },
	{ "files_total", "Files begun.", "", COUNT_FILES },
	{ "rotations_total", "Files ended to begin another.", "", COUNT_ROTATIONS },
	{ "file_bytes_total", "Bytes written to files, as they are on the disk.", "",
	  COUNT_WRITTEN },
	{ "sync_errors_total", "Errors of the disk after it had taken all, told by fdatasync(2).",
	  "", COUNT_SYNC_ERRORS },
	{ "sync_failed_bytes_total",
	  "Bytes written to files since their last good sync, when there was such an error.", "",
	  COUNT_SYNC_FAILED_BYTES },
	{ "opens_total", "Times that the device was opened.", "", COUNT_OPENS },
	{ "damage_total", "Things in a stream that are not as they must be.", "", COUNT_DAMAGE },
};

void count_window(struct counters *c, const struct auxtrace_window *w)
{
	static const struct {
		uint32_t flag;
		enum counter counter;
	} flags[] = {
		{ AUXTRACE_WINDOW_GAP, COUNT_GAPS },
		{ AUXTRACE_WINDOW_FULL, COUNT_GAPS_FULL },
		{ AUXTRACE_WINDOW_HOTPLUG, COUNT_GAPS_HOTPLUG },
		{ AUXTRACE_WINDOW_STOPPED, COUNT_GAPS_STOPPED },
		{ AUXTRACE_WINDOW_TRUNCATED, COUNT_TRUNCATED },
		{ AUXTRACE_WINDOW_PARTIAL, COUNT_PARTIAL },
		{ AUXTRACE_WINDOW_COLLISION, COUNT_COLLISION },
	};
	uint32_t causes = AUXTRACE_WINDOW_FULL | AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED;
	size_t i;

	count(c, COUNT_WINDOWS, 1);
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (w->flags & flags[i].flag)
			count(c, flags[i].counter, 1);
	}
	if (w->flags & AUXTRACE_WINDOW_GAP) {
		count(c, COUNT_GAP_NS, w->gap_time);
		if (!(w->flags & causes))
			count(c, COUNT_GAPS_DRIVER, 1);
	}
}

struct counters *counters_of(unsigned int cpu)
{
	struct counters **at, *new;

	pthread_mutex_lock(&lock);
	for (at = &all; *at && (*at)->cpu < cpu; at = &(*at)->next)
		;
	if (*at && (*at)->cpu == cpu) {
		new = *at;
	} else {
		new = calloc(1, sizeof(*new));
		if (new) {
			new->cpu = cpu;
			new->next = *at;
			*at = new;
		}
	}
	pthread_mutex_unlock(&lock);
	return new;
}

uint64_t counted_in_all(enum counter what)
{
	const struct counters *c;
	uint64_t sum = 0;

	pthread_mutex_lock(&lock);
	for (c = all; c; c = c->next)
		sum += counted(c, what);
	pthread_mutex_unlock(&lock);
	return sum;
}

static void print_help(FILE *to, const char *name, const char *help, const char *type)
{
	fprintf(to, "# HELP auxtraced_%s %s\n# TYPE auxtraced_%s %s\n", name, help, name, type);
}

static void print_value(FILE *to, const struct metric *m, const struct counters *c)
{
	uint64_t value = counted(c, m->counter);

	fprintf(to, "auxtraced_%s{cpu=\"%u\"%s} ", m->name, c->cpu, m->label);
	if (m->counter == COUNT_GAP_NS)
		fprintf(to, "%" PRIu64 ".%09" PRIu64 "\n", value / 1000000000, value % 1000000000);
	else
		fprintf(to, "%" PRIu64 "\n", value);
}

void counters_print(FILE *to)
{
	const struct counters *c;
	size_t i;

	pthread_mutex_lock(&lock);
	print_help(to, "recording", "1: the device is open.", "gauge");
	for (c = all; c; c = c->next)
		fprintf(to, "auxtraced_recording{cpu=\"%u\"} %d\n", c->cpu, c->recording);
	for (i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		if (metrics[i].help)
			print_help(to, metrics[i].name, metrics[i].help, "counter");
		for (c = all; c; c = c->next)
			print_value(to, &metrics[i], c);
	}
	pthread_mutex_unlock(&lock);
}

void counters_free(void)
{
	while (all) {
		struct counters *next = all->next;

		free(all);
		all = next;
	}
}
