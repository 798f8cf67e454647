// SPDX-License-Identifier: GPL-2.0
/*
 * What tc -s sees: statistics of the qdisc, of its port and of its queues.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/netlink.h>
#include <net/net_namespace.h>

#include "bfc.h"

/* ---- statistics ---- */

/**
 * bfc_put_uint() - put a number
 * @skb: message
 * @attr: attribute
 * @width: of it, bytes
 * @v: value
 *
 * Return: 0 or -EMSGSIZE.
 */
int bfc_put_uint(struct sk_buff *skb, int attr, u8 width, u64 v)
{
	switch (width) {
	case sizeof(u8):
		return nla_put_u8(skb, attr, v);
	case sizeof(u32):
		return nla_put_u32(skb, attr, v);
	default:
		return nla_put_u64_64bit(skb, attr, v, TCA_BFC_PAD);
	}
}

/* Statistics read under port->lock, and put into the message without it. */
struct bfc_port_stats {
	struct bfc_port_pcpu pcpu;
	struct bfc_peer peer;
	u64 bad[BFC_BAD_MAX];
	u64 frames_rx;
	u64 pfc_rx;
	u64 pfc_bad;
	u64 mac_pause_rx;
	u64 hello_rx;
	u64 hello_tx;
	u64 refresh;
	u64 hold;
	u64 refused_rate;
	u64 counters;
	u32 state;
	u32 refused;
	u32 xoff;
	u32 xon;
	u32 headroom;
	u32 beyond;
	u32 buffer_size;
	u32 buffer_used;
	u32 buffer_peak;
	u32 held;
	u32 prio_held[BFC_PRIORITIES];
	u32 prio_headroom[BFC_PRIORITIES];
	u32 prio_peak[BFC_PRIORITIES];
};

/* Read the thresholds in effect, and what is held. */
static void bfc_port_read_conf(struct bfc_port *port, struct bfc_port_stats *s)
{
	const struct bfc_cfg *cfg = port->cfg;
	const struct bfc_buffer *buffer = cfg ? cfg->buffer : NULL;
	const struct bfc_ingress *ing;
	unsigned int prio;
	u32 left = 0;

	lockdep_assert_held(&port->lock);
	if (cfg && cfg->speed != port->life.speed)
		s->refused_rate = port->link_rate;
	if (buffer) {
		s->buffer_size = READ_ONCE(buffer->pool.size);
		left = bfc_pool_free(s->buffer_size,
				     atomic_long_read(&buffer->pool.shared));
		s->buffer_used = s->buffer_size - left;
		s->buffer_peak = READ_ONCE(buffer->peak);
	}
	if (cfg && cfg->fc->prios) {
		s->xoff = min_t(u64, bfc_pfc_xoff_at(&cfg->in, left), U32_MAX);
		s->xon = min_t(u64, bfc_pfc_xon_at(&cfg->in, left), U32_MAX);
		s->headroom = cfg->in.headroom;
		s->beyond = cfg->cell.beyond;
	}
	ing = bfc_ingress_of(port);
	for (prio = 0; ing && prio < BFC_PRIORITIES; prio++) {
		const struct bfc_held *held = &ing->charges->held[prio];
		u64 word = atomic64_read(&held->cell.word);

		s->prio_held[prio] = bfc_cell_held(word);
		s->prio_headroom[prio] = bfc_cell_headroom(word);
		s->prio_peak[prio] = READ_ONCE(held->peak);
		s->held += s->prio_held[prio];
	}
}

