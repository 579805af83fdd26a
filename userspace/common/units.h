/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes, durations and numbers as people write and read them.
 */
#ifndef AUXTRACE_UNITS_H
#define AUXTRACE_UNITS_H

#include <stdint.h>

/* Room for what the functions print, the NUL included. */
#define UNITS_LEN 32

/*
 * parse_number() - "4096" or "0x1000"
 * parse_size() - bytes: "4096", "0x1000", "64K", "4M", "1G", "2T"; binary units, one
 *	letter of either case
 * parse_duration() - nanoseconds of "10s", "5m", "2h", "1d", "250ms", "10us", "7ns"; a
 *	number alone means seconds
 *
 * No sign, no white space, no fractions.
 *
 * Return: 0; -EINVAL for what is no such text, -ERANGE where the value does not fit;
 * *value is then unchanged.
 */
int parse_number(const char *text, uint64_t *value);
int parse_size(const char *text, uint64_t *bytes);
int parse_duration(const char *text, uint64_t *ns);

/*
 * format_size() - bytes in the largest binary unit that leaves a number of 1 or more,
 *	with a decimal where that is below 10 and not whole: "512", "4K", "1.5M", "20G"
 * format_duration() - nanoseconds in the two largest units: "250ms", "1.5s", "2m 05s",
 *	"3h 20m", "2d 01h"
 *
 * Return: text.
 */
const char *format_size(char text[static UNITS_LEN], uint64_t bytes);
const char *format_duration(char text[static UNITS_LEN], uint64_t ns);

#endif /* AUXTRACE_UNITS_H */
