// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN's reaction point: by numbers worked out by hand, and against a model in
 * floating point whose timers expire one by one, in the order of their times.
 */
#include "unit.h"
#include "dcqcn.h"

#define GBIT		125000000ULL	/* bytes/s */
#define US		1000ULL
#define START		(1000000 * US)
#define ONE		DCQCN_ALPHA_ONE

/* 40 Gbit/s and what SIGCOMM 2015 has, but for the byte counter */
static struct dcqcn_conf usual(void)
{
	return (struct dcqcn_conf) {
		.rate = 40 * GBIT,
		.min = GBIT / 10,
		.ai = GBIT / 25,
		.hai = GBIT / 5,
		.g = 256,
		.fast = 5,
		.alpha_ns = 55 * US,
		.cut_ns = 50 * US,
		.timer_ns = 55 * US,
	};
}

static void test_ranges(void)
{
	struct dcqcn_conf c = usual();

	CHECK(!dcqcn_check(&c));
#define REFUSED(field, value, name) do {				\
	struct dcqcn_conf one = usual();				\
	const char *bad;						\
									\
	one.field = (value);						\
	bad = dcqcn_check(&one);					\
	CHECK(bad && !strcmp(bad, name), "%s", bad ?: "good");		\
} while (0)
	REFUSED(rate, 0, "rate");
	REFUSED(rate, DCQCN_RATE_MAX + 1, "rate");
	REFUSED(min, 0, "min_rate");
	REFUSED(min, 40 * GBIT + 1, "min_rate");
	REFUSED(ai, 0, "dcqcn_ai");
	REFUSED(ai, 40 * GBIT + 1, "dcqcn_ai");
	REFUSED(hai, 0, "dcqcn_hai");
	REFUSED(hai, 40 * GBIT + 1, "dcqcn_hai");
	REFUSED(g, 0, "dcqcn_g");
	REFUSED(g, 65537, "dcqcn_g");
	REFUSED(fast, 1001, "dcqcn_fast");
	REFUSED(alpha_ns, 0, "dcqcn_alpha_ns");
	REFUSED(alpha_ns, DCQCN_NS_MAX + 1, "dcqcn_alpha_ns");
	REFUSED(cut_ns, 0, "dcqcn_cut_ns");
	REFUSED(cut_ns, DCQCN_NS_MAX + 1, "dcqcn_cut_ns");
	REFUSED(timer_ns, 0, "dcqcn_timer_ns");
	REFUSED(timer_ns, DCQCN_NS_MAX + 1, "dcqcn_timer_ns");
#undef REFUSED
	c.rate = DCQCN_RATE_MAX;
	c.min = c.rate;
	c.ai = c.rate;
	c.hai = c.rate;
	c.g = 65536;
	c.fast = 1000;
	CHECK(!dcqcn_check(&c));
}

/* Line rate until the first mark, which halves it: alpha is 1. */
static void test_first(void)
{
	struct dcqcn_conf c = usual();
	struct dcqcn s;

	dcqcn_init(&s, &c);
	CHECK(s.rc == 40 * GBIT && s.rt == 40 * GBIT && s.alpha == ONE);
	dcqcn_ack(&s, &c, START - 500 * US, 1000, false);
	CHECK(s.rc == 40 * GBIT && !s.alpha_next);
	dcqcn_ack(&s, &c, START, 1000, true);
	CHECK(s.rc == 20 * GBIT && s.rt == 40 * GBIT, "%llu %llu", s.rc, s.rt);
	CHECK(s.alpha == ONE);
	CHECK(s.alpha_next == START + 55 * US && s.cut_next == START + 50 * US);
}

