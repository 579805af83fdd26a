// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What /proc, /sys and /etc tell, of this system or of a copy. Owns nothing.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"
#include "tree.h"

static bool full_path(const char *root, const char *path, char full[static PATH_MAX])
{
	int len = snprintf(full, PATH_MAX, "%s%s", root, path);

	return len >= 0 && len < PATH_MAX;
}

bool tree_read(const char *root, const char *path, char *text, size_t size)
{
	char full[PATH_MAX];
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	*text = '\0';
	if (!full_path(root, path, full))
		return false;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	close(fd);
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	return n >= 0;
}

bool tree_has(const char *root, const char *path)
{
	char full[PATH_MAX];

	return full_path(root, path, full) && !access(full, F_OK);
}

int tree_each(const char *root, const char *path, int (*visit)(const char *name, void *data),
	      void *data)
{
	char full[PATH_MAX];
	struct dirent **entries;
	int n, ret = 0;

	if (!full_path(root, path, full))
		return 0;
	n = scandir(full, &entries, NULL, versionsort);
	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		if (!ret && entries[i]->d_name[0] != '.')
			ret = visit(entries[i]->d_name, data);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

void tree_release(const char *root, char *release, size_t size)
{
	tree_read(root, "/proc/sys/kernel/osrelease", release, size);
}

void append(char *text, size_t size, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;
	int added;

	va_start(args, format);
	added = vsnprintf(text + len, size - len, format, args);
	va_end(args);
	if (added >= 0 && (size_t)added >= size - len && size > 4)
		strcpy(text + size - 4, "...");
}

struct search {
	const char *root;
	enum open_kind kind;
	const char *device;
	char *text;
	size_t size;
	int found;
	const char *pid;
	bool named; /* this process is in the text */
};

static bool is_sought(const struct search *search, const char *target)
{
	static const char device[] = "/dev/auxtrace";

	if (search->kind == OPEN_PERF)
		return !strcmp(target, "anon_inode:[perf_event]");
	if (search->device)
		return !strcmp(target, search->device);
	if (strncmp(target, device, strlen(device)))
		return false;
	target += strlen(device);
	return *target && !target[strspn(target, "0123456789")];
}

static int visit_fd(const char *name, void *data)
{
	char full[PATH_MAX], link[64], target[PATH_MAX], path[64], comm[32];
	struct search *search = data;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%.20s/fd/%.20s", search->pid, name);
	if (!full_path(search->root, link, full))
		return 0;
	len = readlink(full, target, sizeof(target) - 1);
	if (len < 0)
		return 0;
	target[len] = '\0';
	if (!is_sought(search, target))
		return 0;
	if (!search->named) {
		snprintf(path, sizeof(path), "/proc/%.20s/comm", search->pid);
		tree_read(search->root, path, comm, sizeof(comm));
		text_clean(comm);
		append(search->text, search->size, "%s%s (%s)", search->found ? ", " : "", comm,
		       search->pid);
		search->found++;
		search->named = true;
	}
	if (search->kind == OPEN_DEVICE)
		append(search->text, search->size, " %s", target);
	return search->kind == OPEN_PERF;
}

static int visit_process(const char *name, void *data)
{
	struct search *search = data;
	char path[64];

	if (!isdigit(*name))
		return 0;
	search->pid = name;
	search->named = false;
	snprintf(path, sizeof(path), "/proc/%.20s/fd", name);
	tree_each(search->root, path, visit_fd, search);
	return 0;
}

static int find_openers(struct search *search)
{
	*search->text = '\0';
	tree_each(search->root, "/proc", visit_process, search);
	return search->found;
}

int tree_openers(const char *root, enum open_kind kind, char *text, size_t size)
{
	struct search search = { .root = root, .kind = kind, .text = text, .size = size };

	return find_openers(&search);
}

int tree_device_openers(const char *root, const char *device, char *text, size_t size)
{
	struct search search = {
		.root = root, .kind = OPEN_DEVICE, .device = device, .text = text, .size = size
	};

	return find_openers(&search);
}

struct line_search {
	const char *root;
	const char *folder;
	const char *keyword;
	const char *module;
	char *path;
	size_t size;
};

static bool names_module(const char *word, const char *module)
{
	for (; *word && *module; word++, module++) {
		if (*word != *module && !(*word == '-' && *module == '_'))
			return false;
	}
	return !*word && !*module;
}

static int visit_config(const char *name, void *data)
{
	char full[PATH_MAX], keyword[32], module[64], *line = NULL;
	struct line_search *search = data;
	size_t len = strlen(name), room = 0;
	FILE *file;
	int found = 0;

	if (len < 5 || strcmp(name + len - 5, ".conf"))
		return 0;
	snprintf(search->path, search->size, "%s/%s", search->folder, name);
	if (!full_path(search->root, search->path, full))
		return 0;
	file = fopen(full, "re");
	if (!file)
		return 0;
	while (!found && getline(&line, &room, file) > 0)
		found = sscanf(line, " %31s %63s", keyword, module) == 2 &&
			!strcmp(keyword, search->keyword) && names_module(module, search->module);
	free(line);
	fclose(file);
	return found;
}

bool tree_modprobe_line(const char *root, const char *keyword, const char *module, char *path,
			size_t size)
{
	static const char *const folders[] = { "/etc/modprobe.d", "/run/modprobe.d",
					       "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
					       "/lib/modprobe.d" };
	struct line_search search = {
		.root = root, .keyword = keyword, .module = module, .path = path, .size = size
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		search.folder = folders[i];
		if (tree_each(root, search.folder, visit_config, &search))
			return true;
	}
	*path = '\0';
	return false;
}
