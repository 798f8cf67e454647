// SPDX-License-Identifier: GPL-2.0
/*
 * TIMELY (SIGCOMM 2015, Alg. 1): by numbers worked out by hand, and against the
 * paper's pseudocode in floating point.
 */
#include "unit.h"
#include "timely.h"

#define GBIT		125000000ULL	/* bytes/s */

/* 10 Gbit/s and the paper's parameters, with HPCC's minRTT of 20 us */
static struct timely_conf usual(void)
{
	return (struct timely_conf) {
		.rate = 10 * GBIT,
		.min = GBIT / 10,
		.step = GBIT / 100,
		.leap = GBIT / 20,
		.low = 50000,
		.high = 500000,
		.min_rtt = 20000,
		.alpha = 875,
		.beta = 800,
	};
}

static void test_ranges(void)
{
	struct timely_conf c = usual();

	CHECK(!timely_check(&c));
#define REFUSED(field, value, name) do {				\
	struct timely_conf one = usual();				\
	const char *bad;						\
									\
	one.field = (value);						\
	bad = timely_check(&one);					\
	CHECK(bad && !strcmp(bad, name), "%s", bad ?: "good");		\
} while (0)
	REFUSED(rate, 0, "rate");
	REFUSED(rate, TIMELY_RATE_MAX + 1, "rate");
	REFUSED(min, 0, "min_rate");
	REFUSED(min, 10 * GBIT + 1, "min_rate");
	REFUSED(step, 0, "timely_step");
	REFUSED(step, 10 * GBIT + 1, "timely_step");
	REFUSED(leap, GBIT / 100 - 1, "timely_leap");
	REFUSED(leap, 10 * GBIT + 1, "timely_leap");
	REFUSED(low, 0, "timely_low");
	REFUSED(low, TIMELY_RTT_MAX + 1, "timely_low");
	REFUSED(high, 49999, "timely_high");
	REFUSED(high, TIMELY_RTT_MAX + 1, "timely_high");
	REFUSED(min_rtt, 0, "timely_min_rtt");
	REFUSED(min_rtt, TIMELY_MIN_RTT_MAX + 1, "timely_min_rtt");
	REFUSED(alpha, 0, "timely_alpha");
	REFUSED(alpha, 1001, "timely_alpha");
	REFUSED(beta, 0, "timely_beta");
	REFUSED(beta, 1001, "timely_beta");
#undef REFUSED
	c.min = c.rate;
	c.step = c.rate;
	c.leap = c.rate;
	c.high = c.low;
	c.alpha = 1000;
	c.beta = 1000;
	CHECK(!timely_check(&c));
}

/* Line rate; the first sample is only what the next is compared with. */
static void test_start(void)
{
	struct timely_conf c = usual();
	struct timely s;

	timely_init(&s, &c);
	CHECK(s.rate == 10 * GBIT && !s.prev && !s.stage && !s.diff);
	timely_rtt(&s, &c, 0);		/* no sample */
	CHECK(!s.prev);
	timely_rtt(&s, &c, 600000);
	CHECK(s.rate == 10 * GBIT && s.prev == 600000 && !s.diff);
}

/* Below T_low: +delta five times, then +5 delta, up to the link's rate. */
static void test_low(void)
{
	struct timely_conf c = usual();
	struct timely s;
	u32 i;

	timely_init(&s, &c);
	s.rate = GBIT;
	timely_rtt(&s, &c, 10000);
	for (i = 1; i <= 5; i++) {
		/* rising, which does not matter here */
		timely_rtt(&s, &c, 10000 + i * 7000);
		CHECK(s.rate == GBIT + i * GBIT / 100, "%u: %llu", i, s.rate);
	}
	timely_rtt(&s, &c, 49999);
	CHECK(s.rate == GBIT + GBIT / 10, "%llu", s.rate);
	timely_rtt(&s, &c, 10000);
	CHECK(s.rate == GBIT + GBIT * 3 / 20, "%llu", s.rate);
	for (i = 0; i < 1000; i++)
		timely_rtt(&s, &c, 10000);
	CHECK(s.rate == 10 * GBIT, "%llu", s.rate);
}

