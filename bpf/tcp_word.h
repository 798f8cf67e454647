/* SPDX-License-Identifier: GPL-2.0 */
/* Sequence and ACK numbers in a TCP header, for sockops programs. */
#ifndef BFC_TCP_WORD_H
#define BFC_TCP_WORD_H

#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

/*
 * Read 32 bits at @offset of the header of the packet that the callback is for, in host order.
 * By bytes: not every machine can load unaligned words.
 *
 * Return: 1, or 0 if the header is not there.
 */
static __always_inline int tcp_word(const struct bpf_sock_ops *skops, __u32 offset, __u32 *word)
{
	const __u8 *p = skops->skb_data;

	if ((const void *)(p + sizeof(struct tcphdr)) > skops->skb_data_end)
		return 0;
	p += offset;
	*word = (__u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	return 1;
}

#endif /* BFC_TCP_WORD_H */
