// SPDX-License-Identifier: GPL-2.0
/*
 * PFC's thresholds and headroom: against definitions, against a link simulated
 * byte by byte, and the rule for several processors in all orders of events.
 */
#include "unit.h"
#include "bfc_pfc.h"
#include "bfc_thresh.h"

#define SEC	1000000000ULL
#define WALK	300000U

typedef unsigned __int128 u128;

static u64 below(u64 *seed, u64 n)
{
	return unit_random(seed) % n;
}

/* ---- thresholds ---- */

static void test_check(void)
{
	static const struct {
		struct bfc_pfc_thresh t;
		enum bfc_pfc_bad bad;
	} want[] = {
		/* CaPFC Table II, ingress */
		{ { .max = 60000, .xoff = 50000, .xon = 40000,
		    .headroom = 10000 }, BFC_PFC_OK },
		{ { .max = 60000, .xoff = 50000, .xon = 40000,
		    .headroom = 10001 }, BFC_PFC_BAD_HEADROOM },
		{ { .max = 60000, .xoff = 50000, .xon = 49999 }, BFC_PFC_OK },
		{ { .max = 60000, .xoff = 50000, .xon = 50000 },
		  BFC_PFC_BAD_XON },
		{ { .max = 60000, .xoff = 50000, .xon = 50001 },
		  BFC_PFC_BAD_XON },
		{ { .max = 60000, .xoff = 59999, .xon = 1 }, BFC_PFC_OK },
		{ { .max = 60000, .xoff = 60000, .xon = 1 },
		  BFC_PFC_BAD_XOFF },
		{ { .max = 60000, .xoff = 70000, .xon = 1 },
		  BFC_PFC_BAD_XOFF },
		{ { .xoff = 1, .xon = 0, .headroom = 1 << 29 }, BFC_PFC_OK },
		{ { .xoff = 0, .xon = 0 }, BFC_PFC_BAD_XON },
		{ { .alpha = BFC_ALPHA_HPCC, .gap = 3000 }, BFC_PFC_OK },
		{ { .alpha = BFC_ALPHA_HPCC }, BFC_PFC_BAD_XON },
		{ { .alpha = BFC_ALPHA_MAX, .gap = 1 }, BFC_PFC_OK },
		{ { .alpha = BFC_ALPHA_MAX + 1, .gap = 1 },
		  BFC_PFC_BAD_ALPHA },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(want); i++)
		CHECK(bfc_pfc_check(&want[i].t) == want[i].bad, "%u", i);
}

/* CaPFC Fig. 3, and the values of Table II. */
static void test_figure(void)
{
	const struct bfc_pfc_thresh t = {
		.max = 60000, .xoff = 50000, .xon = 40000,
	};
	static const struct {
		u32 held;
		bool paused;
	} curve[] = {
		{ 0, false }, { 40000, false }, { 45000, false },
		{ 50000, false }, { 50001, true }, { 59999, true },
		{ 50000, true }, { 40001, true }, { 40000, false },
		{ 40001, false }, { 50000, false }, { 50001, true },
		{ 0, false },
	};
	bool paused = false;
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(curve); i++) {
		paused = bfc_pfc_next(&t, paused, curve[i].held, 0, i * 12345);
		CHECK(paused == curve[i].paused, "%u: %u bytes", i,
		      curve[i].held);
	}
}

/* HPCC §5.1: an ingress queue that takes more than 11 % of the free buffer. */
static void test_dynamic(void)
{
	const struct bfc_pfc_thresh t = {
		.alpha = BFC_ALPHA_HPCC, .gap = 3000,
		.xoff = 7, .xon = 5,	/* not used */
	};
	u32 free = 1000000;

	CHECK(BFC_ALPHA_HPCC == 110000);
	CHECK(bfc_pfc_xoff_at(&t, free) == 110000);
	CHECK(bfc_pfc_xon_at(&t, free) == 107000);
	CHECK(!bfc_pfc_next(&t, false, 110000, 0, free));
	CHECK(bfc_pfc_next(&t, false, 110001, 0, free));
	CHECK(bfc_pfc_next(&t, true, 107001, 0, free));
	CHECK(!bfc_pfc_next(&t, true, 107000, 0, free));
	/* others take what is free: the same 60 KB are too much then */
	CHECK(!bfc_pfc_next(&t, false, 60000, 0, 600000));
	CHECK(bfc_pfc_next(&t, false, 60000, 0, 500000));
	/* a full buffer: only a port that holds nothing may go on */
	CHECK(bfc_pfc_next(&t, false, 1, 0, 0));
	CHECK(bfc_pfc_next(&t, true, 1, 0, 0));
	CHECK(!bfc_pfc_next(&t, true, 0, 0, 0));
	CHECK(bfc_pfc_xon_at(&t, 27272) == 0);
	CHECK(bfc_pfc_xon_at(&t, 27282) == 1);
	CHECK(bfc_pfc_xoff_at(&t, 1U << 30) == 118111600);
	CHECK(bfc_alpha_share(BFC_ALPHA_MAX, BFC_POOL_MAX) == 1ULL << 40);
}

