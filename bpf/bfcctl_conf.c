// SPDX-License-Identifier: GPL-2.0
/*
 * bfc.conf(5): all files are read, and checked as far as possible without the
 * ports, before anything is changed. tc's plugin parses the values of options;
 * the kernel checks them further.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bfcctl.h"
#include "bfcctl_conf.h"
#include "bfcctl_tc.h"
#include "nearest.h"
#include "rtnl.h"

#define CONF_FILE	"/etc/bfc.conf"
#define CONF_DIR	"/etc/bfc.d"
#define LINE_WORDS	128
#define MARK		"\xef\xbb\xbf"	/* U+FEFF, with which some editors begin a file */

/**
 * conf_at() - set the line that messages name from now on
 * @at: the line, NULL = none
 */
void conf_at(const struct where *at)
{
	*ctl.where = '\0';
	if (at)
		snprintf(ctl.where, sizeof(ctl.where), "%s:%u: ", at->file,
			 at->line);
}

static void keep_words(struct conf_words *to, int argc, char **argv,
		       const struct where *at)
{
	int i;

	to->argv = need(calloc(argc + 1, sizeof(*to->argv)));
	for (i = 0; i < argc; i++)
		to->argv[i] = need(strdup(argv[i]));
	to->argc = argc;
	to->at = *at;
}

/* ---- words that are not known ---- */

/* End the program: the word is unknown. The message names the nearest word, if
 * one is near.
 */
_Noreturn static void unknown(const char *what, const char *word,
			      const char *const *names, unsigned int n)
{
	const char *near = bfc_nearest(word, names, n);

	if (near)
		usage_fail("unknown %s \"%s\": the nearest is \"%s\"", what,
			   word, near);
	usage_fail("unknown %s \"%s\"", what, word);
}

static const struct bfc_option *find_option(const char *word)
{
	static const char *const others[] = { "stamp", "int", "ignore" };
	const char *names[TCA_BFC_MAX + ARRAY_SIZE(others)];
	const struct bfc_option *o = bfc_find_option(word);
	unsigned int i, n = 0;

	if (o && o->attr != TCA_BFC_STAMP)
		return o;
	for_each_option(o)
		names[n++] = o->name;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		names[n++] = others[i];
	unknown("option", word, names, n);
}

/* ---- options ---- */

/**
 * conf_elide() - the devices of an elide list
 * @setting: of the option "elide"
 * @names: result
 * @room: entries of @names
 *
 * Ends the program if it is no list of names.
 *
 * Return: their number.
 */
unsigned int conf_elide(const struct setting *setting, char names[][16],
			unsigned int room)
{
	const char *p = setting->value;
	unsigned int n = 0;
	size_t len;

	if (!strcmp(p, "none"))
		return 0;
	for (;;) {
		len = strcspn(p, ",");
		if (!len || len >= sizeof(*names))
			usage_fail("illegal \"elide\" value \"%s\": give none, or names of devices as in swp1,swp2",
				   setting->value);
		if (n == room)
			usage_fail("\"elide\" takes at most %u devices", room);
		memcpy(names[n], p, len);
		names[n++][len] = '\0';
		if (!p[len])
			return n;
		p += len + 1;
	}
}

/* Check an option as far as possible without the devices. */
static void check_setting(const struct setting *setting)
{
	const struct bfc_option *o = setting->option;
	char *argv[2], names[ELIDE_NAMES][16];
	struct rtnl_msg msg;
	const char *why;

	if (o->attr == TCA_BFC_ELIDE) {
		conf_elide(setting, names, ARRAY_SIZE(names));
		return;
	}
	argv[0] = (char *)o->name;
	argv[1] = setting->value;
	rtnl_begin(&msg, RTM_NEWQDISC, 0, sizeof(struct tcmsg));
	why = tc_encode(&msg, ARRAY_SIZE(argv), argv);
	if (why)
		usage_fail("%s", why);
}

static void add_setting(struct section *s, const char *name, const char *value,
			const struct where *at)
{
	struct setting *to;
	const struct bfc_option *option = find_option(name);
	unsigned int i;

	for (i = 0; i < s->n_settings; i++)
		if (s->settings[i].option == option)
			usage_fail("\"%s\" is given for the second time: see line %u",
				   name, s->settings[i].at.line);
	s->settings = grow(s->settings, s->n_settings, sizeof(*to));
	to = &s->settings[s->n_settings++];
	to->option = option;
	to->value = need(strdup(value));
	to->at = *at;
	check_setting(to);
}

/* ---- lines ---- */

static void once(const struct conf_words *was, const char *name)
{
	if (was->argc)
		usage_fail("\"%s\" is given for the second time: see line %u",
			   name, was->at.line);
}

