// SPDX-License-Identifier: GPL-2.0
/*
 * Where pauses are counted by the time that they took.
 */
#include "unit.h"
#include "bfc_pause_time.h"

/* The bounds are part of what they bound, and nothing is missing between them. */
static void test_bounds(void)
{
	unsigned int i, last = BFC_PAUSE_TIMES - 1;
	u64 most;

	for (i = 0; i < last; i++) {
		most = BFC_PAUSE_TIME_LEAST << i;
		CHECK(bfc_pause_time(most) == i, "%llu ns: %u", most, bfc_pause_time(most));
		CHECK(bfc_pause_time(most - 1) == i, "%llu ns: %u", most - 1,
		      bfc_pause_time(most - 1));
		CHECK(bfc_pause_time(most + 1) == i + 1, "%llu ns: %u", most + 1,
		      bfc_pause_time(most + 1));
	}
	CHECK(BFC_PAUSE_TIME_LEAST == 1024 && BFC_PAUSE_TIME_LEAST << (last - 1) == 1ULL << 30);
}

/* No time at all, and what a clock that went back would make of it, are counted somewhere. */
static void test_ends(void)
{
	u64 ns;

	CHECK(bfc_pause_time(0) == 0 && bfc_pause_time(1) == 0 && bfc_pause_time(2) == 0);
	for (ns = 1ULL << 31; ns; ns <<= 1)
		CHECK(bfc_pause_time(ns) == BFC_PAUSE_TIMES - 1, "%llu ns: %u", ns,
		      bfc_pause_time(ns));
	CHECK(bfc_pause_time(~0ULL) == BFC_PAUSE_TIMES - 1);
}

static const struct unit_case cases[] = {
	{ "pause_time: bounds", test_bounds },
	{ "pause_time: no time, and more than any", test_ends },
};

#include "unit_main.h"
