// SPDX-License-Identifier: GPL-2.0
/*
 * Ports that have pauses to send: when a frame is built, and how often it is
 * repeated.
 *
 * Counting happens under the root lock of the egress port; the frame must
 * leave through the ingress port, and its root lock must not be taken then. So
 * a change only sets that port's dirty bit, and the frame is sent by whichever
 * comes first:
 *
 *  - the ingress hook, which runs for the next packet of the same NAPI round
 *    and holds no root lock (bfc_kick_dirty()),
 *  - NET_TX, which bfc_port_mark_dirty() raises,
 *  - the port's own next dequeue.
 *
 * Dequeue builds the frame at the moment it is sent, from the counters as
 * they are then: clear dirty, full barrier, read. A change that the read
 * misses sets the bit again. The wire thus always carries the newest set, and
 * changes in between coalesce.
 *
 * Where each TX queue has a scheduler, the dequeue of any of them may build the frame; with
 * modes that pause priorities only that of the first (bfc_port_in_order()).
 */
#include "bfc.h"

/* Ports by &bfc_port.id, for users that may find a port gone. Written under RTNL. */
DEFINE_XARRAY_ALLOC1(bfc_port_ids);

/* Ports that this CPU made dirty, by id, until the next packet comes in.
 * Overflow is harmless: NET_TX runs the others.
 *
 * @lock: for PREEMPT_RT, where a task with bottom halves off may be preempted;
 * otherwise bottom halves off protect this CPU's list.
 */
#define BFC_PENDING_MAX	16

struct bfc_pending {
	local_lock_t lock;
	unsigned int n;
	u32 id[BFC_PENDING_MAX];
};

static DEFINE_PER_CPU(struct bfc_pending, bfc_pending) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/**
 * bfc_refreshes() - check if a port repeats its frames
 * @port: the port
 *
 * Return: true if so; false also if it has no counters, as when no priority is lossless.
 */
bool bfc_refreshes(const struct bfc_port *port)
{
	return READ_ONCE(port->live) &&
	       READ_ONCE(port->opt.role) == BFC_ROLE_SWITCH &&
	       rcu_access_pointer(port->ingress);
}

/**
 * bfc_refresh_start() - start the refresh timer of a port, if it repeats its frames
 * @port: the port
 */
void bfc_refresh_start(struct bfc_port *port)
{
	u64 ns = READ_ONCE(port->tx.quick) ? READ_ONCE(port->opt.quick) :
					     READ_ONCE(port->opt.refresh);

	if (bfc_refreshes(port))
		hrtimer_start(&port->tx.refresh, ns_to_ktime(ns),
			      HRTIMER_MODE_REL_SOFT);
}

/**
 * bfc_port_mark_dirty() - the set of paused upstream queues changed
 * @port: the ingress port; the caller holds RCU or keeps it alive otherwise
 *
 * Context: BH off; any root lock may be held.
 */
void bfc_port_mark_dirty(struct bfc_port *port)
{
	struct bfc_pending *pending;

	DEBUG_NET_WARN_ON_ONCE(!in_softirq());
	if (test_and_set_bit(BFC_PORT_DIRTY, &port->flags))
		return;
	WRITE_ONCE(port->tx.dirty_since, ktime_get_ns());
	bfc_port_run(port);
	/* NET_TX forgets the qdisc of a deactivated device, as it is while tc adds a clsact;
	 * newer kernels do not reset the qdisc then, so that nothing schedules it again. The
	 * timer does; building a frame restarts or cancels it.
	 */
	if (!hrtimer_active(&port->tx.refresh))
		bfc_refresh_start(port);
	local_lock(&bfc_pending.lock);
	pending = this_cpu_ptr(&bfc_pending);
	if (pending->n < BFC_PENDING_MAX)
		pending->id[pending->n++] = port->id;
	local_unlock(&bfc_pending.lock);
}

/**
 * bfc_refresh_timer() - repeat the newest set
 * @timer: of the port
 *
 * Makes up for lost frames: repeats while anything is paused, and a few times
 * after the last resume.
 *
 * Runs until a frame is built that leaves nothing to repeat: a wake-up may get lost while the
 * qdisc is being replaced, or there may be no memory for the frame.
 *
 * Return: HRTIMER_NORESTART; it has been started again.
 */
enum hrtimer_restart bfc_refresh_timer(struct hrtimer *timer)
{
	struct bfc_port *port = container_of(timer, struct bfc_port, tx.refresh);

	if (!bfc_refreshes(port))
		return HRTIMER_NORESTART;
	if (!test_and_set_bit(BFC_PORT_DIRTY, &port->flags))
		WRITE_ONCE(port->tx.dirty_since, ktime_get_ns());
	bfc_port_run(port);
	/* Not hrtimer_forward(): dequeue may have started it meanwhile. */
	bfc_refresh_start(port);
	return HRTIMER_NORESTART;
}

/**
 * bfc_pause_repeat() - a frame was built that pauses priorities until XON:
 * repeat it
 * @port: the port
 * @over: priorities paused until XON, bit p: priority p
 * @hold: ns: how long such a pause lasts without another frame
 * @now: ns
 *
 * A change is repeated soon, as the frame may get lost. The end of the last
 * pause is repeated until that pause would have ended by itself.
 *
 * Context: port->tx.lock held, before bfc_pause_sent().
 */
void bfc_pause_repeat(struct bfc_port *port, u8 over, u64 hold, u64 now)
{
	lockdep_assert_held(&port->tx.lock);
	if (over)
		port->tx.void_ns = now + hold;
	if (over == port->tx.over) {
		if (port->tx.quick)
			WRITE_ONCE(port->tx.quick, port->tx.quick - 1);
		return;
	}
	port->tx.over = over;
	WRITE_ONCE(port->tx.quick, BFC_QUICK_REFRESHES);
	bfc_refresh_start(port);
}

