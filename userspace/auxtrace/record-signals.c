// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace record: signals.
 *
 * Owns the handlers. They only stop devices and ring a bell (an eventfd), which the loop
 * hears; but a program that waits in a write for a reader hears nothing, so the trace ends there
 * and then, and the second signal finds its default action.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#include "record.h"

#define NS_PER_US 1000
#define US_PER_S  1000000

/* What ends a recording, unless it was ignored when the program began. */
static const int enders[] = { SIGINT, SIGTERM, SIGHUP };
#define NR_ENDERS (sizeof(enders) / sizeof(*enders))

static struct recording *volatile running; /* its devices are open, and stay so */
static volatile sig_atomic_t ended;
static bool taken[NR_ENDERS];
static int bell = -1;

void default_signals(void)
{
	size_t i;

	for (i = 0; i < NR_ENDERS; i++) {
		if (taken[i])
			signal(enders[i], SIG_DFL);
	}
}

static void ring(void)
{
	static const uint64_t one = 1;
	ssize_t n = write(bell, &one, sizeof(one));

	(void)n; /* it rings already */
}

static void on_child(int number)
{
	int error = errno;

	(void)number;
	ring();
	errno = error;
}

static void on_end(int number)
{
	const struct recording *r = running;
	int error = errno;
	size_t i;

	if (number != SIGALRM) {
		ended = 1;
		default_signals();
	}
	for (i = 0; r && i < r->n; i++)
		auxtrace_device_stop(r->traced[i].device);
	ring();
	errno = error;
}

static int take(int number, void (*handler)(int number), sigset_t *all)
{
	struct sigaction action = { .sa_handler = handler,
				    .sa_mask = *all,
				    .sa_flags = SA_RESTART };

	return sigaction(number, &action, NULL);
}

int take_signals(void)
{
	struct sigaction before;
	sigset_t all;
	size_t i;
	int ret;

	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell < 0)
		return fail("cannot take signals: %s", strerror(errno));
	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	sigaddset(&all, SIGALRM);
	for (i = 0; i < NR_ENDERS; i++) {
		taken[i] = !sigaction(enders[i], NULL, &before) && before.sa_handler != SIG_IGN;
		if (taken[i])
			sigaddset(&all, enders[i]);
	}
	ret = take(SIGCHLD, on_child, &all) | take(SIGALRM, on_end, &all);
	for (i = 0; i < NR_ENDERS; i++) {
		if (taken[i])
			ret |= take(enders[i], on_end, &all);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (ret || sigprocmask(SIG_UNBLOCK, &all, NULL))
		return fail("cannot take signals: %s", strerror(errno));
	return EXIT_OK;
}

void signals_of_child(void)
{
	default_signals();
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

int signals_fd(void)
{
	return bell;
}

/* 0: none */
static void set_alarm(uint64_t ns)
{
	uint64_t us = ns / NS_PER_US + !!ns;
	struct itimerval in = { .it_value = { .tv_sec = us / US_PER_S, .tv_usec = us % US_PER_S } };

	setitimer(ITIMER_REAL, &in, NULL);
}

void signals_stop(struct recording *r)
{
	uint64_t gone;

	running = r;
	/* One that came before. */
	if (r && ended)
		on_end(SIGALRM);
	if (!r || !r->max_time) {
		set_alarm(0);
		return;
	}
	gone = monotonic_ns() - r->started;
	set_alarm(gone < r->max_time ? r->max_time - gone : 1);
}

static void reap(struct recording *r)
{
	if (!r->child || waitpid(r->child, &r->child_status, WNOHANG) <= 0)
		return;
	r->child = 0;
	r->child_ended = true;
}

bool has_ended(struct recording *r, int ms)
{
	struct pollfd p = { .fd = bell, .events = POLLIN };
	uint64_t rings;

	if (poll(&p, 1, ms) <= 0 || read(bell, &rings, sizeof(rings)) < 0)
		return ended;
	reap(r);
	return ended || r->child_ended;
}
