// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace record: what comes before and after: settings, devices, files, the command.
 *
 * Owns the settings' restoration.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"
#include "tree.h"

/* How often --wait looks. */
#define WAIT_MS 200

#define DEFAULT_OUTPUT "auxtrace.rec"

/* ---- Settings ------------------------------------------------------------------------ */

static int apply_buffer_size(const struct recording *r, struct traced *t)
{
	int ret;

	if (!r->buffer_size || t->has_buffer_before)
		return 0;
	ret = auxtrace_attribute_get(sysfs(), t->cpu, "buffer_size", t->buffer_before,
				     sizeof(t->buffer_before));
	if (ret < 0)
		return ret;
	ret = auxtrace_attribute_set(sysfs(), t->cpu, "buffer_size", r->buffer_size);
	t->has_buffer_before = !ret;
	return ret;
}

static int apply_event(const struct recording *r, struct traced *t)
{
	int ret;

	if (!r->has_event || t->has_event_before)
		return 0;
	t->event_before.size = sizeof(t->event_before);
	ret = auxtrace_event_apply(&r->event, t->cpu, sysfs(), &t->event_before);
	t->has_event_before = !ret;
	return ret;
}

static void restore(struct traced *t)
{
	int ret = 0;

	if (t->has_buffer_before)
		ret = auxtrace_attribute_set(sysfs(), t->cpu, "buffer_size", t->buffer_before);
	if (t->has_event_before)
		ret = ret ?: auxtrace_event_apply(&t->event_before, t->cpu, sysfs(), NULL);
	if (ret)
		warn("cannot restore the settings of CPU %u: %s", t->cpu, strerror(-ret));
	t->has_buffer_before = false;
	t->has_event_before = false;
}

static int settings_error(const struct recording *r, const struct traced *t, int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return fail("cannot change the settings of CPU %u: only root may", t->cpu);
	case -EXDEV:
		return fail("CPU %u has another PMU than %s: choose by -C those that have it",
			    t->cpu, r->event.pmu);
	case -EINVAL:
		return fail("CPU %u refuses the settings: the kernel's log says why (dmesg)",
			    t->cpu);
	default:
		return fail("cannot change the settings of CPU %u: %s", t->cpu, strerror(-error));
	}
}

/* ---- Devices ---------------------------------------------------------------------------- */

static void close_one(struct traced *t)
{
	auxtrace_reader_free(t->reader);
	auxtrace_device_close(t->device);
	auxtrace_stream_free(t->stream);
	t->reader = NULL;
	t->device = NULL;
	t->stream = NULL;
	restore(t);
}

void close_devices(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		close_one(&r->traced[i]);
}

/* 0, or -errno; *settings: it was about the settings. */
static int open_one(const struct recording *r, struct traced *t, bool *settings)
{
	int ret = apply_event(r, t);

	ret = ret ?: apply_buffer_size(r, t);
	*settings = ret != 0;
	if (ret)
		return ret;
	return auxtrace_device_open_cpu(&t->device, t->cpu, AUXTRACE_OPEN_NONBLOCK);
}

/* Takes out a CPU that is offline. */
static void leave_out(struct recording *r, size_t i)
{
	warn("CPU %u is offline: left out", r->traced[i].cpu);
	close_one(&r->traced[i]);
	memmove(&r->traced[i], &r->traced[i + 1], (r->n - i - 1) * sizeof(*r->traced));
	r->n--;
}

/* Tells who has it, as far as that can be seen. */
static int busy_error(struct recording *r, unsigned int cpu)
{
	char device[32], openers[256];

	/* It is not us. */
	close_devices(r);
	snprintf(device, sizeof(device), "/dev/auxtrace%u", cpu);
	if (tree_device_openers("", device, openers, sizeof(openers)))
		return fail("%s is in use by %s; --wait waits for it", device, openers);
	if (tree_openers("", OPEN_PERF, openers, sizeof(openers)))
		return fail("%s is in use, or its PMU is, maybe by %s; --wait waits for it", device,
			    openers);
	return fail("cannot open %s: %s; --wait waits for it", device, auxtrace_open_error(-EBUSY));
}

