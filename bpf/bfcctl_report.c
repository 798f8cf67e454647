// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl report: collect what a bug report needs in one archive: the output of
 * tc, ip, ethtool, modinfo and bfcctl itself about the ports that have a bfc
 * qdisc, and the kernel's log.
 *
 * All of it is collected in memory first: the archive is complete, or there is
 * none.
 */
#define _GNU_SOURCE	/* memfd_create, pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/bfc_version.h>
#include "bfcctl.h"
#include "klog.h"
#include "mask.h"

#define EVENTS_DEFAULT	3000000000ULL	/* ns */
#define EVENTS_MAX	60000000000ULL
#define PATIENCE	10000000000ULL	/* ns that a command may take */
#define NOT_FOUND	127		/* exit code if there is no such program */
#define KLOG_READ_ALL	3		/* syslog(2) */
#define KLOG_SIZE	10
#define TAR_BLOCK	512

/**
 * struct part - a file of the archive
 * @path: in the archive
 * @text: what is in it
 * @said: how it was made, for the table of contents
 */
struct part {
	char path[100];	/* of a tar header */
	char *text;
	char *said;
};

static struct {
	struct part *parts;
	unsigned int n;
	const char *missing[8];	/* tools */
	unsigned int n_missing;
	bool addresses;	/* not replaced */
	char name[32];	/* directory in the archive, and the archive's default name */
} report;

static const struct {
	const char *tool;
	const char *package;	/* of Debian */
} packages[] = {
	{ "tc", "iproute2" }, { "ip", "iproute2" }, { "ethtool", "ethtool" },
	{ "modinfo", "kmod" }, { "gzip", "gzip" }, {}
};

static const char *package_of(const char *tool)
{
	unsigned int i;

	for (i = 0; packages[i].tool && strcmp(packages[i].tool, tool); i++)
		;
	return packages[i].tool ? packages[i].package : tool;
}

/* ---- parts ---- */

/* The path of a part may have an address in it, as part of a device's name. */
static void add(const char *path, const char *content, const char *said, bool plain)
{
	bool mask = !report.addresses && !plain;
	char *name = report.addresses ? need(strdup(path)) : mask_text(path);
	struct part *p;

	report.parts = grow(report.parts, report.n, sizeof(*report.parts));
	p = &report.parts[report.n++];
	snprintf(p->path, sizeof(p->path), "%s/%s", report.name, name);
	p->text = mask ? mask_text(content) : need(strdup(content));
	p->said = report.addresses ? need(strdup(said)) : mask_text(said);
	free(name);
}

static void note_missing(const char *tool)
{
	unsigned int i;

	for (i = 0; i < report.n_missing; i++)
		if (!strcmp(report.missing[i], tool))
			return;
	if (report.n_missing == ARRAY_SIZE(report.missing))
		return;
	report.missing[report.n_missing++] = tool;
	fprintf(stderr, "bfcctl: report: there is no %s: what it says is not in the report (Debian: apt-get install %s)\n",
		tool, package_of(tool));
	ctl.status = 1;
}

/* ---- commands ---- */

/* It ends when bfcctl does, and by SIGTERM: what bfcctl ignores a program would, too. */
static _Noreturn void child(int out, int err, const char *const *argv)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
	int null = open("/dev/null", O_RDONLY);
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	setenv("LC_ALL", "C", 1);
	execvp(argv[0], (char *const *)argv);
	if (errno != ENOENT)
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(NOT_FOUND);
}

static pid_t fork_with_pipe(int fds[2])
{
	pid_t pid;

	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC))
		fail("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	return pid;
}

/* Run a command: its standard output goes to @to, its standard error to @err.
 * After @watch ns it gets SIGTERM. With @watch 0 it must end by itself, and is
 * killed after PATIENCE. Returns its wait status.
 */
static int run(const char *const *argv, uint64_t watch, FILE *to, int err)
{
	uint64_t end = now_ns() + (watch ?: PATIENCE), now;
	struct pollfd p;
	int fds[2], status;
	bool ended = false;
	char buf[4096];
	ssize_t got;
	pid_t pid;

	pid = fork_with_pipe(fds);
	if (!pid)
		child(fds[1], err, argv);
	close(fds[1]);
	p = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	while (!ended && (now = now_ns()) < end) {
		if (poll(&p, 1, (end - now + 999999) / 1000000) <= 0)
			continue;
		got = read(fds[0], buf, sizeof(buf));
		ended = got <= 0;
		if (!ended)
			fwrite(buf, got, 1, to);
	}
	if (!ended)
		kill(pid, watch ? SIGTERM : SIGKILL);
	close(fds[0]);
	if (waitpid(pid, &status, 0) != pid)
		fail("%s: %s", argv[0], strerror(errno));
	return status;
}

