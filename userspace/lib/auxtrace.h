/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libauxtrace - streams of hardware trace, live and recorded
 *
 * The library's whole interface. <linux/auxtrace.h>, which this includes, has the
 * structures that it shares with the kernel module.
 *
 *	struct auxtrace_device	a device that is open: /dev/auxtrace<N>
 *	struct auxtrace_reader	takes windows out of a device, a file, a pipe, memory
 *	struct auxtrace_writer	writes recordings
 *	struct auxtrace_stream	what a decoder has to know of a stream: PMU, CPU, clock
 *
 * A recorder in short, without the errors:
 *
 *	auxtrace_device_open_cpu(&device, 0, 0);
 *	auxtrace_stream_from_device(&stream, device, NULL);
 *	auxtrace_writer_open(&writer, "cpu0.auxtrace", NULL);
 *	auxtrace_writer_stream(writer, stream);
 *	auxtrace_reader_from_device(&reader, device, NULL);
 *	while (auxtrace_reader_next(reader, &item) == 1)
 *		auxtrace_writer_item(writer, item);
 *
 * Errors: what returns int returns 0 or more, or a negative errno. Any of them may
 * return -ENOMEM; the others are listed. A function that makes an object leaves the
 * pointer alone when it fails. Functions that free or close take NULL.
 *
 * Threads: the library has no globals (other than constants). Objects are
 * independent of each other, and one object may be used by one thread at a time. The
 * exception: auxtrace_device_info(), _status(), _start(), _stop(), _flush() and
 * _set_wake_bytes() may be called while another thread reads from that device.
 * Nothing here installs handlers, forks, or starts threads. Nothing is printed.
 *
 * Compatibility: structures that the caller makes begin with their size, those that
 * the library makes are given as pointers; both grow at their end only. The kernel's
 * structures grow too, so none is a member of these: there are pointers to them.
 * Unknown values of an enum must be expected.
 */
#ifndef AUXTRACE_H
#define AUXTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/auxtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** AUXTRACE_LIBRARY_VERSION - what this header belongs to: major << 16 | minor << 8 | patch */
#define AUXTRACE_LIBRARY_VERSION 0x000100

struct auxtrace_device;
struct auxtrace_reader;
struct auxtrace_writer;

/* ---- Devices ------------------------------------------------------------ */

/**
 * enum auxtrace_open_flags - how to open a device
 * @AUXTRACE_OPEN_NONBLOCK: reads do not wait (O_NONBLOCK)
 * @AUXTRACE_OPEN_RAW: leave the format as it is set in sysfs, instead of asking for
 *	windows. Readers want windows, so this is for programs that read by themselves.
 */
enum auxtrace_open_flags {
	AUXTRACE_OPEN_NONBLOCK = 1U << 0,
	AUXTRACE_OPEN_RAW = 1U << 1,
};

/**
 * auxtrace_device_open() - open a device, which starts the trace of its CPU
 * @device:	out: to be closed by auxtrace_device_close()
 * @path:	the device's node, usually /dev/auxtrace<N>
 * @flags:	&enum auxtrace_open_flags
 *
 * Never creates a file. What is no character device of auxtrace is not opened, and
 * -ENOTTY.
 *
 * Return: 0, or -ENOENT: there is no such node; -ENOTTY; or what the kernel says:
 * -EACCES: no CAP_PERFMON, or no permission by the node's mode; -EBUSY: somebody has it
 * open, or perf has the PMU; -ENODEV: the CPU is offline; -EPERM: the kernel is locked
 * down; -ENOMEM: out of memory or over max_total; -EIO: the event cannot run;
 * -EINVAL: unknown flags, or settings that the PMU refuses.
 * auxtrace_open_error() has words for each.
 */
int auxtrace_device_open(struct auxtrace_device **device, const char *path, unsigned int flags);

/**
 * auxtrace_device_open_cpu() - open /dev/auxtrace<cpu>
 * @device:	as auxtrace_device_open()
 * @cpu:	number of the CPU
 * @flags:	likewise
 *
 * Return: as auxtrace_device_open().
 */
int auxtrace_device_open_cpu(struct auxtrace_device **device, unsigned int cpu, unsigned int flags);

/**
 * auxtrace_device_open_cpus() - open the devices of several CPUs
 * @devices:	out: @n pointers; NULL where opening failed
 * @errors:	out: @n results of auxtrace_device_open_cpu(); or NULL
 * @cpus:	@n numbers of CPUs: of auxtrace_cpus_all() or auxtrace_cpus_parse()
 * @n:		how many
 * @flags:	&enum auxtrace_open_flags
 *
 * Goes on behind a device that cannot be opened.
 *
 * Return: how many are open.
 */
