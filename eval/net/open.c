// SPDX-License-Identifier: GPL-2.0
/*
 * The open-loop source: a flow is given to the qdisc of its host as fast as
 * that takes it, with nothing but the network's backpressure to slow it down
 * (BFC §6.1: "no end-to-end congestion control").
 *
 * The process looks at senders and receivers once a tick. No packet notices:
 * arrivals carry the kernel's time stamps, and a socket's buffer holds more
 * than its link can carry in a tick, so that it does not run dry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "flow.h"
#include "input.h"

/* Returns true when all has been sent. */
static bool push(struct flow *f)
{
	while (f->next < f->packets)
		if (!udp_send(f, f->packets - f->next))
			return false;
	return true;
}

static void arrived(const struct arrival *a)
{
	struct flow *f;

	if (a->packet.flow >= n_flows)
		return;
	f = &flows[a->packet.flow];
	if (a->packet.seq < f->expected)
		f->reordered++;
	else
		f->expected = a->packet.seq + 1;
	udp_count(f, a);
	/* Not before: the next flow would stand behind this one's packets. */
	if (f->got == f->packets && f->fd >= 0)
		flow_socket_free(f);
}

static void receive_all(int epoll)
{
	static struct arrival arrivals[BATCH];
	static struct epoll_event events[BATCH];
	int i, j, n, got;

	do {
		n = epoll_wait(epoll, events, BATCH, 0);
		for (i = 0; i < n; i++) {
			do {
				got = udp_receive(hosts[events[i].data.u32].rx,
						  arrivals);
				for (j = 0; j < got; j++)
					arrived(&arrivals[j]);
			} while (got == BATCH);
		}
	} while (n == BATCH);
}

void open_run(void)
{
	uint32_t started = 0, n_active = 0, room = 0, i;
	uint64_t tick = opt.start, next, now;
	struct flow **active = NULL;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		die("epoll");
	udp_listen();
	for (i = 0; i < n_hosts; i++) {
		struct epoll_event ev = { .events = EPOLLIN, .data.u32 = i };

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, hosts[i].rx, &ev))
			die("epoll_ctl");
	}

	for (;;) {
		next = tick;
		if (started < n_flows &&
		    opt.start + flows[started].start < next)
			next = opt.start + flows[started].start;
		sleep_until(next);
		now = now_ns();
		while (started < n_flows &&
		       opt.start + flows[started].start <= now) {
			struct flow *f = &flows[started++];

			flow_socket(f);
			if (push(f))
				continue;
			if (n_active == room) {
				room = room ? 2 * room : 256;
				active = realloc(active, room *
						 sizeof(*active));
				if (!active)
					die("realloc");
			}
			active[n_active++] = f;
		}
		if (now < tick)
			continue;
		for (i = 0; i < n_active;) {
			if (push(active[i]))
				active[i] = active[--n_active];
			else
				i++;
		}
		receive_all(epoll);
		show_progress(now, false);
		if (n_done == n_flows || now >= opt.start + opt.until)
			break;
		tick = now + opt.tick;
	}
	free(active);
}
