// SPDX-License-Identifier: GPL-2.0
/*
 * Port-level modes: packets that can and that cannot be paused share an egress.
 *
 * A switch with pfc or capfc has one queue for a priority, and pauses bound what each
 * ingress port has in it. Packets that no pause stops would fill it, and take nearly
 * all of the link: those of this box, of a port without bfc or with another mode, of a
 * priority that is lossy there, or exempted by `elide`. So each such source has a queue
 * of its own, by the device that its packets came in through, and what it has there in
 * excess is dropped from that queue. The common queue then counts for as many ports as
 * have packets in it, so that each source gets the same part of the link. With fafc
 * each port has a queue anyway.
 *
 * Packets that cannot be paused cause no pause of others either: capfc and fafc look
 * only at the other packets of an egress.
 *
 * Within a TX queue that has a scheduler of its own, sources share in turn; TX queues
 * share as the card serves them. Everything here is under the root lock.
 */
#include <linux/hash.h>

#include "bfc.h"

#define BFC_SOURCE_BITS	15
#define BFC_SOURCE	BIT(BFC_SOURCE_BITS)	/* a device, not a run of handles */

/* True if a pause of the ingress port stops packets of this priority. */
static bool bfc_can_pause(const struct bfc_sched *q,
			  const struct bfc_ingress *ing, u8 prio)
{
	const struct bfc_cfg *cfg = rcu_dereference(ing->cfg);

	if (!cfg || !(cfg->lossless & BIT(prio)))
		return false;
	/* Not a port of another mode, nor a packet that goes back where it came from.
	 */
	return !q->egress || !q->cfg->fc->alone ||
	       (ing->account && ing->fc == q->cfg->fc && ing->slot != q->port->slot);
}

/* The first handle of a packet's ingress port if a pause of that stops such packets,
 * else 0. Called before the packet is charged.
 */
static u16 bfc_pausable_base(struct bfc_sched *q, const struct sk_buff *skb, u8 prio)
{
	const struct bfc_ingress *ing = bfc_brought_by(q, skb);

	if (!ing || !bfc_can_pause(q, ing, prio) || bfc_elides(q, ing))
		return 0;
	return ing->base;
}

/**
 * bfc_share_hash() - bfc_flow_hash() of a switch with a port-level mode
 * @q: scheduler of the egress port
 * @skb: the packet; its tc_index is 0 or a handle to be trusted
 * @prio: priority
 *
 * Return: 0 for the common queue of pfc and capfc; else a value for each port or other
 * source, which spreads them over the sets of the flow table and tells them apart in
 * each set.
 */
u64 bfc_share_hash(struct bfc_sched *q, const struct sk_buff *skb, u8 prio)
{
	u16 base = bfc_pausable_base(q, skb, prio);
	u64 source;

	if (base && q->cfg->identity == BFC_FLOW_PRIO)
		return 0;
	source = base ? base >> BFC_HANDLE_SHIFT :
			hash_32(skb->skb_iif, BFC_SOURCE_BITS) | BFC_SOURCE;
	return source << 48 | source << 32 | (u32)(source * GOLDEN_RATIO_32);
}

/**
 * bfc_share_enqueued() - a packet joined its queue
 * @q: scheduler of the egress port, with a port-level mode
 * @cb: of the packet, charged if it is to be
 * @ing: the ingress port that is charged, or NULL
 * @slot: of the port that it came in through
 * @len: bytes
 *
 * Context: under the root lock, RCU.
 */
void bfc_share_enqueued(struct bfc_sched *q, struct bfc_skb_cb *cb,
			const struct bfc_ingress *ing, unsigned int slot, u32 len)
{
	cb->pausable = ing && bfc_can_pause(q, ing, cb->prio);
	if (!cb->pausable)
		return;
	q->prio[cb->prio].pausable += len;
	cb->slot = slot;	/* the port may have another one when the packet leaves */
	if (!q->share.from[cb->prio][slot]++)
		q->prio[cb->prio].ports++;
}

/**
 * bfc_share_dequeued() - a packet that can be paused left its queue
 * @q: scheduler of the egress port
 * @cb: of the packet
 * @len: bytes
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_share_dequeued(struct bfc_sched *q, const struct bfc_skb_cb *cb, u32 len)
{
	q->prio[cb->prio].pausable -= len;
	if (!--q->share.from[cb->prio][cb->slot])
		q->prio[cb->prio].ports--;
}
