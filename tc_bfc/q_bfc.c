// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc.c - options of the bfc qdisc, for tc(8) and bfcctl(8)
 *
 * Tables, here of options, in lib/bfc_stats.c of statistics, hold all names,
 * numbers, units and defaults; parsing and encoding (here), text and JSON
 * (q_bfc_show.c, q_bfc_stats.c) walk over them. bfcctl reads its configuration
 * file by these functions, too (bpf/bfcctl_tc.c).
 *
 * Only options given on the command line are sent, so that "tc qdisc change"
 * changes only these. The kernel checks ranges and reports errors. Here only
 * values that cannot be encoded are refused, and a zero that would be taken for
 * "automatic", which has a word of its own.
 */
#include <stdlib.h>
#include <strings.h>

#include "nearest.h"
#include "q_bfc.h"

/* Generated from spec/bfc.yaml: words */
static const char * const fc_words[] = {
	[BFC_FC_NONE] = "none",
	[BFC_FC_BFC] = "bfc",
	[BFC_FC_PFC] = "pfc",
	[BFC_FC_CAPFC_MAX] = "capfc-max",
	[BFC_FC_CAPFC_CAL] = "capfc-cal",
	[BFC_FC_FAFC] = "fafc",
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
	[BFC_ASSIGN_DESTINATION] = "destination",
	[BFC_ASSIGN_ROOT] = "root",
	[BFC_ASSIGN_SIMILAR] = "similar",
	NULL
};

static const char * const resume_words[] = {
	[BFC_RESUME_DRAINED] = "drained",
	[BFC_RESUME_EARLY] = "early",
	NULL
};

static const char * const prio_words[] = {
	[BFC_PRIO_PCP] = "pcp",
	[BFC_PRIO_DSCP] = "dscp",
	[BFC_PRIO_SKB] = "skb",
	NULL
};

static const char * const split_gso_words[] = {
	[BFC_SPLIT_GSO_OFF] = "off",
	[BFC_SPLIT_GSO_ON] = "on",
	[BFC_SPLIT_GSO_AUTO] = "auto",
	NULL
};

static const char * const txqs_words[] = {
	[BFC_TXQS_AUTO] = "auto",
	[BFC_TXQS_ONE] = "one",
	[BFC_TXQS_EACH] = "each",
	NULL
};

static const char * const sched_words[] = {
	[BFC_SCHED_DRR] = "drr",
	[BFC_SCHED_SRF] = "srf",
	NULL
};

/* End of words */

/* What to say about an illegal value, by unit */
static const char * const hints[] = {
	[UNIT_SWITCH] = "on or off",
	[UNIT_TPID] = "88a8 or 8100",
	[UNIT_PRIOS] = "all, none or priorities from 0 to 7 as in 3,4",
	[UNIT_MAP] = "auto or VALUE:PRIO as in 46:5,48:7, values from 0 to 63, priorities from 0 to 7",
	[UNIT_LIST] = "at most eight numbers above 0 as in 1,2,4, or ",
	[UNIT_DEVICES] = "none, or names of devices as in swp1,swp2",
	[UNIT_NAME] = "none or a name of at most 15 characters, no blanks",
	[UNIT_PERCENT] = "a whole percentage from 1% to 100% as in 80%",
	[UNIT_PERMILLE] = "a number from 0.1 to 1 with at most three decimals as in 0.8",
	[UNIT_LABEL] = "off, a DSCP from 1 to 63 as in dscp:46, or a mark as in mark:0x10 or mark:0x10/0xf0",
	[UNIT_STAMP] = "native, or pinned and the path of a program",
};

