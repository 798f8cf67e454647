// SPDX-License-Identifier: GPL-2.0
/*
 * `assign destination`: queues are shared by destination as they run short.
 *
 * With BFC's dynamic assignment (BFC §3.3.1) a flow that finds no empty queue joins any. When
 * many senders meet at one host, their flows take all queues of the ports on the way, and flows
 * to other hosts wait in paused queues. Here the flows to that host share queues among
 * themselves, and there are queues left for flows that go elsewhere.
 *
 * A destination holds a queue from the queue's first packet until it has been empty and not
 * paused for the sticky time. Until then the next hop may pause it for packets that left it
 * before, so it is of no use to others. Then it is free.
 *
 * If queues are short, a queue with one flow is given back early when its packets have to wait
 * anyway: when it is paused, or at the end of its turn (next to a host), they are moved to the
 * end of another queue of its destination, the pool. Only the pool has several flows, so that
 * every other queue can be moved there. New flows of a destination that may have no other queue
 * are sent there, too.
 *
 * Traffic classes share no queues: each class has its own destinations and ports, and counts of
 * what they hold, as if it were alone.
 *
 * With `assign root` all that the next hop pauses for one root is one destination (bfc_root.c).
 *
 * Everything here runs under the root lock.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/reciprocal_div.h>
#include <linux/siphash.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "bfc.h"

/* Slots of sources. Other sources do not get the slots that no port has: a port that got one of
 * these later would begin with a stranger's queues.
 */
enum {
	/* 0 to BFC_SLOTS - 1: ports */
	BFC_DEST_OTHERS = BFC_SLOTS,	/* BFC_OTHERS: by a hash of the device or user */
	BFC_DEST_FORWARDED = BFC_DEST_OTHERS + BFC_OTHERS,	/* the source is not known */
	BFC_DEST_REPLIES,		/* of the kernel, to packets that any host may have sent */
	BFC_DEST_UNLIMITED,		/* root's at a host; or in use at bfc_dest_configure() */
	BFC_DEST_UNKNOWN		/* not looked at yet */
};

static_assert(BFC_DEST_UNKNOWN == BFC_DEST_PORTS);

/* What a source in BFC_DEST_OTHERS is. */
enum bfc_other {
	BFC_OTHER_DEVICE,	/* through which the packet came in */
	BFC_OTHER_USER		/* of this namespace, that the socket belongs to */
};

#define BFC_DEST_LABELLED	1U	/* key of packets with the incast label; a host's is 0 */

#define BFC_DEST_ROOT		BIT(31)	/* in the word of the VLANs: the key is that of a root */

/* Secret, so that no sender can choose addresses that share an entry, or a source whose slot it
 * has.
 */
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

/* The words that identify a destination: the IP address as far as the prefix that routers look at;
 * and if that is the whole address, the MAC address by which bridges forward. Packets that are not
 * IP have the MAC address only.
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

/* Where a packet goes: the IP and MAC address, or a prefix of the IP address; and the VLANs. In a
 * tunnel it is the outer address. Without the MAC address, a host could send packets with the IP
 * address of an idle host to a slow one, and make the packets that others send to the idle host
 * share queues with them. A neighbour that is a host is one destination, whatever addresses it
 * has. Packets with the incast label are a destination of their own.
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

/* Makes the key of a destination differ from class to class. */
static u32 bfc_dest_salt(u8 class)
{
	return class * GOLDEN_RATIO_32;
}

/* The key of a root, which is a destination as well. */
static u32 bfc_root_key(u32 root, u8 class)
{
	const u32 word[BFC_DEST_WORDS] = { root, BFC_DEST_ROOT };

	return bfc_dest_hash(word, bfc_dest_factor) ^ bfc_dest_salt(class);
}

/* The key of a destination, or that of the root that it is behind, if the root holds any queue: a
 * root that holds none is no root any more.
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

/* The key of where a packet goes, and of its class: computed once for it or all its segments. */
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

/* True if a socket of this namespace sent the packet. A container that sends through a device on
 * top of the port has sockets of its own namespace.
 */
static bool bfc_sends_here(const struct bfc_sched *q, const struct sk_buff *skb)
{
	return !skb->skb_iif && skb->sk && net_eq(sock_net(skb->sk), dev_net(q->port->dev));
}

