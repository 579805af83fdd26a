// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The files of one CPU. Owns the writer, and the losses that no file tells of yet.
 *
 * While a disk is full, the file stays: the writer tries each window, and tells in the file
 * what was lost when there is room again. Where there is no file (the disk was full when one
 * was to begin, or another error made the last one useless), the loss is told in the next.
 *
 * A disk can also fail after write(2) took all. The kernel tells that once, by fdatasync(2), and
 * forgets what it could not write: later calls that succeed say nothing of it. So what was written
 * since the last good sync is counted apart then, and another file is begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "recorder.h"
#include "units.h"

/* How long trace waits at most to be compressed with more, in ns. */
#define MAX_WAIT 1000000000

/* By how much a clock has to be set back, in ms, that names follow it rather than each other. */
#define SET_BACK 10000

/* How many names are tried. */
#define MAX_NAMES 10000

/* ns between attempts to make a file */
#define RETRY_PERIOD 200000000

/* How long all has to go well to be told so, in ns: small windows fit where large ones do not. */
#define CALM 1000000000

/* About what a file has before its first window. */
#define BEGINNING 8192

uint64_t monotonic_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

bool is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

/* ---- Losses --------------------------------------------------------------------------- */

static void note_error(struct recorder *r, int error)
{
	if (!r->error)
		log_error("CPU %u: cannot write its trace: %s; going on, without it%s", r->cpu,
			  strerror(-error), is_full(error) ? " until there is room" : "");
	r->error = error;
	r->error_at = monotonic_now();
}

static void note_success(struct recorder *r)
{
	char text[UNITS_LEN];

	if (!r->error || monotonic_now() - r->error_at < CALM)
		return;
	log_info("CPU %u: writes its trace again; %s lost since the start", r->cpu,
		 format_size(text, counted(r->counters, COUNT_LOST_FULL_BYTES) +
					   counted(r->counters, COUNT_LOST_ERROR_BYTES)));
	r->error = 0;
}

static void note_lost(struct recorder *r, int error, uint64_t windows, uint64_t bytes)
{
	bool full = is_full(error);

	count(r->counters, full ? COUNT_LOST_FULL_WINDOWS : COUNT_LOST_ERROR_WINDOWS, windows);
	count(r->counters, full ? COUNT_LOST_FULL_BYTES : COUNT_LOST_ERROR_BYTES, bytes);
}

/* Takes in what the writer did, with @ret from it. */
static void note_writer(struct recorder *r, int ret)
{
	uint64_t windows, bytes = auxtrace_writer_lost(r->writer, &windows);
	uint64_t size = auxtrace_writer_size(r->writer);

	if (size > r->written) {
		count(r->counters, COUNT_WRITTEN, size - r->written);
		r->written = size;
		if (!r->unsynced &&
		    __builtin_add_overflow(monotonic_now(), r->sync_period, &r->sync_at))
			r->sync_at = UINT64_MAX;
		r->unsynced = true;
	}
	if (windows > r->lost_windows) {
		note_lost(r, ret ?: -EIO, windows - r->lost_windows, bytes - r->lost_bytes);
		r->lost_windows = windows;
		r->lost_bytes = bytes;
	}
	if (ret)
		note_error(r, ret);
	else
		note_success(r);
}

/* How a sync went, with @ret from it; or what close(2) told instead. */
static void note_sync(struct recorder *r, int ret)
{
	uint64_t bytes = r->written - r->synced;
	char text[UNITS_LEN];

	if (ret) {
		count(r->counters, COUNT_SYNC_ERRORS, 1);
		count(r->counters, COUNT_SYNC_FAILED_BYTES, bytes);
		if (!r->sync_error)
			log_error("CPU %u: cannot put its trace on the disk: %s; the last %s of %s "
				  "may be missing there; going on with another file",
				  r->cpu, strerror(-ret), format_size(text, bytes),
				  store_file_name(r->file));
	} else if (r->sync_error) {
		bytes = counted(r->counters, COUNT_SYNC_FAILED_BYTES);
		log_info("CPU %u: its new trace is put on the disk again; %s before may be missing "
			 "there",
			 r->cpu, format_size(text, bytes));
	}
	r->sync_error = ret;
	r->synced = r->written;
	r->unsynced = false;
}

/* ---- A file's end ------------------------------------------------------------------------ */

static int to_disk(struct recorder *r, int fd)
{
	return fdatasync(fd) ? -errno : store_file_sync(r->file);
}

/*
 * The writer tells of losses at last, if it can. Else the next file has to. That belongs on the
 * disk too, so the descriptor outlives the writer.
 */
