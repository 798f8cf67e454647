// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler: control band, deficit round robin over the queues that are neither
 * empty nor paused, shaper. Everything here runs under the root lock of
 * the qdisc.
 */
#include <linux/indirect_call_wrapper.h>
#include <linux/prefetch.h>

#include "bfc.h"
#include "bfc_limit.h"
#include "fc_fafc.h"

/* ---- enqueue ---- */

static void bfc_account_enqueue(struct Qdisc *sch, struct sk_buff *skb)
{
	struct bfc_sched *q = qdisc_priv(sch);

	/* After a silence the shaper starts anew; while there is a backlog it
	 * keeps its own time, so that late timers cost no throughput.
	 */
	if (!sch->q.qlen)
		q->idle = true;
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);	/* others read it without the lock */
	qdisc_qstats_backlog_inc(sch, skb);
	q->mem += skb->truesize;
	if (q->mem > q->stats.mem_peak)
		q->stats.mem_peak = q->mem;
	if (sch->qstats.backlog > q->stats.backlog_peak)
		q->stats.backlog_peak = sch->qstats.backlog;
}

/* True if a frame of the control band's kind must be queued as an ordinary packet. The band is
 * served first and never paused, and any host can send ARP at line rate: without a bound such
 * frames would starve the rest. So the band has a share of the link and of the buffer. A flow's
 * excess is a flow of its own. While it has packets queued, all that comes follows them: this
 * keeps the order, and leaves the tokens to others.
 */
static bool bfc_control_exceeds(struct bfc_sched *q, const struct sk_buff *skb,
				enum bfc_control kind, u64 hash)
{
	u64 rate = q->cfg->ctrl_rate;
	u32 burst = max_t(u64, div_u64(rate, BFC_BUCKET_PER_SEC), BFC_CTRL_BURST);
	u32 len = max_t(u32, qdisc_pkt_len(skb), ETH_ZLEN);

	/* With the other identities a flow is a whole priority or ingress port. */
	if (q->cfg->identity == BFC_FLOW_TUPLE &&
	    bfc_flow_is_queued(q, skb, hash, q->call.class))
		return true;
	return q->ctrl.mem + skb->truesize > q->cfg->ctrl_limit ||
	       !bfc_bucket_take_n(&q->ctrl.bucket[kind], bfc_now(q), rate, burst, len);
}

/* The control band: strict priority, never paused, tagged or counted. */
static int bfc_enqueue_control(struct sk_buff *skb, struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	bfc_account_enqueue(sch, skb);
	q->ctrl.mem += skb->truesize;
	__qdisc_enqueue_tail(skb, &q->ctrl.band);
	return NET_XMIT_SUCCESS;
}

/* True if a queue is over its cap and must not take another packet. The cap is a multiple of the
 * free buffer, so that a queue that does not drain cannot take the buffer from the rest.
 */
static bool bfc_over_cap(struct bfc_sched *q, const struct bfc_queue *queue)
{
	if (likely(queue->mem <= bfc_queue_cap(q)))
		return false;
	if (q->txq.all)
		bfc_txqs_account(q);	/* others may have given some back */
	return queue->mem > bfc_queue_cap(q);
}

/* Append a packet with a filled cb to a queue. Here and not in bfc_queue.c, so that it is
 * inlined.
 */
static __always_inline void bfc_queue_append(struct bfc_sched *q, unsigned int qn,
					     struct sk_buff *skb)
{
	struct bfc_queue *queue = &q->queues[qn];