int auxtrace_device_open_cpus(struct auxtrace_device **devices, int *errors,
			      const unsigned int *cpus, size_t n, unsigned int flags);

/**
 * auxtrace_device_adopt() - make a device of a descriptor that is open already
 * @device:	out: to be closed by auxtrace_device_close()
 * @fd:		of a device of auxtrace; belongs to @device afterwards
 * @flags:	&enum auxtrace_open_flags; O_NONBLOCK is set or cleared accordingly
 *
 * For descriptors that came from elsewhere (SCM_RIGHTS, a service manager).
 *
 * Return: 0, or -EBADF, -ENOTTY: no device of auxtrace; -EBUSY: it was read from in
 * raw format already; -EINVAL: unknown flags. @fd is closed only with @device.
 */
int auxtrace_device_adopt(struct auxtrace_device **device, int fd, unsigned int flags);

/**
 * auxtrace_device_close() - the last close stops the trace, and gives the PMU back
 * @device:	or NULL
 *
 * What was not read is gone: stop, and read up to the end, to have all of it. A reader
 * of the device is to be freed before.
 */
void auxtrace_device_close(struct auxtrace_device *device);

/** auxtrace_device_cpu() - number of the CPU */
unsigned int auxtrace_device_cpu(const struct auxtrace_device *device);

/**
 * auxtrace_device_fd() - the descriptor, for poll, select, epoll
 *
 * Stays the device's. See auxtrace_device_poll_events() for what to wait for.
 */
int auxtrace_device_fd(const struct auxtrace_device *device);

/**
 * auxtrace_device_poll_events() - what a poll has to ask for
 *
 * POLLIN (EPOLLIN has the same value). POLLERR and POLLHUP come without being asked for.
 *
 * POLLPRI says that there is a gap before or behind the trace that can be read. There is
 * no need to ask for it: windows tell of each gap.
 *
 * On POLLIN call auxtrace_reader_next() until it says -EAGAIN. On POLLERR the event cannot
 * run: a read says -EIO; the kernel tries again, so come back after a while rather than
 * at once. On POLLHUP the stream has ended after a stop: take the device out of the
 * set until a start.
 */
short auxtrace_device_poll_events(const struct auxtrace_device *device);

/**
 * auxtrace_device_info() - what the stream is
 * @device:	the device
 * @info:	out; members that the kernel does not know are 0
 * @size:	sizeof(*info)
 *
 * Return: 0, or -EINVAL: @size is too small to be true.
 */
int auxtrace_device_info(const struct auxtrace_device *device, struct auxtrace_info *info,
			 size_t size);

/**
 * auxtrace_device_status() - how the stream does, counted since it was opened
 * @device:	the device
 * @status:	out; members that the kernel does not know are 0
 * @size:	sizeof(*status)
 *
 * Return: 0, or -EINVAL: @size is too small to be true.
 */
int auxtrace_device_status(const struct auxtrace_device *device, struct auxtrace_status *status,
			   size_t size);

/** auxtrace_device_start() - trace again after a stop. Return: 0. */
int auxtrace_device_start(struct auxtrace_device *device);

/**
 * auxtrace_device_stop() - stop tracing, and publish the rest
 *
 * Reads end (auxtrace_reader_next() says 0) when all is read. Return: 0.
 */
int auxtrace_device_stop(struct auxtrace_device *device);

/**
 * auxtrace_device_flush() - publish what there is below the watermark
 * @device:	the device
 * @bytes:	out: bytes published by this; or NULL
 *
 * Return: 0.
 */
int auxtrace_device_flush(struct auxtrace_device *device, uint64_t *bytes);

/**
 * auxtrace_device_set_wake_bytes() - from how much trace on poll says POLLIN
 * @device:	the device
 * @bytes:	1 to the size of the buffer
 *
 * Return: 0, or -EINVAL: out of range.
 */
int auxtrace_device_set_wake_bytes(struct auxtrace_device *device, uint64_t bytes);

/**
 * auxtrace_open_error() - what an error of auxtrace_device_open() means, and what to do
 * @error:	what it returned
 *
 * Return: a constant text without a line's end, in English; never NULL.
 */
const char *auxtrace_open_error(int error);

/* ---- CPUs and settings: what sysfs tells ---------------------------------- */

/*
 * @sysfs: where sysfs is mounted; NULL for "/sys". (Tests have another.)
 *
 * These neither open a device nor need it to be free; whoever may read sysfs may use
 * them.
 */

/**
 * auxtrace_cpus_all() - which CPUs have a device
 * @sysfs:	see above
 * @cpus:	out: their numbers, ascending; to be freed by free()
 * @n:		out: how many, 1 at least
 *
 * Return: 0, or -ENODEV: the module is not loaded.
 */
