// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl - eBPF for the bfc qdisc: stamping, in-band telemetry, HPCC; events; deadlocks
 *
 * The command line, and what all commands need to read it. See bfcctl(8).
 */
#define _GNU_SOURCE	/* setns */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bfc_version.h>

#include "bfcctl.h"
#include "netns.h"
#include "nearest.h"
#include "rtnl.h"

struct ctl ctl = { .bpffs = "/sys/fs/bpf" };

static const struct command {
	const char *name;
	void (*run)(int argc, char **argv);
	const char *usage;
} commands[] = {
	{ "apply", cmd_apply,
	  "  apply [PORT...] [--dry-run] [--replace] [--file PATH]\n"
	  "                                         make ports as bfc.conf(5) says\n" },
	{ "stamp", cmd_stamp,
	  "  stamp attach DEV [node N] [int on|off|strip] [every N] [port N]\n"
	  "                                         stamp by eBPF as packets leave DEV\n"
	  "  stamp detach DEV|PIN                   stamp natively again\n"
	  "  stamp restore [DEV]                    stamp by what is pinned, if a new\n"
	  "                                         qdisc does not\n"
	  "  stamp show [DEV]                       ports, and pins not in effect\n" },
	{ "int", cmd_int,
	  "  int attach DEV [to PREFIX]...          INT in RoCEv2 packets\n"
	  "  int attach --cgroup DIR [every N] [hops N] [to PREFIX]...\n"
	  "                                         INT in the TCP options of a cgroup\n"
	  "  int detach DEV | --cgroup DIR\n"
	  "  int show [DEV]                         what INT says of each hop\n" },
	{ "sweep", cmd_sweep,
	  "  sweep                                  unpin what was of devices that are gone\n" },
	{ "size", cmd_size,
	  "  size on --cgroup DIR [to PREFIX]...    TCP tells what it has yet to send\n"
	  "  size off --cgroup DIR\n" },
	{ "hpcc", cmd_hpcc,
	  "  hpcc on [--cgroup DIR] rate RATE rtt TIME [eta N] [flows N] [wai BYTES]\n"
	  "       [stage N] [react both|per-ack|per-rtt] [rx-rate] [headers N] [trace]\n"
	  "       [sockops]                         HPCC for TCP\n"
	  "  hpcc off [--cgroup DIR]\n"
	  "  hpcc show\n" },
	{ "delay", cmd_delay,
	  "  delay on rate RATE rtt TIME [target N] [packet N]\n"
	  "                                         delay-based control for TCP\n"
	  "  delay off|show\n" },
	{ "watch", cmd_watch,
	  "  watch [DEV] [interval TIME] [count N]  ports and INT, again and again\n" },
	{ "top", cmd_top,
	  "  top [DEV] [interval TIME] [--once]     which port pauses which, live\n" },
	{ "monitor", cmd_monitor,
	  "  monitor [DEV|all-nsid] [count N]       what happens to ports, as it happens\n" },
	{ "metrics", cmd_metrics,
	  "  metrics [FILE]                         statistics of all ports for Prometheus\n" },
	{ "report", cmd_report,
	  "  report [FILE] [events TIME] [--addresses]\n"
	  "                                         what a bug report needs, in an archive\n" },
	{ "topology", cmd_topology,
	  "  topology FILE... [turns auto|routes|all|loops] [choose auto|down-up|fewest]\n"
	  "       [box NAME]                        which turns elide so that pauses never\n"
	  "                                         run in a circle\n" },
};

static const char usage_begin[] = "usage: bfcctl [OPTIONS] COMMAND\n";
static const char usage_words[] =
	"  help [COMMAND]                         this\n"
	"  version\n";
static const char usage_end[] =
	"OPTIONS: -j|--json  -p|--pretty  -n|--netns NAME  --bpffs DIR\n"
	"         -v|--verbose  -h|--help  -V|--version\n"
	"RATE: 10gbit, 100mbit  TIME: 50us, 1ms\n"
	"bfcctl(8) explains them.\n";

