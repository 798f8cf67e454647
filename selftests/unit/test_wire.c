// SPDX-License-Identifier: GPL-2.0
/*
 * Control frames byte by byte. The frames below were written by hand from the
 * layout at the top of bfc_wire.h, not with its functions.
 */
#include "unit.h"
#include "bfc_wire.h"

#define FRAME_MAX	700

/* A block of exactly len bytes: reading past the frame is reading past it. */
static u8 *block(const void *from, size_t len)
{
	u8 *f = malloc(len ? len : 1);

	if (!f)
		abort();
	if (!len) {	/* not one byte is to be read */
		free(f);
		f = (u8 *)malloc(16) + 16;
	} else if (from) {
		memcpy(f, from, len);
	}
	return f;
}

static void unblock(u8 *f, size_t len)
{
	free(len ? f : f - 16);
}

/* Is a queue paused, in a PAUSE that bfc_get_pause() accepted? */
static bool pause_test(const void *frame, unsigned int queue)
{
	const struct bfc_wire_pause *w = frame;

	return w->bitmap[queue / 8] >> (queue % 8) & 1;
}

static const u8 hello_bytes[84] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e,		/*  0 destination */
	0x02, 0x11, 0x22, 0x33, 0x44, 0x55,		/*  6 source */
	0x88, 0xb5,					/* 12 EtherType */
	'B', 'F', 'C', '1',				/* 14 magic */
	0x01,						/* 18 version */
	0x01,						/* 19 HELLO */
	0x00, 0x54,					/* 20 length 84 */
	0xe0, 0xe1, 0xe2, 0xe3,				/* 22 epoch */
	0xa0, 0xa1, 0xa2, 0xa3,				/* 26 sequence */
	0x01,						/* 30 NIC */
	0x80,						/* 31 flags */
	0x0f, 0xfe,					/* 32 4094 queues */
	0x08,						/* 34 classes */
	0x00,						/* 35 reserved */
	0x0f, 0xfd,					/* 36 incast queue 4093 */
	0x00, 0x00,					/* 38 reserved */
	0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88,	/* 40 id */
	0x91, 0x92, 0x93, 0x94,				/* 48 nonce */
	0xb1, 0xb2, 0xb3, 0xb4,				/* 52 echo */
	0x80, 0x00, 0x00, 0x01,				/* 56 modes */
	0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8,	/* 60 sent */
	0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8,	/* 68 its time */
	0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,	/* 76 held */
};

static const struct bfc_hello hello_value = {
	.role = BFC_ROLE_NIC,
	.flags = 0x80,
	.classes = 8,
	.queues = 4094,
	.incast_queue = 4093,
	.modes = 0x80000001,
	.id = 0x8182838485868788,
	.nonce = 0x91929394,
	.echo = 0xb1b2b3b4,
	.sent_ns = 0xc1c2c3c4c5c6c7c8,
	.echo_ns = 0xd1d2d3d4d5d6d7d8,
	.held_ns = 0xf1f2f3f4f5f6f7f8,
};

/* 19 queues, of which 0, 7, 8, 17 and 18 are paused */
static const u8 pause_bytes[89] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e,		/*  0 destination */
	0x02, 0x11, 0x22, 0x33, 0x44, 0x55,		/*  6 source */
	0x88, 0xb5,					/* 12 EtherType */
	'B', 'F', 'C', '1',				/* 14 magic */
	0x01,						/* 18 version */
	0x02,						/* 19 PAUSE */
	0x00, 0x59,					/* 20 length 89 */
	0xe0, 0xe1, 0xe2, 0xe3,				/* 22 epoch */
	0xa0, 0xa1, 0xa2, 0xa3,				/* 26 sequence */
	0xee, 0x6b, 0x28, 0x00,				/* 30 hold 4 s */
	0x00, 0x13,					/* 34 19 queues */
	0x00, 0x00,					/* 36 flags */
	0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x22, 0x23,	/* 38 priorities */
	0x30, 0x31, 0x32, 0x33, 0x40, 0x41, 0x42, 0x43,
	0x50, 0x51, 0x52, 0x53, 0x60, 0x61, 0x62, 0x63,
	0x70, 0x71, 0x72, 0x73, 0x80, 0x81, 0x82, 0x83,
	0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8,	/* 70 drained */
	0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,	/* 78 limit */
	0x81, 0x01, 0x06,				/* 86 bitmap */
};

