/* SPDX-License-Identifier: GPL-2.0 */
/* Change the length in an IP header, for eBPF programs that move the bytes behind it. */
#ifndef BFC_IP_LEN_H
#define BFC_IP_LEN_H

#include <linux/bpf.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/*
 * Add @more to the length in the IP header at @l3 of @version 4 or 6, and
 * update its checksum.
 *
 * Return: 0, or negative; the packet may be changed half-way then.
 */
static __always_inline int ip_len_add(struct __sk_buff *skb, __u32 l3,
				      __u32 version, __s32 more)
{
	__u32 at = l3 + (version == 4 ? offsetof(struct iphdr, tot_len) :
					offsetof(struct ipv6hdr, payload_len));
	__be16 old, new;

	if (bpf_skb_load_bytes(skb, at, &old, sizeof(old)))
		return -1;
	new = bpf_htons(bpf_ntohs(old) + more);
	if (version == 4 &&
	    bpf_l3_csum_replace(skb, l3 + offsetof(struct iphdr, check), old,
				new, sizeof(new)))
		return -1;
	return bpf_skb_store_bytes(skb, at, &new, sizeof(new), 0);
}

#endif /* BFC_IP_LEN_H */
