// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC's sender (HPCC Alg. 1), by numbers worked out by hand. model_hpcc.c
 * compares it with floating point.
 */
#include "unit.h"
#include "hpcc_sk.h"

#define GBIT100		12500000000ULL	/* bytes/s */
#define CODE100		12		/* of 100 Gbit/s */
#define W(bytes)	((bytes) * HPCC_BYTE)

static struct hpcc_conf usual(void)
{
	struct hpcc_conf c;

	/* W_init 100000 bytes, T 8 us; W_AI 5000/50 bytes */
	hpcc_configure(&c, GBIT100, 8000, HPCC_ETA_DEFAULT, 50);
	c.w_ai = W(100);
	return c;
}

static struct hpcc_ack ack(u32 seq, u64 ts, u64 tx, u32 qlen)
{
	struct hpcc_ack a = {
		.now = 1000000 + ts, .seq = seq, .snd_nxt = seq + 100,
		.head = { .nhop = 1, .path = 5 },
		.hop[0] = {
			.ts = ts & BFC_INT_TS_MASK, .tx = tx & BFC_INT_TX_MASK,
			.qlen = qlen, .speed = CODE100,
		},
	};

	return a;
}

static bool same(const struct hpcc *a, const struct hpcc *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void test_configure(void)
{
	struct hpcc_conf c;
	struct hpcc s;

	/* §5.1: 100 Gbit/s, T = 13 us, N = 100: W_AI = 80 bytes */
	hpcc_configure(&c, GBIT100, 13000, HPCC_ETA_DEFAULT,
		       HPCC_FLOWS_DEFAULT);
	CHECK(c.w_init == W(162500), "%llu", c.w_init);
	CHECK(c.w_max == c.w_init);
	CHECK(c.w_ai / HPCC_BYTE == 81, "%llu", c.w_ai);
	CHECK(c.w_min == c.w_ai);
	CHECK(c.eta == 15938355, "%u", c.eta);
	CHECK(c.t == 13000 && c.max_stage == 5 && !c.rx);
	CHECK(c.react == HPCC_BOTH && !c.reserved);
	CHECK(!hpcc_conf_ok(&c));
	hpcc_init(&s, &c);
	CHECK(s.w == c.w_init && s.wc == c.w_init && s.u == HPCC_ONE);
	CHECK(!s.nhop && !s.stage);
	/* R is the line rate at first */
	CHECK(hpcc_rate(&s, &c) == GBIT100, "%llu", hpcc_rate(&s, &c));
	/* eta = 1: no headroom, no additive increase, but a window */
	hpcc_configure(&c, 1250000, HPCC_T_MIN, 1000, 1);
	CHECK(c.eta == HPCC_ONE && c.w_ai == 0 && c.w_min == 1);
	CHECK(!hpcc_conf_ok(&c));
	hpcc_configure(&c, 100000000000ULL, HPCC_T_MAX, 950, 1);
	CHECK(!hpcc_conf_ok(&c) && c.w_max < HPCC_W_MAX, "%llu", c.w_max);
	CHECK(c.w_init >> HPCC_W_SHIFT == 838860700, "%llu", c.w_init);
}

#define REFUSED(field, value, name) do {				\
	struct hpcc_conf bad = usual();					\
									\
	bad.field = (value);						\
	CHECK(hpcc_conf_ok(&bad) && !strcmp(hpcc_conf_ok(&bad), (name)), \
	      "%s", hpcc_conf_ok(&bad) ?: "good");			\
} while (0)

#define TAKEN(field, value) do {					\
	struct hpcc_conf good = usual();				\
									\
	good.field = (value);						\
	CHECK(!hpcc_conf_ok(&good), "%s", hpcc_conf_ok(&good) ?: "");	\
} while (0)

static void test_ranges(void)
{
	REFUSED(t, HPCC_T_MIN - 1, "T");
	REFUSED(t, HPCC_T_MAX + 1, "T");
	TAKEN(t, HPCC_T_MIN);
	TAKEN(t, HPCC_T_MAX);
	REFUSED(eta, 0, "eta");
	REFUSED(eta, HPCC_ONE + 1, "eta");
	TAKEN(eta, 1);
	TAKEN(eta, HPCC_ONE);
	REFUSED(w_max, 0, "largest window");
	REFUSED(w_max, HPCC_W_MAX + 1, "largest window");
	TAKEN(w_max, HPCC_W_MAX);
	REFUSED(w_min, 0, "smallest window");
	REFUSED(w_min, W(100000) + 1, "smallest window");
	TAKEN(w_min, W(100000));
	REFUSED(w_init, 1, "initial window");
	REFUSED(w_init, W(100000) + 1, "initial window");
	REFUSED(w_ai, W(100000) + 1, "W_AI");
	TAKEN(w_ai, W(100000));
	TAKEN(w_ai, 0);
	REFUSED(max_stage, HPCC_STAGE_MAX + 1, "maxStage");
	TAKEN(max_stage, 0);
	TAKEN(max_stage, HPCC_STAGE_MAX);
	REFUSED(react, HPCC_PER_RTT + 1, "reaction");
	TAKEN(react, HPCC_PER_RTT);
}