static const struct bfc_pause pause_value = {
	.hold_ns = 4000000000,
	.queues = 19,
	.prio_ns = {
		0x10111213, 0x20212223, 0x30313233, 0x40414243,
		0x50515253, 0x60616263, 0x70717273, 0x80818283,
	},
	.drained = 0xd1d2d3d4d5d6d7d8,
	.limit = 0xf1f2f3f4f5f6f7f8,
};

static const unsigned int pause_set[] = { 0, 7, 8, 17, 18 };

/* Field by field: the structures have padding. */
static bool same_hello(const struct bfc_hello *a, const struct bfc_hello *b)
{
	return a->role == b->role && a->flags == b->flags &&
	       a->classes == b->classes && a->queues == b->queues &&
	       a->incast_queue == b->incast_queue && a->modes == b->modes &&
	       a->id == b->id && a->nonce == b->nonce && a->echo == b->echo &&
	       a->sent_ns == b->sent_ns && a->echo_ns == b->echo_ns &&
	       a->held_ns == b->held_ns;
}

static bool same_pause(const struct bfc_pause *a, const struct bfc_pause *b)
{
	return a->hold_ns == b->hold_ns && a->queues == b->queues &&
	       !memcmp(a->prio_ns, b->prio_ns, sizeof(a->prio_ns)) &&
	       a->drained == b->drained && a->limit == b->limit;
}

static void same_bytes(const u8 *got, const u8 *want, unsigned int from,
		       unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++)
		CHECK(got[i] == want[i], "byte %u: %02x, not %02x", i, got[i],
		      want[i]);
}

static void untouched(const u8 *got, unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++)
		CHECK(got[i] == 0xaa, "byte %u written: %02x", i, got[i]);
}

static void test_constants(void)
{
	CHECK(BFC_ETHERTYPE == 0x88b5);
	CHECK(BFC_MAGIC == 0x42464331);
	CHECK(BFC_VERSION == 1);
	CHECK(BFC_FRAME_HELLO == 1);
	CHECK(BFC_FRAME_PAUSE == 2);
	CHECK(BFC_ROLE_SWITCH == 0);
	CHECK(BFC_ROLE_NIC == 1);
	CHECK(BFC_HELLO_F_BYE == 1);
	CHECK(BFC_MODE_BFC == 1);
	CHECK(BFC_QUEUE_NONE == 0xffff);
	/* VLAN ids 1 to 4094 */
	CHECK(BFC_VID(0) == 1);
	CHECK(BFC_VID(BFC_WIRE_QUEUES_MAX - 1) == 4094);
	CHECK(BFC_QUEUES_MAX <= BFC_WIRE_QUEUES_MAX);
}

static void test_hello_bytes(void)
{
	u8 *f = block(NULL, 84);

	memset(f, 0xaa, 84);
	bfc_put_hello(f, 0xe0e1e2e3, 0xa0a1a2a3, &hello_value);
	untouched(f, 0, 14);
	same_bytes(f, hello_bytes, 14, 84);
	CHECK(BFC_HELLO_LEN == 84);
	unblock(f, 84);
}

static void test_pause_bytes(void)
{
	u8 *f = block(NULL, 89);
	unsigned int i;

	memset(f, 0xaa, 89);
	bfc_put_pause(f, 0xe0e1e2e3, 0xa0a1a2a3, &pause_value);
	for (i = 0; i < UNIT_SIZE(pause_set); i++)
		bfc_pause_set(f, pause_set[i]);
	untouched(f, 0, 14);
	same_bytes(f, pause_bytes, 14, 89);
	unblock(f, 89);
}

static void test_read(void)
{
	u8 *f = block(hello_bytes, sizeof(hello_bytes));
	struct bfc_hello hello;
	struct bfc_pause pause;
	struct bfc_hdr hdr;
	unsigned int i, k;

	CHECK(bfc_is_ours(f, 84));
	CHECK(bfc_get_hdr(f, 84, &hdr) == BFC_OK);
	CHECK(hdr.type == 1 && hdr.len == 84);
	CHECK(hdr.epoch == 0xe0e1e2e3 && hdr.seq == 0xa0a1a2a3);
	CHECK(bfc_get_hello(f, &hello) == BFC_OK);
	CHECK(same_hello(&hello, &hello_value));
	unblock(f, 84);

	f = block(pause_bytes, sizeof(pause_bytes));
	CHECK(bfc_is_ours(f, 89));
	CHECK(bfc_get_hdr(f, 89, &hdr) == BFC_OK);
	CHECK(hdr.type == 2 && hdr.len == 89);
	CHECK(hdr.epoch == 0xe0e1e2e3 && hdr.seq == 0xa0a1a2a3);
	CHECK(bfc_get_pause(f, hdr.len, 1024, &pause) == BFC_OK);
	CHECK(same_pause(&pause, &pause_value));
	for (i = 0; i < 19; i++) {
		bool want = false;

		for (k = 0; k < UNIT_SIZE(pause_set); k++)
			want |= pause_set[k] == i;
		CHECK(pause_test(f, i) == want, "queue %u", i);
	}
	unblock(f, 89);
}

