// SPDX-License-Identifier: GPL-2.0
/*
 * A shared buffer: the steps of a charge and of an uncharge, in the order that
 * bfc_pool.h asks for.
 *
 * Each packet takes these steps twice, to be charged and to be uncharged:
 * __flatten inlines them, so that an operation stays in registers.
 */
#include <linux/compiler.h>

#include "bfc_pool.h"

static s64 bfc_cell_word(u32 base, u32 headroom)
{
	return (u64)headroom << 32 | base;
}

/* The pool has no room: try the headroom. */
static void bfc_pool_plan_headroom(struct bfc_pool_op *op,
				   const struct bfc_cell_cfg *cfg)
{
	u32 headroom = bfc_cell_headroom(op->word);

	op->pool = 0;
	op->step = BFC_POOL_DONE;
	op->where = BFC_POOL_REFUSED;
	if (headroom >= cfg->headroom || op->len > cfg->headroom - headroom)
		return;
	op->next = bfc_cell_word(bfc_cell_base(op->word), headroom + op->len);
	op->where = BFC_POOL_HEADROOM;
	op->step = BFC_POOL_STORE;
}

/* Where the packet is to be charged, by what the cell says. */
static void bfc_pool_plan_charge(struct bfc_pool_op *op,
				 const struct bfc_cell_cfg *cfg)
{
	op->next = bfc_cell_word(bfc_cell_base(op->word) + op->len,
				 bfc_cell_headroom(op->word));
	op->pool = bfc_cell_shared(op->next, cfg->reserve) -
		   bfc_cell_shared(op->word, cfg->reserve);
	op->where = op->pool ? BFC_POOL_SHARED : BFC_POOL_RESERVE;
	op->step = op->pool ? BFC_POOL_ASK : BFC_POOL_STORE;
}

static bool bfc_pool_admits(const struct bfc_pool_op *op,
			    const struct bfc_cell_cfg *cfg, u32 free)
{
	u32 share = bfc_cell_shared(op->next, cfg->reserve);

	return op->pool <= free && share <= cfg->limit &&
	       (!cfg->alpha || share <= bfc_alpha_share(cfg->alpha, free));
}

/* True if the pool has room for it beyond XOFF. */
static bool bfc_pool_admits_beyond(const struct bfc_pool_op *op,
				   const struct bfc_cell_cfg *cfg, u32 free)
{
	u64 over = (u64)op->over + op->pool;

	return over <= cfg->beyond && over <= free;
}

/**
 * bfc_pool_begin() - get ready to charge or to uncharge a packet
 * @op: the operation
 * @len: of the packet, bytes
 * @over: as &bfc_pool_op.over
 */
static void bfc_pool_begin(struct bfc_pool_op *op, u32 len, u32 over)
{
	op->step = BFC_POOL_LOOK;
	op->where = BFC_POOL_REFUSED;
	op->len = len;
	op->pool = 0;
	op->over = over;
	op->word = 0;
	op->next = 0;
}

/**
 * bfc_pool_charge_step() - take the next step of a charge
 * @op: the operation
 * @pool: the pool
 * @cell: the cell
 * @cfg: what the cell may hold; does not change meanwhile
 *
 * Context: any; others may do anything between two steps.
 * Return: false when it is done.
 */
static bool bfc_pool_charge_step(struct bfc_pool_op *op, struct bfc_pool *pool,
				 struct bfc_cell *cell, const struct bfc_cell_cfg *cfg)
{
	u32 size = READ_ONCE(pool->size), free;

	switch (op->step) {
	case BFC_POOL_LOOK:
		op->word = atomic64_read(&cell->word);
		if (op->len > BFC_POOL_MAX)
			op->step = BFC_POOL_DONE;
		else
			bfc_pool_plan_charge(op, cfg);
		break;
	case BFC_POOL_ASK:
		free = bfc_pool_free(size, atomic_long_read(&pool->shared));
		if (op->over == BFC_POOL_WITHIN ? bfc_pool_admits(op, cfg, free) :
						  bfc_pool_admits_beyond(op, cfg, free))
			op->step = BFC_POOL_TAKE;
		else
			bfc_pool_plan_headroom(op, cfg);
		break;
	case BFC_POOL_TAKE:
		op->step = atomic_long_add_return(op->pool, &pool->shared) >
			   (long)size ? BFC_POOL_UNDO : BFC_POOL_STORE;
		break;
	case BFC_POOL_UNDO:
		atomic_long_sub(op->pool, &pool->shared);
		bfc_pool_plan_headroom(op, cfg);
		break;
	case BFC_POOL_STORE:
		if (atomic64_try_cmpxchg(&cell->word, &op->word, op->next))
			op->step = BFC_POOL_DONE;
		else if (op->pool)
			op->step = BFC_POOL_RETURN;
		else
			bfc_pool_plan_charge(op, cfg);
		break;
	case BFC_POOL_RETURN:
		atomic_long_sub(op->pool, &pool->shared);
		bfc_pool_plan_charge(op, cfg);
		break;
	}
	return op->step != BFC_POOL_DONE;
}

