// SPDX-License-Identifier: GPL-2.0-only
/*
 * fileops - single system calls on a trace device, for the tests
 *
 * Each command does what a shell cannot, and prints what came of it: numbers,
 * or the name of an errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/die.h"

static const char *result(long ret)
{
	static char text[32];

	if (ret < 0)
		return strerrorname_np(errno);
	snprintf(text, sizeof(text), "%ld", ret);
	return text;
}

/* open MODE DEVICE: MODE is ro, wo, rw, or neither */
static int do_open(char **args)
{
	int mode = !strcmp(args[0], "wo")	 ? O_WRONLY
		   : !strcmp(args[0], "rw")	 ? O_RDWR
		   : !strcmp(args[0], "neither") ? O_ACCMODE
						 : O_RDONLY;
	int fd = open(args[1], mode);

	puts(fd < 0 ? result(fd) : "ok");
	return 0;
}

/* calls DEVICE: what a stream has not got */
static int do_calls(char **args)
{
	int fd = open_or_die(args[0], O_RDONLY);
	char byte = 0;

	printf("lseek %s\n", result(lseek(fd, 0, SEEK_SET)));
	printf("pread %s\n", result(pread(fd, &byte, 1, 0)));
	printf("write %s\n", result(write(fd, &byte, 1)));
	printf("read-nothing %s\n", result(read(fd, &byte, 0)));
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		printf("mmap %s\n", result(-1));
	else
		puts("mmap ok");
	printf("ioctl %s\n", result(syscall(SYS_ioctl, fd, 0xa7ff, NULL)));
	return 0;
}

/* nonblock DEVICE: a read that finds nothing */
static int do_nonblock(char **args)
{
	int fd = open_or_die(args[0], O_RDONLY | O_NONBLOCK);
	char buffer[8];

	puts(result(read(fd, buffer, sizeof(buffer))));
	return 0;
}

static void on_signal(int number)
{
	(void)number;
}

/*
 * eintr DEVICE: a blocked read, and a signal whose handler does not restart. The
 * signal comes again and again until the read has ended, since there is no way
 * to see that the read has begun.
 */
static int do_eintr(char **args)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	int fd = open_or_die(args[0], O_RDONLY);
	struct itimerspec spec = { { 0, 100000000 }, { 0, 100000000 } };
	char buffer[8];
	timer_t timer;

	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &spec, NULL))
		die("timer");
	puts(result(read(fd, buffer, sizeof(buffer))));
	return 0;
}

/*
 * efault DEVICE BYTES: reads into memory of which only a part is there, and
 * passes on what arrived: if a failed read loses something, it is missing there.
 * Prints on stderr how often a read failed, and was cut short.
 */
static int do_efault(char **args)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned long left = strtoul(args[1], NULL, 0);
	unsigned long failed = 0, cut = 0;
	int fd = open_or_die(args[0], O_RDONLY);
	char *memory, *hole;
	unsigned int turn;

	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE))
		die("memory");
	hole = memory + page;

	for (turn = 0; left; turn++) {
		/* none, some, or all of the buffer is there */
		size_t good = turn % 3 == 0 ? 0 : turn % 3 == 1 ? 1 + turn % 999 : page;
		size_t want = turn % 3 == 2 ? page : good + 100;
		ssize_t n;

		if (want > left && good)
			good = want = left < page ? left : page;
		n = read(fd, hole - good, want);
		if (n < 0 && errno == EFAULT) {
			failed++;
			continue;
		}
		if (n < 0)
			die("read");
		cut += (size_t)n < want;
		if (write(STDOUT_FILENO, hole - good, n) != n)
			die("write");
		left -= n;
	}
	fprintf(stderr, "failed=%lu cut=%lu\n", failed, cut);
	return 0;
}

/* poll DEVICE MILLISECONDS EVENTS: prints the number ready, and their events */
static int do_poll(char **args)
{
	struct pollfd fd = {
		.fd = open_or_die(args[0], O_RDONLY | O_NONBLOCK),
		.events = strstr(args[2], "pri") ? POLLPRI : POLLIN,
	};
	int n = poll(&fd, 1, atoi(args[1]));

	printf("%d%s%s%s%s\n", n, fd.revents & POLLIN ? " in" : "",
	       fd.revents & POLLPRI ? " pri" : "", fd.revents & POLLERR ? " err" : "",
	       fd.revents & POLLHUP ? " hup" : "");
	return 0;
}

/* Waits until the device's attribute "state" is "full"; forever if it never is. */
static void wait_until_full(const char *attribute)
{
	char state[16] = "";

	while (strncmp(state, "full", 4)) {
		int fd = open_or_die(attribute, O_RDONLY);

		if (read(fd, state, sizeof(state)) < 0)
			die(attribute);
		close(fd);
		usleep(500);
	}
}

