// SPDX-License-Identifier: GPL-2.0
/*
 * Directed graphs: components, orders, cycles.
 */
#include <stdlib.h>
#include <string.h>

#include "feedback.h"
#include "memory.h"

static uint32_t *numbers(size_t n)
{
	return need(calloc(n + 1, sizeof(uint32_t)));
}

/**
 * digraph_init() - allocate a graph; the caller writes its edges to @from and @to
 * @g: graph
 * @nodes: their number
 * @edges: their number
 */
void digraph_init(struct digraph *g, uint32_t nodes, uint32_t edges)
{
	g->nodes = nodes;
	g->edges = edges;
	g->from = numbers(edges);
	g->to = numbers(edges);
	g->out_first = numbers((size_t)nodes + 1);
	g->out = numbers(edges);
	g->in_first = numbers((size_t)nodes + 1);
	g->in = numbers(edges);
}

static void sort_by(const uint32_t *key, uint32_t nodes, uint32_t edges,
		    uint32_t *first, uint32_t *sorted)
{
	uint32_t e, v;

	memset(first, 0, (nodes + 1) * sizeof(*first));
	for (e = 0; e < edges; e++)
		first[key[e] + 1]++;
	for (v = 0; v < nodes; v++)
		first[v + 1] += first[v];
	for (e = 0; e < edges; e++)
		sorted[first[key[e]]++] = e;
	memmove(first + 1, first, nodes * sizeof(*first));
	first[0] = 0;
}

/**
 * digraph_index() - index the edges by their nodes, after all are written
 * @g: graph
 */
void digraph_index(struct digraph *g)
{
	sort_by(g->from, g->nodes, g->edges, g->out_first, g->out);
	sort_by(g->to, g->nodes, g->edges, g->in_first, g->in);
}

void digraph_free(struct digraph *g)
{
	free(g->from);
	free(g->to);
	free(g->out_first);
	free(g->out);
	free(g->in_first);
	free(g->in);
}

/* Tarjan's algorithm, with a stack of its own: paths may be long. */
struct tarjan {
	uint32_t *index;	/* order in which nodes were found, from 1 on */
	uint32_t *low;
	uint32_t *next;		/* edge to be looked at, as an index of out[] */
	uint32_t *path;
	uint32_t *open;		/* nodes that have no component yet */
	uint32_t depth;
	uint32_t opened;
	uint32_t found;
	uint32_t components;
};

static void tarjan_enter(struct tarjan *t, const struct digraph *g, uint32_t v)
{
	t->index[v] = ++t->found;
	t->low[v] = t->found;
	t->next[v] = g->out_first[v];
	t->path[t->depth++] = v;
	t->open[t->opened++] = v;
}

static void tarjan_leave(struct tarjan *t, uint32_t v, uint32_t *component)
{
	uint32_t w;

	t->depth--;
	if (t->depth) {
		w = t->path[t->depth - 1];
		if (t->low[v] < t->low[w])
			t->low[w] = t->low[v];
	}
	if (t->low[v] != t->index[v])
		return;
	do {
		w = t->open[--t->opened];
		component[w] = t->components;
	} while (w != v);
	t->components++;
}

static void tarjan_step(struct tarjan *t, const struct digraph *g,
			const bool *gone, uint32_t *component)
{
	uint32_t v = t->path[t->depth - 1], e, w;

	if (t->next[v] == g->out_first[v + 1]) {
		tarjan_leave(t, v, component);
		return;
	}
	e = g->out[t->next[v]++];
	if (gone && gone[e])
		return;
	w = g->to[e];
	if (!t->index[w])
		tarjan_enter(t, g, w);
	else if (component[w] == DIGRAPH_NONE && t->index[w] < t->low[v])
		t->low[v] = t->index[w];
}

/**
 * digraph_components() - strongly connected components
 * @g: graph
 * @gone: edges that are not there, or NULL
 * @component: of each node, counted from 0
 *
 * Return: how many there are. An edge leads to a component of the same or a smaller
 * number.
 */
uint32_t digraph_components(const struct digraph *g, const bool *gone,
			    uint32_t *component)
{
	struct tarjan t = {
		.index = numbers(g->nodes), .low = numbers(g->nodes),
		.next = numbers(g->nodes), .path = numbers(g->nodes),
		.open = numbers(g->nodes),
	};
	uint32_t v;

	memset(component, 0xff, g->nodes * sizeof(*component));
	for (v = 0; v < g->nodes; v++) {
		if (t.index[v])
			continue;
		tarjan_enter(&t, g, v);
		while (t.depth)
			tarjan_step(&t, g, gone, component);
	}
	free(t.index);
	free(t.low);
	free(t.next);
	free(t.path);
	free(t.open);
	return t.components;
}

/**
 * digraph_circles() - find the components that have cycles
 * @g: graph
 * @gone: edges that are not there, or NULL
 * @component: from digraph_components()
 * @circle: by component; becomes true for these, the caller has cleared it
 */
void digraph_circles(const struct digraph *g, const bool *gone,
		     const uint32_t *component, bool *circle)
{
	uint32_t e;

	for (e = 0; e < g->edges; e++)
		if (!(gone && gone[e]) && component[g->from[e]] == component[g->to[e]])
			circle[component[g->from[e]]] = true;
}

