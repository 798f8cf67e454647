// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints of bfc_trace.h.
 */
#include "bfc.h"

#define CREATE_TRACE_POINTS
#include "bfc_trace.h"
