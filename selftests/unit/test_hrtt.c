// SPDX-License-Identifier: GPL-2.0
/*
 * The measured HRTT: loops of 100 ns to 200 ms, lost frames, queues with little to send.
 */
#include "unit.h"
#include "bfc_hrtt.h"

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL
#define REFRESH	MS

static const u64 loops[] = { 100, 2 * US, 100 * US, 5 * MS, 200 * MS };

static u64 now;
static u64 most;	/* as bfc_hrtt_begin() takes it */

static void fresh(struct bfc_hrtt *h)
{
	memset(h, 0, sizeof(*h));
	now = 5 * SEC;
	most = 0;
}

/* A pause of some length of a queue that sends a packet each @space ns; its packets come
 * until @loop after the frame that it hears first, and again @loop after the resume.
 * @lost: that is a repetition. In whole multiples of @space all loops are exact.
 */
static void pause_of(struct bfc_hrtt *h, u64 loop, u64 length, u64 space, u64 rtt, bool lost)
{
	u64 start = now, heard = start + (lost ? REFRESH : 0), packet = start + space;
	u64 end = start + length, frame = length < REFRESH ? end : start + REFRESH, on = true;

	bfc_hrtt_begin(h, most, start);
	while (on && packet < end + 3 * loop + 30 * MS) {
		if (frame < packet) {
			now = frame;
			on = bfc_hrtt_frame(h, frame < end, REFRESH, rtt, now);
			frame += REFRESH;
			/* the resume is a frame of its own */
			if (frame > end && frame - REFRESH < end)
				frame = end;
			continue;
		}
		if (heard >= end || packet <= heard + loop || packet > end + loop) {
			now = packet;
			on = bfc_hrtt_packet(h, rtt, now);
		}
		packet += space;
	}
	CHECK(!on, "%llu, length %llu: no end", loop, length);
	if (now < end)
		now = end;
}

/* What most tests want of it: the queue stops, and that is seen. */
static void pause_takes(struct bfc_hrtt *h, u64 loop, u64 rtt)
{
	bfc_hrtt_begin(h, 0, now);
	bfc_hrtt_packet(h, rtt, now + loop);
	now += 2 * loop;
	if (bfc_hrtt_frame(h, false, REFRESH, rtt, now))
		CHECK(!bfc_hrtt_packet(h, rtt, now + loop), "%llu", loop);
}

static void test_steady(void)
{
	unsigned int i, n;

	for (i = 0; i < UNIT_SIZE(loops); i++) {
		struct bfc_hrtt h;

		fresh(&h);
		for (n = 0; n < 100; n++) {
			CHECK(h.value == (n < 2 ? 0 : loops[i]), "pause %u of %llu ns: %llu",
			      n, loops[i], h.value);
			pause_takes(&h, loops[i], loops[i] / 2);
		}
		CHECK(h.samples == 100);
	}
}

/* Most queues have less to send than the loop is long. */
static void test_short_queues(void)
{
	struct bfc_hrtt h;
	unsigned int n;

	fresh(&h);
	for (n = 0; n < 1000; n++) {
		pause_takes(&h, n % 10 ? 1 + n % 5 * US : 20 * US, 2 * US);
		now += 100 * US;
		CHECK(n < 10 || h.value == 20 * US, "%u: %llu", n, h.value);
	}
}

/* Packets come on while the pause is under way, and may do so beyond the resume: it is
 * shorter than the loop.
 */
static void test_lengths(void)
{
	static const unsigned int tenths[] = { 2, 5, 9, 10, 15, 20, 30 };
	unsigned int i, j, n;

	for (i = 0; i < UNIT_SIZE(loops); i++) {
		for (j = 0; j < UNIT_SIZE(tenths); j++) {
			struct bfc_hrtt h;

			fresh(&h);
			for (n = 0; n < 3; n++) {
				pause_of(&h, loops[i], loops[i] / 10 * tenths[j],
					 loops[i] / 20, loops[i], false);
				CHECK(n < 1 || h.value == loops[i], "%llu, %u tenths: %llu",
				      loops[i], tenths[j], h.value);
			}
			CHECK(h.samples == 3);
		}
	}
}

