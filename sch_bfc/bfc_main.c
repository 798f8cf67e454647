// SPDX-License-Identifier: GPL-2.0
/*
 * sch_bfc - Backpressure Flow Control for Linux switches and hosts.
 *
 * A Linux box that bridges or routes packets drops or bloats when a link is
 * congested. With this qdisc on its ports it does what BFC (NSDI 2022) does
 * in a programmable switch:
 *
 *  - A new flow gets a queue of its own as long as there is an empty one
 *    (§3.3.1, bfc_flow.c); queues share the link by deficit round robin
 *    (bfc_sched.c).
 *  - Each packet carries the number of the queue it came from to the next
 *    hop. If it meets a queue there that is longer than
 *	Th = HRTT x µ / N_active,
 *    that hop pauses the queue it came from - that queue and no other - until
 *    its packets have drained (§3.3.2, bfc_count.c).
 *  - A host with the same qdisc on its NIC obeys the pauses: the sender of a
 *    congested flow stops, and no other.
 *
 * bfc.h has the objects and the locking, bfc_hook.c the ingress hook,
 * bfc_neighbour.c the agreement with the neighbour, bfc_wire.h the frames,
 * bfc_netlink.c what tc sees. This file: the root qdisc of a device.
 */
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include <linux/bfc_int.h>
#include <net/geneve.h>
#include <net/gre.h>
#include <net/ip6_tunnel.h>
#include <net/vxlan.h>
#include "bfc.h"

/* The speed of the link, or 0: down, virtual, or the driver does not say. */
static u64 bfc_link_rate(struct net_device *dev)
{
	struct ethtool_link_ksettings ecmd;

	if (netif_get_link_ksettings(dev, &ecmd) ||
	    ecmd.base.speed == SPEED_UNKNOWN || !ecmd.base.speed)
		return 0;
	return bfc_speed_rate(ecmd.base.speed);
}

/* Update and return the speed of the link. A link that is down keeps its last speed: it may come
 * back, and until then no other port is to get what is set aside for it in a shared buffer.
 */
static u64 bfc_ask_speed(struct bfc_port *port)
{
	u64 speed = bfc_link_rate(port->dev);

	if (speed || bfc_carrier(port->dev))
		port->life.speed = speed;
	return port->life.speed;
}

/* From now on the port does what this qdisc asks for. */
static void bfc_commit(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	if (q->egress && q->cfg->fc->egress_publish)
		q->cfg->fc->egress_publish(q->port, q->egress);
	bfc_port_configure(q->port, q->cfg, q->port->life.speed ?: q->cfg->rate,
			   bfc_is_mq(sch));
	if (bfc_refreshes(q->port) && bfc_carrier(qdisc_dev(sch)) &&
	    q->cfg->fc->prios)
		return;
	local_bh_disable();
	bfc_tx_prio_end(q->port, ktime_get_ns());
	local_bh_enable();
}

/* The port may have been made in another mode, without a slot; ports removed since then may have
 * left one.
 */
static int bfc_need_slot(struct bfc_port *port, const struct bfc_params *p,
			 struct netlink_ext_ack *extack)
{
	if (!bfc_fc_of(p)->slots || p->role != BFC_ROLE_SWITCH ||
	    port->slot != BFC_SLOT_NONE)
		return 0;
	bfc_port_slot(port);
	if (port->slot != BFC_SLOT_NONE)
		return 0;
	NL_SET_ERR_MSG(extack, "bfc: fc: capfc and fafc tell at most 64 ports of a namespace apart");
	return -EOPNOTSUPP;
}

/* True if the mode can go on with the state that it keeps of this egress port. */
static bool bfc_egress_serves(const struct bfc_sched *q, const struct bfc_cfg *cfg)
{
	const struct bfc_cfg *old = q->cfg;

	return q->egress && old->fc->egress_new == cfg->fc->egress_new &&
	       (!cfg->fc->egress_serves || cfg->fc->egress_serves(old, cfg));
}

