// SPDX-License-Identifier: GPL-2.0
/*
 * Obey the neighbour: pause and resume queues by the set of pauses that the hook stored. A pause
 * lasts until the neighbour ends it, its time is over, or it is taken for a storm. Everything
 * here runs under the root lock of the qdisc. If each TX queue has a scheduler, all of them take
 * over the same pauses, each when it runs, and each has its own watchdogs: a pause is a storm
 * only for schedulers that have packets it holds back.
 */
#include "bfc.h"
#include "bfc_trace.h"

/* A pause has ended. */
static void bfc_pause_over(struct bfc_sched *q, u64 ns)
{
	q->stats.paused_ns += ns;
	q->stats.pause_times[bfc_pause_time(ns)]++;
}

/* Take over the root of a pause, if the neighbour has sent one. */
static void bfc_queue_root(struct bfc_sched *q, unsigned int qn)
{
	u32 root = bfc_root_told(q, qn);

	if (root != BFC_ROOT_UNKNOWN)
		bfc_dest_rooted(q, &q->queues[qn], root);
}

static void bfc_queue_pause(struct bfc_sched *q, unsigned int qn, u64 now)
{
	struct bfc_queue *queue = &q->queues[qn];

	bfc_bit_set(qn, q->obeyed.paused);
	q->obeyed.pauses[qn].since = now;
	q->obeyed.pauses[qn].count++;
	q->obeyed.npaused++;
	q->stats.queue_paused_ns -= now;
	q->stats.pause_rx++;
	trace_bfc_paused(q->port->dev, q->base + qn, queue->bytes);
	if (queue->head)
		bfc_queue_deactivate(q, queue);
	else
		bfc_bit_clear(qn, q->usable);
	if (q->cfg->by_root)
		bfc_queue_root(q, qn);
	if (q->cfg->by_dest)
		bfc_dest_paused(q, queue);
}

static void bfc_queue_resume(struct bfc_sched *q, unsigned int qn, u64 now)
{
	struct bfc_queue *queue = &q->queues[qn];
	u64 ns = now - q->obeyed.pauses[qn].since;

	bfc_bit_clear(qn, q->obeyed.paused);
	q->obeyed.pauses[qn].ns += ns;
	if (q->obeyed.by_queue)
		bfc_pause_over(q, ns);
	q->obeyed.npaused--;
	q->stats.queue_paused_ns += now;
	q->stats.resume_rx++;
	trace_bfc_resumed(q->port->dev, q->base + qn, queue->bytes);
	if (queue->head) {
		bfc_queue_activate(q, queue, false);
		return;
	}
	bfc_bit_set(qn, q->usable);
	if (q->cfg->by_dest)
		bfc_dest_emptied(q, queue);
}

/* The schedulers of all TX queues obey the pause of a priority; the first one counts it for the
 * port.
 */
static void bfc_prio_resume(struct bfc_sched *q, unsigned int prio, u64 now)
{
	u64 ns = now - q->prio[prio].since;

	q->prio[prio].ns += ns;
	if (!q->txq.index)
		bfc_pause_over(q, ns);
}

/**
 * bfc_watch_reset() - forget all storms
 * @q: scheduler
 * @prios: the mode that they are of pauses priorities
 *
 * An event was sent for each storm, so one is sent for its end.
 *
 * Context: under the root lock.
 */
void bfc_watch_reset(struct bfc_sched *q, bool prios)
{
	unsigned int prio;

	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		if (q->storm.watch[prio].state == BFC_WD_IGNORE)
			bfc_event_storm(q->port, prio, prios, false, 0);
	q->storm.ignoring = 0;
	memset(q->storm.watch, 0, sizeof(q->storm.watch));
	q->storm.due = U64_MAX;
}

/* Storms and hold-offs are those of the neighbour whose pauses they were. */
static void bfc_watch_anew(struct bfc_sched *q)
{
	u32 parted = READ_ONCE(q->port->rx.parted);

	if (likely(parted == q->storm.parted))
		return;
	q->storm.parted = parted;
	bfc_watch_reset(q, q->cfg->prios);
}

/* Step the watchdog of a priority, or that of all queues: a pause that is a storm is not obeyed.
 * bfc_watchdog.h defines progress. A neighbour that speaks BFC reports what it has drained; for
 * another one progress is what could be sent to it.
 */
static void bfc_watch(struct bfc_sched *q, unsigned int prio, bool paused,
		      u64 progress, u64 now)
{
	u8 bits = q->cfg->prios ? BIT(prio) : 0xff;
	struct bfc_watchdog *w = &q->storm.watch[prio];
	unsigned int what = bfc_watchdog_step(w, &q->cfg->storm, paused, progress,
					      now);

	if (what & BFC_WD_STORM) {
		q->storm.ignoring |= bits;
		q->stats.storms++;
	} else if (what & BFC_WD_RESTORE) {
		q->storm.ignoring &= ~bits;
		q->stats.restored++;
	}
	q->storm.due = min(q->storm.due, bfc_watchdog_due(w, &q->cfg->storm));
	if (!what)
		return;
	bfc_event_storm(q->port, prio, q->cfg->prios, what & BFC_WD_STORM, w->holdoff);
	trace_bfc_storm(q->port->dev, prio, what & BFC_WD_STORM, w->holdoff);
}

