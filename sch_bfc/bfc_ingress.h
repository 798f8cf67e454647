/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes queued of what came in through a port, and pause counters of the neighbour's queues.
 */
#ifndef _BFC_INGRESS_H
#define _BFC_INGRESS_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "bfc_pool.h"
#include "bfc_switch.h"

struct bfc_buffer;
struct bfc_cfg;
struct bfc_fc_ops;
struct bfc_port;

/**
 * struct bfc_held - packets queued of one priority of an ingress port
 * @cell: bytes
 * @peak: most bytes
 * @grace: without a buffer: low half: bytes that it may hold although MAX was lowered, until it
 *	   holds no more than the new XOFF; high half: &bfc_charges.graces; 0: none
 *
 * Under no common lock: any scheduler of any egress port changes them, each under its own root
 * lock. @cell is atomic, @peak only grows (bfc_note_peak()). @grace is set under
 * &bfc_port.lock only (bfc_hold_by()). Any of them clears it when the thresholds in use have ended
 * it, if it still is what was read before (bfc_hold_grace_ends()). Its number tells two graces of
 * the same bytes apart.
 */
struct bfc_held {
	struct bfc_cell cell;
	atomic64_t grace;
	u32 peak;
};

/**
 * struct bfc_charges - what packets of an ingress port are charged to
 * @ing: counters of the port now: pauses follow from their thresholds, whichever counters a
 *	 packet was charged by; NULL: none. Under &bfc_port.lock, and RCU
 * @buffer: that bytes are charged to, or NULL; for good
 * @reserve: bytes of each priority; for good
 * @graces: times that thresholds changed; under &bfc_port.lock
 * @users: the port, and counters of it: those in use, and dead ones
 * @held: of each priority
 *
 * Counters that succeed others at a port share its charges with them, as long as it has the same
 * buffer and reserve. Otherwise a neighbour that changes its queues, or the state of the link,
 * would get one more share of the buffer, reserve and MAX each time, while its packets hold those
 * that it had before. The object stays until the port has gone or charges to another one, and no
 * packet is charged here.
 */
struct bfc_charges {
	struct bfc_ingress __rcu *ing;
	struct bfc_buffer *buffer;
	u32 reserve;
	u32 graces;
	refcount_t users;
	struct bfc_held held[BFC_PRIORITIES] ____cacheline_aligned_in_smp;
};

/**
 * struct bfc_ingress - pause counters of one neighbour's queues
 *
 * A counter is the number of counts that packets hold (bfc_count.c). If @dead, other counters have
 * taken the place of these: the object stays, with its handles, until all counts have been given
 * back.
 */
struct bfc_ingress {
	/* Read for each packet, by the hook and by any egress. */
	u16 base;		/* first handle; base + 1 + q is upstreamQ q, base alone "no
				 * upstreamQ"
				 */
	u16 queues;		/* number of counters */
	int ifindex;		/* of the port: for elide, and to prove where a packet came in */
	u8 slot;		/* of the port */
	bool dead;		/* replaced by another: nothing is counted here any more */
	bool classed;		/* the neighbour tells a class with each upstreamQ */
	struct bfc_port __rcu *port;	/* to be marked dirty; NULL once dead. RCU */
	struct bfc_cfg __rcu *cfg;	/* of the port; NULL once dead. RCU */
	struct bfc_charges *charges;	/* for good */
	const struct bfc_fc_ops *fc;	/* mode that it was made for; for good */
	void *account;		/* the mode's state of the port, or NULL; for good */
	struct bfc_switch *sw;	/* of the port; its table has the handles */

	/* Read for packets that came through a device on top of the port. */
	atomic64_t above[BFC_ABOVE];	/* devices found to be on top of the port, and as of
					 * which topology
					 */

	/* Seldom. */
	u32 layout;		/* &bfc_neighbour.layouts when it was made */
	u32 owner;		/* &bfc_port.id of the port that it was made for */
	u16 runs;		/* runs of handles taken */
	struct list_head list;	/* on the list of dead objects; bfc_handle_lock, but in the sweep */

	/* Changed for each packet that is held, and for packets in a row that are counted, by any
	 * egress under its own root lock, but for @state.
	 */
	u16 state ____cacheline_aligned_in_smp;	/* low half: priorities that the newest frame pauses
						 * (CaPFC's D), high half: priorities over XOFF by
						 * their own occupancy (I). Under the port's tx.lock
						 */
	atomic_t packets;	/* that are charged by these counters */
	atomic64_t signals[BFC_PRIORITIES];	/* bit o: the egress of slot o holds the port
						 * responsible (CaPFC's E)
						 */
	atomic_t counter[];	/* one per upstreamQ; behind them bfc_ingress_roots(), and
				 * bfc_ingress_classes()
				 */
};

/* Behind the roots: the class of each upstreamQ, by the hook from the tag, with WRITE_ONCE(). */
static inline u8 *bfc_ingress_classes(const struct bfc_ingress *ing)
{
	return (u8 *)&ing->counter[2 * ing->queues];
}

/* Behind the counters: for each upstreamQ the root that its counter is above 0 for. Any egress
 * writes it under its own root lock, with WRITE_ONCE(), and the port reads it to send a PAUSE.
 */
static inline u32 *bfc_ingress_roots(struct bfc_ingress *ing)
{
	return (u32 *)&ing->counter[ing->queues];
}

#ifdef CONFIG_64BIT
static_assert(offsetof(struct bfc_ingress, above) == 64);
#endif
#ifdef CONFIG_SMP
static_assert(offsetof(struct bfc_ingress, state) % SMP_CACHE_BYTES == 0);
#endif

/* bfc_ingress.c */
u8 bfc_ingress_room(const struct bfc_port *port, unsigned int queues);
struct bfc_ingress *bfc_ingress_new(struct bfc_port *port, unsigned int queues,
				    u8 *refused);
void bfc_charges_put(struct bfc_charges *charges);
void bfc_ingress_retire(struct bfc_port *port, struct bfc_ingress *ing);
bool bfc_ingress_sweep(void);

#endif /* _BFC_INGRESS_H */
