// SPDX-License-Identifier: GPL-2.0
/*
 * The options: defaults, ranges, and which modes and other options use them.
 */
#include <linux/if_ether.h>
#include <net/netlink.h>

#include "bfc.h"
#include "bfc_options.h"

/* All of them in one place. */
static const struct bfc_params bfc_defaults = {
	.fc = BFC_FC_BFC,
	.role = BFC_ROLE_SWITCH,
	.peer = BFC_PEER_AUTO,
	.queues = BFC_QUEUES_DEFAULT,
	.flows_auto = true,
	.flows = BFC_QUEUES_DEFAULT * BFC_FLOWS_PER_QUEUE,
	.ways = BFC_WAYS_DEFAULT,
	.assign = BFC_ASSIGN_DESTINATION,
	.sched = BFC_SCHED_DRR,
	.sample = BFC_SAMPLE_ALL,
	.txqs = BFC_TXQS_AUTO,
	.sync = BFC_SYNC_DEFAULT,
	.dst_prefix = BFC_DST_PREFIX_MAX,
	.dst_prefix6 = BFC_DST_PREFIX6_MAX,
	.avoid_paused = 1,
	.sticky = BFC_STICKY_AUTO,
	.resume = BFC_RESUME_EARLY,
	.limit = BFC_LIMIT_DEFAULT,
	.new_first = 1,
	.split_gso = BFC_SPLIT_GSO_AUTO,
	.tpid = ETH_P_8021AD,
	.stamp = BFC_STAMP_UNSET,
	.stamp_fd = -1,
	.prio_map = { [0 ... BFC_PRIO_VALUES - 1] = BFC_PRIO_AUTO },
	.lossless = 0xff,
	.classes = 1,
	.keep_class = 1,
	.watchdog = BFC_WATCHDOG_AUTO,
	.cut = BFC_CUT_DEFAULT,
	.alpha = BFC_PERMILLE_DEFAULT,
	.beta = BFC_PERMILLE_DEFAULT,
	.fdec = BFC_FDEC_DEFAULT,
	.share = BFC_PPM_ONE,
	.pmax = BFC_PPM_ONE,
};

/**
 * bfc_params_default() - what holds without options
 * @p: result
 */
void bfc_params_default(struct bfc_params *p)
{
	*p = bfc_defaults;
}

#define BFC_OPTION(_field, _type, _lo, _hi, _zero, _msg) {	\
	.offset = offsetof(struct bfc_params, _field),		\
	.width = sizeof(_type),					\
	.lo = (_lo), .hi = (_hi), .zero = (_zero),		\
	.msg = "bfc: " _msg }

