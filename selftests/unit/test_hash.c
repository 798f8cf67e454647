// SPDX-License-Identifier: GPL-2.0
/*
 * The hash of a flow: is it spread as random numbers are, whatever the flows have in
 * common?
 */
#include "unit.h"
#include "bfc_hash.h"

#define FLOWS	1024
#define SETS	400	/* of the flow table */
#define WAYS	8
#define QUEUES	32
#define KEYS	200

enum { PORTS, EVEN_PORTS, SOURCES, NETWORKS, BOTH, PATTERNS };

static void new_key(u32 *key, u64 *seed)
{
	unsigned int i;

	for (i = 0; i < BFC_HASH_WORDS; i++)
		key[i] = unit_random(seed) >> 32;
}

/* Addresses and ports as they are in a packet, of a processor with the low byte first. */
static void flow_words(u32 *word, unsigned int pattern, u32 i)
{
	word[0] = __builtin_bswap32(0x0a000001 + (pattern == SOURCES ? i : 0) +
				    (pattern == BOTH ? i / 100 : 0));
	word[1] = __builtin_bswap32(0x0a010001 + (pattern == NETWORKS ? i << 8 : 0) +
				    (pattern == BOTH ? i % 100 : 0));
	word[2] = __builtin_bswap32((1024 + (pattern == PORTS ? i : 0) +
				     (pattern == EVEN_PORTS ? 2 * i : 0)) << 16 | 9);
	word[3] = 17;
}

static u32 scale(u32 v, u32 n)
{
	return (u64)v * n >> 32;
}

/* The flow table takes the low half: few flows may find their set full. Of 1024 random
 * numbers that is 0.7 on average, and never yet were it 20.
 */
static void test_sets(void)
{
	u32 key[BFC_HASH_WORDS], word[4];
	unsigned int pattern, k, i;
	u64 seed = 1;

	for (pattern = 0; pattern < PATTERNS; pattern++) {
		unsigned int full = 0, most = 0;

		for (k = 0; k < KEYS; k++) {
			u8 set[SETS] = {};
			unsigned int n = 0;

			new_key(key, &seed);
			for (i = 0; i < FLOWS; i++) {
				flow_words(word, pattern, i);
				n += set[scale(bfc_hash(word, 4, key), SETS)]++ >= WAYS;
			}
			full += n;
			most = n > most ? n : most;
		}
		CHECK(full < 2 * KEYS && most < 20, "pattern %u: %u, at most %u",
		      pattern, full, most);
	}
}

/* `assign stochastic` takes the high half: chi square with 31 degrees of freedom. */
static void test_queues(void)
{
	u32 key[BFC_HASH_WORDS], word[4];
	unsigned int pattern, k, i;
	u64 seed = 2;

	for (pattern = 0; pattern < PATTERNS; pattern++) {
		u64 sum = 0, most = 0;

		for (k = 0; k < KEYS; k++) {
			u32 queue[QUEUES] = {};
			u64 chi = 0;

			new_key(key, &seed);
			for (i = 0; i < FLOWS; i++) {
				flow_words(word, pattern, i);
				queue[scale(bfc_hash(word, 4, key) >> 32, QUEUES)]++;
			}
			for (i = 0; i < QUEUES; i++) {
				s32 off = (s32)queue[i] - FLOWS / QUEUES;

				chi += off * off;
			}
			chi /= FLOWS / QUEUES;
			sum += chi;
			most = chi > most ? chi : most;
		}
		CHECK(sum > 26 * KEYS && sum < 36 * KEYS && most < 90,
		      "pattern %u: %llu on average, at most %llu", pattern,
		      (unsigned long long)sum / KEYS, (unsigned long long)most);
	}
}

/* No word is without effect, nor which word it is. */
static void test_words(void)
{
	u32 key[BFC_HASH_WORDS], word[BFC_HASH_WORDS] = {};
	unsigned int i, bit;
	u64 seed = 3, none;

	new_key(key, &seed);
	none = bfc_hash(word, BFC_HASH_WORDS, key);
	for (i = 0; i < BFC_HASH_WORDS; i++) {
		for (bit = 0; bit < 32; bit++) {
			word[i] = 1U << bit;
			CHECK(bfc_hash(word, BFC_HASH_WORDS, key) != none,
			      "word %u, bit %u", i, bit);
		}
		word[i] = 0;
	}
	word[0] = 1;
	word[1] = 2;
	none = bfc_hash(word, 4, key);
	word[0] = 2;
	word[1] = 1;
	CHECK(bfc_hash(word, 4, key) != none);
}

/* Two flows meet with one key, and not with another. */
static void test_keys(void)
{
	u32 key[BFC_HASH_WORDS], word[4];
	unsigned int k, same = 0;
	u64 seed = 4, one, other;

	for (k = 0; k < 100 * KEYS; k++) {
		new_key(key, &seed);
		flow_words(word, PORTS, 0);
		one = bfc_hash(word, 4, key);
		flow_words(word, PORTS, 1);
		other = bfc_hash(word, 4, key);
		same += scale(one, SETS) == scale(other, SETS);
	}
	CHECK(same > 25 && same < 90, "%u of 50", same);
}

static const struct unit_case cases[] = {
	{ "hash: sets of the flow table are full as rarely as by chance", test_sets },
	{ "hash: queues have as many flows as by chance", test_queues },
	{ "hash: each bit of each word counts", test_words },
	{ "hash: which flows meet depends on the key", test_keys },
};

#include "unit_main.h"
