/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes JSON as it comes, without building it in memory.
 */
#ifndef AUXTRACE_JSON_H
#define AUXTRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * struct json - a document that is being written. Begin with
 *	struct json json = { .to = stdout };
 * Commas, and quotes where they are needed, come by themselves. A value in an object is
 * given with its name, one in an array, or the document itself, with NULL for a name.
 * @to: where
 * @comma: the next value needs one before it
 */
struct json {
	FILE *to;
	bool comma;
};

void json_open(struct json *json, const char *name, char bracket); /* '{' or '[' */
void json_close(struct json *json, char bracket);		   /* '}' or ']' */

/*
 * json_string() - @text in UTF-8, control characters (C1 too) escaped; bytes that are no
 *	UTF-8 become U+FFFD. NULL: null.
 * json_number() - all of a u64; readers that take it for a double lose what is
 *	above 2^53.
 */
void json_string(struct json *json, const char *name, const char *text);
void json_number(struct json *json, const char *name, uint64_t value);
void json_bool(struct json *json, const char *name, bool value);

/* json_end_line() - a newline after a document; the next value begins a new one. */
void json_end_line(struct json *json);

#endif /* AUXTRACE_JSON_H */
