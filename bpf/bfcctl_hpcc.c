// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl hpcc, bfcctl delay: congestion control in eBPF for TCP.
 *
 *	<bpffs>/bfc/hpcc_net		struct hpcc_net, parameters by cgroup
 *	<bpffs>/bfc/hpcc_sk		struct hpcc_sk, by socket
 *	<bpffs>/bfc/hpcc_trace		struct hpcc_trace, if "trace" was given
 *	<bpffs>/bfc/hpcc_ops		registered as "bfc_hpcc"
 *	<bpffs>/bfc/delay_conf		struct delay_conf
 *	<bpffs>/bfc/delay_ops		registered as "bfc_delay"
 *	<bpffs>/bfc/hpcc_object		object_id() of what is registered,
 *	<bpffs>/bfc/delay_object	likewise
 *	<bpffs>/bfc/cgroup-<id>/hpcc	link of the program that stands in for
 *					bfc_hpcc where there are no struct_ops
 *	<bpffs>/bfc/cgroup-<id>/hpcc_object	object_id() of that
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bfcctl.h"
#include "delay.h"
#include "hpcc_sk.h"
#include "hpcc_sockops.skel.h"
#include "tcp_delay.skel.h"
#include "tcp_hpcc.skel.h"

#define AVAILABLE	"/proc/sys/net/ipv4/tcp_available_congestion_control"
#define DEFAULT		"/proc/sys/net/ipv4/tcp_congestion_control"
#define WINDOW		"bfc_window"	/* congestion control that hpcc_sockops needs */

#define RATE_MIN	1250000ULL		/* bytes/s: 10 Mbit/s */
#define RATE_MAX	100000000000ULL		/* 800 Gbit/s */
/* Ethernet 14, IPv4 20, TCP 20, its timestamps 12 */
#define HEADERS_DEFAULT	66
#define HEADERS_MAX	256
#define ETA_MIN		10	/* thousandths; a smaller number is a ratio: 1 is 1000 */
#define FLOWS_MAX	1000000
#define PACKET_DEFAULT	1514
#define PACKET_MIN	64
#define PACKET_MAX	65535

static const char * const reactions[] = {
	[HPCC_BOTH] = "both",
	[HPCC_PER_ACK] = "per-ack",
	[HPCC_PER_RTT] = "per-rtt",
};

/* As tc writes rates: 10gbit, 100Mbit. Return: bytes/s. */
static uint64_t rate_arg(const char *name, const char *text)
{
	static const struct suffix units[] = {
		{ "tbit", 125e9 }, { "gbit", 125e6 }, { "mbit", 125e3 },
		{ "kbit", 125 }, { "bit", 0.125 }, {}
	};
	double n;

	need_unit(name, text, "mbit", "gbit");
	if (scaled_arg(text, units, &n) && n >= RATE_MIN && n <= RATE_MAX)
		return n;
	usage_fail("illegal \"%s\" for \"%s\": give a rate from 10mbit to 800gbit",
		   text, name);
}

/* The number of a word in a list. */
static unsigned int word_arg(const char *name, const char *text,
			     const char * const *words, unsigned int n)
{
	char list[128] = "";
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!strcmp(text, words[i]))
			return i;
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
			 "%s%s", i ? ", " : "", words[i]);
	}
	usage_fail("illegal \"%s\" for \"%s\": give one of %s", text, name,
		   list);
}

/* Whether a file that lists congestion controls has this one; @unknown if it cannot be read. */
static bool listed(const char *path, const char *name, bool unknown)
{
	FILE *file = fopen(path, "r");
	bool has = !file && unknown;
	char word[32];

	while (file && !has && fscanf(file, "%31s", word) == 1)
		has = !strcmp(word, name);
	if (file)
		fclose(file);
	return has;
}

/**
 * struct ops - congestion control as struct_ops
 * @name: of the congestion control
 * @ops: pin of the registered map, for pin_path()
 * @conf: pin of its parameters, likewise
 * @set: writes parameters
 * @object: pin of its object_id(), likewise
 * @id: object_id() of this bfcctl
 */
