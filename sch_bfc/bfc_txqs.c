// SPDX-License-Identifier: GPL-2.0
/*
 * The shared state of the schedulers of a port, if each TX queue has one (bfc_mq.c):
 *
 *  - N_active: a queue has a share of the link, not of its TX queue. The card serves in turn
 *    the TX queues that have packets, so that this share is 1 / (TX queues that have packets x
 *    active queues of this one). With a rate, turns are as long as a TX queue has active queues,
 *    and the share is 1 / (active queues of all). The numbers of others are as of the last look.
 *  - the limit: an eighth is reserved for the TX queues in equal parts, so that none keeps
 *    another from queueing anything. What they hold beyond that is added up in steps
 *    (&bfc_cfg.batch); room for one step of each is kept free, too.
 *  - the rate: a scheduler takes a turn, that is, a number of bytes, after the turns that
 *    others have taken, and sends these bytes at that rate.
 */
#include "bfc.h"

/**
 * bfc_txqs_put() - one user less
 * @all: what they share
 */
void bfc_txqs_put(struct bfc_txqs *all)
{
	if (refcount_dec_and_test(&all->users))
		kvfree(all);
}

/**
 * bfc_txqs_account() - tell the others what this one holds, and learn what it may hold
 * @q: a scheduler of a TX queue
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_txqs_account(struct bfc_sched *q)
{
	u32 own = q->mem - q->ctrl.mem, reserve = q->cfg->reserve;
	u32 more = own > reserve ? own - reserve : 0;
	long others;

	if (more == q->txq.told)
		others = atomic_long_read(&q->txq.all->mem) - more;
	else
		others = atomic_long_add_return((long)more - q->txq.told, &q->txq.all->mem) - more;
	q->txq.told = more;
	q->room = reserve + max((long)q->cfg->pool - others, 0L);
	q->brim = min(q->room, max(own, reserve) + q->cfg->batch);
}

/**
 * bfc_txqs_over() - whether a scheduler is over its share of the port's limit
 * @q: a scheduler of a TX queue that holds more than &bfc_sched.brim
 *
 * Context: under the root lock.
 * Return: true if it is.
 */
bool bfc_txqs_over(struct bfc_sched *q)
{
	bfc_txqs_account(q);
	return q->mem - q->ctrl.mem > q->room;
}

/**
 * bfc_txqs_configured() - a scheduler has a new configuration
 * @q: a scheduler of a TX queue
 *
 * Context: under the root lock.
 */
void bfc_txqs_configured(struct bfc_sched *q)
{
	q->drr.times = 1;
	q->drr.more = 0;
	q->txq.look = 0;
	bfc_txqs_account(q);
}

/**
 * bfc_txqs_forget() - a scheduler has no turn of the rate, as there is another rate
 * @q: a scheduler of a TX queue
 *
 * Context: under the root lock.
 */
void bfc_txqs_forget(struct bfc_sched *q)
{
	q->txq.turn = 0;
	q->txq.excess = 0;
	q->txq.fair = 0;
	q->next_tx = 0;
}

/* Count the TX queues that have something to send, and the active queues of the others. */
static void bfc_txqs_look(struct bfc_sched *q, u64 now)
{
	struct bfc_txqs *all = q->txq.all;
	unsigned int i, busy = 1, more = 0, used = READ_ONCE(all->used);

	q->txq.look = now + q->cfg->sync;
	rcu_read_lock();
	for (i = 0; i < used; i++) {
		const struct bfc_sched *one = rcu_dereference(all->each[i].q);
		u32 nactive = one && one != q ? READ_ONCE(one->drr.nactive) : 0;

		busy += !!nactive;
		more += nactive;
	}
	rcu_read_unlock();
	/* A rate is shared by queues, a link by TX queues. */
	q->drr.times = q->cfg->shapes ? 1 : min_t(unsigned int, busy, U8_MAX);
	q->drr.more = q->cfg->shapes ? more : 0;
}

/**
 * bfc_txqs_settled() - some packets have left since the last call, or none may
 * @q: a scheduler of a TX queue
 * @now: ns
 *
 * Context: under the root lock.
 */
void bfc_txqs_settled(struct bfc_sched *q, u64 now)
{
	if (q->txq.told && q->mem - q->ctrl.mem + q->cfg->batch <= q->txq.told + q->cfg->reserve)
		bfc_txqs_account(q);
	if (now >= q->txq.look) {
		bfc_txqs_look(q, now);
		/* Others may have taken more since then: then this one may hold less. */
		if (q->txq.told)
			bfc_txqs_account(q);
	}
}

/* When the next turn may begin if others have something to send as well, ns; 0: any time. If
 * turns have room for a quantum of each active queue, it is fair that TX queues take turns
 * one after another. If turns have to be shorter, each TX queue may take its next turn after
 * its part of the time that all of them take. If it took this turn late, or early as others
 * took none, that is made up for, by one such interval at most.
 */
static u64 bfc_txqs_fair(const struct bfc_sched *q, u64 begins, u32 bytes, u64 most)
{
	u32 active = max(q->drr.nactive, 1U);
	u64 apart;

	if (most >= (u64)(active + q->drr.more) * q->cfg->quantum)
		return 0;
	/* With what was sent beyond the turn before. */
	apart = psched_l2t_ns(&q->cfg->pace, bytes + q->txq.excess);
	apart = div_u64(apart * (active + q->drr.more), active);
	return clamp(q->txq.fair, begins - min(begins, apart), begins + apart) + apart;
}

