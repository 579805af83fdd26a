// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What subcommands share: options, help, messages. Owns nothing; getopt's globals are
 * used by the one subcommand that runs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "text.h"

#define MAX_OPTIONS 40
#define HELP_KEY    'h'

/* Column of the explanations in a help. */
#define HELP_COLUMN 26

static void print_option(FILE *to, const struct option_info *info)
{
	int width = 2;

	fputs("  ", to);
	if (info->key < 256)
		width += fprintf(to, "-%c, ", info->key);
	else
		width += fprintf(to, "    ");
	width += fprintf(to, "--%s", info->name);
	if (info->arg)
		width += fprintf(to, " %s", info->arg);
	if (width > HELP_COLUMN - 2)
		fprintf(to, "\n%*s%s\n", HELP_COLUMN, "", info->help);
	else
		fprintf(to, "%*s%s\n", HELP_COLUMN - width, "", info->help);
}

void print_help(const struct command *command, FILE *to)
{
	static const struct option_info help = { HELP_KEY, "help", NULL, "this text" };
	const struct option_info *info;

	fprintf(to, "Usage: auxtrace %s [OPTION...]%s%s\n%s.\n\n", command->name,
		*command->args ? " " : "", command->args, command->summary);
	for (info = command->options; info && info->name; info++)
		print_option(to, info);
	print_option(to, &help);
	if (command->details)
		fprintf(to, "\n%s", command->details);
}

/* The one of argv that getopt just refused: a letter of a cluster, or all of it. */
static int wrong_option(const struct command *command, char **argv, int what)
{
	const char *problem = what == ':' ? "needs an argument" : "is unknown or ambiguous";
	const char *word = argv[optind - 1];

	if (optopt && optopt < 256 && strncmp(word, "--", 2))
		return usage_error(command, "option -%c %s", optopt, problem);
	if (what == '?' && optopt)
		problem = "takes no argument";
	return usage_error(command, "option %s %s", word, problem);
}

int next_option(const struct command *command, int argc, char **argv, bool permute)
{
	struct option longs[MAX_OPTIONS] = { { "help", no_argument, NULL, HELP_KEY } };
	char shorts[3 * MAX_OPTIONS], *end = shorts;
	const struct option_info *info;
	int n = 1, key;

	if (!permute)
		*end++ = '+';
	*end++ = ':';
	*end++ = HELP_KEY;
	for (info = command->options; info && info->name && n < MAX_OPTIONS - 1; info++) {
		longs[n].name = info->name;
		longs[n].has_arg = info->arg ? required_argument : no_argument;
		longs[n++].val = info->key;
		if (info->key < 256) {
			*end++ = info->key;
			if (info->arg)
				*end++ = ':';
		}
	}
	*end = '\0';

	opterr = 0;
	key = getopt_long(argc, argv, shorts, longs, NULL);
	if (key == HELP_KEY) {
		print_help(command, stdout);
		exit(finish(EXIT_OK));
	}
	if (key == '?' || key == ':')
		exit(wrong_option(command, argv, key));
	return key;
}

static void complain(const char *format, va_list args)
{
	char *text;

	fflush(stdout);
	fputs("auxtrace: ", stderr);
	if (vasprintf(&text, format, args) < 0)
		return;
	/* Names of files are others' texts, maybe. */
	text_clean(text);
	fputs(text, stderr);
	free(text);
}

int usage_error(const struct command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	fprintf(stderr, "; see auxtrace %s --help\n", command->name);
	return EXIT_USAGE;
}

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	putc('\n', stderr);
	return EXIT_FAILED;
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	putc('\n', stderr);
}

int finish(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	return fail("cannot write to standard output: %s", strerror(errno));
}

bool may_color(FILE *to)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!no_color || !*no_color) && term && strcmp(term, "dumb") && isatty(fileno(to));
}
