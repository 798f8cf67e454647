/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What selftests/unit/unit.h needs to run a file of tests as a suite of KUnit:
 * C's library in the kernel's words, and each case as a parameter of one KUnit
 * case. (KUnit's own cases take an argument that the tests have no use for.)
 */
#ifndef _UNIT_KERNEL_H
#define _UNIT_KERNEL_H

#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#define UINT32_MAX	U32_MAX
#define abort()		BUG()
#define printf(...)	pr_cont(__VA_ARGS__)
#define vprintf(...)	vprintk(__VA_ARGS__)

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

/* A case that checks nothing fails: it has been broken, not passed. */
#define UNIT_MAIN(cases)						\
	static const void *unit_next(const void *prev, char *name)	\
	{								\
		const struct unit_case *c = prev;			\
									\
		c = c ? c + 1 : (cases);				\
		if (c == (cases) + UNIT_SIZE(cases))			\
			return NULL;					\
		strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);		\
		return c;						\
	}								\
									\
	static void unit_run(struct kunit *test)			\
	{								\
		const struct unit_case *c = test->param_value;		\
									\
		unit_bad = 0;						\
		unit_checks = 0;					\
		c->run();						\
		KUNIT_EXPECT_EQ(test, unit_bad, 0);			\
		KUNIT_EXPECT_GT(test, unit_checks, 0);			\
	}								\
									\
	static struct kunit_case unit_kunit_cases[] = {			\
		KUNIT_CASE_PARAM(unit_run, unit_next),			\
		{}							\
	};								\
									\
	static struct kunit_suite unit_suite = {			\
		.name = "bfc_" KBUILD_BASENAME,				\
		.test_cases = unit_kunit_cases,				\
	};								\
									\
	kunit_test_suite(unit_suite)

#endif /* _UNIT_KERNEL_H */
