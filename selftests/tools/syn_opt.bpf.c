// SPDX-License-Identifier: GPL-2.0
/*
 * Another sockops program beside INT's: it reserves room in SYNs and SYN-ACKs and writes an
 * option of its own there.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#define TCP_FLAG_SYN	0x02

SEC("sockops")
int syn_opt(struct bpf_sock_ops *skops)
{
	__u8 opt[] = { 254, 4, 0x12, 0x34 };

	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags |
					  BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		if (skops->skb_tcp_flags & TCP_FLAG_SYN)
			bpf_reserve_hdr_opt(skops, sizeof(opt), 0);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		if (skops->skb_tcp_flags & TCP_FLAG_SYN)
			bpf_store_hdr_opt(skops, opt, sizeof(opt), 0);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
