/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detection of pause storms. A neighbour that keeps this port paused although
 * nothing moves on its side is broken, or part of a deadlock (HPCC §1, "PFC
 * storms"). Its pauses are then not obeyed for a while. No lock, no clock of
 * its own: compiled into the module and into the user-space unit tests.
 *
 *	     paused, and for @watchdog no progress
 *   WATCH ---------------------------------------> IGNORE
 *     <-------------------------------------------
 *		     the hold-off is over
 *
 * Progress is a number that changes when the neighbour does something useful:
 *
 *  - a neighbour that reports how much it has drained: that number
 *  - another neighbour: the number of packets that could be sent to it. A slow
 *    receiver that empties its buffer and goes on, however rarely, is no storm;
 *    one that lets nothing pass is
 *
 * A gap between two pauses in which nothing moves, and which is too short for that, is no end of
 * the pause: the neighbour could say XON and XOFF in one breath, again and again.
 *
 * The hold-off always ends, and the neighbour is obeyed again: one that was only
 * very slow gets its buffer back, one that still storms stops us for another
 * @watchdog. A pause that begins no later after the end of a hold-off than that hold-off lasted,
 * and becomes a storm, doubles the hold-off, up to a bound; a later one starts with @holdoff
 * again. So a neighbour that is broken for good stops us for a part watchdog / (watchdog +
 * holdoff_max) of the time, and does not flap.
 */
#ifndef _BFC_WATCHDOG_H
#define _BFC_WATCHDOG_H

#include <linux/types.h>

#define BFC_HOLDOFF_TIMES	2	/* the first hold-off, in @watchdog */
#define BFC_HOLDOFF_DOUBLED	64	/* the longest, in that: 0.8 % stopped */
#define BFC_WATCHDOG_NEVER	(~0ULL)

/* What a step of the machine returns. */
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
 * @gap: a pause that begins again in less than that goes on, if there was no progress
 */
struct bfc_watchdog_cfg {
	u64 watchdog;
	u64 holdoff;
	u64 holdoff_max;
	u64 gap;
};

/**
 * struct bfc_watchdog - of one (port, priority), or of one port; all zero to begin
 * @state: BFC_WD_WATCH or BFC_WD_IGNORE
 * @paused: as of the last step
 * @progress: as of the last step
 * @since: ns; paused without progress since then
 * @ended: ns; when a pause ended last
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
	u64 ended;
	u64 until;
	u64 holdoff;
	u64 storms;
};

u64 bfc_watchdog_floor(u64 refresh, u64 frame);
unsigned int bfc_watchdog_step(struct bfc_watchdog *w,
			       const struct bfc_watchdog_cfg *cfg, bool paused,
			       u64 progress, u64 now);
u64 bfc_watchdog_due(const struct bfc_watchdog *w,
		     const struct bfc_watchdog_cfg *cfg);

#endif /* _BFC_WATCHDOG_H */
