// SPDX-License-Identifier: GPL-2.0
/*
 * The neighbour of a port: the agreement with it, and the counters for its queues. bfc_peer.h is
 * the state machine of HELLOs; bfc_hello.c sends them.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include <linux/bfc_version.h>
#include "bfc.h"
#include "bfc_trace.h"

#define BFC_LINGER	(5 * HZ)	/* over BFC_PEER_DEAD_NS */

/* True if the port has counters. Ports that send no pauses have none: a NIC (BFC §5), and a port
 * without a qdisc, with one that is not configured yet, or with one that a request holds after
 * the device has gone. Without a neighbour there are counters for no queue: their handle tells
 * egress ports which port brought a packet, so that a host without bfc shares queues with
 * itself. In a mode that pauses priorities a port with counters sends frames: it has none if
 * nothing is charged to it.
 */
static bool bfc_port_counts(const struct bfc_port *port)
{
	return port->opt.role != BFC_ROLE_NIC && !port->bare && port->life.users && port->cfg &&
	       !port->life.unplugged && (!port->cfg->fc->prios || bfc_cfg_holds(port->cfg));
}

/* True if it must be reported that there are no counters for @queues queues. */
static bool bfc_port_needs(const struct bfc_port *port, unsigned int queues)
{
	return queues || bfc_cfg_holds(port->cfg);
}

static bool bfc_pause_fits(const struct bfc_port *port, unsigned int queues)
{
	return bfc_pause_len(queues) <= port->dev->mtu + ETH_HLEN;
}

/**
 * bfc_port_outgrown() - check if PAUSE frames for the port's counters exceed the MTU by now
 * @port: the port
 *
 * Context: port->lock held.
 * Return: true if so: the port cannot pause its neighbour, and has to start over with it.
 */
bool bfc_port_outgrown(const struct bfc_port *port)
{
	const struct bfc_ingress *ing = bfc_ingress_of(port);

	return ing && !bfc_pause_fits(port, ing->queues);
}

/* Cause and remedy */
static const char * const bfc_refused_words[] = {
	[BFC_REFUSED_QUEUES] = "no port here has so many, lower queues there",
	[BFC_REFUSED_HANDLES] = "the handles of this namespace are used up, lower queues at neighbours or spread the ports over namespaces",
	[BFC_REFUSED_MTU] = "its pauses do not fit the MTU, raise it or lower queues there",
	[BFC_REFUSED_MEMORY] = "no memory",
	[BFC_REFUSED_WAIT] = "it changes its queues too often, or packets of the queues before still wait",
};

/**
 * bfc_port_refuse() - tell why a neighbour is not served
 * @port: the port
 * @queues: of the neighbour
 * @why: BFC_REFUSED_*
 *
 * Context: port->lock held.
 */
void bfc_port_refuse(struct bfc_port *port, unsigned int queues, u8 why)
{
	if (why == BFC_REFUSED_HANDLES)
		bfc_event_handles(port, true);
	if (why != BFC_REFUSED_WAIT)
		net_warn_ratelimited("bfc: %s: cannot count for a neighbour with %u queues, nor pause it: %s\n",
				     port->dev->name, queues,
				     bfc_refused_words[why]);
}

/**
 * bfc_port_layout() - new pause counters for a neighbour's queues
 * @port: the port
 * @queues: of the neighbour; 0: only what the port holds is counted
 *
 * Packets that hold counts of the old counters keep them: these counters live until the last
 * count is given back, but pause no queue any more. The bytes of these packets go on to count
 * against what the port may hold (&struct bfc_charges). If there can be no counters for @queues
 * queues, there are counters for no queue.
 *
 * Context: port->lock held.
 * Return: 0, or why the neighbour's queues cannot be counted: BFC_REFUSED_*.
 */
u8 bfc_port_layout(struct bfc_port *port, unsigned int queues)
{
	struct bfc_ingress *old, *new = NULL;
	u8 refused = BFC_REFUSED_NOT, ignored;

	lockdep_assert_held(&port->lock);
	if (bfc_port_counts(port)) {
		port->neighbour.layouts++;
		if (bfc_pause_fits(port, queues))
			new = bfc_ingress_new(port, queues, &refused);
		else
			refused = BFC_REFUSED_MTU;
		if (refused && queues)
			new = bfc_ingress_new(port, 0, &ignored);
		if (refused && refused != port->neighbour.refused && bfc_port_needs(port, queues))
			bfc_port_refuse(port, queues, refused);
		if (!refused && bfc_port_needs(port, queues))
			bfc_event_handles(port, false);
	}
	old = bfc_ingress_of(port);
	rcu_assign_pointer(port->ingress, new);
	if (old)
		bfc_ingress_retire(port, old);
	return refused;
}

/* The neighbour has gone, and with it the want of handles for its queues; not for what the port
 * holds.
 */
static void bfc_port_served(struct bfc_port *port)
{
	port->neighbour.refused = BFC_REFUSED_NOT;
	if (!port->cfg || !bfc_cfg_holds(port->cfg))
		bfc_event_handles(port, false);
}

