/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC of a TCP socket, for eBPF programs and user space. There are two front
 * ends, which both process an ACK by hpcc_sk_ack():
 *
 *  - tcp_hpcc.bpf.c, congestion control "bfc_hpcc" (struct_ops);
 *  - hpcc_sockops.bpf.c, where the kernel has no struct_ops: the simulator.
 *
 * Both take INT from the map "bfc_int_sk", which bfc_int_tcp.bpf.c writes.
 */
#ifndef BFC_HPCC_SK_H
#define BFC_HPCC_SK_H

#include "hpcc.h"

#define HPCC_NETS	1024	/* entries of the map "bfc_hpcc_net" */

/**
 * struct hpcc_net - the value of the map "bfc_hpcc_net", by number of a cgroup; 0 is
 *		     for connections that ask for bfc_hpcc by name
 * @conf: parameters, which hpcc_conf_ok() has passed
 * @headers: bytes that a full packet has beside the MSS, with those of Ethernet:
 *	     windows and rates are in bytes on the wire
 * @trace: every ACK with INT goes to the ring buffer "bfc_hpcc_trace"
 * @off: HPCC is off for the cgroup: only old connections use these parameters
 * @reserved: 0
 */
struct hpcc_net {
	struct hpcc_conf conf;
	__u32 headers;
	__u32 trace;
	__u32 off;
	__u32 reserved;
};

/**
 * struct hpcc_sk - the value of the map "bfc_hpcc_sk" (BPF_MAP_TYPE_SK_STORAGE)
 * @s: Alg. 1's state
 * @net: its parameters: the key of &struct hpcc_net, chosen as it began
 * @rate: R, bytes/s on the wire
 * @packets: W, packets
 * @count: &bfc_int_sk_record.count of the last INT that was looked at
 * @turned: updates of W^c
 * @stayed: updates of W alone
 * @begun: times that records were dropped: path changes, silences
 * @blind: INT without the records of some hops
 * @delivered: packets delivered so far, for Reno
 * @ca_state: TCP_CA_*
 * @una: TCP's snd_una at the last ACK
 * @sockops: it is hpcc_sockops' state, not bfc_hpcc's
 */
struct hpcc_sk {
	struct hpcc s;
	__u64 net;
	__u64 rate;
	__u32 packets;
	__u32 count;
	__u32 turned;
	__u32 stayed;
	__u32 begun;
	__u32 blind;
	__u32 delivered;
	__u32 ca_state;
	__u32 sockops;
	__u32 una;
};

/**
 * struct hpcc_trace - an ACK and its result
 * @ack: as hpcc_new_ack() got it
 * @w: W afterwards
 * @wc: W^c
 * @u: U
 * @rate: R
 * @packets: W in packets
 * @packet: bytes of a full packet
 * @result: enum hpcc_result
 * @id: of the connection: local port << 16 | remote port
 */
struct hpcc_trace {
	struct hpcc_ack ack;
	__u64 w;
	__u64 wc;
	__u64 u;
	__u64 rate;
	__u32 packets;
	__u32 packet;
	__u32 result;
	__u32 id;
};

/**
 * hpcc_sk_init() - a connection starts
 * @hs: result; the caller sets &hpcc_sk.net
 * @net: parameters
 * @mss: bytes of payload of a full packet without INT: TCP's mss_cache
 */
static inline void hpcc_sk_init(struct hpcc_sk *hs, const struct hpcc_net *net,
				__u32 mss)
{
	__builtin_memset(hs, 0, sizeof(*hs));
	hpcc_init(&hs->s, &net->conf);
	hs->rate = hpcc_rate(&hs->s, &net->conf);
	hs->packets = hpcc_packets(&hs->s, mss + net->headers);
}

static inline void hpcc_sk_update(struct hpcc_sk *hs, const struct hpcc_net *net,
				  __u32 mss)
{
	hs->rate = hpcc_rate(&hs->s, &net->conf);
	hs->packets = hpcc_packets(&hs->s, mss + net->headers);
}

/**
 * hpcc_sk_timeout() - the retransmission timer has gone off
 * @hs: state, changed
 * @net: parameters
 * @mss: bytes of payload of a full packet without INT: TCP's mss_cache
 */
static inline void hpcc_sk_timeout(struct hpcc_sk *hs, const struct hpcc_net *net,
				   __u32 mss)
{
	hpcc_timeout(&hs->s, &net->conf, mss + net->headers);
	hpcc_sk_update(hs, net, mss);
}

/**
 * hpcc_sk_acked() - an ACK, with INT or without; before hpcc_sk_new_ack()
 * @hs: state, changed
 * @net: parameters
 * @una: TCP's snd_una
 * @mss: bytes of payload of a full packet without INT: TCP's mss_cache
 *
 * At most two packets of an ACK count (RFC 3465): one that closes a gap
 * acknowledges many.
 *
 * Return: whether the window has changed.
 */
static inline _Bool hpcc_sk_acked(struct hpcc_sk *hs, const struct hpcc_net *net,
				  __u32 una, __u32 mss)
{
	__u32 bytes = una - hs->una, most = 2 * (mss + net->headers);

	hs->una = una;
	if ((__s32)bytes <= 0)
		return 0;
	if (!hpcc_acked(&hs->s, &net->conf, bytes < most ? bytes : most))
		return 0;
	hpcc_sk_update(hs, net, mss);
	return 1;
}

/**
 * hpcc_sk_new_ack() - an ACK with INT
 * @hs: state, changed
 * @net: parameters
 * @ack: the ACK
 * @mss: bytes of payload of a full packet without INT: TCP's mss_cache
 *
 * Return: what hpcc_new_ack() returns.
 */
static inline enum hpcc_result hpcc_sk_new_ack(struct hpcc_sk *hs,
					       const struct hpcc_net *net,
					       const struct hpcc_ack *ack,
					       __u32 mss)
{
	enum hpcc_result result = hpcc_new_ack(&hs->s, &net->conf, ack);

	switch (result) {
	case HPCC_VOID:
		break;
	case HPCC_BEGUN:
		hs->begun++;
		break;
	case HPCC_STAYED:
		hs->stayed++;
		break;
	case HPCC_TURNED:
		hs->turned++;
		break;
	}
	hpcc_sk_update(hs, net, mss);
	return result;
}

/**
 * hpcc_sk_pace() - R in bytes of payload, which TCP's own pacing counts
 * @hs: state
 * @net: parameters
 * @mss: bytes of payload of a full packet without INT
 * @options: bytes that INT takes of these, &bfc_int_sk.reserved
 *
 * Return: bytes/s, 1 at least.
 */
static inline __u64 hpcc_sk_pace(const struct hpcc_sk *hs,
				 const struct hpcc_net *net, __u32 mss,
				 __u32 options)
{
	__u64 packet = (__u64)mss + net->headers, pace;
	__u64 payload = options < mss ? mss - options : mss;

	/* R < 2^38 bytes/s for all windows and T in use; mss < 2^16 */
	pace = packet && hs->rate >> 44 == 0 ? hs->rate * payload / packet :
	       hs->rate;
	return pace ? pace : 1;
}

#endif /* BFC_HPCC_SK_H */
