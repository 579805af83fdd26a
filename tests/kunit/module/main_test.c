// SPDX-License-Identifier: GPL-2.0-only
/* The module of the suites that test the module's own logic. Owns their list. */
#include <linux/module.h>

#include "fixture.h"

kunit_test_suites(&settings_suite, &counter_suite, &reports_suite, &upkeep_suite,
		  &window_suite);

MODULE_DESCRIPTION("KUnit tests of auxtrace's own logic");
MODULE_AUTHOR("auxtrace developers");
MODULE_LICENSE("GPL");
