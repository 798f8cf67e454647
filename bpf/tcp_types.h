/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel types that congestion control in eBPF uses. libbpf finds fields by
 * name when it loads the program (CO-RE), so neither their order nor what lies
 * between matters, and no vmlinux.h is needed.
 */
#ifndef BFC_TCP_TYPES_H
#define BFC_TCP_TYPES_H

/* BPF_PROG() names the context, whether or not it has arguments that are used. */
#pragma clang diagnostic ignored "-Wunused-parameter"

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

struct sock_common {
	__u16 skc_dport;
	__u16 skc_num;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	__u32 sk_pacing_status;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 write_seq;
	__u32 mss_cache;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 srtt_us;
	__u32 delivered;
	__u32 max_packets_out;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
};

struct rate_sample;

#pragma clang attribute pop

#define TCP_CA_NAME_MAX	16
#define TCP_CONG_NON_RESTRICTED	0x1	/* for all users, in all network namespaces */

/* Of 6.1; a newer kernel's cong_control() has more arguments behind the first. */
struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
	__u32 flags;
	char name[TCP_CA_NAME_MAX];
};

/* enum tcp_ca_state and enum sk_pacing, which are not for user space */
#define TCP_CA_CWR		2
#define TCP_CA_RECOVERY		3
#define TCP_CA_LOSS		4
#define SK_PACING_NONE		0
#define SK_PACING_NEEDED	1
#define SK_PACING_FQ		2

extern __u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, __u32 w, __u32 acked) __ksym;

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* Packets; not beyond the clamp, that of a route for example ("cwnd lock"). */
static __always_inline void tcp_set_cwnd(struct tcp_sock *tp, __u32 packets)
{
	__u32 clamp = tp->snd_cwnd_clamp;

	tp->snd_cwnd = packets < clamp ? packets : clamp;
}

/* Bytes/s; not beyond SO_MAX_PACING_RATE, where ~0UL means no limit. */
static __always_inline void tcp_set_pace(struct sock *sk, unsigned long rate)
{
	unsigned long max = sk->sk_max_pacing_rate;

	sk->sk_pacing_rate = rate < max ? rate : max;
}

#endif /* BFC_TCP_TYPES_H */
