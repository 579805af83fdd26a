/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts of others, such as the names of processes, and what a recording from elsewhere has:
 * control characters in them could do anything to a terminal.
 */
#ifndef AUXTRACE_TEXT_H
#define AUXTRACE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* text_length() - bytes of the UTF-8 character at @text, which is not empty; 0: it is none. */
int text_length(const char *text);

/* text_is_control() - is the character at @text one of U+0000 to 1F, 7F to 9F? */
bool text_is_control(const char *text);

/*
 * text_clean() - makes '?' of control characters, newlines too, and of what is no UTF-8
 * text_print() - prints it like that
 */
void text_clean(char *text);
void text_print(FILE *to, const char *text);

#endif /* AUXTRACE_TEXT_H */
