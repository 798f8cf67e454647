// SPDX-License-Identifier: GPL-2.0
/*
 * From options to thresholds, which are the mode's matter, and the buffers that ports
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