/* Derive a configuration and replace the current one, which may contain @p.
 * @speed: of the link, bytes/s, or 0.
 */
static int bfc_configure(struct Qdisc *sch, const struct bfc_params *p, u64 speed,
			 struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_cfg *cfg, *old = q->cfg;
	void *egress = NULL;
	int err;

	err = bfc_need_slot(q->port, p, extack);
	if (err)
		return err;
	cfg = bfc_cfg_new(q->port, p, q->txq.all, speed, extack);
	if (IS_ERR(cfg))
		return PTR_ERR(cfg);
	err = bfc_is_mq(sch) ? bfc_mq_roots(sch, cfg) :
	      bfc_flows_grow(sch, cfg) ?: bfc_roots_alloc(sch, cfg) ?:
	      bfc_srf_alloc(sch, cfg);
	if (err) {
		bfc_cfg_put(cfg);
		return err;
	}
	if (bfc_keeps_egress(cfg) && !bfc_egress_serves(q, cfg)) {
		egress = cfg->fc->egress_new(cfg, ktime_get_ns());
		if (!egress) {
			bfc_cfg_put(cfg);
			return -ENOMEM;
		}
	}
	if (bfc_is_mq(sch)) {
		bfc_mq_apply(sch, cfg);
		q->cfg = cfg;
	} else {
		sch_tree_lock(sch);
		bfc_sched_apply(sch, cfg, &egress);
		sch_tree_unlock(sch);
	}
	if (old)
		cfg->undo = 0;	/* a change cannot fail any more */
	if (q->life.live)
		bfc_commit(sch);
	if (egress)
		old->fc->egress_free(q->port, egress);
	bfc_cfg_put(old);
	return 0;
}

/* Derive the configuration again, as something other than the link has changed. If thresholds
 * for the link's speed are refused, as they may have been before, derive them for the speed that
 * the current ones are for.
 */
static int bfc_reconfigure(struct Qdisc *sch, const struct bfc_params *p)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 speed = q->port->life.speed;
	int err = bfc_configure(sch, p, speed, NULL);

	if (err && q->cfg->speed != speed)
		err = bfc_configure(sch, p, q->cfg->speed, NULL);
	return err;
}

/**
 * bfc_update_link() - the link's speed, state or MTU changed
 * @sch: the qdisc
 *
 * Context: RTNL.
 */
void bfc_update_link(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 speed = bfc_ask_speed(q->port);

	if (!bfc_configure(sch, &q->cfg->p, speed, NULL))
		return;
	if (bfc_may_log(qdisc_dev(sch)))
		netdev_warn(qdisc_dev(sch), "bfc: thresholds are those of before\n");
	bfc_port_relink(q->port, speed ?: q->cfg->rate);
}

/**
 * bfc_retry_link() - try thresholds again that were refused
 * @sch: the qdisc
 *
 * Thresholds for the link's speed may have been refused because a shared buffer had no room for
 * them; other ports may have given some back since.
 *
 * Context: RTNL.
 */
void bfc_retry_link(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 speed = q->port->life.speed;

	if (q->cfg->speed == speed || bfc_configure(sch, &q->cfg->p, speed, NULL))
		return;
	if (bfc_may_log(qdisc_dev(sch)))
		netdev_info(qdisc_dev(sch), "bfc: thresholds are those of the link's speed now\n");
}

/**
 * bfc_update_hrtt() - the measured HRTT changed
 * @sch: the qdisc, with `hrtt auto`
 *
 * Context: RTNL.
 * Return: 0, or an error: nothing has changed then.
 */
int bfc_update_hrtt(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	return bfc_reconfigure(sch, &q->cfg->p);
}

/**
 * bfc_forget_elided() - a device of the namespace has gone
 * @sch: a root qdisc of another one
 * @ifindex: of the device that has gone, which a new one may get
 *
 * Context: RTNL.
 */
