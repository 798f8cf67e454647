// SPDX-License-Identifier: GPL-2.0
/*
 * INT of HPCC: bytes against Fig. 7, written by hand; units, wraps and speeds.
 */
#include "unit.h"
#include <linux/bfc_int.h>

#define ROUNDS	200000

/* Links of 10 Mbit/s to 800 Gbit/s, by code, in Mbit/s. */
static const u32 speeds[16] = {
	0, 10, 100, 1000, 2500, 5000, 10000, 20000, 25000, 40000, 50000, 56000,
	100000, 200000, 400000, 800000,
};

/* The fields of Fig. 7 as bits of one number: nothing to do with the code. */
static u64 packed(const struct bfc_int_hop *h)
{
	return (u64)h->speed << 60 | (u64)h->ts << 36 | (u64)h->tx << 16 |
	       h->qlen;
}

static u64 big_endian(const __u8 *p, unsigned int n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static bool same_hop(const struct bfc_int_hop *a, const struct bfc_int_hop *b)
{
	return a->ts == b->ts && a->tx == b->tx && a->qlen == b->qlen &&
	       a->speed == b->speed;
}

static void test_constants(void)
{
	CHECK(BFC_INT_LEN(BFC_INT_HOPS_MAX) == 42, "HPCC's overhead");
	/* what is left beside timestamps, and without */
	CHECK(BFC_INT_TCP_LEN(3) == 40 - 12);
	CHECK(BFC_INT_TCP_LEN(BFC_INT_TCP_HOPS_MAX) == 36);
	CHECK(BFC_INT_TCP_LEN(BFC_INT_TCP_HOPS_MAX + 1) > 40);
	CHECK(BFC_INT_UDP_PORT == 0xbfc1);
}

static void test_bytes(void)
{
	static const __u8 head[] = { 0x3a, 0xbc };
	static const __u8 hop[] = {
		0xc1, 0x23, 0x45,	/* B 12, TS 0x12345 .. */
		0x6f,			/* .. 6, txBytes 0xf */
		0xed, 0xcb,		/* .. edcb */
		0x98, 0x76,		/* qLen */
	};
	struct bfc_int_hop h = {
		.speed = 12, .ts = 0x123456, .tx = 0xfedcb, .qlen = 0x9876,
	}, got;
	struct bfc_int_head a = { .nhop = 3, .path = 0xabc }, b;
	__u8 p[BFC_INT_HOP_LEN + 2];

	memset(p, 0xaa, sizeof(p));
	bfc_int_put_head(p + 1, &a);
	CHECK(!memcmp(p + 1, head, sizeof(head)));
	CHECK(p[0] == 0xaa && p[3] == 0xaa, "bytes beside it");
	bfc_int_get_head(head, &b);
	CHECK(b.nhop == 3 && b.path == 0xabc);

	memset(p, 0xaa, sizeof(p));
	bfc_int_put_hop(p + 1, &h);
	CHECK(!memcmp(p + 1, hop, sizeof(hop)));
	CHECK(p[0] == 0xaa && p[sizeof(p) - 1] == 0xaa, "bytes beside it");
	bfc_int_get_hop(hop, &got);
	CHECK(same_hop(&h, &got));
}

/* What does not fit its field stays out of its neighbours. */
static void test_cut(void)
{
	struct bfc_int_hop h = {}, got;
	struct bfc_int_head head = { .nhop = 0x17, .path = 0xf123 }, b;
	__u8 p[BFC_INT_HOP_LEN];

	bfc_int_put_head(p, &head);
	bfc_int_get_head(p, &b);
	CHECK(b.nhop == 7 && b.path == 0x123);

	h.ts = 0xff000001;
	bfc_int_put_hop(p, &h);
	bfc_int_get_hop(p, &got);
	CHECK(got.ts == 1 && !got.speed && !got.tx && !got.qlen);
	h.ts = 0;
	h.tx = 0xfff00001;
	bfc_int_put_hop(p, &h);
	bfc_int_get_hop(p, &got);
	CHECK(got.tx == 1 && !got.speed && !got.ts && !got.qlen);
	h.tx = 0;
	h.qlen = 0xf0001;
	bfc_int_put_hop(p, &h);
	bfc_int_get_hop(p, &got);
	CHECK(got.qlen == 1 && !got.speed && !got.ts && !got.tx);
	h.qlen = 0;
	h.speed = 0xf1;
	bfc_int_put_hop(p, &h);
	bfc_int_get_hop(p, &got);
	CHECK(got.speed == 1 && !got.ts && !got.tx && !got.qlen);
}

static void test_round_trip(void)
{
	u64 seed = 7;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		struct bfc_int_hop h = {
			.ts = unit_random(&seed) & BFC_INT_TS_MASK,
			.tx = unit_random(&seed) & BFC_INT_TX_MASK,
			.qlen = unit_random(&seed) & BFC_INT_QLEN_MAX,
			.speed = unit_random(&seed) & BFC_INT_SPEED_MASK,
		}, got;
		u64 bits = unit_random(&seed);
		struct bfc_int_head head;
		__u8 p[BFC_INT_HOP_LEN], q[BFC_INT_HOP_LEN];
		unsigned int k;

		bfc_int_put_hop(p, &h);
		if (!CHECK(big_endian(p, sizeof(p)) == packed(&h)))
			return;
		bfc_int_get_hop(p, &got);
		if (!CHECK(same_hop(&h, &got)))
			return;

		/* any bytes are a record, and the same bytes again */
		for (k = 0; k < sizeof(p); k++)
			p[k] = bits >> 8 * k;
		bfc_int_get_hop(p, &got);
		bfc_int_put_hop(q, &got);
		if (!CHECK(!memcmp(p, q, sizeof(p))))
			return;
		bfc_int_get_head(p, &head);
		if (!CHECK((head.nhop << 12 | head.path) == big_endian(p, 2)))
			return;
		bfc_int_put_head(q, &head);
		if (!CHECK(!memcmp(p, q, BFC_INT_HEAD_LEN)))
			return;
	}
}

