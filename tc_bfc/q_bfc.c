// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc.c - tc(8) plugin for the bfc qdisc (Backpressure Flow Control)
 *
 * tc loads it by itself as q_bfc.so when it meets "bfc" on the command line or
 * in a dump. Two tables, one of options and one of statistics, hold all names,
 * numbers and units; parsing, encoding, text and JSON walk over them.
 *
 * Only what was given on the command line is sent, so that "tc qdisc change"
 * changes just that. Ranges are the kernel's business (it knows them best and
 * says so in its answer): here only what cannot be encoded is refused.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sch_bfc.h>

#include "tc_plugin.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define __unused	__attribute__((unused))

/* The two kinds of statistics come through one function, see print_xstats. */
_Static_assert(TCA_BFC_STATS_MAX < (int)TCA_BFC_CLASS_UNSPEC,
	       "qdisc and class statistics need numbers of their own");

enum unit {
	UNIT_WORD,	/* one of words[], sent as u8 */
	UNIT_SWITCH,	/* on or off, u8 */
	UNIT_NUMBER,	/* u32 */
	UNIT_SIZE,	/* u32 bytes */
	UNIT_TIME,	/* u64 ns */
	UNIT_RATE,	/* u64 bytes/s */
	UNIT_TPID,	/* u16, 88a8 or 8100 */
	UNIT_DEVICES,	/* nest of u32 ifindex */
};

static const char * const fc_words[] = {
	[BFC_FC_NONE] = "none",
	[BFC_FC_BFC] = "bfc",
	NULL
};

static const char * const role_words[] = {
	[BFC_ROLE_SWITCH] = "switch",
	[BFC_ROLE_NIC] = "nic",
	NULL
};

static const char * const peer_words[] = {
	[BFC_PEER_AUTO] = "auto",
	[BFC_PEER_ON] = "on",
	[BFC_PEER_OFF] = "off",
	NULL
};

static const char * const assign_words[] = {
	[BFC_ASSIGN_DYNAMIC] = "dynamic",
	[BFC_ASSIGN_STOCHASTIC] = "stochastic",
	[BFC_ASSIGN_SINGLE] = "single",
	NULL
};

static const char * const resume_words[] = {
	[BFC_RESUME_DRAINED] = "drained",
	[BFC_RESUME_EARLY] = "early",
	NULL
};

static const char * const switch_words[] = { "off", "on", NULL };

static const char * const peer_state_words[] = {
	[BFC_PEER_STATE_OFF] = "off",
	[BFC_PEER_STATE_SEARCHING] = "searching",
	[BFC_PEER_STATE_HEARD] = "heard",
	[BFC_PEER_STATE_UP] = "up",
	[BFC_PEER_STATE_CONFLICT] = "conflict",
	[BFC_PEER_STATE_REFUSED] = "refused",
	NULL
};

