// SPDX-License-Identifier: GPL-2.0
/*
 * Time, namespaces and sockets.
 */
#define _GNU_SOURCE	/* setns */
#include <errno.h>
#include <fcntl.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"
#include "input.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* What to take from the time stamp of a packet to have CLOCK_MONOTONIC. The
 * clocks are read one after the other: of some tries the closest is right.
 */
uint64_t realtime_offset(void)
{
	uint64_t best = NEVER, offset = 0;
	int i;

	for (i = 0; i < 16; i++) {
		uint64_t before = now_ns();
		uint64_t real = clock_ns(CLOCK_REALTIME);
		uint64_t after = now_ns();

		if (after - before < best) {
			best = after - before;
			offset = real - before - best / 2;
		}
	}
	return offset;
}

void sleep_until(uint64_t when)
{
	struct timespec ts = {
		.tv_sec = when / NSEC_PER_SEC,
		.tv_nsec = when % NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

/* epoll_wait() until a time, exactly: its own time-out may be 0.1 % late. */
int wait_events(int epoll, struct epoll_event *events, uint64_t when)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = NEVER };
	struct itimerspec spec = {
		.it_value.tv_sec = when / NSEC_PER_SEC,
		.it_value.tv_nsec = when % NSEC_PER_SEC,
	};
	static int timer = -1;
	static uint64_t armed;
	int i, n, kept = 0;

	if (timer < 0) {
		timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (timer < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &ev))
			die("timerfd");
	}
	if (when != armed) {
		if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL))
			die("timerfd_settime");
		armed = when;
	}
	n = epoll_wait(epoll, events, BATCH, -1);
	for (i = 0; i < n; i++) {
		if (events[i].data.u64 == NEVER)
			armed = 0;	/* setting it again makes it quiet */
		else
			events[kept++] = events[i];
	}
	return kept;
}

/* For the program that waits outside: simulated time says little about real time. The
 * first call and the last, with @end, are always told: how long all took is
 * measured there.
 */
void show_progress(uint64_t now, bool end)
{
	static uint64_t next;
	uint64_t step = opt.until / 200 + 1;

	if (now < opt.start + next && !end)
		return;
	printf("progress %ju %ju %u %u\n", now - opt.start, opt.until, n_done,
	       n_flows);
	fflush(stdout);
	next = (now - opt.start) / step * step + step;
}

void hosts_open(void)
{
	struct rlimit limit = { .rlim_cur = 1 << 20, .rlim_max = 1 << 20 };
	char path[64];
	uint32_t h;

	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		getrlimit(RLIMIT_NOFILE, &limit);
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (h = 0; h < n_hosts; h++) {
		snprintf(path, sizeof(path), "/run/netns/%s", hosts[h].name);
		hosts[h].ns = open(path, O_RDONLY | O_CLOEXEC);
		if (hosts[h].ns < 0)
			usage_error("no host %s: %m", hosts[h].name);
	}
}

/* A socket in the host's namespace. */
int host_socket(struct host *host, int type)
{
	int fd;

	if (setns(host->ns, CLONE_NEWNET))
		die("setns");
	fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket");
	return fd;
}

struct sockaddr_in sock_addr(uint32_t ip, uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(ip),
	};

	return addr;
}

/* ---- the sockets that flows are sent from ---- */

/**
 * struct pool - idle sockets of a host that send from one address
 * @addr: the address
 * @ring: the sockets. The one idle for longest is used first, so that no
 *	packet of its last flow is still under way
 * @n: their number
 * @head: position of the first
 * @room: allocated, a power of two
 * @next: the host's next pool
 */
struct pool {
	uint32_t addr;
	int *ring;
	unsigned int n, head, room;
	struct pool *next;
};

/* A host has a few addresses only. */
static struct pool *find_pool(struct host *host, uint32_t addr)
{
	struct pool *pool;

	for (pool = host->pools; pool; pool = pool->next)
		if (pool->addr == addr)
			return pool;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		die("calloc");
	pool->addr = addr;
	pool->next = host->pools;
	host->pools = pool;
	return pool;
}

static int new_flow_socket(struct host *host, uint32_t addr)
{
	struct sockaddr_in from = sock_addr(addr, 0);
	int fd = host_socket(host, SOCK_DGRAM);

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &opt.sockbuf,
		       sizeof(opt.sockbuf)))
		die("SO_SNDBUFFORCE");
	/* A port of its own for good: it makes the flow one. */
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)))
		die("bind");
	if (opt.gso) {
		int size = opt.packet - opt.header;

		if (setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof(size)))
			die("UDP_SEGMENT");
	}
	return fd;
}

/* Give a flow a socket that is connected to its receiver. */
int flow_socket(struct flow *f)
{
	struct pool *pool = find_pool(&hosts[f->src], f->saddr);
	struct sockaddr_in to = sock_addr(f->daddr, DATA_PORT);

	if (pool->n) {
		f->fd = pool->ring[pool->head];
		pool->head = (pool->head + 1) & (pool->room - 1);
		pool->n--;
	} else {
		f->fd = new_flow_socket(&hosts[f->src], f->saddr);
	}
	if (opt.dscp) {
		int tos = f->dscp << 2;	/* the socket's last flow may have had another */

		if (setsockopt(f->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)))
			die("IP_TOS");
	}
	if (connect(f->fd, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	return f->fd;
}

void flow_socket_free(struct flow *f)
{
	struct pool *pool = find_pool(&hosts[f->src], f->saddr);
	unsigned int i, room = pool->room;

	if (pool->n == room) {
		int *bigger = calloc(room ? 2 * room : 16, sizeof(*bigger));

		if (!bigger)
			die("calloc");
		for (i = 0; i < room; i++)
			bigger[i] = pool->ring[(pool->head + i) & (room - 1)];
		free(pool->ring);
		pool->ring = bigger;
		pool->head = 0;
		pool->room = room ? 2 * room : 16;
	}
	pool->ring[(pool->head + pool->n++) & (pool->room - 1)] = f->fd;
	f->fd = -1;
}
