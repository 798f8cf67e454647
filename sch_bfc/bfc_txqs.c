// SPDX-License-Identifier: GPL-2.0
/*
 * What the schedulers of a port share, where each TX queue has one (bfc_mq.c):
 *
 *  - N_active: a queue gets its share of the link, not of its TX queue. The card serves TX
 *    queues that have something in turn, so that this is 1 / (TX queues that have something
 *    x active queues of this one); with a rate turns go by active queues, and it is
 *    1 / (active queues of all). Of others it is known how it was at the last look.
 *  - the limit: an eighth is for all TX queues in equal parts, so that none keeps another
 *    from queueing anything. What they hold beyond is added up in steps (&bfc_cfg.batch),
 *    which are kept free, too.
 *  - the rate: a scheduler takes a turn, so many bytes at the end of those that others
 *    took, and sends them at that rate.
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
 * bfc_txqs_account() - tell the others what is held, and learn what is left
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
 * bfc_txqs_over() - is a scheduler over its share of the port's limit?
 * @q: a scheduler of a TX queue that holds more than &bfc_sched.brim
 *
 * Context: under the root lock.
 * Return: whether.
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
	q->txq.turn = 0;
	q->txq.excess = 0;
	q->txq.fair = 0;
	bfc_txqs_account(q);
}

/* How many of the other TX queues have something to send, and how many queues? */
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
		/* What others have taken since then, this one may hold no longer. */
		if (q->txq.told)
			bfc_txqs_account(q);
	}
}

/* When may the next turn begin, if others have something to send as well? If turns have
 * room for a quantum of each active queue, all TX queues in turn are fair. If some have to be
 * shorter, each TX queue comes again after its part of the time that all of them take. What
 * it was late by is made up for, and what it was early by, since others took nothing; of one
 * turn at most.
 */
static u64 bfc_txqs_fair(const struct bfc_sched *q, u64 begins, u32 bytes, u64 most)
{
	u32 active = max(q->drr.nactive, 1U);
	u64 apart;

	if (most >= (u64)(active + q->drr.more) * q->cfg->quantum)
		return 0;
	/* With what was more than the turn before. */
	apart = psched_l2t_ns(&q->cfg->pace, bytes + q->txq.excess);
	apart = div_u64(apart * (active + q->drr.more), active);
	return clamp(q->txq.fair, begins - min(begins, apart), begins + apart) + apart;
}

/**
 * bfc_txqs_turn() - take so many bytes of the port's rate, after those that others took
 * @q: a scheduler of a TX queue, with a backlog and a rate; its turn is over
 * @now: ns
 *
 * A quantum for each active queue, so that queues of all TX queues get the same, but for
 * BFC_TURN_NS at most, so that what is new elsewhere need not wait long. While others have
 * taken theirs none is taken too soon; but the link does not stand still for that.
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
	length = psched_l2t_ns(&q->cfg->pace, bytes);
	do {
		if (next > now && q->txq.fair > next) {
			q->next_tx = next;
			return;
		}
		begins = bfc_pace_from(next, !q->idle, now);
	} while (!atomic64_try_cmpxchg(&q->txq.all->next_tx, &next, begins + length));
	q->txq.fair = bfc_txqs_fair(q, begins, bytes, most);
	q->txq.excess = 0;
	q->txq.turn = bytes;
	q->next_tx = begins;
}

/**
 * bfc_txqs_spend() - so many bytes of a turn have left
 * @q: a scheduler of a TX queue, with a rate
 * @bytes: what they take of the rate
 *
 * What a packet is longer than the turn comes off the time of all, and of the next turn of
 * this one.
 *
 * Context: under the root lock.
 */
void bfc_txqs_spend(struct bfc_sched *q, u32 bytes)
{
	if (bytes > q->txq.turn) {
		bytes -= q->txq.turn;
		atomic64_add(psched_l2t_ns(&q->cfg->pace, bytes), &q->txq.all->next_tx);
		q->txq.excess += bytes;
		bytes = q->txq.turn;
	}
	q->txq.turn -= bytes;
}

/**
 * bfc_txqs_sum() - what the port holds and has sent, for a program that stamps
 * @q: scheduler of one of its TX queues
 * @backlog: result: bytes queued in all of them
 * @sent: result: bytes that have left them
 *
 * They are added up from what each scheduler counts anyway: without a program nothing is
 * written or read for it. With one, each packet reads two cache lines of each other scheduler.
 * This CPU has those of idle ones already; for the others it waits once, as no load needs
 * another's result. A common counter would be one line, but the backlog changes at enqueue as
 * well: two atomic operations for each packet, one after another for all CPUs.
 *
 * @sent never goes back for packets that leave one after another, as no summand does: a TX
 * queue that is not used any more counts, too, and none goes while packets leave.
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