int auxtrace_cpus_all(const char *sysfs, unsigned int **cpus, size_t *n);

/**
 * auxtrace_cpus_parse() - take a list of CPUs like "0-3,8" apart
 * @list:	numbers and ranges with commas between, as elsewhere in Linux
 * @cpus:	out: the numbers, ascending, each once; to be freed by free()
 * @n:		out: how many, 1 at least
 *
 * Return: 0, or -EINVAL: no such list, or a number over 65535.
 */
int auxtrace_cpus_parse(const char *list, unsigned int **cpus, size_t *n);

/**
 * auxtrace_attribute_get() - read /sys/class/auxtrace/auxtrace<cpu>/<name>
 * @sysfs:	see above
 * @cpu:	number of the CPU
 * @name:	of the attribute: "state", "stats", "buffer_size" ...
 * @value:	out: its text, without the last line's end; at most @size bytes with
 *		the terminating NUL. 4096 bytes hold any.
 * @size:	bytes at @value
 *
 * Return: the text's length, or -ENODEV: no device for that CPU; -ENOENT: no such
 * attribute; -ENOSPC: @size is too small; -EACCES.
 */
int auxtrace_attribute_get(const char *sysfs, unsigned int cpu, const char *name, char *value,
			   size_t size);

/**
 * auxtrace_attribute_set() - write it
 * @sysfs:	see above
 * @cpu:	number of the CPU
 * @name:	of the attribute: "buffer_size", "watermark", "flush_ms", "config" ...
 * @value:	its text; sizes may have K, M or G behind them
 *
 * Takes effect at the next open.
 *
 * Return: 0, or -ENODEV, -ENOENT: as above; -EACCES: only root may; -EBUSY: the device is
 * open; -EINVAL: not a value for that.
 */
int auxtrace_attribute_set(const char *sysfs, unsigned int cpu, const char *name,
			   const char *value);

/**
 * auxtrace_statistic() - find a number in the text of the attribute "stats"
 * @stats:	that text: lines of a name and a number
 * @name:	"bytes", "gaps_full" ...
 *
 * Return: the number, 0 if it is not there.
 */
uint64_t auxtrace_statistic(const char *stats, const char *name);

/* ---- Event settings -------------------------------------------------------- */

/* auxtrace_event::set */
#define AUXTRACE_EVENT_SET_PERIOD	  (1U << 0)
#define AUXTRACE_EVENT_SET_EXCLUDE_USER	  (1U << 1)
#define AUXTRACE_EVENT_SET_EXCLUDE_KERNEL (1U << 2)

/**
 * struct auxtrace_event - what is to be traced
 * @size:	sizeof(struct auxtrace_event)
 * @set:	AUXTRACE_EVENT_SET_*: which of @period and the following were given
 * @pmu:	the PMU's name
 * @config:	config, config1, config2, config3 of perf_event_attr ...
 * @mask:	... and which of their bits were given. The others stay as they are set.
 * @period:	the sample period
 * @exclude_user: 1: without user space
 * @exclude_kernel: 1: without the kernel
 */
struct auxtrace_event {
	uint32_t size;
	uint32_t set;
	char pmu[32];
	uint64_t config[4];
	uint64_t mask[4];
	uint64_t period;
	uint32_t exclude_user;
	uint32_t exclude_kernel;
};

/**
 * auxtrace_event_parse() - understand an event in perf's syntax
 * @event:	in: size; out: the rest
 * @text:	PMU/TERM=VALUE,TERM,.../MODIFIERS: "intel_pt/tsc,cyc=1/u". The terms are those
 *		in the PMU's format/ folder, and config, config1, config2, config3 and period;
 *		a term without a value is 1, values are decimal, or hexadecimal with 0x.
 *		Modifiers: u user space alone, k the kernel alone, uk both; none: as it is set.
 * @sysfs:	see above
 * @message:	out: on an error, a line (without its end) that says what is wrong and what
 *		there is; or NULL
 * @size:	bytes at @message
 *
 * Return: 0, or -EINVAL: not the syntax; -ENODEV: no such PMU; -ENOENT: no such term;
 * -ERANGE: a value that its bits do not hold.
 */
int auxtrace_event_parse(struct auxtrace_event *event, const char *text, const char *sysfs,
			 char *message, size_t size);

/**
 * auxtrace_event_apply() - set a device's attributes to what was given
 * @event:	of auxtrace_event_parse()
 * @cpu:	number of the CPU
 * @sysfs:	see above
 * @before:	out, with size set: what was in force, to be applied in turn to restore it;
 *		or NULL
 *
 * All or nothing: when one is refused, those before are set back.
 *
 * Return: 0, or -EXDEV: the device has another PMU than the event; or as
 * auxtrace_attribute_set().
 */
