// SPDX-License-Identifier: GPL-2.0
/*
 * Go-back-N as RDMA's NICs do it, for TCP without SACK (module parameter gbn).
 *
 * Receiver: accepts packets in order only. It drops the others, and asks for the missing
 *	one by an ACK: once, and again after 500 us (the interval of NACKs in HPCC's
 *	simulator). Linux would keep them.
 * Sender: such an ACK (tcp_reordering and tcp_max_reordering are 1) marks everything in
 *	flight as lost, so that all of it is sent again, at the pace and within the
 *	window of the congestion control. Linux would send one packet a round trip
 *	(NewReno).
 *
 * The receiver also asks for a retransmission that was lost in turn; the sender
 * reacts when an RTT has passed since it sent that one. If no packet follows,
 * the timeout repairs the loss, as in RDMA.
 *
 * Only for sockets with a congestion control that calls the functions below.
 */
#include <linux/ip.h>
#include <linux/netfilter_ipv4.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "simcc.h"

#define GBN_INTERVAL	(500 * NSEC_PER_USEC)	/* between requests for the same packet */

static bool gbn;
module_param(gbn, bool, 0444);
MODULE_PARM_DESC(gbn, "go-back-N, where SACK is off");

/* --- the receiver --------------------------------------------------------- */

static void gbn_ask(struct sock *sk)
{
#ifdef BFC_HAVE_ACKFLAGS
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
#else
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
#endif
}

/* true if a packet with payload is to be dropped. Context: the socket is locked. */
static bool gbn_refuses(struct sock *sk, u32 seq)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct gbn *g = inet_csk_ca(sk);
	u64 now = ktime_get_ns();

	if (tcp_is_sack(tp) || !after(seq, tp->rcv_nxt))
		return false;
	if (!g->asked_ns || g->asked != tp->rcv_nxt || now - g->asked_ns >= GBN_INTERVAL) {
		g->asked = tp->rcv_nxt;
		g->asked_ns = now;
		gbn_ask(sk);
	}
	return true;
}

static unsigned int gbn_in(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct sock *sk = skb->sk;	/* early demux */
	unsigned int verdict = NF_ACCEPT, header = ip_hdrlen(skb);
	const struct tcphdr *th;

	if (ip_hdr(skb)->protocol != IPPROTO_TCP || !sk || !sk_fullsock(sk) ||
	    !pskb_may_pull(skb, header + sizeof(*th)))
		return NF_ACCEPT;
	th = (const struct tcphdr *)(skb->data + header);
	if (skb->len <= header + th->doff * 4)
		return NF_ACCEPT;
	bh_lock_sock(sk);
	/* While a process has the socket locked, rcv_nxt may be behind: packets
	 * may wait in the backlog.
	 */
	if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2) &&
	    !sock_owned_by_user(sk) &&
	    inet_csk(sk)->icsk_ca_ops->set_state == simcc_gbn_state &&
	    gbn_refuses(sk, ntohl(th->seq)))
		verdict = NF_DROP;
	bh_unlock_sock(sk);
	return verdict;
}

static const struct nf_hook_ops gbn_hook = {
	.hook		= gbn_in,
	.pf		= NFPROTO_IPV4,
	.hooknum	= NF_INET_LOCAL_IN,
	.priority	= NF_IP_PRI_FIRST,
};

static int __net_init gbn_net_init(struct net *net)
{
	return nf_register_net_hook(net, &gbn_hook);
}

static void __net_exit gbn_net_exit(struct net *net)
{
	nf_unregister_net_hook(net, &gbn_hook);
}

static struct pernet_operations gbn_net_ops = {
	.init = gbn_net_init,
	.exit = gbn_net_exit,
};

/* --- the sender ----------------------------------------------------------- */

/* As the kernel does it after a timeout (tcp_timeout_mark_lost()). */
static void gbn_go_back(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	tp->sacked_out = 0;
	tp->lost_out = 0;
	tp->retrans_out = 0;
	skb_rbtree_walk_from(skb) {
		struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

		cb->sacked &= ~TCPCB_SACKED_RETRANS;
		if (!(cb->sacked & TCPCB_LOST))
			tp->lost += tcp_skb_pcount(skb);
		cb->sacked |= TCPCB_LOST;
		tp->lost_out += tcp_skb_pcount(skb);
	}
	tcp_clear_all_retrans_hints(tp);
}

/**
 * simcc_gbn_init() - a connection has been set up
 * @sk: its socket
 *
 * Context: the socket is locked, as with all of these.
 */
void simcc_gbn_init(struct sock *sk)
{
	struct gbn *g = inet_csk_ca(sk);

	memset(g, 0, sizeof(*g));
	g->una = tcp_sk(sk)->snd_una;
}

/**
 * simcc_gbn_state() - TCP changes its state: go back when it begins to repair a loss
 * @sk: socket
 * @state: the state that it is about to take
 */
void simcc_gbn_state(struct sock *sk, u8 state)
{
	if (gbn && state == TCP_CA_Recovery && tcp_is_reno(tcp_sk(sk)))
		gbn_go_back(sk);
}

/**
 * simcc_gbn_ack() - an ACK came
 * @sk: socket
 *
 * A repeated ACK while losses are repaired: the first packet is missing again,
 * if its retransmission can have arrived by now.
 */
void simcc_gbn_ack(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct gbn *g = inet_csk_ca(sk);
	bool again = g->una == tp->snd_una;
	u64 rtt = (u64)(tp->srtt_us >> 3) * NSEC_PER_USEC;

	g->una = tp->snd_una;
	if (!gbn || !again || !skb || tcp_is_sack(tp) ||
	    inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery ||
	    !(TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_RETRANS))
		return;
	if (tp->tcp_clock_cache - skb->skb_mstamp_ns >= rtt)
		gbn_go_back(sk);
}

int simcc_gbn_register(void)
{
	return gbn ? register_pernet_subsys(&gbn_net_ops) : 0;
}

void simcc_gbn_unregister(void)
{
	if (gbn)
		unregister_pernet_subsys(&gbn_net_ops);
}