	skb->next = NULL;
	if (queue->head) {
		queue->tail->next = skb;
		if (unlikely(queue->mixed)) {
			queue->nflows += q->flows[bfc_cb(skb)->flow].size == 1 &&
					 !bfc_cb(skb)->unsampled;
		} else if (queue->flow != bfc_cb(skb)->flow) {
			queue->mixed = true;
			queue->nflows = 2;
		}
	} else {
		queue->head = skb;
		queue->flow = bfc_cb(skb)->flow;
		queue->mixed = false;
		bfc_bit_clear(qn, q->empty);
		bfc_bit_clear(qn, q->usable);
		q->noccupied++;
		if (bfc_is_classed(q))
			q->class.each[bfc_queue_class(q, qn)].noccupied++;
		if (!bfc_bit_test(qn, q->obeyed.paused)) {
			bfc_queue_activate(q, queue, q->cfg->new_first);
		} else {
			q->storm.due = 0;	/* the pause now holds packets: look for a storm */
			if (bfc_is_srf(q))
				bfc_srf_place(q, queue);
		}
	}
	queue->tail = skb;
	queue->packets++;
	queue->mem += bfc_cb(skb)->mem;
	queue->bytes += qdisc_pkt_len(skb);
	q->prio[bfc_cb(skb)->prio].bytes += qdisc_pkt_len(skb);
	if (queue->bytes > queue->peak)
		queue->peak = queue->bytes;
}

/* `sample`: true if a packet is left out of flow table and pause counters (BFC App. A.8). The
 * choice is random, not every n-th packet: of flows with alternating packets it would leave out all
 * or none. The upper half of a linear congruential sequence (Knuth, TAOCP 3.3.4) is random enough.
 * Not inline: packets of a port without the option should not pay for it.
 */
static noinline bool bfc_left_out(struct bfc_sched *q)
{
	q->call.lot = q->call.lot * 1664525 + 1013904223;
	if (q->call.lot >> 16 >= q->cfg->leave_out)
		return false;
	q->stats.unsampled++;
	return true;
}

static __always_inline int bfc_enqueue_one(struct sk_buff *skb, struct Qdisc *sch, u64 hash,
					   u8 prio, struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u8 class = q->call.class;
	struct bfc_flow *flow = bfc_flow_find(q, skb, hash, class);
	/* A flow with packets here keeps its queue, as in bfc_flow_assign(), but without a call. */
	unsigned int qn = likely(flow->size && bfc_queue_class(q, flow->queue) == class) ?
			  flow->queue : bfc_flow_assign(q, flow, skb, hash, class);
	struct bfc_skb_cb *cb = bfc_cb(skb);
	struct bfc_queue *queue = &q->queues[qn];
	struct sk_buff *before;

	cb->flow = flow - q->flows;
	cb->mem = skb->truesize;
	cb->segs = bfc_pkt_segs(skb);
	cb->prio = prio;
	cb->counted = 0;
	cb->holds_count = 0;
	cb->held = 0;
	cb->promised = 0;
	cb->pausable = 0;
	cb->overflowed = 0;
	cb->unsampled = 0;
	if (bfc_is_srf(q))
		cb->size = q->srf->size;
	if (unlikely(q->cfg->leave_out))
		cb->unsampled = bfc_left_out(q);
	if (static_branch_unlikely(&bfc_holds.key) && !bfc_hold(q, skb))
		goto drop;
	if (unlikely(bfc_over_cap(q, queue)) && !bfc_promised(q, skb)) {
		if (cb->held)
			bfc_unhold(q, skb, bfc_brought_by(q, skb));
		q->stats.drop_cap++;
		goto drop;
	}
	if (unlikely(flow->shared) && flow >= q->over.entries)
		bfc_flow_overflow(q, flow, queue, skb, hash);
	/* !head: its old queue is now of another class, and it got this one instead. No stamp:
	 * the queue was that of the flow that had the entry before.
	 */
	else if ((!flow->size || unlikely(!queue->head)) && q->cfg->by_dest &&
		 !(flow->stamp && bfc_queue_was_of(queue, cb->flow)))
		bfc_dest_came(q, queue, skb);
	if (likely(!cb->unsampled))
		flow->size++;
	else if (!flow->size)
		flow->stamp = bfc_lately(q);
	bfc_account_enqueue(sch, skb);
	before = queue->head ? queue->tail : NULL;
	bfc_queue_append(q, qn, skb);

	if (q->cfg->count && queue->bytes > bfc_queue_th(q, queue) && !cb->unsampled)
		bfc_count(q, queue, skb, before);
	if (cb->counted && !queue->cursor &&
	    q->cfg->resume == BFC_RESUME_EARLY) {
		queue->cursor = skb;
		queue->ahead = queue->bytes - qdisc_pkt_len(skb);
	}
	if (unlikely(q->cfg->prios))
		bfc_egress_enqueued(q, skb);

	if (unlikely(bfc_over_limit(q)) && bfc_make_room(sch, qn, to_free))
		return NET_XMIT_CN;
	return NET_XMIT_SUCCESS;

drop:
	queue->drops++;
	q->stats.storm_drops += bfc_in_storm(q, prio);
	return qdisc_drop(skb, sch, to_free);
}

