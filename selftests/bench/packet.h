/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets for qdiscs, made by the benchmarks themselves.
 */
#ifndef _PACKET_H
#define _PACKET_H

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/sch_generic.h>

#include "bfc_compat.h"

/**
 * packet_new() - an IPv4 packet with its MAC header, up to the transport header
 * @dev: that it leaves through
 * @len: bytes that it is to have
 * @protocol: IPPROTO_*
 * @saddr: from 10.0.0.0 on
 * @daddr: from 10.1.0.0 on
 * @gfp: how to allocate it
 *
 * Return: the packet, which packet_end() completes; NULL: no memory.
 */
static inline struct sk_buff *packet_new(struct net_device *dev, unsigned int len, u8 protocol,
					 u32 saddr, u32 daddr, gfp_t gfp)
{
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + len, gfp);
	struct ethhdr *eth;
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, sizeof(*eth));
	eth->h_dest[0] = 2;
	eth->h_source[0] = 2;
	eth->h_source[5] = 1;
	eth->h_proto = htons(ETH_P_IP);
	skb_set_network_header(skb, sizeof(*eth));
	ip = skb_put_zero(skb, sizeof(*ip));
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->ttl = 64;
	ip->protocol = protocol;
	ip->tot_len = htons(len - sizeof(*eth));
	ip->saddr = htonl(0x0a000000 + saddr);
	ip->daddr = htonl(0x0a010000 + daddr);
	skb_set_transport_header(skb, sizeof(*eth) + sizeof(*ip));
	skb->protocol = htons(ETH_P_IP);
	skb->dev = dev;
	return skb;
}

/**
 * packet_put_udp() - the UDP header of a packet
 * @skb: from packet_new()
 * @len: bytes that it is to have
 * @flow: the source port is 1024 and that
 */
static inline void packet_put_udp(struct sk_buff *skb, unsigned int len, unsigned int flow)
{
	struct udphdr *udp = skb_put_zero(skb, sizeof(*udp));

	udp->source = htons(1024 + flow);
	udp->dest = htons(9);
	udp->len = htons(len - sizeof(struct ethhdr) - sizeof(struct iphdr));
}

/**
 * packet_end() - data behind the headers
 * @skb: from packet_new()
 * @len: bytes that it is to have
 */
static inline void packet_end(struct sk_buff *skb, unsigned int len)
{
	skb_put_zero(skb, len - skb->len);
}

/**
 * packet_again() - make a packet that a qdisc has had as it was before
 * @skb: from packet_new(), of which the caller keeps a reference
 * @tc_index: what the ingress hook wrote
 *
 * Return: @skb, with a reference for the next qdisc.
 */
static inline struct sk_buff *packet_again(struct sk_buff *skb, u16 tc_index)
{
	__vlan_hwaccel_clear_tag(skb);
	skb_mark_not_on_list(skb);
	skb->tstamp = 0;
	skb->tc_index = tc_index;
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	bfc_set_pkt_segs(skb, 1);
	return skb_get(skb);
}

#endif /* _PACKET_H */
