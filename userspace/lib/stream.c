// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What decoders have to know of a stream: found out from a device and the machine, and as
 * a record.
 *
 * Owns the pairs of texts, which are kept as in the file: key, NUL, value, NUL.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define MAX_TEXT (64 << 10)

struct described {
	struct auxtrace_stream stream;
	struct auxtrace_info info;
	char *text;
	size_t text_size;
};

_Static_assert(sizeof(struct auxtrace_info) % 8 == 0, "the pairs begin behind it");

static struct described *described(struct auxtrace_stream *stream)
{
	return (struct described *)stream;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* @info may be of an earlier or a later version than this one's, of @size bytes. */
static int new_stream(struct auxtrace_stream **stream, const void *info, size_t size)
{
	struct described *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	if (size > sizeof(d->info))
		size = sizeof(d->info);
	memcpy(&d->info, info, size);
	if (d->info.size > size)
		d->info.size = size;
	d->info.pmu_name[sizeof(d->info.pmu_name) - 1] = '\0';
	d->stream.info = &d->info;
	d->stream.cpu = d->info.cpu;
	d->stream.started = now();
	*stream = &d->stream;
	return 0;
}

EXPORT int auxtrace_stream_new(struct auxtrace_stream **stream, const struct auxtrace_info *info)
{
	uint32_t size;

	memcpy(&size, info, sizeof(size));
	return size < sizeof(size) ? -EINVAL : new_stream(stream, info, size);
}

EXPORT void auxtrace_stream_free(struct auxtrace_stream *stream)
{
	if (!stream)
		return;
	free(described(stream)->text);
	free(stream);
}

/* ---- Pairs ---------------------------------------------------------------------- */

static const char *behind(const char *text)
{
	return text + strlen(text) + 1;
}

/* Where the key of that name is, or NULL. */
static char *find(const struct auxtrace_stream *stream, const char *key)
{
	const struct described *d = (const struct described *)stream;
	char *at = d->text, *end = at + d->text_size;

	while (at < end && strcmp(at, key))
		at = (char *)behind(behind(at));
	return at < end ? at : NULL;
}

EXPORT const char *auxtrace_stream_value(const struct auxtrace_stream *stream, const char *key)
{
	const char *at = find(stream, key);

	return at ? behind(at) : NULL;
}

EXPORT bool auxtrace_stream_pair(const struct auxtrace_stream *stream, size_t index,
				 const char **key, const char **value)
{
	const struct described *d = (const struct described *)stream;
	const char *at = d->text, *end = at + d->text_size;

	for (; at < end; at = behind(behind(at))) {
		if (!index--) {
			*key = at;
			*value = behind(at);
			return true;
		}
	}
	return false;
}

static bool is_text(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

EXPORT int auxtrace_stream_set(struct auxtrace_stream *stream, const char *key, const char *value)
{
	struct described *d = described(stream);
	size_t n = strlen(key) + strlen(value) + 2, before, size;
	char *text, *old, *end;

	if (!*key || strchr(key, '=') || !is_text(key) || !is_text(value))
		return -EINVAL;
	if (n > MAX_TEXT || d->text_size + n > MAX_TEXT)
		return -E2BIG;
	/* A new text: key and value may be in the old one. */
	text = malloc(d->text_size + n);
	if (!text)
		return -ENOMEM;
	old = find(stream, key);
	before = old ? (size_t)(old - d->text) : d->text_size;
	size = before;
	if (before)
		memcpy(text, d->text, before);
	if (old) {
		old = (char *)behind(behind(old));
		size = d->text + d->text_size - old;
		memcpy(text + before, old, size);
		size += before;
	}
	end = stpcpy(text + size, key) + 1;
	end = stpcpy(end, value) + 1;
	free(d->text);
	d->text = text;
	d->text_size = end - text;
	return 0;
}

/* ---- As a record ------------------------------------------------------------------ */

size_t stream_record_size(const struct auxtrace_stream *stream)
{
	const struct described *d = (const struct described *)stream;

	return sizeof(struct auxtrace_stream_record) + sizeof(d->info) + align8(d->text_size);
}

/* INFO's struct, from one byte order to the other. */
static void swap_info(struct auxtrace_info *info)
{
#if __BYTE_ORDER != __LITTLE_ENDIAN
	uint32_t *u32[] = { &info->size,	 &info->abi_version, &info->cpu,    &info->pmu_type,
			    &info->event_flags,	 &info->flush_ms,    &info->format, &info->consumer,
			    &info->driver_flags, &info->reserved };
	__u64 *u64[] = { &info->buffer_size, &info->watermark, &info->wake_bytes, &info->config,
			 &info->config1,     &info->config2,   &info->config3,	  &info->period };
	size_t i;

	for (i = 0; i < sizeof(u32) / sizeof(*u32); i++)
		*u32[i] = le32toh(*u32[i]);
	for (i = 0; i < sizeof(u64) / sizeof(*u64); i++)
		*u64[i] = le64toh(*u64[i]);
#else
	(void)info;
#endif
}

void stream_record_write(const struct auxtrace_stream *stream, void *to)
{
	const struct described *d = (const struct described *)stream;
	size_t size = stream_record_size(stream);
	struct auxtrace_info info = d->info;
	struct auxtrace_stream_record record = {
		.record.magic = htole32(AUXTRACE_RECORD_MAGIC),
		.record.kind = htole32(AUXTRACE_RECORD_STREAM),
		.record.size = htole64(size),
		.cpu = htole32(stream->cpu),
		.flags = htole32(stream->flags),
		.time_mult = htole32(stream->time_mult),
		.time_shift = htole32(stream->time_shift),
		.time_zero = htole64(stream->time_zero),
		.time_cycles = htole64(stream->time_cycles),
		.time_mask = htole64(stream->time_mask),
		.started = htole64(stream->started),
		.info_size = htole32(sizeof(info)),
		.text_size = htole32(d->text_size),
	};
	char *at = to;

	swap_info(&info);
	memset(to, 0, size);
	memcpy(at, &record, sizeof(record));
	at += sizeof(record);
	memcpy(at, &info, sizeof(info));
	if (d->text_size)
		memcpy(at + sizeof(info), d->text, d->text_size);
}

/* Are they pairs: each key and each value ended, no key empty? */
static bool are_pairs(const char *text, size_t size)
{
	size_t nuls = 0, i;

	for (i = 0; i < size; i++) {
		if (text[i])
			continue;
		if (nuls % 2 == 0 && (!i || !text[i - 1]))
			return false;
		nuls++;
	}
	return (!size || !text[size - 1]) && nuls % 2 == 0;
}

int stream_record_read(struct auxtrace_stream **stream, const void *record, size_t size)
{
	struct auxtrace_stream_record r;
	struct auxtrace_info info = {};
	size_t info_size, text_size;
	const char *text;
	struct described *d;
	int ret;

	if (size < sizeof(r))
		return -EINVAL;
	memcpy(&r, record, sizeof(r));
	info_size = le32toh(r.info_size);
	text_size = le32toh(r.text_size);
	size -= sizeof(r);
	if (info_size > size || text_size > size - info_size || text_size > MAX_TEXT)
		return -EINVAL;
	text = (const char *)record + sizeof(r) + info_size;
	if (!are_pairs(text, text_size))
		return -EINVAL;
	memcpy(&info, text - info_size, info_size < sizeof(info) ? info_size : sizeof(info));
	swap_info(&info);
	ret = new_stream(stream, &info, info_size);
	if (ret)
		return ret;
	d = described(*stream);
	d->stream.cpu = le32toh(r.cpu);
	d->stream.flags = le32toh(r.flags);
	d->stream.time_mult = le32toh(r.time_mult);
	d->stream.time_shift = le32toh(r.time_shift);
	d->stream.time_zero = le64toh(r.time_zero);
	d->stream.time_cycles = le64toh(r.time_cycles);
	d->stream.time_mask = le64toh(r.time_mask);
	d->stream.started = le64toh(r.started);
	if (!text_size)
		return 0;
	d->text = malloc(text_size);
	if (!d->text) {
		auxtrace_stream_free(*stream);
		return -ENOMEM;
	}
	memcpy(d->text, text, text_size);
	d->text_size = text_size;
	return 0;
}

/* ---- Finding out -------------------------------------------------------------------- */

/* Sets a value, unless it is none: what is not known is left out. */
static int note(struct auxtrace_stream *stream, const char *key, const char *value)
{
	int ret = auxtrace_stream_set(stream, key, value);

	return ret == -ENOMEM ? ret : 0;
}

static int note_machine(struct auxtrace_stream *stream)
{
	struct utsname name;
	int ret;

	if (uname(&name))
		return 0;
	ret = note(stream, "kernel", name.release);
	ret = ret ?: note(stream, "machine", name.machine);
	return ret ?: note(stream, "host", name.nodename);
}

/* Lines of /proc/cpuinfo, and what they are called here. */
static const char *const cpuinfo_keys[][2] = {
	{ "vendor_id", "cpu.vendor" }, { "cpu family", "cpu.family" }, { "model", "cpu.model" },
	{ "model name", "cpu.name" },  { "stepping", "cpu.stepping" },
};

/* One line, of the CPU that it is about. */
static int note_line(struct auxtrace_stream *stream, char *line)
{
	char *colon = strchr(line, ':'), *end;
	size_t i;

	if (!colon)
		return 0;
	for (end = colon; end > line && (end[-1] == '\t' || end[-1] == ' '); end--)
		;
	*end = '\0';
	colon++;
	colon += strspn(colon, " ");
	colon[strcspn(colon, "\n")] = '\0';
	for (i = 0; i < sizeof(cpuinfo_keys) / sizeof(*cpuinfo_keys); i++) {
		if (!strcmp(line, cpuinfo_keys[i][0]))
			return note(stream, cpuinfo_keys[i][1], colon);
	}
	return 0;
}

static int note_cpuinfo(struct auxtrace_stream *stream)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool ours = false;
	unsigned int cpu;
	int ret = 0;

	if (!file)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (!ret && getline(&line, &size, file) > 0) {
		if (sscanf(line, "processor : %u", &cpu) == 1)
			ours = cpu == stream->cpu;
		else if (ours)
			ret = note_line(stream, line);
	}
	free(line);
	fclose(file);
	return ret;
}

static int note_file(struct auxtrace_stream *stream, const char *sysfs, const char *key,
		     const char *path)
{
	char value[1024];
	int n = sysfs_read(value, sizeof(value), sysfs, "%s", path);

	return n < 0 ? 0 : note(stream, key, value);
}

static int note_midr(struct auxtrace_stream *stream, const char *sysfs)
{
	char path[80];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/regs/identification/midr_el1",
		 stream->cpu);
	return note_file(stream, sysfs, "cpu.midr", path);
}

