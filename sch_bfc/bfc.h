/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bfc - Backpressure Flow Control: objects and their locks.
 *
 *   bfc_sched    the qdisc: flow table, queues, DRR, shaper
 *   bfc_txqs	  shared state of the schedulers of a port, if each TX queue has one
 *   bfc_port     one per net_device: the neighbour on that link. As egress it
 *		  obeys the neighbour's pauses, as ingress it pauses the neighbour
 *   bfc_ingress  pause counters of one neighbour's queues, and the bytes queued of
 *		  what came in from it; found by the 16-bit handle that the ingress
 *		  hook leaves in skb->tc_index
 *   bfc_cfg	  immutable configuration of a qdisc and its port
 *   bfc_fc_ops	  a flow-control mode
 *   bfc_switch	  the ports of a namespace, their handles and what they share
 *   bfc_buffer	  memory that the ports of a namespace share
 *
 * A packet comes in on port A and leaves through port B:
 *
 *   hook of A:     pop the tag, tc_index = handle(A, upstreamQ)
 *   bridge, IP:    as usual
 *   enqueue on B:  queue over Th? counter[A, upstreamQ]++; 0 -> 1: A is dirty
 *   dequeue on B:  counter[A, upstreamQ]--; 1 -> 0: A is dirty
 *   dequeue on A:  A is dirty: send the whole set of paused queues first
 *
 * A port-level mode does the same for priorities: enqueue and dequeue on B
 * change held[A, priority], and compare it with what A last told its neighbour
 * (bfc_xoff.c).
 *
 * Locks, outermost first:
 *
 *   RTNL              the port list, attach, detach, configuration
 *   qdisc root lock   everything in bfc_sched; if each TX queue has a scheduler (bfc_mq.c),
 *		       each of these has its own lock
 *   bfc_port.lock     the neighbour's state and the pauses it sent
 *   bfc_port.tx.lock  the pauses that the neighbour is told of
 *   bfc_fafc_in.lock  FAFC's account of an ingress port
 *   bfc_handle_lock   the table of handles
 *   bfc_events.lock   events of a port that are to be reported; innermost
 *
 * Never take a root lock, or transmit, while holding another port's root
 * lock: A -> B and B -> A would deadlock. Enqueue and dequeue on B therefore
 * only set a bit and raise a softirq for A (bfc_port_mark_dirty()).
 *
 * Reference: Goyal et al., "Backpressure Flow Control", NSDI 2022.
 */
#ifndef _BFC_H
#define _BFC_H

#include <linux/atomic.h>
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/prandom.h>
#include <linux/reciprocal_div.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <linux/pkt_sch_bfc.h>
#include "bfc_bucket.h"
#include "bfc_capfc.h"
#include "bfc_compat.h"
#include "bfc_cfg.h"
#include "bfc_class.h"
#include "bfc_dest.h"
#include "bfc_fafc.h"
#include "bfc_fc.h"
#include "bfc_flow.h"
#include "bfc_ingress.h"
#include "bfc_params.h"
#include "bfc_pause_time.h"
#include "bfc_peer.h"
#include "bfc_pfc.h"
#include "bfc_pfc_wire.h"
#include "bfc_pool.h"
#include "bfc_port.h"
#include "bfc_queue.h"
#include "bfc_root.h"
#include "bfc_srf.h"
#include "bfc_stamp.h"
#include "bfc_switch.h"
#include "bfc_thresh.h"
#include "bfc_txqs.h"
#include "bfc_watchdog.h"
#include "bfc_wire.h"

extern struct static_key_false_deferred bfc_holds;	/* bfc_charge.c */
extern struct static_key_false_deferred bfc_roots;	/* bfc_root.c */

/* How long the code of a feature stays switched on after its last port: any user may be root of
 * a user namespace, and would have all processors patch the kernel's code at each change.
 */
#define BFC_KEY_STAYS		HZ

#define BFC_RATE_UNKNOWN	125000000ULL	/* 1 Gbit/s: assumed with a warning */
#define BFC_CAP_ALPHA		8	/* a queue may hold 8 x the free buffer */
#define BFC_CTRL_SHARE		8	/* control band: 1/8 of the limit */
#define BFC_CTRL_RATE		16	/* control band: 1/16 of the rate for each kind, */
#define BFC_CTRL_BURST		16384U	/* and 1 ms of that as a burst, at least these bytes */
#define BFC_TXQ_RESERVE		8	/* 1/8 of the limit is for TX queues in equal parts, */
#define BFC_TXQ_BATCH		32	/* the rest is accounted in steps of (1/32 of it) / TX
					 * queues
					 */
