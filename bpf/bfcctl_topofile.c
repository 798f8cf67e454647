// SPDX-License-Identifier: GPL-2.0
/*
 * Files of topologies: lines of boxes, cables and routes, or LLDP's JSON.
 */
#define _GNU_SOURCE	/* asprintf */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "topology.h"

#define FILE_MAX	(64 << 20)	/* bytes */
#define WORDS_MAX	1024		/* of a line */

/* Letters that need no quotes in a shell */
#define PLAIN_LETTERS	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" \
			"0123456789_.-"

/* A line of a file */
struct line {
	char *where;	/* FILE:NUMBER */
	char **word;
	uint32_t words;
};

static struct line *lines;
static uint32_t n_lines;

/**
 * is_device() - whether a device may have this name, and it needs no quotes in a shell
 * @name: name
 */
bool is_device(const char *name)
{
	size_t n = strlen(name);

	return n && n < IF_NAMESIZE && *name != '-' && strcmp(name, ".") &&
	       strcmp(name, "..") && strcmp(name, "none") &&
	       strspn(name, PLAIN_LETTERS ":@+") == n;
}

/* Switches get into lines for a shell. Of others LLDP may have any name, or an address. */
static void check_name(const char *name, enum box_kind kind, const char *where)
{
	size_t n = strlen(name);
	const char *p;

	if (kind == BOX_SWITCH && (!n || n > 253 || *name == '-' ||
				   strspn(name, PLAIN_LETTERS) != n))
		fail("%s: \"%s\": a switch is named by 1 to 253 letters, digits, \"_\", \".\" and \"-\"",
		     where, name);
	for (p = name; *p; p++)
		if (*p <= ' ' || *p > '~')
			fail("%s: \"%s\": a box is named by printable letters of ASCII",
			     where, name);
}

/**
 * topology_find() - the box with this name
 * @t: topology
 * @name: name
 *
 * Return: NO_BOX if there is none.
 */
uint32_t topology_find(const struct topology *t, const char *name)
{
	uint32_t b;

	for (b = 0; b < t->net.boxes; b++)
		if (!strcmp(t->name[b], name))
			return b;
	return NO_BOX;
}

/**
 * topology_add() - a new box
 * @t: topology
 * @name: of the box
 * @kind: what it does
 * @where: file, for messages; NULL: do not check the name
 */
uint32_t topology_add(struct topology *t, const char *name, enum box_kind kind,
		      const char *where)
{
	uint32_t b = t->net.boxes;

	if (where)
		check_name(name, kind, where);
	t->name = grow(t->name, b, sizeof(*t->name));
	t->net.kind = grow(t->net.kind, b, sizeof(*t->net.kind));
	t->name[b] = need(strdup(name));
	t->net.kind[b] = kind;
	t->net.boxes++;
	return b;
}

/**
 * topology_ignores() - whether a port belongs to another network
 * @t: topology
 * @box: its box
 * @dev: its device, or any other text
 */
bool topology_ignores(const struct topology *t, uint32_t box, const char *dev)
{
	char *port;
	uint32_t p;

	if (t->net.kind[box] == BOX_IGNORED)
		return true;
	if (asprintf(&port, "%s:%s", t->name[box], dev) < 0)
		need(NULL);
	p = topology_find(t, port);
	free(port);
	return p != NO_BOX && t->net.kind[p] == BOX_IGNORED;
}

static bool is_host(const struct topology *t, uint32_t box)
{
	return t->net.kind[box] == BOX_HOST;
}

/* A port has one cable, but several hosts may share a port, behind something
 * that is not a box here.
 */
