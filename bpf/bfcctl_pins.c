// SPDX-License-Identifier: GPL-2.0
/*
 * Whether ports stamp by the programs that "bfcctl stamp attach" has pinned for
 * them: since then the qdisc may have been deleted or added anew, and the
 * device or its network namespace may have gone. Pins stay in all these cases,
 * those of a device that has gone until the next "stamp attach" or "sweep".
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/pkt_sch_bfc.h>
#include "bfcctl.h"
#include "bfcctl_pins.h"

static const struct {
	const char *name;
	const char *text;
} states[__PIN_STATES] = {
	[PIN_IN_EFFECT] = { "in_effect", "stamps by it" },
	[PIN_NATIVE] = { "native", "stamps natively" },
	[PIN_OTHER] = { "other_program", "stamps by another program" },
	[PIN_NO_BFC] = { "no_bfc", "has no bfc qdisc" },
	[PIN_NO_DEVICE] = { "no_device", "is gone" },
	[PIN_NO_NETNS] = { "no_netns", "is gone with its network namespace" },
	[PIN_UNKNOWN] = { "unknown", "cannot be looked at" },
};

/**
 * stamp_path() - the path of the program that a port of this namespace stamps by
 * @ifindex: of the device
 * @part: "", or "-config" and so on for the pins that belong to it
 */
const char *stamp_path(int ifindex, const char *part)
{
	return pin_device("stamp", ifindex, part);
}

/* Read namespace and device from the name of a pinned program. Returns false if
 * it is another name.
 */
static bool parse(const char *name, unsigned long long *netns, int *ifindex)
{
	int end = 0;

	return sscanf(name, "stamp-%llu-%d%n", netns, ifindex, &end) == 2 &&
	       !name[end];
}

/**
 * pin_is_name() - whether this names a pin; no device can have such a name
 * @name: a word of the command line
 */
bool pin_is_name(const char *name)
{
	unsigned long long netns;
	int ifindex;

	return strlen(name) >= IF_NAMESIZE && parse(name, &netns, &ifindex);
}

/**
 * struct about - what the program was pinned for, beside the numbers in its path
 * @dev: name of the device, for when it is gone
 * @netns_cookie: of its namespace: the number in the path may be used again
 * @object: object_id() of the program
 */
struct about {
	char dev[IF_NAMESIZE];
	uint64_t netns_cookie;
	uint64_t object;
};

/**
 * pin_about() - pin_new() of the struct about of a port's program
 * @port: in this namespace
 * @object: object_id() of the program
 */
void pin_about(const struct port *port, uint64_t object)
{
	struct about about = { .netns_cookie = netns_cookie(), .object = object };
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bfc_stamp_dev",
				 sizeof(uint32_t), sizeof(about), 1, NULL);

	if (map < 0)
		fail("cannot make a map: %s", strerror(errno));
	memcpy(about.dev, port->name, sizeof(about.dev));
	conf_set(map, &about, "the device's name");
	pin_new(map, stamp_path(port->ifindex, "-dev"));
	close(map);
}

/* Read what pin_about() has pinned. Returns false if there is nothing, or
 * another version of bfcctl has pinned it.
 */
static bool get_about(const struct pin *pin, struct about *about)
{
	char path[sizeof(pin->path) + sizeof("-dev")];
	bool is;
	int map;

	snprintf(path, sizeof(path), "%s-dev", pin->path);
	map = pin_open(path);
	if (map < 0)
		return false;
	is = conf_get(map, about);
	about->dev[sizeof(about->dev) - 1] = '\0';
	close(map);
	return is;
}

static uint32_t get_prog_id(const char *path)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);
	int fd = pin_open(path);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		fail("%s: %s", path, strerror(errno));
	close(fd);
	return info.id;
}

/* Ports of a namespace, listed once for all its pins: the kernel always lists all ports. */
static struct {
	uint64_t netns_id;	/* 0 = of none yet */
	struct port *ports;
	unsigned int n;
} list;

static void list_port(const struct port *port, void *arg)
{
	(void)arg;
	list.ports = grow(list.ports, list.n, sizeof(*port));
	list.ports[list.n++] = *port;
}

static void list_forget(void)
{
	free(list.ports);
	memset(&list, 0, sizeof(list));
}

