/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The peer of a TCP connection, for sockops programs that write options: those are for
 * peers in the configured prefixes only.
 */
#ifndef BFC_PEER_H
#define BFC_PEER_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "bfc_int_conf.h"

#define AF_INET		2

/* Of sockets that tell sizes: a callback that nothing is done in. A program that is called
 * for each header and has nothing to write does not end these calls then.
 */
#define BFC_SIZE_MARK	BPF_SOCK_OPS_RETRANS_CB_FLAG

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
		/* Else the compiler loads either at an address that it computes, which
		 * the verifier does not allow.
		 */
		asm volatile("" : "+r"(last));
	}
	a->word[3] = last;
}

#endif /* BFC_PEER_H */