struct ops {
	const char *name;
	const char *ops;
	const char *conf;
	void (*set)(int map, const void *value, const char *what);
	const char *object;
	uint64_t id;
};

/* Change the parameters if the programs of this bfcctl are registered already.
 * Returns false if they are not.
 */
static bool change(const struct ops *o, const void *value)
{
	int map;

	if (!ops_registered(pin_path("%s", o->ops)) ||
	    !object_is(o->id, pin_path("%s", o->object)))
		return false;
	map = pin_open(pin_path("%s", o->conf));
	if (map < 0)
		fail("%s is registered, but its parameters are gone", o->name);
	o->set(map, value, o->name);
	close(map);
	return true;
}

/* Unregister struct_ops. Returns true if they were registered. */
static bool withdraw(const char *path)
{
	const uint32_t zero = 0;
	int fd = pin_open(path);

	if (fd < 0)
		return false;
	if (bpf_map_delete_elem(fd, &zero) && errno != EINPROGRESS &&
	    errno != ENOENT)
		fail("cannot take out %s: %s", path, strerror(errno));
	close(fd);
	return true;
}

/* Register struct_ops, which stay registered until they are deleted from the
 * map. Those of another bfcctl are unregistered only now: a name cannot be
 * registered twice.
 */
static void enlist(struct bpf_map *map, const struct ops *o)
{
	bool other = ops_registered(pin_path("%s", o->ops));
	struct bpf_link *link;

	withdraw(pin_path("%s", o->ops));
	link = bpf_map__attach_struct_ops(map);
	if (!link)
		fail("cannot register congestion control %s: %s%s", o->name,
		     errno == EEXIST ? "another has this name" :
		     strerror(errno),
		     other ? "; that of before is not registered any more" : "");
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
	pin_new_ops(bpf_map__fd(map), pin_path("%s", o->ops));
	object_pin(o->id, pin_path("%s", o->object));
	if (other)
		fprintf(stderr, "bfcctl: %s was that of another version of bfcctl: it is replaced. Connections that use it keep it, and its parameters, until they are closed; where it is the default, write the sysctl net.ipv4.tcp_congestion_control again.\n",
			o->name);
	else if (listed(DEFAULT, o->name, false))
		note("the default of this network namespace is the %s that was on before, with its parameters of then: sysctl -w net.ipv4.tcp_congestion_control=%s",
		     o->name, o->name);
}

/* Unregister and unpin struct_ops. Sockets that use them do so until they are closed, and a
 * namespace whose default they are has them until it gets another one.
 */
static bool dismiss(const char *name, const char *path)
{
	if (!withdraw(path) || !pin_remove(path))
		return false;
	if (listed(DEFAULT, name, false))
		note("%s is still the default of this network namespace, and new connections use it: sysctl -w net.ipv4.tcp_congestion_control=reno, or another one",
		     name);
	return true;
}

/* Set the congestion control of a cgroup's connections that agree on INT. */
static void cgroup_cc(const char *cgroup, const char *cc)
{
	struct bfc_int_config conf = { .every = 1 };

	if (!tcp_config(cgroup, &conf))
		int_scope(&conf, NULL);
	memset(conf.cc, 0, sizeof(conf.cc));
	snprintf(conf.cc, sizeof(conf.cc), "%s", cc);
	tcp_on(cgroup, &conf);
}

/* ---- hpcc ---- */

static void need_window(void)
{
	if (!listed(AVAILABLE, WINDOW, true))
		fail("this kernel has no congestion control " WINDOW ", which is for kernels without struct_ops (in bfc's simulator: modprobe bfc_simcc): do without \"sockops\"");
}

/**
 * struct hpcc_entry - parameters, and what they are for
 * @cgroup: its number; 0 = connections that ask for bfc_hpcc by name
 * @net: parameters
 */
struct hpcc_entry {
	uint64_t cgroup;
	struct hpcc_net net;
};

/* Delete parameters that only old connections use; these go on as with Reno. */
static void purge(int map)
{
	uint64_t keys[HPCC_NETS];
	struct hpcc_net net;
	unsigned int n = 0;

	while (n < HPCC_NETS &&
	       !bpf_map_get_next_key(map, n ? &keys[n - 1] : NULL, &keys[n]))
		n++;
	while (n-- > 0)
		if (!bpf_map_lookup_elem(map, &keys[n], &net) && net.off)
			bpf_map_delete_elem(map, &keys[n]);
}

