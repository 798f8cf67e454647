#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The evaluation at its quick sizes: do experiments run (with --long each of them), is
# a run repeated bit by bit, and are the results what BFC promises? To be run on the
# host; each run is a simulation of its own (eval/run, scripts/sim).
#
# What BFC is better at is compared on the same flows. The quick sizes are small samples: a
# bound is to leave room for seeds 1 to 3, and none for a scheme without what is tested.
# The figures themselves are in docs/results.md.
#
# Usage: [JOBS=N] eval.sh [--long | TEST...]
#	JOBS	simulations side by side (default 2)
#	--long	all of them, an hour or more; the others take ten minutes
# Exit code: 0, 1 a test failed, 4 cannot run here.

# Functions are called by name.
# shellcheck disable=SC2317

set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$top" || exit 1
# One for each part: the experiments' own code, queues, fair shares, each mode, HPCC, and
# who waits where queues run short.
tests=(unit fig7 table1 appc fig10 pauses fafc capfc hpcc_rx dest)
long=(fig8 srf classes fig24 fig25 fig26 fig28 choices short buffer tcp fig22 fig23 fig27 capfc_long capfc_shared
	hpcc hpcc_reacts hpcc_wai hpcc_testbed hpcc_fabric hpcc_choices hpcc_queues
	hpcc_eta delay delay_clos fafc_hpcc hrtt speed schemes repeat rest)
out=$(mktemp -d "${TMPDIR:-/tmp}/bfc-eval.XXXXXX")
trap 'rm -rf "$out"' EXIT
line=''
ran=()			# experiments that have been run at their quick size

# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"
end_test() { note="time=${SECONDS}s${note:+ $note}" SECONDS=0; }

# eval_run NAME OPTIONS...: what it printed is left in $out
eval_run() {
	timeout 3600 eval/run "$@" --jobs "${JOBS:-2}" --out "$out" >"$out/stdout" 2>"$out/stderr"
}

