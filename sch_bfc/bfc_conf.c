// SPDX-License-Identifier: GPL-2.0
/*
 * From options to thresholds for the port-level modes, and the buffers that ports
 * share. Configuration is under RTNL; readers use RCU.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "bfc.h"

/* ---- buffers ---- */

/* What is not set aside is there for all. @going: will not be soon. */
static void bfc_buffer_carve(struct bfc_buffer *buffer, u64 going)
{
	u64 fixed = buffer->fixed - going;

	WRITE_ONCE(buffer->pool.size, buffer->memory > fixed ?
				      buffer->memory - fixed : 0);
}

/* A buffer that nobody is in keeps what packets still hold of it, but is not
 * found any more: the namespace may go.
 */
static void bfc_buffer_leave(struct bfc_buffer *buffer, u64 fixed)
{
	ASSERT_RTNL();
	buffer->fixed -= fixed;
	bfc_buffer_carve(buffer, 0);
	if (!--buffer->ports)
		list_del(&buffer->list);
	bfc_buffer_put(buffer);
}

/* The caller gives @fixed back with bfc_buffer_leave(). @before: what it will
 * give back next. @was: result, the size until now.
 */
static struct bfc_buffer *bfc_buffer_join(struct bfc_switch *sw,
					  const struct bfc_params *p, u64 fixed,
					  const struct bfc_conf *before,
					  u64 *was,
					  struct netlink_ext_ack *extack)
{
	struct bfc_buffer *buffer;
	u64 memory, going = 0;

	ASSERT_RTNL();
	list_for_each_entry(buffer, &sw->buffers, list) {
		if (!strcmp(buffer->name, p->buffer)) {
			refcount_inc(&buffer->users);
			goto found;
		}
	}
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	refcount_set(&buffer->users, 1);
	buffer->memory = BFC_LIMIT_DEFAULT;
	strscpy(buffer->name, p->buffer, sizeof(buffer->name));
	list_add(&buffer->list, &sw->buffers);
found:
	memory = p->buffer_size ?: buffer->memory;
	if (before && before->buffer == buffer)
		going = before->fixed;
	buffer->ports++;
	if (buffer->fixed - going + fixed > memory) {
		NL_SET_ERR_MSG(extack, "bfc: buffer: too small for the reserves and the headroom of its ports, give size");
		bfc_buffer_leave(buffer, 0);
		return ERR_PTR(-ENOSPC);
	}
	*was = buffer->memory;
	buffer->memory = memory;
	buffer->fixed += fixed;
	bfc_buffer_carve(buffer, going);
	return buffer;
}

/**
 * bfc_buffer_put() - one user less
 * @buffer: or NULL
 */
void bfc_buffer_put(struct bfc_buffer *buffer)
{
	if (buffer && refcount_dec_and_test(&buffer->users))
		kfree(buffer);
}

/* ---- thresholds ---- */

static int bfc_refuse_conf(struct netlink_ext_ack *extack, const char *msg)
{
	if (extack)
		extack->_msg = msg;
	return -EINVAL;
}

/* PFC's thresholds: those given, and the rest from link and HRTT. */
static int bfc_conf_ingress(struct bfc_conf *c, const struct bfc_params *p,
			    u64 rate, u32 frame, struct netlink_ext_ack *extack)
{
	struct bfc_pfc_thresh *t = &c->in;
	u64 headroom = p->headroom ?: bfc_pfc_headroom_auto(rate, p->hrtt, frame);
	u64 xoff = p->xoff;

	/* Below the backstop FAFC has to have room to work in. */
	if (!xoff && !p->max && p->fc == BFC_FC_FAFC)
		xoff = 2ULL * c->threshold;
	else if (!xoff && p->max)
		xoff = p->max > headroom ? p->max - headroom : 0;
	else if (!xoff)
		xoff = bfc_pfc_xoff_auto(rate, p->hrtt, frame);
	if (xoff + headroom > BFC_POOL_MAX)
		return bfc_refuse_conf(extack, "bfc: xoff and headroom are over 1073741824 bytes, give smaller ones or a smaller hrtt");
	t->alpha = p->dynamic;
	t->headroom = headroom;
	t->xoff = xoff;
	t->gap = bfc_pfc_gap(xoff, frame);
	t->xon = p->xon ?: xoff > t->gap ? xoff - t->gap : 0;
	t->max = p->max ?: xoff + headroom;
	if (p->xon && p->xon < xoff)
		t->gap = xoff - p->xon;
	switch (bfc_pfc_check(t)) {
	case BFC_PFC_BAD_XON:
		return bfc_refuse_conf(extack, "bfc: xon must be below xoff");
	case BFC_PFC_BAD_XOFF:
		return bfc_refuse_conf(extack, "bfc: xoff must be below max");
	case BFC_PFC_BAD_HEADROOM:
		return bfc_refuse_conf(extack, "bfc: max must leave the headroom above xoff");
	case BFC_PFC_BAD_ALPHA:
		return bfc_refuse_conf(extack, "bfc: dynamic: at most 102400 %");
	case BFC_PFC_OK:
		break;
	}
	/* In a buffer XOFF and the headroom are what counts. */
	if (!*p->buffer || !p->max || t->alpha)
		return 0;
	if (p->headroom && p->headroom != t->max - t->xoff)
		return bfc_refuse_conf(extack, "bfc: max: in a buffer it is xoff and headroom, leave one of them out");
	t->headroom = t->max - t->xoff;
	return 0;
}

