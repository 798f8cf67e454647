/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A buffer that ports share: how much each may still put into it. No skb, no lock
 * and no clock, but atomics: compiled into the module and into the user-space
 * unit tests.
 *
 *   memory = the pool, which all may take from (dynamic threshold by Choudhury
 *	      and Hahne, IEEE/ACM Trans. Netw. 6(2), 1998)
 *	    + a reserve for each cell, which no other can take
 *	    + headroom for each cell, for packets that still come after XOFF
 *
 * A cell counts together the packets of one priority that came in through one port.
 * Bytes of a cell are alike: an incoming packet is charged to the reserve first, then
 * to the pool, then to the headroom; an outgoing one is taken from the headroom first,
 * so that this is free again before the neighbour is told to go on, then from the pool,
 * then from the reserve. A packet may lie in reserve and pool, but not partly in the
 * headroom. So a packet needs to remember its length only.
 *
 * Headroom is set aside, so it is for a cable of usual length. What a longer one still
 * brings after XOFF, once the headroom is full, is charged to the pool beyond XOFF by
 * bfc_pool_charge_beyond(): as much of all cells of a port together as the loop brings, and
 * no more than is left free. So one port gets half of what was free, a second one half of
 * the rest.
 *
 * Many qdiscs charge the same cells and the same pool, each under its own root
 * lock, and nothing here takes another one. A cell is one 64-bit word that is
 * replaced as a whole. An operation is a row of steps, of which each touches
 * shared memory once; bfc_pool_charge() and bfc_pool_uncharge() take one step
 * after the other, the model test takes those of several processors in any order.
 * Always, between any two steps:
 *
 *  1. the cells' shares of the pool, added up, are never over @size, nor is any
 *     cell over its reserve, limit, headroom and what is beyond: memory is never promised twice
 *  2. @shared is never below that sum, hence never negative: the pool is asked
 *     before the cell is charged, and told after it was uncharged
 *  3. @shared is over @size at most by attempts being refused at the moment: one
 *     packet for each processor. The price is that a packet which would just
 *     have fitted can meet such an attempt, and go to the headroom instead, or
 *     be refused: so headroom is not planned to the last packet
 *
 * The dynamic threshold is compared with the free pool as it was a moment ago:
 * cells that grow at the same moment may each do so on the same free bytes. That
 * is a matter of fairness only; 1. and 3. hold whatever was read.
 *
 * All sizes are bytes of what the owner counts (of the wire, or of memory), the
 * same everywhere.
 */
#ifndef _BFC_POOL_H
#define _BFC_POOL_H

#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/types.h>

#define BFC_POOL_MAX	(1024U << 20)	/* bytes of anything here */
#define BFC_ALPHA_ONE	1000000U	/* alpha is in millionths */
#define BFC_ALPHA_MAX	(1024 * BFC_ALPHA_ONE)
#define BFC_LIMIT_NONE	BFC_POOL_MAX

/**
 * struct bfc_pool - the memory that all cells may take from
 * @size: bytes, at most BFC_POOL_MAX. May change at any time; bytes over a smaller
 *	  size stay until they leave
 * @shared: bytes taken, attempts under way included
 */
struct bfc_pool {
	u32 size;
	atomic_long_t shared;
};

/**
 * struct bfc_cell - what one (port, priority) holds
 * @word: low half: bytes in reserve and pool; high half: in the headroom
 */
struct bfc_cell {
	atomic64_t word;
};

/**
 * struct bfc_cell_cfg - what a cell may hold
 * @reserve: bytes that are always there. Changes only while the cell is empty:
 *	     the share of the pool is what is beyond it
 * @limit: of the share of the pool, BFC_LIMIT_NONE = no static one
 * @alpha: the share may be this many millionths of the free pool, at most
 *	   BFC_ALPHA_MAX; 0 = no dynamic limit
 * @headroom: bytes for what comes after XOFF; 0: packets are dropped (lossy)
 * @beyond: bytes of the pool beyond @limit or @alpha for what comes when the headroom is
 *	    full, of all cells of the port together
 *
 * For a lossless priority @limit or @alpha are XOFF as well (bfc_pfc.h), and the
 * headroom is touched by packets that come afterwards only.
 */
struct bfc_cell_cfg {
	u32 reserve;
	u32 limit;
	u32 alpha;
	u32 headroom;
	u32 beyond;
};