static void test_round_trip(void)
{
	u64 seed = 5;
	unsigned int i, k;

	for (i = 0; i < 20000; i++) {
		unsigned int queues = unit_random(&seed) % 4095;
		unsigned int len = 86 + queues / 8 + !!(queues % 8);
		u32 epoch = unit_random(&seed), seq = unit_random(&seed);
		struct bfc_hello a = {
			.role = unit_random(&seed) % 2,
			.flags = unit_random(&seed),
			.classes = 1 + unit_random(&seed) % 255,
			.queues = queues ? queues : 1,
			.incast_queue = BFC_QUEUE_NONE,
			.modes = unit_random(&seed),
			.id = unit_random(&seed),
			.nonce = unit_random(&seed) | 1,
			.echo = unit_random(&seed),
			.sent_ns = unit_random(&seed),
			.echo_ns = unit_random(&seed),
			.held_ns = unit_random(&seed),
		}, b;
		struct bfc_pause p = {
			.hold_ns = unit_random(&seed) % 4000000001,
			.queues = queues,
			.drained = unit_random(&seed),
			.limit = unit_random(&seed),
		}, r;
		u8 *f = block(NULL, 84);
		struct bfc_hdr hdr;
		static u8 paused[4096];	/* too large for a kernel stack */

		if (unit_random(&seed) & 1)
			a.incast_queue = unit_random(&seed) % a.queues;
		bfc_put_hello(f, epoch, seq, &a);
		CHECK(bfc_get_hdr(f, 84, &hdr) == BFC_OK);
		CHECK(hdr.epoch == epoch && hdr.seq == seq);
		CHECK(bfc_get_hello(f, &b) == BFC_OK);
		CHECK(same_hello(&a, &b));
		unblock(f, 84);

		for (k = 0; k < BFC_PRIORITIES; k++)
			p.prio_ns[k] = unit_random(&seed);
		f = block(NULL, len);
		bfc_put_pause(f, epoch, seq, &p);
		for (k = 0; k < queues; k++) {
			paused[k] = unit_random(&seed) & 1;
			if (paused[k])
				bfc_pause_set(f, k);
		}
		CHECK(bfc_get_hdr(f, len, &hdr) == BFC_OK);
		CHECK(hdr.epoch == epoch && hdr.seq == seq && hdr.len == len);
		CHECK(bfc_get_pause(f, hdr.len, queues, &r) == BFC_OK);
		CHECK(same_pause(&p, &r));
		for (k = 0; k < queues; k++)
			if (pause_test(f, k) != paused[k])
				CHECK(false, "%u queues: queue %u", queues, k);
		unblock(f, len);
		if (unit_bad)
			return;
	}
}

static void test_lengths(void)
{
	unsigned int q;

	CHECK(bfc_pause_len(0) == 86);
	CHECK(bfc_pause_len(1) == 87);
	CHECK(bfc_pause_len(8) == 87);
	CHECK(bfc_pause_len(9) == 88);
	CHECK(bfc_pause_len(32) == 90);
	CHECK(bfc_pause_len(128) == 102);
	CHECK(bfc_pause_len(1024) == 214);
	CHECK(bfc_pause_len(4094) == 598);
	for (q = 0; q <= 4094; q++) {
		CHECK(bfc_pause_len(q) >= 60);
		CHECK(bfc_bitmap_bytes(q) * 8 >= q);
		CHECK(bfc_bitmap_bytes(q) * 8 < q + 8);
	}
}

