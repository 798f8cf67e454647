// SPDX-License-Identifier: GPL-2.0
/*
 * The description of a topology, a statement a line:
 *
 *	node NAME [forward]
 *	link NODE PORT NODE PORT [rate BIT/S] [delay NS] [ring FRAMES]
 *		[mtu BYTES] [gso-segs N] [kind wire|veth]
 *	addr NODE PORT ADDRESS/LEN
 *	route NODE PREFIX/LEN PORT [initcwnd PACKETS] [rto-min MS]
 *		[quickack 0|1]
 *	pipe NODE rate FRAMES/S [delay NS] [buffer BYTES] [xoff BYTES] [xon BYTES]
 *		[stall BYTES]
 *	sysctl NODE net/... VALUE
 *	tc NODE WORDS...	a line for tc -batch there
 *
 * Names must have been introduced above. Everything is checked here, so that
 * nothing has been set up when a mistake is found.
 */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "topo.h"

/* Make room for one more; sizes double. */
static void *grow(void *array, unsigned int n, size_t size)
{
	void *bigger = array;

	if (!(n & (n - 1)))
		bigger = realloc(array, (n ? 2 * n : 1) * size);
	if (!bigger)
		die("realloc");
	memset((char *)bigger + n * size, 0, size);
	return bigger;
}

#define ADD(array, n)							\
	((array) = grow(array, n, sizeof(*(array))), &(array)[(n)++])

static const char *word(const struct input *in, int i, const char *what)
{
	if (i >= in->n)
		input_error(in, "%s is missing", what);
	return in->words[i];
}

static void copy_name(const struct input *in, char *to, size_t room,
		      const char *name, const char *what)
{
	if (strlen(name) >= room || strchr(name, '/') || name[0] == '.')
		input_error(in, "%s: \"%s\" is not a name of 1 to %zu letters",
			    what, name, room - 1);
	strcpy(to, name);
}

/* Topologies are written node by node: the newest is the likeliest. */
static unsigned int find_node(const struct topology *t, const struct input *in,
			      int i)
{
	const char *name = word(in, i, "node");
	unsigned int n = t->n_node;

	while (n--)
		if (!strcmp(t->node[n].name, name))
			return n;
	input_error(in, "no node \"%s\" above", name);
}

static int look_for_port(const struct topology *t, unsigned int node,
			 const char *name)
{
	unsigned int p;

	for (p = 0; p < t->n_port; p++)
		if (t->port[p].node == node && !strcmp(t->port[p].name, name))
			return p;
	return -1;
}

static unsigned int find_port(const struct topology *t, const struct input *in,
			      unsigned int node, int i)
{
	const char *name = word(in, i, "port");
	int p = look_for_port(t, node, name);

	if (p < 0)
		input_error(in, "no port \"%s\" of %s above", name,
			    t->node[node].name);
	return p;
}

static void read_prefix(const struct input *in, int i, uint32_t *ip,
			unsigned int *len)
{
	char *text = in->words[i], *slash = strchr(text, '/');
	uint32_t mask;

	if (!slash)
		input_error(in, "\"%s\" is not ADDRESS/LEN", text);
	*slash = '\0';
	*ip = input_ipv4(in, text);
	*len = strtoul(slash + 1, &text, 10);
	if (text == slash + 1 || *text || *len > 32)
		input_error(in, "\"%s\" is not a prefix length", slash + 1);
	mask = *len ? ~0U << (32 - *len) : 0;
	if (*ip & ~mask)
		input_error(in, "bits beyond the prefix length are set");
}

static void read_node(struct topology *t, struct input *in)
{
	const char *name = word(in, 1, "name");
	struct node *node;
	unsigned int n;

	for (n = 0; n < t->n_node; n++)
		if (!strcmp(t->node[n].name, name))
			input_error(in, "a second node \"%s\"", name);
	node = ADD(t->node, t->n_node);
	node->fd = -1;
	copy_name(in, node->name, sizeof(node->name), name, "node");
	if (in->n > 2) {
		if (strcmp(in->words[2], "forward") || in->n > 3)
			input_error(in, "only \"forward\" may follow the name");
		node->forward = true;
	}
}

static void read_port(struct topology *t, struct input *in, int i)
{
	unsigned int node = find_node(t, in, i), n = t->n_port;
	const char *name = word(in, i + 1, "port");
	struct port *port;

	if (look_for_port(t, node, name) >= 0)
		input_error(in, "a second port \"%s\" of %s", name,
			    t->node[node].name);
	port = ADD(t->port, t->n_port);
	copy_name(in, port->name, sizeof(port->name), name, "port");
	port->node = node;
	port->peer = n ^ 1;
	port->mac[0] = 0x02;
	port->mac[2] = node >> 8;
	port->mac[3] = node;
	port->mac[4] = n >> 8;
	port->mac[5] = n;
}

static void read_link(struct topology *t, struct input *in)
{
	struct link *link;
	int i;

	read_port(t, in, 1);
	read_port(t, in, 3);
	link = ADD(t->link, t->n_link);
	strcpy(link->kind, "wire");
	link->rate = 1000000000;
	link->ring = 1;
	link->mtu = 1500;
	for (i = 5; i < in->n; i += 2) {
		const char *what = in->words[i];

		if (!strcmp(what, "rate")) {
			link->rate = input_number(in, i + 1, what, 10000,
						  800000000000);
		} else if (!strcmp(what, "delay")) {
			link->delay = input_number(in, i + 1, what, 0,
						   10000000000);
		} else if (!strcmp(what, "ring")) {
			link->ring = input_number(in, i + 1, what, 1, 4096);
		} else if (!strcmp(what, "mtu")) {
			link->mtu = input_number(in, i + 1, what, 68, 65535);
		} else if (!strcmp(what, "gso-segs")) {
			link->gso_segs = input_number(in, i + 1, what, 1,
						      65535);
		} else if (!strcmp(what, "kind")) {
			const char *kind = word(in, i + 1, what);

			if (strcmp(kind, "wire") && strcmp(kind, "veth"))
				input_error(in, "kind: \"%s\" is neither wire nor veth",
					    kind);
			strcpy(link->kind, kind);
		} else {
			input_error(in, "what is \"%s\"? A link has rate, delay, ring, mtu, gso-segs, kind",
				    what);
		}
	}
}

