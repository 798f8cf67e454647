// SPDX-License-Identifier: GPL-2.0
/*
 * Turns of networks: those of routes are what walks along all shortest paths find; and
 * what is elided leaves no cycle, costs what it should in rings, trees and Clos
 * networks, and takes no longer than seconds where there are hundreds of switches.
 */
#include <time.h>

#include "unit.h"
#include "turns.h"

#define BOXES	2000
#define CABLES	40000

static struct net net;
static uint8_t kind[BOXES];
static struct cable cable[CABLES];

static uint32_t box(enum box_kind k)
{
	kind[net.boxes] = k;
	return net.boxes++;
}

static void join(uint32_t a, uint32_t b)
{
	cable[net.cables++] = (struct cable){ { a, b } };
}

static void net_new(void)
{
	net = (struct net){ .kind = kind, .cable = cable };
}

static void add_hosts(uint32_t at, uint32_t n)
{
	while (n--)
		join(at, box(BOX_HOST));
}

static void switches(uint32_t n)
{
	net_new();
	while (n--)
		box(BOX_SWITCH);
}

static void ring(uint32_t n)
{
	uint32_t i;

	switches(n);
	for (i = 0; i < n; i++) {
		join(i, (i + 1) % n);
		add_hosts(i, 1);
	}
}

static void torus(uint32_t rows, uint32_t columns)
{
	uint32_t r, c;

	switches(rows * columns);
	for (r = 0; r < rows; r++) {
		for (c = 0; c < columns; c++) {
			join(r * columns + c, (r + 1) % rows * columns + c);
			join(r * columns + c, r * columns + (c + 1) % columns);
			add_hosts(r * columns + c, 1);
		}
	}
}

/* Leaves and spines are numbered from @leaf and @spine on. */
static void numbered_clos(uint32_t leaf, uint32_t leaves, uint32_t spine, uint32_t spines,
			  uint32_t hosts)
{
	uint32_t l, s;

	switches(leaves + spines);
	for (l = 0; l < leaves; l++) {
		for (s = 0; s < spines; s++)
			join(leaf + l, spine + s);
		add_hosts(leaf + l, hosts);
	}
}

static void clos(uint32_t leaves, uint32_t spines, uint32_t hosts)
{
	numbered_clos(0, leaves, leaves, spines, hosts);
}

/* Of switches with k ports: k pods of k/2 edges and k/2 aggregations */
static void fat_tree(uint32_t k)
{
	uint32_t half = k / 2, pod, i, j, edge, agg;

	switches(k * k + half * half);
	for (pod = 0; pod < k; pod++) {
		for (i = 0; i < half; i++) {
			edge = pod * k + i;
			agg = pod * k + half + i;
			for (j = 0; j < half; j++) {
				join(edge, pod * k + half + j);
				join(agg, k * k + i * half + j);
			}
			add_hosts(edge, half);
		}
	}
}

static uint32_t random_below(u64 *seed, uint32_t n)
{
	return (unit_random(seed) >> 32) % n;
}

/* One more piece. Every switch has about so many cables to others, by chance. */
static void random_piece(uint32_t n, uint32_t cables, u64 *seed)
{
	uint32_t first = net.boxes, i, a, b;

	for (i = 0; i < n; i++)
		box(BOX_SWITCH);
	for (i = 1; i < n; i++)
		join(first + i, first + random_below(seed, i));
	while (i++ < cables) {
		a = random_below(seed, n);
		b = random_below(seed, n);
		if (a != b)
			join(first + a, first + b);
	}
}

static void random_net(uint32_t n, uint32_t cables, u64 *seed)
{
	net_new();
	random_piece(n, cables, seed);
}

#define NO_WAY	UINT32_MAX

/* A way by chance to a box of a higher rank */
static uint32_t way_up(uint32_t from, const uint32_t *rank, u64 *seed)
{
	uint32_t way, chosen = NO_WAY, n = 0;

	for (way = 0; way < 2 * net.cables; way++)
		if (way_from(&net, way) == from && rank[way_to(&net, way)] > rank[from] &&
		    !random_below(seed, ++n))
			chosen = way;
	return chosen;
}