/* Packets of a priority that the neighbour let the port send, from all TX queues: while one of
 * them is paused another may still have sent.
 */
static u64 bfc_prio_sent(const struct bfc_sched *q, unsigned int prio)
{
	return q->txq.all ? bfc_txqs_prio_sent(q, prio) : q->prio[prio].sent;
}

static void bfc_watch_prios(struct bfc_sched *q, u8 paused, u64 now)
{
	unsigned int prio;

	q->storm.due = U64_MAX;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		const struct bfc_watchdog *w = &q->storm.watch[prio];
		bool waits = paused & BIT(prio) && q->prio[prio].bytes;

		/* What moves in a gap shows when it ends: sums of priorities at peace are saved. */
		bfc_watch(q, prio, waits,
			  waits || w->paused ? bfc_prio_sent(q, prio) : w->progress, now);
	}
}

/* A word of pauses: those of queue @first of the port and of the queues behind it. */
static unsigned long bfc_told_queues(const struct bfc_port *port, unsigned int first)
{
	unsigned int w = first / BITS_PER_LONG, shift = first % BITS_PER_LONG;
	unsigned long told = READ_ONCE(port->rx.paused[w]) >> shift;

	if (shift && w + 1 < BITS_TO_LONGS(BFC_QUEUES_MAX))
		told |= READ_ONCE(port->rx.paused[w + 1]) << (BITS_PER_LONG - shift);
	return told;
}

/* True if the neighbour pauses any queue of the scheduler. */
static bool bfc_is_told(const struct bfc_sched *q)
{
	unsigned int qn;

	for (qn = 0; qn < q->nqueues; qn += BITS_PER_LONG) {
		unsigned long told = bfc_told_queues(q->port, q->base + qn);

		if (q->nqueues - qn < BITS_PER_LONG)
			told &= BITMAP_LAST_WORD_MASK(q->nqueues);
		if (told)
			return true;
	}
	return false;
}

/* Called before the neighbour's new set is taken over. One watchdog is enough for all queues, as
 * the neighbour reports what it has drained for all of them in one number.
 */
static void bfc_watch_queues(struct bfc_sched *q, u64 now)
{
	bool paused = bfc_is_told(q) &&
		      now < READ_ONCE(q->port->rx.deadline) &&
		      (q->noccupied > q->drr.nactive || q->storm.ignoring);

	q->storm.due = U64_MAX;
	bfc_watch(q, 0, paused, READ_ONCE(q->port->rx.drained), now);
}

/* Bits of queues from bits of priorities: queue q has priority q % 8. */
static unsigned long bfc_prio_pattern(u8 paused)
{
	return paused * (~0UL / 0xff);	/* in each byte */
}

/* Take over the priorities that the neighbour holds paused; return them as a pattern of queues. */
static unsigned long bfc_merge_prio(struct bfc_sched *q, u64 now)
{
	u8 paused = bfc_prio_paused(q, now);
	unsigned long diff;
	unsigned int prio;

	bfc_watch_prios(q, paused, now);
	paused &= ~q->storm.ignoring;
	diff = paused ^ q->obeyed.prios;
	if (q->cfg->role == BFC_ROLE_NIC && q->cfg->fc->paces)
		bfc_host_paused(q, now);
	for_each_set_bit(prio, &diff, BFC_PRIORITIES) {
		if (paused & BIT(prio)) {
			q->prio[prio].since = now;
			q->prio[prio].pauses++;
		} else {
			bfc_prio_resume(q, prio, now);
		}
	}
	q->obeyed.prios = paused;
	q->host.waited &= ~paused;
	return bfc_prio_pattern(paused);
}

/* Queues of word @w that are paused: by the pattern @prio where priorities are paused, else by
 * the set that the hook stored last. Bits behind the last queue have no meaning.
 */
static unsigned long bfc_told(const struct bfc_sched *q, unsigned int w,
			      bool none, unsigned long prio)
{
	if (q->cfg->prios)
		return prio;
	return none ? 0 : bfc_told_queues(q->port, q->base + w * BITS_PER_LONG);
}

/* Of the queues that are resumed, the one with packets that was served longest ago. */
static unsigned int bfc_resume_first(const struct bfc_sched *q, bool none,
				     unsigned long prio)
{
	unsigned int w, bit, first = 0;
	u32 longest = 0;

	for (w = 0; w < BITS_TO_LONGS(q->nqueues); w++) {
		unsigned long end = q->obeyed.paused[w] & ~bfc_told(q, w, none, prio);

		for_each_set_bit(bit, &end, BITS_PER_LONG) {
			unsigned int qn = w * BITS_PER_LONG + bit;
			u32 ago = q->drr.served - q->queues[qn].served;

			if (!q->queues[qn].head || ago <= longest)
				continue;
			longest = ago;
			first = qn;
		}
	}
	return first;
}