static void bfc_port_read(struct bfc_port *port, struct bfc_port_stats *s)
{
	const struct bfc_ingress *ing;
	unsigned int i;
	int cpu;

	memset(s, 0, sizeof(*s));
	for_each_possible_cpu(cpu) {
		const struct bfc_port_pcpu *c = per_cpu_ptr(port->pcpu, cpu);

		s->pcpu.tagged += READ_ONCE(c->tagged);
		s->pcpu.bad_tag += READ_ONCE(c->bad_tag);
	}
	spin_lock_bh(&port->lock);
	s->peer = port->neighbour.peer;
	memcpy(s->bad, port->rx.bad, sizeof(s->bad));
	s->frames_rx = port->rx.frames;
	s->pfc_rx = port->rx.pfc;
	s->pfc_bad = port->rx.pfc_bad;
	s->mac_pause_rx = port->rx.mac_pause;
	s->hello_rx = port->neighbour.hello_rx;
	s->hello_tx = port->neighbour.hello_tx;
	s->refresh = port->opt.refresh;
	s->hold = port->cfg && port->fc->prios ?
		  bfc_prio_hold(port, port->cfg, port->told) : port->opt.hold;
	if (!port->fc->hello || port->opt.peer == BFC_PEER_OFF ||
	    !port->life.carrier)
		s->state = BFC_PEER_STATE_OFF;
	else if (port->neighbour.refused)
		s->state = BFC_PEER_STATE_REFUSED;
	else if (port->opt.peer == BFC_PEER_ON)
		s->state = BFC_PEER_STATE_UP;
	else
		s->state = port->neighbour.peer.state;
	if (s->state == BFC_PEER_STATE_REFUSED)
		s->refused = port->neighbour.refused;
	if (port->opt.peer == BFC_PEER_ON && s->state != BFC_PEER_STATE_OFF && !s->peer.queues)
		s->peer.queues = port->queues;	/* without a HELLO */
	ing = bfc_ingress_of(port);
	for (i = 0; ing && i < ing->queues; i++)
		s->counters += atomic_read(&ing->counter[i]);
	bfc_port_read_conf(port, s);
	spin_unlock_bh(&port->lock);
}

struct bfc_stat {
	int attr;
	u64 value;
};

/* Put statistics that are not 0: a notification that one qdisc replaces another
 * has a page for the statistics of both.
 */
static int bfc_put_stats(struct sk_buff *skb, u8 width,
			 const struct bfc_stat *stat, unsigned int n)
{
	for (; n; n--, stat++)
		if (stat->value &&
		    bfc_put_uint(skb, stat->attr, width, stat->value))
			return -EMSGSIZE;
	return 0;
}

static int bfc_put_port_stats(struct sk_buff *skb,
			      const struct bfc_port_stats *s)
{
	const struct bfc_stat u32s[] = {
		{ TCA_BFC_STATS_PEER_STATE, s->state },
		{ TCA_BFC_STATS_PEER_ROLE, s->peer.role },
		{ TCA_BFC_STATS_PEER_QUEUES, s->peer.queues },
		{ TCA_BFC_STATS_XOFF, s->xoff },
		{ TCA_BFC_STATS_XON, s->xon },
		{ TCA_BFC_STATS_HEADROOM, s->headroom },
		{ TCA_BFC_STATS_BEYOND, s->beyond },
		{ TCA_BFC_STATS_BUFFER_SIZE, s->buffer_size },
		{ TCA_BFC_STATS_BUFFER_USED, s->buffer_used },
		{ TCA_BFC_STATS_BUFFER_PEAK, s->buffer_peak },
		{ TCA_BFC_STATS_BUFFER_PORT, s->held },
		{ TCA_BFC_STATS_REFUSED, s->refused },
	};
	const struct bfc_stat u64s[] = {
		{ TCA_BFC_STATS_REFRESH, s->refresh },
		{ TCA_BFC_STATS_HOLD, s->hold },
		{ TCA_BFC_STATS_REFUSED_RATE, s->refused_rate },
		{ TCA_BFC_STATS_COUNTERS, s->counters },
		{ TCA_BFC_STATS_FRAMES_RX, s->frames_rx },
		{ TCA_BFC_STATS_HELLO_TX, s->hello_tx },
		{ TCA_BFC_STATS_HELLO_RX, s->hello_rx },
		{ TCA_BFC_STATS_TAGGED_RX, s->pcpu.tagged },
		{ TCA_BFC_STATS_BAD_SHORT, s->bad[BFC_BAD_SHORT] },
		{ TCA_BFC_STATS_BAD_VERSION, s->bad[BFC_BAD_VERSION] },
		{ TCA_BFC_STATS_BAD_EPOCH, s->bad[BFC_BAD_EPOCH] },
		{ TCA_BFC_STATS_BAD_SEQ, s->bad[BFC_BAD_SEQ] },
		{ TCA_BFC_STATS_BAD_RANGE, s->bad[BFC_BAD_RANGE] },
		{ TCA_BFC_STATS_BAD_ROLE, s->bad[BFC_BAD_ROLE] },
		{ TCA_BFC_STATS_BAD_RATE, s->bad[BFC_BAD_RATE] },
		{ TCA_BFC_STATS_BAD_LOOP, s->bad[BFC_BAD_LOOP] },
		{ TCA_BFC_STATS_BAD_TAG, s->pcpu.bad_tag },
		{ TCA_BFC_STATS_PEER_ID, s->peer.peer_id },
		{ TCA_BFC_STATS_HELLO_RTT, s->peer.rtt_ns },
		{ TCA_BFC_STATS_PFC_RX, s->pfc_rx },
		{ TCA_BFC_STATS_PFC_BAD, s->pfc_bad },
		{ TCA_BFC_STATS_MAC_PAUSE_RX, s->mac_pause_rx },
	};

	return bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s)) ?:
	       bfc_put_stats(skb, sizeof(u64), u64s, ARRAY_SIZE(u64s));
}

