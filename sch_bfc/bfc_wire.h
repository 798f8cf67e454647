/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bfc control frames as bytes: encode, decode, nothing else.
 *
 * No skb, no lock, no allocation: compiled into the module and into the
 * user-space unit tests. Multi-byte fields are big-endian and moved byte by
 * byte, so that neither alignment nor the order of bit-fields matters.
 *
 *        0               1               2               3
 *   +---------------+---------------+---------------+---------------+
 *   |                   destination 01-80-C2-00-00-0E               |
 *   +                               +-------------------------------+
 *   |                               |      source: the port's       |
 *   +-------------------------------+                               +
 *   |                                                               |
 *   +-------------------------------+-------------------------------+
 *   |       EtherType 0x88B5        |   14: magic "BFC1"            |
 *   +-------------------------------+---------------+---------------+
 *   |                               |   18: version |   19: type    |
 *   +-------------------------------+---------------+---------------+
 *   |        20: frame length       |   22: epoch                   |
 *   +-------------------------------+-------------------------------+
 *   |                               |   26: sequence                |
 *   +-------------------------------+-------------------------------+
 *   |                               |   30: body                    |
 *
 * HELLO body: role 30, flags 31, number of queues 32 (u16), classes 34 (u8),
 * reserved 35, incast queue 36 (u16, 0xffff = none), reserved 38 (u16), id 40
 * (u64), nonce 48 (u32), the peer's nonce echoed 52 (u32, 0 = none heard),
 * modes understood 56 (u32), time sent 60 (u64 ns, sender's clock), the
 * peer's newest time sent 68 (u64, 0 = none), and for how long it lay here 76
 * (u64 ns).
 *
 * PAUSE body: hold time 30 (u32 ns), number of queues in the bitmap 34 (u16),
 * flags 36 (u16, 0), remaining pause of each priority 38 (8 x u32 ns, absolute
 * and not adding up), bytes drained 70 (u64), byte limit 78 (u64, 0 = no link
 * credit), bitmap 86 (queue q is bit q % 8, counted from the lowest, of byte
 * q / 8; set = paused; the bits beyond the last queue are zero).
 */
#ifndef _BFC_WIRE_H
#define _BFC_WIRE_H

#include <linux/types.h>
#include <linux/pkt_sch_bfc.h>

#define BFC_HDR_LEN		30
#define BFC_HELLO_LEN		84
#define BFC_PAUSE_FIXED_LEN	86
#define BFC_FRAME_MIN		60
#define BFC_QUEUE_NONE		0xffff
#define BFC_WIRE_QUEUES_MAX	4094
#define BFC_PRIORITIES		8

/**
 * enum bfc_bad - why a control frame was refused
 * @BFC_OK: it was not
 * @BFC_BAD_SHORT: fewer bytes than its type or its length field needs
 * @BFC_BAD_VERSION: version or type unknown
 * @BFC_BAD_EPOCH: not from the peer we agreed with
 * @BFC_BAD_SEQ: not newer than the newest seen in this epoch
 * @BFC_BAD_RANGE: number of queues, a time or a field out of range
 * @BFC_BAD_ROLE: a pause from a NIC that we do not accept pauses from
 * @BFC_BAD_RATE: more frames than a peer may send
 * @BFC_BAD_LOOP: our own frame came back
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

static inline void bfc_put16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

static inline void bfc_put32(u8 *p, u32 v)
{
	bfc_put16(p, v >> 16);
	bfc_put16(p + 2, v & 0xffff);
}

static inline void bfc_put64(u8 *p, u64 v)
{
	bfc_put32(p, v >> 32);
	bfc_put32(p + 4, v & 0xffffffff);
}

static inline u16 bfc_get16(const u8 *p)
{
	return (u16)p[0] << 8 | p[1];
}

static inline u32 bfc_get32(const u8 *p)
{
	return (u32)bfc_get16(p) << 16 | bfc_get16(p + 2);
}

static inline u64 bfc_get64(const u8 *p)
{
	return (u64)bfc_get32(p) << 32 | bfc_get32(p + 4);
}

static inline unsigned int bfc_bitmap_bytes(unsigned int queues)
{
	return (queues + 7) / 8;
}

/**
 * bfc_pause_len() - length of a PAUSE frame
 * @queues: queues of the peer, at most BFC_WIRE_QUEUES_MAX
 *
 * Return: bytes from the destination address on, padding included.
 */
static inline unsigned int bfc_pause_len(unsigned int queues)
{
	unsigned int len = BFC_PAUSE_FIXED_LEN + bfc_bitmap_bytes(queues);

	return len < BFC_FRAME_MIN ? BFC_FRAME_MIN : len;
}

static inline void bfc_put_hdr(u8 *f, u8 type, u16 len, u32 epoch, u32 seq)
{
	bfc_put32(f + 14, BFC_MAGIC);
	f[18] = BFC_VERSION;
	f[19] = type;
	bfc_put16(f + 20, len);
	bfc_put32(f + 22, epoch);
	bfc_put32(f + 26, seq);
}

/**
 * bfc_put_hello() - write a HELLO behind the Ethernet header
 * @f: start of the frame, BFC_HELLO_LEN bytes; the first 14 are left alone
 * @epoch: sender's epoch
 * @seq: sequence within it
 * @h: what to say
 */
static inline void bfc_put_hello(u8 *f, u32 epoch, u32 seq,
				 const struct bfc_hello *h)
{
	bfc_put_hdr(f, BFC_FRAME_HELLO, BFC_HELLO_LEN, epoch, seq);
	f[30] = h->role;
	f[31] = h->flags;
	bfc_put16(f + 32, h->queues);
	f[34] = h->classes;
	f[35] = 0;
	bfc_put16(f + 36, h->incast_queue);
	bfc_put16(f + 38, 0);
	bfc_put64(f + 40, h->id);
	bfc_put32(f + 48, h->nonce);
	bfc_put32(f + 52, h->echo);
	bfc_put32(f + 56, h->modes);
	bfc_put64(f + 60, h->sent_ns);
	bfc_put64(f + 68, h->echo_ns);
	bfc_put64(f + 76, h->held_ns);
}

/**
 * bfc_put_pause() - write a PAUSE behind the Ethernet header
 * @f: start of the frame, bfc_pause_len() bytes; the first 14 are left alone
 * @epoch: sender's epoch
 * @seq: sequence within it
 * @p: the fixed part
 *
 * The bitmap is cleared; the caller sets bits with bfc_pause_set().
 */
static inline void bfc_put_pause(u8 *f, u32 epoch, u32 seq,
				 const struct bfc_pause *p)
{
	unsigned int len = bfc_pause_len(p->queues), i;

	bfc_put_hdr(f, BFC_FRAME_PAUSE, len, epoch, seq);
	bfc_put32(f + 30, p->hold_ns);
	bfc_put16(f + 34, p->queues);
	bfc_put16(f + 36, 0);
	for (i = 0; i < BFC_PRIORITIES; i++)
		bfc_put32(f + 38 + 4 * i, p->prio_ns[i]);
	bfc_put64(f + 70, p->drained);
	bfc_put64(f + 78, p->limit);
	for (i = BFC_PAUSE_FIXED_LEN; i < len; i++)
		f[i] = 0;
}

static inline void bfc_pause_set(u8 *f, unsigned int queue)
{
	f[BFC_PAUSE_FIXED_LEN + queue / 8] |= 1U << (queue % 8);
}

static inline bool bfc_pause_test(const u8 *f, unsigned int queue)
{
	return f[BFC_PAUSE_FIXED_LEN + queue / 8] >> (queue % 8) & 1;
}

/**
 * bfc_is_ours() - does a frame of EtherType 0x88B5 carry our magic?
 * @f: start of the frame
 * @len: bytes there are
 *
 * The EtherType is for anybody's experiments; frames that are not ours are
 * nobody's fault and stay in the stream.
 *
 * Return: true if the frame is a bfc control frame, be it a broken one.
 */
static inline bool bfc_is_ours(const u8 *f, unsigned int len)
{
	static const u8 dst[6] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e };
	unsigned int i;

	if (len < 18)
		return false;
	for (i = 0; i < sizeof(dst); i++)
		if (f[i] != dst[i])
			return false;
	return bfc_get16(f + 12) == BFC_ETHERTYPE &&
	       bfc_get32(f + 14) == BFC_MAGIC;
}

