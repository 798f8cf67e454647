// SPDX-License-Identifier: GPL-2.0
/*
 * dumperr - have the kernel's lists end with an error, as when it runs out of memory.
 *
 *   LD_PRELOAD=build/tools/dumperr.so [DUMPERR=REQUEST:N] bfcctl ...
 *
 * NLMSG_DONE carries it: ENOBUFS. With DUMPERR only the answers to this request of rtnetlink's
 * from the Nth on, as 18:3 for RTM_GETLINK.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static bool spoils = true;	/* the list that is read now */

static void spoil(void *buf, ssize_t len)
{
	const int error = -ENOBUFS;
	struct nlmsghdr *h = buf;

	for (; spoils && len > 0 && NLMSG_OK(h, (size_t)len); h = NLMSG_NEXT(h, len))
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

/* By it libmnl sends, a message each. */
ssize_t sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *to,
	       socklen_t to_len)
{
	typeof(sendto) *next = dlsym(RTLD_NEXT, "sendto");
	const char *which = getenv("DUMPERR");
	const struct nlmsghdr *h = buf;
	static unsigned int asked;
	unsigned int request, from;

	if (which && len >= sizeof(*h) && (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		if (sscanf(which, "%u:%u", &request, &from) != 2)
			abort();
		spoils = h->nlmsg_type == request && ++asked >= from;
	}
	return next(fd, buf, len, flags, to, to_len);
}
