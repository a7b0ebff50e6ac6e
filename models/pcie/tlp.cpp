// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/tlp.h"

#include <algorithm>

#include "models/base/time/calendar.h"

namespace sluice::pcie {
namespace {

/// Format in bits 7:5, type in bits 4:0 of the header's first byte.
std::uint8_t format_and_type(const Tlp& t) {
  const std::uint8_t four_dw = t.header_bytes() == 16 ? 0x20 : 0;
  const std::uint8_t data = t.has_data() ? 0x40 : 0;
  switch (t.type) {
    case TlpType::kMRd:
    case TlpType::kMWr:
      return data | four_dw;
    case TlpType::kCfgRd0:
    case TlpType::kCfgWr0:
      return data | 0x04;
    case TlpType::kCfgRd1:
    case TlpType::kCfgWr1:
      return data | 0x05;
    case TlpType::kCpl:
    case TlpType::kCplD:
      return data | 0x0a;
    case TlpType::kMsg:
      return four_dw | 0x14;  // local: terminates at the receiver
  }
  return 0;
}

void put16(std::uint8_t* at, std::uint16_t v) {
  at[0] = static_cast<std::uint8_t>(v >> 8);
  at[1] = static_cast<std::uint8_t>(v);
}
void put32(std::uint8_t* at, std::uint32_t v) {
  put16(at, static_cast<std::uint16_t>(v >> 16));
  put16(at + 2, static_cast<std::uint16_t>(v));
}

/// Whether the byte enables of one DW have no hole.
constexpr bool run(unsigned be) {
  const unsigned low = be & (0u - be);
  return ((be + low) & be) == 0;
}

}  // namespace

const char* to_text(TlpType type) {
  static constexpr const char* names[kTlpTypes] = {"MRd",    "MWr", "CfgRd0", "CfgWr0", "CfgRd1",
                                                   "CfgWr1", "Cpl", "CplD",   "Msg"};
  return names[static_cast<unsigned>(type)];
}

std::uint32_t Tlp::enabled_bytes() const {
  if (length == 0) return 0;
  if (length == 1) {
    if (first_be == 0) return 0;
    return 32 - static_cast<unsigned>(__builtin_clz(first_be)) - static_cast<unsigned>(__builtin_ctz(first_be));
  }
  if (first_be == 0 || last_be == 0) return 0;
  const unsigned end = 32 - static_cast<unsigned>(__builtin_clz(last_be));
  return (length - 1u) * 4 + end - static_cast<unsigned>(__builtin_ctz(first_be));
}

bool Tlp::contiguous() const {
  if (length <= 1) return run(first_be);
  return run(first_be) && (first_be & 8) && run(last_be) && (last_be & 1);
}

bool Tlp::enabled(std::uint32_t offset) const {
  const std::uint32_t dw = offset / 4;
  if (dw >= length) return false;
  if (dw == 0) return first_be >> offset % 4 & 1;
  if (dw == length - 1u) return last_be >> offset % 4 & 1;
  return true;
}

void Tlp::cover(std::uint64_t first, std::uint32_t bytes) {
  const unsigned offset = first & 3;
  address = first - offset;
  length = static_cast<std::uint16_t>((offset + bytes + 3) / 4);
  if (length == 1) {
    first_be = static_cast<std::uint8_t>(((1u << bytes) - 1) << offset);
    last_be = 0;
  } else {
    first_be = static_cast<std::uint8_t>(0xfu << offset & 0xfu);
    last_be = static_cast<std::uint8_t>(0xfu >> (0u - (offset + bytes)) % 4);
  }
}

std::array<std::uint8_t, 16> Tlp::encode_header() const {
  std::array<std::uint8_t, 16> h{};
  h[0] = format_and_type(*this);
  h[1] = static_cast<std::uint8_t>((tag >> 9 & 1) << 7 | (traffic_class & 7) << 4 | (tag >> 8 & 1) << 3);
  // Lengths and byte counts are encoded modulo their maximum: 0 stands for 1024 DW, or 4096 B.
  h[2] = static_cast<std::uint8_t>(poisoned << 6 | relaxed_ordering << 5 | no_snoop << 4 | (length >> 8 & 3));
  h[3] = static_cast<std::uint8_t>(length);
  if (is_completion()) {
    put16(&h[4], completer);
    h[6] = static_cast<std::uint8_t>(static_cast<unsigned>(status) << 5 | (byte_count >> 8 & 0xf));
    h[7] = static_cast<std::uint8_t>(byte_count);
    put16(&h[8], requester);
    h[10] = static_cast<std::uint8_t>(tag);
    h[11] = lower_address & 0x7f;
    return h;
  }
  put16(&h[4], requester);
  h[6] = static_cast<std::uint8_t>(tag);
  h[7] = type == TlpType::kMsg ? message_code : static_cast<std::uint8_t>(last_be << 4 | first_be);
  if (is_config()) {
    put16(&h[8], target);
    put16(&h[10], reg & 0xffc);
  } else if (type != TlpType::kMsg) {
    const bool long_form = header_bytes() == 16;
    if (long_form) put32(&h[8], static_cast<std::uint32_t>(address >> 32));
    put32(&h[long_form ? 12 : 8], static_cast<std::uint32_t>(address));
  }
  return h;
}

void Tlp::clear() {
  traffic_class = 0;
  relaxed_ordering = no_snoop = poisoned = false;
  first_be = last_be = message_code = 0;
  length = 0;
  requester = target = completer = 0;
  tag = reg = byte_count = 0;
  address = 0;
  status = CompletionStatus::kSuccess;
  lower_address = 0;
  content = Content::kMetadata;
  carries_journey = wants_tags = false;
  ending = ingress = 0;
  arrival_stage = {};
  if (!spans.empty()) spans = {};
  journey.clear();
  line_tags.clear();
  observer = nullptr;
  by = {};
  if (origin.device) origin = {};
  buffer = nullptr;
  tail = {};
}

void tag_lines(base::GuestRam& ram, std::uint64_t first, std::uint32_t bytes, const base::Spans& spans,
               Content content) {
  if (spans.empty() && content == Content::kPayload) return ram.set_tag(first, bytes, 0);
  for (const base::Span& s : spans)
    if (s.length > 0 && s.offset < bytes) ram.set_tag(first + s.offset, std::min(s.length, bytes - s.offset), s.id);
}

void read_tags(const base::GuestRam& ram, std::uint64_t first, std::uint32_t bytes,
               std::vector<base::RequestId>& tags) {
  constexpr std::uint64_t kLine = base::GuestRam::kTagLine;
  for (std::uint64_t line = first / kLine; line <= (first + bytes - 1) / kLine; ++line)
    tags.push_back(ram.tag(line * kLine));
}

void move_requests(const base::Spans& spans, std::uint8_t ending, const ArrivalStage& to,
                   const base::Journey& journey) {
  if (!to.set()) return;
  unsigned n = 0;
  for (const base::Span& s : spans) {
    if (!(ending >> n++ & 1)) continue;
    if (to.only_waiting) {
      const auto* request = base::ledger().find(s.id);
      const auto stage = request ? request->tiles.back().stage : SLUICE_STAGE_unattributed;
      if (stage != SLUICE_STAGE_notify && stage != SLUICE_STAGE_wait_core) continue;
    } else {
      journey.apply(s.id);
    }
    base::ledger().try_enter(s.id, to.stage, to.component, base::now(), {}, to.mark);
  }
}

}  // namespace sluice::pcie
