#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What packages.sh runs on a machine that has started with systemd (scripts/vm --systemd):
# ports have the qdiscs of /etc/bfc.conf, those that were there and those that come later.
#
# Cards are plugged in and pulled out (scripts/vm --monitor), each with a cable to another one:
#
#   DEV (bfc) ---- e0 (bfc, in the network namespace boxN)
#
# Usage: KERNEL=RELEASE boot_guest.sh TEST...

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck disable=SC2034  # for tap.sh
topic=boot
dir=$(mktemp -d) || exit 1
# shellcheck source=selftests/tap.sh
. "$here/../tap.sh"
# shellcheck source=selftests/distro/cards.sh
. "$here/cards.sh"
# shellcheck source=selftests/distro/networkmanager.sh
. "$here/networkmanager.sh"
# shellcheck source=selftests/distro/networkd.sh
. "$here/networkd.sh"

# soon COMMAND...: within a minute; an emulated processor takes its time
soon() {
	local end=$((SECONDS + 60))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.5
	done
}

lacks_bfc() { ! has_bfc "$1"; }
has_bfc() { is_kind "$1" bfc; }
is_kind() { tc qdisc show dev "$1" root | grep -q "^qdisc $2 "; }

# is DEV nic|switch ELIDE
is() {
	local shown role=switch
	shown=$(tc qdisc show dev "$1" root)
	[[ $shown != *" role nic "* ]] || role=nic
	[[ $shown == "qdisc bfc "*" limit 32Mb "* && $role == "$2" ]] &&
		[[ $shown == *" elide $3 "* ]]
}

# port DEV nic|switch ELIDE: it has these soon
port() {
	soon is "$@" || fail "$1 has $(tc qdisc show dev "$1"); $(
		systemctl status --no-pager bfc.service "bfc@$1.service" 2>&1 |
			tail -n 30 | tr '\n' ' ')"
}

unit() { systemctl show -P "$2" "$1"; }
settled() { udevadm settle && [ -z "$(systemctl list-jobs --no-legend 'bfc*')" ]; }
failed_units() { systemctl list-units --failed --no-legend 'bfc*' | wc -l; }

test_without_file() {
	equal "bfc.service is enabled" "$(systemctl is-enabled bfc.service)" enabled
	equal "condition of bfc.service" "$(unit bfc.service ConditionResult)" no
	ip link add swp1 type dummy
	check "udev is busy" soon settled
	equal "units of ports" "$(systemctl list-units --all --no-legend 'bfc@*' | wc -l)" 0
	equal "failed units" "$(failed_units)" 0
	check "the module is loaded" [ ! -e /sys/module/sch_bfc ]
	ip link del swp1
}

test_started() {
	equal "kernel" "$(uname -r)" "$KERNEL"
	equal "bfc.service" "$(unit bfc.service ActiveState) $(unit bfc.service Result)" \
		"active success"
	port swp1 switch swp1
	port swp2 switch swp1
	equal "failed units" "$(failed_units)" 0
}

# A device that udev names when bfc.service has had its turn (packages.sh): the name that it had
# before does not count.
test_named_late() {
	check "no mgmt0" soon [ -e /sys/class/net/mgmt0 ]
	check "udev is busy" soon settled
	check "mgmt0 has bfc" lacks_bfc mgmt0
	check "bfc.service was not before udev" grep -q ': dummy2: udev has yet to name it' \
		<<<"$(journalctl --no-pager -u bfc.service)"
}

test_plugged() {
	ip link add swp3 type veth peer name far
	port swp3 nic swp1,swp3
	# It is in the lists of the others.
	port swp1 switch swp1,swp3
	check "bfc@swp3.service is busy" soon settled
	equal "bfc@swp3.service" "$(unit bfc@swp3.service Result)" success
	# Nothing is left to do, by hand.
	bfcctl apply >"$dir/said" || fail "bfcctl apply: $? $(cat "$dir/said")"
	equal "bfcctl apply" "$(grep -c ': nothing to do$' "$dir/said")" 3
}