/* The length that a segment counts as: by the size table (tc ... stab), if there is one, as in
 * __qdisc_calculate_pkt_len(), which is not exported.
 */
static u32 bfc_segment_len(const struct Qdisc *sch, const struct sk_buff *seg)
{
	const struct qdisc_size_table *stab = rcu_dereference_bh(sch->stab);
	s64 len = seg->len;
	u32 slot;

	if (likely(!stab))
		return len;
	len += stab->szopts.overhead;
	if (stab->szopts.tsize) {
		slot = max_t(s64, len + stab->szopts.cell_align, 0) >>
		       stab->szopts.cell_log;
		len = stab->data[slot % stab->szopts.tsize];
		if (slot >= stab->szopts.tsize)
			len += (s64)stab->data[stab->szopts.tsize - 1] *
			       (slot / stab->szopts.tsize);
		len <<= stab->szopts.size_log;
	}
	return clamp_t(s64, len, 1, BFC_LEN_MAX);
}

/* True if Th is known. A bare port may be on a device that never tells its speed (virtio-net): Th
 * by the rate that is assumed then would cut packets for good. A bare port has no neighbour, so no
 * pause can be late.
 */
static bool bfc_knows_th(const struct bfc_sched *q)
{
	return !q->port->bare || q->cfg->speed || q->cfg->shapes;
}

/* True if a program is to stamp a packet that receive offload made a list of segments
 * (rx-gro-list). Each segment keeps its own header, and the program would write only into that of
 * the first.
 */
static bool bfc_is_list(const struct bfc_sched *q, const struct sk_buff *skb)
{
	return unlikely(q->stamp.prog) && bfc_is_gso(skb) &&
	       skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST;
}

/* True if a packet of several segments must be cut. With split_gso auto it stays whole if the link
 * sends it in the time that a queue may take to drain before it pauses: its queue exceeds Th, and
 * others wait, by no more than that. It is cut if a few such packets would fill the port's memory,
 * if there is room for some of its frames only, or if a size table (tc ... stab) says what each
 * frame counts as. A list is cut whatever split_gso says.
 */
static bool bfc_cuts(struct Qdisc *sch, const struct sk_buff *skb, u8 prio)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u8 class = q->call.class;

	if (bfc_is_list(q, skb))
		return true;
	if (q->cfg->split_gso != BFC_SPLIT_GSO_AUTO)
		return q->cfg->split_gso == BFC_SPLIT_GSO_ON;
	return (qdisc_pkt_len(skb) > bfc_th(q, class, bfc_nactive_in(q, class)) &&
		bfc_knows_th(q)) ||
	       skb->truesize > q->cfg->limit / BFC_GSO_OF_LIMIT ||
	       (q->txq.all && q->mem - q->ctrl.mem + skb->truesize > q->room) ||
	       (static_branch_unlikely(&bfc_holds.key) && !bfc_holds_whole(q, skb, prio)) ||
	       rcu_access_pointer(sch->stab);
}

static noinline int bfc_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch, u64 hash,
				    u8 prio, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	struct bfc_sched *q = qdisc_priv(sch);
	struct sk_buff *segs, *seg, *next;
	bool sent = false, congested = false;

	/* A container or guest chooses gso_size; gso_segs is 0 then. */
	segs = skb->len > BFC_GSO_SEGS_MAX * skb_shinfo(skb)->gso_size ? NULL :
	       skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		q->stats.drop_gso++;
		return qdisc_drop(skb, sch, to_free);
	}
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		qdisc_skb_cb(seg)->pkt_len = bfc_segment_len(sch, seg);
		bfc_set_pkt_segs(seg, 1);
		switch (bfc_enqueue_one(seg, sch, hash, prio, to_free)) {
		case NET_XMIT_SUCCESS:
			sent = true;
			break;
		case NET_XMIT_CN:	/* queued, but another packet was dropped */
			congested = true;
			break;
		}
	}
	/* No parent counts our packets: this is the root, or below a root that has no packets. */
	consume_skb(skb);
	if (sent)
		return NET_XMIT_SUCCESS;
	return congested ? NET_XMIT_CN : NET_XMIT_DROP;
}

