// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sockets that listen. Owns nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "listen.h"
#include "units.h"

#define BACKLOG 16

static int parse_path(struct listen_address *a, const char *path)
{
	if (strlen(path) >= sizeof(a->un.sun_path))
		return -EINVAL;
	a->un.sun_family = AF_UNIX;
	strcpy(a->un.sun_path, path);
	a->size = sizeof(a->un);
	return 0;
}

int listen_parse(struct listen_address *a, const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	uint64_t port;
	size_t n;

	memset(a, 0, sizeof(*a));
	if (text[0] == '/')
		return parse_path(a, text);
	if (!colon || (size_t)(colon - text) >= sizeof(host) || parse_number(colon + 1, &port) ||
	    !port || port > 65535)
		return -EINVAL;
	n = colon - text;
	memcpy(host, text, n);
	host[n] = '\0';
	if (host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons(port);
		a->size = sizeof(a->in6);
		if (inet_pton(AF_INET6, host + 1, &a->in6.sin6_addr) != 1)
			return -EINVAL;
		return IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr) ? 0 : -EINVAL;
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons(port);
	a->size = sizeof(a->in);
	if (inet_pton(AF_INET, host, &a->in.sin_addr) != 1)
		return -EINVAL;
	return ntohl(a->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? 0 : -EINVAL;
}

/* Did its process end without removing it? */
static bool is_left_over(const struct listen_address *a)
{
	struct stat st;
	bool refused;
	int fd;

	if (a->any.sa_family != AF_UNIX || lstat(a->un.sun_path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	refused = connect(fd, &a->any, a->size) && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static int bind_to(int fd, const struct listen_address *a)
{
	int one = 1;

	if (a->any.sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	else if (is_left_over(a))
		unlink(a->un.sun_path);
	/* Nobody gets in before it has its mode, whatever the umask. */
	if (a->any.sa_family == AF_UNIX && fchmod(fd, 0600))
		return -errno;
	if (bind(fd, &a->any, a->size))
		return -errno;
	if (a->any.sa_family == AF_UNIX && chmod(a->un.sun_path, 0660))
		return -errno;
	return 0;
}

int listen_open(const struct listen_address *a)
{
	int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret;

	if (fd < 0)
		return -errno;
	ret = bind_to(fd, a);
	if (!ret && listen(fd, BACKLOG))
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}
