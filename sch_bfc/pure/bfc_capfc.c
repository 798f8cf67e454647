// SPDX-License-Identifier: GPL-2.0
/*
 * CaPFC's egress side: thresholds, and the ports that an egress queue holds
 * responsible.
 */
#include <linux/math64.h>

#include "bfc_capfc.h"
#include "bfc_pool.h"
#include "bfc_thresh.h"

/**
 * bfc_capfc_check() - check that thresholds fit together
 * @t: the thresholds
 *
 * Return: BFC_CAPFC_OK, or the first relation that does not hold.
 */
enum bfc_capfc_bad bfc_capfc_check(const struct bfc_capfc_thresh *t)
{
	if (t->warn < t->xon)
		return BFC_CAPFC_BAD_WARN;
	if (t->xoff <= t->warn)
		return BFC_CAPFC_BAD_XOFF;
	if (t->max <= t->xoff)
		return BFC_CAPFC_BAD_MAX;
	if (!t->cut || t->cut > 100)
		return BFC_CAPFC_BAD_CUT;
	return BFC_CAPFC_OK;
}

/**
 * bfc_capfc_defaults() - thresholds in the proportions of the paper's Table II
 * @t: result
 * @rate: of the egress link, bytes/s
 * @hrtt: ns, from a pause being sent to its effect, as of bfc_pfc_headroom_auto()
 * @mtu: largest frame, bytes
 * @max: MAX, bytes; 0 = as much as is needed
 *
 * MAX : XOFF : XON = WARN is 60 : 25 : 20 KB there, CUT 80 %. Without MAX: XON is
 * what the link takes away in an HRTT, so that it does not run dry until the next
 * packets come; four frames at least, for the gap to XOFF is a quarter of it.
 *
 * Return: false if @max holds no frame between each two of them, or BFC_POOL_MAX is
 * too small; @t is not valid then.
 */
bool bfc_capfc_defaults(struct bfc_capfc_thresh *t, u64 rate, u64 hrtt, u32 mtu,
			u32 max)
{
	u64 xon = max / 3, xoff;

	if (!max) {
		xon = bfc_bytes_in(rate, hrtt);
		if (xon < 4ULL * mtu)
			xon = 4ULL * mtu;
		if (3 * xon > BFC_POOL_MAX)
			return false;
		max = 3 * xon;
	}
	xoff = div_u64(5ULL * max, 12);
	if (xoff < xon + mtu)
		return false;
	t->max = max;
	t->xoff = xoff;
	t->warn = xon;
	t->xon = xon;
	t->cut = 80;
	return true;
}

/* Count packets of a port. @order stays sorted: the port moves up past those that it has
 * overtaken.
 */
static void bfc_capfc_count(struct bfc_capfc *c, unsigned int in,
			    unsigned int packets)
{
	unsigned int r;

	if (!packets)
		return;
	r = c->count[in] ? c->rank[in] : c->n++;
	c->count[in] += packets;
	c->total += packets;
	for (; r && c->count[c->order[r - 1]] < c->count[in]; r--) {
		c->order[r] = c->order[r - 1];
		c->rank[c->order[r]] = r;
	}
	c->order[r] = in;
	c->rank[in] = r;
}

/* IP of Alg. 2; total x 100 does not overflow in a thousand years. */
static u64 bfc_capfc_culprits(const struct bfc_capfc *c, u8 cut)
{
	u64 set = 0, sum = 0;
	unsigned int r;

	for (r = 0; r < c->n && sum * 100 < c->total * cut; r++) {
		set |= 1ULL << c->order[r];
		sum += c->count[c->order[r]];
	}
	return set;
}

/**
 * bfc_capfc_enqueue() - a packet was queued (Alg. 1 lines 5 to 13; Alg. 2)
 * @c: of the queue
 * @t: the thresholds, checked
 * @stop: BFC_CAPFC_STOP_*
 * @backlog: bytes in the queue, the packet included
 * @in: port that brought it, or BFC_CAPFC_NO_PORT: local packets, and those that go
 *	back where they came from
 * @packets: on the wire; more than one for GSO
 *
 * Context: the caller serializes (root lock of the egress).
 * Return: ports with an E that became 1: their D may be 1 now, too.
 */
u64 bfc_capfc_enqueue(struct bfc_capfc *c, const struct bfc_capfc_thresh *t,
		      enum bfc_capfc_stop stop, u64 backlog, unsigned int in,
		      unsigned int packets)
{
	u64 set;

	if (backlog < t->warn)
		return 0;
	if (in < BFC_CAPFC_PORTS)
		bfc_capfc_count(c, in, packets);
	if (backlog <= t->xoff || !c->n)
		return 0;
	if (stop == BFC_CAPFC_STOP_CAL)
		set = bfc_capfc_culprits(c, t->cut);
	else
		set = 1ULL << c->order[0];
	set &= ~c->signals;
	c->signals |= set;
	return set;
}

/**
 * bfc_capfc_clear() - start over: queue purged, thresholds or mode changed
 * @c: of the queue
 *
 * Context: the caller serializes (root lock of the egress).
 * Return: ports with an E that became 0.
 */
u64 bfc_capfc_clear(struct bfc_capfc *c)
{
	u64 set = c->signals;

	bfc_capfc_uncount_all(c);
	c->signals = 0;
	return set;
}

/**
 * bfc_capfc_forget() - a port is gone, its number may be used again
 * @c: of the queue
 * @in: the port, less than BFC_CAPFC_PORTS
 *
 * Context: the caller serializes (root lock of the egress).
 * Return: true if its E was 1.
 */
bool bfc_capfc_forget(struct bfc_capfc *c, unsigned int in)
{
	u64 bit = 1ULL << in;
	bool was = c->signals & bit;
	unsigned int r;

	c->signals &= ~bit;
	if (!c->count[in])
		return was;
	c->total -= c->count[in];
	c->count[in] = 0;
	c->n--;
	for (r = c->rank[in]; r < c->n; r++) {
		c->order[r] = c->order[r + 1];
		c->rank[c->order[r]] = r;
	}
	return was;
}
