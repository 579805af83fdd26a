// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The metrics, over HTTP. Owns the listening socket; libmicrohttpd speaks HTTP, and is driven
 * by the main loop.
 */
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "http.h"
#include "listen.h"

#define MAX_CONNECTIONS 16
#define TIMEOUT_S	10

#define CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct http {
	struct listen_address address;
	struct MHD_Daemon *daemon;
	sd_event_source *io;
	sd_event_source *timer;
	http_text_function *text;
	void *context;
};

static enum MHD_Result answer_text(struct http *h, struct MHD_Connection *connection)
{
	struct MHD_Response *response;
	enum MHD_Result ret;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return MHD_NO;
	h->text(to, h->context);
	if (fclose(to)) {
		free(text);
		return MHD_NO;
	}
	response = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, CONTENT_TYPE);
	ret = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result answer_error(struct MHD_Connection *connection, unsigned int status,
				    const char *text)
{
	struct MHD_Response *response;
	enum MHD_Result ret;

	response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	(void)version;
	(void)upload;
	(void)request;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
		/* What comes with it is not looked at. */
		*upload_size = 0;
		return answer_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
	}
	if (strcmp(url, "/metrics") && strcmp(url, "/"))
		return answer_error(connection, MHD_HTTP_NOT_FOUND, "see /metrics\n");
	return answer_text(context, connection);
}

static void run(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	MHD_run(h->daemon);
	/* Where there were as many connections as may be, and one ended, this waits for new ones.
	 */
	MHD_run(h->daemon);
	if (MHD_get_timeout(h->daemon, &ms) != MHD_YES) {
		sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time_relative(h->timer, ms * 1000);
	sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *context)
{
	(void)source;
	(void)fd;
	(void)events;
	run(context);
	return 0;
}

static int on_time(sd_event_source *source, uint64_t now, void *context)
{
	(void)source;
	(void)now;
	run(context);
	return 0;
}

static int start(struct http *h, sd_event *event, int fd)
{
	const union MHD_DaemonInfo *info;
	int ret;

	h->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, h,
				     MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				     (unsigned int)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				     (unsigned int)TIMEOUT_S, MHD_OPTION_END);
	if (!h->daemon) {
		close(fd);
		return -ENOMEM;
	}
	info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -EINVAL;
	ret = sd_event_add_io(event, &h->io, info->epoll_fd, EPOLLIN, on_io, h);
	if (ret < 0)
		return ret;
	ret = sd_event_add_time_relative(event, &h->timer, CLOCK_MONOTONIC, 0, 10000, on_time, h);
	return ret < 0 ? ret : 0;
}

int http_open(struct http **http, sd_event *event, const char *where, http_text_function *text,
	      void *context)
{
	struct http *h = calloc(1, sizeof(*h));
	int ret;

	if (!h)
		return -ENOMEM;
	h->text = text;
	h->context = context;
	ret = listen_parse(&h->address, where);
	if (!ret)
		ret = listen_open(&h->address);
	if (ret < 0) {
		free(h);
		return ret;
	}
	ret = start(h, event, ret);
	if (ret) {
		http_close(h);
		return ret;
	}
	*http = h;
	return 0;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	sd_event_source_disable_unref(h->io);
	sd_event_source_disable_unref(h->timer);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	if (h->address.any.sa_family == AF_UNIX)
		unlink(h->address.un.sun_path);
	free(h);
}
