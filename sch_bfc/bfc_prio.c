// SPDX-License-Identifier: GPL-2.0
/*
 * The port-level modes: PFC (IEEE 802.1Qbb) and CaPFC pause a priority of the
 * neighbour, not one of its queues.
 *
 *  - What came in through port A with priority p and is queued at whatever egress
 *    is charged to held[A, p] (bfc_hold(), bfc_unhold()). If that passes XOFF, A
 *    pauses its neighbour's p, until it is down to XON: I in CaPFC's words.
 *  - With CaPFC an egress queue that is too long holds those ports responsible
 *    that brought most (bfc_egress_enqueued()): E. A pauses if I, or any E.
 *
 * As with BFC, the egress only marks A dirty; the frame is built when A sends it,
 * from what is held then (the order of reads and writes: bfc_pfc.h). It always
 * tells of all lossless priorities, so that one frame mends what others lost.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/inet_ecn.h>

#include "bfc.h"
#include "bfc_trace.h"

/* bits of struct bfc_ingress.state */
#define BFC_STATE_PAUSED(prio)	BIT(prio)
#define BFC_STATE_OVER(prio)	BIT(BFC_PRIORITIES + (prio))

/* On while any port has a port-level mode or a shared buffer. */
DEFINE_STATIC_KEY_FALSE(bfc_holds);

/* ---- which priority? ---- */

static u8 bfc_pcp_of(const struct sk_buff *skb)
{
	const struct vlan_ethhdr *hdr = (void *)skb->data;

	if (skb_vlan_tag_present(skb))
		return skb_vlan_tag_get_prio(skb);
	if (eth_type_vlan(skb->protocol) && skb_headlen(skb) >= sizeof(*hdr))
		return ntohs(hdr->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
	return 0;
}

static u8 bfc_dscp_of(const struct sk_buff *skb)
{
	__be16 proto, _first;
	unsigned int off = bfc_mac_len(skb, &proto);
	const __be16 *first = skb_header_pointer(skb, off, sizeof(_first),
						 &_first);

	if (!first)
		return 0;
	switch (proto) {
	case htons(ETH_P_IP):	/* version, IHL, TOS */
		return (ntohs(*first) & 0xff) >> 2;
	case htons(ETH_P_IPV6):	/* version, traffic class, flow label */
		return (ntohs(*first) >> 4 & 0xff) >> 2;
	default:
		return 0;
	}
}

/**
 * bfc_prio_of() - the priority of a packet
 * @q: scheduler of the egress port
 * @skb: at egress, data at the MAC header
 *
 * All ports of a switch, and its neighbours, should see the same.
 *
 * Return: 0 to 7.
 */
u8 bfc_prio_of(const struct bfc_sched *q, const struct sk_buff *skb)
{
	switch (q->p.prio) {
	case BFC_PRIO_PCP:
		return q->map[bfc_pcp_of(skb)];
	case BFC_PRIO_DSCP:
		return q->map[bfc_dscp_of(skb)];
	default:
		return q->map[skb->priority < 16 ? skb->priority : 0];
	}
}

/* ---- what is held of an ingress port ---- */

static u32 bfc_buffer_free(const struct bfc_buffer *buffer)
{
	if (!buffer)
		return 0;
	return bfc_pool_free(READ_ONCE(buffer->pool.size),
			     atomic_long_read(&buffer->pool.shared));
}

/* @state with the bits of @prio as they should be now. */
static u16 bfc_prio_judge(const struct bfc_ingress *ing,
			  const struct bfc_conf *conf, unsigned int prio,
			  u16 state)
{
	const struct bfc_held *held = &ing->held[prio];
	u64 word = atomic64_read(&held->cell.word);
	bool over, paused;

	over = bfc_pfc_next(&conf->in, state & BFC_STATE_OVER(prio),
			    bfc_cell_shared(word, ing->reserve),
			    bfc_cell_headroom(word),
			    bfc_buffer_free(ing->buffer));
	paused = bfc_capfc_decide(over, atomic64_read(&held->signals),
				  ing->slot);
	state &= ~(BFC_STATE_OVER(prio) | BFC_STATE_PAUSED(prio));
	return state | (over ? BFC_STATE_OVER(prio) : 0) |
	       (paused ? BFC_STATE_PAUSED(prio) : 0);
}

/* Something changed for a priority: must the neighbour know? The caller has just
 * changed it by an atomic operation with a full barrier.
 */
static void bfc_prio_look(struct bfc_ingress *ing, unsigned int prio)
{
	const struct bfc_conf *conf = rcu_dereference(ing->conf);
	struct bfc_port *port = rcu_dereference(ing->port);
	u16 state = READ_ONCE(ing->state);

	if (conf && port && conf->lossless & BIT(prio) &&
	    bfc_prio_judge(ing, conf, prio, state) != state)
		bfc_port_mark_dirty(port);
}

/* Without a buffer only MAX bounds what a lossless priority may hold. */
static bool bfc_hold_alone(struct bfc_held *held, const struct bfc_conf *conf,
			   u32 len, u64 *word)
{
	*word = atomic64_add_return(len, &held->cell.word);
	if (likely(*word <= conf->in.max) ||
	    *word <= READ_ONCE(held->grace))
		return true;
	atomic64_sub(len, &held->cell.word);
	return false;
}

/**
 * bfc_hold_by() - other thresholds from now on
 * @ing: the object that is charged, without a shared buffer
 * @conf: the new ones, nobody goes by them yet
 *
 * A neighbour that was not paused yet by the old XOFF sends until the pause by the
 * new one reaches it: what is held then may be more than the new MAX, and there was
 * room for it.
 *
 * Context: process, the port's lock held.
 */
void bfc_hold_by(struct bfc_ingress *ing, const struct bfc_conf *conf)
{
	unsigned int prio;
	u64 most;

	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		struct bfc_held *held = &ing->held[prio];

		most = atomic64_read(&held->cell.word) + conf->in.headroom;
		WRITE_ONCE(held->grace, most > conf->in.max ?
			   min_t(u64, most, U32_MAX) : 0);
	}
}

