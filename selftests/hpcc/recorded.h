/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ACKs with INT as a front end of HPCC got them from real packets, with the windows
 * that it made of them. "replay trace" records them; the unit tests and "replay bpf"
 * go through them again. A file is text, numbers are decimal:
 *
 *   net W_INIT W_MAX W_MIN W_AI ETA T MAX_STAGE REACT RX HEADERS
 *   ack ID PACKET NOW SEQ SND_NXT PATH NHOP [SPEED TS TX QLEN]... \
 *	 RESULT W WC U RATE PACKETS
 *
 * that is struct hpcc_net, and then one struct hpcc_trace a line. There may be a
 * comment before, a line with a #.
 */
#ifndef BFC_HPCC_RECORDED_H
#define BFC_HPCC_RECORDED_H

#include <stdio.h>
#include <stdlib.h>
#include "hpcc_sk.h"

#define RECORDED_FLOWS	64

/**
 * struct recorded - a file
 * @net: parameters of the senders
 * @acks: what they got and did, in this order; of recorded_free()
 * @n: how many
 */
struct recorded {
	struct hpcc_net net;
	struct hpcc_trace *acks;
	u32 n;
};

static inline void recorded_write_net(FILE *f, const struct hpcc_net *net)
{
	const struct hpcc_conf *c = &net->conf;

	fprintf(f, "net %llu %llu %llu %llu %u %u %u %u %u %u\n", c->w_init,
		c->w_max, c->w_min, c->w_ai, c->eta, c->t, c->max_stage,
		c->react, c->rx, net->headers);
}

static inline void recorded_write(FILE *f, const struct hpcc_trace *t)
{
	const struct hpcc_ack *a = &t->ack;
	u32 i;

	fprintf(f, "ack %u %u %llu %u %u %u %u", t->id, t->packet, a->now,
		a->seq, a->snd_nxt, a->head.path, a->head.nhop);
	for (i = 0; i < a->head.nhop; i++)
		fprintf(f, " %u %u %u %u", a->hop[i].speed, a->hop[i].ts,
			a->hop[i].tx, a->hop[i].qlen);
	fprintf(f, " %u %llu %llu %llu %llu %u\n", t->result, t->w, t->wc, t->u,
		t->rate, t->packets);
}

static inline bool recorded_read_net(FILE *f, struct hpcc_net *net)
{
	struct hpcc_conf *c = &net->conf;

	if (fscanf(f, "#%*[^\n] ") == EOF)
		return false;
	return fscanf(f, "net %llu %llu %llu %llu %u %u %u %hhu %hhu %u ",
		      &c->w_init, &c->w_max, &c->w_min, &c->w_ai, &c->eta,
		      &c->t, &c->max_stage, &c->react, &c->rx,
		      &net->headers) == 10;
}

static inline bool recorded_read_ack(FILE *f, struct hpcc_trace *t)
{
	struct hpcc_ack *a = &t->ack;
	u32 i;

	if (fscanf(f, "ack %u %u %llu %u %u %u %u", &t->id, &t->packet, &a->now,
		   &a->seq, &a->snd_nxt, &a->head.path, &a->head.nhop) != 7 ||
	    a->head.nhop > BFC_INT_HOPS_MAX)
		return false;
	for (i = 0; i < a->head.nhop; i++)
		if (fscanf(f, "%u %u %u %u", &a->hop[i].speed, &a->hop[i].ts,
			   &a->hop[i].tx, &a->hop[i].qlen) != 4)
			return false;
	return fscanf(f, "%u %llu %llu %llu %llu %u ", &t->result, &t->w, &t->wc,
		      &t->u, &t->rate, &t->packets) == 6;
}

/* Return: whether the file is there and says nothing else. */
static inline bool recorded_read(const char *path, struct recorded *r)
{
	FILE *f = fopen(path, "r");
	bool good;
	u32 room = 0;

	*r = (struct recorded){};
	if (!f)
		return false;
	good = recorded_read_net(f, &r->net);
	while (good && !feof(f)) {
		if (r->n == room) {
			room = 2 * room + 256;
			r->acks = realloc(r->acks, room * sizeof(*r->acks));
			if (!r->acks)
				abort();
		}
		r->acks[r->n] = (struct hpcc_trace){};
		good = recorded_read_ack(f, &r->acks[r->n]);
		r->n += good;
	}
	fclose(f);
	return good;
}

static inline void recorded_free(struct recorded *r)
{
	free(r->acks);
}

/**
 * struct recorded_senders - those whose ACKs are gone through
 * @id: &hpcc_trace.id
 * @hs: their states
 * @n: how many there are
 */
struct recorded_senders {
	u32 id[RECORDED_FLOWS];
	struct hpcc_sk hs[RECORDED_FLOWS];
	u32 n;
};

/* MSS of the connection: what it has without INT. */
static inline u32 recorded_mss(const struct hpcc_net *net,
			       const struct hpcc_trace *t)
{
	return t->packet - net->headers;
}

/* Return: whose ACK that is; a new one has just begun. RECORDED_FLOWS: one too many. */
static inline u32 recorded_sender(struct recorded_senders *s,
				  const struct hpcc_net *net,
				  const struct hpcc_trace *t)
{
	u32 i;

	for (i = 0; i < s->n && s->id[i] != t->id; i++)
		;
	if (i == s->n && i < RECORDED_FLOWS) {
		s->id[s->n++] = t->id;
		hpcc_sk_init(&s->hs[i], net, recorded_mss(net, t));
	}
	return i;
}

/* Return: whether the sender came to the same as the one that was recorded. */
static inline bool recorded_same(const struct hpcc_trace *t,
				 const struct hpcc_sk *hs, u32 result)
{
	return result == t->result && hs->s.w == t->w && hs->s.wc == t->wc &&
	       hs->s.u == t->u && hs->rate == t->rate &&
	       hs->packets == t->packets;
}

#endif /* BFC_HPCC_RECORDED_H */
