/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration, ready for use (bfc_derive.c), and the memory that ports share
 * (bfc_buffer.c): made under RTNL, read under RCU.
 */
#ifndef _BFC_CFG_H
#define _BFC_CFG_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <net/sch_generic.h>

#include <linux/pkt_sch_bfc.h>
#include "bfc_capfc.h"
#include "bfc_fc.h"
#include "bfc_holt.h"
#include "bfc_params.h"
#include "bfc_pfc.h"
#include "bfc_pool.h"
#include "bfc_ramp.h"
#include "bfc_watchdog.h"
#include "bfc_wire.h"

struct bfc_port;
struct bfc_switch;
struct bfc_txqs;
struct netlink_ext_ack;

/* Where the incast label is. */
enum {
	BFC_LABEL_NONE,		/* nowhere */
	BFC_LABEL_DSCP,
	BFC_LABEL_MARK,		/* skb->mark */
};

/**
 * struct bfc_buffer - memory that the ports of a namespace share
 * @pool: the part that all may take from
 * @peak: most that was taken of @pool
 * @users: references: ports, and what packets are charged to (&struct bfc_charges)
 * @ports: configurations that name it; RTNL
 * @memory: size of all, reserves and headroom included; RTNL
 * @fixed: reserves and headroom of the ports; RTNL
 * @list: of the namespace's buffers, RTNL
 * @name: of the buffer, in the namespace
 */
struct bfc_buffer {
	struct bfc_pool pool;
	u32 peak;
	refcount_t users;
	unsigned int ports;
	u64 memory;
	u64 fixed;
	struct list_head list;
	char name[BFC_BUFFER_NAMSIZ];
};

/**
 * struct bfc_class_cfg - a traffic class
 * @quantum: what it may send in a turn of the classes, bytes
 * @first: its first queue
 * @queues: number of its queues
 * @weight: its part of what strict classes leave; 0: it is strict itself
 */
struct bfc_class_cfg {
	u32 quantum;
	u16 first;
	u16 queues;
	u8 weight;
};

/**
 * struct bfc_classes - lookup tables of traffic classes
 * @share: BFC_SHARE_UNIT / the sum of weights of a set of classes; by that set
 * @queue: class of each queue
 */
struct bfc_classes {
	u32 share[1 << BFC_PRIORITIES];
	u8 queue[];
};

#define BFC_SHARE_UNIT	BIT(24)

/**
 * struct bfc_cfg - the configuration of a qdisc and its port
 *
 * All that follows from options, link speed and MTU (bfc_derive.c). It does not change, but for
 * @undo. A new configuration replaces it: at the qdisc under the root lock, at the port under
 * &bfc_port.lock; other egresses read it under RCU. Only its lifetime is under RTNL.
 */
struct bfc_cfg {
	/* The scheduler, for each packet: one cache line. */
	const struct bfc_fc_ops *fc;	/* the mode */
	u64 sticky;		/* ns */
	u64 rate;		/* µ, bytes/s */
	u32 limit;		/* bytes of truesize */
	u32 quantum;		/* bytes */
	u32 ecn;		/* bytes, 0: no marks */
	u32 class_sets;		/* sets of the flow table for each class */
	u8 classes;		/* that queues and flow table are split into */
	u8 class_mask;		/* priority & @class_mask is the class of a priority; without
				 * @ranged, q & @class_mask is that of queue q
				 */
	bool ranged;		/* traffic classes, with ranges of queues: @class */
	u8 identity;		/* what a flow is, BFC_FLOW_* */
	u8 ways;		/* entries of a set */
	u8 strict;		/* bit p: priority p goes before others */
	u8 lossless;		/* bit p: p pauses and is paused; 0: the mode pauses none */
	u8 role;		/* BFC_ROLE_* */
	u8 assign;		/* BFC_ASSIGN_* */
	u8 resume;		/* BFC_RESUME_* */
	u8 prio;		/* BFC_PRIO_* */
	bool prios;		/* the mode pauses priorities: class is priority */
	bool count;		/* packets over Th are counted */
	bool by_dest;		/* queues are shared by destination as they run short */
	bool by_root;		/* and destinations behind one root are one */
	bool elides;		/* some ports are never paused from here */
	bool shapes;		/* to @p.rate, by @pace */
	bool avoid_paused;	/* as in struct bfc_params; likewise the next */
	bool new_first;
	u8 split_gso;		/* BFC_SPLIT_GSO_* */
	u8 label;		/* BFC_LABEL_*: where the incast label of a packet is */
	bool srf;		/* queues are served by the size at their head */
	u16 leave_out;		/* packets of 65536 that are not sampled */

