/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One of the physical queues of a port.
 */
#ifndef _BFC_QUEUE_H
#define _BFC_QUEUE_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <net/gen_stats.h>

/**
 * struct bfc_queue - a FIFO
 *
 * First cache line, for every packet:
 * @head: oldest packet
 * @tail: newest
 * @active: of the round, or of those before it; empty when the queue is empty or
 *	    paused
 * @bytes: queued
 * @mem: truesize queued
 * @deficit: DRR, bytes
 * @ahead: bytes in front of @cursor
 * @cursor: `resume early`: the oldest packet that may still hold a count
 * @round: when it was, or is to be, served; counted in &bfc_sched.drr.round
 * @served: &bfc_sched.drr.served after its last packet
 *
 * Second, what no decision of each packet needs:
 * @packets: queued
 * @peak: of @bytes
 * @flow: whose packets are in it, by its index; of an empty one, whose left last
 * @key: of the destination that it belongs to, or did when it last was non-empty
 * @mixed: it has packets of others than @flow
 * @again: it ran empty again since it is in the list of @cooling
 * @slot: of the ingress port that it is of
 * @dest: that it belongs to, an index of &bfc_sched_dests.table; BFC_DEST_NONE: free, or of
 *	  several
 * @cooling: empty, not paused, but not free yet; or was so
 * @emptied_ns: when a packet left last, or somewhat later; BFC_STAMP_LATER
 * @bstats: sent
 * @drops: dropped
 */
struct bfc_queue {
	struct sk_buff *head;
	struct sk_buff *tail;
	struct list_head active;
	u32 bytes;
	u32 mem;
	s32 deficit;
	u32 ahead;
	struct sk_buff *cursor;
	u32 round;
	u32 served;

	u32 packets;
	u32 peak;
	u32 drops;
	u32 flow;
	u32 key;
	u16 dest;
	bool mixed:1;
	bool again:1;
	u8 slot;
	struct list_head cooling;
	u64 emptied_ns;
	struct gnet_stats_basic_sync bstats;
} ____cacheline_aligned;

/**
 * struct bfc_queue_pauses - the pauses of a queue
 * @count: how often
 * @since: ns
 * @ns: in all, without a pause that still lasts
 */
struct bfc_queue_pauses {
	u64 count;
	u64 since;
	u64 ns;
};

#endif /* _BFC_QUEUE_H */
