/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How hpcc_sockops.bpf.c tells congestion control "bfc_window" the pacing rate:
 * SO_MAX_PACING_RATE takes 32 bits from eBPF, too few for bytes/s beyond 34 Gbit/s.
 */
#ifndef BFC_HPCC_PACE_H
#define BFC_HPCC_PACE_H

#define HPCC_PACE_UNIT	64U	/* bytes/s */

#endif /* BFC_HPCC_PACE_H */