/**
 * enum bfc_pool_where - where a packet was charged
 * @BFC_POOL_REFUSED: nowhere: drop it
 * @BFC_POOL_RESERVE: the reserve alone held it
 * @BFC_POOL_SHARED: the pool holds it, or the rest of it
 * @BFC_POOL_HEADROOM: the headroom: the neighbour has to be paused by now
 */
enum bfc_pool_where {
	BFC_POOL_REFUSED,
	BFC_POOL_RESERVE,
	BFC_POOL_SHARED,
	BFC_POOL_HEADROOM
};

/* What an operation does next; BFC_POOL_DONE must be 0. */
enum {
	BFC_POOL_DONE,
	BFC_POOL_LOOK,		/* read the cell */
	BFC_POOL_ASK,		/* read the pool */
	BFC_POOL_TAKE,		/* take from the pool */
	BFC_POOL_UNDO,		/* it was too much */
	BFC_POOL_STORE,		/* replace the cell, if it is unchanged */
	BFC_POOL_RETURN,	/* it has changed: give back, start again */
	BFC_POOL_GIVE		/* the cell is uncharged: tell the pool */
};

/**
 * struct bfc_pool_op - an operation under way, on its processor's stack
 * @step: what comes next
 * @where: result: BFC_POOL_REFUSED .. BFC_POOL_HEADROOM; of an uncharge
 *	   BFC_POOL_REFUSED if the cell did not hold so much
 * @len: bytes
 * @pool: of these, bytes that the pool has to give, or gets back
 * @over: bytes beyond XOFF that the cells of the port hold, if it is to be charged there;
 *	  else BFC_POOL_WITHIN
 * @word: the cell as it was seen last
 * @next: what it becomes; when done, what it became
 */
struct bfc_pool_op {
	u8 step;
	u8 where;
	u32 len;
	u32 pool;
	u32 over;
	s64 word;
	s64 next;
};

#define BFC_POOL_WITHIN	(~0U)

static inline u32 bfc_cell_base(u64 word)
{
	return word & 0xffffffff;
}

/**
 * bfc_cell_headroom() - bytes of a cell in its headroom
 * @word: of the cell
 *
 * Return: bytes.
 */
static inline u32 bfc_cell_headroom(u64 word)
{
	return word >> 32;
}

/**
 * bfc_cell_held() - bytes of a cell
 * @word: of the cell
 *
 * Return: bytes in reserve, pool and headroom.
 */
static inline u32 bfc_cell_held(u64 word)
{
	return bfc_cell_base(word) + bfc_cell_headroom(word);
}

/**
 * bfc_cell_shared() - bytes of a cell in the pool
 * @word: of the cell
 * @reserve: its reserve
 *
 * Return: bytes.
 */
static inline u32 bfc_cell_shared(u64 word, u32 reserve)
{
	u32 base = bfc_cell_base(word);

	return base > reserve ? base - reserve : 0;
}

/**
 * bfc_alpha_share() - the dynamic threshold T = alpha x free (Choudhury-Hahne)
 * @alpha: millionths, at most BFC_ALPHA_MAX
 * @free: bytes that are not taken
 *
 * Return: bytes, rounded down.
 */
static inline u64 bfc_alpha_share(u32 alpha, u32 free)
{
	return div_u64((u64)alpha * free, BFC_ALPHA_ONE);
}

/**
 * bfc_pool_free() - bytes of the pool that are not taken
 * @size: of the pool
 * @shared: its counter, as it was read
 *
 * Return: bytes; 0 also if attempts under way, or a smaller pool than there was,
 * make it less.
 */
static inline u32 bfc_pool_free(u32 size, long shared)
{
	if (shared <= 0)
		return size;
	return shared < (long)size ? size - shared : 0;
}

enum bfc_pool_where bfc_pool_charge(struct bfc_pool *pool,
				    struct bfc_cell *cell,
				    const struct bfc_cell_cfg *cfg, u32 len,
				    u64 *word);
enum bfc_pool_where bfc_pool_charge_beyond(struct bfc_pool *pool,
					   struct bfc_cell *cell,
					   const struct bfc_cell_cfg *cfg, u32 len,
					   u32 over, u64 *word);
enum bfc_pool_where bfc_pool_uncharge(struct bfc_pool *pool,
				      struct bfc_cell *cell,
				      const struct bfc_cell_cfg *cfg, u32 len,
				      u64 *word);

#endif /* _BFC_POOL_H */
