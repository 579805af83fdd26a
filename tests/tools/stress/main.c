// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress - everything that can be done to trace devices, at random, all at once
 *
 * For a guest with the simulated PMU. Ends after a time, or when asked-for counts
 * are reached, with a line of counts and status 0; at the first thing that is not
 * as it must be, with a message, what that thread did last, and status 1. All that
 * a thread decides comes from a generator of its own, seeded with the program's
 * seed and the thread's number: the same seed gives the same decisions. What comes
 * of them also depends on how the threads meet, which no seed controls.
 *
 * The threads:
 *
 * owner	(session.c; two for each device, which it cannot have both) chooses
 *	settings; opens, raw or framed; reads: plain, vectored, spliced, into memory
 *	of which a part is missing, blocking or not, after poll or epoll; lets the
 *	buffer fill; asks STATUS; flushes; stops and drains; closes. A third does
 *	so alone ("calm": no other thread's calls make good for a lost wake-up).
 * disturber	(control.c; one for each device) on a dup() of the owner's descriptor
 *	and at the same time: STATUS, INFO, FLUSH, STOP, START, SET_WAKE_BYTES,
 *	poll, signals to the reader. Its close can be the last.
 * sysfs	(settings.c) reads state and statistics, writes settings, good and bad.
 * hotplug	(machine.c) takes CPUs away and brings them back.
 * reschedule	(machine.c) makes perf reschedule the CPUs' events.
 * rmmod	(machine.c) tries to unload the module, the whole time. When that succeeds
 *	it loads the module again. Every now and then it keeps the others from
 *	opening, so that it must succeed.
 *
 * What must hold:
 *
 * - Every byte is the pattern's next. Where the pattern breaks (the simulated
 *   driver has stopped: the epoch rises; another counter, after hotplug: it begins
 *   anew) a read begins, and a gap is counted in STATUS; framed, a window begins,
 *   and says GAP with the right cause, and each such window is at a break.
 * - Headers have no hole in seq and offset; what they say has a reason: LAST a
 *   STOP, STOPPED a START, HOTPLUG a CPU that went, a gap a time.
 * - STATUS goes with itself, never falls, and says what was delivered; it has no
 *   more gaps than the driver stopped, CPUs went, and STARTs were called.
 * - After a STOP all that the PMU has published on that CPU was delivered.
 * - poll's POLLIN, a head beyond the tail, a FLUSH's bytes: a read gives something.
 * - A reader sleeps only where there is nothing for it (OVERSLEPT); no call lasts for
 *   ever (PATIENCE).
 * - Each errno has a reason that held at some time during the call; and no call
 *   succeeds where such a reason held throughout (struct presence).
 * - When all is closed, statistics are what was done, and rmmod succeeds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "stress.h"

/*
 * The time in which asked-for counts must be reached, as a multiple of the least;
 * and PATIENCE more.
 */
#define TIME_FACTOR 4

/*
 * Seconds that a thread may sleep where it must have been woken: not one that waits for
 * a processor, which is not asleep, but the processor that wakes it can be held up.
 */
#define OVERSLEPT 3.0

/* Owners of each device. */
#define NR_OWNERS 2

#define MAX_WORKERS (MAX_DEVICES * (NR_OWNERS + 1) + 8)

struct device devices[MAX_DEVICES];
unsigned int nr_devices;
atomic_bool ending;
atomic_uint unloads;
bool fixed;
const char *module_path, *module_parameters = "";
struct presence absent;
pthread_rwlock_t gate;

static const char *const count_names[NR_COUNTS] = {
	[COUNT_OPENS] = "opens",
	[COUNT_BUSY] = "busy",
	[COUNT_OFFLINE] = "offline",
	[COUNT_UNLOADED] = "unloaded",
	[COUNT_LENT] = "lent",
	[COUNT_READS] = "reads",
	[COUNT_BYTES] = "bytes",
	[COUNT_WINDOWS] = "windows",
	[COUNT_BREAKS] = "breaks",
	[COUNT_RESTARTS] = "restarts",
	[COUNT_EOFS] = "eofs",
	[COUNT_DRAINED] = "drained",
	[COUNT_EXACT] = "exact",
	[COUNT_EAGAIN] = "eagain",
	[COUNT_EINTR] = "eintr",
	[COUNT_EFAULT] = "efault",
	[COUNT_POLLS] = "polls",
	[COUNT_STATUS] = "status",
	[COUNT_FLUSHES] = "flushes",
	[COUNT_STOPS] = "stops",
	[COUNT_GAPS_FULL] = "gaps_full",
	[COUNT_GAPS_DRIVER] = "gaps_driver",
	[COUNT_GAPS_HOTPLUG] = "gaps_hotplug",
	[COUNT_GAPS_STOPPED] = "gaps_stopped",
	[COUNT_SETTINGS] = "settings",
	[COUNT_SETTINGS_BUSY] = "settings_busy",
	[COUNT_SETTINGS_BAD] = "settings_bad",
	[COUNT_SYSFS] = "sysfs",
	[COUNT_HOTPLUGS] = "hotplugs",
	[COUNT_RESCHEDULES] = "reschedules",
	[COUNT_RMMODS] = "rmmods",
	[COUNT_UNLOADS] = "unloads",
	[COUNT_QUIET] = "quiet",
};

