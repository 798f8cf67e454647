// SPDX-License-Identifier: GPL-2.0
/*
 * The ingress pipeline of a switch: an optional stage behind the ends of a wire.
 *
 * A switch chip of CaPFC's model (CaPFC §II-A) is the pipeline of a namespace:
 *
 *	port 0 --> input buffer \                                   / --> qdisc
 *	port 1 --> input buffer  >-- one by one --> delay --> stack --> --> qdisc
 *	...                     /    1/rate each                    \ --> ...
 *
 * Frames that have arrived wait in the input buffer of their port, first in, first
 * out. Ports take turns; a frame takes the pipeline for 1/rate and comes out at its
 * end, for the stack to forward, a fixed delay later. What does not fit into an
 * input buffer, which counts each priority by itself, is lost.
 *
 * Two things are optional. With XOFF and XON the port pauses the priorities that
 * fill its input buffer, as a MAC does, by PFC frames of its own (IEEE 802.1Qbb). If
 * the qdisc sends PFC frames as well, they are merged as they leave: the neighbour
 * is paused if either says so (CaPFC's D = I or E). With STALL the pipeline stands
 * still, with all that is in it, while the frame at its end is to go to a port that
 * holds so many bytes of the frame's priority already (PFC-with-stop, §IV-C).
 * Without, the qdisc takes or drops it. Where it goes is looked up in the routing
 * table, so that only routers stall.
 *
 * The priority is the class selector of the DSCP. Frames to link-local groups,
 * PFC and BFC's control frames among them, belong to the MAC: they bypass the
 * pipeline.
 *
 * An end joins the pipeline of its namespace when it is set up and leaves it
 * when it is taken down; it can be configured only while it is down.
 *
 * Locking: struct wire_pipe's lock, in softirq context or with softirqs off, inside
 * a lane's; inside it are the timer base and the routing table. No frame is passed
 * on under it.
 */

#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/math64.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/dsfield.h>
#include <net/netns/generic.h>
#include <net/route.h>
#include <net/sch_generic.h>

#include "wire_dev.h"

#define WIRE_OPCODE_PFC		0x0101
#define WIRE_PFC_BYTES		60
#define WIRE_QUANTA		0xffff
#define WIRE_QUANTUM_BITS	512
/* In skb->mark of our own PFC frames. */
#define WIRE_MARK		0x77697265

struct wire_pfc {
	struct ethhdr eth;
	__be16 opcode;
	__be16 enable;
	__be16 quanta[WIRE_PRIOS];
} __packed;

/**
 * struct wire_pipe - the pipeline of a namespace
 * @lock: protects all, and struct wire_input of its ends
 * @turns: ends with something in their input buffer; the first is next
 * @inside: frames in the pipeline
 * @timer: fires when a frame may enter or has to leave
 * @running: wire_pipe_run() is active, and will set @timer
 * @armed: when @timer fires, ns; %WIRE_NEVER if it does not
 * @free: when the next frame may enter, ns
 * @frac: rest of @free, in 1/rate ns
 * @stuck: the end that has no room for the first of @inside, or %NULL
 * @stuck_since: since when, ns
 */
struct wire_pipe {
	/* everything below */
	spinlock_t lock;
	struct list_head turns;
	struct sk_buff_head inside;
	struct hrtimer timer;
	bool running;
	u64 armed;
	u64 free;
	u64 frac;
	struct wire_end *stuck;
	u64 stuck_since;
};

static unsigned int wire_pipe_id;

static struct wire_end *wire_input_end(struct wire_input *in)
{
	return container_of(in, struct wire_end, in);
}

/* The network header must have been set. */
static unsigned int wire_prio(const struct sk_buff *skb)
{
	__be16 _first;
	const __be16 *first = skb_header_pointer(skb, skb_network_offset(skb),
						 sizeof(_first), &_first);

	if (!first)
		return 0;
	switch (skb->protocol) {
	case htons(ETH_P_IP):	/* version, IHL, TOS */
		return ntohs(*first) >> 5 & 7;
	case htons(ETH_P_IPV6):	/* version, traffic class, flow label */
		return ntohs(*first) >> 9 & 7;
	default:
		return 0;
	}
}

