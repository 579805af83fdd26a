/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The configuration: what auxtraced.conf(5) describes.
 */
#ifndef AUXTRACED_CONFIG_H
#define AUXTRACED_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_sync {
	SYNC_NEVER,
	SYNC_ROTATION,
	SYNC_PERIODIC, /* each @sync_period, and on rotation */
};

/* A stream that comes from elsewhere than the CPU's device. */
struct config_source {
	unsigned int cpu;
	char *path;
};

/*
 * Never changed once it is loaded: threads read the one that they were given. References
 * are the main thread's affair.
 */
struct config {
	unsigned int references;
	unsigned int *cpus; /* ascending; NULL: all that have a device */
	size_t nr_cpus;
	struct config_source *sources; /* if there are any, these alone are recorded */
	size_t nr_sources;

	char *directory;
	unsigned int compression; /* 0, or zstd's level */
	unsigned int mode;	  /* of files */
	uint64_t file_size;	  /* bytes; 0: any */
	uint64_t file_age;	  /* ns; 0: any */
	uint64_t total_size;	  /* bytes; 0: any */
	enum config_sync sync;
	uint64_t sync_period; /* ns */
	char *metrics;	      /* "none", a path, or ADDRESS:PORT */
};

/*
 * config_load() - read a file
 *
 * Each error is logged: file, line, key, and what would be right.
 *
 * Return: 0 and *config, with one reference; or -EINVAL, or what opening the file said.
 */
int config_load(struct config **config, const char *path);

struct config *config_ref(struct config *config);
/* Frees it with the last one; NULL does nothing. */
void config_unref(struct config *config);

/* The path of CPU's source; NULL: its device. */
const char *config_source_of(const struct config *config, unsigned int cpu);

#endif
