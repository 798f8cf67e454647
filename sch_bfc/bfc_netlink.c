// SPDX-License-Identifier: GPL-2.0
/*
 * Options of the qdisc as netlink attributes: read, check, dump.
 */
#include <linux/ctype.h>
#include <linux/if_ether.h>
#include <net/netlink.h>

#include "bfc.h"
#include "bfc_options.h"

/* Generated from spec/bfc.yaml: policy */
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
	[TCA_BFC_PRIO]		= { .type = NLA_U8 },
	[TCA_BFC_PRIO_MAP]	= NLA_POLICY_EXACT_LEN(BFC_PRIO_VALUES),
	[TCA_BFC_LOSSLESS]	= { .type = NLA_U8 },
	[TCA_BFC_XOFF]		= { .type = NLA_U32 },
	[TCA_BFC_XON]		= { .type = NLA_U32 },
	[TCA_BFC_MAX_BYTES]	= { .type = NLA_U32 },
	[TCA_BFC_DYNAMIC]	= { .type = NLA_U32 },
	[TCA_BFC_EGRESS_XOFF]	= { .type = NLA_U32 },
	[TCA_BFC_EGRESS_XON]	= { .type = NLA_U32 },
	[TCA_BFC_EGRESS_MAX]	= { .type = NLA_U32 },
	[TCA_BFC_WARN]		= { .type = NLA_U32 },
	[TCA_BFC_CUT]		= { .type = NLA_U8 },
	[TCA_BFC_T_HOP]		= { .type = NLA_U64 },
	[TCA_BFC_ALPHA]		= { .type = NLA_U32 },
	[TCA_BFC_BETA]		= { .type = NLA_U32 },
	[TCA_BFC_FDEC]		= { .type = NLA_U32 },
	[TCA_BFC_CONGESTED]	= { .type = NLA_U32 },
	[TCA_BFC_ECN]		= { .type = NLA_U32 },
	[TCA_BFC_WATCHDOG]	= { .type = NLA_U64 },
	[TCA_BFC_BUFFER]	= { .type = NLA_NUL_STRING,
				    .len = BFC_BUFFER_NAMSIZ - 1 },
	[TCA_BFC_BUFFER_SIZE]	= { .type = NLA_U32 },
	[TCA_BFC_RESERVE]	= { .type = NLA_U32 },
	[TCA_BFC_HEADROOM]	= { .type = NLA_U32 },
	[TCA_BFC_SHARE]		= { .type = NLA_U32 },
	[TCA_BFC_STRICT]	= { .type = NLA_U8 },
	[TCA_BFC_STAMP]		= { .type = NLA_U8 },
	[TCA_BFC_STAMP_FD]	= { .type = NLA_U32 },
	[TCA_BFC_STAMP_ID]	= { .type = NLA_REJECT },
	[TCA_BFC_STAMP_TAG]	= { .type = NLA_REJECT },
	[TCA_BFC_STAMP_NAME]	= { .type = NLA_REJECT },
	[TCA_BFC_DST_PREFIX]	= { .type = NLA_U32 },
	[TCA_BFC_DST_PREFIX6]	= { .type = NLA_U32 },
	[TCA_BFC_TXQS]		= { .type = NLA_U8 },
	[TCA_BFC_SYNC]		= { .type = NLA_U64 },
	[TCA_BFC_HRTT_MAX]	= { .type = NLA_U64 },
	[TCA_BFC_SAMPLE]	= { .type = NLA_U8 },
	[TCA_BFC_INCAST]	= { .type = NLA_U64 },
	[TCA_BFC_CLASSES]	= { .type = NLA_U32 },
	[TCA_BFC_CLASS_QUEUES]	= NLA_POLICY_EXACT_LEN(BFC_LIST_LEN),
	[TCA_BFC_WEIGHTS]	= NLA_POLICY_EXACT_LEN(BFC_LIST_LEN),
	[TCA_BFC_KEEP_CLASS]	= { .type = NLA_U8 },
	[TCA_BFC_SCHED]		= { .type = NLA_U8 },
	[TCA_BFC_KMAX]		= { .type = NLA_U32 },
	[TCA_BFC_PMAX]		= { .type = NLA_U32 },
};

/* End of policy */

static const struct nla_policy bfc_elide_policy[TCA_BFC_ELIDE_MAX + 1] = {
	[TCA_BFC_ELIDE_IFINDEX]	= { .type = NLA_U32 },
};

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

