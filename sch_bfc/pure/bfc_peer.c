// SPDX-License-Identifier: GPL-2.0
/*
 * The three-way HELLO: steps of the state machine at the top of bfc_peer.h.
 */
#include <linux/compiler.h>
#include <linux/string.h>

#include "bfc_peer.h"

static void bfc_peer_forget_rtt(struct bfc_peer *p)
{
	memset(p->rtt, 0, sizeof(p->rtt));
	p->rtt_now = 0;
	p->rtt_ns = 0;
}

static void bfc_peer_took(struct bfc_peer *p, u64 ns)
{
	unsigned int i;

	for (i = BFC_PEER_RTTS - 1; i; i--)
		p->rtt[i] = p->rtt[i - 1];
	p->rtt[0] = ns;
	p->rtt_now = ns;
	for (i = 1; i < BFC_PEER_RTTS && p->rtt[i]; i++)
		if (p->rtt[i] < p->rtt_now)
			p->rtt_now = p->rtt[i];
	if (!p->rtt_ns || ns < p->rtt_ns)
		p->rtt_ns = ns;
}

static void bfc_peer_forget(struct bfc_peer *p)
{
	WRITE_ONCE(p->state, BFC_PEER_STATE_SEARCHING);
	WRITE_ONCE(p->role, BFC_ROLE_SWITCH);
	p->proved = false;
	p->settled = false;
	p->turn = false;
	p->peer_id = 0;
	p->peer_nonce = 0;
	p->other_nonce = 0;
	p->other_echo_ns = 0;
	p->other_heard_ns = 0;
	p->epoch = 0;
	p->seq = 0;
	p->queues = 0;
	p->classes = 0;
	p->modes = 0;
	p->echo_ns = 0;
	bfc_peer_forget_rtt(p);
}

/**
 * bfc_peer_restart() - forget the neighbour and start over with a new nonce
 * @p: the machine
 * @id: our id
 * @nonce: our new nonce, not 0
 * @clock: what to add to our clock in HELLOs, random like the nonce
 */
void bfc_peer_restart(struct bfc_peer *p, u64 id, u32 nonce, u64 clock)
{
	bfc_peer_forget(p);
	p->conflict_ns = 0;
	p->heard_ns = 0;
	p->id = id;
	p->nonce = nonce;
	p->clock = clock;
}

/**
 * bfc_peer_tick() - end a conflict, or forget the neighbour, when its time is over
 * @p: the machine
 * @now: ns
 *
 * Return: BFC_EV_* bits.
 */
unsigned int bfc_peer_tick(struct bfc_peer *p, u64 now)
{
	if (p->conflict_ns && now >= p->conflict_ns) {
		p->conflict_ns = 0;
		bfc_peer_forget(p);
		return BFC_EV_STATE;
	}
	/* Signed: the caller may have read its clock before another CPU's HELLO
	 * was taken in.
	 */
	if (p->peer_nonce &&
	    (s64)(now - p->heard_ns) > (s64)BFC_PEER_DEAD_NS) {
		p->conflict_ns = 0;
		bfc_peer_forget(p);
		return BFC_EV_STATE;
	}
	return 0;
}

/* True if the neighbour is UP and was heard of late. */
static bool bfc_peer_is_up(const struct bfc_peer *p, u64 now)
{
	return p->state == BFC_PEER_STATE_UP &&
	       (s64)(now - p->heard_ns) < (s64)BFC_PEER_QUIET_NS;
}

/**
 * bfc_peer_settled() - check if HELLOs at the long interval are enough
 * @p: the machine
 * @now: ns
 *
 * While either side lacks the other's echo both repeat often: the side that is
 * UP cannot know otherwise that its HELLO, which the other waits for, was lost.
 *
 * Return: true if both sides are UP and heard each other of late.
 */
bool bfc_peer_settled(const struct bfc_peer *p, u64 now)
{
	return bfc_peer_is_up(p, now) && p->settled;
}

