// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tests of what the tool and the daemon share.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "json.h"
#include "text.h"
#include "units.h"

#define NS_PER_S UINT64_C(1000000000)

struct parse_case {
	const char *text;
	int ret;
	uint64_t value;
};

static void check_parser(int (*parse)(const char *, uint64_t *), const struct parse_case *cases)
{
	for (; cases->text; cases++) {
		uint64_t value = 12345;
		int ret = parse(cases->text, &value);

		if (ret != cases->ret || value != (ret ? 12345 : cases->value))
			fail_msg("'%s': %d, %llu", cases->text, ret, (unsigned long long)value);
	}
}

static void numbers(void **state)
{
	static const struct parse_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "010", 0, 10 },
		{ "0x10", 0, 16 },
		{ "0XfF", 0, 255 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "0x", -EINVAL, 0 },
		{ "0x-1", -EINVAL, 0 },
		{ "1K", -EINVAL, 0 },
		{ "ten", -EINVAL, 0 },
		{ 0 },
	};

	(void)state;
	check_parser(parse_number, cases);
}

static void sizes(void **state)
{
	static const struct parse_case cases[] = {
		{ "512", 0, 512 },
		{ "64K", 0, 64 << 10 },
		{ "64k", 0, 64 << 10 },
		{ "0x4M", 0, 4 << 20 },
		{ "3G", 0, UINT64_C(3) << 30 },
		{ "16777215T", 0, UINT64_C(16777215) << 40 },
		{ "16777216T", -ERANGE, 0 },
		{ "1KB", -EINVAL, 0 },
		{ "1KiB", -EINVAL, 0 },
		{ "1.5M", -EINVAL, 0 },
		{ "M", -EINVAL, 0 },
		{ "1X", -EINVAL, 0 },
		{ "1 M", -EINVAL, 0 },
		{ 0 },
	};

	(void)state;
	check_parser(parse_size, cases);
}

static void durations(void **state)
{
	static const struct parse_case cases[] = {
		{ "10", 0, 10 * NS_PER_S },
		{ "10s", 0, 10 * NS_PER_S },
		{ "5m", 0, 300 * NS_PER_S },
		{ "5min", 0, 300 * NS_PER_S },
		{ "2h", 0, 7200 * NS_PER_S },
		{ "1d", 0, 86400 * NS_PER_S },
		{ "250ms", 0, NS_PER_S / 4 },
		{ "10us", 0, 10000 },
		{ "7ns", 0, 7 },
		{ "0", 0, 0 },
		{ "18446744073", 0, UINT64_C(18446744073) * NS_PER_S },
		{ "18446744074", -ERANGE, 0 },
		{ "9999999999999999999h", -ERANGE, 0 },
		{ "1M", -EINVAL, 0 },
		{ "1.5s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "soon", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ 0 },
	};

	(void)state;
	check_parser(parse_duration, cases);
}

static void texts(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {
		{ 0, "0" },
		{ 1023, "1023" },
		{ 1024, "1K" },
		{ 1536, "1.5K" },
		{ 10 * 1024 + 512, "10K" },
		{ 4 << 20, "4M" },
		{ (2 << 20) - 1, "1.9M" },
		{ UINT64_C(64) << 30, "64G" },
		{ UINT64_MAX, "15E" },
	};
	static const struct {
		uint64_t ns;
		const char *text;
	} durations[] = {
		{ 0, "0ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 999999999, "999ms" },
		{ 1500000000, "1.5s" },
		{ 59 * NS_PER_S, "59.0s" },
		{ 125 * NS_PER_S, "2m 05s" },
		{ 12000 * NS_PER_S, "3h 20m" },
		{ 176400 * NS_PER_S, "2d 01h" },
		{ UINT64_MAX, "213503d 23h" },
	};
	char text[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_string_equal(format_size(text, sizes[i].bytes), sizes[i].text);
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
		assert_string_equal(format_duration(text, durations[i].ns), durations[i].text);
}

static void json(void **state)
{
	char *text = NULL;
	size_t size;
	struct json json = { .to = open_memstream(&text, &size) };

	(void)state;
	json_open(&json, NULL, '{');
	json_string(&json, "a\"b", "x\\\n\x01 \xc3\xa9 \xff \xc0\xaf \xed\xa0\x80");
	json_string(&json, "controls", "\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0");
	json_string(&json, "none", NULL);
	json_open(&json, "list", '[');
	json_number(&json, NULL, UINT64_MAX);
	json_bool(&json, NULL, true);
	json_open(&json, NULL, '{');
	json_close(&json, '}');
	json_close(&json, ']');
	json_bool(&json, "last", false);
	json_close(&json, '}');
	json_end_line(&json);
	json_number(&json, NULL, 7);
	fclose(json.to);
	assert_string_equal(
		text, "{\"a\\\"b\": \"x\\\\\\u000a\\u0001 \xc3\xa9 \\ufffd "
		      "\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\", "
		      "\"controls\": \"\\u007f\\u0080\\u009b\\u009f\xc2\xa0\", \"none\": null, "
		      "\"list\": [18446744073709551615, true, {}], \"last\": false}\n7");
	free(text);
}

static void of_others(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "cat", "cat" },
		{ "\x1b[31m\n\t\x7f", "?[31m???" },
		{ "\xc2\x80\xc2\x9b"
		  "2J\xc2\x9f\xc2\xa0",
		  "??2J?\xc2\xa0" },
		{ "\x9b"
		  "2J\xff\xc2",
		  "?2J??" },
		{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		  "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xc0\x9b\xe0\x82\x9b\xed\xa0\x80", "????????" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *cleaned = strdup(cases[i][0]), *printed = NULL;
		size_t size;
		FILE *to = open_memstream(&printed, &size);

		text_clean(cleaned);
		assert_string_equal(cleaned, cases[i][1]);
		text_print(to, cases[i][0]);
		fclose(to);
		assert_string_equal(printed, cases[i][1]);
		free(printed);
		free(cleaned);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(sizes), cmocka_unit_test(durations),
		cmocka_unit_test(texts),   cmocka_unit_test(json),  cmocka_unit_test(of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
