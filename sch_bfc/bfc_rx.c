// SPDX-License-Identifier: GPL-2.0
/*
 * Control frames from the neighbour: PAUSE and HELLO. Pauses are only stored
 * here, for the next dequeue to obey (bfc_obey.c).
 */
#include <linux/etherdevice.h>

#include "bfc.h"

/* True if a PAUSE is in order. It must be newer than the last one, and not far ahead of it or of
 * the newest HELLO: a sender that does not hear the neighbour could guess the 32 bits of the
 * epoch alone in minutes at 10 Gbit/s. With `peer on` it may be any distance ahead, as there may
 * be no HELLO.
 */
static bool bfc_rx_in_order(const struct bfc_port *port, u32 seq)
{
	u32 ahead = seq - port->rx.seq;
	u32 hello = seq - port->neighbour.peer.seq + BFC_SEQ_AHEAD;

	return (s32)ahead > 0 &&
	       (ahead <= BFC_SEQ_AHEAD || hello <= 2 * BFC_SEQ_AHEAD ||
		port->opt.peer != BFC_PEER_AUTO);
}

static enum bfc_bad bfc_rx_pause(struct bfc_port *port,
				 const struct bfc_hdr *hdr, const void *frame,
				 u64 now)
{
	struct bfc_pause pause;
	enum bfc_bad bad;
	u8 least;

	lockdep_assert_held(&port->lock);
	/* A neighbour that has not proved that it hears the port has got no tags, and cannot
	 * name a queue to pause. It may pause priorities nevertheless, as PFC could: it may be
	 * up before the port is.
	 */
	least = port->fc->tags ? BFC_PEER_STATE_UP : BFC_PEER_STATE_HEARD;
	if (port->opt.peer == BFC_PEER_AUTO &&
	    (port->neighbour.peer.state < least ||
	     port->neighbour.peer.state > BFC_PEER_STATE_UP ||
	     hdr->epoch != port->neighbour.peer.epoch))
		return BFC_BAD_EPOCH;
	/* `peer on` takes any epoch, but for that of frames that came back. */
	if (hdr->epoch == port->neighbour.epoch)
		return BFC_BAD_LOOP;
	/* Frames up to a tenth of the rate towards the neighbour. Those beyond that are ignored,
	 * with their pauses and resumes, until the next one that is accepted.
	 */
	if (!bfc_bucket_take(&port->rx.bucket, now, port->rx.max_pps))
		return BFC_BAD_RATE;
	if (port->opt.peer != BFC_PEER_AUTO && hdr->epoch != port->neighbour.peer.epoch) {
		/* `peer on`: the neighbour need not say HELLO; a new epoch
		 * is a restart.
		 */
		port->neighbour.peer.epoch = hdr->epoch;
		port->rx.seq = hdr->seq - 1;
	}
	if (bfc_port_refuses_pause(port))
		return BFC_BAD_ROLE;
	if (!bfc_rx_in_order(port, hdr->seq))
		return BFC_BAD_SEQ;
	bad = bfc_get_pause(frame, hdr->len, port->queues, &pause);
	if (bad)
		return bad;

	port->rx.seq = hdr->seq;
	port->rx.frames++;
	WRITE_ONCE(port->rx.drained, pause.drained);
	port->fc->receive(port, &pause, frame, now);
	return BFC_OK;
}

/* New counters for the neighbour's queues. A neighbour that keeps changing its number of queues
 * must not use up the handles, as only the sweep frees old ones. It gets counters by a later
 * HELLO; until then packets are charged to counters for no queue. @early: the cause if it is too
 * early to try: that of the last try, if there was one.
 *
 * Return: 0, or why it gets none now: BFC_REFUSED_*.
 */
