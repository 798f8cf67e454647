// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC's sender against the paper's pseudocode (HPCC Alg. 1) in floating point, on
 * random INT, on INT recorded from a simulated network, and on INT that the front ends
 * have recorded from real packets; and in the simulated network, whether it does what
 * the paper says of it.
 *
 * Not for the kernel, which has no floating point.
 */
#include "unit.h"
#include "int_sim.h"
#include "hpcc_model.h"
#include "recorded.h"

static const u32 speeds[] = {	/* codes */
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
};

static struct hpcc_conf any_conf(u64 *seed)
{
	u64 random = unit_random(seed);
	struct hpcc_conf c;

	hpcc_configure(&c, bfc_int_speed_rate(speeds[random % 15]),
		       HPCC_T_MIN + (random >> 8) % (random & 128 ? 50000 :
						     HPCC_T_MAX - HPCC_T_MIN + 1),
		       900 + (random >> 32) % 101, 1 + (random >> 40) % 200);
	c.max_stage = (random >> 48) % 8;
	c.react = (random >> 52) % 3;
	c.rx = (random >> 54) % 2;
	if (c.w_max < HPCC_BYTE)
		c.w_max = HPCC_BYTE;
	if (c.w_init < HPCC_BYTE)
		c.w_init = HPCC_BYTE;
	return c;
}

/*
 * One step from any state: U is short by two units at most, then the average's
 * rounding; W by a unit, and by what U's error makes of it.
 */
static void test_step(void)
{
	u64 seed = 21;
	u32 i, k, ties = 0, cut = 0;

	for (i = 0; i < 300000; i++) {
		struct hpcc_conf c = any_conf(&seed);
		struct model_conf mc = model_conf(&c);
		u64 random = unit_random(&seed);
		struct sim_ack a = {
			.nhop = 1 + random % SIM_LINKS, .path = 7,
			.now = 1ULL << 40, .seq = 5000, .snd_nxt = 9000,
		}, b;
		struct hpcc_ack ack;
		struct model m;
		struct hpcc s;
		double eu, far, error;
		bool multiplied;

		b = a;
		for (k = 0; k < a.nhop; k++) {
			struct sim_hop *from = &a.hop[k], *to = &b.hop[k];
			u64 dt, wire;

			random = unit_random(&seed);
			from->ts = random >> 20;
			from->tx = random >> 30;
			from->qlen = random % 4 ? random >> 8 & 0xfff : 0;
			from->speed = speeds[(random >> 4) % 15];
			random = unit_random(&seed);
			dt = 1 + (random & 1 ? (random >> 8) % 50000 :
				  (random >> 8) % 600000);
			wire = speed(from) * dt / 1e9 / 128;
			to->ts = from->ts + dt;
			to->tx = from->tx + (random >> 32) % (2 * wire + 2);
			to->qlen = random & 2 ? (random >> 40) & 0xffff : 0;
			to->speed = from->speed;
		}
		b.now += 1000;
		model_init(&m, &c);
		hpcc_init(&s, &c);
		ack = sim_wire(&a);
		CHECK(hpcc_new_ack(&s, &c, &ack) == HPCC_BEGUN);
		new_ack(&m, &mc, &a);
		random = unit_random(&seed);
		s.u = random >> (25 + (random & 31)) | 1;
		s.wc = c.w_min + (random >> 8) % (c.w_max - c.w_min + 1);
		s.stage = random % 9;
		s.update_seq = random & 16 ? 4999 : 5000;
		m.u = s.u * UNIT_U;
		m.wc = s.wc * UNIT_W;
		m.stage = s.stage;
		m.update_seq = s.update_seq;
		multiplied = s.stage >= c.max_stage;

		ack = sim_wire(&b);
		far = hpcc_new_ack(&s, &c, &ack);
		if (!CHECK(far == new_ack(&m, &mc, &b), "step %u", i))
			return;
		if (far != HPCC_STAYED && far != HPCC_TURNED)
			continue;
		/* what is more is cut: test_hpcc.c */
		if (m.most > (double)HPCC_U_MAX * UNIT_U) {
			cut++;
			continue;
		}
		if (m.tie) {
			ties++;
			continue;
		}
		eu = 3 * UNIT_U + m.u / 1e14;
		far = s.u * UNIT_U - m.u;
		if (!CHECK(far <= eu && -far <= eu, "step %u: U %.9f, not %.9f",
			   i, s.u * UNIT_U, m.u))
			return;
		if (m.u - mc.eta <= eu && mc.eta - m.u <= eu) {
			ties++;
			continue;
		}
		multiplied |= m.u > mc.eta;
		error = 2 * UNIT_W + m.w / 1e12;
		if (multiplied)
			error += m.w * eu / max(m.u - eu, UNIT_U);
		far = s.w * UNIT_W - m.w;
		if (!CHECK(far <= error && -far <= error, "step %u: W %.4f, not %.4f (U %.9f)",
			   i, s.w * UNIT_W, m.w, m.u) ||
		    !CHECK(s.stage == m.stage))
			return;
		far = hpcc_rate(&s, &c) - s.w * UNIT_W / mc.t;
		CHECK(far <= 1 && far >= -1 - s.w / 1e6, "step %u: R", i);
	}
	CHECK(ties < 3000 && cut < 30000, "%u ties, %u cut", ties, cut);
}

