/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A token bucket: pure arithmetic, compiled into the module and into the
 * user-space unit tests.
 */
#ifndef _BFC_BUCKET_H
#define _BFC_BUCKET_H

#include <linux/types.h>

#define BFC_BUCKET_MIN		256	/* tokens that a bucket of frames holds at least, */
#define BFC_BUCKET_PER_SEC	1000	/* or, if more, a millisecond's worth */

/**
 * struct bfc_bucket - tokens, one for each frame or for each byte
 * @filled: when the youngest token came, ns
 * @tokens: how many there are
 */
struct bfc_bucket {
	u64 filled;
	u32 tokens;
};

bool bfc_bucket_take_n(struct bfc_bucket *b, u64 now, u64 rate, u32 size,
		       u32 n);
bool bfc_bucket_take(struct bfc_bucket *b, u64 now, u32 rate);

#endif /* _BFC_BUCKET_H */
