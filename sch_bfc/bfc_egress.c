// SPDX-License-Identifier: GPL-2.0
/*
 * What is queued at an egress port, by priority, where a mode pauses priorities: marks,
 * and what the mode makes of it.
 */
#include <linux/indirect_call_wrapper.h>

#include "bfc.h"
#include "fc_capfc.h"
#include "fc_fafc.h"

/* Slot of the port that brought a packet: nobody's if that is not charged for it,
 * or if it goes back where it came from.
 */
static unsigned int bfc_egress_slot(const struct bfc_sched *q,
				    const struct sk_buff *skb)
{
	const struct bfc_skb_cb *cb = bfc_cb(skb);
	const struct bfc_ingress *ing;
	unsigned int slot;

	if (!cb->held)
		return BFC_SLOT_NONE;
	rcu_read_lock();
	ing = bfc_handle_get(q->port->sw, cb->handle);
	slot = ing ? ing->slot : BFC_SLOT_NONE;
	rcu_read_unlock();
	return slot == q->port->slot ? BFC_SLOT_NONE : slot;
}

/* A slot may have got a new owner: what the old one did is not its fault. */
static void bfc_egress_meet(struct bfc_sched *q, unsigned int slot, u16 handle)
{
	if (likely(slot == BFC_SLOT_NONE || q->in[slot] == handle))
		return;
	/* Of a port that counts for queues too, each packet may have another. */
	handle = bfc_handle_base(q->port->sw, handle);
	if (q->in[slot] == handle)
		return;
	if (q->egress && q->cfg->fc->forget)
		q->cfg->fc->forget(q, slot);
	q->in[slot] = handle;
}

/**
 * bfc_egress_enqueued() - a packet joined its queue: mark it, find the culprits
 * @q: scheduler of the egress port, with a mode that pauses priorities
 * @skb: the packet
 *
 * Context: under the root lock.
 */
void bfc_egress_enqueued(struct bfc_sched *q, struct sk_buff *skb)
{
	unsigned int slot = bfc_egress_slot(q, skb);
	const struct bfc_fc_ops *fc = q->cfg->fc;
	struct bfc_skb_cb *cb = bfc_cb(skb);
	u32 bytes;

	bfc_share_enqueued(q, cb, slot, qdisc_pkt_len(skb));
	bytes = q->prio[cb->prio].pausable;
	if (!cb->pausable)
		bytes = q->prio[cb->prio].bytes - bytes;
	bfc_egress_meet(q, slot, cb->handle);
	if (q->cfg->ecn && bytes > q->cfg->ecn && !(q->egress && fc->marks) &&
	    bfc_mark_ce(skb))
		q->stats.ecn_mark++;
	if (q->egress)
		INDIRECT_CALL_2(fc->enqueued, bfc_fafc_enqueued, bfc_capfc_enqueued, q,
				skb, slot, bfc_now(q));
}

/**
 * bfc_egress_dequeued() - a packet left its queue: is the congestion over?
 * @q: scheduler of the egress port; its mode keeps a state of egress ports, or it paused
 *     priorities when the packet came
 * @skb: the packet, charged still
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_egress_dequeued(struct bfc_sched *q, const struct sk_buff *skb)
{
	unsigned int slot = bfc_egress_slot(q, skb);

	if (bfc_cb(skb)->pausable)
		bfc_share_dequeued(q, bfc_cb(skb), qdisc_pkt_len(skb));
	if (q->egress)
		INDIRECT_CALL_2(q->cfg->fc->dequeued, bfc_fafc_dequeued,
				bfc_capfc_dequeued, q, skb, slot, bfc_now(q));
}

/**
 * bfc_egress_adopt() - account for what is queued already
 * @q: scheduler of the egress port, whose mode has a new state
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_egress_adopt(struct bfc_sched *q, u64 now)
{
	unsigned int qn, slot;
	struct sk_buff *skb;

	for (qn = 0; qn < q->nqueues; qn++) {
		for (skb = q->queues[qn].head; skb; skb = skb->next) {
			slot = bfc_egress_slot(q, skb);
			if (bfc_cb(skb)->pausable)
				bfc_share_dequeued(q, bfc_cb(skb),
						   qdisc_pkt_len(skb));
			bfc_cb(skb)->pausable = 0;
			bfc_share_enqueued(q, bfc_cb(skb), slot,
					   qdisc_pkt_len(skb));
			q->cfg->fc->enqueued(q, skb, slot, now);
		}
	}
	q->cfg->fc->adopt(q, now);
}
