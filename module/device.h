/* SPDX-License-Identifier: GPL-2.0-only */
/* The devices: /dev/auxtrace<N>, and what stands behind each. */
#ifndef AUXTRACE_DEVICE_H
#define AUXTRACE_DEVICE_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mutex.h>

#include "settings.h"
#include "stream.h"

struct auxtrace_pmu;

/**
 * struct auxtrace_device - a CPU's stream device
 * @dev:	in class auxtrace; its release frees this
 * @cdev:	the character device
 * @cpu:	the CPU's number, and the minor; constant
 * @pmu:	the PMU that covers the CPU; constant
 * @lock:	guards @settings and @stream. Held while a stream is opened and
 *		closed, so that nothing on the way of CPU hotplug may take it
 * @settings:	what the next open will use; constant while @stream is set
 * @stream:	while the device is open
 * @stats:	see there
 */
struct auxtrace_device {
	struct device dev;
	struct cdev cdev;
	int cpu;
	const struct auxtrace_pmu *pmu;
	struct mutex lock;		/* guards settings and stream */
	struct auxtrace_settings settings;
	struct auxtrace_stream *stream;
	struct auxtrace_stats stats;
};

extern const struct attribute_group *auxtrace_device_groups[];

long auxtrace_ioctl(struct auxtrace_stream *stream, unsigned int cmd,
		    unsigned long arg);

int auxtrace_devices_create(void);
void auxtrace_devices_destroy(void);

#endif /* AUXTRACE_DEVICE_H */
