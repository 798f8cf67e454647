// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_delay - the simple end-to-end congestion control for BFC (BFC App. A.1,
 * Alg. 1), as a congestion control of TCP. All arithmetic is in delay.h.
 *
 * cwnd = w, rounded down. No pacing, and slow start only after the kernel has
 * reset cwnd: to one packet after a timeout, to the initial window after an
 * idle time (if tcp_slow_start_after_idle is set). The RTT is TCP's own
 * measurement, in microseconds. Loss halves w, which the paper does not cover:
 * BFC keeps queues short, but promises no lossless network.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "tcp_types.h"
#include "delay.h"

#define NSEC_PER_USEC	1000ULL

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct delay);
} bfc_delay_sk SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct delay_conf);
} bfc_delay_conf SEC(".maps");

static __always_inline const struct delay_conf *config(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&bfc_delay_conf, &zero);
}

static __always_inline struct delay *state(struct sock *sk)
{
	return bpf_sk_storage_get(&bfc_delay_sk, sk, NULL, 0);
}

SEC("struct_ops/bfc_delay_init")
void BPF_PROG(bfc_delay_init, struct sock *sk)
{
	const struct delay_conf *conf = config();
	struct tcp_sock *tp = tcp_sk(sk);
	struct delay *s;

	s = bpf_sk_storage_get(&bfc_delay_sk, sk, NULL,
			       BPF_SK_STORAGE_GET_F_CREATE);
	if (!s || !conf)
		return;
	delay_init(s, conf);
	tcp_set_cwnd(tp, delay_packets(s));
	tp->snd_ssthresh = tp->snd_cwnd;
}

SEC("struct_ops/bfc_delay_pkts_acked")
void BPF_PROG(bfc_delay_pkts_acked, struct sock *sk,
	      const struct ack_sample *sample)
{
	const struct delay_conf *conf = config();
	struct delay *s = state(sk);

	if (!s || !conf || sample->rtt_us <= 0)
		return;
	delay_new_ack(s, conf, sample->rtt_us * NSEC_PER_USEC,
		      sample->pkts_acked);
}

/* Not called in recovery: the kernel reduces cwnd to ssthresh then. Otherwise
 * ssthresh equals cwnd, and cwnd is below it only after the kernel has reset
 * cwnd.
 */
SEC("struct_ops/bfc_delay_cong_avoid")
void BPF_PROG(bfc_delay_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct delay *s = state(sk);

	if (!s)
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		tcp_slow_start(tp, acked);
		if (tp->snd_cwnd < delay_packets(s))
			return;
	}
	tcp_set_cwnd(tp, delay_packets(s));
	tp->snd_ssthresh = tp->snd_cwnd;
}

SEC("struct_ops/bfc_delay_ssthresh")
__u32 BPF_PROG(bfc_delay_ssthresh, struct sock *sk)
{
	struct delay *s = state(sk);

	if (!s)
		return tcp_reno_ssthresh(sk);
	delay_loss(s);
	return delay_packets(s);
}

SEC("struct_ops/bfc_delay_undo_cwnd")
__u32 BPF_PROG(bfc_delay_undo_cwnd, struct sock *sk)
{
	struct delay *s = state(sk);

	if (!s)
		return tcp_reno_undo_cwnd(sk);
	delay_undo(s);
	return delay_packets(s);
}

SEC(".struct_ops")
struct tcp_congestion_ops bfc_delay = {
	.init		= (void *)bfc_delay_init,
	.ssthresh	= (void *)bfc_delay_ssthresh,
	.cong_avoid	= (void *)bfc_delay_cong_avoid,
	.undo_cwnd	= (void *)bfc_delay_undo_cwnd,
	.pkts_acked	= (void *)bfc_delay_pkts_acked,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "bfc_delay",
};
