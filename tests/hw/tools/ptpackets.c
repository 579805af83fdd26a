// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptpackets - check each packet of an Intel PT trace, from the first byte to the last
 *
 * Takes one CPU's trace (trace.h tells in which forms). It must begin with a PSB, and
 * behind each gap with a whole packet; only before a gap where the buffer was full or
 * the driver stopped, or at the end of a stream that was not stopped, may the last
 * packet be cut. Packets must come in an order that a CPU can write them in: branches
 * only between TIP.PGE and TIP.PGD, time not backwards. And where there is much trace
 * there must be PSBs, or no decoder could begin there; behind a gap branches, too. PAD
 * packets, single zeroes, are errors: neither the emulated hardware nor the driver writes
 * any. -k: the reader was killed.
 *
 * Prints one line of counts, before it one for each error; exits with 1 if there are.
 */
#include <getopt.h>
#include <inttypes.h>

#include <intel-pt.h>

#include "trace.h"

/* Of the settings' longest period of PSBs (64K), twice. */
#define LONG_WITHOUT_PSB (128 << 10)

/* Behind a gap a run that need not have a PSB, by the default period (2K), and branches. */
#define SHORT_RUN (16 << 10)

#define MAX_ERRORS_SHOWN 10

struct state {
	bool enabled; /* between TIP.PGE and TIP.PGD */
	bool unsure;  /* ... is not known, behind an error */
	bool in_psb;
	bool stopped; /* by a TraceStop packet */
	uint64_t tsc;
	uint64_t first_tsc;
	uint64_t last_ip;
	bool ip_known;	    /* since a PSB in this run */
	uint64_t decodable; /* branches since there */
	uint64_t psb_at;
	uint64_t run;
	uint64_t base; /* offset of the run in the stream */
	/* counts */
	uint64_t packets, psbs, tnt, tip, pge, tsc_packets, mtc, cyc, pip, ovf, pad, cut, errors;
	uint64_t ip_user, ip_kernel;
	uint64_t pauses;  /* how often it was disabled and enabled in a run */
	uint64_t resumed; /* runs behind gaps with a PSB and, behind it, branches */
	uint64_t brief;	  /* runs behind gaps that are too short for that */
};

static void wrong(struct state *s, uint64_t at, const char *what)
{
	if (s->errors++ < MAX_ERRORS_SHOWN)
		printf("run %" PRIu64 ", offset %" PRIu64 " (%" PRIu64 " in the stream): %s\n",
		       s->run, at, s->base + at, what);
}

/* Whose code a packet points to. */
static void count_ip(struct state *s, const struct pt_packet_ip *p)
{
	switch (p->ipc) {
	case pt_ipc_suppressed:
		return;
	case pt_ipc_update_16:
		s->last_ip = (s->last_ip & ~0xffffULL) | p->ip;
		break;
	case pt_ipc_update_32:
		s->last_ip = (s->last_ip & ~0xffffffffULL) | p->ip;
		break;
	case pt_ipc_update_48:
		s->last_ip = (s->last_ip & ~0xffffffffffffULL) | p->ip;
		break;
	case pt_ipc_sext_48:
		s->last_ip = (uint64_t)((int64_t)(p->ip << 16) >> 16);
		break;
	case pt_ipc_full:
		s->last_ip = p->ip;
		break;
	}
	if (!s->ip_known)
		return;
	if (s->last_ip >> 63)
		s->ip_kernel++;
	else
		s->ip_user++;
}

static void check_order(struct state *s, const struct pt_packet *p, uint64_t at)
{
	bool branch = p->type == ppt_tnt_8 || p->type == ppt_tnt_64 || p->type == ppt_tip;

	if (branch && !s->enabled && !s->unsure)
		wrong(s, at, "a branch while tracing is disabled");
	if (s->in_psb && (branch || p->type == ppt_tip_pge || p->type == ppt_tip_pgd))
		wrong(s, at, "a branch between PSB and PSBEND");

	switch (p->type) {
	case ppt_psb:
		if (s->in_psb)
			wrong(s, at, "PSB before PSBEND");
		s->in_psb = true;
		s->last_ip = 0;
		s->ip_known = true;
		s->psb_at = at;
		s->psbs++;
		break;
	case ppt_psbend:
		if (!s->in_psb)
			wrong(s, at, "PSBEND without PSB");
		s->in_psb = false;
		break;
	case ppt_tip_pge:
		if (s->enabled && !s->unsure)
			wrong(s, at, "TIP.PGE while tracing is enabled");
		s->unsure = false;
		s->enabled = true;
		s->pge++;
		break;
	case ppt_tip_pgd:
		if (!s->enabled && !s->unsure)
			wrong(s, at, "TIP.PGD while tracing is disabled");
		s->unsure = false;
		s->enabled = false;
		break;
	case ppt_fup:
		if (!s->enabled && !s->unsure)
			wrong(s, at, "FUP while tracing is disabled");
		break;
	case ppt_tsc:
		if (p->payload.tsc.tsc < s->tsc)
			wrong(s, at, "time runs backwards");
		s->tsc = p->payload.tsc.tsc;
		if (!s->first_tsc)
			s->first_tsc = s->tsc;
		s->tsc_packets++;
		break;
	case ppt_ovf:
		/* A FUP or TIP.PGE tells where it goes on. */
		s->enabled = false;
		s->in_psb = false;
		s->ovf++;
		break;
	case ppt_pad:
		wrong(s, at, "a PAD, or zeroes that are no trace");
		break;
	default:
		break;
	}
	s->decodable += branch && s->ip_known;
	if (p->type == ppt_tip || p->type == ppt_tip_pge || p->type == ppt_tip_pgd ||
	    p->type == ppt_fup)
		count_ip(s, &p->payload.ip);
	s->tnt += p->type == ppt_tnt_8 || p->type == ppt_tnt_64;
	s->tip += p->type == ppt_tip;
	s->mtc += p->type == ppt_mtc;
	s->cyc += p->type == ppt_cyc;
	s->pip += p->type == ppt_pip;
	s->pad += p->type == ppt_pad;
}

