// SPDX-License-Identifier: GPL-2.0
/*
 * Stamping at dequeue, where queue and backlog are known: the number of the queue
 * (upstreamQ) in a link-local tag, and with `stamp pinned` whatever an eBPF program
 * of type SCHED_CLS writes. Such a program writes the tag, too, or asks the
 * qdisc for it, which costs less.
 *
 * A program sees the packet from its MAC header on, and the facts of the dequeue in
 * __sk_buff->cb[] (<linux/bfc_int.h>). It runs under the root lock (if each TX queue has one, on
 * several CPUs at once), so its packet is sent here or dropped. To send it somewhere else would
 * take another port's lock inside this one: packets that a program redirects are dropped and
 * counted, and bpf_clone_redirect() fails.
 *
 * The verifier has checked what bpf_prog_get_type_dev() returns: a program of this type cannot
 * crash or loop. What it can do to a packet is undone or counted here.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_vlan.h>
#include <linux/pkt_cls.h>
#include <net/netlink.h>

#include <linux/bfc_int.h>
#include "bfc.h"

/* The TPID of the outermost tag, in metadata or packet; without a tag the EtherType. */
static __be16 bfc_outermost(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ? skb->vlan_proto : skb->protocol;
}

/* True if a packet is to get a tag. One without a queue gets a tag only if the
 * neighbour would otherwise take its outermost one for that of upstreamQ.
 */
static bool bfc_tag_due(const struct sk_buff *skb, u16 tci, __be16 tpid)
{
	return likely(tci != BFC_VID_NONE) || bfc_outermost(skb) == tpid;
}

/* The tag goes to the metadata of the skb; a tag that is there already is moved
 * into the packet first.
 */
static bool bfc_stamp_native(struct bfc_sched *q, struct sk_buff *skb, u16 tci, __be16 tpid)
{
	if (likely(!skb_vlan_tag_present(skb)))
		__vlan_hwaccel_put_tag(skb, tpid, tci);
	else if (unlikely(skb_vlan_push(skb, tpid, tci)))
		return false;
	q->stats.tagged_tx += tci != BFC_VID_NONE;
	return true;
}

/**
 * bfc_stamp_tag() - bfc_stamp(), without a program, to a neighbour that wants tags
 * @q: the scheduler
 * @skb: a packet that leaves
 * @tci: VLAN id that stands for its queue, and PCP that is its class; or BFC_VID_NONE
 *
 * Context: see there.
 * Return: see there.
 */
bool bfc_stamp_tag(struct bfc_sched *q, struct sk_buff *skb, u16 tci)
{
	__be16 tpid = READ_ONCE(q->port->tpid);

	return !bfc_tag_due(skb, tci, tpid) || bfc_stamp_native(q, skb, tci, tpid);
}

/* ---- programs ---- */

/* Count as if transmissions were nested deeper than the kernel allows: then
 * bpf_clone_redirect() to a device returns -ENETDOWN instead of waiting for a lock that
 * we hold, and the kernel's log blames the program.
 */
#define BFC_STAMP_NESTED	(XMIT_RECURSION_LIMIT + 1)

static int bfc_stamp_call(const struct bpf_prog *prog, struct sk_buff *skb)
{
	/* bpf_redirect() and others keep their state there. */
	struct bpf_net_context room, *ctx = bpf_net_ctx_set(&room);
	int act;

	bfc_xmit_nest(BFC_STAMP_NESTED);
	act = bpf_prog_run(prog, skb);
	bfc_xmit_nest(-BFC_STAMP_NESTED);
	bpf_net_ctx_clear(ctx);
	return act;
}

static void bfc_stamp_facts(struct Qdisc *sch, struct sk_buff *skb,
			    u16 tci, u8 prio, bool tag, __be16 tpid)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u32 *cb = (u32 *)qdisc_skb_cb(skb)->data;
	u32 facts = q->stamp.facts | (tci & VLAN_VID_MASK) | prio << BFC_STAMP_CLASS_SHIFT;
	u32 backlog = sch->qstats.backlog;
	u64 sent;

	BUILD_BUG_ON(sizeof(qdisc_skb_cb(skb)->data) <
		     (BFC_STAMP_CB_TIME + 1) * sizeof(*cb));
	BUILD_BUG_ON(BFC_PRIORITIES - 1 > BFC_STAMP_CLASS_MASK);
	if (tag)
		facts |= BFC_STAMP_F_TAG;
	if (likely(skb->ip_summed != CHECKSUM_PARTIAL))
		facts |= BFC_STAMP_F_SUM;
	if (unlikely(tpid == htons(ETH_P_8021Q)))
		facts |= BFC_STAMP_F_8100;
	if (q->txq.all)
		bfc_txqs_sum(q, &backlog, &sent);
	else
		sent = u64_stats_read(&sch->bstats.bytes);
	cb[BFC_STAMP_CB_PACKET] = facts;
	cb[BFC_STAMP_CB_BACKLOG] = backlog;
	cb[BFC_STAMP_CB_TX_LOW] = sent;
	cb[BFC_STAMP_CB_TX_HIGH] = sent >> 32;
	cb[BFC_STAMP_CB_TIME] = bfc_now(q);
}

