// SPDX-License-Identifier: GPL-2.0-only
/*
 * failnth - do something once for each point in the kernel where it can fail
 *
 * failnth [-m MAX] WHAT [ARG...]: the first allocation on the way fails, then the second,
 * and so on, until there are no more (/proc/self/fail-nth), or to the MAXth. Which
 * allocations count, the kernel's fault injection is told by the caller, by its files in
 * debugfs. Each time it has to succeed all the same, or fail as it should, and say why in
 * the kernel's log once; and succeed when nothing fails. Prints a summary.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "lib/die.h"

/* The log takes ten equal lines in five seconds. */
#define PAUSE_US 550000

static int result(long ret)
{
	return ret < 0 ? -errno : 0;
}

/* --- what can be done: each returns 0 or a negative errno --- */

static int open_device(char **args)
{
	int fd = open(args[0], O_RDONLY | O_NONBLOCK);
	int ret = result(fd);

	if (fd >= 0)
		close(fd);
	return ret;
}

/* Everything that an open device can be asked. */
static int use_device(char **args)
{
	static int fd = -1, epoll_fd = -1;
	struct auxtrace_status status = { .size = sizeof(status) };
	struct auxtrace_info info = { .size = sizeof(info) };
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd p = { .events = POLLIN };
	char buffer[4096];
	__u64 n = 1;
	int ret;

	if (fd < 0) {
		fd = open_or_die(args[0], O_RDONLY | O_NONBLOCK);
		epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	}
	p.fd = fd;
	if ((ret = result(ioctl(fd, AUXTRACE_IOC_INFO, &info))) ||
	    (ret = result(ioctl(fd, AUXTRACE_IOC_STATUS, &status))) ||
	    (ret = result(ioctl(fd, AUXTRACE_IOC_STOP))) ||
	    (ret = result(ioctl(fd, AUXTRACE_IOC_START))) ||
	    (ret = result(ioctl(fd, AUXTRACE_IOC_FLUSH, &n))) || (ret = result(poll(&p, 1, 0))) ||
	    (ret = result(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))) ||
	    (ret = result(epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL))))
		return ret;
	n = 1;
	ret = result(ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, &n));
	if (!ret)
		ret = result(read(fd, buffer, sizeof(buffer)));
	return ret == -EAGAIN ? 0 : ret;
}

/* write FILE TEXT */
static int write_file(char **args)
{
	int fd = open_or_die(args[0], O_WRONLY);
	int ret = result(write(fd, args[1], strlen(args[1])));

	close(fd);
	return ret;
}

/* load FILE NAME PARAMETERS: and unload it again */
static int load_module(char **args)
{
	int fd = open_or_die(args[0], O_RDONLY);
	int ret = result(syscall(SYS_finit_module, fd, args[2], 0));

	close(fd);
	if (!ret && syscall(SYS_delete_module, args[1], O_NONBLOCK))
		die("delete_module");
	return ret;
}

static const struct operation {
	const char *name;
	int nr_args;
	int (*run)(char **args);
	bool says_why; /* a failure is one line in the log */
	bool limited;  /* of which the log takes so many only */
	bool again;    /* after each point, not only after the last: what is quick */
} operations[] = {
	{ "open", 1, open_device, .says_why = true, .limited = true, .again = true },
	{ "use", 1, use_device, .again = true },
	{ "write", 2, write_file, .says_why = true, .limited = true, .again = true },
	{ "load", 3, load_module, .says_why = true },
};

/* --- the kernel's side --- */

static int log_fd;

/* Lines of the module in the log since the last call; a few are shown. */
static unsigned int log_lines(bool show)
{
	unsigned int lines = 0;
	char record[2048];
	ssize_t n;

	while ((n = read(log_fd, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		const char *text;

		if (n <= 0)
			continue;
		record[n] = '\0';
		text = strchr(record, ';');
		/* The kernel says the latter of a parameter, whatever was said of it. */
		if (!text || strncmp(text + 1, "auxtrace", 8) ||
		    strstr(text, " invalid for parameter "))
			continue;
		lines++;
		if (show)
			fprintf(stderr, "  %.*s\n", (int)strcspn(text + 1, "\n"), text + 1);
	}
	return lines;
}

static int nth_fd;

static void set_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		die("fail-nth");
}

/* Is there no such point any more? Nothing fails from now on. */
static bool not_reached(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		die("fail-nth");
	set_nth(0);
	return atoi(text) > 0;
}

static bool check(const struct operation *op, unsigned int n, int ret, unsigned int lines)
{
	bool good = (!ret && !lines) || (!ret && op->run == use_device) ||
		    (ret == -ENOMEM && lines == op->says_why);

	if (!good)
		printf("point %u: %s, %u lines in the log\n", n, ret ? strerrorname_np(-ret) : "ok",
		       lines);
	return good;
}

static int sweep(const struct operation *op, char **args, unsigned int max)
{
	unsigned int n, failed = 0, wrong = 0;
	int ret = op->run(args);

	if (ret) {
		printf("it fails by itself: %s\n", strerrorname_np(-ret));
		return 1;
	}
	for (n = 1; n <= max; n++) {
		bool done;

		log_lines(false);
		set_nth(n);
		ret = op->run(args);
		done = not_reached();
		if (!done && !check(op, n, ret, log_lines(true)))
			wrong++;
		failed += ret && !done;
		if (ret && !done && op->limited)
			usleep(PAUSE_US);
		ret = op->again || done ? op->run(args) : 0;
		if (ret) {
			printf("after point %u: %s\n", n, strerrorname_np(-ret));
			return 1;
		}
		if (done)
			break;
	}
	printf("points=%u failed=%u wrong=%u\n", n - 1, failed, wrong);
	return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned int max = UINT_MAX;
	size_t i;

	if (argc > 2 && !strcmp(argv[1], "-m")) {
		max = strtoul(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	nth_fd = open_or_die("/proc/thread-self/fail-nth", O_RDWR);
	log_fd = open_or_die("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (lseek(log_fd, 0, SEEK_END) < 0)
		die("/dev/kmsg");
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], operations[i].name) &&
		    argc == operations[i].nr_args + 2)
			return sweep(&operations[i], argv + 2, max);
	}
	fputs("failnth: unknown operation, or wrong number of arguments\n", stderr);
	return 2;
}