/* In the order in which they are printed. */
/* Generated from spec/bfc.yaml: table */
const struct bfc_option bfc_options[] = {
	{ "fc", "fc", TCA_BFC_FC, UNIT_WORD, fc_words, NULL, 0, "bfc", false,
	  NULL },
	{ "role", "role", TCA_BFC_ROLE, UNIT_WORD,
	  role_words, NULL, 0, "switch", false, NULL },
	{ "peer", "peer", TCA_BFC_PEER, UNIT_WORD,
	  peer_words, NULL, 0, "auto", false, NULL },
	{ "queues", "queues", TCA_BFC_QUEUES, UNIT_NUMBER,
	  NULL, NULL, 0, "32", true, "1 to 1024" },
	{ "flows", "flows", TCA_BFC_FLOWS, UNIT_NUMBER,
	  NULL, "auto", 0, "auto", true, "16 to 4194304, or auto" },
	{ "ways", "ways", TCA_BFC_WAYS, UNIT_NUMBER, NULL, NULL, 0, "4", true,
	  "1 to 8" },
	{ "sample", "sample", TCA_BFC_SAMPLE, UNIT_PERCENT,
	  NULL, NULL, 0, "100%", false, NULL },
	{ "assign", "assign", TCA_BFC_ASSIGN, UNIT_WORD,
	  assign_words, NULL, 0, "destination", false, NULL },
	{ "dst-prefix", "dst_prefix", TCA_BFC_DST_PREFIX, UNIT_NUMBER,
	  NULL, NULL, 0, "32", false, "0 to 32" },
	{ "dst-prefix6", "dst_prefix6", TCA_BFC_DST_PREFIX6, UNIT_NUMBER,
	  NULL, NULL, 0, "128", false, "0 to 128" },
	{ "incast", "incast", TCA_BFC_INCAST, UNIT_LABEL,
	  NULL, "off", 0, "off", false, NULL },
	{ "avoid-paused", "avoid_paused", TCA_BFC_AVOID_PAUSED, UNIT_SWITCH,
	  NULL, NULL, 0, "on", false, NULL },
	{ "sticky", "sticky", TCA_BFC_STICKY, UNIT_TIME,
	  NULL, "auto", BFC_STICKY_AUTO, "auto", false,
	  "at most 10 s, or auto" },
	{ "hrtt", "hrtt", TCA_BFC_HRTT, UNIT_TIME,
	  NULL, "auto", 0, "auto", false, "100 ns to 1 s, or auto" },
	{ "hrtt-max", "hrtt_max", TCA_BFC_HRTT_MAX, UNIT_TIME,
	  NULL, "auto", 0, "auto", false, "100 ns to 1 s, or auto" },
	{ "threshold", "threshold", TCA_BFC_THRESHOLD, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "resume", "resume", TCA_BFC_RESUME, UNIT_WORD,
	  resume_words, NULL, 0, "early", false, NULL },
	{ "rate", "rate", TCA_BFC_RATE, UNIT_RATE,
	  NULL, "link", 0, "link", false, "8 kbit to 1 tbit, or link" },
	{ "limit", "limit", TCA_BFC_LIMIT, UNIT_SIZE,
	  NULL, NULL, 0, "16Mb", false, "65536 to 1073741824 bytes" },
	{ "quantum", "quantum", TCA_BFC_QUANTUM, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "256 to 1048576 bytes, or auto" },
	{ "new-first", "new_first", TCA_BFC_NEW_FIRST, UNIT_SWITCH,
	  NULL, NULL, 0, "on", false, NULL },
	{ "sched", "sched", TCA_BFC_SCHED, UNIT_WORD,
	  sched_words, NULL, 0, "drr", false, NULL },
	{ "refresh", "refresh", TCA_BFC_REFRESH, UNIT_TIME,
	  NULL, "auto", 0, "auto", false, "10 us to 1 s, or auto" },
	{ "hold", "hold", TCA_BFC_HOLD, UNIT_TIME,
	  NULL, "auto", 0, "auto", false, "1 ms to 4 s, or auto" },
	{ "split-gso", "split_gso", TCA_BFC_SPLIT_GSO, UNIT_WORD,
	  split_gso_words, NULL, 0, "auto", false, NULL },
	{ "txqs", "txqs", TCA_BFC_TXQS, UNIT_WORD,
	  txqs_words, NULL, 0, "auto", true, NULL },
	{ "sync", "sync", TCA_BFC_SYNC, UNIT_TIME,
	  NULL, NULL, 0, "200us", false, "10 us to 1 s" },
	{ "tpid", "tpid", TCA_BFC_TPID, UNIT_TPID, NULL, NULL, 0, "88a8", false,
	  NULL },
	{ "accept-pause", "accept_pause", TCA_BFC_ACCEPT_PAUSE, UNIT_SWITCH,
	  NULL, NULL, 0, "off", false, NULL },
	{ "elide", "elide", TCA_BFC_ELIDE, UNIT_DEVICES,
	  NULL, "none", 0, "none", false, NULL },
	{ "classes", "classes", TCA_BFC_CLASSES, UNIT_NUMBER,
	  NULL, NULL, 0, "1", false, "1 to 8" },
	{ "class-queues", "class_queues", TCA_BFC_CLASS_QUEUES, UNIT_LIST,
	  NULL, "even", 0, "even", false, NULL },
	{ "weights", "weights", TCA_BFC_WEIGHTS, UNIT_LIST,
	  NULL, "equal", 0, "equal", false, NULL },
	{ "keep-class", "keep_class", TCA_BFC_KEEP_CLASS, UNIT_SWITCH,
	  NULL, NULL, 0, "on", false, NULL },
	{ "prio", "prio", TCA_BFC_PRIO, UNIT_WORD,
	  prio_words, NULL, 0, "pcp", false, NULL },
	{ "map", "map", TCA_BFC_PRIO_MAP, UNIT_MAP,
	  NULL, "auto", 0, "auto", false, NULL },
	{ "lossless", "lossless", TCA_BFC_LOSSLESS, UNIT_PRIOS,
	  NULL, NULL, 0, "all", false, NULL },
	{ "strict", "strict", TCA_BFC_STRICT, UNIT_PRIOS,
	  NULL, NULL, 0, "none", false, NULL },
	{ "xoff", "xoff", TCA_BFC_XOFF, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "xon", "xon", TCA_BFC_XON, UNIT_SIZE, NULL, "auto", 0, "auto", false,
	  "1 to 1073741824 bytes, or auto" },
	{ "max", "max", TCA_BFC_MAX_BYTES, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "dynamic", "dynamic", TCA_BFC_DYNAMIC, UNIT_SHARE,
	  NULL, "off", 0, "off", false,
	  "off, or 0.0001% to 102400% with at most four decimals" },
	{ "egress-xoff", "egress_xoff", TCA_BFC_EGRESS_XOFF, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "egress-xon", "egress_xon", TCA_BFC_EGRESS_XON, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "egress-max", "egress_max", TCA_BFC_EGRESS_MAX, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "warn", "warn", TCA_BFC_WARN, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "cut", "cut", TCA_BFC_CUT, UNIT_PERCENT, NULL, NULL, 0, "80%", false,
	  NULL },
	{ "thop", "thop", TCA_BFC_T_HOP, UNIT_TIME,
	  NULL, "auto", 0, "auto", false, "100 ns to 1 s, or auto" },
	{ "alpha", "alpha", TCA_BFC_ALPHA, UNIT_PERMILLE,
	  NULL, NULL, 0, "0.8", false, NULL },
	{ "beta", "beta", TCA_BFC_BETA, UNIT_PERMILLE,
	  NULL, NULL, 0, "0.8", false, NULL },
	{ "fdec", "fdec", TCA_BFC_FDEC, UNIT_PERMILLE,
	  NULL, NULL, 0, "0.8", false, NULL },
	{ "congested", "congested", TCA_BFC_CONGESTED, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "ecn", "ecn", TCA_BFC_ECN, UNIT_SIZE, NULL, "off", 0, "off", false,
	  "1 to 1073741824 bytes, or off" },
	{ "kmax", "kmax", TCA_BFC_KMAX, UNIT_SIZE, NULL, "off", 0, "off", false,
	  "1 to 1073741824 bytes, or off" },
	{ "pmax", "pmax", TCA_BFC_PMAX, UNIT_SHARE,
	  NULL, NULL, 0, "100%", false,
	  "0.0001% to 100% with at most four decimals" },
	{ "watchdog", "watchdog", TCA_BFC_WATCHDOG, UNIT_TIMEOUT,
	  NULL, "auto", BFC_WATCHDOG_AUTO, "auto", false,
	  "1 ms to 60 s, off or auto" },
	{ "buffer", "buffer", TCA_BFC_BUFFER, UNIT_NAME,
	  NULL, "none", 0, "none", false, NULL },
	{ "size", "size", TCA_BFC_BUFFER_SIZE, UNIT_SIZE,
	  NULL, "keep", 0, "keep", false,
	  "65536 to 1073741824 bytes, or keep" },
	{ "reserve", "reserve", TCA_BFC_RESERVE, UNIT_SIZE,
	  NULL, NULL, 0, "0b", false, "at most 1073741824 bytes" },
	{ "headroom", "headroom", TCA_BFC_HEADROOM, UNIT_SIZE,
	  NULL, "auto", 0, "auto", false, "1 to 1073741824 bytes, or auto" },
	{ "share", "share", TCA_BFC_SHARE, UNIT_SHARE,
	  NULL, "off", 0, "100%", false,
	  "off, or 0.0001% to 102400% with at most four decimals" },
	{ "stamp", "stamp", TCA_BFC_STAMP, UNIT_STAMP,
	  bfc_stamp_words, NULL, 0, "native", false, NULL },
	{}
};

