// SPDX-License-Identifier: GPL-2.0
/*
 * Two HELLO machines and a bad cable: every order of events, breadth first.
 *
 * A state is both machines, the frames under way and how many faults are still
 * allowed. Frames get lost, are delivered twice or (if so told) out of order;
 * a machine starts over, says BYE and starts over, or takes its neighbour for
 * dead. The search ends by itself, as everything but answers is limited and an
 * answer needs a frame: so what is claimed holds for all orders.
 *
 * Safety. A machine that is UP stamps tags, and the neighbour must take them
 * off: it must be in HEARD or UP, and have heard the present nonce of the one
 * that stamps. It may have left (restart, BYE, dead) without the other knowing
 * yet; that cannot be helped. So each side has a generation, which counts how
 * often it left, and a frame carries the generation of its sender. A side that has
 * got a frame of the neighbour's present generation knows all there is to know
 * and has no excuse.
 *
 * Liveness. From every state: when nothing gets lost any more, both are UP
 * after three rounds of HELLOs, the answers come to an end, and both stay UP.
 */
#include "unit.h"
#include "bfc_peer.h"

#define CABLE		3	/* frames under way in one direction */
#define STATES_MAX	2000000U
#define ANSWERS_MAX	64	/* more than any number of frames needs */
#define FRONT_MAX	(1U << 18)

/* A frame, as short as it can be told. */
struct frame {
	u8 nonce;
	u8 echo;
	u8 seq;
	u8 flags;
	u8 generation;
	u8 sent;
	u8 sent_echo;
};

struct side {
	struct bfc_peer p;
	u8 seq;
	u8 sends;	/* of all lives: its clock */
	u8 lives;	/* nonces used */
	u8 generation;	/* left so often */
	u8 known;	/* newest generation heard of the other */
	u32 heard;	/* nonces of the other heard in this generation */
};

/* What may still happen. */
struct budget {
	u8 hellos[2];	/* sent by the timer */
	u8 restarts[2];
	u8 byes[2];
	u8 deaths[2];
	u8 losses;
	u8 doubles;
	u8 swaps;
};

struct model {
	struct side side[2];
	struct frame cable[2][CABLE];	/* [i]: towards side i */
	struct budget left;
	u8 frames[2];
};

struct how {
	u32 from;
	u8 action;
	u8 side;
	u8 at;
};

enum {
	HELLO, RESTART, BYE, DEATH, DELIVER, LOSE, DOUBLE, ACTIONS
};

static const char *const action_name[] = {
	"sends a HELLO", "starts over", "says BYE and starts over",
	"takes the other for dead", "gets a frame", "loses a frame",
	"gets a frame, which stays under way",
};

static bool pops(const struct side *s)
{
	return s->p.state == BFC_PEER_STATE_HEARD ||
	       s->p.state == BFC_PEER_STATE_UP;
}

static u8 nonce_of(unsigned int i, unsigned int life)
{
	return 1 + i * 16 + life;
}

/* Each side's clock: even when it sends, odd in between. That is all that a
 * machine could learn from it, and keeps the number of states low.
 */
static u64 clock_of(const struct side *s)
{
	return 2 * s->sends + 1;
}

static void leave(struct side *s)
{
	s->generation++;
	s->heard = 0;
}

static void send(struct model *m, unsigned int i, bool bye)
{
	struct bfc_hello h = { .flags = bye ? BFC_HELLO_F_BYE : 0 };
	struct side *s = &m->side[i];
	unsigned int to = !i;

	s->seq++;
	s->sends++;
	if (m->frames[to] == CABLE)
		return;		/* lost, and the sender does not know */
	bfc_peer_say(&s->p, &h, 2 * s->sends);
	m->cable[to][m->frames[to]++] = (struct frame) {
		.nonce = h.nonce,
		.echo = h.echo,
		.seq = s->seq,
		.flags = h.flags,
		.generation = s->generation,
		.sent = h.sent_ns,
		.sent_echo = h.echo_ns,
	};
}

static void restart(struct model *m, unsigned int i)
{
	struct side *s = &m->side[i];

	bfc_peer_restart(&s->p, 100 + i, nonce_of(i, s->lives++), 0);
	s->seq = 0;
	leave(s);
}