/*
 * 100 Gbit/s, T = 8 us, so B T = 100000 bytes; eta = 0.95, W_AI = 100 bytes.
 * 8 us after the first record, 781 x 128 = 99968 bytes have gone out and at both
 * times 250 x 80 = 20000 bytes were queued:
 *   u' = 0.2 + 0.99968 = 1.19968, tau = T: U = u'
 *   W = 100000 x 0.95 / 1.19968 + 100 = 79287.7
 */
static void test_by_hand(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a = ack(1000, 0, 0, 250);
	struct hpcc s;

	hpcc_init(&s, &c);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_BEGUN);
	CHECK(s.w == W(100000) && s.u == HPCC_ONE && s.update_seq == 1100);
	a = ack(1101, 8000, 781, 300);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_TURNED);
	CHECK(s.u / 16 == 1257955, "%llu", s.u);	/* 1.19968 x 2^20 */
	CHECK(s.w / HPCC_BYTE == 79287, "%llu", s.w);
	CHECK(s.wc == s.w && s.stage == 0);
	CHECK(s.update_seq == 1201);
	CHECK(hpcc_rate(&s, &c) / 1000000 == 9910, "%llu",
	      hpcc_rate(&s, &c));

	/* 2 us later, 195 x 128 = 24960 bytes, nothing queued now:
	 * u' = 24960/25000 = 0.9984, U = 0.75 x 1.19968 + 0.25 x 0.9984
	 * = 1.14936; W = 79287.7 x 0.95/1.14936 + 100 = 65635.1, W^c stays.
	 */
	a = ack(1201, 10000, 976, 0);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_STAYED);
	CHECK(s.u / 16 == 1205191, "%llu", s.u);
	CHECK(s.w / HPCC_BYTE == 65635, "%llu", s.w);
	CHECK(s.wc / HPCC_BYTE == 79287, "%llu", s.wc);
	CHECK(s.update_seq == 1201);

	/* 6 us later, half as much as the link can: u' = 293 x 128 / 75000,
	 * U = 0.25 x 1.14936 + 0.75 x 0.50005 = 0.66238 < eta:
	 * W = W^c + 100, and a stage of five is over.
	 */
	a = ack(1202, 16000, 1269, 250);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_TURNED);
	CHECK(s.u / 16 == 694555, "%llu", s.u);
	CHECK(s.w / HPCC_BYTE == 79387 && s.wc == s.w, "%llu", s.w);
	CHECK(s.stage == 1 && s.update_seq == 1302);
}

/* Half used: five times W_AI, then what is free at once (lines 12 to 19). */
static void test_stages(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a = ack(0, 0, 0, 0);
	struct hpcc s;
	u32 i;

	hpcc_init(&s, &c);
	s.wc = W(20000);
	hpcc_new_ack(&s, &c, &a);
	for (i = 1; i <= 5; i++) {
		a = ack(1000 * i, 8000 * i, 400 * i, 0);
		CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_TURNED);
		CHECK(s.w == W(20000 + 100 * i), "%u: %llu", i, s.w);
		CHECK(s.stage == i);
		/* more of the same round: no stage, no step */
		a.seq -= 500;
		a.hop[0].ts += 100;
		a.hop[0].tx += 5;
		if (i < 5) {
			CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_STAYED);
			CHECK(s.stage == i && s.wc == W(20000 + 100 * i));
			CHECK(s.w == s.wc + c.w_ai, "%llu", s.w);
		}
	}
	/* U = 51200/100000: 20500 x 0.95/0.512 + 100 = 38137.1 */
	a = ack(6000, 48000, 2400, 0);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_TURNED);
	CHECK(s.w / HPCC_BYTE == 38137 && s.wc == s.w, "%llu", s.w);
	CHECK(s.stage == 0);
	/* and it grows to no more than W_init */
	s.stage = 5;
	s.wc = W(80000);
	a = ack(7000, 56000, 2800, 0);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_TURNED);
	CHECK(s.w == c.w_max && s.wc == c.w_max, "%llu", s.w);
}

