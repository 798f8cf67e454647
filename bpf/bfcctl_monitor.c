// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl monitor: print events of ports, which the module sends by generic
 * netlink.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <linux/bfc_event.h>
#include "bfcctl.h"

#define NO_NSID		(-1)

/**
 * struct monitor - the command
 * @nl: the socket
 * @family: number of the module's family, 0: it is not loaded
 * @dev: print only events of this device, or NULL
 * @all: print events of all namespaces that have an id in this one
 * @lost: messages are missing behind those that wait in the socket: that the module went or came
 *	  back may be among them
 * @left: events to print yet
 */
struct monitor {
	struct mnl_socket *nl;
	uint16_t family;
	const char *dev;
	bool all;
	bool lost;
	uint64_t left;
};

/* ---- the module comes and goes ---- */

static int keep_attr(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;

	if (mnl_attr_get_type(attr) <= CTRL_ATTR_MCAST_GROUPS)
		attrs[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

/* Listen to the group in a nest CTRL_ATTR_MCAST_GROUPS. */
static void join(struct monitor *m, const struct nlattr *groups)
{
	const struct nlattr *group, *attr;
	const char *name;
	uint32_t id;

	mnl_attr_for_each_nested(group, groups) {
		name = NULL;
		id = 0;
		mnl_attr_for_each_nested(attr, group) {
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
				name = mnl_attr_get_str(attr);
			else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
				id = mnl_attr_get_u32(attr);
		}
		if (!name || strcmp(name, BFC_MCGRP_EVENTS))
			continue;
		if (mnl_socket_setsockopt(m->nl, NETLINK_ADD_MEMBERSHIP, &id, sizeof(id)))
			fail("cannot listen to the module's events: %s", strerror(errno));
	}
}

/* A message about the families of generic netlink: keep that of the module. */
static int family(const struct nlmsghdr *h, void *data)
{
	const struct nlattr *attrs[CTRL_ATTR_MCAST_GROUPS + 1] = {};
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(h);
	struct monitor *m = data;
	uint16_t id;

	if (h->nlmsg_type != GENL_ID_CTRL)
		return MNL_CB_OK;
	mnl_attr_parse(h, sizeof(*genl), keep_attr, attrs);
	if (!attrs[CTRL_ATTR_FAMILY_NAME] || !attrs[CTRL_ATTR_FAMILY_ID] ||
	    strcmp(mnl_attr_get_str(attrs[CTRL_ATTR_FAMILY_NAME]), BFC_FAMILY_NAME))
		return MNL_CB_OK;
	id = mnl_attr_get_u16(attrs[CTRL_ATTR_FAMILY_ID]);
	/* That an earlier one went may be told after find_family() has found its successor. */
	if (genl->cmd == CTRL_CMD_DELFAMILY && id == m->family) {
		m->family = 0;
	} else if (genl->cmd == CTRL_CMD_NEWFAMILY && attrs[CTRL_ATTR_MCAST_GROUPS]) {
		m->family = id;
		join(m, attrs[CTRL_ATTR_MCAST_GROUPS]);
	}
	return MNL_CB_OK;
}

/* Ask for the family, by a socket that gets nothing else; if there is none, the kernel sends a
 * message to m->nl when it is added.
 */
static void find_family(struct monitor *m)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;
	int n;

	h->nlmsg_type = GENL_ID_CTRL;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	h->nlmsg_seq = 1;
	genl = mnl_nlmsg_put_extra_header(h, sizeof(*genl));
	genl->cmd = CTRL_CMD_GETFAMILY;
	genl->version = 1;
	mnl_attr_put_strz(h, CTRL_ATTR_FAMILY_NAME, BFC_FAMILY_NAME);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ||
	    mnl_socket_sendto(nl, h, h->nlmsg_len) < 0)
		fail("generic netlink: %s", strerror(errno));
	m->family = 0;
	do {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n >= 0)
			n = mnl_cb_run(buf, n, 0, 0, family, m);
	} while (n > 0);
	if (n < 0 && errno != ENOENT)
		fail("generic netlink: %s", strerror(errno));
	mnl_socket_close(nl);
}

