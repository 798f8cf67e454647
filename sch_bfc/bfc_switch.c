// SPDX-License-Identifier: GPL-2.0
/*
 * The ports of a namespace, and the proof of where a packet came in.
 *
 * The ingress hook of a port leaves a handle in skb->tc_index. The kernel does
 * not protect that field: a clsact egress filter in a container can set it, and
 * the value passes through veth, and through a container's device on top of one
 * of the ports here (VLAN, macvlan, ipvlan). A copy made by a mirror carries a
 * genuine handle. A handle counts only if all of these hold:
 *
 *  1. The packet was received last by the port that the handle names, or by a device
 *     on top of it (VLAN, bond, bridge, VRF): the kernel writes skb->skb_iif at each
 *     reception (__netif_receive_skb_core()), and act_mirred writes it for its
 *     copies. bfc_prove() compares it.
 *  2. If several ports are below one device, 1. cannot tell a port from a veth beside it in the
 *     same bridge. So a guard on each device of the namespace that is no port clears handles,
 *     except those of ports below that device (bfc_guard_hook()). A filter at the ingress of
 *     such a device runs before the guard and leaves its class id, or 0, in tc_index: the handle
 *     is lost. It is also lost if a macvlan or ipvlan device may have got the packet from one of
 *     another namespace on the same port (bfc_guard_is_beside_foreign()).
 *  3. No device of another namespace is on top of the egress port. Its packets would get there
 *     without a reception in this namespace, and keep their skb_iif (bfc_port_shared()).
 *  4. The egress port has no clsact egress filter, which could write tc_index.
 *  5. The packet is not addressed to its own source: ipvlan makes such a frame
 *     of a container look as if it came in on the port below (bfc_hook()).
 *
 * These checks take the following for forwarded packets, although they are none: a copy made by
 * nft dup, iptables TEE or bpf_clone_redirect() of a program on a port; a packet that a filter
 * at the ingress of another device redirects to the ingress of a device on top of a port, past
 * the guard; a packet of an L2TP pseudowire that was moved into a container, as it leaves
 * through a socket of this namespace. All of these are configured in the namespace of the ports:
 * docs/deployment.md says what to do. Nor do they detect a clsact egress filter on a device on
 * top of the egress port: it may write the handle of another port below the device that received
 * the packet, and a packet is not counted if the filter clears its handle. Looking for such
 * filters for each packet would cost more than the harm that they do, and nothing announces a
 * new one.
 */
#include <linux/netfilter_netdev.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "bfc.h"

/**
 * struct bfc_guard - hook on a device that is no port: clears handles of other ports than those
 * below the device, and drops MAC control frames
 * @sw: the namespace's
 * @dev: the device
 * @hook: NF_NETDEV_INGRESS
 * @above: bit 0: the device is on top of a port; other bits: &bfc_switch.topology that bit 0
 *	   holds for
 * @macvlan: a macvlan or ipvlan device, to which those beside it hand packets
 * @told: a message about a filter before the guard is in the log
 * @rcu: frees the guard when no packet is in the hook any more
 */
struct bfc_guard {
	struct bfc_switch *sw;
	struct net_device *dev;
	struct nf_hook_ops hook;
	atomic64_t above;
	bool macvlan;
	bool told;
	struct rcu_head rcu;
};

/* Data of a namespace: its switch, or NULL. */
struct bfc_net {
	struct bfc_switch *sw;
};

static unsigned int bfc_net_id __read_mostly;

/* Switches with ports, RTNL. */
LIST_HEAD(bfc_switches);

/* Frees ports and counters once they are unused: bfc_sweep_work(). */
struct delayed_work bfc_sweep;

/**
 * bfc_sweep_soon() - have the sweep run within BFC_SWEEP
 */
void bfc_sweep_soon(void)
{
	queue_delayed_work(system_percpu_wq, &bfc_sweep, BFC_SWEEP);
}

/* ---- where a packet came in ---- */

static int bfc_is_same(struct net_device *lower, struct netdev_nested_priv *priv)
{
	return lower == priv->data;
}

/* True if the device with index @ifindex is on top of the port. A positive answer is remembered
 * until the topology changes. The walk goes down from that device: a trunk may have thousands of
 * VLANs on top, a VLAN has one trunk below.
 */