/* Per ACK: each one moves the reference. Per RTT: those between do nothing. */
static void test_reactions(void)
{
	struct hpcc_ack a = ack(1000, 0, 0, 1000), b = ack(1050, 8000, 781, 1000);
	struct hpcc_ack d = ack(1060, 16000, 1562, 1000);
	struct hpcc_conf c = usual();
	struct hpcc s, before;

	c.react = HPCC_PER_ACK;
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	/* 0.8 + 0.99968: 100000 x 0.95/1.79968 + 100, and once again */
	CHECK(s.w / HPCC_BYTE == 52887 && s.wc == s.w, "%llu", s.w);
	CHECK(hpcc_new_ack(&s, &c, &d) == HPCC_TURNED);
	CHECK(s.w / HPCC_BYTE == 28017 && s.wc == s.w, "%llu", s.w);

	c.react = HPCC_BOTH;
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_STAYED);
	CHECK(s.w / HPCC_BYTE == 52887 && s.wc == W(100000));
	CHECK(hpcc_new_ack(&s, &c, &d) == HPCC_STAYED);
	CHECK(s.w / HPCC_BYTE == 52887, "no overreaction: %llu", s.w);

	c.react = HPCC_PER_RTT;
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	before = s;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_VOID);
	CHECK(same(&s, &before));
	d.seq = 1101;
	CHECK(hpcc_new_ack(&s, &c, &d) == HPCC_TURNED);
	CHECK(s.w / HPCC_BYTE == 52887, "%llu", s.w);
}

/* Line 22 is about TCP's sequence numbers, which wrap as well. */
static void test_sequence(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a = ack(0xffffffc0, 0, 0, 0);
	struct hpcc s;

	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	CHECK(s.update_seq == 0x24);
	a = ack(0xfffffff0, 1000, 90, 0);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_STAYED);
	a = ack(0x24, 2000, 180, 0);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_STAYED);
	a = ack(0x25, 3000, 270, 0);
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_TURNED);
}

/* While the queue grows, more comes in than goes out (§3.4, Fig. 6). */
static void test_rx(void)
{
	struct hpcc_ack a = ack(0, 0, 0, 100), b = ack(1000, 8000, 781, 350);
	struct hpcc_conf c = usual();
	struct hpcc s;

	c.rx = 1;
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	hpcc_new_ack(&s, &c, &b);
	/* 8000/100000 + (99968 + 250 x 80)/100000 = 1.27968 */
	CHECK(s.u / 16 == 1341841, "%llu", s.u);
	/* back to 100: 0.08 + (99968 - 20000)/100000 = 0.87968 */
	a = ack(2000, 16000, 1562, 100);
	hpcc_new_ack(&s, &c, &a);
	CHECK(s.u / 16 == 922411, "%llu", s.u);
	/* nothing comes: not less than nothing */
	hpcc_init(&s, &c);
	b = ack(0, 0, 0, 1000);
	hpcc_new_ack(&s, &c, &b);
	b = ack(1000, 8000, 10, 0);
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	CHECK(s.u == 0, "%llu", s.u);
	/* and U = 0 is as good as any (stages are over) */
	s.stage = 5;
	b = ack(2000, 16000, 10, 0);
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	CHECK(s.w == c.w_max, "%llu", s.w);
}

/* The same INT with counters that wrap gives the same windows. */
static void test_wrap(void)
{
	struct hpcc_conf c = usual();
	u64 ts = 0, tx = 0, seed = 31;
	u32 i, at, qlen, kept = 0;

	for (at = 0; at < 64; at++) {
		u64 off_ts = BFC_INT_TS_MASK - at * 200;
		u64 off_tx = BFC_INT_TX_MASK - at * 20;
		struct hpcc s, t;

		hpcc_init(&s, &c);
		hpcc_init(&t, &c);
		ts = 0;
		tx = 0;
		for (i = 0; i < 64; i++) {
			struct hpcc_ack a, b;

			ts += 1 + unit_random(&seed) % 800;
			tx += unit_random(&seed) % 80;
			qlen = unit_random(&seed) % 300;
			a = ack(i * 50, ts, tx, qlen);
			b = ack(i * 50, ts + off_ts, tx + off_tx, qlen);
			b.now = a.now;
			CHECK(hpcc_new_ack(&s, &c, &a) ==
			      hpcc_new_ack(&t, &c, &b));
			if (!CHECK(s.w == t.w && s.wc == t.wc && s.u == t.u,
				   "%u, ACK %u", at, i))
				return;
			kept += s.w != c.w_init;
		}
	}
	CHECK(kept > 1000, "%u", kept);
}

