// SPDX-License-Identifier: GPL-2.0
/*
 * FAFC's prediction: start, and the steps that are due once in a T_hop.
 */
#include <linux/math64.h>

#include "bfc_holt.h"

/**
 * bfc_share() - a number of thousandths as a share of BFC_SHARE_ONE
 * @permille: 0 to 1000
 *
 * Return: rounded to the nearest.
 */
u32 bfc_share(u32 permille)
{
	return (permille * BFC_SHARE_ONE + 500) / 1000;
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
void bfc_holt_configure(struct bfc_holt_conf *c, u32 t_hop, u32 alpha, u32 beta)
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
void bfc_holt_start(struct bfc_holt *h, const struct bfc_holt_conf *c, u64 now,
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
static s64 bfc_holt_smooth(s64 past, s64 seen, u32 keep)
{
	u64 d = past < seen ? seen - past : past - seen;

	d = d * keep >> BFC_SHARE_SHIFT;
	return past < seen ? seen - (s64)d : seen + (s64)d;
}

/**
 * bfc_holt_step() - UpdateRate() of Alg. 1, for one queue
 * @h: the predictor
 * @c: its configuration
 *
 * Line 26 prints "qLast <- qr", and there is no qr: the raw q' is meant. Line 25 takes
 * differences of q', so with the smoothed q they would count what smoothing held back
 * twice. (Equation (3) of §II-B does take the trend of smoothed levels. Alg. 1's is the
 * one to have: a difference of q' is bytes in less bytes out, which gives r^o:
 * bfc_holt_out().)
 */
void bfc_holt_step(struct bfc_holt *h, const struct bfc_holt_conf *c)
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

/**
 * bfc_holt_settled() - check if a step without packets would change nothing
 * @h: the predictor, no packets since the last step
 *
 * Return: true if so.
 */
bool bfc_holt_settled(const struct bfc_holt *h)
{
	return h->q == h->last && !h->r && !h->in;
}

/**
 * bfc_holt_steps() - do the steps that are due, at least one
 * @h: the predictor
 * @c: its configuration
 * @now: ns, T_hop after the last step or later
 *
 * At most BFC_HOLT_STEPS + 1 steps, however long it was not read: with weights of 0.8
 * some twenty.
 */
void bfc_holt_steps(struct bfc_holt *h, const struct bfc_holt_conf *c, u64 now)
{
	u64 n = div_u64(now - h->stamp, c->t_hop);

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
