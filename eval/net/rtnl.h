/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much rtnetlink as the evaluation needs: named network namespaces, one
 * socket in each, messages built in place, errors with the kernel's own text.
 */
#ifndef _RTNL_H
#define _RTNL_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>

#define NETNS_DIR	"/run/netns"
#define RTNL_ROOM	4096

/**
 * struct rtnl - an rtnetlink socket in one namespace
 * @sock: the socket
 * @seq: of the newest request
 */
struct rtnl {
	int sock;
	uint32_t seq;
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

int netns_open(const char *name);
int netns_create(const char *name);
void netns_delete(const char *name);
void netns_enter(int fd);

void rtnl_open(struct rtnl *rt);
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

uint32_t rtnl_u32(const struct rtattr *attr);
uint64_t rtnl_u64(const struct rtattr *attr);

#endif /* _RTNL_H */
