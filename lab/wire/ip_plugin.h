/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ip offers to its link plugins, as in iproute2 6.1 (Debian 12).
 *
 * ip is linked statically with its own libraries and exports only those of
 * their functions that it uses itself. It exports the ones below, but not
 * get_rate64() and get_size(), for example.
 */
#ifndef _IP_PLUGIN_H
#define _IP_PLUGIN_H

#include <stdint.h>
#include <stdio.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* ip/ip_common.h */
struct iplink_req {
	struct nlmsghdr		n;
	struct ifinfomsg	i;
	char			buf[1024];
};

struct link_util {
	struct link_util	*next;
	const char		*id;
	int			maxattr;
	int			(*parse_opt)(struct link_util *lu, int argc,
					     char **argv, struct nlmsghdr *n);
	void			(*print_opt)(struct link_util *lu, FILE *f,
					     struct rtattr *tb[]);
	void			(*print_xstats)(struct link_util *lu, FILE *f,
						struct rtattr *xstats);
	void			(*print_help)(struct link_util *lu, int argc,
					      char **argv, FILE *f);
	int			(*parse_ifla_xstats)(struct link_util *lu,
						     int argc, char **argv);
	int			(*print_ifla_xstats)(struct nlmsghdr *n,
						     void *arg);
};

int iplink_parse(int argc, char **argv, struct iplink_req *req, char **type);

/* include/utils.h, include/libnetlink.h */
_Noreturn void incomplete_command(void);
_Noreturn void duparg(const char *key, const char *arg);
int get_time64(__s64 *time, const char *str);
int get_u32(__u32 *val, const char *arg, int base);
int get_u64(__u64 *val, const char *arg, int base);
int addattr16(struct nlmsghdr *n, int maxlen, int type, __u16 data);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 data);
int addattr64(struct nlmsghdr *n, int maxlen, int type, __u64 data);
int addattrstrz(struct nlmsghdr *n, int maxlen, int type, const char *data);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

/* include/color.h, include/json_print.h */
enum color_attr { COLOR_NONE = 6 };
enum output_type { PRINT_FP = 1, PRINT_JSON = 2, PRINT_ANY = 4 };

void open_json_object(const char *str);
void close_json_object(void);
void open_json_array(enum output_type type, const char *delim);
void close_json_array(enum output_type type, const char *delim);
void print_nl(void);
int print_color_u64(enum output_type t, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value);
int print_color_uint(enum output_type t, enum color_attr color, const char *key,
		     const char *fmt, unsigned int value);
int print_color_float(enum output_type t, enum color_attr color,
		      const char *key, const char *fmt, double value);
int print_color_string(enum output_type t, enum color_attr color,
		       const char *key, const char *fmt, const char *value);

#endif /* _IP_PLUGIN_H */
