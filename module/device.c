// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices: one character device for each present CPU that the trace PMU
 * covers, who may open it, and its file operations.
 *
 * Owns the class, the device numbers and the devices. These are made and
 * removed by the thread that loads or unloads the module; an open file holds
 * the module. Each device's lock is described at struct auxtrace_device.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/printk.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "device.h"
#include "kernel_features.h"
#include "pmu.h"

static bool group_access;
module_param(group_access, bool, 0644);
MODULE_PARM_DESC(group_access,
		 "let the owner and mode of a device node decide who may open it, instead of CAP_PERFMON (default 0)");

static struct class auxtrace_class = {
	.name = "auxtrace",
	.dev_groups = auxtrace_device_groups,
};

static dev_t first_devt;

/* By CPU; NULL where there is no device. */
static struct auxtrace_device **devices;

/*
 * All devices are there. Before, an open would outlive a module that cannot be
 * loaded after all: the kernel frees it in spite of who holds it. Written by the
 * thread that loads the module.
 */
static bool ready;

/* Who may open a device? Every refusal says which it was. */
static int may_open(struct auxtrace_device *adev, struct file *file)
{
	/* The access mode 3 gives neither, for ioctl() alone. */
	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) != FMODE_READ) {
		pr_notice_ratelimited("auxtrace%d: open refused: read only\n", adev->cpu);
		return -EACCES;
	}
	if (!READ_ONCE(group_access) && !perfmon_capable()) {
		pr_notice_ratelimited("auxtrace%d: open refused: needs CAP_PERFMON (or group_access=1)\n",
				      adev->cpu);
		return -EACCES;
	}
	if (security_locked_down(LOCKDOWN_PERF)) {
		pr_notice_ratelimited("auxtrace%d: open refused: the kernel is locked down\n",
				      adev->cpu);
		return -EPERM;
	}
	return 0;
}

static int device_open(struct inode *inode, struct file *file)
{
	struct auxtrace_device *adev =
		container_of(inode->i_cdev, struct auxtrace_device, cdev);
	struct auxtrace_stream *stream;
	int ret;

	/* Pairs with announce_all(). */
	if (!smp_load_acquire(&ready))
		return -ENXIO;
	ret = may_open(adev, file);
	if (ret)
		return ret;

	mutex_lock(&adev->lock);
	if (adev->stream) {
		pr_notice_ratelimited("auxtrace%d: open refused: already open\n",
				      adev->cpu);
		ret = -EBUSY;
		goto unlock;
	}
	stream = auxtrace_stream_open(adev->pmu, adev->cpu, &adev->settings,
				      &adev->stats);
	if (IS_ERR(stream)) {
		ret = PTR_ERR(stream);
		goto unlock;
	}
	adev->stream = stream;
	WRITE_ONCE(adev->stats.opens, adev->stats.opens + 1);
	file->private_data = adev;
	stream_open(inode, file);
unlock:
	mutex_unlock(&adev->lock);
	return ret;
}

static int device_release(struct inode *inode, struct file *file)
{
	struct auxtrace_device *adev = file->private_data;

	mutex_lock(&adev->lock);
	auxtrace_stream_close(adev->stream);
	adev->stream = NULL;
	mutex_unlock(&adev->lock);
	return 0;
}

/* The file is open, so the stream is there and stays. */
static struct auxtrace_stream *stream_of(struct file *file)
{
	struct auxtrace_device *adev = file->private_data;

	return adev->stream;
}

static ssize_t device_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;

	return auxtrace_stream_read(stream_of(file), to,
				    file->f_flags & O_NONBLOCK ||
				    iocb->ki_flags & IOCB_NOWAIT);
}