/* Return: whether an answer was sent. */
static bool deliver(struct model *m, unsigned int i, struct frame f)
{
	struct side *s = &m->side[i];
	struct bfc_hdr hdr = {
		.type = BFC_FRAME_HELLO,
		.len = BFC_HELLO_LEN,
		.epoch = f.nonce + 1000,
		.seq = f.seq,
	};
	struct bfc_hello h = {
		.role = BFC_ROLE_SWITCH,
		.flags = f.flags,
		.classes = 1,
		.queues = 32,
		.incast_queue = BFC_QUEUE_NONE,
		.modes = BFC_MODE_BFC,
		.id = 100 + !i,
		.nonce = f.nonce,
		.echo = f.echo,
		.sent_ns = f.sent,
		.echo_ns = f.sent_echo,
	};
	bool popped = pops(s);
	unsigned int events;
	enum bfc_bad bad;

	bad = bfc_peer_hello(&s->p, &hdr, &h, clock_of(s), &events);
	/* not what this is about: fewer states */
	memset(s->p.rtt, 0, sizeof(s->p.rtt));
	s->p.rtt_now = 0;
	s->p.rtt_ns = 0;
	s->p.heard_ns = s->p.peer_nonce ? 1 : 0;
	/* What proves nothing may be a forgery. */
	if (f.generation > s->known && bad != BFC_BAD_EPOCH)
		s->known = f.generation;
	if (popped && !pops(s))
		leave(s);
	if (bad == BFC_OK && !(f.flags & BFC_HELLO_F_BYE))
		s->heard |= 1U << f.nonce;
	if (events & BFC_EV_REPLY)
		send(m, i, false);
	return events & BFC_EV_REPLY;
}

static void take(struct model *m, unsigned int i, unsigned int at)
{
	m->frames[i]--;
	memmove(&m->cable[i][at], &m->cable[i][at + 1],
		(m->frames[i] - at) * sizeof(m->cable[i][0]));
	memset(&m->cable[i][m->frames[i]], 0, sizeof(m->cable[i][0]));
}

static bool spend(u8 *budget)
{
	if (!*budget)
		return false;
	--*budget;
	return true;
}

/* Return: whether the action is possible. */
static bool act(struct model *m, unsigned int action, unsigned int i,
		unsigned int at)
{
	struct side *s = &m->side[i];
	struct frame f;

	switch (action) {
	case HELLO:
		if (!spend(&m->left.hellos[i]))
			return false;
		send(m, i, false);
		return true;
	case RESTART:
		if (!spend(&m->left.restarts[i]))
			return false;
		restart(m, i);
		return true;
	case BYE:
		if (!spend(&m->left.byes[i]))
			return false;
		send(m, i, true);
		restart(m, i);
		return true;
	case DEATH:
		if (!s->p.peer_nonce || !spend(&m->left.deaths[i]))
			return false;
		bfc_peer_tick(&s->p, s->p.heard_ns + BFC_PEER_DEAD_NS + 1);
		leave(s);
		return true;
	}

	/* The others are about a frame under way. */
	if (at >= m->frames[i])
		return false;
	if (at && action != LOSE && !spend(&m->left.swaps))
		return false;
	f = m->cable[i][at];
	switch (action) {
	case DELIVER:
		take(m, i, at);
		deliver(m, i, f);
		return true;
	case LOSE:
		if (!spend(&m->left.losses))
			return false;
		take(m, i, at);
		return true;
	case DOUBLE:
		if (!spend(&m->left.doubles))
			return false;
		deliver(m, i, f);
		return true;
	}
	return false;
}

static bool safe(const struct model *m)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const struct side *me = &m->side[i], *other = &m->side[!i];

		if (me->p.state != BFC_PEER_STATE_UP ||
		    me->known != other->generation)
			continue;
		if (!pops(other) || !(other->heard & 1U << me->p.nonce))
			return false;
	}
	return true;
}

/* Nothing is lost from here on: deliver all, then a round of HELLOs ... */
static bool quiet(struct model *m)
{
	unsigned int i, answers = 0;

	while (m->frames[0] || m->frames[1])
		for (i = 0; i < 2; i++) {
			struct frame f = m->cable[i][0];

			if (!m->frames[i])
				continue;
			take(m, i, 0);
			answers += deliver(m, i, f);
			if (answers > ANSWERS_MAX)
				return false;
		}
	return true;
}