/**
 * bfc_mac_len() - bytes before the network header, with all tags
 * @skb: at egress, data at the MAC header
 * @proto: result, the protocol behind them
 *
 * For a bridged frame that had two tags, the kernel's network header is the inner tag. As in the
 * kernel, no more than %VLAN_MAX_DEPTH tags are looked at.
 *
 * Return: bytes in the packet.
 */
unsigned int bfc_mac_len(const struct sk_buff *skb, __be16 *proto)
{
	unsigned int hlen = ETH_HLEN, tags = 0;

	*proto = skb->protocol;
	while (eth_type_vlan(*proto) && tags++ < VLAN_MAX_DEPTH) {
		const struct vlan_hdr *hdr;
		struct vlan_hdr room;

		hdr = skb_header_pointer(skb, hlen, sizeof(room), &room);
		if (!hdr)
			break;
		*proto = hdr->h_vlan_encapsulated_proto;
		hlen += VLAN_HLEN;
	}
	return hlen;
}

static u16 bfc_vid_at(const struct sk_buff *skb, unsigned int off)
{
	const __be16 *tci;
	__be16 room;

	tci = skb_header_pointer(skb, off, sizeof(room), &room);
	return tci ? ntohs(*tci) & VLAN_VID_MASK : 0;
}

/**
 * bfc_vids() - the VLANs that a packet is in
 * @skb: at egress, data at the MAC header
 * @len: bfc_mac_len()
 *
 * A tag counts the same in the metadata and in the packet.
 *
 * Return: 24 bits: the lower 12 are the id of the first tag, the upper 12 that of the last one if
 * there are more.
 */
u32 bfc_vids(const struct sk_buff *skb, unsigned int len)
{
	unsigned int off = ETH_HLEN;
	u32 vids = 0;

	if (skb_vlan_tag_present(skb)) {
		vids = skb_vlan_tag_get_id(skb);
	} else if (off < len) {
		vids = bfc_vid_at(skb, off);
		off += VLAN_HLEN;
	}
	if (off < len)
		vids |= (u32)bfc_vid_at(skb, len - VLAN_HLEN) << 12;
	return vids;
}

/* True if a packet fits the MTU, which does not include tags. A tag that was in the
 * metadata is in the packet now if there is another before it.
 */
static bool bfc_fits_mtu(const struct sk_buff *skb, const struct net_device *dev)
{
	__be16 proto;

	if (skb_is_gso(skb))
		return skb_gso_validate_network_len(skb, dev->mtu);
	return skb->len <= dev->mtu + bfc_mac_len(skb, &proto);
}

/* Bytes from the network header to the transport header, which stays where it is when room is
 * made between them. The difference of two such numbers is right even if there is no transport
 * header.
 */
static u16 bfc_network_len(const struct sk_buff *skb)
{
	return skb->transport_header - skb->network_header;
}

/* The program changed the packet's length: true if it still fits the link. @network_len: as
 * it was before. (Not inline: others should not pay for what it needs on the stack.)
 */
static noinline bool bfc_stamp_resized(struct Qdisc *sch, struct sk_buff *skb,
				       int more, u16 network_len)
{
	const u32 *cb = (const u32 *)qdisc_skb_cb(skb)->data;
	s64 len = (s64)more * bfc_pkt_segs(skb);
	struct bfc_sched *q = qdisc_priv(sch);

	/* By a size table pkt_len may be less than the length of the packet. */
	len += qdisc_skb_cb(skb)->pkt_len;
	qdisc_skb_cb(skb)->pkt_len = max_t(s64, len, 1);
	if (cb[BFC_STAMP_CB_PACKET] & BFC_STAMP_F_MOVED) {
		/* Not all of @more: a tag may have moved into the packet as well. */
		s16 moved = bfc_network_len(skb) - network_len;

		if (skb_transport_header_was_set(skb))
			skb->transport_header -= moved;
		if (skb->ip_summed == CHECKSUM_PARTIAL)
			skb->csum_start -= moved;
	}
	if (more > 0)
		q->stamp.grown++;
	else
		q->stamp.shrunk++;
	if (skb->len < ETH_HLEN ||
	    (more > 0 && !bfc_fits_mtu(skb, qdisc_dev(sch)))) {
		q->stamp.bad_len++;
		return false;
	}
	return true;
}

