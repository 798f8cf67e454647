/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration of a box, read from bfc.conf(5).
 */
#ifndef BFCCTL_CONF_H
#define BFCCTL_CONF_H

#include <linux/pkt_sch_bfc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "q_bfc_option.h"

/**
 * struct where - a place in a file
 * @file: its path
 * @line: counted from 1 on
 */
struct where {
	const char *file;
	unsigned int line;
};

/**
 * struct setting - an option that the file gives
 * @option: entry of the plugin's table; never that of "stamp"
 * @value: as in the file
 * @at: its place
 */
struct setting {
	const struct bfc_option *option;
	char *value;
	struct where at;
};

/**
 * struct conf_words - a line of the file that is a command, or a part of it
 * @argc: number of words, 0 = not given
 * @argv: the words
 * @at: where
 */
struct conf_words {
	int argc;
	char **argv;
	struct where at;
};

/**
 * struct section - configuration of some ports
 * @at: its first line
 * @patterns: of their names, for fnmatch(3)
 * @ignore: leave these ports alone
 * @settings: options
 * @n_settings: their number
 * @stamp: words after "stamp"
 * @intel: words after "int"
 */
struct section {
	struct where at;
	struct conf_words patterns;
	bool ignore;
	struct setting *settings;
	unsigned int n_settings;
	struct conf_words stamp;
	struct conf_words intel;
};

/**
 * struct conf - all files
 * @sections: those of ports, in the order of the files
 * @n_sections: their number
 * @host: commands of the box, with their first word
 * @n_host: their number
 */
struct conf {
	struct section *sections;
	unsigned int n_sections;
	struct conf_words *host;
	unsigned int n_host;
};

/**
 * struct want - configuration of one port
 * @named: a section of the file is about it
 * @ignore: leave the port alone
 * @at: where the last section about it begins
 * @setting: by TCA_BFC_*, NULL = the default
 * @stamp: NULL = natively
 * @intel: NULL = none
 */
struct want {
	bool named;
	bool ignore;
	struct where at;
	const struct setting *setting[TCA_BFC_MAX + 1];
	const struct conf_words *stamp;
	const struct conf_words *intel;
};

static inline bool want_stamps_by(const struct want *want, const char *how)
{
	return want->stamp && !strcmp(want->stamp->argv[0], how);
}

static inline bool want_native(const struct want *want)
{
	return !want->stamp || want_stamps_by(want, "native");
}

/* @option, or the next one if that is "stamp", which has a line of its own in
 * the file; NULL at the end of the table
 */
static inline const struct bfc_option *conf_option(const struct bfc_option *option)
{
	while (option->name && option->attr == TCA_BFC_STAMP)
		option++;
	return option->name ? option : NULL;
}

#define for_each_option(o) \
	for ((o) = conf_option(bfc_options); (o); (o) = conf_option((o) + 1))

void conf_at(const struct where *at);
void conf_read(struct conf *conf, const char *path);
void conf_want(const struct conf *conf, const char *dev, struct want *want);
bool conf_matches(const char *pattern, const char *dev);

#define ELIDE_NAMES	64	/* as many as the qdisc takes */

unsigned int conf_elide(const struct setting *setting, char names[][16],
			unsigned int room);

#endif /* BFCCTL_CONF_H */
