// SPDX-License-Identifier: GPL-2.0
/*
 * FAFC's time slots: what pauses keep away comes later, once.
 */
#include "unit.h"
#include "bfc_slots.h"

#define HOP	1000U		/* T_hop, ns */
#define RATE	3200000ULL	/* 100 Gbit/s: amount per T_hop */
#define MS	1000000ULL

static s64 offset_of(const struct bfc_slots *s)
{
	return bfc_slots_offset(s, 1, 1);
}

static bool empty(const struct bfc_slots *s)
{
	return !s->end && !s->old && !s->next && !s->pending;
}

/* It does not come, then it comes, and then it is over: were there another slot
 * only if pauseOld and pauseNext are not 0, it would be expected for ever.
 */
static void test_one(void)
{
	struct bfc_slots s = {};

	bfc_slots_advance(&s, 5 * MS, HOP);
	CHECK(empty(&s) && !offset_of(&s));

	CHECK(bfc_slots_pause(&s, 5 * MS, HOP, RATE, 600) == 600);
	CHECK(s.next == RATE * 6 / 10 && !s.old && !s.pending);
	CHECK(s.end == 5 * MS + HOP);
	CHECK(offset_of(&s) == -(s64)RATE * 6 / 10);

	bfc_slots_advance(&s, 5 * MS + HOP - 1, HOP);
	CHECK(offset_of(&s) == -(s64)RATE * 6 / 10);
	bfc_slots_advance(&s, 5 * MS + HOP, HOP);
	CHECK(offset_of(&s) == (s64)RATE * 6 / 10);
	bfc_slots_advance(&s, 5 * MS + 2 * HOP - 1, HOP);
	CHECK(offset_of(&s) == (s64)RATE * 6 / 10);
	bfc_slots_advance(&s, 5 * MS + 2 * HOP, HOP);
	CHECK(offset_of(&s) == 0, "%lld stay", offset_of(&s));
	CHECK(empty(&s));
}

/* What of a second pause does not go into this slot goes into the next: no more
 * and no less.
 */
static void test_second(void)
{
	static const struct {
		u32 first;	/* pause at 0 */
		u32 at;		/* another one, later ... */
		u32 second;	/* ... this long */
		u32 next;	/* paused in this slot then */
		u32 pending;	/* in the next */
		u32 sent;	/* to go from then on */
	} want[] = {
		{ 600, 100, 300, 900, 0, 800 },
		{ 600, 100, 400, 1000, 0, 900 },
		{ 600, 100, 700, 1000, 300, 1200 },
		{ 600, 700, 200, 800, 0, 200 },
		{ 600, 700, 300, 900, 0, 300 },
		{ 600, 900, 1000, 700, 900, 1000 },
		{ 100, 999, 500, 101, 499, 500 },
		{ 100, 50, 1, 101, 0, 51 },
		{ 1000, 0, 1000, 1000, 1000, 2000 },
		{ 1000, 500, 1000, 1000, 1000, 1500 },
		{ 1000, 999, 1, 1000, 1, 2 },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(want); i++) {
		struct bfc_slots s = {};
		u32 sent;

		bfc_slots_pause(&s, MS, HOP, RATE, want[i].first);
		sent = bfc_slots_pause(&s, MS + want[i].at, HOP, RATE,
				       want[i].second);
		CHECK(s.next == RATE * want[i].next / HOP, "%u: next %llu", i,
		      s.next);
		CHECK(s.pending == RATE * want[i].pending / HOP,
		      "%u: pending %llu", i, s.pending);
		CHECK(sent == want[i].sent, "%u: %u", i, sent);
		CHECK(s.end == MS + HOP);
		bfc_slots_advance(&s, MS + HOP, HOP);
		CHECK(s.next == RATE * want[i].pending / HOP && !s.pending);
		CHECK(s.old == RATE * want[i].next / HOP);
	}
}

