// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl topology: which turns to elide so that pauses never run in a circle.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sch_bfc.h>

#include "bfcctl.h"
#include "topology.h"

#define EXAMPLE_WORK	100000000ULL	/* edges visited in search of shortest cycles */

static const char *const which_names[] = {
	[TURNS_AUTO] = "auto", [TURNS_ROUTES] = "routes", [TURNS_ALL] = "all",
	[TURNS_LOOPS] = "loops",
};

static const char *const choose_names[] = {
	[CHOOSE_AUTO] = "auto", [CHOOSE_DOWN_UP] = "down-up",
	[CHOOSE_FEWEST] = "fewest",
};

/* ---- the command line ---- */

struct request {
	char **file;
	int files;
	enum turns_which which;
	enum turns_choose choose;
	const char *box;
};

static unsigned int one_of(const char *name, const char *value, const char *const *names,
			   unsigned int n, const char *all)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(value, names[i]))
			return i;
	usage_fail("illegal \"%s\" for \"%s\": give %s", value, name, all);
}

static void parse(struct request *r, int argc, char **argv)
{
	const char *word, *value;

	r->file = need(calloc(argc + 1, sizeof(*r->file)));
	while (argc) {
		word = next_word(&argc, &argv, "topology");
		if (!is_keyword(word, "turns") && !is_keyword(word, "choose") &&
		    !is_keyword(word, "box")) {
			r->file[r->files++] = (char *)word;
			continue;
		}
		value = next_word(&argc, &argv, word);
		if (!strcmp(word, "turns"))
			r->which = one_of(word, value, which_names,
					  ARRAY_SIZE(which_names),
					  "auto, routes, all or loops");
		else if (!strcmp(word, "choose"))
			r->choose = one_of(word, value, choose_names,
					   ARRAY_SIZE(choose_names),
					   "auto, down-up or fewest");
		else
			r->box = value;
	}
	if (!r->files)
		usage_fail("topology of which FILE?");
}

/* ---- cycles ---- */

/* What is shown of a backpressure graph */
struct view {
	const struct topology *t;
	const struct turns *turns;
	uint32_t *component;
	uint32_t components;
	bool *circle;		/* of each component */
	bool *gone;		/* turns that are left out */
	bool routed;		/* turns of the routes only */
	uint32_t cycles;	/* components to come of which a cycle is shown */
	uint64_t work;		/* edges that may be visited for these */
};

static void view_init(struct view *v, const struct topology *t, const struct turns *turns,
		      bool routed)
{
	const struct digraph *g = &turns->g;
	uint32_t i;

	v->t = t;
	v->turns = turns;
	v->routed = routed;
	v->component = need(calloc((size_t)g->nodes + 1, sizeof(*v->component)));
	v->circle = need(calloc((size_t)g->nodes + 1, sizeof(*v->circle)));
	v->gone = need(calloc((size_t)g->edges + 1, sizeof(*v->gone)));
	for (i = 0; i < g->edges; i++)
		v->gone[i] = routed && !turns->turn[i].routed;
	v->components = digraph_components(g, v->gone, v->component);
	digraph_circles(g, v->gone, v->component, v->circle);
	v->cycles = 0;
	for (i = 0; i < v->components; i++)
		v->cycles += v->circle[i];
	v->work = EXAMPLE_WORK;
}

static void view_free(struct view *v)
{
	free(v->component);
	free(v->circle);
	free(v->gone);
}

/* Find a shortest cycle of a component: the shortest one within its share of the work.
 * Returns its length.
 */
