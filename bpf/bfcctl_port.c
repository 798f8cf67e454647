// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: network devices and their root qdisc, through rtnetlink.
 */
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/pkt_sch_bfc.h>
#include "bfcctl.h"
#include "bfcctl_qdiscs.h"
#include "rtnl.h"

/**
 * device_index() - number of a network device of this namespace
 * @name: of it
 *
 * Ends the program with a message if there is none.
 */
int device_index(const char *name)
{
	int ifindex = if_nametoindex(name);

	if (!ifindex)
		fail("no such device: %s", name);
	return ifindex;
}

/**
 * device_need_ethernet() - a device whose packets must have an Ethernet header
 * @name: of it
 *
 * Ends the program with a message if they have not. Those of the loopback device have one.
 */
void device_need_ethernet(const char *name)
{
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (sock < 0 || ioctl(sock, SIOCGIFHWADDR, &request))
		fail("%s: %s", name, strerror(errno));
	close(sock);
	if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER &&
	    request.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
		fail("%s is no Ethernet device, which INT in RoCEv2 needs: give the one below it",
		     name);
}

static const char *string(const struct rtattr *attr, char *to, size_t room)
{
	size_t len = RTA_PAYLOAD(attr);

	if (len >= room)
		len = room - 1;
	memcpy(to, RTA_DATA(attr), len);
	to[len] = '\0';
	return to;
}

static uint64_t any_number(const struct rtattr *attr)
{
	uint64_t value;

	bfc_attr_number(attr, &value);
	return value;
}

static void get_options(const struct rtattr *nest, struct port *port)
{
	const struct rtattr *attr;
	int room = RTA_PAYLOAD(nest);
	const uint8_t *tag;
	int i;

	rtnl_for_each_attr(attr, RTA_DATA(nest), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_BFC_STAMP:
			port->stamp = any_number(attr);
			break;
		case TCA_BFC_STAMP_ID:
			port->prog_id = any_number(attr);
			break;
		case TCA_BFC_STAMP_NAME:
			string(attr, port->prog_name, sizeof(port->prog_name));
			break;
		case TCA_BFC_STAMP_TAG:
			tag = RTA_DATA(attr);
			for (i = 0; i < 8 && i < (int)RTA_PAYLOAD(attr); i++)
				snprintf(port->prog_tag + 2 * i, 3, "%02x",
					 tag[i]);
			break;
		}
	}
}

static void get_stats(const struct rtattr *nest, struct counts *counts,
		      const struct rtattr **app)
{
	const struct rtattr *attr;
	int room = RTA_PAYLOAD(nest);
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;

	*app = NULL;
	rtnl_for_each_attr(attr, RTA_DATA(nest), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_STATS_BASIC:
			if (RTA_PAYLOAD(attr) < sizeof(basic))
				break;
			memcpy(&basic, RTA_DATA(attr), sizeof(basic));
			counts->bytes = basic.bytes;
			counts->packets = basic.packets;
			break;
		case TCA_STATS_PKT64:
			bfc_attr_number(attr, &counts->packets);
			break;
		case TCA_STATS_QUEUE:
			if (RTA_PAYLOAD(attr) < sizeof(queue))
				break;
			memcpy(&queue, RTA_DATA(attr), sizeof(queue));
			counts->backlog = queue.backlog;
			counts->qlen = queue.qlen;
			counts->drops = queue.drops;
			break;
		case TCA_STATS_APP:
			*app = attr;
			break;
		}
	}
}

static bool get_qdisc(const struct nlmsghdr *h, uint32_t parent,
		      struct port *port)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);
	const struct rtattr *attr, *options = NULL, *stats = NULL, *app;
	int room;

	if (h->nlmsg_type != RTM_NEWQDISC ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(*tcm)) ||
	    tcm->tcm_parent != parent)
		return false;
	memset(port, 0, sizeof(*port));
	port->ifindex = tcm->tcm_ifindex;
	port->handle = tcm->tcm_handle;
	if (!if_indextoname(port->ifindex, port->name))
		return false;
	room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));
	rtnl_for_each_attr(attr, TCA_RTA(tcm), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_KIND:
			string(attr, port->kind, sizeof(port->kind));
			break;
		case TCA_OPTIONS:
			options = attr;
			break;
		case TCA_STATS2:
			stats = attr;
			break;
		}
	}
	port->options = options;
	if (strcmp(port->kind, "bfc"))
		return true;
	if (options)
		get_options(options, port);
	if (stats) {
		get_stats(stats, &port->counts, &app);
		if (app)
			bfc_stats_read(&port->stats, app);
	}
	return true;
}