/* ---- events ---- */

static const char *const names[] = {
	[BFC_CMD_NEIGHBOUR_UP] = "neighbour_up",
	[BFC_CMD_NEIGHBOUR_DOWN] = "neighbour_down",
	[BFC_CMD_STORM] = "storm",
	[BFC_CMD_RESTORE] = "restore",
	[BFC_CMD_QUEUES_EXHAUSTED] = "queues_exhausted",
	[BFC_CMD_HANDLES_EXHAUSTED] = "handles_exhausted",
};

static const struct {
	uint16_t attr;
	const char *key;
} numbers[] = {
	{ BFC_A_EVENT_PRIO, "prio" },
	{ BFC_A_EVENT_HOLDOFF, "holdoff" },
	{ BFC_A_EVENT_QUEUES, "queues" },
	{ BFC_A_EVENT_FLOWS, "flows" },
	{ BFC_A_EVENT_HELD, "held" },
};

static uint64_t any_number(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint8_t):
		return mnl_attr_get_u8(attr);
	case sizeof(uint32_t):
		return mnl_attr_get_u32(attr);
	case sizeof(uint64_t):
		return mnl_attr_get_u64(attr);
	}
	return 0;
}

static int keep_event(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;

	if (mnl_attr_get_type(attr) <= BFC_A_EVENT_MAX)
		attrs[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void begin(uint64_t ns)
{
	time_t seconds = ns / 1000000000;
	struct tm tm;
	char buf[32];

	out_open(NULL, '{');
	out_seconds("time", ns);
	localtime_r(&seconds, &tm);
	strftime(buf, sizeof(buf), "%F %T", &tm);
	text("%s.%06u ", buf, (unsigned int)(ns / 1000 % 1000000));
}

static void end(struct monitor *m)
{
	out_close('}');
	text("\n");
	out_flush();
	m->left--;
}

/* Print an event that is not from the module. */
static void print_own(struct monitor *m, const char *event)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	begin(now.tv_sec * 1000000000ULL + now.tv_nsec);
	out_string("event", event);
	text("%s", event);
	end(m);
}

static void print_event(struct monitor *m, const struct nlmsghdr *h, int nsid)
{
	const struct nlattr *attrs[BFC_A_EVENT_MAX + 1] = {}, *attr;
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(h);
	const char *dev = "?";
	unsigned int i;
	uint64_t n;
	char buf[32];

	mnl_attr_parse(h, sizeof(*genl), keep_event, attrs);
	if (attrs[BFC_A_EVENT_IFNAME])
		dev = mnl_attr_get_str(attrs[BFC_A_EVENT_IFNAME]);
	if (genl->cmd >= ARRAY_SIZE(names) || !names[genl->cmd] ||
	    (m->dev && strcmp(m->dev, dev)))
		return;
	begin(attrs[BFC_A_EVENT_TIME] ? any_number(attrs[BFC_A_EVENT_TIME]) : 0);
	if (nsid != NO_NSID) {
		out_number("nsid", nsid);
		text("[nsid %d] ", nsid);
	}
	out_string("dev", dev);
	if (attrs[BFC_A_EVENT_IFINDEX])
		out_number("ifindex", any_number(attrs[BFC_A_EVENT_IFINDEX]));
	out_string("event", names[genl->cmd]);
	text("%s %s", dev, names[genl->cmd]);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		attr = attrs[numbers[i].attr];
		if (!attr)
			continue;
		n = any_number(attr);
		out_number(numbers[i].key, n);
		if (numbers[i].attr == BFC_A_EVENT_HOLDOFF)
			text(" holdoff %s", time_text(buf, sizeof(buf), n));
		else
			text(" %s %llu", numbers[i].key, (unsigned long long)n);
	}
	end(m);
}

