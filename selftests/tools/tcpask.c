// SPDX-License-Identifier: GPL-2.0
/*
 * tcpask - requests and responses over TCP, and how long they take.
 *
 *   tcpask serve -p PORT
 *	answers until it is killed
 *   tcpask ask -d ADDRESS -p PORT -t SECONDS [-w SECONDS] [-c CONNECTIONS]
 *		[-s SIZE]
 *	asks for SIZE bytes on each connection, and again when they have come;
 *	prints one JSON object about the time after the first -w seconds. A
 *	large SIZE is a bulk transfer: bytes of unfinished responses count as
 *	well
 *
 * A request is the size of its response, 8 bytes. Both ends sleep in poll():
 * they do not spin where the clock stands still.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool.h"

#define CONNS_MAX	1024
#define SAMPLES_MAX	(1 << 20)

/**
 * struct conn - one connection
 * @left: bytes of the response that are still to be sent, or to come
 * @asked_ns: when the request was sent
 */
struct conn {
	uint64_t left, asked_ns;
};

static struct pollfd pfd[CONNS_MAX + 1];
static struct conn conns[CONNS_MAX + 1];
static char buf[1 << 16];

static void no_delay(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("TCP_NODELAY");
}

static int again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* 0: the connection has ended */
static int serve_one(int i)
{
	struct conn *c = &conns[i];
	uint64_t size;
	ssize_t n;

	while (!c->left) {
		/* 8 bytes in one segment: they come whole. */
		n = recv(pfd[i].fd, &size, sizeof(size), MSG_WAITALL);
		if (n < 0 && again())
			break;
		if (n != sizeof(size))
			return 0;
		c->left = size;
	}
	while (c->left) {
		n = send(pfd[i].fd, buf,
			 c->left < sizeof(buf) ? c->left : sizeof(buf),
			 MSG_NOSIGNAL);
		if (n < 0)
			break;
		c->left -= n;
	}
	if (c->left && !again())
		return 0;
	pfd[i].events = c->left ? POLLOUT : POLLIN;
	return 1;
}

static void do_serve(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(port) };
	int n = 1, one = 1, i, fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 128))
		die("bind");
	pfd[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	for (;;) {
		if (poll(pfd, n, -1) < 0 && !again())
			die("poll");
		for (i = n - 1; i > 0; i--) {
			if (!pfd[i].revents || serve_one(i))
				continue;
			close(pfd[i].fd);
			pfd[i] = pfd[--n];
			conns[i] = conns[n];
		}
		if (!pfd[0].revents || n > CONNS_MAX)
			continue;
		fd = accept(pfd[0].fd, NULL, NULL);
		if (fd < 0)
			continue;
		fcntl(fd, F_SETFL, O_NONBLOCK);
		no_delay(fd);
		pfd[n] = (struct pollfd){ .fd = fd, .events = POLLIN };
		conns[n++].left = 0;
	}
}

static void ask(int i, uint64_t size)
{
	conns[i].asked_ns = now_ns();
	conns[i].left = size;
	if (send(pfd[i].fd, &size, sizeof(size), MSG_NOSIGNAL) != sizeof(size))
		die("send");
}

static void report(uint64_t *lat, uint64_t n, uint64_t bytes, double seconds)
{
	qsort(lat, n < SAMPLES_MAX ? n : SAMPLES_MAX, sizeof(*lat), cmp_u64);
	printf("{\"requests\": %ju, \"bytes\": %ju, \"seconds\": %.6f, \"per_second\": %.1f, \"mbits\": %.2f",
	       n, bytes, seconds, n / seconds, bytes * 8 / seconds / 1e6);
	if (n > SAMPLES_MAX)
		n = SAMPLES_MAX;
	if (n)
		printf(", \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f",
		       lat[n / 2] / 1e3, lat[n * 99 / 100] / 1e3,
		       lat[n - 1] / 1e3);
	printf("}\n");
}

static int do_ask(const char *host, int port, int n, uint64_t size,
		  double warm_up, double seconds)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(port) };
	uint64_t *lat = calloc(SAMPLES_MAX, sizeof(*lat));
	uint64_t start, end, now, done = 0, bytes = 0;
	int i;

	if (!lat)
		die("calloc");
	if (inet_pton(AF_INET, host, &addr.sin_addr) != 1) {
		fprintf(stderr, "tcpask: %s: an IPv4 address\n", host);
		return 2;
	}
	for (i = 0; i < n; i++) {
		pfd[i].fd = socket(AF_INET, SOCK_STREAM, 0);
		pfd[i].events = POLLIN;
		if (pfd[i].fd < 0 ||
		    connect(pfd[i].fd, (struct sockaddr *)&addr, sizeof(addr)))
			die("connect");
		fcntl(pfd[i].fd, F_SETFL, O_NONBLOCK);
		no_delay(pfd[i].fd);
	}
	start = now_ns() + warm_up * 1e9;
	end = start + seconds * 1e9;
	for (i = 0; i < n; i++)
		ask(i, size);
	while ((now = now_ns()) < end) {
		poll(pfd, n, (end - now) / 1000000 + 1);
		for (i = 0; i < n; i++) {
			ssize_t got;

			if (!pfd[i].revents)
				continue;
			got = recv(pfd[i].fd, buf, sizeof(buf), 0);
			if (got < 0 && again())
				continue;
			if (got <= 0)
				die("recv");
			conns[i].left -= got;
			if (now >= start)
				bytes += got;
			if (conns[i].left)
				continue;
			if (now >= start && done++ < SAMPLES_MAX)
				lat[done - 1] = now_ns() - conns[i].asked_ns;
			ask(i, size);
		}
	}
	report(lat, done, bytes, (now_ns() - start) / 1e9);
	free(lat);
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: tcpask serve -p PORT\n"
		"       tcpask ask -d ADDRESS -p PORT -t SECONDS [-w SECONDS] [-c CONNECTIONS]\n"
		"                  [-s SIZE]\n");
	return 2;
}

int main(int argc, char **argv)
{
	int c, port = 0, n = 1;
	const char *host = NULL;
	double seconds = 0, warm_up = 0;
	uint64_t size = 1000;

	if (argc < 2)
		return usage();
	optind = 2;
	while ((c = getopt(argc, argv, "d:p:t:w:c:s:")) != -1) {
		switch (c) {
		case 'd':
			host = optarg;
			break;
		case 'p':
			port = number(optarg, "-p", 1, 65535);
			break;
		case 't':
			seconds = number(optarg, "-t", 0.001, 1e6);
			break;
		case 'w':
			warm_up = number(optarg, "-w", 0, 1e6);
			break;
		case 'c':
			n = number(optarg, "-c", 1, CONNS_MAX);
			break;
		case 's':
			size = number(optarg, "-s", 1, 1e15);
			break;
		default:
			return usage();
		}
	}
	if (!port)
		return usage();
	if (!strcmp(argv[1], "serve"))
		do_serve(port);
	if (strcmp(argv[1], "ask") || !host || !seconds)
		return usage();
	return do_ask(host, port, n, size, warm_up, seconds);
}
