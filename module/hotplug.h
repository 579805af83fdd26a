/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells open streams that their CPU has gone, or is back. */
#ifndef AUXTRACE_HOTPLUG_H
#define AUXTRACE_HOTPLUG_H

struct auxtrace_stream;

int auxtrace_hotplug_init(void);
void auxtrace_hotplug_exit(void);
void auxtrace_hotplug_add(struct auxtrace_stream *s);
void auxtrace_hotplug_del(struct auxtrace_stream *s);

#endif /* AUXTRACE_HOTPLUG_H */
