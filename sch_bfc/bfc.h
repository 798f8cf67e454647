/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bfc - Backpressure Flow Control: objects and who may touch them.
 *
 *   bfc_sched    the qdisc: flow table, queues, DRR, shaper
 *   bfc_port     one per net_device: the neighbour on that link. As egress it
 *		  obeys the neighbour's pauses, as ingress it pauses it
 *   bfc_ingress  pause counters for the queues of one neighbour, and the bytes
 *		  held of what came in there, found by the 16-bit handle that
 *		  the ingress hook leaves in skb->tc_index
 *   bfc_conf	  thresholds of the port-level modes (pfc, capfc, fafc)
 *   bfc_switch	  the ports of a namespace, their handles and what they share
 *   bfc_buffer	  memory that the ports of a namespace share
 *
 * A packet comes in on port A and leaves through port B:
 *
 *   hook of A:     pop the tag, tc_index = handle(A, upstreamQ)
 *   bridge, IP:    as ever
 *   enqueue on B:  queue over Th? counter[A, upstreamQ]++; 0 -> 1: A is dirty
 *   dequeue on B:  counter[A, upstreamQ]--; 1 -> 0: A is dirty
 *   dequeue on A:  A is dirty: send the whole set of paused queues first
 *
 * With a port-level mode it is the same way for priorities: enqueue and dequeue
 * on B change held[A, priority], and compare it with what A told its neighbour
 * last (bfc_prio.c).
 *
 * Locks, outermost first:
 *
 *   RTNL              the port list, attach, detach, configuration
 *   qdisc root lock   everything in bfc_sched
 *   bfc_port.lock     the neighbour's state and the pauses it sent
 *   bfc_port.tx.lock  the pauses that it is told of
 *   bfc_fafc_in.lock  FAFC's account of an ingress port
 *   bfc_handle_lock   the table of handles
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
#include "bfc_conf.h"
#include "bfc_dest.h"
#include "bfc_fafc.h"
#include "bfc_fc.h"
#include "bfc_flow.h"
#include "bfc_params.h"
#include "bfc_peer.h"
#include "bfc_pfc.h"
#include "bfc_pfc_wire.h"
#include "bfc_pool.h"
#include "bfc_port.h"
#include "bfc_queue.h"
#include "bfc_stamp.h"
#include "bfc_switch.h"
#include "bfc_thresh.h"
#include "bfc_watchdog.h"
#include "bfc_wire.h"

DECLARE_STATIC_KEY_FALSE(bfc_holds);	/* bfc_charge.c */

#define BFC_RATE_UNKNOWN	125000000ULL	/* 1 Gbit/s, said in a warning */
#define BFC_CAP_ALPHA		8	/* a queue may hold 8 x the free buffer */
#define BFC_CTRL_SHARE		8	/* control band: 1/8 of the limit */
#define BFC_CTRL_RATE		16	/* each kind of it: 1/16 of the rate, */
#define BFC_CTRL_BURST		16384U	/* and a ms of that, or so many bytes */
#define BFC_HELLO_PPS		100	/* HELLOs a second from the link */
#define BFC_LEN_MAX		BIT(20)	/* of a packet by a size table: QDISC_PKT_LEN_MAX */
#define BFC_PACE_LATE_NS	(10 * NSEC_PER_MSEC)	/* made up for, by a burst */
#define BFC_PICK_TRIES		8	/* candidates looked at for a new flow */
#define BFC_EARLY_STEPS		8	/* counts given back per dequeue at most */
#define BFC_LAST_REFRESHES	3	/* repetitions after the last resume */
#define BFC_QUICK_REFRESHES	8	/* of XOFF and XON, before those at `refresh` */
#define BFC_SWEEP	HZ	/* old handles come back once a second */

/**
 * struct bfc_held - what is queued of one priority of an ingress port
 * @cell: bytes; any egress changes it under its own root lock
 * @signals: bit o: the egress of slot o holds us responsible (CaPFC's E)
 * @peak: most bytes
 * @grace: without a buffer: bytes that it may hold although MAX was lowered, until it
 *	   holds less than the new XOFF; 0: none
 */
struct bfc_held {
	struct bfc_cell cell;
	atomic64_t signals;
	u32 peak;
	u32 grace;
};

