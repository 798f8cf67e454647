// SPDX-License-Identifier: GPL-2.0
/*
 * Feedback edge sets: is what they leave free of cycles, are small ones the cheapest,
 * and are bounds and cycles what they claim to be?
 */
#include "unit.h"
#include "feedback.h"

#define SMALL_NODES	7	/* all orders of so many are tried */
#define SMALL_EDGES	13	/* all sets of so many are tried */

struct case_graph {
	struct digraph g;
	uint64_t *weight;
	bool *gone;
	uint32_t *number;
};

static void graph_new(struct case_graph *c, uint32_t nodes, uint32_t edges)
{
	digraph_init(&c->g, nodes, edges);
	c->weight = calloc(edges + 1, sizeof(*c->weight));
	c->gone = calloc(edges + 1, sizeof(*c->gone));
	c->number = calloc(nodes + 1, sizeof(*c->number));
}

static void graph_free(struct case_graph *c)
{
	digraph_free(&c->g);
	free(c->weight);
	free(c->gone);
	free(c->number);
}

/* Edges between any nodes; a tenth of them from a node to itself. */
static void graph_random(struct case_graph *c, uint32_t nodes, uint32_t edges,
			 uint32_t heaviest, u64 *seed)
{
	uint32_t e;

	graph_new(c, nodes, edges);
	for (e = 0; e < edges; e++) {
		c->g.from[e] = (unit_random(seed) >> 32) % nodes;
		c->g.to[e] = (unit_random(seed) >> 32) % 10 ?
			(unit_random(seed) >> 32) % nodes : c->g.from[e];
		c->weight[e] = 1 + (unit_random(seed) >> 32) % heaviest;
	}
	digraph_index(&c->g);
}

static uint64_t cost(const struct case_graph *c, const bool *gone)
{
	uint64_t sum = 0;
	uint32_t e;

	for (e = 0; e < c->g.edges; e++)
		sum += gone[e] ? c->weight[e] : 0;
	return sum;
}

/* No cycle, told in another way than digraph_order() does: reach yourself. */
static bool no_cycle(const struct digraph *g, const bool *gone)
{
	uint64_t reach[64] = {};
	uint32_t round, e;

	for (round = 0; round < g->nodes; round++)
		for (e = 0; e < g->edges; e++)
			if (!gone[e])
				reach[g->from[e]] |= reach[g->to[e]] |
						     1ULL << g->to[e];
	for (e = 0; e < g->nodes; e++)
		if (reach[e] >> e & 1)
			return false;
	return true;
}

static uint64_t cheapest_set(const struct case_graph *c)
{
	bool gone[SMALL_EDGES + 1];
	uint64_t best = UINT64_MAX;
	uint32_t set, e;

	for (set = 0; set < 1U << c->g.edges; set++) {
		for (e = 0; e < c->g.edges; e++)
			gone[e] = set >> e & 1;
		if (cost(c, gone) < best && no_cycle(&c->g, gone))
			best = cost(c, gone);
	}
	return best;
}

/* Over all orders of nodes: more edges than sets allow */
static uint64_t cheapest_order(const struct case_graph *c, uint32_t *order, uint32_t n)
{
	uint64_t best = UINT64_MAX, this;
	uint32_t i, e, place[SMALL_NODES + 1], v;

	if (n == c->g.nodes) {
		for (i = 0; i < n; i++)
			place[order[i]] = i;
		for (this = 0, e = 0; e < c->g.edges; e++)
			if (place[c->g.to[e]] <= place[c->g.from[e]])
				this += c->weight[e];
		return this;
	}
	for (v = 0; v < c->g.nodes; v++) {
		for (i = 0; i < n && order[i] != v; i++)
			;
		if (i < n)
			continue;
		order[n] = v;
		this = cheapest_order(c, order, n + 1);
		best = this < best ? this : best;
	}
	return best;
}

static bool is_minimal(struct case_graph *c)
{
	bool minimal = true;
	uint32_t e;

	for (e = 0; e < c->g.edges; e++) {
		if (!c->gone[e])
			continue;
		c->gone[e] = false;
		minimal &= !digraph_order(&c->g, c->gone, c->number);
		c->gone[e] = true;
	}
	return minimal;
}

