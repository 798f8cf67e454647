// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl - eBPF for the bfc qdisc: stamping, in-band telemetry, HPCC
 *
 * The command line, and what all commands need to read it. See bfcctl(8).
 */
#define _GNU_SOURCE	/* setns */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bfcctl.h"
#include "rtnl.h"

struct ctl ctl = { .bpffs = "/sys/fs/bpf" };

static const char usage[] =
	"usage: bfcctl [OPTIONS] COMMAND\n"
	"  stamp attach DEV [node N] [int on|off] [every N] [port N]\n"
	"                                         stamp by eBPF as packets leave DEV\n"
	"  stamp detach DEV                       stamp natively again\n"
	"  stamp show [DEV]\n"
	"  int attach DEV                         INT in RoCEv2 packets\n"
	"  int attach --cgroup DIR [every N] [hops N]\n"
	"                                         INT in the TCP options of a cgroup\n"
	"  int detach DEV | --cgroup DIR\n"
	"  int show [DEV]                         what INT says of each hop\n"
	"  hpcc on [--cgroup DIR] rate RATE rtt TIME [eta N] [flows N] [wai BYTES]\n"
	"       [stage N] [react both|per-ack|per-rtt] [rx-rate] [headers N] [trace]\n"
	"       [sockops]                         HPCC for TCP\n"
	"  hpcc off [--cgroup DIR]\n"
	"  hpcc show\n"
	"  delay on rate RATE rtt TIME [target N] [packet N]\n"
	"                                         delay-based control for TCP\n"
	"  delay off|show\n"
	"  watch [DEV] [interval TIME] [count N]  ports and INT, again and again\n"
	"OPTIONS: -j|--json  -p|--pretty  -n|--netns NAME  --bpffs DIR\n"
	"         -v|--verbose  -h|--help  -V|--version\n"
	"bfcctl(8) explains them.\n";

/* Ends the program, as "bfcctl: why". */
void fail(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("bfcctl: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	pin_undo();
	exit(1);
}

/* Ends the program: the command line makes no sense. */
void usage_fail(const char *fmt, ...)
{
	va_list args;

	fputs("bfcctl: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs(" (bfcctl --help)\n", stderr);
	exit(2);
}

/* What rtnl.c calls when a system call fails. */
void die(const char *what)
{
	fail("%s: %s", what, strerror(errno));
}

/**
 * next_word() - take the next word off the command line
 * @argc: words left
 * @argv: words left
 * @after: what it must follow, for the message if there is none
 */
const char *next_word(int *argc, char ***argv, const char *after)
{
	if (!*argc)
		usage_fail("something is missing after \"%s\"", after);
	(*argc)--;
	return *(*argv)++;
}

static uint64_t in_range(const char *name, const char *value,
			 unsigned long long n, const char *end, uint64_t lo,
			 uint64_t hi)
{
	if (*value < '0' || *value > '9' || *end || errno || n < lo || n > hi)
		usage_fail("illegal \"%s\" for \"%s\": give a number from %llu to %llu",
			   value, name, (unsigned long long)lo,
			   (unsigned long long)hi);
	return n;
}

/**
 * number() - an argument that is a number
 * @name: of the option, for messages
 * @value: argument
 * @lo: smallest
 * @hi: largest
 */
uint64_t number(const char *name, const char *value, uint64_t lo, uint64_t hi)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(value, &end, 10);
	return in_range(name, value, n, end, lo, hi);
}

/**
 * nanoseconds() - an argument that is a time: with s, ms, us, ns or, alone, ns
 * @name: of the option, for messages
 * @value: argument
 * @lo: smallest, ns
 * @hi: largest, ns
 */
uint64_t nanoseconds(const char *name, const char *value, uint64_t lo,
		     uint64_t hi)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
		{ "", 1 },
	};
	unsigned int i;
	double n = 0;
	char *end;

	end = (char *)value;
	if ((*value >= '0' && *value <= '9') || *value == '.')
		n = strtod(value, &end);
	for (i = 0; end > value && i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		n *= units[i].ns;
		if (n >= lo && n <= hi)
			return n;
	}
	usage_fail("illegal \"%s\" for \"%s\": give a time from %lluns to %lluns",
		   value, name, (unsigned long long)lo, (unsigned long long)hi);
}

static void enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("no such network namespace: %s", name);
	if (setns(fd, CLONE_NEWNET))
		fail("network namespace %s: %s", name,
		     errno == EPERM ? "not permitted" : strerror(errno));
	close(fd);
}

static void options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "netns", required_argument, NULL, 'n' },
		{ "bpffs", required_argument, NULL, 'b' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{}
	};
	const char *netns = NULL;
	int c;

	/* +: what comes after the command is the command's */
	while ((c = getopt_long(argc, argv, "+jpn:vhV", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			ctl.json = true;
			break;
		case 'p':
			ctl.json = true;
			ctl.pretty = true;
			break;
		case 'n':
			netns = optarg;
			break;
		case 'b':
			ctl.bpffs = optarg;
			break;
		case 'v':
			ctl.verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			out_flush();
			exit(0);
		case 'V':
			puts("bfcctl " BFCCTL_VERSION);
			out_flush();
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (netns)
		enter(netns);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int argc, char **argv);
	} commands[] = {
		{ "stamp", cmd_stamp },
		{ "int", cmd_int },
		{ "hpcc", cmd_hpcc },
		{ "delay", cmd_delay },
		{ "watch", cmd_watch },
	};
	unsigned int i;

	options(argc, argv);
	argc -= optind;
	argv += optind;
	if (!argc) {
		fputs(usage, stderr);
		return 2;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(*argv, commands[i].name)) {
			commands[i].run(argc - 1, argv + 1);
			out_flush();
			return 0;
		}
	usage_fail("what is \"%s\"?", *argv);
}
