// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/capture/tlp_capture.h"

#include <fmt/format.h>

namespace sluice::pcie {
namespace {

std::string id_text(RoutingId id) {
  return fmt::format("{:02x}:{:02x}.{}", bus_of(id), device_of(id), function_of(id));
}

const char* status_text(CompletionStatus s) {
  return s == CompletionStatus::kSuccess ? "SC" : s == CompletionStatus::kUnsupportedRequest ? "UR" : "CA";
}

std::string details(const Tlp& t) {
  switch (t.type) {
    case TlpType::kMRd:
      return fmt::format("{:#x}  {} B  from {} tag {}", t.first_byte(), t.enabled_bytes(), id_text(t.requester), t.tag);
    case TlpType::kMWr:
      return fmt::format("{:#x}  {} B  from {}", t.first_byte(), t.enabled_bytes(), id_text(t.requester));
    case TlpType::kCpl:
    case TlpType::kCplD:
      return fmt::format("{}  {} B of {} B to come  to {} tag {}  from {}", status_text(t.status), t.payload_bytes(),
                         t.byte_count, id_text(t.requester), t.tag, id_text(t.completer));
    case TlpType::kMsg:
      return fmt::format("code {:#04x}  from {}", t.message_code, id_text(t.requester));
    default:
      return fmt::format("{}  register {:#x}  from {} tag {}", id_text(t.target), t.reg, id_text(t.requester), t.tag);
  }
}

}  // namespace

std::string to_line(const Tlp& t) {
  return fmt::format("{:<7} {}{}", to_text(t.type), details(t), t.poisoned ? "  poisoned" : "");
}

std::string to_bytes(const Tlp& t) {
  const auto header = t.encode_header();
  std::string bytes(header.begin(), header.begin() + t.header_bytes());
  if (t.has_data()) bytes.append(t.payload(), t.payload() + t.payload_bytes());
  return bytes;
}

void capture(Link& link, base::LinkCapture& to) { to.watch(link.down(), link.up(), to_line, to_bytes); }

}  // namespace sluice::pcie
