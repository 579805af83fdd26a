// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Devices that are open: the descriptor, and the control calls.
 *
 * Owns the descriptor. Nothing else is kept, so the calls need no lock.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "internal.h"

#define KNOWN_FLAGS (AUXTRACE_OPEN_NONBLOCK | AUXTRACE_OPEN_RAW)

struct auxtrace_device {
	int fd;
	unsigned int cpu;
};

/* The caller's and the kernel's size may both differ from what is known here. */
static int sized_ioctl(int fd, unsigned long number, void *arg, size_t size)
{
	uint32_t in = size;

	if (size < sizeof(in) || size > 4096)
		return -EINVAL;
	memset(arg, 0, size);
	memcpy(arg, &in, sizeof(in));
	return ioctl(fd, number, arg) ? -errno : 0;
}

/*
 * Opening some other driver's device could do anything, so the kernel is asked first whose
 * it is. Where there is no sysfs, the INFO call after the open has to tell.
 */
static bool is_elses(dev_t number)
{
	char path[64], target[PATH_MAX];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/subsystem", major(number), minor(number));
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	name = strrchr(target, '/');
	return strcmp(name ? name + 1 : target, "auxtrace") != 0;
}

static int open_node(const char *path, unsigned int flags)
{
	int mode = O_RDONLY | O_CLOEXEC | O_NOCTTY;
	struct stat before, after;
	int fd;

	if (stat(path, &before))
		return -errno;
	if (!S_ISCHR(before.st_mode) || is_elses(before.st_rdev))
		return -ENOTTY;
	if (flags & AUXTRACE_OPEN_NONBLOCK)
		mode |= O_NONBLOCK;
	fd = open(path, mode);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &after) || !S_ISCHR(after.st_mode) || after.st_rdev != before.st_rdev) {
		close(fd);
		return -ENOTTY;
	}
	return fd;
}

static int set_framed(int fd)
{
	uint32_t format = AUXTRACE_FORMAT_FRAMED;

	return ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format) ? -errno : 0;
}

/* Takes a descriptor over, unless it fails. */
static int take(struct auxtrace_device **out, int fd, unsigned int flags)
{
	struct auxtrace_info info;
	struct auxtrace_device *device;
	int ret = sized_ioctl(fd, AUXTRACE_IOC_INFO, &info, sizeof(info));

	if (ret)
		return ret == -EBADF ? ret : -ENOTTY;
	if (!(flags & AUXTRACE_OPEN_RAW) && info.format != AUXTRACE_FORMAT_FRAMED) {
		ret = set_framed(fd);
		if (ret)
			return ret;
	}
	device = malloc(sizeof(*device));
	if (!device)
		return -ENOMEM;
	*device = (struct auxtrace_device){ .fd = fd, .cpu = info.cpu };
	*out = device;
	return 0;
}

EXPORT int auxtrace_device_open(struct auxtrace_device **device, const char *path,
				unsigned int flags)
{
	int fd, ret;

	if (flags & ~KNOWN_FLAGS)
		return -EINVAL;
	fd = open_node(path, flags);
	if (fd < 0)
		return fd;
	ret = take(device, fd, flags);
	if (ret)
		close(fd);
	return ret;
}

EXPORT int auxtrace_device_open_cpu(struct auxtrace_device **device, unsigned int cpu,
				    unsigned int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/auxtrace%u", cpu);
	return auxtrace_device_open(device, path, flags);
}

EXPORT int auxtrace_device_open_cpus(struct auxtrace_device **devices, int *errors,
				     const unsigned int *cpus, size_t n, unsigned int flags)
{
	int opened = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		int ret;

		devices[i] = NULL;
		ret = auxtrace_device_open_cpu(&devices[i], cpus[i], flags);
		if (errors)
			errors[i] = ret;
		opened += !ret;
	}
	return opened;
}

EXPORT int auxtrace_device_adopt(struct auxtrace_device **device, int fd, unsigned int flags)
{
	int status = fcntl(fd, F_GETFL);

	if (flags & ~KNOWN_FLAGS)
		return -EINVAL;
	if (status < 0)
		return -errno;
	status &= ~O_NONBLOCK;
	if (flags & AUXTRACE_OPEN_NONBLOCK)
		status |= O_NONBLOCK;
	if (fcntl(fd, F_SETFL, status))
		return -errno;
	return take(device, fd, flags);
}

EXPORT void auxtrace_device_close(struct auxtrace_device *device)
{
	if (!device)
		return;
	close(device->fd);
	free(device);
}

EXPORT unsigned int auxtrace_device_cpu(const struct auxtrace_device *device)
{
	return device->cpu;
}

EXPORT int auxtrace_device_fd(const struct auxtrace_device *device)
{
	return device->fd;
}

EXPORT short auxtrace_device_poll_events(const struct auxtrace_device *device)
{
	(void)device;
	return POLLIN;
}

EXPORT int auxtrace_device_info(const struct auxtrace_device *device, struct auxtrace_info *info,
				size_t size)
{
	return sized_ioctl(device->fd, AUXTRACE_IOC_INFO, info, size);
}

EXPORT int auxtrace_device_status(const struct auxtrace_device *device,
				  struct auxtrace_status *status, size_t size)
{
	return sized_ioctl(device->fd, AUXTRACE_IOC_STATUS, status, size);
}

EXPORT int auxtrace_device_start(struct auxtrace_device *device)
{
	return ioctl(device->fd, AUXTRACE_IOC_START) ? -errno : 0;
}

EXPORT int auxtrace_device_stop(struct auxtrace_device *device)
{
	return ioctl(device->fd, AUXTRACE_IOC_STOP) ? -errno : 0;
}

EXPORT int auxtrace_device_flush(struct auxtrace_device *device, uint64_t *bytes)
{
	__u64 n;

	if (ioctl(device->fd, AUXTRACE_IOC_FLUSH, &n))
		return -errno;
	if (bytes)
		*bytes = n;
	return 0;
}

EXPORT int auxtrace_device_set_wake_bytes(struct auxtrace_device *device, uint64_t bytes)
{
	__u64 n = bytes;

	return ioctl(device->fd, AUXTRACE_IOC_SET_WAKE_BYTES, &n) ? -errno : 0;
}

EXPORT const char *auxtrace_open_error(int error)
{
	switch (error) {
	case 0:
		return "no error";
	case -ENOENT:
		return "no such device: load the module (modprobe auxtrace), or name a CPU that "
		       "its PMU covers";
	case -ENOTTY:
		return "not a device of auxtrace: if it is a plain file, remove it; load the "
		       "module";
	case -EACCES:
		return "permission denied: it takes CAP_PERFMON, or group_access=1 and the group "
		       "of the node";
	case -EBUSY:
		return "in use: another program has the device open, or perf has the PMU";
	case -ENODEV:
		return "the CPU is offline";
	case -EPERM:
		return "the kernel is locked down (confidentiality): it lets nobody trace";
	case -ENOMEM:
		return "no memory for the buffer: make buffer_size smaller, or max_total larger";
	case -EIO:
		return "the event cannot run: the kernel's log says more (dmesg)";
	case -EINVAL:
		return "the PMU refuses the settings: the kernel's log says more (dmesg)";
	default:
		return strerrordesc_np(error < 0 && error > INT_MIN ? -error : error)
			       ?: "unknown error";
	}
}
