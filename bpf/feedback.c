// SPDX-License-Identifier: GPL-2.0
/*
 * Small feedback edge sets.
 *
 * In an order of the nodes, some edges lead back: without these there is no
 * cycle, and the cheapest set belongs to an order. In each component up to
 * FEEDBACK_EXACT nodes are ordered by dynamic programming over their subsets.
 * More are ordered by several starts (Eades, Lin and Smyth 1993; the caller's
 * hints; the graph without the cycles below), each improved: a node at a time
 * is moved to its best place, then edges are put back in that no longer close a
 * cycle (Pearce and Kelly 2006 keep the order).
 *
 * The lower bound follows from cycles that share no edge: each set has an edge
 * of each of them (with weights: the local ratio of Demetrescu and Finocchi
 * 2003).
 */
#include <stdlib.h>
#include <string.h>

#include "feedback.h"
#include "memory.h"

/* Edges visited, in all components of more than FEEDBACK_EXACT nodes together: some
 * seconds. A large graph has to do with less.
 */
#define WORK_IMPROVE	400000000ULL
#define WORK_PACK	300000000ULL
#define ROUNDS		200	/* starts after the first ones, of small components */
#define SMALL		400	/* nodes: of these */

/* A component, its nodes counted from 0 */
struct part {
	struct digraph g;
	uint64_t *weight;
	uint32_t *edge;		/* in the whole graph */
	bool **hint;		/* as the caller's, NULL behind the last */

	uint32_t *order;
	uint32_t *place;	/* of each node in @order */
	bool *gone;
	bool *best;
	uint64_t best_cost;
	uint64_t bound;
	uint64_t work;
	uint64_t limit;		/* of the work, for this start */
	uint64_t improve_most;	/* share of WORK_IMPROVE, which it spends up to twice */
	uint64_t pack_most;	/* share of WORK_PACK */
	uint64_t improved;	/* what was spent of these */
	uint64_t packed;
	uint64_t seed;

	/* for the improvement */
	uint32_t *seen;		/* equals @search if this search has seen the node */
	uint32_t search;
	uint32_t *front;	/* nodes of two searches */
	uint32_t *slot;
};

static uint32_t random_below(struct part *p, uint32_t n)
{
	p->seed ^= p->seed >> 12;
	p->seed ^= p->seed << 25;
	p->seed ^= p->seed >> 27;
	return (p->seed * 0x2545f4914f6cdd1dULL >> 32) % n;
}

/* ---- the cheapest order, by subsets ---- */

/* Weight of the edges from @v back to nodes of @set, which stand before it */
static uint64_t back_weight(const struct part *p, uint32_t v, uint32_t set)
{
	const struct digraph *g = &p->g;
	uint64_t sum = 0;
	uint32_t i;

	for (i = g->out_first[v]; i < g->out_first[v + 1]; i++)
		if (set >> g->to[g->out[i]] & 1)
			sum += p->weight[g->out[i]];
	return sum;
}

static void order_exactly(struct part *p)
{
	uint32_t n = p->g.nodes, sets = 1U << n, set, v, i;
	uint64_t *cost = need(malloc(sets * sizeof(*cost)));
	uint8_t *last = need(malloc(sets));
	uint64_t c;

	cost[0] = 0;
	for (set = 1; set < sets; set++) {
		cost[set] = UINT64_MAX;
		for (v = 0; v < n; v++) {
			if (!(set >> v & 1))
				continue;
			c = cost[set & ~(1U << v)] +
			    back_weight(p, v, set & ~(1U << v));
			if (c >= cost[set])
				continue;
			cost[set] = c;
			last[set] = v;
		}
	}
	for (set = sets - 1, i = n; i--; set &= ~(1U << v)) {
		v = last[set];
		p->order[i] = v;
	}
	free(cost);
	free(last);
}

/* ---- from orders to sets and back ---- */

static void find_places(struct part *p)
{
	uint32_t i;

	for (i = 0; i < p->g.nodes; i++)
		p->place[p->order[i]] = i;
}

