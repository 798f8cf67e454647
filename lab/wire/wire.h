/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink interface of the test wire: what IFLA_INFO_DATA and
 * IFLA_INFO_XSTATS hold for links of kind "wire". Shared by the module, by
 * link_wire.so (the plugin for ip) and by programs that set up topologies
 * without ip.
 */
#ifndef _WIRE_H
#define _WIRE_H

#include <linux/types.h>

/* Ranges, inclusive. Anything else is refused with an extack text. */
#define WIRE_RATE_MIN		10000ULL	/* bit/s */
#define WIRE_RATE_MAX		800000000000ULL
#define WIRE_RATE_DEFAULT	1000000000ULL
#define WIRE_DELAY_MAX		10000000000ULL	/* ns */
#define WIRE_RING_MAX		4096		/* frames per TX queue */
#define WIRE_RING_DEFAULT	8
#define WIRE_OVERHEAD_MAX	1024		/* bytes per frame */
#define WIRE_SEED_DEFAULT	1
#define WIRE_RULES_MAX		8
#define WIRE_PATTERN_MAX	64		/* frames */
#define WIRE_SHARE_ALL		1000000000U	/* a share of 100 % */
#define WIRE_PIPE_RATE_MAX	1000000000ULL	/* frames/s */
#define WIRE_PIPE_BYTES_MAX	(1U << 30)

/* In IFLA_INFO_DATA. Everything but PEER concerns the direction in which this
 * end sends. At creation it holds for both ends.
 */
enum {
	IFLA_WIRE_UNSPEC,
	IFLA_WIRE_PEER,		/* struct ifinfomsg and attributes of the far
				 * end, as with veth; at creation only
				 */
	IFLA_WIRE_RATE,		/* u64, bit/s */
	IFLA_WIRE_DELAY,	/* u64, propagation, ns */
	IFLA_WIRE_RING,		/* u32, frames per TX queue */
	IFLA_WIRE_OVERHEAD,	/* u32, bytes per frame beyond skb->len that
				 * take time on the wire, as FCS, preamble and
				 * gap would (24)
				 */
	IFLA_WIRE_SEED,		/* u64; setting it restarts the generator */
	IFLA_WIRE_RULES,	/* nest of IFLA_WIRE_RULE: all drop rules; an
				 * empty nest clears them. Counters restart.
				 */
	IFLA_WIRE_PAD,
	/* The pipeline behind this end; while it is down only. See wire_pipe.c */
	IFLA_WIRE_PIPE_RATE,	/* u64, frames/s; 0: there is none */
	IFLA_WIRE_PIPE_DELAY,	/* u64, ns from its begin to its end */
	IFLA_WIRE_PIPE_BUFFER,	/* u32, bytes of each priority that may wait before it, 0: any
				 * number
				 */
	IFLA_WIRE_PIPE_XOFF,	/* u32, pause if more bytes wait; 0: never */
	IFLA_WIRE_PIPE_XON,	/* u32, resume at this many bytes */
	IFLA_WIRE_PIPE_STALL,	/* u32, stop for a frame if its egress port would hold more bytes of
				 * its priority; 0: never
				 */
	__IFLA_WIRE_MAX
};

#define IFLA_WIRE_MAX (__IFLA_WIRE_MAX - 1)

/* In IFLA_WIRE_RULES. */
enum {
	IFLA_WIRE_RULES_UNSPEC,
	IFLA_WIRE_RULE,		/* nest of IFLA_WIRE_RULE_* */
	__IFLA_WIRE_RULES_MAX
};

#define IFLA_WIRE_RULES_MAX (__IFLA_WIRE_RULES_MAX - 1)

/* In IFLA_WIRE_RULE: an EtherType and exactly one of SHARE, EVERY, NEXT and
 * PATTERN.
 */
enum {
	IFLA_WIRE_RULE_UNSPEC,
	IFLA_WIRE_RULE_PROTO,	/* u16 in host order: the outermost EtherType
				 * on the wire; absent or 0: any
				 */
	IFLA_WIRE_RULE_SHARE,	/* u32: this share of frames, in 1e-9 */
	IFLA_WIRE_RULE_EVERY,	/* u32 N: the N-th, 2N-th, ... frame */
	IFLA_WIRE_RULE_NEXT,	/* u32 N: the first N frames */
	IFLA_WIRE_RULE_PATTERN,	/* string of 0 and 1, repeated: 1 drops */
	IFLA_WIRE_RULE_MATCHED,	/* u64, output only: frames judged */
	IFLA_WIRE_RULE_DROPPED,	/* u64, output only */
	IFLA_WIRE_RULE_PAD,
	__IFLA_WIRE_RULE_MAX
};

#define IFLA_WIRE_RULE_MAX (__IFLA_WIRE_RULE_MAX - 1)

/* In IFLA_INFO_XSTATS. */
enum {
	IFLA_WIRE_XSTATS_UNSPEC,
	IFLA_WIRE_XSTATS_TOO_LONG,	/* u64: frames refused at transmission,
					 * in tx_dropped too
					 */
	IFLA_WIRE_XSTATS_CUT,		/* u64: frames sent but lost on the
					 * cable when the link went down
					 */
	IFLA_WIRE_XSTATS_STOPS,		/* u64: times a full ring stopped its
					 * TX queue
					 */
	IFLA_WIRE_XSTATS_RULES,		/* as IFLA_WIRE_RULES, with counters */
	IFLA_WIRE_XSTATS_PAD,
	/* of the pipeline behind this end, if it has one */
	IFLA_WIRE_XSTATS_PIPE_DROPS,	/* u64: frames that found no room */
	IFLA_WIRE_XSTATS_PIPE_PEAK,	/* u64: bytes of one priority that
					 * waited at most
					 */
	IFLA_WIRE_XSTATS_PIPE_PFC,	/* u64: PFC frames of its own */
	IFLA_WIRE_XSTATS_PIPE_STALLS,	/* u64: times this port was too full */
	IFLA_WIRE_XSTATS_PIPE_STALL_NS,	/* u64 */
	__IFLA_WIRE_XSTATS_MAX
};

#define IFLA_WIRE_XSTATS_MAX (__IFLA_WIRE_XSTATS_MAX - 1)

#endif /* _WIRE_H */
