// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink side of the test wire: creation, parameters, drop rules, counters.
 * All functions run under the RTNL.
 */

#include <linux/etherdevice.h>
#include <linux/if_link.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>

#include "wire_dev.h"

static const struct nla_policy wire_policy[IFLA_WIRE_MAX + 1] = {
	[IFLA_WIRE_PEER]	= { .len = sizeof(struct ifinfomsg) },
	[IFLA_WIRE_RATE]	= { .type = NLA_U64 },
	[IFLA_WIRE_DELAY]	= { .type = NLA_U64 },
	[IFLA_WIRE_RING]	= { .type = NLA_U32 },
	[IFLA_WIRE_OVERHEAD]	= { .type = NLA_U32 },
	[IFLA_WIRE_SEED]	= { .type = NLA_U64 },
	[IFLA_WIRE_RULES]	= { .type = NLA_NESTED },
	[IFLA_WIRE_PIPE_RATE]	= { .type = NLA_U64 },
	[IFLA_WIRE_PIPE_DELAY]	= { .type = NLA_U64 },
	[IFLA_WIRE_PIPE_BUFFER]	= { .type = NLA_U32 },
	[IFLA_WIRE_PIPE_XOFF]	= { .type = NLA_U32 },
	[IFLA_WIRE_PIPE_XON]	= { .type = NLA_U32 },
	[IFLA_WIRE_PIPE_STALL]	= { .type = NLA_U32 },
};

static const struct nla_policy wire_rule_policy[IFLA_WIRE_RULE_MAX + 1] = {
	[IFLA_WIRE_RULE_PROTO]	 = { .type = NLA_U16 },
	[IFLA_WIRE_RULE_SHARE]	 = { .type = NLA_U32 },
	[IFLA_WIRE_RULE_EVERY]	 = { .type = NLA_U32 },
	[IFLA_WIRE_RULE_NEXT]	 = { .type = NLA_U32 },
	[IFLA_WIRE_RULE_PATTERN] = { .type = NLA_NUL_STRING },
	[IFLA_WIRE_RULE_MATCHED] = { .type = NLA_REJECT },
	[IFLA_WIRE_RULE_DROPPED] = { .type = NLA_REJECT },
};

static int wire_parse_pattern(struct wire_rule *rule, const struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	const char *s = nla_data(attr);
	size_t len = strlen(s), i;

	if (!len || len > WIRE_PATTERN_MAX || strspn(s, "01") != len) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wire: drop pattern must be 1 to 64 digits 0 or 1");
		return -EINVAL;
	}
	for (i = 0; i < len; i++)
		rule->bits |= (u64)(s[i] == '1') << i;
	rule->len = len;
	rule->mode = WIRE_PATTERN;
	return 0;
}

static int wire_parse_rule(struct wire_rule *rule, const struct nlattr *nest,
			   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[IFLA_WIRE_RULE_MAX + 1];
	unsigned int modes;
	int err;

	err = nla_parse_nested(tb, IFLA_WIRE_RULE_MAX, nest, wire_rule_policy,
			       extack);
	if (err)
		return err;

	modes = !!tb[IFLA_WIRE_RULE_SHARE] + !!tb[IFLA_WIRE_RULE_EVERY] +
		!!tb[IFLA_WIRE_RULE_NEXT] + !!tb[IFLA_WIRE_RULE_PATTERN];
	if (modes != 1) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "wire: drop needs one of share, every, next, pattern");
		return -EINVAL;
	}

	memset(rule, 0, sizeof(*rule));
	if (tb[IFLA_WIRE_RULE_PROTO])
		rule->proto = htons(nla_get_u16(tb[IFLA_WIRE_RULE_PROTO]));

	if (tb[IFLA_WIRE_RULE_PATTERN])
		return wire_parse_pattern(rule, tb[IFLA_WIRE_RULE_PATTERN],
					  extack);

	if (tb[IFLA_WIRE_RULE_SHARE]) {
		rule->mode = WIRE_SHARE;
		rule->arg = nla_get_u32(tb[IFLA_WIRE_RULE_SHARE]);
		if (rule->arg > WIRE_SHARE_ALL) {
			NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_WIRE_RULE_SHARE],
					    "wire: drop share must be 0% to 100%");
			return -EINVAL;
		}
	} else if (tb[IFLA_WIRE_RULE_EVERY]) {
		rule->mode = WIRE_EVERY;
		rule->arg = nla_get_u32(tb[IFLA_WIRE_RULE_EVERY]);
	} else {
		rule->mode = WIRE_NEXT;
		rule->arg = nla_get_u32(tb[IFLA_WIRE_RULE_NEXT]);
	}
	if (rule->mode != WIRE_SHARE && !rule->arg) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "wire: drop every and next must be at least 1");
		return -EINVAL;
	}
	return 0;
}

