// SPDX-License-Identifier: GPL-2.0
/*
 * Is a priority of an ingress port over XOFF? The egress that changed what is held asks
 * in order to mark the port dirty, the sender of the frame in order to build it. Order
 * of reads and writes: bfc_pfc.h.
 */
#include "bfc.h"

static u32 bfc_buffer_free(const struct bfc_buffer *buffer)
{
	if (!buffer)
		return 0;
	return bfc_pool_free(READ_ONCE(buffer->pool.size),
			     atomic_long_read(&buffer->pool.shared));
}

/**
 * bfc_prio_judge() - is a priority over XOFF, and is it to be paused?
 * @ing: the ingress port
 * @cfg: its thresholds
 * @prio: a lossless priority
 * @state: &bfc_ingress.state, of which that of @prio is the history
 *
 * Context: RCU.
 * Return: @state with the bits of @prio as they should be now.
 */
u16 bfc_prio_judge(const struct bfc_ingress *ing, const struct bfc_cfg *cfg,
		   unsigned int prio, u16 state)
{
	const struct bfc_held *held = &ing->held[prio];
	u64 word = atomic64_read(&held->cell.word);
	bool over, paused;

	over = bfc_pfc_next(&cfg->in, state & BFC_STATE_OVER(prio),
			    bfc_cell_shared(word, ing->reserve),
			    bfc_cell_headroom(word),
			    bfc_buffer_free(ing->buffer));
	paused = bfc_capfc_decide(over, atomic64_read(&held->signals),
				  ing->slot);
	state &= ~(BFC_STATE_OVER(prio) | BFC_STATE_PAUSED(prio));
	return state | (over ? BFC_STATE_OVER(prio) : 0) |
	       (paused ? BFC_STATE_PAUSED(prio) : 0);
}

/**
 * bfc_prio_look() - something changed for a priority: must the neighbour know?
 * @ing: the ingress port
 * @prio: the priority
 *
 * The caller has just changed it by an atomic operation with a full barrier.
 *
 * Context: RCU, BH off; any root lock may be held.
 */
void bfc_prio_look(struct bfc_ingress *ing, unsigned int prio)
{
	const struct bfc_cfg *cfg = rcu_dereference(ing->cfg);
	struct bfc_port *port = rcu_dereference(ing->port);
	u16 state = READ_ONCE(ing->state);

	if (cfg && port && cfg->lossless & BIT(prio) &&
	    bfc_prio_judge(ing, cfg, prio, state) != state)
		bfc_port_mark_dirty(port);
}
