// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rtnl.h"

#define DUMP_ROOM	(64 << 10)

/* ---- messages ---- */

/* The socket is in the caller's namespace. */
void rtnl_open(struct rtnl *rt, int bus)
{
	int on = 1;

	rt->seq = 0;
	rt->warning = NULL;
	rt->nl = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!rt->nl || mnl_socket_bind(rt->nl, 0, MNL_SOCKET_AUTOPID))
		die("netlink socket");
	/* Kernels without it give errno only. */
	mnl_socket_setsockopt(rt->nl, NETLINK_EXT_ACK, &on, sizeof(on));
}

void rtnl_close(struct rtnl *rt)
{
	mnl_socket_close(rt->nl);
}

void *rtnl_begin(struct rtnl_msg *msg, int type, int flags, size_t header)
{
	mnl_nlmsg_put_header(msg->room);
	msg->h.nlmsg_type = type;
	msg->h.nlmsg_flags = NLM_F_REQUEST | flags;
	return mnl_nlmsg_put_extra_header(&msg->h, header);
}

static void need_room(bool is_there)
{
	if (is_there)
		return;
	errno = EMSGSIZE;
	die("netlink message");
}

void rtnl_put(struct rtnl_msg *msg, int type, const void *data, size_t len)
{
	need_room(mnl_attr_put_check(&msg->h, sizeof(msg->room), type, len, len ? data : ""));
}

void rtnl_put_u32(struct rtnl_msg *msg, int type, uint32_t value)
{
	rtnl_put(msg, type, &value, sizeof(value));
}

void rtnl_put_u64(struct rtnl_msg *msg, int type, uint64_t value)
{
	rtnl_put(msg, type, &value, sizeof(value));
}

void rtnl_put_str(struct rtnl_msg *msg, int type, const char *text)
{
	rtnl_put(msg, type, text, strlen(text) + 1);
}

/* Attributes are struct rtattr, as in tc's plugin; libmnl's struct nlattr has
 * the same layout.
 */
struct rtattr *rtnl_nest(struct rtnl_msg *msg, int type)
{
	struct nlattr *nest = mnl_attr_nest_start_check(&msg->h, sizeof(msg->room), type);

	need_room(nest);
	return (struct rtattr *)nest;
}

void rtnl_nest_end(struct rtnl_msg *msg, struct rtattr *nest)
{
	mnl_attr_nest_end(&msg->h, (struct nlattr *)nest);
}

/* A family header inside a nest, as a wire's peer has one. */
void *rtnl_put_header(struct rtnl_msg *msg, size_t len)
{
	need_room(msg->h.nlmsg_len + MNL_ALIGN(len) <= sizeof(msg->room));
	return mnl_nlmsg_put_extra_header(&msg->h, len);
}

/* ---- asking ---- */

static void rtnl_send(struct rtnl *rt, struct rtnl_msg *msg)
{
	msg->h.nlmsg_seq = ++rt->seq;
	rt->warning = NULL;
	if (mnl_socket_sendto(rt->nl, &msg->h, msg->h.nlmsg_len) < 0)
		die("netlink send");
}

/* The kernel's own message, NULL if it has none */
static const char *rtnl_text(const struct nlmsghdr *h)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(h);
	size_t skip = sizeof(*err);
	const struct nlattr *attr;
	static char text[256];

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(&err->msg);
	if (skip >= mnl_nlmsg_get_payload_len(h))
		return NULL;
	mnl_attr_for_each(attr, h, skip) {
		if (mnl_attr_get_type(attr) != NLMSGERR_ATTR_MSG)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)mnl_attr_get_payload_len(attr),
			 mnl_attr_get_str(attr));
		return text;
	}
	return NULL;
}

/* Why a list ended before it was complete, NULL if it is complete */
static const char *rtnl_done(const struct nlmsghdr *h)
{
	int error = 0;

	if (mnl_nlmsg_get_payload_len(h) >= sizeof(error))
		memcpy(&error, mnl_nlmsg_get_payload(h), sizeof(error));
	return error < 0 ? strerror(-error) : NULL;
}

/* Receive one datagram. Returns true at the end of the answer. Not
 * mnl_cb_run(): it fails if a list has changed meanwhile, though what it has
 * read is valid.
 */
static bool rtnl_answer(struct rtnl *rt, const char **error,
			void (*each)(const struct nlmsghdr *h, void *arg),
			void *arg)
{
	static char buf[DUMP_ROOM] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *h = (const struct nlmsghdr *)buf;
	ssize_t got = mnl_socket_recvfrom(rt->nl, buf, sizeof(buf));
	int len = got;

	if (got < 0)
		die("netlink recv");
	for (; mnl_nlmsg_ok(h, len); h = mnl_nlmsg_next(h, &len)) {
		if (h->nlmsg_seq != rt->seq)
			continue;
		if (h->nlmsg_type == NLMSG_DONE) {
			*error = rtnl_done(h);
			return true;
		}
		if (h->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *err = mnl_nlmsg_get_payload(h);

			if (err->error)
				*error = rtnl_text(h) ?: strerror(-err->error);
			else
				rt->warning = rtnl_text(h);
			return true;
		}
		if (each)
			each(h, arg);
		if (!(h->nlmsg_flags & NLM_F_MULTI) && each)
			return true;
	}
	return false;
}

/* Returns NULL, or why the kernel refused. */
const char *rtnl_ask(struct rtnl *rt, struct rtnl_msg *msg)
{
	const char *error = NULL;

	msg->h.nlmsg_flags |= NLM_F_ACK;
	rtnl_send(rt, msg);
	while (!rtnl_answer(rt, &error, NULL, NULL))
		;
	return error;
}

const char *rtnl_dump(struct rtnl *rt, struct rtnl_msg *msg,
		      void (*each)(const struct nlmsghdr *h, void *arg),
		      void *arg)
{
	const char *error = NULL;

	msg->h.nlmsg_flags |= NLM_F_DUMP;
	rtnl_send(rt, msg);
	while (!rtnl_answer(rt, &error, each, arg))
		;
	return error;
}
