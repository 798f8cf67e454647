// SPDX-License-Identifier: GPL-2.0
/*
 * `assign destination`: queues are shared by destination as they run short.
 *
 * With BFC's dynamic assignment (BFC §3.3.1) a flow that finds no empty queue joins
 * any. When many senders meet at one host, their flows take all queues of the ports on
 * the way, and flows to other hosts wait behind paused ones. Here it is the flows to that
 * host which share among themselves, and there are queues left for those that go
 * elsewhere.
 *
 * A queue is held by its destination from its first packet until it is empty, not paused,
 * and was so for the sticky time: until then it may be paused for what left it last, and
 * of no use to others. Then it is free.
 *
 * What has to wait anyway gives its queue back early: a queue with one flow goes to the
 * end of another one of its destination, when it is paused, or at the end of its turn.
 * Only the queue where they go to, the pool, has several flows, so that all others can go
 * there: new flows of a destination that may have no other queue are sent there, too.
 *
 * Traffic classes share no queues: of each there are destinations, ports and what they hold as if
 * it were alone.
 *
 * With `assign root` what the next hop pauses for one root is one destination
 * (bfc_root.c).
 *
 * Everything here runs under the root lock.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/reciprocal_div.h>
#include <linux/siphash.h>

#include "bfc.h"

enum {
	BFC_DEST_FORWARDED = BFC_SLOTS,	/* came in, but not through a port with a slot */
	BFC_DEST_LOCAL,			/* of this box */
	BFC_DEST_UNKNOWN		/* not looked at yet */
};

#define BFC_DEST_LABELLED	1U	/* key of what has the incast label; a host's is 0 */

#define BFC_DEST_ROOT		BIT(31)	/* where a destination has VLANs: it is a root */

/* Secret, so that no sender can choose addresses that share an entry. */
static u64 bfc_dest_factor[BFC_DEST_WORDS] __read_mostly;
static hsiphash_key_t bfc_dest_key6 __read_mostly;

/**
 * bfc_dest_init() - once at module load: a new hash key at every boot
 */
void bfc_dest_init(void)
{
	get_random_bytes(bfc_dest_factor, sizeof(bfc_dest_factor));
	get_random_bytes(&bfc_dest_key6, sizeof(bfc_dest_key6));
}

/* What tells a destination: the prefix of the address that routers look at, and if that is all of
 * it the MAC address by which bridges forward, which of what is not IP is all that there is.
 */
static void bfc_dest_words(const struct bfc_sched *q, const struct sk_buff *skb,
			   unsigned int off, __be16 proto, u32 *word)
{
	bool whole = true;
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} room;

	if (proto == htons(ETH_P_IP)) {
		const struct iphdr *ip = skb_header_pointer(skb, off, sizeof(*ip), &room);

		if (ip) {
			word[0] = (__force u32)(ip->daddr & q->cfg->dest_mask);
			whole = q->cfg->dest_mask == htonl(~0U);
		}
	} else if (proto == htons(ETH_P_IPV6)) {
		const struct ipv6hdr *ip6 = skb_header_pointer(skb, off, sizeof(*ip6), &room);
		const u32 *a, *m = (__force const u32 *)q->cfg->dest_mask6;

		if (ip6) {
			a = (__force const u32 *)ip6->daddr.s6_addr32;
			word[0] = hsiphash_4u32(a[0] & m[0], a[1] & m[1], a[2] & m[2],
						a[3] & m[3], &bfc_dest_key6);
			whole = m[3] == ~0U;
		}
	}
	if (whole)
		bfc_mac_words(skb, &word[2]);
}

/* Where a packet goes: IP and MAC address, or the prefix of that address, and the VLANs. Of a
 * tunnel it is the outer address. Were the MAC address left out, a host could send what has an
 * idle host's IP address to a slow one, and have what others send to the idle one share.
 * A neighbour that is a host is one destination, whatever addresses it has, and what has the
 * incast label is one of its own.
 *
 * Return: 32 bits of a keyed hash.
 */
