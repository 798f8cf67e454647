// SPDX-License-Identifier: GPL-2.0
/*
 * Control frames between ports that speak BFC: encoding and decoding.
 */
#include <linux/bitops.h>
#include <linux/string.h>

#include "bfc_wire.h"

/**
 * bfc_bitmap_bytes() - bytes of the bitmap of a PAUSE frame
 * @queues: queues of the peer
 *
 * Return: bytes.
 */
unsigned int bfc_bitmap_bytes(unsigned int queues)
{
	return (queues + 7) / 8;
}

/**
 * bfc_pause_len() - length of a PAUSE frame
 * @queues: queues of the peer, at most BFC_WIRE_QUEUES_MAX
 *
 * Return: bytes from the destination address on.
 */
unsigned int bfc_pause_len(unsigned int queues)
{
	return BFC_PAUSE_FIXED_LEN + bfc_bitmap_bytes(queues);
}

/* ---- encoding ---- */

/**
 * bfc_put_hdr() - write the common header behind the Ethernet header
 * @frame: BFC_HDR_LEN bytes; the first 14 are left alone
 * @type: BFC_FRAME_*
 * @len: of the frame, bytes
 * @epoch: of the sender
 * @seq: sequence number of the frame
 */
void bfc_put_hdr(void *frame, u8 type, u16 len, u32 epoch, u32 seq)
{
	struct bfc_wire_hdr *w = frame;

	w->magic = cpu_to_be32(BFC_MAGIC);
	w->version = BFC_VERSION;
	w->type = type;
	w->len = cpu_to_be16(len);
	w->epoch = cpu_to_be32(epoch);
	w->seq = cpu_to_be32(seq);
}

/**
 * bfc_put_hello() - write a HELLO behind the Ethernet header
 * @frame: BFC_HELLO_LEN bytes; the first 14 are left alone
 * @epoch: of the sender
 * @seq: sequence number of the frame
 * @h: values
 */
void bfc_put_hello(void *frame, u32 epoch, u32 seq, const struct bfc_hello *h)
{
	struct bfc_wire_hello *w = frame;

	bfc_put_hdr(frame, BFC_FRAME_HELLO, BFC_HELLO_LEN, epoch, seq);
	w->role = h->role;
	w->flags = h->flags;
	w->queues = cpu_to_be16(h->queues);
	w->classes = h->classes;
	w->reserved = 0;
	w->incast_queue = cpu_to_be16(h->incast_queue);
	w->reserved2 = 0;
	w->id = cpu_to_be64(h->id);
	w->nonce = cpu_to_be32(h->nonce);
	w->echo = cpu_to_be32(h->echo);
	w->modes = cpu_to_be32(h->modes);
	w->sent_ns = cpu_to_be64(h->sent_ns);
	w->echo_ns = cpu_to_be64(h->echo_ns);
	w->held_ns = cpu_to_be64(h->held_ns);
}

/**
 * bfc_put_pause() - write a PAUSE behind the Ethernet header
 * @frame: bfc_pause_len() bytes; the first 14 are left alone
 * @epoch: of the sender
 * @seq: sequence number of the frame
 * @p: values of the fixed part
 *
 * The bitmap is cleared; the caller sets bits with bfc_pause_set().
 */
void bfc_put_pause(void *frame, u32 epoch, u32 seq, const struct bfc_pause *p)
{
	unsigned int len = bfc_pause_len(p->queues), prio;
	struct bfc_wire_pause *w = frame;

	bfc_put_hdr(frame, BFC_FRAME_PAUSE, len, epoch, seq);
	w->hold_ns = cpu_to_be32(p->hold_ns);
	w->queues = cpu_to_be16(p->queues);
	w->flags = 0;
	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		w->prio_ns[prio] = cpu_to_be32(p->prio_ns[prio]);
	w->drained = cpu_to_be64(p->drained);
	w->limit = cpu_to_be64(p->limit);
	memset(w->bitmap, 0, bfc_bitmap_bytes(p->queues));
}

/**
 * bfc_put_root() - write the id of a root
 * @frame: from bfc_put_pause(), with room for bfc_roots_len() bytes behind the bitmap
 * @queues: as in that frame
 * @i: which one
 * @root: the id
 */
