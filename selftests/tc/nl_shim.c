// SPDX-License-Identifier: GPL-2.0
/*
 * nl_shim.so - stands between tc and the kernel, for tests of the tc plugin
 *
 * Preloaded into the stock tc it needs neither the qdisc nor root:
 *
 *   NL_SHIM_SENT=FILE  each RTM_NEWQDISC request is appended to FILE instead of
 *                      being sent, and answered with success
 *   NL_SHIM_DUMP=FILE  dumps of qdiscs and classes are answered with FILE, a
 *                      row of netlink messages
 *
 * eBPF programs are pinned at paths below /shim: /shim/prog is one, with descriptor
 * NL_SHIM_FD, /shim/secret one that may not be had; all else there is none. Program 12 is
 * that of /shim/prog, 14 one that may not be had.
 *
 * Everything else (names of devices, say) goes to the kernel as usual.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>

#define NL_SHIM_FD	77

/* The answer that waits to be read; one at a time is enough for tc. */
static int reply_fd = -1;
static char *reply;
static size_t reply_len;

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

/* An answer carries the number of its question and the port of who asked. */
static void fix_headers(int fd, __u32 seq)
{
	struct sockaddr_nl self = {};
	socklen_t len = sizeof(self);
	size_t at = 0;

	if (getsockname(fd, (struct sockaddr *)&self, &len))
		die("nl_shim: getsockname");
	while (at + sizeof(struct nlmsghdr) <= reply_len) {
		struct nlmsghdr *h = (struct nlmsghdr *)(reply + at);

		if (h->nlmsg_len < sizeof(*h))
			break;
		h->nlmsg_seq = seq;
		h->nlmsg_pid = self.nl_pid;
		at += NLMSG_ALIGN(h->nlmsg_len);
	}
}

static void add_reply(__u16 type, const void *data, size_t len)
{
	struct nlmsghdr h = {
		.nlmsg_len = NLMSG_LENGTH(len),
		.nlmsg_type = type,
	};

	reply = realloc(reply, reply_len + NLMSG_SPACE(len));
	if (!reply)
		die("nl_shim: realloc");
	memset(reply + reply_len, 0, NLMSG_SPACE(len));
	memcpy(reply + reply_len, &h, sizeof(h));
	memcpy(reply + reply_len + NLMSG_HDRLEN, data, len);
	reply_len += NLMSG_SPACE(len);
}

static void answer_dump(int fd, const struct nlmsghdr *request,
			const char *path)
{
	const int done = 0;
	FILE *f = fopen(path, "r");
	long size;

	if (!f || fseek(f, 0, SEEK_END))
		die(path);
	size = ftell(f);
	if (size < 0)
		die(path);
	rewind(f);
	reply = malloc(size + 1);
	if (!reply || fread(reply, 1, size, f) != (size_t)size)
		die(path);
	fclose(f);
	reply_len = size;
	add_reply(NLMSG_DONE, &done, sizeof(done));
	reply_fd = fd;
	fix_headers(fd, request->nlmsg_seq);
}

static void answer_change(int fd, const struct nlmsghdr *request,
			  const struct msghdr *msg, const char *path)
{
	struct nlmsgerr ack = { .msg = *request };
	FILE *f = fopen(path, "a");
	size_t i;

	if (!f)
		die(path);
	for (i = 0; i < msg->msg_iovlen; i++)
		fwrite(msg->msg_iov[i].iov_base, 1, msg->msg_iov[i].iov_len, f);
	if (fclose(f))
		die(path);
	reply = NULL;
	reply_len = 0;
	add_reply(NLMSG_ERROR, &ack, sizeof(ack));
	reply_fd = fd;
	fix_headers(fd, request->nlmsg_seq);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*real)(int fd, const struct msghdr *msg, int flags) =
		dlsym(RTLD_NEXT, "sendmsg");
	const char *sent = getenv("NL_SHIM_SENT");
	const char *dump = getenv("NL_SHIM_DUMP");
	const struct nlmsghdr *h = msg->msg_iov[0].iov_base;
	size_t total = 0, i;

	if (!msg->msg_iovlen || msg->msg_iov[0].iov_len < sizeof(*h))
		return real(fd, msg, flags);
	for (i = 0; i < msg->msg_iovlen; i++)
		total += msg->msg_iov[i].iov_len;

	if (sent && h->nlmsg_type == RTM_NEWQDISC) {
		answer_change(fd, h, msg, sent);
		return total;
	}
	if (dump && (h->nlmsg_type == RTM_GETQDISC ||
		     h->nlmsg_type == RTM_GETTCLASS)) {
		answer_dump(fd, h, dump);
		return total;
	}
	return real(fd, msg, flags);
}

/* At most six arguments, as the kernel's. */
long syscall(long number, ...)
{
	long (*real)(long number, ...) = dlsym(RTLD_NEXT, "syscall");
	const union bpf_attr *attr;
	struct bpf_prog_info *info;
	va_list args;
	long a[6];
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == __NR_bpf && a[0] == BPF_OBJ_GET) {
		attr = (const union bpf_attr *)a[1];
		if (!strcmp((const char *)attr->pathname, "/shim/prog"))
			return dup2(STDERR_FILENO, NL_SHIM_FD);
		errno = strcmp((const char *)attr->pathname, "/shim/secret") ?
			EINVAL : EPERM;
		if (!strncmp((const char *)attr->pathname, "/shim/", 6))
			return -1;
	}
	if (number == __NR_bpf && a[0] == BPF_PROG_GET_FD_BY_ID) {
		attr = (const union bpf_attr *)a[1];
		if (attr->prog_id == 12)
			return dup2(STDERR_FILENO, NL_SHIM_FD);
		errno = attr->prog_id == 14 ? EPERM : ENOENT;
		return -1;
	}
	if (number == __NR_bpf && a[0] == BPF_OBJ_GET_INFO_BY_FD) {
		attr = (const union bpf_attr *)a[1];
		if (attr->info.bpf_fd != NL_SHIM_FD) {
			errno = EBADF;
			return -1;
		}
		info = (struct bpf_prog_info *)(uintptr_t)attr->info.info;
		info->id = 12;
		memcpy(info->tag, "\x01\x23\x45\x67\x89\xab\xcd\xef", sizeof(info->tag));
		return 0;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t (*real)(int fd, struct msghdr *msg, int flags) =
		dlsym(RTLD_NEXT, "recvmsg");
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t len;

	if (fd != reply_fd)
		return real(fd, msg, flags);

	if (msg->msg_name && msg->msg_namelen >= sizeof(kernel))
		memcpy(msg->msg_name, &kernel, sizeof(kernel));
	msg->msg_flags = 0;
	len = reply_len;
	if (!(flags & MSG_PEEK)) {
		if (len > msg->msg_iov[0].iov_len) {
			len = msg->msg_iov[0].iov_len;
			msg->msg_flags = MSG_TRUNC;
		}
		memcpy(msg->msg_iov[0].iov_base, reply, len);
		free(reply);
		reply = NULL;
		reply_fd = -1;
	}
	return len;
}
