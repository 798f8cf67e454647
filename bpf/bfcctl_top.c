// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl top: the ports of a namespace, which port pauses which, the deepest queues and the
 * destinations that hold most of them, again and again.
 */
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bfcctl.h"
#include "bfcctl_term.h"

#define FIRST	200000000ULL	/* ns, until the first rates */

/**
 * struct top_class - a traffic class of a port
 * @rate: bit/s sent since the sample before, or -1: not known
 * @pause_rate: pauses of its queues a second
 * @drop_rate: packets a second
 */
struct top_class {
	double rate;
	double pause_rate;
	double drop_rate;
};

/**
 * struct top_port - a port, at some time
 * @port: the port
 * @first: its queues in &struct sample
 * @n: their number
 * @rate: bit/s sent since the sample before, or -1: not known
 * @paused_rate: pauses of its queues by the neighbour, a second
 * @pausing_rate: its pauses of queues of the neighbour, a second
 * @drop_rate: packets a second
 * @class: its traffic classes
 */
struct top_port {
	struct port port;
	unsigned int first;
	unsigned int n;
	double rate;
	double paused_rate;
	double pausing_rate;
	double drop_rate;
	struct top_class class[BFC_STATS_CLASSES];
};

/**
 * struct top_queue - a queue, at some time
 * @queue: the queue
 * @port: index of its port
 * @rate: bit/s sent since the sample before, or -1
 * @paused: part of the time since then that it was paused, or -1
 */
struct top_queue {
	struct queue queue;
	unsigned int port;
	double rate;
	double paused;
};

/**
 * struct sample - all of it, at some time
 * @ns: when
 * @port: ports by name, but first the one that is asked for
 * @n_ports: their number
 * @n_shown: of these, the first ones: what others hold tells what the pauses of these are for
 * @queue: queues of the first port, of the second and so on
 * @n_queues: their number
 */
struct sample {
	uint64_t ns;
	struct top_port *port;
	unsigned int n_ports;
	unsigned int n_shown;
	struct top_queue *queue;
	unsigned int n_queues;
};

/**
 * struct pair - a port pauses its neighbour, or the other way round
 * @port: index of the port
 * @pauses: it pauses the neighbour
 * @queues: queues, or priorities, that are paused now
 * @rate: pauses a second, or -1
 */
struct pair {
	unsigned int port;
	bool pauses;
	uint64_t queues;
	double rate;
};

/**
 * struct destination - where packets go
 * @name: address
 * @queues: queues with a packet to it as their oldest one
 * @backlog: bytes in these
 */
struct destination {
	char name[BFC_ADDRESS_ROOM];
	unsigned int queues;
	uint64_t backlog;
};

enum sort { BY_BACKLOG, BY_RATE, BY_PAUSED, BY_NAME };

static const struct {
	char key;
	const char *name;
} sorts[] = {
	[BY_BACKLOG] = { 'b', "backlog" },
	[BY_RATE] = { 'r', "rate" },
	[BY_PAUSED] = { 'p', "paused" },
	[BY_NAME] = { 'n', "name" },
};

static struct {
	int ifindex;	/* this port alone, or 0 */
	uint64_t interval;
	enum sort sort;
	struct sample now;
	struct sample before;
	struct pair *pair;
	unsigned int n_pairs;
	struct destination *dest;
	unsigned int n_dests;
} top = { .interval = 1000000000 };

/* ---- a sample ---- */

static void add_port(const struct port *port, void *arg)
{
	struct sample *s = arg;

	if (strcmp(port->kind, "bfc"))
		return;
	s->n_shown += !top.ifindex || port->ifindex == top.ifindex;
	s->port = grow(s->port, s->n_ports, sizeof(*s->port));
	s->port[s->n_ports++].port = *port;
}

static void add_queue(const struct queue *queue, void *arg)
{
	struct sample *s = arg;
	struct top_queue *q;

	s->queue = grow(s->queue, s->n_queues, sizeof(*s->queue));
	q = &s->queue[s->n_queues++];
	q->queue = *queue;
	q->port = s->n_ports - 1;	/* while it is read */
}

static int by_dev(const void *x, const void *y)
{
	const struct port *a = &((const struct top_port *)x)->port;
	const struct port *b = &((const struct top_port *)y)->port;

	return (b->ifindex == top.ifindex) - (a->ifindex == top.ifindex) ?:
	       strcmp(a->name, b->name);
}

