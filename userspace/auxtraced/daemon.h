/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon: all streams, in one loop.
 */
#ifndef AUXTRACED_DAEMON_H
#define AUXTRACED_DAEMON_H

/*
 * daemon_run() - record until SIGTERM or SIGINT
 * @path:	of the configuration
 *
 * Return: 0; or -errno, logged; -EBADMSG: the configuration has an error, or cannot be read.
 */
int daemon_run(const char *path);

#endif
