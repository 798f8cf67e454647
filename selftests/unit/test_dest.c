// SPDX-License-Identifier: GPL-2.0
/*
 * The table of destinations, and who may have another queue.
 */
#include "unit.h"
#include "bfc_dest.h"

static void test_find(void)
{
	struct bfc_dest set[BFC_DEST_WAYS] = {}, *dest;
	u32 key;

	/* Key 0 is one as any other: that of hosts. */
	for (key = 0; key < BFC_DEST_WAYS; key++) {
		dest = bfc_dest_find(set, key);
		CHECK(dest && !dest->queues, "key %u", key);
		bfc_dest_take(dest, key, 100 + key);
	}
	for (key = 0; key < BFC_DEST_WAYS; key++) {
		dest = bfc_dest_find(set, key);
		CHECK(dest == &set[key] && dest->queues == 1 && dest->key == key &&
		      dest->last == 100 + key, "key %u", key);
	}
	CHECK(!bfc_dest_find(set, BFC_DEST_WAYS));

	bfc_dest_take(&set[2], 2, 7);
	CHECK(set[2].queues == 2 && set[2].last == 7);

	/* Who has none has no entry, and another gets it. */
	set[1].queues = 0;
	CHECK(bfc_dest_find(set, 17) == &set[1]);
	bfc_dest_take(&set[1], 17, 3);
	CHECK(!bfc_dest_find(set, 1));
	/* Its own, not a free one before it. */
	set[0].queues = 0;
	CHECK(bfc_dest_find(set, 17) == &set[1]);
	CHECK(bfc_dest_find(set, 3) == &set[3]);
	/* What it held long ago does not count. */
	CHECK(!bfc_dest_find(set, 0)->queues);
}

static void test_mask(void)
{
	unsigned int bits, word, i;

	for (bits = 0; bits <= 128; bits++) {
		for (word = 0; word < 4; word++) {
			u32 mask = bfc_dest_mask(bits, word);

			for (i = 0; i < 32; i++)
				CHECK((mask >> (31 - i) & 1) == (32 * word + i < bits),
				      "/%u, word %u: %08x", bits, word, mask);
		}
	}
	CHECK(bfc_dest_mask(24, 0) == 0xffffff00);
}

static void new_factor(u64 *factor, u64 *seed)
{
	unsigned int i;

	for (i = 0; i < BFC_DEST_WORDS; i++)
		factor[i] = unit_random(seed) << 32 | (unit_random(seed) & 0xffffffff);
}

/* 24 destinations in a row, by their IPv4 or by their MAC address, in the table of a port with
 * 32 queues: whatever the factors, few find their set full. (By the sums alone it is 24 - 4 of
 * them at worst.)
 */
static void test_rows(void)
{
	enum { SETS = 16, ADDRESSES = 24 };
	/* What one more adds to each word: 10.0.0.i on the wire, 02:00:00:00:00:i */
	static const u32 steps[][BFC_DEST_WORDS] = {
		{ 1 << 24 }, { 0, 1 }, { 0, 0, 0, 1 << 8 }, { 1 << 24, 0, 0, 1 << 8 },
	};
	unsigned int row, trial, i, w, refused, most, sum;
	u64 factor[BFC_DEST_WORDS], seed = 7;

	for (row = 0; row < UNIT_SIZE(steps); row++) {
		most = 0;
		sum = 0;
		for (trial = 0; trial < 20000; trial++) {
			u32 word[BFC_DEST_WORDS] = { 0x0000000a, 0, 0x02 };
			u8 used[SETS] = {};

			new_factor(factor, &seed);
			refused = 0;
			for (i = 0; i < ADDRESSES; i++) {
				u32 key = bfc_dest_hash(word, factor);
				u32 set = (u64)key * SETS >> 32;

				refused += used[set]++ >= BFC_DEST_WAYS;
				for (w = 0; w < BFC_DEST_WORDS; w++)
					word[w] += steps[row][w];
			}
			sum += refused;
			most = refused > most ? refused : most;
		}
		/* By a random function 0.48 in the mean. */
		CHECK(sum < 20000 * 6 / 10 && most <= 10, "row %u: %u in %u, %u at most", row,
		      sum, trial, most);
	}
}

