// SPDX-License-Identifier: GPL-2.0
/*
 * link_wire - plugin for ip: links of type wire
 *
 * ip loads it as $IP_LIB_DIR/link_wire.so when it meets the type "wire", and
 * looks for the symbol wire_link_util. Distributions ship no header for
 * plugins: ip_plugin.h declares what is used here.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "ip_plugin.h"
#include "wire.h"

#define MAX_MSG 1024

static void print_u64(enum output_type t, const char *key, const char *fmt,
		      uint64_t value)
{
	print_color_u64(t, COLOR_NONE, key, fmt, value);
}

static void print_uint(enum output_type t, const char *key, const char *fmt,
		       unsigned int value)
{
	print_color_uint(t, COLOR_NONE, key, fmt, value);
}

static void print_string(enum output_type t, const char *key, const char *fmt,
			 const char *value)
{
	print_color_string(t, COLOR_NONE, key, fmt, value);
}

static __u64 attr_u64(const struct rtattr *rta)
{
	__u64 v;

	memcpy(&v, RTA_DATA(rta), sizeof(v));
	return v;
}

static __u32 attr_u32(const struct rtattr *rta)
{
	return *(__u32 *)RTA_DATA(rta);
}

static void print_usage(FILE *f)
{
	fputs("Usage: ip link add DEV [ OPTIONS ] type wire [ WIRE ]\n"
	      "                                     [ peer [ OPTIONS ] ]\n"
	      "       ip link set DEV type wire [ WIRE ]\n"
	      "\n"
	      "WIRE :=\t[ rate RATE ] [ delay TIME ] [ ring FRAMES ]\n"
	      "\t[ overhead BYTES ] [ seed N ] [ DROPS ] [ PIPE ]\n"
	      "DROPS := drop none | drop RULE [ drop RULE ]...\n"
	      "RULE := { ETHERTYPE | any }\n"
	      "\t{ PERCENT% | every N | next N | pattern 0011... }\n"
	      "PIPE := pipe FRAMES/S [ pipe-delay TIME ] [ pipe-buffer BYTES ]\n"
	      "\t[ pipe-xoff BYTES ] [ pipe-xon BYTES ] [ pipe-stall BYTES ],\n"
	      "\tof what arrives, while DEV is down; default 0, none\n"
	      "RATE := NUMBER{ bit | kbit | mbit | gbit }, default 1gbit\n"
	      "TIME := NUMBER{ ns | us | ms | s }, default 0\n"
	      "FRAMES := slots per TX queue, default 8\n"
	      "ETHERTYPE := hexadecimal, outermost on the wire\n"
	      "\n"
	      "\"add\" sets both directions, \"set\" the one in which DEV sends.\n"
	      "\"set\" with any drop replaces all rules.\n", f);
}

static int illegal(const char *what, const char *arg)
{
	fprintf(stderr, "wire: Illegal \"%s\": \"%s\"\n", what, arg);
	return -1;
}

static int get_bits(__u64 *rate, const char *arg)
{
	static const struct { const char *name; double scale; } units[] = {
		{ "", 1 }, { "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 },
		{ "gbit", 1e9 }, { "tbit", 1e12 },
	};
	unsigned int i;
	double v;
	char *p;

	v = strtod(arg, &p);
	if (p == arg || !(v >= 0))
		return -1;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcasecmp(p, units[i].name))
			continue;
		v *= units[i].scale;
		if (v > 1e18)
			return -1;
		*rate = v + 0.5;
		return 0;
	}
	return -1;
}

/* get_u32() and get_u64() take "-1" for a large number. */
static int get_count(__u32 *v, const char *arg)
{
	return *arg == '-' || get_u32(v, arg, 0) ? -1 : 0;
}

/* Parameters and counters of the pipeline behind an end */
static const struct pipe_word {
	const char *name, *key;
	int attr;
	enum { PIPE_U64, PIPE_U32, PIPE_TIME } kind;
} pipe_words[] = {
	{ "pipe", "rate", IFLA_WIRE_PIPE_RATE, PIPE_U64 },
	{ "pipe-delay", "delay_ns", IFLA_WIRE_PIPE_DELAY, PIPE_TIME },
	{ "pipe-buffer", "buffer", IFLA_WIRE_PIPE_BUFFER, PIPE_U32 },
	{ "pipe-xoff", "xoff", IFLA_WIRE_PIPE_XOFF, PIPE_U32 },
	{ "pipe-xon", "xon", IFLA_WIRE_PIPE_XON, PIPE_U32 },
	{ "pipe-stall", "stall", IFLA_WIRE_PIPE_STALL, PIPE_U32 },
};

