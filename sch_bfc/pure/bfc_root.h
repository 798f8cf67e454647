/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which root a destination is behind: where the congestion is that its packets wait for.
 * No skb, no lock and no clock: compiled into the module and into the user-space unit
 * tests.
 *
 * The table is bounded. A destination without an entry is one of its own, behind no
 * root. In a full set the entry that was learned the longest ago is replaced.
 */
#ifndef _BFC_ROOT_H
#define _BFC_ROOT_H

#include <linux/types.h>

#define BFC_BEHIND_WAYS		4	/* entries of a set */
#define BFC_BEHIND_QUEUES	8	/* sets for each queue of a port */
#define BFC_BEHIND_SHIFT	10	/* times are in units of 1024 ns */
#define BFC_BEHIND_AGE		1024	/* sticky times that an entry holds */
#define BFC_BEHIND_PROBE	16	/* sticky times between looks at older entries */
#define BFC_BEHIND_KEPT		64	/* sticky times that a queue not paused keeps its root */

/**
 * struct bfc_behind - a destination is behind a root
 * @key: of the destination, as bfc_dest_key() has it
 * @root: id of the root, 0: the entry is free
 * @since: when it was learned; wraps
 */
struct bfc_behind {
	u32 key;
	u32 root;
	u32 since;
};

/**
 * bfc_behind_find() - the entry of a destination
 * @set: its set, BFC_BEHIND_WAYS entries
 * @key: of the destination
 *
 * Return: the entry, or NULL.
 */
static inline struct bfc_behind *bfc_behind_find(struct bfc_behind *set, u32 key)
{
	struct bfc_behind *e;

	for (e = set; e < set + BFC_BEHIND_WAYS; e++)
		if (e->root && e->key == key)
			return e;
	return NULL;
}

/**
 * bfc_behind_learn() - a destination is behind a root
 * @set: its set
 * @key: of the destination
 * @root: id, not 0
 * @now: time
 */
static inline void bfc_behind_learn(struct bfc_behind *set, u32 key, u32 root, u32 now)
{
	struct bfc_behind *e, *to = bfc_behind_find(set, key);

	if (!to) {
		to = set;
		for (e = set; e < set + BFC_BEHIND_WAYS && to->root; e++)
			if (!e->root || now - e->since > now - to->since)
				to = e;
	}
	*to = (struct bfc_behind){ key, root, now };
}

/**
 * bfc_behind_is_old() - whether it is time to look again if a destination is behind its root
 * @e: its entry
 * @now: time
 * @age: for how long an entry holds
 * @probed: when an entry, of all, was last looked at again; set if this one is
 *
 * Only one in a while, as each takes a queue that flows behind the root should not
 * have.
 *
 * Return: true if so.
 */
static inline bool bfc_behind_is_old(const struct bfc_behind *e, u32 now, u32 age,
				     u32 *probed)
{
	if (now - e->since < age ||
	    now - *probed < age / (BFC_BEHIND_AGE / BFC_BEHIND_PROBE))
		return false;
	*probed = now;
	return true;
}

#endif /* _BFC_ROOT_H */
