/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a pause a storm? A neighbour that keeps this port paused although nothing moves on
 * its side is broken, or part of a deadlock (HPCC §1, "PFC storms"). Then its
 * pauses are not obeyed for a while. No lock, no clock of its own: compiled into
 * the module and into the user-space unit tests.
 *
 *	     paused, and for @watchdog no progress
 *   WATCH ---------------------------------------> IGNORE
 *     <-------------------------------------------
 *		     the hold-off is over
 *
 * Progress is a number that changes when the neighbour does something useful:
 *
 *  - a neighbour that tells how much it has drained: that number
 *  - an IEEE neighbour: what was received from it, other than MAC control, plus
 *    what was sent to it, in packets. A slow receiver that empties its buffer and
 *    goes on, however rarely, is no storm; one that lets nothing pass is
 *
 * The hold-off always ends, and the neighbour is obeyed again: one that was only
 * very slow gets its buffer back, one that still storms stops us for another
 * @watchdog. Each storm that follows on the last one, not later after its hold-off
 * than that had lasted, doubles the hold-off, up to a bound; a later one starts
 * from the beginning. So a neighbour that is broken for good stops us for a part
 * watchdog / (watchdog + holdoff_max) of the time, and does not flap.
 */
#ifndef _BFC_WATCHDOG_H
#define _BFC_WATCHDOG_H

#include <linux/types.h>
#include <linux/pkt_sch_bfc.h>

#define BFC_HOLDOFF_TIMES	2	/* the first hold-off, in @watchdog */
#define BFC_HOLDOFF_DOUBLED	64	/* the longest, in that: 0.8 % stopped */
#define BFC_WATCHDOG_NEVER	(~0ULL)

/* What a step of the machine tells its owner. */
#define BFC_WD_STORM	0x1	/* from now on do not obey, and count it */
#define BFC_WD_RESTORE	0x2	/* obey again what the neighbour last said */

enum {
	BFC_WD_WATCH,		/* must be 0 */
	BFC_WD_IGNORE
};

/**
 * struct bfc_watchdog_cfg - times, in ns
 * @watchdog: a pause may last so long without progress; 0 = for ever
 * @holdoff: the first storm's pauses are ignored for so long, not 0
 * @holdoff_max: and never longer than that; equal to @holdoff: always the same
 */
struct bfc_watchdog_cfg {
	u64 watchdog;
	u64 holdoff;
	u64 holdoff_max;
};

/**
 * struct bfc_watchdog - of one (port, priority), or of one port; all zero to begin
 * @state: BFC_WD_WATCH or BFC_WD_IGNORE
 * @paused: as of the last step
 * @progress: as of the last step
 * @since: ns; paused without progress since then
 * @until: ns; end of the present, or last, hold-off
 * @holdoff: how long that is, or was, ns; 0 = there was none
 * @storms: how many
 *
 * The caller serializes.
 */
struct bfc_watchdog {
	u8 state;
	bool paused;
	u64 progress;
	u64 since;
	u64 until;
	u64 holdoff;
	u64 storms;
};

/**
 * bfc_watchdog_floor() - the shortest time that is not mistaken
 * @refresh: ns between the frames that carry the progress, 0 = it is seen at once
 * @frame: ns that the neighbour's slowest link takes for its largest frame
 *
 * Two such frames may get lost, and one of data may just have begun.
 *
 * Return: ns; less makes storms of slow links.
 */
static inline u64 bfc_watchdog_floor(u64 refresh, u64 frame)
{
	return 4 * refresh + 2 * frame;
}

static inline u64 bfc_watchdog_holdoff(const struct bfc_watchdog *w,
				       const struct bfc_watchdog_cfg *cfg,
				       u64 now)
{
	u64 next = cfg->holdoff;

	/* A pause that began right after the last hold-off takes @watchdog. */
	if (w->holdoff &&
	    (s64)(now - w->until - w->holdoff - cfg->watchdog) <= 0)
		next = 2 * w->holdoff;
	return next < cfg->holdoff_max ? next : cfg->holdoff_max;
}

/**
 * bfc_watchdog_step() - look, at every change of the pause and when due
 * @w: the machine
 * @cfg: times; may change any time
 * @paused: whether the neighbour wants it so, obeyed or not, and there is something
 *	    to send: no pause stops an idle port
 * @progress: see above
 * @now: ns; another processor's may have been a little later
 *
 * A pause that begins and ends between two steps is not seen; one that is
 * interrupted unseen counts as one.
 *
 * Context: the caller serializes.
 * Return: BFC_WD_* bits, at most one of them.
 */
static inline unsigned int bfc_watchdog_step(struct bfc_watchdog *w,
					     const struct bfc_watchdog_cfg *cfg,
					     bool paused, u64 progress,
					     u64 now)
{
	bool stuck = w->paused && paused && progress == w->progress;

	w->paused = paused;
	w->progress = progress;
	if (w->state == BFC_WD_IGNORE) {
		if (cfg->watchdog && (s64)(now - w->until) < 0)
			return 0;
		w->state = BFC_WD_WATCH;
		w->until = now;
		w->since = now;
		return BFC_WD_RESTORE;
	}
	if (!stuck) {
		if ((s64)(now - w->since) > 0)
			w->since = now;
		return 0;
	}
	if (!cfg->watchdog || (s64)(now - w->since - cfg->watchdog) < 0)
		return 0;
	w->holdoff = bfc_watchdog_holdoff(w, cfg, now);
	w->state = BFC_WD_IGNORE;
	w->until = now + w->holdoff;
	w->storms++;
	return BFC_WD_STORM;
}

/**
 * bfc_watchdog_ignores() - are the neighbour's pauses ignored at the moment?
 * @w: the machine
 *
 * Context: the caller serializes.
 * Return: true: send as if it had not said anything.
 */
static inline bool bfc_watchdog_ignores(const struct bfc_watchdog *w)
{
	return w->state == BFC_WD_IGNORE;
}

/**
 * bfc_watchdog_due() - when to look again, if nothing changes
 * @w: the machine
 * @cfg: times
 *
 * Return: ns of the same clock, or BFC_WATCHDOG_NEVER.
 */
static inline u64 bfc_watchdog_due(const struct bfc_watchdog *w,
				   const struct bfc_watchdog_cfg *cfg)
{
	if (w->state == BFC_WD_IGNORE)
		return w->until;
	if (w->paused && cfg->watchdog)
		return w->since + cfg->watchdog;
	return BFC_WATCHDOG_NEVER;
}

#endif /* _BFC_WATCHDOG_H */
