// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The configuration: reads it, and says what is wrong with it.
 *
 * Owns the table of keys. inih takes the lines apart; which line it is at is counted here.
 */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace.h"
#include "config.h"
#include "listen.h"
#include "log.h"
#include "units.h"

#define MAX_LEVEL     19
#define MIN_FILE_SIZE (64 << 10)
#define MIN_TOTAL     (1 << 20)
#define MAX_CPU	      65535

struct parser {
	FILE *file;
	const char *path;
	struct config *config;
	unsigned int line;
	bool failed;
	uint64_t seen; /* bits of the table's rows */
	bool no_memory;
};

/* A row's function sets the value and returns true, or says what would be right. */
struct key {
	const char *name;
	bool (*set)(struct config *config, const char *value);
	const char *right;
};

static bool set_text(char **to, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return false;
	free(*to);
	*to = copy;
	return true;
}

static bool set_cpus(struct config *c, const char *value)
{
	if (!strcmp(value, "all"))
		return true;
	return !auxtrace_cpus_parse(value, &c->cpus, &c->nr_cpus);
}

static bool set_directory(struct config *c, const char *value)
{
	return value[0] == '/' && set_text(&c->directory, value);
}

static bool set_compression(struct config *c, const char *value)
{
	uint64_t level;

	if (!strcmp(value, "none")) {
		c->compression = 0;
		return true;
	}
	if (parse_number(value, &level) || level < 1 || level > MAX_LEVEL)
		return false;
	c->compression = level;
	return true;
}

static bool set_mode(struct config *c, const char *value)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	if (value[0] < '0' || value[0] > '7' || *end || mode > 0777 || !(mode & 0200))
		return false;
	c->mode = mode;
	return true;
}

/* 0, or at least @min. */
static bool set_size(uint64_t *to, const char *value, uint64_t min)
{
	uint64_t size;

	if (parse_size(value, &size) || (size && size < min))
		return false;
	*to = size;
	return true;
}

static bool set_file_size(struct config *c, const char *value)
{
	return set_size(&c->file_size, value, MIN_FILE_SIZE);
}

static bool set_total_size(struct config *c, const char *value)
{
	return set_size(&c->total_size, value, MIN_TOTAL);
}

static bool set_file_age(struct config *c, const char *value)
{
	uint64_t age;

	if (parse_duration(value, &age) || (age && age < 1000000000))
		return false;
	c->file_age = age;
	return true;
}

static bool set_sync(struct config *c, const char *value)
{
	uint64_t period;

	if (!strcmp(value, "never")) {
		c->sync = SYNC_NEVER;
	} else if (!strcmp(value, "rotation")) {
		c->sync = SYNC_ROTATION;
	} else {
		if (parse_duration(value, &period) || period < 1000000000)
			return false;
		c->sync = SYNC_PERIODIC;
		c->sync_period = period;
	}
	return true;
}

static bool set_metrics(struct config *c, const char *value)
{
	struct listen_address address;

	return (!strcmp(value, "none") || !listen_parse(&address, value)) &&
	       set_text(&c->metrics, value);
}

static const struct key keys[] = {
	{ "cpus", set_cpus, "all, or a list like 0-3,8" },
	{ "directory", set_directory, "an absolute path" },
	{ "compression", set_compression, "none, or zstd's level, 1 to 19" },
	{ "mode", set_mode, "a mode in octal that lets the owner write, like 0640" },
	{ "file_size", set_file_size, "a size of 64K or more (K, M, G, T), or 0" },
	{ "file_age", set_file_age, "a duration of 1s or more (s, m, h, d), or 0" },
	{ "total_size", set_total_size, "a size of 1M or more (K, M, G, T), or 0" },
	{ "sync", set_sync, "never, rotation, or a duration of 1s or more (s, m, h, d)" },
	{ "metrics", set_metrics,
	  "none, an absolute path of a socket, or an address of this machine's own and a port "
	  "like 127.0.0.1:9815 or [::1]:9815" },
};

#define NR_KEYS (sizeof(keys) / sizeof(*keys))

/* ---- Lines -------------------------------------------------------------------- */

static void wrong(struct parser *p, const char *name, const char *what, const char *right)
{
	p->failed = true;
	log_error("%s:%u: %s: %s%s%s", p->path, p->line, name, what, right ? ": it takes " : "",
		  right ?: "");
}

static void set_source(struct parser *p, const char *name, const char *value)
{
	struct config *c = p->config;
	struct config_source *more;
	uint64_t cpu;

	if (parse_number(name + strlen("source."), &cpu) || cpu > MAX_CPU) {
		wrong(p, name, "no such CPU", "a number up to 65535 behind 'source.'");
		return;
	}
	if (config_source_of(c, cpu)) {
		wrong(p, name, "is set twice", NULL);
		return;
	}
	if (value[0] != '/') {
		wrong(p, name, "no such path", "the absolute path of a named pipe");
		return;
	}
	more = reallocarray(c->sources, c->nr_sources + 1, sizeof(*more));
	if (!more) {
		p->no_memory = true;
		return;
	}
	c->sources = more;
	more[c->nr_sources].cpu = cpu;
	more[c->nr_sources].path = strdup(value);
	if (!more[c->nr_sources].path)
		p->no_memory = true;
	else
		c->nr_sources++;
}

