// SPDX-License-Identifier: GPL-2.0
/*
 * asked - write down which lists a program asks the kernel for.
 *
 *   LD_PRELOAD=build/tools/asked.so ASKED=FILE bfcctl ...
 *
 * FILE gets a line for each list of rtnetlink's: the number of the request, as 38 is
 * RTM_GETQDISC. Children of the program write there as well.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(const struct nlmsghdr *h)
{
	int fd = open(getenv("ASKED"), O_WRONLY | O_CREAT | O_APPEND, 0644);

	if (fd < 0 || dprintf(fd, "%u\n", h->nlmsg_type) < 0)
		abort();
	close(fd);
}

/* By it libmnl sends, a message each. */
ssize_t sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *to,
	       socklen_t to_len)
{
	typeof(sendto) *next = dlsym(RTLD_NEXT, "sendto");
	const struct nlmsghdr *h = buf;

	if (len >= sizeof(*h) && (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		note(h);
	return next(fd, buf, len, flags, to, to_len);
}
