#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Netlink input of the qdisc: what tc can say (bfc-spec.json, which
# spec/generate.py makes, bfc.json of what the specification cannot say, bfc-port.json of
# the port-level modes and bfc-stamp.json of programs), run by the kernel's own tdc.py
# with its nsPlugin, and what it cannot (raw_netlink.py).
#
#   run.sh [TDC OPTION...]	-e ID...: only these, and no raw netlink
#
# tdc.py runs commands by "ip netns exec", which mounts a /sys without bpffs:
# bfc-stamp.json needs one at /run/bpf, too (scripts/guest/run). Exit code 4: no
# kernel source here.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=$here/../..
files=("$here"/bfc*.json)

modprobe sch_bfc || { echo "Bail out! sch_bfc does not load"; exit 1; }
# TC_TESTING: where scripts/tc-testing left it, in a machine without the source
tdc=${TC_TESTING:-$("$top/scripts/tc-testing")}
rc=$?
[ "$rc" -ne 4 ] || echo "1..0 # SKIP no kernel source with tdc.py here"
[ "$rc" -eq 0 ] || exit "$rc"

# Programs of its own in its directory is what tdc's $EBPFDIR says; the rest of its
# configuration is what it leaves to its users.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$tdc/." "$work"
cp "$top/build/tools/stamp_odd.bpf.o" "$work" || exit 1
cat >"$work/tdc_config_local.py" <<-EOF
	ENVIR = {
	    "PATH": "$PATH",
	    "TC_LIB_DIR": "${TC_LIB_DIR:-$(cd "$top/build/tc" && pwd -P)}",
	}
EOF

echo "# tdc"
(cd "$work" && python3 tdc.py -f "${files[@]}" --outfile results "$@") \
	>"$work/log" 2>&1
rc=$?
# tdc.py calls what it left out after a failed setup or teardown skipped, and is
# content; no case of these is meant to be skipped.
sed 's/^ok \(.*# skipped - .*\)/not ok \1/' "$work/results"
grep -q '^ok ' "$work/results" && ! grep -q '# skipped - ' "$work/results" || rc=1
# And it leaves out an ID that it does not know, without a word.
cases=''
case ${1-} in
'') cases=$(cat "${files[@]}" | grep -c '"id": ') ;;
-e) cases=$(($# - 1)) ;;
esac
if [ -n "$cases" ]; then
	ran=$(grep -cE '^(not )?ok ' "$work/results")
	if [ "$ran" -ne "$cases" ]; then
		echo "Bail out! tdc.py ran $ran cases of $cases"
		rc=1
	fi
fi
[ "$rc" -eq 0 ] || sed 's/^/# /' "$work/log"
[ $# -eq 0 ] || exit $rc

echo "# raw netlink"
python3 "$here/raw_netlink.py" || rc=1
exit $rc