/* Generated from spec/bfc.yaml: ranges */
const struct bfc_option bfc_options[TCA_BFC_MAX + 1] = {
	[TCA_BFC_FC] =
		BFC_OPTION(fc, u8, 0, __BFC_FC_MAX - 1, false,
			   "fc: none, bfc, pfc, capfc-max, capfc-cal or fafc"),
	[TCA_BFC_ROLE] =
		BFC_OPTION(role, u8, 0, __BFC_ROLE_MAX - 1, false,
			   "role: switch or nic"),
	[TCA_BFC_PEER] =
		BFC_OPTION(peer, u8, 0, __BFC_PEER_MAX - 1, false,
			   "peer: auto, on or off"),
	[TCA_BFC_QUEUES] =
		BFC_OPTION(queues, u32, BFC_QUEUES_MIN, BFC_QUEUES_MAX, false,
			   "queues: 1 to 1024"),
	[TCA_BFC_FLOWS] =
		BFC_OPTION(flows, u32, BFC_FLOWS_MIN, BFC_FLOWS_MAX, true,
			   "flows: 16 to 4194304, or auto"),
	[TCA_BFC_ASSIGN] =
		BFC_OPTION(assign, u8, 0, __BFC_ASSIGN_MAX - 1, false,
			   "assign: dynamic, destination, root, similar, stochastic or single"),
	[TCA_BFC_AVOID_PAUSED] =
		BFC_OPTION(avoid_paused, u8, 0, 1, false,
			   "avoid-paused: 0 or 1"),
	[TCA_BFC_STICKY] =
		BFC_OPTION(sticky, u64, 0, BFC_STICKY_MAX, false,
			   "sticky: at most 10 s, or auto"),
	[TCA_BFC_HRTT] =
		BFC_OPTION(hrtt, u64, BFC_HRTT_MIN, BFC_HRTT_MAX, true,
			   "hrtt: 100 ns to 1 s, or auto"),
	[TCA_BFC_THRESHOLD] =
		BFC_OPTION(threshold, u32, 1, BFC_THRESHOLD_MAX, true,
			   "threshold: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_RESUME] =
		BFC_OPTION(resume, u8, 0, __BFC_RESUME_MAX - 1, false,
			   "resume: drained or early"),
	[TCA_BFC_RATE] =
		BFC_OPTION(rate, u64, BFC_RATE_MIN, BFC_RATE_MAX, true,
			   "rate: 8 kbit to 1 tbit, or link"),
	[TCA_BFC_LIMIT] =
		BFC_OPTION(limit, u32, BFC_LIMIT_MIN, BFC_LIMIT_MAX, false,
			   "limit: 65536 to 1073741824 bytes"),
	[TCA_BFC_QUANTUM] =
		BFC_OPTION(quantum, u32, BFC_QUANTUM_MIN, BFC_QUANTUM_MAX, true,
			   "quantum: 256 to 1048576 bytes, or auto"),
	[TCA_BFC_REFRESH] =
		BFC_OPTION(refresh, u64, BFC_REFRESH_MIN, BFC_REFRESH_MAX, true,
			   "refresh: 10 us to 1 s, or auto"),
	[TCA_BFC_HOLD] =
		BFC_OPTION(hold, u64, BFC_HOLD_MIN, BFC_HOLD_MAX, true,
			   "hold: 1 ms to 4 s, or auto"),
	[TCA_BFC_SPLIT_GSO] =
		BFC_OPTION(split_gso, u8, 0, __BFC_SPLIT_GSO_MAX - 1, false,
			   "split-gso: off, on or auto"),
	[TCA_BFC_ACCEPT_PAUSE] =
		BFC_OPTION(accept_pause, u8, 0, 1, false,
			   "accept-pause: 0 or 1"),
	[TCA_BFC_WAYS] =
		BFC_OPTION(ways, u32, 1, BFC_WAYS_MAX, false,
			   "ways: 1 to 8"),
	[TCA_BFC_NEW_FIRST] =
		BFC_OPTION(new_first, u8, 0, 1, false,
			   "new-first: 0 or 1"),
	[TCA_BFC_PRIO] =
		BFC_OPTION(prio, u8, 0, __BFC_PRIO_MAX - 1, false,
			   "prio: pcp, dscp or skb"),
	[TCA_BFC_LOSSLESS] =
		BFC_OPTION(lossless, u8, 0, 0xff, false,
			   "lossless: 8 bits"),
	[TCA_BFC_XOFF] =
		BFC_OPTION(xoff, u32, 1, BFC_BYTES_MAX, true,
			   "xoff: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_XON] =
		BFC_OPTION(xon, u32, 1, BFC_BYTES_MAX, true,
			   "xon: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_MAX_BYTES] =
		BFC_OPTION(max, u32, 1, BFC_BYTES_MAX, true,
			   "max: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_DYNAMIC] =
		BFC_OPTION(dynamic, u32, 1, BFC_PPM_MAX, true,
			   "dynamic: off, or 0.0001% to 102400% with at most four decimals"),
	[TCA_BFC_EGRESS_XOFF] =
		BFC_OPTION(egress_xoff, u32, 1, BFC_BYTES_MAX, true,
			   "egress-xoff: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_EGRESS_XON] =
		BFC_OPTION(egress_xon, u32, 1, BFC_BYTES_MAX, true,
			   "egress-xon: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_EGRESS_MAX] =
		BFC_OPTION(egress_max, u32, 1, BFC_BYTES_MAX, true,
			   "egress-max: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_WARN] =
		BFC_OPTION(warn, u32, 1, BFC_BYTES_MAX, true,
			   "warn: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_CUT] =
		BFC_OPTION(cut, u8, 1, 100, false,
			   "cut: 1 to 100 per cent"),
	[TCA_BFC_T_HOP] =
		BFC_OPTION(t_hop, u64, BFC_T_HOP_MIN, BFC_T_HOP_MAX, true,
			   "thop: 100 ns to 1 s, or auto"),
	[TCA_BFC_ALPHA] =
		BFC_OPTION(alpha, u32, BFC_PERMILLE_MIN, BFC_PERMILLE_MAX, false,
			   "alpha: 0.1 to 1"),
	[TCA_BFC_BETA] =
		BFC_OPTION(beta, u32, BFC_PERMILLE_MIN, BFC_PERMILLE_MAX, false,
			   "beta: 0.1 to 1"),
	[TCA_BFC_FDEC] =
		BFC_OPTION(fdec, u32, BFC_PERMILLE_MIN, BFC_PERMILLE_MAX, false,
			   "fdec: 0.1 to 1"),
	[TCA_BFC_CONGESTED] =
		BFC_OPTION(congested, u32, 1, BFC_BYTES_MAX, true,
			   "congested: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_ECN] =
		BFC_OPTION(ecn, u32, 1, BFC_BYTES_MAX, true,
			   "ecn: 1 to 1073741824 bytes, or off"),
	[TCA_BFC_WATCHDOG] =
		BFC_OPTION(watchdog, u64, BFC_WATCHDOG_MIN, BFC_WATCHDOG_MAX, true,
			   "watchdog: 1 ms to 60 s, off or auto"),
	[TCA_BFC_BUFFER_SIZE] =
		BFC_OPTION(buffer_size, u32, BFC_LIMIT_MIN, BFC_BYTES_MAX, true,
			   "size: 65536 to 1073741824 bytes, or keep"),
	[TCA_BFC_RESERVE] =
		BFC_OPTION(reserve, u32, 0, BFC_BYTES_MAX, false,
			   "reserve: at most 1073741824 bytes"),
	[TCA_BFC_HEADROOM] =
		BFC_OPTION(headroom, u32, 1, BFC_BYTES_MAX, true,
			   "headroom: 1 to 1073741824 bytes, or auto"),
	[TCA_BFC_SHARE] =
		BFC_OPTION(share, u32, 1, BFC_PPM_MAX, true,
			   "share: off, or 0.0001% to 102400% with at most four decimals"),
	[TCA_BFC_STRICT] =
		BFC_OPTION(strict, u8, 0, 0xff, false,
			   "strict: 8 bits"),
	[TCA_BFC_STAMP] =
		BFC_OPTION(stamp, u8, 0, __BFC_STAMP_MAX - 1, false,
			   "stamp: native or pinned"),
	[TCA_BFC_DST_PREFIX] =
		BFC_OPTION(dst_prefix, u32, 0, BFC_DST_PREFIX_MAX, false,
			   "dst-prefix: 0 to 32"),
	[TCA_BFC_DST_PREFIX6] =
		BFC_OPTION(dst_prefix6, u32, 0, BFC_DST_PREFIX6_MAX, false,
			   "dst-prefix6: 0 to 128"),
	[TCA_BFC_TXQS] =
		BFC_OPTION(txqs, u8, 0, __BFC_TXQS_MAX - 1, false,
			   "txqs: auto, one or each"),
	[TCA_BFC_SYNC] =
		BFC_OPTION(sync, u64, BFC_SYNC_MIN, BFC_SYNC_MAX, false,
			   "sync: 10 us to 1 s"),
	[TCA_BFC_HRTT_MAX] =
		BFC_OPTION(hrtt_max, u64, BFC_HRTT_MIN, BFC_HRTT_MAX, true,
			   "hrtt-max: 100 ns to 1 s, or auto"),
	[TCA_BFC_SAMPLE] =
		BFC_OPTION(sample, u8, 1, BFC_SAMPLE_ALL, false,
			   "sample: 1 to 100 per cent"),
	[TCA_BFC_INCAST] =
		BFC_OPTION(incast, u64, 1, BFC_INCAST_MAX, true,
			   "incast: a DSCP from 1 to 63, or a mark that is not 0 and in its mask"),
	[TCA_BFC_CLASSES] =
		BFC_OPTION(classes, u32, 1, 8, false,
			   "classes: 1 to 8"),
	[TCA_BFC_KEEP_CLASS] =
		BFC_OPTION(keep_class, u8, 0, 1, false,
			   "keep-class: 0 or 1"),
	[TCA_BFC_SCHED] =
		BFC_OPTION(sched, u8, 0, __BFC_SCHED_MAX - 1, false,
			   "sched: drr or srf"),
	[TCA_BFC_KMAX] =
		BFC_OPTION(kmax, u32, 1, BFC_BYTES_MAX, true,
			   "kmax: 1 to 1073741824 bytes, or off"),
	[TCA_BFC_PMAX] =
		BFC_OPTION(pmax, u32, 1, BFC_PPM_ONE, false,
			   "pmax: 0.0001% to 100% with at most four decimals"),
};

/* End of ranges */

/**
 * struct bfc_use - an option that not every mode uses
 * @modes: bit fc: modes that use it
 * @buffer: the other modes use it as well, with a shared buffer
 * @classes: likewise, with traffic classes
 * @assigns: bit assign: used with these only; 0: with all
 * @drr: used with `sched drr` only
 * @measured: used with `hrtt auto` only
 * @beside: used only if this option, a u32, is not "off"; 0: no such option
 * @msg: extack message with another mode or assignment
 * @nic: extack message with role nic, which sends no pauses; NULL: that uses the option, too
 */
struct bfc_use {
	u8 modes;
	bool buffer;
	bool classes;
	u8 assigns;
	bool drr;
	bool measured;
	u8 beside;
	const char *msg;
	const char *nic;
};

#define BFC_IN(_fc)	BIT(BFC_FC_##_fc)
#define BFC_IN_CAPFC	(BFC_IN(CAPFC_MAX) | BFC_IN(CAPFC_CAL))
#define BFC_IN_PORT	(BFC_IN(PFC) | BFC_IN_CAPFC | BFC_IN(FAFC))
#define BFC_IN_ALL	(BFC_IN(BFC) | BFC_IN_PORT)

#define BFC_NOT_NIC(_name) "bfc: " _name ": not used by role nic, which sends no pauses"
#define BFC_USE_PORT(_name) { BFC_IN_PORT, .msg =		\
	"bfc: " _name ": used by fc pfc, capfc-max, capfc-cal and fafc only" }
#define BFC_USE_PAUSER(_name, _nic) { BFC_IN_PORT, .msg =		\
	"bfc: " _name ": used by fc pfc, capfc-max, capfc-cal and fafc only", .nic = _nic }
#define BFC_USE_CAPFC(_name, _nic) { BFC_IN_CAPFC, .msg =		\
	"bfc: " _name ": used by fc capfc-max and capfc-cal only", .nic = _nic }
#define BFC_USE_CAPFC_CAL(_name, _nic) { BFC_IN(CAPFC_CAL), .msg =	\
	"bfc: " _name ": used by fc capfc-cal only", .nic = _nic }
#define BFC_USE_FAFC(_name) { BFC_IN(FAFC), .msg =		\
	"bfc: " _name ": used by fc fafc only" }
#define BFC_USE_FAFC_PAUSER(_name, _nic) { BFC_IN(FAFC), .msg =	\
	"bfc: " _name ": used by fc fafc only", .nic = _nic }
#define BFC_USE_BFC(_name) { BFC_IN(BFC), .msg =		\
	"bfc: " _name ": used by fc bfc only" }
#define BFC_USE_BFC_PAUSER(_name, _nic) { BFC_IN(BFC), .msg =	\
	"bfc: " _name ": used by fc bfc only", .nic = _nic }
#define BFC_USE_NOT_FAFC(_name) {				\
	BFC_IN(BFC) | BFC_IN(NONE) | BFC_IN(PFC) | BFC_IN_CAPFC, .msg = \
	"bfc: " _name ": not used by fc fafc" }
