// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz - call everything that the module offers, at random
 *
 * fuzz [--seed N] [--seconds N] [--workers N] [--hotplug] [--module FILE]
 *
 * In rounds of some seconds: loads the module with random parameters (--module; else
 * it is loaded), has several processes make random system calls on devices and
 * attributes, and looks whether a reader gets its trace afterwards. A result that no
 * page of the documentation knows is an error, as are processes that cannot be ended,
 * and a module that cannot be unloaded. The same seed makes the same calls; how those
 * of several processes interleave is up to the kernel.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "lib/random.h"

#define CLASS	   "/sys/class/auxtrace"
#define PARAMETERS "/sys/module/auxtrace/parameters"

/* Seconds that anything which works is over in, on a machine however slow. */
#define PATIENCE 120

#define ROUND_SECONDS 8
#define MAX_FDS	      6
#define ARENA_PAGES   64
#define MAX_CPUS      8

static uint64_t rng;
static const char *who = "fuzz";
static uint64_t calls;

static uint64_t pick(uint64_t n)
{
	return next_random(&rng) % n;
}

static bool one_in(unsigned int n)
{
	return !pick(n);
}

#define ONE_OF(array) ((array)[pick(sizeof(array) / sizeof((array)[0]))])

static __attribute__((noreturn, format(printf, 1, 2))) void wrong(const char *format, ...)
{
	va_list args;

	flockfile(stdout);
	printf("%s: call %" PRIu64 ": ", who, calls);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

/* The call succeeded, or failed with one of these, 0 at the end. */
static bool expect(const char *call, long ret, const int *errnos)
{
	int error = errno;

	if (ret >= 0)
		return true;
	for (; *errnos; errnos++) {
		if (error == *errnos)
			return false;
	}
	wrong("%s: %s", call, strerrorname_np(error));
}

#define EXPECT(call, ret, ...) expect(call, ret, (const int[]){ __VA_ARGS__, 0 })

/* --- numbers, memory, and texts --- */

static uint64_t a_number(void)
{
	static const uint64_t edges[] = {
		0,	    1,
		2,	    7,
		8,	    63,
		64,	    65,
		4095,	    4096,
		4097,	    8191,
		8192,	    65536,
		0x7fffffff, 0x80000000,
		0xffffffff, 0x100000000,
		1ULL << 62, 1ULL << 63,
		UINT64_MAX, UINT64_MAX - 1,
		INT64_MAX,  0x1000000000000,
	};

	switch (pick(4)) {
	case 0:
		return ONE_OF(edges);
	case 1:
		return ONE_OF(edges) + pick(17) - 8;
	case 2:
		return next_random(&rng) >> pick(64);
	default:
		return pick(300);
	}
}

static size_t page;
static char *arena;	/* writable, followed by a hole */
static char *read_only; /* a page, followed by a hole */

static void make_memory(void)
{
	page = sysconf(_SC_PAGESIZE);
	arena = mmap(NULL, (ARENA_PAGES + 3) * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		wrong("no memory");
	read_only = arena + (ARENA_PAGES + 1) * page;
	mprotect(arena + ARENA_PAGES * page, page, PROT_NONE);
	mprotect(read_only, page, PROT_READ);
	munmap(read_only + page, page);
}

/* Mostly memory that is there for @size bytes. */
static void *a_pointer(size_t size)
{
	char *end = arena + ARENA_PAGES * page;

	switch (pick(12)) {
	case 0:
		return NULL;
	case 1:
		return read_only + pick(page);
	case 2:
		return read_only + page + pick(page);
	case 3:
		return end + pick(page);
	case 4:
		return (void *)(0xffff888000000000 + pick(1ULL << 40));
	case 5:
		return (void *)next_random(&rng);
	case 6:
		/* Its end is not there. */
		return end - pick(size < page ? size + 1 : page);
	default:
		if (size > ARENA_PAGES * page)
			return arena;
		return one_in(2) ? end - size : arena + pick(ARENA_PAGES * page - size + 1);
	}
}

static size_t a_size(void)
{
	return one_in(8) ? a_number() : one_in(10) ? 0 : random_size(&rng, 18);
}

/* A text that may be a value; may have NULs in it. Returns its length. */
static size_t a_text(char *text, size_t room)
{
	static const char *const values[] = {
		"",
		"0",
		"1",
		"raw",
		"framed",
		"4096",
		"8192",
		"64K",
		"1M",
		"16M",
		"2G",
		"4G",
		"-1",
		"0x100000",
		"0x10",
		"+1",
		"y",
		"off",
		"auto",
		"native",
		"0x40000000400000",
		"0x1000000001000000",
		"18446744073709551615",
		"18446744073709551616",
		"9223372036854775808",
		"0x4000000000000000",
		"0x0100000000000000",
		"auxtrace_sim",
		"none",
	};
	size_t len, i;

	switch (pick(4)) {
	case 0:
		len = snprintf(text, room, one_in(2) ? "%" PRIu64 : "0x%" PRIx64, a_number());
		break;
	case 1:
		len = one_in(20) ? room - 1 : pick(40);
		for (i = 0; i < len; i++)
			text[i] = one_in(4) ? (char)pick(256) : "0123456789abcxKMG \n"[pick(19)];
		break;
	default:
		len = snprintf(text, room, "%s%s", ONE_OF(values), one_in(3) ? "\n" : "");
	}
	while (len && one_in(8))
		text[pick(len)] = one_in(3) ? '\0' : (char)pick(256);
	return len;
}

/* --- devices --- */

static int cpus[MAX_CPUS];
static int nr_cpus;

static void find_devices(void)
{
	struct dirent *entry;
	DIR *dir = opendir(CLASS);

	nr_cpus = 0;
	while (dir && nr_cpus < MAX_CPUS && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "auxtrace%d", &cpus[nr_cpus]) == 1)
			nr_cpus++;
	}
	if (dir)
		closedir(dir);
	if (!nr_cpus)
		wrong("no devices");
}