#define BFC_GSO_OF_LIMIT	8	/* split-gso auto: packets over 1/8 of the limit are cut */
#define BFC_GSO_SEGS_MAX	1024	/* more keep the root lock for too long */
#define BFC_TURN_NS	NSEC_PER_MSEC	/* most of the rate that a TX queue takes in a turn */
#define BFC_TXQS_QUEUES_MAX	8192	/* queues of all TX queues of a device */
#define BFC_HELLO_PPS		100	/* HELLOs a second from the link */
#define BFC_SEQ_AHEAD		BIT(20)	/* frames: more than a neighbour loses in a row */
#define BFC_LEN_MAX		BIT(20)	/* bytes of a packet by a size table: QDISC_PKT_LEN_MAX */
#define BFC_PACE_LATE_NS	(10 * NSEC_PER_MSEC)	/* delay that a burst makes up for */
#define BFC_PICK_TRIES		8	/* candidates looked at for a new flow */
#define BFC_EARLY_STEPS		8	/* `resume early`: packets passed per dequeue at most */
#define BFC_LAST_REFRESHES	3	/* repetitions after the last resume */
#define BFC_QUICK_REFRESHES	8	/* repetitions of XOFF and XON before those at `refresh` */
#define BFC_SWEEP	HZ	/* jiffies: old handles are freed once a second */
#define BFC_LAYOUT_PPS		1	/* changes of a neighbour's layout a second, at most, */
#define BFC_LAYOUT_BURST	4	/* and in a row: a link that flaps once makes two */

/**
 * struct bfc_host - the pace of a priority at a host that was paused (FAFC Alg. 3)
 * @rate: bytes/s
 * @updated: when @rate was computed, ns
 * @until: end of the priority's pause, as seen last, ns
 * @next: when the next packet may leave, ns
 */
struct bfc_host {
	u64 rate;
	u64 updated;
	u64 until;
	u64 next;
};

/**
 * struct bfc_class_dests - the queues of a class that destinations and ingress ports hold
 */
struct bfc_class_dests {
	struct list_head cooling;	/* queues that ran empty, or were resumed while empty, in
					 * this order except those with &bfc_queue.again
					 */
	u32 nfree;		/* free queues of the class: bits in &bfc_sched_dests.free */
	u8 greedy;		/* slots that hold many: bfc_ingress_is_greedy() */
	struct {
		u16 queues;	/* that the slot holds */
		u16 last;	/* the queue that it got last */
	} ingress[BFC_DEST_PORTS];	/* by slot: bfc_dest.c */
};

/**
 * struct bfc_sched_dests - the queues that destinations and ingress ports hold
 */
struct bfc_sched_dests {
	struct bfc_dest *table;	/* destinations that hold queues */
	u32 sets;		/* number of sets in @table */
	u32 key;		/* of the destination of the packet that is enqueued:
				 * bfc_dest_key()
				 */
	u32 shared;		/* likewise, or that of its root: bfc_dest_shared() */
	u8 slot;		/* of the source of that packet: bfc_dest_ingress() */
	unsigned long *free;	/* bitmap: free queues */
	struct bfc_class_dests of[BFC_PRIORITIES];	/* by class */
};

/**
 * struct bfc_sched_roots - with `assign root`: the roots that destinations are behind
 *
 * Read and written for a flow that has no queue, and for a queue that is paused.
 */
struct bfc_sched_roots {
	struct bfc_behind *behind;	/* destinations that are behind a root; NULL: never used */
	u32 sets;		/* of @behind */
	u32 probed;		/* when a destination was last looked at again */
	u32 here;		/* id of this port */
};

/**
 * struct bfc_sched_stats - as in TCA_BFC_STATS_*
 */
struct bfc_sched_stats {
	u32 mem_peak;		/* largest &bfc_sched.mem */
	u32 backlog_peak;	/* most bytes queued */
	u64 assigned;		/* queue assignments made */
	u64 collisions;		/* of these, into a queue that was not empty */
	u64 told_to_share;	/* of @collisions, into a queue of the flow's destination or ingress
				 * port, on purpose
				 */
	u64 joined;		/* queues that moved to the end of another */
	u64 learned;		/* times that a destination was found behind a root */
	u64 shared;		/* flow table entries that a second flow had to share, and overflow
				 * entries taken because a set was full
				 */
	u64 counted;		/* packets counted, as they met a queue over Th */
	u64 unsampled;		/* packets left out of flow table and pause counters */
	u64 labelled;		/* packets with the incast label */
	u64 sized;		/* packets that told how much their flow has yet to send */
	u64 ctrl_excess;	/* over the control band's share, queued as ordinary */
	u64 drop_limit;		/* dropped from the longest queue */
	u64 drop_cap;		/* dropped because their queue was over its cap */
	u64 drop_gso;		/* dropped: not to be segmented, or into too many */
	u64 drop_max;		/* dropped because (port, priority) or egress queue was full */
	u64 drop_buffer;	/* dropped because the shared buffer had no room */
	u64 ecn_mark;		/* packets marked */
	u64 storms;		/* pauses taken for a storm */
	u64 restored;		/* of these, obeyed again */
	u64 storm_tx;		/* packets sent meanwhile */
	u64 storm_drops;	/* packets dropped meanwhile */
	u64 solved;		/* allocations of pause times */
	u64 unsolved;		/* of these, those where not enough could be paused */
	u64 pause_rx;		/* queues paused by the neighbour */
	u64 resume_rx;		/* queues resumed */
	u64 expired;		/* of these, those that ended by their hold time */
	u64 elided;		/* packets not counted: elide */
	u64 untrusted;		/* packets not counted: their handle is not to be trusted */
	u64 tagged_tx;		/* packets sent with an upstreamQ */
	u64 paused_ns;		/* length of all pauses by the neighbour that have ended */
	u64 queue_paused_ns;	/* ends less begins of pauses; of a root bfc_queues_paused_ns() */
	u64 pause_times[BFC_PAUSE_TIMES];	/* these pauses, by bfc_pause_time() */
};

