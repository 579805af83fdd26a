// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What sysfs tells of the devices: which there are, their attributes. Owns the paths.
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define MAX_CPU 65535

int sysfs_vpath(char *path, size_t size, const char *sysfs, const char *format, va_list args)
{
	int n = snprintf(path, size, "%s/", sysfs ? sysfs : "/sys");
	int m;

	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	m = vsnprintf(path + n, size - n, format, args);
	return m < 0 || (size_t)m >= size - n ? -ENAMETOOLONG : 0;
}

static int open_v(const char *sysfs, int flags, const char *format, va_list args)
{
	char path[PATH_MAX];
	int ret = sysfs_vpath(path, sizeof(path), sysfs, format, args);

	if (ret)
		return ret;
	ret = open(path, flags | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

int sysfs_open(const char *sysfs, int flags, const char *format, ...)
{
	va_list args;
	int fd;

	va_start(args, format);
	fd = open_v(sysfs, flags, format, args);
	va_end(args);
	return fd;
}

int sysfs_opendir(DIR **folder, const char *sysfs, const char *path)
{
	int fd = sysfs_open(sysfs, O_RDONLY | O_DIRECTORY, "%s", path);

	if (fd < 0)
		return fd;
	*folder = fdopendir(fd);
	if (*folder)
		return 0;
	close(fd);
	return -ENOMEM;
}

static int read_all(int fd, char *text, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while (have < size) {
		n = read(fd, text + have, size - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		have += n;
	}
	if (have == size || have > INT_MAX)
		return -ENOSPC;
	if (have && text[have - 1] == '\n')
		have--;
	text[have] = '\0';
	return have;
}

int sysfs_read(char *text, size_t size, const char *sysfs, const char *format, ...)
{
	va_list args;
	int fd, ret;

	va_start(args, format);
	fd = open_v(sysfs, O_RDONLY, format, args);
	va_end(args);
	if (fd < 0)
		return fd;
	ret = read_all(fd, text, size);
	close(fd);
	return ret;
}

/* Is there a device for the CPU? */
static int look_for(const char *sysfs, unsigned int cpu)
{
	int fd = sysfs_open(sysfs, O_PATH | O_DIRECTORY, "class/auxtrace/auxtrace%u", cpu);

	if (fd < 0)
		return fd == -ENOENT ? -ENODEV : fd;
	close(fd);
	return 0;
}

/* One that names a file elsewhere is not an attribute's. */
static bool is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

EXPORT int auxtrace_attribute_get(const char *sysfs, unsigned int cpu, const char *name,
				  char *value, size_t size)
{
	int ret = look_for(sysfs, cpu);

	if (ret)
		return ret;
	if (!is_name(name))
		return -ENOENT;
	return sysfs_read(value, size, sysfs, "class/auxtrace/auxtrace%u/%s", cpu, name);
}

EXPORT int auxtrace_attribute_set(const char *sysfs, unsigned int cpu, const char *name,
				  const char *value)
{
	size_t size = strlen(value);
	int fd, ret = look_for(sysfs, cpu);

	if (ret)
		return ret;
	if (!is_name(name))
		return -ENOENT;
	if (!size)
		return -EINVAL;
	fd = sysfs_open(sysfs, O_WRONLY | O_TRUNC, "class/auxtrace/auxtrace%u/%s", cpu, name);
	if (fd < 0)
		return fd;
	if (write(fd, value, size) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

EXPORT uint64_t auxtrace_statistic(const char *stats, const char *name)
{
	size_t n = strlen(name);

	while (stats && *stats) {
		if (!strncmp(stats, name, n) && stats[n] == ' ')
			return strtoull(stats + n, NULL, 10);
		stats = strchr(stats, '\n');
		if (stats)
			stats++;
	}
	return 0;
}

/* CPUs, each once. */
struct cpus {
	unsigned char has[MAX_CPU / 8 + 1];
};

static void add(struct cpus *set, unsigned int cpu)
{
	set->has[cpu / 8] |= 1U << cpu % 8;
}

/* A decimal number up to MAX_CPU, and nothing else; moves @text behind it. */
static bool number(const char **text, unsigned int *value)
{
	if (!isdigit((unsigned char)**text))
		return false;
	for (*value = 0; isdigit((unsigned char)**text); ++*text) {
		*value = *value * 10 + (**text - '0');
		if (*value > MAX_CPU)
			return false;
	}
	return true;
}

static void collect_devices(DIR *folder, struct cpus *set)
{
	static const char prefix[] = "auxtrace";
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		const char *text = entry->d_name + sizeof(prefix) - 1;
		unsigned int cpu;

		if (!strncmp(entry->d_name, prefix, sizeof(prefix) - 1) && number(&text, &cpu) &&
		    !*text)
			add(set, cpu);
	}
}

/* Gives out the list of them, or @none if there are none. */
static int give(const struct cpus *set, int none, unsigned int **cpus, size_t *n)
{
	unsigned int cpu, *list;
	size_t count = 0;

	for (cpu = 0; cpu <= MAX_CPU; cpu++)
		count += set->has[cpu / 8] >> cpu % 8 & 1;
	if (!count)
		return none;
	list = malloc(count * sizeof(*list));
	if (!list)
		return -ENOMEM;
	*cpus = list;
	*n = count;
	for (cpu = 0; cpu <= MAX_CPU; cpu++) {
		if (set->has[cpu / 8] >> cpu % 8 & 1)
			*list++ = cpu;
	}
	return 0;
}

EXPORT int auxtrace_cpus_all(const char *sysfs, unsigned int **cpus, size_t *n)
{
	struct cpus set = {};
	DIR *folder;
	int ret = sysfs_opendir(&folder, sysfs, "class/auxtrace");

	if (ret)
		return ret == -ENOENT ? -ENODEV : ret;
	collect_devices(folder, &set);
	closedir(folder);
	return give(&set, -ENODEV, cpus, n);
}

EXPORT int auxtrace_cpus_parse(const char *list, unsigned int **cpus, size_t *n)
{
	struct cpus set = {};
	unsigned int from, to;

	for (;; list++) {
		if (!number(&list, &from))
			return -EINVAL;
		to = from;
		if (*list == '-') {
			list++;
			if (!number(&list, &to) || to < from)
				return -EINVAL;
		}
		for (; from <= to; from++)
			add(&set, from);
		if (!*list)
			return give(&set, -EINVAL, cpus, n);
		if (*list != ',')
			return -EINVAL;
	}
}
