/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What modes that pause priorities have in common with PFC (fc_pfc.c).
 */
#ifndef _FC_PFC_H
#define _FC_PFC_H

#include <linux/types.h>

struct bfc_cfg;
struct bfc_derive;

int bfc_pfc_derive(struct bfc_cfg *c, const struct bfc_derive *d, u64 xoff_auto,
		   u64 hold_least);

#endif /* _FC_PFC_H */
