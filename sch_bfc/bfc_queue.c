// SPDX-License-Identifier: GPL-2.0
/*
 * The queues: FIFOs and the rounds that they are served in. Everything here runs under
 * the root lock of the qdisc.
 *
 * A queue is in one of four states:
 *
 *			not paused		paused by the neighbour
 *   empty		empty, usable		empty
 *   with packets	on a list		nothing
 *
 * There are two lists: the round, which is deficit round robin, and before it the fresh
 * queues. A queue that gets its first packet and was not served in the present round is put
 * on the list of fresh queues, once, as in fq_codel (RFC 8290): so short flows do not wait
 * for a quantum of each long one. A queue that runs empty keeps the round in which it was
 * served and the rest of its quantum: a flow with packets that come one by one may go first
 * again in the same round, but only with that rest. Queues of a strict priority are on
 * neither list, but in a round of that priority alone. With `sched srf` queues are in
 * buckets instead, and so are paused queues (bfc_srf.c).
 */
#include "bfc.h"

static bool bfc_queue_is_strict(const struct bfc_sched *q,
				const struct bfc_queue *queue)
{
	return q->cfg->strict & BIT(bfc_queue_class(q, queue - q->queues));
}

/* A queue that sent a packet of several segments may owe more than a quantum. Rounds that
 * went by without the queue have paid all but one quantum of it. If no other queue is
 * active, there is none to wait for, and it owes one quantum.
 */
static void bfc_queue_pay(const struct bfc_sched *q, const struct bfc_sched_drr *r,
			  struct bfc_queue *queue)
{
	s32 quantum = q->cfg->quantum, gone = r->round - queue->round;

	if (!r->nactive)
		queue->deficit = -quantum;
	else if (gone > 0)
		queue->deficit = min_t(s64, queue->deficit + (s64)gone * quantum, -quantum);
}

/**
 * bfc_queue_activate() - a queue with packets may send
 * @q: the scheduler
 * @queue: the queue
 * @fresh: it just got its first packet, and is to go before the round
 *
 * Neither debt nor the rest of a quantum is lost when a queue runs empty, nor is debt when
 * it is paused for a moment. Else a flow that sends a small packet for each answer would
 * get as many packets as others, not as many bytes.
 *
 * Context: under the root lock.
 */
void bfc_queue_activate(struct bfc_sched *q, struct bfc_queue *queue, bool fresh)
{
	struct bfc_sched_drr *r = bfc_round_of(q, queue);
	/* Credit is for a queue of one flow, not for one of a port or a priority
	 * (port-level modes).
	 */
	bool credit = fresh && !q->cfg->prios && queue->round == r->round &&
		      queue->deficit > 0;

	if (bfc_is_srf(q)) {
		WRITE_ONCE(q->drr.nactive, q->drr.nactive + 1);
		bfc_srf_place(q, queue);
		return;
	}
	if (unlikely(queue->deficit < -(s32)q->cfg->quantum))
		bfc_queue_pay(q, r, queue);
	if (!credit)
		queue->deficit = min_t(s32, queue->deficit, 0) + q->cfg->quantum;
	WRITE_ONCE(q->drr.nactive, q->drr.nactive + 1);
	if (bfc_is_classed(q)) {
		bfc_class_activated(q, bfc_queue_class(q, queue - q->queues));
	} else if (unlikely(q->cfg->strict) && bfc_queue_is_strict(q, queue)) {
		u8 prio = bfc_queue_class(q, queue - q->queues);

		queue->round = q->drr.round;
		list_add_tail(&queue->active, &q->strict[prio]);
		q->drr.strict_first |= BIT(prio);
		return;
	}
	if (credit || (fresh && queue->round != r->round)) {
		queue->round = r->round;
		list_add_tail(&queue->active, &r->fresh);
	} else {
		queue->round = r->round + 1;
		list_add_tail(&queue->active, &r->active);
	}
}

/**
 * bfc_queue_deactivate() - a queue has run empty or was paused
 * @q: the scheduler
 * @queue: the queue, active so far
 *
 * Context: under the root lock.
 */
void bfc_queue_deactivate(struct bfc_sched *q, struct bfc_queue *queue)
{
	WRITE_ONCE(q->drr.nactive, q->drr.nactive - 1);
	if (bfc_is_srf(q)) {
		bfc_srf_place(q, queue);
		return;
	}
	list_del_init(&queue->active);
	if (bfc_is_classed(q)) {
		bfc_class_deactivated(q, bfc_queue_class(q, queue - q->queues));
	} else if (unlikely(q->drr.strict_first)) {
		u8 prio = bfc_queue_class(q, queue - q->queues);

		if (list_empty(&q->strict[prio]))
			q->drr.strict_first &= ~BIT(prio);
	}
}

/**
 * bfc_requeue() - build all rounds anew, as strict, classes or sched may have changed
 * @q: the scheduler
 *
 * Context: under the root lock.
 */