/* No word is without effect, nor which word it is, nor is any factor. */
static void test_words(void)
{
	u32 word[BFC_DEST_WORDS] = {}, none, key[BFC_DEST_WORDS];
	u64 factor[BFC_DEST_WORDS], seed = 8;
	unsigned int i, k, bit;

	new_factor(factor, &seed);
	none = bfc_dest_hash(word, factor);
	for (i = 0; i < BFC_DEST_WORDS; i++) {
		for (bit = 0; bit < 32; bit++) {
			word[i] = 1U << bit;
			CHECK(bfc_dest_hash(word, factor) != none, "word %u, bit %u", i, bit);
		}
		word[i] = 1;
		key[i] = bfc_dest_hash(word, factor);
		for (k = 0; k < i; k++)
			CHECK(key[k] != key[i], "words %u and %u", k, i);
		word[i] = 0;
		factor[i] = ~factor[i];
		CHECK(bfc_dest_hash(word, factor) != none, "factor %u", i);
		factor[i] = ~factor[i];
	}
}

/* Destinations that all take as many queues as they may, in turn.
 *
 * Return: those left.
 */
static unsigned int greedy(unsigned int dests, unsigned int queues, u16 *held)
{
	unsigned int free = queues, d, before;

	memset(held, 0, dests * sizeof(*held));
	do {
		before = free;
		for (d = 0; d < dests && free; d++) {
			if (!bfc_dest_may_take(held[d], free, queues))
				continue;
			held[d]++;
			free--;
		}
	} while (free != before);
	return free;
}

static void test_shares(void)
{
	static const unsigned int queues[] = { 8, 32, 128, 1024 };
	static u16 held[1024];
	unsigned int i, d;

	for (i = 0; i < UNIT_SIZE(queues); i++) {
		unsigned int n = queues[i];

		/* A quarter stays, or a queue for each when there are many. */
		for (d = 1; d <= 4; d++)
			CHECK(greedy(d, n, held) == n / 4, "%u of %u leave %u", d,
			      n, greedy(d, n, held));
		/* Each has one as long as there are any, */
		CHECK(greedy(n, n, held) == 0 && held[0] == 1 && held[n - 1] == 1);
		/* and has it before others have two of the last quarter. */
		CHECK(bfc_dest_may_take(0, 1, n) && !bfc_dest_may_take(0, 0, n));
		CHECK(!bfc_dest_may_take(n / 4, n / 4, n));
		/* As in the paper while there are plenty. */
		CHECK(bfc_dest_may_take(n - n / 4 - 1, n / 4 + 1, n));
	}
	CHECK(bfc_dest_may_take(1, 5, 32) && !bfc_dest_may_take(1, 4, 32));
}

/* A destination whose queues all ran empty has half of the port at most. */
static void test_borrow(void)
{
	CHECK(bfc_dest_may_borrow(0, 1) && !bfc_dest_may_borrow(0, 0));
	CHECK(bfc_dest_may_borrow(15, 31) && !bfc_dest_may_borrow(16, 32));
	CHECK(!bfc_dest_may_borrow(1, 2));
	CHECK(bfc_dest_uses(6, 2, 2, 8) == 2 && bfc_dest_uses(6, 2, 1, 8) == 6);
	CHECK(bfc_dest_uses(6, 7, 2, 8) == 6);
}

/* Ports that all take as many queues as they may, in turn; the first one alone if it
 * is told to be first.
 *
 * Return: those left.
 */
