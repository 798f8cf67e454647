// SPDX-License-Identifier: GPL-2.0
/*
 * What is known to be behind a root, and for how long.
 */
#include "unit.h"
#include "bfc_root.h"

static void test_learn(void)
{
	struct bfc_behind set[BFC_BEHIND_WAYS] = {}, *e;
	u32 key, base = ~0U - 2;	/* times wrap */

	/* Key 0 is one as any other. */
	CHECK(!bfc_behind_find(set, 0));
	for (key = 0; key < BFC_BEHIND_WAYS; key++)
		bfc_behind_learn(set, key, 70 + key, base + key);
	for (key = 0; key < BFC_BEHIND_WAYS; key++) {
		e = bfc_behind_find(set, key);
		CHECK(e && e->key == key && e->root == 70 + key && e->since == base + key,
		      "key %u", key);
	}
	CHECK(!bfc_behind_find(set, BFC_BEHIND_WAYS));

	/* Again: its own entry, with another root and time, is no longer the oldest one. */
	bfc_behind_learn(set, 0, 7, base + 10);
	e = bfc_behind_find(set, 0);
	CHECK(e == &set[0] && e->root == 7 && e->since == base + 10);
	bfc_behind_learn(set, 17, 8, base + 11);
	CHECK(!bfc_behind_find(set, 1) && bfc_behind_find(set, 17));
	CHECK(bfc_behind_find(set, 0) && bfc_behind_find(set, 2) && bfc_behind_find(set, 3));

	/* What was forgotten gives its place before any that is older. */
	bfc_behind_find(set, 0)->root = 0;
	CHECK(!bfc_behind_find(set, 0));
	bfc_behind_learn(set, 18, 9, base + 12);
	CHECK(bfc_behind_find(set, 18) && bfc_behind_find(set, 2) && bfc_behind_find(set, 3) &&
	      bfc_behind_find(set, 17));
	CHECK(!bfc_behind_find(set, 0));
}

static void test_old(void)
{
	enum { AGE = 10240, EVERY = AGE / BFC_BEHIND_AGE * BFC_BEHIND_PROBE };
	struct bfc_behind e = { .key = 1, .root = 2, .since = ~0U - 100 };
	u32 probed = e.since, begin = e.since;

	CHECK(!bfc_behind_is_old(&e, begin, AGE, &probed));
	CHECK(!bfc_behind_is_old(&e, begin + AGE - 1, AGE, &probed) && probed == begin);
	CHECK(bfc_behind_is_old(&e, begin + AGE, AGE, &probed) && probed == begin + AGE);
	/* The next one has to wait. */
	CHECK(!bfc_behind_is_old(&e, begin + AGE + EVERY - 1, AGE, &probed));
	CHECK(probed == begin + AGE);
	CHECK(bfc_behind_is_old(&e, begin + AGE + EVERY, AGE, &probed));
	CHECK(probed == begin + AGE + EVERY);
}

static const struct unit_case cases[] = {
	{ "root: what is behind it is found, and of what is known the oldest goes", test_learn },
	{ "root: what is old is tried again, one in a while", test_old },
};

#include "unit_main.h"