	/* The scheduler, for some. */
	u32 label_value;	/* DSCP, or skb->mark within @label_mask */
	u32 label_mask;
	__be32 dest_mask;	/* bits of an IPv4 address that tell destinations apart */
	__be32 dest_mask6[4];	/* of an IPv6 address */
	bool own_numbers;	/* no two TX queues in use share numbers of queues */
	u32 root_age;		/* for how long an entry of what is behind a root holds, 1024 ns */
	u64 ctrl_rate;		/* of each kind of the control band, bytes/s */
	u32 ctrl_limit;		/* of the control band, bytes of truesize */
	struct psched_ratecfg pace;
	u8 map[BFC_PRIO_VALUES];	/* priority by PCP, DSCP or skb->priority */
	struct bfc_watchdog_cfg storm;	/* when a pause counts as a storm */

	/* Of traffic classes. */
	u32 th_least;		/* least Th of a queue, bytes */
	struct bfc_class_cfg class[BFC_PRIORITIES];
	const struct bfc_classes *of;	/* behind @thresh; or NULL */

	/* Of several schedulers of a port. */
	u64 sync;		/* ns between looks at the others */
	u32 reserve;		/* truesize that each may hold whatever others do */
	u32 batch;		/* truesize; a change by so much is told to the others */
	u32 pool;		/* truesize that they may hold together beyond reserves */

	/* Of modes that pause priorities. */
	struct bfc_pfc_thresh in;	/* of each (port, priority) */
	struct bfc_cell_cfg cell;	/* bounds of a lossless one in the buffer */
	struct bfc_cell_cfg lossy;	/* bounds of another */
	u16 quanta;		/* of a pause */
	struct bfc_ramp ramp;	/* share of packets marked beyond @ecn */
	struct bfc_capfc_thresh capfc;	/* CaPFC: of the egress queues */
	enum bfc_capfc_stop stop;
	struct bfc_holt_conf holt;	/* FAFC: T_hop and weights */
	u32 f_dec;		/* FAFC: of BFC_SHARE_ONE */
	u32 threshold;		/* FAFC: th_p, bytes */
	u32 congested;		/* FAFC: th_c, bytes */

	/* Life, RTNL. */
	refcount_t users;	/* the qdisc and its port; each for itself */
	struct rcu_head rcu;
	struct bfc_switch *sw;	/* of the port, which holds it */
	struct bfc_buffer *buffer;	/* or NULL */
	u64 undo;		/* size that @buffer had before, while this may yet fail; else 0 */
	u64 fixed;		/* reserves and headroom of the port, bytes */
	u64 speed;		/* of the link that this is for, bytes/s; 0: unknown */
	u64 hrtt;		/* ns: the one that was asked for, or measured */
	u64 loop;		/* ns: likewise, of this port's link alone */
	u64 longest;		/* ns: the longest that the loop may be yet; @loop once known */
	u64 aside;		/* ns: of this, what headroom is set aside for: all of it, but in
				 * a shared buffer
				 */
	u64 own;		/* ns: &bfc_port.life.loop that these are derived from */
	u16 port_queues;	/* numbers of queues, as told in HELLO */
	struct bfc_params p;	/* what was asked for */

	u32 thresh[];		/* Th by N_active, bytes: an entry for each number of queues that
				 * the schedulers of the port can have active
				 */
};

static_assert(offsetof(struct bfc_cfg, label_value) <= 64);

