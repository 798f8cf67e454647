// SPDX-License-Identifier: GPL-2.0
/*
 * The HELLO machine, step by step. All orders of steps: test_peer_model.c.
 */
#include "unit.h"
#include "bfc_peer.h"

#define MS	1000000ULL
#define SEC	1000000000ULL
#define DEAD	3500000000ULL

#define SEARCHING	BFC_PEER_STATE_SEARCHING
#define HEARD		BFC_PEER_STATE_HEARD
#define UP		BFC_PEER_STATE_UP
#define CONFLICT	BFC_PEER_STATE_CONFLICT

#define LAYOUT	BFC_EV_LAYOUT
#define STATE	BFC_EV_STATE
#define REPLY	BFC_EV_REPLY

/**
 * struct side - one end of the link as the module drives it
 * @p: the machine
 * @epoch: of our frames
 * @seq: of our newest frame
 * @skew: our clock minus the test's
 * @queues: that we announce
 * @classes: likewise
 */
struct side {
	struct bfc_peer p;
	u32 epoch;
	u32 seq;
	u64 skew;
	u16 queues;
	u8 classes;
};

/* What is on the wire. */
struct frame {
	struct bfc_wire_hello hello;
};

static void start(struct side *s, u64 id, u32 nonce, u32 epoch)
{
	bfc_peer_restart(&s->p, id, nonce, id << 60);
	s->epoch = epoch;
	s->seq = 0;
	if (!s->queues)
		s->queues = 32;
	if (!s->classes)
		s->classes = 1;
}

static struct frame say_flags(struct side *s, u64 now, u8 flags)
{
	struct bfc_hello h = {
		.role = BFC_ROLE_SWITCH,
		.flags = flags,
		.classes = s->classes,
		.queues = s->queues,
		.incast_queue = BFC_QUEUE_NONE,
		.modes = BFC_MODE_BFC,
	};
	struct frame f = { 0 };

	bfc_peer_say(&s->p, &h, now + s->skew);
	bfc_put_hello(&f.hello, s->epoch, ++s->seq, &h);
	return f;
}

static struct frame say(struct side *s, u64 now)
{
	return say_flags(s, now, 0);
}

static enum bfc_bad hear(struct side *s, const struct frame *f, u64 now,
			 unsigned int *events)
{
	struct bfc_hello h;
	struct bfc_hdr hdr;

	if (bfc_get_hdr(&f->hello, sizeof(f->hello), &hdr) != BFC_OK ||
	    bfc_get_hello(&f->hello, &h) != BFC_OK)
		abort();
	return bfc_peer_hello(&s->p, &hdr, &h, now + s->skew, events);
}

/* Hear it, and it must be taken with these events and end in this state. */
static void hears(struct side *s, struct frame f, u64 now, unsigned int want,
		  u8 state)
{
	unsigned int events = ~0U;
	enum bfc_bad bad = hear(s, &f, now, &events);

	CHECK(bad == BFC_OK, "refused: %d", bad);
	CHECK(events == want, "events %x, not %x", events, want);
	CHECK(s->p.state == state, "state %u, not %u", s->p.state, state);
}

/* Hear it, and it must change nothing. */
static void refuses(struct side *s, struct frame f, u64 now, enum bfc_bad want)
{
	struct bfc_peer before = s->p;
	unsigned int events = ~0U;
	enum bfc_bad bad = hear(s, &f, now, &events);

	CHECK(bad == want, "%d, not %d", bad, want);
	CHECK(!events, "events %x", events);
	CHECK(!memcmp(&before, &s->p, sizeof(before)), "something changed");
}

/* Hear what proves nothing: it is answered, and that is all. */
static void doubts(struct side *s, struct frame f, u64 now)
{
	u8 state = s->p.state;
	u64 peer = s->p.peer_id;
	unsigned int events;
	enum bfc_bad bad = hear(s, &f, now, &events);

	CHECK(bad == BFC_BAD_EPOCH, "%d", bad);
	CHECK(events == REPLY, "events %x", events);
	CHECK(s->p.state == state && s->p.peer_id == peer, "state %u",
	      s->p.state);
}

static unsigned int tick(struct side *s, u64 now)
{
	return bfc_peer_tick(&s->p, now + s->skew);
}