static void net_set(int map, const void *value, const char *what)
{
	const struct hpcc_entry *e = value;

	if (!bpf_map_update_elem(map, &e->cgroup, &e->net, BPF_ANY))
		return;
	if (errno == E2BIG)
		purge(map);
	if (bpf_map_update_elem(map, &e->cgroup, &e->net, BPF_ANY))
		fail("cannot configure %s: %s", what,
		     errno == E2BIG ? "too many cgroups" : strerror(errno));
}

/**
 * hpcc_forget() - a cgroup no longer uses HPCC
 * @cgroup: its number
 *
 * Its present connections keep their parameters. A map of another layout is left alone.
 */
void hpcc_forget(uint64_t cgroup)
{
	int map = pin_open(pin_path("/hpcc_net"));
	struct hpcc_entry e = { .cgroup = cgroup };

	if (map < 0)
		return;
	if (conf_fits(map, sizeof(e.cgroup), sizeof(e.net)) &&
	    !bpf_map_lookup_elem(map, &e.cgroup, &e.net)) {
		e.net.off = 1;
		net_set(map, &e, "HPCC");
	}
	close(map);
}

static void hpcc_on_ops(const struct hpcc_entry *e)
{
	struct ops o = {
		.name = "bfc_hpcc",
		.ops = "/hpcc_ops",
		.conf = "/hpcc_net",
		.set = net_set,
		.object = "/hpcc_object",
		.id = object_id(tcp_hpcc__elf_bytes),
	};
	void (*pin)(struct bpf_map *map, const char *path);
	struct tcp_hpcc *skel;

	if (change(&o, e))
		return;
	/* Programs that are replaced, but have connections, keep their own maps. */
	pin = access(pin_path("%s", o.ops), F_OK) ? pin_share : pin_fresh;
	skel = tcp_hpcc__open();
	if (!skel)
		fail("cannot open bfc_hpcc: %s", strerror(errno));
	pin_mkdir(pin_path("%s", ""));
	pin_share(skel->maps.bfc_int_sk, pin_path("/int_sk"));
	pin(skel->maps.bfc_hpcc_sk, pin_path("/hpcc_sk"));
	pin(skel->maps.bfc_hpcc_net, pin_path("/hpcc_net"));
	pin(skel->maps.bfc_hpcc_trace, pin_path("/hpcc_trace"));
	bpf_loaded(tcp_hpcc__load(skel), "bfc_hpcc");
	net_set(bpf_map__fd(skel->maps.bfc_hpcc_net), e, "bfc_hpcc");
	enlist(skel->maps.bfc_hpcc, &o);
	tcp_hpcc__destroy(skel);
}

/* Attach it behind the program that reads INT: programs run in the order of attachment. */
static void hpcc_on_sockops(const struct hpcc_entry *e, const char *cgroup)
{
	struct hpcc_sockops *skel;
	const char *path = pin_cgroup(cgroup, "/hpcc");
	int prog;

	skel = hpcc_sockops__open();
	if (!skel)
		fail("cannot open hpcc_sockops: %s", strerror(errno));
	pin_share(skel->maps.bfc_int_sk, pin_path("/int_sk"));
	pin_share(skel->maps.bfc_hpcc_sk, pin_path("/hpcc_sk"));
	pin_share(skel->maps.bfc_hpcc_net, pin_path("/hpcc_net"));
	pin_share(skel->maps.bfc_hpcc_trace, pin_path("/hpcc_trace"));
	bpf_loaded(hpcc_sockops__load(skel), "hpcc_sockops");
	net_set(bpf_map__fd(skel->maps.bfc_hpcc_net), e, "hpcc_sockops");
	object_pin(object_id(hpcc_sockops__elf_bytes), pin_cgroup(cgroup, "/hpcc_object"));
	prog = bpf_program__fd(skel->progs.hpcc_sockops);
	sockops_attach(prog, cgroup, path, "hpcc_sockops");
	hpcc_sockops__destroy(skel);
}

