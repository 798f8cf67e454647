// SPDX-License-Identifier: GPL-2.0
/*
 * test_lines - which cache lines does a packet's way through a bfc qdisc write?
 *
 *   echo DEV PACKETS [IN] >/sys/module/test_lines/parameters/run
 *   cat /sys/module/test_lines/parameters/run
 *	"FIRST SECOND SHARED OFTEN": lines that packets changed which went through the first
 *	TX queue of DEV, through the second, and through either; how often these changed
 *	by that of the two which did so less often
 *
 * DEV has a bfc with a scheduler for each TX queue. Its memory is compared before and after
 * each enqueue and each dequeue: that of the schedulers and what they share, the port, and the
 * counters of IN. Addresses are what counts, so that one processor is enough. A write that
 * changes nothing is not seen.
 *
 * Without IN packets are of this host, and come in bursts that find queues empty and leave them
 * so. With IN they came in there, of one of the neighbour's queues for each flow, all meet a
 * backlog over Th, and this is looked at while the backlog stands: a packet leaves when one has
 * come.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <linux/xarray.h>

#include "bfc.h"
#include "packet.h"

#define LINES_TXQS	2
#define LINES_FLOWS	4	/* of each TX queue */
#define LINES_BURST	8	/* packets, without a backlog */
#define LINES_MAX	10000	/* packets */
#define LINES_LEN	1000	/* bytes of one */
#define LINES_REGIONS	32
#define LINES_SHIFT	28	/* of the second TX queue's count in an entry of &lines.changes */

struct lines_region {
	const char *name;
	const u8 *at;
	u8 *was;
	size_t len;
};

/**
 * struct lines - one run
 * @dev: whose qdiscs
 * @ing: of the port that packets came in through, or NULL
 * @n: regions
 * @region: what is looked at
 * @changes: how often, by TX queue, by address / L1_CACHE_BYTES
 * @err: the first error
 */
struct lines {
	struct net_device *dev;
	struct bfc_ingress *ing;
	unsigned int n;
	struct lines_region region[LINES_REGIONS];
	struct xarray changes;
	int err;
};

static DEFINE_MUTEX(lines_mutex);	/* the last result */
static unsigned int lines_result[LINES_TXQS + 2];

static void lines_add(struct lines *l, const char *name, const void *at, size_t len)
{
	struct lines_region *r = &l->region[l->n];

	if (!at || !len)
		return;
	if (WARN_ON(l->n == LINES_REGIONS)) {
		l->err = -ENOSPC;
		return;
	}
	r->was = kvmalloc(len, GFP_KERNEL);
	if (!r->was) {
		l->err = -ENOMEM;
		return;
	}
	*r = (struct lines_region){ name, at, r->was, len };
	memcpy(r->was, at, len);
	l->n++;
}

static void lines_add_sched(struct lines *l, const struct Qdisc *sch)
{
	const struct bfc_sched *q = (const void *)sch->privdata;
	unsigned int over = q->over.classes * BFC_DEST_PORTS;
	size_t bits = BITS_TO_LONGS(q->nqueues) * sizeof(long);

	lines_add(l, "qdisc", sch, sizeof(*sch) + sizeof(*q));
	lines_add(l, "queues", q->queues, q->nqueues * sizeof(*q->queues));
	lines_add(l, "pauses", q->obeyed.pauses, q->nqueues * sizeof(*q->obeyed.pauses));
	lines_add(l, "flows", q->flows, sizeof(*q->flows) *
		  (q->over.entries - q->flows + over * BFC_FLOW_OVERFLOW));
	lines_add(l, "overflow", q->over.ports, over * sizeof(*q->over.ports));
	lines_add(l, "destinations", q->dest.table,
		  q->dest.sets * BFC_DEST_WAYS * sizeof(*q->dest.table));
	lines_add(l, "empty", q->empty, bits);
	lines_add(l, "usable", q->usable, bits);
	lines_add(l, "paused", q->obeyed.paused, bits);
	lines_add(l, "free", q->dest.free, bits);
}

static unsigned int lines_changes(const void *entry, unsigned int txq)
{
	return xa_to_value(entry) >> txq * LINES_SHIFT & (BIT(LINES_SHIFT) - 1);
}

