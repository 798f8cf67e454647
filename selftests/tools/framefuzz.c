// SPDX-License-Identifier: GPL-2.0
/*
 * framefuzz - frames that a neighbour of a bfc port might send, some of them right.
 *
 *   framefuzz DEV FRAMES SEED [MAC]...
 *
 * Speaks for DEV in this namespace: HELLOs that echo what the port says there, PAUSEs of its
 * epoch and sequence, BYEs, PFC and PAUSE of IEEE, and data for the hosts of these addresses
 * with tags, extension headers, fragments and telemetry. Fields have values at and beyond their
 * limits; frames are cut, made longer, spliced; bits are wrong. Prints how many of which kind
 * were sent, and how many HELLOs of the port came meanwhile.
 */
#include <arpa/inet.h>
#include <linux/bfc_int.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sch_bfc.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "tool.h"

#define FRAME_MAX	1514
#define MACS_MAX	16
#define BATCH		32
#define HELLO_LEN	84
#define PAUSE_LEN	86
#define OUR_EPOCH	0x4711
#define LOOK_OFTEN	4	/* batches between looks at what the port says */
#define REST_OFTEN	16	/* batches between rests, in which pauses end and timers run */
#define REST_US		2000	/* at most */

enum kind { HELLO, BYE, PAUSE, PFC, MAC, DATA, CONTROL, NOISE, KINDS };

static const char * const kind_names[KINDS] = {
	"hello", "bye", "pause", "pfc", "mac", "data", "control", "noise",
};

static uint8_t frame[2 * FRAME_MAX], before[FRAME_MAX];
static unsigned int len, before_len;
static uint8_t mac[ETH_ALEN], macs[MACS_MAX][ETH_ALEN];
static unsigned int nmacs;
static uint64_t sent[KINDS], heard;
static uint32_t seq, nonce = 0x815, port_nonce, epoch = OUR_EPOCH;
static uint16_t port_queues = 32, our_queues = 32;
static uint64_t port_sent, port_heard;

/* ---- building ---- */

static void put(uint64_t v, unsigned int bytes)
{
	while (bytes--)
		frame[len++] = v >> 8 * bytes;
}

static void put_bytes(const void *p, unsigned int n)
{
	memcpy(frame + len, p, n);
	len += n;
}

static void put_noise(unsigned int n)
{
	while (n--)
		frame[len++] = rnd();
}

/* @v, or now and then one at a limit or anything */
static uint64_t odd(uint64_t v, unsigned int rarely)
{
	static const uint64_t limits[] = {
		0, 1, 2, 7, 8, 31, 32, 33, 127, 128, 255, 256, 1023, 1024, 1025, 4093, 4094, 4095,
		4096, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		4000000000, 4000000001, 0x7fffffffffffffff, 0x8000000000000000, ~0ULL,
	};

	if (!one_in(rarely))
		return v;
	switch (below(4)) {
	case 0:
		return v + 1;
	case 1:
		return v - 1;
	case 2:
		return rnd();
	default:
		return limits[below(COUNT_OF(limits))];
	}
}

static void begin(const char *dst, unsigned int type)
{
	len = 0;
	put_bytes(dst, ETH_ALEN);
	put_bytes(mac, ETH_ALEN);
	put(type, 2);
}

static void begin_control(unsigned int type, unsigned int length, unsigned int rarely)
{
	begin("\x01\x80\xc2\x00\x00\x0e", BFC_ETHERTYPE);
	put(BFC_MAGIC, 4);
	put(odd(BFC_VERSION, rarely), 1);
	put(odd(type, rarely), 1);
	put(odd(length, rarely), 2);
	put(odd(epoch, rarely), 4);
	put(odd(++seq, rarely), 4);
}

static void hello(bool bye)
{
	unsigned int rarely = one_in(2) ? 1000 : 12;
	uint64_t now = now_ns();

	if (!bye && one_in(50))		/* starts over */
		epoch = rnd();
	if (!bye && one_in(50))
		nonce = rnd() | 1;
	if (!bye && one_in(20))
		our_queues = one_in(4) ? 1024 : 1 + below(256);
	begin_control(BFC_FRAME_HELLO, HELLO_LEN, rarely);
	put(odd(BFC_ROLE_SWITCH, rarely / 2), 1);
	put(odd(bye, rarely), 1);
	put(odd(our_queues, rarely), 2);
	put(odd(1, rarely), 1);
	put(odd(0, rarely), 1);
	put(odd(0xffff, rarely), 2);
	put(odd(0, rarely), 2);
	put(odd(0xabcdef, 4 * rarely), 8);
	put(odd(nonce, rarely), 4);
	put(odd(port_nonce, rarely), 4);
	put(odd(one_in(2) ? 1 : 3, rarely), 4);
	put(odd(now, rarely), 8);
	put(odd(port_sent, rarely), 8);
	put(odd(now - port_heard, rarely), 8);
}

