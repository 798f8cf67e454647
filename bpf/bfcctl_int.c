// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl int, bfcctl watch: in-band telemetry at hosts, and the view of it.
 *
 *	<bpffs>/bfc/int_udp			struct bfc_int_udp_flow, all devices'
 *	<bpffs>/bfc/int_udp_count		packets, all devices'
 *	<bpffs>/bfc/int-<netns>-<ifindex>	a device has the UDP programs
 *	<bpffs>/bfc/int-<netns>-<ifindex>-object	their object_id()
 *	<bpffs>/bfc/int-<netns>-<ifindex>-config	peers that they are for
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/pkt_sch_bfc.h>
#include "bfc_int_udp.h"
#include "bfc_int_udp.skel.h"
#include "bfcctl.h"
#include "bfcctl_view.h"

/* bfcctl's filters at clsact ingress and egress: no other filter has this handle. */
#define FILTER_HANDLE	0xbfc
#define FILTER_PRIORITY	1

#define EVERY_MAX	65536

/**
 * now_ns() - the time, of a clock that nothing sets
 */
uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

void wait_ns(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* ---- RoCEv2: programs at clsact ---- */

static const struct {
	enum bpf_tc_attach_point point;
	const char *name;
} ways[] = {
	/* Ingress is attached first, so a failure between the two breaks nothing. */
	{ BPF_TC_INGRESS, "ingress" },
	{ BPF_TC_EGRESS, "egress" },
};

/* Detach bfcctl's filters. Returns their number. */
static unsigned int udp_unhook(int ifindex, const char *name)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex);
	unsigned int i, was = 0;
	int err;

	for (i = ARRAY_SIZE(ways); i-- > 0; ) {
		DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = FILTER_HANDLE,
				    .priority = FILTER_PRIORITY);

		hook.attach_point = ways[i].point;
		if (bpf_tc_query(&hook, &opts))
			continue;
		opts.prog_fd = 0;
		opts.prog_id = 0;
		opts.flags = 0;
		err = bpf_tc_detach(&hook, &opts);
		if (err)
			fail("%s: cannot detach the UDP program at %s: %s", name,
			     ways[i].name, strerror(-err));
		was++;
	}
	return was;
}

/* Unpin the maps that devices share, if no device is left. */
static void udp_unshare(void)
{
	if (pin_exists("/int-*"))
		return;
	pin_remove(pin_path("/int_udp"));
	pin_remove(pin_path("/int_udp_count"));
}

static void unpin_gone(const char *path)
{
	unsigned long long netns;
	char name[IF_NAMESIZE];
	int ifindex;

	if (sscanf(strrchr(path, '/'), "/int-%llu-%d", &netns, &ifindex) == 2 &&
	    netns == netns_id() && !if_indextoname(ifindex, name))
		pin_remove(path);
}

/**
 * int_sweep() - unpin what removed devices of this namespace have left
 */
void int_sweep(void)
{
	pin_each("/int-*", unpin_gone);
	udp_unshare();
}

