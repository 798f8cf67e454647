// SPDX-License-Identifier: GPL-2.0
/*
 * INT of TCP connections: the program that a cgroup's sockets run, and the
 * sockets' storage, which sock_diag(7) reports together with the addresses.
 *
 *	<bpffs>/bfc/int_sk			the sockets' storage, shared by all
 *	<bpffs>/bfc/cgroup-<id>/link		attachment to a cgroup
 *	<bpffs>/bfc/cgroup-<id>/config		struct bfc_int_config
 *	<bpffs>/bfc/cgroup-<id>/object		object_id() of the program
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bfc_int_tcp.skel.h"
#include "bfcctl.h"
#include "rtnl.h"

#define STATES_WITH_DATA	(1 << 1 | 1 << 4 | 1 << 5 | 1 << 8)	/* TCP_* */

static const char *storage_path(void)
{
	return pin_path("/int_sk");
}

/**
 * tcp_on() - have the sockets of a cgroup take part in INT
 * @cgroup: its directory
 * @conf: its configuration
 *
 * Only connections that begin, and listeners that are opened, from now on take
 * part. If the cgroup has the program already, this one replaces it, with this
 * configuration for all its sockets. The caller calls pin_commit().
 */
void tcp_on(const char *cgroup, const struct bfc_int_config *conf)
{
	struct bfc_int_config copy = *conf;
	const char *dir, *path;
	struct bfc_int_tcp *skel;
	int prog;

	bpf_begin_change();
	copy.cgroup = cgroup_id(cgroup);
	dir = pin_cgroup(cgroup, "");
	skel = bfc_int_tcp__open();
	if (!skel)
		fail("cannot open the TCP program: %s", strerror(errno));
	pin_mkdir(dir);
	pin_share(skel->maps.bfc_int_sk, storage_path());
	pin_fresh(skel->maps.bfc_int_config, pin_cgroup(cgroup, "/config"));
	bpf_loaded(bfc_int_tcp__load(skel), "the TCP program");
	conf_set(bpf_map__fd(skel->maps.bfc_int_config), &copy,
		 "the TCP program");

	object_pin(object_id(bfc_int_tcp__elf_bytes), pin_cgroup(cgroup, "/object"));
	prog = bpf_program__fd(skel->progs.bfc_int_tcp);
	path = pin_cgroup(cgroup, "/link");
	sockops_attach(prog, cgroup, path, "the TCP program");
	bfc_int_tcp__destroy(skel);
}

/**
 * tcp_release() - take the storage out of the bpf file system if no program needs it
 *
 * Not while bfc_hpcc is registered: it would go on using this map, and new
 * connections would have another one.
 */
void tcp_release(void)
{
	if (pin_exists("/cgroup-*") || pin_exists("/hpcc_ops"))
		return;
	pin_remove(storage_path());
	pin_rmdir(pin_path("%s", ""));
}

/* Remove the pins of a cgroup. Returns true if it had the program. */
static bool forget(uint64_t cgroup)
{
	unsigned long long id = cgroup;
	bool was = pin_remove(pin_path("/cgroup-%llu/link", id));

	pin_remove(pin_path("/cgroup-%llu/config", id));
	pin_remove(pin_path("/cgroup-%llu/object", id));
	/* hpcc_sockops has no INT to work with any more. */
	pin_remove(pin_path("/cgroup-%llu/hpcc", id));
	pin_remove(pin_path("/cgroup-%llu/hpcc_object", id));
	hpcc_forget(cgroup);
	rmdir(pin_path("/cgroup-%llu", id));
	hpcc_release();
	if (was)
		tcp_release();
	return was;
}

/* The kernel detaches a link from its cgroup when the cgroup has been removed
 * and its last socket has gone.
 */
static void sweep(const char *path)
{
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);
	int fd = pin_open(path);

	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
	    info.type == BPF_LINK_TYPE_CGROUP && !info.cgroup.cgroup_id)
		forget(strtoull(path + strlen(pin_path("/cgroup-")), NULL, 10));
	close(fd);
}