static uint32_t shortest_cycle(struct view *v, uint32_t c, uint32_t *best)
{
	const struct digraph *g = &v->turns->g;
	uint32_t *cycle = need(calloc((size_t)g->nodes + 1, sizeof(*cycle)));
	uint32_t n, e, length = DIGRAPH_NONE;
	uint64_t work = 0, most = v->work / v->cycles--;

	/* Each edge in a component closes a cycle. */
	for (e = 0; e < g->edges && (work < most || length == DIGRAPH_NONE); e++) {
		if (v->gone[e] || v->component[g->from[e]] != c ||
		    v->component[g->to[e]] != c)
			continue;
		n = digraph_cycle(g, v->gone, e,
				  length == DIGRAPH_NONE ? length : length - 1, cycle,
				  &work);
		if (!n)
			continue;
		length = n;
		memcpy(best, cycle, n * sizeof(*best));
	}
	v->work -= work < most ? work : most;
	free(cycle);
	return length;
}

static const char *way_box(const struct topology *t, uint32_t way)
{
	return t->name[way_from(&t->net, way)];
}

static const char *way_dev(const struct topology *t, uint32_t way)
{
	return t->dev[way / 2][way % 2];
}

/* The device at the end of a way, its ingress port */
static const char *way_ingress(const struct topology *t, uint32_t way)
{
	return way_dev(t, way ^ 1);
}

/* In the direction of packets: pauses run the other way. */
static void show_cycle(struct view *v, uint32_t c)
{
	const struct digraph *g = &v->turns->g;
	uint32_t *cycle = need(calloc((size_t)g->nodes + 1, sizeof(*cycle)));
	uint32_t n = shortest_cycle(v, c, cycle), way;

	out_open("shortest", '[');
	text("  the shortest:");
	while (n--) {
		way = g->from[cycle[n]];
		out_open(NULL, '{');
		out_string("box", way_box(v->t, way));
		out_string("dev", way_dev(v->t, way));
		out_close('}');
		text(" %s %s >", way_box(v->t, way), way_dev(v->t, way));
	}
	text("\n");
	out_close(']');
	free(cycle);
}

static void show_boxes(const struct view *v, uint32_t c)
{
	bool *in = need(calloc((size_t)v->t->net.boxes + 1, sizeof(*in)));
	uint32_t way, b, ports = 0, boxes = 0;

	for (way = 0; way < v->turns->g.nodes; way++) {
		if (v->component[way] != c)
			continue;
		ports++;
		b = way_from(&v->t->net, way);
		boxes += !in[b];
		in[b] = true;
	}
	out_number("ports", ports);
	out_open("boxes", '[');
	text("  %u ports of %u boxes:", ports, boxes);
	for (b = 0; b < v->t->net.boxes; b++) {
		if (!in[b])
			continue;
		out_string(NULL, v->t->name[b]);
		text(" %s", v->t->name[b]);
	}
	text("\n");
	out_close(']');
	free(in);
}

/* Ports in a component can all reach each other, in cycles that may share ports. */
static void show_view(struct view *v)
{
	uint32_t c, n = v->cycles;

	text("cycles of %s: ", v->routed ? "the routes" : "all turns");
	text(n ? "%u group%s\n" : "none\n", n, n == 1 ? "" : "s");
	for (c = 0; c < v->components; c++) {
		if (!v->circle[c])
			continue;
		out_open(NULL, '{');
		out_bool("of_routes", v->routed);
		show_boxes(v, c);
		show_cycle(v, c);
		out_close('}');
	}
}

static void show_cycles(const struct topology *t, const struct turns *turns)
{
	struct view v;

	out_open("cycles", '[');
	view_init(&v, t, turns, true);
	show_view(&v);
	view_free(&v);
	if (turns->which != TURNS_ROUTES) {
		view_init(&v, t, turns, false);
		show_view(&v);
		view_free(&v);
	}
	out_close(']');
}

/* ---- lists ---- */

/* A turn, to be sorted by its egress port */
struct listed {
	const struct turn *turn;
	const struct topology *t;
};

/* "swp2" before "swp10": shorter names first */
static int compare_names(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);

	return x != y ? (x > y) - (x < y) : strcmp(a, b);
}

static int by_port(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	uint32_t p = way_from(&x->t->net, x->turn->out);
	uint32_t q = way_from(&x->t->net, y->turn->out);
	int c;

	if (p != q)
		return (p > q) - (p < q);
	c = compare_names(way_dev(x->t, x->turn->out), way_dev(x->t, y->turn->out));
	return c ?: compare_names(way_ingress(x->t, x->turn->in),
				  way_ingress(x->t, y->turn->in));
}

