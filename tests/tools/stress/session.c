// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress: the threads that open devices and read them
 *
 * Owns what an open, a read and a poll may say; what is in the bytes is verify.c's.
 * Several of these threads want the same device: only one can have it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "session.h"

/*
 * A nominal rate is reached within this factor, with a machine under emulation
 * that has other things to do.
 */
#define SLOWNESS 10

/* --- reads --- */

static void set_nonblock(struct session *s, bool nonblock)
{
	if (fcntl(s->fd, F_SETFL, nonblock ? O_NONBLOCK : 0))
		fail("F_SETFL: %s", strerrorname_np(errno));
	s->nonblock = nonblock;
}

/* read, into memory of which @good bytes are there. */
static ssize_t read_beyond(struct session *s, size_t size, size_t good, char **data)
{
	*data = s->memory + READ_MAX - good;
	begin("read beyond", (long)good);
	return end(read(s->fd, *data, size));
}

static ssize_t read_vector(struct session *s, size_t size)
{
	size_t a = (size_t)random_below(size + 1), b = a + (size_t)random_below(size + 1 - a);
	struct iovec parts[] = {
		{ s->memory, a },
		{ s->memory + a, b - a },
		{ s->memory + b, size - b },
	};

	begin("readv", (long)size);
	return end(readv(s->fd, parts, 3));
}

static ssize_t read_splice(struct session *s, size_t size)
{
	ssize_t n, done = 0;

	begin("splice", (long)size);
	n = end(splice(s->fd, NULL, s->pipe[1], NULL, size, 0));
	while (done < n) {
		ssize_t part = read(s->pipe[0], s->memory + done, (size_t)(n - done));

		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			fail("%zd bytes spliced, but only %zd in the pipe", n, done);
		done += part;
	}
	return n;
}

/*
 * One read of some kind: what it gave, 0 at the end of the stream, -1 if nothing.
 * Does not wait for ever if trace may not come.
 */
static ssize_t read_once(struct session *s)
{
	struct sighting stopped = presence_look(&s->device->stopped);
	size_t size = random_size(&self->random, READ_SHIFT), good = READ_MAX;
	char *data = s->memory;
	ssize_t n;

	switch (random_below(8)) {
	case 0:
		good = chance(30) ? 0 : random_size(&self->random, 12);
		n = read_beyond(s, good + 1 + size % 8192, good, &data);
		break;
	case 1:
		n = read_vector(s, size);
		break;
	case 2:
		n = read_splice(s, size);
		break;
	default:
		begin("read", (long)size);
		n = end(read(s->fd, data, size));
	}

	if (n > 0) {
		if ((size_t)n > good)
			fail("%zd bytes read, but there was memory for %zu", n, good);
		took(s, data, (size_t)n);
		return n;
	}
	if (!n) {
		if (never_since(&s->device->stopped, stopped))
			fail("the stream ended without a STOP");
		s->has_read = true;
		count(COUNT_EOFS, 1);
		return 0;
	}
	if (errno == EAGAIN && s->nonblock) {
		if (always_since(&s->device->stopped, stopped))
			fail("EAGAIN although stopped");
		count(COUNT_EAGAIN, 1);
	} else if (errno == EINTR && !s->calm) {
		count(COUNT_EINTR, 1);
	} else if (errno == EFAULT && good < READ_MAX) {
		count(COUNT_EFAULT, 1);
	} else {
		fail("read: %s", strerrorname_np(errno));
	}
	/* If only for its EAGAIN. */
	s->has_read = true;
	return -1;
}

/* A read that must give something, as this thread alone can take it away. */
static void must_read(struct session *s, const char *why)
{
	bool nonblock = s->nonblock;
	ssize_t n;

	set_nonblock(s, true);
	do {
		n = read_once(s);
	} while (n < 0 && errno != EAGAIN);
	if (n <= 0)
		fail("%s, but a read gives nothing", why);
	set_nonblock(s, nonblock);
}

/* How long to wait at most: for ever only where trace comes. */
static int some_timeout(const struct session *s)
{
	if (s->may_wait && s->calm && s->wake_bytes == 1 && chance(60))
		return -1;
	return (int)random_below(300);
}

