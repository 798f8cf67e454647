// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc_stats.c - statistics of the bfc qdisc, for tc(8)
 *
 * Tables of them; text and JSON walk over these. What a kernel does not report
 * counts as zero, what this version does not know is skipped.
 */
#include "q_bfc.h"

/* The two kinds of statistics come through one function, see below. */
_Static_assert(TCA_BFC_STATS_MAX < (int)TCA_BFC_CLASS_UNSPEC,
	       "qdisc and class statistics need numbers of their own");

static const char * const peer_state_words[] = {
	[BFC_PEER_STATE_OFF] = "off",
	[BFC_PEER_STATE_SEARCHING] = "searching",
	[BFC_PEER_STATE_HEARD] = "heard",
	[BFC_PEER_STATE_UP] = "up",
	[BFC_PEER_STATE_CONFLICT] = "conflict",
	[BFC_PEER_STATE_REFUSED] = "refused",
	NULL
};

/* A word for JSON, and for people the cause and what helps. */
static const struct {
	const char *word;
	const char *text;
} refusals[] = {
	[BFC_REFUSED_QUEUES] = { "queues",
		"more queues than a port can have: lower queues there" },
	[BFC_REFUSED_HANDLES] = { "handles",
		"no handles left: lower queues at neighbours, or use more namespaces" },
	[BFC_REFUSED_MTU] = { "mtu",
		"its pauses do not fit the MTU: raise it, or lower queues there" },
	[BFC_REFUSED_MEMORY] = { "memory", "no memory" },
	[BFC_REFUSED_WAIT] = { "wait",
		"it changes its queues too often, or packets of the queues before still wait" },
};

/* The name of a statistic is the same in text and in JSON. */
struct bfc_stat {
	__u16 attr;
	enum unit unit;
	const char *name;
};

