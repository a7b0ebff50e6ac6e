// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The values that a board's parameters may have within their uncertainties.

#include <string>
#include <vector>

#include "platform/config/board_config.h"

namespace sluice::report {

/// A parameter, and its values at both ends of its uncertainty, of which at least one exists.
struct VariedParameter {
  std::string path;   ///< "net.wire0.flight"
  std::string value;  ///< "10 ns"
  base::Provenance provenance;
  base::Variation less;
  base::Variation more;

  const base::Variation& at(base::Side side) const { return side == base::Side::kLess ? less : more; }
};

/// Why a parameter has one value only.
enum class Fixed {
  kSetting,   ///< a choice of the board
  kNoNumber,  ///< a name, an address, or true or false
  kExact,     ///< its uncertainty is 0
  kNoOther    ///< it is 0, an empty list, or alone in its range
};
struct FixedParameter {
  std::string path;
  std::string value;
  Fixed why;
};

struct Variations {
  std::vector<VariedParameter> varied;  ///< in the order of the board's instances and their schemas
  std::vector<FixedParameter> fixed;
};
Variations variations(const config::BoardConfig&);

}  // namespace sluice::report
