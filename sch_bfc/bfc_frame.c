// SPDX-License-Identifier: GPL-2.0
/*
 * Control frames of a port: allocation, and the Ethernet header.
 */
#include <linux/etherdevice.h>

#include "bfc.h"

const u8 bfc_group_addr[ETH_ALEN] __aligned(2) = BFC_GROUP_ADDR;

/**
 * bfc_frame_alloc() - an empty control frame of a port
 * @port: the port
 * @len: bytes from the destination address on
 *
 * Return: the frame with its Ethernet header and zeroes behind, or NULL.
 */
struct sk_buff *bfc_frame_alloc(struct bfc_port *port, unsigned int len)
{
	struct net_device *dev = port->dev;
	struct sk_buff *skb;
	struct ethhdr *eth;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + len + dev->needed_tailroom,
			GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev) - ETH_HLEN);
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, len);
	ether_addr_copy(eth->h_dest, bfc_group_addr);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	eth->h_proto = htons(BFC_ETHERTYPE);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(BFC_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	skb_set_queue_mapping(skb, 0);
	qdisc_skb_cb(skb)->pkt_len = len;
	bfc_set_pkt_segs(skb, 1);
	return skb;
}

/**
 * bfc_is_pause_frame() - check for an empty PAUSE, which only makes the qdisc run
 * @skb: at egress, data at the MAC header
 *
 * bfc_kick_dirty() sends them. One from a local program has the same effect: the qdisc runs, the
 * frame is dropped.
 *
 * Return: true if so.
 */
bool bfc_is_pause_frame(const struct sk_buff *skb)
{
	return skb->protocol == htons(BFC_ETHERTYPE) &&
	       bfc_is_empty_pause(skb->data, skb_headlen(skb));
}
