// SPDX-License-Identifier: GPL-2.0
/*
 * nlfuzz - netlink messages about bfc qdiscs, some of them right.
 *
 *   nlfuzz MESSAGES SEED DEV TWIN [DEV]...
 *
 * Requests that make, change, replace, delete and show qdiscs and their classes on these
 * devices, of this namespace: options of the right width inside and outside of their ranges,
 * of wrong widths, twice, unknown, nested in each other, cut; other qdiscs, and links that
 * go down and up. What the first device shows of its options is given to TWIN now and
 * then, which then has to show the same: a difference ends the program. So does a request
 * that is not answered. A rest of 20 us after each 16 messages lets time pass, and traffic.
 *
 * Prints how many were sent, taken, and refused for which reason.
 */
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sch_bfc.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "tool.h"

#define DEVICES_MAX	16
#define ROOM		8192
#define ERRNOS		256
#define FLOWS_OFTEN	(1 << 16)	/* more entries than that in a flow table are rare */
#define READ_OFTEN	64		/* messages between a dump of everything */

enum kind { NUMBER, BINARY, STRING, NEST, READ_ONLY };

struct option {
	int attr;
	enum kind kind;
	unsigned int len;	/* bytes */
	uint64_t lo, hi;
	bool zero;		/* 0 is allowed, too */
};

