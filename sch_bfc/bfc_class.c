// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic classes (BFC App. A.3): each has a range of the queues, and a flow is never in a queue
 * of another class. So no flow is stalled behind a flow of a lower class.
 *
 * Within a class all is as without: a queue for each new flow as long as there is an empty one
 * (bfc_flow.c), shares of destinations (bfc_dest.c), deficit round robin (bfc_sched.c). This file
 * schedules the classes: strict ones go first, the highest before the others; the rest is served
 * in turn, by weight. In a turn a class may send its weight / the smallest weight quanta.
 *
 * The tag tells the class, beside the number of the queue. The hook notes it for each of the
 * neighbour's queues, so that an egress port finds it by the handle that proves where a packet
 * came in.
 *
 * Everything here runs under the root lock.
 */
#include "bfc.h"

/* On while any port has traffic classes. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(bfc_classed, BFC_KEY_STAYS);

static void bfc_round_init(struct bfc_sched_drr *round)
{
	INIT_LIST_HEAD(&round->active);
	INIT_LIST_HEAD(&round->fresh);
}

/**
 * bfc_class_init() - initialise the classes, all without queues that may send
 * @q: a new scheduler
 */
void bfc_class_init(struct bfc_sched *q)
{
	unsigned int class;

	bfc_round_init(&q->drr);
	INIT_LIST_HEAD(&q->class.turns);
	for (class = 0; class < BFC_PRIORITIES; class++) {
		bfc_round_init(&q->class.each[class].round);
		INIT_LIST_HEAD(&q->class.each[class].turn);
	}
}

/**
 * bfc_class_reset() - take all classes out of the rounds, until queues are activated again
 * @q: the scheduler, with a new configuration; its queues are on no list
 *
 * Context: under the root lock.
 */
void bfc_class_reset(struct bfc_sched *q)
{
	unsigned int class, qn;

	q->class.active = 0;
	for (class = 0; class < BFC_PRIORITIES; class++) {
		struct bfc_class *c = &q->class.each[class];

		list_del_init(&c->turn);
		c->round.nactive = 0;
		c->noccupied = 0;
		c->deficit = 0;
	}
	if (!bfc_is_classed(q))
		return;
	for (qn = 0; qn < q->nqueues; qn++)
		if (q->queues[qn].head)
			q->class.each[bfc_queue_class(q, qn)].noccupied++;
}

/* Laps that went by without the class have paid for what it sent beyond its last turn. */
static void bfc_class_pay(const struct bfc_sched *q, struct bfc_class *c, u32 quantum)
{
	s32 gone = q->class.lap - c->lap;

	if (list_empty(&q->class.turns))
		c->deficit = 0;
	else if (gone > 0)
		c->deficit = min_t(s64, c->deficit + (s64)gone * quantum, 0);
	else
		c->deficit = min(c->deficit, 0);
}

/**
 * bfc_class_activated() - a queue of a class may send
 * @q: the scheduler
 * @class: the class
 *
 * A class that had no turn in the present lap has it at once. The lap of its last turn is
 * remembered while it has nothing to send, so that it gets no more turns than others.
 *
 * Context: under the root lock.
 */
void bfc_class_activated(struct bfc_sched *q, u8 class)
{
	struct bfc_class *c = &q->class.each[class];
	u32 quantum = q->cfg->class[class].quantum;

	if (c->round.nactive++)
		return;
	if (q->cfg->strict & BIT(class)) {
		q->drr.strict_first |= BIT(class);
		return;
	}
	q->class.active |= BIT(class);
	bfc_class_pay(q, c, quantum);
	c->deficit += quantum;
	if ((s32)(q->class.lap - c->lap) > 0 || list_empty(&q->class.turns)) {
		c->lap = q->class.lap;
		list_add(&c->turn, &q->class.turns);
	} else {
		c->lap = q->class.lap + 1;
		list_add_tail(&c->turn, &q->class.turns);
	}
}

/**
 * bfc_class_deactivated() - a queue of a class is empty or paused now
 * @q: the scheduler
 * @class: the class
 *
 * Context: under the root lock.
 */
void bfc_class_deactivated(struct bfc_sched *q, u8 class)
{
	struct bfc_class *c = &q->class.each[class];

	if (--c->round.nactive)
		return;
	if (q->cfg->strict & BIT(class)) {
		q->drr.strict_first &= ~BIT(class);
		return;
	}
	q->class.active &= ~BIT(class);
	list_del_init(&c->turn);
}

/**
 * bfc_class_next() - the class to serve
 * @q: the scheduler, with a queue that may send
 *
 * Context: under the root lock.
 * Return: the class.
 */
struct bfc_class *bfc_class_next(struct bfc_sched *q)
{
	struct bfc_class *c;

	if (q->drr.strict_first)
		return &q->class.each[__fls(q->drr.strict_first)];
	for (;;) {
		u32 quantum;

		c = list_first_entry(&q->class.turns, struct bfc_class, turn);
		if ((s32)(q->class.lap - c->lap) > 0)
			c->lap = q->class.lap;
		q->class.lap = c->lap;
		if (c->deficit > 0)
			return c;
		quantum = q->cfg->class[c - q->class.each].quantum;
		/* Debt, as for a packet of 64 KB, is owed to others: there are none. */
		if (list_is_singular(&q->class.turns))
			c->deficit = 0;
		c->deficit += quantum;
		c->lap++;
		list_move_tail(&c->turn, &q->class.turns);
	}
}

