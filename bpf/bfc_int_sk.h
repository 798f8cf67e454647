/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INT state of a TCP socket: the value of the map "bfc_int_sk"
 * (BPF_MAP_TYPE_SK_STORAGE), which bfcctl pins.
 *
 * bfc_int_tcp.bpf.c writes it, with the socket locked: a socket has one if and
 * only if its handshake agreed on INT. Congestion control (struct_ops or
 * sockops) reads it, also under the socket's lock, when an ACK is processed:
 * the option is parsed before tcp_ack() runs. User space reads it through
 * sock_diag.
 *
 *	struct bfc_int_sk *is = bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0);
 *
 *	if (is && is->echo.count != my->count) {	// this ACK has a record
 *		my->count = is->echo.count;
 *		bfc_int_head_set(&head, is->echo.path);
 *		if (is->echo.hops == head.nhop) ...
 *	}
 */
#ifndef BFC_INT_SK_H
#define BFC_INT_SK_H

#include "bfc_int_conf.h"

#define BFC_INT_SK_HOPS		4	/* BFC_INT_TCP_HOPS_MAX */

/* The INT option that a packet carries */
enum {
	BFC_INT_SK_NOTHING,
	BFC_INT_SK_RECORD,	/* room for the hops to write to */
	BFC_INT_SK_ECHO,	/* what hops wrote into the peer's packets */
};

/**
 * struct bfc_int_sk_record - newest INT record of one direction
 * @time: bpf_ktime_get_ns() when it came
 * @count: records that came so far; 0 = none yet, the rest is void
 * @path: bfc_int_head_bits()
 * @hops: valid entries of @hop; less than nHop if the path has more hops than
 *	  the option had room for (the last ones are then missing)
 * @slots: hops that the option had room for
 * @overflows: records of paths with more hops than the option had room for
 * @stale: records that were not newer than the one that is kept
 * @hop: 64 bits a hop as on the wire, for bfc_int_tcp_get_hop(), in the path's order;
 *	 entries from @hops on are 0
 */
struct bfc_int_sk_record {
	__u64	time;
	__u32	count;
	__u16	path;
	__u8	hops;
	__u8	slots;
	__u32	overflows;
	__u32	stale;
	__be64	hop[BFC_INT_SK_HOPS];
};

/**
 * struct bfc_int_sk - INT of a TCP socket
 * @echo: for the sender: what the network wrote into our segments, as the peer
 *	  sent it back on an ACK
 * @seen: for the receiver: what the network wrote into the peer's segments
 * @cgroup: &bfc_int_config.cgroup of the program that owns the connection
 * @echoed: @seen.count when the last echo was sent
 * @slots: hops that our segments have room for
 * @reserved: bytes that the current MSS leaves for INT: the longest option of a
 *	      segment with data
 * @credit: segments since the last one with room for a record ("every N")
 * @sent: packets (of one or, with GSO, several segments) sent with such room
 * @acked: packets sent with an echo
 * @no_room: packets that should have taken INT along but had other options
 * @next: BFC_INT_SK_*, chosen for the packet that is being built
 * @last: BFC_INT_SK_*, the last one chosen: if both are due, they alternate
 */
struct bfc_int_sk {
	struct bfc_int_sk_record	echo;
	struct bfc_int_sk_record	seen;
	__u64	cgroup;
	__u32	echoed;
	__u32	slots;
	__u32	reserved;
	__u32	credit;
	__u32	sent;
	__u32	acked;
	__u32	no_room;
	__u32	next;
	__u32	last;
};

#ifdef __bpf__
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct bfc_int_sk);
} bfc_int_sk SEC(".maps");

#endif
#endif /* BFC_INT_SK_H */