/* The files of one of the PMU's folders, but for what is the same for each PMU. */
static int note_folder(struct auxtrace_stream *stream, const char *sysfs, const char *folder,
		       const char *prefix)
{
	struct dirent *entry;
	int ret = 0;
	DIR *files;

	if (sysfs_opendir(&files, sysfs, folder))
		return 0;
	while (!ret && (entry = readdir(files))) {
		const char *name = entry->d_name;
		char key[sizeof(entry->d_name) + 16], path[512 + sizeof(entry->d_name)];

		if (*name == '.' || !strcmp(name, "uevent") || !strcmp(name, "type") ||
		    !strncmp(name, "perf_event_mux", 14))
			continue;
		snprintf(key, sizeof(key), "%s%s", prefix, name);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		ret = note_file(stream, sysfs, key, path);
	}
	closedir(files);
	return ret;
}

static int note_pmu(struct auxtrace_stream *stream, const char *sysfs)
{
	char folder[512];
	int ret, n;

	n = snprintf(folder, sizeof(folder), "bus/event_source/devices/%s", stream->info->pmu_name);
	ret = note_folder(stream, sysfs, folder, "pmu.");
	strcpy(folder + n, "/caps");
	ret = ret ?: note_folder(stream, sysfs, folder, "pmu.caps.");
	strcpy(folder + n, "/format");
	return ret ?: note_folder(stream, sysfs, folder, "pmu.format.");
}