static void port_line(struct section *s, int argc, char **argv,
		      const struct where *at)
{
	int i;

	if (!strcmp(*argv, "ignore")) {
		if (argc > 1)
			usage_fail("\"ignore\" stands alone");
		s->ignore = true;
	} else if (!strcmp(*argv, "stamp")) {
		once(&s->stamp, *argv);
		stamp_check(argc - 1, argv + 1);
		keep_words(&s->stamp, argc - 1, argv + 1, at);
	} else if (!strcmp(*argv, "int")) {
		once(&s->intel, *argv);
		int_port_check(argc - 1, argv + 1);
		keep_words(&s->intel, argc - 1, argv + 1, at);
	} else {
		for (i = 0; i < argc; i += 2) {
			if (!strcmp(argv[i], "stamp") ||
			    !strcmp(argv[i], "int") ||
			    !strcmp(argv[i], "ignore"))
				usage_fail("\"%s\" begins a line of its own",
					   argv[i]);
			find_option(argv[i]);
			if (i + 1 == argc)
				usage_fail("no value for \"%s\"", argv[i]);
			add_setting(s, argv[i], argv[i + 1], at);
		}
	}
}

/* "" = a command that is of none */
static const char *cgroup_of(int argc, char **argv)
{
	int i;

	for (i = 0; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--cgroup"))
			return argv[i + 1];
	return "";
}

/* True if both are of no cgroup, or of one whose directory is spelled in two ways. */
static bool same_cgroup(const char *a, const char *b)
{
	struct stat is, was;

	if (!*a || !*b || stat(a, &is) || stat(b, &was))
		return !strcmp(a, b);
	return is.st_dev == was.st_dev && is.st_ino == was.st_ino;
}

/* True if @detach is "int detach" and @on is "hpcc on", which attaches INT. */
static bool takes_from(char **detach, char **on)
{
	return !strcmp(detach[0], "int") && !strcmp(detach[1], "detach") &&
	       !strcmp(on[0], "hpcc");
}

static void host_line(struct conf *conf, int argc, char **argv,
		      const struct where *at)
{
	static const char *const names[] = { "int", "size", "hpcc", "delay" };
	const struct conf_words *was;
	unsigned int i;

	if (!strcmp(*argv, "int"))
		int_check(argc - 1, argv + 1);
	else if (!strcmp(*argv, "size"))
		size_check(argc - 1, argv + 1);
	else if (!strcmp(*argv, "hpcc"))
		hpcc_check(argc - 1, argv + 1);
	else if (!strcmp(*argv, "delay"))
		delay_check(argc - 1, argv + 1);
	else
		unknown("command", *argv, names, ARRAY_SIZE(names));
	/* Two would take turns. */
	for (i = 0; i < conf->n_host; i++) {
		was = &conf->host[i];
		if (!same_cgroup(cgroup_of(was->argc, was->argv), cgroup_of(argc, argv)))
			continue;
		if (!strcmp(was->argv[0], *argv))
			usage_fail("\"%s\" is given for the second time: see %s:%u", *argv,
				   was->at.file, was->at.line);
		if (takes_from(was->argv, argv) || takes_from(argv, was->argv))
			usage_fail("\"int detach\" takes away what \"hpcc on\" attaches to this cgroup: see %s:%u",
				   was->at.file, was->at.line);
	}
	conf->host = grow(conf->host, conf->n_host, sizeof(*conf->host));
	keep_words(&conf->host[conf->n_host++], argc, argv, at);
}

/* True if each "[" of a pattern has a "]" (fnmatch(3)). Without it no device would match. */
static bool closed(const char *pattern)
{
	const char *p;

	for (p = pattern; *p; p++) {
		if (*p == '\\' && p[1]) {
			p++;
		} else if (*p == '[') {
			p++;
			if (*p == '!' || *p == '^')
				p++;
			/* A "]" that comes first is one of the characters. */
			p = *p ? strchr(p + 1, ']') : NULL;
			if (!p)
				return false;
		}
	}
	return true;
}

/* "[port NAME...]" or "[host]". Return: the section of ports, NULL = of the box. */
static struct section *begin_section(struct conf *conf, int argc, char **argv,
				     const struct where *at)
{
	static const char *const names[] = { "port", "host" };
	struct section *s;
	int i;

	if (!argc)
		usage_fail("a section is \"[port NAME...]\" or \"[host]\"");
	if (!strcmp(*argv, "host")) {
		if (argc > 1)
			usage_fail("\"[host]\" has no names");
		return NULL;
	}
	if (strcmp(*argv, "port"))
		unknown("section", *argv, names, ARRAY_SIZE(names));
	if (argc == 1)
		usage_fail("\"[port]\" without names: give those of ports, or patterns as swp*");
	for (i = 1; i < argc; i++)
		if (strchr(argv[i], '/') ||
		    (!strpbrk(argv[i], "*?[\\") && strlen(argv[i]) >= IF_NAMESIZE))
			usage_fail("no device can have the name \"%s\"", argv[i]);
		else if (!closed(argv[i]))
			usage_fail("no \"]\" at the end of the pattern \"%s\"", argv[i]);
	conf->sections = grow(conf->sections, conf->n_sections, sizeof(*s));
	s = &conf->sections[conf->n_sections++];
	s->at = *at;
	keep_words(&s->patterns, argc - 1, argv + 1, at);
	return s;
}

/* A line without blanks around it and without a comment, which begins with "#" */
static char *trim(char *line)
{
	char *end, *p;

	while (isspace((unsigned char)*line))
		line++;
	for (p = line; *p; p++)
		if (*p == '#' && (p == line || isspace((unsigned char)p[-1])))
			*p = '\0';
	end = line + strlen(line);
	while (end > line && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return line;
}

static int split(char *line, char **argv)
{
	char *save, *word;
	int argc = 0;

	for (word = strtok_r(line, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (argc == LINE_WORDS)
			usage_fail("more than %d words", LINE_WORDS);
		argv[argc++] = word;
	}
	return argc;
}

static void read_line(struct conf *conf, char *line, const struct where *at,
		      int *in)
{
	char *argv[LINE_WORDS], *end;
	int argc;

	line = trim(line);
	if (!*line)
		return;
	if (*line == '[') {
		end = line + strlen(line) - 1;
		if (*end != ']')
			usage_fail("no \"]\" at the end");
		*end = '\0';
		argc = split(line + 1, argv);
		*in = begin_section(conf, argc, argv, at) ? 1 : 2;
		return;
	}
	argc = split(line, argv);
	if (!*in)
		usage_fail("\"%s\" before the first section: [port NAME...] or [host]",
			   *argv);
	if (*in == 1)
		port_line(&conf->sections[conf->n_sections - 1], argc, argv,
			  at);
	else
		host_line(conf, argc, argv, at);
}

static void read_file(struct conf *conf, const char *path)
{
	struct where at = { .file = need(strdup(path)) };
	FILE *file = fopen(path, "r");
	size_t room = 0, skip;
	char *line = NULL;
	ssize_t len;
	int in = 0;

	if (!file)
		fail("%s: %s", path, strerror(errno));
	while ((len = getline(&line, &room, file)) >= 0) {
		at.line++;
		conf_at(&at);
		if (strlen(line) != (size_t)len)
			usage_fail("a zero byte");
		skip = at.line == 1 && !strncmp(line, MARK, strlen(MARK)) ? strlen(MARK) : 0;
		read_line(conf, line + skip, &at, &in);
	}
	conf_at(NULL);
	if (ferror(file))
		fail("%s: %s", path, strerror(errno));
	free(line);
	fclose(file);
}

static int is_conf(const struct dirent *entry)
{
	return !fnmatch("*.conf", entry->d_name, FNM_PERIOD);
}

/* Return: number of files. */
static unsigned int read_dir(struct conf *conf, const char *dir)
{
	struct dirent **files;
	char path[4096];
	int i, n = scandir(dir, &files, is_conf, alphasort);

	if (n < 0 && errno != ENOENT)
		fail("%s: %s", dir, strerror(errno));
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]->d_name);
		read_file(conf, path);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	return n < 0 ? 0 : n;
}

/**
 * conf_read() - read the configuration
 * @conf: result, for the rest of the program
 * @path: a file, or a directory of files *.conf, in the order of their names; NULL = the
 *	  usual ones
 *
 * Ends the program with FILE:LINE and what is wrong there.
 */
void conf_read(struct conf *conf, const char *path)
{
	unsigned int n = 0;
	struct stat st;

	memset(conf, 0, sizeof(*conf));
	if (path) {
		if (!stat(path, &st) && S_ISDIR(st.st_mode))
			n = read_dir(conf, path);
		else
			read_file(conf, path), n = 1;
		if (!n)
			fail("%s: no *.conf there", path);
		return;
	}
	/* What is there, but cannot be read, is not left out. */
	if (!lstat(CONF_FILE, &st) || errno != ENOENT) {
		read_file(conf, CONF_FILE);
		n = 1;
	}
	n += read_dir(conf, CONF_DIR);
	if (!n)
		fail("nothing to apply: neither " CONF_FILE " nor " CONF_DIR "/*.conf is there: bfc.conf(5)");
}

/* ---- ports ---- */

/**
 * conf_matches() - whether a name or pattern of the file matches a device
 * @pattern: of the file
 * @dev: name of the device
 *
 * Only "lo" matches lo: patterns such as "*" are for ports.
 */
bool conf_matches(const char *pattern, const char *dev)
{
	if (!strcmp(pattern, dev))
		return true;
	return strcmp(dev, "lo") && !fnmatch(pattern, dev, 0);
}

/**
 * conf_want() - configuration of a port
 * @conf: configuration
 * @dev: name of the port
 * @want: result; points into @conf
 *
 * All sections that match apply. If several set an option, the last one counts.
 */
void conf_want(const struct conf *conf, const char *dev, struct want *want)
{
	unsigned int i, k;
	int p;

	memset(want, 0, sizeof(*want));
	for (i = 0; i < conf->n_sections; i++) {
		const struct section *s = &conf->sections[i];

		for (p = 0; p < s->patterns.argc; p++)
			if (conf_matches(s->patterns.argv[p], dev))
				break;
		if (p == s->patterns.argc)
			continue;
		want->named = true;
		want->at = s->at;
		want->ignore |= s->ignore;
		for (k = 0; k < s->n_settings; k++)
			want->setting[s->settings[k].option->attr] = &s->settings[k];
		if (s->stamp.argc)
			want->stamp = &s->stamp;
		if (s->intel.argc)
			want->intel = &s->intel;
	}
}