#define BFC_USE_BFC_FAFC(_name) { BFC_IN(BFC) | BFC_IN(FAFC), .msg = \
	"bfc: " _name ": used by fc bfc and fafc only" }
#define BFC_USE_ALL(_name) { BFC_IN_ALL, .msg =			\
	"bfc: " _name ": not used by fc none" }
#define BFC_USE_BUFFER(_modes, _name, _others) { _modes, .buffer = true, .msg = \
	"bfc: " _name ": not used by fc " _others " without a buffer" }

#define BFC_USE_SHARED(_name) { .buffer = true, .msg =		\
	"bfc: " _name ": used with a buffer only" }

#define BFC_USE_BFC_NONE(_name) { BFC_IN(BFC) | BFC_IN(NONE), .msg = \
	"bfc: " _name ": used by fc bfc and none only" }
#define BFC_USE_CLASSES(_name) { .classes = true, .msg =		\
	"bfc: " _name ": used with classes only" }
#define BFC_USE_PORT_CLASSES(_name) { BFC_IN_PORT, .classes = true, .msg = \
	"bfc: " _name ": not used by fc bfc and none without classes" }
#define BFC_USE_PRIO(_name) {						\
	BFC_IN_PORT, .buffer = true, .classes = true, .msg =		\
	"bfc: " _name ": not used by fc bfc and none without a buffer or classes" }

