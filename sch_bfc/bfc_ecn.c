// SPDX-License-Identifier: GPL-2.0
/*
 * ECN marks of packets that are queued with their MAC header.
 */
#include <linux/if_vlan.h>
#include <net/inet_ecn.h>

#include "bfc.h"

/**
 * bfc_ramp_hits() - decide if the ramp marks a packet
 * @q: scheduler of the egress port
 * @bytes: the queue that it meets, longer than `ecn`
 *
 * No random number is drawn where all packets are marked. The scheduler's generator takes a few
 * shifts in a cache line that this CPU has; get_random_u32() would take a lock and may run
 * ChaCha.
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
 * bfc_mark_ce() - mark a packet CE (ECN)
 * @skb: the packet, data at the MAC header
 *
 * Return: true if it could be marked.
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
	/* A packet that was flooded shares its data with its copies. */
	if (skb_ensure_writable(skb, min_t(u32, skb->len, len +
					   sizeof(struct ipv6hdr))))
		return false;
	skb_set_network_header(skb, len);
	marked = INET_ECN_set_ce(skb);
	skb_set_network_header(skb, network);
	return marked;
}
