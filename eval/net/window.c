// SPDX-License-Identifier: GPL-2.0
/*
 * The windowed source: every packet is acknowledged, at most a window is under
 * way, a gap at the receiver makes the sender go back to it (go-back-N, BFC
 * §6.2.1). Without loss it is the source of BFC's Ideal-FQ: "the NICs cap the
 * in-flight packets of a flow to 1 BDP".
 *
 * Here every packet matters at once: the process wakes up for each.
 */
#define _GNU_SOURCE	/* in_pktinfo */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "flow.h"
#include "input.h"

#define HOST_EVENT	(1ULL << 32)	/* epoll data: a host, not a socket */

static uint32_t *fd_flow;		/* flow + 1 that a socket belongs to */
static size_t n_fd_flow;
static struct flow **active;
static uint32_t n_active, active_room;

static void remember(int epoll, struct flow *f)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = f->fd };
	size_t n = n_fd_flow;

	if ((size_t)f->fd >= n) {
		n = 2 * f->fd + 64;
		fd_flow = realloc(fd_flow, n * sizeof(*fd_flow));
		if (!fd_flow)
			die("realloc");
		memset(fd_flow + n_fd_flow, 0,
		       (n - n_fd_flow) * sizeof(*fd_flow));
		n_fd_flow = n;
	}
	/* A socket stays in the set when its flow has ended. */
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, f->fd, &ev) && errno != EEXIST)
		die("epoll_ctl");
	fd_flow[f->fd] = f - flows + 1;

	if (n_active == active_room) {
		active_room = active_room ? 2 * active_room : 256;
		active = realloc(active, active_room * sizeof(*active));
		if (!active)
			die("realloc");
	}
	active[n_active++] = f;
}

static uint32_t window_packets(void)
{
	uint32_t n = opt.window / opt.packet;

	return n ? n : 1;
}

static void pump(struct flow *f)
{
	uint32_t window = window_packets();

	while (f->next < f->packets && f->next - f->una < window)
		if (!udp_send(f, window - (f->next - f->una)))
			return;
}

static void send_ack(struct flow *f, struct sockaddr_in *to, bool nack)
{
	char control[CMSG_SPACE(sizeof(struct in_pktinfo))] = {};
	char payload[FRAME_MIN] = {};
	struct packet ack = {
		.flow = f - flows, .seq = f->expected, .nack = nack,
	};
	struct iovec iov = {
		.iov_base = payload, .iov_len = FRAME_MIN - opt.header,
	};
	struct msghdr msg = {
		.msg_name = to, .msg_namelen = sizeof(*to),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	struct in_pktinfo info = { .ipi_spec_dst.s_addr = htonl(f->daddr) };

	/* From the address that the sender is connected to. */
	cmsg->cmsg_level = IPPROTO_IP;
	cmsg->cmsg_type = IP_PKTINFO;
	cmsg->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
	bfc_size_put_udp(ack.told, 0);
	memcpy(payload, &ack, sizeof(ack));
	if (sendmsg(hosts[f->dst].rx, &msg, MSG_DONTWAIT) < 0 &&
	    errno != EAGAIN && errno != ENOBUFS && errno != ECONNREFUSED)
		die("ACK");
}

static void receive_data(struct host *host)
{
	static struct arrival arrivals[BATCH];
	int i, n;

	do {
		n = udp_receive(host->rx, arrivals);
		for (i = 0; i < n; i++) {
			struct arrival *a = &arrivals[i];
			struct flow *f;

			if (a->packet.flow >= n_flows)
				continue;
			f = &flows[a->packet.flow];
			if (a->packet.seq == f->expected) {
				f->expected++;
				f->nacked = false;
				udp_count(f, a);
			} else if (a->packet.seq > f->expected) {
				if (f->nacked)
					continue;
				f->nacked = true;
				f->reordered++;
				send_ack(f, &a->from, true);
				continue;
			}
			send_ack(f, &a->from, false);
		}
	} while (n == BATCH);
}

static void end_flow(struct flow *f, uint64_t now)
{
	f->acked = now;
	fd_flow[f->fd] = 0;
	flow_socket_free(f);
}

/* One at a time, as they come: epoll tells if there is another. */
static void receive_ack(int fd, uint64_t now)
{
	struct packet ack;
	struct flow *f;
	ssize_t n;

	n = recv(fd, &ack, sizeof(ack), MSG_DONTWAIT | MSG_TRUNC);
	/* None, an ICMP error, or of the flow before. */
	if (n < (ssize_t)sizeof(ack) || !fd_flow[fd] ||
	    fd_flow[fd] != ack.flow + 1)
		return;
	f = &flows[ack.flow];
	if (ack.seq > f->una && ack.seq <= f->packets) {
		f->una = ack.seq;
		f->progress = now;
		if (f->next < f->una)
			f->next = f->una;
	}
	if (ack.nack && ack.seq == f->una && f->next > f->una) {
		f->resent += f->next - f->una;
		f->next = f->una;
	}
	if (f->una == f->packets)
		end_flow(f, now);
	else
		pump(f);
}

/* Forget what has ended, send again what has been lost. */
static void check_active(uint64_t now)
{
	uint32_t i = 0;

	while (i < n_active) {
		struct flow *f = active[i];

		if (f->acked != NEVER) {
			active[i] = active[--n_active];
			continue;
		}
		if (now - f->progress >= opt.rto) {
			f->resent += f->next - f->una;
			f->next = f->una;
			f->progress = now;
			pump(f);
		}
		i++;
	}
}

void window_run(void)
{
	static struct epoll_event events[BATCH];
	uint64_t tick = opt.rto / 2 ?: 1, check = opt.start + tick, now, next;
	int epoll = epoll_create1(EPOLL_CLOEXEC), i, n;
	uint32_t started = 0, h;

	if (epoll < 0)
		die("epoll");
	udp_listen();
	for (h = 0; h < n_hosts; h++) {
		struct epoll_event ev = {
			.events = EPOLLIN, .data.u64 = HOST_EVENT | h,
		};

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, hosts[h].rx, &ev))
			die("epoll_ctl");
	}
	sleep_until(opt.start);
	now = now_ns();

	/* Looking at the clock costs as much as sending a packet: once a round. */
	while (n_done < n_flows || n_active) {
		while (started < n_flows &&
		       opt.start + flows[started].start <= now) {
			struct flow *f = &flows[started++];

			flow_socket(f);
			f->progress = now;
			remember(epoll, f);
			pump(f);
		}
		if (now >= check) {
			check_active(now);
			check = now + tick;
		}
		show_progress(now, false);
		if (now >= opt.start + opt.until)
			break;

		next = check;
		if (started < n_flows &&
		    opt.start + flows[started].start < next)
			next = opt.start + flows[started].start;
		n = wait_events(epoll, events, next);
		now = now_ns();
		for (i = 0; i < n; i++) {
			if (events[i].data.u64 & HOST_EVENT)
				receive_data(&hosts[(uint32_t)events[i].data.u64]);
			else
				receive_ack(events[i].data.u64, now);
		}
	}
	free(active);
	free(fd_flow);
}