/* True if the kernel answers for itself, with a SYN-ACK, RST, echo reply or other ICMP. A host
 * causes as many of them as it likes, to any address.
 */
static bool bfc_is_reply(const struct sock *sk)
{
	/* The first two have no sk_type. */
	if ((1 << READ_ONCE(sk->sk_state)) & (TCPF_NEW_SYN_RECV | TCPF_TIME_WAIT | TCPF_LISTEN))
		return true;
	return sk->sk_kern_sock && sk->sk_type == SOCK_RAW;	/* inet_ctl_sock_create() */
}

static u8 bfc_dest_other(enum bfc_other kind, u32 id)
{
	return BFC_DEST_OTHERS +
	       reciprocal_scale(hsiphash_2u32(kind, id, &bfc_dest_key6), BFC_OTHERS);
}

/* The slot of a packet that no port with a slot has brought. The device that it came in through is
 * written by the kernel: for a container behind a veth it is the veth's end in this namespace. But
 * what a device of another namespace sends through this port may have come in through any device
 * there, and so the source is not known, as it is not if such a namespace itself sends. At a host
 * root, which could as well remove the qdisc, has no bound.
 */
static u8 bfc_other_read(const struct bfc_sched *q, const struct sk_buff *skb)
{
	kuid_t uid;

	if (skb->skb_iif)
		return bfc_port_shared(q->port) ? BFC_DEST_FORWARDED :
		       bfc_dest_other(BFC_OTHER_DEVICE, skb->skb_iif);
	if (!bfc_sends_here(q, skb))
		return BFC_DEST_FORWARDED;
	if (bfc_is_reply(skb->sk))
		return BFC_DEST_REPLIES;
	uid = READ_ONCE(skb->sk->sk_uid);
	if (q->cfg->role == BFC_ROLE_NIC && uid_eq(uid, GLOBAL_ROOT_UID))
		return BFC_DEST_UNLIMITED;
	return bfc_dest_other(BFC_OTHER_USER, __kuid_val(uid));
}

static u8 bfc_ingress_read(struct bfc_sched *q, const struct sk_buff *skb)
{
	const struct bfc_ingress *ing = bfc_brought_by(q, skb);

	return ing && ing->slot < BFC_SLOTS ? ing->slot : bfc_other_read(q, skb);
}

/* The slot of the source of a packet: its ingress port, or another device or a user, two of which
 * may have the same slot. bfc_dest_key() was called before.
 */
static u8 bfc_dest_ingress(struct bfc_sched *q, const struct sk_buff *skb)
{
	if (q->dest.slot == BFC_DEST_UNKNOWN)
		q->dest.slot = bfc_ingress_read(q, skb);
	return q->dest.slot;
}

/* The overflow entry for a destination, of those of a slot from @first on: the one that it owns, or
 * else an idle one. If there is none, it is a guest of the entry that its key selects, and stays
 * there as long as that has packets, as some of these may be its own.
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
 * Next to a host all flows have one destination, so the hash selects any entry of the ingress
 * port. Each traffic class has entries of its own: bfc_flows_grow().
 *
 * Context: under the root lock.
 * Return: its number, by the packet's ingress port and destination.
 */
unsigned int bfc_dest_overflow(struct bfc_sched *q, const struct sk_buff *skb, u64 hash)
{
	u32 key = bfc_dest_key(q, skb);
	/* The classes of port-level modes share entries: there is room for one. */
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

/* A slot holds one queue more, or less (@more), of the class of @queue. */
static void bfc_ingress_hold(struct bfc_sched *q, const struct bfc_queue *queue, u8 slot, int more)
{
	unsigned int n = bfc_class_queues(q, bfc_traffic_class(q, queue));
	struct bfc_class_dests *d = bfc_dests_of(q, queue);
	unsigned int held = d->ingress[slot].queues;

	if (slot != BFC_DEST_UNLIMITED)
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

/* Give a queue that belongs to none to a destination or root. */
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
		/* Not if the neighbour pauses it: maybe for packets that were in it before. */
		queue->clean = !test_bit(q->base + qn, q->port->rx.paused);
	} else {
		bfc_dest_leave(q, queue);
		bfc_ingress_leave(q, queue);
		queue->clean = queue->clean && queue->key == key;
	}
	bfc_ingress_hold(q, queue, slot, 1);
	bfc_dests_of(q, queue)->ingress[slot].last = qn;
	queue->slot = slot;
	queue->turns = 0;
	bfc_dest_give(q, queue, key);
}

