// SPDX-License-Identifier: GPL-2.0
/*
 * bfcctl metrics: the statistics of all ports in the text format of Prometheus. Names and
 * help are here, and nowhere else; docs/monitoring.md says what to look at.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/bfc_version.h>
#include <linux/pkt_sch_bfc.h>
#include "bfcctl.h"

/**
 * struct samples - the ports with a bfc qdisc
 * @port: the ports, by name
 * @n: number of them
 */
struct samples {
	struct port *port;
	unsigned int n;
};

/* Unit of a value; SECONDS: the value is in ns, and printed in seconds. */
enum unit { ONE, SECONDS };

/**
 * struct metric - a metric of a port, a priority or a class
 * @name: without "bfc_"
 * @help: HELP text of the name
 * @counter: a counter, not a gauge
 * @unit: of the value
 * @attr: TCA_BFC_STATS_*, TCA_BFC_PRIO_STATS_* of a priority, TCA_BFC_TCLASS_* of a class;
 *	  0: @get
 * @get: returns the value if @attr is 0
 * @reason: a label; metrics of the same name follow each other
 */
struct metric {
	const char *name;
	const char *help;
	bool counter;
	enum unit unit;
	unsigned int attr;
	uint64_t (*get)(const struct port *s);
	const char *reason;
};

static uint64_t get_packets(const struct port *s) { return s->counts.packets; }
static uint64_t get_bytes(const struct port *s) { return s->counts.bytes; }
static uint64_t get_drops(const struct port *s) { return s->counts.drops; }
static uint64_t get_backlog(const struct port *s) { return s->counts.backlog; }
static uint64_t get_up(const struct port *s)
{
	return s->stats.value[TCA_BFC_STATS_PEER_STATE] == BFC_PEER_STATE_UP;
}

static uint64_t get_refused(const struct port *s)
{
	return s->stats.value[TCA_BFC_STATS_PEER_STATE] == BFC_PEER_STATE_REFUSED;
}

