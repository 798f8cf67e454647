// SPDX-License-Identifier: GPL-2.0
/*
 * A packet that came in through a port and is queued at any egress is charged to held[port,
 * priority], and to a shared buffer: bfc_hold(), bfc_unhold(). If an egress has several
 * schedulers, each of them charges as an egress of its own.
 */
#include <linux/indirect_call_wrapper.h>

#include "bfc.h"
#include "fc_capfc.h"
#include "fc_fafc.h"

/* On while any port has a mode that pauses priorities, or a shared buffer. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(bfc_holds, BFC_KEY_STAYS);

#define BFC_GRACE_ANY	U32_MAX	/* bytes of a grace without a known bound yet */

static u32 bfc_grace_bytes(u64 grace)
{
	return grace;
}

/* Bytes of a shared buffer that the lossless priorities of a port hold beyond XOFF. A dynamic XOFF
 * falls by alpha of what they take, which does not count.
 */
static u32 bfc_hold_beyond(const struct bfc_charges *charges, const struct bfc_cfg *cfg)
{
	u64 xoff = bfc_pfc_xoff_at(&cfg->in, bfc_buffer_free(charges->buffer)), sum = 0;
	unsigned long set = cfg->lossless;
	unsigned int prio;

	for_each_set_bit(prio, &set, BFC_PRIORITIES) {
		u64 word = atomic64_read(&charges->held[prio].cell.word);
		u32 share = bfc_cell_shared(word, charges->reserve);

		sum += share > xoff ? share - xoff : 0;
	}
	return div_u64(sum * BFC_ALPHA_ONE, BFC_ALPHA_ONE + cfg->in.alpha);
}

/* If XOFF and headroom are used up, what a long cable still brings may have more of the buffer. */
static bool bfc_hold_shared(const struct bfc_ingress *ing, const struct bfc_cfg *cfg, u8 prio,
			    bool lossless, u32 len, u64 *word)
{
	const struct bfc_cell_cfg *cell = lossless ? &cfg->cell : &cfg->lossy;
	struct bfc_pool *pool = &ing->charges->buffer->pool;
	struct bfc_held *held = &ing->charges->held[prio];

	if (likely(bfc_pool_charge(pool, &held->cell, cell, len, word) != BFC_POOL_REFUSED))
		return true;
	return cell->beyond &&
	       bfc_pool_charge_beyond(pool, &held->cell, cell, len,
				      bfc_hold_beyond(ing->charges, cfg), word) != BFC_POOL_REFUSED;
}

/* Without a buffer only MAX bounds what a lossless priority may hold. */
static bool bfc_hold_alone(struct bfc_held *held, const struct bfc_cfg *cfg,
			   u32 len, u64 *word)
{
	*word = atomic64_add_return(len, &held->cell.word);
	if (likely(*word <= cfg->in.max) ||
	    *word <= bfc_grace_bytes(atomic64_read(&held->grace)))
		return true;
	/* A full barrier, too: bfc_prio_look() comes next. */
	atomic64_sub_return(len, &held->cell.word);
	return false;
}

/**
 * bfc_hold_by() - put other thresholds into use
 * @ing: the object that is charged, without a shared buffer
 * @cfg: the new ones
 *
 * A neighbour that the old XOFF has not paused sends until a pause by the new one reaches it:
 * what is held then may be more than the new MAX, and there was room for it. The amount is known
 * only once all use @cfg: until then there is room for anything. What is held beyond the old MAX is
 * a grace before this one: it gets no headroom once more, else each change would add some while no
 * packet leaves.
 *
 * Context: process, the port's lock held.
 */
void bfc_hold_by(struct bfc_ingress *ing, const struct bfc_cfg *cfg)
{
	const struct bfc_cfg *old = rcu_dereference_protected(ing->cfg, true);
	struct bfc_charges *charges = ing->charges;
	u64 number, most, bound[BFC_PRIORITIES];
	unsigned int prio;

	charges->graces++;
	number = (u64)charges->graces << 32;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		struct bfc_held *held = &charges->held[prio];

		bound[prio] = max_t(u64, bfc_grace_bytes(atomic64_read(&held->grace)),
				    (u64)old->in.max + cfg->in.headroom);
		atomic64_set(&held->grace, number | BFC_GRACE_ANY);
	}
	rcu_assign_pointer(ing->cfg, cfg);
	/* Below, read what was charged by the old ones. Also pairs with the acquire in
	 * bfc_hold_grace_ends().
	 */
	smp_mb();
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		struct bfc_held *held = &charges->held[prio];

		most = atomic64_read(&held->cell.word) + cfg->in.headroom;
		most = min3(most, bound[prio], (u64)BFC_GRACE_ANY - 1);
		atomic64_set(&held->grace, most > cfg->in.max ? number | most : 0);
	}
}

/* If the pause of this priority is timed, tell that a packet of it has come in all the same. */
static void bfc_hold_watch(const struct bfc_ingress *ing, unsigned int prio)
{
	struct bfc_port *port = rcu_dereference(ing->port);
	u16 what = BFC_WATCH_PRIO | prio;

	if (unlikely(port && READ_ONCE(port->watched) == what))
		bfc_hrtt_came(port, what);
}

/* Once the bytes of a grace are known, its thresholds are in use. If newer ones are in use
 * by now, so is their grace: it has another number, so that the cmpxchg leaves it as it is.
 */
static void bfc_hold_grace_ends(struct bfc_ingress *ing, struct bfc_held *held)
{
	/* Pairs with the barrier in bfc_hold_by(). */
	u64 grace = atomic64_read_acquire(&held->grace);
	const struct bfc_cfg *cfg = rcu_dereference(ing->cfg);

	if (cfg && bfc_grace_bytes(grace) != BFC_GRACE_ANY &&
	    atomic64_read(&held->cell.word) <= cfg->in.xoff)
		atomic64_cmpxchg(&held->grace, grace, 0);
}

