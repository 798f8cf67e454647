// SPDX-License-Identifier: GPL-2.0
/*
 * evalstat - what the ports of a simulated network hold and have done
 *
 *	evalstat clock NS		CLOCK_MONOTONIC plus NS, rounded up to ms
 *	evalstat wait MS NODE...	until every bfc port has a neighbour
 *	evalstat sample START EVERY FROM TO OUT NODE...
 *	evalstat totals OUT NODE...
 *
 * sample: from START + FROM to START + TO (ns) every EVERY ns a CSV line for
 * each node: time since START, node, and for every port its backlog in bytes,
 * non-empty queues (bfc) and bytes sent, as "BACKLOG/OCCUPIED/SENT".
 * totals: a CSV line for each port. OUT "-" is stdout. A NODE @FILE stands for
 * the names in that file.
 */
#define _GNU_SOURCE
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "input.h"
#include "netns.h"
#include "statdump.h"

#define NSEC_PER_SEC	((uint64_t)1000000000)
#define NSEC_PER_MSEC	((uint64_t)1000000)

const char *program_name = "evalstat";

static struct node_stat *nodes;
static unsigned int n_nodes;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void sleep_until(uint64_t when)
{
	struct timespec ts = {
		.tv_sec = when / NSEC_PER_SEC,
		.tv_nsec = when % NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

static void add_node(const char *name)
{
	struct node_stat *node;

	if (!(n_nodes & (n_nodes - 1))) {
		nodes = realloc(nodes, (n_nodes ? 2 * n_nodes : 1) *
				sizeof(*nodes));
		if (!nodes)
			die("realloc");
	}
	node = &nodes[n_nodes++];
	memset(node, 0, sizeof(*node));
	node->name = strdup(name);
	node->fd = netns_open(name);
	netns_enter(node->fd);
	rtnl_open(&node->rt, NETLINK_ROUTE);
}

static void open_nodes(int argc, char **argv)
{
	struct input in;
	int i, w;

	for (i = 0; i < argc; i++) {
		if (argv[i][0] != '@') {
			add_node(argv[i]);
			continue;
		}
		input_open(&in, argv[i] + 1);
		while (input_next(&in))
			for (w = 0; w < in.n; w++)
				add_node(in.words[w]);
		input_close(&in);
	}
	if (!n_nodes)
		usage_error("no nodes");
}

static FILE *open_out(const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "we") : stdout;

	if (!f)
		die(name);
	setvbuf(f, NULL, _IOFBF, 1 << 16);
	return f;
}

static void close_out(FILE *f, const char *name)
{
	if (ferror(f) || fclose(f))
		die(name);
}

/* Off is a port that was told not to look for a neighbour. */
static bool is_ready(const struct port_stat *s)
{
	uint64_t state = s->stats.value[TCA_BFC_STATS_PEER_STATE];

	return strcmp(s->kind, "bfc") || state == BFC_PEER_STATE_UP ||
	       state == BFC_PEER_STATE_OFF;
}

static int do_wait(uint64_t ms)
{
	uint64_t end = now() + ms * NSEC_PER_MSEC;
	const struct node_stat *node = NULL;
	unsigned int n, p = 0;

	for (;;) {
		for (n = 0; n < n_nodes; n++) {
			node = &nodes[n];
			node_dump(&nodes[n]);
			for (p = 0; p < node->n; p++)
				if (!is_ready(&node->port[p]))
					break;
			if (p < node->n)
				break;
		}
		if (n == n_nodes)
			return 0;
		if (now() >= end)
			break;
		sleep_until(now() + 10 * NSEC_PER_MSEC);
	}
	fprintf(stderr, "evalstat: %s: port %d has no neighbour after %ju ms (state %ju)\n",
		node->name, node->port[p].ifindex, ms,
		node->port[p].stats.value[TCA_BFC_STATS_PEER_STATE]);
	return 1;
}

static void do_sample(uint64_t start, uint64_t every, uint64_t from,
		      uint64_t to, FILE *out)
{
	unsigned int n, p;
	uint64_t t;

	for (t = from; t < to; t += every) {
		sleep_until(start + t);
		for (n = 0; n < n_nodes; n++) {
			struct node_stat *node = &nodes[n];

			node_dump(node);
			fprintf(out, "%ju,%s", now() - start, node->name);
			for (p = 0; p < node->n; p++)
				fprintf(out, ",%u/%ju/%ju",
					node->port[p].backlog,
					node->port[p].stats.value[TCA_BFC_STATS_OCCUPIED],
					node->port[p].bytes);
			fputc('\n', out);
		}
	}
}

static void do_totals(FILE *out)
{
	char name[IF_NAMESIZE];
	unsigned int n, p, i;

	fputs("node,port,kind,bytes,packets,backlog,drops,requeues,marked,paused_ns,pauses,queue_peak",
	      out);
	for (i = 0; i < n_app_stats; i++)
		fprintf(out, ",%s", bfc_stat_key(app_stats[i]));
	for (i = 0; i < n_prio_names; i++)
		fprintf(out, ",%s", prio_names[i].name);
	for (i = 0; i < n_pipe_names; i++)
		fprintf(out, ",%s", pipe_names[i].name);
	fputc('\n', out);
	for (n = 0; n < n_nodes; n++) {
		struct node_stat *node = &nodes[n];

		netns_enter(node->fd);
		node_dump(node);
		node_dump_queues(node);
		node_dump_pipes(node);
		for (p = 0; p < node->n; p++) {
			const struct port_stat *s = &node->port[p];

			fprintf(out, "%s,%s,%s,%ju,%ju,%u,%u,%u,%ju,%ju,%ju,%ju",
				node->name, if_indextoname(s->ifindex, name) ?: "?",
				s->kind, s->bytes, s->packets, s->backlog,
				s->drops, s->requeues, s->marked, s->paused_ns,
				s->pauses, s->queue_peak);
			for (i = 0; i < n_app_stats; i++)
				fprintf(out, ",%ju",
					s->stats.value[app_stats[i]]);
			for (i = 0; i < n_prio_names; i++)
				fprintf(out, ",%ju",
					s->prio[prio_names[i].attr]);
			for (i = 0; i < n_pipe_names; i++)
				fprintf(out, ",%ju",
					s->pipe[pipe_names[i].attr]);
			fputc('\n', out);
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t t[4];
	FILE *out;
	int i;

	/* Else a sleep may last 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (!strcmp(what, "clock") && argc == 3) {
		t[0] = now() + option_number("clock", argv[2], 0, UINT64_MAX);
		printf("%ju\n", (t[0] / NSEC_PER_MSEC + 1) * NSEC_PER_MSEC);
	} else if (!strcmp(what, "wait") && argc > 3) {
		t[0] = option_number("wait", argv[2], 1, 1000000);
		open_nodes(argc - 3, argv + 3);
		return do_wait(t[0]);
	} else if (!strcmp(what, "sample") && argc > 7) {
		for (i = 0; i < 4; i++)
			t[i] = option_number("sample", argv[2 + i], i == 1,
					     UINT64_MAX);
		open_nodes(argc - 7, argv + 7);
		out = open_out(argv[6]);
		do_sample(t[0], t[1], t[2], t[3], out);
		close_out(out, argv[6]);
	} else if (!strcmp(what, "totals") && argc > 3) {
		open_nodes(argc - 3, argv + 3);
		out = open_out(argv[2]);
		do_totals(out);
		close_out(out, argv[2]);
	} else {
		usage_error("usage: evalstat clock NS | wait MS NODE... |\n"
			    "       sample START EVERY FROM TO OUT NODE... | totals OUT NODE...");
	}
	return 0;
}
