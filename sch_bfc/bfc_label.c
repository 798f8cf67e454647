// SPDX-License-Identifier: GPL-2.0
/*
 * The incast label (BFC App. A.7): the sender labels the flows of an incast, and these share one
 * queue of each port. They count as one flow, with a flow table entry like any other, and as one
 * destination, so that `assign destination` does not let other flows share their queue.
 */
#include "bfc.h"

/**
 * bfc_is_labelled() - check if a packet has the incast label
 * @q: scheduler of the egress port, with a label
 * @skb: at egress, data at the MAC header
 *
 * Return: true if so.
 */
bool bfc_is_labelled(const struct bfc_sched *q, const struct sk_buff *skb)
{
	if (q->cfg->label == BFC_LABEL_DSCP)
		return bfc_dscp_of(skb) == q->cfg->label_value;
	return (skb->mark & q->cfg->label_mask) == q->cfg->label_value;
}
