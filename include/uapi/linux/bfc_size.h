/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The remaining size of a flow, which packets carry for ports with `sched srf` (BFC App. A.2):
 * the bytes that the sender has yet to send, including this packet.
 *
 * It is a number of 16 bits, big-endian: 5 bits of exponent e, 11 of mantissa m. It stands
 * for m bytes if e is 0, else for (2048 + m) 2^(e-1). So sizes below 4096 bytes are exact,
 * others are rounded down by less than 1/2048; 4.4 TB is the most. A smaller number is a
 * smaller size.
 *
 * Carriers:
 *  - TCP: an option of RFC 6994's experiments, which receivers skip:
 *
 *	kind 253 | length 6 | ExID 0xbfc3 | size 16
 *
 *  - UDP: the payload begins with
 *
 *	magic 0xbfc35346 | size 16 | 0 16
 *
 *    which the sending application writes, and the receiving one skips.
 */
#ifndef _UAPI_LINUX_BFC_SIZE_H
#define _UAPI_LINUX_BFC_SIZE_H

#include <linux/types.h>

#define BFC_SIZE_NONE		0xffffU	/* the packet has no size: larger than any size */
#define BFC_SIZE_MOST		0xfffeU
#define BFC_SIZE_MANTISSA	11	/* bits */

#define BFC_SIZE_TCP_KIND	253
#define BFC_SIZE_TCP_LEN	6
#define BFC_SIZE_TCP_EXID	0xbfc3U
#define BFC_SIZE_TCP_OPTIONS	40	/* bytes of options at most */

#define BFC_SIZE_UDP_MAGIC	0xbfc35346U
#define BFC_SIZE_UDP_LEN	8

/**
 * bfc_size_code() - encode a size
 * @bytes: the size
 *
 * Return: the code, at most BFC_SIZE_MOST; a larger @bytes never has a smaller code.
 */
static inline __u16 bfc_size_code(__u64 bytes)
{
	__u32 code, e = 1, shift;

	if (bytes < 1U << BFC_SIZE_MANTISSA)
		return bytes;
	for (shift = 16; shift; shift >>= 1) {
		if (bytes >> (BFC_SIZE_MANTISSA + shift)) {
			bytes >>= shift;
			e += shift;
		}
	}
	code = (e << BFC_SIZE_MANTISSA) + (bytes & ((1U << BFC_SIZE_MANTISSA) - 1));
	return code < BFC_SIZE_MOST ? code : BFC_SIZE_MOST;
}

/**
 * bfc_size_bytes() - the size that a code stands for
 * @code: from bfc_size_code()
 *
 * Return: bytes, the least that have this code.
 */
static inline __u64 bfc_size_bytes(__u16 code)
{
	__u32 e = code >> BFC_SIZE_MANTISSA, m = code & ((1U << BFC_SIZE_MANTISSA) - 1);

	return e ? (__u64)((1U << BFC_SIZE_MANTISSA) + m) << (e - 1) : m;
}

/**
 * bfc_size_put_tcp() - write the TCP option
 * @p: BFC_SIZE_TCP_LEN bytes
 * @code: the size
 */
static inline void bfc_size_put_tcp(__u8 *p, __u16 code)
{
	p[0] = BFC_SIZE_TCP_KIND;
	p[1] = BFC_SIZE_TCP_LEN;
	p[2] = BFC_SIZE_TCP_EXID >> 8;
	p[3] = BFC_SIZE_TCP_EXID & 0xff;
	p[4] = code >> 8;
	p[5] = code;
}

/**
 * bfc_size_get_tcp() - find the size among the options of a TCP header
 * @p: the options
 * @len: of all of them, bytes
 *
 * Return: the size, or BFC_SIZE_NONE.
 */
static inline __u16 bfc_size_get_tcp(const __u8 *p, __u32 len)
{
	__u32 at = 0;

	while (at + BFC_SIZE_TCP_LEN <= len && p[at]) {	/* 0: end of the options */
		if (p[at] == 1) {			/* NOP */
			at++;
			continue;
		}
		if (p[at] == BFC_SIZE_TCP_KIND && p[at + 1] == BFC_SIZE_TCP_LEN &&
		    p[at + 2] == BFC_SIZE_TCP_EXID >> 8 &&
		    p[at + 3] == (BFC_SIZE_TCP_EXID & 0xff))
			return p[at + 4] << 8 | p[at + 5];
		if (p[at + 1] < 2)
			break;
		at += p[at + 1];
	}
	return BFC_SIZE_NONE;
}

/**
 * bfc_size_put_udp() - write what UDP's payload begins with
 * @p: BFC_SIZE_UDP_LEN bytes
 * @code: the size
 */
static inline void bfc_size_put_udp(__u8 *p, __u16 code)
{
	p[0] = BFC_SIZE_UDP_MAGIC >> 24;
	p[1] = BFC_SIZE_UDP_MAGIC >> 16 & 0xff;
	p[2] = BFC_SIZE_UDP_MAGIC >> 8 & 0xff;
	p[3] = BFC_SIZE_UDP_MAGIC & 0xff;
	p[4] = code >> 8;
	p[5] = code;
	p[6] = 0;
	p[7] = 0;
}

/**
 * bfc_size_get_udp() - the size that UDP's payload begins with
 * @p: the first BFC_SIZE_UDP_LEN bytes of it
 *
 * Return: the size, or BFC_SIZE_NONE.
 */
static inline __u16 bfc_size_get_udp(const __u8 *p)
{
	__u32 magic = (__u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];

	if (magic != BFC_SIZE_UDP_MAGIC || p[6] || p[7])
		return BFC_SIZE_NONE;
	return p[4] << 8 | p[5];
}

#endif /* _UAPI_LINUX_BFC_SIZE_H */
