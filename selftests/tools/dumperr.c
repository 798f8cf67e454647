// SPDX-License-Identifier: GPL-2.0
/*
 * dumperr - have the kernel's lists end with an error, as when it runs out of memory.
 *
 *   LD_PRELOAD=build/tools/dumperr.so bfcctl ...
 *
 * NLMSG_DONE carries it: ENOBUFS.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

static void spoil(void *buf, ssize_t len)
{
	const int error = -ENOBUFS;
	struct nlmsghdr *h = buf;

	for (; len > 0 && NLMSG_OK(h, (size_t)len); h = NLMSG_NEXT(h, len))
		if (h->nlmsg_type == NLMSG_DONE && h->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
			memcpy(NLMSG_DATA(h), &error, sizeof(error));
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	typeof(recvmsg) *next = dlsym(RTLD_NEXT, "recvmsg");
	ssize_t got = next(fd, msg, flags);

	spoil(msg->msg_iov->iov_base, got);
	return got;
}
