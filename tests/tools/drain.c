// SPDX-License-Identifier: GPL-2.0-only
/*
 * drain - drain several devices by one loop of epoll or select
 *
 * drain HOW WAKE-BYTES BYTES DIRECTORY DEVICE...: sets the threshold, stops each
 * stream after so many bytes, and ends when all have ended; the bytes go to
 * DIRECTORY. Whoever is told that there is something to read must find it.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/select.h>

#include "lib/streams.h"

/* Longer than anything takes that works. */
#define PATIENCE_S 120

static struct stream streams[MAX_STREAMS];
static int nr_streams;
static uint64_t wake_bytes, wanted;
static char buffer[8 << 20];

/*
 * Reads from a stream that was said to be readable: as much as the threshold says,
 * unless that is to be the last, or a gap is in between. False if there is no more
 * for now, which only a further read may find.
 */
static bool read_once(struct stream *s, bool first)
{
	ssize_t n = read(s->fd, buffer, sizeof(buffer));

	if (!first && n < 0) {
		CHECK(errno == EAGAIN);
		return false;
	}
	CHECK(n >= 0);
	if (first && !s->stopped && (uint64_t)n < wake_bytes)
		CHECK(stream_status(s).gaps);
	stream_save(s, buffer, n);
	if (!n)
		stream_end(s);
	return n;
}

static int running(void)
{
	int i, n = 0;

	for (i = 0; i < nr_streams; i++)
		n += !streams[i].ended;
	return n;
}

static int make_set(uint32_t events)
{
	int set = epoll_create1(EPOLL_CLOEXEC);
	int i;

	CHECK(set >= 0);
	for (i = 0; i < nr_streams; i++) {
		struct epoll_event event = { .events = events, .data.ptr = &streams[i] };

		CHECK(!epoll_ctl(set, EPOLL_CTL_ADD, streams[i].fd, &event));
	}
	return set;
}

/* One read for each event, of a descriptor that would block if it were in vain. */
static void level(void)
{
	int set = make_set(EPOLLIN);

	while (running()) {
		struct epoll_event event;
		struct stream *s;

		CHECK(epoll_wait(set, &event, 1, -1) == 1);
		s = event.data.ptr;
		CHECK(event.events == EPOLLIN || (s->stopped && event.events & EPOLLHUP));
		read_once(s, true);
		stream_stop_after(s, wanted);
		if (s->ended)
			CHECK(!epoll_ctl(set, EPOLL_CTL_DEL, s->fd, NULL));
	}
}

/* Reads until EAGAIN for each event; STOP is called then, and must be an event. */
static void edge(void)
{
	int set = make_set(EPOLLIN | EPOLLET);
	int i;

	for (i = 0; i < nr_streams; i++)
		CHECK(!fcntl(streams[i].fd, F_SETFL, O_NONBLOCK));
	while (running()) {
		struct epoll_event event;
		bool first = true;

		CHECK(epoll_wait(set, &event, 1, -1) == 1);
		while (read_once(event.data.ptr, first))
			first = false;
		stream_stop_after(event.data.ptr, wanted);
	}
}

/* A gap ahead is an exception to select(). */
static void use_select(void)
{
	unsigned int exceptions = 0;

	while (running()) {
		fd_set in, except;
		int i;

		FD_ZERO(&in);
		FD_ZERO(&except);
		for (i = 0; i < nr_streams; i++) {
			if (streams[i].ended)
				continue;
			FD_SET(streams[i].fd, &in);
			FD_SET(streams[i].fd, &except);
		}
		CHECK(select(FD_SETSIZE, &in, NULL, &except, NULL) > 0);
		for (i = 0; i < nr_streams; i++) {
			struct stream *s = &streams[i];

			if (FD_ISSET(s->fd, &except)) {
				CHECK(stream_status(s).gaps);
				exceptions++;
			}
			if (!FD_ISSET(s->fd, &in))
				continue;
			read_once(s, true);
			stream_stop_after(s, wanted);
		}
	}
	printf("exceptions=%u\n", exceptions);
}

int main(int argc, char **argv)
{
	if (argc < 6 || argc > 5 + MAX_STREAMS) {
		fputs("Usage: drain level|edge|select WAKE-BYTES BYTES DIRECTORY DEVICE...\n",
		      stderr);
		return 2;
	}
	alarm(PATIENCE_S);
	wake_bytes = strtoull(argv[2], NULL, 0);
	wanted = strtoull(argv[3], NULL, 0);
	for (; nr_streams < argc - 5; nr_streams++) {
		struct stream *s = &streams[nr_streams];

		stream_open(s, argv[5 + nr_streams], argv[4], 0);
		CHECK(!ioctl(s->fd, AUXTRACE_IOC_SET_WAKE_BYTES, &wake_bytes));
	}
	switch (argv[1][0]) {
	case 'l':
		level();
		return 0;
	case 'e':
		edge();
		return 0;
	case 's':
		use_select();
		return 0;
	}
	return 2;
}
