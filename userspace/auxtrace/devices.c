// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The devices that a subcommand works on. Owns nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"

const char *sysfs(void)
{
	return getenv("AUXTRACE_SYSFS");
}

static int not_loaded(int error)
{
	if (error == -ENODEV)
		return fail("there are no devices: the module is not loaded; see auxtrace load");
	return fail("cannot list the devices: %s", strerror(-error));
}

static bool has(const unsigned int *cpus, size_t n, unsigned int cpu)
{
	while (n) {
		if (cpus[--n] == cpu)
			return true;
	}
	return false;
}

int choose_cpus(const struct command *command, const char *list, unsigned int **cpus, size_t *n)
{
	unsigned int *all, *chosen;
	size_t nr_all, nr_chosen, i;
	int ret;

	if (list && auxtrace_cpus_parse(list, &chosen, &nr_chosen))
		return usage_error(command, "'%s' is no list of CPUs such as 0-3,8", list);
	ret = auxtrace_cpus_all(sysfs(), &all, &nr_all);
	if (ret) {
		if (list)
			free(chosen);
		return not_loaded(ret);
	}
	if (!list) {
		*cpus = all;
		*n = nr_all;
		return EXIT_OK;
	}
	for (i = 0; i < nr_chosen && has(all, nr_all, chosen[i]); i++)
		;
	free(all);
	if (i < nr_chosen) {
		ret = fail("CPU %u has no device; auxtrace list shows those there are", chosen[i]);
		free(chosen);
		return ret;
	}
	*cpus = chosen;
	*n = nr_chosen;
	return EXIT_OK;
}
