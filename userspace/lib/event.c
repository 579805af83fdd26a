// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event settings in perf's syntax: understood by the PMU's format/ folder, and applied to a
 * device's attributes. Owns nothing.
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define NR_CONFIGS 4

static const char *const config_names[NR_CONFIGS] = { "config", "config1", "config2", "config3" };

/* What is being parsed. */
struct parse {
	struct auxtrace_event *event;
	const char *sysfs;
	char *message;
	size_t size;
};

/* Says what is wrong. Returns @error. */
__attribute__((format(printf, 3, 4))) static int wrong(const struct parse *p, int error,
						       const char *format, ...)
{
	va_list args;

	if (!p->message || !p->size)
		return error;
	va_start(args, format);
	vsnprintf(p->message, p->size, format, args);
	va_end(args);
	return error;
}

static int config_index(const char *name)
{
	int i;

	for (i = 0; i < NR_CONFIGS; i++) {
		if (!strcmp(name, config_names[i]))
			return i;
	}
	return -1;
}

/* A number and nothing else: decimal, or hexadecimal with 0x. */
static bool parse_number(const char *text, uint64_t *value)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && !*end;
}

/* ---- The PMU's folder ----------------------------------------------------------------- */

/* Appends the names in the folder, as long as there is room. */
static void list_names(char *text, size_t size, const char *sysfs, const char *folder)
{
	struct dirent *entry;
	size_t n = 0;
	DIR *files;

	*text = '\0';
	if (sysfs_opendir(&files, sysfs, folder))
		return;
	while ((entry = readdir(files))) {
		if (*entry->d_name == '.' || n + strlen(entry->d_name) + 3 > size)
			continue;
		n += snprintf(text + n, size - n, "%s%s", n ? ", " : "", entry->d_name);
	}
	closedir(files);
}

static int no_such_pmu(const struct parse *p)
{
	char names[512];

	list_names(names, sizeof(names), p->sysfs, "bus/event_source/devices");
	return wrong(p, -ENODEV, "no PMU '%s': there are %s", p->event->pmu,
		     *names ? names : "none (is /sys mounted?)");
}

static int no_such_term(const struct parse *p, const char *term)
{
	char folder[128], names[512];

	snprintf(folder, sizeof(folder), "bus/event_source/devices/%s/format", p->event->pmu);
	list_names(names, sizeof(names), p->sysfs, folder);
	return wrong(p, -ENOENT,
		     "%s has no term '%s': there are %s%sconfig, config1, config2, config3, period",
		     p->event->pmu, term, names, *names ? ", " : "");
}

/* ---- Terms --------------------------------------------------------------------------------- */

/* "10", "0-7": the mask of these bits, or 0. Moves @text behind. */
static uint64_t parse_range(const char **text)
{
	char *end;
	unsigned long low, high;

	if (!isdigit((unsigned char)**text))
		return 0;
	low = strtoul(*text, &end, 10);
	high = low;
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return 0;
		high = strtoul(end + 1, &end, 10);
	}
	*text = end;
	if (low > high || high > 63)
		return 0;
	return (~0ULL >> (63 - (high - low))) << low;
}

/*
 * Spreads a value over the bits of a format: its lowest go to the first range, and so on.
 * Returns false if it has more bits, or if the format is none.
 */
static bool spread(const char *ranges, uint64_t value, uint64_t *bits, uint64_t *mask)
{
	*bits = 0;
	*mask = 0;
	for (;; ranges++) {
		uint64_t range = parse_range(&ranges);
		int width = __builtin_popcountll(range);

		if (!range)
			return false;
		*bits |= (value << __builtin_ctzll(range)) & range;
		*mask |= range;
		value = width == 64 ? 0 : value >> width;
		if (*ranges != ',')
			return !*ranges && !value;
	}
}

static void set_config(const struct parse *p, int index, uint64_t bits, uint64_t mask)
{
	p->event->config[index] = (p->event->config[index] & ~mask) | bits;
	p->event->mask[index] |= mask;
}