static int open_error(struct recording *r, const struct traced *t, int error, bool settings)
{
	if (error == -EBUSY)
		return busy_error(r, t->cpu);
	if (settings)
		return settings_error(r, t, error);
	return fail("cannot open /dev/auxtrace%u: %s", t->cpu, auxtrace_open_error(error));
}

/* One attempt. -EBUSY if --wait may try again. */
static int open_all(struct recording *r, bool *told)
{
	size_t i = 0;

	while (i < r->n) {
		struct traced *t = &r->traced[i];
		bool settings;
		int ret = open_one(r, t, &settings);

		if (ret == -ENODEV && !settings) {
			leave_out(r, i);
			continue;
		}
		if (ret == -EBUSY && r->wait) {
			if (!*told)
				warn("CPU %u is in use: waiting", t->cpu);
			*told = true;
			return -EBUSY;
		}
		if (ret)
			return open_error(r, t, ret, settings);
		i++;
	}
	return r->n ? EXIT_OK : fail("none of these CPUs is online");
}

/* What is known of each stream, and its reader. */
static int describe(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		struct traced *t = &r->traced[i];
		int ret = auxtrace_stream_from_device(&t->stream, t->device, sysfs());

		ret = ret ?: auxtrace_reader_from_device(&t->reader, t->device, NULL);
		if (ret)
			return fail("cannot read /dev/auxtrace%u: %s", t->cpu, strerror(-ret));
	}
	return EXIT_OK;
}

int open_devices(struct recording *r)
{
	bool told = false;
	int ret;

	while ((ret = open_all(r, &told)) == -EBUSY) {
		/* None is held, and none runs full, while another is waited for. */
		close_devices(r);
		if (has_ended(r, WAIT_MS))
			return fail("the wait was broken off");
	}
	r->started = monotonic_ns();
	return ret ?: describe(r);
}

/* ---- Files ------------------------------------------------------------------------------- */

static int output_error(const char *path, int error)
{
	if (error == -EISDIR)
		return fail("there is no directory %s: make it, or leave the '/' out", path);
	if (error == -EEXIST)
		return fail("%s is there already: --force overwrites files, -o names another",
			    path);
	if (error == -ENOTSUP)
		return fail("this was built without zstd: leave --compress out");
	return fail("cannot write %s: %s", path, strerror(-error));
}

static int open_directory(struct recording *r, const struct auxtrace_writer_options *options)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		struct traced *t = &r->traced[i];
		int ret;

		if (snprintf(t->path, sizeof(t->path), "%s/auxtrace%u.rec", r->output, t->cpu) >=
		    (int)sizeof(t->path))
			return output_error(r->output, -ENAMETOOLONG);
		ret = auxtrace_writer_open(&t->writer, t->path, options);
		ret = ret ?: auxtrace_writer_stream(t->writer, t->stream);
		if (ret)
			return output_error(t->path, ret);
	}
	return EXIT_OK;
}

static int open_single(struct recording *r, const struct auxtrace_writer_options *options)
{
	bool to_stdout = !strcmp(r->output, "-");
	size_t i;
	int ret;

	if (to_stdout && isatty(STDOUT_FILENO))
		return fail("a terminal is no place for a recording: send it to a file or a pipe");
	if (to_stdout)
		ret = auxtrace_writer_from_fd(&r->writer, STDOUT_FILENO, options);
	else
		ret = auxtrace_writer_open(&r->writer, r->output, options);
	for (i = 0; i < r->n && !ret; i++) {
		r->traced[i].writer = r->writer;
		ret = auxtrace_writer_stream(r->writer, r->traced[i].stream);
	}
	return ret ? output_error(to_stdout ? "to standard output" : r->output, ret) : EXIT_OK;
}

