/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash of what makes a flow: pure arithmetic, compiled into the module and into the
 * user-space unit tests.
 *
 * NH of UMAC (RFC 4418 §5.2.2): of two words each is added to a word of a secret key,
 * and the products of all pairs are added up. Whichever two different flows a sender
 * makes, their hashes are equal with a probability of 2^-32 over the keys: without the
 * key, collisions cannot be aimed at. SipHash does more: its key survives even a peer
 * that sees hashes. They stay in here, but a sender that measures which of its flows
 * wait together learns a little of them. It takes 40 cycles for 16 bytes, of some 150
 * that a packet takes in all; this takes ten.
 */
#ifndef _BFC_HASH_H
#define _BFC_HASH_H

#include <linux/types.h>

#define BFC_HASH_WORDS	18	/* at most */
#define BFC_HASH_SPREAD	0x61c8864680b583ebULL	/* 2^64 by the golden ratio */

/**
 * bfc_hash() - keyed hash of some words
 * @word: the words
 * @n: an even number of them, at most %BFC_HASH_WORDS
 * @key: as many secret random words
 *
 * NH of flows that differ in a port or an address alone is an arithmetic series: the
 * last two steps, which can be undone and so let no two of them meet, spread it over
 * all bits.
 *
 * Return: 64 bits.
 */
static inline u64 bfc_hash(const u32 *word, unsigned int n, const u32 *key)
{
	unsigned int i;
	u64 hash = 0;

	for (i = 0; i < n; i += 2)
		hash += (u64)(u32)(word[i] + key[i]) *
			(u32)(word[i + 1] + key[i + 1]);
	hash ^= hash >> 32;
	hash *= BFC_HASH_SPREAD;
	return hash ^ hash >> 32;
}

#endif /* _BFC_HASH_H */
