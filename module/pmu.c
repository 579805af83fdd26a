// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the trace PMU: which PMUs with an AUX buffer there are, which of them
 * is meant, which CPUs it covers, and what it traces unless told otherwise.
 *
 * Owns the list of chosen PMUs, and a reference on the modules of their
 * drivers. The list is made and emptied by the thread that loads or unloads the
 * module and constant in between: no lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/init_task.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kernel_features.h"
#include "pmu.h"
#include "settings.h"

static char *wanted_name = "auto";
module_param_named(pmu, wanted_name, charp, 0444);
MODULE_PARM_DESC(pmu,
		 "name of the PMU, as in /sys/bus/event_source/devices (default auto: intel_pt, arm_spe_*, or any with an AUX buffer)");

static LIST_HEAD(chosen);

#define SPE_PREFIX	"arm_spe_"

/* CPUID's leaf about Intel PT, which is there where the PMU is. */
#define INTEL_PT_CPUID	0x14

/* Longest list of PMU names in the log. */
#define NAMES_LEN	256

/**
 * struct census - what a walk over the bus of PMUs is looking for, and found
 * @wanted:	name to match, or with @prefix the start of it; NULL for any
 * @prefix:	see @wanted
 * @first_only:	take no more than one
 * @names:	names of all PMUs with an AUX buffer, for the log
 * @ret:	0 or what went wrong
 */
struct census {
	const char *wanted;
	bool prefix;
	bool first_only;
	char names[NAMES_LEN];
	int ret;
};

static bool matches(const struct census *census, const char *name)
{
	if (!census->wanted)
		return true;
	if (census->prefix)
		return str_has_prefix(name, census->wanted);
	return !strcmp(name, census->wanted);
}

static int same_device(struct device *dev, void *other)
{
	return dev == other;
}

/*
 * Takes the PMU of @dev on the list of chosen ones, and holds its driver.
 * @dev is locked.
 */
static int choose(struct device *dev, struct pmu *pmu)
{
	const char *name = dev_name(dev);
	struct auxtrace_pmu *new;

	new = kzalloc(struct_size(new, name, strlen(name) + 1), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	if (!try_module_get(pmu->module)) {
		kfree(new);
		return 0;	/* on its way out: as good as gone */
	}
	new->owner = pmu->module;
	new->type = pmu->type;
	strcpy(new->name, name);
	list_add_tail(&new->entry, &chosen);
	return 0;
}

static int visit(struct device *dev, void *data)
{
	struct census *census = data;
	struct pmu *pmu;

	/*
	 * The device's memory is safe, its PMU's is not: the driver could be
	 * unregistering it. device_del() takes a device off its bus before it
	 * takes the device's lock for the last time (device_release_driver()).
	 * So if under that lock the device is still on the bus, its removal has
	 * yet to wait for us.
	 */
	device_lock(dev);
	if (!bus_for_each_dev(dev->bus, NULL, dev, same_device))
		goto unlock;

	pmu = dev_get_drvdata(dev);
	if (!pmu || !pmu->setup_aux)
		goto unlock;

	if (census->names[0])
		strncat(census->names, ", ", NAMES_LEN - strlen(census->names) - 1);
	strncat(census->names, dev_name(dev),
		NAMES_LEN - strlen(census->names) - 1);

	if (matches(census, dev_name(dev)) &&
	    !(census->first_only && !list_empty(&chosen)))
		census->ret = choose(dev, pmu);
unlock:
	device_unlock(dev);
	return census->ret;
}

/*
 * Walks over all PMUs. The bus is not exported, but the device of any PMU knows
 * it, and a disabled counter any PMU: here that of software events, which is
 * always there and never busy.
 */
static int walk(struct census *census)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);

	census->names[0] = '\0';
	census->ret = -ENODEV;
	if (event->pmu->dev && event->pmu->dev->bus) {
		census->ret = 0;
		bus_for_each_dev(event->pmu->dev->bus, NULL, census, visit);
	}
	perf_event_release_kernel(event);
	return census->ret;
}

static bool found(void)
{
	return !list_empty(&chosen);
}