/**
 * bfc_txqs_turn() - take a turn: bytes of the port's rate, after those that others took
 * @q: a scheduler of a TX queue, with a backlog and a rate; its turn is over
 * @now: ns
 *
 * A turn has a quantum for each active queue, so that queues of all TX queues get the same.
 * But it takes BFC_TURN_NS at most, so that new packets of other TX queues need not wait
 * long, and it is no longer than what is queued, so that a short packet takes no more time than
 * it needs. While turns of others are not over, none is taken that would begin before
 * &bfc_sched_txq.fair. But the link does not stand still for that.
 *
 * Context: under the root lock.
 */
void bfc_txqs_turn(struct bfc_sched *q, u64 now)
{
	u64 most = max_t(u64, bfc_bytes_in(q->cfg->rate, BFC_TURN_NS), q->cfg->quantum);
	s64 next = atomic64_read(&q->txq.all->next_tx);
	u64 length, begins;
	u32 bytes;

	if (now >= q->txq.look)
		bfc_txqs_look(q, now);
	bytes = min_t(u64, (u64)q->cfg->quantum * max(q->drr.nactive, 1U), most);
	bytes = clamp(bfc_qdisc_of(q)->qstats.backlog, 1U, bytes);
	length = psched_l2t_ns(&q->cfg->pace, bytes);
	do {
		if (next > (s64)now && q->txq.fair > next) {
			q->next_tx = next;
			return;
		}
		/* Turns that were given back may make it negative soon after boot. */
		begins = bfc_pace_from(max_t(s64, next, 0), !q->idle, now);
	} while (!atomic64_try_cmpxchg(&q->txq.all->next_tx, &next, begins + length));
	q->txq.fair = bfc_txqs_fair(q, begins, bytes, most);
	q->txq.excess = 0;
	q->txq.turn = bytes;
	q->next_tx = begins;
}

/**
 * bfc_txqs_spend() - charge bytes that have left to the turn
 * @q: a scheduler of a TX queue, with a rate
 * @bytes: what they take of the rate
 * @own: they are of a frame of the port itself, and no part of what its queues get
 *
 * If a packet is longer than the rest of the turn, the excess delays the next turn of all TX
 * queues, and counts for the time to the next turn of this one.
 *
 * Context: under the root lock.
 */
void bfc_txqs_spend(struct bfc_sched *q, u32 bytes, bool own)
{
	if (bytes > q->txq.turn) {
		bytes -= q->txq.turn;
		atomic64_add(psched_l2t_ns(&q->cfg->pace, bytes), &q->txq.all->next_tx);
		if (!own)
			q->txq.excess += bytes;
		bytes = q->txq.turn;
	}
	q->txq.turn -= bytes;
}

/**
 * bfc_txqs_give_back() - leave the rest of a turn to other TX queues: nothing may leave in it
 * @q: a scheduler of a TX queue, with a rate
 *
 * Context: under the root lock, or the qdisc is not in use.
 */
void bfc_txqs_give_back(struct bfc_sched *q)
{
	atomic64_sub(psched_l2t_ns(&q->cfg->pace, q->txq.turn), &q->txq.all->next_tx);
	q->txq.turn = 0;
}

/**
 * bfc_txqs_sum() - bytes that the port holds and has sent, for a program that stamps
 * @q: scheduler of one of its TX queues
 * @backlog: result: bytes queued in all of them
 * @sent: result: bytes that have left them
 *
 * They are added up from counters that each scheduler has anyway: without a program nothing
 * is written or read for it. With one, each packet reads two cache lines of each other
 * scheduler. This CPU has the lines of idle ones already; for all others it waits once, as
 * no load needs another's result. A common counter would be one line, but the backlog
 * changes at enqueue as well: two atomic operations for each packet, one after another for
 * all CPUs.
 *
 * @sent never goes back from a packet to the next one, as no summand does: a TX queue that
 * is not used any more counts, too, and no scheduler goes away while packets leave.
 *
 * Context: under the root lock of one of them.
 */
void bfc_txqs_sum(const struct bfc_sched *q, u32 *backlog, u64 *sent)
{
	struct bfc_txqs *all = q->txq.all;
	unsigned int i, n = READ_ONCE(all->most);

	*backlog = 0;
	*sent = 0;
	rcu_read_lock();
	for (i = 0; i < n; i++) {
		struct bfc_sched *one = rcu_dereference(all->each[i].q);
		const struct Qdisc *sch;
		unsigned int start;
		u64 bytes;

		if (!one)
			continue;
		sch = bfc_qdisc_of(one);
		do {
			start = u64_stats_fetch_begin(&sch->bstats.syncp);
			bytes = u64_stats_read(&sch->bstats.bytes);
		} while (u64_stats_fetch_retry(&sch->bstats.syncp, start));
		*sent += bytes;
		*backlog += READ_ONCE(sch->qstats.backlog);
	}
	rcu_read_unlock();
}

/**
 * bfc_txqs_prio_sent() - packets of a priority that the neighbour let the port send
 * @q: scheduler of one of its TX queues
 * @prio: the priority
 *
 * For watchdogs, which look for a change.
 *
 * Context: under the root lock of one of them.
 * Return: packets of all of them.
 */
u64 bfc_txqs_prio_sent(const struct bfc_sched *q, unsigned int prio)
{
	struct bfc_txqs *all = q->txq.all;
	unsigned int i, n = READ_ONCE(all->most);
	u64 sent = 0;

	rcu_read_lock();
	for (i = 0; i < n; i++) {
		const struct bfc_sched *one = rcu_dereference(all->each[i].q);

		if (one)
			sent += READ_ONCE(one->prio[prio].sent);
	}
	rcu_read_unlock();
	return sent;
}
