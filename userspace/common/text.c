// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Texts of others, and what of them a terminal may get. Owns nothing.
 */
#include <stdint.h>
#include <string.h>

#include "text.h"

int text_length(const char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t code;
	int len;

	if (*bytes < 0x80)
		return 1;
	else if (*bytes >> 5 == 0x6)
		len = 2;
	else if (*bytes >> 4 == 0xe)
		len = 3;
	else if (*bytes >> 3 == 0x1e)
		len = 4;
	else
		return 0;
	code = *bytes & (0x7f >> len);
	for (int i = 1; i < len; i++) {
		if (bytes[i] >> 6 != 0x2)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

bool text_is_control(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (*bytes == 0xc2)
		return bytes[1] >= 0x80 && bytes[1] < 0xa0;
	return *bytes < 0x20 || *bytes == 0x7f;
}

/* Bytes of what is at *text, which goes on behind it; *good: may it be shown? */
static int take(const char **text, bool *good)
{
	int len = text_length(*text);

	*good = len && !text_is_control(*text);
	len = len ? len : 1;
	*text += len;
	return len;
}

void text_clean(char *text)
{
	const char *from = text;

	while (*from) {
		const char *at = from;
		bool good;
		int len = take(&from, &good);

		if (good) {
			memmove(text, at, len);
			text += len;
		} else {
			*text++ = '?';
		}
	}
	*text = '\0';
}

void text_print(FILE *to, const char *text)
{
	while (*text) {
		const char *at = text;
		bool good;
		int len = take(&text, &good);

		if (good)
			fwrite(at, 1, len, to);
		else
			putc('?', to);
	}
}