/**
 * bfc_dest_configure() - queues are shared by destination from now on, no longer, or otherwise
 * @q: the scheduler, with a new configuration
 * @old: the one before, or NULL
 *
 * Queues that are in use at that time belong to no destination until they run empty, or are paused
 * for a root. The same happens when prefixes or classes change: the old keys do not say where
 * packets go by the new ones.
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
		queue->slot = BFC_DEST_UNLIMITED;
		d->ingress[BFC_DEST_UNLIMITED].queues++;
		bfc_bit_clear(qn, q->dest.free);
		if (on && !queue->head && !bfc_bit_test(qn, q->obeyed.paused))
			list_add_tail(&queue->cooling, &d->cooling);
	}
}

/**
 * bfc_dest_came() - a packet is about to join a queue: a flow's first one, or an overflow entry's
 * @q: the scheduler, with `assign destination`
 * @queue: the queue; not bfc_queue_was_of() the flow, unless that is an overflow entry
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
		bfc_dest_leave(q, queue);	/* its packets go to several */
		queue->clean = false;
	}
}

/* Free the queues of a class that ran empty longer ago than the sticky time; next to a host, which
 * pauses none, all that are empty. Take those that have got packets since off the list. A queue is
 * moved at most once for each time that it ran empty.
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
		/* emptied_ns is 0: never used */
		} else if (host || !queue->emptied_ns ||
			   bfc_sticky_over(q, queue->emptied_ns)) {
			bfc_dest_free(q, queue);
		} else {
			break;
		}
	}
}

/* True if a queue is the destination's, is paused or not as @paused says, and is not empty if it
 * is paused.
 */
static bool bfc_dest_has(const struct bfc_sched *q, const struct bfc_dest *dest,
			 unsigned int qn, bool paused)
{
	return bfc_dest_of(q, &q->queues[qn]) == dest &&
	       bfc_bit_test(qn, q->obeyed.paused) == paused &&
	       (q->queues[qn].head || !paused);
}

/* The queue that flows of a destination share: the pool that may send, else the paused one. A pool
 * that was paused or resumed meanwhile takes the other's place. Without a pool it is the queue
 * that the destination got last. &bfc_sched.nqueues: none.
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

/* True if the slot of a packet may hold another queue. */
static bool bfc_dest_ingress_may(struct bfc_sched *q, const struct sk_buff *skb,
				 unsigned int free, u8 class)
{
	const struct bfc_class_dests *d = &q->dest.of[class];
	u8 slot = bfc_dest_ingress(q, skb);

	return slot == BFC_DEST_UNLIMITED ||
	       bfc_ingress_may_take(d->ingress[slot].queues, d->greedy, free,
				    bfc_class_queues(q, class));
}

/* A queue for a flow alone, or none. @had: the queue that the flow had, if that is free. */
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

/* The queue that ran empty the longest ago, or NULL */
static struct bfc_queue *bfc_dest_coolest(struct bfc_sched *q, u8 class)
{
	return list_first_entry_or_null(&q->dest.of[class].cooling, struct bfc_queue, cooling);
}

/* A queue that a destination holds, empty and not paused, or NULL: the one that ran empty the
 * longest ago of all, or that the destination got last. That it may hold others that are empty is
 * not known without a search.
 */
static struct bfc_queue *bfc_dest_spare(struct bfc_sched *q, const struct bfc_dest *dest, u8 class)
{
	struct bfc_queue *coolest = bfc_dest_coolest(q, class), *last = &q->queues[dest->last];

	if (coolest && bfc_dest_of(q, coolest) == dest)
		return coolest;
	return !last->head && bfc_dest_has(q, dest, dest->last, false) ? last : NULL;
}

