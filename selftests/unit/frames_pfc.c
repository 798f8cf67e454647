// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_pfc_wire.h for frames_pfc.py, which compares it with other people's idea of
 * the frames. A command a line on standard input, an answer a line:
 *
 *   put SOURCE ENABLE QUANTA x 8     the frame
 *   get FRAME [ADDRESS]              what it is: none, other, pause, short, or "pfc
 *                                    ENABLE QUANTA x 8"
 *
 * Frames and addresses are hexadecimal digits, numbers decimal ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bfc_pfc_wire.h"

#define FRAME_MAX	2000

static unsigned int unhex(const char *s, u8 *to, unsigned int max)
{
	unsigned int n = 0, byte;

	while (s && n < max && sscanf(s + 2 * n, "%2x", &byte) == 1)
		to[n++] = byte;
	return n;
}

static bool number(char **words, unsigned long max, unsigned long *n)
{
	char *word = strsep(words, " "), *end;

	if (!word || !*word)
		return false;
	*n = strtoul(word, &end, 10);
	return !*end && *n <= max;
}

static void put(char *words)
{
	struct bfc_pfc_frame p;
	unsigned long n = 0;
	u8 f[BFC_PFC_FRAME], src[6];
	unsigned int i;
	bool good;

	good = unhex(strsep(&words, " "), src, 6) == 6 &&
	       number(&words, 0xff, &n);
	p.enable = n;
	for (i = 0; i < BFC_PRIORITIES; i++) {
		good = good && number(&words, BFC_QUANTA_MAX, &n);
		p.quanta[i] = n;
	}
	if (!good) {
		puts("usage");
		return;
	}
	bfc_put_pfc(f, src, &p);
	for (i = 0; i < sizeof(f); i++)
		printf("%02x", f[i]);
	puts("");
}

static void get(char *words)
{
	static u8 buffer[FRAME_MAX];
	struct bfc_pfc_frame p;
	unsigned int len, i;
	u8 *f;

	len = unhex(words, buffer, sizeof(buffer));
	f = malloc(len ? len : 1);	/* past it is past it */
	if (!f)
		abort();
	memcpy(f, buffer, len);
	switch (bfc_mac_kind(f, len)) {
	case BFC_MAC_PFC:
		if (bfc_get_pfc(f, len, &p)) {
			puts("short");
			break;
		}
		printf("pfc %u", p.enable);
		for (i = 0; i < BFC_PRIORITIES; i++)
			printf(" %u", p.quanta[i]);
		puts("");
		break;
	case BFC_MAC_PAUSE:
		puts("pause");
		break;
	case BFC_MAC_OTHER:
		puts("other");
		break;
	default:
		puts("none");
	}
	free(f);
}

int main(void)
{
	char line[3 * FRAME_MAX], *words, *command;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		words = line;
		command = strsep(&words, " ");
		if (!strcmp(command, "put"))
			put(words);
		else if (!strcmp(command, "get"))
			get(words);
		else
			puts("usage");
	}
	return 0;
}
