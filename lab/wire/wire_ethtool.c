// SPDX-License-Identifier: GPL-2.0
/*
 * What ethtool shows and changes of the test wire. All functions run under the
 * RTNL.
 */

#include <linux/ethtool.h>
#include <linux/math64.h>
#include <linux/netdevice.h>

#include "wire_dev.h"

#define WIRE_BQL	BIT(0)	/* of the private flags */

static const char wire_flags[][ETH_GSTRING_LEN] = { "bql" };

static void wire_get_drvinfo(struct net_device *dev,
			     struct ethtool_drvinfo *info)
{
	strscpy(info->driver, DRV_NAME, sizeof(info->driver));
}

static int wire_get_link_ksettings(struct net_device *dev,
				   struct ethtool_link_ksettings *cmd)
{
	struct wire_end *end = netdev_priv(dev);
	u64 mbit = div_u64(end->out.conf.rate, 1000000);

	/* Without a link, a card has not agreed on a speed yet. */
	if (!netif_carrier_ok(dev))
		mbit = 0;
	cmd->base.speed = mbit ? mbit : SPEED_UNKNOWN;
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.port = PORT_OTHER;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static void wire_get_channels(struct net_device *dev,
			      struct ethtool_channels *ch)
{
	ch->max_rx = 1;
	ch->rx_count = 1;
	ch->max_tx = dev->num_tx_queues;
	ch->tx_count = dev->real_num_tx_queues;
}

static int wire_set_channels(struct net_device *dev,
			     struct ethtool_channels *ch)
{
	if (ch->rx_count != 1 || !ch->tx_count)
		return -EINVAL;
	return netif_set_real_num_tx_queues(dev, ch->tx_count);
}

static void wire_get_ringparam(struct net_device *dev,
			       struct ethtool_ringparam *ring,
			       struct kernel_ethtool_ringparam *kernel_ring,
			       struct netlink_ext_ack *extack)
{
	struct wire_end *end = netdev_priv(dev);

	ring->tx_max_pending = WIRE_RING_MAX;
	ring->tx_pending = end->out.conf.ring;
}

/* As in NICs, the link goes down, the frames in the rings are lost, and the
 * link comes up again.
 */
static int wire_set_ringparam(struct net_device *dev,
			      struct ethtool_ringparam *ring,
			      struct kernel_ethtool_ringparam *kernel_ring,
			      struct netlink_ext_ack *extack)
{
	struct wire_end *end = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(end->peer);
	struct wire_conf conf = end->out.conf;
	bool up = peer && netif_carrier_ok(dev);

	if (!ring->tx_pending)
		return -EINVAL;
	conf.ring = ring->tx_pending;
	if (up)
		wire_link_down(end, netdev_priv(peer));
	wire_reconfigure(&end->out, &conf, false, NULL);
	if (up)
		wire_link_up(end, netdev_priv(peer));
	return 0;
}

static int wire_get_coalesce(struct net_device *dev, struct ethtool_coalesce *ec,
			     struct kernel_ethtool_coalesce *kernel_ec,
			     struct netlink_ext_ack *extack)
{
	struct wire_end *end = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(end->peer);

	ec->tx_coalesce_usecs = div_u64(end->out.conf.tx_wait, NSEC_PER_USEC);
	if (peer)
		ec->rx_coalesce_usecs = div_u64(wire_end_of(peer)->out.conf.rx_wait,
						NSEC_PER_USEC);
	return 0;
}

static int wire_set_coalesce(struct net_device *dev, struct ethtool_coalesce *ec,
			     struct kernel_ethtool_coalesce *kernel_ec,
			     struct netlink_ext_ack *extack)
{
	struct wire_end *end = netdev_priv(dev), *from;
	struct net_device *peer = rtnl_dereference(end->peer);
	struct wire_conf conf = end->out.conf;

	if (!peer)
		return -ENOTCONN;
	conf.tx_wait = (u64)ec->tx_coalesce_usecs * NSEC_PER_USEC;
	wire_reconfigure(&end->out, &conf, false, NULL);
	from = wire_end_of(peer);
	conf = from->out.conf;
	conf.rx_wait = (u64)ec->rx_coalesce_usecs * NSEC_PER_USEC;
	wire_reconfigure(&from->out, &conf, false, NULL);
	return 0;
}

static int wire_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_PRIV_FLAGS ? ARRAY_SIZE(wire_flags) : -EOPNOTSUPP;
}

static void wire_get_strings(struct net_device *dev, u32 set, u8 *data)
{
	if (set == ETH_SS_PRIV_FLAGS)
		memcpy(data, wire_flags, sizeof(wire_flags));
}

static u32 wire_get_priv_flags(struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);

	return end->out.conf.bql ? WIRE_BQL : 0;
}

static int wire_set_priv_flags(struct net_device *dev, u32 flags)
{
	struct wire_end *end = netdev_priv(dev);
	struct wire_conf conf = end->out.conf;

	/* BQL has to count all frames of a ring or none. */
	if (dev->flags & IFF_UP)
		return -EBUSY;
	conf.bql = flags & WIRE_BQL;
	wire_reconfigure(&end->out, &conf, false, NULL);
	return 0;
}

const struct ethtool_ops wire_ethtool_ops = {
#ifdef BFC_HAVE_OPSRTNL
	.op_needs_rtnl		= ETHTOOL_OP_NEEDS_RTNL_SCHANNELS |
				  ETHTOOL_OP_NEEDS_RTNL_SRINGPARAM |
				  ETHTOOL_OP_NEEDS_RTNL_SCOALESCE |
				  ETHTOOL_OP_NEEDS_RTNL_SPFLAGS,
#endif
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS,
	.get_drvinfo		= wire_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= wire_get_link_ksettings,
	.get_ts_info		= ethtool_op_get_ts_info,
	.get_channels		= wire_get_channels,
	.set_channels		= wire_set_channels,
	.get_ringparam		= wire_get_ringparam,
	.set_ringparam		= wire_set_ringparam,
	.get_coalesce		= wire_get_coalesce,
	.set_coalesce		= wire_set_coalesce,
	.get_sset_count		= wire_get_sset_count,
	.get_strings		= wire_get_strings,
	.get_priv_flags		= wire_get_priv_flags,
	.set_priv_flags		= wire_set_priv_flags,
};
