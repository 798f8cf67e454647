/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A token bucket: pure arithmetic, compiled into the module and into the
 * user-space unit tests.
 */
#ifndef _BFC_BUCKET_H
#define _BFC_BUCKET_H

#include <linux/types.h>
#include <linux/math64.h>

#define BFC_BUCKET_MIN		256	/* tokens that any bucket holds */
#define BFC_BUCKET_PER_SEC	1000	/* or a millisecond's worth */

/**
 * struct bfc_bucket - tokens, one for each frame
 * @filled: when the youngest token came, ns
 * @tokens: how many there are
 */
struct bfc_bucket {
	u64 filled;
	u32 tokens;
};

/**
 * bfc_bucket_take() - take a token, if there is one
 * @b: the bucket
 * @now: ns; another processor's may have been a little later
 * @rate: tokens/s, not 0
 *
 * What is left of a token's time is kept: at a rate of 15 million frames a
 * second clocks count 67 ns a token, and frames come at intervals of that order.
 *
 * Context: the bucket's user serializes.
 * Return: whether there was one.
 */
static inline bool bfc_bucket_take(struct bfc_bucket *b, u64 now, u32 rate)
{
	u32 size = rate / BFC_BUCKET_PER_SEC;
	u64 elapsed = now > b->filled ? now - b->filled : 0;
	u64 fill;

	if (size < BFC_BUCKET_MIN)
		size = BFC_BUCKET_MIN;
	/* Beyond a second, which fills it at any rate, it would overflow. */
	fill = elapsed < 1000000000ULL ? div_u64(elapsed * rate, 1000000000) :
					 size;
	if (b->tokens + fill >= size) {
		b->tokens = size;
		b->filled = now;
	} else if (fill) {
		b->tokens += fill;
		b->filled += div_u64(fill * 1000000000 + rate - 1, rate);
	}
	if (!b->tokens)
		return false;
	b->tokens--;
	return true;
}

#endif /* _BFC_BUCKET_H */
