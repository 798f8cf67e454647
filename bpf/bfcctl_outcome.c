// SPDX-License-Identifier: GPL-2.0
/*
 * The report of "bfcctl apply": a line for each port, as text or in JSON.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "bfcctl_conf.h"
#include "bfcctl_outcome.h"

#define COST	"drops the packets that wait in the port's queues, starts its statistics at 0 and agrees anew with the neighbour"

static struct {
	bool failed;
	bool differs;	/* after this run */
} sum;

static const struct {
	const char *name;
	const char *did;
	const char *would;
	const char *failed;
} actions[__OUTCOME_ACTIONS] = {
	[OUTCOME_NONE] = { "none", "", "", "failed" },
	[OUTCOME_IGNORE] = { "ignore", "not in the file: left alone",
			    "not in the file: left alone", "" },
	[OUTCOME_ADD] = { "add", "added bfc", "would add bfc",
			 "cannot add bfc" },
	[OUTCOME_CHANGE] = { "change", "changed", "would change",
			    "cannot change" },
	[OUTCOME_REPLACE] = { "replace", "replaced by bfc",
			     "would replace by bfc", "cannot replace by bfc" },
};

/**
 * outcome_note() - print a message that is not about an error
 * @at: place in the file
 * @fmt: as printf
 */
void outcome_note(const struct where *at, const char *fmt, ...)
{
	char where[sizeof(ctl.where)];
	va_list args;

	fflush(stdout);
	snprintf(where, sizeof(where), "%s:%u: ", at->file, at->line);
	va_start(args, fmt);
	out_message(where, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

/**
 * outcome_reason() - a message of the qdisc without the prefix "bfc: "
 * @text: message
 */
const char *outcome_reason(const char *text)
{
	static const char prefix[] = "bfc: ";
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? text : text + len;
}

/**
 * outcome_error() - record and print an error
 * @r: of the port
 * @at: place in the file
 * @error: why
 */
void outcome_error(struct outcome *r, const struct where *at, const char *error)
{
	error = outcome_reason(error);
	outcome_note(at, "%s: %s", r->dev, error);
	snprintf(r->why, sizeof(r->why), "%s", error);
	r->failed = true;
	r->refused = true;
}

static char *keep(const char *text)
{
	return text ? need(strdup(text)) : NULL;
}

/**
 * outcome_change() - record that an option gets another value
 * @r: of the port
 * @name: of the option
 * @from: value, NULL = there is no qdisc yet
 * @to: value
 * @fixed: the option is fixed while the qdisc lives
 */
void outcome_change(struct outcome *r, const char *name, const char *from,
		    const char *to, bool fixed)
{
	if (r->n_changes == OUTCOME_CHANGES)
		fail("more than %d options", OUTCOME_CHANGES);
	r->changes[r->n_changes].name = name;
	r->changes[r->n_changes].from = keep(from);
	r->changes[r->n_changes].to = keep(to);
	r->changes[r->n_changes++].fixed = fixed;
	r->n_fixed += fixed;
}

/**
 * outcome_command() - record that a program is attached, or detached
 * @r: of the port
 * @name: of the command
 * @argc: words after it
 * @argv: the words
 */
void outcome_command(struct outcome *r, const char *name, int argc, char **argv)
{
	char text[1024];
	size_t len;
	int i;

	if (r->n_commands == ARRAY_SIZE(r->commands))
		fail("too many commands");
	len = snprintf(text, sizeof(text), "%s", name);
	for (i = 0; i < argc && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, " %s", argv[i]);
	r->commands[r->n_commands++] = keep(text);
}

/* Print the changes of fixed options, or of the others. */
static void print_changes(const struct outcome *r, bool fixed)
{
	const char *sep = " ";
	unsigned int i;

	for (i = 0; i < r->n_changes; i++) {
		if (r->changes[i].fixed != fixed)
			continue;
		text("%s%s ", sep, r->changes[i].name);
		if (r->changes[i].from)
			text("%s -> ", r->changes[i].from);
		text("%s", r->changes[i].to);
		sep = r->changes[i].from ? ", " : " ";
	}
}

static void print_text(const struct outcome *r, bool dry_run)
{
	size_t len = strlen(r->why);
	const char *sep = "";
	unsigned int i;

	text("%s: ", r->dev);
	if (r->left && r->action == OUTCOME_REPLACE) {
		/* It may end with a handle, as 5: */
		text("needs a replacement: %s%s", r->why, len && r->why[len - 1] == ':' ? "" : ":");
		print_changes(r, false);
		sep = ";";
	} else if (r->n_changes > r->n_fixed || r->action != OUTCOME_CHANGE) {
		text("%s", r->refused ? actions[r->action].failed :
		     dry_run ? actions[r->action].would :
		     actions[r->action].did);
		print_changes(r, false);
		if (r->action == OUTCOME_REPLACE)
			print_changes(r, true);
		if (r->action != OUTCOME_NONE)
			sep = "; ";
	}
	if (r->left && r->n_fixed) {
		text("%sneeds a replacement:", sep);
		print_changes(r, true);
		sep = "; ";
	}
	if (r->left)
		text(" (--replace; that " COST ")");
	for (i = 0; i < r->n_commands; i++) {
		text("%s%s%s", sep, dry_run ? "would " : "", r->commands[i]);
		sep = "; ";
	}
	if (!*sep && !r->failed && r->action != OUTCOME_IGNORE)
		text("nothing to do");
	if (r->failed && !r->refused)
		text("%sa command has failed", sep);
	text("\n");
}

static void print_host(const struct outcome *r, bool dry_run)
{
	int i;

	text("host:");
	out_open("command", '[');
	for (i = 0; i < r->host->argc; i++) {
		text(" %s", r->host->argv[i]);
		out_string(NULL, r->host->argv[i]);
	}
	out_close(']');
	text("%s\n", r->failed ? ": failed" : !r->n_commands ? ": nothing to do" :
	     dry_run ? ": would be done" : ": done");
	out_string("action", r->n_commands || r->failed ? "run" : "none");
}

static void print_port(const struct outcome *r)
{
	unsigned int i;

	out_string("dev", r->dev);
	out_string("action", actions[r->action].name);
	out_open("changes", '[');
	for (i = 0; i < r->n_changes; i++) {
		out_open(NULL, '{');
		out_string("option", r->changes[i].name);
		if (r->changes[i].from)
			out_string("from", r->changes[i].from);
		out_string("to", r->changes[i].to);
		out_bool("fixed", r->changes[i].fixed);
		out_close('}');
	}
	out_close(']');
	out_open("commands", '[');
	for (i = 0; i < r->n_commands; i++)
		out_string(NULL, r->commands[i]);
	out_close(']');
	out_bool("needs_replace", r->left);
}

/**
 * outcome_forget() - free what an outcome holds
 * @r: of a port or a command
 */
void outcome_forget(struct outcome *r)
{
	unsigned int i;

	for (i = 0; i < r->n_changes; i++) {
		free(r->changes[i].from);
		free(r->changes[i].to);
	}
	for (i = 0; i < r->n_commands; i++)
		free(r->commands[i]);
}

/**
 * outcome_print() - print an outcome, and free what it holds
 * @r: of a port or a command
 * @dry_run: nothing was done
 */
void outcome_print(struct outcome *r, bool dry_run)
{
	out_open(NULL, '{');
	if (r->dev) {
		print_port(r);
		print_text(r, dry_run);
	} else {
		print_host(r, dry_run);
	}
	out_bool("failed", r->failed);
	if (*r->why)
		out_string("why", r->why);
	out_close('}');
	sum.failed |= r->failed;
	sum.differs |= r->left || (dry_run && (r->n_changes || r->n_commands ||
					       r->action >= OUTCOME_ADD));
	outcome_forget(r);
}

/**
 * outcome_status() - the exit code
 *
 * Return: 1 if something did not work; 3 if something is not as the file says
 * and nothing was done about it; else 0.
 */
int outcome_status(void)
{
	return sum.failed ? 1 : sum.differs ? 3 : 0;
}
