// SPDX-License-Identifier: GPL-2.0
/*
 * The flow that a packet belongs to, and the queue that the flow is in (BFC §3.3.1).
 */
#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/mpls.h>
#include <linux/reciprocal_div.h>
#include <net/flow_dissector.h>
#include <net/ip.h>
#include <net/ndisc.h>
#include <uapi/linux/batadv_packet.h>

#include "bfc.h"
#include "bfc_hash.h"
#include "bfc_trace.h"

struct bfc_keys {
	struct flow_dissector_key_control control;
	struct flow_dissector_key_basic basic;
	struct flow_dissector_key_ports ports;
	struct flow_dissector_key_keyid keyid;
	union {
		struct flow_dissector_key_ipv4_addrs v4;
		struct flow_dissector_key_ipv6_addrs v6;
	};
};

/* The words that are hashed: keys without padding, and where the packet goes. */
union bfc_tuple {
	struct {
		union {
			struct flow_dissector_key_ipv6_addrs v6;
			struct flow_dissector_key_ipv4_addrs v4;
			u8 src[ETH_ALEN];
		};
		__be32 ports;
		u32 vids_proto;
		u8 dst[ETH_ALEN];
		__be16 n_proto;
		struct {		/* the header in front of the addresses above, or zeroes */
			union {
				u8 dst[sizeof(struct in6_addr)];
				__be32 label;
			};
			__be16 n_proto;
			u8 zero[6];
		} outer;
	};
	u32 words[BFC_HASH_WORDS];
};

/* Offset of the session id in the PPPoE header. <linux/if_pppox.h> has it, but sparse
 * warns about that file.
 */
#define BFC_PPPOE_SID	2

#define BFC_TUPLE_WORDS	(offsetof(union bfc_tuple, outer) / sizeof(u32))

static u32 bfc_hash_key[BFC_HASH_WORDS] __read_mostly;
static struct flow_dissector bfc_dissector __read_mostly;

static const struct flow_dissector_key bfc_dissector_keys[] = {
	{ FLOW_DISSECTOR_KEY_CONTROL, offsetof(struct bfc_keys, control) },
	{ FLOW_DISSECTOR_KEY_BASIC, offsetof(struct bfc_keys, basic) },
	{ FLOW_DISSECTOR_KEY_PORTS, offsetof(struct bfc_keys, ports) },
	{ FLOW_DISSECTOR_KEY_GRE_KEYID, offsetof(struct bfc_keys, keyid) },
	{ FLOW_DISSECTOR_KEY_IPV4_ADDRS, offsetof(struct bfc_keys, v4) },
	{ FLOW_DISSECTOR_KEY_IPV6_ADDRS, offsetof(struct bfc_keys, v6) },
};

/**
 * bfc_flow_init() - once at module load: a new hash key at every boot
 */
void bfc_flow_init(void)
{
	get_random_bytes(bfc_hash_key, sizeof(bfc_hash_key));
	BUILD_BUG_ON(sizeof(union bfc_tuple) != sizeof(bfc_hash_key));
	skb_flow_dissector_init(&bfc_dissector, bfc_dissector_keys,
				ARRAY_SIZE(bfc_dissector_keys));
}

/* Where the next hop sends a packet, if an inner header identifies its flow. The
 * inner addresses do not tell: a sender can put those of any other flow there.
 */
static void bfc_tuple_outer(const struct sk_buff *skb, union bfc_tuple *t, unsigned int off,
			    __be16 proto)
{
	unsigned int len = 0;
	const __be32 *label;
	__be32 room;

	t->outer.n_proto = proto;
	switch (proto) {
	case htons(ETH_P_IP):
		off += offsetof(struct iphdr, daddr);
		len = sizeof(struct in_addr);
		break;
	case htons(ETH_P_IPV6):
		off += offsetof(struct ipv6hdr, daddr);
		len = sizeof(struct in6_addr);
		break;
	case htons(ETH_P_PPP_SES):
		off += BFC_PPPOE_SID;
		len = sizeof(__be16);
		break;
	case htons(ETH_P_BATMAN):
		off += offsetof(struct batadv_unicast_packet, dest);
		len = ETH_ALEN;
		break;
	case htons(ETH_P_MPLS_UC):
	case htons(ETH_P_MPLS_MC):
		label = skb_header_pointer(skb, off, sizeof(room), &room);
		if (label)
			t->outer.label = *label & htonl(MPLS_LS_LABEL_MASK);
		return;
	}
	if (len && skb_copy_bits(skb, off, t->outer.dst, len))
		memset(t->outer.dst, 0, len);
}

