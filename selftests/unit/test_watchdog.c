// SPDX-License-Identifier: GPL-2.0
/*
 * The watchdog in simulated time: neighbours that are slow, broken, or both by
 * turns, and a log from which it is told independently what a storm was.
 */
#include <linux/pkt_sch_bfc.h>
#include "unit.h"
#include "bfc_watchdog.h"

#define MS	1000000ULL
#define SEC	(1000 * MS)
#define START	(7 * SEC)	/* some time after boot */

static const struct bfc_watchdog_cfg usual = {
	.watchdog = 200 * MS, .holdoff = 400 * MS, .holdoff_max = 25600 * MS,
};

static u64 below(u64 *seed, u64 n)
{
	return unit_random(seed) % n;
}

/* Are the neighbour's pauses ignored at the moment? */
static bool ignores(const struct bfc_watchdog *w)
{
	return w->state == BFC_WD_IGNORE;
}

/* Look at now, and nothing may happen. */
static bool quiet(struct bfc_watchdog *w, bool paused, u64 progress, u64 now)
{
	return !bfc_watchdog_step(w, &usual, paused, progress, now);
}

static void test_constants(void)
{
	CHECK(BFC_WATCHDOG_LEAST == 200 * MS);
	CHECK(BFC_HOLDOFF_TIMES == 2);
	CHECK(BFC_HOLDOFF_DOUBLED == 64);
	CHECK(BFC_WD_WATCH == 0);
	/* fast link: four refreshes; slow one: two frames more */
	CHECK(bfc_watchdog_floor(MS, 0) == 4 * MS);
	CHECK(bfc_watchdog_floor(MS, 1200000) == 6400000);
	CHECK(bfc_watchdog_floor(0, 0) == 0);
}

/* To the nanosecond. */
static void test_storm(void)
{
	struct bfc_watchdog w = {};

	CHECK(quiet(&w, false, 5, START));
	CHECK(bfc_watchdog_due(&w, &usual) == BFC_WATCHDOG_NEVER);
	CHECK(quiet(&w, true, 5, START + SEC));
	CHECK(bfc_watchdog_due(&w, &usual) == START + SEC + 200 * MS);
	CHECK(quiet(&w, true, 5, START + SEC + 200 * MS - 1));
	CHECK(!ignores(&w) && w.storms == 0);
	CHECK(bfc_watchdog_step(&w, &usual, true, 5, START + SEC + 200 * MS) ==
	      BFC_WD_STORM);
	CHECK(ignores(&w) && w.storms == 1);
	CHECK(bfc_watchdog_due(&w, &usual) == START + SEC + 600 * MS);
	CHECK(quiet(&w, true, 5, START + SEC + 600 * MS - 1));
	CHECK(ignores(&w));
	CHECK(bfc_watchdog_step(&w, &usual, true, 5, START + SEC + 600 * MS) ==
	      BFC_WD_RESTORE);
	CHECK(!ignores(&w) && w.storms == 1);
	/* it is given the whole time again */
	CHECK(bfc_watchdog_due(&w, &usual) == START + SEC + 800 * MS);
	CHECK(quiet(&w, true, 5, START + SEC + 800 * MS - 1));
	CHECK(bfc_watchdog_step(&w, &usual, true, 5, START + SEC + 800 * MS) ==
	      BFC_WD_STORM);
	CHECK(w.storms == 2);
}

/* The first thing that is ever seen of a neighbour is a pause. */
static void test_first(void)
{
	struct bfc_watchdog w = {};

	CHECK(quiet(&w, true, 0, START));
	CHECK(quiet(&w, true, 0, START + 200 * MS - 1));
	CHECK(bfc_watchdog_step(&w, &usual, true, 0, START + 200 * MS) ==
	      BFC_WD_STORM);
}

/* Any change is progress: a count may start over, or wrap. */
static void test_progress(void)
{
	struct bfc_watchdog w = {};
	u64 now = START, progress = 3;
	unsigned int i;

	quiet(&w, true, progress, now);
	for (i = 0; i < 100; i++) {
		now += 200 * MS;
		progress = i % 3 ? progress - 1 : progress + 1000;
		CHECK(quiet(&w, true, progress, now), "%u", i);
		CHECK(bfc_watchdog_due(&w, &usual) == now + 200 * MS);
	}
	CHECK(bfc_watchdog_step(&w, &usual, true, progress, now + 200 * MS) ==
	      BFC_WD_STORM);
}