static void test_units(void)
{
	static const struct {
		u32 ns, tx, backlog, ts, units, qlen;
	} table[] = {
		{ 0, 0, 0, 0, 0, 0 },
		{ 1, 127, 79, 1, 0, 0 },
		{ 0xffffff, 128, 80, 0xffffff, 1, 1 },
		{ 0x1000000, 0x7ffffff, 5242799, 0, 0xfffff, 65534 },
		{ 0xff000002, 0x8000000, 5242800, 2, 0, 65535 },
		{ 0xffffffff, 0xffffffff, 5242880, 0xffffff, 0xfffff, 65535 },
		{ 5, 300, 0xffffffff, 5, 2, 65535 },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(table); i++) {
		struct bfc_int_hop h;

		bfc_int_hop_set(&h, table[i].ns, table[i].tx, table[i].backlog,
				i);
		CHECK(h.ts == table[i].ts, "case %u: %u", i, h.ts);
		CHECK(h.tx == table[i].units, "case %u: %u", i, h.tx);
		CHECK(h.qlen == table[i].qlen, "case %u: %u", i, h.qlen);
		CHECK(h.speed == i);
	}
	for (i = 1; i <= BFC_INT_QLEN_MAX; i++) {
		struct bfc_int_hop full, less;

		bfc_int_hop_set(&full, 0, 0, i * BFC_INT_QLEN_UNIT, 0);
		bfc_int_hop_set(&less, 0, 0, i * BFC_INT_QLEN_UNIT - 1, 0);
		if (!CHECK(full.qlen == i && less.qlen == i - 1, "%u units", i))
			return;
	}
}

