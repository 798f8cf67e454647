// SPDX-License-Identifier: GPL-2.0
/*
 * test_cores - what several processors carry through a port, each through its own TX queue
 *
 *   echo DEV CORES FLOWS MS burst|standing [IN] >/sys/module/test_cores/parameters/run
 *   cat /sys/module/test_cores/parameters/run
 *	packets that each of the first CORES processors has put into a qdisc and taken out in
 *	MS milliseconds, one number each
 *
 * Processor c uses the qdisc of TX queue c of DEV, under that qdisc's lock, with packets of
 * FLOWS flows of its own. burst: two of each flow, 64 at least, go in before the first comes
 * out. standing: eight of each flow are queued, and each that comes out goes in again. Each TX
 * queue must have a qdisc of its own, since packets are used again and again. What the stack
 * does around the qdisc is left out. Packets bring the hash of their flow.
 *
 * With IN, a bfc port whose neighbour tags, packets came in there, of one of the neighbour's
 * queues for each flow.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rtnetlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "bfc.h"
#include "packet.h"

#define CORES_MAX	8
#define CORES_FLOWS_MAX	10000
#define CORES_BURST	64	/* packets, at least */
#define CORES_STANDING	8	/* packets of a flow, with a backlog */
#define CORES_LEN	1000	/* bytes of a packet */
#define CORES_MS_MAX	10000

/**
 * struct core - a processor and what it sends
 * @sch: the qdisc of its TX queue
 * @cpu: its number
 * @n: number of packets
 * @packet: the packets; one reference of each is held here
 * @handle: &sk_buff.tc_index of each packet
 * @ms: how long it sends
 * @standing: a backlog stands meanwhile
 * @ready: processors that have not begun yet: all begin at the same time
 * @done: it has stopped
 * @sent: result, packets
 * @err: the first error
 */
struct core {
	struct Qdisc *sch;
	unsigned int cpu;
	unsigned int n;
	struct sk_buff **packet;
	u16 *handle;
	unsigned int ms;
	bool standing;
	atomic_t *ready;
	struct completion done;
	u64 sent;
	int err;
};

static DEFINE_MUTEX(cores_mutex);	/* the last result */
static u64 cores_sent[CORES_MAX];
static unsigned int cores_n;

static int cores_fill(struct core *c, struct net_device *dev, unsigned int flows,
		      const struct bfc_ingress *ing)
{
	unsigned int i, flow;

	c->n = max(flows * (c->standing ? CORES_STANDING : 2), CORES_BURST);
	c->packet = kvcalloc(c->n, sizeof(*c->packet), GFP_KERNEL);
	c->handle = kvcalloc(c->n, sizeof(*c->handle), GFP_KERNEL);
	if (!c->packet || !c->handle)
		return -ENOMEM;
	for (i = 0; i < c->n; i++) {
		struct sk_buff *skb;

		flow = c->cpu * flows + i % flows;
		skb = packet_new(dev, CORES_LEN, IPPROTO_UDP, flow / 100, flow % 100, GFP_KERNEL);
		if (!skb)
			return -ENOMEM;
		packet_put_udp(skb, CORES_LEN, flow % 50000);
		packet_end(skb, CORES_LEN);
		skb_set_queue_mapping(skb, c->cpu);
		if (ing)
			skb->skb_iif = ing->ifindex;
		skb_set_hash(skb, jhash_1word(flow, 0), PKT_HASH_TYPE_L4);
		skb->mark = i;
		c->packet[i] = skb;
		c->handle[i] = ing ? ing->base + 1 + flow % ing->queues : 0;
	}
	return 0;
}

static void cores_free(struct core *c)
{
	unsigned int i;

	for (i = 0; c->packet && i < c->n; i++)
		kfree_skb(c->packet[i]);
	kvfree(c->packet);
	kvfree(c->handle);
}

/* Packet @i of the core goes in. */
static void cores_in(struct core *c, unsigned int i)
{
	struct sk_buff *skb = packet_again(c->packet[i], c->handle[i]), *to_free = NULL;

	spin_lock(qdisc_lock(c->sch));
	c->sch->enqueue(skb, c->sch, &to_free);
	spin_unlock(qdisc_lock(c->sch));
	if (to_free)
		c->err = -EIO;
	kfree_skb_list(to_free);
}

/* One of the packets; what the qdisc sends of its own comes out as well, and is not counted. */
static struct sk_buff *cores_out(struct core *c)
{
	struct sk_buff *skb;

	for (;;) {
		spin_lock(qdisc_lock(c->sch));
		skb = c->sch->dequeue(c->sch);
		spin_unlock(qdisc_lock(c->sch));
		if (!skb || skb->len >= CORES_LEN)
			return skb;
		kfree_skb(skb);
	}
}

static void cores_fill_qdisc(struct core *c)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		cores_in(c, i);
}

static void cores_drain_qdisc(struct core *c)
{
	struct sk_buff *skb;
	unsigned int out = 0;

	while ((skb = cores_out(c))) {
		kfree_skb(skb);
		out++;
	}
	if (out != c->n)
		c->err = -EIO;
}

static void cores_burst(struct core *c)
{
	cores_fill_qdisc(c);
	cores_drain_qdisc(c);
	c->sent += c->n;
}

/* Some packets, and then softirqs may run */
static void cores_cycle(struct core *c)
{
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < CORES_BURST && !c->err; i++) {
		skb = cores_out(c);
		if (!skb) {
			c->err = -EIO;
			return;
		}
		cores_in(c, skb->mark);
		kfree_skb(skb);
	}
	c->sent += CORES_BURST;
}

