// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/bad_request.h"

#include <fmt/format.h>

namespace sluice::pcie {

std::string transfer_text(const Origin& o, bool write) {
  if (o.interrupt)
    return fmt::format("{}: interrupt message of vector {} to {:#x}", *o.device, o.purpose.index, o.address);
  std::string text =
      fmt::format("{}: DMA {} of {} bytes at {:#x}", *o.device, write ? "write" : "read", o.bytes, o.address);
  if (o.purpose.what) text += fmt::format(" for {} {} of queue {}", o.purpose.what, o.purpose.index, o.purpose.queue);
  return text;
}

void report_bad_request(const Tlp& t, const std::string& at, const std::string& cause) {
  if (t.is_config() || t.is_completion()) return;
  const bool write = t.has_data();
  if (t.origin.device) {
    const std::uint64_t transfer = std::uint64_t{t.requester} << 32 | t.origin.number;
    return base::mistakes().report(transfer_text(t.origin, write) + ": " + cause, t.by, transfer);
  }
  base::mistakes().report(fmt::format("{}: {} of {} bytes at {:#x}: {}", at, write ? "write" : "read",
                                      t.enabled_bytes(), t.first_byte(), cause),
                          t.by);
}

}  // namespace sluice::pcie
