/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY (Mittal et al., SIGCOMM 2015, Alg. 1): a rate from the round-trip time and
 * from how it changes, as the simulator of HPCC's authors has it: an update for each
 * round trip, and hyperactive increase also below T_low.
 *
 * Pure arithmetic, without floating point: compiled into the simulator's module and
 * into the unit tests. Rates are bytes/s, below 2^37; times are ns, below 2^30.
 *
 * Context of all functions: the socket is locked.
 */
#ifndef BFC_TIMELY_H
#define BFC_TIMELY_H

#include <linux/types.h>

#define TIMELY_RATE_MAX		100000000000ULL	/* bytes/s: 800 Gbit/s */
#define TIMELY_RTT_MAX		1000000000U	/* ns */
#define TIMELY_MIN_RTT_MAX	100000000U	/* ns */
#define TIMELY_DIFF_SHIFT	8	/* of the smoothed difference */
#define TIMELY_CUT_SHIFT	20	/* of the part that a decrease takes */
#define TIMELY_HAI		5	/* increases in a row before larger ones */

/**
 * struct timely_conf - parameters, of all senders of a network
 * @rate: of the host's link, the largest rate
 * @min: the smallest rate
 * @step: delta, of an increase
 * @leap: of a hyperactive increase, 5 delta in the paper
 * @low: T_low
 * @high: T_high
 * @min_rtt: minRTT; the gradient is a difference divided by it
 * @alpha: weight of a new difference, thousandths
 * @beta: multiplicative decrease, thousandths
 */
struct timely_conf {
	__u64 rate;
	__u64 min;
	__u64 step;
	__u64 leap;
	__u32 low;
	__u32 high;
	__u32 min_rtt;
	__u32 alpha;
	__u32 beta;
};

/**
 * struct timely - state of a sender
 * @rate: bytes/s
 * @diff: smoothed difference of RTTs, 2^-8 ns
 * @prev: last RTT, 0 = none yet
 * @stage: increases in a row, at most TIMELY_HAI
 */
struct timely {
	__u64 rate;
	__s64 diff;
	__u32 prev;
	__u32 stage;
};

/**
 * timely_check() - check parameters
 * @c: parameters
 *
 * Return: the name of the parameter that is not in its range, else NULL.
 */
static inline const char *timely_check(const struct timely_conf *c)
{
	if (!c->rate || c->rate > TIMELY_RATE_MAX)
		return "rate";
	if (!c->min || c->min > c->rate)
		return "min_rate";
	if (!c->step || c->step > c->rate)
		return "timely_step";
	if (c->leap < c->step || c->leap > c->rate)
		return "timely_leap";
	if (!c->low || c->low > TIMELY_RTT_MAX)
		return "timely_low";
	if (c->high < c->low || c->high > TIMELY_RTT_MAX)
		return "timely_high";
	if (!c->min_rtt || c->min_rtt > TIMELY_MIN_RTT_MAX)
		return "timely_min_rtt";
	if (!c->alpha || c->alpha > 1000)
		return "timely_alpha";
	if (!c->beta || c->beta > 1000)
		return "timely_beta";
	return (void *)0;
}

/**
 * timely_init() - a connection starts, at line rate
 * @s: result
 * @c: parameters
 */
static inline void timely_init(struct timely *s, const struct timely_conf *c)
{
	s->rate = c->rate;
	s->diff = 0;
	s->prev = 0;
	s->stage = 0;
}

static inline void timely_increase(struct timely *s, const struct timely_conf *c)
{
	s->rate += s->stage < TIMELY_HAI ? c->step : c->leap;
	if (s->rate > c->rate)
		s->rate = c->rate;
	if (s->stage < TIMELY_HAI)
		s->stage++;
}

/* cut: 2^-20, at most 1. */
static inline void timely_decrease(struct timely *s, const struct timely_conf *c, __u64 cut)
{
	s->rate -= s->rate * cut >> TIMELY_CUT_SHIFT;
	if (s->rate < c->min)
		s->rate = c->min;
	s->stage = 0;
}

/**
 * timely_rtt() - a sample of the RTT
 * @s: state, changed
 * @c: parameters
 * @rtt: ns, of a packet that was sent after the last sample was taken
 */
static inline void timely_rtt(struct timely *s, const struct timely_conf *c, __u64 rtt)
{
	__u64 gradient;
	__s64 change;

	if (rtt > TIMELY_RTT_MAX)
		rtt = TIMELY_RTT_MAX;
	if (!rtt)
		return;
	if (!s->prev) {
		s->prev = rtt;
		return;
	}
	change = ((__s64)rtt - s->prev) * (1 << TIMELY_DIFF_SHIFT);
	s->prev = rtt;
	s->diff = ((__s64)(1000 - c->alpha) * s->diff + (__s64)c->alpha * change) / 1000;

	if (rtt < c->low || (rtt <= c->high && s->diff <= 0)) {
		timely_increase(s, c);
		return;
	}
	if (rtt > c->high) {
		timely_decrease(s, c, (c->beta * (rtt - c->high) << TIMELY_CUT_SHIFT) /
				      (1000 * rtt));
		return;
	}
	/* beta x gradient, in units of 2^-8 / 1000 of minRTT */
	gradient = c->beta * (__u64)s->diff;
	if (gradient >= (1000ULL * c->min_rtt) << TIMELY_DIFF_SHIFT)
		timely_decrease(s, c, 1 << TIMELY_CUT_SHIFT);
	else
		timely_decrease(s, c, (gradient << (TIMELY_CUT_SHIFT - TIMELY_DIFF_SHIFT)) /
				      (1000ULL * c->min_rtt));
}

#endif /* BFC_TIMELY_H */
