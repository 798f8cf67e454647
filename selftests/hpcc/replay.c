// SPDX-License-Identifier: GPL-2.0
/*
 * Does HPCC compute the same windows wherever it runs?
 *
 *   replay bpf OBJECT [FILE...]
 *			a simulated network, whose senders run as eBPF (OBJECT is
 *			replay.bpf.o) and in this program: their states must be the
 *			same, bit by bit, after every ACK. Then the FILEs, which
 *			front ends have recorded: here and as eBPF the windows must
 *			be those that are in the file. KTAP.
 *   replay trace PIN ACKS SECONDS [FILE]
 *			reads a front end's ring buffer (map bfc_hpcc_trace, pinned
 *			at PIN) until there were so many ACKs, but no longer than
 *			that; its parameters are those of the map beside it, PIN's
 *			directory/hpcc_net. Goes through the same ACKs itself:
 *			every window must be the same. KTAP; a line
 *			"# acks N flows N updated N turned N". They are recorded
 *			in FILE (recorded.h).
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
#include "recorded.h"

#define MSS		946	/* and headers: the simulated packets' 1000 bytes */
#define HEADERS		54

static unsigned int shown;

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

/* Return: hpcc_sk_new_ack()'s. */
static u32 both(struct world *w, struct hpcc_sk *hs, u32 flow, u32 mss,
		const struct hpcc_ack *ack)
{
	struct __sk_buff ctx = { .mark = flow, .priority = mss };
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = ack, .data_size_in = sizeof(*ack),
		.ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
	};
	struct hpcc_sk there = {};
	u32 result;

	if (bpf_prog_test_run_opts(w->prog, &opts) ||
	    bpf_map_lookup_elem(w->state, &flow, &there))
		die("BPF_PROG_TEST_RUN");
	result = hpcc_sk_new_ack(hs, &w->net, ack, mss);
	w->acks++;
	w->turned += result == HPCC_TURNED;
	if (opts.retval != result || memcmp(hs, &there, sizeof(there))) {
		w->different++;
		if (shown++ < 8)
			printf("# ACK %u of flow %u: %u, W %llu, U %llu; in eBPF %u, %llu, %llu\n",
			       w->acks, flow, result, hs->s.w, hs->s.u,
			       opts.retval, there.s.w, there.s.u);
	}
	return result;
}

static void on_ack(struct sim *sim, const struct sim_ack *a)
{
	struct sim_flow *f = &sim->flow[a->flow];
	struct world *w = sim->user;
	struct hpcc_sk *hs = &w->here[a->flow];
	struct hpcc_ack ack = sim_wire(a);

	both(w, hs, a->flow, MSS, &ack);
	f->window = (u64)hs->packets * sim->packet;
	f->rate = hs->rate;
}

/* Senders as parameters say, none of which has begun. */
static void begin(struct world *w, const struct bpf_object *obj, u32 flows)
{
	struct hpcc_sk empty = {};
	u32 zero = 0, i;

	w->prog = bpf_program__fd(bpf_object__find_program_by_name(obj, "replay"));
	w->state = bpf_object__find_map_fd_by_name(obj, "state");
	if (bpf_map_update_elem(bpf_object__find_map_fd_by_name(obj, "net"),
				&zero, &w->net, BPF_ANY))
		die("net");
	for (i = 0; i < flows; i++)
		if (bpf_map_update_elem(w->state, &i, &empty, BPF_ANY))
			die("state");
}

