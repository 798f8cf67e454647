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
 * Who uses this on several processors must not lose a change: occupancy is
 * changed by any egress, the decision is made by the one who sends the frame,
 * since a hysteresis needs one history. So:
 *
 *   egress:  change the occupancy; full barrier (an atomic that returns a value
 *	      is one); bfc_pfc_next() on the state as it is now: another one than
 *	      that state? then the port is dirty
 *   sender:  clear dirty; full barrier; read the occupancy; bfc_pfc_next(); write
 *	      the state; full barrier; read again: another one? then dirty
 */
#ifndef _BFC_PFC_H
#define _BFC_PFC_H

#include <linux/math64.h>
#include "bfc_pfc_wire.h"
#include "bfc_pool.h"
#include "bfc_thresh.h"

#define BFC_FRAME_OVERHEAD	24	/* preamble, FCS, gap: of the wire only */
#define BFC_ALPHA_HPCC		110000	/* 11 % of the free buffer, HPCC §5.1 */

/**
 * struct bfc_pfc_thresh - thresholds of one (port, priority)
 * @max: MAX, bytes that it may hold, headroom included; 0 = not known
 * @xoff: XOFF, bytes; not used if @alpha
 * @xon: XON, bytes; not used if @alpha
 * @headroom: bytes to be kept free for what comes after XOFF
 * @alpha: not 0: XOFF is this many millionths of the free shared buffer
 * @gap: with @alpha, XON is so many bytes below XOFF
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
 * bfc_pfc_check() - do thresholds fit together?
 * @t: the thresholds
 *
 * Return: the first relation that does not hold.
 */
static inline enum bfc_pfc_bad bfc_pfc_check(const struct bfc_pfc_thresh *t)
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
 * @xoff: I as it is: true = paused
 * @held: bytes held, without the reserve if there is one and without headroom
 * @headroom: of the headroom, bytes taken (0 where they are not told apart)
 * @free: bytes of the shared buffer that are not taken; any without alpha
 *
 * Paused is what "passes" XOFF (CaPFC), "consumes more than 11 % of the free
 * buffer" (HPCC §5.1): more than, not as much as. What "drops below" XON goes on;
 * taken as not more than it, as Alg. 1 (line 19) has it on the egress side, for
 * XON = 0 means something then. A port whose headroom is not all free again would
 * lose packets at the next XOFF: it stays paused.
 *
 * Return: I as it should be.
 */
static inline bool bfc_pfc_next(const struct bfc_pfc_thresh *t, bool xoff,
				u64 held, u64 headroom, u32 free)
{
	if (headroom)
		return true;
	return held > (xoff ? bfc_pfc_xon_at(t, free) :
			      bfc_pfc_xoff_at(t, free));
}

/**
 * struct bfc_pfc_link - what headroom depends on
 * @rate: of the link, bytes/s
 * @prop: ns, one way
 * @local: ns from the packet that crosses XOFF to the PFC frame being the next on
 *	   our link: interrupts off, a softirq that waits
 * @response: ns from the PFC frame being there to no more packets being given to
 *	      the link: interface and higher-layer delay (614.4 ns at 10 Gbit/s for
 *	      hardware); for software, an interrupt and a softirq
 * @mtu: largest frame in either direction, bytes as they are counted: from the
 *	 destination address on, without FCS
 * @ring: bytes that a pause does not stop: what the neighbour's driver holds
 */
struct bfc_pfc_link {
	u64 rate;
	u64 prop;
	u64 local;
	u64 response;
	u32 mtu;
	u32 ring;
};

/* What comes in @ns at @rate, and frames: see bfc_pfc_headroom(). */
static inline u64 bfc_pfc_room(u64 rate, u64 ns, u32 mtu)
{
	return bfc_bytes_in(rate, ns) + 1 +	/* rounded up */
	       mtu +			/* crossed XOFF, as a whole */
	       mtu + BFC_FRAME_OVERHEAD + /* being sent, in the frame's way */
	       BFC_PFC_WIRE +		/* the PFC frame */
	       mtu;			/* its last one, begun just before */
}

