// SPDX-License-Identifier: GPL-2.0
/*
 * Output: JSON, or text for people. A command calls both; the functions of the
 * other kind do nothing.
 */
#define _GNU_SOURCE	/* vasprintf */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "memory.h"

static int depth;
static unsigned int objects;	/* bit d: what is open at depth d is one, else it is an array */
static bool first = true;

/**
 * out_flush() - flush standard output, and end the program if that fails
 */
void out_flush(void)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		fail("output: %s", strerror(errno ?: EIO));
}

static void newline(void)
{
	int i;

	if (!ctl.pretty)
		return;
	putchar('\n');
	for (i = 0; i < depth; i++)
		putchar('\t');
}

/**
 * out_utf8() - length of the character that a text begins with
 * @s: the text: the kernel takes any bytes as the name of a device
 *
 * Return: bytes of the character in UTF-8 (RFC 3629), 0 if it is not UTF-8.
 */
unsigned int out_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned int n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 :
			 *p < 0xf5 ? 4 : 0;
	unsigned int i;

	/* overlong; a surrogate; beyond U+10FFFF */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/**
 * out_control() - the control character that a text begins with
 * @s: the text: terminals take U+0080 to U+009F for control characters, too,
 *     and U+009B begins a sequence
 *
 * Return: its number, 0 if it is none.
 */
unsigned int out_control(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
		return p[1];
	return *p < 0x20 || *p == 0x7f ? *p : 0;
}

static void quoted(const char *s)
{
	unsigned int n;

	putchar('"');
	for (; *s; s += n ? n : 1) {
		n = out_utf8(s);
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (out_control(s))
			printf("\\u%04x", out_control(s));
		else if (n)
			fwrite(s, n, 1, stdout);
		else
			fputs("\\ufffd", stdout);
	}
	putchar('"');
}

static void item(const char *key)
{
	if (!first)
		putchar(',');
	first = false;
	if (depth)
		newline();
	if (key) {
		quoted(key);
		putchar(':');
		if (ctl.pretty)
			putchar(' ');
	}
}

/**
 * out_open() - begin an object or an array
 * @key: NULL in an array and at the top
 * @bracket: '{' or '['
 */
void out_open(const char *key, char bracket)
{
	if (!ctl.json)
		return;
	item(key);
	putchar(bracket);
	objects &= ~(1U << depth);
	objects |= (bracket == '{') << depth;
	depth++;
	first = true;
}

/**
 * out_close() - end an object or an array
 * @bracket: '}' or ']'
 */
void out_close(char bracket)
{
	if (!ctl.json)
		return;
	depth--;
	if (!first)
		newline();
	putchar(bracket);
	first = false;
	if (!depth) {
		putchar('\n');
		out_flush();
		first = true;
	}
}

/**
 * out_end() - end all that is open: the program ends in the midst of it
 */
void out_end(void)
{
	while (ctl.json && depth)
		out_close(objects >> (depth - 1) & 1 ? '}' : ']');
}

void out_string(const char *key, const char *value)
{
	if (!ctl.json)
		return;
	item(key);
	quoted(value);
}

void out_number(const char *key, uint64_t value)
{
	if (!ctl.json)
		return;
	item(key);
	printf("%llu", (unsigned long long)value);
}

/* Print a time in seconds, with microseconds: a double holds no more digits of
 * a time since 1970.
 */
void out_seconds(const char *key, uint64_t ns)
{
	if (!ctl.json)
		return;
	item(key);
	printf("%llu.%06llu", (unsigned long long)ns / 1000000000,
	       (unsigned long long)ns / 1000 % 1000000);
}

void out_fraction(const char *key, double value)
{
	if (!ctl.json)
		return;
	item(key);
	printf("%.6g", value);
}

void out_bool(const char *key, bool value)
{
	if (!ctl.json)
		return;
	item(key);
	fputs(value ? "true" : "false", stdout);
}

/**
 * out_printable() - make a text safe for a terminal
 * @s: the text; control characters and bytes that are not UTF-8, which names of
 *     devices may have, become question marks
 * @keep: a control character that stays, as newline and tab do
 */
void out_printable(char *s, char keep)
{
	unsigned int n;

	for (; *s; s += n ? n : 1) {
		n = out_utf8(s);
		if (*s != '\n' && *s != '\t' && *s != keep && (!n || out_control(s)))
			memset(s, '?', n ? n : 1);
	}
}

/**
 * out_message() - "bfcctl: WHERE..." on standard error, without the end of the line
 * @where: place in a file with ": ", or ""
 * @fmt: as vprintf
 * @args: likewise
 */
void out_message(const char *where, const char *fmt, va_list args)
{
	char *said = NULL, *all = NULL;

	if (vasprintf(&said, fmt, args) < 0 ||
	    asprintf(&all, "bfcctl: %s%s", where, said) < 0)
		return;
	out_printable(all, '\n');
	fputs(all, stderr);
	free(said);
	free(all);
}

/* Print text, unless the output is JSON. */
void text(const char *fmt, ...)
{
	char *said = NULL;
	va_list args;

	if (ctl.json)
		return;
	va_start(args, fmt);
	if (vasprintf(&said, fmt, args) < 0)
		said = NULL;
	va_end(args);
	out_printable(need(said), '\n');
	fputs(said, stdout);
	free(said);
}

static const char *scaled(char *buf, size_t room, double value, double step,
			  const char *const *units, unsigned int n)
{
	unsigned int i;

	for (i = 0; i + 1 < n && value >= step; i++)
		value /= step;
	snprintf(buf, room, "%.*f%s",
		 i && value < 100 && value != (long long)value ? 2 : 0, value,
		 units[i]);
	return buf;
}

const char *rate_text(char *buf, size_t room, double bits)
{
	static const char *const units[] = {
		"bit", "Kbit", "Mbit", "Gbit", "Tbit"
	};

	return scaled(buf, room, bits, 1000, units, ARRAY_SIZE(units));
}

const char *time_text(char *buf, size_t room, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return scaled(buf, room, ns, 1000, units, ARRAY_SIZE(units));
}

const char *size_text(char *buf, size_t room, uint64_t bytes)
{
	static const char *const units[] = { "b", "Kb", "Mb", "Gb", "Tb" };

	return scaled(buf, room, bytes, 1024, units, ARRAY_SIZE(units));
}
