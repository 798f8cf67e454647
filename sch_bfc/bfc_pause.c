// SPDX-License-Identifier: GPL-2.0
/*
 * Backpressure (BFC §3.3.2): pause counters, the frames that carry the set of
 * paused queues to the upstream hop, and the frames that come from there.
 *
 * Counting happens under the root lock of the egress port; the frame must
 * leave through the ingress port, whose root lock is out of bounds then. So a
 * change only sets that port's dirty bit, and the frame is sent by whoever
 * comes first:
 *
 *  - the ingress hook, which runs for the next packet of the same NAPI round
 *    and holds no root lock (bfc_kick_dirty()),
 *  - NET_TX, which bfc_port_mark_dirty() raises,
 *  - the port's own next dequeue.
 *
 * Dequeue builds the frame at the moment it is sent, from the counters as
 * they are then: clear dirty, full barrier, read. A change that the read
 * misses sets the bit again. The wire thus always carries the newest set, and
 * changes in between coalesce.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "bfc.h"

#define CREATE_TRACE_POINTS
#include "bfc_trace.h"

/* Ports that this CPU made dirty, by id, until the next packet comes in.
 * Overflow is harmless: NET_TX sees to the rest.
 *
 * @lock: bottom halves are off, which keeps others off this CPU's list only where they
 * cannot be preempted; with PREEMPT_RT they can.
 */
#define BFC_PENDING_MAX	16

struct bfc_pending {
	local_lock_t lock;
	unsigned int n;
	u32 id[BFC_PENDING_MAX];
};

static DEFINE_PER_CPU(struct bfc_pending, bfc_pending) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

const u8 bfc_group_addr[ETH_ALEN] __aligned(2) = BFC_GROUP_ADDR;

/* ---- counting ---- */

/**
 * bfc_port_mark_dirty() - the set of paused upstream queues changed
 * @port: the ingress port; the caller holds RCU or keeps it alive otherwise
 *
 * Context: BH off; any root lock may be held.
 */
void bfc_port_mark_dirty(struct bfc_port *port)
{
	struct bfc_pending *pending;

	if (test_and_set_bit(BFC_PORT_DIRTY, &port->flags))
		return;
	WRITE_ONCE(port->dirty_since, ktime_get_ns());
	netif_schedule_queue(netdev_get_tx_queue(port->dev, 0));
	/* NET_TX forgets a qdisc whose device is deactivated, as it is while tc adds a
	 * clsact; newer kernels do not reset the qdisc then, so that nothing raises it
	 * again. A frame that is built goes on with the timer, or ends it.
	 */
	if (!hrtimer_active(&port->refresh))
		bfc_refresh_start(port);
	local_lock(&bfc_pending.lock);
	pending = this_cpu_ptr(&bfc_pending);
	if (pending->n < BFC_PENDING_MAX)
		pending->id[pending->n++] = port->id;
	local_unlock(&bfc_pending.lock);
}

/**
 * bfc_elided() - is an ingress port never paused from here? (BFC App. B)
 * @p: of the egress port
 * @ifindex: of the ingress port
 *
 * Return: true: what comes from there is not counted.
 */
bool bfc_elided(const struct bfc_params *p, int ifindex)
{
	u32 i;

	for (i = 0; i < p->nelide; i++)
		if (p->elide[i] == ifindex)
			return true;
	return false;
}

/**
 * bfc_count() - a packet met a queue over Th: pause its upstream queue
 * @q: scheduler of the egress port
 * @skb: the packet, in its queue already
 *
 * Not counted are packets without an upstreamQ (our own, or from a neighbour
 * without BFC); group addressed frames, since one upstreamQ counted at every
 * egress would let the slowest listener pause the source; and what `elide`
 * exempts (BFC App. B).
 *
 * Context: under the root lock of the egress port, BH off.
 */
void bfc_count(struct bfc_sched *q, struct sk_buff *skb)
{
	u16 handle = skb->tc_index;
	struct bfc_ingress *ing;
	struct bfc_port *port;
	unsigned int upq;

	if (!handle || is_multicast_ether_addr(eth_hdr(skb)->h_dest))
		return;
	rcu_read_lock();
	ing = bfc_trusted(q, skb);
	if (!ing)
		goto out;
	upq = handle - ing->base - 1;
	if (handle == ing->base || unlikely(upq >= ing->queues))
		goto out;
	if (unlikely(q->p.nelide) && bfc_elided(&q->p, ing->ifindex)) {
		q->elided++;
		goto out;
	}
	bfc_cb(skb)->handle = handle;
	bfc_cb(skb)->counted = 1;
	q->counted++;
	if (atomic_inc_return(&ing->counter[upq]) == 1) {
		port = rcu_dereference(ing->port);
		if (port)
			bfc_port_mark_dirty(port);
	}
out:
	rcu_read_unlock();
}