static int bfc_enqueue_rcu(struct sk_buff *skb, struct Qdisc *sch,
			   struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	enum bfc_control kind;
	u8 prio = 0;
	u64 hash;

	bfc_begin(q);
	kind = bfc_control_kind(skb);
	if (static_branch_unlikely(&bfc_holds.key) || bfc_is_classed(q))
		prio = bfc_prio_of(q, skb);
	q->call.class = bfc_is_classed(q) ? bfc_class_of(q, skb, prio) : prio & q->cfg->class_mask;
	if (static_branch_unlikely(&bfc_holds.key) && bfc_cfg_has_prios(q->cfg))
		bfc_vet(q, skb);
	hash = bfc_flow_hash(q, skb, prio);
	if (unlikely(kind) && q->cfg->identity == BFC_FLOW_TUPLE)
		hash = ~hash;	/* a flow of its own */
	if (unlikely(kind)) {
		if (bfc_is_pause_frame(skb)) {
			/* bfc_kick() sent this empty frame to run this qdisc without holding the
			 * root lock of the egress port that counted. Dequeue comes next.
			 */
			consume_skb(skb);	/* not a drop, so that no drop monitor reports it */
			return NET_XMIT_SUCCESS;
		}
		/* The band takes packets whole. */
		if (!bfc_is_list(q, skb) && !bfc_control_exceeds(q, skb, kind, hash))
			return bfc_enqueue_control(skb, sch);
		q->stats.ctrl_excess++;
	}
	if (bfc_is_srf(q)) {
		q->srf->size = bfc_srf_size(skb);
		q->stats.sized += q->srf->size != BFC_SIZE_NONE;
	}
	if (bfc_is_gso(skb) && bfc_cuts(sch, skb, prio))
		return bfc_enqueue_gso(skb, sch, hash, prio, to_free);
	return bfc_enqueue_one(skb, sch, hash, prio, to_free);
}

/**
 * bfc_enqueue() - queue a packet for this port, or drop it
 * @skb: the packet
 * @sch: the qdisc
 * @to_free: list of packets dropped on the way
 *
 * Context: under the root lock, BH off.
 * Return: NET_XMIT_*.
 */
int bfc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	int ret;

	rcu_read_lock();	/* for bfc_brought_by() */
	ret = bfc_enqueue_rcu(skb, sch, to_free);
	rcu_read_unlock();
	return ret;
}

/* ---- dequeue ---- */

static struct sk_buff *bfc_dequeue_control(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = __qdisc_dequeue_head(&q->ctrl.band);

	if (!skb)
		return NULL;
	/* As when it was queued: nothing writes to packets of the band before they leave. */
	q->mem -= skb->truesize;
	q->ctrl.mem -= skb->truesize;
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	qdisc_qstats_backlog_dec(sch, skb);
	return skb;
}

/* The first queue of a round with a priority not in @waits (bit p: p must wait), or NULL. */
static struct bfc_queue *bfc_drr_next(struct bfc_sched *q,
				      const struct list_head *round, u8 waits)
{
	struct bfc_queue *queue;

	list_for_each_entry(queue, round, active)
		if (!(waits & BIT(bfc_queue_class(q, queue - q->queues))))
			return queue;
	return NULL;
}

/* The quantum of a queue that several flows share. If the neighbour is a host, all queues are of
 * one destination, and its elephants share one queue, the pool: bfc_dest_few().
 */
static u32 bfc_quantum_of_pool(struct bfc_sched *q, const struct bfc_queue *queue)
{
	u64 quantum = q->cfg->quantum;

	if (bfc_faces_host(q) && bfc_dest_few(q, queue))
		quantum *= max(queue->nflows, 1U);
	return min_t(u64, quantum, BFC_QUANTUM_MAX);
}

/* What a queue may send in a round, bytes. If the common queue of a priority has packets of
 * several ingress ports, and other sources of that priority have queues of their own, then each of
 * these ports counts as much as one of these sources.
 */
