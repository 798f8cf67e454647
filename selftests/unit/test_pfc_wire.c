// SPDX-License-Identifier: GPL-2.0
/*
 * MAC control frames byte by byte, and the arithmetic of quanta against exact
 * products in wider types. The frames were written by hand from IEEE 802.3's
 * figures, not with the functions of bfc_pfc_wire.h.
 */
#include "unit.h"
#include "bfc_pfc_wire.h"

#define UNIT	64000000000ULL	/* a quantum at 1 byte/s, ns */
#define FUZZ	200000U
#define LONG	80U		/* longest frame of the fuzzer */

typedef unsigned __int128 u128;

/* 10 Mbit/s to 800 Gbit/s, odd ones, and the limits of the option */
static const u64 rates[] = {
	BFC_RATE_MIN, 1250000, 12500000, 125000000, 312500000, 1250000000,
	3125000000ULL, 5000000000ULL, 6250000000ULL, 12500000000ULL,
	25000000000ULL, 50000000000ULL, 100000000000ULL, 1249999, 7, 1,
	99999999977ULL, BFC_RATE_MAX,
};

static const u8 own[6] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };

/* Priorities 0, 3 and 7: XON, some, all there is. */
static const u8 pfc_bytes[60] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x01,		/*  0 destination */
	0x02, 0x11, 0x22, 0x33, 0x44, 0x55,		/*  6 source */
	0x88, 0x08,					/* 12 EtherType */
	0x01, 0x01,					/* 14 PFC */
	0x00, 0x89,					/* 16 enable */
	0x00, 0x00,					/* 18 quanta */
	0x00, 0x00, 0x00, 0x00,
	0x12, 0x34,					/* 24 of priority 3 */
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xff, 0xff,					/* 32 of priority 7 */
};

static const struct bfc_pfc_frame pfc_value = {
	.enable = 0x89,
	.quanta = { 0, 0, 0, 0x1234, 0, 0, 0, 0xffff },
};

static const u8 pause_bytes[60] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x01,
	0x02, 0x11, 0x22, 0x33, 0x44, 0x55,
	0x88, 0x08,
	0x00, 0x01,					/* 14 PAUSE */
	0xab, 0xcd,					/* 16 quanta */
};

/* A block of exactly len bytes: reading past the frame is reading past it. */
static u8 *block(const void *from, size_t len)
{
	u8 *f = malloc(len ? len : 1);

	if (!f)
		abort();
	memcpy(f, from, len);
	return f;
}

static bool same(const struct bfc_pfc_frame *a, const struct bfc_pfc_frame *b)
{
	return a->enable == b->enable &&
	       !memcmp(a->quanta, b->quanta, sizeof(a->quanta));
}

static void test_constants(void)
{
	CHECK(BFC_MAC_ETHERTYPE == 0x8808);
	CHECK(BFC_MAC_OP_PFC == 0x0101);
	CHECK(BFC_MAC_OP_PAUSE == 0x0001);
	CHECK(BFC_PFC_FRAME == 60);	/* 64 with the FCS */
	CHECK(BFC_PFC_WIRE == 8 + 64 + 12);
	CHECK(BFC_QUANTA_MAX == 65535);
	CHECK(BFC_QUANTUM_BYTES * 8 == 512);
}

static void test_put(void)
{
	u8 out[62];
	unsigned int i;

	memset(out, 0xaa, sizeof(out));
	bfc_put_pfc(out + 1, own, &pfc_value);
	for (i = 0; i < 60; i++)
		CHECK(out[1 + i] == pfc_bytes[i], "byte %u: %02x", i,
		      out[1 + i]);
	CHECK(out[0] == 0xaa && out[61] == 0xaa);
}

/* What is not enabled is sent as zero, whatever it was. */
static void test_put_disabled(void)
{
	struct bfc_pfc_frame p = { .enable = 0x10 };
	unsigned int i;
	u8 out[60];

	for (i = 0; i < 8; i++)
		p.quanta[i] = 0x5a00 + i;
	bfc_put_pfc(out, own, &p);
	for (i = 18; i < 60; i++)
		CHECK(out[i] == (i == 26 ? 0x5a : i == 27 ? 4 : 0),
		      "byte %u: %02x", i, out[i]);
	CHECK(out[16] == 0 && out[17] == 0x10);
}

