// SPDX-License-Identifier: GPL-2.0
/*
 * What tc sees: options, their ranges and messages, statistics, classes.
 */
#include <linux/if_ether.h>
#include <net/netlink.h>

#include "bfc.h"

static const struct nla_policy bfc_policy[TCA_BFC_MAX + 1] = {
	[TCA_BFC_UNSPEC]	= { .strict_start_type = TCA_BFC_FC },
	[TCA_BFC_FC]		= { .type = NLA_U8 },
	[TCA_BFC_ROLE]		= { .type = NLA_U8 },
	[TCA_BFC_PEER]		= { .type = NLA_U8 },
	[TCA_BFC_QUEUES]	= { .type = NLA_U32 },
	[TCA_BFC_FLOWS]		= { .type = NLA_U32 },
	[TCA_BFC_ASSIGN]	= { .type = NLA_U8 },
	[TCA_BFC_AVOID_PAUSED]	= { .type = NLA_U8 },
	[TCA_BFC_STICKY]	= { .type = NLA_U64 },
	[TCA_BFC_HRTT]		= { .type = NLA_U64 },
	[TCA_BFC_THRESHOLD]	= { .type = NLA_U32 },
	[TCA_BFC_RESUME]	= { .type = NLA_U8 },
	[TCA_BFC_RATE]		= { .type = NLA_U64 },
	[TCA_BFC_LIMIT]		= { .type = NLA_U32 },
	[TCA_BFC_QUANTUM]	= { .type = NLA_U32 },
	[TCA_BFC_REFRESH]	= { .type = NLA_U64 },
	[TCA_BFC_HOLD]		= { .type = NLA_U64 },
	[TCA_BFC_SPLIT_GSO]	= { .type = NLA_U8 },
	[TCA_BFC_TPID]		= { .type = NLA_U16 },
	[TCA_BFC_ACCEPT_PAUSE]	= { .type = NLA_U8 },
	[TCA_BFC_ELIDE]		= { .type = NLA_NESTED },
	[TCA_BFC_WAYS]		= { .type = NLA_U32 },
	[TCA_BFC_NEW_FIRST]	= { .type = NLA_U8 },
};

static const struct nla_policy bfc_elide_policy[TCA_BFC_ELIDE_MAX + 1] = {
	[TCA_BFC_ELIDE_IFINDEX]	= { .type = NLA_U32 },
};

/**
 * bfc_params_default() - the defaults, all of them in one place
 * @p: result
 */
void bfc_params_default(struct bfc_params *p)
{
	*p = (struct bfc_params){
		.fc = BFC_FC_BFC,
		.role = BFC_ROLE_SWITCH,
		.peer = BFC_PEER_AUTO,
		.queues = BFC_QUEUES_DEFAULT,
		.flows_auto = true,
		.flows = BFC_QUEUES_DEFAULT * BFC_FLOWS_PER_QUEUE,
		.ways = BFC_WAYS_DEFAULT,
		.assign = BFC_ASSIGN_DYNAMIC,
		.avoid_paused = 1,
		.sticky = BFC_STICKY_AUTO,
		.hrtt = BFC_HRTT_DEFAULT,
		.resume = BFC_RESUME_EARLY,
		.limit = BFC_LIMIT_DEFAULT,
		.new_first = 1,
		.split_gso = 1,
		.tpid = ETH_P_8021AD,
	};
}

/**
 * struct bfc_option - a number that netlink sets
 * @offset: in struct bfc_params
 * @width: bytes, there and in the attribute
 * @zero: 0 is allowed, too: "follows from the rest"
 * @lo: smallest value
 * @hi: largest
 * @msg: what a user is told who is outside
 */
struct bfc_option {
	u16 offset;
	u8 width;
	bool zero;
	u64 lo;
	u64 hi;
	const char *msg;
};

#define BFC_OPTION(_field, _type, _lo, _hi, _zero, _msg) {	\
	.offset = offsetof(struct bfc_params, _field),		\
	.width = sizeof(_type),					\
	.lo = (_lo), .hi = (_hi), .zero = (_zero),		\
	.msg = "bfc: " _msg }