#define COUNTER(_name, _attr, _help) \
	{ .name = _name "_total", .help = _help, .counter = true, \
	  .attr = TCA_BFC_STATS_##_attr }
#define REASON(_name, _attr, _reason, _help) \
	{ .name = _name "_total", .help = _help, .counter = true, \
	  .attr = TCA_BFC_STATS_##_attr, .reason = _reason }
#define GAUGE(_name, _attr, _help) \
	{ .name = _name, .help = _help, .attr = TCA_BFC_STATS_##_attr }
#define GAUGE_SECONDS(_name, _attr, _help) \
	{ .name = _name "_seconds", .help = _help, .unit = SECONDS, \
	  .attr = TCA_BFC_STATS_##_attr }

#define PAUSE_TIME	"pause_duration_seconds"
#define DROPS		"Packets dropped, by reason."
#define BAD		"Control frames and tags of the neighbour refused, by reason."

static const struct metric metrics[] = {
	{ .name = "sent_packets_total", .help = "Packets sent.", .counter = true,
	  .get = get_packets },
	{ .name = "sent_bytes_total", .help = "Bytes sent.", .counter = true, .get = get_bytes },
	{ .name = "drops_total", .help = "Packets dropped.", .counter = true, .get = get_drops },
	REASON("dropped_packets", DROP_LIMIT, "limit", DROPS),
	REASON("dropped_packets", DROP_CAP, "cap", DROPS),
	REASON("dropped_packets", DROP_GSO, "gso", DROPS),
	REASON("dropped_packets", DROP_MAX, "max", DROPS),
	REASON("dropped_packets", DROP_BUFFER, "buffer", DROPS),
	{ .name = "backlog_bytes", .help = "Bytes queued.", .get = get_backlog },
	GAUGE("memory_bytes", MEMORY, "Memory of queued packets."),
	GAUGE("queues_occupied", OCCUPIED, "Queues that hold packets."),
	GAUGE("queues_paused", PAUSED, "Queues that the neighbour holds paused."),
	GAUGE("upstream_paused", UPSTREAM_PAUSED,
	      "Queues or priorities of the neighbour that are held paused."),
	GAUGE("threshold_bytes", THRESHOLD, "Bytes in a queue from which on it pauses others."),
	GAUGE("link_bytes_per_second", LINK_RATE, "Speed of the link."),
	GAUGE_SECONDS("hrtt", HRTT, "Hop round-trip time in use."),
	COUNTER("flows_assigned", ASSIGNED, "Flows that got a queue."),
	COUNTER("flow_collisions", COLLISIONS, "Of these, flows that got one with packets."),
	COUNTER("flows_told_to_share", TOLD_TO_SHARE, "Of the collisions, those on purpose."),
	COUNTER("flow_entries_shared", SHARED, "Flows that found the flow table full."),
	COUNTER("untrusted_packets", UNTRUSTED, "Packets of unproved origin, not counted."),
	COUNTER("pauses_sent", PAUSE_TX, "Pauses of queues or priorities of the neighbour."),
	COUNTER("resumes_sent", RESUME_TX, "Resumes of queues or priorities of the neighbour."),
	COUNTER("pauses_received", PAUSE_RX, "Pauses of queues by the neighbour."),
	COUNTER("resumes_received", RESUME_RX, "Resumes of queues by the neighbour."),
	COUNTER("pauses_expired", EXPIRED, "Pauses that ended without a resume."),
	{ .name = "queue_paused_seconds_total", .counter = true, .unit = SECONDS,
	  .attr = TCA_BFC_STATS_QUEUE_PAUSED_NS,
	  .help = "Time that queues were paused, all of them together." },
	COUNTER("pause_frames_sent", FRAMES_TX, "PAUSE frames sent."),
	COUNTER("pause_frames_received", FRAMES_RX, "PAUSE frames received."),
	COUNTER("pfc_frames_sent", PFC_TX, "PFC frames sent."),
	COUNTER("pfc_frames_received", PFC_RX, "PFC frames received."),
	COUNTER("hellos_sent", HELLO_TX, "HELLO frames sent."),
	COUNTER("hellos_received", HELLO_RX, "HELLO frames received."),
	COUNTER("tagged_packets_sent", TAGGED_TX, "Packets sent with a tag."),
	COUNTER("tagged_packets_received", TAGGED_RX, "Packets received with a tag."),
	COUNTER("ecn_marked_packets", ECN_MARK, "Packets marked by ECN."),
	COUNTER("storms", STORMS, "Pauses taken for a storm."),
	COUNTER("storms_restored", RESTORED, "Storms after which pauses are obeyed again."),
	COUNTER("storm_sent_packets", STORM_TX, "Packets sent in a storm."),
	COUNTER("storm_dropped_packets", STORM_DROPS, "Packets dropped in a storm."),
	{ .name = "neighbour_up", .help = "1: agreed with the neighbour.", .get = get_up },
	{ .name = "neighbour_refused", .help = "1: the neighbour cannot be served.",
	  .get = get_refused },
	GAUGE("neighbour_queues", PEER_QUEUES, "Queues of the neighbour."),
	REASON("bad_frames", BAD_SHORT, "short", BAD),
	REASON("bad_frames", BAD_VERSION, "version", BAD),
	REASON("bad_frames", BAD_EPOCH, "epoch", BAD),
	REASON("bad_frames", BAD_SEQ, "seq", BAD),
	REASON("bad_frames", BAD_RANGE, "range", BAD),
	REASON("bad_frames", BAD_ROLE, "role", BAD),
	REASON("bad_frames", BAD_RATE, "rate", BAD),
	REASON("bad_frames", BAD_LOOP, "loop", BAD),
	REASON("bad_frames", BAD_TAG, "tag", BAD),
	REASON("bad_frames", PFC_BAD, "pfc", BAD),
};

static const struct metric prio_metrics[] = {
	{ "priority_held_bytes", "Bytes held of what came in.", false, ONE,
	  TCA_BFC_PRIO_STATS_HELD, NULL, NULL },
	{ "priority_pauses_sent_total", "Pauses of the neighbour.", true, ONE,
	  TCA_BFC_PRIO_STATS_PAUSE_TX, NULL, NULL },
	{ "priority_pausing_seconds_total", "Time that the neighbour was paused.", true, SECONDS,
	  TCA_BFC_PRIO_STATS_PAUSING_NS, NULL, NULL },
	{ "priority_pauses_received_total", "Pauses by the neighbour.", true, ONE,
	  TCA_BFC_PRIO_STATS_PAUSE_RX, NULL, NULL },
	{ "priority_paused_seconds_total", "Time paused by the neighbour.", true, SECONDS,
	  TCA_BFC_PRIO_STATS_PAUSED_NS, NULL, NULL },
};

#define CLASS_GAUGE(_name, _attr, _help) \
	{ .name = "class_" _name, .help = _help, .attr = TCA_BFC_TCLASS_##_attr }
#define CLASS_COUNTER(_name, _attr, _help) \
	{ .name = "class_" _name "_total", .help = _help, .counter = true, \
	  .attr = TCA_BFC_TCLASS_##_attr }

static const struct metric class_metrics[] = {
	CLASS_COUNTER("sent_packets", PACKETS, "Packets sent."),
	CLASS_COUNTER("sent_bytes", BYTES, "Bytes sent."),
	CLASS_COUNTER("dropped_packets", DROPS, "Packets dropped."),
	CLASS_GAUGE("backlog_bytes", BACKLOG, "Bytes queued."),
	CLASS_GAUGE("queues", QUEUES, "Queues that the class has."),
	CLASS_GAUGE("queues_occupied", OCCUPIED, "Of these, queues that hold packets."),
	CLASS_GAUGE("queues_paused", PAUSED, "Of these, queues that the neighbour holds paused."),
	CLASS_COUNTER("queues_exhausted", EXHAUSTED,
		      "New flows that found no empty queue, though none was meant to share."),
	CLASS_COUNTER("queue_pauses", PAUSES, "Pauses of its queues."),
	{ .name = "class_queue_paused_seconds_total", .counter = true, .unit = SECONDS,
	  .attr = TCA_BFC_TCLASS_PAUSED_NS,
	  .help = "Time that its queues were paused, all of them together." },
};

/* ---- reading ---- */

static void add_sample(const struct port *port, void *arg)
{
	struct samples *all = arg;

	if (strcmp(port->kind, "bfc"))
		return;
	all->port = grow(all->port, all->n, sizeof(*all->port));
	all->port[all->n++] = *port;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct port *)a)->name, ((const struct port *)b)->name);
}

static void read_all(struct samples *all)
{
	ports_each(add_sample, all);
	if (all->n)
		qsort(all->port, all->n, sizeof(*all->port), by_name);
}

/* ---- writing ---- */

/* true for a byte that a label shows as \xHH: it is not UTF-8 or a control
 * character, or it is a backslash that would look like one of these, so that no
 * two names have the same label.
 */
static bool is_coded(const char *value, unsigned int n)
{
	return !n || out_control(value) || (*value == '\\' && value[1] == 'x');
}

/* In a label " and \ and the end of line have a backslash before them. */
static void put_label(FILE *to, const char *name, const char *value)
{
	unsigned int n;

	fprintf(to, "%s=\"", name);
	for (; *value; value += n) {
		n = out_utf8(value);
		if (*value == '\n') {
			fputs("\\n", to);
		} else if (is_coded(value, n)) {
			n = 1;
			fprintf(to, "\\\\x%02x", (unsigned char)*value);
		} else {
			if (*value == '"' || *value == '\\')
				fputc('\\', to);
			fwrite(value, n, 1, to);
		}
	}
	fputc('"', to);
}

static void put_value(FILE *to, const struct metric *m, uint64_t value)
{
	if (m->unit == SECONDS)
		fprintf(to, "} %llu.%09llu\n", (unsigned long long)value / 1000000000,
			(unsigned long long)value % 1000000000);
	else
		fprintf(to, "} %llu\n", (unsigned long long)value);
}

/* @netns: name of the namespace, NULL = that of the caller */
static void put_netns(FILE *to, const char *netns)
{
	if (!netns)
		return;
	put_label(to, "netns", netns);
	fputc(',', to);
}

static void put_begin(FILE *to, const struct metric *m, const struct port *s,
		      const char *netns)
{
	fprintf(to, "bfc_%s{", m->name);
	put_netns(to, netns);
	put_label(to, "device", s->name);
}

static void put_head(FILE *to, const struct metric *m)
{
	fprintf(to, "# HELP bfc_%s %s\n# TYPE bfc_%s %s\n", m->name, m->help, m->name,
		m->counter ? "counter" : "gauge");
}

static void put_port_metrics(FILE *to, const struct samples *all, const char *netns)
{
	const struct metric *m, *before = NULL;
	unsigned int i;

	for (m = metrics; m < metrics + ARRAY_SIZE(metrics); before = m++) {
		if (!before || strcmp(before->name, m->name))
			put_head(to, m);
		for (i = 0; i < all->n; i++) {
			const struct port *s = &all->port[i];

			put_begin(to, m, s, netns);
			if (m->reason) {
				fputc(',', to);
				put_label(to, "reason", m->reason);
			}
			put_value(to, m, m->get ? m->get(s) : s->stats.value[m->attr]);
		}
	}
}

/* A line of a histogram other than a bucket */
static void put_pause_line(FILE *to, const char *what, const struct port *s,
			   const char *netns, enum unit unit, uint64_t value)
{
	const struct metric m = { .name = what, .unit = unit };

	put_begin(to, &m, s, netns);
	put_value(to, &m, value);
}

/* Buckets are cumulative. */
static void put_pause_times(FILE *to, const struct samples *all, const char *netns)
{
	static const struct metric bucket = { .name = PAUSE_TIME "_bucket" };
	uint64_t n, most;
	unsigned int i, b;

	fprintf(to, "# HELP bfc_" PAUSE_TIME " How long pauses by the neighbour took, of queues, or of priorities where these are paused; when they have ended.\n"
		    "# TYPE bfc_" PAUSE_TIME " histogram\n");
	for (i = 0; i < all->n; i++) {
		const struct port *s = &all->port[i];

		for (n = 0, b = 0; b < BFC_PAUSE_TIMES; b++) {
			n += s->stats.pause_times[b];
			most = bfc_pause_time_most(b);
			put_begin(to, &bucket, s, netns);
			if (most)
				fprintf(to, ",le=\"%llu.%09llu\"",
					(unsigned long long)most / 1000000000,
					(unsigned long long)most % 1000000000);
			else
				fprintf(to, ",le=\"+Inf\"");
			put_value(to, &bucket, n);
		}
		put_pause_line(to, PAUSE_TIME "_sum", s, netns, SECONDS,
			       s->stats.value[TCA_BFC_STATS_PAUSED_NS]);
		put_pause_line(to, PAUSE_TIME "_count", s, netns, ONE, n);
	}
}

static unsigned int prios_of(const struct port *s)
{
	return s->stats.has_prios ? BFC_STATS_PRIOS : 0;
}

static uint64_t prio_stat(const struct port *s, unsigned int prio, unsigned int attr)
{
	return s->stats.prio[prio][attr];
}

static unsigned int classes_of(const struct port *s)
{
	return s->stats.classes;
}

static uint64_t class_stat(const struct port *s, unsigned int class, unsigned int attr)
{
	return s->stats.tclass[class][attr];
}

/**
 * struct each - metrics of parts of a port: priorities or classes
 * @label: name of the label with the number of the part
 * @metric: metrics of one part
 * @metrics: number of them
 * @count: number of parts of a port
 * @get: value of a part, by TCA_BFC_*
 */
struct each {
	const char *label;
	const struct metric *metric;
	unsigned int metrics;
	unsigned int (*count)(const struct port *s);
	uint64_t (*get)(const struct port *s, unsigned int one, unsigned int attr);
};

static const struct each each_prio = {
	"priority", prio_metrics, ARRAY_SIZE(prio_metrics), prios_of, prio_stat
};

static const struct each each_class = {
	"class", class_metrics, ARRAY_SIZE(class_metrics), classes_of, class_stat
};

static void put_each(FILE *to, const struct samples *all, const char *netns,
		     const struct each *each)
{
	const struct metric *m;
	unsigned int i, one;

	for (m = each->metric; m < each->metric + each->metrics; m++) {
		bool first = true;

		for (i = 0; i < all->n; i++) {
			const struct port *s = &all->port[i];

			for (one = 0; one < each->count(s); one++) {
				if (first)
					put_head(to, m);
				first = false;
				put_begin(to, m, s, netns);
				fprintf(to, ",%s=\"%u\"", each->label, one);
				put_value(to, m, each->get(s, one, m->attr));
			}
		}
	}
}

static void put_all(FILE *to, const struct samples *all, const char *netns)
{
	fprintf(to, "# HELP bfc_build_info 1, of this version of bfcctl.\n"
		    "# TYPE bfc_build_info gauge\n"
		    "bfc_build_info{");
	put_netns(to, netns);
	fprintf(to, "version=\"" BFC_RELEASE "\"} 1\n");
	if (!all->n)
		return;
	put_port_metrics(to, all, netns);
	put_pause_times(to, all, netns);
	put_each(to, all, netns, &each_prio);
	put_each(to, all, netns, &each_class);
}

void cmd_metrics(int argc, char **argv)
{
	const char *path = argc ? next_word(&argc, &argv, "") : NULL;
	struct samples all = {};
	struct file file;

	if (argc)
		usage_fail("what is \"%s\"?", *argv);
	if (ctl.json)
		usage_fail("\"metrics\" has a format of its own, not JSON");
	read_all(&all);
	if (path) {
		file_begin(&file, path);
		put_all(file.to, &all, ctl.netns);
		file_end(&file);
	} else {
		put_all(stdout, &all, ctl.netns);
	}
	free(all.port);
}
