// SPDX-License-Identifier: GPL-2.0
/*
 * TCP as BFC's evaluation uses it (BFC §6.2.1: "flows start at line rate"): a
 * flow is a message on a connection that has been set up before, whose window
 * is one bandwidth-delay product (route: initcwnd), without slow start
 * (--ssthresh). Every flow has a connection of its own, so none waits for a
 * handshake or inherits the window of another.
 */
#define _GNU_SOURCE	/* accept4 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "flow.h"
#include "input.h"

#define TCP_PORT	5001
#define CONNS_MAX	200000	/* some 8 KB of kernel memory each */
#define LOWAT_MAX	(1 << 20)	/* the receiver is woken once a MB */
#define PIECE		(1 << 16)
#define RECEIVER	(1ULL << 32)	/* epoll data: which end has something */

/**
 * struct conn - the connection of the flow with the same number
 * @tx: the sender's socket
 * @rx: the receiver's
 * @waits: for room in the buffer of @tx
 * @to_send: bytes not yet given to @tx
 * @to_come: bytes not yet taken from @rx
 * @payload: bytes without headers
 */
struct conn {
	int tx, rx;
	bool waits;
	uint64_t to_send, to_come, payload;
};

static struct conn *conns;
static int *listener;
static int epoll = -1;

static void set_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt");
}

/* A congestion control that the kernel silently replaced would make the
 * results those of another scheme.
 */
static void check_congestion(int fd)
{
	char name[16] = "";
	socklen_t len = sizeof(name);

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len))
		die("TCP_CONGESTION");
	if (strncmp(name, opt.congestion, sizeof(name)))
		usage_error("TCP uses %.16s instead of %s", name,
			    opt.congestion);
}

/* What should have set it does not report a failure. */
static void check_ssthresh(int fd)
{
	uint32_t wanted = opt.bound ? opt.bound : opt.ssthresh;
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	if (wanted && info.tcpi_snd_ssthresh != wanted)
		usage_error("slow start ends at %u packets instead of %u",
			    info.tcpi_snd_ssthresh, wanted);
}

/* HPCC's windows come from a program, on connections that agree on INT; else they
 * would stay what they are.
 */
static void check_window(int fd)
{
	unsigned long pace = 0;
	socklen_t len = sizeof(pace);

	if (strcmp(opt.congestion, "bfc_window"))
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, &len))
		die("SO_MAX_PACING_RATE");
	if (pace == ~0UL)
		usage_error("no program computes the window: is HPCC on, and INT?");
}

static void set_congestion(int fd, const char *name)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
		usage_error("--congestion: %s: %m", name);
}

static void set_cubic(const char *parameter, uint32_t value)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "/sys/module/tcp_cubic/parameters/%s",
		 parameter);
	file = fopen(name, "we");
	if (!file || fprintf(file, "%u\n", value) < 0 || fclose(file))
		die(name);
}

/*
 * End the slow start of connections that are being opened at --ssthresh, or again
 * where CUBIC finds its end by itself.
 *
 * No socket option says where it ends; what a route says is taken only together
 * with what is remembered of earlier connections; and a BPF program can only bound
 * the window as well. But CUBIC has a parameter, without HyStart, and the threshold
 * stays when the congestion control changes.
 */
static void cubic_ends_slow_start(bool at_ssthresh)
{
	if (!opt.ssthresh)
		return;
	set_cubic("hystart", !at_ssthresh);
	set_cubic("initial_ssthresh", at_ssthresh ? opt.ssthresh : 0);
}

/* CUBIC has been started by the handshake already if it is the one wanted. */
static void end_slow_start(int fd)
{
	if (!opt.ssthresh || !strcmp(opt.congestion, "cubic"))
		return;
	set_congestion(fd, "cubic");
	set_congestion(fd, opt.congestion);
}

static int tcp_socket(uint32_t host)
{
	int fd = host_socket(&hosts[host], SOCK_STREAM), size = 64 << 20;

	set_congestion(fd, opt.congestion);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die("SO_RCVBUFFORCE");
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	return fd;
}

static void listen_everywhere(void)
{
	struct sockaddr_in any = sock_addr(INADDR_ANY, TCP_PORT);
	uint32_t h;

	listener = calloc(n_hosts, sizeof(*listener));
	if (!listener)
		die("calloc");
	for (h = 0; h < n_hosts; h++) {
		listener[h] = tcp_socket(h);
		if (bind(listener[h], (struct sockaddr *)&any, sizeof(any)) ||
		    listen(listener[h], 16))
			die("listen");
	}
}

/* The handshake takes simulated time only. */
static void wait_for(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };
	int set = epoll_create1(EPOLL_CLOEXEC);

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) ||
	    epoll_wait(set, &ev, 1, 10000) != 1)
		die("no connection");
	close(set);
}

static void open_conn(uint32_t number)
{
	const struct flow *f = &flows[number];
	struct sockaddr_in from = sock_addr(f->saddr, 0);
	struct sockaddr_in to = sock_addr(f->daddr, TCP_PORT);
	struct epoll_event ev = {
		.events = EPOLLIN, .data.u64 = RECEIVER | number,
	};
	struct conn *c = &conns[number];

	c->tx = tcp_socket(f->src);
	set_option(c->tx, IPPROTO_IP, IP_TOS, f->dscp << 2);
	if (bind(c->tx, (struct sockaddr *)&from, sizeof(from)))
		die("bind");
	if (connect(c->tx, (struct sockaddr *)&to, sizeof(to)) &&
	    errno != EINPROGRESS)
		die("connect");
	wait_for(c->tx, EPOLLOUT);
	wait_for(listener[f->dst], EPOLLIN);
	c->rx = accept4(listener[f->dst], NULL, NULL,
			SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (c->rx < 0)
		die("accept");
	set_option(c->rx, IPPROTO_IP, IP_TOS, f->dscp << 2);
	end_slow_start(c->tx);
	check_congestion(c->tx);
	check_ssthresh(c->tx);
	check_window(c->tx);
	check_congestion(c->rx);
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->rx, &ev))
		die("epoll_ctl");
}

