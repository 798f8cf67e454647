/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scheduler, and a lock, for each TX queue of a port (bfc_mq.c), and their shared state
 * (bfc_txqs.c).
 */
#ifndef _BFC_TXQS_H
#define _BFC_TXQS_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct Qdisc;
struct bfc_cfg;
struct bfc_params;
struct bfc_sched;
struct netlink_ext_ack;

/**
 * struct bfc_txqs - shared state of the schedulers of a port's TX queues
 *
 * @mem changes once in &bfc_cfg.batch bytes, @next_tx once or twice in a turn; the number of
 * queues in the round of another scheduler is read each &bfc_cfg.sync.
 */
struct bfc_txqs {
	atomic_long_t mem;	/* truesize that they hold beyond their reserves */
	atomic64_t next_tx ____cacheline_aligned_in_smp;	/* ns: shaper: when the next
								 * turn begins
								 */
	refcount_t users ____cacheline_aligned_in_smp;	/* the root and its schedulers */
	unsigned int n;		/* TX queues of the device */
	unsigned int used;	/* of these, that it sends through; written under RTNL */
	unsigned int most;	/* of these, that it ever sent through; likewise */
	struct Qdisc *root;	/* until it is dropped; RTNL, likewise the next */
	struct list_head list;	/* of all roots with several schedulers */
	struct {
		struct Qdisc *sch;	/* held by the root; RTNL */
		struct bfc_sched __rcu *q;	/* its private data, until it is destroyed */
	} each[];
};

#ifdef CONFIG_SMP
static_assert(offsetof(struct bfc_txqs, next_tx) % SMP_CACHE_BYTES == 0);
static_assert(offsetof(struct bfc_txqs, users) % SMP_CACHE_BYTES == 0);
#endif

/**
 * struct bfc_sched_txq - the part of a scheduler for sharing its port with others
 */
struct bfc_sched_txq {
	struct bfc_txqs *all;	/* at the root, too; NULL: this one has all TX queues */
	u64 look;		/* ns: when to look at the others again */
	u64 fair;		/* ns: when its next turn may begin if others have taken one; 0: as
				 * soon as they have sent
				 */
	u32 told;		/* part of &bfc_txqs.mem that this one holds */
	u32 turn;		/* bytes that may leave before the next turn is taken */
	u32 excess;		/* bytes that left beyond the present turn */
	u16 index;		/* of the TX queue */
};

/* bfc_txqs.c */
void bfc_txqs_put(struct bfc_txqs *all);
void bfc_txqs_configured(struct bfc_sched *q);
void bfc_txqs_forget(struct bfc_sched *q);
void bfc_txqs_account(struct bfc_sched *q);
bool bfc_txqs_over(struct bfc_sched *q);
void bfc_txqs_settled(struct bfc_sched *q, u64 now);
void bfc_txqs_turn(struct bfc_sched *q, u64 now);
void bfc_txqs_spend(struct bfc_sched *q, u32 bytes, bool own);
void bfc_txqs_give_back(struct bfc_sched *q);
void bfc_txqs_sum(const struct bfc_sched *q, u32 *backlog, u64 *sent);
u64 bfc_txqs_prio_sent(const struct bfc_sched *q, unsigned int prio);

/* bfc_mq.c */
int bfc_mq_check(const struct bfc_params *p, struct netlink_ext_ack *extack);
bool bfc_mq_wanted(struct Qdisc *sch, const struct bfc_params *p);
int bfc_mq_new(struct Qdisc *sch, const struct bfc_params *p,
	       struct netlink_ext_ack *extack);
void bfc_mq_join(struct Qdisc *sch);
int bfc_mq_roots(struct Qdisc *sch, const struct bfc_cfg *cfg);
void bfc_mq_apply(struct Qdisc *sch, struct bfc_cfg *cfg);
void bfc_mq_attach(struct Qdisc *sch);
void bfc_mq_stabs_soon(void);
void bfc_mq_exit(void);
void bfc_mq_drop(struct Qdisc *sch);

#endif /* _BFC_TXQS_H */
