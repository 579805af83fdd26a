// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace record: the command line, the order of things, and the summary.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"
#include "units.h"

#define NS_PER_S 1000000000ULL

enum { OPTION_WAIT = 256 };

static const struct option_info options[] = {
	OPTION_CPU,
	{ 'e', "event", "EVENT", "what to trace, such as intel_pt/tsc,cyc=1/u" },
	{ 'b', "buffer-size", "SIZE", "buffer of each CPU, a power of two" },
	{ 'o', "output", "WHERE", "file, directory (a file for each CPU), or - for stdout" },
	{ 'f', "force", NULL, "overwrite files that are there" },
	{ 'z', "compress", "LEVEL", "compress by zstd, 1 (fast) to 19" },
	{ 's', "size", "SIZE", "end when there is that much trace" },
	{ 't', "time", "TIME", "end after that time" },
	{ OPTION_WAIT, "wait", NULL, "wait for devices that are in use" },
	{ 'q', "quiet", NULL, "no progress and no summary" },
	{ 0 },
};

static int run_record(const struct command *command, int argc, char **argv);

const struct command cmd_record = {
	.name = "record",
	.args = "[-- COMMAND [ARGUMENT...]]",
	.summary = "Record the trace of CPUs",
	.details = "All CPUs are recorded, into auxtrace.rec, unless told otherwise; until "
		   "Ctrl-C, a limit,\nor the end of COMMAND. Then what is traced already is "
		   "recorded too. With a COMMAND\nthe exit code is that of the COMMAND.\n",
	.options = options,
	.run = run_record,
};

static int take_event(const struct command *command, struct recording *r, const char *text)
{
	char message[768];

	r->event.size = sizeof(r->event);
	r->has_event = true;
	if (auxtrace_event_parse(&r->event, text, sysfs(), message, sizeof(message)))
		return usage_error(command, "%s", message);
	return EXIT_OK;
}

static int take_option(const struct command *command, struct recording *r, int option)
{
	uint64_t number;

	switch (option) {
	case 'C':
		r->cpus = optarg;
		return EXIT_OK;
	case 'e':
		return take_event(command, r, optarg);
	case 'b':
		r->buffer_size = optarg;
		if (parse_size(optarg, &number) || !number || number & (number - 1))
			return usage_error(
				command, "--buffer-size wants a power of two such as 64M, not '%s'",
				optarg);
		return EXIT_OK;
	case 'o':
		r->output = optarg;
		return EXIT_OK;
	case 'f':
		r->force = true;
		return EXIT_OK;
	case 'z':
		if (parse_number(optarg, &number) || number < 1 || number > 19)
			return usage_error(command, "--compress wants 1 to 19, not '%s'", optarg);
		r->compression = number;
		return EXIT_OK;
	case 's':
		if (parse_size(optarg, &r->max_size) || !r->max_size)
			return usage_error(command, "--size wants a size such as 100M, not '%s'",
					   optarg);
		return EXIT_OK;
	case 't':
		if (parse_duration(optarg, &r->max_time) || !r->max_time)
			return usage_error(command, "--time wants a time such as 10s, not '%s'",
					   optarg);
		return EXIT_OK;
	case OPTION_WAIT:
		r->wait = true;
		return EXIT_OK;
	default:
		r->quiet = true;
		return EXIT_OK;
	}
}

/* Returns EXIT_OK, or what to exit with. */
static int take_options(const struct command *command, int argc, char **argv, struct recording *r)
{
	int option, ret;

	while ((option = next_option(command, argc, argv, false)) >= 0) {
		ret = take_option(command, r, option);
		if (ret)
			return ret;
	}
	if (optind < argc)
		r->argv = argv + optind;
	return EXIT_OK;
}

static int choose(const struct command *command, struct recording *r)
{
	unsigned int *cpus;
	size_t i;
	int ret = choose_cpus(command, r->cpus, &cpus, &r->n);

	if (ret)
		return ret;
	r->traced = calloc(r->n, sizeof(*r->traced));
	for (i = 0; i < r->n && r->traced; i++)
		r->traced[i].cpu = cpus[i];
	free(cpus);
	return r->traced ? EXIT_OK : fail("out of memory");
}

/* ---- The summary ----------------------------------------------------------------------- */

static struct auxtrace_status total(const struct recording *r)
{
	struct auxtrace_status sum = {};
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct auxtrace_status *s = &r->traced[i].status;

		sum.gaps += s->gaps;
		sum.gaps_full += s->gaps_full;
		sum.gaps_driver += s->gaps_driver;
		sum.gaps_hotplug += s->gaps_hotplug;
		sum.gap_time += s->gap_time;
		sum.truncated += s->truncated;
		sum.partial += s->partial;
		sum.collision += s->collision;
		sum.reports_lost += s->reports_lost;
	}
	return sum;
}

