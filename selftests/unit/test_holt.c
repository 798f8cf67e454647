// SPDX-License-Identifier: GPL-2.0
/*
 * Holt's smoothing: against the formulae in 128 bits, against the paper's own
 * pace of one step every T_hop, and at its limits.
 */
#include "unit.h"
#include "bfc_holt.h"

typedef __int128 s128;

#define ONE	(1LL << BFC_AMOUNT_SHIFT)	/* a byte */
#define FINE	32				/* more bits of the reference */

static s64 distance(s64 a, s64 b)
{
	return a < b ? b - a : a - b;
}

static bool same(const struct bfc_holt *a, const struct bfc_holt *b)
{
	return a->stamp == b->stamp && a->raw == b->raw &&
	       a->fresh == b->fresh && a->last == b->last && a->q == b->q &&
	       a->r == b->r && a->in == b->in;
}

/* 0.8 and 0.8, as in the paper */
static struct bfc_holt_conf usual(u32 t_hop)
{
	struct bfc_holt_conf c;

	bfc_holt_configure(&c, t_hop, BFC_WEIGHT_DEFAULT, BFC_WEIGHT_DEFAULT);
	return c;
}

static u32 any_weight(u64 *seed)
{
	return BFC_WEIGHT_MIN +
	       unit_random(seed) % (BFC_WEIGHT_MAX - BFC_WEIGHT_MIN + 1);
}

static void test_limits(void)
{
	struct bfc_holt_conf c = usual(1000);

	/* 800 Gbit/s, and what else netlink lets pass, for the longest T_hop */
	CHECK(BFC_AMOUNT_MAX >> BFC_AMOUNT_SHIFT > 100000000000LL);
	CHECK(BFC_AMOUNT_MAX >> BFC_AMOUNT_SHIFT > 125000000000LL);
	CHECK(BFC_THOP_MAX < 1U << 30);
	CHECK(bfc_amount(0) == 0 && bfc_amount(1) == ONE);
	CHECK(bfc_amount(BFC_AMOUNT_MAX / ONE) == BFC_AMOUNT_MAX);
	CHECK(bfc_amount(BFC_AMOUNT_MAX / ONE - 1) == BFC_AMOUNT_MAX - ONE);
	CHECK(bfc_amount(BFC_AMOUNT_MAX / ONE + 1) == BFC_AMOUNT_MAX);
	CHECK(bfc_amount(~0ULL) == BFC_AMOUNT_MAX);
	CHECK(bfc_share(0) == 0);
	CHECK(bfc_share(500) == BFC_SHARE_ONE / 2);
	CHECK(bfc_share(1000) == BFC_SHARE_ONE);
	CHECK(bfc_share(800) == 52429, "%u", bfc_share(800));
	CHECK(c.t_hop == 1000 && c.keep_q == 13107 && c.keep_r == 13107);
	bfc_holt_configure(&c, 1, 900, 1000);
	CHECK(c.keep_q == 6554 && c.keep_r == 0);
}

/*
 * 1000 bytes come at once and stay. By the formulae of Alg. 1 with 0.8:
 *   q: 0.8 x 1000, then 0.8 x 1000 + 0.2 x (800 + 800), ...
 *   r: 0.8 x 1000, then 0.2 of the one before; and so for r^i
 * With qLast <- q, the smoothed one, r would go on with 320, and with the trend
 * of smoothed levels it would begin with 640.
 */
static void test_steps(void)
{
	static const s64 want[][2] = {	/* in 1/10000 byte */
		{ 8000000, 8000000 }, { 11200000, 1600000 },
		{ 10560000, 320000 }, { 10176000, 64000 },
	};
	struct bfc_holt_conf c = usual(1000);
	struct bfc_holt h;
	unsigned int i;

	bfc_holt_start(&h, &c, 5000, 0);
	bfc_holt_enqueue(&h, &c, 5200, 600);
	bfc_holt_enqueue(&h, &c, 5900, 400);
	CHECK(h.q == 0 && h.r == 0 && h.in == 0 && h.raw == 1000);
	for (i = 0; i < UNIT_SIZE(want); i++) {
		bfc_holt_advance(&h, &c, 6000 + 1000 * i + 500 * (i & 1));
		/* two units, and weights that are rounded to 2^-17 */
		CHECK(distance(h.q, want[i][0] * ONE / 10000) <= 2 + 16,
		      "step %u: q %lld", i, h.q);
		CHECK(distance(h.r, want[i][1] * ONE / 10000) <= 2 + 16,
		      "step %u: r %lld", i, h.r);
		CHECK(h.in == h.r, "step %u: nothing left", i);
		CHECK(bfc_holt_out(&h) == 0);
	}
}