static void test_cheapest_set(void)
{
	u64 seed = 1, want;
	uint32_t i, cut = 0;

	for (i = 0; i < 400; i++) {
		struct case_graph c;
		struct feedback f;

		graph_random(&c, 2 + i % 6, 1 + i % SMALL_EDGES, i % 2 ? 1 : 9, &seed);
		feedback_edges(&c.g, c.weight, NULL, c.gone, &f);
		want = cheapest_set(&c);
		cut += !!want;
		CHECK(no_cycle(&c.g, c.gone), "graph %u", i);
		CHECK(f.cost == want && f.bound == want, "graph %u: %llu, %llu", i,
		      (unsigned long long)f.cost, (unsigned long long)want);
		CHECK(cost(&c, c.gone) == f.cost);
		CHECK(is_minimal(&c));
		graph_free(&c);
	}
	CHECK(cut > 200, "only %u graphs with cycles", cut);
}

static void test_cheapest_order(void)
{
	uint32_t i, order[SMALL_NODES];
	u64 seed = 2, want;

	for (i = 0; i < 60; i++) {
		struct case_graph c;
		struct feedback f;

		graph_random(&c, SMALL_NODES, 20 + i, i % 3 ? 5 : 1, &seed);
		feedback_edges(&c.g, c.weight, NULL, c.gone, &f);
		want = cheapest_order(&c, order, 0);
		CHECK(f.cost == want && f.bound == want, "graph %u: %llu, %llu", i,
		      (unsigned long long)f.cost, (unsigned long long)want);
		CHECK(no_cycle(&c.g, c.gone), "graph %u", i);
		graph_free(&c);
	}
}

/*
 * Copies of a small graph whose cheapest set is known, made one component of more
 * than FEEDBACK_EXACT nodes: a cycle through all copies costs one cheap edge, and
 * breaks none of their own cycles.
 */
#define COPIES	5
static void chain(struct case_graph *c, const struct case_graph *small)
{
	uint32_t i, e, n = small->g.nodes, m = small->g.edges, at;

	graph_new(c, COPIES * n, COPIES * (m + 1));
	for (i = 0; i < COPIES; i++) {
		for (e = 0; e < m; e++) {
			at = i * (m + 1) + e;
			c->g.from[at] = i * n + small->g.from[e];
			c->g.to[at] = i * n + small->g.to[e];
			c->weight[at] = small->weight[e];
		}
		at = i * (m + 1) + m;
		c->g.from[at] = i * n;
		c->g.to[at] = (i + 1) % COPIES * n;
		c->weight[at] = 1;
	}
	digraph_index(&c->g);
}

static void test_large_from_small(void)
{
	uint32_t i, exact = 0, proven = 0, order[SMALL_NODES];
	u64 seed = 3, want;

	for (i = 0; i < 40; i++) {
		struct case_graph small, c;
		struct feedback f;

		graph_random(&small, 6, 10 + i % 20, i % 2 ? 7 : 1, &seed);
		want = COPIES * cheapest_order(&small, order, 0) + 1;
		chain(&c, &small);
		feedback_edges(&c.g, c.weight, NULL, c.gone, &f);
		CHECK(no_cycle(&c.g, c.gone), "graph %u", i);
		CHECK(cost(&c, c.gone) == f.cost);
		CHECK(f.cost >= want && f.bound <= want, "graph %u: %llu to %llu, %llu",
		      i, (unsigned long long)f.bound, (unsigned long long)f.cost,
		      (unsigned long long)want);
		CHECK(is_minimal(&c));
		exact += f.cost == want;
		proven += f.bound == want;
		graph_free(&small);
		graph_free(&c);
	}
	/* By starts and moves alone, without being sure of it */
	CHECK(exact == 40, "only %u of 40 are the cheapest", exact);
	CHECK(proven >= 10, "only %u of 40 are known to be", proven);
}

