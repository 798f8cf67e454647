/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * bfc - Backpressure Flow Control qdisc: what user space and the wire see.
 *
 * Three things that every part of the project must agree on:
 *  1. netlink attributes of the qdisc (TCA_OPTIONS),
 *  2. statistics of the qdisc and of its classes (TCA_STATS_APP nest),
 *  3. numbers of the control frames; the code that reads and writes the
 *     frames is sch_bfc/pure/bfc_wire.h.
 *
 * Times are nanoseconds, rates bytes per second, sizes bytes, everything in
 * host order unless it travels on the wire.
 */
#ifndef _UAPI_LINUX_PKT_SCH_BFC_H
#define _UAPI_LINUX_PKT_SCH_BFC_H

#include <linux/types.h>

/* 1. Options: limits and defaults */

#define BFC_QUEUES_MIN		1U
#define BFC_QUEUES_MAX		1024U
#define BFC_QUEUES_DEFAULT	32U	/* of switches and hosts: docs/deployment.md */
#define BFC_FLOWS_MIN		16U
#define BFC_FLOWS_MAX		(1U << 22)
#define BFC_FLOWS_PER_QUEUE	100U	/* default table size, BFC §3.3.1 */
#define BFC_WAYS_MAX		8U
#define BFC_WAYS_DEFAULT	4U	/* a cache line of the table; paper: 1 */
#define BFC_HRTT_MIN		100ULL			/* 100 ns */
#define BFC_HRTT_MAX		1000000000ULL		/* 1 s */
#define BFC_HRTT_DEFAULT	100000ULL		/* 100 us */
#define BFC_STICKY_MAX		10000000000ULL		/* 10 s */
#define BFC_STICKY_AUTO		(~0ULL)			/* 2 x HRTT */
#define BFC_DST_PREFIX_MAX	32U	/* bits of an IPv4 address (default) */
#define BFC_DST_PREFIX6_MAX	128U	/* of an IPv6 address (default) */
#define BFC_THRESHOLD_MAX	(1U << 30)
#define BFC_LIMIT_MIN		(64U << 10)
#define BFC_LIMIT_MAX		(1U << 30)
#define BFC_LIMIT_DEFAULT	(16U << 20)
#define BFC_QUANTUM_MIN		256U
#define BFC_QUANTUM_MAX		(1U << 20)
#define BFC_RATE_MIN		1000ULL			/* 8 kbit/s */
#define BFC_RATE_MAX		125000000000ULL		/* 1 Tbit/s */
#define BFC_REFRESH_MIN		10000ULL		/* 10 us */
#define BFC_REFRESH_MAX		1000000000ULL		/* 1 s */
#define BFC_HOLD_MIN		1000000ULL		/* 1 ms */
#define BFC_HOLD_MAX		4000000000ULL		/* 4 s: fits be32 of ns */
#define BFC_ELIDE_MAX		64U
#define BFC_PRIO_VALUES		64	/* of a DSCP; a PCP has 8, skb priority 16 */
#define BFC_PRIO_AUTO		0xff	/* in a map: as by default */
#define BFC_LIST		8	/* entries, u16, one per class */
#define BFC_LIST_LEN		(2 * BFC_LIST)	/* bytes */
#define BFC_CLASS_WEIGHT_MAX	255
#define BFC_BUFFER_NAMSIZ	16
#define BFC_BYTES_MAX		(1U << 30)	/* of any threshold or buffer */
#define BFC_PPM_ONE		1000000U	/* shares of the free buffer */
#define BFC_PPM_MAX		(1024U * BFC_PPM_ONE)
#define BFC_DYNAMIC_HPCC	110000U		/* 11 %, HPCC §5.1 */
#define BFC_T_HOP_MIN		100ULL			/* 100 ns */
#define BFC_T_HOP_MAX		1000000000ULL		/* 1 s */
#define BFC_PERMILLE_MIN	100U
#define BFC_PERMILLE_MAX	1000U
#define BFC_PERMILLE_DEFAULT	800U			/* FAFC §III-A */
#define BFC_CUT_DEFAULT		80U			/* per cent, CaPFC Table II */
#define BFC_WATCHDOG_MIN	1000000ULL		/* 1 ms */
#define BFC_WATCHDOG_MAX	60000000000ULL		/* 60 s */
#define BFC_WATCHDOG_AUTO	(~0ULL)		/* the longer of the next two: */
#define BFC_WATCHDOG_LEAST	200000000ULL		/* 200 ms */
#define BFC_WATCHDOG_BYTES	(8U << 20)	/* time that the link takes for so many bytes */
#define BFC_SYNC_MIN		10000ULL		/* 10 us */
#define BFC_SYNC_MAX		1000000000ULL		/* 1 s */
#define BFC_SYNC_DEFAULT	200000ULL		/* 200 us */
#define BFC_SAMPLE_ALL		100U			/* per cent */
#define BFC_INCAST_MAX		0xffffffffffffffffULL	/* mask << 32 | mark, of 32 bits each */
#define BFC_INCAST_DSCP_MAX	63ULL		/* up to this it is a DSCP */

