// SPDX-License-Identifier: GPL-2.0
/*
 * fc fafc: pauses for a computed time, only for the ports that fill the queue, and with as
 * little harm to other egress ports as possible (FAFC §II, §III). The arithmetic is in
 * bfc_fafc.h and the headers that it includes; this file applies it to ports and packets.
 *
 *   struct bfc_fafc_out   q_ie and q_*e of an egress port, a set for each priority,
 *			   q_*e without what no pause can keep away, and that alone:
 *			   written under its root lock. Another egress that wants to
 *			   know what is a victim reads them under their seqcount
 *   struct bfc_fafc_in	   q_i* and the slots of an ingress port: any egress changes
 *			   them, under their lock, the innermost of all
 *   struct bfc_switch	   which of the namespace's ports are worth a look
 *
 * A packet is in both from bfc_hold() until it leaves its queue. T_hop may differ between ports:
 * rates are amounts per T_hop of their port, and are scaled to be compared.
 */
#include <net/inet_ecn.h>

#include "bfc.h"
#include "bfc_trace.h"
#include "fc_fafc.h"
#include "fc_pfc.h"

/**
 * struct bfc_fafc_problem - input of an allocation of pauses
 * @stamp: time that its rates are of, ns, a multiple of T_hop; 0: it has none
 * @again: rates are decreased (Alg. 2 line 9)
 * @out: r^o_*e
 * @alloc: the ports
 * @slot: of each of them
 *
 * Kept because rates change once per T_hop, but each packet that leaves a queue
 * over its threshold causes an allocation: only pausOf_*e differs each time.
 */
struct bfc_fafc_problem {
	u64 stamp;
	bool again;
	u64 out;
	struct bfc_alloc alloc;
	u8 slot[BFC_ALLOC_PORTS];
};

/* The packets of an egress port: those that a pause can keep away, and the rest. */
enum {
	BFC_FAFC_PAUSABLE,	/* q_*e of the paper */
	BFC_FAFC_REST,		/* of this box, or of ports that FAFC does not pause */
	BFC_FAFC_KINDS
};

/**
 * struct bfc_fafc_sum - all packets of a kind at an egress port
 * @queue: q_*e
 * @ecn_offset: ECNof_e, bytes
 */
struct bfc_fafc_sum {
	struct bfc_holt queue;
	u64 ecn_offset;
};

/**
 * struct bfc_fafc_out - a priority of an egress port
 * @seq: for readers at other ports
 * @sum: by kind
 * @in: q_ie, by the slot of port i
 * @seen: slots of ports with packets, or a rate, in @in
 * @last: when it paused last, ns
 * @problem: under the root lock
 */
struct bfc_fafc_out {
	seqcount_t seq;
	struct bfc_fafc_sum sum[BFC_FAFC_KINDS];
	struct bfc_holt in[BFC_SLOTS];
	u64 seen;
	u64 last;
	struct bfc_fafc_problem problem;
};

/**
 * struct bfc_fafc - prediction of an egress port
 * @holt: T_hop and weights
 * @full: scratch memory for other egress ports that are congested, under the
 *	  root lock
 * @out: of each priority
 */
struct bfc_fafc {
	struct bfc_holt_conf holt;
	const struct bfc_fafc *full[BFC_SLOTS];
	struct bfc_fafc_out out[BFC_PRIORITIES];
};

/**
 * struct bfc_fafc_in - a priority of an ingress port
 * @lock: innermost; BH off
 * @all: q_i* and r_i*
 * @slots: amounts that its pauses keep away
 */
struct bfc_fafc_in {
	spinlock_t lock;	/* of the rest */
	struct bfc_holt all;
	struct bfc_slots slots;
};

static struct bfc_fafc *bfc_fafc_egress(const struct bfc_sched *q)
{
	return q->egress;
}

/* On PREEMPT_RT the root lock does not disable preemption, and a reader spins until a writer is
 * done: the writer must not be preempted.
 */