static void poll_and_read(struct session *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN | (chance(20) ? POLLPRI : 0) };
	struct device *d = s->device;
	struct sighting stopped = presence_look(&d->stopped);
	struct sighting offline = presence_look(&d->offline);
	int n;

	begin("poll", p.events);
	n = end(poll(&p, 1, some_timeout(s)));
	if (n < 0 && (errno != EINTR || s->calm))
		fail("poll: %s", strerrorname_np(errno));
	count(COUNT_POLLS, 1);
	if (n <= 0)
		return;
	if (p.revents & (POLLERR | POLLNVAL))
		fail("poll: events %#x", p.revents);
	if (p.revents & POLLHUP && never_since(&d->stopped, stopped))
		fail("POLLHUP without a STOP");
	if (!(p.revents & (POLLIN | POLLPRI)))
		return;
	/* Others can have started it since; and while a counter takes another's place ... */
	if (s->calm && never_since(&d->offline, offline))
		must_read(s, p.revents & POLLIN ? "POLLIN" : "POLLPRI");
	else if (s->nonblock || s->may_wait)
		read_once(s);
}

/* Edge-triggered: an event comes for what a read up to EAGAIN has not seen. */
static void epoll_and_read(struct session *s)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned int i, j;
	bool all = true;
	int n;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, s->fd, &event))
		fail("epoll: %s", strerrorname_np(errno));
	set_nonblock(s, true);
	for (i = 0; i < 4 && all && !s->ended; i++) {
		begin("epoll_wait", i);
		n = end(epoll_wait(epoll, &event, 1, some_timeout(s)));
		if (n < 0 && (errno != EINTR || s->calm))
			fail("epoll_wait: %s", strerrorname_np(errno));
		if (n <= 0)
			continue;
		if (event.events & EPOLLERR)
			fail("epoll_wait: events %#x", event.events);
		all = false;
		for (j = 0; j < 50 && !all; j++) {
			ssize_t got = read_once(s);

			if (!got)
				break;
			all = got < 0 && errno == EAGAIN;
		}
	}
	close(epoll);
	set_nonblock(s, chance(30));
}

/* --- control --- */

/*
 * At the end of a stopped stream: all that the PMU has published was delivered.
 * With the device's control_lock held.
 */
static void check_end(struct session *s)
{
	struct device *d = s->device;
	struct pollfd p = { .fd = s->fd, .events = POLLIN | POLLPRI };
	uint64_t published;

	look_at_status(s);
	if (s->status.state != AUXTRACE_STATE_STOPPED || s->status.head != s->status.tail)
		fail("at the end of the stream: state %u, head %llu, tail %llu", s->status.state,
		     s->status.head, s->status.tail);
	if (s->framed &&
	    (!frames_at_boundary(&s->frames) || !(s->frames.header.flags & AUXTRACE_WINDOW_LAST)))
		fail("the stream ended behind a window that was not the last");
	if (s->framed)
		check_driver_flags(s);
	/* A gap behind the last window is for who reads on after a START. */
	if (poll(&p, 1, 0) != 1 || p.revents != POLLHUP)
		fail("at the end of the stream poll says %#x", p.revents);
	count(COUNT_DRAINED, 1);
	if (!s->since.exact)
		return;
	published = sim_count("bytes_per_cpu", d->cpu) - s->since.sim_bytes;
	if (published != delivered(s))
		fail("the PMU published %" PRIu64 " bytes, but %" PRIu64 " were delivered",
		     published, delivered(s));
	count(COUNT_EXACT, 1);
}

/* STOP, and read all. Nobody else starts it meanwhile. */
static void drain(struct session *s)
{
	struct device *d = s->device;

	pthread_mutex_lock(&d->control_lock);
	stop_stream(d, s->fd);
	while (read_once(s))
		;
	check_end(s);
	if (chance(30)) {
		start_stream(d, s->fd);
		if (chance(10))
			start_stream(d, s->fd);
	} else {
		s->ended = true;
	}
	pthread_mutex_unlock(&d->control_lock);
}

/* A read found the end that somebody else has made. */
static void on_end(struct session *s)
{
	struct device *d = s->device;

	if (chance(20)) {
		s->ended = true;
		return;
	}
	pthread_mutex_lock(&d->control_lock);
	start_stream(d, s->fd);
	pthread_mutex_unlock(&d->control_lock);
}

/* What STATUS says is there, a read gives. */
static void status_and_read(struct session *s)
{
	look_at_status(s);
	if (s->status.head != s->status.tail)
		must_read(s, "head is beyond tail");
}

