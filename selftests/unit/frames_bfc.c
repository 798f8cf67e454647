// SPDX-License-Identifier: GPL-2.0
/*
 * Control frames, and records of INT, for frames_bfc.py, which gives them to tshark. A
 * command a line on standard input, bytes as hexadecimal digits a line:
 *
 *   hello EPOCH SEQ ROLE FLAGS CLASSES QUEUES INCAST MODES ID NONCE ECHO SENT ECHO_NS HELD
 *   pause EPOCH SEQ HOLD QUEUES PRIO_NS x 8 DRAINED LIMIT PAUSED...
 *   roots FIRST NUMBER ROOT... EPOCH...	as pause, with so many ids of roots
 *   head NHOP PATH
 *   hop SPEED TS TX QLEN
 *   tcp SPEED TS TX QLEN ID		a record in TCP, with the id of a port
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bfc_int.h>
#include "bfc_wire.h"

#define NUMBERS	1100	/* of a line */
#define FRAME_MAX	1200

static u8 out[FRAME_MAX];

/* As bfc_frame_alloc() does. */
static void ether(void)
{
	struct ethhdr *eth = (struct ethhdr *)out;
	static const u8 group[] = BFC_GROUP_ADDR, source[] = { 2, 0x11, 0x22, 0x33, 0x44, 0x55 };

	memcpy(eth->h_dest, group, sizeof(group));
	memcpy(eth->h_source, source, sizeof(source));
	eth->h_proto = cpu_to_be16(BFC_ETHERTYPE);
}

static unsigned int hello(const unsigned long long *n)
{
	struct bfc_hello h = {
		.role = n[2], .flags = n[3], .classes = n[4], .queues = n[5],
		.incast_queue = n[6], .modes = n[7], .id = n[8], .nonce = n[9],
		.echo = n[10], .sent_ns = n[11], .echo_ns = n[12], .held_ns = n[13],
	};

	ether();
	bfc_put_hello(out, n[0], n[1], &h);
	return BFC_HELLO_LEN;
}

static unsigned int pause(const unsigned long long *n, unsigned int count)
{
	struct bfc_pause p = {
		.hold_ns = n[2], .queues = n[3], .drained = n[12], .limit = n[13],
	};
	unsigned int i;

	for (i = 0; i < BFC_PRIORITIES; i++)
		p.prio_ns[i] = n[4 + i];
	ether();
	bfc_put_pause(out, n[0], n[1], &p);
	for (i = 14; i < count; i++)
		bfc_pause_set(out, n[i]);
	return bfc_pause_len(p.queues);
}

static unsigned int roots(const unsigned long long *n, unsigned int count)
{
	unsigned int skip = 2 + n[1], i;

	if (count < skip + 14 || !pause(n + skip, count - skip))
		return 0;
	for (i = 0; i < n[1]; i++)
		bfc_put_root(out, n[skip + 3], i, n[2 + i]);
	return bfc_put_roots(out, n[skip + 3], n[0], n[1]);
}

static unsigned int hop(const unsigned long long *n, bool in_tcp)
{
	struct bfc_int_hop h = { .speed = n[0], .ts = n[1], .tx = n[2], .qlen = n[3] };
	unsigned long long bits;
	unsigned int i;

	bfc_int_put_hop(out, &h);
	if (!in_tcp)
		return BFC_INT_HOP_LEN;
	bits = bfc_int_tcp_hop_bits(&h, n[4]);
	for (i = 0; i < BFC_INT_HOP_LEN; i++)
		out[i] = bits >> (56 - 8 * i);
	return BFC_INT_HOP_LEN;
}

static unsigned int head(const unsigned long long *n)
{
	struct bfc_int_head h = { .nhop = n[0], .path = n[1] };

	bfc_int_put_head(out, &h);
	return BFC_INT_HEAD_LEN;
}

static unsigned int make(const char *command, const unsigned long long *n, unsigned int count)
{
	if (!strcmp(command, "hello") && count == 14)
		return hello(n);
	if (!strcmp(command, "pause") && count >= 14 && n[3] <= 4094)
		return pause(n, count);
	if (!strcmp(command, "roots") && count >= 16 && n[1] <= BFC_ROOTS_MAX)
		return roots(n, count);
	if (!strcmp(command, "head") && count == 2)
		return head(n);
	if (!strcmp(command, "hop") && count == 4)
		return hop(n, false);
	if (!strcmp(command, "tcp") && count == 5)
		return hop(n, true);
	return 0;
}

int main(void)
{
	static char line[16 * NUMBERS];
	static unsigned long long n[NUMBERS];

	while (fgets(line, sizeof(line), stdin)) {
		char *words = line, *command, *word;
		unsigned int count = 0, len, i;

		line[strcspn(line, "\n")] = '\0';
		command = strsep(&words, " ");
		while (count < NUMBERS && (word = strsep(&words, " ")))
			if (*word)
				n[count++] = strtoull(word, NULL, 0);
		memset(out, 0, sizeof(out));
		len = make(command, n, count);
		if (!len)
			puts("usage");
		for (i = 0; i < len; i++)
			printf("%02x%s", out[i], i + 1 < len ? "" : "\n");
	}
	return 0;
}