static bool forgotten(const struct bfc_peer *p)
{
	return p->state == SEARCHING && !p->peer_id && !p->peer_nonce &&
	       !p->epoch && !p->seq && !p->queues && !p->classes && !p->echo_ns && !p->rtt_ns;
}

static struct side a, b, c;

static void fresh(void)
{
	/* Padding too, as structures are compared. */
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	memset(&c, 0, sizeof(c));
	start(&a, 0xa, 0xa1, 0xea1);
	start(&b, 0xb, 0xb1, 0xeb1);
	start(&c, 0xc, 0xc1, 0xec1);
}

/* Both up; the last HELLO was heard by b at the time that is returned. */
static u64 both_up(void)
{
	fresh();
	hears(&b, say(&a, 1 * MS), 2 * MS, LAYOUT | STATE | REPLY, HEARD);
	hears(&a, say(&b, 2 * MS), 3 * MS, LAYOUT | STATE | REPLY, UP);
	hears(&b, say(&a, 3 * MS), 4 * MS, STATE, UP);
	return 4 * MS;
}

static void test_handshake(void)
{
	struct frame f;

	fresh();
	f = say(&a, SEC);
	CHECK(!f.hello.held_ns, "held, of the first HELLO: not how long the box is up");
	both_up();
	CHECK(a.p.peer_id == 0xb && b.p.peer_id == 0xa);
	CHECK(a.p.peer_nonce == 0xb1 && b.p.peer_nonce == 0xa1);
	CHECK(a.p.epoch == 0xeb1 && b.p.epoch == 0xea1);
	CHECK(a.p.queues == 32 && a.p.role == BFC_ROLE_SWITCH);
	/* from now on only once a second; no answer is asked for */
	hears(&a, say(&b, 5 * MS), 6 * MS, 0, UP);
	hears(&b, say(&a, 6 * MS), 7 * MS, 0, UP);
	f = say(&a, SEC);
	CHECK(be32_to_cpu(f.hello.echo) == 0xb1, "echo");
	CHECK(be64_to_cpu(f.hello.echo_ns) == 5 * MS + b.p.clock, "its clock");
	CHECK(be64_to_cpu(f.hello.held_ns) == SEC - 6 * MS, "held");
}

static void test_simultaneous(void)
{
	struct frame fa, fb;

	fresh();
	fa = say(&a, 0);
	fb = say(&b, 0);
	hears(&a, fb, MS, LAYOUT | STATE | REPLY, HEARD);
	hears(&b, fa, MS, LAYOUT | STATE | REPLY, HEARD);
	fa = say(&a, MS);
	fb = say(&b, MS);
	hears(&a, fb, 2 * MS, STATE | REPLY, UP);
	hears(&b, fa, 2 * MS, STATE | REPLY, UP);
	/* which neither knows of the other yet */
	CHECK(!bfc_peer_settled(&a.p, 2 * MS) && !bfc_peer_settled(&b.p, 2 * MS));
	fa = say(&a, 2 * MS);
	fb = say(&b, 2 * MS);
	hears(&a, fb, 3 * MS, 0, UP);
	hears(&b, fa, 3 * MS, 0, UP);
	CHECK(bfc_peer_settled(&a.p, 3 * MS) && bfc_peer_settled(&b.p, 3 * MS));
}

/* No peer is UP by the nonce of another one, by an echo of none, nor without the time that
 * goes with it.
 */
static void test_echo(void)
{
	unsigned int events;
	struct frame f;

	fresh();
	f = say(&a, 0);
	hear(&b, &f, 0, &events);
	f = say(&b, 0);
	f.hello.echo = cpu_to_be32(0xa2);
	hears(&a, f, MS, LAYOUT | STATE | REPLY, HEARD);
	f = say(&b, MS);
	f.hello.echo = cpu_to_be32(0);
	hears(&a, f, 2 * MS, REPLY, HEARD);
	f = say(&b, MS);
	f.hello.echo_ns = cpu_to_be64(0);
	hears(&a, f, 2 * MS, REPLY, HEARD);
	f = say(&b, MS);
	f.hello.echo_ns = cpu_to_be64(be64_to_cpu(f.hello.echo_ns) - DEAD);
	hears(&a, f, 2 * MS, REPLY, HEARD);
	f = say(&b, MS);
	f.hello.held_ns = cpu_to_be64(be64_to_cpu(f.hello.held_ns) + DEAD + 3 * MS);
	hears(&a, f, 2 * MS, REPLY, HEARD);
	hears(&a, say(&b, 2 * MS), 3 * MS, STATE | REPLY, UP);
	/* it has forgotten us: stop stamping at once */
	f = say(&b, 3 * MS);
	f.hello.echo = cpu_to_be32(0);
	hears(&a, f, 4 * MS, STATE | REPLY, HEARD);
	/* as much as clocks may differ */
	f = say(&b, 4 * MS);
	f.hello.held_ns = cpu_to_be64(be64_to_cpu(f.hello.held_ns) + SEC);
	hears(&a, f, 5 * MS, STATE | REPLY, UP);
}

