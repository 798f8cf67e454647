// SPDX-License-Identifier: GPL-2.0
/*
 * `assign root`: where the congestion is that packets wait for, the root.
 *
 * A PAUSE tells for each paused queue the id of a root: the id of the egress port where the
 * queue grew over Th or, if that queue waits for the next hop itself, an id made from the one
 * that the next hop told for it. So ids go upstream, hop by hop, as pauses do. A switch learns
 * of a full link that is far away, but of no host. bfc_dest.c shares queues by these ids.
 *
 * A port makes another id of one that it is told, by a key of this box and the number of the
 * port: packets that wait for one root behind the port have one id upstream of it, too. So no
 * neighbour can give its own root the id of another neighbour's root, and packets to other
 * neighbours never share queues with packets to it.
 *
 *   next hop -> hook	  &bfc_port.root, beside the bitmap of paused queues
 *   dequeue merges	  &bfc_queue_pauses.root, and the root of the queue's destination
 *   enqueue counts	  bfc_ingress_roots(), beside the pause counter
 *   dequeue sends PAUSE  all those of paused queues
 *
 * Each of these is a hint: a reader of an old one shares queues in another way for a
 * while. None is needed for order, counters or pauses.
 */
#include <linux/siphash.h>

#include "bfc.h"

/* On while any port has `assign root`: egress ports without it then tell that they know none. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(bfc_roots, BFC_KEY_STAYS);

static hsiphash_key_t bfc_root_secret __read_mostly;

/**
 * bfc_root_init() - once at module load: a new key at every boot
 */
void bfc_root_init(void)
{
	get_random_bytes(&bfc_root_secret, sizeof(bfc_root_secret));
}

/**
 * bfc_roots_alloc() - the tables that a configuration needs
 * @sch: qdisc of a scheduler, not of a root that has none
 * @cfg: the configuration, not in use yet
 *
 * They stay until bfc_sched_free(). Not used as long as the configuration in use is without
 * `assign root`, so the root lock is not needed.
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM.
 */
int bfc_roots_alloc(struct Qdisc *sch, const struct bfc_cfg *cfg)
{
	struct bfc_sched *q = qdisc_priv(sch);

	if (!cfg->by_root || q->roots.behind)
		return 0;
	q->roots.sets = BFC_BEHIND_QUEUES * q->nqueues;
	q->roots.behind = kvcalloc(q->roots.sets * BFC_BEHIND_WAYS, sizeof(*q->roots.behind),
				   GFP_KERNEL_ACCOUNT);
	return q->roots.behind ? 0 : -ENOMEM;
}

/**
 * bfc_roots_configure() - forget all roots: queues are shared by root from now on, or no longer
 * @q: the scheduler, with a new configuration
 *
 * Context: under the root lock.
 */
void bfc_roots_configure(struct bfc_sched *q)
{
	unsigned int qn;

	for (qn = 0; qn < q->nqueues; qn++) {
		q->obeyed.pauses[qn].root = BFC_ROOT_UNKNOWN;
		q->obeyed.pauses[qn].told = BFC_ROOT_UNKNOWN;
		q->queues[qn].rooted = false;
		q->queues[qn].clean = false;
	}
	if (!q->cfg->by_root)
		return;
	memset(q->roots.behind, 0,
	       q->roots.sets * BFC_BEHIND_WAYS * sizeof(*q->roots.behind));
	q->roots.here = hsiphash_1u32(q->port->id, &bfc_root_secret) ?: 1;
}

static u32 bfc_roots_now(struct bfc_sched *q)
{
	return bfc_lately(q) >> BFC_BEHIND_SHIFT;
}

static struct bfc_behind *bfc_behind_set(const struct bfc_sched *q, u32 key)
{
	return q->roots.behind + reciprocal_scale(key, q->roots.sets) * BFC_BEHIND_WAYS;
}

/**
 * bfc_root_behind() - the root that a destination is behind
 * @q: the scheduler, with `assign root`
 * @key: of the destination
 *
 * Context: under the root lock.
 * Return: its id, or BFC_ROOT_UNKNOWN.
 */
u32 bfc_root_behind(struct bfc_sched *q, u32 key)
{
	const struct bfc_behind *e = bfc_behind_find(bfc_behind_set(q, key), key);

	return e ? e->root : BFC_ROOT_UNKNOWN;
}

/**
 * bfc_root_probe() - whether it is time to look again if a destination is behind its root
 * @q: the scheduler, with `assign root`
 * @key: of the destination
 *
 * Routes change. If it is time, the root is forgotten, and the flow that asks gets a
 * queue for itself.
 *
 * Context: under the root lock.
 * Return: true if so.
 */
bool bfc_root_probe(struct bfc_sched *q, u32 key)
{
	struct bfc_behind *e = bfc_behind_find(bfc_behind_set(q, key), key);

	if (!e || !bfc_behind_is_old(e, bfc_roots_now(q), q->cfg->root_age, &q->roots.probed))
		return false;
	e->root = BFC_ROOT_UNKNOWN;
	return true;
}

/**
 * bfc_root_learn() - a queue with packets to one destination only is paused for a root
 * @q: the scheduler, with `assign root`
 * @key: of the destination
 * @root: id
 *
 * Context: under the root lock.
 */