/**
 * tcp_sweep() - undo tcp_on() where the cgroup has been removed
 *
 * To be called before anything is pinned: pins that are not in use go as well.
 */
void tcp_sweep(void)
{
	pin_each("/cgroup-*/link", sweep);
}

/**
 * tcp_off() - undo tcp_on()
 * @cgroup: its directory
 *
 * Connections go on, without INT.
 *
 * Return: whether there was something to undo.
 */
bool tcp_off(const char *cgroup)
{
	bpf_begin_change();
	tcp_sweep();
	return forget(cgroup_id(cgroup));
}

/**
 * tcp_config() - the configuration of a cgroup
 * @cgroup: its directory
 * @conf: result
 *
 * Ends the program with a message if it is that of another version of bfcctl: what that has
 * switched on is not known, and is not to be lost.
 *
 * Return: false if it has none: its sockets do not take part.
 */
bool tcp_config(const char *cgroup, struct bfc_int_config *conf)
{
	int fd;

	bpf_begin();
	fd = pin_open(pin_cgroup(cgroup, "/config"));
	if (fd < 0)
		return false;
	if (!conf_get(fd, conf))
		fail("%s: INT is that of another version of bfcctl, which cannot be read: \"bfcctl int detach --cgroup %s\" first",
		     cgroup, cgroup);
	close(fd);
	return true;
}

/**
 * tcp_is_current() - whether a cgroup has the program of this version of bfcctl, with the
 * configuration that is pinned
 * @cgroup: its directory
 */
bool tcp_is_current(const char *cgroup)
{
	return object_is(object_id(bfc_int_tcp__elf_bytes), pin_cgroup(cgroup, "/object")) &&
	       link_has(pin_cgroup(cgroup, "/link"), pin_cgroup(cgroup, "/config"));
}

/* ---- what is kept with the sockets ---- */

/**
 * struct flow_list - a dump of sockets
 * @int_id: of the map with their INT
 * @hpcc_id: of that with HPCC's state, 0 if there is none
 * @flows: result
 * @n: entries
 */
struct flow_list {
	uint32_t int_id;
	uint32_t hpcc_id;
	struct flow *flows;
	unsigned int n;
};

/* Copy as much as there is: the kernel's struct may be longer or shorter. */
static void copy_attr(void *to, size_t room, const struct rtattr *attr)
{
	size_t len = RTA_PAYLOAD(attr);

	memcpy(to, RTA_DATA(attr), len < room ? len : room);
}

/* Copy what one map keeps with the socket.
 *
 * Return: true if it is the map with INT: the socket takes part.
 */
static bool get_storage(const struct flow_list *list,
			const struct rtattr *storage, struct flow *flow)
{
	const struct rtattr *attr, *value = NULL;
	int room = RTA_PAYLOAD(storage);
	uint32_t id = 0;

	rtnl_for_each_attr(attr, RTA_DATA(storage), room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case SK_DIAG_BPF_STORAGE_MAP_ID:
			copy_attr(&id, sizeof(id), attr);
			break;
		case SK_DIAG_BPF_STORAGE_MAP_VALUE:
			value = attr;
			break;
		}
	}
	if (!value || !id)
		return false;
	if (id == list->int_id) {
		copy_attr(&flow->is, sizeof(flow->is), value);
		return true;
	}
	if (id == list->hpcc_id) {
		copy_attr(&flow->hpcc, sizeof(flow->hpcc), value);
		flow->has_hpcc = true;
	}
	return false;
}

static bool get_storages(const struct flow_list *list,
			 const struct rtattr *storages, struct flow *flow)
{
	int room = RTA_PAYLOAD(storages);
	const struct rtattr *storage;
	bool takes_part = false;

	rtnl_for_each_attr(storage, RTA_DATA(storages), room)
		takes_part |= get_storage(list, storage, flow);
	return takes_part;
}