/* Print a message and end the program with exit code 1. */
void fail(const char *fmt, ...)
{
	va_list args;

	if (ctl.restore)
		ctl.restore();
	out_end();
	fflush(stdout);
	va_start(args, fmt);
	out_message(ctl.where, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	pin_undo();
	exit(1);
}

/* End the program with exit code 2: the command line, or a line of a file, is invalid. */
void usage_fail(const char *fmt, ...)
{
	va_list args;

	out_end();
	va_start(args, fmt);
	out_message(ctl.where, fmt, args);
	va_end(args);
	fputs(*ctl.where ? "\n" : " (bfcctl --help)\n", stderr);
	exit(2);
}

/**
 * note() - print a message that is not about an error
 * @fmt: as printf
 */
void note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	out_message("", fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

/* What lib/rtnl.c calls when a system call fails. */
void die(const char *what)
{
	fail("%s: %s", what, strerror(errno));
}

/* Words after "--" */
static struct {
	int argc;
	char **argv;
} behind;

/**
 * is_option() - whether a word is an option
 * @word: of the command line, or of a file
 * @name: of the option
 *
 * No word after "--" is one: a device may have any name.
 */
bool is_option(const char *word, const char *name)
{
	int i;

	if (strcmp(word, name))
		return false;
	for (i = 0; i < behind.argc; i++)
		if (behind.argv[i] == word)
			return false;
	return true;
}

/**
 * is_keyword() - whether a word is a keyword, where a name may stand as well
 * @word: of the command line, or of a file
 * @name: the keyword
 *
 * The first word after "--" is a name.
 */
bool is_keyword(const char *word, const char *name)
{
	return !strcmp(word, name) && !(behind.argc && *behind.argv == word);
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
 * scaled_arg() - a number and its unit
 * @text: argument: digits, with decimals or not, and a unit
 * @units: that it may have
 * @value: result
 *
 * Return: false if @text is not a number with one of these units.
 */
bool scaled_arg(const char *text, const struct suffix *units, double *value)
{
	char *end;

	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	*value = strtod(text, &end);
	for (; end > text && units->name; units++) {
		if (strcasecmp(end, units->name))
			continue;
		*value *= units->factor;
		return true;
	}
	return false;
}

/**
 * need_unit() - refuse a number without a unit, as tc's plugin does: "rtt 10"
 *		 or "rate 10" usually does not mean the unit that tc assumes
 * @name: of the option
 * @text: argument; 0 needs no unit
 * @small: a unit, for the message
 * @large: another one
 */
void need_unit(const char *name, const char *text, const char *small, const char *large)
{
	char *end;

	if (((*text >= '0' && *text <= '9') || *text == '.') && strtod(text, &end) && !*end)
		usage_fail("%s needs a unit, as %s%s or %s%s", name, text, small, text, large);
}

/* "10ms": a time in the largest unit that is not larger than the time */
static const char *exact_time(char *buf, size_t room, uint64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
	};
	unsigned int i = 0;

	while (i + 1 < ARRAY_SIZE(units) && ns < units[i].ns)
		i++;
	snprintf(buf, room, "%.10g%s", ns / units[i].ns, units[i].unit);
	return buf;
}

/**
 * nanoseconds() - an argument that is a time: with s, ms, us or ns
 * @name: of the option, for messages
 * @value: argument
 * @lo: smallest, ns
 * @hi: largest, ns
 */
uint64_t nanoseconds(const char *name, const char *value, uint64_t lo,
		     uint64_t hi)
{
	static const struct suffix units[] = {
		{ "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
		{ "", 1 }, {}
	};
	char from[32], to[32];
	double n;

	need_unit(name, value, "us", "ms");
	if (scaled_arg(value, units, &n) && n >= lo && n <= hi)
		return n;
	usage_fail("illegal \"%s\" for \"%s\": give a time from %s to %s",
		   value, name, exact_time(from, sizeof(from), lo),
		   exact_time(to, sizeof(to), hi));
}

/**
 * thousandths() - an argument that is a ratio: 0.95, or 950 thousandths
 * @name: of the option, for messages
 * @value: argument; whole numbers below @lo are ratios, too
 * @lo: smallest, thousandths
 * @hi: largest, thousandths
 */
uint64_t thousandths(const char *name, const char *value, uint64_t lo,
		     uint64_t hi)
{
	char *end = (char *)value;
	double n = 0;

	if ((*value >= '0' && *value <= '9') || *value == '.')
		n = strtod(value, &end);
	if (end > value && !*end) {
		if (strchr(value, '.') || n < lo)
			n = n * 1000 + 0.5;
		if (n >= lo && n < hi + 1)
			return n;
	}
	usage_fail("illegal \"%s\" for \"%s\": give a ratio from %g to %g, or thousandths from %llu to %llu",
		   value, name, lo / 1000.0, hi / 1000.0,
		   (unsigned long long)lo, (unsigned long long)hi);
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

/* ---- options of all commands ---- */

static struct {
	bool help;
	bool version;
} asked;

static const struct option {
	const char *name;
	char letter;	/* 0: none */
	bool value;
} options[] = {
	{ "json", 'j', false },
	{ "pretty", 'p', false },
	{ "verbose", 'v', false },
	{ "help", 'h', false },
	{ "version", 'V', false },
	{ "netns", 'n', true },
	{ "bpffs", 0, true },
};

static void option_set(const struct option *o, const char *value)
{
	switch (o->letter) {
	case 'j':
		ctl.json = true;
		break;
	case 'p':
		ctl.json = true;
		ctl.pretty = true;
		break;
	case 'v':
		ctl.verbose = true;
		break;
	case 'h':
		asked.help = true;
		break;
	case 'V':
		asked.version = true;
		break;
	case 'n':
		ctl.netns = value;
		break;
	default:
		ctl.bpffs = value;
		break;
	}
}

/* The words of the command line, without options that all commands have */
struct words {
	int argc;	/* not read yet */
	char **argv;
	int n;		/* kept */
	char **kept;
};

/* --name, --name VALUE or --name=VALUE */
static void long_option(struct words *w, char *arg)
{
	size_t len = strcspn(arg + 2, "=");
	char *value = arg[2 + len] ? arg + 2 + len + 1 : NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (strlen(options[i].name) != len ||
		    memcmp(options[i].name, arg + 2, len))
			continue;
		if (value && !options[i].value)
			usage_fail("\"--%s\" has no value", options[i].name);
		if (!value && options[i].value)
			value = (char *)next_word(&w->argc, &w->argv, arg);
		option_set(&options[i], value);
		return;
	}
	usage_fail("what is \"%s\"?", arg);
}

/* -j, -jv, -n NAME or -nNAME */
static void short_options(struct words *w, char *arg)
{
	const char *p, *value;
	unsigned int i;

	for (p = arg + 1; *p; p++) {
		for (i = 0; i < ARRAY_SIZE(options); i++)
			if (options[i].letter == *p)
				break;
		if (i == ARRAY_SIZE(options))
			usage_fail("what is \"%s\"?", arg);
		if (!options[i].value) {
			option_set(&options[i], NULL);
			continue;
		}
		value = p[1] ? p + 1 : next_word(&w->argc, &w->argv, arg);
		option_set(&options[i], value);
		return;
	}
}

/* Keep an option that commands read themselves, and its value, as a directory
 * may have any name. Returns true if @arg is one.
 */
static bool command_option(struct words *w, char *arg)
{
	static const struct {
		const char *name;
		bool value;
	} names[] = {
		{ "--cgroup", true },
		{ "--file", true },
		{ "--dry-run", false },
		{ "--replace", false },
		{ "--addresses", false },
		{ "--once", false },
	};
	unsigned int i;
	size_t len;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		len = strlen(names[i].name);
		if (strncmp(arg, names[i].name, len) ||
		    (arg[len] && (arg[len] != '=' || !names[i].value)))
			continue;
		w->kept[w->n++] = (char *)names[i].name;
		if (arg[len])
			w->kept[w->n++] = arg + len + 1;
		else if (names[i].value && w->argc)
			w->kept[w->n++] = (char *)next_word(&w->argc, &w->argv,
							    arg);
		return true;
	}
	return false;
}

/* Options may be anywhere before "--". A word such as -1 is a number. */
static void read_options(struct words *w)
{
	while (w->argc) {
		char *arg = (char *)next_word(&w->argc, &w->argv, "");

		if (behind.argv || *arg != '-' || !arg[1] ||
		    (arg[1] >= '0' && arg[1] <= '9'))
			w->kept[w->n++] = arg;
		else if (!strcmp(arg, "--"))
			behind.argv = w->kept + w->n;
		else if (command_option(w, arg))
			continue;
		else if (arg[1] == '-')
			long_option(w, arg);
		else
			short_options(w, arg);
	}
	if (behind.argv)
		behind.argc = w->kept + w->n - behind.argv;
}

/* ---- commands ---- */

static const struct command *find_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands)], *near;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	near = bfc_nearest(name, names, ARRAY_SIZE(commands));
	if (near)
		usage_fail("what is \"%s\"? Did you mean \"%s\"?", name, near);
	usage_fail("what is \"%s\"?", name);
}