static void bfc_pool_plan_uncharge(struct bfc_pool_op *op,
				   const struct bfc_cell_cfg *cfg)
{
	u32 base = bfc_cell_base(op->word), part = op->len;
	u32 headroom = bfc_cell_headroom(op->word);

	op->where = BFC_POOL_HEADROOM;
	if (part <= headroom) {
		headroom -= part;
		part = 0;
	} else {
		part -= headroom;
		headroom = 0;
	}
	if (part) {
		op->where = BFC_POOL_SHARED;
		if (part > base) {	/* the owner's mistake: not below 0 */
			part = base;
			op->where = BFC_POOL_REFUSED;
		}
		base -= part;
	}
	op->next = bfc_cell_word(base, headroom);
	op->pool = bfc_cell_shared(op->word, cfg->reserve) -
		   bfc_cell_shared(op->next, cfg->reserve);
	if (op->where == BFC_POOL_SHARED && !op->pool)
		op->where = BFC_POOL_RESERVE;
	op->step = BFC_POOL_STORE;
}

/**
 * bfc_pool_uncharge_step() - take the next step of an uncharge
 * @op: the operation
 * @pool: the pool
 * @cell: the cell
 * @cfg: as it was when the packet was charged, as to the reserve
 *
 * Context: any.
 * Return: false when it is done.
 */
static bool bfc_pool_uncharge_step(struct bfc_pool_op *op, struct bfc_pool *pool,
				   struct bfc_cell *cell, const struct bfc_cell_cfg *cfg)
{
	switch (op->step) {
	case BFC_POOL_LOOK:
		op->word = atomic64_read(&cell->word);
		bfc_pool_plan_uncharge(op, cfg);
		break;
	case BFC_POOL_STORE:
		if (!atomic64_try_cmpxchg(&cell->word, &op->word, op->next))
			bfc_pool_plan_uncharge(op, cfg);
		else
			op->step = op->pool ? BFC_POOL_GIVE : BFC_POOL_DONE;
		break;
	case BFC_POOL_GIVE:
		atomic_long_sub(op->pool, &pool->shared);
		op->step = BFC_POOL_DONE;
		break;
	}
	return op->step != BFC_POOL_DONE;
}

static __always_inline
enum bfc_pool_where __bfc_pool_charge(struct bfc_pool *pool, struct bfc_cell *cell,
				      const struct bfc_cell_cfg *cfg, u32 len,
				      u32 over, u64 *word)
{
	struct bfc_pool_op op;

	bfc_pool_begin(&op, len, over);
	while (bfc_pool_charge_step(&op, pool, cell, cfg))
		;
	*word = op.where == BFC_POOL_REFUSED ? op.word : op.next;
	return op.where;
}

/**
 * bfc_pool_charge() - charge a packet, if there is room for it
 * @pool: the pool
 * @cell: of the packet's port and priority
 * @cfg: what the cell may hold
 * @len: of the packet, bytes
 * @word: result, for the XOFF decision: the cell with the packet, or without it if
 *	  refused. All that charge and uncharge the cell see different words
 *
 * Lock-free: it starts over only if another processor has changed the cell.
 *
 * Context: any, the caller's own root lock held or not.
 * Return: BFC_POOL_*.
 */
__flatten
enum bfc_pool_where bfc_pool_charge(struct bfc_pool *pool,
				    struct bfc_cell *cell,
				    const struct bfc_cell_cfg *cfg, u32 len,
				    u64 *word)
{
	return __bfc_pool_charge(pool, cell, cfg, len, BFC_POOL_WITHIN, word);
}

/**
 * bfc_pool_charge_beyond() - charge a packet that bfc_pool_charge() has refused, beyond XOFF
 * @pool: the pool
 * @cell: of the packet's port and priority
 * @cfg: what the cell may hold
 * @len: of the packet, bytes
 * @over: bytes beyond XOFF that the cells of the port hold, read a moment ago: packets that other
 *	  processors charge meanwhile are not in it, which is a matter of fairness only
 * @word: result, as of bfc_pool_charge()
 *
 * Context: as bfc_pool_charge().
 * Return: BFC_POOL_*.
 */
__flatten
enum bfc_pool_where bfc_pool_charge_beyond(struct bfc_pool *pool,
					   struct bfc_cell *cell,
					   const struct bfc_cell_cfg *cfg, u32 len,
					   u32 over, u64 *word)
{
	return __bfc_pool_charge(pool, cell, cfg, len, over, word);
}

/**
 * bfc_pool_uncharge() - a packet leaves, sent or dropped
 * @pool: the pool
 * @cell: as when it was charged
 * @cfg: as when it was charged, as to the reserve
 * @len: as when it was charged
 * @word: result: the cell without the packet, for the XON decision
 *
 * Context: any.
 * Return: where the bytes were (the last of them); BFC_POOL_REFUSED if the cell
 * held less than @len: it is empty then, and its owner has counted wrong.
 */
__flatten
enum bfc_pool_where bfc_pool_uncharge(struct bfc_pool *pool,
				      struct bfc_cell *cell,
				      const struct bfc_cell_cfg *cfg, u32 len,
				      u64 *word)
{
	struct bfc_pool_op op;

	bfc_pool_begin(&op, len, BFC_POOL_WITHIN);
	while (bfc_pool_uncharge_step(&op, pool, cell, cfg))
		;
	*word = op.next;
	return op.where;
}