static void no_such_key(struct parser *p, const char *name)
{
	char names[512] = "";
	size_t i, n = 0;

	for (i = 0; i < NR_KEYS; i++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "", keys[i].name);
	p->failed = true;
	log_error("%s:%u: %s: there is no such key; there are %s", p->path, p->line, name, names);
}

/* inih's: of each line with a key. 0 would be an error that is told by nothing but a number. */
static int take_line(void *user, const char *section, const char *name, const char *value)
{
	struct parser *p = user;
	size_t i;

	if (*section) {
		wrong(p, section, "there are no sections: remove the line with the brackets", NULL);
		return 1;
	}
	if (!strncmp(name, "source.", strlen("source."))) {
		set_source(p, name, value);
		return 1;
	}
	for (i = 0; i < NR_KEYS && strcmp(name, keys[i].name); i++)
		;
	if (i == NR_KEYS) {
		no_such_key(p, name);
	} else if (p->seen & 1ULL << i) {
		wrong(p, name, "is set twice", NULL);
	} else if (!keys[i].set(p->config, value)) {
		char what[256];

		snprintf(what, sizeof(what), "not '%.200s'", value);
		wrong(p, name, what, keys[i].right);
	}
	if (i < NR_KEYS)
		p->seen |= 1ULL << i;
	return 1;
}

/* inih's: the next line. Blanks before it would make it a part of the one before. */
static char *read_line(char *line, int size, void *user)
{
	struct parser *p = user;
	const char *text;
	int rest = 0;

	if (!fgets(line, size, p->file))
		return NULL;
	p->line++;
	if (!strchr(line, '\n') && !feof(p->file)) {
		log_error("%s:%u: the line is too long: %d characters at most", p->path, p->line,
			  size - 2);
		p->failed = true;
		while (rest != '\n' && rest != EOF)
			rest = getc(p->file);
		*line = '\0';
	}
	text = line + strspn(line, " \t");
	memmove(line, text, strlen(text) + 1);
	return line;
}

/* ---- All of it ------------------------------------------------------------------ */

static struct config *defaults(void)
{
	const char *state = getenv("STATE_DIRECTORY"), *runtime = getenv("RUNTIME_DIRECTORY");
	struct config *c = calloc(1, sizeof(*c));
	char socket[256];

	if (!c)
		return NULL;
	c->references = 1;
	c->mode = 0640;
	c->file_size = 64 << 20;
	c->file_age = 3600ULL * 1000000000;
	c->total_size = 1ULL << 30;
	c->sync = SYNC_ROTATION;
	snprintf(socket, sizeof(socket), "%s/metrics.sock", runtime ?: "/run/auxtraced");
	c->directory = strdup(state ?: "/var/lib/auxtrace");
	c->metrics = strdup(socket);
	if (!c->directory || !c->metrics) {
		config_unref(c);
		return NULL;
	}
	return c;
}

int config_load(struct config **config, const char *path)
{
	struct parser p = { .path = path };
	int ret;

	p.config = defaults();
	if (!p.config)
		return -ENOMEM;
	p.file = fopen(path, "re");
	if (!p.file) {
		ret = -errno;
		log_error("%s: %s", path, strerror(errno));
		goto fail;
	}
	ret = ini_parse_stream(read_line, &p, take_line, &p);
	if (ferror(p.file)) {
		log_error("%s: %s", path, strerror(errno));
		p.failed = true;
	}
	fclose(p.file);
	if (ret > 0 && !p.failed) {
		log_error("%s:%d: neither a comment nor KEY = VALUE", path, ret);
		p.failed = true;
	}
	ret = p.no_memory || ret < 0 ? -ENOMEM : p.failed ? -EINVAL : 0;
	if (ret)
		goto fail;
	*config = p.config;
	return 0;
fail:
	config_unref(p.config);
	return ret;
}

struct config *config_ref(struct config *c)
{
	c->references++;
	return c;
}

void config_unref(struct config *c)
{
	size_t i;

	if (!c || --c->references)
		return;
	for (i = 0; i < c->nr_sources; i++)
		free(c->sources[i].path);
	free(c->sources);
	free(c->cpus);
	free(c->directory);
	free(c->metrics);
	free(c);
}

const char *config_source_of(const struct config *c, unsigned int cpu)
{
	size_t i;

	for (i = 0; i < c->nr_sources; i++) {
		if (c->sources[i].cpu == cpu)
			return c->sources[i].path;
	}
	return NULL;
}
