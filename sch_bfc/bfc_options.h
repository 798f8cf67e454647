/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options, for the code that reads and dumps them.
 */
#ifndef _BFC_OPTIONS_H
#define _BFC_OPTIONS_H

#include <linux/types.h>

#include <linux/pkt_sch_bfc.h>

struct bfc_params;
struct netlink_ext_ack;
struct nlattr;

/**
 * struct bfc_option - a number that netlink sets
 * @offset: in struct bfc_params
 * @width: bytes, there and in the attribute
 * @zero: 0 is allowed, too; tc has a word for it, as auto
 * @lo: smallest value
 * @hi: largest
 * @msg: extack message for a value out of range
 */
struct bfc_option {
	u16 offset;
	u8 width;
	bool zero;
	u64 lo;
	u64 hi;
	const char *msg;
};

/* Message for a value of assign, and for a value of sched that does not fit it. */
#define BFC_FOR_SRF	"bfc: assign: similar is used by fc bfc and none with sched srf only"

/* bfc_options.c */
extern const struct bfc_option bfc_options[TCA_BFC_MAX + 1];
int bfc_refuse(const struct nlattr *a, const char *msg, struct netlink_ext_ack *extack);
int bfc_check_used(struct nlattr **tb, struct bfc_params *p,
		   struct netlink_ext_ack *extack);

#endif /* _BFC_OPTIONS_H */