/* What has changed since the last look was TX queue @txq's doing. */
static void lines_look(struct lines *l, unsigned int txq)
{
	unsigned int i;

	for (i = 0; i < l->n && !l->err; i++) {
		struct lines_region *r = &l->region[i];
		size_t off, end;

		if (!memcmp(r->was, r->at, r->len))
			continue;
		for (off = 0; off < r->len; off = end) {
			unsigned long line = (unsigned long)(r->at + off) / L1_CACHE_BYTES;
			void *was, *now;

			end = min_t(size_t, r->len,
				    (line + 1) * L1_CACHE_BYTES - (unsigned long)r->at);
			if (!memcmp(r->was + off, r->at + off, end - off))
				continue;
			memcpy(r->was + off, r->at + off, end - off);
			was = xa_load(&l->changes, line) ?: xa_mk_value(0);
			now = xa_mk_value(xa_to_value(was) + BIT(txq * LINES_SHIFT));
			if (lines_changes(was, !txq) && !lines_changes(was, txq))
				pr_info("lines: %s + %zu, a line of several TX queues\n",
					r->name, off);
			l->err = xa_err(xa_store(&l->changes, line, now, GFP_ATOMIC));
		}
	}
}

static struct sk_buff *lines_packet(const struct lines *l, unsigned int txq, unsigned int i)
{
	unsigned int flow = txq * LINES_FLOWS + i % LINES_FLOWS;
	struct sk_buff *skb = packet_new(l->dev, LINES_LEN, IPPROTO_UDP, flow, flow, GFP_ATOMIC);

	if (!skb)
		return NULL;
	packet_put_udp(skb, LINES_LEN, flow);
	packet_end(skb, LINES_LEN);
	skb_set_queue_mapping(skb, txq);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	bfc_set_pkt_segs(skb, 1);
	if (l->ing) {
		skb->skb_iif = l->ing->ifindex;
		skb->tc_index = l->ing->base + 1 + flow % l->ing->queues;
	}
	return skb;
}

/* One in, if @in, and so many out, each looked at if @look: when the lock is free again, as it
 * was before, since a debug kernel's lock says who has it.
 */
static void lines_step(struct lines *l, unsigned int txq, unsigned int i, bool in,
		       unsigned int out, bool look)
{
	struct Qdisc *sch = rtnl_dereference(netdev_get_tx_queue(l->dev, txq)->qdisc);
	struct sk_buff *skb = in ? lines_packet(l, txq, i) : NULL, *to_free = NULL;

	if (l->err)
		return;
	if (in && !skb) {
		l->err = -ENOMEM;
		return;
	}
	if (skb) {
		spin_lock(qdisc_lock(sch));
		sch->enqueue(skb, sch, &to_free);
		spin_unlock(qdisc_lock(sch));
		if (look)
			lines_look(l, txq);
	}
	while (out && !l->err) {
		spin_lock(qdisc_lock(sch));
		skb = sch->dequeue(sch);
		spin_unlock(qdisc_lock(sch));
		if (look)
			lines_look(l, txq);
		if (!skb)
			l->err = -ENODATA;
		else	/* not for a frame of the port itself */
			out -= skb->protocol == htons(ETH_P_IP);
		kfree_skb(skb);
	}
	if (to_free)
		l->err = -EIO;
	kfree_skb_list(to_free);
}

static void lines_burst(struct lines *l, unsigned int txq, bool look)
{
	unsigned int i;

	for (i = 0; i < LINES_BURST; i++)
		lines_step(l, txq, i, true, 0, look);
	for (i = 0; i < LINES_BURST; i++)
		lines_step(l, txq, i, false, 1, look);
}

/* What was not looked at has changed, too. */
static void lines_forget(struct lines *l)
{
	unsigned int i;

	for (i = 0; i < l->n; i++)
		memcpy(l->region[i].was, l->region[i].at, l->region[i].len);
}

/* A backlog of so many packets stands meanwhile. */
static void lines_backlog(struct lines *l, unsigned int packets)
{
	unsigned int txq, i;

	for (txq = 0; txq < LINES_TXQS; txq++)
		for (i = 0; i < packets; i++)
			lines_step(l, txq, i, true, 0, false);
	lines_forget(l);
	for (i = 0; i < packets; i++)
		for (txq = 0; txq < LINES_TXQS; txq++)
			lines_step(l, txq, i, true, 1, true);
	for (txq = 0; txq < LINES_TXQS; txq++)
		for (i = 0; i < packets; i++)
			lines_step(l, txq, i, false, 1, false);
}

