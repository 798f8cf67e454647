/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small network for congestion controls that read INT: links in a row, each
 * with a queue, and flows that enter at one and leave at another. Packets are
 * acknowledged one by one, over a way back without queues. Discrete events, in
 * picoseconds; what an ACK brings is unwrapped, so that a test can wrap it where
 * it likes.
 */
#ifndef _INT_SIM_H
#define _INT_SIM_H

#include "unit.h"
#include "hpcc.h"

#define SIM_LINKS	BFC_INT_HOPS_MAX
#define SIM_FLOWS	64
#define SIM_NS		1000ULL		/* ps */

/**
 * struct sim_hop - what a link writes into a packet, in units of the wire
 * @ts: ns
 * @tx: BFC_INT_TX_UNIT
 * @qlen: BFC_INT_QLEN_UNIT
 * @speed: code
 */
struct sim_hop {
	u64 ts;
	u64 tx;
	u32 qlen;
	u32 speed;
};

/**
 * struct sim_ack - an ACK as its sender gets it
 * @now: ns
 * @seq: bytes acknowledged, all in all
 * @snd_nxt: bytes sent
 * @flow: its flow
 * @nhop: hops of the path
 * @path: pathID
 * @hop: their records
 */
struct sim_ack {
	u64 now;
	u64 seq;
	u64 snd_nxt;
	u32 flow;
	u32 nhop;
	u32 path;
	struct sim_hop hop[SIM_LINKS];
};

enum sim_what { SIM_SEND, SIM_ARRIVE, SIM_DEPART, SIM_ACK };

struct sim_packet {
	struct sim_packet *next;	/* in a queue */
	struct sim_ack ack;
	u32 link;
};

struct sim_event {
	u64 at;
	u64 order;	/* at the same time: the one that was made first */
	enum sim_what what;
	u32 index;
	struct sim_packet *packet;
};

/**
 * struct sim_link - a link and the queue before it
 * @k: speed, 10 Mbit/s
 * @backlog: bytes queued, with the one that is being sent
 * @tx: bytes sent
 * @peak: most bytes queued since it was last cleared
 */
struct sim_link {
	u32 k;
	u64 backlog;
	u64 tx;
	u64 peak;
	struct sim_packet *head, **tail;
};

/**
 * struct sim_flow - a flow, with as much to send as it may
 * @first: link where it enters
 * @last: link behind which its receiver is
 * @start: ns
 * @stop: ns
 * @window: bytes that may be in flight
 * @rate: pace, bytes/s
 * @sent: bytes
 * @acked: bytes
 * @ready: the pacer lets the next packet go, ps
 * @waits: for the pacer
 */
struct sim_flow {
	u32 first, last;
	u64 start, stop;
	u64 window;
	u64 rate;
	u64 sent, acked;
	u64 ready;
	bool waits;
};

/**
 * struct sim - the network
 * @links: number of links
 * @flows: number of flows
 * @packet: bytes of a packet
 * @delay: of a link, ps; the way back takes as long as the way there
 * @ack: called for each ACK; sets window and rate of the flow
 * @user: for it
 */
struct sim {
	u32 links, flows, packet;
	u64 delay;
	struct sim_link link[SIM_LINKS];
	struct sim_flow flow[SIM_FLOWS];
	void (*ack)(struct sim *sim, const struct sim_ack *ack);
	void *user;
	u64 now, order;
	struct sim_event *heap;
	size_t events, room;
};

/* An ACK as it comes from the wire: counters wrap. */
static inline struct hpcc_ack sim_wire(const struct sim_ack *a)
{
	struct hpcc_ack ack = {
		.now = a->now, .seq = a->seq, .snd_nxt = a->snd_nxt,
		.head = { .nhop = a->nhop, .path = a->path },
	};
	unsigned int i;

	for (i = 0; i < SIM_LINKS; i++) {
		ack.hop[i].ts = a->hop[i].ts & BFC_INT_TS_MASK;
		ack.hop[i].tx = a->hop[i].tx & BFC_INT_TX_MASK;
		ack.hop[i].qlen = a->hop[i].qlen;
		ack.hop[i].speed = a->hop[i].speed;
	}
	return ack;
}

