// SPDX-License-Identifier: GPL-2.0-only
/*
 * control - the control calls of a trace device, one case a run
 *
 * control CASE DEVICE: exits with 0 if all is as <linux/auxtrace.h> says, else
 * prints what is not. `control list` names the cases.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "lib/check.h"

static int fd;

static struct auxtrace_status status(void)
{
	struct auxtrace_status st = { .size = sizeof(st) };

	CHECK(!ioctl(fd, AUXTRACE_IOC_STATUS, &st));
	CHECK(st.size == sizeof(st));
	return st;
}

/* Trace comes: without end. */
static void wait_for(short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	CHECK(poll(&p, 1, -1) == 1);
	CHECK(p.revents & events);
}

static short revents(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	CHECK(poll(&p, 1, 0) >= 0);
	return p.revents;
}

static void case_info(void)
{
	struct auxtrace_info info = { .size = sizeof(info) };

	CHECK(!ioctl(fd, AUXTRACE_IOC_INFO, &info));
	CHECK(info.size == sizeof(info) && info.abi_version == AUXTRACE_ABI_VERSION);
	CHECK(info.pmu_type > 0 && strlen(info.pmu_name) > 0);
	CHECK(info.buffer_size >= 8192 && info.watermark > 0);
	CHECK(info.watermark <= info.buffer_size && info.wake_bytes == 1);
	CHECK(info.format == AUXTRACE_FORMAT_RAW);
	CHECK(info.consumer == AUXTRACE_CONSUMER_IS_NATIVE ||
	      info.consumer == AUXTRACE_CONSUMER_IS_COMPAT);
	CHECK(!(info.driver_flags & ~(AUXTRACE_WINDOW_TRUNCATED | AUXTRACE_WINDOW_PARTIAL |
				      AUXTRACE_WINDOW_COLLISION)));
	CHECK(!info.reserved);
	printf("cpu=%u pmu=%s config=%#llx config1=%#llx flush_ms=%u consumer=%u "
	       "watermark=%llu driver_flags=%#x\n",
	       info.cpu, info.pmu_name, info.config, info.config1, info.flush_ms, info.consumer,
	       info.watermark, info.driver_flags);
}

/* Old and new callers: shorter, longer with zeroes, longer with something else. */
static void try_sizes(unsigned int request, size_t known)
{
	unsigned int number = request & ~(_IOC_SIZEMASK << _IOC_SIZESHIFT);
	union {
		__u32 size;
		unsigned char bytes[8192];
	} arg;
	size_t size;

	for (size = 4; size <= known + 64; size += 4) {
		size_t filled = size < known ? size : known;
		size_t i;

		memset(&arg, 0, sizeof(arg));
		memset(arg.bytes + size, 0x5a, 100);
		arg.size = size;
		CHECK(!ioctl(fd, number | size << _IOC_SIZESHIFT, &arg));
		CHECK(arg.size == filled);
		for (i = 0; i < 100; i++)
			CHECK(arg.bytes[size + i] == 0x5a);
		for (i = filled; i < size; i++)
			CHECK(!arg.bytes[i]);
	}

	memset(&arg, 0, sizeof(arg));
	arg.size = known + 8;
	arg.bytes[known + 7] = 1;
	FAILS(ioctl(fd, number | (known + 8) << _IOC_SIZESHIFT, &arg), E2BIG);
	/* What is the module's to fill in may be anything, as after a call. */
	memset(&arg, 0, sizeof(arg));
	memset(arg.bytes + 4, 0x5a, known - 8);
	arg.size = known;
	CHECK(!ioctl(fd, request, &arg));
	CHECK(!ioctl(fd, request, &arg));
	arg.size = 0;
	FAILS(ioctl(fd, request, &arg), EINVAL);
	arg.size = 3;
	FAILS(ioctl(fd, request, &arg), EINVAL);
	arg.size = 1 << 20;
	FAILS(ioctl(fd, request, &arg), E2BIG);
	FAILS(ioctl(fd, request, NULL), EFAULT);
}

static void case_sizes(void)
{
	struct auxtrace_info info = { .size = sizeof(info) };

	try_sizes(AUXTRACE_IOC_INFO, sizeof(struct auxtrace_info));
	try_sizes(AUXTRACE_IOC_STATUS, sizeof(struct auxtrace_status));
	info.reserved = 1;
	FAILS(ioctl(fd, AUXTRACE_IOC_INFO, &info), EINVAL);
}

