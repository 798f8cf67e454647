/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC's sender by the paper's pseudocode (HPCC Alg. 1) in floating point, and how far
 * the one in whole numbers may be from it.
 */
#ifndef _HPCC_MODEL_H
#define _HPCC_MODEL_H

#include "unit.h"
#include "int_sim.h"

#define UNIT_U		(1.0 / HPCC_ONE)	/* of U */
#define UNIT_W		(1.0 / HPCC_BYTE)	/* of W, bytes */
#define NS_HALF		8388608			/* half of 2^24 ns */
#define TX_HALF		67108864		/* half of 2^20 x 128 bytes */

/**
 * struct model - Alg. 1's variables; seconds, bytes, and bytes/s
 * @have: L is there
 * @path: of L
 * @l: L
 * @torn: L is there since a count could not have got there
 * @last: when the ACK of L came, ns
 * @least: shortest tau so far, s: for the bound of U's error
 * @most: largest u' so far
 * @tie: two hops had the same u, as nearly as the sender can tell, but not the
 *	 same tau
 * @error: bound of the relative error of W^c
 */
struct model {
	double u, w, wc;
	unsigned int stage;
	u64 update_seq;
	bool have, torn;
	u32 path, nhop;
	struct sim_hop l[SIM_LINKS];
	u64 last;
	double least;
	double most;
	bool tie;
	double error;
};

/* The parameters as the model sees them. */
struct model_conf {
	double t, eta, wai, max, min;
	unsigned int max_stage;
	enum hpcc_react react;
	bool rx;
};

static struct model_conf model_conf(const struct hpcc_conf *c)
{
	return (struct model_conf){
		.t = c->t / 1e9, .eta = (double)c->eta / HPCC_ONE,
		.wai = c->w_ai * UNIT_W, .max = c->w_max * UNIT_W,
		.min = c->w_min * UNIT_W, .max_stage = c->max_stage,
		.react = c->react, .rx = c->rx,
	};
}

static double speed(const struct sim_hop *h)
{
	return bfc_int_speed_rate(h->speed);
}

static double min(double a, double b)
{
	return a < b ? a : b;
}

static double max(double a, double b)
{
	return a > b ? a : b;
}

/* Lines 1 to 10. Return: whether there was anything to measure. */
static bool measure_inflight(struct model *m, const struct model_conf *c,
			     const struct sim_ack *ack)
{
	double u = 0, tau = 0;
	unsigned int i;

	m->tie = false;
	for (i = 0; i < ack->nhop; i++) {
		const struct sim_hop *a = &ack->hop[i], *l = &m->l[i];
		double rate, up, dt = (double)a->ts - (double)l->ts;

		if (dt < 0)
			return false;
		if (dt == 0)
			continue;
		rate = ((double)a->tx - l->tx) * 128;
		if (c->rx)
			rate = max(rate + ((double)a->qlen - l->qlen) * 80, 0);
		rate /= dt / 1e9;
		up = min(a->qlen, l->qlen) * 80 / (speed(a) * c->t) +
		     rate / speed(a);
		m->most = max(m->most, up);
		if (tau != 0 && tau != dt / 1e9 &&
		    max(up - u, u - up) <= 2 * UNIT_U + u / 1e14)
			m->tie = true;
		else if (up > u)
			m->tie = false;
		if (up > u || tau == 0) {
			u = up;
			tau = dt / 1e9;
		}
	}
	if (tau == 0)
		return false;
	tau = min(tau, c->t);
	m->least = min(m->least, tau);
	m->u = (1 - tau / c->t) * m->u + tau / c->t * u;
	return true;
}

/* Lines 11 to 20 */
static double compute_wind(struct model *m, const struct model_conf *c,
			   bool update)
{
	double w;

	if (m->u >= c->eta || m->stage >= c->max_stage) {
		w = m->wc / (m->u / c->eta) + c->wai;
		w = max(min(w, c->max), c->min);
		if (update) {
			m->stage = 0;
			m->wc = w;
		}
	} else {
		w = m->wc + c->wai;
		w = max(min(w, c->max), c->min);
		if (update) {
			m->stage++;
			m->wc = w;
		}
	}
	return w;
}