/* Pauses that end in time are none, however many, and whatever moves not. */
static void test_pause_ends(void)
{
	struct bfc_watchdog w = {};
	u64 now = START;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		CHECK(quiet(&w, true, 9, now));
		now += 200 * MS - 1;
		CHECK(quiet(&w, true, 9, now));
		now += 1;
		CHECK(quiet(&w, false, 9, now));
	}
	CHECK(quiet(&w, false, 9, now + 1000 * SEC));
}

/* A gap that is too short for anything to move is no end; a longer one is, or one in which
 * something moves.
 */
static void test_gaps(void)
{
	struct bfc_watchdog_cfg cfg = usual;
	u64 now, gap, progress;
	unsigned int i, kind;

	cfg.gap = 5 * MS;
	for (kind = 0; kind < 4; kind++) {
		struct bfc_watchdog w = {};

		gap = kind == 1 ? 5 * MS : 5 * MS - 1;
		now = START;
		progress = 9;
		CHECK(!bfc_watchdog_step(&w, &cfg, true, progress, now));
		for (i = 0; i < 4; i++) {
			now += 40 * MS;
			CHECK(!bfc_watchdog_step(&w, &cfg, false, progress, now));
			CHECK(bfc_watchdog_due(&w, &cfg) == BFC_WATCHDOG_NEVER);
			/* A look in between ends nothing either, if nothing moved. */
			progress += kind == 3;
			CHECK(!bfc_watchdog_step(&w, &cfg, false, progress, now + 2 * MS));
			now += gap;
			progress += kind == 2;
			CHECK(!bfc_watchdog_step(&w, &cfg, true, progress, now));
		}
		if (!kind)
			now = START;
		else if (kind == 3)
			now -= gap - 2 * MS;
		CHECK(bfc_watchdog_due(&w, &cfg) == now + 200 * MS, "%u", kind);
		now = bfc_watchdog_due(&w, &cfg);
		CHECK(!bfc_watchdog_step(&w, &cfg, true, progress, now - 1));
		CHECK(bfc_watchdog_step(&w, &cfg, true, progress, now) == BFC_WD_STORM);
	}
}

/* Through one storm, from a pause that begins at now. Return: when it was over. */
static u64 storm(struct bfc_watchdog *w, const struct bfc_watchdog_cfg *cfg,
		 u64 now, u64 holdoff)
{
	bfc_watchdog_step(w, cfg, true, 1, now);
	now += cfg->watchdog;
	CHECK(bfc_watchdog_step(w, cfg, true, 1, now) == BFC_WD_STORM);
	CHECK(w->until - now == holdoff, "%llu ms, not %llu",
	      (w->until - now) / MS, holdoff / MS);
	now += holdoff;
	CHECK(bfc_watchdog_step(w, cfg, true, 1, now) == BFC_WD_RESTORE);
	return now;
}

/* One after the other they take longer, but not for ever. */
static void test_doubling(void)
{
	struct bfc_watchdog w = {};
	u64 now = START, holdoff = 400 * MS;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		now = storm(&w, &usual, now, holdoff);
		if (holdoff < 25600 * MS)
			holdoff *= 2;
	}
	CHECK(w.storms == 12);
}

/* A storm that begins not later after a hold-off than that lasted follows on it. */
static void test_calm(void)
{
	struct bfc_watchdog w = {};
	u64 now;

	now = storm(&w, &usual, START, 400 * MS);
	bfc_watchdog_step(&w, &usual, false, 1, now + 1);
	now = storm(&w, &usual, now + 400 * MS, 800 * MS);
	bfc_watchdog_step(&w, &usual, false, 1, now + 1);
	now = storm(&w, &usual, now + 800 * MS + 1, 400 * MS);
	bfc_watchdog_step(&w, &usual, false, 1, now + 1);
	storm(&w, &usual, now + 100 * SEC, 400 * MS);
}

static void test_fixed(void)
{
	const struct bfc_watchdog_cfg cfg = {
		.watchdog = 50 * MS, .holdoff = 10 * MS, .holdoff_max = 10 * MS,
	};
	struct bfc_watchdog w = {};
	u64 now = START;
	unsigned int i;

	for (i = 0; i < 10; i++)
		now = storm(&w, &cfg, now, 10 * MS);
}

/* A bound that is lowered, one below the first hold-off, and no multiple. */
static void test_bound(void)
{
	struct bfc_watchdog_cfg cfg = usual;
	struct bfc_watchdog w = {};
	u64 now;

	now = storm(&w, &cfg, START, 400 * MS);
	cfg.holdoff_max = 700 * MS;
	now = storm(&w, &cfg, now, 700 * MS);
	now = storm(&w, &cfg, now, 700 * MS);
	cfg.holdoff_max = 100 * MS;
	storm(&w, &cfg, now, 100 * MS);
}

