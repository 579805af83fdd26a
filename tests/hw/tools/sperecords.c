// SPDX-License-Identifier: GPL-2.0-only
/*
 * sperecords - check each record of an ARM SPE trace, from the first byte to the last
 *
 * Takes one CPU's trace (trace.h tells in which forms). Each 64 bytes must be a record:
 * the packets that each record has, once each, in an order that hardware writes them
 * in, and zeroes behind its end. Zeroes alone, as the driver pads with, may be where it
 * finds the buffer full: from the last record to the end of the room, which is at most
 * a page, right before a gap; all but the buffer's last byte, and from there on later.
 * Time does not run backwards. With -p PROGRAM the records of that program (operations.S)
 * must say what is known of its instructions. -k: the reader was killed. -l lists the
 * records, with -p those of the program alone: PC, LD, ST, B or OTHER, the payload of the
 * operation type packet, then "VA ADDRESS" and "TGT ADDRESS" for what there is.
 *
 * Prints one line of counts, before it one for each error; exits with 1 if there are.
 */
#include <elf.h>
#include <getopt.h>
#include <inttypes.h>

#include "trace.h"

#define RECORD_SIZE	 64
#define PAGE_SIZE	 4096
#define MAX_ERRORS_SHOWN 10

/* Classes of operations, as in struct expected */
#define CLASS_LOAD_STORE 1
#define CLASS_BRANCH	 2

/* Loads that are stores as well, and the other way round */
#define ATOMIC 0x106

/* An instruction of the program, in its section .expected. */
struct expected {
	uint64_t pc;
	uint64_t type;	  /* the operation type packet: class << 8 | payload */
	uint64_t address; /* of data or, of a branch, target: at least this, ... */
	uint64_t size;	  /* ... less than so much behind it; 0: it has none */
};

/* What a record says. */
struct record {
	bool has_pc, has_type, has_events, has_latency, has_target, has_va, has_pa, has_time;
	bool has_context;
	uint64_t pc, target, va, time;
	unsigned int el, type, latency;
	uint64_t events;
};

static const struct expected *expected;
static size_t nr_expected;
static bool *seen;
static bool list;

static uint64_t run_nr, base, last_time;
static uint64_t records, padding, loads, stores, branches, others, atomics, timed, physical,
	contexts, targets;
static uint64_t resumed, brief; /* runs behind gaps: with records, too short for one */
static uint64_t user, kernel, in_program, errors;
static unsigned int shortest = -1;

static void wrong(uint64_t at, const char *what)
{
	if (errors++ < MAX_ERRORS_SHOWN)
		printf("run %" PRIu64 ", offset %" PRIu64 " (%" PRIu64 " in the stream): %s\n",
		       run_nr, at, base + at, what);
}

static void load_expected(const char *program)
{
	size_t size;
	uint8_t *data = trace_load(program, &size);
	const Elf64_Ehdr *elf = (const void *)data;
	const Elf64_Shdr *section;
	const char *names;
	int i;

	if (size < sizeof(*elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG))
		trace_die(program, "not an executable");
	section = (const void *)(data + elf->e_shoff);
	names = (const char *)(data + section[elf->e_shstrndx].sh_offset);
	for (i = 0; i < elf->e_shnum; i++) {
		if (strcmp(names + section[i].sh_name, ".expected"))
			continue;
		expected = (const void *)(data + section[i].sh_offset);
		nr_expected = section[i].sh_size / sizeof(*expected);
	}
	if (!nr_expected)
		trace_die(program, "has no section .expected");
	seen = calloc(nr_expected, sizeof(*seen));
	if (!seen)
		trace_die(program, "out of memory");
}

static bool is_within(uint64_t address, const struct expected *e)
{
	return address >= e->address && address - e->address < e->size;
}

static bool is_in_program(const struct record *r)
{
	return nr_expected && !r->el && r->pc >= expected[0].pc &&
	       r->pc <= expected[nr_expected - 1].pc;
}

static void check_program(const struct record *r, uint64_t at)
{
	const struct expected *first = expected, *e;

	if (!is_in_program(r))
		return;
	e = first + (r->pc - first->pc) / 4;
	in_program++;
	if (r->pc != e->pc) {
		wrong(at, "no instruction is there");
		return;
	}
	seen[e - first] = true;
	if (r->type != e->type)
		wrong(at, "another operation than the program has there");
	if (r->has_va != (e->size && e->type >> 8 == CLASS_LOAD_STORE))
		wrong(at, "a data address, or none, against the program");
	if (r->has_va && !is_within(r->va, e))
		wrong(at, "a data address outside of what the program uses there");
	if (r->has_target && !is_within(r->target, e))
		wrong(at, "a branch to where the program does not go");
}