static int wire_parse_rules(struct wire_rules *rules, const struct nlattr *nest,
			    struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rem, err;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != IFLA_WIRE_RULE) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "wire: not a drop rule");
			return -EINVAL;
		}
		if (rules->n == WIRE_RULES_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "wire: at most 8 drop rules");
			return -E2BIG;
		}
		err = wire_parse_rule(&rules->rule[rules->n], attr, extack);
		if (err)
			return err;
		rules->n++;
	}
	return 0;
}

static int wire_validate_pipe(struct nlattr *data[],
			      struct netlink_ext_ack *extack)
{
	unsigned int i;

	if (data[IFLA_WIRE_PIPE_RATE] &&
	    nla_get_u64(data[IFLA_WIRE_PIPE_RATE]) > WIRE_PIPE_RATE_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_PIPE_RATE],
				    "wire: pipe must be 1 to 1000000000 frames/s, or 0 for none");
		return -ERANGE;
	}
	if (data[IFLA_WIRE_PIPE_DELAY] &&
	    nla_get_u64(data[IFLA_WIRE_PIPE_DELAY]) > WIRE_DELAY_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_PIPE_DELAY],
				    "wire: pipe-delay must be 0 to 10s");
		return -ERANGE;
	}
	for (i = IFLA_WIRE_PIPE_BUFFER; i <= IFLA_WIRE_PIPE_STALL; i++) {
		if (data[i] && nla_get_u32(data[i]) > WIRE_PIPE_BYTES_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, data[i],
					    "wire: pipe-buffer, pipe-xoff, pipe-xon and pipe-stall must be 0 to 1073741824 bytes");
			return -ERANGE;
		}
	}
	return 0;
}

static int wire_validate(struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	u64 rate;
	u32 ring;

	if (tb[IFLA_ADDRESS]) {
		if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN ||
		    !is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS]))) {
			NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
					    "wire: address must be a unicast Ethernet address");
			return -EADDRNOTAVAIL;
		}
	}
	if (!data)
		return 0;
	if (data[IFLA_WIRE_RATE]) {
		rate = nla_get_u64(data[IFLA_WIRE_RATE]);
		if (rate < WIRE_RATE_MIN || rate > WIRE_RATE_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_RATE],
					    "wire: rate must be 10kbit to 800gbit");
			return -ERANGE;
		}
	}
	if (data[IFLA_WIRE_DELAY] &&
	    nla_get_u64(data[IFLA_WIRE_DELAY]) > WIRE_DELAY_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_DELAY],
				    "wire: delay must be 0 to 10s");
		return -ERANGE;
	}
	if (data[IFLA_WIRE_RING]) {
		ring = nla_get_u32(data[IFLA_WIRE_RING]);
		if (!ring || ring > WIRE_RING_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_RING],
					    "wire: ring must be 1 to 4096 frames");
			return -ERANGE;
		}
	}
	if (data[IFLA_WIRE_OVERHEAD] &&
	    nla_get_u32(data[IFLA_WIRE_OVERHEAD]) > WIRE_OVERHEAD_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_OVERHEAD],
				    "wire: overhead must be 0 to 1024 bytes");
		return -ERANGE;
	}
	return wire_validate_pipe(data, extack);
}

static int wire_configure_pipe(struct wire_end *end, struct nlattr *data[],
			       struct netlink_ext_ack *extack)
{
	struct wire_pipe_conf conf = end->in.conf;
	bool any = false;
	unsigned int i;

