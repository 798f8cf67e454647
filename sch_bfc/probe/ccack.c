// SPDX-License-Identifier: GPL-2.0
/* Compiles if TCP's congestion control is told of the ACK (6.10 on). */
#include <net/tcp.h>

void probe(struct tcp_congestion_ops *ops, struct sock *sk, const struct rate_sample *rs);

void probe(struct tcp_congestion_ops *ops, struct sock *sk, const struct rate_sample *rs)
{
	ops->cong_control(sk, 0, 0, rs);
}
