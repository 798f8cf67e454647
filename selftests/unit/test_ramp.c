// SPDX-License-Identifier: GPL-2.0
/*
 * ECN's ramp against exact arithmetic in wider types.
 */
#include <linux/pkt_sch_bfc.h>
#include "unit.h"
#include "bfc_ramp.h"

#define KB	1000U
#define MOST	(1U << 30)

typedef unsigned __int128 u128;

static u64 share(u32 kmin, u32 kmax, u32 ppm, u64 bytes)
{
	struct bfc_ramp r;

	bfc_ramp_init(&r, kmin, kmax, ppm);
	return bfc_ramp_share(&r, bytes);
}

/* HPCC's comparison: 100 and 400 KB, 20 %. */
static void test_points(void)
{
	CHECK(BFC_BYTES_MAX == MOST);
	CHECK(BFC_PPM_ONE == 1000000U);
	CHECK(share(100 * KB, 400 * KB, 200000, 0) == 0);
	CHECK(share(100 * KB, 400 * KB, 200000, 100 * KB) == 0, "none at Kmin");
	CHECK(share(100 * KB, 400 * KB, 200000, 100 * KB + 1) > 0);
	CHECK(share(100 * KB, 400 * KB, 200000, 250 * KB) * 10 / BFC_RAMP_ONE == 0 &&
	      (share(100 * KB, 400 * KB, 200000, 250 * KB) + 2) * 10 / BFC_RAMP_ONE == 1,
	      "a tenth half way");
	CHECK(share(100 * KB, 400 * KB, 200000, 400 * KB) < BFC_RAMP_ONE / 5 + 1 &&
	      share(100 * KB, 400 * KB, 200000, 400 * KB) + 3 > BFC_RAMP_ONE / 5,
	      "a fifth at Kmax");
	CHECK(share(100 * KB, 400 * KB, 200000, 400 * KB + 1) == BFC_RAMP_ONE, "all beyond");
	CHECK(share(100 * KB, 400 * KB, 200000, ~0ULL) == BFC_RAMP_ONE);
}

/* Not above ppm x (bytes - Kmin) / (Kmax - Kmin), and below it by no more than two roundings. */
static bool is_line(u64 got, u32 kmin, u32 kmax, u32 ppm, u32 bytes)
{
	u128 exact = (u128)BFC_RAMP_ONE * ppm * (bytes - kmin);
	u128 unit = (u128)1000000 * (kmax - kmin);

	return got * unit <= exact && (got + 3) * unit > exact;
}

static void test_line(void)
{
	u64 seed = 5;
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		unsigned int bits = 1 + unit_random(&seed) % 30;
		u32 kmax = 2 + (unit_random(&seed) >> 34) % ((1U << bits) - 1);
		u32 kmin = 1 + unit_random(&seed) % (kmax - 1);
		u32 ppm = 1 + (unit_random(&seed) >> unit_random(&seed) % 20) % 1000000;
		u32 bytes = kmin + 1 + unit_random(&seed) % (kmax - kmin);
		u64 got = share(kmin, kmax, ppm, bytes);

		if (!CHECK(is_line(got, kmin, kmax, ppm, bytes), "%u to %u, %u ppm, %u: %llu",
			   kmin, kmax, ppm, bytes, got))
			return;
	}
}

/* The ends of all options: nothing overflows, no ramp is flat. */
static void test_ends(void)
{
	CHECK(is_line(share(1, MOST, 1000000, MOST), 1, MOST, 1000000, MOST));
	CHECK(is_line(share(1, MOST, 1, MOST), 1, MOST, 1, MOST));
	CHECK(share(1, MOST, 1, MOST) > 0);
	CHECK(is_line(share(MOST - 1, MOST, 1000000, MOST), MOST - 1, MOST, 1000000, MOST));
	CHECK(share(MOST - 1, MOST, 1000000, MOST) == BFC_RAMP_ONE);
	CHECK(share(1, 2, 1, 2) == BFC_RAMP_ONE / 1000000);
}

/* Without Kmax. */
static void test_step(void)
{
	struct bfc_ramp r;

	bfc_ramp_init(&r, 40 * KB, 0, 1000000);
	CHECK(!r.slope);
	CHECK(bfc_ramp_share(&r, 40 * KB) == 0);
	CHECK(bfc_ramp_share(&r, 40 * KB + 1) == BFC_RAMP_ONE);
	bfc_ramp_init(&r, 40 * KB, 40 * KB, 1000000);
	CHECK(!r.slope);
	CHECK(bfc_ramp_share(&r, 40 * KB + 1) == BFC_RAMP_ONE);
}

/* A random u32 is below the share as often as that says: 4 sigma of a binomial. */
static void test_drawn(void)
{
	static const u32 bytes[] = { 130 * KB, 250 * KB, 390 * KB };
	const s64 n = 100000;
	u64 seed = 6;
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(bytes); i++) {
		u64 p = share(100 * KB, 400 * KB, 500000, bytes[i]);
		s64 want = n * p / BFC_RAMP_ONE, hits = 0, k;

		for (k = 0; k < n; k++)
			hits += unit_random(&seed) >> 32 < p;
		CHECK((hits - want) * (hits - want) * n <= 16 * want * (n - want),
		      "%u bytes: %lld of %lld, expected %lld", bytes[i], hits, n, want);
	}
}

static const struct unit_case cases[] = {
	{ "ramp: none at Kmin, Pmax at Kmax, all beyond", test_points },
	{ "ramp: a line between, exact to two parts in 2^32", test_line },
	{ "ramp: the ends of the options", test_ends },
	{ "ramp: without Kmax a step", test_step },
	{ "ramp: a random number hits it as often", test_drawn },
};

#include "unit_main.h"
