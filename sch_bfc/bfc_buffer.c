// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that the ports of a namespace share: the ports that take part, and the memory that is
 * left for the pool. bfc_pool.h charges packets to it.
 */
#include <linux/rtnetlink.h>

#include "bfc.h"

/* Give the pool the memory that is not set aside. @going: bytes set aside that the caller gives
 * back soon.
 */
static void bfc_buffer_carve(struct bfc_buffer *buffer, u64 going)
{
	u64 fixed = buffer->fixed - going;

	WRITE_ONCE(buffer->pool.size, buffer->memory > fixed ?
				      buffer->memory - fixed : 0);
}

/**
 * bfc_buffer_put() - one user less
 * @buffer: the buffer, or NULL
 *
 * Context: any.
 */
void bfc_buffer_put(struct bfc_buffer *buffer)
{
	if (buffer && refcount_dec_and_test(&buffer->users))
		kfree(buffer);
}

/**
 * bfc_buffer_leave() - a port gives its part of a buffer back
 * @buffer: the buffer
 * @fixed: bytes that bfc_buffer_join() has set aside for the port
 *
 * A buffer without ports stays while packets are charged to it, but is in no
 * list any more: the namespace may go.
 *
 * Context: RTNL.
 */
void bfc_buffer_leave(struct bfc_buffer *buffer, u64 fixed)
{
	ASSERT_RTNL();
	buffer->fixed -= fixed;
	bfc_buffer_carve(buffer, 0);
	if (fixed)
		bfc_hrtt_look_later();	/* another port may have been refused for want of it */
	if (!--buffer->ports)
		list_del(&buffer->list);
	bfc_buffer_put(buffer);
}

/**
 * bfc_buffer_join() - a port takes part in a buffer
 * @sw: of the namespace that the buffer is in
 * @p: options: name, and size or 0
 * @fixed: reserves and headroom of the port, bytes; the caller gives them back with
 *	   bfc_buffer_leave()
 * @before: the configuration that the caller gives back next, or NULL
 * @was: result: size before this call, bytes
 * @extack: what is wrong, in words
 *
 * Context: RTNL.
 * Return: the buffer with one user more, -ENOMEM, or -ENOSPC: the ports' fixed parts do
 * not fit.
 */
struct bfc_buffer *bfc_buffer_join(struct bfc_switch *sw, const struct bfc_params *p,
				   u64 fixed, const struct bfc_cfg *before, u64 *was,
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
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
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
