/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the simulator's congestion controls share.
 */
#ifndef BFC_SIMCC_H
#define BFC_SIMCC_H

#include <net/tcp.h>

/**
 * struct gbn - go-back-N: first in the private part of every congestion control here
 * @una: of a sender: snd_una with the ACK before
 * @asked: of a receiver: what it has asked for again last; 0 bytes were never asked for
 *	   as long as @asked_ns is 0
 * @asked_ns: and when
 */
struct gbn {
	u32 una;
	u32 asked;
	u64 asked_ns;
};

/* simcc.c */
extern unsigned int simcc_base_ns;
extern unsigned long simcc_rate;
extern unsigned int simcc_packet;

/* simcc_rate.c */
int simcc_rate_register(void);
void simcc_rate_unregister(void);

/* simcc_gbn.c */
int simcc_gbn_register(void);
void simcc_gbn_unregister(void);
void simcc_gbn_init(struct sock *sk);
void simcc_gbn_state(struct sock *sk, u8 state);
void simcc_gbn_ack(struct sock *sk);

#endif /* BFC_SIMCC_H */