/**
 * struct hpcc_args - words after "hpcc on"
 * @cgroup: directory, or NULL
 * @sockops: hpcc_sockops in place of bfc_hpcc
 * @e: parameters; the cgroup's number is not in it
 */
struct hpcc_args {
	const char *cgroup;
	bool sockops;
	struct hpcc_entry e;
};

static void hpcc_args(int argc, char **argv, struct hpcc_args *a)
{
	uint64_t rate = 0, t = 0, eta = HPCC_ETA_DEFAULT;
	uint64_t flows = HPCC_FLOWS_DEFAULT, wai;
	uint64_t stage = HPCC_STAGE_DEFAULT, headers = HEADERS_DEFAULT;
	unsigned int react = HPCC_BOTH;
	bool rx = false, trace = false;
	struct hpcc_net *net = &a->e.net;
	const char *word, *bad, *wai_arg = NULL;

	memset(a, 0, sizeof(*a));
	while (argc) {
		word = next_word(&argc, &argv, "");
		if (!strcmp(word, "rx-rate"))
			rx = true;
		else if (!strcmp(word, "trace"))
			trace = true;
		else if (!strcmp(word, "sockops"))
			a->sockops = true;
		else if (is_option(word, "--cgroup"))
			a->cgroup = next_word(&argc, &argv, word);
		else if (!strcmp(word, "rate"))
			rate = rate_arg(word, next_word(&argc, &argv, word));
		else if (!strcmp(word, "rtt"))
			t = nanoseconds(word, next_word(&argc, &argv, word),
					HPCC_T_MIN, HPCC_T_MAX);
		else if (!strcmp(word, "eta"))
			eta = thousandths(word, next_word(&argc, &argv, word),
					  ETA_MIN, 1000);
		else if (!strcmp(word, "flows"))
			flows = number(word, next_word(&argc, &argv, word), 1,
				       FLOWS_MAX);
		else if (!strcmp(word, "wai"))
			wai_arg = next_word(&argc, &argv, word);
		else if (!strcmp(word, "stage"))
			stage = number(word, next_word(&argc, &argv, word), 0,
				       HPCC_STAGE_MAX);
		else if (!strcmp(word, "react"))
			react = word_arg(word, next_word(&argc, &argv, word),
					 reactions, ARRAY_SIZE(reactions));
		else if (!strcmp(word, "headers"))
			headers = number(word, next_word(&argc, &argv, word),
					 1, HEADERS_MAX);
		else
			usage_fail("what is \"%s\"?", word);
	}
	if (!rate || !t)
		usage_fail("give \"rate\", that of the hosts' links, and \"rtt\", slightly more than the longest RTT of the empty network");
	if (a->sockops && !a->cgroup)
		usage_fail("\"sockops\" needs --cgroup");
	hpcc_configure(&net->conf, rate, t, eta, flows);
	if (wai_arg) {
		/* W_AI is the smallest window, and at most the initial one. */
		wai = number("wai", wai_arg, 0, net->conf.w_init >> HPCC_W_SHIFT);
		net->conf.w_ai = wai << HPCC_W_SHIFT;
		net->conf.w_min = wai ? net->conf.w_ai : 1;
	} else if (!net->conf.w_ai) {
		usage_fail("no additive increase is left with these parameters: lower \"flows\" or \"eta\", or give \"wai\"");
	}
	net->conf.max_stage = stage;
	net->conf.react = react;
	net->conf.rx = rx;
	net->headers = headers;
	net->trace = trace;
	bad = hpcc_conf_ok(&net->conf);
	if (bad)
		usage_fail("the %s is out of range with these parameters", bad);
}

static void hpcc_on(int argc, char **argv)
{
	struct hpcc_args a;

	hpcc_args(argc, argv, &a);
	bpf_begin_change();
	tcp_sweep();
	/* fails before anything is registered */
	if (a.cgroup)
		a.e.cgroup = cgroup_id(a.cgroup);
	if (a.sockops) {
		need_window();
		/* bfc_int_tcp comes first, so that it runs first; hpcc_sockops
		 * chooses bfc_window itself.
		 */
		cgroup_cc(a.cgroup, "");
		hpcc_on_sockops(&a.e, a.cgroup);
	} else {
		hpcc_on_ops(&a.e);
		if (a.cgroup)
			cgroup_cc(a.cgroup, "bfc_hpcc");
	}
	pin_commit();
	if (a.cgroup && !a.sockops) {
		pin_remove(pin_cgroup(a.cgroup, "/hpcc"));
		pin_remove(pin_cgroup(a.cgroup, "/hpcc_object"));
	}
}

