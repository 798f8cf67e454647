/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MAC control frames: PFC of IEEE 802.1Qbb (IEEE 802.3 annex 31D), and PAUSE of IEEE
 * 802.3x (annex 31B), which is recognised and counted, and not taken for PFC. And the
 * arithmetic of their times.
 *
 * No skb, no lock, no allocation: compiled into the module and into the user-space
 * unit tests. A quantum is what 512 bits take at the speed of the link.
 */
#ifndef _BFC_PFC_WIRE_H
#define _BFC_PFC_WIRE_H

#include "bfc_wire.h"

#define BFC_MAC_ETHERTYPE	0x8808
#define BFC_MAC_OP_PAUSE	0x0001
#define BFC_MAC_OP_PFC		0x0101
#define BFC_PFC_LEN		34	/* what a PFC frame needs */
#define BFC_PFC_FRAME		60	/* what is sent, without FCS */
#define BFC_PFC_LATE_NS		20000	/* ns that a refresh timer may be late */
#define BFC_PFC_WIRE		84	/* what it takes of the link, in bytes:
					 * preamble, FCS and gap included
					 */
#define BFC_QUANTA_MAX		0xffff
#define BFC_QUANTUM_BYTES	64	/* 512 bits */

/* The MAC's own group address (IEEE 802.3 annex 31B): no bridge forwards it. */
#define BFC_MAC_ADDR		{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 }

/* ---- layout ---- */

/**
 * struct bfc_wire_mac - what MAC control frames begin with (IEEE 802.3 clause 31)
 */
struct bfc_wire_mac {
	struct ethhdr	eth;	/* of type BFC_MAC_ETHERTYPE */
	__be16	opcode;		/* BFC_MAC_OP_* */
} __packed;

static_assert(sizeof(struct bfc_wire_mac) == 16);

/**
 * struct bfc_wire_pfc - PFC, without FCS
 */
struct bfc_wire_pfc {
	struct bfc_wire_mac	mac;
	u8	reserved;	/* 0, ignored on receipt */
	u8	enable;		/* bit p: @quanta of priority p mean something */
	__be16	quanta[BFC_PRIORITIES];	/* from now on; 0: go on */
	u8	padding[BFC_PFC_FRAME - BFC_PFC_LEN];	/* 0, ignored on receipt */
} __packed;

static_assert(offsetof(struct bfc_wire_pfc, quanta) == 18);
static_assert(offsetof(struct bfc_wire_pfc, padding) == BFC_PFC_LEN);
static_assert(sizeof(struct bfc_wire_pfc) == BFC_PFC_FRAME);

/* ---- values ---- */

/**
 * enum bfc_mac - what a frame is to MAC control
 * @BFC_MAC_NONE: nothing: it stays in the stream
 * @BFC_MAC_PFC: a PFC frame, even a malformed one
 * @BFC_MAC_PAUSE: a PAUSE frame of IEEE 802.3x, even a malformed one. Obeying
 *		   it would stop priorities that PFC lets go on, and a link uses
 *		   only one of the two (IEEE 802.1Q clause 36)
 * @BFC_MAC_OTHER: MAC control, but with another opcode, to another address than the group's,
 *		   or too short to tell
 */
enum bfc_mac {
	BFC_MAC_NONE,
	BFC_MAC_PFC,
	BFC_MAC_PAUSE,
	BFC_MAC_OTHER
};

/**
 * struct bfc_pfc_frame - what a PFC frame says
 * @enable: bit p: @quanta of priority p mean something
 * @quanta: pause, in quanta of the link; 0 = XON. 0 where @enable is not set
 */
struct bfc_pfc_frame {
	u8 enable;
	u16 quanta[BFC_PRIORITIES];
};

enum bfc_mac bfc_mac_kind(const void *frame, unsigned int len);
void bfc_put_pfc(void *frame, const u8 *src, const struct bfc_pfc_frame *p);
enum bfc_bad bfc_get_pfc(const void *frame, unsigned int len,
			 struct bfc_pfc_frame *p);
u64 bfc_quanta_to_ns(u16 quanta, u64 rate);
u16 bfc_ns_to_quanta(u64 ns, u64 rate);
u64 bfc_quanta_refresh(u16 quanta, u64 rate, u64 lead, unsigned int losses);
u64 bfc_pause_least(u64 rate, u64 wire);
u64 bfc_pfc_longest(u16 quanta, u64 rate, u64 frame);
u64 bfc_pfc_refresh(u16 quanta, u64 rate, u64 frame, u64 refresh);
u64 bfc_pfc_quick(u64 rate, u64 hrtt, u64 refresh);

#endif /* _BFC_PFC_WIRE_H */
