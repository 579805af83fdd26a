/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What /proc, /sys and /etc tell, of this system or of a copy in a directory (--root).
 *
 * @root is that directory, without a slash at its end; "" for this system. Paths begin
 * with a slash.
 */
#ifndef AUXTRACE_TREE_H
#define AUXTRACE_TREE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * tree_read() - the file's text, of at most @size - 1 bytes, without newlines at the end
 * Return: false, and *text empty, if it cannot be read.
 */
bool tree_read(const char *root, const char *path, char *text, size_t size);

bool tree_has(const char *root, const char *path);

/*
 * tree_each() - calls @visit for each entry of the directory, in the order of their
 *	names, until it returns something other than 0
 * Return: what @visit returned last; 0 if there is no such directory.
 */
int tree_each(const char *root, const char *path, int (*visit)(const char *name, void *data),
	      void *data);

/* tree_release() - the kernel's release; "" if /proc does not tell. */
void tree_release(const char *root, char *release, size_t size);

/* What processes have open. */
enum open_kind {
	OPEN_DEVICE, /* /dev/auxtrace<N> */
	OPEN_PERF,   /* perf events */
};

/*
 * tree_openers() - who has such files open, as "cat (1234) /dev/auxtrace0, ..."
 * @text: out: without control characters; cut with "..." where it is too long
 *
 * Sees other users' processes only as root.
 * Return: how many processes.
 */
int tree_openers(const char *root, enum open_kind kind, char *text, size_t size);

/* tree_device_openers() - the same for one device: "/dev/auxtrace0" */
int tree_device_openers(const char *root, const char *device, char *text, size_t size);

/*
 * tree_modprobe_line() - finds a line "KEYWORD MODULE ..." in modprobe.d's folders
 * @path: out: the file
 */
bool tree_modprobe_line(const char *root, const char *keyword, const char *module, char *path,
			size_t size);

/* append() - adds to the text at its end; what does not fit becomes "...". */
void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif /* AUXTRACE_TREE_H */
