/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN's reaction point (Zhu et al., SIGCOMM 2015, §3), as NICs have it (the
 * simulator of HPCC's authors, "Mellanox's version"): alpha follows, in steps of a
 * fixed time, whether there was a notification; rates are cut once in a while at most;
 * and the target stays where it is while cuts follow each other.
 *
 * No timer is needed: updates that were due since the last ACK are made with
 * the next one.
 *
 * Pure arithmetic, without floating point: compiled into the simulator's module and
 * into the unit tests. Rates are bytes/s, below 2^37; times are ns.
 *
 * Context of all functions: the socket is locked.
 */
#ifndef BFC_DCQCN_H
#define BFC_DCQCN_H

#include <linux/types.h>

#define DCQCN_RATE_MAX		100000000000ULL	/* bytes/s: 800 Gbit/s */
#define DCQCN_ALPHA_SHIFT	24
#define DCQCN_ALPHA_ONE		(1U << DCQCN_ALPHA_SHIFT)
#define DCQCN_G_SHIFT		16
#define DCQCN_NS_MAX		1000000000U	/* of a period */
#define DCQCN_STAGE_MAX		0xffffU

/**
 * struct dcqcn_conf - parameters, of all senders of a network
 * @rate: of the host's link, the largest rate
 * @min: the smallest rate
 * @ai: R_AI, of an additive increase
 * @hai: R_HAI, of a hyper increase
 * @bytes: B of the byte counter, 0 = none, as in HPCC's simulator
 * @g: weight of what is new in alpha, 2^-16
 * @fast: F, iterations of fast recovery
 * @alpha_ns: time between updates of alpha
 * @cut_ns: least time between decreases. In the paper the receiver ensures
 *	    this: it sends a notification every 50 us at most
 * @timer_ns: T, time between increases by the timer
 */
struct dcqcn_conf {
	__u64 rate;
	__u64 min;
	__u64 ai;
	__u64 hai;
	__u64 bytes;
	__u32 g;
	__u32 fast;
	__u32 alpha_ns;
	__u32 cut_ns;
	__u32 timer_ns;
};

/**
 * struct dcqcn - state of a sender
 * @rc: R_C, the current rate
 * @rt: R_T, the target
 * @alpha_next: when alpha is updated next; 0 = no notification yet
 * @cut_next: before this no decrease
 * @timer_next: when the timer increases the rate
 * @sent: bytes since the byte counter increased the rate
 * @alpha: 2^-24
 * @timer_stage: increases by the timer since the last decrease
 * @byte_stage: and by the byte counter
 * @notified: there was a notification since the last update of alpha
 */
struct dcqcn {
	__u64 rc;
	__u64 rt;
	__u64 alpha_next;
	__u64 cut_next;
	__u64 timer_next;
	__u64 sent;
	__u32 alpha;
	__u16 timer_stage;
	__u16 byte_stage;
	__u8 notified;
};

/**
 * dcqcn_check() - check parameters
 * @c: parameters
 *
 * Return: the name of the parameter that is not in its range, else NULL.
 */
static inline const char *dcqcn_check(const struct dcqcn_conf *c)
{
	if (!c->rate || c->rate > DCQCN_RATE_MAX)
		return "rate";
	if (!c->min || c->min > c->rate)
		return "min_rate";
	if (!c->ai || c->ai > c->rate)
		return "dcqcn_ai";
	if (!c->hai || c->hai > c->rate)
		return "dcqcn_hai";
	if (!c->g || c->g > 1U << DCQCN_G_SHIFT)
		return "dcqcn_g";
	if (c->fast > 1000)
		return "dcqcn_fast";
	if (!c->alpha_ns || c->alpha_ns > DCQCN_NS_MAX)
		return "dcqcn_alpha_ns";
	if (!c->cut_ns || c->cut_ns > DCQCN_NS_MAX)
		return "dcqcn_cut_ns";
	if (!c->timer_ns || c->timer_ns > DCQCN_NS_MAX)
		return "dcqcn_timer_ns";
	return (void *)0;
}

/**
 * dcqcn_init() - a connection starts, at line rate
 * @s: result
 * @c: parameters
 */