/* One that guesses the nonce, but does not hear us */
static void test_guessed(void)
{
	u64 now = both_up();
	struct frame f;

	f = say(&c, now);
	f.hello.echo = cpu_to_be32(b.p.nonce);
	doubts(&b, f, now);
	f = say_flags(&c, now, BFC_HELLO_F_OTHER);
	f.hello.echo = cpu_to_be32(b.p.nonce);
	doubts(&b, f, now);
	/* in the neighbour's name */
	start(&c, 0xa, 0xc2, 0xec2);
	f = say(&c, now);
	f.hello.echo = cpu_to_be32(b.p.nonce);
	doubts(&b, f, now);
	f = say_flags(&c, now, BFC_HELLO_F_BYE);
	f.hello.echo = cpu_to_be32(b.p.nonce);
	refuses(&b, f, now, BFC_BAD_EPOCH);
}

static void test_loop(void)
{
	u64 now = both_up();

	refuses(&a, say(&a, now), now + MS, BFC_BAD_LOOP);
	fresh();
	refuses(&a, say(&a, 0), MS, BFC_BAD_LOOP);
	/* also when the frame is of an earlier life of this side */
	c.p.id = 0xa;
	refuses(&a, say(&c, 0), MS, BFC_BAD_LOOP);
	refuses(&a, say_flags(&a, 0, BFC_HELLO_F_BYE), MS, BFC_BAD_LOOP);
}

static void test_stale(void)
{
	u64 now = both_up();
	struct frame f[5];
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(f); i++)
		f[i] = say(&b, now + i * MS);
	hears(&a, f[3], now + 5 * MS, 0, UP);
	for (i = 0; i <= 3; i++)
		refuses(&a, f[i], now + 6 * MS, BFC_BAD_SEQ);
	CHECK(a.p.heard_ns == now + 5 * MS);
	hears(&a, f[4], now + 7 * MS, 0, UP);
	CHECK(a.p.heard_ns == now + 7 * MS);
	CHECK(a.p.echo_ns == now + 4 * MS + b.p.clock);
}

static void test_wrap(void)
{
	struct frame before, after;

	fresh();
	b.seq = 0xfffffffd;
	before = say(&b, 0);				/* 0xfffffffe */
	hears(&a, before, MS, LAYOUT | STATE | REPLY, HEARD);
	hears(&a, say(&b, 0), MS, REPLY, HEARD);	/* 0xffffffff */
	hears(&a, say(&b, 0), MS, REPLY, HEARD);	/* 0 */
	refuses(&a, before, MS, BFC_BAD_SEQ);
	after = say(&b, 0);				/* 1 */
	hears(&a, after, MS, REPLY, HEARD);
	refuses(&a, before, MS, BFC_BAD_SEQ);
	refuses(&a, after, MS, BFC_BAD_SEQ);
	/* half of the circle is newer, the other half is older */
	b.seq = 0x80000000;
	refuses(&a, say(&b, 0), MS, BFC_BAD_SEQ);	/* 0x80000001 */
	b.seq = 0x7fffffff;
	hears(&a, say(&b, 0), MS, REPLY, HEARD);	/* 0x80000000 */
	CHECK(a.p.seq == 0x80000000);
	b.seq = 0xffffffff;
	refuses(&a, say(&b, 0), MS, BFC_BAD_SEQ);	/* 0 */
	b.seq = 0xfffffffe;
	hears(&a, say(&b, 0), MS, REPLY, HEARD);	/* 0xffffffff */
}

