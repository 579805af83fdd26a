// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control of an open stream from its descriptor: what it is, how it does, start
 * and stop, flush, format, threshold. ioctl.c is how user space says so.
 *
 * Owns nothing: what it changes is guarded by the stream's lock.
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "consumer/consumer.h"
#include "pmu.h"
#include "stream_internal.h"

/**
 * auxtrace_stats_snapshot() - copy statistics that go on changing
 * @stats:	from where
 * @copy:	to where
 *
 * Context: any.
 */
void auxtrace_stats_snapshot(struct auxtrace_stats *stats, struct auxtrace_stats *copy)
{
	copy->opens = READ_ONCE(stats->opens);
	copy->bytes = READ_ONCE(stats->bytes);
	copy->reads = READ_ONCE(stats->reads);
	copy->gaps = READ_ONCE(stats->gaps);
	copy->gaps_full = READ_ONCE(stats->gaps_full);
	copy->gaps_driver = READ_ONCE(stats->gaps_driver);
	copy->gaps_hotplug = READ_ONCE(stats->gaps_hotplug);
	copy->gaps_stopped = READ_ONCE(stats->gaps_stopped);
	copy->windows = READ_ONCE(stats->windows);
	copy->gap_ns = READ_ONCE(stats->gap_ns);
	copy->flushes = READ_ONCE(stats->flushes);
	copy->truncated = READ_ONCE(stats->truncated);
	copy->partial = READ_ONCE(stats->partial);
	copy->collision = READ_ONCE(stats->collision);
	copy->reports_lost = READ_ONCE(stats->reports_lost);
	atomic64_set(&copy->wakeups, atomic64_read(&stats->wakeups));
}

/**
 * auxtrace_stream_info() - what the stream is
 * @s:		the stream
 * @info:	out: all but the size
 *
 * Context: may sleep.
 */
void auxtrace_stream_info(struct auxtrace_stream *s, struct auxtrace_info *info)
{
	const u64 *value = s->settings.value;

	info->abi_version = AUXTRACE_ABI_VERSION;
	info->cpu = s->cpu;
	info->pmu_type = s->pmu->type;
	strscpy(info->pmu_name, s->pmu->name, sizeof(info->pmu_name));
	info->buffer_size = value[AUXTRACE_BUFFER_SIZE];
	info->watermark = s->watermark;
	info->config = value[AUXTRACE_CONFIG];
	info->config1 = value[AUXTRACE_CONFIG1];
	info->config2 = value[AUXTRACE_CONFIG2];
	info->config3 = value[AUXTRACE_CONFIG3];
	info->period = value[AUXTRACE_PERIOD];
	if (value[AUXTRACE_EXCLUDE_USER])
		info->event_flags |= AUXTRACE_EVENT_EXCLUDE_USER;
	if (value[AUXTRACE_EXCLUDE_KERNEL])
		info->event_flags |= AUXTRACE_EVENT_EXCLUDE_KERNEL;
	info->flush_ms = value[AUXTRACE_FLUSH_MS];
	info->consumer = AUXTRACE_CONSUMER_ID;
	info->driver_flags = auxtrace_driver_flags(auxtrace_consumer_sees());

	mutex_lock(&s->lock);
	info->wake_bytes = s->wake_bytes;
	info->format = s->format;
	mutex_unlock(&s->lock);
}

/**
 * auxtrace_stream_status() - how the stream does
 * @s:		the stream
 * @status:	out: all but the size
 *
 * Context: may sleep.
 */
