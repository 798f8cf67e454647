// SPDX-License-Identifier: GPL-2.0
/*
 * CaPFC's Algorithms 1 and 2 against a literal transcript of the paper's pseudo
 * code (arrays, argmax, sort), which knows nothing of the order that bfc_capfc.h
 * keeps; and a switch of several ports for the decision that combines them.
 */
#include "unit.h"
#include "bfc_capfc.h"
#include "bfc_thresh.h"

#define PORTS		64
#define NO_PORT		64
#define STEPS		200000U

static u64 below(u64 *seed, u64 n)
{
	return unit_random(seed) % n;
}

static unsigned int ones(u64 set)
{
	unsigned int n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/* ---- the paper, line by line ---- */

struct paper {
	u64 b;			/* B of this port and priority */
	u64 c[PORTS];		/* C(i) */
	u64 reached[PORTS];	/* when it got there: ties are decided by it */
	bool e[PORTS];		/* E(i) */
	u64 clock;
};

/* Return: whether i comes before k: more, or as many for longer. */
static bool before(const struct paper *p, unsigned int i, unsigned int k)
{
	return p->c[i] > p->c[k] ||
	       (p->c[i] == p->c[k] && p->reached[i] < p->reached[k]);
}

/* Alg. 2: sort, then cumulate until the ratio is passed. */
static void paper_calibrate(struct paper *p, unsigned int cut)
{
	unsigned int order[PORTS], i, k;
	u64 total = 0, sum = 0;

	for (i = 0; i < PORTS; i++) {
		total += p->c[i];
		for (k = i; k && before(p, i, order[k - 1]); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (i = 0; i < PORTS && sum * 100 < total * cut; i++) {
		sum += p->c[order[i]];
		p->e[order[i]] = true;
	}
}

/* Return: false = dropped. */
static bool paper_enqueue(struct paper *p, const struct bfc_capfc_thresh *t,
			  enum bfc_capfc_stop stop, u64 size, unsigned int in,
			  unsigned int packets)
{
	unsigned int i, star = NO_PORT;

	if (p->b + size >= t->max)				/* 2 */
		return false;
	p->b += size;						/* 6 */
	if (p->b >= t->warn) {					/* 7 */
		if (in != NO_PORT && packets) {
			p->c[in] += packets;			/* 8 */
			p->reached[in] = ++p->clock;
		}
		if (p->b > t->xoff) {				/* 9 */
			if (stop == BFC_CAPFC_STOP_CAL) {
				paper_calibrate(p, t->cut);
				return true;
			}
			for (i = 0; i < PORTS; i++)		/* 11 */
				if (p->c[i] && (star == NO_PORT ||
						before(p, i, star)))
					star = i;
			if (star != NO_PORT)
				p->e[star] = true;		/* 13 */
		}
	}
	return true;
}

static void paper_dequeue(struct paper *p, const struct bfc_capfc_thresh *t,
			  u64 size)
{
	p->b -= size;						/* 16 */
	if (p->b <= t->warn) {					/* 17 */
		memset(p->c, 0, sizeof(p->c));			/* 18 */
		if (p->b <= t->xon)				/* 19 */
			memset(p->e, 0, sizeof(p->e));		/* 20 */
	}
}

static u64 paper_e(const struct paper *p)
{
	unsigned int i;
	u64 set = 0;

	for (i = 0; i < PORTS; i++)
		set |= (u64)p->e[i] << i;
	return set;
}

/* The order that is kept, against the counts. */
static bool check_order(const struct bfc_capfc *c, const struct paper *p)
{
	bool seen[PORTS] = {};
	unsigned int i, n = 0;
	u64 total = 0;

	for (i = 0; i < PORTS; i++) {
		total += p->c[i];
		n += !!p->c[i];
		if (c->count[i] != p->c[i])
			return false;
	}
	if (c->n != n || c->total != total)
		return false;
	for (i = 0; i < n; i++) {
		u8 in = c->order[i];

		if (seen[in] || c->rank[in] != i ||
		    (i && before(p, in, c->order[i - 1])))
			return false;
		seen[in] = true;
	}
	return true;
}

/* ---- cases ---- */

static void test_check(void)
{
	static const struct {
		struct bfc_capfc_thresh t;
		enum bfc_capfc_bad bad;
	} want[] = {
		/* Table II, and §IV-C.7 */
		{ { 60000, 25000, 20000, 20000, 80 }, BFC_CAPFC_OK },
		{ { 80000, 50000, 35000, 35000, 80 }, BFC_CAPFC_OK },
		{ { 60000, 25000, 19999, 20000, 80 }, BFC_CAPFC_BAD_WARN },
		{ { 60000, 25000, 24999, 20000, 80 }, BFC_CAPFC_OK },
		{ { 60000, 25000, 25000, 20000, 80 }, BFC_CAPFC_BAD_XOFF },
		{ { 60000, 25000, 30000, 20000, 80 }, BFC_CAPFC_BAD_XOFF },
		{ { 25001, 25000, 20000, 20000, 80 }, BFC_CAPFC_OK },
		{ { 25000, 25000, 20000, 20000, 80 }, BFC_CAPFC_BAD_MAX },
		{ { 60000, 25000, 20000, 20000, 0 }, BFC_CAPFC_BAD_CUT },
		{ { 60000, 25000, 20000, 20000, 1 }, BFC_CAPFC_OK },
		{ { 60000, 25000, 20000, 20000, 100 }, BFC_CAPFC_OK },
		{ { 60000, 25000, 20000, 20000, 101 }, BFC_CAPFC_BAD_CUT },
		{ { 2, 1, 0, 0, 100 }, BFC_CAPFC_OK },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(want); i++)
		CHECK(bfc_capfc_check(&want[i].t) == want[i].bad, "%u", i);
}

/* Table II from its MAX, and from a link. */
static void test_defaults(void)
{
	struct bfc_capfc_thresh t;
	u64 seed = 41, good = 0;
	unsigned int i;

	CHECK(bfc_capfc_defaults(&t, 0, 0, 1514, 60000));
	CHECK(t.max == 60000 && t.xoff == 25000 && t.warn == 20000 &&
	      t.xon == 20000 && t.cut == 80);
	/* 10 Gbit/s, 100 us */
	CHECK(bfc_capfc_defaults(&t, 1250000000, 100000, 1514, 0));
	CHECK(t.max == 375000 && t.xoff == 156250 && t.xon == 125000 &&
	      t.warn == 125000 && t.cut == 80);
	CHECK(bfc_capfc_defaults(&t, 1000, 100, 1500, 0));
	CHECK(t.max == 18000 && t.xoff == 7500 && t.xon == 6000);
	CHECK(bfc_capfc_defaults(&t, 0, 0, 1500, 18000));
	CHECK(!bfc_capfc_defaults(&t, 0, 0, 1501, 18000));
	CHECK(!bfc_capfc_defaults(&t, 0, 0, 1500, 1));
	CHECK(!bfc_capfc_defaults(&t, 125000000000ULL, 1000000000, 1500, 0));
	for (i = 0; i < 100000; i++) {
		u64 rate = below(&seed, 125000000000ULL) >> below(&seed, 27);
		u64 hrtt = 100 + (below(&seed, 1000000000) >>
				  below(&seed, 24));
		u32 max = i % 2 ? below(&seed, 1 << 30) >> below(&seed, 20) : 0;
		u32 mtu = 60 + below(&seed, 9000);

		if (!bfc_capfc_defaults(&t, rate, hrtt, mtu, max)) {
			if (!CHECK(max || bfc_bytes_in(rate, hrtt) > 1 << 28,
				   "rate %llu hrtt %llu mtu %u", rate, hrtt,
				   mtu))
				return;
			continue;
		}
		good++;
		if (!CHECK(bfc_capfc_check(&t) == BFC_CAPFC_OK) ||
		    !CHECK(t.max <= 1 << 30) ||
		    !CHECK(t.xoff - t.xon >= mtu && t.max - t.xoff >= mtu) ||
		    !CHECK(max ? t.max == max : t.xon >= 4 * mtu &&
			   (u64)t.xon * 1000000000 + 999999999 >= rate * hrtt))
			return;
	}
	CHECK(good > 50000, "%llu", good);
}

static const struct bfc_capfc_thresh small = {
	.max = 1000, .xoff = 500, .warn = 300, .xon = 200, .cut = 80,
};

/* Each comparison of Alg. 1, at its threshold and a byte beside it. */
static void test_edges(void)
{
	const struct bfc_capfc_thresh *t = &small;
	struct bfc_capfc c = {};

	CHECK(bfc_capfc_admits(t, 999) && !bfc_capfc_admits(t, 1000));
	CHECK(!bfc_capfc_enqueue(&c, t, BFC_CAPFC_STOP_MAX, 299, 1, 1));
	CHECK(c.total == 0, "below WARN nothing is counted");
	CHECK(!bfc_capfc_enqueue(&c, t, BFC_CAPFC_STOP_MAX, 300, 1, 1));
	CHECK(c.total == 1 && c.count[1] == 1);
	CHECK(!bfc_capfc_enqueue(&c, t, BFC_CAPFC_STOP_MAX, 500, 2, 1));
	CHECK(c.signals == 0 && c.total == 2);
	CHECK(bfc_capfc_enqueue(&c, t, BFC_CAPFC_STOP_MAX, 501, 2, 1) == 4);
	CHECK(c.signals == 4);
	CHECK(!bfc_capfc_enqueue(&c, t, BFC_CAPFC_STOP_MAX, 600, 2, 1));
	CHECK(!bfc_capfc_dequeue(&c, t, 301));
	CHECK(c.total == 4 && c.signals == 4);
	CHECK(!bfc_capfc_dequeue(&c, t, 300));
	CHECK(c.total == 0 && c.n == 0 && !c.count[1] && !c.count[2]);
	CHECK(c.signals == 4, "between XON and WARN it stays paused");
	CHECK(!bfc_capfc_dequeue(&c, t, 201));
	CHECK(c.signals == 4);
	CHECK(bfc_capfc_dequeue(&c, t, 200) == 4);
	CHECK(c.signals == 0);
	CHECK(!bfc_capfc_dequeue(&c, t, 0));
}

/* §II-D: "put into congestion state one-by-one as long as congestion persists". */
static void test_one_by_one(void)
{
	struct bfc_capfc c = {};
	unsigned int i;

	for (i = 0; i < 10; i++)
		bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_MAX, 400, 7, 1);
	CHECK(bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_MAX, 600, 3, 1) ==
	      1ULL << 7);
	/* 7 is paused and brings no more; 3 must bring more than it did */
	for (i = 0; i < 9; i++)
		CHECK(!bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_MAX, 600, 3,
					 1), "%u", i);
	CHECK(bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_MAX, 600, 3, 1) ==
	      1ULL << 3);
	for (i = 0; i < 11; i++)
		CHECK(!bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_MAX, 600,
					 63, 1));
	CHECK(bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_MAX, 600, 63, 1) ==
	      1ULL << 63);
	CHECK(bfc_capfc_dequeue(&c, &small, 200) ==
	      (1ULL << 63 | 1ULL << 7 | 1ULL << 3));
}

