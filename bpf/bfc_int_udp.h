/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INT that bfc_int_udp.bpf.c has received in UDP packets (RoCEv2): the map
 * "bfc_int_udp", which user space reads.
 */
#ifndef BFC_INT_UDP_H
#define BFC_INT_UDP_H

#define BFC_INT_UDP_HOPS	5	/* BFC_INT_HOPS_MAX */
#define BFC_INT_UDP_FLOWS	4096	/* then the least recently used one is replaced */

/**
 * struct bfc_int_udp_key - a flow, as ECMP distinguishes flows
 * @netns: cookie of the network namespace, never used again
 * @ifindex: of the ingress device, in that namespace
 * @family: 4 or 6
 * @sport: UDP source port, host order: with RoCEv2 it stands for the queue pair
 * @src: address; of IPv4 the first four bytes
 * @dst: address
 */
struct bfc_int_udp_key {
	__u64	netns;
	__u32	ifindex;
	__u16	family;
	__u16	sport;
	__u8	src[16];
	__u8	dst[16];
};

/**
 * struct bfc_int_udp_flow - newest record of a flow
 * @time: bpf_ktime_get_ns() when it came
 * @packets: packets received with INT
 * @overflows: of these, packets that passed more hops than there are records
 * @path: bfc_int_head_bits()
 * @hops: valid entries of @hop
 * @hop: as on the wire, in the path's order; entries from @hops on are 0
 */
struct bfc_int_udp_flow {
	__u64	time;
	__u64	packets;
	__u64	overflows;
	__u32	path;
	__u32	hops;
	__be64	hop[BFC_INT_UDP_HOPS];
};

/* Packets, of all devices together: the map "bfc_int_udp_count". */
enum {
	BFC_INT_UDP_MARKED,	/* sent with an empty head */
	BFC_INT_UDP_UNMARKED,	/* sent without: checksum, VLAN tag, MTU, GSO, peer outside */
	BFC_INT_UDP_STRIPPED,	/* received, INT taken off */
	BFC_INT_UDP_BAD,	/* received, left alone: no whole INT, or from outside */
	BFC_INT_UDP_FAILED,	/* dropped: changed half-way */
	__BFC_INT_UDP_COUNTS
};

#endif /* BFC_INT_UDP_H */
