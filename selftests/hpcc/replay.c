// SPDX-License-Identifier: GPL-2.0
/*
 * Does HPCC compute the same windows wherever it runs?
 *
 *   replay bpf OBJECT	a simulated network, whose senders run as eBPF (OBJECT is
 *			replay.bpf.o) and in this program: their states must be the
 *			same, bit by bit, after every ACK. KTAP.
 *   replay trace PIN ACKS SECONDS
 *			reads a front end's ring buffer (map bfc_hpcc_trace, pinned
 *			at PIN) until there were so many ACKs, but no longer than
 *			that; its parameters are those of the map beside it, PIN's
 *			directory/hpcc_net. Goes through the same ACKs itself:
 *			every window must be the same. KTAP; a line
 *			"# acks N flows N updated N turned N".
 *
 * Exit code: 0, 1 something differs or is missing, 2 usage.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#include "int_sim.h"
#include "hpcc_sk.h"

#define MSS		946	/* and headers: the simulated packets' 1000 bytes */
#define HEADERS		54
#define FLOWS_MAX	1024

static unsigned int shown, tests, failures;

static void report(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, what);
	failures += !good;
}

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- eBPF and this program ------------------------------------------------- */

/**
 * struct world - senders of the simulated network
 * @net: their parameters
 * @here: their states
 * @prog: the program
 * @state: its states
 * @acks: so far
 * @turned: of these, once an RTT
 * @different: of these, states that were not the same
 */
struct world {
	struct hpcc_net net;
	struct hpcc_sk here[SIM_FLOWS];
	int prog, state;
	u32 acks, turned, different;
};

static void on_ack(struct sim *sim, const struct sim_ack *a)
{
	struct sim_flow *f = &sim->flow[a->flow];
	struct world *w = sim->user;
	struct hpcc_sk *hs = &w->here[a->flow], there = {};
	struct hpcc_ack ack = sim_wire(a);
	struct __sk_buff ctx = { .mark = a->flow, .priority = MSS };
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = &ack, .data_size_in = sizeof(ack),
		.ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
	};
	u32 result;

	if (bpf_prog_test_run_opts(w->prog, &opts) ||
	    bpf_map_lookup_elem(w->state, &a->flow, &there))
		die("BPF_PROG_TEST_RUN");
	result = hpcc_sk_new_ack(hs, &w->net, &ack, MSS);
	w->acks++;
	w->turned += result == HPCC_TURNED;
	if (opts.retval != result || memcmp(hs, &there, sizeof(there))) {
		w->different++;
		if (shown++ < 8)
			printf("# ACK %u of flow %u: %u, W %llu, U %llu; in eBPF %u, %llu, %llu\n",
			       w->acks, a->flow, result, hs->s.w, hs->s.u,
			       opts.retval, there.s.w, there.s.u);
	}
	f->window = (u64)hs->packets * sim->packet;
	f->rate = hs->rate;
}

static void simulate(struct bpf_object *obj, u32 links, enum hpcc_react react,
		     bool rx)
{
	static const u32 k[] = { 10000, 4000, 10000, 2500, 40000 };
	static const char * const names[] = { "both", "per ACK", "per RTT" };
	struct hpcc_sk empty = {};
	struct world w = {};
	struct sim sim = {
		.links = links, .flows = 8, .packet = MSS + HEADERS,
		.delay = 2000 * SIM_NS, .ack = on_ack, .user = &w,
	};
	char what[80];
	u32 zero = 0, i;

	w.prog = bpf_program__fd(bpf_object__find_program_by_name(obj, "replay"));
	w.state = bpf_object__find_map_fd_by_name(obj, "state");
	hpcc_configure(&w.net.conf, 12500000000ULL, links * 4080 + 120,
		       HPCC_ETA_DEFAULT, HPCC_FLOWS_DEFAULT);
	w.net.conf.react = react;
	w.net.conf.rx = rx;
	w.net.headers = HEADERS;
	if (bpf_map_update_elem(bpf_object__find_map_fd_by_name(obj, "net"),
				&zero, &w.net, BPF_ANY))
		die("net");
	for (i = 0; i < links; i++)
		sim.link[i].k = k[i];
	for (i = 0; i < sim.flows; i++) {
		struct sim_flow *f = &sim.flow[i];

		if (bpf_map_update_elem(w.state, &i, &empty, BPF_ANY))
			die("state");
		hpcc_sk_init(&w.here[i], &w.net, MSS);
		f->last = links - 1;
		f->start = i * 10000;
		f->stop = i & 1 ? 300000 : 800000;
		f->window = (u64)w.here[i].packets * sim.packet;
		f->rate = w.here[i].rate;
	}
	sim_start(&sim);
	sim_run(&sim, 800000);
	sim_end(&sim);
	snprintf(what, sizeof(what), "eBPF: %u links, %s%s: %u ACKs, %u rounds",
		 links, names[react], rx ? ", rxRate" : "", w.acks, w.turned);
	report(w.acks > 100 && w.turned && !w.different, what);
}

