// SPDX-License-Identifier: GPL-2.0
/*
 * What "bfcctl report" takes of the kernel's log. KASAN's report is one of the simulator's debug
 * kernel, with fewer functions; the others have lines, and their order, of Linux 6.1 on x86
 * (7.2 for page_fault).
 */
#include "unit.h"
#include "klog.h"

static const char kasan[] =
	"==================================================================\n"
	"BUG: KASAN: use-after-free in bfc_flow_new+0x3c9/0x640 [sch_bfc]\n"
	"Read of size 4 at addr 00000000691e7f14 by task udpflow/97\n"
	"\n"
	"CPU: 0 PID: 97 Comm: udpflow Tainted: G           O       6.1.192-sim-debug-9f7302f4 #1\n"
	"Stack:\n"
	" 602d0ce0 60ae5b11 6767f138 00000002\n"
	"Call Trace:\n"
	" [<6003a540>] ? dump_trace+0x0/0x180\n"
	" [<e08e3349>] ? bfc_flow_new+0x3c9/0x640 [sch_bfc]\n"
	" [<60030e30>] ? fork_handler+0x0/0x140\n"
	"\n"
	"The buggy address belongs to the physical page:\n"
	"page:00000000de416a88 refcount:0 mapcount:0 mapping:0000000000000000 index:0x0 pfn:0x91e7\n"
	"raw: 0000000000000000 0000000000000000 00000000ffffffff\n"
	"page dumped because: kasan: bad access detected\n"
	"\n"
	"Memory state around the buggy address:\n"
	" 00000000691e7e80: ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff\n"
	">00000000691e7f00: ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff\n"
	"                         ^\n"
	"==================================================================\n";

static const char null_pointer[] =
	"BUG: kernel NULL pointer dereference, address: 0000000000000038\n"
	"#PF: supervisor read access in kernel mode\n"
	"#PF: error_code(0x0000) - not-present page\n"
	"PGD 0 P4D 0\n"
	"Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
	"CPU: 1 PID: 0 Comm: swapper/1 Tainted: G           OE      6.1.0-56-amd64 #1  Debian 6.1.192-1\n"
	"RIP: 0010:bfc_dequeue+0x1f3/0x6a0 [sch_bfc]\n"
	"Code: 00 48 8b 43 38 48 85 c0 <48> 8b 50 38 0f 1f 44 00 00\n"
	"RSP: 0018:ffffa1d5c0118e60 EFLAGS: 00010246\n"
	"CR2: 0000000000000038 CR3: 000000010a810000 CR4: 0000000000350ee0\n"
	"Call Trace:\n"
	" <IRQ>\n"
	" __qdisc_run+0x8f/0x5a0\n"
	" net_tx_action+0x1f4/0x2a0\n"
	" </IRQ>\n"
	" <TASK>\n"
	" asm_sysvec_apic_timer_interrupt+0x16/0x20\n"
	"RIP: 0010:default_idle+0xf/0x20\n"
	" </TASK>\n"
	"Modules linked in: sch_bfc(OE) veth bridge stp llc\n"
	"CR2: 0000000000000038\n"
	"---[ end trace 0000000000000000 ]---\n";

/* The name is in the trace alone. */
static const char page_fault[] =
	"BUG: unable to handle page fault for address: ffffc9000018a000\n"
	"#PF: supervisor write access in kernel mode\n"
	"#PF: error_code(0x0002) - not-present page\n"
	"PGD 100000067 P4D 100000067 PUD 1001e5067 PMD 101d1b067 PTE 0\n"
	"Oops: Oops: 0002 [#1] SMP NOPTI\n"
	"CPU: 0 UID: 0 PID: 812 Comm: tc Tainted: G           OE       7.2.13+deb14-amd64 #1 PREEMPT(lazy)\n"
	"RIP: 0010:memcpy+0xc/0x20\n"
	"Call Trace:\n"
	" <TASK>\n"
	" bfc_dump_stats+0x6f/0x420 [sch_bfc]\n"
	" tc_fill_qdisc+0x1c2/0x4b0\n"
	" </TASK>\n"
	"Modules linked in: veth bridge stp llc\n"
	"---[ end trace 0000000000000000 ]---\n";

