// SPDX-License-Identifier: GPL-2.0
/*
 * Load eBPF objects and keep them in the bpf file system, with error messages
 * in plain words.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bfcctl.h"

#define BPF_FS_MAGIC	0xcafe4a11
#define CGROUP2_MAGIC	0x63677270
#define NEW		"-new"	/* suffix of a pin's path until pin_commit() */
#define BTF_PATH	"/sys/kernel/btf/vmlinux"

/* The oldest kernel that the programs are tested on. */
#define KERNEL_MAJOR	6
#define KERNEL_MINOR	1

static void pins_left(void);

/* First warning of libbpf, printed only if it fails */
static char said[4096];

/* The kernel was asked to load a program, and did not. */
static bool refused;

static int hear(enum libbpf_print_level level, const char *fmt, va_list args)
{
	va_list again;

	if (ctl.verbose) {
		va_copy(again, args);
		vfprintf(stderr, fmt, again);
		va_end(again);
	}
	refused |= !!strstr(fmt, "program load failed");
	/* The first one is the reason. */
	if (level == LIBBPF_WARN && !*said)
		vsnprintf(said, sizeof(said), fmt, args);
	return 0;
}

/**
 * bpf_unsaid() - forget what libbpf has said of calls that may fail
 */
void bpf_unsaid(void)
{
	*said = '\0';
}

static void need_kernel(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return;
	if (major < KERNEL_MAJOR ||
	    (major == KERNEL_MAJOR && minor < KERNEL_MINOR))
		fail("this kernel is too old: it is %u.%u, the programs need %u.%u",
		     major, minor, KERNEL_MAJOR, KERNEL_MINOR);
}

static bool has(const struct __user_cap_data_struct *caps, unsigned int cap)
{
	return caps[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

static void need_permission(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &head, caps))
		return;
	if (has(caps, CAP_NET_ADMIN) &&
	    (has(caps, CAP_SYS_ADMIN) ||
	     (has(caps, CAP_BPF) && has(caps, CAP_PERFMON))))
		return;
	fail("not permitted: it takes root, that is CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN");
}

static void need_bpffs(void)
{
	struct statfs fs;

	if (statfs(ctl.bpffs, &fs))
		fail("%s: %s", ctl.bpffs, strerror(errno));
	if ((uint32_t)fs.f_type != BPF_FS_MAGIC)
		fail("%s is not a bpf file system (inside \"ip netns exec\" it is hidden: use bfcctl -n NAME): mount one with mount -t bpf -o mode=0700 none %s, or name another with --bpffs",
		     ctl.bpffs, ctl.bpffs);
}

/* A bpf file system that is mounted without a mode has mode 1777: any user may
 * make the directory, and would control what is pinned there.
 */
static void need_own_dir(void)
{
	const char *path = pin_path("%s", "");
	struct stat st;

	if (lstat(path, &st)) {
		if (errno == ENOENT)
			return;
		fail("%s: %s", path, strerror(errno));
	}
	if (!S_ISDIR(st.st_mode))
		fail("%s is no directory: another program has put it there", path);
	if (st.st_uid && st.st_uid != geteuid())
		fail("%s belongs to user %u: remove it, and mount the bpf file system with -o mode=0700",
		     path, st.st_uid);
	if (st.st_mode & 0022)
		fail("%s has mode %04o, other users may write there: chmod 0755 it, if they have not",
		     path, st.st_mode & 07777);
}

/**
 * bpf_begin() - check what every command that uses eBPF needs
 *
 * Ends the program with a message if it is not there.
 */
void bpf_begin(void)
{
	need_kernel();
	need_permission();
	need_bpffs();
	need_own_dir();
	libbpf_set_print(hear);
}

/**
 * bpf_begin_change() - bpf_begin() for a command that changes something: with the lock
 */
void bpf_begin_change(void)
{
	static bool begun;

	bpf_begin();
	change_lock();
	pins_lock();
	/* Once: later there may be pins of this bfcctl. */
	if (!begun)
		pins_left();
	begun = true;
}

/**
 * bpf_loaded() - see whether an object was loaded
 * @err: what libbpf returned
 * @what: the object, for messages
 *
 * Ends the program with a message if not.
 */