static bool leads_back(const struct part *p, uint32_t e)
{
	return p->place[p->g.to[e]] <= p->place[p->g.from[e]];
}

/* The edges that lead back in @order are the set. */
static void cut_by_order(struct part *p)
{
	uint32_t e;

	find_places(p);
	for (e = 0; e < p->g.edges; e++)
		p->gone[e] = leads_back(p, e);
}

static void keep_best(struct part *p)
{
	uint64_t cost = 0;
	uint32_t e;

	for (e = 0; e < p->g.edges; e++)
		cost += p->gone[e] ? p->weight[e] : 0;
	if (cost >= p->best_cost)
		return;
	p->best_cost = cost;
	memcpy(p->best, p->gone, p->g.edges * sizeof(*p->best));
}

/* ---- put edges back (Pearce and Kelly) ---- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Search onward from @v, up to the place @limit. Returns false if it comes to @target. */
static bool search_on(struct part *p, uint32_t v, uint32_t target, uint32_t limit,
		      uint32_t *found)
{
	const struct digraph *g = &p->g;
	uint32_t head = 0, n = 0, i, e, w;

	p->search++;
	p->front[n++] = v;
	p->seen[v] = p->search;
	while (head < n) {
		v = p->front[head++];
		p->work += g->out_first[v + 1] - g->out_first[v] + 1;
		for (i = g->out_first[v]; i < g->out_first[v + 1]; i++) {
			e = g->out[i];
			w = g->to[e];
			if (p->gone[e] || p->seen[w] == p->search ||
			    p->place[w] > limit)
				continue;
			if (w == target)
				return false;
			p->seen[w] = p->search;
			p->front[n++] = w;
		}
	}
	*found = n;
	return true;
}

/* Search backwards from @v, down to the place @limit, behind what is in @front. */
static uint32_t search_back(struct part *p, uint32_t v, uint32_t limit, uint32_t n)
{
	const struct digraph *g = &p->g;
	uint32_t head = n, i, e, w;

	p->search++;
	p->front[n++] = v;
	p->seen[v] = p->search;
	while (head < n) {
		v = p->front[head++];
		p->work += g->in_first[v + 1] - g->in_first[v] + 1;
		for (i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
			e = g->in[i];
			w = g->from[e];
			if (p->gone[e] || p->seen[w] == p->search ||
			    p->place[w] < limit)
				continue;
			p->seen[w] = p->search;
			p->front[n++] = w;
		}
	}
	return n;
}

/* front[first] up to front[end - 1], as places in order */
static void sort_places(struct part *p, uint32_t first, uint32_t end)
{
	uint32_t i;

	for (i = first; i < end; i++)
		p->front[i] = p->place[p->front[i]];
	qsort(p->front + first, end - first, sizeof(*p->front), by_number);
	for (i = first; i < end; i++)
		p->front[i] = p->order[p->front[i]];
}

/* Nodes that lead to the edge go before nodes that it leads to, in the places of both. */
static void reorder(struct part *p, uint32_t on, uint32_t all)
{
	uint32_t i, n = 0;

	sort_places(p, 0, on);
	sort_places(p, on, all);
	for (i = 0; i < all; i++)
		p->slot[i] = p->place[p->front[i]];
	qsort(p->slot, all, sizeof(*p->slot), by_number);
	for (i = on; i < all; i++)
		p->order[p->slot[n++]] = p->front[i];
	for (i = 0; i < on; i++)
		p->order[p->slot[n++]] = p->front[i];
	for (i = 0; i < all; i++)
		p->place[p->order[p->slot[i]]] = p->slot[i];
}

/* Put an edge back in, if it closes no cycle. */
static void put_back(struct part *p, uint32_t e)
{
	uint32_t v = p->g.from[e], w = p->g.to[e], on, all;

	if (v == w)
		return;
	if (leads_back(p, e)) {
		if (!search_on(p, w, v, p->place[v], &on))
			return;
		all = search_back(p, v, p->place[w], on);
		reorder(p, on, all);
	}
	p->gone[e] = false;
}