static void bfc_fafc_write_begin(struct bfc_fafc_out *out)
{
	preempt_disable_nested();
	write_seqcount_begin(&out->seq);
}

static void bfc_fafc_write_end(struct bfc_fafc_out *out)
{
	write_seqcount_end(&out->seq);
	preempt_enable_nested();
}

/* Convert an amount per T_hop of one port into one per T_hop of another. */
static u64 bfc_fafc_scale(u64 amount, u32 from, u32 to)
{
	u64 rem;

	return from == to ? amount : bfc_muldiv(amount, to, from, &rem);
}

/* ---- ingress ports ---- */

/* One for each priority. */
static void *bfc_fafc_in_new(const struct bfc_cfg *cfg, u64 now)
{
	struct bfc_fafc_in *in;
	unsigned int prio;

	in = kcalloc(BFC_PRIORITIES, sizeof(*in), GFP_ATOMIC | __GFP_NOWARN);
	for (prio = 0; in && prio < BFC_PRIORITIES; prio++) {
		spin_lock_init(&in[prio].lock);
		bfc_holt_start(&in[prio].all, &cfg->holt, now, 0);
	}
	return in;
}

/* Restart the prediction if T_hop or weights have changed. */
static void bfc_fafc_in_retune(void *account, const struct bfc_cfg *old,
			       const struct bfc_cfg *cfg, u64 now)
{
	struct bfc_fafc_in *in = account;
	unsigned int prio;

	if (!memcmp(&old->holt, &cfg->holt, sizeof(cfg->holt)))
		return;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		spin_lock(&in[prio].lock);
		bfc_holt_start(&in[prio].all, &cfg->holt, now,
			       in[prio].all.raw);
		memset(&in[prio].slots, 0, sizeof(in[prio].slots));
		spin_unlock(&in[prio].lock);
	}
}

/**
 * bfc_fafc_held() - a packet came, or left
 * @ing: through this port
 * @cfg: of the port; NULL: the port is gone, and nothing is accounted
 * @prio: priority
 * @len: bytes
 * @came: true: it was charged; false: it left
 * @now: ns
 *
 * Context: BH off or process; any root lock may be held.
 */
void bfc_fafc_held(struct bfc_ingress *ing, const struct bfc_cfg *cfg,
		   unsigned int prio, u32 len, bool came, u64 now)
{
	struct bfc_fafc_in *in = ing->account;

	/* @cfg may be of a new mode already while @ing is still that of FAFC. */
	if (!cfg || cfg->fc != &bfc_fc_fafc)
		return;
	in += prio;
	spin_lock_bh(&in->lock);
	if (came)
		bfc_holt_enqueue(&in->all, &cfg->holt, now, len);
	else
		bfc_holt_dequeue(&in->all, &cfg->holt, now, len);
	spin_unlock_bh(&in->lock);
}

/* ns from now on that the neighbour is to be paused for. */
static u64 bfc_fafc_remaining(struct bfc_ingress *ing, unsigned int prio, u64 now)
{
	struct bfc_fafc_in *in = ing->account;
	u64 until;

	in += prio;
	spin_lock_bh(&in->lock);
	until = in->slots.until;
	spin_unlock_bh(&in->lock);
	return until > now ? until - now : 0;
}

/* ---- egress ports ---- */

static struct bfc_fafc_in *bfc_fafc_in_of(const struct bfc_sched *q,
					  unsigned int slot, unsigned int prio,
					  struct bfc_ingress **ing,
					  const struct bfc_cfg **cfg)
{
	*ing = bfc_handle_get(q->port->sw, q->share.in[slot]);
	*cfg = *ing ? rcu_dereference((*ing)->cfg) : NULL;
	/* Another port may have the handle by now, or the mode of the port is changing. */
	if (!*cfg || (*cfg)->fc != &bfc_fc_fafc || (*ing)->slot != slot ||
	    (*ing)->fc != &bfc_fc_fafc)
		return NULL;
	return (struct bfc_fafc_in *)(*ing)->account + prio;
}

