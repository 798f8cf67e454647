#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bfcctl topology: what it reads, refuses and prints. (Whether its lists are right:
# selftests/unit/graph_turns.c; whether they help: selftests/net/deadlock.sh.)
#
# json/ and json0/, leaf1, leaf2, spine1 and spine2, are what lldpcli 1.0.16 of Debian 12
# printed, "-f json" and "-f json0 show neighbors", in four namespaces of the simulator
# with bridges; swp1 and swp2 of leaves lead to spines, swp3 to a host. spine1 calls itself
# spine1.example.net; spine2 has port ids of type ifname, the others lldpd's default, mac.

# shellcheck disable=SC2317
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=${here%/*/*}
# shellcheck source=selftests/tap.sh
. "$top/selftests/tap.sh"
PATH=$top/build/bpf:$PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$here" || exit 1

# lines FILE...: the tc lines, and a line for each box
lines() { bfcctl topology "$@" | grep -E '^(#|tc)'; }

# file LINE...: as $dir/net
file() { printf '%s\n' "$@" >"$dir/net"; }

# refuses STATUS TEXT ARGS...: nothing on standard output, TEXT in the message
refuses() {
	local status=$1 text=$2 said
	shift 2
	said=$(bfcctl topology "$@" 2>&1 >"$dir/out")
	equal "status of $*" $? "$status"
	[[ $said == bfcctl:*"$text"* ]] || fail "$*: \"$said\", not \"$text\""
	[ ! -s "$dir/out" ] || fail "$*: prints something"
}

# refuses_file TEXT LINE...
refuses_file() {
	local text=$1
	shift
	file "$@"
	refuses 1 "$text" "$dir/net"
}

clos="# leaf1
tc qdisc change dev swp1 root bfc elide swp2
tc qdisc change dev swp2 root bfc elide swp1
# leaf2
tc qdisc change dev swp1 root bfc elide swp2
tc qdisc change dev swp2 root bfc elide swp1
# spine1
tc qdisc change dev swp1 root bfc elide none
tc qdisc change dev swp2 root bfc elide none
# spine2
tc qdisc change dev swp1 root bfc elide none
tc qdisc change dev swp2 root bfc elide none"

test_lldp() {
	equal "json" "$(lines json/*)" "$clos"
	equal "json0" "$(lines json0/*)" "$clos"
	equal "both" "$(lines json/leaf1.json json0/leaf2.json json/spine1.json spine2=json0/spine2.json)" \
		"$clos"
	equal "standard input" "$(lines leaf1=- json/leaf2.json json/spine1.json json/spine2.json \
		<json/leaf1.json)" "$clos"
	equal "boxes" "$(bfcctl topology json/* | head -n 1)" \
		"4 switches, 2 hosts, 0 without bfc; 4 cables between switches"
}

# What one end says has to do if the other is not heard: for spine2 it is "mac" and a
# description, for leaf1 "ifname".
test_lldp_one_end() {
	local one
	file "switch spine1 spine2"
	one=$(lines "$dir/net" json/leaf1.json json/leaf2.json | sort)
	equal "leaves alone" "$one" "$(sort <<<"$clos")"
	file "switch leaf1 leaf2"
	one=$(lines "$dir/net" json/spine1.json json/spine2.json | sort)
	# No host is known there, so that this is no Clos; two turns do.
	equal "turns" "$(grep -vc 'none$\|#' <<<"$one")" 2
	refuses 1 "spine2 can forward, but there is no file of it" json/leaf1.json json/spine1.json \
		json/leaf2.json
	file "plain spine2"
	equal "cables" "$(bfcctl topology -j "$dir/net" json/leaf1.json json/leaf2.json json/spine1.json |
		jq -c '.[0] | [.switches, .plain, .cables, .elided]')" '[3,1,2,0]'
	file "host spine2"
	equal "hosts" "$(bfcctl topology -j "$dir/net" json/leaf1.json json/leaf2.json json/spine1.json |
		jq -c '.[0] | [.switches, .hosts, .cables]')" '[3,3,2]'
}

# A description that the owner has written: the other end tells which cable it is.
test_lldp_description() {
	sed 's/"descr": "swp1"/"descr": "to the leaves"/' json/leaf1.json >"$dir/leaf1.json"
	equal "lines" "$(lines "$dir/leaf1.json" json/leaf2.json json/spine1.json json/spine2.json)" \
		"$clos"
	file "switch spine1 spine2"
	sed -i 's/"value": "swp1"/"value": "port 1 "/' "$dir/leaf1.json"
	refuses 1 "does not say which device it is at its end" "$dir/net" \
		"$dir/leaf1.json" json/leaf2.json
}

# hears BOX "DEV NAME ID BRIDGE PORT"...: what lldpctl -f json prints there, as $dir/BOX.json
hears() {
	local box=$1 heard dev name id bridge port
	shift
	for heard; do
		read -r dev name id bridge port <<<"$heard"
		jq -n --arg dev "$dev" --arg name "$name" --arg id "$id" --arg port "$port" \
			--argjson bridge "$bridge" '{($dev): {
				chassis: {($name): {id: {type: "local", value: $id},
					capability: {type: "Bridge", enabled: $bridge}}},
				port: {id: {type: "ifname", value: $port}}}}'
	done | jq -s '{lldp: {interface: .}}' >"$dir/$box.json"
}

# Where texts describe both ends, the only cable between two boxes is known nevertheless.
test_lldp_descriptions() {
	local b
	for b in leaf1 leaf2 spine1 spine2; do
		sed 's/"descr": "swp/"descr": "port/' "json/$b.json" >"$dir/$b.json"
	done
	equal "lines" "$(lines "$dir"/{leaf1,leaf2,spine1,spine2}.json)" "$clos"
	# the last one of several
	hears s1 "swp1 s2 b true swp1" "swp2 s2 b true to-s1"
	hears s2 "swp1 s1 a true uplink" "swp2 s1 a true to-s2"
	sed -i 's/"ifname"/"local"/' "$dir"/s[12].json
	equal "the last" "$(lines "$dir"/s[12].json | grep -c '^tc.* dev swp[12] ')" 4
	hears s1 "swp1 s2 b true to-s1" "swp2 s2 b true to-s1-too"
	hears s2 "swp1 s1 a true to-s2" "swp2 s1 a true to-s2-too"
	sed -i 's/"ifname"/"local"/' "$dir"/s[12].json
	refuses 1 "s1.json: swp1: neither end says which device of s2 this is" "$dir"/s[12].json
	# The names of two devices: two cables, each of which is heard at one end.
	hears s1 "swp1 s2 b true swp1"
	hears s2 "swp2 s1 a true swp2"
	equal "one end each" "$(bfcctl topology -j "$dir"/s[12].json | jq .[0].cables)" 2
	sed -i 's/"ifname"/"local"/' "$dir/s2.json"
	refuses 1 "s2.json: swp2: neither end says which device of s1 this is" "$dir"/s[12].json
}

# Boxes of two domains are two, whatever they have in common.
test_lldp_domains() {
	local leaf names one two
	for names in "spine.dc1 spine.dc2" "10.0.0.1 10.0.0.3"; do
		read -r one two <<<"$names"
		for leaf in leaf1 leaf2; do
			sed "s/\"spine1.example.net\"/\"$one\"/; s/\"spine2\"/\"$two\"/" \
				"json/$leaf.json" >"$dir/$leaf.json"
		done
		equal "lines" "$(lines "$dir/leaf1.json" "$dir/leaf2.json" \
			"$one=json/spine1.json" "$two=json/spine2.json")" \
			"$(sed "s/spine1/$one/; s/spine2/$two/" <<<"$clos")"
		refuses 1 "the neighbour $two can forward, but there is no file of it" \
			"$dir/leaf1.json" "$dir/leaf2.json" "$one=json/spine1.json"
	done
}

# Two boxes that were installed alike: one is a host, the other can forward.
test_lldp_same_name() {
	local swp1="swp1 debian 1 false eth0" swp2="swp2 debian 2 true eth0"
	local other="swp3 s2 b true swp3"
	hears s2 "swp3 s1 a true swp3" "swp2 debian 2 true eth1"
	hears s1 "$swp1" "$swp2" "$other"
	refuses 1 "s1.json: swp2: the neighbour debian can forward" "$dir/s1.json" "$dir/s2.json"
	hears s1 "$swp2" "$swp1" "$other"
	refuses 1 "s1.json: swp2: the neighbour debian can forward" "$dir/s1.json" "$dir/s2.json"
	hears s1 "$swp1" "${swp2/true/false}" "$other"
	hears s2 "swp3 s1 a true swp3" "swp2 debian 2 false eth1"
	equal "hosts" "$(bfcctl topology -j "$dir/s1.json" "$dir/s2.json" |
		jq -c '.[0] | [.switches, .hosts, .cables]')" '[2,2,1]'
}

# A name without a domain, of two boxes
test_lldp_ambiguous() {
	hears leaf1.dc1 "swp1 spine a true swp1"
	hears leaf1.dc2 "swp2 spine b true swp2"
	hears spine.dc1 "swp1 leaf1 c true swp1"
	hears spine.dc2 "swp2 leaf1 d true swp2"
	refuses 1 "swp1: the neighbour spine may be spine.dc1 or spine.dc2: have it send" \
		"$dir"/{leaf1,spine}.dc{1,2}.json
	# One of them is called so.
	hears leaf1.dc1 "swp1 spine.dc1 a true swp1"
	hears leaf1.dc2 "swp2 spine b true swp2"
	hears spine.dc1 "swp1 leaf1.dc1 c true swp1"
	hears spine "swp2 leaf1.dc2 d true swp2"
	equal "lines" "$(lines "$dir"/{leaf1.dc1,leaf1.dc2,spine.dc1,spine}.json)" "$(
		printf '# %s\ntc qdisc change dev swp%s root bfc elide none\n' \
			leaf1.dc1 1 leaf1.dc2 2 spine.dc1 1 spine 2)"
}

# With -f json the name is a key, and so is "id" where there is no name.
test_lldp_keys() {
	local name
	for name in id name value capability; do
		hears s1 "swp1 $name 1 false eth0" "swp3 s2 b true swp3"
		hears s2 "swp3 s1 a true swp3"
		equal "host $name" "$(bfcctl topology -j "$dir/s1.json" "$dir/s2.json" |
			jq -c '.[0] | [.switches, .hosts, .cables]')" '[2,1,1]'
		hears s1 "swp1 $name 1 true eth0" "swp3 s2 b true swp3"
		refuses 1 "the neighbour $name can forward" "$dir/s1.json" "$dir/s2.json"
	done
	jq '(.lldp.interface[0].swp1.chassis) |= .[]' "$dir/s1.json" >"$dir/s3.json"
	refuses 1 "the neighbour 1 can forward" "s1=$dir/s3.json" "$dir/s2.json"
}

test_lldp_refused() {
	local n
	echo '{}' >"$dir/a.json"
	refuses 1 'no "lldp"' "$dir/a.json"
	echo '{"lldp": {"interface": {"swp1": {"port": {}}}}}' >"$dir/a.json"
	refuses 1 'swp1: no "chassis"' "$dir/a.json"
	echo '{"lldp": {"interface": {"swp1": {"chassis": {"id": 1}}}}}' >"$dir/a.json"
	refuses 1 'swp1: a neighbour without name and id' "$dir/a.json"
	echo '{"lldp": {"interface": {"a;reboot": {"chassis": {"b": {"id": 1}}}}}}' \
		>"$dir/a.json"
	refuses 1 '"a;reboot" is no name of a device' "$dir/a.json"
	printf '{"lldp":\n{"interface": x}}' >"$dir/a.json"
	refuses 1 "a.json:2: JSON: a value is missing" "$dir/a.json"
	printf '{"lldp":\n{"interface": "x\\q"}}' >"$dir/a.json"
	refuses 1 "a.json:2: JSON: what follows a backslash" "$dir/a.json"
	printf '%0100d' 0 | tr 0 '[' >"$dir/a.json"
	refuses 1 "too many brackets" "$dir/a.json"
	# cut off anywhere
	for ((n = 1; n < 3400; n += 61)); do
		head -c "$n" json/leaf1.json >"$dir/a.json"
		refuses 1 "JSON: " "$dir/a.json"
	done
}

# Names of strangers do not reach the terminal as they are.
test_lldp_strange_name() {
	local said
	sed 's/"h1"/"h1\\u001b[31m"/' json/leaf1.json >"$dir/leaf1.json"
	said=$(bfcctl topology -j "$dir/leaf1.json" json/leaf2.json json/spine1.json json/spine2.json)
	[[ $said != *$'\e'* ]] || fail "escape sequences"
	sed 's/"spine1.example.net"/"x\\u001b[31m"/' json/leaf1.json >"$dir/leaf1.json"
	refuses 1 "the neighbour x?[31m can forward" "$dir/leaf1.json"
}

# What the message proposes is possible, whatever the neighbour is called.
test_lldp_names() {
	local name kind
	local -A want=([host]='[2,1,0,1,0]' [plain]='[2,0,1,1,0]' [ignore]='[2,0,0,1,1]')
	for name in 66:d2:40:15:4b:c1 "Core Switch" $'Z\xc3\xbcrich#1' "a&b"; do
		hears s1 "swp1 NAME 1 true eth0" "swp3 s2 b true swp3"
		hears s2 "swp3 s1 a true swp3"
		jq --arg name "$name" '.lldp.interface[0].swp1.chassis |= {($name): .NAME}' \
			"$dir/s1.json" >"$dir/new.json"
		mv "$dir/new.json" "$dir/s1.json"
		for kind in "${!want[@]}"; do
			bfcctl topology "$dir/s1.json" "$dir/s2.json" 2>&1 |
				grep -o "\"$kind [^\"]*\"" | tr -d '"' >"$dir/net"
			equal "$kind $name" "$(bfcctl topology -j "$dir/net" "$dir"/s[12].json |
				jq -c '.[0] | [.switches, .hosts, .plain, .cables, .ignored]')" \
				"${want[$kind]}"
		done
	done
	# Only lines for a shell need more.
	refuses_file ':1: "a&b": a switch is named by' "switch a&b"
	refuses_file 'a box is named by printable letters' $'host a\x01b'
}

# A switch for the management of all boxes is no way for data.
test_other_network() {
	local c b want
	local net=("switch l1 l2 l3 l4 a1 a2 c0 c1 c2 c3" "host h1 h2 h3 h4" "link l1 h1"
		"link l2 h2" "link l3 h3" "link l4 h4" "link l1:u a1:x" "link l2:u a1:y"
		"link l3:u a2:x" "link l4:u a2:y")
	for c in 0 1 2 3; do
		net+=("link a1:c$c c$c:1" "link a2:c$c c$c:2")
	done
	file "${net[@]}"
	want=$(lines "$dir/net")
	net+=("plain m")
	for b in l1 l2 l3 l4 a1 a2 c0 c1 c2 c3; do
		net+=("link $b:eth0 m")
	done
	file "${net[@]}" "ignore m"
	equal "lines" "$(lines "$dir/net")" "$want"
	equal "boxes" "$(bfcctl topology "$dir/net" | head -n 1)" \
		"10 switches, 4 hosts, 0 without bfc; 12 cables between switches, 10 ignored"
	file "${net[@]}" "ignore l1:eth0 l2:eth0 l3:eth0 l4:eth0" \
		"ignore a1:eth0 a2:eth0 c0:eth0 c1:eth0 c2:eth0 c3:eth0"
	equal "ports" "$(lines "$dir/net")" "$want"
	refuses 1 "m has no bfc that elides: it is plain" "$dir/net" box m
	file "ignore m" "switch a"
	refuses 1 "m has no bfc that elides: it is ignored" "$dir/net" box m
	refuses_file ':3: there is no cable between a and b' "switch a b c" "link a:x b:x" \
		"path a b c" "ignore b"
	refuses_file ':1: "ignore" without a name' "ignore"
}

# also_hears BOX "DEV NAME ID BRIDGE PORT"...: what hears() has made hears these, too
also_hears() {
	local box=$1
	mv "$dir/$box.json" "$dir/before.json"
	hears "$@"
	jq -s '{lldp: {interface: map(.lldp.interface) | add}}' "$dir/before.json" \
		"$dir/$box.json" >"$dir/new.json"
	mv "$dir/new.json" "$dir/$box.json"
}

test_lldp_ignore() {
	local b n=0 four
	four=("$dir"/{leaf1,leaf2,spine1,spine2}.json)
	for b in leaf1 leaf2 spine1 spine2; do
		jq '{lldp: {interface: .lldp.interface | map(.)}}' "json/$b.json" >"$dir/$b.json"
		also_hears "$b" "eth0 m.example.net 9 true port$((++n))"
	done
	refuses 1 'm.example.net can forward, but there is no file of it' "${four[@]}"
	refuses 1 'or "ignore m.example.net" (another network)' "${four[@]}"
	file "ignore m.example.net"
	equal "its name" "$(lines "$dir/net" "${four[@]}")" "$clos"
	file "ignore m"
	equal "without domain" "$(lines "$dir/net" "${four[@]}")" "$clos"
	hears m "port1 leaf1 1 true eth0" "port2 leaf2 2 true eth0" "port9 other 5 true eth0"
	equal "with a file" "$(lines "$dir/net" "${four[@]}" "$dir/m.json")" "$clos"
	file "ignore leaf1:eth0 leaf2:eth0" "ignore spine1:eth0 spine2:eth0"
	equal "ports" "$(lines "$dir/net" "${four[@]}")" "$clos"
	equal "boxes" "$(bfcctl topology "$dir/net" "${four[@]}" | head -n 1)" \
		"4 switches, 2 hosts, 0 without bfc; 4 cables between switches, 4 ignored"
	# a cable that spanning tree blocks, named at either end or by what it is called there
	hears s1 "swp1 s2 b true swp1" "swp2 s2 b true swp2"
	hears s2 "swp1 s1 a true swp1" "swp2 s1 a true swp2"
	for b in s1:swp2 s2:swp2; do
		file "ignore $b"
		equal "$b" "$(bfcctl topology "$dir/net" "$dir/s1.json" "$dir/s2.json" | head -n 1)" \
			"2 switches, 0 hosts, 0 without bfc; 1 cables between switches, 1 ignored"
	done
	file "switch s2" "ignore s2:swp2"
	equal "one end" "$(bfcctl topology -j "$dir/net" "$dir/s1.json" |
		jq -c '.[0] | [.cables, .ignored]')" '[1,1]'
	# described by text at both ends
	hears s1 "swp1 s2 b true swp1" "swp2 s2 b true to-s1"
	hears s2 "swp1 s1 a true swp1" "swp2 s1 a true to-s2"
	sed -i 's/"ifname"/"local"/' "$dir"/s[12].json
	for b in s1:swp2 s2:swp2; do
		file "ignore $b"
		equal "text, $b" "$(bfcctl topology -j "$dir/net" "$dir/s1.json" "$dir/s2.json" |
			jq -c '.[0] | [.cables, .ignored]')" '[1,1]'
	done
}

# Files of two boxes may have the same name.
test_lldp_two_files() {
	mkdir "$dir/dc1" "$dir/dc2"
	hears leaf1 "swp1 s a true swp1"
	mv "$dir/leaf1.json" "$dir/dc1"
	hears leaf1 "swp2 s a true swp2"
	mv "$dir/leaf1.json" "$dir/dc2"
	hears s "swp1 leaf1 b true swp1"
	refuses 1 "dc2/leaf1.json: $dir/dc1/leaf1.json is of box leaf1, too: NAME=FILE" \
		"$dir/dc1/leaf1.json" "$dir/dc2/leaf1.json" "$dir/s.json"
	equal "cables" "$(bfcctl topology -j "$dir/dc1/leaf1.json" "leaf2=$dir/dc2/leaf1.json" \
		"$dir/s.json" | jq .[0].cables)" 2
}

test_lldp_itself() {
	hears s1 "swp1 s2 b true swp1" "swp7 s1 a true swp8" "swp8 s1 a true swp7"
	hears s2 "swp1 s1 a true swp1"
	refuses 1 "s1.json: swp7: a cable from s1 to itself" "$dir"/s[12].json
	file "ignore s1:swp7"
	equal "ignored" "$(bfcctl topology -j "$dir/net" "$dir"/s[12].json |
		jq -c '.[0] | [.cables, .ignored]')" '[1,1]'
}

# Turns are counted in 32 bits.
test_too_many() {
	{
		echo "plain a b c"
		echo "link b c"
		seq -f 'link a b # %g' 32768
	} >"$dir/net"
	refuses 1 "more than 2147483647 turns: b alone has 32769 cables" "$dir/net"
}

ring=("switch s1 s2 s3	# a ring" "host h1 h2 h3" "link s1:x s2:y" "link s2:x s3:y"
	"link s3:x s1:y" "link s1:p h1" "link s2 h2:e0" "link s3:p h3:e0" "")

test_file() {
	file "${ring[@]}"
	equal "lines" "$(lines "$dir/net")" "# s1
tc qdisc change dev x root bfc elide y
tc qdisc change dev y root bfc elide none
# s2
tc qdisc change dev x root bfc elide none
tc qdisc change dev y root bfc elide x
# s3
tc qdisc change dev x root bfc elide none
tc qdisc change dev y root bfc elide none"
	equal "box" "$(bfcctl topology "$dir/net" box s2)" \
		"tc qdisc change dev x root bfc elide none
tc qdisc change dev y root bfc elide x"
	equal "routes only" "$(lines "$dir/net" turns routes | grep -c none)" 6
	# in two files, in any order
	file "${ring[@]:2}"
	printf '%s\n' "${ring[@]:0:2}" >"$dir/names"
	equal "two files" "$(lines "$dir/net" "$dir/names" | grep -c none)" 4
}

test_json() {
	local said
	file "${ring[@]}"
	said=$(bfcctl -j topology "$dir/net")
	equal "numbers" "$(jq -c '.[0] | [.switches, .hosts, .plain, .cables, .routes, .turns,
		.turns_all, .turns_routed, .choose, .elided, .elided_of_routes, .fewest]' \
		<<<"$said")" \
		'[3,3,0,3,"shortest","all",6,0,"fewest",2,0,true]'
	equal "cycles" "$(jq -c '.[0].cycles[] | [.of_routes, .ports, .boxes,
		(.shortest | length)]' <<<"$said" | sort -u)" \
		'[false,3,["s1","s2","s3"],3]'
	equal "a list" "$(jq -c '.[0].boxes[1].ports[1]' <<<"$said")" \
		'{"dev":"y","elide":[{"dev":"x","from":"s3","on_routes":false}]}'
	equal "a box" "$(bfcctl -j topology "$dir/net" box s2 |
		jq -c '[.[0].boxes[].name]')" '["s2"]'
	# A cycle is walked in the direction of packets: from x on to the next box.
	equal "way round" "$(jq -c '.[0].cycles[].shortest | map(.box + .dev) |
		if .[0][2:] == "x" then . else reverse end | map(.[1:2]) | add' \
		<<<"$said" | sort -u | tr -d '"\n' | grep -cE '^(123|231|312)+$')" 1
}

test_paths() {
	file "${ring[@]}" "path h1 s1 s2 s3 h3" "path h2 s2 s3 s1 h1" \
		"path h3 s3 s1 s2 h2"
	equal "a ring of routes" "$(bfcctl topology -j "$dir/net" | jq -c '.[0] | [.routes,
		.turns, .turns_all, .elided, .elided_of_routes, .cycles[0].of_routes]')" \
		'["listed","routes",3,1,1,true]'
	file "${ring[@]}" "path h1 s1 s2 s3 h3"
	equal "no ring" "$(bfcctl topology -j "$dir/net" | jq -c '.[0] | [.turns,
		.elided, .elided_of_routes]')" '["all",2,0]'
}

test_options() {
	equal "fewest" "$(bfcctl topology -j json/* choose fewest | jq .[0].elided)" 2
	equal "loops" "$(bfcctl topology -j json/* turns loops | jq .[0].elided)" 8
	refuses 2 'give auto, routes, all or loops' json/leaf1.json turns some
	refuses 2 'give auto, down-up or fewest' json/leaf1.json choose all
	refuses 2 'something is missing after "box"' json/leaf1.json box
	refuses 2 'topology of which FILE?' turns all
	refuses 1 'No such file' "$dir/none"
	file "${ring[@]}"
	refuses 1 'this is no Clos' "$dir/net" choose down-up
	refuses 1 'there is no box "s9"' "$dir/net" box s9
	refuses 1 'h1 has no bfc that elides: it is a host' "$dir/net" box h1
}

test_file_refused() {
	refuses_file ':1: what is "swich"?' "swich a"
	refuses_file ':1: "switch" without a name' "switch"
	refuses_file ':2: a is there already' "switch a" "host a"
	refuses_file ':2: what is "c"?' "switch a b" "link a:x c:y"
	refuses_file ':2: a cable is "link BOX:DEV BOX:DEV"' "switch a b" "link a:x"
	refuses_file ':2: which device of b?' "switch a b" "link a:x b"
	refuses_file ':2: "x;" is no name of a device' "switch a b" "link a:x; b:y"
	refuses_file ':2: "sixteen-letters-" is no' "switch a b" "link a:sixteen-letters- b:y"
	refuses_file ':2: "none" is no' "switch a b" "link a:none b:y"
	refuses_file ':2: a cable from a to itself' "switch a" "link a:x a:y"
	refuses_file ':3: x of a has two cables, to c and ' "switch a b c" "link a:x b:x" \
		"link c:x a:x"
	refuses_file ':3: there is no cable between b and c' "switch a b c" "link a:x b:x" \
		"path a b c"
	refuses_file ':3: h is a host, and forwards nothing' "switch a b" "host h" \
		"path a h b"
	refuses_file ':2: a route is "path' "switch a b" "path a b"
	printf 'switch a\0b\n' >"$dir/net"
	refuses 1 'this is not text' "$dir/net"
	# Several hosts may be behind a port.
	file "switch a b" "host h i" "link a:x b:x" "link a:y h" "link a:y i"
	check "two hosts at a port" bfcctl topology "$dir/net" >/dev/null
}

# elide takes 64 devices; swp9 stands before swp10.
test_long_lists() {
	local n
	for n in 65 66; do
		{
			echo "switch a b"
			echo "host h i"
			echo "link a h"
			echo "link b i"
			for ((s = 1; s <= n; s++)); do
				echo "switch s$s"
				echo "link a:swp$s s$s:x"
				echo "link b:swp$s s$s:y"
			done
		} >"$dir/net$n"
	done
	equal "65 spines" "$(bfcctl topology "$dir/net65" box a | tail -n 1)" \
		"tc qdisc change dev swp65 root bfc elide $(seq -s, -f swp%g 64)"
	refuses 1 'a swp1: 65 devices to elide, "elide" takes 64' "$dir/net66"
	equal "fewest" "$(bfcctl topology -j "$dir/net65" choose fewest | jq .[0].elided)" \
		$((65 * 64))
}

run_each lldp lldp_one_end lldp_description lldp_descriptions lldp_domains lldp_same_name \
	lldp_ambiguous lldp_keys lldp_refused lldp_strange_name lldp_names other_network \
	lldp_ignore lldp_two_files lldp_itself too_many file json paths options file_refused long_lists
all_passed
