/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stress: a device while a thread has it open
 */
#ifndef TESTS_SESSION_H
#define TESTS_SESSION_H

#include "../lib/frames.h"
#include "../lib/pattern_check.h"
#include "stress.h"

/* Fields of the simulator's config1: see its format/. */
#define SIM_ALIGN(config1)     ((config1)&0xffff)
#define SIM_PARTIAL(config1)   ((config1) >> 48 & 0xff)
#define SIM_COLLISION(config1) ((config1) >> 56)

/* Reads are of up to 2^19 bytes; a pipe takes less at a time. */
#define READ_SHIFT 19
#define READ_MAX   ((size_t)1 << READ_SHIFT)

/* struct session - a device while a thread has it open */
struct session {
	struct device *device;
	int fd;
	int pipe[2];
	char *memory; /* READ_MAX bytes, and then none */
	struct baseline since;
	struct auxtrace_info info;
	struct auxtrace_status status; /* the last one */
	bool calm;		       /* nobody else has the descriptor */
	bool nonblock;
	bool may_wait; /* trace comes by itself, always */
	bool has_read;
	bool ended; /* has nothing more to do */
	uint64_t wake_bytes;

	struct checker checker;
	uint64_t aligned_start; /* offset of the last read that began with a word */
	bool broken;		/* a break was seen, and STATUS is to say so */

	bool framed;
	struct frames frames;
	uint32_t flags;	     /* of all windows since the last word of the pattern */
	bool must_break;     /* they say that the next word is behind a break */
	uint64_t words_then; /* words before that */
	uint64_t unshown;    /* how often it was not */
	bool last;	     /* the window before said so */
};

bool prepare_verifying(struct session *s);		  /* false without memory */
void begin_verifying(struct session *s);		  /* opened, and INFO asked */
void took(struct session *s, const char *data, size_t n); /* what one read gave */
uint64_t delivered(const struct session *s);		  /* bytes of trace, so far */
void look_at_status(struct session *s);
void check_driver_flags(struct session *s);

#endif
