// SPDX-License-Identifier: GPL-2.0
/*
 * Decide whether a priority of an ingress port is over XOFF: for the egress
 * that changed what is held, to mark the port dirty, and for the sender of the
 * frame, to build it. bfc_pfc.h has the order of reads and writes.
 */
#include "bfc.h"

/**
 * bfc_prio_judge() - decide if a priority is over XOFF, and if it is to be paused
 * @ing: the ingress port
 * @cfg: its thresholds
 * @prio: a lossless priority
 * @state: &bfc_ingress.state; the bits of @prio in it are the last decision
 *
 * Context: RCU.
 * Return: @state with the bits of @prio as they should be now.
 */
u16 bfc_prio_judge(const struct bfc_ingress *ing, const struct bfc_cfg *cfg,
		   unsigned int prio, u16 state)
{
	const struct bfc_charges *charges = ing->charges;
	u64 word = atomic64_read(&charges->held[prio].cell.word);
	bool over, paused;

	over = bfc_pfc_next(&cfg->in, state & BFC_STATE_OVER(prio),
			    bfc_cell_shared(word, charges->reserve),
			    bfc_cell_headroom(word),
			    charges->buffer ? bfc_buffer_free(charges->buffer) : 0);
	paused = bfc_capfc_decide(over, atomic64_read(&ing->signals[prio]),
				  ing->slot);
	state &= ~(BFC_STATE_OVER(prio) | BFC_STATE_PAUSED(prio));
	return state | (over ? BFC_STATE_OVER(prio) : 0) |
	       (paused ? BFC_STATE_PAUSED(prio) : 0);
}

/**
 * bfc_prio_look() - mark the port dirty if the pause of a priority has to change
 * @ing: the ingress port
 * @prio: the priority
 *
 * The caller has just changed what is held or signalled, with an atomic operation that is a full
 * barrier.
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
