// SPDX-License-Identifier: GPL-2.0
/*
 * Thresholds of a priority, and the headroom above them.
 */
#include <linux/math64.h>

#include "bfc_pfc.h"
#include "bfc_pfc_wire.h"
#include "bfc_thresh.h"

/**
 * bfc_pfc_check() - check that thresholds fit together
 * @t: the thresholds
 *
 * Return: BFC_PFC_OK, or the first relation that does not hold.
 */
enum bfc_pfc_bad bfc_pfc_check(const struct bfc_pfc_thresh *t)
{
	if (t->alpha > BFC_ALPHA_MAX)
		return BFC_PFC_BAD_ALPHA;
	if (t->alpha)
		return t->gap ? BFC_PFC_OK : BFC_PFC_BAD_XON;
	if (t->xon >= t->xoff)
		return BFC_PFC_BAD_XON;
	if (t->max && t->xoff >= t->max)
		return BFC_PFC_BAD_XOFF;
	if (t->max && t->max - t->xoff < t->headroom)
		return BFC_PFC_BAD_HEADROOM;
	return BFC_PFC_OK;
}

/**
 * bfc_pfc_headroom_auto() - bytes that may still come after XOFF was crossed
 * @rate: of the link, bytes/s
 * @hrtt: ns from a pause being sent to the last packet having come in; times of
 *	  software, rings and propagation are in it. Frames are added, as the
 *	  largest need not have been met while it was measured
 * @mtu: largest frame in either direction, bytes as they are counted: from the
 *	 destination address on, without FCS
 *
 * After 802.1Qbb annex O (IEEE 802.1Q-2018 annex N), "buffer requirements":
 *
 *   2 x propagation + processing at both ends	[the HRTT x rate]
 *   + maximum frame, which our side has just begun to send as XOFF is crossed
 *   + the PFC frame itself
 *   + maximum frame, which the neighbour has just begun to send as it obeys
 *
 * and, since occupancy is compared after a packet has been added to it,
 *
 *   + maximum frame, of which all but one byte can lie beyond XOFF
 *
 * Return: bytes, rounded up.
 */
u64 bfc_pfc_headroom_auto(u64 rate, u64 hrtt, u32 mtu)
{
	return bfc_bytes_in(rate, hrtt) + 1 +	/* rounded up */
	       mtu +			/* crossed XOFF, as a whole */
	       mtu + BFC_FRAME_OVERHEAD + /* being sent, in the frame's way */
	       BFC_PFC_WIRE +		/* the PFC frame */
	       mtu;			/* its last one, begun just before */
}

/**
 * bfc_pfc_xoff_auto() - XOFF that keeps the link busy
 * @rate: of the link, bytes/s
 * @hrtt: ns, as of bfc_pfc_headroom_auto()
 * @mtu: largest frame, bytes
 *
 * XON is what the link brings in an HRTT: so much is left when the neighbour is
 * told to go on. XOFF is 5/4 of it, the paper's ratio at the ingress, 40 to 50 KB
 * (CaPFC §III and Table II); four frames at least.
 *
 * Return: bytes.
 */
u64 bfc_pfc_xoff_auto(u64 rate, u64 hrtt, u32 mtu)
{
	u64 xoff = bfc_bytes_in(rate, hrtt);

	xoff += xoff / 4;
	return xoff < 4ULL * mtu ? 4ULL * mtu : xoff;
}

/**
 * bfc_pfc_gap() - how far XON is below XOFF
 * @xoff: bytes
 * @mtu: largest frame, bytes
 *
 * Return: bytes: a fifth of it, two frames at least.
 */
u64 bfc_pfc_gap(u64 xoff, u32 mtu)
{
	u64 gap = div_u64(xoff + 4, 5);

	return gap < 2ULL * mtu ? 2ULL * mtu : gap;
}
