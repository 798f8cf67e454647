// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_int_udp - INT in RoCEv2: the hosts' side, at clsact
 *
 *	Ethernet | IP | UDP, port 4791             | BTH ...
 *	Ethernet | IP | UDP, port BFC_INT_UDP_PORT | head | records | BTH ...
 *
 * Egress asks for INT: it changes the port and puts an empty head behind the
 * UDP header. The hops append to it. Ingress removes head and records before
 * the stack sees the packet, keeps the newest records of each flow, and
 * restores lengths, port and checksum to the sender's values, which RoCEv2's
 * own checksum (ICRC) covers. A packet without complete INT behind its UDP
 * header is left alone, and counted.
 *
 * RoCEv2 has no UDP checksum, not even over IPv6. Egress does not mark a packet
 * that has one. Ingress leaves such a packet alone, as that of another program:
 * INT's port is one of the ephemeral ports.
 *
 * Peers outside the configured prefixes are sent no INT, and packets that they
 * send to INT's port are not changed: they must not become RoCEv2 behind a
 * filter that keeps RoCEv2 out. The local address must be in a prefix, too:
 * otherwise a peer with the same prefixes would not change packets from here
 * back into RoCEv2.
 *
 * Packets with a VLAN tag are not marked: they may arrive with the tag in the
 * packet, behind the tag of upstreamQ, where a packet cannot be shortened. The
 * VLAN's own device sees packets without a tag, at both ends.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/bfc_int.h>
#include "bfc_int_udp.h"
#include "bfc_peer.h"
#include "ip_len.h"

#define IP_FRAGMENT	0x3fff	/* more fragments, or an offset */

_Static_assert(BFC_INT_UDP_HOPS == BFC_INT_HOPS_MAX, "records of a packet");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BFC_INT_UDP_FLOWS);
	__type(key, struct bfc_int_udp_key);
	__type(value, struct bfc_int_udp_flow);
} bfc_int_udp SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, __BFC_INT_UDP_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} bfc_int_udp_count SEC(".maps");

/* bfcctl sets it before it loads the program: in Linux 6.1 tc programs cannot
 * call bpf_get_netns_cookie().
 */
const volatile __u64 bfc_int_netns;

/* INT as it is in the packet */
struct int_bytes {
	__u8 head[BFC_INT_HEAD_LEN];
	__be64 hop[BFC_INT_UDP_HOPS];
} __attribute__((packed, aligned(2)));

static __always_inline void count(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&bfc_int_udp_count, &what);

	if (n)
		__sync_fetch_and_add(n, 1);	/* with PREEMPT_RT tasks of a CPU share it */
}

/* Where the UDP header starts if this is UDP to @port, else 0. Fills in the key. */
static __always_inline __u32 udp_offset(struct __sk_buff *skb, __u16 port,
					struct bfc_int_udp_key *key)
{
	__u32 at = sizeof(struct ethhdr);
	struct ipv6hdr ip6;
	struct udphdr udp;
	struct iphdr ip;

	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)) ||
		    ip.protocol != IPPROTO_UDP || ip.version != 4 ||
		    ip.ihl * 4 != sizeof(ip) ||
		    ip.frag_off & bpf_htons(IP_FRAGMENT))
			return 0;
		key->family = 4;
		__builtin_memcpy(key->src, &ip.saddr, sizeof(ip.saddr));
		__builtin_memcpy(key->dst, &ip.daddr, sizeof(ip.daddr));
		at += sizeof(ip);
	} else if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
		if (bpf_skb_load_bytes(skb, at, &ip6, sizeof(ip6)) ||
		    ip6.nexthdr != IPPROTO_UDP || ip6.version != 6)
			return 0;
		key->family = 6;
		__builtin_memcpy(key->src, &ip6.saddr, sizeof(ip6.saddr));
		__builtin_memcpy(key->dst, &ip6.daddr, sizeof(ip6.daddr));
		at += sizeof(ip6);
	} else {
		return 0;
	}
	if (bpf_skb_load_bytes(skb, at, &udp, sizeof(udp)) ||
	    udp.dest != bpf_htons(port))
		return 0;
	key->sport = bpf_ntohs(udp.source);
	key->netns = bfc_int_netns;
	key->ifindex = skb->ifindex;
	return at;
}

/* Returns 1 if @addr, one of the addresses in @key, is in a configured prefix. */
static __always_inline int end_is_inside(const struct bfc_int_udp_key *key, const __u8 *addr)
{
	struct address a = { .word[2] = bpf_htonl(0xffff) };

	if (key->family == 4) {
		__builtin_memcpy(&a.word[3], addr, sizeof(a.word[3]));
	} else {
		__builtin_memcpy(&a, addr, sizeof(a));
		/* An IPv4-mapped address would match prefixes of IPv4. */
		if (!a.word[0] && !a.word[1] && a.word[2] == bpf_htonl(0xffff))
			return 0;
	}
	return is_inside(&a);
}