/* A queue that stopped, and whose next packet comes long after the resume. */
static void test_pause_between(void)
{
	struct bfc_hrtt h;

	fresh(&h);
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_packet(&h, 0, now + 5 * US));
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 10 * US));
	CHECK(!bfc_hrtt_packet(&h, 0, now + 5 * MS));
	CHECK(h.samples == 1 && h.longest[0][0] == 5 * US, "%llu", h.longest[0][0]);
}

/* Paused once more before the gap can have been seen; and when it should have been. */
static void test_paused_again(void)
{
	struct bfc_hrtt h;

	fresh(&h);
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_packet(&h, 20 * US, now + 4 * US));
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 20 * US, now + 10 * US));
	CHECK(bfc_hrtt_frame(&h, true, REFRESH, 20 * US, now + 19 * US));
	CHECK(!bfc_hrtt_frame(&h, true, REFRESH, 20 * US, now + 20 * US));
	CHECK(!h.samples && !h.sent);
	/* that is no repetition, however late it is */
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 20 * MS, now + 8 * MS));
	CHECK(bfc_hrtt_frame(&h, true, REFRESH, 20 * MS, now + 9 * MS));
	CHECK(!h.again && h.sent);
}

/* What cannot be timed is no sample: nothing came, or the queue had nothing for long. */
static void test_nothing_came(void)
{
	struct bfc_hrtt h;

	fresh(&h);
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + MS));
	CHECK(!bfc_hrtt_packet(&h, 0, now + 2 * MS));
	CHECK(!h.samples && !h.value && !h.sent);
	/* a packet at the moment of the frame, and one of an older clock */
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_packet(&h, 0, now) && bfc_hrtt_packet(&h, 0, now - 1));
	CHECK(!bfc_hrtt_frame(&h, true, REFRESH, 0, now + 11 * MS));
	CHECK(!h.samples && !h.value && !h.sent);
	/* it went on behind the resume, and then had nothing to send for a while */
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + MS));
	CHECK(bfc_hrtt_packet(&h, 0, now + 400 * US) && bfc_hrtt_packet(&h, 0, now + 800 * US));
	CHECK(bfc_hrtt_packet(&h, 0, now + 1200 * US));
	CHECK(!bfc_hrtt_packet(&h, 0, now + 1200 * US + 2 * MS + 1));
	CHECK(!h.samples && !h.value && !h.sent);
	/* which is seen only when it goes on */
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_packet(&h, 0, now + 4 * US) && bfc_hrtt_packet(&h, 0, now + 8 * US));
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 10 * US));
	CHECK(bfc_hrtt_packet(&h, 0, now + 12 * US));
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 100 * MS));
	CHECK(!bfc_hrtt_packet(&h, 0, now + 101 * MS));
	CHECK(!h.samples && !h.value && !h.sent);
	/* a packet of an older clock, and the pause is over already */
	bfc_hrtt_begin(&h, 0, now);
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 10 * US));
	CHECK(bfc_hrtt_packet(&h, 0, now - 1));
	h.sent = 0;
	/* or never stops */
	bfc_hrtt_begin(&h, 0, now);
	bfc_hrtt_packet(&h, 0, now + 2 * SEC);
	CHECK(bfc_hrtt_frame(&h, true, REFRESH, 0, now + 2 * SEC));
	CHECK(!bfc_hrtt_frame(&h, true, REFRESH, 0, now + 2 * SEC + 1));
	CHECK(!h.samples && !h.value && !h.sent);
}

/* A second after the loop has changed the value is the new one; at once if it grew. */
static void test_follows(void)
{
	unsigned int i, j;
	u64 end;

	for (i = 0; i < UNIT_SIZE(loops); i++) {
		for (j = 0; j < UNIT_SIZE(loops); j++) {
			struct bfc_hrtt h;
			unsigned int n;

			fresh(&h);
			for (end = now + 2 * SEC; now < end; now += 10 * MS)
				pause_takes(&h, loops[i], 0);
			CHECK(h.value == loops[i]);
			for (n = 0, end = now + SEC; now < end; now += 10 * MS) {
				pause_takes(&h, loops[j], 0);
				n++;
				CHECK(n < 2 || loops[j] < loops[i] || h.value == loops[j],
				      "%u pauses after %llu became %llu: %llu", n,
				      loops[i], loops[j], h.value);
			}
			pause_takes(&h, loops[j], 0);
			CHECK(h.value == loops[j], "%llu to %llu: %llu", loops[i],
			      loops[j], h.value);
		}
	}
}

