/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Just enough of a test frame: cases in a table, CHECK() inside, KTAP outside.
 * In user space it is a program; in the kernel, KUnit's (selftests/kunit).
 */
#ifndef _UNIT_H
#define _UNIT_H

#ifdef __KERNEL__
#include "../kunit/unit_kernel.h"
#else
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>
#endif

/**
 * struct unit_case - a test
 * @name: what holds if it passes
 * @run: calls CHECK()
 */
struct unit_case {
	const char *name;
	void (*run)(void);
};

#define UNIT_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define UNIT_SHOWN	8	/* failed checks shown of one case */

static unsigned int unit_bad;	/* failed checks of the present case */
static u64 unit_checks;		/* checks made by the present case */

/*
 * CHECK() - note a failure and go on
 *
 * Return: whether the condition holds, so that a loop can stop.
 */
#define CHECK(cond, ...) \
	unit_check((cond), __FILE__, __LINE__, #cond, " " __VA_ARGS__)

static inline __attribute__((format(printf, 5, 6)))
bool unit_check(bool good, const char *file, int line, const char *text,
		const char *fmt, ...)
{
	va_list args;

	unit_checks++;
	if (good)
		return true;
	if (unit_bad++ >= UNIT_SHOWN)
		return false;
	printf("# %s:%d: not true: %s", file, line, text);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	return false;
}

#ifndef __KERNEL__
/* A case that checks nothing fails: it has been broken, not passed. */
static inline int unit_main(const struct unit_case *cases, unsigned int n)
{
	unsigned int i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%u\n", n);
	for (i = 0; i < n; i++) {
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
	printf("# pass:%u fail:%u\n", n - failed, failed);
	return failed ? 1 : 0;
}

#define UNIT_MAIN(cases)						\
	int main(void)							\
	{								\
		return unit_main(cases, UNIT_SIZE(cases));		\
	}
#endif

/* xorshift64*, seeded by the case, so that every run is the same. */
static inline u64 unit_random(u64 *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1dULL;
}

#endif /* _UNIT_H */
