// SPDX-License-Identifier: GPL-2.0
/* Compiles if the device's egress filters hang at tcx_egress (6.6 on). */
#include <linux/netdevice.h>

bool probe(const struct net_device *dev);

bool probe(const struct net_device *dev)
{
	return dev->tcx_egress;
}
