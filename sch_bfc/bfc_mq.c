// SPDX-License-Identifier: GPL-2.0
/*
 * A scheduler for each TX queue: a card with several TX queues lets several CPUs send at once,
 * but with one scheduler for all they would wait for its lock. The root holds the configuration,
 * and a qdisc for each TX queue, as mq does; each of these is a bfc_sched with queues, a flow
 * table and a lock of its own.
 *
 * They have one port: one neighbour, one set of pauses. Queue q of TX queue t is number
 * t x queues + q there. If the numbers do not fit the frame, they are given more than once: a
 * pause is for all queues of that number. Other shared state: bfc_txqs.c.
 *
 * As below mq, these qdiscs have no handle, and the core sees them come and go with the number of
 * TX queues in use (ethtool -L).
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

#include "bfc.h"

static LIST_HEAD(bfc_mq_all);	/* roots with several schedulers, RTNL */

/**
 * bfc_mq_check() - whether a port with these options can have several schedulers
 * @p: the options
 * @extack: why not
 *
 * A switch with CaPFC holds responsible the ports that brought most of the packets of a priority
 * at an egress port, and one with FAFC predicts what they bring: each needs one account of each
 * egress, under one lock. So does the pace of a host that FAFC paused. What PFC counts belongs to
 * the ingress port, and any number of schedulers may change it. `strict`, classes and srf need
 * one scheduler because the card serves TX queues in turn, whatever is strict within one of them.
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int bfc_mq_check(const struct bfc_params *p, struct netlink_ext_ack *extack)
{
	const struct bfc_fc_ops *fc = bfc_fc_of(p);

	if (p->role == BFC_ROLE_SWITCH && fc->egress_new) {
		NL_SET_ERR_MSG(extack, "bfc: fc: capfc and fafc have one account of an egress, and need one scheduler: replace it with txqs one");
		return -EOPNOTSUPP;
	}
	if (p->role == BFC_ROLE_NIC && fc->paces) {
		NL_SET_ERR_MSG(extack, "bfc: fc: a host with fafc has one pace, and needs one scheduler: replace it with txqs one");
		return -EOPNOTSUPP;
	}
	if (p->classes > 1) {
		NL_SET_ERR_MSG(extack, "bfc: classes: cards serve TX queues in turn, so that they need one scheduler: replace it with txqs one");
		return -EOPNOTSUPP;
	}
	if (p->sched == BFC_SCHED_SRF) {
		NL_SET_ERR_MSG(extack, "bfc: sched: cards serve TX queues in turn, so that srf needs one scheduler: replace it with txqs one");
		return -EOPNOTSUPP;
	}
	if (p->strict) {
		NL_SET_ERR_MSG(extack, "bfc: strict: cards serve TX queues in turn, so that it needs one scheduler: replace it with txqs one");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* The same for a new root, and whether the number of its queues and flows is in bounds. */
static int bfc_mq_check_new(struct Qdisc *sch, const struct bfc_params *p,
			    struct netlink_ext_ack *extack)
{
	int err = bfc_mq_check(p, extack);

	if (err)
		return err;
	/* A queue takes some 3 KB with its flows, if no more flows are asked for. */
	if ((u64)qdisc_dev(sch)->num_tx_queues * p->queues > BFC_TXQS_QUEUES_MAX) {
		NL_SET_ERR_MSG(extack, "bfc: queues: at most 8192 with those of all TX queues, or txqs one");
		return -EINVAL;
	}
	if ((u64)qdisc_dev(sch)->num_tx_queues * p->flows > BFC_FLOWS_MAX) {
		NL_SET_ERR_MSG(extack, "bfc: flows: at most 4194304 with those of all TX queues, or txqs one");
		return -EINVAL;
	}
	return 0;
}

/**
 * bfc_mq_wanted() - whether a new root is to have a scheduler for each TX queue
 * @sch: the qdisc
 * @p: its options; BFC_TXQS_AUTO: if they allow it
 *
 * Context: RTNL.
 * Return: true if so.
 */
bool bfc_mq_wanted(struct Qdisc *sch, const struct bfc_params *p)
{
	if (sch->parent != TC_H_ROOT || !netif_is_multiqueue(qdisc_dev(sch)))
		return false;
	if (p->txqs != BFC_TXQS_AUTO)
		return p->txqs == BFC_TXQS_EACH;
	return !bfc_mq_check_new(sch, p, NULL);
}