void bfc_put_root(void *frame, unsigned int queues, unsigned int i, u32 root)
{
	struct bfc_wire_roots *w = frame + bfc_pause_len(queues);

	w->root[i] = cpu_to_be32(root);
}

/**
 * bfc_put_roots() - write the header of the root ids of a PAUSE
 * @frame: from bfc_put_pause(), all @count ids written
 * @queues: as in that frame
 * @first: queue from which on the ids are in the order of paused queues
 * @count: ids
 *
 * Return: length of the frame.
 */
unsigned int bfc_put_roots(void *frame, unsigned int queues, unsigned int first,
			   unsigned int count)
{
	unsigned int at = bfc_pause_len(queues), len = at + bfc_roots_len(count);
	struct bfc_wire_roots *w = frame + at;
	struct bfc_wire_pause *pause = frame;

	w->first = cpu_to_be16(first);
	w->count = cpu_to_be16(count);
	pause->flags |= cpu_to_be16(BFC_PAUSE_F_ROOTS);
	pause->hdr.len = cpu_to_be16(len);
	return len;
}

/**
 * bfc_get_root() - read the id of a root
 * @frame: a PAUSE that bfc_get_pause() accepted
 * @queues: of that
 * @i: below &bfc_pause.roots
 *
 * Return: the id.
 */
u32 bfc_get_root(const void *frame, unsigned int queues, unsigned int i)
{
	const struct bfc_wire_roots *w = frame + bfc_pause_len(queues);

	return be32_to_cpu(w->root[i]);
}

/* Read the header of the root ids. There must be no more ids than paused queues from the first
 * one on.
 */
static enum bfc_bad bfc_get_roots(const void *frame, unsigned int len, struct bfc_pause *p)
{
	unsigned int at = bfc_pause_len(p->queues), i, paused = 0;
	const struct bfc_wire_pause *pause = frame;
	const struct bfc_wire_roots *w = frame + at;

	if (len < at + BFC_ROOTS_FIXED_LEN)
		return BFC_BAD_SHORT;
	p->roots_first = be16_to_cpu(w->first);
	p->roots = be16_to_cpu(w->count);
	if (len < at + bfc_roots_len(p->roots))
		return BFC_BAD_SHORT;
	for (i = p->roots_first / 8; i < bfc_bitmap_bytes(p->queues); i++) {
		u8 set = pause->bitmap[i];

		if (i == p->roots_first / 8)
			set &= 0xff << p->roots_first % 8;
		if (i == p->queues / 8)
			set &= ~(0xff << p->queues % 8);
		paused += hweight8(set);
	}
	return p->roots > paused ? BFC_BAD_RANGE : BFC_OK;
}

/**
 * bfc_is_ours() - check if a frame of EtherType 0x88B5 has the magic of BFC
 * @frame: from the destination address on
 * @len: bytes there are
 *
 * The EtherType is for local experiments (IEEE 802), of any kind: frames without the
 * magic stay in the stream.
 *
 * Return: true if the frame is a control frame of BFC, even a malformed one.
 */
bool bfc_is_ours(const void *frame, unsigned int len)
{
	static const u8 group[ETH_ALEN] = BFC_GROUP_ADDR;
	const struct bfc_wire_hdr *w = frame;

	return len >= offsetof(struct bfc_wire_hdr, version) &&
	       !memcmp(w->eth.h_dest, group, ETH_ALEN) &&
	       w->eth.h_proto == cpu_to_be16(BFC_ETHERTYPE) &&
	       w->magic == cpu_to_be32(BFC_MAGIC);
}

/**
 * bfc_is_empty_pause() - check for a PAUSE with length 0, which is never sent
 * @frame: from the destination address on
 * @len: bytes there are
 *
 * Such a frame makes a port's qdisc run.
 *
 * Return: true if so.
 */
bool bfc_is_empty_pause(const void *frame, unsigned int len)
{
	const struct bfc_wire_hdr *w = frame;

	return len >= BFC_PAUSE_FIXED_LEN && bfc_is_ours(frame, len) &&
	       w->type == BFC_FRAME_PAUSE && !w->len;
}

