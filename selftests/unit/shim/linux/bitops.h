/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's search for bits, for user space. __ffs64(0), which is undefined
 * there, ends the test here (UBSan).
 */
#ifndef _SHIM_LINUX_BITOPS_H
#define _SHIM_LINUX_BITOPS_H

#include <linux/types.h>

/* from 0 */
static inline unsigned long __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

/* from 1; 0 if there is none */
static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static inline unsigned int hweight8(u8 w)
{
	return __builtin_popcount(w);
}

#endif /* _SHIM_LINUX_BITOPS_H */
