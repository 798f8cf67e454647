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
}

static void test_ingress(void)
{
	unsigned int ports, free, i, taken;
	u16 held[8];

	for (ports = 1; ports <= 8; ports++) {
		memset(held, 0, sizeof(held));
		free = 128;
		do {
			taken = 0;
			for (i = 0; i < ports && free; i++)
				if (bfc_ingress_may_take(held[i], free)) {
					held[i]++;
					free--;
					taken++;
				}
		} while (taken);
		CHECK(free + 1 >= 128 / (1 + 4 * ports) && free <= 128 / (1 + 4 * ports),
		      "%u ports leave %u", ports, free);
	}
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
	{ "dest: greedy destinations leave queues to others", test_shares },
	{ "dest: so do those whose queues are empty", test_borrow },
	{ "dest: so do greedy ports", test_ingress },
	{ "dest: when queues are joined", test_short },
};

#include "unit_main.h"
