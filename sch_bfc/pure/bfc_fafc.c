// SPDX-License-Identifier: GPL-2.0
/*
 * FAFC: thresholds, the demand that pauses have to meet, the pace of a host.
 */
#include "bfc_fafc.h"

/**
 * bfc_fafc_solve() - calculateAndSendPause() of Alg. 2, lines 2 and 11-14
 * @a: ports with their r_i and R_i; result: T_i
 * @out: r^o_*e, what the egress sends, amount per T_hop
 * @offset: pausOf_*e, an amount
 * @t_hop: ns
 *
 * r_*e, in line 2 and on the right of line 13, is taken from the r_i that are on
 * the left: r_*e = sum r_i - r^o_*e. As printed, f_dec shrinks the left alone: a
 * factor that is to prevent overreaction ("an overestimated ingress rate", §III-D)
 * would make pauses longer, as each ns of a pause keeps less away while as much has to be kept
 * away. Line 13 is equation (7), sum (T_hop - T_i) r^i <= T_hop r^o, by means of r = r^i - r^o:
 * with hosts that send f_dec r^i by now, (7) has f_dec r^i for r^i, and that is this. So with
 * 0.8 an overload of up to 25 % causes no pause shortly after another one, as hosts should send
 * that much less by then. If they do not, no pause is allocated, and 4 T_hop after the last one
 * rates are used as they are again (bfc_fafc_again()).
 *
 * Measured (with DCTCP and 8 T_hop): 67 flows of 11 873 take five times as long as alone, 75
 * with f_dec on the left alone, 77 without f_dec.
 *
 * Return: the amount that no pause can keep away; 0: all that is needed is kept away.
 */
u64 bfc_fafc_solve(struct bfc_alloc *a, u64 out, s64 offset, u32 t_hop)
{
	s64 buildup = -(s64)out;
	unsigned int i;

	for (i = 0; i < a->ports; i++)
		buildup += a->port[i].rate;
	return bfc_alloc_solve(a, buildup > 0 ? buildup + offset : 0, t_hop);
}

/**
 * bfc_fafc_pace() - PauseReceive() of Alg. 3: a host sends less after a pause
 * @rate: of a flow, bytes/s, below 2^48
 * @pause: T, ns
 * @t_hop: ns, not 0
 * @floor: bytes/s
 *
 * Alg. 3 multiplies the rate by 1 - T/T_hop. That is 0 for T = T_hop, the pause
 * of every congested port that has no victims, and no multiplication leads back
 * from 0: so there is a floor. A flow below it stays as it is.
 *
 * Return: bytes/s.
 */
u64 bfc_fafc_pace(u64 rate, u32 pause, u32 t_hop, u64 floor)
{
	u64 rem, less = 0;

	if (pause < t_hop)
		less = bfc_muldiv(t_hop - pause, rate, t_hop, &rem);
	if (floor > rate)
		floor = rate;
	return less > floor ? less : floor;
}

/**
 * bfc_fafc_threshold() - th_p if the option is not given
 * @rate: of the link, bytes/s, BFC_RATE_MAX at most
 * @hrtt: ns, BFC_HRTT_MAX at most
 * @mtu: largest frame, bytes
 *
 * Chosen here, as the paper gives no formula: what eight ports bring in the two T_hop
 * before a pause takes effect; 32 frames at least.
 *
 * Return: bytes, BFC_THRESHOLD_MAX at most.
 */
u32 bfc_fafc_threshold(u64 rate, u64 hrtt, u32 mtu)
{
	u64 rem, bytes = 8 * bfc_muldiv(rate, hrtt, 1000000000, &rem);

	if (bytes < 32ULL * mtu)
		bytes = 32ULL * mtu;
	return bytes < BFC_THRESHOLD_MAX ? bytes : BFC_THRESHOLD_MAX;
}

/**
 * bfc_fafc_floor() - the rate that pauses leave a host at least
 * @link: speed of its link, bytes/s
 *
 * Return: bytes/s, not 0.
 */
u64 bfc_fafc_floor(u64 link)
{
	return link / BFC_FAFC_RECOVER + 1;
}
