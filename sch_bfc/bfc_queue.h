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
	struct list_head active;	/* of the round, or of those before it; empty when the
					 * queue is empty or paused
					 */
	u32 bytes;		/* queued */
	u32 mem;		/* truesize queued */
	s32 deficit;		/* DRR, bytes */
	u32 ahead;		/* bytes in front of @cursor */
	struct sk_buff *cursor;	/* `resume early`: the oldest packet that may still hold a
				 * count. With lossless priorities: all before it were
				 * promised room; so was it, if it is not the oldest
				 */
	u32 round;		/* when it was, or is to be, served; counted in
				 * &bfc_sched_drr.round
				 */
	u32 served;		/* &bfc_sched_drr.served after its last packet */

	/* Second, what no decision of each packet needs. */
	u32 packets;		/* queued */
	u32 peak;		/* of @bytes */
	u32 drops;		/* dropped */
	union {
		u32 flow;	/* whose packets are in it, by its index; of an empty one, whose
				 * left last
				 */
		u32 nflows;	/* while it has packets and is @mixed: how many flows have packets
				 * in it; with `sample`, about
				 */
	};
	u32 key;		/* of the destination, or root, that it belongs to, or did when
				 * it last was non-empty
				 */
	u16 dest;		/* that it belongs to, an index of &bfc_sched_dests.table;
				 * BFC_DEST_NONE: free, or of several
				 */
	bool mixed:1;		/* it has, or had before it ran empty, packets of several flows */
	bool rooted:1;		/* @key is that of a root */
	bool clean:1;		/* it was free when @key came, and got nothing else: a pause is
				 * for that
				 */
	bool again:1;		/* it ran empty again since it is in the list of @cooling */
	u8 slot;		/* of the ingress port that it is of */
	struct list_head cooling;	/* empty, not paused, but not free yet; or was so */
	u64 emptied_ns;		/* when a packet left last, or somewhat later; BFC_STAMP_LATER */
	struct gnet_stats_basic_sync bstats;	/* sent */
} ____cacheline_aligned;

static_assert(offsetof(struct bfc_queue, head) == 0 &&
	      sizeof(struct bfc_queue) % SMP_CACHE_BYTES == 0);

/**
 * struct bfc_queue_pauses - the pauses of a queue
 * @count: how often
 * @since: ns
 * @ns: in all, without a pause that still lasts
 * @root: id of the root that the queue waits for, or BFC_ROOT_UNKNOWN; only with `assign
 *	  root`, as are the next two
 * @told: the id as the neighbour told it, of which that is made
 * @told_at: when it was known last; time as in &struct bfc_behind
 */
struct bfc_queue_pauses {
	u64 count;
	u64 since;
	u64 ns;
	u32 root;
	u32 told;
	u32 told_at;
};

/* Sets of queues, as bitmaps under the root lock. The instructions that x86 has for
 * __set_bit(), __clear_bit() and test_bit() of a bit in memory take some ten operations each,
 * if its number is not a constant; these take four, and a queue that fills and empties six of
 * them.
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
