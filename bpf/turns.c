// SPDX-License-Identifier: GPL-2.0
/*
 * The backpressure graph of a network (BFC App. B), and the turns to be elided.
 *
 * Its nodes are egress ports. A turn, in through one port of a switch and out through
 * another, makes an edge: when the egress is congested the switch pauses the port
 * that the packet came from. Only ports between switches with bfc can be in a cycle:
 * hosts pause nothing, nor do boxes without bfc.
 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "turns.h"

#define FAR	UINT32_MAX
#define HINTS	3	/* of choose_fewest() */

/**
 * way_from() - box with the egress port where a way begins
 * @net: network
 * @way: way
 */
uint32_t way_from(const struct net *net, uint32_t way)
{
	return net->cable[way / 2].box[way % 2];
}

/**
 * way_to() - box at which a way ends
 * @net: network
 * @way: way
 */
uint32_t way_to(const struct net *net, uint32_t way)
{
	return way_from(net, way ^ 1);
}

/* While turns are looked for: ways by box, and one flag for each pair of ways */
struct finder {
	const struct net *net;
	uint32_t *first;	/* ways from box b: way[first[b]] up to first[b + 1] */
	uint32_t *way;		/* to boxes that forward */
	uint32_t *rank;		/* of each way in its box */
	uint64_t *pair;		/* of the pairs of a box, in routed[] */
	bool *routed;		/* in through the i-th port, out through the j-th */

	uint32_t *distance;	/* of each box from the destination */
	uint32_t *queue;
	bool *source;		/* boxes that have hosts */
	bool *on;		/* boxes on a route to the destination */
};

static bool forwards(const struct net *net, uint32_t box)
{
	return net->kind[box] != BOX_HOST;
}

static bool between_forwarders(const struct net *net, uint32_t way)
{
	return forwards(net, way_from(net, way)) && forwards(net, way_to(net, way));
}

static void sort_ways(struct finder *f)
{
	const struct net *net = f->net;
	uint32_t way, b, *next;

	for (way = 0; way < 2 * net->cables; way++)
		if (between_forwarders(net, way))
			f->first[way_from(net, way) + 1]++;
	for (b = 0; b < net->boxes; b++)
		f->first[b + 1] += f->first[b];
	next = need(malloc((net->boxes + 1) * sizeof(*next)));
	memcpy(next, f->first, (net->boxes + 1) * sizeof(*next));
	for (way = 0; way < 2 * net->cables; way++) {
		if (!between_forwarders(net, way))
			continue;
		b = way_from(net, way);
		f->rank[way] = next[b] - f->first[b];
		f->way[next[b]++] = way;
	}
	free(next);
}

static uint32_t degree(const struct finder *f, uint32_t box)
{
	return f->first[box + 1] - f->first[box];
}

static void number_pairs(struct finder *f)
{
	uint64_t pairs = 0;
	uint32_t b;

	for (b = 0; b < f->net->boxes; b++) {
		f->pair[b] = pairs;
		pairs += (uint64_t)degree(f, b) * degree(f, b);
	}
	f->routed = need(calloc(pairs + 1, sizeof(*f->routed)));
}

static void finder_init(struct finder *f, const struct net *net)
{
	size_t boxes = net->boxes + 1, ways = 2 * (size_t)net->cables + 1;

	f->net = net;
	f->first = need(calloc(boxes, sizeof(*f->first)));
	f->way = need(calloc(ways, sizeof(*f->way)));
	f->rank = need(calloc(ways, sizeof(*f->rank)));
	f->pair = need(calloc(boxes, sizeof(*f->pair)));
	f->distance = need(calloc(boxes, sizeof(*f->distance)));
	f->queue = need(calloc(boxes, sizeof(*f->queue)));
	f->source = need(calloc(boxes, sizeof(*f->source)));
	f->on = need(calloc(boxes, sizeof(*f->on)));
	sort_ways(f);
	number_pairs(f);
}

static void finder_free(struct finder *f)
{
	free(f->first);
	free(f->way);
	free(f->rank);
	free(f->pair);
	free(f->routed);
	free(f->distance);
	free(f->queue);
	free(f->source);
	free(f->on);
}

/* The flag of "in by @in, out by @out", ways that meet in a box */
static bool *routed(struct finder *f, uint32_t in, uint32_t out)
{
	uint32_t b = way_from(f->net, out);

	return &f->routed[f->pair[b] + (uint64_t)f->rank[in ^ 1] * degree(f, b) +
			  f->rank[out]];
}

