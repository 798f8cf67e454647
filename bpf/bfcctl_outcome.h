/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The report of "bfcctl apply" on a port, or on a command of the box.
 */
#ifndef BFCCTL_OUTCOME_H
#define BFCCTL_OUTCOME_H

#include <stdbool.h>

struct conf_words;
struct where;

enum outcome_action {
	OUTCOME_NONE,
	OUTCOME_IGNORE,
	OUTCOME_ADD,
	OUTCOME_CHANGE,
	OUTCOME_REPLACE,
	__OUTCOME_ACTIONS
};

#define OUTCOME_CHANGES	64

/**
 * struct outcome - what was done about a port
 * @dev: name of it; NULL = a command of the box
 * @host: the command
 * @action: on its qdisc
 * @left: it differs from the file, which only a replacement can change
 * @failed: something did not work
 * @refused: what failed was the request for its qdisc
 * @why: reason for a replacement, if that is not a fixed option
 * @n_changes: number of options that differ
 * @n_fixed: of these, fixed while the qdisc lives
 * @changes: options, their present values (NULL = none yet) and the new ones
 * @n_commands: programs to attach or detach
 * @commands: these, as words
 */
struct outcome {
	const char *dev;
	const struct conf_words *host;
	enum outcome_action action;
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
	} changes[OUTCOME_CHANGES];
	unsigned int n_commands;
	char *commands[4];
};

void outcome_note(const struct where *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *outcome_reason(const char *text);
void outcome_error(struct outcome *r, const struct where *at, const char *error);
void outcome_change(struct outcome *r, const char *name, const char *from,
		    const char *to, bool fixed);
void outcome_command(struct outcome *r, const char *name, int argc, char **argv);
void outcome_forget(struct outcome *r);
void outcome_print(struct outcome *r, bool dry_run);
int outcome_status(void);

#endif /* BFCCTL_OUTCOME_H */
