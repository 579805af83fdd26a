/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of auxtrace record share.
 */
#ifndef AUXTRACE_RECORD_H
#define AUXTRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "devices.h"

/*
 * struct traced - a CPU that is recorded
 * @event_before: what to restore, if has_event_before; likewise @buffer_before
 * @device: NULL: not open
 * @writer: the recording's only one, or its own
 * @path: of its own file, or ""
 * @retry_at: the event cannot run; when to look again
 * @more: its reader may have more at once
 * @status: at the end
 */
struct traced {
	unsigned int cpu;
	struct auxtrace_event event_before;
	bool has_event_before;
	char buffer_before[32];
	bool has_buffer_before;
	struct auxtrace_device *device;
	struct auxtrace_reader *reader;
	struct auxtrace_stream *stream;
	struct auxtrace_writer *writer;
	char path[4096];
	uint64_t retry_at;
	bool failed_before;
	bool more;
	bool ended;
	struct auxtrace_status status;
};

/* struct recording - what is wanted, and what there is */
struct recording {
	/* options */
	const char *cpus;
	bool has_event;
	struct auxtrace_event event;
	const char *buffer_size;
	const char *output;
	bool force;
	uint32_t compression;
	uint64_t max_size; /* bytes of trace; 0: no end */
	uint64_t max_time; /* nanoseconds; 0: no end */
	bool wait;
	bool quiet;
	char **argv; /* the command's, or NULL */

	struct traced *traced;
	size_t n;
	struct auxtrace_writer *writer; /* of all, or NULL */
	pid_t child;			/* 0: none, or it has ended */
	int child_status;		/* as of waitpid() */
	bool child_ended;

	uint64_t started; /* CLOCK_MONOTONIC, ns */
	uint64_t stopped; /* 0: not yet */
	uint64_t bytes;	  /* given to the writers, who may have lost some */
	uint64_t windows;
	uint64_t gaps;
	int write_error; /* -errno, the first */
};

uint64_t monotonic_ns(void);

/* ---- record-setup.c ---- */

/*
 * open_devices() - apply the settings, and open all devices
 *
 * Return: EXIT_OK; or EXIT_FAILED after a line. What is open or set stays so.
 */
int open_devices(struct recording *r);

/* Closes them, and restores the settings. */
void close_devices(struct recording *r);

/*
 * open_outputs() - make the files
 *
 * Return: EXIT_OK; or EXIT_FAILED after a line.
 */
int open_outputs(struct recording *r);

/* Keeps the first error in write_error. */
void note_write(struct recording *r, int ret);

/* All that was given to them is in the files; or write_error says why not. */
void flush_outputs(struct recording *r);

/* Completes them; likewise. */
void close_outputs(struct recording *r);

/* Bytes in all of them; bytes of trace that could not be written, and windows. */
uint64_t output_size(const struct recording *r);
uint64_t output_lost(const struct recording *r, uint64_t *windows);

/* start_command() - run the command. Return: EXIT_OK, or what to exit with, after a line. */
int start_command(struct recording *r);

/* EXIT_OK, or what to exit with, after a line that says why: there is no such command. */
int check_command(const struct recording *r);

/* ---- record-signals.c ---- */

/*
 * take_signals() - from here on SIGINT, SIGTERM and SIGHUP end the recording, but what is
 *	ignored stays so; the second that comes ends the program
 *
 * Return: EXIT_OK; or EXIT_FAILED after a line.
 */
int take_signals(void);

/* Readable when there is something for has_ended(). */
int signals_fd(void);

/*
 * has_ended() - take notice of signals, wait for @ms milliseconds at most if there are none
 *
 * Return: is it over: by a signal, or because the command has ended?
 */
bool has_ended(struct recording *r, int ms);

/*
 * signals_stop() - let signals, and the end of max_time, stop the devices of @r right then,
 *	wherever the program is; NULL: no longer
 */
void signals_stop(struct recording *r);

/* From here on the first one ends the program. */
void default_signals(void);

/* In the child: as the command shall find them. */
void signals_of_child(void);

/* ---- record-loop.c ---- */

/* record() - until the end. Return: EXIT_OK; or EXIT_FAILED after a line. */
int record(struct recording *r);

#endif /* AUXTRACE_RECORD_H */
