// SPDX-License-Identifier: GPL-2.0
/*
 * Pause times: against a certificate of optimality in 128 bits, against all
 * integer solutions of small problems, and in special cases. (glpk_alloc.c
 * compares with a linear programming solver.)
 */
#include "unit.h"
#include "bfc_alloc.h"

typedef unsigned __int128 u128;

static struct bfc_alloc a;

static void add(u64 rate, u64 other)
{
	CHECK(bfc_alloc_add(&a, rate, other));
}

/* Negative, 0, positive: R/r of port i is smaller, the same, larger. */
static int compare(unsigned int i, unsigned int k)
{
	u128 x = (u128)a.port[i].other * a.port[k].rate;
	u128 y = (u128)a.port[k].other * a.port[i].rate;

	return (x > y) - (x < y);
}

/*
 * Is what is in a.port[] optimal? There is a price R/r such that cheaper ports
 * are paused all the time and dearer ones not at all (that is duality); those
 * that have this price are paused for the same time, and a nanosecond less of it
 * would be too little. All in whole numbers: nothing is rounded here.
 */
static bool is_optimal(s64 demand, u32 t_hop, u64 left)
{
	u128 kept = 0, need = demand > 0 ? (u128)demand * t_hop : 0;
	u64 sum = 0, last_rate = 0;
	unsigned int i, k, last = a.ports;
	bool good = true;

	for (i = 0; i < a.ports; i++) {
		const struct bfc_alloc_port *p = &a.port[i];

		sum += p->rate;
		kept += (u128)p->rate * p->pause;
		good &= CHECK(p->pause <= t_hop, "port %u: %u", i, p->pause);
		good &= CHECK(p->rate || !p->pause, "port %u cannot help", i);
		if (p->pause && (last == a.ports || compare(i, last) > 0))
			last = i;
	}
	if (demand <= 0)
		return good & CHECK(!left && last == a.ports);
	if (sum < (u64)demand) {
		good &= CHECK(left == demand - sum, "%llu", left);
		good &= CHECK(kept == (u128)sum * t_hop, "not all paused");
		return good;
	}
	good &= CHECK(!left, "%llu", left);
	good &= CHECK(kept >= need, "constraint does not hold");
	if (!CHECK(last < a.ports, "no port is paused"))
		return false;
	for (i = 0; i < a.ports; i++) {
		if (!a.port[i].rate)
			continue;
		k = compare(i, last) + 1;
		if (k == 0)
			good &= CHECK(a.port[i].pause == t_hop,
				      "port %u is cheaper than %u", i, last);
		else if (k == 2)
			good &= CHECK(!a.port[i].pause,
				      "port %u is dearer than %u", i, last);
		else
			good &= CHECK(a.port[i].pause == a.port[last].pause,
				      "ports %u and %u cost the same", i, last);
		if (k == 1)
			last_rate += a.port[i].rate;
	}
	return good & CHECK(kept - last_rate < need, "longer than needed");
}

static bool solve(s64 demand, u32 t_hop)
{
	unsigned int i;
	u64 left;

	/* whatever was there before */
	for (i = 0; i < a.ports; i++)
		a.port[i].pause = 0xdeadbeef;
	left = bfc_alloc_solve(&a, demand, t_hop);
	return is_optimal(demand, t_hop, left);
}

static u64 sum_of_rates(void)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < a.ports; i++)
		sum += a.port[i].rate;
	return sum;
}

/* Up to 2^bits, each power of two as likely as the others. */
static u64 spread(u64 *seed, unsigned int bits)
{
	u64 v = unit_random(seed) >> (64 - bits);

	return v >> (unit_random(seed) % (bits + 1));
}

static bool check_muldiv(u64 x, u64 b, u64 c)
{
	u64 q, rem;

	if (((u128)x * b) >> 64 >= c)
		return true;	/* does not fit */
	q = bfc_muldiv(x, b, c, &rem);
	return CHECK((u128)q * c + rem == (u128)x * b && rem < c,
		     "%llu x %llu / %llu: %llu", x, b, c, q);
}

static void test_muldiv(void)
{
	static const u64 wide[] = {
		0, 1, 2, 4095, 4096, 0xffffffff, 1ULL << 32, (1ULL << 45) - 1,
		1ULL << 45, (1ULL << 48) - 1, (1ULL << 51) - 1, 1ULL << 51,
	};
	unsigned int i, n = UNIT_SIZE(wide);
	u64 seed = 21;

	for (i = 0; i < n * n * n; i++)
		if (wide[i / n % n] < 1ULL << 48 && wide[i % n])
			check_muldiv(wide[i / n / n], wide[i / n % n],
				     wide[i % n]);
	for (i = 0; i < 200000; i++)
		if (!check_muldiv(spread(&seed, 51), spread(&seed, 48),
				  1 + spread(&seed, 51)))
			return;
}