/**
 * bfc_pause_sent() - a frame was built: repeat it, or stop the refresh timer
 * @port: the port
 * @paused: number of queues or priorities that it pauses
 * @changed: number of queues or priorities paused or resumed since the frame before
 * @now: ns
 *
 * Context: port->tx.lock held.
 */
void bfc_pause_sent(struct bfc_port *port, u32 paused, u32 changed, u64 now)
{
	lockdep_assert_held(&port->tx.lock);
	port->tx.npaused = paused;
	if (!changed)
		port->tx.refreshes++;
	if (paused) {
		port->tx.last = BFC_LAST_REFRESHES;
	} else if (port->tx.last) {
		port->tx.last--;
	} else if (now >= port->tx.void_ns && hrtimer_try_to_cancel(&port->tx.refresh) >= 0) {
		smp_mb();	/* pairs with test_and_set_bit() of bfc_port_mark_dirty() */
		if (test_bit(BFC_PORT_DIRTY, &port->flags))
			bfc_refresh_start(port);
	}
}

/* Clear the dirty bit of a port that has no pauses to send, without counters or a neighbour: the
 * first change must find it clear, and while it is set each dequeue looks for a frame. If new
 * counters were published or the neighbour came meanwhile, their mark may have met the old bit: set
 * it again.
 */
static void bfc_port_clean(struct bfc_port *port)
{
	clear_bit(BFC_PORT_DIRTY, &port->flags);
	smp_mb__after_atomic();	/* pairs with test_and_set_bit() of bfc_port_mark_dirty() */
	if (READ_ONCE(port->live) && rcu_access_pointer(port->ingress))
		bfc_port_mark_dirty(port);
}

/**
 * bfc_pause_build() - the PAUSE or PFC frame that is due
 * @sch: qdisc of the port that sends it
 * @now: ns
 *
 * Context: under the root lock of @sch, from dequeue.
 * Return: the frame; NULL if it would say nothing new or there is no neighbour to tell; or if it is
 * another scheduler's to send or there is no memory: then the bit stays, and the refresh timer
 * looks again.
 */
struct sk_buff *bfc_pause_build(struct Qdisc *sch, u64 now)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_port *port = q->port;
	const struct bfc_cfg *cfg;
	struct sk_buff *skb = NULL;
	struct bfc_ingress *ing;

	rcu_read_lock();
	ing = READ_ONCE(port->live) ? rcu_dereference(port->ingress) : NULL;
	if (!ing)
		bfc_port_clean(port);
	cfg = ing ? rcu_dereference(ing->cfg) : NULL;
	if (!cfg || !cfg->fc->build || (cfg->fc->prios && q->txq.index))
		goto out;
	spin_lock(&port->tx.lock);
	/* unless another scheduler of the port was first, or the neighbour has gone */
	if (bfc_pause_due(port) && READ_ONCE(port->live) &&
	    !(cfg->fc->needless && cfg->fc->needless(port, ing, cfg, now))) {
		bfc_refresh_start(port);
		skb = cfg->fc->build(port, ing, cfg, now);
	}
	spin_unlock(&port->tx.lock);
	/* Other counters replaced these meanwhile; the mark for them may have been cleared for
	 * this frame, or because it was needless.
	 */
	if (rcu_access_pointer(port->ingress) != ing)
		bfc_port_mark_dirty(port);
out:
	rcu_read_unlock();
	return skb;
}

/* Have the kernel choose the first TX queue for a frame, unless the driver chooses: XPS has no
 * entry for a CPU that cannot exist, so the recorded RX queue decides. If another TX queue is
 * chosen, NET_TX still runs the qdisc of the first, but later.
 */
static void bfc_kick_first(struct sk_buff *skb)
{
#ifdef CONFIG_XPS
	skb->sender_cpu = nr_cpu_ids + 1;
#endif
	skb_record_rx_queue(skb, 0);
}

/* Run the qdisc of a dirty port by giving it an empty frame. */
static void bfc_kick(u32 id)
{
	struct bfc_port *port = xa_load(&bfc_port_ids, id);
	struct sk_buff *skb;

	if (!port || !bfc_pause_due(port) || !READ_ONCE(port->live))
		return;
	skb = bfc_frame_alloc(port, BFC_PAUSE_FIXED_LEN);
	if (!skb)
		return;
	bfc_put_hdr(skb->data, BFC_FRAME_PAUSE, 0, 0, 0);
	if (bfc_port_in_order(port))
		bfc_kick_first(skb);
	dev_queue_xmit(skb);
}

/**
 * bfc_kick_dirty() - send the frames that became due by this CPU's last packets
 *
 * NET_TX could come as late as the end of the NET_RX round (8 ms under load).
 *
 * Context: softirq, RCU, no root lock held.
 */
void bfc_kick_dirty(void)
{
	u32 id[BFC_PENDING_MAX];
	struct bfc_pending *pending;
	unsigned int n;

	if (likely(!this_cpu_read(bfc_pending.n)))
		return;
	local_lock(&bfc_pending.lock);
	pending = this_cpu_ptr(&bfc_pending);
	n = pending->n;
	memcpy(id, pending->id, n * sizeof(*id));
	pending->n = 0;
	local_unlock(&bfc_pending.lock);
	/* Each may make others dirty: these wait for the next packet. */
	while (n)
		bfc_kick(id[--n]);
}