/* Above T_high: x 1 - 0.8 (1 - 500/1000) = 0.6; the row of increases ends. */
static void test_high(void)
{
	struct timely_conf c = usual();
	struct timely s;
	u32 i;

	timely_init(&s, &c);
	for (i = 0; i < 7; i++)
		timely_rtt(&s, &c, 10000);
	CHECK(s.stage == TIMELY_HAI);
	timely_rtt(&s, &c, 1000000);
	CHECK(s.rate == 750000000 + 477, "%llu", s.rate);	/* 0.4 is cut to 2^-20 */
	CHECK(!s.stage);
	/* falling, which does not matter here */
	timely_rtt(&s, &c, 500001);
	CHECK(s.rate < 750000477 && s.rate > 749990000, "%llu", s.rate);
	for (i = 0; i < 100; i++)
		timely_rtt(&s, &c, 1000000);
	CHECK(s.rate == c.min, "%llu", s.rate);
}

/* Between: by the gradient. 100, then 108 us: 0.875 x 8/20 = 0.35, x 1 - 0.28 */
static void test_between(void)
{
	struct timely_conf c = usual();
	struct timely s;
	u64 before;

	timely_init(&s, &c);
	s.rate = 8 * GBIT;
	timely_rtt(&s, &c, 100000);
	timely_rtt(&s, &c, 108000);
	CHECK(s.diff == 7000 * 256, "%lld", s.diff);
	CHECK(s.rate >= 720000000 && s.rate < 720002000, "%llu", s.rate);
	/* the average: 0.125 x 7 + 0.875 x -8 = -6.125 us: falling, +delta */
	before = s.rate;
	timely_rtt(&s, &c, 100000);
	CHECK(s.diff == -6125 * 256, "%lld", s.diff);
	CHECK(s.rate == before + c.step && s.stage == 1, "%llu", s.rate);
	/* 0.125 x -6.125 + 0.875 x 0.875 = 0: a gradient of zero is not a rise */
	timely_rtt(&s, &c, 100875);
	CHECK(!s.diff && s.rate == before + 2 * c.step, "%lld %llu", s.diff, s.rate);
	/* T_low and T_high themselves are between */
	timely_init(&s, &c);
	timely_rtt(&s, &c, 40000);
	timely_rtt(&s, &c, 50000);
	CHECK(s.rate < c.rate, "%llu", s.rate);
	timely_init(&s, &c);
	s.rate = GBIT;
	timely_rtt(&s, &c, 510000);
	timely_rtt(&s, &c, 500000);
	CHECK(s.rate == GBIT + c.step, "%llu", s.rate);
}

/* A gradient of 1/beta and more leaves nothing but the least rate. */
static void test_steep(void)
{
	struct timely_conf c = usual();
	struct timely s;

	timely_init(&s, &c);
	timely_rtt(&s, &c, 60000);
	timely_rtt(&s, &c, 60000 + 28572);	/* 0.875 x 28.572 = 25.0005 = 20/0.8 */
	CHECK(s.rate == c.min, "%llu", s.rate);
	timely_init(&s, &c);
	timely_rtt(&s, &c, 60000);
	timely_rtt(&s, &c, 60000 + 28000);	/* 24.5: 2 % stays, more than the least */
	CHECK(s.rate > 24900000 && s.rate < 25100000, "%llu", s.rate);
}

