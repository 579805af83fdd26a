// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The directory of recordings. Owns the list of its files, oldest first, and their sum.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "log.h"
#include "store.h"

#define NAME_SIZE  64
#define STAMP_SIZE 32

struct store_file {
	struct store_file *next;
	struct store *store;
	unsigned int cpu;
	uint64_t size;
	bool open;
	char stamp[STAMP_SIZE];
	char name[NAME_SIZE];
};

struct store {
	atomic_uint references; /* each open file has one */
	int fd;
	pthread_mutex_t lock; /* of what follows */
	char *directory;
	struct store_file *files; /* oldest first */
	struct store_totals totals;
	uint64_t cap;
};

/* ---- Names ---------------------------------------------------------------------- */

static bool is_stamp(const char *text)
{
	const char *like = "00000000T000000.000Z.";

	for (; *like; like++, text++) {
		if (*like == '0' ? !isdigit((unsigned char)*text) : *text != *like)
			return false;
	}
	return !*text;
}

/* Understands the names that store_file_new() makes. */
static bool parse_name(const char *name, unsigned int *cpu, char *stamp)
{
	int n = 0;

	if (sscanf(name, "cpu%5u-%21[0-9TZ.]auxtrace%n", cpu, stamp, &n) != 2 || !n)
		return false;
	return isdigit((unsigned char)name[3]) && is_stamp(stamp) &&
	       (!name[n] || !strcmp(name + n, ".zst"));
}

static void make_stamp(char *stamp, uint64_t ms)
{
	time_t seconds = ms / 1000;
	struct tm utc;
	size_t n;

	gmtime_r(&seconds, &utc);
	n = strftime(stamp, STAMP_SIZE, "%Y%m%dT%H%M%S", &utc);
	snprintf(stamp + n, STAMP_SIZE - n, ".%03uZ.", (unsigned int)(ms % 1000));
}

/* (Not by the descriptor: somebody may have removed the directory, and made another.) */
static void make_path(char path[static PATH_MAX], struct store *s, const char *name)
{
	pthread_mutex_lock(&s->lock);
	snprintf(path, PATH_MAX, "%s/%s", s->directory, name);
	pthread_mutex_unlock(&s->lock);
}

/* ---- The list, under the lock ----------------------------------------------------- */

/* Behind all that are not newer by their names; one that is @made now, behind all. */
static void insert(struct store *s, struct store_file *file, bool made)
{
	struct store_file **at = &s->files;

	while (*at && (made || strcmp((*at)->stamp, file->stamp) <= 0))
		at = &(*at)->next;
	file->next = *at;
	*at = file;
	s->totals.files++;
	s->totals.bytes += file->size;
}

static void take_out(struct store *s, struct store_file *file)
{
	struct store_file **at = &s->files;

	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	s->totals.files--;
	s->totals.bytes -= file->size;
}

/* Takes out the oldest file that may go, if one has to. */
static struct store_file *pick(struct store *s)
{
	struct store_file *file;

	if (!s->cap || s->totals.bytes <= s->cap)
		return NULL;
	for (file = s->files; file && file->open; file = file->next)
		;
	if (file)
		take_out(s, file);
	return file;
}

/* ---- Removing ------------------------------------------------------------------------ */

/* Without the lock: to remove a large file takes a while. */
static void drop(struct store *s, struct store_file *file)
{
	struct counters *counters = counters_of(file->cpu);
	char path[PATH_MAX];

	make_path(path, s, file->name);
	if (unlink(path)) {
		if (errno != ENOENT)
			log_error("cannot remove %s: %s", path, strerror(errno));
	} else if (counters) {
		count(counters, COUNT_DROPPED_FILES, 1);
		count(counters, COUNT_DROPPED_BYTES, file->size);
	}
	free(file);
}

static void keep_cap(struct store *s)
{
	struct store_file *file;

	for (;;) {
		pthread_mutex_lock(&s->lock);
		file = pick(s);
		pthread_mutex_unlock(&s->lock);
		if (!file)
			return;
		drop(s, file);
	}
}

void store_set_cap(struct store *s, uint64_t cap)
{
	pthread_mutex_lock(&s->lock);
	s->cap = cap;
	pthread_mutex_unlock(&s->lock);
	keep_cap(s);
}

/* ---- Files ------------------------------------------------------------------------------ */

