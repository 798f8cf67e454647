/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tc asks of a qdisc: read, checked and told by bfc_netlink.c.
 */
#ifndef _BFC_PARAMS_H
#define _BFC_PARAMS_H

#include <linux/types.h>

#include <linux/pkt_sch_bfc.h>

/**
 * struct bfc_params - configuration, as netlink has it
 * @sticky: ns or BFC_STICKY_AUTO
 * @hrtt: ns
 * @rate: bytes/s, 0 = link speed
 * @refresh: ns, 0 = auto
 * @hold: ns, 0 = auto
 * @queues: queues of the port
 * @flows: entries of the flow table
 * @ways: of these, where a flow may be
 * @dst_prefix: leading bits of an IPv4 address that tell destinations apart; likewise
 *	@dst_prefix6 of an IPv6 address
 * @threshold: bytes, 0 = HRTT x rate / N_active
 * @limit: bytes of truesize
 * @quantum: bytes, 0 = one MTU frame
 * @flows_auto: @flows follows from @queues
 * @tpid: TPID of the upstreamQ tag, host order
 * @stamp: BFC_STAMP_*; BFC_STAMP_UNSET only until bfc_stamp_inherit()
 * @stamp_fd: of a program, -1 = none given; not kept
 * @fc: BFC_FC_*
 * @role: BFC_ROLE_*
 * @peer: BFC_PEER_*
 * @assign: BFC_ASSIGN_*
 * @resume: BFC_RESUME_*
 * @avoid_paused: prefer empty queues that are not paused, and the one that the
 *	flow had before
 * @new_first: queues that just got a packet go before the round
 * @split_gso: segment GSO packets at enqueue
 * @accept_pause: obey pauses of a neighbour of role nic
 * @watchdog: ns without progress until pauses are ignored, 0 = never, or
 *	      BFC_WATCHDOG_AUTO
 * @nelide: entries of @elide
 * @elide: ifindex of ingress ports that are never paused from here
 *
 * Port-level modes:
 * @prio: BFC_PRIO_*
 * @prio_map: priority of each value, or BFC_PRIO_AUTO
 * @lossless: bit p: priority p pauses and is paused
 * @strict: bit p: priority p is served before others
 * @xoff: bytes, 0 = auto; likewise @xon and @max
 * @dynamic: XOFF as millionths of the free buffer, 0 = @xoff
 * @egress_xoff: bytes, 0 = auto; likewise @egress_xon, @egress_max and @warn
 * @cut: per cent
 * @ecn: bytes, 0 = never mark
 * @t_hop: ns, 0 = HRTT / 2 (FAFC)
 * @alpha: weight of the newest queue length, thousandths
 * @beta: weight of the newest rate, thousandths
 * @fdec: f_dec, thousandths
 * @congested: th_c, bytes, 0 = the pause threshold
 *
 * A shared buffer:
 * @buffer: name, "" = none
 * @buffer_size: bytes, 0 = as it is; asked for once, not kept
 * @reserve: bytes of each priority
 * @headroom: bytes of each lossless one, 0 = auto
 * @share: millionths of the free buffer, 0 = no limit
 */
struct bfc_params {
	u64 sticky;
	u64 hrtt;
	u64 rate;
	u64 refresh;
	u64 hold;
	u32 queues;
	u32 flows;
	u32 ways;
	u32 dst_prefix;
	u32 dst_prefix6;
	u32 threshold;
	u32 limit;
	u32 quantum;
	bool flows_auto;
	u16 tpid;
	u8 stamp;
	int stamp_fd;
	u8 fc;
	u8 role;
	u8 peer;
	u8 assign;
	u8 resume;
	u8 avoid_paused;
	u8 new_first;
	u8 split_gso;
	u8 accept_pause;
	u64 watchdog;
	u32 nelide;
	int elide[BFC_ELIDE_MAX];

	u8 prio;
	u8 prio_map[BFC_PRIO_VALUES];
	u8 lossless;
	u8 strict;
	u8 cut;
	u32 xoff;
	u32 xon;
	u32 max;
	u32 dynamic;
	u32 egress_xoff;
	u32 egress_xon;
	u32 egress_max;
	u32 warn;
	u32 ecn;
	u64 t_hop;
	u32 alpha;
	u32 beta;
	u32 fdec;
	u32 congested;
	char buffer[BFC_BUFFER_NAMSIZ];
	u32 buffer_size;
	u32 reserve;
	u32 headroom;
	u32 share;
};

#endif /* _BFC_PARAMS_H */
