// SPDX-License-Identifier: GPL-2.0
/*
 * Delay-based congestion control (BFC App. A.1, Alg. 1), by numbers worked out by
 * hand. model_delay.c compares it with floating point.
 */
#include "unit.h"
#include "delay.h"

#define GBIT100		12500000000ULL	/* bytes/s */
#define W(packets)	((packets) * DELAY_PACKET)

/* 100 Gbit/s, 8 us, 1000 bytes: 100 packets, and 20 us */
static struct delay_conf usual(void)
{
	struct delay_conf c;

	CHECK(!delay_configure(&c, GBIT100, 8000, DELAY_TARGET_DEFAULT, 1000));
	return c;
}

static void test_configure(void)
{
	struct delay_conf c = usual();
	struct delay s;

	CHECK(c.w_init == W(100) && c.w_max == W(250) && c.target == 20000);
	CHECK(!c.reserved);
	delay_init(&s, &c);
	CHECK(s.w == W(100) && delay_packets(&s) == 100);
	/* less than two packets fit */
	CHECK(!delay_configure(&c, 1250000, 8000, 2500, 1000));
	CHECK(c.w_init == W(2) && c.w_max == W(5), "%llu", c.w_init);
	CHECK(!delay_configure(&c, 1500000, 1000000, 2500, 1000));
	CHECK(c.w_init == W(2), "%llu", c.w_init);
	/* the widest: 68 bits */
	CHECK(!delay_configure(&c, 100000000000ULL, DELAY_RTT_MAX, 4294, 64));
	CHECK(c.w_init == DELAY_W_MAX && c.w_max == DELAY_W_MAX);
	CHECK(c.target == 4294000000U);
	/* both parts of the product: 12.345678901 GB/s x 1 ms */
	CHECK(!delay_configure(&c, 12345678901ULL, 1000000, 2500, 1500));
	CHECK(c.w_init == 12345678ULL * 65536 / 1500, "%llu", c.w_init);
}

static void test_ranges(void)
{
	struct delay_conf c;

#define REFUSED(rate, base, factor, packet, name) do {			\
	const char *bad = delay_configure(&c, rate, base, factor, packet); \
									\
	CHECK(bad && !strcmp(bad, name), "%s", bad ?: "good");		\
} while (0)
	REFUSED(0, 8000, 2500, 1000, "rate");
	REFUSED(100000000001ULL, 8000, 2500, 1000, "rate");
	REFUSED(GBIT100, DELAY_RTT_MIN - 1, 2500, 1000, "base RTT");
	REFUSED(GBIT100, DELAY_RTT_MAX + 1, 2500, 1000, "base RTT");
	REFUSED(GBIT100, 8000, 1000, 1000, "target");
	REFUSED(GBIT100, 8000, DELAY_TARGET_MAX + 1, 1000, "target");
	REFUSED(GBIT100, DELAY_RTT_MAX, 4295, 1000, "target");
	REFUSED(GBIT100, 8000, 2500, 63, "packet");
#undef REFUSED
	CHECK(!delay_configure(&c, 1, DELAY_RTT_MIN, 1001, 64));
	CHECK(!delay_configure(&c, GBIT100, DELAY_RTT_MIN, DELAY_TARGET_MAX,
			       1000));
}

/* w +- |RTT - target| / RTT */
static void test_by_hand(void)
{
	struct delay_conf c = usual();
	struct delay s;

	delay_init(&s, &c);
	delay_new_ack(&s, &c, 40000, 1);	/* -20/40 */
	CHECK(s.w == W(100) - DELAY_PACKET / 2, "%llu", s.w);
	CHECK(delay_packets(&s) == 99);
	delay_new_ack(&s, &c, 16000, 1);	/* +4/16 */
	CHECK(s.w == W(100) - DELAY_PACKET / 4, "%llu", s.w);
	delay_new_ack(&s, &c, 8000, 3);		/* +3 x 12/8 */
	CHECK(s.w == W(104) + DELAY_PACKET / 4, "%llu", s.w);
	delay_new_ack(&s, &c, 20000, 100);	/* at the target */
	CHECK(s.w == W(104) + DELAY_PACKET / 4, "%llu", s.w);
	delay_new_ack(&s, &c, 0, 5);		/* no sample */
	CHECK(s.w == W(104) + DELAY_PACKET / 4, "%llu", s.w);
	delay_new_ack(&s, &c, 80000, 0);	/* nothing new acknowledged */
	CHECK(s.w == W(104) + DELAY_PACKET / 4, "%llu", s.w);
}

