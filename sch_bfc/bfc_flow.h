/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows and the queues that they are in (BFC §3.3.1): the table's entry, and
 * the functions of bfc_flow.c, under the root lock.
 */
#ifndef _BFC_FLOW_H
#define _BFC_FLOW_H

#include <linux/types.h>

struct bfc_sched;
struct bfc_queue;
struct sk_buff;

/* Overflow entries of an ingress port. With fewer of them, a host that fills the table has
 * fewer queues: with 4, 8, 16 and 64, of the short flows elsewhere 2.3, 3.4, 5.1 and 8.6 %
 * took over five times as long as alone (eval/run dest --full --set cases=rude).
 */
#define BFC_FLOW_OVERFLOW	4
#define BFC_FLOW_MEMBERS	49	/* so that struct bfc_overflow of all slots take 32 KB */
/* The table counts as full for this many sticky times after a set was, as it is full now and then.
 * With 0, 7.1 % of those flows take so long.
 */
#define BFC_FLOW_FULL		64

#define BFC_FLOW_LABELLED	0x42464300cau	/* hash of all packets with the incast label */
#define BFC_CLOCK_EVERY	8	/* packets: as many as one bulk dequeue takes */
#define BFC_STAMP_LATER	((u64)S64_MAX)	/* has left, but the clock was not read since */

/**
 * struct bfc_left - a packet that left since the clock was read last
 * @flow: index of its flow table entry
 * @queue: where it was
 */
struct bfc_left {
	u32 flow;
	u16 queue;
};

/**
 * struct bfc_flow - entry of the flow table (BFC §3.3.1)
 * @stamp: when its last packet left, or somewhat later, ns: bfc_settle().
 *	   0 = none yet
 * @size: packets of the flows of this entry in the queue
 * @queue: the number of that queue
 * @shared: flows other than the owner have used the entry, and may have packets here
 * @tag: bits of the owner's hash, to find it in its set
 */
struct bfc_flow {
	u64 stamp;
	u32 size;
	u16 queue : 15;
	u16 shared : 1;
	u16 tag;
};

/**
 * struct bfc_overflow - the overflow entries of an ingress port
 * @full: for each entry: when a flow that belongs to it last found its set full, ns
 * @key: for each entry: key of the destination that it is of, or was of last
 * @guests: bit n: other destinations, which had no better entry, have used entry n since it
 *	    was idle, and may have packets in it
 * @members: packets in all of them, by a few bits of the flow's hash
 */
struct bfc_overflow {
	u64 full[BFC_FLOW_OVERFLOW];
	u32 key[BFC_FLOW_OVERFLOW];
	u32 guests;
	u32 members[BFC_FLOW_MEMBERS];
};

/* What a flow is: the packets that share a queue even if there are enough queues. */
enum {
	BFC_FLOW_TUPLE,		/* addresses and ports */
	BFC_FLOW_PRIO,		/* all of a priority that can be paused: pfc, capfc */
	BFC_FLOW_INGRESS,	/* all that came in through a port: switch with fafc */
};

/* Kinds of packets in the control band; each has a share of the band of its own. */
enum bfc_control {
	BFC_CONTROL_NONE,	/* ordinary */
	BFC_CONTROL_LINK,	/* link-local group address: STP, LLDP, LACP */
	BFC_CONTROL_NET,	/* ARP, neighbour discovery, TC_PRIO_CONTROL */
	BFC_CONTROL_MAX
};

void bfc_flow_init(void);
u64 bfc_flow_hash(struct bfc_sched *q, const struct sk_buff *skb, u8 prio);
enum bfc_control bfc_control_other(const struct sk_buff *skb);
bool bfc_flow_is_queued(struct bfc_sched *q, const struct sk_buff *skb, u64 hash, u8 class);
struct bfc_flow *bfc_flow_find(struct bfc_sched *q, const struct sk_buff *skb, u64 hash,
			       u8 class);
void bfc_flow_overflow(struct bfc_sched *q, const struct bfc_flow *flow,
		       struct bfc_queue *queue, const struct sk_buff *skb, u64 hash);
unsigned int bfc_flow_assign(struct bfc_sched *q, struct bfc_flow *flow,
			     const struct sk_buff *skb, u64 hash, u8 class);

#endif /* _BFC_FLOW_H */