void bpf_loaded(int err, const char *what)
{
	if (!err)
		return;
	if (err == -EPERM)
		fail("cannot load %s: not permitted", what);
	if (err == -ESRCH && access(BTF_PATH, R_OK))
		fail("cannot load %s: this kernel has no BTF (%s): it must be built with CONFIG_DEBUG_INFO_BTF",
		     what, BTF_PATH);
	if (refused && (err == -EACCES || err == -EINVAL || err == -E2BIG))
		fail("cannot load %s: this kernel's verifier refuses it (bfcctl -v says why)",
		     what);
	said[strcspn(said, "\n")] = '\0';
	if (strstr(said, "parameter mismatch"))
		fail("cannot load %s: %s; another version of bfcctl has pinned it: \"off\" or \"detach\" all that uses it, then try again",
		     what, said);
	fail("cannot load %s: %s%s%s", what, strerror(-err),
	     *said ? "; " : "", said);
}

/* ---- the bpf file system ---- */

/**
 * pin_path() - a path of bfcctl in the bpf file system
 * @fmt: what comes after <bpffs>/bfc
 *
 * Return: valid until the eighth call after this one.
 */
const char *pin_path(const char *fmt, ...)
{
	static char paths[8][256];
	static unsigned int turn;
	char *path = paths[turn++ % ARRAY_SIZE(paths)];
	va_list args;
	int len;

	len = snprintf(path, sizeof(paths[0]), "%s/bfc", ctl.bpffs);
	va_start(args, fmt);
	if (len < (int)sizeof(paths[0]))
		len += vsnprintf(path + len, sizeof(paths[0]) - len, fmt, args);
	va_end(args);
	if (len >= (int)sizeof(paths[0]))
		fail("path too long: %s", path);
	return path;
}

/**
 * netns_id() - the number of this network namespace
 */
uint64_t netns_id(void)
{
	struct stat ns;

	if (stat("/proc/self/ns/net", &ns))
		fail("/proc/self/ns/net: %s", strerror(errno));
	return ns.st_ino;
}

/**
 * netns_cookie() - the cookie of this network namespace, which is never used
 *		    again
 */
uint64_t netns_cookie(void)
{
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie;
	socklen_t len = sizeof(cookie);

	if (sock < 0 || getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &cookie,
				   &len))
		fail("this network namespace: %s", strerror(errno));
	close(sock);
	return cookie;
}

/**
 * pin_device() - the path of a pin that belongs to a device
 * @what: kind of pin
 * @ifindex: of the device, in this network namespace: names are unique in a
 *	     namespace only, and may have dots in them, which this file system refuses
 * @part: of it, or ""
 *
 * Return: as pin_path()
 */
const char *pin_device(const char *what, int ifindex, const char *part)
{
	return pin_path("/%s-%llu-%d%s", what, (unsigned long long)netns_id(),
			ifindex, part);
}

/**
 * pin_cgroup() - the path of a pin that belongs to a cgroup
 * @cgroup: its directory
 * @part: of it, or ""
 *
 * Return: as pin_path()
 */
const char *pin_cgroup(const char *cgroup, const char *part)
{
	return pin_path("/cgroup-%llu%s", (unsigned long long)cgroup_id(cgroup),
			part);
}

/* Directory of pin_mkdir(): pin_undo() removes it if it is empty. */
static char made[256];

/* Pins that wait for pin_commit() */
static struct {
	char path[256];
	char temp[256 + sizeof(NEW)];
} news[16];
static unsigned int n_news;

/* New pins of pin_share(), which pin_undo() removes */
static char shares[8][256];
static unsigned int n_shares;

/* Map of struct_ops that pin_undo() unregisters, or -1 */
static int registered = -1;

/**
 * pin_undo() - after a failure: remove all that is new, and an empty directory
 */
void pin_undo(void)
{
	const uint32_t zero = 0;

	if (registered >= 0)
		bpf_map_delete_elem(registered, &zero);
	while (n_news)
		unlink(news[--n_news].temp);
	while (n_shares)
		unlink(shares[--n_shares]);
	if (*made)
		pin_rmdir(made);
}

/**
 * pin_mkdir() - make a directory, and bfcctl's own above it
 * @path: may exist
 */
void pin_mkdir(const char *path)
{
	snprintf(made, sizeof(made), "%s", path);
	if (mkdir(pin_path("%s", ""), 0755) && errno != EEXIST)
		fail("%s: %s", pin_path("%s", ""), strerror(errno));
	/* Another user may have made it first. */
	need_own_dir();
	if (mkdir(path, 0755) && errno != EEXIST)
		fail("%s: %s", path, strerror(errno));
}