/* Generated from spec/bfc.yaml: options */
enum {
	BFC_FC_NONE,		/* fair queueing only */
	BFC_FC_BFC,		/* per-queue backpressure (default) */
	BFC_FC_PFC,		/* IEEE 802.1Qbb: per priority of a port */
	BFC_FC_CAPFC_MAX,	/* CaPFC Alg. 1, Stop-Max */
	BFC_FC_CAPFC_CAL,	/* CaPFC Alg. 2, Stop-Calibrate */
	BFC_FC_FAFC,		/* per priority, for a computed time */
	__BFC_FC_MAX
};

enum {
	BFC_PRIO_PCP,	/* of the outermost VLAN tag; none = 0 (default) */
	BFC_PRIO_DSCP,	/* of IPv4 and IPv6; others = 0 */
	BFC_PRIO_SKB,	/* skb->priority up to 15; others = 0 */
	__BFC_PRIO_MAX
};

enum {
	BFC_ROLE_SWITCH,	/* sends and obeys pauses (default) */
	BFC_ROLE_NIC,		/* obeys pauses, never sends them (BFC §5) */
	__BFC_ROLE_MAX
};

enum {
	BFC_PEER_AUTO,	/* stamp after the three-way HELLO (default) */
	BFC_PEER_ON,	/* the neighbour speaks BFC, do not ask */
	BFC_PEER_OFF,	/* never stamp, never send, never obey */
	__BFC_PEER_MAX
};

enum {
	BFC_ASSIGN_DYNAMIC,	/* an empty queue for a new flow: the paper's */
	BFC_ASSIGN_STOCHASTIC,	/* by hash, as SFQ: a baseline of the paper */
	BFC_ASSIGN_SINGLE,	/* one queue for all: the other baseline */
	BFC_ASSIGN_DESTINATION,	/* dynamic, but a destination's flows share (default) */
	BFC_ASSIGN_ROOT,	/* as destination, and destinations behind one root count as one */
	BFC_ASSIGN_SIMILAR,	/* dynamic, for sched srf: else the queue of the nearest size */
	__BFC_ASSIGN_MAX
};

enum {
	BFC_RESUME_DRAINED,	/* when the last counted packet left (BFC §3.3.2) */
	BFC_RESUME_EARLY,	/* when fewer than Th bytes are ahead of it */
	__BFC_RESUME_MAX
};

enum {
	BFC_STAMP_NATIVE,	/* upstreamQ, by the qdisc (default) */
	BFC_STAMP_PINNED,	/* upstreamQ and more, by an eBPF program */
	__BFC_STAMP_MAX
};

enum {
	BFC_SPLIT_GSO_OFF,	/* no packet is segmented */
	BFC_SPLIT_GSO_ON,	/* all packets are segmented */
	BFC_SPLIT_GSO_AUTO,	/* packets longer than Th are (default) */
	__BFC_SPLIT_GSO_MAX
};

enum {
	BFC_TXQS_AUTO,	/* each, if the other options allow it (default) */
	BFC_TXQS_ONE,	/* one scheduler, and lock, for all TX queues */
	BFC_TXQS_EACH,	/* one for each TX queue */
	__BFC_TXQS_MAX
};