static int choose_auto(struct census *census)
{
	int ret;

	census->first_only = true;
	census->wanted = "intel_pt";
	ret = walk(census);
	if (ret || found())
		return ret;

	/* On big.LITTLE each CPU belongs to exactly one of them. */
	census->first_only = false;
	census->wanted = SPE_PREFIX;
	census->prefix = true;
	ret = walk(census);
	if (ret || found())
		return ret;

	census->first_only = true;
	census->wanted = NULL;
	return walk(census);
}

/*
 * Intel PT: time stamps, and MTC packets where the CPU has them. Branches are
 * on unless the config says otherwise. Bits as in the PMU's format/ folder.
 *
 * The perf core makes the buffer of regions as long as the watermark, and the driver
 * stops at the end of the last one behind which another is free, by the tail that it
 * knew a watermark ago. Of two regions it would stop at each one's end, however fast
 * the reader is. perf record takes a quarter, too.
 */
static void intel_pt_defaults(struct auxtrace_settings *settings)
{
	u64 config = BIT_ULL(10);			/* tsc */

#ifdef CONFIG_X86
	/* As in the PMU's caps/ folder: the driver itself tells none but KVM. */
	if (cpuid_ebx(INTEL_PT_CPUID) & BIT(3)) {	/* mtc */
		u32 eax, ebx, ecx, edx;

		config |= BIT_ULL(9);			/* mtc */
		/* Every 8th tick of the crystal clock, as perf record takes. */
		cpuid_count(INTEL_PT_CPUID, 1, &eax, &ebx, &ecx, &edx);
		if (eax >> 16 & BIT(3))			/* mtc_periods */
			config |= 3ULL << 14;		/* mtc_period */
	}
#endif
	auxtrace_setting_default(settings, AUXTRACE_CONFIG, config);
	auxtrace_setting_default_watermark(settings, 4);
}

/*
 * SPE: time stamps, with a random dither so that loops are not sampled in step,
 * at perf record's default interval. Bits as in the PMU's format/ folder.
 */
static void arm_spe_defaults(struct auxtrace_settings *settings)
{
	auxtrace_setting_default(settings, AUXTRACE_CONFIG,
				 BIT_ULL(0) |		/* ts_enable */
				 BIT_ULL(16));		/* jitter */
	auxtrace_setting_default(settings, AUXTRACE_PERIOD, 4096);
}

static void complete_defaults(void)
{
	const struct auxtrace_pmu *pmu =
		list_first_entry(&chosen, struct auxtrace_pmu, entry);

	if (!strcmp(pmu->name, "intel_pt"))
		intel_pt_defaults(&auxtrace_defaults);
	else if (str_has_prefix(pmu->name, SPE_PREFIX))
		arm_spe_defaults(&auxtrace_defaults);
}

static void explain_none(const struct census *census)
{
	if (census->names[0])
		pr_err("no PMU '%s' with an AUX buffer; there are: %s\n",
		       wanted_name, census->names);
	else
		pr_err("no PMU '%s' with an AUX buffer, nor any other. Usual causes: a VM without Intel PT, kpti on arm64 (boot with kpti=off), a driver that is not loaded (arm_spe_pmu)\n",
		       wanted_name);
}

/**
 * auxtrace_pmu_discover() - choose the PMU that the parameter pmu= means
 *
 * Completes auxtrace_defaults for it. auxtrace_pmu_forget() undoes this.
 *
 * Context: may sleep; module init.
 * Return: 0; -ENODEV after a line in the log that names the PMUs which have an
 * AUX buffer; -ENOMEM, or what the perf core said.
 */
int auxtrace_pmu_discover(void)
{
	struct census *census;
	int ret;

	census = kzalloc(sizeof(*census), GFP_KERNEL);
	if (!census)
		return -ENOMEM;

	if (!strcmp(wanted_name, "auto")) {
		ret = choose_auto(census);
	} else {
		census->wanted = wanted_name;
		ret = walk(census);
	}

	if (ret) {
		if (ret != -ENOMEM)
			pr_err("cannot look PMUs up (error %d)\n", ret);
		auxtrace_pmu_forget();
	} else if (!found()) {
		explain_none(census);
		ret = -ENODEV;
	} else {
		complete_defaults();
	}
	kfree(census);
	return ret;
}

