// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What comes from sysfs and the machine: CPUs, attributes, events, streams. And what opening
 * does with files that are no devices.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../internal.h"
#include "made.h"

static char *sys;

static void put_device(unsigned int cpu, const char *pmu)
{
	static const char *const settings[] = { "config",	 "config1", "config2",
						"config3",	 "period",  "exclude_user",
						"exclude_kernel" };
	char path[128];
	size_t i;

	for (i = 0; i < 7; i++) {
		snprintf(path, sizeof(path), "class/auxtrace/auxtrace%u/%s", cpu, settings[i]);
		made_put(sys, path, i < 4 ? "0x10\n" : "0\n");
	}
	snprintf(path, sizeof(path), "class/auxtrace/auxtrace%u/pmu", cpu);
	made_put(sys, path, pmu);
	snprintf(path, sizeof(path), "class/auxtrace/auxtrace%u/stats", cpu);
	made_put(sys, path, "opens 1\nbytes 12345678901\ngaps 7\ngaps_full 5\n");
}

static int make_sysfs(void **state)
{
	(void)state;
	sys = made_directory();
	put_device(0, "pt\n");
	put_device(10, "pt\n");
	put_device(2, "other\n");
	made_put(sys, "class/auxtrace/version", "1\n");
	made_put(sys, "class/auxtrace/auxtracex/pmu", "pt\n");
	made_put(sys, "bus/event_source/devices/pt/type", "8\n");
	made_put(sys, "bus/event_source/devices/pt/format/tsc", "config:10\n");
	made_put(sys, "bus/event_source/devices/pt/format/cyc", "config:1\n");
	made_put(sys, "bus/event_source/devices/pt/format/period4", "config:14-17\n");
	made_put(sys, "bus/event_source/devices/pt/format/split", "config1:0-3,32-35,63\n");
	made_put(sys, "bus/event_source/devices/pt/format/all", "config2:0-63\n");
	made_put(sys, "bus/event_source/devices/pt/format/odd", "config9:0\n");
	made_put(sys, "bus/event_source/devices/pt/format/broken", "config:7-3\n");
	made_put(sys, "bus/event_source/devices/pt/caps/mtc", "1\n");
	made_put(sys, "bus/event_source/devices/pt/tsc_art_ratio", "2:168\n");
	return 0;
}

static int remove_sysfs(void **state)
{
	(void)state;
	made_remove(sys);
	return 0;
}

