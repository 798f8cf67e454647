// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl stamp: have a port stamp its packets by the eBPF program.
 *
 *	<bpffs>/bfc/stamp-<netns>-<ifindex>		the program
 *	<bpffs>/bfc/stamp-<netns>-<ifindex>-config	struct bfc_stamp_config
 *	<bpffs>/bfc/stamp-<netns>-<ifindex>-count	counters of packets
 *	<bpffs>/bfc/stamp-<netns>-<ifindex>-dev		which device, and which version
 *
 * The qdisc holds the program by itself; the pins are for looking at its maps, for
 * "tc qdisc change ... stamp pinned PATH", and to stamp again when the qdisc has been
 * deleted and added.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bfc_int.h>
#include <linux/pkt_sch_bfc.h>
#include "bfc_stamp.h"
#include "bfc_stamp.skel.h"
#include "bfcctl.h"
#include "bfcctl_pins.h"

#define MACHINE_ID	"/etc/machine-id"
#define EVERY_MAX	65536

_Static_assert(sizeof(*((struct bfc_stamp *)NULL)->data) ==
	       sizeof(struct bfc_stamp_config), "nothing else in the map");

static const char *const count_names[__BFC_STAMP_COUNTS] = {
	[BFC_STAMP_NO_ROOM] = "no_room",
	[BFC_STAMP_TOO_LONG] = "too_long",
	[BFC_STAMP_NOT_PLAIN] = "not_plain",
	[BFC_STAMP_FAILED] = "failed",
	[BFC_STAMP_STRIPPED] = "stripped",
};

static const char *const modes[__BFC_STAMP_MODES] = {
	[BFC_STAMP_INT] = "on",
	[BFC_STAMP_NO_INT] = "off",
	[BFC_STAMP_STRIP] = "strip",
};

static uint8_t mode_arg(const char *word)
{
	uint8_t mode;

	for (mode = 0; mode < __BFC_STAMP_MODES; mode++)
		if (!strcmp(word, modes[mode]))
			return mode;
	usage_fail("illegal \"%s\" for \"int\": give on, off or strip", word);
}

/* The machine id with its newline, or "" if there is none: images have an empty file, or one that
 * says "uninitialized" (machine-id(5)).
 */
static const char *machine_id(void)
{
	static char id[64];
	FILE *file = fopen(MACHINE_ID, "re");

	if (!file || !fgets(id, sizeof(id), file) || strspn(id, "0123456789abcdef") != 32 ||
	    strcspn(id, "\n") != 32)
		*id = '\0';
	if (file)
		fclose(file);
	return id;
}

/* Default node number: a hash of machine id and network namespace, so that it
 * stays the same, and each real or simulated switch has another one.
 */
static uint32_t default_node(void)
{
	uint32_t hash = 2166136261U;	/* FNV-1a */
	const char *c;

	for (c = machine_id(); *c; c++)
		hash = (hash ^ *c) * 16777619U;
	return (hash ^ netns_id()) * 16777619U;
}

/* Read the words after "stamp attach DEV". Returns whether they have a node. */
static bool attach_args(int argc, char **argv, struct bfc_stamp_config *conf)
{
	bool node_given = false;
	const char *word;

	memset(conf, 0, sizeof(*conf));
	while (argc) {
		word = next_word(&argc, &argv, "");
		if (!strcmp(word, "node")) {
			conf->node = number(word, next_word(&argc, &argv, word),
					    0, UINT32_MAX);
			node_given = true;
		} else if (!strcmp(word, "every")) {
			conf->every = number(word,
					     next_word(&argc, &argv, word), 1,
					     EVERY_MAX);
		} else if (!strcmp(word, "port")) {
			conf->udp_port = number(word,
						next_word(&argc, &argv, word),
						1, UINT16_MAX);
			if (conf->udp_port == BFC_INT_ROCE_PORT)
				usage_fail("illegal \"%u\" for \"port\": it is RoCEv2's own, whose packets have no INT",
					   conf->udp_port);
		} else if (!strcmp(word, "int")) {
			conf->mode = mode_arg(next_word(&argc, &argv, "int"));
		} else {
			usage_fail("what is \"%s\"?", word);
		}
	}
	if (!node_given)
		conf->node = default_node();
	return node_given;
}

