/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the simulator's congestion controls.
 */
#ifndef BFC_SIMCC_H
#define BFC_SIMCC_H

#include <net/tcp.h>

/**
 * struct gbn - go-back-N: first in the private part of every congestion control here
 * @una: of a sender: snd_una at the last ACK
 * @asked: of a receiver: sequence number that it last asked for; void while
 *	   @asked_ns is 0
 * @asked_ns: when it asked
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
