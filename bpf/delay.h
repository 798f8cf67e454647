/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simple end-to-end congestion control that BFC may be combined with
 * (BFC App. A.1, Alg. 1): keeps the round-trip time near 2.5 times that of the
 * empty network, so that flows do not send much more into the network than it
 * can use. It need not be quick, exact or fair: BFC is.
 *
 * Pure arithmetic, without floating point: compiled into eBPF programs and into
 * the unit tests. A window counts 2^-16 packets. |RTT - target| is below 2^32,
 * the packets of an ACK are at most 2^15: with the 16 bits of the fraction 2^63.
 * A step is rounded towards no change, by less than 2^-16 packet.
 *
 * Context of all functions: the socket is locked.
 */
#ifndef BFC_DELAY_H
#define BFC_DELAY_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DELAY_W_SHIFT		16
#define DELAY_PACKET		(1ULL << DELAY_W_SHIFT)
#define DELAY_W_MAX		(1ULL << 40)	/* 16 M packets */

/*
 * Smallest window: two packets. A Linux receiver acknowledges at once only what is
 * more than one full segment; a single one waits for 40 ms (TCP_DELACK_MIN) unless
 * its route has "quickack". With one packet in flight this may be each sample of
 * the RTT, far above the target, and w would not grow again.
 */
#define DELAY_W_MIN		(2 * DELAY_PACKET)

#define DELAY_ACKED_MAX		(1U << 15)
#define DELAY_RTT_MIN		100U		/* ns */
#define DELAY_RTT_MAX		1000000000U
#define DELAY_TARGET_DEFAULT	2500U		/* thousandths of the base RTT */
#define DELAY_TARGET_MAX	100000U

/**
 * struct delay_conf - parameters, of all senders of a network
 * @w_init: 1 BDP, 2^-16 packet, DELAY_W_MIN at least
 * @w_max: the window at which a flow alone has the target RTT. The paper has no
 *	   such limit, but the window of a sender with little to send would grow
 *	   without end
 * @target: RTTTarget, ns
 * @reserved: 0
 */
struct delay_conf {
	__u64 w_init;
	__u64 w_max;
	__u32 target;
	__u32 reserved;
};

/**
 * struct delay - state of a sender
 * @w: 2^-16 packet, DELAY_W_MIN at least: the paper does not pace
 * @prior: @w before the last loss, 0 = none yet
 */
struct delay {
	__u64 w;
	__u64 prior;
};

/**
 * delay_configure() - parameters by the paper's rules
 * @c: result
 * @rate: of the host's link, bytes/s, up to 800 Gbit/s
 * @base: RTT of the empty network, ns, DELAY_RTT_MIN to DELAY_RTT_MAX
 * @factor: target RTT, thousandths of @base, 1001 to DELAY_TARGET_MAX
 * @packet: bytes of a full packet on the wire, 64 at least
 *
 * Return: the name of the parameter that is not in its range, else NULL.
 */
static inline const char *delay_configure(struct delay_conf *c, __u64 rate,
					  __u32 base, __u32 factor,
					  __u32 packet)
{
	__u64 target = (__u64)base * factor / 1000, whole, part;

	if (!rate || rate > 100000000000ULL)
		return "rate";
	if (base < DELAY_RTT_MIN || base > DELAY_RTT_MAX)
		return "base RTT";
	if (factor <= 1000 || factor > DELAY_TARGET_MAX || target >> 32)
		return "target";
	if (packet < 64)
		return "packet";
	/* rate x base may have 67 bits */
	whole = rate / 1000000000U * base;
	part = rate % 1000000000U * base / 1000000000U;
	c->w_init = ((whole + part) << DELAY_W_SHIFT) / packet;
	if (c->w_init < DELAY_W_MIN)
		c->w_init = DELAY_W_MIN;
	if (c->w_init > DELAY_W_MAX)
		c->w_init = DELAY_W_MAX;
	c->w_max = c->w_init * factor / 1000;
	if (c->w_max > DELAY_W_MAX)
		c->w_max = DELAY_W_MAX;
	c->target = target;
	c->reserved = 0;
	return (void *)0;
}

/**
 * delay_init() - a connection starts: with 1 BDP
 * @s: result
 * @c: parameters
 */
static inline void delay_init(struct delay *s, const struct delay_conf *c)
{
	s->w = c->w_init;
	s->prior = 0;
}

/**
 * delay_new_ack() - an ACK with a sample of the RTT
 * @s: state, changed
 * @c: parameters
 * @rtt: ns; 0: no sample, nothing is done
 * @acked: packets that it acknowledges, which Alg. 1 counts one by one:
 *	   w changes by (RTTTarget - RTT)/RTT for each
 *
 * At RTT = @rtt all through, w goes from w to about w x RTTTarget/RTT within an
 * RTT.
 */
static inline void delay_new_ack(struct delay *s, const struct delay_conf *c,
				 __u64 rtt, __u32 acked)
{
	__u64 step;

	if (rtt >> 32)
		rtt = ~0U;
	if (!rtt)
		return;
	if (acked > DELAY_ACKED_MAX)
		acked = DELAY_ACKED_MAX;
	if (rtt > c->target) {
		step = ((rtt - c->target) * acked << DELAY_W_SHIFT) / rtt;
		s->w = s->w > step + DELAY_W_MIN ? s->w - step : DELAY_W_MIN;
	} else {
		step = ((c->target - rtt) * acked << DELAY_W_SHIFT) / rtt;
		s->w = s->w + step < c->w_max ? s->w + step : c->w_max;
	}
}

/**
 * delay_loss() - packets were lost
 * @s: state, changed
 *
 * Called once per recovery. Alg. 1 does not cover loss: halve the window, as
 * Reno does.
 */
static inline void delay_loss(struct delay *s)
{
	s->prior = s->w;
	s->w = s->w / 2 > DELAY_W_MIN ? s->w / 2 : DELAY_W_MIN;
}

/**
 * delay_undo() - the packets had not been lost, but overtaken or late
 * @s: state, changed: undoes the last delay_loss(), if there was one
 */
static inline void delay_undo(struct delay *s)
{
	if (s->w < s->prior)
		s->w = s->prior;
}

/**
 * delay_packets() - the window in whole packets
 * @s: state
 *
 * Return: rounded down, two at least.
 */
static inline __u32 delay_packets(const struct delay *s)
{
	__u64 w = s->w > DELAY_W_MIN ? s->w : DELAY_W_MIN;

	return w >> DELAY_W_SHIFT;
}

#endif /* BFC_DELAY_H */