static int fds[MAX_FDS];
static int epoll_fd, pipe_fds[2], null_fd;

static int an_fd(void)
{
	return fds[pick(MAX_FDS)];
}

static void call_open(void)
{
	static const int modes[] = { O_RDONLY, O_RDONLY, O_RDONLY, O_RDONLY, O_RDONLY,
				     O_RDONLY, O_RDONLY, O_RDWR,   O_WRONLY, O_ACCMODE };
	static const int flags[] = { O_APPEND, O_DIRECT, O_TRUNC, O_DIRECTORY, O_PATH,
				     O_ASYNC,  O_SYNC,	 O_CREAT, O_NOATIME };
	int flag = ONE_OF(modes) | (one_in(8) ? 0 : O_NONBLOCK) | (one_in(12) ? ONE_OF(flags) : 0);
	size_t slot = pick(MAX_FDS);
	char path[64];
	int fd;

	if (fds[slot] >= 0)
		return;
	snprintf(path, sizeof(path), "/dev/auxtrace%d", cpus[pick(nr_cpus)]);
	fd = open(path, flag | O_CLOEXEC, 0600);
	EXPECT("open", fd, EBUSY, EACCES, ENODEV, ENOMEM, EINVAL, ENOTDIR, EIO);
	fds[slot] = fd;
}

static void call_close(void)
{
	size_t slot = pick(MAX_FDS);

	if (fds[slot] >= 0)
		EXPECT("close", close(fds[slot]), EINTR);
	fds[slot] = -1;
}

static void call_dup(void)
{
	size_t slot = pick(MAX_FDS);

	if (fds[slot] < 0)
		fds[slot] = dup(an_fd());
}

static size_t make_vector(struct iovec *vec)
{
	size_t n = pick(9), i;

	for (i = 0; i < n; i++) {
		vec[i].iov_len = a_size();
		vec[i].iov_base = a_pointer(vec[i].iov_len);
	}
	return n;
}

#define READ_ERRORS                                                                                \
	EAGAIN, EINTR, EFAULT, EIO, EINVAL, EBADF, ESPIPE, EOPNOTSUPP, ENOMEM, EISDIR, EOVERFLOW

static void call_read(void)
{
	size_t size = a_size();
	struct iovec vec[8];
	int fd = an_fd();
	long ret;

	switch (pick(6)) {
	case 0:
		ret = one_in(20) ? readv(fd, a_pointer(128), a_number())
				 : readv(fd, vec, make_vector(vec));
		break;
	case 1:
		ret = syscall(SYS_preadv2, fd, vec, make_vector(vec), -1, -1,
			      one_in(4) ? a_number() : 8 /* RWF_NOWAIT */);
		break;
	case 2:
		ret = pread(fd, a_pointer(size), size, a_number());
		break;
	default:
		ret = read(fd, a_pointer(size), size);
		if (ret > 0 && (size_t)ret > size)
			wrong("read: %ld of %zu bytes", ret, size);
	}
	EXPECT("read", ret, READ_ERRORS);
}

