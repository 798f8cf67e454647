/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC's sender (Li et al., SIGCOMM 2019, §3.2, Alg. 1): computes a window W
 * and a pacing rate R from the INT of an ACK. Pure arithmetic, without floating
 * point: compiled into eBPF programs and into the unit tests.
 *
 * Numbers. U, the normalized inflight bytes, and eta count 2^-24; windows count
 * 1/256 byte. Nothing exceeds 64 bits, which is all that eBPF multiplies:
 *
 *  - U' (Eqn 2). All speeds that INT has are multiples k of 10 Mbit/s = 1/800
 *    byte/ns, k <= 80000. So txRate/B = 800 bytes / (k ns) and qlen/(B T) =
 *    800 qlen / (k T) are quotients of whole numbers. Bytes are below 2^27.1 (a
 *    wrap of txBytes and the longest qLen): 800 x 2^24 times that is below 2^61.
 *  - the moving average (line 9): U stays below 2^39 (32768 bandwidth-delay
 *    products in flight), T below 2^23 ns: 2^62.
 *  - W (Eqn 4): Wc up to 2^39 (2 GB), eta at most 2^24: 2^63.
 *  - R: 10^9/256 is a whole number, 2^21.9: 2^61.
 *
 * Rounding. Quotients are rounded down. u of line 6 is short by less than two
 * units, one for each term. The average is rounded towards u, by less than one
 * unit a step: with steps of tau ns and more, all that adds up to less than
 * 2 + T/tau units, and a U that stops changing is u itself. W is short by less
 * than one unit, R by less than 1 byte/s.
 *
 * W is in bytes on the wire, as INT's txBytes and qLen are. Windows below one
 * packet take effect through R: hpcc_packets() is never 0.
 *
 * Context of all functions: the socket is locked.
 */
#ifndef BFC_HPCC_H
#define BFC_HPCC_H

#include <linux/bfc_int.h>

#define HPCC_U_SHIFT		24
#define HPCC_ONE		(1ULL << HPCC_U_SHIFT)	/* U = 1: BT in flight */
#define HPCC_U_MAX		(1ULL << 39)
#define HPCC_W_SHIFT		8
#define HPCC_BYTE		(1ULL << HPCC_W_SHIFT)	/* of a window */
#define HPCC_W_MAX		(1ULL << 39)
#define HPCC_RATE_UNIT		1250000ULL	/* bytes/s: 10 Mbit/s ... */
#define HPCC_RATE_SCALE		800ULL		/* ... are 1/800 byte/ns */
#define HPCC_W_RATE		3906250ULL	/* 10^9 / 256 */

/* Half a wrap: beyond it older and newer values cannot be told apart. */
#define HPCC_TS_HALF		((BFC_INT_TS_MASK + 1) / 2)
#define HPCC_TX_HALF		((BFC_INT_TX_MASK + 1) / 2)

/*
 * More than this no port sends between two records: bytes at so many times its
 * speed, which may be 5.5 times what INT has a code for (54 Mbit/s counts as 10),
 * and a burst that its device's ring takes in at once.
 */
#define HPCC_TX_FASTER		8U
#define HPCC_TX_BURST		(1U << 20)	/* bytes */

#define HPCC_T_MIN		100U		/* ns */
#define HPCC_T_MAX		(HPCC_TS_HALF - 1)
#define HPCC_STAGE_MAX		1000U
#define HPCC_ETA_DEFAULT	950U		/* thousandths, §3.3 */
#define HPCC_STAGE_DEFAULT	5U		/* §3.3 */
#define HPCC_FLOWS_DEFAULT	100U		/* N of W_AI, §5.1 */

/**
 * enum hpcc_react - what a sender reacts to (§5.4, Fig. 13)
 * @HPCC_BOTH: Alg. 1: to every ACK, but from a reference that changes once an RTT
 * @HPCC_PER_ACK: to every ACK, from the window that the last one left: Eqn 3
 * @HPCC_PER_RTT: to the first ACK of what was sent after the last reaction; INT
 *		  between is not looked at, so rates are those of a whole RTT
 */
