/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints, auxtrace:*, by which a kernel developer can watch streams with
 * trace-cmd, perf, or tracefs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM auxtrace

#if !defined(AUXTRACE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define AUXTRACE_TRACE_H

#include <linux/auxtrace.h>
#include <linux/tracepoint.h>

/* So that tools which read the formats learn the values, too. */
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_GAP);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_FULL);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_HOTPLUG);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_STOPPED);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_TRUNCATED);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_PARTIAL);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_COLLISION);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_FLUSH);
TRACE_DEFINE_ENUM(AUXTRACE_WINDOW_LAST);

#define show_window_flags(flags)					\
	__print_flags(flags, "|",					\
		      { AUXTRACE_WINDOW_GAP, "GAP" },			\
		      { AUXTRACE_WINDOW_FULL, "FULL" },			\
		      { AUXTRACE_WINDOW_HOTPLUG, "HOTPLUG" },		\
		      { AUXTRACE_WINDOW_STOPPED, "STOPPED" },		\
		      { AUXTRACE_WINDOW_TRUNCATED, "TRUNCATED" },	\
		      { AUXTRACE_WINDOW_PARTIAL, "PARTIAL" },		\
		      { AUXTRACE_WINDOW_COLLISION, "COLLISION" },	\
		      { AUXTRACE_WINDOW_FLUSH, "FLUSH" },		\
		      { AUXTRACE_WINDOW_LAST, "LAST" })

/* A window was taken; in the raw format, bytes that have reached a reader. */
TRACE_EVENT(window,
	TP_PROTO(int cpu, u64 offset, u64 size, u32 flags),
	TP_ARGS(cpu, offset, size, flags),
	TP_STRUCT__entry(
		__field(int, stream)
		__field(u64, offset)
		__field(u64, size)
		__field(u32, flags)
	),
	TP_fast_assign(
		__entry->stream = cpu;
		__entry->offset = offset;
		__entry->size = size;
		__entry->flags = flags;
	),
	TP_printk("stream=%d offset=%llu size=%llu flags=%s", __entry->stream,
		  __entry->offset, __entry->size, show_window_flags(__entry->flags))
);

/* Trace is missing at this offset, for this cause (0: the driver stopped). */
TRACE_EVENT(gap,
	TP_PROTO(int cpu, u64 offset, u32 cause),
	TP_ARGS(cpu, offset, cause),
	TP_STRUCT__entry(
		__field(int, stream)
		__field(u64, offset)
		__field(u32, cause)
	),
	TP_fast_assign(
		__entry->stream = cpu;
		__entry->offset = offset;
		__entry->cause = cause;
	),
	TP_printk("stream=%d offset=%llu cause=%s", __entry->stream,
		  __entry->offset, show_window_flags(__entry->cause))
);

/* The event runs again, or could not be started. */
TRACE_EVENT(reenable,
	TP_PROTO(int cpu, u64 offset, u64 room, int error),
	TP_ARGS(cpu, offset, room, error),
	TP_STRUCT__entry(
		__field(int, stream)
		__field(u64, offset)
		__field(u64, room)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->stream = cpu;
		__entry->offset = offset;
		__entry->room = room;
		__entry->error = error;
	),
	TP_printk("stream=%d offset=%llu room=%llu error=%d", __entry->stream,
		  __entry->offset, __entry->room, __entry->error)
);

/* The driver was made to publish; how many bytes came of it. */
TRACE_EVENT(flush,
	TP_PROTO(int cpu, u64 offset, u64 size),
	TP_ARGS(cpu, offset, size),
	TP_STRUCT__entry(
		__field(int, stream)
		__field(u64, offset)
		__field(u64, size)
	),
	TP_fast_assign(
		__entry->stream = cpu;
		__entry->offset = offset;
		__entry->size = size;
	),
	TP_printk("stream=%d offset=%llu size=%llu", __entry->stream,
		  __entry->offset, __entry->size)
);

#endif /* AUXTRACE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
