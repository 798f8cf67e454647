/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port: one network device, the neighbour at the other end of its link, and who may
 * touch what of them.
 */
#ifndef _BFC_PORT_H
#define _BFC_PORT_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "bfc_bucket.h"
#include "bfc_peer.h"
#include "bfc_wire.h"

struct bfc_conf;
struct bfc_ingress;
struct bfc_params;
struct bfc_switch;
struct netlink_ext_ack;

/* bits of bfc_port.flags */
#define BFC_PORT_DIRTY	0	/* the set of paused upstream queues changed */
#define BFC_PORT_HELLO	1	/* it is time for a HELLO */

/**
 * struct bfc_port_pcpu - counters of the ingress hook, one set a CPU
 * @tagged: packets that came with an upstreamQ
 * @bad_tag: tags beyond the neighbour's queues
 */
struct bfc_port_pcpu {
	u64 tagged;
	u64 bad_tag;
};

/**
 * struct bfc_port - one network device and the neighbour behind it
 *
 * Read by the hook and by enqueue/dequeue, written seldom (READ_ONCE):
 * @dev: the device; held
 * @sw: of the namespace that the device was in when the port was made; held
 * @id: unique; finds the port in bfc_port_ids while it is one
 * @bare: of a scheduler that is on a device without a neighbour, or below mq: no hook,
 *	  in no list, one for each qdisc
 * @ingress: pause counters for the neighbour's queues; RCU, set under @lock
 * @tpid: of the tags
 * @live: we may pause the neighbour, and it us
 * @told: the neighbour is told of pauses of priorities in our own frames (FAFC)
 * @stamp: we write tags
 * @pop: we take tags off
 * @pop_max: up to this VLAN id: the neighbour's queues
 * @flags: BFC_PORT_DIRTY, BFC_PORT_HELLO
 *
 * What the neighbour told us, under @lock (dequeue reads with READ_ONCE and
 * compares @rx_gen):
 * @lock: taken by the hook, by the work and by RTNL users; never with hard
 *	  interrupts off
 * @rx_gen: changes with every new @rx_paused or @rx_until
 * @rx_deadline: ns, when @rx_paused is void
 * @rx_paused: queues of ours that the neighbour holds paused
 * @rx_until: ns, until when it holds each priority paused
 * @rx_drained: bytes that it says it has drained
 * @rx_seq: newest PAUSE
 * @rx_bucket: pauses the neighbour may still send
 * @hello_bucket: HELLOs that may still come: that may be a blind stranger's, others
 * @peer: the HELLO machine
 * @refused: why the neighbour's layout could not be served, BFC_REFUSED_*, or 0
 * @tries: HELLOs sent without an agreement
 * @layouts: changes of @ingress
 * @layout_next: when the neighbour may have another, ns
 * @bad: refused frames by reason
 * @frames_rx: PAUSE frames accepted
 * @hello_rx: HELLOs accepted
 * @pfc_rx: PFC frames obeyed
 * @pfc_bad: PFC frames refused
 * @mac_pause_rx: PAUSE frames of 802.3x
 * @cfg: what the qdisc asked for
 * @conf: thresholds of the port-level modes
 * @link_rate: of the MAC, bytes/s: quanta are times at this rate
 * @queues: our own queues, as told in HELLO
 * @max_pps: PAUSE frames a second that we are ready to obey
 *
 * Sending, under the root lock of the device's qdisc:
 * @tx_paused: the set in the newest frame sent
 * @tx_npaused: bits set in it
 * @tx_layout: the layout that @tx_paused is about
 * @tx_last: repetitions left after the last resume
 * @pause_tx: queues, or priorities, paused
 * @resume_tx: resumed
 * @frames_tx: PAUSE frames
 * @refresh_tx: of these and of @pfc_tx, repetitions
 * @pfc_tx: PFC frames
 * @tx_prio_paused: priorities in the newest frame sent
 * @tx_over: those of them that are paused until they are told to go on, not for a time
 * @tx_quick: repetitions that are due at cfg.quick yet
 * @tx_void: ns: when the last pause that was to be repeated ends by itself
 * @tx_until: ns, until when each priority is paused for a time (FAFC)
 * @tx_prio: of each priority: how often it was paused, since when, ns, and for
 *	     how long in all without that
 * @topology: as of which @shared is right
 * @shared: devices of other namespaces send through this port
 *
 * The rest:
 * @slot: number of the port in its namespace, below BFC_SLOTS, or BFC_SLOT_NONE
 * @seq: of our control frames
 * @epoch: ours
 * @dirty_since: when the oldest change not yet on the wire happened, ns
 * @hello_tx: HELLOs sent
 * @refresh: repeats the newest set; softirq
 * @hello: sends HELLOs, ages the neighbour
 * @hook: NF_NETDEV_INGRESS
 * @users: qdiscs on the device: two for a moment during a replace; changes
 *	   under RTNL and @lock
 * @fresh: the first qdisc has come, but not configured the port yet; RTNL
 * @carrier: when we looked last; RTNL
 * @carrier_downs: how often it had gone by then
 * @linger: until when to pop, jiffies, if @lingers
 * @promisc: the device is promiscuous for us, so that it does not filter VLAN ids;
 *	     RTNL
 * @lingers: the neighbour was given up, but may still send tags; under @lock
 * @unplugged: the device has left the namespace, but a qdisc is still held; RTNL
 * @list: of the namespace's ports, RTNL
 * @tracker: of the reference on @dev
 * @pcpu: counters
 */
