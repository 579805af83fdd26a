// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace: finds the subcommand, and runs it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static int run_help(const struct command *command, int argc, char **argv);

static const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "Show what there is, or what a command does",
	.run = run_help,
};

/* In the order of the overview. */
static const struct command *const commands[] = {
	&cmd_doctor, &cmd_load, &cmd_unload, &cmd_list, &cmd_status,
	&cmd_record, &cmd_dump, &cmd_help,   NULL,
};

static const struct command *find(const char *name)
{
	const struct command *const *command = commands;

	while (*command && strcmp((*command)->name, name))
		command++;
	return *command;
}

static void print_overview(FILE *to)
{
	fputs("Usage: auxtrace COMMAND [ARGUMENT...]\n"
	      "Records hardware trace that the kernel module auxtrace streams.\n\n",
	      to);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(to, "  %-10s %s\n", (*command)->name, (*command)->summary);
	fputs("\n"
	      "  -h, --help     this text\n"
	      "  -V, --version  the version\n\n"
	      "'auxtrace COMMAND --help' tells more, the manual auxtrace(1) most.\n",
	      to);
}

static int no_such(const char *name)
{
	fail("no command '%s'; see auxtrace --help", name);
	return EXIT_USAGE;
}

static int run_help(const struct command *command, int argc, char **argv)
{
	const struct command *about;

	if (next_option(command, argc, argv, true) >= 0)
		return EXIT_USAGE;
	if (argc - optind > 1)
		return usage_error(command, "one command at a time");
	if (optind == argc) {
		print_overview(stdout);
		return finish(EXIT_OK);
	}
	about = find(argv[optind]);
	if (!about)
		return no_such(argv[optind]);
	print_help(about, stdout);
	return finish(EXIT_OK);
}

/*
 * Where one of them is closed, no recording gets its number, which messages then would go to.
 * It is opened in a way that what is to be read or written fails as before.
 */
static void keep_standard(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0)
			return;
	}
}

int main(int argc, char **argv)
{
	const struct command *command;

	keep_standard();
	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("auxtrace " AUXTRACE_VERSION);
		return finish(EXIT_OK);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_overview(stdout);
		return finish(EXIT_OK);
	}
	command = find(argv[1]);
	if (!command)
		return no_such(argv[1]);
	return command->run(command, argc - 1, argv + 1);
}
