// SPDX-License-Identifier: GPL-2.0
/*
 * Full-screen use of a terminal: the alternate screen, keys as they are typed,
 * and the old state when the program ends, also by a signal. It uses a few
 * sequences of ECMA-48 and xterm, which the Linux console and all terminals
 * compatible with xterm know.
 */
#define _GNU_SOURCE	/* ppoll */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "bfcctl.h"
#include "bfcctl_term.h"

#define ENTER	"\033[?1049h\033[?25l"	/* the alternate screen, no cursor */
#define LEAVE	"\033[?25h\033[?1049l"
#define HOME	"\033[H"
#define REVERSE	"\033[7m"
#define NORMAL	"\033[m"
#define TO_END	"\033[K"	/* of the line: blanks */
#define BELOW	"\033[J"

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

static struct {
	bool open;
	struct termios was;
	sigset_t waiting;	/* signals that stay blocked in ppoll() */
} term;

static volatile sig_atomic_t end, resized;

static void on_signal(int sig)
{
	if (sig == SIGWINCH)
		resized = 1;
	else
		end = 1;
}

static void put(const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= n) {
		n = write(STDOUT_FILENO, text, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0) {
			end = 1;
			return;
		}
	}
}

static void term_close(void)
{
	if (!term.open)
		return;
	term.open = false;
	put(LEAVE, strlen(LEAVE));
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &term.was);
}

/**
 * term_open() - take the terminal of standard input and output
 *
 * Ends the program with a message if there is none. From now on signals are
 * only handled in term_wait().
 */
void term_open(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct termios raw;
	sigset_t blocked;
	unsigned int i;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &term.was))
		fail("top: standard input and output are no terminal (--once prints one frame)");
	sigemptyset(&blocked);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		sigaction(ends[i], &action, NULL);
		sigaddset(&blocked, ends[i]);
	}
	sigaction(SIGWINCH, &action, NULL);
	sigaddset(&blocked, SIGWINCH);
	sigprocmask(SIG_BLOCK, &blocked, &term.waiting);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		sigdelset(&term.waiting, ends[i]);
	sigdelset(&term.waiting, SIGWINCH);
	raw = term.was;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;	/* the alternate screen would stay */
	term.open = true;
	ctl.restore = term_close;
	atexit(term_close);
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
		fail("terminal: %s", strerror(errno));
	put(ENTER, strlen(ENTER));
}

/**
 * term_size() - of the window, as it is now
 * @rows: result
 * @columns: result
 */
void term_size(unsigned int *rows, unsigned int *columns)
{
	struct winsize w = {};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	*rows = w.ws_row ?: 24;
	*columns = w.ws_col ?: 80;
}

/**
 * term_draw() - show these lines, from the top on, and nothing else
 * @lines: each ends with a newline; long lines are cut, and lines below the screen
 */
void term_draw(const char *lines)
{
	unsigned int rows, columns, row;
	char *out = NULL;
	size_t room, len;
	FILE *to = need(open_memstream(&out, &room));

	term_size(&rows, &columns);
	fputs(HOME, to);
	for (row = 0; row < rows && *lines; row++) {
		bool heading = *lines == TERM_HEADING;

		lines += heading;
		len = strcspn(lines, "\n");
		fprintf(to, "%s%s%.*s" TO_END "%s", row ? "\r\n" : "", heading ? REVERSE : "",
			(int)(len < columns ? len : columns), lines, heading ? NORMAL : "");
		lines += len + (lines[len] == '\n');
	}
	if (row < rows)
		fputs("\r\n" BELOW, to);
	fclose(to);
	put(need(out), room);
	free(out);
}

/**
 * term_wait() - wait for a key
 * @ns: for so long at most
 *
 * Return: the key, or TERM_*.
 */
int term_wait(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char key;
	int n = 0;

	if (!end && !resized)
		n = ppoll(&p, 1, &t, &term.waiting);
	if (end)
		return TERM_END;
	if (resized) {
		resized = 0;
		return TERM_RESIZED;
	}
	if (n <= 0)
		return TERM_TIMEOUT;
	return read(STDIN_FILENO, &key, 1) == 1 && key ? key : TERM_END;
}
