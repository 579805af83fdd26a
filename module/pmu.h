/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace PMU (or PMUs) whose counters the devices make. */
#ifndef AUXTRACE_PMU_H
#define AUXTRACE_PMU_H

#include <linux/list.h>
#include <linux/types.h>

struct auxtrace_settings;
struct module;
struct perf_event;

/**
 * struct auxtrace_pmu - a PMU with an AUX buffer
 * @entry:	in the list of chosen PMUs
 * @owner:	the driver's module, held as long as this is; NULL if built in
 * @type:	perf_event_attr::type
 * @name:	as in /sys/bus/event_source/devices
 *
 * Constant once discovered.
 */
struct auxtrace_pmu {
	struct list_head entry;
	struct module *owner;
	u32 type;
	char name[];
};

int auxtrace_pmu_discover(void);
void auxtrace_pmu_forget(void);
const struct auxtrace_pmu *auxtrace_pmu_of_cpu(int cpu);
struct perf_event *auxtrace_pmu_create_event(const struct auxtrace_pmu *pmu, int cpu,
					     const struct auxtrace_settings *settings);
int auxtrace_pmu_accepts(const struct auxtrace_pmu *pmu, int cpu,
			 const struct auxtrace_settings *settings);

#endif /* AUXTRACE_PMU_H */