static void bfc_hold_grace_ends(struct bfc_ingress *ing, struct bfc_held *held,
				u64 bytes)
{
	const struct bfc_conf *conf = rcu_dereference(ing->conf);

	if (!conf || bytes <= conf->in.xoff)
		WRITE_ONCE(held->grace, 0);
}

/* The port that brought a packet: bfc_vet() has had it. */
static struct bfc_ingress *bfc_vetted(const struct bfc_sched *q,
				      const struct sk_buff *skb)
{
	return skb->tc_index ? bfc_handle_get(q->port->sw, skb->tc_index) : NULL;
}

/**
 * bfc_hold() - charge a packet to the port that it came in through
 * @q: scheduler of the egress port
 * @skb: the packet, its cb filled, not in a queue yet
 *
 * Not charged are packets of our own, and those of lossy priorities without a
 * shared buffer.
 *
 * Context: under the root lock of the egress port, BH off.
 * Return: whether there is room for it.
 */
bool bfc_hold(struct bfc_sched *q, struct sk_buff *skb)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	u32 len = qdisc_pkt_len(skb);
	const struct bfc_conf *conf;
	struct bfc_ingress *ing;
	bool lossless, room = true;
	struct bfc_held *held;
	u64 word;

	rcu_read_lock();
	ing = bfc_vetted(q, skb);
	conf = ing ? rcu_dereference(ing->conf) : NULL;
	if (unlikely(q->capfc) && !bfc_share_admits(q, conf, cb->prio, len)) {
		q->drop_max++;
		room = false;
		goto out;
	}
	if (!conf)
		goto out;
	if (unlikely(bfc_elided(&q->p, ing->ifindex))) {
		q->elided++;
		goto out;
	}
	lossless = conf->lossless & BIT(cb->prio);
	held = &ing->held[cb->prio];
	if (ing->buffer) {
		room = bfc_pool_charge(&ing->buffer->pool, &held->cell,
				       lossless ? &conf->cell : &conf->lossy,
				       len, &word) != BFC_POOL_REFUSED;
		q->drop_buffer += !room;
		bfc_buffer_peak(ing->buffer);
	} else if (lossless) {
		room = bfc_hold_alone(held, conf, len, &word);
		q->drop_max += !room;
	} else {
		goto out;
	}
	if (room) {
		cb->held = 1;
		cb->handle = skb->tc_index;
		if (bfc_cell_held(word) > READ_ONCE(held->peak))
			WRITE_ONCE(held->peak, bfc_cell_held(word));
		if (ing->fafc)
			bfc_fafc_held(ing, conf, cb->prio, len, true, bfc_now(q));
	}
	if (lossless)
		bfc_prio_look(ing, cb->prio);