/* Another path: other hops, another number of them, another speed. */
static void test_path(void)
{
	struct hpcc_ack a = ack(0, 0, 0, 300), b = ack(1000, 8000, 781, 300);
	struct hpcc_conf c = usual();
	struct hpcc s, begun;
	u32 i;

	a.head.nhop = 2;
	a.hop[1] = a.hop[0];
	b.head.nhop = 2;
	b.hop[1] = b.hop[0];
	hpcc_init(&begun, &c);
	hpcc_new_ack(&begun, &c, &a);
	begun.u = HPCC_ONE / 2;
	begun.stage = 3;
	begun.w = W(7777);
	begun.wc = W(8888);
	for (i = 0; i < 4; i++) {
		struct hpcc_ack d = b;

		s = begun;
		switch (i) {
		case 0:
			d.head.path ^= 0x800;
			break;
		case 1:
			d.head.nhop = 1;
			break;
		case 2:
			d.head.nhop = 3;
			d.hop[2] = d.hop[0];
			break;
		default:
			d.hop[0].speed = CODE100 - 1;
		}
		CHECK(hpcc_new_ack(&s, &c, &d) == HPCC_BEGUN, "%u", i);
		CHECK(s.w == W(7777) && s.wc == W(8888), "%u", i);
		CHECK(s.u == HPCC_ONE && s.stage == 0, "%u", i);
		CHECK(s.nhop == d.head.nhop && s.path == d.head.path, "%u", i);
		CHECK(!memcmp(s.hop, d.hop, sizeof(s.hop)), "%u", i);
		CHECK(s.stamp == d.now && s.update_seq == d.snd_nxt, "%u", i);
	}
	s = begun;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
}

/* Half a wrap of either counter later the old record says nothing but whether there
 * was a queue.
 */
static void test_silence(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a, b;
	struct hpcc s, begun;
	/* 2^26 bytes at 100 and at 800 Gbit/s */
	static const struct {
		u32 code;
		u64 ns;
	} half[] = {
		{ CODE100, 5368710 }, { 15, 671089 }, { 11, 8388608 },
		{ 1, 8388608 },
	};
	u32 i;

	for (i = 0; i < UNIT_SIZE(half); i++) {
		a = ack(0, 0, 0, 0);
		a.hop[0].speed = half[i].code;
		hpcc_init(&begun, &c);
		hpcc_new_ack(&begun, &c, &a);
		begun.wc = W(50000);
		b = ack(1000, 8000, 50, 300);
		b.hop[0].speed = half[i].code;

		s = begun;
		b.now = a.now + half[i].ns;
		CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_BEGUN, "code %u",
		      half[i].code);
		CHECK(s.w == W(50000) + c.w_ai && s.wc == s.w);
		CHECK(s.hop[0].ts == 8000);
		s = begun;
		b.now--;
		CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED, "code %u",
		      half[i].code);
	}
	/* a path of many hops is as patient as its fastest */
	a = ack(0, 0, 0, 0);
	a.head.nhop = 3;
	a.hop[1] = a.hop[0];
	a.hop[2] = a.hop[0];
	a.hop[2].speed = 15;
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	a.now += 671089;
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_BEGUN);
}

static void test_silence_window(void)
{
	struct hpcc_conf c = usual();
	/* before, now, W of 50000 bytes: 1250 x 80 bytes are W_init: U = 2 */
	static const struct {
		u32 before, now, w;
	} queue[] = {
		{ 0, 0, 50100 }, { 1250, 0, 50100 }, { 0, 1250, 50100 },
		{ 1250, 1250, 23849 }, { 1250, 5000, 23849 },
		{ 5000, 1250, 23849 }, { 1, 1, 47562 },
	};
	struct hpcc_ack a;
	struct hpcc s;
	u32 i;

	for (i = 0; i < UNIT_SIZE(queue); i++) {
		hpcc_init(&s, &c);
		a = ack(0, 0, 0, queue[i].before);
		hpcc_new_ack(&s, &c, &a);
		s.w = W(1000);
		s.wc = W(50000);
		a = ack(1000, 100000000, 0, queue[i].now);
		CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_BEGUN);
		CHECK(s.w >> HPCC_W_SHIFT == queue[i].w, "%u: %llu", i,
		      s.w >> HPCC_W_SHIFT);
		CHECK(s.wc == s.w && s.u == HPCC_ONE && !s.stage);
		CHECK(s.update_seq == a.snd_nxt);
	}
}

/* On an idle link a sender comes back from a window so small that each of its
 * packets follows on a silence: 1500 bytes at 40 bytes per 4.5 ms.
 */
static void test_lone_packets(void)
{
	u64 now = 1000000, tx = 0;
	struct hpcc_conf c;
	struct hpcc s;
	u32 n;

	hpcc_configure(&c, 12500000, 4500000, HPCC_ETA_DEFAULT, 100);
	hpcc_init(&s, &c);
	s.w = c.w_min;
	s.wc = c.w_min;
	for (n = 0; s.w < c.w_init / 2 && n < 1000; n++) {
		struct hpcc_ack a = ack(n * 1448, now, tx, 0);

		a.hop[0].speed = 2;	/* 100 Mbit/s */
		hpcc_new_ack(&s, &c, &a);
		now += 1500 * 1000000000ULL / hpcc_rate(&s, &c);
		tx += 1500 / BFC_INT_TX_UNIT;
	}
	CHECK(n < 100, "%u packets", n);
	CHECK(now < 10ULL * 1000000000, "%llu ns", now);
}

