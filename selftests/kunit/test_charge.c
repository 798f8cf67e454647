// SPDX-License-Identifier: GPL-2.0
/*
 * Thresholds change while packets are charged: bfc_charge.c as it is. Wherever it reads or writes
 * what processors share, a test may run what another one does there.
 */
#include <linux/skbuff.h>

#include "../../sch_bfc/bfc.h"
#include "../../sch_bfc/fc_capfc.h"
#include "../../sch_bfc/fc_fafc.h"
#include "../unit/unit.h"

#define PRIO	3	/* neither the first nor the last that a change comes to */
#define LEN	1000U	/* bytes of a packet */

static unsigned int steps;	/* so many have been taken */
static unsigned int at;		/* before this one another processor gets its turn */
static void (*other)(void);	/* what that does; NULL: nothing, or it is done */

static void step(void)
{
	void (*run)(void) = other;

	if (!run || steps++ != at)
		return;
	other = NULL;
	run();
}

#define atomic64_read(v)		(step(), atomic64_read(v))
#define atomic64_read_acquire(v)	(step(), atomic64_read_acquire(v))
#define atomic64_set(v, i)		do { step(); atomic64_set(v, i); } while (0)
#define atomic64_cmpxchg(v, old, new)	(step(), atomic64_cmpxchg(v, old, new))
#include "../../sch_bfc/bfc_charge.c"

/* ---- what it calls, and no test needs ---- */

struct bfc_ingress *bfc_prove(const struct bfc_sched *q, const struct sk_buff *skb)
{
	return NULL;
}

bool bfc_elided(const struct bfc_params *p, int ifindex)
{
	return false;
}

bool bfc_capfc_admit(const struct bfc_sched *q, const struct bfc_cfg *cfg, u8 prio, u32 len)
{
	return true;
}

void bfc_fafc_held(struct bfc_ingress *ing, const struct bfc_cfg *cfg, unsigned int prio,
		   u32 len, bool in, u64 now)
{
}

void bfc_hrtt_came(struct bfc_port *port, u16 what)
{
}

void bfc_prio_look(struct bfc_ingress *ing, unsigned int prio)
{
}

/* ---- one ingress port, one egress port, packets of one priority ---- */

static struct bfc_ingress *ing;
static struct bfc_charges *charges;
static struct bfc_sched *q;
static struct sk_buff *skb;
static struct bfc_cfg *cfg[3];

static void set_up(void)
{
	static const struct bfc_pfc_thresh in[] = {
		{ .max = 100 * LEN, .xoff = 50 * LEN, .headroom = 50 * LEN },
		{ .max = 30 * LEN, .xoff = 10 * LEN, .headroom = 20 * LEN },
		{ .max = 45 * LEN, .xoff = 10 * LEN, .headroom = 35 * LEN },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(in); i++) {
		cfg[i] = calloc(1, sizeof(*cfg[i]));
		if (!cfg[i])
			abort();
		cfg[i]->in = in[i];
		cfg[i]->lossless = BIT(PRIO);
	}
	ing = calloc(1, sizeof(*ing));
	charges = calloc(1, sizeof(*charges));
	q = calloc(1, sizeof(*q));
	skb = alloc_skb(0, GFP_KERNEL);
	if (!ing || !charges || !q || !skb)
		abort();
	q->cfg = cfg[0];
	q->call.looked = true;
	q->call.brought = ing;
	qdisc_skb_cb(skb)->pkt_len = LEN;
	bfc_cb(skb)->prio = PRIO;
	RCU_INIT_POINTER(ing->cfg, cfg[0]);
	ing->charges = charges;
	RCU_INIT_POINTER(charges->ing, ing);
	steps = 0;
}

static void tear_down(void)
{
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(cfg); i++)
		free(cfg[i]);
	free(charges);
	free(ing);
	free(q);
	kfree_skb(skb);
	other = NULL;
}

/* Return: how many of @n packets there was room for. */
static unsigned int come(unsigned int n)
{
	unsigned int room = 0;

	rcu_read_lock();
	while (n--)
		room += bfc_hold(q, skb);
	rcu_read_unlock();
	return room;
}

static void leave(unsigned int n)
{
	rcu_read_lock();
	while (n--)
		bfc_unhold(q, skb, ing);
	rcu_read_unlock();
}

static void one_leaves(void)
{
	leave(1);
}

static unsigned int came;	/* packets that came by the second configuration so far */

static void five_come(void)
{
	came = rcu_access_pointer(ing->cfg) == cfg[1] ? 5 : 0;
	CHECK(come(5) == 5, "step %u", at);
}

/* From what a grace of the second configuration allows to as much by one of the third. */
static void change_again(void)
{
	CHECK(come(15) == 15, "step %u", at);
	bfc_hold_by(ing, cfg[2]);
}

/*
 * A port holds 40 packets, and has not been paused for them. By other thresholds it would be: the
 * headroom is for what comes until it is, whatever leaves or comes while they change.
 */
