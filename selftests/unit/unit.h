/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Just enough of a test frame: CHECK() in functions, these in a table cases[],
 * and unit_main.h behind it, which runs them: as a program, or in the kernel by
 * KUnit (selftests/kunit).
 */
#ifndef _UNIT_H
#define _UNIT_H

#ifdef __KERNEL__
#include "../kunit/unit_kernel.h"
#else
#include <stdarg.h>
#include <stdbool.h>
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

#ifndef __KERNEL__
static unsigned int unit_number;	/* tests so far */
static unsigned int unit_failed;	/* of these */

/* KTAP: the number of tests, then each of them. */
static inline void unit_plan(size_t tests)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", tests);
}

static inline void unit_report(bool good, const char *name)
{
	unit_failed += !good;
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++unit_number, name);
}

/* Return: the exit code of the program. */
static inline int unit_end(void)
{
	printf("# pass:%u fail:%u\n", unit_number - unit_failed, unit_failed);
	return unit_failed ? 1 : 0;
}
#endif

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
	char more[256];
	va_list args;

	unit_checks++;
	if (good)
		return true;
	if (unit_bad++ >= UNIT_SHOWN)
		return false;
	va_start(args, fmt);
	vsnprintf(more, sizeof(more), fmt, args);
	va_end(args);
	printf("# %s:%d: not true: %s%s\n", file, line, text, more);
	return false;
}

/* xorshift64*, seeded by the case, so that every run is the same. */
static inline u64 unit_random(u64 *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1dULL;
}

#endif /* _UNIT_H */
