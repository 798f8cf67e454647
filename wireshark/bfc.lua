-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark and tshark: what the qdisc bfc puts on the wire (docs/wire-format.md).
--
--   bfc	control frames between ports: HELLO, BYE, PAUSE
--   bfc.tag	the tag that names the queue that a packet left
--   bfc.int	in-band telemetry, in TCP options and before RoCEv2
--   bfc.size	what the flow has yet to send, in a TCP option or the first bytes of UDP
--
-- tshark -X lua_script:bfc.lua, or from wireshark's directory of plugins. Wireshark 3.6
-- and newer; from 4.4 on not as root, who gets no scripts there.

local MAGIC = 0x42464331
local ETHERTYPE = 0x88b5
local INT_PORT = 49089		-- instead of RoCEv2's
local ROCE_PORT = 4791
local EXID, EXID_MORE, EXID_SIZE = 0xbfc1, 0xbfc2, 0xbfc3
local SIZE_MAGIC, SIZE_NONE = 0xbfc35346, 0xffff
local HOP = 8			-- bytes of a record

---- control frames ----

local bfc = Proto("bfc", "Backpressure Flow Control")

local types = { [1] = "HELLO", [2] = "PAUSE" }
local roles = { [0] = "switch", [1] = "NIC" }

local f = {
	magic = ProtoField.string("bfc.magic", "Magic"),
	version = ProtoField.uint8("bfc.version", "Version"),
	type = ProtoField.uint8("bfc.type", "Type", base.DEC, types),
	length = ProtoField.uint16("bfc.length", "Length of the frame"),
	epoch = ProtoField.uint32("bfc.epoch", "Epoch", base.HEX),
	seq = ProtoField.uint32("bfc.seq", "Sequence number"),
	role = ProtoField.uint8("bfc.hello.role", "Role", base.DEC, roles),
	flags = ProtoField.uint8("bfc.hello.flags", "Flags", base.HEX),
	bye = ProtoField.bool("bfc.hello.bye", "Leaves", 8, nil, 0x01),
	stranger = ProtoField.bool("bfc.hello.stranger", "Echo is for a port that is no neighbour",
				   8, nil, 0x02),
	echoed = ProtoField.bool("bfc.hello.echoed", "Has heard its nonce echoed", 8, nil, 0x04),
	queues = ProtoField.uint16("bfc.hello.queues", "Queues"),
	classes = ProtoField.uint8("bfc.hello.classes", "Classes"),
	incast = ProtoField.uint16("bfc.hello.incast_queue", "Queue for incast traffic"),
	id = ProtoField.uint64("bfc.hello.id", "Id of the port", base.HEX),
	nonce = ProtoField.uint32("bfc.hello.nonce", "Nonce", base.HEX),
	echo = ProtoField.uint32("bfc.hello.echo", "The neighbour's nonce", base.HEX),
	modes = ProtoField.uint32("bfc.hello.modes", "Modes", base.HEX),
	mode_bfc = ProtoField.bool("bfc.hello.modes.bfc", "Pauses of queues (BFC)", 32, nil, 0x1),
	mode_fafc = ProtoField.bool("bfc.hello.modes.fafc", "Pauses of priorities (FAFC)", 32,
				    nil, 0x2),
	sent = ProtoField.uint64("bfc.hello.sent", "Time sent (ns)"),
	echo_sent = ProtoField.uint64("bfc.hello.echo_sent", "Newest time heard (ns)"),
	held = ProtoField.uint64("bfc.hello.held", "Lay here for (ns)"),
	hold = ProtoField.uint32("bfc.pause.hold", "Valid for (ns)"),
	thop = ProtoField.uint32("bfc.pause.thop", "T_hop of the sender (ns)"),
	pause_queues = ProtoField.uint16("bfc.pause.queues", "Queues"),
	drained = ProtoField.uint64("bfc.pause.drained", "Bytes drained"),
	limit = ProtoField.uint64("bfc.pause.limit", "Byte limit"),
	bitmap = ProtoField.bytes("bfc.pause.bitmap", "Bitmap"),
	paused = ProtoField.uint16("bfc.pause.paused", "Paused queue"),
	npaused = ProtoField.uint16("bfc.pause.npaused", "Queues that are paused"),
	pause_flags = ProtoField.uint16("bfc.pause.flags", "Flags", base.HEX),
	has_roots = ProtoField.bool("bfc.pause.has_roots", "Has ids of roots", 16, nil, 0x0001),
	roots_first = ProtoField.uint16("bfc.pause.roots_first", "Ids of roots from queue"),
	nroots = ProtoField.uint16("bfc.pause.nroots", "Ids of roots"),
	root = ProtoField.uint32("bfc.pause.root", "Root", base.HEX),
}
for p = 0, 7 do
	f["prio" .. p] = ProtoField.uint32("bfc.pause.prio" .. p,
					   "Rest of the pause of priority " .. p .. " (ns)")
