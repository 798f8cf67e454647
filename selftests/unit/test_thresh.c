// SPDX-License-Identifier: GPL-2.0
/*
 * Thresholds and automatic times against exact arithmetic in wider types.
 */
#include <linux/pkt_sch_bfc.h>
#include "unit.h"
#include "bfc_thresh.h"

/* The limits once more, so that a change of them is noticed here. */
#define RATE_MIN	1000ULL
#define RATE_MAX	125000000000ULL
#define HRTT_MIN	100ULL
#define HRTT_MAX	1000000000ULL
#define N_MAX		1024U
#define TH_MAX		(1U << 30)
#define MS		1000000ULL
#define SEC		1000000000ULL

typedef unsigned __int128 u128;

static u32 *new_table(unsigned int queues)
{
	/* Exactly so large: one entry too many is ASan's. */
	u32 *table = malloc((queues + 1) * sizeof(*table));

	if (!table)
		abort();
	memset(table, 0xee, (queues + 1) * sizeof(*table));
	return table;
}

/* A number between lo and hi, each power of two as likely as the others. */
static u64 spread(u64 *seed, u64 lo, u64 hi)
{
	u64 v = unit_random(seed);
	u64 span = hi - lo;
	unsigned int bits = 64 - __builtin_clzll(span);

	v >>= 64 - bits;
	v >>= unit_random(seed) % bits;
	return lo + v % (span + 1);
}

static void test_limits(void)
{
	CHECK(BFC_RATE_MIN == RATE_MIN);
	CHECK(BFC_RATE_MAX == RATE_MAX);
	CHECK(BFC_HRTT_MIN == HRTT_MIN);
	CHECK(BFC_HRTT_MAX == HRTT_MAX);
	CHECK(BFC_QUEUES_MAX == N_MAX);
	CHECK(BFC_THRESHOLD_MAX == TH_MAX);
	CHECK(BFC_REFRESH_MAX == SEC);
	CHECK(BFC_HOLD_MAX == 4 * SEC);
	CHECK(BFC_HOLD_MAX <= UINT32_MAX);
}

/* BFC §3.3.2: 100 Gbit/s and a hop of 2 us make 25 kB, shared by N_active. */
static void test_paper(void)
{
	static const struct {
		unsigned int n;
		u32 th;
	} want[] = {
		{ 0, 25000 }, { 1, 25000 }, { 2, 12500 }, { 3, 8333 },
		{ 8, 3125 }, { 16, 1562 }, { 25, 1000 }, { 32, 781 },
	};
	u32 *table = new_table(32);
	unsigned int i;

	bfc_thresh_fill(table, 32, 12500000000ULL, 2000, 0, 0);
	for (i = 0; i < UNIT_SIZE(want); i++)
		CHECK(table[want[i].n] == want[i].th, "Th[%u] = %u",
		      want[i].n, table[want[i].n]);
	free(table);
}

/*
 * Is th = HRTT x rate / n, rounded down, between floor and TH_MAX? Multiplied
 * out in wider types, so that nothing is rounded here.
 */
static bool is_threshold(u32 th, u128 bdp, unsigned int n, u32 floor)
{
	u128 unit = (u128)SEC * n;

	if (th < floor || th > TH_MAX)
		return false;
	return (th == TH_MAX || bdp < unit * (th + 1)) &&
	       (th == floor || bdp >= unit * th);
}

static bool check_table(u64 rate, u64 hrtt, unsigned int queues, u32 floor,
			u32 fixed)
{
	u32 *table = new_table(queues);
	u128 bdp = (u128)rate * hrtt;
	bool good = true;
	unsigned int n;

	bfc_thresh_fill(table, queues, rate, hrtt, floor, fixed);
	for (n = 1; good && n <= queues; n++) {
		good = CHECK(fixed ? table[n] == fixed :
			     is_threshold(table[n], bdp, n, floor),
			     "rate %llu hrtt %llu N %u floor %u fixed %u: %u",
			     rate, hrtt, n, floor, fixed, table[n]);
		if (n > 1)
			good &= CHECK(table[n] <= table[n - 1],
				      "rate %llu hrtt %llu: Th[%u] > Th[%u]",
				      rate, hrtt, n, n - 1);
	}
	good &= CHECK(table[0] == table[1]);
	free(table);
	return good;
}