/* In the order in which they are printed. */
static const struct bfc_option {
	const char *name;		/* on the command line and as text */
	const char *key;		/* in JSON */
	__u16 attr;
	enum unit unit;
	const char * const *words;	/* UNIT_WORD */
	const char *auto_word;		/* NULL: has no automatic value */
	__u64 auto_value;
} options[] = {
	{ "fc", "fc", TCA_BFC_FC, UNIT_WORD, fc_words, NULL, 0 },
	{ "role", "role", TCA_BFC_ROLE, UNIT_WORD, role_words, NULL, 0 },
	{ "peer", "peer", TCA_BFC_PEER, UNIT_WORD, peer_words, NULL, 0 },
	{ "queues", "queues", TCA_BFC_QUEUES, UNIT_NUMBER, NULL, NULL, 0 },
	{ "flows", "flows", TCA_BFC_FLOWS, UNIT_NUMBER, NULL, "auto", 0 },
	{ "ways", "ways", TCA_BFC_WAYS, UNIT_NUMBER, NULL, NULL, 0 },
	{ "assign", "assign", TCA_BFC_ASSIGN, UNIT_WORD, assign_words, NULL, 0 },
	{ "avoid-paused", "avoid_paused", TCA_BFC_AVOID_PAUSED, UNIT_SWITCH,
	  NULL, NULL, 0 },
	{ "sticky", "sticky", TCA_BFC_STICKY, UNIT_TIME, NULL, "auto",
	  BFC_STICKY_AUTO },
	{ "hrtt", "hrtt", TCA_BFC_HRTT, UNIT_TIME, NULL, NULL, 0 },
	{ "threshold", "threshold", TCA_BFC_THRESHOLD, UNIT_SIZE, NULL, "auto", 0 },
	{ "resume", "resume", TCA_BFC_RESUME, UNIT_WORD, resume_words, NULL, 0 },
	{ "rate", "rate", TCA_BFC_RATE, UNIT_RATE, NULL, "link", 0 },
	{ "limit", "limit", TCA_BFC_LIMIT, UNIT_SIZE, NULL, NULL, 0 },
	{ "quantum", "quantum", TCA_BFC_QUANTUM, UNIT_SIZE, NULL, "auto", 0 },
	{ "new-first", "new_first", TCA_BFC_NEW_FIRST, UNIT_SWITCH, NULL, NULL, 0 },
	{ "refresh", "refresh", TCA_BFC_REFRESH, UNIT_TIME, NULL, "auto", 0 },
	{ "hold", "hold", TCA_BFC_HOLD, UNIT_TIME, NULL, "auto", 0 },
	{ "split-gso", "split_gso", TCA_BFC_SPLIT_GSO, UNIT_SWITCH, NULL, NULL, 0 },
	{ "tpid", "tpid", TCA_BFC_TPID, UNIT_TPID, NULL, NULL, 0 },
	{ "accept-pause", "accept_pause", TCA_BFC_ACCEPT_PAUSE, UNIT_SWITCH,
	  NULL, NULL, 0 },
	{ "elide", "elide", TCA_BFC_ELIDE, UNIT_DEVICES, NULL, "none", 0 },
};

/* More than the kernel takes, so that it is the kernel that says how many. */
#define ELIDE_ROOM	(4 * BFC_ELIDE_MAX)

/* The command line, understood. */
struct bfc_args {
	bool given[ARRAY_SIZE(options)];
	__u64 value[ARRAY_SIZE(options)];
	__u32 elide[ELIDE_ROOM];
	unsigned int elide_count;
};

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... bfc [ fc bfc* | none ] [ role switch* | nic ]\n"
		"               [ peer auto* | on | off ]\n"
		"               [ queues N ] [ flows N | auto* ] [ ways N ]\n"
		"               [ assign dynamic* | stochastic | single ]\n"
		"               [ avoid-paused on* | off ] [ sticky TIME | auto* ]\n"
		"               [ hrtt TIME ] [ threshold BYTES | auto* ]\n"
		"               [ resume early* | drained ]\n"
		"               [ rate RATE | link* ] [ limit BYTES ]\n"
		"               [ quantum BYTES | auto* ] [ new-first on* | off ]\n"
		"               [ refresh TIME | auto* ] [ hold TIME | auto* ]\n"
		"               [ split-gso on* | off ] [ tpid 88a8* | 8100 ]\n"
		"               [ accept-pause on | off* ]\n"
		"               [ elide DEV[,DEV...] | none* ]\n"
		"               (* marks defaults; queues 32, hrtt 100us, limit 16Mb)\n");
}

/* --- parsing ------------------------------------------------------------ */

static int find_word(const char * const *words, const char *arg)
{
	int i;

	for (i = 0; words[i]; i++)
		if (strcmp(words[i], arg) == 0)
			return i;
	return -1;
}

/* Returns -1, as the parsers want to. */
static int illegal(const struct bfc_option *opt, const char *arg)
{
	const char * const *word;

	fprintf(stderr, "bfc: illegal \"%s\" value \"%s\"", opt->name, arg);
	switch (opt->unit) {
	case UNIT_WORD:
		fprintf(stderr, ": give");
		for (word = opt->words; *word; word++)
			fprintf(stderr, "%s%s", word == opt->words ? " " :
				word[1] ? ", " : " or ", *word);
		break;
	case UNIT_SWITCH:
		fprintf(stderr, ": give on or off");
		break;
	case UNIT_TPID:
		fprintf(stderr, ": give 88a8 or 8100");
		break;
	default:
		break;
	}
	fprintf(stderr, "\n");
	return -1;
}

