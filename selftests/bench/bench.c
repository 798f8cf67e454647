// SPDX-License-Identifier: GPL-2.0
/*
 * test_bench - what a packet costs in a qdisc
 *
 * Feeds packets to the root qdisc of a device and takes them out again, with
 * the qdisc's lock held as the stack holds it, and counts cycles of the
 * processor's clock (TSC). What the stack does around the qdisc is left out.
 *
 *   echo DEV FLOWS BURST ROUNDS [IN] >/sys/module/test_bench/parameters/run
 *   cat /sys/module/test_bench/parameters/run
 *	"ENQUEUE DEQUEUE STAMPED": cycles per packet, each the minimum over ROUNDS
 *	of a burst that goes in and comes out. Packets are of FLOWS flows in turn,
 *	also from burst to burst. STAMPED: packets of all rounds that came out with
 *	their first record of INT filled
 *
 * With IN each packet first comes in through that device with an S-tag of
 * VLAN id BFC_VID(0), BFC_VID(1) ...: its ingress hook notes where it came from,
 * as in a switch.
 *
 *   echo DEV FLOWS BURST ROUNDS IN PORTS >/sys/module/test_bench/parameters/run
 *	Packets come in through the devices IN0, IN1 ... in turn, without tags.
 *	The queue grows: one of them leaves when two have come, and only those are
 *	measured, each for itself: "MEAN MEDIAN 0" of what they take. ROUNDS 0: they
 *	stay in the queue of DEV, which should have a low rate, and nothing is
 *	measured
 *
 * With the parameter fill, that many packets of the flows go in before the clock starts, and
 * the burst meets a queue that is full: packets may be dropped, and some must be.
 *
 * The packets are made before and used again and again: only their headers are
 * looked at. Each time they go in, none has a hash, as from a NIC without RSS; with
 * the parameter hash each has that of its flow, as RSS and local sockets leave it.
 * They are UDP, or, with the parameter int_hops, TCP with timestamps and behind them
 * room for INT of so many hops, which is empty each time they go in.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sort.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include <linux/bfc_int.h>
#include <linux/pkt_sch_bfc.h>
#include "bfc_compat.h"
#include "packet.h"

#define BENCH_LEN	1000	/* bytes of a packet */
#define BENCH_UPSTREAM	32	/* queues of the neighbour at IN */
#define BENCH_MAX	100000
#define BENCH_TS_LEN	12	/* timestamps, as Linux sends them */
#define BENCH_HOPS_MAX	3	/* beside these */
#define BENCH_INT	(ETH_HLEN + sizeof(struct iphdr) + \
			 sizeof(struct tcphdr) + BENCH_TS_LEN + \
			 BFC_INT_TCP_HEAD_LEN)	/* first record */

/**
 * struct bench_packet - a packet and what to restore before it is used again
 * @skb: one reference is held here
 * @hash: of its flow
 * @tc_index: what the ingress hook wrote
 */
struct bench_packet {
	struct sk_buff *skb;
	u32 hash;
	u16 tc_index;
};

/**
 * struct bench - one measurement
 * @dev: whose root qdisc
 * @in: where packets come in first, or NULL
 * @prefix: of the names of devices where they come in
 * @ports: number of these, or 0
 * @flows: number of flows
 * @burst: packets that go in before they come out
 * @rounds: bursts
 * @fill: packets that go in before each burst and are not measured; then the queue is full
 * @int_hops: records of INT that packets have room for, 0: they are UDP
 * @hash: packets go in with the hash of their flow
 * @n: number of packets
 * @caught: of these, come in through @in so far
 * @packet: the packets
 * @order: those of a burst: as they go in, then as they came out
 * @enqueue: result, cycles per packet
 * @dequeue: result
 * @stamped: result, packets
 */
struct bench {
	struct net_device *dev;
	struct net_device *in;
	const char *prefix;
	unsigned int ports;
	unsigned int flows;
	unsigned int burst;
	unsigned int rounds;
	unsigned int fill;
	unsigned int int_hops;
	bool hash;
	unsigned int n;
	unsigned int caught;
	struct bench_packet *packet;
	struct sk_buff **order;
	u64 enqueue;
	u64 dequeue;
	u64 stamped;
};

static DEFINE_MUTEX(bench_mutex);	/* the last result */
static u64 bench_enqueue, bench_dequeue, bench_stamped;

static unsigned int bench_int_hops;
module_param_named(int_hops, bench_int_hops, uint, 0600);
MODULE_PARM_DESC(int_hops, "Records of INT that packets have room for, 0 to 3; 0: UDP (default)");