static void test_get(void)
{
	struct bfc_pfc_frame p;
	unsigned int len;

	for (len = 0; len <= 60; len++) {
		u8 *f = block(pfc_bytes, len);
		enum bfc_mac kind = bfc_mac_kind(f, len);

		CHECK(kind == (len < 14 ? BFC_MAC_NONE :
			       len < 16 ? BFC_MAC_OTHER : BFC_MAC_PFC),
		      "%u bytes: kind %u", len, kind);
		if (len >= 16) {
			memset(&p, 0xaa, sizeof(p));
			CHECK(bfc_get_pfc(f, len, &p) ==
			      (len < 34 ? BFC_BAD_SHORT : BFC_OK));
			if (len >= 34)
				CHECK(same(&p, &pfc_value));
		}
		free(f);
		f = block(pause_bytes, len);
		kind = bfc_mac_kind(f, len);
		CHECK(kind == (len < 14 ? BFC_MAC_NONE :
			       len < 16 ? BFC_MAC_OTHER : BFC_MAC_PAUSE));
		free(f);
	}
}

/* The reserved byte, the padding and disabled quanta are ignored. */
static void test_get_liberal(void)
{
	struct bfc_pfc_frame p;
	unsigned int i;
	u8 f[60];

	memcpy(f, pfc_bytes, sizeof(f));
	f[16] = 0xff;
	for (i = 20; i < 24; i++)
		f[i] = 0xee;
	for (i = 34; i < 60; i++)
		f[i] = 0xee;
	CHECK(bfc_mac_kind(f, sizeof(f)) == BFC_MAC_PFC);
	CHECK(bfc_get_pfc(f, sizeof(f), &p) == BFC_OK);
	CHECK(same(&p, &pfc_value));
}

/* All enable vectors: which quanta belong to which priority? */
static void test_enable(void)
{
	struct bfc_pfc_frame in, out;
	unsigned int e, i;
	u8 f[60];

	for (i = 0; i < 8; i++)
		in.quanta[i] = 1000 + i;
	for (e = 0; e < 256; e++) {
		in.enable = e;
		bfc_put_pfc(f, own, &in);
		CHECK(f[17] == e);
		CHECK(bfc_get_pfc(f, sizeof(f), &out) == BFC_OK);
		CHECK(out.enable == e);
		for (i = 0; i < 8; i++)
			CHECK(out.quanta[i] == (e & 1U << i ? 1000 + i : 0));
	}
}

/* Each bit of destination, EtherType and opcode matters. */
static void test_kind(void)
{
	unsigned int bit;
	u8 f[60];

	for (bit = 0; bit < 16 * 8; bit++) {
		enum bfc_mac want;
		unsigned int i = bit / 8;

		memcpy(f, pfc_bytes, sizeof(f));
		f[i] ^= 1U << bit % 8;
		want = i == 12 || i == 13 ? BFC_MAC_NONE :
		       i >= 6 && i < 12 ? BFC_MAC_PFC : BFC_MAC_OTHER;
		if (i == 14 && f[14] == 0 && f[15] == 1)
			want = BFC_MAC_PAUSE;	/* a bit away, and nothing else */
		CHECK(bfc_mac_kind(f, sizeof(f)) == want, "bit %u", bit);
	}
}

/* Bridges forward what is sent to a station's own address: that is not the neighbour's. */
static void test_kind_own(void)
{
	u8 f[60];

	memcpy(f, pfc_bytes, sizeof(f));
	memcpy(f, own, 6);
	CHECK(bfc_mac_kind(f, sizeof(f)) == BFC_MAC_OTHER);
	memcpy(f, pause_bytes, sizeof(f));
	memcpy(f, own, 6);
	CHECK(bfc_mac_kind(f, sizeof(f)) == BFC_MAC_OTHER);
}

/* The other opcodes of MAC control, and all that there could be. */
static void test_opcodes(void)
{
	unsigned int op;
	u8 f[60];

	memcpy(f, pfc_bytes, sizeof(f));
	for (op = 0; op < 65536; op++) {
		enum bfc_mac want = op == 0x0101 ? BFC_MAC_PFC :
				    op == 0x0001 ? BFC_MAC_PAUSE :
				    BFC_MAC_OTHER;

		f[14] = op / 256;
		f[15] = op % 256;
		if (!CHECK(bfc_mac_kind(f, sizeof(f)) == want, "%04x", op))
			return;
	}
}

