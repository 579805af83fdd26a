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
#define PERF_AUX_ALIGN	8

/* Of windows: the reader was killed, so that they end anywhere. */
static bool trace_may_be_cut;

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

/*
 * What <linux/auxtrace.h> promises of each window. Those of a reader that was not killed
 * end with the last one of a STOP.
 */
static void trace_check_window(const char *name, const struct auxtrace_window *w, uint64_t seq,
			       uint64_t offset, unsigned int cpu)
{
	const uint32_t causes =
		AUXTRACE_WINDOW_FULL | AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED;

	if (w->magic != AUXTRACE_WINDOW_MAGIC || w->header_size != sizeof(*w) ||
	    w->version != AUXTRACE_WINDOW_VERSION || w->reserved)
		trace_die(name, "bad window");
	if (w->flags & ~(2U * AUXTRACE_WINDOW_LAST - 1))
		trace_die(name, "a window has flags that there are not");
	if (w->seq != seq)
		trace_die(name, "a window is missing, or there twice");
	if (w->offset != offset)
		trace_die(name, "a window does not begin where the one before ends");
	if (w->cpu != cpu)
		trace_die(name, "a window is of another CPU");
	if (!(w->flags & AUXTRACE_WINDOW_GAP) && (w->flags & causes || w->gap_time))
		trace_die(name, "a window tells of a gap that it does not have");
}

static void trace_read_windows(struct trace *t, const char *name, const uint8_t *data, size_t size,
			       unsigned int cpu)
{
	const uint32_t causes =
		AUXTRACE_WINDOW_FULL | AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED;
	struct auxtrace_window w = { .flags = AUXTRACE_WINDOW_LAST };
	uint64_t offset = 0;
	size_t at = 0;

	while (at < size) {
		if (size - at < sizeof(w)) {
			if (!trace_may_be_cut)
				trace_die(name, "ends within a window's header");
			break;
		}
		memcpy(&w, data + at, sizeof(w));
		trace_check_window(name, &w, t->windows++, offset, cpu);
		offset += w.size;
		at += sizeof(w);
		if (w.size > size - at) {
			if (!trace_may_be_cut)
				trace_die(name, "ends within a window");
			w.size = size - at;
		}
		t->truncated += !!(w.flags & AUXTRACE_WINDOW_TRUNCATED);
		if (!t->nr)
			trace_new_run(t, 0);
		/* Behind the empty window of a STOP a gap goes on, with one more cause. */
		if (t->nr > 1 && !t->runs[t->nr - 1].size && w.flags & AUXTRACE_WINDOW_GAP &&
		    !(t->runs[t->nr - 1].flags & w.flags & causes))
			t->runs[t->nr - 1].flags |= w.flags;
		else if (w.flags & AUXTRACE_WINDOW_GAP)
			trace_new_run(t, w.flags);
		trace_append(&t->runs[t->nr - 1], data + at, w.size);
		t->runs[t->nr - 1].last =
			w.flags & AUXTRACE_WINDOW_LAST && !(w.flags & AUXTRACE_WINDOW_TRUNCATED);
		for (at += w.size; at < size && at % AUXTRACE_WINDOW_ALIGN; at++) {
			if (data[at])
				trace_die(name, "what fills a window up is not zero");
		}
		if (at % AUXTRACE_WINDOW_ALIGN && !trace_may_be_cut)
			trace_die(name, "ends within a window");
	}
	if (!(w.flags & AUXTRACE_WINDOW_LAST) && !trace_may_be_cut)
		trace_die(name, "ends before the last window of a STOP");
}

/* Of a perf.data file: the records of kernel and perf, from @at to @end. */
struct trace_perf {
	const uint8_t *data;
	uint64_t at, end;
	uint64_t *gaps; /* offsets in the AUX data of one CPU, behind which some is missing */
	size_t nr_gaps;
	uint64_t aux_end; /* of that CPU's AUX data: perf fills each piece up with zeroes */
};

static struct trace_perf trace_perf_open(const char *name, const uint8_t *data, size_t size)
{
	struct trace_perf p = { .data = data };
	struct perf_event_header header;
	uint64_t at;

