/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many queues of a port each destination holds, and when that is enough. No skb, no
 * lock and no clock: compiled into the module and into the user-space unit tests.
 *
 * A queue belongs to the destination of the packet that made it non-empty. It belongs to none
 * once it has a packet to another destination, which may happen with flows that have no
 * entry of the flow table of their own. An entry without queues is free. There are twice as
 * many entries as queues, so that a set is full only if nearly every queue has a
 * destination of its own, and then no destination has many queues.
 */
#ifndef _BFC_DEST_H
#define _BFC_DEST_H

#include <linux/types.h>

#define BFC_DEST_WAYS	4	/* entries of a set */
#define BFC_DEST_WORDS	4	/* words that tell where a packet goes */
#define BFC_DEST_NONE	U16_MAX	/* index: no destination */

/* Greedy ingress ports together may hold this many queues for each free queue. */
#define BFC_DEST_INGRESS	4
#define BFC_DEST_GREEDY		8	/* a port is greedy that holds more than 1/8 */
#define BFC_DEST_LAST		10	/* the last 1/10 is for ports that hold few */

#define BFC_DEST_FEW		4	/* free queues not lent to one that has many empty */

#define BFC_DEST_MUCH		15	/* a flow with so many turns next to a host sends much */

/**
 * struct bfc_dest - a destination
 * @key: of it, as bfc_dest_key() has it
 * @queues: that it holds; 0: the entry is free
 * @last: the queue that it got last; it may belong to another by now
 * @pool: the queue that others are joined to: [0] of queues that may send, [1] of
 *	  paused ones; likewise
 */
struct bfc_dest {
	u32 key;
	u16 queues;
	u16 last;
	u16 pool[2];
};

/**
 * bfc_dest_mask() - the mask of a prefix in one word of an address
 * @bits: length of the prefix
 * @word: of the address, of 32 bits each, 0 is the first
 *
 * Return: its leading bits that belong to the prefix, in host order.
 */
static inline u32 bfc_dest_mask(unsigned int bits, unsigned int word)
{
	if (bits >= 32 * (word + 1))
		return ~0U;
	return bits > 32 * word ? ~(~0U >> (bits - 32 * word)) : 0;
}

/**
 * bfc_dest_hash() - the key of a destination
 * @word: where it is
 * @factor: secret and random
 *
 * The upper half of the sum is a universal hash (pair-multiply-shift: Dietzfelbinger, STACS
 * 1996): whichever two destinations a sender chooses, they have one key with a probability
 * of 2^-32. But addresses in a row have sums in a row, which may all fall into one set
 * of a table. The finalizer of MurmurHash3, a bijection, spreads them.
 *
 * Return: the key.
 */
static inline u32 bfc_dest_hash(const u32 word[BFC_DEST_WORDS],
				const u64 factor[BFC_DEST_WORDS])
{
	u64 sum = (factor[0] + word[1]) * (factor[1] + word[0]) +
		  (factor[2] + word[3]) * (factor[3] + word[2]);
	u32 key = sum >> 32;

	key = (key ^ key >> 16) * 0x85ebca6b;
	key = (key ^ key >> 13) * 0xc2b2ae35;
	return key ^ key >> 16;
}

/**
 * bfc_dest_find() - the entry of a destination
 * @set: its set, BFC_DEST_WAYS entries
 * @key: of the destination
 *
 * Return: its entry, or a free one, of which bfc_dest_take() sets the key;
 * NULL: the set is full.
 */
static inline struct bfc_dest *bfc_dest_find(struct bfc_dest *set, u32 key)
{
	struct bfc_dest *dest, *free = NULL;

	for (dest = set; dest < set + BFC_DEST_WAYS; dest++) {
		if (dest->queues && dest->key == key)
			return dest;
		if (!dest->queues && !free)
			free = dest;
	}
	return free;
}

/**
 * bfc_dest_take() - give a queue to a destination
 * @dest: as bfc_dest_find() returned it
 * @key: of the destination
 * @queue: the queue
 */
static inline void bfc_dest_take(struct bfc_dest *dest, u32 key, u16 queue)
{
	dest->key = key;
	dest->queues++;
	dest->last = queue;
}

