// SPDX-License-Identifier: GPL-2.0-only
/*
 * uring - trace devices read through io_uring
 *
 * uring HOW BYTES DIRECTORY DEVICE...: drains the devices by one ring, stops each
 * stream after so many bytes, and ends when all have ended; the bytes go to
 * DIRECTORY. HOW is one of
 *   read       one read for each device
 *   nonblock   likewise, of descriptors with O_NONBLOCK
 *   queue      several reads for each device at once, into registered buffers
 *   poll       a poll, and a read linked to it
 *   multishot  one poll for all the time, and read(2) until EAGAIN; the kernel ends it
 *              when completions have no room, and it is added again
 *
 * uring cancel TIMES DEVICE: reads that are cancelled, until so many were, and so
 * many came too late. What was delivered goes to standard output.
 *
 * uring close WHERE DEVICE: a ring that is closed with reads pending, of a device
 * that publishes nothing by itself. What they, or reads afterwards, delivered goes
 * to standard output. WHERE they are pending is "poll", or "splice": in the device,
 * as what splices to pipes.
 *
 * uring exit WHERE DEVICE: ends with reads and a poll pending.
 *
 * uring offline DEVICE: one read, of a descriptor with O_NONBLOCK, while the CPU goes
 * offline. Says "waits" when all from before is read. The CPU is to come back then.
 */
#define _GNU_SOURCE
#include <liburing.h>
#include <poll.h>
#include <sys/stat.h>

#include "lib/random.h"
#include "lib/streams.h"

#define DEPTH	    8
#define BUFFER_SIZE (8 << 15)

/* Longer than anything takes that works. */
#define PATIENCE_S 120

/* A stream, its reads, and what they delivered. */
struct source {
	struct stream stream;
	char buffers[DEPTH][BUFFER_SIZE];
	int pipes[DEPTH][2];
	int pending; /* reads */
	struct pieces pieces;
};

static struct io_uring ring;
/* Requests at once. There is room for twice as many completions. */
static unsigned int ring_entries = MAX_STREAMS * DEPTH;
static struct source *sources;
static int nr_sources;
static uint64_t seed = 1;

/* What a request is about: its user_data. */
union topic {
	struct {
		int source;
		int slot; /* of the read's buffer */
	};
	uint64_t value;
};

/* The slot of requests that are no reads. */
#define NO_SLOT DEPTH

static struct io_uring_sqe *get_sqe(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	CHECK(sqe);
	return sqe;
}

static void set_topic(struct io_uring_sqe *sqe, int source, int slot)
{
	sqe->user_data = (union topic){ { source, slot } }.value;
}

/* Whole words, some to all of the buffer, so that pieces can be sorted. */
static unsigned int some(void)
{
	return 8 * random_size(&seed, 15);
}

static void add_read(int source, int slot, bool fixed)
{
	struct source *s = &sources[source];
	struct io_uring_sqe *sqe = get_sqe();

	if (fixed)
		io_uring_prep_read_fixed(sqe, s->stream.fd, s->buffers[slot], some(), 0, source);
	else
		io_uring_prep_read(sqe, s->stream.fd, s->buffers[slot], some(), 0);
	set_topic(sqe, source, slot);
	s->pending++;
}

static void add_splice(int source, int slot)
{
	struct source *s = &sources[source];
	struct io_uring_sqe *sqe = get_sqe();

	CHECK(!pipe2(s->pipes[slot], O_CLOEXEC | O_NONBLOCK));
	io_uring_prep_splice(sqe, s->stream.fd, -1, s->pipes[slot][1], -1, BUFFER_SIZE, 0);
	set_topic(sqe, source, slot);
	s->pending++;
}

static struct io_uring_sqe *add_poll(int source, bool multishot)
{
	struct io_uring_sqe *sqe = get_sqe();

	if (multishot)
		io_uring_prep_poll_multishot(sqe, sources[source].stream.fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, sources[source].stream.fd, POLLIN);
	set_topic(sqe, source, NO_SLOT);
	return sqe;
}

struct completion {
	union topic topic;
	int res;
	unsigned int flags;
};

static struct completion next_completion(void)
{
	struct io_uring_cqe *cqe;
	struct completion c;

	CHECK(io_uring_submit(&ring) >= 0);
	CHECK(!io_uring_wait_cqe(&ring, &cqe));
	c = (struct completion){ { .value = cqe->user_data }, cqe->res, cqe->flags };
	io_uring_cqe_seen(&ring, cqe);
	return c;
}

static void keep(struct source *s, const void *data, size_t size)
{
	void *copy = malloc(size);

	CHECK(copy);
	add_piece(&s->pieces, memcpy(copy, data, size), size);
	s->stream.bytes += size;
}

/* A read is complete. False if the stream has ended. */
static bool take(struct source *s, const struct completion *c)
{
	s->pending--;
	CHECK(c->res >= 0);
	if (c->res)
		keep(s, s->buffers[c->topic.slot], c->res);
	return c->res;
}