static void check_port(const struct topology *t, uint32_t box, const char *dev,
		       uint32_t other, const char *where)
{
	uint32_t c, i;

	if (!*dev)
		return;
	for (c = 0; c < t->net.cables; c++) {
		for (i = 0; i < 2; i++) {
			if (t->net.cable[c].box[i] != box || strcmp(t->dev[c][i], dev))
				continue;
			if (is_host(t, other) && is_host(t, t->net.cable[c].box[!i]))
				continue;
			fail("%s: %s of %s has two cables, to %s and (%s) to %s", where,
			     dev, t->name[box], t->name[other], t->where[c],
			     t->name[t->net.cable[c].box[!i]]);
		}
	}
}

/**
 * topology_join() - a new cable, unless one of its ends is ignored
 * @t: topology
 * @box: two boxes
 * @dev: the device of each; "" if it has not been given
 * @where: file, for messages
 */
void topology_join(struct topology *t, const uint32_t *box, const char *const *dev,
		   const char *where)
{
	uint32_t c = t->net.cables, i;

	if (topology_ignores(t, box[0], dev[0]) || topology_ignores(t, box[1], dev[1])) {
		t->ignored++;
		return;
	}
	if (box[0] == box[1])
		fail("%s: a cable from %s to itself", where, t->name[box[0]]);
	for (i = 0; i < 2; i++) {
		if (!*dev[i] && t->net.kind[box[0]] == BOX_SWITCH &&
		    t->net.kind[box[1]] == BOX_SWITCH)
			fail("%s: which device of %s? Between switches cables are BOX:DEV BOX:DEV",
			     where, t->name[box[i]]);
		check_port(t, box[i], dev[i], box[!i], where);
	}
	t->net.cable = grow(t->net.cable, c, sizeof(*t->net.cable));
	t->dev = grow(t->dev, c, sizeof(*t->dev));
	t->where = grow(t->where, c, sizeof(*t->where));
	t->where[c] = need(strdup(where));
	for (i = 0; i < 2; i++) {
		t->net.cable[c].box[i] = box[i];
		t->dev[c][i] = need(strdup(dev[i]));
	}
	t->net.cables++;
}

/* ---- lines ---- */

static uint32_t declared(const struct topology *t, const char *name, const char *where)
{
	uint32_t b = topology_find(t, name);

	if (b == NO_BOX)
		fail("%s: what is \"%s\"? A line \"switch\", \"host\", \"plain\" or \"ignore\" is to name each box",
		     where, name);
	return b;
}

/* Ignored boxes are read first: they may be something else as well. */
static void read_boxes(struct topology *t, const struct line *l, enum box_kind kind)
{
	uint32_t i, b;

	if (l->words < 2)
		fail("%s: \"%s\" without a name", l->where, l->word[0]);
	for (i = 1; i < l->words; i++) {
		b = topology_find(t, l->word[i]);
		if (b != NO_BOX && t->net.kind[b] == BOX_IGNORED)
			continue;
		if (b != NO_BOX)
			fail("%s: %s is there already", l->where, l->word[i]);
		topology_add(t, l->word[i], kind, l->where);
	}
}

/* BOX or BOX:DEV */
static uint32_t read_end(const struct topology *t, char *word, const char *where,
			 const char **dev)
{
	char *colon = strchr(word, ':');

	*dev = "";
	if (colon) {
		*colon = '\0';
		*dev = colon + 1;
		if (!is_device(*dev))
			fail("%s: \"%s\" is no name of a device", where, *dev);
	}
	return declared(t, word, where);
}

static void read_link(struct topology *t, const struct line *l)
{
	const char *dev[2];
	uint32_t box[2], i;

	if (l->words != 3)
		fail("%s: a cable is \"link BOX:DEV BOX:DEV\"", l->where);
	for (i = 0; i < 2; i++)
		box[i] = read_end(t, l->word[i + 1], l->where, &dev[i]);
	topology_join(t, box, dev, l->where);
}

static bool are_joined(const struct topology *t, uint32_t a, uint32_t b)
{
	const struct cable *c;

	for (c = t->net.cable; c < t->net.cable + t->net.cables; c++)
		if ((c->box[0] == a && c->box[1] == b) ||
		    (c->box[0] == b && c->box[1] == a))
			return true;
	return false;
}

