// SPDX-License-Identifier: GPL-2.0-only
/*
 * record - read devices in windows while a command runs
 *
 * Sets each DEVICE to the framed format, runs COMMAND, then stops the streams (STOP)
 * and reads them to their ends, into DIRECTORY/<cpu>.trace. A thread for each, so
 * that none is late for another's sake. Exits with COMMAND's status.
 *
 * While COMMAND runs the streams can be stopped, read to their ends and started, or
 * flushed, so many times (-r, -f), 20 ms apart. With -w nothing is read before the
 * buffer is full, until the event can go on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#define MAX_DEVICES 16

static const char *directory = ".";
static size_t read_size = 256 << 10;
static useconds_t delay;
static bool wait_till_full;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int nr_ended; /* streams whose reader has come to the end */
static int starts;   /* how often all have been started again */
static bool over;    /* they will not be */

struct stream {
	const char *device;
	int in;
	int out;
	pthread_t thread;
};

static void fail(const char *what)
{
	fprintf(stderr, "record: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void open_stream(struct stream *s)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	__u32 format = AUXTRACE_FORMAT_FRAMED;
	char path[4096];

	s->in = open(s->device, O_RDONLY | O_CLOEXEC);
	if (s->in < 0 || ioctl(s->in, AUXTRACE_IOC_INFO, &info) ||
	    ioctl(s->in, AUXTRACE_IOC_SET_FORMAT, &format))
		fail(s->device);
	/* There is never as much: so poll waits until the event waits for us. */
	if (wait_till_full && ioctl(s->in, AUXTRACE_IOC_SET_WAKE_BYTES, &info.buffer_size))
		fail(s->device);
	snprintf(path, sizeof(path), "%s/%u.trace", directory, info.cpu);
	s->out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (s->out < 0)
		fail(path);
}

static ssize_t read_some(struct stream *s, char *buffer)
{
	struct pollfd full = { .fd = s->in, .events = POLLIN };

	if (wait_till_full && poll(&full, 1, -1) < 0)
		return -1;
	return read(s->in, buffer, read_size);
}

static void drain_to_end(struct stream *s, char *buffer)
{
	ssize_t n;

	while ((n = read_some(s, buffer)) > 0) {
		if (write(s->out, buffer, n) != n)
			fail("write");
		if (delay)
			usleep(delay);
	}
	if (n < 0)
		fail(s->device);
}

/* The end has come: says so, and waits for another start. False if there is none. */
static bool wait_for_start(void)
{
	bool started;
	int before;

	pthread_mutex_lock(&lock);
	before = starts;
	nr_ended++;
	pthread_cond_broadcast(&changed);
	while (starts == before && !over)
		pthread_cond_wait(&changed, &lock);
	started = starts != before;
	pthread_mutex_unlock(&lock);
	return started;
}

static void *drain(void *data)
{
	char *buffer = malloc(read_size);

	if (!buffer)
		fail("malloc");
	do
		drain_to_end(data, buffer);
	while (wait_for_start());
	free(buffer);
	return NULL;
}

static void stop_all(struct stream *streams, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (ioctl(streams[i].in, AUXTRACE_IOC_STOP))
			fail("STOP");
	}
}

static void restart_all(struct stream *streams, int n)
{
	int i;

	stop_all(streams, n);
	pthread_mutex_lock(&lock);
	while (nr_ended < n)
		pthread_cond_wait(&changed, &lock);
	for (i = 0; i < n; i++) {
		if (ioctl(streams[i].in, AUXTRACE_IOC_START))
			fail("START");
	}
	nr_ended = 0;
	starts++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void flush_all(struct stream *streams, int n)
{
	__u64 bytes;
	int i;

	for (i = 0; i < n; i++) {
		if (ioctl(streams[i].in, AUXTRACE_IOC_FLUSH, &bytes))
			fail("FLUSH");
	}
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid) {
		execvp(command[0], command);
		fprintf(stderr, "record: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	return pid;
}

static int finish(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	static struct stream streams[MAX_DEVICES];
	int option, i, n = 0, status, restarts = 0, flushes = 0;
	pid_t pid;

	while ((option = getopt(argc, argv, "+d:f:o:r:s:w")) != -1) {
		if (option == 'd')
			delay = strtoul(optarg, NULL, 0);
		else if (option == 'f')
			flushes = atoi(optarg);
		else if (option == 'o')
			directory = optarg;
		else if (option == 'r')
			restarts = atoi(optarg);
		else if (option == 's')
			read_size = strtoul(optarg, NULL, 0);
		else if (option == 'w')
			wait_till_full = true;
		else
			return 2;
	}
	for (; optind < argc && !strncmp(argv[optind], "/dev/", 5); optind++) {
		if (n == MAX_DEVICES)
			return 2;
		streams[n++].device = argv[optind];
	}
	if (!n || optind == argc) {
		fputs("Usage: record [-w] [-d DELAY-US] [-s READ-SIZE] [-r RESTARTS] [-f FLUSHES] "
		      "[-o DIRECTORY] DEVICE... COMMAND [ARGUMENT...]\n",
		      stderr);
		return 2;
	}

	for (i = 0; i < n; i++)
		open_stream(&streams[i]);
	for (i = 0; i < n; i++) {
		if (pthread_create(&streams[i].thread, NULL, drain, &streams[i]))
			fail("pthread_create");
	}
	pid = start(argv + optind);
	for (i = 0; i < restarts; i++) {
		usleep(20000);
		restart_all(streams, n);
	}
	for (i = 0; i < flushes; i++) {
		usleep(20000);
		flush_all(streams, n);
	}
	status = finish(pid);
	stop_all(streams, n);
	pthread_mutex_lock(&lock);
	over = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (i = 0; i < n; i++)
		pthread_join(streams[i].thread, NULL);
	return status;
}