static int bfc_parse_map(const struct nlattr *a, struct bfc_params *p,
			 struct netlink_ext_ack *extack)
{
	const u8 *map = nla_data(a);
	unsigned int v;

	for (v = 0; v < BFC_PRIO_VALUES; v++)
		if (map[v] >= BFC_PRIORITIES && map[v] != BFC_PRIO_AUTO)
			return bfc_refuse(a, "bfc: map: priorities are 0 to 7",
					  extack);
	memcpy(p->prio_map, map, BFC_PRIO_VALUES);
	return 0;
}

/* True if the label is a DSCP (its mask is 0), or a mark within its mask. A mark of 0 is
 * invalid: it is that of packets without a mark.
 */
static bool bfc_incast_valid(u64 incast)
{
	u32 mask = incast >> 32, mark = incast;

	return incast <= BFC_INCAST_DSCP_MAX || (mark && !(mark & ~mask));
}

static void bfc_get_list(u16 *list, const struct nlattr *a)
{
	if (a)
		memcpy(list, nla_data(a), BFC_LIST_LEN);
}

/* Check that a list has a number from 1 to @most for each class, and 0 for the rest.
 *
 * Return: the sum of the numbers; 0 if the list is invalid.
 */
static unsigned int bfc_list_sum(const struct bfc_params *p, const u16 *list, unsigned int most)
{
	unsigned int class, sum = 0;

	for (class = 0; class < BFC_LIST; class++) {
		if (class < p->classes ? !list[class] || list[class] > most : list[class])
			return 0;
		sum += list[class];
	}
	return sum;
}

/* Check classes against queues, class-queues, weights and strict: options that this request does
 * not set may not fit those that it sets.
 */
static int bfc_check_classes(struct nlattr **tb, const struct bfc_params *p,
			     struct netlink_ext_ack *extack)
{
	const struct nlattr *classes = tb[TCA_BFC_CLASSES];

	if (p->classes == 1)
		return 0;
	if (p->classes > p->queues)
		return bfc_refuse(classes ?: tb[TCA_BFC_QUEUES],
				  "bfc: classes: at most as many as queues", extack);
	if (memchr_inv(p->class_queues, 0, BFC_LIST_LEN) &&
	    bfc_list_sum(p, p->class_queues, BFC_QUEUES_MAX) != p->queues)
		return bfc_refuse(tb[TCA_BFC_CLASS_QUEUES] ?: classes,
				  "bfc: class-queues: a number for each of classes, and queues in all; or even",
				  extack);
	if (memchr_inv(p->weights, 0, BFC_LIST_LEN) &&
	    !bfc_list_sum(p, p->weights, BFC_CLASS_WEIGHT_MAX))
		return bfc_refuse(tb[TCA_BFC_WEIGHTS] ?: classes,
				  "bfc: weights: 1 to 255 for each of classes; or equal", extack);
	if (p->strict != 0xff && p->strict >> p->classes)
		return bfc_refuse(tb[TCA_BFC_STRICT] ?: classes,
				  "bfc: strict: 0 to classes - 1, or all", extack);
	return 0;
}

/* Check sched against classes and assign. */
static int bfc_check_sched(struct nlattr **tb, const struct bfc_params *p,
			   struct netlink_ext_ack *extack)
{
	bool srf = p->sched == BFC_SCHED_SRF;

	if (srf && p->classes > 1)
		return bfc_refuse(tb[TCA_BFC_SCHED] ?: tb[TCA_BFC_CLASSES],
				  "bfc: sched: srf is not for classes", extack);
	if (!srf && p->assign == BFC_ASSIGN_SIMILAR)
		return bfc_refuse(tb[TCA_BFC_ASSIGN] ?: tb[TCA_BFC_SCHED], BFC_FOR_SRF, extack);
	return 0;
}

/* Check kmax against ecn. */
static int bfc_check_ramp(struct nlattr **tb, const struct bfc_params *p,
			  struct netlink_ext_ack *extack)
{
	if (!p->kmax || p->kmax > p->ecn)
		return 0;
	return bfc_refuse(tb[TCA_BFC_KMAX] ?: tb[TCA_BFC_ECN],
			  "bfc: kmax must be above ecn, or off", extack);
}

