/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers of fuzzers: the same after the same seed. */
#ifndef BFC_FUZZ_H
#define BFC_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

static uint64_t seed;

/* splitmix64 */
static uint64_t rnd(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static unsigned int below(unsigned int n)
{
	return rnd() % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

#endif
