// SPDX-License-Identifier: GPL-2.0
/*
 * fc bfc: Backpressure (BFC §3.3.2). The frame with the set of queues that have a pause counter
 * (bfc_count.c) above 0. bfc_dirty.c decides when it is sent.
 */
#include "bfc.h"
#include "bfc_trace.h"

static u64 bfc_port_drained(const struct bfc_port *port)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(port->pcpu, cpu)->drained);
	return sum;
}

/* True if the newest frame said all that one would say now. */
static bool bfc_queue_as_told(const struct bfc_port *port, const struct bfc_ingress *ing)
{
	unsigned int upq;

	for (upq = 0; upq < ing->queues; upq++)
		if ((atomic_read(&ing->counter[upq]) > 0) != test_bit(upq, port->tx.paused))
			return false;
	return true;
}

/* Counters that left 0 and are at 0 again need no frame, nor the other way round: with a Th of less
 * than a packet (many flows, a short HRTT) each packet of a queue does that. The neighbour still
 * hears from us at the interval of refreshes.
 */
static bool bfc_queue_needless(struct bfc_port *port, const struct bfc_ingress *ing,
			       const struct bfc_cfg *cfg, u64 now)
{
	if (now - port->tx.built >= READ_ONCE(port->opt.refresh) ||
	    port->tx.layout != ing->layout || cfg->by_root)
		return false;
	clear_bit(BFC_PORT_DIRTY, &port->flags);
	smp_mb__after_atomic();	/* pairs with the counters' atomic ops */
	if (bfc_queue_as_told(port, ing))
		return true;
	set_bit(BFC_PORT_DIRTY, &port->flags);
	return false;
}

/* Build a PAUSE with the whole set of paused queues (BFC §3.3.2). */
static struct sk_buff *bfc_queue_build(struct bfc_port *port,
				       struct bfc_ingress *ing,
				       const struct bfc_cfg *cfg, u64 now)
{
	struct bfc_pause pause = { .hold_ns = READ_ONCE(port->opt.hold) };
	unsigned int upq, changed = 0, paused = 0, fresh = ing->queues;
	unsigned int room = cfg->by_root ? bfc_roots_room(port, ing->queues) : 0;
	unsigned int roots = 0, len = bfc_pause_len(ing->queues);
	u16 first = port->tx.npaused > room ? port->tx.roots_next : 0, next = 0;
	u64 since = READ_ONCE(port->tx.dirty_since);
	struct sk_buff *skb;
	u32 seq;

	lockdep_assert_held(&port->tx.lock);
	skb = bfc_frame_alloc(port, len + (room ? bfc_roots_len(room) : 0));
	if (!skb)
		return NULL;
	clear_bit(BFC_PORT_DIRTY, &port->flags);
	smp_mb__after_atomic();	/* pairs with the counters' atomic ops */

	seq = atomic_inc_return(&port->neighbour.seq);
	pause.queues = ing->queues;
	pause.drained = bfc_port_drained(port);
	if (port->tx.layout != ing->layout) {
		bitmap_zero(port->tx.paused, BFC_WIRE_QUEUES_MAX);
		port->tx.layout = ing->layout;
		bfc_hrtt_forget(port);
	}
	bfc_put_pause(skb->data, READ_ONCE(port->neighbour.epoch), seq, &pause);
	for (upq = 0; upq < ing->queues; upq++) {
		bool on = atomic_read(&ing->counter[upq]) > 0;

		if (on) {
			bfc_pause_set(skb->data, upq);
			paused++;
			if (upq < first || !room) {
				/* its root id is not in this frame */
			} else if (roots < room) {
				smp_rmb();	/* pairs with the counters' atomic ops */
				bfc_put_root(skb->data, ing->queues, roots++,
					     READ_ONCE(bfc_ingress_roots(ing)[upq]));
			} else if (!next) {
				next = upq;
			}
		}
		if (on == test_bit(upq, port->tx.paused))
			continue;
		__change_bit(upq, port->tx.paused);
		changed++;
		if (on) {
			port->tx.pauses++;
			fresh = upq;
		} else {
			port->tx.resumes++;
		}
	}
	if (roots)
		len = bfc_put_roots(skb->data, ing->queues, first, roots);
	skb_trim(skb, len);
	qdisc_skb_cb(skb)->pkt_len = len;
	port->tx.roots_next = next;
	bfc_hrtt_told(port, cfg, fresh < ing->queues ? BFC_VID(fresh) : BFC_WATCH_NONE,
		      now, now);
	port->tx.built = now;
	port->tx.frames++;
	bfc_pause_sent(port, paused, changed, now);
	trace_bfc_pause_tx(port->dev, seq, paused, changed,
			   changed ? now - since : 0);
	return skb;
}

/* Store the set of a PAUSE for dequeue to obey. */
static void bfc_queue_receive(struct bfc_port *port, const struct bfc_pause *pause,
			      const void *frame, u64 now)
{
	const u8 *byte = ((const struct bfc_wire_pause *)frame)->bitmap;
	unsigned int w, i, bytes, paused = 0;

	lockdep_assert_held(&port->lock);
	WRITE_ONCE(port->rx.deadline, now + pause->hold_ns);
	bytes = bfc_bitmap_bytes(pause->queues);
	for (w = 0; w < BITS_TO_LONGS(port->queues); w++) {
		unsigned long word = 0;

		for (i = 0; i < sizeof(word) && bytes; i++, bytes--)
			word |= (unsigned long)*byte++ << (8 * i);
		WRITE_ONCE(port->rx.paused[w], word);
		paused += hweight_long(word);
	}
	if (port->cfg->by_root)
		bfc_roots_receive(port, pause, frame);
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx.gen, port->rx.gen + 1);
	trace_bfc_pause_rx(port->dev, port->rx.seq, paused);
}

/* True if the port has had this `hold` for such frames: it was not too short for the link then. */
static bool bfc_queue_held(const struct bfc_cfg *before, const struct bfc_cfg *c)
{
	return before && before->fc == c->fc && before->role == c->role &&
	       before->p.hold == c->p.hold && before->p.refresh == c->p.refresh &&
	       bfc_pause_most(before) == bfc_pause_most(c);
}

/* A pause must last until the next frame has come, behind one of data. Checked for a user's request
 * only: after a change of the link the port goes on with it.
 */
static int bfc_queue_derive(struct bfc_cfg *c, const struct bfc_derive *d)
{
	u64 least = bfc_pause_least(d->link_rate, bfc_pause_most(c) + BFC_FRAME_OVERHEAD);
	u64 frame = div64_u64((d->mtu + BFC_FRAME_OVERHEAD) * BFC_NSEC_PER_SEC, d->link_rate);

	if (d->extack && c->role == BFC_ROLE_SWITCH && c->p.hold &&
	    c->p.hold < max(2 * least, c->p.refresh) + frame && !bfc_queue_held(d->before, c))
		return bfc_cfg_refuse(d->extack, "bfc: hold: too short to be repeated in time at the speed of this link and with its MTU");
	return 0;
}

const struct bfc_fc_ops bfc_fc_bfc = {
	.tags		= true,
	.classes	= 1,
	.hello		= BFC_MODE_BFC,
	.identity	= BFC_FLOW_TUPLE,
	.derive		= bfc_queue_derive,
	.needless	= bfc_queue_needless,
	.build		= bfc_queue_build,
	.receive	= bfc_queue_receive,
};