test_renamed() {
	ip link add x1 type dummy
	check "udev is busy" soon settled
	check "x1 has bfc" lacks_bfc x1
	ip link set x1 name swp4
	port swp4 switch swp1,swp3
}

# A port that was taken out and put back
test_again() {
	ip link del swp3
	ip link add swp3 type veth peer name far
	port swp3 nic swp1,swp3
	port swp4 switch swp1,swp3
}

test_other_ports() {
	ip link add eth9 type dummy
	check "udev is busy" soon settled
	check "eth9 has bfc" lacks_bfc eth9
	check "far has bfc" lacks_bfc far
	equal "failed units" "$(failed_units)" 0
}

# A qdisc of another kind is left there, and this is no failure of the box.
test_needs_replacement() {
	tc qdisc replace dev swp2 root handle 5: tbf rate 1gbit burst 10kb limit 10kb
	check "systemctl restart bfc" systemctl restart bfc.service
	equal "bfc.service" "$(unit bfc.service ActiveState) $(unit bfc.service Result)" \
		"active success"
	equal "exit code of bfcctl" "$(unit bfc.service ExecMainStatus)" 3
	check "systemctl start bfc@swp2" systemctl start bfc@swp2.service
	equal "failed units" "$(failed_units)" 0
	check "swp2 has lost tbf" grep -q '^qdisc tbf 5: ' <<<"$(tc qdisc show dev swp2 root)"
	tc qdisc del dev swp2 root
	check "systemctl start bfc@swp2" systemctl start bfc@swp2.service
	port swp2 switch swp1,swp3
}

says_where() {
	journalctl --no-pager -u bfc@swp5.service | grep -F "/etc/bfc.conf:$(wc -l </etc/bfc.conf): "
}

test_bad_file() {
	echo nonsense 1 >>/etc/bfc.conf
	ip link add swp5 type dummy
	check "the journal does not say where" soon says_where
	check "swp5 has bfc" lacks_bfc swp5
	sed -i '$d' /etc/bfc.conf
	check "systemctl reload bfc" systemctl reload bfc.service
	port swp5 switch swp1,swp3
}

# ---- cards ----

