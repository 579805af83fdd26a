// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace dump: what a recording or a device has, window by window, or the trace itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "devices.h"
#include "json.h"
#include "text.h"
#include "units.h"

#define NS_PER_S 1000000000ULL

/* A file that is not as it was written. */
#define EXIT_DAMAGED 3

enum { OPTION_JSON = 256 };

static const struct option_info options[] = {
	OPTION_CPU,
	{ 'r', "raw", NULL, "the trace itself, nothing else; one CPU at a time" },
	{ 'x', "hex", NULL, "the trace in hexadecimal below each window" },
	{ 'n', "count", "N", "end after N windows" },
	{ OPTION_JSON, "json", NULL, "as JSON, one line each" },
	{ 0 },
};

static int run_dump(const struct command *command, int argc, char **argv);

const struct command cmd_dump = {
	.name = "dump",
	.args = "FILE...",
	.summary = "Show the windows of recordings, or of a device as they come",
	.details = "A FILE is a recording, a device such as /dev/auxtrace0 (until Ctrl-C), or - "
		   "for\nstandard input. Exits with 3 if a recording is damaged or cut.\n",
	.options = options,
	.run = run_dump,
};

/* What is wanted, and how far it is. */
struct dump {
	bool raw;
	bool hex;
	bool json;
	uint64_t count; /* 0: no end */
	unsigned int *cpus;
	size_t nr_cpus; /* 0: all */

	const char *name; /* of the file that is shown */
	uint64_t items;	  /* in it */
	uint64_t records; /* of these, not damage */
	bool unknown;	  /* it does not begin with one */
	uint64_t windows;
	bool damaged;
	bool has_raw_cpu;
	unsigned int raw_cpu;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* What is ignored stays so, as in the background of a script. */
static void take_signal(int number)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND }, before;

	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static const struct {
	uint32_t flag;
	const char *name;
} flag_names[] = {
	{ AUXTRACE_WINDOW_GAP, "gap" },
	{ AUXTRACE_WINDOW_FULL, "full" },
	{ AUXTRACE_WINDOW_HOTPLUG, "hotplug" },
	{ AUXTRACE_WINDOW_STOPPED, "stopped" },
	{ AUXTRACE_WINDOW_TRUNCATED, "truncated" },
	{ AUXTRACE_WINDOW_PARTIAL, "partial" },
	{ AUXTRACE_WINDOW_COLLISION, "collision" },
	{ AUXTRACE_WINDOW_FLUSH, "flush" },
	{ AUXTRACE_WINDOW_LAST, "last" },
};
#define NR_FLAGS (sizeof(flag_names) / sizeof(*flag_names))

/* "2026-11-29T20:00:00Z" of nanoseconds since 1970. */
static const char *format_date(char text[static 32], uint64_t ns)
{
	time_t seconds = ns / NS_PER_S;
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		strcpy(text, "?");
	return text;
}

/* ---- Text ---------------------------------------------------------------------------- */

static void print_hex(const struct auxtrace_item *item)
{
	const unsigned char *bytes = item->payload;
	size_t i;

	for (i = 0; i < item->size; i++) {
		if (i % 16 == 0)
			printf("%s  %12llx ", i ? "\n" : "",
			       (unsigned long long)(item->window->offset + item->at + i));
		printf(" %02x", bytes[i]);
	}
	if (item->size)
		putchar('\n');
}

static void print_window(const struct auxtrace_item *item)
{
	const struct auxtrace_window *w = item->window;
	char duration[UNITS_LEN];
	size_t i;

	printf("window  cpu %u  seq %llu  offset %llu  size %llu  time %llu.%09llu", w->cpu,
	       (unsigned long long)w->seq, (unsigned long long)w->offset,
	       (unsigned long long)w->size, (unsigned long long)(w->time / NS_PER_S),
	       (unsigned long long)(w->time % NS_PER_S));
	for (i = 0; i < NR_FLAGS; i++) {
		if (!(w->flags & flag_names[i].flag))
			continue;
		printf("%s%s", i ? "  " : "  ", flag_names[i].name);
		if (flag_names[i].flag == AUXTRACE_WINDOW_GAP)
			printf(" %s", format_duration(duration, w->gap_time));
	}
	putchar('\n');
}