static void cpus(void **state)
{
	static const char *const wrong[] = { "",    "a",     "1,",    ",1",
					     "1-",  "2-1",   "1--2",  " 1",
					     "1 ",  "65536", "1-2-3", "-1",
					     "1;2", "0x1",   "1,,2",  "99999999999999999999" };
	unsigned int *list;
	size_t n, i;

	(void)state;
	assert_int_equal(auxtrace_cpus_all(sys, &list, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list[0], 0);
	assert_int_equal(list[1], 2);
	assert_int_equal(list[2], 10);
	free(list);
	assert_int_equal(auxtrace_cpus_all("/nowhere", &list, &n), -ENODEV);

	assert_int_equal(auxtrace_cpus_parse("8,0-3,2-4,65535", &list, &n), 0);
	assert_int_equal(n, 7);
	assert_memory_equal(list, ((unsigned int[]){ 0, 1, 2, 3, 4, 8, 65535 }), 28);
	free(list);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(auxtrace_cpus_parse(wrong[i], &list, &n), -EINVAL);
}

static void attributes(void **state)
{
	char text[4096];

	(void)state;
	assert_int_equal(auxtrace_attribute_get(sys, 2, "pmu", text, sizeof(text)), 5);
	assert_string_equal(text, "other");
	assert_int_equal(auxtrace_attribute_get(sys, 2, "pmu", text, 6), -ENOSPC);
	assert_int_equal(auxtrace_attribute_get(sys, 2, "none", text, sizeof(text)), -ENOENT);
	assert_int_equal(auxtrace_attribute_get(sys, 3, "pmu", text, sizeof(text)), -ENODEV);
	assert_int_equal(auxtrace_attribute_get(sys, 2, "../auxtrace0/pmu", text, sizeof(text)),
			 -ENOENT);
	assert_int_equal(auxtrace_attribute_set(sys, 2, "config", "0x77"), 0);
	assert_int_equal(auxtrace_attribute_get(sys, 2, "config", text, sizeof(text)), 4);
	assert_string_equal(text, "0x77");
	assert_int_equal(auxtrace_attribute_set(sys, 2, "config", ""), -EINVAL);
	assert_int_equal(auxtrace_attribute_set(sys, 2, "none", "1"), -ENOENT);
	assert_int_equal(auxtrace_attribute_set(sys, 3, "config", "1"), -ENODEV);

	assert_true(auxtrace_attribute_get(sys, 0, "stats", text, sizeof(text)) > 0);
	assert_int_equal(auxtrace_statistic(text, "bytes"), 12345678901);
	assert_int_equal(auxtrace_statistic(text, "gaps"), 7);
	assert_int_equal(auxtrace_statistic(text, "gaps_full"), 5);
	assert_int_equal(auxtrace_statistic(text, "gap"), 0);
}

static int parse(const char *text, struct auxtrace_event *event, char *message)
{
	*event = (struct auxtrace_event){ .size = sizeof(*event) };
	*message = '\0';
	return auxtrace_event_parse(event, text, sys, message, 512);
}

static void events(void **state)
{
	struct auxtrace_event e;
	char message[512];

	(void)state;
	assert_int_equal(parse("pt/tsc,cyc=0,period4=9/u", &e, message), 0);
	assert_string_equal(e.pmu, "pt");
	assert_int_equal(e.config[0], 1 << 10 | 9 << 14);
	assert_int_equal(e.mask[0], 1 << 10 | 1 << 1 | 15 << 14);
	assert_int_equal(e.mask[1] | e.mask[2] | e.mask[3], 0);
	assert_int_equal(e.set,
			 AUXTRACE_EVENT_SET_EXCLUDE_USER | AUXTRACE_EVENT_SET_EXCLUDE_KERNEL);
	assert_int_equal(e.exclude_user, 0);
	assert_int_equal(e.exclude_kernel, 1);

	assert_int_equal(parse("pt", &e, message), 0);
	assert_int_equal(e.mask[0] | e.set, 0);
	assert_int_equal(parse("pt//", &e, message), 0);
	assert_int_equal(e.mask[0] | e.set, 0);
	assert_int_equal(parse("pt//k", &e, message), 0);
	assert_int_equal(e.exclude_user, 1);
	assert_int_equal(e.exclude_kernel, 0);
	assert_int_equal(parse("pt//uk", &e, message), 0);
	assert_int_equal(e.exclude_user | e.exclude_kernel, 0);
	assert_int_equal(e.set,
			 AUXTRACE_EVENT_SET_EXCLUDE_USER | AUXTRACE_EVENT_SET_EXCLUDE_KERNEL);

	/* The low bits go to the first range. */
	assert_int_equal(parse("pt/split=0x1a5/", &e, message), 0);
	assert_true(e.config[1] == (0x5 | 0xaULL << 32 | 1ULL << 63));
	assert_true(e.mask[1] == (0xf | 0xfULL << 32 | 1ULL << 63));
	assert_int_equal(parse("pt/all=0xffffffffffffffff/", &e, message), 0);
	assert_true(e.config[2] == ~0ULL && e.mask[2] == ~0ULL);

	/* The last one wins. */
	assert_int_equal(parse("pt/config=0x402,cyc=0,config3=5,period=100/", &e, message), 0);
	assert_int_equal(e.config[0], 0x400);
	assert_true(e.mask[0] == ~0ULL && e.mask[3] == ~0ULL);
	assert_int_equal(e.config[3], 5);
	assert_int_equal(e.period, 100);
	assert_int_equal(e.set, AUXTRACE_EVENT_SET_PERIOD);
}

static void wrong_events(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *says;
	} wrong[] = {
		{ "", -EINVAL, "no PMU's name" },
		{ "/tsc/", -EINVAL, "no PMU's name" },
		{ "../pt/tsc/", -EINVAL, "no PMU's name" },
		{ "none/tsc/", -ENODEV, "no PMU 'none': there are pt" },
		{ "a_name_that_is_longer_than_any_pmus_name/tsc/", -ENODEV, "no PMU" },
		{ "pt/tsc", -EINVAL, "the second '/' is missing: write pt/tsc/" },
		{ "pt/tsc,/", -EINVAL, "a term or a value is missing" },
		{ "pt/,/", -EINVAL, "a term or a value is missing" },
		{ "pt/tsc=/", -EINVAL, "a term or a value is missing" },
		{ "pt/=1/", -EINVAL, "a term or a value is missing" },
		{ "pt/tsc=x/", -EINVAL, "'x' of tsc is not a number" },
		{ "pt/tsc=-1/", -EINVAL, "'-1' of tsc is not a number" },
		{ "pt/tsc=0x/", -EINVAL, "'0x' of tsc is not a number" },
		{ "pt/all=18446744073709551616/", -EINVAL, "is not a number" },
		{ "pt/nothing/", -ENOENT, "pt has no term 'nothing': there are " },
		{ "pt/odd/", -ENOENT, "'odd'" },
		{ "pt/tsc=2/", -ERANGE, "tsc=2 does not fit in its bits, config:10" },
		{ "pt/period4=16/", -ERANGE, "period4=16 does not fit" },
		{ "pt/split=0x200/", -ERANGE, "split=0x200 does not fit" },
		{ "pt/broken/", -ERANGE, "broken" },
		{ "pt/tsc/p", -EINVAL, "no modifier 'p'" },
		{ "pt/tsc/u/", -EINVAL, "no modifier '/'" },
	};
	struct auxtrace_event e;
	char message[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(parse(wrong[i].text, &e, message), wrong[i].error);
		if (!strstr(message, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, message);
	}
	assert_int_equal(auxtrace_event_parse(&e, "", sys, NULL, 0), -EINVAL);
}

static void check_attribute(unsigned int cpu, const char *name, const char *value)
{
	char text[64];

	assert_true(auxtrace_attribute_get(sys, cpu, name, text, sizeof(text)) >= 0);
	assert_string_equal(text, value);
}

static void apply(void **state)
{
	struct auxtrace_event e, before = { .size = sizeof(before) };
	char message[512], path[256];

	(void)state;
	assert_int_equal(parse("pt/tsc,config1=7,period=9/u", &e, message), 0);
	assert_int_equal(auxtrace_event_apply(&e, 0, sys, &before), 0);
	/* Over what it was: 0x10. */
	check_attribute(0, "config", "0x410");
	check_attribute(0, "config1", "0x7");
	check_attribute(0, "config2", "0x10");
	check_attribute(0, "period", "9");
	check_attribute(0, "exclude_user", "0");
	check_attribute(0, "exclude_kernel", "1");
	assert_int_equal(auxtrace_event_apply(&before, 0, sys, NULL), 0);
	check_attribute(0, "config", "0x10");
	check_attribute(0, "config1", "0x10");
	check_attribute(0, "period", "0");
	check_attribute(0, "exclude_kernel", "0");

	assert_int_equal(auxtrace_event_apply(&e, 2, sys, NULL), -EXDEV);
	assert_int_equal(auxtrace_event_apply(&e, 3, sys, NULL), -ENODEV);

	/* One that is refused: those before are as they were. */
	snprintf(path, sizeof(path), "%s/class/auxtrace/auxtrace10/period", sys);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(auxtrace_event_apply(&e, 10, sys, NULL), -ENOENT);
	check_attribute(10, "config", "0x10");
	check_attribute(10, "config1", "0x10");
}

static void pairs(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info), .cpu = 5, .pmu_name = "pt" };
	struct auxtrace_stream *s;
	const char *key, *value;

	(void)state;
	assert_int_equal(auxtrace_stream_new(&s, &info), 0);
	assert_int_equal(s->cpu, 5);
	assert_true(s->started > 0);
	assert_null(auxtrace_stream_value(s, "a"));
	assert_false(auxtrace_stream_pair(s, 0, &key, &value));
	assert_int_equal(auxtrace_stream_set(s, "a", "1"), 0);
	assert_int_equal(auxtrace_stream_set(s, "b", ""), 0);
	assert_int_equal(auxtrace_stream_set(s, "c", "a"), 0);
	assert_int_equal(auxtrace_stream_set(s, "a", "22"), 0);
	assert_string_equal(auxtrace_stream_value(s, "a"), "22");
	assert_string_equal(auxtrace_stream_value(s, "b"), "");
	assert_string_equal(auxtrace_stream_value(s, "c"), "a");
	assert_true(auxtrace_stream_pair(s, 0, &key, &value));
	assert_string_equal(key, "b");
	assert_true(auxtrace_stream_pair(s, 2, &key, &value));
	assert_string_equal(key, "a");
	assert_string_equal(value, "22");
	assert_false(auxtrace_stream_pair(s, 3, &key, &value));
	assert_int_equal(auxtrace_stream_set(s, "", "1"), -EINVAL);
	assert_int_equal(auxtrace_stream_set(s, "a=b", "1"), -EINVAL);
	assert_int_equal(auxtrace_stream_set(s, "a\n", "1"), -EINVAL);
	assert_int_equal(auxtrace_stream_set(s, "a", "1\n"), -EINVAL);
	assert_string_equal(auxtrace_stream_value(s, "a"), "22");
	auxtrace_stream_free(s);
	auxtrace_stream_free(NULL);
}