static void take(struct sample *s)
{
	unsigned int i, n;

	memset(s, 0, sizeof(*s));
	s->ns = now_ns();
	ports_each(add_port, s);
	n = s->n_ports;
	if (n)
		qsort(s->port, n, sizeof(*s->port), by_dev);
	for (i = 0; i < n; i++) {
		s->port[i].first = s->n_queues;
		s->n_ports = i + 1;
		queues_each(s->port[i].port.ifindex, add_queue, s);
		s->port[i].n = s->n_queues - s->port[i].first;
	}
}

static void forget(struct sample *s)
{
	free(s->port);
	free(s->queue);
}

/* ---- what has changed since the one before ---- */

/* -1 if the counter has started over with a new qdisc. */
static double rate_of(uint64_t is, uint64_t was, uint64_t ns)
{
	return is < was || !ns ? -1 : (is - was) * 1e9 / ns;
}

static void set_queue_rates(struct top_queue *q, const struct top_queue *was, uint64_t ns)
{
	q->rate = rate_of(q->queue.counts.bytes, was->queue.counts.bytes, ns);
	if (q->rate > 0)
		q->rate *= 8;
	q->paused = rate_of(q->queue.stats.value[TCA_BFC_CLASS_PAUSED_NS],
			    was->queue.stats.value[TCA_BFC_CLASS_PAUSED_NS], ns) / 1e9;
	/* The time of the sample is not exactly that of the queue's counter. */
	if (q->paused > 1)
		q->paused = 1;
}

static void set_class_rates(struct top_class *c, const uint64_t *is, const uint64_t *old,
			    uint64_t ns)
{
	c->rate = rate_of(is[TCA_BFC_TCLASS_BYTES], old[TCA_BFC_TCLASS_BYTES], ns);
	if (c->rate > 0)
		c->rate *= 8;
	c->pause_rate = rate_of(is[TCA_BFC_TCLASS_PAUSES], old[TCA_BFC_TCLASS_PAUSES], ns);
	c->drop_rate = rate_of(is[TCA_BFC_TCLASS_DROPS], old[TCA_BFC_TCLASS_DROPS], ns);
}

static void set_port_rates(struct top_port *p, const struct top_port *was, uint64_t ns)
{
	const uint64_t *is = p->port.stats.value, *old = was->port.stats.value;
	unsigned int i;

	p->rate = rate_of(p->port.counts.bytes, was->port.counts.bytes, ns);
	if (p->rate > 0)
		p->rate *= 8;
	p->drop_rate = rate_of(p->port.counts.drops, was->port.counts.drops, ns);
	p->paused_rate = rate_of(is[TCA_BFC_STATS_PAUSE_RX], old[TCA_BFC_STATS_PAUSE_RX], ns);
	p->pausing_rate = rate_of(is[TCA_BFC_STATS_PAUSE_TX], old[TCA_BFC_STATS_PAUSE_TX], ns);
	for (i = 0; i < p->port.stats.classes; i++)
		set_class_rates(&p->class[i], p->port.stats.tclass[i],
				was->port.stats.tclass[i], ns);
}

static const struct top_port *port_before(int ifindex)
{
	unsigned int i;

	for (i = 0; i < top.before.n_ports; i++)
		if (top.before.port[i].port.ifindex == ifindex)
			return &top.before.port[i];
	return NULL;
}

static void set_rates(void)
{
	uint64_t ns = top.now.ns - top.before.ns;
	unsigned int i, k;

	for (i = 0; i < top.now.n_ports; i++) {
		struct top_port *p = &top.now.port[i];
		const struct top_port *was = port_before(p->port.ifindex);

		if (!was || was->port.handle != p->port.handle) {
			p->rate = -1;
			p->drop_rate = -1;
			p->paused_rate = -1;
			p->pausing_rate = -1;
			for (k = 0; k < BFC_STATS_CLASSES; k++)
				p->class[k] = (struct top_class){ -1, -1, -1 };
			was = NULL;
		} else {
			set_port_rates(p, was, ns);
		}
		for (k = 0; k < p->n; k++) {
			struct top_queue *q = &top.now.queue[p->first + k];

			q->rate = -1;
			q->paused = -1;
			if (was && k < was->n &&
			    top.before.queue[was->first + k].queue.number == q->queue.number)
				set_queue_rates(q, &top.before.queue[was->first + k], ns);
		}
	}
}

/* ---- what follows from it ---- */