int auxtrace_event_apply(const struct auxtrace_event *event, unsigned int cpu, const char *sysfs,
			 struct auxtrace_event *before);

/* ---- Streams: what decoders have to know ----------------------------------- */

/* auxtrace_stream::flags */
#define AUXTRACE_STREAM_TIME_ZERO  (1U << 0) /* time_mult, time_shift, time_zero are known */
#define AUXTRACE_STREAM_TIME_SHORT (1U << 1) /* time_cycles, time_mask are known */

/**
 * struct auxtrace_stream - where a stream comes from
 * @cpu:	number of the CPU
 * @flags:	AUXTRACE_STREAM_*
 * @info:	what AUXTRACE_IOC_INFO said: PMU, settings. In host byte order; valid as long as
 *		the stream. What the kernel that was asked did not know is 0, as is what is
 *		behind @info->size.
 * @time_mult:	with @time_shift and @time_zero: from the CPU's counter (TSC) to perf's clock,
 *		as in struct perf_event_mmap_page: ns = time_zero + cycles * mult >> shift
 * @time_shift:	likewise
 * @time_zero:	likewise
 * @time_cycles: for counters of less than 64 bits, likewise
 * @time_mask:	likewise
 * @started:	nanoseconds since 1970 when this was taken down. Names the stream, too: in a
 *		later file, the same CPU and the same time mean that it is the same stream,
 *		which goes on.
 *
 * Read only. The rest are pairs of texts, see auxtrace_stream_value().
 */
struct auxtrace_stream {
	uint32_t cpu;
	uint32_t flags;
	const struct auxtrace_info *info;
	uint32_t time_mult;
	uint32_t time_shift;
	uint64_t time_zero;
	uint64_t time_cycles;
	uint64_t time_mask;
	uint64_t started;
};

/**
 * auxtrace_stream_new() - describe a stream by hand
 * @stream:	out: to be freed by auxtrace_stream_free(); its members but @info may be set
 * @info:	of the stream, with size set; copied. cpu is taken from there.
 *
 * Return: 0, or -EINVAL: @info's size is too small to be true.
 */
int auxtrace_stream_new(struct auxtrace_stream **stream, const struct auxtrace_info *info);

/**
 * auxtrace_stream_from_device() - describe an open device, its CPU, and this machine
 * @stream:	out: to be freed by auxtrace_stream_free()
 * @device:	the device
 * @sysfs:	where sysfs is mounted; NULL for "/sys"
 *
 * What cannot be found out is left out: not every user may ask for the conversion of
 * time (perf_event_paranoid).
 *
 * Return: 0.
 */
int auxtrace_stream_from_device(struct auxtrace_stream **stream,
				const struct auxtrace_device *device, const char *sysfs);

/**
 * auxtrace_stream_set() - set a value
 * @stream:	not one that a reader owns
 * @key:	without '=' and control characters
 * @value:	without control characters
 *
 * Both are copied, and may be texts of @stream itself. What auxtrace_stream_value() and
 * auxtrace_stream_pair() gave before is valid no longer, unless this fails.
 *
 * Return: 0, or -EINVAL: not such a key or value; -E2BIG: over 64 KiB of them.
 */
int auxtrace_stream_set(struct auxtrace_stream *stream, const char *key, const char *value);

/**
 * auxtrace_stream_value() - look a value up
 * @stream:	the stream
 * @key:	"kernel" (release), "machine" (x86_64), "host";
 *		"cpu.vendor", "cpu.family", "cpu.model", "cpu.stepping", "cpu.name" (x86),
 *		"cpu.midr" (arm64);
 *		"pmu.<file>" and "pmu.caps.<file>", "pmu.format.<term>": what the PMU's folder
 *		in sysfs has: "pmu.caps.mtc", "pmu.tsc_art_ratio", "pmu.format.tsc" ...
 *
 * Return: the text, valid until the next auxtrace_stream_set(), and as long as @stream; NULL
 * if it is not known.
 */
const char *auxtrace_stream_value(const struct auxtrace_stream *stream, const char *key);

/**
 * auxtrace_stream_pair() - go through all of them
 * @stream:	the stream
 * @index:	0, 1, 2 ...
 * @key:	out: valid as auxtrace_stream_value()'s
 * @value:	out: likewise
 *
 * Return: false behind the last.
 */
bool auxtrace_stream_pair(const struct auxtrace_stream *stream, size_t index, const char **key,
			  const char **value);

/** auxtrace_stream_free() - of auxtrace_stream_new() or _from_device(); or NULL */
void auxtrace_stream_free(struct auxtrace_stream *stream);