/* Each queue has its own bit, and the bits beyond the last are zero. */
static void test_bits(void)
{
	static const unsigned int queues[] = {
		0, 1, 2, 7, 8, 9, 31, 32, 33, 128, 1023, 1024, 4093, 4094,
	};
	unsigned int i, k, b;

	for (i = 0; i < UNIT_SIZE(queues); i++) {
		unsigned int n = queues[i], len = 86 + (n + 7) / 8;
		struct bfc_pause p = { .queues = n };
		u8 *f = block(NULL, len);

		memset(f, 0xff, len);
		bfc_put_pause(f, 1, 1, &p);
		for (b = 86; b < len; b++)
			CHECK(!f[b], "%u queues: byte %u not cleared", n, b);
		for (k = 0; k < n; k += n > 1000 ? 61 : 1) {
			bfc_pause_set(f, k);
			for (b = 86; b < len; b++) {
				unsigned int at = (b - 86) * 8;
				u8 want = 0;

				if (k >= at && k < at + 8)
					want = 1 << (k - at);
				if (f[b] != want)
					CHECK(false, "queue %u: byte %u is %02x",
					      k, b, f[b]);
			}
			CHECK(pause_test(f, k));
			f[86 + k / 8] = 0;
			CHECK(!pause_test(f, k));
		}
		for (k = 0; k < n; k++)
			bfc_pause_set(f, k);
		for (b = n; b < (n + 7) / 8 * 8; b++)
			CHECK(!(f[86 + b / 8] & 1 << b % 8),
			      "%u queues: bit %u set", n, b);
		for (k = 0; k < n; k++)
			if (!pause_test(f, k))
				CHECK(false, "%u queues: queue %u", n, k);
		unblock(f, len);
	}
}

/* pause_bytes, and ids of roots of queues 8 and 17; of 18 none is told. */
static const u8 roots_bytes[] = {
	0x00, 0x01,					/* 89 first: queue 1 */
	0x00, 0x02,					/* 91 two ids */
	0x01, 0x02, 0x03, 0x04,				/* 93 of queue 8 */
	0xf1, 0xf2, 0xf3, 0xf4,				/* 97 of queue 17 */
};

#define ROOTS_LEN	(89 + 12)

/* A frame as above, of len bytes, that says len. */
static u8 *roots_frame(unsigned int len)
{
	u8 all[ROOTS_LEN];

	memcpy(all, pause_bytes, 89);
	memcpy(all + 89, roots_bytes, sizeof(roots_bytes));
	all[21] = len;
	all[37] = 0x01;
	return block(all, len);
}

static void test_roots_bytes(void)
{
	u8 *f = block(NULL, ROOTS_LEN), *want = roots_frame(ROOTS_LEN);
	unsigned int i;

	CHECK(bfc_roots_len(2) == sizeof(roots_bytes));
	CHECK(BFC_PAUSE_F_ROOTS == 1 && BFC_ROOT_UNKNOWN == 0);
	/* With as many queues and ids as there can be it fits into IPv6's least MTU. */
	CHECK(bfc_pause_len(BFC_QUEUES_MAX) + bfc_roots_len(BFC_ROOTS_MAX) <= 1280 + 14);
	memset(f, 0xaa, ROOTS_LEN);
	bfc_put_pause(f, 0xe0e1e2e3, 0xa0a1a2a3, &pause_value);
	for (i = 0; i < UNIT_SIZE(pause_set); i++)
		bfc_pause_set(f, pause_set[i]);
	bfc_put_root(f, 19, 1, 0xf1f2f3f4);
	bfc_put_root(f, 19, 0, 0x01020304);
	CHECK(bfc_put_roots(f, 19, 1, 2) == ROOTS_LEN);
	untouched(f, 0, 14);
	same_bytes(f, want, 14, ROOTS_LEN);
	for (i = 0; i < 19; i++)
		CHECK(bfc_pause_is_set(f, i) == pause_test(f, i), "queue %u", i);
	unblock(want, ROOTS_LEN);
	unblock(f, ROOTS_LEN);
}

static void test_roots_read(void)
{
	u8 *f = roots_frame(ROOTS_LEN);
	struct bfc_pause pause;
	unsigned int len, n;

	CHECK(bfc_get_pause(f, ROOTS_LEN, 19, &pause) == BFC_OK);
	CHECK(same_pause(&pause, &pause_value));
	CHECK(pause.roots == 2 && pause.roots_first == 1);
	CHECK(bfc_get_root(f, 19, 0) == 0x01020304 && bfc_get_root(f, 19, 1) == 0xf1f2f3f4);
	/* Who does not know the flag reads what is before, and so does who has none. */
	f[37] = 0xfe;
	CHECK(bfc_get_pause(f, ROOTS_LEN, 19, &pause) == BFC_OK);
	CHECK(same_pause(&pause, &pause_value) && !pause.roots);
	unblock(f, ROOTS_LEN);

	for (len = 86; len <= ROOTS_LEN; len++) {
		f = roots_frame(len);
		CHECK(bfc_get_pause(f, len, 19, &pause) ==
		      (len == ROOTS_LEN ? BFC_OK : BFC_BAD_SHORT), "%u bytes", len);
		unblock(f, len);
	}
	/* Of queues 0, 7, 8, 17 and 18, as many as there are from the first one on. */
	for (n = 0; n <= 20; n++) {
		static const unsigned int from[] = {
			5, 4, 4, 4, 4, 4, 4, 4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0, 0
		};

		f = roots_frame(ROOTS_LEN);
		f[90] = n;
		CHECK(bfc_get_pause(f, ROOTS_LEN, 19, &pause) ==
		      (from[n] < 2 ? BFC_BAD_RANGE : BFC_OK), "from %u on", n);
		unblock(f, ROOTS_LEN);
	}
	/* No queue, and none is paused that there is none of: bits behind the last one. */
	f = block(NULL, 95);
	memset(f, 0, 95);
	memcpy(f, pause_bytes, 86);
	f[35] = 1;
	f[37] = 1;
	f[86] = 0xfe;
	CHECK(bfc_get_pause(f, 91, 19, &pause) == BFC_OK && !pause.roots);
	f[90] = 1;
	CHECK(bfc_get_pause(f, 95, 19, &pause) == BFC_BAD_RANGE);
	unblock(f, 95);
}

