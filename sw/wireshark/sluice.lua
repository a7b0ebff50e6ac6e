-- SPDX-License-Identifier: Apache-2.0
-- Dissectors for the captures of PCIe and coherent links that `sluice run --trace tlp,coherence` writes:
--   wireshark -X lua_script:sluice.lua DIR/pcie.slot0.tlp.pcap
-- docs/reference/captures.md has the layouts.

local ways = { [0] = "down", [1] = "up" }

-- PCIe TLPs: link-layer header type 147 (USER0).

local tlp = Proto("sluice_tlp", "PCI Express TLP")
local f = tlp.fields
local types = {
  [0x00] = "MRd", [0x20] = "MRd", [0x40] = "MWr", [0x60] = "MWr", [0x04] = "CfgRd0", [0x44] = "CfgWr0",
  [0x05] = "CfgRd1", [0x45] = "CfgWr1", [0x0a] = "Cpl", [0x4a] = "CplD",
}
local statuses = { [0] = "SC", [1] = "UR", [4] = "CA" }
f.way = ProtoField.uint8("sluice_tlp.way", "Way", base.DEC, ways)
f.type = ProtoField.string("sluice_tlp.type", "Type")
f.class = ProtoField.uint8("sluice_tlp.tc", "Traffic class", base.DEC)
f.poisoned = ProtoField.bool("sluice_tlp.ep", "Poisoned")
f.relaxed = ProtoField.bool("sluice_tlp.ro", "Relaxed ordering")
f.no_snoop = ProtoField.bool("sluice_tlp.ns", "No snoop")
f.length = ProtoField.uint16("sluice_tlp.length", "Length, DW", base.DEC)
f.requester = ProtoField.string("sluice_tlp.requester", "Requester")
f.completer = ProtoField.string("sluice_tlp.completer", "Completer")
f.target = ProtoField.string("sluice_tlp.target", "Target")
f.tag = ProtoField.uint16("sluice_tlp.tag", "Tag", base.DEC)
f.first_be = ProtoField.uint8("sluice_tlp.first_be", "First DW byte enables", base.HEX)
f.last_be = ProtoField.uint8("sluice_tlp.last_be", "Last DW byte enables", base.HEX)
f.address = ProtoField.uint64("sluice_tlp.address", "Address", base.HEX)
f.register = ProtoField.uint16("sluice_tlp.register", "Register", base.HEX)
f.status = ProtoField.uint8("sluice_tlp.status", "Completion status", base.DEC, statuses)
f.byte_count = ProtoField.uint16("sluice_tlp.byte_count", "Byte count", base.DEC)
f.lower_address = ProtoField.uint8("sluice_tlp.lower_address", "Lower address", base.HEX)
f.code = ProtoField.uint8("sluice_tlp.code", "Message code", base.HEX)
f.data = ProtoField.bytes("sluice_tlp.data", "Payload")

local function id(range)
  local n = range:uint()
  return string.format("%02x:%02x.%x", math.floor(n / 256), math.floor(n / 8) % 32, n % 8)
end

local function short_hex(text)
  local short = text:gsub("^0+", "")
  return "0x" .. (short == "" and "0" or short)
end

-- Numbers of which 0 stands for the greatest.
local function or_most(n, most)
  return n == 0 and most or n
end