/* Values of a stream, and keys, set in the same stream. */
static void pairs_of_itself(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	struct auxtrace_stream *s;
	const char *key, *value;
	char large[5000];
	int i;

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_int_equal(auxtrace_stream_new(&s, &info), 0);
	assert_int_equal(auxtrace_stream_set(s, "a", large), 0);
	assert_int_equal(auxtrace_stream_set(s, "b", auxtrace_stream_value(s, "a")), 0);
	assert_int_equal(auxtrace_stream_set(s, "a", auxtrace_stream_value(s, "a")), 0);
	assert_int_equal(auxtrace_stream_set(s, "a", auxtrace_stream_value(s, "a") + 4000), 0);
	assert_string_equal(auxtrace_stream_value(s, "a"), large + 4000);
	assert_string_equal(auxtrace_stream_value(s, "b"), large);
	/* Each key becomes the value, in turns. */
	for (i = 0; i < 4; i++) {
		assert_true(auxtrace_stream_pair(s, i % 2, &key, &value));
		assert_int_equal(auxtrace_stream_set(s, key, key), 0);
		assert_true(auxtrace_stream_pair(s, 1, &key, &value));
		assert_string_equal(key, value);
		assert_false(auxtrace_stream_pair(s, 2, &key, &value));
	}
	auxtrace_stream_free(s);
}

