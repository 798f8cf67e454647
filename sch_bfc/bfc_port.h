/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port: one network device and the neighbour at the other end of its link. Its parts are
 * grouped by their writers.
 */
#ifndef _BFC_PORT_H
#define _BFC_PORT_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/hrtimer.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "bfc_bucket.h"
#include "bfc_event.h"
#include "bfc_fc.h"
#include "bfc_hrtt.h"
#include "bfc_peer.h"
#include "bfc_wire.h"

struct bfc_cfg;
struct bfc_charges;
struct bfc_ingress;
struct bfc_params;
struct bfc_switch;
struct netlink_ext_ack;

/* bits of bfc_port.flags */
#define BFC_PORT_DIRTY	0	/* the set of paused upstream queues changed: a frame is due */
#define BFC_PORT_HELLO	1	/* a HELLO is due */
#define BFC_PORT_RESUME	2	/* a mode that pauses priorities has ended: its final XON is due */

/* Values of &bfc_port.watched that are no VLAN ids */
#define BFC_WATCH_NONE	BFC_VID_NONE
#define BFC_WATCH_PRIO	0x8000	/* | priority */

/**
 * struct bfc_port_pcpu - per-CPU counters that are written for each packet
 *
 * Update them with this_cpu_add() and the like only: on PREEMPT_RT another task may preempt a
 * task that has bottom halves disabled.
 */
struct bfc_port_pcpu {
	u64 tagged;		/* packets received with an upstreamQ */
	u64 bad_tag;		/* tags beyond the neighbour's queues */
	u64 drained;		/* bytes of packets received here that a pause counter counted and
				 * that have left their egress queue since
				 */
};

/**
 * struct bfc_rx - the pauses that the neighbour sent
 *
 * Protected by &bfc_port.lock. Dequeue reads @paused, @until, @deadline, @drained, @t_hop and
 * @parted without the lock, word by word; @gen, which is stored with release after them, tells it
 * of a change.
 */
struct bfc_rx {
	u32 gen;		/* changes with every new @paused or @until */
	u32 seq;		/* newest PAUSE */
	u64 deadline;		/* ns: when @paused expires */
	u64 drained;		/* bytes that the neighbour says it has drained */
	u64 until[BFC_PRIORITIES];	/* ns: end of the pause of each priority */
	u32 t_hop;		/* ns: FAFC's T_hop as the neighbour says; 0: unknown */
	u32 parted;		/* changes as a neighbour goes: storms are forgotten */
	DECLARE_BITMAP(paused, BFC_QUEUES_MAX);	/* local queues held paused */
	struct bfc_bucket bucket;	/* frames that the port may still obey now */
	u32 max_pps;		/* rate of @bucket, frames/s */
	u64 bad[BFC_BAD_MAX];	/* refused BFC frames, by reason */
	u64 frames;		/* PAUSE frames accepted */
	u64 pfc;		/* PFC frames obeyed */
	u64 pfc_bad;		/* PFC frames refused */
	u64 mac_pause;		/* PAUSE frames of 802.3x, not obeyed */
};

/**
 * struct bfc_neighbour - the agreement with the neighbour
 *
 * Under &bfc_port.lock; @seq is atomic, and @epoch is read with READ_ONCE() by the
 * sending side.
 */
struct bfc_neighbour {
	struct bfc_peer peer;	/* the HELLO machine */
	struct bfc_bucket bucket[2];	/* HELLOs that the port may still process now: [0] from
					 * senders that may not hear the port, [1] from those that
					 * do: bfc_peer_knows()
					 */
	u32 epoch;		/* sent in the port's control frames */
	atomic_t seq;		/* sequence number of these frames */
	u8 tries;		/* fast HELLOs sent without an agreement so far */
	u8 refused;		/* why the neighbour's queues are not served, BFC_REFUSED_*; or 0 */
	u16 pops;		/* queues whose tags are popped by the agreement; 0: none */
	bool lingers;		/* there were more, and the neighbour may still send their tags */
	bool logged;		/* there was an agreement, and the log has said so */
	u32 layouts;		/* counts the changes of &bfc_port.ingress */
	u32 old_runs;		/* runs of handles that its former counters hold; bfc_handle_lock */
	struct bfc_bucket news;	/* new layouts that it may still get now */
	u64 hello_tx;		/* HELLOs sent */
	u64 hello_rx;		/* HELLOs accepted */
	unsigned long linger;	/* jiffies: when to stop popping them, if @lingers */
	struct delayed_work hello;	/* sends HELLOs, expires the neighbour */
};