static void add_pair(unsigned int port, bool pauses, uint64_t queues, double rate)
{
	if (!queues && rate <= 0)
		return;
	top.pair = grow(top.pair, top.n_pairs, sizeof(*top.pair));
	top.pair[top.n_pairs++] = (struct pair){ port, pauses, queues, rate };
}

static void add_destination(const struct top_queue *q)
{
	char name[BFC_ADDRESS_ROOM];
	struct destination *d;
	unsigned int i;

	if (!bfc_class_dst(&q->queue.stats, name))
		return;
	for (i = 0; i < top.n_dests && strcmp(top.dest[i].name, name); i++)
		;
	if (i == top.n_dests) {
		top.dest = grow(top.dest, top.n_dests, sizeof(*top.dest));
		d = &top.dest[top.n_dests++];
		memset(d, 0, sizeof(*d));
		strcpy(d->name, name);
	}
	top.dest[i].queues++;
	top.dest[i].backlog += q->queue.counts.backlog;
}

static int more(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int order_queues(const void *x, const void *y)
{
	const struct top_queue *a = x, *b = y;
	int order = 0;

	if (top.sort == BY_RATE)
		order = more(a->rate, b->rate);
	else if (top.sort == BY_PAUSED)
		order = more(a->paused, b->paused);
	if (!order && top.sort != BY_NAME)
		order = more(a->queue.counts.backlog, b->queue.counts.backlog);
	if (!order)
		order = more(b->port, a->port);
	return order ?: more(b->queue.number, a->queue.number);
}

static int order_pairs(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	return more(a->queues, b->queues) ?: more(a->rate, b->rate) ?: more(b->port, a->port);
}

static int order_dests(const void *x, const void *y)
{
	const struct destination *a = x, *b = y;

	return more(a->queues, b->queues) ?: more(a->backlog, b->backlog) ?:
	       strcmp(a->name, b->name);
}

/* Orders indices of ports: pairs and queues refer to ports by index. */
static int order_ports(const void *x, const void *y)
{
	const struct top_port *a = &top.now.port[*(const unsigned int *)x];
	const struct top_port *b = &top.now.port[*(const unsigned int *)y];
	int order = 0;

	if (top.sort == BY_BACKLOG)
		order = more(a->port.counts.backlog, b->port.counts.backlog);
	else if (top.sort == BY_RATE)
		order = more(a->rate, b->rate);
	else if (top.sort == BY_PAUSED)
		order = more(a->port.stats.value[TCA_BFC_STATS_PAUSED],
			     b->port.stats.value[TCA_BFC_STATS_PAUSED]);
	return order ?: strcmp(a->port.name, b->port.name);
}

/* Queues that have packets or are paused, in order; to be freed. */
static struct top_queue *busy_queues(unsigned int *n)
{
	struct top_queue *busy = NULL;
	unsigned int i;

	for (*n = 0, i = 0; i < top.now.n_queues; i++) {
		const struct top_queue *q = &top.now.queue[i];

		if (q->port >= top.now.n_shown ||
		    (!q->queue.counts.qlen && !q->queue.stats.value[TCA_BFC_CLASS_PAUSED]))
			continue;
		busy = grow(busy, *n, sizeof(*busy));
		busy[(*n)++] = *q;
	}
	if (*n)
		qsort(busy, *n, sizeof(*busy), order_queues);
	return busy;
}

static void derive(void)
{
	unsigned int i;

	top.n_pairs = 0;
	top.n_dests = 0;
	free(top.pair);
	free(top.dest);
	top.pair = NULL;
	top.dest = NULL;
	for (i = 0; i < top.now.n_shown; i++) {
		const struct top_port *p = &top.now.port[i];

		add_pair(i, true, p->port.stats.value[TCA_BFC_STATS_UPSTREAM_PAUSED],
			 p->pausing_rate);
		add_pair(i, false, p->port.stats.value[TCA_BFC_STATS_PAUSED], p->paused_rate);
	}
	for (i = 0; i < top.now.n_queues; i++)
		if (top.now.queue[i].port < top.now.n_shown)
			add_destination(&top.now.queue[i]);
	if (top.n_pairs)
		qsort(top.pair, top.n_pairs, sizeof(*top.pair), order_pairs);
	if (top.n_dests)
		qsort(top.dest, top.n_dests, sizeof(*top.dest), order_dests);
}

/* ---- words ---- */

static const char *or_dash(char *buf, size_t room, double value, const char *fmt)
{
	if (value < 0)
		return "-";
	snprintf(buf, room, fmt, value);
	return buf;
}

static const char *rate_word(char *buf, size_t room, double bits)
{
	return bits < 0 ? "-" : rate_text(buf, room, bits);
}

static const char *state_word(const struct port *port)
{
	static const char *const words[] = {
		[BFC_PEER_STATE_OFF] = "-",
		[BFC_PEER_STATE_SEARCHING] = "searching",
		[BFC_PEER_STATE_HEARD] = "heard",
		[BFC_PEER_STATE_UP] = "up switch",
		[BFC_PEER_STATE_CONFLICT] = "conflict",
		[BFC_PEER_STATE_REFUSED] = "refused",
	};
	uint64_t state = port->stats.value[TCA_BFC_STATS_PEER_STATE];

	if (state == BFC_PEER_STATE_UP &&
	    port->stats.value[TCA_BFC_STATS_PEER_ROLE] == BFC_ROLE_NIC)
		return "up host";
	return state < ARRAY_SIZE(words) ? words[state] : "?";
}

/* The upper part of its id is its MAC address. NULL: it has told none. */
static const char *neighbour(char *buf, size_t room, const struct port *port)
{
	uint64_t mac = port->stats.value[TCA_BFC_STATS_PEER_ID] >> 16;
	unsigned int i, len = 0;

	if (!mac)
		return NULL;
	for (i = 0; i < 6; i++)
		len += snprintf(buf + len, room - len, "%s%02x", i ? ":" : "",
				(unsigned int)(mac >> (40 - 8 * i) & 0xff));
	return buf;
}

static const char *device(char *buf, int ifindex)
{
	return ifindex && if_indextoname(ifindex, buf) ? buf : "-";
}

/* true if packets that came in through port @from wait in a queue of this egress port. */
static bool waits_at(const struct top_port *egress, int from)
{
	unsigned int i;

	for (i = 0; i < egress->n; i++) {
		const struct queue *q = &top.now.queue[egress->first + i].queue;

		if (q->counts.qlen && (int)q->stats.value[TCA_BFC_CLASS_FROM] == from)
			return true;
	}
	return false;
}

/* ---- a frame as text ---- */

enum part { PORTS, CLASSES, PAIRS, QUEUES, DESTS, __PARTS };

static const char *const headings[__PARTS] = {
	[PORTS] = "PORT         NEIGHBOUR      RATE  BACKLOG QUEUES PAUSED PAUSING PAUSES/s DROPS/s",
	[CLASSES] = "PORT         CLASS     RATE  BACKLOG QUEUES PAUSED      OF PAUSES/s DROPS/s",
	[PAIRS] = "WHO               PAUSES            QUEUES   PER s FOR WHAT WAITS AT",
	[QUEUES] = "QUEUE            BACKLOG PACKETS      RATE PAUSED FROM         TO",
	[DESTS] = "QUEUES  BACKLOG DESTINATION",
};

static void print_port(FILE *to, unsigned int i)
{
	const struct top_port *p = &top.now.port[i];
	const uint64_t *stat = p->port.stats.value;
	char a[32], b[32], c[32], d[32];

	fprintf(to, "%-12.15s %-9s %9s %8s %6llu %6llu %7llu %8s %7s\n", p->port.name,
		state_word(&p->port), rate_word(a, sizeof(a), p->rate),
		size_text(b, sizeof(b), p->port.counts.backlog),
		(unsigned long long)stat[TCA_BFC_STATS_OCCUPIED],
		(unsigned long long)stat[TCA_BFC_STATS_PAUSED],
		(unsigned long long)stat[TCA_BFC_STATS_UPSTREAM_PAUSED],
		or_dash(c, sizeof(c), p->paused_rate, "%.0f"),
		or_dash(d, sizeof(d), p->drop_rate, "%.0f"));
}

/* @n: counted over all ports */
static const struct top_port *nth_class(unsigned int n, unsigned int *class)
{
	const struct top_port *p = top.now.port;

	for (; n >= p->port.stats.classes; p++)
		n -= p->port.stats.classes;
	*class = n;
	return p;
}

static unsigned int all_classes(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < top.now.n_shown; i++)
		n += top.now.port[i].port.stats.classes;
	return n;
}

