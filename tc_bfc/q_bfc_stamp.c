// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc_stamp.c - the eBPF program of "stamp pinned", for tc(8)
 *
 * The kernel wants a descriptor of the program, which tc has until the next one is
 * opened or it ends; what the kernel shows of it later is what bpftool shows.
 */
#include <errno.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

#include "q_bfc.h"

const char * const bfc_stamp_words[] = {
	[BFC_STAMP_NATIVE] = "native",
	[BFC_STAMP_PINNED] = "pinned",
	NULL
};

/* A descriptor of what is pinned there, -1 and a message if there is none. It is good
 * until the next call: a batch may have more lines than there are descriptors.
 */
int bfc_stamp_open(const char *path)
{
	static int fd = -1;
	union bpf_attr attr;
	const char *hint = "";

	if (fd >= 0)
		close(fd);
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (__u64)(uintptr_t)path;
	fd = syscall(__NR_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		hint = " (tc -n and ip netns exec hide /sys/fs/bpf: pin to another bpffs)";
	else if (errno == EINVAL)
		hint = " (nothing pinned: not on a bpffs)";
	else if (errno == EPERM)
		hint = " (needs root, or CAP_BPF and CAP_NET_ADMIN)";
	fprintf(stderr, "bfc: \"stamp\": cannot get the program at \"%s\": %s%s\n",
		path, strerror(errno), hint);
	return -1;
}

static void print_tag(const struct rtattr *attr)
{
	const __u8 *tag = RTA_DATA(attr);
	unsigned int len = RTA_PAYLOAD(attr), i;
	char text[2 * 8 + 1] = "";

	for (i = 0; i < len && 2 * i + 2 < sizeof(text); i++)
		snprintf(text + 2 * i, 3, "%02x", tag[i]);
	json_string("stamp_tag", text);
	print_text("tag %s ", text);
}

/* As text only if there is something to say, or all is asked for. */
void bfc_print_stamp(__u64 value, struct rtattr *tb[], bool details)
{
	char buf[SPRINT_BSIZE];
	uint64_t id;

	json_string("stamp", word_or_number(buf, bfc_stamp_words, value));
	if (value != BFC_STAMP_NATIVE || details)
		print_text("stamp %s ",
			   word_or_number(buf, bfc_stamp_words, value));
	if (bfc_attr_number(tb[TCA_BFC_STAMP_ID], &id)) {
		json_number("stamp_id", id);
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, "id %llu ", id);
	}
	if (tb[TCA_BFC_STAMP_NAME]) {
		get_name(tb[TCA_BFC_STAMP_NAME], buf, sizeof(buf));
		json_string("stamp_name", buf);
		print_text("name %s ", buf);
	}
	if (tb[TCA_BFC_STAMP_TAG])
		print_tag(tb[TCA_BFC_STAMP_TAG]);
}