static u32 bfc_quantum(struct bfc_sched *q, const struct bfc_queue *queue)
{
	unsigned int qn = queue - q->queues;

	if (q->cfg->by_dest && queue->mixed)
		return bfc_quantum_of_pool(q, queue);
	if (likely(q->cfg->identity != BFC_FLOW_PRIO) || qn >= q->cfg->classes ||
	    q->prio[qn].bytes == q->prio[qn].pausable)
		return q->cfg->quantum;
	return q->cfg->quantum * max(q->prio[qn].ports, 1U);
}

/* A packet of 64 KB takes the quanta of many rounds. Skip these rounds at once, as no other queue
 * is in them.
 */
static void bfc_skip_rounds(const struct bfc_sched *q, struct bfc_queue *queue)
{
	u32 rounds = -queue->deficit / q->cfg->quantum;

	queue->deficit += rounds * q->cfg->quantum;
	queue->round += rounds;
}

static struct sk_buff *bfc_dequeue_drr(struct Qdisc *sch, u8 waits,
				       struct bfc_queue **from)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_sched_drr *r = &q->drr;
	struct list_head *first, *round = &r->active;
	u8 strict = q->drr.strict_first & ~waits;
	struct bfc_class *class = NULL;
	struct bfc_queue *queue;
	struct sk_buff *skb;

	if (!q->drr.nactive)
		return NULL;
	if (bfc_is_srf(q)) {
		queue = bfc_srf_next(q);
		goto serve;
	}
	if (bfc_is_classed(q)) {
		class = bfc_class_next(q);
		r = &class->round;
		round = &r->active;
	} else if (unlikely(strict)) {
		round = &q->strict[__fls(strict)];
	}
	for (;;) {
		first = round == &r->active && !list_empty(&r->fresh) ? &r->fresh : round;
		if (likely(!waits)) {
			queue = list_first_entry(first, struct bfc_queue,
						 active);
		} else {
			queue = bfc_drr_next(q, first, waits) ?:
				bfc_drr_next(q, round, waits);
			if (!queue)
				return NULL;
		}
		if (round == &r->active) {
			/* The round may have gone on while this queue had to wait. */
			if ((s32)(r->round - queue->round) > 0)
				queue->round = r->round;
			r->round = queue->round;
		}
		if (queue->deficit > 0)
			break;
		if (unlikely(queue->deficit < -(s32)q->cfg->quantum) && r->nactive == 1)
			bfc_skip_rounds(q, queue);
		queue->deficit += bfc_quantum(q, queue);
		queue->round++;
		if (!list_is_last(&queue->active, round))
			list_move_tail(&queue->active, round);
		if (q->cfg->by_dest && bfc_faces_host(q))
			bfc_dest_turned(q, queue);
	}
serve:
	queue->served = q->drr.served + 1;
	WRITE_ONCE(q->drr.served, queue->served);
	skb = bfc_queue_pop(sch, queue - q->queues);
	/* A size table (tc ... stab) can make a packet as long as it likes. */
	queue->deficit = max_t(s64, (s64)queue->deficit - qdisc_pkt_len(skb),
			       -(s64)BFC_QUANTUM_MAX);
	if (class)
		bfc_class_sent(q, class, qdisc_pkt_len(skb));
	if (unlikely(q->egress) && q->cfg->fc->leaving)
		INDIRECT_CALL_1(q->cfg->fc->leaving, bfc_fafc_check_port, q, skb,
				bfc_now(q));
	/* The head is read again when the queue has its next turn. */
	if (queue->head)
		prefetch(queue->head);
	*from = queue;
	return skb;
}

static void bfc_pace(struct bfc_sched *q, const struct sk_buff *skb)
{
	if (!q->cfg->shapes)
		return;
	q->next_tx = bfc_pace_from(q->next_tx, !q->idle, bfc_now(q));
	q->next_tx += psched_l2t_ns(&q->cfg->pace, qdisc_pkt_len(skb));
	if (q->txq.all)
		bfc_txqs_spend(q, qdisc_pkt_len(skb), false);
}

