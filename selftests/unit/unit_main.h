/* SPDX-License-Identifier: GPL-2.0 */
/* Included by each file of tests, at its end: runs its cases[]. */
#ifdef __KERNEL__
#include "../kunit/unit_suite.h"
#else
/* A case that checks nothing fails: it has been broken, not passed. */
int main(void)
{
	unsigned int i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", UNIT_SIZE(cases));
	for (i = 0; i < UNIT_SIZE(cases); i++) {
		bool good;

		unit_bad = 0;
		unit_checks = 0;
		cases[i].run();
		good = !unit_bad && unit_checks;
		if (!good) {
			failed++;
			printf("# %u of %llu checks failed\n", unit_bad,
			       unit_checks);
		}
		printf("%s %u - %s\n", good ? "ok" : "not ok", i + 1,
		       cases[i].name);
	}
	printf("# pass:%zu fail:%u\n", UNIT_SIZE(cases) - failed, failed);
	return failed ? 1 : 0;
}
#endif