static u32 bfc_dest_read(const struct bfc_sched *q, const struct sk_buff *skb)
{
	u32 word[BFC_DEST_WORDS] = {};
	unsigned int off;
	__be16 proto;

	if (unlikely(q->cfg->label) && bfc_is_labelled(q, skb))
		return BFC_DEST_LABELLED;
	if (bfc_faces_host(q))
		return 0;
	off = bfc_mac_len(skb, &proto);
	bfc_dest_words(q, skb, off, proto, word);
	if (off != ETH_HLEN || skb_vlan_tag_present(skb))
		word[1] = bfc_vids(skb, off);
	return bfc_dest_hash(word, bfc_dest_factor);
}

/* The entry of a destination or a free one; NULL: the set is full of others. */
static struct bfc_dest *bfc_dest_lookup(const struct bfc_sched *q, u32 key)
{
	u32 set = reciprocal_scale(key, q->dest.sets);

	return bfc_dest_find(q->dest.table + set * BFC_DEST_WAYS, key);
}

/* What makes a destination of one class another than that of the next */
static u32 bfc_dest_salt(u8 class)
{
	return class * GOLDEN_RATIO_32;
}

/* A root is a destination as well. */
static u32 bfc_root_key(u32 root, u8 class)
{
	const u32 word[BFC_DEST_WORDS] = { root, BFC_DEST_ROOT };

	return bfc_dest_hash(word, bfc_dest_factor) ^ bfc_dest_salt(class);
}

/* The key of a destination, or that of the root that it is behind, if that holds any queue:
 * when it holds none it is a root no more.
 */
static u32 bfc_dest_behind(struct bfc_sched *q, u32 key)
{
	u32 root = bfc_root_behind(q, key), shared = bfc_root_key(root, q->call.class);
	const struct bfc_dest *dest;

	if (root == BFC_ROOT_UNKNOWN)
		return key;
	dest = bfc_dest_lookup(q, shared);
	return dest && dest->queues ? shared : key;
}

/* Where a packet goes, and its class, read once for it, and for all segments of one. */
static u32 bfc_dest_key(struct bfc_sched *q, const struct sk_buff *skb)
{
	if (!q->call.keyed) {
		q->call.keyed = true;
		q->dest.slot = BFC_DEST_UNKNOWN;
		q->dest.key = bfc_dest_read(q, skb) ^ bfc_dest_salt(q->call.class);
		q->dest.shared = q->dest.key;
		if (q->cfg->by_root)
			q->dest.shared = bfc_dest_behind(q, q->dest.key);
	}
	return q->dest.key;
}

/* The same, or the key of the root that it is behind. */
static u32 bfc_dest_shared(struct bfc_sched *q, const struct sk_buff *skb)
{
	bfc_dest_key(q, skb);
	return q->dest.shared;
}

/* A container that sends through a device on top of the port has its own namespace's sockets. */
static bool bfc_sends_here(const struct bfc_sched *q, const struct sk_buff *skb)
{
	return !skb->skb_iif && skb->sk && net_eq(sock_net(skb->sk), dev_net(q->port->dev));
}

static u8 bfc_ingress_read(struct bfc_sched *q, const struct sk_buff *skb)
{
	const struct bfc_ingress *ing;

	if (!skb->tc_index)
		return bfc_sends_here(q, skb) ? BFC_DEST_LOCAL : BFC_DEST_FORWARDED;
	ing = bfc_brought_by(q, skb);
	return ing && ing->slot < BFC_SLOTS ? ing->slot : BFC_DEST_FORWARDED;
}

/* The slot of the port that brought a packet; that of all that have no counters or no slot, as
 * those without `bfc`, containers among them; or that of this box's own packets, of which none is
 * told to share. Its key is known.
 */
static u8 bfc_dest_ingress(struct bfc_sched *q, const struct sk_buff *skb)
{
	if (q->dest.slot == BFC_DEST_UNKNOWN)
		q->dest.slot = bfc_ingress_read(q, skb);
	return q->dest.slot;
}

/* Which of an ingress port's overflow entries, from @first on, is for a destination? That which
 * it owns, or one that is idle. If there is none it is a guest of the one that its key tells, and
 * goes there as long as that has packets, for some of these may be its own.
 */
