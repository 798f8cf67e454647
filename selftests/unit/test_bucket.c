// SPDX-License-Identifier: GPL-2.0
/*
 * The token bucket, at rates from those of 10 Mbit/s to those of 800 Gbit/s.
 */
#include "unit.h"
#include "bfc_bucket.h"

#define SEC	1000000000ULL

static const u32 rates[] = { 10000, 148810, 1488095, 14880952, 119047619 };

static u32 size_of(u32 rate)
{
	return rate / 1000 > 256 ? rate / 1000 : 256;
}

/* taken: of what is asked for every @gap ns from *now on, for @span ns */
static u64 taken(struct bfc_bucket *b, u64 *now, u32 rate, u64 gap, u64 span)
{
	u64 end = *now + span, n = 0;

	for (; *now < end; *now += gap)
		n += bfc_bucket_take(b, *now, rate);
	return n;
}

/* A bucket that starts at zero is full: no clock starts at zero. */
static void test_burst(void)
{
	unsigned int i;
	u32 n;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		struct bfc_bucket b = {};

		for (n = 0; bfc_bucket_take(&b, 5 * SEC, rates[i]); n++)
			;
		CHECK(n == size_of(rates[i]), "rate %u: %u", rates[i], n);
		CHECK(!bfc_bucket_take(&b, 5 * SEC, rates[i]));
	}
}

/* Who keeps to the rate is never refused, whatever the burst was. */
static void test_steady(void)
{
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		u64 gap = SEC / rates[i] + 1, now = 5 * SEC, n;
		struct bfc_bucket b = {};

		while (bfc_bucket_take(&b, now, rates[i]))
			;
		now += 2 * gap;
		n = taken(&b, &now, rates[i], gap, 100000 * gap);
		CHECK(n == 100000, "rate %u, one each %llu ns: %llu", rates[i],
		      gap, n);
	}
}

/* Who sends more gets the rate: no more, and not much less. */
static void test_too_fast(void)
{
	static const unsigned int part[] = { 2, 3, 7, 16 };
	unsigned int i, j;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		for (j = 0; j < UNIT_SIZE(part); j++) {
			u64 gap = SEC / rates[i] / part[j] + 1, now = 5 * SEC;
			u64 span = 50000 * (SEC / rates[i] + 1), n, due;
			struct bfc_bucket b = {};

			while (bfc_bucket_take(&b, now, rates[i]))
				;
			n = taken(&b, &now, rates[i], gap, span);
			due = span * rates[i] / SEC;
			CHECK(n <= due + 1 && n >= due - due / 8 - 1,
			      "rate %u, asked each %llu ns: %llu of %llu",
			      rates[i], gap, n, due);
		}
	}
}

/* Long silences neither overflow nor save up more than a bucket. */
static void test_silence(void)
{
	static const u64 silence[] = { SEC - 1, SEC, SEC + 1, 4 * SEC,
				       1ULL << 40, 1ULL << 62 };
	unsigned int i, j;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		for (j = 0; j < UNIT_SIZE(silence); j++) {
			struct bfc_bucket b = {};
			u64 now = 5 * SEC;
			u32 n;

			while (bfc_bucket_take(&b, now, rates[i]))
				;
			now += silence[j];
			for (n = 0; bfc_bucket_take(&b, now, rates[i]); n++)
				;
			CHECK(n == size_of(rates[i]), "rate %u, %llu ns: %u",
			      rates[i], silence[j], n);
		}
	}
}

/* Nor does a sender that asks for half of the rate save up more. */
static void test_saving(void)
{
	unsigned int i;
	u32 n;

	for (i = 0; i < UNIT_SIZE(rates); i++) {
		u64 gap = 2 * (SEC / rates[i] + 1), now = 5 * SEC;
		struct bfc_bucket b = {};

		while (bfc_bucket_take(&b, now, rates[i]))
			;
		taken(&b, &now, rates[i], gap, 4ULL * size_of(rates[i]) * gap);
		for (n = 0; bfc_bucket_take(&b, now, rates[i]); n++)
			;
		CHECK(n <= size_of(rates[i]), "rate %u: %u", rates[i], n);
	}
}

/* A clock that was read before another processor's is no silence. */
static void test_older_clock(void)
{
	struct bfc_bucket b = {};
	u64 now = 5 * SEC;

	while (bfc_bucket_take(&b, now, 1000000))
		;
	CHECK(!bfc_bucket_take(&b, now - 1, 1000000));
	CHECK(!bfc_bucket_take(&b, now - SEC, 1000000));
	CHECK(!bfc_bucket_take(&b, now + 999, 1000000));
	CHECK(bfc_bucket_take(&b, now + 1000, 1000000));
}

/* Tokens are bytes: of a sixteenth of 8 kbit/s to 1 Tbit/s, a frame takes many, and one
 * that is longer than the bucket none.
 */
static void test_bytes(void)
{
	static const u64 rate[] = { 62, 156250, 7812500, 781250000,
				    7812500000ULL };
	const u32 size = 16384, len = 1500;
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(rate); i++) {
		u64 gap = SEC * len / rate[i] / 16 + 1, now = 500 * SEC, due, end;
		u64 sent = 0;
		struct bfc_bucket b = {};

		CHECK(!bfc_bucket_take_n(&b, now, rate[i], size, size + 1));
		CHECK(bfc_bucket_take_n(&b, now, rate[i], size, size));
		CHECK(!bfc_bucket_take_n(&b, now, rate[i], size, 1));
		due = 100 * len;
		end = now + due * SEC / rate[i];
		for (; now < end; now += gap)
			if (bfc_bucket_take_n(&b, now, rate[i], size, len))
				sent += len;
		CHECK(sent >= due - due / 8 && sent <= due + len,
		      "rate %llu: %llu of %llu", rate[i], sent, due);
		/* The same of one burst after a silence. */
		while (bfc_bucket_take_n(&b, now, rate[i], size, 1))
			;
		now += 3 * SEC;
		for (sent = 0; bfc_bucket_take_n(&b, now, rate[i], size, 1);)
			sent++;
		CHECK(sent == (3 * rate[i] < size ? 3 * rate[i] : size),
		      "rate %llu: %llu", rate[i], sent);
	}
}

static const struct unit_case cases[] = {
	{ "bucket: a full one lasts for a burst", test_burst },
	{ "bucket: the rate itself is never refused", test_steady },
	{ "bucket: more than the rate gets the rate", test_too_fast },
	{ "bucket: a silence fills it, once", test_silence },
	{ "bucket: half of the rate saves up no more", test_saving },
	{ "bucket: an older clock fills nothing", test_older_clock },
	{ "bucket: bytes", test_bytes },
};

#include "unit_main.h"