/* pausOf_*e: the amount by which pauses of ports change what comes in. */
static s64 bfc_fafc_offset(struct bfc_sched *q, unsigned int prio, u64 now)
{
	struct bfc_switch *sw = q->port->sw;
	struct bfc_fafc_out *out = &bfc_fafc_egress(q)->out[prio];
	u64 set = atomic64_read(&sw->paused[prio]) & out->seen;
	const struct bfc_cfg *cfg;
	struct bfc_ingress *ing;
	s64 offset = 0;

	for (; set; set &= set - 1) {
		unsigned int slot = __ffs64(set);
		struct bfc_fafc_in *in = bfc_fafc_in_of(q, slot, prio, &ing,
							&cfg);

		if (!in)
			continue;
		spin_lock(&in->lock);
		bfc_slots_advance(&in->slots, now, cfg->holt.t_hop);
		if (!in->slots.end)
			atomic64_andnot(BIT_ULL(slot), &sw->paused[prio]);
		offset += bfc_slots_offset(&in->slots, out->in[slot].raw,
					   in->all.raw);
		spin_unlock(&in->lock);
	}
	return offset;
}

/* Read a queue of another egress port, @out, and advance the copy to @now. */
static void bfc_fafc_peek(const struct bfc_fafc *fafc,
			  const struct bfc_fafc_out *out,
			  const struct bfc_holt *queue, u64 now,
			  struct bfc_holt *h)
{
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&out->seq);
		*h = *queue;
	} while (read_seqcount_retry(&out->seq, seq));
	bfc_holt_advance(h, &fafc->holt, now);
}

/* The amount queued at another egress port, from all ports. */
static s64 bfc_fafc_peek_all(const struct bfc_fafc *fafc, unsigned int prio,
			     u64 now)
{
	const struct bfc_fafc_out *out = &fafc->out[prio];
	struct bfc_holt queue;
	unsigned int kind;
	s64 all = 0;

	for (kind = 0; kind < BFC_FAFC_KINDS; kind++) {
		bfc_fafc_peek(fafc, out, &out->sum[kind].queue, now, &queue);
		all += queue.q;
	}
	return all;
}

/* Find other egress ports that are congested: pausing an ingress port does no harm to them.
 *
 * Return: how many there are in &bfc_fafc.full.
 */
static unsigned int bfc_fafc_full(struct bfc_sched *q, unsigned int prio, u64 now)
{
	struct bfc_switch *sw = q->port->sw;
	u64 set = atomic64_read(&sw->long_queues[prio]);
	const struct bfc_fafc *other;
	unsigned int n = 0;

	for (set &= ~BIT_ULL(q->port->slot); set; set &= set - 1) {
		other = rcu_dereference(sw->fafc[__ffs64(set)]);
		if (!other)
			continue;
		if (bfc_fafc_is_congested(bfc_fafc_peek_all(other, prio, now),
					  q->cfg->congested))
			bfc_fafc_egress(q)->full[n++] = other;
	}
	return n;
}

/* R_i: what port i sends to egress ports that are not congested (Alg. 2 lines 4-7): what it
 * sends in all, less what goes to congested ones, this one and the first @full of
 * &bfc_fafc.full. There are fewer of these to sum over. One byte less than that, which is more
 * than rounding leaves, so that ports without victims cost the same and are paused together.
 */
