// SPDX-License-Identifier: GPL-2.0
/*
 * What "bfcctl report" makes of addresses, as each program writes them.
 */
#include "unit.h"
#include "mask.h"

static void masked(const char *text, const char *want)
{
	char *got = mask_text(text);

	CHECK(!strcmp(got, want), "%s became %s, not %s", text, got, want);
	free(got);
}

static void test_mac(void)
{
	mask_forget();
	masked("", "");
	masked("\"address\":\"52:54:00:12:34:56\",", "\"address\":\"mac1\",");
	masked("52:54:00:12:34:57 > 52:54:00:12:34:56: x", "mac2 > mac1: x");
	/* Others write the same address in another way. */
	masked("\"bridge_id\":\"8000.52:54:0:12:34:56\"", "\"bridge_id\":\"8000.mac1\"");
	masked("enx525400123456 and wlx52540012345a", "enxmac1 and wlx52540012345a");
	masked("\"phys_switch_id\":\"525400123457\"", "\"phys_switch_id\":\"mac2\"");
	masked("00:00:10:ff:fe:80:00:00:00:00:00:00:f4:52:14:03:00:7b:cb:a1", "mac3");
	masked("52:54:00:12:34", "52:54:00:12:34");
	masked("\"phys_switch_id\":\"525400123499\"", "\"phys_switch_id\":\"mac4\"");
	mask_forget();
	masked("\"ifname\":\"enx525400123456\",\"address\":\"52:54:00:12:34:56\"",
	       "\"ifname\":\"enxmac1\",\"address\":\"mac1\"");
	mask_forget();
	masked("52:54:00:12:34:567", "52:54:00:12:34:567");
	masked("ff:ff:ff:ff:ff:ff 00:00:00:00:00:00 01:80:c2:00:00:0e",
	       "ff:ff:ff:ff:ff:ff 00:00:00:00:00:00 01:80:c2:00:00:0e");
}

static void test_port_id(void)
{
	mask_forget();
	masked("\"peer_id\":\"52540012345600ff\"", "\"peer_id\":\"mac100ff\"");
	masked("peer up role switch queues 32 id 5254001234560001 rtt 3us",
	       "peer up role switch queues 32 id mac10001 rtt 3us");
	masked("52:54:00:12:34:56", "mac1");
	masked("\"peer_id\":\"0000000000000000\"", "\"peer_id\":\"0000000000000000\"");
	masked("id 02420aff3c5d1e071", "id 02420aff3c5d1e071");
	masked("srcversion 02420AFF3C5D1E07", "srcversion 02420AFF3C5D1E07");
}

static void test_ipv4(void)
{
	mask_forget();
	masked("10.0.0.1 port 5000 > 10.0.0.2", "ipv4-1 port 5000 > ipv4-2");
	masked("to 10.0.0.1/32, 10.0.0.2:80 and 10.0.0.1.", "to ipv4-1/32, ipv4-2:80 and ipv4-1.");
	masked("0.0.0.0 127.0.0.1 255.255.255.255", "0.0.0.0 127.0.0.1 255.255.255.255");
	masked("1.2.3 1.2.3.4.5 1.2.3.256 6.1.192", "1.2.3 1.2.3.4.5 1.2.3.256 6.1.192");
	masked("v1.2.3.4", "v1.2.3.4");
	mask_forget();
	masked("gre_10.1.2.3: x, id:10.1.2.4", "gre_ipv4-1: x, id:ipv4-2");
}

static void test_ipv6(void)
{
	mask_forget();
	masked("\"src\":\"2001:db8::1\",", "\"src\":\"ipv6-1\",");
	masked("fe80::5054:ff:fe12:3456/64 2001:DB8:0::1", "ipv6-2/64 ipv6-1");
	masked("2001:db8::1: what, [fe80::5054:ff:fe12:3456]:80", "ipv6-1: what, [ipv6-2]:80");
	masked("1:2:3:4:5:6:7:8", "ipv6-3");
	masked("a::", "ipv6-4");
	masked("::ffff:10.0.0.1 ::1 ::", "ipv6-5 ::1 ::");
}

/* What is like one */
static void test_others(void)
{
	static const char *const same[] = {
		"2026-11-27 05:06:24.123456 swp1 neighbour_up queues 32",
		"qdisc bfc 8001: root refcnt 2", "class bfc 1:1 parent 1:", "bus-info: 0000:00:03.0",
		"[  123.456789] swp1: bfc: ", "le=\"0.000001024\"} 5", "fdec 0.8 share 100%",
		"std::map foo::bar", "add dead beef cafe",
	};
	unsigned int i;

	mask_forget();
	for (i = 0; i < UNIT_SIZE(same); i++)
		masked(same[i], same[i]);
}

static const struct unit_case cases[] = {
	{ "mask: MAC addresses", test_mac },
	{ "mask: ids of ports have their MAC address", test_port_id },
	{ "mask: IPv4 addresses", test_ipv4 },
	{ "mask: IPv6 addresses", test_ipv6 },
	{ "mask: what is like an address stays", test_others },
};

#include "unit_main.h"
