// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that pause priorities, sent and received: PFC (IEEE 802.1Qbb), and PAUSE with a
 * time for each priority. As with queues, an egress only marks the port dirty; the frame is
 * built when it is sent, from what is held then. It always has the state of all lossless
 * priorities, so that one frame makes up for others that were lost.
 */
#include <linux/etherdevice.h>

#include "bfc.h"
#include "bfc_trace.h"

static struct sk_buff *bfc_pfc_alloc(struct bfc_port *port,
				     const struct bfc_pfc_frame *frame)
{
	struct sk_buff *skb = bfc_frame_alloc(port, BFC_PFC_FRAME);

	if (!skb)
		return NULL;
	bfc_put_pfc(skb->data, port->dev->dev_addr, frame);
	skb->protocol = htons(BFC_MAC_ETHERTYPE);
	return skb;
}

/**
 * bfc_pfc_resume() - the frame that ends all pauses of priorities, as the port stops pausing
 * them
 * @port: the port
 *
 * Return: the frame or NULL.
 */
struct sk_buff *bfc_pfc_resume(struct bfc_port *port)
{
	struct bfc_pfc_frame frame = { .enable = 0xff };

	return bfc_pfc_alloc(port, &frame);
}

/**
 * bfc_pfc_last() - bfc_pfc_resume(), if it is due: behind all frames of the mode that has ended
 * @q: scheduler of the port that sends it
 *
 * Context: under the root lock, from dequeue.
 * Return: the frame; NULL if it is another scheduler's to send, or no memory: then the bit stays.
 */
struct sk_buff *bfc_pfc_last(const struct bfc_sched *q)
{
	struct bfc_port *port = q->port;
	struct sk_buff *skb;

	if (q->txq.index || !test_and_clear_bit(BFC_PORT_RESUME, &port->flags))
		return NULL;
	skb = bfc_pfc_resume(port);
	if (!skb)
		set_bit(BFC_PORT_RESUME, &port->flags);
	return skb;
}

/* @t_hop: FAFC's, ns. The neighbour may have another: by it a host tells pauses that FAFC has
 * computed from those of the backstop.
 */
static void bfc_put_prio_pause(struct bfc_port *port, u8 *f, u32 t_hop,
			       const u64 ns[BFC_PRIORITIES])
{
	struct bfc_pause pause = { .hold_ns = t_hop };
	unsigned int prio;

	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		pause.prio_ns[prio] = min_t(u64, ns[prio], BFC_HOLD_MAX);
	bfc_put_pause(f, READ_ONCE(port->neighbour.epoch),
		      atomic_inc_return(&port->neighbour.seq), &pause);
	port->tx.frames++;
}

static void bfc_put_prio_quanta(struct bfc_port *port, struct sk_buff *skb,
				u8 enable, const u64 ns[BFC_PRIORITIES])
{
	struct bfc_pfc_frame frame = { .enable = enable };
	unsigned int prio;

	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		frame.quanta[prio] =
			bfc_ns_to_quanta(ns[prio], READ_ONCE(port->link_rate));
	bfc_put_pfc(skb->data, port->dev->dev_addr, &frame);
	skb->protocol = htons(BFC_MAC_ETHERTYPE);
	port->tx.pfc++;
}

/* Update &bfc_ingress.state in an order that loses no change: see bfc_pfc.h. */
static u16 bfc_prio_update(struct bfc_port *port, struct bfc_ingress *ing,
			   const struct bfc_cfg *cfg)
{
	unsigned long lossless = cfg->lossless;
	/* a priority that has become lossy is resumed */
	u16 state = ing->state & (lossless | lossless << BFC_PRIORITIES);
	unsigned int prio;
	u16 again;

	clear_bit(BFC_PORT_DIRTY, &port->flags);
	smp_mb__after_atomic();	/* pairs with the atomic operations of others */
	for_each_set_bit(prio, &lossless, BFC_PRIORITIES)
		state = bfc_prio_judge(ing, cfg, prio, state);
	WRITE_ONCE(ing->state, state);
	/* Pairs with the atomic operations before bfc_prio_look(). */
	smp_mb();
	again = state;
	for_each_set_bit(prio, &lossless, BFC_PRIORITIES)
		again = bfc_prio_judge(ing, cfg, prio, again);
	if (again != state)
		bfc_port_mark_dirty(port);
	return state;
}

/**
 * bfc_tx_prio_end() - account for the end of all pauses of priorities: no such
 * frames are sent from now on
 * @port: the port
 * @now: ns
 *
 * Context: BH off; takes port->tx.lock.
 */