/* When the pause of a paused queue ends by itself, ns. */
static u64 bfc_paused_until(const struct bfc_sched *q, unsigned int qn)
{
	return q->cfg->prios ? q->prio[bfc_queue_class(q, qn)].until :
			       q->obeyed.deadline;
}

/* Queues that are resumed join the end of the round by ascending number, beginning with the one
 * that was served longest ago. If they began with the lowest number, those with higher numbers
 * would get no turn between two pauses.
 */
static void bfc_resume_queues(struct bfc_sched *q, bool none,
			      unsigned long prio, u64 now)
{
	unsigned int first = bfc_resume_first(q, none, prio);
	unsigned int words = BITS_TO_LONGS(q->nqueues), i, w, bit;
	unsigned long before = BIT(first % BITS_PER_LONG) - 1;

	for (i = 0; i <= words; i++) {
		unsigned long end;

		w = (first / BITS_PER_LONG + i) % words;
		end = q->obeyed.paused[w] & ~bfc_told(q, w, none, prio);
		if (!i)
			end &= ~before;
		else if (i == words)
			end &= before;
		for_each_set_bit(bit, &end, BITS_PER_LONG) {
			unsigned int qn = w * BITS_PER_LONG + bit;
			u64 until = min(now, bfc_paused_until(q, qn));

			/* That time may be of another mode, which has ended. */
			if (until < q->obeyed.pauses[qn].since)
				until = now;
			bfc_queue_resume(q, qn, until);
		}
	}
}

/**
 * bfc_merge_pauses() - take over the set that the hook stored last
 * @q: scheduler
 * @gen: &bfc_port.rx.gen as it was read before, with acquire
 * @now: ns
 *
 * The hook may be writing the next set meanwhile: it changes &bfc_rx.gen after that, and
 * schedules the qdisc again.
 *
 * Context: under the root lock.
 */
void bfc_merge_pauses(struct bfc_sched *q, u32 gen, u64 now)
{
	unsigned long prio = 0;
	unsigned int w, bit, qn;
	bool none;

	bfc_watch_anew(q);
	if (q->cfg->prios)
		prio = bfc_merge_prio(q, now);
	else
		bfc_watch_queues(q, now);
	none = !q->cfg->prios &&
	       (q->storm.ignoring || now >= READ_ONCE(q->port->rx.deadline));
	/* First: else a queue that is paused now could join one that this frame resumes. */
	if (q->obeyed.npaused)
		bfc_resume_queues(q, none, prio, now);
	for (w = 0; w < BITS_TO_LONGS(q->nqueues); w++) {
		unsigned long new = bfc_told(q, w, none, prio) & ~q->obeyed.paused[w];

		for_each_set_bit(bit, &new, BITS_PER_LONG) {
			qn = w * BITS_PER_LONG + bit;
			if (qn >= q->nqueues)
				break;
			bfc_queue_pause(q, qn, now);
		}
	}
	if (q->cfg->by_root)	/* queues that stay paused may have another root */
		for_each_set_bit(qn, q->obeyed.paused, q->nqueues)
			bfc_queue_root(q, qn);
	if (!q->cfg->prios) {
		q->obeyed.deadline = READ_ONCE(q->port->rx.deadline);
		/* Begin to watch queues with packets that this very set has paused: it may be the
		 * neighbour's last.
		 */
		if (q->obeyed.npaused && !q->storm.watch[0].paused)
			bfc_watch_queues(q, now);
	}
	q->obeyed.by_queue = !q->cfg->prios;
	q->obeyed.gen = gen;
}

/**
 * bfc_expire_pauses() - end the pauses that have expired, accounted up to their expiry
 * @q: scheduler
 * @now: ns
 *
 * An idle port has no timer for this: the next packet, the next pause or a
 * request for statistics calls it.
 *
 * Context: under the root lock.
 */
void bfc_expire_pauses(struct bfc_sched *q, u64 now)
{
	unsigned long over = 0, last = q->obeyed.prios;
	u32 before = q->obeyed.npaused;
	unsigned int prio;

	if (likely(!q->obeyed.npaused || now < q->obeyed.deadline))
		return;
	for_each_set_bit(prio, &last, BFC_PRIORITIES)
		if (q->prio[prio].until <= now)
			over |= BIT(prio);
	bfc_resume_queues(q, !q->cfg->prios, bfc_prio_pattern(last & ~over), now);
	q->stats.expired += before - q->obeyed.npaused;
	if (!q->cfg->prios)
		return;
	for_each_set_bit(prio, &over, BFC_PRIORITIES)
		bfc_prio_resume(q, prio, q->prio[prio].until);
	q->obeyed.prios &= ~over;
	bfc_merge_pauses(q, q->obeyed.gen, now);
}

/**
 * bfc_rx_prio_end() - end the pauses of all priorities, as the mode has changed or the link is
 * down
 * @q: scheduler
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_rx_prio_end(struct bfc_sched *q, u64 now)
{
	unsigned long paused = q->obeyed.prios;
	unsigned int prio;

	for_each_set_bit(prio, &paused, BFC_PRIORITIES)
		bfc_prio_resume(q, prio, min(q->prio[prio].until, now));
	q->obeyed.prios = 0;
}