/* Marks within 50 us of a decrease make none; the target stays until an increase. */
static void test_cuts(void)
{
	struct dcqcn_conf c = usual();
	struct dcqcn s;

	dcqcn_init(&s, &c);
	dcqcn_ack(&s, &c, START, 0, true);
	dcqcn_ack(&s, &c, START + 50 * US - 1, 0, true);
	CHECK(s.rc == 20 * GBIT && s.notified);
	dcqcn_ack(&s, &c, START + 50 * US, 0, true);
	CHECK(s.rc == 10 * GBIT && s.rt == 40 * GBIT, "%llu %llu", s.rc, s.rt);
	/* alpha: 55 us after the first mark it is still 1, as there were marks */
	dcqcn_ack(&s, &c, START + 60 * US, 0, false);
	CHECK(s.alpha == ONE && !s.notified && s.alpha_next == START + 110 * US);
	/* and then not: 255/256 */
	dcqcn_ack(&s, &c, START + 110 * US, 0, false);
	CHECK(s.alpha == ONE / 256 * 255, "%u", s.alpha);
	/* the timer began anew with the decrease: 105 us; 25 Gbit/s, and from there */
	CHECK(s.rc == 25 * GBIT && s.timer_stage == 1, "%llu", s.rc);
	dcqcn_ack(&s, &c, START + 111 * US, 0, true);
	CHECK(s.rt == 25 * GBIT, "%llu", s.rt);
	CHECK(s.rc == 25 * GBIT - 25 * GBIT * 255 / 512, "%llu", s.rc);
	CHECK(!s.timer_stage && s.timer_next == START + 166 * US);
}

static void test_least(void)
{
	struct dcqcn_conf c = usual();
	struct dcqcn s;
	u32 i;

	dcqcn_init(&s, &c);
	for (i = 0; i < 20; i++)
		dcqcn_ack(&s, &c, START + i * 50 * US, 0, true);
	CHECK(s.rc == c.min, "%llu", s.rc);
}

/* Five times half way to the target, then R_AI, then R_HAI. */
static void test_stages(void)
{
	struct dcqcn_conf c = usual();
	u64 rc = 20 * GBIT, rt = 40 * GBIT;
	struct dcqcn s;
	u32 i;

	c.rate = 80 * GBIT;
	dcqcn_init(&s, &c);
	dcqcn_ack(&s, &c, START, 0, true);
	s.rc = rc;
	s.rt = rt;
	for (i = 1; i <= 8; i++) {
		dcqcn_ack(&s, &c, START + i * 55 * US - 1, 0, false);
		CHECK(s.rc == rc, "%u: too early", i);
		dcqcn_ack(&s, &c, START + i * 55 * US, 0, false);
		rt += i <= 5 ? 0 : i == 6 ? c.ai : c.hai;
		rc = (rc + rt) / 2;
		CHECK(s.rc == rc && s.rt == rt, "%u: %llu %llu", i, s.rc, s.rt);
	}
	/* not beyond the link, and the count stays */
	for (i = 9; i < 70000; i++)
		dcqcn_ack(&s, &c, START + i * 55 * US, 0, false);
	CHECK(s.rt == c.rate && s.rc <= c.rate && s.rc >= c.rate - 1, "%llu %llu", s.rc, s.rt);
	CHECK(s.timer_stage == DCQCN_STAGE_MAX, "%u", s.timer_stage);
}

/* A target that fast recovery has reached is not the top: all 200 increases are made. */
static void test_many(void)
{
	struct dcqcn_conf c = usual();
	struct dcqcn s;

	c.rate = 80 * GBIT;
	c.fast = 100;
	dcqcn_init(&s, &c);
	dcqcn_ack(&s, &c, START, 0, true);
	s.rt = 40 * GBIT;
	dcqcn_ack(&s, &c, START + 200 * 55 * US, 0, false);
	CHECK(s.timer_stage == 200, "%u", s.timer_stage);
	CHECK(s.rt == 40 * GBIT + c.ai + 99 * c.hai, "%llu", s.rt);
}