/* Put the pauses sent to the neighbour. port->tx.lock held. */
static int bfc_put_tx_stats(struct sk_buff *skb, const struct bfc_port *port)
{
	const struct bfc_stat u32s[] = {
		{ TCA_BFC_STATS_UPSTREAM_PAUSED, port->tx.npaused },
	};
	const struct bfc_stat u64s[] = {
		{ TCA_BFC_STATS_PAUSE_TX, port->tx.pauses },
		{ TCA_BFC_STATS_RESUME_TX, port->tx.resumes },
		{ TCA_BFC_STATS_FRAMES_TX, port->tx.frames },
		{ TCA_BFC_STATS_REFRESH_TX, port->tx.refreshes },
		{ TCA_BFC_STATS_PFC_TX, port->tx.pfc },
		{ TCA_BFC_STATS_HRTT_MEASURED, bfc_hrtt_known(&port->tx.hrtt) },
		{ TCA_BFC_STATS_HRTT_SAMPLES, port->tx.hrtt.samples },
	};

	lockdep_assert_held(&port->tx.lock);
	return bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s)) ?:
	       bfc_put_stats(skb, sizeof(u64), u64s, ARRAY_SIZE(u64s));
}

static void bfc_add_counters(u64 *to, const u64 *from, const void *end)
{
	while ((const void *)from < end)
		*to++ += *from++;
}

/* Pauses of priorities are those of the TX queue that has obeyed most: one that did not run in
 * time missed some. Times are as of @now.
 */
static void bfc_stats_add_prios(struct bfc_sched *q, const struct bfc_sched *one, u64 now)
{
	unsigned int prio;

	q->obeyed.prios |= one->obeyed.prios;
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		bool paused = one->obeyed.prios & BIT(prio);
		u64 lasts = paused ? now - one->prio[prio].since : 0;

		q->prio[prio].pauses = max(q->prio[prio].pauses, one->prio[prio].pauses);
		q->prio[prio].ns = max(q->prio[prio].ns, one->prio[prio].ns + lasts);
		q->prio[prio].since = now;
	}
}

/* How long the queues of a scheduler were paused in all, pauses that last yet included: each
 * subtracted its begin, and adds its end then.
 */
static u64 bfc_queues_paused_ns(const struct bfc_sched *q, u64 now)
{
	return q->stats.queue_paused_ns + q->obeyed.npaused * now;
}

static void bfc_stats_add(struct bfc_sched *q, const struct bfc_sched *one, u64 now)
{
	/* From these members on all are of that type. */
	static_assert((sizeof(one->stats) - offsetof(struct bfc_sched_stats, assigned)) %
		      sizeof(u64) == 0);
	static_assert((sizeof(one->stamp) - offsetof(struct bfc_stamp, runs)) %
		      sizeof(u64) == 0);
	bfc_add_counters(&q->stats.assigned, &one->stats.assigned, &one->stats + 1);
	q->stats.queue_paused_ns += one->obeyed.npaused * now;	/* bfc_queues_paused_ns() */
	bfc_add_counters(&q->stamp.runs, &one->stamp.runs, &one->stamp + 1);
	bfc_stats_add_prios(q, one, now);
	q->stats.mem_peak += one->stats.mem_peak;
	q->stats.backlog_peak += one->stats.backlog_peak;
	q->noccupied += one->noccupied;
	q->drr.nactive += one->drr.nactive;
	q->obeyed.npaused += one->obeyed.npaused;
	q->mem += one->mem;
}

/**
 * bfc_stats_gather() - add up the statistics of all schedulers in the root
 * @sch: the root
 *
 * Peaks are sums of the TX queues' peaks, which need not have been at the same time.
 *
 * Context: RTNL.
 */
