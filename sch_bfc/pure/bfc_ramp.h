/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ECN marks as a ramp, by the present queue length (DCQCN §3.1; RED without the average): pure
 * arithmetic, compiled into the module and into the user-space unit tests.
 *
 *     marked
 *        1 |               +-------
 *          |               |
 *     Pmax |             / |
 *          |          /
 *        0 +-------+-------+-------> bytes queued
 *                Kmin    Kmax
 */
#ifndef _BFC_RAMP_H
#define _BFC_RAMP_H

#include <linux/bits.h>
#include <linux/types.h>

#define BFC_RAMP_ONE	BIT_ULL(32)	/* a share of 1: what a random u32 is always below */
#define BFC_RAMP_SHIFT	30		/* no queue is longer than that: BFC_BYTES_MAX */

/**
 * struct bfc_ramp - which share of the packets is marked
 * @slope: share for each byte over Kmin, of BFC_RAMP_ONE << BFC_RAMP_SHIFT
 * @kmin: bytes; up to that, none is marked
 * @kmax: bytes; beyond that, all are marked
 */
struct bfc_ramp {
	u64 slope;
	u32 kmin;
	u32 kmax;
};

/**
 * bfc_ramp_share() - what share of the packets that meet a queue is marked
 * @r: the ramp
 * @bytes: length of the queue
 *
 * Return: of BFC_RAMP_ONE: one is marked if a random u32 is below it.
 */
static inline u64 bfc_ramp_share(const struct bfc_ramp *r, u64 bytes)
{
	if (bytes <= r->kmin)
		return 0;
	if (bytes > r->kmax)
		return BFC_RAMP_ONE;
	return (bytes - r->kmin) * r->slope >> BFC_RAMP_SHIFT;
}

void bfc_ramp_init(struct bfc_ramp *r, u32 kmin, u32 kmax, u32 ppm);

#endif /* _BFC_RAMP_H */