enum {
	BFC_SCHED_DRR,	/* deficit round robin (default) */
	BFC_SCHED_SRF,	/* shortest remaining flow first (BFC App. A.2) */
	__BFC_SCHED_MAX
};

enum {
	TCA_BFC_UNSPEC,
	TCA_BFC_PAD,
	TCA_BFC_FC,		/* u8, BFC_FC_* */
	TCA_BFC_ROLE,		/* u8, BFC_ROLE_* */
	TCA_BFC_PEER,		/* u8, BFC_PEER_* */
	TCA_BFC_QUEUES,		/* u32 */
	TCA_BFC_FLOWS,		/* u32 entries, 0 = 100 x queues */
	TCA_BFC_ASSIGN,		/* u8, BFC_ASSIGN_* */
	TCA_BFC_AVOID_PAUSED,	/* u8, 0 or 1 */
	TCA_BFC_STICKY,		/* u64 ns, BFC_STICKY_AUTO = 2 x HRTT */
	TCA_BFC_HRTT,		/* u64 ns */
	TCA_BFC_THRESHOLD,	/* u32 bytes per queue, 0 = HRTT x rate / N_active */
	TCA_BFC_RESUME,		/* u8, BFC_RESUME_* */
	TCA_BFC_RATE,		/* u64 bytes/s shaper, 0 = the link's own speed */
	TCA_BFC_LIMIT,		/* u32 bytes of truesize */
	TCA_BFC_QUANTUM,	/* u32 bytes, 0 = one MTU frame */
	TCA_BFC_REFRESH,	/* u64 ns between repeated PAUSE frames, 0 = auto */
	TCA_BFC_HOLD,		/* u64 ns a PAUSE frame is valid, 0 = auto */
	TCA_BFC_SPLIT_GSO,	/* u8, BFC_SPLIT_GSO_* */
	TCA_BFC_TPID,		/* u16 host order: 0x88a8 or 0x8100 */
	TCA_BFC_ACCEPT_PAUSE,	/* u8: obey a neighbour of role nic */
	TCA_BFC_ELIDE,		/* nest of TCA_BFC_ELIDE_IFINDEX; empty = none */
	TCA_BFC_WAYS,		/* u32 flow table entries that a flow may be in */
	TCA_BFC_NEW_FIRST,	/* u8, 0 or 1 */
	/* port-level modes: pfc, capfc-max, capfc-cal, fafc */
	TCA_BFC_PRIO,		/* u8, BFC_PRIO_* */
	TCA_BFC_PRIO_MAP,	/* u8[BFC_PRIO_VALUES]: 0 to 7 or BFC_PRIO_AUTO */
	TCA_BFC_LOSSLESS,	/* u8, bit p: priority p pauses and is paused */
	TCA_BFC_XOFF,		/* u32 bytes held of an ingress, 0 = auto */
	TCA_BFC_XON,		/* u32 bytes, 0 = auto */
	TCA_BFC_MAX_BYTES,	/* u32 bytes, 0 = auto: XOFF + headroom */
	TCA_BFC_DYNAMIC,	/* u32 millionths of the free buffer, 0 = static */
	TCA_BFC_EGRESS_XOFF,	/* u32 bytes of an egress queue, 0 = auto (CaPFC) */
	TCA_BFC_EGRESS_XON,	/* u32 bytes, 0 = auto */
	TCA_BFC_EGRESS_MAX,	/* u32 bytes, 0 = auto */
	TCA_BFC_WARN,		/* u32 bytes, 0 = auto */
	TCA_BFC_CUT,		/* u8 per cent, 1 to 100 */
	TCA_BFC_T_HOP,		/* u64 ns, 0 = HRTT / 2 (FAFC) */
	TCA_BFC_ALPHA,		/* u32 thousandths */
	TCA_BFC_BETA,		/* u32 thousandths */
	TCA_BFC_FDEC,		/* u32 thousandths */
	TCA_BFC_CONGESTED,	/* u32 bytes: th_c, 0 = threshold */
	TCA_BFC_ECN,		/* u32 bytes: mark from here on, 0 = never */
	TCA_BFC_WATCHDOG,	/* u64 ns, 0 = off, BFC_WATCHDOG_AUTO */
	/* a buffer that ports share */
	TCA_BFC_BUFFER,		/* string, "" = none */
	TCA_BFC_BUFFER_SIZE,	/* u32 bytes, 0 = leave it as it is */
	TCA_BFC_RESERVE,	/* u32 bytes of each (port, priority) */
	TCA_BFC_HEADROOM,	/* u32 bytes of each lossless one, 0 = auto */
	TCA_BFC_SHARE,		/* u32 millionths of the free buffer, 0 = no limit */
	TCA_BFC_STRICT,		/* u8, bit p: priority p goes first (port-level) */
	/* what is written into packets as they leave */
	TCA_BFC_STAMP,		/* u8, BFC_STAMP_NATIVE or _PINNED */
	TCA_BFC_STAMP_FD,	/* s32, set only: a program of type SCHED_CLS */
	TCA_BFC_STAMP_ID,	/* u32, read only, like the next two */
	TCA_BFC_STAMP_TAG,	/* u8[8] */
	TCA_BFC_STAMP_NAME,	/* string */
	/* assign destination: leading bits that tell addresses apart */
	TCA_BFC_DST_PREFIX,	/* u32, 0 to 32 of IPv4 */
	TCA_BFC_DST_PREFIX6,	/* u32, 0 to 128 of IPv6 */
	/* devices with several TX queues */
	TCA_BFC_TXQS,		/* u8, BFC_TXQS_* */
	TCA_BFC_SYNC,		/* u64 ns */
	/* measured HRTT */
	TCA_BFC_HRTT_MAX,	/* u64 ns, 0 = 2 ms and 16 full frames */
	/* what the paper's appendices add to fc bfc */
	TCA_BFC_SAMPLE,		/* u8 per cent, 1 to 100 */
	TCA_BFC_INCAST,		/* u64, a DSCP, or mask << 32 | skb->mark; 0 = off */
	/* traffic classes */
	TCA_BFC_CLASSES,	/* u32, 1 = none */
	TCA_BFC_CLASS_QUEUES,	/* u16[8], of each class; 0, 0, ...: even */
	TCA_BFC_WEIGHTS,	/* u16[8], of each class; 0, 0, ...: equal */
	TCA_BFC_KEEP_CLASS,	/* u8 0 or 1 */
	/* the order of queues */
	TCA_BFC_SCHED,		/* u8, BFC_SCHED_* */
	/* ECN as a ramp */
	TCA_BFC_KMAX,		/* u32 bytes: mark all from here on, 0 = TCA_BFC_ECN is a step */
	TCA_BFC_PMAX,		/* u32 millionths: marked at TCA_BFC_KMAX */
	__TCA_BFC_MAX
};