/* tc's own readers convert a double without a look at its sign and size; what
 * does not start like a number (minus, inf, nan) does not get that far.
 */
static bool starts_as_number(const char *arg)
{
	if (*arg == '.')
		arg++;
	return *arg >= '0' && *arg <= '9';
}

static int parse_number(const struct bfc_option *opt, const char *arg,
			__u64 *value)
{
	unsigned int u32 = 0;
	__s64 s64 = 0;
	int err = -1;

	if (!starts_as_number(arg))
		return illegal(opt, arg);

	switch (opt->unit) {
	case UNIT_NUMBER:
		err = get_u32(&u32, arg, 10);
		*value = u32;
		break;
	case UNIT_SIZE:
		err = get_size(&u32, arg);
		*value = u32;
		break;
	case UNIT_TIME:
		err = get_time64(&s64, arg);
		if (s64 < 0)
			err = -1;
		*value = s64;
		break;
	case UNIT_RATE:
		err = get_rate64(value, arg);
		break;
	default:
		break;
	}
	/* Zero means "automatic" to most options: something tiny that was
	 * rounded down, or huge that overflowed, must not turn into that.
	 */
	if (err || (*value == 0 && strtod(arg, NULL) != 0.0))
		return illegal(opt, arg);
	return 0;
}

/* DEV[,DEV...] */
static int parse_devices(const struct bfc_option *opt, const char *arg,
			 struct bfc_args *args)
{
	const char *p = arg;
	char name[128];		/* ALTIFNAMSIZ */
	unsigned int index;
	size_t len;

	args->elide_count = 0;
	for (;;) {
		len = strcspn(p, ",");
		if (!len || len >= sizeof(name))
			return illegal(opt, arg);
		if (args->elide_count == ARRAY_SIZE(args->elide)) {
			fprintf(stderr, "bfc: \"%s\" takes at most %u devices\n",
				opt->name, BFC_ELIDE_MAX);
			return -1;
		}
		memcpy(name, p, len);
		name[len] = '\0';
		index = ll_name_to_index(name);
		if (!index)
			return nodev(name);
		args->elide[args->elide_count++] = index;
		if (!p[len])
			return 0;
		p += len + 1;
	}
}

static int parse_value(unsigned int i, const char *arg, struct bfc_args *args)
{
	const struct bfc_option *opt = &options[i];
	__u64 *value = &args->value[i];
	int word;

	args->given[i] = true;

	if (opt->auto_word && strcmp(arg, opt->auto_word) == 0) {
		*value = opt->auto_value;
		args->elide_count = opt->unit == UNIT_DEVICES ?
				    0 : args->elide_count;
		return 0;
	}

	switch (opt->unit) {
	case UNIT_WORD:
	case UNIT_SWITCH:
		word = find_word(opt->words ? opt->words : switch_words, arg);
		if (word < 0)
			return illegal(opt, arg);
		*value = word;
		return 0;
	case UNIT_TPID:
		if (strcmp(arg, "88a8") != 0 && strcmp(arg, "8100") != 0)
			return illegal(opt, arg);
		*value = strtoul(arg, NULL, 16);
		return 0;
	case UNIT_DEVICES:
		return parse_devices(opt, arg, args);
	default:
		return parse_number(opt, arg, value);
	}
}

static void encode(struct nlmsghdr *n, const struct bfc_args *args)
{
	const int room = 4096;	/* of the 64 KiB that tc has for the message */
	struct rtattr *nest, *devices;
	unsigned int i, d;

	nest = addattr_nest(n, room, TCA_OPTIONS | NLA_F_NESTED);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const __u64 u64 = args->value[i];
		const __u32 u32 = u64;
		const __u16 u16 = u64;
		const __u8 u8 = u64;

		if (!args->given[i])
			continue;
		switch (options[i].unit) {
		case UNIT_WORD:
		case UNIT_SWITCH:
			addattr_l(n, room, options[i].attr, &u8, sizeof(u8));
			break;
		case UNIT_TPID:
			addattr_l(n, room, options[i].attr, &u16, sizeof(u16));
			break;
		case UNIT_NUMBER:
		case UNIT_SIZE:
			addattr_l(n, room, options[i].attr, &u32, sizeof(u32));
			break;
		case UNIT_TIME:
		case UNIT_RATE:
			addattr_l(n, room, options[i].attr, &u64, sizeof(u64));
			break;
		case UNIT_DEVICES:
			devices = addattr_nest(n, room,
					       options[i].attr | NLA_F_NESTED);
			for (d = 0; d < args->elide_count; d++)
				addattr_l(n, room, TCA_BFC_ELIDE_IFINDEX,
					  &args->elide[d],
					  sizeof(args->elide[d]));
			addattr_nest_end(n, devices);
			break;
		}
	}
	addattr_nest_end(n, nest);
}

