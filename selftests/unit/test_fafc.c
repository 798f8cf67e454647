// SPDX-License-Identifier: GPL-2.0
/*
 * FAFC's decisions: when to mark and to pause, which rates to believe, and what a
 * host makes of a pause.
 */
#include "unit.h"
#include "bfc_fafc.h"

#define HOP	1000U			/* T_hop, ns */
#define ONE	(1LL << BFC_AMOUNT_SHIFT)	/* a byte */
#define LINE	(12500 * ONE)		/* 100 Gbit/s: amount per T_hop */
#define KB	1000ULL

static struct bfc_alloc a;

static const struct bfc_holt_conf conf = {
	.t_hop = HOP, .keep_q = 13107, .keep_r = 13107,
};

static void test_predict(void)
{
	struct bfc_holt e = { .q = 300 * ONE, .r = 25 * ONE };

	CHECK(bfc_fafc_predict(&e, 0) == 350 * ONE);
	CHECK(bfc_fafc_predict(&e, 7 * ONE) == 357 * ONE);
	CHECK(bfc_fafc_predict(&e, -60 * ONE) == 290 * ONE);
	e.r = -200 * ONE;
	CHECK(bfc_fafc_predict(&e, 0) == -100 * ONE);
	/* a line, two T_hop ahead */
	bfc_holt_start(&e, &conf, 0, 0);
	for (; e.stamp < 100 * HOP; bfc_holt_advance(&e, &conf, e.stamp + HOP))
		bfc_holt_enqueue(&e, &conf, e.stamp, 5000);
	CHECK(bfc_fafc_predict(&e, 0) == bfc_amount(e.raw + 2 * 5000));
}

/* Over the threshold, not at it; each by itself. */
static void test_thresholds(void)
{
	const u64 ecn = 200 * KB, pause = 350 * KB;
	struct bfc_holt e = { .r = 10 };

	e.q = bfc_amount(ecn) - 20;
	CHECK(bfc_fafc_check(&e, 0, ecn, 0, pause) == 0);
	CHECK(bfc_fafc_check(&e, 1, ecn, 0, pause) == BFC_FAFC_MARK);
	e.q = bfc_amount(pause) - 20;
	CHECK(bfc_fafc_check(&e, 0, ecn, 0, pause) == BFC_FAFC_MARK);
	CHECK(bfc_fafc_check(&e, 1, ecn, 0, pause) ==
	      (BFC_FAFC_MARK | BFC_FAFC_PAUSE));
	/* pauses sent before count, and so does what comes after them */
	CHECK(bfc_fafc_check(&e, -bfc_amount(150 * KB), ecn, 0, pause) == 0);
	CHECK(bfc_fafc_check(&e, -bfc_amount(150 * KB) + 1, ecn, 0, pause) ==
	      BFC_FAFC_MARK);
	/* the ECN offset raises one threshold, not the other */
	CHECK(bfc_fafc_check(&e, 1, ecn, 150 * KB - 1, pause) ==
	      (BFC_FAFC_MARK | BFC_FAFC_PAUSE));
	CHECK(bfc_fafc_check(&e, 1, ecn, 151 * KB, pause) == BFC_FAFC_PAUSE);
	/* a queue that does not grow is not paused, marked it may be */
	e.q = bfc_amount(400 * KB);
	e.r = 0;
	CHECK(bfc_fafc_check(&e, 0, ecn, 0, pause) == BFC_FAFC_MARK);
	e.r = -1;
	CHECK(bfc_fafc_check(&e, 0, ecn, 0, pause) == BFC_FAFC_MARK);
	e.r = 1;
	CHECK(bfc_fafc_check(&e, 0, ecn, 0, pause) ==
	      (BFC_FAFC_MARK | BFC_FAFC_PAUSE));
	/* nor is one that will have gone */
	e.q = 0;
	e.r = -LINE;
	CHECK(bfc_fafc_check(&e, 0, 0, 0, 0) == 0);
}

/* A queue of exactly the threshold's length, one packet leaves, one comes: taken
 * out twice, it would look a packet shorter each time.
 */
static void test_leaves_once(void)
{
	struct bfc_holt e;
	unsigned int i;

	bfc_holt_start(&e, &conf, 0, 0);
	for (i = 0; i < 201; i++)
		bfc_holt_enqueue(&e, &conf, 0, KB);
	for (i = 1; i < 200; i++) {
		bfc_holt_enqueue(&e, &conf, i * HOP, KB);
		bfc_holt_dequeue(&e, &conf, i * HOP, KB);
	}
	CHECK(e.raw == 201 * KB, "%llu", e.raw);
	CHECK(bfc_fafc_check(&e, 0, 201 * KB - 1, 0, ~0ULL) == BFC_FAFC_MARK);
	CHECK(bfc_fafc_check(&e, 0, 201 * KB, 0, ~0ULL) == 0);
}