/* Listed routes that make no circle: each box has a rank, and they lead to higher ones. */
static void routes_up(uint32_t n, u64 *seed)
{
	static struct route route[CABLES];
	static uint32_t box[BOXES][64];
	uint32_t rank[BOXES], i, way;

	for (i = 0; i < net.boxes; i++)
		rank[i] = unit_random(seed) >> 32;
	net.route = route;
	while (net.routes < n) {
		struct route *r = &route[net.routes];

		r->box = box[net.routes];
		r->box[0] = random_below(seed, net.boxes);
		for (r->n = 1; r->n < 64; r->n++) {
			way = way_up(r->box[r->n - 1], rank, seed);
			if (way == NO_WAY)
				break;
			r->box[r->n] = way_to(&net, way);
		}
		net.routes += r->n > 2;
	}
}

/* Kahn's algorithm on the turns themselves: is each way at last free to send? */
static bool safe(const struct turns *turns)
{
	static uint32_t waits[2 * CABLES];
	bool more = true, *done = calloc(turns->n + 1, sizeof(*done));
	uint32_t t, left = 0;

	memset(waits, 0, sizeof(waits));
	for (t = 0; t < turns->n; t++) {
		done[t] = turns->turn[t].elided;
		left += !done[t];
		waits[turns->turn[t].in] += !done[t];
	}
	while (more) {
		more = false;
		for (t = 0; t < turns->n; t++) {
			if (done[t] || waits[turns->turn[t].out])
				continue;
			done[t] = true;
			waits[turns->turn[t].in]--;
			left--;
			more = true;
		}
	}
	free(done);
	return !left;
}

static struct turns solved(enum turns_which which, enum turns_choose choose)
{
	struct turns turns;
	uint32_t t, routed = 0, elided = 0;

	turns_find(&net, which, &turns);
	CHECK(turns_choose(&net, choose, &turns));
	for (t = 0; t < turns.n; t++) {
		elided += turns.turn[t].elided;
		routed += turns.turn[t].elided && turns.turn[t].routed;
		if (turns.which != TURNS_LOOPS)
			CHECK(turns.turn[t].in != (turns.turn[t].out ^ 1));
		CHECK(way_to(&net, turns.turn[t].in) == way_from(&net, turns.turn[t].out));
	}
	CHECK(turns.elided == elided && turns.routed_elided == routed);
	CHECK(which != TURNS_AUTO || turns.which == TURNS_ROUTES || !routed);
	CHECK(safe(&turns) && turns_are_safe(&turns));
	return turns;
}

/* ---- routes, by walking ---- */

struct walk {
	uint32_t way[16];
	uint32_t n;
	uint32_t to;
	bool (*taken)[2 * 64];
};

static void walk_on(struct walk *w, uint32_t at, uint32_t left)
{
	uint32_t way, i;

	if (at == w->to && !left)
		for (i = 0; i + 1 < w->n; i++)
			w->taken[w->way[i]][w->way[i + 1]] = true;
	if (!left || (w->n && kind[at] == BOX_HOST))
		return;
	for (way = 0; way < 2 * net.cables; way++) {
		if (way_from(&net, way) != at)
			continue;
		w->way[w->n++] = way;
		walk_on(w, way_to(&net, way), left - 1);
		w->n--;
	}
}

static uint32_t hops(uint32_t from, uint32_t to)
{
	uint32_t far[BOXES], i, way, a, b;

	for (i = 0; i < net.boxes; i++)
		far[i] = i == from ? 0 : 1000;
	for (i = 0; i < net.boxes; i++) {
		for (way = 0; way < 2 * net.cables; way++) {
			a = way_from(&net, way);
			b = way_to(&net, way);
			if ((kind[a] != BOX_HOST || a == from) && far[a] + 1 < far[b])
				far[b] = far[a] + 1;
		}
	}
	return far[to];
}

/* A host sends through each of its cables; from there on packets go a shortest way. */
static void walk_all(bool (*taken)[2 * 64])
{
	struct walk w = { .taken = taken };
	uint32_t way, at;

	for (way = 0; way < 2 * net.cables; way++) {
		if (kind[way_from(&net, way)] != BOX_HOST)
			continue;
		at = way_to(&net, way);
		for (w.to = 0; w.to < net.boxes; w.to++)
			if (w.to != way_from(&net, way) && kind[w.to] == BOX_HOST &&
			    hops(at, w.to) < 12)
				walk_on(&w, at, hops(at, w.to));
	}
}

static bool is_switch(uint32_t b)
{
	return kind[b] == BOX_SWITCH;
}

