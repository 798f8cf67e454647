// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a port, one object per network device: attach, configure, detach, sweep.
 *
 * A port that ends the agreement with its neighbour, or loses its last qdisc,
 * goes on to pop tags for a few seconds (BFC_LINGER), until the neighbour has
 * noticed, too. Without a qdisc the hook alone still works then.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netfilter_netdev.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "bfc.h"

static const u8 bfc_mac_addr[ETH_ALEN] __aligned(2) = BFC_MAC_ADDR;

/* A NIC that filters VLAN ids would drop the packets that the neighbour tags once the two have
 * agreed. The ids are not known before, and may be more than the NIC's table takes. In
 * promiscuous mode drivers do not filter VLAN ids, which bridges rely on, too. Some NICs that
 * announce a filter of C-tags only filter S-tags as well (QEMU's vmxnet3).
 */
static void bfc_port_unfilter(struct bfc_port *port)
{
	struct net_device *dev = port->dev;
	netdev_features_t filter = NETIF_F_HW_VLAN_CTAG_FILTER;
	bool want;

	ASSERT_RTNL();
	if (port->tpid != htons(ETH_P_8021Q))
		filter |= NETIF_F_HW_VLAN_STAG_FILTER;
	want = dev->features & filter && !port->bare &&
	       (READ_ONCE(port->pop) ||
		(port->life.users && port->fc->tags &&
		 port->opt.peer != BFC_PEER_OFF));
	if (want == port->life.promisc || dev_set_promiscuity(dev, want ? 1 : -1))
		return;
	port->life.promisc = want;
	if (want && bfc_may_log(dev))
		netdev_info(dev, "bfc: promiscuous, for the card may filter the neighbour's tags\n");
}

/**
 * bfc_port_unfilter_soon() - let the neighbour's tags past the NIC's filter of VLAN ids
 * @port: the port
 *
 * For callbacks of a qdisc or a notifier: the caller may hold the device's own lock, which
 * dev_set_promiscuity() takes. If the device has one, the sweep work does it.
 *
 * Context: RTNL.
 */
void bfc_port_unfilter_soon(struct bfc_port *port)
{
	if (bfc_ops_locked(port->dev))
		mod_delayed_work(system_percpu_wq, &bfc_sweep, 0);
	else
		bfc_port_unfilter(port);
}

/**
 * bfc_port_free() - free a port
 * @port: one in no list, without a hook
 *
 * Context: process; RCU readers have gone.
 */
void bfc_port_free(struct bfc_port *port)
{
	netdev_put(port->dev, &port->life.tracker);
	bfc_charges_put(port->charges);
	bfc_switch_put(port->sw);
	free_percpu(port->pcpu);
	kfree(port);
}