out:
	rcu_read_unlock();
	return room;
}

/**
 * bfc_unhold() - a packet that was charged leaves, sent or dropped
 * @q: scheduler of the egress port
 * @skb: the packet
 *
 * The object is still there: it stays until it holds nothing any more.
 *
 * Context: under the root lock of the egress port, or the qdisc is not in use.
 */
void bfc_unhold(struct bfc_sched *q, struct sk_buff *skb)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	u32 len = qdisc_pkt_len(skb);
	struct bfc_ingress *ing;
	struct bfc_held *held;
	u64 word;

	cb->held = 0;
	rcu_read_lock();
	ing = bfc_handle_get(q->port->sw, cb->handle);
	if (WARN_ON_ONCE(!ing))
		goto out;
	held = &ing->held[cb->prio];
	if (ing->buffer) {
		struct bfc_cell_cfg cell = { .reserve = ing->reserve };

		WARN_ON_ONCE(bfc_pool_uncharge(&ing->buffer->pool, &held->cell,
					       &cell, len, &word) ==
			     BFC_POOL_REFUSED);
	} else {
		word = atomic64_sub_return(len, &held->cell.word);
		WARN_ON_ONCE((s64)word < 0);
		if (unlikely(READ_ONCE(held->grace)))
			bfc_hold_grace_ends(ing, held, word);
	}
	if (ing->fafc)
		bfc_fafc_held(ing, rcu_dereference(ing->conf), cb->prio, len,
			      false, bfc_now(q));
	local_bh_disable();
	bfc_prio_look(ing, cb->prio);
	local_bh_enable();
out:
	rcu_read_unlock();
}

/* ---- what is queued at an egress port ---- */

/**
 * bfc_mark_ce() - a packet met congestion (ECN)
 * @skb: the packet, data at the MAC header
 *
 * Return: whether it could be marked.
 */
bool bfc_mark_ce(struct sk_buff *skb)
{
	int network = skb_network_offset(skb);
	unsigned int len;
	__be16 proto;
	bool marked;

	len = bfc_mac_len(skb, &proto);
	if (proto != htons(ETH_P_IP) && proto != htons(ETH_P_IPV6))
		return false;
	/* One that was flooded shares its data with others. */
	if (skb_ensure_writable(skb, min_t(u32, skb->len, len +
					   sizeof(struct ipv6hdr))))
		return false;
	skb_set_network_header(skb, len);
	marked = INET_ECN_set_ce(skb);
	skb_set_network_header(skb, network);
	return marked;
}

/* Set or clear our bit at the ports of @set, which told by slot. */
static void bfc_egress_signal(struct bfc_sched *q, unsigned int prio, u64 set,
			      bool on)
{
	u64 bit = BIT_ULL(q->port->slot);
	struct bfc_ingress *ing;

	rcu_read_lock();
	for (; set; set &= set - 1) {
		ing = bfc_handle_get(q->port->sw, q->in[__ffs64(set)]);
		/* the handle may be somebody else's by now */
		if (!ing || ing->dead || ing->slot != __ffs64(set))
			continue;
		if (on)
			atomic64_or(bit, &ing->held[prio].signals);
		else
			atomic64_andnot(bit, &ing->held[prio].signals);
		smp_mb__after_atomic();	/* see bfc_prio_look() */
		local_bh_disable();
		bfc_prio_look(ing, prio);
		local_bh_enable();
	}
	rcu_read_unlock();
}

/* Slot of the port that brought a packet: nobody's if that is not charged for it,
 * or if it goes back where it came from.
 */
