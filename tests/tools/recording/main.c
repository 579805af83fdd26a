// SPDX-License-Identifier: GPL-2.0-only
/*
 * recording - play framed streams of the simulated trace PMU, and verify recordings of them
 *
 * Plays what a device would give, to standard output. Verifies files of one or more CPUs, each
 * CPU's in the order given: that the library's reader finds no damage, that every byte is right,
 * that each file stands alone, and that the files of one stream follow each other without a hole.
 * Follows a daemon's directory: verifies each file when it has ended, and removes it.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../../userspace/lib/auxtrace.h"
#include "../lib/pattern_check.h"

#define MAX_CPU	 1024
#define MAX_ROOM (1 << 20)

enum { GOOD = 0, WRONG = 1, TROUBLE = 2 };

/* ---- Playing ----------------------------------------------------------------------- */

struct play {
	unsigned int cpu;
	uint64_t windows;
	uint64_t size;	    /* of a window's payload */
	uint64_t gap_every; /* windows; 0: no gaps */
	uint64_t pause_us;  /* after each window */
	uint64_t cut;	    /* bytes of the last window that are left out */
};

static void put(const void *data, size_t n)
{
	if (fwrite(data, 1, n, stdout) != n || fflush(stdout)) {
		perror("recording: standard output");
		exit(TROUBLE);
	}
}

static int play(const struct play *p)
{
	uint64_t index = PATTERN_INDEX_FIRST, seq;
	unsigned int epoch = 0;
	uint64_t *words = malloc(p->size);

	for (seq = 0; seq < p->windows; seq++) {
		bool gap = seq && p->gap_every && !(seq % p->gap_every);
		struct auxtrace_window w = {
			.magic = AUXTRACE_WINDOW_MAGIC,
			.header_size = sizeof(w),
			.version = AUXTRACE_WINDOW_VERSION,
			.flags = gap ? AUXTRACE_WINDOW_GAP | AUXTRACE_WINDOW_FULL : 0,
			.cpu = p->cpu,
			.seq = seq,
			.offset = (index - 1) * WORD,
			.size = p->size,
			.time = seq * 1000,
			.gap_time = gap ? 500000000 : 0,
		};
		size_t i;

		epoch += gap;
		for (i = 0; i < p->size / WORD; i++)
			words[i] = pattern_word(epoch, index++);
		put(&w, sizeof(w));
		put(words, seq + 1 == p->windows ? p->size - p->cut : p->size);
		if (p->pause_us)
			usleep(p->pause_us);
	}
	free(words);
	return GOOD;
}

/* ---- Verifying ------------------------------------------------------------------------- */

struct cpu {
	bool seen;
	bool running; /* the checker has begun */
	uint64_t seq; /* of the next window */
	uint64_t offset;
	uint64_t started; /* its stream */
	struct checker checker;
};

struct verify {
	bool may_be_cut; /* the last record of a file */
	bool bare;	 /* streams need not be described */
	struct cpu cpus[MAX_CPU];
	uint64_t files, windows, bytes, lost_windows, lost_bytes, holes, cut, gaps, hotplugs;
	uint64_t lasts;		      /* windows that end a stream */
	uint64_t of_window;	      /* bytes of the last one */
	uint64_t first_seq, next_seq; /* of the first window there is, and behind the last */
};

static struct cpu *cpu_of(struct verify *v, uint32_t number)
{
	struct cpu *cpu = &v->cpus[number];

	if (number >= MAX_CPU)
		exit(TROUBLE);
	if (!cpu->checker.data) {
		cpu->checker.who = "recording";
		cpu->checker.may_restart = true;
		if (!checker_init(&cpu->checker, MAX_ROOM))
			exit(TROUBLE);
	}
	return cpu;
}

static bool begin_words(struct cpu *cpu, bool any)
{
	if (cpu->running) {
		if (!checker_end(&cpu->checker))
			return false;
		checker_restart(&cpu->checker);
	}
	cpu->checker.start_any = any;
	cpu->running = true;
	return true;
}