static u8 bfc_rx_layout(struct bfc_port *port, unsigned int queues, u8 early, u64 now)
{
	const struct bfc_ingress *ing;
	u8 refused = bfc_ingress_room(port, queues);

	if (!refused && !bfc_bucket_take_n(&port->neighbour.news, now, BFC_LAYOUT_PPS,
					   BFC_LAYOUT_BURST, 1))
		refused = early;
	if (!refused)
		return bfc_port_layout(port, queues);
	if (refused != port->neighbour.refused)
		bfc_port_refuse(port, queues, refused);
	ing = bfc_ingress_of(port);
	if (!ing || ing->queues)
		bfc_port_layout(port, 0);
	return refused;
}

static enum bfc_bad bfc_rx_hello(struct bfc_port *port,
				 const struct bfc_hdr *hdr, const void *frame,
				 u64 now)
{
	u32 epoch = port->neighbour.peer.epoch;
	struct bfc_hello hello;
	unsigned int events;
	enum bfc_bad bad;
	bool known;

	lockdep_assert_held(&port->lock);
	bad = bfc_get_hello(frame, &hello);
	if (bad)
		return bad;
	/* Limit the rate, as each HELLO may have to be answered. Senders that do not hear us
	 * have a bucket of their own, so that they cannot use up the neighbour's.
	 */
	known = bfc_peer_knows(&port->neighbour.peer, hdr, &hello, now);
	if (!bfc_bucket_take_n(&port->neighbour.bucket[known], now, BFC_HELLO_PPS,
			       BFC_HELLO_PPS, 1))
		return BFC_BAD_RATE;
	bad = bfc_peer_hello(&port->neighbour.peer, hdr, &hello, now, &events);
	if (events & BFC_EV_REPLY)
		mod_delayed_work(system_percpu_wq, &port->neighbour.hello, 0);
	if (bad)
		return bad;

	port->neighbour.hello_rx++;
	if (events & BFC_EV_LAYOUT) {
		port->rx.seq = hdr->seq;
		/* One that has started over may pause nothing, and need not say so. Not what PFC
		 * has paused: a stranger could end that.
		 */
		if (port->fc->tags && port->neighbour.peer.epoch != epoch)
			bfc_port_unpause(port);
	}
	if (!port->fc->tags) {
		/* counters do not depend on the neighbour's queues */
	} else if (events & BFC_EV_LAYOUT) {
		port->neighbour.refused = bfc_rx_layout(port, hello.queues, BFC_REFUSED_WAIT, now);
	} else if (events & BFC_EV_STATE && !port->neighbour.peer.peer_nonce) {
		bfc_port_left(port);	/* BYE */
	} else if (port->neighbour.refused && hello.id == port->neighbour.peer.peer_id) {
		port->neighbour.refused = bfc_rx_layout(port, hello.queues,
							port->neighbour.refused, now);
		events |= BFC_EV_STATE;
	}
	if (events & BFC_EV_STATE) {
		port->neighbour.tries = 0;
		bfc_port_tags(port);
	}
	bfc_port_class(port);
	bfc_hrtt_heard(port);
	return BFC_OK;
}

/**
 * bfc_rx_control() - a control frame came in
 * @port: where
 * @skb: the frame, network header at the magic; stays with the caller
 *
 * Context: softirq, from the hook.
 */
void bfc_rx_control(struct bfc_port *port, struct sk_buff *skb)
{
	unsigned int len = skb_headlen(skb) + ETH_HLEN;
	const void *frame = skb_mac_header(skb);
	enum bfc_bad bad;
	u64 now = ktime_get_ns();
	struct bfc_hdr hdr;
	bool wake = false;

	spin_lock(&port->lock);
	if (!port->cfg || !port->fc->hello ||
	    port->opt.peer == BFC_PEER_OFF)
		goto out;
	/* Malformed frames cost no more than this check. */
	bad = bfc_get_hdr(frame, len, &hdr);
	if (!bad && hdr.type == BFC_FRAME_HELLO) {
		bad = bfc_rx_hello(port, &hdr, frame, now);
	} else if (!bad) {
		bad = bfc_rx_pause(port, &hdr, frame, now);
		wake = !bad;
	}
	if (bad)
		port->rx.bad[bad]++;
out:
	spin_unlock(&port->lock);
	if (wake)
		bfc_port_wake(port);
}
