/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CaPFC's egress side (CaPFC §II-D, Alg. 1 and 2) and the decision that combines
 * it with PFC's (§II-E). Pure state, no skb, no lock: compiled into the module and
 * into the user-space unit tests.
 *
 *   0 ..... XON <= WARN ...... XOFF ................ MAX
 *
 * An egress queue (port o, priority p) that holds WARN or more counts packets by their ingress
 * port i: C(i). Beyond XOFF it holds the ports responsible that brought most: E(i) = 1, until it
 * is down to XON. Port i pauses its neighbour if its own occupancy is over XOFF (I), or if an
 * egress queue of another port holds it responsible: D = I or E(o), o != i.
 *
 * Where the paper leaves it open, or says two things:
 *
 *  - C are reset "below" WARN (§II-D) or at WARN (Alg. 1 line 17): at WARN.
 *  - WARN relative to XON: by §III WARN is not below XON, and below XOFF; Table
 *    II has the two equal. So XON <= WARN < XOFF < MAX. Then it
 *    makes no difference that lines 19 and 20 are indented under line 17.
 *  - argmax (line 11) with equal counters: the port that reached the count first. A paused port
 *    brings no more, so the others pass it "one-by-one as long as congestion
 *    persists" only when they have really brought more.
 *  - The set of Alg. 2 is the smallest that reaches CUT, largest share first.
 *    "Passes" cannot mean "more than": CUT = 1 would never be reached. With CUT = 1
 *    these are all that were counted, not "every input port with a packet inside"
 *    (§II-D): the queue may still hold packets of others from before WARN.
 *  - E is only ever added to, until XON clears it (line 20): a port that is not in
 *    the set any more stays paused till then.
 *  - A port does not send to itself in the paper (o != i in D). Here it can
 *    (hairpin), and local packets have no ingress port at all. Neither can be
 *    paused, so they are not counted: else they would take the place of ports
 *    that can be paused. They fill the queue like other packets.
 *  - A packet that is dropped at MAX (line 2) is not counted.
 *  - Priorities are 1 to 8 in the paper and 0 to 7 here.
 *
 * C count packets (line 8), occupancy is bytes ("size of the packet").
 */
#ifndef _BFC_CAPFC_H
#define _BFC_CAPFC_H

#include <linux/types.h>

#define BFC_CAPFC_PORTS		64
#define BFC_CAPFC_NO_PORT	BFC_CAPFC_PORTS	/* brought by none of them */

/**
 * enum bfc_capfc_stop - which ports an egress queue holds responsible
 * @BFC_CAPFC_STOP_MAX: the largest contributor (Alg. 1)
 * @BFC_CAPFC_STOP_CAL: the smallest set that brought CUT of it all (Alg. 2)
 */
enum bfc_capfc_stop {
	BFC_CAPFC_STOP_MAX,
	BFC_CAPFC_STOP_CAL
};

/**
 * struct bfc_capfc_thresh - thresholds of an egress queue (CaPFC §II-D, §III)
 * @max: MAX, bytes; a packet with which the queue would hold so much is dropped
 * @xoff: XOFF, bytes; more than that is congestion
 * @warn: WARN, bytes; packets are counted from here on
 * @xon: XON, bytes; congestion ends at no more than that
 * @cut: CUT, per cent, for BFC_CAPFC_STOP_CAL
 */
struct bfc_capfc_thresh {
	u32 max;
	u32 xoff;
	u32 warn;
	u32 xon;
	u8 cut;
};

/**
 * enum bfc_capfc_bad - why thresholds make no sense
 * @BFC_CAPFC_OK: they do
 * @BFC_CAPFC_BAD_WARN: WARN is below XON: counters would not be reset for a long
 *			time (§III)
 * @BFC_CAPFC_BAD_XOFF: XOFF is not above WARN: ports would be held responsible without fresh
 *			counts
 * @BFC_CAPFC_BAD_MAX: MAX is not above XOFF
 * @BFC_CAPFC_BAD_CUT: CUT is not 1 to 100
 */
enum bfc_capfc_bad {
	BFC_CAPFC_OK,
	BFC_CAPFC_BAD_WARN,
	BFC_CAPFC_BAD_XOFF,
	BFC_CAPFC_BAD_MAX,
	BFC_CAPFC_BAD_CUT
};

/**
 * struct bfc_capfc - C and E of an egress queue; all zero to begin with
 * @signals: E, bit i: ingress port i is held responsible
 * @total: sum of @count
 * @count: C: packets that port i brought since WARN
 * @n: ports with a count
 * @order: these, by their count, largest first; of equal ones the one that had it
 *	   first
 * @rank: where a port with a count is in @order
 *
 * The caller serializes: it belongs to the egress, under its root lock.
 */
struct bfc_capfc {
	u64 signals;
	u64 total;
	u64 count[BFC_CAPFC_PORTS];
	u8 n;
	u8 order[BFC_CAPFC_PORTS];
	u8 rank[BFC_CAPFC_PORTS];
};

/**
 * bfc_capfc_admits() - check if a packet may be queued (Alg. 1 line 2)
 * @t: the thresholds
 * @backlog: B+, bytes in the queue with the packet
 *
 * Return: true if so; false: drop it.
 */
static inline bool bfc_capfc_admits(const struct bfc_capfc_thresh *t,
				    u64 backlog)
{
	return backlog < t->max;
}

static inline void bfc_capfc_uncount_all(struct bfc_capfc *c)
{
	while (c->n)
		c->count[c->order[--c->n]] = 0;
	c->total = 0;
}

/**
 * bfc_capfc_dequeue() - a packet left, sent or dropped (Alg. 1 lines 14 to 20)
 * @c: of the queue
 * @t: the thresholds, checked
 * @backlog: bytes in the queue, without the packet
 *
 * Context: the caller serializes (root lock of the egress).
 * Return: ports with an E that became 0: their D may be 0 now, too.
 */
static inline u64 bfc_capfc_dequeue(struct bfc_capfc *c,
				    const struct bfc_capfc_thresh *t,
				    u64 backlog)
{
	u64 set;

	if (backlog > t->warn)
		return 0;
	bfc_capfc_uncount_all(c);
	if (backlog > t->xon)
		return 0;
	set = c->signals;
	c->signals = 0;
	return set;
}

/**
 * bfc_capfc_decide() - D = I or any E(o) with o != i (CaPFC §II-E, Fig. 6)
 * @ingress: I, from bfc_pfc_next()
 * @signals: bit o: E of ingress port @in at egress port o. That is the other way
 *	     round than @signals of struct bfc_capfc: it belongs to the ingress,
 *	     and each egress sets and clears its bit atomically
 * @in: number i of the port, or BFC_CAPFC_NO_PORT
 *
 * Return: true if the neighbour's priority is to be paused.
 */
static inline bool bfc_capfc_decide(bool ingress, u64 signals, unsigned int in)
{
	if (in < BFC_CAPFC_PORTS)
		signals &= ~(1ULL << in);
	return ingress || signals;
}

enum bfc_capfc_bad bfc_capfc_check(const struct bfc_capfc_thresh *t);
bool bfc_capfc_defaults(struct bfc_capfc_thresh *t, u64 rate, u64 hrtt, u32 mtu,
			u32 max);
u64 bfc_capfc_enqueue(struct bfc_capfc *c, const struct bfc_capfc_thresh *t,
		      enum bfc_capfc_stop stop, u64 backlog, unsigned int in,
		      unsigned int packets);
u64 bfc_capfc_clear(struct bfc_capfc *c);
bool bfc_capfc_forget(struct bfc_capfc *c, unsigned int in);

#endif /* _BFC_CAPFC_H */