/**
 * bfc_uncount() - a counted packet gives its count back
 * @q: scheduler of the egress port
 * @skb: the packet
 *
 * The counters are still there: they stay until the last count is back.
 *
 * Context: under the root lock of the egress port, or the qdisc is not in use.
 */
void bfc_uncount(struct bfc_sched *q, struct sk_buff *skb)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	struct bfc_ingress *ing;
	struct bfc_port *port;

	cb->counted = 0;
	rcu_read_lock();
	ing = bfc_handle_get(q->port->sw, cb->handle);
	if (WARN_ON_ONCE(!ing))
		goto out;
	port = rcu_dereference(ing->port);
	atomic64_add(qdisc_pkt_len(skb), &ing->drained);
	if (atomic_dec_return(&ing->counter[cb->handle - ing->base - 1]) == 0 &&
	    port) {
		local_bh_disable();
		bfc_port_mark_dirty(port);
		local_bh_enable();
	}
out:
	rcu_read_unlock();
}

/* ---- sending ---- */

/**
 * bfc_frame_alloc() - an empty control frame of a port
 * @port: the port
 * @len: bytes from the destination address on
 *
 * Return: the frame with its Ethernet header and zeroes behind, or NULL.
 */
struct sk_buff *bfc_frame_alloc(struct bfc_port *port, unsigned int len)
{
	struct net_device *dev = port->dev;
	struct sk_buff *skb;
	struct ethhdr *eth;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + len + dev->needed_tailroom,
			GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev) - ETH_HLEN);
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, len);
	ether_addr_copy(eth->h_dest, bfc_group_addr);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	eth->h_proto = htons(BFC_ETHERTYPE);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(BFC_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	skb_set_queue_mapping(skb, 0);
	qdisc_skb_cb(skb)->pkt_len = len;
	bfc_set_pkt_segs(skb, 1);
	return skb;
}

/* Empty PAUSE frames are made by bfc_kick_dirty() only: length field zero. Who
 * else sends one gets the same: the qdisc runs, the frame is dropped.
 */
bool bfc_is_pause_frame(const struct sk_buff *skb)
{
	return skb->protocol == htons(BFC_ETHERTYPE) &&
	       bfc_is_empty_pause(skb->data, skb_headlen(skb));
}

/**
 * bfc_pause_sent() - a frame was built: does it have to be repeated?
 * @port: the port
 * @paused: what it pauses: so many queues or priorities
 * @changed: so many of them are others than in the frame before
 * @now: ns
 *
 * Context: under the root lock of the port's qdisc.
 */
void bfc_pause_sent(struct bfc_port *port, u32 paused, u32 changed, u64 now)
{
	port->tx_npaused = paused;
	if (!changed)
		port->refresh_tx++;
	if (paused) {
		port->tx_last = BFC_LAST_REFRESHES;
	} else if (port->tx_last) {
		port->tx_last--;
	} else if (now >= port->tx_void && hrtimer_try_to_cancel(&port->refresh) >= 0) {
		smp_mb();	/* pairs with test_and_set_bit() of bfc_port_mark_dirty() */
		if (test_bit(BFC_PORT_DIRTY, &port->flags))
			bfc_refresh_start(port);
	}
}

/* The whole set of paused queues (BFC §3.3.2). */
static struct sk_buff *bfc_queue_build(struct bfc_port *port,
				       struct bfc_ingress *ing, u64 now)
{
	struct bfc_pause pause = { .hold_ns = READ_ONCE(port->cfg.hold) };
	unsigned int upq, changed = 0, paused = 0;
	u64 since = READ_ONCE(port->dirty_since);
	struct sk_buff *skb;
	u32 seq;

	skb = bfc_frame_alloc(port, bfc_pause_len(ing->queues));
	if (!skb)
		return NULL;
	clear_bit(BFC_PORT_DIRTY, &port->flags);
	smp_mb__after_atomic();	/* pairs with the counters' atomic ops */

