// SPDX-License-Identifier: GPL-2.0
/* Compiles if a device may have a lock around its ops (6.15 on). */
#include <net/netdev_lock.h>

bool probe(const struct net_device *dev);

bool probe(const struct net_device *dev)
{
	return netdev_need_ops_lock(dev);
}