/**
 * bfc_port_left() - give the handles for the neighbour's queues back, as it has gone
 * @port: the port
 *
 * With `peer on` the next neighbour need not send HELLOs, and has as many queues as the port. Its
 * counters are changed once for each change that a HELLO has made, which are few (@news).
 *
 * Context: port->lock held.
 */
void bfc_port_left(struct bfc_port *port)
{
	const struct bfc_ingress *ing = bfc_ingress_of(port);

	if (!port->fc->tags || port->opt.peer == BFC_PEER_OFF)
		return;
	if (port->opt.peer == BFC_PEER_ON) {
		if (ing && ing->queues != port->queues)
			port->neighbour.refused = bfc_port_layout(port, port->queues);
		return;
	}
	/* Counters for no queue stay: a neighbour that comes and goes gets no new ones. */
	if (!ing || ing->queues)
		bfc_port_layout(port, 0);
	bfc_port_served(port);
}

/**
 * bfc_port_class() - update whether packets keep the class that the neighbour sends
 * @port: the port
 *
 * Context: port->lock held.
 */
void bfc_port_class(struct bfc_port *port)
{
	struct bfc_ingress *ing = bfc_ingress_of(port);

	lockdep_assert_held(&port->lock);
	if (ing)
		WRITE_ONCE(ing->classed, bfc_port_keeps_class(port));
}

/**
 * bfc_port_unroot() - forget the roots that the neighbour sent
 * @port: the port
 *
 * Context: port->lock held.
 */
void bfc_port_unroot(struct bfc_port *port)
{
	unsigned int queue;

	lockdep_assert_held(&port->lock);
	for (queue = 0; queue < BFC_QUEUES_MAX; queue++)
		WRITE_ONCE(port->root[queue], BFC_ROOT_UNKNOWN);
}

/**
 * bfc_port_unpause() - forget the pauses of a neighbour that can resume nothing any more
 * @port: the port
 *
 * Context: port->lock held.
 */
void bfc_port_unpause(struct bfc_port *port)
{
	unsigned int i;

	lockdep_assert_held(&port->lock);
	for (i = 0; i < ARRAY_SIZE(port->rx.paused); i++)
		WRITE_ONCE(port->rx.paused[i], 0);
	bfc_port_unroot(port);
	for (i = 0; i < ARRAY_SIZE(port->rx.until); i++)
		WRITE_ONCE(port->rx.until[i], 0);
	WRITE_ONCE(port->rx.t_hop, 0);
	/* The pauses of the next one are no storm yet: bfc_watch_anew() */
	WRITE_ONCE(port->rx.parted, port->rx.parted + 1);
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx.gen, port->rx.gen + 1);
	if (port->life.users)
		bfc_port_wake(port);
}

/* Pop the tags of @queues queues. If these are fewer than before, those of the others for some time
 * yet: the neighbour goes on to tag until it has noticed, and its HELLO may overtake packets in
 * another TX or RX queue. Only this hook takes such tags off.
 */
static void bfc_port_pop(struct bfc_port *port, u16 queues)
{
	if (queues >= (port->pop ? port->pop_max : 0)) {
		WRITE_ONCE(port->pop_max, queues);
		WRITE_ONCE(port->pop, queues);
		port->neighbour.lingers = false;
	} else if (!port->neighbour.lingers || queues != port->neighbour.pops) {
		port->neighbour.lingers = true;
		port->neighbour.linger = jiffies + BFC_LINGER;
		bfc_sweep_soon();
	}
	port->neighbour.pops = queues;
}

/**
 * bfc_port_lingered() - tags of a neighbour that has gone, or of its former queues, come no more
 * @port: the port
 *
 * Context: port->lock held.
 */
void bfc_port_lingered(struct bfc_port *port)
{
	port->neighbour.lingers = false;
	if (port->neighbour.pops)
		WRITE_ONCE(port->pop_max, port->neighbour.pops);
	else
		WRITE_ONCE(port->pop, false);
}

/**
 * bfc_port_tags() - tag, pop and pause as the state of the neighbour allows
 * @port: the port
 *
 * Modes that pause priorities do not wait for an agreement: a neighbour that obeys PFC need not
 * speak BFC.
 *
 * Context: port->lock held, BH off.
 */