/* What is older than what is known, or the same again, changes nothing. */
static void test_order(void)
{
	struct hpcc_ack a = ack(0, 8000, 700, 0), b = ack(1000, 12000, 1100, 0);
	struct hpcc_conf c = usual();
	struct hpcc s, before;

	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	before = s;
	b.seq = 3000;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_VOID && same(&s, &before));
	a.seq = 3000;
	a.now = b.now;
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_VOID && same(&s, &before));
	/* one nanosecond before, and almost half a wrap behind */
	b.hop[0].ts--;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_VOID && same(&s, &before));
	b.hop[0].ts += HPCC_TS_HALF;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
}

/* A packet that has waited behind the hop, or whose predecessor has, comes when the
 * hop's clock has gone on by less than the local one, or by more: also by more than half a wrap.
 */
static void test_late(void)
{
	/* the local clock, the hop's; what is made of it */
	static const struct {
		u32 passed, ts;
		enum hpcc_result result;
	} clock[] = {
		{ 8388600, 8388607, HPCC_TURNED },
		{ 8388600, 8388608, HPCC_TURNED },
		{ 8388600, 12582907, HPCC_TURNED },
		{ 8388600, 12582908, HPCC_VOID },
		{ 8388600, 1, HPCC_TURNED },
		{ 8388600, 0xffffff, HPCC_VOID },
		{ 2000, 8388607, HPCC_TURNED },
		{ 2000, 8389608, HPCC_VOID },
		{ 0, 8388608, HPCC_VOID },
	};
	struct hpcc_conf c = usual();
	u32 i;

	for (i = 0; i < UNIT_SIZE(clock); i++) {
		struct hpcc_ack a = ack(0, 70000, 0, 0);
		enum hpcc_result result;
		struct hpcc s;

		a.hop[0].speed = 2;	/* 100 Mbit/s */
		hpcc_init(&s, &c);
		hpcc_new_ack(&s, &c, &a);
		a.seq = 1000;
		a.now += clock[i].passed;
		a.hop[0].ts = (70000 + clock[i].ts) & BFC_INT_TS_MASK;
		/* A count that goes back with its clock has not begun anew. */
		if (clock[i].result == HPCC_VOID)
			a.hop[0].tx = BFC_INT_TX_MASK - 9;
		result = hpcc_new_ack(&s, &c, &a);
		CHECK(result == clock[i].result, "%u after %u: %u", clock[i].ts,
		      clock[i].passed, result);
	}
}

/* One hop's clock stands still: the others count. One's goes back: none does. */
static void test_clocks(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a = ack(0, 0, 0, 0), b;
	struct hpcc s, begun;

	a.head.nhop = 2;
	a.hop[1] = a.hop[0];
	hpcc_init(&begun, &c);
	hpcc_new_ack(&begun, &c, &a);
	b = a;
	b.seq = 1000;
	b.hop[0].qlen = 5000;
	b.hop[1].ts = 8000;
	b.hop[1].tx = 700;
	s = begun;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	CHECK(s.u / 16 == 939524, "0.896: %llu", s.u);
	b.hop[0].ts = BFC_INT_TS_MASK;
	s = begun;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_VOID && same(&s, &begun));
}

/* The busiest link counts, with its own tau (lines 6 and 7). */
static void test_links(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a = ack(0, 0, 0, 0), b;
	struct hpcc s;
	u32 i;

	a.head.nhop = BFC_INT_HOPS_MAX;
	for (i = 1; i < BFC_INT_HOPS_MAX; i++)
		a.hop[i] = a.hop[0];
	a.hop[4].speed = 8;	/* 25 Gbit/s */
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	b = a;
	b.seq = 1000;
	for (i = 0; i < BFC_INT_HOPS_MAX; i++) {
		b.hop[i].ts = 8000;
		b.hop[i].tx = 300 + i;
	}
	b.hop[3].ts = 4000;	/* u' = 303 x 128 / 50000 = 0.77568 */
	b.hop[4].tx = 100;	/* u' = 100 x 128 / 25000 = 0.512 */
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	/* (1 + 0.77568) / 2 */
	CHECK(s.u / 16 == 930967, "%llu", s.u);
	/* hops behind nHop are not looked at, whatever they hold */
	a = ack(0, 0, 0, 0);
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	b = ack(1000, 8000, 400, 0);
	b.hop[1].ts = 77;
	b.hop[1].speed = 1;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	CHECK(s.u / 16 == 536870, "0.512: %llu", s.u);
}

/* Without INT of all hops nothing happens, also not to the records. */
static void test_incomplete(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a = ack(0, 0, 0, 0), b = ack(1000, 8000, 400, 0);
	struct hpcc s, before;
	u32 i;

	hpcc_init(&s, &c);
	before = s;
	a.head.nhop = 0;
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_VOID && same(&s, &before));
	for (i = 1; i < BFC_INT_HOPS_MAX; i++)
		a.hop[i] = a.hop[0];
	for (i = BFC_INT_HOPS_MAX + 1; i <= BFC_INT_NHOP_MAX; i++) {
		a.head.nhop = i;
		CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_VOID &&
		      same(&s, &before), "%u hops", i);
	}
	a.head.nhop = 1;
	CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_BEGUN);
	before = s;
	b.head.nhop = 2;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_VOID && same(&s, &before),
	      "a hop that wrote nothing");
	b.hop[1].speed = 16;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_VOID && same(&s, &before));
	b.hop[1].speed = CODE100;
	b.head.nhop = 5;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_VOID && same(&s, &before));
}