void bfc_tx_prio_end(struct bfc_port *port, u64 now)
{
	unsigned long paused;
	unsigned int prio;

	spin_lock(&port->tx.lock);
	paused = port->tx.prio_paused;
	for_each_set_bit(prio, &paused, BFC_PRIORITIES)
		port->tx.prio[prio].ns += min(port->tx.until[prio] ?: now, now) -
					  port->tx.prio[prio].since;
	port->tx.resumes += hweight8(port->tx.prio_paused);
	port->tx.prio_paused = 0;
	port->tx.over = 0;
	if (port->watched & BFC_WATCH_PRIO)
		WRITE_ONCE(port->watched, BFC_WATCH_NONE);
	spin_unlock(&port->tx.lock);
}

/* Account for timed pauses that are over by now: they end without a frame. */
static void bfc_prio_expire(struct bfc_port *port, u64 now)
{
	unsigned long paused = port->tx.prio_paused;
	unsigned int prio;

	for_each_set_bit(prio, &paused, BFC_PRIORITIES) {
		u64 until = port->tx.until[prio];

		if (!until || until > now)
			continue;
		port->tx.prio[prio].ns += until - port->tx.prio[prio].since;
		port->tx.prio_paused &= ~BIT(prio);
		bfc_hrtt_over(port, prio, until);
		port->tx.resumes++;
	}
}

/**
 * bfc_prio_hold() - how long a pause until XON lasts if no other frame follows
 * @port: the port
 * @cfg: of the port
 * @told: the frame is a PAUSE; else PFC, which has no more than 65535 quanta
 *
 * Return: ns.
 */
u64 bfc_prio_hold(const struct bfc_port *port, const struct bfc_cfg *cfg, bool told)
{
	if (told)
		return max_t(u64, READ_ONCE(port->opt.hold), BFC_FAFC_BACKSTOP * cfg->holt.t_hop);
	return bfc_quanta_to_ns(cfg->quanta, READ_ONCE(port->link_rate));
}

/**
 * bfc_prio_build() - build the frame that is due: with FAFC, to a neighbour
 * with bfc, a PAUSE with times in ns; else a PFC frame
 * @port: the port that sends it
 * @ing: of the port
 * @cfg: of the port
 * @now: ns
 *
 * Context: port->tx.lock held, from bfc_pause_build(); RCU.
 * Return: the frame, or NULL for want of memory: then the bit stays.
 */
struct sk_buff *bfc_prio_build(struct bfc_port *port, struct bfc_ingress *ing,
			       const struct bfc_cfg *cfg, u64 now)
{
	bool told = READ_ONCE(port->told);
	u64 hold = bfc_prio_hold(port, cfg, told);
	u64 since = READ_ONCE(port->tx.dirty_since);
	u64 ns[BFC_PRIORITIES] = {};
	unsigned long changed, lossless = cfg->lossless;
	u16 fresh = BFC_WATCH_NONE;
	struct sk_buff *skb;
	u8 before = port->tx.prio_paused;
	u8 paused, over, repeat;
	unsigned int prio;

	lockdep_assert_held(&port->tx.lock);
	skb = bfc_frame_alloc(port, told ? bfc_pause_len(0) : BFC_PFC_FRAME);
	if (!skb)
		return NULL;
	over = bfc_prio_update(port, ing, cfg) & 0xff;
	paused = over;
	for_each_set_bit(prio, &lossless, BFC_PRIORITIES) {
		if (!ing->account)
			break;
		ns[prio] = ing->fc->remaining(ing, prio, now);
		paused |= ns[prio] ? BIT(prio) : 0;
	}
	bfc_prio_expire(port, now);
	changed = paused ^ port->tx.prio_paused;
	for_each_set_bit(prio, &changed, BFC_PRIORITIES) {
		if (paused & BIT(prio)) {
			port->tx.prio[prio].since = now;
			port->tx.prio[prio].pauses++;
			port->tx.pauses++;
			fresh = BFC_WATCH_PRIO | prio;
		} else {
			port->tx.prio[prio].ns += now -
						  port->tx.prio[prio].since;
			port->tx.resumes++;
		}
	}
	port->tx.prio_paused = paused;
	/* One that is not lossless any more is named until its last pause is over: frames may get
	 * lost.
	 */
	port->tx.named = (now < port->tx.void_ns ? port->tx.named : 0) | before | paused;
	/* A timed pause ends by itself and need not be repeated, unless it is
	 * longer than the quanta of a PFC frame.
	 */
	repeat = over;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		port->tx.until[prio] = over & BIT(prio) ? 0 : now + ns[prio];
		if (!told && ns[prio] > hold)
			repeat |= BIT(prio);
		if (over & BIT(prio))
			ns[prio] = max(ns[prio], hold);
	}
	if (told)
		bfc_put_prio_pause(port, skb->data, cfg->holt.t_hop, ns);
	else
		bfc_put_prio_quanta(port, skb, lossless | port->tx.named, ns);
	/* The neighbour has gone on to send since XOFF was crossed. A CPU that has just marked
	 * the port dirty may not have stored the time yet: @since is then older than the last
	 * frame, and is not used.
	 */
	bfc_hrtt_told(port, cfg, fresh, since > port->tx.built ? since : now, now);
	port->tx.built = now;
	bfc_pause_repeat(port, over, hold, now);
	bfc_pause_sent(port, hweight8(repeat), hweight_long(changed), now);
	trace_bfc_pause_tx(port->dev, port->tx.pfc + port->tx.frames,
			   hweight8(paused), hweight_long(changed),
			   changed ? now - since : 0);
	return skb;
}

