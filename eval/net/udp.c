// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving UDP: what arrived, and exactly when.
 */
#define _GNU_SOURCE	/* recvmmsg */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "flow.h"
#include "input.h"

static uint64_t real_offset;

uint32_t packet_payload(const struct flow *f, uint32_t seq)
{
	uint64_t left = f->bytes - (uint64_t)seq * opt.packet;
	uint32_t frame = left < opt.packet ? left : opt.packet;

	if (frame < FRAME_MIN)
		frame = FRAME_MIN;
	/* TCP's header alone is longer than the shortest frame. */
	return frame > opt.header ? frame - opt.header : 1;
}

void udp_listen(void)
{
	struct sockaddr_in any = sock_addr(INADDR_ANY, DATA_PORT);
	int size = 1 << 30, on = 1;
	uint32_t h;

	real_offset = realtime_offset();
	for (h = 0; h < n_hosts; h++) {
		int fd = host_socket(&hosts[h], SOCK_DGRAM);

		if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size,
			       sizeof(size)) ||
		    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size,
			       sizeof(size)) ||
		    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
			die("setsockopt");
		if (bind(fd, (struct sockaddr *)&any, sizeof(any)))
			die("bind");
		hosts[h].rx = fd;
	}
}

/* Take up to BATCH packets. Only the start of each is copied: its length is
 * known all the same.
 */
int udp_receive(int fd, struct arrival *arrivals)
{
	static struct {
		char control[CMSG_SPACE(sizeof(struct timespec))];
	} controls[BATCH];
	static struct mmsghdr msgs[BATCH];
	static struct iovec iov[BATCH];
	struct cmsghdr *cmsg;
	struct timespec ts;
	int i, n;

	for (i = 0; i < BATCH; i++) {
		iov[i].iov_base = &arrivals[i].packet;
		iov[i].iov_len = sizeof(arrivals[i].packet);
		msgs[i].msg_hdr = (struct msghdr){
			.msg_name = &arrivals[i].from,
			.msg_namelen = sizeof(arrivals[i].from),
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_control = &controls[i],
			.msg_controllen = sizeof(controls[i]),
		};
	}
	n = recvmmsg(fd, msgs, BATCH, MSG_TRUNC | MSG_DONTWAIT, NULL);
	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED)
			return 0;
		die("recvmmsg");
	}
	for (i = 0; i < n; i++) {
		arrivals[i].len = msgs[i].msg_len;
		arrivals[i].when = 0;
		for (cmsg = CMSG_FIRSTHDR(&msgs[i].msg_hdr); cmsg;
		     cmsg = CMSG_NXTHDR(&msgs[i].msg_hdr, cmsg)) {
			if (cmsg->cmsg_level != SOL_SOCKET ||
			    cmsg->cmsg_type != SO_TIMESTAMPNS)
				continue;
			memcpy(&ts, CMSG_DATA(cmsg), sizeof(ts));
			arrivals[i].when = ts.tv_sec * NSEC_PER_SEC +
					   ts.tv_nsec - real_offset;
		}
	}
	return n;
}

/* A packet that the flow was waiting for, or an open-loop packet. */
void udp_count(struct flow *f, const struct arrival *a)
{
	uint64_t wire = a->len + opt.header, t = a->when - opt.start;

	if (f->got == f->packets)
		return;
	if (f->first == NEVER)
		f->first = a->when;
	f->newest = a->when;
	f->got_bytes += wire;
	if (t >= opt.from && t < opt.to)
		f->measured += wire;
	if (++f->got == f->packets) {
		f->last = a->when;
		n_done++;
	}
}

/* Send some packets from f->next on. Returns how many: 0 if the socket's
 * buffer is full. What the qdisc drops counts as sent.
 */
int udp_send(struct flow *f, uint32_t at_most)
{
	static char buffer[GSO_SEGMENTS * PAYLOAD_MAX];
	uint32_t n = f->packets - f->next, i, len = 0;

	if (n > at_most)
		n = at_most;
	if (n > (opt.gso ? GSO_SEGMENTS : 1))
		n = opt.gso ? GSO_SEGMENTS : 1;
	for (i = 0; i < n; i++) {
		struct packet p = { .flow = f - flows, .seq = f->next + i };
		uint64_t sent = (uint64_t)p.seq * opt.packet;

		bfc_size_put_udp(p.told, bfc_size_code(f->bytes - sent));
		memcpy(buffer + len, &p, sizeof(p));
		len += packet_payload(f, f->next + i);
	}
	if (send(f->fd, buffer, len, MSG_DONTWAIT) < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED)
			return 0;
		if (errno != ENOBUFS)
			die("send");
	}
	f->next += n;
	return n;
}