/* What grows in a line is predicted exactly, whatever the weights. */
static void test_line(void)
{
	unsigned int i, k;
	u64 seed = 11;

	for (i = 0; i < 200; i++) {
		u32 bytes = unit_random(&seed) % 25000000, t_hop = 1000;
		struct bfc_holt_conf c;
		struct bfc_holt h;
		u64 now = 0;

		bfc_holt_configure(&c, t_hop, any_weight(&seed),
				   any_weight(&seed));
		bfc_holt_start(&h, &c, now, 0);
		for (k = 0; k < BFC_HOLT_STEPS; k++) {
			bfc_holt_enqueue(&h, &c, now, bytes);
			now += t_hop;
		}
		bfc_holt_advance(&h, &c, now);
		if (!CHECK(h.r == bfc_amount(bytes), "%u bytes: %lld", bytes,
			   h.r) ||
		    !CHECK(h.q == bfc_amount(h.raw), "%u bytes: %lld of %llu",
			   bytes, h.q, h.raw))
			return;
	}
}

/* Each packet is added once and subtracted once. */
static void test_once(void)
{
	struct bfc_holt_conf c = usual(1000);
	struct bfc_holt h;

	bfc_holt_start(&h, &c, 0, 0);
	bfc_holt_enqueue(&h, &c, 100, 1500);
	bfc_holt_enqueue(&h, &c, 200, 1000);
	bfc_holt_enqueue(&h, &c, 300, 64);
	bfc_holt_dequeue(&h, &c, 400, 1500);
	CHECK(h.raw == 1064, "%llu", h.raw);
	CHECK(h.fresh == 2564, "%llu", h.fresh);
	bfc_holt_dequeue(&h, &c, 500, 1000);
	CHECK(h.raw == 64, "%llu", h.raw);
	bfc_holt_dequeue(&h, &c, 2500, 64);
	CHECK(h.raw == 0, "%llu", h.raw);
	CHECK(h.fresh == 0, "%llu", h.fresh);
	bfc_holt_advance(&h, &c, 1000000);
	CHECK(h.q == 0 && h.r == 0 && h.in == 0);
}

/* An enqueue or dequeue, or only a look, as often as not after a long time. */
static bool any_event(u64 *seed, struct bfc_holt *h, u64 *now, u32 t_hop,
		      u32 *len)
{
	u64 random = unit_random(seed);

	switch (random % 16) {
	case 0:
		*now += (random >> 8) % (3000ULL * t_hop);
		break;
	case 1 ... 5:
		*now += (random >> 8) % (4ULL * t_hop);
		break;
	default:
		*now += (random >> 8) % t_hop / 4;
	}
	*len = 1 + (random >> 40) % 9000;
	if (h->raw && (random >> 4) % 2) {
		*len = *len < h->raw ? *len : h->raw;
		return false;
	}
	return true;
}

