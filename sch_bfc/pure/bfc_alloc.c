// SPDX-License-Identifier: GPL-2.0
/*
 * FAFC's optimum: the problem of bfc_alloc.h, solved.
 */
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/math64.h>

#include "bfc_alloc.h"

/* True if R/r of x is smaller than that of y. Without branches, which could not be
 * predicted. If all numbers are below 2^32 (not @wide), their products fit in 64
 * bits.
 */
static __always_inline bool bfc_alloc_cheaper(const struct bfc_alloc_port *x,
					      const struct bfc_alloc_port *y,
					      bool wide)
{
	u64 x_low = x->other * y->rate, y_low = y->other * x->rate;
	u64 x_high, y_high;

	if (!wide)
		return x_low < y_low;
	x_high = mul_u64_u64_shr(x->other, y->rate, 64);
	y_high = mul_u64_u64_shr(y->other, x->rate, 64);
	return (x_high < y_high) | ((x_high == y_high) & (x_low < y_low));
}

/* A port of a set with an R/r that may be in the middle: the median of the first, the last
 * and one between them.
 */
static __always_inline unsigned int bfc_alloc_pivot(const struct bfc_alloc *a,
						    u64 set, bool wide)
{
	unsigned int x = __ffs64(set), z = fls64(set) - 1, y, xz_median;
	u64 inner = set & ~(BIT_ULL(x) | BIT_ULL(z));
	u64 upper = inner & ~0ULL << (x + z) / 2;
	const struct bfc_alloc_port *p = a->port;
	bool xy, yz, xz;

	if (!inner)
		return x;
	upper = upper ? upper : inner;
	y = __ffs64(upper);
	xy = bfc_alloc_cheaper(&p[x], &p[y], wide);
	yz = bfc_alloc_cheaper(&p[y], &p[z], wide);
	xz = bfc_alloc_cheaper(&p[x], &p[z], wide);
	xz_median = xy == xz ? z : x;
	return xy == yz ? y : xz_median;
}

static void bfc_alloc_pause(struct bfc_alloc *a, u64 set, u32 pause)
{
	for (; set; set &= set - 1)
		a->port[__ffs64(set)].pause = pause;
}

/* Pause ports of a set that together are more than enough. */
static __always_inline void bfc_alloc_fill(struct bfc_alloc *a, u64 set,
					   u64 left, u32 t_hop, bool wide)
{
	u64 full = 0;	/* those paused for T_hop */

	for (;;) {
		struct bfc_alloc_port pivot =
			a->port[bfc_alloc_pivot(a, set, wide)];
		u64 cheaper = 0, dearer = 0, sum = 0, same, rest, rem;
		u32 pause;

		for (rest = set; rest; rest &= rest - 1) {
			const struct bfc_alloc_port *p =
				&a->port[__ffs64(rest)];
			u64 less = bfc_alloc_cheaper(p, &pivot, wide);
			u64 more = bfc_alloc_cheaper(&pivot, p, wide);
			u64 bit = rest & -rest;

			cheaper |= bit & -less;
			dearer |= bit & -more;
			sum += p->rate & -less;
		}
		if (left <= sum) {
			set = cheaper;
			continue;
		}
		left -= sum;
		full |= cheaper;
		same = set & ~(cheaper | dearer);
		for (sum = 0, rest = same; rest; rest &= rest - 1)
			sum += a->port[__ffs64(rest)].rate;
		if (left <= sum) {
			pause = bfc_muldiv(left, t_hop, sum, &rem);
			bfc_alloc_pause(a, full, t_hop);
			bfc_alloc_pause(a, same, pause + !!rem);
			return;
		}
		left -= sum;
		full |= same;
		set = dearer;
	}
}

/**
 * bfc_alloc_clear() - begin a problem
 * @a: the problem, without ports then
 */
void bfc_alloc_clear(struct bfc_alloc *a)
{
	a->ports = 0;
}

/**
 * bfc_alloc_add() - add a port
 * @a: the problem
 * @rate: r_i, amount per T_hop; above BFC_AMOUNT_MAX taken for that
 * @other: R_i, the same
 *
 * Return: true if there was room for it. Its index is the number of ports added
 * before it.
 */
bool bfc_alloc_add(struct bfc_alloc *a, u64 rate, u64 other)
{
	struct bfc_alloc_port *p;

	if (a->ports == BFC_ALLOC_PORTS)
		return false;
	p = &a->port[a->ports++];
	p->rate = rate < BFC_AMOUNT_MAX ? rate : BFC_AMOUNT_MAX;
	p->other = other < BFC_AMOUNT_MAX ? other : BFC_AMOUNT_MAX;
	p->pause = 0;
	return true;
}

/**
 * bfc_alloc_solve() - set all T_i
 * @a: the problem
 * @demand: D / T_hop: what must be kept away, an amount; none if not above 0
 * @t_hop: ns, BFC_THOP_MAX at most
 *
 * Ports that send nothing to the congested egress cannot help and are never
 * paused. If all others together cannot help enough (the paper takes that for
 * impossible; a pause that ends makes it possible), they are paused for T_hop.
 *
 * Ports need not be sorted: it is enough to find the price R/r of the last group. For that,
 * the set of ports that may be in it is divided into cheaper and dearer ones again and
 * again, which looks at some 2.5 n ports. At worst a round loses two of them (the pivot,
 * and one of those it was the median of): that is 32 rounds and 1056 looks for 64 ports. No
 * recursion, nothing allocated.
 *
 * Context: the user of the problem serializes.
 * Return: the part of @demand that cannot be met, an amount; 0: it is met.
 */
u64 bfc_alloc_solve(struct bfc_alloc *a, s64 demand, u32 t_hop)
{
	u64 left = demand, sum = 0, widest = 0, set = 0;
	unsigned int i;

	for (i = 0; i < a->ports; i++) {
		struct bfc_alloc_port *p = &a->port[i];

		p->pause = 0;
		set |= (u64)!!p->rate << i;
		sum += p->rate;
		widest |= p->rate | p->other;
	}
	if (demand <= 0)
		return 0;
	if (sum <= left) {
		bfc_alloc_pause(a, set, t_hop);
		return left - sum;
	}
	if (widest >> 32)
		bfc_alloc_fill(a, set, left, t_hop, true);
	else
		bfc_alloc_fill(a, set, left, t_hop, false);
	return 0;
}