/* Generated from spec/bfc.yaml: options */
static const struct option options[] = {
	{ TCA_BFC_FC, NUMBER, 1, 0, __BFC_FC_MAX - 1, false },
	{ TCA_BFC_ROLE, NUMBER, 1, 0, __BFC_ROLE_MAX - 1, false },
	{ TCA_BFC_PEER, NUMBER, 1, 0, __BFC_PEER_MAX - 1, false },
	{ TCA_BFC_QUEUES, NUMBER, 4, BFC_QUEUES_MIN, BFC_QUEUES_MAX, false },
	{ TCA_BFC_FLOWS, NUMBER, 4, BFC_FLOWS_MIN, BFC_FLOWS_MAX, true },
	{ TCA_BFC_ASSIGN, NUMBER, 1, 0, __BFC_ASSIGN_MAX - 1, false },
	{ TCA_BFC_AVOID_PAUSED, NUMBER, 1, 0, 1, false },
	{ TCA_BFC_STICKY, NUMBER, 8, 0, BFC_STICKY_MAX, false },
	{ TCA_BFC_HRTT, NUMBER, 8, BFC_HRTT_MIN, BFC_HRTT_MAX, true },
	{ TCA_BFC_THRESHOLD, NUMBER, 4, 1, BFC_THRESHOLD_MAX, true },
	{ TCA_BFC_RESUME, NUMBER, 1, 0, __BFC_RESUME_MAX - 1, false },
	{ TCA_BFC_RATE, NUMBER, 8, BFC_RATE_MIN, BFC_RATE_MAX, true },
	{ TCA_BFC_LIMIT, NUMBER, 4, BFC_LIMIT_MIN, BFC_LIMIT_MAX, false },
	{ TCA_BFC_QUANTUM, NUMBER, 4, BFC_QUANTUM_MIN, BFC_QUANTUM_MAX, true },
	{ TCA_BFC_REFRESH, NUMBER, 8, BFC_REFRESH_MIN, BFC_REFRESH_MAX, true },
	{ TCA_BFC_HOLD, NUMBER, 8, BFC_HOLD_MIN, BFC_HOLD_MAX, true },
	{ TCA_BFC_SPLIT_GSO, NUMBER, 1, 0, __BFC_SPLIT_GSO_MAX - 1, false },
	{ TCA_BFC_TPID, NUMBER, 2, 0, 0, false },
	{ TCA_BFC_ACCEPT_PAUSE, NUMBER, 1, 0, 1, false },
	{ TCA_BFC_ELIDE, NEST, 0, 0, 0, false },
	{ TCA_BFC_WAYS, NUMBER, 4, 1, BFC_WAYS_MAX, false },
	{ TCA_BFC_NEW_FIRST, NUMBER, 1, 0, 1, false },
	{ TCA_BFC_PRIO, NUMBER, 1, 0, __BFC_PRIO_MAX - 1, false },
	{ TCA_BFC_PRIO_MAP, BINARY, BFC_PRIO_VALUES, 0, 0, false },
	{ TCA_BFC_LOSSLESS, NUMBER, 1, 0, 0xff, false },
	{ TCA_BFC_XOFF, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_XON, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_MAX_BYTES, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_DYNAMIC, NUMBER, 4, 1, BFC_PPM_MAX, true },
	{ TCA_BFC_EGRESS_XOFF, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_EGRESS_XON, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_EGRESS_MAX, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_WARN, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_CUT, NUMBER, 1, 1, 100, false },
	{ TCA_BFC_T_HOP, NUMBER, 8, BFC_T_HOP_MIN, BFC_T_HOP_MAX, true },
	{ TCA_BFC_ALPHA, NUMBER, 4, BFC_PERMILLE_MIN, BFC_PERMILLE_MAX, false },
	{ TCA_BFC_BETA, NUMBER, 4, BFC_PERMILLE_MIN, BFC_PERMILLE_MAX, false },
	{ TCA_BFC_FDEC, NUMBER, 4, BFC_PERMILLE_MIN, BFC_PERMILLE_MAX, false },
	{ TCA_BFC_CONGESTED, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_ECN, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_WATCHDOG, NUMBER, 8, BFC_WATCHDOG_MIN, BFC_WATCHDOG_MAX, true },
	{ TCA_BFC_BUFFER, STRING, BFC_BUFFER_NAMSIZ - 1, 0, 0, false },
	{ TCA_BFC_BUFFER_SIZE, NUMBER, 4, BFC_LIMIT_MIN, BFC_BYTES_MAX, true },
	{ TCA_BFC_RESERVE, NUMBER, 4, 0, BFC_BYTES_MAX, false },
	{ TCA_BFC_HEADROOM, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_SHARE, NUMBER, 4, 1, BFC_PPM_MAX, true },
	{ TCA_BFC_STRICT, NUMBER, 1, 0, 0xff, false },
	{ TCA_BFC_STAMP, NUMBER, 1, 0, __BFC_STAMP_MAX - 1, false },
	{ TCA_BFC_STAMP_FD, NUMBER, 4, 0, 0, false },
	{ TCA_BFC_STAMP_ID, READ_ONLY, 0, 0, 0, false },
	{ TCA_BFC_STAMP_TAG, READ_ONLY, 0, 0, 0, false },
	{ TCA_BFC_STAMP_NAME, READ_ONLY, 0, 0, 0, false },
	{ TCA_BFC_DST_PREFIX, NUMBER, 4, 0, BFC_DST_PREFIX_MAX, false },
	{ TCA_BFC_DST_PREFIX6, NUMBER, 4, 0, BFC_DST_PREFIX6_MAX, false },
	{ TCA_BFC_TXQS, NUMBER, 1, 0, __BFC_TXQS_MAX - 1, false },
	{ TCA_BFC_SYNC, NUMBER, 8, BFC_SYNC_MIN, BFC_SYNC_MAX, false },
	{ TCA_BFC_HRTT_MAX, NUMBER, 8, BFC_HRTT_MIN, BFC_HRTT_MAX, true },
	{ TCA_BFC_SAMPLE, NUMBER, 1, 1, BFC_SAMPLE_ALL, false },
	{ TCA_BFC_INCAST, NUMBER, 8, 1, BFC_INCAST_MAX, true },
	{ TCA_BFC_CLASSES, NUMBER, 4, 1, 8, false },
	{ TCA_BFC_CLASS_QUEUES, BINARY, BFC_LIST_LEN, 0, 0, false },
	{ TCA_BFC_WEIGHTS, BINARY, BFC_LIST_LEN, 0, 0, false },
	{ TCA_BFC_KEEP_CLASS, NUMBER, 1, 0, 1, false },
	{ TCA_BFC_SCHED, NUMBER, 1, 0, __BFC_SCHED_MAX - 1, false },
	{ TCA_BFC_KMAX, NUMBER, 4, 1, BFC_BYTES_MAX, true },
	{ TCA_BFC_PMAX, NUMBER, 4, 1, BFC_PPM_ONE, false },
};

/* End of options */

#define OPTIONS		COUNT_OF(options)

static struct {
	char room[ROOM];
	unsigned int len;
} msg;

static char answer[1 << 16];
static int sock, devices[DEVICES_MAX], ndevices;
static unsigned int seq;
static uint64_t taken, refused[ERRNOS], twins;

/* ---- messages ---- */

