/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Peers in the configured prefixes: the hosts' programs write options only for
 * these.
 */
#ifndef BFC_PEER_H
#define BFC_PEER_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "bfc_int_conf.h"

#define AF_INET		2
#define ENOSPC		28

/* Marks sockets that send sizes (bfc_size.bpf.c): the flag of a callback that
 * no program here uses. If it is set, a program that has nothing to write does
 * not end the calls for headers.
 */
#define BFC_SIZE_MARK	BPF_SOCK_OPS_RETRANS_CB_FLAG

/* As in &struct bfc_int_prefix */
struct address {
	__be32 word[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bfc_int_config);
} bfc_int_config SEC(".maps");

static __always_inline struct bfc_int_config *config(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&bfc_int_config, &zero);
}

static __always_inline int is_inside(const struct address *a)
{
	const struct bfc_int_config *conf = config();
	const struct bfc_int_prefix *to;
	__u32 i;

	for (i = 0; conf && i < BFC_INT_PREFIXES; i++) {
		if (i >= conf->prefixes)
			break;
		to = &conf->to[i];
		if (!(((a->word[0] ^ to->addr[0]) & to->mask[0]) |
		      ((a->word[1] ^ to->addr[1]) & to->mask[1]) |
		      ((a->word[2] ^ to->addr[2]) & to->mask[2]) |
		      ((a->word[3] ^ to->addr[3]) & to->mask[3])))
			return 1;
	}
	return 0;
}

/* The peer's address of a TCP connection */
static __always_inline void peer_of(const struct bpf_sock_ops *skops,
				    struct address *a)
{
	__u32 last;

	if (skops->family == AF_INET) {
		last = skops->remote_ip4;
		a->word[0] = 0;
		a->word[1] = 0;
		a->word[2] = bpf_htonl(0xffff);
	} else {
		a->word[0] = skops->remote_ip6[0];
		a->word[1] = skops->remote_ip6[1];
		a->word[2] = skops->remote_ip6[2];
		last = skops->remote_ip6[3];
		/* Without this the compiler computes the address of either
		 * field and loads from there, which the verifier does not
		 * allow.
		 */
		asm volatile("" : "+r"(last));
	}
	a->word[3] = last;
}

static __always_inline int peer_is_inside(struct bpf_sock_ops *skops)
{
	struct address a;

	peer_of(skops, &a);
	return is_inside(&a);
}

/* TCP-AO signs the options before programs write theirs: neither is for such connections. */
#define OPT_AO		29

/* True if the packet of this callback has the option, or, with BPF_LOAD_HDR_OPT_TCP_SYN, the SYN
 * that began the connection.
 */
static __always_inline int has_option(struct bpf_sock_ops *skops, __u8 kind, __u64 flags)
{
	__u8 opt[2] = { kind };
	long len = bpf_load_hdr_opt(skops, opt, sizeof(opt), flags);

	return len > 0 || len == -ENOSPC;
}

#endif /* BFC_PEER_H */
