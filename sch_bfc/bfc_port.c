// SPDX-License-Identifier: GPL-2.0
/*
 * One object per network device: the ingress hook that takes tags and control
 * frames out of the stream, and the agreement with the neighbour.
 *
 * A port that gives its neighbour up, or loses its last qdisc, goes on to pop
 * tags for a few seconds (BFC_LINGER): until the neighbour has noticed, too.
 * Without a qdisc the hook is the only thing that works then.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/netfilter_netdev.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "bfc.h"
#include "bfc_trace.h"

#define BFC_LINGER	(5 * HZ)	/* over BFC_PEER_DEAD_NS */
#define BFC_FRAME_MAX	1500	/* more than any control frame */

static const u8 bfc_mac_addr[ETH_ALEN] __aligned(2) = BFC_MAC_ADDR;

/* Ports by &bfc_port.id: for what may find a port gone. Written under RTNL. */
DEFINE_XARRAY_ALLOC1(bfc_port_ids);

static void bfc_sweep_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(bfc_sweep, bfc_sweep_work);

/**
 * bfc_sweep_soon() - there is something to clear away
 */
void bfc_sweep_soon(void)
{
	queue_delayed_work(system_percpu_wq, &bfc_sweep, BFC_SWEEP);
}

/* ---- the neighbour ---- */

/* Does the port count for a neighbour with so many queues, or charge what comes in
 * whoever the neighbour is? A NIC pauses nobody (BFC §5).
 */
static bool bfc_port_counts(const struct bfc_port *port, unsigned int queues)
{
	return port->cfg.role != BFC_ROLE_NIC && !port->bare &&
	       (queues || (port->users && port->conf && bfc_conf_holds(port->conf)));
}

/* The cause, and what helps. */
static const char * const bfc_refused_words[] = {
	[BFC_REFUSED_QUEUES] = "no port here has so many, lower queues there",
	[BFC_REFUSED_HANDLES] = "the handles of this namespace are used up, lower queues at neighbours or spread the ports over namespaces",
	[BFC_REFUSED_MTU] = "its pauses do not fit the MTU, raise it or lower queues there",
	[BFC_REFUSED_MEMORY] = "no memory",
	[BFC_REFUSED_WAIT] = "it changes its queues too often, or packets of the queues before still wait",
};

/**
 * bfc_port_refuse() - tell the log why a neighbour is not served
 * @port: the port
 * @queues: of the neighbour
 * @why: BFC_REFUSED_*
 */
void bfc_port_refuse(const struct bfc_port *port, unsigned int queues, u8 why)
{
	if (why != BFC_REFUSED_WAIT)
		net_warn_ratelimited("bfc: %s: cannot count for a neighbour with %u queues, nor pause it: %s\n",
				     port->dev->name, queues,
				     bfc_refused_words[why]);
}

/**
 * bfc_port_layout() - new pause counters for a neighbour's queues
 * @port: the port
 * @queues: the neighbour's; 0: none, what is held of the port alone
 *
 * Packets that hold counts of the old ones keep them: those counters live on
 * until the last one is given back, but nobody is paused by them any more.
 *
 * Context: port->lock held.
 * Return: 0, or why it cannot be counted for such a neighbour: BFC_REFUSED_*.
 */
u8 bfc_port_layout(struct bfc_port *port, unsigned int queues)
{
	struct bfc_ingress *old, *new = NULL;
	u8 refused = BFC_REFUSED_NOT;

	lockdep_assert_held(&port->lock);
	if (bfc_port_counts(port, queues)) {
		port->layouts++;
		if (bfc_pause_len(queues) <= port->dev->mtu + ETH_HLEN)
			new = bfc_ingress_new(port, queues, &refused);
		else
			refused = BFC_REFUSED_MTU;
		if (refused)
			bfc_port_refuse(port, queues, refused);
	}
	old = bfc_ingress_of(port);
	rcu_assign_pointer(port->ingress, new);
	if (old)
		bfc_ingress_retire(old);
	return refused;
}

/**
 * bfc_port_lacks_counters() - was there no memory or no handle for a port?
 * @port: the port
 *
 * With a port-level mode, or in a buffer. A neighbour that speaks BFC has its HELLOs to
 * try again.
 *
 * Context: port->lock held.
 * Return: whether nothing is charged to the port, so that its neighbour is never paused.
 */
