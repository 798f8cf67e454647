// SPDX-License-Identifier: GPL-2.0
/*
 * evaltopo - build a network of namespaces, test wires and routes
 *
 *	evaltopo FILE		build it
 *	evaltopo -n FILE	only check the description
 *	evaltopo -d FILE	take it down
 *
 * topofile.c has the format. Shell commands would take ten seconds for a Clos
 * of 144 nodes; this takes one. Addresses of devices and neighbours are fixed,
 * for a simulation must not depend on chance or on ARP: the neighbour behind
 * every port has the same (link-local) address, so a route needs only a port.
 */
#define _GNU_SOURCE	/* pipe2 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/veth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input.h"
#include "netns.h"
#include "rtnl.h"
#include "topo.h"
#include "wire.h"

#define GATEWAY 0xa9fe0001U	/* 169.254.0.1: the far end of the link */

const char *program_name = "evaltopo";

static struct rtnl *rt;		/* of every node */

static _Noreturn void refused(const struct node *node, const char *what,
			      const char *name, const char *why)
{
	fprintf(stderr, "evaltopo: %s: %s %s: %s\n", node->name, what, name,
		why);
	exit(1);
}

static void write_sysctl(const struct node *node, const char *path,
			 const char *value)
{
	char full[128];
	int fd;

	snprintf(full, sizeof(full), "/proc/sys/%s", path);
	fd = open(full, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		refused(node, "sysctl", path, strerror(errno));
	close(fd);
}

/* IPv6 would talk by itself on every port. A kernel without it is as good. */
static void disable_ipv6(const struct node *node)
{
	if (access("/proc/sys/net/ipv6", F_OK))
		return;
	write_sysctl(node, "net/ipv6/conf/all/disable_ipv6", "1");
	write_sysctl(node, "net/ipv6/conf/default/disable_ipv6", "1");
}

static void make_node(struct node *node, struct rtnl *socket)
{
	struct rtnl_msg msg;
	struct ifinfomsg *ifi;
	const char *error;

	node->fd = netns_create(node->name);
	rtnl_open(socket, NETLINK_ROUTE);
	ifi = rtnl_begin(&msg, RTM_NEWLINK, 0, sizeof(*ifi));
	ifi->ifi_index = 1;
	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	error = rtnl_ask(socket, &msg);
	if (error)
		refused(node, "device", "lo", error);
	disable_ipv6(node);
	if (node->forward)
		write_sysctl(node, "net/ipv4/ip_forward", "1");
}

static void put_port(struct rtnl_msg *msg, const struct port *port,
		     const struct link *link)
{
	rtnl_put_str(msg, IFLA_IFNAME, port->name);
	rtnl_put(msg, IFLA_ADDRESS, port->mac, sizeof(port->mac));
	rtnl_put_u32(msg, IFLA_MTU, link->mtu);
	rtnl_put_u32(msg, IFLA_TXQLEN, 1000);
	rtnl_put_u32(msg, IFLA_NUM_TX_QUEUES, 1);
	rtnl_put_u32(msg, IFLA_NUM_RX_QUEUES, 1);
	if (link->gso_segs)
		rtnl_put_u32(msg, IFLA_GSO_MAX_SEGS, link->gso_segs);
}

static void make_link(struct topology *t, unsigned int number)
{
	const struct link *link = &t->link[number];
	struct port *a = &t->port[2 * number], *b = a + 1;
	struct rtattr *info, *data, *peer;
	struct rtnl_msg msg;
	const char *error;
	bool wire = !strcmp(link->kind, "wire");

	rtnl_begin(&msg, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
		   sizeof(struct ifinfomsg));
	put_port(&msg, a, link);
	info = rtnl_nest(&msg, IFLA_LINKINFO);
	rtnl_put_str(&msg, IFLA_INFO_KIND, link->kind);
	data = rtnl_nest(&msg, IFLA_INFO_DATA);
	if (wire) {
		rtnl_put_u64(&msg, IFLA_WIRE_RATE, link->rate);
		rtnl_put_u64(&msg, IFLA_WIRE_DELAY, link->delay);
		rtnl_put_u32(&msg, IFLA_WIRE_RING, link->ring);
	}
	peer = rtnl_nest(&msg, wire ? IFLA_WIRE_PEER : VETH_INFO_PEER);
	rtnl_put_header(&msg, sizeof(struct ifinfomsg));
	put_port(&msg, b, link);
	rtnl_put_u32(&msg, IFLA_NET_NS_FD, t->node[b->node].fd);
	rtnl_nest_end(&msg, peer);
	rtnl_nest_end(&msg, data);
	rtnl_nest_end(&msg, info);
	error = rtnl_ask(&rt[a->node], &msg);
	if (error)
		refused(&t->node[a->node], "link", a->name, error);
}

/* Devices have numbers only once they exist. */
static void find_port(const struct topology *t, struct port *port)
{
	port->ifindex = (int)if_nametoindex(port->name);
	if (!port->ifindex)
		refused(&t->node[port->node], "device", port->name,
			strerror(errno));
}

/* Before the port is up: later it could not. */
static void put_pipe(const struct topology *t, const struct port *port)
{
	const struct node *node = &t->node[port->node];
	const struct pipe *pipe = &node->pipe;
	struct rtattr *info, *data;
	struct rtnl_msg msg;
	struct ifinfomsg *ifi;
	const char *error;

	ifi = rtnl_begin(&msg, RTM_NEWLINK, 0, sizeof(*ifi));
	ifi->ifi_index = port->ifindex;
	info = rtnl_nest(&msg, IFLA_LINKINFO);
	rtnl_put_str(&msg, IFLA_INFO_KIND, "wire");
	data = rtnl_nest(&msg, IFLA_INFO_DATA);
	rtnl_put_u64(&msg, IFLA_WIRE_PIPE_RATE, pipe->rate);
	rtnl_put_u64(&msg, IFLA_WIRE_PIPE_DELAY, pipe->delay);
	rtnl_put_u32(&msg, IFLA_WIRE_PIPE_BUFFER, pipe->buffer);
	rtnl_put_u32(&msg, IFLA_WIRE_PIPE_XOFF, pipe->xoff);
	rtnl_put_u32(&msg, IFLA_WIRE_PIPE_XON, pipe->xon);
	rtnl_put_u32(&msg, IFLA_WIRE_PIPE_STALL, pipe->stall);
	rtnl_nest_end(&msg, data);
	rtnl_nest_end(&msg, info);
	error = rtnl_ask(&rt[port->node], &msg);
	if (error)
		refused(node, "pipe behind", port->name, error);
}

static void start_port(const struct topology *t, const struct port *port)
{
	const struct node *node = &t->node[port->node];
	uint32_t gateway = htonl(GATEWAY);
	struct rtnl_msg msg;
	struct ifinfomsg *ifi;
	struct ndmsg *nd;
	const char *error;

	ifi = rtnl_begin(&msg, RTM_NEWLINK, 0, sizeof(*ifi));
	ifi->ifi_index = port->ifindex;
	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	error = rtnl_ask(&rt[port->node], &msg);
	if (error)
		refused(node, "device", port->name, error);

	nd = rtnl_begin(&msg, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE,
			sizeof(*nd));
	nd->ndm_family = AF_INET;
	nd->ndm_ifindex = port->ifindex;
	nd->ndm_state = NUD_PERMANENT;
	rtnl_put(&msg, NDA_DST, &gateway, sizeof(gateway));
	rtnl_put(&msg, NDA_LLADDR, t->port[port->peer].mac, ETH_ALEN);
	error = rtnl_ask(&rt[port->node], &msg);
	if (error)
		refused(node, "neighbour of", port->name, error);
}

static void add_addr(const struct topology *t, const struct addr *addr)
{
	const struct port *port = &t->port[addr->port];
	uint32_t ip = htonl(addr->ip);
	struct ifaddrmsg *ifa;
	struct rtnl_msg msg;
	const char *error;

	ifa = rtnl_begin(&msg, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL,
			 sizeof(*ifa));
	ifa->ifa_family = AF_INET;
	ifa->ifa_prefixlen = addr->len;
	ifa->ifa_index = port->ifindex;
	rtnl_put(&msg, IFA_LOCAL, &ip, sizeof(ip));
	rtnl_put(&msg, IFA_ADDRESS, &ip, sizeof(ip));
	error = rtnl_ask(&rt[port->node], &msg);
	if (error)
		refused(&t->node[port->node], "address of", port->name, error);
}

/* The kernel takes rto_min from a route only if it is locked. */
static void put_metrics(struct rtnl_msg *msg, const struct route *route)
{
	struct rtattr *metrics;

	metrics = rtnl_nest(msg, RTA_METRICS);
	if (route->initcwnd) {
		rtnl_put_u32(msg, RTAX_INITCWND, route->initcwnd);
		rtnl_put_u32(msg, RTAX_INITRWND, route->initcwnd);
	}
	if (route->rto_min) {
		rtnl_put_u32(msg, RTAX_RTO_MIN, route->rto_min);
		rtnl_put_u32(msg, RTAX_LOCK, 1U << RTAX_RTO_MIN);
	}
	if (route->quickack)
		rtnl_put_u32(msg, RTAX_QUICKACK, 1);
	rtnl_nest_end(msg, metrics);
}

static void add_route(const struct topology *t, const struct route *route)
{
	const struct port *port = &t->port[route->port];
	uint32_t ip = htonl(route->ip), gateway = htonl(GATEWAY);
	struct rtnl_msg msg;
	struct rtmsg *rtm;
	const char *error;

	rtm = rtnl_begin(&msg, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL,
			 sizeof(*rtm));
	rtm->rtm_family = AF_INET;
	rtm->rtm_dst_len = route->len;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_scope = RT_SCOPE_UNIVERSE;
	rtm->rtm_type = RTN_UNICAST;
	rtm->rtm_flags = RTNH_F_ONLINK;
	rtnl_put(&msg, RTA_DST, &ip, sizeof(ip));
	rtnl_put(&msg, RTA_GATEWAY, &gateway, sizeof(gateway));
	rtnl_put_u32(&msg, RTA_OIF, port->ifindex);
	put_metrics(&msg, route);
	error = rtnl_ask(&rt[port->node], &msg);
	if (error)
		refused(&t->node[port->node], "route through", port->name,
			error);
}

/* Qdiscs are tc's business: it has the plugin. */
static void run_tc(const struct node *node)
{
	const char *at = node->tc, *end = node->tc + node->tc_len;
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		dup2(fds[0], STDIN_FILENO);
		execlp("tc", "tc", "-batch", "-", NULL);
		perror("evaltopo: tc");
		_exit(127);
	}
	close(fds[0]);
	while (at < end) {
		ssize_t done = write(fds[1], at, end - at);

		if (done < 0)
			break;	/* tc says why */
		at += done;
	}
	close(fds[1]);
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		refused(node, "tc", "-batch", "failed, see above");
}