static void test_change(void)
{
	static void (* const others[])(void) = { one_leaves, five_come };
	unsigned int i, room;
	bool ran;

	for (i = 0; i < UNIT_SIZE(others); i++)
		for (at = 0, ran = true; ran; at++) {
			set_up();
			other = others[i];
			CHECK(come(40) == 40);
			steps = 0;
			came = 0;
			bfc_hold_by(ing, cfg[1]);
			ran = !other;
			other = NULL;
			room = came + come(20 - came);
			CHECK(room == 20, "%s, step %u: room for %u of 20 packets",
			      i ? "five come" : "one leaves", at, room);
			tear_down();
		}
}

/* What is held is no more than XOFF, which ends the grace; but that comes late, after more packets
 * and another change. This one allows the same number of bytes, by the same XOFF.
 */
static void test_late(void)
{
	unsigned int room;
	bool ran;

	for (at = 0, ran = true; ran; at++) {
		set_up();
		CHECK(come(40) == 40);
		bfc_hold_by(ing, cfg[1]);
		leave(29);
		steps = 0;
		other = change_again;
		leave(1);
		ran = !other;
		other = NULL;
		if (ran) {
			room = come(35);
			CHECK(room == 35, "step %u: room for %u of 35 packets", at, room);
		}
		tear_down();
	}
}

/* It lasts until no more than XOFF is held, and no longer. */
static void test_end(void)
{
	set_up();
	CHECK(come(40) == 40);
	bfc_hold_by(ing, cfg[1]);
	CHECK(come(21) == 20);
	leave(49);
	CHECK(come(49) == 49);
	leave(50);
	CHECK(come(21) == 20);
	tear_down();
}

/* Changes while no packet leaves do not add up: MAX, and headroom once. */
static void test_repeat(void)
{
	unsigned int i, room = 0;

	set_up();
	for (i = 0; i < 5; i++) {
		room += come(200);
		bfc_hold_by(ing, cfg[0]);
	}
	room += come(200);
	CHECK(room == 150, "room for %u of 150 packets", room);
	tear_down();
}

/* Other counters of the port are in use when packets leave that the old ones charged. */
static void test_heir(void)
{
	struct bfc_ingress *old, *heir = calloc(1, sizeof(*heir));

	set_up();
	if (!heir)
		abort();
	CHECK(come(100) == 100);
	heir->charges = charges;
	RCU_INIT_POINTER(heir->cfg, cfg[0]);
	RCU_INIT_POINTER(charges->ing, heir);
	RCU_INIT_POINTER(ing->cfg, NULL);
	old = ing;
	ing = heir;
	q->call.brought = heir;
	CHECK(come(1) == 0);
	bfc_hold_by(heir, cfg[1]);
	rcu_read_lock();
	for (unsigned int n = 0; n < 100; n++)
		bfc_unhold(q, skb, old);
	rcu_read_unlock();
	CHECK(!atomic_read(&old->packets));
	CHECK(come(31) == 30);	/* the grace is over */
	CHECK(atomic_read(&heir->packets) == 30);
	free(old);
	tear_down();
}

/* In a shared buffer of 100 packets: XOFF, headroom, and beyond both what all priorities of the
 * port together may have there, be XOFF static or not.
 */
static void test_beyond(void)
{
	static const u32 alphas[] = { 0, BFC_ALPHA_ONE / 10 };
	unsigned int i, first, second;

	for (i = 0; i < UNIT_SIZE(alphas); i++) {
		struct bfc_buffer *buffer = calloc(1, sizeof(*buffer));
		struct bfc_cfg *c;

		set_up();
		if (!buffer)
			abort();
		buffer->pool.size = 100 * LEN;
		charges->buffer = buffer;
		c = cfg[0];
		c->lossless |= BIT(PRIO + 1);
		c->in = (struct bfc_pfc_thresh){
			.xoff = 10 * LEN, .headroom = 5 * LEN, .alpha = alphas[i],
		};
		c->cell = (struct bfc_cell_cfg){
			.limit = alphas[i] ? BFC_LIMIT_NONE : c->in.xoff,
			.alpha = alphas[i], .headroom = c->in.headroom,
			.beyond = 20 * LEN,
		};
		first = come(100);
		bfc_cb(skb)->prio = PRIO + 1;
		second = come(100);
		/* A tenth of the rest: 9, and then 6 of 71; or a packet more, as the rest is what
		 * was free before it came
		 */
		CHECK(alphas[i] ? first == 9 + 5 + 20 && second >= 5 + 6 && second <= 5 + 8 :
				  first == 10 + 5 + 20 && second == 10 + 5,
		      "alpha %u: %u, %u", alphas[i], first, second);
		CHECK(q->stats.drop_buffer == 200 - first - second);
		leave(second);
		bfc_cb(skb)->prio = PRIO;
		leave(first);
		CHECK(!atomic_long_read(&buffer->pool.shared));
		free(buffer);
		tear_down();
	}
}

static const struct unit_case cases[] = {
	{ "room for what comes by old thresholds, whatever happens meanwhile", test_change },
	{ "an end that comes late does not end the next grace", test_late },
	{ "the grace ends with XOFF", test_end },
	{ "no headroom for each change", test_repeat },
	{ "a shared buffer: beyond XOFF and headroom, for all priorities together", test_beyond },
	{ "new counters go on with what the old ones charged", test_heir },
};

#include "../unit/unit_main.h"