/**
 * struct bfc_ingress - pause counters of one neighbour's queues
 * @base: first handle; base + 1 + q is upstreamQ q, base alone "no upstreamQ"
 * @queues: number of counters
 * @runs: runs of handles taken
 * @dead: replaced by another: nothing is counted here any more. The object
 *	  and its handles stay until all counts have been given back
 * @layout: counts the layouts of the port
 * @ifindex: of the port: for elide, and to prove where a packet came in
 * @owner: &bfc_port.id of the port that it was made for
 * @sw: of the port; its table has the handles
 * @above: devices found to be on top of the port, and as of which topology
 * @noticed: dead, and everybody knows by the end of this sweep. Under bfc_handle_lock
 * @port: whom to mark dirty; NULL once dead. RCU
 * @drained: bytes of counted packets that gave their count back
 * @list: of dead objects, under bfc_handle_lock
 * @conf: of the port; NULL once dead. RCU
 * @buffer: that bytes are charged to, or NULL; for good
 * @reserve: bytes of each priority; for good
 * @slot: of the port
 * @state: low half: priorities that the newest frame pauses (CaPFC's D), high
 *	   half: whose own occupancy says so (I). Under the port's tx.lock
 * @held: of each priority
 * @fc: mode that it was made for; for good
 * @account: what that keeps of the port, or NULL; for good
 * @counter: one per upstreamQ; any egress changes it under its own root lock
 */
struct bfc_ingress {
	u16 base;
	u16 queues;
	u16 runs;
	bool dead;
	bool noticed;
	u32 layout;
	int ifindex;
	u32 owner;
	struct bfc_switch *sw;
	atomic64_t above[BFC_ABOVE];
	struct bfc_port __rcu *port;
	atomic64_t drained;
	struct list_head list;
	struct bfc_conf __rcu *conf;
	struct bfc_buffer *buffer;
	u32 reserve;
	u8 slot;
	u16 state;
	struct bfc_held held[BFC_PRIORITIES];
	const struct bfc_fc_ops *fc;
	void *account;
	atomic_t counter[];
};

/**
 * struct bfc_host - what a host that was paused sends of a priority (FAFC Alg. 3)
 * @rate: bytes/s
 * @updated: when it was so, ns
 * @until: until when the priority was paused, as seen last, ns
 * @next: when the next packet may leave, ns
 */
struct bfc_host {
	u64 rate;
	u64 updated;
	u64 until;
	u64 next;
};

