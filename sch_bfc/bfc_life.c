// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a scheduler: init, configure, reset, free. A device has one, or each of its TX queues
 * has one (bfc_mq.c).
 */
#include <linux/bfc_int.h>

#include "bfc.h"
#include "bfc_limit.h"

/**
 * bfc_sched_init() - init a scheduler as far as it can be destroyed
 * @sch: its qdisc
 */
void bfc_sched_init(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	unsigned int prio;

	bfc_class_init(q);
	for (prio = 0; prio < BFC_PRIORITIES; prio++) {
		INIT_LIST_HEAD(&q->dest.of[prio].cooling);
		INIT_LIST_HEAD(&q->strict[prio]);
	}
	q->idle = true;
	q->drr.times = 1;
	q->storm.due = U64_MAX;
	prandom_seed_state(&q->random, get_random_u64());
	q->call.lot = get_random_u32();
	qdisc_watchdog_init(&q->watchdog, sch);
}

/* Allocate a flow table of @entries entries, followed by overflow entries for @classes classes,
 * and their @ports. A table is NULL if there was no memory for it.
 */
static struct bfc_flow *bfc_flows_alloc(unsigned int entries, u8 classes,
					struct bfc_overflow **ports)
{
	unsigned int n = classes * BFC_DEST_PORTS, more = n * BFC_FLOW_OVERFLOW, i;
	struct bfc_flow *flows;

	flows = kvcalloc(entries + more, sizeof(*flows), GFP_KERNEL_ACCOUNT);
	*ports = kvcalloc(n, sizeof(**ports), GFP_KERNEL_ACCOUNT);
	for (i = 0; flows && i < more; i++)
		flows[entries + i].shared = true;
	return flows;
}

/**
 * bfc_flows_grow() - add overflow entries for traffic classes, if there are none yet
 * @sch: qdisc of a scheduler, not of a root that has none
 * @cfg: the configuration, not in use yet
 *
 * They stay until bfc_sched_free(). Queued packets hold the index of their entry, which does not
 * change.
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM.
 */
int bfc_flows_grow(struct Qdisc *sch, const struct bfc_cfg *cfg)
{
	struct bfc_sched *q = qdisc_priv(sch);
	unsigned int entries = q->over.entries - q->flows;
	unsigned int n = q->over.classes * BFC_DEST_PORTS;
	struct bfc_overflow *ports;
	struct bfc_flow *flows;
	int err = -ENOMEM;

	if (!cfg->ranged || q->over.classes == BFC_PRIORITIES)
		return 0;
	flows = bfc_flows_alloc(entries, BFC_PRIORITIES, &ports);
	if (flows && ports) {
		sch_tree_lock(sch);
		memcpy(flows, q->flows, (entries + n * BFC_FLOW_OVERFLOW) * sizeof(*flows));
		memcpy(ports, q->over.ports, n * sizeof(*ports));
		swap(q->flows, flows);
		swap(q->over.ports, ports);
		q->over.entries = q->flows + entries;
		q->over.classes = BFC_PRIORITIES;
		sch_tree_unlock(sch);
		err = 0;
	}
	kvfree(flows);
	kvfree(ports);
	return err;
}

/* Allocate zeroed memory in cache lines of its own: if the scheduler of another TX queue used
 * one of them, the CPUs would contend for it at nearly every packet. kmalloc() aligns sizes that
 * are a power of 2.
 */
static void *bfc_lines_alloc(size_t n, size_t size)
{
	size_t bytes = array_size(n, size);

	if (bytes < PAGE_SIZE)
		bytes = max_t(size_t, roundup_pow_of_two(bytes), SMP_CACHE_BYTES);
	return kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
}

/* The bitmaps of a scheduler, in one piece. */
static bool bfc_bits_alloc(struct bfc_sched *q, unsigned int queues)
{
	size_t words = BITS_TO_LONGS(queues);
	unsigned long *bits = bfc_lines_alloc(4 * words, sizeof(long));

	if (!bits)
		return false;
	q->empty = bits;
	q->usable = bits + words;
	q->obeyed.paused = bits + 2 * words;
	q->dest.free = bits + 3 * words;
	bitmap_fill(q->empty, queues);
	bitmap_fill(q->usable, queues);
	return true;
}

/**
 * bfc_sched_alloc() - allocate queues and tables of a scheduler
 * @q: the scheduler
 * @p: their sizes
 *
 * Context: process, before it is used.
 * Return: 0 or -ENOMEM; in that case, too, bfc_sched_free() frees what was allocated.
 */
int bfc_sched_alloc(struct bfc_sched *q, const struct bfc_params *p)
{
	unsigned int i, entries;

	q->nqueues = p->queues;
	/* a set at least for each priority */
	entries = max(DIV_ROUND_UP(p->flows, p->ways), BFC_PRIORITIES + 0U) * p->ways;
	q->over.classes = p->classes > 1 ? BFC_PRIORITIES : 1;
	q->flows = bfc_flows_alloc(entries, q->over.classes, &q->over.ports);
	q->over.entries = q->flows + entries;
	q->queues = bfc_lines_alloc(p->queues, sizeof(*q->queues));
	q->obeyed.pauses = bfc_lines_alloc(p->queues, sizeof(*q->obeyed.pauses));
	q->dest.sets = DIV_ROUND_UP(2 * p->queues, BFC_DEST_WAYS);
	q->dest.table = bfc_lines_alloc(q->dest.sets * BFC_DEST_WAYS, sizeof(*q->dest.table));
	if (!bfc_bits_alloc(q, p->queues) || !q->flows || !q->over.ports || !q->queues ||
	    !q->obeyed.pauses || !q->dest.table)
		return -ENOMEM;

	for (i = 0; i < p->queues; i++) {
		INIT_LIST_HEAD(&q->queues[i].active);
		INIT_LIST_HEAD(&q->queues[i].cooling);
		q->queues[i].dest = BFC_DEST_NONE;
		gnet_stats_basic_sync_init(&q->queues[i].bstats);
	}
	return 0;
}