void bfc_requeue(struct bfc_sched *q)
{
	unsigned int qn;

	for (qn = 0; qn < q->nqueues; qn++)
		list_del_init(&q->queues[qn].active);
	q->drr.strict_first = 0;
	WRITE_ONCE(q->drr.nactive, 0);
	bfc_class_reset(q);
	if (bfc_is_srf(q))
		bfc_srf_begin(q);
	for (qn = 0; qn < q->nqueues; qn++) {
		if (!q->queues[qn].head)
			continue;
		if (!bfc_bit_test(qn, q->obeyed.paused))
			bfc_queue_activate(q, &q->queues[qn], false);
		else if (bfc_is_srf(q))
			bfc_srf_place(q, &q->queues[qn]);
	}
}

/* The counters that a packet is counted in or charged to. The object stays until no packet
 * holds anything of it.
 */
static struct bfc_ingress *bfc_queue_brought(const struct bfc_sched *q,
					     const struct sk_buff *skb)
{
	return bfc_handle_get(q->port->sw, bfc_cb(skb)->handle);
}

/* `resume early`: a counted packet gives its count back as soon as fewer than
 * Th bytes are ahead of it. The resume then takes effect when the queue still
 * holds about what it drains in an HRTT, and the link stays full; the paper's
 * rule resumes when the last counted packet has left (BFC §3.3.2, App. C).
 * Each packet is passed once; the bound keeps a jump of Th from making one
 * dequeue long.
 */
static void bfc_queue_resume_early(struct bfc_sched *q, struct bfc_queue *queue)
{
	struct sk_buff *skb = queue->cursor;
	u32 th = bfc_queue_th(q, queue);
	int steps = BFC_EARLY_STEPS;

	rcu_read_lock();
	while (skb && queue->ahead < th && steps--) {
		if (bfc_cb(skb)->counted)
			bfc_uncount(q, skb, bfc_queue_brought(q, skb));
		queue->ahead += qdisc_pkt_len(skb);
		skb = skb->next;
	}
	rcu_read_unlock();
	queue->cursor = skb;
}

/**
 * bfc_settle() - stamp flows and queues that packets left since the clock was read
 * @q: the scheduler
 *
 * Context: under the root lock.
 */
void bfc_settle(struct bfc_sched *q)
{
	u64 now = bfc_now(q);

	while (q->nleft) {
		const struct bfc_left *left = &q->left[--q->nleft];

		q->flows[left->flow].stamp = now;
		q->queues[left->queue].emptied_ns = now;
	}
	if (q->txq.all)
		bfc_txqs_settled(q, now);
}

/* A packet left its queue. The clock is read once for BFC_CLOCK_EVERY packets, and when no
 * other packet is queued. Until then the flows of these packets count as just gone.
 */
static __always_inline void bfc_flow_left(struct bfc_sched *q, const struct bfc_skb_cb *cb, u16 qn)
{
	struct bfc_queue *queue = &q->queues[qn];
	u32 flow = cb->flow;

	if (unlikely(cb->overflowed)) {
		q->over.packets--;
		bfc_overflow_port(q, &q->flows[flow] - q->over.entries)->members[cb->member]--;
	}
	if (likely(!cb->unsampled) && !--q->flows[flow].size && queue->head && queue->mixed)
		queue->nflows--;
	q->flows[flow].stamp = BFC_STAMP_LATER;
	q->left[q->nleft++] = (struct bfc_left){ flow, qn };
	if (q->nleft == BFC_CLOCK_EVERY || !q->noccupied)
		bfc_settle(q);
}

static __always_inline void bfc_queue_emptied(struct bfc_sched *q, struct bfc_queue *queue)
{
	unsigned int qn = queue - q->queues;

	bfc_bit_set(qn, q->empty);
	if (!bfc_bit_test(qn, q->obeyed.paused)) {
		bfc_bit_set(qn, q->usable);
		bfc_queue_deactivate(q, queue);
		if (q->cfg->by_dest)
			bfc_dest_emptied(q, queue);
	} else if (bfc_is_srf(q)) {
		bfc_srf_place(q, queue);
	}
	q->noccupied--;
	if (bfc_is_classed(q))
		q->class.each[bfc_queue_class(q, qn)].noccupied--;
}

/**
 * bfc_queue_splice() - move all packets of a queue to the end of another
 * @q: the scheduler
 * @from: with packets
 * @into: another queue with packets; paused if and only if @from is
 *
 * Packets keep their counts: those of the queues that they were enqueued to. The flow stays
 * in order: all its packets here move, and its next packets are enqueued to @into. The next
 * hop pauses @from for packets that left it before, until they have left the next hop, and
 * goes on to do so.
 *
 * Context: under the root lock.
 * Return: true if done; false if @from has several flows, or if @into has no room or is of
 * another class.
 */
