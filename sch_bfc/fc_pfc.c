// SPDX-License-Identifier: GPL-2.0
/*
 * fc pfc: a priority of the neighbour is paused by how many bytes that came in
 * through the port with that priority are held (IEEE 802.1Qbb). Also thresholds
 * of each (port, priority) and quanta, for all modes that pause priorities.
 */
#include "bfc.h"
#include "fc_pfc.h"

/* Quanta of a pause. They outlast ten lost repetitions, as with BFC's frames,
 * and no more: a neighbour that misses the XON stays paused until they run out.
 */
static u16 bfc_pfc_quanta(const struct bfc_params *p, u64 link_rate, u64 hold_least)
{
	u64 hold = bfc_hold_auto(p->refresh ?: bfc_refresh_auto(link_rate,
								BFC_PFC_WIRE));

	if (p->role != BFC_ROLE_SWITCH)
		return BFC_QUANTA_MAX;	/* sends no pause */
	return bfc_ns_to_quanta(p->hold ?: max(hold, hold_least), link_rate);
}

/* Room for what comes after XOFF on a link with the loop @most, but no more than an egress could
 * queue, and no less than for the loop @least.
 */
static u64 bfc_pfc_room(const struct bfc_derive *d, u64 least, u64 most)
{
	return clamp_t(u64, d->p->limit,
		       bfc_pfc_headroom_auto(d->link_rate, least, d->frame),
		       bfc_pfc_headroom_auto(d->link_rate, most, d->frame));
}

/* What a cable longer than those that headroom is set aside for takes from a shared buffer. */
static u32 bfc_pfc_beyond(const struct bfc_cfg *c, const struct bfc_derive *d)
{
	const struct bfc_params *p = d->p;
	u64 room = bfc_pfc_room(d, c->aside, c->longest);

	if (!*p->buffer || p->headroom || (p->max && !p->dynamic))
		return 0;
	return min(room - c->in.headroom, (u64)BFC_POOL_MAX);
}

/* Derive PFC's thresholds: those given, and the rest from link and HRTT. */
static int bfc_pfc_ingress(struct bfc_cfg *c, const struct bfc_derive *d, u64 xoff_auto)
{
	struct netlink_ext_ack *extack = d->extack;
	const struct bfc_params *p = d->p;
	struct bfc_pfc_thresh *t = &c->in;
	u32 frame = d->frame;
	/* The neighbour sends at the speed of the link, whatever `rate` is. */
	u64 loop = min(c->loop, c->aside);
	u64 headroom = p->headroom ?: bfc_pfc_room(d, loop, c->aside);
	u64 xoff = p->xoff;

	if (!xoff && p->max && p->max <= headroom && !p->dynamic)
		return bfc_cfg_refuse(extack, "bfc: max must be above the headroom");
	if (!xoff && p->max)
		xoff = p->max > headroom ? p->max - headroom : 0;
	else if (!xoff)
		xoff = xoff_auto ?: bfc_pfc_xoff_auto(d->link_rate, loop, frame);
	if (xoff + headroom > BFC_POOL_MAX)
		return bfc_cfg_refuse(extack, "bfc: xoff and headroom are over 1073741824 bytes, give smaller ones or a smaller hrtt");
	t->alpha = p->dynamic;
	t->headroom = headroom;
	t->xoff = xoff;
	t->gap = bfc_pfc_gap(xoff, frame);
	t->xon = p->xon ?: xoff > t->gap ? xoff - t->gap : 0;
	t->max = p->max ?: xoff + headroom;
	if (p->xon)
		t->gap = p->xon < xoff ? xoff - p->xon : 0;
	switch (bfc_pfc_check(t)) {
	case BFC_PFC_BAD_XON:
		return bfc_cfg_refuse(extack, "bfc: xon must be below xoff");
	case BFC_PFC_BAD_XOFF:
		return bfc_cfg_refuse(extack, "bfc: xoff must be below max");
	case BFC_PFC_BAD_HEADROOM:
		return bfc_cfg_refuse(extack, "bfc: max must leave the headroom above xoff");
	case BFC_PFC_BAD_ALPHA:
		return bfc_cfg_refuse(extack, "bfc: dynamic: at most 102400 %");
	case BFC_PFC_OK:
		break;
	}
	/* In a shared buffer XOFF and headroom are used, and MAX is not. */
	if (!*p->buffer || !p->max || t->alpha)
		return 0;
	if (p->headroom && p->headroom != t->max - t->xoff)
		return bfc_cfg_refuse(extack, "bfc: max: in a buffer it is xoff and headroom, leave one of them out");
	t->headroom = t->max - t->xoff;
	return 0;
}

/**
 * bfc_pfc_derive() - thresholds of the ports of a mode that pauses priorities
 * @c: result
 * @d: what they follow from
 * @xoff_auto: XOFF if none is given, bytes; 0: from link and HRTT
 * @hold_least: shortest pause if `hold` is not given, ns
 *
 * Context: RTNL.
 * Return: 0 or -EINVAL.
 */
int bfc_pfc_derive(struct bfc_cfg *c, const struct bfc_derive *d, u64 xoff_auto,
		   u64 hold_least)
{
	const struct bfc_params *p = d->p;
	int err;

	if (p->queues % BFC_PRIORITIES)
		return bfc_cfg_refuse(d->extack, "bfc: queues: a multiple of 8 for a port-level mode");
	if (p->dynamic && !*p->buffer)
		return bfc_cfg_refuse(d->extack, "bfc: dynamic is a share of a buffer, give one");
	c->lossless = p->lossless;
	c->quanta = bfc_pfc_quanta(p, d->link_rate, hold_least);
	/* Checked for a user's request only: after a change of the link the port goes on with
	 * it.
	 */
	if (d->extack && p->hold && c->quanta < BFC_QUANTA_MAX &&
	    !(d->before && d->before->quanta == c->quanta) &&
	    bfc_pfc_longest(c->quanta, d->link_rate, d->mtu) <
	    max(bfc_pause_least(d->link_rate, BFC_PFC_WIRE), BFC_REFRESH_MIN))
		return bfc_cfg_refuse(d->extack, "bfc: hold: too short to be repeated in time at the speed of this link and with its MTU");
	err = bfc_pfc_ingress(c, d, xoff_auto);
	if (err)
		return err;
	c->cell = (struct bfc_cell_cfg){
		.reserve = p->reserve,
		.limit = p->dynamic ? BFC_LIMIT_NONE : c->in.xoff,
		.alpha = p->dynamic,
		.headroom = c->in.headroom,
		.beyond = bfc_pfc_beyond(c, d),
	};
	c->fixed += (u64)hweight8(p->lossless) * c->in.headroom;
	return 0;
}

static int bfc_pfc_derive_plain(struct bfc_cfg *c, const struct bfc_derive *d)
{
	return bfc_pfc_derive(c, d, 0, 0);
}

const struct bfc_fc_ops bfc_fc_pfc = {
	.prios		= true,
	.classes	= BFC_PRIORITIES,
	.identity	= BFC_FLOW_PRIO,
	.derive		= bfc_pfc_derive_plain,
	.build		= bfc_prio_build,
};