static unsigned int bfc_egress_slot(const struct bfc_sched *q,
				    const struct sk_buff *skb)
{
	const struct bfc_skb_cb *cb = bfc_cb(skb);
	const struct bfc_ingress *ing;
	unsigned int slot;

	if (!cb->held)
		return BFC_SLOT_NONE;
	rcu_read_lock();
	ing = bfc_handle_get(q->port->sw, cb->handle);
	slot = ing ? ing->slot : BFC_SLOT_NONE;
	rcu_read_unlock();
	return slot == q->port->slot ? BFC_SLOT_NONE : slot;
}

/* A slot may have got a new owner: what the old one did is not its fault. */
static void bfc_egress_meet(struct bfc_sched *q, unsigned int slot, u16 handle)
{
	unsigned int prio;

	if (likely(slot == BFC_SLOT_NONE || q->in[slot] == handle))
		return;
	/* Of a port that counts for queues too, each packet may have another. */
	handle = bfc_handle_base(q->port->sw, handle);
	if (q->in[slot] == handle)
		return;
	for (prio = 0; q->capfc && prio < BFC_PRIORITIES; prio++)
		if (bfc_capfc_forget(&q->capfc[prio], slot))
			bfc_egress_signal(q, prio, BIT_ULL(slot), false);
	q->in[slot] = handle;
}

/**
 * bfc_egress_enqueued() - a packet joined its queue: mark it, find the culprits
 * @q: scheduler of the egress port, with a port-level mode
 * @skb: the packet
 *
 * Context: under the root lock.
 */
void bfc_egress_enqueued(struct bfc_sched *q, struct sk_buff *skb)
{
	unsigned int slot = bfc_egress_slot(q, skb);
	struct bfc_skb_cb *cb = bfc_cb(skb);
	u32 bytes;
	u64 set;

	bfc_share_enqueued(q, cb, slot, qdisc_pkt_len(skb));
	bytes = q->prio[cb->prio].pausable;
	if (!cb->pausable)
		bytes = q->prio[cb->prio].bytes - bytes;
	bfc_egress_meet(q, slot, cb->handle);
	if (q->fafc) {
		bfc_fafc_enqueued(q, skb, slot, bfc_now(q));
		return;
	}
	if (q->p.ecn && bytes > q->p.ecn && bfc_mark_ce(skb))
		q->ecn_mark++;
	if (!q->capfc || !cb->pausable || !(q->conf->lossless & BIT(cb->prio)))
		return;
	set = bfc_capfc_enqueue(&q->capfc[cb->prio], &q->conf->capfc,
				q->conf->stop, bytes, slot, cb->segs);
	bfc_egress_signal(q, cb->prio, set, true);
}

/**
 * bfc_egress_dequeued() - a packet left its queue: is the congestion over?
 * @q: scheduler of the egress port; with CaPFC or FAFC, or was with a port-level mode
 *     when the packet came
 * @skb: the packet, charged still
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_egress_dequeued(struct bfc_sched *q, const struct sk_buff *skb)
{
	unsigned int slot = bfc_egress_slot(q, skb);
	u8 prio = bfc_cb(skb)->prio;
	u64 set;

	if (bfc_cb(skb)->pausable)
		bfc_share_dequeued(q, bfc_cb(skb), qdisc_pkt_len(skb));
	if (q->fafc)
		bfc_fafc_dequeued(q, skb, slot, bfc_now(q));
	if (!q->capfc)
		return;
	set = bfc_capfc_dequeue(&q->capfc[prio], &q->conf->capfc,
				q->prio[prio].pausable);
	bfc_egress_signal(q, prio, set, false);
}

/**
 * bfc_egress_adopt() - account for what is queued already
 * @q: scheduler of the egress port, with new predictors
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_egress_adopt(struct bfc_sched *q, u64 now)
{
	unsigned int qn, slot;
	struct sk_buff *skb;

	for (qn = 0; qn < q->p.queues; qn++) {
		for (skb = q->queues[qn].head; skb; skb = skb->next) {
			slot = bfc_egress_slot(q, skb);
			if (bfc_cb(skb)->pausable)
				bfc_share_dequeued(q, bfc_cb(skb),
						   qdisc_pkt_len(skb));
			bfc_cb(skb)->pausable = 0;
			bfc_share_enqueued(q, bfc_cb(skb), slot,
					   qdisc_pkt_len(skb));
			bfc_fafc_enqueued(q, skb, slot, now);
		}
	}
	bfc_fafc_restart(q->fafc, now);
}

/**
 * bfc_egress_clear() - hold nobody responsible any more
 * @q: scheduler of the egress port
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_egress_clear(struct bfc_sched *q)
{
	unsigned int prio;

	for (prio = 0; q->capfc && prio < BFC_PRIORITIES; prio++)
		bfc_egress_signal(q, prio, bfc_capfc_clear(&q->capfc[prio]),
				  false);
}

/* ---- sending ---- */

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
 * bfc_pfc_resume() - the frame that ends all pauses: we do without them
 * @port: the port
 *
 * Return: the frame or NULL.
 */