/* An empty queue for a flow that would else have to go to a paused one, or none. One that its
 * destination holds already takes nothing from others. Else it is the one that ran empty the
 * longest ago, or a free one. Any but a free one may yet be paused for packets that left it, but a
 * flow that gets it is alone there. A destination that holds many empty queues gets none of the
 * last free ones, and no source more than its part of what is free.
 */
static unsigned int bfc_dest_borrow(struct bfc_sched *q, const struct sk_buff *skb,
				    const struct bfc_dest *dest, unsigned int had, u8 class)
{
	unsigned int queues = bfc_class_queues(q, class), empty = bfc_class_empty(q, class);
	unsigned int n = q->nqueues, nfree = q->dest.of[class].nfree, uses = dest->queues;
	struct bfc_queue *queue;

	if (!bfc_dest_ingress_may(q, skb, empty, class))
		return n;
	queue = bfc_dest_spare(q, dest, class);
	if (!queue) {
		if (bfc_dest_ingress_may(q, skb, nfree, class))
			uses = bfc_dest_uses(uses, queues - empty, nfree, queues);
		if (bfc_dest_may_borrow(uses, empty))
			queue = bfc_dest_coolest(q, class);
	}
	if (queue)
		return queue - q->queues;
	if (nfree <= BFC_DEST_FEW)
		uses = dest->queues;
	return nfree && bfc_dest_may_borrow(uses, empty) ? bfc_dest_alone(q, had, class) : n;
}

/* Any queue of a class: if there are some that are not paused, one of these. */
static unsigned int bfc_dest_any(struct bfc_sched *q, u8 class)
{
	unsigned int first = bfc_class_first(q, class), end = first + bfc_class_queues(q, class);
	unsigned int any = bfc_pick_in_class(q, class), qn;

	qn = find_next_zero_bit(q->obeyed.paused, end, any);
	if (qn >= end)
		qn = find_next_zero_bit(q->obeyed.paused, any, first);
	return bfc_bit_test(qn, q->obeyed.paused) ? any : qn;
}

/* The last choice is a queue of another destination: one that may send, if there is any, as the
 * flow should not have to share it for long. If all of these just got their first packet, they are
 * not in the round yet, and it is any of them: many flows may come before one has had its turn.
 */
static unsigned int bfc_dest_foreign(struct bfc_sched *q, u8 class)
{
	const struct bfc_sched_drr *r = bfc_round_in(q, class);
	unsigned int qn = q->nqueues;

	if (bfc_is_srf(q))
		qn = bfc_srf_soon(q);
	else if (!list_empty(&r->active))
		qn = list_last_entry(&r->active, struct bfc_queue, active) - q->queues;
	return qn < q->nqueues ? qn : bfc_dest_any(q, class);
}

/* True if a slot holds a queue, be it empty or not. */
static bool bfc_ingress_has(const struct bfc_sched *q, u8 slot, unsigned int qn)
{
	return q->queues[qn].slot == slot && !bfc_bit_test(qn, q->dest.free);
}

/* The queue that a slot got last, paused or not, empty or not; or none, if the slot does not hold
 * it any more. To prefer a queue that is not paused was tried: flows of other ports waited no less
 * often. An empty queue may be paused for packets that left it: if it did not count, a host that
 * sends one packet of each flow to a congested destination would get another queue with each flow.
 *
 * At a host, which has one user as a rule, it is one that may send if that is the same user's: else
 * all flows beyond the bound would wait for one queue.
 */
static unsigned int bfc_ingress_share(struct bfc_sched *q, u8 slot, u8 class)
{
	unsigned int qn;

	if (q->cfg->role == BFC_ROLE_NIC) {
		qn = bfc_dest_foreign(q, class);
		if (bfc_ingress_has(q, slot, qn))
			return qn;
	}
	qn = q->dest.of[class].ingress[slot].last;
	return bfc_ingress_has(q, slot, qn) ? qn : q->nqueues;
}