/* Without a watchdog nothing ever happens; switched off, the hold-off ends. */
static void test_off(void)
{
	struct bfc_watchdog_cfg cfg = usual;
	struct bfc_watchdog w = {};
	u64 now = START;

	cfg.watchdog = 0;
	CHECK(!bfc_watchdog_step(&w, &cfg, true, 1, now));
	CHECK(bfc_watchdog_due(&w, &cfg) == BFC_WATCHDOG_NEVER);
	CHECK(!bfc_watchdog_step(&w, &cfg, true, 1, now + 1000 * SEC));
	now += 1000 * SEC;
	/* on: the pause has lasted for long enough */
	CHECK(bfc_watchdog_step(&w, &usual, true, 1, now) == BFC_WD_STORM);
	CHECK(bfc_watchdog_step(&w, &cfg, true, 1, now + 1) == BFC_WD_RESTORE);
	CHECK(!ignores(&w));
	CHECK(!bfc_watchdog_step(&w, &cfg, true, 1, now + 1000 * SEC));
}

/* What was read before another processor's clock neither fires nor delays. */
static void test_older_clock(void)
{
	struct bfc_watchdog w = {};

	quiet(&w, true, 1, START);
	CHECK(quiet(&w, true, 2, START - 5));
	CHECK(w.since == START);
	CHECK(quiet(&w, true, 2, START - 1));
	CHECK(quiet(&w, true, 2, START + 200 * MS - 1));
	CHECK(bfc_watchdog_step(&w, &usual, true, 2, START + 200 * MS) ==
	      BFC_WD_STORM);
	CHECK(quiet(&w, true, 2, START + 200 * MS - 1));
	CHECK(ignores(&w));
}

/* Broken for good: for how much of a day are we stopped, and how often asked? */
static void test_broken(void)
{
	u64 now = START, end = START + 86400 * SEC, stopped = 0, last = START;
	struct bfc_watchdog w = {};

	unsigned int i;

	bfc_watchdog_step(&w, &usual, true, 1, now);
	for (i = 0; now < end && i < 10000; i++) {
		bool ignored = ignores(&w);

		now = bfc_watchdog_due(&w, &usual) + 3 * MS;	/* late timer */
		bfc_watchdog_step(&w, &usual, true, 1, now);
		if (!ignored)
			stopped += now - last;
		last = now;
	}
	/* 203 ms in 25.8 s, and 6 times more often at first */
	CHECK(w.storms <= 86400 * SEC / (25800 * MS) + 7, "%llu", w.storms);
	CHECK(w.storms >= 86400 * SEC / (25806 * MS), "%llu", w.storms);
	CHECK(now >= end);
	CHECK(stopped * 1000 < (end - START) * 8, "%llu ms", stopped / MS);
}

/*
 * Neighbours of all kinds. What the log knows: since when the pause has lasted,
 * when anything last moved, when the last hold-off was over. The owner looks when
 * the pause changes and when it is due, a little late.
 */
struct log {
	u64 paused;	/* since, 0 = not paused */
	u64 moved;
	u64 restored;
	u64 holdoff;
	u64 storm;	/* of the present hold-off, 0 = none */
	u64 storms;
};

static u64 quietest(const struct log *l)
{
	u64 t = l->paused > l->moved ? l->paused : l->moved;

	return t > l->restored ? t : l->restored;
}

static bool logged(struct log *l, const struct bfc_watchdog *w,
		   const struct bfc_watchdog_cfg *cfg, unsigned int events,
		   u64 now, u64 late)
{
	u64 holdoff = cfg->holdoff;
	bool good = true;

	if (events == BFC_WD_STORM) {
		good &= CHECK(l->paused && !l->storm &&
			      now - quietest(l) >= cfg->watchdog,
			      "no storm: %llu ns", now - quietest(l));
		if (l->storms &&
		    now - l->restored <= cfg->watchdog + l->holdoff)
			holdoff = 2 * l->holdoff;
		l->holdoff = holdoff < cfg->holdoff_max ? holdoff :
			     cfg->holdoff_max;
		l->storms++;
		l->storm = now;
	} else if (events == BFC_WD_RESTORE) {
		good &= CHECK(l->storm && now - l->storm >= l->holdoff &&
			      now - l->storm <= l->holdoff + late,
			      "restored after %llu of %llu ns",
			      now - l->storm, l->holdoff);
		l->storm = 0;
		l->restored = now;
	} else {
		good &= CHECK(!events);
	}
	/* What moved before the last look but one is seen at the last. */
	if (l->paused && !l->storm)
		good &= CHECK(now - quietest(l) < 2 * (cfg->watchdog + late),
			      "not noticed for %llu ns", now - quietest(l));
	return good && CHECK(ignores(w) == !!l->storm && w->storms == l->storms);
}