static void attach(int argc, char **argv)
{
	struct bfc_stamp_config conf;
	struct bfc_stamp *skel;
	const char *dev;
	struct port port;
	bool node_given;
	int fd;

	dev = next_word(&argc, &argv, "attach");
	node_given = attach_args(argc, argv, &conf);

	bpf_begin_change();
	port_need_bfc(&port, dev);
	if (!node_given && !*machine_id())
		note("%s: there is no id in " MACHINE_ID ": other boxes without it may have the same number, and then senders do not see that a path has changed: give \"node\"",
		     dev);
	skel = bfc_stamp__open();
	if (!skel)
		fail("cannot open the stamping program: %s", strerror(errno));
	skel->data->bfc_stamp_config = conf;
	bpf_loaded(bfc_stamp__load(skel), "the stamping program");
	fd = bpf_program__fd(skel->progs.bfc_stamp);
	pins_sweep(NULL);
	pin_mkdir(pin_path("%s", ""));
	pin_new(fd, stamp_path(port.ifindex, ""));
	pin_about(&port, object_id(bfc_stamp__elf_bytes));
	pin_new(bpf_map__fd(skel->maps.data),
		stamp_path(port.ifindex, "-config"));
	pin_new(bpf_map__fd(skel->maps.bfc_stamp_count),
		stamp_path(port.ifindex, "-count"));
	port_stamp(&port, BFC_STAMP_PINNED, fd);
	pin_commit();
	bfc_stamp__destroy(skel);
}

/* Stamp by the pinned programs again: a qdisc that was added anew stamps natively. */
static void restore(int argc, char **argv)
{
	const char *dev = argc ? next_word(&argc, &argv, "restore") : NULL;
	const char *error;
	struct pins pins;
	struct port port;
	unsigned int i;
	int fd;

	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	bpf_begin_change();
	if (dev)
		port_need_bfc(&port, dev);
	pins_get(&pins, false);
	for (i = 0; i < pins.n; i++) {
		const struct pin *pin = &pins.pin[i];

		if (pin->state == PIN_NO_NETNS || (dev && pin->ifindex != port.ifindex))
			continue;
		if (pin->state == PIN_NATIVE) {
			fd = pin_open(pin->path);
			if (fd < 0)
				continue;
			port_get(&port, pin->ifindex);
			error = port_try_stamp(&port, BFC_STAMP_PINNED, fd);
			close(fd);
			if (error && dev)
				fail("%s", error);
			/* The other ports are to stamp all the same. */
			if (error) {
				note("%s", error);
				ctl.status = 1;
				continue;
			}
			text("%s: stamps by program %u again\n", pin->dev,
			     pin->prog_id);
		} else if (dev && pin->state == PIN_OTHER) {
			fail("%s stamps by another program, %u", dev,
			     port.prog_id);
		} else if (dev && pin->state == PIN_UNKNOWN) {
			fail("another version of bfcctl has pinned the program of %s (bfcctl stamp attach %s)",
			     dev, dev);
		}
		if (dev)
			break;
	}
	if (dev && i == pins.n)
		fail("nothing is pinned for %s (bfcctl stamp attach %s)", dev,
		     dev);
	pins_free(&pins);
}

/* Unpin a program by the name of its pin, even if its network namespace is gone. */
static void unpin_named(const char *name)
{
	const char *path = pin_path("/%s", name);
	struct pins pins;
	unsigned int i;

	pins_get(&pins, true);
	for (i = 0; i < pins.n && strcmp(pins.pin[i].path, path); i++)
		;
	if (i == pins.n)
		fail("%s: nothing is pinned there", path);
	if (pins.pin[i].state == PIN_IN_EFFECT)
		fail("%s stamps by %s: bfcctl%s%s stamp detach %s",
		     pins.pin[i].dev, path, *pins.pin[i].netns ? " -n " : "",
		     pins.pin[i].netns, pins.pin[i].dev);
	unpin(path);
	pins_free(&pins);
}

/* Also removes the pins if the qdisc or the device has gone in the meantime. */
static void detach(int argc, char **argv)
{
	const char *dev = next_word(&argc, &argv, "detach");
	struct port port;
	bool pinned, was;

	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	bpf_begin_change();
	if (pin_is_name(dev)) {
		unpin_named(dev);
		return;
	}
	was = pins_sweep(dev);
	if (was && !if_nametoindex(dev))
		return;
	port_get(&port, device_index(dev));
	pinned = port.stamp == BFC_STAMP_PINNED;
	if (pinned)
		port_stamp(&port, BFC_STAMP_NATIVE, -1);
	if (unpin(stamp_path(port.ifindex, "")) || pinned || was)
		return;
	port_need_bfc(&port, dev);
	fail("%s stamps natively already", dev);
}