/* Without pauses nothing depends on it, and it stays. It takes some to lower it, two to raise
 * it.
 */
static void test_silence(void)
{
	static const u64 silence[] = { SEC, 60 * SEC, 1ULL << 40 };
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(silence); i++) {
		struct bfc_hrtt h;

		fresh(&h);
		pause_takes(&h, 7 * US, 0);
		pause_takes(&h, 7 * US, 0);
		now += silence[i];
		CHECK(h.value == 7 * US);
		pause_takes(&h, 3 * US, 0);
		pause_takes(&h, 4 * US, 0);
		pause_takes(&h, 5 * US, 0);
		CHECK(h.value == 7 * US, "%llu", h.value);
		pause_takes(&h, 6 * US, 0);
		CHECK(h.value == 5 * US, "%llu", h.value);
		now += silence[i];
		pause_takes(&h, 8 * US, 0);
		CHECK(h.value == 5 * US, "%llu", h.value);
		pause_takes(&h, 9 * US, 0);
		CHECK(h.value == 8 * US, "%llu", h.value);
	}
}

/* The second longest of half a second to a second, whichever half the two are in. */
static void test_window(void)
{
	struct bfc_hrtt h;

	fresh(&h);
	pause_takes(&h, 10 * US, 0);
	CHECK(!h.value, "%llu", h.value);
	pause_takes(&h, 20 * US, 0);
	CHECK(h.value == 10 * US, "%llu", h.value);
	now += 600 * MS;
	pause_takes(&h, 3 * US, 0);
	pause_takes(&h, 3 * US, 0);
	CHECK(h.value == 10 * US, "%llu", h.value);
	pause_takes(&h, 15 * US, 0);
	CHECK(h.value == 15 * US, "%llu", h.value);
	pause_takes(&h, 30 * US, 0);
	CHECK(h.value == 20 * US, "%llu", h.value);
	now += 600 * MS;
	/* four of the half before, and one */
	pause_takes(&h, 3 * US, 0);
	CHECK(h.value == 15 * US, "%llu", h.value);
}

/* A single long one between many: a frame was late for another reason. */
static void test_outlier(void)
{
	struct bfc_hrtt h;
	unsigned int n;

	fresh(&h);
	for (n = 0; n < 10000; n++) {
		pause_takes(&h, n % 2000 == 1000 ? 50 * MS : 20 * US, 2 * US);
		now += MS;
		CHECK(n < 1 || h.value == 20 * US, "%u: %llu", n, h.value);
	}
}

/* One PAUSE in five is lost; a repetition @REFRESH later is not, and takes as long as the
 * first would have. No loop is then longer than the real one.
 */
static void test_lost(void)
{
	static const u64 loop[] = { 2 * US, 100 * US, 900 * US };
	unsigned int i, n;

	for (i = 0; i < UNIT_SIZE(loop); i++) {
		struct bfc_hrtt h;

		fresh(&h);
		for (n = 0; n < 1000; n++) {
			pause_of(&h, loop[i], 3 * REFRESH, loop[i] / 20, loop[i] * 9 / 10,
				 n % 5 == 4);
			CHECK(n < 1 || h.value == loop[i], "%u of %llu: %llu", n, loop[i],
			      h.value);
			now += MS;
		}
	}
}

/* Frames that follow at once, about other queues, are no repetitions that matter: the
 * loop may have more in it than HELLOs need, as what a ring holds.
 */
static void test_busy_port(void)
{
	struct bfc_hrtt h;
	unsigned int n, i;

	fresh(&h);
	for (n = 0; n < 100; n++) {
		bfc_hrtt_begin(&h, 0, now);
		for (i = 0; i < 20; i++) {
			now += US;
			CHECK(bfc_hrtt_packet(&h, 2 * US, now));
			CHECK(bfc_hrtt_frame(&h, true, REFRESH, 2 * US, now));
		}
		now += 20 * US;
		CHECK(bfc_hrtt_frame(&h, false, REFRESH, 2 * US, now));
		CHECK(!bfc_hrtt_packet(&h, 2 * US, now + 20 * US));
		CHECK(n < 1 || h.value == 20 * US, "%llu", h.value);
	}
}