static void show_list(const struct listed *from, uint32_t n, const char *dev)
{
	uint32_t i;

	out_open(NULL, '{');
	out_string("dev", dev);
	out_open("elide", '[');
	text("tc qdisc change dev %s root bfc elide ", dev);
	for (i = 0; i < n; i++) {
		out_open(NULL, '{');
		out_string("dev", way_ingress(from->t, from[i].turn->in));
		out_string("from", way_box(from->t, from[i].turn->in));
		out_bool("on_routes", from[i].turn->routed);
		out_close('}');
		text("%s%s", i ? "," : "", way_ingress(from->t, from[i].turn->in));
	}
	text(n ? "\n" : "none\n");
	out_close(']');
	out_close('}');
}

/* A port to a switch has a line even if its list is empty: it may have had another. */
struct port_line {
	const struct topology *t;
	uint32_t way;
};

static int by_way(const void *a, const void *b)
{
	const struct port_line *x = a, *y = b;

	return compare_names(way_dev(x->t, x->way), way_dev(x->t, y->way));
}

static void show_box(const struct topology *t, uint32_t b, const struct listed *list,
		     uint32_t n)
{
	struct port_line *port = NULL;
	uint32_t way, i, same, ports = 0;

	for (way = 0; way < 2 * t->net.cables; way++) {
		if (way_from(&t->net, way) != b || !way_has_bfc(&t->net, way))
			continue;
		port = grow(port, ports, sizeof(*port));
		port[ports++] = (struct port_line){ t, way };
	}
	if (ports)
		qsort(port, ports, sizeof(*port), by_way);
	for (i = 0; i < ports; i++) {
		for (same = 0; same < n && list[same].turn->out == port[i].way; same++)
			;
		show_list(list, same, way_dev(t, port[i].way));
		list += same;
		n -= same;
	}
	free(port);
}

static struct listed *sorted_turns(const struct topology *t, const struct turns *turns,
				   uint32_t *n)
{
	struct listed *list = need(calloc((size_t)turns->elided + 1, sizeof(*list)));
	uint32_t i;

	for (*n = 0, i = 0; i < turns->n; i++)
		if (turns->turn[i].elided)
			list[(*n)++] = (struct listed){ &turns->turn[i], t };
	qsort(list, *n, sizeof(*list), by_port);
	return list;
}

/* tc refuses longer lists than BFC_ELIDE_MAX. */
static void check_lengths(const struct topology *t, const struct turns *turns)
{
	uint32_t n, i, same;
	struct listed *list = sorted_turns(t, turns, &n);

	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n; same++)
			if (list[i + same].turn->out != list[i].turn->out)
				break;
		if (same > BFC_ELIDE_MAX)
			fail("%s %s: %u devices to elide, \"elide\" takes %u",
			     way_box(t, list[i].turn->out),
			     way_dev(t, list[i].turn->out), same, BFC_ELIDE_MAX);
	}
	free(list);
}

/* @box: print only the lines of this box; NULL: all boxes, with headings */
static void show_lists(const struct topology *t, const struct turns *turns,
		       const char *box)
{
	uint32_t n, b, i = 0, own;
	struct listed *list = sorted_turns(t, turns, &n);

	out_open("boxes", '[');
	for (b = 0; b < t->net.boxes; b++, i += own) {
		for (own = 0; i + own < n; own++)
			if (way_from(&t->net, list[i + own].turn->out) != b)
				break;
		if (t->net.kind[b] != BOX_SWITCH || (box && strcmp(t->name[b], box)))
			continue;
		out_open(NULL, '{');
		out_string("name", t->name[b]);
		if (!box)
			text("\n# %s\n", t->name[b]);
		out_open("ports", '[');
		show_box(t, b, list + i, own);
		out_close(']');
		out_close('}');
	}
	out_close(']');
	free(list);
}

