// SPDX-License-Identifier: GPL-2.0
/*
 * Say HELLO: fast until both ends have agreed, then now and then. The work only says
 * that it is time; the frame is made by dequeue, as those that pause are. What the
 * neighbour says, and what follows from it: bfc_peer.h.
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
		/* The last BYE of a port may be one of the mode before. */
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

/* When to say the next HELLO, from now. One that is still waiting to be made is looked
 * for soon: the device may not have our qdisc yet.
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
 * bfc_hello_work() - let time pass with the neighbour, and say the next HELLO
 * @work: &bfc_port.neighbour.hello
 *
 * The port's schedulers run as often, for what they send, and for packets that they kept while
 * nothing could wake them: those may be what keeps all hosts paused that could send another.
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
		if (port->opt.peer == BFC_PEER_AUTO && port->fc->tags)
			bfc_port_layout(port, 0);
		bfc_port_tags(port);
	}
	run = speak || (BFC_KEEPS_BACKLOG && port->life.users);
	if (run && bfc_carrier(port->dev)) {
		if (speak)
			next = bfc_hello_next(port, now);
		bfc_port_wake(port);	/* as soon as bottom halves do */
	}
	spin_unlock_bh(&port->lock);

	if (run || again)
		queue_delayed_work(system_percpu_wq, &port->neighbour.hello,
				   nsecs_to_jiffies(next));
}