static unsigned int bfc_overflow_way(struct bfc_sched *q, unsigned int first, u32 key)
{
	const struct bfc_overflow *port = bfc_overflow_port(q, first);
	unsigned int told = reciprocal_scale(key, BFC_FLOW_OVERFLOW), way;
	const struct bfc_flow *entry = &q->over.entries[first];

	for (way = 0; way < BFC_FLOW_OVERFLOW; way++)
		if (port->key[way] == key && !bfc_flow_is_idle(q, &entry[way]))
			return way;
	if (port->guests & BIT(told) && !bfc_flow_is_idle(q, &entry[told]))
		return told;
	for (way = 0; way < BFC_FLOW_OVERFLOW; way++)
		if (bfc_flow_is_idle(q, &entry[way]))
			return way;
	return told;
}

/**
 * bfc_dest_overflow() - the overflow entry of the flow table that a packet's flow shares
 * @q: the scheduler
 * @skb: the packet
 * @hash: bfc_flow_hash()
 *
 * Next to a host all have one destination, and any entry of the ingress port will do. Each class
 * has entries of its own: bfc_flows_grow().
 *
 * Context: under the root lock.
 * Return: its number, by the packet's ingress port and destination.
 */
unsigned int bfc_dest_overflow(struct bfc_sched *q, const struct sk_buff *skb, u64 hash)
{
	u32 key = bfc_dest_key(q, skb);
	/* Of port-level modes' classes all share those that there is room for. */
	u8 class = bfc_is_classed(q) ? q->call.class : 0;
	unsigned int first = (class * BFC_DEST_PORTS + bfc_dest_ingress(q, skb)) *
			     BFC_FLOW_OVERFLOW;

	if (bfc_faces_host(q))
		return first + reciprocal_scale(hash, BFC_FLOW_OVERFLOW);
	return first + bfc_overflow_way(q, first, key);
}

/**
 * bfc_dest_overflowed() - a packet is to be queued for an overflow entry
 * @q: the scheduler
 * @entry: that bfc_dest_overflow() said
 * @skb: the packet
 *
 * Context: under the root lock.
 */
void bfc_dest_overflowed(struct bfc_sched *q, const struct bfc_flow *entry,
			 const struct sk_buff *skb)
{
	unsigned int n = entry - q->over.entries, way = n % BFC_FLOW_OVERFLOW;
	struct bfc_overflow *port = bfc_overflow_port(q, n);
	u32 key = bfc_dest_key(q, skb);

	if (bfc_flow_is_idle(q, entry)) {
		port->key[way] = key;
		port->guests &= ~BIT(way);
	} else if (port->key[way] != key) {
		port->guests |= BIT(way);
	}
}

/* The destination that a queue belongs to, or NULL. */
static struct bfc_dest *bfc_dest_of(const struct bfc_sched *q, const struct bfc_queue *queue)
{
	return queue->dest != BFC_DEST_NONE ? &q->dest.table[queue->dest] : NULL;
}

static void bfc_dest_leave(struct bfc_sched *q, struct bfc_queue *queue)
{
	struct bfc_dest *dest = bfc_dest_of(q, queue);

	if (dest)
		dest->queues--;
	queue->dest = BFC_DEST_NONE;
}

/* Through the port of a slot came what has one queue more, or less, of this one's class. */
static void bfc_ingress_hold(struct bfc_sched *q, const struct bfc_queue *queue, u8 slot, int more)
{
	unsigned int n = bfc_class_queues(q, bfc_traffic_class(q, queue));
	struct bfc_class_dests *d = bfc_dests_of(q, queue);
	unsigned int held = d->ingress[slot].queues;

	if (slot != BFC_DEST_LOCAL)
		d->greedy += bfc_ingress_is_greedy(held + more, n) - bfc_ingress_is_greedy(held, n);
	d->ingress[slot].queues = held + more;
}

static void bfc_ingress_leave(struct bfc_sched *q, const struct bfc_queue *queue)
{
	bfc_ingress_hold(q, queue, queue->slot, -1);
}