static void get_info(const struct rtattr *attr, struct flow *flow)
{
	struct tcp_info info = {};

	copy_attr(&info, sizeof(info), attr);
	flow->cwnd = info.tcpi_snd_cwnd;
	flow->rtt_us = info.tcpi_rtt;
	flow->pacing = info.tcpi_pacing_rate;
}

/* An IPv6 socket may have a connection over IPv4. */
static void unmap(struct flow *flow)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (flow->family != AF_INET6 ||
	    memcmp(flow->dst, mapped, sizeof(mapped)))
		return;
	flow->family = AF_INET;
	memmove(flow->src, flow->src + sizeof(mapped), 4);
	memmove(flow->dst, flow->dst + sizeof(mapped), 4);
}

static void add_flow(const struct nlmsghdr *h, void *arg)
{
	const struct inet_diag_msg *msg = NLMSG_DATA(h);
	struct flow_list *list = arg;
	const struct rtattr *attr;
	struct flow flow = {};
	bool takes_part = false;
	int room;

	if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)))
		return;
	room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*msg));
	rtnl_for_each_attr(attr, (const char *)msg + NLMSG_ALIGN(sizeof(*msg)),
			   room) {
		switch (attr->rta_type & NLA_TYPE_MASK) {
		case INET_DIAG_SK_BPF_STORAGES:
			takes_part = get_storages(list, attr, &flow);
			break;
		case INET_DIAG_INFO:
			get_info(attr, &flow);
			break;
		case INET_DIAG_CONG:
			copy_attr(flow.cc, sizeof(flow.cc) - 1, attr);
			break;
		}
	}
	if (!takes_part)
		return;
	flow.family = msg->idiag_family;
	memcpy(flow.src, msg->id.idiag_src, sizeof(flow.src));
	memcpy(flow.dst, msg->id.idiag_dst, sizeof(flow.dst));
	flow.sport = ntohs(msg->id.idiag_sport);
	flow.dport = ntohs(msg->id.idiag_dport);
	unmap(&flow);
	list->flows = grow(list->flows, list->n, sizeof(flow));
	list->flows[list->n++] = flow;
}

/**
 * tcp_flows() - connections of this network namespace that take part
 * @flows: result, to be freed by the caller
 *
 * Return: their number.
 */
unsigned int tcp_flows(struct flow **flows)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	int fd = pin_open(storage_path()), hpcc;
	struct inet_diag_req_v2 *req;
	struct flow_list list = {};
	struct rtnl_msg msg;
	struct rtattr *nest;
	const char *error;
	struct rtnl rt;
	unsigned int i;

	*flows = NULL;
	if (fd < 0)
		return 0;
	hpcc = pin_open(pin_path("/hpcc_sk"));
	list.int_id = map_id(fd);
	list.hpcc_id = map_id(hpcc);
	rtnl_open(&rt, NETLINK_SOCK_DIAG);
	for (i = 0; i < ARRAY_SIZE(families); i++) {
		req = rtnl_begin(&msg, SOCK_DIAG_BY_FAMILY, 0, sizeof(*req));
		req->sdiag_family = families[i];
		req->sdiag_protocol = IPPROTO_TCP;
		req->idiag_states = STATES_WITH_DATA;
		req->idiag_ext = 1 << (INET_DIAG_INFO - 1) |
				 1 << (INET_DIAG_CONG - 1);
		nest = rtnl_nest(&msg, INET_DIAG_REQ_SK_BPF_STORAGES);
		rtnl_put_u32(&msg, SK_DIAG_BPF_STORAGE_REQ_MAP_FD, fd);
		if (hpcc >= 0)
			rtnl_put_u32(&msg, SK_DIAG_BPF_STORAGE_REQ_MAP_FD,
				     hpcc);
		rtnl_nest_end(&msg, nest);
		error = rtnl_dump(&rt, &msg, add_flow, &list);
		/* No IPv6 in this kernel: then there are no such sockets. */
		if (error && families[i] == AF_INET)
			fail("sock_diag: %s", error);
	}
	rtnl_close(&rt);
	close(fd);
	if (hpcc >= 0)
		close(hpcc);
	*flows = list.flows;
	return list.n;
}
