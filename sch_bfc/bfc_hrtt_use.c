// SPDX-License-Identifier: GPL-2.0
/*
 * hrtt auto: apply the loops that ports have measured (bfc_hrtt.c). The HRTT of the box is the
 * longest of its ports', as Th at an egress is one table for packets of all ingress ports (BFC
 * §3.3.2, App. A.9). XOFF and headroom of a port are for its own link. Ports with `hrtt auto`
 * are configured anew if one of these changes. So is any port whose thresholds for the speed of
 * its link were refused, as there may be room now.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

#include "bfc.h"

/* Part of the loop that is added to it: a loop is applied only if it differs by more than a
 * sixteenth, and headroom must do for one that differs by less.
 */
#define BFC_HRTT_SPARE		16

/* The loop of a port for Th, ns; 0: not known. A neighbour can make it look long, by answering
 * HELLOs late or by going on to send: hrtt-max bounds that, by default more tightly for a host.
 * @room: the loop that headroom is for, ns; 0: not measured. It includes what a host goes on to
 * send.
 */
static u64 bfc_hrtt_port(struct bfc_port *port, u64 *room)
{
	const struct bfc_peer *peer = &port->neighbour.peer;
	/* What proves nothing may be a stranger's, and the neighbour sends PFC. */
	bool host = peer->role == BFC_ROLE_NIC && peer->proved;
	u64 rtt, value, longest, most, frame;
	const struct bfc_params *p;

	lockdep_assert_held(&port->lock);
	spin_lock(&port->tx.lock);
	value = bfc_hrtt_known(&port->tx.hrtt);
	longest = bfc_hrtt_room(&port->tx.hrtt);
	rtt = port->tx.rtt;
	port->tx.seen.hrtt = value;
	port->tx.seen.room = longest;
	WRITE_ONCE(port->tx.seen.rtt, rtt);
	WRITE_ONCE(port->tx.seen.proved, port->tx.hrtt.proved);
	spin_unlock(&port->tx.lock);
	*room = 0;
	if (!port->cfg || !bfc_carrier(port->dev))
		return 0;
	p = &port->cfg->p;
	if (p->hrtt)
		return p->hrtt;
	if (!port->live)
		return 0;
	most = bfc_hrtt_most(port, p, port->link_rate);
	if (longest)
		*room = clamp_t(u64, max(rtt, longest), BFC_HRTT_MIN, most);
	/* In a shared buffer, of a neighbour that need not send HELLOs. */
	if (host || (*p->buffer && port->cfg->fc->prios))
		most = bfc_hrtt_most_shared(port, p, port->link_rate);
	frame = div64_u64((u64)psched_mtu(port->dev) * BFC_NSEC_PER_SEC, port->link_rate);
	value = bfc_hrtt_loop(value, rtt, frame, host);
	return value ? clamp_t(u64, value, BFC_HRTT_MIN, most) : 0;
}

static void bfc_hrtt_keep(struct bfc_port *port, u64 loop, u64 now, bool *again)
{
	u64 spare = loop ? min(loop + loop / BFC_HRTT_SPARE, (u64)BFC_HRTT_MAX) : 0;

	if (!bfc_hrtt_due(port->life.loop, spare, port->life.loop_changed, now, again))
		return;
	port->life.loop = spare;
	port->life.loop_changed = now;
}

/* True if the configuration in use is derived from the current HRTT and loops. */
static bool bfc_hrtt_is_used(const struct bfc_port *port, u64 hrtt)
{
	const struct bfc_cfg *cfg = port->cfg;

	return cfg->hrtt == hrtt &&
	       (!cfg->fc->prios ||
		(cfg->loop == (port->life.loop ?: hrtt) &&
		 cfg->longest == bfc_hrtt_longest(port, &cfg->p, bfc_cfg_link_rate(cfg),
						  cfg->loop)));
}

/* Apply an HRTT; if the configuration for it is refused, the port keeps the one that it has. */
static void bfc_hrtt_use(struct bfc_port *port, u64 hrtt)
{
	struct Qdisc *sch = rtnl_dereference(port->dev->qdisc);
	u64 before = port->life.hrtt;

	if (!port->cfg || !sch || sch->ops != &bfc_qdisc_ops)
		return;
	bfc_retry_link(sch);
	if (port->cfg->p.hrtt || bfc_hrtt_is_used(port, hrtt ?: port->cfg->hrtt))
		return;
	port->life.hrtt = hrtt ?: port->cfg->hrtt;
	if (!bfc_update_hrtt(sch))
		return;
	port->life.hrtt = before ?: port->cfg->hrtt;
	port->life.loop = port->cfg->own;
	net_warn_ratelimited("bfc: %s: thresholds are those of another HRTT\n", port->dev->name);
}

/* Return: true if it has to be called again. */
static bool bfc_hrtt_switch(struct bfc_switch *sw)
{
	u64 now = ktime_get_ns(), most = 0, room;
	struct bfc_port *port;
	unsigned long ifindex;
	bool again = false;

	xa_for_each(&sw->ports, ifindex, port) {
		spin_lock_bh(&port->lock);
		most = max(most, bfc_hrtt_port(port, &room));
		spin_unlock_bh(&port->lock);
		bfc_hrtt_keep(port, room, now, &again);
	}
	if (most && bfc_hrtt_due(sw->hrtt, most, sw->hrtt_changed, now, &again)) {
		WRITE_ONCE(sw->hrtt, most);
		sw->hrtt_changed = now;
	}
	xa_for_each(&sw->ports, ifindex, port)
		bfc_hrtt_use(port, sw->hrtt);
	return again;
}

static void bfc_hrtt_work(struct work_struct *work)
{
	struct bfc_switch *sw;
	bool again = false;

	WRITE_ONCE(bfc_hrtt_looked, jiffies);
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
