/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Networks as backpressure sees them (BFC App. B): ports, the turns that packets take
 * from one to the next, and those that `elide` has to except so that pauses never run in
 * a circle. No input, no output: the unit tests build it, too.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "feedback.h"

#define TURNS_MAX	(UINT32_MAX / 2)	/* turns, edges and their sums have 32 bits */

/* What a box does */
enum box_kind {
	BOX_SWITCH,	/* forwards, with bfc: pauses, and is paused */
	BOX_HOST,	/* neither forwards nor pauses */
	BOX_PLAIN,	/* forwards without bfc */
	BOX_IGNORED,	/* of another network: has no cables here */
};

/* Which turns packets may take */
enum turns_which {
	TURNS_AUTO,	/* all, if that costs none of the routes' turns; else the routes' */
	TURNS_ROUTES,	/* those of the routes: shortest ones, or as listed */
	TURNS_ALL,	/* any, but not back through the port they came in through */
	TURNS_LOOPS,	/* any */
};

/* Which turns are elided */
enum turns_choose {
	CHOOSE_AUTO,	/* down-up in a Clos, else fewest */
	CHOOSE_DOWN_UP,	/* from a higher tier back to a higher tier */
	CHOOSE_FEWEST,
};

/**
 * struct cable - two ports
 * @box: the boxes at its ends
 */
struct cable {
	uint32_t box[2];
};

/**
 * struct route - listed by the user
 * @n: number of boxes
 * @box: from the first to the last
 */
struct route {
	uint32_t n;
	uint32_t *box;
};

/**
 * struct net - a network
 * @boxes: number of boxes
 * @kind: of each of them
 * @cables: number of cables
 * @cable: each of them
 * @routes: number of routes; 0: packets take shortest ones between hosts
 * @route: each of them
 *
 * A way is one direction of a cable, and so the egress port at its beginning: way
 * 2 * c leads from box[0] of cable c to box[1], way 2 * c + 1 back.
 */
struct net {
	uint32_t boxes;
	uint8_t *kind;
	uint32_t cables;
	struct cable *cable;
	uint32_t routes;
	struct route *route;
};

/**
 * struct turn - packets come in by one way and leave by another
 * @in: way to the switch; a pause goes to the port at its beginning
 * @out: way from the switch; the egress port, which elides
 * @routed: routes take it
 * @elided: packets on it cause no pauses
 */
struct turn {
	uint32_t in;
	uint32_t out;
	bool routed;
	bool elided;
};

/**
 * struct turns - the backpressure graph, and how it loses its cycles
 * @which: the turns that are in it: TURNS_ROUTES, TURNS_ALL or TURNS_LOOPS
 * @n: number of turns
 * @turn: each of them
 * @g: the graph: nodes are ways, edge t is the turn t, from @out to @in
 * @tier: of each box, from 1 on, 0 = none; NULL if this is no Clos
 * @choose: the choice made: CHOOSE_DOWN_UP or CHOOSE_FEWEST
 * @elided: turns
 * @routed_elided: of these, turns that routes take
 * @least_routed: no choice elides fewer of the routes' turns
 * @least_others: no choice with @least_routed elides fewer of the others
 * @fewest: so few are elided
 */
struct turns {
	enum turns_which which;
	uint32_t n;
	struct turn *turn;
	struct digraph g;
	uint32_t *tier;
	enum turns_choose choose;
	uint32_t elided;
	uint32_t routed_elided;
	uint32_t least_routed;
	uint32_t least_others;
	bool fewest;
};

uint32_t way_from(const struct net *net, uint32_t way);
uint32_t way_to(const struct net *net, uint32_t way);
bool way_has_bfc(const struct net *net, uint32_t way);
void turns_find(const struct net *net, enum turns_which which, struct turns *turns);
bool turns_choose(const struct net *net, enum turns_choose choose,
		  struct turns *turns);
bool turns_are_safe(const struct turns *turns);
void turns_free(struct turns *turns);

#endif /* TURNS_H */
