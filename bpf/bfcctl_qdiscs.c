// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of this namespace and their qdiscs, all at once.
 */
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "bfcctl_qdiscs.h"
#include "rtnl.h"

#define LOOKS	100

struct devices {
	struct device *dev;
	unsigned int n;
};

static void add_device(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(h);
	struct devices *list = arg;
	const struct rtattr *attr;
	struct device *dev;
	int room;

	if (h->nlmsg_type != RTM_NEWLINK ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(*ifi)))
		return;
	list->dev = grow(list->dev, list->n, sizeof(*dev));
	dev = &list->dev[list->n++];
	dev->ifindex = ifi->ifi_index;
	room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*ifi));
	rtnl_for_each_attr(attr, IFLA_RTA(ifi), room)
		if (attr->rta_type == IFLA_IFNAME)
			snprintf(dev->name, sizeof(dev->name), "%s",
				 (const char *)RTA_DATA(attr));
}

static struct devices list_devices(struct rtnl *rt)
{
	struct devices list = {};
	struct rtnl_msg msg;
	const char *error;

	rtnl_begin(&msg, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	error = rtnl_dump(rt, &msg, add_device, &list);
	if (error)
		fail("cannot list the devices: %s", error);
	return list;
}

static void keep_message(const struct nlmsghdr *h, void *arg)
{
	size_t len = NLMSG_ALIGN(h->nlmsg_len);
	struct qdiscs *q = arg;

	q->messages = need(realloc(q->messages, q->len + len));
	memcpy(q->messages + q->len, h, h->nlmsg_len);
	memset(q->messages + q->len + h->nlmsg_len, 0, len - h->nlmsg_len);
	q->len += len;
}

static void list_qdiscs(struct rtnl *rt, struct qdiscs *q)
{
	struct rtnl_msg msg;
	const char *error;

	rtnl_begin(&msg, RTM_GETQDISC, 0, sizeof(struct tcmsg));
	error = rtnl_dump(rt, &msg, keep_message, q);
	if (error)
		fail("cannot list the qdiscs: %s", error);
}

/* true if both lists have the same devices, by name and ifindex, in any order */
static bool lists_same(const struct devices *was, const struct devices *is)
{
	unsigned int i, k;

	for (i = 0; i < was->n && was->n == is->n; i++) {
		const struct device *dev;

		/* Both lists usually have the kernel's order. */
		for (k = 0; k < is->n; k++) {
			dev = &is->dev[(i + k) % is->n];
			if (dev->ifindex == was->dev[i].ifindex)
				break;
		}
		if (k == is->n || strcmp(dev->name, was->dev[i].name))
			return false;
	}
	return was->n == is->n;
}

/**
 * qdiscs_get() - list the devices and their qdiscs
 * @q: result, for qdiscs_free()
 *
 * The kernel continues a list by the number of devices that it has listed: if
 * one is removed meanwhile, the one behind it is left out, and would seem to
 * have no qdisc. So both lists are read again until no device has come or gone
 * in between.
 *
 * Ends the program if that never happens, or the kernel reports an error.
 */
void qdiscs_get(struct qdiscs *q)
{
	struct devices was, is;
	unsigned int tries;
	struct rtnl rt;

	memset(q, 0, sizeof(*q));
	rtnl_open(&rt, NETLINK_ROUTE);
	was = list_devices(&rt);
	for (tries = 0; tries < LOOKS; tries++) {
		list_qdiscs(&rt, q);
		is = list_devices(&rt);
		if (lists_same(&was, &is)) {
			free(was.dev);
			q->devices = is.dev;
			q->n_devices = is.n;
			rtnl_close(&rt);
			return;
		}
		free(was.dev);
		was = is;
		qdiscs_free(q);
	}
	fail("devices come and go faster than they can be listed");
}

/**
 * qdiscs_each() - call a function for each qdisc of a list
 * @q: of qdiscs_get()
 * @each: called with its message, which is valid until qdiscs_free()
 * @arg: for @each
 */
void qdiscs_each(const struct qdiscs *q,
		 void (*each)(const struct nlmsghdr *h, void *arg), void *arg)
{
	const struct nlmsghdr *h;
	size_t at;

	for (at = 0; at < q->len; at += NLMSG_ALIGN(h->nlmsg_len)) {
		h = (const struct nlmsghdr *)(q->messages + at);
		each(h, arg);
	}
}

void qdiscs_free(struct qdiscs *q)
{
	free(q->devices);
	free(q->messages);
	memset(q, 0, sizeof(*q));
}