/* ---- shortest routes ---- */

static void spread(struct finder *f, uint32_t n)
{
	uint32_t head, i, v, w;

	for (head = 0; head < n; head++) {
		v = f->queue[head];
		for (i = f->first[v]; i < f->first[v + 1]; i++) {
			w = way_to(f->net, f->way[i]);
			if (f->distance[w] != FAR)
				continue;
			f->distance[w] = f->distance[v] + 1;
			f->queue[n++] = w;
		}
	}
	f->queue[n] = FAR;
}

/* Mark the turns that packets at @v may take. */
static void route_on(struct finder *f, uint32_t v)
{
	uint32_t i, j, w, x;

	for (i = f->first[v]; i < f->first[v + 1]; i++) {
		w = way_to(f->net, f->way[i]);
		if (f->distance[w] + 1 != f->distance[v])
			continue;
		f->on[w] = true;
		for (j = f->first[w]; j < f->first[w + 1]; j++) {
			x = way_to(f->net, f->way[j]);
			if (f->distance[x] + 1 == f->distance[w])
				*routed(f, f->way[i], f->way[j]) = true;
		}
	}
}

/* Mark the turns on routes from all sources to queue[0] to queue[n - 1]. */
static void route_to(struct finder *f, uint32_t n)
{
	uint32_t b, i;

	for (b = 0; b < f->net->boxes; b++) {
		f->distance[b] = FAR;
		f->on[b] = f->source[b];
	}
	for (i = 0; i < n; i++)
		f->distance[f->queue[i]] = 0;
	spread(f, n);
	for (n = 0; n < f->net->boxes && f->queue[n] != FAR; n++)
		;
	/* farthest first: then it is known which boxes are on a route */
	while (n--)
		if (f->on[f->queue[n]])
			route_on(f, f->queue[n]);
}

/* The boxes that a host has cables to, in queue[]. Return: how many. */
static uint32_t attached(struct finder *f, const uint32_t *list, uint32_t n)
{
	uint32_t i, j, b, found = 0;

	for (i = 0; i < n; i++) {
		b = list[i];
		for (j = 0; j < found && f->queue[j] != b; j++)
			;
		if (j == found)
			f->queue[found++] = b;
	}
	return found;
}

/* Hosts' cables, sorted by host */
struct homes {
	uint32_t *first;
	uint32_t *box;
};

static void homes_init(struct homes *h, const struct net *net)
{
	uint32_t way, b, *next;

	h->first = need(calloc((size_t)net->boxes + 2, sizeof(*h->first)));
	h->box = need(calloc(2 * (size_t)net->cables + 1, sizeof(*h->box)));
	next = h->first + 1;
	for (way = 0; way < 2 * net->cables; way++)
		if (!forwards(net, way_from(net, way)) &&
		    forwards(net, way_to(net, way)))
			next[way_from(net, way) + 1]++;
	for (b = 0; b < net->boxes; b++)
		next[b + 1] += next[b];
	for (way = 0; way < 2 * net->cables; way++)
		if (!forwards(net, way_from(net, way)) &&
		    forwards(net, way_to(net, way)))
			h->box[next[way_from(net, way)]++] = way_to(net, way);
}

/* true if there are routes to a host with the same home, or the host has none.
 * Looked at only for hosts with one home, as most have.
 */
static bool seen_before(const struct homes *h, uint32_t host, bool *seen)
{
	uint32_t n = h->first[host + 1] - h->first[host], b;

	if (n != 1)
		return !n;
	b = h->box[h->first[host]];
	if (seen[b])
		return true;
	seen[b] = true;
	return false;
}

static bool has_hosts(const struct net *net)
{
	uint32_t b;

	for (b = 0; b < net->boxes; b++)
		if (net->kind[b] == BOX_HOST)
			return true;
	return false;
}

/* Shortest routes between hosts. If there are no hosts, all boxes count as having some. */
static void route_shortest(struct finder *f)
{
	const struct net *net = f->net;
	bool *seen = need(calloc(net->boxes + 1, sizeof(*seen)));
	bool some = has_hosts(net);
	struct homes h;
	uint32_t b, i;

	homes_init(&h, net);
	for (b = 0; b < net->boxes; b++) {
		if (!some)
			f->source[b] = true;
		for (i = h.first[b]; i < h.first[b + 1]; i++)
			f->source[h.box[i]] = true;
	}
	for (b = 0; b < net->boxes; b++) {
		if (!some) {
			f->queue[0] = b;
			route_to(f, 1);
		} else if (!forwards(net, b) && !seen_before(&h, b, seen)) {
			route_to(f, attached(f, h.box + h.first[b],
					     h.first[b + 1] - h.first[b]));
		}
	}
	free(h.first);
	free(h.box);
	free(seen);
}

