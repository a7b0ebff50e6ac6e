// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/udp_rules.h"

namespace sluice::nic {

void UdpRules::write(unsigned rule, std::uint32_t value) {
  rules_[rule] = value & (DESC_UDP_RULE_PORT | DESC_UDP_RULE_QUEUE | DESC_UDP_RULE_VALID);
  used_ = DESC_UDP_RULES;
  while (used_ != 0 && !(rules_[used_ - 1] & DESC_UDP_RULE_VALID)) --used_;
}

std::optional<unsigned> UdpRules::find(std::uint16_t port) const {
  for (unsigned i = 0; i < used_; ++i)
    if (rules_[i] & DESC_UDP_RULE_VALID && (rules_[i] & DESC_UDP_RULE_PORT) == port)
      return (rules_[i] & DESC_UDP_RULE_QUEUE) >> DESC_UDP_RULE_QUEUE_SHIFT;
  return {};
}

}  // namespace sluice::nic