static bool bfc_is_ip(__be16 proto)
{
	return proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6);
}

static u16 bfc_tuple_dissect(const struct sk_buff *skb, union bfc_tuple *t)
{
	struct bfc_keys keys;
	unsigned int off;
	__be16 proto;

	/* From the end of the MAC header on: the network header of a frame
	 * that a packet socket sent lies behind its tags.
	 */
	memset(&keys, 0, sizeof(keys));
	__skb_flow_dissect(NULL, skb, &bfc_dissector, &keys, skb->data,
			   skb->protocol, ETH_HLEN, skb_headlen(skb), 0);

	off = bfc_mac_len(skb, &proto);
	t->ports = keys.ports.ports ?: keys.keyid.keyid;
	t->n_proto = keys.basic.n_proto;
	t->vids_proto = bfc_vids(skb, off) << 8 | keys.basic.ip_proto;
	switch (keys.control.addr_type) {
	case FLOW_DISSECTOR_KEY_IPV4_ADDRS:
		t->v4 = keys.v4;
		break;
	case FLOW_DISSECTOR_KEY_IPV6_ADDRS:
		t->v6 = keys.v6;
		break;
	default:
		memcpy(t->src, skb->data + offsetof(struct ethhdr, h_source), sizeof(t->src));
		t->n_proto = proto;
		break;
	}
	if (keys.control.flags & FLOW_DIS_ENCAPSULATION || !bfc_is_ip(proto))
		bfc_tuple_outer(skb, t, off, proto);
	return keys.control.addr_type;
}

/* The ports of TCP and UDP. */
static __be32 bfc_ports(const void *header)
{
	return get_unaligned((const __be32 *)header);
}

/* True if the ports behind an IP header of @len bytes are in the linear part of the skb. */
static bool bfc_room_for(const struct sk_buff *skb, unsigned int len)
{
	return skb_headlen(skb) >= ETH_HLEN + len + sizeof(__be32);
}

static bool bfc_has_ports(u8 ip_proto)
{
	return ip_proto == IPPROTO_TCP || ip_proto == IPPROTO_UDP;
}

/* IPv4 needs less than bfc_tuple has room for. Not bfc_hash(): the words would be
 * written to the stack and read back.
 */
static __always_inline u64 bfc_hash_v4(const struct sk_buff *skb, __be32 src, __be32 dst,
				       __be32 ports, u32 vids_proto)
{
	u64 sum = bfc_hash_pair((__force u32)src, (__force u32)dst, &bfc_hash_key[0]);
	u32 mac[2];

	bfc_mac_words(skb, mac);
	sum += bfc_hash_pair((__force u32)ports, vids_proto, &bfc_hash_key[2]);
	sum += bfc_hash_pair(mac[0], mac[1], &bfc_hash_key[4]);
	return bfc_hash_end(sum);
}

/* &bfc_tuple.vids_proto of a packet without a tag in the frame. */
static u32 bfc_vids_proto(const struct sk_buff *skb, u8 ip_proto)
{
	return (skb_vlan_tag_present(skb) ? skb_vlan_tag_get_id(skb) << 8 : 0) | ip_proto;
}

/* TCP and UDP right behind an IPv6 header. */
static bool bfc_tuple_plain6(const struct sk_buff *skb, union bfc_tuple *t)
{
	const struct ipv6hdr *ip6 = (const void *)skb->data + ETH_HLEN;

	if (skb->protocol != htons(ETH_P_IPV6) || !bfc_room_for(skb, sizeof(*ip6)) ||
	    !bfc_has_ports(ip6->nexthdr))
		return false;
	t->v6.src = ip6->saddr;
	t->v6.dst = ip6->daddr;
	t->ports = bfc_ports(ip6 + 1);
	t->n_proto = skb->protocol;
	t->vids_proto = bfc_vids_proto(skb, ip6->nexthdr);
	return true;
}

/* Not inline: IPv4 should not pay for its stack. */
static noinline u64 bfc_tuple_hash(const struct sk_buff *skb)
{
	u16 addr_type = FLOW_DISSECTOR_KEY_IPV6_ADDRS;
	union bfc_tuple t = {};

	if (!bfc_tuple_plain6(skb, &t))
		addr_type = bfc_tuple_dissect(skb, &t);
	memcpy(t.dst, skb->data, sizeof(t.dst));
	if (unlikely(t.outer.n_proto))
		return bfc_hash(t.words, ARRAY_SIZE(t.words), bfc_hash_key);
	if (addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS)
		return bfc_hash_v4(skb, t.v4.src, t.v4.dst, t.ports, t.vids_proto);
	return bfc_hash(t.words, BFC_TUPLE_WORDS, bfc_hash_key);
}

