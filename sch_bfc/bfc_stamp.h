/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stamps, which the module or a program writes into packets as they leave.
 */
#ifndef _BFC_STAMP_H
#define _BFC_STAMP_H

#include <linux/types.h>

struct Qdisc;
struct bfc_params;
struct bfc_sched;
struct bpf_prog;
struct netlink_ext_ack;
struct sk_buff;

#define BFC_STAMP_UNSET	U8_MAX	/* not asked for: as the qdisc before */
#define BFC_STAMP_DROPS	64	/* packets that a program drops until others get the processor */

/**
 * struct bfc_stamp - a program that stamps, and its counters
 * @prog: of type SCHED_CLS, with a reference; NULL = `stamp native`
 * @facts: the part of cb[BFC_STAMP_CB_PACKET] that all packets have: the code of the port's
 *	   rate, for INT
 * @runs: packets that it was run on
 * @drops: packets that it dropped
 * @redirects: packets dropped because it wanted to redirect or keep them
 * @grown: packets that it made longer
 * @shrunk: packets that it made shorter
 * @bad_len: of these, dropped: longer than the MTU, or no frame any more
 * @untagged: packets that should have got an upstreamQ and did not
 * @unknown: verdicts that do not exist, taken for TC_ACT_OK
 *
 * All of it under the root lock; @prog changes under RTNL as well.
 */
struct bfc_stamp {
	struct bpf_prog *prog;
	u32 facts;
	u64 runs;
	u64 drops;
	u64 redirects;
	u64 grown;
	u64 shrunk;
	u64 bad_len;
	u64 untagged;
	u64 unknown;
};

unsigned int bfc_mac_len(const struct sk_buff *skb, __be16 *proto);
u32 bfc_vids(const struct sk_buff *skb, unsigned int len);
bool bfc_stamp_run(struct Qdisc *sch, struct sk_buff *skb, u16 tci, u8 prio);
bool bfc_stamp_tag(struct bfc_sched *q, struct sk_buff *skb, u16 tci);
bool bfc_stamp_inherit(struct Qdisc *sch, struct bfc_params *p);
struct bpf_prog *bfc_stamp_get(struct Qdisc *sch, const struct bfc_params *p,
			       struct netlink_ext_ack *extack);
void bfc_stamp_set(struct Qdisc *sch, struct bpf_prog *prog);
void bfc_stamp_put(struct bpf_prog *prog);
int bfc_stamp_dump(struct sk_buff *msg, const struct bpf_prog *prog);

#endif /* _BFC_STAMP_H */
