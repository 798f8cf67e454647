// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_int_tcp - INT in TCP options: the hosts' side, as a sockops program
 *
 * A sender leaves room in its segments, which the hops fill in place. The
 * receiver echoes on its ACKs what arrived, and the sender keeps the echo in
 * the socket's storage:
 *
 *	sender				hops		receiver
 *	SYN	RECORD(0)	------------------->	has the program, too?
 *		RECORD(0)	<-------------------	SYN-ACK
 *	ACK	ECHO(0)		------------------->	agreed
 *	data	RECORD(3)	-- 1 -- 2 -- 3 ---->	storage.seen
 *	storage.echo		<-------------------	ACK ECHO(3)
 *
 * Numbers in brackets are records that fit. If the peer's SYN-ACK has no
 * option, the program leaves the socket alone from then on. It also leaves
 * connections alone that begin with a SYN cookie, since the SYN is not kept
 * then. A listener must have been opened after the program was attached.
 *
 * Peers outside the configured prefixes never see the option. Middleboxes may
 * drop packets that have it. So a SYN is retransmitted without it, and if the
 * peer answers only that one, connections to the peer begin without it for a
 * while. A SYN-ACK is retransmitted with it once.
 *
 * The kernel places its own options, such as SACK, first, and asks programs for
 * theirs afterwards: an option that no longer fits is left out. The MSS always
 * accounts for a record of this side or an echo of the peer's, whichever is
 * longer, even if only one in N segments has one: it must not change from
 * packet to packet. A segment with data goes without an option that the MSS has
 * left no room for: it would be longer than the MTU.
 *
 * A socket runs the programs of its cgroup, then those of the cgroups around
 * it. The first program that agrees on INT owns the connection; the others
 * leave it alone.
 *
 * All callbacks but those for SYN-ACKs run with the socket locked. So does
 * congestion control, which runs after the ACK's options are parsed.
 */
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/bfc_int.h>
#include "bfc_int_sk.h"
#include "bfc_peer.h"
#include "tcp_word.h"

#define SOL_TCP		6

#define TCP_FLAG_SYN	0x02
#define TCP_FLAG_RST	0x04
#define TCP_FLAG_ACK	0x10

#define OPT_END		0
#define OPT_NOP		1
#define OPT_TIMESTAMP	8

#define TCP_HEADER_MAX	60

/* Options looked at in a packet, NOPs included; Linux sends at most 8 */
#define OPTIONS_MAX	16

/* Two records this far apart (half the range of their time) cannot be ordered. */
#define ORDER_NS	8000000ULL

/* A peer that has answered only a SYN without the option is sent none for this
 * time. The time doubles with each repetition, up to SILENCE_DOUBLED times: one
 * loss costs little, and a middlebox that drops the option delays one
 * connection in 85 minutes, by a second.
 */
#define SILENCE_NS	10000000000ULL
#define SILENCE_DOUBLED	9

/* TCP's first timeout is a second. */
#define SYNACK_AGAIN_NS	500000000ULL
#define SYNACKS		2

/* A peer that did not answer a SYN with the option. The same address may be another peer's in
 * another network namespace, or, if it is a link's own, behind another device.
 */
struct silent {
	struct address peer;
	__u32 dev;
	__u32 reserved;
	__u64 netns;
};

struct silence {
	__u64 until;
	__u64 times;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct silent);
	__type(value, struct silence);
} bfc_int_silent SEC(".maps");

/* State of a handshake: a request socket has no storage. @last: when the last
 * SYN-ACK that counted was built, ns; @sent: number of these; @room: this
 * program has reserved room in the packet that is being built.
 */
struct handshake {
	__u64 last;
	__u32 sent;
	__u32 room;
};

