// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/auxtrace/auxtrace<N>/: settings, state and statistics.
 *
 * Owns nothing: a device's settings and its stream are guarded by the device's
 * lock, its statistics may be read without.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

#include "device.h"
#include "pmu.h"

static struct auxtrace_device *to_adev(struct device *dev)
{
	return container_of(dev, struct auxtrace_device, dev);
}

/**
 * struct setting_attribute - attribute of a setting
 * @attr:	the attribute
 * @id:		which setting
 */
struct setting_attribute {
	struct device_attribute attr;
	enum auxtrace_setting id;
};

static enum auxtrace_setting setting_of(struct device_attribute *attr)
{
	return container_of(attr, struct setting_attribute, attr)->id;
}

static ssize_t setting_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct auxtrace_device *adev = to_adev(dev);
	int len;

	mutex_lock(&adev->lock);
	len = auxtrace_setting_print(&adev->settings, setting_of(attr), buf);
	mutex_unlock(&adev->lock);
	return len;
}

/* Takes the new value if it is good, goes with the others, and the PMU agrees. */
static int change_setting(struct auxtrace_device *adev, enum auxtrace_setting id,
			  const char *text)
{
	struct auxtrace_settings new = adev->settings;
	int ret;

	lockdep_assert_held(&adev->lock);

	if (adev->stream)
		return -EBUSY;
	ret = auxtrace_setting_parse(&new, id, text, dev_name(&adev->dev));
	if (ret)
		return ret;
	ret = auxtrace_settings_check(&new, dev_name(&adev->dev));
	if (ret)
		return ret;
	ret = auxtrace_pmu_accepts(adev->pmu, adev->cpu, &new);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		pr_notice("auxtrace%d: %s=0x%llx refused by %s\n", adev->cpu,
			  auxtrace_setting_name(id), new.value[id], adev->pmu->name);
		return -EINVAL;
	}
	adev->settings = new;
	return 0;
}

static ssize_t setting_store(struct device *dev, struct device_attribute *attr,
			     const char *buf, size_t count)
{
	struct auxtrace_device *adev = to_adev(dev);
	int ret;

	mutex_lock(&adev->lock);
	ret = change_setting(adev, setting_of(attr), buf);
	mutex_unlock(&adev->lock);
	if (ret == -ENOMEM)
		pr_notice("%s: out of memory\n", dev_name(dev));
	return ret ?: count;
}

#define SETTING_ATTR(name, setting)					\
	static struct setting_attribute setting_attr_##name = {		\
		.attr = __ATTR(name, 0644, setting_show, setting_store), \
		.id = setting,						\
	}

SETTING_ATTR(buffer_size, AUXTRACE_BUFFER_SIZE);
SETTING_ATTR(watermark, AUXTRACE_WATERMARK);
SETTING_ATTR(flush_ms, AUXTRACE_FLUSH_MS);
SETTING_ATTR(format, AUXTRACE_FORMAT);
SETTING_ATTR(config, AUXTRACE_CONFIG);
SETTING_ATTR(config1, AUXTRACE_CONFIG1);
SETTING_ATTR(config2, AUXTRACE_CONFIG2);
SETTING_ATTR(config3, AUXTRACE_CONFIG3);
SETTING_ATTR(period, AUXTRACE_PERIOD);
SETTING_ATTR(exclude_user, AUXTRACE_EXCLUDE_USER);
SETTING_ATTR(exclude_kernel, AUXTRACE_EXCLUDE_KERNEL);

static ssize_t pmu_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_adev(dev)->pmu->name);
}
static DEVICE_ATTR_RO(pmu);

static ssize_t cpu_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", to_adev(dev)->cpu);
}
static DEVICE_ATTR_RO(cpu);

static const char *state_name(struct auxtrace_device *adev)
{
	static const char * const names[] = {
		[AUXTRACE_STATE_RUNNING] = "running",
		[AUXTRACE_STATE_FULL] = "full",
		[AUXTRACE_STATE_STOPPED] = "stopped",
		[AUXTRACE_STATE_OFFLINE] = "offline",
		[AUXTRACE_STATE_ERROR] = "error",
	};
	const char *name;

	mutex_lock(&adev->lock);
	if (!cpu_online(adev->cpu))
		name = "offline";
	else if (!adev->stream)
		name = "closed";
	else
		name = names[auxtrace_stream_state(adev->stream)];
	mutex_unlock(&adev->lock);
	return name;
}

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", state_name(to_adev(dev)));
}
static DEVICE_ATTR_RO(state);

static ssize_t stats_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct auxtrace_stats stats;

	auxtrace_stats_snapshot(&to_adev(dev)->stats, &stats);
	return sysfs_emit(buf,
			  "opens %llu\n"
			  "reads %llu\n"
			  "bytes %llu\n"
			  "windows %llu\n"
			  "gaps %llu\n"
			  "gaps_full %llu\n"
			  "gaps_driver %llu\n"
			  "gaps_hotplug %llu\n"
			  "gaps_stopped %llu\n"
			  "gap_ns %llu\n"
			  "flushes %llu\n"
			  "truncated %llu\n"
			  "partial %llu\n"
			  "collision %llu\n"
			  "reports_lost %llu\n"
			  "wakeups %llu\n",
			  stats.opens, stats.reads, stats.bytes, stats.windows,
			  stats.gaps, stats.gaps_full, stats.gaps_driver,
			  stats.gaps_hotplug, stats.gaps_stopped, stats.gap_ns,
			  stats.flushes, stats.truncated, stats.partial,
			  stats.collision, stats.reports_lost,
			  (u64)atomic64_read(&stats.wakeups));
}
static DEVICE_ATTR_RO(stats);

static struct attribute *device_attrs[] = {
	&setting_attr_buffer_size.attr.attr,
	&setting_attr_watermark.attr.attr,
	&setting_attr_flush_ms.attr.attr,
	&setting_attr_format.attr.attr,
	&setting_attr_config.attr.attr,
	&setting_attr_config1.attr.attr,
	&setting_attr_config2.attr.attr,
	&setting_attr_config3.attr.attr,
	&setting_attr_period.attr.attr,
	&setting_attr_exclude_user.attr.attr,
	&setting_attr_exclude_kernel.attr.attr,
	&dev_attr_pmu.attr,
	&dev_attr_cpu.attr,
	&dev_attr_state.attr,
	&dev_attr_stats.attr,
	NULL
};

static const struct attribute_group device_group = {
	.attrs = device_attrs,
};

const struct attribute_group *auxtrace_device_groups[] = {
	&device_group,
	NULL
};
