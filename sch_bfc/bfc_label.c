// SPDX-License-Identifier: GPL-2.0
/*
 * The incast label (BFC App. A.7): the sender says which flows are an incast, and these
 * share one queue of each port. They are one flow, with an entry of the flow table like any
 * other, and one destination: what `assign destination` has others share is not theirs.
 */
#include "bfc.h"

/**
 * bfc_is_labelled() - has a packet the incast label?
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