/* Silent for longer than BFC_PEER_DEAD_NS is gone, and not a moment sooner. */
static void test_dead(void)
{
	u64 now = both_up();

	CHECK(BFC_PEER_DEAD_NS == DEAD);
	CHECK(!tick(&b, now));
	CHECK(!tick(&b, now + DEAD));
	CHECK(b.p.state == UP);
	CHECK(tick(&b, now + DEAD + 1) == STATE);
	CHECK(forgotten(&b.p));
	CHECK(b.p.id == 0xb && b.p.nonce == 0xb1, "forgot itself");
	CHECK(!tick(&b, now + DEAD + 2), "told twice");
	CHECK(!tick(&b, now + 100 * SEC), "told twice");

	/* also from HEARD */
	fresh();
	hears(&b, say(&a, 0), MS, LAYOUT | STATE | REPLY, HEARD);
	CHECK(!tick(&b, MS + DEAD));
	CHECK(tick(&b, MS + DEAD + 1) == STATE);
	CHECK(forgotten(&b.p));

	/* never from SEARCHING */
	fresh();
	CHECK(!tick(&b, 100 * SEC));

	/* a HELLO that comes later than the death notices it itself */
	now = both_up();
	hears(&b, say(&a, now + DEAD), now + DEAD + 1, LAYOUT | STATE | REPLY,
	      UP);

	/* each HELLO gives it another time to live, a stale one does not */
	now = both_up();
	hears(&b, say(&a, now), now + SEC, 0, UP);
	a.seq = 0;
	refuses(&b, say(&a, now), now + 2 * SEC, BFC_BAD_SEQ);
	CHECK(!tick(&b, now + SEC + DEAD));
	CHECK(tick(&b, now + SEC + DEAD + 1) == STATE);
}

/* One CPU reads the clock, another hears a HELLO, then the first gets the lock:
 * its "now" is a little before the newest HELLO. No peer has died of that.
 */
static void test_clock_race(void)
{
	u64 now = both_up();

	CHECK(!tick(&b, now - 1000));
	CHECK(b.p.state == UP, "neighbour dead %u ns before it was heard",
	      1000);
	now = both_up();
	hears(&b, say(&a, now), now - 1000, 0, UP);
}

/* The neighbour starts over, whatever we are in. */
static void test_restart(void)
{
	u64 now = both_up();
	struct frame old;

	/* from UP: it has heard no peer yet */
	old = say(&a, now);
	start(&a, 0xa, 0xa2, 0xea2);
	CHECK(forgotten(&a.p));
	doubts(&b, say(&a, now), now + MS);
	hears(&a, say(&b, now + MS), now + 2 * MS, LAYOUT | STATE | REPLY,
	      HEARD);
	hears(&b, say(&a, now + 2 * MS), now + 3 * MS, LAYOUT | STATE | REPLY,
	      UP);
	CHECK(b.p.peer_nonce == 0xa2 && b.p.epoch == 0xea2);
	hears(&a, say(&b, now + 3 * MS), now + 3 * MS, STATE, UP);
	hears(&b, say(&a, now + 3 * MS), now + 3 * MS, 0, UP);

	/* a new life begins with sequence 1: that is not stale */
	CHECK(b.p.seq == 3);

	/* from UP, and our HELLO came first: it already echoes us */
	start(&a, 0xa, 0xa3, 0xea3);
	hears(&a, say(&b, now + 3 * MS), now + 4 * MS, LAYOUT | STATE | REPLY,
	      HEARD);
	hears(&b, say(&a, now + 4 * MS), now + 5 * MS, LAYOUT | STATE | REPLY,
	      UP);
	hears(&a, say(&b, now + 5 * MS), now + 6 * MS, STATE, UP);

	/* from HEARD */
	fresh();
	hears(&b, say(&a, 0), MS, LAYOUT | STATE | REPLY, HEARD);
	start(&a, 0xa, 0xa2, 0xea2);
	hears(&b, say(&a, MS), 2 * MS, LAYOUT | STATE | REPLY, HEARD);
	CHECK(b.p.peer_nonce == 0xa2);

	/* we start over: its echo of our old nonce counts for nothing */
	both_up();
	old = say(&a, now);
	start(&b, 0xb, 0xb2, 0xeb2);
	hears(&b, old, now + MS, LAYOUT | STATE | REPLY, HEARD);
}