/* Setting twice is setting once; others stay. */
static void test_bits_keep(void)
{
	u8 f[88] = { 0 };

	bfc_pause_set(f, 3);
	bfc_pause_set(f, 3);
	bfc_pause_set(f, 12);
	CHECK(f[86] == 0x08);
	CHECK(f[87] == 0x10);
	f[86] = 0xf7;
	CHECK(!pause_test(f, 3));
	CHECK(pause_test(f, 2) && pause_test(f, 4));
}

static void test_is_ours(void)
{
	unsigned int i, len;
	u8 f[84];

	for (len = 0; len <= 84; len++) {
		u8 *b = block(hello_bytes, len);

		CHECK(bfc_is_ours(b, len) == (len >= 18), "%u bytes", len);
		unblock(b, len);
	}
	for (i = 0; i < 18; i++) {
		unsigned int bit;

		for (bit = 0; bit < 8; bit++) {
			memcpy(f, hello_bytes, sizeof(f));
			f[i] ^= 1 << bit;
			CHECK(bfc_is_ours(f, 84) == (i >= 6 && i < 12),
			      "byte %u bit %u", i, bit);
		}
	}
	/* a version, type or length that is wrong does not make it another's */
	memcpy(f, hello_bytes, sizeof(f));
	memset(f + 18, 0xff, sizeof(f) - 18);
	CHECK(bfc_is_ours(f, 84));
}

/* Length 0, PAUSE, and all of the fixed part there. */
static void test_empty(void)
{
	unsigned int len, type;
	u8 f[89];

	memcpy(f, pause_bytes, sizeof(f));
	CHECK(!bfc_is_empty_pause(f, 89));
	f[20] = 0;
	f[21] = 0;
	for (len = 0; len <= 89; len++)
		CHECK(bfc_is_empty_pause(f, len) == (len >= 86), "%u bytes", len);
	for (type = 0; type < 256; type++) {
		f[19] = type;
		CHECK(bfc_is_empty_pause(f, 89) == (type == 2), "type %u", type);
	}
	f[19] = 2;
	f[21] = 1;
	CHECK(!bfc_is_empty_pause(f, 89));
	f[20] = 1;
	f[21] = 0;
	CHECK(!bfc_is_empty_pause(f, 89));
	f[20] = 0;
	f[14] = 'b';
	CHECK(!bfc_is_empty_pause(f, 89));
}

static void test_version(void)
{
	struct bfc_hdr hdr;
	unsigned int v;
	u8 f[89];

	for (v = 0; v < 256; v++) {
		memcpy(f, pause_bytes, sizeof(f));
		f[18] = v;
		CHECK(bfc_get_hdr(f, 89, &hdr) ==
		      (v == 1 ? BFC_OK : BFC_BAD_VERSION), "version %u", v);
		memcpy(f, pause_bytes, sizeof(f));
		f[19] = v;
		CHECK(bfc_get_hdr(f, 89, &hdr) ==
		      (v == 1 || v == 2 ? BFC_OK : BFC_BAD_VERSION),
		      "type %u", v);
	}
}