/*
 * refill DEVICE STATE-ATTRIBUTE TIMES: lets the buffer fill, and reads what one
 * read gives, so many times; writes that to standard output.
 */
static int do_refill(char **args)
{
	static char buffer[4 << 20];
	int fd = open_or_die(args[0], O_RDONLY);
	long times = strtol(args[2], NULL, 0);

	while (times--) {
		ssize_t n;

		wait_until_full(args[1]);
		n = read(fd, buffer, sizeof(buffer));
		if (n < 0)
			die("read");
		if (write(STDOUT_FILENO, buffer, n) != n)
			die("write");
	}
	/* What the last read made room for, so that the counts can be compared. */
	wait_until_full(args[1]);
	return 0;
}

/*
 * reschedule CPU TYPE: makes and closes pinned counters of a PMU on a CPU, for which
 * perf schedules its events there out and in (before 6.12, those of all PMUs), until
 * killed
 */
static __attribute__((noreturn)) int do_reschedule(char **args)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = atoi(args[1]),
		.pinned = 1,
	};

	for (;;) {
		int event = syscall(SYS_perf_event_open, &attr, -1, atoi(args[0]), -1, 0);

		if (event < 0)
			die("perf_event_open");
		usleep(1000);
		close(event);
	}
}

/* sendfile DEVICE BYTES, splice DEVICE BYTES: to standard output */
static int do_sendfile(char **args)
{
	int fd = open_or_die(args[0], O_RDONLY);
	size_t left = strtoul(args[1], NULL, 0);

	while (left) {
		ssize_t n = sendfile(STDOUT_FILENO, fd, NULL, left);

		if (n <= 0)
			die("sendfile");
		left -= n;
	}
	return 0;
}

static int do_splice(char **args)
{
	int fd = open_or_die(args[0], O_RDONLY);
	size_t left = strtoul(args[1], NULL, 0);

	while (left) {
		ssize_t n = splice(fd, NULL, STDOUT_FILENO, NULL, left, 0);

		if (n <= 0)
			die("splice");
		left -= n;
	}
	return 0;
}

/* A process that copies what comes out of a socket to standard output; the other end. */
static int socket_to_stdout(void)
{
	static char buffer[65536];
	ssize_t n;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	if (fork()) {
		close(pair[1]);
		return pair[0];
	}
	close(pair[0]);
	while ((n = read(pair[1], buffer, sizeof(buffer))) > 0) {
		if (write(STDOUT_FILENO, buffer, n) != n)
			die("write");
	}
	exit(0);
}

/*
 * relay DEVICE BYTES file|socket: splices to a pipe, and from there to standard
 * output, or through a socket. Prints on stderr what sendfile() says to that.
 */
static int do_relay(char **args)
{
	bool through_socket = !strcmp(args[2], "socket");
	int fd = open_or_die(args[0], O_RDONLY);
	size_t left = strtoul(args[1], NULL, 0);
	int out = through_socket ? socket_to_stdout() : STDOUT_FILENO;
	int ends[2], code = 0;

	fprintf(stderr, "sendfile %s\n", result(sendfile(out, fd, NULL, left)));
	if (pipe(ends))
		die("pipe");
	while (left) {
		ssize_t in_pipe = splice(fd, NULL, ends[1], NULL, left, 0);

		if (in_pipe <= 0)
			die("splice to a pipe");
		left -= in_pipe;
		while (in_pipe) {
			ssize_t n = splice(ends[0], NULL, out, NULL, in_pipe, 0);

			if (n <= 0)
				die("splice from a pipe");
			in_pipe -= n;
		}
	}
	close(out);
	if (through_socket)
		wait(&code);
	return code;
}

static const struct command {
	const char *name;
	int nr_args;
	int (*run)(char **args);
} commands[] = {
	{ "open", 2, do_open },		{ "calls", 1, do_calls },
	{ "nonblock", 1, do_nonblock }, { "eintr", 1, do_eintr },
	{ "efault", 2, do_efault },	{ "poll", 3, do_poll },
	{ "refill", 3, do_refill },	{ "reschedule", 2, do_reschedule },
	{ "sendfile", 2, do_sendfile }, { "splice", 2, do_splice },
	{ "relay", 3, do_relay },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], commands[i].name) &&
		    argc == commands[i].nr_args + 2)
			return commands[i].run(argv + 2);
	}
	fputs("fileops: unknown command, or wrong number of arguments\n", stderr);
	return 2;
}
