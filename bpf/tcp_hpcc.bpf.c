// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_hpcc - HPCC (Li et al., SIGCOMM 2019) as TCP's congestion control
 *
 * cwnd = W / packet, rounded up, and pacing at R = W / T, which also enforces
 * windows below one packet. All arithmetic is in hpcc.h. INT comes from the map
 * "bfc_int_sk": the option of an ACK is parsed before cong_control() runs.
 *
 * HPCC does not react to loss: its network has none, and INT shows congestion
 * first. After a timeout it starts from one packet. If there is no INT, or not
 * of all hops, or none for half a wrap of its clock, the connection goes on as
 * with Reno, from its present window and without slow start (HPCC starts at
 * line rate), until INT arrives again.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "tcp_types.h"
#include "hpcc_bpf.h"

#define USEC_PER_SEC	1000000ULL

char _license[] SEC("license") = "GPL";

static __always_inline struct hpcc_sk *state(struct sock *sk)
{
	return bpf_sk_storage_get(&bfc_hpcc_sk, sk, NULL, 0);
}

static __always_inline __u32 id(const struct sock *sk)
{
	return (__u32)sk->__sk_common.skc_num << 16 |
	       bpf_ntohs(sk->__sk_common.skc_dport);
}

static __always_inline void apply(struct sock *sk, const struct hpcc_sk *hs,
				  const struct hpcc_net *net,
				  const struct bfc_int_sk *is)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_set_cwnd(tp, hs->packets);
	tp->snd_ssthresh = tp->snd_cwnd;
	/* fq counts whole packets, TCP's own pacing the payload */
	tcp_set_pace(sk, sk->sk_pacing_status == SK_PACING_FQ ? hs->rate :
		     hpcc_sk_pace(hs, net, tp->mss_cache,
				  is ? is->reserved : 0));
}

SEC("struct_ops/bfc_hpcc_init")
void BPF_PROG(bfc_hpcc_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct hpcc_net *net;
	struct bfc_int_sk *is;
	struct hpcc_sk *hs;
	__u64 key;

	hs = bpf_sk_storage_get(&bfc_hpcc_sk, sk, NULL,
				BPF_SK_STORAGE_GET_F_CREATE);
	if (!hs)
		return;
	is = bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0);
	key = hpcc_choose(is);
	hs->net = key;
	net = hpcc_net(hs);
	hs->packets = 0;
	hs->delivered = tp->delivered;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	if (!net)
		return;
	hpcc_sk_init(hs, net, tp->mss_cache);
	hs->net = key;
	if (is)
		hs->count = is->echo.count;
	hs->delivered = tp->delivered;
	hs->una = tp->snd_una;
	apply(sk, hs, net, is);
}

/* Without INT: do as Reno does with packets that were delivered. */
static __always_inline void reno(struct sock *sk, const struct hpcc_sk *hs,
				 __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 cwnd = tp->snd_cwnd, ssthresh = tp->snd_ssthresh, srtt;
	__u64 rate;

	switch (hs->ca_state) {
	case TCP_CA_CWR:
	case TCP_CA_RECOVERY:
		if (cwnd > ssthresh)
			tp->snd_cwnd = ssthresh;
		break;
	default:
		/* cwnd grows only if it limits the sender */
		if (!acked || cwnd >= 2 * tp->max_packets_out)
			break;
		if (cwnd < ssthresh)
			acked = tcp_slow_start(tp, acked);
		if (acked)
			tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
	}
	/* twice the present rate, as the kernel does */
	srtt = tp->srtt_us >> 3;
	rate = 2 * USEC_PER_SEC * tp->mss_cache * tp->snd_cwnd;
	tcp_set_pace(sk, srtt ? rate / srtt : ~0UL);
}

SEC("struct_ops/bfc_hpcc_cong_control")
void BPF_PROG(bfc_hpcc_cong_control, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hpcc_sk *hs = state(sk);
	const struct hpcc_net *net;
	struct bfc_int_sk *is;
	__u32 acked;

	if (!hs)
		return;
	acked = tp->delivered - hs->delivered;
	hs->delivered = tp->delivered;
	is = bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0);
	net = hpcc_net(hs);
	/* No parameters, or there were none when it began */
	if (!net || !hs->packets) {
		reno(sk, hs, acked);
		return;
	}
	hpcc_sk_acked(hs, net, tp->snd_una, tp->mss_cache);
	if (is)
		hpcc_sk_ack(hs, net, is, tp->snd_una, tp->snd_nxt,
			    tp->mss_cache, id(sk));
	if (hs->s.nhop && bpf_ktime_get_ns() - hs->s.stamp < HPCC_TS_HALF)
		apply(sk, hs, net, is);
	else
		reno(sk, hs, acked);
}

SEC("struct_ops/bfc_hpcc_ssthresh")
__u32 BPF_PROG(bfc_hpcc_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/bfc_hpcc_undo_cwnd")
__u32 BPF_PROG(bfc_hpcc_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops/bfc_hpcc_set_state")
void BPF_PROG(bfc_hpcc_set_state, struct sock *sk, __u8 new_state)
{
	const struct hpcc_net *net;
	struct hpcc_sk *hs = state(sk);

	if (!hs)
		return;
	hs->ca_state = new_state;
	if (new_state != TCP_CA_LOSS || !hs->packets)
		return;
	net = hpcc_net(hs);
	if (net)
		hpcc_sk_timeout(hs, net, tcp_sk(sk)->mss_cache);
}

SEC(".struct_ops")
struct tcp_congestion_ops bfc_hpcc = {
	.init		= (void *)bfc_hpcc_init,
	.ssthresh	= (void *)bfc_hpcc_ssthresh,
	.undo_cwnd	= (void *)bfc_hpcc_undo_cwnd,
	.set_state	= (void *)bfc_hpcc_set_state,
	.cong_control	= (void *)bfc_hpcc_cong_control,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "bfc_hpcc",
};
