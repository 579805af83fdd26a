/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * auxtrace: streams of hardware trace, /dev/auxtrace<N>
 *
 * What programs need to read a stream in windows and to control it. Compiles on
 * its own as C99 and as C++.
 */
#ifndef _UAPI_LINUX_AUXTRACE_H
#define _UAPI_LINUX_AUXTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/** AUXTRACE_ABI_VERSION - version of what this header describes */
#define AUXTRACE_ABI_VERSION		1

/** AUXTRACE_WINDOW_MAGIC - auxtrace_window::magic: the bytes "AUXW" */
#define AUXTRACE_WINDOW_MAGIC		0x57585541U

/** AUXTRACE_WINDOW_VERSION - auxtrace_window::version */
#define AUXTRACE_WINDOW_VERSION		1

/** AUXTRACE_WINDOW_ALIGN - windows begin at multiples of this, in bytes */
#define AUXTRACE_WINDOW_ALIGN		8

/**
 * enum auxtrace_window_flags - auxtrace_window::flags
 * @AUXTRACE_WINDOW_GAP: trace is missing before this window ...
 * @AUXTRACE_WINDOW_FULL: ... because the buffer was full (the reader was late)
 * @AUXTRACE_WINDOW_HOTPLUG: ... because the CPU was offline
 * @AUXTRACE_WINDOW_STOPPED: ... because of a STOP and START
 * @AUXTRACE_WINDOW_TRUNCATED: the PMU's driver said so
 *	(%PERF_AUX_FLAG_TRUNCATED) of trace that ends in this window, or right
 *	before it, where the kernel lets us know (auxtrace_info::driver_flags)
 * @AUXTRACE_WINDOW_PARTIAL: likewise, %PERF_AUX_FLAG_PARTIAL
 * @AUXTRACE_WINDOW_COLLISION: likewise, %PERF_AUX_FLAG_COLLISION
 * @AUXTRACE_WINDOW_FLUSH: published by a flush, not by the watermark
 * @AUXTRACE_WINDOW_LAST: no more windows before the next START
 *
 * A gap without a cause: the driver stopped although there was room.
 */
enum auxtrace_window_flags {
	AUXTRACE_WINDOW_GAP		= 1U << 0,
	AUXTRACE_WINDOW_FULL		= 1U << 1,
	AUXTRACE_WINDOW_HOTPLUG		= 1U << 2,
	AUXTRACE_WINDOW_STOPPED		= 1U << 3,
	AUXTRACE_WINDOW_TRUNCATED	= 1U << 4,
	AUXTRACE_WINDOW_PARTIAL		= 1U << 5,
	AUXTRACE_WINDOW_COLLISION	= 1U << 6,
	AUXTRACE_WINDOW_FLUSH		= 1U << 7,
	AUXTRACE_WINDOW_LAST		= 1U << 8,
};

/**
 * struct auxtrace_window - what precedes each window in the framed format
 * @magic:	%AUXTRACE_WINDOW_MAGIC
 * @header_size: bytes of this header; a reader skips what it does not know
 * @version:	%AUXTRACE_WINDOW_VERSION
 * @flags:	&enum auxtrace_window_flags
 * @cpu:	number of the CPU that was traced
 * @seq:	0, 1, 2 ... in this stream, no holes
 * @offset:	absolute AUX cursor of the first byte of the payload; the next
 *		window's is @offset + @size, also across gaps
 * @size:	bytes of payload, which follows; 0 is legal. Zero bytes fill it up
 *		to a multiple of %AUXTRACE_WINDOW_ALIGN
 * @time:	perf's clock when the window was taken, in nanoseconds
 * @gap_time:	nanoseconds that tracing stood still before this window; 0
 *		without %AUXTRACE_WINDOW_GAP
 * @reserved:	0
 *
 * Little endian, naturally aligned, 64 bytes.
 */
struct auxtrace_window {
	__u32 magic;
	__u16 header_size;
	__u16 version;
	__u32 flags;
	__u32 cpu;
	__u64 seq;
	__u64 offset;
	__u64 size;
	__u64 time;
	__u64 gap_time;
	__u64 reserved;
};

/**
 * enum auxtrace_format - argument of %AUXTRACE_IOC_SET_FORMAT
 * @AUXTRACE_FORMAT_RAW: the hardware's bytes, nothing added
 * @AUXTRACE_FORMAT_FRAMED: windows, see &struct auxtrace_window
 */
enum auxtrace_format {
	AUXTRACE_FORMAT_RAW	= 0,
	AUXTRACE_FORMAT_FRAMED	= 1,
};

/**
 * enum auxtrace_stream_state - auxtrace_status::state
 * @AUXTRACE_STATE_RUNNING: the event runs
 * @AUXTRACE_STATE_FULL: it waits for the reader to make room
 * @AUXTRACE_STATE_STOPPED: after STOP
 * @AUXTRACE_STATE_OFFLINE: its CPU is offline
 * @AUXTRACE_STATE_ERROR: it cannot run
 */
enum auxtrace_stream_state {
	AUXTRACE_STATE_RUNNING	= 1,
	AUXTRACE_STATE_FULL	= 2,
	AUXTRACE_STATE_STOPPED	= 3,
	AUXTRACE_STATE_OFFLINE	= 4,
	AUXTRACE_STATE_ERROR	= 5,
};

/**
 * enum auxtrace_consumer - auxtrace_info::consumer
 * @AUXTRACE_CONSUMER_IS_NATIVE: the kernel's own kernel-consumer AUX API
 * @AUXTRACE_CONSUMER_IS_COMPAT: the module's, for kernels without
 */
enum auxtrace_consumer {
	AUXTRACE_CONSUMER_IS_NATIVE	= 1,
	AUXTRACE_CONSUMER_IS_COMPAT	= 2,
};

