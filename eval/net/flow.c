// SPDX-License-Identifier: GPL-2.0
/*
 * evalflow - send flows between the hosts of a simulated network
 *
 *	evalflow --flows FILE --out FILE --source open|window|tcp [OPTIONS]
 *
 * Writes a CSV line per flow: what was sent, what arrived and when. Times are
 * in ns since the start of the run; -1 is never. Sizes are those of frames on
 * the wire. Options are in ns and bytes:
 *
 *	--start NS		CLOCK_MONOTONIC of the start (default: in 10 ms)
 *	--until NS		give up so long after the start (1 s)
 *	--from NS --to NS	when throughput is measured (always)
 *	--packet BYTES		a full frame on the wire (1000)
 *	--header BYTES		of it for headers (42; with a tag 46; TCP 54 ...)
 *	--gso			let the kernel cut packets (open, window)
 *	--tick NS		time between looks at the sockets (open; 20000)
 *	--window BYTES		most in flight (window; 100000)
 *	--rto NS		without progress, send again (window; 1 ms)
 *	--congestion NAME	tcp's congestion control (cubic)
 *	--ssthresh PACKETS	end of slow start (tcp; by default the first mark or
 *				loss, or where CUBIC finds it)
 *	--bound PACKETS		most in flight, and end of slow start (tcp)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "flow.h"
#include "input.h"

const char *program_name = "evalflow";

struct options opt = {
	.packet = 1000,
	.header = 42,
	.window = 100000,
	.rto = 1000000,
	.until = NSEC_PER_SEC,
	.to = NEVER,
	.tick = 20000,
	.congestion = "cubic",
	.sockbuf = 2 << 20,
};

uint32_t n_done;

enum {
	FLOWS = 1,
	OUT,
	SOURCE,
	START,
	UNTIL,
	FROM,
	TO,
	PACKET,
	HEADER,
	GSO,
	TICK,
	WINDOW,
	RTO,
	CONGESTION,
	SSTHRESH,
	BOUND,
};

static const struct option options[] = {
	{ "flows", required_argument, NULL, FLOWS },
	{ "out", required_argument, NULL, OUT },
	{ "source", required_argument, NULL, SOURCE },
	{ "start", required_argument, NULL, START },
	{ "until", required_argument, NULL, UNTIL },
	{ "from", required_argument, NULL, FROM },
	{ "to", required_argument, NULL, TO },
	{ "packet", required_argument, NULL, PACKET },
	{ "header", required_argument, NULL, HEADER },
	{ "gso", no_argument, NULL, GSO },
	{ "tick", required_argument, NULL, TICK },
	{ "window", required_argument, NULL, WINDOW },
	{ "rto", required_argument, NULL, RTO },
	{ "congestion", required_argument, NULL, CONGESTION },
	{ "ssthresh", required_argument, NULL, SSTHRESH },
	{ "bound", required_argument, NULL, BOUND },
	{}
};

static int64_t since_start(uint64_t when)
{
	return when == NEVER ? -1 : (int64_t)(when - opt.start);
}

static void write_results(const char *name)
{
	FILE *out = fopen(name, "we");
	uint32_t i;

	if (!out)
		die(name);
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	fputs("src,dst,bytes,start,packets,got,reordered,resent,first,last,newest,acked,got_bytes,measured\n",
	      out);
	for (i = 0; i < n_flows; i++) {
		const struct flow *f = &flows[i];

		fprintf(out, "%s,%s,%ju,%ju,%u,%u,%u,%u,%jd,%jd,%jd,%jd,%ju,%ju\n",
			hosts[f->src].name, hosts[f->dst].name, f->bytes,
			f->start, f->packets, f->got, f->reordered, f->resent,
			since_start(f->first), since_start(f->last),
			f->got ? since_start(f->newest) : -1,
			since_start(f->acked), f->got_bytes, f->measured);
	}
	if (ferror(out) || fclose(out))
		die(name);
}

int main(int argc, char **argv)
{
	const char *file = NULL, *out = NULL, *source = NULL;
	int c, which = 0;

	while ((c = getopt_long(argc, argv, "", options, &which)) != -1) {
		const char *name = c == '?' ? "" : options[which].name;

		switch (c) {
		case FLOWS:
			file = optarg;
			break;
		case OUT:
			out = optarg;
			break;
		case SOURCE:
			source = optarg;
			break;
		case START:
			opt.start = option_number(name, optarg, 1, NEVER / 4);
			break;
		case UNTIL:
			opt.until = option_number(name, optarg, 1, NEVER / 4);
			break;
		case FROM:
			opt.from = option_number(name, optarg, 0, NEVER / 4);
			break;
		case TO:
			opt.to = option_number(name, optarg, 1, NEVER / 4);
			break;
		case PACKET:
			opt.packet = option_number(name, optarg, 128,
						   PAYLOAD_MAX);
			break;
		case HEADER:
			opt.header = option_number(name, optarg, 0, 100);
			break;
		case GSO:
			opt.gso = true;
			break;
		case TICK:
			opt.tick = option_number(name, optarg, 1, NSEC_PER_SEC);
			break;
		case WINDOW:
			opt.window = option_number(name, optarg, 1, UINT32_MAX);
			break;
		case RTO:
			opt.rto = option_number(name, optarg, 1,
						100 * NSEC_PER_SEC);
			break;
		case CONGESTION:
			opt.congestion = optarg;
			break;
		case SSTHRESH:
			opt.ssthresh = option_number(name, optarg, 2, 65535);
			break;
		case BOUND:
			opt.bound = option_number(name, optarg, 2, 65535);
			break;
		default:
			return 2;
		}
	}
	if (!file || !out || !source || optind < argc)
		usage_error("usage: evalflow --flows FILE --out FILE --source open|window|tcp [OPTIONS]");
	if (strcmp(source, "open") && strcmp(source, "window") &&
	    strcmp(source, "tcp"))
		usage_error("--source: \"%s\" is not open, window or tcp",
			    source);
	if (strcmp(source, "tcp") &&
	    opt.header + sizeof(struct packet) > FRAME_MIN)
		usage_error("--header: %u leaves no room in a frame of %d bytes",
			    opt.header, FRAME_MIN);

	/* Else a sleep may last 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1);
	flows_read(file);
	hosts_open();
	if (!opt.start)
		opt.start = now_ns() + 10000000;
	if (!strcmp(source, "open")) {
		open_run();
	} else if (!strcmp(source, "window")) {
		window_run();
	} else {
		tcp_prepare();
		tcp_run();
	}
	show_progress(now_ns(), true);
	write_results(out);
	return 0;
}