/* As long as the headroom is not all free, the next pause has too little. */
static void test_headroom_taken(void)
{
	const struct bfc_pfc_thresh t = { .xoff = 50000, .xon = 40000 };

	CHECK(bfc_pfc_next(&t, false, 0, 1, 0));
	CHECK(bfc_pfc_next(&t, true, 0, 1, 0));
	CHECK(!bfc_pfc_next(&t, true, 0, 0, 0));
}

/* A random walk; the state as Fig. 3 defines it, from the history alone. */
static void test_walk(void)
{
	struct bfc_pfc_thresh t = {};
	bool paused = false, over = false;
	u64 seed = 21, changes = 0;
	u32 held = 0, free = 0;
	unsigned int i;

	for (i = 0; i < WALK; i++) {
		u64 xoff, xon;
		bool next;

		if (i % 1000 == 0) {
			t.alpha = i / 1000 % 2 ? below(&seed, 2000000) + 1 : 0;
			t.gap = below(&seed, 10000) + 1;
			t.xoff = below(&seed, 30000) + 1;
			t.xon = below(&seed, t.xoff);
			CHECK(bfc_pfc_check(&t) == BFC_PFC_OK);
			free = below(&seed, 100000);
			held = below(&seed, 40000);
		}
		held += below(&seed, 9000);
		held -= held < 4500 ? held : below(&seed, 9000) % (held + 1);
		if (t.alpha)
			free += below(&seed, 3000) - (free < 3000 ? 0 : 1500);
		xoff = t.alpha ? (u64)free * t.alpha / 1000000 : t.xoff;
		xon = t.alpha ? (xoff < t.gap ? 0 : xoff - t.gap) : t.xon;
		if (held > xoff)
			over = true;
		else if (held <= xon)
			over = false;
		next = bfc_pfc_next(&t, paused, held, 0, free);
		changes += next != paused;
		paused = next;
		if (!CHECK(paused == over, "step %u: %u bytes, %llu to %llu", i,
			   held, xon, xoff))
			return;
	}
	CHECK(changes > 1000, "%llu", changes);
}

/* A packet more or less around a threshold does not change the state twice. */
static void test_hysteresis(void)
{
	struct bfc_pfc_thresh t = { .xoff = 50000, .xon = 40000 };
	unsigned int i, changes = 0, mode;

	for (mode = 0; mode < 2; mode++) {
		bool paused = false, next;

		t.alpha = mode ? 100000 : 0;
		t.gap = 10000;
		changes = 0;
		for (i = 0; i < 1000; i++) {
			next = bfc_pfc_next(&t, paused, 50000 + (i % 2) * 1500,
					    0, 500000 - i % 7);
			changes += next != paused;
			paused = next;
		}
		CHECK(changes == 1, "mode %u: %u", mode, changes);
	}
}

/* ---- headroom ---- */

/* Against the product in a wider type, without a division. */
static void test_bytes(void)
{
	static const u64 edge[] = {
		0, 1, 999999999, SEC, SEC + 1, 125000000000ULL, 4 * SEC,
	};
	u64 seed = 24;
	unsigned int i, k;

	for (i = 0; i < 200000; i++) {
		u64 rate = below(&seed, 125000000001ULL) >> below(&seed, 37);
		u64 ns = below(&seed, 10000 * SEC) >> below(&seed, 44);
		u64 got;
		u128 want;

		k = i % (UNIT_SIZE(edge) + 5);
		rate = k < UNIT_SIZE(edge) - 1 ? edge[k] : rate;
		k = i / 16 % (UNIT_SIZE(edge) + 5);
		ns = k < UNIT_SIZE(edge) ? edge[k] : ns;
		got = bfc_bytes_in(rate, ns);
		want = (u128)rate * ns;
		if (!CHECK((u128)got * SEC <= want &&
			   (u128)(got + 1) * SEC > want,
			   "rate %llu, %llu ns: %llu", rate, ns, got))
			return;
	}
	CHECK(bfc_bytes_in(1000000000, 5391) == 5391);
	CHECK(bfc_bytes_in(12500000000ULL, 2000) == 25000);
}