/* A machine that starts over remembers no peer, whatever was there before. */
static void test_restart_clean(void)
{
	struct bfc_peer p;

	memset(&p, 0xff, sizeof(p));
	bfc_peer_restart(&p, 7, 8, 9);
	CHECK(forgotten(&p));
	CHECK(p.id == 7 && p.nonce == 8 && p.clock == 9);
	CHECK(!p.conflict_ns && !p.heard_ns);
	CHECK(!bfc_peer_tick(&p, 1));
	CHECK(!bfc_peer_tick(&p, ~0ULL));
}

static void test_layout(void)
{
	u64 now = both_up();

	/* other classes: queues have their numbers and counters yet */
	CHECK(b.p.classes == 1);
	a.classes = 4;
	hears(&b, say(&a, now), now + MS, 0, UP);
	CHECK(b.p.classes == 4);
	a.classes = 1;
	hears(&b, say(&a, now), now + MS, 0, UP);
	CHECK(b.p.classes == 1);
	/* another number of queues: the counters do not fit any more */
	a.queues = 64;
	hears(&b, say(&a, now), now + MS, LAYOUT | STATE | REPLY, UP);
	CHECK(b.p.queues == 64);
	hears(&b, say(&a, now), now + MS, 0, UP);
	/* another epoch, same nonce */
	a.epoch = 0xea2;
	a.seq = 0;
	hears(&b, say(&a, now), now + MS, LAYOUT | STATE | REPLY, UP);
	CHECK(b.p.epoch == 0xea2 && b.p.seq == 1);
	/* another nonce, same epoch */
	a.p.nonce = 0xa2;
	a.seq = 0;
	hears(&b, say(&a, now), now + MS, LAYOUT | STATE | REPLY, UP);
	CHECK(b.p.peer_nonce == 0xa2 && b.p.seq == 1);
}

static void test_bye(void)
{
	u64 now = both_up();

	hears(&b, say_flags(&a, now, BFC_HELLO_F_BYE), now + MS, STATE,
	      SEARCHING);
	CHECK(forgotten(&b.p));
	/* twice, because frames get lost */
	hears(&b, say_flags(&a, now, BFC_HELLO_F_BYE), now + MS, 0, SEARCHING);
	CHECK(forgotten(&b.p));
	/* and it may come back */
	start(&a, 0xa, 0xa2, 0xea2);
	hears(&b, say(&a, now), now + MS, LAYOUT | STATE | REPLY, HEARD);
	/* from HEARD */
	hears(&b, say_flags(&a, now, BFC_HELLO_F_BYE), now + MS, STATE,
	      SEARCHING);
	CHECK(forgotten(&b.p));
	/* from one who was never here */
	fresh();
	hears(&b, say_flags(&a, 0, BFC_HELLO_F_BYE), MS, 0, SEARCHING);
	CHECK(forgotten(&b.p));
}

/* Two talk, each once a second: neither is obeyed for as long as that lasts. */
static u64 two_talkers(u64 now)
{
	u64 end = now + 20 * SEC;

	unsigned int events;
	struct frame f = say(&b, now);

	hear(&c, &f, now, &events);
	hears(&b, say(&c, now), now, STATE | REPLY, CONFLICT);
	for (; now < end; now += SEC) {
		hears(&b, say(&c, now), now, 0, CONFLICT);
		CHECK(!tick(&b, now + SEC / 4));
		hears(&b, say(&a, now + SEC / 2), now + SEC / 2, 0, CONFLICT);
		CHECK(!tick(&b, now + SEC * 3 / 4));
		CHECK(b.p.state == CONFLICT);
	}
	return now;
}

static void test_conflict(void)
{
	u64 now = two_talkers(both_up());
	u64 heard_c = now - SEC, end = heard_c + DEAD;

	/* c is gone, a goes on */
	for (; now < end; now += SEC / 10) {
		hears(&b, say(&a, now), now, 0, CONFLICT);
		CHECK(!tick(&b, now));
	}
	hears(&b, say(&a, now), now, LAYOUT | STATE | REPLY, UP);
	CHECK(b.p.peer_id == 0xa);
	CHECK(!tick(&b, now + SEC));

	/* from HEARD too, and the time alone ends it */
	fresh();
	hears(&b, say(&a, 0), MS, LAYOUT | STATE | REPLY, HEARD);
	doubts(&b, say(&c, 0), MS);
	/* the first that proves itself is the neighbour, the second a conflict */
	hears(&c, say(&b, 0), MS, LAYOUT | STATE | REPLY, HEARD);
	hears(&a, say(&b, 0), MS, LAYOUT | STATE | REPLY, UP);
	hears(&b, say(&c, 0), MS, LAYOUT | STATE | REPLY, UP);
	hears(&b, say(&a, 0), 2 * MS, STATE | REPLY, CONFLICT);
	CHECK(!tick(&b, MS + DEAD));
	CHECK(tick(&b, 2 * MS + DEAD + 1) == STATE);
	CHECK(forgotten(&b.p));
	CHECK(!tick(&b, 2 * MS + 2 * DEAD));
}