#define TCA_BFC_MAX (__TCA_BFC_MAX - 1)

enum {
	TCA_BFC_ELIDE_UNSPEC,
	TCA_BFC_ELIDE_IFINDEX,	/* u32, repeated */
	__TCA_BFC_ELIDE_MAX
};

#define TCA_BFC_ELIDE_MAX (__TCA_BFC_ELIDE_MAX - 1)

/* End of options */

/* 2. Statistics of the qdisc, in a TCA_STATS_APP nest. Readers must skip
 * attributes that they do not know and take absent ones as zero.
 */
/* TCA_BFC_STATS_PAUSE_TIMES: type b + 1 counts pauses of at most
 * BFC_PAUSE_TIME_LEAST << b ns, and more than half of that. The first type
 * counts all shorter pauses as well, the last all longer ones.
 */
#define BFC_PAUSE_TIMES		22
#define BFC_PAUSE_TIME_SHIFT	10
#define BFC_PAUSE_TIME_LEAST	(1ULL << BFC_PAUSE_TIME_SHIFT)	/* ns */

/* Generated from spec/bfc.yaml: statistics */
enum {
	TCA_BFC_STATS_UNSPEC,
	TCA_BFC_STATS_PAD,
	/* now */
	TCA_BFC_STATS_OCCUPIED,		/* u32 non-empty queues */
	TCA_BFC_STATS_ACTIVE,		/* u32 N_active: non-empty, not paused */
	TCA_BFC_STATS_PAUSED,		/* u32 queues the peer holds paused */
	TCA_BFC_STATS_UPSTREAM_PAUSED,	/* u32 peer's queues held paused here */
	TCA_BFC_STATS_THRESHOLD,	/* u32 bytes, Th at the present N_active */
	TCA_BFC_STATS_LINK_RATE,	/* u64 bytes/s, the rate Th is built from */
	TCA_BFC_STATS_STICKY,		/* u64 ns in effect */
	TCA_BFC_STATS_REFRESH,		/* u64 ns in effect */
	TCA_BFC_STATS_HOLD,		/* u64 ns in effect */
	TCA_BFC_STATS_MEMORY,		/* u32 bytes of truesize held */
	TCA_BFC_STATS_MEMORY_PEAK,	/* u32 */
	TCA_BFC_STATS_BACKLOG_PEAK,	/* u32 bytes queued at most */
	TCA_BFC_STATS_COUNTERS,		/* u64 sum of the port's pause counters */
	/* assignment */
	TCA_BFC_STATS_ASSIGNED,		/* u64 queue assignments made */
	TCA_BFC_STATS_COLLISIONS,	/* u64 of these, into a non-empty queue */
	TCA_BFC_STATS_COUNTED,		/* u64 packets that met a queue over Th */
	/* drops, all of them also in the qdisc's own drop counter */
	TCA_BFC_STATS_DROP_LIMIT,	/* u64 from the longest queue, port full */
	TCA_BFC_STATS_DROP_CAP,		/* u64 queue over its share of the buffer */
	TCA_BFC_STATS_DROP_GSO,		/* u64 segmentation failed */
	/* pauses */
	TCA_BFC_STATS_PAUSE_TX,		/* u64 upstream queues paused (0->1) */
	TCA_BFC_STATS_RESUME_TX,	/* u64 upstream queues resumed (1->0) */
	TCA_BFC_STATS_FRAMES_TX,	/* u64 PAUSE frames sent */
	TCA_BFC_STATS_REFRESH_TX,	/* u64 of these, repetitions */
	TCA_BFC_STATS_PAUSE_RX,		/* u64 own queues paused by the peer */
	TCA_BFC_STATS_RESUME_RX,	/* u64 own queues resumed by the peer */
	TCA_BFC_STATS_FRAMES_RX,	/* u64 PAUSE frames accepted */
	TCA_BFC_STATS_EXPIRED,		/* u64 pauses ended by their hold time */
	TCA_BFC_STATS_HELLO_TX,		/* u64 */
	TCA_BFC_STATS_HELLO_RX,		/* u64 */
	TCA_BFC_STATS_ELIDED,		/* u64 packets not counted: elide */
	TCA_BFC_STATS_UNTRUSTED,	/* u64 not counted: clsact egress, stale handle */
	TCA_BFC_STATS_TAGGED_TX,	/* u64 packets sent with an upstreamQ tag */
	TCA_BFC_STATS_TAGGED_RX,	/* u64 packets received with one */
	/* bad control frames by reason */
	TCA_BFC_STATS_BAD_SHORT,	/* u64 truncated */
	TCA_BFC_STATS_BAD_VERSION,	/* u64 version or type unknown */
	TCA_BFC_STATS_BAD_EPOCH,	/* u64 not from the present peer */
	TCA_BFC_STATS_BAD_SEQ,		/* u64 older than the newest seen */
	TCA_BFC_STATS_BAD_RANGE,	/* u64 queues or times out of range */
	TCA_BFC_STATS_BAD_ROLE,		/* u64 pause from a NIC, accept-pause off */
	TCA_BFC_STATS_BAD_RATE,		/* u64 over the rate allowed */
	TCA_BFC_STATS_BAD_LOOP,		/* u64 own frame came back */
	TCA_BFC_STATS_BAD_TAG,		/* u64 upstreamQ beyond the peer's queues */
	/* the neighbour */
	TCA_BFC_STATS_PEER_STATE,	/* u32, BFC_PEER_STATE_* */
	TCA_BFC_STATS_PEER_ROLE,	/* u32, BFC_ROLE_* */
	TCA_BFC_STATS_PEER_QUEUES,	/* u32 */
	TCA_BFC_STATS_PEER_ID,		/* u64 */
	TCA_BFC_STATS_HRTT,		/* u64 ns, the HRTT Th is built from */
	TCA_BFC_STATS_HELLO_RTT,	/* u64 ns, smallest HELLO round trip, 0 = none */
	/* assignment, continued */
	TCA_BFC_STATS_SHARED,		/* u64 flow table entries shared, overflow entries taken */
	/* port-level modes */
	TCA_BFC_STATS_PFC_TX,		/* u64 PFC frames sent */
	TCA_BFC_STATS_PFC_RX,		/* u64 PFC frames obeyed */
	TCA_BFC_STATS_PFC_BAD,		/* u64 PFC frames refused: short, too many */
	TCA_BFC_STATS_MAC_PAUSE_RX,	/* u64 PAUSE frames of 802.3x, not obeyed */
	TCA_BFC_STATS_DROP_MAX,		/* u64 came although its priority was full */
	TCA_BFC_STATS_DROP_BUFFER,	/* u64 the shared buffer had no room */
	TCA_BFC_STATS_ECN_MARK,		/* u64 packets marked CE */
	TCA_BFC_STATS_XOFF,		/* u32 bytes in effect */
	TCA_BFC_STATS_XON,		/* u32 bytes in effect */
	TCA_BFC_STATS_HEADROOM,		/* u32 bytes in effect */
	TCA_BFC_STATS_BUFFER_SIZE,	/* u32 bytes to share */
	TCA_BFC_STATS_BUFFER_USED,	/* u32 bytes taken of these */
	TCA_BFC_STATS_BUFFER_PEAK,	/* u32 bytes taken at most */
	TCA_BFC_STATS_BUFFER_PORT,	/* u32 bytes held of what came in here */
	TCA_BFC_STATS_SOLVED,		/* u64 allocations of pause times (FAFC) */
	TCA_BFC_STATS_UNSOLVED,		/* u64 of these, with too little that could be paused */
	TCA_BFC_STATS_STORMS,		/* u64 pauses that were taken for a storm */
	TCA_BFC_STATS_RESTORED,		/* u64 of these, obeyed again after the hold-off */
	TCA_BFC_STATS_STORM_TX,		/* u64 packets sent meanwhile */
	TCA_BFC_STATS_STORM_DROPS,	/* u64 packets dropped meanwhile */
	TCA_BFC_STATS_PRIOS,		/* nest of 8 nests of TCA_BFC_PRIO_STATS_* */
	/* stamp pinned: what the programs have done */
	TCA_BFC_STATS_STAMP_RUNS,	/* u64 packets that one was run on */
	TCA_BFC_STATS_STAMP_DROPS,	/* u64 packets that it dropped */
	TCA_BFC_STATS_STAMP_REDIRECTS,	/* u64 dropped: the program wanted a redirect */
	TCA_BFC_STATS_STAMP_GROWN,	/* u64 packets that it made longer */
	TCA_BFC_STATS_STAMP_SHRUNK,	/* u64 packets that it made shorter */
	TCA_BFC_STATS_STAMP_BAD_LEN,	/* u64 dropped: longer than the MTU, or no frame any more */
	TCA_BFC_STATS_STAMP_UNTAGGED,	/* u64 without the upstreamQ that was due */
	TCA_BFC_STATS_STAMP_UNKNOWN,	/* u64 unknown verdicts */
	TCA_BFC_STATS_REFUSED,		/* u32, BFC_REFUSED_*: why the peer is refused */
	/* the band that is never paused */
	TCA_BFC_STATS_CTRL_EXCESS,	/* u64 packets over its share of the link */
	/* assign destination */
	TCA_BFC_STATS_TOLD_TO_SHARE,	/* u64 flows put in a queue of their destination or port */
	TCA_BFC_STATS_JOINED,		/* u64 queues appended to another one */
	/* a device with a scheduler for each TX queue */
	TCA_BFC_STATS_TXQS,		/* u32 TX queues in use */
	TCA_BFC_STATS_TXQS_SENT,	/* u32 of these, those that have sent a packet of a flow */
	/* measured HRTT */
	TCA_BFC_STATS_HRTT_MEASURED,	/* u64 ns, HRTT by this port's own pauses, 0 = none yet */
	TCA_BFC_STATS_HRTT_SAMPLES,	/* u64 pauses of this port that were timed */
	/* assign root */
	TCA_BFC_STATS_LEARNED,		/* u64 times that a destination was found behind a root */
	/* pauses of queues, or of priorities, by the neighbour that have ended */
	TCA_BFC_STATS_PAUSED_NS,	/* u64 ns, sum of their times */
	TCA_BFC_STATS_PAUSE_TIMES,	/* nest of u64: these pauses by their time, see above */
	/* sample, incast */
	TCA_BFC_STATS_UNSAMPLED,	/* u64 packets left out of flow table and pause counters */
	TCA_BFC_STATS_LABELLED,		/* u64 packets with the incast label */
	/* sched srf */
	TCA_BFC_STATS_SIZED,		/* u64 packets with the remaining size of their flow */
	/* a link with a speed that the options do not fit */
	TCA_BFC_STATS_REFUSED_RATE,	/* u64 bytes/s of a link, if its thresholds were refused */
	/* traffic classes */
	TCA_BFC_STATS_CLASSES,		/* nest of a nest of TCA_BFC_TCLASS_* for each class */
	/* pauses of queues by the neighbour */
	TCA_BFC_STATS_QUEUE_PAUSED_NS,	/* u64 ns, sum of their times, of those that last as well */
	/* thresholds in effect */
	TCA_BFC_STATS_WATCHDOG,		/* u64 ns until a pause is a storm, 0 = never */
	/* a long cable in a shared buffer */
	TCA_BFC_STATS_BEYOND,		/* u32 bytes of the buffer, once the headroom is full */
	__TCA_BFC_STATS_MAX
};