static void lines_bursts(struct lines *l, unsigned int packets)
{
	unsigned int txq, i;

	for (i = 0; i < packets; i += LINES_BURST) {
		for (txq = 0; txq < LINES_TXQS; txq++)
			lines_burst(l, txq, i);
		if (!i)
			lines_forget(l);
	}
}

static void lines_count(struct lines *l)
{
	unsigned long line;
	void *entry;

	memset(lines_result, 0, sizeof(lines_result));
	xa_for_each(&l->changes, line, entry) {
		unsigned int first = lines_changes(entry, 0), second = lines_changes(entry, 1);

		lines_result[0] += !!first;
		lines_result[1] += !!second;
		lines_result[LINES_TXQS] += first && second;
		lines_result[LINES_TXQS + 1] = max(lines_result[LINES_TXQS + 1],
						   min(first, second));
	}
}

static int lines_run(struct lines *l, const struct net_device *in, unsigned int packets)
{
	const struct bfc_txqs *all = NULL;
	const struct bfc_sched *q;
	const struct Qdisc *sch;
	unsigned int txq;

	for (txq = 0; txq < LINES_TXQS; txq++) {
		if (txq >= l->dev->num_tx_queues)
			return -EINVAL;
		sch = rtnl_dereference(netdev_get_tx_queue(l->dev, txq)->qdisc);
		q = (const void *)sch->privdata;
		if (strcmp(sch->ops->id, "bfc") || !q->txq.all)
			return -EOPNOTSUPP;
		all = q->txq.all;
		lines_add_sched(l, sch);
		if (!txq)
			lines_add(l, "port", q->port, sizeof(*q->port));
	}
	lines_add(l, "txqs", all, struct_size(all, each, all->n));
	if (in) {
		sch = rtnl_dereference(in->qdisc);
		if (!sch || strcmp(sch->ops->id, "bfc"))
			return -EOPNOTSUPP;
		q = (const void *)sch->privdata;
		l->ing = rtnl_dereference(q->port->ingress);
		if (!l->ing || l->ing->queues < LINES_TXQS * LINES_FLOWS)
			return -ENODATA;
		lines_add(l, "port of IN", q->port, sizeof(*q->port));
		lines_add(l, "ingress", l->ing, struct_size(l->ing, counter, l->ing->queues) +
			  l->ing->queues * (sizeof(u32) + sizeof(u8)));
	}
	if (l->err)
		return l->err;
	local_bh_disable();	/* no timer of a port, no NET_TX meanwhile */
	if (l->ing)
		lines_backlog(l, packets);
	else
		lines_bursts(l, packets);
	local_bh_enable();
	if (!l->err)
		lines_count(l);
	return l->err;
}

static int lines_set(const char *val, const struct kernel_param *kp)
{
	char name[IFNAMSIZ], in[IFNAMSIZ];
	struct net_device *from = NULL;
	unsigned int packets, i;
	struct lines *l;
	int fields, err;

	fields = sscanf(val, "%15s %u %15s", name, &packets, in);
	if (fields < 2 || packets < 2 * LINES_BURST || packets > LINES_MAX)
		return -EINVAL;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	xa_init(&l->changes);
	mutex_lock(&lines_mutex);
	rtnl_lock();
	l->dev = __dev_get_by_name(&init_net, name);
	if (fields == 3)
		from = __dev_get_by_name(&init_net, in);
	err = l->dev && (from || fields == 2) ? lines_run(l, from, packets) : -ENODEV;
	rtnl_unlock();
	mutex_unlock(&lines_mutex);
	for (i = 0; i < l->n; i++)
		kvfree(l->region[i].was);
	xa_destroy(&l->changes);
	kfree(l);
	return err;
}

static int lines_get(char *buffer, const struct kernel_param *kp)
{
	int len;

	mutex_lock(&lines_mutex);
	len = sysfs_emit(buffer, "%u %u %u %u\n", lines_result[0], lines_result[1],
			 lines_result[LINES_TXQS], lines_result[LINES_TXQS + 1]);
	mutex_unlock(&lines_mutex);
	return len;
}

static const struct kernel_param_ops lines_ops = {
	.set = lines_set,
	.get = lines_get,
};

module_param_cb(run, &lines_ops, NULL, 0600);
MODULE_PARM_DESC(run, "DEV PACKETS [IN]; reads as FIRST SECOND SHARED OFTEN");

MODULE_DESCRIPTION("Cache lines that packets write");
MODULE_LICENSE("GPL");