/* The port of a pin; called in the pin's namespace. NULL if the device has no
 * root qdisc.
 */
static const struct port *find_port(const struct pin *pin)
{
	unsigned int i;

	if (list.netns_id != pin->netns_id) {
		list_forget();
		list.netns_id = pin->netns_id;
		ports_each(list_port, NULL);
	}
	for (i = 0; i < list.n; i++)
		if (list.ports[i].ifindex == pin->ifindex)
			return &list.ports[i];
	return NULL;
}

/* State of a pin; called in the namespace that has the number in its path. */
static enum pin_state get_state(struct pin *pin, const struct about *about)
{
	const struct port *port;

	if (about->netns_cookie != netns_cookie())
		return PIN_NO_NETNS;
	if (!if_indextoname(pin->ifindex, pin->dev))
		return PIN_NO_DEVICE;
	port = find_port(pin);
	if (!port || strcmp(port->kind, "bfc"))
		return PIN_NO_BFC;
	if (port->stamp != BFC_STAMP_PINNED)
		return PIN_NATIVE;
	return port->prog_id == pin->prog_id ? PIN_IN_EFFECT : PIN_OTHER;
}

/* State of a pin; enters its namespace if that is another one. */
static enum pin_state look(struct pin *pin)
{
	struct about about = {};
	enum pin_state state;
	int home;

	if (!get_about(pin, &about))
		return PIN_UNKNOWN;
	memcpy(pin->dev, about.dev, sizeof(pin->dev));
	pin->object = about.object;
	if (pin->here)
		return get_state(pin, &about);
	home = netns_visit(pin->netns_id, pin->netns, sizeof(pin->netns));
	if (home < 0)
		return home == NETNS_NONE ? PIN_NO_NETNS : PIN_UNKNOWN;
	state = get_state(pin, &about);
	netns_return(home);
	return state;
}

static struct pins *all;

/* Fill in what the path says. Returns false if it is not the path of a stamping program. */
static bool init(struct pin *pin, const char *path)
{
	unsigned long long netns;

	memset(pin, 0, sizeof(*pin));
	if (!parse(strrchr(path, '/') + 1, &netns, &pin->ifindex))
		return false;
	snprintf(pin->path, sizeof(pin->path), "%s", path);
	pin->netns_id = netns;
	pin->here = netns == netns_id();
	return true;
}

static void add(const char *path)
{
	struct pin pin;

	if (!init(&pin, path) || (!all->everywhere && !pin.here))
		return;
	pin.prog_id = get_prog_id(path);
	pin.state = look(&pin);
	if (pin.state == PIN_NO_NETNS) {
		pin.here = false;
		*pin.netns = '\0';
	}
	all->pin = grow(all->pin, all->n, sizeof(pin));
	all->pin[all->n++] = pin;
}

/**
 * pins_get() - the programs that are pinned for ports
 * @pins: result, for pins_free()
 * @everywhere: get those of all network namespaces, not of this one only
 */
void pins_get(struct pins *pins, bool everywhere)
{
	memset(pins, 0, sizeof(*pins));
	pins->everywhere = everywhere;
	all = pins;
	pin_each("/stamp-*", add);
	list_forget();
}

void pins_free(struct pins *pins)
{
	free(pins->pin);
}

/**
 * unpin() - unpin the program of a port, and what belongs to it
 * @path: of the program
 *
 * Return: whether there was one.
 */
bool unpin(const char *path)
{
	static const char * const parts[] = { "-config", "-dev", "-count" };
	char part[256 + sizeof("-config")];
	bool was = pin_remove(path);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		snprintf(part, sizeof(part), "%s%s", path, parts[i]);
		pin_remove(part);
	}
	pin_rmdir(pin_path("%s", ""));
	return was;
}

/**
 * pin_is() - whether a program is pinned for a port
 * @ifindex: of the device, in this namespace
 * @prog_id: of the program
 * @object: object_id() that it was loaded from
 */
bool pin_is(int ifindex, uint32_t prog_id, uint64_t object)
{
	struct about about;
	struct pin pin;

	return init(&pin, stamp_path(ifindex, "")) && get_prog_id(pin.path) == prog_id &&
	       get_about(&pin, &about) && about.netns_cookie == netns_cookie() &&
	       about.object == object;
}

