/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control frames between ports that speak BFC: layout, encoding and decoding.
 *
 * No skb, no lock, no allocation: compiled into the module and into the user-space
 * unit tests. The structures are packed, so that a frame may lie at any address, and
 * their members big-endian. docs/wire-format.md has the picture and the rules.
 */
#ifndef _BFC_WIRE_H
#define _BFC_WIRE_H

#include <asm/byteorder.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/if_ether.h>
#include <linux/pkt_sch_bfc.h>
#include <linux/string.h>
#include <linux/types.h>

#define BFC_HDR_LEN		30
#define BFC_HELLO_LEN		84
#define BFC_PAUSE_FIXED_LEN	86
#define BFC_QUEUE_NONE		0xffff
#define BFC_WIRE_QUEUES_MAX	4094
#define BFC_PRIORITIES		8

/* Nearest bridge (IEEE 802.1Q table 8-1): no bridge forwards it. */
#define BFC_GROUP_ADDR		{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e }

/* ---- layout ---- */

/**
 * struct bfc_wire_hdr - what all control frames begin with
 */
struct bfc_wire_hdr {
	struct ethhdr	eth;	/* to BFC_GROUP_ADDR, of type BFC_ETHERTYPE */
	__be32	magic;		/* BFC_MAGIC */
	u8	version;	/* BFC_VERSION */
	u8	type;		/* BFC_FRAME_* */
	__be16	len;		/* bytes from the destination address on */
	__be32	epoch;
	__be32	seq;
} __packed;

static_assert(offsetof(struct bfc_wire_hdr, magic) == 14);
static_assert(offsetof(struct bfc_wire_hdr, type) == 19);
static_assert(offsetof(struct bfc_wire_hdr, seq) == 26);
static_assert(sizeof(struct bfc_wire_hdr) == BFC_HDR_LEN);

/**
 * struct bfc_wire_hello - HELLO, see &struct bfc_hello
 */
struct bfc_wire_hello {
	struct bfc_wire_hdr	hdr;
	u8	role;
	u8	flags;
	__be16	queues;
	u8	classes;
	u8	reserved;	/* 0 */
	__be16	incast_queue;
	__be16	reserved2;	/* 0 */
	__be64	id;
	__be32	nonce;
	__be32	echo;
	__be32	modes;
	__be64	sent_ns;
	__be64	echo_ns;
	__be64	held_ns;
} __packed;

static_assert(offsetof(struct bfc_wire_hello, id) == 40);
static_assert(offsetof(struct bfc_wire_hello, sent_ns) == 60);
static_assert(sizeof(struct bfc_wire_hello) == BFC_HELLO_LEN);

/**
 * struct bfc_wire_pause - PAUSE, see &struct bfc_pause
 */
struct bfc_wire_pause {
	struct bfc_wire_hdr	hdr;
	__be32	hold_ns;
	__be16	queues;		/* valid bits of @bitmap */
	__be16	flags;		/* 0 */
	__be32	prio_ns[BFC_PRIORITIES];
	__be64	drained;
	__be64	limit;
	u8	bitmap[];	/* queue q: bit q % 8, the lowest is 0, of byte q / 8 */
} __packed;

static_assert(offsetof(struct bfc_wire_pause, prio_ns) == 38);
static_assert(offsetof(struct bfc_wire_pause, drained) == 70);
static_assert(sizeof(struct bfc_wire_pause) == BFC_PAUSE_FIXED_LEN);
/* No frame has to be padded. */
static_assert(BFC_HELLO_LEN >= ETH_ZLEN && BFC_PAUSE_FIXED_LEN >= ETH_ZLEN);

/* ---- values ---- */

/**
 * enum bfc_bad - why a control frame was refused
 * @BFC_OK: it was not
 * @BFC_BAD_SHORT: fewer bytes than its type or its length field needs
 * @BFC_BAD_VERSION: version or type unknown
 * @BFC_BAD_EPOCH: not from the peer that was agreed with
 * @BFC_BAD_SEQ: not newer than the newest seen in this epoch
 * @BFC_BAD_RANGE: number of queues, a time or a field out of range
 * @BFC_BAD_ROLE: a pause from a NIC, without accept-pause
 * @BFC_BAD_RATE: more frames than a peer may send
 * @BFC_BAD_LOOP: a frame of this port came back
 * @BFC_BAD_MAX: number of reasons
 */
enum bfc_bad {
	BFC_OK,
	BFC_BAD_SHORT,
	BFC_BAD_VERSION,
	BFC_BAD_EPOCH,
	BFC_BAD_SEQ,
	BFC_BAD_RANGE,
	BFC_BAD_ROLE,
	BFC_BAD_RATE,
	BFC_BAD_LOOP,
	BFC_BAD_MAX
};

/**
 * struct bfc_hdr - what all control frames have in common
 * @type: BFC_FRAME_*
 * @len: length of the frame from the destination address on, in bytes
 * @epoch: new whenever the sender starts over (boot, link up, new layout)
 * @seq: counts the sender's frames, all epochs through
 */
struct bfc_hdr {
	u8 type;
	u16 len;
	u32 epoch;
	u32 seq;
};