static void call_splice(void)
{
	size_t size = a_size();
	int fd = an_fd();
	loff_t offset = a_number();
	char sink[4096];
	long ret;

	switch (pick(4)) {
	case 0:
		ret = sendfile(one_in(2) ? null_fd : pipe_fds[1], fd, one_in(8) ? &offset : NULL,
			       size);
		break;
	case 1:
		ret = splice(pipe_fds[0], NULL, fd, NULL, size, SPLICE_F_NONBLOCK);
		break;
	default:
		ret = splice(fd, one_in(8) ? &offset : NULL, pipe_fds[1], NULL, size,
			     one_in(2) ? SPLICE_F_NONBLOCK : (unsigned int)pick(16));
	}
	EXPECT("splice", ret, READ_ERRORS);
	while (read(pipe_fds[0], sink, sizeof(sink)) > 0)
		;
}

static void call_poll(void)
{
	struct pollfd p[3] = { { an_fd(), (short)pick(0x10000), 0 },
			       { an_fd(), POLLIN, 0 },
			       { an_fd(), POLLPRI, 0 } };
	struct epoll_event event = { .events = one_in(2) ? EPOLLIN | EPOLLPRI
							 : (uint32_t)a_number() };
	static const int operations[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD,
					  EPOLL_CTL_DEL };
	struct timeval tv = { 0, 1000 };
	fd_set in, pri;
	int fd = an_fd();

	switch (pick(4)) {
	case 0:
		EXPECT("poll", poll(p, pick(4), one_in(2) ? 0 : (int)pick(30)), EINTR);
		break;
	case 1:
		EXPECT("epoll_ctl", epoll_ctl(epoll_fd, ONE_OF(operations), fd, &event), EBADF,
		       EEXIST, ENOENT, EINVAL, EPERM);
		break;
	case 2:
		EXPECT("epoll_wait", epoll_wait(epoll_fd, &event, 1, pick(10)), EINTR);
		break;
	default:
		if (fd < 0)
			return;
		FD_ZERO(&in);
		FD_SET(fd, &in);
		pri = in;
		EXPECT("select", select(fd + 1, &in, NULL, &pri, &tv), EINTR, EBADF);
	}
}

/* What a stream has not got, and what every file has. */
static void call_others(void)
{
	struct stat st;
	int fd = an_fd();
	void *map;

	switch (pick(10)) {
	case 0:
		EXPECT("lseek", lseek(fd, a_number(), pick(6)), ESPIPE, EINVAL, EBADF);
		break;
	case 1:
		EXPECT("write", write(fd, a_pointer(10), pick(10)), EBADF, EINVAL, EFAULT);
		break;
	case 2:
		map = mmap(NULL, a_number(), pick(8), 1 + pick(3), fd, a_number() & ~4095ULL);
		if (map != MAP_FAILED)
			wrong("mmap: succeeded");
		EXPECT("mmap", -1, ENODEV, EINVAL, EBADF, EACCES, ENOMEM, EOVERFLOW, EPERM);
		break;
	case 3:
		EXPECT("F_SETFL", fcntl(fd, F_SETFL, one_in(4) ? pick(0x100000) : O_NONBLOCK),
		       EBADF, EINVAL, EPERM);
		break;
	case 4:
		EXPECT("fcntl", fcntl(fd, F_GETFL), EBADF);
		break;
	case 5:
		EXPECT("fsync", fsync(fd), EINVAL, EBADF);
		break;
	case 6:
		EXPECT("ftruncate", ftruncate(fd, pick(3)), EINVAL, EBADF);
		break;
	case 7:
		EXPECT("flock", flock(fd, LOCK_NB | (1 << pick(4))), EBADF, EWOULDBLOCK, EINVAL,
		       EINTR);
		break;
	case 8:
		EXPECT("fallocate", fallocate(fd, pick(4), 0, 1), EBADF, ENODEV, EINVAL, EOPNOTSUPP,
		       ESPIPE);
		break;
	default:
		EXPECT("fstat", fstat(fd, &st), EBADF);
	}
}