/**
 * struct bfc_sched - the qdisc; all of it under its root lock
 *
 * Set by init and change:
 * @port: the device's object
 * @no_port: why it is a bare one, for users who want more than fc none; or NULL
 * @live: @port does what this qdisc asks for, not another that it is to replace
 * @p: configuration
 * @sticky: ns in effect
 * @rate: µ in bytes/s
 * @pace: shaper, if @p.rate
 * @quantum: bytes in effect
 * @count: packets over Th are counted: fc bfc, role switch
 * @classes: queue q is of class q % classes
 * @prios: the mode pauses priorities: class is priority
 * @identity: what a flow is, BFC_FLOW_*
 * @by_dest: queues are shared by destination as they run short
 * @class_sets: sets of the flow table for each class
 * @conf: thresholds of the port-level modes
 * @map: priority by PCP, DSCP or skb->priority
 * @thresh: Th by N_active, p.queues + 1 entries
 * @flows: the flow table, @nsets sets of @p.ways entries
 * @nsets: see there
 * @overflow: entries behind these, BFC_FLOW_OVERFLOW for each member of @ingress
 * @overflowed: these were used
 * @queues: the queues
 * @pauses: of each
 * @dests: the destinations that hold queues
 * @dest_sets: sets of @dests
 * @dest_mask: the bits of an IPv4 address that tell destinations apart; likewise
 *	@dest_mask6 of an IPv6 address
 * @free: queues that belong to none
 * @nfree: so many
 * @cooling: queues that ran empty, or were resumed then, in this order but for
 *	     &bfc_queue.again
 *
 * Every packet:
 * @active: queues with packets that are not paused, in DRR order
 * @fresh: likewise, but these just got their first packet, and go first
 * @round: of @active, counts up
 * @served: packets that left a queue; wraps
 * @clock: when the clock was read last, ns
 * @timed: that was in this call: bfc_now()
 * @keyed: @key and @slot are those of the packet that is enqueued: bfc_dest_key()
 * @slot: of the ingress port of that packet
 * @key: of its destination
 * @nleft: packets that left since then
 * @left: these
 * @strict_first: bit p: @strict of priority p is not empty
 * @nactive: the number of all three: N_active
 * @noccupied: non-empty queues
 * @npaused: queues paused, empty ones included
 * @rotor: where the search for an empty queue starts
 * @random: if there is none
 * @mem: truesize of all packets held
 * @empty: bitmap, queues without a packet
 * @usable: of these, those not paused
 * @paused: queues that the neighbour holds paused
 * @ctrl: the band that is never paused, tagged or counted
 * @stamp: a program that stamps
 * @ctrl_mem: truesize in it
 * @ctrl_bucket: bytes that it may still take, of each BFC_CONTROL_*
 * @rx_gen: of the pauses merged last
 * @pause_deadline: when these are void, ns
 * @next_tx: shaper: when the next packet may leave, ns
 * @idle: nothing was eligible when the last dequeue looked
 * @ignoring: bit p: the pauses of priority p are taken for a storm; all bits where
 *	      queues are paused
 * @prio_paused: priorities that the neighbour holds paused
 * @storm_due: when to look at storms again, ns
 * @host_paced: priorities that a host sends less of after pauses (FAFC Alg. 3)
 * @egress: what the mode keeps of an egress port, or NULL
 * @prio: of each priority: bytes queued, those of them that a pause can keep away, of
 *	  so many ports, packets sent, how often it was paused, since when and until
 *	  when, ns, and for how long in all without that
 * @watchdog: shaper, end of a pause, pace of a host
 *
 * Now and then, @ingress and @greedy with a flow's first packet, the rest for port-level
 * modes:
 * @ingress: by slot: how many queues hold what came in through a port, and which it
 *	     got last; behind them BFC_DEST_FORWARDED, BFC_DEST_LOCAL
 * @greedy: of these, how many are: bfc_ingress_is_greedy()
 * @storm: is a pause one: of each priority; of all queues only the first
 * @storm_cfg: its times
 * @host: pace of each priority
 * @host_waited: priorities that nothing else has held back since their last packet
 * @in: handles of the ports that brought something, by slot
 * @from: by priority and slot: packets queued that a pause can keep away; the last
 *	  one is that of all ports without a slot
 * @strict: as @active, of each strict priority
 *
 * Statistics, as in TCA_BFC_STATS_*:
 * @mem_peak: largest @mem
 * @backlog_peak: most bytes queued
 * @assigned: queue assignments made
 * @collisions: of these, into a queue that was not empty
 * @told_to_share: of these, into one of the flow's destination or ingress port, on
 *		   purpose
 * @joined: queues that went to the end of another
 * @shared: flow table entries that a second flow had to share, overflow entries taken
 * @counted: packets that met a queue over Th
 * @ctrl_excess: packets over the control band's share, queued as ordinary
 * @drop_limit: packets dropped from the longest queue
 * @drop_cap: packets to a queue over its share of the buffer
 * @drop_gso: packets that could not be segmented
 * @drop_max: packets whose (port, priority), or egress queue, was full
 * @drop_buffer: packets that the shared buffer had no room for
 * @ecn_mark: packets marked
 * @storms: pauses taken for a storm
 * @restored: of these, obeyed again
 * @storm_tx: packets sent meanwhile
 * @storm_drops: packets dropped meanwhile
 * @solved: allocations of pause times
 * @unsolved: of these, not enough could be paused
 * @pause_rx: queues paused by the neighbour
 * @resume_rx: queues resumed
 * @expired: of these, by their hold time
 * @elided: packets not counted: elide
 * @untrusted: packets not counted: handle not to be trusted
 * @tagged_tx: packets sent with an upstreamQ
 */
struct bfc_sched {
	struct bfc_port *port;
	const char *no_port;
	bool live;
	struct bfc_params p;
	u64 sticky;
	u64 rate;
	struct psched_ratecfg pace;
	u32 quantum;
	bool count;
	u8 classes;
	bool prios;
	u8 identity;
	bool by_dest;
	u32 class_sets;
	struct bfc_conf *conf;
	u8 map[BFC_PRIO_VALUES];
	u32 *thresh;
	struct bfc_flow *flows;
	u32 nsets;
	bool overflowed;
	struct bfc_flow *overflow;
	struct bfc_queue *queues;
	struct bfc_queue_pauses *pauses;
	struct bfc_dest *dests;
	u32 dest_sets;
	__be32 dest_mask;
	__be32 dest_mask6[4];
	unsigned long *free;
	u32 nfree;
	struct list_head cooling;

