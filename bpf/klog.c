// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of the kernel's log about bfc: lines that name it, and whole reports
 * (oopses, warnings, KASAN, lockdep, lockups, stalls) that name it in some
 * line. Other lines stay out: the log has more than a bug report needs.
 *
 * A report begins with a title, and has the trace of a stack, or several. Few kinds have a last
 * line of their own. The others end with the last trace before the next title, or before a
 * pause.
 */
#define _GNU_SOURCE	/* memmem, strchrnul */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "klog.h"

#define HEAD_MAX	80	/* lines from a title to its trace: registers of arm64 are 40 */
#define TAIL_MAX	200	/* from a trace to the next, or to the last line: KASAN's are 60 */
#define PAUSE		3.0	/* s without a line: the report has ended */

/**
 * struct line - of the log
 * @text: behind the prefix of syslog(2): <6>[   12.345678][  T123] and a blank
 * @end: behind its newline
 * @time: s, of the first brackets; negative: printk.time is off
 */
struct line {
	const char *text;
	const char *end;
	double time;
};

/* Returns the position behind brackets at @p, if these have only digits, dots,
 * blanks, T and C in them, or NULL.
 */
static const char *brackets(const char *p)
{
	size_t len;

	if (*p != '[')
		return NULL;
	len = strspn(p + 1, " 0123456789.TC");
	return len && p[1 + len] == ']' ? p + len + 2 : NULL;
}

static struct line get_line(const char *p)
{
	struct line line = { .end = strchrnul(p, '\n'), .time = -1 };
	const char *next;

	line.end += *line.end == '\n';
	if (*p == '<' && p[1] >= '0' && p[1] <= '9' && p[1 + strspn(p + 1, "0123456789")] == '>')
		p = strchr(p, '>') + 1;
	next = brackets(p);
	if (next) {
		line.time = strtod(p + 1, NULL);
		p = next;
		next = brackets(p);	/* printk.caller */
		p = next ? next : p;
		p += *p == ' ';
	}
	line.text = p;
	return line;
}

static bool has(const struct line *line, const char *word)
{
	return memmem(line->text, line->end - line->text, word, strlen(word));
}

static bool starts(const struct line *line, const char *word)
{
	return !strncmp(line->text, word, strlen(word));
}

/* true for a line of "=" */
static bool is_rule(const struct line *line)
{
	size_t len = strspn(line->text, "=");

	return len >= 20 && (line->text[len] == '\n' || !line->text[len]);
}

static bool is_title(const struct line *line)
{
	static const char *const titles[] = {
		"------------[ cut here ]", "BUG: ", "Oops", "WARNING: ", "INFO: ", "UBSAN: ",
		"watchdog: ", "NMI watchdog: ", "rcu: INFO: ", "Unable to handle kernel",
		"Internal error: ", "general protection fault", "Kernel panic",
	};
	unsigned int i;

	for (i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (starts(line, titles[i]))
			return true;
	/* "invalid opcode: 0000 [#1]", of die() */
	return has(line, " [#");
}

/* A title that belongs to the one before it: "BUG: ..." and then "Oops: ..." */
static bool is_second(const struct line *before, const struct line *line)
{
	return starts(line, "Oops") || starts(line, "Internal error: ") ||
	       starts(line, "INFO: lockdep is turned off") ||
	       has(before, "[ cut here ]") || has(before, "kernel BUG at ");
}

/* true for a line of a stack trace: a function, or the end of a stack:
 * "</TASK>"
 */
static bool is_frame(const struct line *line)
{
	return (*line->text == ' ' || *line->text == '\t') &&
	       (has(line, "+0x") || has(line, "</"));
}

/* true if a report with this title ends with a line of "=" (KASAN and such), as
 * others only begin
 */
static bool ends_with_rule(const struct line *line)
{
	return starts(line, "BUG: K") || starts(line, "UBSAN: ");
}

/* End of the report with this title, or NULL if it has no trace: then it is
 * this line alone.
 */
static const char *report_end(const struct line *title)
{
	bool ruled = ends_with_rule(title), traced = false;
	struct line line = *title, next;
	const char *end = NULL;
	unsigned int n;

	for (n = 0; n < (traced ? TAIL_MAX : HEAD_MAX) && *line.end; n++, line = next) {
		next = get_line(line.end);
		if (next.time >= 0 && line.time >= 0 && next.time - line.time > PAUSE)
			break;
		if (has(&next, "---[ end trace") || (ruled && traced && is_rule(&next)))
			return next.end;
		if (is_title(&next) && !is_second(&line, &next))
			break;
		if (is_frame(&next)) {
			traced = true;
			end = next.end;
			n = 0;
		}
	}
	return end;
}

/* As a word, or the first part of one: numbers in hexadecimal have these digits, too. */
static bool names_bfc(const char *from, const char *to)
{
	const char *at = from, *next;

	while ((at = memmem(at, to - at, "bfc", strlen("bfc")))) {
		next = at + strlen("bfc");
		if ((at == from || !isalnum((unsigned char)at[-1])) &&
		    (!isalnum((unsigned char)*next) || !strncmp(next, "ctl", strlen("ctl"))))
			return true;
		at = next;
	}
	return false;
}

/**
 * klog_filter() - write the lines of the kernel's log that are about bfc
 * @log: as syslog(2) gives it
 * @to: result
 *
 * A report names bfc in its trace, or in "Modules linked in": bfc may have
 * caused a fault elsewhere.
 */
void klog_filter(const char *log, FILE *to)
{
	const char *begin, *end;

	for (begin = log; *begin; begin = end) {
		struct line line = get_line(begin), title = line;

		end = line.end;
		if (is_rule(&line) && *line.end)
			title = get_line(line.end);
		if (is_title(&title)) {
			const char *last = report_end(&title);

			end = last ? last : end;
		}
		if (names_bfc(begin, end))
			fwrite(begin, end - begin, 1, to);
	}
}