static bool bfc_is_above(struct bfc_ingress *ing, int ifindex)
{
	atomic64_t *memo = &ing->above[ifindex % BFC_ABOVE];
	s64 yes = (u64)atomic_read_acquire(&ing->sw->topology) << 32 | (u32)ifindex;
	struct netdev_nested_priv priv = {};
	struct net_device *dev;
	struct bfc_port *port;

	if (likely(atomic64_read(memo) == yes))
		return true;
	port = rcu_dereference(ing->port);
	if (!port)
		return false;
	dev = dev_get_by_index_rcu(dev_net(port->dev), ifindex);
	if (!dev)
		return false;
	priv.data = port->dev;
	if (!netdev_walk_all_lower_dev_rcu(dev, bfc_is_same, &priv))
		return false;
	atomic64_set(memo, yes);
	return true;
}

static int bfc_is_foreign(struct net_device *upper,
			  struct netdev_nested_priv *priv)
{
	const struct net_device *dev = priv->data;

	return !net_eq(dev_net(upper), dev_net(dev));
}

/* True if a device, or one on top of it, is of another namespace than the port. RCU. */
static bool bfc_has_foreign(struct net_device *top, struct bfc_port *port)
{
	struct netdev_nested_priv priv = { .data = port->dev };

	return bfc_is_foreign(top, &priv) ||
	       netdev_walk_all_upper_dev_rcu(top, bfc_is_foreign, &priv);
}

/* What a port remembers of devices on top of it holds no longer. */
static void bfc_switch_changed(struct bfc_switch *sw)
{
	smp_mb__before_atomic();	/* pairs with the acquire of what remembers answers */
	atomic_inc(&sw->topology);
}

/* A device is on top of a port that was not there, or was in another namespace (@top), or one has
 * gone. A port may have thousands on top: all are looked at only where one of them was foreign, and
 * may be the one that has gone.
 */
static int bfc_port_restacked(struct net_device *lower, struct netdev_nested_priv *priv)
{
	struct bfc_switch *sw = bfc_switch_find(dev_net(lower));
	struct bfc_port *port = bfc_port_find(sw, lower);
	struct net_device *top = priv->data;
	bool foreign;

	if (!port)
		return 0;
	bfc_switch_changed(sw);
	if (port->foreign)
		foreign = bfc_has_foreign(port->dev, port);
	else
		foreign = top && bfc_has_foreign(top, port);
	/* The owner of both namespaces can cause this message at will. */
	if (foreign && !port->foreign)
		net_warn_ratelimited("bfc: %s: a device of another namespace sends through this port: what leaves here pauses no other port, nor does what a macvlan or ipvlan device on top of it receives\n",
				     port->dev->name);
	WRITE_ONCE(port->foreign, foreign);
	return 0;
}

/**
 * bfc_switch_restacked() - what is on top of a device has changed, or its namespace
 * @dev: the device: a port, or on top of ports, or neither
 * @top: the device on top of it that was not there before, or @dev if it was in another namespace;
 *	 NULL: one has gone
 *
 * Any user may stack devices in a namespace of his own: nothing of other namespaces depends on
 * that, and packets pay nothing for it.
 *
 * Context: RTNL, after the change.
 */
void bfc_switch_restacked(struct net_device *dev, struct net_device *top)
{
	struct netdev_nested_priv priv = { .data = top };

	ASSERT_RTNL();
	rcu_read_lock();
	bfc_port_restacked(dev, &priv);
	netdev_walk_all_lower_dev_rcu(dev, bfc_port_restacked, &priv);
	rcu_read_unlock();
}

/**
 * bfc_prove() - look up and check the port that brought a packet
 * @q: scheduler of the egress port
 * @skb: the packet, which is being enqueued
 *
 * Context: under the root lock of the egress port, RCU.
 * Return: as bfc_brought_by().
 */
struct bfc_ingress *bfc_prove(const struct bfc_sched *q, const struct sk_buff *skb)
{
	struct bfc_ingress *ing;

	if (!skb->tc_index)
		return NULL;
	ing = bfc_handle_get(q->port->sw, skb->tc_index);
	if (unlikely(!ing || READ_ONCE(ing->dead)))
		return NULL;
	if (unlikely(skb->skb_iif != ing->ifindex &&
		     !bfc_is_above(ing, skb->skb_iif)))
		return NULL;
	/* A filter may have written tc_index. */
	if (unlikely(bfc_egress_filtered(q->port->dev) ||
		     bfc_port_shared(q->port)))
		return NULL;
	return ing;
}

/**
 * bfc_trusted() - as bfc_brought_by(), and count handles that are not to be trusted
 * @q: scheduler of the egress port
 * @skb: the packet
 *
 * Context: under the root lock of the egress port, RCU.
 * Return: as bfc_brought_by().
 */
struct bfc_ingress *bfc_trusted(struct bfc_sched *q, const struct sk_buff *skb)
{
	struct bfc_ingress *ing = bfc_brought_by(q, skb);

