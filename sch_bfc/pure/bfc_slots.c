// SPDX-License-Identifier: GPL-2.0
/*
 * FAFC's time slots: a port is paused.
 */
#include "bfc_slots.h"

/* What a pause of @time keeps away; below, for how long one keeps @amount away.
 */
static u64 bfc_slots_amount(u64 rate, u32 time, u32 t_hop)
{
	u64 rem;

	return bfc_muldiv(rate, time, t_hop, &rem);
}

static u32 bfc_slots_time(u64 amount, u64 rate, u32 t_hop)
{
	u64 rem;

	return amount < rate ? bfc_muldiv(amount, t_hop, rate, &rem) : t_hop;
}

/**
 * bfc_slots_pause() - a port is paused: account for it
 * @s: its slots
 * @now: ns
 * @t_hop: ns
 * @rate: r_i*, what it sends in all, amount per T_hop, BFC_AMOUNT_MAX at most
 * @pause: T_i, ns, @t_hop at most
 *
 * Line 25 prints pausePending += r (T_hop - tNext). What is left of the pause for
 * the next slot is T_i - tNext: with T_hop, a short pause that ends in this slot
 * would announce a long one for the next.
 *
 * Beyond the paper: no more than T_hop goes into the next slot. A slot cannot keep away more
 * than what comes in it. And pausePending is in no prediction until its slot
 * begins: so each packet that leaves in the last moments of a slot would find the
 * same congestion and add another pause.
 *
 * Return: for how long the port is to be paused from now on, ns. Pauses add up
 * (§III-B), so what is left of earlier ones is included. 2 x @t_hop at most.
 */
u32 bfc_slots_pause(struct bfc_slots *s, u64 now, u32 t_hop, u64 rate,
		    u32 pause)
{
	u32 room, this_slot = pause, next_slot = 0;

	bfc_slots_advance(s, now, t_hop);
	if (!s->end) {
		s->end = now + t_hop;
	} else {
		/* The rest of this slot, without what is paused already. */
		room = t_hop - bfc_slots_time(s->next, rate, t_hop);
		if (room > s->end - now)
			room = s->end - now;
		if (this_slot > room)
			this_slot = room;
		next_slot = pause - this_slot;
		room = t_hop - bfc_slots_time(s->pending, rate, t_hop);
		if (next_slot > room)
			next_slot = room;
	}
	s->next += bfc_slots_amount(rate, this_slot, t_hop);
	s->pending += bfc_slots_amount(rate, next_slot, t_hop);
	if (s->until < now)
		s->until = now;
	s->until += this_slot + next_slot;
	/* Only if the rate has changed in between: else pauses end with the slots. */
	if (s->until > s->end + t_hop)
		s->until = s->end + t_hop;
	return s->until - now;
}