static inline void dcqcn_init(struct dcqcn *s, const struct dcqcn_conf *c)
{
	s->rc = c->rate;
	s->rt = c->rate;
	s->alpha_next = 0;
	s->cut_next = 0;
	s->timer_next = 0;
	s->sent = 0;
	s->alpha = DCQCN_ALPHA_ONE;
	s->timer_stage = 0;
	s->byte_stage = 0;
	s->notified = 0;
}

/* alpha = (1 - g) alpha, + g if notified, for each period that has passed. */
static inline void dcqcn_age(struct dcqcn *s, const struct dcqcn_conf *c, __u64 now)
{
	__u32 before;

	while (now >= s->alpha_next) {
		before = s->alpha;
		s->alpha -= (__u64)s->alpha * c->g >> DCQCN_G_SHIFT;
		if (s->notified)
			s->alpha += (__u64)DCQCN_ALPHA_ONE * c->g >> DCQCN_G_SHIFT;
		s->alpha_next += c->alpha_ns;
		/* alpha does not change any more: skip the periods left */
		if (s->alpha == before && !s->notified && now >= s->alpha_next)
			s->alpha_next += ((now - s->alpha_next) / c->alpha_ns + 1) * c->alpha_ns;
		s->notified = 0;
	}
}

/* Without the byte counter the timer decides alone. */
static inline void dcqcn_increase(struct dcqcn *s, const struct dcqcn_conf *c)
{
	__u32 most = s->timer_stage > s->byte_stage ? s->timer_stage : s->byte_stage;
	__u32 least = s->timer_stage < s->byte_stage ? s->timer_stage : s->byte_stage;

	if (!c->bytes)
		least = most;
	if (least > c->fast)
		s->rt += c->hai;
	else if (most >= c->fast)
		s->rt += c->ai;
	if (s->rt > c->rate)
		s->rt = c->rate;
	s->rc = (s->rc + s->rt) / 2;
}

static inline void dcqcn_recover(struct dcqcn *s, const struct dcqcn_conf *c, __u64 now,
				 __u64 sent)
{
	__u64 rc, rt;

	while (now >= s->timer_next) {
		rc = s->rc;
		rt = s->rt;
		dcqcn_increase(s, c);
		if (s->timer_stage < DCQCN_STAGE_MAX)
			s->timer_stage++;
		s->timer_next += c->timer_ns;
		/* at the highest rate: skip the periods left */
		if (s->rc == rc && s->rt == rt && rt == c->rate && now >= s->timer_next)
			s->timer_next += ((now - s->timer_next) / c->timer_ns + 1) * c->timer_ns;
	}
	if (!c->bytes)
		return;
	for (s->sent += sent; s->sent >= c->bytes; s->sent -= c->bytes) {
		dcqcn_increase(s, c);
		if (s->byte_stage < DCQCN_STAGE_MAX)
			s->byte_stage++;
	}
}

static inline void dcqcn_decrease(struct dcqcn *s, const struct dcqcn_conf *c, __u64 now)
{
	if (s->timer_stage || s->byte_stage)
		s->rt = s->rc;
	s->rc -= s->rc * s->alpha >> (DCQCN_ALPHA_SHIFT + 1);
	if (s->rc < c->min)
		s->rc = c->min;
	s->timer_stage = 0;
	s->byte_stage = 0;
	s->sent = 0;
	s->timer_next = now + c->timer_ns;
	s->cut_next = now + c->cut_ns;
}

/**
 * dcqcn_ack() - an ACK came
 * @s: state, changed
 * @c: parameters
 * @now: ns, not 0
 * @sent: bytes that were sent since the last one
 * @marked: it reports a packet that was marked
 */
static inline void dcqcn_ack(struct dcqcn *s, const struct dcqcn_conf *c, __u64 now,
			     __u64 sent, bool marked)
{
	if (!s->alpha_next) {
		if (!marked)
			return;
		s->alpha_next = now + c->alpha_ns;
		dcqcn_decrease(s, c, now);
		return;
	}
	dcqcn_age(s, c, now);
	dcqcn_recover(s, c, now, sent);
	if (!marked)
		return;
	s->notified = 1;
	if (now >= s->cut_next)
		dcqcn_decrease(s, c, now);
}

#endif /* BFC_DCQCN_H */