function tlp.dissector(buffer, packet, root)
  packet.cols.protocol = "TLP"
  local tree = root:add(tlp, buffer())
  tree:add(f.way, buffer(0, 1))
  local h = buffer(4):tvb()
  local first = h(0, 1):uint()
  local is_message = first >= 0x30 and first < 0x38 or first >= 0x70 and first < 0x78
  local name = is_message and "Msg" or types[first] or string.format("type 0x%02x", first)
  local long = math.floor(first / 32) % 2 == 1
  local has_data = math.floor(first / 64) % 2 == 1
  local head = long and 16 or 12
  local second = h(1, 1):uint()
  local tag_high = (math.floor(second / 128) % 2) * 512 + (math.floor(second / 8) % 2) * 256
  local third = h(2, 1):uint()
  local dwords = or_most(h(2, 2):uint() % 1024, 1024)
  tree:add(f.type, h(0, 1), name)
  tree:add(f.class, h(1, 1), math.floor(second / 16) % 8)
  tree:add(f.poisoned, h(2, 1), math.floor(third / 64) % 2 == 1)
  tree:add(f.relaxed, h(2, 1), math.floor(third / 32) % 2 == 1)
  tree:add(f.no_snoop, h(2, 1), math.floor(third / 16) % 2 == 1)
  tree:add(f.length, h(2, 2), dwords)
  local info = name
  if name == "Cpl" or name == "CplD" then
    local status = math.floor(h(6, 1):uint() / 32)
    local count = or_most(h(6, 2):uint() % 4096, 4096)
    tree:add(f.completer, h(4, 2), id(h(4, 2)))
    tree:add(f.status, h(6, 1), status)
    tree:add(f.byte_count, h(6, 2), count)
    tree:add(f.requester, h(8, 2), id(h(8, 2)))
    tree:add(f.tag, h(10, 1), tag_high + h(10, 1):uint())
    tree:add(f.lower_address, h(11, 1), h(11, 1):uint() % 128)
    info = string.format("%s %s to %s tag %d", name, statuses[status] or "?", id(h(8, 2)), tag_high + h(10, 1):uint())
  else
    tree:add(f.requester, h(4, 2), id(h(4, 2)))
    tree:add(f.tag, h(6, 1), tag_high + h(6, 1):uint())
    if is_message then
      tree:add(f.code, h(7, 1))
      info = string.format("Msg 0x%02x", h(7, 1):uint())
    else
      tree:add(f.last_be, h(7, 1), math.floor(h(7, 1):uint() / 16))
      tree:add(f.first_be, h(7, 1), h(7, 1):uint() % 16)
      if name:sub(1, 3) == "Cfg" then
        tree:add(f.target, h(8, 2), id(h(8, 2)))
        tree:add(f.register, h(10, 2), h(10, 2):uint() % 4096)
        info = string.format("%s %s register 0x%x", name, id(h(8, 2)), h(10, 2):uint() % 4096)
      else
        local at = long and h(8, 8) or h(8, 4)
        tree:add(f.address, at, long and at:uint64() or UInt64.new(at:uint()))
        info = string.format("%s %s, %d DW", name, short_hex(at:bytes():tohex(true)), dwords)
      end
    end
  end
  if has_data and h:len() > head then tree:add(f.data, h(head)) end
  packet.cols.info = string.format("%-4s %s", ways[buffer(0, 1):uint()], info)
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, tlp)

-- Messages of coherent links: link-layer header type 148 (USER1).

local coherence = Proto("sluice_coherence", "Coherent link message")
local c = coherence.fields
c.way = ProtoField.uint8("sluice_coherence.way", "Way", base.DEC, ways)
c.name = ProtoField.string("sluice_coherence.name", "Message")
c.kind = ProtoField.string("sluice_coherence.kind", "Kind")
c.cache = ProtoField.uint8("sluice_coherence.cache", "Cache", base.DEC)
c.channel = ProtoField.uint8("sluice_coherence.channel", "Virtual channel", base.DEC)
c.address = ProtoField.uint64("sluice_coherence.address", "Address", base.HEX)
c.data = ProtoField.bytes("sluice_coherence.data", "Bytes")

local kinds = {
  [0] = "read shared", "read unique", "upgrade", "evict", "write back", "ack", "ack with data", "conflict",
  "grant shared", "grant exclusive", "grant upgrade", "refuse", "evict done", "conflict done", "snoop shared",
  "snoop unique", [254] = "host memory", [255] = "register",
}

function coherence.dissector(buffer, packet, root)
  packet.cols.protocol = "Coherence"
  local tree = root:add(coherence, buffer())
  tree:add(c.way, buffer(0, 1))
  local kind, named = buffer(4, 1):uint(), buffer(7, 1):uint()
  local name = buffer(18, named):string()
  tree:add(c.name, buffer(18, named))
  tree:add(c.kind, buffer(4, 1), kinds[kind] or tostring(kind))
  if kind < 254 then tree:add(c.cache, buffer(5, 1)) end
  tree:add(c.channel, buffer(6, 1))
  tree:add_le(c.address, buffer(8, 8))
  local bytes = buffer(16, 2):le_uint()
  if bytes > 0 then tree:add(c.data, buffer(18 + named, bytes)) end
  packet.cols.info =
    string.format("%-4s %s %s", ways[buffer(0, 1):uint()], name, short_hex(buffer(8, 8):le_uint64():tohex()))
end

DissectorTable.get("wtap_encap"):add(wtap.USER1, coherence)