static const struct bfc_option bfc_options[TCA_BFC_MAX + 1] = {
	[TCA_BFC_FC] =
		BFC_OPTION(fc, u8, 0, __BFC_FC_MAX - 1, false,
			   "fc: unknown mode"),
	[TCA_BFC_ROLE] =
		BFC_OPTION(role, u8, 0, __BFC_ROLE_MAX - 1, false,
			   "role: switch or nic"),
	[TCA_BFC_PEER] =
		BFC_OPTION(peer, u8, 0, __BFC_PEER_MAX - 1, false,
			   "peer: auto, on or off"),
	[TCA_BFC_QUEUES] =
		BFC_OPTION(queues, u32, BFC_QUEUES_MIN, BFC_QUEUES_MAX, false,
			   "queues: 1 to 1024"),
	[TCA_BFC_FLOWS] =
		BFC_OPTION(flows, u32, BFC_FLOWS_MIN, BFC_FLOWS_MAX, true,
			   "flows: 16 to 4194304, or 0 for 100 x queues"),
	[TCA_BFC_ASSIGN] =
		BFC_OPTION(assign, u8, 0, __BFC_ASSIGN_MAX - 1, false,
			   "assign: dynamic, stochastic or single"),
	[TCA_BFC_AVOID_PAUSED] =
		BFC_OPTION(avoid_paused, u8, 0, 1, false,
			   "avoid-paused: 0 or 1"),
	[TCA_BFC_STICKY] =
		BFC_OPTION(sticky, u64, 0, BFC_STICKY_MAX, false,
			   "sticky: at most 10 s"),
	[TCA_BFC_HRTT] =
		BFC_OPTION(hrtt, u64, BFC_HRTT_MIN, BFC_HRTT_MAX, false,
			   "hrtt: 100 ns to 1 s"),
	[TCA_BFC_THRESHOLD] =
		BFC_OPTION(threshold, u32, 1, BFC_THRESHOLD_MAX, true,
			   "threshold: at most 1073741824 bytes, or 0 for auto"),
	[TCA_BFC_RESUME] =
		BFC_OPTION(resume, u8, 0, __BFC_RESUME_MAX - 1, false,
			   "resume: drained or early"),
	[TCA_BFC_RATE] =
		BFC_OPTION(rate, u64, BFC_RATE_MIN, BFC_RATE_MAX, true,
			   "rate: 1000 to 125000000000 bytes/s, or 0 for the link's speed"),
	[TCA_BFC_LIMIT] =
		BFC_OPTION(limit, u32, BFC_LIMIT_MIN, BFC_LIMIT_MAX, false,
			   "limit: 65536 to 1073741824 bytes"),
	[TCA_BFC_QUANTUM] =
		BFC_OPTION(quantum, u32, BFC_QUANTUM_MIN, BFC_QUANTUM_MAX, true,
			   "quantum: 256 to 1048576 bytes, or 0 for one MTU"),
	[TCA_BFC_REFRESH] =
		BFC_OPTION(refresh, u64, BFC_REFRESH_MIN, BFC_REFRESH_MAX, true,
			   "refresh: 10 us to 1 s, or 0 for auto"),
	[TCA_BFC_HOLD] =
		BFC_OPTION(hold, u64, BFC_HOLD_MIN, BFC_HOLD_MAX, true,
			   "hold: 1 ms to 4 s, or 0 for auto"),
	[TCA_BFC_SPLIT_GSO] =
		BFC_OPTION(split_gso, u8, 0, 1, false,
			   "split-gso: 0 or 1"),
	[TCA_BFC_ACCEPT_PAUSE] =
		BFC_OPTION(accept_pause, u8, 0, 1, false,
			   "accept-pause: 0 or 1"),
	[TCA_BFC_WAYS] =
		BFC_OPTION(ways, u32, 1, BFC_WAYS_MAX, false, "ways: 1 to 8"),
	[TCA_BFC_NEW_FIRST] =
		BFC_OPTION(new_first, u8, 0, 1, false,
			   "new-first: 0 or 1"),
};

static int bfc_refuse(const struct nlattr *a, const char *msg,
		      struct netlink_ext_ack *extack)
{
	NL_SET_BAD_ATTR(extack, a);
	if (extack)
		extack->_msg = msg;
	return -EINVAL;
}

static u64 bfc_get_uint(const struct nlattr *a, u8 width)
{
	switch (width) {
	case sizeof(u8):
		return nla_get_u8(a);
	case sizeof(u32):
		return nla_get_u32(a);
	default:
		return nla_get_u64(a);
	}
}