static void check_status(const struct auxtrace_status *st)
{
	if (st->state > AUXTRACE_STATE_ERROR)
		wrong("STATUS: state %u", st->state);
	if (st->head - st->tail > 2ULL << 30)
		wrong("STATUS: head %llu, tail %llu", st->head, st->tail);
	if (st->gaps > st->gaps_full + st->gaps_driver + st->gaps_hotplug + st->gaps_stopped)
		wrong("STATUS: %llu gaps, of which some have no cause", st->gaps);
}

static void check_info(const struct auxtrace_info *info)
{
	if (info->abi_version != AUXTRACE_ABI_VERSION || info->format > AUXTRACE_FORMAT_FRAMED ||
	    info->buffer_size & (info->buffer_size - 1) || info->buffer_size < 2 * page ||
	    info->watermark > info->buffer_size || info->wake_bytes > info->buffer_size)
		wrong("INFO: out of range");
}

#define IOCTL_ERRORS ENOTTY, EINVAL, EFAULT, E2BIG, EBUSY, EBADF

static void call_good_ioctl(int fd)
{
	struct auxtrace_status st = { .size = sizeof(st) };
	struct auxtrace_info info = { .size = sizeof(info) };
	__u64 number = a_number();
	__u32 format = pick(3);

	switch (pick(7)) {
	case 0:
		if (EXPECT("STATUS", ioctl(fd, AUXTRACE_IOC_STATUS, &st), EBADF))
			check_status(&st);
		break;
	case 1:
		if (EXPECT("INFO", ioctl(fd, AUXTRACE_IOC_INFO, &info), EBADF))
			check_info(&info);
		break;
	case 2:
		EXPECT("START", ioctl(fd, AUXTRACE_IOC_START), EBADF);
		break;
	case 3:
		EXPECT("STOP", ioctl(fd, AUXTRACE_IOC_STOP), EBADF);
		break;
	case 4:
		EXPECT("FLUSH", ioctl(fd, AUXTRACE_IOC_FLUSH, &number), EBADF);
		break;
	case 5:
		EXPECT("SET_FORMAT", ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format), EBADF, EINVAL,
		       EBUSY);
		break;
	default:
		EXPECT("SET_WAKE_BYTES", ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, &number), EBADF,
		       EINVAL);
	}
}

static void call_ioctl(void)
{
	static const unsigned int known[] = {
		AUXTRACE_IOC_INFO,	     AUXTRACE_IOC_STATUS, AUXTRACE_IOC_START,
		AUXTRACE_IOC_STOP,	     AUXTRACE_IOC_FLUSH,  AUXTRACE_IOC_SET_FORMAT,
		AUXTRACE_IOC_SET_WAKE_BYTES,
	};
	unsigned int number = ONE_OF(known);
	uint32_t size = one_in(4) ? a_number() : pick(512);
	char *arg = a_pointer(512);
	int fd = an_fd();

	if (one_in(2)) {
		call_good_ioctl(fd);
		return;
	}
	if (one_in(3))
		number = _IOC(pick(4), one_in(4) ? pick(256) : AUXTRACE_IOC_TYPE, pick(12), size);
	else if (one_in(2))
		number ^= 1U << pick(32);
	/* What it points to, if it is ours: a size, zeroes or whatever behind. */
	if (arg >= arena && arg <= arena + ARENA_PAGES * page - 512) {
		memset(arg, one_in(3) ? (int)pick(256) : 0, 512);
		memcpy(arg, &size, sizeof(size));
		if (one_in(4))
			arg[pick(512)] = (char)pick(256);
	}
	/* FIOASYNC and the like are the kernel's own, with errnos of their own. */
	if (_IOC_TYPE(number) == 'T' || _IOC_TYPE(number) == 'f' || _IOC_TYPE(number) == 'X' ||
	    _IOC_TYPE(number) == 0 || _IOC_TYPE(number) == 0x12 || _IOC_TYPE(number) == 0x94)
		return;
	EXPECT("ioctl", ioctl(fd, number, arg), IOCTL_ERRORS);
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		wrong("%s: cannot be set to %s: %s", path, value, strerrorname_np(errno));
	close(fd);
}

/* More memory than there is takes a long time to find out. */
static void set_cap(void)
{
	set(PARAMETERS "/max_total", "8M");
}

