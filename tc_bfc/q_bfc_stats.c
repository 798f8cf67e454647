// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc_stats.c - statistics of the bfc qdisc, for tc(8)
 *
 * Text and JSON walk over the tables of lib/bfc_stats.h. Statistics that a
 * kernel does not report count as zero, those that this version does not know
 * are skipped.
 */
#include "q_bfc.h"

static const char * const peer_state_words[] = {
	[BFC_PEER_STATE_OFF] = "off",
	[BFC_PEER_STATE_SEARCHING] = "searching",
	[BFC_PEER_STATE_HEARD] = "heard",
	[BFC_PEER_STATE_UP] = "up",
	[BFC_PEER_STATE_CONFLICT] = "conflict",
	[BFC_PEER_STATE_REFUSED] = "refused",
	NULL
};

/* The word in JSON, and cause and remedy in text */
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

static void json_stat(const struct bfc_stat *stat, uint64_t value)
{
	switch (stat->unit) {
	case BFC_UNIT_SWITCH:
		json_bool(stat->key, value);
		break;
	case BFC_UNIT_BALANCE:
		print_color_s64(PRINT_JSON, COLOR_NONE, stat->key, NULL,
				(int32_t)value);
		break;
	case BFC_UNIT_DEVICE:
		if (value)
			json_string(stat->key, ll_index_to_name(value));
		else
			print_color_null(PRINT_JSON, COLOR_NONE, stat->key, NULL, NULL);
		break;
	default:
		json_number(stat->key, value);
	}
}

static void print_stat(const struct bfc_stat *stat, uint64_t value)
{
	char buf[SPRINT_BSIZE];

	json_stat(stat, value);
	print_text(" %s ", stat->key);
	switch (stat->unit) {
	case BFC_UNIT_NUMBER:
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, "%llu", value);
		break;
	case BFC_UNIT_SIZE:
		print_text("%s", sprint_exact(buf, value, sizes));
		break;
	case BFC_UNIT_BALANCE:
		print_color_s64(PRINT_FP, COLOR_NONE, NULL, "%lldb",
				(int32_t)value);
		break;
	case BFC_UNIT_TIME:
		/* To three digits. A value beyond s64 is no time. */
		print_text("%s", value > INT64_MAX ? "forever" :
			   sprint_time64(value, buf));
		break;
	case BFC_UNIT_RATE:
		tc_print_rate(PRINT_FP, NULL, "%s", value);
		break;
	case BFC_UNIT_SWITCH:
		print_text("%s", switch_words[value != 0]);
		break;
	case BFC_UNIT_DEVICE:
		print_text("%s", value ? ll_index_to_name(value) : "none");
		break;
	}
}

static bool any_of(const struct bfc_stat *table, const uint64_t *value)
{
	for (; table->key; table++)
		if (value[table->attr])
			return true;
	return false;
}

/* As text only if a value is not 0. */
static void print_prio(unsigned int prio, const uint64_t *value)
{
	bool shown = any_of(bfc_prio_table, value);
	const struct bfc_stat *stat;

	open_json_object(NULL);
	json_number("prio", prio);
	if (shown)
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, "  prio %llu", prio);
	for (stat = bfc_prio_table; stat->key; stat++) {
		if (shown)
			print_stat(stat, value[stat->attr]);
		else
			json_stat(stat, 0);
	}
	close_json_object();
	if (shown)
		print_nl();
}

static void print_prios(const struct bfc_stats *stats)
{
	unsigned int prio;

	open_json_array(PRINT_JSON, "prios");
	for (prio = 0; prio < BFC_STATS_PRIOS; prio++)
		print_prio(prio, stats->prio[prio]);
	close_json_array(PRINT_JSON, NULL);
}

static void print_classes(const struct bfc_stats *stats)
{
	const struct bfc_stat *stat;
	unsigned int class;

	if (!stats->classes)
		return;
	open_json_array(PRINT_JSON, "classes");
	for (class = 0; class < stats->classes; class++) {
		open_json_object(NULL);
		json_number("class", class);
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, "  class %llu", class);
		for (stat = bfc_tclass_table; stat->key; stat++)
			print_stat(stat, stats->tclass[class][stat->attr]);
		close_json_object();
		print_nl();
	}
	close_json_array(PRINT_JSON, NULL);
}

static const struct bfc_stat *block_begin(enum bfc_block block)
{
	const struct bfc_stat *stat = bfc_qdisc_table;

	while (stat->block != block)
		stat++;
	return stat;
}

/* Text has the block if a value in it is not zero, or if @shown: in another
 * mode its lines are left out. JSON always has all names.
 */
static void print_block(enum bfc_block block, const uint64_t *value, bool shown)
{
	const struct bfc_stat *begin = block_begin(block), *stat;

	for (stat = begin; stat->key && stat->block == block; stat++)
		shown |= !!value[stat->attr];
	for (stat = begin; stat->key && stat->block == block; stat++) {
		if (!shown) {
			json_stat(stat, 0);
			continue;
		}
		if (stat != begin && stat->line != stat[-1].line)
			print_nl();
		if (stat == begin || stat->line != stat[-1].line)
			print_text("%s", " ");
		print_stat(stat, value[stat->attr]);
	}
	if (shown)
		print_nl();
}

