// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies from LLDP: what "lldpctl -f json" or "-f json0" of lldpd prints on each box.
 *
 * The two differ in how they wrap values. json0 has arrays everywhere. json has them
 * only where there are several values, and names of devices and boxes as keys:
 *
 *   { "lldp": { "interface": [ { "swp1": {
 *       "chassis": { "spine1": { "id": {...}, "capability": [...] } },
 *       "port": { "id": { "type": "ifname", "value": "swp3" }, "descr": "swp3" } } } ] } }
 *
 *   { "lldp": [ { "interface": [ { "name": "swp1",
 *       "chassis": [ { "id": [...], "name": [ { "value": "spine1" } ], ... } ],
 *       "port": [ { "id": [...], "descr": [ { "value": "swp3" } ] } ] } ] } ] }
 *
 * The local box is not in it: its name is that of the file.
 */
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "topology.h"

/* A neighbour that a box hears at a device */
struct neighbour {
	char *file;
	uint32_t box;
	char *dev;
	char *name;	/* of the neighbour; its id if it has none */
	char *id;
	char *port[2];	/* what the neighbour calls its port; NULL = unknown */
	bool named;	/* port[0] is the name of a device */
	bool forwards;
	bool ignored;	/* the device is of another network */
	uint32_t other;	/* the neighbour, NO_BOX = not looked for yet, or unknown */
	struct neighbour *end;	/* what the neighbour hears by the same cable */
};

static struct neighbour *heard;
static uint32_t n_heard;

/* In both formats a value may stand in an array of its own. */
static const struct json *bare(const struct json *v)
{
	return v && v->kind == JSON_ARRAY ? v->first : v;
}

static const struct json *get(const struct json *v, const char *key)
{
	return bare(json_member(bare(v), key));
}

/* A string, or the "value" of an object */
static const char *string_of(const struct json *v)
{
	v = bare(v);
	if (v && v->kind == JSON_OBJECT)
		v = get(v, "value");
	return v && v->kind == JSON_STRING && *v->string ? v->string : NULL;
}

static char *copy(const char *s)
{
	return s ? need(strdup(s)) : NULL;
}

/* Copy a name, with "?" for what is not printable, or no letter of a name in files:
 * names of other boxes are shown on terminals, and written into lines that declare them.
 */
static char *printable(const char *s)
{
	char *name = copy(s), *p;

	for (p = name; p && *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '#')
			*p = '?';
	return name;
}

static bool is_forwarder(const struct json *chassis)
{
	const struct json *c = json_member(chassis, "capability"), *enabled;
	const char *type;

	for (c = c && c->kind == JSON_ARRAY ? c->first : c; c; c = c->next) {
		type = string_of(json_member(c, "type"));
		enabled = get(c, "enabled");
		if (type && enabled && enabled->kind == JSON_TRUE &&
		    (!strcmp(type, "Bridge") || !strcmp(type, "Router")))
			return true;
	}
	return false;
}

static void read_ports(struct neighbour *h, const struct json *port)
{
	const char *type = string_of(get(get(port, "id"), "type"));
	const char *id = string_of(get(port, "id"));

	/* With a MAC address as id, lldpd's default, the description is the device. */
	if (type && !strcmp(type, "mac"))
		id = NULL;
	h->named = id && type && !strcmp(type, "ifname");
	h->port[0] = copy(id);
	h->port[1] = copy(string_of(get(port, "descr")));
}

/* A second file would make one box of two. */
static void check_file(uint32_t box, const char *name, const char *file)
{
	const struct neighbour *h;

	for (h = heard; h < heard + n_heard; h++)
		if (h->box == box)
			fail("%s: %s is of box %s, too: NAME=FILE names the box of a file", file,
			     h->file, name);
}