/* New connections of this cgroup use the same congestion control as without HPCC. */
static void clear_cc(const char *path)
{
	struct bfc_int_config conf;
	int fd = pin_open(path);

	if (fd < 0)
		return;
	if (conf_get(fd, &conf) && !strcmp(conf.cc, "bfc_hpcc")) {
		memset(conf.cc, 0, sizeof(conf.cc));
		conf_set(fd, &conf, path);
	}
	close(fd);
}

static bool hpcc_is_on(void)
{
	return ops_registered(pin_path("/hpcc_ops")) || pin_exists("/cgroup-*/hpcc");
}

/**
 * hpcc_release() - take HPCC's maps out of the bpf file system if no program needs them
 */
void hpcc_release(void)
{
	if (hpcc_is_on())
		return;
	pin_remove(pin_path("/hpcc_net"));
	pin_remove(pin_path("/hpcc_sk"));
	pin_remove(pin_path("/hpcc_trace"));
	pin_remove(pin_path("/hpcc_object"));
}

static bool taken_out;

/* Take out hpcc_sockops of a cgroup, by the pin of its link. */
static void take_out(const char *path)
{
	taken_out |= pin_remove(path);
	pin_remove(pin_path("%s_object", path + strlen(pin_path("%s", ""))));
}

static void hpcc_off(int argc, char **argv)
{
	const char *word, *cgroup = NULL;
	bool was = false;

	while (argc) {
		word = next_word(&argc, &argv, "");
		if (!is_option(word, "--cgroup"))
			usage_fail("what is \"%s\"?", word);
		cgroup = next_word(&argc, &argv, word);
	}
	bpf_begin_change();
	tcp_sweep();
	if (cgroup) {
		struct bfc_int_config conf;

		was = pin_remove(pin_cgroup(cgroup, "/hpcc"));
		pin_remove(pin_cgroup(cgroup, "/hpcc_object"));
		if (tcp_config(cgroup, &conf) && *conf.cc) {
			cgroup_cc(cgroup, "");
			pin_commit();
			was = true;
		}
		if (!was)
			fail("%s does not use HPCC", cgroup);
		hpcc_forget(cgroup_id(cgroup));
		hpcc_release();
		return;
	}
	pin_each("/cgroup-*/hpcc", take_out);
	if (!dismiss("bfc_hpcc", pin_path("/hpcc_ops")) && !taken_out)
		fail("HPCC is off");
	pin_each("/cgroup-*/config", clear_cc);
	hpcc_release();
	tcp_release();
	pin_rmdir(pin_path("%s", ""));
}

/* A newer version of bfcctl may know more. */
static const char *reaction(unsigned int react)
{
	return react < ARRAY_SIZE(reactions) ? reactions[react] : "unknown";
}

static void show_conf(const struct hpcc_entry *e)
{
	const struct hpcc_net *net = &e->net;
	const struct hpcc_conf *c = &net->conf;
	double wai = c->w_ai / (double)HPCC_BYTE;
	double eta = c->eta / (double)HPCC_ONE;
	uint64_t init = c->w_init >> HPCC_W_SHIFT;
	char a[32], b[32];

	if (e->cgroup) {
		out_number("cgroup", e->cgroup);
		text("cgroup %llu  ", (unsigned long long)e->cgroup);
	}
	out_number("rtt_ns", c->t);
	out_number("initial_window", init);
	out_fraction("wai", wai);
	out_fraction("eta", eta);
	out_number("stage", c->max_stage);
	out_string("react", reaction(c->react));
	out_bool("rx_rate", c->rx);
	out_number("headers", net->headers);
	out_bool("trace", net->trace);
	text("rtt %s  initial window %s  wai %.2fB  eta %.3f  stage %u  react %s  headers %u%s%s\n",
	     time_text(a, sizeof(a), c->t), size_text(b, sizeof(b), init), wai,
	     eta, c->max_stage, reaction(c->react), net->headers,
	     c->rx ? "  rx-rate" : "", net->trace ? "  trace" : "");
}

