// SPDX-License-Identifier: GPL-2.0
/*
 * Remaining sizes of flows: the number of 16 bits, and its carriers byte by byte.
 */
#include "unit.h"
#include <linux/bfc_size.h>

#define ROUNDS	200000

static void test_known(void)
{
	static const struct {
		u64 bytes;
		u16 code;
	} known[] = {
		{ 0, 0 }, { 1, 1 }, { 2047, 2047 }, { 2048, 0x0800 }, { 4095, 0x0fff },
		{ 4096, 0x1000 }, { 4097, 0x1000 }, { 4098, 0x1001 },
		{ 1000000, 9 << 11 | ((1000000 >> 8) - 2048) }, { 0xfffffffe, 0xafff },
		{ 0xffffffff, 0xafff }, { 0x100000000, 0xb000 },
		{ 4095ULL << 30, 0xfffe }, { 1ULL << 42, 0xfffe }, { 1ULL << 43, 0xfffe },
		{ 1ULL << 60, 0xfffe }, { ~0ULL, 0xfffe },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(known); i++)
		CHECK(bfc_size_code(known[i].bytes) == known[i].code, "%llu: %#x, not %#x",
		      (unsigned long long)known[i].bytes, bfc_size_code(known[i].bytes),
		      known[i].code);
	CHECK(bfc_size_bytes(0xfffe) == 4094ULL << 30);
	CHECK(BFC_SIZE_NONE > BFC_SIZE_MOST);
}

/* Each code is that of the least bytes it stands for, and the one before is of fewer. */
static void test_all_codes(void)
{
	u32 code;

	for (code = 0; code <= BFC_SIZE_MOST; code++) {
		u64 bytes = bfc_size_bytes(code);

		CHECK(bfc_size_code(bytes) == code, "%#x", code);
		if (code)
			CHECK(bfc_size_code(bytes - 1) == code - 1, "%#x", code);
	}
}

static void test_error(void)
{
	u64 seed = 1, bytes, back;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		bytes = (seed >> 22) >> (1 + i % 41);
		back = bfc_size_bytes(bfc_size_code(bytes));
		CHECK(back <= bytes && (bytes - back) * 2048 < bytes + (bytes < 4096),
		      "%llu: %llu", (unsigned long long)bytes, (unsigned long long)back);
		if (bytes < 4096)
			CHECK(back == bytes);
	}
}

static void test_tcp(void)
{
	static const u8 bytes[] = { 253, 6, 0xbf, 0xc3, 0x12, 0x34 };
	u8 p[BFC_SIZE_TCP_LEN];

	bfc_size_put_tcp(p, 0x1234);
	CHECK(sizeof(bytes) == sizeof(p) && !memcmp(p, bytes, sizeof(p)));
}

static void test_tcp_among_others(void)
{
	static const struct {
		u8 len, options[40];
		u16 size;
	} cases[] = {
		{ 6, { 253, 6, 0xbf, 0xc3, 1, 2 }, 0x102 },
		/* timestamps, as Linux has them, it, and NOPs */
		{ 20, { 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 253, 6, 0xbf, 0xc3, 0xfe, 7, 1, 1 },
		  0xfe07 },
		/* INT before it */
		{ 20, { 253, 12, 0xbf, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0, 253, 6, 0xbf, 0xc3, 0, 9,
			1, 1 }, 9 },
		/* another experiment, another length, another kind */
		{ 8, { 253, 6, 0xbf, 0xc4, 0, 9, 1, 1 }, BFC_SIZE_NONE },
		{ 8, { 253, 8, 0xbf, 0xc3, 0, 9, 1, 1 }, BFC_SIZE_NONE },
		{ 8, { 254, 6, 0xbf, 0xc3, 0, 9, 1, 1 }, BFC_SIZE_NONE },
		/* behind the end of the list */
		{ 8, { 0, 2, 253, 6, 0xbf, 0xc3, 0, 9 }, BFC_SIZE_NONE },
		/* cut off */
		{ 5, { 253, 6, 0xbf, 0xc3, 1, 2 }, BFC_SIZE_NONE },
		{ 8, { 1, 1, 1, 253, 6, 0xbf, 0xc3, 1, 2 }, BFC_SIZE_NONE },
		/* lengths that lead nowhere, or beyond */
		{ 12, { 3, 0, 253, 6, 0xbf, 0xc3, 0, 9, 1, 1, 1, 1 }, BFC_SIZE_NONE },
		{ 12, { 3, 1, 253, 6, 0xbf, 0xc3, 0, 9, 1, 1, 1, 1 }, BFC_SIZE_NONE },
		{ 12, { 3, 255, 253, 6, 0xbf, 0xc3, 0, 9, 1, 1, 1, 1 }, BFC_SIZE_NONE },
		{ 0, { 253, 6, 0xbf, 0xc3, 1, 2 }, BFC_SIZE_NONE },
	};
	unsigned int i;

	for (i = 0; i < UNIT_SIZE(cases); i++)
		CHECK(bfc_size_get_tcp(cases[i].options, cases[i].len) == cases[i].size,
		      "case %u: %#x", i, bfc_size_get_tcp(cases[i].options, cases[i].len));
}

/* Whatever there is, nothing behind the options is read: ASan and the kernel's KASAN see it. */
static void test_tcp_bounds(void)
{
	u64 seed = 7;
	unsigned int i, n;

	for (i = 0; i < ROUNDS / 10; i++) {
		u8 options[BFC_SIZE_TCP_OPTIONS];
		unsigned int len = i % (sizeof(options) + 1);

		for (n = 0; n < sizeof(options); n++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			options[n] = seed >> 61 ? seed >> 56 & 7 : 253;
		}
		CHECK(bfc_size_get_tcp(options + sizeof(options) - len, len) == BFC_SIZE_NONE);
	}
}

static void test_udp(void)
{
	static const u8 bytes[] = { 0xbf, 0xc3, 0x53, 0x46, 0xab, 0xcd, 0, 0 };
	u8 p[BFC_SIZE_UDP_LEN];
	unsigned int i;

	bfc_size_put_udp(p, 0xabcd);
	CHECK(sizeof(bytes) == sizeof(p) && !memcmp(p, bytes, sizeof(p)));
	CHECK(bfc_size_get_udp(p) == 0xabcd);
	for (i = 0; i < sizeof(p); i++) {
		if (i == 4 || i == 5)
			continue;
		p[i] ^= 1;
		CHECK(bfc_size_get_udp(p) == BFC_SIZE_NONE, "byte %u", i);
		p[i] ^= 1;
	}
}

static const struct unit_case cases[] = {
	{ "sizes have the codes worked out by hand", test_known },
	{ "codes and the least sizes that have them are one to one", test_all_codes },
	{ "a size is rounded down by less than 1/2048", test_error },
	{ "TCP option, byte by byte", test_tcp },
	{ "the option is found among others, and nothing else is", test_tcp_among_others },
	{ "options of any kind are read within their bounds", test_tcp_bounds },
	{ "UDP, byte by byte", test_udp },
};

#include "unit_main.h"
