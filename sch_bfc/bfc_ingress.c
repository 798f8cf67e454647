// SPDX-License-Identifier: GPL-2.0
/*
 * The table of handles, which leads from a packet at any egress back to the counters
 * of the port that it came in on, and life and death of these counters.
 */
#include <linux/netdevice.h>
#include <net/net_namespace.h>

#include "bfc.h"

/* Runs of BFC_HANDLE_RUNS handles; entries are set and cleared under the lock
 * and read under RCU. Run 0 is never given out: handle 0 means "none".
 */
static struct bfc_ingress __rcu *bfc_handles[BFC_HANDLE_RUNS];
static unsigned long bfc_runs_used[BITS_TO_LONGS(BFC_HANDLE_RUNS)] = { BIT(0) };
static LIST_HEAD(bfc_dead_ingress);
static DEFINE_SPINLOCK(bfc_handle_lock);

/* Runs that a port may have: twice what the most queues take */
#define BFC_PORT_RUNS	256

/**
 * bfc_handle_get() - whose handle is this?
 * @handle: from skb->tc_index
 *
 * Context: RCU.
 * Return: the counters, which may be dead; NULL if nobody's.
 */
struct bfc_ingress *bfc_handle_get(u16 handle)
{
	return rcu_dereference(bfc_handles[handle >> BFC_HANDLE_SHIFT]);
}

static unsigned int bfc_runs(unsigned int queues)
{
	return DIV_ROUND_UP(queues + 1, 1 << BFC_HANDLE_SHIFT);
}

/**
 * bfc_ingress_room() - may a neighbour have other queues already?
 * @port: of the neighbour
 * @queues: its
 *
 * Old counters, with their handles, stay while packets hold counts: one that keeps
 * changing its mind, while the egress is congested, must not use them all up.
 *
 * Context: port->lock held.
 * Return: whether the port has not got too many.
 */
bool bfc_ingress_room(const struct bfc_port *port, unsigned int queues)
{
	unsigned int runs = bfc_runs(queues);
	const struct bfc_ingress *ing;

	ing = bfc_ingress_of(port);
	if (ing)
		runs += ing->runs;
	BUILD_BUG_ON(BFC_PORT_RUNS < 2 * DIV_ROUND_UP(BFC_WIRE_QUEUES_MAX + 1,
						      1 << BFC_HANDLE_SHIFT));
	spin_lock_bh(&bfc_handle_lock);
	list_for_each_entry(ing, &bfc_dead_ingress, list)
		if (ing->owner == port->number)
			runs += ing->runs;
	spin_unlock_bh(&bfc_handle_lock);
	return runs <= BFC_PORT_RUNS;
}

/**
 * bfc_ingress_new() - pause counters, and handles for them
 * @port: for its neighbour
 * @queues: of the neighbour; 0: none, what is held of the port alone
 *
 * Context: port->lock held.
 * Return: counters that the port may publish, or NULL: no memory or no handles.
 */
struct bfc_ingress *bfc_ingress_new(struct bfc_port *port, unsigned int queues)
{
	unsigned int runs = bfc_runs(queues);
	unsigned int limit = BFC_HANDLE_RUNS;
	struct bfc_ingress *ing;
	unsigned long run, i;

	ing = kzalloc(struct_size(ing, counter, queues),
		      GFP_ATOMIC | __GFP_NOWARN);
	if (!ing)
		return NULL;
	ing->slot = port->slot;
	ing->buffer = port->conf->buffer;
	ing->reserve = ing->buffer ? port->conf->lossy.reserve : 0;
	if (port->conf->fc == BFC_FC_FAFC) {
		ing->fafc = bfc_fafc_in_new(port->conf, ktime_get_ns());
		if (!ing->fafc) {
			kfree(ing);
			return NULL;
		}
	}
	RCU_INIT_POINTER(ing->conf, port->conf);
	ing->queues = queues;
	ing->layout = port->layouts;
	ing->runs = runs;
	ing->ifindex = port->dev->ifindex;
	ing->owner = port->number;
	RCU_INIT_POINTER(ing->port, port);
	INIT_LIST_HEAD(&ing->list);

