// SPDX-License-Identifier: GPL-2.0
/*
 * `sched srf`: shortest remaining flow first (BFC App. A.2).
 *
 * Packets tell how much their flow has yet to send (bfc_size.h), and the queue with the least
 * size at its head is served. Queues are sorted into buckets, 16 for each time that a size
 * doubles, so that neither a packet nor a new head costs a look at other queues. Sizes that are
 * less than 1/16 apart may be in one bucket, where queues take turns by deficit round robin.
 * These turns end soon: the first queue that moves to a lower bucket goes before the others
 * from then on.
 *
 * Packets that tell no size go after all that do. But a TCP segment without data counts as 0:
 * it is short, and the peer waits for the ACK in it.
 *
 * Queues that the neighbour holds paused are in buckets of their own, for `assign similar`: a
 * flow that finds no empty queue joins the queue with the size nearest to its own.
 *
 * Everything here runs under the root lock, unless it says otherwise.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "bfc.h"

/* On while any port has `sched srf`. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(bfc_sized, BFC_KEY_STAYS);

/**
 * bfc_srf_alloc() - allocate what a configuration needs
 * @sch: qdisc of a scheduler, not of a root that has none
 * @cfg: the configuration, not in use yet
 *
 * It stays until bfc_sched_free(). Not used as long as the configuration in use has another
 * `sched`, so the root lock is not needed.
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM.
 */
int bfc_srf_alloc(struct Qdisc *sch, const struct bfc_cfg *cfg)
{
	struct bfc_sched *q = qdisc_priv(sch);

	if (!cfg->srf || q->srf)
		return 0;
	q->srf = kvzalloc(struct_size(q->srf, place, q->nqueues), GFP_KERNEL_ACCOUNT);
	return q->srf ? 0 : -ENOMEM;
}

static void bfc_srf_clear(struct bfc_srf_index *index)
{
	unsigned int bucket;

	bitmap_zero(index->some, BFC_SRF_BUCKETS);
	for (bucket = 0; bucket < BFC_SRF_BUCKETS; bucket++)
		INIT_LIST_HEAD(&index->bucket[bucket]);
}

/**
 * bfc_srf_begin() - no queue has a place yet
 * @q: the scheduler, with `sched srf`; its queues are on no list
 */
void bfc_srf_begin(struct bfc_sched *q)
{
	struct bfc_srf *srf = q->srf;
	unsigned int qn;

	bfc_srf_clear(&srf->may);
	bfc_srf_clear(&srf->paused);
	for (qn = 0; qn < q->nqueues; qn++)
		srf->place[qn] = BFC_SRF_NOWHERE;
}

/**
 * bfc_srf_read() - read the sizes of packets that were queued with another `sched`
 * @q: the scheduler
 */
void bfc_srf_read(struct bfc_sched *q)
{
	struct sk_buff *skb;
	unsigned int qn;

	for (qn = 0; qn < q->nqueues; qn++)
		for (skb = q->queues[qn].head; skb; skb = skb->next)
			bfc_cb(skb)->size = bfc_srf_size(skb);
}

static void bfc_srf_remove(struct bfc_srf *srf, struct bfc_queue *queue, u16 place)
{
	struct bfc_srf_index *index = place & BFC_SRF_PAUSED ? &srf->paused : &srf->may;
	unsigned int bucket = place % BFC_SRF_BUCKETS;

	list_del_init(&queue->active);
	if (list_empty(&index->bucket[bucket]))
		__clear_bit(bucket, index->some);
}

/**
 * bfc_srf_place() - move a queue to its bucket, for it has another head or none, is paused or not
 * @q: the scheduler, with `sched srf`
 * @queue: the queue
 *
 * A queue that moves to another bucket has a new turn there. If it comes from being
 * empty, or is paused or resumed, it keeps its debt, but for more than a quantum.
 */
