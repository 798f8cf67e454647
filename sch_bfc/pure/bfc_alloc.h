/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which port is paused for how long: FAFC's optimisation (FAFC §II-D, Alg. 2
 * lines 11-14): pure arithmetic, compiled into the module and into the
 * user-space unit tests.
 *
 *   minimise    sum R_i T_i
 *   subject to  sum r_i T_i >= D,  0 <= T_i <= T_hop,  D = r T_hop + pauseOffset
 *
 * r_i is what port i sends to the congested egress, R_i what it sends to others
 * that are not: pausing i for T_i keeps r_i T_i away and costs R_i T_i. The
 * paper runs the simplex method. But one covering constraint and a box are a
 * continuous knapsack: ports are filled up in ascending order of R_i/r_i, the
 * cost of a byte kept away, until D is reached. (Exchange argument: moving a
 * byte from a port to one of smaller R/r never costs more.)
 *
 * Ports with the same R/r are filled together, for the same time: any division
 * among them is optimal, and this one is fair and does not depend on how ports
 * are numbered. It is no rare case: in an incast all traffic of a port goes to
 * the congested egress, so that R = 0.
 *
 * Times are whole ns, rounded up for the group of ports that is filled in part,
 * so that the constraint holds. The objective is then above the optimum of real
 * numbers by less than 1 ns times that group's R.
 *
 * (The paper derives its constraint from sum (T_hop - T_i) r_i <= r T_hop,
 * equation (7), where r can only mean the egress rate r^o: bytes that are let in
 * are no more than bytes sent. With it (10) follows, which is what is solved.)
 *
 * Widths. Rates are amounts per T_hop (bfc_holt.h), 2^45 at most; R_i/r_i are
 * compared by products of 2^90, in two words. Sums over 64 ports are 2^51 at most.
 */
#ifndef _BFC_ALLOC_H
#define _BFC_ALLOC_H

#include <linux/types.h>
#include <linux/math64.h>
#include "bfc_holt.h"

#define BFC_ALLOC_PORTS	64	/* a set of them is a u64 */

/**
 * struct bfc_alloc_port - an ingress port in the problem
 * @rate: r_i, what it sends to the congested egress, amount per T_hop
 * @other: R_i, what it sends to uncongested ones, amount per T_hop
 * @pause: result: T_i, ns
 */
struct bfc_alloc_port {
	u64 rate;
	u64 other;
	u32 pause;
};

/**
 * struct bfc_alloc - the problem and its solution
 * @ports: number of ports
 * @port: the ports
 *
 * 1.5 kB: not for the stack.
 */
struct bfc_alloc {
	unsigned int ports;
	struct bfc_alloc_port port[BFC_ALLOC_PORTS];
};

/**
 * bfc_muldiv() - a x b / c, though a x b may not fit in 64 bits
 * @a: 2^51 at most
 * @b: below 2^48
 * @c: 1 to 2^51
 * @rem: result: the remainder
 *
 * Long division in digits of 12 bits: the kernel's mul_u64_u64_div_u64() is not
 * exact on every architecture.
 *
 * Return: rounded down; it must fit in 64 bits.
 */
static inline u64 bfc_muldiv(u64 a, u64 b, u64 c, u64 *rem)
{
	u64 quotient = 0;
	int shift;

	if (!((a | b) >> 32))
		return div64_u64_rem(a * b, c, rem);
	*rem = 0;
	for (shift = 36; shift >= 0; shift -= 12) {
		u64 part = (*rem << 12) + a * (b >> shift & 0xfff);

		quotient = (quotient << 12) + div64_u64_rem(part, c, rem);
	}
	return quotient;
}

void bfc_alloc_clear(struct bfc_alloc *a);
bool bfc_alloc_add(struct bfc_alloc *a, u64 rate, u64 other);
u64 bfc_alloc_solve(struct bfc_alloc *a, s64 demand, u32 t_hop);

#endif /* _BFC_ALLOC_H */
