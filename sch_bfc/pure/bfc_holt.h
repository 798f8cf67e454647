/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where is a queue going? FAFC's double exponential smoothing after Holt
 * (FAFC §II-B, Alg. 1): pure arithmetic, compiled into the module and into the
 * user-space unit tests.
 *
 * Amounts are signed, in 1/256 byte, and a rate is the amount of one T_hop: so
 * r x T_hop, which is all that FAFC asks of a rate, costs nothing.
 *
 * Widths. An amount is at most 2^37 bytes, 2^45 in our unit: 800 Gbit/s bring
 * in 2^36.6 bytes in the longest T_hop, a second. What is smoothed differs by
 * three such amounts at most (2^46.6), and weights have 16 bits: 2^62.6.
 *
 * Rounding. A step is wrong by less than u = 1/256 byte, always towards what was
 * observed; rates stay within u/beta and levels within
 * (u + (1 - alpha) u/beta)/alpha of exact arithmetic with the same weights. For
 * 0.8 and 0.8 that is 2 u, for the smallest weights 0.4 byte. Weights themselves
 * are rounded to 2^-16.
 *
 * The paper runs UpdateRate() for all pairs of ports every T_hop. Here a pair is
 * brought up to date before it is read or changed: nothing happens
 * to it in between, so the missed steps come out the same, bit by bit.
 *
 * Context of all functions: the user of a predictor serializes.
 */
#ifndef _BFC_HOLT_H
#define _BFC_HOLT_H

#include <linux/types.h>
#include <linux/bits.h>
#include <linux/math64.h>

#define BFC_AMOUNT_SHIFT	8		/* 1/256 byte */
#define BFC_AMOUNT_MAX		((s64)BIT_ULL(45))
#define BFC_SHARE_SHIFT		16		/* shares of one: weights, f_dec */
#define BFC_SHARE_ONE		65536U
#define BFC_THOP_MIN		100U		/* ns */
#define BFC_THOP_MAX		1000000000U	/* ns, below 2^30 */
#define BFC_WEIGHT_MIN		100U		/* 0.1 */
#define BFC_WEIGHT_MAX		1000U		/* 1: the newest value alone */
#define BFC_WEIGHT_DEFAULT	800U		/* 0.8, FAFC §III-A */

/*
 * After so many steps without a packet nothing changes any more. With k = 0.9,
 * the largest 1 - alpha, and as large a 1 - beta, a level that is off by 2^46 and
 * a rate of 2^45 are at most k^n (2^46 + n 2^45) off after n steps: less than one
 * for n = 360, and what is less than one is rounded to nothing.
 */
#define BFC_HOLT_STEPS		400

/**
 * struct bfc_holt_conf - what all predictors of a port share
 * @t_hop: T_hop, ns, BFC_THOP_MIN to BFC_THOP_MAX
 * @keep_q: 1 - alpha, of BFC_SHARE_ONE
 * @keep_r: 1 - beta
 */
struct bfc_holt_conf {
	u32 t_hop;
	u32 keep_q;
	u32 keep_r;
};

/**
 * struct bfc_holt - a queue and its prediction (FAFC Table I)
 * @stamp: time of the last step, ns, a multiple of T_hop: so all predictors step
 *	   at the same times, and sums over them are sums of the same moment
 * @raw: q', bytes that are queued now
 * @fresh: bytes that came since @stamp: b^i - bLast of Alg. 1
 * @last: qLast: q' at @stamp, an amount
 * @q: smoothed q at @stamp, an amount; below 0 where it was falling to it
 * @r: smoothed buildup rate r, amount per T_hop
 * @in: smoothed ingress rate r^i, amount per T_hop
 *
 * For a pair of ports (q_ie, one priority), or for all that is queued at an
 * egress port (q_*e): the paper also keeps both, so that the check at each
 * dequeue is no sum over ports.
 */
struct bfc_holt {
	u64 stamp;
	u64 raw;
	u64 fresh;
	s64 last;
	s64 q;
	s64 r;
	s64 in;
};

/**
 * bfc_share() - a number of thousandths as a share of BFC_SHARE_ONE
 * @permille: 0 to 1000
 *
 * Return: rounded to the nearest.
 */
static inline u32 bfc_share(u32 permille)
{
	return (permille * BFC_SHARE_ONE + 500) / 1000;
}

/**
 * bfc_amount() - bytes as an amount
 * @bytes: any number
 *
 * Return: BFC_AMOUNT_MAX at most.
 */
static inline s64 bfc_amount(u64 bytes)
{
	if (bytes > BFC_AMOUNT_MAX >> BFC_AMOUNT_SHIFT)
		return BFC_AMOUNT_MAX;
	return bytes << BFC_AMOUNT_SHIFT;
}

/**
 * bfc_holt_configure() - set T_hop and the weights
 * @c: result
 * @t_hop: ns, BFC_THOP_MIN to BFC_THOP_MAX
 * @alpha: weight of the newest queue length, thousandths, BFC_WEIGHT_MIN to
 *	   BFC_WEIGHT_MAX
 * @beta: weight of the newest rate, the same
 *
 * Predictors that run are then to be started again.
 */
