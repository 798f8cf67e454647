/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of the root qdiscs of a node, and of the queues of bfc.
 */
#ifndef _STATDUMP_H
#define _STATDUMP_H

#include <net/if.h>
#include <stdint.h>

#include "bfc_stats.h"
#include "rtnl.h"
#include "wire.h"

#define PORTS_MAX	128

/**
 * struct port_stat - what the kernel says about a port's root qdisc
 * @ifindex: of the device
 * @kind: of the qdisc
 * @bytes: sent
 * @packets: sent
 * @backlog: bytes queued
 * @qlen: packets queued
 * @drops: all of them
 * @requeues: packets that the device did not take
 * @marked: packets marked by RED or bfc
 * @stats: bfc: what it reports itself
 * @paused_ns: bfc: sum over the queues of the time each was paused
 * @pauses: bfc: sum over the queues
 * @queue_peak: bfc: most bytes that one queue held
 * @pipe: of the pipeline behind it, IFLA_WIRE_XSTATS_* by number
 * @prio: bfc: of all priorities together, TCA_BFC_PRIO_STATS_* by number; of peaks
 *	  the largest
 */
struct port_stat {
	int ifindex;
	char kind[16];
	uint64_t bytes;
	uint64_t packets;
	uint32_t backlog;
	uint32_t qlen;
	uint32_t drops;
	uint32_t requeues;
	uint64_t marked;
	struct bfc_stats stats;
	uint64_t paused_ns;
	uint64_t pauses;
	uint64_t queue_peak;
	uint64_t pipe[IFLA_WIRE_XSTATS_MAX + 1];
	uint64_t prio[TCA_BFC_PRIO_STATS_MAX + 1];
};

/**
 * struct node_stat - a node and its ports
 * @name: of the namespace
 * @fd: the namespace
 * @rt: a socket in it
 * @port: ports with a root qdisc other than noqueue
 * @n: their number
 */
struct node_stat {
	const char *name;
	int fd;
	struct rtnl rt;
	struct port_stat port[PORTS_MAX];
	unsigned int n;
};

/* A column of the table of totals. */
struct app_name {
	int attr;
	const char *name;
};

/* Statistics of bfc that are columns, TCA_BFC_STATS_*. */
extern const unsigned int app_stats[];
extern const unsigned int n_app_stats;
/* Of its priorities together. */
extern const struct app_name prio_names[];
extern const unsigned int n_prio_names;
/* Of the pipeline behind the port. */
extern const struct app_name pipe_names[];
extern const unsigned int n_pipe_names;

void node_dump(struct node_stat *node);
void node_dump_queues(struct node_stat *node);
void node_dump_pipes(struct node_stat *node);

#endif /* _STATDUMP_H */