void bfc_root_learn(struct bfc_sched *q, u32 key, u32 root)
{
	bfc_behind_learn(bfc_behind_set(q, key), key, root, bfc_roots_now(q));
	q->stats.learned++;
}

/**
 * bfc_root_told() - the root of a queue, as the next hop told it
 * @q: the scheduler, with `assign root`
 * @qn: number of the queue, paused
 *
 * Context: under the root lock.
 * Return: the id, or BFC_ROOT_UNKNOWN.
 */
u32 bfc_root_told(struct bfc_sched *q, unsigned int qn)
{
	struct bfc_queue_pauses *p = &q->obeyed.pauses[qn];
	u32 told = READ_ONCE(q->port->root[q->base + qn]);

	p->told_at = bfc_roots_now(q);
	if (told == BFC_ROOT_UNKNOWN)
		p->root = BFC_ROOT_UNKNOWN;
	else if (told != p->told || p->root == BFC_ROOT_UNKNOWN)
		p->root = hsiphash_2u32(told, q->port->id, &bfc_root_secret) ?: 1;
	p->told = told;
	return p->root;
}

/**
 * bfc_root_assume() - the root of a queue that is to get its first packet
 * @q: the scheduler, with `assign root`
 * @queue: the queue
 * @root: that the destination is behind, or BFC_ROOT_UNKNOWN
 *
 * Context: under the root lock.
 */
void bfc_root_assume(struct bfc_sched *q, const struct bfc_queue *queue, u32 root)
{
	struct bfc_queue_pauses *p = &q->obeyed.pauses[queue - q->queues];

	if (bfc_bit_test(queue - q->queues, q->obeyed.paused))
		return;
	p->root = root;
	p->told = BFC_ROOT_UNKNOWN;	/* the neighbour has told none for this queue */
	p->told_at = bfc_roots_now(q);
}

/* The root that a queue waits for. A queue that is resumed and paused in turn, or was
 * not paused yet but has packets to a destination behind a root, grows because of the
 * next hop, and not because of this port.
 */
static u32 bfc_root_of(struct bfc_sched *q, const struct bfc_queue *queue)
{
	const struct bfc_queue_pauses *p = &q->obeyed.pauses[queue - q->queues];
	u32 kept = q->cfg->root_age / (BFC_BEHIND_AGE / BFC_BEHIND_KEPT);

	if (bfc_bit_test(queue - q->queues, q->obeyed.paused))
		return p->root;
	if (p->root && bfc_roots_now(q) - p->told_at < kept)
		return p->root;
	return q->roots.here;
}

/**
 * bfc_root_count() - note the root of a packet that is to be counted for its upstreamQ
 * @q: scheduler of the egress port
 * @queue: where it is
 * @ing: of the port that it came in through
 * @upq: upstreamQ
 *
 * Any egress may do so, each under its own root lock; the last one wins. A reader that
 * sees the counter above 0 sees what was written here before that (bfc_queue_build()).
 *
 * Context: under the root lock, RCU.
 */
void bfc_root_count(struct bfc_sched *q, const struct bfc_queue *queue,
		    struct bfc_ingress *ing, unsigned int upq)
{
	u32 root = q->cfg->by_root ? bfc_root_of(q, queue) : BFC_ROOT_UNKNOWN;
	u32 *told = &bfc_ingress_roots(ing)[upq];

	if (READ_ONCE(*told) != root)
		WRITE_ONCE(*told, root);
}

/**
 * bfc_roots_room() - how many ids a PAUSE of a port can have
 * @port: the port
 * @queues: of the neighbour
 *
 * Return: a number; 0: none.
 */
unsigned int bfc_roots_room(const struct bfc_port *port, unsigned int queues)
{
	unsigned int len = bfc_pause_len(queues) + bfc_roots_len(0);
	unsigned int most = READ_ONCE(port->dev->mtu) + ETH_HLEN;

	return most > len ? min((most - len) / 4, BFC_ROOTS_MAX + 0U) : 0;
}

/**
 * bfc_roots_receive() - store the ids that a PAUSE tells
 * @port: the port
 * @pause: what the frame says
 * @frame: the frame
 *
 * A paused queue without an id in this frame keeps the one that was told while it was
 * paused: a frame does not have room for any number of ids.
 *
 * Context: port->lock held, before &bfc_rx.gen changes.
 */
void bfc_roots_receive(struct bfc_port *port, const struct bfc_pause *pause,
		       const void *frame)
{
	unsigned int queue, i = 0;

	lockdep_assert_held(&port->lock);
	for (queue = 0; queue < port->queues; queue++) {
		u32 root = port->root[queue];

		if (queue >= pause->queues || !bfc_pause_is_set(frame, queue))
			root = BFC_ROOT_UNKNOWN;
		else if (queue >= pause->roots_first && i < pause->roots)
			root = bfc_get_root(frame, pause->queues, i++);
		/* Most frames repeat ids that other CPUs have in their caches. */
		if (port->root[queue] != root)
			WRITE_ONCE(port->root[queue], root);
	}
}