static void show_flow(const struct flow *flow)
{
	uint64_t window = flow->hpcc.s.w >> HPCC_W_SHIFT;
	double u = flow->hpcc.s.u / (double)HPCC_ONE;
	/* no limit is the largest number */
	bool paced = flow->pacing < UINT64_MAX / 8;
	char rate[32], w[32];

	out_open(NULL, '{');
	out_number("local_port", flow->sport);
	out_number("remote_port", flow->dport);
	out_string("cc", flow->cc);
	out_number("cwnd", flow->cwnd);
	out_number("rtt_us", flow->rtt_us);
	if (paced)
		out_number("pacing_rate", flow->pacing * 8);
	out_number("records", flow->is.echo.count);
	if (flow->has_hpcc) {
		out_number("window", window);
		out_fraction("utilization", u);
	}
	out_close('}');
	text("  ports %u %u  %s  cwnd %u  rate %s  rtt %uus  records %u",
	     flow->sport, flow->dport, flow->cc, flow->cwnd,
	     paced ? rate_text(rate, sizeof(rate), flow->pacing * 8) : "none",
	     flow->rtt_us,
	     flow->is.echo.count);
	if (flow->has_hpcc)
		text("  window %s  utilization %.3f",
		     size_text(w, sizeof(w), window), u);
	text("\n");
}

static int by_cgroup(const void *a, const void *b)
{
	const struct hpcc_entry *x = a, *y = b;

	return x->cgroup < y->cgroup ? -1 : x->cgroup > y->cgroup;
}

/* All parameters, those of connections that ask by name first. */
static unsigned int get_entries(int map, struct hpcc_entry *list)
{
	const uint64_t *last = NULL;
	unsigned int n;

	for (n = 0; n < HPCC_NETS; n++, last = &list[n - 1].cgroup)
		if (bpf_map_get_next_key(map, last, &list[n].cgroup) ||
		    bpf_map_lookup_elem(map, &list[n].cgroup, &list[n].net))
			break;
	qsort(list, n, sizeof(*list), by_cgroup);
	return n;
}

/* Parameters that a connection uses: see hpcc_net() of hpcc_bpf.h. */
static const struct hpcc_entry *entry_of(const struct flow *flow,
					 const struct hpcc_entry *list,
					 unsigned int n)
{
	const struct hpcc_entry *found = NULL;
	unsigned int i;

	if (strcmp(flow->cc, "bfc_hpcc") && strcmp(flow->cc, "bfc_window"))
		return NULL;
	for (i = 0; i < n; i++)
		if (!list[i].cgroup || list[i].cgroup == flow->hpcc.net)
			found = &list[i];
	return found;
}

static void hpcc_show(int argc, char **argv)
{
	static struct hpcc_entry list[HPCC_NETS];
	unsigned int n, n_flows, i, k, on = 0;
	struct flow *flows;
	int fd;

	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	bpf_begin();
	fd = hpcc_is_on() ? pin_open(pin_path("/hpcc_net")) : -1;
	if (fd >= 0 && !conf_fits(fd, sizeof(list->cgroup), sizeof(list->net)))
		fail("HPCC is that of another version of bfcctl: bfcctl hpcc on replaces it");
	n = fd < 0 ? 0 : get_entries(fd, list);
	for (i = 0; i < n; i++)
		on += !list[i].net.off;
	if (!on)
		fail("HPCC is off");
	close(fd);
	n_flows = tcp_flows(&flows);
	out_open(NULL, '[');
	for (i = 0; i < n; i++) {
		if (list[i].net.off)
			continue;
		out_open(NULL, '{');
		show_conf(&list[i]);
		out_open("flows", '[');
		for (k = 0; k < n_flows; k++)
			if (entry_of(&flows[k], list, n) == &list[i])
				show_flow(&flows[k]);
		out_close(']');
		out_close('}');
	}
	out_close(']');
	free(flows);
}