	for (i = IFLA_WIRE_PIPE_RATE; i <= IFLA_WIRE_PIPE_STALL; i++)
		any |= !!data[i];
	if (!any)
		return 0;
	if (end->dev && end->dev->flags & IFF_UP) {
		NL_SET_ERR_MSG(extack, "wire: pipe cannot change while the device is up");
		return -EBUSY;
	}
	if (data[IFLA_WIRE_PIPE_RATE])
		conf.rate = nla_get_u64(data[IFLA_WIRE_PIPE_RATE]);
	if (data[IFLA_WIRE_PIPE_DELAY])
		conf.delay = nla_get_u64(data[IFLA_WIRE_PIPE_DELAY]);
	if (data[IFLA_WIRE_PIPE_BUFFER])
		conf.buffer = nla_get_u32(data[IFLA_WIRE_PIPE_BUFFER]);
	if (data[IFLA_WIRE_PIPE_XOFF])
		conf.xoff = nla_get_u32(data[IFLA_WIRE_PIPE_XOFF]);
	if (data[IFLA_WIRE_PIPE_XON])
		conf.xon = nla_get_u32(data[IFLA_WIRE_PIPE_XON]);
	if (data[IFLA_WIRE_PIPE_STALL])
		conf.stall = nla_get_u32(data[IFLA_WIRE_PIPE_STALL]);
	if (conf.xoff && conf.xon >= conf.xoff) {
		NL_SET_ERR_MSG(extack, "wire: pipe-xon must be below pipe-xoff");
		return -ERANGE;
	}
	if (conf.buffer && conf.xoff >= conf.buffer) {
		NL_SET_ERR_MSG(extack, "wire: pipe-xoff must be below pipe-buffer");
		return -ERANGE;
	}
	end->in.conf = conf;
	return 0;
}

/* Apply what wire_validate() has accepted to one end: all or nothing. */
static int wire_configure(struct wire_end *end, struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct wire_lane *lane = &end->out;
	struct wire_conf conf = lane->conf;
	struct wire_rules rules = {};
	int err;

	if (data[IFLA_WIRE_RULES]) {
		err = wire_parse_rules(&rules, data[IFLA_WIRE_RULES], extack);
		if (err)
			return err;
	}
	err = wire_configure_pipe(end, data, extack);
	if (err)
		return err;
	if (data[IFLA_WIRE_RATE])
		conf.rate = nla_get_u64(data[IFLA_WIRE_RATE]);
	if (data[IFLA_WIRE_DELAY])
		conf.delay = nla_get_u64(data[IFLA_WIRE_DELAY]);
	if (data[IFLA_WIRE_SEED])
		conf.seed = nla_get_u64(data[IFLA_WIRE_SEED]);
	if (data[IFLA_WIRE_RING])
		conf.ring = nla_get_u32(data[IFLA_WIRE_RING]);
	if (data[IFLA_WIRE_OVERHEAD])
		conf.overhead = nla_get_u32(data[IFLA_WIRE_OVERHEAD]);

	wire_reconfigure(lane, &conf, data[IFLA_WIRE_SEED],
			 data[IFLA_WIRE_RULES] ? &rules : NULL);
	return 0;
}

static int wire_newlink(struct net_device *dev,
			struct rtnl_newlink_params *params,
			struct netlink_ext_ack *extack)
{
	struct nlattr *peer_tb[IFLA_MAX + 1], **tb = params->tb, **tbp = tb;
	struct nlattr **data = params->data;
	unsigned char name_assign_type = NET_NAME_ENUM;
	struct wire_end *end = netdev_priv(dev);
	struct ifinfomsg *ifmp = NULL;
	struct wire_end *peer_end;
	struct net_device *peer;
	char ifname[IFNAMSIZ];
	struct net *net;
	int err;

	if (data) {
		err = wire_configure(end, data, extack);
		if (err)
			return err;
	}

	if (data && data[IFLA_WIRE_PEER]) {
		ifmp = nla_data(data[IFLA_WIRE_PEER]);
		err = rtnl_nla_parse_ifinfomsg(peer_tb, data[IFLA_WIRE_PEER],
					       extack);
		if (err < 0)
			return err;
		err = wire_validate(peer_tb, NULL, extack);
		if (err < 0)
			return err;
		/* The peer inherits what is not given for it. */
		if (!peer_tb[IFLA_MTU])
			peer_tb[IFLA_MTU] = tb[IFLA_MTU];
		if (!peer_tb[IFLA_NUM_TX_QUEUES])
			peer_tb[IFLA_NUM_TX_QUEUES] = tb[IFLA_NUM_TX_QUEUES];
		tbp = peer_tb;
	}

	strscpy(ifname, DRV_NAME "%d", sizeof(ifname));
	if (ifmp && tbp[IFLA_IFNAME]) {
		nla_strscpy(ifname, tbp[IFLA_IFNAME], sizeof(ifname));
		name_assign_type = NET_NAME_USER;
	}

	net = rtnl_link_get_net(params->src_net, tbp);
	if (IS_ERR(net))
		return PTR_ERR(net);
	peer = rtnl_create_link(net, ifname, name_assign_type, &wire_link_ops,
				tbp, extack);
	if (IS_ERR(peer)) {
		put_net(net);
		return PTR_ERR(peer);
	}
	peer_end = netdev_priv(peer);

