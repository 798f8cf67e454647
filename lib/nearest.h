/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the word that was meant.
 */
#ifndef NEAREST_H
#define NEAREST_H

const char *bfc_nearest(const char *word, const char *const *names, unsigned int n);

#endif /* NEAREST_H */