/* A loop that is longer than some repetitions: HELLOs need so long, too. */
static void test_long_cable(void)
{
	struct bfc_hrtt h;
	unsigned int n;

	fresh(&h);
	for (n = 0; n < 10; n++) {
		pause_of(&h, 20 * MS, 50 * MS, MS, 20 * MS - 5 * US, false);
		CHECK(n < 1 || h.value == 20 * MS, "%llu", h.value);
	}
}

/* A pause that does not end need not be watched for longer than its loop takes. */
static void test_long_pause(void)
{
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(loops); i++) {
		u64 last, quiet = 4 * loops[i] > 10 * MS ? 4 * loops[i] : 10 * MS;
		struct bfc_hrtt h;

		fresh(&h);
		pause_takes(&h, loops[i], 0);
		pause_takes(&h, loops[i], 0);
		last = now + loops[i];
		bfc_hrtt_begin(&h, 0, now);
		CHECK(bfc_hrtt_packet(&h, 0, last));
		/* The hook's clock may be a moment ahead. */
		CHECK(bfc_hrtt_frame(&h, true, REFRESH, 0, last - 1));
		CHECK(bfc_hrtt_frame(&h, true, REFRESH, 2 * loops[i], last + quiet));
		CHECK(!bfc_hrtt_frame(&h, true, REFRESH, 2 * loops[i], last + quiet + 1));
		CHECK(h.samples == 3 && h.value == loops[i]);
		/* nor one that is over, and of which nothing comes any more */
		bfc_hrtt_begin(&h, 0, now);
		CHECK(bfc_hrtt_packet(&h, 0, last));
		CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, last + 1));
		CHECK(!bfc_hrtt_frame(&h, false, REFRESH, 2 * loops[i], last + quiet + 1));
		CHECK(h.samples == 4 && h.value == loops[i]);
		/* nor one of which nothing came */
		bfc_hrtt_begin(&h, 0, now);
		CHECK(!bfc_hrtt_frame(&h, true, REFRESH, 0, now + quiet + 1));
		CHECK(h.samples == 4);
	}
}

/* It became longer, and HELLOs have not told yet: first it is taken for so many losses. */
static void test_longer_cable(void)
{
	struct bfc_hrtt h;
	unsigned int n;

	fresh(&h);
	for (n = 0; n < 10; n++)
		pause_of(&h, 2 * MS, 4 * MS, MS / 10, 2 * MS, false);
	CHECK(h.value == 2 * MS);
	for (n = 0; n < 10; n++) {
		pause_of(&h, 20 * MS, 40 * MS, MS, 2 * MS, false);
		CHECK(n >= 3 || h.value < 20 * MS, "%u: %llu", n, h.value);
		/* of a queue with little to send: that says nothing */
		pause_takes(&h, MS, 2 * MS);
	}
	CHECK(h.value == 20 * MS, "%llu", h.value);
	/* and shorter again */
	for (n = 0, now += SEC; n < 10; n++)
		pause_of(&h, 5 * MS / 2, 10 * MS, MS / 10, 2 * MS, n % 3 == 2);
	CHECK(h.value == 5 * MS / 2, "%llu", h.value);
}

/* Of a neighbour that says no HELLO, each pause has to show that it is obeyed. */
static void test_without_hello(void)
{
	static const unsigned int tenths[] = { 2, 9, 15, 25 };
	unsigned int i, j, n;

	for (i = 0; i < UNIT_SIZE(loops); i++) {
		for (j = 0; j < UNIT_SIZE(tenths); j++) {
			struct bfc_hrtt h;

			fresh(&h);
			most = 2 * loops[i];
			for (n = 1; n <= 10; n++) {
				pause_of(&h, loops[i], loops[i] / 10 * tenths[j],
					 loops[i] / 20, 0, false);
				CHECK(bfc_hrtt_known(&h) == (n < BFC_HRTT_PROOF ? 0 : loops[i]),
				      "pause %u of %llu, %u tenths: %llu", n, loops[i],
				      tenths[j], bfc_hrtt_known(&h));
			}
			CHECK(h.samples == 10 && h.proved == 1);
		}
	}
}