/**
 * bfc_get_hdr() - read and check the common header
 * @f: start of a frame that bfc_is_ours()
 * @len: bytes there are, link padding included
 * @h: result
 *
 * Return: BFC_OK, BFC_BAD_SHORT or BFC_BAD_VERSION.
 */
static inline enum bfc_bad bfc_get_hdr(const u8 *f, unsigned int len,
				       struct bfc_hdr *h)
{
	unsigned int need;

	if (len < BFC_HDR_LEN)
		return BFC_BAD_SHORT;
	if (f[18] != BFC_VERSION)
		return BFC_BAD_VERSION;
	h->type = f[19];
	h->len = bfc_get16(f + 20);
	h->epoch = bfc_get32(f + 22);
	h->seq = bfc_get32(f + 26);
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
 * @f: start of a frame whose header bfc_get_hdr() accepted
 * @h: result
 *
 * Return: BFC_OK or BFC_BAD_RANGE.
 */
static inline enum bfc_bad bfc_get_hello(const u8 *f, struct bfc_hello *h)
{
	h->role = f[30];
	h->flags = f[31];
	h->queues = bfc_get16(f + 32);
	h->classes = f[34];
	h->incast_queue = bfc_get16(f + 36);
	h->id = bfc_get64(f + 40);
	h->nonce = bfc_get32(f + 48);
	h->echo = bfc_get32(f + 52);
	h->modes = bfc_get32(f + 56);
	h->sent_ns = bfc_get64(f + 60);
	h->echo_ns = bfc_get64(f + 68);
	h->held_ns = bfc_get64(f + 76);
	if (h->role >= __BFC_ROLE_MAX || !h->nonce || !h->classes ||
	    !h->queues || h->queues > BFC_WIRE_QUEUES_MAX)
		return BFC_BAD_RANGE;
	if (h->incast_queue != BFC_QUEUE_NONE && h->incast_queue >= h->queues)
		return BFC_BAD_RANGE;
	return BFC_OK;
}

/**
 * bfc_get_pause() - read and check the fixed part of a PAUSE
 * @f: start of a frame whose header bfc_get_hdr() accepted
 * @len: the header's length
 * @max_queues: queues that the receiver has
 * @p: result; the bitmap is read with bfc_pause_test()
 *
 * Return: BFC_OK, BFC_BAD_SHORT or BFC_BAD_RANGE.
 */
static inline enum bfc_bad bfc_get_pause(const u8 *f, unsigned int len,
					 unsigned int max_queues,
					 struct bfc_pause *p)
{
	unsigned int i;

	p->hold_ns = bfc_get32(f + 30);
	p->queues = bfc_get16(f + 34);
	for (i = 0; i < BFC_PRIORITIES; i++)
		p->prio_ns[i] = bfc_get32(f + 38 + 4 * i);
	p->drained = bfc_get64(f + 70);
	p->limit = bfc_get64(f + 78);
	if (p->queues > max_queues || p->hold_ns > BFC_HOLD_MAX)
		return BFC_BAD_RANGE;
	if (len < BFC_PAUSE_FIXED_LEN + bfc_bitmap_bytes(p->queues))
		return BFC_BAD_SHORT;
	return BFC_OK;
}

#endif /* _BFC_WIRE_H */
