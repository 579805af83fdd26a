// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native provider of the kernel-consumer AUX API: the kernel itself. This
 * file owns nothing but the provider's name, and has no lock.
 */
#include "consumer/consumer.h"

const char * const auxtrace_consumer_name = "native";

int auxtrace_consumer_init(void)
{
	return 0;
}
