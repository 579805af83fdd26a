// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace status: what the devices do, from sysfs, so that it works whoever has them open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "devices.h"
#include "json.h"
#include "units.h"

#define NS_PER_S 1000000000ULL

enum { OPTION_JSON = 256 };

static const struct option_info options[] = {
	OPTION_CPU,
	{ 'w', "watch", NULL, "again and again, until Ctrl-C" },
	{ 'i', "interval", "TIME", "how often with --watch, default 1s" },
	{ 'n', "count", "N", "end after N times; implies --watch" },
	{ OPTION_JSON, "json", NULL, "as JSON, one line each time" },
	{ 0 },
};

static int run_status(const struct command *command, int argc, char **argv);

const struct command cmd_status = {
	.name = "status",
	.args = "",
	.summary = "Show what the devices do",
	.details = "All numbers count from when the module was loaded. RATE is bytes per second "
		   "since\nthe time before, with --watch.\n",
	.options = options,
	.run = run_status,
};

struct settings {
	const char *cpus;
	bool watch;
	bool json;
	uint64_t interval;
	uint64_t count; /* 0: no end */
};

/* Names in the attribute "stats", in the table's order. */
static const char *const stats_names[] = {
	"opens",       "reads",	       "bytes",	       "windows",     "gaps",	 "gaps_full",
	"gaps_driver", "gaps_hotplug", "gaps_stopped", "gap_ns",      "flushes", "wakeups",
	"truncated",   "partial",      "collision",    "reports_lost"
};
#define NR_STATS (sizeof(stats_names) / sizeof(*stats_names))

