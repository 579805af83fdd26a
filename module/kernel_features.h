/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where kernels differ, decided by the feature tests in Kbuild, so that no
 * other file asks for a version.
 */
#ifndef AUXTRACE_KERNEL_FEATURES_H
#define AUXTRACE_KERNEL_FEATURES_H

#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/workqueue.h>

/* cpuid_count(): in a header of its own since 6.16 */
#ifdef AUXTRACE_HAVE_CPUID_API
#include <asm/cpuid/api.h>
#elif defined(CONFIG_X86)
#include <asm/processor.h>
#endif

/* perf_event_attr::config3, since 6.3 */
#ifdef AUXTRACE_HAVE_CONFIG3
static inline void attr_set_config3(struct perf_event_attr *attr, u64 value)
{
	attr->config3 = value;
}
#else
#define AUXTRACE_HAVE_CONFIG3 0
static inline void attr_set_config3(struct perf_event_attr *attr, u64 value)
{
}
#endif

/* What a file that has read_iter() puts in its splice_read(), since 6.5 */
#ifdef AUXTRACE_HAVE_COPY_SPLICE_READ
#define read_iter_splice_read	copy_splice_read
#else
#define read_iter_splice_read	generic_file_splice_read
#endif

/* The workqueue for work on any CPU: named so since 6.17, the old name warns since 7.3 */
#ifndef AUXTRACE_HAVE_SYSTEM_DFL_WQ
#define system_dfl_wq	system_unbound_wq
#endif

/* A function's arguments, as ftrace sees them, since 6.2 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && defined(AUXTRACE_HAVE_FTRACE_ARGUMENTS)
#define AUXTRACE_CAN_WATCH_CALLS
#endif

#endif /* AUXTRACE_KERNEL_FEATURES_H */
