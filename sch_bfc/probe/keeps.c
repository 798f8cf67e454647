// SPDX-License-Identifier: GPL-2.0
/* Compiles if a device that is deactivated may leave its qdiscs their packets (7.0 on). */
#include <net/sch_generic.h>

void probe(struct net_device *dev);

void probe(struct net_device *dev)
{
	dev_deactivate(dev, false);
}
