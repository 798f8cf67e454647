/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What user space tells the hosts' programs, and which peers are inside of what it names.
 */
#ifndef BFC_INT_CONF_H
#define BFC_INT_CONF_H

#include <linux/types.h>

#define BFC_INT_PREFIXES	16

/**
 * struct bfc_int_prefix - addresses that begin alike
 * @addr: of IPv6, big-endian; IPv4 is ::ffff:a.b.c.d; 0 where @mask is 0
 * @mask: bits that count
 */
struct bfc_int_prefix {
	__be32	addr[4];
	__be32	mask[4];
};

/**
 * struct bfc_int_config - of all sockets of a cgroup: the map "bfc_int_config"; of other
 *			   programs, which have such a map, too, only the prefixes
 * @every: one segment in so many has room for a record, 1 = each
 * @hops: so many records at most, 0 = as many as fit
 * @cc: congestion control of connections that agreed on INT, "" = unchanged
 * @cgroup: its inode number, not 0
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

#ifdef __bpf__
#include <bpf/bpf_helpers.h>

/* As in &struct bfc_int_prefix */
struct address {
	__be32 word[4];
};

static __always_inline int is_inside(const struct address *a,
				     const struct bfc_int_config *conf)
{
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

#endif
#endif /* BFC_INT_CONF_H */
