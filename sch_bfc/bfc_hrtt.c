// SPDX-License-Identifier: GPL-2.0
/*
 * hrtt auto: each port times its pauses (bfc_hrtt.h). While frames are built it watches one
 * queue of its neighbour at a time. What becomes of it: bfc_hrtt_use.c.
 */
#include <linux/workqueue.h>

#include "bfc.h"

struct delayed_work bfc_hrtt_look;	/* bfc_hrtt_use.c says what it does */

/**
 * bfc_hrtt_look_soon() - look at all ports: what one of them knows may have changed
 * @port: one of the namespace
 */
void bfc_hrtt_look_soon(const struct bfc_port *port)
{
	unsigned long delay = READ_ONCE(port->sw->hrtt) ? BFC_HRTT_EVERY : 1;

	queue_delayed_work(system_percpu_wq, &bfc_hrtt_look, delay);
}

/**
 * bfc_hrtt_forget() - what was measured is of another neighbour
 * @port: the port
 *
 * Context: port->tx.lock held.
 */
void bfc_hrtt_forget(struct bfc_port *port)
{
	lockdep_assert_held(&port->tx.lock);
	WRITE_ONCE(port->watched, BFC_VID_NONE);
	memset(&port->tx.hrtt, 0, sizeof(port->tx.hrtt));
}

/**
 * bfc_hrtt_told() - a frame with a set of paused queues is built
 * @port: the port; port->tx.paused has the set
 * @cfg: its configuration
 * @fresh: VLAN id of a queue that was not paused in the frame before, or BFC_VID_NONE
 * @now: ns
 *
 * Context: port->tx.lock held, BH off; any root lock may be held.
 */
void bfc_hrtt_told(struct bfc_port *port, const struct bfc_cfg *cfg, u16 fresh, u64 now)
{
	struct bfc_hrtt *h = &port->tx.hrtt;

	lockdep_assert_held(&port->tx.lock);
	if (port->watched != BFC_VID_NONE) {
		if (bfc_hrtt_frame(h, test_bit(port->watched - 1, port->tx.paused),
				   READ_ONCE(port->opt.refresh), port->tx.rtt, now))
			return;
		WRITE_ONCE(port->watched, BFC_VID_NONE);
	}
	if (!cfg->p.hrtt && bfc_hrtt_differs(port->tx.seen.hrtt, h->value))
		bfc_hrtt_look_soon(port);
	if (fresh == BFC_VID_NONE)
		return;
	bfc_hrtt_begin(h, now);
	WRITE_ONCE(port->watched, fresh);
}

/**
 * bfc_hrtt_came() - a packet of the watched queue came
 * @port: the port
 * @vid: VLAN id that stands for its queue
 *
 * Context: softirq, from the hook.
 */
void bfc_hrtt_came(struct bfc_port *port, u16 vid)
{
	spin_lock(&port->tx.lock);
	if (port->watched == vid &&
	    !bfc_hrtt_packet(&port->tx.hrtt, port->tx.rtt, ktime_get_ns()))
		WRITE_ONCE(port->watched, BFC_VID_NONE);
	spin_unlock(&port->tx.lock);
}

/**
 * bfc_hrtt_heard() - a HELLO came, which says how long it took
 * @port: the port
 *
 * Context: port->lock held.
 */
void bfc_hrtt_heard(struct bfc_port *port)
{
	lockdep_assert_held(&port->lock);
	spin_lock(&port->tx.lock);
	port->tx.rtt = port->neighbour.peer.rtt_now;
	if (!port->cfg->p.hrtt &&
	    (bfc_hrtt_differs(port->tx.seen.rtt, port->tx.rtt) ||
	     bfc_hrtt_differs(port->tx.seen.hrtt, port->tx.hrtt.value)))
		bfc_hrtt_look_soon(port);
	spin_unlock(&port->tx.lock);
}
