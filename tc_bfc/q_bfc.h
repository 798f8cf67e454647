/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by options (q_bfc.c, q_bfc_show.c) and statistics (q_bfc_stats.c) of
 * the plugin: units, words, and how they are printed.
 *
 * tc looks for a plugin's global symbols among its own first: so all symbols
 * are static here, except those named bfc_*.
 */
#ifndef _Q_BFC_H
#define _Q_BFC_H

#include <string.h>

#include <linux/pkt_sch_bfc.h>

#include "bfc_stats.h"
#include "q_bfc_option.h"
#include "tc_plugin.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
#define __unused	__attribute__((unused))

#define PRIOS		8	/* of a port, as PFC has them */

/* Millionths are ten-thousandths of a per cent. */
#define SHARE_DECIMALS		4
#define PERMILLE_DECIMALS	3

#define PRIOS_ALL		((1 << PRIOS) - 1)

static const char * const role_words[] = {
	[BFC_ROLE_SWITCH] = "switch",
	[BFC_ROLE_NIC] = "nic",
	NULL
};

static const char * const switch_words[] = { "off", "on", NULL };

struct scale {
	__u64 factor;
	const char *suffix;
};

static const struct scale sizes[] = {
	{ 1 << 30, "Gb" }, { 1 << 20, "Mb" }, { 1 << 10, "Kb" }, { 1, "b" },
};

#define SPRINT_BSIZE	64

/* tc's own printers round; this text can be given back to tc and means the same value. */
static inline const char *sprint_exact(char *buf, __u64 value,
				       const struct scale *scale)
{
	while (scale->factor > 1 && (!value || value % scale->factor))
		scale++;
	snprintf(buf, SPRINT_BSIZE, "%llu%s",
		 (unsigned long long)(value / scale->factor), scale->suffix);
	return buf;
}

/* A value that this version has no word for is shown as its number. */
static inline const char *word_or_number(char *buf, const char * const *words,
					 __u64 value)
{
	__u64 i;

	for (i = 0; words[i]; i++)
		if (i == value)
			return words[i];
	snprintf(buf, SPRINT_BSIZE, "%llu", (unsigned long long)value);
	return buf;
}

static inline void print_text(const char *fmt, const char *text)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, fmt, text);
}

static inline void json_string(const char *key, const char *text)
{
	print_color_string(PRINT_JSON, COLOR_NONE, key, NULL, text);
}

static inline void json_number(const char *key, __u64 value)
{
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

static inline void json_bool(const char *key, bool value)
{
	print_color_bool(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

/* Six significant digits. */
static inline void json_fraction(const char *key, double value)
{
	print_color_float(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

/* A program other than tc may have set a name of any bytes: replace those that
 * would break JSON.
 */
static inline void get_name(const struct rtattr *attr, char *name, size_t size)
{
	const char *from = attr ? RTA_DATA(attr) : NULL;
	size_t len = attr ? RTA_PAYLOAD(attr) : 0, i;

	for (i = 0; i < len && i < size - 1 && from[i]; i++)
		name[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	name[i] = '\0';
}

/* q_bfc.c */
int bfc_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
		  struct nlmsghdr *n, const char *dev);

/* q_bfc_show.c */
int bfc_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *options);

/* q_bfc_stamp.c */
extern const char * const bfc_stamp_words[];
int bfc_parse_stamp(int *argc, char ***argv);
void bfc_print_stamp(__u64 value, struct rtattr *tb[], bool details);

/* q_bfc_stats.c */
int bfc_print_xstats(const struct qdisc_util *qu, FILE *f,
		     struct rtattr *xstats);

#endif /* _Q_BFC_H */
