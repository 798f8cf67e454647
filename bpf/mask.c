// SPDX-License-Identifier: GPL-2.0
/*
 * Replace addresses in a text, each by its own name: "mac1", "ipv4-1",
 * "ipv6-1". Addresses that say nothing of a network stay: all zero, localhost,
 * broadcast, and the group addresses of bridges.
 *
 * Addresses are found in the forms that tc(8), ip(8), ethtool(8), bfcctl(8) and
 * the kernel write:
 *   - MAC addresses with colons, with one or two digits in a group, also behind "8000." in
 *     the id of a bridge, and of more than 6 bytes (InfiniBand);
 *   - MAC addresses found so far, also as 12 digits in a row: in names of
 *     devices (enx525400123456) and ids of a switch;
 *   - the upper 12 digits of a port's id behind "id", which are its MAC address.
 */
#define _GNU_SOURCE	/* open_memstream, memmem */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mask.h"
#include "memory.h"

#define MAC_LEAST	6	/* bytes */
#define MAC_MOST	32	/* MAX_ADDR_LEN of the kernel */
#define MAC_DIGITS	12
#define ID_DIGITS	16	/* of a port: MAC address and 16 bits */

enum kind { MAC, IPV4, IPV6, __KINDS };

/**
 * struct known - addresses of a kind found so far
 * @name: replaces an address, followed by its number
 * @n: entries of @bytes
 * @bytes: the addresses, padded with zeros
 */
static struct known {
	const char *name;
	uint32_t n;
	uint8_t (*bytes)[MAC_MOST];
} known[__KINDS] = {
	[MAC] = { .name = "mac" },
	[IPV4] = { .name = "ipv4-" },
	[IPV6] = { .name = "ipv6-" },
};

static int find(enum kind kind, const uint8_t bytes[MAC_MOST])
{
	uint32_t i;

	for (i = 0; i < known[kind].n; i++)
		if (!memcmp(known[kind].bytes[i], bytes, MAC_MOST))
			return i;
	return -1;
}

static void put(FILE *to, enum kind kind, const uint8_t bytes[MAC_MOST])
{
	struct known *k = &known[kind];
	int i = find(kind, bytes);

	if (i < 0) {
		k->bytes = grow(k->bytes, k->n, sizeof(*k->bytes));
		i = k->n++;
		memcpy(k->bytes[i], bytes, MAC_MOST);
	}
	fprintf(to, "%s%d", k->name, i + 1);
}

static bool is_public(enum kind kind, const uint8_t *bytes)
{
	static const uint8_t none[16], all[6] = { 255, 255, 255, 255, 255, 255 };
	static const uint8_t bridges[3] = { 0x01, 0x80, 0xc2 };
	static const uint8_t local4[4] = { 127, 0, 0, 1 }, local6[16] = { [15] = 1 };

	switch (kind) {
	case MAC:
		return !memcmp(bytes, none, 6) || !memcmp(bytes, all, 6) ||
		       !memcmp(bytes, bridges, 3);
	case IPV4:
		return !memcmp(bytes, none, 4) || !memcmp(bytes, all, 4) ||
		       !memcmp(bytes, local4, 4);
	default:
		return !memcmp(bytes, none, 16) || !memcmp(bytes, local6, 16);
	}
}

/* Hexadecimal digits at the beginning of a text, at most so many */
static unsigned int digits(const char *s, unsigned int most)
{
	unsigned int n = 0;

	while (n < most && isxdigit((unsigned char)s[n]))
		n++;
	return n;
}

static unsigned int hex(const char *s, unsigned int n)
{
	char text[3] = "";

	memcpy(text, s, n);
	return strtoul(text, NULL, 16);
}

/* Each returns the length of the address that the text begins with, 0 = none. */
static size_t match_mac(const char *s, uint8_t bytes[MAC_MOST])
{
	unsigned int n = 0, len;
	const char *p = s;

	for (;;) {
		len = digits(p, 3);
		if (!len || len > 2 || n == MAC_MOST)
			return 0;
		bytes[n++] = hex(p, len);
		p += len;
		/* A colon without another group behind it is punctuation. */
		if (*p != ':' || (p[1] != ':' && !digits(p + 1, 1)))
			break;
		p++;
	}
	/* Eight groups are an IPv6 address. */
	return n < MAC_LEAST || n == 8 ? 0 : p - s;
}

