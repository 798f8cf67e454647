/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The port at the other end of the link: the three-way HELLO as a pure state
 * machine: no skb, no lock, no clock of its own. Compiled into the module and
 * into the user-space unit tests.
 *
 *   SEARCHING --HELLO--> HEARD --HELLO that echoes our nonce--> UP
 *
 * We pop tags from HEARD on and stamp them in UP only. The neighbour echoes
 * our nonce only after it heard us, and from then on it pops: so a tag never
 * reaches a port that does not take it off. (The price: in the one trip
 * between our echo and its first stamp, a provider's own tag of the same TPID
 * with a VLAN id within the neighbour's queues would be taken for a stamp.)
 *
 * A link may lose and repeat frames, but keeps their order. If it does not, or
 * if the neighbour sends through several TX queues, an old HELLO that comes
 * after the neighbour has started over can let us stamp for one round trip,
 * until the answer to it.
 *
 * The nonce is random, and so is the offset of the clock in HELLOs: a HELLO that echoes this
 * port's nonce and a plausible time of its clock proves that its sender hears this port. (The
 * nonce alone has 32 bits, which can be guessed in minutes at 10 Gbit/s.) A neighbour that has
 * proved itself is given up only after another proof, a HELLO of its own (with its nonce and
 * epoch, which are random, too), or silence: a sender that does not hear us changes nothing. A
 * HELLO that proves nothing is answered, so that a real port can prove itself: one that starts
 * over, or another talker on the link. The latter gets its echo with BFC_HELLO_F_OTHER: "I hear
 * you, but am not your neighbour". Two ports that prove themselves are a conflict. All this does
 * not help against an attacker that hears us.
 */
#ifndef _BFC_PEER_H
#define _BFC_PEER_H

#include "bfc_wire.h"

#define BFC_HELLO_FAST_NS	100000000ULL	/* until both are UP, for a while */
#define BFC_HELLO_SLOW_NS	1000000000ULL	/* then, without a neighbour */
#define BFC_HELLO_CALM_NS	250000000ULL	/* when both are UP; hrtt auto follows within a
						 * second
						 */
#define BFC_HELLO_FAST_TRIES	20
#define BFC_HELLO_WAIT_NS	10000000ULL	/* for a qdisc to build it */
#define BFC_PEER_QUIET_NS	1500000000ULL	/* silent for so long: ask it */
/* HELLO round trips of which the smallest counts, as HELLOs may have to wait; a longer cable
 * shows after as many.
 */
#define BFC_PEER_RTTS		3
#define BFC_PEER_DEAD_NS	3500000000ULL	/* silent for so long: gone */

/**
 * struct bfc_peer - what is known of the neighbour
 * @id: of the local port
 * @nonce: of the local port, never 0
 * @clock: of the local port: added to its clock in HELLOs
 * @state: BFC_PEER_STATE_SEARCHING, _HEARD, _UP or _CONFLICT; dequeue reads this and @role
 *	   without a lock
 * @proved: the neighbour has echoed our nonce
 * @settled: its newest HELLO says that it is UP, too
 * @turn: in a conflict: which one the next HELLO echoes, the neighbour or the other
 * @role: its role
 * @classes: traffic classes that it has, 1 = none; 0 = none heard
 * @queues: its queues
 * @modes: what it understands, BFC_MODE_*
 * @peer_id: its id
 * @peer_nonce: its nonce, echoed in our HELLO; 0 = none heard
 * @other_nonce: of another talker that is to get an echo, 0 = none
 * @other_echo_ns: its clock then
 * @other_heard_ns: when that was
 * @epoch: its epoch: PAUSE frames of another one are refused
 * @seq: newest sequence of its HELLOs
 * @heard_ns: when it was heard last
 * @echo_ns: its clock in the newest HELLO
 * @conflict_ns: until when two talkers count as a conflict, 0 = none
 * @rtt: of the last HELLOs of this epoch, the newest first, ns; 0 = none
 * @rtt_now: the smallest of these, 0 = none
 * @rtt_ns: smallest of this epoch, 0 = none
 */
struct bfc_peer {
	u64 id;
	u32 nonce;
	u64 clock;
	u8 state;
	u8 role;
	bool proved;
	bool settled;
	bool turn;
	u8 classes;
	u16 queues;
	u32 modes;
	u64 peer_id;
	u32 peer_nonce;
	u32 other_nonce;
	u64 other_echo_ns;
	u64 other_heard_ns;
	u32 epoch;
	u32 seq;
	u64 heard_ns;
	u64 echo_ns;
	u64 conflict_ns;
	u64 rtt[BFC_PEER_RTTS];
	u64 rtt_now;
	u64 rtt_ns;
};

/* What the port must do after a step of the machine. */
#define BFC_EV_LAYOUT	0x1	/* new neighbour or layout: new pause counters */
#define BFC_EV_STATE	0x2	/* state changed: update stamping and popping */
#define BFC_EV_REPLY	0x4	/* answer with a HELLO now */

void bfc_peer_restart(struct bfc_peer *p, u64 id, u32 nonce, u64 clock);
unsigned int bfc_peer_tick(struct bfc_peer *p, u64 now);
bool bfc_peer_settled(const struct bfc_peer *p, u64 now);
void bfc_peer_say(struct bfc_peer *p, struct bfc_hello *h, u64 now);
bool bfc_peer_knows(const struct bfc_peer *p, const struct bfc_hdr *hdr,
		    const struct bfc_hello *h, u64 now);
enum bfc_bad bfc_peer_hello(struct bfc_peer *p, const struct bfc_hdr *hdr,
			    const struct bfc_hello *h, u64 now,
			    unsigned int *events);

#endif /* _BFC_PEER_H */