/* What headroom depends on: bytes, bytes/s and ns. */
struct link {
	u64 rate;
	u64 prop;	/* one way */
	u64 local;	/* from XOFF to the PFC frame being the next on our link */
	u64 response;	/* from that being there to no frame being begun */
	u32 mtu;
	u32 ring;	/* what a pause does not stop: held by the neighbour's driver */
};

/*
 * A neighbour that sends frames of one size without a gap, and a receiver that
 * lets nothing out. Times are of the receiver's clock in bytes of the link, that
 * is ns at 1 GB/s. Frame k is there completely at phase + (k + 1) * slot. What
 * lies in the receiver when all is quiet, beyond XOFF?
 */
static u64 arrives(const struct link *l, u32 size, u64 xoff, u64 phase)
{
	u64 slot = size + 24, crossed = xoff / size, at, stop, frames;

	/* The frame that crosses XOFF: it is there, and counted. */
	at = phase + (crossed + 1) * slot;
	/* Our frame was begun just before; then comes the PFC frame. */
	at += l->local + l->mtu + 24 + 84;
	/* It is at the neighbour's, who begins no frame after that. */
	stop = at + l->prop + l->response;
	/* Frame k began at phase + k * slot - prop there. */
	frames = (stop + l->prop - phase) / slot + 1;
	/* What its driver holds is sent all the same. */
	frames += l->ring / size;
	return frames * size - xoff;
}

static void test_headroom(void)
{
	static const u32 sizes[] = { 60, 61, 64, 100, 577, 1514, 9014 };
	static const u64 times[] = { 0, 1, 500, 5000, 100000 };
	u64 seed = 22;
	unsigned int i, k, n;

	for (i = 0; i < 4000; i++) {
		struct link l = {
			.rate = 1000000000,
			.prop = times[below(&seed, UNIT_SIZE(times))],
			.local = times[below(&seed, UNIT_SIZE(times))],
			.response = times[below(&seed, UNIT_SIZE(times))],
			.mtu = sizes[below(&seed, UNIT_SIZE(sizes))],
		};
		u64 room, worst = 0;

		l.ring = below(&seed, 8) * l.mtu;
		room = l.ring +
		       bfc_pfc_headroom_auto(l.rate,
					     2 * l.prop + l.local + l.response,
					     l.mtu);
		for (k = 0; k < UNIT_SIZE(sizes) && sizes[k] <= l.mtu; k++) {
			for (n = 0; n < 40; n++) {
				u32 size = sizes[k];
				u64 got = arrives(&l, size,
						  below(&seed, 100 * size),
						  below(&seed, size + 24));

				if (got > worst)
					worst = got;
			}
		}
		if (!CHECK(worst <= room,
			   "prop %llu local %llu response %llu mtu %u ring %u: %llu of %llu",
			   l.prop, l.local, l.response, l.mtu, l.ring, worst,
			   room))
			return;
		/* Nor is it much more: gaps, and one frame of luck. */
		if (!CHECK(worst + l.mtu + 24 + room * 24 / (l.mtu + 24) + 84 >=
			   room,
			   "prop %llu local %llu response %llu mtu %u ring %u: only %llu of %llu",
			   l.prop, l.local, l.response, l.mtu, l.ring, worst,
			   room))
			return;
	}
}

/* In numbers: 10 Gbit/s, 100 m, the response time of hardware, 1500 bytes. */
static void test_headroom_numbers(void)
{
	/* 2020 bytes of time, 3 frames, the own overhead, the PFC frame */
	CHECK(bfc_pfc_headroom_auto(1250000000, 2 * 500 + 616, 1514) ==
	      2020 + 1 + 3 * 1514 + 24 + 84);
	CHECK(bfc_pfc_headroom_auto(1250000000, 2 * 500 + 616 + 8, 1514) ==
	      2030 + 1 + 3 * 1514 + 24 + 84);
	/* software: 100 us */
	CHECK(bfc_pfc_headroom_auto(1250000000, 100000, 1514) ==
	      125000 + 1 + 3 * 1514 + 24 + 84);
	/* an HRTT that is not a whole number of bytes */
	CHECK(bfc_pfc_headroom_auto(1250000, 100, 60) ==
	      0 + 1 + 180 + 24 + 84);
	/* 1 Tbit/s and a second do not overflow */
	CHECK(bfc_pfc_headroom_auto(125000000000ULL, SEC, 9014) ==
	      125000000000ULL + 1 + 3 * 9014 + 24 + 84);
}

