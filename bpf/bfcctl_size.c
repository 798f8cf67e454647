// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl size: have the TCP connections of a cgroup send their remaining size
 * (bfc_size.bpf.c).
 *
 *	<bpffs>/bfc/size-<cgroup>		attachment to a cgroup
 *	<bpffs>/bfc/size-<cgroup>-config	peers that sizes are sent to
 *	<bpffs>/bfc/size-<cgroup>-object	object_id() of the program
 *	<bpffs>/bfc/size_sk			the sockets' storage, shared by all
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bfc_size.skel.h"
#include "bfcctl.h"

static const char *size_path(const char *cgroup, const char *part)
{
	return pin_path("/size-%llu%s", (unsigned long long)cgroup_id(cgroup), part);
}

static const char *storage_path(void)
{
	return pin_path("/size_sk");
}

static void size_on(const char *cgroup, struct bfc_int_config *conf)
{
	const char *path = size_path(cgroup, "");
	struct bfc_size *skel;
	int prog;

	skel = bfc_size__open();
	if (!skel)
		fail("cannot open the program: %s", strerror(errno));
	pin_mkdir(pin_path("%s", ""));
	pin_fresh(skel->maps.bfc_int_config, size_path(cgroup, "-config"));
	pin_share(skel->maps.bfc_size_sk, storage_path());
	bpf_loaded(bfc_size__load(skel), "the program that tells sizes");
	conf->cgroup = cgroup_id(cgroup);
	conf_set(bpf_map__fd(skel->maps.bfc_int_config), conf, "the program that tells sizes");
	object_pin(object_id(bfc_size__elf_bytes), size_path(cgroup, "-object"));
	prog = bpf_program__fd(skel->progs.bfc_size);
	sockops_attach(prog, cgroup, path, "the program");
	pin_commit();
	bfc_size__destroy(skel);
}

static void size_off(const char *cgroup)
{
	bool was = pin_remove(size_path(cgroup, ""));

	pin_remove(size_path(cgroup, "-config"));
	pin_remove(size_path(cgroup, "-object"));
	if (!pin_exists("/size-*"))
		pin_remove(storage_path());
	pin_rmdir(pin_path("%s", ""));
	if (!was)
		fail("%s: its connections do not tell sizes", cgroup);
}

/**
 * struct size_args - words after "size on" or "size off"
 * @on: "on", not "off"
 * @cgroup: directory
 * @conf: peers
 */
struct size_args {
	bool on;
	const char *cgroup;
	struct bfc_int_config conf;
};

static void size_args(int argc, char **argv, struct size_args *a)
{
	const char *word = next_word(&argc, &argv, "size");

	*a = (struct size_args){ .on = !strcmp(word, "on") };
	if (!a->on && strcmp(word, "off"))
		usage_fail("what is \"size %s\"?", word);
	while (argc) {
		word = next_word(&argc, &argv, "");
		if (is_option(word, "--cgroup"))
			a->cgroup = next_word(&argc, &argv, word);
		else if (a->on && !strcmp(word, "to"))
			int_scope(&a->conf, next_word(&argc, &argv, word));
		else
			usage_fail("what is \"%s\"?", word);
	}
	if (!a->cgroup)
		usage_fail("give --cgroup and a directory");
	if (a->on && !a->conf.prefixes)
		int_scope(&a->conf, NULL);
}

void cmd_size(int argc, char **argv)
{
	struct size_args a;

	size_args(argc, argv, &a);
	bpf_begin_change();
	if (a.on)
		size_on(a.cgroup, &a.conf);
	else
		size_off(a.cgroup);
}

/**
 * size_check() - "size" in bfc.conf(5), section [host]
 * @argc: words after it
 * @argv: the words
 */
void size_check(int argc, char **argv)
{
	struct size_args a;

	size_args(argc, argv, &a);
}

/**
 * size_same() - whether a cgroup's connections tell sizes as this "size on" would have it
 * @argc: words after "size"
 * @argv: the words
 *
 * With "size off": true if they tell none.
 */
bool size_same(int argc, char **argv)
{
	struct bfc_int_config is;
	struct size_args a;
	bool same;
	int fd;

	size_args(argc, argv, &a);
	bpf_begin();
	if (access(size_path(a.cgroup, ""), F_OK))
		return !a.on;
	if (!a.on || !object_is(object_id(bfc_size__elf_bytes), size_path(a.cgroup, "-object")) ||
	    !link_has(size_path(a.cgroup, ""), size_path(a.cgroup, "-config")))
		return false;
	fd = pin_open(size_path(a.cgroup, "-config"));
	if (fd < 0)
		return false;
	a.conf.cgroup = cgroup_id(a.cgroup);
	same = conf_get(fd, &is) && !memcmp(&a.conf, &is, sizeof(is));
	close(fd);
	return same;
}
