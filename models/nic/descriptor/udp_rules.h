// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Rules that send UDP datagrams to a receive queue by their destination port.

#include <array>
#include <cstdint>
#include <optional>

#include "models/nic/descriptor/descriptor_regs.h"

namespace sluice::nic {

class UdpRules {
 public:
  std::uint32_t read(unsigned rule) const { return rules_[rule]; }
  void write(unsigned rule, std::uint32_t value);
  /// The queue of the first rule with this port; none where no rule has it.
  std::optional<unsigned> find(std::uint16_t port) const;
  void reset() { *this = {}; }

 private:
  std::array<std::uint32_t, DESC_UDP_RULES> rules_{};
  unsigned used_ = 0;  ///< no valid rule has this number or a higher one
};

}  // namespace sluice::nic