#define TCA_BFC_STATS_MAX (__TCA_BFC_STATS_MAX - 1)

/* Of a priority; the nest of priority p has the type p + 1. */
enum {
	TCA_BFC_PRIO_STATS_UNSPEC,
	TCA_BFC_PRIO_STATS_PAD,
	TCA_BFC_PRIO_STATS_HELD,	/* u32 bytes queued of what came in here */
	TCA_BFC_PRIO_STATS_HEADROOM,	/* u32 bytes of these in the headroom */
	TCA_BFC_PRIO_STATS_PEAK,	/* u32 bytes held at most */
	TCA_BFC_PRIO_STATS_PAUSING,	/* u32 0 or 1: the peer's is paused now */
	TCA_BFC_PRIO_STATS_PAUSED,	/* u32 0 or 1: the local one is paused now */
	TCA_BFC_PRIO_STATS_PAUSE_TX,	/* u64 pauses that this port began */
	TCA_BFC_PRIO_STATS_PAUSING_NS,	/* u64 ns that it asked for in all */
	TCA_BFC_PRIO_STATS_PAUSE_RX,	/* u64 pauses of the local one */
	TCA_BFC_PRIO_STATS_PAUSED_NS,	/* u64 ns */
	__TCA_BFC_PRIO_STATS_MAX
};