/* Parallel cables, boxes without bfc, hosts with one or two homes, or none reachable */
static void test_routes(void)
{
	static bool taken[2 * 64][2 * 64];
	uint32_t i, t, in, out, found, h, routed = 0;
	struct turns turns;
	u64 seed = 7;

	for (i = 0; i < 40; i++) {
		random_net(4 + i % 4, 5 + i % 6, &seed);
		h = net.boxes;
		for (t = 0; t < 5; t++) {
			join(random_below(&seed, h), box(BOX_HOST));
			if (t == 2)
				join(net.boxes - 1, random_below(&seed, h));
		}
		if (i % 3 == 0)
			kind[1] = BOX_PLAIN;
		memset(taken, 0, sizeof(taken));
		walk_all(taken);
		turns_find(&net, TURNS_ROUTES, &turns);
		for (t = 0; t < turns.n; t++)
			CHECK(taken[turns.turn[t].in][turns.turn[t].out], "net %u", i);
		for (found = 0, in = 0; in < 2 * net.cables; in++)
			for (out = 0; out < 2 * net.cables; out++)
				found += taken[in][out] &&
					 is_switch(way_from(&net, in)) &&
					 is_switch(way_to(&net, in)) &&
					 is_switch(way_to(&net, out));
		CHECK(found == turns.n, "net %u: %u, %u", i, found, turns.n);
		routed += found;
		turns_free(&turns);
	}
	CHECK(routed > 100, "only %u turns", routed);
}

/* Listed routes count instead: three switches, all of them one way round */
static void test_listed(void)
{
	uint32_t way[3][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 } };
	struct route route[3] = { { 3, way[0] }, { 3, way[1] }, { 3, way[2] } };
	struct turns turns;

	ring(3);
	net.route = route;
	net.routes = 3;
	turns = solved(TURNS_AUTO, CHOOSE_AUTO);
	CHECK(turns.which == TURNS_ROUTES && turns.n == 3);
	CHECK(turns.elided == 1 && turns.routed_elided == 1 && turns.fewest);
	turns_free(&turns);

	/* The other way round nothing has to be given up, for one turn of this one */
	turns = solved(TURNS_ALL, CHOOSE_AUTO);
	CHECK(turns.n == 6 && turns.elided == 2 && turns.routed_elided == 1);
	CHECK(turns.least_routed == 1 && turns.least_others == 1);
	turns_free(&turns);

	net.routes = 2;
	turns = solved(TURNS_AUTO, CHOOSE_AUTO);
	CHECK(turns.which == TURNS_ALL && turns.elided == 2 && !turns.routed_elided);
	turns_free(&turns);
}

/* ---- what is elided ---- */

static void test_rings(void)
{
	struct turns turns;
	uint32_t n;

	for (n = 3; n < 60; n++) {
		ring(n);
		turns = solved(TURNS_ALL, CHOOSE_AUTO);
		CHECK(turns.n == 2 * n && turns.elided == 2 && turns.fewest, "%u", n);
		CHECK(turns.choose == CHOOSE_FEWEST);
		turns_free(&turns);

		/* With three no shortest route passes two cables of the ring. */
		turns = solved(TURNS_AUTO, CHOOSE_AUTO);
		CHECK(turns.which == (n == 3 ? TURNS_ALL : TURNS_ROUTES));
		CHECK(turns.elided == 2 && turns.routed_elided == (n == 3 ? 0 : 2));
		turns_free(&turns);

		/* and for each cable, which packets might bounce on */
		turns = solved(TURNS_LOOPS, CHOOSE_AUTO);
		CHECK(turns.n == 4 * n && turns.elided >= n + 1, "%u", n);
		turns_free(&turns);
	}
}

static void test_trees(void)
{
	struct turns turns;
	uint32_t n, i;
	u64 seed = 8;

	for (n = 1; n < 40; n++) {
		random_net(n, 0, &seed);
		for (i = 0; i < n; i++)
			add_hosts(i, 1);
		turns = solved(TURNS_ALL, CHOOSE_AUTO);
		CHECK(!turns.elided, "%u switches: %u", n, turns.elided);
		turns_free(&turns);
		turns = solved(TURNS_LOOPS, CHOOSE_FEWEST);
		CHECK(turns.elided == n - 1 && turns.fewest, "%u switches: %u", n,
		      turns.elided);
		turns_free(&turns);
	}
}

