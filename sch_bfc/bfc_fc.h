/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow-control modes: a table of functions for each (bfc_fc.c), and a file for each
 * (fc_*.c) that alone knows its name. All else asks the table.
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
 * Hooks are NULL where a mode has no use for them. Those of the egress for each packet
 * are called with &bfc_sched.egress only, under the root lock; those of the ingress,
 * but for @ingress_new, with &bfc_ingress.account only.
 */
struct bfc_fc_ops {
	bool tags;	/* packets carry the number of their queue, and count for it */
	bool prios;	/* pauses priorities: class is priority; takes MAC control frames */
	bool slots;	/* tells ports apart by their slot, at a switch */
	bool marks;	/* @leaving marks packets (ECN), not the length of the queue */
	bool alone;	/* egress pauses ports of its own mode only, and not itself */
	bool paces;	/* a host that was paused sends less for a while */
	u8 classes;	/* queue q is of class q % classes: a power of 2 */
	u8 hello;	/* BFC_MODE_* told in HELLO, 0: sends none */
	u8 identity;	/* BFC_FLOW_*: what a flow is, at a switch */

	/* RTNL: thresholds from what was asked for. 0 or an error, told in extack. */
	int (*derive)(struct bfc_cfg *c, const struct bfc_derive *d);

	/* Egress, RTNL: its state, NULL for want of memory; does an old one serve with
	 * new thresholds; let others see it; the end of it.
	 */
	void *(*egress_new)(const struct bfc_cfg *cfg, u64 now);
	bool (*egress_serves)(const struct bfc_cfg *old, const struct bfc_cfg *cfg);
	void (*egress_publish)(struct bfc_port *port, void *egress);
	void (*egress_free)(struct bfc_port *port, void *egress);

	/* Egress, seldom: void what was decided; packets are queued already; a slot has
	 * another port.
	 */
	void (*clear)(struct bfc_sched *q);
	void (*adopt)(struct bfc_sched *q, u64 now);
	void (*forget)(struct bfc_sched *q, unsigned int slot);

	/* Egress, for each packet: is there room in the queue; it came; it leaves by
	 * any way; it is to be sent. @slot: of the port that it came in through, or
	 * BFC_SLOT_NONE. @cfg: of that port, or NULL.
	 */
	bool (*admit)(const struct bfc_sched *q, const struct bfc_cfg *cfg, u8 prio,
		      u32 len);
	void (*enqueued)(struct bfc_sched *q, const struct sk_buff *skb,
			 unsigned int slot);
	void (*dequeued)(struct bfc_sched *q, const struct sk_buff *skb,
			 unsigned int slot);
	void (*leaving)(struct bfc_sched *q, struct sk_buff *skb, u64 now);

	/* Ingress: its account, for kfree(), in softirq with the port's lock; thresholds
	 * have changed.
	 */
	void *(*ingress_new)(const struct bfc_cfg *cfg, u64 now);
	void (*ingress_retune)(void *account, const struct bfc_cfg *old,
			       const struct bfc_cfg *cfg, u64 now);

	/* Ingress, for each packet that is charged or not any more (@came), under any
	 * root lock; ns that the neighbour is to be paused for, for the frame.
	 */
	void (*charged)(struct bfc_ingress *ing, const struct bfc_cfg *cfg,
			unsigned int prio, u32 len, bool came, u64 now);
	u64 (*remaining)(struct bfc_ingress *ing, unsigned int prio, u64 now);

	/* The frame that is due, with port->tx.lock and RCU; a PAUSE came in, with
	 * port->lock.
	 */
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