/* ---- the whole ---- */

static uint32_t boxes_of(const struct net *net, enum box_kind kind)
{
	uint32_t b, n = 0;

	for (b = 0; b < net->boxes; b++)
		n += net->kind[b] == kind;
	return n;
}

static void show_size(const struct topology *t, const struct turns *turns)
{
	uint32_t cables = 0, way, routed = 0, i;

	for (way = 0; way < 2 * t->net.cables; way += 2)
		cables += way_has_bfc(&t->net, way);
	for (i = 0; i < turns->n; i++)
		routed += turns->turn[i].routed;
	out_number("switches", boxes_of(&t->net, BOX_SWITCH));
	out_number("hosts", boxes_of(&t->net, BOX_HOST));
	out_number("plain", boxes_of(&t->net, BOX_PLAIN));
	out_number("cables", cables);
	out_number("ignored", t->ignored);
	out_string("routes", t->net.routes ? "listed" : "shortest");
	out_string("turns", which_names[turns->which]);
	out_number("turns_all", turns->n);
	out_number("turns_routed", routed);
	text("%u switches, %u hosts, %u without bfc; %u cables between switches",
	     boxes_of(&t->net, BOX_SWITCH), boxes_of(&t->net, BOX_HOST),
	     boxes_of(&t->net, BOX_PLAIN), cables);
	text(t->ignored ? ", %u ignored\n" : "\n", t->ignored);
	text("turns: %u (%s), %u of them on %s routes\n", turns->n,
	     which_names[turns->which], routed,
	     t->net.routes ? "the listed" : "shortest");
}

static void show_fewest(const struct turns *turns)
{
	out_bool("fewest", turns->fewest);
	out_number("least_of_routes", turns->least_routed);
	out_number("least_of_others", turns->least_others);
	if (turns->fewest)
		text(", as few as can be");
	else
		text(", at least %u of the routes and %u others have to be",
		     turns->least_routed, turns->least_others);
}

static void show_choice(const struct turns *turns)
{
	out_string("choose", choose_names[turns->choose]);
	out_number("elided", turns->elided);
	out_number("elided_of_routes", turns->routed_elided);
	text("elided: %u turns, %u of them on routes", turns->elided,
	     turns->routed_elided);
	if (turns->choose == CHOOSE_FEWEST)
		show_fewest(turns);
	else
		text(", the down-up turns of a Clos");
	text("\n");
	if (turns->elided)
		text("  Packets on these turns pause no neighbour: what congestion there does not\n  leave room for is dropped.\n");
}

static void check_box(const struct topology *t, const char *name)
{
	uint32_t b = topology_find(t, name);

	if (b == NO_BOX)
		fail("there is no box \"%s\"", name);
	if (t->net.kind[b] != BOX_SWITCH)
		fail("%s has no bfc that elides: it is %s", name,
		     t->net.kind[b] == BOX_HOST ? "a host" :
		     t->net.kind[b] == BOX_PLAIN ? "plain" : "ignored");
}

void cmd_topology(int argc, char **argv)
{
	struct request r = {};
	struct topology t;
	struct turns turns;

	parse(&r, argc, argv);
	topology_read(&t, r.files, r.file);
	if (r.box)
		check_box(&t, r.box);
	turns_find(&t.net, r.which, &turns);
	if (!turns_choose(&t.net, r.choose, &turns))
		fail("choose down-up: this is no Clos, whose cables all lead from a tier to the next, and hosts to the first, and whose routes go up, then down");
	if (!turns_are_safe(&turns))
		fail("a cycle is left: a bug, please report it");
	check_lengths(&t, &turns);
	out_open(NULL, '[');
	out_open(NULL, '{');
	if (ctl.json || !r.box) {
		show_size(&t, &turns);
		show_cycles(&t, &turns);
		show_choice(&turns);
	}
	show_lists(&t, &turns, r.box);
	out_close('}');
	out_close(']');
	turns_free(&turns);
	topology_free(&t);
	free(r.file);
}