void bfc_srf_place(struct bfc_sched *q, struct bfc_queue *queue)
{
	unsigned int qn = queue - q->queues, place = BFC_SRF_NOWHERE;
	struct bfc_srf *srf = q->srf;
	u16 was = srf->place[qn];
	s32 quantum = q->cfg->quantum;
	struct bfc_srf_index *index;

	if (queue->head) {
		place = bfc_cb(queue->head)->size >> BFC_SRF_SHIFT;
		if (bfc_bit_test(qn, q->obeyed.paused))
			place |= BFC_SRF_PAUSED;
	}
	if (place == was)
		return;
	if (was != BFC_SRF_NOWHERE)
		bfc_srf_remove(srf, queue, was);
	srf->place[qn] = place;
	if (place == BFC_SRF_NOWHERE)
		return;
	if (was == BFC_SRF_NOWHERE || (was ^ place) & BFC_SRF_PAUSED)
		queue->deficit = clamp(queue->deficit, -quantum, 0) + quantum;
	else
		queue->deficit = quantum;
	index = place & BFC_SRF_PAUSED ? &srf->paused : &srf->may;
	place %= BFC_SRF_BUCKETS;
	list_add_tail(&queue->active, &index->bucket[place]);
	__set_bit(place, index->some);
}

/**
 * bfc_srf_next() - the queue to serve
 * @q: the scheduler, with `sched srf` and a queue that may send
 *
 * Return: the queue.
 */
struct bfc_queue *bfc_srf_next(struct bfc_sched *q)
{
	struct bfc_srf_index *may = &q->srf->may;
	struct list_head *turns = &may->bucket[find_first_bit(may->some, BFC_SRF_BUCKETS)];
	struct bfc_queue *queue;

	for (;;) {
		queue = list_first_entry(turns, struct bfc_queue, active);
		if (queue->deficit > 0)
			return queue;
		/* Debt, as for a packet of 64 KB, is owed to others: there are none. */
		if (list_is_singular(turns))
			queue->deficit = 0;
		queue->deficit += q->cfg->quantum;
		list_move_tail(&queue->active, turns);
	}
}

/**
 * bfc_srf_soon() - a queue that may send, and will be empty soon
 * @q: the scheduler, with `sched srf`
 *
 * Context: under the root lock.
 * Return: the number of the queue; &bfc_sched.nqueues if none may send.
 */
unsigned int bfc_srf_soon(const struct bfc_sched *q)
{
	const struct bfc_srf_index *may = &q->srf->may;
	unsigned int bucket = find_first_bit(may->some, BFC_SRF_BUCKETS);

	if (bucket == BFC_SRF_BUCKETS)
		return q->nqueues;
	return list_last_entry(&may->bucket[bucket], struct bfc_queue, active) - q->queues;
}

/* The nearest bucket that is not empty, of two the smaller; or BFC_SRF_BUCKETS. */
static unsigned int bfc_srf_nearest(const struct bfc_srf_index *index, unsigned int bucket)
{
	unsigned int above = find_next_bit(index->some, BFC_SRF_BUCKETS, bucket);
	unsigned int below = find_last_bit(index->some, bucket + 1);

	if (below > bucket)	/* none */
		return above;
	return above < BFC_SRF_BUCKETS && above - bucket < bucket - below ? above : below;
}

static unsigned int bfc_srf_apart(unsigned int a, unsigned int b)
{
	return a > b ? a - b : b - a;
}

/**
 * bfc_srf_similar() - the queue for a flow that finds none empty
 * @q: the scheduler, with `assign similar`
 *
 * The queue with the nearest size at its head; of two, one that is not paused. Queues
 * of one bucket are picked in turn. A packet that tells no size joins any queue, as
 * with `assign dynamic`: it has to wait for all that tell one, wherever it is.
 *
 * Return: number of the queue.
 */