static struct bfc_port *bfc_port_alloc(struct net_device *dev)
{
	struct bfc_port *port;

	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return NULL;
	port->pcpu = alloc_percpu_gfp(struct bfc_port_pcpu, GFP_KERNEL_ACCOUNT);
	port->sw = bfc_switch_get(dev_net(dev));
	if (!port->pcpu || !port->sw) {
		if (port->sw)
			bfc_switch_put(port->sw);
		free_percpu(port->pcpu);
		kfree(port);
		return NULL;
	}
	netdev_hold(dev, &port->life.tracker, GFP_KERNEL);
	port->dev = dev;
	port->slot = BFC_SLOT_NONE;
	port->fc = &bfc_fc_none;
	port->tpid = htons(ETH_P_8021AD);
	spin_lock_init(&port->lock);
	spin_lock_init(&port->tx.lock);
	bfc_events_start(port);
	/* Random: a sender that does not hear us would have to guess it, see bfc_rx_in_order(). */
	atomic_set(&port->neighbour.seq, get_random_u32());
	INIT_DELAYED_WORK(&port->neighbour.hello, bfc_hello_work);
	hrtimer_setup(&port->tx.refresh, bfc_refresh_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	return port;
}

static struct bfc_port *bfc_port_new(struct net_device *dev)
{
	struct bfc_port *port = bfc_port_alloc(dev);
	static u32 last_id;	/* RTNL */
	int err;

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->life.hook.hook = bfc_hook;
	port->life.hook.priv = port;
	port->life.hook.pf = NFPROTO_NETDEV;
	port->life.hook.hooknum = NF_NETDEV_INGRESS;
	port->life.hook.priority = INT_MIN;
	port->life.hook.dev = dev;
	err = xa_alloc_cyclic(&bfc_port_ids, &port->id, port, xa_limit_32b,
			      &last_id, GFP_KERNEL);
	if (err < 0)
		goto free;
	err = bfc_switch_join(port);
	if (err)
		goto forget;
	bfc_port_slot(port);
	err = nf_register_net_hook(dev_net(dev), &port->life.hook);
	if (err)
		goto leave;
	/* A NIC that filters group addresses would drop the port's control frames. */
	err = dev_mc_add_global(dev, bfc_group_addr);
	if (err)
		goto unhook;
	err = dev_mc_add_global(dev, bfc_mac_addr);
	if (err)
		goto unlist;
	return port;

unlist:
	dev_mc_del_global(dev, bfc_group_addr);
unhook:
	nf_unregister_net_hook(dev_net(dev), &port->life.hook);
leave:
	bfc_switch_leave(port);
forget:
	xa_erase(&bfc_port_ids, port->id);
	synchronize_net();
free:
	bfc_port_free(port);
	return ERR_PTR(err);
}

/**
 * bfc_port_unplug() - take a port out of service; its memory stays
 * @port: the port
 *
 * Context: RTNL.
 */
void bfc_port_unplug(struct bfc_port *port)
{
	struct net_device *dev = port->dev;
	struct bfc_ingress *ing;

	ASSERT_RTNL();
	spin_lock_bh(&port->lock);
	port->life.unplugged = true;	/* a HELLO being processed gets no counters */
	spin_unlock_bh(&port->lock);
	bfc_switch_leave(port);
	xa_erase(&bfc_port_ids, port->id);
	if (port->life.promisc)
		dev_set_promiscuity(dev, -1);
	nf_unregister_net_hook(dev_net(dev), &port->life.hook);
	dev_mc_del_global(dev, bfc_group_addr);
	dev_mc_del_global(dev, bfc_mac_addr);
	cancel_delayed_work_sync(&port->neighbour.hello);
	spin_lock_bh(&port->lock);
	WRITE_ONCE(port->tags, false);
	WRITE_ONCE(port->live, false);
	ing = bfc_ingress_of(port);
	RCU_INIT_POINTER(port->ingress, NULL);
	if (ing)
		bfc_ingress_retire(port, ing);
	spin_unlock_bh(&port->lock);
	/* Wait until the hook, and users that found the port by a handle or by its id, have
	 * left. Then stop what a last frame or HELLO may have started.
	 */
	synchronize_net();
	cancel_delayed_work_sync(&port->neighbour.hello);
	hrtimer_cancel(&port->tx.refresh);
	/* Not earlier: until here a HELLO could still bring the neighbour up. */
	spin_lock_bh(&port->lock);
	bfc_event_neighbour(port, false);
	spin_unlock_bh(&port->lock);
	bfc_events_stop(port);
}

static void bfc_port_kill(struct bfc_port *port)
{
	bfc_port_unplug(port);
	bfc_port_free(port);
}

/**
 * bfc_port_attach() - get the port of a device for a qdisc
 * @dev: the device
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: the port or an error pointer.
 */
struct bfc_port *bfc_port_attach(struct net_device *dev,
				 struct netlink_ext_ack *extack)
{
	struct netdev_phys_item_id ppid = {};
	struct bfc_port *port;