/* A verdict other than TC_ACT_OK: true if the packet may be sent. */
static bool bfc_stamp_verdict(struct bfc_stamp *s, int act)
{
	switch (act) {
	case TC_ACT_UNSPEC:
	case TC_ACT_RECLASSIFY:
	case TC_ACT_PIPE:
		return true;
	case TC_ACT_SHOT:
		s->drops++;
		return false;
	case TC_ACT_REDIRECT:
	case TC_ACT_STOLEN:
	case TC_ACT_QUEUED:
	case TC_ACT_TRAP:
		s->redirects++;
		return false;
	default:
		s->unknown++;
		return true;
	}
}

/* The program did not ask the qdisc for the tag: count whether it wrote one. */
static void bfc_stamp_check(struct bfc_sched *q, const struct sk_buff *skb,
			    u16 tci, __be16 tpid)
{
	if (tci == BFC_VID_NONE)
		return;
	if (skb_vlan_tag_present(skb) && skb->vlan_proto == tpid &&
	    skb_vlan_tag_get_id(skb) == (tci & VLAN_VID_MASK))
		q->stats.tagged_tx++;
	else
		q->stamp.untagged++;
}

/**
 * bfc_stamp_run() - bfc_stamp(), with a program
 * @sch: the qdisc
 * @skb: a packet that leaves
 * @tci: VLAN id that stands for its queue, and PCP that is its class; or BFC_VID_NONE
 * @prio: its priority, with a port-level mode
 *
 * Context: see there.
 * Return: see there.
 */
bool bfc_stamp_run(struct Qdisc *sch, struct sk_buff *skb, u16 tci, u8 prio)
{
	const u32 *cb = (const u32 *)qdisc_skb_cb(skb)->data;
	struct bfc_sched *q = qdisc_priv(sch);
	__be16 tpid = READ_ONCE(q->port->tpid);
	bool tag = READ_ONCE(q->port->tags) && bfc_tag_due(skb, tci, tpid);
	u16 txq = skb_get_queue_mapping(skb);
	u16 network_len = bfc_network_len(skb);
	unsigned int len = skb->len;
	int act;

	/* No program sees frames of the port itself. */
	if (unlikely(skb->protocol == htons(BFC_ETHERTYPE)))
		return !tag || bfc_stamp_native(q, skb, tci, tpid);
	bfc_stamp_facts(sch, skb, tci, prio, tag, tpid);
	bpf_compute_data_pointers(skb);
	q->stamp.runs++;
	act = bfc_stamp_call(q->stamp.prog, skb);
	/* Programs may write it, and the core does not check it after dequeue. */
	skb_set_queue_mapping(skb, txq);
	if (unlikely(act != TC_ACT_OK) && !bfc_stamp_verdict(&q->stamp, act))
		return false;
	if (unlikely(skb->len != len) &&
	    !bfc_stamp_resized(sch, skb, (int)skb->len - (int)len, network_len))
		return false;
	if (!tag)
		return true;
	if (likely(cb[BFC_STAMP_CB_PACKET] & BFC_STAMP_F_NATIVE))
		return bfc_stamp_native(q, skb, tci, tpid);
	bfc_stamp_check(q, skb, tci, tpid);
	return true;
}

/* ---- configuration ---- */

static struct bpf_prog *bfc_stamp_refuse(struct netlink_ext_ack *extack, int err)
{
	switch (err) {
	case -EOPNOTSUPP:
		NL_SET_ERR_MSG(extack, "bfc: stamp: this kernel has no eBPF (CONFIG_BPF_SYSCALL)");
		break;
	case -EBADF:
		NL_SET_ERR_MSG(extack, "bfc: stamp: no such program");
		break;
	case -EINVAL:
		NL_SET_ERR_MSG(extack, "bfc: stamp: not a program of type SCHED_CLS (section tc)");
		break;
	}
	return ERR_PTR(err);
}

/* The program of the qdisc that the device has so far, if that is of @sch's kind. */
static struct bpf_prog *bfc_stamp_before(const struct Qdisc *sch)
{
	struct Qdisc *root = rtnl_dereference(qdisc_dev(sch)->qdisc);
	struct bfc_sched *q;

