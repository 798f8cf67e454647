// SPDX-License-Identifier: GPL-2.0
/* Compiles if who holds the device's lock asks for its speed by another name (7.2, not 6.12). */
#include <linux/ethtool.h>

int probe(struct net_device *dev, struct ethtool_link_ksettings *link);

int probe(struct net_device *dev, struct ethtool_link_ksettings *link)
{
	return netif_get_link_ksettings(dev, link);
}
