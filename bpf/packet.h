/* SPDX-License-Identifier: GPL-2.0 */
/* Where the headers of a packet are, and of the packet that an ICMP error quotes. */
#ifndef BFC_PACKET_H
#define BFC_PACKET_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define VLAN_TAGS	2

/* Lengths of headers without options, 32 bits for the verifier's sake */
#define IP4_HLEN	((__u32)sizeof(struct iphdr))
#define IP6_HLEN	((__u32)sizeof(struct ipv6hdr))
#define ICMP_HLEN	8U
#define ICMP_CSUM	2	/* where the checksum is */

#define IP4_FRAG_MASK	0x3fff	/* more fragments, or not the first */
#define IP4_OFFSET	0x1fff	/* units of 8 bytes */

/* What lies behind the EtherType of a VLAN tag. */
struct vlan {
	__be16 tci;
	__be16 proto;
};

/* Headers of a packet. Offsets are from the MAC header. @frag: of IPv4, with
 * IP4_FRAG_MASK; 0 = not a fragment. At an edge also:
 * @end: where it ends
 * @error: if it is quoted, the ICMP header in front of it; else 0
 */
struct packet {
	__u32 l3;
	__u32 l4;
	__u32 end;
	__u32 error;
	__u16 frag;
	__u8 version;
	__u8 proto;
};

/* A 16-bit word of a packet in network byte order, at an even offset from the
 * IP header.
 */
static __always_inline __u32 word16(const __u8 *p)
{
	return *(const __u16 *)p;
}

/* struct ethhdr is packed, so the compiler would read its members by bytes. */
static __always_inline __u32 ethertype(const __u8 *data)
{
	return word16(data + offsetof(struct ethhdr, h_proto));
}

static __always_inline int parse(const struct __sk_buff *skb, struct packet *pkt)
{
	const __u8 *data = (const __u8 *)(long)skb->data;
	const __u8 *data_end = (const __u8 *)(long)skb->data_end;
	__u32 l3 = ETH_HLEN, proto;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip4;
	const struct vlan *tag;
	int i;

	if (data + ETH_HLEN > data_end)
		return -1;
	proto = ethertype(data);
	for (i = 0; i < VLAN_TAGS; i++) {
		if (proto != bpf_htons(ETH_P_8021Q) &&
		    proto != bpf_htons(ETH_P_8021AD))
			break;
		tag = (const void *)(data + l3);
		if ((const __u8 *)(tag + 1) > data_end)
			return -1;
		proto = tag->proto;
		l3 += sizeof(*tag);
	}
	pkt->l3 = l3;
	if (proto == bpf_htons(ETH_P_IP)) {
		ip4 = (const void *)(data + l3);
		if ((const __u8 *)(ip4 + 1) > data_end || ip4->version != 4)
			return -1;
		pkt->version = 4;
		pkt->frag = bpf_ntohs(ip4->frag_off) & IP4_FRAG_MASK;
		pkt->proto = ip4->protocol;
		pkt->l4 = l3 + ip4->ihl * 4;
		return pkt->l4 < l3 + IP4_HLEN ? -1 : 0;
	}
	ip6 = (const void *)(data + l3);
	if (proto != bpf_htons(ETH_P_IPV6) || (const __u8 *)(ip6 + 1) > data_end ||
	    ip6->version != 6)
		return -1;
	pkt->version = 6;
	pkt->frag = 0;
	pkt->proto = ip6->nexthdr;
	pkt->l4 = l3 + IP6_HLEN;
	return 0;
}

/* Types of ICMP that quote what they are about: unreachable, source quench, redirect, time
 * exceeded, parameter problem. Of ICMPv6 those below 128 do, and redirects.
 */
#define ICMP_QUOTES	(1U << 3 | 1U << 4 | 1U << 5 | 1U << 11 | 1U << 12)
#define ND_REDIRECT	137		/* RFC 4861, 4.5 */
#define ND_REDIRECT_LEN	40
#define ND_OPT_QUOTE	4		/* 4.6.3 */
#define ND_OPT_LEN	8		/* of which the length counts multiples */
#define ND_OPTIONS	4		/* looked at; Linux sends two */

/* Where an IPv6 redirect at @at quotes a packet; 0 if it does not. */
static __always_inline __u32 redirected(const struct __sk_buff *skb, __u32 at)
{
	__u8 opt[2];
	int i;

	at += ND_REDIRECT_LEN;
	for (i = 0; i < ND_OPTIONS; i++) {
		if (bpf_skb_load_bytes(skb, at, opt, sizeof(opt)))
			return 0;
		if (opt[0] == ND_OPT_QUOTE)
			return at + ND_OPT_LEN;
		at += opt[1] * ND_OPT_LEN;
	}
	return 0;
}

/* Make @pkt, which is ICMP, the packet that it quotes.
 *
 * Return: 0, or -1 if it quotes none, or not so much that a hop may have written into it.
 */
static __always_inline int quote(const struct __sk_buff *skb, struct packet *pkt)
{
	struct ipv6hdr ip6;
	struct iphdr ip4;
	__be16 len;
	__u8 type;

	/* Behind the end of IP there may be padding, which ICMP's checksum does not cover. */
	if (bpf_skb_load_bytes(skb, pkt->l3 + (pkt->version == 4 ?
					       offsetof(struct iphdr, tot_len) :
					       offsetof(struct ipv6hdr, payload_len)),
			       &len, sizeof(len)) ||
	    bpf_skb_load_bytes(skb, pkt->l4, &type, sizeof(type)))
		return -1;
	pkt->end = pkt->l3 + bpf_ntohs(len) + (pkt->version == 4 ? 0 : IP6_HLEN);
	pkt->error = pkt->l4;
	pkt->l3 = pkt->l4 + ICMP_HLEN;
	if (pkt->version == 4) {
		if (type > 31 || !(1U << type & ICMP_QUOTES) ||
		    bpf_skb_load_bytes(skb, pkt->l3, &ip4, sizeof(ip4)) || ip4.version != 4 ||
		    ip4.ihl * 4 < IP4_HLEN)
			return -1;
		pkt->frag = bpf_ntohs(ip4.frag_off) & IP4_FRAG_MASK;
		pkt->proto = ip4.protocol;
		pkt->l4 = pkt->l3 + ip4.ihl * 4;
		return 0;
	}
	if (type == ND_REDIRECT)
		pkt->l3 = redirected(skb, pkt->error);
	else if (type > 127)
		return -1;
	if (!pkt->l3 || bpf_skb_load_bytes(skb, pkt->l3, &ip6, sizeof(ip6)) || ip6.version != 6)
		return -1;
	pkt->proto = ip6.nexthdr;
	pkt->l4 = pkt->l3 + IP6_HLEN;
	return 0;
}

#endif /* BFC_PACKET_H */