/* An ACK of n packets is n ACKs, but for the rounding. */
static void test_acked(void)
{
	struct delay_conf c = usual();
	u64 seed = 41;
	u32 i, k;

	for (i = 0; i < 2000; i++) {
		u64 rtt = 5000 + unit_random(&seed) % 60000;
		u32 n = unit_random(&seed) % 64;
		struct delay one, many;

		delay_init(&one, &c);
		delay_init(&many, &c);
		for (k = 0; k < n; k++)
			delay_new_ack(&one, &c, rtt, 1);
		delay_new_ack(&many, &c, rtt, n);
		CHECK(one.w <= many.w + n && many.w <= one.w + n,
		      "%u of %llu ns: %llu %llu", n, rtt, one.w, many.w);
	}
}

static void test_bounds(void)
{
	struct delay_conf c = usual();
	struct delay s;
	u32 i;

	delay_init(&s, &c);
	for (i = 0; i < 1000; i++) {
		delay_new_ack(&s, &c, 1000000000, 1);
		CHECK(s.w >= W(2) && delay_packets(&s) >= 2);
	}
	CHECK(s.w == W(2), "%llu", s.w);
	for (i = 0; i < 1000; i++) {
		delay_new_ack(&s, &c, 8000, 1);
		CHECK(s.w <= c.w_max);
	}
	CHECK(s.w == c.w_max, "%llu", s.w);
	/* the widest numbers */
	delay_new_ack(&s, &c, 1, ~0U);
	CHECK(s.w == c.w_max, "%llu", s.w);
	delay_new_ack(&s, &c, ~0ULL, ~0U);
	CHECK(s.w == W(2), "%llu", s.w);
	s.w = W(200);
	delay_new_ack(&s, &c, 1ULL << 32, 100);	/* as if just below */
	CHECK(s.w > W(100) && s.w < W(101), "%llu", s.w);
	s.w = DELAY_W_MAX;
	c.w_max = DELAY_W_MAX;
	delay_new_ack(&s, &c, ~0U, ~0U);
	CHECK(s.w < DELAY_W_MAX && s.w >= DELAY_W_MAX - W(DELAY_ACKED_MAX),
	      "%llu", s.w);
	s.w = 0;
	CHECK(delay_packets(&s) == 2);
}

/* A request and its answer take long, one after the other, and then there is much to
 * send: a receiver acknowledges what is more than a segment at once, one alone after 40 ms.
 */
static void test_delayed_acks(void)
{
	struct delay_conf c = usual();
	struct delay s;
	u32 i, n;

	delay_init(&s, &c);
	for (i = 0; i < 200; i++)
		delay_new_ack(&s, &c, 1000000, 1);
	for (i = 0; i < 20 && delay_packets(&s) < 100; i++) {
		n = delay_packets(&s);
		delay_new_ack(&s, &c, n > 1 ? 8000 : 40000000, n);
	}
	CHECK(i < 20, "%u packets after %u round trips", delay_packets(&s), i);
}

static void test_loss(void)
{
	struct delay_conf c = usual();
	struct delay s;

	delay_init(&s, &c);
	delay_loss(&s);
	CHECK(s.w == W(50), "%llu", s.w);
	s.w = W(5);
	delay_loss(&s);
	CHECK(s.w == W(2) + DELAY_PACKET / 2 && delay_packets(&s) == 2);
	delay_loss(&s);
	CHECK(s.w == W(2), "%llu", s.w);
}

/* What was taken for lost: back to where the last loss found it, not below. */
static void test_undo(void)
{
	struct delay_conf c = usual();
	struct delay s = { .prior = W(1000) };

	delay_init(&s, &c);
	delay_undo(&s);
	CHECK(s.w == W(100), "%llu", s.w);
	delay_loss(&s);
	delay_undo(&s);
	CHECK(s.w == W(100) && delay_packets(&s) == 100, "%llu", s.w);
	/* and Alg. 1 goes on from there */
	delay_new_ack(&s, &c, 40000, 2);
	CHECK(s.w == W(99), "%llu", s.w);
	delay_loss(&s);
	delay_loss(&s);
	delay_undo(&s);
	CHECK(s.w == W(49) + DELAY_PACKET / 2, "%llu", s.w);
	/* it may have grown meanwhile */
	delay_loss(&s);
	s.w = W(200);
	delay_undo(&s);
	CHECK(s.w == W(200), "%llu", s.w);
}

static const struct unit_case cases[] = {
	{ "delay: parameters by the paper's rules", test_configure },
	{ "delay: ranges of parameters", test_ranges },
	{ "delay: steps of Alg. 1 by hand", test_by_hand },
	{ "delay: an ACK of many packets", test_acked },
	{ "delay: between two packets and the target's window", test_bounds },
	{ "delay: delayed ACKs of single packets", test_delayed_acks },
	{ "delay: loss halves the window", test_loss },
	{ "delay: a loss that was none is undone", test_undo },
};

#include "unit_main.h"
