// SPDX-License-Identifier: GPL-2.0
/* Compiles if a device with such a lock names the ops that need RTNL (7.2, not 6.12). */
#include <linux/ethtool.h>
#include <linux/netdevice.h>

bool probe(const struct net_device *dev, const struct ethtool_ops *ops);

bool probe(const struct net_device *dev, const struct ethtool_ops *ops)
{
	return dev->request_ops_lock && ops->op_needs_rtnl;
}
