/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 64-bit arithmetic as the kernel has it on x86-64, for user space. What is a
 * divide error there (a quotient that does not fit, a division by zero) ends
 * the test here.
 */
#ifndef _SHIM_LINUX_MATH64_H
#define _SHIM_LINUX_MATH64_H

#include <stdlib.h>
#include <linux/types.h>

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	if (!divisor)
		abort();
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return div64_u64(dividend, divisor);
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	if (!divisor)
		abort();
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 mul, unsigned int shift)
{
	unsigned __int128 product = a;

	product *= mul;
	return product >> shift;
}

/* No mul_u64_u64_div_u64(): see bfc_bytes_in(). */

#endif /* _SHIM_LINUX_MATH64_H */
