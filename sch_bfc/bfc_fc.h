/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow-control modes: each has a table of functions (bfc_fc.c) and a file
 * (fc_*.c). Other code uses the table and does not depend on which mode it is.
 */
#ifndef _BFC_FC_H
#define _BFC_FC_H

#include <linux/types.h>

struct bfc_cfg;
struct bfc_derive;
struct bfc_ingress;
struct bfc_params;
struct bfc_pause;
struct bfc_port;
struct bfc_sched;
struct sk_buff;

/**
 * struct bfc_fc_ops - a flow-control mode
 *
 * A mode leaves hooks that it does not use NULL. Egress hooks for each packet
 * are called only if &bfc_sched.egress is set, under the root lock; ingress
 * hooks, except @ingress_new, only if &bfc_ingress.account is set.
 */
struct bfc_fc_ops {
	bool tags;	/* packets carry the number of their queue, and are counted for it */
	bool prios;	/* pauses priorities: class is priority; MAC control frames are obeyed */
	bool slots;	/* a port of a switch needs a slot */
	bool marks;	/* @leaving sets ECN marks; else enqueue does, by the queue's length */
	bool alone;	/* an egress pauses only ports of its own mode, other than itself */
	bool paces;	/* a host that was paused lowers its rate for a while */
	u8 classes;	/* queue q is of class q % classes: a power of 2 */
	u8 hello;	/* BFC_MODE_* announced in HELLO; 0: sends no HELLO */
	u8 identity;	/* BFC_FLOW_*: what a flow is, at a switch */

	/* RTNL: derive thresholds from the options. Returns 0 or an error, with extack. */
	int (*derive)(struct bfc_cfg *c, const struct bfc_derive *d);

	/* State of an egress port, RTNL: allocate it, NULL if there is no memory; true if the
	 * old state serves with new thresholds; let other ports see it; free it.
	 */
	void *(*egress_new)(const struct bfc_cfg *cfg, u64 now);
	bool (*egress_serves)(const struct bfc_cfg *old, const struct bfc_cfg *cfg);
	void (*egress_publish)(struct bfc_port *port, void *egress);
	void (*egress_free)(struct bfc_port *port, void *egress);

	/* Egress, seldom: revoke all decisions that do not stand with @cfg, which takes effect
	 * now; NULL: none of them does. Take over packets that are queued already; a slot belongs
	 * to another port now.
	 */
	void (*clear)(struct bfc_sched *q, const struct bfc_cfg *cfg);
	void (*adopt)(struct bfc_sched *q, u64 now);
	void (*forget)(struct bfc_sched *q, unsigned int slot);

	/* Egress, for each packet: true if there is room in the queue; it was queued; it left
	 * its queue, sent or dropped; it is about to be sent. @slot: of the port that it came in
	 * through, or BFC_SLOT_NONE. @cfg: of that port, or NULL.
	 */
	bool (*admit)(const struct bfc_sched *q, const struct bfc_cfg *cfg, u8 prio,
		      u32 len);
	void (*enqueued)(struct bfc_sched *q, const struct sk_buff *skb,
			 unsigned int slot);
	void (*dequeued)(struct bfc_sched *q, const struct sk_buff *skb,
			 unsigned int slot);
	void (*leaving)(struct bfc_sched *q, struct sk_buff *skb, u64 now);

	/* Account of an ingress port: allocate it, with port->lock held and bottom halves off;
	 * it is freed with kfree(). Thresholds have changed.
	 */
	void *(*ingress_new)(const struct bfc_cfg *cfg, u64 now);
	void (*ingress_retune)(void *account, const struct bfc_cfg *old,
			       const struct bfc_cfg *cfg, u64 now);

	/* Ingress: a packet was charged (@came) or uncharged, under any root
	 * lock; ns that the neighbour is still to be paused for, for the frame.
	 */
	void (*charged)(struct bfc_ingress *ing, const struct bfc_cfg *cfg,
			unsigned int prio, u32 len, bool came, u64 now);
	u64 (*remaining)(struct bfc_ingress *ing, unsigned int prio, u64 now);

	/* True if the frame that is due would say nothing new, and is not due any more; build it.
	 * Both under port->tx.lock and RCU. A PAUSE came in, under port->lock.
	 */
	bool (*needless)(struct bfc_port *port, const struct bfc_ingress *ing,
			 const struct bfc_cfg *cfg, u64 now);
	struct sk_buff *(*build)(struct bfc_port *port, struct bfc_ingress *ing,
				 const struct bfc_cfg *cfg, u64 now);
	void (*receive)(struct bfc_port *port, const struct bfc_pause *pause,
			const void *frame, u64 now);
};

/* bfc_fc.c */
const struct bfc_fc_ops *bfc_fc_of(const struct bfc_params *p);
void bfc_fc_disable(struct bfc_params *p);

/* fc_*.c, and bfc_fc_none */
/* Generated from spec/bfc.yaml: modes */
extern const struct bfc_fc_ops bfc_fc_none;
extern const struct bfc_fc_ops bfc_fc_bfc;
extern const struct bfc_fc_ops bfc_fc_pfc;
extern const struct bfc_fc_ops bfc_fc_capfc_max;
extern const struct bfc_fc_ops bfc_fc_capfc_cal;
extern const struct bfc_fc_ops bfc_fc_fafc;

/* End of modes */

#endif /* _BFC_FC_H */