static void test_hint(void)
{
	const bool *hints[3] = {};
	struct case_graph c;
	struct feedback f;
	uint32_t e, i;
	u64 seed = 4;
	bool *good, *bad;

	for (i = 0; i < 20; i++) {
		graph_random(&c, 60, 200, 3, &seed);
		good = calloc(c.g.edges, sizeof(*good));
		bad = calloc(c.g.edges, sizeof(*bad));
		/* Good or bad or no set at all, in any order: the result is one. */
		for (e = 0; e < c.g.edges; e++) {
			good[e] = c.g.from[e] >= c.g.to[e];
			bad[e] = e % 3;
		}
		hints[i % 2] = good;
		hints[!(i % 2)] = i < 10 ? bad : NULL;
		feedback_edges(&c.g, c.weight, hints, c.gone, &f);
		CHECK(no_cycle(&c.g, c.gone));
		CHECK(cost(&c, c.gone) == f.cost && f.bound <= f.cost);
		CHECK(is_minimal(&c), "graph %u", i);
		CHECK(f.cost <= cost(&c, good) || !hints[0]);
		free(good);
		free(bad);
		graph_free(&c);
	}
}

/* Nodes of a piece in a row, its first sources first and its last sinks last */
static void check_piece(const struct case_graph *c, const uint32_t *order, uint32_t n)
{
	uint32_t ins[64] = {}, outs[64] = {}, e, i, inner = 0, sinks = 0;

	for (e = 0; e < c->g.edges; e++) {
		ins[c->g.to[e]] += !c->gone[e];
		outs[c->g.from[e]] += !c->gone[e];
	}
	for (i = 0; i < n; i++) {
		CHECK(ins[order[i]] || (!inner && !sinks));
		CHECK(!ins[order[i]] || !outs[order[i]] || !sinks);
		inner += ins[order[i]] && outs[order[i]];
		sinks += ins[order[i]] && !outs[order[i]];
	}
}

static void find_pieces(const struct case_graph *c, uint32_t *piece)
{
	uint32_t round, v, e;

	for (v = 0; v < c->g.nodes; v++)
		piece[v] = v;
	for (round = 0; round < c->g.nodes; round++) {
		for (e = 0; e < c->g.edges; e++) {
			if (c->gone[e])
				continue;
			v = piece[c->g.from[e]] < piece[c->g.to[e]] ? piece[c->g.from[e]] :
								      piece[c->g.to[e]];
			piece[c->g.from[e]] = v;
			piece[c->g.to[e]] = v;
		}
	}
}

static void test_nest(void)
{
	uint32_t place[64], piece[64], i, e, v, n, pieces;
	struct case_graph c;
	u64 seed = 7;

	for (i = 0; i < 200; i++) {
		graph_random(&c, 2 + i % 60, i, 1, &seed);
		CHECK(digraph_nest(&c.g, c.gone, c.number) ==
		      digraph_order(&c.g, c.gone, c.number));
		for (e = 0; e < c.g.edges; e++)
			c.gone[e] = c.g.from[e] >= c.g.to[e] || e % 4;
		find_pieces(&c, piece);
		CHECK(digraph_nest(&c.g, c.gone, c.number));
		for (v = 0; v < c.g.nodes; v++)
			place[c.number[v]] = v;
		for (e = 0; e < c.g.edges; e++)
			CHECK(c.gone[e] || place[c.g.from[e]] < place[c.g.to[e]]);
		for (pieces = 0, v = 0; v < c.g.nodes; v += n) {
			for (n = 1; v + n < c.g.nodes; n++)
				if (piece[c.number[v + n]] != piece[c.number[v]])
					break;
			check_piece(&c, c.number + v, n);
			pieces++;
		}
		for (v = 0; v < c.g.nodes; v++)
			pieces -= piece[v] == v;
		CHECK(!pieces, "graph %u", i);
		graph_free(&c);
	}
	/* Two diamonds that lead from one source to one sink: not mixed */
	graph_new(&c, 10, 12);
	for (i = 0; i < 2; i++) {
		static const uint32_t from[] = { 8, 0, 0, 1, 2, 3 }, to[] = { 0, 1, 2, 3, 3, 9 };

		for (e = 0; e < 6; e++) {
			c.g.from[6 * i + e] = from[e] + (from[e] < 8 ? 4 * i : 0);
			c.g.to[6 * i + e] = to[e] + (to[e] < 8 ? 4 * i : 0);
		}
	}
	digraph_index(&c.g);
	CHECK(digraph_nest(&c.g, c.gone, c.number));
	CHECK(c.number[0] == 8 && c.number[9] == 9);
	for (v = 1; v < 9; v++)
		CHECK(c.number[v] / 4 == c.number[v < 5 ? 1 : 5] / 4, "place %u", v);
	graph_free(&c);
}

