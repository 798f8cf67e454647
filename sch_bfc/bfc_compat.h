/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels from 6.1 on: the code is written for the newest one, and this
 * header has what older ones lack. BFC_HAVE_X means that probe/x.c compiles (probe/Kbuild);
 * versions are not compared, as stable kernels have backports.
 *
 * Used by the module and by the modules of the tests.
 */
#ifndef _BFC_COMPAT_H
#define _BFC_COMPAT_H

#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#ifdef BFC_HAVE_GSO
#include <net/gso.h>	/* skb_gso_segment(), 6.5 on */
#endif
#ifdef BFC_HAVE_OPSLOCK
#include <net/netdev_lock.h>
#endif
#include <net/rtnetlink.h>
#include <net/sch_generic.h>
#ifdef BFC_HAVE_TCX
#include <net/tcx.h>
#endif

#ifndef BFC_HAVE_HRTIMER	/* 6.13 on; hrtimer_init() is gone since 6.15 */
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#ifndef BFC_HAVE_PERCPUWQ	/* 6.17 on */
#define system_percpu_wq system_wq
#endif

/* True if a qdisc keeps its packets while tc adds a clsact to its device, or while the length of
 * the TX queue is changed. The device is deactivated then: a wake-up finds no qdisc to run, and
 * is lost.
 */
#ifdef BFC_HAVE_KEEPS		/* 7.0 on */
#define BFC_KEEPS_BACKLOG true
#else
#define BFC_KEEPS_BACKLOG false
#endif

#ifndef BFC_HAVE_PORTID		/* renamed between 6.12 and 7.2 */
#define netif_get_port_parent_id dev_get_port_parent_id
#endif

/* If the ops of a device are under its own lock (NICs of Mellanox, Broadcom, Google ...),
 * __ethtool_get_link_ksettings() takes that lock, which callers of qdiscs and of most notifiers
 * hold already.
 */
#ifndef BFC_HAVE_KSETTINGS
#define netif_get_link_ksettings __ethtool_get_link_ksettings
#endif

/* True if the caller of a qdisc, or of a notifier, may hold that lock (6.15 on). */
static inline bool bfc_ops_locked(const struct net_device *dev)
{
#ifdef BFC_HAVE_OPSLOCK
	return netdev_need_ops_lock(dev);
#else
	return false;
#endif
}

/* Set the number of packets that qdisc_bstats_update() counts (6.19 on): to be
 * called where a packet is made or segmented.
 */
static inline void bfc_set_pkt_segs(struct sk_buff *skb, u16 segs)
{
#ifdef BFC_HAVE_SEGS
	qdisc_skb_cb(skb)->pkt_segs = segs;
#endif
}

/* Frames on the wire that a packet at the qdisc stands for. If the core has counted them, the
 * number is in skb->cb: a CPU that enqueues packets of other CPUs need not fetch the end of each
 * packet's data, where the GSO fields are.
 */
static inline u16 bfc_pkt_segs(const struct sk_buff *skb)
{
#ifdef BFC_HAVE_SEGS
	return max_t(u16, qdisc_skb_cb(skb)->pkt_segs, 1);
#else
	return max_t(u16, skb_shinfo(skb)->gso_segs, 1);
#endif
}

/* True if a packet at the qdisc will be segmented later. */
static inline bool bfc_is_gso(const struct sk_buff *skb)
{
#ifdef BFC_HAVE_SEGS
	return bfc_pkt_segs(skb) > 1;	/* a single segment is no shorter than the packet */
#else
	return skb_is_gso(skb);
#endif
}

/* 6.6 on: a clsact adds entries at ingress and egress of a device, even without a filter. True
 * if the entry has a program or a filter.
 */
#ifdef BFC_HAVE_TCX
static inline bool bfc_tcx_runs(struct bpf_mprog_entry *place)
{
	return place && (READ_ONCE(place->fp_items[0].prog) ||
			 rcu_access_pointer(tcx_entry(place)->miniq));
}
#endif

