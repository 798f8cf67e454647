/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bfc

#if !defined(_BFC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _BFC_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

TRACE_EVENT(bfc_assign,
	TP_PROTO(const struct net_device *dev, u32 flow, u32 queue,
		 bool collision, u32 occupied),
	TP_ARGS(dev, flow, queue, collision, occupied),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, flow)
		__field(u32, queue)
		__field(bool, collision)
		__field(u32, occupied)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->flow = flow;
		__entry->queue = queue;
		__entry->collision = collision;
		__entry->occupied = occupied;
	),
	TP_printk("ifindex=%d flow=%u queue=%u collision=%d occupied=%u",
		  __entry->ifindex, __entry->flow, __entry->queue,
		  __entry->collision, __entry->occupied)
);

/* A PAUSE or PFC frame is built; latency_ns: since the first change that it reports. */
TRACE_EVENT(bfc_pause_tx,
	TP_PROTO(const struct net_device *dev, u32 seq, u32 paused, u32 changed,
		 u64 latency_ns),
	TP_ARGS(dev, seq, paused, changed, latency_ns),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, seq)
		__field(u32, paused)
		__field(u32, changed)
		__field(u64, latency_ns)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->seq = seq;
		__entry->paused = paused;
		__entry->changed = changed;
		__entry->latency_ns = latency_ns;
	),
	TP_printk("ifindex=%d seq=%u paused=%u changed=%u latency_ns=%llu",
		  __entry->ifindex, __entry->seq, __entry->paused,
		  __entry->changed, __entry->latency_ns)
);

TRACE_EVENT(bfc_pause_rx,
	TP_PROTO(const struct net_device *dev, u32 seq, u32 paused),
	TP_ARGS(dev, seq, paused),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, seq)
		__field(u32, paused)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->seq = seq;
		__entry->paused = paused;
	),
	TP_printk("ifindex=%d seq=%u paused=%u",
		  __entry->ifindex, __entry->seq, __entry->paused)
);

/* The scheduler pauses or resumes a local queue. */
DECLARE_EVENT_CLASS(bfc_queue_state,
	TP_PROTO(const struct net_device *dev, u32 queue, u32 backlog),
	TP_ARGS(dev, queue, backlog),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, queue)
		__field(u32, backlog)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->queue = queue;
		__entry->backlog = backlog;
	),
	TP_printk("ifindex=%d queue=%u backlog=%u",
		  __entry->ifindex, __entry->queue, __entry->backlog)
);

DEFINE_EVENT(bfc_queue_state, bfc_paused,
	TP_PROTO(const struct net_device *dev, u32 queue, u32 backlog),
	TP_ARGS(dev, queue, backlog)
);

DEFINE_EVENT(bfc_queue_state, bfc_resumed,
	TP_PROTO(const struct net_device *dev, u32 queue, u32 backlog),
	TP_ARGS(dev, queue, backlog)
);

/* State of the neighbour: BFC_PEER_STATE_*. */
TRACE_EVENT(bfc_peer,
	TP_PROTO(const struct net_device *dev, u32 state, u32 queues, bool stamp,
		 bool pop),
	TP_ARGS(dev, state, queues, stamp, pop),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, state)
		__field(u32, queues)
		__field(bool, stamp)
		__field(bool, pop)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->state = state;
		__entry->queues = queues;
		__entry->stamp = stamp;
		__entry->pop = pop;
	),
	TP_printk("ifindex=%d state=%u queues=%u stamp=%d pop=%d",
		  __entry->ifindex, __entry->state, __entry->queues,
		  __entry->stamp, __entry->pop)
);

/* The neighbour's pauses are taken for a storm, or obeyed again. */
TRACE_EVENT(bfc_storm,
	TP_PROTO(const struct net_device *dev, u32 prio, bool storm, u64 holdoff),
	TP_ARGS(dev, prio, storm, holdoff),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, prio)
		__field(bool, storm)
		__field(u64, holdoff)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->prio = prio;
		__entry->storm = storm;
		__entry->holdoff = holdoff;
	),
	TP_printk("ifindex=%d prio=%u storm=%d holdoff=%llu",
		  __entry->ifindex, __entry->prio, __entry->storm,
		  __entry->holdoff)
);

/* FAFC allocated pause times; left: bytes that no pause can keep away. */
TRACE_EVENT(bfc_fafc_solve,
	TP_PROTO(const struct net_device *dev, u32 prio, u32 ports, s64 predicted,
		 u64 left),
	TP_ARGS(dev, prio, ports, predicted, left),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, prio)
		__field(u32, ports)
		__field(s64, predicted)
		__field(u64, left)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->prio = prio;
		__entry->ports = ports;
		__entry->predicted = predicted;
		__entry->left = left;
	),
	TP_printk("ifindex=%d prio=%u ports=%u predicted=%lld left=%llu",
		  __entry->ifindex, __entry->prio, __entry->ports,
		  __entry->predicted, __entry->left)
);

#endif /* _BFC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE bfc_trace
#include <trace/define_trace.h>
