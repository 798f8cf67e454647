// SPDX-License-Identifier: GPL-2.0
/*
 * The live view of the hops: records are collected from the TCP sockets and
 * from the map of the UDP carrier, twice, since a rate needs two records.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bfc_int_udp.h"
#include "bfcctl_view.h"

/* Bytes that a hop may send between two samples: its counter wraps after 134 MB. */
#define BYTES_BETWEEN	100e6
#define GAP_MIN		1000000ULL
#define GAP_MAX		200000000ULL

static struct view *add(struct views *views)
{
	struct view *v;

	views->v = grow(views->v, views->n, sizeof(*v));
	v = &views->v[views->n++];
	return v;
}

static void set_hops(struct view *v, const __be64 *hop, unsigned int hops,
		     void (*get)(const __u8 *p, struct bfc_int_hop *hop))
{
	unsigned int i;

	if (hops > ARRAY_SIZE(v->hop))
		hops = ARRAY_SIZE(v->hop);
	for (i = 0; i < hops; i++)
		get((const __u8 *)&hop[i], &v->hop[i]);
	v->hops = hops;
}

/* ---- TCP ---- */

static void add_tcp(struct views *views, const struct flow *flow, bool sender)
{
	const struct bfc_int_sk_record *rec;
	struct view *v;

	rec = sender ? &flow->is.echo : &flow->is.seen;
	if (!rec->count)
		return;
	v = add(views);
	v->carrier = "tcp";
	v->side = sender ? "sender" : "receiver";
	inet_ntop(flow->family, sender ? flow->src : flow->dst, v->src,
		  sizeof(v->src));
	inet_ntop(flow->family, sender ? flow->dst : flow->src, v->dst,
		  sizeof(v->dst));
	v->sport = sender ? flow->sport : flow->dport;
	v->dport = sender ? flow->dport : flow->sport;
	v->time = rec->time;
	v->count = rec->count;
	v->overflows = rec->overflows;
	v->stale = rec->stale;
	v->path = rec->path;
	set_hops(v, rec->hop, rec->hops, bfc_int_tcp_get_hop);
}

/* true if a label is that of the device: the label of an IPv4 address may be
 * "name:text".
 */
static bool is_of(const char *label, const char *name)
{
	size_t len = strcspn(label, ":");

	return len == strlen(name) && !memcmp(label, name, len);
}

/* true if the local address of the socket is one of this device */
static bool is_local(const struct ifaddrs *list, const char *name,
		     const struct flow *flow)
{
	const struct in6_addr *six;
	const struct in_addr *four;

	for (; list; list = list->ifa_next) {
		if (!list->ifa_addr || !is_of(list->ifa_name, name) ||
		    list->ifa_addr->sa_family != flow->family)
			continue;
		four = &((struct sockaddr_in *)list->ifa_addr)->sin_addr;
		six = &((struct sockaddr_in6 *)list->ifa_addr)->sin6_addr;
		if (flow->family == AF_INET ?
		    !memcmp(flow->src, four, sizeof(*four)) :
		    !memcmp(flow->src, six, sizeof(*six)))
			return true;
	}
	return false;
}

static void add_sockets(struct views *views, int ifindex)
{
	struct ifaddrs *addresses = NULL;
	char name[IF_NAMESIZE] = "";
	struct flow *flows;
	unsigned int n, i;

	if (ifindex && (!if_indextoname(ifindex, name) ||
			getifaddrs(&addresses)))
		fail("addresses of device %d: %s", ifindex, strerror(errno));
	n = tcp_flows(&flows);
	for (i = 0; i < n; i++) {
		if (ifindex && !is_local(addresses, name, &flows[i]))
			continue;
		add_tcp(views, &flows[i], true);
		add_tcp(views, &flows[i], false);
	}
	free(flows);
	freeifaddrs(addresses);
}

/* ---- UDP ---- */