static void udp_attach(const char *name, const struct bfc_int_config *conf)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook,
			    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	struct bfc_int_udp *skel;
	unsigned int i;
	bool again;
	int err;

	hook.ifindex = device_index(name);
	device_need_ethernet(name);
	bpf_begin_change();
	err = bpf_tc_hook_create(&hook);
	if (err && err != -EEXIST)
		fail("%s: cannot add a clsact qdisc: %s", name, strerror(-err));
	bpf_unsaid();
	port_need_clsact(hook.ifindex, name);
	skel = bfc_int_udp__open();
	if (!skel)
		fail("cannot open the UDP programs: %s", strerror(errno));
	skel->rodata->bfc_int_netns = netns_cookie();
	int_sweep();
	pin_mkdir(pin_path("%s", ""));
	pin_share(skel->maps.bfc_int_udp, pin_path("/int_udp"));
	pin_share(skel->maps.bfc_int_udp_count, pin_path("/int_udp_count"));
	pin_fresh(skel->maps.bfc_int_config, pin_device("int", hook.ifindex, "-config"));
	bpf_loaded(bfc_int_udp__load(skel), "the UDP programs");
	conf_set(bpf_map__fd(skel->maps.bfc_int_config), conf, "the UDP programs");
	again = !access(pin_device("int", hook.ifindex, ""), F_OK);
	pin_new(bpf_program__fd(skel->progs.bfc_int_udp_ingress),
		pin_device("int", hook.ifindex, ""));
	object_pin(object_id(bfc_int_udp__elf_bytes), pin_device("int", hook.ifindex, "-object"));

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = FILTER_HANDLE,
				    .priority = FILTER_PRIORITY,
				    .flags = BPF_TC_F_REPLACE);

		hook.attach_point = ways[i].point;
		opts.prog_fd = bpf_program__fd(ways[i].point == BPF_TC_INGRESS ?
					       skel->progs.bfc_int_udp_ingress :
					       skel->progs.bfc_int_udp_egress);
		err = bpf_tc_attach(&hook, &opts);
		if (err && !again)
			udp_unhook(hook.ifindex, name);
		if (err == -EINVAL)
			fail("%s: cannot attach the UDP program at %s: a filter of another kind seems to have priority %d, which it needs (tc filter show dev %s %s)",
			     name, ways[i].name, FILTER_PRIORITY, name, ways[i].name);
		if (err)
			fail("%s: cannot attach the UDP program at %s: %s", name,
			     ways[i].name, strerror(-err));
	}
	pin_commit();
	bfc_int_udp__destroy(skel);
}

static void udp_detach(const char *name)
{
	int ifindex = device_index(name);
	unsigned int was;

	bpf_begin_change();
	was = udp_unhook(ifindex, name);
	was += pin_remove(pin_device("int", ifindex, ""));
	pin_remove(pin_device("int", ifindex, "-object"));
	pin_remove(pin_device("int", ifindex, "-config"));
	if (!was)
		fail("%s: the UDP programs are not attached", name);
	udp_unshare();
	pin_rmdir(pin_path("%s", ""));
	/* The clsact stays: another program may have made it, and it costs nothing. */
}

/* ---- int ---- */

/* Peers that telemetry is for by default: private addresses, which no packet
 * from or to the Internet has (RFC 1918, 3927, 4193, 4291).
 */
static const char * const private_prefixes[] = {
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
	"fc00::/7", "fe80::/10",
};

static void add_prefix(struct bfc_int_config *conf, const char *text)
{
	static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff };
	uint8_t addr[16], mask[16] = {};
	unsigned int i, before, bits = 128;
	char copy[64], *slash;

	if (conf->prefixes == BFC_INT_PREFIXES)
		usage_fail("more than %u of \"to\"", BFC_INT_PREFIXES);
	snprintf(copy, sizeof(copy), "%s", text);
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	memcpy(addr, mapped, sizeof(addr));
	before = 96;
	if (inet_pton(AF_INET, copy, addr + 12) != 1) {
		before = 0;
		if (inet_pton(AF_INET6, copy, addr) != 1)
			usage_fail("illegal \"%s\" for \"to\": give a prefix, as 10.0.0.0/8 or fd00::/8, or any",
				   text);
	}
	if (slash)
		bits = before + number("to", slash, 0, 128 - before);
	for (i = 0; i < bits; i++)
		mask[i / 8] |= 0x80 >> i % 8;
	for (i = 0; i < sizeof(addr); i++)
		addr[i] &= mask[i];
	memcpy(conf->to[conf->prefixes].addr, addr, sizeof(addr));
	memcpy(conf->to[conf->prefixes++].mask, mask, sizeof(mask));
}

/**
 * int_scope() - peers that INT is for
 * @conf: changed
 * @text: a prefix to add, "any", or NULL: private addresses
 */
void int_scope(struct bfc_int_config *conf, const char *text)
{
	unsigned int i;

	if (text && strcmp(text, "any")) {
		add_prefix(conf, text);
	} else if (text) {
		add_prefix(conf, "::/0");
	} else {
		for (i = 0; i < ARRAY_SIZE(private_prefixes); i++)
			add_prefix(conf, private_prefixes[i]);
	}
}