/**
 * bfc_flow_hash() - hash of the flow identifier
 * @q: the scheduler
 * @skb: at egress, data at the MAC header
 * @prio: its priority
 *
 * A switch with a port-level mode has one queue for each priority, or for each
 * priority and ingress port (FAFC §IV): bfc_share_hash(). Else:
 * the hash is of the 5-tuple for IPv4 and IPv6, and of addresses and EtherType for
 * anything else; in a tunnel, of those of the inner packet. It is also of where the
 * packet goes: VLANs, MAC address, and the address or label by which the next hop
 * forwards a tunnel. Without these a host could send packets to a slow host that look
 * like a flow to an idle one, and make that flow wait.
 *
 * The IPv6 flow label is left out: it may change within a connection. skb->hash is not
 * used, although it is often known, as it may change, too: TCP takes another one when
 * it has to retransmit (sk_rethink_txhash()), RSS computes none for a packet that
 * matched a filter, and a port of another card computes another one. And all flows that
 * come out of a tunnel have the same one. A flow would change its queue, overtake its
 * packets in the old queue, and escape the pause of that queue; or flows would share a
 * queue for good.
 * Fragments have no ports; a flow that mixes fragments and whole datagrams is
 * two flows here. All packets with the incast label are one flow.
 *
 * For TCP and UDP right behind an IP header the fields are read here: the dissector
 * finds the same, but takes longer than the rest of enqueue.
 *
 * Return: 64 bits; the low half picks the flow table entry, the high half is
 * independent of it.
 */
u64 bfc_flow_hash(struct bfc_sched *q, const struct sk_buff *skb, u8 prio)
{
	const struct iphdr *ip = (const void *)skb->data + ETH_HLEN;

	if (q->cfg->identity != BFC_FLOW_TUPLE)
		return bfc_share_hash(q, skb, prio);
	if (unlikely(q->cfg->label) && bfc_is_labelled(q, skb)) {
		q->stats.labelled++;
		return BFC_FLOW_LABELLED;
	}
	if (skb->protocol != htons(ETH_P_IP) || !bfc_room_for(skb, sizeof(*ip)) ||
	    ip->ihl != 5 || ip_is_fragment(ip) || !bfc_has_ports(ip->protocol))
		return bfc_tuple_hash(skb);
	return bfc_hash_v4(skb, ip->saddr, ip->daddr, bfc_ports(ip + 1),
			   bfc_vids_proto(skb, ip->protocol));
}

static bool bfc_is_ndisc(const struct sk_buff *skb)
{
	int off = skb_network_offset(skb);
	struct ipv6hdr _ip6;
	struct icmp6hdr _icmp;
	const struct ipv6hdr *ip6;
	const struct icmp6hdr *icmp;

	ip6 = skb_header_pointer(skb, off, sizeof(_ip6), &_ip6);
	/* No router forwards these: hop limit 255 (RFC 4861) proves it. */
	if (!ip6 || ip6->nexthdr != IPPROTO_ICMPV6 || ip6->hop_limit != 255)
		return false;
	icmp = skb_header_pointer(skb, off + sizeof(*ip6), sizeof(_icmp),
				  &_icmp);
	return icmp && icmp->icmp6_type >= NDISC_ROUTER_SOLICITATION &&
	       icmp->icmp6_type <= NDISC_REDIRECT;
}

/**
 * bfc_control_other() - bfc_control_kind() of a packet that is not IPv4
 * @skb: at egress
 *
 * The kernel's own STP and LACP frames have TC_PRIO_CONTROL as well: the address is
 * looked at first.
 *
 * Return: see there.
 */
enum bfc_control bfc_control_other(const struct sk_buff *skb)
{
	bool control = skb->priority == TC_PRIO_CONTROL;

	switch (skb->protocol) {
	case htons(ETH_P_ARP):
		control = true;
		break;
	case htons(ETH_P_IPV6):
		control = control || bfc_is_ndisc(skb);
		break;
	default:
		if (is_link_local_ether_addr(eth_hdr(skb)->h_dest))
			return BFC_CONTROL_LINK;
	}
	return control ? BFC_CONTROL_NET : BFC_CONTROL_NONE;
}