static unsigned int bench_fill;
module_param_named(fill, bench_fill, uint, 0600);
MODULE_PARM_DESC(fill, "Packets that fill the queue before each burst (default 0: it is empty)");

static bool bench_hash;
module_param_named(hash, bench_hash, bool, 0600);
MODULE_PARM_DESC(hash, "Packets come with the hash of their flow (default: without)");

/* Not before all that comes first in the program is done, nor after. */
static u64 bench_cycles(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) : :
		     "memory");
	return (u64)high << 32 | low;
}

static void bench_put_tcp(struct sk_buff *skb, unsigned int flow,
			  unsigned int hops)
{
	static const u8 ts[BENCH_TS_LEN] = { 1, 1, 8, 10 };
	struct tcphdr *tcp = skb_put_zero(skb, sizeof(*tcp));
	u8 *option;

	tcp->source = htons(1024 + flow % 50000);
	tcp->dest = htons(9);
	tcp->ack = 1;
	tcp->doff = (sizeof(*tcp) + sizeof(ts) + BFC_INT_TCP_LEN(hops)) / 4;
	skb_put_data(skb, ts, sizeof(ts));
	option = skb_put_zero(skb, BFC_INT_TCP_LEN(hops));
	option[0] = BFC_INT_TCP_RECORD;
	option[1] = BFC_INT_TCP_LEN(hops);
	option[2] = BFC_INT_TCP_EXID >> 8;
	option[3] = BFC_INT_TCP_EXID & 0xff;
}

static struct sk_buff *bench_build(const struct bench *b, unsigned int flow)
{
	struct sk_buff *skb = packet_new(b->dev, BENCH_LEN,
					 b->int_hops ? IPPROTO_TCP : IPPROTO_UDP,
					 flow / 100, flow % 100, GFP_KERNEL);

	if (!skb)
		return NULL;
	if (b->int_hops)
		bench_put_tcp(skb, flow, b->int_hops);
	else
		packet_put_udp(skb, BENCH_LEN, flow % 50000);
	packet_end(skb, BENCH_LEN);
	return skb;
}

/* The packets of bench_receive(), behind the ingress hook. */
static rx_handler_result_t bench_catch(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct bench *b = rcu_dereference(skb->dev->rx_handler_data);

	/* The kernel's own traffic */
	if (b->caught == b->n || skb != b->packet[b->caught].skb)
		return RX_HANDLER_PASS;
	skb_push(skb, ETH_HLEN);
	skb->dev = b->dev;
	b->packet[b->caught++].tc_index = skb->tc_index;
	return RX_HANDLER_CONSUMED;
}

static int bench_receive(struct bench *b, unsigned int i)
{
	/* Two references: a qdisc that drops it has one to drop. */
	struct sk_buff *skb = skb_get(b->packet[i].skb);

	skb->protocol = eth_type_trans(skb, b->in);
	if (!b->ports)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021AD),
				       BFC_VID(i % b->flows % BENCH_UPSTREAM));
	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
	if (b->caught == i + 1)
		kfree_skb(skb);
	return b->caught == i + 1 && b->packet[i].tc_index ? 0 : -ENODATA;
}

/* Packet i comes in through port i % ports. */
static int bench_through_ports(struct bench *b, unsigned int i)
{
	char name[IFNAMSIZ];
	int err;

	snprintf(name, sizeof(name), "%s%u", b->prefix, i % b->ports);
	b->in = __dev_get_by_name(&init_net, name);
	if (!b->in)
		return -ENODEV;
	err = netdev_rx_handler_register(b->in, bench_catch, b);
	if (err)
		return err;
	err = bench_receive(b, i);
	netdev_rx_handler_unregister(b->in);
	b->in = NULL;
	return err;
}

static int bench_prepare(struct bench *b)
{
	unsigned int i;
	int err = 0;

	if (b->in) {
		err = netdev_rx_handler_register(b->in, bench_catch, b);
		if (err)
			return err;
	}
	for (i = 0; i < b->n && !err; i++) {
		b->packet[i].skb = bench_build(b, i % b->flows);
		b->packet[i].hash = jhash_1word(i % b->flows, 0);
		if (!b->packet[i].skb)
			err = -ENOMEM;
		else if (b->in)
			err = bench_receive(b, i);
		else if (b->ports)
			err = bench_through_ports(b, i);
	}
	if (b->in)
		netdev_rx_handler_unregister(b->in);
	return err;
}