/**
 * bfc_peer_say() - fill in what a HELLO says of this port, and of the one it hears
 * @p: the machine
 * @h: our HELLO; BFC_HELLO_F_BYE in its flags is set already if it is a BYE
 * @now: ns
 */
void bfc_peer_say(struct bfc_peer *p, struct bfc_hello *h, u64 now)
{
	bool conflict = p->conflict_ns, bye = h->flags & BFC_HELLO_F_BYE;

	h->id = p->id;
	h->nonce = p->nonce;
	h->sent_ns = now + p->clock;
	h->echo = p->peer_nonce;
	h->echo_ns = p->echo_ns;
	h->held_ns = p->heard_ns ? now - p->heard_ns : 0;	/* not how long the box is up */
	if (bye)
		return;
	if (bfc_peer_is_up(p, now))
		h->flags |= BFC_HELLO_F_UP;
	if (conflict)
		p->turn = !p->turn;
	else if (!p->other_nonce)
		return;
	h->flags |= BFC_HELLO_F_OTHER;
	if (!conflict || p->turn) {
		h->echo = p->other_nonce;
		h->echo_ns = p->other_echo_ns;
		h->held_ns = now - p->other_heard_ns;
	}
	if (!conflict)
		p->other_nonce = 0;
}

/* Round trip of the HELLO that @h echoes, without the time that the neighbour held it. It may be
 * slightly negative, as clocks do not run alike.
 */
static s64 bfc_peer_trip(const struct bfc_peer *p, const struct bfc_hello *h, u64 now)
{
	return now + p->clock - h->echo_ns - h->held_ns;
}

static bool bfc_peer_proves(const struct bfc_peer *p, const struct bfc_hello *h, u64 now)
{
	s64 trip = bfc_peer_trip(p, h, now);

	return h->echo == p->nonce && trip <= (s64)BFC_PEER_DEAD_NS &&
	       trip >= -(s64)BFC_PEER_DEAD_NS;
}

/**
 * bfc_peer_knows() - check if a HELLO is from a port that hears us, or from the neighbour
 * @p: the machine
 * @hdr: its header
 * @h: its body
 * @now: ns
 *
 * Return: true if so; false if a sender that does not hear us can have made it.
 */
bool bfc_peer_knows(const struct bfc_peer *p, const struct bfc_hdr *hdr,
		    const struct bfc_hello *h, u64 now)
{
	return bfc_peer_proves(p, h, now) ||
	       (h->id == p->peer_id && h->nonce == p->peer_nonce &&
		hdr->epoch == p->epoch);
}

static void bfc_peer_note_other(struct bfc_peer *p, const struct bfc_hello *h, u64 now)
{
	p->other_nonce = h->nonce;
	p->other_echo_ns = h->sent_ns;
	p->other_heard_ns = now;
}

/* A HELLO of another port than the neighbour. Return: BFC_OK if that port is the neighbour from
 * now on, or if @conflict_ns was set; BFC_BAD_EPOCH if it proves nothing.
 */
static enum bfc_bad bfc_peer_other(struct bfc_peer *p,
				   const struct bfc_hello *h, u64 now,
				   unsigned int *events)
{
	if (!bfc_peer_proves(p, h, now)) {
		if (!p->conflict_ns) {
			bfc_peer_note_other(p, h, now);
			*events |= BFC_EV_REPLY;
		}
		return BFC_BAD_EPOCH;
	}
	if (!p->proved)
		return BFC_OK;
	/* With two neighbours on one link an upstreamQ names no queue, until one of
	 * them has been silent for long enough.
	 */
	p->conflict_ns = now + BFC_PEER_DEAD_NS;
	bfc_peer_note_other(p, h, now);
	if (p->state != BFC_PEER_STATE_CONFLICT) {
		WRITE_ONCE(p->state, BFC_PEER_STATE_CONFLICT);
		*events |= BFC_EV_STATE | BFC_EV_REPLY;
	}
	return BFC_OK;
}