/* Any bytes, and nearly good ones; what is read is what stands there. */
static void test_fuzz(void)
{
	static const unsigned int lens[] = {
		0, 13, 14, 15, 16, 17, 18, 33, 34, 35, 59, 60, 61, LONG,
	};
	u64 seed = 11, seen[4] = {};
	unsigned int n, i;

	for (n = 0; n < FUZZ; n++) {
		unsigned int len = n % 3 ? lens[n % UNIT_SIZE(lens)] :
				   unit_random(&seed) % (LONG + 1);
		u8 raw[LONG] = {}, *f;
		struct bfc_pfc_frame p;
		enum bfc_mac kind;

		if (n % 8)
			memcpy(raw, n % 2 ? pfc_bytes : pause_bytes, 60);
		else
			for (i = 0; i < LONG; i++)
				raw[i] = unit_random(&seed);
		for (i = unit_random(&seed) % 4; i; i--)
			raw[unit_random(&seed) % LONG] = unit_random(&seed);
		f = block(raw, len);
		kind = bfc_mac_kind(f, len);
		seen[kind]++;
		if (kind == BFC_MAC_PFC &&
		    bfc_get_pfc(f, len, &p) == BFC_OK) {
			CHECK(len >= 34 && p.enable == f[17]);
			for (i = 0; i < 8; i++)
				CHECK(p.quanta[i] == (p.enable / (1 << i) % 2 ?
				      f[18 + 2 * i] * 256 + f[19 + 2 * i] : 0));
		} else if (kind == BFC_MAC_PFC) {
			CHECK(len < 34);
		}
		free(f);
	}
	for (i = 0; i < 4; i++)
		CHECK(seen[i] > 1000, "kind %u: %llu", i, seen[i]);
}

/* ns is the first whole one in which the quanta are over. */
static void test_to_ns(void)
{
	unsigned int i, q;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		for (q = 0; q < 65536; q++) {
			u128 part = (u128)q * UNIT;
			u64 ns = bfc_quanta_to_ns(q, rates[i]);

			if (!CHECK((u128)ns * rates[i] >= part &&
				   (!ns || (u128)(ns - 1) * rates[i] < part),
				   "rate %llu, %u quanta: %llu ns", rates[i], q,
				   ns))
				return;
		}
	}
	/* 10 Mbit/s 51.2 us; 10 Gbit/s 51.2 ns; 800 Gbit/s 0.64 ns */
	CHECK(bfc_quanta_to_ns(1, 1250000) == 51200);
	CHECK(bfc_quanta_to_ns(65535, 1250000) == 3355392000ULL);
	CHECK(bfc_quanta_to_ns(10, 1250000000) == 512);
	CHECK(bfc_quanta_to_ns(1, 1250000000) == 52);
	CHECK(bfc_quanta_to_ns(65535, 100000000000ULL) == 41943);
	CHECK(bfc_quanta_to_ns(65535, BFC_RATE_MIN) == 4194240000000ULL);
	CHECK(bfc_quanta_to_ns(3, 0) == 3 * UNIT, "a rate not known yet");
}

/* The fewest quanta that are as long as meant, but no more than fit. */
static bool check_quanta(u64 ns, u64 rate)
{
	u16 q = bfc_ns_to_quanta(ns, rate);
	u128 want = (u128)ns * rate;

	return CHECK(((u128)q * UNIT >= want || q == 65535) &&
		     (!q || (u128)(q - 1) * UNIT < want),
		     "rate %llu, %llu ns: %u quanta", rate, ns, q);
}