	if (!ifmp || !tbp[IFLA_ADDRESS])
		eth_hw_addr_random(peer);
	if (ifmp && dev->ifindex)
		peer->ifindex = ifmp->ifi_index;

	err = data ? wire_configure(peer_end, data, extack) : 0;
	if (!err)
		err = register_netdevice(peer);
	put_net(net);
	if (err < 0) {
		free_netdev(peer);
		return err;
	}
	netif_carrier_off(peer);

	netdev_lock_ops(peer);
	err = rtnl_configure_link(peer, ifmp, 0, NULL);
	netdev_unlock_ops(peer);
	if (err < 0)
		goto err_peer;

	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	if (tb[IFLA_IFNAME])
		nla_strscpy(dev->name, tb[IFLA_IFNAME], IFNAMSIZ);
	else
		strscpy(dev->name, DRV_NAME "%d", IFNAMSIZ);
	err = register_netdevice(dev);
	if (err < 0)
		goto err_peer;
	netif_carrier_off(dev);

	rcu_assign_pointer(end->peer, peer);
	rcu_assign_pointer(peer_end->peer, dev);
	return 0;

err_peer:
	unregister_netdevice(peer);
	return err;
}

static int wire_changelink(struct net_device *dev, struct nlattr *tb[],
			   struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	struct wire_end *end = netdev_priv(dev);

	if (!data)
		return 0;
	if (data[IFLA_WIRE_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_PEER],
				    "wire: peer is set at creation only");
		return -EOPNOTSUPP;
	}
	return wire_configure(end, data, extack);
}

/* Both ends go. A second call for the other end, or ndo_stop, finds no peer. */
static void wire_dellink(struct net_device *dev, struct list_head *head)
{
	struct wire_end *end = netdev_priv(dev), *peer_end;
	struct net_device *peer = rtnl_dereference(end->peer);

	if (peer) {
		peer_end = netdev_priv(peer);
		wire_link_down(end, peer_end);
		RCU_INIT_POINTER(end->peer, NULL);
		RCU_INIT_POINTER(peer_end->peer, NULL);
		unregister_netdevice_queue(peer, head);
	}
	unregister_netdevice_queue(dev, head);
}

static int wire_fill_rule(struct sk_buff *skb, const struct wire_rule *rule,
			  bool counters)
{
	char pattern[WIRE_PATTERN_MAX + 1];
	struct nlattr *nest;
	unsigned int i;
	int err = 0;

	nest = nla_nest_start(skb, IFLA_WIRE_RULE);
	if (!nest)
		return -EMSGSIZE;

	switch (rule->mode) {
	case WIRE_SHARE:
		err = nla_put_u32(skb, IFLA_WIRE_RULE_SHARE, rule->arg);
		break;
	case WIRE_EVERY:
		err = nla_put_u32(skb, IFLA_WIRE_RULE_EVERY, rule->arg);
		break;
	case WIRE_NEXT:
		err = nla_put_u32(skb, IFLA_WIRE_RULE_NEXT, rule->arg);
		break;
	case WIRE_PATTERN:
		for (i = 0; i < rule->len; i++)
			pattern[i] = rule->bits >> i & 1 ? '1' : '0';
		pattern[rule->len] = '\0';
		err = nla_put_string(skb, IFLA_WIRE_RULE_PATTERN, pattern);
		break;
	}
	if (err || nla_put_u16(skb, IFLA_WIRE_RULE_PROTO, ntohs(rule->proto)))
		return -EMSGSIZE;
	if (counters &&
	    (nla_put_u64_64bit(skb, IFLA_WIRE_RULE_MATCHED, rule->matched,
			       IFLA_WIRE_RULE_PAD) ||
	     nla_put_u64_64bit(skb, IFLA_WIRE_RULE_DROPPED, rule->dropped,
			       IFLA_WIRE_RULE_PAD)))
		return -EMSGSIZE;

	nla_nest_end(skb, nest);
	return 0;
}

static int wire_fill_rules(struct sk_buff *skb, int type,
			   const struct wire_rules *rules, bool counters)
{
	struct nlattr *nest;
	unsigned int i;

	nest = nla_nest_start(skb, type);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < rules->n; i++)
		if (wire_fill_rule(skb, &rules->rule[i], counters))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static size_t wire_rules_size(const struct wire_rules *rules)
{
	return nla_total_size(0) +
	       rules->n * (nla_total_size(0) +
			   nla_total_size(sizeof(u16)) +
			   nla_total_size(WIRE_PATTERN_MAX + 1) +
			   2 * nla_total_size_64bit(sizeof(u64)));
}

