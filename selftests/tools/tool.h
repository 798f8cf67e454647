/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that send and count have in common. */
#ifndef BFC_TOOL_H
#define BFC_TOOL_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT_OF(a)	(sizeof(a) / sizeof((a)[0]))

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The number in @s, from @lo to @hi: what else stands there ends the program. */
static inline double number(const char *s, const char *what, double lo, double hi)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !(v >= lo && v <= hi)) {
		fprintf(stderr, "%s: %s: %s: a number from %g to %g\n",
			program_invocation_short_name, what, s, lo, hi);
		exit(2);
	}
	return v;
}

/* For qsort() */
static inline int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

#endif
