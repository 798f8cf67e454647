/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of "bfcctl apply" to the kernel.
 */
#ifndef BFCCTL_REQUEST_H
#define BFCCTL_REQUEST_H

#include <stdint.h>

struct bfc_option;
struct live;
struct outcome;
struct rtattr;
struct rtnl_msg;
struct want;

const char *request_all(struct rtnl_msg *msg, const struct want *want,
			const struct live *l);
void request_new(struct rtnl_msg *msg, const struct rtattr *to,
		 const struct want *want, const struct live *l);
void request_change(struct outcome *r, const struct live *l,
		    const struct want *want, const struct rtattr *to,
		    struct rtnl_msg *change);
const struct rtattr *request_attr(const struct rtattr *nest, uint16_t type);
const struct rtattr *request_options(const struct rtnl_msg *msg);
char *request_value(const struct bfc_option *o, const struct rtattr *attr);

#endif /* BFCCTL_REQUEST_H */
