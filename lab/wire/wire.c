// SPDX-License-Identifier: GPL-2.0
/*
 * wire - a pair of Ethernet devices joined by an emulated full-duplex cable
 *
 * For tests and simulations. veth never says "stop", so a qdisc above it never
 * builds a queue. An end of a wire behaves as a NIC does: each TX queue has a
 * small ring, a full ring stops its queue, a frame takes len * 8 / rate to
 * leave and the propagation delay to arrive, the far end takes it in from NAPI,
 * with nothing attached that a real cable does not carry.
 *
 * Time on the wire is computed, not measured. When a frame enters a ring, its
 * last bit's departure follows from the departure of the frame before it:
 *
 *	ends = max(now, ends of the frame before) + len * 8 / rate
 *	due  = ends + delay
 *
 * with the part of a nanosecond that is left over carried to the next frame.
 * A timer that fires late moves nothing on the wire; it only finds more to do.
 * But a ring that runs empty because the timer was too late to have it refilled
 * is line rate lost, as with a NIC whose interrupt comes late: where timers are
 * coarse, the ring must span their lateness. Under User-Mode Linux with
 * time-travel=inf-cpu everything happens in its nanosecond, with a ring of one
 * frame, too.
 *
 * All TX queues of an end share its serializer in the order in which frames
 * enter the rings. For queues that stay backlogged that amounts to taking turns
 * frame by frame (each free slot is refilled at the end of the line), weighted
 * by how full each keeps its ring.
 *
 * As drivers do, an end may wait between two interrupts (ethtool -C): arrivals
 * are taken in, and slots are given back, no sooner than that after the last
 * time. It may have BQL (ethtool --set-priv-flags DEV bql on), which is off by
 * default, as the qdisc then fills the small ring with several frames at once.
 *
 * Behind an end there may be the ingress pipeline of a switch: wire_pipe.c.
 *
 * Locking
 * -------
 * One lock per direction, struct wire_lane's lock. It is taken in softirq
 * context or with softirqs off: by ndo_start_xmit (inside the TX queue's lock),
 * by the timer (soft, not hard irq), by the receiver's NAPI poll, by
 * configuration and statistics. It nests inside the TX queue's lock; inside it
 * are only what TX completion calls: netif_tx_wake_queue(), skb destructors,
 * the timer base and napi_schedule(). Two lanes are never locked together.
 * Netpoll, which would transmit with hard irqs off, is refused.
 *
 * Configuration, open and stop of both ends run under the RTNL. A lane carries
 * frames only while it is open, that is while both ends are up; closing it
 * throws out its frames and waits for its timer, and so ndo_stop of either end,
 * a move to another namespace and deletion leave nothing behind that points to
 * either device.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/rtnetlink.h>

#include "wire_dev.h"

struct wire_end *wire_lane_end(struct wire_lane *lane)
{
	return container_of(lane, struct wire_end, out);
}

/* A tag in metadata is in the frame once it is on the wire. */
static unsigned int wire_len(const struct sk_buff *skb)
{
	return skb->len + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);
}

/* Two tags fit beyond the MTU: a port's own and one that it forwards. */
static bool wire_fits(const struct net_device *dev, unsigned int len)
{
	return len <= READ_ONCE(dev->mtu) + ETH_HLEN + 2 * VLAN_HLEN;
}

/* Drop rules */

static bool wire_rule_hits(struct wire_rule *rule, struct rnd_state *rnd)
{
	u64 nth = rule->matched++;
	u32 rest;

	switch (rule->mode) {
	case WIRE_SHARE:
		return reciprocal_scale(prandom_u32_state(rnd),
					WIRE_SHARE_ALL) < rule->arg;
	case WIRE_EVERY:
		div_u64_rem(nth, rule->arg, &rest);
		return rest == rule->arg - 1;
	case WIRE_NEXT:
		return nth < rule->arg;
	case WIRE_PATTERN:
		div_u64_rem(nth, rule->len, &rest);
		return rule->bits >> rest & 1;
	}
	return false;
}

