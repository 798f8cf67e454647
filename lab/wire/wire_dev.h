/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Internals of the test wire. wire.c explains how it works and what protects
 * what; wire.h is the netlink interface.
 */
#ifndef _WIRE_DEV_H
#define _WIRE_DEV_H

#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>

#include "bfc_compat.h"
#include "wire.h"

#define DRV_NAME	"wire"

#define WIRE_PRIOS	8

/* Event time of an idle lane. */
#define WIRE_NEVER	U64_MAX

enum wire_rule_mode {
	WIRE_SHARE,
	WIRE_EVERY,
	WIRE_NEXT,
	WIRE_PATTERN,
};

/**
 * struct wire_rule - one drop rule
 * @mode: how to choose among the frames that match
 * @proto: EtherType to match; 0 matches any
 * @len: PATTERN: its length in frames
 * @arg: SHARE: in 1e-9; EVERY, NEXT: the count
 * @bits: PATTERN: bit i set drops the i-th frame
 * @matched: frames judged
 * @dropped: frames dropped
 */
struct wire_rule {
	enum wire_rule_mode mode;
	__be16 proto;
	u8 len;
	u32 arg;
	u64 bits;
	u64 matched;
	u64 dropped;
};

/**
 * struct wire_rules - drop rules of one direction
 *
 * Each frame is shown to the rules in order until one drops it.
 *
 * @n: number of rules
 * @rule: the rules
 */
struct wire_rules {
	unsigned int n;
	struct wire_rule rule[WIRE_RULES_MAX];
};

/**
 * struct wire_conf - parameters of one direction
 * @rate: bit/s
 * @delay: propagation, ns
 * @seed: what the generator of SHARE rules was seeded with
 * @ring: slots per TX queue, frames
 * @overhead: bytes per frame that take time but are not in skb->len
 * @tx_wait: time between interrupts that give back slots, ns
 * @rx_wait: time between interrupts of the receiver, ns
 * @bql: the sender has byte queue limits; changes while it is down only
 */
struct wire_conf {
	u64 rate;
	u64 delay;
	u64 seed;
	u32 ring;
	u32 overhead;
	u64 tx_wait;
	u64 rx_wait;
	bool bql;
};

/**
 * struct wire_slots - the ring of a TX queue
 * @used: slots in use
 * @left: those of them whose frames have left
 * @bytes: of these frames
 */
struct wire_slots {
	u32 used;
	u32 left;
	u32 bytes;
};

/**
 * struct wire_lane - one direction of the cable
 *
 * Belongs to the end that sends. Everything is protected by @lock, except
 * @queue itself, which is constant while the device is registered.
 *
 * @lock: see "Locking" in wire.c
 * @open: both ends are up; frames are accepted and the timer may run
 * @rx_pending: the receiver's poll is due to run and will look at @cable, so
 *	the timer need not wait for deliveries
 * @n_stopped: TX queues that a full ring has stopped
 * @n_owned: frames in the rings with a sender that waits for their completion
 *	(skb->destructor set)
 * @cable: frames in the order of departure: first those in flight, then, from
 *	@sending on, those in the rings
 * @sending: the frame being serialized, %NULL if none. It may have left
 *	already, see wire_complete()
 * @armed: when @timer will fire, ns; %WIRE_NEVER if it will not
 * @free: when the serializer will have sent all of @cable, ns
 * @frac: rest of @free, in 1/rate ns
 * @queue: the ring of each TX queue
 * @n_left: frames that have left and still have a slot
 * @tx_next: when the next interrupt may give back slots, ns
 * @rx_next: when the next interrupt of the receiver may be, ns
 * @timer: fires at the next departure that matters or arrival
 * @rx: the receiver's NAPI; valid while @open
 * @conf: parameters (written under the RTNL as well)
 * @rules: drop rules (written under the RTNL as well, but for counters)
 * @rnd: generator of SHARE rules
 * @tx_packets: frames that have left the ring
 * @tx_bytes: their length on the wire, tag included, overhead not
 * @tx_dropped: frames refused, or thrown out of the ring at link down
 * @too_long: frames refused because of their length
 * @cut: frames in flight lost at link down
 * @stops: times a full ring stopped its TX queue
 */
struct wire_lane {
	/* everything below */
	spinlock_t lock;
	bool open;
	bool rx_pending;
	u32 n_stopped;
	u32 n_owned;
	struct sk_buff_head cable;
	struct sk_buff *sending;
	u64 armed;
	u64 free;
	u64 frac;
	struct wire_slots *queue;
	u32 n_left;
	u64 tx_next;
	u64 rx_next;
	struct hrtimer timer;
	struct napi_struct *rx;
	struct wire_conf conf;
	struct wire_rules rules;
	struct rnd_state rnd;
	u64 tx_packets;
	u64 tx_bytes;
	u64 tx_dropped;
	u64 too_long;
	u64 cut;
	u64 stops;
};