/* With the byte counter: AI when one of both has come so far, HAI when both have. */
static void test_bytes(void)
{
	struct dcqcn_conf c = usual();
	struct dcqcn s;
	u32 i;

	c.rate = 80 * GBIT;
	c.bytes = 10000000;
	c.timer_ns = 1000 * US;
	dcqcn_init(&s, &c);
	dcqcn_ack(&s, &c, START, 5000000, true);
	s.rc = 20 * GBIT;
	s.rt = 40 * GBIT;
	dcqcn_ack(&s, &c, START + 1, 9999999, false);
	CHECK(s.rc == 20 * GBIT, "what was sent before the decrease does not count");
	dcqcn_ack(&s, &c, START + 2, 1, false);
	CHECK(s.rc == 30 * GBIT && s.byte_stage == 1 && !s.sent, "%llu", s.rc);
	/* two at once */
	dcqcn_ack(&s, &c, START + 3, 20000001, false);
	CHECK(s.rc == 37 * GBIT + GBIT / 2 && s.byte_stage == 3 && s.sent == 1, "%llu", s.rc);
	dcqcn_ack(&s, &c, START + 4, 20000000, false);
	CHECK(s.byte_stage == 5 && s.rt == 40 * GBIT);
	for (i = 0; i < 3; i++)		/* however many: the timer has not */
		dcqcn_ack(&s, &c, START + 5, 10000000, false);
	CHECK(s.rt == 40 * GBIT + 3 * c.ai, "%llu", s.rt);
	dcqcn_ack(&s, &c, START + 6000 * US, 0, false);
	CHECK(s.timer_stage == 6 && s.rt == 40 * GBIT + 9 * c.ai, "%llu", s.rt);
	dcqcn_ack(&s, &c, START + 6001 * US, 9999999, false);
	CHECK(s.byte_stage == 9 && s.rt == 40 * GBIT + 9 * c.ai + c.hai, "%llu", s.rt);
	/* a decrease starts over, also what was counted */
	dcqcn_ack(&s, &c, START + 6002 * US, 9999999, true);
	CHECK(!s.byte_stage && !s.timer_stage && !s.sent);
}

/* A silence of any length: alpha is gone, the rate is the link's, in no time. */
static void test_silence(void)
{
	struct dcqcn_conf c = usual();
	struct dcqcn s;
	u64 later = START + 3600 * US * US * US;

	c.alpha_ns = 1;
	c.timer_ns = 1;
	dcqcn_init(&s, &c);
	dcqcn_ack(&s, &c, START, 0, true);
	s.notified = 1;
	dcqcn_ack(&s, &c, later, 0, false);
	CHECK(s.alpha < 256, "%u", s.alpha);
	CHECK(s.rc >= c.rate - 1 && s.rt == c.rate);
	CHECK(s.alpha_next == later + 1 && s.timer_next == later + 1);
	CHECK(s.timer_stage <= DCQCN_STAGE_MAX);
	/* periods keep their phase */
	c.alpha_ns = 1000;
	c.timer_ns = 700;
	dcqcn_init(&s, &c);
	dcqcn_ack(&s, &c, START, 0, true);
	dcqcn_ack(&s, &c, later + 1234, 0, false);
	CHECK(s.alpha_next == later + 2000, "%llu", s.alpha_next - later);
	CHECK((s.timer_next - START) % 700 == 0 && s.timer_next > later + 1234 &&
	      s.timer_next <= later + 1234 + 700);
}

/* alpha stays within 0 and 1 whatever g is. */
static void test_alpha(void)
{
	u64 seed = 81;
	u32 i, k;

	for (i = 0; i < 200; i++) {
		struct dcqcn_conf c = usual();
		u64 now = START;
		struct dcqcn s;

		c.g = 1 + unit_random(&seed) % (i % 2 ? 65536 : 256);
		dcqcn_init(&s, &c);
		dcqcn_ack(&s, &c, now, 0, true);
		for (k = 0; k < 500; k++) {
			now += unit_random(&seed) % (100 * US);
			dcqcn_ack(&s, &c, now, 0, unit_random(&seed) % 2);
			if (!CHECK(s.alpha <= ONE && s.rc >= c.min && s.rc <= c.rate &&
				   s.rt <= c.rate, "%u %llu", s.alpha, s.rc))
				return;
		}
	}
}

/* The model has timers that expire by themselves. */
struct model {
	double rc, rt, alpha, sent;
	u64 alpha_at, timer_at, cut_at;
	u32 by_timer, by_bytes;
	bool started, seen;
};

static void model_increase(struct model *m, const struct dcqcn_conf *c)
{
	bool fast = m->by_timer < c->fast && m->by_bytes < c->fast;
	bool hyper = m->by_timer > c->fast && (!c->bytes || m->by_bytes > c->fast);

	/* No function that returns a double: some kernels have no registers for it. */
	if (!fast)
		m->rt += hyper ? c->hai : c->ai;
	if (!fast && m->rt > c->rate)
		m->rt = c->rate;
	m->rc = (m->rt + m->rc) / 2;
}