	struct list_head active;
	struct list_head fresh;
	u32 round;
	u32 served;
	u64 clock;
	bool timed;
	bool keyed;
	u8 slot;
	u8 nleft;
	u32 key;
	struct bfc_left left[BFC_CLOCK_EVERY];
	u8 strict_first;
	u32 nactive;
	u32 noccupied;
	u32 npaused;
	u32 rotor;
	struct rnd_state random;
	u32 mem;
	unsigned long *empty;
	unsigned long *usable;
	unsigned long *paused;
	struct qdisc_skb_head ctrl;
	struct bfc_stamp stamp;
	u32 ctrl_mem;
	struct bfc_bucket ctrl_bucket[BFC_CONTROL_MAX];
	u32 rx_gen;
	u64 pause_deadline;
	u64 next_tx;
	bool idle;
	u8 ignoring;
	u8 prio_paused;
	u8 host_paced;
	u64 storm_due;
	void *egress;
	struct {
		u32 bytes;
		u32 pausable;
		u32 ports;
		u64 sent;
		u64 pauses;
		u64 since;
		u64 until;
		u64 ns;
	} prio[BFC_PRIORITIES];
	struct qdisc_watchdog watchdog;

	struct bfc_watchdog storm[BFC_PRIORITIES];
	struct bfc_watchdog_cfg storm_cfg;
	struct bfc_host host[BFC_PRIORITIES];
	u8 host_waited;
	u16 in[BFC_SLOTS];
	struct {
		u16 queues;
		u16 last;
	} ingress[BFC_SLOTS + 2];
	u8 greedy;
	u32 from[BFC_PRIORITIES][BFC_SLOTS + 1];
	struct list_head strict[BFC_PRIORITIES];

	u32 mem_peak;
	u32 backlog_peak;
	u64 assigned;
	u64 collisions;
	u64 told_to_share;
	u64 joined;
	u64 shared;
	u64 counted;
	u64 ctrl_excess;
	u64 drop_limit;
	u64 drop_cap;
	u64 drop_gso;
	u64 drop_max;
	u64 drop_buffer;
	u64 ecn_mark;
	u64 storms;
	u64 restored;
	u64 storm_tx;
	u64 storm_drops;
	u64 solved;
	u64 unsolved;
	u64 pause_rx;
	u64 resume_rx;
	u64 expired;
	u64 elided;
	u64 untrusted;
	u64 tagged_tx;
};

/**
 * struct bfc_skb_cb - what a queued packet holds, in qdisc_skb_cb->data
 * @flow: index of its flow table entry
 * @mem: truesize when it was queued
 * @handle: of the counter it holds, if @counted, and of the bytes, if @held
 * @segs: packets on the wire; more than one only if split_gso is off
 * @prio: its priority, for the port-level modes
 * @counted: it holds a count, to be given back on every way out
 * @held: its bytes are held, likewise
 * @pausable: a pause of the port that it came in through can keep the like of it away
 * @slot: of that port, if @pausable
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
	u8 held : 1;
	u8 pausable : 1;
	u8 slot;
};

static inline u8 bfc_queue_class(const struct bfc_sched *q, unsigned int qn)
{
	return qn & (q->classes - 1);
}

/**
 * bfc_now() - the time, for who needs it exactly
 * @q: the scheduler
 *
 * Reading the clock is not cheap: only the first to ask in a call of the qdisc
 * (bfc_begin()) does, and most calls have none.
 *
 * Context: under the root lock.
 * Return: ns.
 */
static inline u64 bfc_now(struct bfc_sched *q)
{
	if (!q->timed) {
		q->clock = ktime_get_ns();
		q->timed = true;
	}
	return q->clock;
}

/**
 * bfc_sticky_over() - has the sticky time passed since then?
 * @q: the scheduler
 * @since: ns, or BFC_STAMP_LATER
 *
 * With a backlog that is told by the last look at the clock, BFC_CLOCK_EVERY packets ago at
 * most. An old clock and late stamps both make it longer, never shorter: by what so many
 * packets take, and by as long as the link stands still.
 *
 * Context: under the root lock.
 * Return: true if so.
 */