static bool wire_rules_hit(struct wire_lane *lane, const struct sk_buff *skb)
{
	__be16 proto = skb_vlan_tag_present(skb) ? skb->vlan_proto :
		       ((const struct ethhdr *)skb->data)->h_proto;
	unsigned int i;

	for (i = 0; i < lane->rules.n; i++) {
		struct wire_rule *rule = &lane->rules.rule[i];

		if (rule->proto && rule->proto != proto)
			continue;
		if (wire_rule_hits(rule, &lane->rnd)) {
			rule->dropped++;
			return true;
		}
	}
	return false;
}

/* Transmission */

/* Stop or wake a TX queue according to its ring. */
static void wire_update_queue(struct wire_lane *lane, unsigned int queue)
{
	struct netdev_queue *txq =
		netdev_get_tx_queue(wire_lane_end(lane)->dev, queue);
	bool full = lane->queue[queue].used >= lane->conf.ring;

	lockdep_assert_held(&lane->lock);
	if (full == netif_tx_queue_stopped(txq))
		return;
	if (full) {
		netif_tx_stop_queue(txq);
		lane->n_stopped++;
		lane->stops++;
	} else {
		lane->n_stopped--;
		netif_tx_wake_queue(txq);
	}
}

/* A TX interrupt: give back the slots of the frames that have left. */
static void wire_interrupt(struct wire_lane *lane, u64 now)
{
	struct net_device *dev = wire_lane_end(lane)->dev;
	unsigned int i;

	lane->tx_next = now + lane->conf.tx_wait;
	for (i = 0; lane->n_left; i++) {
		struct wire_slots *slots = &lane->queue[i];

		if (!slots->left)
			continue;
		lane->n_left -= slots->left;
		slots->used -= slots->left;
		if (lane->conf.bql)
			netdev_tx_completed_queue(netdev_get_tx_queue(dev, i),
						  slots->left, slots->bytes);
		slots->left = 0;
		slots->bytes = 0;
		wire_update_queue(lane, i);
	}
}

/* All frames that have left by @now: release them from their sender, lose those
 * that a rule drops, and give back their slots if there may be an interrupt.
 */
void wire_complete(struct wire_lane *lane, u64 now)
{
	struct sk_buff *skb;

	lockdep_assert_held(&lane->lock);
	while ((skb = lane->sending) && wire_cb(skb)->ends <= now) {
		struct wire_slots *slots = &lane->queue[wire_cb(skb)->queue];

		lane->sending = skb_queue_is_last(&lane->cable, skb) ?
				NULL : skb_queue_next(&lane->cable, skb);
		lane->tx_packets++;
		lane->tx_bytes += wire_cb(skb)->len;
		lane->n_left++;
		slots->left++;
		slots->bytes += wire_cb(skb)->len;
		if (skb->destructor) {
			lane->n_owned--;
			skb_orphan(skb);
		}
		if (unlikely(lane->rules.n) && wire_rules_hit(lane, skb)) {
			__skb_unlink(skb, &lane->cable);
			kfree_skb(skb);
		}
	}
	if (lane->n_left && now >= lane->tx_next)
		wire_interrupt(lane, now);
}

/* Have the timer fire no later than at the next event. Early is harmless, so
 * it is never put off.
 *
 * A departure is an event only if something waits for it: a stopped queue, the
 * sender of a frame, or BQL. Most frames that a switch forwards cost one event.
 */
