// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <string.h>

#include "input.h"
#include "statdump.h"

const unsigned int app_stats[] = {
	TCA_BFC_STATS_MEMORY_PEAK,
	TCA_BFC_STATS_BACKLOG_PEAK,
	TCA_BFC_STATS_COUNTERS,
	TCA_BFC_STATS_ASSIGNED,
	TCA_BFC_STATS_COLLISIONS,
	TCA_BFC_STATS_SHARED,
	TCA_BFC_STATS_COUNTED,
	TCA_BFC_STATS_DROP_LIMIT,
	TCA_BFC_STATS_DROP_CAP,
	TCA_BFC_STATS_PAUSE_TX,
	TCA_BFC_STATS_RESUME_TX,
	TCA_BFC_STATS_FRAMES_TX,
	TCA_BFC_STATS_PAUSE_RX,
	TCA_BFC_STATS_EXPIRED,
	TCA_BFC_STATS_UNTRUSTED,
	TCA_BFC_STATS_TAGGED_RX,
	TCA_BFC_STATS_BAD_RATE,
	TCA_BFC_STATS_BAD_SEQ,
	TCA_BFC_STATS_BAD_TAG,
	TCA_BFC_STATS_PFC_TX,
	TCA_BFC_STATS_PFC_RX,
	TCA_BFC_STATS_PFC_BAD,
	TCA_BFC_STATS_DROP_MAX,
	TCA_BFC_STATS_DROP_BUFFER,
	TCA_BFC_STATS_BUFFER_PEAK,
	TCA_BFC_STATS_SOLVED,
	TCA_BFC_STATS_UNSOLVED,
	TCA_BFC_STATS_STORMS,
	TCA_BFC_STATS_PEER_STATE,
	TCA_BFC_STATS_PEER_QUEUES,
	TCA_BFC_STATS_HRTT,
	TCA_BFC_STATS_HRTT_MEASURED,
	TCA_BFC_STATS_HRTT_SAMPLES,
};

const unsigned int n_app_stats = sizeof(app_stats) / sizeof(*app_stats);

/* "Pausing" is what this port does to its neighbour, "paused" what that does. */
const struct app_name prio_names[] = {
	{ TCA_BFC_PRIO_STATS_PEAK, "prio_held_peak" },
	{ TCA_BFC_PRIO_STATS_PAUSE_TX, "prio_pausing" },
	{ TCA_BFC_PRIO_STATS_PAUSING_NS, "prio_pausing_ns" },
	{ TCA_BFC_PRIO_STATS_PAUSE_RX, "prio_paused" },
	{ TCA_BFC_PRIO_STATS_PAUSED_NS, "prio_paused_ns" },
};

const unsigned int n_prio_names = sizeof(prio_names) / sizeof(*prio_names);

const struct app_name pipe_names[] = {
	{ IFLA_WIRE_XSTATS_PIPE_DROPS, "pipe_drops" },
	{ IFLA_WIRE_XSTATS_PIPE_PEAK, "pipe_peak" },
	{ IFLA_WIRE_XSTATS_PIPE_PFC, "pipe_pfc" },
	{ IFLA_WIRE_XSTATS_PIPE_STALLS, "pipe_stalls" },
	{ IFLA_WIRE_XSTATS_PIPE_STALL_NS, "pipe_stall_ns" },
};

const unsigned int n_pipe_names = sizeof(pipe_names) / sizeof(*pipe_names);

static void parse_app(struct port_stat *s, const struct rtattr *app)
{
	unsigned int prio, type;
	uint64_t *sum, value;

	bfc_stats_read(&s->stats, app);
	for (prio = 0; prio < BFC_STATS_PRIOS; prio++) {
		for (type = 0; type <= TCA_BFC_PRIO_STATS_MAX; type++) {
			sum = &s->prio[type];
			value = s->stats.prio[prio][type];
			if (type != TCA_BFC_PRIO_STATS_PEAK)
				*sum += value;
			else if (value > *sum)
				*sum = value;
		}
	}
	s->marked = s->stats.value[TCA_BFC_STATS_ECN_MARK];
}

static void parse_stats2(struct port_stat *s, const struct rtattr *stats2)
{
	size_t room = RTA_PAYLOAD(stats2);
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;
	const struct rtattr *attr;

	rtnl_for_each_attr(attr, RTA_DATA(stats2), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_STATS_BASIC:
			memcpy(&basic, RTA_DATA(attr), sizeof(basic));
			s->bytes = basic.bytes;
			/* Superseded by PKT64, which comes if it overflows. */
			s->packets = basic.packets;
			break;
		case TCA_STATS_PKT64:
			bfc_attr_number(attr, &s->packets);
			break;
		case TCA_STATS_QUEUE:
			memcpy(&queue, RTA_DATA(attr), sizeof(queue));
			s->backlog = queue.backlog;
			s->qlen = queue.qlen;
			s->drops = queue.drops;
			s->requeues = queue.requeues;
			break;
		case TCA_STATS_APP:
			if (!strcmp(s->kind, "bfc"))
				parse_app(s, attr);
			else if (!strcmp(s->kind, "red") &&
				 RTA_PAYLOAD(attr) >= sizeof(struct tc_red_xstats))
				s->marked = ((const struct tc_red_xstats *)
					     RTA_DATA(attr))->marked;
			break;
		}
	}
}