	if (unlikely(!ing && skb->tc_index))
		q->stats.untrusted++;
	return ing;
}

/**
 * bfc_vet() - clear the handle of a packet if it is not to be trusted
 * @q: scheduler of the egress port
 * @skb: the packet; its segments inherit the result
 *
 * Where packets have priorities, handles are looked at for each packet, not for those only that
 * bfc_count() is called for. bfc_brought_by() says the same after it; only the count is another.
 *
 * Context: under the root lock of the egress port, RCU.
 */
void bfc_vet(struct bfc_sched *q, struct sk_buff *skb)
{
	if (!bfc_trusted(q, skb))
		skb->tc_index = 0;
}

/**
 * bfc_elided() - check if an ingress port is never paused from here (BFC App. B)
 * @p: of the egress port
 * @ifindex: of the ingress port
 *
 * Return: true if packets from there are not counted.
 */
bool bfc_elided(const struct bfc_params *p, int ifindex)
{
	u32 i;

	for (i = 0; i < p->nelide; i++)
		if (p->elide[i] == ifindex)
			return true;
	return false;
}

/* ---- guards ---- */

static int bfc_is_port(struct net_device *lower, struct netdev_nested_priv *priv)
{
	struct bfc_switch *sw = priv->data;
	const struct bfc_port *port = xa_load(&sw->ports, lower->ifindex);

	return port && port->dev == lower;
}

/* True if the device is on top of a port. What another CPU has found out meanwhile stays. RCU. */
static noinline bool bfc_guard_is_above(struct bfc_guard *guard)
{
	struct netdev_nested_priv priv = { .data = guard->sw };
	u64 seen = atomic64_read(&guard->above);
	u32 topology = atomic_read_acquire(&guard->sw->topology);
	bool above;

	if (likely(seen >> 1 == topology))
		return seen & 1;
	above = netdev_walk_all_lower_dev_rcu(guard->dev, bfc_is_port, &priv);
	atomic64_cmpxchg(&guard->above, seen, (u64)topology << 1 | above);
	return above;
}

/* The ingress port of the packet cannot be found any more: each egress counts the packet as
 * untrusted.
 */
static noinline void bfc_guard_lost(struct bfc_guard *guard, struct sk_buff *skb)
{
	skb->tc_index = BFC_HANDLE_LOST;
	if (READ_ONCE(guard->told) || !bfc_ingress_filtered(guard->dev))
		return;
	WRITE_ONCE(guard->told, true);
	if (bfc_may_log(guard->dev))
		netdev_warn(guard->dev, "bfc: a filter at the ingress of this device, which is above a port: what comes in through here pauses no port\n");
}

/* Macvlan and ipvlan devices hand packets to others on the same lower device, or to the port
 * below as if they had come in there; tc_index is still the sender's (macvlan_queue_xmit(),
 * ipvlan_queue_xmit()).
 */
static bool bfc_is_macvlan(const struct net_device *dev)
{
	static const char * const kinds[] = { "macvlan", "macvtap", "ipvlan", "ipvtap" };
	const struct rtnl_link_ops *ops = dev->rtnl_link_ops;

	/* netif_is_macvlan() is not true yet when the device is registered. */
	return ops && match_string(kinds, ARRAY_SIZE(kinds), ops->kind) >= 0;
}

/* True if a device of another namespace may have handed over the packet. */
static bool bfc_guard_is_beside_foreign(const struct bfc_guard *guard,
					const struct bfc_ingress *ing)
{
	struct bfc_port *port;

	if (likely(!guard->macvlan))
		return false;
	port = rcu_dereference(ing->port);
	return !port || bfc_port_shared(port);
}

/* Check a packet that has a handle, or that a filter may have changed. */
static noinline unsigned int bfc_guard_look(struct bfc_guard *guard, struct sk_buff *skb,
					    bool filtered)
{
	struct bfc_ingress *ing;

	if (unlikely(filtered || skb->tc_index == BFC_HANDLE_LOST) &&
	    bfc_guard_is_above(guard)) {
		bfc_guard_lost(guard, skb);
		return NF_ACCEPT;
	}
	ing = bfc_handle_get(guard->sw, skb->tc_index);
	if (!ing || !bfc_is_above(ing, skb->dev->ifindex))
		skb->tc_index = 0;
	else if (unlikely(bfc_guard_is_beside_foreign(guard, ing)))
		skb->tc_index = BFC_HANDLE_LOST;
	return NF_ACCEPT;
}