/* FAFC §II-D, Fig. 2: hosts send to the congested port alone and are paused; the
 * link between the switches carries victims and is not.
 */
static void test_dumbbell(void)
{
	const u64 line = 3125 * 256;	/* 25 Gbit/s, T_hop 1 us */
	unsigned int i;

	bfc_alloc_clear(&a);
	for (i = 0; i < 15; i++)
		add(line, 0);
	add(line / 2, line / 2);
	/* 15.5 lines come, one leaves: 14.5 of the hosts' 15 must not come */
	CHECK(solve(14 * line + line / 2, 1000));
	CHECK(a.port[15].pause == 0, "%u", a.port[15].pause);
	CHECK(a.port[0].pause == 967, "%u", a.port[0].pause);
	CHECK(a.port[14].pause == 967, "%u", a.port[14].pause);
	/* a quarter of the link's as well */
	CHECK(solve(15 * line + line / 4, 1000));
	CHECK(a.port[0].pause == 1000, "%u", a.port[0].pause);
	CHECK(a.port[15].pause == 500, "%u", a.port[15].pause);
}

#define SMALL_HOP	4U
#define SMALL_PORTS	3U
#define SMALL_TIMES	(SMALL_HOP + 1)

/* The least cost of all whole numbers of ns: digits of a number tell times. */
static u64 least_cost(u64 demand)
{
	unsigned int all = 1, times, i;
	u64 least = ~0ULL;

	for (i = 0; i < a.ports; i++)
		all *= SMALL_TIMES;
	while (all--) {
		u64 kept = 0, cost = 0;

		for (i = 0, times = all; i < a.ports; i++) {
			kept += a.port[i].rate * (times % SMALL_TIMES);
			cost += a.port[i].other * (times % SMALL_TIMES);
			times /= SMALL_TIMES;
		}
		if (kept >= demand * SMALL_HOP && cost < least)
			least = cost;
	}
	return least;
}

/* No whole number of ns is better by the ns that rounding may cost the last group
 * of ports.
 */
static bool is_least(u64 demand)
{
	unsigned int last = a.ports, i;
	u64 found = 0, least, slack = 0;

	if (!solve(demand, SMALL_HOP))
		return false;
	for (i = 0; i < a.ports; i++) {
		found += a.port[i].other * a.port[i].pause;
		if (a.port[i].pause && (last == a.ports || compare(i, last) > 0))
			last = i;
	}
	for (i = 0; i < a.ports; i++)
		if (a.port[i].rate && !compare(i, last))
			slack += a.port[i].other;
	least = least_cost(demand);
	return CHECK(found < least + slack || found == least, "%llu, not %llu",
		     found, least);
}

/* All problems of up to three ports with numbers up to three. */
static void test_all_small(void)
{
	unsigned int n, code, codes = 1, i;
	u64 d;

	for (n = 1; n <= SMALL_PORTS; n++) {
		codes *= 16;
		for (code = 0; code < codes; code++) {
			bfc_alloc_clear(&a);
			for (i = 0; i < n; i++)
				add(code >> 4 * i & 3, code >> (4 * i + 2) & 3);
			for (d = 1; d <= sum_of_rates(); d++) {
				if (CHECK(is_least(d),
					  "%u ports, problem %x, demand %llu",
					  n, code, d))
					continue;
				return;
			}
		}
	}
}

/* Ports as random as they come: like each other or not at all. */
static void any_problem(u64 *seed)
{
	unsigned int n = 1 + unit_random(seed) % BFC_ALLOC_PORTS, i;
	unsigned int kind = unit_random(seed) % 7;

	bfc_alloc_clear(&a);
	for (i = 0; i < n; i++) {
		u64 x = unit_random(seed), y = unit_random(seed);

		switch (kind) {
		case 0:		/* 100 Gbit/s, T_hop 1 us */
			add(x % 3200001, y % 3200001);
			break;
		case 1:		/* many the same, many 0 */
			add(x % 4, y % 4);
			break;
		case 2:		/* the same ratios of different numbers */
			add((1 + x % 3) << (x >> 8) % 43,
			    (1 + y % 3) << (x >> 8) % 43);
			break;
		case 3:		/* next to each other */
			add(BFC_AMOUNT_MAX - x % 3, BFC_AMOUNT_MAX - y % 3);
			break;
		case 4:		/* incast: most have no victims */
			add(x % 3200001, y % 8 ? 0 : y % 3200001);
			break;
		case 5:		/* products that just do not fit in 64 bits */
			add((1ULL << 32) + (x >> 32), (1ULL << 32) + (y >> 32));
			break;
		default:	/* anything */
			add(spread(seed, 45), spread(seed, 45));
		}
	}
}

