/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses in a text replaced, the same by the same.
 */
#ifndef MASK_H
#define MASK_H

char *mask_text(const char *text);
void mask_forget(void);

#endif /* MASK_H */
