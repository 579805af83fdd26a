/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What subcommands share: how they are described and found, their options, messages
 * and exit codes.
 *
 * A subcommand NAME is added so:
 * 1. cmd-NAME.c has its options as a table of struct option_info, its
 *	const struct command cmd_NAME = { ... };
 *    and the function. --help is made from these.
 * 2. cmd_NAME is declared below and listed in main.c; meson.build lists the file.
 * 3. man/auxtrace-NAME.1.scd describes it, with the summary as its NAME, and man/auxtrace.1.scd
 *    and man/meson.build list it. A test compares the options in --help, manual and
 *    completion. Options complete by themselves, and their arguments by what these are
 *    called: CPUS, EVENT, PMU, DIR, FILE, WHERE (a file or folder).
 */
#ifndef AUXTRACE_COMMAND_H
#define AUXTRACE_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Exit codes, as auxtrace(1) tells them. A subcommand with others of its own says so
 * in its manual.
 */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* a line on stderr says why and what to do */
	EXIT_USAGE = 2,	 /* wrong command line; nothing was done */
};

/*
 * struct option_info - an option of a subcommand. A table ends with an empty one.
 * --help is not in it: it comes by itself.
 * @key: the short option's letter; a number from 256 on where there is none
 * @name: the long option, without dashes
 * @arg: what the help calls its argument, in capitals; NULL: it has none
 * @help: one line, without a full stop
 */
struct option_info {
	int key;
	const char *name;
	const char *arg;
	const char *help;
};

/*
 * struct command - a subcommand
 * @name: how it is called
 * @args: its arguments behind the options, for the usage line; may be ""
 * @summary: what it does, one line without a full stop
 * @details: paragraphs for --help behind the options, or NULL
 * @options: its options, or NULL
 * @run: does it. argv[0] is the name of the subcommand, argv[argc] NULL. Returns the
 *	exit code.
 */
struct command {
	const char *name;
	const char *args;
	const char *summary;
	const char *details;
	const struct option_info *options;
	int (*run)(const struct command *command, int argc, char **argv);
};

extern const struct command cmd_doctor;
extern const struct command cmd_load;
extern const struct command cmd_unload;

/*
 * next_option() - getopt_long() over the command's options
 *
 * Options end at the first argument that is none, or behind "--"; where @permute is set
 * they may also stand behind such arguments. --help prints the help and exits. A wrong
 * option exits with EXIT_USAGE after a line that says what is wrong.
 *
 * Return: the option's key, its argument in optarg; -1: no more, the arguments begin
 * at argv[optind].
 */
int next_option(const struct command *command, int argc, char **argv, bool permute);

void print_help(const struct command *command, FILE *to);

/*
 * usage_error() - a line about a wrong command line, and where to read about it
 * Return: EXIT_USAGE.
 */
int usage_error(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * fail() - one line on stderr, without control characters: what went wrong and what to do
 *	about it
 * Return: EXIT_FAILED.
 */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* warn() - one line on stderr: what should be known, though work goes on. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * finish() - @code, or EXIT_FAILED with a line if what was printed to stdout could
 * not all be written. For the end of commands whose output matters.
 */
int finish(int code);

/*
 * may_color() - may output to @to have colours? Only on a terminal that is not "dumb",
 * and not where NO_COLOR is set and not empty. Nothing else about output depends on it.
 */
bool may_color(FILE *to);

extern const struct command cmd_dump;
extern const struct command cmd_list;
extern const struct command cmd_record;
extern const struct command cmd_status;

#endif /* AUXTRACE_COMMAND_H */