static void open_sources(char **devices, int n, const char *directory, int flags)
{
	struct iovec iov[MAX_STREAMS];
	int i;

	/* (In a program's own variables 6.1 takes some for parts of a file.) */
	sources = calloc(n, sizeof(*sources));
	CHECK(n <= MAX_STREAMS && sources);
	CHECK(!io_uring_queue_init(ring_entries, &ring, 0));
	for (i = 0; i < n; i++) {
		stream_open(&sources[i].stream, devices[i], directory, flags);
		iov[i] = (struct iovec){ sources[i].buffers, sizeof(sources[i].buffers) };
	}
	CHECK(!io_uring_register_buffers(&ring, iov, n));
	nr_sources = n;
}

/* A poll, and a read that is linked to it: so it never finds nothing. */
static void add_poll_and_read(int source)
{
	add_poll(source, false)->flags |= IOSQE_IO_LINK;
	add_read(source, 0, false);
}

static void drain_by_reads(int depth, uint64_t wanted)
{
	int running = nr_sources, source, slot;

	for (source = 0; source < nr_sources; source++) {
		for (slot = 0; slot < depth; slot++)
			add_read(source, slot, depth > 1);
	}
	while (running) {
		struct completion c = next_completion();
		struct source *s = &sources[c.topic.source];

		if (take(s, &c)) {
			stream_stop_after(&s->stream, wanted);
			add_read(c.topic.source, c.topic.slot, depth > 1);
		} else if (!s->pending) {
			stream_end(&s->stream);
			running--;
		}
	}
	for (source = 0; depth > 1 && source < nr_sources; source++)
		sort_pieces(&sources[source].pieces);
}

static void drain_by_polls(uint64_t wanted)
{
	int running = nr_sources, source;

	for (source = 0; source < nr_sources; source++)
		add_poll_and_read(source);
	while (running) {
		struct completion c = next_completion();
		struct source *s = &sources[c.topic.source];

		if (c.topic.slot == NO_SLOT) {
			CHECK(c.res == POLLIN || (s->stream.stopped && c.res == POLLHUP));
		} else if (take(s, &c)) {
			stream_stop_after(&s->stream, wanted);
			add_poll_and_read(c.topic.source);
		} else {
			stream_end(&s->stream);
			running--;
		}
	}
}

/* False when the stream has ended. */
static bool read_until_eagain(struct source *s)
{
	static char buffer[BUFFER_SIZE];
	ssize_t n;

	while ((n = read(s->stream.fd, buffer, sizeof(buffer))) > 0)
		keep(s, buffer, n);
	CHECK(!n || errno == EAGAIN);
	return n;
}

static void drain_by_multishot_polls(uint64_t wanted)
{
	int running = nr_sources, source;

	for (source = 0; source < nr_sources; source++)
		add_poll(source, true);
	while (running) {
		struct completion c = next_completion();
		struct source *s = &sources[c.topic.source];

		CHECK(c.res > 0);
		if (s->stream.ended)
			continue;
		/* Submitted behind the reads, and looks at once: nothing goes unnoticed. */
		if (!(c.flags & IORING_CQE_F_MORE))
			add_poll(c.topic.source, true);
		if (read_until_eagain(s)) {
			stream_stop_after(&s->stream, wanted);
		} else {
			stream_end(&s->stream);
			running--;
		}
	}
}

static void save_sources(void)
{
	int i;

	for (i = 0; i < nr_sources; i++)
		save_pieces(sources[i].stream.out, &sources[i].pieces);
}

/* The cancel comes sooner after each read that it has missed, and later after others. */
static void cancel(unsigned long times)
{
	unsigned long cancelled = 0, delivered = 0;
	struct source *s = &sources[0];
	unsigned int delay_us = 1000;

	while (cancelled < times || delivered < times) {
		struct io_uring_sqe *sqe;
		int i;

		add_read(0, 0, false);
		CHECK(io_uring_submit(&ring) == 1);
		usleep(delay_us);
		sqe = get_sqe();
		io_uring_prep_cancel64(sqe, (union topic){ { 0, 0 } }.value, 0);
		set_topic(sqe, 0, NO_SLOT);
		for (i = 0; i < 2; i++) {
			struct completion c = next_completion();

			if (c.topic.slot == NO_SLOT) {
				CHECK(!c.res || c.res == -ENOENT || c.res == -EALREADY);
			} else if (c.res == -ECANCELED || c.res == -EINTR) {
				cancelled++;
				delay_us += delay_us / 2 + 1;
			} else {
				CHECK(take(s, &c));
				delivered++;
				delay_us /= 2;
			}
		}
	}
	stream_stop_after(&s->stream, 0);
	CHECK(!read_until_eagain(s));
	stream_end(&s->stream);
	save_sources();
	fprintf(stderr, "cancelled=%lu delivered=%lu\n", cancelled, delivered);
}

/*
 * While there is no trace the kernel waits by poll, and does not call the reads. It
 * calls splices, each in a thread of its own.
 */