#define BFC_USE_DRR(_name) { BFC_IN_ALL | BFC_IN(NONE), .drr = true, .msg =	\
	"bfc: " _name ": not used by sched srf" }

#define BFC_USE_MEASURED(_name) { BFC_IN_ALL, .measured = true, .msg = \
	"bfc: " _name ": not used by fc none, nor beside a fixed hrtt" }

#define BFC_USE_ECN(_name) { BFC_IN(PFC) | BFC_IN_CAPFC, .beside = TCA_BFC_ECN, .msg = \
	"bfc: " _name ": used by fc pfc, capfc-max and capfc-cal with ecn only" }
#define BFC_USE_KMAX(_name) { BFC_IN(PFC) | BFC_IN_CAPFC, .beside = TCA_BFC_KMAX, .msg = \
	"bfc: " _name ": used by fc pfc, capfc-max and capfc-cal with kmax only" }

#define BFC_USE_DEST(_name) {					\
	BFC_IN(BFC), .assigns = BIT(BFC_ASSIGN_DESTINATION) | BIT(BFC_ASSIGN_ROOT), .msg = \
	"bfc: " _name ": used by fc bfc with assign destination or root only" }

#define BFC_USE_LABEL(_name) {					\
	BFC_IN(BFC), .assigns = BIT(BFC_ASSIGN_DESTINATION) | BIT(BFC_ASSIGN_DYNAMIC), .msg = \
	"bfc: " _name ": used by fc bfc with assign destination or dynamic only" }