static unsigned int bfc_guard_hook(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	bool filtered = bfc_ingress_filtered(skb->dev);

	if (unlikely(skb->protocol == htons(BFC_MAC_ETHERTYPE)))
		return NF_DROP;	/* as in bfc_hook() */
	if (likely(!skb->tc_index && !filtered))
		return NF_ACCEPT;
	return bfc_guard_look(priv, skb, filtered);
}

/* Check handles that come in through a device that is no port from now on. */
static int bfc_guard_add(struct bfc_switch *sw, struct net_device *dev)
{
	struct bfc_guard *guard;
	int err;

	if (dev->flags & IFF_LOOPBACK || xa_load(&sw->guards, dev->ifindex))
		return 0;
	guard = kzalloc(sizeof(*guard), GFP_KERNEL_ACCOUNT);
	if (!guard)
		return -ENOMEM;
	guard->sw = sw;
	guard->dev = dev;
	guard->macvlan = bfc_is_macvlan(dev);
	guard->hook.hook = bfc_guard_hook;
	guard->hook.priv = guard;
	guard->hook.pf = NFPROTO_NETDEV;
	guard->hook.hooknum = NF_NETDEV_INGRESS;
	guard->hook.priority = INT_MIN;
	guard->hook.dev = dev;
	err = xa_insert(&sw->guards, dev->ifindex, guard, GFP_KERNEL_ACCOUNT);
	if (err)
		goto free;
	err = nf_register_net_hook(dev_net(dev), &guard->hook);
	if (err)
		goto forget;
	return 0;

forget:
	xa_erase(&sw->guards, dev->ifindex);
free:
	kfree(guard);
	return err;
}

/**
 * bfc_guard_try() - guard a device, later if there is no memory now
 * @sw: the namespace's
 * @dev: one of its devices, not a port
 *
 * Context: RTNL.
 */
void bfc_guard_try(struct bfc_switch *sw, struct net_device *dev)
{
	if (!bfc_guard_add(sw, dev))
		return;
	netdev_warn(dev, "bfc: no memory to guard this device, until a second from now a stranger behind it may pause ports\n");
	sw->unguarded = true;
	bfc_sweep_soon();
}

static void bfc_guard_kill(struct bfc_guard *guard)
{
	xa_erase(&guard->sw->guards, guard->dev->ifindex);
	nf_unregister_net_hook(dev_net(guard->dev), &guard->hook);
	kfree_rcu(guard, rcu);
}

/**
 * bfc_guard_del() - remove the guard of a device that goes, or is a port now
 * @sw: the namespace's
 * @dev: the device
 *
 * Context: RTNL.
 */
void bfc_guard_del(struct bfc_switch *sw, const struct net_device *dev)
{
	struct bfc_guard *guard = xa_load(&sw->guards, dev->ifindex);

	if (guard)
		bfc_guard_kill(guard);
}