/* The kernel tells the conversion in the first page of any event that is mapped. */
static void take_clock(struct auxtrace_stream *stream, const struct perf_event_mmap_page *page)
{
	if (page->cap_user_time_zero) {
		stream->flags |= AUXTRACE_STREAM_TIME_ZERO;
		stream->time_mult = page->time_mult;
		stream->time_shift = page->time_shift;
		stream->time_zero = page->time_zero;
	}
	if (page->cap_user_time_short) {
		stream->flags |= AUXTRACE_STREAM_TIME_SHORT;
		stream->time_cycles = page->time_cycles;
		stream->time_mask = page->time_mask;
	}
}

static void find_clock(struct auxtrace_stream *stream)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
	long size = sysconf(_SC_PAGESIZE);
	void *page;
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return;
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		take_clock(stream, page);
		munmap(page, size);
	}
	close(fd);
}

EXPORT int auxtrace_stream_from_device(struct auxtrace_stream **out,
				       const struct auxtrace_device *device, const char *sysfs)
{
	struct auxtrace_stream *stream;
	struct auxtrace_info info;
	int ret = auxtrace_device_info(device, &info, sizeof(info));

	ret = ret ?: auxtrace_stream_new(&stream, &info);
	if (ret)
		return ret;
	ret = note_machine(stream);
	ret = ret ?: note_cpuinfo(stream);
	ret = ret ?: note_midr(stream, sysfs);
	ret = ret ?: note_pmu(stream, sysfs);
	if (ret) {
		auxtrace_stream_free(stream);
		return ret;
	}
	find_clock(stream);
	*out = stream;
	return 0;
}