	seq = atomic_inc_return(&port->seq);
	pause.queues = ing->queues;
	pause.drained = atomic64_read(&ing->drained);
	if (port->tx_layout != ing->layout) {
		bitmap_zero(port->tx_paused, BFC_WIRE_QUEUES_MAX);
		port->tx_layout = ing->layout;
	}
	bfc_put_pause(skb->data, READ_ONCE(port->epoch), seq, &pause);
	for (upq = 0; upq < ing->queues; upq++) {
		bool on = atomic_read(&ing->counter[upq]) > 0;

		if (on) {
			bfc_pause_set(skb->data, upq);
			paused++;
		}
		if (on == test_bit(upq, port->tx_paused))
			continue;
		__change_bit(upq, port->tx_paused);
		changed++;
		if (on)
			port->pause_tx++;
		else
			port->resume_tx++;
	}
	port->frames_tx++;
	bfc_pause_sent(port, paused, changed, now);
	trace_bfc_pause_tx(port->dev, seq, paused, changed,
			   changed ? now - since : 0);
	return skb;
}

/**
 * bfc_refreshes() - does a port repeat what it pauses?
 * @port: the port
 *
 * Return: false also if it has no counters, as where no priority is lossless.
 */
bool bfc_refreshes(const struct bfc_port *port)
{
	return READ_ONCE(port->live) &&
	       READ_ONCE(port->cfg.role) == BFC_ROLE_SWITCH &&
	       rcu_access_pointer(port->ingress);
}

/**
 * bfc_refresh_start() - look at a port again soon, if it repeats anything
 * @port: the port
 */
void bfc_refresh_start(struct bfc_port *port)
{
	u64 ns = READ_ONCE(port->tx_quick) ? READ_ONCE(port->cfg.quick) :
					     READ_ONCE(port->cfg.refresh);

	if (bfc_refreshes(port))
		hrtimer_start(&port->refresh, ns_to_ktime(ns),
			      HRTIMER_MODE_REL_SOFT);
}

/**
 * bfc_pause_repeat() - a frame was built that says which priorities are paused until
 * they are told to go on
 * @port: the port
 * @over: these, bit p: priority p
 * @hold: ns: how long such a pause lasts without another frame
 * @now: ns
 *
 * A change is repeated soon, as the frame may get lost; the end of the last pause until
 * that would have ended by itself.
 *
 * Context: under the root lock of the port's qdisc, before bfc_pause_sent().
 */
void bfc_pause_repeat(struct bfc_port *port, u8 over, u64 hold, u64 now)
{
	if (over)
		port->tx_void = now + hold;
	if (over == port->tx_over) {
		if (port->tx_quick)
			WRITE_ONCE(port->tx_quick, port->tx_quick - 1);
		return;
	}
	port->tx_over = over;
	WRITE_ONCE(port->tx_quick, BFC_QUICK_REFRESHES);
	bfc_refresh_start(port);
}

/**
 * bfc_pause_build() - the PAUSE or PFC frame that is due
 * @sch: qdisc of the port that sends it
 * @now: ns
 *
 * Context: under the root lock of @sch, from dequeue.
 * Return: the frame; NULL if there is nobody to tell or no memory: then the
 * bit stays, and the refresh timer looks again.
 */
struct sk_buff *bfc_pause_build(struct Qdisc *sch, u64 now)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_port *port = q->port;
	const struct bfc_conf *conf;
	struct sk_buff *skb = NULL;
	struct bfc_ingress *ing;

	if (!READ_ONCE(port->live))
		return NULL;
	rcu_read_lock();
	ing = rcu_dereference(port->ingress);
	conf = ing ? rcu_dereference(ing->conf) : NULL;
	if (!conf)
		goto out;
	bfc_refresh_start(port);
	if (bfc_fc_is_port_level(conf->fc))
		skb = bfc_prio_build(port, ing, conf, now);
	else
		skb = bfc_queue_build(port, ing, now);
out:
	rcu_read_unlock();
	return skb;
}

/**
 * bfc_refresh_timer() - repeat the newest set
 * @timer: of the port
 *
 * Mends lost frames: while anything is paused, and a few times after the last
 * resume.
 *
 * Runs until a frame is built that leaves nothing to repeat: a wake-up may get
 * lost while the qdisc is being replaced, or memory be short.
 *
 * Return: HRTIMER_NORESTART; it has been started again.
 */
