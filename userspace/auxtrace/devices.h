/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The devices that a subcommand works on.
 */
#ifndef AUXTRACE_DEVICES_H
#define AUXTRACE_DEVICES_H

#include <stddef.h>

#include "auxtrace.h"
#include "command.h"

/* sysfs() - where sysfs is mounted, for libauxtrace: $AUXTRACE_SYSFS, or NULL. */
const char *sysfs(void);

/* The option -C, which several subcommands have, for their tables. */
#define OPTION_CPU                                                                                 \
	{                                                                                          \
		'C', "cpu", "CPUS", "these CPUs alone, such as 0-3,8"                              \
	}

/*
 * choose_cpus() - those of a list, or all that have a device
 * @list: the argument of -C, or NULL
 * @cpus: out: to be freed
 * @n: out: how many, 1 at least
 *
 * Return: EXIT_OK; or EXIT_USAGE or EXIT_FAILED after a line that says what is wrong.
 */
int choose_cpus(const struct command *command, const char *list, unsigned int **cpus, size_t *n);

#endif /* AUXTRACE_DEVICES_H */