/*
 * Takes the packet at @p, of which @left bytes are there, into @r. Returns its size; 0
 * with *@end set for the record's last, 0 if there is no such packet.
 */
static size_t take_packet(struct record *r, const uint8_t *p, size_t left, bool *end)
{
	uint64_t payload = 0;
	bool *has = NULL;
	size_t size;

	if (p[0] == 0x01) {
		*end = true;
		return 1;
	} else if (p[0] == 0x71 || (p[0] & 0xf8) == 0xb0) {
		size = 8;
	} else if ((p[0] & 0xf8) == 0x98) {
		size = 2;
	} else if ((p[0] & 0xfc) == 0x64) {
		size = 4;
	} else if ((p[0] & 0xfc) == 0x48) {
		size = 1;
	} else if ((p[0] & 0xcf) == 0x42 || (p[0] & 0xcf) == 0x43) {
		size = 1 << (p[0] >> 4 & 3);
	} else {
		return 0;
	}
	if (1 + size > left)
		return 0;
	memcpy(&payload, p + 1, size);

	switch (p[0]) {
	case 0x71:
		has = &r->has_time;
		r->time = payload;
		*end = true;
		break;
	case 0xb0:
		has = &r->has_pc;
		r->pc = payload & 0xffffffffffffffULL;
		r->el = payload >> 61 & 3;
		break;
	case 0xb1:
		has = &r->has_target;
		r->target = payload & 0xffffffffffffffULL;
		break;
	case 0xb2:
		has = &r->has_va;
		r->va = payload & 0xffffffffffffffULL;
		break;
	case 0xb3:
		has = &r->has_pa;
		break;
	case 0x98:
		has = &r->has_latency;
		r->latency = payload;
		break;
	case 0x48 ... 0x4b:
		has = &r->has_type;
		r->type = (p[0] & 3) << 8 | payload;
		break;
	case 0x64 ... 0x67:
		r->has_context = true;
		break;
	default:
		if ((p[0] & 0xcf) == 0x42) {
			has = &r->has_events;
			r->events = payload;
		}
		break;
	}
	if (has && *has)
		return 0;
	if (has)
		*has = true;
	return 1 + size;
}

static bool is_zero(const uint8_t *p, size_t size)
{
	while (size--) {
		if (*p++)
			return false;
	}
	return true;
}

static void count(const struct record *r)
{
	records++;
	if (r->type >> 8 == CLASS_LOAD_STORE) {
		loads += !(r->type & 1);
		stores += r->type & 1;
		atomics += (r->type & ATOMIC) == ATOMIC;
	} else if (r->type >> 8 == CLASS_BRANCH) {
		branches++;
	} else {
		others++;
	}
	timed += r->has_time;
	physical += r->has_pa;
	contexts += r->has_context;
	targets += r->has_target;
	user += !r->el;
	kernel += !!r->el;
	if (r->latency < shortest)
		shortest = r->latency;
}

static void print_record(const struct record *r)
{
	const char *class = "OTHER";

	if (r->type >> 8 == CLASS_LOAD_STORE)
		class = r->type & 1 ? "ST" : "LD";
	else if (r->type >> 8 == CLASS_BRANCH)
		class = "B";
	printf("%" PRIx64 " %s %02x", r->pc, class, r->type & 0xff);
	if (r->has_va)
		printf(" VA %" PRIx64, r->va);
	if (r->has_target)
		printf(" TGT %" PRIx64, r->target);
	putchar('\n');
}

static void check_record(const uint8_t *p, uint64_t at)
{
	struct record r = { 0 };
	size_t done = 0, n;
	bool end = false;

	while (!end) {
		n = done < RECORD_SIZE ? take_packet(&r, p + done, RECORD_SIZE - done, &end) : 0;
		if (!n) {
			wrong(at + done, "no packet");
			return;
		}
		done += n;
	}
	if (!is_zero(p + done, RECORD_SIZE - done))
		wrong(at + done, "something behind a record's end");
	if (!r.has_pc || !r.has_type || !r.has_events || !r.has_latency)
		wrong(at, "a record without PC, operation, events or latency");
	if (r.has_time && r.time < last_time)
		wrong(at, "time runs backwards");
	if (r.has_time)
		last_time = r.time;
	count(&r);
	check_program(&r, at);
	if (list && is_in_program(&r) == !!nr_expected)
		print_record(&r);
}

/*
 * Where the padding at the end of a run begins, of which the first record begins at
 * @first: there are zeroes from there on, a page at most; else where the run ends.
 */
