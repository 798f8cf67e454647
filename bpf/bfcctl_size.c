// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl size: the TCP connections of a cgroup tell what they have yet to send.
 *
 *	<bpffs>/bfc/size-<cgroup>		attachment to a cgroup
 *	<bpffs>/bfc/size-<cgroup>-config	peers that are told
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bfc_size.skel.h"
#include "bfcctl.h"

static const char *size_path(const char *cgroup, const char *part)
{
	return pin_path("/size-%llu%s", (unsigned long long)cgroup_id(cgroup), part);
}

static void size_on(const char *cgroup, const struct bfc_int_config *conf)
{
	const char *path = size_path(cgroup, "");
	struct bfc_size *skel;
	int prog;

	skel = bfc_size__open();
	if (!skel)
		fail("cannot open the program: %s", strerror(errno));
	pin_mkdir(pin_path("%s", ""));
	pin_fresh(skel->maps.bfc_size_config, size_path(cgroup, "-config"));
	bpf_loaded(bfc_size__load(skel), "the program that tells sizes");
	conf_set(bpf_map__fd(skel->maps.bfc_size_config), conf, "the program that tells sizes");
	prog = bpf_program__fd(skel->progs.bfc_size);
	sockops_attach(prog, cgroup, path, "the program");
	pin_commit();
	bfc_size__destroy(skel);
}

static void size_off(const char *cgroup)
{
	bool was = pin_remove(size_path(cgroup, ""));

	pin_remove(size_path(cgroup, "-config"));
	pin_rmdir(pin_path("%s", ""));
	if (!was)
		fail("%s: its connections do not tell sizes", cgroup);
}

void cmd_size(int argc, char **argv)
{
	const char *word = next_word(&argc, &argv, "size"), *cgroup = NULL;
	struct bfc_int_config conf = {};
	bool on = !strcmp(word, "on");

	if (!on && strcmp(word, "off"))
		usage_fail("what is \"size %s\"?", word);
	while (argc) {
		word = next_word(&argc, &argv, "");
		if (!strcmp(word, "--cgroup"))
			cgroup = next_word(&argc, &argv, word);
		else if (on && !strcmp(word, "to"))
			int_scope(&conf, next_word(&argc, &argv, word));
		else
			usage_fail("what is \"%s\"?", word);
	}
	if (!cgroup)
		usage_fail("give --cgroup and a directory");
	if (on && !conf.prefixes)
		int_scope(&conf, NULL);
	bpf_begin_change();
	if (on)
		size_on(cgroup, &conf);
	else
		size_off(cgroup);
}