/**
 * pin_rmdir() - remove a directory, and bfcctl's own above it, if empty
 * @path: may be absent
 */
void pin_rmdir(const char *path)
{
	rmdir(path);
	rmdir(pin_path("%s", ""));
}

/**
 * pin_remove() - remove a pin
 * @path: may be absent
 *
 * Return: whether it was there.
 */
bool pin_remove(const char *path)
{
	if (!unlink(path))
		return true;
	if (errno != ENOENT)
		fail("%s: %s", path, strerror(errno));
	return false;
}

/* Pins that match a pattern, to be given to globfree(). The name of the file system's
 * directory is not part of the pattern.
 */
static glob_t pin_find(const char *pattern)
{
	const char *dir = pin_path("%s", "");
	char all[2 * 256 + 64], *to = all;
	glob_t found = {};
	int err;

	for (; *dir; *to++ = *dir++)
		if (strchr("*?[\\", *dir))
			*to++ = '\\';
	snprintf(to, all + sizeof(all) - to, "%s", pattern);
	err = glob(all, GLOB_NOSORT, NULL, &found);
	if (err && err != GLOB_NOMATCH)
		fail("%s: cannot look for %s", ctl.bpffs, pattern);
	return found;
}

/**
 * pin_each() - call a function for each pin that matches a pattern
 * @pattern: of names below <bpffs>/bfc, as for glob(3)
 * @each: is called with the path of the pin
 */
void pin_each(const char *pattern, void (*each)(const char *path))
{
	glob_t found = pin_find(pattern);
	size_t i;

	for (i = 0; i < found.gl_pathc; i++)
		each(found.gl_pathv[i]);
	globfree(&found);
}

/**
 * pin_exists() - whether a pin matches a pattern
 * @pattern: of names below <bpffs>/bfc, as for glob(3)
 */
bool pin_exists(const char *pattern)
{
	glob_t found = pin_find(pattern);
	bool exists = found.gl_pathc;

	globfree(&found);
	return exists;
}

static void remove_left(const char *path)
{
	static const char ops[] = "_ops" NEW;
	size_t len = strlen(path);
	const uint32_t zero = 0;
	int fd = -1;

	/* Struct_ops stay registered without their pin. */
	if (len >= sizeof(ops) && !strcmp(path + len - (sizeof(ops) - 1), ops))
		fd = bpf_obj_get(path);
	if (fd >= 0) {
		bpf_map_delete_elem(fd, &zero);
		close(fd);
	}
	unlink(path);
}

static void remove_empty(const char *path)
{
	rmdir(path);
}

/* Remove what a bfcctl has left that was killed before its pin_commit(). With the lock none is
 * at work.
 */
static void pins_left(void)
{
	pin_each("/*" NEW, remove_left);
	pin_each("/cgroup-*/*" NEW, remove_left);
	pin_each("/cgroup-*", remove_empty);
}

/**
 * pin_open() - open a pin
 * @path: may be absent
 *
 * Return: a file descriptor, or -1 if there is nothing.
 */
int pin_open(const char *path)
{
	int fd = bpf_obj_get(path);

	if (fd < 0 && errno != ENOENT)
		fail("%s: %s", path, strerror(errno));
	return fd < 0 ? -1 : fd;
}

/**
 * pin_share() - use a map that is pinned, or pin this one
 * @map: of an object that is not loaded yet
 * @path: of the pin; a new pin is removed again unless pin_commit() is called
 */
void pin_share(struct bpf_map *map, const char *path)
{
	int err = bpf_map__set_pin_path(map, path);

	if (err)
		fail("%s: %s", path, strerror(-err));
	if (!access(path, F_OK))
		return;
	if (n_shares == ARRAY_SIZE(shares))
		fail("%s: too many", path);
	snprintf(shares[n_shares++], sizeof(shares[0]), "%s", path);
}

/* Path of a pin until pin_commit() */
static const char *pin_wait(const char *path)
{
	struct stat st;

	if (n_news == ARRAY_SIZE(news))
		fail("%s: too many", path);
	/* pin_commit() replaces anything but a directory. */
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		fail("%s: %s", path, strerror(EISDIR));
	snprintf(news[n_news].path, sizeof(news[0].path), "%s", path);
	snprintf(news[n_news].temp, sizeof(news[0].temp), "%s" NEW, path);
	pin_remove(news[n_news].temp);
	return news[n_news++].temp;
}