static const struct { const char *name, *text; int attr; } pipe_counts[] = {
	{ "pipe_drops", "pipe_drops %llu ", IFLA_WIRE_XSTATS_PIPE_DROPS },
	{ "pipe_peak", "pipe_peak %llu ", IFLA_WIRE_XSTATS_PIPE_PEAK },
	{ "pipe_pfc", "pipe_pfc %llu ", IFLA_WIRE_XSTATS_PIPE_PFC },
	{ "pipe_stalls", "pipe_stalls %llu ", IFLA_WIRE_XSTATS_PIPE_STALLS },
	{ "pipe_stall_ns", "pipe_stall_ns %llu ",
	  IFLA_WIRE_XSTATS_PIPE_STALL_NS },
};

#define N_PIPE_WORDS (sizeof(pipe_words) / sizeof(*pipe_words))
#define N_PIPE_COUNTS (sizeof(pipe_counts) / sizeof(*pipe_counts))

static const struct pipe_word *find_pipe_word(const char *key)
{
	unsigned int i;

	for (i = 0; i < N_PIPE_WORDS; i++)
		if (!strcmp(key, pipe_words[i].name))
			return &pipe_words[i];
	return NULL;
}

static int add_pipe_word(const struct pipe_word *w, const char *arg,
			 struct nlmsghdr *n)
{
	__u64 v64;
	__s64 ns;
	__u32 v32;

	switch (w->kind) {
	case PIPE_U64:
		if (*arg == '-' || get_u64(&v64, arg, 0))
			return illegal(w->name, arg);
		addattr64(n, MAX_MSG, w->attr, v64);
		return 0;
	case PIPE_TIME:
		if (get_time64(&ns, arg) || ns < 0)
			return illegal(w->name, arg);
		addattr64(n, MAX_MSG, w->attr, ns);
		return 0;
	default:
		if (get_count(&v32, arg))
			return illegal(w->name, arg);
		addattr32(n, MAX_MSG, w->attr, v32);
		return 0;
	}
}

/* One rule, after "drop". Returns how many words it took, or -1. */
static int parse_rule(int argc, char **argv, struct nlmsghdr *n)
{
	const char *what;
	struct rtattr *nest;
	__u32 count;
	double share;
	char *p;
	int type;

	nest = addattr_nest(n, MAX_MSG, IFLA_WIRE_RULE | NLA_F_NESTED);

	if (argc < 1)
		incomplete_command();
	if (strcmp(*argv, "any")) {
		unsigned long proto = strtoul(*argv, &p, 16);

		if (*p || p == *argv || !proto || proto > 0xffff)
			return illegal("drop ETHERTYPE", *argv);
		addattr16(n, MAX_MSG, IFLA_WIRE_RULE_PROTO, proto);
	}

	if (argc < 2)
		incomplete_command();
	what = argv[1];
	share = strtod(what, &p);
	if (p != what && !strcmp(p, "%")) {
		if (!(share >= 0 && share <= 100))
			return illegal("drop PERCENT", what);
		addattr32(n, MAX_MSG, IFLA_WIRE_RULE_SHARE,
			  share * (WIRE_SHARE_ALL / 100) + 0.5);
		addattr_nest_end(n, nest);
		return 2;
	}

	if (!strcmp(what, "every"))
		type = IFLA_WIRE_RULE_EVERY;
	else if (!strcmp(what, "next"))
		type = IFLA_WIRE_RULE_NEXT;
	else if (!strcmp(what, "pattern"))
		type = IFLA_WIRE_RULE_PATTERN;
	else
		return illegal("drop RULE", what);

	if (argc < 3)
		incomplete_command();
	if (type == IFLA_WIRE_RULE_PATTERN) {
		addattrstrz(n, MAX_MSG, type, argv[2]);
	} else {
		if (get_count(&count, argv[2]))
			return illegal(what, argv[2]);
		addattr32(n, MAX_MSG, type, count);
	}
	addattr_nest_end(n, nest);
	return 3;
}

