/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * check - how a test program ends when something is not as it should be
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s: %s:%d: %s is false (errno %s)\n",                     \
				program_invocation_short_name, __FILE_NAME__, __LINE__,            \
				#condition, strerrorname_np(errno));                               \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* The call fails with this errno. */
#define FAILS(call, error)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK((call) == -1);                                                               \
		CHECK(errno == (error));                                                           \
	} while (0)

#endif
