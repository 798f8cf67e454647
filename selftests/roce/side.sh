# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What both ends do. In an emulated machine each process takes some 50 ms, and jq half
# a second: hence awk.

# gid HEX: which of the RDMA device's GIDs, of its number, has these digits
gid() {
	(cd /sys/class/infiniband/rxe0/ports/1/gids && grep -l "$1" 0 1 2 3 4 5)
}

# counters DEV: lines of NAME:VALUE, of the RDMA device, of INT and of the qdisc.
# rcvd_pkts: those only whose ICRC was right.
counters() {
	(cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . -- *)
	echo "rx_bytes:$(<"/sys/class/net/$1/statistics/rx_bytes")"
	{
		cat /proc/net/snmp
		bpftool map dump pinned /sys/fs/bpf/bfc/int_udp_count 2>/dev/null
		bfcctl int show "$1"
		tc -s qdisc show dev "$1" root
	} | awk '
		$1 == "Udp:" && $3 ~ /^[0-9]/	{ print "no_ports:" $3 }
		/"key":/		{ gsub(/[^0-9]/, ""); key = $0 }
		/"value":/		{ sub(/.*:/, ""); gsub(/[^0-9]/, "")
					  count[key] += $0 }
		$1 == "udp" && / records /	{ sub(/.* records /, "")
						  records += $1 }
		/dropped/		{ sub(/.*dropped /, ""); drops += $0 }
		END {
			n = split("marked unmarked stripped bad failed", name)
			for (i = 1; i <= n; i++)
				print name[i] ":" count[i - 1] + 0
			print "records:" records + 0
			print "drops:" drops + 0
		}'
}

# serve TOOL...: in the background; returns when it listens
serve() {
	{
		"$@"
		echo "exit code $?"
	} </dev/null >/tmp/served 2>&1 &
	until ss -Htln 'sport = :18515' | grep -q . ||
	      rdma resource show cm_id | grep -q 'state LISTEN'; do
		sleep 0.1
		kill -0 $! || return
	done
}

# served: what it said, when it has ended
served() {
	local i
	for ((i = 0; i < 100; i++)); do
		! grep -q '^exit code' /tmp/served || break
		sleep 0.2
	done
	cat /tmp/served
}
