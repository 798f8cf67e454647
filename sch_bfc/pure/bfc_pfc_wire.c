// SPDX-License-Identifier: GPL-2.0
/*
 * MAC control frames: encoding, decoding and the arithmetic of their times.
 */
#include <linux/math64.h>
#include <linux/string.h>

#include "bfc_pfc_wire.h"

/* ---- encoding and decoding ---- */

/**
 * bfc_mac_kind() - the kind of MAC control frame that a frame is, if any
 * @frame: from the destination address on, without VLAN tags
 * @len: bytes there are
 *
 * PFC frames go to the group address, which no bridge forwards: what has it comes from the
 * neighbour. PAUSE may also go to the address of the station (annex 31B), but bridges forward
 * frames to that: they may come from afar.
 *
 * Return: BFC_MAC_*.
 */
enum bfc_mac bfc_mac_kind(const void *frame, unsigned int len)
{
	static const u8 group[ETH_ALEN] = BFC_MAC_ADDR;
	const struct bfc_wire_mac *w = frame;

	if (len < ETH_HLEN || w->eth.h_proto != cpu_to_be16(BFC_MAC_ETHERTYPE))
		return BFC_MAC_NONE;
	if (len < sizeof(*w))
		return BFC_MAC_OTHER;
	if (memcmp(w->eth.h_dest, group, ETH_ALEN))
		return BFC_MAC_OTHER;
	switch (be16_to_cpu(w->opcode)) {
	case BFC_MAC_OP_PFC:
		return BFC_MAC_PFC;
	case BFC_MAC_OP_PAUSE:
		return BFC_MAC_PAUSE;
	default:
		return BFC_MAC_OTHER;
	}
}

/**
 * bfc_put_pfc() - write a PFC frame
 * @frame: BFC_PFC_FRAME bytes, all of which are written
 * @src: address of the port
 * @p: values; quanta of priorities that are not enabled are sent as 0
 */
void bfc_put_pfc(void *frame, const u8 *src, const struct bfc_pfc_frame *p)
{
	static const u8 group[ETH_ALEN] = BFC_MAC_ADDR;
	struct bfc_wire_pfc *w = frame;
	unsigned int prio;

	memcpy(w->mac.eth.h_dest, group, ETH_ALEN);
	memcpy(w->mac.eth.h_source, src, ETH_ALEN);
	w->mac.eth.h_proto = cpu_to_be16(BFC_MAC_ETHERTYPE);
	w->mac.opcode = cpu_to_be16(BFC_MAC_OP_PFC);
	w->reserved = 0;
	w->enable = p->enable;
	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		w->quanta[prio] = p->enable >> prio & 1 ?
				  cpu_to_be16(p->quanta[prio]) : 0;
	memset(w->padding, 0, sizeof(w->padding));
}

/**
 * bfc_get_pfc() - read a PFC frame
 * @frame: of kind BFC_MAC_PFC
 * @len: bytes there are; a driver may have taken the padding off
 * @p: result
 *
 * Return: BFC_OK or BFC_BAD_SHORT.
 */
enum bfc_bad bfc_get_pfc(const void *frame, unsigned int len,
			 struct bfc_pfc_frame *p)
{
	const struct bfc_wire_pfc *w = frame;
	unsigned int prio;

	if (len < BFC_PFC_LEN)
		return BFC_BAD_SHORT;
	p->enable = w->enable;
	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		p->quanta[prio] = p->enable >> prio & 1 ?
				  be16_to_cpu(w->quanta[prio]) : 0;
	return BFC_OK;
}

/* ---- times ---- */

/**
 * bfc_quanta_to_ns() - length of a pause in ns
 * @quanta: as received
 * @rate: speed of the link in bytes/s: that of the MAC, not of a shaper; 0 is
 *	  taken for 1
 *
 * Return: ns, rounded up: a port that obeys does not go on too early.
 */
u64 bfc_quanta_to_ns(u16 quanta, u64 rate)
{
	/* at most 65535 x 64e9 = 4.2e15 */
	u64 part = quanta * (BFC_QUANTUM_BYTES * 1000000000ULL);

	return rate ? div64_u64(part + rate - 1, rate) : part;
}

/**
 * bfc_ns_to_quanta() - length of a pause in quanta
 * @ns: for so long; 0 = XON
 * @rate: speed of the link in bytes/s, at most BFC_RATE_MAX; 0 is taken for 1
 *
 * Return: quanta, rounded up, so that the pause is not shorter than @ns; but
 * BFC_QUANTA_MAX at most: then it is shorter, and has to be repeated.
 */
