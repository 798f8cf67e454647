/* SPDX-License-Identifier: GPL-2.0 */
/* INT about the hops of a flow, for all carriers. */
#ifndef BFCCTL_VIEW_H
#define BFCCTL_VIEW_H

#include <linux/bfc_int.h>

#include "bfcctl.h"

/**
 * struct view - newest record of one direction of a flow
 * @carrier: "tcp" or "udp"
 * @side: "sender": the path of our packets, from echoes; "receiver": that of
 *	  the peer's packets
 * @src: address of the sender
 * @dst: address of the receiver
 * @sport: of @src
 * @dport: of @dst
 * @time: when the record came, ns of CLOCK_MONOTONIC
 * @count: records so far
 * @overflows: of these, of paths with more hops than there was room for
 * @stale: records that were not newer than the one before
 * @path: bfc_int_head_bits()
 * @hops: valid entries of @hop
 * @hop: records
 */
struct view {
	const char *carrier;
	const char *side;
	char src[48];
	char dst[48];
	uint16_t sport;
	uint16_t dport;
	uint64_t time;
	uint64_t count;
	uint64_t overflows;
	uint64_t stale;
	uint16_t path;
	unsigned int hops;
	struct bfc_int_hop hop[BFC_INT_HOPS_MAX];
};

/**
 * struct views - a number of them
 * @v: array
 * @n: entries
 */
struct views {
	struct view *v;
	unsigned int n;
};

void views_get(struct views *views, int ifindex);
void views_free(struct views *views);
uint64_t views_gap(const struct views *views);
void views_print(const struct views *before, const struct views *now);

#endif /* BFCCTL_VIEW_H */