static void wire_arm(struct wire_lane *lane)
{
	bool waits = lane->n_stopped || lane->conf.bql;
	struct sk_buff *first = skb_peek(&lane->cable);
	u64 next = WIRE_NEVER;

	lockdep_assert_held(&lane->lock);
	if (first && !lane->rx_pending)
		next = max(wire_cb(first)->due, lane->rx_next);
	if (lane->sending && (waits || lane->n_owned))
		next = min(next, wire_cb(lane->sending)->ends);
	if (lane->n_left && waits)
		next = min(next, lane->tx_next);
	if (next < lane->armed) {
		lane->armed = next;
		hrtimer_start(&lane->timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
	}
}

static enum hrtimer_restart wire_timer(struct hrtimer *timer)
{
	struct wire_lane *lane = container_of(timer, struct wire_lane, timer);
	struct sk_buff *first;
	u64 now;

	spin_lock(&lane->lock);
	if (lane->open) {
		now = ktime_get_ns();
		lane->armed = WIRE_NEVER;
		wire_complete(lane, now);
		first = skb_peek(&lane->cable);
		if (first && !lane->rx_pending && lane->rx_next <= now &&
		    wire_cb(first)->due <= now) {
			lane->rx_pending = true;
			lane->rx_next = now + lane->conf.rx_wait;
			napi_schedule(lane->rx);
		}
		wire_arm(lane);
	}
	spin_unlock(&lane->lock);

	return HRTIMER_NORESTART;
}

/* Work out when the last bit of @skb will leave and arrive. */
static void wire_serialize(struct wire_lane *lane, struct sk_buff *skb, u64 now)
{
	const struct wire_conf *conf = &lane->conf;
	u64 bits = (u64)(wire_cb(skb)->len + conf->overhead) * BITS_PER_BYTE;
	struct sk_buff *prev = skb_peek_tail(&lane->cable);
	u64 rest;

	/* No frame is longer than MTU, header and tags: no overflow. */
	BUILD_BUG_ON((ETH_MAX_MTU + WIRE_OVERHEAD_MAX + 100ULL) *
		     BITS_PER_BYTE * NSEC_PER_SEC >> 63);

	if (now > lane->free) {
		lane->free = now;
		lane->frac = 0;
	}
	lane->free += div64_u64_rem(bits * NSEC_PER_SEC, conf->rate, &rest);
	lane->frac += rest;
	if (lane->frac >= conf->rate) {
		lane->frac -= conf->rate;
		lane->free++;
	}

	wire_cb(skb)->ends = lane->free;
	wire_cb(skb)->due = lane->free + conf->delay;
	/* The delay may have been shortened; a cable does not reorder. */
	if (prev && wire_cb(skb)->due < wire_cb(prev)->due)
		wire_cb(skb)->due = wire_cb(prev)->due;
}

/* Leave what is in the frame, take away what the sending host knows about it:
 * the receiver sees what a driver would have built from the frame. The tag in
 * metadata stays there, as if stripped by the receiving NIC, and so does a
 * checksum yet to be computed, as if found correct. The owner stays until the
 * frame has left the ring.
 */
static void wire_scrub(struct sk_buff *skb)
{
	skb_scrub_packet(skb, true);
	skb_init_secmark(skb);
	skb_reset_redirect(skb);
	skb_clear_hash(skb);
	skb_forward_csum(skb);
	skb_set_queue_mapping(skb, 0);
	skb->priority = 0;
	skb->encapsulation = 0;
#ifdef CONFIG_NET_SCHED
	skb->tc_index = 0;
#endif
}

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	unsigned int queue = skb_get_queue_mapping(skb);
	struct wire_lane *lane = &end->out;
	unsigned int len;
	u64 now;

	/* Drivers trust the number of the queue; here it is checked, to test
	 * the code that chose it. The receiver must not depend on when the
	 * sender reuses its pages.
	 */
	if (WARN_ON_ONCE(queue >= dev->num_tx_queues) ||
	    unlikely(skb_orphan_frags_rx(skb, GFP_ATOMIC) ||
		     !pskb_may_pull(skb, ETH_HLEN))) {
		spin_lock(&lane->lock);
		goto drop;
	}

	len = wire_len(skb);
	spin_lock(&lane->lock);
	if (unlikely(!lane->open))
		goto drop;
	if (unlikely(!wire_fits(dev, len))) {
		lane->too_long++;
		goto drop;
	}

	now = ktime_get_ns();
	wire_complete(lane, now);
	if (unlikely(lane->queue[queue].used >= lane->conf.ring)) {
		/* Not reached through a qdisc. */
		spin_unlock(&lane->lock);
		return NETDEV_TX_BUSY;
	}

	skb_tx_timestamp(skb);
	wire_cb(skb)->len = len;
	if (unlikely(end->in.pipe))
		wire_pipe_sent(end, skb);
	wire_scrub(skb);
	wire_cb(skb)->queue = queue;
	wire_serialize(lane, skb, now);
	__skb_queue_tail(&lane->cable, skb);
	if (!lane->sending)
		lane->sending = skb;
	if (skb->destructor)
		lane->n_owned++;
	lane->queue[queue].used++;
	wire_update_queue(lane, queue);
	if (lane->conf.bql)
		netdev_tx_sent_queue(netdev_get_tx_queue(dev, queue), len);
	wire_arm(lane);
	spin_unlock(&lane->lock);
	return NETDEV_TX_OK;

drop:
	lane->tx_dropped++;
	spin_unlock(&lane->lock);
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* Reception */

/* Move up to @budget frames that have arrived from @lane to @list. If no more
 * have arrived, the timer handles arrivals again.
 */
static int wire_take(struct wire_lane *lane, struct sk_buff_head *list,
		     int budget)
{
	struct sk_buff *skb;
	int n = 0;
	u64 now;

	spin_lock(&lane->lock);
	now = ktime_get_ns();
	/* A frame leaves before it arrives: so @sending is not taken. */
	wire_complete(lane, now);
	while (n < budget && (skb = skb_peek(&lane->cable)) &&
	       wire_cb(skb)->due <= now) {
		__skb_unlink(skb, &lane->cable);
		__skb_queue_tail(list, skb);
		n++;
	}
	if (n < budget) {
		lane->rx_pending = false;
		if (lane->open)
			wire_arm(lane);
	}
	spin_unlock(&lane->lock);

	return n;
}

/* true if the VLAN filter drops the frame; as in NICs, not in promiscuous mode. */
static bool wire_filters(const struct wire_end *end, const struct sk_buff *skb)
{
	netdev_features_t filter = NETIF_F_HW_VLAN_CTAG_FILTER;
	__be16 proto = skb->protocol;
	u16 vid;

	if (skb_vlan_tag_present(skb)) {
		proto = skb->vlan_proto;
		vid = skb_vlan_tag_get_id(skb);
	} else if (eth_type_vlan(proto) && skb_headlen(skb) >= VLAN_HLEN) {
		vid = ntohs(((struct vlan_hdr *)skb->data)->h_vlan_TCI) &
		      VLAN_VID_MASK;
	} else {
		return false;
	}
	if (proto == htons(ETH_P_8021AD))
		filter = NETIF_F_HW_VLAN_STAG_FILTER;
	return end->dev->features & filter && !(end->dev->flags & IFF_PROMISC) &&
	       !test_bit(vid, end->vids[proto == htons(ETH_P_8021AD)]);
}

static void wire_receive(struct wire_end *end, struct sk_buff *skb)
{
	skb->protocol = eth_type_trans(skb, end->dev);
	if (unlikely(wire_filters(end, skb))) {
		dev_core_stats_rx_dropped_inc(end->dev);
		kfree_skb(skb);
		return;
	}
	if (unlikely(end->in.pipe)) {
		wire_pipe_enter(end, skb);
		return;
	}
	/* TCP keeps a clone until the data is acknowledged; GRO would change
	 * its fragments.
	 */
	if (end->dev->features & NETIF_F_GRO &&
	    unlikely(skb_unclone(skb, GFP_ATOMIC)))
		netif_receive_skb(skb);
	else
		napi_gro_receive(&end->napi, skb);
}

static int wire_poll(struct napi_struct *napi, int budget)
{
	struct wire_end *end = container_of(napi, struct wire_end, napi);
	u64 packets = 0, bytes = 0, too_long = 0;
	struct net_device *peer;
	struct sk_buff_head list;
	struct sk_buff *skb;
	int n = 0;

	__skb_queue_head_init(&list);
	rcu_read_lock();
	peer = rcu_dereference(end->peer);
	if (peer) {
		struct wire_end *from = netdev_priv(peer);

		n = wire_take(&from->out, &list, budget);
	}
	rcu_read_unlock();

	while ((skb = __skb_dequeue(&list))) {
		unsigned int len = wire_cb(skb)->len;

		if (unlikely(!wire_fits(end->dev, len))) {
			too_long++;
			kfree_skb(skb);
			continue;
		}
		packets++;
		bytes += len;
		wire_receive(end, skb);
	}

	u64_stats_update_begin(&end->rx_sync);
	u64_stats_add(&end->rx_packets, packets);
	u64_stats_add(&end->rx_bytes, bytes);
	u64_stats_add(&end->rx_too_long, too_long);
	u64_stats_update_end(&end->rx_sync);

	if (n < budget)
		napi_complete_done(napi, n);
	return n;
}

/* Link state */

static void wire_lane_open(struct wire_lane *lane, struct wire_end *to)
{
	spin_lock_bh(&lane->lock);
	lane->rx = &to->napi;
	lane->rx_pending = false;
	lane->open = true;
	/* Woken, not only started: after a flap a qdisc may have kept packets. */
	lane->n_stopped = 0;
	netif_tx_wake_all_queues(wire_lane_end(lane)->dev);
	spin_unlock_bh(&lane->lock);
}

static void wire_lane_close(struct wire_lane *lane)
{
	struct net_device *dev = wire_lane_end(lane)->dev;
	struct sk_buff_head list;
	struct sk_buff *skb;
	bool sent = true;
	unsigned int i;

	__skb_queue_head_init(&list);
	spin_lock_bh(&lane->lock);
	wire_complete(lane, ktime_get_ns());
	skb_queue_walk(&lane->cable, skb) {
		if (skb == lane->sending)
			sent = false;
		if (sent)
			lane->cut++;
		else
			lane->tx_dropped++;
	}
	skb_queue_splice_init(&lane->cable, &list);
	lane->open = false;
	lane->sending = NULL;
	lane->n_owned = 0;
	lane->free = 0;
	lane->armed = WIRE_NEVER;
	lane->n_left = 0;
	lane->tx_next = 0;
	lane->rx_next = 0;
	memset(lane->queue, 0, dev->num_tx_queues * sizeof(*lane->queue));
	for (i = 0; i < dev->num_tx_queues; i++)
		netdev_tx_reset_queue(netdev_get_tx_queue(dev, i));
	spin_unlock_bh(&lane->lock);

	/* No path starts it now that the lane is closed. */
	hrtimer_cancel(&lane->timer);
	__skb_queue_purge(&list);
}

void wire_link_up(struct wire_end *a, struct wire_end *b)
{
	wire_lane_open(&a->out, b);
	wire_lane_open(&b->out, a);
	netif_carrier_on(a->dev);
	netif_carrier_on(b->dev);
}

void wire_link_down(struct wire_end *a, struct wire_end *b)
{
	netif_carrier_off(a->dev);
	netif_carrier_off(b->dev);
	wire_lane_close(&a->out);
	wire_lane_close(&b->out);
}

static int wire_open(struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(end->peer);

	if (!peer)
		return -ENOTCONN;
	wire_pipe_join(end);
	napi_enable_locked(&end->napi);
	if (peer->flags & IFF_UP)
		wire_link_up(end, netdev_priv(peer));
	return 0;
}

static int wire_stop(struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(end->peer);

	/* Without a peer wire_dellink() has done it. */
	if (peer)
		wire_link_down(end, netdev_priv(peer));
	napi_disable_locked(&end->napi);
	wire_pipe_leave(end);
	return 0;
}

/* Device */

static int wire_init(struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);

	end->out.queue = kvcalloc(dev->num_tx_queues, sizeof(*end->out.queue),
				  GFP_KERNEL_ACCOUNT);
	if (!end->out.queue)
		return -ENOMEM;
	netif_napi_add(dev, &end->napi, wire_poll);
	bfc_ops_lock_class(dev);
	return 0;
}