/* Print the usage of one command, or of all. */
static void print_usage(FILE *to, const struct command *command)
{
	unsigned int i;

	fputs(usage_begin, to);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!command || command == &commands[i])
			fputs(commands[i].usage, to);
	if (!command)
		fputs(usage_words, to);
	fputs(usage_end, to);
}

static void no_more(int argc, char **argv)
{
	if (argc)
		usage_fail("what is \"%s\"?", *argv);
}

/* Handle "help" and "version", which are words or options. Returns true if
 * there was one.
 */
static bool print_help(int argc, char **argv)
{
	bool word = argc && !strcmp(*argv, "help");
	const struct command *command = NULL;

	if (asked.version || (argc && !strcmp(*argv, "version"))) {
		if (!asked.version)
			no_more(argc - 1, argv + 1);
		puts("bfcctl " BFC_RELEASE);
		return true;
	}
	if (word && argc > 1)
		no_more(argc - 2, argv + 2);
	if (argc > word)
		command = find_command(argv[word]);
	if (!word && !asked.help && (argc < 2 || !is_option(argv[1], "help")))
		return false;
	print_usage(stdout, command);
	return true;
}

/* What a program inherits may be odd: descriptors 0 to 2 that are closed, so that the next file
 * would be one of them, and be written to; and children that are not waited for.
 */
static void be_a_program(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	signal(SIGCHLD, SIG_DFL);
}

int main(int argc, char **argv)
{
	struct words w = { .argc = argc - 1, .argv = argv + 1 };
	const struct command *command;

	be_a_program();
	/* --file=NAME becomes two words. */
	w.kept = need(calloc(2 * argc + 1, sizeof(*w.kept)));
	read_options(&w);
	if (!w.n && !asked.help && !asked.version) {
		print_usage(stderr, NULL);
		return 2;
	}
	if (!print_help(w.n, w.kept)) {
		if (ctl.netns)
			enter(ctl.netns);
		command = find_command(*w.kept);
		command->run(w.n - 1, w.kept + 1);
	}
	out_flush();
	free(w.kept);
	return ctl.status;
}
