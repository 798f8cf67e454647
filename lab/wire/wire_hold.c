// SPDX-License-Identifier: GPL-2.0
/*
 * Hold a reference to the root qdisc of a device, as RTM_NEWTFILTER does for a
 * moment without the RTNL (__tcf_qdisc_find()): a test holds it as long as it
 * likes.
 *
 *   echo DEV >/sys/module/test_wire/parameters/hold	in the device's namespace
 *   echo >/sys/module/test_wire/parameters/hold		give it back
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <net/sch_generic.h>

#include "wire_dev.h"

static struct Qdisc *wire_held;	/* RTNL */

static int wire_hold_set(const char *val, const struct kernel_param *kp)
{
	char name[IFNAMSIZ];
	struct net_device *dev;
	int err = 0;

	strscpy(name, val, sizeof(name));
	rtnl_lock();
	if (wire_held)
		qdisc_put(wire_held);
	wire_held = NULL;
	if (*strim(name)) {
		dev = __dev_get_by_name(current->nsproxy->net_ns, strim(name));
		if (dev) {
			wire_held = rtnl_dereference(dev->qdisc);
			qdisc_refcount_inc(wire_held);
		} else {
			err = -ENODEV;
		}
	}
	rtnl_unlock();
	return err;
}

static const struct kernel_param_ops wire_hold_ops = {
	.set = wire_hold_set,
};

module_param_cb(hold, &wire_hold_ops, NULL, 0200);
MODULE_PARM_DESC(hold, "device, the root qdisc of which is held");

/**
 * wire_hold_exit() - at module unload: give back what a test held
 */
void wire_hold_exit(void)
{
	rtnl_lock();
	if (wire_held)
		qdisc_put(wire_held);
	rtnl_unlock();
}
