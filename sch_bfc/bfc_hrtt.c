// SPDX-License-Identifier: GPL-2.0
/*
 * hrtt auto: each port times its pauses (bfc_hrtt.h). As it builds frames it picks one queue of
 * its neighbour at a time to watch, or one priority. bfc_hrtt_use.c applies the results.
 */
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

#include "bfc.h"

/* hrtt-max auto: twice the time of 100 km of cable there and back, and a TX ring. */
#define BFC_HRTT_MAX_CABLE	2000000ULL	/* ns */
/* 10 km where other ports bear the cost. */
#define BFC_HRTT_MAX_SHARED	BFC_HRTT_DEFAULT
#define BFC_HRTT_MAX_FRAMES	16

struct delayed_work bfc_hrtt_look;	/* bfc_hrtt_use.c says what it does */
unsigned long bfc_hrtt_looked;	/* jiffies when it ran last; READ_ONCE(), WRITE_ONCE() */

/**
 * bfc_hrtt_look_soon() - check all ports soon, as the measurement of one may have changed
 * @port: one of the namespace
 *
 * At once if no HRTT is known, but once in BFC_HRTT_EVERY at most, as RTNL is taken: a stranger's
 * HELLOs lead here, and need make no HRTT known.
 */
void bfc_hrtt_look_soon(const struct bfc_port *port)
{
	unsigned long since = jiffies - READ_ONCE(bfc_hrtt_looked), delay = BFC_HRTT_EVERY;

	if (!READ_ONCE(port->sw->hrtt))
		delay = since < BFC_HRTT_EVERY ? BFC_HRTT_EVERY - since : 1;

	queue_delayed_work(system_percpu_wq, &bfc_hrtt_look, delay);
}

/**
 * bfc_hrtt_look_later() - check all ports later, as there may be room for what one was refused
 */
void bfc_hrtt_look_later(void)
{
	queue_delayed_work(system_percpu_wq, &bfc_hrtt_look, BFC_HRTT_EVERY);
}

/**
 * bfc_hrtt_forget() - forget the measurement, which is of another neighbour
 * @port: the port
 *
 * Context: port->tx.lock held.
 */
void bfc_hrtt_forget(struct bfc_port *port)
{
	lockdep_assert_held(&port->tx.lock);
	WRITE_ONCE(port->watched, BFC_WATCH_NONE);
	memset(&port->tx.hrtt, 0, sizeof(port->tx.hrtt));
}

/**
 * bfc_hrtt_another() - forget the measurement and the round trip of HELLOs: there is another
 * neighbour
 * @port: the port
 *
 * Context: BH off.
 */
void bfc_hrtt_another(struct bfc_port *port)
{
	spin_lock(&port->tx.lock);
	bfc_hrtt_forget(port);
	port->tx.rtt = 0;
	WRITE_ONCE(port->tx.seen.proved, 0);
	spin_unlock(&port->tx.lock);
}

/**
 * bfc_hrtt_unlearn() - as bfc_hrtt_another(), and do not use the measured loop any more
 * @port: the port
 *
 * Context: RTNL.
 */
void bfc_hrtt_unlearn(struct bfc_port *port)
{
	ASSERT_RTNL();
	port->life.loop = 0;
	local_bh_disable();
	bfc_hrtt_another(port);
	local_bh_enable();
}

/* ns that the frames of a TX ring take */
static u64 bfc_hrtt_ring(const struct bfc_port *port, u64 link_rate)
{
	return div64_u64((u64)BFC_HRTT_MAX_FRAMES * psched_mtu(port->dev) * BFC_NSEC_PER_SEC,
			 link_rate);
}

/* hrtt-max of a port; auto: @cable, and the frames of a TX ring. */
static u64 bfc_hrtt_bound(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate,
			  u64 cable)
{
	u64 most = p->hrtt_max ?: cable + bfc_hrtt_ring(port, link_rate);

	return clamp_t(u64, most, BFC_HRTT_MIN, BFC_HRTT_MAX);
}

/**
 * bfc_hrtt_most() - the longest loop that a port accepts
 * @port: the port
 * @p: its options
 * @link_rate: of its MAC, bytes/s
 *
 * Return: ns.
 */
u64 bfc_hrtt_most(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate)
{
	return bfc_hrtt_bound(port, p, link_rate, BFC_HRTT_MAX_CABLE);
}

/**
 * bfc_hrtt_most_shared() - the longest loop of a port whose cost other ports bear
 * @port: the port
 * @p: its options
 * @link_rate: of its MAC, bytes/s
 *
 * A host's follows from HELLOs alone, which it may answer late, and would raise Th of all ports.
 * In a shared buffer, headroom that is set aside is lost to the other ports.
 *
 * Return: ns.
 */
u64 bfc_hrtt_most_shared(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate)
{
	return bfc_hrtt_bound(port, p, link_rate, BFC_HRTT_MAX_SHARED);
}

/**
 * bfc_hrtt_aside() - the loop that headroom is set aside for in a shared buffer
 * @port: the port
 * @p: its options
 * @link_rate: of its MAC, bytes/s
 * @loop: the loop in use, ns
 *
 * Return: ns.
 */
u64 bfc_hrtt_aside(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate,
		   u64 loop)
{
	return p->hrtt ?: min(loop, bfc_hrtt_most_shared(port, p, link_rate));
}