static void test_clos(void)
{
	static const struct { uint32_t leaves, spines; } size[] = {
		{ 2, 2 }, { 2, 3 }, { 3, 2 }, { 3, 3 }, { 4, 2 }, { 4, 4 }, { 8, 4 },
		{ 16, 8 }, { 3, 12 }, { 32, 8 }, { 64, 4 },
	};
	uint32_t i, t, l, s;
	struct turns turns;

	for (i = 0; i < UNIT_SIZE(size); i++) {
		l = size[i].leaves;
		s = size[i].spines;
		clos(l, s, 2);
		turns = solved(TURNS_AUTO, CHOOSE_AUTO);
		CHECK(turns.which == TURNS_ALL && turns.choose == CHOOSE_DOWN_UP);
		CHECK(turns.elided == l * s * (s - 1) && !turns.routed_elided,
		      "%u x %u: %u", l, s, turns.elided);
		for (t = 0; t < turns.n; t++)	/* at all leaves, at no spine */
			CHECK(turns.turn[t].elided ==
			      (way_to(&net, turns.turn[t].in) < l));
		turns_free(&turns);

		/* Half of them would do: up again to a spine of a higher number. */
		turns = solved(TURNS_AUTO, CHOOSE_FEWEST);
		CHECK(turns.elided == l * s * (s - 1) / 2 && !turns.routed_elided,
		      "%u x %u: %u", l, s, turns.elided);
		turns_free(&turns);
	}
}

/* A host at a spine, which a border router may be: this is no Clos, but half of the turns
 * do, whichever boxes come first.
 */
static void test_clos_border(void)
{
	struct turns turns;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		numbered_clos(i ? 8 : 0, 32, i ? 0 : 32, 8, 1);
		add_hosts(i ? 0 : 32, 1);
		turns = solved(TURNS_AUTO, CHOOSE_AUTO);
		CHECK(turns.which == TURNS_ALL && turns.choose == CHOOSE_FEWEST);
		CHECK(turns.elided == 32 * 8 * 7 / 2 && !turns.routed_elided && turns.fewest,
		      "%u", turns.elided);
		turns_free(&turns);
	}
}

/* Hosts at all boxes: routes lead down and up, too. */
static void test_clos_hosts(void)
{
	struct turns turns;
	uint32_t i;

	clos(32, 8, 0);
	for (i = 0; i < 32 + 8; i++)
		add_hosts(i, 1);
	turns = solved(TURNS_AUTO, CHOOSE_AUTO);
	CHECK(turns.which == TURNS_ROUTES);
	CHECK(turns.elided == 32 * 8 * 7 / 2 && turns.fewest, "%u", turns.elided);
	turns_free(&turns);
}

/* One leaf, or one spine, is a tree. */
static void test_small_clos(void)
{
	struct turns turns;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		clos(i ? 1 : 5, i ? 5 : 1, 2);
		turns = solved(TURNS_AUTO, CHOOSE_AUTO);
		CHECK(turns.n == 20 && turns.choose == CHOOSE_DOWN_UP && !turns.elided);
		turns_free(&turns);
	}
}

/* Three tiers; and cables that a Clos has not */
static void test_tiers(void)
{
	struct turns turns;
	uint32_t t;

	fat_tree(4);
	turns = solved(TURNS_AUTO, CHOOSE_AUTO);
	CHECK(turns.choose == CHOOSE_DOWN_UP && turns.tier);
	/* 8 edges with 2 aggregations each, and as many of these with 2 cores each */
	CHECK(turns.elided == 8 * 2 + 8 * 2 && !turns.routed_elided);
	for (t = 0; t < net.boxes && turns.tier; t++)
		if (is_switch(t))
			CHECK(turns.tier[t] == (t >= 16 ? 3U : t % 4 >= 2 ? 2 : 1));
	turns_free(&turns);

	turns = solved(TURNS_LOOPS, CHOOSE_AUTO);
	CHECK(turns.elided == 8 * 4 + 8 * 4);
	turns_free(&turns);

	/* Half of them: 32 edges, as many aggregations, with 4 boxes above each */
	fat_tree(8);
	turns = solved(TURNS_AUTO, CHOOSE_FEWEST);
	CHECK(turns.elided == (32 + 32) * 4 * 3 / 2 && !turns.routed_elided && turns.fewest,
	      "%u", turns.elided);
	turns_free(&turns);

	fat_tree(4);
	join(16, 17);			/* two cores */
	turns = solved(TURNS_AUTO, CHOOSE_AUTO);
	CHECK(turns.choose == CHOOSE_FEWEST && !turns.tier);
	turns_free(&turns);
	turns_find(&net, TURNS_AUTO, &turns);
	CHECK(!turns_choose(&net, CHOOSE_DOWN_UP, &turns));
	turns_free(&turns);
}

