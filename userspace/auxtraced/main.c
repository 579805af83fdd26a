// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtraced - record the hardware trace of all CPUs into files, for ever
 *
 * The command line.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "daemon.h"
#include "log.h"

#define EXIT_USAGE  2
#define EXIT_CONFIG 78 /* EX_CONFIG of sysexits.h; the unit knows it */

static void usage(FILE *to)
{
	fputs("Usage: auxtraced [OPTION...]\n"
	      "Records the hardware trace of all CPUs into files, until SIGTERM or SIGINT.\n"
	      "\n"
	      "  -c, --config FILE  the configuration (" CONFIG_FILE ")\n"
	      "      --check        check the configuration, and exit\n"
	      "  -h, --help         this text\n"
	      "  -V, --version      the version\n"
	      "\n"
	      "The manual auxtraced(8) tells more, auxtraced.conf(5) what can be configured.\n",
	      to);
}

static int check(const char *path)
{
	struct config *config;

	if (config_load(&config, path))
		return EXIT_CONFIG;
	config_unref(config);
	return EXIT_SUCCESS;
}

static int finish(void)
{
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "check", no_argument, NULL, 'C' },
		{ "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	const char *path = CONFIG_FILE;
	bool check_only = false;
	int option, ret;

	log_open();
	while ((option = getopt_long(argc, argv, "c:hV", options, NULL)) != -1) {
		switch (option) {
		case 'C':
			check_only = true;
			break;
		case 'c':
			path = optarg;
			break;
		case 'h':
			usage(stdout);
			return finish();
		case 'V':
			puts("auxtraced " AUXTRACE_VERSION);
			return finish();
		default:
			fputs("see auxtraced --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr,
			"auxtraced: '%s': there are no arguments but options; see "
			"auxtraced --help\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	if (check_only)
		return check(path);
	ret = daemon_run(path);
	return !ret ? EXIT_SUCCESS : ret == -EBADMSG ? EXIT_CONFIG : EXIT_FAILURE;
}