/* Generated from spec/bfc.yaml: uses */
static const struct bfc_use bfc_uses[TCA_BFC_MAX + 1] = {
	[TCA_BFC_PEER] = BFC_USE_ALL("peer"),
	[TCA_BFC_THRESHOLD] = BFC_USE_BFC_FAFC("threshold"),
	[TCA_BFC_RESUME] = BFC_USE_BFC_PAUSER("resume", BFC_NOT_NIC("resume")),
	[TCA_BFC_REFRESH] = BFC_USE_ALL("refresh"),
	[TCA_BFC_HOLD] = BFC_USE_ALL("hold"),
	[TCA_BFC_TPID] = BFC_USE_BFC("tpid"),
	[TCA_BFC_ACCEPT_PAUSE] = BFC_USE_BFC_FAFC("accept-pause"),
	[TCA_BFC_ELIDE] = BFC_USE_BUFFER(BFC_IN_ALL, "elide", "none"),
	[TCA_BFC_NEW_FIRST] = BFC_USE_DRR("new-first"),
	[TCA_BFC_PRIO] = BFC_USE_PRIO("prio"),
	[TCA_BFC_PRIO_MAP] = BFC_USE_PRIO("map"),
	[TCA_BFC_LOSSLESS] = BFC_USE_PORT("lossless"),
	[TCA_BFC_XOFF] = BFC_USE_PAUSER("xoff", BFC_NOT_NIC("xoff")),
	[TCA_BFC_XON] = BFC_USE_PAUSER("xon", BFC_NOT_NIC("xon")),
	[TCA_BFC_MAX_BYTES] = BFC_USE_PAUSER("max", BFC_NOT_NIC("max")),
	[TCA_BFC_DYNAMIC] = BFC_USE_PAUSER("dynamic", BFC_NOT_NIC("dynamic")),
	[TCA_BFC_EGRESS_XOFF] = BFC_USE_CAPFC("egress-xoff", BFC_NOT_NIC("egress-xoff")),
	[TCA_BFC_EGRESS_XON] = BFC_USE_CAPFC("egress-xon", BFC_NOT_NIC("egress-xon")),
	[TCA_BFC_EGRESS_MAX] = BFC_USE_CAPFC("egress-max", BFC_NOT_NIC("egress-max")),
	[TCA_BFC_WARN] = BFC_USE_CAPFC("warn", BFC_NOT_NIC("warn")),
	[TCA_BFC_CUT] = BFC_USE_CAPFC_CAL("cut", BFC_NOT_NIC("cut")),
	[TCA_BFC_T_HOP] = BFC_USE_FAFC("thop"),
	[TCA_BFC_ALPHA] = BFC_USE_FAFC_PAUSER("alpha", BFC_NOT_NIC("alpha")),
	[TCA_BFC_BETA] = BFC_USE_FAFC_PAUSER("beta", BFC_NOT_NIC("beta")),
	[TCA_BFC_FDEC] = BFC_USE_FAFC_PAUSER("fdec", BFC_NOT_NIC("fdec")),
	[TCA_BFC_CONGESTED] = BFC_USE_FAFC_PAUSER("congested", BFC_NOT_NIC("congested")),
	[TCA_BFC_ECN] = BFC_USE_PORT("ecn"),
	[TCA_BFC_WATCHDOG] = BFC_USE_ALL("watchdog"),
	[TCA_BFC_RESERVE] = BFC_USE_SHARED("reserve"),
	[TCA_BFC_HEADROOM] = BFC_USE_PAUSER("headroom", BFC_NOT_NIC("headroom")),
	[TCA_BFC_SHARE] = BFC_USE_SHARED("share"),
	[TCA_BFC_STRICT] = BFC_USE_PORT_CLASSES("strict"),
	[TCA_BFC_DST_PREFIX] = BFC_USE_DEST("dst-prefix"),
	[TCA_BFC_DST_PREFIX6] = BFC_USE_DEST("dst-prefix6"),
	[TCA_BFC_SYNC] = BFC_USE_NOT_FAFC("sync"),
	[TCA_BFC_HRTT_MAX] = BFC_USE_MEASURED("hrtt-max"),
	[TCA_BFC_SAMPLE] = BFC_USE_BFC("sample"),
	[TCA_BFC_INCAST] = BFC_USE_LABEL("incast"),
	[TCA_BFC_CLASSES] = BFC_USE_BFC_NONE("classes"),
	[TCA_BFC_CLASS_QUEUES] = BFC_USE_CLASSES("class-queues"),
	[TCA_BFC_WEIGHTS] = BFC_USE_CLASSES("weights"),
	[TCA_BFC_KEEP_CLASS] = BFC_USE_BFC("keep-class"),
	[TCA_BFC_SCHED] = BFC_USE_BFC_NONE("sched"),
	[TCA_BFC_KMAX] = BFC_USE_ECN("kmax"),
	[TCA_BFC_PMAX] = BFC_USE_KMAX("pmax"),
};