static bool neighbour(u64 *seed, u64 *storms)
{
	struct bfc_watchdog_cfg cfg = {
		.watchdog = 1 + below(seed, 300 * MS),
		.holdoff = 1 + below(seed, 500 * MS),
	};
	u64 late = below(seed, 2) ? below(seed, 10 * MS) : 0;
	u64 slow = 1 + below(seed, 2 * cfg.watchdog);	/* between moves */
	u64 calm = 1 + below(seed, 4 * cfg.holdoff);	/* between pauses */
	u64 long_ = 1 + below(seed, 10 * cfg.watchdog);	/* a pause */
	u64 now = START, progress = 0, change = START, move = START, look;
	struct bfc_watchdog w = {};
	struct log l = {};
	unsigned int i, events;

	cfg.holdoff_max = cfg.holdoff << below(seed, 6);
	look = BFC_WATCHDOG_NEVER;
	for (i = 0; i < 3000; i++) {
		u64 due;

		/* the next thing that happens */
		now = move < change ? move : change;
		now = look < now ? look : now;
		if (now == move) {
			/* does not look: it is the neighbour's business */
			progress += 1 + below(seed, 100);
			l.moved = now;
			move = now + 1 + below(seed, slow);
			continue;
		}
		if (now == change) {
			l.paused = l.paused ? 0 : now;
			change = now + 1 + below(seed, l.paused ? long_ : calm);
			if (!below(seed, 8))	/* nothing moves for a while */
				move = change + below(seed, 5 * long_);
		}
		events = bfc_watchdog_step(&w, &cfg, l.paused, progress, now);
		if (!logged(&l, &w, &cfg, events, now, late))
			return false;
		due = bfc_watchdog_due(&w, &cfg);
		if (due == BFC_WATCHDOG_NEVER)
			look = due;
		else	/* not in the past, nor later than the timer is */
			look = (due > now ? due : now + 1) +
			       below(seed, late + 1);
	}
	*storms += w.storms;
	return true;
}

static void test_neighbours(void)
{
	u64 seed = 51, storms = 0;
	unsigned int i;

	for (i = 0; i < 1000; i++)
		if (!neighbour(&seed, &storms))
			return;
	CHECK(storms > 20000, "%llu", storms);
}

/* Slow, but alive: what moves less than @watchdog apart, is never a storm. */
static void test_slow(void)
{
	u64 seed = 52, now = START, progress = 0;
	struct bfc_watchdog w = {};
	unsigned int i, looks = 0;

	bfc_watchdog_step(&w, &usual, true, progress, now);
	for (i = 0; i < 100000; i++) {
		u64 move = now + 1 + below(&seed, 200 * MS - 1);

		while (bfc_watchdog_due(&w, &usual) < move) {
			now = bfc_watchdog_due(&w, &usual);
			if (!CHECK(quiet(&w, true, progress, now) &&
				   looks++ < 200000))
				return;
		}
		now = move;
		progress++;
	}
	CHECK(w.storms == 0);
}

static const struct unit_case cases[] = {
	{ "watchdog: constants, and the shortest time", test_constants },
	{ "watchdog: storm, hold-off and restore, to the nanosecond",
	  test_storm },
	{ "watchdog: a neighbour that begins with a pause", test_first },
	{ "watchdog: any change is progress", test_progress },
	{ "watchdog: pauses that end are no storm", test_pause_ends },
	{ "watchdog: gaps in which nothing can move end no pause", test_gaps },
	{ "watchdog: hold-offs double up to a bound", test_doubling },
	{ "watchdog: after a calm it starts from the beginning", test_calm },
	{ "watchdog: a fixed hold-off", test_fixed },
	{ "watchdog: bounds that change", test_bound },
	{ "watchdog: off", test_off },
	{ "watchdog: an older clock", test_older_clock },
	{ "watchdog: broken for good costs less than 1 %", test_broken },
	{ "watchdog: slow is not broken", test_slow },
	{ "watchdog: neighbours of all kinds, against a log",
	  test_neighbours },
};

#include "unit_main.h"
