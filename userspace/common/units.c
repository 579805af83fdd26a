// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sizes, durations and numbers as people write and read them. Owns nothing.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS (1000 * NS_PER_US)
#define NS_PER_S  (1000 * NS_PER_MS)

/* Reads the number at the start of @text, in which @end then is right behind it. */
static int leading_number(const char *text, const char **end, uint64_t *value)
{
	int base = text[0] == '0' && tolower(text[1]) == 'x' ? 16 : 10;
	char *rest;

	if (!isdigit(*text) || (base == 16 && !isxdigit(text[2])))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &rest, base);
	*end = rest;
	return -errno;
}

static int scale(uint64_t number, uint64_t unit, uint64_t *value)
{
	uint64_t product;

	if (__builtin_mul_overflow(number, unit, &product))
		return -ERANGE;
	*value = product;
	return 0;
}

int parse_number(const char *text, uint64_t *value)
{
	const char *end;
	uint64_t number;
	int ret = leading_number(text, &end, &number);

	if (ret)
		return ret;
	if (*end)
		return -EINVAL;
	*value = number;
	return 0;
}

int parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	uint64_t number, unit = 1;
	const char *end, *letter;
	int ret = leading_number(text, &end, &number);

	if (ret)
		return ret;
	if (*end) {
		letter = strchr(units, toupper(*end));
		if (!letter || end[1])
			return -EINVAL;
		unit = 1ULL << (10 * (letter - units + 1));
	}
	return scale(number, unit, bytes);
}

int parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", NS_PER_S },
		{ "s", NS_PER_S },
		{ "ms", NS_PER_MS },
		{ "us", NS_PER_US },
		{ "ns", 1 },
		{ "m", 60 * NS_PER_S },
		{ "min", 60 * NS_PER_S },
		{ "h", 3600 * NS_PER_S },
		{ "d", 24 * 3600 * NS_PER_S },
	};
	uint64_t number;
	const char *end;
	int ret = leading_number(text, &end, &number);

	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(end, units[i].name))
			return scale(number, units[i].ns, ns);
	}
	return -EINVAL;
}

const char *format_size(char text[static UNITS_LEN], uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	uint64_t whole = bytes, unit = 1;
	int n = -1;

	while (whole >= 1024) {
		whole /= 1024;
		unit *= 1024;
		n++;
	}
	if (n < 0) {
		snprintf(text, UNITS_LEN, "%" PRIu64, bytes);
	} else {
		uint64_t tenth = bytes % unit * 10 / unit;

		if (whole < 10 && tenth)
			snprintf(text, UNITS_LEN, "%" PRIu64 ".%" PRIu64 "%c", whole, tenth,
				 units[n]);
		else
			snprintf(text, UNITS_LEN, "%" PRIu64 "%c", whole, units[n]);
	}
	return text;
}

const char *format_duration(char text[static UNITS_LEN], uint64_t ns)
{
	uint64_t seconds = ns / NS_PER_S;

	if (ns < NS_PER_US)
		snprintf(text, UNITS_LEN, "%" PRIu64 "ns", ns);
	else if (ns < NS_PER_MS)
		snprintf(text, UNITS_LEN, "%" PRIu64 "us", ns / NS_PER_US);
	else if (ns < NS_PER_S)
		snprintf(text, UNITS_LEN, "%" PRIu64 "ms", ns / NS_PER_MS);
	else if (seconds < 60)
		snprintf(text, UNITS_LEN, "%" PRIu64 ".%" PRIu64 "s", seconds,
			 ns % NS_PER_S / (100 * NS_PER_MS));
	else if (seconds < 3600)
		snprintf(text, UNITS_LEN, "%" PRIu64 "m %02" PRIu64 "s", seconds / 60,
			 seconds % 60);
	else if (seconds < 86400)
		snprintf(text, UNITS_LEN, "%" PRIu64 "h %02" PRIu64 "m", seconds / 3600,
			 seconds / 60 % 60);
	else
		snprintf(text, UNITS_LEN, "%" PRIu64 "d %02" PRIu64 "h", seconds / 86400,
			 seconds / 3600 % 24);
	return text;
}
