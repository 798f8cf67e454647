/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When FAFC marks and pauses, and how a host reacts (FAFC §II-E, §III): pure
 * arithmetic, compiled into the module and into the user-space unit tests.
 *
 *   bfc_holt.h	  the queues' lengths and rates
 *   bfc_slots.h  what pauses keep away
 *   bfc_alloc.h  which port is paused for how long
 *
 * At each dequeue of egress e (Alg. 1 line 7), of one priority:
 *
 *   bfc_fafc_check(): qPred over th_e: ECN mark; over th_p and growing: pause
 *   pause: for all i: r_i = bfc_fafc_decrease(r^i_ie) if e did so a moment ago
 *		       R_i = sum of r^o_ik over k, but for those that
 *			     bfc_fafc_is_congested() tells
 *		       bfc_alloc_add(r_i, R_i)
 *	    bfc_fafc_solve()
 *	    for all i with T_i > 0: bfc_slots_pause(), send it
 *
 * Context of all functions: the caller serializes.
 */
#ifndef _BFC_FAFC_H
#define _BFC_FAFC_H

#include <linux/types.h>
#include <linux/pkt_sch_bfc.h>
#include "bfc_alloc.h"
#include "bfc_holt.h"
#include "bfc_slots.h"

#define BFC_FAFC_BACKSTOP 3ULL	/* T_hop: what a pause of the PFC backstop lasts at least */
#define BFC_FAFC_AGAIN	4	/* T_hop: a pause no later than this after another follows it */

/* Chosen here, as the paper gives no value: with beta 0.8 a fifth of a rate that hosts
 * have just lowered is still in its smoothed value a T_hop later.
 */
#define BFC_FDEC_DEFAULT	800U

/* T_hop: bfc_fafc_recover(). The paper has no such number. Measured (docs/results-fafc.md):
 * with DCTCP (its windows recover by themselves), of 11 873 flows to hosts without an incast 162
 * take five times as long as alone with 64, 87 with 32, 67 with 8, and 69 if hosts do not slow
 * down at all (PFC: 222). Without a congestion control a flow beside three that flood
 * another egress gets 84 % of its link with 64, 76 % with 32, and 38 % with 8 (PFC: 49 %).
 */
#define BFC_FAFC_RECOVER	32

#define BFC_FAFC_MARK	0x1	/* mark the packet (ECN CE) */
#define BFC_FAFC_PAUSE	0x2	/* allocate pauses */

/**
 * bfc_fafc_predict() - qPred: the queue two T_hop from now
 * @e: predictor of the egress (q_*e), advanced
 * @offset: pausOf_*e: sum of bfc_slots_offset() over ingress ports
 *
 * qPred = q + 2 r T_hop + pausOf (Alg. 1 line 15)
 *
 * Return: an amount, below 0 where the queue will have been empty for a while.
 */
static inline s64 bfc_fafc_predict(const struct bfc_holt *e, s64 offset)
{
	return e->q + 2 * e->r + offset;
}

/**
 * bfc_fafc_check() - CheckCong() of Alg. 1
 * @e: predictor of the egress (q_*e), advanced; the packet that leaves is not in
 *     it any more (Alg. 1 line 14 would take it out once again: see
 *     bfc_holt_dequeue())
 * @offset: pausOf_*e: sum of bfc_slots_offset() over ingress ports
 * @ecn: th_e, bytes
 * @ecn_offset: ECNof_e, bytes (bfc_ecn_enqueue())
 * @pause: th_p, bytes
 *
 * A queue that shrinks needs no pause, however long it is (Alg. 2 line 2).
 *
 * Return: BFC_FAFC_* bits.
 */
static inline unsigned int bfc_fafc_check(const struct bfc_holt *e, s64 offset,
					  u64 ecn, u64 ecn_offset, u64 pause)
{
	s64 predicted = bfc_fafc_predict(e, offset);
	unsigned int what = 0;

	if (predicted > bfc_amount(ecn + ecn_offset))
		what |= BFC_FAFC_MARK;
	if (e->r > 0 && predicted > bfc_amount(pause))
		what |= BFC_FAFC_PAUSE;
	return what;
}