static bool take_window(struct verify *v, const struct auxtrace_item *item, const char *name)
{
	const struct auxtrace_window *w = item->window;
	uint64_t started = item->stream ? item->stream->started : 0;
	struct cpu *cpu = cpu_of(v, w->cpu);

	if (!item->stream && !v->bare) {
		fprintf(stderr, "recording: %s: a window before its stream's record\n", name);
		return false;
	}
	if (!item->at) {
		bool same = cpu->seen && cpu->started == started;

		if (!cpu->seen || !same || w->seq != cpu->seq || w->offset != cpu->offset) {
			v->holes += same;
			if (!begin_words(cpu, w->seq != 0))
				return false;
		}
		v->gaps += !!(w->flags & AUXTRACE_WINDOW_GAP);
		v->hotplugs += !!(w->flags & AUXTRACE_WINDOW_HOTPLUG);
		v->lasts += !!(w->flags & AUXTRACE_WINDOW_LAST);
		if (!v->windows++)
			v->first_seq = w->seq;
		v->next_seq = w->seq + 1;
	}
	cpu->seen = true;
	cpu->started = started;
	cpu->seq = w->seq + 1;
	cpu->offset = w->offset + w->size;
	v->bytes += item->size;
	v->of_window = item->at + item->size;
	return checker_feed(&cpu->checker, item->payload, item->size);
}

static bool take_lost(struct verify *v, const struct auxtrace_item *item)
{
	struct cpu *cpu = cpu_of(v, item->cpu);

	v->lost_windows += item->lost_windows;
	v->lost_bytes += item->lost_bytes;
	v->next_seq += item->lost_windows;
	cpu->seq += item->lost_windows;
	cpu->offset += item->lost_bytes;
	return begin_words(cpu, true);
}

static bool take(struct verify *v, const struct auxtrace_item *item, const char *name)
{
	switch (item->kind) {
	case AUXTRACE_ITEM_WINDOW:
		return take_window(v, item, name);
	case AUXTRACE_ITEM_LOST:
		return take_lost(v, item);
	case AUXTRACE_ITEM_DAMAGE:
		if (v->may_be_cut && item->damage == AUXTRACE_DAMAGE_CUT) {
			v->cut++;
			return true;
		}
		if (v->may_be_cut && item->damage == AUXTRACE_DAMAGE_ABORTED) {
			/* Its beginning was given, but it does not count. */
			v->cut++;
			v->windows--;
			v->bytes -= v->of_window;
			return true;
		}
		fprintf(stderr, "recording: %s: at byte %" PRIu64 ": %s (%" PRIu64 " bytes)\n",
			name, item->position, auxtrace_damage_text(item->damage), item->lost_bytes);
		return false;
	default:
		return true;
	}
}

/* 0, or -errno; -EBADMSG: it is wrong, and that is said. */
static int verify_file(struct verify *v, const char *name)
{
	struct auxtrace_reader *reader;
	const struct auxtrace_item *item;
	bool first = true;
	int ret = auxtrace_reader_open(&reader, name, NULL);

	if (ret)
		return ret;
	v->files++;
	while ((ret = auxtrace_reader_next(reader, &item)) == 1) {
		if (first && item->kind != AUXTRACE_ITEM_FILE &&
		    !(v->may_be_cut && item->kind == AUXTRACE_ITEM_DAMAGE)) {
			fprintf(stderr, "recording: %s: does not begin with a file's record\n",
				name);
			ret = -EBADMSG;
			break;
		}
		first = false;
		if (!take(v, item, name)) {
			ret = -EBADMSG;
			break;
		}
	}
	auxtrace_reader_free(reader);
	return ret;
}

/* Says what there was. */
static int sum_up(struct verify *v, int ret)
{
	unsigned int i;

	for (i = 0; i < MAX_CPU; i++) {
		if (!v->cpus[i].checker.data)
			continue;
		if (!ret && !checker_end(&v->cpus[i].checker))
			ret = -EBADMSG;
		checker_free(&v->cpus[i].checker);
	}
	printf("files=%" PRIu64 " windows=%" PRIu64 " bytes=%" PRIu64 " lost_windows=%" PRIu64
	       " lost_bytes=%" PRIu64 " holes=%" PRIu64 " cut=%" PRIu64 " gaps=%" PRIu64
	       " hotplugs=%" PRIu64 " lasts=%" PRIu64 " first_seq=%" PRIu64 " next_seq=%" PRIu64
	       "\n",
	       v->files, v->windows, v->bytes, v->lost_windows, v->lost_bytes, v->holes, v->cut,
	       v->gaps, v->hotplugs, v->lasts, v->first_seq, v->next_seq);
	return ret == -EBADMSG ? WRONG : ret ? TROUBLE : GOOD;
}