static u64 bfc_fafc_harm(struct bfc_sched *q, unsigned int prio,
			 unsigned int slot, u64 total, unsigned int full,
			 u64 now)
{
	u64 less = bfc_holt_out(&bfc_fafc_egress(q)->out[prio].in[slot]) + bfc_amount(1);
	u32 t_hop = bfc_fafc_egress(q)->holt.t_hop;
	unsigned int k;

	for (k = 0; k < full; k++) {
		const struct bfc_fafc *other = bfc_fafc_egress(q)->full[k];
		const struct bfc_fafc_out *out = &other->out[prio];
		struct bfc_holt in;

		if (!(READ_ONCE(out->seen) & BIT_ULL(slot)))
			continue;
		bfc_fafc_peek(other, out, &out->in[slot], now, &in);
		less += bfc_fafc_scale(bfc_holt_out(&in), other->holt.t_hop,
				       t_hop);
	}
	return total > less ? total - less : 0;
}

/* Pause a port for @pause ns: account for it, and have a frame sent. */
static void bfc_fafc_pause_port(struct bfc_sched *q, unsigned int prio,
				unsigned int slot, u32 pause, bool again,
				u64 now)
{
	struct bfc_switch *sw = q->port->sw;
	const struct bfc_cfg *cfg;
	struct bfc_ingress *ing;
	struct bfc_fafc_in *in = bfc_fafc_in_of(q, slot, prio, &ing, &cfg);
	struct bfc_port *port;
	u64 rate, before;
	bool more;

	if (!in || !(cfg->lossless & BIT(prio)))
		return;
	spin_lock(&in->lock);
	bfc_holt_advance(&in->all, &cfg->holt, now);
	rate = in->all.in;
	if (again)
		rate = bfc_fafc_decrease(rate, q->cfg->f_dec);
	before = max(in->slots.until, now);
	bfc_slots_pause(&in->slots, now, cfg->holt.t_hop, rate,
			min(pause, cfg->holt.t_hop));
	more = in->slots.until > before;
	spin_unlock(&in->lock);
	atomic64_or(BIT_ULL(slot), &sw->paused[prio]);
	port = rcu_dereference(ing->port);
	if (more && port)
		bfc_port_mark_dirty(port);
}

/* Lines 4 to 10 of Alg. 2: how much each port sends to this egress and to others. */
static void bfc_fafc_gather(struct bfc_sched *q, unsigned int prio, bool again,
			    u64 now)
{
	struct bfc_fafc_out *out = &bfc_fafc_egress(q)->out[prio];
	unsigned int full = bfc_fafc_full(q, prio, now);
	struct bfc_fafc_problem *p = &out->problem;
	u32 t_hop = bfc_fafc_egress(q)->holt.t_hop;
	const struct bfc_cfg *cfg;
	struct bfc_ingress *ing;
	u64 set;

	bfc_alloc_clear(&p->alloc);
	for (set = out->seen; set; set &= set - 1) {
		unsigned int slot = __ffs64(set);
		struct bfc_holt *pair = &out->in[slot];
		struct bfc_fafc_in *in;
		u64 rate, total = 0;

		bfc_fafc_write_begin(out);
		bfc_holt_advance(pair, &bfc_fafc_egress(q)->holt, now);
		bfc_fafc_write_end(out);
		in = bfc_fafc_in_of(q, slot, prio, &ing, &cfg);
		if (!pair->raw && !pair->in)
			WRITE_ONCE(out->seen, out->seen & ~BIT_ULL(slot));
		if (!in || !pair->in)
			continue;
		spin_lock(&in->lock);
		bfc_holt_advance(&in->all, &cfg->holt, now);
		total = bfc_holt_out(&in->all);
		spin_unlock(&in->lock);
		total = bfc_fafc_scale(total, cfg->holt.t_hop, t_hop);
		rate = again ? bfc_fafc_decrease(pair->in, q->cfg->f_dec) :
			       pair->in;
		p->slot[p->alloc.ports] = slot;
		bfc_alloc_add(&p->alloc, rate,
			      bfc_fafc_harm(q, prio, slot, total, full, now));
	}
	p->out = bfc_holt_out(&out->sum[BFC_FAFC_PAUSABLE].queue);
	p->again = again;
	p->stamp = out->sum[BFC_FAFC_PAUSABLE].queue.stamp;
}