/* The shortest cycle through an edge, by a walk that forgets nothing */
static uint32_t shortest(const struct digraph *g, uint32_t edge)
{
	uint64_t at = 1ULL << g->to[edge], next;
	uint32_t n, e;

	for (n = 1; n <= g->nodes; n++) {
		if (at >> g->from[edge] & 1)
			return n;
		for (next = 0, e = 0; e < g->edges; e++)
			if (at >> g->from[e] & 1)
				next |= 1ULL << g->to[e];
		at = next;
	}
	return 0;
}

static void test_cycles(void)
{
	uint32_t cycle[64], i, e, k, n, want;
	struct case_graph c;
	u64 seed = 5;

	for (i = 0; i < 60; i++) {
		graph_random(&c, 3 + i % 30, 10 + i, 1, &seed);
		for (e = 0; e < c.g.edges; e++) {
			n = digraph_cycle(&c.g, NULL, e, DIGRAPH_NONE, cycle,
					  NULL);
			want = shortest(&c.g, e);
			CHECK(n == want, "edge %u: %u, %u", e, n, want);
			CHECK(!n || cycle[0] == e);
			for (k = 0; k < n; k++)
				CHECK(c.g.to[cycle[k]] == c.g.from[cycle[(k + 1) % n]]);
			for (k = 1; n && k < n + 2; k++)
				CHECK(!!digraph_cycle(&c.g, NULL, e, k, cycle, NULL) ==
				      (k >= n));
		}
		graph_free(&c);
	}
}

static void test_components(void)
{
	uint64_t reach[32];
	struct case_graph c;
	uint32_t i, e, v, w, n, round;
	bool circle[33], *gone;
	u64 seed = 6;

	for (i = 0; i < 100; i++) {
		graph_random(&c, 1 + i % 32, i, 1, &seed);
		gone = c.gone;
		for (e = 0; e < c.g.edges; e++)
			gone[e] = !(unit_random(&seed) >> 61);
		for (v = 0; v < c.g.nodes; v++)
			reach[v] = 0;
		for (round = 0; round < c.g.nodes; round++)
			for (e = 0; e < c.g.edges; e++)
				if (!gone[e])
					reach[c.g.from[e]] |= reach[c.g.to[e]] |
							      1ULL << c.g.to[e];
		n = digraph_components(&c.g, gone, c.number);
		memset(circle, 0, sizeof(circle));
		digraph_circles(&c.g, gone, c.number, circle);
		for (v = 0; v < c.g.nodes; v++) {
			CHECK(c.number[v] < n);
			CHECK(circle[c.number[v]] == (reach[v] >> v & 1));
			for (w = 0; w < c.g.nodes; w++)
				CHECK((c.number[v] == c.number[w]) ==
				      (v == w || (reach[v] >> w & 1 &&
						  reach[w] >> v & 1)));
		}
		for (e = 0; e < c.g.edges; e++)
			CHECK(gone[e] || c.number[c.g.to[e]] <= c.number[c.g.from[e]]);
		graph_free(&c);
	}
}

static void test_nothing(void)
{
	struct case_graph c;
	struct feedback f;

	graph_new(&c, 0, 0);
	digraph_index(&c.g);
	feedback_edges(&c.g, c.weight, NULL, c.gone, &f);
	CHECK(!f.cost && !f.bound);
	graph_free(&c);
}

static struct unit_case cases[] = {
	{ "components are what reaches each other", test_components },
	{ "a cycle is a shortest one", test_cycles },
	{ "small sets are the cheapest of all sets", test_cheapest_set },
	{ "small sets are those of the cheapest of all orders", test_cheapest_order },
	{ "large ones, too, where that is known", test_large_from_small },
	{ "hints are improved, bad ones do no harm", test_hint },
	{ "an order of one piece after another", test_nest },
	{ "an empty graph", test_nothing },
};

#include "unit_main.h"
