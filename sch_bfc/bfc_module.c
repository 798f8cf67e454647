// SPDX-License-Identifier: GPL-2.0
/*
 * Load and unload of the module. Not in bfc_main.c, which bfc_netdev.c calls.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>

#include <linux/bfc_version.h>
#include "bfc.h"

static int __init bfc_module_init(void)
{
	int err;

	bfc_flow_init();
	bfc_dest_init();
	bfc_root_init();
	err = bfc_event_init();
	if (err)
		return err;
	err = bfc_netdev_init();
	if (err)
		goto silent;
	err = register_qdisc(&bfc_qdisc_ops);
	if (err)
		goto blind;
	return 0;

blind:
	bfc_netdev_exit();
silent:
	bfc_event_exit();
	return err;
}

static void __exit bfc_module_exit(void)
{
	unregister_qdisc(&bfc_qdisc_ops);
	bfc_mq_exit();
	bfc_netdev_exit();
	bfc_event_exit();
	bfc_cfg_exit();
}

module_init(bfc_module_init);
module_exit(bfc_module_exit);
MODULE_AUTHOR("The bfc authors");
MODULE_DESCRIPTION("Backpressure Flow Control qdisc");
MODULE_LICENSE("GPL");
MODULE_VERSION(BFC_RELEASE);
MODULE_ALIAS("net-sch-bfc");	/* autoload by tc from 6.9 on; before: sch_bfc */