	spin_lock_bh(&bfc_handle_lock);
	/* The other namespaces leave half of the handles to the first. */
	if (!net_eq(dev_net(port->dev), &init_net))
		limit /= 2;
	run = bitmap_find_next_zero_area(bfc_runs_used, limit, 1, runs, 0);
	if (run >= limit) {
		spin_unlock_bh(&bfc_handle_lock);
		kfree(ing->fafc);
		kfree(ing);
		return NULL;
	}
	bitmap_set(bfc_runs_used, run, runs);
	ing->base = run << BFC_HANDLE_SHIFT;
	for (i = run; i < run + runs; i++)
		rcu_assign_pointer(bfc_handles[i], ing);
	spin_unlock_bh(&bfc_handle_lock);
	if (ing->buffer)
		refcount_inc(&ing->buffer->users);
	return ing;
}

/**
 * bfc_ingress_retire() - others take the place of these counters
 * @ing: the counters
 *
 * No count is added from now on, once everybody has noticed (see the sweep),
 * and nobody is woken any more: the port and its thresholds may be gone before
 * the last count is given back.
 *
 * Context: port->lock held.
 */
void bfc_ingress_retire(struct bfc_ingress *ing)
{
	WRITE_ONCE(ing->dead, true);
	RCU_INIT_POINTER(ing->port, NULL);
	RCU_INIT_POINTER(ing->conf, NULL);
	spin_lock_bh(&bfc_handle_lock);
	list_add_tail(&ing->list, &bfc_dead_ingress);
	spin_unlock_bh(&bfc_handle_lock);
	bfc_sweep_soon();
}

static void bfc_ingress_unlist(struct bfc_ingress *ing)
{
	unsigned long run = ing->base >> BFC_HANDLE_SHIFT, i;

	lockdep_assert_held(&bfc_handle_lock);
	for (i = run; i < run + ing->runs; i++)
		RCU_INIT_POINTER(bfc_handles[i], NULL);
	bitmap_clear(bfc_runs_used, run, ing->runs);
	list_del(&ing->list);
}

/* Does any packet hold a count or bytes here? */
static bool bfc_ingress_busy(const struct bfc_ingress *ing)
{
	unsigned int i;

	for (i = 0; i < ing->queues; i++)
		if (atomic_read(&ing->counter[i]))
			return true;
	for (i = 0; i < BFC_PRIORITIES; i++)
		if (atomic64_read(&ing->held[i].cell.word))
			return true;
	return false;
}

/**
 * bfc_ingress_sweep() - give the handles of dead objects back, once no packet holds a
 * count there
 *
 * Nobody has added one since the grace period, so zero is final.
 *
 * Context: process.
 * Return: true if some are left.
 */
bool bfc_ingress_sweep(void)
{
	struct bfc_ingress *ing, *next;
	LIST_HEAD(gone);
	bool again;

	spin_lock_bh(&bfc_handle_lock);
	list_for_each_entry(ing, &bfc_dead_ingress, list)
		ing->noticed = true;
	again = !list_empty(&bfc_dead_ingress);
	spin_unlock_bh(&bfc_handle_lock);
	if (!again)
		return false;
	synchronize_net();

	spin_lock_bh(&bfc_handle_lock);
	list_for_each_entry_safe(ing, next, &bfc_dead_ingress, list) {
		if (!ing->noticed || bfc_ingress_busy(ing))
			continue;
		bfc_ingress_unlist(ing);
		list_add(&ing->list, &gone);
	}
	again = !list_empty(&bfc_dead_ingress);
	spin_unlock_bh(&bfc_handle_lock);

	if (list_empty(&gone))
		return again;
	/* Those who gave the last count back may still be looking. */
	synchronize_net();
	list_for_each_entry_safe(ing, next, &gone, list) {
		bfc_buffer_put(ing->buffer);
		kfree(ing->fafc);
		kfree(ing);
	}
	return again;
}