/* A box without bfc pauses nothing: no cycle runs through it. */
static void test_plain(void)
{
	struct turns turns;

	ring(6);
	kind[2] = BOX_PLAIN;
	turns = solved(TURNS_ALL, CHOOSE_AUTO);
	CHECK(turns.n == 6 && !turns.elided);
	turns_free(&turns);
}

static void test_random(void)
{
	uint32_t i, h, n;
	struct turns turns;
	u64 seed = 9;

	for (i = 0; i < 60; i++) {
		n = 3 + i % 12;
		random_net(n, n + i % 20, &seed);
		for (h = 0; h < n; h += 1 + i % 2)
			add_hosts(h, 1);
		turns = solved(i % 4, i % 2 ? CHOOSE_AUTO : CHOOSE_FEWEST);
		if (turns.choose == CHOOSE_FEWEST)
			CHECK(turns.least_routed <= turns.routed_elided);
		turns_free(&turns);
	}
}

/* ---- how long it takes ---- */

static double seconds(enum turns_which which, enum turns_choose choose)
{
	struct timespec a, b;
	struct turns turns;
	double s;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	turns_find(&net, which, &turns);
	turns_choose(&net, choose, &turns);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	CHECK(safe(&turns));
	s = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
	printf("# %u boxes, %u turns: %u elided (%u of routes, at least %u), %.2f s\n",
	       net.boxes, turns.n, turns.elided, turns.routed_elided,
	       turns.choose == CHOOSE_FEWEST ? turns.least_routed + turns.least_others : 0,
	       s);
	turns_free(&turns);
	return s;
}

/* "auto" takes no pause from the routes, also where the time does not suffice for the
 * cycles of all turns.
 */
static void test_large_listed(void)
{
	struct turns turns;
	u64 seed = 11;

	random_net(100, 1600, &seed);
	routes_up(1000, &seed);
	turns = solved(TURNS_AUTO, CHOOSE_AUTO);
	CHECK(turns.which == TURNS_ALL && !turns.routed_elided, "%u of the routes",
	      turns.routed_elided);
	turns_free(&turns);
}

/* The bounds are for a build with sanitizers on a busy machine: a tenth is usual. */
static void test_time(void)
{
	u64 seed = 10;
	uint32_t i;

	clos(16, 8, 16);
	CHECK(seconds(TURNS_AUTO, CHOOSE_AUTO) < 2);
	CHECK(seconds(TURNS_AUTO, CHOOSE_FEWEST) < 60);
	fat_tree(16);
	CHECK(seconds(TURNS_AUTO, CHOOSE_AUTO) < 10);
	torus(15, 20);
	CHECK(seconds(TURNS_AUTO, CHOOSE_AUTO) < 60);
	random_net(300, 900, &seed);
	for (i = 0; i < 300; i++)
		add_hosts(i, 2);
	CHECK(seconds(TURNS_ALL, CHOOSE_AUTO) < 60);
	net_new();
	for (i = 0; i < 40; i++)
		random_piece(30, 700, &seed);
	CHECK(seconds(TURNS_ALL, CHOOSE_AUTO) < 60);
}

static struct unit_case cases[] = {
	{ "shortest routes take the turns that walks along them find", test_routes },
	{ "listed routes count instead of shortest ones", test_listed },
	{ "rings", test_rings },
	{ "trees", test_trees },
	{ "a Clos: down-up turns, or half of them", test_clos },
	{ "a Clos with a host at a spine", test_clos_border },
	{ "a Clos with hosts everywhere", test_clos_hosts },
	{ "a Clos that is a tree", test_small_clos },
	{ "three tiers, and a network that is nearly a Clos", test_tiers },
	{ "boxes without bfc are in no cycle", test_plain },
	{ "random networks", test_random },
	{ "listed routes in a large network keep their pauses", test_large_listed },
	{ "hundreds of switches take seconds", test_time },
};

#include "unit_main.h"
