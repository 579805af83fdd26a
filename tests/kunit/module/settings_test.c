// SPDX-License-Identifier: GPL-2.0-only
/* Tests of settings.c: sizes, ranges, text forms. Owns the suite auxtrace_settings. */
#include "settings.c"

#include "fixture.h"

static void sizes(struct kunit *test)
{
	static const struct {
		const char *text;
		u64 value;
	} good[] = {
		{ "0", 0 }, { "1", 1 }, { "65536", SZ_64K }, { "0x10000", SZ_64K },
		{ "0X1f", 31 }, { "010", 8 }, { "64K", SZ_64K }, { "64k", SZ_64K },
		{ "4M", SZ_4M }, { "4m", SZ_4M }, { "2G", SZ_2G }, { "0x10g", 16ULL << 30 },
		{ "0K", 0 }, { "18446744073709551615", U64_MAX },
		{ "0xffffffffffffffff", U64_MAX },
		{ "01777777777777777777777", U64_MAX },
		{ "18014398509481983K", U64_MAX - 1023 }, { "17179869183G", U64_MAX << 30 },
	};
	static const char * const bad[] = {
		"", " ", "K", "M", "-1", "+1", "-1K", "4 M", " 4", "4 ", "4KM", "4KK", "4T",
		"4B", "4.5M", "1e6", "0x", "0xK", "x10", "four", "4\n4", "08", "0x1g2",
		"18446744073709551616", "18014398509481984K", "17179869184G",
		"0x10000000000000000", "99999999999999999999999999",
		"000000000000000000000000000000000000000000000001",
	};
	unsigned int i;
	u64 value;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		value = ~good[i].value;
		KUNIT_EXPECT_EQ_MSG(test, 0, auxtrace_parse_size(good[i].text, &value),
				    "'%s'", good[i].text);
		KUNIT_EXPECT_EQ_MSG(test, good[i].value, value, "'%s'", good[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, auxtrace_parse_size(bad[i], &value),
				    "'%s'", bad[i]);
}

/* Texts of a setting, with what they print as; NULL: refused. */
struct text {
	const char *text;
	const char *printed;
};

static void try_texts(struct kunit *test, enum auxtrace_setting id,
		      const struct text *texts, unsigned int n)
{
	struct auxtrace_settings settings = {}, before;
	char *buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < n; i++) {
		before = settings;
		if (texts[i].printed) {
			KUNIT_EXPECT_EQ_MSG(test, 0,
					    auxtrace_setting_parse(&settings, id, texts[i].text,
								   "test"),
					    "'%s'", texts[i].text);
			KUNIT_EXPECT_TRUE(test, settings.given & BIT(id));
			KUNIT_EXPECT_EQ(test, strlen(texts[i].printed) + 1,
					auxtrace_setting_print(&settings, id, buf));
			KUNIT_EXPECT_TRUE(test, strstarts(buf, texts[i].printed));
			KUNIT_EXPECT_EQ(test, '\n', buf[strlen(texts[i].printed)]);
			/* What is printed can be written. */
			KUNIT_EXPECT_EQ(test, 0, auxtrace_setting_parse(&before, id, buf, "test"));
			KUNIT_EXPECT_MEMEQ(test, &before, &settings, sizeof(before));
		} else {
			KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
					    auxtrace_setting_parse(&settings, id, texts[i].text,
								   "test"),
					    "'%s'", texts[i].text);
			KUNIT_EXPECT_MEMEQ(test, &before, &settings, sizeof(before));
		}
	}
}

#define TRY_TEXTS(test, id, ...) do {					\
	static const struct text texts[] = { __VA_ARGS__ };		\
									\
	try_texts(test, id, texts, ARRAY_SIZE(texts));			\
} while (0)

static void buffer_sizes(struct kunit *test)
{
	TRY_TEXTS(test, AUXTRACE_BUFFER_SIZE,
		  { "8192", "8192" }, { "8K\n", "8192" }, { " 16K ", "16384" },
		  { "1G", "1073741824" }, { "2G", "2147483648" }, { "0x80000000", "2147483648" },
		  { "0", NULL }, { "4096", NULL }, { "8191", NULL }, { "8193", NULL },
		  { "12K", NULL }, { "4G", NULL }, { "3G", NULL }, { "-8192", NULL },
		  { "18446744073709551615", NULL }, { "9223372036854775808", NULL },
		  { "", NULL }, { "\n", NULL }, { "8192 8192", NULL }, { "raw", NULL });
}

static void watermarks(struct kunit *test)
{
	TRY_TEXTS(test, AUXTRACE_WATERMARK,
		  { "0", "0" }, { "1", "1" }, { "12345", "12345" }, { "2G", "2147483648" },
		  { "2147483649", NULL }, { "-1", NULL }, { "18446744073709551615", NULL });
}

static void flush_times(struct kunit *test)
{
	TRY_TEXTS(test, AUXTRACE_FLUSH_MS,
		  { "0", "0" }, { "1", "1" }, { "3600000", "3600000" }, { "0100", "100" },
		  { "3600001", NULL }, { "-1", NULL }, { "1K", NULL }, { "0x10", NULL },
		  { "18446744073709551615", NULL }, { "4294967297", NULL });
}