static void bfc_set_uint(void *field, u8 width, u64 v)
{
	switch (width) {
	case sizeof(u8):
		*(u8 *)field = v;
		break;
	case sizeof(u32):
		*(u32 *)field = v;
		break;
	default:
		*(u64 *)field = v;
		break;
	}
}

static int bfc_parse_elide(struct Qdisc *sch, const struct nlattr *nest,
			   struct bfc_params *p, struct netlink_ext_ack *extack)
{
	struct net *net = dev_net(qdisc_dev(sch));
	const struct nlattr *a;
	int rem, err;

	err = nla_validate_nested(nest, TCA_BFC_ELIDE_MAX, bfc_elide_policy,
				  extack);
	if (err)
		return err;
	p->nelide = 0;
	nla_for_each_nested(a, nest, rem) {
		if (p->nelide == BFC_ELIDE_MAX)
			return bfc_refuse(a, "bfc: elide: at most 64 devices",
					  extack);
		if (!__dev_get_by_index(net, nla_get_u32(a)))
			return bfc_refuse(a, "bfc: elide: no such device",
					  extack);
		p->elide[p->nelide++] = nla_get_u32(a);
	}
	return 0;
}

/**
 * bfc_params_parse() - read and check TCA_OPTIONS
 * @sch: the qdisc
 * @opt: the attribute, NULL = no options given
 * @p: in: present values; out: with the given ones instead
 * @extack: what is wrong, in words
 *
 * Context: RTNL.
 * Return: 0 or -EINVAL.
 */
int bfc_params_parse(struct Qdisc *sch, struct nlattr *opt,
		     struct bfc_params *p, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_BFC_MAX + 1];
	unsigned int i;
	int err;

	if (!opt)
		return 0;
	err = __nla_parse(tb, TCA_BFC_MAX, nla_data(opt), nla_len(opt),
			  bfc_policy, NL_VALIDATE_STRICT & ~NL_VALIDATE_NESTED,
			  extack);
	if (err)
		return err;

	for (i = 0; i <= TCA_BFC_MAX; i++) {
		const struct bfc_option *o = &bfc_options[i];
		u64 v;

		if (!o->msg || !tb[i])
			continue;
		v = bfc_get_uint(tb[i], o->width);
		if ((v < o->lo || v > o->hi) && !(o->zero && !v) &&
		    !(i == TCA_BFC_STICKY && v == BFC_STICKY_AUTO))
			return bfc_refuse(tb[i], o->msg, extack);
		bfc_set_uint((u8 *)p + o->offset, o->width, v);
	}

	if (tb[TCA_BFC_FLOWS])
		p->flows_auto = !p->flows;
	if (p->flows_auto)
		p->flows = p->queues * BFC_FLOWS_PER_QUEUE;
	if (p->refresh && p->hold && p->hold < 2 * p->refresh)
		return bfc_refuse(tb[TCA_BFC_HOLD] ?: tb[TCA_BFC_REFRESH],
				  "bfc: hold must be at least 2 x refresh",
				  extack);
	if (tb[TCA_BFC_TPID]) {
		p->tpid = nla_get_u16(tb[TCA_BFC_TPID]);
		if (p->tpid != ETH_P_8021AD && p->tpid != ETH_P_8021Q)
			return bfc_refuse(tb[TCA_BFC_TPID],
					  "bfc: tpid: 88a8 or 8100", extack);
	}
	if (tb[TCA_BFC_ELIDE])
		return bfc_parse_elide(sch, tb[TCA_BFC_ELIDE], p, extack);
	return 0;
}

static int bfc_put_uint(struct sk_buff *skb, int attr, u8 width, u64 v)
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

/**
 * bfc_dump() - TCA_OPTIONS: what was configured, autos as such
 * @sch: the qdisc
 * @skb: message
 *
 * Return: as nla_nest_end(), or -EMSGSIZE.
 */
