/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pauses keep away and when it comes: FAFC's time slots (FAFC §II-B, §III-D,
 * Alg. 1 lines 30-37, Alg. 2 lines 15-29). Pure arithmetic, compiled into the
 * module and into the user-space unit tests.
 *
 * An ingress port that is paused has slots of T_hop from then on, as long as
 * there is something to say about them:
 *
 *   pauseOld	    kept away by pauses of the slot before: comes in this one
 *   pauseNext	    kept away in this slot: does not come
 *   pausePending   will be kept away in the next slot
 *
 * pauseOld - pauseNext is the error of the prediction because of pauses; its
 * egresses share it in proportion to what they hold of the port.
 *
 * The paper ends a slot by a timer. Here the slots that are over are ended before
 * they are read; three after the last pause there is nothing left.
 *
 * Context of all functions: the user of the slots serializes.
 */
#ifndef _BFC_SLOTS_H
#define _BFC_SLOTS_H

#include <linux/types.h>
#include "bfc_alloc.h"

/**
 * struct bfc_slots - of an ingress port, one priority
 * @end: of the present slot, ns; 0: there is none
 * @until: end of all pauses asked for so far, ns
 * @old: pauseOld, an amount (bfc_holt.h)
 * @next: pauseNext
 * @pending: pausePending
 *
 * All zero: never paused.
 */
struct bfc_slots {
	u64 end;
	u64 until;
	u64 old;
	u64 next;
	u64 pending;
};

/**
 * bfc_slots_advance() - TimeSlotExpire(): end the slots that are over
 * @s: the slots
 * @now: ns
 * @t_hop: ns
 *
 * To be called before @s is read.
 *
 * Line 34 prints that there is another slot if pauseOld and pauseNext are both
 * not 0. Then the slot after the last pause would never end (pauseOld is not 0,
 * pauseNext is), and what came back in it would be expected for ever. If either
 * is not 0 there is something to end.
 */
static inline void bfc_slots_advance(struct bfc_slots *s, u64 now, u32 t_hop)
{
	while (s->end && now >= s->end) {
		s->old = s->next;
		s->next = s->pending;
		s->pending = 0;
		s->end = s->old || s->next ? s->end + t_hop : 0;
	}
}

/**
 * bfc_slots_offset() - pausOf of Alg. 1 line 37 and Alg. 2 line 28, for an egress
 * @s: the slots of the ingress port, advanced
 * @queued: q_ie: what that egress holds of the port
 * @all: q_i*: what all egresses hold of it, in the same unit, 2^51 at most
 *
 * With nothing queued, where the paper would divide by zero, it is not known where
 * the port's packets go: no egress expects them.
 *
 * Return: an amount, rounded towards 0: positive if more comes than predicted
 * without it.
 */
static inline s64 bfc_slots_offset(const struct bfc_slots *s, u64 queued,
				   u64 all)
{
	bool less = s->old < s->next;
	u64 offset = less ? s->next - s->old : s->old - s->next, rem;

	if (!offset || !all)
		return 0;
	if (queued < all)
		offset = bfc_muldiv(queued, offset, all, &rem);
	return less ? -(s64)offset : (s64)offset;
}

u32 bfc_slots_pause(struct bfc_slots *s, u64 now, u32 t_hop, u64 rate,
		    u32 pause);

#endif /* _BFC_SLOTS_H */
