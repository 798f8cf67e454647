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

/**
 * change_lock() - take the lock that every bfcctl holds while it makes changes
 *
 * The lock is held until the program ends; children share it. A user who is not root, but has
 * capabilities, shares only pins with others: pins_lock().
 */
void change_lock(void)
{
	static bool taken;
	int fd;

	if (taken)
		return;
	taken = true;
	fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EACCES && errno != EROFS))
		lock(fd, LOCK);
}

/**
 * pins_lock() - take the lock of the bpf file system, after change_lock()
 *
 * A container may have the host's bpf file system, and a /run of its own. Held until the program
 * ends; children share it.
 */
void pins_lock(void)
{
	static bool taken;

	if (taken)
		return;
	taken = true;
	lock(open(ctl.bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ctl.bpffs);
}