static void cores_turn(struct core *c)
{
	local_bh_disable();
	if (c->standing)
		cores_cycle(c);
	else
		cores_burst(c);
	local_bh_enable();
}

static int cores_thread(void *data)
{
	struct core *c = data;
	u64 end;

	local_bh_disable();
	if (c->standing)
		cores_fill_qdisc(c);
	local_bh_enable();
	atomic_dec(c->ready);
	while (atomic_read(c->ready))
		cpu_relax();
	end = ktime_get_ns() + c->ms * (u64)NSEC_PER_MSEC;
	while (!c->err && ktime_get_ns() < end)
		cores_turn(c);
	local_bh_disable();
	if (c->standing)
		cores_drain_qdisc(c);
	local_bh_enable();
	complete(&c->done);
	return 0;
}

/* @core: filled. RTNL is held: the qdiscs stay. */
static int cores_measure(struct core *core, unsigned int cores)
{
	atomic_t ready = ATOMIC_INIT(cores);
	struct task_struct *thread;
	unsigned int i, started;
	int err = 0;

	for (started = 0; started < cores; started++) {
		core[started].ready = &ready;
		init_completion(&core[started].done);
		thread = kthread_create(cores_thread, &core[started], "test_cores/%u", started);
		if (IS_ERR(thread))
			break;
		kthread_bind(thread, core[started].cpu);
		wake_up_process(thread);
	}
	/* Those that have begun wait for the rest. */
	if (started < cores) {
		err = PTR_ERR(thread);
		for (i = 0; i < started; i++)
			core[i].err = err;
		atomic_sub(cores - started, &ready);
	}
	for (i = 0; i < started; i++)
		wait_for_completion(&core[i].done);
	for (i = 0; i < started && !err; i++)
		err = core[i].err;
	return err;
}

static int cores_run(struct core *core, struct net_device *dev, const struct net_device *in,
		     unsigned int cores, unsigned int flows)
{
	const struct bfc_ingress *ing = NULL;
	const struct bfc_sched *q;
	const struct Qdisc *sch;
	unsigned int i;
	int err;

	if (in) {
		sch = rtnl_dereference(in->qdisc);
		if (!sch || strcmp(sch->ops->id, "bfc"))
			return -EOPNOTSUPP;
		q = (const void *)sch->privdata;
		ing = rtnl_dereference(q->port->ingress);
		if (!ing)
			return -ENODATA;
	}
	for (i = 0; i < cores; i++) {
		if (!cpu_online(i) || i >= dev->real_num_tx_queues)
			return -EINVAL;
		core[i].cpu = i;
		core[i].sch = rtnl_dereference(netdev_get_tx_queue(dev, i)->qdisc);
		if (core[i].sch->flags & TCQ_F_NOLOCK || (i && core[i].sch == core[0].sch))
			return -EOPNOTSUPP;
		err = cores_fill(&core[i], dev, flows, ing);
		if (err)
			return err;
	}
	/* The stack takes no packet out meanwhile, as for a timer of the port: it would still have
	 * it when that goes in again.
	 */
	for (i = 0; i < cores; i++)
		netif_tx_stop_queue(netdev_get_tx_queue(dev, i));
	synchronize_net();
	err = cores_measure(core, cores);
	for (i = 0; i < cores; i++)
		netif_tx_wake_queue(netdev_get_tx_queue(dev, i));
	return err;
}

static int cores_set(const char *val, const struct kernel_param *kp)
{
	char name[IFNAMSIZ], how[16], from[IFNAMSIZ];
	struct net_device *dev, *in = NULL;
	unsigned int cores, flows, ms, i;
	struct core *core;
	int fields, err;

	fields = sscanf(val, "%15s %u %u %u %15s %15s", name, &cores, &flows, &ms, how, from);
	if (fields < 5 || !cores || cores > CORES_MAX || !flows || flows > CORES_FLOWS_MAX ||
	    !ms || ms > CORES_MS_MAX || (strcmp(how, "burst") && strcmp(how, "standing")))
		return -EINVAL;
	core = kcalloc(cores, sizeof(*core), GFP_KERNEL);
	if (!core)
		return -ENOMEM;
	for (i = 0; i < cores; i++) {
		core[i].ms = ms;
		core[i].standing = !strcmp(how, "standing");
	}
	mutex_lock(&cores_mutex);
	cores_n = 0;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, name);
	if (fields == 6)
		in = __dev_get_by_name(&init_net, from);
	err = dev && (in || fields == 5) ? cores_run(core, dev, in, cores, flows) : -ENODEV;
	rtnl_unlock();
	for (i = 0; i < cores; i++) {
		cores_sent[i] = core[i].sent;
		cores_free(&core[i]);
	}
	if (!err)
		cores_n = cores;
	mutex_unlock(&cores_mutex);
	kfree(core);
	return err;
}

static int cores_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int i;
	int len = 0;

	mutex_lock(&cores_mutex);
	for (i = 0; i < cores_n; i++)
		len += sysfs_emit_at(buffer, len, "%llu ", cores_sent[i]);
	mutex_unlock(&cores_mutex);
	return len + sysfs_emit_at(buffer, len, "\n");
}

static const struct kernel_param_ops cores_ops = {
	.set = cores_set,
	.get = cores_get,
};

module_param_cb(run, &cores_ops, NULL, 0600);
MODULE_PARM_DESC(run, "DEV CORES FLOWS MS burst|standing [IN]; reads as packets of each processor");

MODULE_DESCRIPTION("What several processors carry through a port");
MODULE_LICENSE("GPL");