enum hrtimer_restart bfc_refresh_timer(struct hrtimer *timer)
{
	struct bfc_port *port = container_of(timer, struct bfc_port, refresh);

	if (!bfc_refreshes(port))
		return HRTIMER_NORESTART;
	if (!test_and_set_bit(BFC_PORT_DIRTY, &port->flags))
		WRITE_ONCE(port->dirty_since, ktime_get_ns());
	netif_schedule_queue(netdev_get_tx_queue(port->dev, 0));
	/* Not hrtimer_forward(): dequeue may have started it meanwhile. */
	bfc_refresh_start(port);
	return HRTIMER_NORESTART;
}

/* Run the qdisc of a dirty port by giving it an empty frame. */
static void bfc_kick(u32 id)
{
	struct bfc_port *port = xa_load(&bfc_port_ids, id);
	struct sk_buff *skb;

	if (!port || !bfc_pause_due(port) || !READ_ONCE(port->live))
		return;
	skb = bfc_frame_alloc(port, BFC_PAUSE_FIXED_LEN);
	if (!skb)
		return;
	bfc_put_hdr(skb->data, BFC_FRAME_PAUSE, 0, 0, 0);
	dev_queue_xmit(skb);
}

/**
 * bfc_kick_dirty() - send what this CPU's last packets made due
 *
 * NET_TX could come as late as the end of the NET_RX round (8 ms under load).
 *
 * Context: softirq, RCU, no root lock held.
 */
void bfc_kick_dirty(void)
{
	u32 id[BFC_PENDING_MAX];
	struct bfc_pending *pending;
	unsigned int n;

	if (likely(!this_cpu_read(bfc_pending.n)))
		return;
	local_lock(&bfc_pending.lock);
	pending = this_cpu_ptr(&bfc_pending);
	n = pending->n;
	memcpy(id, pending->id, n * sizeof(*id));
	pending->n = 0;
	local_unlock(&bfc_pending.lock);
	/* Each may make others dirty: these wait for the next packet. */
	while (n)
		bfc_kick(id[--n]);
}

/* ---- receiving ---- */

static enum bfc_bad bfc_rx_pause(struct bfc_port *port,
				 const struct bfc_hdr *hdr, const void *frame,
				 u64 now)
{
	const u8 *byte = ((const struct bfc_wire_pause *)frame)->bitmap;
	struct bfc_pause pause;
	enum bfc_bad bad;
	unsigned int w, i, bytes, paused = 0;

	lockdep_assert_held(&port->lock);
	if (port->cfg.peer == BFC_PEER_AUTO) {
		if (port->peer.state < BFC_PEER_STATE_HEARD ||
		    port->peer.state > BFC_PEER_STATE_UP ||
		    hdr->epoch != port->peer.epoch)
			return BFC_BAD_EPOCH;
	}
	/* A tenth of our rate towards the neighbour; who sends more is not
	 * heard, which at worst leaves it unpaused, or paused, for a while.
	 */
	if (!bfc_bucket_take(&port->rx_bucket, now, port->max_pps))
		return BFC_BAD_RATE;
	if (port->cfg.peer != BFC_PEER_AUTO && hdr->epoch != port->peer.epoch) {
		/* `peer on`: the neighbour need not say HELLO; a new epoch
		 * is a restart.
		 */
		port->peer.epoch = hdr->epoch;
		port->rx_seq = hdr->seq - 1;
	}
	if (port->peer.peer_nonce && port->peer.role == BFC_ROLE_NIC &&
	    !port->cfg.accept_pause)
		return BFC_BAD_ROLE;
	if ((s32)(hdr->seq - port->rx_seq) <= 0)
		return BFC_BAD_SEQ;
	bad = bfc_get_pause(frame, hdr->len, port->queues, &pause);
	if (bad)
		return bad;

	port->rx_seq = hdr->seq;
	port->frames_rx++;
	WRITE_ONCE(port->rx_drained, pause.drained);
	if (bfc_fc_is_port_level(port->cfg.fc)) {
		bfc_rx_prio(port, &pause, now);
		return BFC_OK;
	}
	WRITE_ONCE(port->rx_deadline, now + pause.hold_ns);
	bytes = bfc_bitmap_bytes(pause.queues);
	for (w = 0; w < BITS_TO_LONGS(port->queues); w++) {
		unsigned long word = 0;

		for (i = 0; i < sizeof(word) && bytes; i++, bytes--)
			word |= (unsigned long)*byte++ << (8 * i);
		WRITE_ONCE(port->rx_paused[w], word);
		paused += hweight_long(word);
	}
	/* Pairs with the acquire in bfc_dequeue(). */
	smp_store_release(&port->rx_gen, port->rx_gen + 1);
	trace_bfc_pause_rx(port->dev, hdr->seq, paused);
	return BFC_OK;
}

