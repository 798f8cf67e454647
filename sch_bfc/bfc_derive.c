// SPDX-License-Identifier: GPL-2.0
/*
 * Derive a configuration from options, link speed and MTU: what the scheduler
 * needs is derived here, thresholds of the mode in fc_*.c.
 */
#include <linux/rtnetlink.h>

#include "bfc.h"

/* Fill in the values that the map leaves open: a PCP is the priority itself;
 * the priority of a DSCP is its class selector.
 */
static void bfc_derive_map(struct bfc_cfg *c, const struct bfc_params *p)
{
	unsigned int v;

	for (v = 0; v < BFC_PRIO_VALUES; v++) {
		if (p->prio_map[v] != BFC_PRIO_AUTO)
			c->map[v] = p->prio_map[v];
		else
			c->map[v] = p->prio == BFC_PRIO_DSCP ? v >> 3 :
							       min(v, BFC_PRIORITIES - 1U);
	}
}

/* Fill in tables that are looked up for each packet: for each set of classes that may have
 * packets, BFC_SHARE_UNIT by the sum of their weights; and the class of each queue.
 */
static void bfc_derive_lookup(struct bfc_cfg *c, struct bfc_classes *of)
{
	unsigned int set, class, qn, sum;

	for (set = 1; set < ARRAY_SIZE(of->share); set++) {
		for (class = 0, sum = 0; class < c->classes; class++)
			if (set & BIT(class))
				sum += c->class[class].weight;
		of->share[set] = sum ? BFC_SHARE_UNIT / sum : 0;
	}
	for (class = 0; class < c->classes; class++)
		for (qn = 0; qn < c->class[class].queues; qn++)
			of->queue[c->class[class].first + qn] = class;
	c->of = of;
}

/* Derive ranges of queues, and quanta of classes in proportion to their weights. The smallest is
 * one quantum of a queue; the others are 255 x BFC_QUANTUM_MAX at most.
 */
static void bfc_derive_classes(struct bfc_cfg *c, const struct bfc_derive *d)
{
	unsigned int class, first = 0, n = d->p->classes, least = BFC_CLASS_WEIGHT_MAX;
	const struct bfc_params *p = d->p;

	c->ranged = true;
	c->classes = n;
	c->class_mask = BFC_PRIORITIES - 1;
	c->strict = p->strict & (BIT(n) - 1);
	c->th_least = p->threshold ?: d->frame;
	for (class = 0; class < n; class++) {
		struct bfc_class_cfg *its = &c->class[class];

		its->first = first;
		its->queues = p->class_queues[0] ? p->class_queues[class] :
			      p->queues / n + (class < p->queues % n);
		first += its->queues;
		if (c->strict & BIT(class))
			continue;
		its->weight = p->weights[0] ? p->weights[class] : 1;
		least = min_t(unsigned int, least, its->weight);
	}
	for (class = 0; class < n; class++)
		c->class[class].quantum = c->quantum * c->class[class].weight / least;
	bfc_derive_lookup(c, (void *)&c->thresh[p->queues + 1]);
}

/* A time shorter than what a slow link needs would take its pauses for storms. */
static void bfc_derive_watchdog(struct bfc_cfg *c, const struct bfc_derive *d)
{
	u64 frame = div64_u64(d->frame * BFC_NSEC_PER_SEC, d->rate);	/* ns */
	u64 refresh = bfc_refresh_auto(d->rate, bfc_pause_most(c));
	struct bfc_watchdog_cfg *cfg = &c->storm;
	const struct bfc_params *p = d->p;

	cfg->watchdog = p->watchdog;
	if (!p->watchdog)
		return;
	/* A neighbour may have to drain so many bytes before it sends a resume. */
	if (p->watchdog == BFC_WATCHDOG_AUTO)
		cfg->watchdog = max(BFC_WATCHDOG_LEAST,
				    div64_u64(BFC_WATCHDOG_BYTES *
					      BFC_NSEC_PER_SEC, d->rate));
	cfg->watchdog = max(cfg->watchdog,
			    bfc_watchdog_floor(p->refresh ?: refresh, frame));
	cfg->holdoff = BFC_HOLDOFF_TIMES * cfg->watchdog;
	cfg->holdoff_max = BFC_HOLDOFF_DOUBLED * cfg->holdoff;
	cfg->gap = 2 * BFC_PRIORITIES * frame;	/* time for each priority to send two */
}

/* The bits of addresses that tell destinations apart. */
static void bfc_derive_masks(struct bfc_cfg *c, const struct bfc_params *p)
{
	u32 prefix = c->fc->tags ? p->dst_prefix : BFC_DST_PREFIX_MAX;
	u32 prefix6 = c->fc->tags ? p->dst_prefix6 : BFC_DST_PREFIX6_MAX;
	unsigned int i;

	c->dest_mask = htonl(bfc_dest_mask(prefix, 0));
	for (i = 0; i < ARRAY_SIZE(c->dest_mask6); i++)
		c->dest_mask6[i] = htonl(bfc_dest_mask(prefix6, i));
}