static void join(char *line, size_t room, const char *const *argv)
{
	size_t len = 0;

	*line = '\0';
	for (; *argv && len < room; argv++)
		len += snprintf(line + len, room - len, "%s%s", len ? " " : "", *argv);
}

/* Describe how a command ended: its exit code or signal, and its standard
 * error. @by_itself: no signal was meant to end it.
 */
static char *how_it_ended(const char *const *argv, int status, bool by_itself, int err)
{
	char line[256], *said = NULL, buf[2048];
	size_t len;
	ssize_t got;
	FILE *to = need(open_memstream(&said, &len));

	join(line, sizeof(line), argv);
	fprintf(to, "%s", line);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		fprintf(to, ": no such program");
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		fprintf(to, ": exit code %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status) && by_itself)
		fprintf(to, ": signal %d", WTERMSIG(status));
	got = pread(err, buf, sizeof(buf), 0);
	if (got > 0)
		fprintf(to, "\n\t%.*s", (int)got - (buf[got - 1] == '\n'), buf);
	fclose(to);
	return need(said);
}

/* @watch: as for run(); @self: run bfcctl itself; @plain: do not replace
 * addresses: there are only versions that look like some.
 */
static void add_command(const char *path, const char *const *argv, uint64_t watch, bool self,
			bool plain)
{
	const char *words[12] = { "/proc/self/exe", "--bpffs", ctl.bpffs };
	int err = memfd_create("errors", MFD_CLOEXEC), status;
	char *said, *out = NULL;
	unsigned int i, n = 3;
	size_t len;
	FILE *to;

	if (err < 0)
		fail("memfd: %s", strerror(errno));
	for (i = 1; self && argv[i]; i++)
		words[n++] = argv[i];
	to = need(open_memstream(&out, &len));
	status = run(self ? words : argv, watch, to, err);
	fclose(to);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		note_missing(argv[0]);
	said = how_it_ended(argv, status, !watch, err);
	add(path, need(out), said, plain);
	free(said);
	free(out);
	close(err);
}

#define WORDS(...)	((const char *const[]){ __VA_ARGS__, NULL })

static void add_tool(const char *path, const char *const *argv)
{
	add_command(path, argv, 0, false, false);
}

static void add_own(const char *path, const char *const *argv)
{
	add_command(path, argv, 0, true, false);
}

/* ---- the kernel ---- */

static void add_kernel(void)
{
	struct utsname u;
	char text[1024];

	if (uname(&u))
		fail("uname: %s", strerror(errno));
	/* Without the name of the box */
	snprintf(text, sizeof(text), "%s %s %s %s\n", u.sysname, u.release, u.version, u.machine);
	add("kernel.txt", text, "uname -srvm", true);
}

static void add_log(void)
{
	const char *said =
		"the kernel's log: lines of bfc, and oopses, warnings and such that name it";
	int room = klogctl(KLOG_SIZE, NULL, 0), got = -1;
	char *log = need(calloc(1, (room > 0 ? room : 0) + 1)), *out = NULL;
	char why[256];
	size_t len;
	FILE *to = need(open_memstream(&out, &len));

	if (room >= 0)
		got = klogctl(KLOG_READ_ALL, log, room);
	if (got < 0) {
		snprintf(why, sizeof(why), "%s: %s", said, strerror(errno));
		said = why;
	} else {
		klog_filter(log, to);
	}
	fclose(to);
	add("dmesg.txt", need(out), said, false);
	free(out);
	free(log);
}

/* ---- ports ---- */

struct names {
	char (*name)[IF_NAMESIZE];
	unsigned int n;
};

static void keep_name(const struct port *port, void *arg)
{
	struct names *ports = arg;

	if (strcmp(port->kind, "bfc"))
		return;
	ports->name = grow(ports->name, ports->n, sizeof(*ports->name));
	memcpy(ports->name[ports->n++], port->name, IF_NAMESIZE);
}

static void add_port(const char *dev)
{
	static const struct {
		const char *option;
		bool plain;
	} ethtool[] = { { "-i", true }, { "-g", false }, { "-k", false }, { "-l", false } };
	char path[64];
	unsigned int i;

	snprintf(path, sizeof(path), "ports/%s/qdisc.json", dev);
	add_tool(path, WORDS("tc", "-s", "-d", "-j", "qdisc", "show", "dev", dev));
	/* tc of iproute2 6.1 prints the plugin's text for classes even with -j. */
	snprintf(path, sizeof(path), "ports/%s/class.txt", dev);
	add_tool(path, WORDS("tc", "-s", "-d", "class", "show", "dev", dev));
	for (i = 0; i < ARRAY_SIZE(ethtool); i++) {
		snprintf(path, sizeof(path), "ports/%s/ethtool%s.txt", dev, ethtool[i].option);
		add_command(path, WORDS("ethtool", ethtool[i].option, dev), 0, false,
			    ethtool[i].plain);
	}
}

static void add_ports(void)
{
	struct names ports = {};
	unsigned int i;

	ports_each(keep_name, &ports);
	for (i = 0; i < ports.n; i++)
		add_port(ports.name[i]);
	free(ports.name);
}

/* ---- the archive ---- */

static void add_contents(void)
{
	char *out = NULL, date[64];
	time_t now = time(NULL);
	unsigned int i;
	struct tm tm;
	size_t len;
	FILE *to = need(open_memstream(&out, &len));

	strftime(date, sizeof(date), "%F %T UTC", gmtime_r(&now, &tm));
	fprintf(to, "bfcctl " BFC_RELEASE ", %s\n", date);
	fprintf(to, report.addresses ? "Addresses are as they are.\n" :
		"Addresses are replaced by mac1, ipv4-1, ipv6-1 ...: the same by the same.\n");
	for (i = 0; i < report.n_missing; i++)
		fprintf(to, "There is no %s.\n", report.missing[i]);
	fprintf(to, "\n");
	for (i = 0; i < report.n; i++)
		fprintf(to, "%s\n\t%s\n", strchr(report.parts[i].path, '/') + 1,
			report.parts[i].said);
	fclose(to);
	add("contents.txt", need(out), "this", true);
	free(out);
}

static void octal(char *field, size_t room, uint64_t value)
{
	for (field[--room] = '\0'; room--; value >>= 3)
		field[room] = '0' + value % 8;
}

/* A header of POSIX.1-1988 (ustar), and the file behind it */
static void put_part(FILE *to, const struct part *p)
{
	struct {
		char name[100], mode[8], uid[8], gid[8], size[12], mtime[12];
		char sum[8], type, link[100], magic[6], version[2], owner[32];
		char group[32], major[8], minor[8], prefix[155], pad[12];
	} h = { .type = '0', .magic = "ustar", .version = { '0', '0' }, .sum = "       ",
		.owner = "root", .group = "root" };
	static const char zeros[TAR_BLOCK];
	size_t len = strlen(p->text), i;
	unsigned int sum = 0;

	_Static_assert(sizeof(h) == TAR_BLOCK, "header of tar");
	memcpy(h.name, p->path, sizeof(h.name));
	octal(h.mode, sizeof(h.mode), 0600);
	octal(h.uid, sizeof(h.uid), 0);
	octal(h.gid, sizeof(h.gid), 0);
	octal(h.size, sizeof(h.size), len);
	octal(h.mtime, sizeof(h.mtime), time(NULL));
	h.sum[7] = ' ';	/* the sum itself counts as blanks */
	for (i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	octal(h.sum, 7, sum);
	fwrite(&h, sizeof(h), 1, to);
	fwrite(p->text, len, 1, to);
	fwrite(zeros, -len % TAR_BLOCK, 1, to);
}

/* The archive, until it is written; at the end of the program it goes if it is not. */
static const char *unfinished;

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
	unfinished = NULL;
}

static void interrupted(int sig)
{
	remove_unfinished();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Make the archive, empty: to collect takes time, and would be for nothing if it could not be
 * made. Returns a descriptor.
 */
static int make_archive(const char *path)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	unsigned int i;

	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	unfinished = path;
	atexit(remove_unfinished);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (signal(signals[i], interrupted) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	return fd;
}

static void put_archive(const char *path, int fd)
{
	static const char zeros[2 * TAR_BLOCK];
	unsigned int i;
	int fds[2], status;
	pid_t pid;
	FILE *to;

	pid = fork_with_pipe(fds);
	if (!pid) {
		dup2(fds[0], STDIN_FILENO);
		dup2(fd, STDOUT_FILENO);
		execlp("gzip", "gzip", "-c", NULL);
		_exit(NOT_FOUND);
	}
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	to = need(fdopen(fds[1], "w"));
	for (i = 0; i < report.n; i++)
		put_part(to, &report.parts[i]);
	fwrite(zeros, sizeof(zeros), 1, to);
	i = ferror(to);
	i |= fclose(to);
	if (waitpid(pid, &status, 0) != pid || status || i || fsync(fd) || close(fd))
		fail("%s: cannot be written", path);
	unfinished = NULL;
}

static bool is_there(const char *tool)
{
	char path[4096], *dirs = need(strdup(getenv("PATH"))), *dir, *save = NULL;
	bool there = false;

	for (dir = strtok_r(dirs, ":", &save); dir && !there; dir = strtok_r(NULL, ":", &save)) {
		snprintf(path, sizeof(path), "%s/%s", dir, tool);
		there = !access(path, X_OK);
	}
	free(dirs);
	return there;
}

/* Add directories of root's PATH, which other users may lack: ethtool is in /usr/sbin. */
static void set_path(void)
{
	const char *path = getenv("PATH");
	char all[4096];

	snprintf(all, sizeof(all), "%s:/usr/sbin:/sbin:/usr/bin:/bin", path && *path ? path : "/usr/bin");
	setenv("PATH", all, 1);
}

static void collect(uint64_t events)
{
	/* First: then their MAC addresses are found in names of devices, too. */
	add_tool("link.json", WORDS("ip", "-d", "-j", "link", "show"));
	add_kernel();
	add_command("modinfo.txt", WORDS("modinfo", "sch_bfc"), 0, false, true);
	add_log();
	add_own("metrics-before.txt", WORDS("bfcctl", "metrics"));
	if (events)
		add_command("events.json", WORDS("bfcctl", "-j", "monitor"), events, true, false);
	add_own("metrics.txt", WORDS("bfcctl", "metrics"));
	add_ports();
	add_own("top.json", WORDS("bfcctl", "-j", "top", "--once"));
	add_own("stamp.json", WORDS("bfcctl", "-j", "stamp", "show"));
	add_own("int.json", WORDS("bfcctl", "-j", "int", "show"));
	add_own("hpcc.json", WORDS("bfcctl", "-j", "hpcc", "show"));
	add_own("delay.json", WORDS("bfcctl", "-j", "delay", "show"));
	add_own("apply.json", WORDS("bfcctl", "-j", "apply", "--dry-run"));
}

static void print(const char *path)
{
	unsigned int i;

	out_open(NULL, '{');
	out_string("file", path);
	out_number("parts", report.n);
	out_bool("addresses", report.addresses);
	out_open("missing", '[');
	for (i = 0; i < report.n_missing; i++)
		out_string(NULL, report.missing[i]);
	out_close(']');
	out_close('}');
	text("%s: %u files, %s. Look through it before you send it.\n", path, report.n,
	     report.addresses ? "with addresses" : "addresses replaced");
}

void cmd_report(int argc, char **argv)
{
	uint64_t events = EVENTS_DEFAULT;
	const char *word, *path = NULL;
	time_t now = time(NULL);
	char usual[48];
	struct tm tm;
	unsigned int i;
	int fd;

	while (argc) {
		word = next_word(&argc, &argv, "");
		if (is_keyword(word, "events"))
			events = nanoseconds(word, next_word(&argc, &argv, word), 0, EVENTS_MAX);
		else if (is_option(word, "--addresses"))
			report.addresses = true;
		else if (!path)
			path = word;
		else
			usage_fail("what is \"%s\"?", word);
	}
	strftime(report.name, sizeof(report.name), "bfc-report-%Y%m%d-%H%M%S",
		 localtime_r(&now, &tm));
	snprintf(usual, sizeof(usual), "%s.tar.gz", report.name);
	if (!path)
		path = usual;
	set_path();
	if (!is_there("gzip"))
		fail("report: there is no gzip, which packs the archive (Debian: apt-get install gzip)");
	fd = make_archive(path);
	collect(events);
	add_contents();
	put_archive(path, fd);
	print(path);
	for (i = 0; i < report.n; i++) {
		free(report.parts[i].text);
		free(report.parts[i].said);
	}
	free(report.parts);
	mask_forget();
}