/* Senders of the simulated network, and the recording of what they got. */
struct world {
	struct hpcc_conf conf;
	struct hpcc sender[SIM_FLOWS];
	struct sim_ack *acks;
	u32 n, room;
};

static void on_ack(struct sim *sim, const struct sim_ack *a)
{
	struct hpcc_ack ack = sim_wire(a);
	struct sim_flow *f = &sim->flow[a->flow];
	struct world *w = sim->user;
	struct hpcc *s = &w->sender[a->flow];

	hpcc_new_ack(s, &w->conf, &ack);
	f->window = (u64)hpcc_packets(s, sim->packet) * sim->packet;
	f->rate = hpcc_rate(s, &w->conf);
	if (w->n == w->room) {
		w->room = 2 * w->room + 1024;
		w->acks = realloc(w->acks, w->room * sizeof(*w->acks));
		if (!w->acks)
			abort();
	}
	w->acks[w->n++] = *a;
}

/* Links of 100 Gbit/s, 4 us there and back (§5.4), and T just above that. */
static void world_init(struct sim *sim, struct world *w, u32 links, u32 flows)
{
	u32 i;

	memset(sim, 0, sizeof(*sim));
	memset(w, 0, sizeof(*w));
	sim->links = links;
	sim->flows = flows;
	sim->packet = 1000;
	sim->delay = 2000 * SIM_NS;
	sim->ack = on_ack;
	sim->user = w;
	hpcc_configure(&w->conf, 12500000000ULL, links * 4080 + 120,
		       HPCC_ETA_DEFAULT, HPCC_FLOWS_DEFAULT);
	for (i = 0; i < links; i++)
		sim->link[i].k = 10000;
	for (i = 0; i < flows; i++) {
		sim->flow[i].last = links - 1;
		sim->flow[i].stop = ~0ULL / SIM_NS;
	}
}

static void world_start(struct sim *sim, struct world *w)
{
	u32 i;

	for (i = 0; i < sim->flows; i++) {
		hpcc_init(&w->sender[i], &w->conf);
		sim->flow[i].window = w->conf.w_init >> HPCC_W_SHIFT;
		sim->flow[i].rate = hpcc_rate(&w->sender[i], &w->conf);
	}
	sim_start(sim);
}

static void world_end(struct sim *sim, struct world *w)
{
	sim_end(sim);
	free(w->acks);
}

/* Eight flows over up to five links of different speeds, some only over a part. */
static void record(struct sim *sim, struct world *w, u32 links, u64 ns)
{
	static const u32 k[] = { 10000, 4000, 10000, 2500, 40000 };
	u32 i;

	world_init(sim, w, links, 8);
	for (i = 0; i < links; i++)
		sim->link[i].k = k[i];
	for (i = 0; i < sim->flows; i++) {
		struct sim_flow *f = &sim->flow[i];

		f->start = i * 20000;
		f->first = i % 3 == 2 ? links / 2 : 0;
		f->last = i % 4 == 3 ? links / 2 : links - 1;
		if (i & 1)
			f->stop = ns / 2;
	}
	world_start(sim, w);
	sim_run(sim, ns);
}

