/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metrics, over HTTP, in the main loop.
 */
#ifndef AUXTRACED_HTTP_H
#define AUXTRACED_HTTP_H

#include <stdio.h>
#include <systemd/sd-event.h>

struct http;

/* Writes the text. */
typedef void http_text_function(FILE *to, void *context);

/*
 * http_open() - answer GET of / and /metrics
 * @http:	out: to be closed by http_close()
 * @where:	as listen_parse() takes it
 *
 * Return: 0, or -errno as listen_open().
 */
int http_open(struct http **http, sd_event *event, const char *where, http_text_function *text,
	      void *context);

/* Removes the socket's file; NULL does nothing. */
void http_close(struct http *http);

#endif
