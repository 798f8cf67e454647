// SPDX-License-Identifier: GPL-2.0
/*
 * The list of flows, in order of their start:
 *
 *	flow SRC ADDRESS DST ADDRESS BYTES START [DSCP]
 *
 * SRC and DST are names of namespaces, BYTES the size on the wire, START is in
 * ns. The addresses choose the paths: of data that of DST, of ACKs that of SRC.
 */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "input.h"

struct flow *flows;
uint32_t n_flows;
struct host *hosts;
uint32_t n_hosts;

/* Names to numbers; a linear search would be quadratic in the flows. */
#define BUCKETS 4096
static struct bucket {
	uint32_t host;	/* + 1 */
} table[BUCKETS];

static uint32_t find_host(const struct input *in, int word)
{
	const char *name = in->words[word], *p;
	uint32_t hash = 5381;

	for (p = name; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	for (;; hash++) {
		struct bucket *b = &table[hash % BUCKETS];

		if (!b->host)
			break;
		if (!strcmp(hosts[b->host - 1].name, name))
			return b->host - 1;
	}
	if (n_hosts == BUCKETS / 2)
		input_error(in, "more than %u hosts", n_hosts);
	if (strlen(name) >= sizeof(hosts->name) || strchr(name, '/'))
		input_error(in, "\"%s\" is not the name of a host", name);
	hosts = realloc(hosts, (n_hosts + 1) * sizeof(*hosts));
	if (!hosts)
		die("realloc");
	memset(&hosts[n_hosts], 0, sizeof(*hosts));
	strcpy(hosts[n_hosts].name, name);
	hosts[n_hosts].rx = -1;
	table[hash % BUCKETS].host = ++n_hosts;
	return n_hosts - 1;
}

void flows_read(const char *name)
{
	uint32_t room = 0;
	struct flow *f;
	struct input in;

	input_open(&in, name);
	while (input_next(&in)) {
		if (strcmp(in.words[0], "flow") || in.n < 7 || in.n > 8)
			input_error(&in, "a line is: flow SRC ADDRESS DST ADDRESS BYTES START [DSCP]");
		if (n_flows == room) {
			room = room ? 2 * room : 1024;
			flows = realloc(flows, room * sizeof(*flows));
			if (!flows)
				die("realloc");
		}
		f = &flows[n_flows];
		memset(f, 0, sizeof(*f));
		f->src = find_host(&in, 1);
		f->saddr = input_ipv4(&in, in.words[2]);
		f->dst = find_host(&in, 3);
		f->daddr = input_ipv4(&in, in.words[4]);
		if (f->src == f->dst)
			input_error(&in, "%s sends to itself", in.words[1]);
		f->bytes = input_number(&in, 5, "BYTES", 1,
					(uint64_t)UINT32_MAX * FRAME_MIN);
		f->start = input_number(&in, 6, "START", 0, NEVER / 4);
		if (n_flows && f->start < flows[n_flows - 1].start)
			input_error(&in, "starts before the flow above");
		if (in.n == 8)
			f->dscp = input_number(&in, 7, "DSCP", 0, 63);
		opt.dscp = opt.dscp || f->dscp;
		f->packets = (f->bytes + opt.packet - 1) / opt.packet;
		f->fd = -1;
		f->acked = NEVER;
		f->first = NEVER;
		f->last = NEVER;
		n_flows++;
	}
	if (!n_flows)
		usage_error("%s: no flows", name);
	input_close(&in);
}