struct device {
	unsigned int cpu;
	bool gone;
	char state[32];
	char pmu[64];
	char buffer[32];
	uint64_t buffer_size;
	uint64_t bytes;
	uint64_t before; /* bytes then */
	char stats[4096];
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int get(const struct device *device, const char *name, char *text, size_t size)
{
	int ret = auxtrace_attribute_get(sysfs(), device->cpu, name, text, size);

	return ret < 0 ? ret : 0;
}

/* Takes down how the device does now. One that has gone is told as such. */
static int look(struct device *device)
{
	int ret = get(device, "state", device->state, sizeof(device->state));

	ret = ret ?: get(device, "stats", device->stats, sizeof(device->stats));
	ret = ret ?: get(device, "pmu", device->pmu, sizeof(device->pmu));
	ret = ret ?: get(device, "buffer_size", device->buffer, sizeof(device->buffer));
	device->gone = ret == -ENODEV || ret == -ENOENT;
	if (device->gone)
		return 0;
	if (ret)
		return fail("cannot read the attributes of CPU %u: %s", device->cpu,
			    strerror(-ret));
	device->before = device->bytes;
	device->bytes = auxtrace_statistic(device->stats, "bytes");
	if (parse_number(device->buffer, &device->buffer_size))
		device->buffer_size = 0;
	return 0;
}

static uint64_t rate(const struct device *device, uint64_t elapsed)
{
	return (double)(device->bytes - device->before) * NS_PER_S / elapsed;
}

static void print_size(int width, uint64_t bytes)
{
	char text[UNITS_LEN];

	printf(" %*s", width, format_size(text, bytes));
}

static void print_count(const struct device *device, int width, const char *name)
{
	printf(" %*llu", width, (unsigned long long)auxtrace_statistic(device->stats, name));
}

static void print_row(const struct device *device, const struct settings *settings,
		      uint64_t elapsed)
{
	char text[UNITS_LEN];

	if (device->gone) {
		printf("%5u gone\n", device->cpu);
		return;
	}
	printf("%5u %-8s", device->cpu, device->state);
	print_size(7, device->buffer_size);
	print_size(7, device->bytes);
	if (settings->watch && elapsed)
		print_size(7, rate(device, elapsed));
	else if (settings->watch)
		printf(" %7s", "-");
	print_count(device, 7, "gaps");
	print_count(device, 6, "gaps_full");
	print_count(device, 6, "gaps_driver");
	print_count(device, 7, "gaps_hotplug");
	print_count(device, 7, "gaps_stopped");
	printf(" %8s", format_duration(text, auxtrace_statistic(device->stats, "gap_ns")));
	print_count(device, 8, "flushes");
	print_count(device, 5, "opens");
	printf("  %s\n", device->pmu);
}

static void print_text(const struct device *devices, size_t n, const struct settings *settings,
		       uint64_t elapsed)
{
	size_t i;

	/* A screen that is rewritten is easier to watch. Elsewhere the tables follow. */
	if (settings->watch && isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
	else if (elapsed)
		putchar('\n');
	printf("%5s %-8s %7s %7s", "CPU", "STATE", "BUFFER", "BYTES");
	if (settings->watch)
		printf(" %7s", "RATE");
	printf(" %7s %6s %6s %7s %7s %8s %8s %5s  %s\n", "GAPS", "FULL", "DRIVER", "HOTPLUG",
	       "STOPPED", "GAP-TIME", "FLUSHES", "OPENS", "PMU");
	for (i = 0; i < n; i++)
		print_row(&devices[i], settings, elapsed);
}

static void print_json(const struct device *devices, size_t n, const struct settings *settings,
		       uint64_t elapsed)
{
	struct json json = { .to = stdout };
	size_t i, j;

	json_open(&json, NULL, '{');
	json_open(&json, "devices", '[');
	for (i = 0; i < n; i++) {
		const struct device *device = &devices[i];

		json_open(&json, NULL, '{');
		json_number(&json, "cpu", device->cpu);
		json_string(&json, "state", device->gone ? "gone" : device->state);
		if (!device->gone) {
			json_string(&json, "pmu", device->pmu);
			json_number(&json, "buffer_size", device->buffer_size);
			if (settings->watch && elapsed)
				json_number(&json, "rate", rate(device, elapsed));
			for (j = 0; j < NR_STATS; j++)
				json_number(&json, stats_names[j],
					    auxtrace_statistic(device->stats, stats_names[j]));
		}
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	json_end_line(&json);
}

static void wait_for(uint64_t ns)
{
	struct timespec t = { ns / NS_PER_S, ns % NS_PER_S };

	nanosleep(&t, NULL);
}

static int show(struct device *devices, size_t n, const struct settings *settings)
{
	uint64_t before = 0, elapsed = 0, left = settings->count;
	size_t i;

	for (;;) {
		uint64_t time = now();

		for (i = 0; i < n; i++) {
			int ret = look(&devices[i]);

			if (ret)
				return ret;
		}
		elapsed = before ? time - before ?: 1 : 0;
		before = time;
		(settings->json ? print_json : print_text)(devices, n, settings, elapsed);
		if (fflush(stdout) || !settings->watch || (settings->count && !--left))
			return finish(EXIT_OK);
		wait_for(settings->interval);
	}
}

/* Returns EXIT_OK, or what to exit with. */
static int take_options(const struct command *command, int argc, char **argv,
			struct settings *settings)
{
	int option;

	while ((option = next_option(command, argc, argv, true)) >= 0) {
		switch (option) {
		case 'C':
			settings->cpus = optarg;
			break;
		case 'w':
			settings->watch = true;
			break;
		case 'i':
			if (parse_duration(optarg, &settings->interval) || !settings->interval)
				return usage_error(command,
						   "--interval wants a time such as 500ms "
						   "or 2s, not '%s'",
						   optarg);
			break;
		case 'n':
			if (parse_number(optarg, &settings->count) || !settings->count)
				return usage_error(command, "--count wants a number, not '%s'",
						   optarg);
			settings->watch = true;
			break;
		case OPTION_JSON:
			settings->json = true;
			break;
		}
	}
	if (optind < argc)
		return usage_error(command, "'%s' is one argument too many", argv[optind]);
	return EXIT_OK;
}

static int run_status(const struct command *command, int argc, char **argv)
{
	struct settings settings = { .interval = NS_PER_S };
	struct device *devices;
	unsigned int *cpus;
	size_t n, i;
	int ret = take_options(command, argc, argv, &settings);

	ret = ret ?: choose_cpus(command, settings.cpus, &cpus, &n);
	if (ret)
		return ret;
	devices = calloc(n, sizeof(*devices));
	if (!devices) {
		free(cpus);
		return fail("out of memory");
	}
	for (i = 0; i < n; i++)
		devices[i].cpu = cpus[i];
	free(cpus);
	ret = show(devices, n, &settings);
	free(devices);
	return ret;
}
