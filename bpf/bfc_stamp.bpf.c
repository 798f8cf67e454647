// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_stamp - writes upstreamQ and INT into packets as they leave a port
 *
 * The qdisc runs it on each packet at dequeue (`stamp pinned`), with its
 * arguments in cb[]: <linux/bfc_int.h>.
 *
 *  - upstreamQ: asks the qdisc for the tag that `stamp native` writes.
 *  - INT in TCP: fills the next record of the sender's option in place. Headers
 *    stay where they are, so that GSO packets are no special case: segmentation
 *    copies the header to each segment.
 *  - INT in UDP (RoCEv2): the packet grows by a record. RoCEv2 has no UDP
 *    checksum: a packet that has one is of another program, which got INT's
 *    port as an ephemeral port.
 *
 * The program uses only types of the UAPI, none of the kernel: there is nothing
 * to relocate, so it loads with and without BTF, on any kernel from 5.13 on.
 *
 *  - At an edge (mode strip) it removes INT instead: options in TCP become
 *    NOPs, and records in UDP zeroes, so that no hop's state leaves the
 *    network; also in what ICMP errors quote.
 *
 * Not touched: fragments; IPv6 with extension headers; more than two VLAN tags
 * in the packet; packets inside another header (PPPoE, MPLS, tunnels). But a
 * router behind the hops may fragment an IPv4 packet that they have written
 * into: an edge looks at fragments, too.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <linux/bfc_int.h>
#include "bfc_stamp.h"
#include "ip_len.h"
#include "packet.h"

#define PULL		128	/* bytes: all headers of most packets */

/* Lengths of headers without options, 32 bits for the verifier's sake */
#define TCP_HLEN	((__u32)sizeof(struct tcphdr))
#define UDP_HLEN	((__u32)sizeof(struct udphdr))

/* Where the bit-field doff is: in the byte behind ack_seq */
#define TCP_DOFF	(offsetof(struct tcphdr, ack_seq) + sizeof(__be32))

#define TCP_HLEN_MAX	60
#define TCP_OPTIONS	16	/* options looked at, NOPs included; Linux sends 8 at most */
#define TCP_OPT_END	0
#define TCP_OPT_NOP	1
#define TCP_TS		0x0101080a	/* two NOPs, kind and length of timestamps */
#define TCP_TS_LEN	12

/* The only variable in .data, so it is all of the map "bfc_stam.data": the
 * program reads it without a lookup, and user space may change it while the
 * program runs.
 */
struct bfc_stamp_config bfc_stamp_config SEC(".data");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, __BFC_STAMP_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} bfc_stamp_count SEC(".maps");

/* The last id, with its port's key in the high half. The next packet can use it
 * if each port has its own instance of the program, as bfcctl loads it.
 */
static __u64 last_id;

static __always_inline __u32 id_here(const struct __sk_buff *skb)
{
	__u32 key = bfc_int_port_key(bfc_stamp_config.node, skb->ifindex), id;
	__u64 last = *(volatile __u64 *)&last_id;

	if (last >> 32 == key && (__u32)last)
		return last;
	id = bfc_int_key_id(key);
	*(volatile __u64 *)&last_id = (__u64)key << 32 | id;
	return id;
}

static void count(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&bfc_stamp_count, &what);

	if (n)
		__sync_fetch_and_add(n, 1);	/* with PREEMPT_RT tasks of a CPU share it */
}

static __always_inline __u32 get16(const __u8 *p)
{
	return (__u32)p[0] << 8 | p[1];
}

/* Fold the Internet checksum's sum of 16-bit or 32-bit words in network byte
 * order, less than 2^36, to 16 bits.
 */
