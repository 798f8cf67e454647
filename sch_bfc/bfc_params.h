/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of a qdisc as tc gives them: bfc_netlink.c and bfc_options.c read, check and dump
 * them.
 */
#ifndef _BFC_PARAMS_H
#define _BFC_PARAMS_H

#include <linux/types.h>

#include <linux/pkt_sch_bfc.h>

/**
 * struct bfc_params - configuration, as netlink has it
 *
 * A member for each option, in the words of spec/bfc.yaml.
 */
struct bfc_params {
	u64 sticky;		/* ns or BFC_STICKY_AUTO */
	u64 hrtt;		/* ns, 0 = measured */
	u64 hrtt_max;		/* ns, longest measured HRTT that is accepted, 0 = auto */
	u64 rate;		/* bytes/s, 0 = link speed */
	u64 refresh;		/* ns, 0 = auto */
	u64 hold;		/* ns, 0 = auto */
	u32 queues;		/* queues of the port */
	u32 flows;		/* entries of the flow table */
	u32 ways;		/* of these, where a flow may be */
	u32 dst_prefix;		/* leading bits of an IPv4 address that tell destinations apart */
	u32 dst_prefix6;	/* likewise of an IPv6 address */
	u32 threshold;		/* bytes, 0 = HRTT x rate / N_active */
	u32 limit;		/* bytes of truesize */
	u32 quantum;		/* bytes, 0 = one MTU frame */
	bool flows_auto;	/* @flows follows from @queues */
	u16 tpid;		/* TPID of the upstreamQ tag, host order */
	u8 stamp;		/* BFC_STAMP_*; BFC_STAMP_UNSET only until bfc_stamp_inherit() */
	int stamp_fd;		/* of a program, -1 = none given; not kept */
	u8 fc;			/* BFC_FC_* */
	u8 role;		/* BFC_ROLE_* */
	u8 peer;		/* BFC_PEER_* */
	u8 assign;		/* BFC_ASSIGN_* */
	u8 sched;		/* BFC_SCHED_* */
	u8 resume;		/* BFC_RESUME_* */
	u8 sample;		/* per cent of packets in flow table and pause counters */
	u64 incast;		/* a DSCP, or mask << 32 | skb->mark; 0 = no label */
	u8 avoid_paused;	/* prefer empty queues that are not paused, and the one that the
				 * flow had before
				 */
	u8 new_first;		/* queues that were empty are served before the round */
	u8 txqs;		/* BFC_TXQS_* */
	u64 sync;		/* ns */
	u8 split_gso;		/* BFC_SPLIT_GSO_* */
	u8 accept_pause;	/* obey pauses of a neighbour of role nic */
	u64 watchdog;		/* ns without progress until pauses are ignored, 0 = never, or
				 * BFC_WATCHDOG_AUTO
				 */
	u32 nelide;		/* entries of @elide */
	int elide[BFC_ELIDE_MAX];	/* ifindex of ingress ports that are never paused from
					 * here
					 */

	/* Port-level modes. */
	u8 prio;		/* BFC_PRIO_* */
	u8 prio_map[BFC_PRIO_VALUES];	/* priority of each value, or BFC_PRIO_AUTO */
	u8 lossless;		/* bit p: priority p pauses and is paused */
	u8 strict;		/* bit p: priority p is served before others */
	u8 cut;			/* per cent */
	u32 xoff;		/* bytes, 0 = auto; likewise the next two */
	u32 xon;
	u32 max;
	u32 dynamic;		/* XOFF as millionths of the free buffer, 0 = @xoff */
	u32 egress_xoff;	/* bytes, 0 = auto; likewise the next three */
	u32 egress_xon;
	u32 egress_max;
	u32 warn;
	u32 ecn;		/* bytes, 0 = never mark; Kmin, if there is @kmax */
	u32 kmax;		/* bytes, 0 = all are marked from @ecn on */
	u32 pmax;		/* marked at @kmax, millionths */
	u64 t_hop;		/* ns, 0 = HRTT / 2 (FAFC) */
	u32 alpha;		/* weight of the newest queue length, thousandths */
	u32 beta;		/* weight of the newest rate, thousandths */
	u32 fdec;		/* f_dec, thousandths */
	u32 congested;		/* th_c, bytes, 0 = the pause threshold */

	/* Traffic classes. */
	u32 classes;		/* 1 = none */
	u8 keep_class;		/* packets keep the class that the neighbour sends */
	u16 class_queues[BFC_LIST];	/* of each class; [0] is 0: even */
	u16 weights[BFC_LIST];	/* of each class; [0] is 0: equal */

	/* A shared buffer. */
	char buffer[BFC_BUFFER_NAMSIZ];	/* name, "" = none */
	u32 buffer_size;	/* bytes, 0 = keep the size; applied once, not kept */
	u32 reserve;		/* bytes of each priority */
	u32 headroom;		/* bytes of each lossless one, 0 = auto */
	u32 share;		/* millionths of the free buffer, 0 = no limit */
};

#endif /* _BFC_PARAMS_H */