void bfc_forget_elided(struct Qdisc *sch, int ifindex)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_params *p;
	int err = -ENOMEM;
	u32 i, n = 0;

	if (!bfc_elided(&q->cfg->p, ifindex))
		return;
	p = kmemdup(&q->cfg->p, sizeof(*p), GFP_KERNEL);
	if (p) {
		for (i = 0; i < p->nelide; i++)
			if (p->elide[i] != ifindex)
				p->elide[n++] = p->elide[i];
		p->nelide = n;
		err = bfc_reconfigure(sch, p);
		kfree(p);
	}
	if (err && bfc_may_log(qdisc_dev(sch)))
		netdev_warn(qdisc_dev(sch), "bfc: elide: a device that has gone stays in the list: %d\n",
			    err);
}

static bool bfc_has_lower(struct net_device *dev)
{
	struct net_device *lower;
	struct list_head *iter;

	netdev_for_each_lower_dev(dev, lower, iter)
		return true;
	return false;
}

/* Of what "ip link" calls @kind */
static bool bfc_is_kind(const struct net_device *dev, const char *kind)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, kind);
}

/* True for a tunnel that carries Ethernet to more ends than one, or as the packet's metadata or a
 * route says: gretap, erspan and their IPv6 twins without a remote, and external ones. A vxlan or
 * geneve device may have many ends however it was made.
 */
static bool bfc_has_many_ends(const struct net_device *dev)
{
	if (netif_is_vxlan(dev) || netif_is_geneve(dev))
		return true;
	if (netif_is_gretap(dev) || bfc_is_kind(dev, "erspan")) {
		const struct ip_tunnel *t = netdev_priv(dev);

		return t->collect_md || !t->parms.iph.daddr ||
		       ipv4_is_multicast(t->parms.iph.daddr);
	}
	if (netif_is_ip6gretap(dev) || bfc_is_kind(dev, "ip6erspan")) {
		const struct ip6_tnl *t = netdev_priv(dev);

		return t->parms.collect_md || ipv6_addr_any(&t->parms.raddr) ||
		       ipv6_addr_is_multicast(&t->parms.raddr);
	}
	return false;
}

/* True for a device that cfg80211 has named "wlan". A station has one
 * neighbour, but the same device may become an access point.
 */
static bool bfc_is_wlan(const struct net_device *dev)
{
	return dev->dev.type && dev->dev.type->name && !strcmp(dev->dev.type->name, "wlan");
}

/* Why a device cannot be a port, or NULL if it can. Backpressure works between a device and the
 * one at the other end of its cable. Frames of a device on top of others leave through these:
 * the neighbour would hear two talkers on that link, and turn BFC off there. A device that can
 * have slaves is such a device even if it has none yet; hardware is not, whatever it is linked
 * with (the ports of a switch chip, Hyper-V's).
 */
static const char *bfc_why_no_port(const struct Qdisc *sch)
{
	struct net_device *dev = qdisc_dev(sch);

	if (sch->parent != TC_H_ROOT)
		return "bfc: only fc none here: below mq there is no port";
	if (dev->netdev_ops->ndo_add_slave || netif_is_ovs_master(dev))
		return "bfc: only fc none here: the ports of this device have neighbours";
	/* A failover device has its parent from the virtio card below. */
	if (bfc_has_lower(dev) && (!dev->dev.parent || netif_is_failover(dev)))
		return "bfc: only fc none here: the device below has the neighbour";
	if (bfc_has_many_ends(dev))
		return "bfc: only fc none here: this tunnel may have many neighbours";
	if (bfc_is_wlan(dev))
		return "bfc: only fc none here: a wireless device may have many neighbours";
	if (bfc_is_kind(dev, "ifb"))
		return "bfc: only fc none here: an ifb has no cable, its packets come in again";
	return NULL;
}

static int bfc_check_place(const struct bfc_sched *q, const struct bfc_params *p,
			   struct netlink_ext_ack *extack)
{
	if (!q->life.no_port || bfc_fc_of(p) == &bfc_fc_none)
		return 0;
	if (extack)
		extack->_msg = q->life.no_port;
	return -EOPNOTSUPP;
}