/* However many there are: two slots at most, this one and the next. */
static void test_many(void)
{
	struct bfc_slots s = {};
	unsigned int i;
	u32 sent;

	for (i = 0; i < HOP; i++) {
		sent = bfc_slots_pause(&s, MS + i, HOP, RATE, HOP);
		if (!CHECK(sent <= 2 * HOP - i, "%u: %u", i, sent) ||
		    !CHECK(s.next <= RATE && s.pending <= RATE, "%u", i))
			return;
	}
	CHECK(sent == HOP + 1, "%u", sent);
	CHECK(s.next == RATE && s.pending == RATE);
	bfc_slots_advance(&s, MS + 2 * HOP, HOP);
	CHECK(s.old == RATE && !s.next && !s.pending);
	bfc_slots_advance(&s, MS + 3 * HOP, HOP);
	CHECK(empty(&s));
}

/* TimeSlotExpire() of a timer that never is late, as it is meant */
static void expire(struct bfc_slots *s)
{
	s->old = s->next;
	s->next = s->pending;
	s->pending = 0;
	s->end = s->old || s->next ? s->end + HOP : 0;
}

/* Slots that are ended late are those that are ended in time; all that was kept
 * away comes back, once, and pauses are over when the slots say so.
 */
static void test_random(void)
{
	struct bfc_slots s = {}, timer = {};
	u64 seed = 31, now = MS, kept = 0, back = 0, amount, was;
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		u64 random = unit_random(&seed), rate = random % (4 * RATE);
		u32 pause = 1 + (random >> 32) % HOP, sent;

		now += (random >> 16) % (random & 15 ? HOP / 2 : 5 * HOP);
		while (timer.end && now >= timer.end) {
			expire(&timer);
			back += timer.old;
		}
		bfc_slots_advance(&s, now, HOP);
		if (!CHECK(s.old == timer.old && s.next == timer.next &&
			   s.pending == timer.pending && s.end == timer.end,
			   "event %u", i))
			return;
		was = s.next + s.pending;
		sent = bfc_slots_pause(&s, now, HOP, rate, pause);
		amount = s.next + s.pending - was;
		kept += amount;
		if (!CHECK(amount <= rate * pause / HOP, "event %u", i) ||
		    !CHECK(s.until == now + sent, "event %u", i) ||
		    !CHECK(s.until <= s.end + HOP, "event %u", i) ||
		    !CHECK(sent <= 2 * HOP, "event %u: %u", i, sent))
			return;
		timer = s;
	}
	for (i = 0; i < 3; i++, now += HOP) {
		now = s.end ? s.end : now;
		bfc_slots_advance(&s, now, HOP);
		back += s.old;
	}
	CHECK(empty(&s));
	CHECK(kept == back && kept, "%llu of %llu came back", back, kept);
}

/* After a silence there is nothing left to say, and no slot too many. */
static void test_silence(void)
{
	struct bfc_slots s = {};

	bfc_slots_pause(&s, MS, HOP, RATE, HOP);
	bfc_slots_pause(&s, MS, HOP, RATE, HOP);
	bfc_slots_advance(&s, 1ULL << 62, HOP);
	CHECK(empty(&s));
	CHECK(bfc_slots_pause(&s, 1ULL << 62, HOP, RATE, 10) == 10);
	CHECK(s.end == (1ULL << 62) + HOP);
	/* whether it was read in between or not */
	CHECK(bfc_slots_pause(&s, (1ULL << 62) + HOP + 1, HOP, RATE, 20) == 20);
	CHECK(s.old == RATE / 100 && s.next == RATE / 50 && !s.pending);
	CHECK(s.end == (1ULL << 62) + 2 * HOP);
}