/* An empty queue that is not paused and did not run empty within the sticky time: by
 * then its last packets have left the next hop, which has given their counts back,
 * and no pause for them is on its way here. Only the first few queues from the rotor
 * on are looked at; the second best is the first of them.
 */
static unsigned int bfc_pick_unpaused(struct bfc_sched *q, u8 class)
{
	unsigned int n = q->nqueues, first = n, i = *bfc_rotor(q, class), tries;

	for (tries = 0; tries < BFC_PICK_TRIES; tries++, i++) {
		i = bfc_find_in_class(q, class, q->usable, i);
		if (i >= n || (i == first && tries))
			break;
		if (bfc_sticky_over(q, q->queues[i].emptied_ns))
			return i;
		if (!tries)
			first = i;
	}
	return first;
}

/* An empty queue of a priority, with avoid-paused preferably one that is not paused.
 * The first queue is the common one of pfc and capfc: other flows get it only if
 * there are no more queues.
 */
static unsigned int bfc_pick_of_prio(struct bfc_sched *q, u8 class)
{
	unsigned int n = q->nqueues / q->cfg->classes, i, qn;
	const unsigned long *good = q->cfg->avoid_paused ? q->usable : q->empty;

	if (q->cfg->identity == BFC_FLOW_PRIO && n > 1) {
		class += q->cfg->classes;
		n--;
	}
	for (i = 0; i < n; i++) {
		qn = class + (q->rotor + i) % n * q->cfg->classes;
		if (bfc_bit_test(qn, good)) {
			q->rotor = (qn - class) / q->cfg->classes + 1;
			return qn;
		}
	}
	for (i = 0; i < n; i++)
		if (bfc_bit_test(class + i * q->cfg->classes, q->empty))
			return class + i * q->cfg->classes;
	return class + bfc_pick_any(q, n) * q->cfg->classes;
}

/* True if a flow gets the queue that it had before: that is empty and has had no other flow
 * since. Another queue would gain nothing, and would separate the flow's packets that are
 * still on their way to the next hop from those that follow. That holds also if the
 * neighbour pauses the queue, as it then does so because of this flow: a sender with a
 * window has nothing to send for longer than the sticky time while its packets wait at the
 * next hop. With another queue after each window it would escape its pauses, and leave them
 * behind for others. A pause without a fresh frame ends after the hold time. The paper has
 * no such rule: not with avoid-paused off. If queues are shared by destination and the
 * queue is free again, the flow gets it only if its destination may have another one:
 * bfc_dest_pick().
 */
static bool bfc_flow_keeps_queue(const struct bfc_sched *q, const struct bfc_flow *flow)
{
	return q->cfg->avoid_paused && flow->stamp &&
	       q->queues[flow->queue].flow == flow - q->flows &&
	       bfc_bit_test(flow->queue, q->empty);
}

static unsigned int bfc_pick_queue(struct bfc_sched *q,
				   const struct bfc_flow *flow,
				   const struct sk_buff *skb, u8 class)
{
	unsigned int n = q->nqueues, i = n;

	if (bfc_flow_keeps_queue(q, flow) &&
	    bfc_queue_class(q, flow->queue) == class)
		i = flow->queue;
	if (q->cfg->by_dest)
		return bfc_dest_pick(q, skb, i, class);
	if (i < n)
		return i;
	if (q->cfg->class_mask && !bfc_is_classed(q))
		return bfc_pick_of_prio(q, class);
	if (bfc_class_empty(q, class)) {
		if (q->cfg->avoid_paused)
			i = bfc_pick_unpaused(q, class);
		if (i >= n)
			i = bfc_find_in_class(q, class, q->empty, *bfc_rotor(q, class));
	}
	if (i >= n)
		return q->cfg->assign == BFC_ASSIGN_SIMILAR ? bfc_srf_similar(q) :
							      bfc_pick_in_class(q, class);
	*bfc_rotor(q, class) = i + 1;
	return i;
}

/* Queue @i of a class */
static unsigned int bfc_class_nth(const struct bfc_sched *q, u8 class, unsigned int i)
{
	return bfc_is_classed(q) ? q->cfg->class[class].first + i : class + i * q->cfg->classes;
}

/* The set of the flow table that a flow belongs to: classes share none. */
static struct bfc_flow *bfc_flow_set(const struct bfc_sched *q, u64 hash,
				     u8 class)
{
	u32 set = class * q->cfg->class_sets +
		  reciprocal_scale((u32)hash, q->cfg->class_sets);

	return q->flows + set * q->cfg->ways;
}