struct bfc_port {
	struct net_device *dev;
	struct bfc_switch *sw;
	u32 id;
	bool bare;
	struct bfc_ingress __rcu *ingress;
	__be16 tpid;
	bool live;
	bool told;
	bool stamp;
	bool pop;
	u16 pop_max;
	struct bfc_port_pcpu __percpu *pcpu;
	unsigned long flags;

	spinlock_t lock ____cacheline_aligned_in_smp;
	u32 rx_gen;
	u64 rx_deadline;
	DECLARE_BITMAP(rx_paused, BFC_QUEUES_MAX);
	u64 rx_until[BFC_PRIORITIES];
	u64 rx_drained;
	u32 rx_seq;
	struct bfc_bucket rx_bucket;
	struct bfc_bucket hello_bucket[2];
	struct bfc_peer peer;
	u8 refused;
	u8 tries;
	u32 layouts;
	u64 layout_next;
	u64 bad[BFC_BAD_MAX];
	u64 frames_rx;
	u64 hello_rx;
	u64 pfc_rx;
	u64 pfc_bad;
	u64 mac_pause_rx;
	struct bfc_conf *conf;
	u64 link_rate;
	struct {
		u8 fc;
		u8 role;
		u8 peer;
		u8 accept_pause;
		u32 hold;
		u64 refresh;
		u64 quick;
	} cfg;
	u16 queues;
	u32 max_pps;

	DECLARE_BITMAP(tx_paused, BFC_WIRE_QUEUES_MAX) ____cacheline_aligned_in_smp;
	u32 tx_npaused;
	u32 tx_layout;
	u32 tx_last;
	u64 pause_tx;
	u64 resume_tx;
	u64 frames_tx;
	u64 refresh_tx;
	u64 pfc_tx;
	u64 tx_until[BFC_PRIORITIES];
	struct {
		u64 pauses;
		u64 since;
		u64 ns;
	} tx_prio[BFC_PRIORITIES];

	u8 tx_prio_paused;
	bool shared;
	int topology;
	u8 tx_over;
	u8 tx_quick;
	u64 tx_void;

	u8 slot;
	atomic_t seq;
	u32 epoch;
	u64 dirty_since;
	u64 hello_tx;
	struct hrtimer refresh;
	struct delayed_work hello;
	struct nf_hook_ops hook;
	unsigned int users;
	bool fresh;
	bool carrier;
	u32 carrier_downs;
	unsigned long linger;
	bool lingers;
	bool unplugged;
	bool promisc;
	struct list_head list;
	netdevice_tracker tracker;
};

static inline bool bfc_pause_due(const struct bfc_port *port)
{
	return test_bit(BFC_PORT_DIRTY, &port->flags);
}

/* Drivers need not take the carrier away from a device that is down. */
static inline bool bfc_carrier(const struct net_device *dev)
{
	return netif_running(dev) && netif_carrier_ok(dev);
}

/* The counters that the port has now; its lock is held. */
static inline struct bfc_ingress *bfc_ingress_of(const struct bfc_port *port)
{
	return rcu_dereference_protected(port->ingress,
					 lockdep_is_held(&port->lock));
}

/* bfc_port.c */
void bfc_port_unfilter_soon(struct bfc_port *port);
void bfc_port_free(struct bfc_port *port);
void bfc_port_unplug(struct bfc_port *port);
struct bfc_port *bfc_port_attach(struct net_device *dev,
				 struct netlink_ext_ack *extack);
struct bfc_port *bfc_port_attach_bare(struct net_device *dev);
void bfc_port_configure(struct bfc_port *port, const struct bfc_params *p,
			struct bfc_conf *conf, u64 rate, u64 link_rate);
void bfc_port_relink(struct bfc_port *port, u64 link_rate);
void bfc_port_detach(struct bfc_port *port);
void bfc_sweep_init(void);
void bfc_sweep_stop(void);

/* bfc_netdev.c */
int bfc_netdev_init(void);
void bfc_netdev_exit(void);

/* bfc_hook.c */
unsigned int bfc_hook(void *priv, struct sk_buff *skb,
		      const struct nf_hook_state *state);

/* bfc_neighbour.c */
void bfc_port_refuse(const struct bfc_port *port, unsigned int queues, u8 why);
u8 bfc_port_layout(struct bfc_port *port, unsigned int queues);
bool bfc_port_lacks_counters(const struct bfc_port *port);
void bfc_port_tags(struct bfc_port *port);
void bfc_port_restart(struct bfc_port *port, bool unplugged);

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

#endif /* _BFC_PORT_H */