/* Shares of 50, 30, 15 and 5 %: which set reaches which CUT? */
static void test_cut(void)
{
	static const struct {
		u8 cut;
		u64 set;
	} want[] = {
		{ 1, 0x10 }, { 50, 0x10 }, { 51, 0x12 }, { 80, 0x12 },
		{ 81, 0x1a }, { 95, 0x1a }, { 96, 0x1b }, { 100, 0x1b },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(want); i++) {
		struct bfc_capfc_thresh t = small;
		struct bfc_capfc c = {};

		t.cut = want[i].cut;
		bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 400, 0, 5);
		bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 400, 1, 30);
		bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 400, 3, 15);
		bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 500, 4, 49);
		CHECK(!c.signals);
		CHECK(bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 501, 4, 1)
		      == want[i].set, "CUT %u: %llx", want[i].cut, c.signals);
	}
}

/* No smaller set reaches CUT: all subsets of ten ports. */
static void test_smallest(void)
{
	u64 seed = 42;
	unsigned int i, k, s;

	for (i = 0; i < 300; i++) {
		struct bfc_capfc_thresh t = small;
		struct bfc_capfc c = {};
		unsigned int least = 64;
		u64 set, sum;

		t.cut = 1 + below(&seed, 100);
		for (k = 0; k < 10; k++)
			bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 400, k,
					  below(&seed, i % 2 ? 4 : 1000));
		bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 400, 9, 1);
		set = bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, 600, NO_PORT,
					1);
		for (s = 0; s < 1024; s++) {
			sum = 0;
			for (k = 0; k < 10; k++)
				sum += s >> k & 1 ? c.count[k] : 0;
			if (sum * 100 >= c.total * t.cut && ones(s) < least)
				least = ones(s);
			if (s == set)
				CHECK(sum * 100 >= c.total * t.cut,
				      "set %llx, CUT %u", set, t.cut);
		}
		CHECK(ones(set) == least, "%llx: not %u", set, least);
	}
}

