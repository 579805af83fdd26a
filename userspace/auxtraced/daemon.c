// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The daemon: one loop that waits for all devices, for signals, for who asks for metrics.
 *
 * Owns the streams, the configuration in force, and what systemd is told. The loop itself never
 * reads a device, writes a file or opens either: that is the streams' threads' (stream.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "config.h"
#include "counters.h"
#include "daemon.h"
#include "http.h"
#include "log.h"
#include "store.h"
#include "stream.h"
#include "units.h"

#define NS_PER_S UINT64_C(1000000000)

/* Between looks at what is due, and at CPUs that may be back. */
#define TICK_US 500000
/* Between attempts to open a device: each doubles it, up to the longest. */
#define FIRST_TRY   (NS_PER_S / 2)
#define LONGEST_TRY (60 * NS_PER_S)
/* How long an event that cannot run is left alone. */
#define BLOCKED (1 * NS_PER_S)

struct daemon {
	const char *path; /* of the configuration */
	struct config *config;
	struct store *store;
	struct http *http;
	sd_event *event;
	struct stream_queue queue;
	struct stream *streams;
	bool ready; /* systemd was told so */
	bool stopping;
	bool no_devices; /* that was logged */
	bool reload_failed;
	uint64_t reloads;
	uint64_t failed_reloads;
	char status[512];
};

/* ---- Streams ------------------------------------------------------------------------ */

static struct stream *find_stream(struct daemon *d, unsigned int cpu)
{
	struct stream *s;

	for (s = d->streams; s && s->cpu != cpu; s = s->next)
		;
	return s;
}

static unsigned int count_streams(const struct daemon *d, bool recording)
{
	const struct stream *s;
	unsigned int n = 0;

	for (s = d->streams; s; s = s->next)
		n += !recording || s->counters->recording;
	return n;
}

/* The cap has to have room for two files of each CPU. */
static uint64_t file_size_now(const struct daemon *d)
{
	uint64_t share, streams = count_streams(d, false);

	if (!d->config->total_size || !streams)
		return d->config->file_size;
	share = d->config->total_size / (2 * streams);
	return d->config->file_size && d->config->file_size < share ? d->config->file_size : share;
}

/* Has the stream do these, now or when it is back. */
static void ask(struct daemon *d, struct stream *s, unsigned int tasks)
{
	struct recording recording;

	s->wanted |= tasks;
	if (s->busy || !s->wanted)
		return;
	/* It is the thread's now, which may close the descriptor. */
	if (s->io)
		sd_event_source_set_enabled(s->io, SD_EVENT_OFF);
	tasks = s->wanted;
	s->wanted = 0;
	recording.config = config_ref(d->config);
	recording.store = store_ref(d->store);
	recording.file_size = file_size_now(d);
	stream_hand_over(s, tasks, &recording);
}

static void remove_stream(struct daemon *d, struct stream *s)
{
	struct stream **at = &d->streams;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	stream_free(s);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct stream *s = context;

	(void)source;
	(void)fd;
	(void)events;
	ask(s->loop, s, TASK_READ);
	return 0;
}

static void wait_for(struct daemon *d, struct stream *s)
{
	int ret = 0;

	if (!s->io)
		ret = sd_event_add_io(d->event, &s->io, s->fd, EPOLLIN, on_readable, s);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(s->io, SD_EVENT_ONESHOT);
	if (ret < 0) {
		log_error("CPU %u: cannot wait for its trace: %s", s->cpu, strerror(-ret));
		ask(d, s, TASK_STOP);
	}
}

/* Says what became of opening it, once, and when to try again: later after each failure. */
static void note_open(struct stream *s, uint64_t now)
{
	if (s->open_error != s->logged_error) {
		if (s->open_error)
			log_warning("CPU %u: not recorded yet: %s%s%s", s->cpu, s->source ?: "",
				    s->source ? ": " : "", stream_open_error(s, s->open_error));
		else
			log_info("CPU %u: recording", s->cpu);
		s->logged_error = s->open_error;
		s->try_period = 0;
	}
	/* The first two were found out without opening, which the kernel would log. */
	if (s->open_error == -ENODEV || s->open_error == -ENOENT || !s->try_period)
		s->try_period = FIRST_TRY;
	else if (s->try_period < LONGEST_TRY)
		s->try_period *= 2;
	s->next_try = now + s->try_period;
}

static void note_read(struct stream *s, uint64_t now)
{
	if (s->read_error) {
		if (!s->read_failed)
			log_warning("CPU %u: cannot read its trace: %s; trying again", s->cpu,
				    strerror(-s->read_error));
		s->blocked_till = now + BLOCKED;
	} else if (s->read_failed) {
		log_info("CPU %u: its trace can be read again", s->cpu);
	}
	s->read_failed = s->read_error;
}

/* ---- What systemd is told --------------------------------------------------------------- */

static void make_status(const struct daemon *d, char *text, size_t size)
{
	struct store_totals totals = store_totals(d->store);
	uint64_t failed = counted_in_all(COUNT_SYNC_FAILED_BYTES);
	char bytes[UNITS_LEN], lost[UNITS_LEN], unsure[UNITS_LEN];

	snprintf(text, size, "%s %u of %u CPUs; %" PRIu64 " files, %s; %s lost%s%s%s",
		 d->stopping ? "Stopping" : "Recording", count_streams(d, true),
		 count_streams(d, false), totals.files, format_size(bytes, totals.bytes),
		 format_size(lost, counted_in_all(COUNT_LOST_FULL_BYTES) +
					   counted_in_all(COUNT_LOST_ERROR_BYTES)),
		 failed ? "; maybe not on the disk: " : "",
		 failed ? format_size(unsure, failed) : "",
		 d->reload_failed ? "; the new configuration is wrong, the old one is in force"
				  : "");
}

/* With @what before it; without, only if it changed. */
static void tell(struct daemon *d, const char *what)
{
	char text[sizeof(d->status)];

	make_status(d, text, sizeof(text));
	if (!what && !strcmp(text, d->status))
		return;
	strcpy(d->status, text);
	sd_notifyf(0, "%sSTATUS=%s", what ?: "", text);
}

/* Once it was tried to open each device. */
static void tell_ready(struct daemon *d)
{
	const struct stream *s;

	for (s = d->streams; s; s = s->next) {
		if (!s->tried)
			return;
	}
	if (d->ready || d->stopping)
		return;
	d->ready = true;
	tell(d, "READY=1\n");
}

/* ---- Streams that are back ------------------------------------------------------------------ */

static void is_closed(struct daemon *d, struct stream *s, uint64_t now)
{
	s->io = sd_event_source_disable_unref(s->io);
	if (s->leaving) {
		remove_stream(d, s);
		return;
	}
	if (s->ended) {
		log_info("CPU %u: its stream ended", s->cpu);
		s->ended = false;
		/* So that the next is told. */
		s->logged_error = 1;
		s->next_try = now + FIRST_TRY;
	} else {
		note_open(s, now);
	}
	s->wanted = 0;
}

static void is_back(struct daemon *d, struct stream *s)
{
	uint64_t now = monotonic_now();

	config_unref((struct config *)s->recording.config);
	store_unref(s->recording.store);
	s->busy = false;
	s->tried = true;
	if (!s->reader) {
		is_closed(d, s, now);
		return;
	}
	if (s->logged_error)
		note_open(s, now);
	note_read(s, now);
	if (s->more)
		s->wanted |= TASK_READ;
	if (s->wanted)
		ask(d, s, 0);
	else if (!s->read_error)
		wait_for(d, s);
}

static int on_queue(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct daemon *d = context;
	struct stream *s = stream_queue_take(&d->queue);

	(void)source;
	(void)fd;
	(void)events;
	while (s) {
		struct stream *next = s->next_done;

		is_back(d, s);
		s = next;
	}
	tell_ready(d);
	if (d->stopping && !d->streams)
		sd_event_exit(d->event, 0);
	return 0;
}

/* ---- Which CPUs --------------------------------------------------------------------------------
 */

static void add_stream(struct daemon *d, unsigned int cpu)
{
	const char *source = config_source_of(d->config, cpu);
	struct stream *s;
	int ret;

	if (find_stream(d, cpu))
		return;
	ret = stream_new(&s, cpu, source, &d->queue);
	if (ret) {
		log_error("CPU %u: no thread for it: %s", cpu, strerror(-ret));
		return;
	}
	s->loop = d;
	/* So that recording is told. */
	s->logged_error = 1;
	s->next = d->streams;
	d->streams = s;
}

static void add_all_there_are(struct daemon *d)
{
	unsigned int *cpus;
	size_t i, n;

	if (auxtrace_cpus_all(NULL, &cpus, &n)) {
		if (!d->no_devices && !d->streams)
			log_warning("there are no devices: load the module (modprobe auxtrace); "
				    "waiting for them");
		d->no_devices = true;
		return;
	}
	d->no_devices = false;
	for (i = 0; i < n; i++)
		add_stream(d, cpus[i]);
	free(cpus);
}

static void add_streams(struct daemon *d)
{
	const struct config *c = d->config;
	size_t i;

	for (i = 0; i < c->nr_sources; i++)
		add_stream(d, c->sources[i].cpu);
	for (i = 0; i < c->nr_cpus && !c->nr_sources; i++)
		add_stream(d, c->cpus[i]);
	if (!c->nr_sources && !c->cpus)
		add_all_there_are(d);
}

/* Does the configuration still have it, as it is? */
static bool is_configured(const struct config *c, const struct stream *s)
{
	const char *source = config_source_of(c, s->cpu);
	size_t i;

	if (c->nr_sources || s->source)
		return source && s->source && !strcmp(source, s->source);
	for (i = 0; i < c->nr_cpus && c->cpus[i] != s->cpu; i++)
		;
	return !c->cpus || i < c->nr_cpus;
}

static void let_go(struct daemon *d, struct stream *s)
{
	s->leaving = true;
	ask(d, s, TASK_STOP);
}

/* ---- The clock
 * ------------------------------------------------------------------------------------ */

static void look_at(struct daemon *d, struct stream *s, uint64_t now)
{
	if (s->busy)
		ask(d, s, TASK_TICK);
	else if (!s->reader && now >= s->next_try)
		ask(d, s, TASK_OPEN);
	else if (s->reader && s->read_error && now >= s->blocked_till)
		ask(d, s, TASK_READ | TASK_TICK);
	else if (recorder_is_due(&s->recorder, d->config))
		ask(d, s, TASK_TICK);
}

static int on_tick(sd_event_source *source, uint64_t time, void *context)
{
	struct daemon *d = context;
	uint64_t now = monotonic_now();
	struct stream *s;

	(void)time;
	if (!d->stopping) {
		add_streams(d);
		for (s = d->streams; s; s = s->next)
			look_at(d, s, now);
		tell_ready(d);
		if (d->ready)
			tell(d, NULL);
	}
	sd_event_source_set_time_relative(source, TICK_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* ---- Metrics
 * ---------------------------------------------------------------------------------------- */

static void print_metrics(FILE *to, void *context)
{
	const struct daemon *d = context;
	struct store_totals totals = store_totals(d->store);

	counters_print(to);
	fprintf(to,
		"# HELP auxtraced_store_files Files in the directory.\n"
		"# TYPE auxtraced_store_files gauge\n"
		"auxtraced_store_files %" PRIu64 "\n"
		"# HELP auxtraced_store_bytes Bytes in them.\n"
		"# TYPE auxtraced_store_bytes gauge\n"
		"auxtraced_store_bytes %" PRIu64 "\n"
		"# HELP auxtraced_store_limit_bytes The cap on that (total_size); 0: none.\n"
		"# TYPE auxtraced_store_limit_bytes gauge\n"
		"auxtraced_store_limit_bytes %" PRIu64 "\n"
		"# HELP auxtraced_reloads_total Reloads of the configuration.\n"
		"# TYPE auxtraced_reloads_total counter\n"
		"auxtraced_reloads_total{result=\"done\"} %" PRIu64 "\n"
		"auxtraced_reloads_total{result=\"refused\"} %" PRIu64 "\n"
		"# HELP auxtraced_reload_successful 0: the last reload was refused.\n"
		"# TYPE auxtraced_reload_successful gauge\n"
		"auxtraced_reload_successful %d\n"
		"# HELP auxtraced_info The daemon's version.\n"
		"# TYPE auxtraced_info gauge\n"
		"auxtraced_info{version=\"" AUXTRACE_VERSION "\"} 1\n",
		totals.files, totals.bytes, d->config->total_size, d->reloads, d->failed_reloads,
		!d->reload_failed);
}

/* ---- The configuration
 * -------------------------------------------------------------------------------- */

/* A configuration, and what it names, open. */
struct setup {
	struct config *config;
	struct store *store;
	struct http *http; /* NULL: none */
};

/* Opens what is not open already. */
static int open_setup(struct daemon *d, struct setup *new)
{
	const struct config *old = d->config;
	int ret = config_load(&new->config, d->path);

	if (ret)
		return ret == -ENOMEM ? ret : -EBADMSG;
	if (old && store_is_at(d->store, new->config->directory)) {
		new->store = store_ref(d->store);
	} else {
		ret = store_open(&new->store, new->config->directory);
		if (ret) {
			log_error("%s: directory: %s: %s", d->path, new->config->directory,
				  ret == -EBUSY ? "another auxtraced uses it" : strerror(-ret));
			return ret;
		}
	}
	if (old && !strcmp(old->metrics, new->config->metrics)) {
		new->http = d->http;
	} else if (strcmp(new->config->metrics, "none")) {
		ret = http_open(&new->http, d->event, new->config->metrics, print_metrics, d);
		if (ret)
			log_error("%s: metrics: cannot listen at %s: %s", d->path,
				  new->config->metrics, strerror(-ret));
	}
	return ret;
}

static void close_setup(struct daemon *d, struct setup *s)
{
	if (s->http != d->http)
		http_close(s->http);
	store_unref(s->store);
	config_unref(s->config);
}

/* @new is in force from now on. */
static void use_setup(struct daemon *d, struct setup *new)
{
	struct setup old = { d->config, d->store, d->http };
	const struct config *c = new->config;
	bool anew = old.config &&
		    (old.store != new->store || old.config->compression != c->compression ||
		     old.config->mode != c->mode || old.config->sync_period != c->sync_period);
	struct stream *s;

	d->config = new->config;
	d->store = new->store;
	d->http = new->http;
	if (old.config)
		close_setup(d, &old);
	store_set_path(d->store, d->config->directory);
	store_set_cap(d->store, d->config->total_size);
	for (s = d->streams; s; s = s->next) {
		if (!is_configured(c, s))
			let_go(d, s);
		else if (anew)
			ask(d, s, TASK_ROTATE);
	}
	add_streams(d);
}

/* ---- Signals
 * -------------------------------------------------------------------------------------------- */

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *context)
{
	struct daemon *d = context;
	struct setup new = { 0 };

	(void)source;
	(void)info;
	if (d->stopping)
		return 0;
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_now() / 1000);
	d->reload_failed = open_setup(d, &new);
	if (d->reload_failed) {
		log_error("the configuration stays as it was");
		close_setup(d, &new);
		d->failed_reloads++;
	} else {
		use_setup(d, &new);
		log_info("the configuration was read again");
		d->reloads++;
	}
	tell(d, "READY=1\n");
	return 0;
}

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *context)
{
	struct daemon *d = context;
	struct stream *s;

	(void)source;
	(void)info;
	if (d->stopping)
		return 0;
	d->stopping = true;
	tell(d, "STOPPING=1\n");
	for (s = d->streams; s; s = s->next)
		let_go(d, s);
	if (!d->streams)
		sd_event_exit(d->event, 0);
	return 0;
}

