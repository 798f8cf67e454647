// SPDX-License-Identifier: GPL-2.0
/*
 * Events of ports for user space: generic netlink, one message per event, to programs that
 * listen in the port's namespace (include/uapi/linux/bfc_event.h).
 *
 * Events happen under the root lock or bfc_port.lock, in softirq; messages take memory and wake
 * processes. So an event only stores the newest state of its kind, and a work sends it. A
 * neighbour may flap at will: the rate of a port's messages is bounded (BFC_EVENT_PER_SEC), each
 * message counts the changes before it that were not sent, and the last message has the state
 * that holds.
 *
 * Ports without a neighbour (bfc_port.bare) send no events, as nothing stops their work before
 * the device leaves its namespace.
 */
#include <linux/netdevice.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>
#include <net/netlink.h>

#include <linux/bfc_event.h>
#include "bfc.h"

static const struct genl_multicast_group bfc_event_groups[] = {
	{ .name = BFC_MCGRP_EVENTS },
};

static struct genl_family bfc_event_family __ro_after_init = {
	.name		= BFC_FAMILY_NAME,
	.version	= BFC_FAMILY_VERSION,
	.maxattr	= BFC_A_EVENT_MAX,
	.netnsok	= true,
	.module		= THIS_MODULE,
	.mcgrps		= bfc_event_groups,
	.n_mcgrps	= ARRAY_SIZE(bfc_event_groups),
};

/* ---- what happens ---- */

static void bfc_event_note_locked(struct bfc_port *port, unsigned int kind, u8 cmd, u8 prio,
				  u64 arg)
{
	struct bfc_events *e = &port->events;
	struct bfc_notice *n = &e->notice[kind];

	lockdep_assert_held(&e->lock);
	if (port->bare || e->closed)
		return;
	n->time = ktime_get_real_ns();
	n->arg = arg;
	n->seq = e->seq++;
	n->changes++;
	n->cmd = cmd;
	n->prio = prio;
	__set_bit(kind, &e->pending);
	if (!e->limited)
		mod_delayed_work(system_percpu_wq, &e->work, 0);
}

static void bfc_event_note(struct bfc_port *port, unsigned int kind, u8 cmd, u8 prio,
			   u64 arg)
{
	spin_lock_bh(&port->events.lock);
	bfc_event_note_locked(port, kind, cmd, prio, arg);
	spin_unlock_bh(&port->events.lock);
}

/**
 * bfc_event_neighbour() - note whether there is an agreement with the neighbour
 * @port: the port
 * @up: there is one, for the number of queues that the neighbour announced last. With `peer on`
 *	a neighbour without a HELLO counts as having as many as the port
 *
 * Context: port->lock held.
 */
void bfc_event_neighbour(struct bfc_port *port, bool up)
{
	u16 queues = up ? port->neighbour.peer.queues ?: port->queues : 0;

	lockdep_assert_held(&port->lock);
	/* A neighbour that starts over may be up again, with other queues, by the same HELLO. */
	if (port->events.up == queues)
		return;
	port->events.up = queues;
	bfc_event_note(port, BFC_EVENT_NEIGHBOUR,
		       up ? BFC_CMD_NEIGHBOUR_UP : BFC_CMD_NEIGHBOUR_DOWN,
		       BFC_EVENT_NO_PRIO, queues);
}

/**
 * bfc_event_handles() - note whether there are handles for the neighbour, or for what the port
 * holds
 * @port: the port
 * @refused: there are none
 *
 * Context: port->lock held.
 */
void bfc_event_handles(struct bfc_port *port, bool refused)
{
	lockdep_assert_held(&port->lock);
	if (refused && !port->events.refused)
		bfc_event_note(port, BFC_EVENT_HANDLES, BFC_CMD_HANDLES_EXHAUSTED,
			       BFC_EVENT_NO_PRIO, 0);
	port->events.refused = refused;
}

/**
 * bfc_event_queues() - a new flow found no queue that was empty
 * @port: the port
 *
 * Called for each such flow: all are counted, and the first since the last message makes a
 * notice.
 *
 * Context: under the root lock.
 */
void bfc_event_queues(struct bfc_port *port)
{
	struct bfc_events *e = &port->events;

	atomic_inc(&e->flows);
	smp_mb__after_atomic();	/* pairs with that in bfc_event_tell() */
	if (!atomic_read(&e->waits) && !atomic_xchg(&e->waits, 1))
		bfc_event_note(port, BFC_EVENT_QUEUES, BFC_CMD_QUEUES_EXHAUSTED,
			       BFC_EVENT_NO_PRIO, 0);
}

