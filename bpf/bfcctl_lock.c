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

/**
 * change_lock() - take the lock that every bfcctl holds while it makes changes
 *
 * The lock is held until the program ends; children share it.
 */
void change_lock(void)
{
	static int fd = -1;

	if (fd >= 0)
		return;
	fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	/* Not root, but with capabilities: these users share only pins. */
	if (fd < 0 && (errno == EACCES || errno == EROFS))
		fd = open(ctl.bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail("%s: %s", LOCK, strerror(errno));
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			fail("%s: %s", LOCK, strerror(errno));
}
