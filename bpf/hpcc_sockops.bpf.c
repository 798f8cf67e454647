// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC for kernels without struct_ops: the simulator's. The same arithmetic as
 * bfc_hpcc, run when the option of an ACK is parsed, just before TCP looks at
 * the ACK itself. It passes its results through socket options to congestion
 * control "bfc_window" (lab/simcc):
 *
 *	TCP_BPF_SNDCWND_CLAMP	W in packets
 *	SO_MAX_PACING_RATE	R, in HPCC_PACE_UNIT: the option has 32 bits
 *
 * Attach it after bfc_int_tcp, which fills the storage it reads, to the same cgroup.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "hpcc_bpf.h"
#include "hpcc_pace.h"
#include "tcp_word.h"

#define SOL_SOCKET		1
#define SOL_TCP			6
#define SO_MAX_PACING_RATE	47
#define TCP_CONGESTION		13

char _license[] SEC("license") = "GPL";

static __always_inline void apply(struct bpf_sock_ops *skops,
				  const struct hpcc_sk *hs,
				  const struct hpcc_net *net, __u32 options)
{
	__u64 pace = hpcc_sk_pace(hs, net, skops->mss_cache, options) /
		     HPCC_PACE_UNIT;
	int packets = hs->packets;
	__u32 rate;

	/* ~0 would mean no limit */
	rate = pace < ~0U ? pace : ~0U - 1;
	if (!rate)
		rate = 1;
	bpf_setsockopt(skops, SOL_TCP, TCP_BPF_SNDCWND_CLAMP, &packets,
		       sizeof(packets));
	bpf_setsockopt(skops, SOL_SOCKET, SO_MAX_PACING_RATE, &rate,
		       sizeof(rate));
}

static __always_inline void begin(struct bpf_sock_ops *skops)
{
	struct bpf_sock *sk = skops->sk;
	char cc[] = "bfc_window";
	const struct hpcc_net *net;
	struct bfc_int_sk *is;
	struct hpcc_sk *hs;
	int packets;
	__u64 key;

	is = sk ? bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0) : NULL;
	if (!is)
		return;		/* the handshake did not agree on INT */
	key = hpcc_choose(is);
	net = bpf_map_lookup_elem(&bfc_hpcc_net, &key);
	if (!net || !net->headers)
		return;
	if (bpf_setsockopt(skops, SOL_TCP, TCP_CONGESTION, cc, sizeof(cc)))
		return;
	sk = skops->sk;
	hs = sk ? bpf_sk_storage_get(&bfc_hpcc_sk, sk, NULL,
				     BPF_SK_STORAGE_GET_F_CREATE) : NULL;
	if (!hs)
		return;
	hpcc_sk_init(hs, net, skops->mss_cache);
	hs->net = key;
	hs->count = is->echo.count;
	hs->sockops = 1;
	hs->una = skops->snd_una;
	bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags |
					 BPF_SOCK_OPS_RTO_CB_FLAG);
	packets = hs->packets;
	bpf_setsockopt(skops, SOL_TCP, TCP_BPF_IW, &packets, sizeof(packets));
	apply(skops, hs, net, is->reserved);
}

static __always_inline void parse(struct bpf_sock_ops *skops)
{
	struct bpf_sock *sk = skops->sk;
	const struct hpcc_net *net;
	struct bfc_int_sk *is;
	struct hpcc_sk *hs;
	__u32 seq, id;
	int changed;

	if (!sk || !tcp_word(skops, offsetof(struct tcphdr, ack_seq), &seq))
		return;
	/* snd_una as it will be: TCP has not looked at the ACK yet */
	if ((__s32)(seq - skops->snd_una) < 0 || (__s32)(skops->snd_nxt - seq) < 0)
		seq = skops->snd_una;
	is = bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0);
	if (!is)
		return;
	sk = skops->sk;
	hs = sk ? bpf_sk_storage_get(&bfc_hpcc_sk, sk, NULL, 0) : NULL;
	if (!hs || !hs->sockops)
		return;
	net = hpcc_net(hs);
	if (!net)
		return;
	id = skops->local_port << 16 | bpf_ntohl(skops->remote_port);
	changed = hpcc_sk_acked(hs, net, seq, skops->mss_cache);
	if (hpcc_sk_ack(hs, net, is, seq, skops->snd_nxt, skops->mss_cache,
			id) || changed)
		apply(skops, hs, net, is->reserved);
}

static __always_inline void timeout(struct bpf_sock_ops *skops)
{
	struct bpf_sock *sk = skops->sk;
	const struct hpcc_net *net;
	struct bfc_int_sk *is;
	struct hpcc_sk *hs;

	is = sk ? bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0) : NULL;
	sk = skops->sk;
	hs = sk ? bpf_sk_storage_get(&bfc_hpcc_sk, sk, NULL, 0) : NULL;
	if (!is || !hs || !hs->sockops)
		return;
	net = hpcc_net(hs);
	if (!net)
		return;
	hpcc_sk_timeout(hs, net, skops->mss_cache);
	apply(skops, hs, net, is->reserved);
}

SEC("sockops")
int hpcc_sockops(struct bpf_sock_ops *skops)
{
	switch (skops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		begin(skops);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		parse(skops);
		break;
	case BPF_SOCK_OPS_RTO_CB:
		timeout(skops);
		break;
	}
	return 1;
}