static void parse_qdisc(const struct nlmsghdr *h, void *arg)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);
	size_t room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));
	const struct rtattr *attr, *stats2 = NULL;
	struct node_stat *node = arg;
	struct port_stat *s;

	if (h->nlmsg_type != RTM_NEWQDISC || tcm->tcm_parent != TC_H_ROOT)
		return;
	/* A port that is left out could be the bottleneck. */
	if (node->n == PORTS_MAX)
		usage_error("%s: more than %d ports", node->name, PORTS_MAX);
	s = &node->port[node->n];
	memset(s, 0, sizeof(*s));
	s->ifindex = tcm->tcm_ifindex;
	rtnl_for_each_attr(attr, TCA_RTA(tcm), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case TCA_KIND:
			strncpy(s->kind, RTA_DATA(attr), sizeof(s->kind) - 1);
			break;
		case TCA_STATS2:
			stats2 = attr;
			break;
		}
	}
	if (!strcmp(s->kind, "noqueue"))
		return;
	if (stats2)
		parse_stats2(s, stats2);
	node->n++;
}

/* One dump gives all ports of the node. */
void node_dump(struct node_stat *node)
{
	struct rtnl_msg msg;
	const char *error;

	node->n = 0;
	rtnl_begin(&msg, RTM_GETQDISC, 0, sizeof(struct tcmsg));
	error = rtnl_dump(&node->rt, &msg, parse_qdisc, node);
	if (error)
		usage_error("%s: qdiscs: %s", node->name, error);
}

static void parse_class_app(struct port_stat *s, const struct rtattr *app)
{
	struct bfc_class_stats stats;
	uint64_t peak;

	bfc_class_stats_read(&stats, app);
	s->pauses += stats.value[TCA_BFC_CLASS_PAUSES];
	s->paused_ns += stats.value[TCA_BFC_CLASS_PAUSED_NS];
	peak = stats.value[TCA_BFC_CLASS_BACKLOG_PEAK];
	if (peak > s->queue_peak)
		s->queue_peak = peak;
}

static void parse_class(const struct nlmsghdr *h, void *arg)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);
	size_t room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm)), inner;
	const struct rtattr *attr, *stat;

	if (h->nlmsg_type != RTM_NEWTCLASS)
		return;
	rtnl_for_each_attr(attr, TCA_RTA(tcm), room) {
		if ((attr->rta_type & NLA_TYPE_MASK) != TCA_STATS2)
			continue;
		inner = RTA_PAYLOAD(attr);
		rtnl_for_each_attr(stat, RTA_DATA(attr), inner)
			if ((stat->rta_type & NLA_TYPE_MASK) == TCA_STATS_APP)
				parse_class_app(arg, stat);
	}
}

static void parse_xstats(struct port_stat *s, const struct rtattr *xstats)
{
	size_t room = RTA_PAYLOAD(xstats);
	const struct rtattr *attr;
	int type;

	rtnl_for_each_attr(attr, RTA_DATA(xstats), room) {
		type = attr->rta_type & NLA_TYPE_MASK;
		if (type >= IFLA_WIRE_XSTATS_PIPE_DROPS &&
		    type <= IFLA_WIRE_XSTATS_PIPE_STALL_NS)
			bfc_attr_number(attr, &s->pipe[type]);
	}
}

static void parse_link(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(h);
	size_t room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*ifi)), inner;
	const struct rtattr *attr, *info;
	struct node_stat *node = arg;
	unsigned int i;

	for (i = 0; i < node->n; i++)
		if (node->port[i].ifindex == ifi->ifi_index)
			break;
	if (h->nlmsg_type != RTM_NEWLINK || i == node->n)
		return;
	rtnl_for_each_attr(attr, IFLA_RTA(ifi), room) {
		if ((attr->rta_type & NLA_TYPE_MASK) != IFLA_LINKINFO)
			continue;
		inner = RTA_PAYLOAD(attr);
		rtnl_for_each_attr(info, RTA_DATA(attr), inner)
			if ((info->rta_type & NLA_TYPE_MASK) ==
			    IFLA_INFO_XSTATS)
				parse_xstats(&node->port[i], info);
	}
}

/* After node_dump(): what only the wires know. */
void node_dump_pipes(struct node_stat *node)
{
	struct rtnl_msg msg;
	const char *error;

	rtnl_begin(&msg, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	error = rtnl_dump(&node->rt, &msg, parse_link, node);
	if (error)
		usage_error("%s: links: %s", node->name, error);
}

/* After node_dump(): what only the queues of bfc know. */
void node_dump_queues(struct node_stat *node)
{
	struct rtnl_msg msg;
	struct tcmsg *tcm;
	const char *error;
	unsigned int i;

	for (i = 0; i < node->n; i++) {
		struct port_stat *s = &node->port[i];

		if (strcmp(s->kind, "bfc"))
			continue;
		tcm = rtnl_begin(&msg, RTM_GETTCLASS, 0, sizeof(*tcm));
		tcm->tcm_ifindex = s->ifindex;
		error = rtnl_dump(&node->rt, &msg, parse_class, s);
		if (error)
			usage_error("%s: classes: %s", node->name, error);
	}
}