static void read_path(struct topology *t, const struct line *l)
{
	struct route *r;
	uint32_t i;

	if (l->words < 4)
		fail("%s: a route is \"path BOX BOX BOX...\", three of them at least",
		     l->where);
	t->net.route = grow(t->net.route, t->net.routes, sizeof(*t->net.route));
	r = &t->net.route[t->net.routes++];
	r->n = l->words - 1;
	r->box = need(calloc(r->n, sizeof(*r->box)));
	for (i = 0; i < r->n; i++) {
		r->box[i] = declared(t, l->word[i + 1], l->where);
		if (i && i + 1 < r->n && is_host(t, r->box[i]))
			fail("%s: %s is a host, and forwards nothing", l->where,
			     l->word[i + 1]);
		if (i && !are_joined(t, r->box[i - 1], r->box[i]))
			fail("%s: there is no cable between %s and %s", l->where,
			     l->word[i], l->word[i + 1]);
	}
}

/* Kind of the boxes that a line declares; KIND_UNKNOWN = it declares none */
static uint8_t kind_of(const char *word)
{
	if (!strcmp(word, "switch"))
		return BOX_SWITCH;
	if (!strcmp(word, "host"))
		return BOX_HOST;
	if (!strcmp(word, "ignore"))
		return BOX_IGNORED;
	return strcmp(word, "plain") ? KIND_UNKNOWN : BOX_PLAIN;
}

/* Boxes may be declared behind the lines that use them, or in another file. */
static void read_lines(struct topology *t)
{
	const struct line *l, *end = lines + n_lines;

	for (l = lines; l < end; l++)
		if (!strcmp(l->word[0], "link"))
			read_link(t, l);
		else if (strcmp(l->word[0], "path") && kind_of(l->word[0]) == KIND_UNKNOWN)
			fail("%s: what is \"%s\"? Lines begin with switch, host, plain, ignore, link or path",
			     l->where, l->word[0]);
	for (l = lines; l < end; l++)
		if (!strcmp(l->word[0], "path"))
			read_path(t, l);
}

static void free_lines(void)
{
	uint32_t i, j;

	for (i = 0; i < n_lines; i++) {
		for (j = 0; j < lines[i].words; j++)
			free(lines[i].word[j]);
		free(lines[i].word);
		free(lines[i].where);
	}
	free(lines);
	lines = NULL;
	n_lines = 0;
}

static void split_line(char *text, const char *file, unsigned int number)
{
	struct line l = {};
	char where[4096], *word, *rest;

	text[strcspn(text, "#")] = '\0';
	snprintf(where, sizeof(where), "%s:%u", file, number);
	for (word = strtok_r(text, " \t\r", &rest); word;
	     word = strtok_r(NULL, " \t\r", &rest)) {
		if (l.words == WORDS_MAX)
			fail("%s: more than %u words: write several lines", where,
			     WORDS_MAX);
		l.word = grow(l.word, l.words, sizeof(*l.word));
		l.word[l.words++] = need(strdup(word));
	}
	if (!l.words)
		return;
	l.where = need(strdup(where));
	lines = grow(lines, n_lines, sizeof(*lines));
	lines[n_lines++] = l;
}

static void split(char *text, const char *file)
{
	unsigned int number = 0;
	char *line;

	while ((line = strsep(&text, "\n")))
		split_line(line, file, ++number);
}

/* Each pair of cables of a box may be a turn. */
static void check_turns(const struct topology *t)
{
	uint32_t *cables = need(calloc((size_t)t->net.boxes + 1, sizeof(*cables)));
	uint32_t way, b, most = 0;
	uint64_t turns = 0;

	for (way = 0; way < 2 * t->net.cables; way++)
		cables[way_from(&t->net, way)]++;
	for (b = 0; b < t->net.boxes; b++) {
		turns += (uint64_t)cables[b] * cables[b];
		most = cables[b] > cables[most] ? b : most;
	}
	if (turns > TURNS_MAX)
		fail("more than %u turns: %s alone has %u cables", TURNS_MAX,
		     t->name[most], cables[most]);
	free(cables);
}