/* Everything that happens up to a time, the next first. */
static void model_pass(struct model *m, const struct dcqcn_conf *c, u64 until)
{
	while (m->started && (m->alpha_at <= until || m->timer_at <= until)) {
		if (m->alpha_at <= m->timer_at) {
			m->alpha = m->alpha * (1 - c->g / 65536.0) +
				   (m->seen ? c->g / 65536.0 : 0);
			m->seen = false;
			m->alpha_at += c->alpha_ns;
		} else {
			model_increase(m, c);
			m->by_timer++;
			m->timer_at += c->timer_ns;
		}
	}
}

static void model_cut(struct model *m, const struct dcqcn_conf *c, u64 now)
{
	if (m->by_timer + m->by_bytes)
		m->rt = m->rc;
	m->rc *= 1 - m->alpha / 2;
	if (m->rc < c->min)
		m->rc = c->min;
	m->by_timer = 0;
	m->by_bytes = 0;
	m->sent = 0;
	m->timer_at = now + c->timer_ns;
	m->cut_at = now + c->cut_ns;
}

static void model_ack(struct model *m, const struct dcqcn_conf *c, u64 now, u64 sent,
		      bool marked)
{
	model_pass(m, c, now);
	if (!m->started) {
		if (marked) {
			m->started = true;
			m->alpha_at = now + c->alpha_ns;
			model_cut(m, c, now);
		}
		return;
	}
	if (c->bytes)
		m->sent += sent;
	while (c->bytes && m->sent >= c->bytes) {
		m->sent -= c->bytes;
		model_increase(m, c);
		m->by_bytes++;
	}
	if (marked)
		m->seen = true;
	if (marked && now >= m->cut_at)
		model_cut(m, c, now);
}

static void test_model(void)
{
	u64 seed = 91;
	u32 i, k;

	for (i = 0; i < 300; i++) {
		struct dcqcn_conf c = {
			.rate = GBIT + unit_random(&seed) % (DCQCN_RATE_MAX - GBIT),
			.bytes = i % 3 ? 0 : 100000 + unit_random(&seed) % 1000000,
			.g = 1 + unit_random(&seed) % 2000,
			.fast = unit_random(&seed) % 7,
			.alpha_ns = 1000 + unit_random(&seed) % 60000,
			.cut_ns = 1000 + unit_random(&seed) % 60000,
			.timer_ns = 5000 + unit_random(&seed) % 400000,
		};
		u32 often = 1 + unit_random(&seed) % 200;
		u64 now = START;
		struct dcqcn s;
		struct model m;

		c.min = c.rate / 1000;
		c.ai = 1 + c.rate / 5000;
		c.hai = 1 + c.rate / 500;
		CHECK(!dcqcn_check(&c));
		dcqcn_init(&s, &c);
		m = (struct model) { .rc = c.rate, .rt = c.rate, .alpha = 1 };
		for (k = 0; k < 2000; k++) {
			bool marked = unit_random(&seed) % often == 0;
			u64 sent = unit_random(&seed) % 64000;
			double off, far;

			now += unit_random(&seed) % (k % 50 ? 5 * US : 2000 * US);
			dcqcn_ack(&s, &c, now, sent, marked);
			model_ack(&m, &c, now, sent, marked);
			off = s.rc - m.rc;
			far = s.alpha / (double)ONE - m.alpha;
			/* alpha is short by 1/g units of 2^-24 at most, which a hundred
			 * decreases may add up to
			 */
			if (!CHECK(off * off <= 0.000004 * m.rc * m.rc && far * far < 0.00002,
				   "step %u of %u: %llu, not %.0f; %.6f, not %.6f", k, i,
				   s.rc, m.rc, s.alpha / (double)ONE, m.alpha))
				return;
		}
	}
}

static const struct unit_case cases[] = {
	{ "dcqcn: ranges of parameters", test_ranges },
	{ "dcqcn: the first mark halves line rate", test_first },
	{ "dcqcn: one decrease in so much time", test_cuts },
	{ "dcqcn: the least rate", test_least },
	{ "dcqcn: fast recovery, additive and hyper increase", test_stages },
	{ "dcqcn: many increases at once", test_many },
	{ "dcqcn: the byte counter", test_bytes },
	{ "dcqcn: after a silence", test_silence },
	{ "dcqcn: alpha and rates within their bounds", test_alpha },
	{ "dcqcn: as with timers, in floating point", test_model },
};

#include "unit_main.h"