	port = bfc_port_find(bfc_switch_find(dev_net(dev)), dev);
	if (!port) {
		port = bfc_port_new(dev);
		if (IS_ERR(port)) {
			NL_SET_ERR_MSG(extack, "bfc: cannot hook into the device's ingress");
			return port;
		}
		if (!netif_get_port_parent_id(dev, &ppid, true) && bfc_may_log(dev))
			netdev_warn(dev, "bfc: frames that the hardware forwards by itself never reach this qdisc\n");
	}
	spin_lock_bh(&port->lock);
	if (!port->life.users++) {
		port->life.fresh = true;
		port->life.speed = 0;
		port->life.carrier = bfc_carrier(dev);
		port->life.carrier_downs = atomic_read(&dev->carrier_down_count);
	}
	spin_unlock_bh(&port->lock);
	return port;
}

/**
 * bfc_port_attach_bare() - make a port for a scheduler without a neighbour
 * @sch: its qdisc
 *
 * Context: RTNL.
 * Return: a port of its own, which is freed with the qdisc, or an error pointer.
 */
struct bfc_port *bfc_port_attach_bare(const struct Qdisc *sch)
{
	struct bfc_port *port = bfc_port_alloc(qdisc_dev(sch));

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->bare = true;
	if (sch->parent != TC_H_ROOT)
		port->life.txq = sch->dev_queue;
	port->life.users = 1;
	port->life.fresh = true;
	return port;
}

/**
 * bfc_port_hold() - another qdisc of the device uses its port
 * @port: of the root that the qdisc is below; bfc_port_detach() ends it
 *
 * Context: RTNL.
 */
void bfc_port_hold(struct bfc_port *port)
{
	spin_lock_bh(&port->lock);
	port->life.users++;
	spin_unlock_bh(&port->lock);
}

/* Free a port that is in no list: a bare one, or one that was unplugged. */
static void bfc_port_detach_alone(struct bfc_port *port)
{
	cancel_delayed_work_sync(&port->neighbour.hello);
	hrtimer_cancel(&port->tx.refresh);
	bfc_cfg_put(port->cfg);
	bfc_port_free(port);
}

/* @refresh, or the interval at which the link can carry the frames that repeat pauses, ns. */
static u64 bfc_refresh_bound(const struct bfc_port *port,
			     const struct bfc_cfg *cfg, u64 link_rate,
			     u64 refresh)
{
	if (!cfg->fc->prios)
		return max(refresh, bfc_pause_least(link_rate, bfc_pause_most(cfg) +
						    BFC_FRAME_OVERHEAD));
	return max(bfc_pfc_refresh(cfg->quanta, link_rate,
				   psched_mtu(port->dev), refresh),
		   BFC_REFRESH_MIN);
}

/**
 * bfc_port_relink() - the link has another speed, but thresholds stay
 * @port: the port
 * @link_rate: of the MAC, bytes/s
 *
 * Context: RTNL.
 */
void bfc_port_relink(struct bfc_port *port, u64 link_rate)
{
	spin_lock_bh(&port->lock);
	WRITE_ONCE(port->link_rate, link_rate);
	if (port->cfg) {
		WRITE_ONCE(port->opt.refresh,
			   bfc_refresh_bound(port, port->cfg, link_rate,
					     port->opt.refresh));
		WRITE_ONCE(port->opt.hold, port->cfg->p.hold ?: bfc_hold_auto(port->opt.refresh));
	}
	WRITE_ONCE(port->opt.quick, min(port->opt.quick, port->opt.refresh));
	spin_unlock_bh(&port->lock);
}

/* True if the port may hold priorities of the neighbour paused. */
static bool bfc_port_pauses_prios(const struct bfc_port *port)
{
	return port->fc->prios && port->live && port->opt.role == BFC_ROLE_SWITCH;
}

/* The port has ended all pauses of priorities. If it goes on to repeat frames, in another mode
 * that pauses priorities, these cover all priorities. If not: the XON that was sent past the
 * qdisc may have found the TX ring full, or overtaken an XOFF that waited for the TX lock, so
 * dequeue sends it again, behind that XOFF.
 */
static void bfc_port_stopped(struct bfc_port *port)
{
	if (port->fc->prios && bfc_refreshes(port))
		return;
	set_bit(BFC_PORT_RESUME, &port->flags);
	bfc_port_wake(port);
}

/* Go on with the same neighbour, under another configuration. */
static void bfc_port_go_on(struct bfc_port *port)
{
	bool again;

	/* Priorities may have become lossless: there may be no counters yet to charge them to. */
	spin_lock_bh(&port->lock);
	again = bfc_port_retry(port);
	spin_unlock_bh(&port->lock);
	if (again)
		mod_delayed_work(system_percpu_wq, &port->neighbour.hello,
				 nsecs_to_jiffies(BFC_HELLO_SLOW_NS));
	/* the port may be dirty, by other thresholds or since it had no qdisc */
	bfc_refresh_start(port);
}

/**
 * bfc_port_configure() - apply the configuration of a qdisc to its port
 * @port: the port
 * @cfg: the qdisc's configuration; the port becomes a user
 * @link_rate: of the MAC, bytes/s
 * @each: each TX queue has a scheduler
 *
 * Starts over with the neighbour if anything that it was told has changed.
 *
 * Context: RTNL.
 */
void bfc_port_configure(struct bfc_port *port, struct bfc_cfg *cfg, u64 link_rate,
			bool each)
{
	const struct bfc_params *p = &cfg->p;
	bool level = cfg->fc->prios, leave, restart, revoked, same, stop;
	u64 refresh = p->refresh ?:
		      bfc_refresh_auto(cfg->rate, level ? BFC_PFC_WIRE :
						     bfc_pause_most(cfg));
	unsigned long lossless = cfg->lossless;
	struct bfc_cfg *old = port->cfg;
	bool tell = old && (old->ranged || cfg->ranged) && old->classes != cfg->classes;
	u64 quick;
	struct bfc_ingress *ing;
	unsigned int prio;
	struct sk_buff *skb = NULL, *resume = NULL;

	/* A pause must outlast a few repetitions. */
	if (p->hold && !p->refresh)
		refresh = max(min(refresh, div_u64(p->hold, 3)), BFC_REFRESH_MIN);
	refresh = bfc_refresh_bound(port, cfg, link_rate, refresh);
	quick = level ? bfc_pfc_quick(link_rate, cfg->loop, refresh) : refresh;

	spin_lock_bh(&port->lock);
	/* If not, other counters must take the place of those that are charged now. */
	same = old && old->buffer == cfg->buffer &&
	       old->lossy.reserve == cfg->lossy.reserve;
	restart = port->queues != cfg->port_queues || port->fc != cfg->fc ||
		  port->opt.role != p->role || port->opt.peer != p->peer ||
		  port->tpid != htons(p->tpid) || port->life.fresh || !same ||
		  bfc_port_outgrown(port);
	port->life.fresh = false;
	leave = cfg->fc != port->fc || p->peer == BFC_PEER_OFF;
	/* A NIC sends no pauses, and no end of them later. */
	stop = bfc_port_pauses_prios(port) &&
	       (leave || p->role != port->opt.role ||
		(old && bfc_cfg_holds(old) && !bfc_cfg_holds(cfg)));
	if (stop)
		resume = bfc_pfc_resume(port);
	if (leave && (port->tags || port->told))
		skb = bfc_hello_build(port, BFC_HELLO_F_BYE, ktime_get_ns());
	refcount_inc(&cfg->users);
	port->cfg = cfg;
	WRITE_ONCE(port->link_rate, link_rate);
	for_each_clear_bit(prio, &lossless, BFC_PRIORITIES)
		WRITE_ONCE(port->rx.until[prio], 0);	/* not obeyed any more */
	if (old && old->by_root && !cfg->by_root)
		bfc_port_unroot(port);	/* frames are no longer searched for root ids */
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx.gen, port->rx.gen + 1);
	ing = bfc_ingress_of(port);
	if (ing && same) {
		if (cfg->buffer)
			rcu_assign_pointer(ing->cfg, cfg);
		else
			bfc_hold_by(ing, cfg);
		if (ing->account && ing->fc == cfg->fc)
			ing->fc->ingress_retune(ing->account, old, cfg, ktime_get_ns());
	}
	WRITE_ONCE(port->fc, cfg->fc);
	WRITE_ONCE(port->opt.role, p->role);
	port->opt.peer = p->peer;
	revoked = port->opt.accept_pause && !p->accept_pause;
	port->opt.accept_pause = p->accept_pause;
	if (revoked && bfc_port_refuses_pause(port))
		bfc_port_unpause(port);	/* its resumes are refused, too */
	port->opt.keep_class = p->keep_class;
	bfc_port_class(port);
	WRITE_ONCE(port->opt.refresh, refresh);
	WRITE_ONCE(port->opt.quick, quick);
	WRITE_ONCE(port->opt.hold, p->hold ?: bfc_hold_auto(refresh));
	WRITE_ONCE(port->tpid, htons(p->tpid));
	port->queues = cfg->port_queues;
	WRITE_ONCE(port->each, each);
	port->rx.max_pps = max_t(u64, 10000, div_u64(cfg->rate, 840));
	/* What becomes lossy while it is paused goes on. */
	if (old && old->lossless & ~cfg->lossless && bfc_port_pauses_prios(port))
		bfc_port_mark_dirty(port);
	spin_unlock_bh(&port->lock);
	bfc_port_unfilter_soon(port);
	bfc_hrtt_look_soon(port);
	if (resume)
		dev_direct_xmit(resume, 0);
	if (skb)
		dev_direct_xmit(skb, 0);
	if (restart)
		bfc_port_restart(port, false);
	else
		bfc_port_go_on(port);
	if (stop)
		bfc_port_stopped(port);
	if (tell)
		mod_delayed_work(system_percpu_wq, &port->neighbour.hello, 0);
	bfc_cfg_put(old);
}

