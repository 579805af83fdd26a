// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress: what happens around the devices: CPU hotplug, perf that reschedules a
 * CPU's events, and unloading
 *
 * Owns the CPUs' being online, and the module's being loaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stress.h"

/* How long the module, loaded again, is left alone unless somebody has it open. */
#define GRACE 4.0

/* Seconds between moments when nobody may open a device, at most. */
#define QUIET_EVERY 25

static double loaded_at;

static void set_online(struct device *d, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", d->cpu);
	if (!online) {
		atomic_fetch_add(&d->offlines, 1);
		presence_begin(&d->offline);
	} else {
		presence_ending(&d->offline);
	}
	begin(online ? "online" : "offline", d->cpu);
	write_file(path, online ? "1" : "0");
	end(0);
	if (!online) {
		presence_begun(&d->offline);
		atomic_fetch_add(&d->gone, 1);
	} else {
		presence_ended(&d->offline);
	}
}

/* Takes a CPU away, mostly while its stream is open, and brings it back. */
void hotplug_main(void)
{
	while (!atomic_load(&ending)) {
		struct device *d = &devices[random_below(nr_devices)];
		unsigned int patience = chance(85) ? 100 : 0;

		if (!d->hotplug) {
			pause_ms(10);
			continue;
		}
		self->device = d;
		while (patience-- && !presence_look(&d->open).sure)
			usleep(2000);
		set_online(d, false);
		count(COUNT_HOTPLUGS, 1);
		pause_ms(chance(70) ? 5 : 300);
		set_online(d, true);
		pause_ms(chance(70) ? 10 : 300);
	}
}

/* A pinned counter that comes or goes makes perf schedule all of the CPU's anew. */
void reschedule_main(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.pinned = 1,
	};

	while (!atomic_load(&ending)) {
		struct device *d = &devices[random_below(nr_devices)];
		struct sighting offline = presence_look(&d->offline);
		int event;

		begin("perf_event_open", d->cpu);
		event = (int)end(
			syscall(SYS_perf_event_open, &attr, -1, d->cpu, -1, PERF_FLAG_FD_CLOEXEC));
		if (event >= 0) {
			count(COUNT_RESCHEDULES, 1);
			pause_ms(2);
			close(event);
		} else if (errno != ENODEV || never_since(&d->offline, offline)) {
			fail("perf_event_open for CPU %d: %s", d->cpu, strerrorname_np(errno));
		}
		pause_ms(chance(50) ? 2 : 100);
	}
}

/* What the stats must say while the device is closed, of which they are. */
void check_totals(struct device *d)
{
	uint64_t opens, bytes, windows;

	if (!read_stats(d, &opens, &bytes, &windows))
		return;
	if (opens != atomic_load(&d->opens) || bytes != atomic_load(&d->bytes) ||
	    windows != atomic_load(&d->windows))
		fail("auxtrace%d: stats say %" PRIu64 " opens, %" PRIu64 " bytes, %" PRIu64
		     " windows; it were %llu, %llu, %llu",
		     d->cpu, opens, bytes, windows, atomic_load(&d->opens), atomic_load(&d->bytes),
		     atomic_load(&d->windows));
}

static void load(void)
{
	int fd = open(module_path, O_RDONLY | O_CLOEXEC);

	begin("finit_module", fd);
	if (end(syscall(SYS_finit_module, fd, module_parameters, 0)))
		fail("loading %s: %s", module_path, strerrorname_np(errno));
	close(fd);
	loaded_at = now();
}

/* Tries to unload the module; if that succeeds, loads it again. */
static bool unload(void)
{
	struct sighting open_before[MAX_DEVICES];
	bool used = false, unused = true, unloaded;
	unsigned int i;

	for (i = 0; i < nr_devices; i++)
		open_before[i] = presence_look(&devices[i].open);
	presence_begin(&absent);
	begin("delete_module", 0);
	unloaded = !end(syscall(SYS_delete_module, "auxtrace", O_NONBLOCK));
	count(COUNT_RMMODS, 1);
	for (i = 0; i < nr_devices; i++) {
		used |= always_since(&devices[i].open, open_before[i]);
		unused &= never_since(&devices[i].open, open_before[i]);
	}

	if (!unloaded) {
		if (errno != EWOULDBLOCK)
			fail("rmmod: %s", strerrorname_np(errno));
		if (unused)
			fail("rmmod was refused, but nobody has a device open");
		presence_cancel(&absent);
		return false;
	}
	if (used)
		fail("unloaded while a device was open");
	count(COUNT_UNLOADS, 1);
	presence_begun(&absent);
	for (i = 0; i < nr_devices; i++) {
		atomic_store(&devices[i].opens, 0);
		atomic_store(&devices[i].bytes, 0);
		atomic_store(&devices[i].windows, 0);
	}
	pause_ms(chance(70) ? 0 : 50);
	atomic_fetch_add(&unloads, 1);
	presence_ending(&absent);
	load();
	presence_ended(&absent);
	return true;
}

/* A moment when nobody has a device open: the sums are right, and rmmod succeeds. */
static void be_quiet(void)
{
	unsigned int i;

	begin("gate", 0);
	pthread_rwlock_wrlock(&gate);
	for (i = 0; i < nr_devices; i++) {
		while (presence_look(&devices[i].open).maybe)
			usleep(1000);
		check_totals(&devices[i]);
	}
	end(0);
	if (!unload())
		fail("rmmod was refused in a quiet moment");
	count(COUNT_QUIET, 1);
	pthread_rwlock_unlock(&gate);
}

static bool anything_open(void)
{
	unsigned int i;

	for (i = 0; i < nr_devices; i++) {
		if (presence_look(&devices[i].open).sure)
			return true;
	}
	return false;
}

void rmmod_main(void)
{
	double quiet_at = now() + (double)random_below(QUIET_EVERY);

	while (!atomic_load(&ending)) {
		if (now() > quiet_at) {
			be_quiet();
			quiet_at = now() + (double)random_below(QUIET_EVERY);
		} else if (anything_open() || now() > loaded_at + GRACE) {
			unload();
		}
		pause_ms(chance(50) ? 5 : 100);
	}
}
