// SPDX-License-Identifier: GPL-2.0
/*
 * A port whose buffer is full: which packets are dropped.
 *
 * The longest queue loses packets from its head, as with fq_codel. A port may have a thousand
 * queues, and under overload each packet that comes makes one leave, so that a search through all
 * of them would take far longer than the rest of the packet's way. So a packet looks at a few
 * queues only: the longest one that was found before, the one that has just grown, and the next
 * ones of a walk through all of them. Only a queue that takes packets grows, hence these are all
 * that can be the longest unless the one found before has drained; the walk finds its successor
 * (after Suter, Lakshman, Stiliadis and Choudhury, "Buffer management schemes for supporting TCP in
 * gigabit routers with per-flow queueing", IEEE JSAC 17(6), 1999: approximated longest queue drop).
 *
 * A packet that was promised room is dropped only if no queue has another one: if the few have
 * none, all queues are searched.
 *
 * Everything here runs under the root lock.
 */
#include "bfc.h"
#include "bfc_limit.h"

#define BFC_WALK	32	/* queues that the walk goes on by for a packet */
#define BFC_RANK_FIRST	BIT_ULL(32)	/* there is a packet that was promised no room */

/* The packet to drop first if there is no room */
struct bfc_victim {
	unsigned int queue;
	struct sk_buff *before;	/* the packet in front of it; NULL: it is the head */
	u64 rank;		/* the higher, the sooner; 0: none */
};

static struct sk_buff *bfc_victim_next(const struct bfc_sched *q, const struct bfc_victim *victim)
{
	return victim->before ? victim->before->next : q->queues[victim->queue].head;
}

/* The packet in front of the first one that was promised no room, or NULL if there is none. The
 * head was promised room, but the queue of a priority can also hold packets of sources that were
 * not. The search resumes at the cursor, where the last one stopped, so that it passes each packet
 * once.
 */
static struct sk_buff *bfc_promised_until(const struct bfc_sched *q, struct bfc_queue *queue)
{
	struct sk_buff *skb = queue->cursor ?: queue->head;

	while (skb->next && bfc_promised(q, skb->next))
		skb = skb->next;
	queue->cursor = skb;
	return skb->next ? skb : NULL;
}

/* Take queue @qn as the victim if it is to lose packets sooner than @victim: if it has one that was
 * promised no room and @victim has not, or else if it is longer.
 */
static void bfc_rank(struct bfc_sched *q, unsigned int qn, struct bfc_victim *victim)
{
	struct bfc_queue *queue = &q->queues[qn];
	struct sk_buff *before = NULL;
	u64 rank = queue->mem;
	bool promised;

	if (!queue->head)
		return;
	promised = bfc_promised(q, queue->head);
	if (promised)
		before = bfc_promised_until(q, queue);
	if (!promised || before)
		rank += BFC_RANK_FIRST;
	if (rank > victim->rank)
		*victim = (struct bfc_victim){ qn, before, rank };
}

/* The packet to drop: of the longest queue the oldest packet that was promised no room, or else the
 * head. Queues with a packet that was promised no room come before all others. @grown: the queue
 * that a packet has joined; q->nqueues: none.
 */
static struct bfc_victim bfc_longest(struct bfc_sched *q, unsigned int grown)
{
	unsigned int n = min_t(unsigned int, BFC_WALK, q->nqueues);
	struct bfc_victim victim = {};
	unsigned int qn = q->walk;

	bfc_rank(q, q->longest, &victim);
	if (grown < q->nqueues)
		bfc_rank(q, grown, &victim);
	for (; n; n--) {
		bfc_rank(q, qn, &victim);
		qn = qn + 1 < q->nqueues ? qn + 1 : 0;
	}
	q->walk = qn;
	if (unlikely(victim.rank < BFC_RANK_FIRST))
		for (qn = 0; qn < q->nqueues; qn++)
			bfc_rank(q, qn, &victim);
	q->longest = victim.queue;
	return victim;
}

/* Over the limit: true if this scheduler has to make room; @victim says where. Schedulers of TX
 * queues share a limit, and others may have packets that were promised no room: they drop these
 * when they next enqueue, once they have read what the others hold. A packet that was promised
 * room is not dropped for the excess of others, but only if this scheduler alone is over the
 * limit.
 */
static bool bfc_must_drop(struct bfc_sched *q, unsigned int grown, struct bfc_victim *victim)
{
	*victim = bfc_longest(q, grown);
	return !q->txq.all || q->mem - q->ctrl.mem > q->cfg->limit ||
	       !bfc_promised(q, bfc_victim_next(q, victim));
}

/* Make room: drop from the head of the longest queue, as fq_codel does, until it is half as long
 * or the rest fits. If one drop is enough, only one packet is dropped. A run that drops packets
 * that were promised no room stops at one that was.
 */
static void bfc_drop_longest(struct Qdisc *sch, const struct bfc_victim *victim,
			     struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_queue *queue = &q->queues[victim->queue];
	bool promised = bfc_promised(q, bfc_victim_next(q, victim));
	u32 half = queue->mem / 2;
	struct sk_buff *skb;

	do {
		skb = victim->before ? bfc_queue_take(sch, victim->queue, victim->before) :
				       bfc_queue_pop(sch, victim->queue);
		queue->drops++;
		q->stats.drop_limit++;
		q->stats.storm_drops += bfc_in_storm(q, bfc_cb(skb)->prio);
		qdisc_qstats_drop(sch);
		__qdisc_drop(skb, to_free);
		skb = bfc_victim_next(q, victim);
	} while (bfc_over_limit(q) && queue->mem > half && skb &&
		 bfc_promised(q, skb) == promised);
}

/**
 * bfc_make_room() - drop what is over the limit
 * @sch: the qdisc
 * @qn: the queue that a packet has joined, or the number of queues
 * @to_free: list for the packets
 *
 * Context: root lock.
 * Return: true if a packet of queue @qn was dropped.
 */
bool bfc_make_room(struct Qdisc *sch, unsigned int qn, struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_victim victim;
	bool same = false;

	while (bfc_over_limit(q) && bfc_must_drop(q, qn, &victim)) {
		bfc_drop_longest(sch, &victim, to_free);
		same |= victim.queue == qn;
	}
	return same;
}

/**
 * bfc_trim() - drop packets that exceed a lowered limit
 * @sch: the qdisc
 *
 * Context: RTNL and root lock.
 */
void bfc_trim(struct Qdisc *sch)
{
	struct sk_buff *to_free = NULL, *skb, *next;
	struct bfc_sched *q = qdisc_priv(sch);

	bfc_begin(q);
	bfc_make_room(sch, q->nqueues, &to_free);
	skb_list_walk_safe(to_free, skb, next)
		rtnl_kfree_skbs(skb, skb);
}
