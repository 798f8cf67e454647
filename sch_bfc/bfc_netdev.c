// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to net devices: links that come and go, MTUs, devices that leave.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "bfc.h"

/* The device goes, or leaves the namespace. Its qdiscs went before; but a request from
 * user space may hold one a little longer: then the memory of the port goes with that.
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

/* Another device may get its index, and is not what was elided. */
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
	bool carrier, replugged;
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
		if (bfc_eliders)
			bfc_netdev_unlist(dev_net(dev), dev->ifindex);
		return NOTIFY_DONE;
	case NETDEV_CHANGEUPPER:
		bfc_switch_topology();
		return NOTIFY_DONE;
	}
	if (!port) {
		if (event == NETDEV_CHANGEMTU && sch)
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
		if (!port->life.users)
			break;
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
	WARN_ON(!list_empty(&bfc_switches));
	bfc_hrtt_stop();
	bfc_sweep_stop();
	bfc_switch_exit();
}
