/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network as bfcctl reads it: from a file of lines, or from the output of
 * LLDP, one file a box.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "turns.h"

#define NO_BOX		UINT32_MAX
#define KIND_UNKNOWN	UINT8_MAX

/**
 * struct topology - a network with names
 * @net: the network without names. A port that is ignored is a box in it, of kind
 *	 BOX_IGNORED and named BOX:DEV.
 * @name: of each box
 * @dev: of each cable, the devices at its ends; "" = not given, of hosts and the like
 * @where: of each cable, the file, and the line if it has lines
 * @ignored: number of cables that are left out
 */
struct topology {
	struct net net;
	char **name;
	char *(*dev)[2];
	char **where;
	uint32_t ignored;
};

uint32_t topology_find(const struct topology *t, const char *name);
uint32_t topology_add(struct topology *t, const char *name, enum box_kind kind,
		      const char *where);
bool topology_ignores(const struct topology *t, uint32_t box, const char *dev);
void topology_join(struct topology *t, const uint32_t *box, const char *const *dev,
		   const char *where);
void topology_read(struct topology *t, int files, char **file);
void topology_free(struct topology *t);
bool is_device(const char *name);

/* ---- bfcctl_lldp.c ---- */

void lldp_read(struct topology *t, const char *box, const char *file, char *text);
void lldp_join(struct topology *t);

/* ---- bfcctl_json.c ---- */

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_TRUE, JSON_OTHER };

/**
 * struct json - a value
 * @kind: what it is; numbers, false and null are JSON_OTHER
 * @key: in an object, else NULL
 * @string: of a string
 * @first: first value in an object or array
 * @next: next value in the same object or array
 */
struct json {
	enum json_kind kind;
	char *key;
	char *string;
	struct json *first;
	struct json *next;
};

struct json *json_parse(const char *file, char *text);
const struct json *json_member(const struct json *value, const char *key);
void json_free(struct json *value);

#endif /* TOPOLOGY_H */
