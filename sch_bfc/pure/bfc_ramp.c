// SPDX-License-Identifier: GPL-2.0
/*
 * ECN marks as a ramp.
 */
#include <linux/math64.h>
#include <linux/pkt_sch_bfc.h>

#include "bfc_ramp.h"

/**
 * bfc_ramp_init() - a ramp, or a step
 * @r: result
 * @kmin: bytes, at most BFC_BYTES_MAX
 * @kmax: bytes, likewise, above @kmin; at most @kmin: a step there
 * @ppm: marked at @kmax, millionths, at most BFC_PPM_ONE
 *
 * The share at @kmax is @ppm but for one part in 2^32 for each of the two roundings.
 */
void bfc_ramp_init(struct bfc_ramp *r, u32 kmin, u32 kmax, u32 ppm)
{
	u64 most = div_u64(BFC_RAMP_ONE * ppm, BFC_PPM_ONE);

	r->kmin = kmin;
	r->kmax = kmax;
	r->slope = kmax > kmin ? div_u64(most << BFC_RAMP_SHIFT, kmax - kmin) : 0;
}
