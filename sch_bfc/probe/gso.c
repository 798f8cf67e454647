// SPDX-License-Identifier: GPL-2.0
/* Compiles if skb_gso_segment() has a header of its own (6.5 on). */
#include <net/gso.h>