/* Id of the namespace that an event is from, NO_NSID = this one */
static int nsid_of(struct msghdr *msg)
{
	const struct cmsghdr *c;
	int nsid = NO_NSID;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, (struct cmsghdr *)c))
		if (c->cmsg_level == SOL_NETLINK && c->cmsg_type == NETLINK_LISTEN_ALL_NSID)
			memcpy(&nsid, CMSG_DATA(c), sizeof(nsid));
	return nsid;
}

static void take(struct monitor *m, const struct nlmsghdr *h, int nsid)
{
	uint16_t was = m->family;

	if (h->nlmsg_type == GENL_ID_CTRL) {
		/* Each namespace gets this message: use that of this one. */
		if (nsid != NO_NSID)
			return;
		family(h, m);
		if (was != m->family)
			print_own(m, m->family ? "loaded" : "unloaded");
	} else if (m->family && h->nlmsg_type == m->family) {
		print_event(m, h, nsid);
	}
}

/* What came before the loss has been read, and from now on nothing is lost: the family may be
 * another one than before, of which the kernel sends no more messages to this socket.
 */
static void look_again(struct monitor *m)
{
	uint16_t was = m->family;

	m->lost = false;
	find_family(m);
	if (was && was != m->family)
		print_own(m, "unloaded");
	if (m->left && m->family && was != m->family)
		print_own(m, "loaded");
}

/* Receive one datagram. With ENOBUFS there was no room in the socket's buffer:
 * events are missing. The kernel sends no more until all that waits has been read.
 */
static void receive(struct monitor *m)
{
	char buf[MNL_SOCKET_BUFFER_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(mnl_socket_get_fd(m->nl), &msg, m->lost ? MSG_DONTWAIT : 0);
	const struct nlmsghdr *h = (const struct nlmsghdr *)buf;
	int room = got, nsid;

	if (got < 0) {
		if (errno == EINTR)
			return;
		if (errno == EAGAIN) {
			look_again(m);
			return;
		}
		if (errno != ENOBUFS)
			fail("events: %s", strerror(errno));
		m->lost = true;
		print_own(m, "lost");
		return;
	}
	nsid = nsid_of(&msg);
	for (; mnl_nlmsg_ok(h, room) && m->left; h = mnl_nlmsg_next(h, &room))
		take(m, h, nsid);
}

void cmd_monitor(int argc, char **argv)
{
	struct monitor m = { .left = UINT64_MAX };
	int on = 1, group = GENL_ID_CTRL;
	const char *word;

	while (argc) {
		word = next_word(&argc, &argv, "");
		if (is_keyword(word, "count"))
			m.left = number(word, next_word(&argc, &argv, word), 1, UINT64_MAX);
		else if (is_keyword(word, "all-nsid") && !m.all)
			m.all = true;
		else if (!m.dev)
			m.dev = word;
		else
			usage_fail("what is \"%s\"?", word);
	}
	if (m.all && m.dev)
		usage_fail("give a device or \"all-nsid\"");
	if (m.dev && strlen(m.dev) >= IF_NAMESIZE)
		usage_fail("illegal \"%s\": the name of a device has 15 characters at most",
			   m.dev);
	m.nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!m.nl || mnl_socket_bind(m.nl, 0, MNL_SOCKET_AUTOPID))
		fail("generic netlink: %s", strerror(errno));
	if (mnl_socket_setsockopt(m.nl, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		fail("cannot listen to generic netlink: %s", strerror(errno));
	find_family(&m);
	if (!m.family)
		fprintf(stderr, "bfcctl: the module sch_bfc is not loaded: waiting for it\n");
	if (m.all && mnl_socket_setsockopt(m.nl, NETLINK_LISTEN_ALL_NSID, &on, sizeof(on)))
		fail("all-nsid: %s", strerror(errno));
	if (m.dev && !if_nametoindex(m.dev))
		note("no device is called %s yet: waiting for it", m.dev);
	if (ctl.verbose)
		fprintf(stderr, "bfcctl: listening\n");
	while (m.left)
		receive(&m);
	mnl_socket_close(m.nl);
}