/* End of table */

/* More than the kernel takes, so that the kernel reports the limit */
#define ELIDE_ROOM	(4 * BFC_ELIDE_MAX)

/* The parsed command line, by attribute */
struct bfc_args {
	bool given[TCA_BFC_MAX + 1];
	__u64 value[TCA_BFC_MAX + 1];
	__u32 elide[ELIDE_ROOM];
	unsigned int elide_count;
	__u8 map[BFC_PRIO_VALUES];
	__u16 lists[TCA_BFC_MAX + 1][BFC_LIST];
	const char *name;
	int stamp_fd;
};

/* Generated from spec/bfc.yaml: help */
static const char usage[] =
	"Usage: ... bfc [ fc bfc* | none | pfc | capfc-max | capfc-cal | fafc ]\n"
	"               [ role switch* | nic ] [ peer auto* | on | off ]\n"
	"               [ queues N ] [ flows N | auto* ] [ ways N ]\n"
	"               [ sample PERCENT ]\n"
	"               [ assign destination* | root | dynamic | similar | stochastic | single ]\n"
	"               [ dst-prefix N ] [ dst-prefix6 N ]\n"
	"               [ incast dscp:N | mark:M[/MASK] | off* ]\n"
	"               [ avoid-paused on* | off ] [ sticky TIME | auto* ]\n"
	"               [ hrtt TIME | auto* ] [ hrtt-max TIME | auto* ] [ threshold BYTES | auto* ]\n"
	"               [ resume early* | drained ]\n"
	"               [ rate RATE | link* ] [ limit BYTES ]\n"
	"               [ quantum BYTES | auto* ] [ new-first on* | off ] [ sched drr* | srf ]\n"
	"               [ refresh TIME | auto* ] [ hold TIME | auto* ]\n"
	"               [ split-gso auto* | on | off ]\n"
	"               [ txqs auto* | one | each ] [ sync TIME ] [ tpid 88a8* | 8100 ]\n"
	"               [ accept-pause on | off* ]\n"
	"               [ elide DEV[,DEV...] | none* ]\n"
	"               [ stamp native* | pinned PATH | pinned id N ]\n"
	"  classes:     [ classes N ] [ class-queues N[,N...] | even* ] [ weights N[,N...] | equal* ] [ keep-class on* | off ]\n"
	"  port-level:  [ prio pcp* | dscp | skb ]\n"
	"               [ map VALUE:PRIO[,VALUE:PRIO...] | auto* ]\n"
	"               [ lossless all* | none | PRIO[,PRIO...] ]\n"
	"               [ strict none* | all | PRIO[,PRIO...] ]\n"
	"               [ xoff BYTES | auto* ] [ xon BYTES | auto* ]\n"
	"               [ max BYTES | auto* ] [ dynamic PERCENT | off* ]\n"
	"               [ ecn BYTES | off* ] [ kmax BYTES | off* ] [ pmax PERCENT ] [ watchdog TIME | auto* | off ]\n"
	"  capfc-*:     [ egress-xoff BYTES | auto* ] [ egress-xon BYTES | auto* ]\n"
	"               [ egress-max BYTES | auto* ] [ warn BYTES | auto* ]\n"
	"               [ cut PERCENT ]\n"
	"  fafc:        [ thop TIME | auto* ] [ alpha NUM ] [ beta NUM ]\n"
	"               [ fdec NUM ] [ congested BYTES | auto* ]\n"
	"  buffer:      [ buffer NAME | none* ] [ size BYTES | keep* ]\n"
	"               [ reserve BYTES ] [ headroom BYTES | auto* ]\n"
	"               [ share PERCENT | off ]\n"
	"               (* marks defaults; queues 32, ways 4, sample 100%,\n"
	"               dst-prefix 32, dst-prefix6 128, limit 16Mb, sync 200us,\n"
	"               classes 1, cut 80%, alpha, beta and fdec 0.8, pmax 100%,\n"
	"               reserve 0b, share 100%)\n"
	"See tc-bfc(8).\n";