# dev_of MAC: the device of this address; fails while there is none
dev_of() { grep -lx "$1" /sys/class/net/*/address | cut -d / -f 5 | grep .; }

# plug DEV N: a card whose address ends in N; within a minute it is DEV
plug() {
	plug_card "$1" "02:00:00:00:00:$2" "$2" || fail "no card $1: $qmp_said" || return 1
	check "no $1, but $(dev_of "02:00:00:00:00:$2")" soon [ -e "/sys/class/net/$1" ]
}

pull() {
	pull_card "$1" || fail "$1 is not let go: $qmp_said"
	check "$1 is there yet" soon [ ! -e "/sys/class/net/$1" ]
}

# far_end N: of the cable of a card whose address ends in N
far_end() {
	local mac=02:00:00:00:fa:$1 box=box$1 dev
	plug_card "far$1" "$mac" "$1" || fail "no far end: $qmp_said" || return 1
	check "no device of the far end" soon dev_of "$mac" || return 1
	# Not before udev has done with it
	check "udev is busy" soon settled
	dev=$(dev_of "$mac")
	ip netns add "$box"
	ip link set "$dev" netns "$box" name e0
	tc -n "$box" qdisc add dev e0 root bfc role nic rate 1gbit
	ip -n "$box" link set e0 up
	ip -n "$box" address add "192.0.2.1$1/24" dev e0
}

shown() { tc -s qdisc show dev "$1" | tr '\n' ' '; }
has_met() { tc -s qdisc show dev "$1" root | grep -q '^  peer up '; }

# passes N: what the far end sends comes to 192.0.2.1, which answers
answered() {
	ip netns exec "box$1" bash -c 'echo >/dev/udp/192.0.2.1/9' 2>/dev/null
	ip -n "box$1" neighbour show 192.0.2.1 dev e0 | grep lladdr
}
passes() {
	ip -n "box$1" neighbour flush dev e0
	soon answered "$1"
}

# meets DEV N: it has agreed with its neighbour, and frames pass
meets() {
	ip link set "$1" up
	ip address add 192.0.2.1/24 dev "$1"
	check "no agreement of $1: $(shown "$1")" soon has_met "$1"
	check "no frame through $1" passes "$2"
}

# ---- a bridge of the ports, by what configures the network ----

in_bridge() { ip -o link show dev "$1" | grep -q '[<,]UP[,>].* master br0 '; }
has_address() { ip address show dev br0 | grep -q 'inet 192\.0\.2\.1/24 '; }
handle() { tc qdisc show dev "$1" root | cut -d ' ' -f 1-3; }

# bridged DEV N: as the examples and bfc.conf say
bridged() {
	soon in_bridge "$1" ||
		fail "$1 is not up in br0: $(ip -o link show dev "$1"); $(
			{ networkctl; nmcli device; } 2>&1 | tr '\n' ' ')"
	check "br0 has no address" soon has_address
	port "$1" switch swp1,swp3,swp6
	check "no agreement of $1: $(shown "$1")" soon has_met "$1"
	check "no frame through $1" passes "$2"
}

# keeps COMMAND...: swp6 has the qdisc after it that it had before, and swp1 its own
keeps() {
	local before said
	before=$(handle swp1)$(handle swp6)
	said=$("$@" 2>&1) || fail "$*: $said"
	check "udev is busy" soon settled
	bridged swp6 06
	equal "qdiscs after $*" "$(handle swp1)$(handle swp6)" "$before"
}

# wants_replacement KIND: of swp6, which has this one
wants_replacement() {
	check "it leaves $(handle swp6)" soon is_kind swp6 "$1"
	bfcctl apply swp6 >"$dir/said" 2>&1
	equal "exit code of apply" $? 3
	check "$(cat "$dir/said")" grep -q "^swp6: needs a replacement: it has $1" "$dir/said"
}
# apply [OPTION]: to swp6
apply() { bfcctl apply "$@" swp6 >"$dir/said" 2>&1 || fail "$(cat "$dir/said")"; }

# ---- cards that come and go ----

# What a port could leave behind: devices and qdiscs, with the lists in which it is, units,
# pins and files, references to the module.
left() {
	ls /sys/class/net
	tc qdisc show
	systemctl list-units --all --plain --no-legend 'bfc*' '*swp*' | cut -d ' ' -f 1
	find /sys/fs/bpf /run -path /run/vm -prune -o \( -name '*bfc*' -o -path '*/bfc/*' \) -print
	cat /sys/module/sch_bfc/refcnt
}
same_as_before() { left >"$dir/left"; diff "$dir/before" "$dir/left" >"$dir/diff"; }
nothing_left() {
	check "left: $(soon same_as_before; tr '\n' ' ' <"$dir/diff")" same_as_before
	equal "failed units" "$(failed_units)" 0
}

test_card() {
	local since
	far_end 06 || return
	check "udev is busy" soon settled
	left >"$dir/before"
	since=$EPOCHREALTIME
	plug swp6 06
	port swp6 switch swp1,swp3,swp6
	say "has bfc after $(calc "$EPOCHREALTIME - $since") s"
	port swp1 switch swp1,swp3,swp6
	check "does not stamp" soon eval 'bfcctl stamp show | grep swp6'
	check "bfc@swp6.service is busy" soon settled
	equal "bfc@swp6.service" "$(unit bfc@swp6.service Result)" success
	meets swp6 06
}

# flood ADDRESS: datagrams until the test ends it
flood() {
	exec 5<>"/dev/udp/$1/9"
	while :; do
		printf '%1400s' ''
	done >&5 2>/dev/null
}
waits() { tc -s qdisc show dev swp6 root | grep -q '^ *backlog [1-9]'; }

test_card_pulled_out() {
	local since floods
	[ -e /sys/class/net/swp6 ] || fail "there is no swp6" || return
	flood 192.0.2.106 &
	floods=$!
	ip netns exec box06 bash -c "$(declare -f flood); flood 192.0.2.1" &
	floods+=" $!"
	check "nothing waits: $(shown swp6)" soon waits
	since=$EPOCHREALTIME
	pull swp6
	say "gone after $(calc "$EPOCHREALTIME - $since") s"
	# shellcheck disable=SC2086
	kill $floods
	# shellcheck disable=SC2086
	wait $floods 2>/dev/null
	nothing_left
}

test_card_again() {
	plug swp6 06
	port swp6 switch swp1,swp3,swp6
	meets swp6 06
}

# A port goes to a container, and comes back.
test_card_moved() {
	[ -e /sys/class/net/swp6 ] || fail "there is no swp6" || return
	ip link set swp6 netns box06 || fail "swp6 does not go" || return
	check "swp6 is there yet" soon [ ! -e /sys/class/net/swp6 ]
	check "udev is busy" soon settled
	check "swp6 has bfc in box06" [ -z "$(tc -n box06 qdisc show dev swp6 | grep bfc)" ]
	nothing_left
	ip -n box06 link set swp6 netns 1 || fail "swp6 does not come back" || return
	port swp6 switch swp1,swp3,swp6
	port swp1 switch swp1,swp3,swp6
	check "does not stamp" soon eval 'bfcctl stamp show | grep swp6'
	meets swp6 06
}

# It is gone before its unit has had its turn, or while that works.
test_card_in_and_out() {
	local i
	pull swp6
	for i in 1 2 3; do
		plug_card swp6 02:00:00:00:00:06 06 || fail "no card: $qmp_said"
		[ "$i" -eq 1 ] || soon [ -e /sys/class/net/swp6 ]
		pull_card swp6 || fail "not let go: $qmp_said"
	done
	check "udev is busy" soon settled
	nothing_left
}

# A card that no .link file names, and patterns that match its names one after the other
test_card_renamed() {
	far_end 01
	plug eth0 01
	check "udev is busy" soon settled
	check "eth0 has bfc" lacks_bfc eth0
	ip link set eth0 name swp7
	port swp7 switch swp1,swp3
	ip link set swp7 name up1
	port up1 nic swp1,swp3
	meets up1 01
	# What no section names is left alone.
	ip link set up1 down
	ip link set up1 name eth0
	check "udev is busy" soon settled
	check "eth0 has lost it" is eth0 nic swp1,swp3
	pull eth0
	equal "units of it" "$(systemctl list-units --all --no-legend bfc@swp7.service \
		bfc@up1.service bfc@eth0.service)" ""
}

# ---- bfc-metrics.timer ----

metrics=/var/lib/prometheus/node-exporter/bfc.prom
tells_of() { grep -q "^bfc_sent_packets_total{device=\"$1\"" "$metrics"; }
is_newer() { [ "$metrics" -nt "$dir/stamp" ]; }

# written_again: a minute at most
written_again() {
	touch -r "$metrics" "$dir/stamp"
	check "not written again" soon is_newer
}

exported() {
	bash -c 'exec 3<>/dev/tcp/127.0.0.1/9100 && printf "GET /metrics HTTP/1.0\r\n\r\n" >&3 &&
		cat <&3' | grep '^bfc_sent_packets_total{device="swp1"'
}

test_metrics() {
	local since
	check "no $metrics: $(systemctl status --no-pager 'bfc-metrics.*' | tr '\n' ' ')" \
		soon tells_of swp1
	check "swp2 is not in it" soon tells_of swp2
	# The service starts at the period, and takes a second or several.
	written_again
	since=$(stat -c %.Y "$metrics")
	written_again
	between "period" "$(calc "$(stat -c %.Y "$metrics") - $since")" 10 30
	plug swp6 06
	check "swp6 does not come" soon tells_of swp6
	pull swp6
	check "swp6 does not go" soon eval '! tells_of swp6'
	check "swp1 is gone" tells_of swp1
	equal "result" "$(unit bfc-metrics.service Result)" success
	# Where Debian's node exporter looks
	systemctl start prometheus-node-exporter
	check "not exported" soon exported
	systemctl stop prometheus-node-exporter bfc-metrics.timer
}

run_each "$@"
all_passed