static void add_heard(uint32_t box, const char *file, const char *dev,
		      const struct json *entry)
{
	const struct json *chassis = get(entry, "chassis");
	struct neighbour h = { .box = box, .other = NO_BOX };
	const char *name;

	if (!chassis || chassis->kind != JSON_OBJECT)
		fail("%s: %s: no \"chassis\": is this from lldpctl -f json?", file, dev);
	name = string_of(json_member(chassis, "name"));
	/* json: the name is the key, which may be "id" as well */
	if (!name && !string_of(json_member(chassis, "id"))) {
		chassis = chassis->first;
		if (!chassis)
			fail("%s: %s: an empty \"chassis\"", file, dev);
		if (chassis->kind == JSON_OBJECT)
			name = chassis->key;
	}
	h.id = printable(string_of(json_member(chassis, "id")));
	h.name = printable(name ?: h.id);
	if (!h.name)
		fail("%s: %s: a neighbour without name and id", file, dev);
	if (!is_device(dev))
		fail("%s: \"%s\" is no name of a device", file, dev);
	h.file = copy(file);
	h.dev = copy(dev);
	h.forwards = is_forwarder(chassis);
	read_ports(&h, get(entry, "port"));
	heard = grow(heard, n_heard, sizeof(*heard));
	heard[n_heard++] = h;
}

/* An object: of json0 with its device as "name", or of json with devices as keys */
static void read_entry(uint32_t box, const char *file, const struct json *v)
{
	const char *dev = string_of(json_member(v, "name"));

	if (v->kind != JSON_OBJECT)
		fail("%s: an \"interface\" that is no object", file);
	if (dev && json_member(v, "chassis")) {
		add_heard(box, file, dev, v);
		return;
	}
	for (v = v->first; v; v = v->next)
		add_heard(box, file, v->key, v);
}

/**
 * lldp_read() - the neighbours of a box
 * @t: topology; gets the box if it has not got it
 * @box: its name
 * @file: name of the file
 * @text: what is in it; is changed
 */
void lldp_read(struct topology *t, const char *box, const char *file, char *text)
{
	uint32_t b = topology_find(t, box);
	const struct json *lldp, *v;
	struct json *all;

	if (b != NO_BOX && t->net.kind[b] == BOX_IGNORED)
		return;
	all = json_parse(file, text);
	lldp = bare(json_member(all, "lldp"));
	if (!lldp)
		fail("%s: no \"lldp\": is this from lldpctl -f json?", file);
	if (b == NO_BOX)
		b = topology_add(t, box, BOX_SWITCH, file);
	check_file(b, box, file);
	v = json_member(lldp, "interface");
	for (v = v && v->kind == JSON_ARRAY ? v->first : v; v; v = v->next)
		read_entry(b, file, v);
	json_free(all);
}

/* true if two names are the same, but for a domain that one of them lacks.
 * Names with different domains differ.
 */
static bool same_short(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n == strcspn(b, ".") && !strncmp(a, b, n) && (!a[n] || !b[n]);
}

/* A box that is known under this name, with or without its domain. An address and
 * BOX:DEV have no domain.
 */
static uint32_t known(const struct topology *t, const struct neighbour *h)
{
	uint32_t b = topology_find(t, h->name), i;

	if (b != NO_BOX)
		return b;
	for (i = 0; i < t->net.boxes; i++) {
		if (t->net.kind[i] == BOX_HOST || strchr(t->name[i], ':') ||
		    !same_short(t->name[i], h->name))
			continue;
		if (b != NO_BOX && h->ignored)
			return NO_BOX;
		if (b != NO_BOX)
			fail("%s: %s: the neighbour %s may be %s or %s: have it send the whole name (lldpcli configure system hostname)",
			     h->file, h->dev, h->name, t->name[b], t->name[i]);
		b = i;
	}
	return b;
}

/* The box of an earlier entry with the same name and id: hosts may have the
 * same name, but their ids differ. Boxes below @first were declared.
 */
static uint32_t same_host(const struct neighbour *h, uint32_t first)
{
	const struct neighbour *o;

	for (o = heard; o < h; o++)
		if (o->other >= first && o->other != NO_BOX &&
		    !strcmp(o->name, h->name) && !strcmp(o->id ?: "", h->id ?: ""))
			return o->other;
	return NO_BOX;
}

static void add_host(struct topology *t, struct neighbour *h, uint32_t first)
{
	char name[512];

	h->other = same_host(h, first);
	if (h->other != NO_BOX)
		return;
	snprintf(name, sizeof(name), "%s", h->name);
	if (topology_find(t, name) != NO_BOX)
		snprintf(name, sizeof(name), "%s/%s", h->name, h->id ?: "");
	h->other = topology_add(t, name, BOX_HOST, NULL);
}

