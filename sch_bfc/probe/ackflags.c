// SPDX-License-Identifier: GPL-2.0
/* Compiles if an ACK that TCP is asked for has flags (7.2, not 6.12). */
#include <net/tcp.h>

void probe(struct sock *sk);

void probe(struct sock *sk)
{
	__tcp_send_ack(sk, 0, 0);
}