static void build(struct topology *t)
{
	unsigned int i;

	rt = calloc(t->n_node, sizeof(*rt));
	if (!rt)
		die("calloc");
	for (i = 0; i < t->n_node; i++)
		make_node(&t->node[i], &rt[i]);
	for (i = 0; i < t->n_link; i++)
		make_link(t, i);
	for (i = 0; i < t->n_port; i++) {
		netns_enter(t->node[t->port[i].node].fd);
		find_port(t, &t->port[i]);
	}
	for (i = 0; i < t->n_port; i++)
		if (t->node[t->port[i].node].pipe.rate)
			put_pipe(t, &t->port[i]);
	for (i = 0; i < t->n_port; i++)
		start_port(t, &t->port[i]);
	for (i = 0; i < t->n_addr; i++)
		add_addr(t, &t->addr[i]);
	for (i = 0; i < t->n_route; i++)
		add_route(t, &t->route[i]);
	for (i = 0; i < t->n_sysctl; i++) {
		const struct sysctl *s = &t->sysctl[i];

		netns_enter(t->node[s->node].fd);
		write_sysctl(&t->node[s->node], s->path, s->value);
	}
	for (i = 0; i < t->n_node; i++) {
		if (!t->node[i].tc)
			continue;
		netns_enter(t->node[i].fd);
		run_tc(&t->node[i]);
	}
}

/* A namespace without a name goes by itself when no process is in it. */
static void take_down(const struct topology *t)
{
	unsigned int i;

	for (i = 0; i < t->n_node; i++)
		netns_delete(t->node[i].name);
}

int main(int argc, char **argv)
{
	const char *file = argv[argc - 1];
	struct topology t;
	char what = 0;

	if (argc == 3 && argv[1][0] == '-' && strlen(argv[1]) == 2)
		what = argv[1][1];
	if ((argc != 2 && what != 'n' && what != 'd') || *file == '-')
		usage_error("usage: evaltopo [-n | -d] FILE");
	topology_read(&t, file);
	if (what == 'd')
		take_down(&t);
	else if (!what)
		build(&t);
	printf("%u nodes, %u links, %u routes\n", t.n_node, t.n_link,
	       t.n_route);
	return 0;
}