/* A long queue is congested. That it is all of egress k that is looked at, and not the
 * part that one ingress has in it, shows no_harm_to_a_long_queue of
 * selftests/net/fafc.sh.
 */
static void test_congested(void)
{
	const u64 limit = 100 * KB;
	struct bfc_holt k = { .q = bfc_amount(limit), .raw = 500 * KB };

	CHECK(!bfc_fafc_is_congested(k.q, limit));
	k.q = bfc_amount(limit) + 1;
	CHECK(bfc_fafc_is_congested(k.q, limit));
	k.q = bfc_amount(500 * KB);
	CHECK(bfc_fafc_is_congested(k.q, limit));
	k.q = -k.q;
	CHECK(!bfc_fafc_is_congested(k.q, limit), "it will have been empty");
}

static void test_again(void)
{
	CHECK(!bfc_fafc_again(1000000, 0, HOP), "never paused");
	CHECK(!bfc_fafc_again(HOP, 0, HOP), "and the clock is young");
	CHECK(bfc_fafc_again(1000000, 1000000, HOP));
	CHECK(bfc_fafc_again(1000000, 999000, HOP));
	CHECK(bfc_fafc_again(1000000, 996000, HOP));
	CHECK(!bfc_fafc_again(1000000, 995999, HOP));
	CHECK(bfc_fafc_again(1000000, 1000500, HOP), "an older clock");
	CHECK(bfc_fafc_again(5ULL * BFC_THOP_MAX, BFC_THOP_MAX, BFC_THOP_MAX));
}

static u64 kept(void)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < a.ports; i++)
		sum += a.port[i].rate * a.port[i].pause;
	return sum;
}

static void incast(unsigned int ports, u64 rate, u32 f_dec)
{
	unsigned int i;

	bfc_alloc_clear(&a);
	for (i = 0; i < ports; i++)
		bfc_alloc_add(&a, bfc_fafc_decrease(rate, f_dec), 0);
}

/* 4 lines into one: three must not come. If hosts send half of it by now, one.
 * With f_dec on the left alone it would be all of them.
 */
static void test_decrease(void)
{
	u32 permille;

	incast(4, LINE, BFC_SHARE_ONE);
	CHECK(bfc_fafc_solve(&a, LINE, 0, HOP) == 0);
	CHECK(a.port[0].pause == 750 && a.port[3].pause == 750);

	incast(4, LINE, bfc_share(500));
	CHECK(bfc_fafc_solve(&a, LINE, 0, HOP) == 0);
	CHECK(a.port[0].pause == 500 && a.port[3].pause == 500, "%u",
	      a.port[0].pause);

	/* what printed line 13 would make of it */
	incast(4, LINE, bfc_share(500));
	CHECK(bfc_alloc_solve(&a, 3 * LINE, HOP) == (u64)LINE);
	CHECK(a.port[0].pause == HOP);

	/* Equation (7) with the decreased rates: what is let in is what is sent. */
	for (permille = 1000; permille >= 300; permille -= 100) {
		u64 rate = bfc_fafc_decrease(LINE, bfc_share(permille));

		incast(4, LINE, bfc_share(permille));
		CHECK(bfc_fafc_solve(&a, LINE, 0, HOP) == 0);
		CHECK(4 * rate * (HOP - a.port[0].pause) <= (u64)LINE * HOP &&
		      4 * rate * (HOP + 1 - a.port[0].pause) > (u64)LINE * HOP,
		      "f_dec %u: %u", permille, a.port[0].pause);
	}
	/* With 0.8 an overload of 25 % is none, as hosts send that much less. */
	bfc_alloc_clear(&a);
	bfc_alloc_add(&a, bfc_fafc_decrease(LINE + LINE / 5, bfc_share(800)), 0);
	CHECK(bfc_fafc_solve(&a, LINE, 0, HOP) == 0 && kept() == 0);
	bfc_alloc_clear(&a);
	bfc_alloc_add(&a, bfc_fafc_decrease(LINE + LINE / 3, bfc_share(800)), 0);
	CHECK(bfc_fafc_solve(&a, LINE, 0, HOP) == 0 && kept() > 0);

	/* so little that nothing piles up any more */
	incast(4, LINE, bfc_share(250));
	CHECK(bfc_fafc_solve(&a, LINE, 0, HOP) == 0);
	CHECK(kept() == 0);
	CHECK(bfc_fafc_decrease(BFC_AMOUNT_MAX, BFC_SHARE_ONE) ==
	      BFC_AMOUNT_MAX);
	CHECK(bfc_fafc_decrease(1000, bfc_share(800)) == 800);
	CHECK(bfc_fafc_decrease(0, bfc_share(800)) == 0);
}