#define TCA_BFC_PRIO_STATS_MAX (__TCA_BFC_PRIO_STATS_MAX - 1)

/* Of a traffic class; the nest of class c has the type c + 1. Sums over its queues, without
 * what these counted while they belonged to another class.
 */
enum {
	TCA_BFC_TCLASS_UNSPEC,
	TCA_BFC_TCLASS_PAD,
	TCA_BFC_TCLASS_QUEUES,		/* u32 its queues */
	TCA_BFC_TCLASS_OCCUPIED,	/* u32 of these, with packets */
	TCA_BFC_TCLASS_PAUSED,		/* u32 of these, paused by the neighbour */
	TCA_BFC_TCLASS_BACKLOG,		/* u32 bytes queued */
	TCA_BFC_TCLASS_QLEN,		/* u32 packets queued */
	TCA_BFC_TCLASS_BYTES,		/* u64 sent */
	TCA_BFC_TCLASS_PACKETS,		/* u64 sent */
	TCA_BFC_TCLASS_DROPS,		/* u32 packets, wraps */
	TCA_BFC_TCLASS_EXHAUSTED,	/* u64 new flows that found none of its queues empty */
	TCA_BFC_TCLASS_PAUSES,		/* u64 of its queues, by the neighbour */
	TCA_BFC_TCLASS_PAUSED_NS,	/* u64 ns, sum of their times */
	__TCA_BFC_TCLASS_MAX
};