static int bfc_parse_opt(const struct qdisc_util *qu __unused, int argc,
			 char **argv, struct nlmsghdr *n,
			 const char *dev __unused)
{
	struct bfc_args args = {};
	unsigned int i;

	for (; argc > 0; argc--, argv++) {
		if (strcmp(*argv, "help") == 0) {
			explain();
			return -1;
		}
		for (i = 0; i < ARRAY_SIZE(options); i++)
			if (strcmp(*argv, options[i].name) == 0)
				break;
		if (i == ARRAY_SIZE(options)) {
			fprintf(stderr, "What is \"%s\"?\n", *argv);
			explain();
			return -1;
		}
		NEXT_ARG();
		if (parse_value(i, *argv, &args))
			return -1;
	}

	encode(n, &args);
	return 0;
}

static int bfc_parse_class_opt(const struct qdisc_util *qu __unused,
			       int argc __unused, char **argv __unused,
			       struct nlmsghdr *n __unused,
			       const char *dev __unused)
{
	fprintf(stderr,
		"bfc: classes are the queues themselves and have no options; their number is \"queues\" of the qdisc\n");
	return -1;
}

/* --- printing ----------------------------------------------------------- */

struct scale {
	__u64 factor;
	const char *suffix;
};

static const struct scale times[] = {
	{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
};

static const struct scale sizes[] = {
	{ 1 << 30, "Gb" }, { 1 << 20, "Mb" }, { 1 << 10, "Kb" }, { 1, "b" },
};

static const struct scale bit_rates[] = {
	{ 1000000000000, "Tbit" }, { 1000000000, "Gbit" },
	{ 1000000, "Mbit" }, { 1000, "Kbit" }, { 1, "bit" },
};

#define SPRINT_BSIZE	64

/* tc's own printers round; what is printed here can be given back as it is. */
static const char *sprint_exact(char *buf, __u64 value,
				const struct scale *scale)
{
	while (scale->factor > 1 && (!value || value % scale->factor))
		scale++;
	snprintf(buf, SPRINT_BSIZE, "%llu%s",
		 (unsigned long long)(value / scale->factor), scale->suffix);
	return buf;
}

/* A value that this version has no word for is shown as its number. */
static const char *word_or_number(char *buf, const char * const *words,
				  __u64 value)
{
	__u64 i;

	for (i = 0; words[i]; i++)
		if (i == value)
			return words[i];
	snprintf(buf, SPRINT_BSIZE, "%llu", (unsigned long long)value);
	return buf;
}

static void print_text(const char *fmt, const char *text)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, fmt, text);
}

static void json_string(const char *key, const char *text)
{
	print_color_string(PRINT_JSON, COLOR_NONE, key, NULL, text);
}

