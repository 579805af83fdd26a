// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings: their text forms, ranges and module parameters.
 *
 * Owns auxtrace_defaults, which module parameters write before the module's
 * init runs and PMU discovery completes within it; constant afterwards, so no
 * lock. Sets of values elsewhere are guarded by who embeds them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/auxtrace.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "kernel_features.h"
#include "settings.h"

struct auxtrace_settings auxtrace_defaults = {
	.value = {
		[AUXTRACE_BUFFER_SIZE] = AUXTRACE_DEFAULT_BUFFER_SIZE,
		[AUXTRACE_FLUSH_MS] = AUXTRACE_DEFAULT_FLUSH_MS,
	},
};

/*
 * The largest buffer. The perf core keeps pointers to its pages in one
 * physically contiguous array (rb_alloc_aux()), which with pages of 4 KiB can
 * describe no more.
 */
#define MAX_BUFFER_SIZE	(2ULL << 30)

static const char * const format_names[] = {
	[AUXTRACE_FORMAT_RAW] = "raw",
	[AUXTRACE_FORMAT_FRAMED] = "framed",
};

/**
 * auxtrace_parse_size() - a number of bytes: "65536", "0x10000", "64K", "4M", "1G"
 * @text:	without white space
 * @value:	out
 *
 * Unlike memparse() it does not take what is too large for something else.
 *
 * Return: 0 or -EINVAL.
 */
int auxtrace_parse_size(const char *text, u64 *value)
{
	static const char units[] = "KMG";
	size_t len = strlen(text);
	unsigned int shift = 0;
	char number[24];
	const char *unit;

	unit = len ? strchr(units, toupper(text[len - 1])) : NULL;
	if (unit && *unit) {
		shift = 10 * (unit - units + 1);
		len--;
	}
	if (!len || len >= sizeof(number) || !isdigit(*text))
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = '\0';
	if (kstrtou64(number, 0, value) || *value > U64_MAX >> shift)
		return -EINVAL;
	*value <<= shift;
	return 0;
}

static int parse_buffer_size(const char *text, u64 *value)
{
	if (auxtrace_parse_size(text, value) || !is_power_of_2(*value) ||
	    *value < AUXTRACE_MIN_BUFFER_SIZE || *value > MAX_BUFFER_SIZE)
		return -EINVAL;
	return 0;
}

static int parse_watermark(const char *text, u64 *value)
{
	if (auxtrace_parse_size(text, value) || *value > MAX_BUFFER_SIZE)
		return -EINVAL;
	return 0;
}

static int parse_flush_ms(const char *text, u64 *value)
{
	if (kstrtou64(text, 10, value) || *value > AUXTRACE_MAX_FLUSH_MS)
		return -EINVAL;
	return 0;
}

static int parse_format(const char *text, u64 *value)
{
	int i = match_string(format_names, ARRAY_SIZE(format_names), text);

	if (i < 0)
		return -EINVAL;
	*value = i;
	return 0;
}

static int parse_u64(const char *text, u64 *value)
{
	return kstrtou64(text, 0, value) ? -EINVAL : 0;
}

static int parse_config3(const char *text, u64 *value)
{
	if (parse_u64(text, value) || (*value && !AUXTRACE_HAVE_CONFIG3))
		return -EINVAL;
	return 0;
}

/* The perf core refuses a sample_period with the top bit set. */
static int parse_period(const char *text, u64 *value)
{
	return parse_u64(text, value) || *value > S64_MAX ? -EINVAL : 0;
}

/* kstrtobool() looks at the first character alone: 0x1 would be 0, and 10 be 1. */
static int parse_bool(const char *text, u64 *value)
{
	bool on;

	if (isdigit(*text))
		return parse_u64(text, value) || *value > 1 ? -EINVAL : 0;
	if (kstrtobool(text, &on))
		return -EINVAL;
	*value = on;
	return 0;
}

/**
 * struct setting_info - what there is to know of a setting
 * @name:	name of the parameter and of the attribute
 * @parse:	text to value; -EINVAL leaves the value undefined
 * @print:	format of the value; NULL for the format's name
 * @wanted:	what a good value is, for the log
 */
