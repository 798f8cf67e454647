// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE	/* setns, unshare */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "netns.h"
#include "rtnl.h"

int netns_open(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	return fd;
}

void netns_enter(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		die("setns");
}

/* Make a namespace and enter it. A bind mount gives it its name. */
int netns_create(const char *name)
{
	char path[128];
	int fd;

	if (mkdir(NETNS_DIR, 0755) && errno != EEXIST)
		die(NETNS_DIR);
	snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0)
		die(path);
	close(fd);
	if (unshare(CLONE_NEWNET))
		die("unshare");
	if (mount("/proc/self/ns/net", path, "none", MS_BIND, NULL))
		die(path);
	return netns_open(name);
}

void netns_delete(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	if (umount2(path, MNT_DETACH) || unlink(path))
		die(path);
}