enum hpcc_react {
	HPCC_BOTH,
	HPCC_PER_ACK,
	HPCC_PER_RTT,
};

/**
 * enum hpcc_result - result of an ACK
 * @HPCC_VOID: nothing: no INT, not of all hops, INT that has been seen before or
 *	       that is older, or not this ACK's turn (HPCC_PER_RTT)
 * @HPCC_BEGUN: there were no records that could be used, or a port's count cannot
 *		have got there since; those of this ACK are the first. After a
 *		silence there is a new window, too, which is the new reference
 * @HPCC_STAYED: a new window, from the same reference
 * @HPCC_TURNED: a new window, which is the new reference: once an RTT
 */
enum hpcc_result {
	HPCC_VOID,
	HPCC_BEGUN,
	HPCC_STAYED,
	HPCC_TURNED,
};

/**
 * struct hpcc_conf - parameters, of all senders of a network
 * @w_init: W_init, 1/256 byte: that of B_NIC x T (§3.2)
 * @w_max: largest W. The paper has no such limit, but W of a sender with little
 *	   to send would grow without end
 * @w_min: smallest W
 * @w_ai: W_AI
 * @eta: 1 to HPCC_ONE
 * @t: T, ns: slightly more than the longest base RTT (§5.1)
 * @max_stage: maxStage
 * @react: enum hpcc_react
 * @rx: take rxRate for txRate (§3.4, Fig. 6)
 */
struct hpcc_conf {
	__u64 w_init;
	__u64 w_max;
	__u64 w_min;
	__u64 w_ai;
	__u32 eta;
	__u32 t;
	__u32 max_stage;
	__u8 react;
	__u8 rx;
	__u16 reserved;
};

/**
 * struct hpcc - state of a sender (Alg. 1)
 * @w: W, 1/256 byte
 * @wc: W^c, the reference window
 * @u: U
 * @slow: W before a timeout, up to which W doubles once an RTT; 0: none
 * @stamp: when @hop came, ns
 * @update_seq: lastUpdateSeq
 * @stage: incStage
 * @path: pathID of @hop
 * @nhop: valid entries of @hop; 0: none yet
 * @torn: they are kept since a port's count could not have got there
 * @hop: L, the link feedbacks of the last update
 */
struct hpcc {
	__u64 w;
	__u64 wc;
	__u64 u;
	__u64 slow;
	__u64 stamp;
	__u32 update_seq;
	__u32 stage;
	__u32 path;
	__u16 nhop;
	__u16 torn;
	struct bfc_int_hop hop[BFC_INT_HOPS_MAX];
};

/**
 * struct hpcc_ack - an ACK with INT
 * @now: when it came, ns, of a clock that does not jump
 * @seq: the sequence number that it acknowledges: TCP's snd_una
 * @snd_nxt: the next sequence number to be sent
 * @head: nHop and pathID
 * @hop: ack.L; hops behind @head.nhop are not looked at
 */
struct hpcc_ack {
	__u64 now;
	__u32 seq;
	__u32 snd_nxt;
	struct bfc_int_head head;
	struct bfc_int_hop hop[BFC_INT_HOPS_MAX];
};

/**
 * hpcc_configure() - parameters by the paper's rules
 * @c: result; the caller may change it, and then calls hpcc_conf_ok()
 * @rate: of the host's link, B_NIC, bytes/s, up to 800 Gbit/s
 * @t: T, ns, HPCC_T_MIN to HPCC_T_MAX
 * @eta: thousandths, 1 to 1000
 * @flows: N, not 0: with up to N flows on a link its queue stays near zero
 *
 * W_AI = W_init (1 - eta) / N (§3.3). Line 13 adds W_AI to each window, so W_AI
 * is the smallest one.
 */