void cmd_hpcc(int argc, char **argv)
{
	const char *word = next_word(&argc, &argv, "hpcc");

	if (!strcmp(word, "on"))
		hpcc_on(argc, argv);
	else if (!strcmp(word, "off"))
		hpcc_off(argc, argv);
	else if (!strcmp(word, "show"))
		hpcc_show(argc, argv);
	else
		usage_fail("what is \"hpcc %s\"?", word);
}

/* "hpcc" and "delay" of bfc.conf(5): without "off" and "show" */
static void need_on(const char *what, int *argc, char ***argv)
{
	const char *word = next_word(argc, argv, what);

	if (strcmp(word, "on"))
		usage_fail("illegal \"%s %s\": give \"%s on\" and its parameters",
			   what, word, what);
}

/**
 * hpcc_check() - "hpcc" in bfc.conf(5)
 * @argc: words after it
 * @argv: the words
 */
void hpcc_check(int argc, char **argv)
{
	struct hpcc_args a;

	need_on("hpcc", &argc, &argv);
	hpcc_args(argc, argv, &a);
}

/* true if the parameters are those that are pinned */
static bool hpcc_entry_same(const struct hpcc_entry *e)
{
	int map = pin_open(pin_path("/hpcc_net"));
	struct hpcc_net net;
	bool same;

	if (map < 0)
		return false;
	same = conf_fits(map, sizeof(e->cgroup), sizeof(net)) &&
	       !bpf_map_lookup_elem(map, &e->cgroup, &net) &&
	       !memcmp(&net, &e->net, sizeof(net));
	close(map);
	return same;
}

/**
 * hpcc_same() - whether HPCC is on as this "hpcc on" would have it
 * @argc: words after "hpcc"
 * @argv: the words
 */
bool hpcc_same(int argc, char **argv)
{
	const char *cc = "bfc_hpcc";
	struct bfc_int_config conf;
	struct hpcc_args a;

	need_on("hpcc", &argc, &argv);
	hpcc_args(argc, argv, &a);
	bpf_begin();
	if (a.cgroup)
		a.e.cgroup = cgroup_id(a.cgroup);
	if (a.sockops) {
		cc = "";
		if (access(pin_cgroup(a.cgroup, "/hpcc"), F_OK) ||
		    !object_is(object_id(hpcc_sockops__elf_bytes),
			       pin_cgroup(a.cgroup, "/hpcc_object")))
			return false;
	} else {
		if (!ops_registered(pin_path("/hpcc_ops")) ||
		    !object_is(object_id(tcp_hpcc__elf_bytes), pin_path("/hpcc_object")))
			return false;
	}
	if (a.cgroup && (!tcp_config(a.cgroup, &conf) || strcmp(conf.cc, cc) ||
			 !tcp_is_current(a.cgroup)))
		return false;
	return hpcc_entry_same(&a.e);
}

/* ---- delay ---- */

static void delay_register(const struct delay_conf *conf)
{
	struct ops o = {
		.name = "bfc_delay",
		.ops = "/delay_ops",
		.conf = "/delay_conf",
		.set = conf_set,
		.object = "/delay_object",
		.id = object_id(tcp_delay__elf_bytes),
	};
	struct tcp_delay *skel;

	if (change(&o, conf))
		return;
	skel = tcp_delay__open();
	if (!skel)
		fail("cannot open bfc_delay: %s", strerror(errno));
	pin_mkdir(pin_path("%s", ""));
	pin_fresh(skel->maps.bfc_delay_conf, pin_path("%s", o.conf));
	bpf_loaded(tcp_delay__load(skel), "bfc_delay");
	conf_set(bpf_map__fd(skel->maps.bfc_delay_conf), conf, "bfc_delay");
	enlist(skel->maps.bfc_delay, &o);
	pin_commit();
	tcp_delay__destroy(skel);
}