static void wire_uninit(struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);

	netif_napi_del(&end->napi);
	kvfree(end->out.queue);
}

static void wire_get_stats64(struct net_device *dev,
			     struct rtnl_link_stats64 *stats)
{
	struct wire_end *end = netdev_priv(dev);
	struct wire_lane *lane = &end->out;
	unsigned int start;

	spin_lock_bh(&lane->lock);
	wire_complete(lane, ktime_get_ns());
	stats->tx_packets = lane->tx_packets;
	stats->tx_bytes = lane->tx_bytes;
	stats->tx_dropped = lane->tx_dropped;
	spin_unlock_bh(&lane->lock);

	do {
		start = u64_stats_fetch_begin(&end->rx_sync);
		stats->rx_packets = u64_stats_read(&end->rx_packets);
		stats->rx_bytes = u64_stats_read(&end->rx_bytes);
		stats->rx_length_errors = u64_stats_read(&end->rx_too_long);
	} while (u64_stats_fetch_retry(&end->rx_sync, start));
	stats->rx_errors = stats->rx_length_errors;
}

/* There is no address filter to program. Without this function multicast
 * addresses could not be added.
 */
#ifdef BFC_HAVE_OPSRTNL
static int wire_set_rx_mode(struct net_device *dev,
			    struct netdev_hw_addr_list *uc,
			    struct netdev_hw_addr_list *mc)
{
	return 0;
}
#else
static void wire_set_rx_mode(struct net_device *dev)
{
}
#endif