static int verify(struct verify *v, char **names)
{
	int ret = 0;

	for (; *names && !ret; names++) {
		ret = verify_file(v, *names);
		if (ret && ret != -EBADMSG)
			fprintf(stderr, "recording: %s: %s\n", *names, strerror(-ret));
	}
	return sum_up(v, ret);
}

/* ---- Following ------------------------------------------------------------------------- */

static int is_recording(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "cpu", 3) && strstr(entry->d_name, ".auxtrace");
}

static bool same_cpu(const struct dirent *a, const struct dirent *b)
{
	return strcspn(a->d_name, "-") == strcspn(b->d_name, "-") &&
	       !strncmp(a->d_name, b->d_name, strcspn(a->d_name, "-"));
}

/* Of the working directory, whose names tell the order: each CPU's files but its last; or @all. */
static int verify_ended(struct verify *v, bool all)
{
	struct dirent **list;
	int n = scandir(".", &list, is_recording, alphasort), i, ret = 0;

	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		if (!ret && (all || (i + 1 < n && same_cpu(list[i], list[i + 1])))) {
			ret = verify_file(v, list[i]->d_name);
			if (!ret && unlink(list[i]->d_name))
				ret = -errno;
			if (ret && ret != -EBADMSG)
				fprintf(stderr, "recording: %s: %s\n", list[i]->d_name,
					strerror(-ret));
		}
	}
	while (n--)
		free(list[n]);
	free(list);
	return ret;
}

/* Until there is a file called "end" in @directory. */
static int follow(struct verify *v, const char *directory)
{
	bool end = false;
	int ret = 0;

	if (chdir(directory)) {
		perror(directory);
		return TROUBLE;
	}
	while (!end && !ret) {
		usleep(100000);
		end = !access("end", F_OK);
		ret = verify_ended(v, end);
		if (!ret && (v->holes || v->lost_windows))
			ret = -EBADMSG;
	}
	return sum_up(v, ret);
}

/* ---- The command line --------------------------------------------------------------------- */

static int usage(void)
{
	fputs("Usage: recording play [--cpu N] [--windows N] [--size BYTES] [--gap-every WINDOWS]\n"
	      "                      [--pause-us N] [--cut BYTES] >STREAM\n"
	      "       recording verify [--may-be-cut] [--bare] FILE...\n"
	      "       recording follow DIRECTORY\n",
	      stderr);
	return TROUBLE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "bare", no_argument, NULL, 'b' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "cut", required_argument, NULL, 'x' },
		{ "gap-every", required_argument, NULL, 'g' },
		{ "may-be-cut", no_argument, NULL, 'm' },
		{ "pause-us", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{ "windows", required_argument, NULL, 'w' },
		{ 0 },
	};
	struct play p = { .windows = 100, .size = 4096 };
	static struct verify v;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t n = optarg ? strtoull(optarg, NULL, 0) : 0;

		if (option == 'b')
			v.bare = true;
		else if (option == 'c')
			p.cpu = n;
		else if (option == 'x')
			p.cut = n;
		else if (option == 'g')
			p.gap_every = n;
		else if (option == 'm')
			v.may_be_cut = true;
		else if (option == 'p')
			p.pause_us = n;
		else if (option == 's')
			p.size = n;
		else if (option == 'w')
			p.windows = n;
		else
			return usage();
	}
	if (optind + 1 == argc && !strcmp(argv[optind], "play") && !(p.size % WORD))
		return play(&p);
	if (optind + 2 == argc && !strcmp(argv[optind], "follow"))
		return follow(&v, argv[optind + 1]);
	if (optind + 1 < argc && !strcmp(argv[optind], "verify"))
		return verify(&v, argv + optind + 1);
	return usage();
}
