// SPDX-License-Identifier: GPL-2.0
/*
 * Pause counters (BFC §3.3.2). The counter of an upstream queue is above 0 while a packet from it
 * is queued here that met a queue over Th. Only whether it is 0 matters. So packets of one
 * upstream queue in a row in a queue hold one count, which the last of them gives back. Counters
 * are written by all CPUs that send: so this is not done for each packet while a queue is over
 * Th.
 */
#include <linux/etherdevice.h>

#include "bfc.h"

/**
 * bfc_count() - a packet met a queue over Th: pause its upstream queue
 * @q: scheduler of the egress port
 * @queue: its queue
 * @skb: the packet, the last one of @queue
 * @before: the packet in front of it, or NULL
 *
 * Not counted are packets without an upstreamQ (our own, or from a neighbour
 * without BFC); group addressed frames, since one upstreamQ counted at every
 * egress would let the slowest listener pause the source; and what `elide`
 * exempts (BFC App. B).
 *
 * Context: under the root lock of the egress port, BH off.
 */
void bfc_count(struct bfc_sched *q, const struct bfc_queue *queue, struct sk_buff *skb,
	       struct sk_buff *before)
{
	struct bfc_skb_cb *cb = bfc_cb(skb), *row = before ? bfc_cb(before) : NULL;
	u16 handle = skb->tc_index;
	struct bfc_ingress *ing;
	struct bfc_port *port;
	unsigned int upq;

	if (!handle || is_multicast_ether_addr(eth_hdr(skb)->h_dest))
		return;
	ing = bfc_trusted(q, skb);
	if (!ing)
		return;
	upq = handle - ing->base - 1;
	if (handle == ing->base || unlikely(upq >= ing->queues))
		return;
	if (bfc_elides(q, ing)) {
		q->stats.elided += !ing->charges->buffer;	/* else bfc_hold() has */
		return;
	}
	cb->handle = handle;
	cb->counted = 1;
	cb->holds_count = 1;
	q->stats.counted++;
	if (static_branch_unlikely(&bfc_roots.key))
		bfc_root_count(q, queue, ing, upq);
	if (row && row->holds_count && row->handle == handle) {
		row->holds_count = 0;
		return;
	}
	if (atomic_inc_return(&ing->counter[upq]) == 1) {
		port = rcu_dereference(ing->port);
		if (port)
			bfc_port_mark_dirty(port);
	}
}

/**
 * bfc_uncount() - end the counting of a packet, and give back the count if it holds one
 * @q: scheduler of the egress port
 * @skb: the packet
 * @ing: of the handle in its cb: the counters stay until the last count is back
 *
 * Context: under the root lock of the egress port, or the qdisc is not in use; BH off, RCU.
 */
void bfc_uncount(struct bfc_sched *q, struct sk_buff *skb, struct bfc_ingress *ing)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	struct bfc_port *port;

	cb->counted = 0;
	if (WARN_ON_ONCE(!ing))
		return;
	port = rcu_dereference(ing->port);
	if (port)
		this_cpu_add(port->pcpu->drained, qdisc_pkt_len(skb));
	if (!cb->holds_count)
		return;
	cb->holds_count = 0;
	if (atomic_dec_return(&ing->counter[cb->handle - ing->base - 1]) == 0 && port)
		bfc_port_mark_dirty(port);
}