/* Steps made when a value is read are those made every T_hop, bit by bit. */
static void test_lazy(void)
{
	unsigned int i, k;
	u64 seed = 12;

	for (i = 0; i < 300; i++) {
		u32 t_hop = BFC_THOP_MIN + unit_random(&seed) % 100000, len;
		struct bfc_holt h, each;
		struct bfc_holt_conf c;
		u64 now = 777777;

		bfc_holt_configure(&c, t_hop, any_weight(&seed),
				   any_weight(&seed));
		bfc_holt_start(&h, &c, now, 0);
		each = h;
		for (k = 0; k < 100; k++) {
			bool comes = any_event(&seed, &h, &now, t_hop, &len);

			while (now - each.stamp >= t_hop) {
				each.stamp += t_hop;
				bfc_holt_step(&each, &c);
			}
			if (comes) {
				bfc_holt_enqueue(&h, &c, now, len);
				each.raw += len;
				each.fresh += len;
			} else {
				bfc_holt_dequeue(&h, &c, now, len);
				each.raw -= len;
			}
			if (!CHECK(same(&h, &each), "T_hop %u, event %u: %lld %lld %lld, not %lld %lld %lld",
				   t_hop, k, h.q, h.r, h.in, each.q, each.r,
				   each.in))
				return;
		}
	}
}

/* Return: steps until nothing changes any more. */
static unsigned int settle(struct bfc_holt *h, const struct bfc_holt_conf *c)
{
	unsigned int k;

	for (k = 0; k < 2000 && !bfc_holt_settled(h); k++) {
		bfc_holt_step(h, c);
		CHECK(h->q <= BFC_AMOUNT_MAX && h->q >= -BFC_AMOUNT_MAX);
	}
	bfc_holt_step(h, c);
	CHECK(bfc_holt_settled(h), "settled, but not at rest");
	return k;
}

static const u32 weights[] = {
	BFC_WEIGHT_MIN, 101, 500, BFC_WEIGHT_DEFAULT, BFC_WEIGHT_MAX,
};

/* From anywhere: nothing changes any more after that many steps, and with the
 * usual weights much sooner.
 */
static void test_settles(void)
{
	static const u64 raws[] = { 0, 1, 123456789, BFC_AMOUNT_MAX / ONE };
	unsigned int i, steps, most = 0, most_usual = 0;

	for (i = 0; i < 5 * 5 * 4 * 4; i++) {
		u32 alpha = weights[i % 5], beta = weights[i / 5 % 5];
		u64 raw = raws[i / 25 % 4];
		struct bfc_holt_conf c;
		struct bfc_holt h = {
			.raw = raw,
			.last = bfc_amount(raw),
			.q = i / 100 & 1 ? -BFC_AMOUNT_MAX : BFC_AMOUNT_MAX,
			.r = i / 100 & 2 ? -BFC_AMOUNT_MAX : BFC_AMOUNT_MAX,
			.in = BFC_AMOUNT_MAX,
		};

		bfc_holt_configure(&c, 1000, alpha, beta);
		steps = settle(&h, &c);
		most = steps > most ? steps : most;
		if (alpha == BFC_WEIGHT_DEFAULT && beta == BFC_WEIGHT_DEFAULT)
			most_usual = steps > most_usual ? steps : most_usual;
	}
	CHECK(most < BFC_HOLT_STEPS, "%u", most);
	CHECK(most_usual <= 25, "%u", most_usual);
}

/* A long silence is no long loop: with one this would take a day. */
static void test_silence(void)
{
	struct bfc_holt_conf c = usual(BFC_THOP_MIN);
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		struct bfc_holt h;

		bfc_holt_start(&h, &c, 0, 1000);
		bfc_holt_enqueue(&h, &c, 50, 1500);
		bfc_holt_advance(&h, &c, (1ULL << 62) + i);
		CHECK(h.q == 2500 * ONE && h.r == 0 && h.in == 0);
		CHECK((1ULL << 62) + i - h.stamp < BFC_THOP_MIN);
		CHECK(h.stamp % BFC_THOP_MIN == 0);
	}
}

/* keep x (past - seen) + seen, in 2^-32 of our unit; >> rounds down, by 2^-32 */
static s128 smooth_exactly(s128 past, s64 seen, u32 keep)
{
	s128 exact = (s128)seen * ((s128)1 << FINE);

	return exact + ((past - exact) * keep >> BFC_SHARE_SHIFT);
}

static bool near(s64 got, s128 exact, s64 units)
{
	s128 d = (s128)got * ((s128)1 << FINE) - exact;

	return d <= units * ((s128)1 << FINE) && -d <= units * ((s128)1 << FINE);
}