/* As it was when it came in, with a reference for the qdisc. */
static struct sk_buff *bench_restore(const struct bench *b,
				     struct bench_packet *p)
{
	struct sk_buff *skb = packet_again(p->skb, p->tc_index);

	skb_clear_hash(skb);
	if (b->hash)
		skb_set_hash(skb, p->hash, PKT_HASH_TYPE_L4);
	if (b->int_hops)
		memset(skb->data + BENCH_INT, 0,
		       BFC_INT_HOP_LEN * b->int_hops);
	return skb;
}

static bool bench_is_stamped(const struct bench *b, const struct sk_buff *skb)
{
	const u8 *record = skb->data + BENCH_INT;
	struct bfc_int_hop hop;

	if (!b->int_hops || skb->len != BENCH_LEN)
		return false;
	bfc_int_tcp_get_hop(record, &hop);
	return bfc_int_tcp_used(record) && hop.speed &&
	       (b->int_hops == 1 ||
		!bfc_int_tcp_used(record + BFC_INT_HOP_LEN));
}

/* One burst. The qdisc may send a frame of its own; then one of the burst comes out
 * after the clock has stopped, but none stays. A queue that is full takes part of the burst only.
 *
 * Return: how many packets did not come out that should have; or did that should not.
 */
static unsigned int bench_burst(struct bench *b, struct Qdisc *q,
				unsigned int first)
{
	struct sk_buff *to_free = NULL, *rest = NULL, *skb;
	unsigned int i, lost, out = 0, late = 0, all = b->fill + b->burst;
	u64 t0, t1, t2;

	for (i = 0; i < all; i++)
		b->order[i] = bench_restore(b, &b->packet[(first + i) % b->n]);

	spin_lock_bh(qdisc_lock(q));
	for (i = 0; i < b->fill; i++)
		q->enqueue(b->order[i], q, &to_free);
	t0 = bench_cycles();
	for (; i < all; i++)
		q->enqueue(b->order[i], q, &to_free);
	t1 = bench_cycles();
	while (out < b->burst) {
		b->order[out] = q->dequeue(q);
		if (!b->order[out])
			break;
		out++;
	}
	t2 = bench_cycles();
	while ((skb = q->dequeue(q))) {
		b->stamped += bench_is_stamped(b, skb);
		skb->next = rest;
		rest = skb;
		late++;
	}
	spin_unlock_bh(qdisc_lock(q));

	for (i = 0; i < out; i++) {
		b->stamped += bench_is_stamped(b, b->order[i]);
		kfree_skb(b->order[i]);
	}
	kfree_skb_list(rest);
	b->enqueue = min(b->enqueue, t1 - t0);
	b->dequeue = min(b->dequeue, t2 - t1);
	if (b->fill)
		lost = to_free ? 0 : b->burst;
	else
		lost = to_free ? b->burst : b->burst - min(b->burst, out + late);
	kfree_skb_list(to_free);
	return lost;
}

static int bench_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Two come, one leaves.
 *
 * Return: 0, or a negative errno.
 */
static int bench_grow(struct bench *b, struct Qdisc *q, u64 *took)
{
	struct sk_buff *to_free = NULL, *gone = NULL, *skb;
	unsigned int i, n = 0;
	u64 t, sum = 0;

	spin_lock_bh(qdisc_lock(q));
	for (i = 0; i < b->burst; i++) {
		skb = bench_restore(b, &b->packet[i % b->n]);
		q->enqueue(skb, q, &to_free);
		if (!b->rounds || !(i & 1))
			continue;
		t = bench_cycles();
		skb = q->dequeue(q);
		took[n++] = bench_cycles() - t;
		if (!skb)
			break;
		skb->next = gone;
		gone = skb;
	}
	while (b->rounds && (skb = q->dequeue(q))) {
		skb->next = gone;
		gone = skb;
	}
	spin_unlock_bh(qdisc_lock(q));
	kfree_skb_list(gone);
	kfree_skb_list(to_free);
	if (to_free || n != (b->rounds ? b->burst / 2 : 0))
		return -EIO;
	for (i = 0; i < n; i++)
		sum += took[i];
	if (!n)
		return 0;
	sort(took, n, sizeof(*took), bench_compare, NULL);
	b->enqueue = min(b->enqueue, div_u64(sum, n));
	b->dequeue = min(b->dequeue, took[n / 2]);
	return 0;
}

