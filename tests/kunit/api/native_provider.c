// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own provider of the kernel-consumer AUX API. Owns nothing. */
#include "provider.h"

const struct provider native_provider = {
	.name = "native",
	.setup = perf_event_setup_aux,
	.release = perf_event_release_aux,
	.head = perf_event_aux_head,
	.tail_set = perf_event_aux_tail_set,
	.copy = perf_event_aux_copy,
};