/* ---- listed routes ---- */

static void route_step(struct finder *f, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t i, j;

	for (i = f->first[a]; i < f->first[a + 1]; i++) {
		if (way_to(f->net, f->way[i]) != b)
			continue;
		for (j = f->first[b]; j < f->first[b + 1]; j++)
			if (way_to(f->net, f->way[j]) == c)
				*routed(f, f->way[i], f->way[j]) = true;
	}
}

static void route_listed(struct finder *f)
{
	const struct route *r;
	uint32_t i, j;

	for (i = 0; i < f->net->routes; i++) {
		r = &f->net->route[i];
		for (j = 0; j + 2 < r->n; j++)
			route_step(f, r->box[j], r->box[j + 1], r->box[j + 2]);
	}
}

/* ---- the graph ---- */

/**
 * way_has_bfc() - whether a way is between two switches with bfc
 * @net: network
 * @way: way
 */
bool way_has_bfc(const struct net *net, uint32_t way)
{
	return net->kind[way_from(net, way)] == BOX_SWITCH &&
	       net->kind[way_to(net, way)] == BOX_SWITCH;
}

static void add_turn(struct turns *turns, uint32_t in, uint32_t out, bool routed,
		     bool count)
{
	if (!count)
		turns->turn[turns->n] = (struct turn){ in, out, routed, false };
	turns->n++;
}

static bool is_wanted(const struct turns *turns, uint32_t in, uint32_t out, bool routed)
{
	return routed || turns->which == TURNS_LOOPS ||
	       (turns->which == TURNS_ALL && out != (in ^ 1));
}

/* Add the turns of a box, or only @count them. */
static void turns_of(struct finder *f, uint32_t b, struct turns *turns, bool count)
{
	uint32_t i, j, in, out;
	bool r;

	for (i = f->first[b]; i < f->first[b + 1]; i++) {
		in = f->way[i] ^ 1;
		if (!way_has_bfc(f->net, in))
			continue;
		for (j = f->first[b]; j < f->first[b + 1]; j++) {
			out = f->way[j];
			r = *routed(f, in, out);
			if (way_has_bfc(f->net, out) && is_wanted(turns, in, out, r))
				add_turn(turns, in, out, r, count);
		}
	}
}

static void list_turns(struct finder *f, struct turns *turns, bool count)
{
	uint32_t b;

	turns->n = 0;
	for (b = 0; b < f->net->boxes; b++)
		if (f->net->kind[b] == BOX_SWITCH)
			turns_of(f, b, turns, count);
}

static void make_graph(struct finder *f, enum turns_which which, struct turns *turns)
{
	uint32_t t;

	memset(turns, 0, sizeof(*turns));
	turns->which = which;
	list_turns(f, turns, true);
	turns->turn = need(calloc((size_t)turns->n + 1, sizeof(*turns->turn)));
	list_turns(f, turns, false);
	digraph_init(&turns->g, 2 * f->net->cables, turns->n);
	for (t = 0; t < turns->n; t++) {
		turns->g.from[t] = turns->turn[t].out;
		turns->g.to[t] = turns->turn[t].in;
	}
	digraph_index(&turns->g);
}

/**
 * turns_find() - the backpressure graph of a network
 * @net: network; the squares of the number of cables of each box add up to
 *	 TURNS_MAX at most
 * @which: turns
 * @turns: the graph; for turns_free()
 */
void turns_find(const struct net *net, enum turns_which which, struct turns *turns)
{
	struct finder f = {};

	finder_init(&f, net);
	if (net->routes)
		route_listed(&f);
	else
		route_shortest(&f);
	make_graph(&f, which == TURNS_AUTO ? TURNS_ROUTES : which, turns);
	if (which == TURNS_AUTO && turns_are_safe(turns)) {
		turns_free(turns);
		make_graph(&f, TURNS_ALL, turns);
	}
	finder_free(&f);
}

/**
 * turns_free() - free what turns_find() and turns_choose() have made
 * @turns: graph
 */
void turns_free(struct turns *turns)
{
	free(turns->turn);
	free(turns->tier);
	digraph_free(&turns->g);
}

