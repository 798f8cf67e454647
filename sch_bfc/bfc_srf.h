/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `sched srf`: queues in the order of the remaining size of the flow at their head
 * (bfc_srf.c).
 */
#ifndef _BFC_SRF_H
#define _BFC_SRF_H

#include <linux/bitmap.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/list.h>
#include <linux/types.h>

#include <linux/bfc_size.h>

struct bfc_cfg;
struct bfc_queue;
struct bfc_sched;
struct Qdisc;
struct sk_buff;

extern struct static_key_false_deferred bfc_sized;

/* The bucket of a size is its upper bits: 16 buckets for each doubling. */
#define BFC_SRF_SHIFT	7
#define BFC_SRF_BUCKETS	(BIT(16) >> BFC_SRF_SHIFT)

/**
 * struct bfc_srf_index - queues with packets, by the size at their head
 * @some: bit b: @bucket b is not empty
 * @bucket: &bfc_queue.active of those in it, in the order of their turns
 */
struct bfc_srf_index {
	DECLARE_BITMAP(some, BFC_SRF_BUCKETS);
	struct list_head bucket[BFC_SRF_BUCKETS];
};

/* Place of a queue: the number of its bucket, with BFC_SRF_PAUSED in the index of paused queues. */
#define BFC_SRF_PAUSED	BFC_SRF_BUCKETS
#define BFC_SRF_NOWHERE	0xffffU

/**
 * struct bfc_srf - the queues of a scheduler by size
 * @may: queues that may send
 * @paused: queues that the neighbour holds paused
 * @size: of the packet that is enqueued
 * @place: of each queue
 */
struct bfc_srf {
	struct bfc_srf_index may;
	struct bfc_srf_index paused;
	u16 size;
	u16 place[];
};

/* bfc_srf.c */
int bfc_srf_alloc(struct Qdisc *sch, const struct bfc_cfg *cfg);
void bfc_srf_begin(struct bfc_sched *q);
void bfc_srf_read(struct bfc_sched *q);
void bfc_srf_place(struct bfc_sched *q, struct bfc_queue *queue);
struct bfc_queue *bfc_srf_next(struct bfc_sched *q);
unsigned int bfc_srf_soon(const struct bfc_sched *q);
unsigned int bfc_srf_similar(struct bfc_sched *q);
u16 bfc_srf_size(const struct sk_buff *skb);

#endif /* _BFC_SRF_H */