/* Check the words after "pinned": a path, or a program as tc shows it. tc's
 * plugin reads them again for each port.
 */
static void pinned_args(int argc, char **argv)
{
	static const char id[] = "stamp pinned id";
	const char *word = next_word(&argc, &argv, "pinned");

	if (!strcmp(word, "id")) {
		number(id, next_word(&argc, &argv, id), 1, UINT32_MAX);
		if (argc && !strcmp(*argv, "name")) {
			next_word(&argc, &argv, "");
			next_word(&argc, &argv, "name");
		}
		if (argc && !strcmp(*argv, "tag")) {
			next_word(&argc, &argv, "");
			next_word(&argc, &argv, "tag");
		}
	}
	if (argc)
		usage_fail("what is \"%s\"?", *argv);
}

/**
 * stamp_check() - "stamp" in bfc.conf(5)
 * @argc: words after it
 * @argv: native, pinned and a program, or attach and what follows DEV on the command line
 */
void stamp_check(int argc, char **argv)
{
	const char *word = next_word(&argc, &argv, "stamp");
	struct bfc_stamp_config conf;

	if (!strcmp(word, "attach"))
		attach_args(argc, argv, &conf);
	else if (!strcmp(word, "pinned"))
		pinned_args(argc, argv);
	else if (strcmp(word, "native"))
		usage_fail("illegal \"stamp\" value \"%s\": give native, attach and its parameters, or pinned and the path of a program",
			   word);
	else if (argc)
		usage_fail("what is \"%s\"?", *argv);
}

/* Configuration of the program that is pinned for a port. Returns false if
 * there is none.
 */
static bool pinned_config(int ifindex, struct bfc_stamp_config *conf)
{
	int fd = pin_open(stamp_path(ifindex, "-config"));
	bool is;

	if (fd < 0)
		return false;
	is = conf_get(fd, conf);
	close(fd);
	return is;
}

/**
 * stamp_same() - whether a port stamps as this "stamp attach" would have it stamp, and by
 *		  the program of this version
 * @ifindex: of the port
 * @prog_id: of the program that it stamps by
 * @argc: words after "attach"
 * @argv: the words
 */
bool stamp_same(int ifindex, uint32_t prog_id, int argc, char **argv)
{
	struct bfc_stamp_config conf, is;

	attach_args(argc, argv, &conf);
	bpf_begin();
	return pin_is(ifindex, prog_id, object_id(bfc_stamp__elf_bytes)) &&
	       prog_has(prog_id, stamp_path(ifindex, "-config")) &&
	       pinned_config(ifindex, &is) && !memcmp(&conf, &is, sizeof(is));
}

/**
 * stamp_is_native() - whether a port stamps natively, and nothing is pinned for it
 * @dev: name of the port
 */
bool stamp_is_native(const char *dev)
{
	struct port port;

	bpf_begin();
	port_get(&port, device_index(dev));
	return port.stamp != BFC_STAMP_PINNED && !pin_is_there(port.ifindex);
}

/* Sum of a counter over all processors */
static uint64_t get_count(int fd, uint32_t what)
{
	int cpu, cpus = libbpf_num_possible_cpus();
	uint64_t *values, sum = 0;

	values = need(calloc(cpus > 0 ? cpus : 1, sizeof(*values)));
	if (cpus > 0 && !bpf_map_lookup_elem(fd, &what, values))
		for (cpu = 0; cpu < cpus; cpu++)
			sum += values[cpu];
	free(values);
	return sum;
}

/* Show configuration and counters of bfcctl's program; another program has maps
 * of its own.
 */