/* A pause of 10 us, packets until @last, and the next one @then; us. Whether that goes on. */
static bool stops(struct bfc_hrtt *h, u64 last, u64 then)
{
	bfc_hrtt_begin(h, most, now);
	CHECK(bfc_hrtt_packet(h, 0, now + last * US));
	CHECK(bfc_hrtt_frame(h, false, REFRESH, 0, now + 10 * US));
	return bfc_hrtt_packet(h, 0, now + then * US);
}

/* It goes on when it has heard of the resume, which takes no longer than the loop; later it
 * was for another reason.
 */
static void test_goes_on_late(void)
{
	struct bfc_hrtt h;

	fresh(&h);
	most = MS;
	CHECK(!stops(&h, 8, 22));
	CHECK(h.samples == 1 && h.obeyed == 1);
	CHECK(!stops(&h, 8, 23));
	CHECK(h.samples == 1 && h.obeyed == 1);
	/* nothing came after the pause: there is no loop */
	CHECK(!stops(&h, 0, 10));
	CHECK(!stops(&h, 0, 15));
	CHECK(h.samples == 1 && h.obeyed == 1 && !h.sent);
	/* behind the resume, and too long a gap */
	CHECK(!stops(&h, 12, 33));
	CHECK(h.samples == 1 && h.obeyed == 1);
	/* another processor's clock is behind */
	bfc_hrtt_begin(&h, most, now);
	CHECK(bfc_hrtt_packet(&h, 0, now + US));
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 3 * US));
	CHECK(!bfc_hrtt_packet(&h, 0, now + 2 * US + 999));
	CHECK(h.samples == 1 && h.obeyed == 1);
}

/* One that sends as it likes. It is not believed, whatever it did before, until it obeys. */
static void test_obeys_nothing(void)
{
	struct bfc_hrtt h;
	int n;

	fresh(&h);
	most = 20 * US;
	for (n = 1; n <= 10; n++) {
		bfc_hrtt_begin(&h, most, now);
		CHECK(bfc_hrtt_packet(&h, 0, now + 20 * US));
		CHECK(bfc_hrtt_packet(&h, 0, now + 20 * US + 1) == (n < BFC_HRTT_PROOF));
		CHECK(!h.sent == (n >= BFC_HRTT_PROOF));
		CHECK(h.proved == (n < BFC_HRTT_PROOF ? 0 : -1), "%d: %d", n, h.proved);
	}
	CHECK(!h.samples);
	for (n = 1; n <= 10; n++) {
		CHECK(!stops(&h, 8, 20));
		CHECK(h.proved == (n < 2 * BFC_HRTT_PROOF ? -1 : 1), "%d: %d", n, h.proved);
		CHECK(bfc_hrtt_known(&h) == (h.proved > 0 ? 8 * US : 0));
	}
	/* a pause that is too short to be told apart proves nothing */
	for (n = 1; n <= 10; n++) {
		CHECK(stops(&h, 9, 13));
		CHECK(bfc_hrtt_packet(&h, 0, now + 17 * US));
		CHECK(bfc_hrtt_packet(&h, 0, now + 21 * US));
		CHECK(bfc_hrtt_packet(&h, 0, now + 25 * US));
		CHECK(bfc_hrtt_packet(&h, 0, now + 29 * US));
		CHECK(!bfc_hrtt_packet(&h, 0, now + 30 * US + 1) && !h.sent);
		CHECK(h.proved == 1);
	}
	/* time counts from the resume, which another processor may have told of meanwhile */
	for (n = 1; n <= 10; n++) {
		bfc_hrtt_begin(&h, most, now);
		CHECK(bfc_hrtt_packet(&h, 0, now + 19 * US));
		CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 200 * US));
		CHECK(bfc_hrtt_packet(&h, 0, now + 100 * US));
		CHECK(bfc_hrtt_packet(&h, 0, now + 180 * US));
		CHECK(bfc_hrtt_packet(&h, 0, now + 220 * US));
		CHECK(!bfc_hrtt_packet(&h, 0, now + 220 * US + 1) && !h.sent);
		CHECK(h.proved == (n < 2 * BFC_HRTT_PROOF ? 1 : -1), "%d: %d", n, h.proved);
	}
	CHECK(!bfc_hrtt_known(&h));
	/* one that says HELLO needs no proof */
	h.most = 0;
	CHECK(bfc_hrtt_known(&h) == 8 * US);
}