static void delay_args(int argc, char **argv, struct delay_conf *conf)
{
	uint64_t rate = 0, base = 0, packet = PACKET_DEFAULT;
	uint64_t target = DELAY_TARGET_DEFAULT;
	const char *word, *bad;

	memset(conf, 0, sizeof(*conf));
	while (argc) {
		word = next_word(&argc, &argv, "");
		if (!strcmp(word, "rate"))
			rate = rate_arg(word, next_word(&argc, &argv, word));
		else if (!strcmp(word, "rtt"))
			base = nanoseconds(word, next_word(&argc, &argv, word),
					   DELAY_RTT_MIN, DELAY_RTT_MAX);
		else if (!strcmp(word, "target"))
			target = thousandths(word,
					     next_word(&argc, &argv, word),
					     1001, DELAY_TARGET_MAX);
		else if (!strcmp(word, "packet"))
			packet = number(word, next_word(&argc, &argv, word),
					PACKET_MIN, PACKET_MAX);
		else
			usage_fail("what is \"%s\"?", word);
	}
	if (!rate || !base)
		usage_fail("give \"rate\", that of the hosts' links, and \"rtt\", that of the empty network");
	if (base * target / 1000 > UINT32_MAX)
		usage_fail("illegal \"%g\" for \"target\": rtt x target may be at most 4.294967295s",
			   target / 1000.0);
	bad = delay_configure(conf, rate, base, target, packet);
	if (bad)
		usage_fail("the %s is out of range with these parameters", bad);
}

static void delay_on(int argc, char **argv)
{
	struct delay_conf conf;

	delay_args(argc, argv, &conf);
	bpf_begin_change();
	delay_register(&conf);
}

/**
 * delay_check() - "delay" in bfc.conf(5)
 * @argc: words after it
 * @argv: the words
 */
void delay_check(int argc, char **argv)
{
	struct delay_conf conf;

	need_on("delay", &argc, &argv);
	delay_args(argc, argv, &conf);
}

/**
 * delay_same() - whether bfc_delay is on as this "delay on" would have it
 * @argc: words after "delay"
 * @argv: the words
 */
bool delay_same(int argc, char **argv)
{
	struct delay_conf conf, is;
	bool same;
	int fd;

	need_on("delay", &argc, &argv);
	delay_args(argc, argv, &conf);
	bpf_begin();
	if (!ops_registered(pin_path("/delay_ops")) ||
	    !object_is(object_id(tcp_delay__elf_bytes), pin_path("/delay_object")))
		return false;
	fd = pin_open(pin_path("/delay_conf"));
	if (fd < 0)
		return false;
	same = conf_get(fd, &is) && !memcmp(&conf, &is, sizeof(is));
	close(fd);
	return same;
}

static void delay_show(void)
{
	struct delay_conf conf;
	double init, max;
	char a[32];
	int fd;

	fd = ops_registered(pin_path("/delay_ops")) ? pin_open(pin_path("/delay_conf")) : -1;
	if (fd < 0)
		fail("bfc_delay is off");
	if (!conf_get(fd, &conf))
		fail("bfc_delay is that of another version of bfcctl: bfcctl delay on replaces it");
	close(fd);
	init = conf.w_init / (double)DELAY_PACKET;
	max = conf.w_max / (double)DELAY_PACKET;
	out_open(NULL, '[');
	out_open(NULL, '{');
	out_number("target_ns", conf.target);
	out_fraction("initial_window", init);
	out_fraction("largest_window", max);
	out_close('}');
	out_close(']');
	text("target %s  initial window %.2f packets  largest %.2f\n",
	     time_text(a, sizeof(a), conf.target), init, max);
}

void cmd_delay(int argc, char **argv)
{
	const char *word = next_word(&argc, &argv, "delay");

	if (!strcmp(word, "on")) {
		delay_on(argc, argv);
		return;
	}
	if (strcmp(word, "off") && strcmp(word, "show"))
		usage_fail("what is \"delay %s\"?", word);
	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	if (!strcmp(word, "show")) {
		bpf_begin();
		delay_show();
	} else {
		bpf_begin_change();
		if (!dismiss("bfc_delay", pin_path("/delay_ops")))
			fail("bfc_delay is not registered");
		pin_remove(pin_path("/delay_conf"));
		pin_remove(pin_path("/delay_object"));
		pin_rmdir(pin_path("%s", ""));
	}
}