/**
 * struct bfc_sched_call - what the present call of the qdisc knows; forgotten by bfc_begin()
 */
struct bfc_sched_call {
	u64 clock;		/* ns: when the clock was read last */
	struct bfc_ingress *brought;	/* bfc_brought_by() of the packet that is enqueued; RCU */
	bool timed;		/* @clock was read in this call: bfc_now() */
	bool looked;		/* @brought is that of the packet */
	bool keyed;		/* &bfc_sched_dests.key, .shared and .slot are those of the
				 * packet
				 */
	u8 class;		/* of the packet that is enqueued */
	u32 lot;		/* the last random number of `sample` */
};

/**
 * struct bfc_sched_obeyed - the neighbour's pauses, as merged last
 */
struct bfc_sched_obeyed {
	unsigned long *paused;	/* bitmap: queues that the neighbour holds paused */
	struct bfc_queue_pauses *pauses;	/* of each queue */
	u64 deadline;		/* ns: when they are void */
	u32 gen;		/* &bfc_rx.gen of them */
	u16 npaused;		/* queues paused, empty ones included */
	u8 prios;		/* priorities that the neighbour holds paused */
	bool by_queue;		/* @paused was told for queues; else it follows from @prios */
};

/**
 * struct bfc_sched_over - the flow table's overflow entries
 */
struct bfc_sched_over {
	struct bfc_flow *entries;	/* behind the flow table: BFC_FLOW_OVERFLOW for each
					 * member of &bfc_class_dests.ingress of each class
					 */
	struct bfc_overflow *ports;	/* for each of these members */
	u32 packets;		/* of the flows in @entries */
	u8 classes;		/* that there is room for */
};

/**
 * struct bfc_sched - the qdisc; all of it under its root lock
 */
struct bfc_sched {
	/* Four cache lines that each packet needs, and what each packet changes. */
	struct bfc_cfg *cfg;	/* configuration */
	struct bfc_port *port;	/* the device's object */
	struct bfc_queue *queues;
	struct bfc_flow *flows;	/* the flow table, sets of cfg->ways entries */
	unsigned long *empty;	/* bitmap: queues without a packet */
	unsigned long *usable;	/* of these, those not paused */
	u16 nqueues;
	u16 base;		/* number of its first queue in the port */
	u16 rotor;		/* where the search for an empty queue starts */
	bool idle;		/* nothing was eligible when the last dequeue looked */
	u8 nleft;		/* packets that left since the clock was read */
	u32 noccupied;		/* queues that are not empty */
	u32 mem;		/* truesize of all packets held */

	struct bfc_sched_drr drr;
	void *egress;		/* the mode's state of an egress port, or NULL */
	u64 next_tx;		/* ns: shaper: when the next packet may leave */

	struct bfc_sched_call call;
	struct bfc_sched_obeyed obeyed;
	u32 room;		/* part of the limit that is for packets outside the control band */
	u32 brim;		/* part of @room that it may use before it tells other schedulers */

	struct bfc_left left[BFC_CLOCK_EVERY];	/* these @nleft */

	/* Single members for each packet. */
	struct {
		struct qdisc_skb_head band;	/* never paused, tagged or counted */
		u32 mem;	/* truesize in it */
		struct bfc_bucket bucket[BFC_CONTROL_MAX];	/* bytes it may still take */
	} ctrl;
	struct bfc_sched_over over;
	struct {
		u64 due;	/* ns: when to look at storms again */
		u32 parted;	/* &bfc_rx.parted of the neighbour whose pauses are watched */
		u8 ignoring;	/* bit p: pauses of priority p are a storm; all bits: of queues */
		struct bfc_watchdog watch[BFC_PRIORITIES];	/* by priority; of queues: [0] */
	} storm;
	struct bfc_sched_txq txq;
	struct bfc_stamp stamp;	/* a program that stamps */
	struct {		/* of the scheduler; for what ingress ports hold see bfc_held */
		u32 bytes;	/* queued */
		u32 pausable;	/* of these, bytes that a pause of their ingress port stops */
		u32 ports;	/* ingress ports of these */
		u64 sent;	/* packets sent, but for those that a storm let go */
		u64 pauses;	/* by the neighbour */
		u64 since;	/* ns: begin of the present pause */
		u64 until;	/* ns: end of it */
		u64 ns;		/* ns: length of all pauses before that */
	} prio[BFC_PRIORITIES];
	struct bfc_sched_dests dest;
	struct bfc_sched_roots roots;
	struct bfc_srf *srf;	/* with `sched srf`, or after it; else NULL */
	struct bfc_sched_stats stats;