static const u64 rates[] = {
	RATE_MIN, 1001, 125000, 1250000, 12500000, 124999999, 125000000,
	1250000000, 3125000000, 5000000000, 12500000000, 50000000000,
	RATE_MAX - 1, RATE_MAX,
};

static const u64 hrtts[] = {
	HRTT_MIN, 101, 1000, 1999, 2000, 10000, 100000, 1000000, 8589934,
	8589935, 10000000, 100000000, HRTT_MAX - 1, HRTT_MAX,
};

static bool small(u64 rate, u64 hrtt)
{
	return (u128)rate * hrtt <= (u128)TH_MAX * SEC;
}

static void test_formula(void)
{
	u64 seed = 2;
	unsigned int i, k;

	for (i = 0; i < UNIT_SIZE(rates); i++)
		for (k = 0; k < UNIT_SIZE(hrtts); k++)
			if (small(rates[i], hrtts[k]) &&
			    !check_table(rates[i], hrtts[k], N_MAX, 0, 0))
				return;
	for (i = 0; i < 2000; i++) {
		u64 rate = spread(&seed, RATE_MIN, RATE_MAX);
		u64 hrtt = spread(&seed, HRTT_MIN, HRTT_MAX);
		unsigned int n = spread(&seed, 1, N_MAX);

		if (small(rate, hrtt) && !check_table(rate, hrtt, n, 0, 0))
			return;
	}
}

/* The limit is one of a threshold; the BDP that is shared may be larger. */
static void test_formula_large(void)
{
	unsigned int i, k;

	for (i = 0; i < UNIT_SIZE(rates); i++)
		for (k = 0; k < UNIT_SIZE(hrtts); k++)
			if (!small(rates[i], hrtts[k]) &&
			    !check_table(rates[i], hrtts[k], N_MAX, 0, 0))
				return;
}

static void test_floor(void)
{
	static const u32 floors[] = { 1, 64, 1514, 9018, 65536, 1U << 20 };
	unsigned int i, k, m;

	for (i = 0; i < UNIT_SIZE(rates); i++)
		for (k = 0; k < UNIT_SIZE(hrtts); k++)
			for (m = 0; m < UNIT_SIZE(floors); m++)
				if (small(rates[i], hrtts[k]) &&
				    !check_table(rates[i], hrtts[k], 256,
						 floors[m], 0))
					return;
}

static void test_fixed(void)
{
	static const u32 fixed[] = { 1, 100, 1514, 30000, TH_MAX };
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(fixed); i++) {
		check_table(RATE_MIN, HRTT_MIN, N_MAX, 0, fixed[i]);
		check_table(RATE_MAX, HRTT_MAX, N_MAX, 0, fixed[i]);
		/* a configured one is taken, even below a packet */
		check_table(1250000000, 100000, N_MAX, 1514, fixed[i]);
	}
}

static void test_one_queue(void)
{
	check_table(1250000000, 100000, 1, 1514, 0);
	check_table(RATE_MIN, HRTT_MIN, 1, 1514, 0);
	check_table(RATE_MIN, HRTT_MIN, 1, 0, 7);
}

/* At most 1 % of the link, but once a second at least; and no oftener than
 * needed for that, but every millisecond at most.
 */