static void leave_reads_pending(const char *where)
{
	bool in_poll = !strcmp(where, "poll");
	struct io_uring_cqe *cqe;
	struct stat threads;
	int slot;

	for (slot = 0; slot < DEPTH; slot++) {
		if (in_poll)
			add_read(0, slot, false);
		else
			add_splice(0, slot);
	}
	CHECK(io_uring_submit(&ring) == DEPTH);
	do
		CHECK(!stat("/proc/self/task", &threads));
	while (!in_poll && threads.st_nlink < 2 + 1 + DEPTH && !usleep(1000));
	CHECK(io_uring_peek_cqe(&ring, &cqe) == -EAGAIN);
}

/*
 * The reads of a ring that is closed are cancelled some time later, and may still
 * deliver something: then it is in their pipes, or buffers, where nothing else is but
 * ones.
 */
static void close_ring(const char *where)
{
	static const uint64_t ones = ~0ULL;
	struct source *s = &sources[0];
	int slot;

	memset(s->buffers, 0xff, sizeof(s->buffers));
	leave_reads_pending(where);
	io_uring_queue_exit(&ring);
	while (stream_status(&s->stream).head == s->stream.bytes) {
		uint64_t n;

		/* A flush makes the simulated PMU's timer begin anew. */
		usleep(200000);
		CHECK(!ioctl(s->stream.fd, AUXTRACE_IOC_FLUSH, &n));
	}
	stream_stop_after(&s->stream, 0);
	CHECK(!read_until_eagain(s));
	for (slot = 0; slot < DEPTH; slot++) {
		size_t n = 0;

		if (s->pipes[slot][0]) {
			ssize_t spliced = read(s->pipes[slot][0], s->buffers[slot], BUFFER_SIZE);

			if (spliced > 0)
				keep(s, s->buffers[slot], spliced);
			continue;
		}
		while (n < BUFFER_SIZE && memcmp(s->buffers[slot] + n, &ones, sizeof(ones)))
			n += sizeof(ones);
		if (n)
			keep(s, s->buffers[slot], n);
	}
	stream_end(&s->stream);
	sort_pieces(&s->pieces);
	save_sources();
}

/* What was there comes, then nothing, and no error, until the CPU is back. */
static void wait_while_offline(void)
{
	struct source *s = &sources[0];
	struct auxtrace_status status;
	struct completion c;

	add_read(0, 0, false);
	CHECK(io_uring_submit(&ring) == 1);
	do {
		if (s->pending && io_uring_cq_ready(&ring)) {
			c = next_completion();
			CHECK(take(s, &c));
			add_read(0, 0, false);
			CHECK(io_uring_submit(&ring) == 1);
		}
		status = stream_status(&s->stream);
	} while (status.state != AUXTRACE_STATE_OFFLINE || status.head != s->stream.bytes);
	puts("waits");
	CHECK(!fflush(stdout));
	c = next_completion();
	CHECK(take(s, &c));
	CHECK(stream_status(&s->stream).gaps_hotplug == 1);
	stream_stop_after(&s->stream, 0);
	CHECK(!read_until_eagain(s));
	stream_end(&s->stream);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	alarm(PATIENCE_S);
	if (argc > 4) {
		uint64_t wanted = strtoull(argv[2], NULL, 0);
		bool nonblock = strcmp(how, "read") && strcmp(how, "queue");
		bool multishot = !strcmp(how, "multishot");

		/* So that completions do have no room at times. */
		if (multishot)
			ring_entries = argc - 4;
		open_sources(argv + 4, argc - 4, argv[3], nonblock ? O_NONBLOCK : 0);
		if (!strcmp(how, "poll"))
			drain_by_polls(wanted);
		else if (multishot)
			drain_by_multishot_polls(wanted);
		else
			drain_by_reads(!strcmp(how, "queue") ? DEPTH : 1, wanted);
		save_sources();
	} else if (argc == 4 && !strcmp(how, "cancel")) {
		open_sources(argv + 3, 1, NULL, 0);
		cancel(strtoul(argv[2], NULL, 0));
	} else if (argc == 4 && !strcmp(how, "close")) {
		open_sources(argv + 3, 1, NULL, 0);
		close_ring(argv[2]);
	} else if (argc == 3 && !strcmp(how, "offline")) {
		open_sources(argv + 2, 1, NULL, O_NONBLOCK);
		wait_while_offline();
	} else if (argc == 4 && !strcmp(how, "exit")) {
		open_sources(argv + 3, 1, NULL, 0);
		leave_reads_pending(argv[2]);
		add_poll(0, true);
		CHECK(io_uring_submit(&ring) == 1);
	} else {
		fputs("Usage: uring read|nonblock|queue|poll|multishot BYTES DIRECTORY DEVICE...\n"
		      "       uring cancel TIMES DEVICE | uring close|exit poll|splice DEVICE\n"
		      "       uring offline DEVICE\n",
		      stderr);
		return 2;
	}
	return 0;
}
