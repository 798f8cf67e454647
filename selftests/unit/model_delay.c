// SPDX-License-Identifier: GPL-2.0
/*
 * Delay-based congestion control against the paper's pseudocode (BFC App. A.1,
 * Alg. 1) in floating point, and what the paper says of it: from w to
 * w x RTTTarget / RTT within an RTT, and an RTT of 2.5 times the base.
 *
 * Not for the kernel, which has no floating point.
 */
#include "unit.h"
#include "delay.h"

/* Alg. 1: w in packets, an acknowledgment. */
static double model_ack(double w, double rtt, double target)
{
	if (rtt > target)
		return w - (rtt - target) / rtt;
	return w + (target - rtt) / rtt;
}

static void test_random(void)
{
	u64 seed = 51;
	u32 i, k;

	for (i = 0; i < 200; i++) {
		u32 base = DELAY_RTT_MIN + unit_random(&seed) % 1000000;
		u32 factor = 1001 + unit_random(&seed) % 5000;
		u64 rate = 1250000 + unit_random(&seed) % 99998750000;
		struct delay_conf c;
		struct delay s;
		double w, target;

		CHECK(!delay_configure(&c, rate, base, factor, 1500));
		w = rate / 1e9 * base / 1500;
		w = w < 2 ? 2 : w;
		CHECK(c.w_init / 65536.0 - w < w / 1e3 &&
		      w - c.w_init / 65536.0 < w / 1e3, "%.3f, not %.3f",
		      c.w_init / 65536.0, w);
		target = (u64)base * factor / 1000;
		delay_init(&s, &c);
		w = s.w / 65536.0;
		for (k = 1; k < 1000; k++) {
			u64 rtt = base + unit_random(&seed) % (4ULL * base);

			delay_new_ack(&s, &c, rtt, 1);
			w = model_ack(w, rtt, target);
			if (w < 2)
				w = 2;
			if (w > c.w_max / 65536.0)
				w = c.w_max / 65536.0;
			/* a unit a step */
			if (!CHECK(s.w / 65536.0 - w <= k / 65536.0 &&
				   w - s.w / 65536.0 <= k / 65536.0,
				   "step %u: %.6f, not %.6f", k,
				   s.w / 65536.0, w))
				return;
		}
	}
}

/* A window of ACKs, all with the same RTT. */
static void test_round(void)
{
	static const u32 rtts[] = { 19000, 21000, 25000, 30000, 40000 };
	struct delay_conf c;
	struct delay s;
	u32 i, k, n;
	double want;

	delay_configure(&c, 125000000000ULL / 10, 8000, 2500, 100);
	for (i = 0; i < UNIT_SIZE(rtts); i++) {
		delay_init(&s, &c);
		n = delay_packets(&s);
		want = n * 20000.0 / rtts[i];
		for (k = 0; k < n; k++)
			delay_new_ack(&s, &c, rtts[i], 1);
		CHECK(s.w / 65536.0 - want < 0.01 * want &&
		      want - s.w / 65536.0 < 0.01 * want, "%u ns: %.2f, not %.2f",
		      rtts[i], s.w / 65536.0, want);
	}
}

/*
 * Flows on one link whose queue is what they have in flight beyond a BDP: the RTT
 * goes to the target, whatever their number, until each has two packets.
 */
static void test_target(void)
{
	static const u32 numbers[] = { 1, 2, 8, 32, 100 };
	struct delay s[100];
	struct delay_conf c;
	u32 i, k, n;
	double rtt = 0;

	CHECK(!delay_configure(&c, 12500000000ULL, 8000, 2500, 1000));
	for (i = 0; i < UNIT_SIZE(numbers); i++) {
		n = numbers[i];
		for (k = 0; k < n; k++)
			delay_init(&s[k], &c);
		for (k = 0; k < 200000; k++) {
			double inflight = 0;
			u32 j;

			for (j = 0; j < n; j++)
				inflight += s[j].w / 65536.0;
			rtt = inflight * 80 > 8000 ? inflight * 80 : 8000;
			/* one of the packets in flight comes back */
			delay_new_ack(&s[k % n], &c, rtt, 1);
		}
		CHECK(rtt > 19900 && rtt < 20100, "%u flows: %.0f ns", n, rtt);
	}
}

static const struct unit_case cases[] = {
	{ "delay model: random samples", test_random },
	{ "delay model: a round of ACKs", test_round },
	{ "delay model: the RTT goes to its target", test_target },
};

#include "unit_main.h"