/* ", 3 THINGS", if there are any. */
static void add_part(char *text, size_t size, uint64_t n, const char *things)
{
	size_t have = strlen(text);

	if (n)
		snprintf(text + have, size - have, "%s%llu %s", have ? ", " : "",
			 (unsigned long long)n, things);
}

static void tell_gaps(const struct recording *r, const struct auxtrace_status *sum)
{
	char causes[256] = "", time[UNITS_LEN];

	if (!sum->gaps) {
		if (!r->write_error)
			warn("no gaps: no trace is missing");
		return;
	}
	add_part(causes, sizeof(causes), sum->gaps_full, "buffer full");
	add_part(causes, sizeof(causes), sum->gaps_driver, "stopped by the driver");
	add_part(causes, sizeof(causes), sum->gaps_hotplug, "CPU offline");
	warn("%llu gaps, %s in all: %s%s", (unsigned long long)sum->gaps,
	     format_duration(time, sum->gap_time), causes,
	     sum->gaps_full ? "; a larger --buffer-size makes fewer" : "");
}

static void tell_reports(const struct auxtrace_status *sum)
{
	char reports[256] = "";

	add_part(reports, sizeof(reports), sum->truncated, "truncated");
	add_part(reports, sizeof(reports), sum->partial, "partial");
	add_part(reports, sizeof(reports), sum->collision, "collisions");
	add_part(reports, sizeof(reports), sum->reports_lost, "reports lost");
	if (*reports)
		warn("the PMU's driver reported: %s", reports);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void tell(const struct recording *r)
{
	uint64_t ns = r->stopped - r->started ?: 1, windows, lost = output_lost(r, &windows);
	uint64_t written = r->bytes > lost ? r->bytes - lost : 0;
	uint64_t whole = r->windows > windows ? r->windows - windows : 0;
	char bytes[UNITS_LEN], time[UNITS_LEN], rate[UNITS_LEN], file[UNITS_LEN];
	struct auxtrace_status sum = total(r);

	warn("%s of trace from %zu CPU%s in %s (%s/s), %llu window%s; %s in %s",
	     format_size(bytes, written), r->n, plural(r->n), format_duration(time, ns),
	     format_size(rate, (double)written * NS_PER_S / ns), (unsigned long long)whole,
	     plural(whole), format_size(file, output_size(r)),
	     strcmp(r->output, "-") ? r->output : "standard output");
	if (windows)
		warn("%s in %llu window%s could not be written", format_size(bytes, lost),
		     (unsigned long long)windows, plural(windows));
	tell_gaps(r, &sum);
	tell_reports(&sum);
	if (!r->bytes && !r->write_error)
		warn("no trace came: did anything run on these CPUs that is not excluded?");
}

/* ---- All of it ---------------------------------------------------------------------------- */

/*
 * The command has had its SIGTERM, if it did not end by itself. All else is done, so that a
 * signal need not be the second to end this.
 */
static int command_code(struct recording *r)
{
	default_signals();
	if (r->child && waitpid(r->child, &r->child_status, 0) == r->child)
		r->child_ended = true;
	r->child = 0;
	if (!r->child_ended)
		return EXIT_OK;
	if (WIFSIGNALED(r->child_status))
		return 128 + WTERMSIG(r->child_status);
	return WEXITSTATUS(r->child_status);
}

static int write_failed(const struct recording *r)
{
	const char *why = strerror(-r->write_error);

	if (!strcmp(r->output, "-"))
		return fail("cannot write to standard output: %s", why);
	return fail("cannot write %s: %s; it is whole up to there", r->output, why);
}

static int run(struct recording *r)
{
	/* Before files that are there are overwritten. */
	int ret = check_command(r), code;

	ret = ret ?: open_devices(r);
	if (ret)
		return ret;
	ret = open_outputs(r);
	ret = ret ?: start_command(r);
	if (!ret) {
		ret = record(r);
		flush_outputs(r);
		if (!r->quiet)
			tell(r);
	}
	close_devices(r);
	close_outputs(r);
	if (!ret && r->write_error)
		ret = write_failed(r);
	code = command_code(r);
	return ret ?: code;
}

static int run_record(const struct command *command, int argc, char **argv)
{
	struct recording r = {};
	int ret = take_options(command, argc, argv, &r);

	ret = ret ?: take_signals();
	ret = ret ?: choose(command, &r);
	if (ret)
		return ret;
	ret = run(&r);
	close_devices(&r);
	free(r.traced);
	return ret;
}