/* Signals come before streams, which may have something to say all the time. */
static int add_signal(struct daemon *d, int number, sd_event_signal_handler_t handler)
{
	sd_event_source *source;
	int ret = sd_event_add_signal(d->event, &source, number, handler, d);

	if (ret < 0)
		return ret;
	sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT);
	sd_event_source_set_floating(source, true);
	sd_event_source_unref(source);
	return 0;
}

static int begin_events(struct daemon *d)
{
	sd_event_source *tick;
	int ret;

	ret = stream_queue_init(&d->queue);
	if (ret >= 0)
		ret = sd_event_new(&d->event);
	if (ret >= 0)
		ret = sd_event_add_io(d->event, NULL, d->queue.fd, EPOLLIN, on_queue, d);
	if (ret >= 0)
		ret = add_signal(d, SIGTERM, on_stop);
	if (ret >= 0)
		ret = add_signal(d, SIGINT, on_stop);
	if (ret >= 0)
		ret = add_signal(d, SIGHUP, on_reload);
	if (ret >= 0)
		ret = sd_event_add_time_relative(d->event, &tick, CLOCK_MONOTONIC, 0, TICK_US / 4,
						 on_tick, d);
	if (ret >= 0)
		ret = sd_event_source_set_floating(tick, true);
	if (ret >= 0)
		sd_event_source_unref(tick);
	if (ret >= 0)
		ret = sd_event_set_watchdog(d->event, true);
	if (ret < 0)
		log_error("cannot begin: %s", strerror(-ret));
	return ret;
}

static void set_signals(void)
{
	sigset_t set;

	/* Taken by the loop, in no thread. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Told by errno. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int daemon_run(const char *path)
{
	struct daemon d = { .path = path };
	struct setup setup = { 0 };
	int ret;

	set_signals();
	/* What it makes has exactly the mode that it is given. */
	umask(0);
	ret = begin_events(&d);
	if (ret < 0)
		return ret;
	ret = open_setup(&d, &setup);
	if (ret) {
		close_setup(&d, &setup);
	} else {
		use_setup(&d, &setup);
		ret = sd_event_loop(d.event);
		if (ret)
			log_error("the main loop ended: %s", strerror(-ret));
		http_close(d.http);
		store_unref(d.store);
		config_unref(d.config);
	}
	sd_event_unref(d.event);
	stream_queue_destroy(&d.queue);
	counters_free();
	return ret;
}