/**
 * struct bfc_tx - the pauses sent to the neighbour
 * @lock: inside the root lock and &bfc_port.lock, outside &bfc_fafc_in.lock; bottom
 *	  halves are off
 *
 * Protected by @lock, but for @dirty_since and @quick, which are also accessed without it, with
 * READ_ONCE() and WRITE_ONCE(). @refresh is a softirq timer. Dequeue builds the frames; the root
 * lock does not protect them, as a port may have several schedulers, each with a root lock.
 */
struct bfc_tx {
	spinlock_t lock;	/* of the members below */
	u32 npaused;		/* queues or priorities in the newest frame */
	u32 layout;		/* &bfc_ingress.layout that @paused is about */
	u32 last;		/* repetitions left after the last resume */
	u16 roots_next;		/* queue at which the root ids in the next frame begin */
	DECLARE_BITMAP(paused, BFC_WIRE_QUEUES_MAX);	/* in the newest frame */
	u64 pauses;		/* queues or priorities paused */
	u64 resumes;		/* queues or priorities resumed */
	u64 frames;		/* PAUSE frames */
	u64 pfc;		/* PFC frames */
	u64 refreshes;		/* of @frames and @pfc: repetitions */
	u8 prio_paused;		/* priorities in the newest frame */
	u8 over;		/* of @prio_paused: paused until XON, not for a time */
	u8 named;		/* priorities in the newest frame, lossless or not */
	u8 quick;		/* repetitions left at the interval opt.quick */
	u64 void_ns;		/* ns: when the newest pause in @over expires by itself */
	u64 until[BFC_PRIORITIES];	/* ns: end of a timed pause (FAFC), or 0 */
	struct {
		u64 pauses;	/* of the priority */
		u64 since;	/* ns: begin of the current one */
		u64 ns;		/* ns: total of the others */
	} prio[BFC_PRIORITIES];
	u64 dirty_since;	/* ns: oldest change that no frame has sent */
	u64 built;		/* ns: when the newest frame was built; 0: none yet */
	struct bfc_hrtt hrtt;	/* HRTT measurement: times the pause of &bfc_port.watched */
	u64 rtt;		/* ns: current round trip of HELLOs */
	struct {
		u64 hrtt;	/* ns: bfc_hrtt_known() when bfc_hrtt_work() looked last */
		u64 room;	/* ns: likewise bfc_hrtt_room() */
		u64 rtt;	/* ns: likewise @rtt; read without @lock */
		s8 proved;	/* likewise @hrtt.proved; read without @lock */
	} seen;
	struct hrtimer refresh;	/* repeats the newest frame */
};

/**
 * struct bfc_port_life - lifetime of a port, and the state of its device
 *
 * Under RTNL; @users and @unplugged change under &bfc_port.lock as well.
 */
struct bfc_port_life {
	unsigned int users;	/* qdiscs on the device, including those of TX queues; while one
				 * root replaces another, those of both
				 */
	bool fresh;		/* the first user is attached, but has not configured the port
				 * yet
				 */
	bool carrier;		/* as seen last */
	u64 speed;		/* of the link when it was last up, bytes/s; 0: unknown */
	u64 hrtt;		/* ns: HRTT used with `hrtt auto`; 0: that of @sw */
	u64 loop;		/* ns: measured loop of this link, or 0 */
	u64 loop_changed;	/* ns: when @loop changed */
	bool unplugged;		/* the device has left the namespace; any qdisc left is one that a
				 * request still holds
				 */
	bool promisc;		/* the port has made the device promiscuous, so that tags come in */
	struct netdev_queue *txq;	/* TX queue of a qdisc below mq; NULL: a root. Never
					 * changes
					 */
	u32 carrier_downs;	/* dev->carrier_down_count at that time */
	struct nf_hook_ops hook;	/* NF_NETDEV_INGRESS */
	netdevice_tracker tracker;	/* of the reference on the device */
};

