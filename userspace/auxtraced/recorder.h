/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of one CPU: written, rotated, and what could not be written counted.
 *
 * A recorder is used by one thread at a time.
 */
#ifndef AUXTRACED_RECORDER_H
#define AUXTRACED_RECORDER_H

#include "auxtrace.h"
#include "config.h"
#include "counters.h"
#include "store.h"

struct recorder {
	unsigned int cpu;
	struct counters *counters;

	/* The file that is being written; NULL: the next window begins one. */
	struct auxtrace_writer *writer;
	struct store_file *file;
	uint64_t begun;	      /* when, on CLOCK_MONOTONIC, in ns */
	uint64_t named;	      /* the time in its name, or the last one's, in ms ... */
	uint64_t named_at;    /* ... and what the clock said then */
	uint64_t pending;     /* bytes at most that the writer holds back, to compress them */
	uint64_t written;     /* its size as it was counted last */
	uint64_t flush_at;    /* when it shall be held back no longer */
	bool unsynced;	      /* written since the last fdatasync() ... */
	uint64_t synced;      /* ... when it had this size */
	uint64_t sync_at;     /* when that shall be on the disk, at SYNC_PERIODIC ... */
	uint64_t sync_period; /* ... and how long after it was written, ns */
	bool in_window;	      /* some of its parts were given */
	bool skipping;	      /* the others of a window whose first had no file */
	bool has_windows;
	bool rotate_due; /* when the window ends */

	/* Losses. */
	uint64_t lost_bytes; /* of the writer, as they were counted last */
	uint64_t lost_windows;
	uint64_t untold_bytes; /* that the next file has to tell of */
	uint64_t untold_windows;
	uint64_t error_at; /* when there was one last */
	int error;	   /* why, -errno; 0: all goes well */
	uint64_t retry;	   /* when to try to make a file again */
	int sync_error;	   /* of the last sync, -errno */
};

/* What is to be done, and where to. */
struct recording {
	const struct config *config;
	struct store *store;
	uint64_t file_size; /* that holds at present, 0: any */
};

/*
 * recorder_item() - write what a reader gave
 * @stream: what is known of the stream, or NULL
 *
 * Begins a file, and ends the one before, where it is time. Errors are logged and counted.
 */
void recorder_item(struct recorder *r, const struct recording *to, const struct auxtrace_item *item,
		   const struct auxtrace_stream *stream);

/* Ends the file, so that the next window begins another. */
void recorder_rotate(struct recorder *r, const struct recording *to);

/* Does what is due by the clock: ends an old file, compresses what waits, syncs. */
void recorder_tick(struct recorder *r, const struct recording *to);

/* Is there such a thing? */
bool recorder_is_due(const struct recorder *r, const struct config *config);

/* Ends the file for good. */
void recorder_end(struct recorder *r, const struct recording *to);

/* Is it an error that goes away when somebody makes room? */
bool is_full(int error);

/* ns on CLOCK_MONOTONIC */
uint64_t monotonic_now(void);

#endif
