/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "bfcctl apply" says of a port, or of a command of the box.
 */
#ifndef BFCCTL_REPORT_H
#define BFCCTL_REPORT_H

#include <stdbool.h>

struct conf_words;
struct where;

enum report_action {
	REPORT_NONE,
	REPORT_IGNORE,
	REPORT_ADD,
	REPORT_CHANGE,
	REPORT_REPLACE,
	__REPORT_ACTIONS
};

#define REPORT_CHANGES	64

/**
 * struct report - what is done about a port
 * @dev: name of it; NULL = a command of the box
 * @host: the command
 * @action: about its qdisc
 * @left: it is not as the file says, and stays so: only a replacement helps
 * @failed: something did not work
 * @refused: the qdisc, that is
 * @why: a replacement is needed, if no fixed option is why
 * @n_changes: number of options that differ
 * @n_fixed: of these, fixed while the qdisc lives
 * @changes: options, what they are (NULL = nothing yet) and what they are to be
 * @n_commands: programs to attach or detach
 * @commands: they, as words
 */
struct report {
	const char *dev;
	const struct conf_words *host;
	enum report_action action;
	bool left;
	bool failed;
	bool refused;
	char why[256];
	unsigned int n_changes;
	unsigned int n_fixed;
	struct {
		const char *name;
		char *from;
		char *to;
		bool fixed;
	} changes[REPORT_CHANGES];
	unsigned int n_commands;
	char *commands[4];
};

void report_note(const struct where *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *report_reason(const char *text);
void report_error(struct report *r, const struct where *at, const char *error);
void report_change(struct report *r, const char *name, const char *from,
		   const char *to, bool fixed);
void report_command(struct report *r, const char *name, int argc, char **argv);
void report_forget(struct report *r);
void report_print(struct report *r, bool dry_run);
int report_status(void);

#endif /* BFCCTL_REPORT_H */