static void call_sysfs(void)
{
	static const char *const attributes[] = {
		"buffer_size", "watermark", "flush_ms",	      "format",	      "config", "config1",
		"config2",     "config3",   "period",	      "exclude_user", "state",	"stats",
		"pmu",	       "cpu",	    "exclude_kernel", "uevent",
	};
	static const char *const parameters[] = { "max_total", "group_access", "buffer_size",
						  "consumer",  "pmu",	       "format" };
	char path[128], text[4200];
	size_t len;
	int fd;

	if (one_in(12))
		snprintf(path, sizeof(path), PARAMETERS "/%s", ONE_OF(parameters));
	else
		snprintf(path, sizeof(path), CLASS "/auxtrace%d/%s", cpus[pick(nr_cpus)],
			 ONE_OF(attributes));
	if (one_in(3)) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (!EXPECT("open of an attribute", fd, ENOENT, EACCES))
			return;
		len = pick(sizeof(text));
		EXPECT("read of an attribute",
		       one_in(8) ? pread(fd, a_pointer(len), len, pick(5000)) : read(fd, text, len),
		       EFAULT, EIO, EINVAL);
	} else {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (!EXPECT("open of an attribute", fd, ENOENT, EACCES, EPERM))
			return;
		len = a_text(text, sizeof(text));
		EXPECT("write of an attribute",
		       one_in(20) ? write(fd, a_pointer(len), len) : write(fd, text, len), EINVAL,
		       EBUSY, EFAULT, ENOMEM, EIO, EPERM, E2BIG);
		set_cap();
	}
	close(fd);
}

static bool may_hotplug;

/* Not CPU 0, which cannot go. */
static void call_hotplug(void)
{
	char path[64];
	int cpu = cpus[pick(nr_cpus)], fd;

	if (!may_hotplug || !cpu || !one_in(400))
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	EXPECT("hotplug", write(fd, one_in(2) ? "0" : "1", 1), EINVAL, EBUSY, EAGAIN, EINTR);
	close(fd);
}

/* --- workers --- */

static void on_signal(int number)
{
	(void)number;
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void begin_work(void)
{
	/* So that nothing blocks for ever. */
	struct itimerval timer = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction action = { .sa_handler = on_signal };
	size_t i;

	make_memory();
	for (i = 0; i < MAX_FDS; i++)
		fds[i] = -1;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (epoll_fd < 0 || null_fd < 0 || pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC))
		wrong("no descriptors");
	signal(SIGIO, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static __attribute__((noreturn)) void work(time_t end)
{
	static void (*const functions[])(void) = {
		call_open,  call_open,	call_close,  call_dup,	 call_read,
		call_read,  call_read,	call_splice, call_poll,	 call_others,
		call_ioctl, call_ioctl, call_ioctl,  call_sysfs, call_hotplug,
	};

	begin_work();
	while (now() < end) {
		calls++;
		ONE_OF(functions)();
	}
	printf("%s: %" PRIu64 " calls\n", who, calls);
	fflush(stdout);
	_exit(0);
}

/* --- rounds --- */

static const char *module_file;

static int load(const char *parameters)
{
	int fd = open(module_file, O_RDONLY | O_CLOEXEC);
	int ret = syscall(SYS_finit_module, fd, parameters, 0);

	if (fd < 0)
		wrong("%s: %s", module_file, strerrorname_np(errno));
	close(fd);
	return ret;
}

/* As it is in the kernel's log: what is not printable is escaped. */
static void print_parameters(const char *text)
{
	printf("fuzz: loading with '");
	for (; *text; text++) {
		if (*text >= ' ' && *text <= '~')
			putchar(*text);
		else
			printf("\\x%02x", (unsigned char)*text);
	}
	printf("'\n");
}

static void load_at_random(void)
{
	static const char *const names[] = {
		"buffer_size", "watermark",    "flush_ms",	 "format",
		"config",      "config1",      "config2",	 "config3",
		"period",      "exclude_user", "max_total",	 "pmu",
		"consumer",    "group_access", "exclude_kernel", "nonsense",
	};
	char parameters[8192], text[4200];
	size_t len = 0, n = pick(4), i;

	parameters[0] = '\0';
	while (n--) {
		size_t text_len = a_text(text, one_in(10) ? sizeof(text) : 64);

		/* The kernel takes a string. */
		for (i = 0; i < text_len && text[i]; i++)
			;
		if (len + i + 40 > sizeof(parameters))
			break;
		len += sprintf(parameters + len, "%s%s%.*s ", ONE_OF(names), one_in(20) ? "" : "=",
			       (int)i, text);
	}
	print_parameters(parameters);
	if (EXPECT("load", load(parameters), EINVAL, ENODEV, EPERM, ENOENT, ENOSPC, EOPNOTSUPP,
		   EBUSY, ENOMEM))
		return;
	if (load(""))
		wrong("load without parameters: %s", strerrorname_np(errno));
}

static void set_attribute(int cpu, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), CLASS "/auxtrace%d/%s", cpu, name);
	set(path, value);
}

