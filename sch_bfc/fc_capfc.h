/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of CaPFC that are called for each packet (fc_capfc.c).
 */
#ifndef _FC_CAPFC_H
#define _FC_CAPFC_H

#include <linux/types.h>

struct bfc_cfg;
struct bfc_sched;
struct sk_buff;

bool bfc_capfc_admit(const struct bfc_sched *q, const struct bfc_cfg *cfg, u8 prio,
		     u32 len);
void bfc_capfc_enqueued(struct bfc_sched *q, const struct sk_buff *skb,
			unsigned int slot);
void bfc_capfc_dequeued(struct bfc_sched *q, const struct sk_buff *skb,
			unsigned int slot);

#endif /* _FC_CAPFC_H */
