// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of "bfcctl apply" to the kernel.
 *
 * The configuration of a port is encoded as tc would send it: all options, with
 * the defaults of those that the file does not give. It is compared, attribute
 * by attribute, with the options that the kernel reports. There, defaults are
 * words ("auto"), not the values that follow from them. A change has only
 * options that differ, and a new qdisc only those that the file gives: a module
 * older than this program refuses options that it does not know.
 */
#include <bpf/bpf.h>
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "bfcctl_conf.h"
#include "bfcctl_live.h"
#include "bfcctl_outcome.h"
#include "bfcctl_request.h"
#include "bfcctl_tc.h"
#include "rtnl.h"

#define STAMP_WORDS	8	/* stamp pinned id N name NAME tag TAG */

/* Devices of an elide list that exist and have their names, to be freed; the others are added
 * when they appear. The plugin asks the kernel, so this does as well: a device may
 * have gone since live_look().
 */
static char *elide_value(const struct setting *setting, const char *dev)
{
	char names[ELIDE_NAMES][16];
	unsigned int n = conf_elide(setting, names, ELIDE_NAMES), i, ifindex;
	char *value = need(calloc(n + 1, sizeof(*names) + 1));

	for (i = 0; i < n; i++) {
		ifindex = if_nametoindex(names[i]);
		if (!ifindex || live_unnamed(ifindex)) {
			outcome_note(&setting->at, "%s: elide %s: no such device yet",
				     dev, names[i]);
			continue;
		}
		if (*value)
			strcat(value, ",");
		strcat(value, names[i]);
	}
	if (!*value)
		strcpy(value, "none");
	else if (!strcmp(value, "none"))
		strcpy(value, "none,none");	/* a device; alone it would mean no device */
	return value;
}

/**
 * request_all() - all options of a port, as a request that tc would send
 * @msg: result
 * @want: configuration of the port
 * @l: the port
 *
 * Return: NULL, or what is wrong with them, valid until the next call.
 */
const char *request_all(struct rtnl_msg *msg, const struct want *want,
			const struct live *l)
{
	char *argv[2 * TCA_BFC_MAX + STAMP_WORDS], *elide = NULL;
	const struct bfc_option *o;
	const char *why;
	int argc = 0, i;

	for_each_option(o) {
		const struct setting *setting = want->setting[o->attr];

		/* The qdisc reports the buffer's size even if another port has set it. */
		if (!setting && o->attr == TCA_BFC_BUFFER_SIZE)
			continue;
		argv[argc++] = (char *)o->name;
		argv[argc] = setting ? setting->value : (char *)o->usual;
		if (setting && o->attr == TCA_BFC_ELIDE) {
			elide = elide_value(setting, l->name);
			argv[argc] = elide;
		}
		argc++;
	}
	if (want_stamps_by(want, "pinned")) {
		argv[argc++] = "stamp";
		for (i = 0; i < want->stamp->argc; i++)
			argv[argc++] = want->stamp->argv[i];
	}
	rtnl_begin(msg, RTM_NEWQDISC, 0, sizeof(struct tcmsg));
	rtnl_put_str(msg, TCA_KIND, "bfc");
	why = tc_encode(msg, argc, argv);
	free(elide);
	return why;
}

/**
 * request_attr() - an attribute in a nest
 * @nest: TCA_OPTIONS, or NULL
 * @type: of the attribute
 *
 * Return: NULL if it is not there.
 */
const struct rtattr *request_attr(const struct rtattr *nest, uint16_t type)
{
	const struct rtattr *attr;
	int room;

	if (!nest)
		return NULL;
	room = RTA_PAYLOAD(nest);
	rtnl_for_each_attr(attr, RTA_DATA(nest), room)
		if ((attr->rta_type & NLA_TYPE_MASK) == type)
			return attr;
	return NULL;
}

/**
 * request_options() - a request's TCA_OPTIONS
 * @msg: the request
 *
 * Return: NULL if it has none.
 */
const struct rtattr *request_options(const struct rtnl_msg *msg)
{
	const struct tcmsg *tcm = NLMSG_DATA(&msg->h);
	const struct rtattr *attr;
	int room = msg->h.nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));

	rtnl_for_each_attr(attr, TCA_RTA(tcm), room)
		if ((attr->rta_type & NLA_TYPE_MASK) == TCA_OPTIONS)
			return attr;
	return NULL;
}

static void copy_attr(struct rtnl_msg *msg, const struct rtattr *attr)
{
	if (attr)
		rtnl_put(msg, attr->rta_type, RTA_DATA(attr),
			 RTA_PAYLOAD(attr));
}

/**
 * request_new() - for a new qdisc: what the file gives
 * @msg: result
 * @to: options of request_all()
 * @want: configuration of the port
 * @l: the port: unless told otherwise, a new bfc keeps the program of the bfc
 *     that it replaces
 */
