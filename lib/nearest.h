/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of some words was meant?
 */
#ifndef NEAREST_H
#define NEAREST_H

const char *bfc_nearest(const char *word, const char *const *names, unsigned int n);

#endif /* NEAREST_H */