static bool *elided_flags(const struct turns *turns)
{
	bool *gone = need(calloc((size_t)turns->n + 1, sizeof(*gone)));
	uint32_t t;

	for (t = 0; t < turns->n; t++)
		gone[t] = turns->turn[t].elided;
	return gone;
}

/**
 * turns_are_safe() - whether the graph has no cycle without the elided turns
 * @turns: graph
 */
bool turns_are_safe(const struct turns *turns)
{
	uint32_t *order = need(calloc((size_t)turns->g.nodes + 1, sizeof(*order)));
	bool *gone = elided_flags(turns);
	bool safe = digraph_order(&turns->g, gone, order);

	free(order);
	free(gone);
	return safe;
}

/* ---- tiers ---- */

/* Boxes with hosts are in tier 1, their neighbours in 2, ... */
static uint32_t *find_tiers(const struct net *net, uint32_t root)
{
	uint32_t *tier = need(calloc((size_t)net->boxes + 1, sizeof(*tier)));
	uint32_t level, way, a, b;
	bool more = true;

	for (way = 0; root == FAR && way < 2 * net->cables; way++) {
		a = way_from(net, way);
		b = way_to(net, way);
		if (!forwards(net, a) && forwards(net, b))
			tier[b] = 1;
	}
	if (root != FAR)
		tier[root] = 1;
	for (level = 1; more; level++) {
		more = false;
		for (way = 0; way < 2 * net->cables; way++) {
			a = way_from(net, way);
			b = way_to(net, way);
			if (tier[a] != level || tier[b] || !forwards(net, b))
				continue;
			tier[b] = level + 1;
			more = true;
		}
	}
	return tier;
}

/* A Clos: each cable leads to the next tier, and routes go up, then down. */
static bool is_clos(const struct net *net, const struct turns *turns,
		    const uint32_t *tier)
{
	uint32_t way, t, a, b;
	const struct turn *turn;

	for (way = 0; way < 2 * net->cables; way += 2) {
		a = tier[way_from(net, way)];
		b = tier[way_to(net, way)];
		if (between_forwarders(net, way) &&
		    (!a || !b || (a + 1 != b && b + 1 != a)))
			return false;
	}
	for (t = 0; t < turns->n; t++) {
		turn = &turns->turn[t];
		b = tier[way_to(net, turn->in)];
		if (turn->routed && tier[way_from(net, turn->in)] > b &&
		    tier[way_to(net, turn->out)] > b)
			return false;
	}
	return true;
}

/* ---- the choice ---- */

/* true if @a is in a higher tier than @b, or in the same tier with a higher number */
static bool above(const uint32_t *tier, uint32_t a, uint32_t b)
{
	return tier[a] != tier[b] ? tier[a] > tier[b] : a > b;
}

/* Mark the down-up turns: each cycle has a lowest box, where packets come down
 * and go up again.
 */
static void mark_down_up(const struct net *net, const struct turns *turns,
			 const uint32_t *tier, bool *gone)
{
	const struct turn *turn;
	uint32_t t, b;

	for (t = 0; t < turns->n; t++) {
		turn = &turns->turn[t];
		b = way_to(net, turn->in);
		gone[t] = above(tier, way_from(net, turn->in), b) &&
			  above(tier, way_to(net, turn->out), b);
	}
}

/* Choose the down-up turns that are in a cycle. */
static void choose_down_up(const struct net *net, struct turns *turns, bool *gone)
{
	uint32_t *component = need(calloc((size_t)turns->g.nodes + 1, sizeof(*component)));
	uint32_t t;

	mark_down_up(net, turns, turns->tier, gone);
	digraph_components(&turns->g, NULL, component);
	for (t = 0; t < turns->n; t++)
		gone[t] &= component[turns->turn[t].in] == component[turns->turn[t].out];
	free(component);
}

/* Weight of a turn of the routes: more than all others together. */
static uint64_t routed_weight(const struct turns *turns)
{
	uint64_t others = 1;
	uint32_t t;

	for (t = 0; t < turns->n; t++)
		others += !turns->turn[t].routed;
	return others;
}

/* A box with most cables to others: a tree from there is flat. */
static uint32_t find_root(const struct net *net)
{
	uint32_t *n = need(calloc((size_t)net->boxes + 1, sizeof(*n)));
	uint32_t way, b, root = 0;

	for (way = 0; way < 2 * net->cables; way++)
		if (between_forwarders(net, way))
			n[way_from(net, way)]++;
	for (b = 0; b < net->boxes; b++)
		if (n[b] > n[root])
			root = b;
	free(n);
	return root;
}