static const char protection[] =
	"general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP\n"
	"CPU: 1 PID: 23 Comm: kworker/1:0 Tainted: G           OE      6.1.0-56-amd64 #1\n"
	"Workqueue: events_percpu bfc_sweep_work [sch_bfc]\n"
	"RIP: 0010:__list_del_entry_valid+0x2b/0x90\n"
	"Call Trace:\n"
	" <TASK>\n"
	" process_one_work+0x1c7/0x380\n"
	" </TASK>\n"
	"---[ end trace 0000000000000000 ]---\n";

static const char warning[] =
	"------------[ cut here ]------------\n"
	"WARNING: CPU: 0 PID: 11 at sch_bfc/bfc_charge.c:190 bfc_unhold+0xa1/0xe0 [sch_bfc]\n"
	"Modules linked in: sch_bfc(OE) veth\n"
	"CPU: 0 PID: 11 Comm: ksoftirqd/0 Tainted: G           OE      6.1.0-56-amd64 #1\n"
	"Call Trace:\n"
	" <TASK>\n"
	" bfc_dequeue+0x2b1/0x6a0 [sch_bfc]\n"
	" </TASK>\n"
	"---[ end trace 0000000000000000 ]---\n";

static const char bug[] =
	"------------[ cut here ]------------\n"
	"kernel BUG at net/core/skbuff.c:2091!\n"
	"invalid opcode: 0000 [#1] PREEMPT SMP NOPTI\n"
	"CPU: 0 PID: 11 Comm: ksoftirqd/0 Tainted: G           OE      6.1.0-56-amd64 #1\n"
	"RIP: 0010:skb_push+0x3c/0x40\n"
	"Call Trace:\n"
	" <TASK>\n"
	" bfc_tag_push+0x2b1/0x6a0 [sch_bfc]\n"
	" </TASK>\n"
	"---[ end trace 0000000000000000 ]---\n";

static const char lockdep[] =
	"======================================================\n"
	"WARNING: possible circular locking dependency detected\n"
	"6.1.192-debug #1 Tainted: G           O\n"
	"------------------------------------------------------\n"
	"ksoftirqd/0/12 is trying to acquire lock:\n"
	"ffff88800a5c2108 (&port->lock){+.-.}-{2:2}, at: bfc_rx_hello+0x5c/0x3b0 [sch_bfc]\n"
	"\n"
	"but task is already holding lock:\n"
	"ffff88800b1d0258 (&sch->q.lock){+.-.}-{2:2}, at: __dev_queue_xmit+0x5f4/0x1e20\n"
	"\n"
	"which lock already depends on the new lock.\n"
	"\n"
	"the existing dependency chain (in reverse order) is:\n"
	"\n"
	"-> #1 (&sch->q.lock){+.-.}-{2:2}:\n"
	"       lock_acquire+0xd1/0x2e0\n"
	"       _raw_spin_lock_bh+0x32/0x50\n"
	"\n"
	"-> #0 (&port->lock){+.-.}-{2:2}:\n"
	"       check_prev_add+0x90/0xc60\n"
	"       bfc_rx_hello+0x5c/0x3b0 [sch_bfc]\n"
	"\n"
	"other info that might help us debug this:\n"
	"\n"
	" Possible unsafe locking scenario:\n"
	"\n"
	"       CPU0                    CPU1\n"
	"       ----                    ----\n"
	"  lock(&sch->q.lock);\n"
	"                               lock(&port->lock);\n"
	"\n"
	" *** DEADLOCK ***\n"
	"\n"
	"2 locks held by ksoftirqd/0/12:\n"
	" #0: ffffffff82f5c6a0 (rcu_read_lock){....}-{1:2}, at: process_backlog+0x6c/0x2b0\n"
	"\n"
	"stack backtrace:\n"
	"CPU: 0 PID: 12 Comm: ksoftirqd/0 Tainted: G           O       6.1.192-debug #1\n"
	"Call Trace:\n"
	" <TASK>\n"
	" dump_stack_lvl+0x57/0x7d\n"
	" ret_from_fork+0x22/0x30\n"
	" </TASK>\n";

static const char lockup[] =
	"watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [ksoftirqd/1:21]\n"
	"Modules linked in: veth bridge stp llc\n"
	"CPU: 1 PID: 21 Comm: ksoftirqd/1 Tainted: G           OE      6.1.0-56-amd64 #1\n"
	"RIP: 0010:bfc_drr_pick+0x41/0x130 [sch_bfc]\n"
	"Call Trace:\n"
	" <TASK>\n"
	" bfc_dequeue+0x103/0x6a0 [sch_bfc]\n"
	" run_ksoftirqd+0x2f/0x50\n"
	" </TASK>\n";

