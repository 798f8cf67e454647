// SPDX-License-Identifier: GPL-2.0
/*
 * udpstamp - when did each packet leave, and when did it come in, to the
 * nanosecond; for the simulator.
 *
 *   udpstamp recv -p PORT -n PACKETS
 *	one line a packet: its number, when it was sent, when the kernel took
 *	it in from the device (SO_TIMESTAMPNS), in ns since START
 *   udpstamp send -d ADDRESS -p PORT -n PACKETS [-s SIZE] [-g GAP]
 *	SIZE is that of the Ethernet frame without FCS. GAP ns after each
 *	other, without -g as fast as the device takes them
 *
 * Both: -0 START, ns since 1970: what times count from, and when to begin to
 * send. IPv4 without options; one clock, that of the machine they run in.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEADERS	(14 + 20 + 8)	/* Ethernet, IPv4, UDP */
#define FRAME_MAX	9014
#define NSEC	1000000000ULL

struct payload {
	uint64_t seq;
	uint64_t sent_ns;
};

struct args {
	struct sockaddr_in addr;
	uint64_t start, packets, gap;
	size_t size;
};

static void die(const char *what)
{
	fprintf(stderr, "udpstamp: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t to_ns(const struct timespec *ts)
{
	return ts->tv_sec * NSEC + ts->tv_nsec;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return to_ns(&ts);
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NSEC, .tv_nsec = ns % NSEC };

	while (now_ns() < ns)
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL);
}

/* The kernel's time stamp of a message, 0 if it has none. */
static uint64_t stamp(struct msghdr *msg)
{
	struct cmsghdr *c;
	struct timespec ts;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_SOCKET &&
		    c->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			return to_ns(&ts);
		}
	}
	return 0;
}

static int do_recv(int fd, const struct args *a)
{
	static unsigned char buf[FRAME_MAX];
	int size = 256 << 20, on = 1;
	uint64_t n;

	/* All of them fit, so that none is lost however late we read. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die("SO_RCVBUFFORCE");
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		die("SO_TIMESTAMPNS");
	if (bind(fd, (const struct sockaddr *)&a->addr, sizeof(a->addr)))
		die("bind");

	for (n = 0; n < a->packets; n++) {
		char control[CMSG_SPACE(sizeof(struct timespec))];
		struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		struct payload p;
		ssize_t len = recvmsg(fd, &msg, 0);

		if (len < (ssize_t)sizeof(p))
			die("recvmsg");
		memcpy(&p, buf, sizeof(p));
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", p.seq,
		       p.sent_ns - a->start, stamp(&msg) - a->start);
	}
	return 0;
}

static int do_send(int fd, const struct args *a)
{
	static unsigned char buf[FRAME_MAX];
	struct payload p;

	if (connect(fd, (const struct sockaddr *)&a->addr, sizeof(a->addr)))
		die("connect");
	if (a->start)
		sleep_until(a->start);
	for (p.seq = 0; p.seq < a->packets; p.seq++) {
		if (a->gap)
			sleep_until(a->start + p.seq * a->gap);
		p.sent_ns = now_ns();
		memcpy(buf, &p, sizeof(p));
		if (send(fd, buf, a->size - HEADERS, 0) < 0)
			die("send");
	}
	return 0;
}

static uint64_t number(const char *s, uint64_t lo, uint64_t hi)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || end == s || *end || v < lo || v > hi) {
		fprintf(stderr, "udpstamp: %s: a number from %" PRIu64 " to %" PRIu64 "\n",
			s, lo, hi);
		exit(2);
	}
	return v;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: udpstamp recv -p PORT -n PACKETS [-0 START]\n"
		"       udpstamp send -d ADDRESS -p PORT -n PACKETS [-s SIZE] [-g GAP] [-0 START]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct args a = {
		.addr = { .sin_family = AF_INET },
		.size = 1000,
	};
	int c, fd, sending;

	if (argc < 2)
		return usage();
	sending = !strcmp(argv[1], "send");
	if (!sending && strcmp(argv[1], "recv"))
		return usage();
	optind = 2;
	while ((c = getopt(argc, argv, "d:p:n:s:g:0:")) != -1) {
		switch (c) {
		case 'd':
			if (inet_pton(AF_INET, optarg, &a.addr.sin_addr) != 1)
				return usage();
			break;
		case 'p':
			a.addr.sin_port = htons(number(optarg, 1, 65535));
			break;
		case 'n':
			a.packets = number(optarg, 1, UINT32_MAX);
			break;
		case 's':
			a.size = number(optarg, HEADERS + sizeof(struct payload),
					FRAME_MAX);
			break;
		case 'g':
			a.gap = number(optarg, 1, 10 * NSEC);
			break;
		case '0':
			a.start = number(optarg, 0, INT64_MAX);
			break;
		default:
			return usage();
		}
	}
	if (!a.addr.sin_port || !a.packets || optind != argc ||
	    (sending && !a.addr.sin_addr.s_addr))
		return usage();
	if (sending && a.gap && !a.start)
		a.start = now_ns();

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		die("socket");
	return sending ? do_send(fd, &a) : do_recv(fd, &a);
}
