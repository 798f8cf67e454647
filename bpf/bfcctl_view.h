/* SPDX-License-Identifier: GPL-2.0 */
/* What INT says of the hops of a flow, whatever its carrier. */
#ifndef BFCCTL_VIEW_H
#define BFCCTL_VIEW_H

#include <linux/bfc_int.h>

#include "bfcctl.h"

/**
 * struct view - newest record of one direction of a flow
 * @carrier: "tcp" or "udp"
 * @side: "sender": our packets' way, as echoed; "receiver": the peer's packets'
 * @src: who sends, address
 * @dst: who receives, address
 * @sport: of @src
 * @dport: of @dst
 * @time: when the record came, ns of CLOCK_MONOTONIC
 * @count: records so far
 * @overflows: of these, of more hops than there was room for
 * @stale: that came, but were not newer than the one before
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