/* The qdisc may be half made. */
static void bfc_txq_destroy(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = q->txq.all;

	bfc_sched_free(sch);
	if (!all)
		return;
	RCU_INIT_POINTER(all->each[q->txq.index].q, NULL);
	atomic_long_sub(q->txq.told, &all->mem);
	bfc_txqs_put(all);
}

static int bfc_txq_init(struct Qdisc *sch, struct nlattr *opt,
			struct netlink_ext_ack *extack)
{
	bfc_sched_init(sch);
	return 0;
}

/* No .change: all is configured at the root. */
static struct Qdisc_ops bfc_txq_ops __read_mostly = {
	.id		= "bfc",
	.cl_ops		= &bfc_class_ops,
	.priv_size	= sizeof(struct bfc_sched),
	.enqueue	= bfc_enqueue,
	.dequeue	= bfc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= bfc_txq_init,
	.reset		= bfc_sched_reset,
	.destroy	= bfc_txq_destroy,
	.dump_stats	= bfc_dump_stats,
	.owner		= THIS_MODULE,
};

/**
 * bfc_mq_new() - make the schedulers of a new root
 * @sch: the root
 * @p: its options
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: 0 or an error; bfc_mq_drop() then undoes what was made.
 */
int bfc_mq_new(struct Qdisc *sch, const struct bfc_params *p,
	       struct netlink_ext_ack *extack)
{
	struct net_device *dev = qdisc_dev(sch);
	struct bfc_sched *q = qdisc_priv(sch);
	unsigned int i, n = dev->num_tx_queues;
	struct bfc_txqs *all;
	int err;

	err = bfc_mq_check_new(sch, p, extack);
	if (err)
		return err;
	all = kvzalloc(struct_size(all, each, n), GFP_KERNEL_ACCOUNT);
	if (!all)
		return -ENOMEM;
	refcount_set(&all->users, 1);
	all->n = n;
	all->used = dev->real_num_tx_queues;
	all->most = all->used;
	all->root = sch;
	list_add(&all->list, &bfc_mq_all);
	q->txq.all = all;
	q->nqueues = p->queues;
	sch->flags |= TCQ_F_MQROOT;
	for (i = 0; i < n; i++) {
		struct bfc_sched *one;
		struct Qdisc *child;

		child = qdisc_create_dflt(netdev_get_tx_queue(dev, i), &bfc_txq_ops,
					  TC_H_MAKE(TC_H_MAJ(sch->handle), TC_H_MIN(i + 1)),
					  extack);
		if (!child)
			return -ENOMEM;
		child->flags |= TCQ_F_ONETXQUEUE | TCQ_F_NOPARENT;
		one = qdisc_priv(child);
		one->txq.all = all;
		one->txq.index = i;
		refcount_inc(&all->users);
		all->each[i].sch = child;
		rcu_assign_pointer(all->each[i].q, one);
		err = bfc_sched_alloc(one, p);
		if (err)
			return err;
	}
	return 0;
}

/**
 * bfc_mq_join() - the schedulers use their root's port
 * @sch: the root
 *
 * Context: RTNL.
 */
void bfc_mq_join(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = q->txq.all;
	unsigned int i;

	for (i = 0; i < all->n; i++) {
		struct bfc_sched *one = qdisc_priv(all->each[i].sch);

		one->life.no_port = q->life.no_port;
		one->port = q->port;
		bfc_port_hold(q->port);
	}
}

/* The number in the port that the queues of a TX queue begin at. Numbers that do not fit
 * are given more than once.
 */
static u16 bfc_mq_base(const struct bfc_sched *one, const struct bfc_cfg *cfg)
{
	return one->txq.index % (cfg->port_queues / cfg->p.queues) * cfg->p.queues;
}

/**
 * bfc_mq_roots() - bfc_roots_alloc() for each TX queue
 * @sch: the root
 * @cfg: the configuration
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM.
 */
int bfc_mq_roots(struct Qdisc *sch, const struct bfc_cfg *cfg)
{
	const struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = q->txq.all;
	unsigned int i;
	int err = 0;

	for (i = 0; i < all->n && !err; i++)
		err = bfc_roots_alloc(all->each[i].sch, cfg);
	return err;
}

