// SPDX-License-Identifier: GPL-2.0
/*
 * A token bucket.
 */
#include <linux/math64.h>

#include "bfc_bucket.h"

/**
 * bfc_bucket_take_n() - take tokens, if there are enough
 * @b: the bucket
 * @now: ns; another processor's may have been a little later
 * @rate: tokens/s, not 0, at most 1.8e10
 * @size: tokens that it holds
 * @n: tokens
 *
 * Time that is less than a token takes is not lost: at 15 million frames/s a
 * token takes 67 ns, and frames come at intervals of that order.
 *
 * Context: the bucket's user serializes.
 * Return: true if there were enough; else none is taken.
 */
bool bfc_bucket_take_n(struct bfc_bucket *b, u64 now, u64 rate, u32 size, u32 n)
{
	u64 elapsed = now > b->filled ? now - b->filled : 0;
	u64 fill;

	/* Beyond a second the product would overflow. */
	if (elapsed < 1000000000ULL)
		fill = div_u64(elapsed * rate, 1000000000);
	else if (rate < size && elapsed < size * 1000000000ULL)
		fill = div_u64(elapsed, 1000000000) * rate;
	else
		fill = size;
	if (b->tokens + fill >= size) {
		b->tokens = size;
		b->filled = now;
	} else if (fill) {
		b->tokens += fill;
		b->filled += div64_u64(fill * 1000000000 + rate - 1, rate);
	}
	if (b->tokens < n)
		return false;
	b->tokens -= n;
	return true;
}

/**
 * bfc_bucket_take() - take a token for a frame, if there is one
 * @b: the bucket
 * @now: ns
 * @rate: frames/s, not 0
 *
 * Return: true if there was one.
 */
bool bfc_bucket_take(struct bfc_bucket *b, u64 now, u32 rate)
{
	u32 size = rate / BFC_BUCKET_PER_SEC;

	if (size < BFC_BUCKET_MIN)
		size = BFC_BUCKET_MIN;
	return bfc_bucket_take_n(b, now, rate, size, 1);
}
