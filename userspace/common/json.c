// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes JSON as it comes. Owns nothing: what is open is for the caller to know.
 */
#include <inttypes.h>

#include "json.h"
#include "text.h"

static void put_text(FILE *to, const char *text)
{
	putc('"', to);
	while (*text) {
		int len = text_length(text);

		if (!len) {
			fputs("\\ufffd", to);
			len = 1;
		} else if (*text == '"' || *text == '\\') {
			fprintf(to, "\\%c", *text);
		} else if (text_is_control(text)) {
			/* (Of two bytes the second is the code.) */
			fprintf(to, "\\u%04x", (unsigned char)text[len - 1]);
		} else {
			fwrite(text, 1, len, to);
		}
		text += len;
	}
	putc('"', to);
}

static void begin_value(struct json *json, const char *name)
{
	if (json->comma)
		fputs(", ", json->to);
	json->comma = true;
	if (name) {
		put_text(json->to, name);
		fputs(": ", json->to);
	}
}

void json_open(struct json *json, const char *name, char bracket)
{
	begin_value(json, name);
	putc(bracket, json->to);
	json->comma = false;
}

void json_close(struct json *json, char bracket)
{
	putc(bracket, json->to);
	json->comma = true;
}

void json_string(struct json *json, const char *name, const char *text)
{
	begin_value(json, name);
	if (text)
		put_text(json->to, text);
	else
		fputs("null", json->to);
}

void json_number(struct json *json, const char *name, uint64_t value)
{
	begin_value(json, name);
	fprintf(json->to, "%" PRIu64, value);
}

void json_bool(struct json *json, const char *name, bool value)
{
	begin_value(json, name);
	fputs(value ? "true" : "false", json->to);
}

void json_end_line(struct json *json)
{
	putc('\n', json->to);
	json->comma = false;
}
