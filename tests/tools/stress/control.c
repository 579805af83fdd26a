// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress: threads that meddle with an open stream while another reads
 *
 * Owns what STATUS, INFO, STOP, START and FLUSH must say. Each of these threads
 * works on a dup() of the reader's descriptor, so that the last close can be its.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"

#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail(__VA_ARGS__);                                                         \
	} while (0)

static void never_falls(const char *name, uint64_t before, uint64_t after)
{
	CHECK(after >= before, "STATUS: %s fell from %" PRIu64 " to %" PRIu64, name, before, after);
}

static void check_monotonic(const struct auxtrace_status *a, const struct auxtrace_status *b)
{
	never_falls("head", a->head, b->head);
	never_falls("tail", a->tail, b->tail);
	never_falls("windows", a->windows, b->windows);
	never_falls("gaps", a->gaps, b->gaps);
	never_falls("gaps_full", a->gaps_full, b->gaps_full);
	never_falls("gaps_driver", a->gaps_driver, b->gaps_driver);
	never_falls("gaps_hotplug", a->gaps_hotplug, b->gaps_hotplug);
	never_falls("gaps_stopped", a->gaps_stopped, b->gaps_stopped);
	never_falls("gap_time", a->gap_time, b->gap_time);
	never_falls("flushes", a->flushes, b->flushes);
	never_falls("wakeups", a->wakeups, b->wakeups);
	never_falls("truncated", a->truncated, b->truncated);
	never_falls("partial", a->partial, b->partial);
	never_falls("collision", a->collision, b->collision);
	never_falls("reports_lost", a->reports_lost, b->reports_lost);
}

/* STATUS, which must go with itself, with @before (if any), and with what was done. */
struct auxtrace_status check_status(struct device *d, int fd, const struct baseline *since,
				    const struct auxtrace_status *before)
{
	struct auxtrace_status st = { .size = sizeof(st) };
	struct sighting offline = presence_look(&d->offline);
	uint64_t causes;

	begin("STATUS", fd);
	CHECK(!end(ioctl(fd, AUXTRACE_IOC_STATUS, &st)), "STATUS: %s", strerrorname_np(errno));
	count(COUNT_STATUS, 1);

	CHECK(st.head - st.tail <= since->buffer_size,
	      "STATUS: head %llu, tail %llu, but a buffer of %" PRIu64, st.head, st.tail,
	      since->buffer_size);
	CHECK(st.bytes == st.tail, "STATUS: tail %llu, but %llu bytes delivered", st.tail,
	      st.bytes);
	causes = st.gaps_full + st.gaps_driver + st.gaps_hotplug + st.gaps_stopped;
	CHECK(st.gaps <= causes && st.gaps_full + st.gaps_driver <= st.gaps &&
		      st.gaps_hotplug <= st.gaps,
	      "STATUS: %llu gaps, of which %llu full, %llu driver, %llu hotplug, %llu stopped",
	      st.gaps, st.gaps_full, st.gaps_driver, st.gaps_hotplug, st.gaps_stopped);
	CHECK(st.gaps_hotplug <= atomic_load(&d->offlines) - since->gone,
	      "STATUS: %llu gaps by hotplug, but the CPU went %u times", st.gaps_hotplug,
	      atomic_load(&d->offlines) - since->gone);
	CHECK(st.gaps_stopped <= atomic_load(&d->starts),
	      "STATUS: %llu gaps by STOP, but there were %u STARTs", st.gaps_stopped,
	      atomic_load(&d->starts));
	if (since->exact) {
		uint64_t stops = sim_count("stops_per_cpu", d->cpu) - since->sim_stops;

		/*
		 * A stop that shows late, when perf has set the event going again, can
		 * make two: the event is held to find out, and then waits for room.
		 */
		CHECK(st.gaps_full + st.gaps_driver <= 2 * stops,
		      "STATUS: %llu gaps full, %llu driver, but the driver stopped %" PRIu64
		      " times",
		      st.gaps_full, st.gaps_driver, stops);
	}

	switch (st.state) {
	case AUXTRACE_STATE_RUNNING:
	case AUXTRACE_STATE_FULL:
		break;
	case AUXTRACE_STATE_STOPPED:
		CHECK(atomic_load(&d->stops), "STATUS: stopped, but there was no STOP");
		break;
	case AUXTRACE_STATE_OFFLINE:
		/* Until what was there is read. */
		CHECK(atomic_load(&d->offlines) != since->gone,
		      "STATUS: offline, but the CPU never went");
		break;
	default:
		fail("STATUS: state %u (the CPU was%s online)", st.state,
		     never_since(&d->offline, offline) ? "" : " not always");
	}
	if (before)
		check_monotonic(before, &st);
	return st;
}

/* With the device's control_lock held. */
void stop_stream(struct device *d, int fd)
{
	bool already = presence_look(&d->stopped).sure;

	atomic_fetch_add(&d->stops, 1);
	if (!already)
		presence_begin(&d->stopped);
	begin("STOP", fd);
	CHECK(!end(ioctl(fd, AUXTRACE_IOC_STOP)), "STOP: %s", strerrorname_np(errno));
	if (!already)
		presence_begun(&d->stopped);
	count(COUNT_STOPS, 1);
}

/* Likewise. */
void start_stream(struct device *d, int fd)
{
	bool stopped = presence_look(&d->stopped).sure;

	atomic_fetch_add(&d->starts, 1);
	if (stopped)
		presence_ending(&d->stopped);
	begin("START", fd);
	CHECK(!end(ioctl(fd, AUXTRACE_IOC_START)), "START: %s", strerrorname_np(errno));
	if (stopped)
		presence_ended(&d->stopped);
}