/* The key is the cookie of the request socket, or of the socket that connects.
 * Cookies are unique, and a socket has the cookie of its request, except with
 * TCP Fast Open: then the entry stays until the LRU evicts it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct handshake);
} bfc_int_shakes SEC(".maps");

_Static_assert(BFC_INT_SK_HOPS == BFC_INT_TCP_HOPS_MAX, "records of an option");

/* An option with the largest number of records. SYNs and the ACK of the
 * handshake have one without records, struct bfc_int_tcp_opt.
 */
struct option {
	struct bfc_int_tcp_opt head;
	__u8 hop[BFC_INT_SK_HOPS][BFC_INT_HOP_LEN];
};

_Static_assert(sizeof(struct option) == BFC_INT_TCP_LEN(BFC_INT_TCP_HOPS_MAX),
	       "as in the packet");

#define EXID_BYTES(exid)	{ (exid) >> 8, (exid) & 0xff }

/* INT state of a connection that this program owns, else NULL */
static __always_inline struct bfc_int_sk *storage(struct bpf_sock_ops *skops)
{
	const struct bfc_int_config *conf = config();
	struct bpf_sock *sk = skops->sk;
	struct bfc_int_sk *is;

	is = sk ? bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0) : NULL;
	return is && conf && is->cgroup == conf->cgroup ? is : NULL;
}

static __always_inline void set_flags(struct bpf_sock_ops *skops, int on, int off)
{
	bpf_sock_ops_cb_flags_set(skops,
				  (skops->bpf_sock_ops_cb_flags & ~off) | on);
}

/* --- peers that it is for ------------------------------------------------- */

static __always_inline void silent_of(struct bpf_sock_ops *skops, struct silent *who)
{
	struct bpf_sock *sk = skops->sk;

	peer_of(skops, &who->peer);
	who->dev = sk ? sk->bound_dev_if : 0;
	who->reserved = 0;
	who->netns = bpf_get_netns_cookie(skops);
}

static __always_inline int is_silent(const struct silent *who)
{
	const struct silence *s = bpf_map_lookup_elem(&bfc_int_silent, who);

	return s && bpf_ktime_get_ns() < s->until;
}

/* Remember whether the peer answers SYNs with the option: @agreed if its
 * SYN-ACK has it. For a silent peer the SYN had none, so the answer says
 * nothing.
 */
static __always_inline void learn(struct bpf_sock_ops *skops, int agreed)
{
	struct silence *s, new = {};
	struct silent who;

	silent_of(skops, &who);
	if (is_silent(&who))
		return;
	s = bpf_map_lookup_elem(&bfc_int_silent, &who);
	if (agreed || !skops->total_retrans) {
		if (s)
			bpf_map_delete_elem(&bfc_int_silent, &who);
		return;
	}
	if (s)
		new.times = s->times < SILENCE_DOUBLED ? s->times + 1 :
							 SILENCE_DOUBLED;
	new.until = bpf_ktime_get_ns() + (SILENCE_NS << (new.times & 0xf));
	bpf_map_update_elem(&bfc_int_silent, &who, &new, BPF_ANY);
}

/* --- handshakes ----------------------------------------------------------- */

static __always_inline struct handshake *handshake(struct bpf_sock_ops *skops)
{
	__u64 cookie = bpf_get_socket_cookie(skops);

	return bpf_map_lookup_elem(&bfc_int_shakes, &cookie);
}

static __always_inline struct handshake *new_handshake(struct bpf_sock_ops *skops)
{
	__u64 cookie = bpf_get_socket_cookie(skops);
	struct handshake new = {};

	bpf_map_update_elem(&bfc_int_shakes, &cookie, &new, BPF_NOEXIST);
	return bpf_map_lookup_elem(&bfc_int_shakes, &cookie);
}

/* The connection is established. */
static __always_inline void end_handshake(struct bpf_sock_ops *skops)
{
	__u64 cookie = bpf_get_socket_cookie(skops);

	bpf_map_delete_elem(&bfc_int_shakes, &cookie);
}