static void bfc_derive_label(struct bfc_cfg *c, u64 incast)
{
	c->label = !incast ? BFC_LABEL_NONE :
		   incast >> 32 ? BFC_LABEL_MARK : BFC_LABEL_DSCP;
	c->label_value = incast;
	c->label_mask = incast >> 32;
}

static void bfc_derive_sched(struct bfc_cfg *c, const struct bfc_derive *d)
{
	struct tc_ratespec spec = { .linklayer = TC_LINKLAYER_ETHERNET };
	const struct bfc_params *p = d->p;

	c->fc = bfc_fc_of(p);
	c->p = *p;
	c->p.buffer_size = 0;
	c->p.stamp_fd = -1;
	c->rate = d->rate;
	c->sticky = p->sticky == BFC_STICKY_AUTO ? 2 * c->hrtt : p->sticky;
	c->limit = p->limit;
	c->quantum = p->quantum ?: d->frame;
	c->ecn = p->ecn;
	bfc_ramp_init(&c->ramp, p->ecn, p->kmax, p->pmax);
	c->classes = c->fc->classes;
	c->class_mask = c->classes - 1;
	c->prios = c->fc->prios;
	c->strict = c->prios ? p->strict : 0;
	if (p->classes > 1)
		bfc_derive_classes(c, d);
	c->class_sets = max(DIV_ROUND_UP(p->flows, p->ways) / c->classes, 1U);
	c->identity = p->role == BFC_ROLE_NIC ? BFC_FLOW_TUPLE : c->fc->identity;
	c->ways = p->ways;
	c->count = c->fc->tags && p->role == BFC_ROLE_SWITCH;
	c->by_dest = (p->assign == BFC_ASSIGN_DESTINATION || p->assign == BFC_ASSIGN_ROOT) &&
		     (c->classes == 1 || c->ranged);
	c->by_root = c->by_dest && p->assign == BFC_ASSIGN_ROOT && c->fc->tags;
	/* @root_age is BFC_BEHIND_AGE (1024) sticky times, in units of 1024 ns: as many as a
	 * sticky time has ns.
	 */
	static_assert(BFC_BEHIND_AGE == 1 << BFC_BEHIND_SHIFT);
	c->root_age = min_t(u64, max(c->sticky, 2 * c->hrtt), S32_MAX);
	c->elides = p->nelide;
	c->shapes = p->rate;
	c->avoid_paused = p->avoid_paused;
	c->new_first = p->new_first;
	c->leave_out = (BFC_SAMPLE_ALL - p->sample) * BIT(16) / BFC_SAMPLE_ALL;
	bfc_derive_label(c, p->incast);
	c->srf = p->sched == BFC_SCHED_SRF;
	c->split_gso = p->split_gso;
	c->role = p->role;
	c->assign = p->assign;
	c->resume = p->resume;
	c->prio = p->prio;
	bfc_derive_map(c, p);
	bfc_derive_masks(c, p);
	bfc_derive_watchdog(c, d);
	if (p->rate)
		psched_ratecfg_precompute(&c->pace, &spec, p->rate);
}

/* Divide port and limit among the schedulers of several TX queues. */
static void bfc_derive_txqs(struct bfc_cfg *c, const struct bfc_derive *d)
{
	u32 fit = BFC_QUEUES_MAX / d->p->queues, limit = d->p->limit;
	/* Two packets, and two frames of the control band, which are no jumbo frames, fit whatever
	 * the limit is: if not, one of many TX queues would keep the others from queueing any.
	 */
	u32 least = 2 * SKB_TRUESIZE(d->mtu), ctrl_least = 2 * SKB_TRUESIZE(ETH_FRAME_LEN);

	c->port_queues = min(d->txqs, fit) * d->p->queues;
	c->own_numbers = d->txqs <= fit;
	c->sync = d->p->sync;
	c->ctrl_limit = max_t(u32, limit / BFC_CTRL_SHARE / d->txqs, ctrl_least);
	c->ctrl_rate = max(div_u64(d->rate / BFC_CTRL_RATE, d->txqs), 1ULL);
	c->reserve = max(limit / BFC_TXQ_RESERVE / d->txqs, least);
	c->batch = limit / BFC_TXQ_BATCH / d->txqs;
	c->pool = limit - min(limit, d->txqs * (c->reserve + c->batch));
}

/* @hrtt is for Th, and for decisions at an egress about packets of all ports; @loop, @longest and
 * @aside are for what the neighbour on this link sends after XOFF.
 */
static void bfc_derive_hrtt(struct bfc_cfg *c, const struct bfc_port *port,
			    const struct bfc_params *p, u64 link_rate)
{
	c->hrtt = p->hrtt ?: bfc_hrtt_of(port);
	c->own = port->life.loop;
	c->loop = p->hrtt ?: c->own ?: c->hrtt;
	c->longest = bfc_hrtt_longest(port, p, link_rate, c->loop);
	c->aside = *p->buffer ? bfc_hrtt_aside(port, p, link_rate, c->loop) : c->longest;
}