/* A clock and a counter that run on, seen through their low bits. */
static void test_wrap(void)
{
	u64 ns = 0xfffffff0, tx = 0x7fffff0, seed = 11;
	unsigned int i, wraps = 0;

	for (i = 0; i < ROUNDS; i++) {
		u64 dt = unit_random(&seed) % 0x1000000;
		u64 dx = unit_random(&seed) % 0x7ffff80;
		struct bfc_int_hop a, b;
		u64 units;

		bfc_int_hop_set(&a, ns, tx, 0, 1);
		bfc_int_hop_set(&b, ns + dt, tx + dx, 0, 1);
		wraps += b.ts < a.ts;
		units = (tx + dx) / 128 - tx / 128;
		if (!CHECK(bfc_int_ts_delta(b.ts, a.ts) == dt) ||
		    !CHECK(bfc_int_tx_delta(b.tx, a.tx) == units))
			return;
		ns += dt;
		tx += dx;
	}
	CHECK(wraps > ROUNDS / 4, "%u", wraps);
	CHECK(bfc_int_ts_delta(0, 0xffffff) == 1);
	CHECK(bfc_int_ts_delta(0xffffff, 0) == 0xffffff);
	CHECK(bfc_int_tx_delta(3, 0xffffe) == 5);
	CHECK(!bfc_int_ts_delta(7, 7) && !bfc_int_tx_delta(7, 7));
}

static void test_speeds(void)
{
	u32 code;

	for (code = 0; code < 16; code++) {
		u64 rate = speeds[code] * 125000ULL;

		CHECK(bfc_int_speed_rate(code) == rate, "code %u", code);
		CHECK(bfc_int_speed_code(rate) == code, "code %u", code);
		if (!code)
			continue;
		/* shapers are a bit off a speed */
		CHECK(bfc_int_speed_code(rate - rate / 50) == code);
		CHECK(bfc_int_speed_code(rate + rate / 50) == code);
	}
	CHECK(!bfc_int_speed_rate(16) && !bfc_int_speed_rate(~0U));
	CHECK(bfc_int_speed_code(1) == 1);
	CHECK(bfc_int_speed_code(~0ULL) == 15);
}

/* The nearest of all, the slower of two: by looking at all of them. */
static void test_nearest(void)
{
	u64 seed = 13;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		u64 rate = unit_random(&seed) >> (27 + i % 30);
		u64 best = ~0ULL;
		u32 code, want = 0;

		if (i < 15)	/* right between two */
			rate = (speeds[i] + speeds[i + 1]) * 62500ULL;
		if (!rate || rate > 200000000000ULL)
			continue;
		for (code = 1; code < 16; code++) {
			u64 speed = speeds[code] * 125000ULL;
			u64 off = rate > speed ? rate - speed : speed - rate;

			if (off < best) {
				best = off;
				want = code;
			}
		}
		if (!CHECK(bfc_int_speed_code(rate) == want,
			   "%llu bytes/s: %u, not %u", rate,
			   bfc_int_speed_code(rate), want))
			return;
	}
}

static void test_pass(void)
{
	struct bfc_int_head h = {};
	unsigned int i;
	u32 path = 0;

	for (i = 1; i <= 20; i++) {
		path ^= i * 37 & 0xfff;
		bfc_int_pass(&h, i * 37);
		CHECK(h.nhop == (i < 15 ? i : 15), "hop %u: %u", i, h.nhop);
		CHECK(h.path == path);
	}
	/* another path is another number, whatever was there before */
	bfc_int_pass(&h, 0x1fff);
	CHECK(h.path == (path ^ 0xfff));
}

static void test_ids(void)
{
	static __u8 seen[4096];
	unsigned int node, port, same = 0, distinct = 0;

	memset(seen, 0, sizeof(seen));
	for (node = 0; node < 256; node++) {
		for (port = 1; port <= 64; port++) {
			u32 id = bfc_int_hop_id(node, port);

			if (!CHECK(id >= 1 && id <= 4095, "%u", id))
				return;
			distinct += !seen[id];
			seen[id] = 1;
			/* neighbours in number are not neighbours in id */
			same += id == bfc_int_hop_id(node, port + 1);
			same += id == bfc_int_hop_id(node + 1, port);
		}
	}
	/* of 16384 drawings of 4095: 98.2 % of the ids, 8 pairs */
	CHECK(distinct > 3950, "%u", distinct);
	CHECK(same < 30, "%u", same);
	CHECK(bfc_int_hop_id(5, 6) == bfc_int_hop_id(5, 6));
}

static void test_tcp_hops(void)
{
	unsigned int len;

	for (len = 0; len < 256; len++) {
		u32 want = len == 12 ? 1 : len == 20 ? 2 : len == 28 ? 3 :
			   len == 36 ? 4 : 0;

		CHECK(bfc_int_tcp_hops(len) == want, "length %u: %u", len,
		      bfc_int_tcp_hops(len));
	}
}

