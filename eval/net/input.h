/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading what people and eval/run write: line by line, word by word, with
 * errors that name the file, the line and what was wanted.
 */
#ifndef _INPUT_H
#define _INPUT_H

#include <stdint.h>
#include <stdio.h>

#define INPUT_WORDS	64

/**
 * struct input - a text file being read
 * @file: the stream
 * @name: for messages
 * @line: number of the current line
 * @text: the line; the words point into it
 * @room: bytes allocated for @text
 * @words: of the line
 * @n: their number
 */
struct input {
	FILE *file;
	const char *name;
	unsigned int line;
	char *text;
	size_t room;
	char *words[INPUT_WORDS];
	int n;
};

extern const char *program_name;

_Noreturn void die(const char *what);
_Noreturn void usage_error(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

void input_open(struct input *in, const char *name);
int input_next(struct input *in);
void input_close(struct input *in);
_Noreturn void input_error(const struct input *in, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
uint64_t input_number(const struct input *in, int word, const char *what,
		      uint64_t lo, uint64_t hi);
uint32_t input_ipv4(const struct input *in, const char *text);
uint64_t option_number(const char *option, const char *text, uint64_t lo,
		       uint64_t hi);

#endif /* _INPUT_H */
