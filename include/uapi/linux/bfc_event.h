/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Events of ports of the qdisc bfc: the generic netlink family "bfc" sends a message BFC_CMD_*,
 * with attributes BFC_A_EVENT_*, to its multicast group "events" in the network namespace of the
 * port. A program that may open a netlink socket there may listen.
 *
 * A port sends at most 2 messages a second, after a burst of 16. queues_exhausted is not among
 * these, and comes at most once a second. The last message always has the state that holds.
 */
#ifndef _UAPI_LINUX_BFC_EVENT_H
#define _UAPI_LINUX_BFC_EVENT_H

#define BFC_FAMILY_NAME		"bfc"
#define BFC_FAMILY_VERSION	1
#define BFC_MCGRP_EVENTS	"events"

/* Generated from spec/bfc-event.yaml: numbers */
enum {
	BFC_CMD_UNSPEC,
	BFC_CMD_NEIGHBOUR_UP,		/* agreed with the neighbour */
	BFC_CMD_NEIGHBOUR_DOWN,		/* no agreement any more */
	BFC_CMD_STORM,			/* its pauses are not obeyed for a while */
	BFC_CMD_RESTORE,		/* they are obeyed again */
	BFC_CMD_QUEUES_EXHAUSTED,	/* new flows found no queue that was empty */
	BFC_CMD_HANDLES_EXHAUSTED,	/* the neighbour is not paused for lack of handles */
	__BFC_CMD_MAX
};

#define BFC_CMD_MAX (__BFC_CMD_MAX - 1)

enum {
	BFC_A_EVENT_UNSPEC,
	BFC_A_EVENT_PAD,
	BFC_A_EVENT_IFINDEX,	/* u32 of the port */
	BFC_A_EVENT_IFNAME,	/* string its name */
	BFC_A_EVENT_TIME,	/* u64 ns since 1970 */
	BFC_A_EVENT_HELD,	/* u32 changes before this one that were not sent */
	BFC_A_EVENT_PRIO,	/* u8 storm, restore: of this priority; absent: of queues */
	BFC_A_EVENT_HOLDOFF,	/* u64 storm: ns for which no pause is obeyed */
	BFC_A_EVENT_QUEUES,	/* u32 neighbour-up: number of queues of the neighbour */
	BFC_A_EVENT_FLOWS,	/* u32 queues-exhausted: such flows since the last message */
	__BFC_A_EVENT_MAX
};

#define BFC_A_EVENT_MAX (__BFC_A_EVENT_MAX - 1)

/* End of numbers */

#endif /* _UAPI_LINUX_BFC_EVENT_H */