/* The less f_dec lets us believe, the shorter the pauses: never longer. */
static void test_decrease_shortens(void)
{
	u32 pause[BFC_ALLOC_PORTS], permille, f_dec;
	u64 seed = 41, rate[16], other[16], out, sum;
	unsigned int i, k;

	for (i = 0; i < 3000; i++) {
		s64 offset;

		sum = 0;
		for (k = 0; k < 16; k++) {
			/* multiples of 2^16: a share of them is a whole one */
			rate[k] = (unit_random(&seed) % 1000) << 16;
			other[k] = k & 1 ? unit_random(&seed) % 1000000 : 0;
			sum += rate[k];
			pause[k] = HOP;
		}
		out = unit_random(&seed) % (sum + 1);
		offset = unit_random(&seed) % (2 * out + 1);
		offset -= out;
		for (permille = 1000; permille; permille -= 100) {
			f_dec = bfc_share(permille);
			bfc_alloc_clear(&a);
			for (k = 0; k < 16; k++)
				bfc_alloc_add(&a, bfc_fafc_decrease(rate[k], f_dec),
					      other[k]);
			bfc_fafc_solve(&a, out, offset, HOP);
			for (k = 0; k < 16; k++) {
				if (!CHECK(a.port[k].pause <= pause[k],
					   "problem %u, f_dec %u: port %u has %u, not %u",
					   i, permille, k, a.port[k].pause,
					   pause[k]))
					return;
				pause[k] = a.port[k].pause;
			}
		}
	}
}

static void test_solve(void)
{
	/* the offset is part of what must be kept away */
	incast(4, LINE, BFC_SHARE_ONE);
	CHECK(bfc_fafc_solve(&a, LINE, LINE / 2, HOP) == 0);
	CHECK(a.port[0].pause == 875);
	CHECK(bfc_fafc_solve(&a, LINE, -LINE, HOP) == 0);
	CHECK(a.port[0].pause == 500);
	CHECK(bfc_fafc_solve(&a, LINE, -3 * LINE, HOP) == 0);
	CHECK(kept() == 0);
	/* more than all of them send */
	CHECK(bfc_fafc_solve(&a, LINE, 2 * LINE, HOP) == (u64)LINE);
	CHECK(a.port[0].pause == HOP);
	/* a queue that shrinks, whatever comes back */
	CHECK(bfc_fafc_solve(&a, 4 * LINE, 2 * LINE, HOP) == 0);
	CHECK(kept() == 0);
	CHECK(bfc_fafc_solve(&a, 4 * LINE + 1, 2 * LINE, HOP) == 0);
	CHECK(kept() == 0);
	CHECK(bfc_fafc_solve(&a, 4 * LINE - 4, 0, HOP) == 0);
	CHECK(a.port[0].pause == 1);
}

/* Alg. 4: what comes while the port is paused raises the threshold, and it comes
 * down with the queue, to 0 and not before.
 */
static void test_ecn(void)
{
	u64 offset = 0, queued = 30 * KB;
	unsigned int i;

	bfc_ecn_enqueue(&offset, 1500, false);
	CHECK(offset == 0);
	bfc_ecn_dequeue(&offset, queued);
	CHECK(offset == 0, "a long queue is no reason");

	for (i = 0; i < 40; i++) {
		bfc_ecn_enqueue(&offset, KB, true);
		queued += KB;
	}
	CHECK(offset == 40 * KB);
	/* resumed: 70 kB leave, packets keep coming */
	for (i = 0; i < 40; i++) {
		queued -= KB;
		bfc_ecn_dequeue(&offset, queued);
		CHECK(offset == (queued < 40 * KB ? queued : 40 * KB));
	}
	for (i = 0; i < 20; i++) {	/* the least seen stays */
		queued += KB;
		bfc_ecn_enqueue(&offset, KB, false);
		bfc_ecn_dequeue(&offset, queued);
		CHECK(offset == 30 * KB);
	}
	bfc_ecn_dequeue(&offset, 0);
	CHECK(offset == 0);
	bfc_ecn_dequeue(&offset, 50 * KB);
	CHECK(offset == 0);
}

