// SPDX-License-Identifier: GPL-2.0
/*
 * midlist - run a command while a program reads the kernel's list of qdiscs.
 *
 *   LD_PRELOAD=build/tools/midlist.so MIDLIST=COMMAND bfcctl ...
 *
 * Once, when the first part of the list has come in.
 */
#include <dlfcn.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>

static void look(const void *buf, ssize_t len)
{
	const struct nlmsghdr *h = buf;
	const char *command = getenv("MIDLIST");

	if (!command || len < (ssize_t)sizeof(*h) || h->nlmsg_type != RTM_NEWQDISC)
		return;
	unsetenv("LD_PRELOAD");
	unsetenv("MIDLIST");
	if (system(command))
		abort();
}

ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	typeof(recv) *next = dlsym(RTLD_NEXT, "recv");
	ssize_t got = next(fd, buf, len, flags);

	look(buf, got);
	return got;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	typeof(recvmsg) *next = dlsym(RTLD_NEXT, "recvmsg");
	ssize_t got = next(fd, msg, flags);

	look(msg->msg_iov->iov_base, got);
	return got;
}
