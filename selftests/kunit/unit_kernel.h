/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests use of C's library, in the kernel's words. */
#ifndef _UNIT_KERNEL_H
#define _UNIT_KERNEL_H

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#define UINT32_MAX	U32_MAX
#define printf(...)	pr_info(__VA_ARGS__)
#define abort()		panic("unit test: %s: cannot go on", __func__)

static inline void *malloc(size_t size)
{
	return kvmalloc(size, GFP_KERNEL);
}

static inline void *calloc(size_t n, size_t size)
{
	return kvcalloc(n, size, GFP_KERNEL);
}

static inline void free(void *p)
{
	kvfree(p);
}

#endif /* _UNIT_KERNEL_H */