/* Check map against prio: a value that prio never has would map nothing. */
static int bfc_check_map(struct nlattr **tb, const struct bfc_params *p,
			 struct netlink_ext_ack *extack)
{
	static const u8 values[] = {
		[BFC_PRIO_PCP] = 8, [BFC_PRIO_DSCP] = BFC_PRIO_VALUES, [BFC_PRIO_SKB] = 16,
	};
	unsigned int v;

	for (v = values[p->prio]; v < BFC_PRIO_VALUES; v++)
		if (p->prio_map[v] != BFC_PRIO_AUTO)
			return bfc_refuse(tb[TCA_BFC_PRIO_MAP] ?: tb[TCA_BFC_PRIO],
					  "bfc: map: values of prio pcp are 0 to 7, of skb 0 to 15, of dscp 0 to 63",
					  extack);
	return 0;
}

static int bfc_check_name(const struct nlattr *a, struct netlink_ext_ack *extack)
{
	const char *name = nla_data(a);

	for (; *name; name++)
		if (!isgraph(*name) || !isascii(*name))
			return bfc_refuse(a, "bfc: buffer: a name of printable characters without blanks",
					  extack);
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
		    !(i == TCA_BFC_STICKY && v == BFC_STICKY_AUTO) &&
		    !(i == TCA_BFC_WATCHDOG && v == BFC_WATCHDOG_AUTO))
			return bfc_refuse(tb[i], o->msg, extack);
		bfc_set_uint((u8 *)p + o->offset, o->width, v);
	}

	if (tb[TCA_BFC_INCAST] && !bfc_incast_valid(p->incast))
		return bfc_refuse(tb[TCA_BFC_INCAST], bfc_options[TCA_BFC_INCAST].msg, extack);
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
	if (tb[TCA_BFC_PRIO_MAP]) {
		err = bfc_parse_map(tb[TCA_BFC_PRIO_MAP], p, extack);
		if (err)
			return err;
	}
	if (tb[TCA_BFC_BUFFER]) {
		err = bfc_check_name(tb[TCA_BFC_BUFFER], extack);
		if (err)
			return err;
		memset(p->buffer, 0, sizeof(p->buffer));
		nla_strscpy(p->buffer, tb[TCA_BFC_BUFFER], sizeof(p->buffer));
	}
	if (tb[TCA_BFC_BUFFER_SIZE] && p->buffer_size && !*p->buffer)
		return bfc_refuse(tb[TCA_BFC_BUFFER_SIZE],
				  "bfc: size is that of a buffer, give its name",
				  extack);
	if (tb[TCA_BFC_STAMP_FD]) {
		p->stamp_fd = nla_get_s32(tb[TCA_BFC_STAMP_FD]);
		if (p->stamp_fd < 0)
			return bfc_refuse(tb[TCA_BFC_STAMP_FD],
					  "bfc: stamp: no file descriptor",
					  extack);
	}
	if (tb[TCA_BFC_ELIDE]) {
		err = bfc_parse_elide(sch, tb[TCA_BFC_ELIDE], p, extack);
		if (err)
			return err;
	}
	bfc_get_list(p->class_queues, tb[TCA_BFC_CLASS_QUEUES]);
	bfc_get_list(p->weights, tb[TCA_BFC_WEIGHTS]);
	return bfc_check_used(tb, p, extack) ?: bfc_check_classes(tb, p, extack) ?:
	       bfc_check_sched(tb, p, extack) ?: bfc_check_ramp(tb, p, extack) ?:
	       bfc_check_map(tb, p, extack);
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
	const struct bfc_params *p = &q->cfg->p;
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
		if (i == TCA_BFC_BUFFER_SIZE && q->cfg->buffer)
			v = q->cfg->buffer->memory;
		if (bfc_put_uint(skb, i, o->width, v))
			goto cancel;
	}
	if (nla_put_u16(skb, TCA_BFC_TPID, p->tpid) ||
	    nla_put(skb, TCA_BFC_PRIO_MAP, BFC_PRIO_VALUES, p->prio_map) ||
	    nla_put(skb, TCA_BFC_CLASS_QUEUES, BFC_LIST_LEN, p->class_queues) ||
	    nla_put(skb, TCA_BFC_WEIGHTS, BFC_LIST_LEN, p->weights) ||
	    nla_put_string(skb, TCA_BFC_BUFFER, p->buffer) ||
	    bfc_stamp_dump(skb, q->stamp.prog))
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
