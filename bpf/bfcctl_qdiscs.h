/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices of this namespace and their qdiscs, as the kernel lists them.
 */
#ifndef BFCCTL_QDISCS_H
#define BFCCTL_QDISCS_H

#include <net/if.h>
#include <stddef.h>

struct nlmsghdr;

/**
 * struct device - a network device
 * @ifindex: of it
 * @name: of it
 */
struct device {
	int ifindex;
	char name[IF_NAMESIZE];
};

/**
 * struct qdiscs - all devices and their qdiscs at one time
 * @devices: with and without a qdisc
 * @n_devices: entries of @devices
 * @messages: RTM_NEWQDISC, one behind the other
 * @len: of @messages, bytes
 */
struct qdiscs {
	struct device *devices;
	unsigned int n_devices;
	char *messages;
	size_t len;
};

void qdiscs_get(struct qdiscs *q);
void qdiscs_each(const struct qdiscs *q,
		 void (*each)(const struct nlmsghdr *h, void *arg), void *arg);
void qdiscs_free(struct qdiscs *q);

#endif /* BFCCTL_QDISCS_H */