/* The widest numbers. */
static void test_bounds(void)
{
	struct timely_conf c = usual();
	struct timely s;

	c.rate = TIMELY_RATE_MAX;
	c.min_rtt = TIMELY_MIN_RTT_MAX;
	c.high = TIMELY_RTT_MAX;
	c.beta = 1000;
	c.alpha = 1000;
	timely_init(&s, &c);
	timely_rtt(&s, &c, 50000);
	timely_rtt(&s, &c, 50000 + 90000000);
	CHECK(s.rate > 9999000000ULL && s.rate <= 10001000000ULL, "%llu", s.rate);
	c.high = 50000;
	timely_init(&s, &c);
	timely_rtt(&s, &c, 1);
	timely_rtt(&s, &c, ~0ULL);
	CHECK(s.prev == TIMELY_RTT_MAX && s.rate == c.min, "%u %llu", s.prev, s.rate);
	timely_rtt(&s, &c, 1);
	CHECK(s.diff == -256LL * (TIMELY_RTT_MAX - 1), "%lld", s.diff);
}

struct model {
	double rate, diff, prev;
	int row;
};

/* Alg. 1; the row of increases as in HPCC's simulator. */
static void model_rtt(struct model *m, const struct timely_conf *c, double rtt)
{
	double gradient;

	m->diff = (1 - c->alpha / 1e3) * m->diff + c->alpha / 1e3 * (rtt - m->prev);
	m->prev = rtt;
	gradient = m->diff / c->min_rtt;
	if (rtt < c->low || (rtt <= c->high && gradient <= 0)) {
		m->rate += m->row++ < 5 ? c->step : c->leap;
	} else {
		if (rtt > c->high)
			m->rate *= 1 - c->beta / 1e3 * (1 - c->high / rtt);
		else
			m->rate *= 1 - c->beta / 1e3 * gradient;
		m->row = 0;
	}
	if (m->rate < c->min)
		m->rate = c->min;
	if (m->rate > c->rate)
		m->rate = c->rate;
}

static void test_model(void)
{
	u64 seed = 71;
	u32 i, k;

	for (i = 0; i < 300; i++) {
		struct timely_conf c = {
			.rate = GBIT + unit_random(&seed) % (TIMELY_RATE_MAX - GBIT),
			.low = 1000 + unit_random(&seed) % 100000,
			.min_rtt = 1000 + unit_random(&seed) % 100000,
			.alpha = 1 + unit_random(&seed) % 1000,
			.beta = 1 + unit_random(&seed) % 1000,
		};
		struct timely s;
		struct model m;
		u64 rtt;

		c.high = c.low + unit_random(&seed) % 1000000;
		c.step = c.rate / (50 + unit_random(&seed) % 1000);
		c.leap = c.step * 5;
		c.min = c.rate / 100;
		CHECK(!timely_check(&c));
		timely_init(&s, &c);
		rtt = 500 + unit_random(&seed) % (2 * c.high);
		timely_rtt(&s, &c, rtt);
		m = (struct model) { .rate = c.rate, .prev = rtt };
		for (k = 0; k < 300; k++) {
			double off, unit = s.rate / 1048576.0 + 2;

			/* mostly near the last, so that all branches are taken */
			if (unit_random(&seed) % 4)
				rtt += unit_random(&seed) % (rtt / 8 + 1) - rtt / 16;
			else
				rtt = 500 + unit_random(&seed) % (2 * c.high);
			timely_rtt(&s, &c, rtt);
			model_rtt(&m, &c, rtt);
			off = s.rate - m.rate;
			/* 2^-20 for the cut, as much for the difference's 2^-8 ns */
			if (!CHECK(off <= 2 * unit && off >= -2 * unit,
				   "step %u of %u: %llu, not %.0f", k, i, s.rate, m.rate))
				return;
			/* a difference of about zero may fall to either side */
			m.rate = s.rate;
			m.diff = s.diff / 256.0;
			m.row = s.stage;
		}
	}
}

static const struct unit_case cases[] = {
	{ "timely: ranges of parameters", test_ranges },
	{ "timely: starts at line rate", test_start },
	{ "timely: increases below T_low", test_low },
	{ "timely: decreases above T_high", test_high },
	{ "timely: follows the gradient between", test_between },
	{ "timely: the steepest gradient", test_steep },
	{ "timely: widest numbers", test_bounds },
	{ "timely: as Alg. 1 in floating point", test_model },
};

#include "unit_main.h"