static void replay_all(const struct world *w, u32 flows, const char *what)
{
	u32 mode, flow;

	for (mode = 0; mode < 6; mode++) {
		struct hpcc_conf c = w->conf;
		struct replay r = {};

		c.react = mode % 3;
		c.rx = mode / 3;
		for (flow = 0; flow < flows; flow++)
			if (!compare(w->acks, w->n, flow, &c, &r))
				return;
		CHECK(r.acks > 10 && r.turned > 10, "%s, mode %u: %u of %u",
		      what, mode, r.turned, r.acks);
		CHECK(r.ties * 100 < r.acks, "%s, mode %u: %u ties", what,
		      mode, r.ties);
		CHECK(r.error < 0.01, "%s, mode %u: error %.2e", what, mode,
		      r.error);
	}
}

static void test_simulated(void)
{
	struct world w;
	struct sim sim;
	u32 links;

	for (links = 1; links <= SIM_LINKS; links++) {
		record(&sim, &w, links, 1500000);
		replay_all(&w, sim.flows, "simulated");
		world_end(&sim, &w);
	}
}

/* @wire, whose upper bits are gone, next to @near. */
static u64 unwrap(u64 near, u32 wire, u32 bits)
{
	u32 ahead = (wire - (u32)near) << (32 - bits);

	return near + ((s32)ahead >> (32 - bits));
}

/* As the model wants it; @last: the one before, of this flow. */
static struct sim_ack unwrapped(const struct sim_ack *last,
				const struct hpcc_ack *ack, u32 flow)
{
	struct sim_ack a = {
		.now = ack->now, .flow = flow,
		.seq = unwrap(last->seq, ack->seq, 32),
		.snd_nxt = unwrap(last->seq, ack->snd_nxt, 32),
		.nhop = ack->head.nhop, .path = ack->head.path,
	};
	u32 i;

	for (i = 0; i < SIM_LINKS; i++)
		a.hop[i] = (struct sim_hop){
			.ts = unwrap(last->hop[i].ts, ack->hop[i].ts, 24),
			.tx = unwrap(last->hop[i].tx, ack->hop[i].tx, 20),
			.qlen = ack->hop[i].qlen, .speed = ack->hop[i].speed,
		};
	return a;
}

/* What a front end got and did: the windows are those of the same arithmetic here, and
 * the model agrees.
 */
static void recorded(const char *path)
{
	struct sim_ack last[RECORDED_FLOWS] = {};
	struct recorded_senders senders = {};
	struct world w = {};
	struct recorded r;
	u32 i, k;
	bool good;

	good = recorded_read(path, &r);
	if (!CHECK(good, "%s: after %u ACKs", path, r.n)) {
		recorded_free(&r);
		return;
	}
	/* far from zero, that nothing goes below */
	for (i = 0; i < RECORDED_FLOWS; i++) {
		last[i].seq = 1ULL << 40;
		for (k = 0; k < SIM_LINKS; k++) {
			last[i].hop[k].ts = 1ULL << 40;
			last[i].hop[k].tx = 1ULL << 40;
		}
	}
	w.conf = r.net.conf;
	w.acks = calloc(r.n, sizeof(*w.acks));
	if (!w.acks)
		abort();
	for (; w.n < r.n; w.n++) {
		const struct hpcc_trace *t = &r.acks[w.n];
		struct hpcc_sk *hs;
		u32 result;

		i = recorded_sender(&senders, &r.net, t);
		if (!CHECK(i < RECORDED_FLOWS))
			break;
		last[i] = unwrapped(&last[i], &t->ack, i);
		w.acks[w.n] = last[i];
		hs = &senders.hs[i];
		result = hpcc_sk_new_ack(hs, &r.net, &t->ack,
					 recorded_mss(&r.net, t));
		if (!CHECK(recorded_same(t, hs, result), "%s: ACK %u", path, w.n))
			break;
	}
	CHECK(r.net.conf.react == HPCC_BOTH && !r.net.conf.rx);
	CHECK(senders.n > 1 && r.n > 300, "%s: %u senders, %u ACKs", path,
	      senders.n, r.n);
	replay_all(&w, senders.n, path);
	free(w.acks);
	recorded_free(&r);
}

static void test_struct_ops(void)
{
	recorded(RECORDED "/struct_ops.int");
}

static void test_sockops(void)
{
	recorded(RECORDED "/sockops.int");
}

/* Both counters of all hops pass zero several times. */
static void test_wraps(void)
{
	struct world w;
	struct sim sim;
	u32 i, k;

	record(&sim, &w, 3, 400000);
	for (i = 0; i < w.n; i++) {
		for (k = 0; k < SIM_LINKS; k++) {
			struct sim_hop *h = &w.acks[i].hop[k];

			h->ts += (k + 1) * 0x1000000ULL - 150000 * (k + 1);
			h->tx += (k + 3) * 0x100000ULL - 4000 * (k + 1);
		}
	}
	replay_all(&w, sim.flows, "wraps");
	world_end(&sim, &w);
}