bool bfc_port_lacks_counters(const struct bfc_port *port)
{
	return port->cfg.fc != BFC_FC_BFC && bfc_port_counts(port, 0) &&
	       !rcu_access_pointer(port->ingress);
}

/* Who is gone cannot resume us. */
static void bfc_port_unpause(struct bfc_port *port)
{
	lockdep_assert_held(&port->lock);
	bitmap_zero(port->rx_paused, BFC_QUEUES_MAX);
	memset(port->rx_until, 0, sizeof(port->rx_until));
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx_gen, port->rx_gen + 1);
	if (port->users)
		netif_schedule_queue(netdev_get_tx_queue(port->dev, 0));
}

/**
 * bfc_port_tags() - stamp, pop and pause as the state of the neighbour allows
 * @port: the port
 *
 * IEEE neighbours need not say that they understand PFC.
 *
 * Context: port->lock held, BH off.
 */
void bfc_port_tags(struct bfc_port *port)
{
	bool talks = port->users && port->conf &&
		     port->cfg.peer != BFC_PEER_OFF;
	bool forced = port->cfg.peer == BFC_PEER_ON;
	u8 state = port->peer.state;
	bool lived = port->live, agreed, stamp, pop;
	bool live, told;

	lockdep_assert_held(&port->lock);
	agreed = bfc_carrier(port->dev) &&
		 (forced || state == BFC_PEER_STATE_UP);
	pop = talks && port->cfg.fc == BFC_FC_BFC &&
	      (forced || port->peer.modes & BFC_MODE_BFC);
	stamp = pop && agreed && !port->refused;
	told = talks && port->cfg.fc == BFC_FC_FAFC && agreed &&
	       (forced || port->peer.modes & BFC_MODE_PRIO);
	live = stamp || (talks && bfc_fc_is_port_level(port->cfg.fc) &&
			 bfc_carrier(port->dev));
	if (pop) {
		WRITE_ONCE(port->pop_max, port->peer.queues ?: port->queues);
		WRITE_ONCE(port->pop, true);
		port->lingers = false;
	} else if (port->pop && !port->lingers) {
		/* We gave up first: the neighbour goes on to tag until it has
		 * noticed, and nobody else knows what these tags are.
		 */
		port->lingers = true;
		port->linger = jiffies + BFC_LINGER;
		bfc_sweep_soon();
	}

	if (!live)
		bfc_port_unpause(port);
	WRITE_ONCE(port->stamp, stamp);
	WRITE_ONCE(port->told, told);
	WRITE_ONCE(port->live, live);
	if (live && !lived) {
		clear_bit(BFC_PORT_DIRTY, &port->flags);
		if (port->cfg.role == BFC_ROLE_SWITCH) {
			bfc_port_mark_dirty(port);
			/* The device may not have our qdisc yet: look again until
			 * a frame is built.
			 */
			bfc_refresh_start(port);
		}
	}
	trace_bfc_peer(port->dev, state, port->peer.queues, stamp, port->pop);
}

/**
 * bfc_port_restart() - start over with the neighbour
 * @port: the port
 * @unplugged: the carrier came or went: whoever is there now need not be who
 *	       was there before, and nothing of that one is under way
 *
 * Context: process, RTNL.
 */
void bfc_port_restart(struct bfc_port *port, bool unplugged)
{
	u64 id = ether_addr_to_u64(port->dev->dev_addr) << 16 |
		 (port->dev->ifindex & 0xffff);

	spin_lock_bh(&port->lock);
	bfc_peer_restart(&port->peer, id, get_random_u32() | 1);
	WRITE_ONCE(port->epoch, get_random_u32());
	port->rx_seq = 0;
	port->tries = 0;
	port->refused = BFC_REFUSED_NOT;
	port->layout_next = 0;
	WRITE_ONCE(port->live, false);
	bfc_port_unpause(port);
	/* Without a carrier nobody new can send, but what the old neighbour sent
	 * may still be on its way up.
	 */
	if (unplugged && netif_carrier_ok(port->dev))
		WRITE_ONCE(port->pop, false);
	if (port->cfg.fc == BFC_FC_BFC && port->cfg.peer == BFC_PEER_ON)
		port->refused = bfc_port_layout(port, port->queues);
	else
		bfc_port_layout(port, 0);
	bfc_port_tags(port);
	spin_unlock_bh(&port->lock);
	mod_delayed_work(system_percpu_wq, &port->hello, 0);
}