/**
 * bfc_port_detach() - a qdisc gives its port up
 * @port: the port
 *
 * The last qdisc sends a BYE; the sweep removes the port later. A bare port is
 * freed here, as is one that was unplugged while a request held its qdisc.
 *
 * Context: RTNL.
 */
void bfc_port_detach(struct bfc_port *port)
{
	struct sk_buff *skb = NULL, *resume = NULL;
	struct bfc_cfg *cfg = NULL;

	if (port->bare || port->life.unplugged) {
		if (!--port->life.users)
			bfc_port_detach_alone(port);
		return;
	}
	spin_lock_bh(&port->lock);
	if (!--port->life.users) {
		if (test_and_clear_bit(BFC_PORT_RESUME, &port->flags) ||
		    bfc_port_pauses_prios(port))
			resume = bfc_pfc_resume(port);
		bfc_tx_prio_end(port, ktime_get_ns());
		if (port->told || (port->pop && bfc_carrier(port->dev)))
			skb = bfc_hello_build(port, BFC_HELLO_F_BYE,
					      ktime_get_ns());
		bfc_port_tags(port);
		bfc_port_layout(port, 0);
		port->neighbour.refused = BFC_REFUSED_NOT;
		swap(cfg, port->cfg);
		bfc_sweep_soon();
	}
	spin_unlock_bh(&port->lock);
	bfc_cfg_put(cfg);
	/* Past the qdisc: while a qdisc is being replaced the device has none. */
	if (resume)
		dev_direct_xmit(resume, 0);
	if (skb)
		dev_direct_xmit(skb, 0);
}