struct visit {
	uint32_t parent;
	void (*each)(const struct port *port, void *arg);
	void *arg;
};

static void visit(const struct nlmsghdr *h, void *arg)
{
	struct visit *v = arg;
	struct port port;

	if (get_qdisc(h, v->parent, &port))
		v->each(&port, v->arg);
}

static void all_each(uint32_t parent, void (*each)(const struct port *port, void *arg),
		     void *arg)
{
	struct visit v = { parent, each, arg };
	struct qdiscs q;

	qdiscs_get(&q);
	qdiscs_each(&q, visit, &v);
	qdiscs_free(&q);
}

/**
 * ports_each() - all devices of this namespace that have a root qdisc
 * @each: called for it
 * @arg: for @each
 */
void ports_each(void (*each)(const struct port *port, void *arg), void *arg)
{
	all_each(TC_H_ROOT, each, arg);
}

/**
 * ports_each_of() - ports_each() of a list
 * @q: the list
 * @each: called for each root qdisc
 * @arg: for @each
 */
void ports_each_of(const struct qdiscs *q,
		   void (*each)(const struct port *port, void *arg), void *arg)
{
	struct visit v = { TC_H_ROOT, each, arg };

	qdiscs_each(q, visit, &v);
}

struct queue_visit {
	void (*each)(const struct queue *queue, void *arg);
	void *arg;
};

static void visit_queue(const struct nlmsghdr *h, void *arg)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);
	const struct rtattr *attr, *stats = NULL, *app = NULL;
	struct queue_visit *v = arg;
	struct queue queue = {};
	bool bfc = false;
	char kind[16];
	int room;

	if (h->nlmsg_type != RTM_NEWTCLASS || h->nlmsg_len < NLMSG_LENGTH(sizeof(*tcm)))
		return;
	room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));
	rtnl_for_each_attr(attr, TCA_RTA(tcm), room) {
		if ((attr->rta_type & NLA_TYPE_MASK) == TCA_KIND)
			bfc = !strcmp(string(attr, kind, sizeof(kind)), "bfc");
		else if ((attr->rta_type & NLA_TYPE_MASK) == TCA_STATS2)
			stats = attr;
	}
	if (!bfc || !stats)
		return;
	get_stats(stats, &queue.counts, &app);
	/* The class of a TX queue, below a root with a scheduler for each, has
	 * no statistics of bfc.
	 */
	if (!app || !bfc_class_stats_read(&queue.stats, app))
		return;
	queue.number = TC_H_MIN(tcm->tcm_handle) - 1;
	v->each(&queue, v->arg);
}

/**
 * queues_each() - the queues of a port
 * @ifindex: of the device; one that has gone meanwhile has none
 * @each: called for it
 * @arg: for @each
 *
 * Ends the program if the kernel reports an error.
 */
void queues_each(int ifindex, void (*each)(const struct queue *queue, void *arg), void *arg)
{
	struct queue_visit v = { each, arg };
	char name[IF_NAMESIZE];
	struct rtnl_msg msg;
	struct tcmsg *tcm;
	const char *error;
	struct rtnl rt;

	rtnl_open(&rt, NETLINK_ROUTE);
	tcm = rtnl_begin(&msg, RTM_GETTCLASS, 0, sizeof(*tcm));
	tcm->tcm_ifindex = ifindex;
	error = rtnl_dump(&rt, &msg, visit_queue, &v);
	rtnl_close(&rt);
	if (error && if_indextoname(ifindex, name))
		fail("cannot list the queues of %s: %s", name, error);
}