static void *grow(unsigned int len)
{
	void *p = msg.room + msg.len;

	if (msg.len + NLMSG_ALIGN(len) > sizeof(msg.room)) {
		fprintf(stderr, "nlfuzz: message too long\n");
		exit(1);
	}
	memset(p, 0, NLMSG_ALIGN(len));
	msg.len += NLMSG_ALIGN(len);
	return p;
}

static void *put(unsigned int type, const void *data, unsigned int len)
{
	struct rtattr *a = grow(RTA_LENGTH(len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (data)
		memcpy(RTA_DATA(a), data, len);
	return a;
}

static void end_nest(struct rtattr *nest)
{
	nest->rta_len = msg.room + msg.len - (char *)nest;
}

static void begin(int type, int flags)
{
	struct nlmsghdr *h;

	msg.len = 0;
	h = grow(sizeof(*h));
	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
}

static void rest(void)
{
	usleep(20);
}

/* Why the kernel has refused the last message, in its words. */
static char why[256];

static void note_why(const struct nlmsghdr *h)
{
	const struct rtattr *a;
	int len;

	why[0] = 0;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	/* NETLINK_CAP_ACK: of the refused message there is the header only. */
	len = h->nlmsg_len - NLMSG_LENGTH(sizeof(struct nlmsgerr));
	for (a = (const struct rtattr *)((char *)NLMSG_DATA(h) + sizeof(struct nlmsgerr));
	     RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == NLMSGERR_ATTR_MSG)
			snprintf(why, sizeof(why), "%.*s", (int)RTA_PAYLOAD(a),
				 (const char *)RTA_DATA(a));
}

/* Each message of the answer goes to @each. Return: 0 or the errno. */
static int ask(void (*each)(const struct nlmsghdr *h))
{
	struct nlmsghdr *h = (struct nlmsghdr *)msg.room;
	bool dump = (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	ssize_t n;
	int len;

	if (!dump)
		h->nlmsg_flags |= NLM_F_ACK;
	h->nlmsg_len = msg.len;
	h->nlmsg_seq = ++seq;
	if (send(sock, msg.room, msg.len, 0) < 0)
		die("nlfuzz: send");
	for (;;) {
		n = recv(sock, answer, sizeof(answer), 0);
		if (n < 0)
			die("nlfuzz: no answer");
		len = n;
		for (h = (struct nlmsghdr *)answer; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_seq != seq)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR) {
				note_why(h);
				return -((struct nlmsgerr *)NLMSG_DATA(h))->error;
			}
			if (h->nlmsg_type == NLMSG_DONE)
				return 0;
			if (each)
				each(h);
		}
	}
}

/* ---- options ---- */

static uint64_t number_in(const struct option *o)
{
	uint64_t span = o->hi - o->lo, v;

	if (o->zero && one_in(4))
		return 0;
	switch (below(6)) {
	case 0:
		return o->lo;
	case 1:
		if (o->attr != TCA_BFC_FLOWS || one_in(32))
			return o->hi;
		/* fall through */
	default:
		/* of all magnitudes alike */
		v = o->lo + (span ? (rnd() >> below(64)) % (span + 1) : 0);
		if (o->attr == TCA_BFC_FLOWS && v > FLOWS_OFTEN && !one_in(32))
			v = FLOWS_OFTEN;
		return v;
	}
}

static uint64_t number_out(const struct option *o)
{
	switch (below(4)) {
	case 0:
		return o->lo - 1;
	case 1:
		return o->hi + 1;
	case 2:
		return ~0ULL;
	default:
		return rnd();
	}
}

static void put_number(const struct option *o, bool right)
{
	uint64_t v = right ? number_in(o) : number_out(o);

	if (o->attr == TCA_BFC_TPID && right)
		v = one_in(2) ? 0x8100 : 0x88a8;
	if (o->attr == TCA_BFC_STAMP_FD && right)
		v = below(8);
	if (o->attr == TCA_BFC_STAMP && right && !one_in(8))
		v = BFC_STAMP_NATIVE;
	put(o->attr, &v, o->len);	/* little-endian, as all that simulators run on */
}

static void put_elide(bool right)
{
	struct rtattr *nest = put(TCA_BFC_ELIDE | (one_in(2) ? NLA_F_NESTED : 0), NULL, 0);
	unsigned int n = one_in(16) ? 70 : below(4), i;
	uint32_t index;

	for (i = 0; i < n; i++) {
		index = right ? (uint32_t)devices[below(ndevices)] : (uint32_t)rnd();
		put(right ? TCA_BFC_ELIDE_IFINDEX : (int)below(4), &index,
		    right || one_in(2) ? sizeof(index) : below(12));
	}
	end_nest(nest);
}

static void put_map(unsigned int len, bool right)
{
	unsigned char *map = RTA_DATA(put(TCA_BFC_PRIO_MAP, NULL, right ? len : below(2 * len)));
	unsigned int i;

	if (!right)
		return;
	for (i = 0; i < len; i++)
		map[i] = one_in(2) ? BFC_PRIO_AUTO : below(one_in(100) ? 256 : 8);
}

static void put_name(unsigned int len, bool right)
{
	static const char * const names[] = { "", "b", "c", "buffer" };
	char name[64];
	unsigned int i;

	if (right) {
		const char *s = names[below(4)];

		put(TCA_BFC_BUFFER, s, strlen(s) + 1);
		return;
	}
	for (i = 0; i < sizeof(name); i++)
		name[i] = rnd();
	put(TCA_BFC_BUFFER, name, below(len + 8));
}

static void put_option(const struct option *o, bool right)
{
	char noise[64];
	unsigned int i;

	switch (o->kind) {
	case NUMBER:
		put_number(o, right);
		return;
	case NEST:
		put_elide(right);
		return;
	case BINARY:
		put_map(o->len, right);
		return;
	case STRING:
		put_name(o->len, right);
		return;
	case READ_ONLY:
		if (right)
			return;
		for (i = 0; i < sizeof(noise); i++)
			noise[i] = rnd();
		put(o->attr, noise, below(sizeof(noise)));
	}
}

/* An attribute that is none */
static void put_noise(void)
{
	char noise[64];
	unsigned int i;

	for (i = 0; i < sizeof(noise); i++)
		noise[i] = one_in(2) ? 0 : rnd();
	put(one_in(2) ? below(TCA_BFC_MAX + 4) : below(65536), noise, below(sizeof(noise)));
}

static void put_options(void)
{
	bool wrong = one_in(4);
	struct rtattr *nest = put(TCA_OPTIONS | (one_in(2) ? NLA_F_NESTED : 0), NULL, 0);
	unsigned int n = one_in(16) ? below(OPTIONS) : below(5), first = msg.len;

	/* The mode decides which of the others are refused. */
	if (one_in(2))
		put_option(&options[0], true);
	while (n--) {
		const struct option *o = &options[below(OPTIONS)];

		if (wrong && one_in(4))
			put_noise();
		else
			put_option(o, !wrong || one_in(2));
	}
	if (wrong && one_in(8) && msg.len > first) {	/* cut, or longer than it is */
		((struct rtattr *)(msg.room + first))->rta_len = rnd();
	}
	end_nest(nest);
	if (wrong && one_in(16))
		nest->rta_len = rnd();
}

/* ---- requests ---- */

static struct tcmsg *put_tcm(void)
{
	static const uint32_t parents[] = { TC_H_ROOT, TC_H_INGRESS, 0, 0x10000, 0x10001,
					    0x10002, 0x20001, TC_H_CLSACT };
	struct tcmsg *t = grow(sizeof(*t));

	t->tcm_family = one_in(64) ? below(256) : AF_UNSPEC;
	t->tcm_ifindex = one_in(64) ? (int)rnd() : devices[below(ndevices)];
	t->tcm_parent = one_in(16) ? parents[below(8)] : TC_H_ROOT;
	t->tcm_handle = one_in(4) ? below(3) << 16 : 0;
	if (one_in(64))
		t->tcm_handle = rnd();
	return t;
}

static void put_kind(void)
{
	static const char * const kinds[] = { "pfifo", "mq", "noqueue", "pfifo_fast", "tbf" };
	const char *kind = one_in(12) ? kinds[below(5)] : "bfc";

	put(TCA_KIND, kind, strlen(kind) + 1);
}

static void new_qdisc(void)
{
	static const int how[] = {
		NLM_F_CREATE | NLM_F_REPLACE, NLM_F_CREATE | NLM_F_EXCL, NLM_F_CREATE,
		NLM_F_REPLACE, 0, 0, 0,
	};

	begin(RTM_NEWQDISC, how[below(7)]);
	put_tcm();
	if (!one_in(64))
		put_kind();
	if (!one_in(16))
		put_options();
	if (one_in(64)) {	/* size tables, estimators, blocks */
		put(below(TCA_MAX + 1), NULL, below(40));
	}
}

static void del_qdisc(void)
{
	begin(one_in(8) ? RTM_DELTCLASS : RTM_DELQDISC, 0);
	put_tcm()->tcm_handle = 0;
	if (one_in(2))
		put_kind();
}

static void show(void)
{
	static const int types[] = { RTM_GETQDISC, RTM_GETTCLASS, RTM_GETTFILTER };
	bool dump = !one_in(4);

	begin(types[below(3)], dump ? NLM_F_DUMP : 0);
	put_tcm();
}

static void new_class(void)
{
	begin(RTM_NEWTCLASS, NLM_F_CREATE);
	put_tcm()->tcm_handle = 0x10000 + below(40);
	put_kind();
	put_options();
}

static void change_link(void)
{
	struct ifinfomsg *i;
	uint32_t mtu = one_in(8) ? 68 + below(65000) : 576 + below(9000);

	begin(RTM_NEWLINK, 0);
	i = grow(sizeof(*i));
	i->ifi_index = devices[below(ndevices)];
	if (one_in(2)) {
		put(IFLA_MTU, &mtu, sizeof(mtu));
	} else {
		i->ifi_change = IFF_UP;
		i->ifi_flags = one_in(4) ? 0 : IFF_UP;
	}
}

/* ---- what is shown can be given back ---- */

static struct {
	char data[2][ROOM];
	unsigned int len[2];
	bool buffer;		/* of device 0: there is a shared one */
	uint64_t hrtt;		/* of device 0, ns; 0: auto */
} shown;
static int shown_of;

/* The options that a request may have; not size, which is of the buffer. */
static void take_options(const struct nlmsghdr *h)
{
	const struct tcmsg *t = NLMSG_DATA(h);
	const struct rtattr *a = (const struct rtattr *)(t + 1), *o;
	int len = h->nlmsg_len - NLMSG_LENGTH(sizeof(*t)), rest_len;
	char *data = shown.data[shown_of];
	bool is_bfc = false;

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == TCA_KIND)
			is_bfc = !strcmp(RTA_DATA(a), "bfc");
		if (!is_bfc || (a->rta_type & NLA_TYPE_MASK) != TCA_OPTIONS)
			continue;
		rest_len = RTA_PAYLOAD(a);
		for (o = RTA_DATA(a); RTA_OK(o, rest_len); o = RTA_NEXT(o, rest_len)) {
			int type = o->rta_type & NLA_TYPE_MASK;

			if (type == TCA_BFC_PAD || type == TCA_BFC_STAMP ||
			    type == TCA_BFC_STAMP_ID || type == TCA_BFC_STAMP_TAG ||
			    type == TCA_BFC_STAMP_NAME || type == TCA_BFC_BUFFER_SIZE)
				continue;
			if (shown.len[shown_of] + RTA_ALIGN(o->rta_len) > ROOM)
				return;
			if (!shown_of && type == TCA_BFC_HRTT)
				memcpy(&shown.hrtt, RTA_DATA(o), sizeof(shown.hrtt));
			if (!shown_of && type == TCA_BFC_BUFFER)
				shown.buffer = *(const char *)RTA_DATA(o);
			memcpy(data + shown.len[shown_of], o, RTA_ALIGN(o->rta_len));
			shown.len[shown_of] += RTA_ALIGN(o->rta_len);
		}
	}
}