static inline void hpcc_configure(struct hpcc_conf *c, __u64 rate, __u32 t,
				  __u32 eta, __u32 flows)
{
	__u64 one = HPCC_ONE;

	c->w_init = rate * t / HPCC_W_RATE;
	c->eta = (one * eta + 500) / 1000;
	c->w_ai = (c->w_init * (one - c->eta) >> HPCC_U_SHIFT) / flows;
	c->w_max = c->w_init;
	c->w_min = c->w_ai ? c->w_ai : 1;
	c->t = t;
	c->max_stage = HPCC_STAGE_DEFAULT;
	c->react = HPCC_BOTH;
	c->rx = 0;
	c->reserved = 0;
}

/**
 * hpcc_conf_ok() - check parameters
 * @c: parameters
 *
 * Return: the name of the first that is not in its range, NULL if all are.
 */
static inline const char *hpcc_conf_ok(const struct hpcc_conf *c)
{
	if (c->t < HPCC_T_MIN || c->t > HPCC_T_MAX)
		return "T";
	if (!c->eta || c->eta > HPCC_ONE)
		return "eta";
	if (!c->w_max || c->w_max > HPCC_W_MAX)
		return "largest window";
	if (!c->w_min || c->w_min > c->w_max)
		return "smallest window";
	if (c->w_init < c->w_min || c->w_init > c->w_max)
		return "initial window";
	if (c->w_ai > c->w_max)
		return "W_AI";
	if (c->max_stage > HPCC_STAGE_MAX)
		return "maxStage";
	if (c->react > HPCC_PER_RTT)
		return "reaction";
	return (void *)0;
}

/**
 * hpcc_init() - a connection starts: at line rate (§3.2)
 * @s: result
 * @c: parameters
 */
static inline void hpcc_init(struct hpcc *s, const struct hpcc_conf *c)
{
	__builtin_memset(s, 0, sizeof(*s));
	s->w = c->w_init;
	s->wc = c->w_init;
	s->u = HPCC_ONE;
}

/* k: speed in 10 Mbit/s; 0 of a hop that has written nothing. */
static inline __u64 hpcc_speed(const struct bfc_int_hop *hop)
{
	return bfc_int_speed_rate(hop->speed) / HPCC_RATE_UNIT;
}

/* Line 27's L = ack.L */
static inline void hpcc_record(struct hpcc *s, const struct hpcc_ack *a)
{
	__u32 i;

	for (i = 0; i < BFC_INT_HOPS_MAX; i++)
		s->hop[i] = a->hop[i];
	s->path = a->head.path;
	s->nhop = a->head.nhop;
	s->torn = 0;
	s->stamp = a->now;
}

/*
 * "It throws away the existing status records of the flow and builds up new
 * records" (§4.1). Nothing is known of the links then, so U = 1: a path that is
 * just full. W stays, and W^c does not change until packets sent from now on
 * are acknowledged. After a timeout U = 0: U = 1 would stand for a load that
 * was not measured.
 */
static inline void hpcc_begin(struct hpcc *s, const struct hpcc_ack *a)
{
	hpcc_record(s, a);
	s->u = s->slow ? 0 : HPCC_ONE;
	s->stage = 0;
	s->update_seq = a->snd_nxt;
}

/* Hide the bounds of @i from the compiler. clang 19 knows that nhop is at most
 * BFC_INT_HOPS_MAX and drops the loop's constant bound, the only one that the
 * verifier sees: the bound of nhop is in another register.
 */
static inline __u32 hpcc_opaque(__u32 i)
{
	asm volatile("" : "+r"(i));
	return i;
}

/* true if all hops of the path have written their record. */
static inline _Bool hpcc_complete(const struct hpcc_ack *a)
{
	__u32 i;

	if (!a->head.nhop || a->head.nhop > BFC_INT_HOPS_MAX)
		return 0;
	for (i = 0; i < BFC_INT_HOPS_MAX; i++) {
		i = hpcc_opaque(i);
		if (i >= a->head.nhop)
			break;
		if (!hpcc_speed(&a->hop[i]))
			return 0;
	}
	return 1;
}

