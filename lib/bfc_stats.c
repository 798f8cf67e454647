// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "bfc_stats.h"

/* Both nests are TCA_STATS_APP: only the numbers of their attributes tell them apart. */
_Static_assert(TCA_BFC_STATS_MAX < (int)TCA_BFC_CLASS_UNSPEC,
	       "qdisc and class statistics need numbers of their own");

#define QDISC(key, attr, unit, block, line) \
	{ key, TCA_BFC_STATS_##attr, BFC_UNIT_##unit, BFC_BLOCK_##block, line }
#define PRIO(key, attr, unit) \
	{ key, TCA_BFC_PRIO_STATS_##attr, BFC_UNIT_##unit, 0, 0 }
#define TCLASS(key, attr, unit) \
	{ key, TCA_BFC_TCLASS_##attr, BFC_UNIT_##unit, 0, 0 }
#define CLASS(key, attr, unit) \
	{ key, TCA_BFC_CLASS_##attr, BFC_UNIT_##unit, 0, 0 }

/* Generated from spec/bfc.yaml: statistics */
const struct bfc_stat bfc_qdisc_table[] = {
	QDISC("occupied", OCCUPIED, NUMBER, GENERAL, 0),
	QDISC("active", ACTIVE, NUMBER, GENERAL, 0),
	QDISC("paused", PAUSED, NUMBER, GENERAL, 0),
	QDISC("upstream_paused", UPSTREAM_PAUSED, NUMBER, GENERAL, 0),
	QDISC("counters", COUNTERS, NUMBER, GENERAL, 0),
	QDISC("txqs", TXQS, NUMBER, GENERAL, 0),
	QDISC("txqs_sent", TXQS_SENT, NUMBER, GENERAL, 0),
	QDISC("threshold", THRESHOLD, SIZE, GENERAL, 1),
	QDISC("link_rate", LINK_RATE, RATE, GENERAL, 1),
	QDISC("hrtt", HRTT, TIME, GENERAL, 1),
	QDISC("sticky", STICKY, TIME, GENERAL, 1),
	QDISC("refresh", REFRESH, TIME, GENERAL, 1),
	QDISC("hold", HOLD, TIME, GENERAL, 1),
	QDISC("watchdog", WATCHDOG, TIME, GENERAL, 1),
	QDISC("memory", MEMORY, SIZE, GENERAL, 2),
	QDISC("memory_peak", MEMORY_PEAK, SIZE, GENERAL, 2),
	QDISC("backlog_peak", BACKLOG_PEAK, SIZE, GENERAL, 2),
	QDISC("assigned", ASSIGNED, NUMBER, GENERAL, 3),
	QDISC("collisions", COLLISIONS, NUMBER, GENERAL, 3),
	QDISC("told_to_share", TOLD_TO_SHARE, NUMBER, GENERAL, 3),
	QDISC("joined", JOINED, NUMBER, GENERAL, 3),
	QDISC("shared", SHARED, NUMBER, GENERAL, 3),
	QDISC("learned", LEARNED, NUMBER, GENERAL, 3),
	QDISC("counted", COUNTED, NUMBER, GENERAL, 3),
	QDISC("elided", ELIDED, NUMBER, GENERAL, 3),
	QDISC("untrusted", UNTRUSTED, NUMBER, GENERAL, 3),
	QDISC("unsampled", UNSAMPLED, NUMBER, GENERAL, 3),
	QDISC("labelled", LABELLED, NUMBER, GENERAL, 3),
	QDISC("sized", SIZED, NUMBER, GENERAL, 3),
	QDISC("drop_limit", DROP_LIMIT, NUMBER, GENERAL, 4),
	QDISC("drop_cap", DROP_CAP, NUMBER, GENERAL, 4),
	QDISC("drop_gso", DROP_GSO, NUMBER, GENERAL, 4),
	QDISC("pause_tx", PAUSE_TX, NUMBER, GENERAL, 5),
	QDISC("resume_tx", RESUME_TX, NUMBER, GENERAL, 5),
	QDISC("pause_rx", PAUSE_RX, NUMBER, GENERAL, 5),
	QDISC("resume_rx", RESUME_RX, NUMBER, GENERAL, 5),
	QDISC("expired", EXPIRED, NUMBER, GENERAL, 5),
	QDISC("paused_time", PAUSED_NS, TIME, GENERAL, 5),
	QDISC("queue_paused_time", QUEUE_PAUSED_NS, TIME, GENERAL, 5),
	QDISC("frames_tx", FRAMES_TX, NUMBER, GENERAL, 6),
	QDISC("refresh_tx", REFRESH_TX, NUMBER, GENERAL, 6),
	QDISC("frames_rx", FRAMES_RX, NUMBER, GENERAL, 6),
	QDISC("hello_tx", HELLO_TX, NUMBER, GENERAL, 6),
	QDISC("hello_rx", HELLO_RX, NUMBER, GENERAL, 6),
	QDISC("tagged_tx", TAGGED_TX, NUMBER, GENERAL, 6),
	QDISC("tagged_rx", TAGGED_RX, NUMBER, GENERAL, 6),
	QDISC("refused_rate", REFUSED_RATE, RATE, SPEED, 0),
	QDISC("ctrl_excess", CTRL_EXCESS, NUMBER, CONTROL, 0),
	QDISC("pfc_tx", PFC_TX, NUMBER, PORT, 0),
	QDISC("pfc_rx", PFC_RX, NUMBER, PORT, 0),
	QDISC("pfc_bad", PFC_BAD, NUMBER, PORT, 0),
	QDISC("mac_pause_rx", MAC_PAUSE_RX, NUMBER, PORT, 0),
	QDISC("drop_max", DROP_MAX, NUMBER, PORT, 1),
	QDISC("drop_buffer", DROP_BUFFER, NUMBER, PORT, 1),
	QDISC("ecn_mark", ECN_MARK, NUMBER, PORT, 1),
	QDISC("xoff", XOFF, SIZE, PORT, 2),
	QDISC("xon", XON, SIZE, PORT, 2),
	QDISC("headroom", HEADROOM, SIZE, PORT, 2),
	QDISC("beyond", BEYOND, SIZE, PORT, 2),
	QDISC("buffer_size", BUFFER_SIZE, SIZE, PORT, 3),
	QDISC("buffer_used", BUFFER_USED, SIZE, PORT, 3),
	QDISC("buffer_peak", BUFFER_PEAK, SIZE, PORT, 3),
	QDISC("buffer_port", BUFFER_PORT, SIZE, PORT, 3),
	QDISC("solved", SOLVED, NUMBER, PORT, 4),
	QDISC("unsolved", UNSOLVED, NUMBER, PORT, 4),
	QDISC("storms", STORMS, NUMBER, PORT, 5),
	QDISC("restored", RESTORED, NUMBER, PORT, 5),
	QDISC("storm_tx", STORM_TX, NUMBER, PORT, 5),
	QDISC("storm_drops", STORM_DROPS, NUMBER, PORT, 5),
	QDISC("stamp_runs", STAMP_RUNS, NUMBER, STAMP, 0),
	QDISC("stamp_drops", STAMP_DROPS, NUMBER, STAMP, 0),
	QDISC("stamp_redirects", STAMP_REDIRECTS, NUMBER, STAMP, 0),
	QDISC("stamp_grown", STAMP_GROWN, NUMBER, STAMP, 0),
	QDISC("stamp_shrunk", STAMP_SHRUNK, NUMBER, STAMP, 0),
	QDISC("stamp_bad_len", STAMP_BAD_LEN, NUMBER, STAMP, 0),
	QDISC("stamp_untagged", STAMP_UNTAGGED, NUMBER, STAMP, 0),
	QDISC("stamp_unknown", STAMP_UNKNOWN, NUMBER, STAMP, 0),
	QDISC("bad_short", BAD_SHORT, NUMBER, BAD, 0),
	QDISC("bad_version", BAD_VERSION, NUMBER, BAD, 0),
	QDISC("bad_epoch", BAD_EPOCH, NUMBER, BAD, 0),
	QDISC("bad_seq", BAD_SEQ, NUMBER, BAD, 0),
	QDISC("bad_range", BAD_RANGE, NUMBER, BAD, 0),
	QDISC("bad_role", BAD_ROLE, NUMBER, BAD, 0),
	QDISC("bad_rate", BAD_RATE, NUMBER, BAD, 0),
	QDISC("bad_loop", BAD_LOOP, NUMBER, BAD, 0),
	QDISC("bad_tag", BAD_TAG, NUMBER, BAD, 0),
	QDISC("peer_state", PEER_STATE, NUMBER, PEER, 0),
	QDISC("peer_role", PEER_ROLE, NUMBER, PEER, 0),
	QDISC("peer_queues", PEER_QUEUES, NUMBER, PEER, 0),
	QDISC("peer_id", PEER_ID, NUMBER, PEER, 0),
	QDISC("peer_refused", REFUSED, NUMBER, PEER, 0),
	QDISC("hello_rtt", HELLO_RTT, TIME, PEER, 0),
	QDISC("hrtt_measured", HRTT_MEASURED, TIME, PEER, 0),
	QDISC("hrtt_samples", HRTT_SAMPLES, NUMBER, PEER, 0),
	{}
};

const struct bfc_stat bfc_prio_table[] = {
	PRIO("held", HELD, SIZE),
	PRIO("headroom", HEADROOM, SIZE),
	PRIO("peak", PEAK, SIZE),
	PRIO("pausing", PAUSING, SWITCH),
	PRIO("paused", PAUSED, SWITCH),
	PRIO("pause_tx", PAUSE_TX, NUMBER),
	PRIO("pausing_time", PAUSING_NS, TIME),
	PRIO("pause_rx", PAUSE_RX, NUMBER),
	PRIO("paused_time", PAUSED_NS, TIME),
	{}
};

const struct bfc_stat bfc_tclass_table[] = {
	TCLASS("queues", QUEUES, NUMBER),
	TCLASS("occupied", OCCUPIED, NUMBER),
	TCLASS("paused", PAUSED, NUMBER),
	TCLASS("backlog", BACKLOG, SIZE),
	TCLASS("qlen", QLEN, NUMBER),
	TCLASS("bytes", BYTES, NUMBER),
	TCLASS("packets", PACKETS, NUMBER),
	TCLASS("drops", DROPS, NUMBER),
	TCLASS("exhausted", EXHAUSTED, NUMBER),
	TCLASS("pauses", PAUSES, NUMBER),
	TCLASS("paused_time", PAUSED_NS, TIME),
	{}
};

const struct bfc_stat bfc_class_table[] = {
	CLASS("paused", PAUSED, SWITCH),
	CLASS("pauses", PAUSES, NUMBER),
	CLASS("paused_time", PAUSED_NS, TIME),
	CLASS("backlog_peak", BACKLOG_PEAK, SIZE),
	CLASS("deficit", DEFICIT, BALANCE),
	CLASS("root", ROOT, NUMBER),
	CLASS("from", FROM, DEVICE),
	{}
};

/* End of statistics */

/* Of several attributes of a type the first one counts, as in tc. */
static void attrs_by_type(const struct rtattr *by_type[], unsigned int max,
			  const struct rtattr *nest)
{
	const struct rtattr *attr = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest);
	unsigned int type;

	memset(by_type, 0, (max + 1) * sizeof(*by_type));
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len)) {
		type = attr->rta_type & NLA_TYPE_MASK;
		if (type <= max && !by_type[type])
			by_type[type] = attr;
	}
}

/**
 * bfc_attr_number() - value of an attribute, whatever its width
 * @attr: u8, u16, u32 or u64, of something longer the first eight bytes; or NULL
 * @value: receives it, 0 if there is none
 *
 * Return: whether there is one.
 */
bool bfc_attr_number(const struct rtattr *attr, uint64_t *value)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
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

/* @max: largest type, TCA_BFC_PRIO_STATS_MAX or TCA_BFC_TCLASS_MAX */
static void read_numbers(uint64_t value[], unsigned int max, const struct rtattr *nest)
{
	const struct rtattr *by_type[max + 1];
	unsigned int i;

	attrs_by_type(by_type, max, nest);
	for (i = 0; i <= max; i++)
		bfc_attr_number(by_type[i], &value[i]);
}

static void read_classes(struct bfc_stats *stats, const struct rtattr *nest)
{
	const struct rtattr *classes[BFC_STATS_CLASSES + 1];
	unsigned int i;

	attrs_by_type(classes, BFC_STATS_CLASSES, nest);
	for (i = 0; i < BFC_STATS_CLASSES && classes[i + 1]; i++)
		read_numbers(stats->tclass[i], TCA_BFC_TCLASS_MAX, classes[i + 1]);
	stats->classes = i;
}

static void read_pause_times(uint64_t times[], const struct rtattr *nest)
{
	const struct rtattr *by_type[BFC_PAUSE_TIMES + 1];
	unsigned int i;

	attrs_by_type(by_type, BFC_PAUSE_TIMES, nest);
	for (i = 0; i < BFC_PAUSE_TIMES; i++)
		bfc_attr_number(by_type[i + 1], &times[i]);
}

/**
 * bfc_stats_read() - read the statistics of a qdisc
 * @stats: receives them
 * @app: TCA_STATS_APP of a qdisc of kind bfc
 */
void bfc_stats_read(struct bfc_stats *stats, const struct rtattr *app)
{
	const struct rtattr *by_type[TCA_BFC_STATS_MAX + 1];
	const struct rtattr *prios[BFC_STATS_PRIOS + 1];
	unsigned int i;

	memset(stats, 0, sizeof(*stats));
	attrs_by_type(by_type, TCA_BFC_STATS_MAX, app);
	stats->has_prios = by_type[TCA_BFC_STATS_PRIOS];
	stats->has_port = by_type[TCA_BFC_STATS_HOLD];
	if (stats->has_prios) {
		attrs_by_type(prios, BFC_STATS_PRIOS, by_type[TCA_BFC_STATS_PRIOS]);
		for (i = 0; i < BFC_STATS_PRIOS; i++)
			if (prios[i + 1])
				read_numbers(stats->prio[i], TCA_BFC_PRIO_STATS_MAX,
					     prios[i + 1]);
		by_type[TCA_BFC_STATS_PRIOS] = NULL;
	}
	if (by_type[TCA_BFC_STATS_CLASSES]) {
		read_classes(stats, by_type[TCA_BFC_STATS_CLASSES]);
		by_type[TCA_BFC_STATS_CLASSES] = NULL;
	}
	if (by_type[TCA_BFC_STATS_PAUSE_TIMES]) {
		read_pause_times(stats->pause_times, by_type[TCA_BFC_STATS_PAUSE_TIMES]);
		by_type[TCA_BFC_STATS_PAUSE_TIMES] = NULL;
	}
	for (i = 0; i <= TCA_BFC_STATS_MAX; i++)
		bfc_attr_number(by_type[i], &stats->value[i]);
}

/**
 * bfc_class_stats_read() - read the statistics of a class
 * @stats: receives them
 * @app: TCA_STATS_APP of a class or a qdisc of kind bfc
 *
 * Return: whether it is that of a class.
 */
bool bfc_class_stats_read(struct bfc_class_stats *stats, const struct rtattr *app)
{
	const struct rtattr *by_type[TCA_BFC_CLASS_MAX + 1];
	bool is_class = false;
	unsigned int i;

	memset(stats, 0, sizeof(*stats));
	attrs_by_type(by_type, TCA_BFC_CLASS_MAX, app);
	for (i = TCA_BFC_CLASS_UNSPEC; i <= TCA_BFC_CLASS_MAX; i++) {
		is_class |= !!by_type[i];
		if (i != TCA_BFC_CLASS_DST)
			bfc_attr_number(by_type[i], &stats->value[i]);
	}
	if (by_type[TCA_BFC_CLASS_DST] &&
	    RTA_PAYLOAD(by_type[TCA_BFC_CLASS_DST]) <= sizeof(stats->dst)) {
		stats->dst_len = RTA_PAYLOAD(by_type[TCA_BFC_CLASS_DST]);
		memcpy(stats->dst, RTA_DATA(by_type[TCA_BFC_CLASS_DST]), stats->dst_len);
	}
	return is_class;
}

/**
 * bfc_class_dst() - where the oldest packet of a queue goes
 * @stats: of its class
 * @buf: BFC_ADDRESS_ROOM bytes
 *
 * Return: the address, in @buf; NULL if the kernel sent none.
 */
const char *bfc_class_dst(const struct bfc_class_stats *stats, char *buf)
{
	const uint8_t *d = stats->dst;

	switch (stats->dst_len) {
	case 4:
		return inet_ntop(AF_INET, d, buf, BFC_ADDRESS_ROOM);
	case 16:
		return inet_ntop(AF_INET6, d, buf, BFC_ADDRESS_ROOM);
	case 6:
		snprintf(buf, BFC_ADDRESS_ROOM, "%02x:%02x:%02x:%02x:%02x:%02x", d[0], d[1], d[2],
			 d[3], d[4], d[5]);
		return buf;
	default:
		return NULL;
	}
}

/**
 * bfc_stat_key() - name of a statistic of the qdisc
 * @attr: TCA_BFC_STATS_*
 *
 * Return: its name in text and in JSON, NULL if it has none.
 */
const char *bfc_stat_key(unsigned int attr)
{
	const struct bfc_stat *stat;

	for (stat = bfc_qdisc_table; stat->key; stat++)
		if (stat->attr == attr)
			return stat->key;
	return NULL;
}