static __always_inline void keep(const struct bfc_int_udp_key *key,
				 const struct int_bytes *in,
				 const struct bfc_int_head *head, __u32 hops)
{
	struct bfc_int_udp_flow fresh = {}, *flow;
	__u32 i;

	flow = bpf_map_lookup_elem(&bfc_int_udp, key);
	if (!flow) {
		bpf_map_update_elem(&bfc_int_udp, key, &fresh, BPF_NOEXIST);
		flow = bpf_map_lookup_elem(&bfc_int_udp, key);
		if (!flow)
			return;
	}
	flow->packets++;
	if (head->nhop > hops)
		flow->overflows++;
	flow->path = bfc_int_head_bits(head);
	flow->hops = hops;
	for (i = 0; i < BFC_INT_UDP_HOPS; i++)
		flow->hop[i] = i < hops ? in->hop[i] : 0;
	flow->time = bpf_ktime_get_ns();
}

SEC("tc")
int bfc_int_udp_ingress(struct __sk_buff *skb)
{
	struct bfc_int_udp_key key = {};
	struct int_bytes in = {};
	struct bfc_int_head head;
	__u32 at, hops, len, from;
	struct udphdr udp;

	at = udp_offset(skb, BFC_INT_UDP_PORT, &key);
	if (!at)
		return TC_ACT_UNSPEC;
	from = at + sizeof(udp);
	if (bpf_skb_load_bytes(skb, at, &udp, sizeof(udp)) || udp.check)
		return TC_ACT_UNSPEC;
	if (!end_is_inside(&key, key.src) ||
	    bpf_skb_load_bytes(skb, from, in.head, sizeof(in.head)))
		goto bad;
	bfc_int_get_head(in.head, &head);
	hops = head.nhop < BFC_INT_UDP_HOPS ? head.nhop : BFC_INT_UDP_HOPS;
	len = BFC_INT_LEN(hops);
	if (bpf_ntohs(udp.len) < sizeof(udp) + len || skb->gso_segs > 1)
		goto bad;
	if (bpf_skb_load_bytes(skb, from, in.head, len))
		goto bad;

	/* Copy the UDP header to the end of INT, then cut out the bytes before. */
	udp.dest = bpf_htons(BFC_INT_ROCE_PORT);
	udp.len = bpf_htons(bpf_ntohs(udp.len) - len);
	if (ip_len_add(skb, sizeof(struct ethhdr), key.family, -(__s32)len) ||
	    bpf_skb_store_bytes(skb, at + len, &udp, sizeof(udp), 0) ||
	    bpf_skb_adjust_room(skb, -(__s32)len, BPF_ADJ_ROOM_NET, 0)) {
		count(BFC_INT_UDP_FAILED);
		return TC_ACT_SHOT;
	}
	keep(&key, &in, &head, hops);
	count(BFC_INT_UDP_STRIPPED);
	return TC_ACT_UNSPEC;
bad:
	count(BFC_INT_UDP_BAD);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int bfc_int_udp_egress(struct __sk_buff *skb)
{
	struct {
		struct udphdr udp;
		__u8 head[BFC_INT_HEAD_LEN];
	} new = {};
	struct bfc_int_udp_key key = {};
	__u32 at, mtu = 0;

	at = udp_offset(skb, BFC_INT_ROCE_PORT, &key);
	if (!at)
		return TC_ACT_UNSPEC;
	if (bpf_skb_load_bytes(skb, at, &new.udp, sizeof(new.udp)) ||
	    new.udp.check || skb->vlan_present || skb->gso_segs > 1 ||
	    !end_is_inside(&key, key.src) || !end_is_inside(&key, key.dst) ||
	    bpf_check_mtu(skb, 0, &mtu, sizeof(new.head), 0)) {
		count(BFC_INT_UDP_UNMARKED);
		return TC_ACT_UNSPEC;
	}
	new.udp.dest = bpf_htons(BFC_INT_UDP_PORT);
	new.udp.len = bpf_htons(bpf_ntohs(new.udp.len) + sizeof(new.head));
	if (bpf_skb_adjust_room(skb, sizeof(new.head), BPF_ADJ_ROOM_NET, 0)) {
		count(BFC_INT_UDP_UNMARKED);
		return TC_ACT_UNSPEC;
	}
	if (bpf_skb_store_bytes(skb, at, &new, sizeof(new.udp) + sizeof(new.head),
				0) ||
	    ip_len_add(skb, sizeof(struct ethhdr), key.family,
		       sizeof(new.head))) {
		count(BFC_INT_UDP_FAILED);
		return TC_ACT_SHOT;
	}
	count(BFC_INT_UDP_MARKED);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
