/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces on disk: auxtrace's windows, its raw bytes, or one CPU's AUX data out of a
 * perf.data file; as runs of bytes that nothing is missing in.
 */
#ifndef TRACE_H
#define TRACE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/auxtrace.h>
#include <linux/perf_event.h>

/* Recorded by perf, not by the kernel: tools/perf/util/event.h */
#define RECORD_AUXTRACE 71
#define PERFILE2	0x32454c4946524550ULL

/*
 * Trace without a hole. @flags are those of the gap before it (0 at the start), and @last
 * says that it ends where a running stream was stopped.
 */
struct run {
	uint8_t *data;
	size_t size;
	uint32_t flags;
	bool last;
};

struct trace {
	struct run *runs;
	size_t nr;
	uint64_t windows;
	uint64_t truncated; /* windows, or perf's records, that say so */
};

static void trace_die(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s\n", name, what);
	exit(2);
}

static uint8_t *trace_load(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	uint8_t *data = NULL;
	size_t n, room = 0;

	if (!f)
		trace_die(name, strerror(errno));
	*size = 0;
	do {
		if (room - *size < 1 << 20) {
			room = room ? 2 * room : 4 << 20;
			data = realloc(data, room);
			if (!data)
				trace_die(name, "out of memory");
		}
		n = fread(data + *size, 1, room - *size, f);
		*size += n;
	} while (n);
	if (ferror(f))
		trace_die(name, "cannot be read");
	fclose(f);
	return data;
}

static struct run *trace_new_run(struct trace *t, uint32_t flags)
{
	struct run *run;

	t->runs = realloc(t->runs, (t->nr + 1) * sizeof(*t->runs));
	if (!t->runs)
		trace_die("trace", "out of memory");
	run = &t->runs[t->nr++];
	*run = (struct run){ .flags = flags };
	return run;
}

static void trace_append(struct run *run, const uint8_t *data, size_t size)
{
	/* Where windows are small this is slow, but they are few then. */
	run->data = realloc(run->data, run->size + size + 1);
	if (!run->data)
		trace_die("trace", "out of memory");
	memcpy(run->data + run->size, data, size);
	run->size += size;
}

static void trace_read_windows(struct trace *t, const char *name, const uint8_t *data, size_t size)
{
	struct auxtrace_window w;
	size_t at = 0;

	while (at < size) {
		if (size - at < sizeof(w))
			break;
		memcpy(&w, data + at, sizeof(w));
		if (w.magic != AUXTRACE_WINDOW_MAGIC || w.header_size != sizeof(w) ||
		    w.seq != t->windows++)
			trace_die(name, "bad window");
		at += sizeof(w);
		/* A reader that was killed leaves a window unfinished. */
		if (w.size > size - at)
			w.size = size - at;
		t->truncated += !!(w.flags & AUXTRACE_WINDOW_TRUNCATED);
		if (w.flags & AUXTRACE_WINDOW_GAP || !t->nr)
			trace_new_run(t, w.flags);
		trace_append(&t->runs[t->nr - 1], data + at, w.size);
		t->runs[t->nr - 1].last =
			w.flags & AUXTRACE_WINDOW_LAST && !(w.flags & AUXTRACE_WINDOW_TRUNCATED);
		at += (w.size + AUXTRACE_WINDOW_ALIGN - 1) / AUXTRACE_WINDOW_ALIGN *
		      AUXTRACE_WINDOW_ALIGN;
	}
}

static void trace_read_perf(struct trace *t, const char *name, const uint8_t *data, size_t size,
			    unsigned int cpu)
{
	struct {
		struct perf_event_header header;
		uint64_t size, offset, reference;
		uint32_t idx, tid, cpu, reserved;
	} aux;
	struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
	} record;
	struct perf_event_header header;
	uint64_t at, end, next = 0;

	if (size < 104)
		trace_die(name, "too short");
	memcpy(&at, data + 40, sizeof(at));
	memcpy(&end, data + 48, sizeof(end));
	end += at;
	if (end > size)
		trace_die(name, "cut off");
	trace_new_run(t, 0);
	for (; at + sizeof(header) <= end; at += header.size) {
		memcpy(&header, data + at, sizeof(header));
		if (header.size < sizeof(header))
			trace_die(name, "bad record");
		if (header.type == PERF_RECORD_AUX) {
			memcpy(&record, data + at, sizeof(record));
			t->truncated += record.flags & PERF_AUX_FLAG_TRUNCATED;
		}
		if (header.type != RECORD_AUXTRACE)
			continue;
		memcpy(&aux, data + at, sizeof(aux));
		if (aux.cpu == cpu || aux.cpu == (uint32_t)-1) {
			struct run *run = &t->runs[0];

			/* Padding behind the piece before is in this one's place. */
			if (aux.offset < next)
				run->size -= next - aux.offset;
			trace_append(run, data + at + header.size, aux.size);
			next = aux.offset + aux.size;
		}
		at += aux.size;
	}
}

/* @cpu: of perf.data, which has all of them */
static struct trace trace_open(const char *name, unsigned int cpu)
{
	struct trace t = { 0 };
	uint64_t magic = 0;
	size_t size;
	uint8_t *data = trace_load(name, &size);

	memcpy(&magic, data, size < sizeof(magic) ? size : sizeof(magic));
	if ((uint32_t)magic == AUXTRACE_WINDOW_MAGIC)
		trace_read_windows(&t, name, data, size);
	else if (magic == PERFILE2)
		trace_read_perf(&t, name, data, size, cpu);
	else if (size)
		trace_append(trace_new_run(&t, 0), data, size);
	free(data);
	return t;
}

#endif
