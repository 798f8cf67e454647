/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replace addresses in a text, each by its own name.
 */
#ifndef MASK_H
#define MASK_H

char *mask_text(const char *text);
void mask_forget(void);

#endif /* MASK_H */
