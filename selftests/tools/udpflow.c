// SPDX-License-Identifier: GPL-2.0
/*
 * udpflow - UDP flows that know what was lost, reordered and late.
 *
 *   udpflow recv -p PORT [-n PACKETS] [-t SECONDS] [-i IDLE]
 *	until PACKETS came, SECONDS went by, nothing came for IDLE seconds
 *	after the first one, or SIGTERM; prints one JSON object
 *   udpflow send -d ADDRESS -p PORT [-f FLOWS] [-F FIRST] [-n PACKETS]
 *		  [-t SECONDS] [-s SIZE] [-r BITS/S] [-b SNDBUF] [-P PRIORITY]
 *		  [-R REMAINING]
 *	PACKETS of each flow, or for SECONDS, or until SIGTERM; SIZE is the UDP
 *	payload; without -r as fast as the sockets take it: a qdisc that holds packets back
 *	holds their flow's socket back, and no other. With -R packets tell what
 *	their flow has yet to send (<linux/bfc_size.h>), as if REMAINING bytes were
 *	to follow behind PACKETS
 *
 * A flow is a socket of its own (source port) and a number in the payload,
 * from FIRST on. Latency is from send() to recv() on the one clock that all
 * namespaces of a machine share.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/bfc_size.h>

#include "tool.h"

#define FLOWS_MAX	4096
#define UNBLOCKED_MAX	1000	/* packets sent without a rest */
#define SIZE_MAX_UDP	65000
#define SAMPLES_MAX	(1 << 20)

struct payload {
	uint32_t magic;
	uint32_t flow;
	uint64_t seq;
	uint64_t sent_ns;
};

#define MAGIC 0x42464355

struct flow {
	uint64_t packets, bytes, next, reordered, first_ns, last_ns, max_gap_ns;
};

static int resolve(const char *host, const char *port, int passive,
		   struct sockaddr_storage *addr, socklen_t *len)
{
	struct addrinfo hints = {
		.ai_family = passive ? AF_INET6 : AF_UNSPEC,
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = passive ? AI_PASSIVE : AI_NUMERICHOST,
	};
	struct addrinfo *ai;
	int err = getaddrinfo(host, port, &hints, &ai), family;

	if (err) {
		fprintf(stderr, "udpflow: %s: %s\n", host ? host : port,
			gai_strerror(err));
		exit(2);
	}
	memcpy(addr, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	family = ai->ai_family;
	freeaddrinfo(ai);
	return family;
}

static volatile sig_atomic_t told_to_end;

static void end(int signal)
{
	(void)signal;
	told_to_end = 1;
}

/* @max_gap: longest time without a packet of any flow, ns */
static void report(struct flow *flows, uint64_t max_gap, uint64_t *lat, uint64_t nlat)
{
	uint64_t packets = 0, bytes = 0, lost = 0, reordered = 0;
	uint64_t first = UINT64_MAX, last = 0, i;
	const char *sep = "";

	for (i = 0; i < FLOWS_MAX; i++) {
		struct flow *f = &flows[i];

		if (!f->packets)
			continue;
		packets += f->packets;
		bytes += f->bytes;
		lost += f->next - f->packets;
		reordered += f->reordered;
		if (f->first_ns < first)
			first = f->first_ns;
		if (f->last_ns > last)
			last = f->last_ns;
	}
	qsort(lat, nlat, sizeof(*lat), cmp_u64);
	printf("{\"packets\": %ju, \"bytes\": %ju, \"lost\": %ju, \"reordered\": %ju, ",
	       packets, bytes, lost, reordered);
	printf("\"seconds\": %.6f, \"max_gap_ms\": %.3f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"flows\": [",
	       last > first ? (last - first) / 1e9 : 0.0, max_gap / 1e6,
	       nlat ? lat[nlat / 2] / 1e3 : 0.0,
	       nlat ? lat[nlat * 99 / 100] / 1e3 : 0.0);
	for (i = 0; i < FLOWS_MAX; i++) {
		struct flow *f = &flows[i];

		if (!f->packets)
			continue;
		printf("%s{\"id\": %ju, \"packets\": %ju, \"bytes\": %ju, \"lost\": %ju, \"reordered\": %ju, \"seconds\": %.6f, \"max_gap_ms\": %.3f}",
		       sep, i, f->packets, f->bytes, f->next - f->packets,
		       f->reordered, (f->last_ns - f->first_ns) / 1e9,
		       f->max_gap_ns / 1e6);
		sep = ", ";
	}
	printf("]}\n");
}

static int do_recv(const char *port, uint64_t want, double seconds, double idle)
{
	static struct flow flows[FLOWS_MAX];
	static char buf[SIZE_MAX_UDP];
	uint64_t *lat = calloc(SAMPLES_MAX, sizeof(*lat)), nlat = 0, got = 0;
	uint64_t start = now_ns(), newest = 0, max_gap = 0, now;
	struct sockaddr_storage addr;
	int size = 16 << 20, zero = 0;
	socklen_t len;
	int fd;

	if (!lat)
		die("calloc");
	resolve(NULL, port, 1, &addr, &len);
	fd = socket(addr.ss_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("socket");
	setsockopt(fd, IPPROTO_IPV6, 26 /* IPV6_V6ONLY */, &zero, sizeof(zero));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&addr, len))
		die("bind");

