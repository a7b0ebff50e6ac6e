// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A read whose initiator goes on: an extension of the payload of a hart's read of a target that posts writes.

#include <cstdint>
#include <functional>
#include <utility>

#include <tlm>

namespace sluice::base {

/// The target starts the read at access_time(), returns at once, and calls deliver at the time at which the bytes are
/// with the initiator. The payload's data pointer is not used.
struct DeferredRead : tlm::tlm_extension<DeferredRead> {
  explicit DeferredRead(std::function<void(const std::uint8_t*)> d) : deliver(std::move(d)) {}

  std::function<void(const std::uint8_t*)> deliver;  ///< null: the read has failed
  bool is_taken = false;  ///< set by the target; false: it has no room, and deliver will not be called

  tlm_extension_base* clone() const override { return new DeferredRead(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const DeferredRead&>(other); }
};

}  // namespace sluice::base