/* ---- files ---- */

static char *read_file(const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	size_t room = 1 << 16, n = 0, got;
	char *text = need(malloc(room + 1));

	if (!f)
		fail("%s: %s", name, strerror(errno));
	while ((got = fread(text + n, 1, room - n, f))) {
		n += got;
		if (n > FILE_MAX)
			fail("%s: more than %u MB", name, FILE_MAX >> 20);
		if (n == room) {
			room *= 2;
			text = need(realloc(text, room + 1));
		}
	}
	if (ferror(f))
		fail("%s: %s", name, strerror(errno));
	if (f != stdin)
		fclose(f);
	if (memchr(text, '\0', n))
		fail("%s: this is not text", name);
	text[n] = '\0';
	return text;
}

/* "leaf1=FILE", else the name of the file without directories and its last ending */
static char *box_of(char *arg, const char **file)
{
	char *equals = strchr(arg, '='), *name, *dot;

	if (equals && equals > arg && !memchr(arg, '/', equals - arg)) {
		*file = equals + 1;
		return need(strndup(arg, equals - arg));
	}
	*file = arg;
	name = strrchr(arg, '/');
	name = need(strdup(name ? name + 1 : arg));
	dot = strrchr(name, '.');
	if (dot && dot > name)
		*dot = '\0';
	return name;
}

/* A file as it was given */
struct source {
	const char *file;
	char *box;
	char *text;
};

static bool is_json(const char *text)
{
	text += strspn(text, " \t\r\n");
	return *text == '{' || *text == '[';
}

static void read_sources(struct topology *t, struct source *source, int n)
{
	uint32_t i;
	int f;

	for (f = 0; f < n; f++)
		if (!is_json(source[f].text))
			split(source[f].text, source[f].file);
	for (i = 0; i < n_lines; i++)
		if (kind_of(lines[i].word[0]) == BOX_IGNORED)
			read_boxes(t, &lines[i], BOX_IGNORED);
	for (i = 0; i < n_lines; i++)
		if (kind_of(lines[i].word[0]) != KIND_UNKNOWN)
			read_boxes(t, &lines[i], kind_of(lines[i].word[0]));
	for (f = 0; f < n; f++)
		if (is_json(source[f].text))
			lldp_read(t, source[f].box, source[f].file, source[f].text);
	lldp_join(t);
	read_lines(t);
	free_lines();
}

/**
 * topology_read() - read a topology
 * @t: topology; for topology_free()
 * @files: number of files
 * @file: their names, those of LLDP as BOX=FILE or without BOX=; "-" is standard input
 */
void topology_read(struct topology *t, int files, char **file)
{
	struct source *source = need(calloc(files, sizeof(*source)));
	int f;

	*t = (struct topology){};
	for (f = 0; f < files; f++) {
		source[f].box = box_of(file[f], &source[f].file);
		source[f].text = read_file(source[f].file);
	}
	read_sources(t, source, files);
	check_turns(t);
	for (f = 0; f < files; f++) {
		free(source[f].box);
		free(source[f].text);
	}
	free(source);
}

void topology_free(struct topology *t)
{
	uint32_t i;

	for (i = 0; i < t->net.boxes; i++)
		free(t->name[i]);
	for (i = 0; i < t->net.cables; i++) {
		free(t->dev[i][0]);
		free(t->dev[i][1]);
		free(t->where[i]);
	}
	for (i = 0; i < t->net.routes; i++)
		free(t->net.route[i].box);
	free(t->name);
	free(t->dev);
	free(t->where);
	free(t->net.kind);
	free(t->net.cable);
	free(t->net.route);
}