/* ---- Readers ----------------------------------------------------------------- */

/**
 * enum auxtrace_item_kind - auxtrace_item::kind
 * @AUXTRACE_ITEM_WINDOW: a window, or a part of one
 * @AUXTRACE_ITEM_FILE: a recording begins
 * @AUXTRACE_ITEM_STREAM: what is known of the CPU's stream that follows
 * @AUXTRACE_ITEM_LOST: the recorder could not write some windows (disk full)
 * @AUXTRACE_ITEM_DAMAGE: something is not as it was written
 */
enum auxtrace_item_kind {
	AUXTRACE_ITEM_WINDOW = 1,
	AUXTRACE_ITEM_FILE = 2,
	AUXTRACE_ITEM_STREAM = 3,
	AUXTRACE_ITEM_LOST = 4,
	AUXTRACE_ITEM_DAMAGE = 5,
};

/**
 * enum auxtrace_damage - auxtrace_item::damage
 * @AUXTRACE_DAMAGE_SKIPPED: bytes that are no record, left out up to where one seems to
 *	begin, or the end
 * @AUXTRACE_DAMAGE_CUT: the source ends within a record, or within a compressed frame; the
 *	bytes of it that are there are left out
 * @AUXTRACE_DAMAGE_HOLE: the window that follows does not continue the one before of its
 *	CPU (seq, offset): windows are missing
 * @AUXTRACE_DAMAGE_RECORD: a record that contradicts itself, left out
 * @AUXTRACE_DAMAGE_PADDING: the bytes that fill the window before up are not 0
 * @AUXTRACE_DAMAGE_COMPRESSED: compressed bytes that cannot be decompressed, left out up to
 *	where the next frame seems to begin, or the end; auxtrace_item::lost_bytes counts
 *	them as they are in the file
 * @AUXTRACE_DAMAGE_ABORTED: the source ends, or is damaged, in a window of which some parts
 *	were given; auxtrace_item::lost_bytes says how much of its payload is missing
 */
enum auxtrace_damage {
	AUXTRACE_DAMAGE_SKIPPED = 1,
	AUXTRACE_DAMAGE_CUT = 2,
	AUXTRACE_DAMAGE_HOLE = 3,
	AUXTRACE_DAMAGE_RECORD = 4,
	AUXTRACE_DAMAGE_PADDING = 5,
	AUXTRACE_DAMAGE_COMPRESSED = 6,
	AUXTRACE_DAMAGE_ABORTED = 7,
};

/**
 * struct auxtrace_item - what a reader found next
 * @kind:	&enum auxtrace_item_kind
 * @damage:	&enum auxtrace_damage, of a DAMAGE; else 0
 * @position:	where it begins: bytes from the source's beginning (decompressed)
 * @raw:	its bytes as they are in the source, header and padding included
 * @raw_size:	how many, 0 for a DAMAGE
 * @window:	WINDOW: its header in host byte order, valid until the next call; DAMAGE that is
 *		a HOLE: of the window that follows; others: NULL
 * @payload:	WINDOW: the trace, in the reader's buffer; valid until the next call. Aligned
 *		to nothing.
 * @size:	WINDOW: bytes there, @window->size if the window is whole
 * @at:		WINDOW: offset of @payload in the window: 0 but for later parts
 * @last:	WINDOW: the window ends here
 * @stream:	WINDOW, STREAM: of that CPU, or NULL if none was told; valid until the reader
 *		is freed, or another STREAM of that CPU or a FILE comes
 * @version:	FILE: of the format, 1
 * @created:	FILE: nanoseconds since 1970
 * @cpu:	WINDOW, STREAM, LOST, and HOLE: number of the CPU
 * @error:	LOST: why: the recorder's errno, positive
 * @lost_bytes:	LOST: bytes of trace; HOLE: likewise, 0 if unknown; other DAMAGE: bytes left out
 * @lost_windows: LOST, HOLE: how many windows, 0 if unknown
 *
 * A window that fits in the reader's buffer comes whole. A larger one comes in parts, in
 * order, nothing in between: the first has @at 0, the last has @last. Items are made by
 * readers alone.
 */
struct auxtrace_item {
	uint32_t kind;
	uint32_t damage;
	uint64_t position;
	const void *raw;
	size_t raw_size;
	const struct auxtrace_window *window;
	const void *payload;
	size_t size;
	uint64_t at;
	bool last;
	const struct auxtrace_stream *stream;
	uint32_t version;
	uint32_t cpu;
	uint32_t error;
	uint64_t created;
	uint64_t lost_bytes;
	uint64_t lost_windows;
};

