// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes JSON as it comes. Owns nothing: what is open is for the caller to know.
 */
#include <inttypes.h>
#include <string.h>

#include "json.h"

/* Bytes of the UTF-8 character at @text; 0 if it is none. */
static int character_length(const unsigned char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code;
	int len;

	if (*text < 0x80)
		return 1;
	else if (*text >> 5 == 0x6)
		len = 2;
	else if (*text >> 4 == 0xe)
		len = 3;
	else if (*text >> 3 == 0x1e)
		len = 4;
	else
		return 0;
	code = *text & (0x7f >> len);
	for (int i = 1; i < len; i++) {
		if (text[i] >> 6 != 0x2)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

static void put_text(FILE *to, const char *text)
{
	putc('"', to);
	while (*text) {
		int len = character_length((const unsigned char *)text);

		if (!len) {
			fputs("\\ufffd", to);
			len = 1;
		} else if (*text == '"' || *text == '\\') {
			fprintf(to, "\\%c", *text);
		} else if (len == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f)) {
			fprintf(to, "\\u%04x", *text);
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