static void print_class(FILE *to, unsigned int n)
{
	char a[32], b[32], c[32], d[32];
	unsigned int class;
	const struct top_port *p = nth_class(n, &class);
	const uint64_t *stat = p->port.stats.tclass[class];
	const struct top_class *its = &p->class[class];

	fprintf(to, "%-12.15s %-5u %8s %8s %6llu %6llu %7llu %8s %7s\n", p->port.name, class,
		rate_word(a, sizeof(a), its->rate),
		size_text(b, sizeof(b), stat[TCA_BFC_TCLASS_BACKLOG]),
		(unsigned long long)stat[TCA_BFC_TCLASS_OCCUPIED],
		(unsigned long long)stat[TCA_BFC_TCLASS_PAUSED],
		(unsigned long long)stat[TCA_BFC_TCLASS_QUEUES],
		or_dash(c, sizeof(c), its->pause_rate, "%.0f"),
		or_dash(d, sizeof(d), its->drop_rate, "%.0f"));
}

static void print_pair(FILE *to, const struct pair *pair)
{
	const struct top_port *p = &top.now.port[pair->port];
	const char *other;
	char a[32], b[32];
	unsigned int i;

	other = neighbour(a, sizeof(a), &p->port) ?: "its neighbour";
	fprintf(to, "%-17s %-17s %6llu %7s", pair->pauses ? p->port.name : other,
		pair->pauses ? other : p->port.name, (unsigned long long)pair->queues,
		or_dash(b, sizeof(b), pair->rate, "%.0f"));
	for (i = 0; pair->pauses && i < top.now.n_ports; i++) {
		if (!waits_at(&top.now.port[i], p->port.ifindex))
			continue;
		fprintf(to, " %s", top.now.port[i].port.name);
	}
	fprintf(to, "\n");
}

