/* SPDX-License-Identifier: GPL-2.0 */
/* Included by each file of tests, at its end: runs its cases[]. */
#ifdef __KERNEL__
#include "../kunit/unit_suite.h"
#else
/* A case that checks nothing fails: it has been broken, not passed. */
int main(void)
{
	unsigned int i;

	unit_plan(UNIT_SIZE(cases));
	for (i = 0; i < UNIT_SIZE(cases); i++) {
		bool good;

		unit_bad = 0;
		unit_checks = 0;
		cases[i].run();
		good = !unit_bad && unit_checks;
		if (!good)
			printf("# %u of %llu checks failed\n", unit_bad,
			       unit_checks);
		unit_report(good, cases[i].name);
	}
	return unit_end();
}
#endif
