// SPDX-License-Identifier: GPL-2.0
/*
 * sample - the root qdiscs of ports in several network namespaces, over time
 *
 *	sample record MILLISECONDS PREFIX NS/DEV...
 *	sample totals PREFIX NS/DEV...
 *	sample wait SECONDS PREFIX NS/DEV...
 *
 * PREFIX stands before each NS in the name of the network namespace. The first
 * form prints a CSV line per port every so many milliseconds until SIGTERM; the
 * second prints one line per port. The third waits until every bfc qdisc among
 * the ports has agreed with its neighbour to speak BFC.
 *
 * "tc -s -j qdisc show" says the same, but starting it takes longer than the
 * interval that is wanted here.
 */

#define _GNU_SOURCE	/* setns */
#include <errno.h>
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bfc_stats.h"
#include "rtnl.h"

#define MAX_PORTS	256

struct port {
	const char *name;	/* NS/DEV */
	int sock;		/* rtnetlink socket in NS */
	int ifindex;
};

struct sample {
	char kind[16];
	uint32_t backlog;	/* bytes */
	uint32_t qlen;		/* packets */
	uint32_t drops;
	uint64_t sent;		/* bytes */
	struct bfc_stats bfc;	/* of that kind only */
};

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

void die(const char *what)
{
	fprintf(stderr, "sample: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Open one socket per namespace, and find the ports. */
static void port_open(struct port *port, const char *prefix, char *name,
		      const struct port *before, int n_before)
{
	const struct timeval patience = { .tv_sec = 5 };
	char path[128], *slash = strchr(name, '/');
	int i, ns;

	if (!slash) {
		fprintf(stderr, "sample: \"%s\" is not NS/DEV\n", name);
		exit(2);
	}
	port->name = name;
	snprintf(path, sizeof(path), "/run/netns/%s%.*s", prefix,
		 (int)(slash - name), name);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWNET))
		die(path);
	close(ns);
	port->ifindex = (int)if_nametoindex(slash + 1);
	if (!port->ifindex)
		die(name);
	for (i = 0; i < n_before; i++) {
		if (!strncmp(before[i].name, name, (size_t)(slash - name) + 1)) {
			port->sock = before[i].sock;
			return;
		}
	}
	port->sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (port->sock < 0 || setsockopt(port->sock, SOL_SOCKET, SO_RCVTIMEO,
					 &patience, sizeof(patience)))
		die("netlink socket");
}

static void parse_stats(struct sample *s, const struct rtattr *stats)
{
	size_t room = RTA_PAYLOAD(stats);
	const struct rtattr *attr;
	struct gnet_stats_queue queue;
	struct gnet_stats_basic basic;

	rtnl_for_each_attr(attr, RTA_DATA(stats), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_STATS_BASIC:
			memcpy(&basic, RTA_DATA(attr), sizeof(basic));
			s->sent = basic.bytes;
			break;
		case TCA_STATS_QUEUE:
			memcpy(&queue, RTA_DATA(attr), sizeof(queue));
			s->backlog = queue.backlog;
			s->qlen = queue.qlen;
			s->drops = queue.drops;
			break;
		case TCA_STATS_APP:
			if (!strcmp(s->kind, "bfc"))
				bfc_stats_read(&s->bfc, attr);
			break;
		}
	}
}