/* Print the counters that are not 0: the longest time, and the number of pauses. */
static void print_pause_times(const uint64_t *times)
{
	char buf[SPRINT_BSIZE];
	bool any = false;
	unsigned int i;
	uint64_t most;

	open_json_array(PRINT_JSON, "pause_times");
	for (i = 0; i < BFC_PAUSE_TIMES; i++) {
		if (!times[i])
			continue;
		if (!any)
			print_text("%s", "  pause_times");
		any = true;
		most = bfc_pause_time_most(i);
		open_json_object(NULL);
		if (most)
			json_number("up_to", most);
		else
			print_color_null(PRINT_JSON, COLOR_NONE, "up_to", NULL, NULL);
		json_number("pauses", times[i]);
		close_json_object();
		print_text(" %s", most ? sprint_time64(most, buf) : "longer");
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, " %llu", times[i]);
	}
	close_json_array(PRINT_JSON, NULL);
	if (any)
		print_nl();
}

/* As text only counters that are not 0. */
static void print_bad(const uint64_t *value)
{
	const struct bfc_stat *stat = block_begin(BFC_BLOCK_BAD);
	bool bad = false;

	for (; stat->key && stat->block == BFC_BLOCK_BAD; stat++) {
		if (!value[stat->attr]) {
			json_stat(stat, 0);
			continue;
		}
		if (!bad)
			print_text("%s", " ");
		bad = true;
		print_stat(stat, value[stat->attr]);
	}
	if (bad)
		print_nl();
}

static void print_peer(const uint64_t *value, bool has_port)
{
	uint64_t state = value[TCA_BFC_STATS_PEER_STATE];
	uint64_t refused = value[TCA_BFC_STATS_REFUSED];
	uint64_t id = value[TCA_BFC_STATS_PEER_ID];
	uint64_t rtt = value[TCA_BFC_STATS_HELLO_RTT];
	uint64_t hrtt = value[TCA_BFC_STATS_HRTT_MEASURED];
	char buf[SPRINT_BSIZE];
	const char *word;
	bool known, said;

	/* with `peer on` there may be a neighbour that has said nothing of itself */
	known = state != BFC_PEER_STATE_OFF &&
		state != BFC_PEER_STATE_SEARCHING;
	said = known && id;

	if (has_port) {
		word = word_or_number(buf, peer_state_words, state);
		json_string("peer_state", word);
		print_text("  peer %s", word);
	} else {
		print_color_null(PRINT_JSON, COLOR_NONE, "peer_state", NULL, NULL);
	}

	word = word_or_number(buf, role_words, value[TCA_BFC_STATS_PEER_ROLE]);
	if (said) {
		json_string("peer_role", word);
		print_text(" role %s", word);
	} else {
		print_color_null(PRINT_JSON, COLOR_NONE, "peer_role", NULL,
				 NULL);
	}
	if (known)
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, " queues %llu",
				value[TCA_BFC_STATS_PEER_QUEUES]);
	json_number("peer_queues", value[TCA_BFC_STATS_PEER_QUEUES]);

	snprintf(buf, sizeof(buf), "%016llx", (unsigned long long)id);
	json_string("peer_id", buf);
	if (said)
		print_text(" id %s", buf);

	if (refused && refused < ARRAY_SIZE(refusals)) {
		json_string("peer_refused", refusals[refused].word);
		print_text(" refused (%s)", refusals[refused].text);
	} else {
		print_color_null(PRINT_JSON, COLOR_NONE, "peer_refused", NULL,
				 NULL);
	}

	json_number("hello_rtt", rtt);
	if (known && rtt && rtt <= INT64_MAX)
		print_text(" rtt %s", sprint_time64(rtt, buf));
	json_number("hrtt_measured", hrtt);
	json_number("hrtt_samples", value[TCA_BFC_STATS_HRTT_SAMPLES]);
	if (hrtt && hrtt <= INT64_MAX)
		print_text(" hrtt %s", sprint_time64(hrtt, buf));
}

static void print_qdisc_stats(const struct bfc_stats *stats)
{
	print_block(BFC_BLOCK_GENERAL, stats->value, true);
	print_pause_times(stats->pause_times);
	print_block(BFC_BLOCK_SPEED, stats->value, false);
	print_block(BFC_BLOCK_CONTROL, stats->value, false);
	print_block(BFC_BLOCK_PORT, stats->value, stats->has_prios);
	print_block(BFC_BLOCK_STAMP, stats->value, false);
	if (stats->has_prios)
		print_prios(stats);
	print_classes(stats);
	print_bad(stats->value);
	print_peer(stats->value, stats->has_port);
}

static void print_class_stats(const struct bfc_class_stats *stats)
{
	const struct bfc_stat *stat;
	char buf[BFC_ADDRESS_ROOM];

	print_text("%s", " ");
	for (stat = bfc_class_table; stat->key; stat++)
		print_stat(stat, stats->value[stat->attr]);
	if (bfc_class_dst(stats, buf)) {
		json_string("dst", buf);
		print_text(" dst %s", buf);
	}
}

/* tc calls this for "qdisc show" and for "class show" and does not say which:
 * the numbers of the attributes do.
 */
int bfc_print_xstats(const struct qdisc_util *qu __unused, FILE *f __unused,
		     struct rtattr *xstats)
{
	struct bfc_class_stats class_stats;
	struct bfc_stats stats;

	if (!xstats)
		return 0;
	if (bfc_class_stats_read(&class_stats, xstats)) {
		print_class_stats(&class_stats);
		return 0;
	}
	bfc_stats_read(&stats, xstats);
	print_qdisc_stats(&stats);
	return 0;
}
