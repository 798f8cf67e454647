// SPDX-License-Identifier: GPL-2.0
/*
 * Other network namespaces, by their number, which is in the names of pins.
 */
#define _GNU_SOURCE	/* setns */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bfcctl.h"
#include "netns.h"

#define NETNS_SELF	"/proc/self/ns/net"

/* Open the namespace with this number, if it is one of @pattern. Returns a
 * descriptor, NETNS_NONE or NETNS_HIDDEN.
 */
static int find(const char *pattern, const struct stat *self, uint64_t id,
		char *path, size_t room)
{
	int fd = NETNS_NONE;
	glob_t found = {};
	struct stat st;
	size_t i;

	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return NETNS_NONE;
	for (i = 0; i < found.gl_pathc && fd < 0; i++) {
		if (stat(found.gl_pathv[i], &st)) {
			/* no permission; else the process has ended */
			if (errno == EACCES || errno == EPERM)
				fd = NETNS_HIDDEN;
			continue;
		}
		if (st.st_ino != id || st.st_dev != self->st_dev)
			continue;
		snprintf(path, room, "%s", found.gl_pathv[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	globfree(&found);
	return fd;
}

/**
 * netns_visit() - look into another network namespace
 * @id: its number, see netns_id()
 * @name: result: as ip-netns(8) has it, "" if it has none there
 * @room: bytes of @name
 *
 * Return: a descriptor for netns_return(); NETNS_NONE: no process and no name
 * has this namespace; NETNS_HIDDEN: no permission to see or to enter it.
 */
int netns_visit(uint64_t id, char *name, size_t room)
{
	int home = open(NETNS_SELF, O_RDONLY | O_CLOEXEC), fd;
	char path[256] = "";
	struct stat self;

	if (home < 0 || fstat(home, &self))
		fail(NETNS_SELF ": %s", strerror(errno));
	*name = '\0';
	fd = find(NETNS_DIR "/*", &self, id, path, sizeof(path));
	if (fd >= 0)
		snprintf(name, room, "%s", path + strlen(NETNS_DIR "/"));
	else
		fd = find("/proc/[0-9]*/ns/net", &self, id, path, sizeof(path));
	if (fd >= 0 && !setns(fd, CLONE_NEWNET)) {
		close(fd);
		return home;
	}
	close(home);
	if (fd < 0)
		return fd;
	close(fd);
	return NETNS_HIDDEN;
}

/**
 * netns_return() - back from netns_visit()
 * @home: what it returned
 */
void netns_return(int home)
{
	netns_enter(home);
	close(home);
}