/* The smallest T, the slowest link, the longest queue: cut, not wrapped. */
static void test_extremes(void)
{
	struct hpcc_ack a = ack(0, 0, 0, BFC_INT_QLEN_MAX);
	struct hpcc_ack b = ack(1000, 1, BFC_INT_TX_MASK, BFC_INT_QLEN_MAX);
	struct hpcc_conf c = usual();
	struct hpcc s;

	c.t = HPCC_T_MIN;
	c.rx = 1;
	a.hop[0].speed = 1;
	a.hop[0].qlen = 0;
	b.hop[0].speed = 1;
	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	s.torn = 1;	/* then it is believed */
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	/* 1/100 of the way to 32768 */
	CHECK(s.u >> HPCC_U_SHIFT == 328, "%llu", s.u);
	b = ack(2000, 1000, BFC_INT_TX_MASK - 1, BFC_INT_QLEN_MAX);
	b.hop[0].speed = 1;
	s.torn = 1;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	CHECK(s.u == HPCC_U_MAX, "%llu", s.u);
	CHECK(s.w / HPCC_BYTE == 100, "%llu", s.w);

	/* the largest windows, up and down, and the longest T */
	c.t = HPCC_T_MAX;
	c.rx = 0;
	c.eta = HPCC_ONE;
	c.w_max = HPCC_W_MAX;
	c.w_init = HPCC_W_MAX;
	c.w_ai = HPCC_W_MAX;
	CHECK(!hpcc_conf_ok(&c));
	hpcc_init(&s, &c);
	CHECK(hpcc_rate(&s, &c) == 256000030517ULL, "%llu", hpcc_rate(&s, &c));
	a = ack(0, 0, 0, 0);
	b = ack(1000, 8000, 1, 0);
	hpcc_new_ack(&s, &c, &a);
	s.stage = HPCC_STAGE_MAX;
	CHECK(hpcc_new_ack(&s, &c, &b) == HPCC_TURNED);
	CHECK(s.w == HPCC_W_MAX, "%llu", s.w);
}

/* A count that a port cannot have got to tells nothing but where it is now; again, it counts. */
static void test_torn(void)
{
	/* since the last record; 1 MB and eight times the speed at the most, in 128 bytes */
	static const struct {
		u32 code, ns, tx;
		enum hpcc_result result;
	} step[] = {
		{ 2, 1000000, (0 - 600000) & BFC_INT_TX_MASK, HPCC_BEGUN },
		{ 2, 1000000, 8973, HPCC_TURNED }, { 2, 1000000, 8974, HPCC_BEGUN },
		{ CODE100, 8000, 14442, HPCC_TURNED }, { CODE100, 8000, 14443, HPCC_BEGUN },
	};
	struct hpcc_conf c = usual();
	struct hpcc s, begun;
	struct hpcc_ack a, b;
	u32 i, n;

	for (i = 0; i < UNIT_SIZE(step); i++) {
		a = ack(0, 0, 600000, 300);
		a.hop[0].speed = step[i].code;
		hpcc_init(&s, &c);
		hpcc_new_ack(&s, &c, &a);
		s.wc = W(8888);
		s.stage = 3;
		a.now += step[i].ns;
		b = a;
		b.seq = 1000;
		for (n = 0; n < 3; n++) {
			b.hop[0].ts += step[i].ns;
			b.hop[0].tx = (b.hop[0].tx + step[i].tx) & BFC_INT_TX_MASK;
			CHECK(hpcc_new_ack(&s, &c, &b) == (n == 1 ? HPCC_TURNED : step[i].result),
			      "%u, %u", i, n);
			if (n || step[i].result != HPCC_BEGUN)
				continue;
			CHECK(s.w == c.w_init && s.wc == W(8888) && s.u == HPCC_ONE && !s.stage);
			begun = s;
			/* an ACK that was overtaken, with the old count */
			CHECK(hpcc_new_ack(&s, &c, &a) == HPCC_VOID && same(&s, &begun));
		}
	}
}