# experiment NAME OPTIONS...: its last line is left in $line
experiment() {
	local replace=(--replace)
	[[ " $* " != *" --resume "* ]] || replace=()
	if ! eval_run "$@" "${replace[@]}"; then
		sed 's/^/# /' "$out/stderr"
		fail "eval/run $1 failed"
	fi
	line=$(tail -n 1 "$out/stdout")
	note=${line#*: }
	[ $# -gt 1 ] || ran+=("$1")
}

# value NAME: of a metric in $line
value() { tr ' ' '\n' <<<"$line" | sed -n "s/^$1=//p"; }

# bound NAME OPERATOR VALUE [FACTOR]: of a metric in $line, against a number or
# another metric, times FACTOR
bound() {
	local value than=$3 limit
	value=$(value "$1")
	[[ $than != [a-z]* ]] || than=$(value "$than")
	if [ -z "$value" ] || [ -z "$than" ]; then
		fail "no $1 or no $3 in \"$line\""
		return
	fi
	numbers "$1, $2 $3" "$value" "$than" || return	# to awk nan is 0
	limit=$(awk "BEGIN { print $than * ${4:-1} }")
	awk "BEGIN { exit !($value $2 $limit) }" ||
		fail "$1 is $value, wanted $2 $limit ($3${4:+ x $4})"
}

# all_arrived: nothing lost, every flow complete
all_arrived() {
	bound drops == 0
	bound unfinished == 0
}

test_unit() {
	make -s -C eval/net >"$out/make" 2>&1 || fail "make -C eval/net"
	local test
	for test in eval control dest results; do
		/usr/bin/python3 "eval/tests/test_$test.py" >"$out/unit" 2>&1 || {
			sed 's/^/# /' "$out/unit"
			fail "eval/tests/test_$test.py"
		}
		note="$note$(grep -E '^Ran' "$out/unit") "
	done
}

# Two flows: a full link and short queues with "resume early"; with the paper's
# rule a link that now and then runs dry.
test_fig7() {
	experiment bfc-fig7
	bound util_pct_at_2us '>=' 99
	bound avg_queue_kb_at_2us '<=' 15
	bound paper_util_pct_at_2us '>=' 80
	bound paper_util_pct_at_2us '<=' 97
	bound drops == 0
}

# Group 1 does not notice as long as there are queues enough.
test_fig8() {
	experiment bfc-fig8
	# The two flows of group 1 share a queue then: the first is done first.
	bound destination_mean_us '<=' 560
	bound dynamic_mean_us '<=' 560
	bound dynamic_sd_us '<=' 40
	bound dynamic_paper_mean_us '<=' 560
	bound stochastic_sd_us '>=' 200
	bound single_mean_us '>=' 2400
	bound drops == 0
}

test_table1() {
	experiment bfc-table1
	bound throughput_pct '>=' 95
	bound bfc_paper_throughput_pct '>=' 85
	bound delay_p99_us '>=' 0
	bound delay_p99_us '<=' 1.2
	bound drops == 0
}

# The formula has 7.6, 20 and 9.9 %, for fluid.
test_appc() {
	experiment bfc-appc
	bound drained_idle_at_1.1 '>=' 0.05
	bound drained_idle_at_2 '>=' 0.1
	bound drained_idle_at_2 '<=' 0.3
	bound early_idle_at_1.1 '<=' 0.01
	bound early_idle_at_2 '<=' 0.01
	bound early_idle_at_8 '<=' 0.01
}

# BFC like ideal fair queueing, with a small network and no loss. A new flow has its turn
# next: a lone packet waits for what is being sent, at each of four hops, 4 x 80 ns of an
# ideal 8.3 us. With the paper's rules it is 1.07 and more.
test_fig10() {
	experiment bfc-fig10
	bound bfc_short_p99 '>=' 0.99
	bound bfc_short_p99 '<=' 1.05
	bound bfc_short_p99 '<' ideal_fq_short_p99
	bound ideal_fq_short_p99 '<=' 1.15
	bound bfc_held_max_kb '<' ideal_fq_held_max_kb 0.7
	all_arrived
}

# What BFC is for: the tail of short flows. It is before that of ideal fair queueing, whose
# new flows wait for a round, with incast clearly, and far before DCTCP's and that of one
# queue; not at the expense of long flows, nor of memory.
test_short() {
	local load
	experiment bfc-fig11
	bound bfc_noincast_short_p99 '<' ideal_fq_noincast_short_p99
	bound bfc_incast_short_p99 '<' ideal_fq_incast_short_p99 0.9
	for load in noincast incast; do
		bound bfc_${load}_short_over2 == 0
		bound bfc_${load}_short_p99 '<' dctcp_${load}_short_p99 0.5
		bound bfc_${load}_short_p99 '<' single_${load}_short_p99 0.1
		bound bfc_${load}_all_mean '<=' ideal_fq_${load}_all_mean
		bound bfc_${load}_long_mean '<=' ideal_fq_${load}_long_mean 1.02
	done
	bound bfc_incast_short_p99 '<' dctcp_incast_short_p99 0.2
	bound bfc_incast_held_max_kb '<' dctcp_incast_held_max_kb 0.5
	bound bfc_incast_held_max_kb '<' ideal_fq_incast_held_max_kb 0.4
	all_arrived
}

# The paper's switches have 12 MB of packets for all ports together. Here a port
# has a limit, and it is one of memory, of which a full frame takes 1.7 times its
# length. So no port may take more than 12 MB of memory, and no switch may hold
# more than 12 MB of packets. On this network, which is a quarter of the paper's
# and has a quarter of its incasts (5 MB), a quarter of both.
test_buffer() {
	experiment bfc-fig9
	bound bfc_short_p99 '<' ideal_fq_short_p99 0.9
	bound bfc_held_max_kb '<' ideal_fq_held_max_kb 0.25
	all_arrived
	experiment bfc-fig9 --set schemes=bfc --set limit=3000000b --set ms=0.6
	bound bfc_held_max_kb '<=' 3000
	all_arrived
}

# A transport does not suffer from backpressure below it: over BFC, TCP is as fast
# as over fq_codel, and faster with incast.
test_tcp() {
	experiment bfc-fig11 --set schemes=bfc-cubic,fq_codel
	bound bfc_cubic_noincast_all_mean '<=' fq_codel_noincast_all_mean 1.05
	bound bfc_cubic_noincast_all_p99 '<=' fq_codel_noincast_all_p99 1.05
	bound bfc_cubic_incast_all_mean '<=' fq_codel_incast_all_mean
	bound bfc_cubic_incast_all_p99 '<=' fq_codel_incast_all_p99 1.05
	bound bfc_cubic_noincast_short_p99 '<=' fq_codel_noincast_short_p99 1.05
	bound bfc_cubic_incast_short_p99 '<=' fq_codel_incast_short_p99 1.05
	bound unfinished == 0
}

# Twice as many flows as with uniform pairs: the hosts' links are loaded as well. As in
# test_short.
test_fig22() {
	local load
	experiment bfc-fig22
	bound bfc_noincast_short_p99 '<' ideal_fq_noincast_short_p99
	bound bfc_incast_short_p99 '<' ideal_fq_incast_short_p99 0.9
	for load in noincast incast; do
		bound bfc_${load}_long_mean '<=' ideal_fq_${load}_long_mean 1.02
	done
	bound bfc_incast_held_max_kb '<' ideal_fq_incast_held_max_kb 0.4
	all_arrived
}

# Slow start: shorter queues under incast, and flows that take longer.
test_fig23() {
	local load
	experiment bfc-fig23
	bound dctcp_ss_incast_held_max_kb '<' dctcp_incast_held_max_kb
	bound dctcp_ss_incast_short_p99 '<' dctcp_incast_short_p99
	for load in noincast incast; do
		bound dctcp_ss_${load}_middle_p50 '>' \
			dctcp_${load}_middle_p50 1.3
		bound bfc_${load}_short_p99 '<' dctcp_ss_${load}_short_p99
	done
	bound unfinished == 0
}

test_fig27() {
	experiment bfc-fig27
	bound stochastic_collisions_pct '>' bfc_collisions_pct 2
	bound stochastic_short_p99 '>' bfc_paper_short_p99
	all_arrived
}

test_fig28() {
	experiment bfc-fig28
	bound bfc_1x_1_short_p99 '>' bfc_100x_1_short_p99 1.5
	# Flows without an entry share one with their like: ten for each queue are enough.
	bound bfc_10x_1_short_p99 '<=' bfc_100x_1_short_p99 1.1
	# With four ways none shares one, as with ten times as many entries.
	bound bfc_10x_4_short_p99 '<=' bfc_100x_1_short_p99
	all_arrived
}

# Near a queue for each flow and no pauses, and sooner than with turns; where queues run short a flow
# of similar size is the best to share one with.
test_srf() {
	local all=fb_hadoop_bfc_all_mean short=google_short
	experiment bfc-fig17
	bound "bfc_srf_$all" '<' "bfc_$all" 0.97
	bound "bfc_srf_$all" '<=' "ideal_srf_$all" 1.02
	all_arrived
	experiment bfc-fig19
	bound "bfc_srf_similar_${short}_mean" '<' "bfc_srf_paper_${short}_mean" 0.9
	bound "bfc_srf_similar_${short}_mean" '<' "bfc_srf_${short}_mean" 0.95
	bound "bfc_srf_similar_${short}_p99" '<=' "ideal_srf_${short}_p99" 1.05
	all_arrived
}

# The highest of four classes is as good as alone, the lowest waits.
test_classes() {
	experiment bfc-fig20
	bound bfc_32_class3_short_p99 '<' 1.1
	bound bfc_32_class3_long_p99 '<' dctcp_class3_long_p99
	bound bfc_32_class0_short_p99 '>' bfc_32_class3_short_p99 5
	all_arrived
}

# A label keeps an incast out of the queues of others: at least as well as shares of
# destinations, which need none, and better than neither.
test_fig24() {
	experiment bfc-fig24
	bound bfc_label_short_p99 '<=' bfc_short_p99
	bound bfc_label_dynamic_short_p99 '<' bfc_dynamic_short_p99
	bound bfc_label_dynamic_held_max_kb '<' bfc_dynamic_held_max_kb 0.7
	bound bfc_dynamic_short_over2 '>' 0
	bound bfc_label_short_over2 == 0
	all_arrived
}

# Half of the packets tell as much as all. Hosts that obey no pause fill the first switch, less
# so with a window; flows do not take longer for it (with shares of destinations they do).
test_fig25() {
	experiment bfc-fig25 --set \
		schemes=bfc,bfc-sample50,bfc-no-nic-dynamic,bfc-no-nic-open
	bound bfc_sample50_short_p99 '<=' bfc_short_p99 1.05
	bound bfc_sample50_held_max_kb '<=' bfc_held_max_kb 1.2
	bound bfc_no_nic_dynamic_held_max_kb '>' bfc_held_max_kb 1.2
	bound bfc_no_nic_dynamic_held_max_kb '<' bfc_no_nic_open_held_max_kb 0.5
	bound bfc_no_nic_dynamic_short_p99 '<=' bfc_short_p99 1.05
	all_arrived
}

# Hop by hop, a link of 400 us is full and a flow within a data center waits for none that leaves
# it; rates that follow the end-to-end loop do neither.
test_fig26() {
	experiment bfc-fig26
	bound bfc_hrtt_both_used_pct '>=' 98
	bound dcqcn_both_used_pct '<' bfc_hrtt_both_used_pct 0.8
	bound bfc_hrtt_both_short_p99 '<=' bfc_hrtt_local_short_p99 1.05
	bound bfc_hrtt_both_short_p99 '<' dcqcn_both_short_p99 0.7
	all_arrived
}

test_choices() {
	experiment bfc-choices
	bound base_short_p99 '<=' 40
	bound stochastic_short_p99 '>' base_short_p99 1.5
	bound table_1x_short_p99 '>' base_short_p99 1.5
	all_arrived
}

# FAFC's switches serve the ports in turn and pause them for a computed time: flows
# take less long than with PFC, nothing is lost with either, and the flow that is not
# congested suffers less than if PFC's switches served their ports in turn as well. That
# would be so without any pause, for few are needed: with a threshold of less than what
# comes at once the pauses keep packets out of the switch that without them are in it.
test_fafc() {
	experiment fafc-table3
	bound fafc_all '<=' pfc_all 0.92
	bound fafc_large '<=' pfc_large 0.9
	bound fafc_large '<' pfc_wfq_large 0.97
	all_arrived
	experiment fafc-fig4 --set schemes=inf-wfq,fafc --set threshold=100000
	bound fafc_sw2_peak_kb '<' infbuf_wfq_sw2_peak_kb 0.9
	bound drops == 0
}

# FAFC Fig. 3: PFC pauses the link between the switches most, FAFC least.
test_pauses() {
	experiment fafc-fig3
	bound pfc_link_us '>' pfc_others_max_us
	bound fafc_link_us '<' fafc_others_min_us
	bound fafc_link_us '>' 0
	bound pfc_receivers_us == 0
	bound fafc_receivers_us == 0
	bound drops == 0
}

# CaPFC Fig. 8, scenario 1: PFC with drop loses packets, and time-outs make the tail
# of queries; CaPFC's egress queues pause in time. PFC with stop loses none, but short
# flows, which have a strict priority, wait behind those that cannot go on. BFC needs no
# priorities for its queries.
test_capfc() {
	experiment capfc-fig8
	bound pfc_drop_drops '>=' 100
	bound capfc_max_drops '<' pfc_drop_drops 0.1
	bound capfc_cal_drops '<=' capfc_max_drops
	bound pfc_stop_drops == 0
	bound pfc_drops == 0
	bound bfc_drops == 0
	bound stalls '>' 0
	bound capfc_cal_query_ms '<' pfc_drop_query_ms 0.5
	# In this size by luck, whichever is the faster; docs/results-capfc.md has the full one.
	bound capfc_cal_query_ms '<' capfc_max_query_ms 1.1
	bound capfc_cal_short_ms '<' pfc_stop_short_ms 0.5
	bound bfc_query_ms '<' pfc_drop_query_ms 0.5
	bound bfc_query_ms '<' capfc_cal_query_ms
	bound unfinished == 0
}

# Table III: not at the expense of long flows.
test_capfc_long() {
	experiment capfc-table3 --set schemes=pfc-drop,pfc-stop,capfc-max,capfc-cal
	bound capfc_max_long_ms '<=' pfc_drop_long_ms 1.2
	bound capfc_cal_long_ms '<=' pfc_drop_long_ms 1.2
	bound capfc_cal_long_ms '<' pfc_stop_long_ms
	bound unfinished == 0
}

# Fig. 9: from a shared memory CaPFC cal drops nothing, and is not behind CaPFC max, whose
# tail depends on which packets it loses.
test_capfc_shared() {
	experiment capfc-fig9
	bound pfc_drop_drops '>=' 100
	bound capfc_cal_drops == 0
	bound capfc_max_drops '<' pfc_drop_drops 0.1
	bound capfc_cal_query_ms '<' pfc_drop_query_ms
	bound capfc_cal_query_ms '<' capfc_max_query_ms
	bound unfinished == 0
}

# HPCC Fig. 9: near-zero queues, and so mice that take little more than the 5.4 us of the
# empty network; an incast that is over soon; equal shares.
test_hpcc() {
	experiment hpcc-fig9
	bound hpcc_long_short_recovery_us '<=' 100
	bound hpcc_long_short_alone_gbps '>=' 23
	bound hpcc_long_short_queue_p95_kb '<=' 5
	bound hpcc_incast_drained_us '<=' 200
	bound hpcc_incast_drained_us '<' dctcp_incast_drained_us 0.5
	bound hpcc_incast_later_kb '<=' 10
	bound hpcc_incast_finished_us '<' dctcp_incast_finished_us
	bound hpcc_mice_p50_us '<=' 6
	bound hpcc_mice_p99_us '<' dctcp_mice_p50_us 0.5
	bound hpcc_mice_queue_mean_kb '<=' 3
	bound dctcp_mice_queue_mean_kb '>=' 40
	bound hpcc_fairness_jain_4 '>=' 0.95
	bound hpcc_fairness_jain_2 '>' dctcp_fairness_jain_2
	all_arrived
}

# Fig. 6: what went out says how much is in flight; with what came in the queue swings.
test_hpcc_rx() {
	experiment hpcc-fig6
	bound hpcc_swings == 0
	bound hpcc_rx_swings '>=' 1
	bound hpcc_second_peak_kb '<=' 5
	bound hpcc_rx_second_peak_kb '>=' 15
	bound drops == 0
}

# Fig. 13: per ACK overreacts, per RTT is late, both together are neither.
test_hpcc_reacts() {
	experiment hpcc-fig13
	bound hpcc_mean_gbps '>=' 90
	bound hpcc_min_gbps '>=' 60
	bound hpcc_ack_min_gbps '<=' 20
	bound hpcc_ack_mean_gbps '<' hpcc_mean_gbps 0.7
	bound hpcc_drained_us '<' hpcc_rtt_drained_us 0.8
	bound dctcp_p95_kb '>' hpcc_p95_kb
	bound drops == 0
}

# Fig. 14: up to 150 bytes the queue is short; the larger the fairer.
test_hpcc_wai() {
	experiment hpcc-fig14
	bound wai25_p95_kb '<=' 8
	bound wai150_p95_kb '<=' 8
	bound wai300_p95_kb '>' wai150_p95_kb 1.5
	bound wai150_jain '>' wai25_jain
	bound wai25_jain '>=' 0.9
	bound wai25_gbps '>=' 90
	bound drops == 0
}

# Fig. 10: no queues to speak of, where DCTCP keeps one.
test_hpcc_testbed() {
	experiment hpcc-fig10
	bound hpcc_load50_queue_p95_kb '<=' 5
	bound hpcc_load50_queue_p99_kb '<' dctcp_load50_queue_p99_kb 0.5
	bound hpcc_load50_all_p50 '<=' dctcp_load50_all_p50 1.2
	bound hpcc_load50_pausing_pct == 0
	all_arrived
}

# Fig. 11: packets take little more than the 12 us of the empty network.
test_hpcc_fabric() {
	experiment hpcc-fig11
	bound hpcc_load50_latency_p95_us '<' dctcp_load50_latency_p95_us
	bound hpcc_load50_latency_p95_us '<=' 14
	bound hpcc_load50_latency_p95_us '>=' 12
	bound hpcc_load50_small_p95 '<' dctcp_load50_small_p95
	bound hpcc_incast_small_p95 '<' dctcp_incast_small_p95
	bound hpcc_load50_pausing_pct == 0
	all_arrived
}

# Fig. 12, with little buffer: PFC loses nothing, others do not pause, and HPCC asks
# less of either than DCTCP. What is lost is repaired.
test_hpcc_choices() {
	experiment hpcc-fig12
	bound hpcc_incast_drops == 0
	bound dctcp_incast_drops == 0
	bound hpcc_incast_pausing_pct '>=' 3
	bound hpcc_incast_pausing_pct '<' dctcp_incast_pausing_pct
	bound hpcc_sack_incast_pausing_pct == 0
	bound hpcc_nosack_incast_pausing_pct == 0
	bound hpcc_sack_incast_drops '>=' 20
	bound hpcc_sack_incast_drops '<' dctcp_sack_incast_drops
	bound hpcc_sack_incast_all_p95 '<' hpcc_incast_all_p95
	bound unfinished == 0
}

# BFC Fig. 14: queues of their own help HPCC's short flows, and not its long ones.
test_hpcc_queues() {
	experiment bfc-fig14
	# Not the p99, which is 1 to 7 with each, as the seed has it.
	bound hpcc_sfq_short_over2 '<' hpcc_short_over2 0.9
	bound hpcc_dqa_short_over2 '<' hpcc_short_over2 0.9
	bound bfc_short_over2 '<=' hpcc_dqa_short_over2 0.5
	bound hpcc_dqa_long_mean '>=' hpcc_long_mean 0.95
	bound bfc_long_mean '<' hpcc_dqa_long_mean 0.95
	bound bfc_held_max_kb '<' hpcc_dqa_held_max_kb 0.5
	all_arrived
}

# BFC Fig. 21: the more of the link HPCC is to use, the better for long flows, and the
# longer DCTCP's queues may be.
test_hpcc_eta() {
	experiment bfc-fig21
	bound hpcc_980_long_mean '<' hpcc_900_long_mean 0.97
	bound dctcp_200_long_mean '<' dctcp_50_long_mean 0.97
	bound dctcp_200_held_max_kb '>' dctcp_50_held_max_kb 1.2
	all_arrived
}

# BFC Fig. 15: with more long flows than queues mice wait, those to the neighbour as
# well, but with control at the ends less. With fewer none do.
test_delay() {
	experiment bfc-fig15
	bound bfc_paper_direct_p50_at_4 '<=' 1.1
	bound bfc_paper_cc_direct_p50_at_4 '<=' 1.1
	bound bfc_paper_direct_p90_at_64 '>' bfc_paper_cc_direct_p90_at_64 2
	bound bfc_paper_indirect_p90_at_64 '>' bfc_paper_cc_indirect_p90_at_64 2
	bound bfc_paper_cc_direct_p50_at_64 '>=' ideal_fq_direct_p50_at_64
	bound ideal_fq_indirect_p50_at_64 '<=' 1.05
	all_arrived
}

# BFC Fig. 16: it does no harm otherwise.
test_delay_clos() {
	experiment bfc-fig16
	bound bfc_cc_noincast_short_p99 '<=' bfc_noincast_short_p99 1.1
	bound bfc_cc_noincast_long_mean '<=' bfc_noincast_long_mean 1.1
	bound bfc_cc_incast_long_mean '<=' bfc_incast_long_mean 1.1
	all_arrived
}

# Fewer queues than flows: who goes elsewhere does not notice, where without shares a
# tenth or more do. One host with a thousand flows leaves queues to the others; mice to
# the elephants' host wait no longer, in the median, than with ideal fair queueing.
test_dest() {
	experiment dest
	bound bfc_dynamic_fig13_400_else_over5 '>=' 10
	bound bfc_fig13_400_else_over5 '<=' 0.5
	bound bfc_fig13_400_else_p99 '<' ideal_fq_fig13_400_else_p99
	bound bfc_fig13_400_toward_p50 '<' ideal_fq_fig13_400_toward_p50 0.75
	bound bfc_dynamic_spray_else_p50 '>=' 3
	bound bfc_spray_else_p50 '<=' 1.03
	bound bfc_spray_else_over5 '<' bfc_dynamic_spray_else_over5 0.02
	bound bfc_fig15_64s_else_p99 '<=' 1.05
	bound bfc_fig15_64s_toward_p50 '<' ideal_fq_fig15_64s_toward_p50 0.75
	local case
	for case in fig13_400 spray fig15_64s; do
		bound bfc_${case}_held_mb '<' bfc_dynamic_${case}_held_mb 0.8
		bound bfc_${case}_held_mb '<' ideal_fq_${case}_held_mb 0.25
	done
	all_arrived
	# Long flows differ by more from seed to seed than by what is asked here.
	experiment dest --set cases=fig13-400 --set schemes=bfc,bfc-dynamic --set seeds=3
	bound bfc_fig13_400_long_mean '<=' bfc_dynamic_fig13_400_long_mean 1.03
	all_arrived
	# Eight queues, 64 elephants: an empty queue is found, be it held yet. Ideal-FQ has 1.64.
	experiment dest --set cases=fig15-64s --set schemes=bfc --set seeds=6
	bound bfc_fig15_64s_toward_mean '<=' 2.2
	bound bfc_fig15_64s_else_p99 '<=' 1.05
	all_arrived
	# Flows are tiny: queues are empty, but held yet.
	experiment dest --set cases=fafc-fig8 --set schemes=bfc,ideal-fq
	bound bfc_fafc_fig8_all_p99 '<=' ideal_fq_fafc_fig8_all_p99
	bound bfc_fafc_fig8_toward_mean '<=' ideal_fq_fafc_fig8_toward_mean
	all_arrived
}

# FAFC Fig. 7, with HPCC's senders: "very close to its theoretical minimum 1".
test_fafc_hpcc() {
	experiment fafc-fig7
	bound pfc_350_short_mean '<=' 1.15
	bound fafc_350_short_mean '<=' 1.15
	bound fafc_350_held_max_kb '<' pfc_350_held_max_kb
	all_arrived
}

# 0.96 on an idle computer; wide, for others may be at work on this one.
test_speed() {
	experiment bfc-speed
	bound ratio '>=' 0.6
	bound bfc_hops_per_s '>' 0
	all_arrived
}

# What switches use is within a tenth of what their cables make, on each network.
test_hrtt() {
	local case
	experiment hrtt --set cases=bfc,fafc,hpcc-testbed,10km
	for case in bfc fafc hpcc_testbed 10km; do
		bound "${case}_in_use_near_pct" == 100
	done
	# Ports between switches: a loop is never longer than it is.
	for case in bfc fafc hpcc_testbed; do
		bound "${case}_measured_longest" '<=' 1.1
	done
	all_arrived
}

# Sources and qdiscs that no other test has: all flows arrive.
test_schemes() {
	experiment bfc-fig9 --set sizes=fb-hadoop-bfc --set clos=2,4,2 --set \
		schemes=bfc-drained,bfc-any,bfc-128,ideal-fq-open,pfifo,pfifo-gbn,bfc-dctcp,bfc-128-cubic,hpcc,hpcc-sfq,hpcc-dqa
	bound unfinished == 0
}

repeated=bfc-fig8/runs/dynamic-4-0/flows.csv
# one_run COMMAND SEED [OPTION]: leaves $out/$repeated
one_run() {
	"$1" bfc-fig8 --seed "$2" --set seeds=1 --set group2=4 --set assign=dynamic "${@:3}"
}
when_made() { stat -c '%Y %i' "$out/$repeated"; }

# Same seed, same nanoseconds; another seed, other ones.
test_repeat() {
	local run option
	for run in 1 2 3; do
		one_run experiment $((run == 3 ? 2 : 1))
		cp "$out/$repeated" "$out/flows.$run"
	done
	cmp -s "$out/flows.1" "$out/flows.2" || fail "two runs differ"
	! cmp -s "$out/flows.1" "$out/flows.3" || fail "the seed does nothing"
	# --resume takes over what is there, and nothing else.
	run=$(when_made)
	one_run experiment 2 --resume
	[ "$(when_made)" = "$run" ] || fail "--resume repeated a finished run"
	for option in '' --resume; do
		# shellcheck disable=SC2086 # one word or none
		! one_run eval_run 1 $option || fail "another seed was taken for the same"
		grep -q -e --replace "$out/stderr" || fail "the message is $(<"$out/stderr")"
	done
	[ "$(when_made)" = "$run" ] || fail "another seed's run was overwritten"
	note=''
}

# The experiments that have no test of their own: every new one is run, and leaves tables,
# numbers that are possible, and a run of each scheme in which packets were sent.
test_rest() {
	local name names wrong count=0
	names=$(eval/run --list | sed 's/ .*//')
	for name in $names; do
		[[ " ${ran[*]} " != *" $name "* ]] || continue
		experiment "$name"
		[[ $line != *unfinished=* ]] || bound unfinished == 0
		wrong=$(selftests/sim/results.py "$out/$name" 2>&1) || fail "$name: $wrong"
		count=$((count + 1))
	done
	[ "$count" -gt 0 ] || fail "eval/run --list names nothing"
	note="$count experiments"
}

if [ "${1-}" = --long ]; then
	tests=("${tests[@]}" "${long[@]}")
elif [ $# -gt 0 ]; then
	tests=("$@")
fi
scripts/sim-kernel >/dev/null
rc=$?
[ "$rc" -ne 4 ] || skip_all "no kernel source"
[ "$rc" -eq 0 ] || exit "$rc"
SECONDS=0
run_each "${tests[@]}"
all_passed