static size_t wire_get_size(const struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);

	return 5 * nla_total_size_64bit(sizeof(u64)) +
	       6 * nla_total_size(sizeof(u32)) +
	       wire_rules_size(&end->out.rules);
}

static int wire_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	const struct wire_pipe_conf *pipe = &end->in.conf;
	const struct wire_conf *conf = &end->out.conf;

	ASSERT_RTNL();
	if (nla_put_u64_64bit(skb, IFLA_WIRE_RATE, conf->rate, IFLA_WIRE_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_DELAY, conf->delay,
			      IFLA_WIRE_PAD) ||
	    nla_put_u32(skb, IFLA_WIRE_RING, conf->ring) ||
	    nla_put_u32(skb, IFLA_WIRE_OVERHEAD, conf->overhead) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_SEED, conf->seed, IFLA_WIRE_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_PIPE_RATE, pipe->rate,
			      IFLA_WIRE_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_PIPE_DELAY, pipe->delay,
			      IFLA_WIRE_PAD) ||
	    nla_put_u32(skb, IFLA_WIRE_PIPE_BUFFER, pipe->buffer) ||
	    nla_put_u32(skb, IFLA_WIRE_PIPE_XOFF, pipe->xoff) ||
	    nla_put_u32(skb, IFLA_WIRE_PIPE_XON, pipe->xon) ||
	    nla_put_u32(skb, IFLA_WIRE_PIPE_STALL, pipe->stall))
		return -EMSGSIZE;
	return wire_fill_rules(skb, IFLA_WIRE_RULES, &end->out.rules, false);
}

static size_t wire_get_xstats_size(const struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);

	return 8 * nla_total_size_64bit(sizeof(u64)) +
	       wire_rules_size(&end->out.rules);
}

/* Counters are read one by one: together they are no snapshot. */
static int wire_fill_pipe(struct sk_buff *skb, const struct wire_input *in)
{
	if (!in->conf.rate)
		return 0;
	if (nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_PIPE_DROPS,
			      READ_ONCE(in->drops), IFLA_WIRE_XSTATS_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_PIPE_PEAK,
			      READ_ONCE(in->peak), IFLA_WIRE_XSTATS_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_PIPE_PFC,
			      READ_ONCE(in->pauses), IFLA_WIRE_XSTATS_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_PIPE_STALLS,
			      READ_ONCE(in->stalls), IFLA_WIRE_XSTATS_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_PIPE_STALL_NS,
			      READ_ONCE(in->stall_ns), IFLA_WIRE_XSTATS_PAD))
		return -EMSGSIZE;
	return 0;
}

static int wire_fill_xstats(struct sk_buff *skb, const struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	struct wire_lane *lane = &end->out;
	struct nlattr *nest;
	int err = -EMSGSIZE;

	nest = nla_nest_start_noflag(skb, IFLA_INFO_XSTATS);
	if (!nest)
		return err;

	spin_lock_bh(&lane->lock);
	wire_complete(lane, ktime_get_ns());
	if (!nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_TOO_LONG, lane->too_long,
			       IFLA_WIRE_XSTATS_PAD) &&
	    !nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_CUT, lane->cut,
			       IFLA_WIRE_XSTATS_PAD) &&
	    !nla_put_u64_64bit(skb, IFLA_WIRE_XSTATS_STOPS, lane->stops,
			       IFLA_WIRE_XSTATS_PAD))
		err = wire_fill_rules(skb, IFLA_WIRE_XSTATS_RULES, &lane->rules,
				      true);
	spin_unlock_bh(&lane->lock);

	if (!err)
		err = wire_fill_pipe(skb, &end->in);
	if (err)
		nla_nest_cancel(skb, nest);
	else
		nla_nest_end(skb, nest);
	return err;
}

static struct net *wire_get_link_net(const struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(end->peer);

	return dev_net(peer ? peer : dev);
}

BFC_NEWLINK_BEFORE(wire_newlink)

struct rtnl_link_ops wire_link_ops = {
	.kind		= DRV_NAME,
	.priv_size	= sizeof(struct wire_end),
	.setup		= wire_setup,
	.maxtype	= IFLA_WIRE_MAX,
	.policy		= wire_policy,
	.validate	= wire_validate,
	.newlink	= BFC_NEWLINK(wire_newlink),
	.changelink	= wire_changelink,
	.dellink	= wire_dellink,
	.get_size	= wire_get_size,
	.fill_info	= wire_fill_info,
	.get_xstats_size = wire_get_xstats_size,
	.fill_xstats	= wire_fill_xstats,
	.get_link_net	= wire_get_link_net,
};
