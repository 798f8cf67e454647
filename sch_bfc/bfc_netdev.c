// SPDX-License-Identifier: GPL-2.0
/*
 * Events of net devices: the link changes, the MTU changes, the device goes.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "bfc.h"

/* The device goes, or leaves the namespace. Its qdiscs were destroyed before, but a request from
 * user space may still hold one: then the port is freed with that qdisc.
 */
static void bfc_netdev_gone(struct bfc_switch *sw, struct net_device *dev,
			    struct bfc_port *port)
{
	if (port) {
		bfc_port_unplug(port);
		if (!port->life.users)
			bfc_port_free(port);
	}
	bfc_guard_del(sw, dev);
}

/* The root qdisc of a device, if it is a bfc, or NULL */
static struct Qdisc *bfc_netdev_root(const struct net_device *dev)
{
	struct Qdisc *sch = rtnl_dereference(dev->qdisc);

	return sch && sch->ops == &bfc_qdisc_ops ? sch : NULL;
}

static void bfc_bare_update_one(struct Qdisc *sch, bool ask)
{
	if (ask)
		bfc_update_link(sch);
	else
		bfc_update_hrtt(sch);	/* for the MTU */
}

/* Update the qdiscs of a device without a port, at its root or below mq. Without a carrier its
 * TX queues have other qdiscs: nothing is updated. @ask: ask for the link's speed. Returns true
 * if there is a qdisc to update.
 */
static bool bfc_bare_update(struct net_device *dev, bool ask)
{
	struct Qdisc *sch = bfc_netdev_root(dev);
	bool any = false;
	unsigned int i;

	if (sch) {
		bfc_bare_update_one(sch, ask);
		return true;
	}
	for (i = 0; i < dev->num_tx_queues; i++) {
		sch = rtnl_dereference(netdev_get_tx_queue(dev, i)->qdisc);
		if (!sch || sch->ops != &bfc_qdisc_ops)
			continue;
		bfc_bare_update_one(sch, ask);
		any = true;
	}
	return any;
}

static bool bfc_stands_on_others(const struct net_device *dev)
{
	return !list_empty(&dev->adj_list.lower);
}

static bool bfc_has_port(const struct net_device *dev)
{
	const struct bfc_port *port = bfc_port_find(bfc_switch_find(dev_net(dev)), dev);

	return port && port->life.users;
}

/* Update devices on top of others, which ask these for the link's speed. */
static void bfc_bare_work(struct work_struct *work)
{
	struct net_device *dev;
	struct net *net;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, dev)
			if (bfc_stands_on_others(dev) && !bfc_has_port(dev))
				bfc_bare_update(dev, true);
	up_read(&net_rwsem);
	rtnl_unlock();
}

static DECLARE_DELAYED_WORK(bfc_bare_look, bfc_bare_work);

/* The link or the MTU of a device without a port has changed: a qdisc made before the carrier
 * came does not know the speed yet. The event may be one of a device below, and its caller may
 * hold that device's own lock (6.15 on). Asking it for the speed takes that lock, so a work
 * asks.
 */
static void bfc_bare_changed(struct net_device *dev)
{
	bool later = bfc_stands_on_others(dev);

	if (bfc_bare_update(dev, !later) && later)
		queue_delayed_work(system_percpu_wq, &bfc_bare_look, BFC_HRTT_EVERY);
}

/* Remove a device from the elide lists: another device may get its index. */
static void bfc_netdev_unlist(struct net *net, int ifindex)
{
	struct net_device *dev;
	struct Qdisc *sch;

	for_each_netdev(net, dev) {
		sch = bfc_netdev_root(dev);
		if (sch)
			bfc_forget_elided(sch, ifindex);
	}
}

static int bfc_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct bfc_switch *sw = bfc_switch_find(dev_net(dev));
	struct bfc_port *port = bfc_port_find(sw, dev);
	struct Qdisc *sch = bfc_netdev_root(dev);
	const struct netdev_notifier_changeupper_info *upper;
	bool carrier, replugged;
	u32 downs;

	switch (event) {
	case NETDEV_REGISTER:
		bfc_switch_restacked(dev, dev);
		if (sw && !xa_empty(&sw->ports))
			bfc_guard_try(sw, dev);
		return NOTIFY_DONE;
	case NETDEV_UNREGISTER:
		if (sw)
			bfc_netdev_gone(sw, dev, port);
		if (sw && sw->eliders)
			bfc_netdev_unlist(dev_net(dev), dev->ifindex);
		return NOTIFY_DONE;
	case NETDEV_CHANGEUPPER:
		upper = ptr;
		bfc_switch_restacked(dev, upper->linking ? upper->upper_dev : NULL);
		return NOTIFY_DONE;
	}
	switch (event) {
	case NETDEV_FEAT_CHANGE:
		if (port)
			bfc_port_unfilter_soon(port);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		if (!port || !port->life.users) {
			bfc_bare_changed(dev);
			break;
		}
		/* Down and up again may come as one event. */
		carrier = bfc_carrier(dev);
		downs = atomic_read(&dev->carrier_down_count);
		replugged = port->life.carrier != carrier || port->life.carrier_downs != downs;
		if (replugged)
			bfc_hrtt_unlearn(port);
		if (sch)
			bfc_update_link(sch);
		if (replugged) {
			port->life.carrier = carrier;
			port->life.carrier_downs = downs;
			bfc_port_restart(port, true);
		} else if (READ_ONCE(port->tags)) {
			bfc_port_wake(port);
		}
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block bfc_netdev_notifier = {
	.notifier_call = bfc_netdev_event,
};

/**
 * bfc_netdev_init() - at module load
 *
 * Return: 0 or an error.
 */
int bfc_netdev_init(void)
{
	int err;

	bfc_sweep_init();
	bfc_hrtt_init();
	err = bfc_switch_init();
	if (err)
		return err;
	err = register_netdevice_notifier(&bfc_netdev_notifier);
	if (err)
		bfc_switch_exit();
	return err;
}

/**
 * bfc_netdev_exit() - at module unload: no qdisc is left
 */
void bfc_netdev_exit(void)
{
	/* Calls bfc_netdev_event() with NETDEV_UNREGISTER for each device. */
	unregister_netdevice_notifier(&bfc_netdev_notifier);
	cancel_delayed_work_sync(&bfc_bare_look);
	WARN_ON(!list_empty(&bfc_switches));
	bfc_hrtt_stop();
	bfc_sweep_stop();
	bfc_switch_exit();
}
