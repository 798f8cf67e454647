/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One of the physical queues of a port.
 */
#ifndef _BFC_QUEUE_H
#define _BFC_QUEUE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include <net/gen_stats.h>

/**
 * struct bfc_queue - a FIFO
 */
struct bfc_queue {
	/* First cache line, for every packet. */
	struct sk_buff *head;	/* oldest packet */
	struct sk_buff *tail;	/* newest */
	struct list_head active;	/* in a round, among fresh or strict queues, or in an srf
					 * bucket; empty when the queue is empty or, without srf,
					 * paused
					 */
	u32 bytes;		/* queued */
	u32 mem;		/* truesize queued */
	s32 deficit;		/* DRR, bytes */
	u32 ahead;		/* bytes in front of @cursor */
	struct sk_buff *cursor;	/* `resume early`: the oldest packet that may still hold a count.
				 * With lossless priorities (bfc_promised_until()): all packets in
				 * front of it were promised room, and so was it unless it is the
				 * head
				 */
	u32 round;		/* the round in which it was, or is to be, served:
				 * &bfc_sched_drr.round
				 */
	u32 served;		/* &bfc_sched_drr.served when it was served last */

	/* Second cache line: what no decision for each packet needs. */
	u32 packets;		/* queued */
	u32 peak;		/* of @bytes */
	u32 drops;		/* dropped */
	union {
		u32 flow;	/* index of the flow of its packets; when empty: of its last
				 * packet
				 */
		u32 nflows;	/* while it has packets and is @mixed: number of flows with packets
				 * in it; with `sample` an estimate
				 */
	};
	u32 key;		/* key of the destination or root that it belongs to, or belonged to
				 * when it last had packets
				 */
	u16 dest;		/* destination that it belongs to, index of &bfc_sched_dests.table;
				 * BFC_DEST_NONE: none, as it is free or has packets to several
				 */
	bool mixed:1;		/* it has, or had before it ran empty, packets of several flows */
	bool rooted:1;		/* @key is that of a root */
	bool clean:1;		/* it was free when it got @key, and has got no other packets since:
				 * a pause is for that destination
				 */
	bool again:1;		/* it ran empty again after it was put on the list of @cooling */
	u8 turns:4;		/* next to a host: turns since it got its flow, BFC_DEST_MUCH at
				 * most
				 */
	u8 slot;		/* slot of the ingress port that holds it */
	struct list_head cooling;	/* entry of &bfc_class_dests.cooling: it is, or was, empty,
					 * not paused, and not free yet
					 */
	u64 emptied_ns;		/* ns: when a packet left last or a bit later; BFC_STAMP_LATER */
	struct gnet_stats_basic_sync bstats;	/* sent */
} ____cacheline_aligned;

static_assert(offsetof(struct bfc_queue, head) == 0 &&
	      sizeof(struct bfc_queue) % SMP_CACHE_BYTES == 0);

/**
 * struct bfc_queue_pauses - the pauses of a queue
 * @count: pauses
 * @since: when the present or the last pause began, ns
 * @ns: length of all pauses but one that still lasts
 * @root: id of the root that the queue waits for, or BFC_ROOT_UNKNOWN; only with `assign
 *	  root`, as are the next two
 * @told: the id as the neighbour told it, from which @root is made
 * @told_at: when that was known last; time as in &struct bfc_behind
 */
struct bfc_queue_pauses {
	u64 count;
	u64 since;
	u64 ns;
	u32 root;
	u32 told;
	u32 told_at;
};

/* Sets of queues, as bitmaps under the root lock. If the bit number is not a constant, the
 * instructions that x86 has for __set_bit(), __clear_bit() and test_bit() of a bit in memory take
 * some ten operations each. These take four, and a queue that fills and empties uses six of them.
 */
static inline void bfc_bit_set(unsigned int qn, unsigned long *set)
{
	set[BIT_WORD(qn)] |= BIT_MASK(qn);
}

static inline void bfc_bit_clear(unsigned int qn, unsigned long *set)
{
	set[BIT_WORD(qn)] &= ~BIT_MASK(qn);
}

static inline bool bfc_bit_test(unsigned int qn, const unsigned long *set)
{
	return set[BIT_WORD(qn)] & BIT_MASK(qn);
}

#endif /* _BFC_QUEUE_H */
