// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl apply: configure the ports of a box as bfc.conf(5) says.
 */
#define _GNU_SOURCE	/* asprintf */
#include <errno.h>
#include <linux/pkt_sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bfcctl.h"
#include "bfcctl_conf.h"
#include "bfcctl_live.h"
#include "bfcctl_outcome.h"
#include "bfcctl_pins.h"
#include "bfcctl_request.h"
#include "bfcctl_tc.h"
#include "rtnl.h"

#define AGAIN	10	/* retries for ports that are replaced while apply runs */

static struct conf conf;

static struct {
	bool dry_run;
	bool replace;
	const char *file;
	int argc;		/* ports */
	char **argv;
} todo;

/* Ports to be looked at again */
static struct {
	int argc;
	char **argv;
} again;

/**
 * struct buffer - a buffer that ports of the file share
 * @name: of it
 * @size: the size in the file, NULL = not given: leave it
 * @bytes: @size in bytes
 * @is: its present size, NULL = the buffer does not exist yet
 * @last: ifindex of the last of its ports that are handled, 0 = none
 */
struct buffer {
	const char *name;
	const struct setting *size;
	uint64_t bytes;
	const struct rtattr *is;
	int last;
};

static struct buffer *buffers;
static unsigned int n_buffers;

/* ---- asking the kernel ---- */

/* Send a request. A warning of the kernel becomes a note: the request has succeeded. */
static const char *ask(struct rtnl_msg *msg, int flags, const struct live *l,
		       const struct want *want, uint32_t handle)
{
	struct tcmsg *tcm = NLMSG_DATA(&msg->h);
	const char *error;
	struct rtnl rt;

	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = l->ifindex;
	tcm->tcm_parent = TC_H_ROOT;
	tcm->tcm_handle = handle;
	msg->h.nlmsg_flags |= flags;
	rtnl_open(&rt, NETLINK_ROUTE);
	error = rtnl_ask(&rt, msg);
	if (!error && rt.warning)
		outcome_note(&want->at, "%s: %s", l->name,
			     outcome_reason(rt.warning));
	rtnl_close(&rt);
	return error;
}

/* The place in the file that the kernel's "bfc: OPTION: ..." is about */
static const struct where *blame(const struct want *want, const char *error)
{
	static const char prefix[] = "bfc: ";
	const struct bfc_option *o;
	size_t len;

	if (strncmp(error, prefix, strlen(prefix)))
		return &want->at;
	error += strlen(prefix);
	len = strcspn(error, ": ");
	for_each_option(o)
		if (want->setting[o->attr] && strlen(o->name) == len &&
		    !memcmp(error, o->name, len))
			return &want->setting[o->attr]->at;
	return &want->at;
}

/* ---- the qdisc of a port ---- */

/* Handle of a bfc that replaces another bfc: with the same handle the kernel
 * would change the old one. For another kind it is 0: the kernel chooses a free
 * one.
 */
static uint32_t other_handle(const struct live *l)
{
	uint32_t major = TC_H_MAJ(l->handle) >> 16;

	return l->options ? (major % 0x7fff + 1) << 16 : 0;
}

static bool needs_replacement(const char *error)
{
	return strstr(error, "replace it");
}

static void replace_or_say(struct outcome *r, const struct live *l,
			   const struct want *want, struct rtnl_msg *new)
{
	const char *error;

	r->action = OUTCOME_REPLACE;
	if (!todo.replace) {
		r->left = true;
		return;
	}
	if (todo.dry_run)
		return;
	error = ask(new, NLM_F_CREATE | NLM_F_REPLACE, l, want,
		    other_handle(l));
	if (error)
		outcome_error(r, blame(want, error), error);
}

static void make_qdisc(struct outcome *r, const struct live *l,
		       const struct want *want)
{
	static struct rtnl_msg all, new, change;
	const char *error;

	error = request_all(&all, want, l);
	if (error) {
		outcome_error(r, want->stamp && strstr(error, "stamp") ?
			     &want->stamp->at : &want->at, error);
		return;
	}
	request_change(r, l, want, request_options(&all), &change);
	request_new(&new, request_options(&all), want, l);
	if (!*l->kind) {
		r->action = OUTCOME_ADD;
		if (todo.dry_run)
			return;
		error = ask(&new, NLM_F_CREATE | NLM_F_EXCL, l, want, 0);
		if (error)
			outcome_error(r, blame(want, error), error);
	} else if (!l->options) {
		snprintf(r->why, sizeof(r->why), "it has %s %x:", l->kind,
			 TC_H_MAJ(l->handle) >> 16);
		replace_or_say(r, l, want, &new);
	} else if (r->n_fixed && todo.replace) {
		replace_or_say(r, l, want, &new);
	} else if (r->n_changes) {
		r->action = OUTCOME_CHANGE;
		r->left = r->n_fixed;
		if (todo.dry_run || r->n_changes == r->n_fixed)
			return;
		error = ask(&change, 0, l, want, 0);
		if (error && needs_replacement(error)) {
			snprintf(r->why, sizeof(r->why), "%s", outcome_reason(error));
			replace_or_say(r, l, want, &new);
		} else if (error) {
			outcome_error(r, blame(want, error), error);
		}
	}
}

