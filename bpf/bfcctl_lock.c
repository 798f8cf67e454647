// SPDX-License-Identifier: GPL-2.0
/*
 * Only one bfcctl at a time makes changes: two would disturb each other, as
 * with a pin that waits for pin_commit(), or a qdisc that is read and then
 * changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bfcctl.h"

#define LOCK		"/run/bfcctl.lock"

static void lock(int fd, const char *name)
{
	if (fd < 0)
		fail("%s: %s", name, strerror(errno));
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			fail("%s: %s", name, strerror(errno));
}

/* True if another user may hold the lock of a directory, and for good: to open it is enough. A bpf
 * file system that is mounted without a mode has mode 1777.
 */
static bool others_may_open(int dir)
{
	struct stat st;

	return fstat(dir, &st) || (st.st_uid && st.st_uid != geteuid()) ||
	       st.st_mode & 0044;
}

static bool locked;	/* LOCK is held */

/**
 * pins_lock() - take the lock of the bpf file system, after change_lock()
 *
 * A container may have the host's bpf file system, and a /run of its own. Held until the program
 * ends; children share it.
 */
void pins_lock(void)
{
	static bool taken;
	int fd;

	if (taken)
		return;
	taken = true;
	fd = open(ctl.bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && locked && others_may_open(fd))
		close(fd);
	else
		lock(fd, ctl.bpffs);
}

/**
 * change_lock() - take the lock that every bfcctl holds while it makes changes
 *
 * The lock is held until the program ends; children share it.
 */
void change_lock(void)
{
	static bool taken;
	int fd;

	if (taken)
		return;
	taken = true;
	fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	/* Not root, but with capabilities: these users share only pins. */
	if (fd < 0 && (errno == EACCES || errno == EROFS)) {
		pins_lock();
		return;
	}
	lock(fd, LOCK);
	locked = true;
}