static void simulate(struct bpf_object *obj, u32 links, enum hpcc_react react,
		     bool rx)
{
	static const u32 k[] = { 10000, 4000, 10000, 2500, 40000 };
	static const char * const names[] = { "both", "per ACK", "per RTT" };
	struct world w = {};
	struct sim sim = {
		.links = links, .flows = 8, .packet = MSS + HEADERS,
		.delay = 2000 * SIM_NS, .ack = on_ack, .user = &w,
	};
	char what[80];
	u32 i;

	hpcc_configure(&w.net.conf, 12500000000ULL, links * 4080 + 120,
		       HPCC_ETA_DEFAULT, HPCC_FLOWS_DEFAULT);
	w.net.conf.react = react;
	w.net.conf.rx = rx;
	w.net.headers = HEADERS;
	begin(&w, obj, sim.flows);
	for (i = 0; i < links; i++)
		sim.link[i].k = k[i];
	for (i = 0; i < sim.flows; i++) {
		struct sim_flow *f = &sim.flow[i];

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
	unit_report(w.acks > 100 && w.turned && !w.different, what);
}

/* What a front end has recorded, again: whichever it was, and whatever kernel. */
static void again(struct bpf_object *obj, const char *path)
{
	struct recorded_senders senders = {};
	struct world w = {};
	u32 i, flow, other = 0;
	struct recorded r;
	char what[PATH_MAX];

	if (!recorded_read(path, &r))
		die(path);
	w.net = r.net;
	begin(&w, obj, RECORDED_FLOWS);
	for (i = 0; i < r.n; i++) {
		const struct hpcc_trace *t = &r.acks[i];

		struct hpcc_sk *hs;
		u32 result;

		flow = recorded_sender(&senders, &r.net, t);
		if (flow == RECORDED_FLOWS)
			die("too many connections");
		hs = &senders.hs[flow];
		result = both(&w, hs, flow, recorded_mss(&r.net, t), &t->ack);
		other += !recorded_same(t, hs, result);
	}
	recorded_free(&r);
	snprintf(what, sizeof(what), "%s: %u ACKs, %u rounds, %u flows", path,
		 w.acks, w.turned, senders.n);
	unit_report(w.acks > 100 && w.turned && !w.different && !other, what);
}

static int run_bpf(const char *path, char *const *files, unsigned int n_files)
{
	struct bpf_object *obj = bpf_object__open(path);
	u32 i;

	if (!obj || bpf_object__load(obj))
		die(path);
	unit_plan(8 + n_files);
	for (i = 0; i < 6; i++)
		simulate(obj, 3, i % 3, i / 3);
	simulate(obj, 1, HPCC_BOTH, false);
	simulate(obj, SIM_LINKS, HPCC_BOTH, false);
	for (; *files; files++)
		again(obj, *files);
	bpf_object__close(obj);
	return unit_end();
}

/* --- what a front end did -------------------------------------------------- */

/**
 * struct replay - connections of a trace
 * @net: parameters
 * @senders: of these
 * @file: what comes is recorded there; or %NULL
 * @acks: so far
 * @turned: of these, once an RTT
 * @updated: of these, that gave a window
 * @different: of these, windows that were not the same
 */
struct replay {
	struct hpcc_net net;
	struct recorded_senders senders;
	FILE *file;
	u32 acks, turned, updated, different;
};

static int on_trace(void *arg, void *data, size_t size)
{
	const struct hpcc_trace *t = data;
	struct replay *r = arg;
	struct hpcc_sk *hs;
	u32 i, result;

	if (size < sizeof(*t))
		die("a short record");
	i = recorded_sender(&r->senders, &r->net, t);
	if (i == RECORDED_FLOWS)
		die("too many connections");
	hs = &r->senders.hs[i];
	if (r->file)
		recorded_write(r->file, t);
	result = hpcc_sk_new_ack(hs, &r->net, &t->ack,
				 recorded_mss(&r->net, t));
	r->acks++;
	r->turned += result == HPCC_TURNED;
	r->updated += result == HPCC_TURNED || result == HPCC_STAYED;
	if (!recorded_same(t, hs, result)) {
		r->different++;
		if (shown++ < 8)
			printf("# ACK %u, ports %u %u: result %u, W %llu, W^c %llu, U %llu, R %llu; traced %u, %llu, %llu, %llu, %llu\n",
			       r->acks, t->id >> 16, t->id & 0xffff, result,
			       hs->s.w, hs->s.wc, hs->s.u, hs->rate, t->result,
			       t->w, t->wc, t->u, t->rate);
	}
	return 0;
}

static int run_trace(const char *pin, u32 acks, u32 seconds, const char *file)
{
	static struct replay r;
	struct ring_buffer *ring;
	char path[PATH_MAX], copy[PATH_MAX];
	time_t end = time(NULL) + seconds;
	__u64 cgroup;	/* the only one that uses HPCC */
	int fd;

	snprintf(copy, sizeof(copy), "%s", pin);
	if (snprintf(path, sizeof(path), "%s/hpcc_net", dirname(copy)) >=
	    (int)sizeof(path))
		die(pin);
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_map_get_next_key(fd, NULL, &cgroup) ||
	    bpf_map_lookup_elem(fd, &cgroup, &r.net))
		die(path);
	fd = bpf_obj_get(pin);
	ring = fd < 0 ? NULL : ring_buffer__new(fd, on_trace, &r, NULL);
	if (!ring)
		die(pin);
	if (file) {
		r.file = fopen(file, "w");
		if (!r.file)
			die(file);
		recorded_write_net(r.file, &r.net);
	}
	unit_plan(1);
	do {
		if (ring_buffer__poll(ring, 100) < 0)
			break;
	} while (r.acks < acks && time(NULL) < end);
	if (r.file && fclose(r.file))
		die(file);
	printf("# acks %u flows %u updated %u turned %u\n", r.acks, r.senders.n,
	       r.updated, r.turned);
	unit_report(r.acks >= acks && r.updated && !r.different,
		    "trace: every window is that of the same arithmetic here");
	return unit_end();
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "bpf"))
		return run_bpf(argv[2], argv + 3, argc - 3);
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "trace") &&
	    atoi(argv[3]) > 0 && atoi(argv[4]) > 0)
		return run_trace(argv[2], atoi(argv[3]), atoi(argv[4]), argv[5]);
	fprintf(stderr, "usage: replay bpf OBJECT [FILE...] | trace PIN ACKS SECONDS [FILE]\n");
	return 2;
}