/* All drop rules of the command line; other options may stand between them. */
struct drops {
	int n;
	char **rule[2 * WIRE_RULES_MAX];
	int words[2 * WIRE_RULES_MAX];
};

static int add_rules(struct drops *drops, struct nlmsghdr *n)
{
	struct rtattr *nest;
	int i;

	nest = addattr_nest(n, MAX_MSG, IFLA_WIRE_RULES | NLA_F_NESTED);
	for (i = 0; i < drops->n; i++)
		if (parse_rule(drops->words[i], drops->rule[i], n) < 0)
			return -1;
	addattr_nest_end(n, nest);
	return 0;
}

/* The rest of the command line is about the peer, as with veth. */
static int parse_peer(int argc, char **argv, struct nlmsghdr *n)
{
	struct ifinfomsg *ifm = NLMSG_DATA(n), *peer, saved = *ifm;
	struct rtattr *data;
	char *type = NULL;
	int used;

	ifm->ifi_flags = 0;
	ifm->ifi_change = 0;
	ifm->ifi_index = 0;

	data = addattr_nest(n, MAX_MSG, IFLA_WIRE_PEER);
	n->nlmsg_len += sizeof(struct ifinfomsg);
	used = iplink_parse(argc, argv, (struct iplink_req *)n, &type);
	if (used < 0)
		return -1;
	if (type)
		duparg("type", argv[used]);

	peer = RTA_DATA(data);
	memset(peer, 0, sizeof(*peer));
	peer->ifi_index = ifm->ifi_index;
	peer->ifi_flags = ifm->ifi_flags;
	peer->ifi_change = ifm->ifi_change;
	ifm->ifi_index = saved.ifi_index;
	ifm->ifi_flags = saved.ifi_flags;
	ifm->ifi_change = saved.ifi_change;

	addattr_nest_end(n, data);
	return argc == used ? 0 : illegal("peer", argv[used]);
}

static int wire_parse_opt(struct link_util *lu, int argc, char **argv,
			  struct nlmsghdr *n)
{
	bool drop = false;
	struct drops drops = { 0 };
	__u32 v32;
	__u64 v64;
	__s64 ns;

	while (argc > 0) {
		const char *key = *argv;

		if (!strcmp(key, "help")) {
			print_usage(stderr);
			return -1;
		}
		if (!strcmp(key, "peer"))
			break;
		if (strcmp(key, "rate") && strcmp(key, "delay") &&
		    strcmp(key, "ring") && strcmp(key, "overhead") &&
		    strcmp(key, "seed") && strcmp(key, "drop") &&
		    !find_pipe_word(key)) {
			fprintf(stderr,
				"wire: unknown option \"%s\", try \"ip link help wire\"\n",
				key);
			return -1;
		}
		argc--;
		argv++;
		if (argc < 1)
			incomplete_command();

		if (!strcmp(key, "rate")) {
			if (get_bits(&v64, *argv))
				return illegal(key, *argv);
			addattr64(n, MAX_MSG, IFLA_WIRE_RATE, v64);
		} else if (!strcmp(key, "delay")) {
			if (get_time64(&ns, *argv) || ns < 0)
				return illegal(key, *argv);
			addattr64(n, MAX_MSG, IFLA_WIRE_DELAY, ns);
		} else if (!strcmp(key, "ring")) {
			if (get_count(&v32, *argv))
				return illegal(key, *argv);
			addattr32(n, MAX_MSG, IFLA_WIRE_RING, v32);
		} else if (!strcmp(key, "overhead")) {
			if (get_count(&v32, *argv))
				return illegal(key, *argv);
			addattr32(n, MAX_MSG, IFLA_WIRE_OVERHEAD, v32);
		} else if (!strcmp(key, "seed")) {
			if (**argv == '-' || get_u64(&v64, *argv, 0))
				return illegal(key, *argv);
			addattr64(n, MAX_MSG, IFLA_WIRE_SEED, v64);
		} else if (find_pipe_word(key)) {
			if (add_pipe_word(find_pipe_word(key), *argv, n))
				return -1;
		} else {
			drop = true;
			if (!strcmp(*argv, "none")) {
				drops.n = 0;
			} else {
				int words;

				if (drops.n == 2 * WIRE_RULES_MAX)
					return illegal(key, "too many rules");
				/* "TYPE 5%" or "TYPE KIND VALUE" */
				words = argc > 1 && strchr(argv[1], '%') ?
					2 : 3;
				if (words > argc)
					words = argc;
				drops.rule[drops.n] = argv;
				drops.words[drops.n++] = words;
				argc -= words - 1;
				argv += words - 1;
			}
		}
		argc--;
		argv++;
	}