/* Hint: the down-up turns of a tree with its root in the highest tier, so that
 * they are far from the root.
 */
static void hint_at(const struct net *net, const struct turns *turns, bool *gone)
{
	uint32_t *tier, b;

	if (!net->boxes)
		return;
	tier = find_tiers(net, find_root(net));
	for (b = 0; b < net->boxes; b++)
		tier[b] = net->boxes + 1 - tier[b];
	mark_down_up(net, turns, tier, gone);
	free(tier);
}

/* Hint for a Clos: the down-up turns, but not those that lead to a box of a
 * higher number than they come from: these close no circle there. So half of
 * the down-up turns are not elided.
 */
static void hint_by_tiers(const struct net *net, const struct turns *turns, bool *gone)
{
	uint32_t *tier = find_tiers(net, FAR), t;

	mark_down_up(net, turns, tier, gone);
	for (t = 0; t < turns->n; t++)
		gone[t] &= way_from(net, turns->turn[t].in) >=
			   way_to(net, turns->turn[t].out);
	free(tier);
}

/* Hint, if the turns of the routes make no circle: the turns that lead back in
 * an order of these. No turn of the routes is in this set, and so none in a
 * cheaper one, which is the condition for TURNS_AUTO to take TURNS_ALL.
 */
static void hint_by_routes(const struct turns *turns, bool *gone)
{
	uint32_t *order = need(calloc((size_t)turns->g.nodes + 1, sizeof(*order)));
	uint32_t *place = need(calloc((size_t)turns->g.nodes + 1, sizeof(*place)));
	uint32_t i, t;

	for (t = 0; t < turns->n; t++)
		gone[t] = !turns->turn[t].routed;
	if (digraph_nest(&turns->g, gone, order)) {
		for (i = 0; i < turns->g.nodes; i++)
			place[order[i]] = i;
		for (t = 0; t < turns->n; t++)
			gone[t] = place[turns->turn[t].in] <= place[turns->turn[t].out];
	}
	free(order);
	free(place);
}

static void choose_fewest(const struct net *net, struct turns *turns, bool *gone)
{
	uint64_t heavy = routed_weight(turns);
	uint64_t *weight = need(calloc((size_t)turns->n + 1, sizeof(*weight)));
	bool *hint[HINTS + 1] = {};
	struct feedback result;
	uint32_t t, i;

	for (t = 0; t < turns->n; t++)
		weight[t] = turns->turn[t].routed ? heavy : 1;
	for (i = 0; i < HINTS; i++)
		hint[i] = need(calloc((size_t)turns->n + 1, sizeof(**hint)));
	hint_by_routes(turns, hint[0]);
	hint_by_tiers(net, turns, hint[1]);
	hint_at(net, turns, hint[2]);
	feedback_edges(&turns->g, weight, (const bool *const *)hint, gone, &result);
	turns->fewest = result.cost == result.bound;
	turns->least_routed = result.bound / heavy;
	turns->least_others = result.bound % heavy;
	free(weight);
	for (i = 0; i < HINTS; i++)
		free(hint[i]);
}

/**
 * turns_choose() - elide turns so that there is no cycle
 * @net: network
 * @choose: how
 * @turns: from turns_find()
 *
 * Return: false for CHOOSE_DOWN_UP if this is no Clos.
 */
bool turns_choose(const struct net *net, enum turns_choose choose, struct turns *turns)
{
	bool *gone = need(calloc((size_t)turns->n + 1, sizeof(*gone)));
	uint32_t *tier = find_tiers(net, FAR);
	bool clos = is_clos(net, turns, tier);
	uint32_t t;

	if (choose == CHOOSE_AUTO)
		choose = clos ? CHOOSE_DOWN_UP : CHOOSE_FEWEST;
	turns->choose = choose;
	if (clos)
		turns->tier = tier;
	else
		free(tier);
	if (choose == CHOOSE_FEWEST)
		choose_fewest(net, turns, gone);
	else if (clos)
		choose_down_up(net, turns, gone);
	for (t = 0; t < turns->n; t++) {
		turns->turn[t].elided = gone[t];
		turns->elided += gone[t];
		turns->routed_elided += gone[t] && turns->turn[t].routed;
	}
	free(gone);
	return clos || choose == CHOOSE_FEWEST;
}