#define TCA_BFC_TCLASS_MAX (__TCA_BFC_TCLASS_MAX - 1)

enum {
	BFC_PEER_STATE_OFF,		/* peer off, link down, or a mode without HELLO */
	BFC_PEER_STATE_SEARCHING,	/* HELLO sent, no answer yet */
	BFC_PEER_STATE_HEARD,		/* neighbour heard, no echo from it yet */
	BFC_PEER_STATE_UP,		/* agreed: stamping and pausing */
	BFC_PEER_STATE_CONFLICT,	/* two talkers on the link: off */
	BFC_PEER_STATE_REFUSED,		/* neighbour's layout cannot be served */
};

/* Why a neighbour's layout cannot be served: its packets are queued, but it is not paused. */
enum {
	BFC_REFUSED_NOT,	/* it is served */
	BFC_REFUSED_QUEUES,	/* more queues than a port can have */
	BFC_REFUSED_HANDLES,	/* the handles of the namespace are used up */
	BFC_REFUSED_MTU,	/* its PAUSE frames do not fit the MTU */
	BFC_REFUSED_MEMORY,
	BFC_REFUSED_WAIT,	/* old queues still hold packets, or it changes them too often */
};

/* Statistics of a class (queue q has the minor number q + 1), same nest. Their
 * numbers differ from the qdisc's: tc passes both nests to the same function.
 */