/* Both are answered in turn, each with its newest time: both go on to know of the conflict. */
static void test_conflict_echoes(void)
{
	u64 now = two_talkers(both_up());
	unsigned int i, to_c = 0;

	hears(&b, say(&a, now), now, 0, CONFLICT);
	hears(&b, say(&c, now + MS), now + MS, 0, CONFLICT);
	for (i = 0; i < 4; i++) {
		struct frame f = say(&b, now + 10 * MS);
		bool other = be32_to_cpu(f.hello.echo) == c.p.nonce;
		struct side *s = other ? &c : &a;
		u64 sent = now + other * MS;

		to_c += other;
		CHECK(be32_to_cpu(f.hello.echo) == s->p.nonce);
		CHECK(be64_to_cpu(f.hello.echo_ns) == sent + s->skew + s->p.clock, "its clock");
		CHECK(be64_to_cpu(f.hello.held_ns) == now + 10 * MS - sent, "held");
	}
	CHECK(to_c == 2, "%u of 4", to_c);
}

/* The neighbour that was there first goes; the newcomer talks on. */
static void test_conflict_first_goes(void)
{
	u64 now = two_talkers(both_up());
	u64 heard_a = now - SEC / 2;
	bool early = false;

	for (; now <= heard_a + DEAD + 2 * SEC; now += SEC / 10) {
		struct frame f = say(&c, now);
		unsigned int events;

		tick(&b, now);
		if (now <= heard_a + DEAD && b.p.state != CONFLICT)
			early = true;
		CHECK(hear(&b, &f, now, &events) == BFC_OK);
		if (b.p.state == HEARD || b.p.state == UP)
			break;
	}
	CHECK(!early, "before the first was silent for long enough");
	CHECK(b.p.state == UP, "%llu ms after the first was heard last",
	      (now - heard_a) / MS);
	CHECK(b.p.peer_id == 0xc, "neighbour %llx", b.p.peer_id);
}

/* As above, but the first comes back when its time is just over: a conflict
 * again, told as one and with neither obeyed for longer than one HELLO.
 */
static void test_conflict_first_returns(void)
{
	u64 now = two_talkers(both_up());
	u64 heard_a = now - SEC / 2, until;
	unsigned int events;
	struct frame f;

	for (; now <= heard_a + DEAD + SEC; now += SEC / 2) {
		f = say(&c, now);
		tick(&b, now);
		hear(&b, &f, now, &events);
	}
	for (until = now + 10 * SEC; now < until; now += SEC / 2) {
		f = say(&a, now);
		hear(&b, &f, now, &events);
		f = say(&c, now + SEC / 4);
		hear(&b, &f, now + SEC / 4, &events);
		tick(&b, now + SEC / 4);
		if (!CHECK(b.p.state == CONFLICT, "two talkers, state %u",
			   b.p.state))
			return;
	}
}

/* A stranger that only says good-bye is not a second talker. */
static void test_conflict_bye(void)
{
	u64 now = both_up();

	refuses(&b, say_flags(&c, now, BFC_HELLO_F_BYE), now, BFC_BAD_EPOCH);
	CHECK(b.p.peer_id == 0xa);
}