static void pause_frame(void)
{
	unsigned int rarely = one_in(2) ? 1000 : 12, queues = port_queues, i, bytes, roots = 0;
	bool prios = one_in(4);

	if (one_in(8))
		queues = one_in(2) ? 0 : below(queues + 1);
	bytes = (queues + 7) / 8;
	if (one_in(3))
		roots = below(one_in(8) ? 200 : 9);
	begin_control(BFC_FRAME_PAUSE, PAUSE_LEN + bytes + (roots ? 4 + 4 * roots : 0), rarely);
	put(odd(one_in(2) ? 1000000 : below(200000000), rarely), 4);
	put(odd(queues, rarely), 2);
	put(odd(!!roots, rarely), 2);
	for (i = 0; i < 8; i++)
		put(odd(prios ? below(1000000) : 0, rarely), 4);
	put(odd(seq * 1000ULL, rarely), 8);
	put(odd(0, rarely), 8);
	for (i = 0; i < bytes; i++)
		put(one_in(4) ? rnd() : 0, 1);
	if (!roots)
		return;
	put(odd(below(queues + 1), rarely), 2);
	put(odd(roots, rarely), 2);
	while (roots--)
		put(one_in(2) ? below(4) : rnd(), 4);
}

static void mac_frame(bool pfc)
{
	unsigned int i;

	begin("\x01\x80\xc2\x00\x00\x01", 0x8808);
	put(odd(pfc ? 0x0101 : 1, 12), 2);
	put(odd(below(256), 12), 2);
	for (i = 0; i < 8; i++)
		put(one_in(2) ? 0 : one_in(2) ? 0xffff : below(4000), 2);
	put(0, 8);
	put(0, 8);
	put(0, 8);
	put(0, 2);
}

static void tags(void)
{
	static const uint16_t types[] = { 0x88a8, 0x8100, 0x9100, 0x88a8 };
	unsigned int n = one_in(8) ? below(12) : below(4);

	while (n--) {
		put(types[below(4)], 2);
		put(odd(1 + below(our_queues), 6), 2);
	}
}

/* Telemetry in options of TCP: right lengths and others */
static void tcp_options(unsigned int room)
{
	static const uint8_t lengths[] = { 4, 12, 20, 28, 36, 0, 1, 2, 3, 5, 40, 255 };
	uint8_t at[64];
	unsigned int n = 0, l;

	memset(at, one_in(8) ? 0 : 1, sizeof(at));
	while (n + 2 <= room) {
		l = one_in(3) ? lengths[below(sizeof(lengths))] : lengths[below(5)];
		if (one_in(4)) {
			n += below(3);
			continue;
		}
		at[n] = one_in(2) ? BFC_INT_TCP_RECORD : one_in(2) ? BFC_INT_TCP_ECHO : 8;
		at[n + 1] = l;
		at[n + 2] = BFC_INT_TCP_EXID >> 8;
		at[n + 3] = one_in(4) ? BFC_INT_TCP_EXID_MORE : BFC_INT_TCP_EXID;
		n += l ? l : 1;
		if (n > sizeof(at) - 8)
			break;
	}
	put_bytes(at, room);
}

static void udp_telemetry(void)
{
	static const uint16_t ports[] = { BFC_INT_UDP_PORT, BFC_INT_ROCE_PORT, 9 };
	unsigned int size = below(one_in(8) ? 1300 : 120);

	put(rnd(), 2);
	put(ports[below(3)], 2);
	put(odd(8 + size, 8), 2);
	put(one_in(2) ? 0 : rnd(), 2);
	if (size >= 2) {
		put(odd(below(6) << 12 | below(4096), 8), 2);
		size -= 2;
	}
	put_noise(size);
}

static void transport(bool tcp)
{
	unsigned int words = 5 + below(11);

	if (!tcp) {
		udp_telemetry();
		return;
	}
	put(rnd(), 4);			/* ports */
	put(rnd(), 8);
	put(odd(words, 12) << 4, 1);
	put(one_in(4) ? rnd() : 0x10, 1);
	put(rnd(), 6);
	tcp_options(4 * words - 20);
	put_noise(below(100));
}