/* calculateAndSendPause() of Alg. 2. */
static void bfc_fafc_pause(struct bfc_sched *q, unsigned int prio, s64 offset,
			   u64 now)
{
	struct bfc_fafc_out *out = &bfc_fafc_egress(q)->out[prio];
	const struct bfc_holt *all = &out->sum[BFC_FAFC_PAUSABLE].queue;
	struct bfc_fafc_problem *p = &out->problem;
	u32 t_hop = bfc_fafc_egress(q)->holt.t_hop;
	bool again = bfc_fafc_again(now, out->last, t_hop);
	unsigned int i;
	u64 left;

	if (p->stamp != all->stamp || p->again != again)
		bfc_fafc_gather(q, prio, again, now);
	left = bfc_fafc_solve(&p->alloc, p->out, offset, t_hop);
	q->stats.solved++;
	q->stats.unsolved += !!left;
	for (i = 0; i < p->alloc.ports; i++) {
		if (!p->alloc.port[i].pause)
			continue;
		bfc_fafc_pause_port(q, prio, p->slot[i],
				    p->alloc.port[i].pause, again, now);
		/* With decreased rates there may be nothing to pause. Such a
		 * trigger must not count as the last pause, or rates would be
		 * decreased for ever while the queue grows.
		 */
		out->last = now;
	}
	trace_bfc_fafc_solve(q->port->dev, prio, p->alloc.ports,
			     bfc_fafc_predict(all, offset) >>
			     BFC_AMOUNT_SHIFT, left >> BFC_AMOUNT_SHIFT);
}

static struct bfc_fafc_sum *bfc_fafc_sum_of(struct bfc_fafc_out *out,
					    const struct sk_buff *skb)
{
	return &out->sum[bfc_cb(skb)->pausable ? BFC_FAFC_PAUSABLE :
						 BFC_FAFC_REST];
}

/**
 * bfc_fafc_check_port() - CheckCong() of Alg. 1, when a packet leaves
 * @q: scheduler of the egress port
 * @skb: the packet, out of its queue already
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_fafc_check_port(struct bfc_sched *q, struct sk_buff *skb, u64 now)
{
	bool pausable = bfc_cb(skb)->pausable;
	u8 prio = bfc_cb(skb)->prio;
	struct bfc_fafc_out *out = &bfc_fafc_egress(q)->out[prio];
	struct bfc_switch *sw = q->port->sw;
	struct bfc_fafc_sum *sum = bfc_fafc_sum_of(out, skb);
	u64 bit = BIT_ULL(q->port->slot);
	s64 offset = 0;
	unsigned int what;
	bool full;

	rcu_read_lock();
	if (pausable)
		offset = bfc_fafc_offset(q, prio, now);
	what = bfc_fafc_check(&sum->queue, offset, q->cfg->ecn ?: U32_MAX,
			      sum->ecn_offset, q->cfg->threshold);
	if (what & BFC_FAFC_MARK && q->cfg->ecn && bfc_mark_ce(skb))
		q->stats.ecn_mark++;
	bfc_ecn_dequeue(&sum->ecn_offset, sum->queue.raw);

	full = bfc_fafc_is_congested(out->sum[BFC_FAFC_PAUSABLE].queue.q +
				     out->sum[BFC_FAFC_REST].queue.q,
				     q->cfg->congested);
	if (full != !!(atomic64_read(&sw->long_queues[prio]) & bit)) {
		if (full)
			atomic64_or(bit, &sw->long_queues[prio]);
		else
			atomic64_andnot(bit, &sw->long_queues[prio]);
	}
	if (what & BFC_FAFC_PAUSE && pausable && q->cfg->lossless & BIT(prio))
		bfc_fafc_pause(q, prio, offset, now);
	rcu_read_unlock();
}

static void bfc_fafc_count(struct bfc_sched *q, struct bfc_fafc_out *out,
			   const struct sk_buff *skb, unsigned int slot,
			   bool came, u64 now)
{
	const struct bfc_holt_conf *holt = &bfc_fafc_egress(q)->holt;
	struct bfc_holt *all = &bfc_fafc_sum_of(out, skb)->queue;
	bool pausable = bfc_cb(skb)->pausable;
	u32 len = qdisc_pkt_len(skb);
	unsigned int kind;

	bfc_fafc_write_begin(out);
	for (kind = 0; kind < BFC_FAFC_KINDS; kind++)
		bfc_holt_advance(&out->sum[kind].queue, holt, now);
	if (came) {
		bfc_holt_enqueue(all, holt, now, len);
		if (pausable)
			bfc_holt_enqueue(&out->in[slot], holt, now, len);
	} else {
		bfc_holt_dequeue(all, holt, now, len);
		if (pausable)
			bfc_holt_dequeue(&out->in[slot], holt, now, len);
	}
	bfc_fafc_write_end(out);
}

/**
 * bfc_fafc_enqueued() - onEnqueue() of Alg. 1 and 4
 * @q: scheduler of the egress port
 * @skb: the packet
 * @slot: of the port that it came in through, or BFC_SLOT_NONE
 *
 * Context: under the root lock.
 */
