// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC's arithmetic as eBPF, for BPF_PROG_TEST_RUN, which can start neither
 * struct_ops nor sockops: the packet is a struct hpcc_ack, the state is in a map.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include "hpcc_sk.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hpcc_net);
} net SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct hpcc_sk);
} state SEC(".maps");

/* skb->mark says whose ACK it is, skb->priority is the MSS: 0 to begin. */
SEC("tc")
int replay(struct __sk_buff *skb)
{
	__u32 zero = 0, flow = skb->mark, mss = skb->priority;
	struct hpcc_net *n = bpf_map_lookup_elem(&net, &zero);
	struct hpcc_sk *hs = bpf_map_lookup_elem(&state, &flow);
	struct hpcc_ack ack;

	if (!n || !hs || bpf_skb_load_bytes(skb, 0, &ack, sizeof(ack)))
		return -1;
	if (!hs->packets)
		hpcc_sk_init(hs, n, mss);
	return hpcc_sk_new_ack(hs, n, &ack, mss);
}

char _license[] SEC("license") = "GPL";