static void find_other(struct topology *t, struct neighbour *h, uint32_t first)
{
	bool declared;

	h->ignored = topology_ignores(t, h->box, h->dev);
	h->other = known(t, h);
	declared = h->other != NO_BOX && h->other < first;
	if (h->ignored) {
		if (!declared)
			h->other = NO_BOX;
		return;
	}
	if (!declared && h->forwards)
		fail("%s: %s: the neighbour %s can forward, but there is no file of it: give one, or a file with a line \"switch %s\", \"plain %s\" (no bfc), \"host %s\" or \"ignore %s\" (another network)",
		     h->file, h->dev, h->name, h->name, h->name, h->name, h->name);
	if (!declared)
		add_host(t, h, first);
}

static bool calls_it(const struct neighbour *h, const char *dev)
{
	return (h->port[0] && !strcmp(h->port[0], dev)) ||
	       (h->port[1] && !strcmp(h->port[1], dev));
}

/* Whether two entries may be the ends of one cable */
static bool may_be_ends(const struct neighbour *h, const struct neighbour *o)
{
	return !h->end && !o->end && o->box == h->other && o->other == h->box;
}

/* Match entries that both name each other's device, or, not @both, one of them: a
 * port's description may be any text.
 */
static void match_names(bool both)
{
	struct neighbour *h, *o;

	for (h = heard; h < heard + n_heard; h++) {
		for (o = h + 1; o < heard + n_heard; o++) {
			if (!may_be_ends(h, o) ||
			    calls_it(h, o->dev) + calls_it(o, h->dev) < 1 + both)
				continue;
			h->end = o;
			o->end = h;
		}
	}
}

/* Find the entries of @box about @other without a match. Returns how many there are. */
static uint32_t find_left(uint32_t box, uint32_t other, struct neighbour **last)
{
	struct neighbour *h;
	uint32_t n = 0;

	for (h = heard; h < heard + n_heard; h++) {
		if (h->end || h->box != box || h->other != other)
			continue;
		*last = h;
		n++;
	}
	return n;
}

/* Match @h with the only entry that is left at the neighbour, if @h is the only one here. */
static void match_left(struct neighbour *h)
{
	struct neighbour *here, *there;
	uint32_t n = find_left(h->other, h->box, &there);

	if (!n || h->named)
		return;
	if (n > 1 || there->named || find_left(h->box, h->other, &here) > 1)
		fail("%s: %s: neither end says which device of %s this is (lldpcli configure lldp portidsubtype ifname)",
		     h->file, h->dev, h->name);
	h->end = there;
	there->end = h;
}

/* The device at the other end: if only one end was heard, what the neighbour names. */
static const char *end_device(const struct topology *t, const struct neighbour *h)
{
	int i;

	if (h->end)
		return h->end->dev;
	if (t->net.kind[h->other] != BOX_SWITCH)
		return "";
	for (i = 0; i < 2; i++)
		if (h->port[i] && is_device(h->port[i]))
			return h->port[i];
	fail("%s: %s: the neighbour %s does not say which device it is at its end: give a file of it",
	     h->file, h->dev, h->name);
}

static void join(struct topology *t, const struct neighbour *h)
{
	char where[4096];

	if (h->ignored) {
		t->ignored++;
		return;
	}
	snprintf(where, sizeof(where), "%s: %s", h->file, h->dev);
	topology_join(t, (uint32_t[]){ h->box, h->other },
		      (const char *[]){ h->dev, end_device(t, h) }, where);
}

/**
 * lldp_join() - add the cables, after all files were read
 * @t: topology
 */
void lldp_join(struct topology *t)
{
	uint32_t first = t->net.boxes;
	struct neighbour *h;

	for (h = heard; h < heard + n_heard; h++)
		find_other(t, h, first);
	match_names(true);
	match_names(false);
	for (h = heard; h < heard + n_heard; h++)
		if (!h->end && !h->ignored)
			match_left(h);
	for (h = heard; h < heard + n_heard; h++)
		if (!h->end || h->end > h)
			join(t, h);
	for (h = heard; h < heard + n_heard; h++) {
		free(h->file);
		free(h->dev);
		free(h->name);
		free(h->id);
		free(h->port[0]);
		free(h->port[1]);
	}
	free(heard);
	heard = NULL;
	n_heard = 0;
}