static int bfc_guard_all(struct bfc_switch *sw, struct net *net)
{
	struct net_device *dev;
	int err;

	for_each_netdev(net, dev) {
		err = bfc_port_find(sw, dev) ? 0 : bfc_guard_add(sw, dev);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/**
 * bfc_guard_retry() - guard devices that there was no memory for
 * @sw: a switch with ports
 *
 * Context: RTNL.
 * Return: true if some are left to guard.
 */
bool bfc_guard_retry(struct bfc_switch *sw)
{
	const struct bfc_port *port;
	unsigned long ifindex = 0;

	if (!sw->unguarded)
		return false;
	port = xa_find(&sw->ports, &ifindex, ULONG_MAX, XA_PRESENT);
	sw->unguarded = bfc_guard_all(sw, dev_net(port->dev));
	return sw->unguarded;
}

/* ---- the ports of a namespace ---- */

/**
 * bfc_port_find() - the port of a device
 * @sw: of the device's namespace, NULL if there is none
 * @dev: the device
 *
 * Context: RTNL.
 * Return: the port, NULL if the device is no port.
 */
struct bfc_port *bfc_port_find(struct bfc_switch *sw, const struct net_device *dev)
{
	ASSERT_RTNL();
	return sw ? xa_load(&sw->ports, dev->ifindex) : NULL;
}

/**
 * bfc_port_slot() - assign the lowest slot that is free in the namespace, under RTNL
 * @port: has BFC_SLOT_NONE, and keeps it if no slot is free
 */
void bfc_port_slot(struct bfc_port *port)
{
	DECLARE_BITMAP(used, BFC_SLOTS + 1) = {};
	const struct bfc_port *other;
	unsigned long ifindex;

	xa_for_each(&port->sw->ports, ifindex, other)
		if (other != port)
			__set_bit(other->slot, used);
	port->slot = find_first_zero_bit(used, BFC_SLOTS);
}

static struct bfc_switch *bfc_switch_new(void)
{
	struct bfc_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL_ACCOUNT);

	if (!sw)
		return NULL;
	sw->handles = kvcalloc(BFC_HANDLE_RUNS, sizeof(*sw->handles),
			       GFP_KERNEL_ACCOUNT);
	sw->runs_used = bitmap_zalloc(BFC_HANDLE_RUNS, GFP_KERNEL_ACCOUNT);
	if (!sw->handles || !sw->runs_used) {
		bitmap_free(sw->runs_used);
		kvfree(sw->handles);
		kfree(sw);
		return NULL;
	}
	/* Handle 0 means "none". */
	__set_bit(0, sw->runs_used);
	refcount_set(&sw->users, 1);
	atomic_set(&sw->topology, 1);	/* 0: nothing is remembered */
	INIT_LIST_HEAD(&sw->list);
	xa_init_flags(&sw->ports, XA_FLAGS_ACCOUNT);
	xa_init_flags(&sw->guards, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&sw->buffers);
	return sw;
}

/**
 * bfc_switch_put() - one user less
 * @sw: used by the namespace, its ports, and their counters
 *
 * Context: process; RCU readers have gone.
 */
void bfc_switch_put(struct bfc_switch *sw)
{
	if (!refcount_dec_and_test(&sw->users))
		return;
	bitmap_free(sw->runs_used);
	kvfree(sw->handles);
	kfree(sw);
}

/**
 * bfc_switch_find() - the switch of a namespace
 * @net: the namespace
 *
 * Context: RTNL.
 * Return: the switch; NULL if there was no port yet.
 */
struct bfc_switch *bfc_switch_find(struct net *net)
{
	const struct bfc_net *bn = net_generic(net, bfc_net_id);

	return bn->sw;
}

/**
 * bfc_switch_get() - the switch of a namespace, for a port
 * @net: the namespace
 *
 * The port keeps it for its lifetime: a request that holds its qdisc may
 * outlast the device's stay in the namespace, and the namespace.
 *
 * Context: RTNL.
 * Return: the switch with one more user, or NULL.
 */
struct bfc_switch *bfc_switch_get(struct net *net)
{
	struct bfc_net *bn = net_generic(net, bfc_net_id);

	if (!bn->sw)
		bn->sw = bfc_switch_new();
	if (bn->sw)
		refcount_inc(&bn->sw->users);
	return bn->sw;
}

/**
 * bfc_switch_join() - add a port
 * @port: its device and its switch are set
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int bfc_switch_join(struct bfc_port *port)
{
	struct bfc_switch *sw = port->sw;
	bool first = xa_empty(&sw->ports);
	int err;

	err = xa_insert(&sw->ports, port->dev->ifindex, port, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	if (first)
		list_add(&sw->list, &bfc_switches);
	bfc_switch_restacked(port->dev, port->dev);
	bfc_guard_del(sw, port->dev);
	err = first ? bfc_guard_all(sw, dev_net(port->dev)) : 0;
	if (err)
		bfc_switch_leave(port);
	return err;
}

/**
 * bfc_switch_leave() - remove a port
 * @port: the port
 *
 * Context: RTNL.
 */
void bfc_switch_leave(struct bfc_port *port)
{
	struct bfc_switch *sw = port->sw;
	struct bfc_guard *guard;
	unsigned long ifindex;

	xa_erase(&sw->ports, port->dev->ifindex);
	bfc_switch_changed(sw);
	if (xa_empty(&sw->ports)) {
		sw->hrtt = 0;
		list_del_init(&sw->list);
		xa_for_each(&sw->guards, ifindex, guard)
			bfc_guard_kill(guard);
	} else if (port->dev->reg_state == NETREG_REGISTERED) {
		bfc_guard_try(sw, port->dev);
	}
}

static void __net_exit bfc_net_exit(struct net *net)
{
	struct bfc_net *bn = net_generic(net, bfc_net_id);

	if (bn->sw)
		bfc_switch_put(bn->sw);
}

static struct pernet_operations bfc_net_ops = {
	.exit	= bfc_net_exit,
	.id	= &bfc_net_id,
	.size	= sizeof(struct bfc_net),
};

/**
 * bfc_switch_init() - at module load
 *
 * Return: 0 or an error.
 */
int bfc_switch_init(void)
{
	return register_pernet_subsys(&bfc_net_ops);
}

/**
 * bfc_switch_exit() - at module unload, no port is left
 */
void bfc_switch_exit(void)
{
	unregister_pernet_subsys(&bfc_net_ops);
}