/**
 * struct wire_pipe_conf - the pipeline behind an end
 * @rate: frames/s; 0: there is none
 * @delay: from its begin to its end, ns
 * @buffer: bytes of a priority that may wait, 0: any number
 * @xoff: pause a priority if more of its bytes wait, 0: never
 * @xon: resume it at this many bytes
 * @stall: stop if an egress would hold more bytes of a priority, 0: never
 */
struct wire_pipe_conf {
	u64 rate;
	u64 delay;
	u32 buffer;
	u32 xoff;
	u32 xon;
	u32 stall;
};

/**
 * struct wire_input - an end's part of a pipeline; under the pipeline's lock
 * @conf: written under the RTNL while the end is down
 * @pipe: that of the namespace while the end is up, if it has one
 * @turn: in the list of inputs that have frames in @queue
 * @queue: the input buffer
 * @held: bytes of each priority in it
 * @held_out: bytes of each priority that are to leave through this end
 * @over: bit p: priority p is over XOFF, or not down to XON yet
 * @quanta: the qdisc's, from its last PFC frames
 * @told: when it last sent a PFC frame, ns
 * @peak: largest of @held
 * @drops: frames that found no room
 * @pauses: PFC frames that it sent
 * @stalls: times the pipeline stood still because of this end
 * @stall_ns: for how long
 */
struct wire_input {
	struct wire_pipe_conf conf;
	struct wire_pipe *pipe;
	struct list_head turn;
	struct sk_buff_head queue;
	u32 held[WIRE_PRIOS];
	u32 held_out[WIRE_PRIOS];
	u8 over;
	u16 quanta[WIRE_PRIOS];
	u64 told;
	u32 peak;
	u64 drops;
	u64 pauses;
	u64 stalls;
	u64 stall_ns;
};

/**
 * struct wire_cb - what a frame on the wire carries in skb->cb
 * @ends: when its last bit leaves the sender, ns
 * @due: when its last bit reaches the receiver, ns; in a pipeline, when it may go on
 * @len: length on the wire, bytes
 * @queue: TX queue that it takes a slot of
 */
struct wire_cb {
	u64 ends;
	u64 due;
	u32 len;
	u16 queue;
};

static inline struct wire_cb *wire_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct wire_cb) > sizeof_field(struct sk_buff, cb));
	return (struct wire_cb *)skb->cb;
}

/**
 * struct wire_end - private data of one device
 * @dev: the device
 * @peer: the far end; written under the RTNL, %NULL before the pair is joined
 *	and after its deletion has begun
 * @out: the direction in which this end sends
 * @napi: takes in what arrives on @peer's @out; enabled while the device is up
 * @in: the pipeline behind it
 * @vids: VLAN ids that are let in if the device filters them: of C-tags, of S-tags
 * @rx_sync: guards the counters below, which only @napi's poll writes
 * @rx_packets: frames given to the stack
 * @rx_bytes: their length on the wire
 * @rx_too_long: frames that exceed this end's MTU
 */
struct wire_end {
	struct net_device *dev;
	struct net_device __rcu *peer;
	struct wire_lane out;
	struct napi_struct napi;
	struct wire_input in;
	DECLARE_BITMAP(vids[2], VLAN_N_VID);
	struct u64_stats_sync rx_sync;
	u64_stats_t rx_packets;
	u64_stats_t rx_bytes;
	u64_stats_t rx_too_long;
};

/* wire.c */
void wire_setup(struct net_device *dev);
struct wire_end *wire_end_of(struct net_device *dev);
void wire_complete(struct wire_lane *lane, u64 now);
void wire_reconfigure(struct wire_lane *lane, const struct wire_conf *conf,
		      bool reseed, const struct wire_rules *rules);
void wire_link_up(struct wire_end *a, struct wire_end *b);
void wire_link_down(struct wire_end *a, struct wire_end *b);
struct wire_end *wire_lane_end(struct wire_lane *lane);

/* wire_ethtool.c */
extern const struct ethtool_ops wire_ethtool_ops;

/* wire_pipe.c */
int wire_pipe_init(void);
void wire_pipe_exit_module(void);

/* wire_hold.c */
void wire_hold_exit(void);

/* wire_pipe.c */
void wire_pipe_join(struct wire_end *end);
void wire_pipe_leave(struct wire_end *end);
void wire_pipe_enter(struct wire_end *end, struct sk_buff *skb);
void wire_pipe_sent(struct wire_end *end, struct sk_buff *skb);

/* wire_netlink.c */
struct rtnl_link_ops;
extern struct rtnl_link_ops wire_link_ops;

#endif /* _WIRE_DEV_H */