static void print_stream(const struct auxtrace_stream *stream)
{
	const struct auxtrace_info *info = stream->info;
	const char *key, *value;
	char size[UNITS_LEN], date[32];
	size_t i;

	printf("stream  cpu %u  pmu ", stream->cpu);
	text_print(stdout, info->pmu_name);
	printf("  config 0x%llx 0x%llx 0x%llx 0x%llx  period %llu  %s%sbuffer %s  started %s\n",
	       (unsigned long long)info->config, (unsigned long long)info->config1,
	       (unsigned long long)info->config2, (unsigned long long)info->config3,
	       (unsigned long long)info->period,
	       info->event_flags & AUXTRACE_EVENT_EXCLUDE_USER ? "exclude_user  " : "",
	       info->event_flags & AUXTRACE_EVENT_EXCLUDE_KERNEL ? "exclude_kernel  " : "",
	       format_size(size, info->buffer_size), format_date(date, stream->started));
	if (stream->flags & AUXTRACE_STREAM_TIME_ZERO)
		printf("        time_mult %u  time_shift %u  time_zero %llu\n", stream->time_mult,
		       stream->time_shift, (unsigned long long)stream->time_zero);
	for (i = 0; auxtrace_stream_pair(stream, i, &key, &value); i++) {
		printf("        ");
		text_print(stdout, key);
		putchar(' ');
		text_print(stdout, value);
		putchar('\n');
	}
}

static void print_text(const struct dump *d, const struct auxtrace_item *item)
{
	char date[32];

	switch (item->kind) {
	case AUXTRACE_ITEM_FILE:
		printf("file    version %u  created %s\n", item->version,
		       format_date(date, item->created));
		break;
	case AUXTRACE_ITEM_STREAM:
		print_stream(item->stream);
		break;
	case AUXTRACE_ITEM_WINDOW:
		if (!item->at)
			print_window(item);
		if (d->hex)
			print_hex(item);
		break;
	case AUXTRACE_ITEM_LOST:
		printf("lost    cpu %u  windows %llu  bytes %llu  reason %s\n", item->cpu,
		       (unsigned long long)item->lost_windows, (unsigned long long)item->lost_bytes,
		       strerror(item->error));
		break;
	case AUXTRACE_ITEM_DAMAGE:
		printf("damage  at %llu  ", (unsigned long long)item->position);
		if (item->damage == AUXTRACE_DAMAGE_HOLE)
			printf("cpu %u  windows %llu  ", item->cpu,
			       (unsigned long long)item->lost_windows);
		printf("bytes %llu  %s\n", (unsigned long long)item->lost_bytes,
		       auxtrace_damage_text(item->damage));
		break;
	}
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_stream(struct json *json, const struct auxtrace_stream *stream)
{
	const struct auxtrace_info *info = stream->info;
	const char *key, *value;
	size_t i;

	json_number(json, "cpu", stream->cpu);
	json_string(json, "pmu", info->pmu_name);
	json_number(json, "pmu_type", info->pmu_type);
	json_number(json, "config", info->config);
	json_number(json, "config1", info->config1);
	json_number(json, "config2", info->config2);
	json_number(json, "config3", info->config3);
	json_number(json, "period", info->period);
	json_bool(json, "exclude_user", info->event_flags & AUXTRACE_EVENT_EXCLUDE_USER);
	json_bool(json, "exclude_kernel", info->event_flags & AUXTRACE_EVENT_EXCLUDE_KERNEL);
	json_number(json, "buffer_size", info->buffer_size);
	json_number(json, "watermark", info->watermark);
	json_number(json, "started", stream->started);
	if (stream->flags & AUXTRACE_STREAM_TIME_ZERO) {
		json_number(json, "time_mult", stream->time_mult);
		json_number(json, "time_shift", stream->time_shift);
		json_number(json, "time_zero", stream->time_zero);
	}
	if (stream->flags & AUXTRACE_STREAM_TIME_SHORT) {
		json_number(json, "time_cycles", stream->time_cycles);
		json_number(json, "time_mask", stream->time_mask);
	}
	json_open(json, "about", '{');
	for (i = 0; auxtrace_stream_pair(stream, i, &key, &value); i++)
		json_string(json, key, value);
	json_close(json, '}');
}

static void json_hex(struct json *json, const struct auxtrace_item *item)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = item->payload;
	char *text = malloc(2 * item->size + 1);
	size_t i;

	if (!text)
		return;
	for (i = 0; i < item->size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * i] = '\0';
	json_string(json, "payload", text);
	free(text);
}

static void json_window(struct json *json, const struct dump *d, const struct auxtrace_item *item)
{
	const struct auxtrace_window *w = item->window;
	size_t i;

	json_number(json, "cpu", w->cpu);
	json_number(json, "seq", w->seq);
	json_number(json, "offset", w->offset + item->at);
	json_number(json, "size", d->hex ? item->size : w->size);
	if (item->at)
		return json_hex(json, item);
	json_number(json, "time", w->time);
	json_number(json, "gap_time", w->gap_time);
	json_open(json, "flags", '[');
	for (i = 0; i < NR_FLAGS; i++) {
		if (w->flags & flag_names[i].flag)
			json_string(json, NULL, flag_names[i].name);
	}
	json_close(json, ']');
	if (d->hex)
		json_hex(json, item);
}

