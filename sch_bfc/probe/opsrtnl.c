// SPDX-License-Identifier: GPL-2.0
/* Compiles if a device with such a lock names the ops that need RTNL, and its addresses
 * are set under the lock, too (7.2, not 6.12).
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>

bool probe(const struct net_device *dev);

bool probe(const struct net_device *dev)
{
	return dev->request_ops_lock && dev->ethtool_ops->op_needs_rtnl &&
	       dev->netdev_ops->ndo_set_rx_mode_async;
}