struct setting_info {
	const char *name;
	int (*parse)(const char *text, u64 *value);
	const char *print;
	const char *wanted;
};

#define WANT_U64	"a number from 0 to 2^64 - 1"
#define WANT_BOOL	"0 or 1"

static const struct setting_info setting_info[AUXTRACE_NR_SETTINGS] = {
	[AUXTRACE_BUFFER_SIZE] = { "buffer_size", parse_buffer_size, "%llu",
		"bytes, a power of two, two pages at least, 2G at most" },
	[AUXTRACE_WATERMARK] = { "watermark", parse_watermark, "%llu",
		"bytes, at most buffer_size; 0 for half of it" },
	[AUXTRACE_FLUSH_MS] = { "flush_ms", parse_flush_ms, "%llu",
		"milliseconds from 1 to 3600000; 0 for never" },
	[AUXTRACE_FORMAT] = { "format", parse_format, NULL, "raw or framed" },
	[AUXTRACE_CONFIG] = { "config", parse_u64, "0x%llx", WANT_U64 },
	[AUXTRACE_CONFIG1] = { "config1", parse_u64, "0x%llx", WANT_U64 },
	[AUXTRACE_CONFIG2] = { "config2", parse_u64, "0x%llx", WANT_U64 },
	[AUXTRACE_CONFIG3] = { "config3", parse_config3, "0x%llx",
		AUXTRACE_HAVE_CONFIG3 ? WANT_U64 : "0, this kernel's perf has no config3" },
	[AUXTRACE_PERIOD] = { "period", parse_period, "%llu",
		"a number from 0 to 2^63 - 1" },
	[AUXTRACE_EXCLUDE_USER] = { "exclude_user", parse_bool, "%llu", WANT_BOOL },
	[AUXTRACE_EXCLUDE_KERNEL] = { "exclude_kernel", parse_bool, "%llu", WANT_BOOL },
};

/**
 * auxtrace_setting_name() - the name that users know
 * @id:		the setting
 *
 * Return: the name.
 */
const char *auxtrace_setting_name(enum auxtrace_setting id)
{
	return setting_info[id].name;
}

/* A watermark that nobody has given goes with the buffer. */
static void follow_buffer(struct auxtrace_settings *settings)
{
	if (settings->watermark_part)
		auxtrace_setting_default(settings, AUXTRACE_WATERMARK,
					 settings->value[AUXTRACE_BUFFER_SIZE] /
						 settings->watermark_part);
}

/**
 * auxtrace_setting_parse() - set one setting from text
 * @settings:	where; unchanged on error
 * @id:		which
 * @text:	the value, white space around it ignored
 * @who:	for the log: whose setting it is
 *
 * Looks at this value alone; auxtrace_settings_check() at how it goes with the
 * others.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL after a line in the log, -ENOMEM.
 */
int auxtrace_setting_parse(struct auxtrace_settings *settings,
			   enum auxtrace_setting id, const char *text,
			   const char *who)
{
	const struct setting_info *info = &setting_info[id];
	char *copy, *stripped;
	u64 value;
	int ret;

	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	stripped = strim(copy);

	ret = info->parse(stripped, &value);
	if (ret) {
		pr_notice("%s: %s=%.64s refused: want %s\n", who,
			  info->name, stripped, info->wanted);
	} else {
		settings->value[id] = value;
		settings->given |= BIT(id);
		follow_buffer(settings);
	}
	kfree(copy);
	return ret;
}

/**
 * auxtrace_setting_print() - print one setting as text
 * @settings:	of which
 * @id:		which one
 * @buf:	a page, from its start
 *
 * Return: bytes printed, with a newline at the end.
 */
int auxtrace_setting_print(const struct auxtrace_settings *settings,
			   enum auxtrace_setting id, char *buf)
{
	u64 value = settings->value[id];
	int len;