/**
 * struct bfc_port - one network device and the neighbour behind it
 * @lock: protects @rx to @each, and members if their comments name it; taken by the hook, by
 *	  works and under RTNL; never with hard interrupts off
 *
 * The hook, enqueue and dequeue read the first cache line for each packet. It is seldom written:
 * under @lock, with WRITE_ONCE(), but for @flags, which is atomic, and @watched, which is
 * written under &bfc_tx.lock twice for each pause that is timed.
 */
struct bfc_port {
	struct net_device *dev;	/* held */
	struct bfc_switch *sw;	/* of the namespace in which the port was made; held */
	struct bfc_ingress __rcu *ingress;	/* counters for the neighbour's queues */
	struct bfc_port_pcpu __percpu *pcpu;
	unsigned long flags;	/* BFC_PORT_DIRTY, _HELLO, _RESUME */
	bool foreign;		/* devices of other namespaces send through the port; RTNL */
	u32 id;			/* unique; key of the port in bfc_port_ids until it is unplugged */
	__be16 tpid;		/* of the tags */
	u16 pop_max;		/* VLAN id of the neighbour's last queue, or of a former one */
	bool live;		/* the port and the neighbour may pause each other */
	bool told;		/* FAFC: PAUSE frames pause priorities, in place of PFC */
	bool tags;		/* packets sent are tagged with an upstreamQ */
	bool pop;		/* tags are popped from packets received */
	bool bare;		/* no neighbour, no hook, in no list: one for each root on an
				 * upper device, and for each qdisc below mq
				 */
	u8 slot;		/* number in the namespace, or BFC_SLOT_NONE */
	u16 watched;		/* the pause that is timed: VLAN id of the neighbour's queue, or
				 * BFC_WATCH_*
				 */

	spinlock_t lock ____cacheline_aligned_in_smp;
	struct bfc_rx rx;
	struct bfc_neighbour neighbour;
	const struct bfc_fc_ops *fc;	/* the mode; also while @cfg is NULL */
	struct bfc_cfg *cfg;	/* of its qdisc, or NULL */
	struct bfc_charges *charges;	/* of @ingress, and of those that come next; or NULL */
	u64 link_rate;		/* of the MAC, bytes/s: quanta are times at this rate */
	struct {
		u8 role;
		u8 peer;
		u8 accept_pause;
		u8 keep_class;	/* packets keep the class that the neighbour sends */
		u32 hold;
		u64 refresh;
		u64 quick;
	} opt;			/* options in effect; they stay when the qdisc goes */
	u16 queues;		/* of the port, as announced in HELLO */
	bool each;		/* each TX queue has a scheduler */

	struct bfc_tx tx ____cacheline_aligned_in_smp;
	struct bfc_port_life life;
	struct bfc_events events;	/* to be sent to listening programs */
	u32 root[BFC_QUEUES_MAX];	/* with `assign root`: root id of each local queue that
					 * the neighbour holds paused; accessed as &bfc_rx.paused
					 */
};

#ifdef CONFIG_64BIT
static_assert(offsetofend(struct bfc_port, watched) <= 64);
#ifdef CONFIG_SMP
static_assert(offsetof(struct bfc_port, lock) % SMP_CACHE_BYTES == 0);
static_assert(offsetof(struct bfc_port, tx) % SMP_CACHE_BYTES == 0);
#endif
static_assert(offsetof(struct bfc_port, rx.deadline) -
	      offsetof(struct bfc_port, lock) < 64 ||
	      sizeof(spinlock_t) > 4);	/* debugging makes locks long */
#endif

/**
 * bfc_port_shared() - check if devices of other namespaces send through a port
 * @port: the port
 *
 * Return: true if so: what leaves there may have any tc_index and skb_iif.
 */
static inline bool bfc_port_shared(const struct bfc_port *port)
{
	return READ_ONCE(port->foreign);
}

static inline bool bfc_pause_due(const struct bfc_port *port)
{
	return test_bit(BFC_PORT_DIRTY, &port->flags);
}

/* A driver need not drop the carrier of a device that is down. */
static inline bool bfc_carrier(const struct net_device *dev)
{
	return netif_running(dev) && netif_carrier_ok(dev);
}

/* True if PAUSE frames of the neighbour are refused because it is a host; port->lock held. */
static inline bool bfc_port_refuses_pause(const struct bfc_port *port)
{
	return port->neighbour.peer.peer_nonce && port->neighbour.peer.role == BFC_ROLE_NIC &&
	       !port->opt.accept_pause;
}