/* End of uses */

/* Values of an option (a u8) that fewer modes use than the option. */
static const struct {
	u8 option;
	u8 value;
	u8 modes;
	const char *msg;
} bfc_value_uses[] = {
	{ TCA_BFC_PEER, BFC_PEER_ON, BFC_IN(BFC) | BFC_IN(FAFC),
	  "bfc: peer: on is used by fc bfc and fafc only" },
	{ TCA_BFC_ASSIGN, BFC_ASSIGN_ROOT, BFC_IN(BFC),
	  "bfc: assign: root is used by fc bfc only" },
	/* modes that use sched, which this value needs */
	{ TCA_BFC_ASSIGN, BFC_ASSIGN_SIMILAR, BFC_IN(BFC) | BFC_IN(NONE), BFC_FOR_SRF },
};

/* True if an option has the same value. Options that are not in bfc_options have members of
 * other types.
 */
static bool bfc_same(const struct bfc_params *was, const struct bfc_params *p,
		     unsigned int option)
{
	const struct bfc_option *o = &bfc_options[option];

	switch (option) {
	case TCA_BFC_TPID:
		return was->tpid == p->tpid;
	case TCA_BFC_PRIO_MAP:
		return !memcmp(was->prio_map, p->prio_map, sizeof(p->prio_map));
	case TCA_BFC_CLASS_QUEUES:
		return !memcmp(was->class_queues, p->class_queues, BFC_LIST_LEN);
	case TCA_BFC_WEIGHTS:
		return !memcmp(was->weights, p->weights, BFC_LIST_LEN);
	case TCA_BFC_ELIDE:
		return was->nelide == p->nelide &&
		       !memcmp(was->elide, p->elide,
			       p->nelide * sizeof(*p->elide));
	default:
		return !memcmp((const u8 *)was + o->offset,
			       (const u8 *)p + o->offset, o->width);
	}
}