static size_t match_ipv4(const char *s, uint8_t bytes[MAC_MOST])
{
	char text[INET_ADDRSTRLEN];
	size_t len = strspn(s, "0123456789.");

	if (len && s[len - 1] == '.')	/* the end of a sentence */
		len--;
	if (len >= sizeof(text))
		return 0;
	memcpy(text, s, len);
	text[len] = '\0';
	return inet_pton(AF_INET, text, bytes) == 1 ? len : 0;
}

/* The longest one: a port or the colon of a list may follow. */
static size_t match_ipv6(const char *s, uint8_t bytes[MAC_MOST])
{
	char text[INET6_ADDRSTRLEN];
	size_t len = strspn(s, "0123456789abcdefABCDEF:.");

	if (!memchr(s, ':', len))
		return 0;
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, s, len);
	for (; len > 2; len--) {
		text[len] = '\0';
		if (inet_pton(AF_INET6, text, bytes) == 1)
			return len;
	}
	return 0;
}

static size_t match_digits(const char *s, uint8_t bytes[MAC_MOST])
{
	unsigned int i;

	if (digits(s, MAC_DIGITS) < MAC_DIGITS)
		return 0;
	for (i = 0; i < MAC_DIGITS / 2; i++)
		bytes[i] = hex(s + 2 * i, 2);
	return MAC_DIGITS;
}

static bool ends_with(const char *from, const char *at, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(at - from) >= len && !memcmp(at - len, word, len);
}

/* true if an address may begin at @at: the character before is not part of one. */
static bool begins(const char *text, const char *at)
{
	return at == text || (!isalnum((unsigned char)at[-1]) && !strchr(":.", at[-1]));
}

/* Find an address at @at, which is part of @text. Returns its length, 0 = none. */
static size_t match(const char *text, const char *at, enum kind *kind, uint8_t bytes[MAC_MOST])
{
	size_t len;

	memset(bytes, 0, MAC_MOST);
	*kind = MAC;
	if (begins(text, at) || ends_with(text, at, ".")) {
		len = match_mac(at, bytes);
		if (len)
			return len;
	}
	if (begins(text, at)) {
		*kind = IPV6;
		memset(bytes, 0, MAC_MOST);
		len = match_ipv6(at, bytes);
		if (len)
			return len;
	}
	if (begins(text, at) || ends_with(text, at, ":")) {
		*kind = IPV4;
		memset(bytes, 0, MAC_MOST);
		len = match_ipv4(at, bytes);
		if (len)
			return len;
	}
	*kind = MAC;
	memset(bytes, 0, MAC_MOST);
	len = match_digits(at, bytes);
	if (len && (((digits(at, ID_DIGITS + 1) == ID_DIGITS ||
		      (digits(at, ID_DIGITS + 1) == MAC_DIGITS &&
		       ends_with(text, at, "_id\":\""))) &&
		     (ends_with(text, at, "id ") || ends_with(text, at, "id\":\""))) ||
		    find(MAC, bytes) >= 0))
		return len;
	return 0;
}

static char *pass(const char *text)
{
	uint8_t bytes[MAC_MOST];
	const char *at = text;
	char *masked = NULL;
	enum kind kind;
	size_t len;
	FILE *to;

	to = need(open_memstream(&masked, &len));
	while (*at) {
		size_t room = match(text, at, &kind, bytes);

		if (!room)
			fputc(*at++, to);
		else if (is_public(kind, bytes))
			fwrite(at, room, 1, to);
		else
			put(to, kind, bytes);
		at += room;
	}
	fclose(to);
	return need(masked);
}

/**
 * mask_text() - a text without addresses
 * @text: of any length
 *
 * In two passes: a device name that contains an address may stand before the
 * address itself.
 *
 * Return: the text without addresses, to be freed.
 */
char *mask_text(const char *text)
{
	free(pass(text));
	return pass(text);
}

/**
 * mask_forget() - forget the addresses found so far
 */
void mask_forget(void)
{
	unsigned int i;

	for (i = 0; i < __KINDS; i++) {
		free(known[i].bytes);
		known[i].bytes = NULL;
		known[i].n = 0;
	}
}