/**
 * digraph_order() - put nodes in an order in which every edge leads onward
 * @g: graph
 * @gone: edges that are not there, or NULL
 * @order: nodes, first to last
 *
 * Return: false if there is none: the graph has a cycle.
 */
bool digraph_order(const struct digraph *g, const bool *gone, uint32_t *order)
{
	uint32_t *left = numbers(g->nodes);
	uint32_t e, i, v, n = 0, done = 0;

	for (e = 0; e < g->edges; e++)
		left[g->to[e]] += !(gone && gone[e]);
	for (v = 0; v < g->nodes; v++)
		if (!left[v])
			order[n++] = v;
	while (done < n) {
		v = order[done++];
		for (i = g->out_first[v]; i < g->out_first[v + 1]; i++) {
			e = g->out[i];
			if (!(gone && gone[e]) && !--left[g->to[e]])
				order[n++] = g->to[e];
		}
	}
	free(left);
	return n == g->nodes;
}

/* Of digraph_nest(): lists of a piece */
enum { SOURCES, INNER, SINKS, LISTS };

struct nest {
	uint32_t *early;	/* edges of the longest path that leads to a node */
	uint32_t *late;		/* and of the longest one from it */
	uint32_t *up;		/* toward the node that stands for its piece */
	uint32_t *next;		/* of a list */
	uint32_t (*first)[LISTS];
	uint32_t (*last)[LISTS];
};

static uint32_t level(const struct nest *s, uint32_t v)
{
	return s->early[v] < s->late[v] ? s->early[v] : s->late[v];
}

static void find_paths(struct nest *s, const struct digraph *g, const bool *gone,
		       const uint32_t *order)
{
	uint32_t i, j, e, v, w;

	for (i = 0; i < g->nodes; i++) {
		v = order[i];
		for (j = g->in_first[v]; j < g->in_first[v + 1]; j++) {
			e = g->in[j];
			w = g->from[e];
			if (!gone[e] && s->early[w] >= s->early[v])
				s->early[v] = s->early[w] + 1;
		}
	}
	while (i--) {
		v = order[i];
		for (j = g->out_first[v]; j < g->out_first[v + 1]; j++) {
			e = g->out[j];
			w = g->to[e];
			if (!gone[e] && s->late[w] >= s->late[v])
				s->late[v] = s->late[w] + 1;
		}
	}
}

static uint32_t piece_of(struct nest *s, uint32_t v)
{
	while (s->up[v] != v) {
		s->up[v] = s->up[s->up[v]];
		v = s->up[v];
	}
	return v;
}

/* The list @from of piece @b goes behind the list @to of piece @a. */
static void append(struct nest *s, uint32_t a, int to, uint32_t b, int from)
{
	if (s->first[b][from] == DIGRAPH_NONE)
		return;
	if (s->first[a][to] == DIGRAPH_NONE)
		s->first[a][to] = s->first[b][from];
	else
		s->next[s->last[a][to]] = s->first[b][from];
	s->last[a][to] = s->last[b][from];
	s->first[b][from] = DIGRAPH_NONE;
}

static void unite(struct nest *s, uint32_t v, uint32_t w)
{
	int list;

	if (level(s, w) < level(s, v))
		return;
	v = piece_of(s, v);
	w = piece_of(s, w);
	if (v == w)
		return;
	for (list = 0; list < LISTS; list++)
		append(s, v, list, w, list);
	s->up[w] = v;
}

/* A node joins the pieces that it has edges to. */
static void nest_node(struct nest *s, const struct digraph *g, const bool *gone, uint32_t v)
{
	uint32_t i;

	for (i = g->out_first[v]; i < g->out_first[v + 1]; i++)
		if (!gone[g->out[i]])
			unite(s, v, g->to[g->out[i]]);
	for (i = g->in_first[v]; i < g->in_first[v + 1]; i++)
		if (!gone[g->in[i]])
			unite(s, v, g->from[g->in[i]]);
}

/* Join sources, inner nodes and sinks in one list, the inner nodes of a larger piece. */
static void close_piece(struct nest *s, uint32_t piece)
{
	append(s, piece, SOURCES, piece, INNER);
	append(s, piece, SOURCES, piece, SINKS);
	append(s, piece, INNER, piece, SOURCES);
}

static void nest_init(struct nest *s, uint32_t nodes)
{
	size_t room = ((size_t)nodes + 1) * sizeof(*s->first);
	uint32_t v;

	s->early = numbers(nodes);
	s->late = numbers(nodes);
	s->up = numbers(nodes);
	s->next = numbers(nodes);
	s->first = need(malloc(room));
	s->last = need(malloc(room));
	memset(s->first, 0xff, room);
	memset(s->next, 0xff, nodes * sizeof(*s->next));
	for (v = 0; v < nodes; v++)
		s->up[v] = v;
}

static void nest_free(struct nest *s)
{
	free(s->early);
	free(s->late);
	free(s->up);
	free(s->next);
	free(s->first);
	free(s->last);
}