/* Reordered, doubled and lost ACKs; ACKs whose INT has been lost. */
static void test_disorder(void)
{
	struct sim_ack last = {};
	struct world w;
	struct sim sim;
	u64 seed = 22;
	u32 i, n = 0;

	record(&sim, &w, 4, 600000);
	for (i = 0; i < w.n; i++) {
		u64 random = unit_random(&seed);
		struct sim_ack a = w.acks[i];

		if (!(random & 31))
			continue;
		if (!(random >> 5 & 31))
			a.nhop = 0;
		if (!(random >> 10 & 15) && i + 1 < w.n) {
			a = w.acks[i + 1];
			w.acks[i + 1] = w.acks[i];
		}
		/* in the place of one that was lost */
		if (!(random >> 15 & 31) && last.now)
			a = last;
		last = a;
		w.acks[n++] = a;
	}
	/* time does not go back, also for those that were moved */
	for (i = 1; i < n; i++)
		if (w.acks[i].now < w.acks[i - 1].now)
			w.acks[i].now = w.acks[i - 1].now;
	w.n = n;
	replay_all(&w, sim.flows, "disorder");
	world_end(&sim, &w);
}

/* Another path every now and then, with a hop more or less and other counters; the same one
 * whose last port begins to count anew; and silences around half a wrap of either counter.
 */
static void test_path(void)
{
	u64 passed = 0, extra = 0, jumped = 0, seed = 23;
	struct world w;
	struct sim sim;
	u32 i, k;

	record(&sim, &w, 4, 900000);
	for (i = 0; i < w.n; i++) {
		struct sim_ack *a = &w.acks[i];

		if (i / 300 % 3 == 1) {
			a->path ^= 0x155;
			for (k = 0; k < SIM_LINKS; k++)
				a->hop[k].ts += 123456789;
		} else if (i / 300 % 3 == 2 && a->nhop > 1) {
			a->nhop--;
			a->path ^= 4;
		}
		if (i % 500 == 499) {
			extra = unit_random(&seed) % 3 ? 8388608 - 200 +
				unit_random(&seed) % 400 :
				5368000 + unit_random(&seed) % 1000;
			passed += extra;
		}
		if (i % 700 == 350)
			jumped += 0x20000 + unit_random(&seed) % 0x80000;
		a->hop[a->nhop - 1].tx += jumped;
		a->now += passed;
		for (k = 0; k < SIM_LINKS; k++)
			a->hop[k].ts += passed;
	}
	replay_all(&w, sim.flows, "path");
	world_end(&sim, &w);
}

/* 2-to-1, and 16-to-1 (§5.4): a queue only at the start, and the link is full. */
static void incast(u32 flows, u64 *queue, double *used, double *fair)
{
	double sum = 0, squares = 0;
	u64 tx, acked[SIM_FLOWS];
	struct world w;
	struct sim sim;
	u32 i;

	world_init(&sim, &w, 1, flows);
	world_start(&sim, &w);
	sim_run(&sim, 300000);
	sim.link[0].peak = 0;
	tx = sim.link[0].tx;
	for (i = 0; i < flows; i++)
		acked[i] = sim.flow[i].acked;
	sim_run(&sim, 1300000);
	*queue = sim.link[0].peak;
	*used = (sim.link[0].tx - tx) / 12500000.0;
	for (i = 0; i < flows; i++) {
		double x = sim.flow[i].acked - acked[i];

		sum += x;
		squares += x * x;
	}
	*fair = sum * sum / squares / flows;
	world_end(&sim, &w);
}

static void test_queue(void)
{
	double used, fair;
	u64 queue;

	incast(2, &queue, &used, &fair);
	CHECK(queue <= 4000, "two flows: %llu bytes", queue);
	CHECK(used > 0.93 && used < 0.96, "two flows: %.3f", used);
	CHECK(fair > 0.95, "two flows: %.3f", fair);
	incast(16, &queue, &used, &fair);
	CHECK(queue <= 16000, "sixteen flows: %llu bytes", queue);
	CHECK(used > 0.92, "sixteen flows: %.3f", used);
	CHECK(fair > 0.95, "sixteen flows: %.3f", fair);
}