void bfc_stats_gather(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = q->txq.all;
	unsigned int i;
	u64 now;

	ASSERT_RTNL();
	memset(&q->stats, 0, sizeof(q->stats));
	memset_startat(&q->stamp, 0, runs);
	memset(&q->prio, 0, sizeof(q->prio));
	q->noccupied = 0;
	q->drr.nactive = 0;
	q->obeyed.npaused = 0;
	q->obeyed.prios = 0;
	q->mem = 0;
	sch->q.qlen = 0;
	gnet_stats_basic_sync_init(&sch->bstats);
	memset(&sch->qstats, 0, sizeof(sch->qstats));
	for (i = 0; i < all->n; i++) {
		struct Qdisc *child = all->each[i].sch;
		struct bfc_sched *one = qdisc_priv(child);

		spin_lock_bh(qdisc_lock(child));
		now = ktime_get_ns();	/* not earlier than its own times: read under its lock */
		bfc_expire_pauses(one, now);
		bfc_stats_add(q, one, now);
		gnet_stats_add_basic(&sch->bstats, NULL, &child->bstats, false);
		gnet_stats_add_queue(&sch->qstats, NULL, &child->qstats);
		sch->q.qlen += child->q.qlen;
		spin_unlock_bh(qdisc_lock(child));
	}
}

/* Number of TX queues that have sent a packet of a flow. If it is 1 under a load of many flows,
 * the kernel puts all of them into one TX queue.
 */
static unsigned int bfc_stats_sent(const struct bfc_txqs *all)
{
	unsigned int i, sent = 0;

	for (i = 0; i < all->used; i++) {
		const struct bfc_sched *one = qdisc_priv(all->each[i].sch);

		sent += !!READ_ONCE(one->drr.served);
	}
	return sent;
}

/* Put the statistics of a root about its TX queues. */
static int bfc_put_txqs_stats(struct sk_buff *skb, struct Qdisc *sch)
{
	const struct bfc_sched *q = qdisc_priv(sch);
	const struct bfc_txqs *all = bfc_is_mq(sch) ? q->txq.all : NULL;
	const struct bfc_stat u32s[] = {
		{ TCA_BFC_STATS_TXQS, all ? all->used : 0 },
		{ TCA_BFC_STATS_TXQS_SENT, all ? bfc_stats_sent(all) : 0 },
	};

	return bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s));
}