static __poll_t device_poll(struct file *file, poll_table *table)
{
	return auxtrace_stream_poll(stream_of(file), file, table);
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return auxtrace_ioctl(stream_of(file), cmd, arg);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.read_iter = device_read_iter,
	.splice_read = read_iter_splice_read,
	.poll = device_poll,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static void device_free(struct device *dev)
{
	kfree(container_of(dev, struct auxtrace_device, dev));
}

static int create(int cpu, const struct auxtrace_pmu *pmu)
{
	struct auxtrace_device *adev;
	int ret;

	adev = kzalloc(sizeof(*adev), GFP_KERNEL);
	if (!adev)
		return -ENOMEM;

	device_initialize(&adev->dev);
	adev->dev.class = &auxtrace_class;
	adev->dev.devt = MKDEV(MAJOR(first_devt), cpu);
	adev->dev.release = device_free;
	adev->cpu = cpu;
	adev->pmu = pmu;
	mutex_init(&adev->lock);
	adev->settings = auxtrace_defaults;
	dev_set_uevent_suppress(&adev->dev, true);
	cdev_init(&adev->cdev, &device_fops);
	adev->cdev.owner = THIS_MODULE;

	ret = dev_set_name(&adev->dev, "auxtrace%d", cpu);
	if (!ret)
		ret = cdev_device_add(&adev->cdev, &adev->dev);
	if (ret) {
		put_device(&adev->dev);
		return ret;
	}
	devices[cpu] = adev;
	return 0;
}

/* Who hears of a device finds that it can be opened. */
static void announce_all(void)
{
	unsigned int cpu;

	/* Pairs with device_open(): the devices are whole. */
	smp_store_release(&ready, true);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct auxtrace_device *adev = devices[cpu];

		if (!adev)
			continue;
		dev_set_uevent_suppress(&adev->dev, false);
		kobject_uevent(&adev->dev.kobj, KOBJ_ADD);
	}
}

static void destroy_all(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct auxtrace_device *adev = devices[cpu];

		if (!adev)
			continue;
		cdev_device_del(&adev->cdev, &adev->dev);
		put_device(&adev->dev);
	}
}

static int all_accept(void)
{
	unsigned int cpu;

	for_each_present_cpu(cpu) {
		const struct auxtrace_pmu *pmu = auxtrace_pmu_of_cpu(cpu);
		int ret;

		if (!pmu)
			continue;
		ret = auxtrace_pmu_accepts(pmu, cpu, &auxtrace_defaults);
		if (ret && ret != -ENOMEM)
			pr_err("%s refuses the event settings (config=0x%llx config1=0x%llx config2=0x%llx config3=0x%llx period=%llu)\n",
			       pmu->name,
			       auxtrace_defaults.value[AUXTRACE_CONFIG],
			       auxtrace_defaults.value[AUXTRACE_CONFIG1],
			       auxtrace_defaults.value[AUXTRACE_CONFIG2],
			       auxtrace_defaults.value[AUXTRACE_CONFIG3],
			       auxtrace_defaults.value[AUXTRACE_PERIOD]);
		if (ret)
			return ret;
	}
	return 0;
}

static int create_all(void)
{
	unsigned int cpu;
	int ret;

	for_each_present_cpu(cpu) {
		const struct auxtrace_pmu *pmu = auxtrace_pmu_of_cpu(cpu);

		ret = pmu ? create(cpu, pmu) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * auxtrace_devices_create() - make the devices
 *
 * auxtrace_devices_destroy() undoes it.
 *
 * Context: may sleep; module init, PMUs discovered.
 * Return: 0, -EINVAL or -EOPNOTSUPP if a PMU refuses the settings, -ENOMEM, or
 * what the driver core said. Nothing is left behind then.
 */
int auxtrace_devices_create(void)
{
	int ret;

	devices = kcalloc(nr_cpu_ids, sizeof(*devices), GFP_KERNEL);
	if (!devices)
		return -ENOMEM;
	ret = alloc_chrdev_region(&first_devt, 0, nr_cpu_ids, "auxtrace");
	if (ret)
		goto free;
	ret = class_register(&auxtrace_class);
	if (ret)
		goto unregister;
	ret = all_accept();
	if (!ret)
		ret = create_all();
	if (ret) {
		auxtrace_devices_destroy();
		return ret;
	}
	announce_all();
	return 0;

unregister:
	unregister_chrdev_region(first_devt, nr_cpu_ids);
free:
	kfree(devices);
	return ret;
}

/**
 * auxtrace_devices_destroy() - remove the devices, none of which is open
 *
 * Context: may sleep; module exit.
 */
void auxtrace_devices_destroy(void)
{
	destroy_all();
	class_unregister(&auxtrace_class);
	unregister_chrdev_region(first_devt, nr_cpu_ids);
	kfree(devices);
}