static void print_queue(FILE *to, const struct top_queue *q)
{
	char name[IF_NAMESIZE + 8], a[32], b[32], c[40], d[IF_NAMESIZE], dst[BFC_ADDRESS_ROOM];
	const char *address = bfc_class_dst(&q->queue.stats, dst);

	snprintf(name, sizeof(name), "%s:%u", top.now.port[q->port].port.name,
		 q->queue.number);
	if (q->queue.stats.value[TCA_BFC_CLASS_PAUSED] && q->paused < 0)
		strcpy(c, "now");
	else
		snprintf(c, sizeof(c), "%s%s",
			 q->queue.stats.value[TCA_BFC_CLASS_PAUSED] ? "*" : "",
			 or_dash(a, sizeof(a), q->paused < 0 ? -1 : q->paused * 100, "%.0f%%"));
	fprintf(to, "%-15s %8s %7u %9s %6s %-12s %s\n", name,
		size_text(a, sizeof(a), q->queue.counts.backlog), q->queue.counts.qlen,
		rate_word(b, sizeof(b), q->rate), c,
		device(d, q->queue.stats.value[TCA_BFC_CLASS_FROM]), address ?: "-");
}

static void print_dest(FILE *to, const struct destination *d)
{
	char a[32];

	fprintf(to, "%6u %8s %s\n", d->queues, size_text(a, sizeof(a), d->backlog), d->name);
}

/* Share @room lines between the parts: lines that one does not need are for the others. */
static void share_lines(const unsigned int need_of[__PARTS], unsigned int room,
			unsigned int lines[__PARTS])
{
	bool any = true;
	unsigned int i;

	memset(lines, 0, __PARTS * sizeof(*lines));
	while (room && any) {
		any = false;
		for (i = 0; i < __PARTS && room; i++) {
			if (lines[i] >= need_of[i])
				continue;
			lines[i]++;
			room--;
			any = true;
		}
	}
}