static void port_read(const struct port *port, struct sample *s)
{
	static uint32_t seq;
	static char buf[16384] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct {
		struct nlmsghdr n;
		struct tcmsg t;
	} req = {
		.n.nlmsg_len = sizeof(req),
		.n.nlmsg_type = RTM_GETQDISC,
		/* Without ECHO 6.1 answers to the multicast group only. */
		.n.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO,
		.n.nlmsg_seq = ++seq,
		.t.tcm_family = AF_UNSPEC,
		.t.tcm_ifindex = port->ifindex,
		.t.tcm_parent = TC_H_ROOT,
	};
	const struct nlmsghdr *answer = (const struct nlmsghdr *)buf;
	const struct rtattr *attr, *stats = NULL;
	size_t room;
	ssize_t len;

	memset(s, 0, sizeof(*s));
	if (send(port->sock, &req, sizeof(req), 0) < 0)
		die("netlink send");
	do {
		len = recv(port->sock, buf, sizeof(buf), 0);
		if (len < 0 && errno != EINTR)
			die("netlink receive");
	} while (len < 0 || answer->nlmsg_seq != req.n.nlmsg_seq);
	if (answer->nlmsg_type == NLMSG_ERROR) {
		errno = -((const struct nlmsgerr *)NLMSG_DATA(answer))->error;
		die(port->name);
	}

	room = TCA_PAYLOAD(answer);
	rtnl_for_each_attr(attr, TCA_RTA(NLMSG_DATA(answer)), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_KIND:
			snprintf(s->kind, sizeof(s->kind), "%s",
				 (const char *)RTA_DATA(attr));
			break;
		case TCA_STATS2:
			stats = attr;
			break;
		}
	}
	if (stats)
		parse_stats(s, stats);
}

static void print_all(const struct port *ports, int n)
{
	struct sample s;
	int i;

	for (i = 0; i < n; i++) {
		port_read(&ports[i], &s);
		printf("%.4f,%s,%s,%u,%u,%ju,%u,%ju,%ju\n", now(),
		       ports[i].name, s.kind, s.backlog, s.qlen, s.sent, s.drops,
		       s.bfc.value[TCA_BFC_STATS_PAUSE_TX],
		       s.bfc.value[TCA_BFC_STATS_BACKLOG_PEAK]);
	}
}

/* The number of bfc ports whose neighbour does not answer (yet). */
static int n_waiting(const struct port *ports, int n, bool tell)
{
	int i, waiting = 0;
	struct sample s;

	for (i = 0; i < n; i++) {
		port_read(&ports[i], &s);
		if (strcmp(s.kind, "bfc") ||
		    s.bfc.value[TCA_BFC_STATS_PEER_STATE] == BFC_PEER_STATE_UP)
			continue;
		waiting++;
		if (tell)
			fprintf(stderr, "sample: %s: peer state %ju\n",
				ports[i].name,
				s.bfc.value[TCA_BFC_STATS_PEER_STATE]);
	}
	return waiting;
}

static void pause_until(double when)
{
	struct timespec ts = {
		.tv_sec = (time_t)when,
		.tv_nsec = (long)((when - (double)(time_t)when) * 1e9),
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_term };
	static struct port ports[MAX_PORTS];
	double next, limit;
	int n = 0, arg;

	if (argc > 2 && !strcmp(argv[1], "totals"))
		arg = 2;
	else if (argc > 3 && (!strcmp(argv[1], "record") ||
			      !strcmp(argv[1], "wait")))
		arg = 3;
	else
		goto usage;

	if (argc == arg + 1 || argc - arg - 1 > MAX_PORTS)
		goto usage;
	for (int i = arg + 1; i < argc; i++, n++)
		port_open(&ports[n], argv[arg], argv[i], ports, n);
	sigaction(SIGTERM, &sa, NULL);

	next = now();
	if (argv[1][0] == 'w') {
		limit = next + strtod(argv[2], NULL);
		while (n_waiting(ports, n, false)) {
			if (now() > limit) {
				n_waiting(ports, n, true);
				return 1;
			}
			next += 0.02;
			pause_until(next);
		}
		return 0;
	}

	printf("time,port,kind,backlog,qlen,sent,drops,pauses,backlog_peak\n");
	if (argv[1][0] == 't') {
		print_all(ports, n);
		return 0;
	}
	while (!stop) {
		print_all(ports, n);
		next += strtod(argv[2], NULL) / 1e3;
		/* Late: skip what cannot be made up for. */
		if (next < now())
			next = now();
		pause_until(next);
	}
	return 0;
usage:
	fprintf(stderr, "usage: sample record MILLISECONDS PREFIX NS/DEV...\n"
		"       sample totals PREFIX NS/DEV...\n"
		"       sample wait SECONDS PREFIX NS/DEV...\n");
	return 2;
}