	/* Seldom, or with modes that pause priorities. */
	u16 longest;		/* of a full buffer: the longest queue when it was last searched */
	u16 walk;		/* where the search goes on: see bfc_longest() */
	struct rnd_state random;	/* to pick a queue if none is empty */
	struct qdisc_watchdog watchdog;	/* shaper, end of a pause, pace of a host */
	struct {
		const char *no_port;	/* why &bfc_sched.port is a bare one, for users; or NULL */
		bool live;	/* the port is configured for this qdisc, not for another that it is
				 * to replace
				 */
	} life;
	struct {
		u8 paced;	/* bit p: a host sends less of priority p (FAFC Alg. 3) */
		u8 waited;	/* of these: only the pace has held them back since their last
				 * packet
				 */
		struct bfc_host pace[BFC_PRIORITIES];
	} host;
	struct list_head strict[BFC_PRIORITIES];	/* as @drr.active, of strict priorities */
	struct bfc_sched_classes class;	/* with traffic classes only */
	struct {
		u16 in[BFC_SLOTS];	/* by slot: handle of the port that brought something */
		u64 whose[BFC_SLOTS];	/* of its counters: owner << 32 | layout */
		/* By priority and slot: pausable packets; last: of ports without one */
		u32 from[BFC_PRIORITIES][BFC_SLOTS + 1];
	} share;
};

#ifdef CONFIG_64BIT
static_assert(offsetof(struct bfc_sched, drr) == 64);
static_assert(offsetof(struct bfc_sched, call) == 128);
static_assert(offsetof(struct bfc_sched, left) == 192);
static_assert(offsetof(struct bfc_sched, ctrl) == 256);
#endif

/**
 * struct bfc_skb_cb - what a queued packet holds, in qdisc_skb_cb->data
 * @flow: index of its flow table entry
 * @mem: truesize when it was queued
 * @handle: of the counter it holds, if @counted, and of the bytes, if @held
 * @segs: packets on the wire; more than one only if split_gso is off
 * @prio: its priority, for the port-level modes
 * @counted: it is counted, until it leaves in any way or is uncounted by `resume early`
 * @holds_count: it holds the count of itself and of the counted packets in a row in front of it
 * @held: its bytes are charged to its ingress port, until it leaves in any way
 * @promised: @held, and its ingress port promised room for it: its priority is lossless there
 * @pausable: a pause of its ingress port would stop such packets
 * @overflowed: @flow is an overflow entry
 * @unsampled: it is not in @flow's size, and is not to be counted: `sample`
 * @slot: of its ingress port, if @pausable
 * @member: bits of the hash, if @overflowed
 * @size: what its flow has yet to send, as bfc_size_code(); with `sched srf` only
 *
 * @mem and @segs save dequeue two cache lines of the skb and its data.
 */
struct bfc_skb_cb {
	u32 flow;
	u32 mem;
	u16 handle;
	u16 segs;
	u8 prio;
	u8 counted : 1;
	u8 holds_count : 1;
	u8 held : 1;
	u8 promised : 1;
	u8 pausable : 1;
	u8 overflowed : 1;
	u8 unsampled : 1;
	u8 slot;
	u8 member;
	u16 size;
};

/* True if there are traffic classes. */
static inline bool bfc_is_classed(const struct bfc_sched *q)
{
	return static_branch_unlikely(&bfc_classed.key) && q->cfg->ranged;
}

/* True if queues are served by the size at their head (`sched srf`). */
static inline bool bfc_is_srf(const struct bfc_sched *q)
{
	return static_branch_unlikely(&bfc_sized.key) && q->cfg->srf;
}

/* How long a queue was paused, ns: a pause that still lasts included */
static inline u64 bfc_queue_paused_ns(const struct bfc_sched *q, unsigned int qn, u64 now)
{
	const struct bfc_queue_pauses *pauses = &q->obeyed.pauses[qn];

	return pauses->ns + (bfc_bit_test(qn, q->obeyed.paused) ? now - pauses->since : 0);
}

static inline u8 bfc_queue_class(const struct bfc_sched *q, unsigned int qn)
{
	return bfc_is_classed(q) ? q->cfg->of->queue[qn] : qn & q->cfg->class_mask;
}

/* The queues of a class, which are consecutive; without traffic classes all queues. */
static inline unsigned int bfc_class_first(const struct bfc_sched *q, u8 class)
{
	return bfc_is_classed(q) ? q->cfg->class[class].first : 0;
}

static inline unsigned int bfc_class_queues(const struct bfc_sched *q, u8 class)
{
	return bfc_is_classed(q) ? q->cfg->class[class].queues : q->nqueues;
}

/* Number of queues of a class that have no packet. */
static inline unsigned int bfc_class_empty(const struct bfc_sched *q, u8 class)
{
	return bfc_is_classed(q) ? q->cfg->class[class].queues - q->class.each[class].noccupied :
				   q->nqueues - q->noccupied;
}

