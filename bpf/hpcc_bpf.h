/* SPDX-License-Identifier: GPL-2.0 */
/* Maps and code of both front ends of HPCC (hpcc_sk.h), for eBPF. */
#ifndef BFC_HPCC_BPF_H
#define BFC_HPCC_BPF_H

#include <bpf/bpf_helpers.h>
#include "bfc_int_sk.h"
#include "hpcc_sk.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct hpcc_sk);
} bfc_hpcc_sk SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HPCC_NETS);
	__type(key, __u64);
	__type(value, struct hpcc_net);
} bfc_hpcc_net SEC(".maps");

/* Filled only if &hpcc_net.trace is set; then a program has to read it. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} bfc_hpcc_trace SEC(".maps");

/*
 * Which parameters a connection gets as it begins: those of the cgroup that owns its INT, if
 * HPCC is on there, else those of connections that ask for bfc_hpcc by name. @is may be NULL.
 */
static __always_inline __u64 hpcc_choose(const struct bfc_int_sk *is)
{
	const struct hpcc_net *net;
	__u64 key = is ? is->cgroup : 0;

	net = bpf_map_lookup_elem(&bfc_hpcc_net, &key);
	return net && !net->off ? key : 0;
}

/* The parameters of a connection, or, if there are none of its cgroup any more, the others. */
static __always_inline const struct hpcc_net *hpcc_net(const struct hpcc_sk *hs)
{
	const struct hpcc_net *net;
	__u64 key = hs->net;

	net = bpf_map_lookup_elem(&bfc_hpcc_net, &key);
	if (net || !key)
		return net;
	key = 0;
	return bpf_map_lookup_elem(&bfc_hpcc_net, &key);
}

static __always_inline void hpcc_trace(const struct hpcc_sk *hs,
				       const struct hpcc_ack *ack,
				       enum hpcc_result result, __u32 packet,
				       __u32 id)
{
	struct hpcc_trace *t;

	t = bpf_ringbuf_reserve(&bfc_hpcc_trace, sizeof(*t), 0);
	if (!t)
		return;
	t->ack = *ack;
	t->w = hs->s.w;
	t->wc = hs->s.wc;
	t->u = hs->s.u;
	t->rate = hs->rate;
	t->packets = hs->packets;
	t->packet = packet;
	t->result = result;
	t->id = id;
	bpf_ringbuf_submit(t, 0);
}

/*
 * Process the INT of an ACK, if it has some. @hs has the window afterwards.
 *
 * Return: 1 if there was new INT, even if it was of no use.
 */
static __always_inline int hpcc_sk_ack(struct hpcc_sk *hs,
				       const struct hpcc_net *net,
				       const struct bfc_int_sk *is, __u32 seq,
				       __u32 snd_nxt, __u32 mss, __u32 id)
{
	const struct bfc_int_sk_record *echo = &is->echo;
	struct hpcc_ack ack = {};
	enum hpcc_result result;
	__u32 i;

	if (echo->count == hs->count)
		return 0;
	hs->count = echo->count;
	ack.now = echo->time;
	ack.seq = seq;
	ack.snd_nxt = snd_nxt;
	bfc_int_head_set(&ack.head, echo->path);
	/* The option had no room for the last hops: one may be the bottleneck. */
	if (echo->hops < ack.head.nhop) {
		hs->blind++;
		return 1;
	}
	for (i = 0; i < BFC_INT_SK_HOPS; i++)
		bfc_int_tcp_get_hop((const __u8 *)&echo->hop[i], &ack.hop[i]);
	result = hpcc_sk_new_ack(hs, net, &ack, mss);
	if (net->trace)
		hpcc_trace(hs, &ack, result, mss + net->headers, id);
	return 1;
}

#endif /* BFC_HPCC_BPF_H */