static struct worker workers[MAX_WORKERS];
static unsigned int nr_workers;

struct options {
	double seconds;
	uint64_t seed;
	uint64_t opens;
	uint64_t hotplugs;
	double report_every;
	const char *cpus;
	const char *hotplug;
};

static void usage(FILE *to)
{
	fputs("Usage: stress [OPTION]...\n"
	      "Do everything that can be done to trace devices of the simulated PMU, at random.\n"
	      "\n"
	      "  --seconds N      for so long at least (10)\n"
	      "  --seed N         which random numbers (printed; different each time)\n"
	      "  --opens N        ... and until devices were opened so often\n"
	      "  --hotplugs N     ... and CPUs went so often while a stream ran there\n"
	      "  --cpus N,...     which devices (all)\n"
	      "  --hotplug N,...  which CPUs of these go off and on (all but 0 that can)\n"
	      "  --module FILE    try to unload the module, and load it again from there\n"
	      "  --params TEXT    ... with these parameters\n"
	      "  --fixed          leave the settings as they are\n"
	      "  --report N       print the counts each N seconds\n"
	      "  --help           show this\n",
	      to);
}

static void add_device(int cpu)
{
	struct device *d = &devices[nr_devices++];

	d->cpu = cpu;
	d->lent = -1;
	snprintf(d->path, sizeof(d->path), "/dev/auxtrace%d", cpu);
	pthread_mutex_init(&d->settings_lock, NULL);
	pthread_mutex_init(&d->control_lock, NULL);
	pthread_mutex_init(&d->lend_lock, NULL);
}

static bool can_go(int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return cpu > 0 && !access(path, W_OK);
}

/* Is a CPU in the list? In NULL is every one. */
static bool listed(const char *list, int cpu)
{
	char *end;

	if (!list)
		return true;
	while (*list) {
		if (strtol(list, &end, 10) == cpu && end != list)
			return true;
		list = end + strspn(end, ",");
		if (!*end)
			break;
	}
	return false;
}

static void find_devices(const struct options *o)
{
	char path[32];
	int cpu;

	for (cpu = 0; cpu < MAX_DEVICES; cpu++) {
		snprintf(path, sizeof(path), "/dev/auxtrace%d", cpu);
		if (!access(path, R_OK) && listed(o->cpus, cpu)) {
			add_device(cpu);
			devices[nr_devices - 1].hotplug = can_go(cpu) && listed(o->hotplug, cpu);
		}
	}
	if (!nr_devices)
		fail("no devices");
}

static void *run(void *argument)
{
	self = argument;
	self->id = (unsigned int)gettid();
	self->main();
	return NULL;
}

static void add_worker(const char *name, void (*main)(void), struct device *d)
{
	struct worker *w = &workers[nr_workers++];

	w->main = main;
	w->device = d;
	if (d)
		snprintf(w->name, sizeof(w->name), "%s %u of %d", name, nr_workers - 1, d->cpu);
	else
		snprintf(w->name, sizeof(w->name), "%s", name);
}

static void add_workers(void)
{
	bool hotplug = false;
	unsigned int i, j;

	for (i = 0; i < nr_devices; i++) {
		for (j = 0; j < NR_OWNERS; j++)
			add_worker("owner", owner_main, &devices[i]);
		add_worker("disturber", disturber_main, &devices[i]);
		hotplug |= devices[i].hotplug;
	}
	add_worker("sysfs", sysfs_main, NULL);
	add_worker("reschedule", reschedule_main, NULL);
	if (hotplug)
		add_worker("hotplug", hotplug_main, NULL);
	if (module_path)
		add_worker("rmmod", rmmod_main, NULL);
}

static void on_signal(int number)
{
	(void)number;
}

static void start_workers(uint64_t seed)
{
	/* Without SA_RESTART: what it meets returns with EINTR. */
	struct sigaction action = { .sa_handler = on_signal };
	unsigned int i;

	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < nr_workers; i++) {
		struct worker *w = &workers[i];

		w->random = seed + i;
		w->random = next_random(&w->random);
		if (pthread_create(&w->thread, NULL, run, w))
			fail("cannot make a thread");
	}
}

static bool is_asleep(unsigned int thread)
{
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", thread);
	stat = fopen(path, "re");
	if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (stat)
		fclose(stat);
	return state == 'S';
}

/*
 * Does an owner sleep although what it waits for is there? Nothing is asked of the
 * module here: that could be what wakes it.
 */