static int parse_term(const struct parse *p, const char *name, const char *text)
{
	uint64_t value = 1, bits, mask;
	char format[256], *colon;
	int index;

	if (text && !parse_number(text, &value))
		return wrong(p, -EINVAL, "'%s' of %s is not a number (decimal, or 0x...)", text,
			     name);
	index = config_index(name);
	if (index >= 0) {
		set_config(p, index, value, ~0ULL);
		return 0;
	}
	if (!strcmp(name, "period")) {
		p->event->set |= AUXTRACE_EVENT_SET_PERIOD;
		p->event->period = value;
		return 0;
	}
	if (*name == '.' || strchr(name, '/') ||
	    sysfs_read(format, sizeof(format), p->sysfs, "bus/event_source/devices/%s/format/%s",
		       p->event->pmu, name) < 0)
		return no_such_term(p, name);
	colon = strchr(format, ':');
	if (colon)
		*colon++ = '\0';
	index = config_index(format);
	if (!colon || index < 0)
		return wrong(p, -ENOENT, "%s's term '%s' is none that can be set", p->event->pmu,
			     name);
	if (!spread(colon, value, &bits, &mask))
		return wrong(p, -ERANGE, "%s=%s does not fit in its bits, %s:%s", name,
			     text ? text : "1", format, colon);
	set_config(p, index, bits, mask);
	return 0;
}