/* ---- receiving ---- */

/**
 * bfc_prio_paused() - get the priorities that the neighbour holds paused
 * @q: scheduler; gets when each pause ends, and when the first of them does
 * @now: ns
 *
 * The hook may be writing meanwhile: it schedules the qdisc again then.
 *
 * Context: under the root lock.
 * Return: bit p: priority p.
 */
u8 bfc_prio_paused(struct bfc_sched *q, u64 now)
{
	unsigned int prio;
	u8 paused = 0;

	q->obeyed.deadline = U64_MAX;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		u64 until = READ_ONCE(q->port->rx.until[prio]);

		if (now >= until)
			continue;
		paused |= BIT(prio);
		q->prio[prio].until = until;
		q->obeyed.deadline = min(q->obeyed.deadline, until);
	}
	return paused;
}

/**
 * bfc_rx_prio() - a PAUSE with times for priorities came in
 * @port: the port
 * @pause: its contents: the time that remains of each pause; replaces what earlier frames said
 * @frame: not used
 * @now: ns
 *
 * A sender that need not hear the port may pause as PFC could, and no longer. Its T_hop is not
 * taken, as that keeps a host slow for 32 times as long.
 *
 * Context: port->lock held.
 */
void bfc_rx_prio(struct bfc_port *port, const struct bfc_pause *pause,
		 const void *frame, u64 now)
{
	unsigned long lossless = port->cfg->lossless;
	unsigned int prio, paused = 0;
	u64 most = U32_MAX;

	lockdep_assert_held(&port->lock);
	if (port->told)
		WRITE_ONCE(port->rx.t_hop, pause->hold_ns);
	else
		most = bfc_quanta_to_ns(BFC_QUANTA_MAX, port->link_rate);
	for_each_set_bit(prio, &lossless, BFC_PRIORITIES) {
		u64 ns = min_t(u64, pause->prio_ns[prio], most);

		WRITE_ONCE(port->rx.until[prio], ns ? now + ns : 0);
		paused += !!ns;
	}
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx.gen, port->rx.gen + 1);
	trace_bfc_pause_rx(port->dev, port->rx.seq, paused);
}

static bool bfc_rx_pfc(struct bfc_port *port, const u8 *f, unsigned int len,
		       u64 now)
{
	struct bfc_pfc_frame frame;
	unsigned long enable;
	unsigned int prio;

	lockdep_assert_held(&port->lock);
	if (!bfc_bucket_take(&port->rx.bucket, now, port->rx.max_pps) ||
	    bfc_get_pfc(f, len, &frame)) {
		port->rx.pfc_bad++;
		return false;
	}
	port->rx.pfc++;
	enable = frame.enable & port->cfg->lossless;
	for_each_set_bit(prio, &enable, BFC_PRIORITIES)
		WRITE_ONCE(port->rx.until[prio],
			   frame.quanta[prio] ?
			   now + bfc_quanta_to_ns(frame.quanta[prio],
						  port->link_rate) : 0);
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx.gen, port->rx.gen + 1);
	trace_bfc_pause_rx(port->dev, port->rx.pfc, hweight_long(enable));
	return true;
}

/**
 * bfc_rx_mac() - a MAC control frame came in
 * @port: where, with a port-level mode
 * @skb: the frame, network header behind the EtherType; stays with the caller
 *
 * PAUSE of 802.3x is counted, not obeyed: a link has one of the two (IEEE 802.1Q
 * clause 36).
 *
 * Context: softirq, from the hook.
 */
void bfc_rx_mac(struct bfc_port *port, const struct sk_buff *skb)
{
	unsigned int len = skb_headlen(skb) + ETH_HLEN;
	const u8 *f = skb_mac_header(skb);
	u64 now = ktime_get_ns();
	bool wake = false;

	spin_lock(&port->lock);
	if (!port->live || !port->cfg)
		goto out;
	switch (bfc_mac_kind(f, len)) {
	case BFC_MAC_PFC:
		wake = bfc_rx_pfc(port, f, len, now);
		break;
	case BFC_MAC_PAUSE:
		port->rx.mac_pause++;
		break;
	default:
		break;
	}
out:
	spin_unlock(&port->lock);
	if (wake)
		bfc_port_wake(port);
}
