// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A CPU's stream, and its thread.
 *
 * Owns the device and its reader. The main loop owns the rest of the daemon's life: see
 * daemon.c for when which task is asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "stream.h"

/* What is read in one go, before others are let to ask for something. */
#define MAX_TURN (16 << 20)

/* How long a device that was stopped may take to give the rest, in ms. */
#define STOP_PATIENCE 10000

/* ---- Opening --------------------------------------------------------------------- */

/*
 * The kernel logs each refusal, so ask sysfs before. (Somebody may be faster, or perf may have
 * the PMU, which only opening tells.)
 */
static int may_open(unsigned int cpu)
{
	char state[32];
	int ret = auxtrace_attribute_get(NULL, cpu, "state", state, sizeof(state));

	if (ret < 0)
		return ret == -ENODEV ? -ENOENT : 0;
	if (!strcmp(state, "offline"))
		return -ENODEV;
	return strcmp(state, "closed") ? -EBUSY : 0;
}

static int open_device(struct stream *s)
{
	int ret = may_open(s->cpu);

	ret = ret ?: auxtrace_device_open_cpu(&s->device, s->cpu, AUXTRACE_OPEN_NONBLOCK);
	if (ret)
		return ret;
	s->fd = auxtrace_device_fd(s->device);
	ret = auxtrace_stream_from_device(&s->description, s->device, NULL);
	ret = ret ?: auxtrace_reader_from_device(&s->reader, s->device, NULL);
	return ret;
}