static int bfc_put_pause_times(struct sk_buff *skb, const struct bfc_sched *q)
{
	struct nlattr *nest;
	unsigned int i;

	nest = nla_nest_start_noflag(skb, TCA_BFC_STATS_PAUSE_TIMES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < BFC_PAUSE_TIMES; i++) {
		const struct bfc_stat stat = { i + 1, q->stats.pause_times[i] };

		if (bfc_put_stats(skb, sizeof(u64), &stat, 1))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Root lock held, so that the numbers are consistent. @paused_ns: of all queues */
static int bfc_put_sched_stats(struct sk_buff *skb, const struct bfc_sched *q, u64 paused_ns)
{
	const struct bfc_stat u32s[] = {
		{ TCA_BFC_STATS_OCCUPIED, q->noccupied },
		{ TCA_BFC_STATS_ACTIVE, q->drr.nactive },
		{ TCA_BFC_STATS_PAUSED, q->obeyed.npaused },
		{ TCA_BFC_STATS_THRESHOLD, q->cfg->thresh[bfc_nactive(q)] },
		{ TCA_BFC_STATS_MEMORY, q->mem },
		{ TCA_BFC_STATS_MEMORY_PEAK, q->stats.mem_peak },
		{ TCA_BFC_STATS_BACKLOG_PEAK, q->stats.backlog_peak },
	};
	const struct bfc_stat u64s[] = {
		{ TCA_BFC_STATS_LINK_RATE, q->cfg->rate },
		{ TCA_BFC_STATS_STICKY, q->cfg->sticky },
		{ TCA_BFC_STATS_HRTT, q->cfg->hrtt },
		{ TCA_BFC_STATS_WATCHDOG, q->cfg->storm.watchdog },
		{ TCA_BFC_STATS_ASSIGNED, q->stats.assigned },
		{ TCA_BFC_STATS_COLLISIONS, q->stats.collisions },
		{ TCA_BFC_STATS_TOLD_TO_SHARE, q->stats.told_to_share },
		{ TCA_BFC_STATS_JOINED, q->stats.joined },
		{ TCA_BFC_STATS_LEARNED, q->stats.learned },
		{ TCA_BFC_STATS_SHARED, q->stats.shared },
		{ TCA_BFC_STATS_COUNTED, q->stats.counted },
		{ TCA_BFC_STATS_UNSAMPLED, q->stats.unsampled },
		{ TCA_BFC_STATS_LABELLED, q->stats.labelled },
		{ TCA_BFC_STATS_SIZED, q->stats.sized },
		{ TCA_BFC_STATS_CTRL_EXCESS, q->stats.ctrl_excess },
		{ TCA_BFC_STATS_DROP_LIMIT, q->stats.drop_limit },
		{ TCA_BFC_STATS_DROP_CAP, q->stats.drop_cap },
		{ TCA_BFC_STATS_DROP_GSO, q->stats.drop_gso },
		{ TCA_BFC_STATS_PAUSE_RX, q->stats.pause_rx },
		{ TCA_BFC_STATS_RESUME_RX, q->stats.resume_rx },
		{ TCA_BFC_STATS_EXPIRED, q->stats.expired },
		{ TCA_BFC_STATS_PAUSED_NS, q->stats.paused_ns },
		{ TCA_BFC_STATS_QUEUE_PAUSED_NS, paused_ns },
		{ TCA_BFC_STATS_ELIDED, q->stats.elided },
		{ TCA_BFC_STATS_UNTRUSTED, q->stats.untrusted },
		{ TCA_BFC_STATS_TAGGED_TX, q->stats.tagged_tx },
		{ TCA_BFC_STATS_DROP_MAX, q->stats.drop_max },
		{ TCA_BFC_STATS_DROP_BUFFER, q->stats.drop_buffer },
		{ TCA_BFC_STATS_ECN_MARK, q->stats.ecn_mark },
		{ TCA_BFC_STATS_STORMS, q->stats.storms },
		{ TCA_BFC_STATS_RESTORED, q->stats.restored },
		{ TCA_BFC_STATS_STORM_TX, q->stats.storm_tx },
		{ TCA_BFC_STATS_STORM_DROPS, q->stats.storm_drops },
		{ TCA_BFC_STATS_SOLVED, q->stats.solved },
		{ TCA_BFC_STATS_UNSOLVED, q->stats.unsolved },
		{ TCA_BFC_STATS_STAMP_RUNS, q->stamp.runs },
		{ TCA_BFC_STATS_STAMP_DROPS, q->stamp.drops },
		{ TCA_BFC_STATS_STAMP_REDIRECTS, q->stamp.redirects },
		{ TCA_BFC_STATS_STAMP_GROWN, q->stamp.grown },
		{ TCA_BFC_STATS_STAMP_SHRUNK, q->stamp.shrunk },
		{ TCA_BFC_STATS_STAMP_BAD_LEN, q->stamp.bad_len },
		{ TCA_BFC_STATS_STAMP_UNTAGGED, q->stamp.untagged },
		{ TCA_BFC_STATS_STAMP_UNKNOWN, q->stamp.unknown },
	};

	return bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s)) ?:
	       bfc_put_stats(skb, sizeof(u64), u64s, ARRAY_SIZE(u64s)) ?:
	       bfc_put_pause_times(skb, q);
}