static unsigned int spray(unsigned int ports, unsigned int queues, bool first, u16 *held)
{
	unsigned int free = queues, i, from = first ? 1 : ports, before, greedy;

	memset(held, 0, ports * sizeof(*held));
	do {
		before = free;
		for (i = 0; i < from && free; i++) {
			unsigned int j;

			for (greedy = 0, j = 0; j < ports; j++)
				greedy += bfc_ingress_is_greedy(held[j], queues);
			if (!bfc_ingress_may_take(held[i], greedy, free, queues))
				continue;
			held[i]++;
			free--;
		}
		if (before == free && from < ports) {
			from = ports;
			before = 0;
		}
	} while (free != before);
	return free;
}

static void test_ingress(void)
{
	static const unsigned int queues[] = { 32, 128, 1024 };
	unsigned int i, ports, p, few, many;
	u16 held[64];

	for (i = 0; i < UNIT_SIZE(queues); i++) {
		unsigned int n = queues[i], left;

		/* 4/5 of one, and of those that hold an eighth each */
		for (ports = 1; ports <= 6; ports++) {
			left = spray(ports, n, false, held);
			CHECK(left * 5 + 5 + 2 * ports >= n && left * 5 <= n + ports,
			      "%u ports leave %u of %u", ports, left, n);
			for (p = 0; p < ports; p++)
				CHECK(held[p] + 1U >= n * 4 / 5 / ports,
				      "port %u of %u has %u of %u", p, ports,
				      held[p], n);
		}
		/* In whatever turn they come, those that have many have 9/10. */
		for (ports = 1; ports <= UNIT_SIZE(held); ports++) {
			left = spray(ports, n, ports & 1, held);
			for (many = 0, few = 0, p = 0; p < ports; p++)
				if (held[p] > n / 20 + 1)
					many += held[p];
				else
					few += held[p];
			CHECK(many * 10 <= n * 9 + 10, "%u ports have %u of %u, few %u",
			      ports, many, n, few);
			CHECK(10 * (left * (2 + ports) + 2 * ports) >= n * 2,
			      "%u ports leave %u of %u", ports, left, n);
		}
		/* The second one has an eighth at once, less what is for others. */
		spray(2, n, true, held);
		CHECK(held[1] + 1U >= n / 10, "%u of %u", held[1], n);
		/* What had more than its part gets no more until it has less. */
		CHECK(!bfc_ingress_may_take(n / 2, 2, n / 5, n));
	}
	CHECK(!bfc_ingress_is_greedy(4, 32) && bfc_ingress_is_greedy(5, 32));
	CHECK(!bfc_ingress_may_take(4, 0, 0, 8));
	/* Who has none always may; of the last tenth those with half as many. */
	CHECK(bfc_ingress_may_take(0, 7, 0, 8));
	CHECK(bfc_ingress_may_take(5, 0, 10, 100) && !bfc_ingress_may_take(6, 0, 10, 100));
	CHECK(bfc_ingress_may_take(6, 0, 11, 100));
	/* One that is not greedy has as many as those that are. */
	CHECK(bfc_ingress_may_take(20, 2, 10, 80) && !bfc_ingress_may_take(21, 2, 10, 80));
	CHECK(bfc_ingress_may_take(8, 0, 2, 16) && !bfc_ingress_may_take(9, 0, 2, 16));
}

static void test_short(void)
{
	CHECK(!bfc_dest_is_short(16, 32, false) && bfc_dest_is_short(15, 32, false));
	CHECK(!bfc_dest_is_short(24, 32, true) && bfc_dest_is_short(23, 32, true));
	CHECK(bfc_dest_is_short(0, 1, false) && !bfc_dest_is_short(1, 1, true));
}

static const struct unit_case cases[] = {
	{ "dest: entries of the table", test_find },
	{ "dest: masks of prefixes", test_mask },
	{ "dest: addresses in a row are spread over the table", test_rows },
	{ "dest: each bit of where a packet goes counts", test_words },
	{ "dest: greedy destinations leave queues to others", test_shares },
	{ "dest: so do those whose queues are empty", test_borrow },
	{ "dest: so do greedy ports", test_ingress },
	{ "dest: when queues are joined", test_short },
};

#include "unit_main.h"