static void case_unknown(void)
{
	__u64 value = 0;

	FAILS(ioctl(fd, _IO(AUXTRACE_IOC_TYPE, 0x07), &value), ENOTTY);
	FAILS(ioctl(fd, _IO(AUXTRACE_IOC_TYPE, 0x00), &value), ENOTTY);
	FAILS(ioctl(fd, _IO(0xA8, 0x02), &value), ENOTTY);
	FAILS(ioctl(fd, _IOW(AUXTRACE_IOC_TYPE, 0x05, __u64), &value), ENOTTY);
	FAILS(ioctl(fd, AUXTRACE_IOC_FLUSH, NULL), EFAULT);
	FAILS(ioctl(fd, AUXTRACE_IOC_SET_FORMAT, NULL), EFAULT);
	FAILS(ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, NULL), EFAULT);
}

static void case_format(void)
{
	__u32 format = 2;
	char byte;

	FAILS(ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format), EINVAL);
	format = 1U << 31;
	FAILS(ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format), EINVAL);
	for (format = 0; format < 2; format++)
		CHECK(!ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format));
	CHECK(read(fd, &byte, 1) == 1 && byte == 'A');
	FAILS(ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format), EINVAL);
	format = AUXTRACE_FORMAT_RAW;
	FAILS(ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format), EBUSY);
}

static void case_wake_bytes(void)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	__u64 bytes = 0;
	char byte;

	CHECK(!ioctl(fd, AUXTRACE_IOC_INFO, &info));
	FAILS(ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, &bytes), EINVAL);
	bytes = info.buffer_size + 1;
	FAILS(ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, &bytes), EINVAL);
	bytes = 100000;
	CHECK(!ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, &bytes));
	/* A read takes any; poll waits for as much. */
	CHECK(read(fd, &byte, 1) == 1);
	do {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		struct auxtrace_status before = status();

		CHECK(poll(&p, 1, 10) >= 0);
		if (p.revents & POLLIN) {
			struct auxtrace_status after = status();

			CHECK(after.head - after.tail >= 100000);
			break;
		}
		CHECK(before.head - before.tail < 100000);
	} while (1);
	bytes = 1;
	CHECK(!ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, &bytes));
	CHECK(revents() & POLLIN);
}

static size_t drain(void)
{
	static char buffer[1 << 20];
	size_t total = 0;
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		total += n;
	CHECK(!n);
	return total;
}

/* STOP: the rest, then end of file; START: trace again, behind a gap. */
static void case_stop_start(void)
{
	struct auxtrace_status st;
	char buffer[4096];

	CHECK(read(fd, buffer, 100) > 0);
	CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
	CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
	st = status();
	CHECK(st.state == AUXTRACE_STATE_STOPPED);
	CHECK(!(revents() & POLLHUP) == (st.head != st.tail));
	CHECK(drain() == st.head - st.tail);
	CHECK(read(fd, buffer, 1) == 0);
	CHECK(revents() == POLLHUP);
	CHECK(status().head == st.head);

	CHECK(!ioctl(fd, AUXTRACE_IOC_START));
	CHECK(!ioctl(fd, AUXTRACE_IOC_START));
	CHECK(status().state == AUXTRACE_STATE_RUNNING);
	CHECK(!(revents() & POLLHUP));
	wait_for(POLLPRI);
	CHECK(read(fd, buffer, sizeof(buffer)) > 0);
	CHECK(!(revents() & POLLPRI));
	st = status();
	CHECK(st.gaps_stopped == 1 && st.gaps == 1 && st.gap_time > 0);
	CHECK(st.tail == st.bytes);
}

static void *read_to_end(void *arg)
{
	*(size_t *)arg = drain();
	return NULL;
}

/* STOP ends a read that waits, in another thread, after the rest. */
static void case_stop_blocked(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		pthread_t thread;
		size_t got;
		struct auxtrace_status before = status(), after;

		CHECK(!pthread_create(&thread, NULL, read_to_end, &got));
		usleep(i * 1000);
		CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
		CHECK(!pthread_join(thread, NULL));
		after = status();
		CHECK(after.tail == after.head && got == after.tail - before.tail);
		CHECK(!ioctl(fd, AUXTRACE_IOC_START));
	}
	CHECK(status().gaps_stopped == 20);
}