struct store_file *store_file_new(struct store *s, unsigned int cpu, bool compressed, uint64_t ms,
				  char *path)
{
	struct store_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->store = store_ref(s);
	file->cpu = cpu;
	file->open = true;
	make_stamp(file->stamp, ms);
	snprintf(file->name, sizeof(file->name), "cpu%u-%sauxtrace%s", cpu, file->stamp,
		 compressed ? ".zst" : "");
	make_path(path, s, file->name);
	pthread_mutex_lock(&s->lock);
	insert(s, file, true);
	pthread_mutex_unlock(&s->lock);
	return file;
}

static void set_size(struct store_file *file, uint64_t size)
{
	file->store->totals.bytes += size - file->size;
	file->size = size;
}

void store_file_grow(struct store_file *file, uint64_t size)
{
	struct store *s = file->store;

	pthread_mutex_lock(&s->lock);
	set_size(file, size);
	pthread_mutex_unlock(&s->lock);
	keep_cap(s);
}

void store_file_end(struct store_file *file, bool keep)
{
	struct store *s = file->store;
	char path[PATH_MAX];
	struct stat st;

	make_path(path, s, file->name);
	if (!keep || lstat(path, &st))
		st.st_size = 0;
	pthread_mutex_lock(&s->lock);
	set_size(file, st.st_size);
	file->open = false;
	if (!keep)
		take_out(s, file);
	pthread_mutex_unlock(&s->lock);
	if (!keep)
		free(file);
	keep_cap(s);
	store_unref(s);
}

int store_file_sync(struct store_file *file)
{
	char path[PATH_MAX];
	int fd, ret;

	make_path(path, file->store, ".");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fsync(fd) ? -errno : 0;
	close(fd);
	return ret;
}

const char *store_file_name(const struct store_file *file)
{
	return file->name;
}

struct store_totals store_totals(struct store *s)
{
	struct store_totals totals;

	pthread_mutex_lock(&s->lock);
	totals = s->totals;
	pthread_mutex_unlock(&s->lock);
	return totals;
}

/* ---- The directory -------------------------------------------------------------------------- */

static int add_file(struct store *s, const char *name)
{
	struct store_file *file;
	struct stat st;
	char stamp[STAMP_SIZE];
	unsigned int cpu;

	if (!parse_name(name, &cpu, stamp) || fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return 0;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->store = s;
	file->cpu = cpu;
	file->size = st.st_size;
	strcpy(file->stamp, stamp);
	strcpy(file->name, name);
	insert(s, file, false);
	return 0;
}

static int scan(struct store *s)
{
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!ret && (errno = 0, entry = readdir(dir)))
		ret = strlen(entry->d_name) < NAME_SIZE ? add_file(s, entry->d_name) : 0;
	if (!ret)
		ret = -errno;
	closedir(dir);
	return ret;
}

int store_open(struct store **store, const char *directory)
{
	struct store *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->references = 1;
	pthread_mutex_init(&s->lock, NULL);
	s->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->directory = strdup(directory);
	if (s->fd < 0)
		ret = -errno;
	else if (!s->directory)
		ret = -ENOMEM;
	else if (faccessat(s->fd, ".", W_OK | X_OK, AT_EACCESS))
		ret = -errno;
	else if (flock(s->fd, LOCK_EX | LOCK_NB))
		ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else
		ret = scan(s);
	if (ret) {
		store_unref(s);
		return ret;
	}
	*store = s;
	return 0;
}

struct store *store_ref(struct store *s)
{
	atomic_fetch_add(&s->references, 1);
	return s;
}

void store_unref(struct store *s)
{
	if (!s || atomic_fetch_sub(&s->references, 1) != 1)
		return;
	while (s->files) {
		struct store_file *next = s->files->next;

		free(s->files);
		s->files = next;
	}
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s->directory);
	free(s);
}

bool store_is_at(const struct store *s, const char *directory)
{
	struct stat ours, there;

	return !fstat(s->fd, &ours) && !stat(directory, &there) && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

void store_set_path(struct store *s, const char *directory)
{
	char *copy = strdup(directory);

	if (!copy)
		return;
	pthread_mutex_lock(&s->lock);
	free(s->directory);
	s->directory = copy;
	pthread_mutex_unlock(&s->lock);
}
