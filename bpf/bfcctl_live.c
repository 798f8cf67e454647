// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of this namespace and their root qdiscs, all at once, for "bfcctl apply".
 */
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "bfcctl_live.h"
#include "rtnl.h"

#define LOOKS	100

struct live *live;
unsigned int n_live;

/* Qdiscs without a handle are ignored: the kernel adds them itself, and any
 * other qdisc may take their place.
 */
static void add_qdisc(const struct port *port, void *arg)
{
	struct live *l = NULL;
	unsigned int i;

	(void)arg;
	for (i = 0; i < n_live; i++)
		if (live[i].ifindex == port->ifindex)
			l = &live[i];
	if (!l || !port->handle)
		return;
	memcpy(l->kind, port->kind, sizeof(l->kind));
	l->handle = port->handle;
	l->mq = port->stats.value[TCA_BFC_STATS_TXQS];
	l->pinned = port->stamp == BFC_STAMP_PINNED;
	l->prog_id = port->prog_id;
	if (strcmp(port->kind, "bfc") || !port->options)
		return;
	l->options = need(malloc(port->options->rta_len));
	memcpy(l->options, port->options, port->options->rta_len);
}

static void add_device(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(h);
	const struct rtattr *attr;
	struct live *l;
	int room;

	(void)arg;
	if (h->nlmsg_type != RTM_NEWLINK ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(*ifi)))
		return;
	live = grow(live, n_live, sizeof(*live));
	l = &live[n_live++];
	l->ifindex = ifi->ifi_index;
	room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*ifi));
	rtnl_for_each_attr(attr, IFLA_RTA(ifi), room)
		if (attr->rta_type == IFLA_IFNAME)
			snprintf(l->name, sizeof(l->name), "%s",
				 (const char *)RTA_DATA(attr));
}

/* Fill @live with devices. */
static void list_devices(void)
{
	struct rtnl_msg msg;
	const char *error;
	struct rtnl rt;

	live = NULL;
	n_live = 0;
	rtnl_open(&rt, NETLINK_ROUTE);
	rtnl_begin(&msg, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	error = rtnl_dump(&rt, &msg, add_device, NULL);
	if (error)
		fail("cannot list the devices: %s", error);
	rtnl_close(&rt);
}

/* true if @live has the same devices, by name and ifindex, in any order */
static bool lists_same(const struct live *was, unsigned int n_was)
{
	unsigned int i, k;

	for (i = 0; i < n_was && n_was == n_live; i++) {
		/* Both lists usually have the kernel's order. */
		for (k = 0; k < n_live; k++)
			if (live[(i + k) % n_live].ifindex == was[i].ifindex)
				break;
		if (k == n_live || strcmp(live[(i + k) % n_live].name, was[i].name))
			return false;
	}
	return n_was == n_live;
}

static void forget(struct live *list, unsigned int n)
{
	while (n)
		free(list[--n].options);
	free(list);
}

/**
 * live_look() - fill @live, anew
 *
 * The kernel continues a list by the number of devices that it has listed: if
 * one is removed meanwhile, the one behind it is left out, and would seem to
 * have no qdisc. So both lists are read again until no device has come or gone
 * in between.
 *
 * Ends the program if that never happens, or the kernel reports an error.
 */
void live_look(void)
{
	struct live *was;
	unsigned int n_was, tries;

	forget(live, n_live);
	list_devices();
	for (tries = 0; tries < LOOKS; tries++) {
		ports_each(add_qdisc, NULL);
		was = live;
		n_was = n_live;
		list_devices();
		if (lists_same(was, n_was)) {
			forget(live, n_live);
			live = was;
			n_live = n_was;
			return;
		}
		forget(was, n_was);
	}
	fail("devices come and go faster than they can be listed");
}

/**
 * live_exists() - whether there is a device
 * @name: of it
 */
bool live_exists(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_live; i++)
		if (!strcmp(live[i].name, name))
			return true;
	return false;
}