static inline bool bfc_sticky_over(struct bfc_sched *q, u64 since)
{
	u64 now = q->noccupied ? q->clock : bfc_now(q);

	return (s64)(now - since) > (s64)q->sticky;
}

/**
 * bfc_pick_any() - any of the queues: it is not worth the kernel's best random numbers
 * @q: the scheduler
 * @n: so many are to choose from
 *
 * Context: under the root lock.
 * Return: below @n.
 */
static inline unsigned int bfc_pick_any(struct bfc_sched *q, unsigned int n)
{
	return reciprocal_scale(prandom_u32_state(&q->random), n);
}

/* What a queue may hold when another packet comes, truesize. */
static inline u64 bfc_queue_cap(const struct bfc_sched *q)
{
	return (u64)BFC_CAP_ALPHA * (q->p.limit - min(q->mem, q->p.limit));
}

/* The time of what was called before is not that of what comes now. */
static inline void bfc_begin(struct bfc_sched *q)
{
	q->timed = false;
	q->keyed = false;
}

/* A queue ran empty, or is resumed while it is. It still belongs to its destination: a
 * pause may be on its way, and makes it useless for others. One that has been there since
 * an earlier time is moved to its place by who looks for the oldest.
 */
static inline void bfc_dest_emptied(struct bfc_sched *q, struct bfc_queue *queue)
{
	queue->again = !list_empty(&queue->cooling);
	if (!queue->again)
		list_add_tail(&queue->cooling, &q->cooling);
}

/* Is a queue empty that a flow was in alone at last, and held yet for its destination? */
static inline bool bfc_queue_was_of(const struct bfc_queue *queue, u32 flow)
{
	return !queue->head && queue->flow == flow && queue->dest != BFC_DEST_NONE;
}

/* Is the neighbour a host? */
static inline bool bfc_faces_host(const struct bfc_sched *q)
{
	return READ_ONCE(q->port->neighbour.peer.role) == BFC_ROLE_NIC;
}

/* Are pauses of a packet's priority, or those of queues, ignored as a storm? */
static inline bool bfc_in_storm(const struct bfc_sched *q, u8 prio)
{
	return q->ignoring & BIT(prio);
}

/* When the packet that leaves now should have, if it was to leave at @next and nothing
 * but a timer held it back (@timed). A timer that fires late is made up for; a
 * standstill is not.
 */
static inline u64 bfc_pace_from(u64 next, bool timed, u64 now)
{
	return timed && next + BFC_PACE_LATE_NS >= now ? next : max(next, now);
}

static inline struct bfc_skb_cb *bfc_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct bfc_skb_cb));
	return (struct bfc_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* bfc_main.c */
extern struct Qdisc_ops bfc_qdisc_ops;
void bfc_update_link(struct Qdisc *sch);

/* bfc_netlink.c */
void bfc_params_default(struct bfc_params *p);
int bfc_params_parse(struct Qdisc *sch, struct nlattr *opt,
		     struct bfc_params *p, struct netlink_ext_ack *extack);
int bfc_put_uint(struct sk_buff *skb, int attr, u8 width, u64 v);
int bfc_dump(struct Qdisc *sch, struct sk_buff *skb);

/* bfc_stats.c */
int bfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d);
extern const struct Qdisc_class_ops bfc_class_ops;

/* bfc_sched.c */
int bfc_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		struct sk_buff **to_free);
struct sk_buff *bfc_dequeue(struct Qdisc *sch);
void bfc_purge(struct Qdisc *sch);
void bfc_trim(struct Qdisc *sch);

/* bfc_queue.c */
void bfc_requeue(struct bfc_sched *q);
void bfc_queue_activate(struct bfc_sched *q, struct bfc_queue *queue, bool fresh);
void bfc_queue_deactivate(struct bfc_sched *q, struct bfc_queue *queue);
void bfc_queue_append(struct bfc_sched *q, unsigned int qn, struct sk_buff *skb);
struct sk_buff *bfc_queue_pop(struct Qdisc *sch, unsigned int qn);
bool bfc_queue_splice(struct bfc_sched *q, struct bfc_queue *from,
		      struct bfc_queue *into);