/* CaPFC Table II: XOFF 50, XON 40 KB; and the gap is two frames at least. */
static void test_gap(void)
{
	CHECK(bfc_pfc_gap(50000, 1514) == 10000);
	CHECK(bfc_pfc_gap(50001, 1514) == 10001);
	CHECK(bfc_pfc_gap(15140, 1514) == 3028);
	CHECK(bfc_pfc_gap(15141, 1514) == 3029);
	CHECK(bfc_pfc_gap(3029, 1514) == 3028);
	CHECK(bfc_pfc_gap(0, 1514) == 3028);
}

/* XOFF is MAX without the headroom or, without a MAX, follows from the link; XON is the
 * gap below it. Return: whether there is room for that.
 */
static bool defaults(struct bfc_pfc_thresh *t, u64 rate, u64 hrtt, u32 mtu,
		     u32 max)
{
	u64 headroom = bfc_pfc_headroom_auto(rate, hrtt, mtu), xoff, gap;

	if (max && max < headroom)
		return false;
	xoff = max ? max - headroom : bfc_pfc_xoff_auto(rate, hrtt, mtu);
	gap = bfc_pfc_gap(xoff, mtu);
	if (xoff + headroom > BFC_POOL_MAX || gap > xoff)
		return false;
	*t = (struct bfc_pfc_thresh) {
		.max = xoff + headroom, .xoff = xoff, .xon = xoff - gap,
		.headroom = headroom, .gap = gap,
	};
	return true;
}

/* Whatever follows from link and buffer fits together, and does not run dry. */
static void test_defaults(void)
{
	u64 seed = 23, good = 0;
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		u64 rate = 1000 + (below(&seed, 125000000000ULL) >>
				   below(&seed, 27));
		u64 hrtt = 100 + (below(&seed, SEC) >> below(&seed, 24));
		u32 mtu = 60 + below(&seed, 9000);
		u32 max = i % 2 ? 1 + (below(&seed, 1 << 30) >>
				       below(&seed, 20)) : 0;
		u64 room = bfc_pfc_headroom_auto(rate, hrtt, mtu);
		u64 bdp = room - (1 + 3ULL * mtu + 24 + 84);
		struct bfc_pfc_thresh t;
		bool fits = defaults(&t, rate, hrtt, mtu, max);

		if (!fits) {
			if (!CHECK(max ? max < room + 2 * mtu :
				   room + bdp + bdp / 4 > 1 << 30 ||
				   room + 4 * mtu > 1 << 30,
				   "rate %llu hrtt %llu mtu %u max %u", rate,
				   hrtt, mtu, max))
				return;
			continue;
		}
		good++;
		if (!CHECK(bfc_pfc_check(&t) == BFC_PFC_OK) ||
		    !CHECK(t.headroom == room) ||
		    !CHECK(t.xoff - t.xon >= 2 * mtu) ||
		    !CHECK(t.xoff + t.headroom == t.max) ||
		    !CHECK(t.max <= 1 << 30) ||
		    !CHECK(max ? t.max == max : t.xon + 1 >= bdp ||
			   t.xon >= 2 * mtu) ||
		    !CHECK(max || t.xon + 2 >= bdp || bdp < 8 * mtu,
			   "rate %llu hrtt %llu mtu %u: XON %u, %llu in an HRTT",
			   rate, hrtt, mtu, t.xon, bdp))
			return;
	}
	CHECK(good > 50000, "%llu", good);
}

/* ---- several processors (top of bfc_pfc.h) ---- */

#define EGRESSES	3
#define MOVES		2	/* of each */
#define DEPTH		128

struct model {
	int held;
	bool state;
	bool dirty;
	u8 moves[EGRESSES];	/* done */
	u8 at[EGRESSES];	/* 0 change, 1 read state, 2 mark */
	bool seen[EGRESSES];
	int mine[EGRESSES];	/* occupancy after my change */
	u8 sender;		/* 0 idle, 1 read, 2 write, 3 look again */
	int read;
};

/* A state on the way to the present one. */
struct frame {
	struct model m;
	u8 tried;	/* actors */
	bool moved;	/* one of them had something to do */
};

static const struct bfc_pfc_thresh model_t = { .xoff = 3, .xon = 1 };
static u64 model_ends;

static bool model_next(bool state, int held)
{
	return bfc_pfc_next(&model_t, state, held, 0, 0);
}