static void bfc_dest_free(struct bfc_sched *q, struct bfc_queue *queue)
{
	list_del_init(&queue->cooling);
	bfc_dest_leave(q, queue);
	bfc_ingress_leave(q, queue);
	bfc_bit_set(queue - q->queues, q->dest.free);
	bfc_dests_of(q, queue)->nfree++;
}

/* A queue that belongs to none belongs to a destination, or root, now. */
static void bfc_dest_give(struct bfc_sched *q, struct bfc_queue *queue, u32 key)
{
	struct bfc_dest *dest = bfc_dest_lookup(q, key);

	queue->key = key;
	if (unlikely(!dest))
		return;
	queue->dest = dest - q->dest.table;
	bfc_dest_take(dest, key, queue - q->queues);
}

static void bfc_dest_hold(struct bfc_sched *q, struct bfc_queue *queue, u32 key,
			  u8 slot)
{
	unsigned int qn = queue - q->queues;

	if (bfc_bit_test(qn, q->dest.free)) {
		bfc_bit_clear(qn, q->dest.free);
		bfc_dests_of(q, queue)->nfree--;
		/* Not if the neighbour holds it paused for what was in it before, or may. */
		queue->clean = !test_bit(q->base + qn, q->port->rx.paused);
	} else {
		bfc_dest_leave(q, queue);
		bfc_ingress_leave(q, queue);
		queue->clean = queue->clean && queue->key == key;
	}
	bfc_ingress_hold(q, queue, slot, 1);
	bfc_dests_of(q, queue)->ingress[slot].last = qn;
	queue->slot = slot;
	bfc_dest_give(q, queue, key);
}

/**
 * bfc_dest_configure() - queues are shared by destination, or no more, or by others
 * @q: the scheduler, with a new configuration
 * @old: the one before, or NULL
 *
 * What is in use at that time belongs to none, until it runs empty, or is paused for a
 * root. So it is when prefixes or classes change: keys of before do not say where that goes by
 * the new ones.
 *
 * Context: under the root lock.
 */
void bfc_dest_configure(struct bfc_sched *q, const struct bfc_cfg *old)
{
	const struct bfc_cfg *cfg = q->cfg;
	bool on = cfg->by_dest, was = old && old->by_dest;
	bool root = cfg->by_root || (old && old->by_root);
	unsigned int qn, class;

	if (was == on && !(on && (old->by_root != cfg->by_root || bfc_classes_differ(old, cfg) ||
				  old->dest_mask != cfg->dest_mask ||
				  memcmp(old->dest_mask6, cfg->dest_mask6,
					 sizeof(cfg->dest_mask6)))))
		return;
	if (root)
		bfc_roots_configure(q);
	for (class = 0; class < ARRAY_SIZE(q->dest.of); class++) {
		struct bfc_class_dests *d = &q->dest.of[class];

		memset(d->ingress, 0, sizeof(d->ingress));
		d->greedy = 0;
		d->nfree = 0;
	}
	for (qn = 0; qn < q->nqueues; qn++) {
		struct bfc_queue *queue = &q->queues[qn];
		struct bfc_class_dests *d = bfc_dests_of(q, queue);

		list_del_init(&queue->cooling);
		bfc_dest_leave(q, queue);
		queue->key = bfc_dest_salt(bfc_traffic_class(q, queue));
		queue->slot = BFC_DEST_LOCAL;
		d->ingress[BFC_DEST_LOCAL].queues++;
		bfc_bit_clear(qn, q->dest.free);
		if (on && !queue->head && !bfc_bit_test(qn, q->obeyed.paused))
			list_add_tail(&queue->cooling, &d->cooling);
	}
}

/**
 * bfc_dest_came() - a flow that had no packets here is to have one in a queue
 * @q: the scheduler, with `assign destination`
 * @queue: the queue; bfc_queue_was_of() another flow
 * @skb: the packet, not in it yet
 *
 * Context: under the root lock.
 */
