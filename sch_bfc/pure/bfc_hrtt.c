// SPDX-License-Identifier: GPL-2.0
/*
 * The HRTT of a link, measured.
 */
#include <linux/math64.h>

#include "bfc_hrtt.h"
#include "bfc_thresh.h"

/* Frames of full length by which the loop of a host may exceed the round trip of a HELLO: the one
 * that the PAUSE waits for, the one that the host has begun, and one in its TX ring.
 */
#define BFC_HRTT_FRAMES_OF_HOST	3

/**
 * bfc_hrtt_begin() - a frame that pauses a queue is sent: watch it
 * @h: the loop
 * @most: for a neighbour without HELLOs: the longest loop that is accepted, ns; else 0
 * @now: ns
 *
 * Context: the user of @h serializes.
 */
void bfc_hrtt_begin(struct bfc_hrtt *h, u64 most, u64 now)
{
	h->most = most;
	h->over = false;
	h->sent = now;
	h->again = 0;
	h->resumed = 0;
	h->last = now;
}

/* The second longest loop in both halves of the window, or 0. */
static u64 bfc_hrtt_second(u64 longest[2][2])
{
	const u64 *a = longest[0], *b = longest[1];

	if (a[0] < b[0]) {
		a = longest[1];
		b = longest[0];
	}
	return a[1] > b[0] ? a[1] : b[0];
}

static void bfc_hrtt_add(struct bfc_hrtt *h, u64 ns, u64 now)
{
	u64 elapsed = now > h->begun ? now - h->begun : 0;
	u64 *longest = h->longest[0], second;

	if (elapsed >= BFC_HRTT_HALF_NS) {
		bool next = elapsed < 2 * BFC_HRTT_HALF_NS;

		h->longest[1][0] = next ? longest[0] : 0;
		h->longest[1][1] = next ? longest[1] : 0;
		h->n[1] = next ? h->n[0] : 0;
		longest[0] = 0;
		longest[1] = 0;
		h->n[0] = 0;
		h->begun = now;
		h->room -= h->room / BFC_HRTT_FADES;
	}
	if (ns > longest[0]) {
		longest[1] = longest[0];
		longest[0] = ns;
	} else if (ns > longest[1]) {
		longest[1] = ns;
	}
	if (ns > h->room)
		h->room = ns;
	h->samples++;
	h->n[0]++;
	second = bfc_hrtt_second(h->longest);
	if (second > h->value || h->n[0] + h->n[1] >= BFC_HRTT_ENOUGH)
		h->value = second;
}

/* The watched queue has stopped: add its loop. The value stays until other
 * loops are measured, as nothing depends on it without pauses.
 */
static void bfc_hrtt_end(struct bfc_hrtt *h, u64 rtt, u64 now)
{
	u64 sent = h->sent;

	h->sent = 0;
	if (h->last <= sent)
		return;
	if (h->again && !h->most && h->last >= h->again + rtt) {
		if (h->late < BFC_HRTT_LATE) {
			h->late++;
			sent = h->again;
		}
	} else if (h->last - sent >= rtt) {
		h->late = 0;
	}
	bfc_hrtt_add(h, h->last - sent, now);
}

/* Note whether the neighbour obeyed a pause. */
static void bfc_hrtt_prove(struct bfc_hrtt *h, bool obeyed)
{
	if (obeyed && ++h->obeyed >= BFC_HRTT_PROOF) {
		h->obeyed = BFC_HRTT_PROOF;
		h->proved = 1;
	} else if (!obeyed && --h->obeyed <= -BFC_HRTT_PROOF) {
		h->obeyed = -BFC_HRTT_PROOF;
		h->proved = -1;
	}
}

/* The queue had stopped, and goes on now: true if its loop counts. A queue that had nothing to
 * send proves nothing.
 */
static bool bfc_hrtt_obeyed(struct bfc_hrtt *h, u64 now)
{
	u64 loop = h->last - h->sent;

	if (!h->most)
		return true;
	if (h->last <= h->sent || 2 * (now - h->resumed) > 3 * loop)
		return false;
	bfc_hrtt_prove(h, true);
	return true;
}

/**
 * bfc_hrtt_frame() - another frame is sent, in which the watched queue is paused or not
 * @h: the loop, of a queue that is watched
 * @paused: true if it is paused
 * @refresh: ns between repetitions that nothing else causes
 * @rtt: the shortest that a pause can take, that of HELLOs, ns
 * @now: ns
 *
 * A repetition that follows soon is not noted: whichever of the frames arrived first, the error
 * is small. If the queue is paused again before its gap was seen, although there was time for
 * it, the gap was too short to be seen: the queue is not watched any more.
 *
 * Context: the user of @h serializes.
 * Return: true while the queue is still watched.
 */