/**
 * struct auxtrace_reader_options - how to read
 * @size:	sizeof(struct auxtrace_reader_options)
 * @flags:	0
 * @buffer:	bytes of the buffer, 4096 to 4 GiB; 0: 1 MiB. Windows up to this size,
 *		header and padding included, come whole. (A small one grows up to
 *		%AUXTRACE_RECORD_MAX where a record that is no window needs it.)
 */
struct auxtrace_reader_options {
	uint32_t size;
	uint32_t flags;
	uint64_t buffer;
};

/**
 * auxtrace_read_function - where a reader gets its bytes
 * @context:	the caller's
 * @buffer:	where to
 * @size:	bytes at most, 1 at least
 *
 * Return: bytes, 0 at the end, or a negative errno, which auxtrace_reader_next() returns
 * (-EAGAIN: none for now).
 */
typedef ssize_t auxtrace_read_function(void *context, void *buffer, size_t size);

/**
 * auxtrace_reader_new() - read by a function
 * @reader:	out: to be freed by auxtrace_reader_free()
 * @read:	is called by auxtrace_reader_next()
 * @context:	for @read
 * @options:	or NULL
 *
 * Whether what it gives is compressed by zstd is found out, here and below, but for
 * devices.
 *
 * Return: 0, or -EINVAL: options out of range.
 */
int auxtrace_reader_new(struct auxtrace_reader **reader, auxtrace_read_function *read,
			void *context, const struct auxtrace_reader_options *options);

/**
 * auxtrace_reader_from_device() - read an open device
 * @reader:	out: to be freed by auxtrace_reader_free(), before the device is closed
 * @device:	stays the caller's
 * @options:	or NULL
 *
 * Return: as auxtrace_reader_new().
 */
int auxtrace_reader_from_device(struct auxtrace_reader **reader, struct auxtrace_device *device,
				const struct auxtrace_reader_options *options);

/**
 * auxtrace_reader_from_fd() - read a file, pipe, socket: what read(2) can
 * @reader:	out: to be freed by auxtrace_reader_free()
 * @fd:		stays the caller's
 * @options:	or NULL
 *
 * Return: as auxtrace_reader_new().
 */
int auxtrace_reader_from_fd(struct auxtrace_reader **reader, int fd,
			    const struct auxtrace_reader_options *options);

/**
 * auxtrace_reader_open() - read a recording by its name
 * @reader:	out: to be freed by auxtrace_reader_free(), which closes the file
 * @path:	of the file
 * @options:	or NULL
 *
 * Return: as auxtrace_reader_new(), or what open(2) says.
 */
int auxtrace_reader_open(struct auxtrace_reader **reader, const char *path,
			 const struct auxtrace_reader_options *options);

/**
 * auxtrace_reader_from_memory() - read what is in memory
 * @reader:	out: to be freed by auxtrace_reader_free()
 * @data:	stays there, unchanged, as long as @reader
 * @size:	bytes at @data
 * @options:	or NULL
 *
 * Return: as auxtrace_reader_new().
 */
int auxtrace_reader_from_memory(struct auxtrace_reader **reader, const void *data, size_t size,
				const struct auxtrace_reader_options *options);

/**
 * auxtrace_reader_next() - the next item
 * @reader:	the reader
 * @item:	out: belongs to the reader, valid until the next call
 *
 * Reads more bytes as needed, which waits for as long as the source does. Damage is told
 * as an item, and reading goes on behind it; bytes are left out only with a DAMAGE. Records
 * of kinds that the library does not know are left out silently: they are from a newer one.
 *
 * Return: 1 and an item; 0 at the end of the source (a device gives more after a start, so
 * call again then); -EAGAIN: nothing for now, from a source that does not wait;
 * -EINTR; -EIO: the device's event cannot run, try again later; -ENOTSUP: compressed, and
 * the library was built without zstd; or what reading the source said.
 */
int auxtrace_reader_next(struct auxtrace_reader *reader, const struct auxtrace_item **item);

/** auxtrace_reader_free() - or NULL */
void auxtrace_reader_free(struct auxtrace_reader *reader);

/**
 * auxtrace_damage_text() - name a damage
 * @damage:	&enum auxtrace_damage
 *
 * Return: a constant text in English.
 */
const char *auxtrace_damage_text(unsigned int damage);

/* ---- Recordings ---------------------------------------------------------------- */

/*
 * The format of recordings, version 1, in C; auxtrace-recording(5) has the words. All is
 * little endian, and records begin at multiples of 8 bytes. A record is either a window
 * as the device gives it (struct auxtrace_window, payload, zeroes up to a multiple of 8)
 * or begins with struct auxtrace_record. A file may be cut anywhere, and files may be put
 * one behind the other.
 */