static int open_source(struct stream *s)
{
	struct stat st;

	s->fd = open(s->source, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (s->fd < 0)
		return -errno;
	if (fstat(s->fd, &st) || !S_ISFIFO(st.st_mode))
		return -ENOTTY;
	return auxtrace_reader_from_fd(&s->reader, s->fd, NULL);
}

static void close_stream(struct stream *s)
{
	auxtrace_reader_free(s->reader);
	auxtrace_stream_free(s->description);
	if (s->device)
		auxtrace_device_close(s->device);
	else if (s->fd >= 0)
		close(s->fd);
	s->reader = NULL;
	s->description = NULL;
	s->device = NULL;
	s->fd = -1;
	s->counters->recording = false;
}

static void open_stream(struct stream *s)
{
	s->open_error = s->source ? open_source(s) : open_device(s);
	s->ended = false;
	s->read_error = 0;
	if (s->open_error) {
		close_stream(s);
		return;
	}
	s->counters->recording = true;
	count(s->counters, COUNT_OPENS, 1);
}

const char *stream_open_error(const struct stream *s, int error)
{
	if (!s->source)
		return auxtrace_open_error(error);
	return error == -ENOTTY ? "no named pipe" : strerror(-error);
}

/* ---- Reading ------------------------------------------------------------------------- */

static void take(struct stream *s, const struct auxtrace_item *item)
{
	const struct auxtrace_stream *description = s->description ?: item->stream;

	recorder_item(&s->recorder, &s->recording, item, description);
}

/* Up to @max bytes. The reader's last word: 0 at the end, -EAGAIN; 1: there may be more. */
static int read_some(struct stream *s, uint64_t max)
{
	const struct auxtrace_item *item;
	uint64_t bytes = 0;
	int ret;

	while (bytes < max) {
		ret = auxtrace_reader_next(s->reader, &item);
		if (ret == -EINTR)
			continue;
		if (ret != 1)
			return ret;
		take(s, item);
		bytes += item->raw_size;
	}
	return 1;
}

static void read_stream(struct stream *s)
{
	int ret = read_some(s, MAX_TURN);

	s->ended = !ret;
	s->more = ret == 1;
	s->read_error = ret < 0 && ret != -EAGAIN ? ret : 0;
}

/* All that is left. Of a pipe, what is in it. */
static int read_rest(struct stream *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	int ret;

	for (;;) {
		ret = read_some(s, UINT64_MAX);
		if (ret != -EAGAIN || !s->device)
			return ret == -EAGAIN ? 0 : ret;
		ret = poll(&p, 1, STOP_PATIENCE);
		if (!ret)
			return -ETIMEDOUT;
		if (ret < 0 && errno != EINTR)
			return -errno;
	}
}

static void stop_stream(struct stream *s)
{
	int ret = 0;

	if (s->reader) {
		if (s->device)
			ret = auxtrace_device_stop(s->device);
		if (!ret)
			ret = read_rest(s);
		if (ret)
			log_error("CPU %u: cannot read the rest of its trace: %s", s->cpu,
				  strerror(-ret));
	}
	recorder_end(&s->recorder, &s->recording);
	close_stream(s);
}

/* ---- The thread ------------------------------------------------------------------------- */

static void work(struct stream *s, unsigned int tasks)
{
	s->more = false;
	if (tasks & TASK_OPEN && !s->reader)
		open_stream(s);
	if (tasks & TASK_ROTATE)
		recorder_rotate(&s->recorder, &s->recording);
	if (tasks & TASK_READ && s->reader)
		read_stream(s);
	if (tasks & TASK_TICK)
		recorder_tick(&s->recorder, &s->recording);
	/* An ended source has nothing more, but what of its window is there has to go. */
	if (tasks & TASK_STOP || s->ended)
		stop_stream(s);
}

static void hand_back(struct stream *s)
{
	struct stream_queue *queue = s->queue;

	pthread_mutex_lock(&queue->lock);
	s->next_done = queue->done;
	queue->done = s;
	pthread_mutex_unlock(&queue->lock);
	eventfd_write(queue->fd, 1);
}

static void *run(void *stream)
{
	struct stream *s = stream;

	pthread_mutex_lock(&s->lock);
	while (!s->quit) {
		unsigned int tasks = s->tasks;

		s->tasks = 0;
		if (!tasks) {
			pthread_cond_wait(&s->handed, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		work(s, tasks);
		hand_back(s);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

void stream_hand_over(struct stream *s, unsigned int tasks, const struct recording *recording)
{
	s->busy = true;
	pthread_mutex_lock(&s->lock);
	s->recording = *recording;
	s->tasks = tasks;
	pthread_cond_signal(&s->handed);
	pthread_mutex_unlock(&s->lock);
}

/* ---- Making and ending ---------------------------------------------------------------------- */

int stream_new(struct stream **stream, unsigned int cpu, const char *source,
	       struct stream_queue *queue)
{
	struct stream *s = calloc(1, sizeof(*s));
	int ret = ENOMEM;

	if (!s)
		return -ENOMEM;
	s->cpu = cpu;
	s->fd = -1;
	s->queue = queue;
	s->counters = counters_of(cpu);
	s->recorder.cpu = cpu;
	s->recorder.counters = s->counters;
	if (source)
		s->source = strdup(source);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->handed, NULL);
	if (s->counters && (s->source || !source))
		ret = pthread_create(&s->thread, NULL, run, s);
	if (ret) {
		free(s->source);
		free(s);
		return -ret;
	}
	*stream = s;
	return 0;
}

void stream_free(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_signal(&s->handed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	sd_event_source_disable_unref(s->io);
	pthread_cond_destroy(&s->handed);
	pthread_mutex_destroy(&s->lock);
	free(s->source);
	free(s);
}

/* ---- The queue ----------------------------------------------------------------------------------
 */

int stream_queue_init(struct stream_queue *queue)
{
	queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	queue->done = NULL;
	pthread_mutex_init(&queue->lock, NULL);
	return queue->fd < 0 ? -errno : 0;
}

void stream_queue_destroy(struct stream_queue *queue)
{
	close(queue->fd);
	pthread_mutex_destroy(&queue->lock);
}

struct stream *stream_queue_take(struct stream_queue *queue)
{
	struct stream *done;
	eventfd_t n;

	eventfd_read(queue->fd, &n);
	pthread_mutex_lock(&queue->lock);
	done = queue->done;
	queue->done = NULL;
	pthread_mutex_unlock(&queue->lock);
	return done;
}