/* Returns 1 if the SYN-ACK must be sent without the option, since SYNACKS with
 * it were not answered.
 */
static __always_inline int synack_again(struct handshake *h)
{
	__u64 now = bpf_ktime_get_ns();

	/* Only the first SYN-ACK and those after a timeout count. */
	if (!h->sent || now - h->last > SYNACK_AGAIN_NS) {
		h->last = now;
		h->sent++;
	}
	return h->sent > SYNACKS;
}

/* --- received options ----------------------------------------------------- */

/* Returns 1 if the packet with @is left the first hop before the packet with
 * @was. Both have the same path and arrived within ORDER_NS.
 */
static __always_inline int is_older(const void *is, const void *was)
{
	struct bfc_int_hop a, b;

	bfc_int_get_hop(is, &a);
	bfc_int_get_hop(was, &b);
	return bfc_int_ts_delta(a.ts, b.ts) > BFC_INT_TS_MASK / 2;
}

/* Offset of the INT option in the TCP header, bytes; 0 if there is none. A
 * packet has at most one. bpf_load_hdr_opt() would search the header once for
 * each kind and ExID.
 */
static __always_inline __u32 find(struct bpf_sock_ops *skops)
{
	const __u8 *data = skops->skb_data, *end = skops->skb_data_end;
	const struct bfc_int_tcp_opt *opt;
	__u32 at = sizeof(struct tcphdr);
	int i;

	for (i = 0; i < OPTIONS_MAX; i++) {
		if (at > TCP_HEADER_MAX)
			break;
		opt = (const void *)(data + at);
		if ((const __u8 *)(opt + 1) > end || opt->kind == OPT_END)
			break;
		if (opt->kind == OPT_NOP) {
			at++;
			continue;
		}
		if (opt->len < 2)
			break;
		if ((opt->kind == BFC_INT_TCP_RECORD || opt->kind == BFC_INT_TCP_ECHO) &&
		    bfc_int_tcp_exid_ok(opt->exid[0] << 8 | opt->exid[1]))
			return at;
		at += opt->len;
	}
	return 0;
}

/* Keep the record or echo of a packet, unless a newer packet has overtaken this
 * one. A record that no hop wrote to is kept only if it is the first: hops may
 * choose one segment in N, but the first one says that records can arrive.
 */
static __always_inline void take(struct bpf_sock_ops *skops,
				 struct bfc_int_sk *is, __u32 at)
{
	const __u8 *data = skops->skb_data, *end = skops->skb_data_end;
	const struct bfc_int_tcp_opt *seen;
	struct option opt = {};
	__u32 slots, hops, i;
	__u64 now = bpf_ktime_get_ns();
	struct bfc_int_sk_record *rec;
	struct bfc_int_head head = {};
	__u16 path;

	if (at > TCP_HEADER_MAX)
		return;
	seen = (const void *)(data + at);
	if ((const __u8 *)(seen + 1) > end)
		return;
	opt.head = *seen;
	opt.head.len = BFC_INT_TCP_LEN(0);
	if (bpf_load_hdr_opt(skops, &opt, sizeof(opt), 0) < 0)
		return;
	slots = bfc_int_tcp_hops(opt.head.len);
	if (!slots && opt.head.len != BFC_INT_TCP_LEN(0))
		return;