static void watch_sleeper(struct worker *w)
{
	struct device *d = w->device;
	const char *op = atomic_load(&w->op);
	double since = atomic_load(&w->since);
	unsigned int thread = atomic_load(&d->sleeper);
	uint64_t there;

	if (!op || !thread || thread != w->id || !is_asleep(thread))
		goto awake;
	there = sim_count("bytes_per_cpu", d->cpu) - atomic_load(&d->sleeper_since);
	if (there < atomic_load(&d->sleeper_has) + atomic_load(&d->sleeper_enough))
		goto awake;
	/* It may have been between two calls. */
	if (atomic_load(&w->since) != since || atomic_load(&w->op) != op)
		goto awake;
	if (w->asleep_in != since) {
		w->asleep_in = since;
		w->asleep_since = now();
	} else if (now() > w->asleep_since + OVERSLEPT) {
		self = w;
		fail("sleeps in %s since %.4f s, although %" PRIu64
		     " bytes are published, and only %llu delivered",
		     op, since, there, atomic_load(&d->sleeper_has));
	}
	return;
awake:
	w->asleep_in = 0;
}

/* Has a call lasted for ever? */
static void watch(void)
{
	unsigned int i;
	FILE *sysrq;

	for (i = 0; i < nr_workers; i++) {
		struct worker *w = &workers[i];
		const char *op = atomic_load(&w->op);
		double since = atomic_load(&w->since);

		if (w->main == owner_main)
			watch_sleeper(w);
		if (!op || now() < since + PATIENCE)
			continue;
		/* Who waits for what, into the kernel's log. */
		sysrq = fopen("/proc/sysrq-trigger", "we");
		if (sysrq) {
			fputc('w', sysrq);
			fclose(sysrq);
		}
		self = w;
		fail("%s lasts since %.4f s", op, since);
	}
}

static void print_counts(FILE *to, uint64_t seed)
{
	unsigned int i;

	fprintf(to, "seed=%" PRIu64 " seconds=%.1f", seed, now());
	for (i = 0; i < NR_COUNTS; i++)
		fprintf(to, " %s=%" PRIu64, count_names[i], counted(i));
	fputc('\n', to);
	fflush(to);
}

static bool reached(const struct options *o)
{
	return now() >= o->seconds && counted(COUNT_OPENS) >= o->opens &&
	       counted(COUNT_GAPS_HOTPLUG) >= o->hotplugs;
}

static void wait_for_the_end(const struct options *o)
{
	double report_at = o->report_every;

	while (!reached(o)) {
		usleep(100000);
		watch();
		if (now() > o->seconds * TIME_FACTOR + PATIENCE)
			fail("not enough in %.0f s: %" PRIu64 " opens, %" PRIu64 " gaps by hotplug",
			     now(), counted(COUNT_OPENS), counted(COUNT_GAPS_HOTPLUG));
		if (o->report_every > 0 && now() > report_at) {
			print_counts(stderr, o->seed);
			report_at += o->report_every;
		}
	}
}

static void join_workers(void)
{
	unsigned int i;

	atomic_store(&ending, true);
	for (i = 0; i < nr_workers; i++) {
		while (pthread_tryjoin_np(workers[i].thread, NULL)) {
			usleep(10000);
			watch();
		}
	}
}

static bool parse_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	static const struct option table[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "opens", required_argument, NULL, 'o' },
		{ "hotplugs", required_argument, NULL, 'n' },
		{ "report", required_argument, NULL, 'e' },
		{ "cpus", required_argument, NULL, 'C' },
		{ "hotplug", required_argument, NULL, 'H' },
		{ "module", required_argument, NULL, 'M' },
		{ "params", required_argument, NULL, 'P' },
		{ "fixed", no_argument, NULL, 'F' },
		{ "help", no_argument, NULL, '!' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t value = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (strchr("srone", c) && !parse_number(optarg, &value)) {
			fprintf(stderr, "stress: not a number: %s\n", optarg);
			return false;
		}
		switch (c) {
		case 's':
			o->seconds = (double)value;
			break;
		case 'r':
			o->seed = value;
			break;
		case 'o':
			o->opens = value;
			break;
		case 'n':
			o->hotplugs = value;
			break;
		case 'e':
			o->report_every = (double)value;
			break;
		case 'C':
			o->cpus = optarg;
			break;
		case 'H':
			o->hotplug = optarg;
			break;
		case 'M':
			module_path = optarg;
			break;
		case 'P':
			module_parameters = optarg;
			break;
		case 'F':
			fixed = true;
			break;
		case '!':
			usage(stdout);
			exit(0);
		default:
			return false;
		}
	}
	return optind == argc;
}

int main(int argc, char **argv)
{
	struct options o = { .seconds = 10 };
	pthread_rwlockattr_t fair;
	unsigned int i;

	if (getrandom(&o.seed, sizeof(o.seed), 0) != sizeof(o.seed))
		o.seed = (uint64_t)getpid();
	o.seed &= UINT32_MAX;
	if (!parse_options(argc, argv, &o)) {
		usage(stderr);
		return 2;
	}

	printf("stress: seed %" PRIu64 "\n", o.seed);
	fflush(stdout);
	now();
	/* Who wants to be alone is not to wait for ever. */
	pthread_rwlockattr_init(&fair);
	pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&gate, &fair);
	find_devices(&o);
	add_workers();
	start_workers(o.seed);
	wait_for_the_end(&o);
	join_workers();
	for (i = 0; i < nr_devices; i++)
		check_totals(&devices[i]);
	print_counts(stdout, o.seed);
	return 0;
}
