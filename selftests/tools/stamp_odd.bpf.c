// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that `stamp pinned` must survive. They do it to IPv4 packets whose TOS
 * is not 0 (others, ARP among them, pass), but for facts: that one notes what cb[]
 * had of the newest packet.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <linux/bfc_int.h>

struct odd_facts {
	__u32 cb[5];
	__u32 len;
	__u64 packets;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct odd_facts);
} odd_facts_map SEC(".maps");

static __always_inline int is_meant(struct __sk_buff *skb)
{
	__u8 tos = 0;

	bpf_skb_load_bytes(skb, ETH_HLEN + 1, &tos, 1);
	return skb->protocol == bpf_htons(ETH_P_IP) && tos;
}

static __always_inline int tag(struct __sk_buff *skb)
{
	__u32 facts = skb->cb[BFC_STAMP_CB_PACKET];

	if (facts & BFC_STAMP_F_TAG)
		bpf_skb_vlan_push(skb, facts & BFC_STAMP_F_8100 ?
				  bpf_htons(ETH_P_8021Q) :
				  bpf_htons(ETH_P_8021AD),
				  facts & BFC_STAMP_VID_MASK);
	return TC_ACT_OK;
}

SEC("tc")
int odd_drop(struct __sk_buff *skb)
{
	return is_meant(skb) ? TC_ACT_SHOT : tag(skb);
}

SEC("tc")
int odd_redirect(struct __sk_buff *skb)
{
	return is_meant(skb) ? bpf_redirect(skb->ifindex, 0) : tag(skb);
}

/* Counted if it failed: 42 is no verdict. */
SEC("tc")
int odd_clone(struct __sk_buff *skb)
{
	tag(skb);
	return is_meant(skb) &&
	       bpf_clone_redirect(skb, skb->ifindex, 0) == -ENETDOWN ?
	       42 : TC_ACT_OK;
}

SEC("tc")
int odd_stolen(struct __sk_buff *skb)
{
	return is_meant(skb) ? TC_ACT_STOLEN : tag(skb);
}

SEC("tc")
int odd_verdict(struct __sk_buff *skb)
{
	tag(skb);
	return is_meant(skb) ? 42 : TC_ACT_OK;
}

SEC("tc")
int odd_queue(struct __sk_buff *skb)
{
	tag(skb);
	if (is_meant(skb))
		skb->queue_mapping = 60000;
	return is_meant(skb) ? 42 : TC_ACT_OK;	/* so that it is counted */
}

SEC("tc")
int odd_silent(struct __sk_buff *skb)
{
	return is_meant(skb) ? TC_ACT_UNSPEC : tag(skb);
}

SEC("tc")
int odd_grow(struct __sk_buff *skb)
{
	if (is_meant(skb))
		bpf_skb_change_tail(skb, skb->len + 10, 0);
	return tag(skb);
}

SEC("tc")
int odd_grow_long(struct __sk_buff *skb)
{
	if (is_meant(skb))
		bpf_skb_change_tail(skb, 1515, 0);
	return tag(skb);
}

SEC("tc")
int odd_shrink(struct __sk_buff *skb)
{
	if (is_meant(skb))
		bpf_skb_change_tail(skb, skb->len - 10, 0);
	return tag(skb);
}

SEC("tc")
int odd_facts(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct odd_facts *f = bpf_map_lookup_elem(&odd_facts_map, &zero);

	if (f && is_meant(skb)) {
		f->cb[0] = skb->cb[0];
		f->cb[1] = skb->cb[1];
		f->cb[2] = skb->cb[2];
		f->cb[3] = skb->cb[3];
		f->cb[4] = skb->cb[4];
		f->len = skb->len;
		f->packets++;
	}
	return tag(skb);
}

SEC("xdp")
int odd_xdp(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
