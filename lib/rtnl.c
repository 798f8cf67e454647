// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "rtnl.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

#define DUMP_ROOM	(64 << 10)

/* ---- messages ---- */

/* In the namespace that the caller is in. */
void rtnl_open(struct rtnl *rt)
{
	int on = 1;

	rt->seq = 0;
	rt->warning = NULL;
	rt->sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (rt->sock < 0)
		die("netlink socket");
	/* Kernels without it give errno only. */
	setsockopt(rt->sock, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
}

void *rtnl_begin(struct rtnl_msg *msg, int type, int flags, size_t header)
{
	memset(msg, 0, NLMSG_SPACE(header));
	msg->h.nlmsg_type = type;
	msg->h.nlmsg_flags = NLM_F_REQUEST | flags;
	msg->h.nlmsg_len = NLMSG_LENGTH(header);
	return NLMSG_DATA(&msg->h);
}

static void *rtnl_grow(struct rtnl_msg *msg, size_t len)
{
	char *end = msg->room + NLMSG_ALIGN(msg->h.nlmsg_len);

	if (end + len > msg->room + sizeof(msg->room)) {
		errno = EMSGSIZE;
		die("netlink message");
	}
	memset(end, 0, len);
	msg->h.nlmsg_len = end + len - msg->room;
	return end;
}

void rtnl_put(struct rtnl_msg *msg, int type, const void *data, size_t len)
{
	struct rtattr *attr = rtnl_grow(msg, RTA_SPACE(len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
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

struct rtattr *rtnl_nest(struct rtnl_msg *msg, int type)
{
	struct rtattr *nest = rtnl_grow(msg, RTA_LENGTH(0));

	nest->rta_type = type | NLA_F_NESTED;
	return nest;
}

void rtnl_nest_end(struct rtnl_msg *msg, struct rtattr *nest)
{
	nest->rta_len = msg->room + msg->h.nlmsg_len - (char *)nest;
}

/* A family header inside a nest, as a wire's peer has one. */
void *rtnl_put_header(struct rtnl_msg *msg, size_t len)
{
	return rtnl_grow(msg, NLMSG_ALIGN(len));
}

/* ---- asking ---- */

static void rtnl_send(struct rtnl *rt, struct rtnl_msg *msg)
{
	msg->h.nlmsg_seq = ++rt->seq;
	rt->warning = NULL;
	if (send(rt->sock, msg, msg->h.nlmsg_len, 0) < 0)
		die("netlink send");
}

/* The kernel's own words, NULL if it has none. */
static const char *rtnl_text(const struct nlmsghdr *h)
{
	const struct nlmsgerr *err = NLMSG_DATA(h);
	const struct rtattr *attr;
	static char text[256];
	size_t skip, room;

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	skip = sizeof(*err);
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - sizeof(err->msg);
	if (NLMSG_LENGTH(skip) >= h->nlmsg_len)
		return NULL;
	room = h->nlmsg_len - NLMSG_LENGTH(skip);
	rtnl_for_each_attr(attr, (const char *)err + skip, room) {
		if ((attr->rta_type & NLA_TYPE_MASK) != NLMSGERR_ATTR_MSG)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)RTA_PAYLOAD(attr),
			 (const char *)RTA_DATA(attr));
		return text;
	}
	return NULL;
}

/* Take in one datagram. Returns true at the end of the answer. */
static bool rtnl_answer(struct rtnl *rt, const char **error,
			void (*each)(const struct nlmsghdr *h, void *arg),
			void *arg)
{
	static char buf[DUMP_ROOM] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *h = (const struct nlmsghdr *)buf;
	ssize_t got = recv(rt->sock, buf, sizeof(buf), 0);
	unsigned int len = got;

	if (got < 0)
		die("netlink recv");
	for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		if (h->nlmsg_seq != rt->seq)
			continue;
		if (h->nlmsg_type == NLMSG_DONE)
			return true;
		if (h->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *err = NLMSG_DATA(h);

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