/* The times include a pause that still lasts. Root lock held. */
static int bfc_put_prio_stats(struct sk_buff *skb, const struct bfc_sched *q,
			      const struct bfc_port_stats *s, unsigned int prio,
			      u64 now)
{
	const struct bfc_port *port = q->port;
	u64 until = port->tx.until[prio] ?: now;
	bool pausing = port->opt.role == BFC_ROLE_SWITCH &&
		       port->tx.prio_paused & BIT(prio);
	u64 lasts = pausing ? min(until, now) - port->tx.prio[prio].since : 0;
	bool paused = q->obeyed.prios & BIT(prio);
	const struct bfc_stat u32s[] = {
		{ TCA_BFC_PRIO_STATS_HELD, s->prio_held[prio] },
		{ TCA_BFC_PRIO_STATS_HEADROOM, s->prio_headroom[prio] },
		{ TCA_BFC_PRIO_STATS_PEAK, s->prio_peak[prio] },
		{ TCA_BFC_PRIO_STATS_PAUSING, pausing && until >= now },
		{ TCA_BFC_PRIO_STATS_PAUSED, paused },
	};
	const struct bfc_stat u64s[] = {
		{ TCA_BFC_PRIO_STATS_PAUSE_TX, port->tx.prio[prio].pauses },
		{ TCA_BFC_PRIO_STATS_PAUSING_NS, port->tx.prio[prio].ns + lasts },
		{ TCA_BFC_PRIO_STATS_PAUSE_RX, q->prio[prio].pauses },
		{ TCA_BFC_PRIO_STATS_PAUSED_NS, q->prio[prio].ns +
		  (paused ? now - q->prio[prio].since : 0) },
	};
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, prio + 1);
	if (!nest ||
	    bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s)) ||
	    bfc_put_stats(skb, sizeof(u64), u64s, ARRAY_SIZE(u64s)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int bfc_put_prios(struct sk_buff *skb, const struct bfc_sched *q,
			 const struct bfc_port_stats *s)
{
	u64 now = ktime_get_ns();
	struct nlattr *nest;
	unsigned int prio;

	if (!bfc_cfg_has_prios(q->cfg))
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_BFC_STATS_PRIOS);
	if (!nest)
		return -EMSGSIZE;
	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		if (bfc_put_prio_stats(skb, q, s, prio, now))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Queues read under the root lock at a time: for each idle queue at least a cache line comes
 * from memory, and nothing is sent meanwhile.
 */
#define BFC_CLASS_ROW	64U

/**
 * struct bfc_class_stats - statistics of a traffic class
 * @sum: what its queues have counted
 * @exhausted: as in &struct bfc_sched_classes
 * @backlog: bytes queued
 * @qlen: packets queued
 * @occupied: its queues that are not empty
 * @paused: its queues that the neighbour holds paused
 */
struct bfc_class_stats {
	struct bfc_class_sum sum;
	u64 exhausted;
	u32 backlog;
	u32 qlen;
	u32 occupied;
	u32 paused;
};

/* Read the statistics of a class. RTNL held, so that the ranges of queues do not change. */
static void bfc_class_read(struct Qdisc *sch, unsigned int class, struct bfc_class_stats *s)
{
	struct bfc_sched *q = qdisc_priv(sch);
	unsigned int qn = q->cfg->class[class].first, end = qn + q->cfg->class[class].queues;

	memset(s, 0, sizeof(*s));
	s->sum = q->class.before[class];
	while (qn < end) {
		unsigned int row = min(qn + BFC_CLASS_ROW, end);
		u64 now;

		sch_tree_lock(sch);
		now = ktime_get_ns();
		bfc_expire_pauses(q, now);
		for (; qn < row; qn++) {
			bfc_class_add(q, qn, now, &s->sum);
			s->backlog += q->queues[qn].bytes;
			s->qlen += q->queues[qn].packets;
			s->occupied += !!q->queues[qn].head;
			s->paused += bfc_bit_test(qn, q->obeyed.paused);
		}
		s->exhausted = q->class.exhausted[class];
		sch_tree_unlock(sch);
	}
}

static int bfc_put_class(struct sk_buff *skb, unsigned int queues,
			 const struct bfc_class_stats *s)
{
	const struct bfc_stat u32s[] = {
		{ TCA_BFC_TCLASS_QUEUES, queues },
		{ TCA_BFC_TCLASS_OCCUPIED, s->occupied },
		{ TCA_BFC_TCLASS_PAUSED, s->paused },
		{ TCA_BFC_TCLASS_BACKLOG, s->backlog },
		{ TCA_BFC_TCLASS_QLEN, s->qlen },
		{ TCA_BFC_TCLASS_DROPS, (u32)s->sum.drops },	/* as those of queues wrap */
	};
	const struct bfc_stat u64s[] = {
		{ TCA_BFC_TCLASS_BYTES, s->sum.bytes },
		{ TCA_BFC_TCLASS_PACKETS, s->sum.packets },
		{ TCA_BFC_TCLASS_EXHAUSTED, s->exhausted },
		{ TCA_BFC_TCLASS_PAUSES, s->sum.pauses },
		{ TCA_BFC_TCLASS_PAUSED_NS, s->sum.paused_ns },
	};

	return bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s)) ?:
	       bfc_put_stats(skb, sizeof(u64), u64s, ARRAY_SIZE(u64s));
}

static int bfc_put_classes(struct sk_buff *skb, struct Qdisc *sch)
{
	const struct bfc_sched *q = qdisc_priv(sch);
	struct nlattr *nest, *its;
	struct bfc_class_stats s;
	unsigned int class;

	if (bfc_is_mq(sch) || !bfc_is_classed(q))
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_BFC_STATS_CLASSES);
	if (!nest)
		return -EMSGSIZE;
	for (class = 0; class < q->cfg->classes; class++) {
		bfc_class_read(sch, class, &s);
		its = nla_nest_start_noflag(skb, class + 1);
		if (!its || bfc_put_class(skb, q->cfg->class[class].queues, &s))
			return -EMSGSIZE;
		nla_nest_end(skb, its);
	}
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * bfc_dump_stats() - TCA_STATS_APP nest with TCA_BFC_STATS_*
 * @sch: the qdisc: of a port, or of a TX queue, which reports no statistics of the port
 * @d: dump
 *
 * Return: 0 or -1.
 */
int bfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct bfc_sched *q = qdisc_priv(sch);
	bool port = !q->txq.all || bfc_is_mq(sch);
	struct bfc_port_stats s;
	struct nlattr *nest;
	u64 now, paused_ns;
	int err;

	if (port)
		bfc_port_read(q->port, &s);
	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);
	if (!nest)
		return -1;
	sch_tree_lock(sch);
	if (bfc_is_mq(sch)) {
		paused_ns = q->stats.queue_paused_ns;
	} else {
		now = ktime_get_ns();
		bfc_expire_pauses(q, now);
		paused_ns = bfc_queues_paused_ns(q, now);
	}
	err = bfc_put_sched_stats(d->skb, q, paused_ns) ?: bfc_put_txqs_stats(d->skb, sch);
	if (port && !err) {
		spin_lock(&q->port->tx.lock);
		err = bfc_put_tx_stats(d->skb, q->port) ?: bfc_put_prios(d->skb, q, &s);
		spin_unlock(&q->port->tx.lock);
	}
	sch_tree_unlock(sch);
	if (port && !err)
		err = bfc_put_port_stats(d->skb, &s);
	if (!err)
		err = bfc_put_classes(d->skb, sch);
	if (err) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

/* ---- classes, read-only: queue q of the port is class q + 1; if each TX queue has a scheduler,
 * TX queue t is class t + 1 of the root, as with mq ----
 */

static struct Qdisc *bfc_txq_of(struct Qdisc *sch, unsigned long cl)
{
	const struct bfc_sched *q = qdisc_priv(sch);

	return cl && cl <= q->txq.all->n ? q->txq.all->each[cl - 1].sch : NULL;
}

static struct netdev_queue *bfc_select_queue(struct Qdisc *sch, struct tcmsg *tcm)
{
	struct Qdisc *one = bfc_is_mq(sch) ? bfc_txq_of(sch, TC_H_MIN(tcm->tcm_parent)) : sch;

	return one ? one->dev_queue : NULL;
}

static int bfc_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new,
		     struct Qdisc **old, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "bfc: its queues, and those of the device, have no other qdisc: change the root");
	return -EOPNOTSUPP;
}

static struct Qdisc *bfc_leaf(struct Qdisc *sch, unsigned long cl)
{
	return bfc_is_mq(sch) ? bfc_txq_of(sch, cl) : NULL;
}

static unsigned long bfc_find(struct Qdisc *sch, u32 classid)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	if (bfc_is_mq(sch))
		return bfc_txq_of(sch, minor) ? minor : 0;
	return minor > q->base && minor <= q->base + q->nqueues ? minor : 0;
}

static int bfc_dump_class(struct Qdisc *sch, unsigned long cl,
			  struct sk_buff *skb, struct tcmsg *tcm)
{
	if (bfc_is_mq(sch))
		tcm->tcm_parent = TC_H_ROOT;
	tcm->tcm_handle |= TC_H_MIN(cl);
	return 0;
}

static int bfc_dump_txq_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	if (!sch || gnet_stats_copy_basic(d, NULL, &sch->bstats, true) < 0 ||
	    qdisc_qstats_copy(d, sch) < 0)
		return -1;
	return 0;
}

/**
 * struct bfc_oldest - the oldest packet of a queue
 * @from: ifindex of the port that it came in through; 0: it was sent by this box, or the queue
 *	  is empty
 * @len: bytes of @dst, 0: not known, or the reader may not see it
 * @dst: IPv4, IPv6 or MAC address that it goes to
 */
struct bfc_oldest {
	u32 from;
	u8 len;
	u8 dst[sizeof(struct in6_addr)];
};

/* True if the reader may see where packets go. A dump runs in the process that asks for it. (The
 * answer to a request for a single class, which tc does not make, goes to all that listen.)
 */
static bool bfc_may_see(struct Qdisc *sch)
{
	return ns_capable_noaudit(dev_net(qdisc_dev(sch))->user_ns, CAP_NET_ADMIN);
}