/* The two ends may have the same ifindex, in different namespaces. */
static int wire_get_iflink(const struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	struct net_device *peer;
	int iflink;

	rcu_read_lock();
	peer = rcu_dereference(end->peer);
	iflink = peer ? peer->ifindex : 0;
	rcu_read_unlock();

	return iflink;
}

static int wire_add_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	struct wire_end *end = netdev_priv(dev);

	set_bit(vid, end->vids[proto == htons(ETH_P_8021AD)]);
	return 0;
}

static int wire_kill_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	struct wire_end *end = netdev_priv(dev);

	clear_bit(vid, end->vids[proto == htons(ETH_P_8021AD)]);
	return 0;
}

static const struct net_device_ops wire_netdev_ops = {
	.ndo_init		= wire_init,
	.ndo_uninit		= wire_uninit,
	.ndo_open		= wire_open,
	.ndo_stop		= wire_stop,
	.ndo_start_xmit		= wire_xmit,
	.ndo_get_stats64	= wire_get_stats64,
#ifdef BFC_HAVE_OPSRTNL
	.ndo_set_rx_mode_async	= wire_set_rx_mode,
#else
	.ndo_set_rx_mode	= wire_set_rx_mode,
#endif
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_get_iflink		= wire_get_iflink,
	.ndo_vlan_rx_add_vid	= wire_add_vid,
	.ndo_vlan_rx_kill_vid	= wire_kill_vid,
	/* Any number of tags, checksums behind them included. */
	.ndo_features_check	= passthru_features_check,
};