unsigned int bfc_srf_similar(struct bfc_sched *q)
{
	unsigned int bucket = q->srf->size >> BFC_SRF_SHIFT, may, paused;
	struct bfc_srf *srf = q->srf;
	struct bfc_queue *queue;
	struct list_head *same;

	if (srf->size == BFC_SIZE_NONE)
		return bfc_pick_any(q, q->nqueues);
	may = bfc_srf_nearest(&srf->may, bucket);
	paused = bfc_srf_nearest(&srf->paused, bucket);
	if (may < BFC_SRF_BUCKETS &&
	    (paused >= BFC_SRF_BUCKETS ||
	     bfc_srf_apart(may, bucket) <= bfc_srf_apart(paused, bucket)))
		same = &srf->may.bucket[may];
	else
		same = &srf->paused.bucket[paused];
	queue = list_first_entry(same, struct bfc_queue, active);
	list_move_tail(&queue->active, same);
	return queue - q->queues;
}

/* ---- what packets tell ---- */

/* @ends: bytes from @off to the end of the IP packet; 0: many, of segments yet to be cut */
static u16 bfc_srf_tcp(const struct sk_buff *skb, unsigned int off, unsigned int ends)
{
	u8 room[BFC_SIZE_TCP_OPTIONS];
	const struct tcphdr *tcp;
	struct tcphdr tcp_room;
	unsigned int len;
	u16 size = BFC_SIZE_NONE;

	tcp = skb_header_pointer(skb, off, sizeof(tcp_room), &tcp_room);
	if (!tcp || tcp->doff * 4 < sizeof(*tcp))
		return BFC_SIZE_NONE;
	len = tcp->doff * 4 - sizeof(*tcp);
	if (ends == len + sizeof(*tcp))
		return 0;
	if (len >= BFC_SIZE_TCP_LEN) {
		const u8 *options = skb_header_pointer(skb, off + sizeof(*tcp), len, room);

		if (options)
			size = bfc_size_get_tcp(options, len);
	}
	return size;
}

static u16 bfc_srf_udp(const struct sk_buff *skb, unsigned int off)
{
	u8 room[BFC_SIZE_UDP_LEN];
	const u8 *p = skb_header_pointer(skb, off + sizeof(struct udphdr), sizeof(room), room);

	return p ? bfc_size_get_udp(p) : BFC_SIZE_NONE;
}

static u16 bfc_srf_transport(const struct sk_buff *skb, u8 protocol, unsigned int off,
			     unsigned int ends)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return bfc_srf_tcp(skb, off, ends);
	case IPPROTO_UDP:
		return bfc_srf_udp(skb, off);
	default:
		return BFC_SIZE_NONE;
	}
}

/**
 * bfc_srf_size() - the size that a packet tells: how much its flow has yet to send
 * @skb: at egress, data at the MAC header
 *
 * VLAN tags are skipped. Fragments, IPv6 with extension headers and tunnels are not
 * looked into.
 *
 * Context: any.
 * Return: as the packet tells it; 0 for a TCP segment without data; else BFC_SIZE_NONE.
 */
u16 bfc_srf_size(const struct sk_buff *skb)
{
	__be16 proto;
	unsigned int off = bfc_mac_len(skb, &proto), hlen, ends;
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} room;

	if (proto == htons(ETH_P_IP)) {
		const struct iphdr *ip = skb_header_pointer(skb, off, sizeof(*ip), &room);

		if (!ip || ip_is_fragment(ip))
			return BFC_SIZE_NONE;
		hlen = ip->ihl * 4;
		ends = ntohs(ip->tot_len);
		return bfc_srf_transport(skb, ip->protocol, off + hlen,
					 ends > hlen ? ends - hlen : 0);
	}
	if (proto == htons(ETH_P_IPV6)) {
		const struct ipv6hdr *ip6 = skb_header_pointer(skb, off, sizeof(*ip6), &room);

		if (!ip6)
			return BFC_SIZE_NONE;
		return bfc_srf_transport(skb, ip6->nexthdr, off + sizeof(*ip6),
					 ntohs(ip6->payload_len));
	}
	return BFC_SIZE_NONE;
}
