// SPDX-License-Identifier: GPL-2.0
/*
 * Find the word that was meant.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "nearest.h"

#define NEAR_ROOM	32	/* no word is as long */

static char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c == '_' ? '-' : c;
}

/* Number of letters to change, leave out or put in to make one word of the
 * other; a swap of two letters next to each other counts as one (the optimal
 * string alignment distance).
 */
static unsigned int letters_off(const char *a, const char *b)
{
	unsigned int row[3][NEAR_ROOM], *last2 = row[0], *last = row[1];
	unsigned int *now = row[2], *spare, len = strlen(b), i, j, least;

	for (j = 0; j <= len; j++)
		last[j] = j;
	for (i = 1; a[i - 1]; i++) {
		now[0] = i;
		for (j = 1; j <= len; j++) {
			bool same = folded(a[i - 1]) == folded(b[j - 1]);

			least = last[j - 1] + !same;
			if (least > last[j] + 1)
				least = last[j] + 1;
			if (least > now[j - 1] + 1)
				least = now[j - 1] + 1;
			if (i > 1 && j > 1 && least > last2[j - 2] + 1 &&
			    folded(a[i - 1]) == folded(b[j - 2]) &&
			    folded(a[i - 2]) == folded(b[j - 1]))
				least = last2[j - 2] + 1;
			now[j] = least;
		}
		spare = last2;
		last2 = last;
		last = now;
		now = spare;
	}
	return last[len];
}

/**
 * bfc_nearest() - the name that a word is nearest to
 * @word: as it was written
 * @names: of less than 32 letters
 * @n: their number
 *
 * Return: one of @names, or NULL: none is near.
 */
const char *bfc_nearest(const char *word, const char *const *names, unsigned int n)
{
	const char *best = NULL;
	size_t len = strlen(word);
	unsigned int off, least, i;

	if (len < 2 || len >= NEAR_ROOM)
		return NULL;
	least = (len + 2) / 3 + 1;	/* a third of the letters may be wrong */
	for (i = 0; i < n; i++) {
		off = letters_off(word, names[i]);
		/* The beginning of a name is as good as one wrong letter, a
		 * part of it as two.
		 */
		if (strncmp(word, names[i], len) == 0 && off > 1)
			off = 1;
		else if (len > 2 && strstr(names[i], word) && off > 2)
			off = 2;
		if (off < least) {
			least = off;
			best = names[i];
		}
	}
	return best;
}