void bfc_dest_came(struct bfc_sched *q, struct bfc_queue *queue, const struct sk_buff *skb)
{
	u32 key;

	if (queue->head && queue->dest == BFC_DEST_NONE && !queue->clean)
		return;
	key = bfc_dest_shared(q, skb);
	if (!queue->head) {
		bfc_dest_hold(q, queue, key, bfc_dest_ingress(q, skb));
		queue->rooted = key != q->dest.key;
		if (q->cfg->by_root)
			bfc_root_assume(q, queue, queue->rooted ?
					bfc_root_behind(q, q->dest.key) : BFC_ROOT_UNKNOWN);
	} else if (queue->key != key && !queue->rooted) {
		bfc_dest_leave(q, queue);	/* of several */
		queue->clean = false;
	}
}

/* Those of a class that ran empty longer ago than the sticky time are free: each once. A host
 * pauses none. Those that have got packets since are of no interest. A queue is moved once
 * at most for each time that it ran empty.
 */
static void bfc_dest_cool(struct bfc_sched *q, struct bfc_class_dests *d)
{
	bool host = bfc_faces_host(q);
	struct bfc_queue *queue;

	while ((queue = list_first_entry_or_null(&d->cooling, struct bfc_queue, cooling))) {
		if (queue->head) {
			list_del_init(&queue->cooling);
		} else if (queue->again) {
			queue->again = false;
			list_move_tail(&queue->cooling, &d->cooling);
		/* 0: never used */
		} else if (host || !queue->emptied_ns ||
			   bfc_sticky_over(q, queue->emptied_ns)) {
			bfc_dest_free(q, queue);
		} else {
			break;
		}
	}
}

/* Is that a queue of the destination, paused or not as told, and no empty one that is? */
static bool bfc_dest_has(const struct bfc_sched *q, const struct bfc_dest *dest,
			 unsigned int qn, bool paused)
{
	return bfc_dest_of(q, &q->queues[qn]) == dest &&
	       bfc_bit_test(qn, q->obeyed.paused) == paused &&
	       (q->queues[qn].head || !paused);
}

/* The one to share is the pool. If that is paused or resumed by now it is the other, and
 * if there is none it is the queue that the destination got last.
 */
static unsigned int bfc_dest_share(const struct bfc_sched *q, struct bfc_dest *dest)
{
	const u16 known[] = {
		dest->pool[0], dest->pool[1], dest->pool[1], dest->pool[0],
		dest->last, dest->last
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!bfc_dest_has(q, dest, known[i], i & 1))
			continue;
		dest->pool[i & 1] = known[i];
		return known[i];
	}
	return q->nqueues;
}

/* May what came in through the port that brought a packet have another queue? */
static bool bfc_dest_ingress_may(struct bfc_sched *q, const struct sk_buff *skb,
				 unsigned int free, u8 class)
{
	const struct bfc_class_dests *d = &q->dest.of[class];
	u8 slot = bfc_dest_ingress(q, skb);

	return slot == BFC_DEST_LOCAL ||
	       bfc_ingress_may_take(d->ingress[slot].queues, d->greedy, free,
				    bfc_class_queues(q, class));
}

/* One to have alone, or none. @had: the one that the flow had, if that is free */
static unsigned int bfc_dest_alone(struct bfc_sched *q, unsigned int had, u8 class)
{
	u16 *rotor = bfc_rotor(q, class);
	unsigned int qn;

	if (had < q->nqueues)
		return had;
	qn = bfc_find_in_class(q, class, q->dest.of[class].nfree ? q->dest.free : q->usable,
			       *rotor);
	if (qn < q->nqueues)
		*rotor = qn + 1;
	return qn;
}

/* The queue that ran empty the longest ago, or none. It may be paused yet for what left
 * it, and a flow that has it is alone there.
 */
static unsigned int bfc_dest_borrow(struct bfc_sched *q, const struct sk_buff *skb,
				    unsigned int held, unsigned int had, u8 class)
{
	unsigned int n = q->nqueues, empty = bfc_class_empty(q, class);
	struct bfc_queue *queue;

	if (!bfc_dest_may_borrow(held, empty) || !bfc_dest_ingress_may(q, skb, empty, class))
		return n;
	queue = list_first_entry_or_null(&q->dest.of[class].cooling, struct bfc_queue, cooling);
	if (queue)
		return queue - q->queues;
	return q->dest.of[class].nfree ? bfc_dest_alone(q, had, class) : n;
}

