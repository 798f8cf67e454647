// SPDX-License-Identifier: GPL-2.0
/*
 * A host that FAFC pauses lowers its rate for a while (FAFC Alg. 3): the qdisc
 * paces each priority. The arithmetic is in bfc_fafc.c. Everything here runs
 * under the root lock.
 */
#include "bfc.h"

/* T_hop of the switch whose pauses these are, ns; this host's if it does not say its own. The host
 * sees the hop to it alone, the switch all of its hops.
 */
static u32 bfc_host_t_hop(const struct bfc_sched *q)
{
	u32 told = READ_ONCE(q->port->rx.t_hop);

	return told ? clamp_t(u32, told, BFC_THOP_MIN, BFC_THOP_MAX) : q->cfg->holt.t_hop;
}

/* Let the rate of a priority recover. */
static void bfc_pace_recover(const struct bfc_sched *q, struct bfc_host *pace,
			     u64 now)
{
	pace->rate = bfc_fafc_recover(pace->rate, q->cfg->rate, now - pace->updated,
				      bfc_host_t_hop(q));
	pace->updated = now;
}

/**
 * bfc_host_paused() - PauseReceive() of Alg. 3: a host that was paused lowers
 * its rate of that priority for a while, for all flows alike
 * @q: scheduler of the host
 * @now: ns
 *
 * A pause longer than any that FAFC computes is one of the PFC backstop: the rate does not
 * follow from it.
 *
 * Context: under the root lock.
 */
void bfc_host_paused(struct bfc_sched *q, u64 now)
{
	u32 t_hop = bfc_host_t_hop(q);
	unsigned int prio;

	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		u64 until = READ_ONCE(q->port->rx.until[prio]);
		struct bfc_host *pace = &q->host.pace[prio];
		u64 from = max(pace->until, now);

		pace->until = until;
		if (until <= from || until - now > 2ULL * t_hop ||
		    q->storm.ignoring & BIT(prio))
			continue;
		if (!(q->host.paced & BIT(prio))) {
			pace->rate = q->cfg->rate;
			pace->next = now;
		}
		bfc_pace_recover(q, pace, now);
		pace->rate = bfc_fafc_pace(pace->rate,
					   min_t(u64, until - from, t_hop),
					   t_hop, bfc_fafc_floor(q->cfg->rate));
		q->host.paced |= BIT(prio);
	}
}

/**
 * bfc_host_waits() - priorities that could send, but must wait after their last packet
 * @q: scheduler of the host
 * @now: ns
 *
 * Context: under the root lock.
 * Return: bit p: priority p.
 */
u8 bfc_host_waits(struct bfc_sched *q, u64 now)
{
	unsigned long paced = q->host.paced & ~q->obeyed.prios;
	u64 whole = bfc_fafc_recovery(bfc_host_t_hop(q));
	unsigned int prio;
	u8 waits = 0;

	for_each_set_bit(prio, &paced, BFC_PRIORITIES) {
		const struct bfc_host *pace = &q->host.pace[prio];

		if (now - pace->updated >= whole)
			q->host.paced &= ~BIT(prio);	/* at full speed again */
		else if (q->prio[prio].bytes && now < pace->next)
			waits |= BIT(prio);
	}
	return waits;
}

/**
 * bfc_host_due() - when may a priority that waits send again?
 * @q: scheduler of the host
 * @waits: bfc_host_waits()
 *
 * Context: under the root lock.
 * Return: ns; U64_MAX: none waits.
 */
u64 bfc_host_due(const struct bfc_sched *q, unsigned long waits)
{
	unsigned int prio;
	u64 due = U64_MAX;

	for_each_set_bit(prio, &waits, BFC_PRIORITIES)
		due = min(due, q->host.pace[prio].next);
	return due;
}

/**
 * bfc_host_sent() - a packet leaves: when may the next one of its priority?
 * @q: scheduler of the host
 * @prio: one that is paced
 * @len: of the packet, bytes
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_host_sent(struct bfc_sched *q, unsigned int prio, u32 len, u64 now)
{
	u64 whole = bfc_fafc_recovery(bfc_host_t_hop(q));
	struct bfc_host *pace = &q->host.pace[prio];

	bfc_pace_recover(q, pace, now);
	pace->next = bfc_pace_from(pace->next, q->host.waited & BIT(prio), now);
	pace->next += div64_u64(len * BFC_NSEC_PER_SEC, pace->rate);
	pace->next = min(pace->next, now + whole);
	q->host.waited &= ~BIT(prio);
	if (pace->rate == q->cfg->rate)
		q->host.paced &= ~BIT(prio);
}
