/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configuration that user space writes for the hosts' eBPF programs.
 */
#ifndef BFC_INT_CONF_H
#define BFC_INT_CONF_H

#include <linux/types.h>

#define BFC_INT_PREFIXES	16

/**
 * struct bfc_int_prefix - an address prefix
 * @addr: of IPv6, big-endian; IPv4 is ::ffff:a.b.c.d; bits are 0 where those of
 *	  @mask are 0
 * @mask: bits that count
 */
struct bfc_int_prefix {
	__be32	addr[4];
	__be32	mask[4];
};

/**
 * struct bfc_int_config - configuration of all sockets of a cgroup: the value
 *			   of the map "bfc_int_config". Only bfc_int_tcp.bpf.c
 *			   uses members other than the prefixes and the cgroup
 * @every: one segment in @every has room for a record, 1 = each segment
 * @hops: records that an option has room for, 0 = as many as fit
 * @cc: congestion control of connections that agreed on INT, "" = unchanged
 * @cgroup: inode number of the cgroup, not 0
 * @prefixes: valid entries of @to
 * @reserved: 0
 * @to: peers that INT is for; the option goes to no other
 */
struct bfc_int_config {
	__u32	every;
	__u32	hops;
	char	cc[16];		/* TCP_CA_NAME_MAX */
	__u64	cgroup;
	__u32	prefixes;
	__u32	reserved;
	struct bfc_int_prefix to[BFC_INT_PREFIXES];
};

#endif /* BFC_INT_CONF_H */
