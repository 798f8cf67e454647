/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Full-screen use of a terminal.
 */
#ifndef BFCCTL_TERM_H
#define BFCCTL_TERM_H

#include <stdint.h>

#define TERM_TIMEOUT	0	/* no key came */
#define TERM_RESIZED	(-1)
#define TERM_END	(-2)	/* a signal, or the terminal is gone */
#define TERM_HEADING	'\1'	/* first character of a line that stands out */

void term_open(void);
void term_size(unsigned int *rows, unsigned int *columns);
void term_draw(const char *lines);
int term_wait(uint64_t ns);

#endif /* BFCCTL_TERM_H */