/** AUXTRACE_RECORD_MAGIC - auxtrace_record::magic: the bytes "AUXR" */
#define AUXTRACE_RECORD_MAGIC 0x52585541U

/** AUXTRACE_RECORDING_VERSION - auxtrace_file_record::version */
#define AUXTRACE_RECORDING_VERSION 1

/** AUXTRACE_RECORD_MAX - no record but a window has more bytes */
#define AUXTRACE_RECORD_MAX (1U << 17)

/**
 * enum auxtrace_record_kind - auxtrace_record::kind
 * @AUXTRACE_RECORD_FILE: struct auxtrace_file_record, the first of a file
 * @AUXTRACE_RECORD_STREAM: struct auxtrace_stream_record: what is known of a CPU's stream,
 *	before that CPU's first window
 * @AUXTRACE_RECORD_LOST: struct auxtrace_lost_record: windows are missing here
 */
enum auxtrace_record_kind {
	AUXTRACE_RECORD_FILE = 1,
	AUXTRACE_RECORD_STREAM = 2,
	AUXTRACE_RECORD_LOST = 3,
};

/**
 * struct auxtrace_record - what each record begins with that is no window
 * @magic:	%AUXTRACE_RECORD_MAGIC
 * @kind:	&enum auxtrace_record_kind; unknown ones are to be left out
 * @size:	bytes of the whole record, a multiple of 8, up to %AUXTRACE_RECORD_MAX; what is
 *		behind the known members is to be left out
 */
struct auxtrace_record {
	uint32_t magic;
	uint32_t kind;
	uint64_t size;
};

/**
 * struct auxtrace_file_record - a file begins
 * @version:	%AUXTRACE_RECORDING_VERSION; a change that old readers cannot read raises it
 * @reserved:	0
 * @created:	nanoseconds since 1970
 */
struct auxtrace_file_record {
	struct auxtrace_record record;
	uint32_t version;
	uint32_t reserved;
	uint64_t created;
};

/**
 * struct auxtrace_stream_record - struct auxtrace_stream, as in the file
 * @cpu:	as there, as are the following
 * @info_size:	bytes of struct auxtrace_info, a multiple of 8
 * @text_size:	bytes of the pairs: key, NUL, value, NUL
 *
 * Behind it: the info, the pairs, zeroes up to a multiple of 8.
 */
struct auxtrace_stream_record {
	struct auxtrace_record record;
	uint32_t cpu;
	uint32_t flags;
	uint32_t time_mult;
	uint32_t time_shift;
	uint64_t time_zero;
	uint64_t time_cycles;
	uint64_t time_mask;
	uint64_t started;
	uint32_t info_size;
	uint32_t text_size;
};

/**
 * struct auxtrace_lost_record - the recorder could not write what the device gave
 * @cpu:	number of the CPU
 * @error:	the errno, positive: ENOSPC ... as on Linux for x86-64 and arm64
 * @windows:	how many, from that CPU's last in the file to its next
 * @bytes:	of payload
 */
struct auxtrace_lost_record {
	struct auxtrace_record record;
	uint32_t cpu;
	uint32_t error;
	uint64_t windows;
	uint64_t bytes;
};

/**
 * enum auxtrace_writer_flags - auxtrace_writer_options::flags
 * @AUXTRACE_WRITER_NEW: do not empty a file that is there: -EEXIST
 */
enum auxtrace_writer_flags {
	AUXTRACE_WRITER_NEW = 1U << 0,
};

/**
 * struct auxtrace_writer_options - how to write
 * @size:	sizeof(struct auxtrace_writer_options)
 * @flags:	&enum auxtrace_writer_flags
 * @compression: 0: none; 1 to 19: zstd's level (3 is zstd's default)
 * @mode:	of a file that auxtrace_writer_open() makes, before the umask; 0: 0600
 * @batch:	with compression, bytes that are compressed together into a frame, 4 KiB to
 *		1 GiB; 0: 1 MiB. A file that is cut loses this much at most.
 */
struct auxtrace_writer_options {
	uint32_t size;
	uint32_t flags;
	uint32_t compression;
	uint32_t mode;
	uint64_t batch;
};

/**
 * auxtrace_writer_open() - make a recording
 * @writer:	out: to be closed by auxtrace_writer_close()
 * @path:	is created, or emptied if it is a regular file that is there
 * @options:	or NULL
 *
 * Return: 0, or -EINVAL: options out of range; -ENOTSUP: built without zstd; -EEXIST: there,
 * and no regular file; or what open(2) or write(2) says.
 */
int auxtrace_writer_open(struct auxtrace_writer **writer, const char *path,
			 const struct auxtrace_writer_options *options);