static inline bool sim_before(const struct sim_event *a,
			      const struct sim_event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static inline void sim_push(struct sim *sim, u64 at, enum sim_what what,
			    u32 index, struct sim_packet *packet)
{
	struct sim_event e = {
		.at = at, .order = sim->order++, .what = what, .index = index,
		.packet = packet,
	};
	size_t i = sim->events++;

	if (sim->events > sim->room) {
		sim->room = 2 * sim->events;
		sim->heap = realloc(sim->heap, sim->room * sizeof(e));
		if (!sim->heap)
			abort();
	}
	for (; i && sim_before(&e, &sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim->heap[i] = sim->heap[(i - 1) / 2];
	sim->heap[i] = e;
}

static inline struct sim_event sim_pop(struct sim *sim)
{
	struct sim_event *h = sim->heap, first = h[0], e = h[--sim->events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < sim->events) {
		if (child + 1 < sim->events &&
		    sim_before(&h[child + 1], &h[child]))
			child++;
		if (!sim_before(&h[child], &e))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = e;
	return first;
}

static inline void sim_transmit(struct sim *sim, u32 number)
{
	u64 ps = (u64)sim->packet * 800 * SIM_NS / sim->link[number].k;

	sim_push(sim, sim->now + ps, SIM_DEPART, number, NULL);
}

static inline void sim_arrive(struct sim *sim, struct sim_packet *p)
{
	struct sim_link *l = &sim->link[p->link];

	p->next = NULL;
	*l->tail = p;
	l->tail = &p->next;
	l->backlog += sim->packet;
	if (l->backlog > l->peak)
		l->peak = l->backlog;
	if (l->head == p)
		sim_transmit(sim, p->link);
}

/* The record is that of the end of the transmission: all counters and the clock
 * are of the same moment, which is what the arithmetic relies on.
 */
static inline void sim_depart(struct sim *sim, u32 number)
{
	struct sim_link *l = &sim->link[number];
	struct sim_packet *p = l->head;
	const struct sim_flow *f = &sim->flow[p->ack.flow];
	struct sim_hop *hop = &p->ack.hop[p->ack.nhop++];

	l->head = p->next;
	if (!l->head)
		l->tail = &l->head;
	l->backlog -= sim->packet;
	l->tx += sim->packet;
	hop->ts = sim->now / SIM_NS;
	hop->tx = l->tx / BFC_INT_TX_UNIT;
	hop->qlen = l->backlog / BFC_INT_QLEN_UNIT;
	if (hop->qlen > BFC_INT_QLEN_MAX)
		hop->qlen = BFC_INT_QLEN_MAX;
	hop->speed = bfc_int_speed_code((u64)l->k * 1250000);
	p->ack.path ^= number + 1;
	if (l->head)
		sim_transmit(sim, number);
	if (p->link == f->last) {
		sim_push(sim, sim->now + sim->delay *
			 (2 + f->last - f->first), SIM_ACK, 0, p);
	} else {
		p->link++;
		sim_push(sim, sim->now + sim->delay, SIM_ARRIVE, 0, p);
	}
}

static inline void sim_send(struct sim *sim, u32 number)
{
	struct sim_flow *f = &sim->flow[number];
	struct sim_packet *p;

	while (sim->now < f->stop * SIM_NS &&
	       (f->sent == f->acked ||
		f->sent - f->acked + sim->packet <= f->window)) {
		if (f->ready > sim->now) {
			if (!f->waits)
				sim_push(sim, f->ready, SIM_SEND, number, NULL);
			f->waits = true;
			return;
		}
		p = calloc(1, sizeof(*p));
		if (!p)
			abort();
		f->sent += sim->packet;
		f->ready = sim->now +
			   (u64)sim->packet * 1000000000 / f->rate * SIM_NS;
		p->ack.flow = number;
		p->ack.seq = f->sent;
		p->link = f->first;
		sim_arrive(sim, p);
	}
}

static inline void sim_acked(struct sim *sim, struct sim_packet *p)
{
	struct sim_flow *f = &sim->flow[p->ack.flow];

	f->acked = p->ack.seq;
	p->ack.now = sim->now / SIM_NS;
	p->ack.snd_nxt = f->sent;
	sim->ack(sim, &p->ack);
	sim_send(sim, p->ack.flow);
	free(p);
}

/* Begin: links, flows and ack have been set. */
static inline void sim_start(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->links; i++)
		sim->link[i].tail = &sim->link[i].head;
	for (i = 0; i < sim->flows; i++)
		sim_push(sim, sim->flow[i].start * SIM_NS, SIM_SEND, i, NULL);
}

/* Until it is @ns. */
static inline void sim_run(struct sim *sim, u64 ns)
{
	while (sim->events && sim->heap[0].at <= ns * SIM_NS) {
		struct sim_event e = sim_pop(sim);

		sim->now = e.at;
		switch (e.what) {
		case SIM_SEND:
			sim->flow[e.index].waits = false;
			sim_send(sim, e.index);
			break;
		case SIM_ARRIVE:
			sim_arrive(sim, e.packet);
			break;
		case SIM_DEPART:
			sim_depart(sim, e.index);
			break;
		case SIM_ACK:
			sim_acked(sim, e.packet);
			break;
		}
	}
}

static inline void sim_end(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->events; i++)
		free(sim->heap[i].packet);
	for (i = 0; i < sim->links; i++) {
		while (sim->link[i].head) {
			struct sim_packet *p = sim->link[i].head;

			sim->link[i].head = p->next;
			free(p);
		}
	}
	free(sim->heap);
	memset(sim, 0, sizeof(*sim));
}

#endif /* _INT_SIM_H */