/* Errors stay within what the header says, however long it runs; so does r^o,
 * which is the smoothed count of bytes that left.
 */
static void test_rounding(void)
{
	unsigned int i, k;
	u64 seed = 13;

	for (i = 0; i < 300; i++) {
		u32 alpha = any_weight(&seed), beta = any_weight(&seed);
		/* of Q16 shares: what is left of one, rounded up */
		u32 keep_q = BFC_SHARE_ONE - bfc_share(alpha);
		u32 keep_r = BFC_SHARE_ONE - bfc_share(beta);
		s64 bound_r = BFC_SHARE_ONE / (BFC_SHARE_ONE - keep_r) + 1;
		s64 bound_q = BFC_SHARE_ONE * (1 + bound_r) /
			      (BFC_SHARE_ONE - keep_q) + 1;
		s128 q = 0, r = 0, in = 0, out = 0;
		struct bfc_holt_conf c;
		struct bfc_holt h;
		u64 last = 0;

		bfc_holt_configure(&c, 1000, alpha, beta);
		bfc_holt_start(&h, &c, 0, 0);
		for (k = 1; k < 600; k++) {
			u64 random = unit_random(&seed);
			u64 comes = random % 3 ? random % 200000 : 0;
			u64 leaves = (random >> 32) % 250000;

			if (leaves > h.raw)
				leaves = h.raw;
			bfc_holt_enqueue(&h, &c, h.stamp, comes);
			bfc_holt_dequeue(&h, &c, h.stamp, leaves);
			bfc_holt_advance(&h, &c, k * 1000ULL);

			q = smooth_exactly(q + r, bfc_amount(h.raw), keep_q);
			r = smooth_exactly(r, bfc_amount(h.raw) -
					   bfc_amount(last), keep_r);
			in = smooth_exactly(in, bfc_amount(comes), keep_r);
			out = smooth_exactly(out, bfc_amount(leaves), keep_r);
			last = h.raw;
			if (!CHECK(near(h.q, q, bound_q), "weights %u %u, step %u",
				   alpha, beta, k) ||
			    !CHECK(near(h.r, r, bound_r), "weight %u, step %u",
				   beta, k) ||
			    !CHECK(near(h.in, in, bound_r), "weight %u, step %u",
				   beta, k) ||
			    !CHECK(near(bfc_holt_out(&h), out, 2 * bound_r),
				   "weight %u, step %u: out %llu", beta, k,
				   bfc_holt_out(&h)))
				return;
		}
	}
}

/* An egress that sends 12500 bytes each T_hop while 20000 come. */
static void test_egress_rate(void)
{
	struct bfc_holt_conf c = usual(1000);
	struct bfc_holt h;
	unsigned int k;

	bfc_holt_start(&h, &c, 0, 0);
	for (k = 0; k < 50; k++) {
		bfc_holt_enqueue(&h, &c, k * 1000, 20000);
		bfc_holt_dequeue(&h, &c, k * 1000 + 500, 12500);
	}
	bfc_holt_advance(&h, &c, 50000);
	CHECK(h.in == 20000 * ONE && h.r == 7500 * ONE);
	CHECK(bfc_holt_out(&h) == 12500 * ONE, "%llu", bfc_holt_out(&h));
	/* none below zero by rounding */
	h.r = h.in + 1;
	CHECK(bfc_holt_out(&h) == 0);
}

/* Wherever they start, predictors step at the same times. */
static void test_grid(void)
{
	struct bfc_holt_conf c = usual(700);
	u64 start, now = 1000000;
	struct bfc_holt h, late;

	bfc_holt_start(&h, &c, now, 1000);
	for (start = now; start < now + 1400; start += 13) {
		bfc_holt_advance(&h, &c, start);
		bfc_holt_start(&late, &c, start, 1000);
		CHECK(same(&h, &late), "%llu", start);
	}
}