/* No packet may leave: the rest of a turn is for other TX queues. */
static void bfc_pace_rests(struct bfc_sched *q)
{
	q->idle = true;
	if (q->txq.turn)
		bfc_txqs_give_back(q);
}

/* True if the shaper holds the next packet back; a timer then runs the qdisc in time. */
static bool bfc_pace_waits(struct bfc_sched *q)
{
	if (!q->cfg->shapes)
		return false;
	if (q->txq.all) {
		/* A turn in which nothing may leave is neither taken nor waited for. */
		if (!q->drr.nactive && !q->ctrl.band.head)
			return false;
		if (!q->txq.turn)
			bfc_txqs_turn(q, bfc_now(q));
	}
	if (bfc_now(q) >= q->next_tx)
		return false;
	qdisc_watchdog_schedule_ns(&q->watchdog, q->next_tx);
	return true;
}

/* A control frame ends at the neighbour and does not reach the bottleneck that the rate is set
 * for: it only takes the time that the link needs to send it.
 */
static void bfc_pace_pause(struct bfc_sched *q, const struct sk_buff *skb,
			   u64 now)
{
	u64 link_rate = READ_ONCE(q->port->link_rate) ?: q->cfg->rate;

	if (!q->cfg->shapes)
		return;
	q->next_tx = bfc_pace_from(q->next_tx, !q->idle, now);
	q->next_tx += div64_u64(qdisc_pkt_len(skb) * BFC_NSEC_PER_SEC,
				link_rate);
	if (q->txq.all)
		bfc_txqs_spend(q, div64_u64(qdisc_pkt_len(skb) * q->cfg->rate, link_rate), true);
}

/* A frame of the port itself that is due: HELLO, PAUSE or PFC, or NULL. It is built when it is
 * sent, so that it tells the present state. Such frames are never taken from a queue, so that no
 * packet from outside can get their priority.
 */
static struct sk_buff *bfc_dequeue_own(struct Qdisc *sch, u64 now)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = NULL;

	/* Flags may be set until another scheduler sends: do not write for each packet. */
	if (test_bit(BFC_PORT_HELLO, &q->port->flags) &&
	    test_and_clear_bit(BFC_PORT_HELLO, &q->port->flags))
		skb = bfc_hello_frame(q->port, now);
	if (!skb && unlikely(test_bit(BFC_PORT_RESUME, &q->port->flags)))
		skb = bfc_pfc_last(q);
	if (!skb && bfc_pause_due(q->port))
		skb = bfc_pause_build(sch, now);
	if (skb) {
		skb_set_queue_mapping(skb, q->txq.index);
		bfc_pace_pause(q, skb, now);
		qdisc_bstats_update(sch, skb);
	}
	return skb;
}

static bool bfc_storm_due(struct bfc_sched *q)
{
	return q->storm.due != U64_MAX && bfc_now(q) >= q->storm.due;
}

/* Nothing may leave. But since dequeue read &bfc_port.rx and &bfc_port.flags another CPU may have
 * changed them (bfc_port_told()), and not have scheduled the qdisc because it still saw the SCHED
 * bit, which was cleared, atomically, before that read. So read both again. If the neighbour has
 * told something new, the qdisc runs again, but not from here: the neighbour may tell something
 * new each time. Not inline: packets that leave should not pay for it.
 */
static noinline struct sk_buff *bfc_dequeue_late(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_port *port = q->port;

	smp_mb__after_atomic();	/* pairs with bfc_port_told() */
	if (unlikely(READ_ONCE(port->rx.gen) != q->obeyed.gen)) {
		__netif_schedule(sch);
		return NULL;
	}
	if (unlikely(READ_ONCE(port->flags)))
		return bfc_dequeue_own(sch, bfc_now(q));
	return NULL;
}

/**
 * bfc_dequeue() - the next packet for the wire
 * @sch: the qdisc
 *
 * In this order: a HELLO, if it is time for one; the set of upstream queues to
 * pause, if it changed; the control band; DRR over the queues that the neighbour
 * does not hold paused.
 *
 * Return: a packet, or NULL: nothing may leave now.
 */