/* True if the mode has room for @len bytes in the egress queue of a priority. */
static bool bfc_egress_admits(const struct bfc_sched *q, const struct bfc_cfg *cfg, u8 prio,
			      u32 len)
{
	return likely(!q->egress) || !q->cfg->fc->admit ||
	       INDIRECT_CALL_1(q->cfg->fc->admit, bfc_capfc_admit, q, cfg, prio, len);
}

/**
 * bfc_hold() - charge a packet to the port that it came in through
 * @q: scheduler of the egress port
 * @skb: the packet, its cb filled, not in a queue yet
 *
 * Not charged are packets of our own, and those of lossy priorities without a
 * shared buffer.
 *
 * Context: under the root lock of the egress port, BH off, RCU.
 * Return: true if there is room for it.
 */
bool bfc_hold(struct bfc_sched *q, struct sk_buff *skb)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	u32 len = qdisc_pkt_len(skb);
	struct bfc_ingress *ing = bfc_brought_by(q, skb);
	const struct bfc_cfg *cfg = ing ? rcu_dereference(ing->cfg) : NULL;
	bool elided = bfc_elides(q, ing);
	bool lossless, room = true;
	struct bfc_buffer *buffer;
	struct bfc_held *held;
	u64 word;

	if (!bfc_egress_admits(q, elided ? NULL : cfg, cb->prio, len)) {
		q->stats.drop_max++;
		return false;
	}
	if (!cfg)
		return true;
	lossless = cfg->lossless & BIT(cb->prio);
	if (elided) {
		q->stats.elided += lossless || ing->charges->buffer;
		return true;
	}
	if (lossless)
		bfc_hold_watch(ing, cb->prio);
	held = &ing->charges->held[cb->prio];
	buffer = ing->charges->buffer;
	if (buffer) {
		room = bfc_hold_shared(ing, cfg, cb->prio, lossless, len, &word);
		q->stats.drop_buffer += !room;
		bfc_buffer_peak(buffer);
	} else if (lossless) {
		room = bfc_hold_alone(held, cfg, len, &word);
		q->stats.drop_max += !room;
	} else {
		return true;
	}
	if (room) {
		cb->held = 1;
		cb->promised = lossless;
		cb->handle = skb->tc_index;
		atomic_inc(&ing->packets);
		bfc_note_peak(&held->peak, bfc_cell_held(word));
		if (ing->account)
			INDIRECT_CALL_1(ing->fc->charged, bfc_fafc_held, ing, cfg,
					cb->prio, len, true, bfc_now(q));
	}
	if (lossless)
		bfc_prio_look(ing, cb->prio);
	return room;
}

/**
 * bfc_holds_whole() - whether there is room for a packet of several segments in one piece
 * @q: scheduler of the egress port
 * @skb: the packet, not in a queue yet
 * @prio: its priority
 *
 * Up to XOFF there is. Beyond it, or in a shared buffer, single frames may find room where
 * the whole packet would not.
 *
 * Context: as bfc_hold().
 * Return: true if so, or if nothing charges it.
 */
bool bfc_holds_whole(struct bfc_sched *q, const struct sk_buff *skb, u8 prio)
{
	struct bfc_ingress *ing = bfc_brought_by(q, skb);
	const struct bfc_cfg *cfg = ing ? rcu_dereference(ing->cfg) : NULL;
	bool elided = bfc_elides(q, ing);
	u32 len = qdisc_pkt_len(skb);

	if (!bfc_egress_admits(q, elided ? NULL : cfg, prio, len))
		return false;
	if (!cfg || elided)
		return true;
	if (ing->charges->buffer)
		return false;
	return !(cfg->lossless & BIT(prio)) ||
	       atomic64_read(&ing->charges->held[prio].cell.word) + len <= cfg->in.xoff;
}

/**
 * bfc_unhold() - a packet that was charged leaves, sent or dropped
 * @q: scheduler of the egress port
 * @skb: the packet
 * @ing: of the handle in its cb: it stays until it holds nothing any more
 *
 * Context: under the root lock of the egress port, or the qdisc is not in use; BH off, RCU.
 */
void bfc_unhold(struct bfc_sched *q, struct sk_buff *skb, struct bfc_ingress *ing)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	u32 len = qdisc_pkt_len(skb);
	struct bfc_charges *charges;
	struct bfc_ingress *live;	/* may be others than @ing, which are dead then */
	struct bfc_held *held;
	u64 word;

	cb->held = 0;
	cb->promised = 0;
	if (WARN_ON_ONCE(!ing))
		return;
	charges = ing->charges;
	live = rcu_dereference(charges->ing);
	held = &charges->held[cb->prio];
	if (charges->buffer) {
		struct bfc_cell_cfg cell = { .reserve = charges->reserve };

		WARN_ON_ONCE(bfc_pool_uncharge(&charges->buffer->pool, &held->cell,
					       &cell, len, &word) ==
			     BFC_POOL_REFUSED);
	} else {
		word = atomic64_sub_return(len, &held->cell.word);
		WARN_ON_ONCE((s64)word < 0);
		if (unlikely(live && atomic64_read(&held->grace)))
			bfc_hold_grace_ends(live, held);
	}
	if (ing->account)
		INDIRECT_CALL_1(ing->fc->charged, bfc_fafc_held, ing,
				rcu_dereference(ing->cfg), cb->prio, len, false,
				bfc_now(q));
	atomic_dec(&ing->packets);
	if (live)
		bfc_prio_look(live, cb->prio);
}