static void json_number(const char *key, __u64 value)
{
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

static void json_bool(const char *key, bool value)
{
	print_color_bool(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

/* An attribute's value, whatever its width; false if it is not there. */
static bool get_value(const struct rtattr *attr, __u64 *value)
{
	union {
		__u8 u8;
		__u16 u16;
		__u32 u32;
		__u64 u64;
	} u = {};
	size_t len;

	*value = 0;
	if (!attr)
		return false;
	len = RTA_PAYLOAD(attr);
	if (len > sizeof(u))
		len = sizeof(u);
	memcpy(&u, RTA_DATA(attr), len);
	switch (len) {
	case sizeof(u.u8):
		*value = u.u8;
		return true;
	case sizeof(u.u16):
		*value = u.u16;
		return true;
	case sizeof(u.u32):
		*value = u.u32;
		return true;
	case sizeof(u.u64):
		*value = u.u64;
		return true;
	default:
		return false;
	}
}

static void print_devices(const struct bfc_option *opt, struct rtattr *nest)
{
	const char *sep = "";
	struct rtattr *attr = NULL;
	int len = 0;
	__u64 index;

	open_json_array(PRINT_JSON, opt->key);
	print_text("%s ", opt->name);
	if (nest) {
		attr = RTA_DATA(nest);
		len = RTA_PAYLOAD(nest);
	}
	for (; len > 0 && RTA_OK(attr, len); attr = RTA_NEXT(attr, len)) {
		if (attr->rta_type != TCA_BFC_ELIDE_IFINDEX ||
		    !get_value(attr, &index))
			continue;
		print_text("%s", sep);
		print_text("%s", ll_index_to_name(index));
		json_string(NULL, ll_index_to_name(index));
		sep = ",";
	}
	print_text("%s ", *sep ? "" : opt->auto_word);
	close_json_array(PRINT_JSON, NULL);
}

static void print_option(const struct bfc_option *opt, __u64 value)
{
	char buf[SPRINT_BSIZE];
	const char *text = "";

	print_text("%s ", opt->name);
	if (opt->auto_word && value == opt->auto_value) {
		json_string(opt->key, opt->auto_word);
		print_text("%s ", opt->auto_word);
		return;
	}

	switch (opt->unit) {
	case UNIT_WORD:
		text = word_or_number(buf, opt->words, value);
		json_string(opt->key, text);
		break;
	case UNIT_SWITCH:
		text = switch_words[value != 0];
		json_bool(opt->key, value);
		break;
	case UNIT_TPID:
		snprintf(buf, sizeof(buf), "%04x", (unsigned int)value);
		text = buf;
		json_string(opt->key, text);
		break;
	case UNIT_NUMBER:
		snprintf(buf, sizeof(buf), "%llu", (unsigned long long)value);
		text = buf;
		json_number(opt->key, value);
		break;
	case UNIT_SIZE:
		text = sprint_exact(buf, value, sizes);
		json_number(opt->key, value);
		break;
	case UNIT_TIME:
		text = sprint_exact(buf, value, times);
		json_number(opt->key, value);
		break;
	case UNIT_RATE:
		text = sprint_exact(buf, value * 8, bit_rates);
		json_number(opt->key, value);
		break;
	case UNIT_DEVICES:
		return;		/* print_devices() */
	}
	print_text("%s ", text);
}

static int bfc_print_opt(const struct qdisc_util *qu __unused, FILE *f __unused,
			 struct rtattr *opt)
{
	struct rtattr *tb[TCA_BFC_MAX + 1];
	unsigned int i;
	__u64 value;

	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_BFC_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt),
			   NLA_F_NESTED);

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i].unit == UNIT_DEVICES)
			print_devices(&options[i], tb[options[i].attr]);
		else if (get_value(tb[options[i].attr], &value))
			print_option(&options[i], value);
	}
	return 0;
}

static int bfc_print_class_opt(const struct qdisc_util *qu __unused,
			       FILE *f __unused, struct rtattr *opt __unused)
{
	return 0;		/* a class has none */
}

/* The name of a statistic is the same in text and in JSON. */
struct bfc_stat {
	__u16 attr;
	enum unit unit;
	const char *name;
};

#define STAT(attr, unit, name)	{ TCA_BFC_STATS_##attr, UNIT_##unit, name }
#define NEW_LINE		{ 0, UNIT_NUMBER, NULL }