/**
 * pin_new() - pin a program, a map or a link, once all has worked
 * @fd: descriptor of it
 * @path: of the pin; an old one stays until pin_commit(), or for good if that
 *	  is not called
 */
void pin_new(int fd, const char *path)
{
	if (bpf_obj_pin(fd, pin_wait(path)))
		fail("%s: %s", path, strerror(errno));
}

/**
 * pin_fresh() - pin_new() of a map that does not use a pinned one
 * @map: of an object that is not loaded yet
 * @path: of the pin; as with pin_new()
 */
void pin_fresh(struct bpf_map *map, const char *path)
{
	int err = bpf_map__set_pin_path(map, pin_wait(path));

	if (err)
		fail("%s: %s", path, strerror(-err));
}

/**
 * pin_new_ops() - pin_new() of registered struct_ops, which pin_undo() unregisters
 * @fd: map of them
 * @path: of the pin
 */
void pin_new_ops(int fd, const char *path)
{
	registered = dup(fd);
	if (registered < 0)
		fail("%s: %s", path, strerror(errno));
	pin_new(fd, path);
}

/**
 * pin_commit() - move all new pins to their paths, and keep them
 */
void pin_commit(void)
{
	unsigned int i;

	for (i = 0; i < n_news; i++)
		if (rename(news[i].temp, news[i].path))
			fail("%s: %s", news[i].path, strerror(errno));
	n_news = 0;
	n_shares = 0;
	registered = -1;
}

/**
 * cgroup_open() - open a cgroup
 * @path: its directory
 *
 * Return: a file descriptor, to be closed by the caller.
 */
int cgroup_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		fail("cgroup %s: %s", path, strerror(errno));
	if (fstatfs(fd, &fs) || (uint32_t)fs.f_type != CGROUP2_MAGIC)
		fail("%s is not a cgroup of version 2 (they are usually below /sys/fs/cgroup)",
		     path);
	return fd;
}

/**
 * cgroup_id() - the number of a cgroup, which is never used again
 * @path: its directory
 */
uint64_t cgroup_id(const char *path)
{
	int fd = cgroup_open(path);
	struct stat st;

	if (fstat(fd, &st))
		fail("cgroup %s: %s", path, strerror(errno));
	close(fd);
	return st.st_ino;
}

/* ---- maps of one entry ---- */

/**
 * conf_set() - write the configuration of programs
 * @map: the configuration is its only entry; pinned, or about to be
 * @value: the configuration
 * @what: the programs, for messages
 */
void conf_set(int map, const void *value, const char *what)
{
	const uint32_t zero = 0;

	if (bpf_map_update_elem(map, &zero, value, BPF_ANY))
		fail("cannot configure %s: %s", what, strerror(errno));
}

/* Of these a lookup returns a value for each CPU. */
static bool per_cpu(uint32_t type)
{
	return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE;
}

static bool fits(int map, size_t key, size_t value, bool each_cpu)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	return !bpf_obj_get_info_by_fd(map, &info, &len) && per_cpu(info.type) == each_cpu &&
	       info.key_size == key && info.value_size == value;
}

/**
 * conf_fits() - whether a map has the layout of this version of bfcctl
 * @map: the map
 * @key: bytes of a key
 * @value: bytes of a value
 */
bool conf_fits(int map, size_t key, size_t value)
{
	return fits(map, key, value, false);
}

/**
 * counts_fit() - whether a map has the layout of this version's counters
 * @map: the map, with a value for each CPU
 * @key: bytes of a key
 * @value: bytes of a value
 */
bool counts_fit(int map, size_t key, size_t value)
{
	return fits(map, key, value, true);
}

/**
 * conf_get_sized() - read the configuration of programs; conf_get() knows the size
 * @map: the configuration is its only entry
 * @value: result
 * @size: of it, bytes
 *
 * Return: false if it cannot be read, or is that of another version of bfcctl.
 */
bool conf_get_sized(int map, void *value, size_t size)
{
	const uint32_t zero = 0;

	return conf_fits(map, sizeof(zero), size) &&
	       !bpf_map_lookup_elem(map, &zero, value);
}

/* ---- versions ---- */

/**
 * sockops_attach() - attach a sockops program to a cgroup, or replace the one that is pinned
 * @prog: the program
 * @cgroup: directory
 * @path: where the attachment is pinned, or is to be
 * @what: the program, for messages
 *
 * Ends the program with a message on errors.
 */
