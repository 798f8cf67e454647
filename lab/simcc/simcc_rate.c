// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_timely, bfc_dcqcn - RDMA's congestion controls for TCP in the simulator
 *
 * They compute a rate, which TCP's pacing enforces: the arithmetic is in
 * timely.h and dcqcn.h. Only the rate limits what is in flight, or, with
 * parameter window, also this rate times base_ns ("+win" in HPCC §5.1, which
 * has HPCC's window) or the link's rate times base_ns (IRN's, which is fixed).
 *
 * Every packet must be acknowledged at once (quickack of the route), for TIMELY takes the
 * time of one packet in each round trip, and DCQCN's notifications are the ACKs of marked
 * packets, as with DCTCP.
 *
 * Context: the socket is locked.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <net/tcp.h>

#include "dcqcn.h"
#include "simcc.h"
#include "timely.h"

/* TCP may have rate >> this bytes in the qdisc of its own host: next to
 * nothing, that is two packets. In an RDMA NIC no packet waits behind those of
 * its own flow.
 */
#define RATE_PACING_SHIFT	30
#define RATE_UNBOUNDED		1000000U	/* packets: no window */

enum { WINDOW_NONE, WINDOW_RATE, WINDOW_FIXED };

static unsigned int window;
module_param(window, uint, 0444);
MODULE_PARM_DESC(window, "bfc_timely, bfc_dcqcn: most under way: 0 unbounded, 1 the flow's rate x base_ns, 2 the link's");

static unsigned long min_rate;
module_param(min_rate, ulong, 0444);
MODULE_PARM_DESC(min_rate, "bfc_timely, bfc_dcqcn: the least, bytes/s; 0: rate / 100");

/* --- parameters ----------------------------------------------------------- */

/* TIMELY's paper, with 10 Mbit/s at 10 Gbit/s; minRTT is that of HPCC's simulator. */
static struct timely_conf timely_conf = {
	.low = 50000,
	.high = 500000,
	.min_rtt = 20000,
	.alpha = 875,
	.beta = 800,
};

module_param_named(timely_step, timely_conf.step, ullong, 0444);
MODULE_PARM_DESC(timely_step, "delta, bytes/s; 0: rate / 1000");
module_param_named(timely_leap, timely_conf.leap, ullong, 0444);
MODULE_PARM_DESC(timely_leap, "after five increases in a row, bytes/s; 0: rate / 200");
module_param_named(timely_low, timely_conf.low, uint, 0444);
MODULE_PARM_DESC(timely_low, "T_low, ns");
module_param_named(timely_high, timely_conf.high, uint, 0444);
MODULE_PARM_DESC(timely_high, "T_high, ns");
module_param_named(timely_min_rtt, timely_conf.min_rtt, uint, 0444);
MODULE_PARM_DESC(timely_min_rtt, "minRTT, ns");
module_param_named(timely_alpha, timely_conf.alpha, uint, 0444);
MODULE_PARM_DESC(timely_alpha, "weight of a new difference, thousandths");
module_param_named(timely_beta, timely_conf.beta, uint, 0444);
MODULE_PARM_DESC(timely_beta, "multiplicative decrease, thousandths");

/* The vendor's, as HPCC's authors have them: 5 and 50 Mbit/s at 25 Gbit/s. */
static struct dcqcn_conf dcqcn_conf = {
	.g = 256,
	.fast = 1,
	.alpha_ns = 1000,
	.cut_ns = 4000,
	.timer_ns = 300000,
};

module_param_named(dcqcn_ai, dcqcn_conf.ai, ullong, 0444);
MODULE_PARM_DESC(dcqcn_ai, "R_AI, bytes/s; 0: rate / 5000");
module_param_named(dcqcn_hai, dcqcn_conf.hai, ullong, 0444);
MODULE_PARM_DESC(dcqcn_hai, "R_HAI, bytes/s; 0: rate / 500");
module_param_named(dcqcn_g, dcqcn_conf.g, uint, 0444);
MODULE_PARM_DESC(dcqcn_g, "g, 2^-16");
module_param_named(dcqcn_fast, dcqcn_conf.fast, uint, 0444);
MODULE_PARM_DESC(dcqcn_fast, "F, iterations of fast recovery");
module_param_named(dcqcn_alpha_ns, dcqcn_conf.alpha_ns, uint, 0444);
MODULE_PARM_DESC(dcqcn_alpha_ns, "between updates of alpha");
module_param_named(dcqcn_cut_ns, dcqcn_conf.cut_ns, uint, 0444);
MODULE_PARM_DESC(dcqcn_cut_ns, "between decreases at least");
module_param_named(dcqcn_timer_ns, dcqcn_conf.timer_ns, uint, 0444);
MODULE_PARM_DESC(dcqcn_timer_ns, "between increases by the timer");
module_param_named(dcqcn_bytes, dcqcn_conf.bytes, ullong, 0444);
MODULE_PARM_DESC(dcqcn_bytes, "between increases by the byte counter, 0: none");

/* --- what both share ------------------------------------------------------ */

/* Headers count: rates are those of frames on the wire. */
static void rate_apply(struct sock *sk, u64 bytes)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 packets = RATE_UNBOUNDED;

	/* rate x base_ns has 67 bits at most; a rate is no more precise than 1 kB/s */
	if (window != WINDOW_NONE)
		packets = DIV_ROUND_UP_ULL((window == WINDOW_FIXED ? simcc_rate : bytes) /
					   1000 * simcc_base_ns, 1000000ULL * simcc_packet);
	tcp_snd_cwnd_set(tp, max(packets, 1ULL));
	WRITE_ONCE(sk->sk_pacing_rate, max(bytes * tp->mss_cache / simcc_packet, 1ULL));
}

static void rate_init(struct sock *sk)
{
	simcc_gbn_init(sk);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	WRITE_ONCE(sk->sk_pacing_shift, RATE_PACING_SHIFT);
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
}

/* Neither reacts to loss. */
static u32 rate_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static u32 rate_undo(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

/* --- bfc_timely ----------------------------------------------------------- */

/**
 * struct timely_ca - state of a connection
 * @gbn: must be first
 * @s: state
 * @sent_ns: when the packet that is timed was sent; 0: none is
 * @end: sequence number at its end
 * @retrans: total retransmissions then: with more, the time may be of another packet
 * @alone: nothing was under way that could be timed
 */
struct timely_ca {
	struct gbn gbn;
	struct timely s;
	u64 sent_ns;
	u32 end;
	u32 retrans;
	bool alone;
};

static void timely_ca_init(struct sock *sk)
{
	struct timely_ca *ca = inet_csk_ca(sk);

	rate_init(sk);
	timely_init(&ca->s, &timely_conf);
	ca->sent_ns = 0;
	ca->alone = false;
	rate_apply(sk, ca->s.rate);
}

/* Time the newest packet in flight, after each update: one in each round trip. */
static void timely_ca_time(struct sock *sk)
{
	struct sk_buff *skb = skb_rb_last(&sk->tcp_rtx_queue);
	struct timely_ca *ca = inet_csk_ca(sk);

	ca->alone = !skb;
	if (!skb || TCP_SKB_CB(skb)->sacked & TCPCB_EVER_RETRANS)
		return;
	ca->sent_ns = skb->skb_mstamp_ns;
	ca->end = TCP_SKB_CB(skb)->end_seq;
	ca->retrans = tcp_sk(sk)->total_retrans;
}

static void timely_ca_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct timely_ca *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	simcc_gbn_ack(sk);
	if (ca->sent_ns && !before(tp->snd_una, ca->end)) {
		if (ca->retrans == tp->total_retrans)
			timely_rtt(&ca->s, &timely_conf, tp->tcp_clock_cache - ca->sent_ns);
		ca->sent_ns = 0;
	} else if (ca->alone && rs->rtt_us > 0) {
		/* Less than a packet in a round trip: take TCP's own RTT, in whole us. */
		timely_rtt(&ca->s, &timely_conf, rs->rtt_us * (u64)NSEC_PER_USEC);
	}
	if (!ca->sent_ns)
		timely_ca_time(sk);
	rate_apply(sk, ca->s.rate);
}

/* --- bfc_dcqcn ------------------------------------------------------------ */

/**
 * struct dcqcn_ca - state of a connection
 * @gbn: must be first
 * @s: state
 * @delivered_ce: tp->delivered_ce with the last ACK
 * @sent: tp->bytes_sent with it, its low bits
 */
struct dcqcn_ca {
	struct gbn gbn;
	struct dcqcn s;
	u32 delivered_ce;
	u32 sent;
};

static void dcqcn_ca_init(struct sock *sk)
{
	struct dcqcn_ca *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	rate_init(sk);
	dcqcn_init(&ca->s, &dcqcn_conf);
	ca->delivered_ce = tp->delivered_ce;
	ca->sent = tp->bytes_sent;
	rate_apply(sk, ca->s.rc);
}

static void dcqcn_ca_ack(struct sock *sk)
{
	struct dcqcn_ca *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 sent = (u32)tp->bytes_sent - ca->sent;
	bool marked = tp->delivered_ce != ca->delivered_ce;

	simcc_gbn_ack(sk);
	ca->delivered_ce = tp->delivered_ce;
	ca->sent = tp->bytes_sent;
	dcqcn_ack(&ca->s, &dcqcn_conf, tp->tcp_clock_cache, sent, marked);
	rate_apply(sk, ca->s.rc);
}

/* The receiver: an ACK says whether the packet was marked, as DCTCP's do. Each
 * packet has its own ACK, so no delayed one has to be sent before the flag
 * changes.
 */
static void dcqcn_ca_event(struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (event == CA_EVENT_ECN_IS_CE)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else if (event == CA_EVENT_ECN_NO_CE)
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

#ifdef BFC_HAVE_CCACK
static void timely_ca_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	timely_ca_ack(sk, rs);
}

static void dcqcn_ca_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	dcqcn_ca_ack(sk);
}
#else
static void timely_ca_control(struct sock *sk, const struct rate_sample *rs)
{
	timely_ca_ack(sk, rs);
}