static size_t find_padding(const struct run *run, size_t first)
{
	size_t end = run->size - (run->size - first) % RECORD_SIZE;

	if (!is_zero(run->data + end, run->size - end))
		return run->size;
	while (end > first && is_zero(run->data + end - RECORD_SIZE, RECORD_SIZE))
		end -= RECORD_SIZE;
	return run->size - end <= PAGE_SIZE ? end : run->size;
}

/*
 * @at: where in the buffer the run begins, as far as records are concerned: what is before
 * the first multiple of their size, and behind the last one, is padding. Returns where it
 * ends.
 */
static uint64_t check_run(const struct run *run, uint64_t at, bool cut)
{
	uint64_t before = records;
	size_t done = -at % RECORD_SIZE, end;

	if (done > run->size)
		done = run->size;
	end = find_padding(run, done);
	if (!is_zero(run->data, done))
		wrong(0, "something before the first record");
	for (; done + RECORD_SIZE <= run->size; done += RECORD_SIZE) {
		if (done >= end)
			padding++;
		else if (is_zero(run->data + done, RECORD_SIZE))
			wrong(done, "zeroes where a record must be");
		else
			check_record(run->data + done, done);
	}
	if (!cut && !is_zero(run->data + done, run->size - done))
		wrong(done, "a piece of a record");
	if (run_nr && records > before)
		resumed++;
	else if (run_nr && run->size < PAGE_SIZE + RECORD_SIZE)
		brief++;
	return at + run->size;
}

int main(int argc, char **argv)
{
	const uint32_t stops = AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED;
	uint64_t gaps_full = 0, gaps_driver = 0, gaps_hotplug = 0, gaps_stopped = 0;
	uint64_t at = 0;
	size_t i, nr_seen = 0;
	struct trace t;
	int option;

	while ((option = getopt(argc, argv, "klp:")) != -1) {
		if (option == 'k')
			trace_may_be_cut = true;
		else if (option == 'l')
			list = true;
		else if (option == 'p')
			load_expected(optarg);
		else
			return 2;
	}
	if (argc - optind < 1 || argc - optind > 2) {
		fputs("Usage: sperecords [-kl] [-p PROGRAM] FILE [CPU]\n", stderr);
		return 2;
	}
	t = trace_open(argv[optind], argc - optind > 1 ? strtoul(argv[optind + 1], NULL, 0) : 0);
	for (i = 0; i < t.nr; i++) {
		const struct run *run = &t.runs[i];

		run_nr = i;
		if (i) {
			gaps_full += !!(run->flags & AUXTRACE_WINDOW_FULL);
			gaps_hotplug += !!(run->flags & AUXTRACE_WINDOW_HOTPLUG);
			gaps_stopped += !!(run->flags & AUXTRACE_WINDOW_STOPPED);
			gaps_driver += !(run->flags & (AUXTRACE_WINDOW_FULL | stops));
		}
		/* There is a new buffer then. */
		if (run->flags & AUXTRACE_WINDOW_HOTPLUG)
			at = 0;
		/* A reader that was killed has read a piece of the last one. */
		at = check_run(run, at, i + 1 == t.nr && !run->last);
		base += run->size;
	}
	for (i = 0; i < nr_expected; i++)
		nr_seen += seen[i];
	if (list)
		return errors ? 1 : 0;
	printf("bytes=%" PRIu64 " records=%" PRIu64 " padding=%" PRIu64 " loads=%" PRIu64
	       " stores=%" PRIu64 " atomics=%" PRIu64 " branches=%" PRIu64 " others=%" PRIu64
	       " timed=%" PRIu64 " physical=%" PRIu64 " contexts=%" PRIu64 " targets=%" PRIu64
	       " user=%" PRIu64 " kernel=%" PRIu64 " latency=%u program=%" PRIu64
	       " seen=%zu known=%zu windows=%" PRIu64 " gaps=%zu gaps_full=%" PRIu64
	       " gaps_driver=%" PRIu64 " gaps_hotplug=%" PRIu64 " gaps_stopped=%" PRIu64
	       " truncated=%" PRIu64 " resumed=%" PRIu64 " brief=%" PRIu64 " errors=%" PRIu64 "\n",
	       base, records, padding, loads, stores, atomics, branches, others, timed, physical,
	       contexts, targets, user, kernel, shortest, in_program, nr_seen, nr_expected,
	       t.windows, t.nr ? t.nr - 1 : 0, gaps_full, gaps_driver, gaps_hotplug, gaps_stopped,
	       t.truncated, resumed, brief, errors);
	return errors ? 1 : 0;
}
