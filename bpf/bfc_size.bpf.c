// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_size - each segment says how many bytes its connection has yet to send,
 * for ports with `sched srf` (BFC App. A.2), as a sockops program
 *
 * The size is write_seq - seq: bytes that the application has written and that
 * were not sent before this segment, the segment included. Later writes are not
 * known: the first segments of a write leave before it has ended and report
 * less, the first of all reports only itself. The socket's send buffer is an
 * upper bound: a long flow that refills its buffer reports about the buffer's
 * size until the end of its last write.
 *
 * A retransmitted segment counts all that is behind it as well. A segment
 * without data has no option: ports take it for the smallest. All segments of a
 * GSO packet report what the first one has yet to send.
 *
 * There is no handshake: receivers skip the option. Peers outside the
 * configured prefixes never see it. If other options leave no room for it, a
 * segment goes without, and ports serve it after all others: beside INT and
 * timestamps there is room for two hops.
 */
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <linux/bfc_size.h>
#include "bfc_peer.h"
#include "tcp_types.h"
#include "tcp_word.h"

#define TCP_FLAG_SYN	0x02
#define TCP_FLAG_RST	0x04

/* A connection that sends sizes, for all programs. @cgroup: of the program that
 * tells them, &bfc_int_config.cgroup: that of the inner one of two comes first;
 * @room: the header that is built next has room for the option.
 */
struct size_sk {
	__u64 cgroup;
	__u32 room;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct size_sk);
} bfc_size_sk SEC(".maps");

/* That of a connection which this program tells sizes of, else NULL */
static __always_inline struct size_sk *storage(struct bpf_sock_ops *skops)
{
	const struct bfc_int_config *conf = config();
	struct bpf_sock *sk = skops->sk;
	struct size_sk *ss;

	ss = sk ? bpf_sk_storage_get(&bfc_size_sk, sk, NULL, 0) : NULL;
	return ss && conf && ss->cgroup == conf->cgroup ? ss : NULL;
}

static __always_inline void begin(struct bpf_sock_ops *skops)
{
	const struct bfc_int_config *conf = config();
	struct bpf_sock *sk = skops->sk;
	struct size_sk *ss;

	if (!conf || !sk || !peer_is_inside(skops) || has_option(skops, OPT_AO, 0))
		return;
	ss = bpf_sk_storage_get(&bfc_size_sk, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!ss || ss->cgroup)
		return;
	ss->cgroup = conf->cgroup;
	bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags |
				  BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BFC_SIZE_MARK);
}

/* A socket connects again: its new peer may be outside the prefixes. The calls
 * for headers go on, since INT may need them. Without sizes before, the flag is another program's.
 */
static __always_inline void forget(struct bpf_sock_ops *skops)
{
	if (!skops->sk || bpf_sk_storage_delete(&bfc_size_sk, skops->sk))
		return;
	bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags & ~BFC_SIZE_MARK);
}

/* @room keeps whether this program has reserved room: write() must not use that
 * of another program. The packet has no header yet here: skb_len is data only.
 */
static __always_inline void reserve(struct bpf_sock_ops *skops)
{
	struct size_sk *ss = storage(skops);

	if (!ss)
		return;
	ss->room = 0;
	/* The MSS must not change from packet to packet. */
	if (skops->args[0] != BPF_WRITE_HDR_TCP_CURRENT_MSS &&
	    (!skops->skb_len || skops->skb_tcp_flags & (TCP_FLAG_SYN | TCP_FLAG_RST)))
		return;
	ss->room = !bpf_reserve_hdr_opt(skops, BFC_SIZE_TCP_LEN, 0);
}

static __always_inline void write(struct bpf_sock_ops *skops)
{
	struct size_sk *ss = storage(skops);
	struct bpf_sock *sk = skops->sk;
	__u8 opt[BFC_SIZE_TCP_LEN];
	struct tcp_sock *tp;
	__u32 seq, left;

	if (!ss || !ss->room || !sk || !tcp_word(skops, offsetof(struct tcphdr, seq), &seq))
		return;
	ss->room = 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return;
	left = tp->write_seq - seq;
	switch (skops->state) {
	case BPF_TCP_FIN_WAIT1:
	case BPF_TCP_CLOSING:
	case BPF_TCP_LAST_ACK:
		left--;		/* a FIN takes a sequence number, too */
	}
	bfc_size_put_tcp(opt, bfc_size_code(left));
	bpf_store_hdr_opt(skops, opt, sizeof(opt), 0);
}

SEC("sockops")
int bfc_size(struct bpf_sock_ops *skops)
{
	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		forget(skops);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		begin(skops);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		reserve(skops);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		write(skops);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
