// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/link/dialect.h"

namespace sluice::coherence {
namespace {

using protocol::Holding;
using protocol::Kind;

constexpr std::uint16_t kEciWord = 8, kCxlSlot = 16, kOnDieHeader = 8;

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
  const unsigned content = writes != is_answer ? (bytes + header - 1) / header * header : 0;
  return with(title, header, is_answer ? MessageChannel::io_response : MessageChannel::io_request, content);
}

// Registers behind ECI are in its I/O space. Registers behind CXL are reached by CXL.io, whose TLPs take whole slots.
constexpr Dialect kEci{"ECI", 128, false, eci, kEciWord, "IREQ_IOBLD", "IRSP_IOBRSP", "IREQ_IOBSTA", "IRSP_IOBACK"};
constexpr Dialect kCxl{"CXL", 64, true, cxl, kCxlSlot, "MRd", "CplD", "MWr", "Cpl"};
constexpr Dialect kOnDie{"on-die", 0, false, on_die, kOnDieHeader, "register read", "data", "register write", "done"};

}  // namespace sluice::coherence