int open_outputs(struct recording *r)
{
	struct auxtrace_writer_options options = {
		.size = sizeof(options),
		.flags = r->force ? 0 : AUXTRACE_WRITER_NEW,
		.compression = r->compression,
	};
	struct stat st;

	if (!r->output)
		r->output = DEFAULT_OUTPUT;
	if (!stat(r->output, &st) && S_ISDIR(st.st_mode))
		return open_directory(r, &options);
	return open_single(r, &options);
}

void note_write(struct recording *r, int ret)
{
	if (ret && !r->write_error)
		r->write_error = ret;
}

/* The writers: the only one, or those of the CPUs. NULL: it is not open. */
static size_t nr_writers(const struct recording *r)
{
	return r->writer ? 1 : r->n;
}

static struct auxtrace_writer *writer_at(const struct recording *r, size_t i)
{
	return r->writer ?: r->traced[i].writer;
}

void flush_outputs(struct recording *r)
{
	size_t i;

	for (i = 0; i < nr_writers(r); i++)
		note_write(r, auxtrace_writer_flush(writer_at(r, i)));
}

void close_outputs(struct recording *r)
{
	size_t i;

	for (i = 0; i < nr_writers(r); i++)
		note_write(r, auxtrace_writer_close(writer_at(r, i)));
}

uint64_t output_size(const struct recording *r)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < nr_writers(r); i++)
		bytes += auxtrace_writer_size(writer_at(r, i));
	return bytes;
}

uint64_t output_lost(const struct recording *r, uint64_t *windows)
{
	uint64_t bytes = 0, n;
	size_t i;

	*windows = 0;
	for (i = 0; i < nr_writers(r); i++) {
		bytes += auxtrace_writer_lost(writer_at(r, i), &n);
		*windows += n;
	}
	return bytes;
}

/* ---- The command ---------------------------------------------------------------------------- */

static int command_error(const char *name, int error)
{
	fail("cannot run %s: %s", name, strerror(error));
	return error == ENOENT ? 127 : 126;
}

/* Could it be run? 0, or an errno: EACCES where it is found, but not a program. */
static int try_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	return S_ISREG(st.st_mode) && !access(path, X_OK) ? 0 : EACCES;
}

/* As execvp() does. It may still fail for what only the kernel knows. */
int check_command(const struct recording *r)
{
	const char *path = getenv("PATH") ?: "/bin:/usr/bin", *name, *end;
	char program[PATH_MAX];
	int error = ENOENT, one;

	if (!r->argv)
		return EXIT_OK;
	name = r->argv[0];
	if (strchr(name, '/')) {
		error = try_program(name);
		return error ? command_error(name, error) : EXIT_OK;
	}
	for (; *name; path = end + 1) {
		end = strchrnul(path, ':');
		snprintf(program, sizeof(program), "%.*s%s%s", (int)(end - path), path,
			 end > path ? "/" : "", name);
		one = try_program(program);
		if (!one)
			return EXIT_OK;
		if (one == EACCES)
			error = EACCES;
		if (!*end)
			break;
	}
	return command_error(name, error);
}

__attribute__((noreturn)) static void run_child(const struct recording *r, int report)
{
	int error;

	signals_of_child();
	/* Where the recording goes, nothing else may. */
	if (!strcmp(r->output, "-"))
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(r->argv[0], r->argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

int start_command(struct recording *r)
{
	int report[2], error;
	ssize_t n;

	if (!r->argv)
		return EXIT_OK;
	if (pipe2(report, O_CLOEXEC))
		return fail("cannot run %s: %s", r->argv[0], strerror(errno));
	r->child = fork();
	if (r->child < 0) {
		r->child = 0;
		close(report[0]);
		close(report[1]);
		return fail("cannot run %s: %s", r->argv[0], strerror(errno));
	}
	if (!r->child)
		run_child(r, report[1]);
	close(report[1]);
	do {
		n = read(report[0], &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n != sizeof(error))
		return EXIT_OK;
	return command_error(r->argv[0], error);
}