static void check_run(struct state *s, const struct run *run, bool may_be_cut)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	uint64_t at = 0, pge = s->pge;
	struct pt_packet p;
	int ret;

	pt_config_init(&config);
	config.begin = run->data;
	config.end = run->data + run->size;
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder || pt_pkt_sync_set(decoder, 0))
		trace_die("libipt", "no decoder");

	/* The driver starts the hardware anew: it is disabled till it says it is not. */
	s->enabled = false;
	s->unsure = false;
	s->in_psb = false;
	s->ip_known = false;
	s->decodable = 0;
	s->psb_at = 0;
	if (!s->base && (run->size < 4 || memcmp(run->data, "\x02\x82\x02\x82", 4)))
		wrong(s, 0, "the stream does not begin with a PSB");

	while (at < run->size) {
		ret = pt_pkt_next(decoder, &p, sizeof(p));
		if (ret == -pte_eos && may_be_cut) {
			s->cut++;
			break;
		}
		if (ret < 0) {
			wrong(s, at, pt_errstr(pt_errcode(ret)));
			/* From the next PSB on, if there is one. */
			if (pt_pkt_sync_forward(decoder) < 0)
				break;
			pt_pkt_get_offset(decoder, &at);
			s->unsure = true;
			s->in_psb = false;
			continue;
		}
		s->packets++;
		check_order(s, &p, at);
		if (at - s->psb_at > LONG_WITHOUT_PSB) {
			wrong(s, at, "no PSB for long");
			s->psb_at = at;
		}
		at += ret;
	}
	s->pauses += s->pge > pge ? s->pge - pge - 1 : 0;
	pt_pkt_free_decoder(decoder);
	if (!s->run)
		return;
	if (s->decodable)
		s->resumed++;
	else if (run->size < SHORT_RUN)
		s->brief++;
	else
		wrong(s, 0, "behind a gap, without a PSB and branches behind it");
}

int main(int argc, char **argv)
{
	const uint32_t stops = AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED;
	uint64_t gaps_full = 0, gaps_driver = 0, gaps_hotplug = 0, gaps_stopped = 0;
	struct state s = { 0 };
	struct trace t;
	int option;
	size_t i;

	while ((option = getopt(argc, argv, "k")) != -1) {
		if (option != 'k')
			return 2;
		trace_may_be_cut = true;
	}
	if (argc - optind < 1 || argc - optind > 2) {
		fputs("Usage: ptpackets [-k] FILE [CPU]\n", stderr);
		return 2;
	}
	t = trace_open(argv[optind], argc - optind > 1 ? strtoul(argv[optind + 1], NULL, 0) : 0);
	for (i = 0; i < t.nr; i++) {
		const struct run *run = &t.runs[i];
		const struct run *next = i + 1 < t.nr ? run + 1 : NULL;
		uint32_t flags = run->flags;

		s.run = i;
		if (i) {
			gaps_full += !!(flags & AUXTRACE_WINDOW_FULL);
			gaps_hotplug += !!(flags & AUXTRACE_WINDOW_HOTPLUG);
			gaps_stopped += !!(flags & AUXTRACE_WINDOW_STOPPED);
			gaps_driver += !(flags & (AUXTRACE_WINDOW_FULL | stops));
		}
		if (run->size)
			check_run(&s, run,
				  next ? next->flags & AUXTRACE_WINDOW_FULL ||
						  !(next->flags & stops)
				       : !run->last);
		else if (i)
			s.brief++;
		s.base += run->size;
	}
	printf("bytes=%" PRIu64 " packets=%" PRIu64 " psb=%" PRIu64 " tnt=%" PRIu64 " tip=%" PRIu64
	       " pge=%" PRIu64 " tsc=%" PRIu64 " mtc=%" PRIu64 " cyc=%" PRIu64 " pip=%" PRIu64
	       " ovf=%" PRIu64 " pad=%" PRIu64 " ip_user=%" PRIu64 " ip_kernel=%" PRIu64
	       " pauses=%" PRIu64 " ticks=%" PRIu64 " windows=%" PRIu64
	       " gaps=%zu gaps_full=%" PRIu64 " gaps_driver=%" PRIu64 " gaps_hotplug=%" PRIu64
	       " gaps_stopped=%" PRIu64 " truncated=%" PRIu64 " cut=%" PRIu64 " resumed=%" PRIu64
	       " brief=%" PRIu64 " errors=%" PRIu64 "\n",
	       s.base, s.packets, s.psbs, s.tnt, s.tip, s.pge, s.tsc_packets, s.mtc, s.cyc, s.pip,
	       s.ovf, s.pad, s.ip_user, s.ip_kernel, s.pauses, s.tsc - s.first_tsc, t.windows,
	       t.nr ? t.nr - 1 : 0, gaps_full, gaps_driver, gaps_hotplug, gaps_stopped, t.truncated,
	       s.cut, s.resumed, s.brief, s.errors);
	return s.errors ? 1 : 0;
}