static void close_file(struct recorder *r, bool sync)
{
	int fd = -1, ret, error = 0;
	bool due;

	r->untold_bytes = auxtrace_writer_untold(r->writer, &r->untold_windows);
	due = sync && (r->unsynced || r->untold_windows);
	if (due) {
		fd = fcntl(auxtrace_writer_fd(r->writer), F_DUPFD_CLOEXEC, 0);
		error = fd < 0 ? -errno : 0;
	}
	ret = auxtrace_writer_close(r->writer);
	if (ret && r->untold_windows) {
		note_error(r, ret);
	} else {
		/* Then it was all written; close(2) told of it. */
		error = error ?: ret;
		r->untold_windows = 0;
		r->untold_bytes = 0;
	}
	r->writer = NULL;
	if (fd >= 0) {
		ret = to_disk(r, fd);
		error = error ?: ret;
		close(fd);
	}
	if (due || error)
		note_sync(r, error);
	/* No sync will tell that it is over. */
	if (!sync)
		r->sync_error = 0;
	store_file_end(r->file, true);
	r->file = NULL;
	r->in_window = false;
	r->rotate_due = false;
}

static void end_file(struct recorder *r, const struct recording *to)
{
	note_writer(r, auxtrace_writer_flush(r->writer));
	close_file(r, to->config->sync != SYNC_NEVER);
}

void recorder_rotate(struct recorder *r, const struct recording *to)
{
	if (!r->writer)
		return;
	if (r->in_window) {
		r->rotate_due = true;
		return;
	}
	end_file(r, to);
	count(r->counters, COUNT_ROTATIONS, 1);
}

void recorder_end(struct recorder *r, const struct recording *to)
{
	if (r->writer)
		end_file(r, to);
	if (r->untold_windows)
		log_warning("CPU %u: its last file does not tell that %" PRIu64
			    " windows are missing behind it",
			    r->cpu, r->untold_windows);
	r->untold_windows = 0;
	r->untold_bytes = 0;
	r->skipping = false;
}

/* ---- A file's beginning --------------------------------------------------------------------- */

/*
 * In ms on CLOCK_REALTIME, behind the last file's, that their names are in their order. (Files
 * can follow each other within a millisecond. A clock that was set back counts for more.)
 */
static uint64_t time_for_name(struct recorder *r)
{
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_REALTIME, &t);
	now = t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
	if (now + SET_BACK <= r->named_at)
		r->named = 0;
	r->named_at = now;
	return now > r->named ? now : r->named + 1;
}

/* The name of a file that there was not is in @r->file. */
static int make_file(struct recorder *r, const struct recording *to)
{
	const struct config *config = to->config;
	struct auxtrace_writer_options options = {
		.size = sizeof(options),
		.flags = AUXTRACE_WRITER_NEW,
		.compression = config->compression,
		.mode = config->mode,
	};
	uint64_t ms = time_for_name(r), end = ms + MAX_NAMES;
	char path[PATH_MAX];
	int ret = -EEXIST;

	for (; ret == -EEXIST && ms < end; ms++) {
		r->file = store_file_new(to->store, r->cpu, config->compression, ms, path);
		if (!r->file)
			return -ENOMEM;
		store_file_grow(r->file, BEGINNING);
		ret = auxtrace_writer_open(&r->writer, path, &options);
		if (!ret) {
			r->named = ms;
			return 0;
		}
		/* It may be there, empty. */
		if (ret != -EEXIST)
			unlink(path);
		store_file_end(r->file, false);
		r->file = NULL;
	}
	return ret;
}

static int begin_file(struct recorder *r, const struct recording *to,
		      const struct auxtrace_stream *stream)
{
	uint64_t now = monotonic_now();
	int ret;

	if (now < r->retry)
		return r->error;
	ret = make_file(r, to);
	if (ret) {
		r->retry = now + RETRY_PERIOD;
		note_error(r, ret);
		return ret;
	}
	count(r->counters, COUNT_FILES, 1);
	r->begun = now;
	r->has_windows = false;
	r->unsynced = false;
	r->synced = 0;
	r->sync_period = to->config->sync_period;
	r->pending = 0;
	r->written = 0;
	r->lost_bytes = 0;
	r->lost_windows = 0;
	if (r->untold_windows) {
		auxtrace_writer_tell_lost(r->writer, r->cpu, -r->error, r->untold_windows,
					  r->untold_bytes);
		r->untold_windows = 0;
		r->untold_bytes = 0;
	}
	ret = stream ? auxtrace_writer_stream(r->writer, stream) : 0;
	note_writer(r, ret);
	return 0;
}

/* ---- Items --------------------------------------------------------------------------------------
 */

/* Is the file too large for @more bytes? Files have one window at least. */
static bool is_too_large(const struct recorder *r, const struct recording *to, uint64_t more)
{
	return to->file_size && r->has_windows &&
	       auxtrace_writer_size(r->writer) + r->pending + more > to->file_size;
}

