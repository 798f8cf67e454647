// SPDX-License-Identifier: GPL-2.0
/*
 * One bfcctl at a time changes something: what two have in hand at once (a pin that waits for
 * the rest, a qdisc that is looked at and then changed) would be mixed up.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "bfcctl.h"

#define LOCK		"/run/bfcctl.lock"

/**
 * change_lock() - wait until no other bfcctl changes anything, and keep them waiting
 *
 * Until the program ends; a child that it forks has the lock with it.
 */
void change_lock(void)
{
	static int fd = -1;

	if (fd >= 0)
		return;
	fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	/* Users with the capabilities who are not root: pins are all that they share. */
	if (fd < 0 && (errno == EACCES || errno == EROFS))
		fd = open(ctl.bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail("%s: %s", LOCK, strerror(errno));
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			fail("%s: %s", LOCK, strerror(errno));
}