static void dcqcn_ca_control(struct sock *sk, const struct rate_sample *rs)
{
	dcqcn_ca_ack(sk);
}
#endif

static struct tcp_congestion_ops timely_ops __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.init		= timely_ca_init,
	.ssthresh	= rate_ssthresh,
	.undo_cwnd	= rate_undo,
	.set_state	= simcc_gbn_state,
	.cong_control	= timely_ca_control,
	.owner		= THIS_MODULE,
	.name		= "bfc_timely",
};

static struct tcp_congestion_ops dcqcn_ops __read_mostly = {
	.flags		= TCP_CONG_NEEDS_ECN | TCP_CONG_NON_RESTRICTED,
	.init		= dcqcn_ca_init,
	.ssthresh	= rate_ssthresh,
	.undo_cwnd	= rate_undo,
	.set_state	= simcc_gbn_state,
	.cwnd_event	= dcqcn_ca_event,
	.cong_control	= dcqcn_ca_control,
	.owner		= THIS_MODULE,
	.name		= "bfc_dcqcn",
};

static int rate_configure(void)
{
	const char *bad;

	min_rate = min_rate ?: simcc_rate / 100;
	timely_conf.rate = simcc_rate;
	timely_conf.min = min_rate;
	timely_conf.step = timely_conf.step ?: simcc_rate / 1000;
	timely_conf.leap = timely_conf.leap ?: simcc_rate / 200;
	dcqcn_conf.rate = simcc_rate;
	dcqcn_conf.min = min_rate;
	dcqcn_conf.ai = dcqcn_conf.ai ?: simcc_rate / 5000;
	dcqcn_conf.hai = dcqcn_conf.hai ?: simcc_rate / 500;
	bad = timely_check(&timely_conf);
	if (!bad)
		bad = dcqcn_check(&dcqcn_conf);
	if (!bad && (simcc_base_ns < 100 || simcc_base_ns > NSEC_PER_SEC))
		bad = "base_ns";
	if (!bad && window > WINDOW_FIXED)
		bad = "window";
	if (!bad && (simcc_packet < 64 || simcc_packet > 65535))
		bad = "packet";
	if (!bad)
		return 0;
	pr_err("%s is out of range\n", bad);
	return -EINVAL;
}

int simcc_rate_register(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct timely_ca) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(sizeof(struct dcqcn_ca) > ICSK_CA_PRIV_SIZE);
	err = rate_configure() ?: tcp_register_congestion_control(&timely_ops);
	if (err)
		return err;
	err = tcp_register_congestion_control(&dcqcn_ops);
	if (err)
		tcp_unregister_congestion_control(&timely_ops);
	return err;
}

void simcc_rate_unregister(void)
{
	tcp_unregister_congestion_control(&dcqcn_ops);
	tcp_unregister_congestion_control(&timely_ops);
}