static void begin_window(struct recorder *r, const struct recording *to,
			 const struct auxtrace_item *item, const struct auxtrace_stream *stream)
{
	uint64_t size = item->window->header_size + item->window->size + 8;

	count_window(r->counters, item->window);
	if (r->writer && is_too_large(r, to, size))
		recorder_rotate(r, to);
	if (!r->writer)
		begin_file(r, to, stream);
	r->skipping = !r->writer;
	if (r->skipping) {
		note_lost(r, r->error, 1, item->window->size);
		r->untold_windows++;
		r->untold_bytes += item->window->size;
		return;
	}
	store_file_grow(r->file, auxtrace_writer_size(r->writer) + r->pending + size);
}

/* The writer took @bytes more; some of all may be in the file now. */
static void note_held_back(struct recorder *r, bool wrote, uint64_t bytes)
{
	if (wrote)
		r->pending = 0;
	if (!r->pending)
		r->flush_at = monotonic_now() + MAX_WAIT;
	r->pending += bytes;
}

static void take_window(struct recorder *r, const struct recording *to,
			const struct auxtrace_item *item, const struct auxtrace_stream *stream)
{
	uint64_t size;
	int ret;

	if (!item->at)
		begin_window(r, to, item, stream);
	r->in_window = !item->last;
	count(r->counters, COUNT_BYTES, item->size);
	if (r->skipping)
		return;

	size = auxtrace_writer_size(r->writer);
	ret = auxtrace_writer_item(r->writer, item);
	if (to->config->compression)
		note_held_back(r, auxtrace_writer_size(r->writer) != size, item->raw_size);
	if (!item->last)
		return;
	/* What was reserved for it may have been too much. */
	store_file_grow(r->file, auxtrace_writer_size(r->writer) + r->pending);
	r->has_windows |= !ret;
	note_writer(r, ret);
	/* One that does not get better: another file may. */
	if (ret && !is_full(ret)) {
		r->retry = monotonic_now() + RETRY_PERIOD;
		close_file(r, to->config->sync != SYNC_NEVER);
	}
	if (r->rotate_due)
		recorder_rotate(r, to);
}

void recorder_item(struct recorder *r, const struct recording *to, const struct auxtrace_item *item,
		   const struct auxtrace_stream *stream)
{
	switch (item->kind) {
	case AUXTRACE_ITEM_WINDOW:
		take_window(r, to, item, stream);
		break;
	case AUXTRACE_ITEM_LOST:
		/* By who recorded it before. */
		if (r->writer) {
			auxtrace_writer_item(r->writer, item);
		} else {
			r->untold_windows += item->lost_windows;
			r->untold_bytes += item->lost_bytes;
		}
		break;
	case AUXTRACE_ITEM_DAMAGE:
		count(r->counters, COUNT_DAMAGE, 1);
		log_warning("CPU %u: its stream is damaged: %s", r->cpu,
			    auxtrace_damage_text(item->damage));
		/* fall through */
	case AUXTRACE_ITEM_STREAM:
		if (r->writer)
			note_writer(r, auxtrace_writer_item(r->writer, item));
		if (item->damage == AUXTRACE_DAMAGE_ABORTED)
			r->in_window = false;
		break;
	default:
		break;
	}
}

/* ---- The clock
 * ------------------------------------------------------------------------------------ */

static bool is_old(const struct recorder *r, const struct config *config, uint64_t now)
{
	return config->file_age && r->has_windows && now - r->begun >= config->file_age;
}

static bool is_sync_due(const struct recorder *r, const struct config *config, uint64_t now)
{
	return config->sync == SYNC_PERIODIC && r->unsynced && now >= r->sync_at;
}

bool recorder_is_due(const struct recorder *r, const struct config *config)
{
	uint64_t now = monotonic_now();

	return r->writer && !r->in_window &&
	       (is_old(r, config, now) || (r->pending && now >= r->flush_at) ||
		is_sync_due(r, config, now));
}

void recorder_tick(struct recorder *r, const struct recording *to)
{
	uint64_t now = monotonic_now();

	if (!r->writer)
		return;
	if (is_old(r, to->config, now)) {
		recorder_rotate(r, to);
		return;
	}
	if (r->in_window)
		return;
	if (r->pending && now >= r->flush_at) {
		note_writer(r, auxtrace_writer_flush(r->writer));
		r->pending = 0;
	}
	if (!is_sync_due(r, to->config, now))
		return;
	note_sync(r, to_disk(r, auxtrace_writer_fd(r->writer)));
	if (r->sync_error)
		recorder_rotate(r, to);
}
