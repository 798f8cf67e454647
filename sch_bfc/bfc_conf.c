// SPDX-License-Identifier: GPL-2.0
/*
 * From options to thresholds, which are the mode's matter. Configuration is under RTNL;
 * readers use RCU.
 */
#include <linux/netdevice.h>

#include "bfc.h"

static int bfc_conf_fill(struct bfc_conf *c, const struct bfc_derive *d)
{
	const struct bfc_params *p = d->p;

	c->fc = bfc_fc_of(p);
	c->lossy.limit = BFC_LIMIT_NONE;
	c->lossy.alpha = p->share;
	c->lossy.reserve = p->reserve;
	c->fixed = (u64)BFC_PRIORITIES * p->reserve;
	return c->fc->derive(c, d);
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
	const struct bfc_derive d = {
		.p = p,
		.rate = rate,
		.link_rate = link_rate,
		.mtu = psched_mtu(port->dev),
		.frame = clamp_t(u32, psched_mtu(port->dev), BFC_QUANTUM_MIN,
				 BFC_QUANTUM_MAX),
		.before = before,
		.extack = extack,
	};
	struct bfc_conf *c;
	int err;

	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return ERR_PTR(-ENOMEM);
	refcount_set(&c->users, 1);
	err = bfc_conf_fill(c, &d);
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