/**
 * struct bfc_hello - "I am here, and this is how I number my queues"
 * @role: BFC_ROLE_*
 * @flags: BFC_HELLO_F_*
 * @classes: traffic classes the queues are split into, 1 = none
 * @queues: queues of the port, numbered from 0
 * @incast_queue: queue for labelled incast traffic, BFC_QUEUE_NONE = none
 * @modes: BFC_MODE_* understood
 * @id: names the port; the same after a restart
 * @nonce: new with every epoch, never 0
 * @echo: the nonce last heard from the peer, 0 = none
 * @sent_ns: sender's clock when the frame was built
 * @echo_ns: newest @sent_ns heard from the peer, 0 = none
 * @held_ns: time from hearing @echo_ns to building this frame
 */
struct bfc_hello {
	u8 role;
	u8 flags;
	u8 classes;
	u16 queues;
	u16 incast_queue;
	u32 modes;
	u64 id;
	u32 nonce;
	u32 echo;
	u64 sent_ns;
	u64 echo_ns;
	u64 held_ns;
};

/**
 * struct bfc_pause - the whole set of paused queues
 * @hold_ns: the set is void after this time without another frame
 * @queues: valid bits in the bitmap
 * @prio_ns: remaining pause per priority
 * @drained: bytes of counted packets that left the sender since its epoch began
 * @limit: link credit, 0 = not in use
 */
struct bfc_pause {
	u32 hold_ns;
	u16 queues;
	u32 prio_ns[BFC_PRIORITIES];
	u64 drained;
	u64 limit;
};

static inline unsigned int bfc_bitmap_bytes(unsigned int queues)
{
	return (queues + 7) / 8;
}

/**
 * bfc_pause_len() - length of a PAUSE frame
 * @queues: queues of the peer, at most BFC_WIRE_QUEUES_MAX
 *
 * Return: bytes from the destination address on.
 */
static inline unsigned int bfc_pause_len(unsigned int queues)
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
 * @seq: sequence within it
 */
static inline void bfc_put_hdr(void *frame, u8 type, u16 len, u32 epoch, u32 seq)
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
 * @seq: sequence within it
 * @h: values
 */
static inline void bfc_put_hello(void *frame, u32 epoch, u32 seq,
				 const struct bfc_hello *h)
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
 * @seq: sequence within it
 * @p: values of the fixed part
 *
 * The bitmap is cleared; the caller sets bits with bfc_pause_set().
 */
static inline void bfc_put_pause(void *frame, u32 epoch, u32 seq,
				 const struct bfc_pause *p)
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
 * bfc_pause_set() - pause a queue
 * @frame: from bfc_put_pause()
 * @queue: below the number of queues in it
 */
static inline void bfc_pause_set(void *frame, unsigned int queue)
{
	struct bfc_wire_pause *w = frame;

	w->bitmap[queue / 8] |= 1U << (queue % 8);
}

/* ---- decoding ---- */

/**
 * bfc_pause_test() - is a queue paused?
 * @frame: a PAUSE that bfc_get_pause() accepted
 * @queue: below the number of queues in it
 */
static inline bool bfc_pause_test(const void *frame, unsigned int queue)
{
	const struct bfc_wire_pause *w = frame;

	return w->bitmap[queue / 8] >> (queue % 8) & 1;
}

/**
 * bfc_is_ours() - does a frame of EtherType 0x88B5 carry the magic of BFC?
 * @frame: from the destination address on
 * @len: bytes there are
 *
 * The EtherType is for local experiments (IEEE 802), of any kind: frames without the
 * magic stay in the stream.
 *
 * Return: true if the frame is a control frame of BFC, be it a broken one.
 */
static inline bool bfc_is_ours(const void *frame, unsigned int len)
{
	static const u8 group[ETH_ALEN] = BFC_GROUP_ADDR;
	const struct bfc_wire_hdr *w = frame;

	return len >= offsetof(struct bfc_wire_hdr, version) &&
	       !memcmp(w->eth.h_dest, group, ETH_ALEN) &&
	       w->eth.h_proto == cpu_to_be16(BFC_ETHERTYPE) &&
	       w->magic == cpu_to_be32(BFC_MAGIC);
}

/**
 * bfc_is_empty_pause() - is it a PAUSE with length 0, which is never sent?
 * @frame: from the destination address on
 * @len: bytes there are
 *
 * Such a frame makes a port's qdisc run.
 */
static inline bool bfc_is_empty_pause(const void *frame, unsigned int len)
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
static inline enum bfc_bad bfc_get_hdr(const void *frame, unsigned int len,
				       struct bfc_hdr *h)
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
 * @frame: one whose header bfc_get_hdr() accepted
 * @h: result
 *
 * Return: BFC_OK or BFC_BAD_RANGE.
 */
static inline enum bfc_bad bfc_get_hello(const void *frame, struct bfc_hello *h)
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
 * @frame: one whose header bfc_get_hdr() accepted
 * @len: the header's length
 * @max_queues: queues that the receiver has
 * @p: result; the bitmap is read with bfc_pause_test()
 *
 * Return: BFC_OK, BFC_BAD_SHORT or BFC_BAD_RANGE.
 */
static inline enum bfc_bad bfc_get_pause(const void *frame, unsigned int len,
					 unsigned int max_queues,
					 struct bfc_pause *p)
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
	if (len < bfc_pause_len(p->queues))
		return BFC_BAD_SHORT;
	return BFC_OK;
}

#endif /* _BFC_WIRE_H */