/* Packets are used once: in a burst they are in the queue at the same time. */
static int bench_measure_growing(struct bench *b)
{
	struct Qdisc *q = rtnl_dereference(b->dev->qdisc);
	unsigned int i;
	int err = 0;
	u64 *took;

	took = kvcalloc(b->burst, sizeof(*took), GFP_KERNEL);
	if (!took)
		return -ENOMEM;
	b->enqueue = U64_MAX;
	b->dequeue = U64_MAX;
	for (i = 0; i < max(b->rounds, 1U) && !err; i++) {
		err = bench_grow(b, q, took);
		cond_resched();
	}
	kvfree(took);
	bench_enqueue = b->enqueue;
	bench_dequeue = b->dequeue;
	bench_stamped = 0;
	return err;
}

static int bench_measure(struct bench *b)
{
	struct Qdisc *q = rtnl_dereference(b->dev->qdisc);
	unsigned int i, lost = 0;

	/* One without a lock of its own is not what the others are. */
	if (q->flags & (TCQ_F_NOLOCK | TCQ_F_MQROOT))
		return -EOPNOTSUPP;
	b->enqueue = U64_MAX;
	b->dequeue = U64_MAX;
	for (i = 0; i < b->rounds && !lost; i++) {
		lost = bench_burst(b, q, i * b->burst % b->n);
		cond_resched();
	}
	if (lost) {
		pr_err("bench: %u packets of a burst did not come out of %s\n",
		       lost, q->ops->id);
		return -EIO;
	}
	bench_enqueue = div_u64(b->enqueue + b->burst / 2, b->burst);
	bench_dequeue = div_u64(b->dequeue + b->burst / 2, b->burst);
	bench_stamped = b->stamped;
	return 0;
}

static int bench_run(struct bench *b)
{
	unsigned int i;
	int err = -ENOMEM;

	b->n = max(b->flows, b->fill + b->burst);
	b->packet = kvcalloc(b->n, sizeof(*b->packet), GFP_KERNEL);
	b->order = kvcalloc(b->fill + b->burst, sizeof(*b->order), GFP_KERNEL);
	if (!b->packet || !b->order)
		goto out;
	err = bench_prepare(b);
	if (!err)
		err = b->ports ? bench_measure_growing(b) : bench_measure(b);
	for (i = 0; i < b->n; i++)
		kfree_skb(b->packet[i].skb);
out:
	kvfree(b->packet);
	kvfree(b->order);
	return err;
}

static int bench_set(const char *val, const struct kernel_param *kp)
{
	char name[IFNAMSIZ], in[IFNAMSIZ];
	struct bench b = {};
	int fields, err;

	fields = sscanf(val, "%15s %u %u %u %15s %u", name, &b.flows, &b.burst,
			&b.rounds, in, &b.ports);
	if (fields < 4 || !b.flows || !b.burst || (!b.rounds && !b.ports) ||
	    (fields == 6 && !b.ports) ||
	    b.flows > BENCH_MAX || b.burst > BENCH_MAX)
		return -EINVAL;
	b.int_hops = READ_ONCE(bench_int_hops);
	if (b.int_hops > BENCH_HOPS_MAX)
		return -EINVAL;
	b.hash = READ_ONCE(bench_hash);
	b.fill = READ_ONCE(bench_fill);
	if (b.fill > BENCH_MAX || (b.fill && b.ports))
		return -EINVAL;

	mutex_lock(&bench_mutex);
	rtnl_lock();
	b.dev = __dev_get_by_name(&init_net, name);
	if (fields == 5)
		b.in = __dev_get_by_name(&init_net, in);
	b.prefix = in;
	err = b.dev && (b.in || fields != 5) ? bench_run(&b) : -ENODEV;
	rtnl_unlock();
	mutex_unlock(&bench_mutex);
	return err;
}

static int bench_get(char *buffer, const struct kernel_param *kp)
{
	int len;

	mutex_lock(&bench_mutex);
	len = sysfs_emit(buffer, "%llu %llu %llu\n", bench_enqueue,
			 bench_dequeue, bench_stamped);
	mutex_unlock(&bench_mutex);
	return len;
}

static const struct kernel_param_ops bench_ops = {
	.set = bench_set,
	.get = bench_get,
};

module_param_cb(run, &bench_ops, NULL, 0600);
MODULE_PARM_DESC(run, "DEV FLOWS BURST ROUNDS [IN [PORTS]]; reads as ENQUEUE DEQUEUE STAMPED");

MODULE_DESCRIPTION("Cycles per packet of a qdisc");
MODULE_LICENSE("GPL");
