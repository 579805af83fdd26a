// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading: the order in which the parts come up and go down.
 *
 * Owns nothing. Module init and exit exclude each other; no lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "consumer/consumer.h"
#include "device.h"
#include "hotplug.h"
#include "pmu.h"
#include "settings.h"

static int get_consumer(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", auxtrace_consumer_name);
}

static int set_consumer(const char *text, const struct kernel_param *kp)
{
	pr_err("consumer=%.64s refused: chosen when the module was built, which is for '%s'\n",
	       text, auxtrace_consumer_name);
	return -EPERM;
}

static const struct kernel_param_ops consumer_ops = {
	.get = get_consumer,
	.set = set_consumer,
};

module_param_cb(consumer, &consumer_ops, NULL, 0444);
MODULE_PARM_DESC(consumer, "read only: where the kernel-consumer AUX API comes from");

static int __init bring_up(void)
{
	int ret;

	ret = auxtrace_settings_check(&auxtrace_defaults, "parameter");
	if (ret)
		return ret;
	ret = auxtrace_consumer_init();
	if (ret)
		return ret;
	ret = auxtrace_pmu_discover();
	if (ret)
		goto consumer;
	ret = auxtrace_hotplug_init();
	if (ret)
		goto forget;
	ret = auxtrace_devices_create();
	if (ret)
		goto hotplug;
	return 0;

hotplug:
	auxtrace_hotplug_exit();
forget:
	auxtrace_pmu_forget();
consumer:
	auxtrace_consumer_exit();
	return ret;
}

/* Whoever refuses says why, but for this. */
static int __init auxtrace_init(void)
{
	int ret = bring_up();

	if (ret == -ENOMEM)
		pr_err("out of memory\n");
	return ret;
}
module_init(auxtrace_init);

static void __exit auxtrace_exit(void)
{
	auxtrace_devices_destroy();
	auxtrace_hotplug_exit();
	auxtrace_pmu_forget();
	auxtrace_consumer_exit();
}
module_exit(auxtrace_exit);

/* On arm64 the driver is a module of its own, which nothing else may load. */
#if IS_ENABLED(CONFIG_ARM64)
MODULE_SOFTDEP("pre: arm_spe_pmu");
#endif
MODULE_DESCRIPTION("Streams of hardware trace from kernel perf counters");
MODULE_AUTHOR("auxtrace developers");
MODULE_VERSION(AUXTRACE_VERSION);
MODULE_LICENSE("GPL");