/**
 * bfc_hrtt_longest() - the longest loop that a link may have
 * @port: the port
 * @p: its options
 * @link_rate: of its MAC, bytes/s
 * @loop: the loop in use, ns
 *
 * Until a loop is measured it is bfc_hrtt_most(). In a shared buffer, where that is not for free,
 * it is the round trip of HELLOs and a TX ring if these are answered: by HELLOs a neighbour need
 * not prove that it obeys. One that has been seen not to obey would only fill the headroom.
 *
 * Context: RTNL.
 * Return: ns.
 */
u64 bfc_hrtt_longest(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate,
		     u64 loop)
{
	bool open = !port->bare && READ_ONCE(port->tx.seen.proved) >= 0 &&
		    (!p->max || p->dynamic);
	u64 most = bfc_hrtt_most(port, p, link_rate), rtt = READ_ONCE(port->tx.seen.rtt);

	if (p->hrtt || port->life.loop)
		return loop;
	if (*p->buffer) {
		loop = bfc_hrtt_aside(port, p, link_rate, loop);
		if (rtt)
			most = min(most, rtt + bfc_hrtt_ring(port, link_rate));
	}
	return open ? max(most, loop) : loop;
}

static bool bfc_hrtt_is_paused(const struct bfc_port *port)
{
	u16 what = port->watched;

	if (what & BFC_WATCH_PRIO)
		return port->tx.prio_paused & BIT(what & ~BFC_WATCH_PRIO);
	return test_bit(what - 1, port->tx.paused);
}

/* True if the measurement has changed enough to check all ports. */
static bool bfc_hrtt_is_news(const struct bfc_port *port)
{
	const struct bfc_hrtt *h = &port->tx.hrtt;

	return bfc_hrtt_differs(port->tx.seen.rtt, port->tx.rtt) ||
	       bfc_hrtt_differs(port->tx.seen.hrtt, bfc_hrtt_known(h)) ||
	       bfc_hrtt_differs(port->tx.seen.room, bfc_hrtt_room(h)) ||
	       port->tx.seen.proved != h->proved;
}

/**
 * bfc_hrtt_told() - a frame that pauses queues or priorities is built
 * @port: the port; port->tx.paused or port->tx.prio_paused are as in the frame
 * @cfg: its configuration
 * @fresh: one that was not paused in the frame before: VLAN id of a queue, BFC_WATCH_PRIO |
 *	   priority, or BFC_WATCH_NONE
 * @since: when its pause became due, ns: the neighbour has gone on to send since then
 * @now: ns
 *
 * Context: port->tx.lock held, BH off; any root lock may be held.
 */
void bfc_hrtt_told(struct bfc_port *port, const struct bfc_cfg *cfg, u16 fresh, u64 since,
		   u64 now)
{
	struct bfc_hrtt *h = &port->tx.hrtt;
	u64 most;

	lockdep_assert_held(&port->tx.lock);
	if (port->watched != BFC_WATCH_NONE) {
		if (bfc_hrtt_frame(h, bfc_hrtt_is_paused(port),
				   READ_ONCE(port->opt.refresh), port->tx.rtt, now))
			return;
		WRITE_ONCE(port->watched, BFC_WATCH_NONE);
	}
	if (!cfg->p.hrtt && bfc_hrtt_is_news(port))
		bfc_hrtt_look_soon(port);
	if (fresh == BFC_WATCH_NONE)
		return;
	most = port->tx.rtt ? 0 : bfc_hrtt_most(port, &cfg->p,
						READ_ONCE(port->link_rate));
	bfc_hrtt_begin(h, most, min(since, now));
	WRITE_ONCE(port->watched, fresh);
}

/**
 * bfc_hrtt_over() - a timed pause of a priority is over
 * @port: the port
 * @prio: the priority
 * @until: when, ns
 *
 * Context: port->tx.lock held.
 */
void bfc_hrtt_over(struct bfc_port *port, unsigned int prio, u64 until)
{
	lockdep_assert_held(&port->tx.lock);
	if (port->watched == (BFC_WATCH_PRIO | prio) &&
	    !bfc_hrtt_frame(&port->tx.hrtt, false, READ_ONCE(port->opt.refresh),
			    port->tx.rtt, until))
		WRITE_ONCE(port->watched, BFC_WATCH_NONE);
}

/**
 * bfc_hrtt_came() - a packet of the watched queue or priority came in
 * @port: the port
 * @what: as &bfc_port.watched
 *
 * Context: softirq, from the hook or under the root lock of an egress.
 */
void bfc_hrtt_came(struct bfc_port *port, u16 what)
{
	u64 now, until;

	spin_lock(&port->tx.lock);
	now = ktime_get_ns();
	if (what & BFC_WATCH_PRIO) {
		until = port->tx.until[what & ~BFC_WATCH_PRIO];
		if (until && until <= now)
			bfc_hrtt_over(port, what & ~BFC_WATCH_PRIO, until);
	}
	if (port->watched != what)
		goto out;
	if (!bfc_hrtt_packet(&port->tx.hrtt, port->tx.rtt, now))
		WRITE_ONCE(port->watched, BFC_WATCH_NONE);
out:
	spin_unlock(&port->tx.lock);
}

/**
 * bfc_hrtt_heard() - a HELLO came in, which has a round trip time
 * @port: the port
 *
 * Context: port->lock held.
 */
void bfc_hrtt_heard(struct bfc_port *port)
{
	lockdep_assert_held(&port->lock);
	spin_lock(&port->tx.lock);
	port->tx.rtt = port->neighbour.peer.rtt_now;
	if (!port->cfg->p.hrtt && bfc_hrtt_is_news(port))
		bfc_hrtt_look_soon(port);
	spin_unlock(&port->tx.lock);
}