/* One that never stops is paused once, and found out all the same: after four times the longest
 * loop. How long it went on is no loop, if it stops after all.
 */
static void test_never_stops(void)
{
	struct bfc_hrtt h;
	unsigned int us;

	fresh(&h);
	most = 20 * US;
	bfc_hrtt_begin(&h, most, now);
	for (us = 1; bfc_hrtt_packet(&h, 0, now + us * US) && us < 1000; us++)
		CHECK(bfc_hrtt_frame(&h, true, REFRESH, 0, now + us * US) && !h.proved);
	CHECK(us == 4 * 21 && h.proved == -1 && !h.sent, "%u us: %d", us, h.proved);

	fresh(&h);
	most = 20 * US;
	bfc_hrtt_begin(&h, most, now);
	CHECK(bfc_hrtt_packet(&h, 0, now + 21 * US) && h.obeyed == -1);
	CHECK(bfc_hrtt_packet(&h, 0, now + 25 * US));
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 35 * US));
	CHECK(!bfc_hrtt_packet(&h, 0, now + 39 * US) && !h.sent);
	CHECK(!h.samples && h.obeyed == -1, "%llu: %d", h.samples, h.obeyed);
	/* The next pause is another one. */
	CHECK(!stops(&h, 8, 20) && h.samples == 1 && !h.obeyed);
}

/* However long it stands still: what counts is that it goes on. And repetitions of the
 * pause are not looked at, as its loop is not told by HELLOs.
 */
static void test_long_pause_without_hello(void)
{
	struct bfc_hrtt h;

	fresh(&h);
	most = SEC;
	bfc_hrtt_begin(&h, most, now);
	CHECK(bfc_hrtt_frame(&h, true, REFRESH, 0, now + MS));
	CHECK(bfc_hrtt_packet(&h, 0, now + 3 * MS));
	CHECK(bfc_hrtt_frame(&h, true, REFRESH, 0, now + 300 * MS));
	CHECK(bfc_hrtt_frame(&h, false, REFRESH, 0, now + 400 * MS));
	CHECK(!bfc_hrtt_packet(&h, 0, now + 403 * MS));
	CHECK(h.samples == 1 && h.longest[0][0] == 3 * MS, "%llu", h.longest[0][0]);
}

/* There is room for the longest, which fades while there are none as long. */
static void test_room(void)
{
	struct bfc_hrtt h;
	unsigned int n;
	u64 end;

	fresh(&h);
	CHECK(!bfc_hrtt_room(&h));
	for (n = 0; n < 10; n++)
		pause_takes(&h, 20 * US, 0);
	pause_takes(&h, 640 * US, 0);
	CHECK(h.value == 20 * US && bfc_hrtt_room(&h) == 640 * US, "%llu", h.room);
	/* a half of the window later */
	now = h.begun + BFC_HRTT_HALF_NS;
	pause_takes(&h, 20 * US, 0);
	CHECK(bfc_hrtt_room(&h) == 630 * US, "%llu", h.room);
	pause_takes(&h, 635 * US, 0);
	CHECK(bfc_hrtt_room(&h) == 635 * US, "%llu", h.room);
	for (end = now + 120 * SEC; now < end; now += 100 * MS)
		pause_takes(&h, 20 * US, 0);
	CHECK(bfc_hrtt_room(&h) >= 20 * US && bfc_hrtt_room(&h) < 21 * US, "%llu", h.room);
	/* not of one that has not been seen to obey */
	h.most = MS;
	CHECK(!bfc_hrtt_room(&h));
}