static void flush_and_read(struct session *s)
{
	if (flush_stream(s->device, s->fd, &s->since))
		must_read(s, "FLUSH published something");
}

static void set_format(struct session *s)
{
	uint32_t format = chance(50) ? AUXTRACE_FORMAT_FRAMED : AUXTRACE_FORMAT_RAW;
	int ret;

	begin("SET_FORMAT", (long)format);
	ret = end(ioctl(s->fd, AUXTRACE_IOC_SET_FORMAT, &format));
	if (s->has_read ? ret != -1 || errno != EBUSY : ret)
		fail("SET_FORMAT: %d, %s (%s)", ret, strerrorname_np(errno),
		     s->has_read ? "after a read" : "before the first");
	if (!ret)
		s->framed = format;
}

static void set_wake_bytes(struct session *s)
{
	uint64_t bytes = chance(50) ? 1 : 1 + random_below(s->since.buffer_size);

	begin("SET_WAKE_BYTES", (long)bytes);
	if (end(ioctl(s->fd, AUXTRACE_IOC_SET_WAKE_BYTES, &bytes)))
		fail("SET_WAKE_BYTES: %s", strerrorname_np(errno));
	s->wake_bytes = bytes;
}

static void do_something(struct session *s)
{
	unsigned int what = (unsigned int)random_below(100);

	if (what < 50) {
		/* Else it may wait for ever. */
		if (!s->nonblock && !s->may_wait)
			set_nonblock(s, true);
		if (!read_once(s))
			on_end(s);
	} else if (what < 65) {
		poll_and_read(s);
	} else if (what < 72) {
		epoll_and_read(s);
	} else if (what < 79) {
		status_and_read(s);
	} else if (what < 83) {
		flush_and_read(s);
	} else if (what < 86) {
		drain(s);
	} else if (what < 88) {
		set_format(s);
	} else if (what < 91) {
		set_wake_bytes(s);
	} else if (what < 94) {
		set_nonblock(s, chance(30));
	} else {
		/* Meanwhile a buffer fills. */
		begin("pause", 0);
		pause_ms(chance(80) ? 20 : 200);
		end(0);
	}
}

/* --- from open to close --- */

static void lend(struct session *s)
{
	struct device *d = s->device;

	pthread_mutex_lock(&d->lend_lock);
	d->since = s->since;
	d->reader = pthread_self();
	d->lent = s->fd;
	pthread_mutex_unlock(&d->lend_lock);
}

static void take_back(struct session *s)
{
	pthread_mutex_lock(&s->device->lend_lock);
	s->device->lent = -1;
	pthread_mutex_unlock(&s->device->lend_lock);
}

/*
 * Asks to be watched for sleep that lasts although trace is there. Without flushes that
 * is a watermark's worth: what perf publishes by the way wakes nobody.
 */
static void be_watched(struct session *s)
{
	struct device *d = s->device;

	atomic_store(&d->sleeper_since, s->since.sim_bytes);
	atomic_store(&d->sleeper_has, 0);
	atomic_store(&d->sleeper_enough, s->info.flush_ms ? 1 : s->info.watermark);
	atomic_store(&d->sleeper, (unsigned int)gettid());
}

static void begin_session(struct session *s)
{
	struct device *d = s->device;
	uint64_t rate;

	/* Nobody has anything to do with an earlier stream any more. */
	atomic_store(&d->stopped.maybe, 0);
	atomic_store(&d->stopped.sure, 0);
	atomic_fetch_add(&d->stopped.changes, 1);
	atomic_store(&d->stops, 0);
	atomic_store(&d->starts, 0);

	memset(&s->info, 0, sizeof(s->info));
	s->info.size = sizeof(s->info);
	begin("INFO", s->fd);
	if (end(ioctl(s->fd, AUXTRACE_IOC_INFO, &s->info)))
		fail("INFO: %s", strerrorname_np(errno));
	s->since.buffer_size = s->info.buffer_size;
	s->has_read = s->ended = false;
	s->wake_bytes = 1;
	rate = s->info.config & UINT32_MAX ?: 1 << 20;
	s->may_wait = s->info.flush_ms || s->info.watermark * SLOWNESS < rate * (PATIENCE / 2);
	begin_verifying(s);
}