static bool lively(struct model m)
{
	unsigned int round, i;

	for (round = 0; round < 5; round++) {
		if (!quiet(&m))
			return false;
		if (round >= 3 && (m.side[0].p.state != BFC_PEER_STATE_UP ||
				   m.side[1].p.state != BFC_PEER_STATE_UP))
			return false;
		for (i = 0; i < 2; i++)
			send(&m, i, false);
	}
	return safe(&m);
}

/* The search. Seen states are known by a hash of 64 bits only: that two of some
 * million have the same would lose one state, with a probability of 1e-6.
 */
static struct how *hows;
static u64 *seen;
static u32 nseen;

#define SEEN_SLOTS	(1U << 22)

static u64 hash(const struct model *m)
{
	const u8 *p = (const u8 *)m;
	u64 h = 0x9e3779b97f4a7c15ULL, w;
	size_t i;

	for (i = 0; i + 8 <= sizeof(*m); i += 8) {
		memcpy(&w, p + i, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	for (w = 0; i < sizeof(*m); i++)
		w = w << 8 | p[i];
	h = (h ^ w) * 0xc4ceb9fe1a85ec53ULL;
	h ^= h >> 29;
	return h ? h : 1;
}

/* Return: whether it is new. */
static bool see(const struct model *m)
{
	u64 h = hash(m);
	u32 slot = h % SEEN_SLOTS;

	for (; seen[slot]; slot = (slot + 1) % SEEN_SLOTS)
		if (seen[slot] == h)
			return false;
	seen[slot] = h;
	return true;
}

static const char *state_name(u8 state)
{
	switch (state) {
	case BFC_PEER_STATE_SEARCHING:
		return "searching";
	case BFC_PEER_STATE_HEARD:
		return "heard";
	case BFC_PEER_STATE_UP:
		return "up";
	case BFC_PEER_STATE_CONFLICT:
		return "conflict";
	}
	return "?";
}

static void start(struct model *m, const struct budget *budget)
{
	/* memset, not an initializer: padding is hashed as well */
	memset(m, 0, sizeof(*m));
	memcpy(&m->left, budget, sizeof(*budget));
	restart(m, 0);
	restart(m, 1);
}

/* Tell how the search got there, by doing it again. */
static void tell(const struct budget *budget, u32 last)
{
	u32 path[64], n = 0;
	struct model m;

	for (; last && n < UNIT_SIZE(path); last = hows[last].from)
		path[n++] = last;
	start(&m, budget);
	while (n--) {
		const struct how *how = &hows[path[n]];
		struct frame f = m.cable[how->side][how->at];

		act(&m, how->action, how->side, how->at);
		printf("#   %c %s", "AB"[how->side], action_name[how->action]);
		if (how->action >= DELIVER)
			printf(" (%snonce %u, echo %u, seq %u; no. %u under way)",
			       f.flags & BFC_HELLO_F_BYE ? "BYE, " : "", f.nonce, f.echo, f.seq,
			       how->at + 1);
		printf(" -> A %s (nonce %u), B %s (nonce %u)\n",
		       state_name(m.side[0].p.state), m.side[0].p.nonce,
		       state_name(m.side[1].p.state), m.side[1].p.nonce);
	}
}

/**
 * struct front - states of one depth
 * @models: the states
 * @from: how they came about, index in hows[]
 * @n: their number
 */
struct front {
	struct model *models;
	u32 *from;
	u32 n;
};

static void front_alloc(struct front *f)
{
	f->models = malloc(FRONT_MAX * sizeof(*f->models));
	f->from = malloc(FRONT_MAX * sizeof(*f->from));
	f->n = 0;
	if (!f->models || !f->from)
		abort();
}

static void front_free(struct front *f)
{
	free(f->models);
	free(f->from);
}

/* One step from one state. Return: false if the search is over. */
static bool step(const struct budget *budget, const struct front *now, u32 k,
		 struct how how, struct front *next)
{
	struct model m;

	memcpy(&m, &now->models[k], sizeof(m));
	if (!act(&m, how.action, how.side, how.at) || !see(&m))
		return true;
	if (!CHECK(nseen < STATES_MAX && next->n < FRONT_MAX,
		   "too many states"))
		return false;
	how.from = now->from[k];
	hows[nseen] = how;
	if (!CHECK(safe(&m), "one stamps, the other does not pop:")) {
		tell(budget, nseen);
		return false;
	}
	memcpy(&next->models[next->n], &m, sizeof(m));
	next->from[next->n++] = nseen++;
	return true;
}

static bool steps(const struct budget *budget, const struct front *now, u32 k,
		  struct front *next)
{
	struct how how = { 0 };

	for (how.action = 0; how.action < ACTIONS; how.action++)
		for (how.side = 0; how.side < 2; how.side++)
			for (how.at = 0; how.at < CABLE; how.at++) {
				if (how.at && how.action < DELIVER)
					break;
				if (!step(budget, now, k, how, next))
					return false;
			}
	return true;
}

static void explore(const struct budget *budget)
{
	struct front now, next, swap;
	unsigned int depth = 0, up = 0;
	bool good = true;
	u32 k;

	seen = calloc(SEEN_SLOTS, sizeof(*seen));
	hows = calloc(STATES_MAX, sizeof(*hows));
	if (!seen || !hows)
		abort();
	front_alloc(&now);
	front_alloc(&next);

	start(&now.models[0], budget);
	see(&now.models[0]);
	now.from[0] = 0;
	now.n = 1;
	nseen = 1;
	while (now.n && good) {
		next.n = 0;
		for (k = 0; k < now.n && good; k++) {
			const struct model *m = &now.models[k];

			good = CHECK(lively(*m), "no peace from here:");
			if (!good)
				tell(budget, now.from[k]);
			else
				good = steps(budget, &now, k, &next);
			up += m->side[0].p.state == BFC_PEER_STATE_UP &&
			      m->side[1].p.state == BFC_PEER_STATE_UP;
		}
		swap = now;
		now = next;
		next = swap;
		depth++;
	}
	CHECK(!good || up, "never up: nothing was tested");
	printf("# %u states, %u steps deep, both up in %u\n", nseen, depth, up);
	front_free(&now);
	front_free(&next);
	free(seen);
	free(hows);
}

static const struct budget budget_perfect = {
	.hellos = { 4, 4 },
};

static const struct budget budget_loss = {
	.hellos = { 3, 3 },
	.losses = 3,
	.doubles = 1,
};

static const struct budget budget_restart = {
	.hellos = { 2, 1 },
	.losses = 1,
	.doubles = 1,
	.restarts = { 1, 1 },
};

static const struct budget budget_restart_twice = {
	.hellos = { 2, 3 },
	.losses = 1,
	.restarts = { 2, 0 },
};

static const struct budget budget_bye = {
	.hellos = { 2, 2 },
	.losses = 1,
	.byes = { 1, 1 },
};

static const struct budget budget_death = {
	.hellos = { 2, 2 },
	.losses = 1,
	.deaths = { 1, 1 },
	.restarts = { 1, 0 },
};

static const struct budget budget_reorder = {
	.hellos = { 2, 3 },
	.losses = 1,
	.doubles = 1,
	.swaps = 2,
};

static const struct budget budget_reorder_death = {
	.hellos = { 2, 3 },
	.swaps = 2,
	.deaths = { 1, 0 },
};

static void test_perfect(void)
{
	explore(&budget_perfect);
}

static void test_loss(void)
{
	explore(&budget_loss);
}

static void test_restart(void)
{
	explore(&budget_restart);
}

static void test_restart_twice(void)
{
	explore(&budget_restart_twice);
}

static void test_bye(void)
{
	explore(&budget_bye);
}

static void test_death(void)
{
	explore(&budget_death);
}

static void test_reorder(void)
{
	explore(&budget_reorder);
}

static void test_reorder_death(void)
{
	explore(&budget_reorder_death);
}

static const struct unit_case cases[] = {
	{ "peer model: perfect cable", test_perfect },
	{ "peer model: loss and duplicates", test_loss },
	{ "peer model: loss, duplicates, both start over", test_restart },
	{ "peer model: loss, one starts over twice", test_restart_twice },
	{ "peer model: loss, both say BYE", test_bye },
	{ "peer model: loss, both take the other for dead", test_death },
	{ "peer model: loss, duplicates, out of order", test_reorder },
	{ "peer model: out of order, one takes the other for dead",
	  test_reorder_death },
};

#include "unit_main.h"