static int bfc_change(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bpf_prog *prog;
	struct bfc_params *p, *was;
	int err;

	p = kmalloc_array(2, sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	was = &p[1];
	*was = q->cfg->p;
	*p = *was;
	err = bfc_params_parse(sch, opt, p, extack);
	if (err)
		goto out;
	err = bfc_check_place(q, p, extack);
	if (err)
		goto out;
	if (p->queues != q->nqueues) {
		NL_SET_ERR_MSG(extack, "bfc: queues cannot change on a live qdisc, replace it under another handle");
		err = -EINVAL;
		goto out;
	}
	if (p->flows != q->cfg->p.flows || p->ways != q->cfg->ways) {
		NL_SET_ERR_MSG(extack, "bfc: flows and ways cannot change on a live qdisc, replace it under another handle");
		err = -EINVAL;
		goto out;
	}
	if (p->txqs != q->cfg->p.txqs) {
		NL_SET_ERR_MSG(extack, "bfc: txqs cannot change on a live qdisc, replace it under another handle");
		err = -EINVAL;
		goto out;
	}
	if (bfc_is_mq(sch)) {
		err = bfc_mq_check(p, extack);
		if (err)
			goto out;
	}
	prog = bfc_stamp_get(sch, p, extack);
	if (IS_ERR(prog)) {
		err = PTR_ERR(prog);
		goto out;
	}
	err = bfc_configure(sch, p, bfc_ask_speed(q->port), extack);
	if (err) {
		bfc_stamp_put(prog);
		goto out;
	}
	bfc_stamp_set(sch, prog);
	bfc_port_wake(q->port);
	if (bfc_is_mq(sch))
		bfc_mq_stabs_soon();
	if (bfc_params_given_up(qdisc_dev(sch), opt, was, p))
		NL_SET_ERR_MSG(extack, "bfc: options that are not used any more have their defaults again: the kernel's log names them");
	else if (!p->rate && !q->cfg->speed)
		NL_SET_ERR_MSG(extack, "bfc: link speed unknown, thresholds assume 1 Gbit/s until it is known; or give rate");
out:
	kfree(p);
	return err;
}

static int bfc_init(struct Qdisc *sch, struct nlattr *opt,
		    struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct bfc_params *p;
	struct bfc_port *port;
	struct bpf_prog *prog;
	bool by_default, inherited;
	int err;

	bfc_sched_init(sch);
	/* Below another qdisc a peek would fix the queue and its length too early, and the
	 * parent would decide when a frame leaves. But mq does not decide, and if its default
	 * qdisc is refused a device has none at all: allow a qdisc without options and without a
	 * handle, which is one of net.core.default_qdisc.
	 */
	by_default = !opt && !sch->handle;
	if (sch->parent != TC_H_ROOT && !by_default) {
		NL_SET_ERR_MSG(extack, "bfc: must be the root qdisc of its device (its own rate option shapes)");
		return -EOPNOTSUPP;
	}
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "bfc: works on Ethernet devices only");
		return -EOPNOTSUPP;
	}

	p = kmalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	bfc_params_default(p);
	q->life.no_port = bfc_why_no_port(sch);
	if (q->life.no_port && by_default) {
		bfc_fc_disable(p);
		if (sch->parent != TC_H_ROOT && sch->dev_queue == netdev_get_tx_queue(dev, 0) &&
		    bfc_may_log(dev))
			netdev_info(dev, "bfc: by default, fair queueing for each TX queue; for flow control: tc qdisc replace dev %s root bfc\n",
				    dev->name);
	}
	err = bfc_params_parse(sch, opt, p, extack) ?:
	      bfc_check_place(q, p, extack);
	if (err)
		goto out;
	err = bfc_mq_wanted(sch, p) ? bfc_mq_new(sch, p, extack) :
					bfc_sched_alloc(q, p);
	if (err)
		goto out;
	port = q->life.no_port ? bfc_port_attach_bare(sch) :
			    bfc_port_attach(dev, extack);
	if (IS_ERR(port)) {
		err = PTR_ERR(port);
		goto out;
	}
	q->port = port;
	/* While another qdisc uses the port, this one takes it over in bfc_attach(), as init may
	 * still fail. A default qdisc gets no call of bfc_attach(): if there is another qdisc, a
	 * request holds it, and it has no device any more.
	 */
	q->life.live = port->life.users == 1 || by_default;
	if (bfc_is_mq(sch))
		bfc_mq_join(sch);
	inherited = bfc_stamp_inherit(sch, p);
	prog = bfc_stamp_get(sch, p, extack);
	if (IS_ERR(prog)) {
		err = PTR_ERR(prog);
		goto out;
	}
	bfc_stamp_set(sch, prog);
	err = bfc_configure(sch, p, bfc_ask_speed(port), extack);
	if (err)
		goto out;
	if (inherited)
		NL_SET_ERR_MSG(extack, "bfc: stamp: goes on with the program of the qdisc before (stamp native: without)");
	if (!p->rate && !q->cfg->speed)
		NL_SET_ERR_MSG(extack, "bfc: link speed unknown, thresholds assume 1 Gbit/s until it is known; or give rate");