static void count_gaps(const struct auxtrace_status *st)
{
	count(COUNT_GAPS_FULL, st->gaps_full);
	count(COUNT_GAPS_DRIVER, st->gaps_driver);
	count(COUNT_GAPS_HOTPLUG, st->gaps_hotplug);
	count(COUNT_GAPS_STOPPED, st->gaps_stopped);
}

static void run_session(struct session *s)
{
	unsigned int kind = (unsigned int)random_below(100), n = UINT_MAX;
	double until = now() + 0.2 + (double)random_below(2000) / 1000;

	begin_session(s);
	if (kind < 80)
		return;
	if (kind < 94)
		n = 1 + (unsigned int)random_below(20);

	s->calm = chance(40);
	begin(s->calm ? "calm" : "lend", s->fd);
	if (!s->calm)
		lend(s);
	else if (s->since.exact)
		be_watched(s);
	end(0);
	if (chance(30))
		set_format(s);
	while (!s->ended && n-- && now() < until && !atomic_load(&ending))
		do_something(s);
	if (!s->ended && chance(60))
		drain(s);
	atomic_store(&s->device->sleeper, 0);
	if (!s->calm)
		take_back(s);
	look_at_status(s);
	count_gaps(&s->status);
}

/* Opens the device, or says whether the refusal was right. */
static bool open_device(struct session *s)
{
	struct device *d = s->device;
	struct sighting others = presence_look(&d->open), offline, unloaded;
	unsigned long long opens = atomic_load(&d->opens);
	bool idle = !atomic_load(&d->holders);

	presence_begin(&d->open);
	s->since = (struct baseline){
		.sim_bytes = sim_count("bytes_per_cpu", d->cpu),
		.sim_stops = sim_count("stops_per_cpu", d->cpu),
		/*
		 * On a CPU that is coming, perf takes an event, but does not install it:
		 * a gap by hotplug, before anything else.
		 */
		.gone = atomic_load(&d->gone) - !!presence_look(&d->offline).maybe,
	};
	offline = presence_look(&d->offline);
	unloaded = presence_look(&absent);
	s->nonblock = chance(25);
	begin("open", s->nonblock);
	s->fd = end(open(d->path, O_RDONLY | O_CLOEXEC | (s->nonblock ? O_NONBLOCK : 0)));
	/* But for ourselves. */
	others.changes++;
	if (s->fd >= 0) {
		if (always_since(&d->open, others))
			fail("%s opened twice", d->path);
		if (always_since(&d->offline, offline))
			fail("%s opened although its CPU is offline", d->path);
		s->since.exact = idle && atomic_load(&d->opens) == opens;
		atomic_fetch_add(&d->holders, 1);
		presence_begun(&d->open);
		count(COUNT_OPENS, 1);
		atomic_fetch_add(&d->opens, 1);
		return true;
	}
	if (errno == EBUSY && !never_since(&d->open, others))
		count(COUNT_BUSY, 1);
	else if (errno == ENODEV && !never_since(&d->offline, offline))
		count(COUNT_OFFLINE, 1);
	else if ((errno == ENOENT || errno == ENXIO) && !never_since(&absent, unloaded))
		count(COUNT_UNLOADED, 1);
	else
		fail("open %s: %s", d->path, strerrorname_np(errno));
	presence_cancel(&d->open);
	return false;
}

static void close_device(struct session *s)
{
	presence_ending(&s->device->open);
	begin("close", s->fd);
	if (end(close(s->fd)))
		fail("close: %s", strerrorname_np(errno));
	atomic_fetch_sub(&s->device->holders, 1);
	presence_ended(&s->device->open);
}

static void prepare(struct session *s)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	s->memory = mmap(NULL, READ_MAX + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (s->memory == MAP_FAILED || mprotect(s->memory + READ_MAX, page, PROT_NONE) ||
	    !prepare_verifying(s) || pipe2(s->pipe, O_CLOEXEC))
		fail("no memory, or no pipe");
}

void owner_main(void)
{
	struct session s = { .device = self->device };

	prepare(&s);
	while (!atomic_load(&ending)) {
		bool opened;

		if (!fixed && chance(20))
			choose_settings(s.device);
		pthread_rwlock_rdlock(&gate);
		opened = open_device(&s);
		if (opened) {
			run_session(&s);
			close_device(&s);
		}
		pthread_rwlock_unlock(&gate);
		if (!opened || chance(20))
			pause_ms(30);
	}
}