/* Heavy edges first: these should stay in the graph. */
static void put_all_back(struct part *p)
{
	uint64_t level = UINT64_MAX, next;
	uint32_t e;

	for (;; level = next) {
		next = 0;
		for (e = 0; e < p->g.edges; e++) {
			if (!p->gone[e])
				continue;
			if (p->weight[e] < level && p->weight[e] > next)
				next = p->weight[e];
		}
		if (!next)
			return;
		for (e = 0; e < p->g.edges && p->work < p->limit; e++)
			if (p->gone[e] && p->weight[e] == next)
				put_back(p, e);
	}
}

/* ---- move nodes ---- */

/* An edge of a node that moves, by the place of the other node */
struct step {
	uint32_t place;
	int64_t change;		/* of the cost, once the node stands behind it */
};

static int by_place(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static uint32_t list_steps(const struct part *p, uint32_t v, struct step *step)
{
	const struct digraph *g = &p->g;
	uint32_t n = 0, i, e;

	for (i = g->out_first[v]; i < g->out_first[v + 1]; i++) {
		e = g->out[i];
		if (g->to[e] != v)
			step[n++] = (struct step){ p->place[g->to[e]],
						   (int64_t)p->weight[e] };
	}
	for (i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
		e = g->in[i];
		if (g->from[e] != v)
			step[n++] = (struct step){ p->place[g->from[e]],
						   -(int64_t)p->weight[e] };
	}
	qsort(step, n, sizeof(*step), by_place);
	return n;
}

/* Move @v from its place to @to; those between move by one. */
static void move(struct part *p, uint32_t v, uint32_t to)
{
	uint32_t at = p->place[v], i;

	p->work += at > to ? at - to : to - at;
	for (; at < to; at++)
		p->order[at] = p->order[at + 1];
	for (; at > to; at--)
		p->order[at] = p->order[at - 1];
	p->order[to] = v;
	i = p->place[v] < to ? p->place[v] : to;
	for (at = p->place[v] > to ? p->place[v] : to; i <= at; i++)
		p->place[p->order[i]] = i;
}

/* Move @v to where the edges that lead back weigh least. Returns true if it has moved. */
static bool move_to_best(struct part *p, uint32_t v, struct step *step)
{
	uint32_t n = list_steps(p, v, step), i, at = p->place[v], best_at = at;
	int64_t sum = 0, best = 0, here = 0;

	p->work += 4 * n;
	for (i = 0; i < n && step[i].place < at; i++)
		here += step[i].change;
	best = here;
	for (i = 0; i <= n; i++) {
		/* before step[i] now, and behind all earlier ones */
		if (sum < best && (!i || i == n ||
				   step[i].place != step[i - 1].place)) {
			best = sum;
			best_at = i ? step[i - 1].place + 1 : 0;
		}
		if (i < n)
			sum += step[i].change;
	}
	if (best == here)
		return false;
	move(p, v, best_at > at ? best_at - 1 : best_at);
	return true;
}

static uint32_t most_edges(const struct digraph *g)
{
	uint32_t v, n, most = 0;

	for (v = 0; v < g->nodes; v++) {
		n = g->out_first[v + 1] - g->out_first[v] +
		    g->in_first[v + 1] - g->in_first[v];
		most = n > most ? n : most;
	}
	return most;
}

static void move_all(struct part *p)
{
	struct step *step = need(calloc(most_edges(&p->g) + 1, sizeof(*step)));
	bool moved = true;
	uint32_t v;

	find_places(p);
	while (moved && p->work < p->limit) {
		moved = false;
		for (v = 0; v < p->g.nodes && p->work < p->limit; v++)
			moved |= move_to_best(p, v, step);
	}
	free(step);
}

/* From an order: improve it until nothing changes, and remember the best. */
static void improve(struct part *p)
{
	uint64_t before;

	do {
		before = p->best_cost;
		move_all(p);
		cut_by_order(p);
		put_all_back(p);
		keep_best(p);
	} while (p->best_cost < before && p->work < p->limit);
}

/* ---- starts ---- */

/* Eades, Lin, Smyth: sinks last, sources first, else the node with most to give. */
struct eades {
	int64_t *gain;		/* weight of edges out, less that of edges in */
	uint32_t *ins;
	uint32_t *outs;
	bool *placed;
	uint32_t *ready;	/* sources and sinks to be placed */
	uint32_t n;
};

static void eades_place(struct part *p, struct eades *s, uint32_t v)
{
	const struct digraph *g = &p->g;
	uint32_t i, e, w;

	s->placed[v] = true;
	for (i = g->out_first[v]; i < g->out_first[v + 1]; i++) {
		e = g->out[i];
		w = g->to[e];
		s->gain[w] += p->weight[e];
		if (!--s->ins[w] && !s->placed[w])
			s->ready[s->n++] = w;
	}
	for (i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
		e = g->in[i];
		w = g->from[e];
		s->gain[w] -= p->weight[e];
		if (!--s->outs[w] && !s->placed[w])
			s->ready[s->n++] = w;
	}
}

static uint32_t eades_next(struct part *p, struct eades *s)
{
	uint32_t v, best = DIGRAPH_NONE;

	while (s->n) {
		v = s->ready[--s->n];
		if (!s->placed[v])
			return v;
	}
	p->work += p->g.nodes;
	for (v = 0; v < p->g.nodes; v++)
		if (!s->placed[v] &&
		    (best == DIGRAPH_NONE || s->gain[v] > s->gain[best]))
			best = v;
	return best;
}

static void order_greedily(struct part *p)
{
	uint32_t n = p->g.nodes, first = 0, last = n, e, v;
	struct eades s = {
		.gain = need(calloc(n, sizeof(*s.gain))),
		.ins = need(calloc(n, sizeof(*s.ins))),
		.outs = need(calloc(n, sizeof(*s.outs))),
		.placed = need(calloc(n, sizeof(*s.placed))),
		.ready = need(calloc(2 * (size_t)n, sizeof(*s.ready))),
	};

	for (e = 0; e < p->g.edges; e++) {
		s.gain[p->g.from[e]] += p->weight[e];
		s.gain[p->g.to[e]] -= p->weight[e];
		s.outs[p->g.from[e]]++;
		s.ins[p->g.to[e]]++;
	}
	while (first < last) {
		v = eades_next(p, &s);
		if (!s.outs[v])
			p->order[--last] = v;
		else
			p->order[first++] = v;
		eades_place(p, &s, v);
	}
	free(s.gain);
	free(s.ins);
	free(s.outs);
	free(s.placed);
	free(s.ready);
}

/* Start from a set: order the graph without it, and improve that. */
static void start_from(struct part *p, const bool *gone)
{
	if (digraph_order(&p->g, gone, p->order))
		improve(p);
}

/* ---- cycles that share no edge ---- */

/* Take from each cycle up to length @longest what its cheapest edge has left,
 * and add that to the bound.
 */
static void pack(struct part *p, uint64_t *left, bool *used_up, uint32_t longest,
		 uint32_t *cycle)
{
	const struct digraph *g = &p->g;
	uint32_t e, i, n;
	uint64_t least;

	for (e = 0; e < g->edges && p->work < p->pack_most; e++) {
		while (!used_up[e]) {
			n = digraph_cycle(g, used_up, e, longest, cycle,
					  &p->work);
			if (!n)
				break;
			least = left[e];
			for (i = 0; i < n; i++)
				least = left[cycle[i]] < least ? left[cycle[i]] :
								 least;
			for (i = 0; i < n; i++) {
				left[cycle[i]] -= least;
				used_up[cycle[i]] = !left[cycle[i]];
			}
			p->bound += least;
		}
	}
}

static void pack_cycles(struct part *p)
{
	uint32_t *cycle = need(calloc(p->g.nodes + 1, sizeof(*cycle)));
	uint64_t *left = need(calloc(p->g.edges + 1, sizeof(*left)));
	bool *used_up = need(calloc(p->g.edges + 1, sizeof(*used_up)));
	uint32_t longest;

	memcpy(left, p->weight, p->g.edges * sizeof(*left));
	for (longest = 2; longest < p->g.nodes; longest *= 2)
		pack(p, left, used_up, longest, cycle);
	pack(p, left, used_up, DIGRAPH_NONE, cycle);
	p->packed = p->work;
	p->work = 0;
	p->limit = p->improve_most;
	start_from(p, used_up);
	p->improved = p->work;
	free(cycle);
	free(left);
	free(used_up);
}

/* ---- a component ---- */

/* Move some nodes of the best order to random places, and improve that. */
static void shake(struct part *p)
{
	uint32_t i, n = p->g.nodes;

	digraph_order(&p->g, p->best, p->order);
	find_places(p);
	for (i = 0; i < 2 + n / 20; i++)
		move(p, random_below(p, n), random_below(p, n));
	improve(p);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Limit the work of a start, so that later ones have their share. */
static void share_work(struct part *p, uint32_t later)
{
	p->limit = p->work + less(p->improve_most, p->work) / (later + 1);
}

static void solve_large(struct part *p)
{
	uint32_t i, hints = 0;

	pack_cycles(p);
	p->work = 0;
	while (p->hint[hints])
		hints++;
	for (i = 0; i < hints && p->best_cost > p->bound; i++) {
		share_work(p, hints - i);
		start_from(p, p->hint[i]);
	}
	if (p->best_cost == p->bound)
		return;
	share_work(p, 0);
	order_greedily(p);
	improve(p);
	if (p->g.nodes > SMALL)
		return;
	for (i = 0; i < ROUNDS && p->best_cost > p->bound && p->work < p->limit; i++)
		shake(p);
}

static bool is_large(uint32_t nodes)
{
	return nodes > FEEDBACK_EXACT;
}

static void solve(struct part *p)
{
	p->best_cost = UINT64_MAX;
	p->seed = 20220404;
	if (is_large(p->g.nodes)) {
		solve_large(p);
		p->improved = p->work > p->improved ? p->work : p->improved;
		return;
	}
	order_exactly(p);
	cut_by_order(p);
	keep_best(p);
	p->bound = p->best_cost;
}

static void part_init(struct part *p, uint32_t nodes, uint32_t edges)
{
	digraph_init(&p->g, nodes, edges);
	p->weight = need(calloc(edges + 1, sizeof(*p->weight)));
	p->edge = need(calloc(edges + 1, sizeof(*p->edge)));
	p->order = need(calloc(nodes + 1, sizeof(*p->order)));
	p->place = need(calloc(nodes + 1, sizeof(*p->place)));
	p->gone = need(calloc(edges + 1, sizeof(*p->gone)));
	p->best = need(calloc(edges + 1, sizeof(*p->best)));
	p->seen = need(calloc(nodes + 1, sizeof(*p->seen)));
	p->front = need(calloc(2 * (size_t)nodes + 1, sizeof(*p->front)));
	p->slot = need(calloc(2 * (size_t)nodes + 1, sizeof(*p->slot)));
}

static void part_free(struct part *p)
{
	uint32_t i;

	for (i = 0; p->hint[i]; i++)
		free(p->hint[i]);
	free(p->hint);
	digraph_free(&p->g);
	free(p->weight);
	free(p->edge);
	free(p->order);
	free(p->place);
	free(p->gone);
	free(p->best);
	free(p->seen);
	free(p->front);
	free(p->slot);
}

/* Components and their nodes and edges, sorted by component; and the work that is left
 * for the large ones to come
 */
struct split {
	uint32_t *component;
	uint32_t *number;	/* of a node in its component */
	uint32_t *nodes;	/* of a component */
	uint32_t *first;	/* of its edges in @edge */
	uint32_t *edge;
	uint32_t n;
	uint64_t improve;
	uint64_t pack;
	uint64_t edges;		/* of these */
};

static void split_up(struct split *s, const struct digraph *g)
{
	uint32_t v, e, c;

	s->component = need(calloc(g->nodes + 1, sizeof(uint32_t)));
	s->number = need(calloc(g->nodes + 1, sizeof(uint32_t)));
	s->nodes = need(calloc(g->nodes + 1, sizeof(uint32_t)));
	s->first = need(calloc((size_t)g->nodes + 2, sizeof(uint32_t)));
	s->edge = need(calloc(g->edges + 1, sizeof(uint32_t)));
	s->n = digraph_components(g, NULL, s->component);
	for (v = 0; v < g->nodes; v++)
		s->number[v] = s->nodes[s->component[v]]++;
	for (e = 0; e < g->edges; e++)
		if (s->component[g->from[e]] == s->component[g->to[e]])
			s->first[s->component[g->from[e]] + 2]++;
	for (c = 2; c <= s->n + 1; c++)
		s->first[c] += s->first[c - 1];
	for (e = 0; e < g->edges; e++)
		if (s->component[g->from[e]] == s->component[g->to[e]])
			s->edge[s->first[s->component[g->from[e]] + 1]++] = e;
	s->improve = WORK_IMPROVE;
	s->pack = WORK_PACK;
	s->edges = 0;
	for (c = 0; c < s->n; c++)
		if (is_large(s->nodes[c]))
			s->edges += s->first[c + 1] - s->first[c];
}

static void split_free(struct split *s)
{
	free(s->component);
	free(s->number);
	free(s->nodes);
	free(s->first);
	free(s->edge);
}

static void copy_hints(struct part *p, const bool *const *hints)
{
	uint32_t n, e;

	for (n = 0; hints && hints[n]; n++) {
		p->hint = grow(p->hint, n, sizeof(*p->hint));
		p->hint[n] = need(calloc(p->g.edges + 1, sizeof(**p->hint)));
		for (e = 0; e < p->g.edges; e++)
			p->hint[n][e] = hints[n][p->edge[e]];
	}
	p->hint = grow(p->hint, n, sizeof(*p->hint));
	p->hint[n] = NULL;
}

/* Components share the work by their edges; what one leaves is for those to come. */
static void solve_in_share(struct part *p, struct split *s)
{
	if (is_large(p->g.nodes)) {
		p->improve_most = s->improve * p->g.edges / s->edges;
		p->pack_most = s->pack * p->g.edges / s->edges;
		s->edges -= p->g.edges;
	}
	solve(p);
	s->improve = less(s->improve, p->improved);
	s->pack = less(s->pack, p->packed);
}

static void solve_component(const struct digraph *g, struct split *s, uint32_t c,
			    const uint64_t *weight, const bool *const *hints, bool *gone,
			    struct feedback *result)
{
	uint32_t edges = s->first[c + 1] - s->first[c], i, e;
	struct part p = {};

	part_init(&p, s->nodes[c], edges);
	for (i = 0; i < edges; i++) {
		e = s->edge[s->first[c] + i];
		p.edge[i] = e;
		p.g.from[i] = s->number[g->from[e]];
		p.g.to[i] = s->number[g->to[e]];
		p.weight[i] = weight[e];
	}
	digraph_index(&p.g);
	copy_hints(&p, hints);
	solve_in_share(&p, s);
	for (i = 0; i < edges; i++)
		gone[p.edge[i]] = p.best[i];
	result->cost += p.best_cost;
	result->bound += p.bound;
	part_free(&p);
}

/**
 * feedback_edges() - edges without which a graph has no cycle
 * @g: graph
 * @weight: what it costs to lose an edge, 1 at least; the sum fits in 62 bits
 * @hints: sets to begin with, NULL behind the last; or NULL. They need not be
 *	   good. A hint that leaves no cycle never costs less than the result.
 * @gone: the set; each of its edges alone would close a cycle, except in very
 *	  large graphs
 * @result: cost of the set, and a lower bound for all sets
 */
void feedback_edges(const struct digraph *g, const uint64_t *weight,
		    const bool *const *hints, bool *gone, struct feedback *result)
{
	struct split s;
	uint32_t c;

	*result = (struct feedback){};
	memset(gone, 0, g->edges * sizeof(*gone));
	split_up(&s, g);
	for (c = 0; c < s.n; c++)
		if (s.first[c + 1] > s.first[c])
			solve_component(g, &s, c, weight, hints, gone, result);
	split_free(&s);
}
