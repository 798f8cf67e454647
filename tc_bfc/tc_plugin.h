/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of iproute2's interior that a tc plugin needs.
 *
 * tc loads q_KIND.so and looks for KIND_qdisc_util in it; the plugin in turn
 * calls back into the tc binary, which exports its helpers. No distribution
 * packages headers for this, so what is used is declared here, as in iproute2
 * 6.1 (tc/tc_util.h, include/utils.h, json_print.h, libnetlink.h). Layout and
 * calls have been the same from 5.10 to 7.1; 6.9 only added const to the
 * functions' first argument. Helpers with arguments that did change in between
 * (print_size, sprint_size: 32 to 64 bits) are left out on purpose.
 */
#ifndef _TC_PLUGIN_H
#define _TC_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/rtnetlink.h>

struct qdisc_util {
	struct qdisc_util *next;	/* written by tc: must not be const */
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *qu, struct rtattr *opt,
			 __u32 block_idx, bool *p_has);
};

enum output_type { PRINT_FP = 1, PRINT_JSON = 2, PRINT_ANY = 4 };
enum color_attr { COLOR_NONE = 6 };

/* Parsing. Each returns 0 if all of the string was understood. */
int get_u32(__u32 *val, const char *arg, int base);
int get_size(unsigned int *bytes, const char *str);
int get_rate64(__u64 *bytes_per_s, const char *str);
int get_time64(__s64 *ns, const char *str);
__attribute__((noreturn)) void incomplete_command(void);
int nodev(const char *dev);

#define NEXT_ARG() do { argv++; if (--argc <= 0) incomplete_command(); } while (0)

/* Devices */
unsigned int ll_name_to_index(const char *name);
const char *ll_index_to_name(unsigned int idx);

/* Netlink */
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

/* Printing: key is for JSON, fmt for text; both go to stdout. */
bool is_json_context(void);
void open_json_array(enum output_type type, const char *key);
void close_json_array(enum output_type type, const char *delim);
void open_json_object(const char *key);
void close_json_object(void);
void print_nl(void);
void tc_print_rate(enum output_type t, const char *key, const char *fmt,
		   unsigned long long bytes_per_s);
char *sprint_time64(__s64 ns, char *buf);	/* buf: 64 bytes */
int print_color_string(enum output_type t, enum color_attr color,
		       const char *key, const char *fmt, const char *value);
int print_color_null(enum output_type t, enum color_attr color,
		     const char *key, const char *fmt, const char *value);
int print_color_bool(enum output_type t, enum color_attr color,
		     const char *key, const char *fmt, bool value);
int print_color_float(enum output_type t, enum color_attr color,
		      const char *key, const char *fmt, double value);
int print_color_u64(enum output_type t, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value);
int print_color_s64(enum output_type t, enum color_attr color, const char *key,
		    const char *fmt, int64_t value);

#endif /* _TC_PLUGIN_H */