int bfc_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct bfc_sched *q = qdisc_priv(sch);
	const struct bfc_params *p = &q->p;
	struct nlattr *opts, *elide;
	unsigned int i;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	for (i = 0; i <= TCA_BFC_MAX; i++) {
		const struct bfc_option *o = &bfc_options[i];
		const void *field = (const u8 *)p + o->offset;
		u64 v;

		if (!o->msg)
			continue;
		v = o->width == sizeof(u8) ? *(const u8 *)field :
		    o->width == sizeof(u32) ? *(const u32 *)field :
		    *(const u64 *)field;
		if (i == TCA_BFC_FLOWS && p->flows_auto)
			v = 0;
		if (bfc_put_uint(skb, i, o->width, v))
			goto cancel;
	}
	if (nla_put_u16(skb, TCA_BFC_TPID, p->tpid))
		goto cancel;
	elide = nla_nest_start(skb, TCA_BFC_ELIDE);
	if (!elide)
		goto cancel;
	for (i = 0; i < p->nelide; i++)
		if (nla_put_u32(skb, TCA_BFC_ELIDE_IFINDEX, p->elide[i]))
			goto cancel;
	nla_nest_end(skb, elide);
	return nla_nest_end(skb, opts);

cancel:
	nla_nest_cancel(skb, opts);
	return -EMSGSIZE;
}

/* ---- statistics ---- */

/* What is read under the port's lock, then put without it. */
struct bfc_port_stats {
	struct bfc_port_pcpu pcpu;
	struct bfc_peer peer;
	u64 bad[BFC_BAD_MAX];
	u64 frames_rx;
	u64 hello_rx;
	u64 hello_tx;
	u64 refresh;
	u64 hold;
	u64 counters;
	u32 state;
};

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
	s->peer = port->peer;
	memcpy(s->bad, port->bad, sizeof(s->bad));
	s->frames_rx = port->frames_rx;
	s->hello_rx = port->hello_rx;
	s->hello_tx = port->hello_tx;
	s->refresh = port->cfg.refresh;
	s->hold = port->cfg.hold;
	if (port->cfg.fc == BFC_FC_NONE || port->cfg.peer == BFC_PEER_OFF ||
	    !port->carrier)
		s->state = BFC_PEER_STATE_OFF;
	else if (port->refused)
		s->state = BFC_PEER_STATE_REFUSED;
	else if (port->cfg.peer == BFC_PEER_ON)
		s->state = BFC_PEER_STATE_UP;
	else
		s->state = port->peer.state;
	ing = rcu_dereference_protected(port->ingress,
					lockdep_is_held(&port->lock));
	for (i = 0; ing && i < ing->queues; i++)
		s->counters += atomic_read(&ing->counter[i]);
	spin_unlock_bh(&port->lock);
}

struct bfc_stat {
	int attr;
	u64 value;
};

static int bfc_put_stats(struct sk_buff *skb, u8 width,
			 const struct bfc_stat *stat, unsigned int n)
{
	for (; n; n--, stat++)
		if (bfc_put_uint(skb, stat->attr, width, stat->value))
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
	};
	const struct bfc_stat u64s[] = {
		{ TCA_BFC_STATS_REFRESH, s->refresh },
		{ TCA_BFC_STATS_HOLD, s->hold },
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
	};

	return bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s)) ?:
	       bfc_put_stats(skb, sizeof(u64), u64s, ARRAY_SIZE(u64s));
}