static void keep(const struct port *port, void *arg)
{
	struct port *to = arg;

	if (port->ifindex == to->ifindex)
		*to = *port;
}

static bool qdisc_get(struct port *port, int ifindex, uint32_t parent)
{
	memset(port, 0, sizeof(*port));
	port->ifindex = ifindex;
	all_each(parent, keep, port);
	return *port->kind;
}

/**
 * port_get() - a device's root qdisc
 * @port: result
 * @ifindex: of the device
 *
 * Return: false if it has none.
 */
bool port_get(struct port *port, int ifindex)
{
	return qdisc_get(port, ifindex, TC_H_ROOT);
}

/**
 * port_need_bfc() - a device that must have a bfc qdisc
 * @port: result
 * @name: of the device
 *
 * Ends the program with a message if it has not.
 */
void port_need_bfc(struct port *port, const char *name)
{
	if (!port_get(port, device_index(name)))
		fail("%s has no qdisc: tc qdisc add dev %s root bfc", name,
		     name);
	if (strcmp(port->kind, "bfc"))
		fail("not a bfc qdisc: %s has %s (tc qdisc replace dev %s root bfc)",
		     name, port->kind, name);
}

/**
 * port_need_clsact() - a device that must have a clsact qdisc
 * @ifindex: of the device
 * @name: of the device
 *
 * Ends the program with a message if it has not. An ingress qdisc takes filters
 * for both directions, but has only one list for them.
 */
void port_need_clsact(int ifindex, const char *name)
{
	struct port port;

	if (!qdisc_get(&port, ifindex, TC_H_CLSACT))
		fail("%s has no clsact qdisc", name);
	if (strcmp(port.kind, "clsact"))
		fail("not a clsact qdisc: %s has %s (tc qdisc del dev %s %s; tc qdisc add dev %s clsact; then its filters again)",
		     name, port.kind, name, port.kind, name);
}

/**
 * port_try_stamp() - what "tc qdisc change dev DEV root bfc stamp" does
 * @port: which has a bfc qdisc
 * @mode: BFC_STAMP_*
 * @fd: the program, with BFC_STAMP_PINNED
 *
 * Directly, not by calling tc: the program need not be pinned where tc sees it,
 * and the plugin need not be installed.
 *
 * Return: NULL, or why not: valid until the next call.
 */
const char *port_try_stamp(const struct port *port, uint8_t mode, int fd)
{
	struct rtnl_msg msg;
	struct rtattr *nest;
	struct tcmsg *tcm;
	static char why[256];
	const char *error;
	struct rtnl rt;

	/* For the kernel there is no qdisc that could be changed. */
	if (!port->handle) {
		snprintf(why, sizeof(why),
			 "%s has bfc as the kernel's default, which takes no options: tc qdisc replace dev %s root bfc",
			 port->name, port->name);
		return why;
	}
	rtnl_open(&rt, NETLINK_ROUTE);
	tcm = rtnl_begin(&msg, RTM_NEWQDISC, 0, sizeof(*tcm));
	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = port->ifindex;
	tcm->tcm_parent = TC_H_ROOT;
	rtnl_put_str(&msg, TCA_KIND, "bfc");
	nest = rtnl_nest(&msg, TCA_OPTIONS);
	rtnl_put(&msg, TCA_BFC_STAMP, &mode, sizeof(mode));
	if (mode == BFC_STAMP_PINNED)
		rtnl_put_u32(&msg, TCA_BFC_STAMP_FD, fd);
	rtnl_nest_end(&msg, nest);
	error = rtnl_ask(&rt, &msg);
	if (error)
		snprintf(why, sizeof(why), "%s: the qdisc refuses: %s", port->name, error);
	rtnl_close(&rt);
	return error ? why : NULL;
}

/**
 * port_stamp() - port_try_stamp() that ends the program with a message if it fails
 * @port: which has a bfc qdisc
 * @mode: BFC_STAMP_*
 * @fd: the program, with BFC_STAMP_PINNED
 */
void port_stamp(const struct port *port, uint8_t mode, int fd)
{
	const char *error = port_try_stamp(port, mode, fd);

	if (error)
		fail("%s", error);
}