/* Rates change between pauses, to nothing as well. */
static void test_rates(void)
{
	struct bfc_slots s = {};

	bfc_slots_pause(&s, MS, HOP, RATE, 500);
	/* at a tenth of the rate this slot is full */
	CHECK(bfc_slots_pause(&s, MS + 100, HOP, RATE / 10, 200) == 600);
	CHECK(s.next == RATE / 2);
	CHECK(s.pending == RATE / 10 / 5, "%llu", s.pending);
	/* at two thirds of what is paused already, as full */
	CHECK(bfc_slots_pause(&s, MS + 150, HOP, RATE / 3, 100) == 650);
	CHECK(s.next == RATE / 2);
	/* at ten times there is room */
	bfc_slots_pause(&s, MS + 200, HOP, RATE * 10, 300);
	CHECK(s.next == RATE / 2 + RATE * 3, "%llu", s.next);
	CHECK(bfc_slots_pause(&s, MS + 300, HOP, 0, 100) <= 2 * HOP);
	CHECK(s.next == RATE / 2 + RATE * 3);

	/* the widest */
	memset(&s, 0, sizeof(s));
	CHECK(bfc_slots_pause(&s, MS, BFC_THOP_MAX, BFC_AMOUNT_MAX,
			      BFC_THOP_MAX) == BFC_THOP_MAX);
	CHECK(bfc_slots_pause(&s, MS, BFC_THOP_MAX, BFC_AMOUNT_MAX,
			      BFC_THOP_MAX) == 2 * BFC_THOP_MAX);
	CHECK(s.next == BFC_AMOUNT_MAX && s.pending == BFC_AMOUNT_MAX);
	CHECK(bfc_slots_offset(&s, BFC_AMOUNT_MAX / 2, BFC_AMOUNT_MAX) ==
	      -BFC_AMOUNT_MAX / 2);
}

/* Egresses share the offset in proportion to what they hold. */
static void test_shares(void)
{
	u64 seed = 32;
	unsigned int i, k;

	for (i = 0; i < 5000; i++) {
		struct bfc_slots s = {
			.old = unit_random(&seed) % (BFC_AMOUNT_MAX + 1),
			.next = unit_random(&seed) % (BFC_AMOUNT_MAX + 1),
		};
		s64 whole = (s64)s.old - (s64)s.next, sum = 0;
		u64 queued[8], all = 0;

		for (k = 0; k < UNIT_SIZE(queued); k++) {
			queued[k] = unit_random(&seed) % 1000000;
			all += queued[k];
		}
		for (k = 0; k < UNIT_SIZE(queued); k++) {
			s64 part = bfc_slots_offset(&s, queued[k], all);
			__int128 left = (__int128)whole * queued[k] -
					(__int128)part * all;

			sum += part;
			/* rounded towards 0, by less than one */
			if (!CHECK((whole < 0 ? -left : left) >= 0 &&
				   (whole < 0 ? -left : left) < all,
				   "problem %u: %lld", i, part))
				return;
		}
		if (!CHECK((whole < 0 ? sum - whole : whole - sum) <
			   (s64)UNIT_SIZE(queued), "problem %u", i))
			return;
		/* all, nothing, and more than all: counters read in turn */
		CHECK(bfc_slots_offset(&s, all, all) == whole);
		CHECK(bfc_slots_offset(&s, all + 1, all) == whole);
		CHECK(bfc_slots_offset(&s, 0, all) == 0);
		CHECK(bfc_slots_offset(&s, 0, 0) == 0);
		CHECK(bfc_slots_offset(&s, 1, 0) == 0);
	}
}

static const struct unit_case cases[] = {
	{ "slots: what is kept away comes back, and is over", test_one },
	{ "slots: a second pause goes on in the next slot", test_second },
	{ "slots: pauses reach to the end of the next slot at most",
	  test_many },
	{ "slots: ended late as in time, and nothing gets lost", test_random },
	{ "slots: a silence ends them all", test_silence },
	{ "slots: rates that change, and the widest", test_rates },
	{ "slots: egresses share the offset", test_shares },
};

#include "unit_main.h"