/* @rows: of the terminal, 0 = no limit */
static char *frame(unsigned int rows)
{
	unsigned int *port = need(calloc(top.now.n_shown + 1, sizeof(*port)));
	unsigned int n_busy, i, k, parts, lines[__PARTS], wants[__PARTS];
	struct top_queue *busy = busy_queues(&n_busy);
	char *out = NULL, clock[16], a[32];
	time_t t = time(NULL);
	struct tm tm;
	size_t len;
	FILE *to = need(open_memstream(&out, &len));

	for (i = 0; i < top.now.n_shown; i++)
		port[i] = i;
	if (i)
		qsort(port, i, sizeof(*port), order_ports);
	wants[PORTS] = top.now.n_shown;
	wants[CLASSES] = all_classes();
	parts = __PARTS - !wants[CLASSES];
	wants[PAIRS] = top.n_pairs;
	wants[QUEUES] = n_busy;
	wants[DESTS] = top.n_dests;
	memcpy(lines, wants, sizeof(lines));
	if (rows)
		share_lines(wants, rows > parts + 2 ? rows - parts - 2 : 0, lines);
	strftime(clock, sizeof(clock), "%T", localtime_r(&t, &tm));
	fprintf(to, "bfcctl top  %s  every %s  ports %u  busy queues %u  by %s\n", clock,
		time_text(a, sizeof(a), top.interval), top.now.n_shown, n_busy,
		sorts[top.sort].name);
	if (rows)
		fprintf(to, "q quit  order: b backlog r rate p paused n name  + - interval  space now\n");
	for (i = 0; i < __PARTS; i++) {
		if (i == CLASSES && !wants[i])
			continue;
		fprintf(to, "%s%s\n", rows ? (char[]){ TERM_HEADING, '\0' } : "", headings[i]);
		for (k = 0; k < lines[i]; k++) {
			if (i == PORTS)
				print_port(to, port[k]);
			else if (i == CLASSES)
				print_class(to, k);
			else if (i == PAIRS)
				print_pair(to, &top.pair[k]);
			else if (i == QUEUES)
				print_queue(to, &busy[k]);
			else
				print_dest(to, &top.dest[k]);
		}
	}
	fclose(to);
	free(port);
	free(busy);
	out_printable(need(out), TERM_HEADING);
	return out;
}

/* ---- a frame as JSON ---- */

static void rate_json(const char *key, double value)
{
	if (value >= 0)
		out_fraction(key, value);
}

static void json_pair(const struct pair *pair)
{
	const struct top_port *p = &top.now.port[pair->port];
	char buf[32];
	const char *other = neighbour(buf, sizeof(buf), &p->port);
	unsigned int i;

	out_open(NULL, '{');
	out_string("dev", p->port.name);
	if (other)
		out_string("neighbour", other);
	out_string("by", pair->pauses ? "dev" : "neighbour");
	out_number("queues", pair->queues);
	rate_json("rate", pair->rate);
	out_open("for", '[');
	for (i = 0; pair->pauses && i < top.now.n_ports; i++)
		if (waits_at(&top.now.port[i], p->port.ifindex))
			out_string(NULL, top.now.port[i].port.name);
	out_close(']');
	out_close('}');
}

static void json_port(const struct top_port *p)
{
	out_open(NULL, '{');
	out_string("dev", p->port.name);
	out_string("neighbour", state_word(&p->port));
	rate_json("rate", p->rate);
	out_number("backlog", p->port.counts.backlog);
	out_number("occupied", p->port.stats.value[TCA_BFC_STATS_OCCUPIED]);
	out_number("paused", p->port.stats.value[TCA_BFC_STATS_PAUSED]);
	out_number("pausing", p->port.stats.value[TCA_BFC_STATS_UPSTREAM_PAUSED]);
	rate_json("paused_rate", p->paused_rate);
	rate_json("pausing_rate", p->pausing_rate);
	rate_json("drop_rate", p->drop_rate);
	out_close('}');
}

static void json_class(unsigned int n)
{
	unsigned int class;
	const struct top_port *p = nth_class(n, &class);
	const uint64_t *stat = p->port.stats.tclass[class];

	out_open(NULL, '{');
	out_string("dev", p->port.name);
	out_number("class", class);
	rate_json("rate", p->class[class].rate);
	out_number("backlog", stat[TCA_BFC_TCLASS_BACKLOG]);
	out_number("queues", stat[TCA_BFC_TCLASS_QUEUES]);
	out_number("occupied", stat[TCA_BFC_TCLASS_OCCUPIED]);
	out_number("paused", stat[TCA_BFC_TCLASS_PAUSED]);
	rate_json("pause_rate", p->class[class].pause_rate);
	rate_json("drop_rate", p->class[class].drop_rate);
	out_close('}');
}

