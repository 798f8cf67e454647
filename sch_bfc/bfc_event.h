/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a port for programs that listen (bfc_event.c). */
#ifndef _BFC_EVENT_H
#define _BFC_EVENT_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "bfc_bucket.h"
#include "bfc_pfc_wire.h"

struct bfc_port;

#define BFC_EVENT_PER_SEC	2	/* messages of a port, except queues_exhausted, */
#define BFC_EVENT_BURST		16	/* and this many at once */
#define BFC_EVENT_QUEUES_EVERY	NSEC_PER_SEC	/* from one queues_exhausted to the next */
#define BFC_EVENT_NO_PRIO	0xff	/* the storm is of queues, not of a priority */

/* Kinds of messages: the newest state of each waits to be sent. */
enum {
	BFC_EVENT_NEIGHBOUR,
	BFC_EVENT_HANDLES,
	BFC_EVENT_QUEUES,
	BFC_EVENT_STORM,	/* the first of BFC_PRIORITIES */
	BFC_EVENT_MAX = BFC_EVENT_STORM + BFC_PRIORITIES
};

/**
 * struct bfc_notice - the newest state of a kind
 * @time: of the change, ns since 1970
 * @arg: queues of the neighbour, or ns of a storm's hold-off
 * @seq: counts the changes of the port
 * @changes: changes of this kind that were not sent yet
 * @cmd: BFC_CMD_*
 * @prio: of a storm, or BFC_EVENT_NO_PRIO
 */
struct bfc_notice {
	u64 time;
	u64 arg;
	u32 seq;
	u32 changes;
	u8 cmd;
	u8 prio;
};

/**
 * struct bfc_events - events of a port that are to be sent
 * @lock: of @notice to @storms; innermost, bottom halves are off
 * @notice: by kind
 * @pending: bit kind: @notice is to be sent
 * @seq: &bfc_notice.seq of the next one
 * @limited: @work waits for @bucket
 * @closed: the port is out of service: no event is noted
 * @bucket: messages that may be sent now
 * @queues_next: ns: when queues_exhausted may be sent again
 * @storms: schedulers that ignore the neighbour's pauses, by priority
 * @up: number of queues of a neighbour that is up; 0: it is not up; under &bfc_port.lock
 * @refused: there were no handles for it; likewise
 * @waits: queues_exhausted is pending
 * @flows: new flows that found no empty queue, not sent yet
 * @work: sends the messages
 */
struct bfc_events {
	spinlock_t lock;	/* of @notice to @storms */
	struct bfc_notice notice[BFC_EVENT_MAX];
	unsigned long pending;
	u32 seq;
	bool limited;
	bool closed;
	struct bfc_bucket bucket;
	u64 queues_next;
	u16 storms[BFC_PRIORITIES];
	u16 up;
	bool refused;
	atomic_t waits;
	atomic_t flows;
	struct delayed_work work;
};

int bfc_event_init(void);
void bfc_event_exit(void);
void bfc_events_start(struct bfc_port *port);
void bfc_events_stop(struct bfc_port *port);
void bfc_event_neighbour(struct bfc_port *port, bool up);
void bfc_event_handles(struct bfc_port *port, bool refused);
void bfc_event_queues(struct bfc_port *port);
void bfc_event_storm(struct bfc_port *port, unsigned int prio, bool prios, bool storm,
		     u64 holdoff);

#endif /* _BFC_EVENT_H */
