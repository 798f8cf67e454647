/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The HRTT of a link, measured: from a PAUSE of a queue to the last packet that the
 * neighbour still sent of it (BFC §3.3.2 sizes Th by it); or of a priority, whose headroom
 * follows from it (bfc_pfc_headroom_auto()). Pure arithmetic, compiled into the module and
 * into the user-space unit tests.
 *
 * One queue of the neighbour is watched at a time. From the frame that pauses it on its
 * packets come for a loop, then none for as long as the pause was: the last one before
 * that gap tells the loop. The pause may be over by then: a queue that is not much too
 * fast is resumed before the neighbour has heard of its pause. Where the queue had too
 * little to send the loop looks shorter, never longer; so it is the longest that was seen
 * of late. It has in it what a pause has: the frame in front of the PAUSE, the cable twice,
 * what the neighbour's ring holds.
 *
 * A PAUSE that gets lost is mended by a repetition; the time that this takes is none of
 * the loop's. A packet that is later than a repetition by a round trip counts from that,
 * unless this goes on: then the cable has become longer. What slips through shows once in a
 * while: the second longest is taken. It becomes shorter only when several say so. Headroom
 * has to hold the longest: that fades slowly.
 *
 * A neighbour that says no HELLO may be one that knows no pause, and stops for reasons of
 * its own. One that obeys goes on as soon as the resume has reached it: that takes no longer
 * than the loop, which has the neighbour's ring in it as well. Only such loops count, and
 * they prove that it obeys; packets that keep coming, whatever is paused, prove that it does
 * not.
 */
#ifndef _BFC_HRTT_H
#define _BFC_HRTT_H

#include <linux/types.h>

#define BFC_HRTT_HALF_NS	500000000ULL	/* half of the window */
#define BFC_HRTT_QUIET_NS	10000000ULL	/* no packet for so long: it has stopped */
#define BFC_HRTT_LATE		3	/* as many PAUSEs are not lost in turn */
#define BFC_HRTT_ENOUGH		4	/* loops that say that it has become shorter */
#define BFC_HRTT_WATCH_NS	2000000000ULL	/* more than the longest HRTT there is */
#define BFC_HRTT_PROOF		4	/* loops, in excess of others, that are proof */
#define BFC_HRTT_PROVES_NS	200000ULL	/* a shorter pause, in what a ring has collected,
						 * proves no disobedience
						 */
#define BFC_HRTT_FADES		64	/* of @room in each half of the window */

/**
 * struct bfc_hrtt - the loop of a link
 * @sent: when the pause of the watched queue was sent, ns; 0: none is watched
 * @again: of its repetitions the first that could have mended a loss, ns, or 0
 * @resumed: when it was resumed, ns, or 0
 * @last: when the last packet of the queue came, ns; @sent: none since then
 * @late: so many loops in turn were longer than a repetition and a round trip
 * @begun: of the present half of the window, ns
 * @longest: the two longest loops of that half, [0], and of the one before, ns
 * @n: loops of these halves
 * @value: the loop, ns; 0: not known yet
 * @room: the longest of late, for headroom, ns
 * @samples: so many were measured
 * @most: of a neighbour that says no HELLO: longer than this no loop is, ns; else 0
 * @obeyed: pauses that it obeyed, less those that it did not, within BFC_HRTT_PROOF
 * @proved: 1: it obeys pauses, -1: it does not, 0: not known
 */
struct bfc_hrtt {
	u64 sent;
	u64 again;
	u64 resumed;
	u64 last;
	u32 late;
	u64 begun;
	u64 longest[2][2];
	u32 n[2];
	u64 value;
	u64 room;
	u64 samples;
	u64 most;
	s8 obeyed;
	s8 proved;
};

void bfc_hrtt_begin(struct bfc_hrtt *h, u64 most, u64 now);
bool bfc_hrtt_frame(struct bfc_hrtt *h, bool paused, u64 refresh, u64 rtt, u64 now);
bool bfc_hrtt_packet(struct bfc_hrtt *h, u64 rtt, u64 now);
u64 bfc_hrtt_known(const struct bfc_hrtt *h);
u64 bfc_hrtt_room(const struct bfc_hrtt *h);
u64 bfc_hrtt_guess(u64 rate, u32 frame, u64 rtt);
bool bfc_hrtt_differs(u64 hrtt, u64 other);

#endif /* _BFC_HRTT_H */