/* A port's predictor is the sum of those of its pairs, but for rounding. */
static void test_sum(void)
{
	struct bfc_holt pair[16], all;
	struct bfc_holt_conf c = usual(1000);
	u64 seed = 14, now = 0;
	unsigned int i, k;
	u32 len;

	bfc_holt_start(&all, &c, now, 0);
	for (i = 0; i < UNIT_SIZE(pair); i++)
		bfc_holt_start(&pair[i], &c, now, 0);
	for (k = 0; k < 20000; k++) {
		s64 q = 0, r = 0, in = 0;

		i = unit_random(&seed) % UNIT_SIZE(pair);
		if (any_event(&seed, &pair[i], &now, 1000, &len)) {
			bfc_holt_enqueue(&pair[i], &c, now, len);
			bfc_holt_enqueue(&all, &c, now, len);
		} else {
			bfc_holt_dequeue(&pair[i], &c, now, len);
			bfc_holt_dequeue(&all, &c, now, len);
		}
		for (i = 0; i < UNIT_SIZE(pair); i++) {
			bfc_holt_advance(&pair[i], &c, now);
			q += pair[i].q;
			r += pair[i].r;
			in += pair[i].in;
		}
		/* each of 17 is off by less than two units, rates by 1.25 */
		if (!CHECK(distance(q, all.q) <= 2 * 17, "event %u", k) ||
		    !CHECK(distance(r, all.r) <= 22, "event %u", k) ||
		    !CHECK(distance(in, all.in) <= 22, "event %u", k))
			return;
	}
}

/* A clock that was read before another processor's is no step. */
static void test_older_clock(void)
{
	struct bfc_holt_conf c = usual(1000);
	struct bfc_holt h, before;

	bfc_holt_start(&h, &c, 10000, 5000);
	bfc_holt_advance(&h, &c, 20000);
	before = h;
	bfc_holt_advance(&h, &c, 19999);
	bfc_holt_advance(&h, &c, 0);
	bfc_holt_advance(&h, &c, 20999);
	CHECK(same(&h, &before));
	bfc_holt_advance(&h, &c, 21000);
	CHECK(h.stamp == 21000);
}

/* The largest numbers, up and down: nothing overflows (UBSan), nothing turns. */
static void test_extremes(void)
{
	unsigned int i, k;

	for (i = 0; i < 5 * 5; i++) {
		struct bfc_holt_conf c;
		struct bfc_holt h;

		bfc_holt_configure(&c, BFC_THOP_MAX, weights[i % 5],
				   weights[i / 5]);
		bfc_holt_start(&h, &c, 0, 0);
		for (k = 1; k < 200; k++) {
			/* no packets are that large, but they get there sooner */
			h.raw = k / 5 % 2 ? ~0ULL : 0;
			h.fresh = h.raw;
			bfc_holt_advance(&h, &c, (u64)k * BFC_THOP_MAX);
			CHECK(h.q <= BFC_AMOUNT_MAX && h.q >= -BFC_AMOUNT_MAX);
			CHECK(h.r <= BFC_AMOUNT_MAX && h.r >= -BFC_AMOUNT_MAX);
			CHECK(h.in <= BFC_AMOUNT_MAX && h.in >= 0);
			CHECK(h.last == (k / 5 % 2 ? BFC_AMOUNT_MAX : 0));
			CHECK(bfc_holt_out(&h) <= 2ULL * BFC_AMOUNT_MAX);
		}
	}
}

static const struct unit_case cases[] = {
	{ "holt: units and limits", test_limits },
	{ "holt: first steps as in Alg. 1, qLast is the raw length",
	  test_steps },
	{ "holt: a line is predicted exactly", test_line },
	{ "holt: a packet is subtracted once", test_once },
	{ "holt: late steps are those made in time, bit by bit", test_lazy },
	{ "holt: settles within BFC_HOLT_STEPS", test_settles },
	{ "holt: a long silence is no long loop", test_silence },
	{ "holt: rounding errors stay within bounds", test_rounding },
	{ "holt: the egress rate follows from ingress and buildup",
	  test_egress_rate },
	{ "holt: all predictors step at the same times", test_grid },
	{ "holt: a port is the sum of its pairs", test_sum },
	{ "holt: an older clock is no step", test_older_clock },
	{ "holt: no overflow at the widest", test_extremes },
};

#include "unit_main.h"