/* HPCC stays on if the cgroup uses it. */
static void tcp_attach(const char *cgroup, struct bfc_int_config *conf)
{
	struct bfc_int_config was;

	bpf_begin_change();
	tcp_sweep();
	if (tcp_config(cgroup, &was))
		memcpy(conf->cc, was.cc, sizeof(conf->cc));
	tcp_on(cgroup, conf);
	pin_commit();
}

/**
 * struct int_args - words after "int attach" or "int detach"
 * @cgroup: directory, or NULL
 * @dev: device, or NULL
 * @conf: configuration of the cgroup or the device
 */
struct int_args {
	const char *cgroup;
	const char *dev;
	struct bfc_int_config conf;
};

/* @dev: the device, or NULL: then the words have a device or a cgroup */
static void int_args(const char *dev, int argc, char **argv, bool attach, struct int_args *a)
{
	const char *word;

	*a = (struct int_args){ .dev = dev, .conf.every = 1 };
	while (argc) {
		word = next_word(&argc, &argv, "");
		if (is_option(word, "--cgroup"))
			a->cgroup = next_word(&argc, &argv, word);
		else if (attach && is_keyword(word, "every"))
			a->conf.every = number(word,
					       next_word(&argc, &argv, word),
					       1, EVERY_MAX);
		else if (attach && is_keyword(word, "hops"))
			a->conf.hops = number(word,
					      next_word(&argc, &argv, word),
					      1, BFC_INT_TCP_HOPS_MAX);
		else if (attach && is_keyword(word, "to"))
			int_scope(&a->conf, next_word(&argc, &argv, word));
		else if (!a->dev)
			a->dev = word;
		else
			usage_fail("what is \"%s\"?", word);
	}
	if (!a->cgroup == !a->dev)
		usage_fail("give a device, or --cgroup and a directory");
	if (a->dev && (a->conf.every != 1 || a->conf.hops))
		usage_fail("\"every\" and \"hops\" are for --cgroup");
	if (!a->conf.prefixes)
		int_scope(&a->conf, NULL);
}

static void int_dev(const struct int_args *a, bool attach)
{
	if (attach)
		udp_attach(a->dev, &a->conf);
	else
		udp_detach(a->dev);
}

static void int_attach(int argc, char **argv, bool attach)
{
	struct int_args a;

	int_args(NULL, argc, argv, attach, &a);
	if (a.dev)
		int_dev(&a, attach);
	else if (attach)
		tcp_attach(a.cgroup, &a.conf);
	else if (!tcp_off(a.cgroup))
		fail("%s: the TCP program is not attached", a.cgroup);
}

/* "int" of [host], for cgroups only. Returns true for "attach". */
static bool host_args(int argc, char **argv, struct int_args *a)
{
	const char *word = next_word(&argc, &argv, "int");
	bool attach = !strcmp(word, "attach");

	if (!attach && strcmp(word, "detach"))
		usage_fail("what is \"int %s\"?", word);
	int_args(NULL, argc, argv, attach, a);
	if (a->dev)
		usage_fail("\"int %s\" of a device belongs to its [port]",
			   word);
	return attach;
}

/**
 * int_check() - "int" in bfc.conf(5), section [host]
 * @argc: words after it
 * @argv: the words
 */
void int_check(int argc, char **argv)
{
	struct int_args a;

	host_args(argc, argv, &a);
}

/**
 * int_same() - whether a cgroup has INT as this "int attach" would have it
 * @argc: words after "int"
 * @argv: the words
 *
 * With "int detach": true if it has none.
 */
bool int_same(int argc, char **argv)
{
	struct bfc_int_config is;
	struct int_args a;

	if (!host_args(argc, argv, &a))
		return access(pin_cgroup(a.cgroup, "/config"), F_OK);
	if (!tcp_config(a.cgroup, &is) || !tcp_is_current(a.cgroup))
		return false;
	/* set by HPCC */
	memcpy(a.conf.cc, is.cc, sizeof(is.cc));
	a.conf.cgroup = is.cgroup;
	return !memcmp(&a.conf, &is, sizeof(is));
}

