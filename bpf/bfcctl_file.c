// SPDX-License-Identifier: GPL-2.0
/*
 * A file of the user's that is written anew, by root as a rule and again and again, in a
 * directory that may be another user's: a link that this user can have put there is not
 * followed, and nothing is done to a file by its name once it is open.
 */
#define _GNU_SOURCE	/* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "bfcctl.h"

#define LINKS	40	/* as many as the kernel follows */

static _Noreturn void file_fail(const struct file *file)
{
	fail("%s: %s", file->path, strerror(errno));
}

/* Open the directory that a name is in, as seen from @at, and keep the name. */
static void file_at(struct file *file, int at, const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(base - name) : 1, slash ? name : ".");
	file->dir = openat(at, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (file->dir < 0)
		file_fail(file);
	if (at != AT_FDCWD)
		close(at);
	/* One that is too long stays so. */
	snprintf(file->name, sizeof(file->name), "%.*s", (int)sizeof(file->name) - 1, base);
}

/* The file's status, and where it leads if it is a link: "" for those of /proc, which lead to an
 * open file. Returns false if nothing is there.
 */
static bool file_look(struct file *file, struct stat *st, char *target, size_t room)
{
	int fd = openat(file->dir, file->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;
	ssize_t len;

	*target = '\0';
	if (fd < 0 && errno == ENOENT)
		return false;
	if (fd < 0 || fstat(fd, st) || fstatfs(fd, &fs))
		file_fail(file);
	if (S_ISLNK(st->st_mode) && fs.f_type != PROC_SUPER_MAGIC) {
		if (st->st_uid && st->st_uid != geteuid())
			fail("%s: a link of user %u is not followed", file->path, st->st_uid);
		len = readlinkat(fd, "", target, room - 1);
		if (len < 0)
			file_fail(file);
		target[len] = '\0';
	}
	close(fd);
	return true;
}

static void file_open(struct file *file, int fd)
{
	file->to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file->to)
		file_fail(file);
}

/* The file that takes its place, beside it: the name cannot be known before. */
static void file_make(struct file *file)
{
	unsigned int tries = 100, random;
	int fd;

	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			file_fail(file);
		snprintf(file->part, sizeof(file->part), "%.200s.%08x", file->name, random);
		fd = openat(file->dir, file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST && --tries);
	file_open(file, fd);
}

/**
 * file_begin() - begin to write a file that is to take the place of one
 * @file: what file_end() gets
 * @path: the file, or a link to it; or a device or pipe, which is written into
 *
 * A file keeps its mode, and its owner as far as permitted. A new one is for all to read. Ends the
 * program with a message if the file cannot be written.
 */
void file_begin(struct file *file, const char *path)
{
	const char *name = path;
	unsigned int links = 0;
	char target[PATH_MAX];
	struct stat st = {};
	bool there;
	int fd;

	*file = (struct file){ .path = path, .dir = AT_FDCWD };
	do {
		file_at(file, file->dir, name);
		there = file_look(file, &st, target, sizeof(target));
		name = target;
	} while (*target && links++ < LINKS);
	errno = *target ? ELOOP : ENOENT;
	if (*target || (!there && links))
		file_fail(file);
	if (there && !S_ISREG(st.st_mode)) {
		file_open(file, openat(file->dir, file->name,
				       O_WRONLY | O_APPEND | O_CLOEXEC |
				       (S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW)));
		return;
	}
	file_make(file);
	fd = fileno(file->to);
	/* Not permitted to all: then it is this user's from now on. */
	(void)!(there && fchown(fd, st.st_uid, st.st_gid));
	if (fchmod(fd, there ? st.st_mode & 0777 : 0644))
		file->error = errno;
}

/**
 * file_end() - put what was written in the file's place
 * @file: of file_begin()
 *
 * Ends the program with a message, and leaves the file as it was, if not all was written.
 */
void file_end(struct file *file)
{
	if (ferror(file->to) && !file->error)
		file->error = EIO;
	if (fclose(file->to) && !file->error)
		file->error = errno;
	if (*file->part && !file->error &&
	    renameat(file->dir, file->part, file->dir, file->name))
		file->error = errno;
	if (*file->part && file->error)
		unlinkat(file->dir, file->part, 0);
	close(file->dir);
	errno = file->error;
	if (file->error)
		file_fail(file);
}
