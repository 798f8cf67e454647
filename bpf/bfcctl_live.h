/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices of this namespace and their root qdiscs.
 */
#ifndef BFCCTL_LIVE_H
#define BFCCTL_LIVE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct rtattr;

/**
 * struct live - a device of this namespace
 * @name: of it
 * @ifindex: of it
 * @kind: of its root qdisc; "" = none, or one that the kernel has chosen
 * @handle: of the root qdisc
 * @mq: the root qdisc is bfc with a scheduler for each TX queue
 * @pinned: it stamps by a program
 * @prog_id: the program
 * @options: TCA_OPTIONS; NULL = none, or no bfc
 * @unnamed: udev has still to give it its name, and then asks for "bfcctl apply NAME"
 * @made: apply has handled it
 */
struct live {
	char name[IF_NAMESIZE];
	int ifindex;
	char kind[16];
	uint32_t handle;
	bool mq;
	bool pinned;
	uint32_t prog_id;
	struct rtattr *options;
	bool unnamed;
	bool made;
};

extern struct live *live;
extern unsigned int n_live;

void live_look(bool with_udev);
bool live_exists(const char *name);
bool live_unnamed(int ifindex);

#endif /* BFCCTL_LIVE_H */