void request_new(struct rtnl_msg *msg, const struct rtattr *to,
		 const struct want *want, const struct live *l)
{
	const uint8_t native = BFC_STAMP_NATIVE;
	const struct bfc_option *o;
	struct rtattr *nest;

	rtnl_begin(msg, RTM_NEWQDISC, 0, sizeof(struct tcmsg));
	rtnl_put_str(msg, TCA_KIND, "bfc");
	nest = rtnl_nest(msg, TCA_OPTIONS);
	for_each_option(o)
		if (want->setting[o->attr])
			copy_attr(msg, request_attr(to, o->attr));
	copy_attr(msg, request_attr(to, TCA_BFC_STAMP));
	copy_attr(msg, request_attr(to, TCA_BFC_STAMP_FD));
	if (l->pinned && want_native(want))
		rtnl_put(msg, TCA_BFC_STAMP, &native, sizeof(native));
	rtnl_nest_end(msg, nest);
}

static bool in_list(uint32_t ifindex, const struct rtattr *nest)
{
	const struct rtattr *attr;
	int room = RTA_PAYLOAD(nest);
	uint64_t value;

	rtnl_for_each_attr(attr, RTA_DATA(nest), room)
		if (bfc_attr_number(attr, &value) && value == ifindex)
			return true;
	return false;
}

/* true if both lists have the same length, and @b has all devices of @a */
static bool list_same(const struct rtattr *a, const struct rtattr *b)
{
	const struct rtattr *attr;
	int room = RTA_PAYLOAD(a);
	uint64_t value;

	if (RTA_PAYLOAD(a) != RTA_PAYLOAD(b))
		return false;
	rtnl_for_each_attr(attr, RTA_DATA(a), room)
		if (!bfc_attr_number(attr, &value) || !in_list(value, b))
			return false;
	return true;
}

static bool same(const struct rtattr *is, const struct rtattr *to)
{
	if (!is)
		return false;
	if ((to->rta_type & NLA_TYPE_MASK) == TCA_BFC_ELIDE)
		return list_same(is, to) && list_same(to, is);
	return RTA_PAYLOAD(is) == RTA_PAYLOAD(to) &&
	       !memcmp(RTA_DATA(is), RTA_DATA(to), RTA_PAYLOAD(is));
}

/* true if one scheduler is wanted and "auto" has resulted in one */
static bool has_one(const struct live *l, const struct rtattr *is,
		    const struct rtattr *to)
{
	uint64_t a, b;

	return (to->rta_type & NLA_TYPE_MASK) == TCA_BFC_TXQS && !l->mq &&
	       bfc_attr_number(is, &a) && a == BFC_TXQS_AUTO &&
	       bfc_attr_number(to, &b) && b == BFC_TXQS_ONE;
}

/* Id of the program that "stamp pinned" names, 0 = none */
static uint32_t prog_id(const struct rtattr *options)
{
	const struct rtattr *attr = request_attr(options, TCA_BFC_STAMP_FD);
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);
	uint64_t fd;

	if (!bfc_attr_number(attr, &fd) ||
	    bpf_obj_get_info_by_fd(fd, &info, &len))
		return 0;
	return info.id;
}

/**
 * request_value() - a value as tc shows it
 * @o: the option
 * @attr: its attribute, or NULL
 *
 * Return: a text, to be freed.
 */
char *request_value(const struct bfc_option *o, const struct rtattr *attr)
{
	char *text = attr ? tc_value(attr, o->name) : strdup("?");

	if (text && !*text) {
		free(text);
		text = strdup(o->usual);
	}
	return need(text);
}

/* true for the default, which need not be reported for a new qdisc */
static bool is_default(const struct bfc_option *o, const char *text)
{
	return !strcmp(text, o->usual);
}

/**
 * request_change() - options that differ: report them, and make a request for them
 * @r: report on the port
 * @l: the port
 * @want: configuration of the port
 * @to: options of request_all()
 * @change: result: the request, without options that are fixed while the qdisc
 *	    lives
 *
 * An option that the kernel does not report is not known to its module.
 */
void request_change(struct outcome *r, const struct live *l,
		    const struct want *want, const struct rtattr *to,
		    struct rtnl_msg *change)
{
	const struct rtattr *attr, *is, *fd;
	const struct bfc_option *o;
	char now[16], then[16];
	struct rtattr *nest;
	uint32_t id;

	rtnl_begin(change, RTM_NEWQDISC, 0, sizeof(struct tcmsg));
	rtnl_put_str(change, TCA_KIND, "bfc");
	nest = rtnl_nest(change, TCA_OPTIONS);
	for_each_option(o) {
		char *from, *text;

		attr = request_attr(to, o->attr);
		is = request_attr(l->options, o->attr);
		if (!attr || same(is, attr) || has_one(l, is, attr) ||
		    (l->options && !is && !want->setting[o->attr]))
			continue;
		text = request_value(o, attr);
		if (l->options) {
			from = request_value(o, is);
			outcome_change(r, o->name, from, text, o->fixed);
			free(from);
		} else if (!is_default(o, text)) {
			outcome_change(r, o->name, NULL, text, false);
		}
		free(text);
		if (!o->fixed)
			copy_attr(change, attr);
	}
	fd = request_attr(to, TCA_BFC_STAMP_FD);
	id = prog_id(to);
	if (fd && !(l->pinned && id && id == l->prog_id)) {
		snprintf(now, sizeof(now), "%u", l->prog_id);
		snprintf(then, sizeof(then), "%u", id);
		outcome_change(r, "stamp", l->pinned ? now : "native", then,
			       false);
		copy_attr(change, request_attr(to, TCA_BFC_STAMP));
		copy_attr(change, fd);
	}
	rtnl_nest_end(change, nest);
}