void bfc_fafc_enqueued(struct bfc_sched *q, const struct sk_buff *skb,
		       unsigned int slot)
{
	u8 prio = bfc_cb(skb)->prio;
	struct bfc_fafc_out *out = &bfc_fafc_egress(q)->out[prio];

	if (bfc_cb(skb)->pausable)
		WRITE_ONCE(out->seen, out->seen | BIT_ULL(slot));
	bfc_fafc_count(q, out, skb, slot, true, bfc_now(q));
	bfc_ecn_enqueue(&bfc_fafc_sum_of(out, skb)->ecn_offset,
			qdisc_pkt_len(skb), q->obeyed.prios & BIT(prio));
}

/**
 * bfc_fafc_dequeued() - onDequeue() of Alg. 1, but for the check
 * @q: scheduler of the egress port
 * @skb: the packet
 * @slot: as in bfc_fafc_enqueued()
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_fafc_dequeued(struct bfc_sched *q, const struct sk_buff *skb,
		       unsigned int slot)
{
	local_bh_disable();	/* without the root lock if the qdisc is being destroyed */
	bfc_fafc_count(q, &bfc_fafc_egress(q)->out[bfc_cb(skb)->prio], skb, slot, false,
		       bfc_now(q));
	local_bh_enable();
}

/* ---- life ---- */

/* Start the prediction at the present backlog, which is no burst. */
static void bfc_fafc_adopt(struct bfc_sched *q, u64 now)
{
	struct bfc_fafc *fafc = q->egress;
	unsigned int prio, slot, kind;

	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		struct bfc_fafc_out *out = &fafc->out[prio];

		bfc_fafc_write_begin(out);
		for (kind = 0; kind < BFC_FAFC_KINDS; kind++)
			bfc_holt_start(&out->sum[kind].queue, &fafc->holt, now,
				       out->sum[kind].queue.raw);
		out->problem.stamp = 0;
		for (slot = 0; slot < BFC_SLOTS; slot++)
			bfc_holt_start(&out->in[slot], &fafc->holt, now,
				       out->in[slot].raw);
		bfc_fafc_write_end(out);
	}
}

/* Allocate the predictors, of empty queues. */
static void *bfc_fafc_new(const struct bfc_cfg *cfg, u64 now)
{
	struct bfc_fafc *fafc;
	unsigned int prio, slot, kind;

	fafc = kvzalloc(sizeof(*fafc), GFP_KERNEL_ACCOUNT);
	if (!fafc)
		return NULL;
	fafc->holt = cfg->holt;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		struct bfc_fafc_out *out = &fafc->out[prio];

		seqcount_init(&out->seq);
		for (kind = 0; kind < BFC_FAFC_KINDS; kind++)
			bfc_holt_start(&out->sum[kind].queue, &fafc->holt, now,
				       0);
		for (slot = 0; slot < BFC_SLOTS; slot++)
			bfc_holt_start(&out->in[slot], &fafc->holt, now, 0);
	}
	return fafc;
}