static int bfc_derive_mode(struct bfc_cfg *c, const struct bfc_derive *d, bool bare)
{
	const struct bfc_params *p = d->p;
	int err;

	c->lossy.limit = BFC_LIMIT_NONE;
	c->lossy.alpha = p->share;
	c->lossy.reserve = p->reserve;
	c->fixed = (u64)BFC_PRIORITIES * p->reserve;
	err = c->fc->derive ? c->fc->derive(c, d) : 0;
	if (bare || p->role == BFC_ROLE_NIC)
		c->fixed = 0;	/* no packet is charged to it: bfc_port_counts() */
	return err;
}

/**
 * bfc_cfg_new() - derive a configuration from options, link speed and MTU
 * @port: of the qdisc
 * @p: what was asked for
 * @txqs: of a root with several schedulers, or NULL
 * @speed: of the link, bytes/s; 0: unknown
 * @extack: what is wrong, in words
 *
 * Context: RTNL.
 * Return: a configuration with one user, or an error pointer.
 */
struct bfc_cfg *bfc_cfg_new(struct bfc_port *port, const struct bfc_params *p,
			    const struct bfc_txqs *txqs, u64 speed,
			    struct netlink_ext_ack *extack)
{
	u64 rate = p->rate ?: speed ?: BFC_RATE_UNKNOWN;
	const struct bfc_cfg *before = port->cfg;
	const struct bfc_derive d = {
		.p = p,
		.txqs = txqs ? txqs->used : 1,
		.rate = rate,
		.link_rate = speed ?: rate,
		.mtu = psched_mtu(port->dev),
		.frame = clamp_t(u32, psched_mtu(port->dev), BFC_QUANTUM_MIN,
				 BFC_QUANTUM_MAX),
		.before = before,
		.extack = extack,
	};
	unsigned int queues = (txqs ? txqs->n : 1) * p->queues;
	struct bfc_cfg *c;
	int err;

	c = kvzalloc(struct_size(c, thresh, queues + 1) +
		     (p->classes > 1 ? struct_size(c->of, queue, queues) : 0), GFP_KERNEL_ACCOUNT);
	if (!c)
		return ERR_PTR(-ENOMEM);
	refcount_set(&c->users, 1);
	c->speed = speed;
	bfc_derive_hrtt(c, port, p, d.link_rate);
	bfc_derive_txqs(c, &d);
	bfc_derive_sched(c, &d);
	bfc_thresh_fill(c->thresh, queues, rate, c->hrtt, d.frame, p->threshold);
	err = bfc_derive_mode(c, &d, port->bare);
	if (err)
		goto free;
	if (*p->buffer) {
		struct bfc_buffer *buffer;
		u64 was;

		buffer = bfc_buffer_join(port->sw, p, c->fixed, before,
					 &was, extack);
		err = PTR_ERR_OR_ZERO(buffer);
		if (err)
			goto free;
		c->buffer = buffer;
		c->undo = was;
	}
	if (bfc_cfg_has_prios(c))
		static_branch_inc(&bfc_holds.key);
	if (c->by_root)
		static_branch_inc(&bfc_roots.key);
	if (c->ranged)
		static_branch_inc(&bfc_classed.key);
	if (c->srf)
		static_branch_inc(&bfc_sized.key);
	c->sw = port->sw;
	c->sw->eliders += c->elides;
	return c;
free:
	kvfree(c);
	return ERR_PTR(err);
}

/**
 * bfc_cfg_put() - one user less
 * @c: a configuration, or NULL
 *
 * Context: RTNL.
 */
void bfc_cfg_put(struct bfc_cfg *c)
{
	if (!c || !refcount_dec_and_test(&c->users))
		return;
	if (bfc_cfg_has_prios(c))
		static_branch_slow_dec_deferred(&bfc_holds);
	if (c->by_root)
		static_branch_slow_dec_deferred(&bfc_roots);
	if (c->ranged)
		static_branch_slow_dec_deferred(&bfc_classed);
	if (c->srf)
		static_branch_slow_dec_deferred(&bfc_sized);
	c->sw->eliders -= c->elides;
	if (c->buffer) {
		if (c->undo)
			c->buffer->memory = c->undo;
		bfc_buffer_leave(c->buffer, c->fixed);
	}
	kvfree_rcu(c, rcu);
}

/**
 * bfc_cfg_exit() - at module unload: wait for static keys that are still to be switched off
 *
 * Context: process, no configuration has a user.
 */
void bfc_cfg_exit(void)
{
	static_key_deferred_flush(&bfc_holds);
	static_key_deferred_flush(&bfc_roots);
	static_key_deferred_flush(&bfc_classed);
	static_key_deferred_flush(&bfc_sized);
}
