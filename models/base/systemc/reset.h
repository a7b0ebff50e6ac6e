// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a board's reset line reaches. Plain C++.

namespace sluice::base {

class Resettable {
 public:
  virtual ~Resettable() = default;
  /// Brings everything that software can see, and the outputs, to the state after construction, at now(). Time,
  /// counters and inputs from outside the board go on. A second call right after the first changes nothing.
  virtual void reset() = 0;
};

}  // namespace sluice::base