/* The traffic class of a queue; 0 where there are none, whatever its priority */
static inline u8 bfc_traffic_class(const struct bfc_sched *q, const struct bfc_queue *queue)
{
	return bfc_is_classed(q) ? q->cfg->of->queue[queue - q->queues] : 0;
}

/* The round of a traffic class */
static inline struct bfc_sched_drr *bfc_round_in(struct bfc_sched *q, u8 class)
{
	return bfc_is_classed(q) ? &q->class.each[class].round : &q->drr;
}

/* The round that a queue is in, if its priority is not strict */
static inline struct bfc_sched_drr *bfc_round_of(struct bfc_sched *q, const struct bfc_queue *queue)
{
	return bfc_round_in(q, bfc_traffic_class(q, queue));
}

static inline struct bfc_class_dests *bfc_dests_of(struct bfc_sched *q,
						   const struct bfc_queue *queue)
{
	return &q->dest.of[bfc_traffic_class(q, queue)];
}

/**
 * bfc_now() - the exact time
 * @q: the scheduler
 *
 * Reading the clock is not cheap: only the first caller in a call of the qdisc
 * (bfc_begin()) reads it, and most calls have no caller.
 *
 * Context: under the root lock.
 * Return: ns.
 */
static inline u64 bfc_now(struct bfc_sched *q)
{
	if (!q->call.timed) {
		q->call.clock = ktime_get_ns();
		q->call.timed = true;
	}
	return q->call.clock;
}

/**
 * bfc_lately() - the approximate time
 * @q: the scheduler
 *
 * With a backlog it is as of the last look at the clock, BFC_CLOCK_EVERY packets ago at most.
 *
 * Context: under the root lock.
 * Return: ns.
 */
static inline u64 bfc_lately(struct bfc_sched *q)
{
	return q->noccupied ? q->call.clock : bfc_now(q);
}

/**
 * bfc_sticky_over() - whether the sticky time has passed since a packet left
 * @q: the scheduler
 * @since: ns, or BFC_STAMP_LATER
 *
 * An old clock and late stamps make the sticky time longer, never shorter: by the time that
 * BFC_CLOCK_EVERY packets take, and by as long as the link stands still.
 *
 * Context: under the root lock.
 * Return: true if so.
 */
static inline bool bfc_sticky_over(struct bfc_sched *q, u64 since)
{
	return (s64)(bfc_lately(q) - since) > (s64)q->cfg->sticky;
}

/* True if the flow has no packet here, and none left within the sticky time. */
static __always_inline bool bfc_flow_is_idle(struct bfc_sched *q, const struct bfc_flow *flow)
{
	return !flow->size && (!flow->stamp || bfc_sticky_over(q, flow->stamp));
}

/**
 * bfc_pick_any() - a random queue; not worth the kernel's best random numbers
 * @q: the scheduler
 * @n: number of queues to choose from
 *
 * Context: under the root lock.
 * Return: below @n.
 */
static inline unsigned int bfc_pick_any(struct bfc_sched *q, unsigned int n)
{
	return reciprocal_scale(prandom_u32_state(&q->random), n);
}

/* Any queue of a class */
static inline unsigned int bfc_pick_in_class(struct bfc_sched *q, u8 class)
{
	return bfc_class_first(q, class) + bfc_pick_any(q, bfc_class_queues(q, class));
}

/* Where the search for an empty queue of a class starts; it may be past its last queue. */
static inline u16 *bfc_rotor(struct bfc_sched *q, u8 class)
{
	return bfc_is_classed(q) ? &q->class.each[class].rotor : &q->rotor;
}

/* The first queue of a class from @start on, cyclically, with its bit set; %nqueues if none has. */
static inline unsigned int bfc_find_in_class(const struct bfc_sched *q, u8 class,
					     const unsigned long *bits, unsigned int start)
{
	unsigned int first = bfc_class_first(q, class), end = first + bfc_class_queues(q, class);
	unsigned int qn;

	if (start < first || start >= end)
		start = first;
	qn = find_next_bit(bits, end, start);
	if (qn >= end && start > first) {
		qn = find_next_bit(bits, start, first);
		end = start;
	}
	return qn < end ? qn : q->nqueues;
}

/* N_active: active queues that share the link; those of other TX queues as if they were here. */
static inline u32 bfc_nactive(const struct bfc_sched *q)
{
	return q->drr.nactive * q->drr.times + q->drr.more;
}

/* Th of a queue; @nactive: bfc_nactive_in() its class. */
static inline u32 bfc_th(const struct bfc_sched *q, u8 class, u32 nactive)
{
	return bfc_is_classed(q) ? bfc_class_th(q, class, nactive) : q->cfg->thresh[nactive];
}

static inline u32 bfc_nactive_in(const struct bfc_sched *q, u8 class)
{
	return bfc_is_classed(q) ? q->class.each[class].round.nactive : bfc_nactive(q);
}

/* Th of a queue. The queues of a root share what the root lets through, whether they are paused or
 * not: so N_active is at least their number.
 */
