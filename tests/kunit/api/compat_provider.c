// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's provider of the kernel-consumer AUX API: consumer.h stands its
 * functions in for the kernel's. Owns nothing.
 */
#include "consumer/compat_core.h"
#include "consumer/consumer.h"
#include "provider.h"

const struct provider compat_provider = {
	.name = "compat",
	.setup = perf_event_setup_aux,
	.release = perf_event_release_aux,
	.head = perf_event_aux_head,
	.tail_set = perf_event_aux_tail_set,
	.copy = perf_event_aux_copy,
};

int compat_provider_init(void)
{
	return auxtrace_consumer_init();
}

/*
 * Where no tail_set() could move it: to anywhere. For a buffer of either provider,
 * which are of the same kind; the head is up to the driver.
 */
void move_tail(struct perf_event *event, unsigned long tail)
{
	WRITE_ONCE(rb_user_page(event->rb)->aux_tail, tail);
}
