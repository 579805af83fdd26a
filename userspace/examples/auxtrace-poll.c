// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace-poll - drain trace devices into files, the way a daemon does
 *
 * One thread, one epoll set, all devices in it. Shows what a program of your
 * own needs: open without O_CREAT, check that it is a device, wait, read until
 * EAGAIN, write.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (256 << 10)

struct stream {
	const char *device;
	int in;
	int out;
	unsigned long long bytes;
	unsigned long long gap_events;
	bool done;
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void usage(FILE *to)
{
	fputs("Usage: auxtrace-poll [-b BYTES] [-o DIRECTORY] DEVICE...\n"
	      "Drains trace devices (/dev/auxtrace0 ...) into DIRECTORY/<device>.trace\n"
	      "until each has given BYTES (default: until Ctrl-C).\n",
	      to);
}

static int fail(const char *what, const char *name)
{
	fprintf(stderr, "auxtrace-poll: %s %s: %s\n", what, name, strerror(errno));
	return -1;
}

static int open_device(struct stream *stream)
{
	struct stat st;

	stream->in = open(stream->device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (stream->in < 0)
		return fail("cannot open", stream->device);
	if (fstat(stream->in, &st) || !S_ISCHR(st.st_mode)) {
		fprintf(stderr, "auxtrace-poll: %s is no device: is the module loaded?\n",
			stream->device);
		return -1;
	}
	return 0;
}

static int open_output(struct stream *stream, const char *directory)
{
	char *copy = strdup(stream->device);
	char *path = NULL;
	int ret = 0;

	if (!copy || asprintf(&path, "%s/%s.trace", directory, basename(copy)) < 0) {
		free(copy);
		return fail("no memory for", stream->device);
	}
	stream->out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (stream->out < 0)
		ret = fail("cannot create", path);
	free(path);
	free(copy);
	return ret;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		size -= n;
	}
	return 0;
}

/* Reads until the device has no more for now, or has given what was asked for. */
static int drain(struct stream *stream, unsigned long long wanted)
{
	static char buffer[BUFFER_SIZE];

	while (!stop) {
		unsigned long long left = wanted - stream->bytes;
		ssize_t n = read(stream->in, buffer,
				 wanted && left < sizeof(buffer) ? left : sizeof(buffer));

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail("cannot read", stream->device);
		if (write_all(stream->out, buffer, n))
			return fail("cannot write the trace of", stream->device);
		stream->bytes += n;
		if (!n || (wanted && stream->bytes == wanted)) {
			stream->done = true;
			return 0;
		}
	}
	return 0;
}

static int add(int set, struct stream *stream)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLPRI,
		.data.ptr = stream,
	};

	if (epoll_ctl(set, EPOLL_CTL_ADD, stream->in, &event))
		return fail("cannot poll", stream->device);
	return 0;
}

static int run(struct stream *streams, int count, unsigned long long wanted)
{
	int set = epoll_create1(EPOLL_CLOEXEC);
	int i, open_streams = count;

	if (set < 0)
		return fail("cannot make an", "epoll set");
	for (i = 0; i < count; i++) {
		if (add(set, &streams[i]))
			return -1;
	}

	while (open_streams && !stop) {
		struct epoll_event events[16];
		int n = epoll_wait(set, events, 16, -1);

		if (n < 0 && errno != EINTR)
			return fail("cannot wait for", "trace");
		for (i = 0; i < n; i++) {
			struct stream *stream = events[i].data.ptr;

			if (events[i].events & EPOLLPRI)
				stream->gap_events++;
			if (drain(stream, wanted))
				return -1;
			if (stream->done) {
				/* The last close gives the PMU back. */
				close(stream->in);
				open_streams--;
			}
		}
	}
	close(set);
	return 0;
}

/* A number, with K, M or G behind it if need be. */
static bool parse_bytes(const char *text, unsigned long long *bytes)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 0);
	if (errno || end == text || *text == '-' || !*bytes)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	for (; unit && unit >= units; unit--) {
		if (*bytes >> 54)
			return false;
		*bytes <<= 10;
	}
	return !*end || (strchr(units, *end) && !end[1]);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned long long wanted = 0;
	const char *directory = ".";
	struct stream *streams;
	int option, count, i;

	while ((option = getopt(argc, argv, "b:o:h")) != -1) {
		switch (option) {
		case 'b':
			if (!parse_bytes(optarg, &wanted)) {
				fprintf(stderr, "auxtrace-poll: -b wants a number, not '%s'\n",
					optarg);
				return 2;
			}
			break;
		case 'o':
			directory = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	count = argc - optind;
	if (count < 1) {
		usage(stderr);
		return 2;
	}

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);

	streams = calloc(count, sizeof(*streams));
	if (!streams) {
		fail("no memory for", "the streams");
		return 1;
	}
	for (i = 0; i < count; i++) {
		streams[i].device = argv[optind + i];
		if (open_device(&streams[i]) || open_output(&streams[i], directory))
			return 1;
	}
	if (run(streams, count, wanted))
		return 1;
	for (i = 0; i < count; i++)
		printf("%s: %llu bytes, %llu wake-ups with a gap ahead\n", streams[i].device,
		       streams[i].bytes, streams[i].gap_events);
	free(streams);
	return 0;
}
