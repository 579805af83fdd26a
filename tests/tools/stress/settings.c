// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress: settings, state and statistics in sysfs
 *
 * Owns which settings are tried, and what writing and reading attributes may say.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"

#define CLASS "/sys/class/auxtrace"

/*
 * Writes an attribute, and judges what came of it: a setting cannot be changed
 * while the device is open, and can be otherwise. With the settings_lock held.
 * False if it was not changed, or the module went.
 */
static bool set(struct device *d, const char *name, const char *text, bool good)
{
	struct sighting open_before = presence_look(&d->open);
	struct sighting unloaded = presence_look(&absent);
	unsigned int loads = atomic_load(&unloads);
	char path[128], is[64];
	int fd, ret, error;

	snprintf(path, sizeof(path), CLASS "/auxtrace%d/%s", d->cpu, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno != ENOENT || never_since(&absent, unloaded))
			fail("%s: %s", path, strerrorname_np(errno));
		return false;
	}
	begin(name, atol(text));
	ret = (int)end(write(fd, text, strlen(text)));
	error = errno;
	close(fd);
	if (ret < 0 && error == ENODEV && !never_since(&absent, unloaded))
		return false;

	if (ret < 0 && error == EBUSY) {
		if (never_since(&d->open, open_before))
			fail("%s to %s: EBUSY, but nobody has it open", text, path);
		count(COUNT_SETTINGS_BUSY, 1);
		return false;
	}
	if (always_since(&d->open, open_before))
		fail("%s to %s: no EBUSY, but it is open", text, path);
	if (!good) {
		if (ret >= 0 || error != EINVAL)
			fail("%s to %s: %s, wanted EINVAL", text, path,
			     ret < 0 ? strerrorname_np(error) : "succeeded");
		count(COUNT_SETTINGS_BAD, 1);
		return false;
	}
	/* A new module knows nothing of a buffer that goes with this watermark. */
	if (atomic_load(&unloads) != loads)
		return false;
	if (ret < 0)
		fail("%s to %s: %s", text, path, strerrorname_np(error));
	count(COUNT_SETTINGS, 1);
	if (!read_attribute(d, name, is, sizeof(is)) || atomic_load(&unloads) != loads)
		return false;
	is[strcspn(is, "\n")] = '\0';
	if (strcmp(is, text))
		fail("%s written to %s, but it reads as %s", text, path, is);
	return true;
}

static bool set_number(struct device *d, const char *name, const char *format, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), format, value);
	return set(d, name, text, true);
}

/*
 * Bytes per second, and per tick of the simulator: see its format/. Each flush begins a
 * tick anew: the slowest has more ticks than there can be flushes.
 */
static uint64_t some_config(void)
{
	static const uint32_t rates[][2] = {
		{ 8000, 8 },
		{ 64 << 10, 0 },
		{ 1 << 20, 0 },
		{ 16 << 20, 4096 },
		{ 64 << 20, 8192 },
		{ 256 << 20, 64 << 10 },
		{ 256 << 20, 64 << 10 },
	};
	const uint32_t *rate = rates[random_below(sizeof(rates) / sizeof(rates[0]))];

	return rate[0] | (uint64_t)rate[1] << 32;
}

/*
 * What makes the driver pad, stop although there is room, or want much of it: never
 * more than half of the smallest buffer, so that it can always go on.
 */
static uint64_t some_config1(void)
{
	uint64_t align = 0, truncate = 0, margin = 0, partial = 0, collision = 0;

	if (chance(25))
		align = chance(50) ? 64 : 1024;
	if (chance(25))
		truncate = chance(30) ? 1 : 1 + random_below(50);
	if (chance(20))
		margin = 1 + random_below(3000);
	if (chance(15))
		partial = 1 + random_below(255);
	if (chance(15))
		collision = 1 + random_below(255);
	return align | truncate << 16 | margin << 32 | partial << 48 | collision << 56;
}