/* "int" of [port], without the device, which is @dev. Returns true for "attach". */
static bool port_args(const char *dev, int argc, char **argv, struct int_args *a)
{
	bool attach = argc && !strcmp(*argv, "attach");
	bool makes_sense = attach || (argc == 1 && !strcmp(*argv, "detach"));
	int i;

	for (i = 1; i < argc; i++)
		makes_sense &= strcmp(argv[i], "--cgroup") != 0;
	if (!makes_sense)
		usage_fail("give \"int attach\" or \"int detach\"; those of a cgroup belong to [host]");
	int_args(dev, argc - 1, argv + 1, attach, a);
	return attach;
}

/**
 * int_port_check() - "int" in bfc.conf(5), section [port]
 * @argc: words after it
 * @argv: the words
 */
void int_port_check(int argc, char **argv)
{
	struct int_args a;

	port_args("a port", argc, argv, &a);
}

/**
 * int_port() - do what "int" in section [port] says
 * @dev: name of the device
 * @argc: words after "int"
 * @argv: the words
 */
void int_port(const char *dev, int argc, char **argv)
{
	struct int_args a;
	bool attach = port_args(dev, argc, argv, &a);

	int_dev(&a, attach);
}

/**
 * int_port_same() - whether a device has the programs for RoCEv2 as this "int" would have it
 * @dev: name of it
 * @argc: words after "int"
 * @argv: the words
 */
bool int_port_same(const char *dev, int argc, char **argv)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = device_index(dev));
	struct bfc_int_config is;
	struct int_args a;
	unsigned int i, n = 0;
	bool same = true;
	int map;

	bpf_begin();
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = FILTER_HANDLE,
				    .priority = FILTER_PRIORITY);

		hook.attach_point = ways[i].point;
		if (bpf_tc_query(&hook, &opts))
			continue;
		n++;
		same &= prog_has(opts.prog_id, pin_device("int", hook.ifindex, "-config"));
	}
	if (!port_args(dev, argc, argv, &a))
		return !n;
	if (n != ARRAY_SIZE(ways) || !same ||
	    !object_is(object_id(bfc_int_udp__elf_bytes),
		       pin_device("int", hook.ifindex, "-object")))
		return false;
	map = pin_open(pin_device("int", hook.ifindex, "-config"));
	if (map < 0)
		return false;
	same = conf_get(map, &is) && !memcmp(&a.conf, &is, sizeof(is));
	close(map);
	return same;
}

static void show_views(int ifindex)
{
	struct views before, now;

	views_get(&before, ifindex);
	wait_ns(views_gap(&before));
	views_get(&now, ifindex);
	views_print(&before, &now);
	views_free(&before);
	views_free(&now);
}

static void int_show(int argc, char **argv)
{
	const char *dev = argc ? next_word(&argc, &argv, "show") : NULL;
	int ifindex;

	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	ifindex = dev ? device_index(dev) : 0;
	bpf_begin();
	out_open(NULL, '[');
	show_views(ifindex);
	out_close(']');
}

void cmd_int(int argc, char **argv)
{
	const char *word = next_word(&argc, &argv, "int");

	if (!strcmp(word, "attach"))
		int_attach(argc, argv, true);
	else if (!strcmp(word, "detach"))
		int_attach(argc, argv, false);
	else if (!strcmp(word, "show"))
		int_show(argc, argv);
	else
		usage_fail("what is \"int %s\"?", word);
}

/* ---- watch ---- */

struct port_list {
	struct port *ports;
	unsigned int n;
	int ifindex;
};

static void add_port(const struct port *port, void *arg)
{
	struct port_list *list = arg;

	if (strcmp(port->kind, "bfc") ||
	    (list->ifindex && port->ifindex != list->ifindex))
		return;
	list->ports = grow(list->ports, list->n, sizeof(*port));
	list->ports[list->n++] = *port;
}

static const struct port *old_port(const struct port_list *list, int ifindex)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (list->ports[i].ifindex == ifindex)
			return &list->ports[i];
	return NULL;
}

