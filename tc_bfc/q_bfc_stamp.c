// SPDX-License-Identifier: GPL-2.0
/*
 * q_bfc_stamp.c - the eBPF program of "stamp pinned", for tc(8)
 *
 * The kernel takes a descriptor of the program, which tc keeps until the next
 * one is opened or tc ends. Later the kernel reports what bpftool shows, too:
 * id, name and tag.
 */
#include <errno.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

#include "q_bfc.h"

#define TAG_TEXT	(2 * 8 + 1)

const char * const bfc_stamp_words[] = {
	[BFC_STAMP_NATIVE] = "native",
	[BFC_STAMP_PINNED] = "pinned",
	NULL
};

/* The kernel's descriptor of a program, -1 and errno if there is none. The next
 * call closes it: a batch may have more lines than there are descriptors.
 */
static int get_fd(int cmd, union bpf_attr *attr)
{
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = syscall(__NR_bpf, cmd, attr, sizeof(*attr));
	return fd;
}

/* Descriptor of the program that is pinned at @path, -1 and a message if there is none */
static int open_path(const char *path)
{
	union bpf_attr attr;
	const char *hint = "";
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = (__u64)(uintptr_t)path;
	fd = get_fd(BPF_OBJ_GET, &attr);
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

/* Descriptor of the program with this id, likewise */
static int open_id(__u32 id)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	fd = get_fd(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		fprintf(stderr, "bfc: \"stamp\": there is no program %u any more: give the path of one that is pinned\n",
			id);
	else
		fprintf(stderr, "bfc: \"stamp\": cannot get program %u: %s%s\n", id,
			strerror(errno), errno == EPERM ?
			" (by its id only root can, that is CAP_SYS_ADMIN: give its path)" : "");
	return -1;
}

static void tag_text(char *text, size_t size, const __u8 *tag, unsigned int len)
{
	unsigned int i;

	*text = '\0';
	for (i = 0; i < len && 2 * i + 2 < size; i++)
		snprintf(text + 2 * i, 3, "%02x", tag[i]);
}

/* true if the program has this tag: after a reboot another one may have its id. */
static bool has_tag(int fd, const char *tag)
{
	struct bpf_prog_info info;
	char is[TAG_TEXT];
	union bpf_attr attr;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (__u64)(uintptr_t)&info;
	if (syscall(__NR_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr))) {
		fprintf(stderr, "bfc: \"stamp\": cannot look at the program: %s\n",
			strerror(errno));
		return false;
	}
	tag_text(is, sizeof(is), info.tag, sizeof(info.tag));
	if (strcmp(is, tag) == 0)
		return true;
	fprintf(stderr, "bfc: \"stamp\": program %u is another one now: its tag is %s, not %s; give a path\n",
		info.id, is, tag);
	return false;
}

/* Parse what follows "pinned": a path, or a program as tc prints it: id N [
 * name NAME ] [ tag TAG ]. A path "id" is given as "./id".
 *
 * Return: a descriptor, or -1 and a message. @argv is moved to the last word of it.
 */
int bfc_parse_stamp(int *pargc, char ***pargv)
{
	char **argv = *pargv;
	int argc = *pargc, fd;
	__u32 id;

	if (strcmp(*argv, "id") != 0)
		return open_path(*argv);
	NEXT_ARG();
	if (**argv < '0' || **argv > '9' || get_u32(&id, *argv, 10)) {
		fprintf(stderr, "bfc: illegal \"stamp pinned id\" value \"%s\": give the number of a program, or pinned and a path\n",
			*argv);
		return -1;
	}
	fd = open_id(id);
	/* The name is ignored: several programs may have it. */
	if (fd >= 0 && argc > 2 && strcmp(argv[1], "name") == 0) {
		argc -= 2;
		argv += 2;
	}
	if (fd >= 0 && argc > 2 && strcmp(argv[1], "tag") == 0) {
		argc -= 2;
		argv += 2;
		if (!has_tag(fd, *argv))
			return -1;
	}
	*pargc = argc;
	*pargv = argv;
	return fd;
}

static void print_tag(const struct rtattr *attr)
{
	char text[TAG_TEXT];

	tag_text(text, sizeof(text), RTA_DATA(attr), RTA_PAYLOAD(attr));
	json_string("stamp_tag", text);
	if (*text)
		print_text("tag %s ", text);
}

/* As text only if it is not native, or with @details. */
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
		if (*buf)
			print_text("name %s ", buf);
	}
	if (tb[TCA_BFC_STAMP_TAG])
		print_tag(tb[TCA_BFC_STAMP_TAG]);
}
