// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Who does which step of receiving a call, and in which stage of the ledger. The steps: models/base/measure/stages.h.
/// Plain C++.

#include <cstdint>
#include <initializer_list>

#include "models/base/measure/stages.h"

namespace sluice::base {

using Step = sluice_step;
const char* step_title(Step);  ///< as in the report, e.g. "find a core"

class StepSet {
 public:
  constexpr StepSet() = default;
  constexpr StepSet(std::initializer_list<Step> steps) {
    for (const Step s : steps) add(s);
  }
  constexpr void add(Step s) { bits_ = static_cast<std::uint16_t>(bits_ | 1u << s); }
  constexpr bool has(Step s) const { return bits_ >> s & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr StepSet operator&(StepSet other) const {
    StepSet both;
    both.bits_ = bits_ & other.bits_;
    return both;
  }
  constexpr StepSet operator|(StepSet other) const {
    StepSet any;
    any.bits_ = bits_ | other.bits_;
    return any;
  }
  constexpr StepSet without(StepSet other) const {
    StepSet rest;
    rest.bits_ = static_cast<std::uint16_t>(bits_ & ~other.bits_);
    return rest;
  }
  constexpr bool operator==(const StepSet&) const = default;

 private:
  static_assert(SLUICE_STEP_COUNT <= 16);
  std::uint16_t bits_ = 0;
};

/// Who does something. host: hardware that is no NIC, as links, interrupt controllers, and cores that wake.
enum class Owner : std::uint8_t { nic, host, kernel, application };
const char* owner_title(Owner);
inline bool is_software(Owner o) { return o == Owner::kernel || o == Owner::application; }

/// What whoever enters a stage says of it. steps: those that are done in it, in one pass; none: what the stage means by
/// itself (steps_of()).
struct Mark {
  StepSet steps;
  Owner owner = Owner::host;
  bool operator==(const Mark&) const = default;
};

/// The steps that a stage is by its meaning, whoever is in it; none of most.
StepSet steps_of(sluice_stage);

}  // namespace sluice::base
