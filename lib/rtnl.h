/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rtnetlink by libmnl, for programs that end when it fails: errors are reported
 * in the kernel's own words, and attributes are struct rtattr, as in tc's
 * plugin.
 */
#ifndef _RTNL_H
#define _RTNL_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>

#define RTNL_ROOM	4096

struct mnl_socket;

/**
 * struct rtnl - a netlink socket in one namespace
 * @nl: the socket
 * @seq: of the newest request
 * @warning: of the kernel about what it has done, NULL if there is none; until the next
 *	     request
 */
struct rtnl {
	struct mnl_socket *nl;
	uint32_t seq;
	const char *warning;
};

/**
 * struct rtnl_msg - a request under construction
 * @h: its header
 * @room: header, family header and attributes
 */
struct rtnl_msg {
	union {
		struct nlmsghdr h;
		char room[RTNL_ROOM];
	};
};

/* Ends the program because a system call failed; each program has its own. */
_Noreturn void die(const char *what);

void rtnl_open(struct rtnl *rt, int bus);
void rtnl_close(struct rtnl *rt);
void *rtnl_begin(struct rtnl_msg *msg, int type, int flags, size_t header);
void rtnl_put(struct rtnl_msg *msg, int type, const void *data, size_t len);
void rtnl_put_u32(struct rtnl_msg *msg, int type, uint32_t value);
void rtnl_put_u64(struct rtnl_msg *msg, int type, uint64_t value);
void rtnl_put_str(struct rtnl_msg *msg, int type, const char *text);
struct rtattr *rtnl_nest(struct rtnl_msg *msg, int type);
void rtnl_nest_end(struct rtnl_msg *msg, struct rtattr *nest);
void *rtnl_put_header(struct rtnl_msg *msg, size_t len);
const char *rtnl_ask(struct rtnl *rt, struct rtnl_msg *msg);
const char *rtnl_dump(struct rtnl *rt, struct rtnl_msg *msg,
		      void (*each)(const struct nlmsghdr *h, void *arg),
		      void *arg);

#define rtnl_for_each_attr(attr, head, room)				\
	for (attr = (const struct rtattr *)(head);			\
	     RTA_OK(attr, room); attr = RTA_NEXT(attr, room))

#endif /* _RTNL_H */