static inline u32 bfc_queue_th(const struct bfc_sched *q, const struct bfc_queue *queue)
{
	u8 class = bfc_traffic_class(q, queue);
	u32 n = bfc_nactive_in(q, class);

	if (unlikely(q->cfg->by_root) && queue->rooted && queue->dest != BFC_DEST_NONE)
		n = max_t(u32, n, q->dest.table[queue->dest].queues);
	return bfc_th(q, class, n);
}

/* True if this is a root without a scheduler, where each TX queue has one. */
static inline bool bfc_is_mq(const struct Qdisc *sch)
{
	return sch->flags & TCQ_F_MQROOT;
}

/* Cap of a queue, truesize: over it, the queue takes no more packets. */
static inline u64 bfc_queue_cap(const struct bfc_sched *q)
{
	return (u64)BFC_CAP_ALPHA * (q->room - min(q->mem - q->ctrl.mem, q->room));
}

/* A new call of the qdisc: forget the time and the packet of the last call. */
static inline void bfc_begin(struct bfc_sched *q)
{
	q->call.timed = false;
	q->call.looked = false;
	q->call.keyed = false;
}

/* A queue ran empty, or was resumed while empty. It still belongs to its destination: a pause for
 * it may be on its way, and would make it useless for others. If it is on the list already, since
 * an earlier time, bfc_dest_cool() moves it to its place.
 */
static inline void bfc_dest_emptied(struct bfc_sched *q, struct bfc_queue *queue)
{
	queue->again = !list_empty(&queue->cooling);
	if (!queue->again)
		list_add_tail(&queue->cooling, &bfc_dests_of(q, queue)->cooling);
}

/**
 * bfc_brought_by() - the ingress port of a packet
 * @q: scheduler of the egress port
 * @skb: the packet, which is being enqueued
 *
 * The handle is looked up once for each packet.
 *
 * Context: under the root lock of the egress port, RCU from bfc_begin() on.
 * Return: its counters, which may be changed; NULL: a packet of this box, or a handle
 * that is not to be trusted.
 */
static inline struct bfc_ingress *bfc_brought_by(struct bfc_sched *q,
						 const struct sk_buff *skb)
{
	if (!q->call.looked) {
		q->call.looked = true;
		q->call.brought = bfc_prove(q, skb);
	}
	return q->call.brought;
}

/**
 * bfc_mac_words() - the MAC address that a packet goes to
 * @skb: at egress, data at the MAC header
 * @word: result, two words
 */
static inline void bfc_mac_words(const struct sk_buff *skb, u32 *word)
{
	word[0] = get_unaligned((const u32 *)skb->data);
	word[1] = get_unaligned((const u16 *)(skb->data + sizeof(u32)));
}

/**
 * bfc_control_kind() - whether the network stops working without this packet
 * @skb: at egress
 *
 * Return: BFC_CONTROL_*.
 */
static inline enum bfc_control bfc_control_kind(const struct sk_buff *skb)
{
	if (likely(skb->protocol == htons(ETH_P_IP)))
		return skb->priority == TC_PRIO_CONTROL ? BFC_CONTROL_NET : BFC_CONTROL_NONE;
	return bfc_control_other(skb);
}

/* The ingress port that overflow entry @n is of. */
static inline struct bfc_overflow *bfc_overflow_port(struct bfc_sched *q, unsigned int n)
{
	return &q->over.ports[n / BFC_FLOW_OVERFLOW];
}

/* True if a queue is empty, its last packet was of this flow table entry, and a destination holds
 * it.
 */
static inline bool bfc_queue_was_of(const struct bfc_queue *queue, u32 flow)
{
	return !queue->head && queue->flow == flow && queue->dest != BFC_DEST_NONE;
}

/* True if an ingress port is never paused from here (`elide`); @ing may be NULL. */
static inline bool bfc_elides(const struct bfc_sched *q, const struct bfc_ingress *ing)
{
	return unlikely(q->cfg->elides) && ing && bfc_elided(&q->cfg->p, ing->ifindex);
}

/* True if the neighbour is a host that has proved, or with `peer on` need not, that it is there. */
static inline bool bfc_faces_host(const struct bfc_sched *q)
{
	const struct bfc_port *port = q->port;

	return READ_ONCE(port->neighbour.peer.role) == BFC_ROLE_NIC &&
	       (READ_ONCE(port->neighbour.peer.state) == BFC_PEER_STATE_UP ||
		q->cfg->p.peer == BFC_PEER_ON);
}

/**
 * bfc_stamp() - write into a packet what the next hop is to know
 * @sch: the qdisc
 * @skb: a packet that leaves; its private data in qdisc_skb_cb is overwritten
 * @tci: VLAN id that stands for its queue, and PCP that is its class; BFC_VID_NONE for the
 *	 control band
 * @prio: its priority, with a port-level mode; or class
 *
 * Context: root lock, bottom halves off; the packet is not counted as sent yet.
 * Return: false if the packet must be dropped.
 */