/* The queue that an ingress port got last, or none if it does not hold that any more; paused or
 * not, empty or not. One that is not paused, if one is known, was tried: flows of other ports
 * waited no less often for it. One that is empty may be paused for what left it: who sends a
 * packet of each flow to where that waits would get another queue with each.
 */
static unsigned int bfc_ingress_share(const struct bfc_sched *q, u8 slot, u8 class)
{
	unsigned int qn = q->dest.of[class].ingress[slot].last;

	return q->queues[qn].slot == slot && !bfc_bit_test(qn, q->dest.free) ? qn : q->nqueues;
}

/* Of another destination, then: one that may send, if there is any, and not for long. */
static unsigned int bfc_dest_foreign(struct bfc_sched *q, u8 class)
{
	const struct bfc_sched_drr *r = bfc_round_in(q, class);
	unsigned int qn = q->nqueues;

	if (bfc_is_srf(q))
		qn = bfc_srf_soon(q);
	else if (!list_empty(&r->active))
		qn = list_last_entry(&r->active, struct bfc_queue, active) - q->queues;
	return qn < q->nqueues ? qn : bfc_pick_in_class(q, class);
}

/**
 * bfc_dest_pick() - the queue for a new flow
 * @q: the scheduler, with `assign destination`
 * @skb: the packet
 * @had: the queue that the flow had before, empty and of no other since; &bfc_sched.nqueues: none
 * @class: of the packet
 *
 * A flow that comes back keeps its queue while that is held, as it is if it is paused. Else it is
 * a new one: N flows that were idle may all have left a free one.
 *
 * Context: under the root lock.
 * Return: the number of the queue.
 */
unsigned int bfc_dest_pick(struct bfc_sched *q, const struct sk_buff *skb, unsigned int had,
			   u8 class)
{
	struct bfc_class_dests *d = &q->dest.of[class];
	unsigned int n = q->nqueues, held, qn = n, borrowed;
	struct bfc_dest *dest;
	u32 key;

	bfc_dest_cool(q, d);
	if (had < n && !bfc_bit_test(had, q->dest.free))
		return had;
	key = bfc_dest_shared(q, skb);
	if (unlikely(key != q->dest.key) && bfc_root_probe(q, q->dest.key)) {
		key = q->dest.key;
		q->dest.shared = key;
	}
	dest = bfc_dest_lookup(q, key);
	held = dest ? dest->queues : 0;
	if (held && !bfc_dest_may_take(held, d->nfree, bfc_class_queues(q, class)))
		qn = bfc_dest_share(q, dest);
	if (qn < n && bfc_bit_test(qn, q->obeyed.paused)) {
		borrowed = bfc_dest_borrow(q, skb, held, had, class);
		if (borrowed < n)
			return borrowed;
	}
	if (qn >= n && !bfc_dest_ingress_may(q, skb, d->nfree, class))
		qn = bfc_ingress_share(q, q->dest.slot, class);
	if (qn < n) {
		q->stats.told_to_share++;
		return qn;
	}
	qn = bfc_dest_alone(q, had, class);
	return qn < n ? qn : bfc_dest_foreign(q, class);
}

/* Are queues of a queue's class so short that those of a destination are joined? */
static bool bfc_dest_short(struct bfc_sched *q, const struct bfc_queue *queue)
{
	return bfc_dest_is_short(bfc_dests_of(q, queue)->nfree,
				 bfc_class_queues(q, bfc_traffic_class(q, queue)),
				 q->cfg->role == BFC_ROLE_NIC);
}

/* A queue that can wait goes to the end of the pool, or is the pool. */
static void bfc_dest_join(struct bfc_sched *q, struct bfc_queue *queue, bool paused)
{
	struct bfc_dest *dest = bfc_dest_of(q, queue);
	struct bfc_queue *into;

	if (!dest)
		return;
	into = &q->queues[dest->pool[paused]];
	if (!into->head || !bfc_dest_has(q, dest, dest->pool[paused], paused))
		dest->pool[paused] = queue - q->queues;
	else if (into != queue && bfc_queue_splice(q, queue, into))
		q->stats.joined++;
}