static void add_udp(struct views *views, const struct bfc_int_udp_key *key,
		    const struct bfc_int_udp_flow *value)
{
	struct view *v = add(views);
	int family = key->family == 4 ? AF_INET : AF_INET6;

	v->carrier = "udp";
	v->side = "receiver";
	inet_ntop(family, key->src, v->src, sizeof(v->src));
	inet_ntop(family, key->dst, v->dst, sizeof(v->dst));
	v->sport = key->sport;
	v->dport = BFC_INT_ROCE_PORT;
	v->time = value->time;
	v->count = value->packets;
	v->overflows = value->overflows;
	v->path = value->path;
	set_hops(v, value->hop, value->hops, bfc_int_get_hop);
}

/* Add flows of device @ifindex, or of all devices of this namespace if that is
 * 0: the map has those of all namespaces. If the last key has been evicted, the
 * kernel starts from the first one again: then some flows come twice and some
 * not at all, but the loop is bounded.
 */
static void add_map(struct views *views, int ifindex)
{
	struct bfc_int_udp_key key, *last = NULL;
	int fd = pin_open(pin_path("/int_udp"));
	char name[IF_NAMESIZE];
	struct bfc_int_udp_flow value;
	static bool said;
	uint64_t netns;
	unsigned int i;

	if (fd < 0)
		return;
	if (!conf_fits(fd, sizeof(key), sizeof(value))) {
		if (!said)
			note("UDP flows are left out: %s is that of another version of bfcctl",
			     pin_path("/int_udp"));
		said = true;
		close(fd);
		return;
	}
	netns = netns_cookie();
	for (i = 0; i < BFC_INT_UDP_FLOWS; i++, last = &key) {
		if (bpf_map_get_next_key(fd, last, &key))
			break;
		if (key.netns != netns)
			continue;
		if (ifindex ? (int)key.ifindex != ifindex :
			      !if_indextoname(key.ifindex, name))
			continue;
		if (!bpf_map_lookup_elem(fd, &key, &value))
			add_udp(views, &key, &value);
	}
	close(fd);
}

/* ---- all of them ---- */

/**
 * views_get() - collect the newest records
 * @views: result, to be freed with views_free()
 * @ifindex: of flows through this device, 0 = any
 */
void views_get(struct views *views, int ifindex)
{
	memset(views, 0, sizeof(*views));
	add_sockets(views, ifindex);
	add_map(views, ifindex);
}

void views_free(struct views *views)
{
	free(views->v);
	memset(views, 0, sizeof(*views));
}

/**
 * views_gap() - for how long to wait for the second sample
 * @views: the first
 *
 * Return: ns, in which no counter of bytes can wrap; 0: no need to wait.
 */
uint64_t views_gap(const struct views *views)
{
	uint64_t gap = GAP_MAX, ns, rate;
	unsigned int i, h, hops = 0;

	for (i = 0; i < views->n; i++) {
		hops += views->v[i].hops;
		for (h = 0; h < views->v[i].hops; h++) {
			rate = bfc_int_speed_rate(views->v[i].hop[h].speed);
			ns = rate ? BYTES_BETWEEN / rate * 1e9 : GAP_MAX;
			if (ns < gap)
				gap = ns;
		}
	}
	if (!hops)
		return 0;
	return gap < GAP_MIN ? GAP_MIN : gap;
}

static const struct view *find(const struct views *views, const struct view *v)
{
	unsigned int i;

	for (i = 0; i < views->n; i++) {
		const struct view *w = &views->v[i];

		if (w->sport == v->sport && w->dport == v->dport &&
		    w->carrier == v->carrier && w->side == v->side &&
		    !strcmp(w->src, v->src) && !strcmp(w->dst, v->dst))
			return w;
	}
	return NULL;
}

/* The time is that of the hop's own clock; the local clock says how often that
 * has wrapped.
 */