static inline bool bfc_stamp(struct Qdisc *sch, struct sk_buff *skb, u16 tci, u8 prio)
{
	struct bfc_sched *q = qdisc_priv(sch);

	if (unlikely(q->stamp.prog))
		return bfc_stamp_run(sch, skb, tci, prio);
	return !READ_ONCE(q->port->tags) || bfc_stamp_tag(q, skb, tci);
}

/* True if pauses of a priority, or those of queues, are ignored as a storm. */
static inline bool bfc_in_storm(const struct bfc_sched *q, u8 prio)
{
	return q->storm.ignoring & BIT(prio);
}

/* The shaper's time for the packet that leaves now: @next, when it was due, if only a timer held
 * it back (@timed) and it is at most BFC_PACE_LATE_NS late, as that is made up for. A standstill
 * is not: else the time is @now at least.
 */
static inline u64 bfc_pace_from(u64 next, bool timed, u64 now)
{
	return timed && next + BFC_PACE_LATE_NS >= now ? next : max(next, now);
}

/**
 * bfc_hrtt_of() - the HRTT that a port with `hrtt auto` is to use
 * @port: the port
 *
 * A bare port has no neighbour, so no pauses take effect.
 *
 * Context: RTNL.
 * Return: ns.
 */
static inline u64 bfc_hrtt_of(const struct bfc_port *port)
{
	if (port->bare)
		return BFC_HRTT_DEFAULT;
	return port->life.hrtt ?: port->sw->hrtt ?: BFC_HRTT_DEFAULT;
}

static inline struct bfc_skb_cb *bfc_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct bfc_skb_cb));
	return (struct bfc_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* bfc_main.c */
extern struct Qdisc_ops bfc_qdisc_ops;
void bfc_update_link(struct Qdisc *sch);
void bfc_retry_link(struct Qdisc *sch);
int bfc_update_hrtt(struct Qdisc *sch);
void bfc_forget_elided(struct Qdisc *sch, int ifindex);

/* bfc_life.c */
void bfc_sched_init(struct Qdisc *sch);
int bfc_sched_alloc(struct bfc_sched *q, const struct bfc_params *p);
int bfc_flows_grow(struct Qdisc *sch, const struct bfc_cfg *cfg);
bool bfc_keeps_egress(const struct bfc_cfg *cfg);
void bfc_sched_apply(struct Qdisc *sch, struct bfc_cfg *cfg, void **egress);
void bfc_sched_reset(struct Qdisc *sch);
void bfc_sched_free(struct Qdisc *sch);

/* bfc_options.c */
void bfc_params_default(struct bfc_params *p);
bool bfc_params_given_up(const struct net_device *dev, const struct nlattr *opt,
			 const struct bfc_params *was, const struct bfc_params *p);

/* bfc_netlink.c */
int bfc_params_parse(struct Qdisc *sch, struct nlattr *opt,
		     struct bfc_params *p, struct netlink_ext_ack *extack);
int bfc_dump(struct Qdisc *sch, struct sk_buff *skb);

/* bfc_stats.c */
int bfc_put_uint(struct sk_buff *skb, int attr, u8 width, u64 v);
void bfc_stats_gather(struct Qdisc *sch);
int bfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d);
extern const struct Qdisc_class_ops bfc_class_ops;

/* bfc_sched.c */
int bfc_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		struct sk_buff **to_free);
struct sk_buff *bfc_dequeue(struct Qdisc *sch);
void bfc_purge(struct Qdisc *sch);

/* bfc_queue.c */
void bfc_requeue(struct bfc_sched *q);
void bfc_queue_activate(struct bfc_sched *q, struct bfc_queue *queue, bool fresh);
void bfc_queue_deactivate(struct bfc_sched *q, struct bfc_queue *queue);
struct sk_buff *bfc_queue_pop(struct Qdisc *sch, unsigned int qn);
struct sk_buff *bfc_queue_take(struct Qdisc *sch, unsigned int qn, struct sk_buff *before);
bool bfc_queue_splice(struct bfc_sched *q, struct bfc_queue *from,
		      struct bfc_queue *into);
void bfc_settle(struct bfc_sched *q);

/* bfc_obey.c */
void bfc_merge_pauses(struct bfc_sched *q, u32 gen, u64 now);
void bfc_expire_pauses(struct bfc_sched *q, u64 now);
void bfc_rx_prio_end(struct bfc_sched *q, u64 now);
void bfc_watch_reset(struct bfc_sched *q, bool prios);

/* bfc_host.c */
void bfc_host_paused(struct bfc_sched *q, u64 now);
u8 bfc_host_waits(struct bfc_sched *q, u64 now);
u64 bfc_host_due(const struct bfc_sched *q, unsigned long waits);
void bfc_host_sent(struct bfc_sched *q, unsigned int prio, u32 len, u64 now);

/* bfc_dest.c */
void bfc_dest_init(void);
void bfc_dest_configure(struct bfc_sched *q, const struct bfc_cfg *old);
void bfc_dest_paused(struct bfc_sched *q, struct bfc_queue *queue);
void bfc_dest_rooted(struct bfc_sched *q, struct bfc_queue *queue, u32 root);
void bfc_dest_came(struct bfc_sched *q, struct bfc_queue *queue, const struct sk_buff *skb);
unsigned int bfc_dest_pick(struct bfc_sched *q, const struct sk_buff *skb, unsigned int had,
			   u8 class);
