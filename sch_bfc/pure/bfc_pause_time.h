/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long pauses took, in powers of two: no skb, no lock and no clock, compiled into the
 * module and into the user-space unit tests.
 */
#ifndef _BFC_PAUSE_TIME_H
#define _BFC_PAUSE_TIME_H

#include <linux/bitops.h>
#include <linux/types.h>

#include <linux/pkt_sch_bfc.h>

/**
 * bfc_pause_time() - index of the counter for a pause
 * @ns: time that it took
 *
 * Return: below BFC_PAUSE_TIMES: 0 up to BFC_PAUSE_TIME_LEAST ns, b up to BFC_PAUSE_TIME_LEAST
 * << b; the last has no bound.
 */
static inline unsigned int bfc_pause_time(u64 ns)
{
	unsigned int bits = ns ? fls64(ns - 1) : 0;	/* it is no more than 1 << bits */

	if (bits <= BFC_PAUSE_TIME_SHIFT)
		return 0;
	bits -= BFC_PAUSE_TIME_SHIFT;
	return bits < BFC_PAUSE_TIMES ? bits : BFC_PAUSE_TIMES - 1;
}

#endif /* _BFC_PAUSE_TIME_H */
