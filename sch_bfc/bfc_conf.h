/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the port-level modes are to do, ready for use, and the memory that ports
 * share: made under RTNL (bfc_conf.c, bfc_buffer.c), read under RCU.
 */
#ifndef _BFC_CONF_H
#define _BFC_CONF_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>

#include <linux/pkt_sch_bfc.h>
#include "bfc_capfc.h"
#include "bfc_fc.h"
#include "bfc_holt.h"
#include "bfc_pfc.h"
#include "bfc_pool.h"

struct bfc_params;
struct bfc_port;
struct bfc_switch;
struct netlink_ext_ack;

/**
 * struct bfc_buffer - memory that the ports of a namespace share
 * @pool: what is free to all
 * @peak: most that was taken of it
 * @users: of the memory: ports, and counters that still have something in it
 * @ports: configurations that name it; RTNL
 * @memory: size of all, reserves and headroom included; RTNL
 * @fixed: reserves and headroom of the ports; RTNL
 * @list: of the namespace's buffers, RTNL
 * @name: in it
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
 * struct bfc_conf - what the port-level modes need to know, ready for use
 * @users: the qdisc and its port; each for itself
 * @rcu: readers at other egresses
 * @fc: the mode
 * @lossless: priorities that pause and are paused; 0 if @fc pauses none
 * @in: thresholds of each (port, priority)
 * @cell: what a lossless one may take of the buffer
 * @lossy: what another may take
 * @capfc: thresholds of the egress queues
 * @stop: BFC_CAPFC_STOP_*
 * @buffer: or NULL
 * @undo: size that @buffer had before, while this may not come into effect; RTNL
 * @fixed: reserves and headroom of the port
 * @quanta: of a pause
 * @holt: FAFC: T_hop and weights
 * @f_dec: of BFC_SHARE_ONE
 * @threshold: th_p, bytes
 * @congested: th_c, bytes
 *
 * Does not change: a new one takes its place.
 */
struct bfc_conf {
	refcount_t users;
	struct rcu_head rcu;
	const struct bfc_fc_ops *fc;
	u8 lossless;
	struct bfc_pfc_thresh in;
	struct bfc_cell_cfg cell;
	struct bfc_cell_cfg lossy;
	struct bfc_capfc_thresh capfc;
	enum bfc_capfc_stop stop;
	struct bfc_buffer *buffer;
	u64 undo;
	u64 fixed;
	u16 quanta;
	struct bfc_holt_conf holt;
	u32 f_dec;
	u32 threshold;
	u32 congested;
};

/* Do packets have priorities there? */
static inline bool bfc_conf_has_prios(const struct bfc_conf *conf)
{
	return conf->fc->prios || conf->buffer;
}

/* Is anything charged to ports with these thresholds? */
static inline bool bfc_conf_holds(const struct bfc_conf *conf)
{
	return conf->lossless || conf->buffer;
}

/**
 * struct bfc_derive - what a configuration follows from
 * @p: what was asked for
 * @rate: at which the port sends, bytes/s
 * @link_rate: of its MAC, bytes/s
 * @mtu: of the device, with the Ethernet header
 * @frame: the same, within BFC_QUANTUM_MIN and BFC_QUANTUM_MAX
 * @before: what the port has now, or NULL
 * @extack: for errors; NULL: the link has changed, not what was asked for
 */
struct bfc_derive {
	const struct bfc_params *p;
	u64 rate;
	u64 link_rate;
	unsigned int mtu;
	u32 frame;
	const struct bfc_conf *before;
	struct netlink_ext_ack *extack;
};

/* Refuse a configuration and say why. */
static inline int bfc_conf_refuse(struct netlink_ext_ack *extack, const char *msg)
{
	if (extack)
		extack->_msg = msg;
	return -EINVAL;
}

static inline void bfc_buffer_peak(struct bfc_buffer *buffer)
{
	long shared = atomic_long_read(&buffer->pool.shared);

	if (shared > READ_ONCE(buffer->peak))
		WRITE_ONCE(buffer->peak, shared);
}

struct bfc_conf *bfc_conf_new(struct bfc_port *port, const struct bfc_params *p,
			      u64 rate, u64 link_rate,
			      struct netlink_ext_ack *extack);
void bfc_conf_put(struct bfc_conf *conf);

/* bfc_buffer.c */
struct bfc_buffer *bfc_buffer_join(struct bfc_switch *sw, const struct bfc_params *p,
				   u64 fixed, const struct bfc_conf *before, u64 *was,
				   struct netlink_ext_ack *extack);
void bfc_buffer_leave(struct bfc_buffer *buffer, u64 fixed);
void bfc_buffer_put(struct bfc_buffer *buffer);

#endif /* _BFC_CONF_H */