/**
 * auxtrace_pmu_forget() - let go of the chosen PMUs
 *
 * Context: may sleep; module exit, or init that failed.
 */
void auxtrace_pmu_forget(void)
{
	struct auxtrace_pmu *pmu, *next;

	list_for_each_entry_safe(pmu, next, &chosen, entry) {
		list_del(&pmu->entry);
		module_put(pmu->owner);
		kfree(pmu);
	}
}

/* What perf calls these settings: a disabled counter, always scheduled (pinned). */
static void make_attr(const struct auxtrace_pmu *pmu,
		      const struct auxtrace_settings *settings,
		      struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.size = sizeof(*attr),
		.type = pmu->type,
		.config = settings->value[AUXTRACE_CONFIG],
		.config1 = settings->value[AUXTRACE_CONFIG1],
		.config2 = settings->value[AUXTRACE_CONFIG2],
		.sample_period = settings->value[AUXTRACE_PERIOD],
		.exclude_user = settings->value[AUXTRACE_EXCLUDE_USER],
		.exclude_kernel = settings->value[AUXTRACE_EXCLUDE_KERNEL],
		.disabled = 1,
		.pinned = 1,
	};
	attr_set_config3(attr, settings->value[AUXTRACE_CONFIG3]);
}

/**
 * auxtrace_pmu_create_event() - make a disabled counter
 * @pmu:	the PMU
 * @cpu:	on which CPU
 * @settings:	with which settings
 *
 * With the kernel's credentials: the perf core and drivers ask whether the
 * current task has CAP_PERFMON, also for counters of the kernel
 * (find_get_context(), unless perf_event_paranoid is low). Who may open a device
 * was decided before; and a counter is made anew on behalf of whoever happens to
 * read.
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 * Return: the event, or an ERR_PTR() of what perf or the PMU said.
 */
struct perf_event *auxtrace_pmu_create_event(const struct auxtrace_pmu *pmu, int cpu,
					     const struct auxtrace_settings *settings)
{
	struct cred *kernel = prepare_kernel_cred(&init_task);
	struct perf_event_attr attr;
	struct perf_event *event;
	const struct cred *old;

	if (!kernel)
		return ERR_PTR(-ENOMEM);
	make_attr(pmu, settings, &attr);
	old = override_creds(kernel);
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	revert_creds(old);
	put_cred(kernel);
	return event;
}

/**
 * auxtrace_pmu_accepts() - would the PMU take these settings?
 * @pmu:	the PMU
 * @cpu:	a CPU that may be offline
 * @settings:	the settings
 *
 * Context: may sleep.
 * Return: 0 if it would, or cannot say because it is busy or the CPU offline;
 * else what it said: -ENOENT where it does not cover the CPU, -EINVAL or
 * -EOPNOTSUPP for bad settings.
 */
int auxtrace_pmu_accepts(const struct auxtrace_pmu *pmu, int cpu,
			 const struct auxtrace_settings *settings)
{
	struct perf_event *event = auxtrace_pmu_create_event(pmu, cpu, settings);

	if (!IS_ERR(event)) {
		perf_event_release_kernel(event);
		return 0;
	}
	switch (PTR_ERR(event)) {
	case -EBUSY:
	case -ENODEV:
		return 0;
	default:
		return PTR_ERR(event);
	}
}

/**
 * auxtrace_pmu_of_cpu() - which chosen PMU covers a CPU
 * @cpu:	the CPU, present
 *
 * Context: may sleep.
 * Return: the PMU, or NULL if none does.
 */
const struct auxtrace_pmu *auxtrace_pmu_of_cpu(int cpu)
{
	const struct auxtrace_pmu *pmu;

	list_for_each_entry(pmu, &chosen, entry) {
		if (auxtrace_pmu_accepts(pmu, cpu, &auxtrace_defaults) != -ENOENT)
			return pmu;
	}
	return NULL;
}