end
bfc.fields = f

local bad_short = ProtoExpert.new("bfc.short", "The frame is too short for its type",
				  expert.group.MALFORMED, expert.severity.ERROR)
local bad_type = ProtoExpert.new("bfc.unknown", "Version or type is not known",
				 expert.group.PROTOCOL, expert.severity.WARN)
bfc.experts = { bad_short, bad_type }

bfc.prefs.tags = Pref.enum("Tags are upstreamQ", 0,
	"Which VLAN tags are taken for the queue that a packet left",
	{ { 1, "if a HELLO was seen before", 0 }, { 2, "all", 1 }, { 3, "none", 2 } }, false)
bfc.prefs.tpid = Pref.uint("EtherType of the tags", 0x88a8,
	"The option tpid of the qdisc: 34984 (0x88a8) or 33024 (0x8100)")

-- true after a HELLO: tags before it are not BFC's
local spoken = false

function bfc.init()
	spoken = false
end

local function get_hello(buf, tree)
	local at = tree:add(f.flags, buf(17, 1))

	tree:add(f.role, buf(16, 1))
	at:add(f.bye, buf(17, 1))
	at:add(f.stranger, buf(17, 1))
	at:add(f.echoed, buf(17, 1))
	tree:add(f.queues, buf(18, 2))
	tree:add(f.classes, buf(20, 1))
	at = tree:add(f.incast, buf(22, 2))
	if buf(22, 2):uint() == 0xffff then
		at:append_text(" (none)")
	end
	tree:add(f.id, buf(26, 8))
	tree:add(f.nonce, buf(34, 4))
	tree:add(f.echo, buf(38, 4))
	at = tree:add(f.modes, buf(42, 4))
	at:add(f.mode_bfc, buf(42, 4))
	at:add(f.mode_fafc, buf(42, 4))
	tree:add(f.sent, buf(46, 8))
	tree:add(f.echo_sent, buf(54, 8))
	tree:add(f.held, buf(62, 8))
	spoken = true

	local bits = buf(17, 1):uint()
	local what = bits % 2 == 1 and "BYE" or "HELLO"
	if bits % 8 >= 4 then
		what = what .. ", echoed"
	end
	return string.format("%s, %s, %d queues", what, roles[buf(16, 1):uint()] or "?",
			     buf(18, 2):uint())
end

-- Roots of the congestion that queues are paused for, behind the bitmap
local function get_roots(buf, tree, at, paused)
	if buf:len() < at + 4 then
		return false
	end
	local first, count = buf(at, 2):uint(), buf(at + 2, 2):uint()

	tree:add(f.roots_first, buf(at, 2))
	tree:add(f.nroots, buf(at + 2, 2))
	if buf:len() < at + 4 + 4 * count then
		return false
	end
	local i = 0
	for _, q in ipairs(paused) do
		if q >= first and i < count then
			local range = buf(at + 4 + 4 * i, 4)

			tree:add(f.root, range):append_text(", of queue " .. q)
			i = i + 1
		end
	end
	return i == count
