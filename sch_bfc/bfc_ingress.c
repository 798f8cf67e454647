// SPDX-License-Identifier: GPL-2.0
/*
 * The table of handles of a namespace, which leads from a packet at any egress back to the
 * counters of the port that it came in on; and how these counters are made and end.
 */
#include <linux/netdevice.h>

#include "bfc.h"

static LIST_HEAD(bfc_dead_ingress);
static DEFINE_SPINLOCK(bfc_handle_lock);

#define BFC_RUNS(queues) DIV_ROUND_UP((queues) + 1, 1 << BFC_HANDLE_SHIFT)

/* Most runs of a port: counters for a neighbour with the most queues; those for another one
 * before it that packets still hold; and those without queues, which the port had in between.
 */
#define BFC_PORT_RUNS	(2 * BFC_RUNS(BFC_QUEUES_MAX) + BFC_RUNS(0))

/* A port may have one in so many of the runs that others leave. 64 ports that take all they can
 * leave 1/62 of the table (15/16 to the power of 64), and 48 ports can have the most queues.
 */
#define BFC_PORT_PART	16

/**
 * bfc_ingress_room() - whether a port may have handles for a neighbour with so many queues
 * @port: the port
 * @queues: what the neighbour's HELLO claims
 *
 * A stranger can claim any number of queues, and then another one: old counters, with their
 * handles, stay while packets hold counts. So there is a bound for each port, and a port has at
 * most a part of the runs that are free or its own. Thus k ports leave (1 - 1 /
 * BFC_PORT_PART)^k of the table to those that come later, whatever they claim, in whatever
 * order and however often: what a port gets after others is a part of what these leave, and a
 * port that claims anew does so with all that it holds.
 *
 * Context: port->lock held.
 * Return: 0 if it may, else why not: BFC_REFUSED_*.
 */
u8 bfc_ingress_room(const struct bfc_port *port, unsigned int queues)
{
	unsigned int new = BFC_RUNS(queues), old, free;
	const struct bfc_switch *sw = port->sw;
	const struct bfc_ingress *ing;

	if (port->opt.role == BFC_ROLE_NIC)
		return BFC_REFUSED_NOT;	/* counts nothing */
	if (queues > BFC_QUEUES_MAX)
		return BFC_REFUSED_QUEUES;
	spin_lock_bh(&bfc_handle_lock);
	old = port->neighbour.old_runs;
	free = BFC_HANDLE_RUNS - sw->runs;
	spin_unlock_bh(&bfc_handle_lock);
	ing = bfc_ingress_of(port);
	if (ing)
		old += ing->runs;
	if (old + new > BFC_PORT_RUNS)
		return BFC_REFUSED_WAIT;
	if ((old + new) * BFC_PORT_PART > free + old)
		return BFC_REFUSED_HANDLES;
	return BFC_REFUSED_NOT;
}

/* Take handles for new counters and put these into the table; false if no handles are left. */
static bool bfc_ingress_enter(struct bfc_ingress *ing)
{
	struct bfc_switch *sw = ing->sw;
	unsigned long run, i;

	spin_lock_bh(&bfc_handle_lock);
	run = bitmap_find_next_zero_area(sw->runs_used, BFC_HANDLE_RUNS, 1,
					 ing->runs, 0);
	if (run >= BFC_HANDLE_RUNS) {
		spin_unlock_bh(&bfc_handle_lock);
		return false;
	}
	bitmap_set(sw->runs_used, run, ing->runs);
	sw->runs += ing->runs;
	ing->base = run << BFC_HANDLE_SHIFT;
	for (i = run; i < run + ing->runs; i++)
		rcu_assign_pointer(sw->handles[i], ing);
	spin_unlock_bh(&bfc_handle_lock);
	return true;
}

/**
 * bfc_charges_put() - one user less
 * @charges: what packets are charged to, or NULL; RCU readers that use it through this user have
 *	     gone
 *
 * Context: any.
 */
void bfc_charges_put(struct bfc_charges *charges)
{
	if (!charges || !refcount_dec_and_test(&charges->users))
		return;
	bfc_buffer_put(charges->buffer);
	kfree(charges);
}

/* What packets are charged to by new counters, with one user more; NULL: no memory. */
static struct bfc_charges *bfc_charges_get(struct bfc_port *port)
{
	struct bfc_buffer *buffer = port->cfg->buffer;
	u32 reserve = buffer ? port->cfg->lossy.reserve : 0;
	struct bfc_charges *charges = port->charges;

	lockdep_assert_held(&port->lock);
	if (!charges || charges->buffer != buffer || charges->reserve != reserve) {
		charges = kzalloc(sizeof(*charges), GFP_ATOMIC | __GFP_NOWARN);
		if (!charges)
			return NULL;
		charges->buffer = buffer;
		charges->reserve = reserve;
		refcount_set(&charges->users, 1);
		if (buffer)
			refcount_inc(&buffer->users);
		bfc_charges_put(port->charges);
		port->charges = charges;
	}
	refcount_inc(&charges->users);
	return charges;
}

static void bfc_ingress_free(struct bfc_ingress *ing)
{
	bfc_charges_put(ing->charges);
	kfree(ing->account);
	kfree(ing);
}