static const struct bfc_stat qdisc_stats[] = {
	STAT(OCCUPIED, NUMBER, "occupied"),
	STAT(ACTIVE, NUMBER, "active"),
	STAT(PAUSED, NUMBER, "paused"),
	STAT(UPSTREAM_PAUSED, NUMBER, "upstream_paused"),
	STAT(COUNTERS, NUMBER, "counters"),
	NEW_LINE,
	STAT(THRESHOLD, SIZE, "threshold"),
	STAT(LINK_RATE, RATE, "link_rate"),
	STAT(HRTT, TIME, "hrtt"),
	STAT(STICKY, TIME, "sticky"),
	STAT(REFRESH, TIME, "refresh"),
	STAT(HOLD, TIME, "hold"),
	NEW_LINE,
	STAT(MEMORY, SIZE, "memory"),
	STAT(MEMORY_PEAK, SIZE, "memory_peak"),
	STAT(BACKLOG_PEAK, SIZE, "backlog_peak"),
	NEW_LINE,
	STAT(ASSIGNED, NUMBER, "assigned"),
	STAT(COLLISIONS, NUMBER, "collisions"),
	STAT(SHARED, NUMBER, "shared"),
	STAT(COUNTED, NUMBER, "counted"),
	STAT(ELIDED, NUMBER, "elided"),
	STAT(UNTRUSTED, NUMBER, "untrusted"),
	NEW_LINE,
	STAT(DROP_LIMIT, NUMBER, "drop_limit"),
	STAT(DROP_CAP, NUMBER, "drop_cap"),
	STAT(DROP_GSO, NUMBER, "drop_gso"),
	NEW_LINE,
	STAT(PAUSE_TX, NUMBER, "pause_tx"),
	STAT(RESUME_TX, NUMBER, "resume_tx"),
	STAT(PAUSE_RX, NUMBER, "pause_rx"),
	STAT(RESUME_RX, NUMBER, "resume_rx"),
	STAT(EXPIRED, NUMBER, "expired"),
	NEW_LINE,
	STAT(FRAMES_TX, NUMBER, "frames_tx"),
	STAT(REFRESH_TX, NUMBER, "refresh_tx"),
	STAT(FRAMES_RX, NUMBER, "frames_rx"),
	STAT(HELLO_TX, NUMBER, "hello_tx"),
	STAT(HELLO_RX, NUMBER, "hello_rx"),
	STAT(TAGGED_TX, NUMBER, "tagged_tx"),
	STAT(TAGGED_RX, NUMBER, "tagged_rx"),
};

/* As text only those that happened. */
static const struct bfc_stat bad_stats[] = {
	STAT(BAD_SHORT, NUMBER, "bad_short"),
	STAT(BAD_VERSION, NUMBER, "bad_version"),
	STAT(BAD_EPOCH, NUMBER, "bad_epoch"),
	STAT(BAD_SEQ, NUMBER, "bad_seq"),
	STAT(BAD_RANGE, NUMBER, "bad_range"),
	STAT(BAD_ROLE, NUMBER, "bad_role"),
	STAT(BAD_RATE, NUMBER, "bad_rate"),
	STAT(BAD_LOOP, NUMBER, "bad_loop"),
	STAT(BAD_TAG, NUMBER, "bad_tag"),
};

static void print_stat(const struct bfc_stat *stat, __u64 value)
{
	char buf[SPRINT_BSIZE];

	json_number(stat->name, value);
	print_text(" %s ", stat->name);
	switch (stat->unit) {
	case UNIT_SIZE:
		print_text("%s", sprint_exact(buf, value, sizes));
		break;
	case UNIT_TIME:
		/* To three digits. Beyond s64 is no time any more. */
		print_text("%s", value > INT64_MAX ? "forever" :
			   sprint_time64(value, buf));
		break;
	case UNIT_RATE:
		tc_print_rate(PRINT_FP, NULL, "%s", value);
		break;
	default:
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, "%llu", value);
		break;
	}
}

