/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes cases[] of the file that includes it a suite of KUnit: one KUnit case
 * that has them as its parameters. (KUnit's own cases take an argument that the
 * tests have no use for.)
 */
#include <kunit/test.h>

static const void *unit_next(const void *prev, char *name)
{
	const struct unit_case *c = prev ? (const struct unit_case *)prev + 1 :
				    cases;

	if (c == cases + UNIT_SIZE(cases))
		return NULL;
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
	return c;
}

/* A case that checks nothing fails: it has been broken, not passed. */
static void unit_run(struct kunit *test)
{
	const struct unit_case *c = test->param_value;

	unit_bad = 0;
	unit_checks = 0;
	c->run();
	KUNIT_EXPECT_EQ(test, unit_bad, 0);
	KUNIT_EXPECT_GT(test, unit_checks, 0);
}

static struct kunit_case unit_kunit_cases[] = {
	KUNIT_CASE_PARAM(unit_run, unit_next),
	{}
};

static struct kunit_suite unit_suite = {
	.name = "bfc_" KBUILD_BASENAME,
	.test_cases = unit_kunit_cases,
};

kunit_test_suite(unit_suite);