/* Packets of no port fill the queue, and no port is blamed for them. */
static void test_no_port(void)
{
	struct bfc_capfc c = {};
	unsigned int i;

	for (i = 0; i < 100; i++)
		CHECK(!bfc_capfc_enqueue(&c, &small, i % 2 ? BFC_CAPFC_STOP_MAX
					 : BFC_CAPFC_STOP_CAL, 600,
					 BFC_CAPFC_NO_PORT, 1));
	CHECK(c.total == 0 && c.n == 0);
	CHECK(bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_CAL, 600, 5, 1) ==
	      1 << 5);
	CHECK(!bfc_capfc_enqueue(&c, &small, BFC_CAPFC_STOP_CAL, 600, 6, 0));
	CHECK(c.n == 1 && c.total == 1);
}

/* Random traffic, both algorithms, all thresholds that fit together. */
static void test_transcript(void)
{
	struct bfc_capfc_thresh t = small;
	u64 seed = 43, ons = 0, offs = 0, drops = 0;
	unsigned int i, ports = 8, busy = 50;
	struct paper *p = calloc(1, sizeof(*p));
	struct bfc_capfc c = {};

	if (!p)
		abort();
	for (i = 0; i < STEPS; i++) {
		enum bfc_capfc_stop stop = i / 10000 % 2;
		u64 was = c.signals, got, now;

		if (i % 5000 == 0) {	/* another mode is another start */
			CHECK(bfc_capfc_clear(&c) == was);
			CHECK(!c.signals && !c.total && !c.n);
			memset(p, 0, sizeof(*p));
			was = 0;
			ports = 1 + below(&seed, PORTS);
			t.xon = below(&seed, 20000);
			t.warn = t.xon + (below(&seed, 2) ?
					  below(&seed, 20000) : 0);
			t.xoff = t.warn + 1 + below(&seed, 20000);
			t.max = t.xoff + 1 + below(&seed, 20000);
			t.cut = 1 + below(&seed, 100);
			CHECK(bfc_capfc_check(&t) == BFC_CAPFC_OK);
		}
		if (i % 100 == 0)
			busy = 30 + below(&seed, 50);
		if (below(&seed, 100) < busy) {
			u64 size = 1 + below(&seed, 1500);
			/* some bring much more than others */
			unsigned int in = below(&seed, 10) ?
				below(&seed, 1 + below(&seed, ports)) : NO_PORT;
			unsigned int n = below(&seed, 8) ? 1 :
					 below(&seed, 40);
			u64 b = p->b + size;
			bool in_queue;

			in_queue = paper_enqueue(p, &t, stop, size, in, n);
			if (!CHECK(bfc_capfc_admits(&t, b) == in_queue))
				break;
			drops += !in_queue;
			got = in_queue ? bfc_capfc_enqueue(&c, &t, stop, b, in,
							   n) : 0;
			now = was | got;
			ons += !!got;
		} else {
			u64 size = 1 + below(&seed, 1500);

			if (size > p->b)
				size = p->b;
			paper_dequeue(p, &t, size);
			got = bfc_capfc_dequeue(&c, &t, p->b);
			now = was & ~got;
			offs += !!got;
		}
		/* what is told is what changed, and all of it */
		if (!CHECK(c.signals == paper_e(p) && c.signals == now &&
			   (was ^ now) == got,
			   "step %u: %llx, not %llx", i, c.signals,
			   paper_e(p)) ||
		    !CHECK(check_order(&c, p), "step %u", i))
			break;
	}
	free(p);
	CHECK(ons > 500 && offs > 100 && drops > 500, "%llu %llu %llu", ons,
	      offs, drops);
}

