// SPDX-License-Identifier: GPL-2.0
/* Compiles if a queued packet says of how many segments it is (6.19 on). */
#include <net/sch_generic.h>

u16 probe(const struct qdisc_skb_cb *cb);

u16 probe(const struct qdisc_skb_cb *cb)
{
	return cb->pkt_segs;
}