end

local function get_pause(buf, tree)
	local queues = buf(20, 2):uint()
	local bytes = math.ceil(queues / 8)
	local times, paused = {}, {}

	-- Pauses of priorities (FAFC) have times of their own, and no bitmap
	tree:add(queues == 0 and f.thop or f.hold, buf(16, 4))
	tree:add(f.pause_queues, buf(20, 2))
	tree:add(f.pause_flags, buf(22, 2)):add(f.has_roots, buf(22, 2))
	for p = 0, 7 do
		local range = buf(24 + 4 * p, 4)

		tree:add(f["prio" .. p], range)
		if range:uint() > 0 then
			times[#times + 1] = string.format("%d for %d ns", p, range:uint())
		end
	end
	tree:add(f.drained, buf(56, 8))
	tree:add(f.limit, buf(64, 8))
	if buf:len() < 72 + bytes then
		return nil
	end
	if bytes > 0 then
		local at = tree:add(f.bitmap, buf(72, bytes))

		for q = 0, queues - 1 do
			local byte = buf(72 + math.floor(q / 8), 1)

			if math.floor(byte:uint() / 2 ^ (q % 8)) % 2 == 1 then
				at:add(f.paused, byte, q)
				paused[#paused + 1] = q
			end
		end
	end
	tree:add(f.npaused, #paused):set_generated()
	if buf(22, 2):uint() % 2 == 1 and not get_roots(buf, tree, 72 + bytes, paused) then
		return nil
	end
	if #times > 0 then
		return "PAUSE, priority " .. table.concat(times, ", ")
	end
	return string.format("PAUSE, %d of %d queues", #paused, queues)
end

-- Bytes from the magic on: of a HELLO, of a PAUSE without its bitmap
local least = { 70, 72 }

function bfc.dissector(buf, pinfo, tree)
	if buf:len() < 4 or buf(0, 4):uint() ~= MAGIC then
		return 0	-- the EtherType is for experiments of all sorts
	end
	local at = tree:add(bfc, buf())

	pinfo.cols.protocol = "BFC"
	pinfo.cols.info = "short"
	if buf:len() < 16 then
		at:add_proto_expert_info(bad_short)
		return buf:len()
	end
	at:add(f.magic, buf(0, 4))
	at:add(f.version, buf(4, 1))
	at:add(f.type, buf(5, 1))
	at:add(f.length, buf(6, 2))
	at:add(f.epoch, buf(8, 4))
	at:add(f.seq, buf(12, 4))

	local kind = buf(5, 1):uint()
	local len = buf(6, 2):uint() - 14	-- without the Ethernet header

	if buf(4, 1):uint() ~= 1 or not types[kind] then
		at:add_proto_expert_info(bad_type)
		pinfo.cols.info = "unknown"
		return buf:len()
	end
	if len < least[kind] or len > buf:len() then
		-- Bytes that the capture has cut off are not missing in the
		-- frame.
		if len < least[kind] or len > buf:reported_len() then
			at:add_proto_expert_info(bad_short)
		end
		return buf:len()
	end
	-- Without the padding of short frames
	local get = kind == 1 and get_hello or get_pause
	local info = get(buf(0, len):tvb(), at)

	if info then
		pinfo.cols.info = info
		at:append_text(": " .. info)
	else
		at:add_proto_expert_info(bad_short)
	end
	return buf:len()
end

DissectorTable.get("ethertype"):add(ETHERTYPE, bfc)

---- in-band telemetry ----

local int = Proto("bfc_int", "In-band telemetry (BFC, HPCC)")

local speeds = {
	[0] = "no record", "10 Mbit/s", "100 Mbit/s", "1 Gbit/s", "2.5 Gbit/s", "5 Gbit/s",
	"10 Gbit/s", "20 Gbit/s", "25 Gbit/s", "40 Gbit/s", "50 Gbit/s", "56 Gbit/s",
	"100 Gbit/s", "200 Gbit/s", "400 Gbit/s", "800 Gbit/s",
}

local g = {
	kind = ProtoField.string("bfc.int.kind", "Kind"),
	nhop = ProtoField.uint8("bfc.int.nhop", "Hops"),
	path = ProtoField.uint16("bfc.int.path", "Path id", base.HEX),
	more = ProtoField.bool("bfc.int.more", "There were more hops than records"),
	hop = ProtoField.bytes("bfc.int.hop", "Hop"),
	speed = ProtoField.uint8("bfc.int.speed", "Speed", base.DEC, speeds),
	ts = ProtoField.uint32("bfc.int.ts", "Time (ns, of 24 bits)"),
	tx = ProtoField.uint32("bfc.int.tx", "Bytes sent before (of 27 bits)"),
	qlen = ProtoField.uint32("bfc.int.qlen", "Bytes queued behind it"),
	id = ProtoField.uint8("bfc.int.id", "Id of the port"),
}
int.fields = g

local bad_int = ProtoExpert.new("bfc.int.short", "Records are missing",
				expert.group.MALFORMED, expert.severity.ERROR)
int.experts = { bad_int }

local udp_checksum = Field.new("udp.checksum")
local tcp_options = Field.new("tcp.options")
local udp_payload = Field.new("udp.payload")
local eth_type = Field.new("eth.type")

-- A record; of one in TCP the queue's length has an exponent, and there is an id.
local function get_hop(range, tree, n, in_tcp)
	local at = tree:add(g.hop, range)
	local qlen = range(6, 2):uint()
	local speed = range(0, 1):bitfield(0, 4)

	at:set_text(string.format("Hop %d: %s", n, speeds[speed]))
	at:add(g.speed, range(0, 1), speed)
	at:add(g.ts, range(0, 4), range(0, 4):bitfield(4, 24))
	at:add(g.tx, range(3, 3), range(3, 3):bitfield(4, 20) * 128)
	if in_tcp then
		local exponent, mantissa = range(6, 2):bitfield(0, 3), range(6, 2):bitfield(3, 9)

		qlen = mantissa
		if exponent > 0 then
			qlen = (512 + mantissa) * 2 ^ (exponent - 1)
		end
		at:add(g.id, range(7, 1), range(7, 1):bitfield(4, 4))
	end
	at:add(g.qlen, range(6, 2), math.floor(qlen * 80))
end

-- Between the UDP header and RoCEv2's, as HPCC's Fig. 7 has it.
function int.dissector(buf, pinfo, tree)
	local sum = udp_checksum()

	-- Other programs may have the port; RoCEv2 has no checksum.
	if buf:len() < 2 or (sum and sum.value ~= 0) then
		return 0
	end
	local nhop = buf(0, 1):bitfield(0, 4)
	-- Hops that find no room for a record only count.
	local records = math.min(nhop, 5)
	local len = 2 + HOP * records

	local at = tree:add(int, buf(0, math.min(len, buf:len())))

	at:add(g.kind, "RoCEv2"):set_generated()
	at:add(g.nhop, buf(0, 1), nhop)
	at:add(g.path, buf(0, 2), buf(0, 2):bitfield(4, 12))
	if buf:len() < len then
		at:add_proto_expert_info(bad_int)
		return buf:len()
	end
	for n = 1, records do
		get_hop(buf(2 + HOP * (n - 1), HOP), at, n, false)
	end
	at:append_text(string.format(": %d hops", nhop))

	local roce = DissectorTable.get("udp.port"):get_dissector(ROCE_PORT)

	if roce and buf:len() > len then
		roce:call(buf(len):tvb(), pinfo, tree)
	end
	return buf:len()
end

DissectorTable.get("udp.port"):add(INT_PORT, int)

---- remaining sizes ----

local size = Proto("bfc_size", "Remaining size of the flow (BFC)")

local s = {
	carrier = ProtoField.string("bfc.size.carrier", "Carrier"),
	code = ProtoField.uint16("bfc.size.code", "Code", base.HEX),
	bytes = ProtoField.uint64("bfc.size.bytes", "Bytes to be sent, or some more"),
}
size.fields = s

-- range: all bytes of it; code: its 16 bits, 5 of an exponent, 11 of a mantissa
local function get_size(range, code, tree, carrier)
	local at = tree:add(size, range)
	local exponent, mantissa = code:bitfield(0, 5), code:bitfield(5, 11)
	local bytes = UInt64.new(mantissa)

	at:add(s.carrier, range, carrier):set_generated()
	at:add(s.code, code)
	if code:uint() == SIZE_NONE then
		at:append_text(": none is told")
		return
	end
	if exponent > 0 then
		bytes = UInt64.new(2048 + mantissa):lshift(exponent - 1)
	end
	at:add(s.bytes, code, bytes)
	at:append_text(": " .. tostring(bytes) .. " bytes")
end

---- what is in frames of others: tags, options of TCP, first bytes of UDP ----

local tag = Proto("bfc_tag", "Queue that the packet left (BFC)")
local upstream = ProtoField.uint16("bfc.upstreamq", "upstreamQ")

tag.fields = { upstream }

local function get_tag(buf, tree)
	if bfc.prefs.tags == 2 or (bfc.prefs.tags == 0 and not spoken) or not eth_type() or
	   buf:len() < 16 or buf(12, 2):uint() ~= bfc.prefs.tpid then
		return
	end
	local id = buf(14, 2):bitfield(4, 12)

	if id == 0 then
		tree:add(tag, buf(12, 4), "No upstreamQ (BFC)")
	else
		tree:add(tag, buf(12, 4)):add(upstream, buf(14, 2), id - 1)
	end
end

-- An option, kind 253 or 254, of a length that it may have
local function get_option(range, tree)
	local kind, len = range(0, 1):uint(), range(1, 1):uint()
	local more = range(2, 2):uint() == EXID_MORE
	local at = tree:add(int, range)
	local path, n = UInt64.new(0), 0

	at:add(g.kind, range(0, 1), kind == 253 and "record" or "echo")
	for from = 4, len - HOP, HOP do
		local id = range(from + 7, 1):bitfield(4, 4)

		if id ~= 0 then
			path = path:bxor(UInt64.new(id):lshift(n < 3 and 4 * n or 0))
			n = n + 1
			get_hop(range(from, HOP), at, n, true)
		end
	end
	at:add(g.nhop, range, n + (more and 1 or 0)):set_generated()
	at:add(g.path, range, path:tonumber()):set_generated()
	at:add(g.more, range(2, 2), more)
	at:append_text(string.format(": %s, %d hops", kind == 253 and "record" or "echo",
				     n + (more and 1 or 0)))
end

local function get_options(range, tree)
	local from = 0

	while from + 1 < range:len() do
		local kind, len = range(from, 1):uint(), 1

		if kind == 0 then
			return
		end
		if kind ~= 1 then
			len = range(from + 1, 1):uint()
			if len < 2 or from + len > range:len() then
				return
			end
		end
		if (kind == 253 or kind == 254) and len % HOP == 4 and len <= 36 then
			local exid = range(from + 2, 2):uint()

			if exid == EXID or exid == EXID_MORE then
				get_option(range(from, len), tree)
			end
		elseif kind == 253 and len == 6 and range(from + 2, 2):uint() == EXID_SIZE then
			get_size(range(from, len), range(from + 4, 2), tree, "TCP")
		end
		from = from + len
	end
end

function tag.dissector(buf, _, tree)
	get_tag(buf, tree)
	for _, options in ipairs({ tcp_options() }) do
		get_options(options.range, tree)
	end
	for _, payload in ipairs({ udp_payload() }) do
		local range = payload.range

		if range:len() >= 8 and range(0, 4):uint() == SIZE_MAGIC and
		   range(6, 2):uint() == 0 then
			get_size(range(0, 8), range(4, 2), tree, "UDP")
		end
	end
end

register_postdissector(tag)