/* End of help */

static void explain(void)
{
	fputs(usage, stderr);
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

/* Print a message. Returns -1, for the parsers to return. */
static int illegal(const struct bfc_option *opt, const char *arg)
{
	const char * const *word;

	fprintf(stderr, "bfc: illegal \"%s\" value \"%s\"", opt->name, arg);
	if (opt->unit == UNIT_WORD) {
		fprintf(stderr, ": give");
		for (word = opt->words; *word; word++)
			fprintf(stderr, "%s%s", word == opt->words ? " " :
				word[1] ? ", " : " or ", *word);
	} else if (opt->unit < ARRAY_SIZE(hints) && hints[opt->unit]) {
		fprintf(stderr, ": give %s", hints[opt->unit]);
		if (opt->unit == UNIT_LIST)
			fprintf(stderr, "%s", opt->auto_word);
	} else if (opt->range) {
		fprintf(stderr, ": give %s", opt->range);
	}
	fprintf(stderr, "\n");
	return -1;
}

/* tc's readers take a bare number for bytes, us or bit/s: "hrtt 1" or "rate 10"
 * usually does not mean that.
 */
static int needs_unit(const struct bfc_option *opt, const char *arg)
{
	static const char * const units[][2] = {
		[UNIT_SIZE] = { "b", "kb" },
		[UNIT_TIME] = { "us", "ms" },
		[UNIT_TIMEOUT] = { "us", "ms" },
		[UNIT_RATE] = { "mbit", "gbit" },
	};

	fprintf(stderr, "bfc: %s needs a unit, as %s%s or %s%s\n", opt->name,
		arg, units[opt->unit][0], arg, units[opt->unit][1]);
	return -1;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* tc's own readers convert a double without a check of its sign and size: words
 * that do not start like a number (minus, inf, nan) must not get there.
 */
static bool starts_as_number(const char *arg)
{
	if (*arg == '.')
		arg++;
	return is_digit(*arg);
}

/* true for zero, which needs no unit */
static bool is_zero(const char *arg)
{
	return arg[strspn(arg, "0.")] == '\0';
}

static bool is_bare(const char *arg)
{
	char *unit;

	strtod(arg, &unit);
	return !*unit;
}

/* true for a zero that would be read as a value that has a word: "hrtt 0ms" as
 * auto, "share 0%" as off.
 */
static bool has_word(const struct bfc_option *opt, __u64 value)
{
	return !value && (opt->unit == UNIT_TIMEOUT ||
			  (opt->auto_word && !opt->auto_value));
}

static int parse_number(const struct bfc_option *opt, const char *arg,
			__u64 *value)
{
	unsigned int u32 = 0;
	__s64 s64 = 0;
	int err = -1;

	if (!starts_as_number(arg))
		return illegal(opt, arg);
	if (opt->unit != UNIT_NUMBER && is_bare(arg) && !is_zero(arg))
		return needs_unit(opt, arg);

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
	case UNIT_TIMEOUT:
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
	/* Zero may also be a tiny number rounded down, or a huge one that overflowed. */
	if (err || has_word(opt, *value) ||
	    (*value == 0 && strtod(arg, NULL) != 0.0))
		return illegal(opt, arg);
	return 0;
}

/* Digits, perhaps a point and more digits, then @suffix. @value counts units of
 * the last of @decimals decimals. More decimals are refused, unless they are
 * zero, and so are values over @max.
 */
static bool parse_decimal(const char *arg, unsigned int decimals,
			  const char *suffix, __u64 max, __u64 *value)
{
	bool point = false, any = false;

	*value = 0;
	for (; is_digit(*arg) || (*arg == '.' && !point); arg++) {
		if (*arg == '.') {
			point = true;
			continue;
		}
		any = true;
		if (point && !decimals) {
			if (*arg != '0')
				return false;
			continue;
		}
		if (point)
			decimals--;
		*value = *value * 10 + *arg - '0';
		if (*value > max)
			return false;
	}
	for (; decimals; decimals--) {
		*value *= 10;
		if (*value > max)
			return false;
	}
	return any && strcmp(arg, suffix) == 0;
}

/* A number from 0 to @max; *@arg is moved behind it. */
static bool parse_index(const char **arg, unsigned int max, unsigned int *index)
{
	const char *p = *arg;

	*index = 0;
	for (; is_digit(*p); p++) {
		*index = *index * 10 + *p - '0';
		if (*index > max)
			return false;
	}
	if (p == *arg)
		return false;
	*arg = p;
	return true;
}

/* all, none or PRIO[,PRIO...] */
static int parse_prios(const struct bfc_option *opt, const char *arg,
		       __u64 *value)
{
	const char *p = arg;
	unsigned int prio;

	*value = 0;
	if (strcmp(arg, "none") == 0)
		return 0;
	if (strcmp(arg, "all") == 0) {
		*value = PRIOS_ALL;
		return 0;
	}
	do {
		if (!parse_index(&p, PRIOS - 1, &prio))
			return illegal(opt, arg);
		*value |= 1 << prio;
	} while (*p++ == ',');
	return p[-1] ? illegal(opt, arg) : 0;
}

/* VALUE:PRIO[,VALUE:PRIO...] */
static int parse_map(const struct bfc_option *opt, const char *arg, __u8 *map)
{
	const char *p = arg;
	unsigned int value, prio;

	memset(map, BFC_PRIO_AUTO, BFC_PRIO_VALUES);
	do {
		if (!parse_index(&p, BFC_PRIO_VALUES - 1, &value) ||
		    *p++ != ':' || !parse_index(&p, PRIOS - 1, &prio))
			return illegal(opt, arg);
		if (map[value] != BFC_PRIO_AUTO) {
			fprintf(stderr, "bfc: \"%s\" has the value %u twice\n",
				opt->name, value);
			return -1;
		}
		map[value] = prio;
	} while (*p++ == ',');
	return p[-1] ? illegal(opt, arg) : 0;
}

/* A number, decimal or behind 0x hexadecimal; *@arg is moved behind it. */
static bool parse_u32(const char **arg, __u32 *value)
{
	char *end;
	unsigned long long v;

	if (!is_digit(**arg))
		return false;
	v = strtoull(*arg, &end, strncasecmp(*arg, "0x", 2) ? 10 : 16);
	*arg = end;
	*value = v;
	return v <= UINT32_MAX;
}

/* dscp:N or mark:M[/MASK]. DSCP 0 and mask 0 are refused: in the number that
 * both share, DSCP 0 would mean none, and a mark with mask 0 a DSCP.
 */
static int parse_label(const struct bfc_option *opt, const char *arg, __u64 *value)
{
	bool dscp = strncmp(arg, "dscp:", 5) == 0;
	const char *p = arg + 5;
	__u32 mask = UINT32_MAX, number;

	if ((!dscp && strncmp(arg, "mark:", 5) != 0) || !parse_u32(&p, &number))
		return illegal(opt, arg);
	if (!dscp && *p == '/') {
		p++;
		if (!parse_u32(&p, &mask))
			return illegal(opt, arg);
	}
	if (*p || !(dscp ? number : mask))
		return illegal(opt, arg);
	*value = dscp ? number : (__u64)mask << 32 | number;
	return 0;
}

/* N[,N...]; entries behind the last one are 0 */
static int parse_list(const struct bfc_option *opt, const char *arg, __u16 *list)
{
	unsigned int n = 0, value;
	const char *p = arg;

	memset(list, 0, BFC_LIST_LEN);
	do {
		if (n == BFC_LIST || !parse_index(&p, UINT16_MAX, &value) || !value)
			return illegal(opt, arg);
		list[n++] = value;
	} while (*p++ == ',');
	return p[-1] ? illegal(opt, arg) : 0;
}

/* A name of characters that can be printed and read again: see print_name(). */
static int parse_name(const struct bfc_option *opt, const char *arg)
{
	const char *p;

	for (p = arg; *p > ' ' && *p <= '~'; p++)
		;
	if (*p || p == arg || p - arg >= BFC_BUFFER_NAMSIZ)
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

static int parse_value(const struct bfc_option *opt, const char *arg,
		       struct bfc_args *args)
{
	__u64 *value = &args->value[opt->attr];
	int word;

	args->given[opt->attr] = true;

	if (opt->auto_word && strcmp(arg, opt->auto_word) == 0) {
		*value = opt->auto_value;
		if (opt->unit == UNIT_DEVICES)
			args->elide_count = 0;
		else if (opt->unit == UNIT_MAP)
			memset(args->map, BFC_PRIO_AUTO, sizeof(args->map));
		else if (opt->unit == UNIT_LIST)
			memset(args->lists[opt->attr], 0, BFC_LIST_LEN);
		else if (opt->unit == UNIT_NAME)
			args->name = "";
		return 0;
	}

	if (opt->unit == UNIT_TIMEOUT && strcmp(arg, "off") == 0) {
		*value = 0;
		return 0;
	}

	switch (opt->unit) {
	case UNIT_WORD:
	case UNIT_SWITCH:
	case UNIT_STAMP:
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
	case UNIT_PRIOS:
		return parse_prios(opt, arg, value);
	case UNIT_MAP:
		return parse_map(opt, arg, args->map);
	case UNIT_LABEL:
		return parse_label(opt, arg, value);
	case UNIT_LIST:
		return parse_list(opt, arg, args->lists[opt->attr]);
	case UNIT_NAME:
		args->name = arg;
		return parse_name(opt, arg);
	case UNIT_SHARE:
		return parse_decimal(arg, SHARE_DECIMALS, "%", UINT32_MAX, value) &&
		       !has_word(opt, *value) ? 0 : illegal(opt, arg);
	case UNIT_PERCENT:
		return parse_decimal(arg, 0, "%", UINT8_MAX, value) ?
		       0 : illegal(opt, arg);
	case UNIT_PERMILLE:
		return parse_decimal(arg, PERMILLE_DECIMALS, "", UINT32_MAX,
				     value) ? 0 : illegal(opt, arg);
	default:
		return parse_number(opt, arg, value);
	}
}

static void encode(struct nlmsghdr *n, const struct bfc_args *args)
{
	const int room = 4096;	/* of the 64 KiB that tc has for the message */
	const struct bfc_option *opt;
	struct rtattr *nest, *devices;
	unsigned int d;

	nest = addattr_nest(n, room, TCA_OPTIONS | NLA_F_NESTED);
	for (opt = bfc_options; opt->name; opt++) {
		const __u64 u64 = args->value[opt->attr];
		const __u32 u32 = u64;
		const __u16 u16 = u64;
		const __u8 u8 = u64;

		if (!args->given[opt->attr])
			continue;
		switch (opt->unit) {
		case UNIT_WORD:
		case UNIT_SWITCH:
		case UNIT_PRIOS:
		case UNIT_PERCENT:
			addattr_l(n, room, opt->attr, &u8, sizeof(u8));
			break;
		case UNIT_TPID:
			addattr_l(n, room, opt->attr, &u16, sizeof(u16));
			break;
		case UNIT_NUMBER:
		case UNIT_SIZE:
		case UNIT_SHARE:
		case UNIT_PERMILLE:
			addattr_l(n, room, opt->attr, &u32, sizeof(u32));
			break;
		case UNIT_TIME:
		case UNIT_TIMEOUT:
		case UNIT_RATE:
		case UNIT_LABEL:
			addattr_l(n, room, opt->attr, &u64, sizeof(u64));
			break;
		case UNIT_DEVICES:
			devices = addattr_nest(n, room,
					       opt->attr | NLA_F_NESTED);
			for (d = 0; d < args->elide_count; d++)
				addattr_l(n, room, TCA_BFC_ELIDE_IFINDEX,
					  &args->elide[d],
					  sizeof(args->elide[d]));
			addattr_nest_end(n, devices);
			break;
		case UNIT_MAP:
			addattr_l(n, room, opt->attr, args->map,
				  sizeof(args->map));
			break;
		case UNIT_LIST:
			addattr_l(n, room, opt->attr, args->lists[opt->attr],
				  BFC_LIST_LEN);
			break;
		case UNIT_NAME:
			addattr_l(n, room, opt->attr, args->name,
				  strlen(args->name) + 1);
			break;
		case UNIT_STAMP:
			addattr_l(n, room, opt->attr, &u8, sizeof(u8));
			if (u8 == BFC_STAMP_PINNED)
				addattr_l(n, room, TCA_BFC_STAMP_FD,
					  &args->stamp_fd,
					  sizeof(args->stamp_fd));
			break;
		}
	}
	addattr_nest_end(n, nest);
}

/* --- unknown options --------------------------------------------------- */

/* The nearest name of an option, NULL = none is near */
static const char *nearest(const char *arg)
{
	const char *names[ARRAY_SIZE(bfc_options)];
	unsigned int n = 0;

	for (; bfc_options[n].name; n++)
		names[n] = bfc_options[n].name;
	return bfc_nearest(arg, names, n);
}

/* The option that has this word as a value, "pfc" for "fc pfc"; NULL = none */
static const struct bfc_option *option_of_word(const char *arg)
{
	const struct bfc_option *opt;

	for (opt = bfc_options; opt->name; opt++)
		if (opt->unit == UNIT_WORD && find_word(opt->words, arg) >= 0)
			return opt;
	return NULL;
}

static int unknown(const char *arg)
{
	const struct bfc_option *of_word = option_of_word(arg);
	const char *near = nearest(arg);

	fprintf(stderr, "bfc: unknown option \"%s\"", arg);
	if (of_word)
		fprintf(stderr, ", did you mean \"%s %s\"?\n",
			of_word->name, arg);
	else if (near)
		fprintf(stderr, ", did you mean \"%s\"?\n", near);
	else
		fprintf(stderr, ", \"help\" lists those that there are\n");
	return -1;
}

/* The option of that name, or NULL. */
const struct bfc_option *bfc_find_option(const char *arg)
{
	const struct bfc_option *opt;

	for (opt = bfc_options; opt->name; opt++)
		if (strcmp(arg, opt->name) == 0)
			return opt;
	return NULL;
}

int bfc_parse_opt(const struct qdisc_util *qu __unused, int argc, char **argv,
		  struct nlmsghdr *n, const char *dev __unused)
{
	const struct bfc_option *opt;
	struct bfc_args args = {};

	for (; argc > 0; argc--, argv++) {
		if (strcmp(*argv, "help") == 0) {
			explain();
			return -1;
		}
		opt = bfc_find_option(*argv);
		if (!opt)
			return unknown(*argv);
		NEXT_ARG();
		if (parse_value(opt, *argv, &args))
			return -1;
		if (opt->unit == UNIT_STAMP &&
		    args.value[opt->attr] == BFC_STAMP_PINNED) {
			NEXT_ARG();
			args.stamp_fd = bfc_parse_stamp(&argc, &argv);
			if (args.stamp_fd < 0)
				return -1;
		}
	}

	encode(n, &args);
	return 0;
}
