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
#include <linux/types.h>

#define BFC_HDR_LEN		30
#define BFC_HELLO_LEN		84
#define BFC_PAUSE_FIXED_LEN	86
#define BFC_QUEUE_NONE		0xffff
#define BFC_WIRE_QUEUES_MAX	4094
#define BFC_PRIORITIES		8
#define BFC_PAUSE_F_ROOTS	0x0001	/* &struct bfc_wire_roots is behind the bitmap */
#define BFC_ROOTS_FIXED_LEN	4
#define BFC_ROOTS_MAX		128	/* ids in a frame; all fit into the least MTU of IPv6 */
#define BFC_ROOT_UNKNOWN	0

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
	__be16	flags;		/* BFC_PAUSE_F_*; others are ignored */
	__be32	prio_ns[BFC_PRIORITIES];
	__be64	drained;
	__be64	limit;
	u8	bitmap[];	/* queue q: bit q % 8, the lowest is 0, of byte q / 8 */
} __packed;

/**
 * struct bfc_wire_roots - behind the bitmap: ids of the roots: of the congested ports that
 * queues are paused for
 */
struct bfc_wire_roots {
	__be16	first;		/* queue */
	__be16	count;		/* entries of @root */
	__be32	root[];		/* of the queues from @first on that are paused, in order */
} __packed;

static_assert(sizeof(struct bfc_wire_roots) == BFC_ROOTS_FIXED_LEN);
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
 * @hold_ns: the set expires after this time without another frame
 * @queues: valid bits in the bitmap
 * @prio_ns: remaining pause per priority
 * @drained: bytes of counted packets that have left the sender; it never decreases while the
 *	     sender's port exists
 * @limit: link credit, 0 = not in use
 * @roots: number of root ids in the frame
 * @roots_first: the first queue that they are about
 */
struct bfc_pause {
	u32 hold_ns;
	u16 queues;
	u16 roots;
	u16 roots_first;
	u32 prio_ns[BFC_PRIORITIES];
	u64 drained;
	u64 limit;
};

/* ---- encoding and decoding ---- */

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

/**
 * bfc_pause_is_set() - check if a queue is paused
 * @frame: a PAUSE with a bitmap
 * @queue: below the number of queues in it
 *
 * Return: true if so.
 */
static inline bool bfc_pause_is_set(const void *frame, unsigned int queue)
{
	const struct bfc_wire_pause *w = frame;

	return w->bitmap[queue / 8] >> (queue % 8) & 1;
}

/**
 * bfc_roots_len() - bytes that the ids of roots take behind the bitmap
 * @count: ids
 *
 * Return: bytes.
 */
static inline unsigned int bfc_roots_len(unsigned int count)
{
	return BFC_ROOTS_FIXED_LEN + 4 * count;
}

unsigned int bfc_bitmap_bytes(unsigned int queues);
unsigned int bfc_pause_len(unsigned int queues);
void bfc_put_hdr(void *frame, u8 type, u16 len, u32 epoch, u32 seq);
void bfc_put_hello(void *frame, u32 epoch, u32 seq, const struct bfc_hello *h);
void bfc_put_pause(void *frame, u32 epoch, u32 seq, const struct bfc_pause *p);
unsigned int bfc_put_roots(void *frame, unsigned int queues, unsigned int first,
			   unsigned int count);
void bfc_put_root(void *frame, unsigned int queues, unsigned int i, u32 root);
u32 bfc_get_root(const void *frame, unsigned int queues, unsigned int i);
bool bfc_is_ours(const void *frame, unsigned int len);
bool bfc_is_empty_pause(const void *frame, unsigned int len);
enum bfc_bad bfc_get_hdr(const void *frame, unsigned int len,
			 struct bfc_hdr *h);
enum bfc_bad bfc_get_hello(const void *frame, struct bfc_hello *h);
enum bfc_bad bfc_get_pause(const void *frame, unsigned int len,
			   unsigned int max_queues, struct bfc_pause *p);

#endif /* _BFC_WIRE_H */