/**
 * bfc_get_hdr() - read and check the common header
 * @frame: one that bfc_is_ours()
 * @len: bytes there are, link padding included
 * @h: result
 *
 * Return: BFC_OK, BFC_BAD_SHORT or BFC_BAD_VERSION.
 */
enum bfc_bad bfc_get_hdr(const void *frame, unsigned int len, struct bfc_hdr *h)
{
	const struct bfc_wire_hdr *w = frame;
	unsigned int need;

	if (len < BFC_HDR_LEN)
		return BFC_BAD_SHORT;
	if (w->version != BFC_VERSION)
		return BFC_BAD_VERSION;
	h->type = w->type;
	h->len = be16_to_cpu(w->len);
	h->epoch = be32_to_cpu(w->epoch);
	h->seq = be32_to_cpu(w->seq);
	switch (h->type) {
	case BFC_FRAME_HELLO:
		need = BFC_HELLO_LEN;
		break;
	case BFC_FRAME_PAUSE:
		need = BFC_PAUSE_FIXED_LEN;
		break;
	default:
		return BFC_BAD_VERSION;
	}
	if (h->len < need || h->len > len)
		return BFC_BAD_SHORT;
	return BFC_OK;
}

/**
 * bfc_get_hello() - read and check a HELLO
 * @frame: one with a header that bfc_get_hdr() accepted
 * @h: result
 *
 * Return: BFC_OK or BFC_BAD_RANGE.
 */
enum bfc_bad bfc_get_hello(const void *frame, struct bfc_hello *h)
{
	const struct bfc_wire_hello *w = frame;

	h->role = w->role;
	h->flags = w->flags;
	h->queues = be16_to_cpu(w->queues);
	h->classes = w->classes;
	h->incast_queue = be16_to_cpu(w->incast_queue);
	h->id = be64_to_cpu(w->id);
	h->nonce = be32_to_cpu(w->nonce);
	h->echo = be32_to_cpu(w->echo);
	h->modes = be32_to_cpu(w->modes);
	h->sent_ns = be64_to_cpu(w->sent_ns);
	h->echo_ns = be64_to_cpu(w->echo_ns);
	h->held_ns = be64_to_cpu(w->held_ns);
	if (h->role >= __BFC_ROLE_MAX || !h->nonce || !h->classes ||
	    !h->queues || h->queues > BFC_WIRE_QUEUES_MAX)
		return BFC_BAD_RANGE;
	if (h->incast_queue != BFC_QUEUE_NONE && h->incast_queue >= h->queues)
		return BFC_BAD_RANGE;
	return BFC_OK;
}

/**
 * bfc_get_pause() - read and check the fixed part of a PAUSE
 * @frame: one with a header that bfc_get_hdr() accepted
 * @len: the header's length
 * @max_queues: queues that the receiver has
 * @p: result; if BFC_OK, @frame holds the whole bitmap, and the ids of roots, as well
 *
 * Return: BFC_OK, BFC_BAD_SHORT or BFC_BAD_RANGE.
 */
enum bfc_bad bfc_get_pause(const void *frame, unsigned int len,
			   unsigned int max_queues, struct bfc_pause *p)
{
	const struct bfc_wire_pause *w = frame;
	unsigned int prio;

	p->hold_ns = be32_to_cpu(w->hold_ns);
	p->queues = be16_to_cpu(w->queues);
	for (prio = 0; prio < BFC_PRIORITIES; prio++)
		p->prio_ns[prio] = be32_to_cpu(w->prio_ns[prio]);
	p->drained = be64_to_cpu(w->drained);
	p->limit = be64_to_cpu(w->limit);
	if (p->queues > max_queues || p->hold_ns > BFC_HOLD_MAX)
		return BFC_BAD_RANGE;
	p->roots = 0;
	p->roots_first = 0;
	if (len < bfc_pause_len(p->queues))
		return BFC_BAD_SHORT;
	if (w->flags & cpu_to_be16(BFC_PAUSE_F_ROOTS))
		return bfc_get_roots(frame, len, p);
	return BFC_OK;
}
