// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU hotplug: when a CPU has gone, or is back, its stream has work to do.
 *
 * Owns the list of open streams and the hotplug states. The list is guarded by
 * streams_lock, a spinlock: hotplug callbacks run with the hotplug lock held for
 * writing, and opening a stream waits for that lock, so that a callback may wait
 * for nothing that an open holds. They queue work, and stop the event of a CPU that
 * is about to go.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "hotplug.h"
#include "stream_internal.h"

static DEFINE_SPINLOCK(streams_lock);
static LIST_HEAD(streams);

static enum cpuhp_state dead_state;
static enum cpuhp_state online_state;

/* On the CPU, which goes offline. */
static int leave_cpu(unsigned int cpu)
{
	struct auxtrace_stream *s;

	spin_lock(&streams_lock);
	list_for_each_entry(s, &streams, hotplug_entry) {
		if (s->cpu == cpu)
			auxtrace_counter_leave_cpu(&s->counter);
	}
	spin_unlock(&streams_lock);
	return 0;
}

static int tend_streams(unsigned int cpu)
{
	struct auxtrace_stream *s;

	spin_lock(&streams_lock);
	list_for_each_entry(s, &streams, hotplug_entry) {
		if (s->cpu != cpu)
			continue;
		if (cpu_online(cpu))
			auxtrace_counter_stay(&s->counter);
		set_bit(0, &s->cpu_changed);
		auxtrace_queue_tend(s);
	}
	spin_unlock(&streams_lock);
	return 0;
}

/**
 * auxtrace_hotplug_init() - hear of CPU hotplug
 *
 * Of two states: one whose teardown comes when the CPU is dead, so that the perf
 * core has let go of its events and published their data; and one whose startup
 * comes when the perf core takes events for the CPU again, and whose teardown mostly
 * comes before that of drivers that were there before us: states are left in reverse,
 * and a new one is the lowest that is free. Where a module that has gone had a lower
 * one than the driver, the driver comes first: see give_up_buffer() in upkeep.c.
 *
 * Context: may sleep; module init.
 * Return: 0, or what the hotplug core said.
 */
int auxtrace_hotplug_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "perf/auxtrace:dead",
					NULL, tend_streams);
	if (ret < 0)
		return ret;
	dead_state = ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/auxtrace:online",
					tend_streams, leave_cpu);
	if (ret < 0) {
		cpuhp_remove_state_nocalls(dead_state);
		return ret;
	}
	online_state = ret;
	return 0;
}

/**
 * auxtrace_hotplug_exit() - hear no more
 *
 * Context: may sleep; module exit, or init that failed.
 */
void auxtrace_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(online_state);
	cpuhp_remove_state_nocalls(dead_state);
}

/**
 * auxtrace_hotplug_add() - tell a stream of its CPU
 * @s:		the stream, whose @tend work gets queued from now on
 *
 * Context: may sleep, does not.
 */
void auxtrace_hotplug_add(struct auxtrace_stream *s)
{
	spin_lock(&streams_lock);
	list_add(&s->hotplug_entry, &streams);
	spin_unlock(&streams_lock);
}

/**
 * auxtrace_hotplug_del() - tell a stream no more
 * @s:		the stream; its @tend work may still be queued or running
 *
 * Context: may sleep, does not.
 */
void auxtrace_hotplug_del(struct auxtrace_stream *s)
{
	spin_lock(&streams_lock);
	list_del(&s->hotplug_entry);
	spin_unlock(&streams_lock);
}