/* ---- the hook ---- */

/* Take our tag off. A tag below it moves up into the metadata, where the
 * bridge and VLAN devices look for it.
 */
static bool bfc_pop(struct sk_buff *skb)
{
	int err;

	if (likely(!eth_type_vlan(skb->protocol))) {
		__vlan_hwaccel_clear_tag(skb);
		return true;
	}
	skb_push_rcsum(skb, skb->mac_len);
	err = skb_vlan_pop(skb);	/* ours goes, the next moves up */
	skb_pull_rcsum(skb, skb->mac_len);
	return !err;
}

/* MAC control is ours with a port-level mode; the bridge would drop it. */
static bool bfc_is_mac_frame(const struct bfc_port *port, struct sk_buff *skb)
{
	unsigned int len = min_t(unsigned int, skb->len, BFC_FRAME_MAX);

	return bfc_fc_is_port_level(READ_ONCE(port->cfg.fc)) &&
	       !skb_vlan_tag_present(skb) && pskb_may_pull(skb, len);
}

static bool bfc_is_control_frame(struct sk_buff *skb)
{
	unsigned int len = min_t(unsigned int, skb->len, BFC_FRAME_MAX);

	return !skb_vlan_tag_present(skb) &&
	       is_link_local_ether_addr(eth_hdr(skb)->h_dest) &&
	       pskb_may_pull(skb, len) &&
	       bfc_is_ours(skb_mac_header(skb), len + ETH_HLEN);
}

/* Every frame that comes in on a port, before bridge and IP see it. */
static unsigned int bfc_hook(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	struct bfc_port *port = priv;
	struct bfc_ingress *ing;
	u16 handle, vid;

	bfc_kick_dirty();

	/* Sent to its own source: so does ipvlan make a container's frame one that
	 * came in here. It is not the neighbour's.
	 */
	if (unlikely(ether_addr_equal(eth_hdr(skb)->h_dest,
				      eth_hdr(skb)->h_source))) {
		skb->tc_index = 0;
		return NF_ACCEPT;
	}

	if (unlikely(skb->protocol == htons(BFC_ETHERTYPE)) &&
	    bfc_is_control_frame(skb)) {
		bfc_rx_control(port, skb);
		kfree_skb(skb);
		return NF_STOLEN;
	}

	if (unlikely(skb->protocol == htons(BFC_MAC_ETHERTYPE)) &&
	    bfc_is_mac_frame(port, skb)) {
		bfc_rx_mac(port, skb);
		kfree_skb(skb);
		return NF_STOLEN;
	}

	/* Always written: a value of another namespace survives veth. */
	ing = rcu_dereference(port->ingress);
	handle = ing ? ing->base : 0;
	if (READ_ONCE(port->pop) && skb_vlan_tag_present(skb) &&
	    skb->vlan_proto == READ_ONCE(port->tpid)) {
		vid = skb_vlan_tag_get_id(skb);
		if (unlikely(vid > READ_ONCE(port->pop_max))) {
			this_cpu_inc(port->pcpu->bad_tag);
		} else if (unlikely(!bfc_pop(skb))) {
			return NF_DROP;
		} else if (vid) {
			this_cpu_inc(port->pcpu->tagged);
			if (ing && likely(vid <= ing->queues))
				handle += vid;	/* base + 1 + upstreamQ */
		}
	}
	skb->tc_index = handle;
	return NF_ACCEPT;
}

/* ---- life ---- */

/* A NIC that filters VLAN ids drops what the neighbour tags as soon as they have
 * agreed. Which ids that will be is not known before, and it may be more than the
 * NIC's table takes; in promiscuous mode, which is what bridges rely on, drivers do
 * not filter.
 */
static void bfc_port_unfilter(struct bfc_port *port)
{
	struct net_device *dev = port->dev;
	netdev_features_t filter = port->tpid == htons(ETH_P_8021Q) ?
				   NETIF_F_HW_VLAN_CTAG_FILTER :
				   NETIF_F_HW_VLAN_STAG_FILTER;
	bool want;

	ASSERT_RTNL();
	want = dev->features & filter && !port->bare &&
	       (READ_ONCE(port->pop) ||
		(port->users && port->cfg.fc == BFC_FC_BFC &&
		 port->cfg.peer != BFC_PEER_OFF));
	if (want == port->promisc || dev_set_promiscuity(dev, want ? 1 : -1))
		return;
	port->promisc = want;
	if (want)
		netdev_info(dev, "bfc: promiscuous, for the card would filter the neighbour's tags\n");
}