/**
 * pin_is_there() - whether a program is pinned for a port, in effect or not
 * @ifindex: of the device, in this namespace
 *
 * What an earlier namespace with the same number has left does not count.
 */
bool pin_is_there(int ifindex)
{
	struct about about;
	struct pin pin;

	return init(&pin, stamp_path(ifindex, "")) && !access(pin.path, F_OK) &&
	       !(get_about(&pin, &about) && about.netns_cookie != netns_cookie());
}

static struct {
	const char *dev;
	bool was;
} sweep;

static void unpin_gone(const char *path)
{
	struct about about;
	struct pin pin;
	bool other;

	if (!init(&pin, path) || !pin.here || !get_about(&pin, &about))
		return;
	other = about.netns_cookie != netns_cookie();
	if (sweep.dev && (other || strcmp(about.dev, sweep.dev)))
		return;
	if (!other && if_indextoname(pin.ifindex, pin.dev))
		return;
	unpin(path);
	sweep.was = true;
}

/**
 * pins_sweep() - unpin what removed devices of this namespace have left
 * @dev: only of devices that had this name; NULL: of all, and of those of an
 *	 earlier namespace that had the same number
 *
 * A device that comes back has another ifindex.
 *
 * Return: whether there was anything.
 */
bool pins_sweep(const char *dev)
{
	sweep.dev = dev;
	sweep.was = false;
	pin_each("/stamp-*", unpin_gone);
	return sweep.was;
}

/**
 * cmd_sweep() - unpin all that removed devices of this namespace have left;
 *		 udev runs it when a device is removed
 */
void cmd_sweep(int argc, char **argv)
{
	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	bpf_begin_change();
	pins_sweep(NULL);
	int_sweep();
	pin_rmdir(pin_path("%s", ""));
}

/**
 * pin_is_of() - whether a pin is of this device, or of one that had this name
 * @pin: of any namespace
 * @dev: name of a device of this one
 */
bool pin_is_of(const struct pin *pin, const char *dev)
{
	return pin->here && !strcmp(pin->dev, dev);
}

/* Print how to stamp again, and how to remove the pin. */
static void print_remedy(const struct pin *pin)
{
	const char *way = *pin->netns ? " -n " : "";

	/* The namespace has no name for "bfcctl -n"; nsenter(1) can enter it. */
	if (!pin->here && !*pin->netns && pin->state != PIN_NO_NETNS)
		return;
	text(" (");
	if (pin->state == PIN_NATIVE)
		text("bfcctl%s%s stamp restore %s, or ", way, pin->netns,
		     pin->dev);
	if (*pin->dev && pin->state != PIN_NO_NETNS)
		text("bfcctl%s%s stamp detach %s)", way, pin->netns, pin->dev);
	else
		text("bfcctl stamp detach %s)", strrchr(pin->path, '/') + 1);
}

/**
 * pin_show() - print a pin, unless it was printed with its port in this namespace
 * @pin: the pin
 */
void pin_show(const struct pin *pin)
{
	if (pin->here && pin->state == PIN_IN_EFFECT)
		return;
	out_open(NULL, '{');
	out_string("pin", pin->path);
	out_number("netns_id", pin->netns_id);
	if (*pin->netns)
		out_string("netns", pin->netns);
	out_number("ifindex", pin->ifindex);
	if (*pin->dev)
		out_string("dev", pin->dev);
	out_number("id", pin->prog_id);
	out_bool("in_effect", pin->state == PIN_IN_EFFECT);
	out_string("state", states[pin->state].name);
	out_close('}');

	text("%s: ", pin->path);
	if (pin->state != PIN_IN_EFFECT && pin->state != PIN_UNKNOWN)
		text("not in effect: ");
	if (*pin->dev)
		text("%s ", pin->dev);
	else
		text("device %d ", pin->ifindex);
	if (*pin->netns)
		text("of network namespace %s ", pin->netns);
	else if (!pin->here && pin->state != PIN_NO_NETNS)
		text("of network namespace %llu ",
		     (unsigned long long)pin->netns_id);
	text("%s", states[pin->state].text);
	if (pin->state != PIN_IN_EFFECT && pin->state != PIN_UNKNOWN)
		print_remedy(pin);
	text("\n");
}