void bfc_settle(struct bfc_sched *q);

/* bfc_obey.c */
void bfc_merge_pauses(struct bfc_sched *q, u32 gen, u64 now);
void bfc_expire_pauses(struct bfc_sched *q, u64 now);

/* bfc_host.c */
void bfc_host_paused(struct bfc_sched *q, u64 now);
u8 bfc_host_waits(struct bfc_sched *q, u64 now, u64 *due);
void bfc_host_sent(struct bfc_sched *q, unsigned int prio, u32 len, u64 now);

/* bfc_dest.c */
void bfc_dest_init(void);
void bfc_dest_configure(struct bfc_sched *q, const struct bfc_params *p);
void bfc_dest_paused(struct bfc_sched *q, struct bfc_queue *queue);
void bfc_dest_came(struct bfc_sched *q, struct bfc_queue *queue, const struct sk_buff *skb);
unsigned int bfc_dest_pick(struct bfc_sched *q, const struct sk_buff *skb);
struct bfc_flow *bfc_dest_overflow(struct bfc_sched *q, const struct sk_buff *skb, u64 hash);
void bfc_dest_turned(struct bfc_sched *q, struct bfc_queue *queue);

/* bfc_share.c */
u64 bfc_share_hash(const struct bfc_sched *q, const struct sk_buff *skb, u8 prio);
void bfc_share_enqueued(struct bfc_sched *q, struct bfc_skb_cb *cb,
			unsigned int slot, u32 len);
void bfc_share_dequeued(struct bfc_sched *q, const struct bfc_skb_cb *cb, u32 len);

/* bfc_prio.c */
u8 bfc_prio_of(const struct bfc_sched *q, const struct sk_buff *skb);

/* bfc_xoff.c; bits of struct bfc_ingress.state */
#define BFC_STATE_PAUSED(prio)	BIT(prio)
#define BFC_STATE_OVER(prio)	BIT(BFC_PRIORITIES + (prio))
u16 bfc_prio_judge(const struct bfc_ingress *ing, const struct bfc_conf *conf,
		   unsigned int prio, u16 state);
void bfc_prio_look(struct bfc_ingress *ing, unsigned int prio);

/* bfc_charge.c */
bool bfc_hold(struct bfc_sched *q, struct sk_buff *skb);
void bfc_unhold(struct bfc_sched *q, struct sk_buff *skb);
void bfc_hold_by(struct bfc_ingress *ing, const struct bfc_conf *conf);

/* bfc_ecn.c */
bool bfc_mark_ce(struct sk_buff *skb);

/* bfc_egress.c */
void bfc_egress_enqueued(struct bfc_sched *q, struct sk_buff *skb);
void bfc_egress_dequeued(struct bfc_sched *q, const struct sk_buff *skb);
void bfc_egress_adopt(struct bfc_sched *q, u64 now);

/* bfc_prio_frame.c */
struct sk_buff *bfc_prio_build(struct bfc_port *port, struct bfc_ingress *ing,
			       const struct bfc_conf *conf, u64 now);
struct sk_buff *bfc_pfc_resume(struct bfc_port *port);
void bfc_rx_prio_end(struct bfc_sched *q, u64 now);
void bfc_tx_prio_end(struct bfc_port *port, u64 now);
u8 bfc_prio_paused(struct bfc_sched *q, u64 now);
void bfc_rx_prio(struct bfc_port *port, const struct bfc_pause *pause,
		 const void *frame, u64 now);
void bfc_rx_mac(struct bfc_port *port, const struct sk_buff *skb);

/* bfc_dirty.c */
struct sk_buff *bfc_pause_build(struct Qdisc *sch, u64 now);

/* fc_bfc.c */
void bfc_count(struct bfc_sched *q, struct sk_buff *skb);
void bfc_uncount(struct bfc_sched *q, struct sk_buff *skb);

/* bfc_ingress.c */
u16 bfc_handle_base(const struct bfc_switch *sw, u16 handle);
u8 bfc_ingress_room(const struct bfc_port *port, unsigned int queues);
struct bfc_ingress *bfc_ingress_new(struct bfc_port *port, unsigned int queues,
				    u8 *refused);
void bfc_ingress_retire(struct bfc_ingress *ing);
bool bfc_ingress_sweep(void);

#endif /* _BFC_H */
