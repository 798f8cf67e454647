// SPDX-License-Identifier: GPL-2.0
/*
 * What a TCP sender has in flight at most: its window, as in HPCC's simulator,
 * which FAFC's authors used as well.
 *
 * No socket option says so, and of a route's metrics cwnd and ssthresh nothing is
 * seen with tcp_no_metrics_save, without which connections would learn from
 * others. But a BPF program may set both of a connection that has just been
 * opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flow.h"
#include "input.h"

#define CGROUPS		"/run/evalflow-cgroups"
#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define MOV(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int load(uint32_t packets)
{
	const struct bpf_insn prog[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1,
		     offsetof(struct bpf_sock_ops, op), 0),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, 0, 7,
		     BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB),
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, packets),
		SET(BPF_REG_2, IPPROTO_TCP),
		SET(BPF_REG_3, TCP_BPF_SNDCWND_CLAMP),
		MOV(BPF_REG_4, BPF_REG_10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -4),
		SET(BPF_REG_5, sizeof(packets)),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_setsockopt),
		SET(BPF_REG_0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCK_OPS,
		.insn_cnt = sizeof(prog) / sizeof(*prog),
		.insns = (uintptr_t)prog,
		.license = (uintptr_t)"GPL",
	};
	int fd = sys_bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		die("BPF_PROG_LOAD");
	return fd;
}

/**
 * tcp_bound() - bound the window of all connections that are opened from now on
 * @packets: the bound, and where slow start ends
 *
 * For as long as the machine runs, or until it is called again.
 */
void tcp_bound(uint32_t packets)
{
	union bpf_attr attr = { .attach_type = BPF_CGROUP_SOCK_OPS };
	int cgroup;

	if (mkdir(CGROUPS, 0700) && errno != EEXIST)
		die(CGROUPS);
	cgroup = open(CGROUPS "/cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (cgroup < 0 && mount("none", CGROUPS, "cgroup2", 0, NULL))
		die("mount cgroup2");
	if (cgroup >= 0)
		close(cgroup);
	cgroup = open(CGROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup < 0)
		die(CGROUPS);
	attr.target_fd = cgroup;
	attr.attach_bpf_fd = load(packets);
	if (sys_bpf(BPF_PROG_ATTACH, &attr))
		die("BPF_PROG_ATTACH");
	close(attr.attach_bpf_fd);
	close(cgroup);
}