/* Callers of an earlier version, who have less, and of a later one. */
static void info_sizes(void **state)
{
	struct auxtrace_info info = { .size = 48, .cpu = 5, .pmu_name = "pt" }, *little;
	struct {
		struct auxtrace_info info;
		uint64_t more;
	} much = { .info = { .size = sizeof(much), .cpu = 6, .period = 7 }, .more = 8 };
	struct auxtrace_stream *s;
	uint32_t none;

	(void)state;
	little = malloc(48);
	assert_non_null(little);
	memcpy(little, &info, 48);
	assert_int_equal(auxtrace_stream_new(&s, little), 0);
	free(little);
	assert_int_equal(s->cpu, 5);
	assert_memory_equal(s->info, &info, sizeof(info));
	auxtrace_stream_free(s);

	assert_int_equal(auxtrace_stream_new(&s, &much.info), 0);
	assert_int_equal(s->info->size, sizeof(info));
	assert_int_equal(s->info->period, 7);
	auxtrace_stream_free(s);

	for (none = 0; none < sizeof(none); none++) {
		memcpy(&info, &none, sizeof(none));
		assert_int_equal(auxtrace_stream_new(&s, &info), -EINVAL);
	}
}

static void stream_record(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info), .cpu = 5, .config = 77 };
	struct auxtrace_stream *s, *t, a, b;
	struct auxtrace_stream_record *r;
	size_t size;
	char *bytes;

	(void)state;
	assert_int_equal(auxtrace_stream_new(&s, &info), 0);
	s->flags = AUXTRACE_STREAM_TIME_ZERO;
	s->time_mult = 1;
	s->time_shift = 2;
	s->time_zero = 3;
	s->time_cycles = 4;
	s->time_mask = 5;
	assert_int_equal(auxtrace_stream_set(s, "kernel", "6.1"), 0);
	assert_int_equal(auxtrace_stream_set(s, "empty", ""), 0);
	size = stream_record_size(s);
	assert_int_equal(size % 8, 0);
	bytes = malloc(size);
	stream_record_write(s, bytes);
	assert_int_equal(stream_record_read(&t, bytes, size), 0);
	assert_memory_equal(s->info, t->info, sizeof(info));
	a = *s;
	b = *t;
	a.info = NULL;
	b.info = NULL;
	assert_memory_equal(&a, &b, sizeof(a));
	assert_string_equal(auxtrace_stream_value(t, "kernel"), "6.1");
	assert_string_equal(auxtrace_stream_value(t, "empty"), "");
	auxtrace_stream_free(t);

	/* Pairs that are none, and sizes that cannot be. */
	r = (struct auxtrace_stream_record *)bytes;
	r->text_size = htole32(le32toh(r->text_size) - 1);
	assert_int_equal(stream_record_read(&t, bytes, size), -EINVAL);
	memcpy(bytes + sizeof(*r) + sizeof(info), "a\0b\0c", 5);
	r->text_size = htole32(5);
	assert_int_equal(stream_record_read(&t, bytes, size), -EINVAL);
	memcpy(bytes + sizeof(*r) + sizeof(info), "a\0b\0\0b", 7);
	r->text_size = htole32(7);
	assert_int_equal(stream_record_read(&t, bytes, size), -EINVAL);
	r->text_size = htole32(size);
	assert_int_equal(stream_record_read(&t, bytes, size), -EINVAL);
	r->text_size = 0;
	assert_int_equal(stream_record_read(&t, bytes, size), 0);
	auxtrace_stream_free(t);
	r->info_size = htole32(~0U);
	assert_int_equal(stream_record_read(&t, bytes, size), -EINVAL);
	assert_int_equal(stream_record_read(&t, bytes, sizeof(*r) - 1), -EINVAL);
	auxtrace_stream_free(s);
	free(bytes);
}

