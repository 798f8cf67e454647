// SPDX-License-Identifier: GPL-2.0
/*
 * Thresholds and times that follow from rate and HRTT.
 */
#include <linux/math64.h>
#include <linux/pkt_sch_bfc.h>

#include "bfc_thresh.h"

/**
 * bfc_speed_rate() - a device's speed in bytes/s
 * @mbit: as ethtool has it, Mbit/s; root may set a tap's to anything
 *
 * Return: bytes/s, at most BFC_RATE_MAX, which other arithmetic relies on.
 */
u64 bfc_speed_rate(u32 mbit)
{
	u64 rate = (u64)mbit * (1000000 / 8);

	return rate < BFC_RATE_MAX ? rate : BFC_RATE_MAX;
}

/**
 * bfc_bytes_in() - bytes that a link sends in some time
 * @rate: bytes/s, at most BFC_RATE_MAX
 * @ns: at most some hours
 *
 * Exact everywhere. mul_u64_u64_div_u64() is not: the generic one of 6.1 drops bits
 * of large products, and x86's goes wrong where the compiler sees that the first
 * factor equals the divisor (8 Gbit/s are 1e9 bytes/s): both may be kept in the
 * register that the product goes to.
 *
 * Return: bytes, rounded down.
 */
u64 bfc_bytes_in(u64 rate, u64 ns)
{
	u64 s = div_u64(ns, BFC_NSEC_PER_SEC);
	u64 fast = div_u64(rate, BFC_NSEC_PER_SEC);
	u32 part = ns - s * BFC_NSEC_PER_SEC;
	u32 slow = rate - fast * BFC_NSEC_PER_SEC;

	return s * rate + part * fast +
	       div_u64((u64)part * slow, BFC_NSEC_PER_SEC);
}

/**
 * bfc_thresh_fill() - build the table Th[N_active] (BFC §3.3.2)
 * @table: entries 0 to @queues; [0] equals [1]: a queue that is alone and
 *	   paused is compared with the full 1-hop BDP
 * @queues: queues of the port
 * @rate: µ in bytes/s
 * @hrtt: in ns
 * @floor: no threshold below this many bytes: the paper names none, but less
 *	   than one packet would pause a flow for every packet it sends
 * @fixed: not 0: this many bytes for every N_active
 *
 * Th = HRTT x µ / N_active: the 1-hop BDP at the rate at which fair queueing
 * drains one of N_active queues.
 */
void bfc_thresh_fill(u32 *table, unsigned int queues, u64 rate, u64 hrtt,
		     u32 floor, u32 fixed)
{
	u64 bdp = bfc_bytes_in(rate, hrtt), th;
	unsigned int n;

	for (n = 1; n <= queues; n++) {
		th = div_u64(bdp, n);
		if (th > BFC_THRESHOLD_MAX)
			th = BFC_THRESHOLD_MAX;
		if (th < floor)
			th = floor;
		table[n] = fixed ? fixed : th;
	}
	table[0] = table[1];
}

/**
 * bfc_refresh_auto() - how often the set of paused queues is repeated
 * @rate: of the link towards the peer, bytes/s
 * @frame: bytes of a PAUSE frame
 *
 * Return: ns: 1 ms, or longer so that repetitions take at most 1 % of the
 * link, but never over BFC_REFRESH_MAX.
 */
u64 bfc_refresh_auto(u64 rate, unsigned int frame)
{
	u64 ns = div64_u64(100 * frame * BFC_NSEC_PER_SEC, rate ? rate : 1);

	if (ns < 1000000)
		ns = 1000000;
	return ns > BFC_REFRESH_MAX ? BFC_REFRESH_MAX : ns;
}

/**
 * bfc_hold_auto() - how long a PAUSE is valid without another one
 * @refresh: ns between frames
 *
 * Return: ns: outlasts ten lost frames in a row, 50 ms at least and
 * BFC_HOLD_MAX at most.
 */
u64 bfc_hold_auto(u64 refresh)
{
	u64 ns = 11 * refresh;

	if (ns < 50000000)
		ns = 50000000;
	return ns > BFC_HOLD_MAX ? BFC_HOLD_MAX : ns;
}