/* true if the records that are kept are those of another path. */
static inline _Bool hpcc_moved(const struct hpcc *s, const struct hpcc_ack *a)
{
	__u32 i;

	if (s->nhop != a->head.nhop || s->path != a->head.path)
		return 1;
	/* The loop does not end at nhop: clang 21 would make of that a bound
	 * that the verifier of 6.1 does not see.
	 */
	for (i = 0; i < BFC_INT_HOPS_MAX; i++) {
		if (i < a->head.nhop && s->hop[i].speed != a->hop[i].speed)
			return 1;
	}
	return 0;
}

/* true if the records that are kept are so old that a counter of some hop may
 * have gone half its range.
 */
static inline _Bool hpcc_stale(const struct hpcc *s, const struct hpcc_ack *a)
{
	__u64 passed = a->now - s->stamp;
	__u32 i;

	if (passed >= HPCC_TS_HALF)
		return 1;
	for (i = 0; i < BFC_INT_HOPS_MAX; i++) {
		if (i >= a->head.nhop)
			break;
		if (passed * hpcc_speed(&a->hop[i]) >=
		    (__u64)HPCC_TX_HALF * BFC_INT_TX_UNIT * HPCC_RATE_SCALE)
			return 1;
	}
	return 0;
}

/* From this difference on the clock of a hop has gone back: see hpcc_measure(). */
static inline __u64 hpcc_back(const struct hpcc *s, const struct hpcc_ack *a)
{
	return HPCC_TS_HALF + (a->now - s->stamp) / 2;
}

/*
 * true if a port cannot have sent what it has counted since the records that are
 * kept: it counts from zero since it has another scheduler, or it is another port
 * with the same id.
 */
static inline _Bool hpcc_torn(const struct hpcc *s, const struct hpcc_ack *a)
{
	__u64 back = hpcc_back(s, a);
	__u32 i;

	for (i = 0; i < BFC_INT_HOPS_MAX; i++) {
		const struct bfc_int_hop *new = &a->hop[i], *old = &s->hop[i];
		__u64 ns, bytes;

		if (i >= a->head.nhop)
			break;
		ns = bfc_int_ts_delta(new->ts, old->ts);
		bytes = (__u64)bfc_int_tx_delta(new->tx, old->tx) *
			BFC_INT_TX_UNIT;
		if (ns < back && bytes * HPCC_RATE_SCALE >
		    HPCC_TX_FASTER * hpcc_speed(new) * ns +
		    HPCC_TX_BURST * HPCC_RATE_SCALE)
			return 1;
	}
	return 0;
}

/* qlen/(B T) of line 5, of the shorter of both queues; @k not 0 */
static inline __u64 hpcc_queued(const struct hpcc_conf *c, __u64 k,
				const struct bfc_int_hop *new,
				const struct bfc_int_hop *old)
{
	__u64 qlen = new->qlen < old->qlen ? new->qlen : old->qlen;

	return (qlen * BFC_INT_QLEN_UNIT * HPCC_RATE_SCALE << HPCC_U_SHIFT) /
	       (k * c->t);
}

/*
 * u' of line 5: a hop's normalized inflight bytes. INT has no rxRate, but bytes
 * received are bytes sent plus the growth of the queue.
 */
static inline __u64 hpcc_inflight(const struct hpcc_conf *c,
				  const struct bfc_int_hop *new,
				  const struct bfc_int_hop *old, __u64 ns)
{
	__u64 k = hpcc_speed(new), u;
	__u64 bytes = (__u64)bfc_int_tx_delta(new->tx, old->tx) *
		      BFC_INT_TX_UNIT;

	if (c->rx) {
		bytes += (__u64)new->qlen * BFC_INT_QLEN_UNIT;
		u = (__u64)old->qlen * BFC_INT_QLEN_UNIT;
		bytes = bytes > u ? bytes - u : 0;
	}
	if (!k || !ns || !c->t)
		return 0;
	u = hpcc_queued(c, k, new, old);
	u += (bytes * HPCC_RATE_SCALE << HPCC_U_SHIFT) / (k * ns);
	return u < HPCC_U_MAX ? u : HPCC_U_MAX;
}