out:
	kfree(p);
	return err;
}

/* Nothing can fail any more: take over the port. (Not called for a default
 * qdisc, but that replaces no other.) The device is deactivated, or down.
 */
static void bfc_attach(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct Qdisc *old;
	unsigned int i;

	q->cfg->undo = 0;
	if (!q->life.live) {
		q->life.live = true;
		bfc_commit(sch);
	}
	if (bfc_is_mq(sch)) {
		bfc_mq_attach(sch);
		return;
	}
	for (i = 0; i < dev->num_tx_queues; i++) {
		qdisc_refcount_inc(sch);
		old = dev_graft_qdisc(netdev_get_tx_queue(dev, i), sch);
		if (old)
			qdisc_put(old);
	}
}

/* The number of TX queues in use has changed (ethtool -L, or the device came up). The driver may
 * be in the middle of that, under a lock of its own: do not ask it for the link's speed here.
 */
static void bfc_change_real_num_tx(struct Qdisc *sch, unsigned int n)
{
	struct bfc_sched *q = qdisc_priv(sch);

	if (!bfc_is_mq(sch))
		return;
	mq_change_real_num_tx(sch, n);
	if (n == q->txq.all->used)
		return;
	WRITE_ONCE(q->txq.all->used, n);
	WRITE_ONCE(q->txq.all->most, max(q->txq.all->most, n));
	if (bfc_reconfigure(sch, &q->cfg->p) && bfc_may_log(qdisc_dev(sch)))
		netdev_warn(qdisc_dev(sch), "bfc: queues are those of another number of TX queues\n");
}

static void bfc_destroy(struct Qdisc *sch)
{
	bfc_mq_drop(sch);
	bfc_sched_free(sch);
}

static int bfc_dump_root(struct Qdisc *sch, struct sk_buff *skb)
{
	/* the core reads the statistics of the root after this */
	if (bfc_is_mq(sch))
		bfc_stats_gather(sch);
	return bfc_dump(sch, skb);
}

struct Qdisc_ops bfc_qdisc_ops __read_mostly = {
	.id		= "bfc",
	.cl_ops		= &bfc_class_ops,
	.priv_size	= sizeof(struct bfc_sched),
	.enqueue	= bfc_enqueue,
	.dequeue	= bfc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= bfc_init,
	.change		= bfc_change,
	.attach		= bfc_attach,
	.reset		= bfc_sched_reset,
	.destroy	= bfc_destroy,
	.change_real_num_tx = bfc_change_real_num_tx,
	.dump		= bfc_dump_root,
	.dump_stats	= bfc_dump_stats,
	.owner		= THIS_MODULE,
};