static void test_refresh(void)
{
	u64 seed = 3;
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		u64 rate = spread(&seed, RATE_MIN, RATE_MAX);
		unsigned int frame = spread(&seed, 60, 598);
		u64 ns = bfc_refresh_auto(rate, frame);
		/* bytes of frames per second x 100 <= rate */
		u128 used = (u128)frame * 100 * SEC;
		bool good;

		good = CHECK(ns >= MS && ns <= SEC, "rate %llu frame %u: %llu",
			     rate, frame, ns);
		if (ns < SEC)	/* times are whole ns: allow for one */
			good &= CHECK(used <= (u128)rate * (ns + 1),
				      "rate %llu frame %u: %llu is too often",
				      rate, frame, ns);
		if (ns > MS)
			good &= CHECK(used >= (u128)rate * (ns - 1),
				      "rate %llu frame %u: %llu is too seldom",
				      rate, frame, ns);
		if (!good)
			return;
	}
	CHECK(bfc_refresh_auto(12500000000ULL, 90) == MS);
	CHECK(bfc_refresh_auto(1250000, 125) == 10 * MS);
	CHECK(bfc_refresh_auto(1250000, 250) == 20 * MS);
	CHECK(bfc_refresh_auto(RATE_MIN, 60) == SEC);
	CHECK(bfc_refresh_auto(RATE_MAX, 598) == MS);
	CHECK(bfc_refresh_auto(0, 60) == SEC, "a rate not known yet");
}

static void test_hold(void)
{
	u64 seed = 4, last = 0, ns;
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		u64 refresh = spread(&seed, 10000, SEC);
		u64 hold = bfc_hold_auto(refresh);

		if (!CHECK(hold >= 50 * MS && hold <= 4 * SEC,
			   "refresh %llu: %llu", refresh, hold) ||
		    !CHECK(hold >= 10 * refresh || hold == 4 * SEC,
			   "refresh %llu: %llu", refresh, hold) ||
		    !CHECK(hold > 3 * refresh, "refresh %llu: %llu", refresh,
			   hold))
			return;
	}
	CHECK(bfc_hold_auto(MS) == 50 * MS);
	CHECK(bfc_hold_auto(SEC) == 4 * SEC);
	for (ns = 10000; ns <= SEC; ns += 9973) {
		u64 hold = bfc_hold_auto(ns);

		if (!CHECK(hold >= last, "refresh %llu", ns))
			return;
		last = hold;
	}
}

/* One frame arrives, ten are lost, the next arrives: paused all the time? */
static void test_hold_ten(void)
{
	u64 refresh;

	for (refresh = MS; 11 * refresh <= 4 * SEC; refresh += MS)
		if (!CHECK(bfc_hold_auto(refresh) >= 11 * refresh,
			   "refresh %llu ms: void after %llu ms, next frame at %llu ms",
			   refresh / MS, bfc_hold_auto(refresh) / MS,
			   11 * refresh / MS))
			return;
}

/* A tap takes any speed; 28.8 Tbit/s were too much for a number of frames a second. */
static void test_speed(void)
{
	CHECK(bfc_speed_rate(10) == 1250000);
	CHECK(bfc_speed_rate(100000) == 12500000000ULL);
	CHECK(bfc_speed_rate(999999) == RATE_MAX - 125000);
	CHECK(bfc_speed_rate(1000000) == RATE_MAX);
	CHECK(bfc_speed_rate(1000001) == RATE_MAX);
	CHECK(bfc_speed_rate(1U << 31) == RATE_MAX);
	CHECK(bfc_speed_rate(~1U) == RATE_MAX);
}

static const struct unit_case cases[] = {
	{ "thresh: a device's speed in bytes/s has a bound", test_speed },
	{ "thresh: limits of the options are as documented", test_limits },
	{ "thresh: example of the paper, 25 kB over N_active", test_paper },
	{ "thresh: Th = HRTT x rate / N, exact and falling in N",
	  test_formula },
	{ "thresh: Th = HRTT x rate / N where the BDP is over 1 GiB",
	  test_formula_large },
	{ "thresh: none below the floor", test_floor },
	{ "thresh: a fixed one is taken as it is", test_fixed },
	{ "thresh: a port of one queue", test_one_queue },
	{ "thresh: auto refresh takes at most 1 % and has bounds",
	  test_refresh },
	{ "thresh: auto hold has bounds and grows with refresh", test_hold },
	{ "thresh: auto hold outlasts ten lost frames in a row",
	  test_hold_ten },
};

#include "unit_main.h"