static void store(struct model *m, const struct sim_ack *ack)
{
	memcpy(m->l, ack->hop, sizeof(m->l));
	m->path = ack->path;
	m->nhop = ack->nhop;
	m->have = true;
	m->torn = false;
	m->last = ack->now;
}

static enum hpcc_result begin(struct model *m, const struct sim_ack *ack)
{
	store(m, ack);
	m->u = 1;
	m->stage = 0;
	m->update_seq = ack->snd_nxt;
	return HPCC_BEGUN;
}

static bool moved(const struct model *m, const struct sim_ack *ack)
{
	unsigned int i;

	if (!m->have || m->path != ack->path || m->nhop != ack->nhop)
		return true;
	for (i = 0; i < ack->nhop; i++)
		if (m->l[i].speed != ack->hop[i].speed)
			return true;
	return false;
}

static bool stale(const struct model *m, const struct sim_ack *ack)
{
	double passed = ack->now - m->last;
	unsigned int i;

	if (passed >= NS_HALF)
		return true;
	for (i = 0; i < ack->nhop; i++)
		if (passed / 1e9 * speed(&ack->hop[i]) >= TX_HALF)
			return true;
	return false;
}

/* A port has counted more than 1 MB and eight times its speed. */
static bool torn(const struct model *m, const struct sim_ack *ack)
{
	unsigned int i;

	for (i = 0; i < ack->nhop; i++) {
		const struct sim_hop *a = &ack->hop[i], *l = &m->l[i];
		double dt = (double)a->ts - (double)l->ts;
		double sent = ((double)a->tx - (double)l->tx) * 128;

		if (dt >= 0 && (sent < 0 || sent > 8 * speed(a) * dt / 1e9 + 1048576))
			return true;
	}
	return false;
}

/* After a silence: full links had a queue before and have one now. */
static void resume(struct model *m, const struct model_conf *c,
		   const struct sim_ack *ack)
{
	unsigned int i;
	double u = 0;

	for (i = 0; i < ack->nhop; i++) {
		const struct sim_hop *a = &ack->hop[i];
		double q = min(a->qlen, m->l[i].qlen) * 80;

		if (q > 0)
			u = max(u, 1 + q / (speed(a) * c->t));
	}
	m->wc = (u > 0 ? m->wc / (u / c->eta) : m->wc) + c->wai;
	m->wc = max(min(m->wc, c->max), c->min);
	m->w = m->wc;
}

/* Lines 21 to 27, with §4.1's change of path, and the restart after a silence or where a count
 * has begun anew.
 */
static enum hpcc_result new_ack(struct model *m, const struct model_conf *c,
				const struct sim_ack *ack)
{
	bool update;

	if (!ack->nhop)
		return HPCC_VOID;
	if (moved(m, ack) || stale(m, ack)) {
		if (!moved(m, ack))
			resume(m, c, ack);
		return begin(m, ack);
	}
	if (!m->torn && torn(m, ack)) {
		begin(m, ack);
		m->torn = true;
		return HPCC_BEGUN;
	}
	update = c->react == HPCC_PER_ACK || ack->seq > m->update_seq;
	if (c->react == HPCC_PER_RTT && !update)
		return HPCC_VOID;
	if (!measure_inflight(m, c, ack))
		return HPCC_VOID;
	m->w = compute_wind(m, c, update);
	store(m, ack);
	if (update)
		m->update_seq = ack->snd_nxt;
	return update ? HPCC_TURNED : HPCC_STAYED;
}

static void model_init(struct model *m, const struct hpcc_conf *c)
{
	memset(m, 0, sizeof(*m));
	m->u = 1;
	m->w = c->w_init * UNIT_W;
	m->wc = m->w;
	m->least = c->t / 1e9;
}