static void ip_header(bool tcp)
{
	unsigned int words = one_in(8) ? 5 + below(11) : 5, at = len, sum = 0, i;

	put(odd(0x40 | words, 16), 1);
	put(rnd(), 1);
	put(0, 2);
	put(rnd(), 2);
	put(one_in(8) ? rnd() : 0x4000, 2);
	put(one_in(8) ? below(3) : 64, 1);
	put(odd(tcp ? 6 : 17, 16), 1);
	put(0, 2);
	put(0x0a000000 | below(256), 4);
	put(0x0a000000 | below(4), 4);
	put_noise(4 * words - 20);
	transport(tcp);
	i = odd(len - at, 16);
	frame[at + 2] = i >> 8;
	frame[at + 3] = i;
	for (i = at; i < at + 4 * words; i += 2)
		sum += frame[i] << 8 | frame[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	frame[at + 10] = ~sum >> 8;
	frame[at + 11] = ~sum;
}

static void ip6_header(bool tcp)
{
	static const uint8_t more[] = { 0, 43, 44, 60, 58, 51 };
	unsigned int at = len, n = one_in(3) ? below(6) : 0, i;
	uint8_t last = odd(tcp ? 6 : 17, 16);

	put(6 << 28 | (rnd() & 0xfffffff), 4);
	put(0, 2);
	put(n ? more[below(6)] : last, 1);
	put(64, 1);
	put_bytes("\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	put_bytes("\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2", 16);
	while (n--) {
		put(n ? more[below(6)] : last, 1);
		put(odd(0, 4), 1);
		put(rnd(), 6);
	}
	transport(tcp);
	i = odd(len - at - 40, 16);
	frame[at + 4] = i >> 8;
	frame[at + 5] = i;
}

static void data(void)
{
	bool tcp = one_in(2);

	begin((const char *)(nmacs ? macs[below(nmacs)] : mac), 0);
	len -= 2;
	tags();
	if (one_in(3)) {
		put(odd(ETH_P_IPV6, 32), 2);
		ip6_header(tcp);
	} else {
		put(odd(ETH_P_IP, 32), 2);
		ip_header(tcp);
	}
}

/* ARP, neighbour discovery, LLDP and others that go first */
static void control(void)
{
	static const uint16_t types[] = { ETH_P_ARP, ETH_P_IPV6, 0x88cc, 0x8809, 0x0027, 0x88f7 };
	unsigned int type = types[below(6)];

	begin(one_in(2) ? "\x01\x80\xc2\x00\x00\x0e" :
	      nmacs ? (const char *)macs[below(nmacs)] : "\xff\xff\xff\xff\xff\xff", 0);
	len -= 2;
	if (one_in(4))
		tags();
	put(type, 2);
	if (type == ETH_P_IPV6) {
		put(0x60000000, 4);
		put(odd(32, 4), 2);
		put(58, 1);
		put(odd(255, 4), 1);
		put_noise(32);
		put(133 + below(6), 1);
	}
	put_noise(below(100));
}

static void noise(void)
{
	begin(one_in(2) ? "\x01\x80\xc2\x00\x00\x0e" : (const char *)mac, BFC_ETHERTYPE);
	put(BFC_MAGIC, 4);
	put_noise(below(one_in(8) ? 1400 : 100));
}

/* Whatever it is: other bits, another length, the end of the frame before */
static void mutate(void)
{
	unsigned int n, at;

	if (one_in(4))
		for (n = 1 + below(4); n; n--)
			frame[below(len)] ^= 1 << below(8);
	if (one_in(16))
		len = ETH_HLEN + below(len - ETH_HLEN + 1);
	if (one_in(16))
		put_noise(below(300));
	if (one_in(16) && before_len > ETH_HLEN) {
		at = ETH_HLEN + below(before_len - ETH_HLEN);
		n = below(before_len - at + 1);
		memcpy(frame + below(len), before + at, n);
	}
	if (len > FRAME_MAX)
		len = FRAME_MAX;
	if (len < ETH_HLEN)
		len = ETH_HLEN;
	memcpy(before, frame, len);
	before_len = len;
}

static void make(void)
{
	static const enum kind often[] = {
		HELLO, HELLO, BYE, PAUSE, PAUSE, PAUSE, PAUSE, PFC, PFC, MAC,
		DATA, DATA, DATA, DATA, DATA, CONTROL, NOISE,
	};
	enum kind kind = often[below(COUNT_OF(often))];

	if (kind == BYE && !one_in(16))
		kind = PAUSE;
	switch (kind) {
	case HELLO:
	case BYE:
		hello(kind == BYE);
		break;
	case PAUSE:
		pause_frame();
		break;
	case PFC:
	case MAC:
		mac_frame(kind == PFC);
		break;
	case DATA:
		data();
		break;
	case CONTROL:
		control();
		break;
	default:
		noise();
	}
	sent[kind]++;
	if (one_in(2))
		mutate();
}

/* ---- the link ---- */

static uint64_t get(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

/* What the port says of itself: its nonce and queues */
static void listen_to(int sock)
{
	struct sockaddr_ll from;
	uint8_t f[FRAME_MAX];
	socklen_t size;
	ssize_t n;

	for (;;) {
		size = sizeof(from);
		n = recvfrom(sock, f, sizeof(f), MSG_DONTWAIT, (struct sockaddr *)&from, &size);
		if (n < 0)
			return;
		if (from.sll_pkttype == PACKET_OUTGOING || n < HELLO_LEN ||
		    get(f + 12, 2) != BFC_ETHERTYPE || f[19] != BFC_FRAME_HELLO)
			continue;
		heard++;
		port_queues = get(f + 32, 2);
		port_nonce = get(f + 48, 4);
		port_sent = get(f + 60, 8);
		port_heard = now_ns();
	}
}

static int open_link(const char *dev)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int sock = socket(AF_PACKET, SOCK_RAW, 0);
	struct ifreq ifr = {};

	if (sock < 0)
		die("framefuzz: socket");
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(sock, SIOCGIFHWADDR, &ifr))
		die(dev);
	memcpy(mac, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	to.sll_ifindex = if_nametoindex(dev);
	if (bind(sock, (struct sockaddr *)&to, sizeof(to)))
		die("framefuzz: bind");
	return sock;
}

int main(int argc, char **argv)
{
	static uint8_t room[BATCH][FRAME_MAX];
	struct mmsghdr batch[BATCH] = {};
	struct iovec iov[BATCH];
	uint64_t frames, n = 0, batches = 0, start = now_ns();
	unsigned int i;
	int sock, done;

	if (argc < 4 || argc > 4 + MACS_MAX) {
		fprintf(stderr, "usage: framefuzz DEV FRAMES SEED [MAC]...\n");
		return 2;
	}
	frames = number(argv[2], "FRAMES", 1, 1e12);
	seed = number(argv[3], "SEED", 0, 1e15);
	for (i = 4; i < (unsigned int)argc; i++) {
		uint8_t *m = macs[nmacs++];

		if (sscanf(argv[i], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", m, m + 1, m + 2, m + 3, m + 4,
			   m + 5) != 6) {
			fprintf(stderr, "framefuzz: %s: no address\n", argv[i]);
			return 2;
		}
	}
	sock = open_link(argv[1]);
	for (i = 0; i < BATCH; i++) {
		iov[i].iov_base = room[i];
		batch[i].msg_hdr.msg_iov = &iov[i];
		batch[i].msg_hdr.msg_iovlen = 1;
	}
	while (n < frames) {
		if (!(batches % LOOK_OFTEN))
			listen_to(sock);
		if (!(batches++ % REST_OFTEN))
			usleep(below(REST_US));
		for (i = 0; i < BATCH; i++) {
			make();
			memcpy(room[i], frame, len);
			iov[i].iov_len = len;
		}
		for (i = 0; i < BATCH; i += done) {
			done = sendmmsg(sock, batch + i, BATCH - i, 0);
			if (done > 0)
				continue;
			/* The link is down or full, or a frame is longer than its MTU. */
			if (errno != ENOBUFS && errno != ENETDOWN && errno != EMSGSIZE &&
			    errno != EAGAIN && errno != EINVAL && errno != ENXIO)
				die("framefuzz: send");
			if (errno == EMSGSIZE || errno == EINVAL) {
				done = 1;
				continue;
			}
			done = 0;
			usleep(100);
		}
		n += BATCH;
	}
	listen_to(sock);
	printf("{\"sent\": %ju, \"heard\": %ju, \"seconds\": %.3f", n, heard,
	       (now_ns() - start) / 1e9);
	for (i = 0; i < KINDS; i++)
		printf(", \"%s\": %ju", kind_names[i], sent[i]);
	printf("}\n");
	return 0;
}