/**
 * bfc_ingress_new() - pause counters, and handles for them
 * @port: for its neighbour
 * @queues: of the neighbour; 0: no pause counters, only what is held of the port
 * @refused: result, BFC_REFUSED_* if there are none
 *
 * Context: port->lock held.
 * Return: counters that the port may publish, or NULL: no memory or no handles.
 */
struct bfc_ingress *bfc_ingress_new(struct bfc_port *port, unsigned int queues,
				    u8 *refused)
{
	struct bfc_ingress *ing;

	*refused = BFC_REFUSED_MEMORY;
	ing = kzalloc(struct_size(ing, counter, queues) + queues * (sizeof(u32) + sizeof(u8)),
		      GFP_ATOMIC | __GFP_NOWARN);
	if (!ing)
		return NULL;
	ing->sw = port->sw;
	ing->slot = port->slot;
	ing->charges = bfc_charges_get(port);
	ing->fc = port->cfg->fc;
	if (!ing->charges)
		goto free;
	if (ing->fc->ingress_new) {
		ing->account = ing->fc->ingress_new(port->cfg, ktime_get_ns());
		if (!ing->account)
			goto free;
	}
	RCU_INIT_POINTER(ing->cfg, port->cfg);
	ing->queues = queues;
	ing->classed = bfc_port_keeps_class(port);
	ing->layout = port->neighbour.layouts;
	ing->runs = BFC_RUNS(queues);
	ing->ifindex = port->dev->ifindex;
	ing->owner = port->id;
	RCU_INIT_POINTER(ing->port, port);
	INIT_LIST_HEAD(&ing->list);

	if (!bfc_ingress_enter(ing)) {
		*refused = BFC_REFUSED_HANDLES;
		goto free;
	}
	refcount_inc(&ing->sw->users);
	rcu_assign_pointer(ing->charges->ing, ing);
	*refused = BFC_REFUSED_NOT;
	return ing;

free:
	bfc_ingress_free(ing);
	return NULL;
}

/**
 * bfc_ingress_retire() - other counters take the place of these
 * @port: the port that they were made for
 * @ing: the counters
 *
 * Once a grace period is over (see the sweep), no count is added any more, and these
 * counters make no port dirty: the port and its thresholds may be gone before the last
 * count is given back.
 *
 * Context: port->lock held.
 */
void bfc_ingress_retire(struct bfc_port *port, struct bfc_ingress *ing)
{
	WRITE_ONCE(ing->dead, true);
	if (rcu_access_pointer(ing->charges->ing) == ing)
		RCU_INIT_POINTER(ing->charges->ing, NULL);
	RCU_INIT_POINTER(ing->port, NULL);
	RCU_INIT_POINTER(ing->cfg, NULL);
	spin_lock_bh(&bfc_handle_lock);
	list_add_tail(&ing->list, &bfc_dead_ingress);
	port->neighbour.old_runs += ing->runs;
	spin_unlock_bh(&bfc_handle_lock);
	bfc_sweep_soon();
}

static void bfc_ingress_unlist(struct bfc_ingress *ing)
{
	unsigned long run = ing->base >> BFC_HANDLE_SHIFT, i;
	struct bfc_port *port = xa_load(&bfc_port_ids, ing->owner);

	lockdep_assert_held(&bfc_handle_lock);
	for (i = run; i < run + ing->runs; i++)
		RCU_INIT_POINTER(ing->sw->handles[i], NULL);
	bitmap_clear(ing->sw->runs_used, run, ing->runs);
	ing->sw->runs -= ing->runs;
	if (port)
		port->neighbour.old_runs -= ing->runs;
}

/* True if a packet holds a count here, or is charged by these counters. */
static bool bfc_ingress_busy(const struct bfc_ingress *ing)
{
	unsigned int i;

	for (i = 0; i < ing->queues; i++)
		if (atomic_read(&ing->counter[i]))
			return true;
	return atomic_read(&ing->packets);
}

/**
 * bfc_ingress_sweep() - give the handles of dead objects back, once no packet holds a
 * count there
 *
 * No count is added after the grace period, so zero is final.
 *
 * Context: process.
 * Return: true if some are left.
 */
bool bfc_ingress_sweep(void)
{
	struct bfc_ingress *ing, *next;
	LIST_HEAD(dead);
	LIST_HEAD(gone);
	bool again;

	spin_lock_bh(&bfc_handle_lock);
	list_splice_init(&bfc_dead_ingress, &dead);
	spin_unlock_bh(&bfc_handle_lock);
	if (list_empty(&dead))
		return false;
	synchronize_net();
	/* Without the lock: there may be many, of all namespaces, and only this removes any. */
	list_for_each_entry_safe(ing, next, &dead, list) {
		if (!bfc_ingress_busy(ing))
			list_move(&ing->list, &gone);
		cond_resched();
	}

	rcu_read_lock();	/* for their ports */
	spin_lock_bh(&bfc_handle_lock);
	list_for_each_entry(ing, &gone, list)
		bfc_ingress_unlist(ing);
	list_splice(&dead, &bfc_dead_ingress);
	again = !list_empty(&bfc_dead_ingress);
	spin_unlock_bh(&bfc_handle_lock);
	rcu_read_unlock();

	if (list_empty(&gone))
		return again;
	/* Readers that gave the last count back may still use the object. */
	synchronize_net();
	list_for_each_entry_safe(ing, next, &gone, list) {
		bfc_switch_put(ing->sw);
		bfc_ingress_free(ing);
	}
	return again;
}