	rec = opt.head.kind == BFC_INT_TCP_RECORD ? &is->seen : &is->echo;
	for (i = 0; i < BFC_INT_SK_HOPS; i++) {
		if (i >= slots || !bfc_int_tcp_used(opt.hop[i]))
			break;
		bfc_int_tcp_pass(&head, opt.hop[i]);
	}
	hops = head.nhop;
	head.nhop += opt.head.exid[1] == (BFC_INT_TCP_EXID_MORE & 0xff);
	path = bfc_int_head_bits(&head);
	if (rec->count && !head.nhop)
		return;
	if (rec->count && hops && rec->path == path && rec->hops == hops &&
	    now - rec->time < ORDER_NS &&
	    is_older(opt.hop[0], &rec->hop[0])) {
		rec->stale++;
		return;
	}
	if (head.nhop > hops)
		rec->overflows++;
	for (i = 0; i < BFC_INT_SK_HOPS; i++) {
		if (i < hops)
			__builtin_memcpy(&rec->hop[i], opt.hop[i],
					 BFC_INT_HOP_LEN);
		else
			rec->hop[i] = 0;
	}
	rec->time = now;
	rec->path = path;
	rec->hops = hops;
	rec->slots = slots;
	rec->count++;
}

/* --- sent options --------------------------------------------------------- */

static __always_inline int syn_agrees(struct bpf_sock_ops *skops, __u64 flags)
{
	struct bfc_int_tcp_opt opt = {
		.kind = BFC_INT_TCP_RECORD,
		.len = sizeof(opt),
		.exid = EXID_BYTES(BFC_INT_TCP_EXID),
	};

	return bpf_load_hdr_opt(skops, &opt, sizeof(opt), flags) == sizeof(opt);
}

/* Reserve room in a SYN, or in a SYN-ACK if the SYN had the option. */
static __always_inline void reserve_syn(struct bpf_sock_ops *skops, __u32 flags)
{
	struct handshake *h = handshake(skops);
	struct silent who;

	if (h)
		h->room = 0;
	if (!peer_is_inside(skops))
		return;
	if (flags & TCP_FLAG_ACK) {
		if (skops->args[0] == BPF_WRITE_HDR_TCP_SYNACK_COOKIE ||
		    has_option(skops, OPT_AO, BPF_LOAD_HDR_OPT_TCP_SYN) ||
		    !syn_agrees(skops, BPF_LOAD_HDR_OPT_TCP_SYN))
			return;
	} else {
		if (skops->total_retrans)
			return;
		silent_of(skops, &who);
		if (is_silent(&who))
			return;
	}
	if (!h)
		h = new_handshake(skops);
	if (!h || (flags & TCP_FLAG_ACK && synack_again(h)))
		return;
	h->room = !bpf_reserve_hdr_opt(skops, sizeof(struct bfc_int_tcp_opt), 0);
}

static __always_inline __u32 segments(const struct bpf_sock_ops *skops)
{
	__u32 mss = skops->mss_cache, len = skops->skb_len;

	return mss && len > mss ? (len + mss - 1) / mss : 1;
}

/* "every N": returns 1 if the @segs segments of this packet get room for a
 * record. GSO copies the option to all segments of a packet, so a packet gets
 * it after N - 1 times as many segments have gone without.
 */
static __always_inline int record_due(const struct bfc_int_sk *is, __u32 segs)
{
	const struct bfc_int_config *conf = config();
	__u64 every = conf && conf->every ? conf->every : 1;

	return !is->sent || is->credit >= (every - 1) * segs;
}

/* Reserve the longest option that a segment with data may carry. Echoes count
 * once the peer has sent records.
 */
static __always_inline void reserve_mss(struct bpf_sock_ops *skops,
					struct bfc_int_sk *is)
{
	__u32 slots = is->slots, len;

	is->reserved = 0;
	if (slots < is->seen.slots)
		slots = is->seen.slots;
	if (!slots)
		return;
	len = BFC_INT_TCP_LEN(slots);
	/* The peer's records may be longer than what other options leave room for. */
	if (bpf_reserve_hdr_opt(skops, len, 0)) {
		len = BFC_INT_TCP_LEN(is->slots);
		if (slots == is->slots || bpf_reserve_hdr_opt(skops, len, 0))
			return;
	}
	is->reserved = len;
}