static void test_to_quanta(void)
{
	static const u64 edge[] = {
		0, 1, 2, 50, 51, 52, 51199, 51200, 51201, 1000000,
		1000000000ULL, 1ULL << 40, 1ULL << 63, ~0ULL,
	};
	u64 seed = 12;
	unsigned int i, k;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		u64 full = bfc_quanta_to_ns(65535, rates[i]), ns;

		for (k = 0; k < UNIT_SIZE(edge); k++)
			if (!check_quanta(edge[k], rates[i]))
				return;
		for (ns = full - 3; ns <= full + 3; ns++)
			if (!check_quanta(ns, rates[i]))
				return;
		for (k = 0; k < 20000; k++)
			if (!check_quanta(unit_random(&seed) >>
					  (unit_random(&seed) % 64), rates[i]))
				return;
	}
	CHECK(bfc_ns_to_quanta(0, 1250000000) == 0, "XON");
	CHECK(bfc_ns_to_quanta(1, 1250000000) == 1);
	CHECK(bfc_ns_to_quanta(512, 1250000000) == 10);
	CHECK(bfc_ns_to_quanta(513, 1250000000) == 11);
	CHECK(bfc_ns_to_quanta(41942, 100000000000ULL) == 65535);
	CHECK(bfc_ns_to_quanta(1000000, 100000000000ULL) == 65535);
	CHECK(bfc_ns_to_quanta(UNIT, 0) == 1, "a rate not known yet");
}

/* Said and understood: never shorter than meant, as far as it can be said. */
static void test_round_trip(void)
{
	u64 seed = 13;
	unsigned int i, k;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		u64 full = bfc_quanta_to_ns(65535, rates[i]);

		for (k = 0; k < 20000; k++) {
			u64 ns = unit_random(&seed) % (full + 1);
			u16 q = bfc_ns_to_quanta(ns, rates[i]);

			if (!CHECK(bfc_quanta_to_ns(q, rates[i]) >= ns,
				   "rate %llu, %llu ns", rates[i], ns))
				return;
		}
	}
}

/*
 * A sender that repeats as it is told, and a bad link: each repetition may be up
 * to lead late, and losses in a row get lost. Return: whether the pause ran out.
 */
static bool runs_out(u64 period, u64 pause, u64 lead, unsigned int losses,
		     u64 *seed)
{
	u64 deadline = pause, n, at;
	unsigned int lost = 0;

	for (n = 1; n < 40; n++) {
		at = n * period;
		/* the worst: as many as allowed, then the latest */
		if (lost < losses && (!seed || unit_random(seed) % 2)) {
			lost++;
			continue;
		}
		lost = 0;
		at += seed ? unit_random(seed) % (lead + 1) : lead;
		if (at > deadline)
			return true;
		/* frames keep their order; an early one ends no earlier */
		deadline = at + pause;
		if (!seed)	/* the next one counts from the punctual one */
			deadline = n * period + pause;
	}
	return false;
}

static void test_refresh(void)
{
	u64 seed = 14;
	unsigned int i, k;

	for (i = 0; i < 20000; i++) {
		u64 rate = rates[unit_random(&seed) % UNIT_SIZE(rates)];
		u16 q = unit_random(&seed) >> (unit_random(&seed) % 16);
		u64 pause = q * UNIT / rate;
		u64 lead = unit_random(&seed) % (pause + pause / 4 + 2);
		unsigned int losses = unit_random(&seed) % 4;
		u64 period = bfc_quanta_refresh(q, rate, lead, losses);

		if (!period) {
			/* not even every nanosecond would do */
			CHECK(pause < lead + losses + 1);
			continue;
		}
		if (!CHECK(!runs_out(period, pause, lead, losses, NULL),
			   "rate %llu, %u quanta, lead %llu, losses %u: %llu",
			   rate, q, lead, losses, period) ||
		    !CHECK(runs_out(period + 1, pause, lead, losses, NULL),
			   "rate %llu, %u quanta, lead %llu, losses %u: %llu could be longer",
			   rate, q, lead, losses, period))
			return;
		for (k = 0; k < 10; k++)
			if (!CHECK(!runs_out(period, pause, lead, losses,
					     &seed)))
				return;
	}
	/* 10 Gbit/s: 3.355 ms; a frame of 1500 bytes and 50 us of softirq */
	CHECK(bfc_quanta_refresh(65535, 1250000000, 51300, 0) == 3304092);
	CHECK(bfc_quanta_refresh(65535, 1250000000, 51300, 1) == 1652046);
	CHECK(bfc_quanta_refresh(0, 1250000000, 0, 0) == 0);
	CHECK(bfc_quanta_refresh(10, 1250000000, 512, 0) == 0);
	CHECK(bfc_quanta_refresh(1, 0, 0, 0) == UNIT);
}