/* The average is rounded towards what is seen: so it gets there. */
static void test_average(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a = ack(0, 0, 0, 0);
	struct hpcc s;
	u32 i;

	hpcc_init(&s, &c);
	hpcc_new_ack(&s, &c, &a);
	s.u = 3 * HPCC_ONE;
	/* 128 bytes in 10 ns: u' = 1.024, tau/T = 1/800 */
	for (i = 1; i < 40000; i++) {
		a = ack(0, 10 * i, i, 0);
		hpcc_new_ack(&s, &c, &a);
	}
	CHECK(s.u == (128 * 800ULL << 24) / 100000, "%llu", s.u);
	s.u = 0;
	for (; i < 80000; i++) {
		a = ack(0, 10 * i, i, 0);
		hpcc_new_ack(&s, &c, &a);
	}
	CHECK(s.u == (128 * 800ULL << 24) / 100000, "%llu", s.u);
}

static void test_packets(void)
{
	struct hpcc_conf c = usual();
	struct hpcc s = {};

	CHECK(hpcc_packets(&s, 1000) == 1);
	CHECK(hpcc_rate(&s, &c) == 1);
	s.w = 1;
	CHECK(hpcc_packets(&s, 1000) == 1);
	s.w = W(1000);
	CHECK(hpcc_packets(&s, 1000) == 1);
	s.w++;
	CHECK(hpcc_packets(&s, 1000) == 2);
	s.w = W(100000);
	CHECK(hpcc_packets(&s, 1000) == 100);
	CHECK(hpcc_packets(&s, 1500) == 67);
	CHECK(hpcc_packets(&s, 0) == 1);
	/* a tenth of a packet: one packet, in ten times T */
	s.w = W(100);
	CHECK(hpcc_packets(&s, 1000) == 1);
	CHECK(hpcc_rate(&s, &c) == 12500000, "%llu", hpcc_rate(&s, &c));
	s.w = HPCC_W_MAX;
	CHECK(hpcc_packets(&s, 1) == 1U << 31);
}

/* However often it is told of a queue, W stays at W_AI or more (line 13). */
static void test_floor(void)
{
	struct hpcc_conf c = usual();
	struct hpcc_ack a;
	struct hpcc s;
	u32 i;

	c.w_min = W(150);
	hpcc_init(&s, &c);
	for (i = 0; i < 1000; i++) {
		a = ack(200 * i, 1000 * i, 97 * i, 60000);
		hpcc_new_ack(&s, &c, &a);
		CHECK(s.w >= W(150) && s.wc >= W(150), "%llu", s.w);
	}
	CHECK(s.w == W(150), "%llu", s.w);
}

/* A socket's view: packets with headers, and the pace of what is in them. */
static void test_socket(void)
{
	struct hpcc_ack a = ack(1000, 0, 0, 250), b = ack(1101, 8000, 781, 300);
	struct hpcc_net net = { .conf = usual(), .headers = 66 };
	struct hpcc_sk hs;

	hpcc_sk_init(&hs, &net, 934);
	CHECK(hs.packets == 100 && hs.rate == GBIT100);
	CHECK(hpcc_sk_pace(&hs, &net, 934, 0) == GBIT100 * 934 / 1000);
	CHECK(hpcc_sk_pace(&hs, &net, 934, 28) == GBIT100 * 906 / 1000);
	CHECK(hpcc_sk_pace(&hs, &net, 934, 934) == GBIT100 * 934 / 1000);
	CHECK(hpcc_sk_new_ack(&hs, &net, &a, 934) == HPCC_BEGUN);
	CHECK(hpcc_sk_new_ack(&hs, &net, &b, 934) == HPCC_TURNED);
	CHECK(hs.packets == 80, "%u", hs.packets);
	CHECK(hs.rate / 1000000 == 9910, "%llu", hs.rate);
	CHECK(hpcc_sk_new_ack(&hs, &net, &b, 934) == HPCC_VOID);
	CHECK(hs.begun == 1 && hs.turned == 1 && hs.stayed == 0);
	b.seq = 1102;
	b.hop[0].ts += 10;
	CHECK(hpcc_sk_new_ack(&hs, &net, &b, 934) == HPCC_STAYED);
	CHECK(hs.begun == 1 && hs.turned == 1 && hs.stayed == 1);
	/* never no pace at all, and no overflow */
	hs.rate = 1;
	CHECK(hpcc_sk_pace(&hs, &net, 934, 28) == 1);
	hs.rate = ~0ULL;
	CHECK(hpcc_sk_pace(&hs, &net, 65535, 0) == ~0ULL);
	hs.rate = (1ULL << 44) - 1;
	CHECK(hpcc_sk_pace(&hs, &net, 65535, 0) == hs.rate * 65535 / 65601);
}