/* Arm the timer for the next event; to fire early is harmless. */
static void wire_pipe_arm(struct wire_pipe *pipe)
{
	struct sk_buff *first = skb_peek(&pipe->inside);
	u64 next = WIRE_NEVER;

	lockdep_assert_held(&pipe->lock);
	if (pipe->stuck || pipe->running)
		return;
	if (first)
		next = wire_cb(first)->due;
	if (!list_empty(&pipe->turns))
		next = min(next, pipe->free);
	if (next < pipe->armed) {
		pipe->armed = next;
		hrtimer_start(&pipe->timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
	}
}

/* ---- PFC of the input buffers ---- */

/* Half of the time for which the neighbour stays paused, ns */
static u64 wire_pipe_again(struct wire_input *in)
{
	return div64_u64((u64)WIRE_QUANTA * WIRE_QUANTUM_BITS * NSEC_PER_SEC / 2,
			 wire_input_end(in)->out.conf.rate);
}

/* A priority is over XOFF, or down to XON. Returns true if the neighbour has to
 * be told by a PFC frame; a pause that is about to end by itself is repeated.
 */
static bool wire_pipe_judge(struct wire_input *in, unsigned int prio, u64 now)
{
	if (!in->conf.xoff)
		return false;
	if (!(in->over & BIT(prio))) {
		if (in->held[prio] <= in->conf.xoff)
			return false;
		in->over |= BIT(prio);
	} else if (in->held[prio] <= in->conf.xon) {
		in->over &= ~BIT(prio);
	} else if (now - in->told < wire_pipe_again(in)) {
		return false;
	}
	in->told = now;
	in->pauses++;
	return true;
}

/* Send a PFC frame. wire_pipe_sent() fills in its quanta as it leaves. */
static void wire_pipe_tell(struct wire_end *end)
{
	static const u8 group[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0, 0, 0x01 };
	struct net_device *dev = end->dev;
	struct wire_pfc *pfc;
	struct sk_buff *skb;

	skb = netdev_alloc_skb(dev, WIRE_PFC_BYTES);
	if (!skb)
		return;
	pfc = skb_put_zero(skb, WIRE_PFC_BYTES);
	ether_addr_copy(pfc->eth.h_dest, group);
	ether_addr_copy(pfc->eth.h_source, dev->dev_addr);
	pfc->eth.h_proto = htons(ETH_P_PAUSE);
	pfc->opcode = htons(WIRE_OPCODE_PFC);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(ETH_P_PAUSE);
	skb->priority = TC_PRIO_CONTROL;
	skb->mark = WIRE_MARK;
	dev_queue_xmit(skb);
}

/* D = I or E: keep the quanta of the qdisc, and write them together with those
 * of the pipeline.
 */
static void wire_pipe_merge(struct wire_input *in, struct sk_buff *skb)
{
	struct wire_pfc *pfc;
	unsigned int prio;

	if (!in->conf.xoff || skb->len < sizeof(*pfc) ||
	    skb_ensure_writable(skb, sizeof(*pfc)))
		return;
	pfc = (struct wire_pfc *)skb->data;
	if (pfc->opcode != htons(WIRE_OPCODE_PFC))
		return;
	for (prio = 0; prio < WIRE_PRIOS; prio++) {
		if (skb->mark != WIRE_MARK && ntohs(pfc->enable) & BIT(prio))
			in->quanta[prio] = ntohs(pfc->quanta[prio]);
		pfc->quanta[prio] = htons(in->over & BIT(prio) ?
					  WIRE_QUANTA : in->quanta[prio]);
	}
	pfc->enable = htons(0xff);
}

/* ---- in ---- */

/* Admit the frame that is next. Returns the end that has to send a PFC frame, or NULL. */
static struct wire_end *wire_pipe_admit(struct wire_pipe *pipe, u64 now,
					bool *admitted)
{
	struct wire_input *in;
	unsigned int prio;
	struct sk_buff *skb, *prev;
	u64 rest;

	lockdep_assert_held(&pipe->lock);
	*admitted = false;
	if (pipe->stuck || list_empty(&pipe->turns) || pipe->free > now)
		return NULL;
	in = list_first_entry(&pipe->turns, struct wire_input, turn);
	skb = __skb_dequeue(&in->queue);
	if (skb_queue_empty(&in->queue))
		list_del_init(&in->turn);
	else
		list_move_tail(&in->turn, &pipe->turns);

	/* A timer that fires late costs nothing while there is a backlog. */
	if (pipe->free < wire_cb(skb)->due) {
		pipe->free = wire_cb(skb)->due;
		pipe->frac = 0;
	}
	wire_cb(skb)->due = pipe->free + in->conf.delay;
	prev = skb_peek_tail(&pipe->inside);
	if (prev && wire_cb(skb)->due < wire_cb(prev)->due)
		wire_cb(skb)->due = wire_cb(prev)->due;
	pipe->free += div64_u64_rem(NSEC_PER_SEC, in->conf.rate, &rest);
	pipe->frac += rest;
	if (pipe->frac >= in->conf.rate) {
		pipe->frac -= in->conf.rate;
		pipe->free++;
	}
	__skb_queue_tail(&pipe->inside, skb);
	*admitted = true;

	prio = wire_prio(skb);
	in->held[prio] -= wire_cb(skb)->len;
	return in->over & BIT(prio) && wire_pipe_judge(in, prio, now) ?
	       wire_input_end(in) : NULL;
}

/* ---- out ---- */

/* The port that a frame leaves a router through, if that is a wire. */
static struct wire_end *wire_pipe_egress(struct wire_pipe *pipe,
					 struct sk_buff *skb)
{
	struct wire_end *end = NULL;
	const struct iphdr *ip;

	if (skb->protocol != htons(ETH_P_IP) ||
	    !pskb_may_pull(skb, sizeof(*ip)))
		return NULL;
	ip = ip_hdr(skb);
	if (!ip_route_input_noref(skb, ip->daddr, ip->saddr, ip->tos, skb->dev))
		end = wire_end_of(skb_dst(skb)->dev);
	/* The stack does its own lookup. */
	skb_dst_drop(skb);
	return end && end->in.pipe == pipe ? end : NULL;
}

/* true if the port has no room. Frames that were dropped on the way were not
 * subtracted from held_out: if the qdisc is empty, it starts over.
 */
static bool wire_pipe_is_full(struct wire_end *end, unsigned int prio, u32 len,
			      u32 stall)
{
	struct Qdisc *q;

	if (end->in.held_out[prio] + len <= stall)
		return false;
	q = rcu_dereference_bh(netdev_get_tx_queue(end->dev, 0)->qdisc);
	if (READ_ONCE(q->q.qlen))
		return true;
	memset(end->in.held_out, 0, sizeof(end->in.held_out));
	return false;
}

/* All frames in the pipeline are late by the time that it stood still. */
static void wire_pipe_go_on(struct wire_pipe *pipe, u64 now)
{
	u64 since = now - pipe->stuck_since;
	struct sk_buff *skb;

	pipe->stuck->in.stall_ns += since;
	pipe->stuck = NULL;
	skb_queue_walk(&pipe->inside, skb)
		wire_cb(skb)->due += since;
	pipe->free += since;
}

/* Take the frame that has reached the end of the pipeline, if there is room for it. */
static struct sk_buff *wire_pipe_exit(struct wire_pipe *pipe, u64 now)
{
	struct sk_buff *skb = skb_peek(&pipe->inside);
	const struct wire_input *in;
	struct wire_end *to;
	unsigned int prio;

	lockdep_assert_held(&pipe->lock);
	if (!skb || pipe->stuck || wire_cb(skb)->due > now)
		return NULL;
	in = &wire_end_of(skb->dev)->in;
	to = in->conf.stall ? wire_pipe_egress(pipe, skb) : NULL;
	if (to) {
		prio = wire_prio(skb);
		if (wire_pipe_is_full(to, prio, wire_cb(skb)->len,
				      in->conf.stall)) {
			pipe->stuck = to;
			pipe->stuck_since = now;
			to->in.stalls++;
			return NULL;
		}
		to->in.held_out[prio] += wire_cb(skb)->len;
	}
	__skb_unlink(skb, &pipe->inside);
	return skb;
}

/* Handle all that is due now. Only one caller at a time does this, so that
 * frames stay in order.
 */
static void wire_pipe_run(struct wire_pipe *pipe)
{
	struct wire_end *tell;
	struct sk_buff *skb;
	bool admitted;
	u64 now;

	rcu_read_lock_bh();
	spin_lock(&pipe->lock);
	if (pipe->running)
		goto out;
	pipe->running = true;
	for (;;) {
		now = ktime_get_ns();
		tell = wire_pipe_admit(pipe, now, &admitted);
		skb = wire_pipe_exit(pipe, now);
		if (!skb && !admitted)
			break;
		spin_unlock(&pipe->lock);
		if (tell)
			wire_pipe_tell(tell);
		if (skb)
			netif_receive_skb(skb);
		spin_lock(&pipe->lock);
	}
	pipe->running = false;
	wire_pipe_arm(pipe);
out:
	spin_unlock(&pipe->lock);
	rcu_read_unlock_bh();
}

static enum hrtimer_restart wire_pipe_timer(struct hrtimer *timer)
{
	struct wire_pipe *pipe = container_of(timer, struct wire_pipe, timer);

	spin_lock(&pipe->lock);
	pipe->armed = WIRE_NEVER;
	spin_unlock(&pipe->lock);
	wire_pipe_run(pipe);
	return HRTIMER_NORESTART;
}

/**
 * wire_pipe_enter() - a frame has arrived at an end with a pipeline
 * @end: the end
 * @skb: the frame, as eth_type_trans() leaves it
 *
 * Context: softirq, from the end's NAPI poll.
 */
void wire_pipe_enter(struct wire_end *end, struct sk_buff *skb)
{
	struct wire_input *in = &end->in;
	struct wire_pipe *pipe = in->pipe;
	u32 len = wire_cb(skb)->len;
	unsigned int prio;
	bool tell;
	u64 now;

	skb_reset_network_header(skb);
	if (is_link_local_ether_addr(eth_hdr(skb)->h_dest)) {
		netif_receive_skb(skb);
		return;
	}
	prio = wire_prio(skb);
	spin_lock(&pipe->lock);
	now = ktime_get_ns();
	if (in->conf.buffer && in->held[prio] + len > in->conf.buffer) {
		in->drops++;
		tell = wire_pipe_judge(in, prio, now);
		spin_unlock(&pipe->lock);
		if (tell)
			wire_pipe_tell(end);
		kfree_skb(skb);
		return;
	}
	in->held[prio] += len;
	in->peak = max(in->peak, in->held[prio]);
	/* From now on it may enter. */
	wire_cb(skb)->due = now;
	__skb_queue_tail(&in->queue, skb);
	if (list_empty(&in->turn))
		list_add_tail(&in->turn, &pipe->turns);
	tell = wire_pipe_judge(in, prio, now);
	spin_unlock(&pipe->lock);
	if (tell)
		wire_pipe_tell(end);
	wire_pipe_run(pipe);
}

/**
 * wire_pipe_sent() - a frame leaves an end with a pipeline
 * @end: the end
 * @skb: the frame
 *
 * Context: softirqs off, from ndo_start_xmit; under the lane's lock.
 */
void wire_pipe_sent(struct wire_end *end, struct sk_buff *skb)
{
	struct wire_input *in = &end->in;
	struct wire_pipe *pipe = in->pipe;
	unsigned int prio;

	spin_lock(&pipe->lock);
	if (skb->protocol == htons(ETH_P_PAUSE)) {
		wire_pipe_merge(in, skb);
	} else if (in->conf.stall) {
		prio = wire_prio(skb);
		in->held_out[prio] -= min(in->held_out[prio],
					  wire_cb(skb)->len);
	}
	if (pipe->stuck == end) {
		wire_pipe_go_on(pipe, ktime_get_ns());
		wire_pipe_arm(pipe);
	}
	spin_unlock(&pipe->lock);
}

/* ---- ends ---- */

/**
 * wire_pipe_join() - an end is set up
 * @end: the end
 *
 * Context: RTNL; the end receives nothing yet.
 */
void wire_pipe_join(struct wire_end *end)
{
	struct wire_input *in = &end->in;

	if (!in->conf.rate)
		return;
	memset(in->held, 0, sizeof(in->held));
	memset(in->held_out, 0, sizeof(in->held_out));
	memset(in->quanta, 0, sizeof(in->quanta));
	in->over = 0;
	WRITE_ONCE(in->pipe, net_generic(dev_net(end->dev), wire_pipe_id));
}

/**
 * wire_pipe_leave() - an end is taken down
 * @end: the end
 *
 * Context: RTNL; the end neither receives nor sends any more.
 */
void wire_pipe_leave(struct wire_end *end)
{
	struct wire_input *in = &end->in;
	struct wire_pipe *pipe = in->pipe;
	struct sk_buff *skb, *next;
	struct sk_buff_head list;

	if (!pipe)
		return;
	__skb_queue_head_init(&list);
	spin_lock_bh(&pipe->lock);
	WRITE_ONCE(in->pipe, NULL);
	if (pipe->stuck == end)
		wire_pipe_go_on(pipe, ktime_get_ns());
	list_del_init(&in->turn);
	skb_queue_splice_init(&in->queue, &list);
	skb_queue_walk_safe(&pipe->inside, skb, next) {
		if (skb->dev == end->dev) {
			__skb_unlink(skb, &pipe->inside);
			__skb_queue_tail(&list, skb);
		}
	}
	spin_unlock_bh(&pipe->lock);

	/* The timer may be passing the last frame of this end to the stack. */
	hrtimer_cancel(&pipe->timer);
	spin_lock_bh(&pipe->lock);
	pipe->armed = WIRE_NEVER;
	wire_pipe_arm(pipe);
	spin_unlock_bh(&pipe->lock);
	__skb_queue_purge(&list);
}

/* ---- namespaces ---- */

static int __net_init wire_pipe_net_init(struct net *net)
{
	struct wire_pipe *pipe = net_generic(net, wire_pipe_id);

	spin_lock_init(&pipe->lock);
	INIT_LIST_HEAD(&pipe->turns);
	__skb_queue_head_init(&pipe->inside);
	hrtimer_setup(&pipe->timer, wire_pipe_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	pipe->armed = WIRE_NEVER;
	return 0;
}

/* All ends have left. */
static void __net_exit wire_pipe_net_exit(struct net *net)
{
	struct wire_pipe *pipe = net_generic(net, wire_pipe_id);

	hrtimer_cancel(&pipe->timer);
	WARN_ON_ONCE(!list_empty(&pipe->turns));
	WARN_ON_ONCE(!skb_queue_empty(&pipe->inside));
}

static struct pernet_operations wire_pipe_net_ops = {
	.init	= wire_pipe_net_init,
	.exit	= wire_pipe_net_exit,
	.id	= &wire_pipe_id,
	.size	= sizeof(struct wire_pipe),
};

int __init wire_pipe_init(void)
{
	return register_pernet_subsys(&wire_pipe_net_ops);
}

void wire_pipe_exit_module(void)
{
	unregister_pernet_subsys(&wire_pipe_net_ops);
}
