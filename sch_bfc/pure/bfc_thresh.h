/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thresholds and times that follow from rate and HRTT: pure arithmetic,
 * compiled into the module and into the user-space unit tests.
 */
#ifndef _BFC_THRESH_H
#define _BFC_THRESH_H

#include <linux/types.h>

#define BFC_NSEC_PER_SEC	1000000000ULL

u64 bfc_speed_rate(u32 mbit);
u64 bfc_bytes_in(u64 rate, u64 ns);
void bfc_thresh_fill(u32 *table, unsigned int queues, u64 rate, u64 hrtt,
		     u32 floor, u32 fixed);
u64 bfc_refresh_auto(u64 rate, unsigned int frame);
u64 bfc_hold_auto(u64 refresh);

#endif /* _BFC_THRESH_H */