/* From one packet on, by what ACKs acknowledge, until a link is full or W is what it was */
static void test_timeout(void)
{
	struct hpcc_ack a = ack(1000, 0, 0, 250), b = ack(1101, 800, 78, 0);
	struct hpcc_net net = { .conf = usual(), .headers = 66 };
	struct hpcc_sk hs;
	u32 i;

	hpcc_sk_init(&hs, &net, 934);
	hs.una = 900;
	CHECK(!hpcc_sk_acked(&hs, &net, 2000, 934), "no time-out");
	CHECK(hs.packets == 100 && hs.una == 2000);
	CHECK(hpcc_sk_new_ack(&hs, &net, &a, 934) == HPCC_BEGUN);
	hpcc_sk_timeout(&hs, &net, 934);
	CHECK(hs.packets == 1 && hs.s.w == W(1000) && hs.s.wc == W(1000));
	CHECK(hs.s.slow == W(100000) && !hs.s.nhop);
	CHECK(hs.rate == GBIT100 / 100, "%llu", hs.rate);
	/* what was known of the links is void, and what comes now tells of no queue */
	CHECK(hpcc_sk_new_ack(&hs, &net, &a, 934) == HPCC_BEGUN);
	CHECK(hs.packets == 1 && !hs.s.u);
	CHECK(hpcc_sk_new_ack(&hs, &net, &b, 934) == HPCC_TURNED);
	CHECK(hs.packets == 1 && hs.s.slow);
	CHECK(!hpcc_sk_acked(&hs, &net, 2000, 934), "nothing new");
	CHECK(!hpcc_sk_acked(&hs, &net, 1999, 934), "an old one");
	CHECK(hpcc_sk_acked(&hs, &net, 2500, 934));
	CHECK(hs.s.w == W(1501), "%llu", hs.s.w);
	CHECK(hpcc_sk_acked(&hs, &net, 90000, 934));
	CHECK(hs.s.w == W(3501) && hs.packets == 4, "two packets of one ACK");
	/* another one before that has come to an end */
	hpcc_sk_timeout(&hs, &net, 934);
	CHECK(hs.packets == 1 && hs.s.slow == W(100000));
	for (i = 0; i < 49; i++)
		hpcc_sk_acked(&hs, &net, hs.una + 5000, 934);
	CHECK(hs.s.w == W(99000) && hs.s.slow, "%llu", hs.s.w);
	CHECK(hpcc_sk_acked(&hs, &net, hs.una + 5000, 934));
	CHECK(hs.s.w == W(100000) && !hs.s.slow && hs.packets == 100);
	CHECK(!hpcc_sk_acked(&hs, &net, hs.una + 5000, 934));

	/* a full link */
	hpcc_sk_timeout(&hs, &net, 934);
	for (i = 0; i < 20; i++)
		hpcc_sk_acked(&hs, &net, hs.una + 5000, 934);
	CHECK(hs.s.w == W(41000) && hs.s.slow);
	CHECK(hpcc_sk_new_ack(&hs, &net, &a, 934) == HPCC_BEGUN);
	b = ack(1101, 8000, 781, 300);
	CHECK(hpcc_sk_new_ack(&hs, &net, &b, 934) == HPCC_TURNED);
	CHECK(!hs.s.slow && hs.s.w < W(41000), "%llu", hs.s.w);
	CHECK(!hpcc_sk_acked(&hs, &net, hs.una + 5000, 934));
	/* below a packet, as in an incast: no time-out makes W more, nor do two in a row */
	hpcc_set(&hs.s, &net.conf, W(150), 1);
	for (i = 0; i < 2; i++)
		hpcc_sk_timeout(&hs, &net, 934);
	CHECK(hs.s.w == W(150) && hs.s.slow == W(150), "%llu", hs.s.w);
}

static const struct unit_case cases[] = {
	{ "hpcc: parameters by the paper's rules", test_configure },
	{ "hpcc: ranges of parameters", test_ranges },
	{ "hpcc: three steps of Alg. 1 by hand", test_by_hand },
	{ "hpcc: additive increase, then all that is free", test_stages },
	{ "hpcc: per ACK, per RTT, both", test_reactions },
	{ "hpcc: sequence numbers wrap", test_sequence },
	{ "hpcc: rxRate", test_rx },
	{ "hpcc: TS and txBytes wrap", test_wrap },
	{ "hpcc: another path drops the records", test_path },
	{ "hpcc: half a wrap of silence drops the records", test_silence },
	{ "hpcc: what a silence does to the window", test_silence_window },
	{ "hpcc: lone packets on an idle link", test_lone_packets },
	{ "hpcc: older INT and INT seen before", test_order },
	{ "hpcc: clocks of hops half a wrap ahead", test_late },
	{ "hpcc: clocks that stand still or go back", test_clocks },
	{ "hpcc: the busiest link and its tau", test_links },
	{ "hpcc: INT that is not complete", test_incomplete },
	{ "hpcc: no overflow at the widest", test_extremes },
	{ "hpcc: counts that begin anew", test_torn },
	{ "hpcc: the average reaches what is seen", test_average },
	{ "hpcc: windows in packets, pacing below one", test_packets },
	{ "hpcc: the smallest window", test_floor },
	{ "hpcc: a socket's packets and pace", test_socket },
	{ "hpcc: one packet after a time-out", test_timeout },
};

#include "unit_main.h"