void bfc_port_tags(struct bfc_port *port)
{
	bool talks = port->life.users && port->cfg &&
		     port->opt.peer != BFC_PEER_OFF;
	bool forced = port->opt.peer == BFC_PEER_ON;
	const struct bfc_fc_ops *fc = port->fc;
	u8 state = port->neighbour.peer.state;
	bool lived = port->live, was_told = port->told;
	bool agreed, tags, pop, live, told, up;

	lockdep_assert_held(&port->lock);
	agreed = bfc_carrier(port->dev) &&
		 (forced || state == BFC_PEER_STATE_UP);
	pop = talks && fc->tags && (forced || port->neighbour.peer.modes & fc->hello);
	tags = pop && agreed && !port->neighbour.refused;
	told = talks && fc->prios && fc->hello && agreed &&
	       (forced || port->neighbour.peer.modes & fc->hello);
	up = talks && fc->hello && agreed && !port->neighbour.refused;
	live = tags || (talks && fc->prios && bfc_carrier(port->dev));
	bfc_port_pop(port, pop ? port->neighbour.peer.queues ?: port->queues : 0);

	if (!live)
		bfc_port_unpause(port);
	else if (told != was_told)
		/* But storms go on: who pauses for ever could say BYE before each is found. */
		WRITE_ONCE(port->rx.t_hop, 0);
	/* A neighbour that sends HELLOs need not prove that it obeys pauses; the next one may
	 * have to.
	 */
	if (!live || told != was_told)
		bfc_hrtt_another(port);
	bfc_hrtt_look_soon(port);
	WRITE_ONCE(port->tags, tags);
	WRITE_ONCE(port->told, told);
	WRITE_ONCE(port->live, live);
	if (!live || !bfc_refreshes(port)) {
		/* bfc_pause_build() reads port->live under this lock */
		spin_lock(&port->tx.lock);
		port->tx.npaused = 0;
		port->tx.built = 0;
		spin_unlock(&port->tx.lock);
	}
	if (live && !lived) {
		clear_bit(BFC_PORT_DIRTY, &port->flags);
		if (port->opt.role == BFC_ROLE_SWITCH) {
			bfc_port_mark_dirty(port);
			/* The device may not have our qdisc yet: look again until
			 * a frame is built.
			 */
			bfc_refresh_start(port);
		}
	} else if (live && told != was_told && port->opt.role == BFC_ROLE_SWITCH) {
		bfc_port_mark_dirty(port);	/* one that has started over knows no pause */
	}
	/* Once: later agreements are events, and a neighbour can begin anew at will. */
	if (up && !port->neighbour.logged && bfc_may_log(port->dev)) {
		netdev_info(port->dev, "bfc %s: the neighbour has %u queues\n", BFC_RELEASE,
			    port->neighbour.peer.queues ?: port->queues);
		port->neighbour.logged = true;
	}
	bfc_event_neighbour(port, up);
	trace_bfc_peer(port->dev, state, port->neighbour.peer.queues, tags, port->pop);
}

/**
 * bfc_port_retry() - try again to get counters if there was no memory or no handle
 * @port: the port
 *
 * These are counters for no queue, which packets are charged to and which tell the port from
 * others; or those for the queues of a neighbour that need not send HELLOs (`peer on`). For a
 * neighbour that sends HELLOs the next one, which says how many queues it has, tries again.
 *
 * Context: port->lock held, BH off.
 * Return: true if there are still none.
 */
bool bfc_port_retry(struct bfc_port *port)
{
	bool forced = port->fc->tags && port->neighbour.refused &&
		      port->opt.peer == BFC_PEER_ON && !port->neighbour.peer.peer_nonce;
	u8 refused;

	if (!(forced || !rcu_access_pointer(port->ingress)) || !bfc_port_counts(port))
		return false;
	refused = bfc_port_layout(port, forced ? port->queues : 0);
	if (forced)
		port->neighbour.refused = refused;
	if (refused)
		return true;
	if (forced)
		bfc_port_tags(port);
	bfc_refresh_start(port);
	return false;
}

/**
 * bfc_port_restart() - start over with the neighbour
 * @port: the port
 * @unplugged: the carrier came or went: there may be another neighbour, and no frame
 *	       of the one before is on the link
 *
 * Context: process, RTNL.
 */
void bfc_port_restart(struct bfc_port *port, bool unplugged)
{
	u64 id = ether_addr_to_u64(port->dev->dev_addr) << 16 |
		 (port->dev->ifindex & 0xffff);

	bfc_hrtt_unlearn(port);
	spin_lock_bh(&port->lock);
	bfc_peer_restart(&port->neighbour.peer, id, get_random_u32() ?: 1,
			 get_random_u64());
	WRITE_ONCE(port->neighbour.epoch, get_random_u32());
	port->rx.seq = 0;
	port->neighbour.tries = 0;
	bfc_port_served(port);
	port->neighbour.news.filled = ktime_get_ns();
	port->neighbour.news.tokens = BFC_LAYOUT_BURST;
	WRITE_ONCE(port->live, false);
	/* The same neighbour does not know, and its priorities stay paused: it may have no room. */
	if (unplugged || !port->fc->prios)
		bfc_port_unpause(port);
	else
		WRITE_ONCE(port->rx.t_hop, 0);
	/* Without a carrier no new neighbour can send, but frames of the old one
	 * may still be on their way up.
	 */
	if (unplugged && netif_carrier_ok(port->dev))
		WRITE_ONCE(port->pop, false);
	if (port->fc->tags && port->opt.peer == BFC_PEER_ON)
		port->neighbour.refused = bfc_port_layout(port, port->queues);
	else
		bfc_port_layout(port, 0);
	bfc_port_tags(port);
	spin_unlock_bh(&port->lock);
	mod_delayed_work(system_percpu_wq, &port->neighbour.hello, 0);
}