static void formats(struct kunit *test)
{
	TRY_TEXTS(test, AUXTRACE_FORMAT,
		  { "framed", "framed" }, { "raw\n", "raw" }, { "\tframed\n", "framed" },
		  { "", NULL }, { "RAW", NULL }, { "0", NULL }, { "framedx", NULL },
		  { "ra", NULL });
}

static void configs(struct kunit *test)
{
	static const enum auxtrace_setting ids[] = {
		AUXTRACE_CONFIG, AUXTRACE_CONFIG1, AUXTRACE_CONFIG2,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		TRY_TEXTS(test, ids[i],
			  { "0", "0x0" }, { "10", "0xa" }, { "0x10", "0x10" }, { "010", "0x8" },
			  { "18446744073709551615", "0xffffffffffffffff" },
			  { "+5", "0x5" },
			  { "18446744073709551616", NULL }, { "-1", NULL }, { "1K", NULL },
			  { "0x", NULL }, { "", NULL }, { "raw", NULL });
	if (AUXTRACE_HAVE_CONFIG3)
		TRY_TEXTS(test, AUXTRACE_CONFIG3, { "0x8000000000000000", "0x8000000000000000" });
	else
		TRY_TEXTS(test, AUXTRACE_CONFIG3, { "0", "0x0" }, { "1", NULL });
}

static void periods(struct kunit *test)
{
	TRY_TEXTS(test, AUXTRACE_PERIOD,
		  { "0", "0" }, { "4096", "4096" }, { "0x1000", "4096" },
		  { "9223372036854775807", "9223372036854775807" },
		  { "9223372036854775808", NULL }, { "-1", NULL });
}

static void bools(struct kunit *test)
{
	TRY_TEXTS(test, AUXTRACE_EXCLUDE_USER,
		  { "1", "1" }, { "0", "0" }, { "y", "1" }, { "on", "1" }, { "off", "0" },
		  { "", NULL }, { "2", NULL }, { "-1", NULL }, { "maybe", NULL });
	TRY_TEXTS(test, AUXTRACE_EXCLUDE_KERNEL, { "1", "1" }, { "N", "0" }, { "x", NULL });
}

static void watermark_within_the_buffer(struct kunit *test)
{
	struct auxtrace_settings settings = {
		.value = { [AUXTRACE_BUFFER_SIZE] = SZ_64K },
	};

	KUNIT_EXPECT_EQ(test, 0, auxtrace_settings_check(&settings, "test"));
	settings.value[AUXTRACE_WATERMARK] = SZ_64K;
	KUNIT_EXPECT_EQ(test, 0, auxtrace_settings_check(&settings, "test"));
	settings.value[AUXTRACE_WATERMARK] = SZ_64K + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, auxtrace_settings_check(&settings, "test"));
	settings.value[AUXTRACE_BUFFER_SIZE] = SZ_128K;
	KUNIT_EXPECT_EQ(test, 0, auxtrace_settings_check(&settings, "test"));
}

static void what_is_given_is_no_default(struct kunit *test)
{
	struct auxtrace_settings settings = {};

	auxtrace_setting_default(&settings, AUXTRACE_CONFIG, 5);
	KUNIT_EXPECT_EQ(test, 5, settings.value[AUXTRACE_CONFIG]);
	auxtrace_setting_default(&settings, AUXTRACE_CONFIG, 6);
	KUNIT_EXPECT_EQ(test, 6, settings.value[AUXTRACE_CONFIG]);
	KUNIT_EXPECT_EQ(test, 0, auxtrace_setting_parse(&settings, AUXTRACE_CONFIG, "0", "test"));
	auxtrace_setting_default(&settings, AUXTRACE_CONFIG, 7);
	KUNIT_EXPECT_EQ(test, 0, settings.value[AUXTRACE_CONFIG]);
	/* A refused one is not given. */
	KUNIT_EXPECT_EQ(test, -EINVAL,
			auxtrace_setting_parse(&settings, AUXTRACE_PERIOD, "x", "test"));
	auxtrace_setting_default(&settings, AUXTRACE_PERIOD, 8);
	KUNIT_EXPECT_EQ(test, 8, settings.value[AUXTRACE_PERIOD]);
}

static void every_setting_has_a_name(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < AUXTRACE_NR_SETTINGS; i++) {
		KUNIT_ASSERT_NOT_NULL(test, auxtrace_setting_name(i));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, auxtrace_setting_name(i),
					    auxtrace_setting_name(j));
	}
}

static struct kunit_case settings_cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(buffer_sizes),
	KUNIT_CASE(watermarks),
	KUNIT_CASE(flush_times),
	KUNIT_CASE(formats),
	KUNIT_CASE(configs),
	KUNIT_CASE(periods),
	KUNIT_CASE(bools),
	KUNIT_CASE(watermark_within_the_buffer),
	KUNIT_CASE(what_is_given_is_no_default),
	KUNIT_CASE(every_setting_has_a_name),
	{}
};

struct kunit_suite settings_suite = {
	.name = "auxtrace_settings",
	.test_cases = settings_cases,
};