/* A queue in 12 bits: by the definition of a floating point number. */
static void test_tcp_qlen(void)
{
	u32 qlen, before = 0;

	for (qlen = 0; qlen <= BFC_INT_QLEN_MAX; qlen++) {
		u32 code = bfc_int_tcp_qlen_code(qlen), got, bits = 0;

		while (qlen >> bits)
			bits++;
		got = bits > 10 ? qlen >> (bits - 10) << (bits - 10) : qlen;
		if (!CHECK(code < 4096 && code >= before, "%u: %u", qlen, code) ||
		    !CHECK(bfc_int_tcp_qlen(code) == got, "%u: %u", qlen,
			   bfc_int_tcp_qlen(code)))
			return;
		before = code;
	}
	CHECK(before == 4095);
	for (qlen = 0; qlen < 4096; qlen++)
		if (!CHECK(bfc_int_tcp_qlen_code(bfc_int_tcp_qlen(qlen)) == qlen))
			return;
}

static void test_tcp_records(void)
{
	/* B 12, TS 0x123456, txBytes 0xfedcb, qLen 1.5 x 2^11 in units, id 15 */
	static const __u8 record[] = {
		0xc1, 0x23, 0x45, 0x6f, 0xed, 0xcb, 0x70, 0x0f,
	};
	struct bfc_int_hop h = {
		.speed = 12, .ts = 0x123456, .tx = 0xfedcb, .qlen = 3 << 10,
	}, got, none = {};
	static const __u8 zero[BFC_INT_HOP_LEN];
	u64 bits = bfc_int_tcp_hop_bits(&h, 4095);
	struct bfc_int_head head = {};
	__u8 p[BFC_INT_HOP_LEN] = {};
	u32 id;

	CHECK(bits == big_endian(record, sizeof(record)), "%llx",
	      (unsigned long long)bits);
	bfc_int_tcp_get_hop(record, &got);
	CHECK(same_hop(&h, &got));
	CHECK(bfc_int_tcp_used(record) && !bfc_int_tcp_used(zero));
	p[7] = 0xf0;
	CHECK(!bfc_int_tcp_used(p), "an id, not a queue");
	/* A port with nothing to tell has been there all the same. */
	for (id = 1; id < 4096; id++) {
		u32 mine = bfc_int_tcp_id(id);

		if (!CHECK(mine >= 1 && mine <= 15, "id %u: %u", id, mine) ||
		    !CHECK(bfc_int_tcp_hop_bits(&none, id) == mine))
			return;
	}
	CHECK(bfc_int_tcp_id(1) == 1 && bfc_int_tcp_id(4095) == 15);
	h.qlen = 0xf0001;
	CHECK((bfc_int_tcp_hop_bits(&h, 1) & 0xffff) == (1 << 4 | 1));

	for (id = 1; id <= 4; id++) {
		p[7] = 0xf0 | id;
		bfc_int_tcp_pass(&head, p);
	}
	CHECK(head.nhop == 4 && head.path == (0x321 ^ 4), "%u %x", head.nhop,
	      head.path);
	for (id = 0; id < 0x10000; id++)
		if (!CHECK(bfc_int_tcp_exid_ok(id) ==
			   (id == 0xbfc1 || id == 0xbfc2), "%x", id))
			return;
}

static const struct unit_case cases[] = {
	{ "lengths fit their carriers", test_constants },
	{ "head and record byte by byte", test_bytes },
	{ "values that are too large are cut", test_cut },
	{ "random records there and back", test_round_trip },
	{ "units, and where they end", test_units },
	{ "differences across wraps", test_wrap },
	{ "each speed has its code", test_speeds },
	{ "other rates get the nearest", test_nearest },
	{ "nHop stops, pathID goes on", test_pass },
	{ "ids of ports", test_ids },
	{ "lengths of TCP options", test_tcp_hops },
	{ "queues in records of TCP", test_tcp_qlen },
	{ "records of TCP", test_tcp_records },
};

#include "unit_main.h"