/* Other settings for a device, as far as nobody opens it meanwhile. */
void choose_settings(struct device *d)
{
	static const uint32_t flushes[] = { 0, 0, 1, 20, 300 };
	uint64_t buffer = UINT64_C(8192) << random_below(10);
	uint64_t watermarks[] = { 0, 0, 256, 4096, buffer / 4, buffer };
	uint64_t watermark = watermarks[random_below(6)], flush = flushes[random_below(5)];
	uint64_t config = some_config(), config1 = some_config1();
	bool framed = chance(50);

	/* Where readers sleep for long, and nothing but a watermark wakes them. */
	if (chance(30)) {
		buffer = UINT64_C(1) << 20;
		watermark = chance(50) ? 256 : 4096;
		flush = 0;
		config = chance(75) ? 8000 | UINT64_C(8) << 32 : 64 << 10;
	}
	pthread_mutex_lock(&d->settings_lock);
	(void)(set(d, "watermark", "0", true) && set_number(d, "buffer_size", "%" PRIu64, buffer) &&
	       set_number(d, "watermark", "%" PRIu64, watermark) &&
	       set_number(d, "flush_ms", "%" PRIu64, flush) &&
	       set_number(d, "config", "0x%" PRIx64, config) &&
	       set_number(d, "config1", "0x%" PRIx64, config1) &&
	       set(d, "format", framed ? "framed" : "raw", true));
	pthread_mutex_unlock(&d->settings_lock);
}

static const struct {
	const char *name;
	const char *text;
	bool good;
} single_settings[] = {
	{ "buffer_size", "12345", false },
	{ "buffer_size", "4096", false },
	{ "buffer_size", "4G", false },
	{ "watermark", "5G", false },
	{ "watermark", "-1", false },
	{ "flush_ms", "3600001", false },
	{ "format", "cooked", false },
	/* A reserved bit, that the PMU refuses. */
	{ "config", "0x8000000000000000", false },
	{ "exclude_user", "maybe", false },
	{ "exclude_user", "1", true },
	{ "exclude_user", "0", true },
	{ "exclude_kernel", "1", true },
	{ "exclude_kernel", "0", true },
	{ "flush_ms", "50", true },
	{ "config1", "0x0", true },
};

static void set_one(struct device *d)
{
	size_t i = random_below(sizeof(single_settings) / sizeof(single_settings[0]));
	const char *name = single_settings[i].name;
	unsigned int loads = atomic_load(&unloads);
	char before[64], after[64];

	pthread_mutex_lock(&d->settings_lock);
	if (read_attribute(d, name, before, sizeof(before)) &&
	    !set(d, name, single_settings[i].text, single_settings[i].good) &&
	    read_attribute(d, name, after, sizeof(after)) && strcmp(before, after) &&
	    atomic_load(&unloads) == loads)
		fail("%s of auxtrace%d: %s refused, but it changed from %s to %s", name, d->cpu,
		     single_settings[i].text, before, after);
	pthread_mutex_unlock(&d->settings_lock);
}

static void look_at_state(struct device *d)
{
	struct sighting open_before = presence_look(&d->open);
	struct sighting offline = presence_look(&d->offline);
	char state[32];

	begin("state", d->cpu);
	if (end(read_attribute(d, "state", state, sizeof(state)))) {
		state[strcspn(state, "\n")] = '\0';
		if (always_since(&d->offline, offline) && strcmp(state, "offline"))
			fail("the CPU is offline, but the state is %s", state);
		if (!never_since(&d->offline, offline))
			return;
		if (never_since(&d->open, open_before) && strcmp(state, "closed"))
			fail("nobody has it open, but the state is %s", state);
		if (always_since(&d->open, open_before) && strcmp(state, "running") &&
		    strcmp(state, "full") && strcmp(state, "stopped") && strcmp(state, "offline"))
			fail("it is open, but the state is %s", state);
	}
	count(COUNT_SYSFS, 1);
}

static void look_at_all(struct device *d)
{
	static const char *const names[] = { "pmu",    "cpu",	  "buffer_size",  "watermark",
					     "format", "config1", "exclude_user", "period" };
	uint64_t opens, bytes, windows;
	char text[64];
	size_t i;

	begin("attributes", d->cpu);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		read_attribute(d, names[i], text, sizeof(text));
	read_stats(d, &opens, &bytes, &windows);
	end(0);
	count(COUNT_SYSFS, 1);
}

void sysfs_main(void)
{
	while (!atomic_load(&ending)) {
		self->device = &devices[random_below(nr_devices)];
		if (chance(50))
			look_at_state(self->device);
		else if (fixed || chance(60))
			look_at_all(self->device);
		else
			set_one(self->device);
		pause_ms(20);
	}
}