static bool options_of(int which)
{
	struct tcmsg *t;

	shown_of = which;
	shown.len[which] = 0;
	begin(RTM_GETQDISC, NLM_F_ECHO);
	t = grow(sizeof(*t));
	t->tcm_ifindex = devices[which];
	t->tcm_parent = TC_H_ROOT;
	return !ask(take_options) && shown.len[which];
}

static void print_shown(void)
{
	const struct rtattr *o = (const struct rtattr *)shown.data[0];
	const unsigned char *c;
	int len = shown.len[0];
	size_t i;

	for (; RTA_OK(o, len); o = RTA_NEXT(o, len)) {
		c = RTA_DATA(o);
		fprintf(stderr, " %d=", o->rta_type & NLA_TYPE_MASK);
		for (i = 0; i < RTA_PAYLOAD(o); i++)
			fprintf(stderr, "%02x", c[i]);
	}
	fprintf(stderr, "\n");
}

static int mtu_of(int which)
{
	struct ifreq r = {};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || !if_indextoname(devices[which], r.ifr_name) || ioctl(fd, SIOCGIFMTU, &r))
		die("nlfuzz: MTU");
	close(fd);
	return r.ifr_mtu;
}

/* What device 0 has shown, to another qdisc: the handle is new. */
static int give(int which)
{
	static unsigned int times;
	struct rtattr *nest;
	struct tcmsg *t;

	begin(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
	t = grow(sizeof(*t));
	t->tcm_ifindex = devices[which];
	t->tcm_parent = TC_H_ROOT;
	t->tcm_handle = (100 + times++ % 1000) << 16;
	put(TCA_KIND, "bfc", 4);
	nest = put(TCA_OPTIONS, NULL, 0);
	memcpy(grow(shown.len[0]), shown.data[0], shown.len[0]);
	end_nest(nest);
	return ask(NULL);
}

/* May what holds for one device be wrong for the other? With an automatic HRTT what other ports
 * have measured since counts, and xoff follows from the MTU, which may be another one than when
 * the options were taken.
 */
static bool differ(void)
{
	return !shown.hrtt || mtu_of(0) != mtu_of(1) || give(0);
}

static void twin(void)
{
	char said[sizeof(why)];
	int err;

	if (!options_of(0))
		return;
	err = give(1);
	memcpy(said, why, sizeof(said));
	/* A buffer need not have room for what is reserved for both. */
	if (err == ENOMEM || (err == ENOSPC && shown.buffer) || (err == EINVAL && differ()))
		return;
	if (err) {
		fprintf(stderr, "nlfuzz: message %u: what is shown is refused: %s: %s:", seq,
			strerror(err), said);
		print_shown();
		exit(1);
	}
	twins++;
	if (!options_of(1) || shown.len[0] != shown.len[1] ||
	    memcmp(shown.data[0], shown.data[1], shown.len[0])) {
		fprintf(stderr, "nlfuzz: message %u: the twin's options differ\n", seq);
		exit(1);
	}
}

static void one_message(void)
{
	int err;

	switch (below(16)) {
	case 0:
		del_qdisc();
		break;
	case 1:
		show();
		break;
	case 2:
		if (one_in(4)) {
			change_link();
			break;
		}
		/* fall through */
	case 3:
		if (one_in(4)) {
			new_class();
			break;
		}
		/* fall through */
	default:
		new_qdisc();
	}
	/* Bits that are wrong anywhere behind the header */
	if (one_in(32))
		msg.room[NLMSG_HDRLEN + below(msg.len - NLMSG_HDRLEN)] ^= 1 << below(8);
	if (one_in(256))
		msg.len -= below(msg.len - NLMSG_HDRLEN);
	err = ask(NULL);
	if (!err)
		taken++;
	else
		refused[err < 0 || err >= ERRNOS ? 0 : err]++;
}

int main(int argc, char **argv)
{
	struct timeval patience = { .tv_sec = 60 };
	uint64_t messages, n, start = now_ns();
	const char *sep = "";
	int i, on = 1;

	if (argc < 5 || argc > 3 + DEVICES_MAX) {
		fprintf(stderr, "usage: nlfuzz MESSAGES SEED DEV TWIN [DEV]...\n");
		return 2;
	}
	messages = number(argv[1], "MESSAGES", 1, 1e12);
	seed = number(argv[2], "SEED", 0, 1e15);
	for (i = 3; i < argc; i++) {
		devices[ndevices] = if_nametoindex(argv[i]);
		if (!devices[ndevices++])
			die(argv[i]);
	}
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die("nlfuzz: socket");
	if (setsockopt(sock, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on)) ||
	    setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)))
		die("nlfuzz: why");
	for (n = 0; n < messages; n++) {
		one_message();
		if (!(n % READ_OFTEN))
			twin();
		if (!(n % 16))
			rest();
	}
	printf("{\"sent\": %ju, \"taken\": %ju, \"twins\": %ju, \"seconds\": %.3f, \"refused\": {",
	       n, taken, twins, (now_ns() - start) / 1e9);
	for (i = 0; i < ERRNOS; i++) {
		if (!refused[i])
			continue;
		printf("%s\"%s\": %ju", sep, i ? strerrorname_np(i) : "unknown", refused[i]);
		sep = ", ";
	}
	printf("}}\n");
	return 0;
}