struct sk_buff *bfc_pfc_resume(struct bfc_port *port)
{
	struct bfc_pfc_frame frame = { .enable = 0xff };

	return bfc_pfc_alloc(port, &frame);
}

static void bfc_put_prio_pause(struct bfc_port *port, u8 *f,
			       const u64 ns[BFC_PRIORITIES])
{
	struct bfc_pause pause = {};
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

/* The state as it is now, written so that no change gets lost: see bfc_pfc.h. */
static u16 bfc_prio_update(struct bfc_port *port, struct bfc_ingress *ing,
			   const struct bfc_conf *conf)
{
	unsigned long lossless = conf->lossless;
	/* A priority that has become lossy is let go. */
	u16 state = ing->state & (lossless | lossless << BFC_PRIORITIES);
	unsigned int prio;
	u16 again;

	clear_bit(BFC_PORT_DIRTY, &port->flags);
	smp_mb__after_atomic();	/* pairs with the atomic operations of others */
	for_each_set_bit(prio, &lossless, BFC_PRIORITIES)
		state = bfc_prio_judge(ing, conf, prio, state);
	WRITE_ONCE(ing->state, state);
	/* Pairs with the atomic operations before bfc_prio_look(). */
	smp_mb();
	again = state;
	for_each_set_bit(prio, &lossless, BFC_PRIORITIES)
		again = bfc_prio_judge(ing, conf, prio, again);
	if (again != state)
		bfc_port_mark_dirty(port);
	return state;
}

/**
 * bfc_rx_prio_end() - no priority pauses us any more: there is another mode, or no link
 * @q: scheduler
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_rx_prio_end(struct bfc_sched *q, u64 now)
{
	unsigned long paused = q->prio_paused;
	unsigned int prio;

	for_each_set_bit(prio, &paused, BFC_PRIORITIES)
		q->prio[prio].ns += min(q->prio[prio].until, now) -
				    q->prio[prio].since;
	q->prio_paused = 0;
}

/**
 * bfc_tx_prio_end() - no priority of the neighbour is paused any more: no such frames
 * are sent from now on
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
	port->tx.prio_paused = 0;
	port->tx.over = 0;
	spin_unlock(&port->tx.lock);
}

/* Pauses for a time that are over by now: the neighbour went on without a frame. */
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
		port->tx.resumes++;
	}
}

/**
 * bfc_prio_build() - the frame that is due: to one of ours, with FAFC, a PAUSE of
 * so many ns, to anybody else a PFC frame
 * @port: the port that sends it
 * @ing: of the port
 * @conf: of the port
 * @now: ns
 *
 * Context: port->tx.lock held, from bfc_pause_build(); RCU.
 * Return: the frame, or NULL for want of memory: then the bit stays.
 */
