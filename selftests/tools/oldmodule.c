// SPDX-License-Identifier: GPL-2.0
/*
 * oldmodule - make a program see a module from before the option hrtt-max.
 *
 *   LD_PRELOAD=build/tools/oldmodule.so bfcctl ...
 *
 * In qdiscs that the kernel tells of, and in requests for some, the option's attribute
 * gets a number that there is not: it is missing there, and refused here by the kernel.
 */
#include <dlfcn.h>
#include <linux/pkt_sch_bfc.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define UNKNOWN	(TCA_BFC_MAX + 1000)

static struct rtattr *find(struct rtattr *attr, int room, int type)
{
	for (; RTA_OK(attr, room); attr = RTA_NEXT(attr, room))
		if ((attr->rta_type & NLA_TYPE_MASK) == type)
			return attr;
	return NULL;
}

static void hide(struct nlmsghdr *h, unsigned int len)
{
	struct rtattr *attr, *kind;
	struct tcmsg *tcm;
	int room;

	for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		if (h->nlmsg_type != RTM_NEWQDISC)
			continue;
		tcm = NLMSG_DATA(h);
		room = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));
		kind = find(TCA_RTA(tcm), room, TCA_KIND);
		attr = find(TCA_RTA(tcm), room, TCA_OPTIONS);
		if (!attr || !kind || strcmp(RTA_DATA(kind), "bfc"))
			continue;
		attr = find(RTA_DATA(attr), RTA_PAYLOAD(attr), TCA_BFC_HRTT_MAX);
		if (attr)
			attr->rta_type = UNKNOWN;
	}
}

/* By these libmnl sends and receives, a message each. */
ssize_t sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *to,
	       socklen_t to_len)
{
	typeof(sendto) *next = dlsym(RTLD_NEXT, "sendto");
	char copy[len];

	memcpy(copy, buf, len);
	hide((struct nlmsghdr *)copy, len);
	return next(fd, copy, len, flags, to, to_len);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	typeof(recvmsg) *next = dlsym(RTLD_NEXT, "recvmsg");
	ssize_t got = next(fd, msg, flags);

	if (got > 0)
		hide(msg->msg_iov->iov_base, got);
	return got;
}