/* All CPUs are online, and nothing holds a device any more. */
static void calm_down(void)
{
	int i;

	set_cap();
	for (i = 0; i < nr_cpus; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpus[i]);
		if (cpus[i] && may_hotplug)
			set(path, "1");
	}
}

static void expect_trace(int cpu)
{
	struct pollfd p = { .events = POLLIN };
	char path[64], byte;

	set_attribute(cpu, "watermark", "0");
	set_attribute(cpu, "buffer_size", "64K");
	set_attribute(cpu, "flush_ms", "100");
	set_attribute(cpu, "format", "raw");
	set_attribute(cpu, "config2", "0");
	set_attribute(cpu, "config1", "0");
	set_attribute(cpu, "config", "0x100000");
	set_attribute(cpu, "config3", "0");
	set_attribute(cpu, "period", "0");
	snprintf(path, sizeof(path), "/dev/auxtrace%d", cpu);
	p.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (p.fd < 0)
		wrong("%s: %s", path, strerrorname_np(errno));
	if (poll(&p, 1, PATIENCE * 1000) != 1 || read(p.fd, &byte, 1) != 1 || byte != 1)
		wrong("%s: no trace", path);
	close(p.fd);
}

/* A child that has not ended by itself when it should have. */
static void end_worker(pid_t pid, time_t deadline)
{
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (now() > deadline + PATIENCE)
			wrong("worker %d cannot be ended", pid);
		if (now() > deadline)
			kill(pid, SIGKILL);
		usleep(20000);
	}
	if (!WIFEXITED(status) && now() > deadline)
		wrong("worker %d was stuck", pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		wrong("worker %d: status %#x", pid, status);
}

static void run_round(unsigned int round, int workers, time_t end)
{
	static char names[64];
	pid_t pids[16];
	int i;

	if (module_file)
		load_at_random();
	find_devices();
	calm_down();
	fflush(stdout);
	for (i = 0; i < workers; i++) {
		uint64_t seed = next_random(&rng);

		pids[i] = fork();
		if (pids[i] < 0)
			wrong("fork: %s", strerrorname_np(errno));
		if (pids[i])
			continue;
		rng = seed;
		snprintf(names, sizeof(names), "round %u, worker %d", round, i);
		who = names;
		work(end);
	}
	for (i = 0; i < workers; i++)
		end_worker(pids[i], end + PATIENCE);
	calm_down();
	for (i = 0; i < nr_cpus; i++)
		expect_trace(cpus[i]);
	if (module_file && syscall(SYS_delete_module, "auxtrace", O_NONBLOCK))
		wrong("cannot be unloaded: %s", strerrorname_np(errno));
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seed", required_argument, NULL, 's' },
						 { "seconds", required_argument, NULL, 't' },
						 { "workers", required_argument, NULL, 'w' },
						 { "module", required_argument, NULL, 'm' },
						 { "hotplug", no_argument, NULL, 'h' },
						 {} };
	uint64_t seed = (uint64_t)time(NULL) << 20 ^ getpid();
	int option, seconds = 20, workers = 3;
	unsigned int round;
	time_t end;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			seconds = atoi(optarg);
			break;
		case 'w':
			workers = atoi(optarg);
			break;
		case 'm':
			module_file = optarg;
			break;
		case 'h':
			may_hotplug = true;
			break;
		default:
			return 2;
		}
	}
	if (optind != argc || workers < 1 || workers > 16) {
		fputs("fuzz: bad arguments\n", stderr);
		return 2;
	}
	printf("fuzz: --seed %" PRIu64 "\n", seed);
	rng = seed;
	end = now() + seconds;
	for (round = 0; now() < end; round++) {
		time_t left = end - now();

		run_round(round, workers, now() + (left < ROUND_SECONDS ? left : ROUND_SECONDS));
	}
	printf("fuzz: %u rounds\n", round);
	return 0;
}