struct sk_buff *bfc_prio_build(struct bfc_port *port, struct bfc_ingress *ing,
			       const struct bfc_conf *conf, u64 now)
{
	u64 hold = bfc_quanta_to_ns(conf->quanta, READ_ONCE(port->link_rate));
	bool ours = READ_ONCE(port->told);
	u64 since = READ_ONCE(port->tx.dirty_since);
	u64 ns[BFC_PRIORITIES] = {};
	unsigned long changed;
	struct sk_buff *skb;
	u8 before = port->tx.prio_paused;
	u8 paused, over, repeat;
	unsigned int prio;

	lockdep_assert_held(&port->tx.lock);
	skb = bfc_frame_alloc(port, ours ? bfc_pause_len(0) : BFC_PFC_FRAME);
	if (!skb)
		return NULL;
	over = bfc_prio_update(port, ing, conf) & 0xff;
	paused = over;
	for (prio = 0; ing->fafc && prio < BFC_PRIORITIES; prio++) {
		ns[prio] = bfc_fafc_remaining(ing, prio, now);
		paused |= ns[prio] ? BIT(prio) : 0;
	}
	bfc_prio_expire(port, now);
	changed = paused ^ port->tx.prio_paused;
	for_each_set_bit(prio, &changed, BFC_PRIORITIES) {
		if (paused & BIT(prio)) {
			port->tx.prio[prio].since = now;
			port->tx.prio[prio].pauses++;
			port->tx.pauses++;
		} else {
			port->tx.prio[prio].ns += now -
						  port->tx.prio[prio].since;
			port->tx.resumes++;
		}
	}
	port->tx.prio_paused = paused;
	/* A pause for a time ends by itself, and need not be repeated; but quanta
	 * may not reach as far.
	 */
	repeat = over;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		port->tx.until[prio] = over & BIT(prio) ? 0 : now + ns[prio];
		if (!ours && ns[prio] > hold)
			repeat |= BIT(prio);
		if (over & BIT(prio))
			ns[prio] = max(ns[prio], hold);
	}
	if (ours)
		bfc_put_prio_pause(port, skb->data, ns);
	else
		bfc_put_prio_quanta(port, skb, conf->lossless | before, ns);
	bfc_pause_repeat(port, over, hold, now);
	bfc_pause_sent(port, hweight8(repeat), hweight_long(changed), now);
	trace_bfc_pause_tx(port->dev, port->tx.pfc + port->tx.frames,
			   hweight8(paused), hweight_long(changed),
			   changed ? now - since : 0);
	return skb;
}

/* ---- receiving ---- */

/**
 * bfc_prio_paused() - priorities that the neighbour holds paused, and until when
 * @q: scheduler; gets these times, and when to look again
 * @now: ns
 *
 * The hook may be writing meanwhile: it then wakes us again.
 *
 * Context: under the root lock.
 * Return: bit p: priority p.
 */
u8 bfc_prio_paused(struct bfc_sched *q, u64 now)
{
	unsigned int prio;
	u8 paused = 0;

	q->pause_deadline = U64_MAX;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		u64 until = READ_ONCE(q->port->rx.until[prio]);

		if (now >= until)
			continue;
		paused |= BIT(prio);
		q->prio[prio].until = until;
		q->pause_deadline = min(q->pause_deadline, until);
	}
	return paused;
}

/**
 * bfc_rx_prio() - a PAUSE of one of ours, with FAFC
 * @port: the port
 * @pause: what it says: what remains of each pause, whatever was said before
 * @now: ns
 *
 * Context: port->lock held.
 */
void bfc_rx_prio(struct bfc_port *port, const struct bfc_pause *pause, u64 now)
{
	unsigned long lossless = port->conf->lossless;
	unsigned int prio, paused = 0;

	lockdep_assert_held(&port->lock);
	for_each_set_bit(prio, &lossless, BFC_PRIORITIES) {
		WRITE_ONCE(port->rx.until[prio], pause->prio_ns[prio] ?
			   now + pause->prio_ns[prio] : 0);
		paused += !!pause->prio_ns[prio];
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
	enable = frame.enable & port->conf->lossless;
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
 * clause 36). No bridge forwards any of them.
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
	if (!port->live || !port->conf)
		goto out;
	switch (bfc_mac_kind(f, len, port->dev->dev_addr)) {
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
		netif_schedule_queue(netdev_get_tx_queue(port->dev, 0));
}