	if (id == AUXTRACE_FORMAT)
		return sysfs_emit(buf, "%s\n", format_names[value]);
	len = sysfs_emit(buf, setting_info[id].print, value);
	return len + sysfs_emit_at(buf, len, "\n");
}

/**
 * auxtrace_settings_check() - do the values go together?
 * @settings:	the values
 * @who:	for the log: whose settings they are
 *
 * Return: 0, or -EINVAL after a line in the log.
 */
int auxtrace_settings_check(const struct auxtrace_settings *settings,
			    const char *who)
{
	if (settings->value[AUXTRACE_WATERMARK] <=
	    settings->value[AUXTRACE_BUFFER_SIZE])
		return 0;
	pr_notice("%s: buffer_size=%llu with watermark=%llu refused: a watermark is at most the buffer's size\n",
		  who, settings->value[AUXTRACE_BUFFER_SIZE],
		  settings->value[AUXTRACE_WATERMARK]);
	return -EINVAL;
}

/**
 * auxtrace_setting_default() - set a value unless somebody has given one
 * @settings:	where
 * @id:		which
 * @value:	the value
 */
void auxtrace_setting_default(struct auxtrace_settings *settings,
			      enum auxtrace_setting id, u64 value)
{
	if (!(settings->given & BIT(id)))
		settings->value[id] = value;
}

/**
 * auxtrace_setting_default_watermark() - have it go with the buffer, unless given
 * @settings:	where
 * @part:	which part of the buffer it is: 4 for a quarter
 */
void auxtrace_setting_default_watermark(struct auxtrace_settings *settings,
					unsigned int part)
{
	settings->watermark_part = part;
	follow_buffer(settings);
}

static int set_param(const char *text, const struct kernel_param *kp)
{
	enum auxtrace_setting id = (uintptr_t)kp->arg;
	int ret = auxtrace_setting_parse(&auxtrace_defaults, id, text, "parameter");

	/* (The kernel calls the value invalid, whatever it was.) */
	if (ret == -ENOMEM)
		pr_notice("parameter: %s: out of memory\n", setting_info[id].name);
	return ret;
}

static int get_param(char *buf, const struct kernel_param *kp)
{
	return auxtrace_setting_print(&auxtrace_defaults, (uintptr_t)kp->arg, buf);
}

static const struct kernel_param_ops setting_ops = {
	.set = set_param,
	.get = get_param,
};

#define SETTING_PARAM(name, id, description)				\
	module_param_cb(name, &setting_ops, (void *)(id), 0444);	\
	MODULE_PARM_DESC(name, description)

SETTING_PARAM(buffer_size, AUXTRACE_BUFFER_SIZE,
	      "AUX buffer of each CPU in bytes, a power of two, two pages at least (default 4M)");
SETTING_PARAM(watermark, AUXTRACE_WATERMARK,
	      "bytes after which a reader is woken; 0: half of the buffer (default 0, for intel_pt a quarter of the buffer)");
SETTING_PARAM(flush_ms, AUXTRACE_FLUSH_MS,
	      "how long a reader waits at most for data below the watermark, in milliseconds (default 100; 0: for ever)");
SETTING_PARAM(format, AUXTRACE_FORMAT, "format of the stream: raw (default) or framed");
SETTING_PARAM(config, AUXTRACE_CONFIG,
	      "the PMU's settings, as in perf_event_attr (default: a useful trace for the PMU)");
SETTING_PARAM(config1, AUXTRACE_CONFIG1, "likewise");
SETTING_PARAM(config2, AUXTRACE_CONFIG2, "likewise");
SETTING_PARAM(config3, AUXTRACE_CONFIG3, "likewise, where the kernel has it");
SETTING_PARAM(period, AUXTRACE_PERIOD,
	      "sample period of the event (default: what suits the PMU)");
SETTING_PARAM(exclude_user, AUXTRACE_EXCLUDE_USER, "do not trace user space (default 0)");
SETTING_PARAM(exclude_kernel, AUXTRACE_EXCLUDE_KERNEL, "do not trace the kernel (default 0)");