static void test_pace(void)
{
	const u64 rate = 12500000000ULL, floor = rate / 100;

	CHECK(bfc_fafc_pace(rate, 0, HOP, floor) == rate);
	CHECK(bfc_fafc_pace(rate, 1, HOP, floor) == rate / 1000 * 999);
	CHECK(bfc_fafc_pace(rate, HOP / 2, HOP, floor) == rate / 2);
	CHECK(bfc_fafc_pace(rate, 980, HOP, floor) == rate / 50);
	/* a flow is never stopped: nothing would set it going again */
	CHECK(bfc_fafc_pace(rate, 999, HOP, floor) == floor);
	CHECK(bfc_fafc_pace(rate, HOP, HOP, floor) == floor);
	/* of a neighbour with a longer T_hop */
	CHECK(bfc_fafc_pace(rate, HOP + 1, HOP, floor) == floor);
	CHECK(bfc_fafc_pace(rate, ~0U, HOP, floor) == floor);
	/* the floor raises no rate */
	CHECK(bfc_fafc_pace(1000, 500, HOP, floor) == 1000);
	CHECK(bfc_fafc_pace(0, 500, HOP, floor) == 0);
	CHECK(bfc_fafc_pace(rate, 500, HOP, 0) == rate / 2);
	CHECK(bfc_fafc_pace(rate, HOP, HOP, 0) == 0, "as asked for");
	/* 1 Tbit/s and a second */
	CHECK(bfc_fafc_pace(125000000000ULL, BFC_THOP_MAX / 4, BFC_THOP_MAX,
			    1) == 93750000000ULL);
	CHECK(bfc_fafc_pace((1ULL << 48) - 1, 1, BFC_THOP_MAX, 1) ==
	      (1ULL << 48) - 1 - 281475, "%llu",
	      bfc_fafc_pace((1ULL << 48) - 1, 1, BFC_THOP_MAX, 1));
}

/* From the floor to the link's speed in BFC_FAFC_RECOVER T_hop, and no further. */
static void test_recover(void)
{
	const u64 link = 12500000000ULL, floor = bfc_fafc_floor(link);

	CHECK(floor == link / 32 + 1);
	CHECK(bfc_fafc_floor(0) == 1);
	CHECK(bfc_fafc_recover(floor, link, 0, HOP) == floor);
	CHECK(bfc_fafc_recover(floor, link, HOP, HOP) == floor + link / 32);
	CHECK(bfc_fafc_recover(floor, link, 16 * HOP, HOP) == floor + link / 2);
	CHECK(bfc_fafc_recover(floor, link, 31 * HOP, HOP) == link);
	CHECK(bfc_fafc_recover(1, link, 32ULL * HOP - 1, HOP) < link);
	CHECK(bfc_fafc_recover(1, link, 32ULL * HOP, HOP) == link);
	CHECK(bfc_fafc_recover(1, link, ~0ULL, HOP) == link);
	CHECK(bfc_fafc_recover(1, link, 1ULL << 48, HOP) == link, "too wide");
	CHECK(bfc_fafc_recover(link, link, 1, HOP) == link);
	/* the link has become slower meanwhile */
	CHECK(bfc_fafc_recover(link, link / 10, 0, HOP) == link / 10);
	CHECK(bfc_fafc_recover(1, 125000000000ULL, 16ULL * BFC_THOP_MAX,
			       BFC_THOP_MAX) == 62500000001ULL);
}

static void test_default_threshold(void)
{
	/* 100 Gbit/s, 2 us: 25 kB in an HRTT */
	CHECK(bfc_fafc_threshold(12500000000ULL, 2000, 1514) == 200000);
	/* never less than some frames: 8 Gbit/s, almost 32 of them; 1 Mbit/s */
	CHECK(bfc_fafc_threshold(1000000000, 5961, 1514) == 32 * 1514);
	CHECK(bfc_fafc_threshold(125000, 2000, 1514) == 32 * 1514);
	CHECK(bfc_fafc_threshold(125000, 2000, 9014) == 32 * 9014);
	/* 1 Tbit/s and a second are more than the option takes */
	CHECK(bfc_fafc_threshold(BFC_RATE_MAX, BFC_HRTT_MAX, 1514) ==
	      BFC_THRESHOLD_MAX);
}

static const struct unit_case cases[] = {
	{ "fafc: qPred = q + 2 r T_hop + pauseOffset", test_predict },
	{ "fafc: marks and pauses over the thresholds", test_thresholds },
	{ "fafc: a packet that leaves is taken out once", test_leaves_once },
	{ "fafc: no victims where the whole queue is over th_c",
	  test_congested },
	{ "fafc: a pause within 4 T_hop of another follows it", test_again },
	{ "fafc: f_dec is on both sides", test_decrease },
	{ "fafc: f_dec lengthens no pause", test_decrease_shortens },
	{ "fafc: pauses for what builds up, and what comes back", test_solve },
	{ "fafc: the ECN offset rises in pauses and falls with the queue",
	  test_ecn },
	{ "fafc: a host slows down, but never to nothing", test_pace },
	{ "fafc: a host that is not paused speeds up", test_recover },
	{ "fafc: a threshold if none is given", test_default_threshold },
};

#include "unit_main.h"