/* A stranger that does not hear us, whatever it sends and says to be. */
static void test_stranger(void)
{
	u64 now = both_up(), end = now + 20 * SEC;
	unsigned int life = 1, events;
	struct frame f;

	for (; now < end; now += SEC / 10) {
		start(&c, 0xc, 0xc1 + life, 0xec1 + life);
		life++;
		doubts(&b, say(&c, now), now);
		f = say(&b, now);
		CHECK(f.hello.flags & BFC_HELLO_F_OTHER, "no answer");
		CHECK(be32_to_cpu(f.hello.echo) == c.p.nonce, "no echo");
		/* the neighbour hears that as well, and is not meant */
		CHECK(hear(&a, &f, now, &events) == BFC_OK && !events);
		CHECK(a.p.state == UP);
		/* it takes the neighbour's id, its leave too */
		start(&c, 0xa, 0xc1 + life, 0xec1 + life);
		doubts(&b, say(&c, now), now);
		refuses(&b, say_flags(&c, now, BFC_HELLO_F_BYE), now,
			BFC_BAD_EPOCH);
		f = say(&a, now);
		CHECK(hear(&b, &f, now, &events) == BFC_OK && !events);
		CHECK(b.p.state == UP);
	}

	/* It was there before the neighbour. */
	fresh();
	hears(&b, say(&c, 0), MS, LAYOUT | STATE | REPLY, HEARD);
	doubts(&b, say(&a, MS), MS);
	hears(&a, say(&b, MS), 2 * MS, LAYOUT | STATE | REPLY, HEARD);
	hears(&b, say(&a, 2 * MS), 2 * MS, LAYOUT | STATE | REPLY, UP);
	hears(&a, say(&b, 2 * MS), 3 * MS, STATE, UP);
	CHECK(b.p.peer_id == 0xa);
}

#define HUB	4

/* One talks, all others hear it, and answer, to the end. */
static unsigned int on_hub(struct side *hub, unsigned int from, u64 now)
{
	unsigned int talks = 1U << from, events, i, n = 0;
	struct frame f;

	while (talks && n++ < 100) {
		from = __builtin_ctz(talks);
		talks &= ~(1U << from);
		f = say(&hub[from], now);
		for (i = 0; i < HUB; i++) {
			if (i == from)
				continue;
			hear(&hub[i], &f, now, &events);
			if (events & REPLY)
				talks |= 1U << i;
		}
	}
	return n;
}

/* Two pairs that agreed by themselves, and then hear each other; or all at once. None
 * may stamp to a neighbour that is not alone.
 */
static void test_hub(void)
{
	struct side hub[HUB];
	unsigned int i, pairs, round;
	u64 now = SEC;

	for (pairs = 0; pairs < 2; pairs++) {
		memset(hub, 0, sizeof(hub));
		for (i = 0; i < HUB; i++)
			start(&hub[i], 10 + i, 20 + i, 30 + i);
		for (i = 0; pairs && i < 4 * HUB; i++) {
			unsigned int from = i % HUB, events;
			struct frame f = say(&hub[from], now);

			hear(&hub[from ^ 1], &f, now, &events);
		}
		CHECK(!pairs || hub[3].p.state == UP, "no pairs");
		for (round = 0; round < 20; round++)
			for (i = 0; i < HUB; i++, now += SEC / HUB) {
				CHECK(on_hub(hub, i, now) < 100, "no end");
				CHECK(round < 3 || hub[i].p.state != UP,
				      "%u is up in round %u", i, round);
			}
	}
}

static void round_trip(u64 sent, u64 there, u64 back, u64 home, u64 want_now, u64 want)
{
	struct frame f;
	unsigned int events;

	f = say(&b, sent);		/* b asks */
	hear(&a, &f, there, &events);	/* a takes it in */
	f = say(&a, back);		/* and answers later */
	hear(&b, &f, home, &events);
	CHECK(b.p.rtt_now == want_now, "now %llu, not %llu", b.p.rtt_now, want_now);
	CHECK(b.p.rtt_ns == want, "rtt %llu, not %llu", b.p.rtt_ns, want);
}

