/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limit of a port's buffer: whether it is reached, and which packets are dropped then.
 * Include it where packets are queued; it needs struct bfc_sched.
 */
#ifndef _BFC_LIMIT_H
#define _BFC_LIMIT_H

#include "bfc.h"

static inline bool bfc_over_limit(struct bfc_sched *q)
{
	if (likely(q->mem - q->ctrl.mem <= q->brim))
		return false;
	return !q->txq.all || bfc_txqs_over(q);
}

/* True if there was room for the packet before it was sent ("promised room"): it is charged to an
 * ingress port, and its priority is lossless there and here. XOFF and headroom bound what a
 * neighbour may send until it is paused.
 */
static inline bool bfc_promised(const struct bfc_sched *q, const struct sk_buff *skb)
{
	const struct bfc_skb_cb *cb = bfc_cb(skb);

	return static_branch_unlikely(&bfc_holds.key) && cb->promised &&
	       q->cfg->lossless & BIT(cb->prio);
}

bool bfc_make_room(struct Qdisc *sch, unsigned int qn, struct sk_buff **to_free);
void bfc_trim(struct Qdisc *sch);

#endif /* _BFC_LIMIT_H */
