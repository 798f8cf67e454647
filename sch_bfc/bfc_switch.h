/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ports of a namespace, what they share, and the proof of where a packet came in
 * (bfc_switch.c).
 */
#ifndef _BFC_SWITCH_H
#define _BFC_SWITCH_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "bfc_capfc.h"
#include "bfc_wire.h"

#define BFC_HANDLE_SHIFT	3	/* handles are given out in runs of 8 */
#define BFC_HANDLE_RUNS		(65536 >> BFC_HANDLE_SHIFT)
#define BFC_HANDLE_LOST		1	/* of no port: the ingress port is not known */
#define BFC_ABOVE		8	/* devices on top of a port that are remembered */
#define BFC_SLOTS		BFC_CAPFC_PORTS	/* ports of a namespace that have a slot */
#define BFC_SLOT_NONE		BFC_CAPFC_NO_PORT
#define BFC_OTHERS		64	/* slots of sources that are no port with a slot */
#define BFC_DEST_PORTS		(BFC_SLOTS + BFC_OTHERS + 3)	/* all slots: bfc_dest.c */

struct bfc_fafc;
struct bfc_ingress;
struct bfc_params;
struct bfc_port;
struct bfc_sched;
struct net;
struct net_device;
struct sk_buff;

/**
 * struct bfc_switch - the ports of a namespace
 * @handles: the counters that own each run of handles; entries are set and
 *	     cleared under bfc_handle_lock and read under RCU
 * @topology: counts changes of what is on top of the ports, and of which devices are ports
 * @runs_used: runs that are given out, under bfc_handle_lock
 * @runs: number of these, likewise
 * @fafc: what each egress predicts, by slot; RCU
 * @long_queues: by priority, bit k: the queue of egress k is over its th_c, or was
 *		 when a packet last left it
 * @paused: by priority, bit i: ingress i has time slots (bfc_slots.h) that may not be over
 * @hrtt: longest HRTT of its ports, measured or configured, ns; 0: none is
 *	  known; written under RTNL
 * @hrtt_changed: when @hrtt changed, ns; RTNL
 * @users: references: of the namespace, of ports, and of counters
 * @eliders: configurations with an elide list: if there is none, no list is searched for a device
 *	     that goes; RTNL
 * @ports: by ifindex, written under RTNL, read under it or RCU
 * @guards: by ifindex, on devices that are no ports, RTNL
 * @unguarded: some devices have no guard yet, for want of memory; RTNL
 * @buffers: memory that ports share, RTNL
 * @list: of the switches that have ports, RTNL
 */
struct bfc_switch {
	struct bfc_ingress __rcu **handles;
	atomic_t topology;
	unsigned long *runs_used;
	unsigned int runs;
	struct bfc_fafc __rcu *fafc[BFC_SLOTS];
	atomic64_t long_queues[BFC_PRIORITIES];
	atomic64_t paused[BFC_PRIORITIES];
	u64 hrtt;
	u64 hrtt_changed;
	refcount_t users;
	bool unguarded;
	unsigned int eliders;
	struct xarray ports;
	struct xarray guards;
	struct list_head buffers;
	struct list_head list;
};

/**
 * bfc_handle_get() - the counters that a handle stands for
 * @sw: of the namespace
 * @handle: from skb->tc_index
 *
 * Context: RCU.
 * Return: the counters, which may be dead; NULL if there are none.
 */
static inline struct bfc_ingress *bfc_handle_get(const struct bfc_switch *sw, u16 handle)
{
	return rcu_dereference(sw->handles[handle >> BFC_HANDLE_SHIFT]);
}

extern struct list_head bfc_switches;
int bfc_switch_init(void);
void bfc_switch_exit(void);
struct bfc_switch *bfc_switch_find(struct net *net);
struct bfc_switch *bfc_switch_get(struct net *net);
int bfc_switch_join(struct bfc_port *port);
void bfc_switch_leave(struct bfc_port *port);
void bfc_switch_put(struct bfc_switch *sw);
void bfc_guard_try(struct bfc_switch *sw, struct net_device *dev);
bool bfc_guard_retry(struct bfc_switch *sw);
void bfc_guard_del(struct bfc_switch *sw, const struct net_device *dev);
void bfc_switch_restacked(struct net_device *dev, struct net_device *top);
struct bfc_port *bfc_port_find(struct bfc_switch *sw, const struct net_device *dev);
void bfc_port_slot(struct bfc_port *port);
extern struct delayed_work bfc_sweep;
void bfc_sweep_soon(void);
bool bfc_elided(const struct bfc_params *p, int ifindex);
struct bfc_ingress *bfc_prove(const struct bfc_sched *q, const struct sk_buff *skb);
struct bfc_ingress *bfc_trusted(struct bfc_sched *q, const struct sk_buff *skb);
void bfc_vet(struct bfc_sched *q, struct sk_buff *skb);

#endif /* _BFC_SWITCH_H */
