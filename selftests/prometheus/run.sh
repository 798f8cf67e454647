#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A Prometheus that asks a node exporter, as docs/monitoring.md and docs/examples/prometheus
# have it, sees what the ports have. Both are Debian's (scripts/promtool), and run here on
# the lo of a network namespace of their own; the ports are in the simulator (ports.sh).
#
# Usage: run.sh
# Exit code: 0, 1 a test failed, 4 not possible here (skip)

# shellcheck disable=SC2317
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=${here%/*/*}
# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"
programs=$top/build/promtool/usr/bin
examples=$top/docs/examples/prometheus

if [ -z "${PROMETHEUS_DIR:-}" ]; then
	"$top/scripts/promtool" >/dev/null || skip_all "no Prometheus"
	[ "$(id -u)" -eq 0 ] || skip_all "a network namespace needs root"
	dir=$(mktemp -d) || exit 1
	# Processes in the background end with the namespace's first one.
	PROMETHEUS_DIR=$dir unshare --net --pid --fork --kill-child --mount-proc -- "$0"
	rc=$?
	rm -rf "$dir"
	exit "$rc"
fi
dir=$PROMETHEUS_DIR
ip link set lo up

# soon COMMAND...: within two minutes, on a busy host
soon() {
	local end=$((SECONDS + 120))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.2
	done
}

api() { curl -sG --max-time 60 "http://127.0.0.1:9090/api/v1/$1" "${@:2}"; }
query() { api query --data-urlencode "query=$1"; }

# values QUERY: of all that it finds
values() { query "$1" | jq -r '.data.result[].value[1]'; }

# of_pn NAME: as Prometheus has it; as_tc FIELD
of_pn() { values "$1{netns=\"sw\",device=\"pn\"}"; }
as_tc() { jq -r --arg field "$1" '.[] | select(.dev == "pn" and .root) | .[$field]' "$dir/2.json"; }

# turn N: the exporter finds what the ports had then; as a whole, as bfcctl writes it
turn() { cp "$dir/$1.prom" "$dir/text/.new" && mv "$dir/text/.new" "$dir/text/bfc.prom"; }

samples() { [ "$(values "count_over_time(bfc_neighbour_up{device=\"pn\"}[10m])")" -ge "$1" ]; }
caught_up() { [ "$(of_pn bfc_sent_packets_total)" = "$(as_tc packets)" ]; }

# documented: the queries in monitoring.md
# shellcheck disable=SC2016	# backquotes as they stand there
documented() {
	sed -n '/^| to see | query/,/^$/p' "$top/docs/monitoring.md" | tail -n +3 |
		sed 's/^|[^|]*|//' | grep -o '`[^`]*`' | grep '[_(]' | tr -d '`'
}

test_ports() {
	"$top/scripts/sim" --out "$dir" --env "PROMETHEUS_DIR=$dir" -- \
		"$here/ports.sh" >"$dir/said" 2>&1 ||
		fail "the simulator: $(grep '^not ok' "$dir/said" || tail -n 1 "$dir/said")"
	check "packets sent: $(as_tc packets)" [ "$(as_tc packets)" -ge 800 ]
}

test_scraped() {
	mkdir "$dir/text" && turn 1 && cp "$dir/h.prom" "$dir/text" || fail "no metrics" || return
	"$programs/prometheus-node-exporter" --web.listen-address 127.0.0.1:9100 \
		--collector.disable-defaults --collector.textfile \
		--collector.textfile.directory "$dir/text" 2>"$dir/exporter" &
	# Four minutes of the example are some seconds here.
	sed 's/^  scrape_interval: 15s$/  scrape_interval: 1s/' "$examples/prometheus.yml" \
		>"$dir/prometheus.yml"
	"$programs/promtool" check config "$dir/prometheus.yml" >"$dir/said" 2>&1 ||
		fail "promtool: $(tail -n 1 "$dir/said")"
	"$programs/prometheus" --config.file "$dir/prometheus.yml" \
		--storage.tsdb.path "$dir/tsdb" --web.listen-address 127.0.0.1:9090 \
		2>"$dir/server" &
	soon samples 2 ||
		fail "not asked: $(tail -n 1 "$dir/server") $(tail -n 1 "$dir/exporter")"
	equal "targets that answer" "$(values up)" 1
	equal "complaints of the collector" "$(values node_textfile_scrape_error)" 0
	equal "namespaces, of two files" "$(values 'count(bfc_build_info) by (netns)' | xargs)" "1 1"
	check "packets were sent already" [ "$(of_pn bfc_sent_packets_total)" -lt 100 ]
	turn 2
	soon caught_up || fail "packets sent: $(of_pn bfc_sent_packets_total), of tc $(
		as_tc packets)"
	soon samples 6	# for rates
	equal "bytes sent" "$(of_pn bfc_sent_bytes_total)" "$(as_tc bytes)"
	equal "queues of the neighbour" "$(of_pn bfc_neighbour_queues)" "$(as_tc peer_queues)"
	equal "neighbour" "$(of_pn bfc_neighbour_up)" 1
	equal "limits of the histogram" \
		"$(query 'bfc_pause_duration_seconds_bucket{device="pn"}' |
			jq '.data.result | length')" 22
	at_least "packets a second" \
		"$(values 'rate(bfc_sent_packets_total{device="pn"}[1m])')" 1
}

# ports QUERY: those that it has found
ports() { query "$1" | jq -r '[.data.result[].metric.device] | unique | join(" ")'; }

test_documented_queries() {
	local line n=0
	while IFS= read -r line; do
		n=$((n + 1))
		equal "query $line" "$(query "$line" | jq -r '"\(.status) \(.error // "")"')" \
			"success "
		# Comparisons find what is wrong, and these ports have no priorities.
		[[ $line == *' > '* || $line == *' == '* || $line == *priority* ]] ||
			equal "ports of $line" "$(ports "$line")" "e0 ph pn"
		# Names that there are: bfc_... of a query has values
		[[ $line != *' > '* && $line != *' == '* ]] ||
			at_least "values of $line, not compared" \
				"$(query "${line% [=>]*}" | jq '.data.result | length')" 2
	done < <(documented)
	equal "queries in docs/monitoring.md" "$n" 13
}

run_each ports scraped documented_queries
all_passed
