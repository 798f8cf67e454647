/* SPDX-License-Identifier: GPL-2.0 */
/*
 * evalflow: flows between hosts, each in its own network namespace.
 *
 * One process owns all sockets. It sleeps until something is due, so that
 * simulated time, which stands still while user space computes, never shows
 * what it does.
 */
#ifndef _FLOW_H
#define _FLOW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <linux/bfc_size.h>

struct epoll_event;

#define NSEC_PER_SEC	((uint64_t)1000000000)
#define NEVER		UINT64_MAX
#define DATA_PORT	5000
#define FRAME_MIN	64	/* bytes, tag included */
#define BATCH		64

/**
 * struct flow - one flow
 * @src: number of the sending host
 * @dst: of the receiving host
 * @saddr: address to send from: where ACKs go to
 * @daddr: address to send to
 * @bytes: size on the wire, headers included
 * @packets: it is sent as so many frames
 * @start: ns after the run's start
 * @dscp: of its packets; of ACKs as well with tcp
 *
 * The sender's:
 * @fd: its socket, -1 if none
 * @next: packet to send next
 * @una: oldest packet not acknowledged (window)
 * @progress: when @una last moved, ns (window)
 * @resent: packets sent again (window), retransmissions (tcp)
 * @acked: when the sender knew that all had arrived, ns; NEVER
 *
 * The receiver's:
 * @expected: packet expected next
 * @got: packets that counted
 * @reordered: packets that came after a later one
 * @nacked: a gap has been reported (window)
 * @first: when the first arrived, ns; NEVER
 * @last: when the last arrived, ns; NEVER as long as some are missing
 * @newest: when the newest arrived, ns
 * @got_bytes: on the wire
 * @measured: of these, bytes within the time of measurement
 */
struct flow {
	uint32_t src, dst;
	uint32_t saddr, daddr;
	uint64_t bytes;
	uint32_t packets;
	uint64_t start;
	uint8_t dscp;

	int fd;
	uint32_t next;
	uint32_t una;
	uint64_t progress;
	uint32_t resent;
	uint64_t acked;

	uint32_t expected;
	uint32_t got;
	uint32_t reordered;
	bool nacked;
	uint64_t first;
	uint64_t last;
	uint64_t newest;
	uint64_t got_bytes;
	uint64_t measured;
};

/**
 * struct host - a namespace with sockets
 * @name: of the namespace
 * @ns: the namespace
 * @rx: socket that all data arrives at
 * @pools: idle sockets to send from
 */
struct host {
	char name[32];
	int ns;
	int rx;
	struct pool *pools;
};

/**
 * struct options - how the flows are to be sent
 * @packet: bytes of a full frame on the wire
 * @header: bytes of it that are not payload of UDP or TCP
 * @gso: hand packets to the kernel in large pieces
 * @window: packets in flight at most
 * @rto: ns without progress until all is sent again
 * @start: CLOCK_MONOTONIC at which the run starts
 * @until: ns after @start at which it ends at the latest
 * @from: ns after @start: measure throughput from here ...
 * @to: ... to here
 * @tick: ns between two looks at open-loop senders and receivers
 * @congestion: TCP's congestion control
 * @ssthresh: packets at which TCP's slow start ends, 0 = where it finds its end
 * @bound: packets that TCP has in flight at most, 0 = as many as it wants
 * @sockbuf: bytes of a socket's buffer
 * @dscp: some flow has a DSCP
 */
struct options {
	uint32_t packet;
	uint32_t header;
	bool gso;
	uint32_t window;
	uint64_t rto;
	uint64_t start;
	uint64_t until;
	uint64_t from, to;
	uint64_t tick;
	const char *congestion;
	uint32_t ssthresh;
	uint32_t bound;
	int sockbuf;
	bool dscp;
};

extern struct options opt;
extern struct flow *flows;
extern uint32_t n_flows;
extern struct host *hosts;
extern uint32_t n_hosts;
extern uint32_t n_done;		/* flows that have arrived completely */

/* What is in a UDP payload, which the shortest frame has 18 bytes of: what the flow has yet to
 * send, for ports with `sched srf`. In an ACK, which is to go first, that is 0, and @seq is
 * the packet expected next.
 */
struct packet {
	uint8_t told[BFC_SIZE_UDP_LEN];
	uint32_t flow;
	uint32_t seq : 31;
	uint32_t nack : 1;
};

#define PAYLOAD_MAX	2048
#define GSO_SEGMENTS	60	/* a GSO packet holds 64 KB and 64 segments */

/* flowfile.c */
void flows_read(const char *name);

/* hosts.c */
uint64_t now_ns(void);
void sleep_until(uint64_t when);
int wait_events(int epoll, struct epoll_event *events, uint64_t when);
uint64_t realtime_offset(void);
void show_progress(uint64_t now, bool end);
void hosts_open(void);
int host_socket(struct host *host, int type);
int flow_socket(struct flow *f);
void flow_socket_free(struct flow *f);
struct sockaddr_in sock_addr(uint32_t ip, uint16_t port);

/* udp.c: the receiving half of both UDP sources */
struct arrival {
	struct packet packet;
	uint32_t len;		/* of the payload */
	uint64_t when;		/* ns */
	struct sockaddr_in from;
};

uint32_t packet_payload(const struct flow *f, uint32_t seq);
void udp_listen(void);
int udp_receive(int fd, struct arrival *arrivals);
void udp_count(struct flow *f, const struct arrival *a);
int udp_send(struct flow *f, uint32_t at_most);

/* the sources */
void open_run(void);
void window_run(void);
void tcp_bound(uint32_t packets);
void tcp_prepare(void);
void tcp_run(void);

#endif /* _FLOW_H */