/*
 * MeasureInflight(), lines 1 to 10. A hop with the same time as in its last
 * record tells nothing new, and has no weight in an average over time. Between
 * two records a hop's clock advances by more or less than the sender's, since
 * the queues between them change. A difference modulo the range of the clock is
 * negative, that is the ACK was overtaken, from half the range plus half of the
 * time that has passed at the sender: this leaves the same margin on both
 * sides.
 *
 * Return: 0 if there is nothing to measure: no clock has advanced, or one has
 * gone back, since the ACK was overtaken by one with newer records.
 */
static inline _Bool hpcc_measure(struct hpcc *s, const struct hpcc_conf *c,
				 const struct hpcc_ack *a)
{
	__u64 back = hpcc_back(s, a);
	__u64 u = 0, tau = 0, far;
	__u32 i, nhop = a->head.nhop;

	for (i = 0; i < BFC_INT_HOPS_MAX; i++) {
		__u64 ns, hop;

		if (i >= nhop)
			break;
		ns = bfc_int_ts_delta(a->hop[i].ts, s->hop[i].ts);
		if (!ns)
			continue;
		if (ns >= back)
			return 0;
		hop = hpcc_inflight(c, &a->hop[i], &s->hop[i], ns);
		if (hop > u || !tau) {
			u = hop;
			tau = ns;
		}
	}
	if (!tau)
		return 0;
	if (tau >= c->t) {
		s->u = u;
	} else if (u < s->u) {
		far = (s->u - u) * (c->t - tau) / c->t;
		s->u = u + far;
	} else {
		far = (u - s->u) * (c->t - tau) / c->t;
		s->u = u - far;
	}
	return 1;
}

static inline void hpcc_set(struct hpcc *s, const struct hpcc_conf *c, __u64 w,
			    _Bool update)
{
	w = w < c->w_max ? w : c->w_max;
	s->w = w > c->w_min ? w : c->w_min;
	if (update)
		s->wc = s->w;
}

/*
 * The same path after a silence. The bytes sent meanwhile are not known. But if
 * a hop had a queue before and has one now, its link was full. If no hop has, W
 * grows by W_AI, once per silence: the W of a sender with longer pauses than
 * the counters cover would otherwise never change again.
 */
static inline void hpcc_resume(struct hpcc *s, const struct hpcc_conf *c,
			       const struct hpcc_ack *a)
{
	__u64 u = 0, w = s->wc;
	__u32 i;

	for (i = 0; i < BFC_INT_HOPS_MAX && c->t; i++) {
		__u64 k = hpcc_speed(&a->hop[i]), hop;

		if (i >= a->head.nhop)
			break;
		if (!k || !a->hop[i].qlen || !s->hop[i].qlen)
			continue;
		hop = HPCC_ONE + hpcc_queued(c, k, &a->hop[i], &s->hop[i]);
		u = hop > u ? hop : u;
	}
	if (u) {
		w = w * c->eta / u;
		s->slow = 0;
	}
	hpcc_set(s, c, w + c->w_ai, 1);
	hpcc_begin(s, a);
}

/* ComputeWind(), lines 11 to 20 */
static inline void hpcc_window(struct hpcc *s, const struct hpcc_conf *c,
			       _Bool update)
{
	__u64 w;

	if (s->slow) {
		if (s->u < c->eta)
			return;		/* W grows in hpcc_acked() */
		s->slow = 0;
	}
	if (s->u >= c->eta || s->stage >= c->max_stage) {
		w = s->wc * c->eta;
		if (s->u)
			w /= s->u;
		w += c->w_ai;
		if (update)
			s->stage = 0;
	} else {
		w = s->wc + c->w_ai;
		if (update)
			s->stage++;
	}
	hpcc_set(s, c, w, update);
}

/**
 * hpcc_new_ack() - NewAck(), lines 21 to 27
 * @s: the sender's state, changed
 * @c: parameters, which hpcc_conf_ok() has passed
 * @a: the ACK; also one that acknowledges nothing new, but has new INT
 *
 * Five hops at most, no more than a division or two for each.
 *
 * Return: what was done. R is hpcc_rate().
 */