/* Nodes by their level, the highest first: these are the innermost. */
static void sort_by_level(const struct nest *s, uint32_t nodes, uint32_t *sorted)
{
	uint32_t *first = numbers((size_t)nodes + 1), v, i;

	for (v = 0; v < nodes; v++)
		first[nodes - level(s, v)]++;
	for (i = 1; i <= nodes; i++)
		first[i] += first[i - 1];
	for (v = 0; v < nodes; v++)
		sorted[first[nodes - level(s, v) - 1]++] = v;
	free(first);
}

static void nest_all(struct nest *s, const struct digraph *g, const bool *gone,
		     const uint32_t *sorted)
{
	uint32_t i, end, v;
	int list;

	for (i = 0; i < g->nodes; i = end) {
		for (end = i; end < g->nodes && level(s, sorted[end]) == level(s, sorted[i]);
		     end++) {
			v = sorted[end];
			list = s->early[v] <= s->late[v] ? SOURCES : SINKS;
			s->first[v][list] = v;
			s->last[v][list] = v;
		}
		for (v = i; v < end; v++)
			nest_node(s, g, gone, sorted[v]);
		for (v = i; v < end; v++)
			close_piece(s, piece_of(s, sorted[v]));
	}
}

/**
 * digraph_nest() - an order like that of digraph_order(), one piece after another
 * @g: graph
 * @gone: edges that are not there
 * @order: nodes, first to last
 *
 * A piece is a set of nodes that edges join, in either direction. Its sources
 * are first, its sinks last, and between them the pieces that are left without
 * both, in the same way: paths through one are not mixed with paths through
 * another.
 *
 * Return: false if there is none: the graph has a cycle.
 */
bool digraph_nest(const struct digraph *g, const bool *gone, uint32_t *order)
{
	struct nest s;
	uint32_t *sorted, v, w, n = 0;

	if (!digraph_order(g, gone, order))
		return false;
	nest_init(&s, g->nodes);
	sorted = numbers(g->nodes);
	find_paths(&s, g, gone, order);
	sort_by_level(&s, g->nodes, sorted);
	nest_all(&s, g, gone, sorted);
	for (v = 0; v < g->nodes; v++)
		for (w = s.first[v][INNER]; w != DIGRAPH_NONE; w = s.next[w])
			order[n++] = w;
	free(sorted);
	nest_free(&s);
	return true;
}

/* Of digraph_cycle(): breadth first, from the end of an edge */
struct search {
	uint32_t *by;		/* edge that a node was found by; or DIGRAPH_NONE */
	uint32_t *queue;
	uint64_t looks;		/* edges visited */
};

static uint32_t trace(const struct digraph *g, const struct search *s,
		      uint32_t edge, uint32_t *cycle)
{
	uint32_t n = 0, v, e, i;

	cycle[n++] = edge;
	for (v = g->from[edge]; v != g->to[edge]; v = g->from[e]) {
		e = s->by[v];
		cycle[n++] = e;
	}
	/* All but the first edge are in reverse order. */
	for (i = 1; i < n - i; i++) {
		e = cycle[i];
		cycle[i] = cycle[n - i];
		cycle[n - i] = e;
	}
	return n;
}

static bool breadth_first(const struct digraph *g, const bool *gone,
			  struct search *s, uint32_t edge, uint32_t longest)
{
	uint32_t head = 0, tail = 0, level = 1, end = 1, v, e, i;

	s->queue[tail++] = g->to[edge];
	s->by[g->to[edge]] = edge;
	while (head < tail && level < longest) {
		v = s->queue[head++];
		s->looks += g->out_first[v + 1] - g->out_first[v];
		for (i = g->out_first[v]; i < g->out_first[v + 1]; i++) {
			e = g->out[i];
			if ((gone && gone[e]) || s->by[g->to[e]] != DIGRAPH_NONE)
				continue;
			s->by[g->to[e]] = e;
			if (g->to[e] == g->from[edge])
				return true;
			s->queue[tail++] = g->to[e];
		}
		if (head == end) {
			level++;
			end = tail;
		}
	}
	return false;
}

/**
 * digraph_cycle() - a shortest cycle through an edge
 * @g: graph
 * @gone: edges that are not there, or NULL
 * @edge: the edge
 * @longest: look for cycles of so many edges at most
 * @cycle: its edges, @edge first; room for all nodes
 * @work: grows by the number of edges visited; or NULL
 *
 * Return: number of edges, 0 if there is no such cycle.
 */
uint32_t digraph_cycle(const struct digraph *g, const bool *gone, uint32_t edge,
		       uint32_t longest, uint32_t *cycle, uint64_t *work)
{
	struct search s = { numbers(g->nodes), numbers(g->nodes), 1 + g->nodes / 16 };
	uint32_t n = 0;

	memset(s.by, 0xff, g->nodes * sizeof(*s.by));
	cycle[0] = edge;
	if (g->from[edge] == g->to[edge])
		n = 1;
	else if (breadth_first(g, gone, &s, edge, longest))
		n = trace(g, &s, edge, cycle);
	if (work)
		*work += s.looks;
	free(s.by);
	free(s.queue);
	return n;
}
