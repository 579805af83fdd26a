/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stress - what its parts share; main.c tells what the whole does
 */
#ifndef TESTS_STRESS_H
#define TESTS_STRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/auxtrace.h>

#include "../lib/random.h"

#define MAX_DEVICES 64

/* A wait that takes longer than this is for ever, on a machine however slow. */
#define PATIENCE 90.0

/*
 * Something that one thread brings about and others can meet: an open device, a
 * CPU that is offline, a module that is not loaded, a stream that is stopped.
 * Between "maybe" and "sure" are the calls that begin and end it. @changes tells
 * whoever looked before and after a call of his own whether it was so throughout.
 */
struct presence {
	atomic_uint maybe;
	atomic_uint sure;
	atomic_uint changes;
};

struct sighting {
	unsigned int changes;
	unsigned int maybe;
	unsigned int sure;
};

void presence_begin(struct presence *p);  /* before the call that begins it */
void presence_cancel(struct presence *p); /* that call has failed */
void presence_begun(struct presence *p);  /* ... has succeeded */
void presence_ending(struct presence *p); /* before the call that ends it */
void presence_ended(struct presence *p);  /* after it */
struct sighting presence_look(struct presence *p);
bool never_since(struct presence *p, struct sighting before);
bool always_since(struct presence *p, struct sighting before);

/*
 * struct baseline - how things were right before a device was opened
 *
 * With what is allowed since: STATUS counts from then on.
 */
struct baseline {
	bool exact; /* the two counts of the simulator are its and nobody else's */
	uint64_t sim_bytes;
	uint64_t sim_stops;
	unsigned int gone;
	uint64_t buffer_size;
};

/*
 * struct device - a device, and who does what with it
 *
 * Locks, in this order: the gate (below), @control_lock, @lend_lock;
 * @settings_lock is taken alone. @open, @offline and @stopped are for all.
 */
struct device {
	int cpu;
	char path[32];
	bool hotplug;		 /* its CPU goes off and on */
	struct presence open;	 /* is it? */
	atomic_uint holders;	 /* descriptors that are open */
	struct presence offline; /* is its CPU? */
	struct presence stopped; /* is the open stream? */
	atomic_uint offlines;	 /* how often its CPU went, or began to */
	atomic_uint gone;	 /* how often it was gone */

	pthread_mutex_t settings_lock; /* one writer of settings at a time */

	pthread_mutex_t control_lock; /* one START or STOP at a time */
	atomic_uint stops;	      /* of the open stream, begun */
	atomic_uint starts;	      /* likewise */

	pthread_mutex_t lend_lock;
	int lent;	       /* descriptor that others may dup(); -1: none */
	pthread_t reader;      /* who lends it */
	struct baseline since; /* of its open */

	/* For who watches the reader, who changes it without a lock. */
	atomic_uint sleeper;	      /* its thread's number; 0: must not sleep */
	atomic_ullong sleeper_since;  /* what the simulator had published at open */
	atomic_ullong sleeper_has;    /* what was delivered */
	atomic_ullong sleeper_enough; /* what must wake it when it is there */

	/* Since the module was loaded: what its stats must say. */
	atomic_ullong opens;
	atomic_ullong bytes;
	atomic_ullong windows;
};

struct note {
	double when;
	const char *what;
	long argument;
	long result;
	int error;
};

#define NR_NOTES 40

/* struct worker - a thread, its random numbers, and what it did last */
struct worker {
	char name[24];
	void (*main)(void);
	struct device *device; /* NULL: all */
	uint64_t random;
	pthread_t thread;

	_Atomic(const char *) op; /* the call that it is in */
	_Atomic double since;	  /* when that began */
	atomic_uint id;		  /* the kernel's number of the thread */
	double asleep_in;	  /* main.c: @since of the call that it oversleeps in */
	double asleep_since;	  /* main.c: since when */
	struct note notes[NR_NOTES];
	unsigned int nr_notes;
};

/* What is counted, to be printed at the end; count_names in main.c. */
enum count {
	COUNT_OPENS,
	COUNT_BUSY,
	COUNT_OFFLINE,
	COUNT_UNLOADED,
	COUNT_LENT,
	COUNT_READS,
	COUNT_BYTES,
	COUNT_WINDOWS,
	COUNT_BREAKS,
	COUNT_RESTARTS,
	COUNT_EOFS,
	COUNT_DRAINED,
	COUNT_EXACT,
	COUNT_EAGAIN,
	COUNT_EINTR,
	COUNT_EFAULT,
	COUNT_POLLS,
	COUNT_STATUS,
	COUNT_FLUSHES,
	COUNT_STOPS,
	COUNT_GAPS_FULL,
	COUNT_GAPS_DRIVER,
	COUNT_GAPS_HOTPLUG,
	COUNT_GAPS_STOPPED,
	COUNT_SETTINGS,
	COUNT_SETTINGS_BUSY,
	COUNT_SETTINGS_BAD,
	COUNT_SYSFS,
	COUNT_HOTPLUGS,
	COUNT_RESCHEDULES,
	COUNT_RMMODS,
	COUNT_UNLOADS,
	COUNT_QUIET,
	NR_COUNTS,
};

/* main.c */
extern struct device devices[MAX_DEVICES];
extern unsigned int nr_devices;
extern atomic_bool ending;
extern bool fixed; /* nobody changes settings */
extern const char *module_path, *module_parameters;
extern struct presence absent; /* the module */
extern atomic_uint unloads;    /* how often it was, when it is loaded again */
extern pthread_rwlock_t gate;  /* read-locked by who opens; closed for quiet moments */

/* world.c: what the threads stand on */
extern __thread struct worker *self;
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
double now(void);
void count(enum count what, uint64_t n);
uint64_t counted(enum count what);
void begin(const char *what, long argument);
long end(long result); /* keeps errno */
uint64_t random_below(uint64_t n);
bool chance(unsigned int percent);
void pause_ms(unsigned int at_most);
uint64_t sim_count(const char *statistic, int cpu);
bool read_attribute(const struct device *d, const char *name, char *text, size_t size);
bool read_stats(const struct device *d, uint64_t *opens, uint64_t *bytes, uint64_t *windows);
void write_file(const char *path, const char *text);

/* session.c: open, read, verify, close */
void owner_main(void);

/* control.c: others with an open stream */
struct auxtrace_status check_status(struct device *d, int fd, const struct baseline *since,
				    const struct auxtrace_status *before);
void stop_stream(struct device *d, int fd);
void start_stream(struct device *d, int fd);
uint64_t flush_stream(struct device *d, int fd, const struct baseline *since);
void disturber_main(void);

/* settings.c: sysfs */
void choose_settings(struct device *d);
void sysfs_main(void);

/* machine.c: CPU hotplug, perf, unloading */
void hotplug_main(void);
void reschedule_main(void);
void rmmod_main(void);
void check_totals(struct device *d);

#endif