/* True if packets have priorities: with a mode that pauses them, or a shared buffer. */
static inline bool bfc_cfg_has_prios(const struct bfc_cfg *cfg)
{
	return cfg->prios || cfg->buffer;
}

/* True if queues are split into traffic classes in another way. */
static inline bool bfc_classes_differ(const struct bfc_cfg *a, const struct bfc_cfg *b)
{
	unsigned int class;

	if (a->ranged != b->ranged || a->classes != b->classes)
		return true;
	for (class = 0; a->ranged && class < a->classes; class++)
		if (a->class[class].first != b->class[class].first)
			return true;
	return false;
}

/* True if packets are charged to ports with this configuration. */
static inline bool bfc_cfg_holds(const struct bfc_cfg *cfg)
{
	return cfg->lossless || cfg->buffer;
}

/* Rate of the MAC, bytes/s, or if that was not known, of the port. */
static inline u64 bfc_cfg_link_rate(const struct bfc_cfg *cfg)
{
	return cfg->speed ?: cfg->rate;
}

/* Bytes of the longest PAUSE, to a neighbour with as many queues as the port. */
static inline unsigned int bfc_pause_most(const struct bfc_cfg *cfg)
{
	unsigned int len = bfc_pause_len(cfg->port_queues);

	if (!cfg->by_root)
		return len;
	return len + bfc_roots_len(min_t(unsigned int, cfg->port_queues, BFC_ROOTS_MAX));
}

/**
 * struct bfc_derive - what a configuration is derived from
 * @p: what was asked for
 * @txqs: TX queues with a scheduler of their own that are in use, or 1
 * @rate: at which the port sends, bytes/s
 * @link_rate: of its MAC, bytes/s
 * @mtu: of the device, with the Ethernet header
 * @frame: the same, within BFC_QUANTUM_MIN and BFC_QUANTUM_MAX
 * @before: what the port has now, or NULL
 * @extack: for errors; NULL: the link has changed, not what was asked for
 */
struct bfc_derive {
	const struct bfc_params *p;
	unsigned int txqs;
	u64 rate;
	u64 link_rate;
	unsigned int mtu;
	u32 frame;
	const struct bfc_cfg *before;
	struct netlink_ext_ack *extack;
};

/* Refuse a configuration and say why. */
static inline int bfc_cfg_refuse(struct netlink_ext_ack *extack, const char *msg)
{
	if (extack)
		extack->_msg = msg;
	return -EINVAL;
}

/* Raise a peak, which several CPUs may do at the same time. */
static inline void bfc_note_peak(u32 *peak, u32 now)
{
	u32 was = READ_ONCE(*peak);

	while (unlikely(now > was))
		if (try_cmpxchg(peak, &was, now))
			break;
}

/* Bytes of the pool that are not taken. */
static inline u32 bfc_buffer_free(const struct bfc_buffer *buffer)
{
	return bfc_pool_free(READ_ONCE(buffer->pool.size),
			     atomic_long_read(&buffer->pool.shared));
}

static inline void bfc_buffer_peak(struct bfc_buffer *buffer)
{
	bfc_note_peak(&buffer->peak, max(atomic_long_read(&buffer->pool.shared), 0L));
}

/* bfc_derive.c */
struct bfc_cfg *bfc_cfg_new(struct bfc_port *port, const struct bfc_params *p,
			    const struct bfc_txqs *txqs, u64 speed,
			    struct netlink_ext_ack *extack);
void bfc_cfg_put(struct bfc_cfg *cfg);
void bfc_cfg_exit(void);

/* bfc_buffer.c */
struct bfc_buffer *bfc_buffer_join(struct bfc_switch *sw, const struct bfc_params *p,
				   u64 fixed, const struct bfc_cfg *before, u64 *was,
				   struct netlink_ext_ack *extack);
void bfc_buffer_leave(struct bfc_buffer *buffer, u64 fixed);
void bfc_buffer_put(struct bfc_buffer *buffer);

#endif /* _BFC_CFG_H */
