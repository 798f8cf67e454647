/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The description of a topology: what evaltopo reads, see topofile.c.
 */
#ifndef _TOPO_H
#define _TOPO_H

#include <linux/if_ether.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define NODE_NAME	32

/**
 * struct pipe - the pipeline behind all ports of a node, see wire_pipe.c
 * @rate: frames/s, 0 = none
 * @delay: ns
 * @buffer: bytes; likewise @xoff, @xon and @stall
 */
struct pipe {
	uint64_t rate;
	uint64_t delay;
	uint32_t buffer;
	uint32_t xoff;
	uint32_t xon;
	uint32_t stall;
};

/**
 * struct node - a host or a router: a network namespace
 * @name: of the namespace
 * @forward: it routes between its ports
 * @fd: the namespace
 * @pipe: behind its ports
 * @tc: qdiscs: the input of tc -batch, NULL if none
 * @tc_len: its length
 */
struct node {
	char name[NODE_NAME];
	bool forward;
	int fd;
	struct pipe pipe;
	char *tc;
	size_t tc_len;
};

/**
 * struct port - one end of a link
 * @node: where it is
 * @name: of the device
 * @mac: its address: 02, number of the node, number of the port
 * @ifindex: once it exists
 * @peer: number of the port at the far end
 */
struct port {
	unsigned int node;
	char name[IFNAMSIZ];
	unsigned char mac[ETH_ALEN];
	int ifindex;
	unsigned int peer;
};

/**
 * struct link - a cable; its ports are 2 * number and 2 * number + 1
 * @kind: "wire", or "veth" where there is no test wire and no time
 * @rate: bit/s
 * @delay: ns
 * @ring: frames
 * @mtu: bytes
 * @gso_segs: most segments of a GSO packet, 0 = the kernel's default
 */
struct link {
	char kind[8];
	uint64_t rate;
	uint64_t delay;
	uint32_t ring;
	uint32_t mtu;
	uint32_t gso_segs;
};

struct addr {
	unsigned int port;
	uint32_t ip;
	unsigned int len;
};

/**
 * struct route - where packets to a prefix leave a node
 * @port: through this port
 * @ip: prefix, host order
 * @len: its length
 * @initcwnd: packets, 0 = the kernel's default
 * @rto_min: ms, 0 = the kernel's default
 * @quickack: acknowledge every packet at once
 */
struct route {
	unsigned int port;
	uint32_t ip;
	unsigned int len;
	uint32_t initcwnd;
	uint32_t rto_min;
	bool quickack;
};

/* A file under /proc/sys of one node. */
struct sysctl {
	unsigned int node;
	char path[96];
	char value[64];
};

struct topology {
	struct node *node;
	struct port *port;
	struct link *link;
	struct addr *addr;
	struct route *route;
	struct sysctl *sysctl;
	unsigned int n_node, n_port, n_link, n_addr, n_route, n_sysctl;
};

void topology_read(struct topology *t, const char *file);

#endif /* _TOPO_H */