/* The same for a caller of a qdisc or notifier, who may hold the device's own lock. Only a
 * work does not, and dev_set_promiscuity() takes it.
 */
static void bfc_port_unfilter_soon(struct bfc_port *port)
{
	if (bfc_ops_locked(port->dev))
		mod_delayed_work(system_percpu_wq, &bfc_sweep, 0);
	else
		bfc_port_unfilter(port);
}

/**
 * bfc_port_find() - the port of a device
 * @sw: of the device's namespace, NULL if there is none
 * @dev: the device
 *
 * Context: RTNL.
 * Return: the port, NULL if the device is none.
 */
struct bfc_port *bfc_port_find(const struct bfc_switch *sw, const struct net_device *dev)
{
	struct bfc_port *port;

	ASSERT_RTNL();
	if (!sw)
		return NULL;
	list_for_each_entry(port, &sw->ports, list)
		if (port->dev == dev)
			return port;
	return NULL;
}

/**
 * bfc_port_slot() - the lowest number that is free in the namespace, under RTNL
 * @port: gets it, or BFC_SLOT_NONE, which is what it has now
 */
void bfc_port_slot(struct bfc_port *port)
{
	DECLARE_BITMAP(used, BFC_SLOTS + 1) = {};
	const struct bfc_port *other;

	list_for_each_entry(other, &port->sw->ports, list)
		if (other != port)
			__set_bit(other->slot, used);
	port->slot = find_first_zero_bit(used, BFC_SLOTS);
}

/* One that no list has, and no hook. */
static void bfc_port_free(struct bfc_port *port)
{
	netdev_put(port->dev, &port->tracker);
	bfc_switch_put(port->sw);
	free_percpu(port->pcpu);
	kfree(port);
}

