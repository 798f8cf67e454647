/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to pause a neighbour's priority, and how much room that takes: IEEE
 * 802.1Qbb, which CaPFC's ingress side is as well (CaPFC §II-C, Fig. 3). Pure
 * arithmetic, compiled into the module and into the user-space unit tests.
 *
 *   0 ............ XON ...... XOFF ................ MAX
 *		    gap		    headroom
 *
 * A (port, priority) that holds more than XOFF is paused until it holds XON or
 * less. What still comes after that needs headroom, else it is lost.
 *
 * With several processors no change may get lost: any egress changes the
 * occupancy, but only the sender of the frame decides, as a hysteresis needs
 * one history. So:
 *
 *   egress:  change the occupancy; full barrier (an atomic that returns a value
 *	      is one); bfc_pfc_next() on the present state; if the result is
 *	      another state, mark the port dirty
 *   sender:  clear dirty; full barrier; read the occupancy; bfc_pfc_next(); write
 *	      the state; full barrier; read again; if the result is another state
 *	      now, mark the port dirty
 */
#ifndef _BFC_PFC_H
#define _BFC_PFC_H

#include "bfc_pool.h"

#define BFC_FRAME_OVERHEAD	24	/* preamble, FCS, gap: of the wire only */
#define BFC_ALPHA_HPCC		110000	/* 11 % of the free buffer, HPCC §5.1 */

/**
 * struct bfc_pfc_thresh - thresholds of one (port, priority)
 * @max: MAX, bytes that it may hold, headroom included; 0 = not known
 * @xoff: XOFF, bytes; not used if @alpha
 * @xon: XON, bytes; not used if @alpha
 * @headroom: bytes kept free for packets that come after XOFF
 * @alpha: not 0: XOFF is this many millionths of the free shared buffer
 * @gap: with @alpha, bytes that XON is below XOFF
 */
struct bfc_pfc_thresh {
	u32 max;
	u32 xoff;
	u32 xon;
	u32 headroom;
	u32 alpha;
	u32 gap;
};

/**
 * enum bfc_pfc_bad - why thresholds make no sense
 * @BFC_PFC_OK: they do
 * @BFC_PFC_BAD_XON: XON is not below XOFF (CaPFC §III), or, with alpha, the gap
 *		     is 0: every packet would change the state
 * @BFC_PFC_BAD_XOFF: XOFF is not below MAX
 * @BFC_PFC_BAD_HEADROOM: between XOFF and MAX there is less than the headroom
 * @BFC_PFC_BAD_ALPHA: over BFC_ALPHA_MAX
 */
enum bfc_pfc_bad {
	BFC_PFC_OK,
	BFC_PFC_BAD_XON,
	BFC_PFC_BAD_XOFF,
	BFC_PFC_BAD_HEADROOM,
	BFC_PFC_BAD_ALPHA
};

/**
 * bfc_pfc_xoff_at() - XOFF at the moment
 * @t: the thresholds
 * @free: bytes of the shared buffer that are not taken
 *
 * Return: bytes.
 */
static inline u64 bfc_pfc_xoff_at(const struct bfc_pfc_thresh *t, u32 free)
{
	return t->alpha ? bfc_alpha_share(t->alpha, free) : t->xoff;
}

/**
 * bfc_pfc_xon_at() - XON at the moment
 * @t: the thresholds
 * @free: bytes of the shared buffer that are not taken
 *
 * Return: bytes; with a full buffer 0, so that a port which holds nothing is not
 * kept waiting by the others.
 */
static inline u64 bfc_pfc_xon_at(const struct bfc_pfc_thresh *t, u32 free)
{
	u64 xoff = bfc_pfc_xoff_at(t, free);

	if (!t->alpha)
		return t->xon;
	return xoff > t->gap ? xoff - t->gap : 0;
}

/**
 * bfc_pfc_next() - I, the congestion state of a (port, priority) (CaPFC Fig. 3)
 * @t: the thresholds, checked
 * @xoff: the present I: true = paused
 * @held: bytes held, without the reserve if there is one and without headroom
 * @headroom: bytes taken of the headroom (0 where these are not counted separately)
 * @free: bytes of the shared buffer that are not taken; any without alpha
 *
 * A priority is paused if it "passes" XOFF (CaPFC), or "consumes more than 11 % of the free
 * buffer" (HPCC §5.1): if it holds more, not as much. It is resumed if it "drops below" XON:
 * taken as holding no more than XON, as in Alg. 1 (line 19) on the egress side, so that XON = 0
 * has a meaning. A port would lose packets at the next XOFF while its headroom is not all free
 * again: it stays paused.
 *
 * Return: the new I.
 */
static inline bool bfc_pfc_next(const struct bfc_pfc_thresh *t, bool xoff,
				u64 held, u64 headroom, u32 free)
{
	if (headroom)
		return true;
	return held > (xoff ? bfc_pfc_xon_at(t, free) :
			      bfc_pfc_xoff_at(t, free));
}

enum bfc_pfc_bad bfc_pfc_check(const struct bfc_pfc_thresh *t);
u64 bfc_pfc_headroom_auto(u64 rate, u64 hrtt, u32 mtu);
u64 bfc_pfc_xoff_auto(u64 rate, u64 hrtt, u32 mtu);
u64 bfc_pfc_gap(u64 xoff, u32 mtu);

#endif /* _BFC_PFC_H */