/**
 * bfc_dest_may_take() - whether a destination may have another queue for itself
 * @held: queues that it holds
 * @free: queues that belong to none
 * @queues: of the port
 *
 * Any destination may while more than a quarter of the queues is free. As queues run
 * short, the rule is that of a dynamic threshold (Choudhury and Hahne, IEEE/ACM Trans.
 * Netw. 6(2), 1998), with queues in place of bytes: a destination may while it holds
 * fewer than a quarter of the number of free queues. One greedy destination leaves most
 * of them free, and several leave some.
 *
 * Return: true if so; always for a destination that holds none, while any is free.
 */
static inline bool bfc_dest_may_take(unsigned int held, unsigned int free,
				     unsigned int queues)
{
	return free * 4 > queues || held * 4 < free;
}

/**
 * bfc_dest_may_borrow() - whether a destination may have a queue that is empty but not free
 * @held: queues that it holds, or that bfc_dest_uses() says
 * @empty: queues without packets
 *
 * For a flow that would else have to go to a paused queue. If flows are tiny, most
 * queues are empty but still held: queues are not short then.
 *
 * Return: true if so.
 */
static inline bool bfc_dest_may_borrow(unsigned int held, unsigned int empty)
{
	return held * 2 < empty;
}

/**
 * bfc_dest_uses() - how many queues count as a destination's, if it is to borrow what others hold
 * @held: queues that it holds
 * @filled: queues with packets, of all destinations
 * @free: queues that belong to none
 * @queues: of the port
 *
 * While an eighth is free for others, its empty queues do not count.
 *
 * Return: the number.
 */
static inline unsigned int bfc_dest_uses(unsigned int held, unsigned int filled,
					 unsigned int free, unsigned int queues)
{
	return free * 8 > queues && filled < held ? filled : held;
}

/**
 * bfc_ingress_is_greedy() - whether an ingress port holds more than an eighth of the queues
 * @held: queues that it holds
 * @queues: of the egress port
 *
 * Return: true if so; at most seven ports at a time.
 */
static inline bool bfc_ingress_is_greedy(unsigned int held, unsigned int queues)
{
	return held * BFC_DEST_GREEDY > queues;
}

/**
 * bfc_ingress_may_take() - whether an ingress port may hold another queue
 * @held: queues that it holds
 * @greedy: number of greedy ports, this one included if it is
 * @free: queues that belong to none
 * @queues: of the egress port
 *
 * A host that sends to a thousand addresses has a thousand destinations that hold no
 * queue. So there is a bound for each ingress port as well; what a port holds below it
 * may all be of innocent flows.
 *
 * Greedy ports together hold 4/5: none of g gets another queue while it holds more than
 * 4 * free / g, so that they end with 4 * free in sum, and a queue each. A port keeps
 * what it got before others became greedy until those packets have left, and gets no
 * more meanwhile. A port that is not greedy has the same bound, and so gets to an
 * eighth before they get more than their part.
 *
 * With eight ports or more the part of each is less than an eighth, and they do not
 * count as greedy. So the last tenth is for ports that hold at most half as many queues
 * as are free. Whatever the number of ports, and whichever came first, those that hold
 * more than a twentieth and a queue have 9/10, and a queue, at most: each of them got
 * its last queue while more than a tenth was free. Of that tenth, k ports that take all
 * that they may leave 1 / (1 + k / 2).
 *
 * Return: true if so; always for a port that holds none.
 */
static inline bool bfc_ingress_may_take(unsigned int held, unsigned int greedy,
					unsigned int free, unsigned int queues)
{
	return held * (greedy ?: 1) <= free * BFC_DEST_INGRESS &&
	       (free * BFC_DEST_LAST > queues || held * 2 <= free);
}

/**
 * bfc_dest_is_short() - whether queues are so short that those of a destination are joined
 * @free: queues that belong to none
 * @queues: of the port
 * @nic: it is that of a host
 *
 * Joined flows are served one after the other, no longer in turn: so a switch waits
 * until more than half of its queues are in use. Many flows of a host go to few peers:
 * it begins at a quarter.
 *
 * Return: true if so.
 */
static inline bool bfc_dest_is_short(unsigned int free, unsigned int queues, bool nic)
{
	return free * 4 < queues * (nic ? 3 : 2);
}

#endif /* _BFC_DEST_H */