/* Each length of the frame with each length that it claims to have. */
static void test_truncated(void)
{
	unsigned int len, claim, type, queues;

	for (type = 1; type <= 2; type++)
		for (len = 0; len <= 200; len++)
			for (claim = 0; claim <= 210; claim++) {
				unsigned int need = type == 1 ? 84 : 86;
				u8 long_frame[200] = { 0 };
				struct bfc_hello hello;
				struct bfc_pause pause;
				struct bfc_hdr hdr;
				enum bfc_bad bad;
				u8 *f;

				memcpy(long_frame, type == 1 ? hello_bytes :
				       pause_bytes, need);
				queues = (len * 7 + claim) % 900;
				if (type == 2) {
					long_frame[34] = queues / 256;
					long_frame[35] = queues % 256;
				}
				long_frame[20] = claim / 256;
				long_frame[21] = claim % 256;
				f = block(long_frame, len);
				bad = bfc_get_hdr(f, len, &hdr);
				if (len < 30 || claim < need || claim > len)
					CHECK(bad == BFC_BAD_SHORT,
					      "type %u, %u bytes, claims %u: %d",
					      type, len, claim, bad);
				else
					CHECK(bad == BFC_OK && hdr.len == claim,
					      "type %u, %u bytes, claims %u: %d",
					      type, len, claim, bad);
				if (bad == BFC_OK && type == 1)
					CHECK(bfc_get_hello(f, &hello) ==
					      BFC_OK);
				if (bad == BFC_OK && type == 2) {
					bad = bfc_get_pause(f, claim, 1024,
							    &pause);
					CHECK(bad == (86 + (queues + 7) / 8 <=
						      claim ? BFC_OK :
						      BFC_BAD_SHORT),
					      "%u queues in %u: %d", queues,
					      claim, bad);
				}
				while (type == 2 && bad == BFC_OK && queues--)
					pause_test(f, queues);
				unblock(f, len);
			}
}

static enum bfc_bad read_hello(unsigned int at, unsigned int bytes, u64 v)
{
	struct bfc_hello h;
	u8 f[84];

	memcpy(f, hello_bytes, sizeof(f));
	while (bytes--) {
		f[at + bytes] = v;
		v >>= 8;
	}
	return bfc_get_hello(f, &h);
}

static void test_hello_range(void)
{
	unsigned int v;

	for (v = 0; v < 256; v++) {
		CHECK(read_hello(30, 1, v) == (v < 2 ? BFC_OK : BFC_BAD_RANGE),
		      "role %u", v);
		CHECK(read_hello(31, 1, v) == BFC_OK, "flags %u", v);
		CHECK(read_hello(34, 1, v) == (v ? BFC_OK : BFC_BAD_RANGE),
		      "classes %u", v);
		CHECK(read_hello(35, 1, v) == BFC_OK, "reserved %u", v);
	}
	for (v = 0; v < 65536; v++) {
		/* its incast queue is 4093, so fewer queues will not do */
		CHECK(read_hello(32, 2, v) ==
		      (v == 4094 ? BFC_OK : BFC_BAD_RANGE), "queues %u", v);
		CHECK(read_hello(36, 2, v) ==
		      (v < 4094 || v == 0xffff ? BFC_OK : BFC_BAD_RANGE),
		      "incast queue %u", v);
		CHECK(read_hello(32, 6, (u64)v << 32 | 1ULL << 24 | 0xffff)
		      == (v >= 1 && v <= 4094 ? BFC_OK : BFC_BAD_RANGE),
		      "queues %u, no incast queue", v);
		CHECK(read_hello(38, 2, v) == BFC_OK, "reserved %u", v);
	}
	CHECK(read_hello(48, 4, 0) == BFC_BAD_RANGE, "nonce 0");
	CHECK(read_hello(48, 4, 1) == BFC_OK);
	CHECK(read_hello(48, 4, 0x01000000) == BFC_OK);
	CHECK(read_hello(52, 4, 0) == BFC_OK, "no peer heard yet");
	CHECK(read_hello(56, 4, 0) == BFC_OK);
	CHECK(read_hello(68, 8, 0) == BFC_OK);
}

static enum bfc_bad read_pause(u32 hold, u16 queues, unsigned int max,
			       unsigned int len)
{
	u8 *f = block(NULL, len);
	enum bfc_bad bad;
	struct bfc_pause p;

	memset(f, 0xff, len);
	f[30] = hold >> 24;
	f[31] = hold >> 16;
	f[32] = hold >> 8;
	f[33] = hold;
	f[34] = queues >> 8;
	f[35] = queues;
	f[37] = 0xfe;	/* all but that for roots */
	bad = bfc_get_pause(f, len, max, &p);
	unblock(f, len);
	return bad;
}

