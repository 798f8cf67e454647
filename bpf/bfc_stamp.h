/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configuration and counters of bfc_stamp.bpf.c, for the program that loads it.
 */
#ifndef BFC_STAMP_CONFIG_H
#define BFC_STAMP_CONFIG_H

/**
 * struct bfc_stamp_config - the map "bfc_stam.data"; all zero is the default
 * @node: number of the switch, which the ids in pathID are computed from; the
 *	  same in all programs of a switch, another one in each switch
 * @every: stamp one TCP segment in @every, 0 or 1 = each. All hops of a path
 *	   need the same value: they choose segments by their sequence numbers
 * @udp_port: destination port that says that there is INT behind the UDP header,
 *	      0 = BFC_INT_UDP_PORT
 * @mode: BFC_STAMP_INT, _NO_INT or _STRIP
 */
struct bfc_stamp_config {
	__u32	node;
	__u32	every;
	__u16	udp_port;
	__u8	mode;
	__u8	unused;
};

enum {
	BFC_STAMP_INT,		/* upstreamQ and INT */
	BFC_STAMP_NO_INT,	/* upstreamQ only */
	BFC_STAMP_STRIP,	/* upstreamQ, and INT is taken out: an edge of the network */
	__BFC_STAMP_MODES
};

/* Counters of packets: the map "bfc_stamp_count" */
enum {
	BFC_STAMP_NO_ROOM,	/* more hops than records; counted in nHop */
	BFC_STAMP_TOO_LONG,	/* UDP: the MTU leaves no room; not changed */
	BFC_STAMP_NOT_PLAIN,	/* UDP: options, GSO; not changed */
	BFC_STAMP_FAILED,	/* a helper refused; dropped if it was changed, or may take INT out
				 * of an edge
				 */
	BFC_STAMP_STRIPPED,	/* INT was taken out of it, or of what it quotes: mode strip */
	__BFC_STAMP_COUNTS
};

#endif /* BFC_STAMP_CONFIG_H */
