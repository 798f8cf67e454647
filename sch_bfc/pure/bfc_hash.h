/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash of the fields that identify a flow: pure arithmetic, compiled into the module and into the
 * user-space unit tests.
 *
 * NH of UMAC (RFC 4418 §5.2.2): each word is added to a word of a secret key, and the products
 * of all pairs of these sums are added up. Whichever two different flows a sender makes, their
 * hashes are equal with a probability of 2^-32 over the keys: without the key, collisions
 * cannot be aimed at. SipHash does more: its key stays secret even if a peer sees hashes.
 * Hashes do not leave the module, but a sender that measures which of its flows wait together
 * learns a little of them. SipHash takes 40 cycles for 16 bytes, of some 150 that a packet
 * takes in all; NH takes ten.
 */
#ifndef _BFC_HASH_H
#define _BFC_HASH_H

#include <linux/types.h>

#define BFC_HASH_WORDS	18	/* at most */
#define BFC_HASH_SPREAD	0x61c8864680b583ebULL	/* 2^64 by the square of the golden ratio */

/**
 * bfc_hash_pair() - what two words add to a hash
 * @a: the first
 * @b: the second
 * @key: two secret random words, of this pair alone
 *
 * Return: 64 bits, to be added to those of the other pairs, and then bfc_hash_end().
 */
static inline u64 bfc_hash_pair(u32 a, u32 b, const u32 *key)
{
	return (u64)(u32)(a + key[0]) * (u32)(b + key[1]);
}

/**
 * bfc_hash_end() - the hash, from the sum over all pairs of words
 * @sum: of bfc_hash_pair()
 *
 * The NH sums of flows that differ in a port or an address alone are an arithmetic series.
 * These steps spread it over all bits. They can be undone, so no two sums get the same hash.
 *
 * Return: 64 bits.
 */
static inline u64 bfc_hash_end(u64 sum)
{
	sum ^= sum >> 32;
	sum *= BFC_HASH_SPREAD;
	return sum ^ sum >> 32;
}

/**
 * bfc_hash() - keyed hash of some words
 * @word: the words
 * @n: an even number of them, at most %BFC_HASH_WORDS
 * @key: as many secret random words
 *
 * Return: 64 bits.
 */
static inline u64 bfc_hash(const u32 *word, unsigned int n, const u32 *key)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < n; i += 2)
		sum += bfc_hash_pair(word[i], word[i + 1], key + i);
	return bfc_hash_end(sum);
}

#endif /* _BFC_HASH_H */
