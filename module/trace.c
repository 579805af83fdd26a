// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code of the tracepoints that trace.h describes. Owns nothing else, and has
 * no lock.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
