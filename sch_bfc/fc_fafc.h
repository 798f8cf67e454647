/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of FAFC that are called for each packet (fc_fafc.c).
 */
#ifndef _FC_FAFC_H
#define _FC_FAFC_H

#include <linux/types.h>

struct bfc_cfg;
struct bfc_ingress;
struct bfc_sched;
struct sk_buff;

void bfc_fafc_held(struct bfc_ingress *ing, const struct bfc_cfg *cfg,
		   unsigned int prio, u32 len, bool came, u64 now);
void bfc_fafc_enqueued(struct bfc_sched *q, const struct sk_buff *skb,
		       unsigned int slot);
void bfc_fafc_dequeued(struct bfc_sched *q, const struct sk_buff *skb,
		       unsigned int slot);
void bfc_fafc_check_port(struct bfc_sched *q, struct sk_buff *skb, u64 now);

#endif /* _FC_FAFC_H */