static void bfc_oldest_dst(const struct sk_buff *skb, struct bfc_oldest *o)
{
	__be16 proto;
	unsigned int off = bfc_mac_len(skb, &proto);

	if (proto == htons(ETH_P_IP)) {
		o->len = sizeof(struct in_addr);
		off += offsetof(struct iphdr, daddr);
	} else if (proto == htons(ETH_P_IPV6)) {
		o->len = sizeof(struct in6_addr);
		off += offsetof(struct ipv6hdr, daddr);
	} else {
		o->len = ETH_ALEN;
		off = offsetof(struct ethhdr, h_dest);
	}
	if (skb_copy_bits(skb, off, o->dst, o->len))
		o->len = 0;
}

/* Under the root lock. */
static void bfc_oldest_read(const struct bfc_sched *q, const struct bfc_queue *queue,
			    bool dst, struct bfc_oldest *o)
{
	const struct bfc_ingress *ing;

	if (!queue->head)
		return;
	rcu_read_lock();
	ing = bfc_prove(q, queue->head);
	if (ing)
		o->from = ing->ifindex;
	else if (!bfc_port_shared(q->port))
		o->from = queue->head->skb_iif;	/* else another namespace may choose it */
	rcu_read_unlock();
	if (dst)
		bfc_oldest_dst(queue->head, o);
}

static int bfc_dump_class_stats(struct Qdisc *sch, unsigned long cl,
				struct gnet_dump *d)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct gnet_stats_queue qs = {};
	unsigned int qn = cl - 1 - q->base;
	struct bfc_queue_pauses pauses;
	bool see = bfc_may_see(sch);
	struct bfc_oldest o = {};
	struct bfc_queue queue;
	struct nlattr *nest;
	bool paused;
	u64 now;

	if (bfc_is_mq(sch))
		return bfc_dump_txq_stats(bfc_txq_of(sch, cl), d);
	if (qn >= q->nqueues)
		return -1;
	sch_tree_lock(sch);
	now = ktime_get_ns();
	bfc_expire_pauses(q, now);
	queue = q->queues[qn];
	pauses = q->obeyed.pauses[qn];
	pauses.ns = bfc_queue_paused_ns(q, qn, now);
	paused = bfc_bit_test(qn, q->obeyed.paused);
	bfc_oldest_read(q, &q->queues[qn], see, &o);
	sch_tree_unlock(sch);

	qs.qlen = queue.packets;
	qs.backlog = queue.bytes;
	qs.drops = queue.drops;
	if (gnet_stats_copy_basic(d, NULL, &queue.bstats, false) < 0 ||
	    gnet_stats_copy_queue(d, NULL, &qs, queue.packets) < 0)
		return -1;

	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);
	if (!nest)
		return -1;
	if (nla_put_u32(d->skb, TCA_BFC_CLASS_PAUSED, paused) ||
	    nla_put_u64_64bit(d->skb, TCA_BFC_CLASS_PAUSES, pauses.count,
			      TCA_BFC_CLASS_PAD) ||
	    nla_put_u64_64bit(d->skb, TCA_BFC_CLASS_PAUSED_NS, pauses.ns,
			      TCA_BFC_CLASS_PAD) ||
	    nla_put_u32(d->skb, TCA_BFC_CLASS_BACKLOG_PEAK, queue.peak) ||
	    nla_put_s32(d->skb, TCA_BFC_CLASS_DEFICIT, queue.deficit) ||
	    nla_put_u32(d->skb, TCA_BFC_CLASS_ROOT, paused ? pauses.root : 0) ||
	    nla_put_u32(d->skb, TCA_BFC_CLASS_FROM, o.from) ||
	    (o.len && nla_put(d->skb, TCA_BFC_CLASS_DST, o.len, o.dst))) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

static void bfc_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct bfc_sched *q = qdisc_priv(sch);
	unsigned int i, n = bfc_is_mq(sch) ? q->txq.all->used : q->nqueues;

	if (arg->stop)
		return;
	for (i = 0; i < n; i++) {
		if (!tc_qdisc_stats_dump(sch, q->base + i + 1, arg))
			break;
	}
}

const struct Qdisc_class_ops bfc_class_ops = {
	.select_queue	= bfc_select_queue,
	.graft		= bfc_graft,
	.leaf		= bfc_leaf,
	.find		= bfc_find,
	.walk		= bfc_walk,
	.dump		= bfc_dump_class,
	.dump_stats	= bfc_dump_class_stats,
};