static void print_peer(struct rtattr *tb[])
{
	__u64 state, role, queues, id, rtt;
	char buf[SPRINT_BSIZE];
	const char *word;
	bool known;

	get_value(tb[TCA_BFC_STATS_PEER_STATE], &state);
	get_value(tb[TCA_BFC_STATS_PEER_ROLE], &role);
	get_value(tb[TCA_BFC_STATS_PEER_QUEUES], &queues);
	get_value(tb[TCA_BFC_STATS_PEER_ID], &id);
	get_value(tb[TCA_BFC_STATS_HELLO_RTT], &rtt);
	known = state != BFC_PEER_STATE_OFF &&
		state != BFC_PEER_STATE_SEARCHING;

	word = word_or_number(buf, peer_state_words, state);
	json_string("peer_state", word);
	print_text("  peer %s", word);

	word = word_or_number(buf, role_words, role);
	if (known) {
		json_string("peer_role", word);
		print_text(" role %s", word);
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, " queues %llu",
				queues);
	} else {
		print_color_null(PRINT_JSON, COLOR_NONE, "peer_role", NULL,
				 NULL);
	}
	json_number("peer_queues", queues);

	snprintf(buf, sizeof(buf), "%016llx", (unsigned long long)id);
	json_string("peer_id", buf);
	if (known)
		print_text(" id %s", buf);

	json_number("hello_rtt", rtt);
	if (known && rtt && rtt <= INT64_MAX)
		print_text(" rtt %s", sprint_time64(rtt, buf));
}

static void print_qdisc_stats(struct rtattr *tb[])
{
	bool bad = false;
	unsigned int i;
	__u64 value;

	print_text("%s", " ");
	for (i = 0; i < ARRAY_SIZE(qdisc_stats); i++) {
		if (!qdisc_stats[i].name) {
			print_nl();
			print_text("%s", " ");
			continue;
		}
		get_value(tb[qdisc_stats[i].attr], &value);
		print_stat(&qdisc_stats[i], value);
	}
	print_nl();

	for (i = 0; i < ARRAY_SIZE(bad_stats); i++) {
		get_value(tb[bad_stats[i].attr], &value);
		if (value && !bad)
			print_text("%s", " ");
		bad |= value;
		if (value)
			print_stat(&bad_stats[i], value);
		else
			json_number(bad_stats[i].name, 0);
	}
	if (bad)
		print_nl();

	print_peer(tb);
}

static void print_class_stats(struct rtattr *tb[])
{
	static const struct bfc_stat pauses = {
		TCA_BFC_CLASS_PAUSES, UNIT_NUMBER, "pauses"
	};
	static const struct bfc_stat paused_time = {
		TCA_BFC_CLASS_PAUSED_NS, UNIT_TIME, "paused_time"
	};
	static const struct bfc_stat peak = {
		TCA_BFC_CLASS_BACKLOG_PEAK, UNIT_SIZE, "backlog_peak"
	};
	__s32 deficit;
	__u64 value;

	get_value(tb[TCA_BFC_CLASS_PAUSED], &value);
	json_bool("paused", value);
	print_text("  paused %s", switch_words[value != 0]);

	get_value(tb[pauses.attr], &value);
	print_stat(&pauses, value);
	get_value(tb[paused_time.attr], &value);
	print_stat(&paused_time, value);
	get_value(tb[peak.attr], &value);
	print_stat(&peak, value);

	get_value(tb[TCA_BFC_CLASS_DEFICIT], &value);
	deficit = value;
	print_color_s64(PRINT_JSON, COLOR_NONE, "deficit", NULL, deficit);
	print_color_s64(PRINT_FP, COLOR_NONE, NULL, " deficit %lldb", deficit);
}

/* tc calls this for "qdisc show" and for "class show" and does not say which:
 * the numbers of the attributes do.
 */
static int bfc_print_xstats(const struct qdisc_util *qu __unused,
			    FILE *f __unused, struct rtattr *xstats)
{
	struct rtattr *tb[TCA_BFC_CLASS_MAX + 1];
	unsigned int i;

	if (!xstats)
		return 0;
	parse_rtattr_flags(tb, TCA_BFC_CLASS_MAX, RTA_DATA(xstats),
			   RTA_PAYLOAD(xstats), NLA_F_NESTED);

	for (i = TCA_BFC_CLASS_UNSPEC; i <= TCA_BFC_CLASS_MAX; i++)
		if (tb[i]) {
			print_class_stats(tb);
			return 0;
		}
	print_qdisc_stats(tb);
	return 0;
}

struct qdisc_util bfc_qdisc_util = {
	.id		= "bfc",
	.parse_qopt	= bfc_parse_opt,
	.print_qopt	= bfc_print_opt,
	.print_xstats	= bfc_print_xstats,
	.parse_copt	= bfc_parse_class_opt,
	.print_copt	= bfc_print_class_opt,
};