static void case_flush(void)
{
	struct auxtrace_status before, after;
	__u64 n, total = 0;

	while (total < 1000) {
		before = status();
		CHECK(!ioctl(fd, AUXTRACE_IOC_FLUSH, &n));
		after = status();
		CHECK(after.head - before.head >= n);
		CHECK(after.flushes > before.flushes);
		total += n;
	}
	CHECK(revents() & POLLIN);
	CHECK(after.gaps == 0);
	CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
	CHECK(!ioctl(fd, AUXTRACE_IOC_FLUSH, &n) && n == 0);
}

static void read_exactly(char *to, size_t n)
{
	while (n) {
		ssize_t got = read(fd, to, n);

		CHECK(got > 0);
		to += got;
		n -= got;
	}
}

/* In the framed format the last window says so, also if it is empty. */
static void case_last(void)
{
	__u32 format = AUXTRACE_FORMAT_FRAMED;
	struct auxtrace_window w;
	static char payload[8 << 20];
	int round, empty = 0;

	CHECK(!ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format));
	for (round = 0; round < 3; round++) {
		do {
			CHECK(read(fd, &w, sizeof(w)) == sizeof(w));
			read_exactly(payload, (w.size + 7) & ~7ULL);
			CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
		} while (!(w.flags & AUXTRACE_WINDOW_LAST));
		empty += !w.size;
		CHECK(revents() == POLLHUP);
		CHECK(read(fd, payload, 1) == 0);
		CHECK(!ioctl(fd, AUXTRACE_IOC_START));
	}
	CHECK(status().windows == w.seq + 1);
	printf("%d of 3 last windows were empty\n", empty);
}

/*
 * A header that says LAST is cut by a START: what follows is told all the same. For a
 * rate so low that nothing is traced between the calls.
 */
static void case_last_cut(void)
{
	__u32 format = AUXTRACE_FORMAT_FRAMED;
	struct auxtrace_window w;
	static char payload[8 << 20];
	int round;

	CHECK(!ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format));
	CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
	CHECK(read(fd, payload, sizeof(payload)) >= (ssize_t)sizeof(w));
	for (round = 0; round < 3; round++) {
		CHECK(read(fd, payload, 1) == 0);
		CHECK(!ioctl(fd, AUXTRACE_IOC_START));
		CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
		CHECK(read(fd, &w, 10) == 10);
		CHECK(!ioctl(fd, AUXTRACE_IOC_START));
		read_exactly((char *)&w + 10, sizeof(w) - 10);
		CHECK(w.flags & AUXTRACE_WINDOW_LAST && w.flags & AUXTRACE_WINDOW_STOPPED);
		read_exactly(payload, w.size);
		CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
		CHECK(revents() & POLLIN);
		read_exactly((char *)&w, sizeof(w));
		CHECK(w.flags & AUXTRACE_WINDOW_LAST && w.flags & AUXTRACE_WINDOW_STOPPED);
		read_exactly(payload, w.size);
	}
}

static void *wait_for_nothing(void *unused)
{
	struct pollfd p = { .fd = fd };

	(void)unused;
	CHECK(poll(&p, 1, -1) == 1);
	CHECK(p.revents == POLLHUP);
	return NULL;
}

/* STOP is called, and a thread waits for the end, while another reads up to it. */
static void case_hup(void)
{
	char buffer[4096];
	pthread_t thread;
	int round;

	for (round = 0; round < 20; round++) {
		wait_for(POLLIN);
		CHECK(!ioctl(fd, AUXTRACE_IOC_STOP));
		CHECK(!pthread_create(&thread, NULL, wait_for_nothing, NULL));
		usleep(20000);
		while (status().head != status().tail)
			CHECK(read(fd, buffer, sizeof(buffer)) > 0);
		CHECK(!pthread_join(thread, NULL));
		CHECK(!ioctl(fd, AUXTRACE_IOC_START));
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "info", case_info },
	{ "sizes", case_sizes },
	{ "unknown", case_unknown },
	{ "format", case_format },
	{ "wake_bytes", case_wake_bytes },
	{ "stop_start", case_stop_start },
	{ "stop_blocked", case_stop_blocked },
	{ "flush", case_flush },
	{ "last", case_last },
	{ "last_cut", case_last_cut },
	{ "hup", case_hup },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			puts(cases[i].name);
		return 0;
	}
	for (i = 0; argc == 3 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		fd = open(argv[2], O_RDONLY);
		CHECK(fd >= 0);
		cases[i].run();
		return 0;
	}
	fputs("Usage: control CASE DEVICE | control list\n", stderr);
	return 2;
}
