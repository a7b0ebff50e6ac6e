// SPDX-License-Identifier: Apache-2.0
#include "models/base/fabric/link_capture.h"

#include <utility>

#include <fmt/format.h>

#include "models/base/time/calendar.h"

namespace sluice::base {

LinkCapture::LinkCapture(const std::string& stem, std::uint32_t link_type)
    : text_(stem + ".txt"), pcap_(stem + ".pcap", link_type) {}

void LinkCapture::add(Way way, Time first_bit, std::string text, std::string bytes) {
  write_until(now());
  entries_.push({first_bit, messages_++, way, std::move(text), std::move(bytes)});
}

/// Writes the entries before a time. None will come before now().
void LinkCapture::write_until(Time end) {
  while (!entries_.empty() && entries_.top().at < end) {
    const Entry& e = entries_.top();
    const std::uint64_t fs = e.at.femtoseconds();
    const bool up = e.way == Way::up;
    text_.write(
        fmt::format("{:>14}.{:03} ns  {:<4}  {}\n", fs / 1'000'000, fs / 1000 % 1000, up ? "up" : "down", e.text));
    pcap_.write(fs / 1'000'000, std::string{up ? '\1' : '\0', '\0', '\0', '\0'} + e.bytes);
    entries_.pop();
  }
}

void LinkCapture::close() {
  write_until(Time::max());
  text_.close();
  pcap_.close();
}

}  // namespace sluice::base