static const char stall[] =
	"rcu: INFO: rcu_preempt self-detected stall on CPU\n"
	"rcu: \t1-....: (5249 ticks this GP) idle=7a84/1/0x4000000000000000 softirq=3121/3121 fqs=2624\n"
	"\t(t=5250 jiffies g=9421 q=1088 ncpus=2)\n"
	"CPU: 1 PID: 21 Comm: ksoftirqd/1 Tainted: G           OE      6.1.0-56-amd64 #1\n"
	"RIP: 0010:bfc_drr_pick+0x41/0x130 [sch_bfc]\n"
	"Call Trace:\n"
	" <IRQ>\n"
	" ? rcu_dump_cpu_stacks+0xc4/0x100\n"
	" </IRQ>\n"
	" <TASK>\n"
	" bfc_dequeue+0x103/0x6a0 [sch_bfc]\n"
	" </TASK>\n"
	"rcu: rcu_preempt kthread starved for 5250 jiffies! g9421 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=1\n"
	"rcu: RCU grace-period kthread stack dump:\n"
	"task:rcu_preempt     state:R  running task     stack:0     pid:16    ppid:2      flags:0x00004000\n"
	"Call Trace:\n"
	" <TASK>\n"
	" rcu_gp_fqs_loop+0xe5/0x5d0\n"
	" </TASK>\n";

static const char sleeping[] =
	"BUG: sleeping function called from invalid context at include/linux/sched/mm.h:274\n"
	"in_atomic(): 1, irqs_disabled(): 0, non_block: 0, pid: 812, name: tc\n"
	"preempt_count: 201, expected: 0\n"
	"INFO: lockdep is turned off.\n"
	"CPU: 0 PID: 812 Comm: tc Tainted: G           OE      6.1.0-56-amd64 #1\n"
	"Call Trace:\n"
	" <TASK>\n"
	" bfc_cfg_new+0x5e/0x830 [sch_bfc]\n"
	" </TASK>\n";

static const char hung[] =
	"INFO: task tc:812 blocked for more than 120 seconds.\n"
	"      Tainted: G           OE      6.1.0-56-amd64 #1 Debian 6.1.192-1\n"
	"\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.\n"
	"task:tc              state:D stack:0     pid:812   ppid:640    flags:0x00000002\n"
	"Call Trace:\n"
	" <TASK>\n"
	" bfc_port_unplug+0x8c/0x150 [sch_bfc]\n"
	" entry_SYSCALL_64_after_hwframe+0x6e/0xd8\n"
	" </TASK>\n";

static const char *const reports[] = {
	kasan, null_pointer, page_fault, protection, warning, bug, lockdep, lockup, stall, sleeping,
	hung,
};

/* What is about nothing of this */
static const char before[] =
	"usb 1-1: new high-speed USB device number 2 using xhci_hcd\n"
	"usb 1-1: SerialNumber: 0123456789\n"
	"WARNING: this device is no longer supported\n"
	"traps: ftp[4711] general protection fault ip:7f01 sp:7ffe error:0 in libc.so[7f00+10]\n";
static const char after[] =
	"Disabling lock debugging due to kernel taint\n"
	"IPv6: ADDRCONF(NETDEV_CHANGE): eth7: link becomes ready\n"
	" sda: sda1 sda2\n";

static const char line_of_bfc[] =
	"swp1: bfc: promiscuous, for the card may filter the neighbour's tags\n";

static struct {
	char text[32768];
	size_t len;
} log;

/* A text of one second, each line as syslog(2) gives it. @style: 0: without time, 2: with caller */
static void put(const char *text, unsigned int style, unsigned int second)
{
	static const char *const prefix[] = {
		"<4>", "<6>[%5u.050000] ", "<12>[%5u.050000][  T812] "
	};
	const char *end;

	for (; *text; text = end) {
		end = strchr(text, '\n') + 1;
		log.len += sprintf(log.text + log.len, prefix[style], second);
		log.len += sprintf(log.text + log.len, "%.*s", (int)(end - text), text);
	}
}

static void begin(void)
{
	log.len = 0;
	*log.text = '\0';
}

/* Takes the log so far. */
static char *wanted(void)
{
	return strdup(log.text);
}