static int run_bpf(const char *path)
{
	struct bpf_object *obj = bpf_object__open(path);
	u32 i;

	if (!obj || bpf_object__load(obj))
		die(path);
	printf("TAP version 13\n");
	for (i = 0; i < 6; i++)
		simulate(obj, 3, i % 3, i / 3);
	simulate(obj, 1, HPCC_BOTH, false);
	simulate(obj, SIM_LINKS, HPCC_BOTH, false);
	bpf_object__close(obj);
	printf("1..%u\n", tests);
	return failures ? 1 : 0;
}

/* --- what a front end did -------------------------------------------------- */

/**
 * struct replay - connections of a trace
 * @net: parameters
 * @id: of the connections
 * @hs: their states
 * @flows: how many
 * @acks: so far
 * @turned: of these, once an RTT
 * @updated: of these, that gave a window
 * @different: of these, windows that were not the same
 */
struct replay {
	struct hpcc_net net;
	u32 id[FLOWS_MAX];
	struct hpcc_sk hs[FLOWS_MAX];
	u32 flows, acks, turned, updated, different;
};

static int on_trace(void *arg, void *data, size_t size)
{
	const struct hpcc_trace *t = data;
	struct replay *r = arg;
	struct hpcc_sk *hs;
	u32 i, mss, result;

	if (size < sizeof(*t))
		die("a short record");
	mss = t->packet - r->net.headers;
	for (i = 0; i < r->flows && r->id[i] != t->id; i++)
		;
	if (i == FLOWS_MAX)
		die("too many connections");
	hs = &r->hs[i];
	if (i == r->flows) {
		r->flows++;
		r->id[i] = t->id;
		hpcc_sk_init(hs, &r->net, mss);
	}
	result = hpcc_sk_new_ack(hs, &r->net, &t->ack, mss);
	r->acks++;
	r->turned += result == HPCC_TURNED;
	r->updated += result == HPCC_TURNED || result == HPCC_STAYED;
	if (result != t->result || hs->s.w != t->w || hs->s.wc != t->wc ||
	    hs->s.u != t->u || hs->rate != t->rate ||
	    hs->packets != t->packets) {
		r->different++;
		if (shown++ < 8)
			printf("# ACK %u, ports %u %u: result %u, W %llu, W^c %llu, U %llu, R %llu; traced %u, %llu, %llu, %llu, %llu\n",
			       r->acks, t->id >> 16, t->id & 0xffff, result,
			       hs->s.w, hs->s.wc, hs->s.u, hs->rate, t->result,
			       t->w, t->wc, t->u, t->rate);
	}
	return 0;
}

static int run_trace(const char *pin, u32 acks, u32 seconds)
{
	static struct replay r;
	struct ring_buffer *ring;
	char path[PATH_MAX], copy[PATH_MAX];
	time_t end = time(NULL) + seconds;
	u32 zero = 0;
	int fd;

	snprintf(copy, sizeof(copy), "%s", pin);
	if (snprintf(path, sizeof(path), "%s/hpcc_net", dirname(copy)) >=
	    (int)sizeof(path))
		die(pin);
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, &r.net))
		die(path);
	fd = bpf_obj_get(pin);
	ring = fd < 0 ? NULL : ring_buffer__new(fd, on_trace, &r, NULL);
	if (!ring)
		die(pin);
	printf("TAP version 13\n");
	do {
		if (ring_buffer__poll(ring, 100) < 0)
			break;
	} while (r.acks < acks && time(NULL) < end);
	printf("# acks %u flows %u updated %u turned %u\n", r.acks, r.flows,
	       r.updated, r.turned);
	report(r.acks >= acks && r.updated && !r.different,
	       "trace: every window is that of the same arithmetic here");
	printf("1..%u\n", tests);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "bpf"))
		return run_bpf(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "trace") && atoi(argv[3]) > 0 &&
	    atoi(argv[4]) > 0)
		return run_trace(argv[2], atoi(argv[3]), atoi(argv[4]));
	fprintf(stderr, "usage: replay bpf OBJECT | trace PIN ACKS SECONDS\n");
	return 2;
}