static void read_addr(struct topology *t, struct input *in)
{
	unsigned int port = find_port(t, in, find_node(t, in, 1), 2);
	struct addr *addr = ADD(t->addr, t->n_addr);
	char *slash;

	addr->port = port;
	word(in, 3, "address");
	slash = strchr(in->words[3], '/');
	if (!slash || strcmp(slash, "/32"))
		input_error(in, "\"%s\" is not ADDRESS/32", in->words[3]);
	read_prefix(in, 3, &addr->ip, &addr->len);
}

static void read_route(struct topology *t, struct input *in)
{
	unsigned int port = find_port(t, in, find_node(t, in, 1), 3);
	struct route *route = ADD(t->route, t->n_route);
	int i;

	route->port = port;
	read_prefix(in, 2, &route->ip, &route->len);
	for (i = 4; i < in->n; i += 2) {
		const char *what = in->words[i];

		if (!strcmp(what, "initcwnd"))
			route->initcwnd = input_number(in, i + 1, what, 1,
						       65535);
		else if (!strcmp(what, "rto-min"))
			route->rto_min = input_number(in, i + 1, what, 1,
						      10000);
		else if (!strcmp(what, "quickack"))
			route->quickack = input_number(in, i + 1, what, 0, 1);
		else
			input_error(in, "what is \"%s\"? A route has initcwnd, rto-min and quickack",
				    what);
	}
}

static void read_pipe(struct topology *t, struct input *in)
{
	struct pipe *pipe = &t->node[find_node(t, in, 1)].pipe;
	const uint64_t most = 1 << 30;
	int i;

	word(in, 2, "rate");
	for (i = 2; i < in->n; i += 2) {
		const char *what = in->words[i];

		if (!strcmp(what, "rate"))
			pipe->rate = input_number(in, i + 1, what, 1,
						  1000000000);
		else if (!strcmp(what, "delay"))
			pipe->delay = input_number(in, i + 1, what, 0,
						   10000000000);
		else if (!strcmp(what, "buffer"))
			pipe->buffer = input_number(in, i + 1, what, 0, most);
		else if (!strcmp(what, "xoff"))
			pipe->xoff = input_number(in, i + 1, what, 0, most);
		else if (!strcmp(what, "xon"))
			pipe->xon = input_number(in, i + 1, what, 0, most);
		else if (!strcmp(what, "stall"))
			pipe->stall = input_number(in, i + 1, what, 0, most);
		else
			input_error(in, "what is \"%s\"? A pipe has rate, delay, buffer, xoff, xon, stall",
				    what);
	}
	if (!pipe->rate)
		input_error(in, "rate is missing");
}

static void read_sysctl(struct topology *t, struct input *in)
{
	unsigned int node = find_node(t, in, 1);
	const char *path = word(in, 2, "name"), *value = word(in, 3, "value");
	struct sysctl *sysctl = ADD(t->sysctl, t->n_sysctl);

	sysctl->node = node;
	if (strncmp(path, "net/", 4) || strstr(path, "..") ||
	    strlen(path) >= sizeof(sysctl->path))
		input_error(in, "\"%s\" is not net/...", path);
	if (strlen(value) >= sizeof(sysctl->value) || in->n > 4)
		input_error(in, "one value of at most %zu letters is wanted",
			    sizeof(sysctl->value) - 1);
	strcpy(sysctl->path, path);
	strcpy(sysctl->value, value);
}

static void read_tc(struct topology *t, struct input *in)
{
	struct node *node = &t->node[find_node(t, in, 1)];
	size_t more = 1;
	int i;

	word(in, 2, "what to tell tc");
	for (i = 2; i < in->n; i++)
		more += strlen(in->words[i]) + 1;
	node->tc = realloc(node->tc, node->tc_len + more);
	if (!node->tc)
		die("realloc");
	for (i = 2; i < in->n; i++)
		node->tc_len += sprintf(node->tc + node->tc_len, "%s%c",
					in->words[i],
					i + 1 < in->n ? ' ' : '\n');
}

void topology_read(struct topology *t, const char *file)
{
	static const struct {
		const char *name;
		void (*read)(struct topology *t, struct input *in);
	} statements[] = {
		{ "node", read_node },
		{ "link", read_link },
		{ "addr", read_addr },
		{ "route", read_route },
		{ "pipe", read_pipe },
		{ "sysctl", read_sysctl },
		{ "tc", read_tc },
	};
	const unsigned int n = sizeof(statements) / sizeof(*statements);
	struct input in;
	unsigned int i;

	memset(t, 0, sizeof(*t));
	input_open(&in, file);
	while (input_next(&in)) {
		for (i = 0; i < n; i++)
			if (!strcmp(in.words[0], statements[i].name))
				break;
		if (i == n)
			input_error(&in, "what is \"%s\"? A line begins with node, link, addr, route, pipe, sysctl or tc",
				    in.words[0]);
		statements[i].read(t, &in);
	}
	if (!t->n_node)
		usage_error("%s: no nodes", file);
	input_close(&in);
}
