// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts of what is queued at an egress port by priority, with a mode that pauses priorities:
 * ECN marks, and hooks of the mode. All of it is under the root lock: if each TX queue has a
 * scheduler, each has its own account.
 */
#include <linux/indirect_call_wrapper.h>

#include "bfc.h"
#include "fc_capfc.h"
#include "fc_fafc.h"

/* The port that a packet is charged to, or NULL. */
static struct bfc_ingress *bfc_egress_charged(const struct bfc_sched *q,
					      const struct sk_buff *skb)
{
	return bfc_cb(skb)->held ? bfc_handle_get(q->port->sw, bfc_cb(skb)->handle) : NULL;
}

/* The slot of that port: none if there is no such port, or the packet goes back where it
 * came from.
 */
static unsigned int bfc_egress_slot(const struct bfc_sched *q, const struct bfc_ingress *ing)
{
	return ing && ing->slot != q->port->slot ? ing->slot : BFC_SLOT_NONE;
}

/* True if a packet that meets @bytes is to be marked. ECN's thresholds are those of the port; of
 * a TX queue with a scheduler of its own they are the same part as its part of the link.
 */
static bool bfc_egress_marks(struct bfc_sched *q, u32 bytes)
{
	u32 active = max(q->drr.nactive, 1U), all = active * q->drr.times + q->drr.more;
	u64 scaled = (u64)bytes * all;

	if (scaled <= (u64)q->cfg->ecn * active)
		return false;
	if (!q->cfg->ramp.slope)
		return true;
	return bfc_ramp_hits(q, all == active ? bytes : div_u64(scaled, active));
}

/* A slot may belong to a new port: forget what the mode noted about the old one. */
static void bfc_egress_meet(struct bfc_sched *q, unsigned int slot,
			    const struct bfc_ingress *ing)
{
	u64 whose;

	if (slot == BFC_SLOT_NONE)
		return;
	/* New counters may have the base of those that have gone. */
	whose = (u64)ing->owner << 32 | ing->layout;
	if (likely(q->share.whose[slot] == whose))
		return;
	if (q->egress && q->cfg->fc->forget)
		q->cfg->fc->forget(q, slot);
	q->share.whose[slot] = whose;
	q->share.in[slot] = ing->base;
}

/**
 * bfc_egress_enqueued() - a packet joined its queue: mark it, call the mode's hook
 * @q: scheduler of the egress port, with a mode that pauses priorities
 * @skb: the packet
 *
 * Context: under the root lock, RCU.
 */
void bfc_egress_enqueued(struct bfc_sched *q, struct sk_buff *skb)
{
	const struct bfc_fc_ops *fc = q->cfg->fc;
	struct bfc_skb_cb *cb = bfc_cb(skb);
	const struct bfc_ingress *ing = cb->held ? bfc_brought_by(q, skb) : NULL;
	unsigned int slot = bfc_egress_slot(q, ing);
	u32 bytes;

	bfc_share_enqueued(q, cb, ing, slot, qdisc_pkt_len(skb));
	bytes = q->prio[cb->prio].pausable;
	if (!cb->pausable)
		bytes = q->prio[cb->prio].bytes - bytes;
	bfc_egress_meet(q, slot, ing);
	if (q->cfg->ecn && !(q->egress && fc->marks) && bfc_egress_marks(q, bytes) &&
	    bfc_mark_ce(skb))
		q->stats.ecn_mark++;
	if (q->egress)
		INDIRECT_CALL_2(fc->enqueued, bfc_fafc_enqueued, bfc_capfc_enqueued, q,
				skb, slot);
}

/**
 * bfc_egress_dequeued() - a packet left its queue: call the mode's hook
 * @q: scheduler of the egress port; its mode keeps a state of egress ports, or it paused
 *     priorities when the packet came
 * @skb: the packet, still charged
 * @ing: the port that it is charged to, or NULL
 *
 * Context: under the root lock, or the qdisc is not in use; RCU.
 */
void bfc_egress_dequeued(struct bfc_sched *q, const struct sk_buff *skb,
			 const struct bfc_ingress *ing)
{
	unsigned int slot = bfc_egress_slot(q, ing);

	if (bfc_cb(skb)->pausable)
		bfc_share_dequeued(q, bfc_cb(skb), qdisc_pkt_len(skb));
	if (q->egress)
		INDIRECT_CALL_2(q->cfg->fc->dequeued, bfc_fafc_dequeued,
				bfc_capfc_dequeued, q, skb, slot);
}

/**
 * bfc_egress_adopt() - account for what is queued already
 * @q: scheduler of the egress port; its mode has a new state
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_egress_adopt(struct bfc_sched *q, u64 now)
{
	const struct bfc_ingress *ing;
	unsigned int qn, slot;
	struct sk_buff *skb;

	rcu_read_lock();
	for (qn = 0; qn < q->nqueues; qn++) {
		for (skb = q->queues[qn].head; skb; skb = skb->next) {
			ing = bfc_egress_charged(q, skb);
			slot = bfc_egress_slot(q, ing);
			if (bfc_cb(skb)->pausable)
				bfc_share_dequeued(q, bfc_cb(skb),
						   qdisc_pkt_len(skb));
			bfc_cb(skb)->pausable = 0;
			bfc_share_enqueued(q, bfc_cb(skb), ing, slot,
					   qdisc_pkt_len(skb));
			q->cfg->fc->enqueued(q, skb, slot);
		}
	}
	rcu_read_unlock();
	q->cfg->fc->adopt(q, now);
}