/* Rate since @was, @seconds ago; 0 if the counter has started over with a new qdisc. */
static double per_second(uint64_t is, uint64_t was, double seconds)
{
	return is < was || seconds <= 0 ? 0 : (is - was) / seconds;
}

static void print_port(const struct port *was, const struct port *is,
		       double seconds)
{
	const uint64_t *stat = is->stats.value;
	double rate, stamps;
	char a[32], b[32];

	rate = was ? per_second(is->counts.bytes, was->counts.bytes, seconds) * 8 : 0;
	stamps = was ? per_second(stat[TCA_BFC_STATS_STAMP_RUNS],
				  was->stats.value[TCA_BFC_STATS_STAMP_RUNS],
				  seconds) : 0;
	out_open(NULL, '{');
	out_string("dev", is->name);
	out_number("backlog", is->counts.backlog);
	out_fraction("rate", rate);
	out_number("drops", is->counts.drops);
	out_number("occupied", stat[TCA_BFC_STATS_OCCUPIED]);
	out_number("paused", stat[TCA_BFC_STATS_PAUSED]);
	out_number("upstream_paused", stat[TCA_BFC_STATS_UPSTREAM_PAUSED]);
	out_fraction("stamped", stamps);
	out_close('}');
	text("%-12s rate %s  backlog %s  queues %llu, paused %llu  pausing %llu  drops %llu",
	     is->name, rate_text(a, sizeof(a), rate),
	     size_text(b, sizeof(b), is->counts.backlog),
	     (unsigned long long)stat[TCA_BFC_STATS_OCCUPIED],
	     (unsigned long long)stat[TCA_BFC_STATS_PAUSED],
	     (unsigned long long)stat[TCA_BFC_STATS_UPSTREAM_PAUSED],
	     (unsigned long long)is->counts.drops);
	if (is->prog_id)
		text("  stamped %.0f/s by %s", stamps, is->prog_name);
	text("\n");
}

void cmd_watch(int argc, char **argv)
{
	uint64_t interval = 1000000000, count = UINT64_MAX, gap, i;
	struct port_list was = {}, is = {};
	bool clear = isatty(STDOUT_FILENO);
	struct views before, now;
	double then, start;
	const char *word;
	unsigned int p;

	while (argc) {
		word = next_word(&argc, &argv, "");
		if (is_keyword(word, "interval"))
			interval = nanoseconds(word,
					       next_word(&argc, &argv, word),
					       INTERVAL_MIN, INTERVAL_MAX);
		else if (is_keyword(word, "count"))
			count = number(word, next_word(&argc, &argv, word), 1,
				       UINT64_MAX);
		else if (!is.ifindex)
			is.ifindex = device_index(word);
		else
			usage_fail("what is \"%s\"?", word);
	}
	bpf_begin();
	was.ifindex = is.ifindex;
	ports_each(add_port, &was);
	then = now_ns() / 1e9;
	for (i = 0; i < count; i++) {
		views_get(&before, is.ifindex);
		gap = views_gap(&before);
		if (!gap) {
			gap = interval;
		} else if (gap < interval) {
			wait_ns(interval - gap);
			/* Sample again: the first sample must be no older than the gap. */
			views_free(&before);
			views_get(&before, is.ifindex);
		} else {
			gap = interval;
		}
		wait_ns(gap);
		views_get(&now, is.ifindex);
		ports_each(add_port, &is);
		start = now_ns() / 1e9;

		if (clear && !ctl.json)
			fputs("\033[H\033[J", stdout);
		out_open(NULL, '{');
		out_open("ports", '[');
		for (p = 0; p < is.n; p++)
			print_port(old_port(&was, is.ports[p].ifindex),
				   &is.ports[p], start - then);
		out_close(']');
		out_open("flows", '[');
		views_print(&before, &now);
		out_close(']');
		out_close('}');
		out_flush();

		then = start;
		free(was.ports);
		was = is;
		is.ports = NULL;
		is.n = 0;
		views_free(&before);
		views_free(&now);
	}
	free(was.ports);
}