/* The entry of its set that a flow owns, or NULL. */
static __always_inline struct bfc_flow *bfc_flow_owned(const struct bfc_sched *q,
						       struct bfc_flow *set, u64 hash)
{
	struct bfc_flow *flow, *end = set + q->cfg->ways;
	u16 tag = hash >> 32;

	for (flow = set; flow < end; flow++)
		if (flow->tag == tag)
			return flow;
	return NULL;
}

/* The entry of its set that a flow shares if all are in use. It is picked by bits of
 * the hash that need not be spread (bfc_share_hash()).
 */
static unsigned int bfc_flow_way(const struct bfc_sched *q, u64 hash)
{
	return reciprocal_scale((u32)(hash >> 48) * GOLDEN_RATIO_32, q->cfg->ways);
}

static u8 bfc_flow_member(u64 hash)
{
	return reciprocal_scale(hash >> 32, BFC_FLOW_MEMBERS);
}

/* True if a flow may have packets in the overflow entries of this ingress port. */
static bool bfc_flow_is_member(const struct bfc_overflow *port, u64 hash)
{
	return port->members[bfc_flow_member(hash)];
}

/* True if a flow without an entry in its set goes to overflow entry @n. That is not
 * only if the set is full: else a host that fills the table would get an entry, and a
 * queue, with each flow in a set that is not full.
 */
static bool bfc_flow_overflows(struct bfc_sched *q, unsigned int n, bool full, u64 hash)
{
	struct bfc_overflow *port = bfc_overflow_port(q, n);
	u64 *last = &port->full[n % BFC_FLOW_OVERFLOW];
	u64 now = bfc_lately(q);

	if (full)
		*last = now;
	if (bfc_flow_is_member(port, hash))
		return true;
	if (!q->cfg->by_dest)
		return false;
	q->stats.shared += full;
	return full || (q->over.entries[n].size &&
			now - *last < BFC_FLOW_FULL * q->cfg->sticky);
}

/* The entry for a flow that owns none. Not inline: flows that own one should not pay
 * for its registers.
 */
static noinline struct bfc_flow *bfc_flow_new(struct bfc_sched *q, const struct sk_buff *skb,
					      u64 hash, struct bfc_flow *set)
{
	struct bfc_flow *end = set + q->cfg->ways, *idle, *flow;
	unsigned int n;

	for (idle = set; idle < end; idle++)
		if (bfc_flow_is_idle(q, idle))
			break;
	flow = set + bfc_flow_way(q, hash);
	if (flow->shared && !bfc_flow_is_idle(q, flow))
		return flow;
	if (unlikely(q->over.packets) || (idle == end && q->cfg->by_dest)) {
		n = bfc_dest_overflow(q, skb, hash);
		if (bfc_flow_overflows(q, n, idle == end, hash))
			return &q->over.entries[n];
	}
	if (idle < end) {
		*idle = (struct bfc_flow){ .tag = hash >> 32 };
		return idle;
	}
	q->stats.shared++;
	flow->shared = true;
	return flow;
}

/**
 * bfc_flow_find() - the entry of a flow in the flow table
 * @q: the scheduler
 * @skb: a packet of the flow
 * @hash: bfc_flow_hash()
 * @class: of the packet
 *
 * In the paper's table a flow can be in one entry only, and two flows in it share a
 * queue (BFC §3.3.1). Here it can be in any entry of its set, a cache line, and shares
 * one only if all are in use. Which one it then shares is fixed. While that entry is
 * shared and in use, every flow that may be in it uses it: a flow that took an idle
 * entry meanwhile would leave its packets behind in another queue, and overtake them.
 *
 * With `assign destination` the entry to share is an overflow entry, by ingress port
 * and destination: so a host that fills the table does not decide which queue the flows
 * of others go to, and a flow shares with flows to its own destination. An overflow
 * entry may be in use for long. So the packets in the overflow entries of a port are
 * counted by a few bits of their hash; once the table has room again, flows that have
 * no packets there take an idle entry of their set.
 *
 * Context: under the root lock.
 * Return: the entry.
 */
struct bfc_flow *bfc_flow_find(struct bfc_sched *q, const struct sk_buff *skb, u64 hash,
			       u8 class)
{
	struct bfc_flow *set = bfc_flow_set(q, hash, class);
	struct bfc_flow *flow = bfc_flow_owned(q, set, hash);

	if (!flow)
		return bfc_flow_new(q, skb, hash, set);
	if (unlikely(flow->shared))
		flow->shared = !bfc_flow_is_idle(q, flow);
	return flow;
}