/**
 * bfc_fafc_is_congested() - check if egress k is congested: then keeping packets away from it
 * does no harm
 * @queued: q_*k, all that egress k holds, an amount
 * @threshold: th_c, bytes
 *
 * R_i is what port i sends to those that are not (Alg. 2 lines 4-7). Line 6 prints
 * the test q_ik <= th_c. Equation (9) sums over egress *ports* that are not
 * congested, q_*k: an egress with packets of fifty ports, a few of each, is
 * congested, and pausing one of these costs it nothing.
 *
 * Equation (5) leaves out the egress for which ports are paused; line 6 does
 * not, and prediction may be faster than th_c: that one always counts as congested.
 *
 * Return: true if it holds more than @threshold.
 */
static inline bool bfc_fafc_is_congested(s64 queued, u64 threshold)
{
	return queued > bfc_amount(threshold);
}

/**
 * bfc_fafc_again() - check if a pause follows another one
 * @now: ns
 * @last: when the same egress paused last, ns; 0: never
 * @t_hop: ns
 *
 * Return: true: rates are to be decreased (Alg. 2 line 8).
 */
static inline bool bfc_fafc_again(u64 now, u64 last, u32 t_hop)
{
	return last && now <= last + (u64)BFC_FAFC_AGAIN * t_hop;
}

/**
 * bfc_fafc_decrease() - f_dec of Alg. 2 line 9: hosts may send less by now
 * @rate: r^i_ie, amount per T_hop, BFC_AMOUNT_MAX at most
 * @f_dec: of BFC_SHARE_ONE (bfc_share())
 *
 * To be used wherever Alg. 2 has r^i_ie from then on: in r_i and in the r_i* that
 * bfc_slots_pause() gets. bfc_fafc_solve() derives r_*e from the decreased rates.
 *
 * Return: amount per T_hop.
 */
static inline u64 bfc_fafc_decrease(u64 rate, u32 f_dec)
{
	return rate * f_dec >> BFC_SHARE_SHIFT;
}

/**
 * bfc_ecn_enqueue() - onEnqueueECN() of Alg. 4
 * @offset: ECNof of the egress, bytes; 0 at first
 * @len: bytes of the packet that comes
 * @paused: true if the neighbour of the egress pauses it now
 *
 * What piles up because of the pause is no congestion of this port (§III-C).
 */
static inline void bfc_ecn_enqueue(u64 *offset, u32 len, bool paused)
{
	if (paused)
		*offset += len;
}

/**
 * bfc_ecn_dequeue() - onDequeueECN() of Alg. 4, after bfc_fafc_check()
 * @offset: ECNof of the egress, bytes
 * @queued: raw q'_*e, bytes, without the packet that leaves
 */
static inline void bfc_ecn_dequeue(u64 *offset, u64 queued)
{
	if (*offset > queued)
		*offset = queued;
}

/**
 * bfc_fafc_recovery() - time that a rate takes from the floor to the speed of the link
 * @t_hop: ns
 *
 * Return: ns.
 */
static inline u64 bfc_fafc_recovery(u32 t_hop)
{
	return (u64)BFC_FAFC_RECOVER * t_hop;
}

/**
 * bfc_fafc_recover() - let the rate of a host recover
 * @rate: bytes/s, at the last update
 * @link: speed of its link, bytes/s, BFC_RATE_MAX at most
 * @elapsed: ns since then
 * @t_hop: ns, not 0
 *
 * The paper's hosts have a congestion control that raises their rate. Here it
 * may be one with windows, which has no rate: so the rate recovers by itself,
 * in BFC_FAFC_RECOVER T_hop from the floor to the speed of the link.
 *
 * Return: bytes/s, @link at most.
 */
static inline u64 bfc_fafc_recover(u64 rate, u64 link, u64 elapsed, u32 t_hop)
{
	u64 whole = bfc_fafc_recovery(t_hop), rem;

	if (elapsed >= whole || rate >= link)
		return link;
	rate += bfc_muldiv(link, elapsed, whole, &rem);
	return rate < link ? rate : link;
}

u64 bfc_fafc_solve(struct bfc_alloc *a, u64 out, s64 offset, u32 t_hop);
u64 bfc_fafc_pace(u64 rate, u32 pause, u32 t_hop, u64 floor);
u32 bfc_fafc_threshold(u64 rate, u64 hrtt, u32 mtu);
u64 bfc_fafc_floor(u64 link);

#endif /* _BFC_FAFC_H */