static double hop_rate(const struct view *was, const struct view *is,
		       unsigned int h)
{
	uint64_t speed = bfc_int_speed_rate(is->hop[h].speed), rounds, ns;

	if (!was || was->path != is->path || h >= was->hops ||
	    was->count == is->count || is->time <= was->time)
		return -1;
	ns = bfc_int_ts_delta(is->hop[h].ts, was->hop[h].ts);
	rounds = (is->time - was->time + (BFC_INT_TS_MASK + 1) / 2);
	rounds = rounds > ns ? (rounds - ns) / (BFC_INT_TS_MASK + 1) : 0;
	ns += rounds * (BFC_INT_TS_MASK + 1);
	if (!ns || speed / 1e9 * ns > (double)BFC_INT_TX_MASK * BFC_INT_TX_UNIT)
		return -1;
	return (double)bfc_int_tx_delta(is->hop[h].tx, was->hop[h].tx) *
	       BFC_INT_TX_UNIT / ns * 1e9;
}

static void print_hop(const struct view *was, const struct view *v,
		      unsigned int h)
{
	uint64_t speed = bfc_int_speed_rate(v->hop[h].speed);
	uint64_t qlen = (uint64_t)v->hop[h].qlen * BFC_INT_QLEN_UNIT;
	double rate = hop_rate(was, v, h);
	char a[32], b[32], c[32];

	out_open(NULL, '{');
	out_number("hop", h + 1);
	out_number("speed", speed * 8);
	out_number("qlen", qlen);
	out_number("ts", v->hop[h].ts);
	out_number("tx_bytes", (uint64_t)v->hop[h].tx * BFC_INT_TX_UNIT);
	if (rate >= 0) {
		out_fraction("rate", rate * 8);
		if (speed)
			out_fraction("utilization", rate / speed);
	}
	out_close('}');

	text("  hop %u  speed %s  qlen %s", h + 1,
	     speed ? rate_text(a, sizeof(a), speed * 8.0) : "?",
	     size_text(b, sizeof(b), qlen));
	if (rate >= 0) {
		text("  rate %s", rate_text(c, sizeof(c), rate * 8));
		if (speed)
			text(" (%.0f%%)", rate / speed * 100);
	}
	text("\n");
}

static void print(const struct view *was, const struct view *v)
{
	struct bfc_int_head head;
	struct timespec now;
	unsigned int h;
	uint64_t age;
	char buf[32];

	clock_gettime(CLOCK_MONOTONIC, &now);
	age = now.tv_sec * 1000000000ULL + now.tv_nsec;
	age = age > v->time ? age - v->time : 0;
	bfc_int_head_set(&head, v->path);

	out_open(NULL, '{');
	out_string("carrier", v->carrier);
	out_string("side", v->side);
	out_string("src", v->src);
	out_number("sport", v->sport);
	out_string("dst", v->dst);
	out_number("dport", v->dport);
	out_number("records", v->count);
	out_number("overflows", v->overflows);
	out_number("stale", v->stale);
	out_number("age", age);
	out_number("nhop", head.nhop);
	out_number("path_id", head.path);
	out_open("hops", '[');
	text("%s %s %s port %u > %s port %u  path 0x%03x  %u hops  records %llu  age %s\n",
	     v->carrier, v->side, v->src, v->sport, v->dst, v->dport,
	     head.path, head.nhop, (unsigned long long)v->count,
	     time_text(buf, sizeof(buf), age));
	for (h = 0; h < v->hops; h++)
		print_hop(was, v, h);
	if (head.nhop > v->hops)
		text("  and %u%s for which there was no room\n",
		     head.nhop - v->hops,
		     head.nhop == BFC_INT_NHOP_MAX ? " or more" : "");
	out_close(']');
	out_close('}');
}

/**
 * views_print() - the second sample, with rates
 * @before: the first
 * @now: the second
 */
void views_print(const struct views *before, const struct views *now)
{
	unsigned int i;

	for (i = 0; i < now->n; i++)
		print(find(before, &now->v[i]), &now->v[i]);
}