static __always_inline void reserve(struct bpf_sock_ops *skops)
{
	struct bfc_int_sk *is = storage(skops);
	__u32 flags = skops->skb_tcp_flags;
	__u32 len, segs, next;
	int record, echo;

	if (!is)
		return;
	if (skops->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS) {
		reserve_mss(skops, is);
		return;
	}
	is->next = BFC_INT_SK_NOTHING;
	if (flags & TCP_FLAG_RST)
		return;

	segs = skops->skb_len ? segments(skops) : 0;
	record = segs && is->slots && record_due(is, segs);
	if (is->seen.count)
		echo = is->seen.count != is->echoed;
	else
		echo = !segs;	/* says that this side takes part */
	is->credit += segs;
	if (record && echo)
		next = is->last == BFC_INT_SK_RECORD ? BFC_INT_SK_ECHO :
						       BFC_INT_SK_RECORD;
	else if (record)
		next = BFC_INT_SK_RECORD;
	else if (echo)
		next = BFC_INT_SK_ECHO;
	else
		return;
	is->last = next;

	len = BFC_INT_TCP_LEN(next == BFC_INT_SK_ECHO ? is->seen.hops :
						       is->slots);
	if ((segs && len > is->reserved) || bpf_reserve_hdr_opt(skops, len, 0))
		is->no_room++;
	else
		is->next = next;
}

/* Only if this program has reserved room: the header's room may be another
 * program's.
 */
static __always_inline void write_syn(struct bpf_sock_ops *skops)
{
	struct handshake *h = handshake(skops);
	struct bfc_int_tcp_opt opt = {
		.kind = BFC_INT_TCP_RECORD,
		.len = sizeof(opt),
		.exid = EXID_BYTES(BFC_INT_TCP_EXID),
	};

	if (!h || !h->room)
		return;
	h->room = 0;
	bpf_store_hdr_opt(skops, &opt, sizeof(opt), 0);
}

static __always_inline void write(struct bpf_sock_ops *skops)
{
	struct option opt = {};
	struct bfc_int_sk *is = storage(skops);
	__u32 exid = BFC_INT_TCP_EXID;
	int i;

	if (!is)
		return;
	switch (is->next) {
	case BFC_INT_SK_RECORD:
		opt.head.kind = BFC_INT_TCP_RECORD;
		opt.head.len = BFC_INT_TCP_LEN(is->slots);
		opt.head.exid[0] = exid >> 8;
		opt.head.exid[1] = exid;
		if (!bpf_store_hdr_opt(skops, &opt, sizeof(opt), 0)) {
			is->credit = 0;
			is->sent++;
		}
		break;
	case BFC_INT_SK_ECHO:
		opt.head.kind = BFC_INT_TCP_ECHO;
		opt.head.len = BFC_INT_TCP_LEN(is->seen.hops);
		if (is->seen.path >> 12 > is->seen.hops)
			exid = BFC_INT_TCP_EXID_MORE;
		opt.head.exid[0] = exid >> 8;
		opt.head.exid[1] = exid;
		for (i = 0; i < BFC_INT_SK_HOPS; i++)
			__builtin_memcpy(opt.hop[i], &is->seen.hop[i],
					 BFC_INT_HOP_LEN);
		if (!bpf_store_hdr_opt(skops, &opt, sizeof(opt), 0)) {
			is->echoed = is->seen.count;
			is->acked++;
		}
		break;
	}
	is->next = BFC_INT_SK_NOTHING;
}

/* --- connections ---------------------------------------------------------- */

/* End the calls for headers, unless another cgroup's program owns the
 * connection, or bfc_size.bpf.c needs the calls.
 */
