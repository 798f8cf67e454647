// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_simcc - TCP congestion controls of the simulator: its kernel cannot run
 * those of bpf/ (struct_ops need a JIT compiler)
 *
 * bfc_window: follows an eBPF program. cwnd is the clamp that the program set with
 *	TCP_BPF_SNDCWND_CLAMP, and the pacing rate is its SO_MAX_PACING_RATE, in
 *	HPCC_PACE_UNIT; both in all states of TCP, as bfc_hpcc does with W and R.
 *	(Reno would follow a smaller clamp only while cwnd limits the sender, which
 *	it does not as long as pacing does.)
 * bfc_delay: as bpf/tcp_delay.bpf.c, with the same arithmetic.
 * bfc_timely, bfc_dcqcn: simcc_rate.c.
 *
 * Parameters are given when the module is loaded.
 *
 * Context: the socket is locked.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <net/tcp.h>

#include "delay.h"
#include "hpcc_pace.h"
#include "simcc.h"

unsigned int simcc_base_ns = 8000;
module_param_named(base_ns, simcc_base_ns, uint, 0444);
MODULE_PARM_DESC(base_ns, "RTT of the empty network");

unsigned long simcc_rate = 12500000000UL;
module_param_named(rate, simcc_rate, ulong, 0444);
MODULE_PARM_DESC(rate, "of a host's link, bytes/s");

unsigned int simcc_packet = 1514;
module_param_named(packet, simcc_packet, uint, 0444);
MODULE_PARM_DESC(packet, "bytes of a full packet");

static unsigned int factor = DELAY_TARGET_DEFAULT;
module_param(factor, uint, 0444);
MODULE_PARM_DESC(factor, "bfc_delay: target RTT, thousandths of base_ns");

/* --- bfc_window ----------------------------------------------------------- */

static void window_apply(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned long pace = sk->sk_max_pacing_rate;

	if (pace == ~0UL)
		return;		/* nothing has been set yet */
	tcp_snd_cwnd_set(tp, max(tp->snd_cwnd_clamp, 1U));
	WRITE_ONCE(sk->sk_pacing_rate, pace * HPCC_PACE_UNIT);
}

static void window_init(struct sock *sk)
{
	simcc_gbn_init(sk);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

/* Kernels call these differently; see sch_bfc/probe/ */
#ifndef BFC_HAVE_CCSTART
static void window_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		window_apply(sk);
}
#endif

#ifdef BFC_HAVE_CCACK
static void window_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
#else
static void window_control(struct sock *sk, const struct rate_sample *rs)
#endif
{
	simcc_gbn_ack(sk);
	window_apply(sk);
}

static struct tcp_congestion_ops window __read_mostly = {
	.init		= window_init,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.set_state	= simcc_gbn_state,
#ifdef BFC_HAVE_CCSTART
	.cwnd_event_tx_start = window_apply,
#else
	.cwnd_event	= window_event,
#endif
	.cong_control	= window_control,
	.owner		= THIS_MODULE,
	.name		= "bfc_window",
};

/* --- bfc_delay ------------------------------------------------------------ */

/**
 * struct delay_ca - state of a connection
 * @conf: parameters, those of the time when it began
 * @s: state
 */
struct delay_ca {
	struct delay_conf conf;
	struct delay s;
};

static void delay_ca_init(struct sock *sk)
{
	struct delay_ca *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const char *bad;

	bad = delay_configure(&ca->conf, simcc_rate, simcc_base_ns, factor, simcc_packet);
	if (bad) {
		pr_err_ratelimited("%s is out of range: no more than two packets are sent\n",
				   bad);
		memset(ca, 0, sizeof(*ca));
		ca->conf.w_init = DELAY_W_MIN;
		ca->conf.w_max = DELAY_W_MIN;
	}
	delay_init(&ca->s, &ca->conf);
	tcp_snd_cwnd_set(tp, delay_packets(&ca->s));
	tp->snd_ssthresh = tcp_snd_cwnd(tp);
}

static void delay_ca_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct delay_ca *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0)
		delay_new_ack(&ca->s, &ca->conf,
			      sample->rtt_us * (u64)NSEC_PER_USEC,
			      sample->pkts_acked);
}

static void delay_ca_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct delay_ca *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		if (tcp_snd_cwnd(tp) < delay_packets(&ca->s))
			return;
	}
	tcp_snd_cwnd_set(tp, delay_packets(&ca->s));
	tp->snd_ssthresh = tcp_snd_cwnd(tp);
}

static u32 delay_ca_ssthresh(struct sock *sk)
{
	struct delay_ca *ca = inet_csk_ca(sk);

	delay_loss(&ca->s);
	return delay_packets(&ca->s);
}

static u32 delay_ca_undo(struct sock *sk)
{
	struct delay_ca *ca = inet_csk_ca(sk);

	delay_undo(&ca->s);
	return delay_packets(&ca->s);
}

static struct tcp_congestion_ops delay_ops __read_mostly = {
	.init		= delay_ca_init,
	.ssthresh	= delay_ca_ssthresh,
	.cong_avoid	= delay_ca_avoid,
	.undo_cwnd	= delay_ca_undo,
	.pkts_acked	= delay_ca_acked,
	.owner		= THIS_MODULE,
	.name		= "bfc_delay",
};

static int __init simcc_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct delay_ca) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(sizeof(struct gbn) > ICSK_CA_PRIV_SIZE);
	err = simcc_gbn_register();
	if (err)
		return err;
	err = tcp_register_congestion_control(&window);
	if (err)
		goto no_window;
	err = tcp_register_congestion_control(&delay_ops);
	if (err)
		goto no_delay;
	err = simcc_rate_register();
	if (err)
		goto no_rate;
	return 0;

no_rate:
	tcp_unregister_congestion_control(&delay_ops);
no_delay:
	tcp_unregister_congestion_control(&window);
no_window:
	simcc_gbn_unregister();
	return err;
}

static void __exit simcc_exit(void)
{
	simcc_rate_unregister();
	tcp_unregister_congestion_control(&delay_ops);
	tcp_unregister_congestion_control(&window);
	simcc_gbn_unregister();
}

module_init(simcc_init);
module_exit(simcc_exit);

MODULE_DESCRIPTION("TCP congestion controls of the simulator");
MODULE_LICENSE("GPL");