	if (!root || root->ops != sch->ops)
		return NULL;
	q = qdisc_priv(root);
	return q->stamp.prog;
}

/**
 * bfc_stamp_inherit() - how a new qdisc stamps that was not told
 * @sch: the qdisc
 * @p: what was asked for; @p->stamp becomes one of BFC_STAMP_*
 *
 * A bfc that replaces another one goes on with its program: only a new qdisc can have
 * another number of queues, and INT of the port must not end with such a change.
 *
 * Context: RTNL, before bfc_stamp_get().
 * Return: true if it goes on with a program.
 */
bool bfc_stamp_inherit(struct Qdisc *sch, struct bfc_params *p)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bpf_prog *prog;

	if (p->stamp != BFC_STAMP_UNSET)
		return false;
	p->stamp = BFC_STAMP_NATIVE;
	/* INT must not tell what one TX queue has sent as that of the port. */
	if (q->life.no_port)
		return false;
	prog = bfc_stamp_before(sch);
	if (!prog || p->stamp_fd >= 0)
		return false;
	bpf_prog_inc(prog);
	q->stamp.prog = prog;
	p->stamp = BFC_STAMP_PINNED;
	return true;
}

/**
 * bfc_stamp_get() - the program that a configuration asks for
 * @sch: the qdisc
 * @p: what was asked for; without a new program the present one stays
 * @extack: what is wrong, in words
 *
 * Context: RTNL, in the process that has the file descriptor.
 * Return: a reference for bfc_stamp_set() or bfc_stamp_put(); NULL for none; or
 * an error pointer.
 */
struct bpf_prog *bfc_stamp_get(struct Qdisc *sch, const struct bfc_params *p,
			       struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bpf_prog *prog = q->stamp.prog;

	if (p->stamp == BFC_STAMP_NATIVE) {
		if (p->stamp_fd < 0)
			return NULL;
		NL_SET_ERR_MSG(extack, "bfc: stamp: a program is for pinned only");
		return ERR_PTR(-EINVAL);
	}
	if (p->stamp_fd >= 0) {
		prog = bpf_prog_get_type_dev(p->stamp_fd,
					     BPF_PROG_TYPE_SCHED_CLS, false);
		return IS_ERR(prog) ? bfc_stamp_refuse(extack, PTR_ERR(prog)) :
				      prog;
	}
	if (!prog) {
		NL_SET_ERR_MSG(extack, "bfc: stamp: pinned needs a program");
		return ERR_PTR(-EINVAL);
	}
	bpf_prog_inc(prog);
	return prog;
}

static void bfc_stamp_swap(struct Qdisc *sch, struct bpf_prog *prog)
{
	struct bfc_sched *q = qdisc_priv(sch);

	spin_lock_bh(qdisc_lock(sch));
	swap(prog, q->stamp.prog);
	spin_unlock_bh(qdisc_lock(sch));
	bfc_stamp_put(prog);
}

/**
 * bfc_stamp_set() - stamp with another program from now on
 * @sch: the qdisc; of a root the schedulers of its TX queues do as well
 * @prog: from bfc_stamp_get(); its reference is the qdisc's now
 *
 * Context: RTNL. Programs run under the root lock, so that the old program is not
 * running any more once the lock was taken.
 */
void bfc_stamp_set(struct Qdisc *sch, struct bpf_prog *prog)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_txqs *all = bfc_is_mq(sch) ? q->txq.all : NULL;
	unsigned int i;

	for (i = 0; all && i < all->n; i++) {
		if (prog)
			bpf_prog_inc(prog);
		bfc_stamp_swap(all->each[i].sch, prog);
	}
	bfc_stamp_swap(sch, prog);
}

/**
 * bfc_stamp_put() - a program is not used here any more
 * @prog: or NULL
 */
void bfc_stamp_put(struct bpf_prog *prog)
{
	if (prog)
		bpf_prog_put(prog);
}

/**
 * bfc_stamp_dump() - put id, tag and name of a program, as bpftool shows them
 * @msg: message
 * @prog: or NULL
 *
 * Return: 0 or -EMSGSIZE.
 */
int bfc_stamp_dump(struct sk_buff *msg, const struct bpf_prog *prog)
{
	if (!prog)
		return 0;
	if (nla_put_u32(msg, TCA_BFC_STAMP_ID, prog->aux->id) ||
	    nla_put(msg, TCA_BFC_STAMP_TAG, sizeof(prog->tag), prog->tag) ||
	    nla_put_string(msg, TCA_BFC_STAMP_NAME, prog->aux->name))
		return -EMSGSIZE;
	return 0;
}
