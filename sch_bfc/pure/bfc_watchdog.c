// SPDX-License-Identifier: GPL-2.0
/*
 * Detection of pause storms: steps of the state machine at the top of bfc_watchdog.h.
 */
#include "bfc_watchdog.h"

/**
 * bfc_watchdog_floor() - the shortest @watchdog that takes no slow link for a storm
 * @refresh: ns between the frames that carry the progress, 0 = it is seen at once
 * @frame: ns that the neighbour's slowest link takes for its largest frame
 *
 * Two such frames may get lost, and one of data may just have begun.
 *
 * Return: ns.
 */
u64 bfc_watchdog_floor(u64 refresh, u64 frame)
{
	return 4 * refresh + 2 * frame;
}

static u64 bfc_watchdog_holdoff(const struct bfc_watchdog *w,
				const struct bfc_watchdog_cfg *cfg, u64 now)
{
	u64 next = cfg->holdoff;

	/* A pause that began right after the last hold-off takes @watchdog. */
	if (w->holdoff &&
	    (s64)(now - w->until - w->holdoff - cfg->watchdog) <= 0)
		next = 2 * w->holdoff;
	return next < cfg->holdoff_max ? next : cfg->holdoff_max;
}

/**
 * bfc_watchdog_step() - check a pause; called at every change of it, and when due
 * @w: the machine
 * @cfg: times; may change any time
 * @paused: true if the neighbour pauses the port, obeyed or not, and there is
 *	    something to send: no pause stops an idle port
 * @progress: see bfc_watchdog.h
 * @now: ns; another processor's may have been a little later
 *
 * A pause that begins and ends between two steps is not seen; one that is
 * interrupted unseen counts as one.
 *
 * Context: the caller serializes.
 * Return: BFC_WD_* bits, at most one of them.
 */
unsigned int bfc_watchdog_step(struct bfc_watchdog *w,
			       const struct bfc_watchdog_cfg *cfg, bool paused,
			       u64 progress, u64 now)
{
	bool moved = progress != w->progress;
	bool stuck = paused && !moved &&
		     (w->paused || (s64)(now - w->ended - cfg->gap) < 0);

	if (w->paused && !paused)
		w->ended = now;
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
		if ((paused || moved) && (s64)(now - w->since) > 0)
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
 * bfc_watchdog_due() - when the next step is due, if nothing changes
 * @w: the machine
 * @cfg: times
 *
 * Return: ns of the same clock, or BFC_WATCHDOG_NEVER.
 */
u64 bfc_watchdog_due(const struct bfc_watchdog *w,
		     const struct bfc_watchdog_cfg *cfg)
{
	if (w->state == BFC_WD_IGNORE)
		return w->until;
	if (w->paused && cfg->watchdog)
		return w->since + cfg->watchdog;
	return BFC_WATCHDOG_NEVER;
}