static inline void bfc_holt_configure(struct bfc_holt_conf *c, u32 t_hop,
				      u32 alpha, u32 beta)
{
	c->t_hop = t_hop;
	c->keep_q = BFC_SHARE_ONE - bfc_share(alpha);
	c->keep_r = BFC_SHARE_ONE - bfc_share(beta);
}

/**
 * bfc_holt_start() - begin to predict
 * @h: the predictor
 * @c: its configuration
 * @now: ns
 * @queued: bytes that are queued already
 */
static inline void bfc_holt_start(struct bfc_holt *h,
				  const struct bfc_holt_conf *c, u64 now,
				  u64 queued)
{
	h->stamp = div_u64(now, c->t_hop) * c->t_hop;
	h->raw = queued;
	h->fresh = 0;
	h->last = bfc_amount(queued);
	h->q = h->last;
	h->r = 0;
	h->in = 0;
}

/* seen + keep x (past - seen): rounded towards seen, so that it gets there. */
static inline s64 bfc_holt_smooth(s64 past, s64 seen, u32 keep)
{
	u64 d = past < seen ? seen - past : past - seen;

	d = d * keep >> BFC_SHARE_SHIFT;
	return past < seen ? seen - (s64)d : seen + (s64)d;
}

/*
 * UpdateRate() of Alg. 1, for one queue. Line 26 prints "qLast <- qr", and there
 * is no qr: the raw q' is meant. Line 25 takes differences of q', so with the
 * smoothed q they would count what smoothing held back twice. (Equation (3) of
 * §II-B does take the trend of smoothed levels. Alg. 1's is the one to have: a
 * difference of q' is bytes in less bytes out, which gives us r^o below.)
 */
static inline void bfc_holt_step(struct bfc_holt *h,
				 const struct bfc_holt_conf *c)
{
	s64 raw = bfc_amount(h->raw);

	h->q = bfc_holt_smooth(h->q + h->r, raw, c->keep_q);
	if (h->q > BFC_AMOUNT_MAX)
		h->q = BFC_AMOUNT_MAX;
	if (h->q < -BFC_AMOUNT_MAX)
		h->q = -BFC_AMOUNT_MAX;
	h->r = bfc_holt_smooth(h->r, raw - h->last, c->keep_r);
	h->last = raw;
	h->in = bfc_holt_smooth(h->in, bfc_amount(h->fresh), c->keep_r);
	h->fresh = 0;
}

/* Whether a step without packets would change nothing. */
static inline bool bfc_holt_settled(const struct bfc_holt *h)
{
	return h->q == h->last && !h->r && !h->in;
}

/**
 * bfc_holt_advance() - do the steps that time has brought
 * @h: the predictor
 * @c: its configuration
 * @now: ns; another processor's may have been a little later
 *
 * To be called before any of @h is read. At most BFC_HOLT_STEPS + 1 steps,
 * however long it was not read: with weights of 0.8 some twenty.
 */
static inline void bfc_holt_advance(struct bfc_holt *h,
				    const struct bfc_holt_conf *c, u64 now)
{
	u64 n;

	if (now < h->stamp + c->t_hop)
		return;
	n = div_u64(now - h->stamp, c->t_hop);
	h->stamp += n * c->t_hop;
	bfc_holt_step(h, c);
	if (n > BFC_HOLT_STEPS) {
		h->q = h->last;
		h->r = 0;
		h->in = 0;
		return;
	}
	while (--n && !bfc_holt_settled(h))
		bfc_holt_step(h, c);
}

/**
 * bfc_holt_enqueue() - onEnqueue() of Alg. 1: a packet comes
 * @h: the predictor
 * @c: its configuration
 * @now: ns
 * @len: bytes
 */
static inline void bfc_holt_enqueue(struct bfc_holt *h,
				    const struct bfc_holt_conf *c, u64 now,
				    u32 len)
{
	bfc_holt_advance(h, c, now);
	h->raw += len;
	h->fresh += len;
}

/**
 * bfc_holt_dequeue() - onDequeue() of Alg. 1: a packet leaves, sent or dropped
 * @h: the predictor
 * @c: its configuration
 * @now: ns
 * @len: bytes, of a packet that came
 *
 * Alg. 1 subtracts the length of a packet in line 6, and then in line 14 again:
 * but each packet is added once, so the queue would end below zero. It is
 * subtracted here and nowhere else.
 */
static inline void bfc_holt_dequeue(struct bfc_holt *h,
				    const struct bfc_holt_conf *c, u64 now,
				    u32 len)
{
	bfc_holt_advance(h, c, now);
	h->raw -= len;
}

/**
 * bfc_holt_out() - egress rate r^o
 * @h: the predictor, advanced
 *
 * Alg. 2 needs r^o (line 7), but no line of Alg. 1 computes it: it keeps r^i and
 * the buildup rate r alone. r = r^i - r^o (§II-D), and as both are smoothed by
 * the same beta from the same T_hop, r^i - r is exactly the smoothed count of
 * bytes that left, but for rounding.
 *
 * Return: amount per T_hop, 0 at least.
 */
static inline u64 bfc_holt_out(const struct bfc_holt *h)
{
	return h->in > h->r ? h->in - h->r : 0;
}

#endif /* _BFC_HOLT_H */
