// SPDX-License-Identifier: GPL-2.0
/*
 * The ingress hook of a port: it takes control frames and tags out of the stream, and
 * notes in skb->tc_index where a packet came in.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netfilter.h>

#include "bfc.h"

#define BFC_FRAME_MAX	1500	/* more than any control frame */

/* Take the tag of upstreamQ off. A tag below it moves up into the metadata, where the
 * bridge and VLAN devices look for it.
 */
static bool bfc_pop(struct sk_buff *skb)
{
	int err;

	if (likely(!eth_type_vlan(skb->protocol))) {
		__vlan_hwaccel_clear_tag(skb);
		return true;
	}
	skb_push_rcsum(skb, skb->mac_len);
	err = skb_vlan_pop(skb);	/* the next one moves up */
	skb_pull_rcsum(skb, skb->mac_len);
	return !err && skb->protocol != htons(BFC_MAC_ETHERTYPE);
}

/* True for MAC control frames that the port reads: it pauses priorities, and there is no tag. */
static bool bfc_is_mac_frame(const struct bfc_port *port, struct sk_buff *skb)
{
	unsigned int len = min_t(unsigned int, skb->len, BFC_FRAME_MAX);

	return READ_ONCE(port->fc)->prios &&
	       !skb_vlan_tag_present(skb) && pskb_may_pull(skb, len);
}

static bool bfc_is_control_frame(struct sk_buff *skb)
{
	unsigned int len = min_t(unsigned int, skb->len, BFC_FRAME_MAX);

	return !skb_vlan_tag_present(skb) &&
	       is_link_local_ether_addr(eth_hdr(skb)->h_dest) &&
	       pskb_may_pull(skb, len) &&
	       bfc_is_ours(skb_mac_header(skb), len + ETH_HLEN);
}

/* Note the one class of a queue of the neighbour, so that an egress can ask for it. */
static void bfc_note_class(struct bfc_ingress *ing, unsigned int upq, u8 class)
{
	u8 *noted = &bfc_ingress_classes(ing)[upq];

	if (READ_ONCE(*noted) != class)
		WRITE_ONCE(*noted, class);
}

/**
 * bfc_hook() - a frame came in on a port; bridge and IP have not seen it yet
 * @priv: the port
 * @skb: the frame, network header behind the EtherType
 * @state: of netfilter
 *
 * Context: BH off, in softirq or in a thread (threaded or busy-polled NAPI), RCU, no root
 * lock held.
 * Return: NF_ACCEPT, NF_STOLEN for control frames, NF_DROP for want of memory and for MAC
 * control that the port does not read.
 */
unsigned int bfc_hook(void *priv, struct sk_buff *skb,
		      const struct nf_hook_state *state)
{
	struct bfc_port *port = priv;
	struct bfc_ingress *ing;
	u16 handle, vid;
	u8 class;

	bfc_kick_dirty();

	/* Sent to its own source: this is how a container's frame comes in here from ipvlan.
	 * It does not come from the neighbour.
	 */
	if (unlikely(ether_addr_equal(eth_hdr(skb)->h_dest,
				      eth_hdr(skb)->h_source))) {
		skb->tc_index = 0;
		return skb->protocol == htons(BFC_MAC_ETHERTYPE) ? NF_DROP : NF_ACCEPT;
	}

	if (unlikely(skb->protocol == htons(BFC_ETHERTYPE)) &&
	    bfc_is_control_frame(skb)) {
		bfc_rx_control(port, skb);
		consume_skb(skb);	/* it ends here, but this is no drop; likewise below */
		return NF_STOLEN;
	}

	/* A bridge forwards MAC control that is sent to a station's own address, and takes its tag
	 * off. NICs obey that, so it ends here.
	 */
	if (unlikely(skb->protocol == htons(BFC_MAC_ETHERTYPE))) {
		if (!bfc_is_mac_frame(port, skb))
			return NF_DROP;
		bfc_rx_mac(port, skb);
		consume_skb(skb);
		return NF_STOLEN;
	}

	/* Always written, as a value of another namespace survives veth. */
	ing = rcu_dereference(port->ingress);
	handle = ing ? ing->base : 0;
	if (READ_ONCE(port->pop) && skb_vlan_tag_present(skb) &&
	    skb->vlan_proto == READ_ONCE(port->tpid)) {
		vid = skb_vlan_tag_get_id(skb);
		class = skb_vlan_tag_get_prio(skb);
		if (unlikely(vid > READ_ONCE(port->pop_max))) {
			this_cpu_inc(port->pcpu->bad_tag);
		} else if (unlikely(!bfc_pop(skb))) {
			return NF_DROP;
		} else if (vid) {
			this_cpu_inc(port->pcpu->tagged);
			if (unlikely(vid == READ_ONCE(port->watched)))
				bfc_hrtt_came(port, vid);
			if (ing && likely(vid <= ing->queues)) {
				handle += vid;	/* base + 1 + upstreamQ */
				if (static_branch_unlikely(&bfc_classed.key))
					bfc_note_class(ing, vid - 1, class);
			}
		}
	}
	skb->tc_index = handle;
	return NF_ACCEPT;
}