	signal(SIGTERM, end);
	while (!told_to_end && (!want || got < want)) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		struct payload p;
		struct flow *f;
		ssize_t n;
		int at;

		now = now_ns();
		if (now - start > seconds * 1e9)
			break;
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				die("recv");
			/* With packets waiting it was this process that stood still. */
			if (newest && now - newest > idle * 1e9)
				break;
			poll(&pfd, 1, 20);
			continue;
		}
		at = n >= BFC_SIZE_UDP_LEN && bfc_size_get_udp((void *)buf) != BFC_SIZE_NONE ?
		     BFC_SIZE_UDP_LEN : 0;
		if (n < (ssize_t)(at + sizeof(p)))
			continue;
		memcpy(&p, buf + at, sizeof(p));
		if (p.magic != MAGIC || p.flow >= FLOWS_MAX)
			continue;
		now = now_ns();
		if (newest && now - newest > max_gap)
			max_gap = now - newest;
		newest = now;
		f = &flows[p.flow];
		if (!f->packets)
			f->first_ns = now;
		else if (now - f->last_ns > f->max_gap_ns)
			f->max_gap_ns = now - f->last_ns;
		if (p.seq < f->next)
			f->reordered++;
		else
			f->next = p.seq + 1;
		f->packets++;
		f->bytes += n;
		f->last_ns = now;
		got++;
		if (nlat < SAMPLES_MAX)
			lat[nlat++] = now - p.sent_ns;
	}
	report(flows, max_gap, lat, nlat);
	free(lat);
	close(fd);
	return 0;
}

struct send_args {
	const char *host, *port;
	unsigned int flows, first, size;
	uint64_t packets;
	double seconds, rate;
	int tells;		/* sizes: of what follows, and */
	uint64_t more;		/* so many bytes */
	int sndbuf, priority, tos;
};