static void print_json(const struct dump *d, const struct auxtrace_item *item)
{
	static const char *const kinds[] = { "?", "window", "file", "stream", "lost", "damage" };
	struct json json = { .to = stdout };

	if (item->kind >= sizeof(kinds) / sizeof(*kinds) || (item->at && !d->hex))
		return;
	json_open(&json, NULL, '{');
	json_string(&json, "kind", item->at ? "part" : kinds[item->kind]);
	switch (item->kind) {
	case AUXTRACE_ITEM_FILE:
		json_number(&json, "version", item->version);
		json_number(&json, "created", item->created);
		break;
	case AUXTRACE_ITEM_STREAM:
		json_stream(&json, item->stream);
		break;
	case AUXTRACE_ITEM_WINDOW:
		json_window(&json, d, item);
		break;
	case AUXTRACE_ITEM_LOST:
		json_number(&json, "cpu", item->cpu);
		json_number(&json, "windows", item->lost_windows);
		json_number(&json, "bytes", item->lost_bytes);
		json_number(&json, "errno", item->error);
		break;
	case AUXTRACE_ITEM_DAMAGE:
		json_string(&json, "what", auxtrace_damage_text(item->damage));
		json_number(&json, "position", item->position);
		json_number(&json, "bytes", item->lost_bytes);
		if (item->damage == AUXTRACE_DAMAGE_HOLE) {
			json_number(&json, "cpu", item->cpu);
			json_number(&json, "windows", item->lost_windows);
		}
		break;
	}
	json_close(&json, '}');
	json_end_line(&json);
}

/* ---- Raw ---------------------------------------------------------------------------------------
 */

/* The trace of two CPUs in one would be of no use to anybody. */
static int write_raw(struct dump *d, const struct auxtrace_item *item)
{
	if (item->kind == AUXTRACE_ITEM_DAMAGE)
		warn("%s: at byte %llu: %s (%llu bytes)", d->name,
		     (unsigned long long)item->position, auxtrace_damage_text(item->damage),
		     (unsigned long long)item->lost_bytes);
	if (item->kind == AUXTRACE_ITEM_LOST)
		warn("%s: CPU %u: the recorder lost %llu bytes: %s", d->name, item->cpu,
		     (unsigned long long)item->lost_bytes, strerror(item->error));
	if (item->kind != AUXTRACE_ITEM_WINDOW)
		return EXIT_OK;
	if (d->has_raw_cpu && d->raw_cpu != item->cpu)
		return fail("%s has the trace of CPU %u and of CPU %u: choose one by -C", d->name,
			    d->raw_cpu, item->cpu);
	d->has_raw_cpu = true;
	d->raw_cpu = item->cpu;
	fwrite(item->payload, 1, item->size, stdout);
	return EXIT_OK;
}

/* ---- All of it
 * ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct dump *d, const struct auxtrace_item *item)
{
	size_t i;

	if (!d->nr_cpus || item->kind == AUXTRACE_ITEM_FILE ||
	    (item->kind == AUXTRACE_ITEM_DAMAGE && item->damage != AUXTRACE_DAMAGE_HOLE))
		return true;
	for (i = 0; i < d->nr_cpus; i++) {
		if (d->cpus[i] == item->cpu)
			return true;
	}
	return false;
}

static bool is_enough(const struct dump *d)
{
	return d->count && d->windows >= d->count;
}

static int show_item(struct dump *d, const struct auxtrace_item *item)
{
	d->items++;
	d->records += item->kind != AUXTRACE_ITEM_DAMAGE;
	d->unknown |= item->kind == AUXTRACE_ITEM_DAMAGE &&
		      item->damage == AUXTRACE_DAMAGE_SKIPPED && !item->position;
	if (!is_wanted(d, item))
		return EXIT_OK;
	d->damaged |= item->kind == AUXTRACE_ITEM_DAMAGE;
	d->windows += item->kind == AUXTRACE_ITEM_WINDOW && item->last;
	if (d->raw)
		return write_raw(d, item);
	(d->json ? print_json : print_text)(d, item);
	return EXIT_OK;
}

/* A file that is no recording at all. */
static void tell_what_it_is(struct dump *d)
{
	if (!d->items)
		warn("%s is empty: there is no recording in it", d->name);
	else if (!d->records && d->unknown)
		warn("%s is no recording: if it is the raw trace that a device gives, it is for a "
		     "decoder as it is; auxtrace record makes recordings",
		     d->name);
	d->damaged |= !d->records;
}

