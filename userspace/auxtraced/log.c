// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages on stderr. Owns whether they begin with a priority.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "log.h"

#define MAX_LINE 2048

static bool to_journal; /* set once, before there are threads */

void log_open(void)
{
	to_journal = getenv("JOURNAL_STREAM");
}

/* One write, so that lines of several threads do not mix. */
static void log_line(const char *priority, const char *format, va_list args)
{
	char line[MAX_LINE];
	int n = snprintf(line, sizeof(line), "%sauxtraced: ", to_journal ? priority : "");

	n += vsnprintf(line + n, sizeof(line) - n, format, args);
	if (n > MAX_LINE - 1)
		n = MAX_LINE - 1;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* there is nowhere else to say it */
}

#define DEFINE_LOG(name, priority)                                                                 \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		log_line(priority, format, args);                                                  \
		va_end(args);                                                                      \
	}

DEFINE_LOG(log_error, SD_ERR)
DEFINE_LOG(log_warning, SD_WARNING)
DEFINE_LOG(log_info, SD_INFO)