static void show_ours(const struct port *port)
{
	int prog = pin_open(stamp_path(port->ifindex, ""));
	int config = pin_open(stamp_path(port->ifindex, "-config"));
	int counts = pin_open(stamp_path(port->ifindex, "-count"));
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info), i;
	struct bfc_stamp_config conf;
	uint64_t n;

	if (prog < 0 || config < 0 || counts < 0 ||
	    bpf_obj_get_info_by_fd(prog, &info, &len) ||
	    info.id != port->prog_id ||
	    !prog_has(info.id, stamp_path(port->ifindex, "-config")) ||
	    !conf_get(config, &conf) ||
	    !counts_fit(counts, sizeof(i), sizeof(n)))
		goto out;
	out_string("pin", stamp_path(port->ifindex, ""));
	out_number("node", conf.node);
	out_bool("int", conf.mode == BFC_STAMP_INT);
	out_bool("strip", conf.mode == BFC_STAMP_STRIP);
	out_number("every", conf.every ? conf.every : 1);
	out_number("port", conf.udp_port ? conf.udp_port : BFC_INT_UDP_PORT);
	out_number("hop_id", bfc_int_hop_id(conf.node, port->ifindex));
	text("  node %u int %s every %u port %u: hop id 0x%03x\n ", conf.node,
	     modes[conf.mode % __BFC_STAMP_MODES], conf.every ? conf.every : 1,
	     conf.udp_port ? conf.udp_port : BFC_INT_UDP_PORT,
	     bfc_int_hop_id(conf.node, port->ifindex));
	for (i = 0; i < __BFC_STAMP_COUNTS; i++) {
		n = get_count(counts, i);
		out_number(count_names[i], n);
		text(" %s %llu", count_names[i], (unsigned long long)n);
	}
	text("\n");
out:
	/* -1 is no descriptor: close() ignores it */
	close(prog);
	close(config);
	close(counts);
}

struct selection {
	int ifindex;
};

static void show_port(const struct port *port, void *arg)
{
	static const struct {
		const char *name;
		unsigned int stat;
	} stats[] = {
		{ "runs", TCA_BFC_STATS_STAMP_RUNS },
		{ "dropped", TCA_BFC_STATS_STAMP_DROPS },
		{ "redirects", TCA_BFC_STATS_STAMP_REDIRECTS },
		{ "grown", TCA_BFC_STATS_STAMP_GROWN },
		{ "shrunk", TCA_BFC_STATS_STAMP_SHRUNK },
		{ "bad_len", TCA_BFC_STATS_STAMP_BAD_LEN },
		{ "untagged", TCA_BFC_STATS_STAMP_UNTAGGED },
		{ "unknown", TCA_BFC_STATS_STAMP_UNKNOWN },
	};
	const struct selection *only = arg;
	unsigned int i;

	if (strcmp(port->kind, "bfc") ||
	    (only->ifindex && port->ifindex != only->ifindex))
		return;
	out_open(NULL, '{');
	out_string("dev", port->name);
	if (port->stamp != BFC_STAMP_PINNED) {
		out_string("stamp", "native");
		text("%s: stamps natively\n", port->name);
		out_close('}');
		return;
	}
	out_string("stamp", "pinned");
	out_number("id", port->prog_id);
	out_string("name", port->prog_name);
	out_string("tag", port->prog_tag);
	text("%s: stamps by program %u %s tag %s\n ", port->name, port->prog_id,
	     port->prog_name, port->prog_tag);
	for (i = 0; i < ARRAY_SIZE(stats); i++) {
		out_number(stats[i].name, port->stats.value[stats[i].stat]);
		text(" %s %llu", stats[i].name,
		     (unsigned long long)port->stats.value[stats[i].stat]);
	}
	text("\n");
	show_ours(port);
	out_close('}');
}

static void show(int argc, char **argv)
{
	const char *dev = argc ? next_word(&argc, &argv, "show") : NULL;
	struct selection only = {};
	struct pins pins;
	struct port port;
	unsigned int i, n = 0;

	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	bpf_begin();
	pins_get(&pins, !dev);
	if (dev) {
		only.ifindex = if_nametoindex(dev);
		if (!only.ifindex)
			only.ifindex = -1;
		for (i = 0; i < pins.n; i++)
			n += pin_is_of(&pins.pin[i], dev);
		if (!n)
			port_need_bfc(&port, dev);
	}
	out_open(NULL, '[');
	ports_each(show_port, &only);
	for (i = 0; i < pins.n; i++)
		if (!dev || pin_is_of(&pins.pin[i], dev))
			pin_show(&pins.pin[i]);
	out_close(']');
	pins_free(&pins);
}

void cmd_stamp(int argc, char **argv)
{
	const char *word = next_word(&argc, &argv, "stamp");

	if (!strcmp(word, "attach"))
		attach(argc, argv);
	else if (!strcmp(word, "detach"))
		detach(argc, argv);
	else if (!strcmp(word, "restore"))
		restore(argc, argv);
	else if (!strcmp(word, "show"))
		show(argc, argv);
	else
		usage_fail("what is \"stamp %s\"?", word);
}
