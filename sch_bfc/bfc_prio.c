// SPDX-License-Identifier: GPL-2.0
/*
 * The priority of a packet, by PCP, DSCP or skb->priority.
 */
#include <linux/if_vlan.h>

#include "bfc.h"

static u8 bfc_pcp_of(const struct sk_buff *skb)
{
	const struct vlan_ethhdr *hdr = (void *)skb->data;

	if (skb_vlan_tag_present(skb))
		return skb_vlan_tag_get_prio(skb);
	if (eth_type_vlan(skb->protocol) && skb_headlen(skb) >= sizeof(*hdr))
		return ntohs(hdr->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
	return 0;
}

/**
 * bfc_dscp_of() - the DSCP of a packet
 * @skb: at egress, data at the MAC header
 *
 * Return: the DSCP; 0 if the packet is not IP or too short.
 */
u8 bfc_dscp_of(const struct sk_buff *skb)
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
	switch (q->cfg->prio) {
	case BFC_PRIO_PCP:
		return q->cfg->map[bfc_pcp_of(skb)];
	case BFC_PRIO_DSCP:
		return q->cfg->map[bfc_dscp_of(skb)];
	default:
		return q->cfg->map[skb->priority < 16 ? skb->priority : 0];
	}
}