bool bfc_queue_splice(struct bfc_sched *q, struct bfc_queue *from,
		      struct bfc_queue *into)
{
	struct bfc_flow *flow = &q->flows[from->flow];

	if (bfc_round_of(q, from) != bfc_round_of(q, into) ||
	    from->mixed || flow->queue != from - q->queues ||
	    into->mem + from->mem > bfc_queue_cap(q))
		return false;
	flow->queue = into - q->queues;
	into->nflows = into->mixed ? into->nflows + 1 : 2;
	into->mixed = true;
	into->tail->next = from->head;
	into->tail = from->tail;
	if (!into->cursor && from->cursor) {
		into->cursor = from->cursor;
		into->ahead = into->bytes + from->ahead;
	}
	into->packets += from->packets;
	into->mem += from->mem;
	into->bytes += from->bytes;
	if (into->bytes > into->peak)
		into->peak = into->bytes;

	from->head = NULL;
	from->cursor = NULL;
	from->packets = 0;
	from->mem = 0;
	from->bytes = 0;
	from->flow = U32_MAX;
	from->emptied_ns = bfc_now(q);	/* not before its last packet left */
	bfc_queue_emptied(q, from);
	return true;
}

/* A packet has left its queue: give back its count and its charge. */
static void bfc_queue_release(struct bfc_sched *q, struct sk_buff *skb)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	struct bfc_ingress *ing = NULL;

	rcu_read_lock();
	if (cb->counted || cb->held)
		ing = bfc_queue_brought(q, skb);
	if (cb->counted)
		bfc_uncount(q, skb, ing);
	if (unlikely(cb->pausable || q->egress))
		bfc_egress_dequeued(q, skb, cb->held ? ing : NULL);
	if (unlikely(cb->held))
		bfc_unhold(q, skb, ing);
	rcu_read_unlock();
}

static __always_inline void bfc_queue_gone(struct Qdisc *sch, struct bfc_queue *queue,
					   const struct sk_buff *skb)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);

	queue->packets--;
	queue->bytes -= len;
	q->prio[bfc_cb(skb)->prio].bytes -= len;
	queue->mem -= bfc_cb(skb)->mem;
	q->mem -= bfc_cb(skb)->mem;
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	qdisc_qstats_backlog_dec(sch, skb);
}

/**
 * bfc_queue_pop() - take the head of a queue off, to be sent or dropped
 * @sch: the qdisc
 * @qn: number of the queue, with packets
 *
 * Context: under the root lock, or the qdisc is not in use; BH off.
 * Return: the packet, which holds nothing any more.
 */
struct sk_buff *bfc_queue_pop(struct Qdisc *sch, unsigned int qn)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_queue *queue = &q->queues[qn];
	struct sk_buff *skb = queue->head;
	u32 len = qdisc_pkt_len(skb);

	queue->head = skb->next;
	if (queue->cursor == skb) {
		queue->cursor = skb->next;
		queue->ahead = 0;
	} else if (queue->cursor) {
		queue->ahead -= len;
	}
	skb_mark_not_on_list(skb);
	bfc_queue_gone(sch, queue, skb);

	if (!queue->head) {
		queue->flow = bfc_cb(skb)->flow;
		queue->emptied_ns = BFC_STAMP_LATER;
		bfc_queue_emptied(q, queue);
	} else if (bfc_is_srf(q)) {
		bfc_srf_place(q, queue);
	}
	/* A queue that ran empty is always stamped, and with it its last flow, even if the
	 * packet was not sampled.
	 */
	if (likely(!bfc_cb(skb)->unsampled) || !queue->head)
		bfc_flow_left(q, bfc_cb(skb), qn);
	if (bfc_cb(skb)->counted || unlikely(bfc_cb(skb)->held || q->egress))
		bfc_queue_release(q, skb);
	/* With lossless priorities the cursor is that of bfc_promised_until(). */
	if (queue->cursor && !q->cfg->lossless)
		bfc_queue_resume_early(q, queue);
	return skb;
}

/**
 * bfc_queue_take() - take a packet out of the middle of a queue, to be dropped
 * @sch: the qdisc, with lossless priorities
 * @qn: number of the queue
 * @before: the packet in front of it
 *
 * Context: under the root lock.
 * Return: the packet, which holds nothing any more.
 */
struct sk_buff *bfc_queue_take(struct Qdisc *sch, unsigned int qn, struct sk_buff *before)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_queue *queue = &q->queues[qn];
	struct sk_buff *skb = before->next;

	before->next = skb->next;
	if (queue->tail == skb)
		queue->tail = before;
	skb_mark_not_on_list(skb);
	bfc_queue_gone(sch, queue, skb);
	if (!bfc_cb(skb)->unsampled)
		bfc_flow_left(q, bfc_cb(skb), qn);
	bfc_queue_release(q, skb);
	return skb;
}