uint64_t flush_stream(struct device *d, int fd, const struct baseline *since)
{
	struct sighting stopped = presence_look(&d->stopped);
	uint64_t n = UINT64_MAX;

	begin("FLUSH", fd);
	CHECK(!end(ioctl(fd, AUXTRACE_IOC_FLUSH, &n)), "FLUSH: %s", strerrorname_np(errno));
	CHECK(n <= since->buffer_size,
	      "FLUSH published %" PRIu64 " bytes, into a buffer of %" PRIu64, n,
	      since->buffer_size);
	CHECK(!n || !always_since(&d->stopped, stopped),
	      "FLUSH published %" PRIu64 " bytes while stopped", n);
	count(COUNT_FLUSHES, 1);
	return n;
}

static void check_info(const struct device *d, int fd, const struct baseline *since)
{
	struct auxtrace_info info = { .size = sizeof(info) };

	begin("INFO", fd);
	CHECK(!end(ioctl(fd, AUXTRACE_IOC_INFO, &info)), "INFO: %s", strerrorname_np(errno));
	CHECK(info.cpu == (uint32_t)d->cpu && info.buffer_size == since->buffer_size &&
		      !strcmp(info.pmu_name, "auxtrace_sim") && info.watermark,
	      "INFO: CPU %u, a buffer of %llu bytes, a watermark of %llu, PMU %.32s", info.cpu,
	      info.buffer_size, info.watermark, info.pmu_name);
}

/* What a stream has not got. */
static void try_in_vain(int fd)
{
	char byte = 0;

	begin("in vain", fd);
	CHECK(lseek(fd, 0, SEEK_SET) == -1 && errno == ESPIPE, "lseek succeeded");
	CHECK(write(fd, &byte, 1) == -1 && errno == EBADF, "write succeeded");
	CHECK(ioctl(fd, _IO(AUXTRACE_IOC_TYPE, 0x7f)) == -1 && errno == ENOTTY,
	      "an unknown ioctl succeeded");
	CHECK(ioctl(fd, AUXTRACE_IOC_FLUSH, NULL) == -1 && errno == EFAULT,
	      "FLUSH to nowhere succeeded");
	end(0);
}

static void poll_a_while(struct device *d, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | (chance(50) ? POLLPRI : 0) };
	struct sighting stopped = presence_look(&d->stopped);
	int n;

	begin("poll", p.events);
	n = end(poll(&p, 1, (int)random_below(100)));
	CHECK(n >= 0 || errno == EINTR, "poll: %s", strerrorname_np(errno));
	count(COUNT_POLLS, 1);
	if (n <= 0)
		return;
	CHECK(!(p.revents & (POLLERR | POLLNVAL)), "poll: events %#x", p.revents);
	CHECK(!(p.revents & POLLHUP) || !never_since(&d->stopped, stopped),
	      "poll: POLLHUP without a STOP");
}

static void start_or_stop(struct device *d, int fd)
{
	/* The reader holds it while it reads up to the end. */
	if (pthread_mutex_trylock(&d->control_lock))
		return;
	if (chance(50)) {
		stop_stream(d, fd);
		if (chance(30))
			stop_stream(d, fd);
		pause_ms(5);
	}
	/* Mostly as it is to be; else the reader starts it, when it gets to the end. */
	if (chance(70))
		start_stream(d, fd);
	pthread_mutex_unlock(&d->control_lock);
}

static void meddle(struct device *d, int fd, const struct baseline *since)
{
	struct auxtrace_status status = check_status(d, fd, since, NULL);
	unsigned int i, n = 1 + (unsigned int)random_below(12);
	uint64_t wake_bytes;

	for (i = 0; i < n; i++) {
		switch (random_below(9)) {
		case 0:
		case 1:
			status = check_status(d, fd, since, &status);
			break;
		case 2:
			check_info(d, fd, since);
			break;
		case 3:
			flush_stream(d, fd, since);
			break;
		case 4:
			start_or_stop(d, fd);
			break;
		case 5:
			poll_a_while(d, fd);
			break;
		case 6:
			wake_bytes = 1 + random_below(since->buffer_size);
			begin("SET_WAKE_BYTES", (long)wake_bytes);
			CHECK(!end(ioctl(fd, AUXTRACE_IOC_SET_WAKE_BYTES, &wake_bytes)),
			      "SET_WAKE_BYTES: %s", strerrorname_np(errno));
			break;
		case 7:
			try_in_vain(fd);
			break;
		default:
			pause_ms(10);
		}
	}
}

void disturber_main(void)
{
	struct device *d = self->device;

	while (!atomic_load(&ending)) {
		struct baseline since;
		int fd = -1;

		pthread_mutex_lock(&d->lend_lock);
		if (d->lent >= 0) {
			since = d->since;
			presence_begin(&d->open);
			presence_begun(&d->open);
			atomic_fetch_add(&d->holders, 1);
			fd = fcntl(d->lent, F_DUPFD_CLOEXEC, 0);
			CHECK(fd >= 0, "dup: %s", strerrorname_np(errno));
			if (chance(30))
				pthread_kill(d->reader, SIGUSR1);
		}
		pthread_mutex_unlock(&d->lend_lock);
		if (fd >= 0) {
			count(COUNT_LENT, 1);
			meddle(d, fd, &since);
			presence_ending(&d->open);
			begin("close", fd);
			end(close(fd));
			atomic_fetch_sub(&d->holders, 1);
			presence_ended(&d->open);
		}
		pause_ms(chance(80) ? 5 : 200);
	}
}
