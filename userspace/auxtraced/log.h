/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages on stderr, a line each, from any thread.
 */
#ifndef AUXTRACED_LOG_H
#define AUXTRACED_LOG_H

/* Whether stderr is the journal's, which wants to be told the priority of each line. */
void log_open(void);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