/* True if packets keep the class that the neighbour sends; port->lock held. */
static inline bool bfc_port_keeps_class(const struct bfc_port *port)
{
	return port->opt.keep_class && port->neighbour.peer.classes > 1;
}

/* The port's current counters; port->lock held. */
static inline struct bfc_ingress *bfc_ingress_of(const struct bfc_port *port)
{
	return rcu_dereference_protected(port->ingress,
					 lockdep_is_held(&port->lock));
}

/* Number of TX queues with a scheduler of their own. If one scheduler serves all of them, this
 * is 1: the first TX queue runs it.
 */
static inline unsigned int bfc_port_txqs(const struct bfc_port *port)
{
	return READ_ONCE(port->each) ? READ_ONCE(port->dev->real_num_tx_queues) : 1;
}

/**
 * bfc_port_in_order() - check if the port's frames must keep their order
 * @port: the port
 *
 * PFC frames have no sequence number. If an XON overtook the XOFF before it, the neighbour would
 * stay paused until the next repetition; if an XOFF overtook an XON, it would send packets that
 * there is no room for. So all of these frames leave through the first TX queue. PAUSE frames
 * have a sequence number: the neighbour drops one that another has overtaken.
 *
 * Return: true if all of them must leave through the first TX queue.
 */
static inline bool bfc_port_in_order(const struct bfc_port *port)
{
	return READ_ONCE(port->fc)->prios;
}

/**
 * bfc_port_told() - order stores for dequeue before a call of netif_schedule_queue()
 *
 * netif_schedule_queue() does nothing if the qdisc will run anyway: its SCHED bit is set, or,
 * from 6.19 on, another CPU has a packet for it in the list that is enqueued next. That CPU
 * clears the bit, or takes the list, and then runs the qdisc. Taking the list is a full barrier.
 * Clearing the bit is not, nor is taking the root lock: dequeue may read &bfc_port.rx and
 * &bfc_port.flags before the bit is cleared. Therefore dequeue reads them again, after a full
 * barrier, before it concludes that nothing may leave. The barrier here orders the stores before
 * the read of the bit or the list; a release would not order a store before a later load.
 */
static inline void bfc_port_told(void)
{
	/* pairs with that in bfc_dequeue_late(), and with llist_del_all() in __dev_xmit_skb() */
	smp_mb();
}

/* Schedule the qdisc of the first of @n TX queues that is not stopped. If all are stopped,
 * nothing is scheduled: the first one that is woken runs its qdisc.
 */
static inline void bfc_port_run_one(const struct bfc_port *port, unsigned int n)
{
	struct netdev_queue *txq;
	unsigned int i;

	for (i = 0; i < n; i++) {
		txq = netdev_get_tx_queue(port->dev, i);
		/* Drivers change it meanwhile; one that wakes the queue runs its qdisc. */
		if (data_race(netif_xmit_frozen_or_stopped(txq)))
			continue;
		netif_schedule_queue(txq);
		return;
	}
}

/**
 * bfc_port_run() - schedule one of the port's qdiscs, for a frame of the port itself
 * @port: the port
 */
static inline void bfc_port_run(const struct bfc_port *port)
{
	bfc_port_told();
	bfc_port_run_one(port, bfc_port_in_order(port) ? 1 : bfc_port_txqs(port));
}

/**
 * bfc_port_wake() - schedule all qdiscs of a port, as pauses may have ended
 * @port: the port
 *
 * The scheduler of a stopped TX queue runs when that is woken. A scheduler of all TX queues is
 * run by any of them that is not stopped.
 */
static inline void bfc_port_wake(const struct bfc_port *port)
{
	unsigned int i, n = READ_ONCE(port->dev->real_num_tx_queues);

	bfc_port_told();
	if (port->life.txq)
		netif_schedule_queue(port->life.txq);
	else if (!READ_ONCE(port->each))
		bfc_port_run_one(port, n);
	else
		for (i = 0; i < n; i++)
			netif_schedule_queue(netdev_get_tx_queue(port->dev, i));
}

/* bfc_port.c */
void bfc_port_unfilter_soon(struct bfc_port *port);
void bfc_port_free(struct bfc_port *port);
void bfc_port_unplug(struct bfc_port *port);
struct bfc_port *bfc_port_attach(struct net_device *dev,
				 struct netlink_ext_ack *extack);
