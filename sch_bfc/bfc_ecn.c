// SPDX-License-Identifier: GPL-2.0
/*
 * ECN marks of packets that are queued with their MAC header.
 */
#include <linux/if_vlan.h>
#include <net/inet_ecn.h>

#include "bfc.h"

/**
 * bfc_ramp_hits() - is a packet one of those that are marked?
 * @q: scheduler of the egress port
 * @bytes: the queue that it meets, longer than `ecn`
 *
 * Where all of them are, nothing is drawn. The generator is that of the scheduler: a few shifts
 * of what this CPU has at hand, where get_random_u32() takes a lock and may run ChaCha.
 *
 * Context: under the root lock.
 * Return: true if so.
 */
bool bfc_ramp_hits(struct bfc_sched *q, u64 bytes)
{
	u64 share = bfc_ramp_share(&q->cfg->ramp, bytes);

	return share >= BFC_RAMP_ONE || prandom_u32_state(&q->random) < share;
}

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