/**
 * bfc_dest_pick() - the queue for a new flow
 * @q: the scheduler, with `assign destination`
 * @skb: the packet
 * @had: the queue that the flow had before, empty and not used since; &bfc_sched.nqueues: none
 * @class: of the packet
 *
 * A flow that comes back keeps its queue while that is not free; a paused queue is never free.
 * Else it counts as a new flow, as N flows that were idle may each have left a free queue.
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
		borrowed = bfc_dest_borrow(q, skb, dest, had, class);
		if (borrowed < n)
			return borrowed;
	}
	if (qn >= n && !bfc_dest_ingress_may(q, skb, d->nfree, class))
		qn = bfc_ingress_share(q, q->dest.slot, class);
	if (qn < n) {
		/* In an empty queue the flow is alone yet. */
		q->stats.told_to_share += !bfc_bit_test(qn, q->empty);
		return qn;
	}
	qn = bfc_dest_alone(q, had, class);
	return qn < n ? qn : bfc_dest_foreign(q, class);
}

/* True if queues of the class are so short that those of a destination are joined. @queue is not
 * empty: it stays as it is.
 */
static bool bfc_dest_short(struct bfc_sched *q, const struct bfc_queue *queue)
{
	/* No new flow may have come since others could be freed. */
	bfc_dest_cool(q, bfc_dests_of(q, queue));
	return bfc_dest_is_short(bfc_dests_of(q, queue)->nfree,
				 bfc_class_queues(q, bfc_traffic_class(q, queue)),
				 q->cfg->role == BFC_ROLE_NIC);
}

/* A queue can wait: move its packets to the end of the pool of its destination, or make it the
 * pool if there is none.
 */
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
 * The queue then belongs to the root, whatever is in it. Its destination is learned to be behind
 * the root if all its packets go there, and if the pause cannot be for packets that were in the
 * queue before, or for a queue of the same number at another TX queue.
 *
 * If the queue was another root's and has several flows, these may wait for either root. Then it
 * belongs to none: else flows to other ports of the next hop would come to wait for this root.
 *
 * Next to a host nothing is done: there is one destination anyway.
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
 * bfc_dest_regroup() - the queue of a flow without packets that comes back in the sticky time
 * @q: the scheduler, with `assign root`
 * @skb: its packet
 * @qn: number of the queue that it had
 *
 * If flows to different destinations were in a queue before the root was known, it cannot be
 * joined. It runs empty as these flows go to the pool, one after the other. The pool is paused if
 * the queue is, so that no flow escapes a pause. A flow that is known to be behind another root
 * does not go there: it would make the pool wait for that root.
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
 * bfc_dest_few() - whether a pool has a turn for each of its flows
 * @q: the scheduler, next to a host
 * @pool: the queue, with packets of several flows
 *
 * If they are not fewer than the active queues it has one turn: in a large incast a new flow
 * should not have to wait for a turn of each of them.
 *
 * Context: under the root lock.
 */
bool bfc_dest_few(struct bfc_sched *q, const struct bfc_queue *pool)
{
	return pool->nflows < bfc_round_of(q, pool)->nactive;
}

/* True if the pool next to a host has one turn for all of its flows. */
static bool bfc_dest_is_crowded(struct bfc_sched *q, const struct bfc_dest *dest)
{
	const struct bfc_queue *pool = &q->queues[dest->pool[0]];

	return bfc_dest_has(q, dest, dest->pool[0], false) && pool->head && pool->mixed &&
	       !bfc_dest_few(q, pool);
}

/**
 * bfc_dest_turned() - a queue has had its turn, and has packets left
 * @q: the scheduler, with `assign destination`, next to a host
 * @queue: the queue, not paused
 *
 * A host pauses nothing, and all flows have one destination: those that send much make room for
 * new ones. Elsewhere they would get less than other destinations. Once flows in the pool get
 * less than one that has a queue, all that send much go there, whether queues are short or not:
 * else those that came late would get next to nothing.
 *
 * Context: under the root lock.
 */
void bfc_dest_turned(struct bfc_sched *q, struct bfc_queue *queue)
{
	const struct bfc_dest *dest = bfc_dest_of(q, queue);
	u8 class = bfc_traffic_class(q, queue);

	if (queue->turns < BFC_DEST_MUCH)
		queue->turns++;
	if (bfc_dest_is_short(bfc_class_empty(q, class), bfc_class_queues(q, class), false) ||
	    (queue->turns == BFC_DEST_MUCH && dest && bfc_dest_is_crowded(q, dest)))
		bfc_dest_join(q, queue, false);
}