#define STAT(attr, unit, name)	{ TCA_BFC_STATS_##attr, UNIT_##unit, name }
#define PRIO_STAT(attr, unit, name) \
	{ TCA_BFC_PRIO_STATS_##attr, UNIT_##unit, name }
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
	STAT(TOLD_TO_SHARE, NUMBER, "told_to_share"),
	STAT(JOINED, NUMBER, "joined"),
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

/* Of the control band. */
static const struct bfc_stat ctrl_stats[] = {
	STAT(CTRL_EXCESS, NUMBER, "ctrl_excess"),
};

/* Of the port-level modes. */
static const struct bfc_stat port_stats[] = {
	STAT(PFC_TX, NUMBER, "pfc_tx"),
	STAT(PFC_RX, NUMBER, "pfc_rx"),
	STAT(PFC_BAD, NUMBER, "pfc_bad"),
	STAT(MAC_PAUSE_RX, NUMBER, "mac_pause_rx"),
	NEW_LINE,
	STAT(DROP_MAX, NUMBER, "drop_max"),
	STAT(DROP_BUFFER, NUMBER, "drop_buffer"),
	STAT(ECN_MARK, NUMBER, "ecn_mark"),
	NEW_LINE,
	STAT(XOFF, SIZE, "xoff"),
	STAT(XON, SIZE, "xon"),
	STAT(HEADROOM, SIZE, "headroom"),
	NEW_LINE,
	STAT(BUFFER_SIZE, SIZE, "buffer_size"),
	STAT(BUFFER_USED, SIZE, "buffer_used"),
	STAT(BUFFER_PEAK, SIZE, "buffer_peak"),
	STAT(BUFFER_PORT, SIZE, "buffer_port"),
	NEW_LINE,
	STAT(SOLVED, NUMBER, "solved"),
	STAT(UNSOLVED, NUMBER, "unsolved"),
	NEW_LINE,
	STAT(STORMS, NUMBER, "storms"),
	STAT(RESTORED, NUMBER, "restored"),
	STAT(STORM_TX, NUMBER, "storm_tx"),
	STAT(STORM_DROPS, NUMBER, "storm_drops"),
};

/* Of programs that stamp */
static const struct bfc_stat stamp_stats[] = {
	STAT(STAMP_RUNS, NUMBER, "stamp_runs"),
	STAT(STAMP_DROPS, NUMBER, "stamp_drops"),
	STAT(STAMP_REDIRECTS, NUMBER, "stamp_redirects"),
	STAT(STAMP_GROWN, NUMBER, "stamp_grown"),
	STAT(STAMP_SHRUNK, NUMBER, "stamp_shrunk"),
	STAT(STAMP_BAD_LEN, NUMBER, "stamp_bad_len"),
	STAT(STAMP_UNTAGGED, NUMBER, "stamp_untagged"),
	STAT(STAMP_UNKNOWN, NUMBER, "stamp_unknown"),
};

/* And of one of their priorities. */
static const struct bfc_stat prio_stats[] = {
	PRIO_STAT(HELD, SIZE, "held"),
	PRIO_STAT(HEADROOM, SIZE, "headroom"),
	PRIO_STAT(PEAK, SIZE, "peak"),
	PRIO_STAT(PAUSING, SWITCH, "pausing"),
	PRIO_STAT(PAUSED, SWITCH, "paused"),
	PRIO_STAT(PAUSE_TX, NUMBER, "pause_tx"),
	PRIO_STAT(PAUSING_NS, TIME, "pausing_time"),
	PRIO_STAT(PAUSE_RX, NUMBER, "pause_rx"),
	PRIO_STAT(PAUSED_NS, TIME, "paused_time"),
};

static void json_stat(const struct bfc_stat *stat, __u64 value)
{
	if (stat->unit == UNIT_SWITCH)
		json_bool(stat->name, value);
	else
		json_number(stat->name, value);
}

static void print_stat(const struct bfc_stat *stat, __u64 value)
{
	char buf[SPRINT_BSIZE];

	json_stat(stat, value);
	print_text(" %s ", stat->name);
	switch (stat->unit) {
	case UNIT_SWITCH:
		print_text("%s", switch_words[value != 0]);
		break;
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

static void print_stats(const struct bfc_stat *stats, unsigned int count,
			struct rtattr *tb[])
{
	unsigned int i;
	__u64 value;

	print_text("%s", " ");
	for (i = 0; i < count; i++) {
		if (!stats[i].name) {
			print_nl();
			print_text("%s", " ");
			continue;
		}
		get_value(tb[stats[i].attr], &value);
		print_stat(&stats[i], value);
	}
	print_nl();
}

/* As text only if something happened. */
static void print_prio(unsigned int prio, struct rtattr *nest)
{
	struct rtattr *tb[TCA_BFC_PRIO_STATS_MAX + 1] = {};
	__u64 value[ARRAY_SIZE(prio_stats)];
	bool any = false;
	unsigned int i;

	if (nest)
		parse_rtattr_flags(tb, TCA_BFC_PRIO_STATS_MAX, RTA_DATA(nest),
				   RTA_PAYLOAD(nest), NLA_F_NESTED);
	for (i = 0; i < ARRAY_SIZE(prio_stats); i++) {
		get_value(tb[prio_stats[i].attr], &value[i]);
		any |= value[i];
	}

	open_json_object(NULL);
	json_number("prio", prio);
	if (any)
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, "  prio %llu", prio);
	for (i = 0; i < ARRAY_SIZE(prio_stats); i++) {
		if (any)
			print_stat(&prio_stats[i], value[i]);
		else
			json_stat(&prio_stats[i], 0);
	}
	close_json_object();
	if (any)
		print_nl();
}

/* The kernel sends only those that it wants to. */
static void print_prios(struct rtattr *nest)
{
	struct rtattr *tb[PRIOS + 1];
	unsigned int prio;

	parse_rtattr_flags(tb, PRIOS, RTA_DATA(nest), RTA_PAYLOAD(nest),
			   NLA_F_NESTED);
	open_json_array(PRINT_JSON, "prios");
	for (prio = 0; prio < PRIOS; prio++)
		print_prio(prio, tb[prio + 1]);
	close_json_array(PRINT_JSON, NULL);
}

/* In text they are there if any of them is not zero, or @shown: another mode is spared
 * the lines. In JSON names are always there.
 */
static void print_block(const struct bfc_stat *stats, unsigned int count,
			struct rtattr *tb[], bool shown)
{
	unsigned int i;
	__u64 value;

	for (i = 0; i < count && !shown; i++) {
		if (!stats[i].name)
			continue;
		get_value(tb[stats[i].attr], &value);
		shown = value;
	}
	if (shown)
		print_stats(stats, count, tb);
	for (i = 0; i < count && !shown; i++)
		if (stats[i].name)
			json_stat(&stats[i], 0);
}

static void print_port_stats(struct rtattr *tb[])
{
	struct rtattr *prios = tb[TCA_BFC_STATS_PRIOS];

	print_block(ctrl_stats, ARRAY_SIZE(ctrl_stats), tb, false);
	print_block(port_stats, ARRAY_SIZE(port_stats), tb, !!prios);
	print_block(stamp_stats, ARRAY_SIZE(stamp_stats), tb, false);
	if (prios)
		print_prios(prios);
}

static void print_peer(struct rtattr *tb[])
{
	__u64 state, role, queues, id, rtt, refused;
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

	get_value(tb[TCA_BFC_STATS_REFUSED], &refused);
	if (refused && refused < ARRAY_SIZE(refusals)) {
		json_string("peer_refused", refusals[refused].word);
		print_text(" refused (%s)", refusals[refused].text);
	}

	json_number("hello_rtt", rtt);
	if (known && rtt && rtt <= INT64_MAX)
		print_text(" rtt %s", sprint_time64(rtt, buf));
}

static void print_qdisc_stats(struct rtattr *tb[])
{
	bool bad = false;
	unsigned int i;
	__u64 value;

	print_stats(qdisc_stats, ARRAY_SIZE(qdisc_stats), tb);
	print_port_stats(tb);

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
int bfc_print_xstats(const struct qdisc_util *qu __unused, FILE *f __unused,
		     struct rtattr *xstats)
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