static void test_pause_range(void)
{
	unsigned int q;

	for (q = 0; q < 65536; q += q < 1100 ? 1 : 97) {
		bool fits = q <= 8 * (214 - 86);

		CHECK(read_pause(1, q, 1024, 214) ==
		      (q <= 1024 ? BFC_OK : BFC_BAD_RANGE), "queues %u", q);
		CHECK(read_pause(1, q, 65535, 214) ==
		      (fits ? BFC_OK : BFC_BAD_SHORT), "queues %u", q);
		CHECK(read_pause(1, q, 31, 214) ==
		      (q <= 31 ? BFC_OK : BFC_BAD_RANGE), "queues %u", q);
	}
	CHECK(read_pause(0, 0, 0, 86) == BFC_OK);
	CHECK(read_pause(0, 1, 0, 87) == BFC_BAD_RANGE);
	CHECK(read_pause(0, 1, 1, 86) == BFC_BAD_SHORT);
	CHECK(read_pause(0, 9, 9, 87) == BFC_BAD_SHORT);
	CHECK(read_pause(0, 9, 9, 88) == BFC_OK);
	CHECK(read_pause(4000000000, 8, 8, 87) == BFC_OK);
	CHECK(read_pause(4000000001, 8, 8, 87) == BFC_BAD_RANGE);
	CHECK(read_pause(0xffffffff, 8, 8, 87) == BFC_BAD_RANGE);
}

/* Bits beyond the last queue, sent by a peer that does not clear them, change
 * nothing for the queues there are.
 */
static void test_bits_beyond(void)
{
	struct bfc_pause p;
	struct bfc_hdr hdr;
	unsigned int i;
	u8 f[89];

	memcpy(f, pause_bytes, sizeof(f));
	f[88] |= 0xf8;
	CHECK(bfc_get_hdr(f, 89, &hdr) == BFC_OK);
	CHECK(bfc_get_pause(f, hdr.len, 19, &p) == BFC_OK);
	CHECK(same_pause(&p, &pause_value));
	for (i = 0; i < 19; i++)
		CHECK(pause_test(f, i) == pause_test(pause_bytes, i),
		      "queue %u", i);
}

/* The second opinion of the fuzzer: what the layout says, in its own words. */
static u64 field(const u8 *f, unsigned int at, unsigned int bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v * 256 + f[at++];
	return v;
}

static enum bfc_bad expect(const u8 *f, unsigned int len, unsigned int max)
{
	unsigned int queues, incast, claim, need, at, i, paused = 0;

	if (len < 30)
		return BFC_BAD_SHORT;
	if (f[18] != 1 || (f[19] != 1 && f[19] != 2))
		return BFC_BAD_VERSION;
	claim = field(f, 20, 2);
	need = f[19] == 1 ? 84 : 86;
	if (claim > len || claim < need)
		return BFC_BAD_SHORT;
	if (f[19] == 1) {
		queues = field(f, 32, 2);
		incast = field(f, 36, 2);
		if (f[30] > 1 || queues < 1 || queues > 4094 || !f[34] ||
		    !field(f, 48, 4))
			return BFC_BAD_RANGE;
		return incast == 0xffff || incast < queues ? BFC_OK :
		       BFC_BAD_RANGE;
	}
	queues = field(f, 34, 2);
	if (queues > max || field(f, 30, 4) > 4000000000)
		return BFC_BAD_RANGE;
	at = 86 + (queues + 7) / 8;
	if (claim < at)
		return BFC_BAD_SHORT;
	if (!(f[37] & 1))
		return BFC_OK;
	if (claim < at + 4 || claim < at + 4 + 4 * field(f, at + 2, 2))
		return BFC_BAD_SHORT;
	for (i = field(f, at, 2); i < queues; i++)
		paused += pause_test(f, i);
	return field(f, at + 2, 2) > paused ? BFC_BAD_RANGE : BFC_OK;
}

static enum bfc_bad receive(const u8 *f, unsigned int len, unsigned int max,
			    unsigned int *set)
{
	struct bfc_hello hello;
	struct bfc_pause pause;
	struct bfc_hdr hdr;
	enum bfc_bad bad;
	unsigned int i;

	bad = bfc_get_hdr(f, len, &hdr);
	if (bad != BFC_OK)
		return bad;
	if (hdr.type == BFC_FRAME_HELLO) {
		bad = bfc_get_hello(f, &hello);
		if (bad == BFC_OK)
			CHECK(hello.queues == field(f, 32, 2) &&
			      hello.id == field(f, 40, 8) &&
			      hello.nonce == field(f, 48, 4) &&
			      hello.echo == field(f, 52, 4) &&
			      hello.held_ns == field(f, 76, 8));
		return bad;
	}
	bad = bfc_get_pause(f, hdr.len, max, &pause);
	if (bad != BFC_OK)
		return bad;
	CHECK(pause.hold_ns == field(f, 30, 4) &&
	      pause.prio_ns[7] == field(f, 66, 4) &&
	      pause.limit == field(f, 78, 8));
	for (i = 0; i < pause.queues; i++)
		*set += pause_test(f, i);
	return bad;
}