static bool model_check(const struct model *m)
{
	model_ends++;
	return CHECK(m->state == model_next(m->state, m->held),
		     "%d bytes, and %s", m->held,
		     m->state ? "paused" : "not paused");
}

static void model_egress(struct model *m, unsigned int e, int by)
{
	switch (m->at[e]) {
	case 0:
		m->held += by;
		m->mine[e] = m->held;
		m->at[e] = 1;
		break;
	case 1:
		m->seen[e] = m->state;
		m->at[e] = 2;
		break;
	default:
		if (model_next(m->seen[e], m->mine[e]) != m->seen[e])
			m->dirty = true;
		m->at[e] = 0;
		m->moves[e]++;
	}
}

static void model_sender(struct model *m)
{
	switch (m->sender) {
	case 0:
		m->dirty = false;
		m->sender = 1;
		break;
	case 1:
		m->read = m->held;
		m->sender = 2;
		break;
	case 2:
		m->state = model_next(m->state, m->read);
		m->sender = 3;
		break;
	default:
		if (model_next(m->state, m->held) != m->state)
			m->dirty = true;
		m->sender = 0;
	}
}

/* Actors are the egresses and, behind them, the sender. Return: whether this one
 * has something to do.
 */
static bool model_act(struct model *m, unsigned int actor,
		      const int (*script)[MOVES])
{
	int by;

	if (actor == EGRESSES) {
		if (!m->sender && !m->dirty)
			return false;
		model_sender(m);
		return true;
	}
	by = m->moves[actor] < MOVES ? script[actor][m->moves[actor]] : 0;
	/* No thread takes out what is not in there yet. */
	if (!by || (!m->at[actor] && m->held + by < 0))
		return false;
	model_egress(m, actor, by);
	return true;
}

/* All orders, depth first; an own stack, since the kernel's is small. */
static bool model_run(struct frame *f, const int (*script)[MOVES])
{
	unsigned int d = 0;

	f[0].tried = 0;
	f[0].moved = false;
	for (;;) {
		if (f[d].tried > EGRESSES) {
			if (!f[d].moved && !model_check(&f[d].m))
				return false;
			if (!d--)
				return true;
			continue;
		}
		f[d + 1].m = f[d].m;
		if (!model_act(&f[d + 1].m, f[d].tried++, script))
			continue;
		f[d++].moved = true;
		f[d].tried = 0;
		f[d].moved = false;
		if (!CHECK(d < DEPTH - 1, "it does not end"))
			return false;
	}
}

/* No port is left in the wrong state, whatever overtakes what. */
static void test_race(void)
{
	static const int scripts[][EGRESSES][MOVES] = {
		{ { 5, -5 }, { 0, 0 }, { 0, 0 } },
		{ { 5, 0 }, { 2, -2 }, { 0, 0 } },
		{ { 2, -2 }, { 2, -2 }, { 0, 0 } },
		{ { 4, 0 }, { -4, 0 }, { 0, 0 } },
		{ { 4, -2 }, { -2, 0 }, { 0, 0 } },
		{ { 2, 0 }, { 2, 0 }, { -3, 0 } },
	};
	struct frame *f = calloc(DEPTH, sizeof(*f));
	unsigned int i;

	if (!f)
		abort();
	model_ends = 0;
	for (i = 0; i < 2 * UNIT_SIZE(scripts); i++) {
		f[0].m = (struct model) { .held = i % 2 * 4, .state = i % 2 };
		if (!model_run(f, scripts[i / 2]))
			break;
	}
	free(f);
	CHECK(model_ends > 1000, "%llu", model_ends);
}

static const struct unit_case cases[] = {
	{ "pfc: which relation of the thresholds does not hold", test_check },
	{ "pfc: the curve of CaPFC Fig. 3", test_figure },
	{ "pfc: dynamic threshold, 11 % of what is free", test_dynamic },
	{ "pfc: headroom in use keeps it paused", test_headroom_taken },
	{ "pfc: random walks, static and dynamic", test_walk },
	{ "pfc: no flapping within the gap", test_hysteresis },
	{ "pfc: bytes in a time, exactly", test_bytes },
	{ "pfc: headroom holds what a link brings, and not much more",
	  test_headroom },
	{ "pfc: headroom in numbers", test_headroom_numbers },
	{ "pfc: the gap, as in CaPFC Table II", test_gap },
	{ "pfc: default thresholds fit together", test_defaults },
	{ "pfc: several processors, all orders of events", test_race },
};

#include "unit_main.h"