/* @terms is changed. */
static int parse_terms(const struct parse *p, char *terms)
{
	char *term;
	int ret;

	if (!*terms)
		return 0;
	while ((term = strsep(&terms, ","))) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (!*term || (value && !*value))
			return wrong(p, -EINVAL,
				     "a term or a value is missing: write TERM or TERM=VALUE, "
				     "with commas between");
		ret = parse_term(p, term, value);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_modifiers(const struct parse *p, const char *modifiers)
{
	struct auxtrace_event *event = p->event;
	bool user = strchr(modifiers, 'u'), kernel = strchr(modifiers, 'k');
	const char *other = modifiers + strspn(modifiers, "uk");

	if (*other)
		return wrong(p, -EINVAL, "no modifier '%c': there are u (user space), k (kernel)",
			     *other);
	if (!*modifiers)
		return 0;
	event->set |= AUXTRACE_EVENT_SET_EXCLUDE_USER | AUXTRACE_EVENT_SET_EXCLUDE_KERNEL;
	event->exclude_user = !user;
	event->exclude_kernel = !kernel;
	return 0;
}

static int parse_pmu(const struct parse *p, const char *name)
{
	int fd;

	if (!*name || *name == '.')
		return wrong(p, -EINVAL, "no PMU's name: write PMU/TERM=VALUE,.../");
	if (strlen(name) >= sizeof(p->event->pmu))
		return wrong(p, -ENODEV, "no PMU '%s'", name);
	strcpy(p->event->pmu, name);
	fd = sysfs_open(p->sysfs, O_PATH, "bus/event_source/devices/%s", name);
	if (fd < 0)
		return no_such_pmu(p);
	close(fd);
	return 0;
}

/* @text is changed. */
static int parse_event(const struct parse *p, char *text)
{
	char *terms = strchr(text, '/'), *modifiers = NULL;
	int ret;

	if (terms) {
		*terms++ = '\0';
		modifiers = strchr(terms, '/');
		if (!modifiers)
			return wrong(p, -EINVAL, "the second '/' is missing: write %s/%s/", text,
				     terms);
		*modifiers++ = '\0';
	}
	ret = parse_pmu(p, text);
	if (terms) {
		ret = ret ?: parse_terms(p, terms);
		ret = ret ?: parse_modifiers(p, modifiers);
	}
	return ret;
}

EXPORT int auxtrace_event_parse(struct auxtrace_event *event, const char *text, const char *sysfs,
				char *message, size_t size)
{
	struct auxtrace_event full = { .size = sizeof(full) };
	struct parse p = { .event = &full, .sysfs = sysfs, .message = message, .size = size };
	uint32_t room = event->size;
	char *copy;
	int ret;

	if (room < sizeof(*event))
		return wrong(&p, -EINVAL, "auxtrace_event::size is not set");
	copy = strdup(text);
	if (!copy)
		return wrong(&p, -ENOMEM, "out of memory");
	ret = parse_event(&p, copy);
	free(copy);
	if (!ret) {
		memcpy(event, &full, sizeof(full));
		event->size = room;
	}
	return ret;
}

/* ---- Applying -------------------------------------------------------------------------------- */

static int get_number(const char *sysfs, unsigned int cpu, const char *name, uint64_t *value)
{
	char text[64];
	int ret = auxtrace_attribute_get(sysfs, cpu, name, text, sizeof(text));

	if (ret < 0)
		return ret;
	return parse_number(text, value) ? 0 : -EINVAL;
}

static int set_number(const char *sysfs, unsigned int cpu, const char *name, uint64_t value)
{
	char text[32];

	/* (What is yes or no would take 0x1 for a 0.) */
	snprintf(text, sizeof(text), strncmp(name, "config", 6) ? "%llu" : "0x%llx",
		 (unsigned long long)value);
	return auxtrace_attribute_set(sysfs, cpu, name, text);
}

/* An attribute to be set, and what it was before. */
struct change {
	const char *name;
	uint64_t value;
	uint64_t mask; /* bits of @value that count */
	uint64_t before;
	bool done;
};

static int apply_one(struct change *c, unsigned int cpu, const char *sysfs)
{
	uint64_t value;
	int ret;

	if (!c->mask)
		return 0;
	ret = get_number(sysfs, cpu, c->name, &c->before);
	if (ret)
		return ret;
	value = (c->before & ~c->mask) | (c->value & c->mask);
	if (value != c->before)
		ret = set_number(sysfs, cpu, c->name, value);
	c->done = !ret;
	return ret;
}

static void undo(struct change *changes, size_t n, unsigned int cpu, const char *sysfs)
{
	while (n--) {
		if (changes[n].done)
			set_number(sysfs, cpu, changes[n].name, changes[n].before);
	}
}

static int check_pmu(const struct auxtrace_event *event, unsigned int cpu, const char *sysfs)
{
	char pmu[64];
	int ret = auxtrace_attribute_get(sysfs, cpu, "pmu", pmu, sizeof(pmu));

	if (ret < 0)
		return ret;
	return strcmp(pmu, event->pmu) ? -EXDEV : 0;
}

#define NR_CHANGES (NR_CONFIGS + 3)

static void give_before(struct auxtrace_event *before, const struct auxtrace_event *event,
			const struct change *changes)
{
	uint32_t size = before->size;
	int i;

	*before = *event;
	before->size = size;
	for (i = 0; i < NR_CONFIGS; i++) {
		before->config[i] = changes[i].before;
		before->mask[i] = changes[i].mask ? ~0ULL : 0;
	}
	before->period = changes[NR_CONFIGS].before;
	before->exclude_user = changes[NR_CONFIGS + 1].before;
	before->exclude_kernel = changes[NR_CONFIGS + 2].before;
}

EXPORT int auxtrace_event_apply(const struct auxtrace_event *event, unsigned int cpu,
				const char *sysfs, struct auxtrace_event *before)
{
	struct change changes[NR_CHANGES] = {
		[NR_CONFIGS] = { "period", event->period,
				 event->set & AUXTRACE_EVENT_SET_PERIOD ? ~0ULL : 0, 0, false },
		[NR_CONFIGS + 1] = { "exclude_user", event->exclude_user,
				     event->set & AUXTRACE_EVENT_SET_EXCLUDE_USER ? ~0ULL : 0, 0,
				     false },
		[NR_CONFIGS + 2] = { "exclude_kernel", event->exclude_kernel,
				     event->set & AUXTRACE_EVENT_SET_EXCLUDE_KERNEL ? ~0ULL : 0, 0,
				     false },
	};
	size_t i;
	int ret;

	if (event->size < sizeof(*event) || (before && before->size < sizeof(*before)))
		return -EINVAL;
	for (i = 0; i < NR_CONFIGS; i++) {
		changes[i].name = config_names[i];
		changes[i].value = event->config[i];
		changes[i].mask = event->mask[i];
	}
	ret = check_pmu(event, cpu, sysfs);
	for (i = 0; i < NR_CHANGES && !ret; i++)
		ret = apply_one(&changes[i], cpu, sysfs);
	if (ret) {
		undo(changes, i, cpu, sysfs);
		return ret;
	}
	if (before)
		give_before(before, event, changes);
	return 0;
}
