// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc_kind.c - tc(8) plugin for the bfc qdisc (Backpressure Flow Control)
 *
 * tc loads it by itself as q_bfc.so when it meets "bfc" on the command line or
 * in a dump, and finds here what it can do.
 */
#include "q_bfc.h"

static int bfc_parse_class_opt(const struct qdisc_util *qu __unused,
			       int argc __unused, char **argv __unused,
			       struct nlmsghdr *n __unused,
			       const char *dev __unused)
{
	fprintf(stderr,
		"bfc: classes are the queues themselves and have no options; their number is \"queues\" of the qdisc\n");
	return -1;
}

static int bfc_print_class_opt(const struct qdisc_util *qu __unused,
			       FILE *f __unused, struct rtattr *opt __unused)
{
	return 0;		/* a class has none */
}

struct qdisc_util bfc_qdisc_util = {
	.id		= "bfc",
	.parse_qopt	= bfc_parse_opt,
	.print_qopt	= bfc_print_opt,
	.print_xstats	= bfc_print_xstats,
	.parse_copt	= bfc_parse_class_opt,
	.print_copt	= bfc_print_class_opt,
};