	if (drop && add_rules(&drops, n))
		return -1;
	/* The peer's options end with the line. */
	if (argc > 0)
		return parse_peer(argc - 1, argv + 1, n);
	return 0;
}

static void print_bits(__u64 rate)
{
	static const struct { const char *name; __u64 scale; } units[] = {
		{ "gbit", 1000000000 }, { "mbit", 1000000 }, { "kbit", 1000 },
		{ "bit", 1 },
	};
	char buf[64];
	int i = 0;

	/* Exact, in a form that "rate" takes. */
	while (rate % units[i].scale)
		i++;
	snprintf(buf, sizeof(buf), "%llu%s", rate / units[i].scale,
		 units[i].name);
	print_u64(PRINT_JSON, "rate", NULL, rate);
	print_string(PRINT_FP, NULL, "rate %s ", buf);
}

static void print_ns(__u64 ns)
{
	static const struct { const char *name; __u64 scale; } units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 },
		{ "ns", 1 },
	};
	char buf[64];
	int i = 0;

	while (ns % units[i].scale)
		i++;
	snprintf(buf, sizeof(buf), "%llu%s", ns / units[i].scale,
		 ns ? units[i].name : "");
	print_u64(PRINT_JSON, "delay_ns", NULL, ns);
	print_string(PRINT_FP, NULL, "delay %s ", buf);
}

static void print_rule(struct rtattr *nest)
{
	struct rtattr *tb[IFLA_WIRE_RULE_MAX + 1];
	char proto[8] = "any", buf[64];
	struct rtattr *attr;
	double share;

	parse_rtattr_flags(tb, IFLA_WIRE_RULE_MAX, RTA_DATA(nest),
			   RTA_PAYLOAD(nest), NLA_F_NESTED);
	open_json_object(NULL);

	attr = tb[IFLA_WIRE_RULE_PROTO];
	if (attr && *(__u16 *)RTA_DATA(attr))
		snprintf(proto, sizeof(proto), "%04x",
			 *(__u16 *)RTA_DATA(attr));
	print_string(PRINT_ANY, "ethertype", "drop %s ", proto);

	attr = tb[IFLA_WIRE_RULE_SHARE];
	if (attr) {
		share = attr_u32(attr) / (WIRE_SHARE_ALL / 100.0);
		print_color_float(PRINT_JSON, COLOR_NONE, "percent", NULL,
				  share);
		snprintf(buf, sizeof(buf), "%.9g%%", share);
		print_string(PRINT_FP, NULL, "%s ", buf);
	}
	attr = tb[IFLA_WIRE_RULE_EVERY];
	if (attr)
		print_uint(PRINT_ANY, "every", "every %u ", attr_u32(attr));
	attr = tb[IFLA_WIRE_RULE_NEXT];
	if (attr)
		print_uint(PRINT_ANY, "next", "next %u ", attr_u32(attr));
	attr = tb[IFLA_WIRE_RULE_PATTERN];
	if (attr)
		print_string(PRINT_ANY, "pattern", "pattern %s ",
			     RTA_DATA(attr));
	attr = tb[IFLA_WIRE_RULE_MATCHED];
	if (attr)
		print_u64(PRINT_ANY, "matched", "matched %llu ",
			  attr_u64(attr));
	attr = tb[IFLA_WIRE_RULE_DROPPED];
	if (attr)
		print_u64(PRINT_ANY, "dropped", "dropped %llu ",
			  attr_u64(attr));
	close_json_object();
}

static void print_rules(struct rtattr *nest, bool lines)
{
	int rem = RTA_PAYLOAD(nest);
	struct rtattr *attr;

	open_json_array(PRINT_JSON, "drops");
	for (attr = RTA_DATA(nest); RTA_OK(attr, rem);
	     attr = RTA_NEXT(attr, rem)) {
		if ((attr->rta_type & NLA_TYPE_MASK) != IFLA_WIRE_RULE)
			continue;
		if (lines) {
			print_nl();
			print_string(PRINT_FP, NULL, "%s", "    ");
		}
		print_rule(attr);
	}
	close_json_array(PRINT_JSON, NULL);
}