/* Running predictors go on if T_hop and weights are the same. */
static bool bfc_fafc_serves(const struct bfc_cfg *old, const struct bfc_cfg *cfg)
{
	return !memcmp(&old->holt, &cfg->holt, sizeof(old->holt));
}

/* Let other ports read the prediction of a port. */
static void bfc_fafc_publish(struct bfc_port *port, void *egress)
{
	rcu_assign_pointer(port->sw->fafc[port->slot], egress);
}

/* The predictors may have been published; another qdisc may have published its own since. */
static void bfc_fafc_free(struct bfc_port *port, void *egress)
{
	struct bfc_switch *sw = port->sw;
	unsigned int prio;

	if (rcu_access_pointer(sw->fafc[port->slot]) == egress) {
		RCU_INIT_POINTER(sw->fafc[port->slot], NULL);
		for (prio = 0; prio < BFC_PRIORITIES; prio++)
			atomic64_andnot(BIT_ULL(port->slot),
					&sw->long_queues[prio]);
	}
	synchronize_net();
	kvfree(egress);
}

/* Choose T_hop. The current one stays while it is within HRTT / 4 and HRTT: with another one all
 * predictions start over.
 */
static u64 bfc_fafc_slot(const struct bfc_cfg *c, const struct bfc_derive *d)
{
	const struct bfc_cfg *before = d->before;

	if (d->p->t_hop)
		return d->p->t_hop;
	if (before && before->fc == c->fc && !before->p.t_hop &&
	    before->holt.t_hop <= c->hrtt && before->holt.t_hop >= c->hrtt / 4)
		return before->holt.t_hop;
	return c->hrtt / 2;
}

/* PFC is the backstop. By default its XOFF is twice th_p, so that FAFC acts first, and its
 * pauses last longer than any of FAFC's: hosts tell these from others by their length
 * (bfc_host_paused()).
 */
static int bfc_fafc_derive(struct bfc_cfg *c, const struct bfc_derive *d)
{
	const struct bfc_params *p = d->p;

	bfc_holt_configure(&c->holt, clamp_t(u64, bfc_fafc_slot(c, d),
					     BFC_THOP_MIN, BFC_THOP_MAX),
			   p->alpha, p->beta);
	c->f_dec = bfc_share(p->fdec);
	c->threshold = p->threshold ?: bfc_fafc_threshold(d->link_rate, c->hrtt,
							  d->frame);
	c->congested = p->congested ?: c->threshold;
	return bfc_pfc_derive(c, d, 2ULL * c->threshold,
			      BFC_FAFC_BACKSTOP * c->holt.t_hop);
}

const struct bfc_fc_ops bfc_fc_fafc = {
	.prios		= true,
	.slots		= true,
	.marks		= true,
	.alone		= true,
	.paces		= true,
	.classes	= BFC_PRIORITIES,
	.hello		= BFC_MODE_PRIO,
	.identity	= BFC_FLOW_INGRESS,
	.derive		= bfc_fafc_derive,
	.egress_new	= bfc_fafc_new,
	.egress_serves	= bfc_fafc_serves,
	.egress_publish	= bfc_fafc_publish,
	.egress_free	= bfc_fafc_free,
	.adopt		= bfc_fafc_adopt,
	.enqueued	= bfc_fafc_enqueued,
	.dequeued	= bfc_fafc_dequeued,
	.leaving	= bfc_fafc_check_port,
	.ingress_new	= bfc_fafc_in_new,
	.ingress_retune	= bfc_fafc_in_retune,
	.charged	= bfc_fafc_held,
	.remaining	= bfc_fafc_remaining,
	.build		= bfc_prio_build,
	.receive	= bfc_rx_prio,
};