/* Nothing is created, and nothing is opened that is no device of ours. */
static void no_devices(void **state)
{
	struct auxtrace_device *device = NULL;
	char path[256];
	struct stat st;
	int ends[2];

	(void)state;
	snprintf(path, sizeof(path), "%s/none", sys);
	assert_int_equal(auxtrace_device_open(&device, path, 0), -ENOENT);
	assert_int_equal(stat(path, &st), -1);
	made_put(sys, "file", "text");
	snprintf(path, sizeof(path), "%s/file", sys);
	assert_int_equal(auxtrace_device_open(&device, path, 0), -ENOTTY);
	assert_int_equal(auxtrace_device_open(&device, sys, 0), -ENOTTY);
	assert_int_equal(auxtrace_device_open(&device, "/dev/null", 0), -ENOTTY);
	/* A pipe would be waited for. */
	snprintf(path, sizeof(path), "%s/fifo", sys);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(auxtrace_device_open(&device, path, 0), -ENOTTY);
	assert_int_equal(auxtrace_device_open(&device, "/dev/null", 4), -EINVAL);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(auxtrace_device_adopt(&device, ends[0], 0), -ENOTTY);
	assert_int_equal(fcntl(ends[0], F_GETFD), 0);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(auxtrace_device_adopt(&device, ends[0], 0), -EBADF);
	assert_null(device);
	auxtrace_device_close(NULL);
	assert_non_null(strstr(auxtrace_open_error(-ENOENT), "modprobe auxtrace"));
	assert_string_equal(auxtrace_open_error(-ENFILE), strerrordesc_np(ENFILE));
	assert_non_null(auxtrace_open_error(-4000));
	assert_non_null(auxtrace_open_error(4000));
	assert_non_null(auxtrace_open_error(INT_MAX));
	assert_non_null(auxtrace_open_error(INT_MIN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus),
		cmocka_unit_test(attributes),
		cmocka_unit_test(events),
		cmocka_unit_test(wrong_events),
		cmocka_unit_test(apply),
		cmocka_unit_test(pairs),
		cmocka_unit_test(pairs_of_itself),
		cmocka_unit_test(info_sizes),
		cmocka_unit_test(stream_record),
		cmocka_unit_test(no_devices),
	};

	return cmocka_run_group_tests(tests, make_sysfs, remove_sysfs);
}