/* CaPFC's thresholds: those given, and the rest in the paper's proportions. */
static int bfc_conf_egress(struct bfc_conf *c, const struct bfc_params *p,
			   u64 rate, u32 frame, struct netlink_ext_ack *extack)
{
	struct bfc_capfc_thresh *t = &c->capfc;

	if (!bfc_capfc_defaults(t, rate, p->hrtt, frame, p->egress_max) &&
	    !(p->egress_max && p->egress_xoff && p->egress_xon))
		return bfc_refuse_conf(extack, "bfc: egress-max: too small for frames of this MTU, or hrtt too long");
	/* The paper's switch has memory of its own at each egress; here it is one,
	 * and the ingress side bounds what is in it.
	 */
	t->max = p->egress_max ?: BFC_POOL_MAX;
	t->xoff = p->egress_xoff ?: t->xoff;
	t->xon = p->egress_xon ?: t->xon;
	t->warn = p->warn ?: max(t->warn, t->xon);
	t->cut = p->cut;
	switch (bfc_capfc_check(t)) {
	case BFC_CAPFC_BAD_WARN:
		return bfc_refuse_conf(extack, "bfc: warn must not be below egress-xon");
	case BFC_CAPFC_BAD_XOFF:
		return bfc_refuse_conf(extack, "bfc: egress-xoff must be above warn");
	case BFC_CAPFC_BAD_MAX:
		return bfc_refuse_conf(extack, "bfc: egress-max must be above egress-xoff");
	case BFC_CAPFC_BAD_CUT:
		return bfc_refuse_conf(extack, "bfc: cut: 1 to 100 per cent");
	case BFC_CAPFC_OK:
		break;
	}
	return 0;
}

/* Quanta of a pause. A neighbour that misses the end of one stands still until they run
 * out: as with BFC's frames they outlast ten lost repetitions, and no more. FAFC's hosts
 * tell the backstop's pauses from others by their length (bfc_host_paused()).
 */
static u16 bfc_conf_quanta(const struct bfc_conf *c, const struct bfc_params *p,
			   u64 link_rate)
{
	u64 hold = bfc_hold_auto(p->refresh ?: bfc_refresh_auto(link_rate,
								BFC_PFC_WIRE));

	if (p->role != BFC_ROLE_SWITCH)
		return BFC_QUANTA_MAX;	/* sends no pause */
	if (p->fc == BFC_FC_FAFC)
		hold = max(hold, 3ULL * c->holt.t_hop);
	return bfc_ns_to_quanta(p->hold ?: hold, link_rate);
}

static int bfc_conf_fill(struct bfc_conf *c, struct net_device *dev,
			 const struct bfc_params *p, u64 rate, u64 link_rate,
			 const struct bfc_conf *before,
			 struct netlink_ext_ack *extack)
{
	u32 frame = clamp_t(u32, psched_mtu(dev), BFC_QUANTUM_MIN,
			    BFC_QUANTUM_MAX);
	int err;