/* A port that goes leaves nothing behind; the others keep their order. */
static void test_forget(void)
{
	struct bfc_capfc_thresh t = small;
	struct paper *p = calloc(1, sizeof(*p));
	struct bfc_capfc c = {};
	u64 seed = 44, was;
	unsigned int i, in;

	if (!p)
		abort();
	p->b = 600;
	t.max = 1 << 30;
	for (i = 0; i < 20000; i++) {
		in = below(&seed, PORTS);
		if (below(&seed, 4)) {
			u64 b = ++p->b;

			paper_enqueue(p, &t, BFC_CAPFC_STOP_CAL, 0, in, 1);
			bfc_capfc_enqueue(&c, &t, BFC_CAPFC_STOP_CAL, b, in, 1);
		} else {
			was = c.signals >> in & 1;
			CHECK(bfc_capfc_forget(&c, in) == was);
			p->c[in] = 0;
			p->e[in] = false;
		}
		if (!CHECK(check_order(&c, p) && c.signals == paper_e(p),
			   "step %u", i))
			break;
	}
	free(p);
}

/* §II-E: five ports, D of port 0. */
static void test_decide(void)
{
	unsigned int o, in;

	CHECK(!bfc_capfc_decide(false, 0, 0));
	CHECK(bfc_capfc_decide(true, 0, 0));
	for (o = 1; o < 5; o++)
		CHECK(bfc_capfc_decide(false, 1ULL << o, 0));
	CHECK(!bfc_capfc_decide(false, 1, 0), "o != i");
	for (in = 0; in < PORTS; in++) {
		for (o = 0; o < PORTS; o++) {
			CHECK(bfc_capfc_decide(false, 1ULL << o, in) ==
			      (o != in));
			CHECK(bfc_capfc_decide(true, 1ULL << o, in));
		}
		CHECK(bfc_capfc_decide(false, ~0ULL, in));
	}
}

