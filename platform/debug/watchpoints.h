// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Watchpoints: ranges of RAM. Every write to them, by a hart or by DMA, and every load by a hart is reported. Pages of
/// a range take the slow path; timing and results stay the same.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/base/memory/guest_ram.h"
#include "platform/debug/protocol/target.h"

namespace sluice::debug {

struct Watchpoint {
  WatchKind kind;
  std::uint64_t address;  ///< as the debugger gave it
  std::uint64_t length;
  /// Physical parts, one for each page.
  struct Part {
    base::GuestRam* ram;
    std::uint64_t physical;
    std::uint64_t length;
  };
  std::vector<Part> parts;
};

class Watchpoints {
 public:
  /// Called inside an access to a watched range; it may only note the access.
  using Hit = std::function<void(const Watchpoint&)>;

  /// The RAMs must outlive this object, and must not be accessed after its destruction.
  Watchpoints(const std::vector<base::GuestRam*>& rams, Hit hit);
  ~Watchpoints();

  void add(Watchpoint watchpoint);
  void remove(WatchKind, std::uint64_t address, std::uint64_t length);
  void remove_all();
  /// A hart has loaded these bytes.
  void loaded(std::uint64_t physical, std::uint64_t length) { accessed(physical, length, false); }
  /// While true, accesses are not reported, because the debugger itself writes.
  void mute(bool muted) { muted_ = muted; }

 private:
  class Writes;
  void accessed(std::uint64_t physical, std::uint64_t length, bool write);
  void refresh_pages(const Watchpoint& gone);

  Hit hit_;
  std::vector<std::unique_ptr<Writes>> writes_;
  std::vector<Watchpoint> all_;
  bool muted_ = false;
};

}  // namespace sluice::debug
