/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * die - how a test program ends when the test cannot be done
 */
#ifndef TESTS_DIE_H
#define TESTS_DIE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(2);
}

static inline int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

#endif