enum {
	TCA_BFC_CLASS_UNSPEC = 128,
	TCA_BFC_CLASS_PAD,
	TCA_BFC_CLASS_PAUSED,		/* u32 0 or 1: paused now */
	TCA_BFC_CLASS_PAUSES,		/* u64 */
	TCA_BFC_CLASS_PAUSED_NS,	/* u64 ns, a pause that still lasts included */
	TCA_BFC_CLASS_BACKLOG_PEAK,	/* u32 bytes */
	TCA_BFC_CLASS_DEFICIT,		/* s32 bytes */
	TCA_BFC_CLASS_ROOT,		/* u32 id of the port that it is paused for, 0: not known */
	TCA_BFC_CLASS_FROM,		/* u32 ifindex, where its oldest packet came in, or 0 */
	TCA_BFC_CLASS_DST,		/* binary, 4, 6 or 16: the address that it goes to */
	__TCA_BFC_CLASS_MAX
};

#define TCA_BFC_CLASS_MAX (__TCA_BFC_CLASS_MAX - 1)

/* End of statistics */

/* 3. On the wire: big-endian, destination 01-80-C2-00-00-0E (nearest bridge,
 * never forwarded), at least 60 bytes.
 */
#define BFC_ETHERTYPE		0x88B5	/* IEEE 802 local experimental 1 */
#define BFC_MAGIC		0x42464331U	/* "BFC1" */
#define BFC_VERSION		1

enum {
	BFC_FRAME_HELLO = 1,
	BFC_FRAME_PAUSE = 2,
};

/* HELLO flags */
#define BFC_HELLO_F_BYE		0x01	/* sender leaves: stop stamping now */
#define BFC_HELLO_F_OTHER	0x02	/* echo for a port that is not the sender's neighbour */
#define BFC_HELLO_F_UP		0x04	/* sender has heard the echo of its nonce */

/* HELLO modes understood, a bit mask */
#define BFC_MODE_BFC		0x00000001U	/* upstreamQ, pauses of queues */
#define BFC_MODE_PRIO		0x00000002U	/* pauses of priorities, in ns */

/* upstreamQ q travels as VLAN id q + 1; VLAN id 0 says "no upstreamQ" on a
 * frame that carries a tag of the same TPID itself.
 */
#define BFC_VID_NONE		0
#define BFC_VID(q)		((q) + 1)

#endif /* _UAPI_LINUX_PKT_SCH_BFC_H */