/**
 * bfc_event_storm() - the neighbour's pauses are ignored from now on, or obeyed again
 * @port: the port
 * @prio: of this priority
 * @prios: the mode has pauses for each priority
 * @storm: true: ignored from now on
 * @holdoff: ns for which they are ignored
 *
 * If each TX queue has a scheduler, each of these calls this alternately for the begin and the
 * end of a storm. The port's storm begins with the first of theirs that begins, and ends with
 * the last that ends.
 *
 * Context: under the root lock.
 */
void bfc_event_storm(struct bfc_port *port, unsigned int prio, bool prios, bool storm,
		     u64 holdoff)
{
	struct bfc_events *e = &port->events;

	spin_lock_bh(&e->lock);
	if (!(storm ? e->storms[prio]++ : --e->storms[prio]))
		bfc_event_note_locked(port, BFC_EVENT_STORM + prio,
				      storm ? BFC_CMD_STORM : BFC_CMD_RESTORE,
				      prios ? prio : BFC_EVENT_NO_PRIO, storm ? holdoff : 0);
	spin_unlock_bh(&e->lock);
}

/* ---- telling ---- */

static int bfc_event_fill(struct sk_buff *skb, const struct bfc_port *port,
			  const struct bfc_notice *n, u32 flows)
{
	void *hdr = genlmsg_put(skb, 0, 0, &bfc_event_family, 0, n->cmd);
	bool queues = n->cmd == BFC_CMD_QUEUES_EXHAUSTED;
	char name[IFNAMSIZ];

	/* Without RTNL the device may be renamed meanwhile: the name may then be a mix of both. */
	memcpy(name, port->dev->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	if (!hdr ||
	    nla_put_u32(skb, BFC_A_EVENT_IFINDEX, port->dev->ifindex) ||
	    nla_put_string(skb, BFC_A_EVENT_IFNAME, name) ||
	    nla_put_u64_64bit(skb, BFC_A_EVENT_TIME, n->time, BFC_A_EVENT_PAD) ||
	    (n->changes > 1 &&
	     nla_put_u32(skb, BFC_A_EVENT_HELD, n->changes - 1)) ||
	    (n->prio != BFC_EVENT_NO_PRIO &&
	     nla_put_u8(skb, BFC_A_EVENT_PRIO, n->prio)) ||
	    (n->cmd == BFC_CMD_STORM &&
	     nla_put_u64_64bit(skb, BFC_A_EVENT_HOLDOFF, n->arg, BFC_A_EVENT_PAD)) ||
	    (n->cmd == BFC_CMD_NEIGHBOUR_UP &&
	     nla_put_u32(skb, BFC_A_EVENT_QUEUES, n->arg)) ||
	    (queues && nla_put_u32(skb, BFC_A_EVENT_FLOWS, flows)))
		return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return 0;
}

/* Return: false if there is no memory: nothing was sent. */
static bool bfc_event_tell(struct bfc_port *port, struct bfc_notice *n)
{
	struct net *net = dev_net(port->dev);
	struct sk_buff *skb = NULL;
	u32 flows = 0;

	if (genl_has_listeners(&bfc_event_family, net, 0)) {
		skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
		if (!skb)
			return false;
	}
	if (n->cmd == BFC_CMD_QUEUES_EXHAUSTED) {
		/* A flow that comes now is counted in this message, or makes another notice. If
		 * it does both, that notice may find no flow left.
		 */
		atomic_set(&port->events.waits, 0);
		smp_mb();	/* pairs with that in bfc_event_queues() */
		flows = atomic_xchg(&port->events.flows, 0);
		if (!flows) {
			nlmsg_free(skb);
			return true;
		}
		n->time = ktime_get_real_ns();
	}
	if (!skb)
		return true;
	if (WARN_ON_ONCE(bfc_event_fill(skb, port, n, flows)))
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(&bfc_event_family, net, skb, 0, 0, GFP_KERNEL);
	return true;
}

/* The kind of the oldest pending notice, except queues_exhausted if that is not due. @wait:
 * jiffies until it is.
 */
static unsigned int bfc_event_oldest(const struct bfc_events *e, bool all, u64 now,
				     unsigned long *wait)
{
	unsigned int kind, first = BFC_EVENT_MAX;

	for_each_set_bit(kind, &e->pending, BFC_EVENT_MAX) {
		if (kind == BFC_EVENT_QUEUES && !all && now < e->queues_next) {
			*wait = nsecs_to_jiffies(e->queues_next - now) + 1;
			continue;
		}
		if (first == BFC_EVENT_MAX ||
		    (s32)(e->notice[kind].seq - e->notice[first].seq) < 0)
			first = kind;
	}
	return first;
}

/* Take the oldest notice that may be sent; with @all the bounds are ignored. Return: its kind,
 * or BFC_EVENT_MAX if there is none.
 */
static unsigned int bfc_event_take(struct bfc_events *e, struct bfc_notice *n, bool all,
				   unsigned long *wait)
{
	u64 now = ktime_get_ns();
	unsigned int kind;

	spin_lock_bh(&e->lock);
	*wait = MAX_JIFFY_OFFSET;
	kind = bfc_event_oldest(e, all, now, wait);
	e->limited = !all && kind != BFC_EVENT_MAX && kind != BFC_EVENT_QUEUES &&
		     !bfc_bucket_take_n(&e->bucket, now, BFC_EVENT_PER_SEC,
					BFC_EVENT_BURST, 1);
	if (e->limited) {
		kind = test_bit(BFC_EVENT_QUEUES, &e->pending) &&
		       *wait == MAX_JIFFY_OFFSET ? BFC_EVENT_QUEUES : BFC_EVENT_MAX;
		*wait = min_t(unsigned long, *wait, HZ / BFC_EVENT_PER_SEC);
	}
	if (kind != BFC_EVENT_MAX) {
		*n = e->notice[kind];
		e->notice[kind].changes = 0;
		__clear_bit(kind, &e->pending);
	}
	if (kind == BFC_EVENT_QUEUES)
		e->queues_next = now + BFC_EVENT_QUEUES_EVERY;
	spin_unlock_bh(&e->lock);
	return kind;
}

/* Put a notice back that could not be sent; a newer one of its kind counts its changes. */
static void bfc_event_put_back(struct bfc_events *e, unsigned int kind,
			       const struct bfc_notice *n)
{
	spin_lock_bh(&e->lock);
	if (__test_and_set_bit(kind, &e->pending))
		e->notice[kind].changes += n->changes;
	else
		e->notice[kind] = *n;
	spin_unlock_bh(&e->lock);
}

static void bfc_event_work(struct work_struct *work)
{
	struct bfc_events *e = container_of(to_delayed_work(work), struct bfc_events, work);
	struct bfc_port *port = container_of(e, struct bfc_port, events);
	struct bfc_notice n;
	unsigned long wait;
	unsigned int kind;

	while ((kind = bfc_event_take(e, &n, false, &wait)) != BFC_EVENT_MAX) {
		if (bfc_event_tell(port, &n))
			continue;
		bfc_event_put_back(e, kind, &n);
		wait = HZ / BFC_EVENT_PER_SEC;
		break;
	}
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(system_percpu_wq, &e->work, wait);
}

/**
 * bfc_events_start() - init the events of a new port
 * @port: the port
 */
void bfc_events_start(struct bfc_port *port)
{
	spin_lock_init(&port->events.lock);
	INIT_DELAYED_WORK(&port->events.work, bfc_event_work);
}

/**
 * bfc_events_stop() - send the events that are left, and none after them
 * @port: one that was taken out of service
 *
 * Context: process, RTNL: the device is still in its namespace.
 */
void bfc_events_stop(struct bfc_port *port)
{
	struct bfc_events *e = &port->events;
	struct bfc_notice n;
	unsigned long wait;

	spin_lock_bh(&e->lock);
	e->closed = true;
	spin_unlock_bh(&e->lock);
	cancel_delayed_work_sync(&e->work);
	/* If there is no memory for a message it is lost. */
	while (bfc_event_take(e, &n, true, &wait) != BFC_EVENT_MAX)
		bfc_event_tell(port, &n);
}

/**
 * bfc_event_init() - at module load, before there are ports
 *
 * Return: 0 or an error.
 */
int __init bfc_event_init(void)
{
	return genl_register_family(&bfc_event_family);
}

/**
 * bfc_event_exit() - at module unload, no port is left
 */
void bfc_event_exit(void)
{
	genl_unregister_family(&bfc_event_family);
}
