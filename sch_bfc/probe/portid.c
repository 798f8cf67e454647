// SPDX-License-Identifier: GPL-2.0
/* Compiles if the id of a switch is asked for by this name (7.2 has that, 6.12 not). */
#include <linux/netdevice.h>

int probe(struct net_device *dev, struct netdev_phys_item_id *id);

int probe(struct net_device *dev, struct netdev_phys_item_id *id)
{
	return netif_get_port_parent_id(dev, id, true);
}