/**
 * bfc_keeps_egress() - check if the mode keeps a state of the egress port
 * @cfg: the configuration
 *
 * Return: true if so; false at a NIC, which sends no pauses.
 */
bool bfc_keeps_egress(const struct bfc_cfg *cfg)
{
	return cfg->role == BFC_ROLE_SWITCH && cfg->fc->egress_new;
}

/* Reset the cursors of early resumes: they do not hold with other lossless priorities. */
static void bfc_cursors_reset(struct bfc_sched *q)
{
	unsigned int qn;

	for (qn = 0; qn < q->nqueues; qn++)
		q->queues[qn].cursor = NULL;
}

/**
 * bfc_sched_apply() - a new configuration takes effect at a scheduler
 * @sch: its qdisc
 * @cfg: the configuration
 * @egress: state of the egress port for its mode; NULL: the present state goes on, or the mode
 *	    keeps none; result: the state to free, or NULL
 *
 * Context: RTNL and root lock.
 */
void bfc_sched_apply(struct Qdisc *sch, struct bfc_cfg *cfg, void **egress)
{
	const struct bfc_fc_ops *fc = cfg->fc, *was = &bfc_fc_none;
	struct bfc_sched *q = qdisc_priv(sch);
	const struct bfc_cfg *old = q->cfg;
	u64 now;

	bfc_begin(q);
	now = bfc_now(q);
	if (old)
		was = old->fc;
	if (q->egress && was->clear)
		was->clear(q, *egress || !bfc_keeps_egress(cfg) ? NULL : cfg);
	if (old && bfc_classes_differ(old, cfg))
		bfc_class_ranges(q, old, cfg, now);
	/* while the rate that it was taken at is known */
	if (q->txq.turn)
		bfc_txqs_give_back(q);
	q->cfg = cfg;
	q->room = cfg->limit;
	q->brim = cfg->limit;
	if (q->txq.all)
		bfc_txqs_configured(q);
	/* not at each event of the device: a host that was paused stays slow */
	if (!old || old->rate != cfg->rate || fc != was || old->role != cfg->role)
		q->host.paced = 0;
	if (*egress) {
		swap(*egress, q->egress);
		if (fc->adopt)
			bfc_egress_adopt(q, now);
	} else if (!bfc_keeps_egress(cfg)) {
		swap(*egress, q->egress);
	}
	if (fc->prios != was->prios) {
		bfc_watch_reset(q, was->prios);
		bfc_rx_prio_end(q, now);
	}
	if (!bfc_carrier(qdisc_dev(sch)))
		bfc_rx_prio_end(q, now);
	bfc_dest_configure(q, old);
	if (old && old->lossless != cfg->lossless)
		bfc_cursors_reset(q);
	if (!cfg->storm.watchdog)
		bfc_watch_reset(q, was->prios);
	if (!old || old->p.rate != cfg->p.rate)
		q->next_tx = 0;
	q->stamp.facts = bfc_int_speed_code(cfg->rate) << BFC_STAMP_SPEED_SHIFT;
	if (cfg->srf && old && !old->srf)
		bfc_srf_read(q);
	/* Not at each event of the device: bfc_requeue() resets the deficits of classes. */
	if ((!old && cfg->srf) ||
	    (old && (old->strict != cfg->strict || old->srf != cfg->srf ||
		     bfc_classes_differ(old, cfg))))
		bfc_requeue(q);
	bfc_trim(sch);
}

/**
 * bfc_sched_reset() - forget all packets
 * @sch: the qdisc; or a root with a scheduler for each TX queue, which holds no packets itself
 *
 * Context: RTNL, root lock.
 */
void bfc_sched_reset(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	if (q->queues)
		bfc_purge(sch);
	/* Its TX queue is not used any more (ethtool -L): nothing else would end its storms. */
	if (q->cfg && q->txq.all && q->txq.index >= q->txq.all->used)
		bfc_watch_reset(q, q->cfg->prios);
	/* The device was deactivated, and may be activated again at once. A pause that became
	 * due meanwhile found no qdisc to run, so the timer has to look for it.
	 */
	if (q->port)
		bfc_refresh_start(q->port);
}

/**
 * bfc_sched_free() - free a scheduler, or a root
 * @sch: its qdisc, which may be half made
 *
 * Context: RTNL.
 */
void bfc_sched_free(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	if (q->port) {
		if (q->cfg)
			bfc_watch_reset(q, q->cfg->prios);
		if (q->egress)
			q->cfg->fc->egress_free(q->port, q->egress);
	}
	bfc_cfg_put(q->cfg);	/* its buffer is the namespace's, which the port holds */
	if (q->port)
		bfc_port_detach(q->port);
	bfc_stamp_put(q->stamp.prog);
	kvfree(q->flows);
	kvfree(q->over.ports);
	kvfree(q->queues);
	kvfree(q->obeyed.pauses);
	kvfree(q->dest.table);
	kvfree(q->roots.behind);
	kvfree(q->srf);
	kvfree(q->empty);	/* and the other bitmaps */
}