/* Bound of U's error, in units of it: what the header says. */
static double u_bound(const struct model *m, const struct hpcc_conf *c)
{
	return (2 + c->t / 1e9 / m->least) * UNIT_U;
}

/* The model goes on from where the sender is. */
static void model_follow(struct model *m, const struct hpcc *s)
{
	m->u = s->u * UNIT_U;
	m->w = s->w * UNIT_W;
	m->wc = s->wc * UNIT_W;
	m->stage = s->stage;
	m->error = 0;
}

/**
 * struct replay - what a comparison found
 * @acks: compared
 * @ties: U so near to eta, or two hops so near to each other, that rounding
 *	  decides: the model then follows
 * @error: largest relative error of W
 */
struct replay {
	u32 acks, ties, turned;
	double error;
};

/*
 * Give the same ACKs to the sender and to the model, which runs by itself. Its W
 * may differ by what U's error makes of it: each time that W^c is multiplied, the
 * relative error grows by at most that of U, and a unit of W.
 */
static bool compare(const struct sim_ack *acks, u32 n, u32 flow,
		    const struct hpcc_conf *c, struct replay *r)
{
	struct model_conf mc = model_conf(c);
	struct model m;
	struct hpcc s;
	u32 i;

	model_init(&m, c);
	hpcc_init(&s, c);
	for (i = 0; i < n; i++) {
		struct hpcc_ack ack = sim_wire(&acks[i]);
		double eu, error, far;
		enum hpcc_result got, want;
		u64 was;

		if (acks[i].flow != flow)
			continue;
		was = s.stage;
		want = new_ack(&m, &mc, &acks[i]);
		got = hpcc_new_ack(&s, c, &ack);
		if (!CHECK(got == want, "ACK %u of flow %u: %d, not %d", i,
			   flow, got, want))
			return false;
		eu = u_bound(&m, c);
		if (m.tie && got != HPCC_VOID && got != HPCC_BEGUN) {
			r->ties++;
			r->acks++;
			model_follow(&m, &s);
			continue;
		}
		far = s.u * UNIT_U - m.u;
		if (!CHECK(far <= eu && -far <= eu, "ACK %u of flow %u: U %.9f, not %.9f (%.9f)",
			   i, flow, s.u * UNIT_U, m.u, eu))
			return false;
		if (want == HPCC_VOID)
			continue;
		if (want == HPCC_BEGUN) {
			m.error += 3 * UNIT_U + 2 * UNIT_W / m.wc;
			far = (s.wc * UNIT_W - m.wc) / m.wc;
			if (!CHECK(far <= m.error && -far <= m.error, "ACK %u of flow %u: W^c %.3f, not %.3f",
				   i, flow, s.wc * UNIT_W, m.wc))
				return false;
			continue;
		}
		r->acks++;
		r->turned += want == HPCC_TURNED;
		if (m.u - mc.eta <= eu && mc.eta - m.u <= eu) {
			r->ties++;
			model_follow(&m, &s);
			continue;
		}
		error = m.error + 2 * UNIT_W / m.w;
		if (m.u > mc.eta || was >= mc.max_stage)
			error += eu / max(m.u - eu, UNIT_U);
		if (want == HPCC_TURNED)
			m.error = error;
		far = (s.w * UNIT_W - m.w) / m.w;
		if (!CHECK(far <= error && -far <= error, "ACK %u of flow %u: W %.3f, not %.3f (%.2e)",
			   i, flow, s.w * UNIT_W, m.w, error) ||
		    !CHECK(s.stage == m.stage, "ACK %u of flow %u: stage %u, not %u",
			   i, flow, s.stage, m.stage))
			return false;
		r->error = max(r->error, max(far, -far));
	}
	return true;
}

#endif /* _HPCC_MODEL_H */