static __always_inline __u32 fold36(__u64 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static __always_inline void hop_here(const struct __sk_buff *skb,
				     struct bfc_int_hop *hop)
{
	bfc_int_hop_set(hop, skb->cb[BFC_STAMP_CB_TIME],
			skb->cb[BFC_STAMP_CB_TX_LOW],
			skb->cb[BFC_STAMP_CB_BACKLOG],
			skb->cb[BFC_STAMP_CB_PACKET] >> BFC_STAMP_SPEED_SHIFT &
			BFC_STAMP_SPEED_MASK);
}

/* ---- TCP ---- */

/* Offset of the option from the TCP header, bytes; 0 if there is none. */
static __always_inline __u32 find_record(const __u8 *tcp, const __u8 *data_end,
					 __u32 hlen)
{
	__u32 at = TCP_HLEN, nop, len;
	const struct bfc_int_tcp_opt *opt;
	const __u8 *p;
	int i;

	/* As Linux sends it: behind timestamps */
	p = tcp + TCP_HLEN;
	if (p + TCP_TS_LEN > data_end)
		return 0;
	if (*(const __u32 *)p == bpf_htonl(TCP_TS))
		at += TCP_TS_LEN;
	for (i = 0; i < TCP_OPTIONS; i++) {
		if (at + BFC_INT_TCP_LEN(1) > hlen)
			return 0;
		p = tcp + at;
		/* Read only through @opt: with a read through @p, too, the
		 * compiler keeps another copy of the byte, and the verifier has
		 * six times as much to check.
		 */
		opt = (const struct bfc_int_tcp_opt *)p;
		if (p + offsetof(struct bfc_int_tcp_opt, exid) > data_end ||
		    opt->kind == TCP_OPT_END)
			return 0;
		if (opt->kind == BFC_INT_TCP_RECORD && p + sizeof(*opt) <= data_end &&
		    bfc_int_tcp_exid_ok(get16(opt->exid)))
			return at;
		/* Without a branch, which would double the verifier's work with
		 * each iteration.
		 */
		nop = ((opt->kind ^ TCP_OPT_NOP) - 1U) >> 31;
		asm volatile("" : "+r"(nop));
		len = (opt->len & (nop - 1)) + nop;
		if (len + nop < 2)
			return 0;
		at += len;
	}
	return 0;
}

/* Returns 1 if this hop stamps the segment: one in @every, chosen by its
 * sequence number so that all hops choose the same. If an earlier hop has
 * stamped it, this one does so, too.
 */
static __always_inline int is_chosen(const struct tcphdr *tcp, __u32 nhop)
{
	__u32 every = bfc_stamp_config.every, seq;

	if (nhop || every <= 1)
		return 1;
	seq = bpf_ntohl(tcp->seq);
	return ((__u64)(seq * 0x9e3779b1U) * every) >> 32 == 0;
}

/* ExID and record of this hop, as they lie in the packet. */
struct tcp_int {
	__u32 hop[2];
	__u16 exid;
};

static __always_inline __u64 tcp_int_sum(const struct tcp_int *t)
{
	return (__u64)t->hop[0] + t->hop[1] + t->exid;
}

/* Fill this hop's record if there is @room for it; else set the ExID that says
 * that there was none.
 *
 * Return: the change of the sum of the packet's words.
 */
static __always_inline __u64 pass_tcp(const struct __sk_buff *skb,
				      struct tcp_int *t, int room)
{
	/* a multiple of 0xffff, which counts as 0, and more than any old sum */
	__u64 sum = 0xffffffffULL * 4 - tcp_int_sum(t);
	struct bfc_int_hop hop;
	__u64 bits;

	if (room) {
		hop_here(skb, &hop);
		bits = bfc_int_tcp_hop_bits(&hop, id_here(skb));
		t->hop[0] = bpf_htonl(bits >> 32);
		t->hop[1] = bpf_htonl(bits);
	} else {
		t->exid = bpf_htons(BFC_INT_TCP_EXID_MORE);
	}
	return sum + tcp_int_sum(t);
}

/* For options that are not aligned, and packets with an incomplete checksum.
 *
 * @exid, @hop: where they are, from the MAC header
 */
static __always_inline int stamp_tcp_anywhere(struct __sk_buff *skb,
					      __u32 l4, __u32 exid, __u32 hop,
					      int room)
{
	struct tcp_int t;
	__u32 diff;

	if (bpf_skb_load_bytes(skb, exid, &t.exid, sizeof(t.exid)) ||
	    bpf_skb_load_bytes(skb, hop, t.hop, sizeof(t.hop)))
		return TC_ACT_OK;
	diff = fold36(pass_tcp(skb, &t, room));
	/* Words at an odd offset count with their bytes swapped. */
	if ((exid - l4) & 1)
		diff = (diff & 0xff) << 8 | diff >> 8;
	/* bpf_l4_csum_replace() knows if the checksum is left to the device. */
	if (bpf_skb_store_bytes(skb, exid, &t.exid, sizeof(t.exid), 0) ||
	    bpf_skb_store_bytes(skb, hop, t.hop, sizeof(t.hop), 0) ||
	    bpf_l4_csum_replace(skb, l4 + offsetof(struct tcphdr, check), 0, diff, 0)) {
		count(BFC_STAMP_FAILED);
		return TC_ACT_SHOT;
	}
	return TC_ACT_OK;
}

/* Number of records that hops have filled; more than BFC_INT_TCP_HOPS_MAX if
 * the records cannot be read.
 *
 * @seen: all of the option is known to be there
 */
static __always_inline __u32 filled(const struct bfc_int_tcp_opt *opt,
				    const __u8 *data_end, int seen)
{
	const __u8 *p = (const __u8 *)opt;
	__u32 n;

	for (n = 0; n < BFC_INT_TCP_HOPS_MAX; n++) {
		if (BFC_INT_TCP_LEN(n + 1) > opt->len)
			break;
		if (!seen && p + BFC_INT_TCP_LEN(n + 1) > data_end)
			return BFC_INT_TCP_HOPS_MAX + 1;
		if (!bfc_int_tcp_used(p + BFC_INT_TCP_LEN(n)))
			break;
	}
	return n;
}

/* Stamp the option @at bytes into the TCP header.
 *
 * @seen: all of it is known to be there
 */
static __always_inline int stamp_record(struct __sk_buff *skb, struct tcphdr *tcp,
					__u32 l4, __u32 at, int seen)
{
	const __u8 *data_end = (const __u8 *)(long)skb->data_end;
	__u8 *base = (__u8 *)tcp;
	struct bfc_int_tcp_opt *opt = (void *)(base + at);
	struct tcp_int t;
	__u32 *hop, nhop;
	int room;

	if (!seen && (const __u8 *)(opt + 1) > data_end)
		return TC_ACT_OK;
	if (!bfc_int_tcp_len_ok(opt->len) || at + opt->len > tcp->doff * 4U)
		return TC_ACT_OK;
	nhop = filled(opt, data_end, seen);
	if (nhop > BFC_INT_TCP_HOPS_MAX || !is_chosen(tcp, nhop))
		return TC_ACT_OK;
	room = BFC_INT_TCP_LEN(nhop + 1) <= opt->len;
	if (!room) {
		count(BFC_STAMP_NO_ROOM);
		nhop = 0;	/* stays as it is */
	}
	if (at & 3 || !(skb->cb[BFC_STAMP_CB_PACKET] & BFC_STAMP_F_SUM))
		return stamp_tcp_anywhere(skb, l4, l4 + at +
					  offsetof(struct bfc_int_tcp_opt, exid),
					  l4 + at + BFC_INT_TCP_LEN(nhop), room);

	/* Aligned, as nearly all options are. The mask tells the verifier the
	 * bounds; the asm keeps a compiler that knows that the mask has no
	 * effect (clang 19) from dropping it.
	 */
	if (!seen)
		asm volatile("" : "+r"(at));
	opt = (void *)(base + (at & ~3U & 0x3f));
	hop = (void *)((__u8 *)opt + BFC_INT_TCP_LEN(nhop));
	if (!seen && (const __u8 *)(opt + 1) > data_end)
		return TC_ACT_OK;
	if ((const __u8 *)hop + BFC_INT_HOP_LEN > data_end)
		return TC_ACT_OK;
	t.exid = word16(opt->exid);
	t.hop[0] = hop[0];
	t.hop[1] = hop[1];
	tcp->check = ~fold36(pass_tcp(skb, &t, room) + (__u16)~tcp->check);
	*(__u16 *)opt->exid = t.exid;
	hop[0] = t.hop[0];
	hop[1] = t.hop[1];
	return TC_ACT_OK;
}

static __always_inline int stamp_tcp(struct __sk_buff *skb, __u32 l4)
{
	const __u8 *data_end = (const __u8 *)(long)skb->data_end;
	struct tcphdr *tcp = (void *)(long)skb->data + l4;
	__u32 hlen, at;

	if ((const __u8 *)(tcp + 1) > data_end || tcp->syn)
		return TC_ACT_OK;
	hlen = tcp->doff * 4;
	if (hlen < TCP_HLEN + BFC_INT_TCP_LEN(1))
		return TC_ACT_OK;
	at = find_record((const __u8 *)tcp, data_end, hlen);
	if (!at || at > TCP_HLEN_MAX)
		return TC_ACT_OK;
	return stamp_record(skb, tcp, l4, at, 0);
}

/* Fast path: returns 1 if the packet has the headers that nearly all packets
 * with INT have: no VLAN tag in the packet, no IP options, timestamps and then
 * the record. Offsets are constants, so the verifier needs no check of each.
 * The first PULL bytes are readable.
 */
static __always_inline int usual_tcp(const struct tcphdr *tcp)
{
	const __u8 *options = (const __u8 *)(tcp + 1);
	const struct bfc_int_tcp_opt *opt = (const void *)(options + TCP_TS_LEN);

	return *(const __u32 *)options == bpf_htonl(TCP_TS) &&
	       opt->kind == BFC_INT_TCP_RECORD &&
	       bfc_int_tcp_exid_ok(get16(opt->exid)) && !tcp->syn;
}

static __always_inline int usual_ip4(const __u8 *data)
{
	const struct iphdr *ip = (const void *)(data + ETH_HLEN);

	return ethertype(data) == bpf_htons(ETH_P_IP) &&
	       *(const __u8 *)ip == 0x45 &&	/* version and length */
	       !(ip->frag_off & bpf_htons(IP4_FRAG_MASK)) &&
	       ip->protocol == IPPROTO_TCP && usual_tcp((const void *)(ip + 1));
}

static __always_inline int usual_ip6(const __u8 *data)
{
	const struct ipv6hdr *ip = (const void *)(data + ETH_HLEN);

	return ethertype(data) == bpf_htons(ETH_P_IPV6) && ip->version == 6 &&
	       ip->nexthdr == IPPROTO_TCP && usual_tcp((const void *)(ip + 1));
}

static __always_inline int stamp_usual(struct __sk_buff *skb, __u8 *data, __u32 l4)
{
	return stamp_record(skb, (void *)(data + l4), l4, TCP_HLEN + TCP_TS_LEN, 1);
}

/* ---- UDP ---- */

/* A UDP header and the INT behind it. */
struct udp_int {
	struct udphdr udp;
	__u8 rec[BFC_INT_LEN(7)];	/* the most that udp_len() returns */
};

/* Length of the UDP header and INT. The verifier of 6.1 forgets the bounds of
 * values that are spilled to the stack: the mask sets them anew.
 */
static __always_inline __u32 udp_len(__u32 nhop)
{
	asm volatile("" : "+r"(nhop));
	return UDP_HLEN + BFC_INT_LEN(nhop & 7);
}

/* Change only the head: all records are in use. */
static __always_inline int pass_udp(struct __sk_buff *skb, __u32 l4,
				    const __u8 *head)
{
	count(BFC_STAMP_NO_ROOM);
	if (bpf_skb_store_bytes(skb, l4 + UDP_HLEN, head, BFC_INT_HEAD_LEN, 0)) {
		count(BFC_STAMP_FAILED);
		return TC_ACT_SHOT;
	}
	return TC_ACT_OK;
}

static __always_inline int stamp_udp(struct __sk_buff *skb,
				     const struct packet *pkt)
{
	__u32 l4 = pkt->l4, nhop, len, need, mtu = 0;
	struct bfc_int_head head;
	struct bfc_int_hop hop;
	const struct udphdr *udp = (void *)(long)skb->data + l4;
	struct udp_int u;
	__u8 now[BFC_INT_HEAD_LEN], rec[BFC_INT_HOP_LEN];

	if ((const __u8 *)(udp + 1) + BFC_INT_HEAD_LEN >
	    (const __u8 *)(long)skb->data_end ||
	    udp->dest !=
	    bpf_htons(bfc_stamp_config.udp_port ?: BFC_INT_UDP_PORT))
		return TC_ACT_OK;
	__builtin_memset(&u, 0, sizeof(u));
	if (bpf_skb_load_bytes(skb, l4, &u, UDP_HLEN + BFC_INT_HEAD_LEN))
		return TC_ACT_OK;
	if (u.udp.check)
		return TC_ACT_OK;
	bfc_int_get_head(u.rec, &head);
	nhop = head.nhop;
	len = bpf_ntohs(u.udp.len);
	/* Shorter than its head says: it is not INT, and an edge finds no records in it. */
	need = UDP_HLEN + BFC_INT_LEN(nhop < BFC_INT_HOPS_MAX ? nhop : BFC_INT_HOPS_MAX);
	if (len < need || l4 + need > skb->len)
		return TC_ACT_OK;
	bfc_int_pass(&head, id_here(skb));
	bfc_int_put_head(now, &head);
	if (nhop >= BFC_INT_HOPS_MAX)
		return pass_udp(skb, l4, now);
	if (skb->gso_segs > 1 ||
	    pkt->l4 - pkt->l3 != (pkt->version == 4 ? IP4_HLEN : IP6_HLEN) ||
	    skb->protocol != (pkt->version == 4 ? bpf_htons(ETH_P_IP) :
						  bpf_htons(ETH_P_IPV6))) {
		count(BFC_STAMP_NOT_PLAIN);
		return TC_ACT_OK;
	}
	if (bpf_check_mtu(skb, 0, &mtu, BFC_INT_HOP_LEN, 0)) {
		count(BFC_STAMP_TOO_LONG);
		return TC_ACT_OK;
	}
	if (bpf_skb_load_bytes(skb, l4, &u, udp_len(nhop)))
		return TC_ACT_OK;

	/* Room behind the IP header; the UDP header moves to the front of it. */
	if (bpf_skb_adjust_room(skb, BFC_INT_HOP_LEN, BPF_ADJ_ROOM_NET,
				BPF_F_ADJ_ROOM_NO_CSUM_RESET)) {
		count(BFC_STAMP_FAILED);
		return TC_ACT_OK;
	}
	hop_here(skb, &hop);
	bfc_int_put_hop(rec, &hop);
	u.udp.len = bpf_htons(len + BFC_INT_HOP_LEN);
	u.rec[0] = now[0];
	u.rec[1] = now[1];
	if (bpf_skb_store_bytes(skb, l4, &u, udp_len(nhop), 0) ||
	    bpf_skb_store_bytes(skb, l4 + udp_len(nhop), rec, sizeof(rec), 0) ||
	    ip_len_add(skb, pkt->l3, pkt->version, BFC_INT_HOP_LEN)) {
		count(BFC_STAMP_FAILED);
		return TC_ACT_SHOT;
	}
	skb->cb[BFC_STAMP_CB_PACKET] |= BFC_STAMP_F_MOVED;
	return TC_ACT_OK;
}

/* ---- an edge ---- */

/* Drop a packet that may have INT in it that cannot be taken out. */
static __always_inline int strip_failed(void)
{
	count(BFC_STAMP_FAILED);
	return TC_ACT_SHOT;
}

/* All options that a TCP header can have. */
#define OPTS		(TCP_HLEN_MAX - TCP_HLEN)
#define OPTS_ROOM	64	/* a power of two: masks tell the verifier the bounds */

struct options {
	__u8 old[OPTS_ROOM];
	__u8 now[OPTS_ROOM];
};

/* 1 if a < b, both below 2^31. Without a branch: each would double the
 * verifier's work.
 */
static __always_inline __u32 below(__u32 a, __u32 b)
{
	__u32 r = (a - b) >> 31;

	asm volatile("" : "+r"(r));
	return r;
}

static __always_inline __u32 same(__u32 a, __u32 b)
{
	return below(a ^ b, 1);
}

/* Returns @n, 1 to OPTS_ROOM, so that the verifier of 6.1 knows that it is not 0. */
static __always_inline __u32 bytes(__u32 n)
{
	n--;
	asm volatile("" : "+r"(n));
	return (n & (OPTS_ROOM - 1)) + 1;
}

/* 1 if the option at @p is INT, a record or an echo, else 0 */
static __always_inline __u32 is_int(const __u8 *p)
{
	const struct bfc_int_tcp_opt *opt = (const void *)p;
	__u32 exid = get16(opt->exid);

	return below((opt->kind - BFC_INT_TCP_RECORD) & 0xff, 2) &
	       below((exid - BFC_INT_TCP_EXID) & 0xffff, 2);
}

/* Replace all INT in @n bytes of options by NOPs.
 *
 * Return: number of options that were INT.
 */
static __always_inline __u32 blank(struct options *o, __u32 n)
{
	__u32 at, next = 0, until = 0, found = 0, kind, len, nop, yes, m;

	/* @next: where an option begins; never again behind the last one */
	for (at = 0; at < OPTS; at++) {
		kind = o->old[at];
		nop = same(kind, TCP_OPT_NOP);
		len = (o->old[at + 1] & (nop - 1)) + nop;
		m = 0 - same(at, next);
		/* An option that does not end in the header is none; hops skip
		 * it, too.
		 */
		yes = is_int(o->old + at) & below(BFC_INT_TCP_LEN(0) - 1, len) &
		      below(at + len, n + 1) & m;
		until = (until & (yes - 1)) | ((at + len) & (0 - yes));
		found += yes;
		len |= 0x100 & (0 - (same(kind, TCP_OPT_END) | below(len + nop, 2)));
		next += len & m;
		m = 0 - below(at, until);
		o->now[at] = (o->old[at] & ~m) | (TCP_OPT_NOP & m);
	}
	return found;
}

/* In a quote the change of TCP's own checksum makes up for that of the options: ICMP's stays
 * right.
 */
static __always_inline int strip_tcp(struct __sk_buff *skb, const struct packet *pkt)
{
	__u32 l4 = pkt->l4, n, there;
	struct options o;
	__u8 doff;
	__s64 diff;

	if (pkt->error && pkt->end <= l4 + TCP_HLEN)
		return TC_ACT_OK;	/* quoted without options */
	if (bpf_skb_load_bytes(skb, l4 + TCP_DOFF, &doff, sizeof(doff)))
		return strip_failed();
	n = (doff >> 4) * 4;
	if (n <= TCP_HLEN)
		return TC_ACT_OK;
	n = bytes(n - TCP_HLEN);
	there = n;
	if (pkt->error && pkt->end - l4 - TCP_HLEN < n)
		there = bytes(pkt->end - l4 - TCP_HLEN);
	__builtin_memset(&o, 0, sizeof(o));
	if (n > OPTS || there > OPTS)
		return TC_ACT_OK;
	/* The packet ends within its header: hops may have written into it. */
	if (bpf_skb_load_bytes(skb, l4 + TCP_HLEN, o.old, there))
		return strip_failed();
	if (!blank(&o, n))
		return TC_ACT_OK;
	if (bpf_skb_store_bytes(skb, l4 + TCP_HLEN, o.now, there, 0))
		return strip_failed();
	if (there < n) {	/* the rest has not changed */
		__builtin_memset(o.now, 0, sizeof(o.now));
		if (bpf_skb_load_bytes(skb, l4 + TCP_HLEN, o.now, there))
			return strip_failed();
	}
	diff = bpf_csum_diff((__be32 *)o.old, OPTS, (__be32 *)o.now, OPTS, 0);
	if (diff < 0 ||
	    bpf_l4_csum_replace(skb, l4 + offsetof(struct tcphdr, check), 0, diff, 0))
		return strip_failed();
	count(BFC_STAMP_STRIPPED);
	return TC_ACT_OK;
}

/* All INT that UDP can have, a multiple of 4 for bpf_csum_diff(). */
#define UDP_INT		((BFC_INT_LEN(BFC_INT_HOPS_MAX) + 3) & ~3)

/* Update the checksum of the ICMP header in front for @n bytes of a quote that become @now. */
static __always_inline int quote_csum(struct __sk_buff *skb, const struct packet *pkt,
				      struct udp_int *u, __u8 *now, __u32 n)
{
	__s64 diff;

	if (bpf_skb_load_bytes(skb, pkt->l4 + UDP_HLEN, u->rec, n))
		return -1;
	diff = bpf_csum_diff((__be32 *)u->rec, UDP_INT, (__be32 *)now, UDP_INT, 0);
	return diff < 0 ||
	       bpf_l4_csum_replace(skb, pkt->error + ICMP_CSUM, 0, diff, 0);
}

/* Records and pathID become zeroes; there is no checksum (see stamp_udp()) but ICMP's around a
 * quote. nHop stays: a receiver finds what is behind INT by it.
 */
static __always_inline int strip_udp(struct __sk_buff *skb, const struct packet *pkt)
{
	__u32 l4 = pkt->l4, n;
	__u8 empty[UDP_INT] = {};
	struct bfc_int_head head;
	struct udp_int u;

	__builtin_memset(&u, 0, sizeof(u));
	if (pkt->end < l4 + UDP_HLEN + BFC_INT_HEAD_LEN ||
	    bpf_skb_load_bytes(skb, l4, &u, UDP_HLEN + BFC_INT_HEAD_LEN) ||
	    u.udp.dest !=
	    bpf_htons(bfc_stamp_config.udp_port ?: BFC_INT_UDP_PORT) ||
	    u.udp.check)
		return TC_ACT_OK;
	bfc_int_get_head(u.rec, &head);
	n = head.nhop;
	if (!n)
		return TC_ACT_OK;
	/* More hops than records: all records are filled. */
	if (n > BFC_INT_HOPS_MAX)
		n = BFC_INT_HOPS_MAX;
	n = BFC_INT_LEN(n);
	if (n > pkt->end - l4 - UDP_HLEN) {
		/* Shorter than its head says: if it was not cut off, as fragments and quotes
		 * are, no hop has written a record into it. pathID may be of hops of another
		 * version.
		 */
		if (pkt->frag && !pkt->error)
			return strip_failed();
		n = pkt->error ? pkt->end - l4 - UDP_HLEN : BFC_INT_HEAD_LEN;
	}
	n = bytes(n);
	if (n > BFC_INT_LEN(BFC_INT_HOPS_MAX))
		return TC_ACT_OK;
	empty[0] = u.rec[0] & 0xf0;
	if ((pkt->error && quote_csum(skb, pkt, &u, empty, n)) ||
	    bpf_skb_store_bytes(skb, l4 + UDP_HLEN, empty, n, 0))
		return strip_failed();
	count(BFC_STAMP_STRIPPED);
	return TC_ACT_OK;
}

#define WRITTEN		64	/* bytes of TCP or UDP that hops write into */

_Static_assert(sizeof(struct udphdr) + BFC_INT_LEN(BFC_INT_HOPS_MAX) <= WRITTEN &&
	       TCP_HLEN_MAX <= WRITTEN,
	       "hops write into no later byte");

#define QUOTED		(ICMP_HLEN + 60 + WRITTEN)	/* of ICMP; 60: the longest IP header */

/* A fragment that begins within what hops write into, or in what may quote that, has no header
 * to find INT by, and the one before it is smaller than any link makes it (RFC 3128).
 */
static __always_inline int strip_fragment(const struct packet *pkt)
{
	__u32 most = 0;

	if (pkt->proto == IPPROTO_TCP || pkt->proto == IPPROTO_UDP)
		most = WRITTEN;
	else if (pkt->proto == IPPROTO_ICMP)
		most = QUOTED;
	if ((pkt->frag & IP4_OFFSET) * 8U < most)
		return strip_failed();
	return TC_ACT_OK;
}

static __always_inline int strip(struct __sk_buff *skb, struct packet *pkt)
{
	pkt->end = skb->len;
	pkt->error = 0;
	if (pkt->frag & IP4_OFFSET)
		return strip_fragment(pkt);
	if (pkt->proto == (pkt->version == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6)) {
		if (quote(skb, pkt))
			return TC_ACT_OK;
		if (pkt->frag & IP4_OFFSET)
			return strip_fragment(pkt);
	}
	if (pkt->proto == IPPROTO_TCP)
		return strip_tcp(skb, pkt);
	if (pkt->proto == IPPROTO_UDP)
		return strip_udp(skb, pkt);
	return TC_ACT_OK;
}

/* ---- all ---- */

/* Called wherever it is needed, not kept in a variable: for a variable the
 * verifier would check the code in between twice.
 */
static __always_inline int strips(void)
{
	return *(volatile __u8 *)&bfc_stamp_config.mode == BFC_STAMP_STRIP;
}

static __always_inline int stamp_int(struct __sk_buff *skb)
{
	__u8 *data = (__u8 *)(long)skb->data;
	struct packet pkt;

	if (bfc_stamp_config.mode == BFC_STAMP_NO_INT)
		return TC_ACT_OK;
	if (data + PULL <= (const __u8 *)(long)skb->data_end) {
		if (!strips() && usual_ip4(data))
			return stamp_usual(skb, data, ETH_HLEN + IP4_HLEN);
		if (!strips() && usual_ip6(data))
			return stamp_usual(skb, data, ETH_HLEN + IP6_HLEN);
	} else {
		/* The driver may have left headers outside the linear data. */
		if (bpf_skb_pull_data(skb, skb->len < PULL ? skb->len : PULL) &&
		    strips())
			return strip_failed();
	}
	if (parse(skb, &pkt))
		return TC_ACT_OK;
	if (strips())
		return strip(skb, &pkt);
	if (pkt.frag)
		return TC_ACT_OK;
	if (pkt.proto == IPPROTO_TCP)
		return stamp_tcp(skb, pkt.l4);
	if (pkt.proto == IPPROTO_UDP)
		return stamp_udp(skb, &pkt);
	return TC_ACT_OK;
}

SEC("tc")
int bfc_stamp(struct __sk_buff *skb)
{
	skb->cb[BFC_STAMP_CB_PACKET] |= BFC_STAMP_F_NATIVE;
	return stamp_int(skb);
}

char _license[] SEC("license") = "GPL";