/* Half of the frames begin well and have some bytes changed, else next to none
 * would come past the magic and the type.
 */
static void test_fuzz(void)
{
	static const u16 lens[] = { 60, 83, 84, 85, 86, 87, 89, 90, 214, 598 };
	unsigned int seen[BFC_BAD_MAX] = { 0 };
	static u8 *blocks[FRAME_MAX + 1];	/* as above */
	unsigned int i, k, sum = 0;
	u64 seed = 6;

	for (i = 0; i <= FRAME_MAX; i++) {
		blocks[i] = block(NULL, i);
		for (k = 0; k < i; k++)
			blocks[i][k] = unit_random(&seed);
	}
	for (i = 0; i < 1000000; i++) {
		u64 r = unit_random(&seed);
		unsigned int len = r % 3 ? lens[r / 3 % UNIT_SIZE(lens)] :
				   r / 3 % (FRAME_MAX + 1);
		unsigned int max = (r >> 20) % 2 ? 1024 : (r >> 21) % 4095;
		u8 *f = blocks[len];
		enum bfc_bad bad;

		for (k = 0; k < len; k++)
			f[k] = unit_random(&seed) >> 32;
		if ((r >> 40) % 8) {
			const u8 *from = (r >> 43) % 2 ? hello_bytes :
					 pause_bytes;
			unsigned int n = (r >> 43) % 2 ? 84 : 89;

			memcpy(f, from, n < len ? n : len);
			if (len > 21 && (r >> 44) % 4) {
				f[20] = len >> 8;
				f[21] = len;
			}
			if (len > 35 && (r >> 46) % 2 && f[19] == 2) {
				unsigned int queues = unit_random(&seed) % 5000;

				f[34] = queues >> 8;
				f[35] = queues;
			}
			for (k = (r >> 48) % 4; len > 18 && k--; )
				f[18 + unit_random(&seed) % (len - 18)] =
					unit_random(&seed) >> 16;
		}
		bfc_is_ours(f, len);
		bad = receive(f, len, max, &sum);
		seen[bad]++;
		if (!CHECK(bad == expect(f, len, max),
			   "frame %u of %u bytes: %d, not %d", i, len, bad,
			   expect(f, len, max)))
			break;
	}
	printf("# fuzz: %u good, %u short, %u version, %u range\n",
	       seen[BFC_OK], seen[BFC_BAD_SHORT], seen[BFC_BAD_VERSION],
	       seen[BFC_BAD_RANGE]);
	/* or else it has tested little */
	CHECK(seen[BFC_OK] > 100000 && seen[BFC_BAD_SHORT] > 50000 &&
	      seen[BFC_BAD_VERSION] > 50000 && seen[BFC_BAD_RANGE] > 50000);
	for (i = 0; i <= FRAME_MAX; i++)
		unblock(blocks[i], i);
}

static const struct unit_case cases[] = {
	{ "wire: numbers of the protocol", test_constants },
	{ "wire: HELLO is written as documented", test_hello_bytes },
	{ "wire: PAUSE is written as documented", test_pause_bytes },
	{ "wire: documented frames are read", test_read },
	{ "wire: what is written can be read", test_round_trip },
	{ "wire: length of PAUSE frames", test_lengths },
	{ "wire: one bit per queue, zero beyond", test_bits },
	{ "wire: setting a bit leaves the others", test_bits_keep },
	{ "wire: roots are written as documented", test_roots_bytes },
	{ "wire: and read: too few, too many and those of no queue are refused",
	  test_roots_read },
	{ "wire: bits beyond the last queue are ignored", test_bits_beyond },
	{ "wire: known by destination, EtherType and magic", test_is_ours },
	{ "wire: an empty PAUSE is one of length 0", test_empty },
	{ "wire: unknown versions and types are refused", test_version },
	{ "wire: truncated frames are refused, not read beyond",
	  test_truncated },
	{ "wire: HELLO out of range is refused", test_hello_range },
	{ "wire: PAUSE out of range is refused", test_pause_range },
	{ "wire: 1000000 fuzzed frames are judged as documented", test_fuzz },
};

#include "unit_main.h"
