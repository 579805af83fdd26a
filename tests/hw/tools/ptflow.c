// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptflow - the control flow of a program, out of an Intel PT trace
 *
 * Decodes one CPU's trace of user space (trace.h tells in which forms), in which
 * PROGRAM, a static executable, is all that ran. Prints one line of counts, or, with
 * -l, each transfer of control as "from to". Exits with 1 if anything cannot be
 * decoded, other than what is before the first PSB behind a gap, or nothing behind one
 * though there is enough.
 */
#include <elf.h>
#include <getopt.h>
#include <inttypes.h>

#include <intel-pt.h>

#include "trace.h"

#define MAX_ERRORS_SHOWN 10

/* Behind a gap a run that need not have a PSB, by the default period (2K). */
#define SHORT_RUN (16 << 10)

static bool list;
static uint64_t watched;
static uint64_t instructions, transfers, visits, errors, hash = 14695981039346656037ULL;
static uint64_t resumed, brief; /* runs behind gaps: decoded again, too short for it */

static void add_code(struct pt_image *image, const char *program)
{
	size_t size;
	uint8_t *data = trace_load(program, &size);
	const Elf64_Ehdr *elf = (const void *)data;
	const Elf64_Phdr *segment;
	int i;

	if (size < sizeof(*elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) || elf->e_type != ET_EXEC)
		trace_die(program, "not a static executable");
	segment = (const void *)(data + elf->e_phoff);
	for (i = 0; i < elf->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    pt_image_add_file(image, program, segment->p_offset, segment->p_filesz, NULL,
				      segment->p_vaddr) < 0)
			trace_die(program, "libipt does not take it");
	}
	free(data);
}

static void transfer(uint64_t from, uint64_t to)
{
	uint64_t words[2] = { from, to };
	const uint8_t *byte = (const uint8_t *)words;
	size_t i;

	transfers++;
	for (i = 0; i < sizeof(words); i++)
		hash = (hash ^ byte[i]) * 1099511628211ULL;
	if (list)
		printf("%" PRIx64 " %" PRIx64 "\n", from, to);
}

static void decode(const struct pt_config *config, struct pt_image *image)
{
	struct pt_insn_decoder *decoder = pt_insn_alloc_decoder(config);
	struct pt_insn insn, before = { 0 };
	struct pt_event event;
	uint64_t at;
	int status;

	if (!decoder || pt_insn_set_image(decoder, image))
		trace_die("libipt", "no decoder");
	while ((status = pt_insn_sync_forward(decoder)) >= 0) {
		before.size = 0;
		while (status >= 0) {
			while (status >= 0 && status & pts_event_pending)
				status = pt_insn_event(decoder, &event, sizeof(event));
			if (status < 0 || status & pts_eos)
				break;
			status = pt_insn_next(decoder, &insn, sizeof(insn));
			/* Also with an error there may be an instruction. */
			if (!insn.size || insn.iclass == ptic_error)
				continue;
			if (before.size && before.ip + before.size != insn.ip)
				transfer(before.ip, insn.ip);
			visits += insn.ip == watched;
			instructions++;
			before = insn;
		}
		if (status < 0 && status != -pte_eos) {
			pt_insn_get_offset(decoder, &at);
			if (errors++ < MAX_ERRORS_SHOWN)
				fprintf(stderr, "offset %" PRIu64 ", ip %#" PRIx64 ": %s\n", at,
					before.ip, pt_errstr(pt_errcode(status)));
		}
	}
	pt_insn_free_decoder(decoder);
}

static void decode_run(const struct run *run, bool behind_gap, struct pt_image *image)
{
	struct pt_config config;
	uint64_t before = transfers;

	pt_config_init(&config);
	config.begin = run->data;
	config.end = run->data + run->size;
	if (run->size)
		decode(&config, image);
	if (!behind_gap)
		return;
	if (transfers > before) {
		resumed++;
	} else if (run->size < SHORT_RUN) {
		brief++;
	} else {
		errors++;
		fprintf(stderr, "no branches behind a gap\n");
	}
}

int main(int argc, char **argv)
{
	struct pt_image *image = pt_image_alloc("program");
	struct trace t;
	int option;
	size_t i;

	while ((option = getopt(argc, argv, "lv:")) != -1) {
		if (option == 'l')
			list = true;
		else if (option == 'v')
			watched = strtoull(optarg, NULL, 16);
		else
			return 2;
	}
	if (argc - optind < 2 || argc - optind > 3) {
		fputs("Usage: ptflow [-l] [-v ADDRESS] PROGRAM FILE [CPU]\n", stderr);
		return 2;
	}
	add_code(image, argv[optind]);
	t = trace_open(argv[optind + 1],
		       argc - optind > 2 ? strtoul(argv[optind + 2], NULL, 0) : 0);
	for (i = 0; i < t.nr; i++)
		decode_run(&t.runs[i], i, image);
	if (!list)
		printf("instructions=%" PRIu64 " transfers=%" PRIu64 " visits=%" PRIu64
		       " hash=%016" PRIx64 " gaps=%zu truncated=%" PRIu64 " resumed=%" PRIu64
		       " brief=%" PRIu64 " errors=%" PRIu64 "\n",
		       instructions, transfers, visits, hash, t.nr ? t.nr - 1 : 0, t.truncated,
		       resumed, brief, errors);
	return errors ? 1 : 0;
}