u16 bfc_ns_to_quanta(u64 ns, u64 rate)
{
	const u64 unit = BFC_QUANTUM_BYTES * 1000000000ULL;

	if (!rate)
		rate = 1;
	if (ns >= bfc_quanta_to_ns(BFC_QUANTA_MAX, rate))
		return BFC_QUANTA_MAX;
	/* less than BFC_QUANTA_MAX x unit + rate + unit: no overflow */
	return div64_u64(ns * rate + unit - 1, unit);
}

/**
 * bfc_quanta_refresh() - interval at which a pause must be repeated
 * @quanta: as sent
 * @rate: speed of the link in bytes/s; 0 is taken for 1
 * @lead: ns from the moment when the repetition is due until it may at the latest
 *	  have reached the neighbour, compared with the frame before: a timer that
 *	  is late, the frame of data that has just begun (an MTU), and
 *	  BFC_PFC_WIRE bytes
 * @losses: number of repetitions that may get lost in a row
 *
 * The pause runs from the moment the neighbour has got the frame, which is one
 * propagation delay later for the repetition as well.
 *
 * Return: ns after the frame was sent, then again and again, so that the pause
 * never runs out meanwhile; 0 if it is too short for that.
 */
u64 bfc_quanta_refresh(u16 quanta, u64 rate, u64 lead, unsigned int losses)
{
	u64 part = quanta * (BFC_QUANTUM_BYTES * 1000000000ULL);
	/* rounded down: the neighbour may do so */
	u64 ns = rate ? div64_u64(part, rate) : part;

	return ns > lead ? div64_u64(ns - lead, losses + 1ULL) : 0;
}

/**
 * bfc_pause_least() - shortest interval at which pauses may be repeated
 * @rate: speed of the link in bytes/s; 0 is taken for 1
 * @wire: bytes that the frame that repeats them takes of the link
 *
 * The frames go before data, and what is paused may stay so for long: they take a tenth of the link
 * then.
 *
 * Return: ns.
 */
u64 bfc_pause_least(u64 rate, u64 wire)
{
	return div64_u64(10 * wire * 1000000000ULL, rate ? rate : 1);
}

/**
 * bfc_pfc_longest() - longest interval at which pauses may be repeated, so that two lost frames
 * do no harm
 * @quanta: as sent
 * @rate: speed of the link in bytes/s; 0 is taken for 1
 * @frame: bytes of a data frame that a repetition may have to wait for
 *
 * Return: ns; 0 if the pause is too short for that.
 */
u64 bfc_pfc_longest(u16 quanta, u64 rate, u64 frame)
{
	u64 lead = BFC_PFC_LATE_NS +
		   div64_u64((frame + BFC_PFC_WIRE) * 1000000000ULL,
			     rate ? rate : 1);

	return bfc_quanta_refresh(quanta, rate, lead, 2);
}

/**
 * bfc_pfc_refresh() - interval at which pauses are repeated
 * @quanta: as sent
 * @rate: speed of the link in bytes/s; 0 is taken for 1
 * @frame: bytes of a data frame that a repetition may have to wait for
 * @refresh: ns: an interval that is short enough but for the quanta
 *
 * Never shorter than bfc_pause_least(), which would take too much of the link from data: pauses
 * that are too short for that may run out before they are repeated. (65535 quanta are long
 * enough up to 670 Gbit/s with a least refresh of 10 us.)
 *
 * Return: ns.
 */
u64 bfc_pfc_refresh(u16 quanta, u64 rate, u64 frame, u64 refresh)
{
	u64 least = bfc_pause_least(rate, BFC_PFC_WIRE), most;

	most = bfc_pfc_longest(quanta, rate, frame);
	if (most > refresh)
		most = refresh;
	return most > least ? most : least;
}

/**
 * bfc_pfc_quick() - interval at which a change is repeated at first
 * @rate: speed of the link in bytes/s; 0 is taken for 1
 * @hrtt: ns
 * @refresh: ns: interval at which pauses are repeated later on
 *
 * A lost XOFF costs headroom, and a lost XON the link's time, until the next frame
 * gets through: a quarter of the HRTT each is little beside what is set aside for one
 * HRTT anyway. Never shorter than bfc_pause_least(), which would take too much of the link from
 * data.
 *
 * Return: ns, @refresh at most.
 */
u64 bfc_pfc_quick(u64 rate, u64 hrtt, u64 refresh)
{
	u64 least = bfc_pause_least(rate, BFC_PFC_WIRE), quick = hrtt / 4;

	if (quick < least)
		quick = least;
	if (quick < BFC_REFRESH_MIN)
		quick = BFC_REFRESH_MIN;
	return quick < refresh ? quick : refresh;
}