/* Under the root lock, so that the figures belong together. */
static int bfc_put_sched_stats(struct sk_buff *skb, const struct bfc_sched *q)
{
	const struct bfc_port *port = q->port;
	const struct bfc_stat u32s[] = {
		{ TCA_BFC_STATS_OCCUPIED, q->noccupied },
		{ TCA_BFC_STATS_ACTIVE, q->nactive },
		{ TCA_BFC_STATS_PAUSED, q->npaused },
		{ TCA_BFC_STATS_UPSTREAM_PAUSED, port->tx_npaused },
		{ TCA_BFC_STATS_THRESHOLD, q->thresh[q->nactive] },
		{ TCA_BFC_STATS_MEMORY, q->mem },
		{ TCA_BFC_STATS_MEMORY_PEAK, q->mem_peak },
		{ TCA_BFC_STATS_BACKLOG_PEAK, q->backlog_peak },
	};
	const struct bfc_stat u64s[] = {
		{ TCA_BFC_STATS_LINK_RATE, q->rate },
		{ TCA_BFC_STATS_STICKY, q->sticky },
		{ TCA_BFC_STATS_HRTT, q->p.hrtt },
		{ TCA_BFC_STATS_ASSIGNED, q->assigned },
		{ TCA_BFC_STATS_COLLISIONS, q->collisions },
		{ TCA_BFC_STATS_SHARED, q->shared },
		{ TCA_BFC_STATS_COUNTED, q->counted },
		{ TCA_BFC_STATS_DROP_LIMIT, q->drop_limit },
		{ TCA_BFC_STATS_DROP_CAP, q->drop_cap },
		{ TCA_BFC_STATS_DROP_GSO, q->drop_gso },
		{ TCA_BFC_STATS_PAUSE_TX, port->pause_tx },
		{ TCA_BFC_STATS_RESUME_TX, port->resume_tx },
		{ TCA_BFC_STATS_FRAMES_TX, port->frames_tx },
		{ TCA_BFC_STATS_REFRESH_TX, port->refresh_tx },
		{ TCA_BFC_STATS_PAUSE_RX, q->pause_rx },
		{ TCA_BFC_STATS_RESUME_RX, q->resume_rx },
		{ TCA_BFC_STATS_EXPIRED, q->expired },
		{ TCA_BFC_STATS_ELIDED, q->elided },
		{ TCA_BFC_STATS_UNTRUSTED, q->untrusted },
		{ TCA_BFC_STATS_TAGGED_TX, q->tagged_tx },
	};

	return bfc_put_stats(skb, sizeof(u32), u32s, ARRAY_SIZE(u32s)) ?:
	       bfc_put_stats(skb, sizeof(u64), u64s, ARRAY_SIZE(u64s));
}

/**
 * bfc_dump_stats() - TCA_STATS_APP nest with TCA_BFC_STATS_*
 * @sch: the qdisc
 * @d: dump
 *
 * Return: 0 or -1.
 */
int bfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_port_stats s;
	struct nlattr *nest;
	int err;

	bfc_port_read(q->port, &s);
	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);
	if (!nest)
		return -1;
	sch_tree_lock(sch);
	err = bfc_put_sched_stats(d->skb, q);
	sch_tree_unlock(sch);
	if (!err)
		err = bfc_put_port_stats(d->skb, &s);
	if (err) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

/* ---- classes: queue q is class q + 1, to be looked at only ---- */

static struct Qdisc *bfc_leaf(struct Qdisc *sch, unsigned long cl)
{
	return NULL;
}

static unsigned long bfc_find(struct Qdisc *sch, u32 classid)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return minor <= q->p.queues ? minor : 0;
}

static int bfc_dump_class(struct Qdisc *sch, unsigned long cl,
			  struct sk_buff *skb, struct tcmsg *tcm)
{
	tcm->tcm_handle |= TC_H_MIN(cl);
	return 0;
}

static int bfc_dump_class_stats(struct Qdisc *sch, unsigned long cl,
				struct gnet_dump *d)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct gnet_stats_queue qs = {};
	unsigned int qn = cl - 1;
	struct bfc_queue queue;
	struct nlattr *nest;
	bool paused;

	if (qn >= q->p.queues)
		return -1;
	sch_tree_lock(sch);
	queue = q->queues[qn];
	paused = test_bit(qn, q->paused);
	sch_tree_unlock(sch);

	if (paused)
		queue.paused_ns += ktime_get_ns() - queue.paused_since;
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
	    nla_put_u64_64bit(d->skb, TCA_BFC_CLASS_PAUSES, queue.pauses,
			      TCA_BFC_CLASS_PAD) ||
	    nla_put_u64_64bit(d->skb, TCA_BFC_CLASS_PAUSED_NS, queue.paused_ns,
			      TCA_BFC_CLASS_PAD) ||
	    nla_put_u32(d->skb, TCA_BFC_CLASS_BACKLOG_PEAK, queue.peak) ||
	    nla_put_s32(d->skb, TCA_BFC_CLASS_DEFICIT, queue.deficit)) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

static void bfc_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct bfc_sched *q = qdisc_priv(sch);
	unsigned int qn;

	if (arg->stop)
		return;
	for (qn = 0; qn < q->p.queues; qn++) {
		if (!tc_qdisc_stats_dump(sch, qn + 1, arg))
			break;
	}
}

const struct Qdisc_class_ops bfc_class_ops = {
	.leaf		= bfc_leaf,
	.find		= bfc_find,
	.walk		= bfc_walk,
	.dump		= bfc_dump_class,
	.dump_stats	= bfc_dump_class_stats,
};
