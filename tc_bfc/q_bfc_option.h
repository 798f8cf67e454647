/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of the bfc qdisc: the table in q_bfc.c, for tc(8) and bfcctl(8).
 */
#ifndef _Q_BFC_OPTION_H
#define _Q_BFC_OPTION_H

#include <linux/types.h>
#include <stdbool.h>

enum unit {
	UNIT_WORD,	/* one of words[], sent as u8 */
	UNIT_SWITCH,	/* on or off, u8 */
	UNIT_NUMBER,	/* u32 */
	UNIT_SIZE,	/* u32 bytes */
	UNIT_TIME,	/* u64 ns */
	UNIT_TIMEOUT,	/* the same; 0 is "off" */
	UNIT_RATE,	/* u64 bytes/s */
	UNIT_TPID,	/* u16, 88a8 or 8100 */
	UNIT_DEVICES,	/* nest of u32 ifindex */
	UNIT_PRIOS,	/* a set of priorities, sent as u8 */
	UNIT_MAP,	/* u8[BFC_PRIO_VALUES], value to priority */
	UNIT_LIST,	/* u16[BFC_LIST], of the classes; all 0: automatic */
	UNIT_NAME,	/* string, BFC_BUFFER_NAMSIZ with its end */
	UNIT_SHARE,	/* per cent with decimals, u32 millionths */
	UNIT_PERCENT,	/* whole per cent, u8 */
	UNIT_PERMILLE,	/* a number with three decimals, u32 thousandths */
	UNIT_LABEL,	/* dscp:N or mark:M[/MASK], u64 as BFC_INCAST_MAX says */
	UNIT_STAMP,	/* native, or pinned and a path: u8 and a descriptor */
};

struct bfc_option {
	const char *name;		/* on the command line and as text */
	const char *key;		/* in JSON */
	__u16 attr;
	enum unit unit;
	const char * const *words;	/* UNIT_WORD */
	const char *auto_word;		/* NULL: has no automatic value */
	__u64 auto_value;
	const char *usual;		/* the default, as text */
	bool fixed;			/* while the qdisc lives */
	const char *range;		/* of a number, in words, or NULL */
};

/* An entry without a name ends it. */
extern const struct bfc_option bfc_options[];

const struct bfc_option *bfc_find_option(const char *name);

#endif /* _Q_BFC_OPTION_H */