struct sk_buff *bfc_dequeue(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_port *port = q->port;
	unsigned int tries = BFC_STAMP_DROPS;
	struct bfc_queue *queue;
	struct bfc_skb_cb cb;
	struct sk_buff *skb;
	u8 told;
	u16 vid;
	u32 gen;

	bfc_begin(q);
	if (unlikely(READ_ONCE(port->flags))) {
		skb = bfc_dequeue_own(sch, bfc_now(q));
		if (skb)
			return skb;
	}

	/* Pairs with the release that follows each change of &bfc_port.rx. */
	gen = smp_load_acquire(&port->rx.gen);
	if (unlikely(q->obeyed.npaused))
		bfc_expire_pauses(q, bfc_now(q));
	if (unlikely(gen != q->obeyed.gen || bfc_storm_due(q)))
		bfc_merge_pauses(q, gen, bfc_now(q));

again:
	if (!sch->q.qlen) {
		bfc_pace_rests(q);
		return bfc_dequeue_late(sch);
	}
	if (bfc_pace_waits(q))
		return bfc_dequeue_late(sch);

	if (likely(!q->ctrl.band.head)) {
		u8 waits = 0;

		if (unlikely(q->host.paced))
			waits = bfc_host_waits(q, bfc_now(q));
		skb = bfc_dequeue_drr(sch, waits, &queue);
		if (!skb) {
			/* All packets are paused or have to wait: a timer for the end. */
			u64 due = bfc_host_due(q, waits);

			bfc_pace_rests(q);
			q->host.waited |= waits;
			bfc_settle(q);
			if (q->obeyed.npaused)
				due = min(due, q->obeyed.deadline);
			qdisc_watchdog_schedule_ns(&q->watchdog,
						   min(due, q->storm.due));
			return bfc_dequeue_late(sch);
		}
		cb = *bfc_cb(skb);
		told = cb.prio;
		vid = BFC_VID(q->base + (queue - q->queues));
		if (bfc_is_classed(q)) {
			told = bfc_queue_class(q, queue - q->queues);
			vid |= told << VLAN_PRIO_SHIFT;
		}
		if (unlikely(bfc_in_storm(q, cb.prio)))
			q->stats.storm_tx++;
		else
			q->prio[cb.prio].sent++;
	} else {
		skb = bfc_dequeue_control(sch);
		told = 0;
		queue = NULL;
		vid = BFC_VID_NONE;
	}

	/* The handle that the hook noted in tc_index is of no use after this egress, except on an
	 * upper device: the port below it needs it.
	 */
	if (likely(!port->bare))
		skb->tc_index = 0;
	if (unlikely(!bfc_stamp(sch, skb, vid, told))) {
		qdisc_qstats_drop(sch);
		kfree_skb(skb);
		if (--tries)
			goto again;
		__netif_schedule(sch);	/* also if the first TX queue of the qdisc is full */
		return NULL;
	}
	bfc_pace(q, skb);
	q->idle = false;
	if (likely(queue)) {
		if (unlikely(q->host.paced & BIT(cb.prio)))
			bfc_host_sent(q, cb.prio, qdisc_pkt_len(skb),
				      bfc_now(q));
		_bstats_update(&queue->bstats, qdisc_pkt_len(skb), cb.segs);
		_bstats_update(&sch->bstats, qdisc_pkt_len(skb), cb.segs);
	} else {
		qdisc_bstats_update(sch, skb);
	}
	return skb;
}

/**
 * bfc_purge() - drop everything and give all counts back
 * @sch: the qdisc
 *
 * Context: root lock held, or the qdisc is not in use any more.
 */
void bfc_purge(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	unsigned int qn;
	struct sk_buff *skb;

	local_bh_disable();	/* a qdisc not in use is purged without the lock that does this */
	bfc_begin(q);
	for (qn = 0; qn < q->nqueues; qn++) {
		while (q->queues[qn].head) {
			skb = bfc_queue_pop(sch, qn);
			rtnl_kfree_skbs(skb, skb);
		}
	}
	while ((skb = bfc_dequeue_control(sch)))
		rtnl_kfree_skbs(skb, skb);
	bfc_pace_rests(q);
	if (q->txq.told)
		bfc_txqs_account(q);
	local_bh_enable();
	qdisc_watchdog_cancel(&q->watchdog);
}