/* Without reaction to each ACK the first queue lasts longer; without a reference
 * the link runs dry (Fig. 13).
 */
static u64 area(enum hpcc_react react, double *used)
{
	struct world w;
	struct sim sim;
	u64 t, sum = 0, tx = 0;

	world_init(&sim, &w, 1, 16);
	w.conf.react = react;
	world_start(&sim, &w);
	for (t = 1000; t < 100000; t += 1000) {
		sim_run(&sim, t);
		sum += sim.link[0].backlog;
		if (t == 10000)
			tx = sim.link[0].tx;
	}
	*used = (sim.link[0].tx - tx) / (12.5 * 89000);
	world_end(&sim, &w);
	return sum / 100;
}

static void test_reaction(void)
{
	double both_used, ack_used, rtt_used;
	u64 both = area(HPCC_BOTH, &both_used);
	u64 ack = area(HPCC_PER_ACK, &ack_used);
	u64 rtt = area(HPCC_PER_RTT, &rtt_used);

	CHECK(both < rtt, "mean queue %llu, per RTT %llu", both, rtt);
	CHECK(ack_used < both_used - 0.1, "used %.3f, per ACK %.3f (queue %llu)",
	      both_used, ack_used, ack);
	CHECK(both_used > 0.85 && rtt_used > 0.85, "used %.3f, per RTT %.3f",
	      both_used, rtt_used);
}

/* More flows than packets fit in flight: pacing below a packet an RTT. */
static void test_many(void)
{
	struct world w;
	struct sim sim;
	u32 i, small = 0;
	u64 tx;

	world_init(&sim, &w, 1, SIM_FLOWS);
	sim.delay = 500 * SIM_NS;
	hpcc_configure(&w.conf, 12500000000ULL, 1300, HPCC_ETA_DEFAULT, 200);
	world_start(&sim, &w);
	sim_run(&sim, 1000000);
	sim.link[0].peak = 0;
	tx = sim.link[0].tx;
	sim_run(&sim, 2000000);
	for (i = 0; i < SIM_FLOWS; i++)
		small += w.sender[i].w < sim.packet * HPCC_BYTE;
	CHECK(small == SIM_FLOWS, "%u", small);
	CHECK(sim.link[0].peak <= 64000, "%llu bytes queued",
	      sim.link[0].peak);
	CHECK(sim.link[0].tx - tx > 0.8 * 12500000, "%llu",
	      sim.link[0].tx - tx);
	world_end(&sim, &w);
}

/* A long flow takes the link back when a short one ends (Fig. 9a). */
static void test_recovery(void)
{
	struct world w;
	struct sim sim;
	u64 before;

	world_init(&sim, &w, 1, 2);
	sim.flow[1].start = 100000;
	sim.flow[1].stop = 200000;
	world_start(&sim, &w);
	sim_run(&sim, 100000);
	CHECK(w.sender[0].w > w.conf.w_init * 8 / 10, "%llu", w.sender[0].w);
	sim_run(&sim, 200000);
	CHECK(w.sender[0].w < w.conf.w_init * 8 / 10, "%llu", w.sender[0].w);
	/* five RTTs of additive increase, and one step; time to drain */
	sim_run(&sim, 200000 + 12 * w.conf.t);
	before = sim.flow[0].acked;
	sim_run(&sim, 200000 + 12 * w.conf.t + 50000);
	CHECK(sim.flow[0].acked - before > 0.9 * 12.5 * 50000, "%llu",
	      sim.flow[0].acked - before);
	world_end(&sim, &w);
}

static const struct unit_case cases[] = {
	{ "hpcc model: a step from any state", test_step },
	{ "hpcc model: INT of a simulation, over one to five hops",
	  test_simulated },
	{ "hpcc model: INT and windows of struct_ops", test_struct_ops },
	{ "hpcc model: INT and windows of sockops", test_sockops },
	{ "hpcc model: counters wrap", test_wraps },
	{ "hpcc model: ACKs reordered, doubled, lost, without INT",
	  test_disorder },
	{ "hpcc model: changes of the path, silences", test_path },
	{ "hpcc model: near-zero queue, full link, fair shares", test_queue },
	{ "hpcc model: both reactions are needed (Fig. 13)", test_reaction },
	{ "hpcc model: windows below a packet", test_many },
	{ "hpcc model: free bandwidth is taken back (Fig. 9a)", test_recovery },
};

#include "unit_main.h"