void sockops_attach(int prog, const char *cgroup, const char *path, const char *what)
{
	int link = pin_open(path), fd;

	if (link >= 0) {
		if (bpf_link_update(link, prog, NULL))
			fail("cannot replace %s of %s: %s", what, cgroup, strerror(errno));
	} else {
		fd = cgroup_open(cgroup);
		link = bpf_link_create(prog, fd, BPF_CGROUP_SOCK_OPS, NULL);
		if (link < 0)
			fail("cannot attach %s to %s: %s", what, cgroup,
			     errno == EPERM ?
			     "a program is attached there that excludes others" :
			     strerror(errno));
		pin_new(link, path);
		close(fd);
	}
	close(link);
}

/**
 * object_id() - a hash that tells the programs of one bfcctl from those of another
 * @elf_bytes: of the skeleton: the object that they are loaded from
 */
uint64_t object_id(const void *(*elf_bytes)(size_t *size))
{
	uint64_t hash = 14695981039346656037ULL;	/* FNV-1a */
	const uint8_t *p;
	size_t size;

	p = elf_bytes(&size);
	while (size--)
		hash = (hash ^ *p++) * 1099511628211ULL;
	return hash;
}

/**
 * object_pin() - pin_new() of an object_id()
 * @id: the id
 * @path: of the pin
 */
void object_pin(uint64_t id, const char *path)
{
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bfc_object",
				 sizeof(uint32_t), sizeof(id), 1, NULL);

	if (map < 0)
		fail("cannot make a map: %s", strerror(errno));
	conf_set(map, &id, "the object's id");
	pin_new(map, path);
	close(map);
}

/**
 * object_is() - whether this object_id() is pinned there
 * @id: the id
 * @path: may be absent
 */
bool object_is(uint64_t id, const char *path)
{
	int map = pin_open(path);
	uint64_t was;
	bool same;

	if (map < 0)
		return false;
	same = conf_get(map, &was) && was == id;
	close(map);
	return same;
}

/**
 * map_id() - the id of a map
 * @fd: of the map, or -1
 *
 * Ends the program with a message on errors.
 *
 * Return: 0 without a map.
 */
uint32_t map_id(int fd)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		fail("cannot tell which map it is: %s", strerror(errno));
	return info.id;
}

/**
 * ops_registered() - whether struct_ops are registered, not only pinned
 * @path: pin of the map, may be absent
 *
 * A bfcctl that was killed within "off" has taken them out and has left the pin. What is not known
 * of the pinned map counts as registered.
 */
bool ops_registered(const char *path)
{
	const uint32_t zero = 0, in_use = 1;	/* BPF_STRUCT_OPS_STATE_INUSE */
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);
	int fd = pin_open(path);
	bool is = fd >= 0;
	uint32_t *value;	/* reference count, state, and the ops */

	if (!is)
		return false;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == BPF_MAP_TYPE_STRUCT_OPS &&
	    info.value_size >= 2 * sizeof(*value)) {
		value = need(calloc(1, info.value_size));
		is = bpf_map_lookup_elem(fd, &zero, value) || value[1] == in_use;
		free(value);
	}
	close(fd);
	return is;
}

/**
 * prog_has() - whether a program uses the map that is pinned there
 * @prog: id of the program
 * @path: of the pin, may be absent
 *
 * The kernel runs a new program before its maps have their names: a bfcctl that was killed in
 * between leaves the pins of the program before.
 */
bool prog_has(uint32_t prog, const char *path)
{
	uint32_t ids[16], i, len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {
		.map_ids = (uintptr_t)ids,
		.nr_map_ids = ARRAY_SIZE(ids),
	};
	int map = pin_open(path), fd;
	uint32_t id = map_id(map);
	bool has = false;

	if (!id)
		return false;
	close(map);
	fd = bpf_prog_get_fd_by_id(prog);
	if (fd < 0)
		return false;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len))
		for (i = 0; i < info.nr_map_ids && i < ARRAY_SIZE(ids); i++)
			has |= ids[i] == id;
	close(fd);
	return has;
}

/**
 * link_has() - prog_has() of the program of a pinned attachment
 * @link: path of its pin, may be absent
 * @path: of the map's pin, may be absent
 */
bool link_has(const char *link, const char *path)
{
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);
	int fd = pin_open(link);
	bool has;

	if (fd < 0)
		return false;
	has = !bpf_obj_get_info_by_fd(fd, &info, &len) && prog_has(info.prog_id, path);
	close(fd);
	return has;
}