	if (size < 104)
		trace_die(name, "too short");
	memcpy(&p.at, data + 40, sizeof(p.at));
	memcpy(&p.end, data + 48, sizeof(p.end));
	p.end += p.at;
	if (p.end > size)
		trace_die(name, "cut off");
	for (at = p.at; at < p.end; at += header.size) {
		if (p.end - at < sizeof(header))
			trace_die(name, "bad record");
		memcpy(&header, data + at, sizeof(header));
		if (header.size < sizeof(header))
			trace_die(name, "bad record");
		if (header.type == RECORD_AUXTRACE) {
			uint64_t more;

			memcpy(&more, data + at + sizeof(header), sizeof(more));
			at += more;
		}
	}
	if (at != p.end)
		trace_die(name, "cut off");
	return p;
}

/* As perf asks for it: the CPU is the last but one of what each record ends with. */
static void trace_perf_find_gaps(struct trace *t, struct trace_perf *p, unsigned int cpu)
{
	struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
	} aux;
	uint64_t at = p->at, size;
	uint32_t on;

	for (; at < p->end; at += aux.header.size) {
		memcpy(&aux.header, p->data + at, sizeof(aux.header));
		if (aux.header.type == RECORD_AUXTRACE) {
			memcpy(&size, p->data + at + sizeof(aux.header), sizeof(size));
			at += size;
		}
		if (aux.header.type != PERF_RECORD_AUX || aux.header.size < sizeof(aux) + 16)
			continue;
		memcpy(&aux, p->data + at, sizeof(aux));
		memcpy(&on, p->data + at + aux.header.size - 16, sizeof(on));
		if (on != cpu)
			continue;
		if (aux.offset + aux.size > p->aux_end)
			p->aux_end = aux.offset + aux.size;
		if (!(aux.flags & PERF_AUX_FLAG_TRUNCATED))
			continue;
		p->gaps = realloc(p->gaps, (p->nr_gaps + 1) * sizeof(*p->gaps));
		if (!p->gaps)
			trace_die("trace", "out of memory");
		p->gaps[p->nr_gaps++] = aux.offset + aux.size;
		t->truncated++;
	}
}

/* What stands at @offset: a new run behind each gap. */
static void trace_perf_append(struct trace *t, const struct trace_perf *p, uint64_t offset,
			      const uint8_t *data, uint64_t size)
{
	uint64_t step;
	bool behind;
	size_t i;

	for (; size; offset += step, data += step, size -= step) {
		step = size;
		behind = false;
		for (i = 0; i < p->nr_gaps; i++) {
			if (p->gaps[i] == offset)
				behind = true;
			else if (p->gaps[i] > offset && p->gaps[i] - offset < step)
				step = p->gaps[i] - offset;
		}
		if (behind && t->runs[t->nr - 1].size)
			trace_new_run(t, AUXTRACE_WINDOW_GAP | AUXTRACE_WINDOW_FULL);
		trace_append(&t->runs[t->nr - 1], data, step);
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
	struct trace_perf p = trace_perf_open(name, data, size);
	uint64_t at = p.at, next = 0;

	trace_perf_find_gaps(t, &p, cpu);
	trace_new_run(t, 0);
	for (; at < p.end; at += aux.header.size) {
		memcpy(&aux.header, data + at, sizeof(aux.header));
		if (aux.header.type != RECORD_AUXTRACE)
			continue;
		memcpy(&aux, data + at, sizeof(aux));
		if (aux.cpu == cpu || aux.cpu == (uint32_t)-1) {
			/* Padding behind the piece before is in this one's place. */
			if (aux.offset < next)
				t->runs[t->nr - 1].size -= next - aux.offset;
			trace_perf_append(t, &p, aux.offset, data + at + aux.header.size, aux.size);
			next = aux.offset + aux.size;
		}
		at += aux.size;
	}
	if (next > p.aux_end && next - p.aux_end < PERF_AUX_ALIGN)
		t->runs[t->nr - 1].size -= next - p.aux_end;
	free(p.gaps);
}

/* @cpu: of which it is; perf.data has all of them */
static struct trace trace_open(const char *name, unsigned int cpu)
{
	struct trace t = { 0 };
	uint64_t magic = 0;
	size_t size;
	uint8_t *data = trace_load(name, &size);

	memcpy(&magic, data, size < sizeof(magic) ? size : sizeof(magic));
	if ((uint32_t)magic == AUXTRACE_WINDOW_MAGIC)
		trace_read_windows(&t, name, data, size, cpu);
	else if (magic == PERFILE2)
		trace_read_perf(&t, name, data, size, cpu);
	else if (size)
		trace_append(trace_new_run(&t, 0), data, size);
	else
		trace_die(name, "empty");
	free(data);
	return t;
}

#endif