/* A BYE counts if it comes from the neighbour. */
static enum bfc_bad bfc_peer_bye(struct bfc_peer *p, const struct bfc_hdr *hdr,
				 const struct bfc_hello *h, u64 now,
				 unsigned int *events)
{
	if (!p->peer_nonce)
		return BFC_OK;
	if (h->id != p->peer_id || !bfc_peer_knows(p, hdr, h, now))
		return BFC_BAD_EPOCH;
	p->conflict_ns = 0;
	bfc_peer_forget(p);
	*events |= BFC_EV_STATE;
	return BFC_OK;
}

/**
 * bfc_peer_hello() - a HELLO arrived
 * @p: the machine
 * @hdr: its header
 * @h: its body
 * @now: ns
 * @events: result, BFC_EV_* bits
 *
 * Return: BFC_OK, BFC_BAD_LOOP, BFC_BAD_SEQ; BFC_BAD_EPOCH: it is not from the
 * neighbour, or proves nothing (@events may ask for an answer all the same).
 */
enum bfc_bad bfc_peer_hello(struct bfc_peer *p, const struct bfc_hdr *hdr,
			    const struct bfc_hello *h, u64 now,
			    unsigned int *events)
{
	bool proved = bfc_peer_proves(p, h, now), other = h->flags & BFC_HELLO_F_OTHER;
	s64 rtt = bfc_peer_trip(p, h, now);
	enum bfc_bad bad;
	u8 state;

	*events = 0;
	if (h->id == p->id)
		return BFC_BAD_LOOP;

	*events = bfc_peer_tick(p, now);
	if (h->flags & BFC_HELLO_F_BYE)
		return bfc_peer_bye(p, hdr, h, now, events);
	if (p->peer_nonce && h->id != p->peer_id) {
		bad = bfc_peer_other(p, h, now, events);
		if (bad || p->conflict_ns)
			return bad;
	} else if (p->proved && !bfc_peer_knows(p, hdr, h, now)) {
		*events |= BFC_EV_REPLY;
		return BFC_BAD_EPOCH;
	}
	if (p->conflict_ns) {
		p->heard_ns = now;
		p->echo_ns = h->sent_ns;
		return BFC_OK;
	}
	if (p->peer_nonce != h->nonce || p->epoch != hdr->epoch ||
	    p->queues != h->queues || p->modes != h->modes) {
		p->peer_id = h->id;
		p->peer_nonce = h->nonce;
		p->epoch = hdr->epoch;
		p->queues = h->queues;
		p->modes = h->modes;
		bfc_peer_forget_rtt(p);
		WRITE_ONCE(p->state, BFC_PEER_STATE_SEARCHING);
		*events |= BFC_EV_LAYOUT | BFC_EV_STATE | BFC_EV_REPLY;
	} else if ((s32)(hdr->seq - p->seq) <= 0) {
		return BFC_BAD_SEQ;
	}
	p->seq = hdr->seq;
	WRITE_ONCE(p->role, h->role);
	p->classes = h->classes;
	p->heard_ns = now;
	p->echo_ns = h->sent_ns;
	/* The echo is for another port, and says nothing about us. */
	if (other && h->echo != p->nonce && p->state != BFC_PEER_STATE_SEARCHING)
		return BFC_OK;

	state = BFC_PEER_STATE_HEARD;
	p->settled = h->flags & BFC_HELLO_F_UP;
	if (proved) {
		p->proved = true;
		if (!other)
			state = BFC_PEER_STATE_UP;
		if (!other && rtt > 0 && rtt <= (s64)BFC_HRTT_MAX)
			bfc_peer_took(p, rtt);
		/* The neighbour has not heard our echo, so an answer may have been lost: send
		 * another. A neighbour that is UP gets none, or the two would never stop.
		 */
		if (!other && !p->settled)
			*events |= BFC_EV_REPLY;
	} else {
		*events |= BFC_EV_REPLY;
	}
	if (state != p->state)
		*events |= BFC_EV_STATE;
	WRITE_ONCE(p->state, state);
	return BFC_OK;
}