/**
 * bfc_pfc_headroom() - what may still come after XOFF was crossed
 * @l: the link
 *
 * After 802.1Qbb annex O (IEEE 802.1Q-2018 annex N), "buffer requirements":
 *
 *   2 x propagation + processing at both ends	[time x rate]
 *   + maximum frame, which our side has just begun to send as XOFF is crossed
 *   + the PFC frame itself
 *   + maximum frame, which the neighbour has just begun to send as it obeys
 *
 * and, since occupancy is compared after a packet has been added to it,
 *
 *   + maximum frame, of which all but one byte can lie beyond XOFF
 *   + what the neighbour has given to its driver already
 *
 * Return: bytes, rounded up.
 */
static inline u64 bfc_pfc_headroom(const struct bfc_pfc_link *l)
{
	return bfc_pfc_room(l->rate, 2 * l->prop + l->local + l->response,
			    l->mtu) + l->ring;
}

/**
 * bfc_pfc_headroom_auto() - the same from an HRTT
 * @rate: of the link, bytes/s
 * @hrtt: ns from a pause being sent to the last packet having come in; times of
 *	  software, rings and propagation are in it. Frames are added, as the
 *	  largest need not have been met while it was measured
 * @mtu: largest frame, bytes
 *
 * Return: bytes, rounded up.
 */
static inline u64 bfc_pfc_headroom_auto(u64 rate, u64 hrtt, u32 mtu)
{
	return bfc_pfc_room(rate, hrtt, mtu);
}

/**
 * bfc_pfc_mem() - what memory can bytes of headroom take?
 * @bytes: of the link: the result of bfc_pfc_headroom()
 * @frame: frames of this size, bytes; the smallest are the worst, as a rule
 * @mem: what one of them takes of the memory, bytes (truesize)
 *
 * For owners that count memory: a frame of 60 bytes may take 768.
 *
 * Return: bytes of memory, rounded up to frames.
 */
static inline u64 bfc_pfc_mem(u64 bytes, u32 frame, u32 mem)
{
	u64 wire = (u64)frame + BFC_FRAME_OVERHEAD;

	return div64_u64(bytes + wire - 1, wire) * mem;
}

/**
 * bfc_pfc_xoff_auto() - XOFF with which the link does not run dry
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
static inline u64 bfc_pfc_xoff_auto(u64 rate, u64 hrtt, u32 mtu)
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
static inline u64 bfc_pfc_gap(u64 xoff, u32 mtu)
{
	u64 gap = div_u64(xoff + 4, 5);

	return gap < 2ULL * mtu ? 2ULL * mtu : gap;
}

/**
 * bfc_pfc_defaults() - thresholds that follow from link and buffer
 * @t: result, static ones
 * @rate: of the link, bytes/s
 * @hrtt: ns, as of bfc_pfc_headroom_auto()
 * @mtu: largest frame, bytes
 * @max: MAX, bytes; 0 = as much as is needed
 *
 * XOFF = MAX - headroom, without MAX bfc_pfc_xoff_auto(); XON is bfc_pfc_gap()
 * below it.
 *
 * Return: false if @max is too small for that, or more than BFC_POOL_MAX would be
 * needed; @t is not valid then.
 */
static inline bool bfc_pfc_defaults(struct bfc_pfc_thresh *t, u64 rate,
				    u64 hrtt, u32 mtu, u32 max)
{
	u64 headroom = bfc_pfc_headroom_auto(rate, hrtt, mtu), xoff, gap;

	if (max) {
		if (max < headroom || max > BFC_POOL_MAX)
			return false;
		xoff = max - headroom;
	} else {
		xoff = bfc_pfc_xoff_auto(rate, hrtt, mtu);
		if (xoff + headroom > BFC_POOL_MAX)
			return false;
	}
	gap = bfc_pfc_gap(xoff, mtu);
	if (gap > xoff)
		return false;
	t->max = xoff + headroom;
	t->xoff = xoff;
	t->xon = xoff - gap;
	t->headroom = headroom;
	t->alpha = 0;
	t->gap = gap;
	return true;
}

#endif /* _BFC_PFC_H */