	c->fc = p->fc;
	c->lossy.limit = BFC_LIMIT_NONE;
	c->lossy.alpha = p->share;
	c->lossy.reserve = p->reserve;
	bfc_holt_configure(&c->holt, clamp_t(u64, p->t_hop ?: p->hrtt / 2,
					     BFC_THOP_MIN, BFC_THOP_MAX),
			   p->alpha, p->beta);
	c->f_dec = bfc_share(p->fdec);
	c->threshold = p->threshold ?: bfc_fafc_threshold(link_rate, p->hrtt,
							  frame);
	c->congested = p->congested ?: c->threshold;
	c->fixed = (u64)BFC_PRIORITIES * p->reserve;
	if (!bfc_fc_is_port_level(p->fc))
		return 0;
	if (p->queues % BFC_PRIORITIES)
		return bfc_refuse_conf(extack, "bfc: queues: a multiple of 8 for a port-level mode");
	if (p->dynamic && !*p->buffer)
		return bfc_refuse_conf(extack, "bfc: dynamic is a share of a buffer, give one");
	c->lossless = p->lossless;
	c->quanta = bfc_conf_quanta(c, p, link_rate);
	/* A link that has become slower has to do with it. */
	if (extack && p->hold && c->quanta < BFC_QUANTA_MAX &&
	    !(before && before->quanta == c->quanta) &&
	    bfc_pfc_longest(c->quanta, link_rate, psched_mtu(dev)) <
	    max(bfc_pfc_least(link_rate), BFC_REFRESH_MIN))
		return bfc_refuse_conf(extack, "bfc: hold: too short to be repeated in time at the speed of this link and with its MTU");
	/* The neighbour sends at the speed of the link, whatever we shape to. */
	err = bfc_conf_ingress(c, p, link_rate, frame, extack);
	if (!err && (p->fc == BFC_FC_CAPFC_MAX || p->fc == BFC_FC_CAPFC_CAL))
		err = bfc_conf_egress(c, p, rate, frame, extack);
	if (err)
		return err;
	c->stop = p->fc == BFC_FC_CAPFC_CAL ? BFC_CAPFC_STOP_CAL :
					      BFC_CAPFC_STOP_MAX;
	c->cell = (struct bfc_cell_cfg){
		.reserve = p->reserve,
		.limit = p->dynamic ? BFC_LIMIT_NONE : c->in.xoff,
		.alpha = p->dynamic,
		.headroom = c->in.headroom,
	};
	c->fixed += (u64)hweight8(p->lossless) * c->in.headroom;
	if (p->role == BFC_ROLE_NIC)
		c->fixed = 0;	/* pauses nobody, holds nothing */
	return 0;
}

/**
 * bfc_conf_new() - thresholds for a port
 * @port: the port
 * @p: what was asked for
 * @rate: at which it sends, bytes/s
 * @link_rate: of its MAC, bytes/s
 * @extack: what is wrong, in words
 *
 * Context: RTNL.
 * Return: thresholds with one user, or an error pointer.
 */
struct bfc_conf *bfc_conf_new(struct bfc_port *port, const struct bfc_params *p,
			      u64 rate, u64 link_rate,
			      struct netlink_ext_ack *extack)
{
	const struct bfc_conf *before = port->conf;
	struct bfc_conf *c;
	int err;

	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return ERR_PTR(-ENOMEM);
	refcount_set(&c->users, 1);
	err = bfc_conf_fill(c, port->dev, p, rate, link_rate, before, extack);
	if (err)
		goto free;
	if (*p->buffer) {
		struct bfc_buffer *buffer;
		u64 was;

		buffer = bfc_buffer_join(port->sw, p, c->fixed, before,
					 &was, extack);
		err = PTR_ERR_OR_ZERO(buffer);
		if (err)
			goto free;
		c->buffer = buffer;
		c->undo = was;
	}
	if (bfc_conf_has_prios(c))
		static_branch_inc(&bfc_holds);
	return c;
free:
	kfree(c);
	return ERR_PTR(err);
}

/**
 * bfc_conf_put() - one user less
 * @c: thresholds, or NULL
 *
 * Context: RTNL.
 */
void bfc_conf_put(struct bfc_conf *c)
{
	if (!c || !refcount_dec_and_test(&c->users))
		return;
	if (bfc_conf_has_prios(c))
		static_branch_dec(&bfc_holds);
	if (c->buffer) {
		if (c->undo)
			c->buffer->memory = c->undo;
		bfc_buffer_leave(c->buffer, c->fixed);
	}
	kfree_rcu(c, rcu);
}
