// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc_show.c - options of the bfc qdisc as tc(8) shows them
 *
 * Text has the options that differ from the default, so that these are not lost
 * among 50; with -d (show_details) it has all. Both can be given back to tc as
 * options. JSON, which programs read, always has all of them.
 */
#include "q_bfc.h"

/* tc's -d; a tc without this symbol shows all options. */
extern int show_details __attribute__((weak));

static const struct scale times[] = {
	{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
};

static const struct scale bit_rates[] = {
	{ 1000000000000, "Tbit" }, { 1000000000, "Gbit" },
	{ 1000000, "Mbit" }, { 1000, "Kbit" }, { 1, "bit" },
};

static bool details(void)
{
	return !&show_details || show_details;
}

static void show(const struct bfc_option *opt, const char *text)
{
	if (!details() && strcmp(text, opt->usual) == 0)
		return;
	print_text("%s ", opt->name);
	print_text("%s ", text);
}

/* All decimals that it needs. */
static const char *sprint_decimal(char *buf, __u64 value, unsigned int decimals,
				  const char *suffix)
{
	__u64 one = 1;
	unsigned int i;

	for (i = 0; i < decimals; i++)
		one *= 10;
	for (; decimals && value % 10 == 0; decimals--) {
		value /= 10;
		one /= 10;
	}
	if (decimals)
		snprintf(buf, SPRINT_BSIZE, "%llu.%0*llu%s",
			 (unsigned long long)(value / one), (int)decimals,
			 (unsigned long long)(value % one), suffix);
	else
		snprintf(buf, SPRINT_BSIZE, "%llu%s",
			 (unsigned long long)value, suffix);
	return buf;
}

static const char *sprint_label(char *buf, __u64 value)
{
	unsigned int mask = value >> 32, mark = value;

	if (!mask)
		snprintf(buf, SPRINT_BSIZE, "dscp:%u", mark);
	else if (mask == UINT32_MAX)
		snprintf(buf, SPRINT_BSIZE, "mark:0x%x", mark);
	else
		snprintf(buf, SPRINT_BSIZE, "mark:0x%x/0x%x", mark, mask);
	return buf;
}

/* Separator in a list of any length; prints the keyword before the first entry. */
static const char *list_sep(const struct bfc_option *opt, bool first)
{
	if (!first)
		return ",";
	print_text("%s ", opt->name);
	return "";
}

static void list_end(const struct bfc_option *opt, bool empty)
{
	if (empty)
		show(opt, opt->usual);
	else
		print_text("%s", " ");
}

static void print_devices(const struct bfc_option *opt, struct rtattr *nest)
{
	struct rtattr *attr = NULL;
	bool empty = true;
	int len = 0;
	uint64_t index;

	open_json_array(PRINT_JSON, opt->key);
	if (nest) {
		attr = RTA_DATA(nest);
		len = RTA_PAYLOAD(nest);
	}
	for (; len > 0 && RTA_OK(attr, len); attr = RTA_NEXT(attr, len)) {
		if (attr->rta_type != TCA_BFC_ELIDE_IFINDEX ||
		    !bfc_attr_number(attr, &index))
			continue;
		print_text("%s", list_sep(opt, empty));
		print_text("%s", ll_index_to_name(index));
		json_string(NULL, ll_index_to_name(index));
		empty = false;
	}
	list_end(opt, empty);
	close_json_array(PRINT_JSON, NULL);
}

static void print_prios(const struct bfc_option *opt, __u64 value)
{
	char list[2 * PRIOS + 1] = "", *end = list;
	unsigned int prio;

	open_json_array(PRINT_JSON, opt->key);
	for (prio = 0; prio < PRIOS; prio++) {
		if (!(value & 1 << prio))
			continue;
		json_number(NULL, prio);
		if (end != list)
			*end++ = ',';
		*end++ = '0' + prio;
		*end = '\0';
	}
	close_json_array(PRINT_JSON, NULL);
	show(opt, value == PRIOS_ALL ? "all" : *list ? list : "none");
}

/* In JSON an object with the entries that are not automatic. */
static void print_map(const struct bfc_option *opt, const struct rtattr *attr)
{
	const __u8 *map = RTA_DATA(attr);
	unsigned int len = RTA_PAYLOAD(attr), i;
	char value[SPRINT_BSIZE], prio[SPRINT_BSIZE];
	bool empty = true;

	open_json_object(opt->key);
	for (i = 0; i < len && i < BFC_PRIO_VALUES; i++) {
		if (map[i] == BFC_PRIO_AUTO)
			continue;
		snprintf(value, sizeof(value), "%u", i);
		snprintf(prio, sizeof(prio), ":%u", map[i]);
		json_number(value, map[i]);
		print_text("%s", list_sep(opt, empty));
		print_text("%s", value);
		print_text("%s", prio);
		empty = false;
	}
	close_json_object();
	list_end(opt, empty);
}

/* In JSON an array, empty if it is automatic. */
static void print_list(const struct bfc_option *opt, const struct rtattr *attr)
{
	unsigned int n = RTA_PAYLOAD(attr) / sizeof(__u16), i;
	const __u16 *list = RTA_DATA(attr);
	char value[SPRINT_BSIZE];

	open_json_array(PRINT_JSON, opt->key);
	for (i = 0; i < n && i < BFC_LIST && list[i]; i++) {
		snprintf(value, sizeof(value), "%u", list[i]);
		json_number(NULL, list[i]);
		print_text("%s", list_sep(opt, !i));
		print_text("%s", value);
	}
	close_json_array(PRINT_JSON, NULL);
	list_end(opt, !i);
}

static void print_name(const struct bfc_option *opt, const struct rtattr *attr)
{
	char name[BFC_BUFFER_NAMSIZ];

	get_name(attr, name, sizeof(name));
	if (!*name)
		strcpy(name, opt->auto_word);
	show(opt, name);
	json_string(opt->key, name);
}

static void print_option(const struct bfc_option *opt, __u64 value)
{
	char buf[SPRINT_BSIZE];
	const char *text = "";

	if (opt->unit == UNIT_PRIOS) {
		print_prios(opt, value & PRIOS_ALL);
		return;
	}
	if (opt->auto_word && value == opt->auto_value) {
		json_string(opt->key, opt->auto_word);
		show(opt, opt->auto_word);
		return;
	}
	if (opt->unit == UNIT_TIMEOUT && !value) {
		json_string(opt->key, "off");
		show(opt, "off");
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
	case UNIT_TIMEOUT:
		text = sprint_exact(buf, value, times);
		json_number(opt->key, value);
		break;
	case UNIT_RATE:
		text = sprint_exact(buf, value * 8, bit_rates);
		json_number(opt->key, value);
		break;
	case UNIT_SHARE:
		text = sprint_decimal(buf, value, SHARE_DECIMALS, "%");
		json_fraction(opt->key, value / 1e6);
		break;
	case UNIT_PERCENT:
		text = sprint_decimal(buf, value, 0, "%");
		json_fraction(opt->key, value / 1e2);
		break;
	case UNIT_PERMILLE:
		text = sprint_decimal(buf, value, PERMILLE_DECIMALS, "");
		json_fraction(opt->key, value / 1e3);
		break;
	case UNIT_LABEL:
		text = sprint_label(buf, value);
		json_string(opt->key, text);
		break;
	case UNIT_DEVICES:
	case UNIT_PRIOS:
	case UNIT_MAP:
	case UNIT_LIST:
	case UNIT_NAME:
	case UNIT_STAMP:
		return;		/* have functions of their own */
	}
	show(opt, text);
}

int bfc_print_opt(const struct qdisc_util *qu __unused, FILE *f __unused,
		  struct rtattr *options)
{
	struct rtattr *tb[TCA_BFC_MAX + 1];
	const struct bfc_option *opt;
	uint64_t value;

	if (!options)
		return 0;
	parse_rtattr_flags(tb, TCA_BFC_MAX, RTA_DATA(options),
			   RTA_PAYLOAD(options), NLA_F_NESTED);

	for (opt = bfc_options; opt->name; opt++) {
		struct rtattr *attr = tb[opt->attr];

		if (opt->unit == UNIT_DEVICES)
			print_devices(opt, attr);
		else if (opt->unit == UNIT_MAP && attr)
			print_map(opt, attr);
		else if (opt->unit == UNIT_LIST && attr)
			print_list(opt, attr);
		else if (opt->unit == UNIT_NAME && attr)
			print_name(opt, attr);
		else if (opt->unit == UNIT_STAMP &&
			 bfc_attr_number(attr, &value))
			bfc_print_stamp(value, tb, details());
		else if (bfc_attr_number(attr, &value))
			print_option(opt, value);
	}
	return 0;
}