static void bfc_set_default(struct bfc_params *p, unsigned int option)
{
	const struct bfc_option *o = &bfc_options[option];

	switch (option) {
	case TCA_BFC_TPID:
		p->tpid = bfc_defaults.tpid;
		break;
	case TCA_BFC_PRIO_MAP:
		memcpy(p->prio_map, bfc_defaults.prio_map, sizeof(p->prio_map));
		break;
	case TCA_BFC_CLASS_QUEUES:
		memset(p->class_queues, 0, BFC_LIST_LEN);
		break;
	case TCA_BFC_WEIGHTS:
		memset(p->weights, 0, BFC_LIST_LEN);
		break;
	case TCA_BFC_ELIDE:
		p->nelide = 0;
		break;
	default:
		memcpy((u8 *)p + o->offset, (const u8 *)&bfc_defaults + o->offset,
		       o->width);
	}
}

static bool bfc_is_off(const struct bfc_params *p, unsigned int option)
{
	return !*(const u32 *)((const u8 *)p + bfc_options[option].offset);
}

/* Why an option is not used, whatever its value; NULL if it is used. */
static const char *bfc_unused_option(const struct bfc_use *use, const struct bfc_params *p)
{
	if (!use->msg || (use->buffer && *p->buffer) || (use->classes && p->classes > 1))
		return NULL;
	if (!(use->modes & BIT(p->fc)) ||
	    (use->assigns && !(use->assigns & BIT(p->assign))) ||
	    (use->drr && p->sched != BFC_SCHED_DRR) || (use->measured && p->hrtt) ||
	    (use->beside && bfc_is_off(p, use->beside)))
		return use->msg;
	return p->role == BFC_ROLE_NIC ? use->nic : NULL;
}