struct bfc_port *bfc_port_attach_bare(const struct Qdisc *sch);
void bfc_port_hold(struct bfc_port *port);
void bfc_port_configure(struct bfc_port *port, struct bfc_cfg *cfg, u64 link_rate,
			bool each);
void bfc_port_relink(struct bfc_port *port, u64 link_rate);
void bfc_port_detach(struct bfc_port *port);
void bfc_sweep_init(void);
void bfc_sweep_stop(void);

/* bfc_hrtt.c */
#define BFC_HRTT_EVERY	(HZ / 5)	/* jiffies from a change to the check of all ports */
extern struct delayed_work bfc_hrtt_look;
extern unsigned long bfc_hrtt_looked;
void bfc_hrtt_look_soon(const struct bfc_port *port);
void bfc_hrtt_look_later(void);
void bfc_hrtt_told(struct bfc_port *port, const struct bfc_cfg *cfg, u16 fresh, u64 since,
		   u64 now);
void bfc_hrtt_over(struct bfc_port *port, unsigned int prio, u64 until);
void bfc_hrtt_came(struct bfc_port *port, u16 what);
u64 bfc_hrtt_most_shared(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate);
u64 bfc_hrtt_most(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate);
u64 bfc_hrtt_aside(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate,
		   u64 loop);
u64 bfc_hrtt_longest(const struct bfc_port *port, const struct bfc_params *p, u64 link_rate,
		     u64 loop);
void bfc_hrtt_forget(struct bfc_port *port);
void bfc_hrtt_heard(struct bfc_port *port);
void bfc_hrtt_another(struct bfc_port *port);
void bfc_hrtt_unlearn(struct bfc_port *port);

/* bfc_hrtt_use.c */
void bfc_hrtt_init(void);
void bfc_hrtt_stop(void);

/* bfc_netdev.c */
int bfc_netdev_init(void);
void bfc_netdev_exit(void);

/* bfc_hook.c */
unsigned int bfc_hook(void *priv, struct sk_buff *skb,
		      const struct nf_hook_state *state);

/* bfc_neighbour.c */
void bfc_port_refuse(struct bfc_port *port, unsigned int queues, u8 why);
bool bfc_port_outgrown(const struct bfc_port *port);
u8 bfc_port_layout(struct bfc_port *port, unsigned int queues);
void bfc_port_left(struct bfc_port *port);
void bfc_port_lingered(struct bfc_port *port);
bool bfc_port_retry(struct bfc_port *port);
void bfc_port_unpause(struct bfc_port *port);
void bfc_port_tags(struct bfc_port *port);
void bfc_port_restart(struct bfc_port *port, bool unplugged);
void bfc_port_class(struct bfc_port *port);
void bfc_port_unroot(struct bfc_port *port);

/* bfc_rx.c */
void bfc_rx_control(struct bfc_port *port, struct sk_buff *skb);

/* bfc_hello.c */
struct sk_buff *bfc_hello_build(struct bfc_port *port, u8 flags, u64 now);
struct sk_buff *bfc_hello_frame(struct bfc_port *port, u64 now);
void bfc_hello_work(struct work_struct *work);

/* bfc_frame.c */
extern const u8 bfc_group_addr[];
struct sk_buff *bfc_frame_alloc(struct bfc_port *port, unsigned int len);
bool bfc_is_pause_frame(const struct sk_buff *skb);

/* bfc_dirty.c */
extern struct xarray bfc_port_ids;
void bfc_kick_dirty(void);
void bfc_port_mark_dirty(struct bfc_port *port);
enum hrtimer_restart bfc_refresh_timer(struct hrtimer *timer);
bool bfc_refreshes(const struct bfc_port *port);
void bfc_refresh_start(struct bfc_port *port);
void bfc_pause_repeat(struct bfc_port *port, u8 over, u64 hold, u64 now);
void bfc_pause_sent(struct bfc_port *port, u32 paused, u32 changed, u64 now);

/**
 * bfc_may_log() - check if a message that a user can cause at will may be logged
 * @dev: what it is about
 *
 * Root of a user namespace may be any user, and must not flood the log.
 *
 * Return: true if it may.
 */
static inline bool bfc_may_log(const struct net_device *dev)
{
	return dev_net(dev)->user_ns == &init_user_ns || net_ratelimit();
}

#endif /* _BFC_PORT_H */
