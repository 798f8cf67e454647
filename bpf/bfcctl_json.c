// SPDX-License-Identifier: GPL-2.0
/*
 * A reader of JSON (RFC 8259), as much as files of LLDP neighbours need: numbers are
 * skipped, characters beyond ASCII that are written as \u become "?".
 */
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "topology.h"

#define DEPTH_MAX	32

struct reader {
	const char *file;
	const char *text;
	char *at;
	unsigned int depth;
};

static _Noreturn void refuse(const struct reader *r, const char *what)
{
	const char *p;
	unsigned int line = 1;

	for (p = r->text; p < r->at; p++)
		line += *p == '\n';
	fail("%s:%u: JSON: %s", r->file, line, what);
}

static char peek(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
	return *r->at;
}

static void expect(struct reader *r, char c, const char *what)
{
	if (peek(r) != c)
		refuse(r, what);
	r->at++;
}

/* What stands behind a backslash */
static char unescaped(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = *r->at++;
	const char *p;
	unsigned long n;

	p = c ? strchr(from, c) : NULL;
	if (p)
		return to[p - from];
	if (c != 'u' || strspn(r->at, "0123456789abcdefABCDEF") < 4)
		refuse(r, "what follows a backslash makes no sense");
	c = r->at[4];
	r->at[4] = '\0';
	n = strtoul(r->at, NULL, 16);
	r->at[4] = c;
	r->at += 4;
	return n && n < 0x80 ? n : '?';
}

/* Unescape a string in place: that makes it no longer. */
static char *string(struct reader *r)
{
	char *begin, *end, c;

	expect(r, '"', "a string is missing");
	for (begin = r->at, end = begin; (c = *r->at++) != '"'; *end++ = c) {
		if (!c) {
			r->at--;
			refuse(r, "a string does not end");
		}
		if (c == '\\')
			c = unescaped(r);
	}
	*end = '\0';
	return begin;
}

static struct json *value(struct reader *r);

/* The values between two brackets */
static void values(struct reader *r, struct json *v, char end)
{
	struct json **next = &v->first;
	char *key = NULL;

	r->at++;
	if (++r->depth > DEPTH_MAX)
		refuse(r, "too many brackets within each other");
	while (peek(r) != end) {
		if (v->first)
			expect(r, ',', "a comma is missing, or a bracket");
		if (v->kind == JSON_OBJECT) {
			key = string(r);
			expect(r, ':', "a colon is missing");
		}
		*next = value(r);
		(*next)->key = key;
		next = &(*next)->next;
	}
	r->at++;
	r->depth--;
}

/* true, false, null or a number */
static void word(struct reader *r, struct json *v)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t n = strspn(r->at, "+-.0123456789eE");
	unsigned int i;

	v->kind = JSON_OTHER;
	for (i = 0; !n && i < ARRAY_SIZE(words); i++) {
		if (strncmp(r->at, words[i], strlen(words[i])))
			continue;
		n = strlen(words[i]);
		v->kind = i ? JSON_OTHER : JSON_TRUE;
	}
	if (!n)
		refuse(r, *r->at ? "a value is missing" : "the end is missing");
	r->at += n;
}

static struct json *value(struct reader *r)
{
	struct json *v = need(calloc(1, sizeof(*v)));

	switch (peek(r)) {
	case '{':
		v->kind = JSON_OBJECT;
		values(r, v, '}');
		break;
	case '[':
		v->kind = JSON_ARRAY;
		values(r, v, ']');
		break;
	case '"':
		v->kind = JSON_STRING;
		v->string = string(r);
		break;
	default:
		word(r, v);
		break;
	}
	return v;
}

/**
 * json_parse() - read JSON; the program ends if it is none
 * @file: for messages
 * @text: to read; it is changed, and the result points to strings in it
 */
struct json *json_parse(const char *file, char *text)
{
	struct reader r = { .file = file, .text = text, .at = text };
	struct json *v = value(&r);

	if (peek(&r))
		refuse(&r, "there is something behind the end");
	return v;
}

/**
 * json_member() - a member of an object
 * @value: anything, or NULL
 * @key: of the member
 *
 * Return: NULL if there is none.
 */
const struct json *json_member(const struct json *value, const char *key)
{
	const struct json *v;

	if (!value || value->kind != JSON_OBJECT)
		return NULL;
	for (v = value->first; v; v = v->next)
		if (!strcmp(v->key, key))
			return v;
	return NULL;
}

void json_free(struct json *value)
{
	struct json *next;

	for (; value; value = next) {
		next = value->next;
		json_free(value->first);
		free(value);
	}
}