/**
 * bfc_dest_paused() - a queue is paused
 * @q: the scheduler, with `assign destination`
 * @queue: the queue
 *
 * Context: under the root lock.
 */
void bfc_dest_paused(struct bfc_sched *q, struct bfc_queue *queue)
{
	list_del_init(&queue->cooling);
	if (queue->head) {
		if (bfc_dest_short(q, queue))
			bfc_dest_join(q, queue, true);
	} else if (bfc_bit_test(queue - q->queues, q->dest.free)) {
		bfc_dest_hold(q, queue, queue->key, queue->slot);
	}
}

/**
 * bfc_dest_rooted() - the next hop tells where the congestion of a queue is
 * @q: the scheduler, with `assign root`
 * @queue: the queue, paused; bfc_dest_paused() follows if it just was
 * @root: id, not BFC_ROOT_UNKNOWN
 *
 * The queue is the root's then, whatever is in it. Where that goes is known if it all goes
 * to one destination, and if the pause cannot be for what was in the queue before, or in
 * one of another TX queue.
 *
 * Several flows in a queue that was another root's may wait for either. It is of none
 * then: else flows to other ports of the next hop would come to wait for this one.
 *
 * Next to a host there is one destination anyway.
 *
 * Context: under the root lock.
 */
void bfc_dest_rooted(struct bfc_sched *q, struct bfc_queue *queue, u32 root)
{
	bool several = queue->rooted && queue->head && queue->mixed;
	u32 key = bfc_root_key(root, bfc_traffic_class(q, queue));

	if (bfc_faces_host(q) || (queue->rooted && queue->key == key))
		return;
	if (!queue->rooted && queue->clean && q->cfg->own_numbers)
		bfc_root_learn(q, queue->key, root);
	queue->rooted = true;
	if (bfc_bit_test(queue - q->queues, q->dest.free)) {
		queue->key = key;
		return;
	}
	bfc_dest_leave(q, queue);
	if (several)
		queue->key = key;
	else
		bfc_dest_give(q, queue, key);
}

/**
 * bfc_dest_regroup() - a flow comes back, within the sticky time, that has no packets here
 * @q: the scheduler, with `assign root`
 * @skb: its packet
 * @qn: number of the queue that it had
 *
 * Queues that many flows to different destinations were in before the root was known
 * cannot be joined. They run empty as these flows go to the pool, one after the other;
 * which is paused if the queue is, so that none runs away from a pause. A flow that is
 * known to be behind another root does not: it would take the pool along to that.
 *
 * Context: under the root lock.
 * Return: number of the queue that it is to have.
 */
unsigned int bfc_dest_regroup(struct bfc_sched *q, const struct sk_buff *skb,
			      unsigned int qn)
{
	const struct bfc_queue *queue = &q->queues[qn];
	const struct bfc_dest *dest = bfc_dest_of(q, queue);
	bool paused = bfc_bit_test(qn, q->obeyed.paused);
	u32 root;

	if (!dest || !queue->rooted || !queue->head ||
	    !bfc_dest_short(q, queue) ||
	    !bfc_dest_has(q, dest, dest->pool[paused], paused))
		return qn;
	root = bfc_root_behind(q, bfc_dest_key(q, skb));
	if (root != BFC_ROOT_UNKNOWN &&
	    bfc_root_key(root, bfc_traffic_class(q, queue)) != queue->key)
		return qn;
	return dest->pool[paused];
}

/**
 * bfc_dest_turned() - a queue has had its turn, and has packets left
 * @q: the scheduler, with `assign destination`, next to a host
 * @queue: the queue, not paused
 *
 * Nothing is paused there, and all flows have one destination: those that send much give
 * way to new ones. Elsewhere they would lose to other destinations by it.
 *
 * Context: under the root lock.
 */
void bfc_dest_turned(struct bfc_sched *q, struct bfc_queue *queue)
{
	u8 class = bfc_traffic_class(q, queue);

	if (bfc_dest_is_short(bfc_class_empty(q, class), bfc_class_queues(q, class), false))
		bfc_dest_join(q, queue, false);
}