bool bfc_hrtt_frame(struct bfc_hrtt *h, bool paused, u64 refresh, u64 rtt, u64 now)
{
	u64 quiet = 4 * h->value > BFC_HRTT_QUIET_NS ? 4 * h->value : BFC_HRTT_QUIET_NS;
	s64 since = now - h->sent;	/* another processor's clock may be a little ahead */

	if (!paused && !h->resumed)
		h->resumed = now;
	if (paused && !h->resumed && !h->again && since >= (s64)refresh / 2)
		h->again = now;
	if (since > (s64)BFC_HRTT_WATCH_NS || (paused && h->resumed && since >= (s64)rtt))
		h->sent = 0;
	else if (now > h->last && now - h->last > quiet && !h->most &&
		 (!h->resumed || h->last <= h->resumed))
		bfc_hrtt_end(h, rtt, now);
	return h->sent;
}

/**
 * bfc_hrtt_packet() - a packet of the watched queue came
 * @h: the loop, of a queue that is watched
 * @rtt: the shortest that a pause can take, that of HELLOs, ns
 * @now: ns
 *
 * Context: the user of @h serializes.
 * Return: true while the queue is still watched.
 */
bool bfc_hrtt_packet(struct bfc_hrtt *h, u64 rtt, u64 now)
{
	u64 gap = now > h->last ? now - h->last : 0;
	u64 length = h->resumed - h->sent;

	if (h->resumed && gap >= length / 2) {
		/* It had stopped before it was resumed, or stops for that long. */
		if (!h->over && (h->last <= h->resumed || gap <= 2 * length) &&
		    bfc_hrtt_obeyed(h, now))
			bfc_hrtt_end(h, rtt, now);
		h->sent = 0;	/* else it had nothing to send */
		return false;
	}
	h->last += gap;
	/* Another processor may have resumed it after this one read the clock. */
	if (!h->most || (s64)(h->last - (h->resumed ?: h->sent)) <= (s64)h->most)
		return true;
	if (!h->resumed || length >= BFC_HRTT_PROVES_NS)
		bfc_hrtt_prove(h, false);
	/* If it never stops there is no other pause to judge it by. */
	h->over = !h->resumed && h->proved >= 0;
	h->sent = h->over ? h->last : 0;
	return h->over;
}

/**
 * bfc_hrtt_known() - the loop of a link
 * @h: the loop
 *
 * Return: ns; 0: not known, or not proved, as the neighbour sends no HELLO and has not been seen
 * to obey.
 */
u64 bfc_hrtt_known(const struct bfc_hrtt *h)
{
	return h->most && h->proved <= 0 ? 0 : h->value;
}

/**
 * bfc_hrtt_room() - the longest loop of a link, for headroom
 * @h: the loop
 *
 * Return: ns; 0 if bfc_hrtt_known() is 0.
 */
u64 bfc_hrtt_room(const struct bfc_hrtt *h)
{
	return bfc_hrtt_known(h) ? h->room : 0;
}

/**
 * bfc_hrtt_loop() - the loop of a link that Th is for
 * @value: bfc_hrtt_known(), ns; 0: none was measured
 * @rtt: of HELLOs, ns; 0: not known
 * @frame: what a full frame takes on the link, ns
 * @host: true if the neighbour is a host
 *
 * Until a pause has been measured, the neighbour is expected to send the rest of one frame after
 * it. A host may go on to send when it is paused, so that all ports hold more: a part of what was
 * measured is not believed.
 *
 * Return: ns; 0: not known.
 */
u64 bfc_hrtt_loop(u64 value, u64 rtt, u64 frame, bool host)
{
	u64 most = rtt + BFC_HRTT_FRAMES_OF_HOST * frame;

	if (!rtt && (!value || host))
		return 0;
	if (!value)
		return rtt + frame;
	if (host && value > most)
		value = most;
	return value > rtt ? value : rtt;
}

/**
 * bfc_hrtt_differs() - check if an HRTT has changed enough to derive thresholds again
 * @hrtt: the one that they were derived from, ns
 * @other: the new one, ns
 *
 * Return: true if they differ by more than a sixteenth.
 */
bool bfc_hrtt_differs(u64 hrtt, u64 other)
{
	u64 most = hrtt > other ? hrtt : other;
	u64 least = hrtt > other ? other : hrtt;

	return most - least > most / 16;
}

/**
 * bfc_hrtt_due() - check if a measured loop is to be applied now
 * @before: the one in use, ns; 0: none
 * @hrtt: the new one, ns
 * @changed: when the one in use was applied, ns; maybe weeks ago
 * @now: ns
 * @again: set if it is not yet, but will be
 *
 * A lower one waits: that bounds the cost of a neighbour whose loop keeps changing.
 *
 * Return: true if so.
 */
bool bfc_hrtt_due(u64 before, u64 hrtt, u64 changed, u64 now, bool *again)
{
	if (!bfc_hrtt_differs(before, hrtt))
		return false;
	if (!before || hrtt > before || now - changed >= BFC_HRTT_LOWER_NS)
		return true;
	*again = true;
	return false;
}