/* auxtrace_info::event_flags */
#define AUXTRACE_EVENT_EXCLUDE_USER	(1U << 0)
#define AUXTRACE_EVENT_EXCLUDE_KERNEL	(1U << 1)

/**
 * struct auxtrace_info - what a stream is
 * @size:	in: bytes of the caller's struct; out: bytes filled in
 * @abi_version: %AUXTRACE_ABI_VERSION of the module
 * @cpu:	number of the CPU
 * @pmu_type:	perf_event_attr::type
 * @pmu_name:	as in /sys/bus/event_source/devices, NUL-terminated
 * @buffer_size: of the AUX buffer in bytes
 * @watermark:	bytes after which a reader is woken
 * @wake_bytes:	bytes from which on poll says that there is something to read
 * @config:	in force, as are the following
 * @config1:	likewise
 * @config2:	likewise
 * @config3:	likewise
 * @period:	perf_event_attr::sample_period
 * @event_flags: AUXTRACE_EVENT_*
 * @flush_ms:	milliseconds that a reader waits before a flush, 0: for ever
 * @format:	&enum auxtrace_format
 * @consumer:	&enum auxtrace_consumer
 * @driver_flags: which of %AUXTRACE_WINDOW_TRUNCATED, %AUXTRACE_WINDOW_PARTIAL and
 *		%AUXTRACE_WINDOW_COLLISION windows can have: what the kernel lets
 *		us know
 * @reserved:	0, also in what the caller gives, else EINVAL
 */
struct auxtrace_info {
	__u32 size;
	__u32 abi_version;
	__u32 cpu;
	__u32 pmu_type;
	char pmu_name[32];
	__u64 buffer_size;
	__u64 watermark;
	__u64 wake_bytes;
	__u64 config;
	__u64 config1;
	__u64 config2;
	__u64 config3;
	__u64 period;
	__u32 event_flags;
	__u32 flush_ms;
	__u32 format;
	__u32 consumer;
	__u32 driver_flags;
	__u32 reserved;
};

/**
 * struct auxtrace_status - how a stream does, since it was opened
 * @size:	in: bytes of the caller's struct; out: bytes filled in
 * @state:	&enum auxtrace_stream_state
 * @head:	absolute AUX cursor behind the last published byte
 * @tail:	absolute AUX cursor of the next byte to read
 * @bytes:	payload bytes delivered
 * @windows:	windows delivered; 0 in raw format
 * @gaps:	gaps, of which one can have more than one cause:
 * @gaps_full:	gaps because the buffer was full
 * @gaps_driver: gaps because the driver stopped although there was room
 * @gaps_hotplug: gaps because the CPU was offline
 * @gaps_stopped: gaps because of a STOP and START
 * @gap_time:	nanoseconds in gaps that are over
 * @flushes:	flushes
 * @wakeups:	wake-ups by perf
 * @truncated:	reports of the PMU's driver with %PERF_AUX_FLAG_TRUNCATED, where the
 *		kernel lets us know (auxtrace_info::driver_flags)
 * @partial:	likewise, with %PERF_AUX_FLAG_PARTIAL
 * @collision:	likewise, with %PERF_AUX_FLAG_COLLISION
 * @reports_lost: reports of the driver that there was no room for
 */
struct auxtrace_status {
	__u32 size;
	__u32 state;
	__u64 head;
	__u64 tail;
	__u64 bytes;
	__u64 windows;
	__u64 gaps;
	__u64 gaps_full;
	__u64 gaps_driver;
	__u64 gaps_hotplug;
	__u64 gaps_stopped;
	__u64 gap_time;
	__u64 flushes;
	__u64 wakeups;
	__u64 truncated;
	__u64 partial;
	__u64 collision;
	__u64 reports_lost;
};

#define AUXTRACE_IOC_TYPE		0xA7

/*
 * Of INFO and STATUS only type, number and direction are looked at: the size in
 * the number is that of the struct at the time the caller was compiled, and the
 * struct's own size member says the same. The members that are filled in may be
 * anything before. A module that knows less than the caller insists on zeroes in
 * the rest (else E2BIG); one that knows more fills in what the caller knows.
 *
 * START and STOP are idempotent. STOP publishes the rest; when that is read,
 * reads return 0. The argument of the others is a pointer. FLUSH publishes now, and
 * stores the number of new bytes there. SET_FORMAT takes an enum auxtrace_format from
 * there, before the first read (else EBUSY), be it one that found nothing.
 * SET_WAKE_BYTES takes how many bytes of trace, without headers, poll waits for: 1 to
 * the size of the buffer.
 *
 * In the framed format a read returns what there is of windows, up to the next gap:
 * several, or a part of one, of which the next read returns the rest.
 */
#define AUXTRACE_IOC_INFO	_IOWR(AUXTRACE_IOC_TYPE, 0x00, struct auxtrace_info)
#define AUXTRACE_IOC_STATUS	_IOWR(AUXTRACE_IOC_TYPE, 0x01, struct auxtrace_status)
#define AUXTRACE_IOC_START	_IO(AUXTRACE_IOC_TYPE, 0x02)
#define AUXTRACE_IOC_STOP	_IO(AUXTRACE_IOC_TYPE, 0x03)
#define AUXTRACE_IOC_FLUSH	_IOR(AUXTRACE_IOC_TYPE, 0x04, __u64)
#define AUXTRACE_IOC_SET_FORMAT	_IOW(AUXTRACE_IOC_TYPE, 0x05, __u32)
#define AUXTRACE_IOC_SET_WAKE_BYTES _IOW(AUXTRACE_IOC_TYPE, 0x06, __u64)

#endif /* _UAPI_LINUX_AUXTRACE_H */
