// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"

/* A system call failed that cannot be the fault of the input. */
void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_name, what, strerror(errno));
	exit(1);
}

void usage_error(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

void input_open(struct input *in, const char *name)
{
	memset(in, 0, sizeof(*in));
	in->name = name;
	in->file = fopen(name, "re");
	if (!in->file)
		usage_error("%s: %s", name, strerror(errno));
}

void input_close(struct input *in)
{
	free(in->text);
	fclose(in->file);
}

void input_error(const struct input *in, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: %s:%u: ", program_name, in->name, in->line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

/* Go to the next line that has words; '#' begins a comment. Returns their
 * number, 0 at the end of the file.
 */
int input_next(struct input *in)
{
	char *p;

	while (getline(&in->text, &in->room, in->file) >= 0) {
		in->line++;
		in->n = 0;
		p = in->text;
		p[strcspn(p, "#\n")] = '\0';
		for (;;) {
			while (isspace((unsigned char)*p))
				*p++ = '\0';
			if (!*p)
				break;
			if (in->n == INPUT_WORDS)
				input_error(in, "more than %d words",
					    INPUT_WORDS);
			in->words[in->n++] = p;
			while (*p && !isspace((unsigned char)*p))
				p++;
		}
		if (in->n)
			return in->n;
	}
	if (ferror(in->file))
		die(in->name);
	return 0;
}

static bool parse_number(const char *text, uint64_t lo, uint64_t hi,
			 uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value >= lo && *value <= hi;
}

uint64_t input_number(const struct input *in, int word, const char *what,
		      uint64_t lo, uint64_t hi)
{
	uint64_t value;

	if (word >= in->n)
		input_error(in, "%s is missing", what);
	if (!parse_number(in->words[word], lo, hi, &value))
		input_error(in, "%s: \"%s\" is not a number from %ju to %ju",
			    what, in->words[word], lo, hi);
	return value;
}

/* An address, host order. */
uint32_t input_ipv4(const struct input *in, const char *text)
{
	struct in_addr addr;

	if (inet_pton(AF_INET, text, &addr) != 1)
		input_error(in, "\"%s\" is not an IPv4 address", text);
	return ntohl(addr.s_addr);
}

uint64_t option_number(const char *option, const char *text, uint64_t lo,
		       uint64_t hi)
{
	uint64_t value;

	if (!parse_number(text, lo, hi, &value))
		usage_error("%s: \"%s\" is not a number from %ju to %ju",
			    option, text, lo, hi);
	return value;
}