/* ---- commands ---- */

enum {
	CHILD_DONE,
	CHILD_FAILED,
	CHILD_SAME = 100,
	CHILD_WOULD,
};

/* Run a command as from the command line, in a child: it may end the process. */
static int by_child(const struct where *at, bool (*is_so)(void *arg),
		    void (*make_so)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		/* Standard output is for the parent's report. */
		if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			_exit(CHILD_FAILED);
		conf_at(at);
		ctl.json = false;
		if (is_so(arg))
			_exit(CHILD_SAME);
		if (todo.dry_run)
			_exit(CHILD_WOULD);
		make_so(arg);
		fflush(stdout);
		_exit(CHILD_DONE);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("wait: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_FAILED;
}

static void outcome_child(struct outcome *r, int code, const char *name,
			  const struct conf_words *words)
{
	if (code == CHILD_SAME)
		return;
	if (code == CHILD_DONE || code == CHILD_WOULD)
		outcome_command(r, name, words ? words->argc : 0,
				words ? words->argv : NULL);
	else
		r->failed = true;	/* the child has said why */
}

/* ---- programs of a port ---- */

struct on_port {
	const struct live *l;
	const struct conf_words *words;
};

static bool stamps_so(void *arg)
{
	struct on_port *p = arg;

	/* A bfc that has replaced another keeps its program. */
	return p->l->pinned && (int)if_nametoindex(p->l->name) == p->l->ifindex &&
	       stamp_same(p->l->ifindex, p->l->prog_id, p->words->argc - 1, p->words->argv + 1);
}

/* "attach DEV ..." */
static void stamp_so(void *arg)
{
	struct on_port *p = arg;
	char *argv[p->words->argc + 1];
	int i;

	argv[0] = "attach";
	argv[1] = (char *)p->l->name;
	for (i = 1; i < p->words->argc; i++)
		argv[i + 1] = p->words->argv[i];
	cmd_stamp(p->words->argc + 1, argv);
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

/* Unless a replacement of the qdisc has done so already */
static void stamp_natively(void *arg)
{
	struct on_port *p = arg;
	char *argv[2];

	if (stamp_is_native(p->l->name))
		return;
	argv[0] = "detach";
	argv[1] = (char *)p->l->name;
	cmd_stamp(ARRAY_SIZE(argv), argv);
}

static bool intel_is_so(void *arg)
{
	struct on_port *p = arg;

	return int_port_same(p->l->name, p->words->argc, p->words->argv);
}

static void intel_so(void *arg)
{
	struct on_port *p = arg;

	int_port(p->l->name, p->words->argc, p->words->argv);
}

static void end_program(struct outcome *r, const struct live *l,
			const struct want *want)
{
	struct on_port p = { .l = l };
	int code;

	if (!want_native(want) || !(l->pinned || pin_is_there(l->ifindex)))
		return;
	code = by_child(want->stamp ? &want->stamp->at : &want->at, never,
			stamp_natively, &p);
	outcome_child(r, code, "stamp detach", NULL);
}

static void make_programs(struct outcome *r, const struct live *l,
			  const struct want *want)
{
	struct on_port p = { .l = l, .words = want->stamp };
	int code;

	/* A port that waits for its replacement may have no bfc to take a program. */
	if (want_stamps_by(want, "attach") &&
	    (!r->left || l->options)) {
		code = by_child(&want->stamp->at, stamps_so, stamp_so, &p);
		outcome_child(r, code, "stamp", want->stamp);
	}
	if (want->intel) {
		p.words = want->intel;
		code = by_child(&want->intel->at, intel_is_so, intel_so, &p);
		outcome_child(r, code, "int", want->intel);
	}
}

/* ---- commands of the box ---- */

static const struct {
	const char *name;
	bool (*same)(int argc, char **argv);
	void (*run)(int argc, char **argv);
} host_commands[] = {
	{ "int", int_same, cmd_int },
	{ "size", size_same, cmd_size },
	{ "hpcc", hpcc_same, cmd_hpcc },
	{ "delay", delay_same, cmd_delay },
};

static unsigned int host_command(const struct conf_words *words)
{
	unsigned int i = 0;

	while (strcmp(words->argv[0], host_commands[i].name))
		i++;
	return i;
}

static bool host_is_so(void *arg)
{
	const struct conf_words *words = arg;

	return host_commands[host_command(words)].same(words->argc - 1,
						       words->argv + 1);
}

static void host_so(void *arg)
{
	const struct conf_words *words = arg;

	host_commands[host_command(words)].run(words->argc - 1,
					       words->argv + 1);
}

static void make_host(void)
{
	unsigned int i;
	int code;

	for (i = 0; i < conf.n_host; i++) {
		struct outcome r = { .dev = NULL };

		code = by_child(&conf.host[i].at, host_is_so, host_so,
				&conf.host[i]);
		r.host = &conf.host[i];
		outcome_child(&r, code, conf.host[i].argv[0], NULL);
		outcome_print(&r, todo.dry_run);
	}
}

/* ---- all of it ---- */

/* True if the port, or one in its elide list, is on the command line, or the
 * command line has no ports. A port that udev may give another name yet must be on it
 * itself.
 */
static bool asked_for(const struct live *l, const struct want *want)
{
	const struct setting *elide = want->setting[TCA_BFC_ELIDE];
	char names[ELIDE_NAMES][16];
	unsigned int k, n;
	int p;

	if (!todo.argc)
		return !l->unnamed;
	n = elide && !l->unnamed ? conf_elide(elide, names, ELIDE_NAMES) : 0;
	for (p = 0; p < todo.argc; p++) {
		if (!strcmp(todo.argv[p], l->name))
			return true;
		for (k = 0; k < n; k++)
			if (!strcmp(todo.argv[p], names[k]))
				return true;
	}
	return false;
}

/* true if the port has bfc, has no qdisc, or --replace allows to replace its qdisc */
static bool can_have_bfc(const struct live *l)
{
	return !*l->kind || l->options || todo.replace;
}

/* ---- buffers ---- */

/* A request that sets only the size of a buffer */
static const char *encode_size(struct rtnl_msg *msg, const struct setting *size)
{
	char *argv[2] = { "size", size->value };

	rtnl_begin(msg, RTM_NEWQDISC, 0, sizeof(struct tcmsg));
	rtnl_put_str(msg, TCA_KIND, "bfc");
	return tc_encode(msg, ARRAY_SIZE(argv), argv);
}

/* A size in bytes; 0 = "keep" */
static uint64_t size_of(const struct setting *size)
{
	uint64_t bytes = 0;
	struct rtnl_msg msg;

	if (encode_size(&msg, size) ||
	    !bfc_attr_number(request_attr(request_options(&msg), TCA_BFC_BUFFER_SIZE),
			     &bytes))
		return 0;
	return bytes;
}

/* Name of the buffer that a port shall share; NULL = none */
static const struct setting *buffer_name(const struct want *want)
{
	const struct setting *name = want->setting[TCA_BFC_BUFFER];

	return want->named && !want->ignore && name &&
	       strcmp(name->value, name->option->usual) ? name : NULL;
}

static struct buffer *buffer_of(const struct want *want)
{
	const struct setting *name = buffer_name(want);
	unsigned int i;

	for (i = 0; name && i < n_buffers; i++)
		if (!strcmp(buffers[i].name, name->value))
			return &buffers[i];
	return NULL;
}

/* The size that a buffer has; NULL: there is no such buffer */
static const struct rtattr *buffer_size(const char *name)
{
	const struct rtattr *attr;
	unsigned int i;

	for (i = 0; i < n_live; i++) {
		attr = request_attr(live[i].options, TCA_BFC_BUFFER);
		if (attr && !strcmp(RTA_DATA(attr), name))
			return request_attr(live[i].options, TCA_BFC_BUFFER_SIZE);
	}
	return NULL;
}

static struct buffer *add_buffer(const char *name)
{
	struct buffer *b;

	buffers = grow(buffers, n_buffers, sizeof(*buffers));
	b = &buffers[n_buffers++];
	memset(b, 0, sizeof(*b));
	b->name = name;
	b->is = buffer_size(name);
	return b;
}

/* True if the files have @a before @b. */
static bool comes_first(const struct setting *a, const struct setting *b)
{
	unsigned int i, k;

	for (i = 0; i < conf.n_sections; i++)
		for (k = 0; k < conf.sections[i].n_settings; k++)
			if (&conf.sections[i].settings[k] == a ||
			    &conf.sections[i].settings[k] == b)
				return &conf.sections[i].settings[k] == a;
	return false;
}

/* True if the port gives a size that is not that of its buffer. */
static bool other_size(const struct want *want)
{
	const struct setting *size = want->setting[TCA_BFC_BUFFER_SIZE];
	const struct buffer *b = buffer_of(want);
	uint64_t bytes = b && size ? size_of(size) : 0;

	return bytes && bytes != b->bytes;
}

/* Collect all buffers. A buffer has one size, the first in the files: with two, ports
 * would set each in turn.
 */
static void look_at_buffers(void)
{
	const struct setting *size;
	struct buffer *b;
	struct want want;
	uint64_t bytes;
	unsigned int i;

	n_buffers = 0;
	for (i = 0; i < n_live; i++) {
		conf_want(&conf, live[i].name, &want);
		if (!buffer_name(&want))
			continue;
		b = buffer_of(&want) ?: add_buffer(buffer_name(&want)->value);
		size = want.setting[TCA_BFC_BUFFER_SIZE];
		bytes = size ? size_of(size) : 0;
		if (!bytes || (b->size && (bytes == b->bytes || comes_first(b->size, size))))
			continue;
		b->size = size;
		b->bytes = bytes;
	}
	for (i = 0; i < n_live; i++) {
		conf_want(&conf, live[i].name, &want);
		b = buffer_of(&want);
		if (b && asked_for(&live[i], &want) && can_have_bfc(&live[i]) && !other_size(&want))
			b->last = live[i].ifindex;
	}
}

/* Such a port stays as it is, and the others do not: it may be one that came later. */
static void refuse_size(struct outcome *r, const struct want *want)
{
	const struct buffer *b = buffer_of(want);
	char *error;

	if (!other_size(want))
		return;
	if (asprintf(&error, "buffer \"%s\" has another size, %s, in %s:%u", b->name,
		     b->size->value, b->size->at.file, b->size->at.line) < 0)
		error = NULL;
	outcome_error(r, &want->setting[TCA_BFC_BUFFER_SIZE]->at, need(error));
	free(error);
}

static bool shrinks(const struct buffer *b)
{
	uint64_t bytes;

	return b && b->size && bfc_attr_number(b->is, &bytes) &&
	       b->bytes < bytes;
}

/* The first port of a buffer sets the size for all of its ports. A size below
 * the present one waits for shrink_buffer(), until all ports have given back
 * bytes that they no longer need.
 */
static void want_size(struct want *want)
{
	const struct setting *said = want->setting[TCA_BFC_BUFFER_SIZE];
	const struct buffer *b = buffer_of(want);

	/* For "keep" the kernel reports the present size: they do not compare. */
	if (said && !strcmp(said->value, said->option->usual))
		want->setting[TCA_BFC_BUFFER_SIZE] = NULL;
	if (b && b->size)
		want->setting[TCA_BFC_BUFFER_SIZE] = shrinks(b) ? NULL : b->size;
}

/* Reduce the size of a buffer, at the last of its ports. */
static void shrink_buffer(struct outcome *r, const struct live *l,
			  const struct want *want)
{
	const struct buffer *b = buffer_of(want);
	struct rtnl_msg msg;
	const char *error;
	char *from, *to;

	if (!shrinks(b) || b->last != l->ifindex ||
	    (r->left && r->action == OUTCOME_REPLACE))
		return;
	error = encode_size(&msg, b->size);
	to = request_value(b->size->option,
			   request_attr(request_options(&msg), TCA_BFC_BUFFER_SIZE));
	if (!error && !todo.dry_run)
		error = ask(&msg, 0, l, want, 0);
	if (error) {
		outcome_error(r, &b->size->at, error);
		r->refused = false;	/* other options are changed */
	} else {
		from = request_value(b->size->option, b->is);
		outcome_change(r, b->size->option->name, from, to, false);
		free(from);
		if (r->action == OUTCOME_NONE)
			r->action = OUTCOME_CHANGE;
	}
	free(to);
}

/* ---- all ports ---- */

static void note_gone(const char *dev)
{
	struct want want;

	conf_want(&conf, dev, &want);
	outcome_note(&want.at, "%s: has gone in the meantime, or has another name",
		     dev);
}

static void look_again(const char *dev)
{
	again.argv = grow(again.argv, again.argc, sizeof(*again.argv));
	again.argv[again.argc++] = need(strdup(dev));
}

/* true if the device still has the name that it had at first. If another device
 * has that name by now, make_again() handles it: udev has asked for it, but if
 * this process is bfc@PORT.service itself, systemd did not start that once
 * more.
 */
static bool is_there(const struct live *l)
{
	char name[IF_NAMESIZE];

	if (if_indextoname(l->ifindex, name) && !strcmp(name, l->name))
		return true;
	if (if_nametoindex(l->name))
		look_again(l->name);
	else
		note_gone(l->name);
	return false;
}

static void make_port(struct live *l)
{
	struct outcome r = { .dev = l->name };
	struct want want;

	conf_want(&conf, l->name, &want);
	if (!want.named || want.ignore) {
		if (!todo.argc || !asked_for(l, &want))
			return;
		r.action = OUTCOME_IGNORE;
		outcome_print(&r, todo.dry_run);
		return;
	}
	if (!todo.argc && l->unnamed)
		outcome_note(&want.at, "%s: udev has yet to name it, and then starts bfc@NAME.service",
			     l->name);
	if (!asked_for(l, &want) || !is_there(l))
		return;
	refuse_size(&r, &want);
	if (!r.failed) {
		want_size(&want);
		make_qdisc(&r, l, &want);
	}
	if (!r.failed)
		shrink_buffer(&r, l, &want);
	if (!r.failed)
		end_program(&r, l, &want);
	if (!r.failed)
		make_programs(&r, l, &want);
	if (r.failed && !is_there(l)) {
		outcome_forget(&r);
		return;
	}
	outcome_print(&r, todo.dry_run);
	l->made = true;
}

static void make_ports(void)
{
	unsigned int i, now;

	for (i = 0; i < n_live; i++)
		make_port(&live[i]);
	/* Another device may have taken the name of a port since that was made: see is_there(). */
	for (i = 0; i < n_live; i++) {
		now = live[i].made ? if_nametoindex(live[i].name) : 0;
		if (now && (int)now != live[i].ifindex)
			look_again(live[i].name);
	}
}

/* Handle devices that have taken the names of ports by now, as if they were on
 * the command line.
 */
static void make_again(void)
{
	int p;

	todo.argc = again.argc;
	todo.argv = again.argv;
	again.argc = 0;
	again.argv = NULL;
	live_look(!todo.file);
	look_at_buffers();
	for (p = 0; p < todo.argc; p++)
		if (!live_exists(todo.argv[p]))
			note_gone(todo.argv[p]);
	make_ports();
}

/* A name that matches no device is not an error: the device may come later. */
static void note_unmatched(void)
{
	unsigned int i, k;
	int p;

	for (i = 0; i < conf.n_sections; i++) {
		const struct conf_words *w = &conf.sections[i].patterns;

		for (p = 0; p < w->argc; p++) {
			for (k = 0; k < n_live; k++)
				if (conf_matches(w->argv[p], live[k].name))
					break;
			if (k == n_live)
				outcome_note(&w->at, "no device is called %s yet",
					     w->argv[p]);
		}
	}
}

void cmd_apply(int argc, char **argv)
{
	unsigned int times;
	char *word;
	bool all;
	int p;

	/* A reader that closes the pipe (grep -q) must not end a change half-way. */
	signal(SIGPIPE, SIG_IGN);
	todo.argv = argv;
	while (argc) {
		word = (char *)next_word(&argc, &argv, "apply");
		if (is_option(word, "--dry-run"))
			todo.dry_run = true;
		else if (is_option(word, "--replace"))
			todo.replace = true;
		else if (is_option(word, "--file"))
			todo.file = next_word(&argc, &argv, word);
		else
			todo.argv[todo.argc++] = word;
	}
	/* At boot bfc.service and udev run apply at the same time. The file counts as it is when it
	 * is this one's turn.
	 */
	if (!todo.dry_run)
		change_lock();
	conf_read(&conf, todo.file);
	live_look(!todo.file);
	for (p = 0; p < todo.argc; p++)
		if (!live_exists(todo.argv[p]))
			fail("no such device: %s", todo.argv[p]);
	look_at_buffers();
	conf_at(NULL);
	out_open(NULL, '[');
	all = !todo.argc;
	make_ports();
	for (times = 0; again.argc && times < AGAIN; times++)
		make_again();
	for (p = 0; p < again.argc; p++)
		note_gone(again.argv[p]);
	if (all) {
		note_unmatched();
		make_host();
	}
	out_close(']');
	ctl.status = outcome_status();
}
