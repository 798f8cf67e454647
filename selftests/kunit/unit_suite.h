/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes cases[] of the file that includes it a suite of KUnit: one KUnit case
 * that has them as its parameters. (KUnit's own cases take an argument that the
 * tests have no use for.)
 */
#include <kunit/test.h>

static void unit_name(const struct unit_case *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(unit, cases, unit_name);

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
	KUNIT_CASE_PARAM(unit_run, unit_gen_params),
	{}
};

static struct kunit_suite unit_suite = {
	.name = "bfc_" KBUILD_BASENAME,
	.test_cases = unit_kunit_cases,
};

kunit_test_suite(unit_suite);