static struct bfc_port *bfc_port_alloc(struct net_device *dev)
{
	struct bfc_port *port;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return NULL;
	port->pcpu = alloc_percpu(struct bfc_port_pcpu);
	port->sw = bfc_switch_get(dev_net(dev));
	if (!port->pcpu || !port->sw) {
		if (port->sw)
			bfc_switch_put(port->sw);
		free_percpu(port->pcpu);
		kfree(port);
		return NULL;
	}
	netdev_hold(dev, &port->tracker, GFP_KERNEL);
	port->dev = dev;
	port->slot = BFC_SLOT_NONE;
	port->tpid = htons(ETH_P_8021AD);
	spin_lock_init(&port->lock);
	INIT_DELAYED_WORK(&port->hello, bfc_hello_work);
	hrtimer_setup(&port->refresh, bfc_refresh_timer, CLOCK_MONOTONIC,
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
	port->hook.hook = bfc_hook;
	port->hook.priv = port;
	port->hook.pf = NFPROTO_NETDEV;
	port->hook.hooknum = NF_NETDEV_INGRESS;
	port->hook.priority = INT_MIN;
	port->hook.dev = dev;
	err = xa_alloc_cyclic(&bfc_port_ids, &port->id, port, xa_limit_32b,
			      &last_id, GFP_KERNEL);
	if (err < 0)
		goto free;
	err = bfc_switch_join(port);
	if (err)
		goto forget;
	bfc_port_slot(port);
	err = nf_register_net_hook(dev_net(dev), &port->hook);
	if (err)
		goto leave;
	/* A NIC that filters group addresses would not show us our frames. */
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
	nf_unregister_net_hook(dev_net(dev), &port->hook);
leave:
	bfc_switch_leave(port);
forget:
	xa_erase(&bfc_port_ids, port->id);
	synchronize_net();
free:
	bfc_port_free(port);
	return ERR_PTR(err);
}

/* The port is none any more; its memory stays. */
static void bfc_port_unplug(struct bfc_port *port)
{
	struct net_device *dev = port->dev;
	struct bfc_ingress *ing;

	ASSERT_RTNL();
	port->unplugged = true;
	bfc_switch_leave(port);
	xa_erase(&bfc_port_ids, port->id);
	if (port->promisc)
		dev_set_promiscuity(dev, -1);
	nf_unregister_net_hook(dev_net(dev), &port->hook);
	dev_mc_del_global(dev, bfc_group_addr);
	dev_mc_del_global(dev, bfc_mac_addr);
	cancel_delayed_work_sync(&port->hello);
	spin_lock_bh(&port->lock);
	WRITE_ONCE(port->stamp, false);
	WRITE_ONCE(port->live, false);
	ing = bfc_ingress_of(port);
	RCU_INIT_POINTER(port->ingress, NULL);
	if (ing)
		bfc_ingress_retire(ing);
	spin_unlock_bh(&port->lock);
	/* The hook, and what came here through a handle or the id, are done; what
	 * a last frame or HELLO may have started is stopped here.
	 */
	synchronize_net();
	cancel_delayed_work_sync(&port->hello);
	hrtimer_cancel(&port->refresh);
}

static void bfc_port_kill(struct bfc_port *port)
{
	bfc_port_unplug(port);
	bfc_port_free(port);
}

/**
 * bfc_port_attach() - a qdisc takes the port of a device into use
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
		if (!netif_get_port_parent_id(dev, &ppid, true))
			netdev_warn(dev, "bfc: frames that the hardware forwards by itself never reach this qdisc\n");
	}
	spin_lock_bh(&port->lock);
	if (!port->users++) {
		port->fresh = true;
		port->carrier = bfc_carrier(dev);
		port->carrier_downs = atomic_read(&dev->carrier_down_count);
	}
	spin_unlock_bh(&port->lock);
	return port;
}

/**
 * bfc_port_attach_bare() - for a scheduler without a neighbour
 * @dev: the device
 *
 * Context: RTNL.
 * Return: a port of its own, which goes with it, or an error pointer.
 */
struct bfc_port *bfc_port_attach_bare(struct net_device *dev)
{
	struct bfc_port *port = bfc_port_alloc(dev);

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->bare = true;
	port->users = 1;
	port->fresh = true;
	return port;
}

/* No list has it any more, or ever had. */
static void bfc_port_detach_alone(struct bfc_port *port)
{
	cancel_delayed_work_sync(&port->hello);
	hrtimer_cancel(&port->refresh);
	bfc_conf_put(port->conf);
	bfc_port_free(port);
}

static u64 bfc_refresh_pfc(const struct bfc_port *port,
			   const struct bfc_conf *conf, u64 link_rate,
			   u64 refresh)
{
	return max(bfc_pfc_refresh(conf->quanta, link_rate,
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
	port->link_rate = link_rate;
	if (port->conf && bfc_fc_is_port_level(port->cfg.fc))
		WRITE_ONCE(port->cfg.refresh,
			   bfc_refresh_pfc(port, port->conf, link_rate,
					   port->cfg.refresh));
	WRITE_ONCE(port->cfg.quick, min(port->cfg.quick, port->cfg.refresh));
	spin_unlock_bh(&port->lock);
}

/**
 * bfc_port_configure() - what the qdisc asks of its port
 * @port: the port
 * @p: the qdisc's configuration
 * @conf: thresholds from it; the port becomes a user
 * @rate: at which we send, bytes/s
 * @link_rate: of the MAC, bytes/s
 *
 * Starts over with the neighbour if anything changed that it was told.
 *
 * Context: RTNL.
 */
void bfc_port_configure(struct bfc_port *port, const struct bfc_params *p,
			struct bfc_conf *conf, u64 rate, u64 link_rate)
{
	bool level = bfc_fc_is_port_level(p->fc), leave, restart, same, stop;
	u64 refresh = p->refresh ?:
		      bfc_refresh_auto(rate, level ? BFC_PFC_WIRE :
						     bfc_pause_len(p->queues));
	unsigned long lossless = conf->lossless;
	struct bfc_conf *old = port->conf;
	u64 quick;
	struct bfc_ingress *ing;
	unsigned int prio;
	struct sk_buff *skb = NULL, *resume = NULL;

	/* A pause must outlast a few repetitions. */
	if (p->hold && !p->refresh)
		refresh = max(min(refresh, p->hold / 3), BFC_REFRESH_MIN);
	if (level)
		refresh = bfc_refresh_pfc(port, conf, link_rate, refresh);
	quick = level ? bfc_pfc_quick(link_rate, p->hrtt, refresh) : refresh;

	spin_lock_bh(&port->lock);
	/* Else another object takes the place of the one that is charged now. */
	same = old && old->buffer == conf->buffer &&
	       old->lossy.reserve == conf->lossy.reserve;
	restart = port->queues != p->queues || port->cfg.fc != p->fc ||
		  port->cfg.role != p->role || port->cfg.peer != p->peer ||
		  port->tpid != htons(p->tpid) || port->fresh || !same;
	port->fresh = false;
	leave = p->fc != port->cfg.fc || p->peer == BFC_PEER_OFF;
	/* A NIC pauses nobody, and so ends no pause later. */
	stop = leave || p->role != port->cfg.role ||
	       (old && bfc_conf_holds(old) && !bfc_conf_holds(conf));
	if (stop && bfc_fc_is_port_level(port->cfg.fc) && port->live &&
	    port->cfg.role == BFC_ROLE_SWITCH)
		resume = bfc_pfc_resume(port);
	if (leave && (port->stamp || port->told))
		skb = bfc_hello_build(port, BFC_HELLO_F_BYE, ktime_get_ns());
	refcount_inc(&conf->users);
	port->conf = conf;
	port->link_rate = link_rate;
	for_each_clear_bit(prio, &lossless, BFC_PRIORITIES)
		port->rx_until[prio] = 0;	/* not obeyed any more */
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx_gen, port->rx_gen + 1);
	ing = bfc_ingress_of(port);
	if (ing && same) {
		if (!ing->buffer)
			bfc_hold_by(ing, conf);
		rcu_assign_pointer(ing->conf, conf);
		if (ing->fafc &&
		    memcmp(&old->holt, &conf->holt, sizeof(conf->holt)))
			bfc_fafc_in_restart(ing->fafc, conf, ktime_get_ns());
	}
	WRITE_ONCE(port->cfg.fc, p->fc);
	WRITE_ONCE(port->cfg.role, p->role);
	port->cfg.peer = p->peer;
	port->cfg.accept_pause = p->accept_pause;
	WRITE_ONCE(port->cfg.refresh, refresh);
	WRITE_ONCE(port->cfg.quick, quick);
	WRITE_ONCE(port->cfg.hold, p->hold ?: bfc_hold_auto(refresh));
	WRITE_ONCE(port->tpid, htons(p->tpid));
	port->queues = p->queues;
	port->max_pps = max_t(u64, 10000, div_u64(rate, 840));
	spin_unlock_bh(&port->lock);
	bfc_port_unfilter_soon(port);
	if (resume)
		dev_direct_xmit(resume, 0);
	if (skb)
		dev_direct_xmit(skb, 0);
	if (restart)
		bfc_port_restart(port, false);
	else
		/* what became dirty without a qdisc, or by other thresholds */
		bfc_refresh_start(port);
	bfc_conf_put(old);
}

/**
 * bfc_port_detach() - a qdisc does without its port from now on
 * @port: the port
 *
 * The last one says goodbye; the sweep removes the port later. Or the device went
 * first, and what held the qdisc gives it back only now.
 *
 * Context: RTNL.
 */
void bfc_port_detach(struct bfc_port *port)
{
	struct sk_buff *skb = NULL, *resume = NULL;
	struct bfc_conf *conf = NULL;

	if (port->bare || port->unplugged) {
		if (!--port->users)
			bfc_port_detach_alone(port);
		return;
	}
	spin_lock_bh(&port->lock);
	if (!--port->users) {
		if (bfc_fc_is_port_level(port->cfg.fc) && port->live &&
		    port->cfg.role == BFC_ROLE_SWITCH)
			resume = bfc_pfc_resume(port);
		bfc_tx_prio_end(port, ktime_get_ns());
		if (port->told || (port->pop && bfc_carrier(port->dev)))
			skb = bfc_hello_build(port, BFC_HELLO_F_BYE,
					      ktime_get_ns());
		bfc_port_tags(port);
		bfc_port_layout(port, 0);
		swap(conf, port->conf);
		bfc_sweep_soon();
	}
	spin_unlock_bh(&port->lock);
	bfc_conf_put(conf);
	/* Past the qdisc: in the middle of a replace the device has none. */
	if (resume)
		dev_direct_xmit(resume, 0);
	if (skb)
		dev_direct_xmit(skb, 0);
}

static bool bfc_sweep_switch(struct bfc_switch *sw)
{
	struct bfc_port *port, *next;
	bool again = bfc_guard_retry(sw);

	list_for_each_entry_safe(port, next, &sw->ports, list) {
		spin_lock_bh(&port->lock);
		if (port->lingers && time_after(jiffies, port->linger)) {
			port->lingers = false;
			WRITE_ONCE(port->pop, false);
		}
		again |= port->lingers;
		spin_unlock_bh(&port->lock);
		if (!port->users && !port->lingers)
			bfc_port_kill(port);
		else
			bfc_port_unfilter(port);
	}
	return again;
}

/* Ports that lingered long enough, counters that no packet holds any more: once a
 * second, while there is something to wait for.
 */
static void bfc_sweep_work(struct work_struct *work)
{
	struct bfc_switch *sw, *next;
	bool again = false;

	rtnl_lock();
	list_for_each_entry_safe(sw, next, &bfc_switches, list)
		again |= bfc_sweep_switch(sw);
	rtnl_unlock();
	again |= bfc_ingress_sweep();
	if (again)
		bfc_sweep_soon();
}

/* The device goes, or leaves the namespace. Its qdiscs went before; but a request from
 * user space may hold one a little longer: then the memory of the port goes with that.
 */
static void bfc_netdev_gone(struct bfc_switch *sw, struct net_device *dev,
			    struct bfc_port *port)
{
	if (port) {
		bfc_port_unplug(port);
		if (!port->users)
			bfc_port_free(port);
	}
	bfc_guard_del(sw, dev);
}

static int bfc_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct bfc_switch *sw = bfc_switch_find(dev_net(dev));
	struct bfc_port *port = bfc_port_find(sw, dev);
	struct Qdisc *sch = rtnl_dereference(dev->qdisc);
	bool carrier;
	u32 downs;

	switch (event) {
	case NETDEV_REGISTER:
		bfc_switch_topology();
		if (sw && sw->nports)
			bfc_guard_try(sw, dev);
		return NOTIFY_DONE;
	case NETDEV_UNREGISTER:
		bfc_switch_topology();
		if (sw)
			bfc_netdev_gone(sw, dev, port);
		return NOTIFY_DONE;
	case NETDEV_CHANGEUPPER:
		bfc_switch_topology();
		return NOTIFY_DONE;
	}
	if (!port) {
		if (event == NETDEV_CHANGEMTU && sch &&
		    sch->ops == &bfc_qdisc_ops)
			bfc_update_link(sch);	/* a bare one */
		return NOTIFY_DONE;
	}
	switch (event) {
	case NETDEV_FEAT_CHANGE:
		bfc_port_unfilter_soon(port);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		if (!port->users)
			break;
		if (sch && sch->ops == &bfc_qdisc_ops)
			bfc_update_link(sch);
		/* Down and up again may come as one event. */
		carrier = bfc_carrier(dev);
		downs = atomic_read(&dev->carrier_down_count);
		if (port->carrier != carrier || port->carrier_downs != downs) {
			port->carrier = carrier;
			port->carrier_downs = downs;
			bfc_port_restart(port, true);
		} else if (READ_ONCE(port->stamp)) {
			netif_schedule_queue(netdev_get_tx_queue(dev, 0));
		}
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block bfc_netdev_notifier = {
	.notifier_call = bfc_netdev_event,
};

/**
 * bfc_port_init() - at module load
 *
 * Return: 0 or an error.
 */
int bfc_port_init(void)
{
	int err;

	err = bfc_switch_init();
	if (err)
		return err;
	err = register_netdevice_notifier(&bfc_netdev_notifier);
	if (err)
		bfc_switch_exit();
	return err;
}

/**
 * bfc_port_exit() - at module unload: no qdisc is left
 */
void bfc_port_exit(void)
{
	/* Calls bfc_netdev_event() with NETDEV_UNREGISTER for each device. */
	unregister_netdevice_notifier(&bfc_netdev_notifier);
	WARN_ON(!list_empty(&bfc_switches));
	cancel_delayed_work_sync(&bfc_sweep);
	WARN_ON(bfc_ingress_sweep());
	bfc_switch_exit();
}