/**
 * auxtrace_writer_from_fd() - write a recording to a descriptor
 * @writer:	out: to be closed by auxtrace_writer_close()
 * @fd:		stays the caller's; written from its current offset. A pipe or socket does,
 *		and if it does not wait (O_NONBLOCK), the writer does.
 * @options:	or NULL
 *
 * Return: as auxtrace_writer_open().
 */
int auxtrace_writer_from_fd(struct auxtrace_writer **writer, int fd,
			    const struct auxtrace_writer_options *options);

/**
 * auxtrace_writer_stream() - write what is known of a CPU's stream
 * @writer:	the writer, not within a window
 * @stream:	copied
 *
 * To be called before that CPU's first window. After an error it is written again before
 * the CPU's next window.
 *
 * Return: 0, or as auxtrace_writer_item(); -E2BIG: CPU over 65535.
 */
int auxtrace_writer_stream(struct auxtrace_writer *writer, const struct auxtrace_stream *stream);

/**
 * auxtrace_writer_item() - write what a reader gave
 * @writer:	the writer
 * @item:	of a reader: a WINDOW, whole or the parts in order, nothing of the same writer in
 *		between; STREAM and LOST do as well; FILE and DAMAGE are left out, but for
 *		ABORTED: it takes the parts of that window back, and counts it as lost
 *
 * Without compression it is in the file on return; with, when a batch is full.
 *
 * On an error the file is cut back to its last whole record, and the item is not in it; with
 * compression, nor are the others of its batch. The rest of a window whose beginning failed
 * fails likewise. Later windows are tried again: when there is room they are written, behind a
 * record that says what was lost. So a recorder goes on, and asks auxtrace_writer_lost() how
 * much it was. Where nothing can be cut back (a pipe), an error is final.
 *
 * Return: 0, or -EINVAL: not the part that comes next; -ENOSPC, -EFBIG, -EDQUOT, -EIO ...:
 * what write(2) says; -EPIPE (SIGPIPE comes before, if it is not ignored).
 */
int auxtrace_writer_item(struct auxtrace_writer *writer, const struct auxtrace_item *item);

/**
 * auxtrace_writer_flush() - hand what is batched to the kernel
 * @writer:	the writer, not within a window
 *
 * Does nothing without compression. For the disk, fdatasync() auxtrace_writer_fd() after.
 *
 * Return: as auxtrace_writer_item().
 */
int auxtrace_writer_flush(struct auxtrace_writer *writer);

/** auxtrace_writer_fd() - the descriptor; stays the writer's */
int auxtrace_writer_fd(const struct auxtrace_writer *writer);

/** auxtrace_writer_size() - bytes in the file so far, compressed; whole records only */
uint64_t auxtrace_writer_size(const struct auxtrace_writer *writer);

/**
 * auxtrace_writer_lost() - what could not be written since the writer was made
 * @writer:	the writer
 * @windows:	out: how many; or NULL
 *
 * Return: bytes of payload.
 */
uint64_t auxtrace_writer_lost(const struct auxtrace_writer *writer, uint64_t *windows);

/**
 * auxtrace_writer_untold() - what is lost without a record in the file that says so
 * @writer:	the writer
 * @windows:	out: how many; or NULL
 *
 * It is told with each CPU's next window, or by auxtrace_writer_close(). If neither succeeds,
 * auxtrace_writer_tell_lost() can tell it to the writer of the next file. What that was given,
 * and LOST items, count too.
 *
 * Return: bytes of payload.
 */
uint64_t auxtrace_writer_untold(const struct auxtrace_writer *writer, uint64_t *windows);

/**
 * auxtrace_writer_tell_lost() - have the file say that windows are missing
 * @writer:	the writer
 * @cpu:	number of the CPU
 * @error:	why: an errno, positive
 * @windows:	how many
 * @bytes:	of payload
 *
 * For what was lost where there was no writer. It is told with that CPU's next window, or by
 * auxtrace_writer_close(), and added to what is to be told already. It is not counted by
 * auxtrace_writer_lost().
 *
 * Return: 0, or -E2BIG: CPU over 65535.
 */
int auxtrace_writer_tell_lost(struct auxtrace_writer *writer, unsigned int cpu, uint32_t error,
			      uint64_t windows, uint64_t bytes);

/**
 * auxtrace_writer_close() - flush, and free
 * @writer:	or NULL
 *
 * Within a window, cuts the file back to its beginning.
 *
 * Return: 0, or as auxtrace_writer_item(); @writer is freed in any case.
 */
int auxtrace_writer_close(struct auxtrace_writer *writer);

#ifdef __cplusplus
}
#endif

#endif /* AUXTRACE_H */
