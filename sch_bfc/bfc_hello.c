// SPDX-License-Identifier: GPL-2.0
/*
 * Send HELLOs: often until both ends have agreed, then seldom. The work only
 * marks a HELLO due; dequeue builds the frame, as it builds frames that pause.
 * bfc_peer.h handles the HELLOs of the neighbour.
 */
#include <linux/netdevice.h>
#include <linux/workqueue.h>

#include "bfc.h"

static bool bfc_port_speaks(const struct bfc_port *port)
{
	return port->fc->hello &&
	       port->opt.peer != BFC_PEER_OFF && port->life.users;
}

/**
 * bfc_hello_build() - a HELLO of a port
 * @port: the port
 * @flags: BFC_HELLO_F_*
 * @now: ns
 *
 * Context: port->lock held.
 * Return: the frame, or NULL.
 */
struct sk_buff *bfc_hello_build(struct bfc_port *port, u8 flags, u64 now)
{
	struct bfc_hello h = {
		.role = port->opt.role,
		.flags = flags,
		.classes = port->cfg && port->cfg->ranged ? port->cfg->classes : 1,
		.queues = port->queues,
		.incast_queue = BFC_QUEUE_NONE,
		/* The last BYE of a port may be for the mode before. */
		.modes = port->fc->hello ?: BFC_MODE_BFC,
	};
	struct sk_buff *skb;

	lockdep_assert_held(&port->lock);
	skb = bfc_frame_alloc(port, BFC_HELLO_LEN);
	if (!skb)
		return NULL;
	bfc_peer_say(&port->neighbour.peer, &h, now);
	bfc_put_hello(skb->data, port->neighbour.epoch, atomic_inc_return(&port->neighbour.seq),
		      &h);
	port->neighbour.hello_tx++;
	return skb;
}

/**
 * bfc_hello_frame() - the HELLO that is due
 * @port: the port
 * @now: ns
 *
 * Context: under the root lock of the port's qdisc, BH off, from dequeue.
 * Return: the frame; NULL: no memory, or not wanted any more.
 */
struct sk_buff *bfc_hello_frame(struct bfc_port *port, u64 now)
{
	struct sk_buff *skb = NULL;

	spin_lock(&port->lock);
	if (bfc_port_speaks(port))
		skb = bfc_hello_build(port, 0, now);
	spin_unlock(&port->lock);
	return skb;
}

/* Time until the next HELLO, ns. One that dequeue has not built yet is checked
 * soon: the device may not have this qdisc yet.
 */
static u64 bfc_hello_next(struct bfc_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (test_and_set_bit(BFC_PORT_HELLO, &port->flags))
		return BFC_HELLO_WAIT_NS;
	if (bfc_peer_settled(&port->neighbour.peer, now)) {
		port->neighbour.tries = 0;
		return BFC_HELLO_CALM_NS;
	}
	if (port->neighbour.tries >= BFC_HELLO_FAST_TRIES)
		return BFC_HELLO_SLOW_NS;
	port->neighbour.tries++;
	return BFC_HELLO_FAST_NS;
}

/**
 * bfc_hello_work() - expire the neighbour, and have the next HELLO sent
 * @work: &bfc_port.neighbour.hello
 *
 * It schedules the port's qdiscs each time, to send the HELLO, and packets that were kept while
 * nothing could wake the qdisc: these may hold all hosts paused that could send another packet.
 */
void bfc_hello_work(struct work_struct *work)
{
	struct bfc_port *port = container_of(to_delayed_work(work),
					     struct bfc_port, neighbour.hello);
	u64 now = ktime_get_ns(), next = BFC_HELLO_SLOW_NS;
	bool speak, again, run;

	spin_lock_bh(&port->lock);
	again = bfc_port_retry(port);
	speak = bfc_port_speaks(port);
	if (bfc_peer_tick(&port->neighbour.peer, now) & BFC_EV_STATE) {
		bfc_port_left(port);
		bfc_port_tags(port);
	}
	run = speak || (BFC_KEEPS_BACKLOG && port->life.users);
	if (run && bfc_carrier(port->dev)) {
		if (speak)
			next = bfc_hello_next(port, now);
		bfc_port_wake(port);	/* they run once bottom halves are enabled */
	}
	spin_unlock_bh(&port->lock);

	if (run || again)
		queue_delayed_work(system_percpu_wq, &port->neighbour.hello,
				   nsecs_to_jiffies(next));
}