/* Why the value of an option in @has is not used with the options @p; NULL if it is used. */
static const char *bfc_unused(unsigned int option, const struct bfc_params *p,
			      const struct bfc_params *has)
{
	const u8 *value = (const u8 *)has + bfc_options[option].offset;
	const char *why = bfc_unused_option(&bfc_uses[option], p);
	unsigned int i;

	for (i = 0; !why && i < ARRAY_SIZE(bfc_value_uses); i++)
		if (bfc_value_uses[i].option == option && bfc_value_uses[i].value == *value &&
		    !(bfc_value_uses[i].modes & BIT(p->fc)))
			why = bfc_value_uses[i].msg;
	return why;
}

/**
 * bfc_refuse() - refuse a request
 * @a: the attribute that is wrong
 * @msg: why, in words
 * @extack: receives both
 *
 * Return: -EINVAL.
 */
int bfc_refuse(const struct nlattr *a, const char *msg, struct netlink_ext_ack *extack)
{
	NL_SET_BAD_ATTR(extack, a);
	if (extack)
		extack->_msg = msg;
	return -EINVAL;
}

/**
 * bfc_check_used() - refuse options that are not used, and reset them to defaults
 * @tb: attributes of the request
 * @p: options with the request; result: unused ones have their defaults
 * @extack: what is wrong, in words
 *
 * An option that the mode does not use has its default value: another value is refused if this
 * request gives it, and reset if it was given for another mode. So what tc prints is in effect,
 * and can be given to tc again, for another port as well.
 *
 * Return: 0 or -EINVAL.
 */
int bfc_check_used(struct nlattr **tb, struct bfc_params *p,
		   struct netlink_ext_ack *extack)
{
	unsigned int i;

	/* First what the request leaves out: with such an option at its default, another one may
	 * be used.
	 */
	for (i = 0; i <= TCA_BFC_MAX; i++)
		if (!tb[i] && bfc_unused(i, p, p))
			bfc_set_default(p, i);
	for (i = 0; i <= TCA_BFC_MAX; i++) {
		const char *why = bfc_unused(i, p, p);

		if (!why || bfc_same(&bfc_defaults, p, i))
			continue;
		if (tb[i])
			return bfc_refuse(tb[i], why, extack);
		bfc_set_default(p, i);
	}
	return 0;
}

/**
 * bfc_params_given_up() - log options that a change of mode has reset
 * @dev: the device
 * @opt: attributes of the request, or NULL: an option in it is not logged, as the user has set
 *	 it to its default
 * @was: options until now
 * @p: options now
 *
 * Return: true if any was reset to its default.
 */
bool bfc_params_given_up(const struct net_device *dev, const struct nlattr *opt,
			 const struct bfc_params *was, const struct bfc_params *p)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i <= TCA_BFC_MAX; i++) {
		const char *why = bfc_unused(i, p, was);

		if (!why || bfc_same(was, p, i) || (opt && nla_find_nested(opt, i)))
			continue;
		if (bfc_may_log(dev))
			netdev_info(dev, "%s: it has its default again\n", why);
		any = true;
	}
	return any;
}