/*
 * A switch: what each egress tells of its changes is kept by the ingress ports,
 * the other way round; D of all of them against the formula.
 */
#define SWITCH	6

static void test_switch(void)
{
	struct paper *p = calloc(SWITCH, sizeof(*p));
	struct bfc_capfc *c = calloc(SWITCH, sizeof(*c));
	u64 signals[SWITCH] = {}, seed = 45, set, paused = 0;
	unsigned int i, o, in, k;

	if (!p || !c)
		abort();
	for (i = 0; i < 100000; i++) {
		o = below(&seed, SWITCH);
		if (below(&seed, 100) < (i / 1000 % 2 ? 35 : 65)) {
			u64 size = 1 + below(&seed, 40);

			in = below(&seed, SWITCH);
			in = in == o ? NO_PORT : in;
			if (!paper_enqueue(&p[o], &small, i / 50000, size, in,
					   1))
				continue;
			set = bfc_capfc_enqueue(&c[o], &small, i / 50000,
						p[o].b, in, 1);
			for (k = 0; k < SWITCH; k++)
				signals[k] |= (set >> k & 1) << o;
		} else if (p[o].b) {
			paper_dequeue(&p[o], &small, p[o].b < 20 ? p[o].b : 20);
			set = bfc_capfc_dequeue(&c[o], &small, p[o].b);
			for (k = 0; k < SWITCH; k++)
				signals[k] &= ~((set >> k & 1) << o);
		}
		for (in = 0; in < SWITCH; in++) {
			bool ingress = i % 7 == in, d = ingress;

			for (o = 0; o < SWITCH; o++)
				d |= o != in && p[o].e[in];
			paused += d;
			if (!CHECK(bfc_capfc_decide(ingress, signals[in], in)
				   == d, "step %u: port %u", i, in))
				goto out;
		}
	}
	CHECK(paused > 50000 && paused < SWITCH * 90000, "%llu", paused);
out:
	free(p);
	free(c);
}

static const struct unit_case cases[] = {
	{ "capfc: which relation of the thresholds does not hold",
	  test_check },
	{ "capfc: defaults in the proportions of Table II", test_defaults },
	{ "capfc: each threshold of Alg. 1, to the byte", test_edges },
	{ "capfc: Stop-Max stops one by one", test_one_by_one },
	{ "capfc: Stop-Calibrate stops what reaches CUT", test_cut },
	{ "capfc: Stop-Calibrate stops no more ports than needed",
	  test_smallest },
	{ "capfc: packets of no port are not counted", test_no_port },
	{ "capfc: the pseudo code, literally, and random traffic",
	  test_transcript },
	{ "capfc: a port that goes is forgotten", test_forget },
	{ "capfc: D = I or E of other ports", test_decide },
	{ "capfc: a switch that hears of changes only", test_switch },
};

#include "unit_main.h"
