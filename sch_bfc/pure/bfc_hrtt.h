/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The HRTT of a link, measured: from a PAUSE of a queue to the last packet that the
 * neighbour still sent of it (BFC §3.3.2 sizes Th by it); or of a priority, to derive its
 * headroom (bfc_pfc_headroom_auto()). Pure arithmetic, compiled into the module and into the
 * user-space unit tests.
 *
 * One queue of the neighbour is watched at a time. After the frame that pauses it, its packets
 * keep coming for one loop, then stop for as long as the pause lasts: the last packet before
 * that gap gives the loop. The pause may be over by then, as a queue that is only slightly too
 * fast is resumed before the neighbour has received its pause. If the queue had too little to
 * send the loop looks shorter, never longer; so the longest of recent loops counts. A loop
 * includes all that delays a pause: the frame in front of the PAUSE, the cable twice, and what
 * the neighbour's TX ring holds.
 *
 * A repetition makes up for a lost PAUSE; the time until it is not part of the loop. So if the
 * last packet came a round trip or more after a repetition, the loop is measured from that
 * repetition, unless this happens repeatedly: then the cable has become longer. Loops that are
 * too long nevertheless are rare, so the second longest is taken. The value is lowered only
 * after several loops. Headroom must suffice for the longest loop, which is lowered slowly.
 *
 * A neighbour without HELLOs may not know pauses, and stop for reasons of its own. One that
 * obeys goes on as soon as the resume has reached it, which takes no longer than the loop, as
 * that includes the neighbour's TX ring. Only such loops count, and they prove that it obeys;
 * packets that keep coming during pauses prove that it does not, as do those of one pause that
 * never ends, which count once in the longest loop.
 */
#ifndef _BFC_HRTT_H
#define _BFC_HRTT_H

#include <linux/types.h>

#define BFC_HRTT_HALF_NS	400000000ULL	/* half of the window */
#define BFC_HRTT_QUIET_NS	10000000ULL	/* no packet for so long: it has stopped */
#define BFC_HRTT_LATE		3	/* no more PAUSEs than this get lost in a row */
#define BFC_HRTT_ENOUGH		4	/* loops after which the value may be lowered */
#define BFC_HRTT_WATCH_NS	2000000000ULL	/* more than the longest HRTT there is */
#define BFC_HRTT_PROOF		4	/* surplus of obeyed over disobeyed pauses, or the
					 * reverse, that is proof
					 */
#define BFC_HRTT_PROVES_NS	200000ULL	/* a shorter pause, in what a ring has collected,
						 * proves no disobedience
						 */
#define BFC_HRTT_LOWER_NS	500000000ULL	/* a lower value is applied no sooner after a
						 * change
						 */
#define BFC_HRTT_FADES		64	/* in each half of the window @room loses this part of it */

/**
 * struct bfc_hrtt - the loop of a link, and its measurement
 * @sent: when the pause of the watched queue was sent, ns; 0: none is watched
 * @again: when the first repetition was sent that could have made up for a loss, ns, or 0
 * @resumed: when it was resumed, ns, or 0
 * @last: when the last packet of the queue came, ns; @sent: none since then
 * @late: number of loops in a row with a last packet a round trip or more after a repetition
 * @begun: of the present half of the window, ns
 * @longest: the two longest loops of that half, [0], and of the one before, ns
 * @n: loops of these halves
 * @value: the loop, ns; 0: not known yet
 * @room: the longest recent loop, for headroom, ns
 * @samples: number of loops measured
 * @over: in this pause it has sent for longer than @most: how long is no loop
 * @most: for a neighbour without HELLOs: the longest loop that is accepted, ns; else 0
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
	bool over;
	s8 obeyed;
	s8 proved;
};

void bfc_hrtt_begin(struct bfc_hrtt *h, u64 most, u64 now);
bool bfc_hrtt_frame(struct bfc_hrtt *h, bool paused, u64 refresh, u64 rtt, u64 now);
bool bfc_hrtt_packet(struct bfc_hrtt *h, u64 rtt, u64 now);
u64 bfc_hrtt_known(const struct bfc_hrtt *h);
u64 bfc_hrtt_room(const struct bfc_hrtt *h);
u64 bfc_hrtt_loop(u64 value, u64 rtt, u64 frame, bool host);
bool bfc_hrtt_differs(u64 hrtt, u64 other);
bool bfc_hrtt_due(u64 before, u64 hrtt, u64 changed, u64 now, bool *again);

#endif /* _BFC_HRTT_H */