static void json_queue(const struct top_queue *q)
{
	char d[IF_NAMESIZE], dst[BFC_ADDRESS_ROOM];

	out_open(NULL, '{');
	out_string("dev", top.now.port[q->port].port.name);
	out_number("queue", q->queue.number);
	out_number("backlog", q->queue.counts.backlog);
	out_number("packets", q->queue.counts.qlen);
	out_bool("paused", q->queue.stats.value[TCA_BFC_CLASS_PAUSED]);
	rate_json("rate", q->rate);
	rate_json("paused_part", q->paused);
	if (q->queue.stats.value[TCA_BFC_CLASS_FROM])
		out_string("from", device(d, q->queue.stats.value[TCA_BFC_CLASS_FROM]));
	if (bfc_class_dst(&q->queue.stats, dst))
		out_string("dst", dst);
	out_close('}');
}

static void frame_json(void)
{
	struct top_queue *busy;
	unsigned int i, n;

	busy = busy_queues(&n);
	out_open(NULL, '{');
	out_open("ports", '[');
	for (i = 0; i < top.now.n_shown; i++)
		json_port(&top.now.port[i]);
	out_close(']');
	out_open("classes", '[');
	for (i = 0; i < all_classes(); i++)
		json_class(i);
	out_close(']');
	out_open("pauses", '[');
	for (i = 0; i < top.n_pairs; i++)
		json_pair(&top.pair[i]);
	out_close(']');
	out_open("queues", '[');
	for (i = 0; i < n; i++)
		json_queue(&busy[i]);
	out_close(']');
	out_open("destinations", '[');
	for (i = 0; i < top.n_dests; i++) {
		out_open(NULL, '{');
		out_string("dst", top.dest[i].name);
		out_number("queues", top.dest[i].queues);
		out_number("backlog", top.dest[i].backlog);
		out_close('}');
	}
	out_close(']');
	out_close('}');
	free(busy);
}

/* ---- the command ---- */

static void draw(void)
{
	unsigned int rows, columns;
	char *lines;

	term_size(&rows, &columns);
	lines = frame(rows);
	term_draw(lines);
	free(lines);
}

/* Act on a key. Returns false to end. */
static bool obey(int key, bool *now)
{
	unsigned int i;

	if (key == TERM_END || key == 'q')
		return false;
	for (i = 0; i < ARRAY_SIZE(sorts); i++)
		if (key == sorts[i].key)
			top.sort = i;
	if (key == '+' && top.interval <= INTERVAL_MAX / 2)
		top.interval *= 2;
	else if (key == '-' && top.interval >= INTERVAL_MIN * 2)
		top.interval /= 2;
	*now = key == ' ';
	return true;
}

/* Show the sample until the next one is due. Returns false to end. */
static bool show(void)
{
	bool now = false;

	while (!now) {
		uint64_t due = top.now.ns + top.interval, t = now_ns();
		int key;

		draw();
		key = t < due ? term_wait(due - t) : term_wait(0);
		if (key == TERM_TIMEOUT)
			return true;
		if (!obey(key, &now))
			return false;
	}
	return true;
}

static void look(void)
{
	take(&top.now);
	set_rates();
	derive();
}

static void print_once(void)
{
	char *lines;

	wait_ns(top.interval);
	look();
	if (ctl.json) {
		frame_json();
		return;
	}
	lines = frame(0);
	fputs(lines, stdout);
	free(lines);
}

/* Wait for the first rates, FIRST ns at most. Returns false to end. */
static bool begin(void)
{
	uint64_t due = now_ns() + (top.interval < FIRST ? top.interval : FIRST), t;
	bool now = false;

	while (!now && (t = now_ns()) < due) {
		int key = term_wait(due - t);

		if (key != TERM_TIMEOUT && !obey(key, &now))
			return false;
	}
	return true;
}

void cmd_top(int argc, char **argv)
{
	bool once = false, on;
	const char *word;

	while (argc) {
		word = next_word(&argc, &argv, "");
		if (is_keyword(word, "interval"))
			top.interval = nanoseconds(word, next_word(&argc, &argv, word),
						   INTERVAL_MIN, INTERVAL_MAX);
		else if (is_option(word, "--once"))
			once = true;
		else if (!top.ifindex)
			top.ifindex = device_index(word);
		else
			usage_fail("what is \"%s\"?", word);
	}
	if (ctl.json && !once)
		usage_fail("\"top\" prints JSON with --once alone");
	if (!once)
		term_open();
	take(&top.before);
	if (once) {
		print_once();
	} else {
		for (on = begin(); on; forget(&top.before), top.before = top.now) {
			look();
			on = show();
		}
		memset(&top.now, 0, sizeof(top.now));
	}
	forget(&top.before);
	forget(&top.now);
	free(top.pair);
	free(top.dest);
}