void auxtrace_stream_status(struct auxtrace_stream *s, struct auxtrace_status *status)
{
	const struct auxtrace_stats *before = &s->stats_before;
	struct auxtrace_stats now;

	mutex_lock(&s->lock);
	auxtrace_keep_running(s);
	auxtrace_stats_snapshot(s->stats, &now);
	status->state = auxtrace_stream_state(s);
	/* (Nobody is to see a head that is off.) */
	status->head = s->tail + min(auxtrace_available(s), s->counter.size);
	status->tail = s->tail;
	mutex_unlock(&s->lock);

	status->bytes = now.bytes - before->bytes;
	status->windows = now.windows - before->windows;
	status->gaps = now.gaps - before->gaps;
	status->gaps_full = now.gaps_full - before->gaps_full;
	status->gaps_driver = now.gaps_driver - before->gaps_driver;
	status->gaps_hotplug = now.gaps_hotplug - before->gaps_hotplug;
	status->gaps_stopped = now.gaps_stopped - before->gaps_stopped;
	status->gap_time = now.gap_ns - before->gap_ns;
	status->flushes = now.flushes - before->flushes;
	status->truncated = now.truncated - before->truncated;
	status->partial = now.partial - before->partial;
	status->collision = now.collision - before->collision;
	status->reports_lost = now.reports_lost - before->reports_lost;
	status->wakeups = atomic64_read(&now.wakeups) - atomic64_read(&before->wakeups);
}

/**
 * auxtrace_stream_stop() - stop tracing; what is published ends the stream
 * @s:		the stream
 *
 * Context: may sleep.
 */
void auxtrace_stream_stop(struct auxtrace_stream *s)
{
	mutex_lock(&s->lock);
	if (!s->ended) {
		auxtrace_hold_for_stop(s);
		/* One gap with the STOP before, if that START had no effect. */
		if (!s->start_due)
			s->ended_at = ktime_get_ns();
		/* Pairs with at_end(): the head before. */
		smp_store_release(&s->ended, true);
	}
	mutex_unlock(&s->lock);
	wake_up_interruptible_all(&s->wait);
}

/**
 * auxtrace_stream_start() - trace again after a stop
 * @s:		the stream
 *
 * Context: may sleep; no lock held that CPU hotplug takes.
 */
void auxtrace_stream_start(struct auxtrace_stream *s)
{
	mutex_lock(&s->lock);
	if (s->ended) {
		/* Nor does one count that is under way. */
		s->framer.last = false;
		WRITE_ONCE(s->last_given, false);
		s->start_due = true;
		WRITE_ONCE(s->ended, false);
		auxtrace_keep_running(s);
	}
	mutex_unlock(&s->lock);
	wake_up_interruptible_all(&s->wait);
}

/**
 * auxtrace_stream_flush() - publish what is there
 * @s:		the stream
 *
 * Context: may sleep.
 * Return: bytes that were published by this; 0 while the event does not run.
 */
u64 auxtrace_stream_flush(struct auxtrace_stream *s)
{
	u64 n;

	mutex_lock(&s->lock);
	n = auxtrace_flush_now(s);
	mutex_unlock(&s->lock);
	wake_up_interruptible_all(&s->wait);
	return n;
}

/**
 * auxtrace_stream_set_format() - raw or framed
 * @s:		the stream
 * @format:	&enum auxtrace_format
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, or -EBUSY after the first read.
 */
int auxtrace_stream_set_format(struct auxtrace_stream *s, u32 format)
{
	int ret = 0;

	if (format != AUXTRACE_FORMAT_RAW && format != AUXTRACE_FORMAT_FRAMED)
		return -EINVAL;
	mutex_lock(&s->lock);
	if (s->began)
		ret = -EBUSY;
	else
		s->format = format;
	mutex_unlock(&s->lock);
	return ret;
}

/**
 * auxtrace_stream_set_wake_bytes() - poll's threshold
 * @s:		the stream
 * @bytes:	1 to the buffer's size
 *
 * Context: may sleep.
 * Return: 0 or -EINVAL.
 */
int auxtrace_stream_set_wake_bytes(struct auxtrace_stream *s, u64 bytes)
{
	if (!bytes || bytes > s->settings.value[AUXTRACE_BUFFER_SIZE])
		return -EINVAL;
	mutex_lock(&s->lock);
	WRITE_ONCE(s->wake_bytes, bytes);
	mutex_unlock(&s->lock);
	wake_up_interruptible_all(&s->wait);
	return 0;
}