/**
 * bfc_mq_apply() - a new configuration takes effect at each TX queue
 * @sch: the root
 * @cfg: the configuration
 *
 * Context: RTNL.
 */
void bfc_mq_apply(struct Qdisc *sch, struct bfc_cfg *cfg)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = q->txq.all;
	bool another_rate;
	unsigned int i;

	another_rate = !q->cfg || q->cfg->rate != cfg->rate;
	for (i = 0; i < all->n; i++) {
		struct Qdisc *child = all->each[i].sch;
		struct bfc_sched *one = qdisc_priv(child);
		struct bfc_cfg *old = one->cfg;
		void *egress = NULL;

		refcount_inc(&cfg->users);
		spin_lock_bh(qdisc_lock(child));
		one->base = bfc_mq_base(one, cfg);
		bfc_sched_apply(child, cfg, &egress);
		spin_unlock_bh(qdisc_lock(child));
		bfc_cfg_put(old);
	}
	/* Turns that were taken at another rate may have been long. Others may have been taken
	 * behind these since the first TX queue has the new rate.
	 */
	if (another_rate) {
		atomic64_set(&all->next_tx, ktime_get_ns());
		for (i = 0; i < all->n; i++) {
			struct Qdisc *child = all->each[i].sch;

			spin_lock_bh(qdisc_lock(child));
			bfc_txqs_forget(qdisc_priv(child));
			spin_unlock_bh(qdisc_lock(child));
		}
		if (q->life.live)
			bfc_port_wake(q->port);
	}
}

/* Packets are as long as the root's size table (tc ... stab) says. */
static void bfc_mq_stab(const struct bfc_txqs *all)
{
	struct qdisc_size_table *stab = rtnl_dereference(all->root->stab);
	unsigned int i;

	for (i = 0; i < all->n; i++) {
		struct Qdisc *child = all->each[i].sch;
		struct qdisc_size_table *old = rtnl_dereference(child->stab);

		if (old == stab)
			continue;
		if (stab)
			stab->refcnt++;
		rcu_assign_pointer(child->stab, stab);
		qdisc_put_stab(old);
	}
}

static void bfc_mq_stabs_work(struct work_struct *work)
{
	const struct bfc_txqs *all;

	rtnl_lock();
	list_for_each_entry(all, &bfc_mq_all, list)
		bfc_mq_stab(all);
	rtnl_unlock();
}

static DECLARE_WORK(bfc_mq_stabs, bfc_mq_stabs_work);

/**
 * bfc_mq_stabs_soon() - the schedulers of a root are to get its size table
 *
 * For .change: `tc qdisc change` replaces or removes the root's table after it.
 *
 * Context: RTNL.
 */
void bfc_mq_stabs_soon(void)
{
	queue_work(system_percpu_wq, &bfc_mq_stabs);
}

/**
 * bfc_mq_exit() - at module unload, no qdisc is left
 */
void bfc_mq_exit(void)
{
	cancel_work_sync(&bfc_mq_stabs);
}

/**
 * bfc_mq_attach() - the TX queues get their schedulers
 * @sch: the root
 *
 * Context: RTNL, the device is deactivated or down.
 */
void bfc_mq_attach(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = q->txq.all;
	unsigned int i;

	bfc_mq_stab(all);
	for (i = 0; i < all->n; i++) {
		struct Qdisc *child = all->each[i].sch, *old;

		qdisc_refcount_inc(child);	/* the other reference is the root's */
		old = dev_graft_qdisc(child->dev_queue, child);
		if (old)
			qdisc_put(old);
		if (i < all->used)
			qdisc_hash_add(child, false);
	}
}

/**
 * bfc_mq_drop() - the root gives its schedulers up
 * @sch: the root
 *
 * Context: RTNL.
 */
void bfc_mq_drop(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = q->txq.all;
	unsigned int i;

	if (!all)
		return;
	list_del(&all->list);
	all->root = NULL;
	for (i = 0; i < all->n && all->each[i].sch; i++)
		qdisc_put(all->each[i].sch);
	q->txq.all = NULL;
	bfc_txqs_put(all);
}
