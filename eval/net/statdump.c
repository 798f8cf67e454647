// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <string.h>

#include "input.h"
#include "statdump.h"

const struct app_name app_names[] = {
	{ TCA_BFC_STATS_MEMORY_PEAK, "memory_peak" },
	{ TCA_BFC_STATS_BACKLOG_PEAK, "backlog_peak" },
	{ TCA_BFC_STATS_COUNTERS, "counters" },
	{ TCA_BFC_STATS_ASSIGNED, "assigned" },
	{ TCA_BFC_STATS_COLLISIONS, "collisions" },
	{ TCA_BFC_STATS_SHARED, "shared" },
	{ TCA_BFC_STATS_COUNTED, "counted" },
	{ TCA_BFC_STATS_DROP_LIMIT, "drop_limit" },
	{ TCA_BFC_STATS_DROP_CAP, "drop_cap" },
	{ TCA_BFC_STATS_PAUSE_TX, "pause_tx" },
	{ TCA_BFC_STATS_RESUME_TX, "resume_tx" },
	{ TCA_BFC_STATS_FRAMES_TX, "frames_tx" },
	{ TCA_BFC_STATS_PAUSE_RX, "pause_rx" },
	{ TCA_BFC_STATS_EXPIRED, "expired" },
	{ TCA_BFC_STATS_UNTRUSTED, "untrusted" },
	{ TCA_BFC_STATS_TAGGED_RX, "tagged_rx" },
	{ TCA_BFC_STATS_BAD_RATE, "bad_rate" },
	{ TCA_BFC_STATS_BAD_SEQ, "bad_seq" },
	{ TCA_BFC_STATS_BAD_TAG, "bad_tag" },
	{ TCA_BFC_STATS_PFC_TX, "pfc_tx" },
	{ TCA_BFC_STATS_PFC_RX, "pfc_rx" },
	{ TCA_BFC_STATS_PFC_BAD, "pfc_bad" },
	{ TCA_BFC_STATS_DROP_MAX, "drop_max" },
	{ TCA_BFC_STATS_DROP_BUFFER, "drop_buffer" },
	{ TCA_BFC_STATS_BUFFER_PEAK, "buffer_peak" },
	{ TCA_BFC_STATS_SOLVED, "solved" },
	{ TCA_BFC_STATS_UNSOLVED, "unsolved" },
	{ TCA_BFC_STATS_STORMS, "storms" },
	{ TCA_BFC_STATS_PEER_STATE, "peer_state" },
	{ TCA_BFC_STATS_PEER_QUEUES, "peer_queues" },
};

const unsigned int n_app_names = sizeof(app_names) / sizeof(*app_names);

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

static uint64_t number(const struct rtattr *attr)
{
	return RTA_PAYLOAD(attr) >= sizeof(uint64_t) ? rtnl_u64(attr) :
	       rtnl_u32(attr);
}

static void parse_prio(struct port_stat *s, const struct rtattr *prio)
{
	size_t room = RTA_PAYLOAD(prio);
	const struct rtattr *attr;
	uint64_t *sum, value;
	int type;

	rtnl_for_each_attr(attr, RTA_DATA(prio), room) {
		type = attr->rta_type & NLA_TYPE_MASK;
		if (type > TCA_BFC_PRIO_STATS_MAX)
			continue;
		sum = &s->prio[type];
		value = number(attr);
		if (type != TCA_BFC_PRIO_STATS_PEAK)
			*sum += value;
		else if (value > *sum)
			*sum = value;
	}
}

static void parse_app(struct port_stat *s, const struct rtattr *app)
{
	size_t room = RTA_PAYLOAD(app), inner;
	const struct rtattr *attr, *prio;
	int type;

	rtnl_for_each_attr(attr, RTA_DATA(app), room) {
		type = attr->rta_type & NLA_TYPE_MASK;
		if (type == TCA_BFC_STATS_PRIOS) {
			inner = RTA_PAYLOAD(attr);
			rtnl_for_each_attr(prio, RTA_DATA(attr), inner)
				parse_prio(s, prio);
		} else if (type <= TCA_BFC_STATS_MAX) {
			s->app[type] = number(attr);
		}
	}
	s->marked = s->app[TCA_BFC_STATS_ECN_MARK];
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
			s->packets = rtnl_u64(attr);
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

	if (h->nlmsg_type != RTM_NEWQDISC || tcm->tcm_parent != TC_H_ROOT ||
	    node->n == PORTS_MAX)
		return;
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

static void parse_class(const struct nlmsghdr *h, void *arg)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);
	size_t room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm)), inner, app;
	const struct rtattr *attr, *stat, *value;
	struct port_stat *s = arg;

	if (h->nlmsg_type != RTM_NEWTCLASS)
		return;
	rtnl_for_each_attr(attr, TCA_RTA(tcm), room) {
		if ((attr->rta_type & NLA_TYPE_MASK) != TCA_STATS2)
			continue;
		inner = RTA_PAYLOAD(attr);
		rtnl_for_each_attr(stat, RTA_DATA(attr), inner) {
			if ((stat->rta_type & NLA_TYPE_MASK) != TCA_STATS_APP)
				continue;
			app = RTA_PAYLOAD(stat);
			rtnl_for_each_attr(value, RTA_DATA(stat), app) {
				uint64_t v = number(value);

				switch (value->rta_type & NLA_TYPE_MASK) {
				case TCA_BFC_CLASS_PAUSES:
					s->pauses += v;
					break;
				case TCA_BFC_CLASS_PAUSED_NS:
					s->paused_ns += v;
					break;
				case TCA_BFC_CLASS_BACKLOG_PEAK:
					if (v > s->queue_peak)
						s->queue_peak = v;
					break;
				}
			}
		}
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
			s->pipe[type] = number(attr);
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