/* NULL if it is no wire. */
struct wire_end *wire_end_of(struct net_device *dev)
{
	return dev->netdev_ops == &wire_netdev_ops ? netdev_priv(dev) : NULL;
}

#define WIRE_VLAN_FEATURES (NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_STAG_TX)

/* No segmentation offload, and none to switch on: a cable carries frames. */
#define WIRE_HW_FEATURES (NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | \
			  NETIF_F_SCTP_CRC | WIRE_VLAN_FEATURES)

#define WIRE_FEATURES (WIRE_HW_FEATURES | NETIF_F_HIGHDMA | NETIF_F_RXCSUM | \
		       NETIF_F_HW_VLAN_CTAG_RX | NETIF_F_HW_VLAN_STAG_RX)

void wire_setup(struct net_device *dev)
{
	struct wire_end *end = netdev_priv(dev);
	struct wire_lane *lane = &end->out;

	ether_setup(dev);
	/* A frame on the cable is in a list and has times in its cb. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_UNICAST_FLT |
			   IFF_DISABLE_NETPOLL;
	dev->netdev_ops = &wire_netdev_ops;
	dev->ethtool_ops = &wire_ethtool_ops;
	dev->features |= WIRE_FEATURES;
	/* The VLAN filters are off, and can be switched on. */
	dev->hw_features = WIRE_HW_FEATURES | NETIF_F_HW_VLAN_CTAG_FILTER |
			   NETIF_F_HW_VLAN_STAG_FILTER;
	dev->vlan_features = WIRE_FEATURES & ~(WIRE_VLAN_FEATURES |
					       NETIF_F_HW_VLAN_CTAG_RX |
					       NETIF_F_HW_VLAN_STAG_RX);
	dev->hw_enc_features = dev->vlan_features;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = ETH_MAX_MTU;
	dev->needs_free_netdev = true;
	bfc_request_ops_lock(dev);

	end->dev = dev;
	INIT_LIST_HEAD(&end->in.turn);
	__skb_queue_head_init(&end->in.queue);
	u64_stats_init(&end->rx_sync);
	spin_lock_init(&lane->lock);
	__skb_queue_head_init(&lane->cable);
	hrtimer_setup(&lane->timer, wire_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	lane->armed = WIRE_NEVER;
	lane->conf.rate = WIRE_RATE_DEFAULT;
	lane->conf.ring = WIRE_RING_DEFAULT;
	lane->conf.seed = WIRE_SEED_DEFAULT;
	prandom_seed_state(&lane->rnd, lane->conf.seed);
}

/* Change one direction; also used before the device is registered. Frames in
 * the ring keep the times that they were given.
 */
void wire_reconfigure(struct wire_lane *lane, const struct wire_conf *conf,
		      bool reseed, const struct wire_rules *rules)
{
	unsigned int i;

	spin_lock_bh(&lane->lock);
	/* Frames that have left by now have left under the old rules. */
	wire_complete(lane, ktime_get_ns());
	/* The remainder is in units of the old rate. */
	if (conf->rate != lane->conf.rate)
		lane->frac = 0;
	lane->conf = *conf;
	if (reseed)
		prandom_seed_state(&lane->rnd, conf->seed);
	if (rules)
		lane->rules = *rules;
	if (lane->open) {
		for (i = 0; i < wire_lane_end(lane)->dev->num_tx_queues; i++)
			wire_update_queue(lane, i);
		wire_arm(lane);
	}
	spin_unlock_bh(&lane->lock);
}

static int __init wire_module_init(void)
{
	int err = wire_pipe_init();

	if (err)
		return err;
	err = rtnl_link_register(&wire_link_ops);
	if (err)
		wire_pipe_exit_module();
	return err;
}

static void __exit wire_module_exit(void)
{
	rtnl_link_unregister(&wire_link_ops);
	wire_pipe_exit_module();
	wire_hold_exit();
}

module_init(wire_module_init);
module_exit(wire_module_exit);

MODULE_DESCRIPTION("Emulated Ethernet cable for tests");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK(DRV_NAME);
