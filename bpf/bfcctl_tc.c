// SPDX-License-Identifier: GPL-2.0
/*
 * Options of the qdisc in the words of tc(8). tc's plugin (tc_bfc/q_bfc.c)
 * reads and prints them, as it does in tc. The functions of tc that it calls
 * are below. They behave as in iproute2 (lib/utils.c, lib/libnetlink.c,
 * tc/tc_util.c), but keep what is printed.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bfcctl.h"
#include "bfcctl_tc.h"
#include "rtnl.h"
#include "tc_plugin.h"

int bfc_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
		  struct nlmsghdr *n, const char *dev);
int bfc_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);

/* ---- numbers ---- */

int get_u32(__u32 *val, const char *arg, int base)
{
	unsigned long res;
	char *end;

	errno = 0;
	res = strtoul(arg, &end, base);
	if (end == arg || *end || errno || res > UINT32_MAX)
		return -1;
	*val = res;
	return 0;
}

int get_size(unsigned int *bytes, const char *str)
{
	static const struct suffix suffixes[] = {
		{ "b", 1 },
		{ "k", 1024. }, { "kb", 1024. }, { "kbit", 1024. / 8 },
		{ "m", 1048576. }, { "mb", 1048576. }, { "mbit", 1048576. / 8 },
		{ "g", 1073741824. }, { "gb", 1073741824. },
		{ "gbit", 1073741824. / 8 }, { "", 1 }, {}
	};
	double value;

	if (!scaled_arg(str, suffixes, &value) || value > UINT_MAX)
		return -1;
	*bytes = value;
	return 0;
}

int get_rate64(__u64 *bytes_per_s, const char *str)
{
	static const struct suffix suffixes[] = {
		{ "bit", 1 },
		{ "Kibit", 1024. }, { "kbit", 1e3 },
		{ "Mibit", 1048576. }, { "mbit", 1e6 },
		{ "Gibit", 1073741824. }, { "gbit", 1e9 },
		{ "Tibit", 1099511627776. }, { "tbit", 1e12 },
		{ "Bps", 8. },
		{ "KiBps", 8 * 1024. }, { "KBps", 8e3 },
		{ "MiBps", 8 * 1048576. }, { "MBps", 8e6 },
		{ "GiBps", 8 * 1073741824. }, { "GBps", 8e9 },
		{ "TiBps", 8 * 1099511627776. }, { "TBps", 8e12 }, { "", 1 }, {}
	};
	double value;

	if (!scaled_arg(str, suffixes, &value) || value / 8 >= UINT64_MAX)
		return -1;
	*bytes_per_s = value / 8;
	return 0;
}

int get_time64(__s64 *ns, const char *str)
{
	static const struct suffix suffixes[] = {
		{ "s", 1e9 }, { "sec", 1e9 }, { "secs", 1e9 },
		{ "ms", 1e6 }, { "msec", 1e6 }, { "msecs", 1e6 },
		{ "us", 1e3 }, { "usec", 1e3 }, { "usecs", 1e3 },
		{ "ns", 1 }, { "nsec", 1 }, { "nsecs", 1 }, { "", 1 }, {}
	};
	double value;

	if (!scaled_arg(str, suffixes, &value) || value >= INT64_MAX)
		return -1;
	*ns = value;
	return 0;
}

/* ---- devices ---- */

unsigned int ll_name_to_index(const char *name)
{
	return if_nametoindex(name);
}

const char *ll_index_to_name(unsigned int idx)
{
	static char name[IF_NAMESIZE];

	if (!if_indextoname(idx, name))
		snprintf(name, sizeof(name), "if%u", idx);
	return name;
}

int nodev(const char *dev)
{
	fprintf(stderr, "no such device: %s\n", dev);
	return -1;
}

/* ---- netlink ---- */

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen)
{
	struct rtnl_msg *msg = (struct rtnl_msg *)n;

	if (NLMSG_ALIGN(n->nlmsg_len) + RTA_SPACE(alen) > (size_t)maxlen)
		fail("too many options");
	rtnl_put(msg, type, data, alen);
	return 0;
}

struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type)
{
	struct rtattr *nest = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	addattr_l(n, maxlen, type, NULL, 0);
	return nest;
}

int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest)
{
	nest->rta_len = (char *)n + n->nlmsg_len - (char *)nest;
	return n->nlmsg_len;
}

