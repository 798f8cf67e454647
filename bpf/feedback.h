/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directed graphs with cycles, and small sets of edges without which they have none
 * (feedback edge sets). No input, no output: the unit tests build it, too.
 */
#ifndef FEEDBACK_H
#define FEEDBACK_H

#include <stdbool.h>
#include <stdint.h>

#define FEEDBACK_EXACT	20	/* nodes of a component: up to here the set is the cheapest */
#define DIGRAPH_NONE	UINT32_MAX

/**
 * struct digraph - a directed graph; edges may be parallel
 * @nodes: number of nodes
 * @edges: number of edges
 * @from: node that edge e leaves
 * @to: node that it enters
 * @out_first: @out[@out_first[v]] up to @out[@out_first[v + 1] - 1] leave node v
 * @out: edges by the node that they leave
 * @in_first: the same of edges that enter v
 * @in: edges by the node that they enter
 */
struct digraph {
	uint32_t nodes;
	uint32_t edges;
	uint32_t *from;
	uint32_t *to;
	uint32_t *out_first;
	uint32_t *out;
	uint32_t *in_first;
	uint32_t *in;
};

/**
 * struct feedback - result of feedback_edges()
 * @cost: sum of the weights of the set
 * @bound: no set costs less; the set is the cheapest if it is @cost
 */
struct feedback {
	uint64_t cost;
	uint64_t bound;
};

void digraph_init(struct digraph *g, uint32_t nodes, uint32_t edges);
void digraph_index(struct digraph *g);
void digraph_free(struct digraph *g);
uint32_t digraph_components(const struct digraph *g, const bool *gone,
			    uint32_t *component);
void digraph_circles(const struct digraph *g, const bool *gone,
		     const uint32_t *component, bool *circle);
bool digraph_order(const struct digraph *g, const bool *gone, uint32_t *order);
bool digraph_nest(const struct digraph *g, const bool *gone, uint32_t *order);
uint32_t digraph_cycle(const struct digraph *g, const bool *gone, uint32_t edge,
		       uint32_t longest, uint32_t *cycle, uint64_t *work);
void feedback_edges(const struct digraph *g, const uint64_t *weight,
		    const bool *const *hints, bool *gone, struct feedback *result);

#endif /* FEEDBACK_H */
