/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of the bfc qdisc and of its classes as numbers, with a table of
 * their names and units, for user space that reads TCA_STATS_APP.
 *
 * Global symbols have the prefix bfc_, since the tc plugin is one of the users.
 */
#ifndef _BFC_STATS_H
#define _BFC_STATS_H

#include <linux/pkt_sch_bfc.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>

#define BFC_STATS_PRIOS	8	/* of a port, as PFC has them */
#define BFC_STATS_CLASSES	8	/* traffic classes of a port at most */

enum bfc_unit {
	BFC_UNIT_NUMBER,
	BFC_UNIT_SIZE,		/* bytes */
	BFC_UNIT_BALANCE,	/* bytes, s32 */
	BFC_UNIT_TIME,		/* ns */
	BFC_UNIT_RATE,		/* bytes/s */
	BFC_UNIT_SWITCH,	/* 0 or 1 */
	BFC_UNIT_DEVICE,	/* ifindex, 0 = none */
};

/* Statistics that tc shows together, in its order. */
/* Generated from spec/bfc.yaml: blocks */
enum bfc_block {
	BFC_BLOCK_GENERAL,
	BFC_BLOCK_SPEED,
	BFC_BLOCK_CONTROL,
	BFC_BLOCK_PORT,
	BFC_BLOCK_STAMP,
	BFC_BLOCK_BAD,
	BFC_BLOCK_PEER,
};

/* End of blocks */

/**
 * struct bfc_stat - name, unit and place of a statistic
 * @key: its name in text and in JSON; NULL ends a table
 * @attr: TCA_BFC_STATS_*, TCA_BFC_PRIO_STATS_*, TCA_BFC_TCLASS_* or TCA_BFC_CLASS_*, and its
 *	  place in the arrays of values
 * @unit: of the value
 * @block: of the qdisc's statistics
 * @line: number of the line in the block, in tc's text
 */
struct bfc_stat {
	const char *key;
	unsigned int attr;
	enum bfc_unit unit;
	enum bfc_block block;
	unsigned int line;
};

/* All statistics, in the order of tc's output */
extern const struct bfc_stat bfc_qdisc_table[];
extern const struct bfc_stat bfc_prio_table[];
extern const struct bfc_stat bfc_tclass_table[];
extern const struct bfc_stat bfc_class_table[];

/**
 * struct bfc_stats - statistics of a qdisc; what the kernel did not send is 0
 * @value: by TCA_BFC_STATS_*
 * @prio: by priority and TCA_BFC_PRIO_STATS_*
 * @tclass: by traffic class and TCA_BFC_TCLASS_*
 * @classes: traffic classes that the port has, 0 = none
 * @pause_times: pauses that have ended, by how long they took: bfc_pause_time_most()
 * @has_prios: the kernel sent TCA_BFC_STATS_PRIOS
 * @has_port: the kernel sent statistics of a port; of the qdisc of a TX queue it sends none
 */
struct bfc_stats {
	uint64_t value[TCA_BFC_STATS_MAX + 1];
	uint64_t prio[BFC_STATS_PRIOS][TCA_BFC_PRIO_STATS_MAX + 1];
	uint64_t tclass[BFC_STATS_CLASSES][TCA_BFC_TCLASS_MAX + 1];
	unsigned int classes;
	uint64_t pause_times[BFC_PAUSE_TIMES];
	bool has_prios;
	bool has_port;
};

/**
 * struct bfc_class_stats - statistics of a class; what the kernel did not send is 0
 * @value: by TCA_BFC_CLASS_*
 * @dst: IPv4, IPv6 or MAC address that the oldest packet goes to
 * @dst_len: bytes of @dst, 0 = the kernel sent none
 */
struct bfc_class_stats {
	uint64_t value[TCA_BFC_CLASS_MAX + 1];
	uint8_t dst[16];
	unsigned int dst_len;
};

#define BFC_ADDRESS_ROOM	46	/* of any of these as text */

bool bfc_attr_number(const struct rtattr *attr, uint64_t *value);
void bfc_stats_read(struct bfc_stats *stats, const struct rtattr *app);
bool bfc_class_stats_read(struct bfc_class_stats *stats, const struct rtattr *app);
const char *bfc_class_dst(const struct bfc_class_stats *stats, char *buf);
const char *bfc_stat_key(unsigned int attr);

/**
 * bfc_pause_time_most() - the longest pauses that a counter is for
 * @i: index of the counter in &bfc_stats.pause_times
 *
 * Return: ns, 0 = no limit.
 */
static inline uint64_t bfc_pause_time_most(unsigned int i)
{
	return i < BFC_PAUSE_TIMES - 1 ? BFC_PAUSE_TIME_LEAST << i : 0;
}

#endif /* _BFC_STATS_H */
