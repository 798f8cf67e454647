// SPDX-License-Identifier: GPL-2.0
/*
 * hrtt auto: the HRTT of the box is the longest of its ports' (bfc_hrtt.c): Th at an egress
 * is one table for packets of all ingress ports (BFC §3.3.2, App. A.9). Ports with `hrtt auto`
 * are configured anew if it is another one.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

#include "bfc.h"

#define BFC_HRTT_LOWER		HZ	/* jiffies from a change to a lower one */
/* hrtt-max auto: 100 km of cable there and back, as much again, and a ring. */
#define BFC_HRTT_MAX_CABLE	2000000ULL	/* ns */
#define BFC_HRTT_MAX_FRAMES	16

/* The loop of a port, ns; 0: not known. That of a host is what HELLOs say, not how long it
 * goes on to send. A neighbour can make both look long: hrtt-max is what it can do.
 */
static u64 bfc_hrtt_port(struct bfc_port *port)
{
	const struct bfc_peer *peer = &port->neighbour.peer;
	u32 frame = psched_mtu(port->dev);
	u64 rtt, value, most;

	lockdep_assert_held(&port->lock);
	spin_lock(&port->tx.lock);
	value = port->tx.hrtt.value;
	rtt = port->tx.rtt;
	port->tx.seen.hrtt = value;
	port->tx.seen.rtt = rtt;
	spin_unlock(&port->tx.lock);
	if (!port->cfg || !bfc_carrier(port->dev))
		return 0;
	if (port->cfg->p.hrtt)
		return port->cfg->p.hrtt;
	if (!port->live)
		return 0;
	if (!value || peer->role == BFC_ROLE_NIC) {
		if (!rtt)
			return 0;
		value = bfc_hrtt_guess(port->link_rate, frame, rtt);
	}
	most = port->cfg->p.hrtt_max ?:
	       BFC_HRTT_MAX_CABLE + div64_u64((u64)BFC_HRTT_MAX_FRAMES * frame *
					      BFC_NSEC_PER_SEC, port->link_rate);
	return clamp_t(u64, max(rtt, value), BFC_HRTT_MIN, min(most, BFC_HRTT_MAX));
}

/* Where what follows from it is refused, the port goes on with the one that it has. */
static void bfc_hrtt_use(struct bfc_port *port, u64 hrtt)
{
	struct Qdisc *sch = rtnl_dereference(port->dev->qdisc);
	u64 before = port->life.hrtt;

	if (!port->cfg || port->cfg->p.hrtt || !sch || sch->ops != &bfc_qdisc_ops ||
	    port->cfg->hrtt == hrtt)
		return;
	port->life.hrtt = hrtt;
	if (!bfc_update_hrtt(sch))
		return;
	port->life.hrtt = before ?: port->cfg->hrtt;
	net_warn_ratelimited("bfc: %s: thresholds are those of another HRTT\n", port->dev->name);
}

/* Return: whether to look again. */
static bool bfc_hrtt_switch(struct bfc_switch *sw)
{
	struct bfc_port *port;
	u64 most = 0;

	list_for_each_entry(port, &sw->ports, life.list) {
		spin_lock_bh(&port->lock);
		most = max(most, bfc_hrtt_port(port));
		spin_unlock_bh(&port->lock);
	}
	if (!most)
		return false;
	if (bfc_hrtt_differs(sw->hrtt, most)) {
		/* A neighbour that keeps changing its mind costs no more than this. */
		if (most < sw->hrtt && time_before(jiffies, sw->hrtt_changed + BFC_HRTT_LOWER))
			return true;
		WRITE_ONCE(sw->hrtt, most);
		sw->hrtt_changed = jiffies;
	}
	list_for_each_entry(port, &sw->ports, life.list)
		bfc_hrtt_use(port, sw->hrtt);
	return false;
}

static void bfc_hrtt_work(struct work_struct *work)
{
	struct bfc_switch *sw;
	bool again = false;

	rtnl_lock();
	list_for_each_entry(sw, &bfc_switches, list)
		again |= bfc_hrtt_switch(sw);
	rtnl_unlock();
	if (again)
		queue_delayed_work(system_percpu_wq, &bfc_hrtt_look, BFC_HRTT_EVERY);
}

/**
 * bfc_hrtt_init() - at module load, before there are ports
 */
void bfc_hrtt_init(void)
{
	INIT_DELAYED_WORK(&bfc_hrtt_look, bfc_hrtt_work);
}

/**
 * bfc_hrtt_stop() - at module unload, no port is left
 */
void bfc_hrtt_stop(void)
{
	cancel_delayed_work_sync(&bfc_hrtt_look);
}