/* Print the pipeline, if there is one. */
static void print_pipe(struct rtattr *tb[])
{
	unsigned int i;
	char text[64];
	__u64 v;

	if (!tb[IFLA_WIRE_PIPE_RATE] || !attr_u64(tb[IFLA_WIRE_PIPE_RATE]))
		return;
	open_json_object("pipe");
	for (i = 0; i < N_PIPE_WORDS; i++) {
		const struct pipe_word *w = &pipe_words[i];

		if (!tb[w->attr])
			continue;
		v = w->kind == PIPE_U32 ? attr_u32(tb[w->attr]) :
					  attr_u64(tb[w->attr]);
		print_u64(PRINT_JSON, w->key, NULL, v);
		snprintf(text, sizeof(text), "%s %llu%s", w->name, v,
			 w->kind == PIPE_TIME ? "ns" : "");
		print_string(PRINT_FP, NULL, "%s ", text);
	}
	close_json_object();
}

static void wire_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	if (!tb)
		return;
	if (tb[IFLA_WIRE_RATE])
		print_bits(attr_u64(tb[IFLA_WIRE_RATE]));
	if (tb[IFLA_WIRE_DELAY])
		print_ns(attr_u64(tb[IFLA_WIRE_DELAY]));
	if (tb[IFLA_WIRE_RING])
		print_uint(PRINT_ANY, "ring", "ring %u ",
			   attr_u32(tb[IFLA_WIRE_RING]));
	if (tb[IFLA_WIRE_OVERHEAD])
		print_uint(PRINT_ANY, "overhead", "overhead %u ",
			   attr_u32(tb[IFLA_WIRE_OVERHEAD]));
	if (tb[IFLA_WIRE_SEED])
		print_u64(PRINT_ANY, "seed", "seed %llu ",
			  attr_u64(tb[IFLA_WIRE_SEED]));
	if (tb[IFLA_WIRE_RULES])
		print_rules(tb[IFLA_WIRE_RULES], false);
	print_pipe(tb);
}

static void wire_print_xstats(struct link_util *lu, FILE *f,
			      struct rtattr *xstats)
{
	struct rtattr *tb[IFLA_WIRE_XSTATS_MAX + 1];
	unsigned int i;

	parse_rtattr_flags(tb, IFLA_WIRE_XSTATS_MAX, RTA_DATA(xstats),
			   RTA_PAYLOAD(xstats), NLA_F_NESTED);
	print_nl();
	print_string(PRINT_FP, NULL, "%s", "    ");
	if (tb[IFLA_WIRE_XSTATS_TOO_LONG])
		print_u64(PRINT_ANY, "too_long", "too_long %llu ",
			  attr_u64(tb[IFLA_WIRE_XSTATS_TOO_LONG]));
	if (tb[IFLA_WIRE_XSTATS_CUT])
		print_u64(PRINT_ANY, "cut", "cut %llu ",
			  attr_u64(tb[IFLA_WIRE_XSTATS_CUT]));
	if (tb[IFLA_WIRE_XSTATS_STOPS])
		print_u64(PRINT_ANY, "stops", "stops %llu ",
			  attr_u64(tb[IFLA_WIRE_XSTATS_STOPS]));
	for (i = 0; i < N_PIPE_COUNTS; i++)
		if (tb[pipe_counts[i].attr])
			print_u64(PRINT_ANY, pipe_counts[i].name,
				  pipe_counts[i].text,
				  attr_u64(tb[pipe_counts[i].attr]));
	if (tb[IFLA_WIRE_XSTATS_RULES])
		print_rules(tb[IFLA_WIRE_XSTATS_RULES], true);
}

static void wire_print_help(struct link_util *lu, int argc, char **argv,
			    FILE *f)
{
	print_usage(f);
}

/* Not const: ip links it into its list. */
struct link_util wire_link_util = {
	.id		= "wire",
	.maxattr	= IFLA_WIRE_MAX,
	.parse_opt	= wire_parse_opt,
	.print_opt	= wire_print_opt,
	.print_xstats	= wire_print_xstats,
	.print_help	= wire_print_help,
};