unsigned int bfc_dest_overflow(struct bfc_sched *q, const struct sk_buff *skb, u64 hash);
void bfc_dest_overflowed(struct bfc_sched *q, const struct bfc_flow *entry,
			 const struct sk_buff *skb);
unsigned int bfc_dest_regroup(struct bfc_sched *q, const struct sk_buff *skb, unsigned int qn);
bool bfc_dest_few(struct bfc_sched *q, const struct bfc_queue *pool);
void bfc_dest_turned(struct bfc_sched *q, struct bfc_queue *queue);

/* bfc_root.c */
void bfc_root_init(void);
int bfc_roots_alloc(struct Qdisc *sch, const struct bfc_cfg *cfg);
void bfc_roots_configure(struct bfc_sched *q);
u32 bfc_root_behind(struct bfc_sched *q, u32 key);
bool bfc_root_probe(struct bfc_sched *q, u32 key);
void bfc_root_learn(struct bfc_sched *q, u32 key, u32 root);
void bfc_root_assume(struct bfc_sched *q, const struct bfc_queue *queue, u32 root);
u32 bfc_root_told(struct bfc_sched *q, unsigned int qn);
void bfc_root_count(struct bfc_sched *q, const struct bfc_queue *queue,
		    struct bfc_ingress *ing, unsigned int upq);
unsigned int bfc_roots_room(const struct bfc_port *port, unsigned int queues);
void bfc_roots_receive(struct bfc_port *port, const struct bfc_pause *pause,
		       const void *frame);

/* bfc_share.c */
u64 bfc_share_hash(struct bfc_sched *q, const struct sk_buff *skb, u8 prio);
void bfc_share_enqueued(struct bfc_sched *q, struct bfc_skb_cb *cb,
			const struct bfc_ingress *ing, unsigned int slot, u32 len);
void bfc_share_dequeued(struct bfc_sched *q, const struct bfc_skb_cb *cb, u32 len);

/* bfc_prio.c */
u8 bfc_dscp_of(const struct sk_buff *skb);
u8 bfc_prio_of(const struct bfc_sched *q, const struct sk_buff *skb);

/* bfc_label.c */
bool bfc_is_labelled(const struct bfc_sched *q, const struct sk_buff *skb);

/* bfc_xoff.c; bits of struct bfc_ingress.state */
#define BFC_STATE_PAUSED(prio)	BIT(prio)
#define BFC_STATE_OVER(prio)	BIT(BFC_PRIORITIES + (prio))
u16 bfc_prio_judge(const struct bfc_ingress *ing, const struct bfc_cfg *cfg,
		   unsigned int prio, u16 state);
void bfc_prio_look(struct bfc_ingress *ing, unsigned int prio);

/* bfc_charge.c */
bool bfc_hold(struct bfc_sched *q, struct sk_buff *skb);
bool bfc_holds_whole(struct bfc_sched *q, const struct sk_buff *skb, u8 prio);
void bfc_unhold(struct bfc_sched *q, struct sk_buff *skb, struct bfc_ingress *ing);
void bfc_hold_by(struct bfc_ingress *ing, const struct bfc_cfg *cfg);

/* bfc_ecn.c */
bool bfc_ramp_hits(struct bfc_sched *q, u64 bytes);
bool bfc_mark_ce(struct sk_buff *skb);

/* bfc_egress.c */
void bfc_egress_enqueued(struct bfc_sched *q, struct sk_buff *skb);
void bfc_egress_dequeued(struct bfc_sched *q, const struct sk_buff *skb,
			 const struct bfc_ingress *ing);
void bfc_egress_adopt(struct bfc_sched *q, u64 now);

/* bfc_prio_frame.c */
u64 bfc_prio_hold(const struct bfc_port *port, const struct bfc_cfg *cfg, bool told);
struct sk_buff *bfc_prio_build(struct bfc_port *port, struct bfc_ingress *ing,
			       const struct bfc_cfg *cfg, u64 now);
struct sk_buff *bfc_pfc_resume(struct bfc_port *port);
struct sk_buff *bfc_pfc_last(const struct bfc_sched *q);
void bfc_tx_prio_end(struct bfc_port *port, u64 now);
u8 bfc_prio_paused(struct bfc_sched *q, u64 now);
void bfc_rx_prio(struct bfc_port *port, const struct bfc_pause *pause,
		 const void *frame, u64 now);
void bfc_rx_mac(struct bfc_port *port, const struct sk_buff *skb);

/* bfc_dirty.c */
struct sk_buff *bfc_pause_build(struct Qdisc *sch, u64 now);

/* bfc_count.c */
void bfc_count(struct bfc_sched *q, const struct bfc_queue *queue, struct sk_buff *skb,
	       struct sk_buff *before);
void bfc_uncount(struct bfc_sched *q, struct sk_buff *skb, struct bfc_ingress *ing);

#endif /* _BFC_H */
