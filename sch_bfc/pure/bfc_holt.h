/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prediction of a queue's length: FAFC's double exponential smoothing after
 * Holt (FAFC §II-B, Alg. 1): pure arithmetic, compiled into the module and into
 * the user-space unit tests.
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
 * @q: smoothed q at @stamp, an amount; may be below 0 after a fall
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

u32 bfc_share(u32 permille);
void bfc_holt_configure(struct bfc_holt_conf *c, u32 t_hop, u32 alpha,
			u32 beta);
void bfc_holt_start(struct bfc_holt *h, const struct bfc_holt_conf *c, u64 now,
		    u64 queued);
void bfc_holt_step(struct bfc_holt *h, const struct bfc_holt_conf *c);
bool bfc_holt_settled(const struct bfc_holt *h);
void bfc_holt_steps(struct bfc_holt *h, const struct bfc_holt_conf *c, u64 now);

/**
 * bfc_holt_advance() - do the steps that are due
 * @h: the predictor
 * @c: its configuration
 * @now: ns; another processor's may have been a little later
 *
 * To be called before any of @h is read.
 */
static inline void bfc_holt_advance(struct bfc_holt *h,
				    const struct bfc_holt_conf *c, u64 now)
{
	if (now < h->stamp + c->t_hop)
		return;
	bfc_holt_steps(h, c, now);
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