static __always_inline void leave(struct bpf_sock_ops *skops)
{
	struct bpf_sock *sk = skops->sk;

	if (skops->bpf_sock_ops_cb_flags & BFC_SIZE_MARK)
		return;
	if (!sk || !bpf_sk_storage_get(&bfc_int_sk, sk, NULL, 0))
		set_flags(skops, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

static __always_inline void agree(struct bpf_sock_ops *skops)
{
	const struct bfc_int_config *conf = config();
	struct bpf_sock *sk = skops->sk;
	struct bfc_int_sk *is;
	char cc[sizeof(conf->cc)];

	is = sk ? bpf_sk_storage_get(&bfc_int_sk, sk, NULL,
				     BPF_SK_STORAGE_GET_F_CREATE) : NULL;
	if (!is) {
		set_flags(skops, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		return;
	}
	if (!conf || is->cgroup)
		return;		/* owned by the program of a cgroup inside this one */
	is->cgroup = conf->cgroup;
	is->slots = BFC_INT_TCP_HOPS_MAX - has_option(skops, OPT_TIMESTAMP, 0);
	set_flags(skops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG |
		  BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG, 0);
	if (conf->hops && conf->hops < is->slots)
		is->slots = conf->hops;
	if (conf->cc[0]) {
		__builtin_memcpy(cc, conf->cc, sizeof(cc));
		bpf_setsockopt(skops, SOL_TCP, TCP_CONGESTION, cc, sizeof(cc));
	}
}

/* True if the segment acknowledges what TCP waits for. TCP looks at that afterwards only
 * (RFC 5961): a third host that has found the sequence number would be believed otherwise. A late
 * segment with an older ACK tells what is older, too.
 */
static __always_inline int acks_now(const struct bpf_sock_ops *skops)
{
	__u32 ack;

	return tcp_word(skops, offsetof(struct tcphdr, ack_seq), &ack) &&
	       (__s32)(ack - skops->snd_una) >= 0 && (__s32)(skops->snd_nxt - ack) >= 0;
}

/* A packet that may have an INT option. The ACK that ends the handshake must
 * have one, or the connection is left alone.
 */
static __always_inline void receive(struct bpf_sock_ops *skops)
{
	__u32 at = find(skops);
	struct bfc_int_sk *is;

	if (skops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB) {
		if (!at || !peer_is_inside(skops) || has_option(skops, OPT_AO, 0)) {
			leave(skops);
			return;
		}
		agree(skops);
	} else if (!acks_now(skops)) {
		return;
	}
	is = storage(skops);
	if (is && at)
		take(skops, is, at);
}

/* The SYN-ACK has come. */
static __always_inline void connected(struct bpf_sock_ops *skops)
{
	int agreed = syn_agrees(skops, 0);

	if (!peer_is_inside(skops)) {
		leave(skops);
		return;
	}
	learn(skops, agreed);
	if (agreed && !has_option(skops, OPT_AO, 0))
		agree(skops);
	else
		leave(skops);
}

/* syn_agrees() reads the SYN for retransmitted SYN-ACKs, too. An application that has set the
 * option may want more of the SYN: 2 is with the link header.
 */
static __always_inline void save_syns(struct bpf_sock_ops *skops)
{
	int save = 0;

	if (!bpf_getsockopt(skops, SOL_TCP, TCP_SAVE_SYN, &save, sizeof(save)) && save)
		return;
	save = 1;
	bpf_setsockopt(skops, SOL_TCP, TCP_SAVE_SYN, &save, sizeof(save));
}

SEC("sockops")
int bfc_int_tcp(struct bpf_sock_ops *skops)
{
	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		save_syns(skops);
		set_flags(skops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		/* Drop the state of a connection that the socket had before. */
		if (skops->sk)
			bpf_sk_storage_delete(&bfc_int_sk, skops->sk);
		if (peer_is_inside(skops))
			set_flags(skops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		if (skops->skb_tcp_flags & TCP_FLAG_SYN)
			reserve_syn(skops, skops->skb_tcp_flags);
		else
			reserve(skops);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		if (skops->skb_tcp_flags & TCP_FLAG_SYN)
			write_syn(skops);
		else
			write(skops);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		end_handshake(skops);
		connected(skops);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		end_handshake(skops);
		receive(skops);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		receive(skops);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
