/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that "bfcctl stamp attach" has pinned, and whether ports stamp by
 * them.
 */
#ifndef BFCCTL_PINS_H
#define BFCCTL_PINS_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/* A pin is in effect if the port that it was made for stamps by its program. */
enum pin_state {
	PIN_IN_EFFECT,
	PIN_NATIVE,		/* the port stamps natively */
	PIN_OTHER,		/* by another program */
	PIN_NO_BFC,		/* the device has another root qdisc, or none */
	PIN_NO_DEVICE,
	PIN_NO_NETNS,
	PIN_UNKNOWN,		/* no permission to look into its namespace, or pinned by
				 * another version
				 */
	__PIN_STATES
};

/**
 * struct pin - the pinned program of a port
 * @path: of it
 * @netns_id: number of the network namespace
 * @netns: its name, "" if it is this one or has none
 * @here: it is this one
 * @ifindex: of the device
 * @dev: name of the device; if it is gone, its last one that is known, or ""
 * @prog_id: of the program
 * @object: object_id() that it was loaded from
 * @state: whether it is in effect
 */
struct pin {
	char path[256];
	uint64_t netns_id;
	char netns[256];
	bool here;
	int ifindex;
	char dev[IF_NAMESIZE];
	uint32_t prog_id;
	uint64_t object;
	enum pin_state state;
};

/**
 * struct pins - many of them
 * @pin: each
 * @n: entries of @pin
 * @everywhere: of all network namespaces, not of this one alone
 */
struct pins {
	bool everywhere;
	struct pin *pin;
	unsigned int n;
};

struct port;

const char *stamp_path(int ifindex, const char *part);
void pins_get(struct pins *pins, bool everywhere);
void pins_free(struct pins *pins);
bool pins_sweep(const char *dev);
bool pin_is(int ifindex, uint32_t prog_id, uint64_t object);
bool pin_is_there(int ifindex);
bool pin_is_name(const char *name);
bool pin_is_of(const struct pin *pin, const char *dev);
void pin_about(const struct port *port, uint64_t object);
void pin_show(const struct pin *pin);
bool unpin(const char *path);

#endif /* BFCCTL_PINS_H */
