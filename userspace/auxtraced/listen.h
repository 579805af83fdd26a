/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sockets that listen: at a path, or at a loopback address.
 */
#ifndef AUXTRACED_LISTEN_H
#define AUXTRACED_LISTEN_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
	socklen_t size;
};

/*
 * listen_parse() - "/run/x/socket", "127.0.0.1:9815", "[::1]:9815"
 *
 * Return: 0; -EINVAL: none of them, or an address that others reach.
 */
int listen_parse(struct listen_address *address, const char *text);

/*
 * listen_open() - make the socket
 *
 * A socket's file that nobody listens at is replaced; a new one has mode 0660.
 *
 * Return: the descriptor, to be closed; -EADDRINUSE: somebody listens there; or what socket(2),
 * bind(2), listen(2) say.
 */
int listen_open(const struct listen_address *address);

#endif
