/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A CPU's stream: its device, and the thread that reads and writes it.
 *
 * The main loop waits for all devices. When one has trace, its stream is handed to its thread,
 * which reads all there is and writes it, and hands the stream back. So a write that takes long
 * delays that CPU's trace alone. What concerns a stream is either the thread's or the main
 * loop's at any time; only the hand-over is locked.
 */
#ifndef AUXTRACED_STREAM_H
#define AUXTRACED_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "auxtrace.h"
#include "recorder.h"

/* What a thread is asked to do, in this order. */
enum stream_task {
	TASK_OPEN = 1U << 0,
	TASK_ROTATE = 1U << 1,
	TASK_READ = 1U << 2,
	TASK_TICK = 1U << 3, /* what is due by the clock */
	TASK_STOP = 1U << 4, /* stop tracing, write the rest, close */
};

struct stream;

/* How streams are handed back. */
struct stream_queue {
	int fd; /* an eventfd: readable when there are some */
	pthread_mutex_t lock;
	struct stream *done;
};

struct stream {
	struct stream *next; /* main loop's list */
	unsigned int cpu;
	char *source; /* a path; NULL: the device */
	struct counters *counters;

	/* The main loop's. */
	void *loop;
	unsigned int wanted; /* when it is back */
	bool busy;	     /* it is the thread's */
	bool leaving;	     /* to be freed when it is closed */
	bool tried;	     /* to open it */
	bool read_failed;    /* that was logged */
	sd_event_source *io;
	int logged_error;      /* of opening, that was logged last */
	uint64_t next_try;     /* to open it, monotonic ns */
	uint64_t try_period;   /* ns */
	uint64_t blocked_till; /* its event cannot run; monotonic ns */

	/* Whoever has it. */
	struct auxtrace_device *device;
	struct auxtrace_reader *reader; /* NULL: it is not open */
	struct auxtrace_stream *description;
	int fd; /* to wait for */
	struct recorder recorder;
	int open_error; /* of the last TASK_OPEN, -errno */
	int read_error; /* of the last TASK_READ */
	bool ended;	/* it gives no more */
	bool more;	/* there is more to read at once: what poll cannot see, too */

	/* The hand-over. */
	struct stream_queue *queue;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t handed;
	unsigned int tasks; /* 0: none yet */
	bool quit;
	struct recording recording;
	struct stream *next_done;
};

int stream_queue_init(struct stream_queue *queue);
void stream_queue_destroy(struct stream_queue *queue);
/* Streams that are back, linked by next_done. */
struct stream *stream_queue_take(struct stream_queue *queue);

/* Makes one, with its thread, not open yet. @source may be NULL. 0 or -errno. */
int stream_new(struct stream **stream, unsigned int cpu, const char *source,
	       struct stream_queue *queue);

/* Ends the thread; the stream is not busy, and closed. */
void stream_free(struct stream *stream);

/* Hands it over. @recording stays as it is until the stream is back. */
void stream_hand_over(struct stream *stream, unsigned int tasks, const struct recording *recording);

/* Words for @open_error. */
const char *stream_open_error(const struct stream *stream, int error);

#endif