void tcp_prepare(void)
{
	uint32_t i;

	if (n_flows > CONNS_MAX)
		usage_error("%u flows are more than the %u connections that are possible",
			    n_flows, CONNS_MAX);
	conns = calloc(n_flows, sizeof(*conns));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0 || !conns)
		die("epoll");
	listen_everywhere();
	if (opt.bound)
		tcp_bound(opt.bound);
	cubic_ends_slow_start(true);
	for (i = 0; i < n_flows; i++)
		open_conn(i);
	cubic_ends_slow_start(false);
	/* The handshakes took time: what starts now starts late. */
	if (now_ns() > opt.start)
		usage_error("%u connections took until %ju ns after --start",
			    n_flows, now_ns() - opt.start);
}

static uint32_t retransmissions(int fd)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	return info.tcpi_total_retrans;
}

static void wait_to_write(struct conn *c, bool wait)
{
	struct epoll_event ev = {
		.events = wait ? EPOLLOUT : 0, .data.u64 = c - conns,
	};

	if (c->waits == wait)
		return;
	if (epoll_ctl(epoll, EPOLL_CTL_MOD, c->tx, &ev) &&
	    (errno != ENOENT || epoll_ctl(epoll, EPOLL_CTL_ADD, c->tx, &ev)))
		die("epoll_ctl");
	c->waits = wait;
}

static void push(struct conn *c)
{
	static char zero[PIECE];

	while (c->to_send) {
		size_t n = c->to_send < PIECE ? c->to_send : PIECE;
		ssize_t done = send(c->tx, zero, n, MSG_DONTWAIT);

		if (done < 0) {
			if (errno != EAGAIN && errno != EINTR)
				die("send");
			wait_to_write(c, true);
			return;
		}
		c->to_send -= done;
	}
	wait_to_write(c, false);
}

static void set_lowat(struct conn *c)
{
	set_option(c->rx, SOL_SOCKET, SO_RCVLOWAT,
		   c->to_come < LOWAT_MAX ? c->to_come : LOWAT_MAX);
}

static void start_flow(uint32_t number)
{
	const struct flow *f = &flows[number];
	struct conn *c = &conns[number];

	c->payload = (uint64_t)(f->packets - 1) * (opt.packet - opt.header) +
		     packet_payload(f, f->packets - 1);
	c->to_send = c->payload;
	c->to_come = c->payload;
	set_lowat(c);
	push(c);
}

/* What came without headers is on the wire as much more. */
static uint64_t on_wire(uint32_t number, uint64_t payload)
{
	return payload == conns[number].payload ? flows[number].bytes :
	       payload * opt.packet / (opt.packet - opt.header);
}

static void take(uint32_t number, uint64_t now)
{
	struct flow *f = &flows[number];
	struct conn *c = &conns[number];
	uint64_t before = c->to_come, bytes, t = now - opt.start;
	ssize_t n;

	while (c->to_come &&
	       (n = recv(c->rx, NULL, c->to_come, MSG_TRUNC | MSG_DONTWAIT)) > 0)
		c->to_come -= n;
	if (c->to_come == before)
		return;
	bytes = on_wire(number, c->payload - c->to_come);
	if (f->first == NEVER)
		f->first = now;
	f->newest = now;
	if (t > opt.from && t <= opt.to)
		f->measured += bytes - f->got_bytes;
	f->got_bytes = bytes;
	f->got = c->to_come ? (c->payload - c->to_come) /
			      (opt.packet - opt.header) : f->packets;
	if (c->to_come) {
		set_lowat(c);
		return;
	}
	f->last = now;
	f->resent = retransmissions(c->tx);
	n_done++;
	close(c->tx);
	close(c->rx);
}

/* The borders of the measurement: what has come by now counts as before. */
static uint64_t measure(uint64_t now, uint64_t border, uint32_t started)
{
	uint32_t i;

	if (border > NEVER / 4)
		return NEVER;
	if (now < opt.start + border)
		return opt.start + border;
	for (i = 0; i < started; i++)
		if (conns[i].to_come)
			take(i, now);
	return NEVER;
}

void tcp_run(void)
{
	static struct epoll_event events[BATCH];
	uint64_t from = opt.start + opt.from, to, now, next;
	uint32_t started = 0;
	int i, n;

	to = opt.to > NEVER / 4 ? NEVER : opt.start + opt.to;
	sleep_until(opt.start);
	while (n_done < n_flows) {
		now = now_ns();
		while (started < n_flows &&
		       opt.start + flows[started].start <= now)
			start_flow(started++);
		if (now >= from)
			from = measure(now, opt.from, started);
		if (now >= to)
			to = measure(now, opt.to, started);
		show_progress(now, false);
		if (now >= opt.start + opt.until)
			break;

		next = opt.start + opt.until;
		if (started < n_flows &&
		    opt.start + flows[started].start < next)
			next = opt.start + flows[started].start;
		if (from < next)
			next = from;
		if (to < next)
			next = to;
		n = wait_events(epoll, events, next);
		now = now_ns();
		for (i = 0; i < n; i++) {
			uint32_t number = events[i].data.u64;

			if (!(events[i].data.u64 & RECEIVER))
				push(&conns[number]);
			else if (conns[number].to_come)
				take(number, now);
		}
	}
}
