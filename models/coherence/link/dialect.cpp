// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/link/dialect.h"

namespace sluice::coherence {
namespace {

using protocol::Holding;
using protocol::Kind;

constexpr std::uint16_t kEciWord = 8, kCxlSlot = 16, kOnDieHeader = 8;

/// The bytes of as many whole units as `bytes` bytes touch.
unsigned whole(unsigned bytes, unsigned unit) { return (bytes + unit - 1) / unit * unit; }

Format with(const char* name, std::uint16_t header, MessageChannel channel, unsigned line) {
  return {name, static_cast<std::uint16_t>(header + line), static_cast<std::uint16_t>(line), channel};
}

Format eci(const protocol::Message& m, unsigned line) {
  const auto word = [](const char* name, MessageChannel channel) { return with(name, kEciWord, channel, 0); };
  const auto words = [line](const char* name) { return with(name, kEciWord, MessageChannel::response_data, line); };
  switch (m.kind) {
    case Kind::read_shared:
      return word("MREQ_RLDD", MessageChannel::request);
    case Kind::read_unique:
      return word("MREQ_RLDX", MessageChannel::request);
    case Kind::upgrade:
      return word("MREQ_RC2D_S", MessageChannel::request);
    case Kind::evict:
      return word("MRSP_VICC", MessageChannel::response);
    case Kind::write_back:
      return words("MRSP_VICD");
    case Kind::ack:
      return word(m.holding == Holding::none ? "MRSP_HAKI" : "MRSP_HAKS", MessageChannel::response);
    case Kind::ack_data:
      return words("MRSP_HAKD");
    case Kind::grant_shared:
      return words("MRSP_PSHA");
    case Kind::grant_exclusive:
      return words("MRSP_PEMD");
    case Kind::grant_upgrade:
      return word("MRSP_PEMD (no data)", MessageChannel::response);
    case Kind::refuse:
      return word("MRSP_PEMD.NXM", MessageChannel::response);
    case Kind::evict_done:
      return word("MRSP_PACK", MessageChannel::response);
    case Kind::snoop_shared:
      return word(m.holding == Holding::owned ? "MFWD_FLDRS_OH" : "MFWD_FLDRS_EH", MessageChannel::snoop);
    case Kind::snoop_unique:
      return word(m.holding == Holding::shared  ? "MFWD_SINV_H"
                  : m.holding == Holding::owned ? "MFWD_FLDX_OH"
                                                : "MFWD_FLDX_EH",
                  MessageChannel::snoop);
    case Kind::conflict:
    case Kind::conflict_done:
      break;  // of CXL only
  }
  return {};
}

Format cxl(const protocol::Message& m, unsigned line) {
  const auto slot = [](const char* name, MessageChannel channel) { return with(name, kCxlSlot, channel, 0); };
  // What answers a request stays in order with what answers a conflict, so both take one channel.
  switch (m.kind) {
    case Kind::read_shared:
      return slot("Req.MemRd.S", MessageChannel::request);
    case Kind::read_unique:
      return slot("Req.MemRd.A", MessageChannel::request);
    case Kind::upgrade:
      return slot("Req.MemInv.A", MessageChannel::request);
    case Kind::evict:
      break;  // an unchanged line goes without a word
    case Kind::write_back:
      return with("RwD.MemWr", kCxlSlot, MessageChannel::write, line);
    case Kind::ack:
      return slot(m.holding == Holding::none ? "BIRsp.BIRspI" : "BIRsp.BIRspS", MessageChannel::snoop_response);
    case Kind::ack_data:
      return with("RwD.MemWr+BIRsp", kCxlSlot, MessageChannel::snoop_response, line);
    case Kind::conflict:
      return with("RwD.BIConflict", kCxlSlot + 64, MessageChannel::snoop_response, 0);  // reserved bytes behind it
    case Kind::grant_shared:
      return with("DRS.MemData-S", kCxlSlot, MessageChannel::response, line);
    case Kind::grant_exclusive:
      return with("DRS.MemData-E", kCxlSlot, MessageChannel::response, line);
    case Kind::grant_upgrade:
      return slot("NDR.Cmp-E", MessageChannel::response);
    case Kind::refuse:
      return slot("DRS.MemData-NXM", MessageChannel::response);
    case Kind::evict_done:
      return slot("NDR.Cmp", MessageChannel::response);
    case Kind::conflict_done:
      return slot("NDR.BI-ConflictAck", MessageChannel::response);
    case Kind::snoop_shared:
      return slot("BISnp.BISnpData", MessageChannel::snoop);
    case Kind::snoop_unique:
      return slot("BISnp.BISnpInv", MessageChannel::snoop);
  }
  return {};
}

Format on_die(const protocol::Message& m, unsigned line) {
  const MessageChannel channel = protocol::is_request(m.kind)  ? MessageChannel::request
                                 : protocol::is_victim(m.kind) ? MessageChannel::write
                                 : protocol::is_snoop(m.kind)  ? MessageChannel::snoop
                                 : protocol::is_answer(m.kind) ? MessageChannel::snoop_response
                                                               : MessageChannel::response;
  return with(protocol::to_text(m.kind), kOnDieHeader, channel, protocol::has_data(m.kind) ? line : 0);
}

}  // namespace

Format Dialect::format_of_access(bool writes, bool is_answer, unsigned bytes) const {
  const char* const title = writes ? (is_answer ? write_done : write) : (is_answer ? read_data : read);
  const unsigned content = writes != is_answer ? whole(bytes, header) : 0;
  return with(title, header, is_answer ? MessageChannel::io_response : MessageChannel::io_request, content);
}

Format Dialect::format_of_host(HostPart::Kind kind, std::uint64_t address, unsigned bytes, unsigned line) const {
  using PartKind = HostPart::Kind;
  const char* const title = host_names[static_cast<unsigned>(kind)];
  if (kind == PartKind::interrupt) return with(title, header, MessageChannel::io_request, whole(bytes, header));
  const bool has_bytes =
      kind == PartKind::data || kind == PartKind::write_data || (kind == PartKind::write && !pulls_writes);
  const unsigned unit = host_unit == 0 ? line : host_unit;
  const unsigned content = has_bytes ? whole(static_cast<unsigned>(address % unit) + bytes, unit) : 0;
  const MessageChannel channel = kind == PartKind::read || (kind == PartKind::write && !has_bytes)
                                     ? MessageChannel::request
                                 : kind == PartKind::write || kind == PartKind::write_data ? MessageChannel::write
                                 : has_bytes ? MessageChannel::response_data
                                             : MessageChannel::response;
  return with(title, header, channel, content);
}

// Registers behind ECI are in its I/O space. A device reads and writes host memory in parts of a line of 32 B.
constexpr Dialect kEci{
    .name = "ECI",
    .line_bytes = 128,
    .has_conflicts = false,
    .format = eci,
    .header = kEciWord,
    .read = "IREQ_IOBLD",
    .read_data = "IRSP_IOBRSP",
    .write = "IREQ_IOBSTA",
    .write_done = "IRSP_IOBACK",
    .pulls_writes = false,
    .host_unit = 32,
    .host_names = {"MREQ_RLDT", "MREQ_RSTT", "", "IREQ_IOBST", "MRSP_PSHA", "", "MRSP_PEMD (no data)", "MRSP_PEMD.NXM"},
};

// Registers behind CXL are reached by CXL.io, whose TLPs take whole slots; host memory by CXL.cache, in whole lines.
constexpr Dialect kCxl{
    .name = "CXL",
    .line_bytes = 64,
    .has_conflicts = true,
    .format = cxl,
    .header = kCxlSlot,
    .read = "MRd",
    .read_data = "CplD",
    .write = "MWr",
    .write_done = "Cpl",
    .pulls_writes = true,
    .host_unit = 0,
    .host_names = {"D2HReq.RdCurr", "D2HReq.WOWrInv", "D2HData", "MWr", "H2DData", "H2DRsp.WritePull", "H2DRsp.ExtCmp",
                   "H2DRsp.GO-Err"},
};

constexpr Dialect kOnDie{
    .name = "on-die",
    .line_bytes = 0,
    .has_conflicts = false,
    .format = on_die,
    .header = kOnDieHeader,
    .read = "register read",
    .read_data = "data",
    .write = "register write",
    .write_done = "done",
    .pulls_writes = false,
    .host_unit = 1,
    .host_names = {"memory read", "memory write", "", "interrupt", "memory data", "", "memory written", "refused"},
};

}  // namespace sluice::coherence