/* The clocks have nothing in common, and the pause in between is no part. */
static void test_rtt(void)
{
	unsigned int events;
	struct frame f;
	u64 now;

	fresh();
	a.skew = 0x8000000000000000ULL;
	b.skew = 123456789 * SEC;
	/* the first answer makes b UP and gives the first time */
	round_trip(1000, 1300, 50000, 50400, 700, 700);
	/* a worse one does not count, a better one does */
	round_trip(100000, 100500, 200000, 200500, 700, 700);
	round_trip(300000, 300100, 400000, 400100, 200, 200);
	round_trip(500000, 500100, 600000, 600101, 200, 200);
	/* what is true now is told by the last three */
	round_trip(700000, 700300, 800000, 800100, 200, 200);
	round_trip(900000, 900300, 950000, 950100, 201, 200);
	round_trip(960000, 960300, 970000, 970100, 400, 200);
	round_trip(980000, 980100, 990000, 990100, 200, 200);
	CHECK(b.p.state == UP);
	/* no time without a trip, none of zero, none of more than a second */
	f = say(&a, SEC);
	f.hello.echo_ns = cpu_to_be64(0);
	hears(&b, f, SEC, STATE | REPLY, HEARD);
	CHECK(b.p.rtt_ns == 200);
	/* held for longer than it took */
	f = say(&a, SEC);
	f.hello.held_ns = cpu_to_be64(be64_to_cpu(f.hello.held_ns) + SEC);
	hears(&b, f, SEC + 1, STATE, UP);
	CHECK(b.p.rtt_ns == 200);
	f = say(&a, SEC);
	f.hello.echo_ns = cpu_to_be64(SEC + 2 + b.skew + b.p.clock);
	f.hello.held_ns = cpu_to_be64(0);
	hears(&b, f, SEC + 2, 0, UP);
	CHECK(b.p.rtt_ns == 200, "zero taken");

	/* a restart of the neighbour starts it over: another cable, perhaps */
	start(&a, 0xa, 0xa2, 0xea2);
	f = say(&b, SEC);
	hear(&a, &f, SEC, &events);
	f = say(&a, SEC);
	f.hello.echo_ns = cpu_to_be64(be64_to_cpu(f.hello.echo_ns) - 2 * SEC);
	hears(&b, f, SEC + 1000, LAYOUT | STATE | REPLY, UP);
	CHECK(!b.p.rtt_ns);
	now = 2 * SEC;
	round_trip(now, now + 400, now + 500, now + 900, 800, 800);

	/* 1 s is the longest HRTT there is */
	fresh();
	round_trip(SEC, SEC + SEC / 2, 2 * SEC, 2 * SEC + SEC / 2, SEC, SEC);
	fresh();
	round_trip(SEC, SEC + SEC / 2, 2 * SEC, 2 * SEC + SEC / 2 + 1, 0, 0);

	/* an echo of another life of this side is no round trip */
	both_up();
	f = say(&a, 5 * MS);
	start(&b, 0xb, 0xb2, 0xeb2);
	hears(&b, f, 6 * MS, LAYOUT | STATE | REPLY, HEARD);
	CHECK(!b.p.rtt_ns);
}

/* Times of the module: how long both sides need from nothing, at most. */
static void test_times(void)
{
	CHECK(BFC_HELLO_FAST_NS < BFC_HELLO_CALM_NS);
	CHECK(BFC_HELLO_CALM_NS < BFC_HELLO_SLOW_NS);
	CHECK(BFC_HELLO_CALM_NS * BFC_PEER_RTTS < BFC_HELLO_SLOW_NS);
	CHECK(BFC_HELLO_SLOW_NS * 3 < BFC_PEER_DEAD_NS,
	      "two lost HELLOs would end a neighbourhood");
}

static const struct unit_case cases[] = {
	{ "peer: three-way handshake", test_handshake },
	{ "peer: both begin at once", test_simultaneous },
	{ "peer: up by the echo of the own nonce only", test_echo },
	{ "peer: a guessed nonce proves nothing", test_guessed },
	{ "peer: own frames are a loop", test_loop },
	{ "peer: stale sequences are refused", test_stale },
	{ "peer: sequences wrap", test_wrap },
	{ "peer: dead after 3.5 s", test_dead },
	{ "peer: a clock read before the newest HELLO kills no peer",
	  test_clock_race },
	{ "peer: restart of either side in any state", test_restart },
	{ "peer: a restart leaves nothing behind", test_restart_clean },
	{ "peer: new layout", test_layout },
	{ "peer: BYE", test_bye },
	{ "peer: two talkers, until the second is silent", test_conflict },
	{ "peer: two talkers are answered in turn", test_conflict_echoes },
	{ "peer: two talkers, until the first is silent",
	  test_conflict_first_goes },
	{ "peer: two talkers, the first comes back late",
	  test_conflict_first_returns },
	{ "peer: BYE of a stranger is no conflict", test_conflict_bye },
	{ "peer: a blind stranger changes nothing", test_stranger },
	{ "peer: four on a hub", test_hub },
	{ "peer: round trip time", test_rtt },
	{ "peer: intervals fit together", test_times },
};

#include "unit_main.h"