/* Frames that take 1211 ns: 1514 bytes at 10 Gbit/s */
static void test_loop(void)
{
	u64 rtt = 2 * US, frame = 1211;
	int host;

	for (host = 0; host < 2; host++) {
		CHECK(bfc_hrtt_loop(0, 0, frame, host) == 0);
		CHECK(bfc_hrtt_loop(0, rtt, frame, host) == rtt + frame);
		CHECK(bfc_hrtt_loop(1, rtt, frame, host) == rtt);
		CHECK(bfc_hrtt_loop(3 * US, rtt, frame, host) == 3 * US);
	}
	CHECK(bfc_hrtt_loop(9 * US, rtt, frame, false) == 9 * US);
	CHECK(bfc_hrtt_loop(9 * US, rtt, frame, true) == rtt + 3 * frame);
	/* without HELLOs */
	CHECK(bfc_hrtt_loop(9 * US, 0, frame, false) == 9 * US);
	CHECK(bfc_hrtt_loop(9 * US, 0, frame, true) == 0);
	/* the slowest link, the longest frame */
	CHECK(bfc_hrtt_loop(0, 1, 9014 * SEC, false) == 9014 * SEC + 1);
}

static void test_differs(void)
{
	CHECK(!bfc_hrtt_differs(0, 0));
	CHECK(bfc_hrtt_differs(0, 1));
	CHECK(!bfc_hrtt_differs(1600, 1500) && !bfc_hrtt_differs(1500, 1600));
	CHECK(bfc_hrtt_differs(1600, 1499) && bfc_hrtt_differs(1499, 1600));
	CHECK(bfc_hrtt_differs(SEC, 2 * SEC) && bfc_hrtt_differs(2 * SEC, SEC));
}

/* A lower one waits for half a second after a change, and no longer: jiffies of 32 bits at HZ 1000
 * made of a change 25 to 50 days ago one to come.
 */
static void test_due(void)
{
	static const u64 day = 24 * 3600 * SEC;
	bool again = false;
	u64 days;

	CHECK(bfc_hrtt_due(0, MS, 7 * SEC, 7 * SEC, &again), "the first");
	CHECK(bfc_hrtt_due(MS, 2 * MS, 7 * SEC, 7 * SEC, &again), "a longer one");
	CHECK(!bfc_hrtt_due(MS, MS, 0, 7 * SEC, &again) && !again, "the same");
	CHECK(!bfc_hrtt_due(2 * MS, MS, 7 * SEC, 7 * SEC + SEC / 2 - 1, &again) && again, "early");
	for (days = 0; days < 1000; days++) {
		u64 then = 7 * SEC + SEC / 2 + days * day;

		again = false;
		if (!CHECK(bfc_hrtt_due(2 * MS, MS, 7 * SEC, then, &again) && !again,
			   "not after %llu days", days))
			return;
	}
}

static const struct unit_case cases[] = {
	{ "hrtt: a steady loop is what it is", test_steady },
	{ "hrtt: queues with little to send do not shorten it", test_short_queues },
	{ "hrtt: whether the pause is longer or shorter than the loop", test_lengths },
	{ "hrtt: whatever comes after that", test_pause_between },
	{ "hrtt: paused again before the gap was seen", test_paused_again },
	{ "hrtt: nothing came, nothing is measured", test_nothing_came },
	{ "hrtt: within a second it is another loop's", test_follows },
	{ "hrtt: without pauses it stays", test_silence },
	{ "hrtt: the second longest of the window", test_window },
	{ "hrtt: a single long one does not count", test_outlier },
	{ "hrtt: a PAUSE that was lost does not make it longer", test_lost },
	{ "hrtt: nor do other frames make it shorter", test_busy_port },
	{ "hrtt: longer than some repetitions", test_long_cable },
	{ "hrtt: longer than HELLOs have told yet", test_longer_cable },
	{ "hrtt: a long pause is not watched to its end", test_long_pause },
	{ "hrtt: a neighbour without HELLOs has to obey", test_without_hello },
	{ "hrtt: and to go on at once", test_goes_on_late },
	{ "hrtt: or it is known not to", test_obeys_nothing },
	{ "hrtt: also if there is one pause only", test_never_stops },
	{ "hrtt: a long pause of a neighbour without HELLOs", test_long_pause_without_hello },
	{ "hrtt: room for the longest", test_room },
	{ "hrtt: the loop for Th, of switches and hosts", test_loop },
	{ "hrtt: when it is worth a change", test_differs },
	{ "hrtt: when a change is applied", test_due },
};

#include "unit_main.h"
