// SPDX-License-Identifier: GPL-2.0
/* Compiles if the begin of a burst is no longer one of cwnd_event()'s (7.2, not 6.12). */
#include <net/tcp.h>

void probe(struct tcp_congestion_ops *ops, struct sock *sk);

void probe(struct tcp_congestion_ops *ops, struct sock *sk)
{
	ops->cwnd_event_tx_start(sk);
}