static void test_random(void)
{
	u64 seed = 22, sum;
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		u32 t_hop = BFC_THOP_MIN + spread(&seed, 30) % (BFC_THOP_MAX -
								BFC_THOP_MIN);

		any_problem(&seed);
		sum = sum_of_rates();
		if (!solve(unit_random(&seed) % (sum + 1), t_hop) ||
		    !solve(1, t_hop) || !solve(sum, t_hop) ||
		    !solve(sum + 1, t_hop) || !solve(sum - 1, t_hop) ||
		    !solve(2 * sum, t_hop) || !solve(0, t_hop) ||
		    !solve(-1, t_hop) || !solve(-(s64)sum, t_hop)) {
			CHECK(0, "problem %u", i);
			return;
		}
	}
}

/* How ports are numbered does not matter. */
static void test_order(void)
{
	static struct bfc_alloc_port was[BFC_ALLOC_PORTS];
	u64 seed = 23, demand;
	unsigned int i, k, by;

	for (i = 0; i < 5000; i++) {
		any_problem(&seed);
		demand = unit_random(&seed) % (sum_of_rates() + 1);
		bfc_alloc_solve(&a, demand, 1000);
		memcpy(was, a.port, sizeof(was));
		by = unit_random(&seed) % a.ports;
		for (k = 0; k < a.ports; k++)
			a.port[k] = was[(k + by) % a.ports];
		bfc_alloc_solve(&a, demand, 1000);
		for (k = 0; k < a.ports; k++)
			if (!CHECK(a.port[k].pause ==
				   was[(k + by) % a.ports].pause,
				   "problem %u, port %u", i, k))
				return;
	}
}

static void test_edges(void)
{
	unsigned int i;

	bfc_alloc_clear(&a);
	CHECK(bfc_alloc_solve(&a, 1000, 1000) == 1000, "no port");
	CHECK(bfc_alloc_solve(&a, 0, 1000) == 0);

	/* no port sends to the congested one */
	add(0, 0);
	add(0, 1000);
	CHECK(bfc_alloc_solve(&a, 1000, 1000) == 1000);
	CHECK(!a.port[0].pause && !a.port[1].pause);

	/* not enough: all that can help, and only these */
	bfc_alloc_clear(&a);
	add(100, 0);
	add(0, 7);
	add(300, 1000);
	CHECK(bfc_alloc_solve(&a, 401, 1000) == 1);
	CHECK(a.port[0].pause == 1000 && a.port[2].pause == 1000);
	CHECK(!a.port[1].pause);
	/* just enough */
	CHECK(bfc_alloc_solve(&a, 400, 1000) == 0);
	CHECK(a.port[0].pause == 1000 && a.port[2].pause == 1000);
	/* a little less: rounded up, or not at all */
	CHECK(bfc_alloc_solve(&a, 399, 1000) == 0);
	CHECK(a.port[2].pause == 997, "%u", a.port[2].pause);
	CHECK(bfc_alloc_solve(&a, 250, 1000) == 0);
	CHECK(a.port[2].pause == 500, "%u", a.port[2].pause);
	/* the first alone */
	CHECK(bfc_alloc_solve(&a, 100, 1000) == 0);
	CHECK(a.port[0].pause == 1000 && !a.port[2].pause);
	/* what was there before is gone */
	CHECK(bfc_alloc_solve(&a, -5, 1000) == 0);
	CHECK(!a.port[0].pause && !a.port[2].pause);

	/* no more than there is room for, and as wide as possible */
	bfc_alloc_clear(&a);
	for (i = 0; i < BFC_ALLOC_PORTS; i++)
		add(~0ULL, ~0ULL);
	CHECK(!bfc_alloc_add(&a, 1, 1));
	CHECK(a.ports == BFC_ALLOC_PORTS);
	CHECK(a.port[0].rate == BFC_AMOUNT_MAX);
	CHECK(a.port[0].other == BFC_AMOUNT_MAX);
	CHECK(solve(1, BFC_THOP_MAX));
	CHECK(a.port[0].pause == 1 && a.port[63].pause == 1);
	CHECK(solve(64LL * BFC_AMOUNT_MAX - 1, BFC_THOP_MAX));
	CHECK(a.port[9].pause == BFC_THOP_MAX);
	CHECK(solve(32LL * BFC_AMOUNT_MAX, BFC_THOP_MAX));
	CHECK(a.port[9].pause == BFC_THOP_MAX / 2);
}

static const struct unit_case cases[] = {
	{ "alloc: multiply and divide without losing a bit", test_muldiv },
	{ "alloc: the dumbbell of the paper spares the link between switches",
	  test_dumbbell },
	{ "alloc: best of all whole numbers in all small problems",
	  test_all_small },
	{ "alloc: optimal in random and adversarial problems", test_random },
	{ "alloc: the numbering of ports does not matter", test_order },
	{ "alloc: edges of what can be asked for", test_edges },
};

#include "unit_main.h"
