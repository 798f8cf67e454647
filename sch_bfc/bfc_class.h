/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rounds that queues are served in: one, or with traffic classes one for each class
 * (bfc_class.c).
 */
#ifndef _BFC_CLASS_H
#define _BFC_CLASS_H

#include <linux/jump_label_ratelimit.h>
#include <linux/list.h>
#include <linux/types.h>

#include "bfc_wire.h"

struct bfc_cfg;
struct bfc_sched;
struct sk_buff;

extern struct static_key_false_deferred bfc_classed;

/**
 * struct bfc_sched_drr - the round of all queues, or of a class, and those before it
 *
 * Under the root lock. Schedulers of other TX queues, and dumps of statistics, read @nactive and
 * @served without it: written by WRITE_ONCE().
 */
struct bfc_sched_drr {
	struct list_head active;	/* queues with packets, not paused, in DRR order */
	struct list_head fresh;	/* likewise; just got their first packet, go before @active */
	u32 round;		/* of @active, counts up */
	u32 nactive;		/* queues in @active, @fresh, &bfc_sched.strict; with traffic
				 * classes also in the rounds of these
				 */

	/* Only of the scheduler, not of a class. */
	u32 served;		/* packets that left a queue; wraps */
	u16 more;		/* active queues of other TX queues that get as much of the link as
				 * one of these, by the last look; likewise @times
				 */
	u8 times;		/* TX queues that have something to send, this one included */
	u8 strict_first;	/* bit p: &bfc_sched.strict of priority p is not empty, or class p
				 * is strict and its round is not empty
				 */
};

/**
 * struct bfc_class_sum - counters of queues; they wrap
 * @bytes: sent
 * @packets: likewise
 * @drops: packets
 * @pauses: by the neighbour
 * @paused_ns: a pause that still lasts included
 */
struct bfc_class_sum {
	u64 bytes;
	u64 packets;
	u64 drops;
	u64 pauses;
	u64 paused_ns;
};

/**
 * struct bfc_class - a traffic class
 * @round: of its queues that may send
 * @turn: in &bfc_sched_classes.turns, if it is not strict and may send
 * @deficit: DRR of the classes, bytes
 * @lap: &bfc_sched_classes.lap when it was in there last
 * @noccupied: queues of it that are not empty
 * @rotor: of its queues, as &bfc_sched.rotor
 */
struct bfc_class {
	struct bfc_sched_drr round;
	struct list_head turn;
	s32 deficit;
	u32 lap;
	u32 noccupied;
	u16 rotor;
};

/**
 * struct bfc_sched_classes - the traffic classes: bfc_class.c
 * @turns: those that are not strict and may send, in DRR order
 * @lap: counts the rounds of @turns
 * @active: bit c: class c is in there
 * @each: the classes; read for each packet
 * @exhausted: by class: new flows that found no empty queue, but for those told to
 *	       share
 * @before: by class: what queues of other classes counted while they were of this one,
 *	    less what its own queues counted while they were of others
 */
struct bfc_sched_classes {
	struct list_head turns;
	u32 lap;
	u8 active;
	struct bfc_class each[BFC_PRIORITIES];
	u64 exhausted[BFC_PRIORITIES];
	struct bfc_class_sum before[BFC_PRIORITIES];
};

/* bfc_class.c */
u32 bfc_class_th(const struct bfc_sched *q, u8 class, u32 nactive);
void bfc_class_init(struct bfc_sched *q);
void bfc_class_reset(struct bfc_sched *q);
void bfc_class_activated(struct bfc_sched *q, u8 class);
void bfc_class_deactivated(struct bfc_sched *q, u8 class);
struct bfc_class *bfc_class_next(struct bfc_sched *q);
void bfc_class_sent(const struct bfc_sched *q, struct bfc_class *c, u32 len);
u8 bfc_class_of(struct bfc_sched *q, const struct sk_buff *skb, u8 prio);
void bfc_class_add(const struct bfc_sched *q, unsigned int qn, u64 now,
		   struct bfc_class_sum *sum);
void bfc_class_ranges(struct bfc_sched *q, const struct bfc_cfg *old, const struct bfc_cfg *cfg,
		      u64 now);

#endif /* _BFC_CLASS_H */
