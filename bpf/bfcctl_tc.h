/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of the qdisc in the words of tc(8), by the functions of tc's plugin.
 */
#ifndef BFCCTL_TC_H
#define BFCCTL_TC_H

#include <stdbool.h>

struct rtattr;
struct rtnl_msg;

const char *tc_encode(struct rtnl_msg *msg, int argc, char **argv);
char *tc_value(const struct rtattr *attr, const char *name);

#endif /* BFCCTL_TC_H */