static inline enum hpcc_result hpcc_new_ack(struct hpcc *s,
					    const struct hpcc_conf *c,
					    const struct hpcc_ack *a)
{
	_Bool update;

	if (!hpcc_complete(a))
		return HPCC_VOID;
	if (hpcc_moved(s, a)) {
		hpcc_begin(s, a);
		return HPCC_BEGUN;
	}
	if (hpcc_stale(s, a)) {
		hpcc_resume(s, c, a);
		return HPCC_BEGUN;
	}
	/* Not twice in a row: a port may be that much faster than INT says. */
	if (!s->torn && hpcc_torn(s, a)) {
		hpcc_begin(s, a);
		s->torn = 1;
		return HPCC_BEGUN;
	}
	update = c->react == HPCC_PER_ACK ||
		 (__s32)(a->seq - s->update_seq) > 0;
	if (c->react == HPCC_PER_RTT && !update)
		return HPCC_VOID;
	if (!hpcc_measure(s, c, a))
		return HPCC_VOID;
	hpcc_window(s, c, update);
	hpcc_record(s, a);
	if (!update)
		return HPCC_STAYED;
	s->update_seq = a->snd_nxt;
	return HPCC_TURNED;
}

/**
 * hpcc_timeout() - TCP's retransmission timer has expired: packets in flight are lost
 * @s: the sender's state, changed
 * @c: parameters
 * @packet: bytes of a full packet on the wire
 *
 * The paper's network is lossless. Here a link was down or a buffer was full:
 * earlier INT no longer holds, and all senders that were hit begin again at the
 * same time. So W is one packet, as TCP has it (RFC 5681), or what it was if that is less, and
 * grows in hpcc_acked().
 */
static inline void hpcc_timeout(struct hpcc *s, const struct hpcc_conf *c,
				__u32 packet)
{
	__u64 one = (__u64)packet << HPCC_W_SHIFT;

	s->slow = s->slow > s->w ? s->slow : s->w;
	hpcc_set(s, c, s->w < one ? s->w : one, 1);
	s->u = HPCC_ONE;
	s->stage = 0;
	s->nhop = 0;
}

/**
 * hpcc_acked() - an ACK, with INT or without
 * @s: the sender's state, changed
 * @c: parameters
 * @bytes: bytes on the wire that it acknowledges for the first time
 *
 * After a timeout W grows by @bytes, up to its value before, or until INT says
 * that a link is full: then hpcc_new_ack() takes over.
 *
 * Return: whether W has changed.
 */
static inline _Bool hpcc_acked(struct hpcc *s, const struct hpcc_conf *c,
			       __u32 bytes)
{
	__u64 w = s->w + ((__u64)bytes << HPCC_W_SHIFT);

	if (!s->slow || !bytes)
		return 0;
	if (w >= s->slow) {
		w = s->slow;
		s->slow = 0;
	}
	hpcc_set(s, c, w, 1);
	return 1;
}

/**
 * hpcc_rate() - R = W / T (line 27)
 * @s: state
 * @c: parameters
 *
 * Return: bytes/s, 1 at least.
 */
static inline __u64 hpcc_rate(const struct hpcc *s, const struct hpcc_conf *c)
{
	__u64 rate = c->t ? s->w * HPCC_W_RATE / c->t : 0;

	return rate ? rate : 1;
}

/**
 * hpcc_packets() - W in packets
 * @s: state
 * @packet: bytes of a full packet on the wire, not 0
 *
 * Rounded up: pacing at R makes up for the difference.
 *
 * Return: 1 at least.
 */
static inline __u32 hpcc_packets(const struct hpcc *s, __u32 packet)
{
	__u64 unit = (__u64)packet << HPCC_W_SHIFT, n;

	n = unit ? (s->w + unit - 1) / unit : 1;
	return n ? n : 1;
}

#endif /* BFC_HPCC_H */