static int do_send(const struct send_args *a)
{
	static char buf[SIZE_MAX_UDP];
	struct pollfd *pfd = calloc(a->flows, sizeof(*pfd));
	uint64_t *seq = calloc(a->flows, sizeof(*seq));
	int at = a->tells ? BFC_SIZE_UDP_LEN : 0;
	struct sockaddr_storage addr;
	uint64_t start, now, sent = 0, rested = 0;
	unsigned int i, open = a->flows;
	socklen_t len;
	int family;

	if (!pfd || !seq)
		die("calloc");
	family = resolve(a->host, a->port, 0, &addr, &len);
	for (i = 0; i < a->flows; i++) {
		int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0);

		if (fd < 0)
			die("socket");
		if (a->sndbuf)
			setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &a->sndbuf,
				   sizeof(a->sndbuf));
		if (a->priority)
			setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &a->priority,
				   sizeof(a->priority));
		if (a->tos)
			setsockopt(fd, IPPROTO_IP, IP_TOS, &a->tos,
				   sizeof(a->tos));
		if (connect(fd, (struct sockaddr *)&addr, len))
			die("connect");
		pfd[i].fd = fd;
		pfd[i].events = POLLOUT;
	}

	signal(SIGTERM, end);
	start = now_ns();
	while (open) {
		int blocked = 1;

		for (i = 0; i < a->flows; i++) {
			struct payload p = { .magic = MAGIC,
					     .flow = a->first + i,
					     .seq = seq[i] };

			if (pfd[i].fd < 0)
				continue;
			now = now_ns();
			if (told_to_end || (a->packets && seq[i] >= a->packets) ||
			    (a->seconds && now - start > a->seconds * 1e9)) {
				close(pfd[i].fd);
				pfd[i].fd = -1;
				open--;
				continue;
			}
			if (a->rate) {
				double due = start + sent * a->size * 8e9 / a->rate;

				if (due > now + 100000) {
					struct timespec ts = {
						.tv_nsec = due - now < 5e8 ?
							   due - now : 5e8,
					};

					nanosleep(&ts, NULL);
					rested = sent;
				}
			}
			p.sent_ns = now_ns();
			if (at)
				bfc_size_put_udp((void *)buf,
						 bfc_size_code(a->more + (a->packets - seq[i]) *
							       a->size));
			memcpy(buf + at, &p, sizeof(p));
			if (send(pfd[i].fd, buf, a->size, 0) >= 0) {
				seq[i]++;
				sent++;
				blocked = 0;
			} else if (errno != EAGAIN && errno != ENOBUFS &&
				   errno != EINTR && errno != ECONNREFUSED) {
				die("send");
			}
		}
		if (blocked && open)
			poll(pfd, a->flows, 20);
		/* A port that drops, for want of a carrier for one, never holds
		 * us back: the processor has better things to do, and a
		 * simulated clock does not move meanwhile.
		 */
		if (blocked) {
			rested = sent;
		} else if (sent - rested > UNBLOCKED_MAX) {
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
			rested = sent;
		}
	}
	printf("{\"sent\": %ju, \"seconds\": %.6f}\n", sent,
	       (now_ns() - start) / 1e9);
	free(pfd);
	free(seq);
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: udpflow recv -p PORT [-n PACKETS] [-t SECONDS] [-i IDLE]\n"
		"       udpflow send -d ADDRESS -p PORT [-f FLOWS] [-F FIRST] [-n PACKETS]\n"
		"                    [-t SECONDS] [-s SIZE] [-r BITS/S] [-b SNDBUF] [-P PRIORITY]\n"
		"                    [-T TOS] [-R REMAINING]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct send_args a = { .flows = 1, .size = 1000 };
	double seconds = 60, idle = 2;
	uint64_t packets = 0;
	int c, timed = 0;

	if (argc < 2)
		return usage();
	optind = 2;
	while ((c = getopt(argc, argv, "d:p:f:F:n:t:s:r:b:P:T:i:R:")) != -1) {
		switch (c) {
		case 'd':
			a.host = optarg;
			break;
		case 'p':
			a.port = optarg;
			break;
		case 'f':
			a.flows = number(optarg, "-f", 1, FLOWS_MAX);
			break;
		case 'F':
			a.first = number(optarg, "-F", 0, FLOWS_MAX - 1);
			break;
		case 'n':
			packets = number(optarg, "-n", 1, 1e12);
			break;
		case 't':
			seconds = number(optarg, "-t", 0.001, 1e6);
			timed = 1;
			break;
		case 's':
			a.size = number(optarg, "-s", sizeof(struct payload), SIZE_MAX_UDP);
			break;
		case 'r':
			a.rate = number(optarg, "-r", 1, 1e12);
			break;
		case 'b':
			a.sndbuf = number(optarg, "-b", 1024, 1e9);
			break;
		case 'P':
			a.priority = number(optarg, "-P", 0, 15);
			break;
		case 'T':
			a.tos = number(optarg, "-T", 0, 255);
			break;
		case 'R':
			a.more = number(optarg, "-R", 0, 1e15);
			a.tells = 1;
			break;
		case 'i':
			idle = number(optarg, "-i", 0.01, 1e6);
			break;
		default:
			return usage();
		}
	}
	if (!a.port || a.first + a.flows > FLOWS_MAX)
		return usage();
	if (!strcmp(argv[1], "recv"))
		return do_recv(a.port, packets, seconds, idle);
	if (strcmp(argv[1], "send") || !a.host || (!packets && !timed))
		return usage();
	if (a.tells && (!packets || a.size < BFC_SIZE_UDP_LEN + sizeof(struct payload))) {
		fprintf(stderr, "udpflow: -R needs -n, and -s of %zu at least\n",
			BFC_SIZE_UDP_LEN + sizeof(struct payload));
		return 2;
	}
	a.packets = packets;
	a.seconds = timed ? seconds : 0;
	return do_send(&a);
}