/**
 * bfc_flow_overflow() - a packet is to be queued for an overflow entry
 * @q: the scheduler
 * @flow: the entry
 * @queue: its queue
 * @skb: the packet, not in it yet
 * @hash: bfc_flow_hash()
 *
 * Each packet of such an entry may have another destination.
 *
 * Context: under the root lock.
 */
void bfc_flow_overflow(struct bfc_sched *q, const struct bfc_flow *flow,
		       struct bfc_queue *queue, const struct sk_buff *skb, u64 hash)
{
	struct bfc_overflow *port = bfc_overflow_port(q, flow - q->over.entries);
	struct bfc_skb_cb *cb = bfc_cb(skb);

	bfc_dest_overflowed(q, flow, skb);
	if (likely(!cb->unsampled)) {
		cb->overflowed = 1;
		cb->member = bfc_flow_member(hash);
		q->over.packets++;
		port->members[cb->member]++;
	}
	if (q->cfg->by_dest)
		bfc_dest_came(q, queue, skb);
}

/**
 * bfc_flow_is_queued() - whether a flow has packets in a queue
 * @q: the scheduler
 * @skb: a packet of the flow
 * @hash: bfc_flow_hash()
 * @class: of the flow
 *
 * Context: under the root lock.
 * Return: true if so; also if the packets may be of another flow that shares the
 * entry.
 */
bool bfc_flow_is_queued(struct bfc_sched *q, const struct sk_buff *skb, u64 hash, u8 class)
{
	struct bfc_flow *set = bfc_flow_set(q, hash, class);
	const struct bfc_flow *flow = bfc_flow_owned(q, set, hash);

	if (flow)
		return flow->size;
	flow = set + bfc_flow_way(q, hash);
	return (flow->shared && flow->size) ||
	       (q->over.packets &&
		bfc_flow_is_member(bfc_overflow_port(q, bfc_dest_overflow(q, skb, hash)),
				   hash));
}

/**
 * bfc_flow_assign() - the queue for a packet of this flow
 * @q: the scheduler
 * @flow: its entry of the flow table
 * @skb: the packet
 * @hash: bfc_flow_hash()
 * @class: of the packet
 *
 * A flow keeps its queue while it has packets here and for the sticky time
 * after (BFC §3.3.2): else it would escape the pause that is on its way for the old
 * queue. But it never keeps a queue of another class: the entry may be from before a
 * change of mode.
 *
 * Context: under the root lock.
 * Return: the number of the queue.
 */
unsigned int bfc_flow_assign(struct bfc_sched *q, struct bfc_flow *flow,
			     const struct sk_buff *skb, u64 hash, u8 class)
{
	u64 told = q->stats.told_to_share;
	bool collision, picked = false;
	unsigned int n;

	if (!bfc_flow_is_idle(q, flow) &&
	    likely(bfc_queue_class(q, flow->queue) == class)) {
		if (unlikely(q->cfg->by_root) && !flow->size)
			flow->queue = bfc_dest_regroup(q, skb, flow->queue);
		return flow->queue;
	}

	switch (q->cfg->assign) {
	case BFC_ASSIGN_DYNAMIC:
	case BFC_ASSIGN_DESTINATION:
	case BFC_ASSIGN_ROOT:
	case BFC_ASSIGN_SIMILAR:
		picked = hash || q->cfg->identity != BFC_FLOW_PRIO;
		flow->queue = picked ? bfc_pick_queue(q, flow, skb, class) : class;
		break;
	case BFC_ASSIGN_STOCHASTIC:
		n = bfc_is_classed(q) ? bfc_class_queues(q, class) : q->nqueues / q->cfg->classes;
		flow->queue = bfc_class_nth(q, class, reciprocal_scale(hash >> 32, n));
		break;
	case BFC_ASSIGN_SINGLE:
		flow->queue = bfc_class_nth(q, class, 0);
		break;
	}
	collision = !bfc_bit_test(flow->queue, q->empty);
	q->stats.assigned++;
	q->stats.collisions += collision;
	if (unlikely(collision) && picked && told == q->stats.told_to_share) {
		if (bfc_is_classed(q))
			q->class.exhausted[class]++;
		bfc_event_queues(q->port);
	}
	trace_bfc_assign(q->port->dev, flow - q->flows, flow->queue, collision,
			 q->noccupied);
	return flow->queue;
}
