/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a user may set, for the module as a whole (parameters) and for each
 * device (attributes): values, ranges, text forms.
 */
#ifndef AUXTRACE_SETTINGS_H
#define AUXTRACE_SETTINGS_H

#include <linux/types.h>

/* Names of the settings, in the order of setting_info[] in settings.c. */
enum auxtrace_setting {
	AUXTRACE_BUFFER_SIZE,
	AUXTRACE_WATERMARK,
	AUXTRACE_FLUSH_MS,
	AUXTRACE_FORMAT,
	AUXTRACE_CONFIG,
	AUXTRACE_CONFIG1,
	AUXTRACE_CONFIG2,
	AUXTRACE_CONFIG3,
	AUXTRACE_PERIOD,
	AUXTRACE_EXCLUDE_USER,
	AUXTRACE_EXCLUDE_KERNEL,
	AUXTRACE_NR_SETTINGS
};

/* Default of buffer_size, and the least: the PMUs want two pages. */
#define AUXTRACE_DEFAULT_BUFFER_SIZE	(4UL << 20)
#define AUXTRACE_MIN_BUFFER_SIZE	(2 * PAGE_SIZE)

/* Default and most of flush_ms, in milliseconds. */
#define AUXTRACE_DEFAULT_FLUSH_MS	100
#define AUXTRACE_MAX_FLUSH_MS		3600000

/**
 * struct auxtrace_settings - one set of values
 * @value:	by enum auxtrace_setting: @AUXTRACE_BUFFER_SIZE and
 *		@AUXTRACE_WATERMARK (0: the kernel's default, half of the buffer)
 *		in bytes, @AUXTRACE_FLUSH_MS in milliseconds (0: never),
 *		@AUXTRACE_FORMAT as &enum auxtrace_format, the others as in struct
 *		perf_event_attr
 * @given:	bit mask by enum auxtrace_setting: what somebody has set, as
 *		opposed to a default
 * @watermark_part: a watermark that nobody has set is this part of the buffer, as 4
 *		for a quarter; 0: it is 0
 *
 * Guarded by whoever embeds it.
 */
struct auxtrace_settings {
	u64 value[AUXTRACE_NR_SETTINGS];
	unsigned long given;
	unsigned int watermark_part;
};

extern struct auxtrace_settings auxtrace_defaults;

int auxtrace_parse_size(const char *text, u64 *value);
const char *auxtrace_setting_name(enum auxtrace_setting id);
int auxtrace_setting_parse(struct auxtrace_settings *settings,
			   enum auxtrace_setting id, const char *text,
			   const char *who);
int auxtrace_setting_print(const struct auxtrace_settings *settings,
			   enum auxtrace_setting id, char *buf);
int auxtrace_settings_check(const struct auxtrace_settings *settings,
			    const char *who);
void auxtrace_setting_default(struct auxtrace_settings *settings,
			      enum auxtrace_setting id, u64 value);
void auxtrace_setting_default_watermark(struct auxtrace_settings *settings,
					unsigned int part);

#endif /* AUXTRACE_SETTINGS_H */