/* A neighbour that keeps changing its mind must not use up the handles: old
 * ones come back with the sweep only. It is served with a later HELLO; until then
 * what is held of the port is charged to counters without queues.
 *
 * Return: 0, or why not: BFC_REFUSED_*.
 */
static u8 bfc_rx_layout(struct bfc_port *port, unsigned int queues, u64 now)
{
	const struct bfc_ingress *ing;
	u8 refused = bfc_ingress_room(port, queues);

	if (!refused && now < port->layout_next)
		refused = BFC_REFUSED_WAIT;
	if (!refused) {
		port->layout_next = now + jiffies_to_nsecs(BFC_SWEEP);
		return bfc_port_layout(port, queues);
	}
	if (refused != port->refused)
		bfc_port_refuse(port, queues, refused);
	ing = bfc_ingress_of(port);
	if (!ing || ing->queues)
		bfc_port_layout(port, 0);
	return refused;
}

static enum bfc_bad bfc_rx_hello(struct bfc_port *port,
				 const struct bfc_hdr *hdr, const void *frame,
				 u64 now)
{
	struct bfc_hello hello;
	unsigned int events;
	enum bfc_bad bad;
	bool known;

	lockdep_assert_held(&port->lock);
	bad = bfc_get_hello(frame, &hello);
	if (bad)
		return bad;
	/* Each may have to be answered. Strangers that do not hear us, whatever
	 * they send, take nothing from the neighbour.
	 */
	known = bfc_peer_knows(&port->peer, hdr, &hello);
	if (!bfc_bucket_take_n(&port->hello_bucket[known], now, BFC_HELLO_PPS,
			       BFC_HELLO_PPS, 1))
		return BFC_BAD_RATE;
	bad = bfc_peer_hello(&port->peer, hdr, &hello, now, &events);
	if (events & BFC_EV_REPLY)
		mod_delayed_work(system_percpu_wq, &port->hello, 0);
	if (bad)
		return bad;

	port->hello_rx++;
	if (events & BFC_EV_LAYOUT)
		port->rx_seq = hdr->seq;
	if (bfc_fc_is_port_level(port->cfg.fc)) {
		/* what is held does not depend on the neighbour */
	} else if (events & BFC_EV_LAYOUT) {
		port->refused = bfc_rx_layout(port, hello.queues, now);
	} else if (port->refused && hello.id == port->peer.peer_id) {
		port->refused = bfc_rx_layout(port, hello.queues, now);
		events |= BFC_EV_STATE;
	}
	if (events & BFC_EV_STATE) {
		port->tries = 0;
		bfc_port_tags(port);
	}
	return BFC_OK;
}

/**
 * bfc_rx_control() - a control frame came in
 * @port: where
 * @skb: the frame, network header at the magic; stays with the caller
 *
 * Context: softirq, from the hook.
 */
void bfc_rx_control(struct bfc_port *port, struct sk_buff *skb)
{
	unsigned int len = skb_headlen(skb) + ETH_HLEN;
	const void *frame = skb_mac_header(skb);
	enum bfc_bad bad;
	u64 now = ktime_get_ns();
	struct bfc_hdr hdr;
	bool wake = false;

	spin_lock(&port->lock);
	if (!port->conf || !bfc_fc_says_hello(port->cfg.fc) ||
	    port->cfg.peer == BFC_PEER_OFF)
		goto out;
	/* What is refused by its looks costs no more than the look. */
	bad = bfc_get_hdr(frame, len, &hdr);
	if (!bad && hdr.type == BFC_FRAME_HELLO) {
		bad = bfc_rx_hello(port, &hdr, frame, now);
	} else if (!bad) {
		bad = bfc_rx_pause(port, &hdr, frame, now);
		wake = !bad;
	}
	if (bad)
		port->bad[bad]++;
out:
	spin_unlock(&port->lock);
	if (wake)
		netif_schedule_queue(netdev_get_tx_queue(port->dev, 0));
}
