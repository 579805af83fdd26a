// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctls of an open device: how user space reaches control.c. Owns nothing, and
 * takes no lock itself.
 */
#include <linux/auxtrace.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "device.h"

/* A struct of the caller's size, whose first member says that size. */
union sized {
	__u32 size;
	struct auxtrace_info info;
	struct auxtrace_status status;
};

/*
 * Reads the caller's struct, of which the module knows @ksize bytes. What is for the
 * module to fill in may be anything: of an earlier call, for one.
 */
static int get_sized(union sized *arg, size_t ksize, void __user *user, u32 *usize)
{
	if (get_user(*usize, (u32 __user *)user))
		return -EFAULT;
	if (*usize < sizeof(arg->size))
		return -EINVAL;
	if (*usize > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(arg, ksize, user, *usize);
}

static int put_sized(union sized *arg, size_t ksize, void __user *user, u32 usize)
{
	arg->size = min_t(size_t, ksize, usize);
	return copy_to_user(user, arg, arg->size) ? -EFAULT : 0;
}

static int ioctl_info(struct auxtrace_stream *stream, void __user *user)
{
	union sized arg;
	u32 usize;
	int ret = get_sized(&arg, sizeof(arg.info), user, &usize);

	if (ret)
		return ret;
	if (arg.info.reserved)
		return -EINVAL;
	memset(&arg, 0, sizeof(arg));
	auxtrace_stream_info(stream, &arg.info);
	return put_sized(&arg, sizeof(arg.info), user, usize);
}

static int ioctl_status(struct auxtrace_stream *stream, void __user *user)
{
	union sized arg;
	u32 usize;
	int ret = get_sized(&arg, sizeof(arg.status), user, &usize);

	if (ret)
		return ret;
	memset(&arg, 0, sizeof(arg));
	auxtrace_stream_status(stream, &arg.status);
	return put_sized(&arg, sizeof(arg.status), user, usize);
}

static int ioctl_flush(struct auxtrace_stream *stream, __u64 __user *user)
{
	return put_user(auxtrace_stream_flush(stream), user);
}

static int ioctl_set_format(struct auxtrace_stream *stream, __u32 __user *user)
{
	u32 format;

	if (get_user(format, user))
		return -EFAULT;
	return auxtrace_stream_set_format(stream, format);
}

static int ioctl_set_wake_bytes(struct auxtrace_stream *stream, __u64 __user *user)
{
	u64 bytes;

	if (get_user(bytes, user))
		return -EFAULT;
	return auxtrace_stream_set_wake_bytes(stream, bytes);
}

/* An INFO or STATUS of whatever size the caller's struct has. */
static bool is_sized(unsigned int cmd, unsigned int known)
{
	return _IOC_TYPE(cmd) == _IOC_TYPE(known) && _IOC_NR(cmd) == _IOC_NR(known) &&
	       _IOC_DIR(cmd) == _IOC_DIR(known);
}

/**
 * auxtrace_ioctl() - see <linux/auxtrace.h>
 * @stream:	the stream
 * @cmd:	AUXTRACE_IOC_*
 * @arg:	its argument, a pointer but for START and STOP
 *
 * Context: may sleep.
 * Return: 0, -ENOTTY for an unknown number, -EFAULT, or what the call says.
 */
long auxtrace_ioctl(struct auxtrace_stream *stream, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	if (is_sized(cmd, AUXTRACE_IOC_INFO))
		return ioctl_info(stream, user);
	if (is_sized(cmd, AUXTRACE_IOC_STATUS))
		return ioctl_status(stream, user);

	switch (cmd) {
	case AUXTRACE_IOC_START:
		auxtrace_stream_start(stream);
		return 0;
	case AUXTRACE_IOC_STOP:
		auxtrace_stream_stop(stream);
		return 0;
	case AUXTRACE_IOC_FLUSH:
		return ioctl_flush(stream, user);
	case AUXTRACE_IOC_SET_FORMAT:
		return ioctl_set_format(stream, user);
	case AUXTRACE_IOC_SET_WAKE_BYTES:
		return ioctl_set_wake_bytes(stream, user);
	default:
		return -ENOTTY;
	}
}