static void filtered(const char *want, const char *what)
{
	char *got = NULL;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	klog_filter(log.text, to);
	fclose(to);
	CHECK(!strcmp(got, want), "%s: became\n%s, not\n%s", what, got, want);
	free(got);
}

static void test_whole(void)
{
	unsigned int i, style;
	char *want;

	for (style = 0; style < 3; style++) {
		for (i = 0; i < UNIT_SIZE(reports); i++) {
			begin();
			put(reports[i], style, 200);
			want = wanted();
			filtered(want, "alone");
			begin();
			put(before, style, 190);
			put(reports[i], style, 200);
			put(after, style, 200);
			filtered(want, "among others");
			free(want);
		}
	}
}

/* The same of another module */
static char *of_others(const char *report)
{
	char *text = strdup(report), *name;

	while ((name = strstr(text, "bfc")))
		memcpy(name, "foo", 3);
	return text;
}

static void test_others(void)
{
	unsigned int i, style;
	char *text, *want;

	for (style = 0; style < 3; style++) {
		begin();
		put(line_of_bfc, style, 210);
		want = wanted();
		for (i = 0; i < UNIT_SIZE(reports); i++) {
			text = of_others(reports[i]);
			begin();
			put(before, style, 190);
			put(text, style, 200);
			put(after, style, 200);
			filtered("", "of another module");
			/* Nor if bfc is named later */
			put(line_of_bfc, style, 210);
			filtered(want, "with a line behind it");
			free(text);
		}
		free(want);
	}
}

/* Each after each, one of them of another module */
static void test_in_a_row(void)
{
	unsigned int i, k;
	char *text, *want;

	for (i = 0; i < UNIT_SIZE(reports); i++) {
		for (k = 0; k < UNIT_SIZE(reports); k++) {
			begin();
			put(reports[i], 1, 200);
			want = wanted();
			text = of_others(reports[k]);
			put(text, 1, 200);
			filtered(want, "before one of another module");
			begin();
			put(text, 1, 200);
			put(reports[i], 1, 200);
			filtered(want, "behind one of another module");
			free(want);
			free(text);
		}
	}
}

static void test_lines(void)
{
	char *want;

	begin();
	filtered("", "nothing");
	put(line_of_bfc, 1, 200);
	want = wanted();
	begin();
	put(before, 1, 190);
	put(line_of_bfc, 1, 200);
	put(after, 1, 200);
	filtered(want, "a line");
	free(want);
	/* A title, but no report: what follows, and a trace of a later one, stays out. */
	begin();
	put("WARNING: bfc is experimental\n", 1, 200);
	want = wanted();
	put(after, 1, 200);
	put("Call Trace:\n <TASK>\n foo+0x1/0x2\n </TASK>\n", 1, 220);
	filtered(want, "a title alone");
	free(want);
	/* The buffer goes round: the beginning of a report is lost. */
	begin();
	put(" bfc_dequeue+0x2b1/0x6a0 [sch_bfc]\n", 1, 200);
	want = wanted();
	put(" </TASK>\n---[ end trace 0000000000000000 ]---\n", 1, 200);
	filtered(want, "the end of a report");
	free(want);
	/* Numbers in hexadecimal have these digits. */
	begin();
	put("EXT4-fs (dm-0): mounted filesystem 0c2bfc7e-1111-2222-3333-bfc0bfc1bfc2\n", 1, 200);
	put("audit: proctitle=2F62696Ebfc0\n", 1, 210);
	put("DMAR: [DMA Read] fault addr 0xffff0bfc [fault reason 06]\n", 1, 220);
	filtered("", "numbers");
	begin();
	put("bfcctl[12]: segfault at 0\n", 1, 200);
	put("e0: bfc: peer up\n", 1, 210);
	put("net-sch-bfc loaded\n", 1, 220);
	want = wanted();
	filtered(want, "words");
	free(want);
	strcpy(log.text, "bfc: without a newline");
	filtered("bfc: without a newline", "without a newline");
	strcpy(log.text, "WARNING: bfc without a newline");
	filtered(log.text, "a title without a newline");
}

static const struct unit_case cases[] = {
	{ "a report is kept whole, and nothing around it", test_whole },
	{ "what is about another module stays out", test_others },
	{ "a report ends before the next one", test_in_a_row },
	{ "lines", test_lines },
};

#include "unit_main.h"