int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags)
{
	memset(tb, 0, sizeof(*tb) * (max + 1));
	for (; RTA_OK(rta, len); rta = RTA_NEXT(rta, len)) {
		int type = rta->rta_type & ~flags;

		if (type <= max && !tb[type])
			tb[type] = rta;
	}
	return 0;
}

void incomplete_command(void)
{
	fail("an option without its value");
}

/* ---- what is printed ---- */

static FILE *out;

int print_color_string(enum output_type t, enum color_attr color,
		       const char *key, const char *fmt, const char *value)
{
	(void)color;
	(void)key;
	/* The plugin's own formats: %s and blanks */
	if (t != PRINT_JSON)
		fprintf(out, fmt, value);
	return 0;
}

int print_color_u64(enum output_type t, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value)
{
	(void)color;
	(void)key;
	if (t != PRINT_JSON)
		fprintf(out, fmt, value);
	return 0;
}

/* Nothing: bfcctl prints JSON itself. */
int print_color_bool(enum output_type t, enum color_attr color, const char *key,
		     const char *fmt, bool value)
{
	(void)t;
	(void)color;
	(void)key;
	(void)fmt;
	(void)value;
	return 0;
}

int print_color_float(enum output_type t, enum color_attr color,
		      const char *key, const char *fmt, double value)
{
	(void)t;
	(void)color;
	(void)key;
	(void)fmt;
	(void)value;
	return 0;
}

void open_json_array(enum output_type type, const char *key)
{
	(void)type;
	(void)key;
}

void close_json_array(enum output_type type, const char *delim)
{
	(void)type;
	(void)delim;
}

void open_json_object(const char *key)
{
	(void)key;
}

void close_json_object(void)
{
}

/* ---- reading and printing ---- */

static FILE *said;	/* standard error, while the plugin writes to a buffer */

static void give_back(void)
{
	stderr = said;
}

/* The first line without its end, and without the plugin's prefix */
static const char *first_line(char *text)
{
	static const char prefix[] = "bfc: ";

	text[strcspn(text, "\n")] = '\0';
	if (!strncmp(text, prefix, sizeof(prefix) - 1))
		text += sizeof(prefix) - 1;
	return text;
}

/**
 * tc_encode() - append TCA_OPTIONS with these options
 * @msg: request
 * @argc: words
 * @argv: pairs of option and value, as behind "bfc" on tc's command line
 *
 * The descriptor of a program in it ("stamp pinned") is valid until the next
 * call.
 *
 * Return: NULL, or what is wrong with them, valid until the next call.
 */
const char *tc_encode(struct rtnl_msg *msg, int argc, char **argv)
{
	static char why[512];
	char *text = NULL;
	size_t len;
	int err;

	/* The plugin writes its errors to stderr. */
	said = stderr;
	ctl.restore = give_back;
	stderr = need(open_memstream(&text, &len));
	err = bfc_parse_opt(NULL, argc, argv, &msg->h, NULL);
	fclose(stderr);
	stderr = said;
	ctl.restore = NULL;
	if (err)
		snprintf(why, sizeof(why), "%s", first_line(text));
	free(text);
	return err ? why : NULL;
}

/**
 * tc_value() - the value of an option as tc shows it
 * @attr: of TCA_OPTIONS
 * @name: of the option
 *
 * Return: the value, to be freed; "" if tc shows none.
 */
char *tc_value(const struct rtattr *attr, const char *name)
{
	struct rtnl_msg msg;
	struct rtattr *nest;
	char *text = NULL, *value = NULL;
	char pattern[64];
	const char *at;
	size_t len;

	rtnl_begin(&msg, RTM_NEWQDISC, 0, 0);
	nest = rtnl_nest(&msg, TCA_OPTIONS);
	rtnl_put(&msg, attr->rta_type, RTA_DATA(attr), RTA_PAYLOAD(attr));
	rtnl_nest_end(&msg, nest);
	out = need(open_memstream(&text, &len));
	fputc(' ', out);
	bfc_print_opt(NULL, NULL, nest);
	fclose(out);
	/* Some options are shown even without their attribute. */
	snprintf(pattern, sizeof(pattern), " %s ", name);
	at = text ? strstr(text, pattern) : NULL;
	if (at) {
		at += strlen(pattern);
		value = strndup(at, strcspn(at, " "));
	} else {
		value = strdup("");
	}
	free(text);
	return need(value);
}
