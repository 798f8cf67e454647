// SPDX-License-Identifier: GPL-2.0
/*
 * fc capfc-max, capfc-cal: PFC, and an egress queue that is too long holds the ports responsible
 * that brought most of it (E). A port pauses a priority if its own occupancy is over XOFF (I),
 * or if any egress holds it responsible (E). The arithmetic is in pure/bfc_capfc.c.
 *
 * &bfc_sched.egress is an array of struct bfc_capfc, one for each priority.
 */
#include "bfc.h"
#include "fc_capfc.h"
#include "fc_pfc.h"

/* Derive CaPFC's thresholds: those given, and the rest in the paper's proportions. */
static int bfc_capfc_egress(struct bfc_cfg *c, const struct bfc_derive *d)
{
	struct netlink_ext_ack *extack = d->extack;
	const struct bfc_params *p = d->p;
	struct bfc_capfc_thresh *t = &c->capfc;

	if (!bfc_capfc_defaults(t, d->rate, c->hrtt, d->frame, p->egress_max) &&
	    !(p->egress_max && p->egress_xoff && p->egress_xon))
		return bfc_cfg_refuse(extack, "bfc: egress-max: too small for frames of this MTU, or hrtt too long");
	/* The paper's switch has separate memory at each egress; here all share
	 * one, which the ingress side bounds.
	 */
	t->max = p->egress_max ?: BFC_POOL_MAX;
	t->xoff = p->egress_xoff ?: t->xoff;
	t->xon = p->egress_xon ?: t->xon;
	t->warn = p->warn ?: max(t->warn, t->xon);
	t->cut = p->cut;
	switch (bfc_capfc_check(t)) {
	case BFC_CAPFC_BAD_WARN:
		return bfc_cfg_refuse(extack, "bfc: warn must not be below egress-xon");
	case BFC_CAPFC_BAD_XOFF:
		if (!p->warn && t->warn == t->xon)
			return bfc_cfg_refuse(extack, "bfc: egress-xoff must be above egress-xon; auto is what the rate needs");
		return bfc_cfg_refuse(extack, "bfc: egress-xoff must be above warn");
	case BFC_CAPFC_BAD_MAX:
		return bfc_cfg_refuse(extack, "bfc: egress-max must be above egress-xoff");
	case BFC_CAPFC_BAD_CUT:
		return bfc_cfg_refuse(extack, "bfc: cut: 1 to 100 per cent");
	case BFC_CAPFC_OK:
		break;
	}
	return 0;
}

static int bfc_capfc_derive(struct bfc_cfg *c, const struct bfc_derive *d,
			    enum bfc_capfc_stop stop)
{
	c->stop = stop;
	return bfc_pfc_derive(c, d, 0, 0) ?: bfc_capfc_egress(c, d);
}

static int bfc_capfc_derive_max(struct bfc_cfg *c, const struct bfc_derive *d)
{
	return bfc_capfc_derive(c, d, BFC_CAPFC_STOP_MAX);
}

static int bfc_capfc_derive_cal(struct bfc_cfg *c, const struct bfc_derive *d)
{
	return bfc_capfc_derive(c, d, BFC_CAPFC_STOP_CAL);
}

static void *bfc_capfc_new(const struct bfc_cfg *cfg, u64 now)
{
	return kvcalloc(BFC_PRIORITIES, sizeof(struct bfc_capfc), GFP_KERNEL_ACCOUNT);
}

static void bfc_capfc_free(struct bfc_port *port, void *egress)
{
	kvfree(egress);
}

/* Set or clear this egress port's bit at the ingress ports of @set, a set of slots. */
static void bfc_capfc_signal(struct bfc_sched *q, unsigned int prio, u64 set, bool on)
{
	u64 bit = BIT_ULL(q->port->slot);
	struct bfc_ingress *ing;

	rcu_read_lock();
	for (; set; set &= set - 1) {
		ing = bfc_handle_get(q->port->sw, q->share.in[__ffs64(set)]);
		/* another port may have the handle by now */
		if (!ing || READ_ONCE(ing->dead) || ing->slot != __ffs64(set))
			continue;
		if (on)
			atomic64_or(bit, &ing->signals[prio]);
		else
			atomic64_andnot(bit, &ing->signals[prio]);
		smp_mb__after_atomic();	/* see bfc_prio_look() */
		local_bh_disable();
		bfc_prio_look(ing, prio);
		local_bh_enable();
	}
	rcu_read_unlock();
}

/* True if the ports held responsible are so with another configuration as well. One that it elides
 * is not: it is never paused.
 */