/* Ports that are removed while RTNL is held once: each waits for two grace periods at least, and
 * any user may leave thousands of ports behind in a namespace of his own.
 */
#define BFC_SWEEP_PORTS	16

/* Sweep the ports of a namespace. @ports: how many may be removed still. Returns true if some have
 * to be looked at again later.
 */
static bool bfc_sweep_switch(struct bfc_switch *sw, unsigned int *ports)
{
	bool again = bfc_guard_retry(sw);
	struct bfc_port *port;
	unsigned long ifindex;

	xa_for_each(&sw->ports, ifindex, port) {
		spin_lock_bh(&port->lock);
		if (port->neighbour.lingers && time_after(jiffies, port->neighbour.linger))
			bfc_port_lingered(port);
		again |= port->neighbour.lingers;
		spin_unlock_bh(&port->lock);
		if (port->life.users || port->neighbour.lingers) {
			bfc_port_unfilter(port);
			continue;
		}
		if (!*ports)
			break;
		--*ports;
		bfc_port_kill(port);
	}
	return again;
}

/* Remove ports that lingered long enough, and counters that no packet holds any
 * more: once a second, while any are left.
 */
static void bfc_sweep_work(struct work_struct *work)
{
	struct bfc_switch *sw, *next;
	unsigned int ports;
	bool again;

	do {
		again = false;
		ports = BFC_SWEEP_PORTS;
		rtnl_lock();
		list_for_each_entry_safe(sw, next, &bfc_switches, list)
			again |= bfc_sweep_switch(sw, &ports);
		rtnl_unlock();
	} while (!ports);
	again |= bfc_ingress_sweep();
	if (again)
		bfc_sweep_soon();
}

/**
 * bfc_sweep_init() - at module load, before there are ports
 */
void bfc_sweep_init(void)
{
	INIT_DELAYED_WORK(&bfc_sweep, bfc_sweep_work);
}

/**
 * bfc_sweep_stop() - at module unload, no port is left
 */
void bfc_sweep_stop(void)
{
	cancel_delayed_work_sync(&bfc_sweep);
	WARN_ON(bfc_ingress_sweep());
}