/* Where @device is NULL, a signal ends it; else it ends the trace, the rest of which comes. */
static int show_all(struct dump *d, struct auxtrace_reader *reader, struct auxtrace_device *device)
{
	const struct auxtrace_item *item;
	bool stopped = false;
	int ret;

	for (;;) {
		if ((interrupted || is_enough(d)) && device && !stopped) {
			auxtrace_device_stop(device);
			stopped = true;
		}
		if (is_enough(d) || (interrupted && !device))
			return EXIT_OK;
		ret = auxtrace_reader_next(reader, &item);
		if (!ret) {
			if (!device)
				tell_what_it_is(d);
			return EXIT_OK;
		}
		if (ret == -EINTR)
			continue;
		if (ret < 0)
			return fail("cannot read %s: %s", d->name,
				    ret == -ENOTSUP
					    ? "it is compressed, and this was built without zstd"
					    : strerror(-ret));
		ret = show_item(d, item);
		/* Whoever watches a device wants it now. */
		if (device && fflush(stdout))
			return EXIT_FAILED;
		if (ret || ferror(stdout))
			return ret;
	}
}

static int show_device(struct dump *d)
{
	struct auxtrace_stream *stream;
	struct auxtrace_device *device;
	struct auxtrace_reader *reader;
	int ret = auxtrace_device_open(&device, d->name, 0);

	if (ret)
		return fail("cannot open %s: %s", d->name, auxtrace_open_error(ret));
	ret = auxtrace_stream_from_device(&stream, device, sysfs());
	if (!ret) {
		struct auxtrace_item item = { .kind = AUXTRACE_ITEM_STREAM,
					      .cpu = stream->cpu,
					      .stream = stream };

		ret = show_item(d, &item);
		auxtrace_stream_free(stream);
	}
	if (!ret)
		ret = auxtrace_reader_from_device(&reader, device, NULL);
	if (ret) {
		auxtrace_device_close(device);
		return fail("cannot read %s: %s", d->name, strerror(-ret));
	}
	ret = show_all(d, reader, device);
	auxtrace_reader_free(reader);
	auxtrace_device_close(device);
	return ret;
}

static int show_file(struct dump *d)
{
	struct auxtrace_reader *reader;
	struct stat st;
	int ret;

	if (strcmp(d->name, "-") && !stat(d->name, &st) && S_ISCHR(st.st_mode))
		return show_device(d);
	if (!strcmp(d->name, "-")) {
		d->name = "standard input";
		ret = auxtrace_reader_from_fd(&reader, STDIN_FILENO, NULL);
	} else {
		ret = auxtrace_reader_open(&reader, d->name, NULL);
	}
	if (ret)
		return fail("cannot open %s: %s", d->name, strerror(-ret));
	ret = show_all(d, reader, NULL);
	auxtrace_reader_free(reader);
	return ret;
}

/* Returns EXIT_OK, or what to exit with. */
static int take_options(const struct command *command, int argc, char **argv, struct dump *d)
{
	int option;

	while ((option = next_option(command, argc, argv, true)) >= 0) {
		switch (option) {
		case 'C':
			free(d->cpus);
			d->cpus = NULL;
			if (auxtrace_cpus_parse(optarg, &d->cpus, &d->nr_cpus))
				return usage_error(command, "'%s' is no list of CPUs such as 0-3,8",
						   optarg);
			break;
		case 'r':
			d->raw = true;
			break;
		case 'x':
			d->hex = true;
			break;
		case 'n':
			if (parse_number(optarg, &d->count) || !d->count)
				return usage_error(command, "--count wants a number, not '%s'",
						   optarg);
			break;
		case OPTION_JSON:
			d->json = true;
			break;
		}
	}
	if (optind == argc)
		return usage_error(command, "which recording?");
	if (d->raw && (d->json || d->hex))
		return usage_error(command, "--raw excludes --json and --hex");
	if (d->raw && isatty(STDOUT_FILENO))
		return fail("a terminal is no place for raw trace: send it to a file or a pipe");
	return EXIT_OK;
}

static int run_dump(const struct command *command, int argc, char **argv)
{
	struct dump d = {};
	int ret = take_options(command, argc, argv, &d), i;

	take_signal(SIGINT);
	take_signal(SIGTERM);
	/* A file that is too large is an error like others. */
	signal(SIGXFSZ, SIG_IGN);
	for (i = optind; i < argc && !ret && !interrupted && !is_enough(&d); i++) {
		d.name = argv[i];
		d.items = 0;
		d.records = 0;
		d.unknown = false;
		ret = show_file(&d);
	}
	free(d.cpus);
	if (!ret && d.damaged)
		ret = EXIT_DAMAGED;
	return finish(ret);
}