static bool bfc_capfc_stands(const struct bfc_cfg *was, const struct bfc_cfg *is)
{
	return is->fc == was->fc && is->lossless == was->lossless &&
	       !memcmp(&is->capfc, &was->capfc, sizeof(is->capfc)) &&
	       is->p.nelide == was->p.nelide &&
	       !memcmp(is->p.elide, was->p.elide, is->p.nelide * sizeof(*is->p.elide));
}

/* Release all ports held responsible if other thresholds, or another algorithm, come into effect:
 * not at each event of the device.
 */
static void bfc_capfc_void(struct bfc_sched *q, const struct bfc_cfg *cfg)
{
	struct bfc_capfc *c = q->egress;
	unsigned int prio;

	if (cfg && bfc_capfc_stands(q->cfg, cfg))
		return;
	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		bfc_capfc_signal(q, prio, bfc_capfc_clear(&c[prio]), false);
}

static void bfc_capfc_slot(struct bfc_sched *q, unsigned int slot)
{
	struct bfc_capfc *c = q->egress;
	unsigned int prio;

	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		if (bfc_capfc_forget(&c[prio], slot))
			bfc_capfc_signal(q, prio, BIT_ULL(slot), false);
}

/**
 * bfc_capfc_admit() - CaPFC's MAX of an egress queue
 * @q: scheduler of the egress port, with CaPFC
 * @cfg: thresholds of the ingress port; NULL: there is none that a pause from here stops
 * @prio: priority of the packet
 * @len: bytes
 *
 * A packet of a priority that is lossless at its ingress port competes for this room only with
 * packets that a pause can keep away.
 *
 * Context: under the root lock, RCU.
 * Return: false: drop it.
 */
bool bfc_capfc_admit(const struct bfc_sched *q, const struct bfc_cfg *cfg, u8 prio,
		     u32 len)
{
	bool promised = cfg && cfg->lossless & BIT(prio);
	u64 bytes = promised ? q->prio[prio].pausable : q->prio[prio].bytes;

	return !(q->cfg->lossless & BIT(prio)) ||
	       bfc_capfc_admits(&q->cfg->capfc, bytes + len);
}

/**
 * bfc_capfc_enqueued() - a packet joined its queue: hold ports responsible
 * @q: scheduler of the egress port
 * @skb: the packet
 * @slot: of the port that it came in through, or BFC_SLOT_NONE
 *
 * Context: under the root lock.
 */
void bfc_capfc_enqueued(struct bfc_sched *q, const struct sk_buff *skb,
			unsigned int slot)
{
	const struct bfc_skb_cb *cb = bfc_cb(skb);
	struct bfc_capfc *c = q->egress;
	u64 set;

	if (!cb->pausable || !(q->cfg->lossless & BIT(cb->prio)))
		return;
	set = bfc_capfc_enqueue(&c[cb->prio], &q->cfg->capfc, q->cfg->stop,
				q->prio[cb->prio].pausable, slot, cb->segs);
	bfc_capfc_signal(q, cb->prio, set, true);
}

/**
 * bfc_capfc_dequeued() - a packet left its queue: release ports if the congestion is over
 * @q: scheduler of the egress port
 * @skb: the packet
 * @slot: as in bfc_capfc_enqueued()
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_capfc_dequeued(struct bfc_sched *q, const struct sk_buff *skb,
			unsigned int slot)
{
	u8 prio = bfc_cb(skb)->prio;
	struct bfc_capfc *c = q->egress;

	bfc_capfc_signal(q, prio, bfc_capfc_dequeue(&c[prio], &q->cfg->capfc,
						    q->prio[prio].pausable), false);
}

#define BFC_CAPFC_OPS(_derive) {			\
	.prios		= true,				\
	.slots		= true,				\
	.classes	= BFC_PRIORITIES,		\
	.identity	= BFC_FLOW_PRIO,		\
	.derive		= _derive,			\
	.egress_new	= bfc_capfc_new,		\
	.egress_free	= bfc_capfc_free,		\
	.clear		= bfc_capfc_void,		\
	.forget		= bfc_capfc_slot,		\
	.admit		= bfc_capfc_admit,		\
	.enqueued	= bfc_capfc_enqueued,		\
	.dequeued	= bfc_capfc_dequeued,		\
	.build		= bfc_prio_build,		\
}

const struct bfc_fc_ops bfc_fc_capfc_max = BFC_CAPFC_OPS(bfc_capfc_derive_max);
const struct bfc_fc_ops bfc_fc_capfc_cal = BFC_CAPFC_OPS(bfc_capfc_derive_cal);