/**
 * bfc_class_sent() - charge a packet to the turn of its class
 * @q: the scheduler
 * @c: the class, from bfc_class_next(); the packet may have been its last
 * @len: bytes
 *
 * Context: under the root lock.
 */
void bfc_class_sent(const struct bfc_sched *q, struct bfc_class *c, u32 len)
{
	if (!(q->cfg->strict & BIT(c - q->class.each)))
		c->deficit = max_t(s64, (s64)c->deficit - len, -(s64)BFC_QUANTUM_MAX);
}

/**
 * bfc_class_th() - Th of a queue of a class (BFC §3.3.2)
 * @q: the scheduler, with traffic classes
 * @class: the class
 * @nactive: active queues of the class
 *
 * HRTT x µ x share / N_active. The share of a class that is not strict is by weight, among the
 * classes that have something to send, and itself. Strict classes do not count: they come and go
 * at once, and when one is done, the others have the whole link sooner than any resume can take
 * effect. The share of a strict class is 1.
 *
 * Context: under the root lock.
 * Return: bytes.
 */
u32 bfc_class_th(const struct bfc_sched *q, u8 class, u32 nactive)
{
	u32 th = q->cfg->thresh[nactive], weight = q->cfg->class[class].weight;
	u8 sharing = q->class.active | BIT(class);

	if (!weight)
		return th;
	th = (u64)th * weight * q->cfg->of->share[sharing] / BFC_SHARE_UNIT;
	return max(th, q->cfg->th_least);
}

/* The class that a packet had at the hop before; -1: it is not told or has none. */
static int bfc_class_of_upstream(struct bfc_sched *q, const struct sk_buff *skb)
{
	const struct bfc_ingress *ing;
	unsigned int upq;

	if (!skb->tc_index)
		return -1;
	ing = bfc_brought_by(q, skb);
	if (!ing || !READ_ONCE(ing->classed))
		return -1;
	upq = skb->tc_index - ing->base - 1;
	if (upq >= ing->queues)
		return -1;
	return min_t(u8, READ_ONCE(bfc_ingress_classes(ing)[upq]), q->cfg->classes - 1);
}

/**
 * bfc_class_of() - the class of a packet
 * @q: scheduler of the egress port, with traffic classes
 * @skb: the packet, which is being enqueued
 * @prio: its priority
 *
 * A packet keeps the class that it had at the hop before. What it is charged to at its
 * ingress port, if that pauses priorities, depends on its priority only.
 *
 * Context: under the root lock, RCU from bfc_begin() on.
 * Return: below &bfc_cfg.classes.
 */
u8 bfc_class_of(struct bfc_sched *q, const struct sk_buff *skb, u8 prio)
{
	int class = bfc_class_of_upstream(q, skb);

	return class >= 0 ? class : min_t(u8, prio, q->cfg->classes - 1);
}

/**
 * bfc_class_add() - add the counters of a queue to those of a class
 * @q: the scheduler
 * @qn: number of the queue
 * @now: ns
 * @sum: the counters that they are added to
 *
 * Only queues have counters: a class has nothing to count for each packet.
 *
 * Context: under the root lock.
 */
void bfc_class_add(const struct bfc_sched *q, unsigned int qn, u64 now,
		   struct bfc_class_sum *sum)
{
	const struct bfc_queue *queue = &q->queues[qn];

	sum->bytes += u64_stats_read(&queue->bstats.bytes);
	sum->packets += u64_stats_read(&queue->bstats.packets);
	sum->drops += queue->drops;
	sum->pauses += q->obeyed.pauses[qn].count;
	sum->paused_ns += bfc_queue_paused_ns(q, qn, now);
}

static void bfc_class_subtract(struct bfc_class_sum *from, const struct bfc_class_sum *what)
{
	from->bytes -= what->bytes;
	from->packets -= what->packets;
	from->drops -= what->drops;
	from->pauses -= what->pauses;
	from->paused_ns -= what->paused_ns;
}

/* The class of a queue by a configuration; -1: there are no traffic classes */
static int bfc_class_by(const struct bfc_cfg *cfg, unsigned int qn)
{
	return cfg->ranged ? cfg->of->queue[qn] : -1;
}

/**
 * bfc_class_ranges() - move the counters of queues that change their class
 * @q: the scheduler
 * @old: the configuration so far
 * @cfg: the one that takes its place
 * @now: ns
 *
 * What a queue has counted so far stays with the class that it had: else counters would run
 * backwards.
 *
 * Context: RTNL and root lock.
 */
void bfc_class_ranges(struct bfc_sched *q, const struct bfc_cfg *old, const struct bfc_cfg *cfg,
		      u64 now)
{
	unsigned int qn;

	for (qn = 0; qn < q->nqueues; qn++) {
		int was = bfc_class_by(old, qn), is = bfc_class_by(cfg, qn);
		struct bfc_class_sum sum = {};

		if (was == is)
			continue;
		bfc_class_add(q, qn, now, &sum);
		if (is >= 0)
			bfc_class_subtract(&q->class.before[is], &sum);
		if (was >= 0)
			bfc_class_add(q, qn, now, &q->class.before[was]);
	}
}