/* True if a filter at the ingress of the device may see and change what it receives. RCU. */
static inline bool bfc_ingress_filtered(const struct net_device *dev)
{
#if defined(BFC_HAVE_TCX)
	return bfc_tcx_runs(rcu_dereference(dev->tcx_ingress));
#elif defined(CONFIG_NET_CLS_ACT)
	return rcu_access_pointer(dev->miniq_ingress);
#else
	return false;
#endif
}

/* True if a clsact egress filter of the device may see and change what it sends. RCU. */
static inline bool bfc_egress_filtered(const struct net_device *dev)
{
#if defined(BFC_HAVE_TCX)
	return bfc_tcx_runs(rcu_dereference(dev->tcx_egress));
#elif defined(CONFIG_NET_CLS_ACT)
	return rcu_access_pointer(dev->miniq_egress);
#else
	return false;
#endif
}

#ifndef BFC_HAVE_NETCTX		/* before 6.11 BPF helpers keep their state elsewhere */
struct bpf_net_context {
};

static inline struct bpf_net_context *bpf_net_ctx_set(struct bpf_net_context *ctx)
{
	return NULL;
}

static inline void bpf_net_ctx_clear(struct bpf_net_context *ctx)
{
}
#endif

/* Change the nesting level of transmissions: it is per CPU, which BH off
 * protects, but per task on PREEMPT_RT.
 */
static inline void bfc_xmit_nest(int levels)
{
#if defined(BFC_HAVE_NETCTX) && defined(CONFIG_PREEMPT_RT)
	current->net_xmit.recursion += levels;
#else
	__this_cpu_add(softnet_data.xmit.recursion, levels);
#endif
}

/* rtnl_link_ops.newlink, from a function with today's parameters. */
#ifdef BFC_HAVE_NEWLINK		/* 6.15 on */
#define BFC_NEWLINK(fn) fn
#else
struct rtnl_newlink_params {
	struct net *src_net;
	struct nlattr **tb;
	struct nlattr **data;
};

#define BFC_NEWLINK(fn) fn##_before
#define BFC_NEWLINK_BEFORE(fn)						\
static int fn##_before(struct net *src_net, struct net_device *dev,	\
		       struct nlattr *tb[], struct nlattr *data[],	\
		       struct netlink_ext_ack *extack)			\
{									\
	struct rtnl_newlink_params params = {				\
		.src_net = src_net, .tb = tb, .data = data,		\
	};								\
									\
	return fn(dev, &params, extack);				\
}
#endif
#ifndef BFC_NEWLINK_BEFORE
#define BFC_NEWLINK_BEFORE(fn)
#endif

/* A driver requests a lock of its own around its ops, as drivers of NICs do: only with kernels
 * where it can name the ethtool ops that need RTNL as well, and where its addresses are set
 * under that lock, too (7.2).
 */
#ifdef BFC_HAVE_OPSRTNL
#define bfc_request_ops_lock(dev) ((dev)->request_ops_lock = true)
/* For lockdep, from ndo_init: the devices of a namespace that goes are locked all at once. */
#define bfc_ops_lock_class(dev) netdev_lockdep_set_classes(dev)
#else
#define bfc_request_ops_lock(dev) do { } while (0)
#define bfc_ops_lock_class(dev) do { } while (0)
#define napi_enable_locked napi_enable
#define napi_disable_locked napi_disable
#endif

#ifndef BFC_HAVE_OPSLOCK
static inline void netdev_lock_ops(struct net_device *dev)
{
}

static inline void netdev_unlock_ops(struct net_device *dev)
{
}
#endif

/* qdisc_from_priv(), which newer kernels lack */
static inline const struct Qdisc *bfc_qdisc_of(const void *priv)
{
	return priv - offsetof(struct Qdisc, privdata);
}

#endif