/* In time with two losses, or as often as a tenth of the link allows. */
static void test_refresh_share(void)
{
	u64 seed = 15;
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		u64 rate = rates[unit_random(&seed) % UNIT_SIZE(rates)];
		u16 q = unit_random(&seed) >> (unit_random(&seed) % 16);
		u64 frame = 64 + unit_random(&seed) % 9000;
		u64 most = 1 + unit_random(&seed) % 100000000;
		u64 period = bfc_pfc_refresh(q, rate, frame, most);
		u64 wire = BFC_PFC_WIRE * 1000000000ULL / rate;
		u64 lead = BFC_PFC_LATE_NS +
			   (frame + BFC_PFC_WIRE) * 1000000000ULL / rate;

		CHECK(period >= 10 * wire, "rate %llu: each %llu ns", rate,
		      period);
		if (period >= 10 * wire + 10)
			CHECK(period <= most &&
			      !runs_out(period, q * UNIT / rate, lead, 2, NULL),
			      "rate %llu, %u quanta: each %llu ns", rate, q,
			      period);
	}
	/* 10 Mbit/s, 1 ms, which is shorter than a frame; 10 Gbit/s, the longest */
	CHECK(bfc_pfc_refresh(20, 1250000, 1514, 1000000) == 672000);
	CHECK(bfc_pfc_refresh(65535, 1250000000, 1514, 1000000000) == 1111371);
	CHECK(bfc_pfc_refresh(65535, 1250000000, 1514, 1000000) == 1000000);
	CHECK(bfc_pfc_refresh(65535, 0, 0, 1) == 10 * BFC_PFC_WIRE * 1000000000ULL);
}

/* A tenth of the link: PAUSE frames of 90 bytes, 24 more on the wire, and of 598 */
static void test_least(void)
{
	CHECK(bfc_pause_least(12500000, 90 + 24) == 10 * 114 * 80, "100 Mbit/s, 32 queues");
	CHECK(bfc_pause_least(1000, 90 + 24) == 1140000000);
	CHECK(bfc_pause_least(125000000000ULL, 598 + 24) == 49);
	CHECK(bfc_pause_least(0, 90 + 24) == 1140000000000ULL, "a rate not known yet");
}

/* A quarter of the HRTT apart, but PFC frames take a tenth of the link at most, and no
 * more seldom than later on.
 */
static void test_quick(void)
{
	/* 20 Mbit/s, 6 ms; 0.1 ms; 100 Gbit/s, 40 us; 4 us */
	CHECK(bfc_pfc_quick(2500000, 6000000, 3360000) == 1500000);
	CHECK(bfc_pfc_quick(2500000, 100000, 3360000) == 336000);
	CHECK(bfc_pfc_quick(12500000000, 80000, 100000) == 20000);
	CHECK(bfc_pfc_quick(12500000000, 4000, 100000) == BFC_REFRESH_MIN);
	CHECK(bfc_pfc_quick(2500000, 1000000000, 3360000) == 3360000);
	CHECK(bfc_pfc_quick(2500000, 4 * 3360000, 3360001) == 3360000);
}

static const struct unit_case cases[] = {
	{ "pfc wire: constants of the standard", test_constants },
	{ "pfc wire: a frame is written byte by byte", test_put },
	{ "pfc wire: what is not enabled is sent as zero", test_put_disabled },
	{ "pfc wire: frames of all lengths are read, or too short", test_get },
	{ "pfc wire: reserved bytes and padding are ignored",
	  test_get_liberal },
	{ "pfc wire: all enable vectors", test_enable },
	{ "pfc wire: each bit that makes it MAC control matters", test_kind },
	{ "pfc wire: not to an address of a station", test_kind_own },
	{ "pfc wire: PAUSE and others are not taken for PFC", test_opcodes },
	{ "pfc wire: fuzzed frames", test_fuzz },
	{ "pfc wire: quanta to ns, rounded up", test_to_ns },
	{ "pfc wire: ns to quanta, rounded up, saturated", test_to_quanta },
	{ "pfc wire: a pause is never shorter than meant", test_round_trip },
	{ "pfc wire: refresh outlasts losses, and is not too often",
	  test_refresh },
	{ "pfc wire: refresh leaves the link to data", test_refresh_share },
	{ "pfc wire: repetitions take a tenth of the link", test_least },
	{ "pfc wire: changes are repeated within the HRTT", test_quick },
};

#include "unit_main.h"
